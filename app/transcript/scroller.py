"""The virtual area under the transcript: what is near the view is laid out, nothing else.

Invariants:

- what is read never moves by itself: the view hangs on an anchor (an item, or a line of its text)
  and the scroll bar's value follows from it, whatever the guesses of heights above were worth;
- at the end, the view hangs on the end instead and follows what is written.
"""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRect, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from app.items import Item
from app.theme import Theme
from app.transcript.box import Box, Desk
from app.transcript.boxes import make_box
from app.transcript.heights import Guess, Heights
from app.transcript.model import TranscriptModel

COLUMN = 720
NARROW = 600
_KEPT = 120  # laid-out items that are kept for scrolling back
_NEAR = 40  # of them, those so close to the one just laid out stay in any case
_ROUNDS = 200  # layouts correct guesses, and corrections show other items: this ends it


@dataclass(frozen=True, slots=True)
class Anchor:
    """What the view hangs on: an item, or with `run` >= 0 the line of a text in it.

    Its top is kept at `y` px below the top of the viewport.
    """

    index: int
    y: int
    run: int = -1
    position: int = 0


class Scroller(QAbstractScrollArea):
    """Shows a model's items, keeps the reader's place. Signals: `at_end_changed(at_end)`."""

    at_end_changed = Signal(bool)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._theme = theme
        self._desk = Desk(theme, self)
        self._model = TranscriptModel(self)
        self._heights = Heights()
        self._boxes: dict[int, Box] = {}
        self._visible: dict[int, int] = {}
        self._anchor = Anchor(0, 0)
        self._held: Anchor | None = None
        self._follows = True
        self._is_busy = False
        self._width = 0
        self._most = COLUMN
        self._told_end = True
        self._connect(self._model)
        self.verticalScrollBar().valueChanged.connect(self._on_bar_moved)
        theme.changed.connect(self.restyle)

    # -- what it shows ---------------------------------------------------------------------

    def set_model(self, model: TranscriptModel) -> None:
        """Show another model, from its end."""
        self._disconnect(self._model)
        self._model = model
        self._connect(model)
        self._desk.opened.clear()
        self._on_reset()

    def _connect(self, model: TranscriptModel) -> None:
        model.reset.connect(self._on_reset)
        model.changed.connect(self._on_changed)
        model.inserted.connect(self._on_inserted)
        model.removed.connect(self._on_removed)

    def _disconnect(self, model: TranscriptModel) -> None:
        model.reset.disconnect(self._on_reset)
        model.changed.disconnect(self._on_changed)
        model.inserted.disconnect(self._on_inserted)
        model.removed.disconnect(self._on_removed)

    @property
    def model(self) -> TranscriptModel:
        """The model that is shown."""
        return self._model

    @property
    def desk(self) -> Desk:
        """What its layouts share."""
        return self._desk

    @property
    def documents_built(self) -> int:
        """How many documents were made so far: a measure of laziness."""
        return self._desk.built

    @property
    def visible_items(self) -> dict[int, int]:
        """The index of every item in view, and how far its top is below the viewport's."""
        return dict(self._visible)

    def set_titles(self, titles: dict[str, str]) -> None:
        """What models are called where people read it, by their labels."""
        if titles != self._desk.titles:
            self._desk.titles = titles
            self.restyle()

    def set_column(self, width: int) -> None:
        """The most a line of text may be wide, in px at zoom 1."""
        if width != self._most:
            self._most = width
            self.restyle()

    def restyle(self) -> None:
        """Measure and paint everything again: colours or sizes changed."""
        held = self._held or self._choose_held()
        self._drop_boxes()
        self._desk.kept.clear()
        self._width = self.column()[1]
        self._heights.reset(map(self._guess(), self._model.items()))
        self._hang_on(held)

    # -- geometry --------------------------------------------------------------------------

    def column(self) -> tuple[int, int]:
        """Left edge and width of the column in the viewport, in px."""
        whole = self.width()  # not the viewport's: the composer below has no scroll bar
        side = self._theme.px(24 if whole >= NARROW else 16)
        width = max(1, min(self._theme.px(self._most), whole - 2 * side))
        return max(side, (whole - width) // 2), width

    @property
    def theme(self) -> Theme:
        """The theme it is painted in."""
        return self._theme

    @property
    def pad(self) -> int:
        """The room above the first item, in px."""
        return self._theme.px(16)

    def content_height(self) -> int:
        """The height of everything as far as it is known, in px."""
        return self.pad + self._heights.total() + self.pad // 4

    def item_rect(self, index: int) -> QRect:
        """Where an item in view stands in the viewport; empty when it is not in view."""
        if index not in self._visible:
            return QRect()
        left, width = self.column()
        return QRect(left, self._visible[index], width, self._heights[index])

    def index_at(self, y: float) -> int:
        """The index of the item at a height of the viewport; the nearest one."""
        return self._heights.at(round(y) + self.verticalScrollBar().value() - self.pad)

    def box(self, index: int) -> Box:
        """The layout of an item, made or brought up to the width when needed."""
        self._ensure(index)
        return self._boxes[index]

    # -- layout ----------------------------------------------------------------------------

    def _ensure(self, index: int) -> bool:
        """Lay an item out; True when its height was not what it was taken for."""
        box = self._boxes.pop(index, None)
        if box is None:
            box = make_box(self._model[index], self._desk)
        self._boxes[index] = box  # the latest are last
        if box.width != self._width:
            box.lay_out(self._width)
        if len(self._boxes) > _KEPT:
            self._drop_far(index)
        return self._heights.set(index, self.height_of(box)) != 0

    def height_of(self, box: Box) -> int:
        """How high an item is in the list, in px."""
        return box.height

    def _guess(self) -> Callable[[Item], int]:
        return Guess(self._width, self._theme.zoom)

    def lay_out_ahead(self, index: int) -> None:
        """Lay an item out before it comes into view; what is in view stays where it is."""
        if self._ensure(index):
            self._settle()

    def _drop_far(self, index: int) -> None:
        for old in list(self._boxes)[: _KEPT // 3]:
            if abs(old - index) > _NEAR and old not in self._visible:
                self._boxes.pop(old).drop()

    def _drop_boxes(self) -> None:
        for box in self._boxes.values():
            box.drop()
        self._boxes.clear()
        self._visible.clear()

    def _most_value(self) -> int:
        return max(0, self.content_height() - self.viewport().height())

    def _wanted(self) -> int:
        """The scroll bar's value that the anchor, or following, asks for."""
        if self._follows:
            return self._most_value()
        anchor = self._anchor
        top = self.pad + self._heights.top(anchor.index) - anchor.y
        if anchor.run >= 0:
            top += self._line_top(anchor)
        return max(0, min(top, self._most_value()))

    def _line_top(self, anchor: Anchor) -> int:
        runs = self._boxes[anchor.index].runs if anchor.index in self._boxes else []
        if anchor.run >= len(runs):
            return 0
        return round(runs[anchor.run].caret(anchor.position).top())

    def _settle(self) -> None:
        """Lay out what is in view, with the anchor where it is, and set the scroll bar."""
        count, height = len(self._model), self.viewport().height()
        if not count or self._width <= 0:
            self._set_bar(0)
            self._visible = {}
            self.viewport().update()
            return
        if self._anchor.run >= 0:
            self._ensure(self._anchor.index)
        for _ in range(_ROUNDS):
            value = self._wanted()
            index = self._heights.at(value - self.pad)
            y = self.pad + self._heights.top(index) - value
            seen, is_off = {}, False
            while index < count and y < height:
                is_off |= self._ensure(index)
                seen[index] = y
                y += self._heights[index]
                index += 1
            if not is_off:
                break
        self._set_bar(value)
        self._show(seen)

    def _set_bar(self, value: int) -> None:
        bar = self.verticalScrollBar()
        self._is_busy = True
        bar.setPageStep(max(1, self.viewport().height()))
        bar.setSingleStep(self._theme.px(20))
        bar.setRange(0, self._most_value())
        bar.setValue(value)
        self._is_busy = False

    def _show(self, seen: dict[int, int]) -> None:
        """Move or repaint the viewport so that it shows these items at these heights."""
        shifts = {y - self._visible[index] for index, y in seen.items() if index in self._visible}
        self._visible = seen
        if len(shifts) != 1:
            self.viewport().update()
        else:
            shift = shifts.pop()
            if shift:
                self._blit(shift)
        self.placed()

    def _blit(self, shift: int) -> None:
        whole = float(shift * self.viewport().devicePixelRatioF())
        if whole.is_integer() and abs(shift) < self.viewport().height():
            self.viewport().scroll(0, shift)
            self.blitted(shift)
        else:
            self.viewport().update()

    def blitted(self, shift: int) -> None:
        """Told after the pixels moved by `shift`; what stands still must be repainted."""

    def placed(self) -> None:
        """Told after what is in view may have changed."""

    def repaint_item(self, index: int, from_y: float | None = None) -> None:
        """Have an item in view painted again, from a height of it down."""
        rect = self.item_rect(index)
        if not rect.isEmpty():
            skipped = 0 if from_y is None else max(0, int(from_y) - 2)
            wide = QRect(0, rect.top() + skipped, self.viewport().width(), rect.height() - skipped)
            self.viewport().update(wide)

    # -- moving ----------------------------------------------------------------------------

    @property
    def at_end(self) -> bool:
        """Whether the end is in view, and new text is followed."""
        return self._follows

    def scroll_by(self, dy: int) -> None:
        """Scroll by exactly so many px (down is positive), or to where the text ends."""
        value = self.verticalScrollBar().value()
        self._held = None
        self._hang_on_first(value)
        self._follows = self._follows and dy > 0
        self._anchor = Anchor(self._anchor.index, self._anchor.y - dy)
        self._settle()
        self._after_move()

    def _hang_on_first(self, value: int) -> None:
        """Hang on the first item in view at this value of the scroll bar."""
        index = self._heights.at(value - self.pad)
        self._anchor = Anchor(index, self.pad + self._heights.top(index) - value)

    def _after_move(self) -> None:
        bar = self.verticalScrollBar()
        self._hang_on_first(bar.value())
        self._follow(at_end=bar.value() >= bar.maximum() - 2)

    def _follow(self, *, at_end: bool) -> None:
        self._follows = at_end
        if at_end != self._told_end:
            self._told_end = at_end
            self.at_end_changed.emit(at_end)

    def _on_bar_moved(self, value: int) -> None:
        if self._is_busy or not len(self._model):
            return
        self._held = None
        self._hang_on_first(value)
        self._follow(at_end=value >= self.verticalScrollBar().maximum() - 2)
        self._settle()

    def scroll_to_end(self) -> None:
        """Go to the end, and follow what is written from now on."""
        self._held = None
        self._follow(at_end=True)
        self._settle()

    def keep_in_place(self, index: int) -> None:
        """What comes or goes next leaves this item where it is, also at the end of the page."""
        self._held, self._anchor = None, Anchor(index, self._visible.get(index, 0))
        self._follow(at_end=False)

    def scroll_to_item(self, index: int, above: int = 0) -> None:
        """Bring an item's top to `above` px below the viewport's top."""
        self._held = None
        self._follows = False
        self._anchor = Anchor(index, above)
        self._settle()
        self._after_move()

    def show_span(self, index: int, top: float, bottom: float) -> None:
        """Bring these heights of an item into view, moving as little as needed."""
        self.box(index)
        margin, height = self._theme.px(24), self.viewport().height()
        value = self.verticalScrollBar().value()
        y = self.pad + self._heights.top(index) - value
        if index not in self._visible and not -height < y + top < 2 * height:
            self.scroll_to_item(index, round(height / 3 - top))
        elif y + top < margin:
            self.scroll_by(round(y + top - margin))
        elif y + bottom > height - margin:
            self.scroll_by(round(min(y + bottom - height + margin, y + top - margin)))

    def scrollContentsBy(self, _dx: int, _dy: int) -> None:
        """Nothing: Qt would repaint everything. What moved is moved by `_blit`."""

    # -- keeping the place -----------------------------------------------------------------

    def _choose_held(self) -> Anchor:
        """What stays where it is when everything is laid out anew.

        The first item whose top is in view; a line of text when one item fills the view.
        """
        for index, y in self._visible.items():
            if 0 <= y < self.viewport().height() * 0.6:
                return Anchor(index, y)
        index = next(iter(self._visible), self._anchor.index)
        y = self._visible.get(index, 0)
        box = self._boxes.get(index)
        inside = QPointF(1, -y + self._theme.line_height("reading") / 2)
        run = box.run_at(inside) if box is not None else -1
        if box is None or run < 0:
            return Anchor(index, y)
        position = box.runs[run].hit(inside)
        return Anchor(index, y + round(box.runs[run].caret(position).top()), run, position)

    def _hang_on(self, held: Anchor) -> None:
        self._visible = {}
        self._held = held
        self._anchor = held
        self._settle()
        self._hang_on_first(self.verticalScrollBar().value())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the reader's place."""
        super().resizeEvent(event)
        if not len(self._model) or self._is_busy:  # busy: the scroll bar came or went
            self._width = self.column()[1]
            return
        held = self._held or self._choose_held()
        width = self.column()[1]
        if width != self._width:
            factor = self._width / width if self._width > 1 else 1.0
            self._width = width
            if factor != 1.0 and held.index < len(self._model):
                self._heights.scale(factor)
        self._hang_on(held)

    # -- the model changed -----------------------------------------------------------------

    def _on_reset(self) -> None:
        self._drop_boxes()
        self._held = None
        self._width = self.column()[1]
        self._heights.reset(map(self._guess(), self._model.items()))
        self._anchor = Anchor(0, 0)
        self._follow(at_end=True)
        self._settle()

    def _on_inserted(self, first: int, last: int) -> None:
        items = [self._model[index] for index in range(first, last + 1)]
        self._heights.insert(first, list(map(self._guess(), items)))
        count = last - first + 1
        self._move_boxes(first, count)
        if self._anchor.index >= first:
            self._anchor = Anchor(self._anchor.index + count, self._anchor.y)
        self._held = None
        self._settle()

    def _on_removed(self, first: int, last: int) -> None:
        for index in range(first, last + 1):
            box = self._boxes.pop(index, None)
            if box is not None:
                box.drop()
        self._heights.remove(first, last)
        count = last - first + 1
        self._move_boxes(last + 1, -count)
        if self._anchor.index > last:
            self._anchor = Anchor(self._anchor.index - count, self._anchor.y)
        elif self._anchor.index >= first:
            self._anchor = Anchor(max(0, min(first, len(self._model) - 1)), self._anchor.y)
        self._held = None
        self._settle()

    def _move_boxes(self, first: int, by: int) -> None:
        """Give the boxes from `first` on their new indexes."""
        if any(index >= first for index in self._boxes):
            self._boxes = {
                index + by if index >= first else index: box for index, box in self._boxes.items()
            }
            self._visible = {}

    def _on_changed(self, first: int, last: int) -> None:
        self._held = None
        for index in range(first, last + 1):
            self._change(index)
        self._settle()

    def _change(self, index: int) -> None:
        item, box = self._model[index], self._boxes.get(index)
        if box is None:
            self._heights.set(index, self._guess()(item))
            return
        self._desk.rename(box.item.id, item.id)
        self.item_changes(box.item, item)
        before = box.height
        box.update(item)
        self.repaint_item(index, box.changed_from if box.height >= before else None)

    def item_changes(self, before: Item, after: Item) -> None:
        """Told when an item that is laid out gets new content."""

    def remake(self, index: int) -> None:
        """An item is shown in another way from now on: make its layout anew."""
        old = self._boxes.pop(index, None)
        if old is not None:
            old.drop()
        self.box(index)
        self.lay_out_again(index)

    def lay_out_again(self, index: int) -> None:
        """An item was unfolded or folded: lay it out with its top where it is."""
        box = self._boxes.get(index)
        if box is None:
            return
        box.update(box.item)
        self._held = None
        self._anchor = Anchor(index, self._visible.get(index, 0))
        self._follows = False
        self._visible = {}
        self._settle()
        self._after_move()
