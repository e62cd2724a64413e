"""The transcript: the open conversation as a page to read, select, search and act on."""

from collections.abc import Sequence

from PySide6.QtCore import (
    QElapsedTimer,
    QEvent,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget

from app.items import Item, ReplyItem
from app.theme import Theme, theme_of
from app.theme.painting import draw_focus_ring, rounded
from app.transcript import accessible, words
from app.transcript.box import Box, Scene
from app.transcript.editing import Editing
from app.transcript.find import Finder, Hit
from app.transcript.keys import Keys
from app.transcript.parts import Part, PartState
from app.transcript.pictured import Pictured
from app.transcript.pointer import Pointer
from app.transcript.prose import Prose
from app.transcript.run import WHOLE, Mark
from app.transcript.selection import Place, Selection, copied_text, message_text, source_of

_COPIED_MS = 1_500
_AHEAD = 3  # items on both sides of the view that are laid out when there is time
_WORK_MS = 8  # of every turn of the idle timer
FOLDS = frozenset({"toggle_thinking", "toggle_why", "toggle_card", "toggle_values", "show_all"})
"""Actions that fold or unfold something; the view does them itself."""


class TranscriptView(Pictured):
    """Shows a `TranscriptModel`; every wish of the reader leaves it as a signal.

    Signals:
        link_activated(url): a link was clicked or entered; nothing was opened.
        hovered(words): the target of the link under the pointer or focus, "" for none.
        action(item_id, action): something of an item was used. What the view does itself (folding,
            "copy", "copy_code:0", "copy_value:0", "show_code:0") is told too, after it was done.
            "open_image:0": a picture is to be seen large.
        menu_requested(item_id, place): a menu for an item is wanted at a place of the screen.
        at_end_changed(at_end): the reader left the end or came back to it.
        found(number, total): which hit is the current one (0: none) of how many.
        announced(words): what a screen reader was told.
        selection_changed(): the selected text is another one.
    """

    link_activated = Signal(str)
    hovered = Signal(str)
    action = Signal(str, str)
    menu_requested = Signal(str, QPoint)
    found = Signal(int, int)
    announced = Signal(str)
    selection_changed = Signal()

    def __init__(self, theme: Theme | None = None, parent: QWidget | None = None) -> None:
        super().__init__(theme or theme_of(), parent)
        self.selection = Selection()
        self._finder = Finder(self.box, self.laid_out)
        self._pointer = Pointer(self)
        self._keys = Keys(self)
        self.editing = Editing(self)
        self._hovered_url = ""
        self._copied = ("", "")
        self._copied_timer = QTimer(self, singleShot=True)
        self._copied_timer.timeout.connect(self._end_copied)
        self._idle = QTimer(self, singleShot=True)
        self._idle.timeout.connect(self._work)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Conversation"))
        self.viewport().setMouseTracking(True)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        accessible.install()

    # -- for the window --------------------------------------------------------------------

    def offer(self, kind: str, actions: Sequence[str]) -> None:
        """Say which actions stand at a kind of item; kinds and defaults are `box.OFFERS`."""
        self._desk.offers[kind] = tuple(actions)
        self.restyle()

    def find(self, text: str) -> int:  # type: ignore[override]  # QWidget.find is another thing
        """Search all messages, without regard to case; how many hits there are."""
        total = self._finder.start(text, self._model.items())
        self.found.emit(0, total)
        self.viewport().update()
        return total

    def find_next(self) -> None:
        """Go to the next hit, the first time from what is in view on; round at the end."""
        self._go_to_hit(self._finder.next(self._first_visible()))

    def find_previous(self) -> None:
        """Go to the hit before; round at the start."""
        self._go_to_hit(self._finder.previous(self._last_visible()))

    def go_to(self, item_id: str) -> bool:
        """Bring an item to the top of the view; False when there is no such item."""
        index = self._model.index_of(item_id)
        if index < 0:
            return False
        self.scroll_to_item(index, self.pad)
        return True

    def has_selection(self) -> bool:
        """Whether any text is selected."""
        return not self.selection.is_empty

    def select_all(self) -> None:
        """Select every message."""
        count = len(self._model)
        if count:
            self.selection.begin(Place(0))
            self.selection.extend(Place(count - 1, WHOLE, WHOLE))
            self.selection_moved()

    def clear_selection(self) -> None:
        """Select nothing."""
        self.selection.clear()
        self.selection_moved()

    def selected_text(self, *, as_markdown: bool = False) -> str:
        """The selected text; whole messages as their source when `as_markdown`."""
        return copied_text(
            self.selection, self._model.__getitem__, self.box, as_markdown=as_markdown
        )

    def copy(self, *, as_markdown: bool = False) -> None:
        """Put the selected text on the clipboard; without one, the focused message."""
        text = self.selected_text(as_markdown=as_markdown)
        if not text and 0 <= self._keys.item < len(self._model):
            text = message_text(self._model[self._keys.item], as_markdown=as_markdown)
        if text:
            QGuiApplication.clipboard().setText(text)

    def copy_message(self, item_id: str, *, as_markdown: bool = True) -> None:
        """Put a whole message on the clipboard."""
        index = self._model.index_of(item_id)
        if index >= 0:
            text = message_text(self._model[index], as_markdown=as_markdown)
            QGuiApplication.clipboard().setText(text)

    # -- doing -----------------------------------------------------------------------------

    def perform(self, index: int, part: Part, place: QPoint | None = None) -> None:
        """Do what a part stands for. `place` is where a menu would open, on the screen."""
        item_id, action = self._model[index].id, part.action
        kind, _, rest = action.partition(":")
        if kind == "link":
            self.link_activated.emit(rest)
            return
        if action == "more":
            where = place or self.part_on_screen(index, part)
            self.menu_requested.emit(item_id, where)
            return
        if action in FOLDS:
            self._fold(index, action)
        elif kind in ("copy", "copy_code", "copy_value"):
            self._copy_part(index, kind, rest)
            self._show_copied(item_id, action)
        elif kind == "show_originals":
            self.keep_in_place(index)
        elif kind == "show_code":
            self._unfold_code(index, int(rest))
        self.action.emit(item_id, action)

    def _fold(self, index: int, action: str) -> None:
        self._desk.toggle(self._model[index].id, action)
        self.lay_out_again(index)
        self._finder.forget(index)

    def _copy_part(self, index: int, kind: str, rest: str) -> None:
        item, box = self._model[index], self.box(index)
        text = source_of(item)
        if kind == "copy_value":
            text = getattr(item, "values", ())[int(rest)]
        elif kind == "copy_code":
            text = box.code_text(int(rest))
        QGuiApplication.clipboard().setText(text)

    def _show_copied(self, item_id: str, action: str) -> None:
        self._copied = (item_id, action)
        self._copied_timer.start(_COPIED_MS)
        self.repaint_item(self._model.index_of(item_id))

    def _end_copied(self) -> None:
        index = self._model.index_of(self._copied[0])
        self._copied = ("", "")
        self.repaint_item(index)

    def _unfold_code(self, index: int, code: int, until: int = -1) -> None:
        for run in self.box(index).runs:
            if isinstance(run, Prose) and code < len(run.built.code):
                run.unfold_code(code, until)
                self.lay_out_again(index)
                return

    def part_on_screen(self, index: int, part: Part) -> QPoint:
        """The lower left of a part, on the screen."""
        rect = self.item_rect(index)
        corner = part.rect.bottomLeft() + QPointF(rect.topLeft())
        return self.viewport().mapToGlobal(corner.toPoint())

    def tell_hovered(self, url: str) -> None:
        """The link under the pointer or the keyboard's focus is this one."""
        if url != self._hovered_url:
            self._hovered_url = url
            self.hovered.emit(url)

    def laid_out(self, index: int) -> Box | None:
        """The layout of an item if there is one now."""
        return self._boxes.get(index)

    def focused_part(self) -> tuple[int, int]:
        """Item and part that have the keyboard's focus: -1 for none, and for the item itself."""
        return (self._focused_item(), self._keys.part)

    def tell_focus(self, index: int, part: int) -> None:
        """The keyboard's focus is on an item, or on one of its parts."""
        accessible.tell_focus(self, index, part)

    def clear_keyboard_focus(self) -> None:
        """A click: the ring of the keyboard goes."""
        self._keys.hide()

    def selection_moved(self) -> None:
        """The selection is another one: paint and tell it."""
        self.viewport().update()
        self.selection_changed.emit()

    # -- finding ---------------------------------------------------------------------------

    def _first_visible(self) -> int:
        return next(iter(self._visible), 0)

    def _last_visible(self) -> int:
        return max(self._visible, default=0)

    def _go_to_hit(self, hit: Hit | None) -> None:
        if hit is not None:
            self.reveal(hit.item, hit.run, hit.first)
        self.found.emit(self._finder.number, self._finder.total)
        self.viewport().update()

    def reveal(self, index: int, run: int, position: int) -> None:
        """Unfold and scroll as needed to show a position of a text."""
        box = self.box(index)
        text = box.runs[run]
        if isinstance(text, Prose):
            code = text.hidden_code(position)
            if code >= 0:
                self._unfold_code(index, code, position)
        caret = text.caret(position)
        if text.shown is not None and caret.bottom() > text.rect.bottom():
            folds = [part.action for part in box.parts if part.action in FOLDS]
            if folds:
                self._fold(index, folds[-1])
                caret = self.box(index).runs[run].caret(position)
        if isinstance(text, Prose):
            text.scroll_to(position)
        self.show_span(index, caret.top(), caret.bottom())

    # -- painting --------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what is exposed of the items in view."""
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        places = {index: self.item_rect(index) for index in self._visible}
        # Not the region's hull: after scrolling, that is the whole view.
        for exposed in event.region():  # type: ignore[attr-defined]  # missing in Qt's stub
            painter.setClipRect(exposed)
            painter.fillRect(exposed, self._theme.color("paper"))
            self.paint_bands(painter, exposed)
            for index, rect in places.items():
                if rect.top() <= exposed.bottom() + 8 and rect.bottom() >= exposed.top() - 8:
                    self._paint_item(painter, index, rect, exposed)
            if self.end_button().intersects(exposed):
                self._paint_end_button(painter)
        painter.end()

    def _paint_item(self, painter: QPainter, index: int, rect: QRect, exposed: QRect) -> None:
        box = self.box(index)
        scene = Scene(
            theme=self._theme,
            exposed=QRectF(exposed.translated(-rect.topLeft())),
            marks=lambda run: self._marks(index, run),
            state=lambda part: self._state(index, part),
            is_active=index in (self._pointer.item, self._focused_item()),
        )
        painter.save()
        painter.translate(rect.topLeft())
        box.paint(painter, scene)
        if self._keys.shows(index) and self._keys.part < 0:
            around = QRectF(-8, -6, rect.width() + 16, max(20, box.height - self._theme.px(4)))
            ink = self._theme.color("accent")
            draw_focus_ring(painter, around, self._theme.px(8), ink, inside=True)
        painter.restore()

    def _focused_item(self) -> int:
        return self._keys.item if self.hasFocus() and self._keys.is_shown else -1

    def _marks(self, index: int, run: int) -> list[Mark]:
        marks = self._finder.marks(index, run)
        selected = self.selection.mark(index, run)
        return [selected, *marks] if selected is not None else marks

    def _state(self, index: int, part: Part) -> PartState:
        pointed = self._pointer.points_at(index, part)
        return PartState(
            hovered=pointed,
            pressed=pointed and self._pointer.is_pressed,
            focused=self._keys.focuses(index, part),
            copied=self._copied == (self._model[index].id, part.action),
        )

    # -- the button to the end -------------------------------------------------------------

    def end_button(self) -> QRect:
        """Where "To the end" floats in the viewport; empty when the end is in view."""
        if self.at_end:
            return QRect()
        size, height = self._theme.px(32), self.viewport().height()
        return QRect((self.width() - size) // 2, height - size - self._theme.px(12), size, size)

    def _paint_end_button(self, painter: QPainter) -> None:
        rect = self.end_button()
        if rect.isEmpty():
            return
        theme, size = self._theme, self._theme.px(16)
        fill = theme.color("hover" if self._pointer.on_end_button else "raised")
        rounded(painter, QRectF(rect), rect.width() / 2, fill, theme.color("control"))
        pixmap = theme.pixmap("arrow-down", "ink2", size, self.devicePixelRatioF())
        corner = QRectF(rect).center() - QPointF(size / 2, size / 2)
        painter.drawPixmap(corner, pixmap)

    def blitted(self, shift: int) -> None:
        """The button stands still while the page moves: paint it where it was and is."""
        rect = self.end_button()
        if not rect.isEmpty():
            self.viewport().update(rect)
            self.viewport().update(rect.translated(0, shift))

    def _follow(self, *, at_end: bool) -> None:
        before = self.end_button()
        super()._follow(at_end=at_end)
        self.viewport().update(before.united(self.end_button()))

    # -- the model changed -----------------------------------------------------------------

    def _on_reset(self) -> None:
        self.selection.clear()
        self._keys.reset()
        self._pointer.reset()
        super()._on_reset()
        self.editing.place()
        self._restart_find()

    def _on_inserted(self, first: int, last: int) -> None:
        if not self.selection.is_empty and self.selection.ends[1].item >= first:
            self.clear_selection()
        self._keys.shift(first, last - first + 1)
        self._pointer.reset()
        super()._on_inserted(first, last)
        self._restart_find()

    def _on_removed(self, first: int, last: int) -> None:
        if not self.selection.is_empty and self.selection.ends[1].item >= first:
            self.clear_selection()
        self._keys.shift(first, first - last - 1)
        self._pointer.reset()
        super()._on_removed(first, last)
        self._restart_find()

    def _restart_find(self) -> None:
        if self._finder.term:
            self.find(self._finder.term)

    def _on_changed(self, first: int, last: int) -> None:
        super()._on_changed(first, last)
        if self._finder.term:
            for index in range(first, last + 1):
                self._finder.forget(index)
            self.found.emit(self._finder.number, self._finder.total)

    def item_changes(self, before: Item, after: Item) -> None:
        """A reply that is there now is announced."""
        if not isinstance(before, ReplyItem) or not isinstance(after, ReplyItem):
            return
        if before.is_running and not after.is_running:
            said = words.completed(after)
            accessible.announce(self, said)
            self.announced.emit(said)

    # -- idle work -------------------------------------------------------------------------

    def placed(self) -> None:
        """The editor follows; in idle time code is coloured and what is near laid out."""
        self.editing.place()
        if not self._idle.isActive() and (self._unfinished() or self._next_to_view()):
            self._idle.start(0)

    def _next_to_view(self) -> list[int]:
        """The items near the view that are not laid out yet, the nearest first."""
        if not self._visible:
            return []
        first, last = self._first_visible(), self._last_visible()
        near = [at for by in range(1, _AHEAD + 1) for at in (first - by, last + by)]
        return [at for at in near if 0 <= at < len(self._model) and at not in self._boxes]

    def _unfinished(self) -> Sequence[tuple[int, Prose]]:
        return [
            (index, run)
            for index in self._visible
            if index in self._boxes
            for run in self._boxes[index].runs
            if isinstance(run, Prose) and run.is_unfinished
        ]

    def _work(self) -> None:
        clock = QElapsedTimer()
        clock.start()
        for index, prose in self._unfinished():
            while clock.elapsed() < _WORK_MS and prose.work():
                pass
            if prose.has_grown:
                self.lay_out_again(index)
            else:
                self.repaint_item(index)
        for index in self._next_to_view()[:1]:
            if clock.elapsed() < _WORK_MS:
                self.lay_out_ahead(index)
        self.placed()

    # -- input -----------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Scroll, walk, select, copy, use."""
        if not self._keys.press(event):
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:  # noqa: FBT001  # Qt's signature
        """Tab walks the parts of the focused message, then leaves."""
        return self._keys.walk(forward=forward) or super().focusNextPrevChild(forward)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """By the keyboard: the last message in view gets the focus."""
        super().focusInEvent(event)
        self._keys.enter(event.reason())

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """The ring goes."""
        super().focusOutEvent(event)
        self._keys.leave()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to press a part or to select."""
        self._pointer.press(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Hover, or select on."""
        self._pointer.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Use the part that was pressed."""
        self._pointer.release(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Select a word."""
        self._pointer.double_click(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll by exactly what the wheel asks for; sideways in code and tables."""
        self._pointer.wheel(event)

    def viewportEvent(self, event: QEvent) -> bool:
        """When the pointer leaves, nothing is hovered; a new scale repaints everything."""
        if event.type() == QEvent.Type.Leave:
            self._pointer.reset()
            self.tell_hovered("")
        return super().viewportEvent(event)
