"""Taking messages apart so that each request for a summary fits the window.

::

    by max     │ a a │ a b │ B │ c c c │     no chunk over the limit but a message that is larger
    by share   │ a a a b │ B c c c │         a number of parts, about the same tokens each

A reply's calls and the results to them stay in one chunk (SPEC1 12.5.2). Only where such a group is
larger than a whole chunk is it taken apart by message: the request must fit.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.compact.cut import awaited_calls
from engine.tokens import SAFETY_MARGIN, Weighed
from engine.transcript import Message

BASE_CHUNK_RATIO = 0.4
MIN_CHUNK_RATIO = 0.15
LARGE_AVERAGE = 0.1
"""An average message above this share of the window, margin included, makes chunks smaller."""
CHUNK_OVERHEAD_TOKENS = 4_096
DEFAULT_PARTS = 2

Items = tuple[Weighed, ...]


@dataclass(frozen=True, slots=True)
class HistoryShare:
    """What is left of a history that had to fit a share of the window; tokens.

    `dropped` are the oldest messages and the results that lost their call; `passes`: how many
    times a part was dropped.
    """

    kept: Items
    dropped: Items
    kept_tokens: int
    dropped_tokens: int
    budget: int
    passes: int


def chunk_by_max_tokens(items: Sequence[Weighed], max_tokens: int) -> tuple[Items, ...]:
    """Chunks of at most `max_tokens` / 1.2 tokens, in order (SPEC1 12.5.2).

    A message above that limit is a chunk of its own. A call and its results share one if they fit.
    """
    limit = max(1, max_tokens * 5 // 6)
    chunks: list[Items] = []
    current: list[Weighed] = []
    size = 0
    for group in _units(items, limit):
        tokens = total_tokens(group)
        if current and size + tokens > limit:
            chunks.append(tuple(current))
            current, size = [], 0
        current += group
        size += tokens
    if current:
        chunks.append(tuple(current))
    return tuple(chunks)


def split_by_share(items: Sequence[Weighed], parts: float = DEFAULT_PARTS) -> tuple[Items, ...]:
    """At most `parts` parts of about the same tokens, in order; none for no messages.

    `parts` is cut off to a whole number from 1 to the number of messages; what is not a number, or
    not above 1, gives one part. A part ends before the group that would take it over its share.
    """
    if not items:
        return ()
    count = _part_count(parts, len(items))
    share = total_tokens(items) / count
    done: list[Items] = []
    current: list[Weighed] = []
    size = 0
    for group in _groups(items):
        tokens = total_tokens(group)
        if current and len(done) < count - 1 and size + tokens > share:
            done.append(tuple(current))
            current, size = [], 0
        current += group
        size += tokens
    return (*done, tuple(current))


def adaptive_chunk_ratio(items: Sequence[Weighed], window_tokens: int) -> float:
    """Share of the window a chunk may have: 0.4, down to 0.15 for large messages (SPEC1 12.5.3)."""
    if not items or window_tokens <= 0:
        return BASE_CHUNK_RATIO
    average = total_tokens(items) / len(items) * SAFETY_MARGIN / window_tokens
    if average <= LARGE_AVERAGE:
        return BASE_CHUNK_RATIO
    reduction = min(average * 2, BASE_CHUNK_RATIO - MIN_CHUNK_RATIO)
    return max(MIN_CHUNK_RATIO, BASE_CHUNK_RATIO - reduction)


def chunk_budget(window_tokens: int, ratio: float, overhead: int = CHUNK_OVERHEAD_TOKENS) -> int:
    """Tokens of a chunk, before its margin: a share of the window less the request's overhead."""
    return max(1, math.floor(window_tokens * ratio) - overhead)


def is_oversized(tokens: int, window_tokens: int) -> bool:
    """Whether a message is too large to be summarised: over half the window, margin included."""
    return tokens * 12 > window_tokens * 5  # tokens · 1.2 > 0.5 · window, without rounding


def plan_history_share(
    items: Sequence[Weighed],
    max_tokens: int,
    share: float = 0.5,
    parts: float = DEFAULT_PARTS,
) -> HistoryShare:
    """Drop the oldest parts until the rest fits a share of the window (context-engine.md 6.4).

    Args:
        items: the history.
        max_tokens: the window.
        share: what the history may have of it, 0…1.
        parts: into how many parts it is split at each pass; the first is dropped.

    Stops when only one part is left. Tool results that lost their call are dropped with it; results
    that were never there are for `engine.repair` to make up, before each request.
    """
    budget = max(1, math.floor(max_tokens * share))
    kept, dropped, passes = tuple(items), [], 0
    while total_tokens(kept) > budget:
        pieces = split_by_share(kept, parts)
        if len(pieces) <= 1:
            break
        rest = tuple([item for piece in pieces[1:] for item in piece])
        kept = _without_orphans(rest)
        left = {id(item) for item in kept}
        dropped += [*pieces[0], *(item for item in rest if id(item) not in left)]
        passes += 1
    return HistoryShare(
        kept, tuple(dropped), total_tokens(kept), total_tokens(dropped), budget, passes
    )


def total_tokens(items: Sequence[Weighed]) -> int:
    """Tokens of all items."""
    return sum([item.tokens for item in items])


def _part_count(parts: float, messages: int) -> int:
    if not math.isfinite(parts) or parts <= 1:
        return 1
    return min(math.floor(parts), messages)


def _groups(items: Sequence[Weighed]) -> Iterator[list[Weighed]]:
    """Messages that must stay together: a reply with calls and everything up to its last result."""
    group: list[Weighed] = []
    pending: set[str] = set()
    for item in items:
        group.append(item)
        body = item.entry.body
        if isinstance(body, Message):
            if body.role == "assistant":
                pending = set(awaited_calls(body))
            elif body.role == "tool_result":
                pending.discard(body.tool_call_id)
        if not pending:
            yield group
            group = []
    if group:
        yield group


def _units(items: Sequence[Weighed], limit: int) -> Iterator[list[Weighed]]:
    """Groups that fit `limit` tokens; the messages of those that do not, one by one."""
    for group in _groups(items):
        if len(group) == 1 or total_tokens(group) <= limit:
            yield group
        else:
            yield from ([item] for item in group)


def _without_orphans(items: Items) -> Items:
    """The items without tool results whose call is not among those before them."""
    made: set[str] = set()
    kept = []
    for item in items:
        body = item.entry.body
        if isinstance(body, Message) and body.role == "tool_result":
            if body.tool_call_id not in made:
                continue
        elif isinstance(body, Message):
            made.update(call.id for call in body.tool_calls)
        kept.append(item)
    return tuple(kept)
