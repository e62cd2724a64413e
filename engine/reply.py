"""The reply being written: what came so far, and how it is stored."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from engine.backends.base import TextChunk, ThinkingChunk, ToolCallChunk
from engine.errors import EnvironmentFault, PortholeError
from engine.store import Reply as RunningReply
from engine.transcript import (
    Entry,
    Message,
    Part,
    StopReason,
    Text,
    Thinking,
    TokenIds,
    Usage,
)


@dataclass
class WrittenReply:
    """Parts in the order they came, what they cost, and how it ended.

    Attributes:
        parent: the entry it answers, "" as long as nothing was committed.
        running: its checkpoint, None before anything was asked of the model.
        checkpointed: when it was last kept, in the session's seconds.
        entry: where it stands, once it is stored.
    """

    parts: list[Part] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    usage: Usage | None = None
    stop_reason: StopReason = "stopped"
    error: PortholeError | None = None
    parent: str = ""
    running: RunningReply | None = None
    checkpointed: float = 0.0
    entry: Entry | None = None
    _timer: asyncio.TimerHandle | None = None

    def keep_later(self, seconds: float, keep: Callable[[], None]) -> None:
        """Have `keep` called then, unless that is planned already; a failing disk is met later."""

        def keep_it() -> None:
            with suppress(EnvironmentFault):  # the next checkpoint, or the end, tells it
                keep()

        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(seconds, keep_it)

    def keep_never(self) -> None:
        """What was planned is not called any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def add(self, chunk: TextChunk | ThinkingChunk | ToolCallChunk) -> None:
        """Take a chunk in; text that follows text joins it."""
        if isinstance(chunk, ToolCallChunk):
            self.parts.append(chunk.call)
            return
        kind = Text if isinstance(chunk, TextChunk) else Thinking
        last = self.parts[-1] if self.parts else None
        if isinstance(last, kind):
            self.parts[-1] = kind(last.text + chunk.text)
        elif chunk.text:
            self.parts.append(kind(chunk.text))
        self.ids.extend(chunk.ids)

    def message(self, model: str, vocabulary: str) -> Message:
        """The reply as it is stored."""
        return Message(
            "assistant",
            tuple(self.parts),
            model=model,
            stop_reason=self.stop_reason,
            usage=self.usage,
            token_ids=TokenIds(vocabulary, tuple(self.ids)) if vocabulary and self.ids else None,
            error=str(self.error) if self.error else "",
        )
