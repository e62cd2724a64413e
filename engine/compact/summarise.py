"""The staged summary: many small requests instead of one that does not fit (SPEC1 12.5.5, 12.5.6).

::

    messages ─┬─ few, or small ──────────────▶ chunk ─▶ chunk ─▶ chunk      each carries the summary on
              │                                              ╰──────────▶ summary
              └─ split by share ─┬─ part ─▶ … ─▶ partial ─┐
                                 └─ part ─▶ … ─▶ partial ─┴─ merge (with the older summary) ─▶ summary

What fails falls through three tiers: all messages; without those too large to be summarised, each of
which leaves a note; a placeholder, which says that there is no summary and never takes the place
of an older one. Each request has three attempts. A stop by the user ends everything at once and is
never a tier. Nothing here knows a model: requests, waiting and chance are given.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from random import random as any_chance
from typing import Literal

from engine.compact.chunks import (
    CHUNK_OVERHEAD_TOKENS,
    DEFAULT_PARTS,
    Items,
    adaptive_chunk_ratio,
    chunk_budget,
    chunk_by_max_tokens,
    is_oversized,
    split_by_share,
    total_tokens,
)
from engine.compact.cut import is_message
from engine.compact.tasks import (
    Generate,
    Kind,
    RequestFailed,
    Requests,
    Retry,
    SummaryTask,
)
from engine.compact.wording import (
    Language,
    join_split_turn,
    no_history_text,
    omitted_note,
    placeholder_text,
)
from engine.errors import ContextOverflow
from engine.tokens import SAFETY_MARGIN, Weighed, estimate_text
from engine.transcript import Message, Role

Tier = Literal[1, 2, 3]

__all__ = ["Generate", "Kind", "Retry", "Stages", "Summariser", "Summary", "SummaryTask"]

PREFIX_SHARE = 1 / 3
"""Of the room for a summary: what the beginning of a split turn gets beside the turns before it."""


@dataclass(frozen=True, slots=True)
class Stages:
    """When and how a summary is taken apart; tokens.

    Attributes:
        parts: into how many parts messages are split by share.
        min_messages: fewer are never split.
        chunk_tokens: the chunk budget; None to work it out from the window (SPEC1 12.5.3).
        output_tokens: the most a summary can have.
        instruction_tokens: what a request has beside messages and summaries.
        retry: attempts of each request.
    """

    parts: int = DEFAULT_PARTS
    min_messages: int = 4
    chunk_tokens: int | None = None
    output_tokens: int = 0
    instruction_tokens: int = 0
    retry: Retry = field(default_factory=Retry)


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary and how it came about.

    Attributes:
        text: never empty.
        tier: 1 of everything, 2 without what was too large, 3 with a placeholder in it.
        calls: how many requests were made, failed ones included.
        rejected: reasons why what was written could not stand, in order.
        faults: sentences of the faults that ended attempts, in order.
    """

    text: str
    tier: Tier
    calls: int
    rejected: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    @property
    def degraded(self) -> bool:
        """Whether some messages are not in it: the next compaction begins with the originals."""
        return self.tier == 3


class Summariser:
    """Writes summaries in stages.

    Args:
        generate: runs one request.
        window: tokens that request and summary may have together.
        chunk_overhead: tokens of the window kept free beside a chunk.
        language: of notes and placeholders.
        stages: how messages are taken apart.
        sleep: waits between attempts, seconds.
        random: a number from 0 to 1, for the jitter.
    """

    def __init__(
        self,
        generate: Generate,
        *,
        window: int,
        chunk_overhead: int = CHUNK_OVERHEAD_TOKENS,
        language: Language = "en",
        stages: Stages = Stages(),
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Callable[[], float] = any_chance,
    ) -> None:
        self._generate = generate
        self._window = window
        self._overhead = chunk_overhead
        self._language: Language = language
        self._stages = stages
        self._sleep = sleep
        self._random = random

    async def in_stages(
        self, items: Sequence[Weighed], previous: str = "", focus: str = ""
    ) -> Summary:
        """One summary of all messages, carrying on `previous`.

        No messages: the previous summary, or a text that says there is no earlier history, without
        a request. Cancelling, `Stopped` and what is a bug of ours propagate; everything else
        becomes a lower tier.
        """
        run = self._run(focus, "summary", 1.0)
        text, tier = await run.summarise(_said(items), previous)
        return run.summary(text, tier)

    async def in_turns(
        self,
        folded: Sequence[Weighed],
        turn_prefix: Sequence[Weighed],
        *,
        previous: str = "",
        focus: str = "",
    ) -> Summary:
        """One summary of whole turns and of the beginning of the turn that was split after them.

        The beginning has a summary of its own, under the other one (context-engine.md 6.3), and
        both share the room for a summary.
        """
        prefix = _said(turn_prefix)
        if not prefix:
            return await self.in_stages(folded, previous, focus)
        turns = _said(folded)
        share = PREFIX_SHARE if turns or previous else 1.0
        before = self._run(focus, "summary", 1.0 - PREFIX_SHARE)
        history, history_tier = await before.summarise(turns, previous)
        within = self._run(focus, "split_turn", share)
        beginning, tier = await within.summarise(prefix, "")
        text = join_split_turn(history, beginning, self._language)
        return _joined(before.summary(text, history_tier), within.summary(text, tier))

    def _run(self, focus: str, kind: Kind, share: float) -> "_Run":
        requests = Requests(self._generate, self._stages.retry, self._sleep, self._random)
        sizes = _Sizes(self._window, self._overhead, self._stages, estimate_text(focus))
        return _Run(requests, sizes, self._language, SummaryTask(kind, focus=focus, share=share))


