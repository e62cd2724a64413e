"""What is selected, across messages, and what of it is copied."""

from collections.abc import Callable
from dataclasses import dataclass

from app.items import CardItem, DayItem, Item, ReplyItem, UserItem
from app.markdown import plain_text, text_between
from app.transcript.box import Box
from app.transcript.run import WHOLE, Mark

_PARSED = 20_000  # characters of whole messages that are parsed; more stay as typed


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A position in the conversation: item, text in it, position in that."""

    item: int
    run: int = 0
    position: int = 0


class Selection:
    """From where to where; `anchor` is where it began, `head` where it goes on."""

    def __init__(self) -> None:
        self.anchor: Place | None = None
        self.head: Place | None = None

    def clear(self) -> None:
        """Select nothing, and forget the place."""
        self.anchor = self.head = None

    def begin(self, place: Place) -> None:
        """Select nothing yet, from here on."""
        self.anchor = self.head = place

    def extend(self, place: Place) -> None:
        """Select from the anchor to here."""
        if self.anchor is None:
            self.anchor = place
        self.head = place

    @property
    def is_empty(self) -> bool:
        """Whether nothing is selected."""
        return self.anchor is None or self.anchor == self.head

    @property
    def ends(self) -> tuple[Place, Place]:
        """First and last place, in order. Only when it is not empty."""
        if self.anchor is None or self.head is None:
            raise ValueError("nothing is selected")
        return min(self.anchor, self.head), max(self.anchor, self.head)

    def items(self) -> range:
        """The indexes of the items it touches."""
        if self.is_empty:
            return range(0)
        first, last = self.ends
        return range(first.item, last.item + 1)

    def mark(self, item: int, run: int) -> Mark | None:
        """What of one text is selected."""
        if item not in self.items():
            return None
        first, last = self.ends
        here = (item, run)
        if here < (first.item, first.run) or here > (last.item, last.run):
            return None
        start = first.position if here == (first.item, first.run) else 0
        end = last.position if here == (last.item, last.run) else WHOLE
        return Mark(start, end, "selection") if end > start else None

    def holds_whole(self, item: int) -> bool:
        """Whether an item lies within it for certain, ends not counted."""
        first, last = self.ends
        starts = first.item < item or (first.item == item and first <= Place(item))
        ends = item < last.item or (item == last.item and last.position >= WHOLE)
        return starts and ends


def source_of(item: Item) -> str:
    """An item's own text as Markdown, "" for what says nothing."""
    match item:
        case UserItem() | ReplyItem():
            return item.text
        case CardItem():
            return "\n\n".join(part for part in (item.title, item.body) if part)
        case DayItem():
            return ""


def message_text(item: Item, *, as_markdown: bool) -> str:
    """A whole message as it is copied: its source, or what is read."""
    source = source_of(item)
    return source if as_markdown or isinstance(item, UserItem) else plain_text(source)


def copied_text(
    selection: Selection,
    items: Callable[[int], Item],
    box_of: Callable[[int], Box],
    *,
    as_markdown: bool,
) -> str:
    """The selected text. Whole messages come from their source, parts from what is shown.

    As plain text, long messages beyond 20,000 characters in all stay as they were typed: parsing
    everything would hold the window up.
    """
    if selection.is_empty:
        return ""
    pieces, left = [], _PARSED
    for index in selection.items():
        item = items(index)
        if not selection.holds_whole(index):
            pieces.append(_shown_text(selection, index, box_of(index)))
            continue
        source = source_of(item)
        left -= len(source)
        is_read = not as_markdown and left >= 0 and not isinstance(item, UserItem)
        pieces.append(plain_text(source) if is_read else source)
    return "\n\n".join(piece.strip("\n") for piece in pieces if piece.strip())


def _shown_text(selection: Selection, index: int, box: Box) -> str:
    pieces = []
    for run, text in enumerate(box.runs):
        mark = selection.mark(index, run)
        if mark is not None:
            last = min(mark.last, text.length)
            pieces.append(text_between(text.document, mark.first, last))
    return "\n\n".join(piece for piece in pieces if piece)
