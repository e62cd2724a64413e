"""The tool results of a conversation: each under its cap, then all together (SPEC1 12.4.3, 12.4.4).

::

    bodies ─▶ oversized: each result under the cap          (request level: this pass only)
           ─▶ aggregate: all results together under the cap (session level: both)
           ─▶ Shortening…  the caller appends them; nothing is rewritten

Only the text of tool results changes; order and number of the bodies never do.

The order of the second pass is a policy. The specification's letter is newest first, its reason
(old, digested results should not take up space) speaks for oldest first (CONFLICT-4). In either,
the results of the running turn keep 2,000 characters as long as others can give instead: a model
that has lost what it just read reads it again, for ever.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from engine.prune.single import (
    MIDDLE_MARKER,
    MIN_KEEP_CHARS,
    SHORTEST_NOTICE_CHARS,
    shorten_parts,
    text_chars,
)
from engine.tokens import utf16_length
from engine.transcript import Body, Message, Part, Text

Order = Literal["newest_first", "oldest_first"]

FRESH_KEEP_CHARS = 2_000
"""What a result of the running turn keeps of its text."""
_LONGEST_NOTICE_CHARS = SHORTEST_NOTICE_CHARS + 14


@dataclass(frozen=True, slots=True)
class Shortening:
    """A tool result's new parts. UTF-16 characters.

    Attributes:
        index: position of the result in the given sequence.
        parts: its new parts; what is not text is as before.
        before_chars: characters of its text before.
    """

    index: int
    parts: tuple[Part, ...]
    before_chars: int

    @property
    def text(self) -> str:
        """The new text, text parts joined."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def after_chars(self) -> int:
        """Characters of the new text."""
        return text_chars(self.parts)

    @property
    def removed_chars(self) -> int:
        """Characters saved."""
        return self.before_chars - self.after_chars


def plan_oversized(
    bodies: Sequence[Body], cap_chars: int, *, min_keep: int = MIN_KEEP_CHARS
) -> tuple[Shortening, ...]:
    """Bring every tool result under the cap: request-level pruning, on a copy (SPEC1 12.4.4).

    A cap under 1 counts as 1.
    """
    return _oversized(tuple(_results(bodies)), max(1, cap_chars), min_keep)


def _oversized(
    results: Iterable[tuple[int, Message, int]], cap: int, min_keep: int
) -> tuple[Shortening, ...]:
    return tuple(
        _shortening(index, message, chars, cap, min_keep)
        for index, message, chars in results
        if chars > cap
    )


def plan_session_prune(
    bodies: Sequence[Body],
    cap_chars: int,
    *,
    order: Order = "newest_first",
    recovery: bool = True,
    fresh_from: int | None = None,
) -> tuple[Shortening, ...]:
    """Bring every tool result under the cap, and their sum too: session-level pruning.

    The sum is under the cap afterwards unless every result is as short as it may be.

    Args:
        bodies: what the model sees.
        cap_chars: characters, for each and for all together; under 1 counts as 1.
        order: whose text goes first.
        recovery: results may shrink to nothing but a notice; otherwise they keep 2,000 characters.
        fresh_from: the running turn begins at this index. Its results keep 2,000 characters if
            the others can give enough, the newest result always does where the cap allows.
    """
    cap = max(1, cap_chars)
    min_keep = 0 if recovery else MIN_KEEP_CHARS
    found = tuple(_results(bodies))
    plan = {change.index: change for change in _oversized(found, cap, min_keep)}
    results = {index: (message, chars) for index, message, chars in found}
    lengths = {index: chars for index, (_, chars) in results.items()}
    lengths.update({index: change.after_chars for index, change in plan.items()})
    excess = sum(lengths.values()) - cap
    if excess <= 0 or len(results) < 2:
        return tuple(plan.values())

    def cut(index: int, target: int) -> int:
        # From the original text, not from what the first pass left of it: one marker, and a
        # notice that counts everything that is missing.
        message, chars = results[index]
        plan[index] = _shortening(index, message, chars, target, min_keep)
        return plan[index].after_chars

    messages = {index: message for index, (message, _) in results.items()}
    for least in _rounds(messages, min_keep, fresh_from):
        excess = _reduce(lengths, excess, least, order, cut)
    return tuple(plan[index] for index in sorted(plan))


def reducible_chars(bodies: Sequence[Body], cap_chars: int) -> int:
    """Characters that session-level pruning in recovery would save at most (context-engine.md 5.3)."""
    return sum(change.removed_chars for change in plan_session_prune(bodies, cap_chars))


def apply_shortenings(
    bodies: Sequence[Body], shortenings: Iterable[Shortening]
) -> tuple[Body, ...]:
    """The bodies with the results' new parts; all others are the same objects."""
    changed = list(bodies)
    for change in shortenings:
        body = changed[change.index]
        assert isinstance(body, Message)
        changed[change.index] = replace(body, parts=change.parts)
    return tuple(changed)


def _results(bodies: Sequence[Body]) -> Iterable[tuple[int, Message, int]]:
    """Index, message and characters of every tool result."""
    if not [b for b in bodies if type(b) is Message and b.role == "tool_result"]:
        return  # most conversations have none, and this is half as long as counting along
    found = [i for i, b in enumerate(bodies) if type(b) is Message and b.role == "tool_result"]
    for index in found:
        body = bodies[index]
        assert isinstance(body, Message)
        yield index, body, text_chars(body.parts)


def _shortening(index: int, message: Message, chars: int, cap: int, min_keep: int) -> Shortening:
    return Shortening(index, shorten_parts(message.parts, cap, min_keep), chars)


Least = Callable[[int], int]
"""The characters the result at an index may be cut down to."""


def _rounds(
    results: Mapping[int, Message], min_keep: int, fresh_from: int | None
) -> tuple[Least, ...]:
    """How far down each result may go, round after round."""
    shortest = min_keep + SHORTEST_NOTICE_CHARS
    if fresh_from is None:
        return (lambda _index: shortest,)
    newest = max(results)
    spared = {i: max(shortest, _fresh_chars(results[i])) for i in results if i >= fresh_from}
    only_newest = {i: chars for i, chars in spared.items() if i == newest}
    return (
        lambda index: spared.get(index, shortest),
        lambda index: only_newest.get(index, shortest),
    )


def _fresh_chars(message: Message) -> int:
    """A length that leaves 2,000 characters of the text itself.

    A cut goes back to a line end by up to a fifth; markers and notices are not the text's own.
    """
    texts = sum(isinstance(part, Text) for part in message.parts)
    own = utf16_length(MIDDLE_MARKER) + _LONGEST_NOTICE_CHARS
    return FRESH_KEEP_CHARS * 5 // 4 + texts * own


def _reduce(
    lengths: dict[int, int],
    excess: int,
    least: Least,
    order: Order,
    cut: Callable[[int, int], int],
) -> int:
    """Cut one result after the other until the excess is gone; what is left of it."""
    for index in sorted(lengths, reverse=order == "newest_first"):
        if excess <= 0:
            break
        target = max(least(index), lengths[index] - excess)
        if target < lengths[index]:
            length = cut(index, target)
            excess -= lengths[index] - length
            lengths[index] = length
    return excess
