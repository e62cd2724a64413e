"""The transcript for screen readers: a list of messages, each with the parts it can be used by.

Python must hold every interface it hands to Qt, or the next question about it ends the process:
`_KEPT` holds the lists, a list its items, an item its parts.
"""

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QPoint, QPointF, QRect
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QAccessibleEvent,
    QAccessibleInterface,
)
from PySide6.QtWidgets import QAccessibleWidget
from shiboken6 import isValid

from app.items import DayItem
from app.transcript import words
from app.transcript.parts import Part

if TYPE_CHECKING:
    from app.transcript.view import TranscriptView

_KEPT: dict[int, "ListInterface"] = {}
_ROLES = {
    "button": QAccessible.Role.Button,
    "toggle": QAccessible.Role.Button,
    "link": QAccessible.Role.Link,
}


class _Painted(QAccessibleInterface):
    """What interfaces of painted things have in common: they have no object of their own."""

    def object(self) -> Any:
        """None: nothing but the view is a QObject."""
        return None

    def window(self) -> Any:
        """The window of the view."""
        raise NotImplementedError

    def setText(self, _kind: QAccessible.Text, _text: str) -> None:
        """Nothing here can be written to."""

    def childAt(self, _x: int, _y: int) -> Any:
        """Children are found by their rectangles."""
        return None

    def relations(self, *_match: QAccessible.RelationFlag) -> Any:
        """No relations beyond parent and child."""
        return []


class PartInterface(_Painted):
    """One part of a laid-out item: a button or link with its name."""

    def __init__(self, item: "ItemInterface", number: int) -> None:
        super().__init__()
        self._item = item
        self._number = number

    def _part(self) -> Part | None:
        parts = self._item.parts()
        return parts[self._number] if self._number < len(parts) else None

    def isValid(self) -> bool:
        """Whether the item still has the part."""
        return self._item.isValid() and self._part() is not None

    def window(self) -> Any:
        """The window of the view."""
        return self._item.window()

    def parent(self) -> QAccessibleInterface:
        """The item."""
        return self._item

    def child(self, _index: int) -> Any:
        """A part holds nothing."""
        return None

    def childCount(self) -> int:
        """A part holds nothing."""
        return 0

    def indexOfChild(self, _child: QAccessibleInterface) -> int:
        """A part holds nothing."""
        return -1

    def role(self) -> QAccessible.Role:
        """Button or link."""
        part = self._part()
        return _ROLES[part.role] if part is not None else QAccessible.Role.Button

    def state(self) -> QAccessible.State:
        """Whether it folds, and has the focus."""
        state = QAccessible.State()
        state.focusable = True
        part = self._part()
        if part is not None and part.is_open is not None:
            state.expandable = True
            state.expanded = part.is_open
            state.collapsed = not part.is_open
        state.focused = self._item.view.focused_part() == (self._item.index, self._number)
        return state

    def text(self, kind: QAccessible.Text) -> str:
        """Its name."""
        part = self._part()
        return part.name if part is not None and kind == QAccessible.Text.Name else ""

    def rect(self) -> QRect:
        """Where it is on the screen."""
        part, view = self._part(), self._item.view
        item = view.item_rect(self._item.index)
        if part is None or item.isEmpty():
            return QRect()
        inside = part.rect.translated(QPointF(item.topLeft())).toAlignedRect()
        return QRect(view.viewport().mapToGlobal(inside.topLeft()), inside.size())


