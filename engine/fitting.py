"""A text that is larger than the room there is: its parts, excerpts, pieces, a window for it. Pure.

::

    text ─▶ plan_parts ─┬─▶ chosen ─▶ plan_excerpt      what the user picks
                        └─▶ plan_pieces                 few, each as large as the room allows

A text is parted where its writer parted it: at pages, else at headings, the higher ones first, then
at blank lines, then at lines. A line is only cut where it alone is too large. Nothing is lost: the
parts of a text, joined, are the text.
"""

import math
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, pairwise
from typing import Literal

from engine.budget import plan_budget, plan_targets
from engine.context import ContextView, plan_room
from engine.transcript import Message

Weigh = Callable[[str], int]
"""What a text has, in tokens."""
PartKind = Literal["heading", "page", "lines"]

LEFT_OUT = "[…]\n"
"""Stands in an excerpt, on a line of its own, where something was left out."""
WINDOW_STEP = 4_096
"""Windows that are tried for a text are multiples of so many tokens."""

_LINES = re.compile(r"[^\n\f]*[\n\f]|[^\n\f]+")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??[ \t]*#*[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}={3,}[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LEVELS = 6
_LOOSE = 1.1  # a line is cut into so many times the fewest pieces: its tokens are uneven


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a text.

    Attributes:
        text: its words, with their line ends.
        tokens: its size, as it was weighed.
        kind: what it is called by: the heading over it, its page, or its lines.
        title: the heading's words, "" for none; `until` that of the last of several sections.
        number: the page, from 1; `last_number` that of the last of several pages.
        first_line, last_line: its lines in the text, from 1.
        piece, pieces: which of the pieces of one section, page or line it is; 0 when it is whole.
    """

    text: str
    tokens: int
    kind: PartKind = "lines"
    title: str = ""
    until: str = ""
    number: int = 0
    last_number: int = 0
    first_line: int = 1
    last_line: int = 1
    piece: int = 0
    pieces: int = 0


def plan_parts(text: str, room_tokens: int, weigh: Weigh) -> tuple[Part, ...]:
    """A text in parts of at most `room_tokens`, by its own structure; none for no text.

    A text that fits is one part. A character that is too large by itself is a part all the same.
    """
    ruled = _Ruled(text, max(1, room_tokens), weigh)
    parts = [part for span in ruled.divide() for part in ruled.parts_of(span)]
    return tuple(_numbered(parts))


def plan_pieces(text: str, room_tokens: int, weigh: Weigh) -> tuple[Part, ...]:
    """A text in as few parts as fit `room_tokens` each: small neighbours go together."""
    groups: list[list[Part]] = []
    size = 0
    for part in plan_parts(text, room_tokens, weigh):
        if groups and size + part.tokens <= room_tokens:
            groups[-1].append(part)
            size += part.tokens
        else:
            groups.append([part])
            size = part.tokens
    return tuple(piece for group in groups for piece in _together(group, weigh, room_tokens))


def plan_excerpt(parts: Sequence[Part], chosen: Collection[int]) -> str:
    """The chosen parts (by index) in the text's order, marked where others are left out."""
    text, missing = "", False
    for index, part in enumerate(parts):
        if index not in chosen:
            missing = True
            continue
        if missing:
            text = _on_new_line(text) + LEFT_OUT
            missing = False
        text += part.text
    return _on_new_line(text) + LEFT_OUT if missing and text else text


def plan_first_parts(parts: Sequence[Part], room_tokens: int) -> frozenset[int]:
    """The parts from the beginning for as long as they fit together; those chosen at first."""
    sums = accumulate(part.tokens for part in parts)
    return frozenset(index for index, size in enumerate(sums) if size <= room_tokens)


