"""Lists and quotes round a block: how far it stands in, which marker, and what gap above. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from markdown_it.token import Token

from app.markdown.scripts import Direction, direction_of

Kind = Literal["", "text", "heading", "rule", "frame"]

QUOTE_INSET = 16  # the rule is 2 wide, 14 to the text
_LIST_INSET = 24
_DIGIT = 9
_BULLETS = "•◦▪"
_TASKS = {"[ ] ": "☐", "[x] ": "☑", "[X] ": "☑"}
_DEEPEST = 8  # deeper lists and quotes stand no further in
_GAPS: dict[Kind, int] = {"": 0, "text": 8, "heading": 20, "rule": 16, "frame": 12}
_AFTER_HEADING = 6
_IN_TIGHT_LIST = 2


@dataclass(slots=True)
class ListAround:
    """A list that is open: its next number, and what all of it decides."""

    ordered: bool
    number: int
    delimiter: str
    tight: bool
    items: int
    depth: int
    inset: int = 0  # px at zoom 1
    untouched: bool = True  # nothing of it is written yet


@dataclass(slots=True)
class QuoteAround:
    """A quotation that is open; `first` is where it starts, once known."""

    from_right: bool
    first: int = -1


Around = ListAround | QuoteAround


def insets(around: Sequence[Around], direction: Direction) -> tuple[int, int]:
    """How far a block stands in from the left and the right, in px at zoom 1."""
    left = right = 0
    for outer in around[:_DEEPEST]:
        if isinstance(outer, QuoteAround):
            inset, from_right = QUOTE_INSET, outer.from_right
        else:
            inset, from_right = outer.inset, direction == "rtl"
        if from_right:
            right += inset
        else:
            left += inset
    return left, right


def gap_above(kind: Kind, previous: Kind, around: Sequence[Around]) -> int:
    """The room above a block, in px at zoom 1; below there is none, but under code and tables."""
    if previous == "":
        return 0
    wanted = _wanted_gap(kind, previous, around)
    return max(0, wanted - _GAPS["frame"]) if previous == "frame" else wanted


def _wanted_gap(kind: Kind, previous: Kind, around: Sequence[Around]) -> int:
    if previous == "rule":
        return max(_GAPS[kind], _GAPS["rule"])
    if previous == "heading" and kind == "text":
        return _AFTER_HEADING
    inner = next(
        (a for a in reversed(around) if isinstance(a, ListAround) and not a.untouched), None
    )
    if kind == "text" and inner is not None and inner.tight:
        return _IN_TIGHT_LIST
    return _GAPS[kind]


def list_opened(tokens: Sequence[Token], at: int, around: Sequence[Around]) -> ListAround:
    """The list that opens at a token: loose or tight, and how wide its numbers get."""
    opening = tokens[at]
    items, tight, delimiter = 0, True, "."
    for token in tokens[at + 1 :]:
        if token.level == opening.level and token.nesting < 0:
            break
        if token.level == opening.level + 1 and token.type == "list_item_open":
            items += 1
            delimiter = token.markup
        elif token.level == opening.level + 2 and token.type == "paragraph_open":
            tight = tight and token.hidden
    start = int(opening.attrs.get("start", 1))
    ordered = opening.type == "ordered_list_open"
    depth = sum(isinstance(outer, ListAround) and not outer.ordered for outer in around)
    opened = ListAround(ordered, start, delimiter, tight, items, depth)
    opened.inset = list_inset(opened, start + items - 1)
    return opened


def list_inset(around: ListAround, last_number: int) -> int:
    """How far a list stands in, in px at zoom 1: there is room for its widest number."""
    digits = len(str(last_number)) if around.ordered else 1
    return _LIST_INSET + _DIGIT * (digits - 1)


def quote_opened(tokens: Sequence[Token], at: int) -> QuoteAround:
    """The quotation that opens at a token; its rule stands where its first letters start."""
    for token in tokens[at + 1 :]:
        if token.level == tokens[at].level and token.nesting < 0:
            break
        if token.type in ("inline", "literal"):
            direction = direction_of(token.content)
            if direction:
                return QuoteAround(direction == "rtl")
    return QuoteAround(from_right=False)


def task_glyph(tokens: Sequence[Token], at: int) -> str:
    """The box of the task that the list item at a token is, or ""."""
    inner = tokens[at + 1 : at + 3]
    if [token.type for token in inner] != ["paragraph_open", "inline"]:
        return ""
    return _TASKS.get(inner[1].content[:4], "")


def next_marker(around: ListAround, glyph: str = "") -> str:
    """The marker of a list's next item; a task's `glyph` goes after its number, if it has one."""
    if not around.ordered:
        return glyph or _BULLETS[around.depth % len(_BULLETS)]
    around.number += 1
    number = f"{around.number - 1}{around.delimiter}"
    return f"{number} {glyph}" if glyph else number
