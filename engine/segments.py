"""What a prompt is made of, whether one more message fits, and which compactions there were. Pure.

::

    ContextView ─┬─▶ segments   together they are the count the session acts on
                 └─▶ fit        what sending a draft would do

No formula of its own for a size: weights and count are the view's.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from engine.context import MIN_REPLY_TOKENS, ContextView, plan_message_room
from engine.prompt import plan_message
from engine.tokens import IMAGE_TOKENS, MESSAGE_OVERHEAD_TOKENS, estimate_messages
from engine.transcript import Body, Compaction, Entry, Message, last_compaction
from engine.undoing import edited_id, undone_ids
from engine.view import pinned_ids

SegmentName = Literal[
    "system prompt",
    "summary",
    "pinned",
    "your messages",
    "replies",
    "files",
    "tool results",
    "thinking",
    "other",
]
_SEGMENTS: tuple[SegmentName, ...] = get_args(SegmentName)
_ROLES: dict[str, SegmentName] = {
    "user": "your messages",
    "assistant": "replies",
    "tool_result": "tool results",
}
NEAR = 0.9
"""Of the prompt budget: from here on a compaction is near."""

FileShare = Callable[[str], float]
"""How much of a user's message is files that went along, 0…1."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the prompt: its tokens, and how many entries it is made of."""

    name: SegmentName
    tokens: int
    entries: int


def plan_segments(view: ContextView, files: FileShare | None = None) -> tuple[Segment, ...]:
    """What the count is made of: estimates, scaled so that they are the count together.

    Args:
        view: the context the session acts on.
        files: says what of a user's message is files; None for nothing.
    """
    pinned = pinned_before(view.path)
    tokens: dict[SegmentName, int] = dict.fromkeys(_SEGMENTS, 0)
    entries: dict[SegmentName, int] = dict.fromkeys(_SEGMENTS, 0)
    tokens["system prompt"] = view.fixed_tokens
    for entry in view.visible:
        weight = view.weights.get(entry.id, 0)
        if not weight:
            continue
        name = "pinned" if entry.id in pinned else segment_of(entry.body)
        entries[name] += 1
        for part, share in _shares(view, entry, name, weight, files):
            tokens[part] += share
            entries[part] += part != name and share > 0
    return tuple(_scaled(tokens, entries, view.count.tokens))


def _scaled(
    tokens: dict[SegmentName, int], entries: dict[SegmentName, int], total: int
) -> Iterable[Segment]:
    whole, passed, given = sum(tokens.values()), 0, 0
    for name in _SEGMENTS:
        passed += tokens[name]
        until = total * passed // whole if whole else 0
        if tokens[name]:
            yield Segment(name, until - given, entries[name])
        given = until


def _shares(
    view: ContextView, entry: Entry, name: SegmentName, weight: int, files: FileShare | None
) -> tuple[tuple[SegmentName, int], ...]:
    """An entry's weight, parted: files and pictures of a message, thinking of a reply.

    What its thinking weighs, the view says.
    """
    body = entry.body
    if name == "your messages" and isinstance(body, Message):
        pictures = _pictures_share(view, entry, weight)
        share = files(body.text) if files is not None else 0.0
        part = pictures + round((weight - pictures) * min(1.0, max(0.0, share)))
        return (name, weight - part), ("files", part)
    part = min(weight, view.thinking.get(entry.id, 0))
    return ((name, weight - part), ("thinking", part)) if part else ((name, weight),)


def _pictures_share(view: ContextView, entry: Entry, weight: int) -> int:
    """What of a message's weight its pictures are."""
    message = plan_message(entry, "sent") if view.sees_images else None
    if message is None or not message.images:
        return 0
    return weight * IMAGE_TOKENS * len(message.images) // max(1, estimate_messages((message,)))


def segment_of(body: Body) -> SegmentName:
    """Which part of the prompt a body belongs to if nobody pinned it."""
    if isinstance(body, Compaction):
        return "summary"
    return _ROLES.get(body.role, "other") if isinstance(body, Message) else "other"


def pinned_before(path: Sequence[Entry]) -> frozenset[str]:
    """What the user pinned, and what the last compaction kept although it was folded."""
    index = last_compaction(path)
    body = path[index].body if index is not None else None
    kept = body.facts.get("pinned") if isinstance(body, Compaction) else None
    return pinned_ids(path) | frozenset(
        id_ for id_ in (kept if isinstance(kept, list) else ()) if isinstance(id_, str)
    )


# ---- one message more ---------------------------------------------------------------------------

FitState = Literal["fits", "near", "folds", "over", "too_large"]
"""What sending a draft comes to:

- fits; near: it fits, and the prompt is at 90 % of its budget or more
- folds: over the budget, and older messages are folded first
- over: over the budget, and it is sent whole, for nothing is folded by itself
- too_large: the session would refuse it
"""


@dataclass(frozen=True, slots=True)
class Fit:
    """Whether a draft can be sent; tokens.

    Attributes:
        state: see `FitState`.
        room: the most a message can have here when everything else is folded.
        over: how much the whole prompt is over its budget, 0 if it is not.
    """

    state: FitState
    room: int
    over: int


def plan_fit(view: ContextView, draft_tokens: int) -> Fit:
    """What the session would do with a message of so many tokens, its overhead included."""
    budget, total = view.budget, view.count.tokens + draft_tokens
    room = plan_message_room(view)
    over = max(0, total - budget.prompt)
    if draft_tokens - MESSAGE_OVERHEAD_TOKENS > room:
        return Fit("too_large", room, over)
    if not view.settings.enabled and total + MIN_REPLY_TOKENS > budget.window:
        return Fit("too_large", max(0, budget.window - view.count.tokens - MIN_REPLY_TOKENS), over)
    if over:
        return Fit("folds" if view.settings.enabled else "over", room, over)
    return Fit("near" if total >= NEAR * budget.prompt else "fits", room, 0)


# ---- compactions --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """A compaction of a path; tokens, seconds, milliseconds since 1970.

    Attributes:
        entry: its id, which is that of its card.
        folded: messages it stands for; 0 where that is not known.
        counts: whether it is the one whose summary is sent.
        undone: whether the user took it back.
    """

    entry: str
    before: int
    after: int
    folded: int
    seconds: float
    way: str
    model: str
    when_ms: int
    counts: bool = False
    undone: bool = False
    degraded: bool = False


def plan_ledger(path: Sequence[Entry]) -> tuple[LedgerLine, ...]:
    """Every compaction of a path (as it is stored), the last one first; edits are none."""
    undone = undone_ids(path)
    made = [e for e in path if isinstance(e.body, Compaction) and edited_id(e) == e.id]
    standing = [entry.id for entry in made if entry.id not in undone]
    return tuple(
        _line(entry, undone=entry.id in undone, counts=standing[-1:] == [entry.id])
        for entry in reversed(made)
    )


def _line(entry: Entry, *, undone: bool, counts: bool) -> LedgerLine:
    body = entry.body
    assert isinstance(body, Compaction)
    folded = body.facts.get("folded")
    return LedgerLine(
        entry.id,
        body.tokens_before,
        body.tokens_after,
        folded if type(folded) is int else 0,
        body.seconds,
        body.way,
        body.model,
        entry.created_at,
        counts,
        undone,
        body.facts.get("degraded") is True,
    )
