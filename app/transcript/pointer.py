"""The pointer over the transcript: hovering, pressing parts, selecting by dragging, the wheel."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QMouseEvent, QTextCursor, QWheelEvent

from app.transcript.frames import Pane
from app.transcript.parts import Part
from app.transcript.prose import Prose
from app.transcript.selection import Place

if TYPE_CHECKING:
    from app.transcript.view import TranscriptView

_NOTCH = 120  # what a wheel tells for one step
_LINES = 3  # of 20 px, a step
_AUTOSCROLL_MS = 16
_MOST_STEP = 60
_REST_MS = 60


class Pointer(QObject):
    """Mouse and wheel of one view. `item` is the index of the item under the pointer, or -1."""

    def __init__(self, view: "TranscriptView") -> None:
        super().__init__(view)
        self._view = view
        self.item = -1
        self.part: Part | None = None
        self.is_pressed = False
        self.on_end_button = False
        self._selects = False
        self._grain = QTextCursor.SelectionType.Document
        self._start: tuple[Place, Place] | None = None
        self._pane: tuple[int, Pane] | None = None
        self._last = QPointF()
        self._rest = QPointF()
        self._clicks = 0
        self._scrolling = QTimer(self)
        self._scrolling.setInterval(_AUTOSCROLL_MS)
        self._scrolling.timeout.connect(self._autoscroll)
        self._triple = QTimer(self)
        self._triple.setSingleShot(True)
        self._resting = QTimer(self)  # hovering again at each step would paint two items more
        self._resting.setSingleShot(True)
        self._resting.timeout.connect(self._rest_from_wheel)

    # -- where it is -----------------------------------------------------------------------

    def reset(self) -> None:
        """Forget what is under the pointer."""
        before = self.item
        self.item, self.part, self.is_pressed = -1, None, False
        self._view.repaint_item(before)

    def points_at(self, index: int, part: Part) -> bool:
        """Whether the pointer is on this part."""
        if self.part is None or index != self.item:
            return False
        return part.action == self.part.action and part.rect == self.part.rect

    def _local(self, point: QPointF, index: int) -> QPointF:
        return point - QPointF(self._view.item_rect(index).topLeft())

    def _look_at(self, point: QPointF) -> tuple[int, Part | None]:
        """The item and the part under a point of the viewport."""
        index = self._view.index_at(point.y())
        rect = self._view.item_rect(index)
        if rect.isEmpty() or not rect.top() <= point.y() < rect.bottom():
            return -1, None
        return index, self._view.box(index).part_at(self._local(point, index))

    def place_at(self, point: QPointF) -> Place | None:
        """The place in the text nearest to a point of the viewport."""
        view = self._view
        if not len(view.model):
            return None
        index = view.index_at(point.y())
        box = view.box(index)
        inside = self._local(point, index)
        run = box.run_at(inside)
        if run < 0:
            return Place(index)
        return Place(index, run, box.runs[run].hit(inside))

    def _text_under(self, point: QPointF) -> bool:
        index = self._view.index_at(point.y())
        if self._view.item_rect(index).isEmpty():
            return False
        inside = self._local(point, index)
        return any(run.rect.contains(inside) for run in self._view.box(index).runs)

    # -- events ----------------------------------------------------------------------------

    def move(self, event: QMouseEvent) -> None:
        """Select on, drag a scroll bar of code, or hover."""
        point = event.position()
        if self._pane is not None:
            self._drag_pane(point)
        elif self._selects:
            self._last = point
            self._select_to(point)
            outside = not 0 <= point.y() < self._view.viewport().height()
            if outside != self._scrolling.isActive():
                self._scrolling.start() if outside else self._scrolling.stop()
        else:
            self._hover(point)

    def _hover(self, point: QPointF) -> None:
        view = self._view
        on_end = view.end_button().contains(point.toPoint())
        item, part = (-1, None) if on_end else self._look_at(point)
        if on_end != self.on_end_button:
            self.on_end_button = on_end
            view.viewport().update(view.end_button())
        if item != self.item or part != self.part:
            before = self.item
            self.item, self.part = item, part
            self.is_pressed = self.is_pressed and part is not None
            view.repaint_item(before)
            view.repaint_item(item)
        link = part is not None and part.action.startswith("link:")
        view.tell_hovered(part.action[5:] if part is not None and link else "")
        self._set_shape(point, on_part=on_end or part is not None)

    def _set_shape(self, point: QPointF, *, on_part: bool) -> None:
        shape = Qt.CursorShape.ArrowCursor
        if on_part:
            shape = Qt.CursorShape.PointingHandCursor
        elif self._text_under(point):
            shape = Qt.CursorShape.IBeamCursor
        if self._view.viewport().cursor().shape() != shape:
            self._view.viewport().setCursor(shape)

    def press(self, event: QMouseEvent) -> None:
        """Press a part, grab a scroll bar of code, or begin to select."""
        point = event.position()
        if event.button() == Qt.MouseButton.RightButton:
            self._ask_menu(point, event.globalPosition().toPoint())
            return
        if event.button() != Qt.MouseButton.LeftButton:
            return
        self._hover(point)
        self._view.clear_keyboard_focus()
        if self.on_end_button or self.part is not None:
            self.is_pressed = True
            self._view.repaint_item(self.item)
        elif not self._grab_pane(point):
            self._begin(point, extends=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))

    def release(self, event: QMouseEvent) -> None:
        """Use what was pressed, if the pointer still is on it."""
        self._scrolling.stop()
        pressed = self.part if self.is_pressed else None
        item, was_end = self.item, self.is_pressed and self.on_end_button
        self.is_pressed = False
        self._selects = False
        self._pane = None
        self._view.repaint_item(item)
        self._copy_to_primary()
        self._hover(event.position())
        if was_end and self.on_end_button:
            self._view.scroll_to_end()
        elif pressed is not None and self.item == item and self.part == pressed:
            self._view.perform(item, pressed)

    def double_click(self, event: QMouseEvent) -> None:
        """Select a word; a third click soon after selects the paragraph."""
        if event.button() != Qt.MouseButton.LeftButton or self._look_at(event.position())[1]:
            self.press(event)
            return
        self._triple.start(QGuiApplication.styleHints().mouseDoubleClickInterval())
        self._begin_grain(event.position(), QTextCursor.SelectionType.WordUnderCursor)

    def _ask_menu(self, point: QPointF, where: QPoint) -> None:
        index, part = self._look_at(point)
        if index >= 0:
            self._view.menu_part = part.action if part is not None else ""
            self._view.menu_requested.emit(self._view.model[index].id, where)

    # -- selecting -------------------------------------------------------------------------

    def _begin(self, point: QPointF, *, extends: bool) -> None:
        if self._triple.isActive():
            self._triple.stop()
            self._begin_grain(point, QTextCursor.SelectionType.BlockUnderCursor)
            return
        place = self.place_at(point)
        if place is None:
            return
        self._selects = True
        self._start = None
        had_one = self._view.has_selection()
        if extends:
            self._view.selection.extend(place)
        else:
            self._view.selection.begin(place)
        if had_one or extends:
            self._view.selection_moved()

    def _begin_grain(self, point: QPointF, grain: QTextCursor.SelectionType) -> None:
        """Select by words or paragraphs from here on."""
        self._grain = grain
        ends = self._grain_at(point)
        if ends is None:
            return
        self._selects = True
        self._start = ends
        self._view.selection.begin(ends[0])
        self._view.selection.extend(ends[1])
        self._view.selection_moved()

    def _grain_at(self, point: QPointF) -> tuple[Place, Place] | None:
        """The ends of the word or paragraph under a point."""
        place = self.place_at(point)
        if place is None or not self._view.box(place.item).runs:
            return None
        document = self._view.box(place.item).runs[place.run].document
        cursor = QTextCursor(document)
        cursor.setPosition(place.position)
        if self._grain == QTextCursor.SelectionType.WordUnderCursor:
            cursor.select(self._grain)
            first, last = cursor.selectionStart(), cursor.selectionEnd()
        else:
            block = cursor.block()
            first, last = block.position(), block.position() + block.length() - 1
        return Place(place.item, place.run, first), Place(place.item, place.run, last)

    def _select_to(self, point: QPointF) -> None:
        selection = self._view.selection
        before = selection.head
        if self._start is None:
            place = self.place_at(point)
            if place is not None:
                selection.extend(place)
        else:
            ends = self._grain_at(point)
            if ends is not None:
                forward = ends[1] >= self._start[1]
                selection.begin(self._start[0] if forward else self._start[1])
                selection.extend(max(ends[1], self._start[1]) if forward else ends[0])
        if selection.head != before:
            self._view.selection_moved()

    def _autoscroll(self) -> None:
        """The pointer is dragged outside: scroll that way, faster the farther it is."""
        height = self._view.viewport().height()
        over = self._last.y() if self._last.y() < 0 else self._last.y() - height + 1
        step = max(-_MOST_STEP, min(_MOST_STEP, round(over / 3)))
        self._view.scroll_by(step or (1 if over > 0 else -1))
        self._select_to(QPointF(self._last.x(), min(max(0.0, self._last.y()), height - 1.0)))

    def _copy_to_primary(self) -> None:
        """Where middle clicks paste, the selected text is at once on offer."""
        clipboard = QGuiApplication.clipboard()
        if clipboard.supportsSelection() and len(self._view.selection.items()) in range(1, 20):
            clipboard.setText(self._view.selected_text(), clipboard.Mode.Selection)

    # -- code and tables that are wider than the column ------------------------------------

    def _pane_under(self, point: QPointF) -> tuple[int, Prose, Pane] | None:
        index = self._view.index_at(point.y())
        if self._view.item_rect(index).isEmpty():
            return None
        inside = self._local(point, index)
        for run in self._view.box(index).runs:
            pane = run.pane_at(inside) if isinstance(run, Prose) else None
            if pane is not None and pane.slack and isinstance(run, Prose):
                return index, run, pane
        return None

    def _grab_pane(self, point: QPointF) -> bool:
        under = self._pane_under(point)
        if under is None:
            return False
        index, run, pane = under
        inside = self._local(point, index) - run.origin
        bar = pane.thumb(self._view.theme).adjusted(-2, -3, 2, 3)
        if bar.contains(inside):
            self._pane = (index, pane)
            self._last = point
        return self._pane is not None

    def _drag_pane(self, point: QPointF) -> None:
        if self._pane is not None:
            index, pane = self._pane
            track = pane.inner.width() - pane.thumb(self._view.theme).width()
            if pane.scroll_by((point.x() - self._last.x()) * pane.slack / max(1.0, track)):
                self._view.repaint_item(index)
            self._last = point

    def _rest_from_wheel(self) -> None:
        """The wheel has stopped: something else may be under the pointer."""
        if not self._selects and self._pane is None:
            self._hover(self._last)

    # -- the wheel -------------------------------------------------------------------------

    def wheel(self, event: QWheelEvent) -> None:
        """Scroll by whole px; what is left over counts for the next time."""
        delta = QPointF(event.pixelDelta())
        if delta.isNull():
            step = self._view.verticalScrollBar().singleStep() * _LINES / _NOTCH
            delta = QPointF(event.angleDelta()) * step
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and not delta.x():
            delta = QPointF(delta.y(), 0)
        event.accept()
        if abs(delta.x()) > abs(delta.y()):
            under = self._pane_under(event.position())
            if under is not None and under[2].scroll_by(-delta.x()):
                self._view.repaint_item(under[0])
            return
        self._rest += delta
        whole = int(self._rest.y())
        self._rest = QPointF(0, self._rest.y() - whole)
        if whole:
            self._view.scroll_by(-whole)
            self._last = event.position()
            self._resting.start(_REST_MS)
