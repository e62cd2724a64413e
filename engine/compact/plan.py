"""What a compaction folds into its summary and what it keeps. Pure.

::

    path    … ─ compaction ─ … ─ turn ─ turn ─ ╎ beginning of a turn ─╎─ its end ─ newest message
            ╰ before: stays folded ╯           ╎                      ╎
                first_kept ─▶ ╰─── folded ────╯╰──── turn_prefix ────╯╰─────── kept ──────────╯

    the next prompt = fixed + summary + exact values + pinned + kept      ≤ predicted_tokens

The kept tail is measured in tokens, never in messages, and always reaches to the end. If what would
be left is over the target, or hardly less than before, the tail is halved and planned again, down to
the last exchange, then to what was said last. A plan that frees nothing is not a plan: who asks
again gets `NothingToCompact` and a sentence, so that nothing goes round in circles (SPEC1 12.2).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, repeat
from typing import Literal

from engine.budget import Targets
from engine.compact.cut import Seams, is_message
from engine.tokens import Weighed
from engine.transcript import Compaction, Entry, Message
from engine.undoing import edited_id

PINNED_SHARE = 0.25
"""Of the prompt budget: what pinned messages may have together."""

Urgency = Literal["usual", "asked_for", "refused"]
"""By itself: a plan must gain enough. Asked for by the user: any gain will do. After a refusal: the
same, and also right after another compaction, since what that one left was too much."""

Nothing = Literal["already_compacted", "nothing_to_compact", "no_gain"]


@dataclass(frozen=True)
class CompactionPlan:
    """What is folded, what is kept; sizes in tokens.

    Attributes:
        first_kept: id of the entry the kept tail begins with.
        entries, weights: all that is folded or kept, in the path's order.
        whole, cut: where the turn that is cut begins, and where the kept tail does; indices.
        previous: the compaction whose summary is carried on; None to begin anew.
        previous_entry: its entry id, empty without one.
        split_turn: whether a turn goes through the cut.
        pinned: folded by this or an earlier compaction and yet kept verbatim, in the path's order:
            what the user pinned, and the newest user message if the cut went past it.
        unpinned: ids of pinned entries for which there was no room; they are folded.
        before_tokens: the prompt as it is.
        predicted_tokens: the most the next prompt can have.
    """

    first_kept: str
    entries: Sequence[Entry]
    weights: Sequence[int]
    whole: int
    cut: int
    previous: Compaction | None
    previous_entry: str
    split_turn: bool
    pinned: tuple[Weighed, ...]
    unpinned: tuple[str, ...]
    before_tokens: int
    predicted_tokens: int

    # Made when they are asked for: a plan is made in every turn, a compaction seldom.

    @cached_property
    def folded(self) -> tuple[Weighed, ...]:
        """Whole turns to summarise, with the settings between them."""
        return self._items(0, self.whole)

    @cached_property
    def turn_prefix(self) -> tuple[Weighed, ...]:
        """The beginning of the turn that goes through the cut, folded too."""
        return self._items(self.whole, self.cut)

    @cached_property
    def kept(self) -> tuple[Weighed, ...]:
        """Everything after the cut, to the end of the path."""
        return self._items(self.cut, len(self.entries))

    def _items(self, first: int, end: int) -> tuple[Weighed, ...]:
        return tuple(map(Weighed, self.entries[first:end], self.weights[first:end]))


@dataclass(frozen=True, slots=True)
class NothingToCompact:
    """Why there is no plan; `detail` is a sentence for the user."""

    reason: Nothing
    detail: str


@dataclass(frozen=True, slots=True)
class _Range:
    """What may be folded: the entries since the previous summary's kept tail, and their weights.

    `older`: entries folded before that must stay verbatim, or may have to: pinned ones and the
    newest user message.
    """

    entries: list[Entry]
    weights: list[int]
    previous: Entry | None
    older: tuple[Weighed, ...]


@dataclass(frozen=True, slots=True)
class _Pinned:
    """What stays verbatim before a cut, and what cannot."""

    items: tuple[Weighed, ...]
    refused: tuple[str, ...]
    tokens: int


def plan_compaction(
    path: Sequence[Entry],
    tokens: Mapping[str, int],
    targets: Targets,
    *,
    fixed_tokens: int,
    budget_tokens: int,
    pinned: frozenset[str] = frozenset(),
    urgency: Urgency = "usual",
) -> CompactionPlan | NothingToCompact:
    """Plan a compaction of a path (context-engine.md 6.3, design.md section 6).

    Args:
        path: root to leaf, the newest user message last if it is not answered yet.
        tokens: weight of each entry by id; what is missing weighs nothing.
        targets: what to aim at.
        fixed_tokens: what every prompt has beside the conversation.
        budget_tokens: the most a prompt may have; a quarter of it is for what is pinned.
        pinned: ids of entries that stay verbatim wherever the cut goes.
        urgency: what may be done for how little; see `Urgency`.

    A degraded compaction is skipped: what it stood for is folded again, from the originals. Calls
    and their results are never parted, and the newest user message is kept or among `pinned`.
    """
    if urgency != "refused" and _just_compacted(path):
        return NothingToCompact(
            "already_compacted", "Nothing was said since the conversation was compacted."
        )
    newest = _newest_user(path)
    weighed = _Path(path, tokens)
    range_ = weighed.range_since_summary(pinned | {newest})
    before = fixed_tokens + weighed.visible_tokens()
    search = _Search(range_, targets, fixed_tokens, budget_tokens // 4, pinned, newest)
    return search.best(before, forced=urgency != "usual")


class _Search:
    """Tries cuts, from the longest kept tail to the shortest.

    Args:
        range_: what may be folded.
        targets: what to aim at.
        fixed_tokens: as in `plan_compaction`.
        pin_cap: tokens pinned entries may have together.
        pinned: ids of pinned entries.
        newest: id of the newest user message, which stays whatever it weighs.
    """

    def __init__(
        self,
        range_: _Range,
        targets: Targets,
        fixed_tokens: int,
        pin_cap: int,
        pinned: frozenset[str],
        newest: str,
    ) -> None:
        self._range = range_
        self._targets = targets
        self._base = fixed_tokens + targets.summary_cap + targets.facts_cap
        self._pin_cap = pin_cap
        self._pinned = pinned
        self._newest = newest
        self._exchange = _last_exchange(range_.entries)
        self._seams = self._find_seams()
        self._inner = self._find_inner()

    def best(self, before: int, *, forced: bool) -> CompactionPlan | NothingToCompact:
        """The first plan that reaches the target and gains enough, else the one that gains most."""
        least_gain = 1 if forced else self._targets.min_gain
        smallest: tuple[int, int] | None = None
        for place in self._places(forced=forced):
            first_kept = self._seams.cut(place).first_kept
            if not self._seams.has_message_before(first_kept):
                continue
            predicted = self._predicted(first_kept)
            if predicted <= min(self._targets.target, before - least_gain):
                return self._plan(place, before, predicted)
            if smallest is None or predicted < smallest[0]:
                smallest = (predicted, place)
        if smallest is None:
            return NothingToCompact(
                "nothing_to_compact", "There is nothing before the last message to summarise."
            )
        if smallest[0] > before - least_gain:
            return _no_gain(before, smallest[0], least_gain)
        return self._plan(smallest[1], before, smallest[0])

    def _find_seams(self) -> Seams:
        """All places that may be tried: those in the longest tail."""
        entries, weights = self._range.entries, self._range.weights
        since, tail = len(entries), 0
        while since > 0 and tail < self._targets.keep_recent:
            since -= 1
            tail += weights[since]
        seams = Seams(entries, weights, max(0, min(since, self._exchange, len(entries) - 1)))
        return seams if seams.places else Seams(entries, weights)

    def _find_inner(self) -> list[int]:
        """Indices of what may have to stay verbatim."""
        entries = self._range.entries
        if self._pinned:
            wanted = self._pinned | {self._newest}
            return [i for i, entry in enumerate(entries) if entry.id in wanted]
        newest = (i for i in range(len(entries) - 1, -1, -1) if entries[i].id == self._newest)
        return list(islice(newest, 1))

    def _places(self, *, forced: bool) -> list[int]:
        """Places to cut at, ascending: the longest tail first.

        Tails of keep_recent, its half, …, the last exchange, what was said last; and between them
        every beginning of a turn, so that no more is folded than must be.
        """
        seams = self._seams
        if not seams.places:
            return []
        keep = self._targets.keep_recent
        if forced:
            keep = min(keep, seams.total // 2)
        longest = seams.place(keep) if keep > 0 else None
        tried = {seams.place_before(self._exchange), seams.places[-1]}
        tried |= set(seams.openers(longest)) if longest is not None else set()
        while keep > 0:
            tried.add(self._whole_turns(keep))
            keep //= 2
        return sorted(place for place in tried if place is not None)

    def _whole_turns(self, keep: int) -> int | None:
        """Where a tail of `keep` tokens begins; with a turn, unless half of the tail were lost."""
        place = self._seams.place(keep)
        if place is None:
            return None
        opener = next(iter(self._seams.openers(place)), None)
        return opener if opener is not None and self._seams.kept(opener) >= keep // 2 else place

    def _predicted(self, first_kept: int) -> int:
        return self._base + self._pinned_before(first_kept).tokens + self._seams.kept(first_kept)

    def _pinned_before(self, first_kept: int) -> _Pinned:
        """What stays verbatim before a cut: the newest first, until the cap is reached."""
        range_ = self._range
        inner = [
            Weighed(range_.entries[i], range_.weights[i]) for i in self._inner if i < first_kept
        ]
        items: list[Weighed] = []
        refused: list[str] = []
        room, total = self._pin_cap, 0
        for item in reversed((*range_.older, *inner)):
            if item.entry.id != self._newest:
                if refused or item.tokens > room:
                    refused.append(item.entry.id)
                    continue
                room -= item.tokens
            items.append(item)
            total += item.tokens
        return _Pinned(tuple(reversed(items)), tuple(reversed(refused)), total)

    def _plan(self, place: int, before: int, predicted: int) -> CompactionPlan:
        cut = self._seams.cut(place)
        entries, weights = self._range.entries, self._range.weights
        whole = cut.first_kept if cut.turn_start is None else cut.turn_start
        pinned = self._pinned_before(cut.first_kept)
        previous = self._range.previous
        body = previous.body if previous else None
        return CompactionPlan(
            first_kept=entries[cut.first_kept].id,
            entries=entries,
            weights=weights,
            whole=whole,
            cut=cut.first_kept,
            previous=body if isinstance(body, Compaction) else None,
            previous_entry=previous.id if previous else "",
            split_turn=cut.split_turn,
            pinned=pinned.items,
            unpinned=pinned.refused,
            before_tokens=before,
            predicted_tokens=predicted,
        )


def _last_exchange(entries: Sequence[Entry]) -> int:
    """Where the last exchange begins: the newest user message that was answered; 0 without one."""
    answered = False
    for index in range(len(entries) - 1, -1, -1):
        body = entries[index].body
        if isinstance(body, Message):
            if answered and body.role == "user":
                return index
            answered = answered or body.role in ("assistant", "tool_result")
    return 0


def _no_gain(before: int, after: int, least_gain: int) -> NothingToCompact:
    return NothingToCompact(
        "no_gain",
        f"The context has {before:,} tokens and could still have {after:,} after a compaction; "
        f"that frees less than {least_gain:,}.",
    )


# ---- the path -----------------------------------------------------------------------------------


def _just_compacted(path: Sequence[Entry]) -> bool:
    """Whether the last message on the path is a good compaction; settings are no messages."""
    for entry in reversed(path):
        if is_message(entry.body) and edited_id(entry) == entry.id:  # an edit says nothing new
            body = entry.body
            return isinstance(body, Compaction) and body.facts.get("degraded") is not True
    return False


def _newest_user(path: Sequence[Entry]) -> str:
    """Id of the newest user message; empty when there is none."""
    for entry in reversed(path):
        if isinstance(entry.body, Message) and entry.body.role == "user":
            return entry.id
    return ""


class _Path:
    """A path with its weights, read once.

    Attributes:
        entries, weights: in the path's order.
        compactions: their indices.
    """

    def __init__(self, path: Sequence[Entry], tokens: Mapping[str, int]) -> None:
        self.entries = path
        self.weights = list(map(tokens.get, [entry.id for entry in path], repeat(0)))
        self.compactions: list[int] = []
        if [entry for entry in path if type(entry.body) is Compaction]:
            self.compactions = [i for i, e in enumerate(path) if type(e.body) is Compaction]

    def visible_tokens(self) -> int:
        """Tokens of what the model sees: one summary, what stays verbatim beside it, the tail."""
        if not self.compactions:
            return sum(self.weights)
        index = self.compactions[-1]
        start = self._kept_from(index)
        others = sum(self.weights[i] for i in self.compactions if start <= i < index)
        tail = sum(self.weights[start:]) - others
        summary = self.weights[index] if start > index else 0  # else it is in the tail
        return summary + tail + self._carried_tokens(index, start)

    def range_since_summary(self, wanted: frozenset[str]) -> _Range:
        """What may be folded: from where the last good compaction's tail begins (pi #2608)."""
        index = next((i for i in reversed(self.compactions) if not self._is_degraded(i)), None)
        start = 0 if index is None else self._kept_from(index)
        entries, weights = list(self.entries[start:]), self.weights[start:]
        for compaction in reversed(self.compactions):
            if compaction >= start:
                del entries[compaction - start], weights[compaction - start]
        older = tuple(
            Weighed(entry, weight)
            for entry, weight in zip(self.entries[:start], self.weights[:start], strict=True)
            if entry.id in wanted and _is_verbatim(entry)
        )
        return _Range(entries, weights, None if index is None else self.entries[index], older)

    def _carried_tokens(self, index: int, start: int) -> int:
        """Tokens of what the compaction at `index` keeps verbatim before its tail."""
        pinned = self._compaction(index).facts.get("pinned")
        if not isinstance(pinned, list) or not pinned:
            return 0
        return sum(self.weights[i] for i in range(start) if self.entries[i].id in pinned)

    def _kept_from(self, index: int) -> int:
        """Index of the first entry the compaction at `index` kept; after it if it kept none."""
        wanted = self._compaction(index).first_kept
        for place in range(index - 1, -1, -1):
            if self.entries[place].id == wanted:
                return place
        return index + 1

    def _is_degraded(self, index: int) -> bool:
        return self._compaction(index).facts.get("degraded") is True

    def _compaction(self, index: int) -> Compaction:
        body = self.entries[index].body
        assert isinstance(body, Compaction)
        return body


def _is_verbatim(entry: Entry) -> bool:
    return type(entry.body) is not Compaction and is_message(entry.body)
