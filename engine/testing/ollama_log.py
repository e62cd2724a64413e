"""What an Ollama double notes of its own work: what it lost, loaded and aborted, and how requests
ended. A real server tells none of this on the wire, so a test reads it here.

Requests are named by their number (`Request.number`), from 0 in order of arrival. Another client's
doings (`OllamaDouble.other_client`) have the number -1.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

Phase = Literal["asking", "queued", "loading", "reading", "writing"]
Stage = Literal["messages", "cut"]
How = Literal["complete", "refused", "broken", "left", "stopped"]
Why = Literal["expired", "asked", "reload", "room", "died"]
OTHER = -1


@dataclass(frozen=True, slots=True)
class Truncation:
    """Tokens a prompt lost: with whole messages (stage 1), or cut out of it (stage 2)."""

    request: int
    model: str
    stage: Stage
    tokens_lost: int


@dataclass(frozen=True, slots=True)
class Shift:
    """Tokens that were forgotten while a reply was written, because the window was full."""

    request: int
    model: str
    tokens_lost: int


@dataclass(frozen=True, slots=True)
class Load:
    """A model was loaded. `window`: tokens; `again`: another load of it had to go first."""

    request: int
    model: str
    window: int
    again: bool


@dataclass(frozen=True, slots=True)
class Aborted:
    """A load that ended before the model was there: the client left, or a fault."""

    request: int
    model: str


@dataclass(frozen=True, slots=True)
class Unload:
    """A model went out of memory, and why."""

    model: str
    why: Why


@dataclass(frozen=True, slots=True)
class End:
    """A request is over.

    `how`: answered whole ("complete"), with an error status or line ("refused"), broken off by a
    fault ("broken"), its client went ("left"), or the server was stopped ("stopped"). `phase` is
    where it then was; thinking is writing.
    """

    request: int
    path: str
    how: How
    phase: Phase


@dataclass(frozen=True, slots=True)
class Lingering:
    """Work that went on after its client had left; `tokens` were read or written for nobody."""

    request: int
    model: str
    tokens: int


@dataclass(slots=True)
class Log:
    """The notes, each list in order. Read it after `OllamaDouble.settle` or `wait_for`: a client
    has its answer a moment before its request is over here.

    Attributes:
        truncations: prompts that lost something.
        shifts: replies during which something was forgotten.
        loads: models loaded; `reloads` are those that replaced a load of the same model.
        aborts: loads that never came to their end.
        unloads: models that went out of memory.
        ends: requests that are over, with how and where.
        lingering: work done for clients that had left.
        running: the phase of each request under way.
    """

    truncations: list[Truncation] = field(default_factory=list)
    shifts: list[Shift] = field(default_factory=list)
    loads: list[Load] = field(default_factory=list)
    aborts: list[Aborted] = field(default_factory=list)
    unloads: list[Unload] = field(default_factory=list)
    ends: list[End] = field(default_factory=list)
    lingering: list[Lingering] = field(default_factory=list)
    running: dict[int, Phase] = field(default_factory=dict)
    changed: Callable[[], None] = lambda: None

    @property
    def reloads(self) -> list[Load]:
        """The loads before which the same model had to be unloaded."""
        return [load for load in self.loads if load.again]

    def end_of(self, request: int) -> End | None:
        """How a request ended, None while it is under way."""
        return next((end for end in self.ends if end.request == request), None)

    def ends_of(self, path: str) -> list[End]:
        """How the requests to a path ended, in the order of their ends."""
        return [end for end in self.ends if end.path == path]

    def clear(self) -> None:
        """Forget what is over."""
        self.truncations.clear()
        self.shifts.clear()
        self.loads.clear()
        self.aborts.clear()
        self.unloads.clear()
        self.ends.clear()
        self.lingering.clear()

    def enter(self, request: int, phase: Phase) -> None:
        """Note where a request now is."""
        self.running[request] = phase
        self.changed()

    def over(self, request: int, path: str, how: How) -> None:
        """Note how a request ended."""
        self.ends.append(End(request, path, how, self.running.pop(request)))
        self.changed()
