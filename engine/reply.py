"""The reply being written: what came so far, and how it is stored."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from engine.backends.base import TextChunk, ThinkingChunk, ToolCallChunk
from engine.errors import EnvironmentFault, PortholeError
from engine.events import Receipt
from engine.receipts import ReportedReply
from engine.store import Reply as RunningReply
from engine.store import Store
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

CHECKPOINT_SECONDS = 1.0
"""What a crash costs at most of a running reply."""


@dataclass
class WrittenReply:
    """Parts in the order they came, what they cost, and how it ended.

    Attributes:
        parent: the entry it answers, "" as long as nothing was committed.
        running: its checkpoint, None before anything was asked of the model.
        checkpointed: when it was last kept, in the session's seconds.
        entry: where it stands, once it is stored.
        receipt: what was sent for it and what that cost, once it is there.
        tells_whole: its usage is of a backend that reports every prompt whole.
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
    receipt: Receipt | None = None
    tells_whole: bool = False

    def reported(self, max_tokens: int) -> ReportedReply:
        """What its usage can be held against; it was allowed `max_tokens`."""
        words = [part.text for part in self.parts if isinstance(part, Text | Thinking)]
        text = "".join(words) if len(words) == len(self.parts) else None
        return ReportedReply(text, max_tokens, self.tells_whole)

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
            details=None if self.receipt is None else {"receipt": receipt_facts(self.receipt)},
        )


def receipt_facts(receipt: Receipt) -> dict[str, Any]:
    """What a receipt tells beyond the usage, as it is stored with the reply."""
    facts: dict[str, Any] = {
        "sent": receipt.sent_tokens,
        "kind": receipt.sent_kind,
        "window": receipt.window_tokens,
        "room": receipt.room_tokens,
    }
    if receipt.mismatch is not None:
        facts |= {"mismatch": receipt.mismatch.sentence, "cure": receipt.mismatch.remedy}
    return facts


class Checkpoints:
    """Keeps the running reply on the disk, at most once in CHECKPOINT_SECONDS, and no later.

    What came is kept in time also when nothing comes after it for a minute.

    Args:
        store: where.
        clock: seconds.
        message: the reply as it would be stored.
    """

    def __init__(
        self,
        store: Store,
        clock: Callable[[], float],
        message: Callable[[WrittenReply], Message],
    ) -> None:
        self._store = store
        self._clock = clock
        self._message = message
        self._timer: asyncio.TimerHandle | None = None

    def take(self, reply: WrittenReply) -> None:
        """Something was added to the reply."""
        if reply.running is None or not reply.parts:
            return
        now = self._clock()
        left = CHECKPOINT_SECONDS - (now - reply.checkpointed)
        if left <= 0:
            self._keep(reply, now)
        elif self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(left, self._keep_late, reply)

    def stop(self) -> None:
        """Nothing is kept any more: the reply ends."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _keep_late(self, reply: WrittenReply) -> None:
        with suppress(EnvironmentFault):  # the next checkpoint, or the end, meets it and tells
            self._keep(reply, self._clock())

    def _keep(self, reply: WrittenReply, now: float) -> None:
        self.stop()
        reply.checkpointed = now
        if reply.running is not None:
            message = self._message(reply)
            self._store.checkpoint_reply(
                reply.running, message.text, message.thinking, message.token_ids
            )