# ---- what fits ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Sizes:
    """What fits; tokens."""

    window: int
    overhead: int
    stages: Stages
    focus_tokens: int

    def chunk_budget(self, items: Items) -> int:
        """The chunk budget for these messages, before the margin."""
        if self.stages.chunk_tokens is not None:
            return self.stages.chunk_tokens
        ratio = adaptive_chunk_ratio(items, self.window)
        return chunk_budget(self.window, ratio, self.overhead)

    def room(self, previous: str) -> int:
        """What a request has for messages beside a previous summary, its own, and instructions."""
        stages = self.stages
        older = max(stages.output_tokens, _text_tokens(previous))
        others = older + stages.output_tokens + stages.instruction_tokens + self.focus_tokens
        return self.window - others

    def fits(self, tokens: int, previous: str) -> bool:
        """Whether messages of an estimated size fit a request."""
        return tokens * SAFETY_MARGIN <= self.room(previous)


# ---- all requests for one summary -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Piece:
    """Something to be carried into the summary: a message or a partial summary, and its tokens."""

    content: Weighed | str
    tokens: int


class _Run:
    """Everything one summary takes. `draft`: what all its requests have in common."""

    def __init__(
        self, requests: Requests, sizes: _Sizes, language: Language, draft: SummaryTask
    ) -> None:
        self._requests = requests
        self._sizes = sizes
        self._language: Language = language
        self._draft = draft

    def summary(self, text: str, tier: Tier) -> Summary:
        """The result, with what it took."""
        made = self._requests
        return Summary(text, tier, made.calls, tuple(made.rejected), tuple(made.faults))

    async def summarise(self, items: Items, previous: str) -> tuple[str, Tier]:
        """The summary and its tier: in one go, or in parts that are merged."""
        if not items:
            return previous or no_history_text(self._language), 1
        stages, budget = self._sizes.stages, self._sizes.chunk_budget(items)
        if len(items) >= stages.min_messages and total_tokens(items) > budget:
            parts = split_by_share(items, stages.parts)
            if len(parts) > 1:
                return await self._in_parts(parts, previous)
        return await self._in_tiers(items, previous)

    async def _in_parts(self, parts: Sequence[Items], previous: str) -> tuple[str, Tier]:
        """Partial summaries, then one of them all; a part that failed leaves its placeholder."""
        partials: list[str] = []
        lost: list[Weighed] = []
        worst: Tier = 1
        for part in parts:
            text, tier = await self._in_tiers(part, "")
            worst = max(worst, tier)
            if tier == 3:
                lost += part
            else:
                partials.append(text)
        if not partials:
            return self._placeholder(lost, previous), 3
        merged = await self._merged(partials, previous)
        if merged is None:
            return self._placeholder([item for part in parts for item in part], previous), 3
        return (self._placeholder(lost, merged), 3) if lost else (merged, worst)

    async def _merged(self, partials: Sequence[str], previous: str) -> str | None:
        """One summary of partial ones and the older one; None if no model can write it.

        Those that are short enough together then stand one after the other.
        """
        if len(partials) == 1 and not previous:
            return partials[0]
        pieces = [_Piece(text, _text_tokens(text)) for text in partials]
        limit = int(self._sizes.room(previous) / SAFETY_MARGIN)
        try:
            return await self._carry(_grouped(pieces, limit), previous)
        except RequestFailed:
            together = "\n\n".join(text for text in (previous, *partials) if text)
            fits = _text_tokens(together) <= self._sizes.stages.output_tokens
            return together if fits else None

    async def _in_tiers(self, items: Items, previous: str) -> tuple[str, Tier]:
        """The summary of these messages by the first tier that has one (SPEC1 12.5.6)."""
        try:
            return await self._in_chunks(items, previous), 1
        except RequestFailed:
            pass
        small = tuple([item for item in items if not self._is_oversized(item)])
        if 0 < len(small) < len(items):
            try:
                text = await self._in_chunks(small, previous)
            except RequestFailed:
                pass
            else:
                notes = [self._note(item) for item in items if self._is_oversized(item)]
                return "\n\n".join((text, "\n".join(notes))), 2
        return self._placeholder(items, previous), 3

    async def _in_chunks(self, items: Items, previous: str) -> str:
        budget = min(self._sizes.chunk_budget(items), int(self._sizes.room(previous)))
        chunks = chunk_by_max_tokens(items, budget)
        return await self._carry(
            [[_Piece(item, item.tokens) for item in chunk] for chunk in chunks], previous
        )

    async def _carry(self, groups: Sequence[Sequence[_Piece]], previous: str) -> str:
        """Carry the summary through groups of pieces, halving one that turns out too large.

        Raises RequestFailed when a single piece does not fit, or a request failed for good.
        """
        summary = previous
        waiting = list(reversed(groups))
        while waiting:
            group = waiting.pop()
            try:
                summary = await self._request(group, summary)
            except ContextOverflow as overflow:
                if len(group) == 1:
                    self._requests.faults.append(str(overflow))
                    raise RequestFailed from overflow
                half = _middle(group)
                waiting += [group[half:], group[:half]]
        return summary

    async def _request(self, group: Sequence[_Piece], summary: str) -> str:
        """One request. Raises ContextOverflow, without making it when it cannot fit."""
        if not self._sizes.fits(sum(piece.tokens for piece in group), summary):
            raise ContextOverflow(
                "A request for a summary would not fit the context window.",
                window_tokens=self._sizes.window,
            )
        items = tuple([p.content for p in group if isinstance(p.content, Weighed)])
        partials = tuple([p.content for p in group if isinstance(p.content, str)])
        kind: Kind = self._draft.kind
        if partials:
            kind = "merge"
        elif summary and kind == "summary":
            kind = "update"
        return await self._requests.make(
            replace(self._draft, kind=kind, items=items, partials=partials, previous=summary)
        )

    def _is_oversized(self, item: Weighed) -> bool:
        return is_oversized(item.tokens, self._sizes.window)

    def _note(self, item: Weighed) -> str:
        body = item.entry.body
        role: Role = body.role if isinstance(body, Message) else "user"
        return omitted_note(role, item.tokens, self._language)

    def _placeholder(self, items: Sequence[Weighed], summary: str) -> str:
        """What says that these messages have no summary, under the summary there is."""
        oversized = sum(self._is_oversized(item) for item in items)
        text = placeholder_text(len(items), oversized, self._language)
        return f"{summary}\n\n{text}" if summary else text


