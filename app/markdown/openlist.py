"""A top-level list that is still being written: its items stand once two more have begun."""

from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it.token import Token

from app.markdown.nesting import ListAround, list_inset, list_opened
from app.markdown.writer import Seam

_KEPT = 2  # items at the end that are built again: the last, and the one that shows its kind


@dataclass(frozen=True, slots=True)
class OpenList:
    """The items of a list that stand: how many, their source, and the seam before them."""

    before: Seam
    source: str
    items: int
    opened: ListAround

    def goes_on(self, tokens: Sequence[Token]) -> bool:
        """Whether the items that stand are built as the whole list says by now."""
        rest = opened_by(tokens)
        if rest is None or (self.opened.tight and not rest.tight):
            return False
        last = self.opened.number + self.items + rest.items - 1
        return list_inset(self.opened, last) == self.opened.inset


@dataclass(frozen=True, slots=True)
class Standing:
    """Items at the start of a list that no later text can change: how many, and their lines."""

    items: int
    lines: int
    opened: ListAround


def opened_by(tokens: Sequence[Token]) -> ListAround | None:
    """The top-level list that tokens start with."""
    is_list = bool(tokens) and tokens[0].type in ("bullet_list_open", "ordered_list_open")
    return list_opened(tokens, 0, ()) if is_list else None


def standing_items(complete: Sequence[Token], shown: Sequence[Token]) -> Standing | None:
    """The items that stand, by the tokens of all complete lines and of what is shown.

    None also if the line that is not complete yet makes the list look different.
    """
    whole, seen = opened_by(complete), opened_by(shown)
    if whole is None or seen is None or whole.items <= _KEPT:
        return None
    if (whole.tight, whole.inset) != (seen.tight, seen.inset):
        return None
    items = whole.items - _KEPT
    starts = [t for t in complete if t.type == "list_item_open" and t.level == 1]
    first, _end = starts[items].map or (0, 0)
    return Standing(items, first, whole)