def _on_new_line(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


# ---- windows ------------------------------------------------------------------------------------


def plan_room_in(view: ContextView, window_tokens: int, *, goes_on: bool = False) -> int:
    """What one more message may have of another window, when everything else is folded.

    `goes_on`: messages stand before it, whether or not they do now.
    """
    settings = view.settings
    budget = plan_budget(window_tokens, settings.reserve_tokens, settings.reserve_floor)
    targets = plan_targets(
        budget, fixed_tokens=view.fixed_tokens, keep_recent=settings.keep_recent
    )
    has_history = goes_on or any(isinstance(entry.body, Message) for entry in view.visible)
    return plan_room(budget, targets, fixed_tokens=view.fixed_tokens, has_history=has_history)


def plan_windows(view: ContextView, needed_tokens: int, most: int) -> tuple[int, ...]:
    """Windows above the present one, up to `most`, that would hold such a message; smallest first."""
    above = view.budget.window // WINDOW_STEP + 1
    sizes = (WINDOW_STEP * step for step in range(above, most // WINDOW_STEP + 1))
    return tuple(size for size in sizes if plan_room_in(view, size) >= needed_tokens)


# ---- dividing -----------------------------------------------------------------------------------

_Span = tuple[int, int]
"""Lines of a text, from the first to before the last."""


class _Ruled:
    """A text by its lines, with the places where it can be parted.

    A form feed ends a line, as a line break does; it counts no line.
    """

    def __init__(self, text: str, room: int, weigh: Weigh) -> None:
        self._room = room
        self._weigh = weigh
        self._lines = [
            found[0] for found in _LINES.finditer(text)
        ]  # others get their turns between
        self._sums = (0, *accumulate(map(weigh, self._lines)))
        self._numbers = (1, *accumulate((line.endswith("\n") for line in self._lines), initial=1))[
            1:
        ]
        self._pages = [i + 1 for i, line in enumerate(self._lines[:-1]) if line.endswith("\f")]
        self._headings = tuple(_headings(self._lines))
        self._heading_lines = [line for line, _, _ in self._headings]
        self._cuts = [self._pages]
        for level in range(1, _LEVELS + 1):
            self._cuts.append([line for line, found, _ in self._headings if found == level])

    def divide(self) -> Iterator[_Span]:
        """Spans that fit by the weights of their lines, but for single lines."""
        return self._divide(0, len(self._lines), 0) if self._lines else iter(())

    def _fits(self, first: int, end: int) -> bool:
        return self._sums[end] - self._sums[first] <= self._room

    def _divide(self, first: int, end: int, level: int) -> Iterator[_Span]:
        """At the highest level that has a cut here; by paragraphs where there is none."""
        if self._fits(first, end):
            yield first, end
            return
        for deeper in range(level, len(self._cuts)):
            cuts = self._cuts[deeper]
            here = cuts[bisect_right(cuts, first) : bisect_left(cuts, end)]
            if here:
                for begin, stop in pairwise((first, *here, end)):
                    yield from self._divide(begin, stop, deeper + 1)
                return
        lines = range(first + 1, end)
        yield from self._gather(first, [*(i for i in lines if self._is_gap(i)), end])

    def _is_gap(self, line: int) -> bool:
        """Whether a paragraph begins here."""
        return bool(self._lines[line].strip()) and not self._lines[line - 1].strip()

    def _gather(self, first: int, stops: Sequence[int]) -> Iterator[_Span]:
        """As many stretches (each ends before a stop) together as fit; a larger one by its lines."""
        begin = last = first
        for stop in stops:
            if not self._fits(begin, stop):
                if last > begin:
                    yield begin, last
                begin = last
                if stop - begin > 1 and not self._fits(begin, stop):
                    yield from self._gather(begin, range(begin + 1, stop + 1))
                    begin = stop
            last = stop
        if last > begin:
            yield begin, last

    # -- what a span is -------------------------------------------------------------------

    def parts_of(self, span: _Span) -> Iterator[Part]:
        """A span as a part; as several if its lines weigh more together, or it is a huge line."""
        first, end = span
        text = "".join(self._lines[first:end])
        tokens = self._weigh(text)
        if tokens > self._room and end - first > 1:
            half = (first + end) // 2
            yield from self.parts_of((first, half))
            yield from self.parts_of((half, end))
            return
        label = self._label(first, end)
        for piece, size in _cut_line(text, tokens, self._room, self._weigh):
            yield replace(label, text=piece, tokens=size)

    def _label(self, first: int, end: int) -> Part:
        numbers = self._numbers
        plain = Part("", 0, first_line=numbers[first], last_line=numbers[end - 1])
        if self._pages:
            page = bisect_right(self._pages, first) + 1
            return replace(plain, kind="page", number=page)
        above = bisect_right(self._heading_lines, first) - 1
        if above >= 0:
            line, _, title = self._headings[above]
            return replace(plain, kind="heading", title=title, number=line)
        return plain


def _headings(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Markdown's headings outside fenced code: line, level, words."""
    fence, words = "", -1  # the line, if it was plain words: an underline makes it a heading
    for index, raw in enumerate(lines):
        line = raw.rstrip("\n\f")
        above, words = words, -1
        mark = _FENCE.match(line)
        if mark is not None and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif fence:
            continue
        elif found := _HEADING.match(line):
            yield index, len(found[1]), (found[2] or "").strip()
        elif above >= 0 and _UNDERLINE.match(line):
            yield above, 1, lines[above].strip()
        elif line.strip():
            words = index


def _cut_line(text: str, tokens: int, room: int, weigh: Weigh) -> Iterator[tuple[str, int]]:
    """A line that is too large in pieces that are not, at spaces or commas where there are any."""
    if tokens <= room or len(text) == 1:
        yield text, tokens
        return
    step = max(1, len(text) // max(2, math.ceil(tokens / room * _LOOSE)))
    begin = 0
    while begin < len(text):
        rest = len(text) - begin
        stop = len(text) if 2 * rest < 3 * step else _break(text, begin, begin + step)
        if stop - begin == len(text):  # one letter of many signs: it is cut within all the same
            stop = begin + max(1, len(text) // 2)
        piece = text[begin:stop]
        yield from _cut_line(piece, weigh(piece), room, weigh)
        begin = stop


def _break(text: str, begin: int, stop: int) -> int:
    """A good place to cut, at `stop` or up to a quarter before it; never within a letter."""
    least = stop - (stop - begin) // 4
    for place in range(stop, least, -1):
        if text[place - 1].isspace() or text[place - 1] in ",;，。；":
            return place
    while stop < len(text) and unicodedata.combining(text[stop]):
        stop += 1
    return stop


def _numbered(parts: Iterable[Part]) -> Iterator[Part]:
    """Parts that are pieces of one section, page or line say which."""
    for key, group in groupby(parts, key=_whole):
        same = list(group)
        for index, part in enumerate(same):
            number = part.number if part.kind == "page" else 0
            part = replace(part, number=number, last_number=number)
            if len(same) > 1 and key[0] != "whole lines":
                part = replace(part, piece=index + 1, pieces=len(same))
            yield part


def _whole(part: Part) -> tuple[str, int]:
    """What a part is a piece of."""
    if part.kind != "lines":
        return part.kind, part.number
    ends = part.text.endswith("\n") and part.first_line != part.last_line
    return ("whole lines", 0) if ends else ("line", part.first_line)


def _together(group: Sequence[Part], weigh: Weigh, room: int) -> Sequence[Part]:
    """Neighbours as one part; as they are if they weigh more together."""
    if len(group) == 1:
        return group
    text = "".join(part.text for part in group)
    tokens, first, last = weigh(text), group[0], group[-1]
    if tokens > room:
        return group
    whole = replace(
        first,
        text=text,
        tokens=tokens,
        kind=first.kind if len({part.kind for part in group}) == 1 else "lines",
        until=last.title if last.title != first.title else "",
        last_number=last.last_number,
        last_line=last.last_line,
        piece=0,
        pieces=0,
    )
    return (whole,)
