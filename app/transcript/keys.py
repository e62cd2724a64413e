"""The keyboard in the transcript: scrolling, walking messages and parts, selecting, copying."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QTextCursor

from app.transcript.parts import Part
from app.transcript.selection import Place

if TYPE_CHECKING:
    from app.transcript.view import TranscriptView

_Move = QTextCursor.MoveOperation
_Std = QKeySequence.StandardKey
_SELECTING: tuple[tuple[QKeySequence.StandardKey, QTextCursor.MoveOperation], ...] = (
    (_Std.SelectNextChar, _Move.NextCharacter),
    (_Std.SelectPreviousChar, _Move.PreviousCharacter),
    (_Std.SelectNextWord, _Move.NextWord),
    (_Std.SelectPreviousWord, _Move.PreviousWord),
    (_Std.SelectNextLine, _Move.Down),
    (_Std.SelectPreviousLine, _Move.Up),
    (_Std.SelectStartOfLine, _Move.StartOfLine),
    (_Std.SelectEndOfLine, _Move.EndOfLine),
    (_Std.SelectStartOfDocument, _Move.Start),
    (_Std.SelectEndOfDocument, _Move.End),
)
_KEYBOARD = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


class Keys(QObject):
    """Keys of one view.

    `item` is the index of the message that has the focus (-1: none), `part` which of its parts
    (-1: the message itself). Up and Down scroll, Ctrl+Up and Ctrl+Down walk the messages, Tab the
    parts of one; Shift with the arrows selects.
    """

    def __init__(self, view: "TranscriptView") -> None:
        super().__init__(view)
        self._view = view
        self.item = -1
        self.part = -1
        self.is_shown = False
        self._x: float | None = None

    # -- the focus -------------------------------------------------------------------------

    def reset(self) -> None:
        """No message has the focus."""
        self.item = self.part = -1

    def shift(self, first: int, by: int) -> None:
        """Items were inserted or taken away before the focused one: it keeps the focus."""
        if self.item >= first:
            self.item = max(-1, self.item + by)
            self.part = -1

    def shows(self, index: int) -> bool:
        """Whether the focus of the keyboard is shown at this item."""
        return self.is_shown and index == self.item and self._view.hasFocus()

    def focuses(self, index: int, part: Part) -> bool:
        """Whether this part has the focus of the keyboard."""
        if not self.shows(index) or self.part < 0:
            return False
        parts = self._view.box(index).parts
        return self.part < len(parts) and parts[self.part] is part

    def enter(self, reason: Qt.FocusReason) -> None:
        """The view got the focus: by the keyboard, a message shows it."""
        self.is_shown = reason in _KEYBOARD
        visible = self._view.visible_items
        if self.is_shown and visible and self.item not in visible:
            self.item = max(visible)
        self.part = -1
        self._tell()

    def leave(self) -> None:
        """The view lost the focus."""
        self.is_shown = False
        self._view.repaint_item(self.item)
        self._view.tell_hovered("")

    def hide(self) -> None:
        """A click: the ring goes, and the next Tab begins anew."""
        before, self.item, self.part = self.item, -1, -1
        self.is_shown = False
        self._view.repaint_item(before)

    def walk(self, *, forward: bool) -> bool:
        """Go to the next or previous part of the message; False at its end: leave the view."""
        view = self._view
        if not self.is_shown or not 0 <= self.item < len(view.model):
            return False
        parts = view.box(self.item).parts
        part = self.part + (1 if forward else -1)
        if part >= len(parts) or part < -1:
            return False
        self.part = part
        if part >= 0:
            view.show_span(self.item, parts[part].rect.top(), parts[part].rect.bottom())
        self._tell()
        return True

    def _tell(self) -> None:
        view = self._view
        view.repaint_item(self.item)
        if not self.is_shown or not 0 <= self.item < len(view.model):
            return
        parts = view.box(self.item).parts
        part = parts[self.part] if 0 <= self.part < len(parts) else None
        is_link = part is not None and part.action.startswith("link:")
        view.tell_hovered(part.action[5:] if part is not None and is_link else "")
        view.tell_focus(self.item, self.part)

    def _step(self, by: int) -> None:
        """Give the next or previous message the focus."""
        view, count = self._view, len(self._view.model)
        if not count:
            return
        before = self.item
        if not 0 <= self.item < count:
            self.item = max(view.visible_items, default=count - 1) if by < 0 else -1
            self.item = self.item if by < 0 else min(view.visible_items, default=0)
        else:
            self.item = max(0, min(count - 1, self.item + by))
        self.part = -1
        self.is_shown = True
        view.repaint_item(before)
        view.show_span(self.item, 0, view.box(self.item).height)
        self._tell()

    # -- keys ------------------------------------------------------------------------------

    def press(self, event: QKeyEvent) -> bool:
        """Do what the key says; False when it says nothing here."""
        return self._select(event) or self._use(event) or self._scroll(event)

    def _use(self, event: QKeyEvent) -> bool:
        view = self._view
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        key = event.key()
        if control and shift and key == Qt.Key.Key_C:
            view.copy(as_markdown=True)
        elif event.matches(_Std.Copy):
            view.copy()
        elif event.matches(_Std.SelectAll):
            view.select_all()
        elif control and key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._step(-1 if key == Qt.Key.Key_Up else 1)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            return self._activate()
        elif key == Qt.Key.Key_Menu:
            return self._ask_menu()
        elif key == Qt.Key.Key_Escape and view.has_selection():
            view.clear_selection()
        else:
            return False
        return True

    def _activate(self) -> bool:
        """Use the focused part."""
        view = self._view
        if not self.is_shown or self.part < 0:
            return False
        parts = view.box(self.item).parts
        if self.part >= len(parts):
            return False
        view.perform(self.item, parts[self.part])
        return True

    def _ask_menu(self) -> bool:
        view = self._view
        if not 0 <= self.item < len(view.model):
            return False
        rect, parts = view.item_rect(self.item), view.box(self.item).parts
        view.menu_part = parts[self.part].action if 0 <= self.part < len(parts) else ""
        view.menu_requested.emit(
            view.model[self.item].id, view.viewport().mapToGlobal(rect.topLeft())
        )
        return True

    def _scroll(self, event: QKeyEvent) -> bool:
        view = self._view
        bar = view.verticalScrollBar()
        page = max(1, bar.pageStep() - 2 * bar.singleStep())
        steps: dict[int, Callable[[], None]] = {
            Qt.Key.Key_Up: lambda: view.scroll_by(-2 * bar.singleStep()),
            Qt.Key.Key_Down: lambda: view.scroll_by(2 * bar.singleStep()),
            Qt.Key.Key_PageUp: lambda: view.scroll_by(-page),
            Qt.Key.Key_PageDown: lambda: view.scroll_by(page),
            Qt.Key.Key_Home: lambda: view.scroll_to_item(0, view.pad),
            Qt.Key.Key_End: view.scroll_to_end,
        }
        step = steps.get(event.key())
        if step is None or not len(view.model):
            return False
        step()
        return True

    # -- selecting -------------------------------------------------------------------------

    def _select(self, event: QKeyEvent) -> bool:
        for key, move in _SELECTING:
            if event.matches(key):
                self._extend(move)
                return True
        return False

    def _extend(self, move: QTextCursor.MoveOperation) -> None:
        view = self._view
        head = view.selection.head or self._origin()
        if head is None:
            return
        if view.selection.head is None:
            view.selection.begin(head)
        if move not in (_Move.Up, _Move.Down):
            self._x = None
        place = self._moved(head, move)
        view.selection.extend(place)
        view.selection_moved()
        caret = view.box(place.item).runs[place.run].caret(place.position)
        view.show_span(place.item, caret.top(), caret.bottom())

    def _origin(self) -> Place | None:
        """Where a selection by keys begins: at the focused message, or the first in view."""
        view = self._view
        first = self.item if self.item >= 0 else min(view.visible_items, default=-1)
        for index in range(max(first, 0), len(view.model)):
            if view.box(index).runs:
                return Place(index)
        return None

    def _moved(self, place: Place, move: QTextCursor.MoveOperation) -> Place:
        """Where a move leads, over the borders of texts and messages."""
        if move == _Move.Start:
            return self._first_text(range(len(self._view.model))) or place
        if move == _Move.End:
            last = self._neighbour(Place(len(self._view.model)), -1)
            return last or place
        if move in (_Move.Up, _Move.Down):
            return self._vertical(place, -1 if move == _Move.Up else 1)
        run = self._view.box(place.item).runs[place.run]
        cursor = QTextCursor(run.document)
        cursor.setPosition(min(place.position, run.length))
        if cursor.movePosition(move):
            return Place(place.item, place.run, cursor.position())
        back = move in (_Move.PreviousCharacter, _Move.PreviousWord)
        if move in (_Move.StartOfLine, _Move.EndOfLine):
            return place
        return self._neighbour(place, -1 if back else 1) or place

    def _vertical(self, place: Place, by: int) -> Place:
        """One line up or down, at the same distance from the left."""
        run = self._view.box(place.item).runs[place.run]
        caret = run.caret(place.position)
        if self._x is None:
            self._x = caret.left()
        middle = caret.center()
        middle.setX(self._x)
        for distance in (caret.height(), 2 * caret.height(), 4 * caret.height()):
            middle.setY(caret.center().y() + by * distance)
            if not run.rect.contains(run.rect.center().x(), middle.y()):
                break
            position = run.hit(middle)
            if run.caret(position).center().y() * by > caret.center().y() * by + 1:
                return Place(place.item, place.run, position)
        return self._neighbour(place, by) or place

    def _neighbour(self, place: Place, by: int) -> Place | None:
        """The start of the next text, or the end of the one before."""
        view = self._view
        if place.item < len(view.model):
            run = place.run + by
            runs = view.box(place.item).runs
            if 0 <= run < len(runs):
                return Place(place.item, run, 0 if by > 0 else runs[run].length)
        if by > 0:
            return self._first_text(range(place.item + 1, len(view.model)))
        for index in range(place.item - 1, -1, -1):
            runs = view.box(index).runs
            if runs:
                return Place(index, len(runs) - 1, runs[-1].length)
        return None

    def _first_text(self, indexes: range) -> Place | None:
        return next((Place(index) for index in indexes if self._view.box(index).runs), None)
