"""Where a conversation may be cut in two: what goes into the summary, what stays verbatim.

::

    user ─ reply ─ user ─ reply ⟨call⟩ ─ result ─ reply ─ user
    ╰── summary ──╯ ╰──────────────── kept tail ─────────────╯
                  ▲ cut: the first place, seen from the end, where the tail has `keep_recent` tokens

A cut goes before a user message, a reply, a custom message, a branch summary or a compaction; never
before a tool result, and never between a call and its result. Settings right before a cut go with the
tail. A cut before a reply splits its turn: the beginning of that turn is summarised by itself
(context-engine.md 6.3). All passes are linear.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from engine.tokens import Weighed, is_runtime_context
from engine.transcript import (
    Body,
    BranchSummary,
    Compaction,
    CustomMessage,
    Entry,
    Message,
    ToolCall,
)

# What an entry is to a cut.
_SETTING = 0  # not a message: never cut at, goes with what comes after
_INSIDE = 1  # a message that is never cut at
_RESULT = 2  # the same, and tied to its call
_REPLY = 3  # may be cut at; splits the turn
_OPENER = 4  # may be cut at; begins a turn

_ROLES = {"user": _OPENER, "assistant": _REPLY, "tool_result": _RESULT}
_UNPAIRED = frozenset({"stopped", "failed", "interrupted"})  # whose calls nobody answers


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a sequence is cut; indices into it.

    `first_kept` is where the tail begins; at the start of the range there is nothing to summarise.
    `split_turn`: a turn goes through the cut, and `turn_start` is where it began; None otherwise.
    """

    first_kept: int
    split_turn: bool = False
    turn_start: int | None = None


def plan_cut(items: Sequence[Weighed], keep_recent: int, *, start: int = 0) -> Cut:
    """Cut items[start:] so that the tail has at least `keep_recent` tokens (context-engine.md 6.3).

    The first valid place at or after the message with which the tail reaches `keep_recent`, counted
    from the end. If it never does, or no valid place follows, the first valid place of all: nothing
    is summarised then.
    """
    rest = items[start:]
    seams = Seams([item.entry for item in rest], [item.tokens for item in rest])
    place = seams.place(keep_recent)
    if place is None:
        place = seams.places[0] if seams.places else 0
    cut = seams.cut(place)
    turn_start = None if cut.turn_start is None else cut.turn_start + start
    return Cut(cut.first_kept + start, cut.split_turn, turn_start)


class Seams:
    """The places where a sequence of entries may be cut, and the tokens before each entry.

    Args:
        entries: what is cut.
        weights: their tokens, in the same order.
        since: places before this index are of no interest; what is long past is not even looked at.

    Attributes:
        places: indices a cut may go before, ascending.
        before: `before[i]` are the tokens of the first i entries; one longer than the entries.
    """

    def __init__(self, entries: Sequence[Entry], weights: Sequence[int], since: int = 0) -> None:
        self._entries = entries
        self.before = list(accumulate(weights, initial=0))
        while since > 0 and _kind(entries[since].body) in (_RESULT, _SETTING):
            since -= 1  # to the reply that the results belong to
        self.places = _find_places(entries, since)

    @property
    def total(self) -> int:
        """Tokens of all entries."""
        return self.before[-1]

    def kept(self, first_kept: int) -> int:
        """Tokens of the tail that begins at an index."""
        return self.total - self.before[first_kept]

    def reached(self, keep_recent: int) -> int:
        """Index of the entry with which the tail reaches `keep_recent` tokens; −1 if it never does."""
        return bisect_right(self.before, self.total - max(1, keep_recent)) - 1

    def place(self, keep_recent: int) -> int | None:
        """The first place at or after where the tail reaches `keep_recent` tokens; None if none."""
        reached = self.reached(keep_recent)
        following = bisect_left(self.places, reached)
        return self.places[following] if reached >= 0 and following < len(self.places) else None

    def openers(self, since: int) -> list[int]:
        """The places from an index on where a turn begins."""
        following = self.places[bisect_left(self.places, since) :]
        return [place for place in following if self._kind(place) == _OPENER]

    def place_before(self, index: int) -> int | None:
        """The last place at or before an index; None if none."""
        following = bisect_right(self.places, index)
        return self.places[following - 1] if following else None

    def cut(self, place: int) -> Cut:
        """The cut at a place: settings right before it kept, the split turn found."""
        first_kept = place
        while first_kept > 0 and self._kind(first_kept - 1) == _SETTING:
            first_kept -= 1
        if place >= len(self._entries) or self._kind(place) == _OPENER:
            return Cut(first_kept)
        turn_start = next((i for i in range(place, -1, -1) if self._kind(i) == _OPENER), None)
        return Cut(first_kept, turn_start is not None, turn_start)

    def has_message_before(self, index: int) -> bool:
        """Whether a cut at an index would fold anything that was said."""
        return any(self._kind(i) != _SETTING for i in range(index))

    def _kind(self, index: int) -> int:
        return _kind(self._entries[index].body)


