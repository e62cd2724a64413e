"""What can go wrong with one answer of an Ollama double, as servers and proxies were seen to do it.

`OllamaDouble.fail` takes one of these for the next request to a path. `after` counts what was sent
before: pieces of a reply, progress lines of a pull; what would come later than there is anything
to send comes before the last object. The numbers are those of the list of faults
that the double is built after; what is missing here is a lasting switch
(`engine.testing.ollama_switches`: F5, F7, F8, F18), something done to the server (F16:
`OllamaDouble.stick`, F17: `other_client`) or the steps of a pull (F20: `fetchable`).
"""

import json
from dataclasses import dataclass
from typing import Literal

HTML = "<!DOCTYPE html>\n<html><body><h1>It works!</h1></body></html>\n"
BUSY = "server busy, please try again.  maximum pending requests exceeded"
RUNNER_STOPPED = (
    "model runner has unexpectedly stopped, this may be due to resource limitations or an "
    "internal error, check ollama server logs for details"
)
RUNNER_TERMINATED = "llama-server process has terminated: exit status 0xc0000409"
LOAD_STALLED = "timed out waiting for llama runner to start - progress 0.00 - "
TOOL_CALL = "error parsing tool call: raw='{\"word\":', err=unexpected end of JSON input"
OUT_OF_MEMORY = "an error was encountered while running the model: CUDA error: out of memory"
RETRIES = "max retries exceeded: EOF"
MISMATCH = "digest mismatch, file must be downloaded again: want sha256:aa, got sha256:bb"

Tail = Literal["", "line", "character"]


@dataclass(frozen=True, slots=True)
class Close:
    """The connection is closed before any byte of an answer (F3)."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Another answer altogether: a proxy's page, a status, a redirect (F9, F19, F24, 503)."""

    status: int
    body: str = HTML
    content_type: str = "text/html"
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class EndEarly:
    """The stream ends cleanly without its last object (F1).

    With `half_line` within a line, with `half_character` within one of its characters.
    """

    after: int = 0
    half_line: bool = False
    half_character: bool = False


@dataclass(frozen=True, slots=True)
class NoDone:
    """The last object has a reason and no `done` (F2), or one that is false."""

    false: bool = False


@dataclass(frozen=True, slots=True)
class Drop:
    """The connection breaks in the middle of a line: closed, or reset (F4).

    With `half_character` the last byte sent is the first of a character.
    """

    after: int = 0
    reset: bool = False
    half_character: bool = False


@dataclass(frozen=True, slots=True)
class Error:
    """The runner fails: a status before the first piece, a line after it (F10 to F14, F21, F22).

    With `dies` the model is out of memory afterwards, as when its runner's process ended.
    """

    text: str
    after: int = 0
    status: int = 500
    key: str = "error"
    dies: bool = False


@dataclass(frozen=True, slots=True)
class LoadFails:
    """The model cannot be loaded, whatever was loaded before (F11, F15)."""

    text: str = LOAD_STALLED
    status: int = 500


@dataclass(frozen=True, slots=True)
class Impatient:
    """A proxy gives up: it answers the client, and leaves the server, which aborts (F9, F23).

    Where the model is loaded already nothing is aborted but the reply.
    """

    status: int = 504
    body: str = HTML


@dataclass(frozen=True, slots=True)
class Silence:
    """Nothing more is sent, and nothing closed, until the client leaves."""

    after: int = 0


@dataclass(frozen=True, slots=True)
class Chunked:
    """The whole reply, in chunks other than a line each; nothing is lost.

    "two": two objects in a chunk; "split": each object over three chunks; "characters": a chunk
    ends inside every character of several bytes; "bytes": a byte to a chunk.
    """

    how: Literal["two", "split", "characters", "bytes"]


@dataclass(frozen=True, slots=True)
class Huge:
    """One object of the stream is `size` bytes too large: an unknown field, or blank content."""

    size: int = 4_000_000
    after: int = 1
    field: Literal["padding", "content"] = "padding"


@dataclass(frozen=True, slots=True)
class AfterDone:
    """The stream goes on after its last object: with text, or with the last object again."""

    what: Literal["text", "again"] = "text"


Fault = (
    Close
    | Answer
    | EndEarly
    | NoDone
    | Drop
    | Error
    | LoadFails
    | Impatient
    | Silence
    | Chunked
    | Huge
    | AfterDone
)


def refusal(status: int, text: str) -> Answer:
    """An answer with an error status, as the server itself would write it."""
    body = json.dumps({"error": text}, separators=(",", ":"))
    return Answer(status, body, "application/json; charset=utf-8")


def redirect(status: int, location: str) -> Answer:
    """Another place is to be asked."""
    return Answer(status, "", "text/plain", (("Location", location),))


NUMBERED: dict[str, Fault] = {
    "F1": EndEarly(after=2),
    "F2": NoDone(),
    "F3": Close(),
    "F4": Drop(after=2, reset=True),
    "F6": refusal(
        400,
        '{"error":{"code":400,"message":"request (17300 tokens) exceeds the available context '
        'size (16384 tokens), try increasing it","type":"exceed_context_size_error",'
        '"n_prompt_tokens":17300,"n_ctx":16384}}',
    ),
    "F9": Answer(504),
    "F10": Error(RUNNER_STOPPED, dies=True),
    "F11": LoadFails(RUNNER_TERMINATED),
    "F12": Error(OUT_OF_MEMORY, after=2, dies=True),
    "F13": Error(TOOL_CALL.partition(": ")[2], after=2, key="error parsing tool call"),
    "F14": Error(TOOL_CALL),
    "F15": LoadFails(LOAD_STALLED),
    "F19": Answer(403, "", "text/plain"),
    "F21": Error(RETRIES, after=2),
    "F22": Error(MISMATCH, after=2),
    "F23": Impatient(),
    "F24": Answer(200, '{"error":"upstream failed"}', "application/json"),
}
