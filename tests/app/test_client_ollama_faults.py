"""Everything an Ollama server was seen to do: what the user then sees, and that nothing is lost."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from app import words
from app.items import UserItem
from app.sentences import localized
from engine.testing.ollama import OllamaDouble
from engine.testing.ollama_faults import (
    BUSY,
    LOAD_STALLED,
    OUT_OF_MEMORY,
    RUNNER_STOPPED,
    RUNNER_TERMINATED,
    TOOL_CALL,
    AfterDone,
    Answer,
    Chunked,
    Close,
    Drop,
    EndEarly,
    Error,
    Huge,
    Impatient,
    LoadFails,
    NoDone,
    Silence,
    redirect,
    refusal,
)
from engine.testing.ollama_script import Fault
from tests.app.client_room import an_ollama_room

SAID = "Where does the light come from?"
REPLY = "It comes from the lamp über dem 灯塔."
START = "It comes"
"""What has come when a fault waits for two pieces."""
OVERFLOW = (
    '{"error":{"code":400,"message":"request (17300 tokens) exceeds the available context size '
    '(16384 tokens), try increasing it","type":"exceed_context_size_error",'
    '"n_prompt_tokens":17300,"n_ctx":16384}}'
)


@dataclass(frozen=True)
class Case:
    """A fault, what of the reply is kept, and words of what the user is told and can do."""

    fault: Fault
    kept: str = ""
    says: str = ""
    does: str = ""
    path: str = "/api/chat"


BROKEN = {
    "F1 no last object": Case(EndEarly(2), START, "without saying that it is complete", "is kept"),
    "half a JSON line": Case(
        EndEarly(2, half_line=True), START, "in the middle of a line", "is kept"
    ),
    "half a character at the end": Case(
        EndEarly(2, half_character=True), START, "in the middle of a line", "is kept"
    ),
    "F3 closed before a byte": Case(Close(), "", "closed the connection", ""),
    "F4 closed in a line": Case(Drop(2), START, "closed the connection", "is kept"),
    "F4 reset in a line": Case(Drop(2, reset=True), START, "closed the connection", "is kept"),
    "reset in a character": Case(
        Drop(2, reset=True, half_character=True), START, "closed the connection", "is kept"
    ),
    "reset before a byte": Case(Drop(0, reset=True), "", "closed the connection", ""),
    "F9 HTML 504 while loading": Case(Answer(504), "", "got no answer", "wait longer", "load"),
    "F9 HTML 502": Case(Answer(502), "", "got no answer", "wait longer"),
    "500 with HTML": Case(Answer(500), "", "not an Ollama server", "port"),
    "200 with HTML": Case(Answer(200), "", "not an Ollama server", "port"),
    "F10 runner stopped": Case(
        Error(RUNNER_STOPPED, dies=True), "", "Ollama broke while it worked", "log"
    ),
    "F11 runner terminated": Case(
        LoadFails(RUNNER_TERMINATED), "", "Ollama broke while it worked", "log"
    ),
    "F12 out of memory in the reply": Case(
        Error(OUT_OF_MEMORY, 2, dies=True), START, "too little memory", "smaller"
    ),
    "F13 another error key": Case(
        Error("invalid character", 2, key="error parsing tool call"), START, "broke", "is kept"
    ),
    "F14 tool call": Case(Error(TOOL_CALL), "", "broke while it worked", "log"),
    "F15 load stalled": Case(
        LoadFails(LOAD_STALLED), "", "gave up loading", "OLLAMA_LOAD_TIMEOUT"
    ),
    "F16 no byte ever": Case(Silence(0), "", "said nothing", ""),
    "silence in the reply": Case(Silence(2), START, "said nothing", "is kept"),
    "F19 403 empty": Case(Answer(403, "", "text/plain"), "", "refuses requests", "OLLAMA_ORIGINS"),
    "F23 a proxy's patience": Case(Impatient(), "", "got no answer", "wait longer", "load"),
    "F24 200 with an error": Case(
        Answer(200, '{"error":"upstream failed"}', "application/json"), "", "upstream failed", ""
    ),
    "404 model": Case(refusal(404, "model 'm' not found"), "", "no model named", "ollama pull"),
    "503 busy": Case(refusal(503, BUSY), "", "busy", "again"),
    "redirect 301": Case(redirect(301, "http://127.0.0.1:9/"), "", "sends requests on", "address"),
    "redirect 302": Case(redirect(302, "http://127.0.0.1:9/"), "", "sends requests on", "address"),
    "redirect 307": Case(redirect(307, "http://127.0.0.1:9/"), "", "sends requests on", "address"),
}


@dataclass
class Shown:
    """What the user saw: of the turn with the fault, and when it was asked for again."""

    reply: object = None
    said: tuple = ()
    stored: tuple = ()
    again: object = None


def played(tmp_path, fault, path="/api/chat", *, again=True):
    """A turn with a fault in it, then the same asked for once more."""
    shown = Shown()

    async def main(server):
        async with an_ollama_room(
            tmp_path, server, silence_seconds=0.5, load_silence_seconds=0.5
        ) as room:
            server.fail(fault, path)
            id_ = await room.send(SAID)
            shown.reply = room.last(id_)
            shown.said = tuple(i.text for i in room.items(id_) if isinstance(i, UserItem))
            entries = room.workplace.store.path(id_)
            shown.stored = tuple(getattr(entry.body, "text", "") for entry in entries)
            if again:
                await room.client.answer(id_)
                await room.rest(id_)
                shown.again = room.last(id_)

    with OllamaDouble() as server:
        server.always(REPLY)
        asyncio.run(main(server))
    return shown


@pytest.mark.parametrize("case", BROKEN.values(), ids=BROKEN)
def test_a_reply_that_broke(tmp_path, case):
    """The message and all that came are kept and shown, with what happened and what to do.

    Each sentence has words in every language.
    """
    shown = played(tmp_path, case.fault, case.path)
    assert shown.said == (SAID,)
    assert (shown.reply.state, shown.reply.text.strip()) == ("failed", case.kept)
    assert SAID in shown.stored
    assert any(text.strip() == case.kept for text in shown.stored)
    assert case.says in shown.reply.error
    assert case.does in shown.reply.remedy
    assert shown.reply.remedy
    for text in (shown.reply.error, shown.reply.remedy):
        assert in_another_language(text).startswith("¡")
    assert (shown.again.state, shown.again.text) == ("done", REPLY)


def in_another_language(text):
    """The text as a window shows it whose language translates every template."""
    words.install(lambda _context, text, _comment="", n=-1: f"¡{text}!")
    try:
        return localized(text)
    finally:
        words.install(words.plain)


HARMLESS = {
    "F2 no done": NoDone(),
    "F2 done is false": NoDone(false=True),
    "two objects in a chunk": Chunked("two"),
    "an object in three chunks": Chunked("split"),
    "half a character in a chunk": Chunked("characters"),
    "a byte to a chunk": Chunked("bytes"),
    "a huge line": Huge(),
    "text after the last object": AfterDone("text"),
    "the last object twice": AfterDone("again"),
}


@pytest.mark.parametrize("fault", HARMLESS.values(), ids=HARMLESS)
def test_what_is_odd_and_does_no_harm(tmp_path, fault):
    """The reply is whole, and nobody is troubled with it."""
    shown = played(tmp_path, fault)
    assert (shown.reply.state, shown.reply.text) == ("done", REPLY)
    assert (shown.reply.error, shown.said) == ("", (SAID,))
    assert shown.reply.receipt.mismatch == ""


# ---- what is done to the server -----------------------------------------------------------------


@dataclass
class Day:
    """Two turns with something happening between them, or in the second."""

    first: object = None
    second: object = None
    texts: tuple = ()
    codes: tuple = ()


def day(tmp_path, between: Callable[[OllamaDouble], None], **double):
    """A turn, something done to the server, another turn."""
    seen = Day()

    async def main(server):
        async with an_ollama_room(tmp_path, server) as room:
            id_ = await room.send(SAID)
            seen.first = room.last(id_)
            await asyncio.to_thread(between, server)
            await room.send("And the fog horn?", id_)
            seen.second = room.last(id_)
            seen.texts = tuple(room.texts(id_))

    with OllamaDouble(**double) as server:
        server.always(REPLY)
        asyncio.run(main(server))
    return server, seen


def test_a_server_that_was_started_anew(tmp_path):
    """The model is loaded once more, and the conversation goes on."""
    server, seen = day(tmp_path, lambda server: server.restart())
    assert [seen.first.state, seen.second.state] == ["done", "done"]
    assert seen.texts == (SAID, REPLY, "And the fog horn?", REPLY)
    assert len(server.loads) == 2


def test_a_server_whose_clock_jumps(tmp_path):
    """Nothing is reckoned by its clock."""
    _, seen = day(tmp_path, lambda server: server.advance(-10 * 365 * 86_400))
    assert seen.second.state == "done"
    assert seen.second.seconds < 600


def test_a_server_that_takes_minutes_to_begin(tmp_path):
    """It is shown as loading, nothing is given up, and the reply comes."""

    async def main(server):
        async with an_ollama_room(tmp_path, server) as room:
            gate = server.hold("load")
            id_ = await room.client.send(None, SAID)
            await room.until(lambda: room.last(id_).state == "loading")
            server.advance(20 * 60)
            waits = room.last(id_).state
            gate.open()
            await room.rest(id_)
            return waits, room.last(id_).state

    with OllamaDouble() as server:
        server.always(REPLY)
        assert asyncio.run(main(server)) == ("loading", "done")


def test_a_server_that_is_gone(tmp_path):
    """Said in a sentence with what to do; what was typed is kept, and sent when it is back."""

    async def main(server):
        async with an_ollama_room(tmp_path, server) as room:
            id_ = await room.send(SAID)
            await asyncio.to_thread(server.__exit__, None, None, None)
            await room.send("Still there?", id_)
            return room.last(id_), room.texts(id_)

    server = OllamaDouble()
    server.__enter__()
    server.always(REPLY)
    last, texts = asyncio.run(main(server))
    assert last.state == "failed"
    assert "No Ollama server answers" in last.error
    assert "ollama serve" in last.remedy
    assert "Still there?" in texts
