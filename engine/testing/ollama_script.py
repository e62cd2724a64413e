"""What an Ollama double is told to do: replies to give, faults to show, places to wait at."""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

HTML = "<!DOCTYPE html>\n<html><body><h1>It works!</h1></body></html>\n"
BUSY = "server busy, please try again.  maximum pending requests exceeded"

Pieces = str | Sequence[str]
Point = Literal["load", "prompt", "piece", "pull"]


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model says. A string is sent word by word, a sequence piece by piece.

    Each piece counts as one word. `tool_calls` are (name, arguments); they come before the last
    object of the stream, or in it with `calls_last`.
    """

    text: Pieces = ""
    thinking: Pieces = ""
    tool_calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    calls_last: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """What a model was really given: the messages that were left, and the tokens it read."""

    model: str
    messages: tuple[Mapping[str, Any], ...]
    words: tuple[str, ...]


Responder = Callable[[Seen], Reply]


# ---- faults: `after` counts the pieces sent before ----------------------------------------------


@dataclass(frozen=True, slots=True)
class Close:
    """The connection is closed before any byte of an answer (F3)."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Another answer altogether: a proxy's page, a status (F9, F19, 503)."""

    status: int
    body: str = HTML
    content_type: str = "text/html"
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class EndEarly:
    """The stream ends cleanly without its last object (F1); with `half_line`, within a line."""

    after: int = 0
    half_line: bool = False


@dataclass(frozen=True, slots=True)
class NoDone:
    """The last object has a reason and no `done` (F2)."""


@dataclass(frozen=True, slots=True)
class Drop:
    """The connection breaks in the middle of a line: closed, or reset (F4)."""

    after: int = 0
    reset: bool = False


@dataclass(frozen=True, slots=True)
class Error:
    """The runner fails: a status before the first piece, a line after it (F10 to F14)."""

    text: str
    after: int = 0
    status: int = 500
    key: str = "error"


@dataclass(frozen=True, slots=True)
class Silence:
    """Nothing more is sent, and nothing closed, until the client leaves (F16)."""

    after: int = 0


Fault = Close | Answer | EndEarly | NoDone | Drop | Error | Silence


class Gate:
    """A place in the double's work where it waits until a test opens it.

    `reached` is set when the work arrives; `open` may be called from any thread.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, after: int) -> None:
        self.after = after
        self.reached = threading.Event()
        self._loop = loop
        self._opened = asyncio.Event()

    def open(self) -> None:
        """Let the work go on."""
        self._loop.call_soon_threadsafe(self._opened.set)

    async def passed(self) -> None:
        """Wait in the double's own loop."""
        self.reached.set()
        await self._opened.wait()


@dataclass(slots=True)
class Script:
    """What is still to happen: replies in order, faults by path, gates by point."""

    replies: list[Reply | Responder] = field(default_factory=list)
    default: Reply | Responder = field(default_factory=lambda: Reply("Understood."))
    faults: list[tuple[str, Fault]] = field(default_factory=list)
    gates: dict[Point, Gate] = field(default_factory=dict)

    def next_reply(self, seen: Seen) -> Reply:
        """The reply to a prompt; the default when no more were scripted."""
        chosen = self.replies.pop(0) if self.replies else self.default
        return chosen if isinstance(chosen, Reply) else chosen(seen)

    def next_fault(self, path: str) -> Fault | None:
        """The next fault for a path, which is then over."""
        for index, (where, fault) in enumerate(self.faults):
            if where == path:
                del self.faults[index]
                return fault
        return None

    async def pass_gate(self, point: Point, after: int = 0) -> None:
        """Wait at a gate, if one stands here."""
        gate = self.gates.get(point)
        if gate is not None and gate.after == after:
            del self.gates[point]
            await gate.passed()
