"""Find in the conversation: how often, where next, and what to paint.

An item that is not laid out is searched in its source, marks of Markdown and all; as soon as it
is, what its documents show counts. So the figure may be put right while one goes through the hits.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.items import Item
from app.transcript.box import Box
from app.transcript.run import Mark
from app.transcript.selection import source_of


@dataclass(frozen=True, slots=True)
class Hit:
    """One place where the term stands: item, text in it, document positions."""

    item: int
    run: int
    first: int
    last: int


def count_in(item: Item, term: str) -> int:
    """About how often a term stands in an item that is not laid out. `term` is lower case."""
    return source_of(item).lower().count(term)


def hits_in(box: Box, index: int, term: str) -> list[Hit]:
    """Where the term stands in what an item shows."""
    pattern = re.compile(re.escape(term), re.IGNORECASE)
    found = []
    for run, text in enumerate(box.runs):
        plain = text.document.toPlainText()
        spans = [match.span() for match in pattern.finditer(plain)]
        if spans and not plain.isascii():
            spans = [(_units(plain, first), _units(plain, last)) for first, last in spans]
        found += [Hit(index, run, first, last) for first, last in spans]
    return found


def _units(text: str, at: int) -> int:
    """A Python index as UTF-16 units, in which documents count."""
    return at + sum(1 for letter in text[:at] if letter > "\uffff")


class Finder:
    """The hits of one term. `box_of` lays an item out, `built` gives it only if it is."""

    def __init__(self, box_of: Callable[[int], Box], built: Callable[[int], Box | None]) -> None:
        self.term = ""
        self.current: Hit | None = None
        self._box_of = box_of
        self._built = built
        self._counts: dict[int, int] = {}
        self._order: list[int] = []
        self._painted: dict[int, list[Hit]] = {}

    def start(self, term: str, items: Sequence[Item]) -> int:
        """Search for a term; how many hits there are. An empty term finds nothing."""
        self.term = term
        self.current = None
        self._counts, self._painted = {}, {}
        if term:
            lower = term.lower()
            for index, item in enumerate(items):
                box = self._built(index)
                count = len(self._exact(index)) if box is not None else count_in(item, lower)
                if count:
                    self._counts[index] = count
        self._order = list(self._counts)
        return self.total

    @property
    def total(self) -> int:
        """How many hits there are, as far as is known."""
        return sum(self._counts.values())

    @property
    def number(self) -> int:
        """Which hit the current one is, from 1; 0 when there is none."""
        if self.current is None:
            return 0
        before = sum(count for index, count in self._counts.items() if index < self.current.item)
        return before + self._exact(self.current.item).index(self.current) + 1

    def forget(self, index: int) -> None:
        """An item changed or was laid out: look at what it shows now."""
        if not self.term:
            return
        self._painted.pop(index, None)
        self._correct(index)

    def _exact(self, index: int) -> list[Hit]:
        if index not in self._painted:
            self._painted[index] = hits_in(self._box_of(index), index, self.term)
        return self._painted[index]

    def _correct(self, index: int) -> list[Hit]:
        hits = self._exact(index)
        if len(hits) != self._counts.get(index, 0):
            if hits:
                self._counts[index] = len(hits)
            else:
                self._counts.pop(index, None)
            self._order = sorted(self._counts)
        if self.current is not None and self.current.item == index and self.current not in hits:
            self.current = None
        return hits

    def next(self, index: int) -> Hit | None:
        """Go to the next hit, the first time from item `index` on; round at the end."""
        if self.current is not None:
            hits = self._exact(self.current.item)
            at = hits.index(self.current) + 1
            if at < len(hits):
                self.current = hits[at]
                return self.current
            index = self.current.item + 1
        return self._enter(index, forward=True)

    def previous(self, index: int) -> Hit | None:
        """Go to the hit before, the first time from item `index` back; round at the start."""
        if self.current is not None:
            hits = self._exact(self.current.item)
            at = hits.index(self.current) - 1
            if at >= 0:
                self.current = hits[at]
                return self.current
            index = self.current.item - 1
        return self._enter(index, forward=False)

    def _enter(self, index: int, *, forward: bool) -> Hit | None:
        """The first hit of the next item that really has one, from `index` on."""
        self.current = None
        while self._order:
            at = bisect_left(self._order, index)
            if not forward:
                at = at if at < len(self._order) and self._order[at] == index else at - 1
            index = self._order[at % len(self._order)]
            hits = self._correct(index)
            if hits:
                self.current = hits[0 if forward else -1]
                return self.current
        return None

    def marks(self, index: int, run: int) -> list[Mark]:
        """What to paint in one text of an item that is laid out."""
        if not self.term:
            return []
        hits = self._painted.get(index)
        if hits is None:
            hits = self._correct(index)
        return [
            Mark(hit.first, hit.last, "current" if hit == self.current else "hit")
            for hit in hits
            if hit.run == run
        ]
