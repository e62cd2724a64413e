"""One request to an Ollama double and the way to answer it."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.testing.ollama_faults import Fault
from engine.testing.ollama_log import How, Phase
from engine.testing.ollama_rules import Refusal
from engine.testing.ollama_scheduler import Scheduler
from engine.testing.ollama_socket import Request, Wire
from engine.testing.ollama_state import State

Body = Mapping[str, Any]


@dataclass(slots=True)
class Exchange:
    """One request, and the way to answer it.

    `how` is how it ended, as far as that is the server's doing.
    """

    state: State
    scheduler: Scheduler
    request: Request
    wire: Wire
    fault: Fault | None = None
    how: How = "complete"

    @property
    def number(self) -> int:
        """The request's number."""
        return self.request.number

    @property
    def body(self) -> Body:
        """The request's JSON object."""
        return self.request.body if isinstance(self.request.body, dict) else {}

    @property
    def streams(self) -> bool:
        """Whether the answer is a stream, as it is unless the request says otherwise."""
        return self.body.get("stream") is not False

    def enter(self, phase: Phase) -> None:
        """Note where the request now is."""
        self.state.log.enter(self.number, phase)

    def named(self, otherwise: Refusal) -> str:
        """The model that is asked for. Raises `otherwise` when none is."""
        name = self.body.get("model") or self.body.get("name")
        if not isinstance(name, str) or not name:
            raise otherwise
        return name


async def never() -> None:
    """Waits until the client leaves, which cancels the work."""
    await asyncio.Event().wait()