def is_message(body: Body) -> bool:
    """Whether something was said in an entry: what a summary is made of."""
    return _kind(body) != _SETTING


def awaited_calls(body: Body) -> tuple[str, ...]:
    """Ids of the calls in a reply that are to be answered; none for a stopped or failed one."""
    if (
        isinstance(body, Message)
        and body.role == "assistant"
        and body.stop_reason not in _UNPAIRED
    ):
        return tuple([part.id for part in body.parts if type(part) is ToolCall])
    return ()


def _kind(body: Body) -> int:
    return _ROLES.get(body.role, _INSIDE) if isinstance(body, Message) else _other_kind(body)


def _other_kind(body: Body) -> int:
    """What an entry is that is no message of user, model or tool."""
    if isinstance(body, Compaction):
        return _REPLY
    if isinstance(body, CustomMessage):
        return _SETTING if is_runtime_context(body) else _OPENER
    return _OPENER if isinstance(body, BranchSummary) else _SETTING


def _find_places(entries: Sequence[Entry], since: int) -> list[int]:
    """Every place from `since` on but those between a call and its result, seen from the end."""
    kinds = [_kind(entry.body) for entry in entries[since:]]
    places = [index for index, kind in enumerate(kinds, since) if kind >= _REPLY]
    strays = _strays(entries, kinds, since)
    calls = _calls_of(strays, entries) if strays else {}
    if not calls:
        return places
    free: list[int] = []
    results = sorted(calls)
    first_call = len(entries)
    for place in reversed(places):
        while results and results[-1] >= place:
            first_call = min(first_call, calls[results.pop()])
        if first_call >= place:
            free.append(place)
    free.reverse()
    return free


def _strays(entries: Sequence[Entry], kinds: Sequence[int], since: int) -> list[int]:
    """Indices of the results that do not directly follow their reply.

    Nearly all do, and between those no cut is possible anyway.
    """
    found: list[int] = []
    nearest = read = -1
    calls: frozenset[str] = frozenset()
    for index, kind in enumerate(kinds, since):
        if kind == _RESULT:
            if nearest != read:
                read, calls = nearest, _call_ids(entries[nearest].body)
            if _result_id(entries[index].body) not in calls:
                found.append(index)
        elif kind != _SETTING:
            nearest = index
    return found


def _calls_of(results: Sequence[int], entries: Sequence[Entry]) -> dict[int, int]:
    """Index of each of these results → index of the latest reply before it that made its call."""
    made: dict[str, int] = {}
    found: dict[int, int] = {}
    read = 0
    for result in results:
        for index in range(read, result):
            made.update(dict.fromkeys(_call_ids(entries[index].body), index))
        read = result
        call = made.get(_result_id(entries[result].body))
        if call is not None:
            found[result] = call
    return found


def _call_ids(body: Body) -> frozenset[str]:
    if not isinstance(body, Message):
        return frozenset()
    return frozenset([part.id for part in body.parts if type(part) is ToolCall])


def _result_id(body: Body) -> str:
    return body.tool_call_id if isinstance(body, Message) else ""