def _said(items: Sequence[Weighed]) -> Items:
    """The messages among the items; settings have nothing to summarise."""
    return tuple([item for item in items if is_message(item.entry.body)])


def _joined(history: Summary, prefix: Summary) -> Summary:
    """The account of two summaries that became one text."""
    return Summary(
        prefix.text,
        max(history.tier, prefix.tier),
        history.calls + prefix.calls,
        (*history.rejected, *prefix.rejected),
        (*history.faults, *prefix.faults),
    )


def _text_tokens(text: str) -> int:
    return estimate_text(text) if text else 0


def _grouped(pieces: Sequence[_Piece], limit: int) -> list[list[_Piece]]:
    """Pieces in groups of at most `limit` tokens; larger ones alone."""
    groups: list[list[_Piece]] = []
    size = 0
    for piece in pieces:
        if groups and size + piece.tokens <= limit:
            groups[-1].append(piece)
            size += piece.tokens
        else:
            groups.append([piece])
            size = piece.tokens
    return groups


def _middle(group: Sequence[_Piece]) -> int:
    """Where to halve a group: between messages that do not belong together, if it can be."""
    items = [piece.content for piece in group if isinstance(piece.content, Weighed)]
    parts = split_by_share(items, 2) if len(items) == len(group) else ()
    return len(parts[0]) if len(parts) > 1 else len(group) // 2