class ItemInterface(_Painted):
    """One message: who said what; its parts are its children while it is laid out."""

    def __init__(self, view: "TranscriptView", index: int) -> None:
        super().__init__()
        self.view = view
        self.index = index
        self._kept: dict[int, PartInterface] = {}

    def parts(self) -> list[Part]:
        """The parts of the item, if it is laid out."""
        box = self.view.laid_out(self.index)
        return box.parts if box is not None else []

    def isValid(self) -> bool:
        """Whether the view and the item are still there."""
        return isValid(self.view) and self.index < len(self.view.model)

    def window(self) -> Any:
        """The window of the view."""
        return self.view.window().windowHandle()

    def parent(self) -> QAccessibleInterface:
        """The list."""
        return QAccessible.queryAccessibleInterface(self.view)

    def child(self, index: int) -> Any:
        """A part."""
        if not 0 <= index < self.childCount():
            return None
        if index not in self._kept:
            self._kept[index] = PartInterface(self, index)
            QAccessible.registerAccessibleInterface(self._kept[index])
        return self._kept[index]

    def childCount(self) -> int:
        """How many parts it has."""
        return len(self.parts()) if self.isValid() else 0

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        """The number of a part."""
        return next((at for at, kept in self._kept.items() if kept is child), -1)

    def role(self) -> QAccessible.Role:
        """An item of a list; days part the list."""
        is_day = isinstance(self.view.model[self.index], DayItem)
        return QAccessible.Role.Separator if is_day else QAccessible.Role.ListItem

    def state(self) -> QAccessible.State:
        """Whether it is in view, and has the focus."""
        state = QAccessible.State()
        state.readOnly = True
        state.focusable = True
        state.offscreen = self.view.item_rect(self.index).isEmpty()
        state.focused = self.view.focused_part() == (self.index, -1)
        return state

    def text(self, kind: QAccessible.Text) -> str:
        """Who said what."""
        if kind != QAccessible.Text.Name or not self.isValid():
            return ""
        band = self.view.band(self.index)
        said = words.spoken(self.view.model[self.index])
        return f"{band.words}. {said}" if band is not None and band.words else said

    def rect(self) -> QRect:
        """Where it is on the screen; empty when it is not in view."""
        rect = self.view.item_rect(self.index)
        if rect.isEmpty():
            return QRect()
        corner = self.view.viewport().mapToGlobal(rect.topLeft())
        return QRect(corner, rect.size())


class ListInterface(QAccessibleWidget):
    """The transcript: one child for every item of the model, laid out or not."""

    def __init__(self, view: "TranscriptView") -> None:
        super().__init__(view, QAccessible.Role.List, view.accessibleName())
        self._view = view
        self._kept: dict[int, ItemInterface] = {}

    def childCount(self) -> int:
        """How many items there are."""
        return len(self._view.model) if isValid(self._view) else 0

    def child(self, index: int) -> Any:
        """An item."""
        if not 0 <= index < self.childCount():
            return None
        if index not in self._kept:
            self._kept[index] = ItemInterface(self._view, index)
            QAccessible.registerAccessibleInterface(self._kept[index])
        return self._kept[index]

    def childAt(self, x: int, y: int) -> Any:
        """The item at a place of the screen."""
        inside = self._view.viewport().mapFromGlobal(QPoint(x, y))
        for index in self._view.visible_items:
            if self._view.item_rect(index).contains(inside):
                return self.child(index)
        return None

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        """The index of an item."""
        return child.index if isinstance(child, ItemInterface) else -1

    def focusChild(self) -> Any:
        """The item that has the keyboard's focus, or its part."""
        item, part = self._view.focused_part()
        found = self.child(item)
        return found.child(part) if found is not None and part >= 0 else found


def _factory(_key: str, thing: QObject) -> Any:
    from app.transcript.view import TranscriptView

    if not isinstance(thing, TranscriptView):
        return None
    made = ListInterface(thing)
    _KEPT[id(made)] = made
    return made


_INSTALLED: list[bool] = []


def install() -> None:
    """Have Qt ask here for the interface of transcripts; once is enough."""
    if not _INSTALLED:
        _INSTALLED.append(True)
        QAccessible.installFactory(_factory)


def announce(view: "TranscriptView", said: str) -> None:
    """Have a screen reader say something now."""
    QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(view, said))


def tell_focus(view: "TranscriptView", index: int, part: int) -> None:
    """Tell a screen reader where the keyboard's focus is."""
    if not QAccessible.isActive():
        return
    found = QAccessible.queryAccessibleInterface(view).child(index)
    if isinstance(found, ItemInterface) and 0 <= part < found.childCount():
        found = found.child(part)
    if isinstance(found, _Painted):
        QAccessible.updateAccessibility(QAccessibleEvent(found, QAccessible.Event.Focus))
