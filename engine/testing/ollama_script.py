"""What an Ollama double is told to do: replies to give, faults to show, places to wait at."""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from engine.testing.ollama_faults import (
    BUSY,
    HTML,
    AfterDone,
    Answer,
    Chunked,
    Close,
    Drop,
    EndEarly,
    Error,
    Fault,
    Huge,
    Impatient,
    LoadFails,
    NoDone,
    Silence,
    redirect,
    refusal,
)

__all__ = [
    "BUSY",
    "HTML",
    "AfterDone",
    "Answer",
    "Chunked",
    "Close",
    "Drop",
    "EndEarly",
    "Error",
    "Fault",
    "Gate",
    "Huge",
    "Impatient",
    "LoadFails",
    "NoDone",
    "Point",
    "Reply",
    "Responder",
    "Script",
    "Seen",
    "Silence",
    "redirect",
    "refusal",
]

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
    """What a model was really given: the messages that were left, and the tokens it read.

    `request` is the request's number.
    """

    model: str
    messages: tuple[Mapping[str, Any], ...]
    words: tuple[str, ...]
    request: int = -1


Responder = Callable[[Seen], Reply]


class Gate:
    """A place in the double's work where it waits until a test opens it.

    `reached` is set when the work arrives; `open` may be called from any thread. `model` (a name,
    with or without its tag) makes it wait for work with that model only.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, point: Point, after: int = 0, model: str = ""
    ) -> None:
        self.point = point
        self.after = after
        self.model = model
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
    """What is still to happen: replies in order, faults by path, gates in order."""

    replies: list[Reply | Responder] = field(default_factory=list)
    default: Reply | Responder = field(default_factory=lambda: Reply("Understood."))
    faults: list[tuple[str, Fault]] = field(default_factory=list)
    gates: list[Gate] = field(default_factory=list)

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

    def next_gate(self, point: Point, after: int = 0, model: str = "") -> Gate | None:
        """The gate that stands here, which then stands no longer."""
        for gate in self.gates:
            if (gate.point, gate.after) == (point, after) and gate.model in ("", model):
                self.gates.remove(gate)
                return gate
        return None

    async def pass_gate(self, point: Point, after: int = 0, model: str = "") -> None:
        """Wait at a gate, if one stands here."""
        gate = self.next_gate(point, after, model)
        if gate is not None:
            await gate.passed()
