"""The focus ring: one overlay a window, shown only to those who use the keyboard."""

from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QWidget,
)
from shiboken6 import isValid

from app.theme.painting import FOCUS_GAP, FOCUS_WIDTH, draw_focus_ring
from app.theme.theme import theme_of

Place = Literal["outside", "inside", "none"]
_PROPERTY = "focusRing"
_KEYBOARD = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)
_KEEPING = (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason)
_MOVING = (QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Hide, QEvent.Type.Show)
_SHOW_FOCUS_THEMSELVES = (QLineEdit, QAbstractScrollArea, QAbstractSpinBox, QComboBox)


@dataclass(frozen=True, slots=True)
class RingStyle:
    """How a widget wants its ring: where, the radius of its corners in px at zoom 1."""

    place: Place = "outside"
    radius: float = 6
    of_parent: bool = False  # the ring is drawn around the widget's parent


def set_focus_ring(
    widget: QWidget, place: Place = "outside", radius: float = 6, *, of_parent: bool = False
) -> None:
    """Say how `widget` wants its focus ring. Without: around buttons; fields draw their own."""
    widget.setProperty(_PROPERTY, RingStyle(place, radius, of_parent))


def focus_is_visible(widget: QWidget) -> bool:
    """Whether `widget` has focus by the keyboard: painted rows ask this before their ring."""
    ring = widget.window().findChild(FocusRing, options=Qt.FindChildOption.FindDirectChildrenOnly)
    return isinstance(ring, FocusRing) and ring.target is widget


def install_focus_ring(window: QWidget) -> "FocusRing":
    """Give a window its overlay, once; the overlay."""
    found = window.findChild(FocusRing, options=Qt.FindChildOption.FindDirectChildrenOnly)
    return found if isinstance(found, FocusRing) else FocusRing(window)


class FocusRing(QWidget):
    """Draws the ring over the focused control after Tab, Backtab or a shortcut, not a click.

    It is as large as the ring, never the window, so that views beneath still scroll by
    moving pixels.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()
        self._window = window
        self._reason = Qt.FocusReason.OtherFocusReason
        self._by_keyboard = False
        self._watched: list[QWidget] = []
        self._focused: QWidget | None = None
        self._target: QWidget | None = None
        window.installEventFilter(self)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._on_focus_changed)
        theme_of().changed.connect(self.follow)
        self._on_focus_changed(None, app.focusWidget())

    @property
    def target(self) -> QWidget | None:
        """The widget that has the keyboard's focus visibly, or None."""
        return self._target

    def follow(self) -> None:
        """Lie around the target as it is now, or nowhere."""
        ring = self._place()
        if ring is None:
            self.hide()
            return
        self.setGeometry(ring)
        self.raise_()
        self.show()
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the ring, clipped by the overlay's own size."""
        if self._target is None or not isValid(self._target):
            return
        style, host = _style_of(self._target), _host_of(self._target)
        at = host.mapTo(self._window, QPoint(0, 0)) - self.pos()
        theme = theme_of()
        painter = QPainter(self)
        draw_focus_ring(
            painter,
            QRectF(QRect(at, host.size())),
            theme.px(style.radius),
            theme.color("accent"),
            inside=style.place == "inside",
        )
        painter.end()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """See why focus leaves, and where its owner and everything it lies in move to."""
        kind = event.type()
        if kind == QEvent.Type.FocusOut and isinstance(event, QFocusEvent):
            self._reason = event.reason()
        elif kind == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            # The first Tab of a window in which nothing had focus: nobody loses it.
            if watched is self._window and event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
                self._reason = Qt.FocusReason.TabFocusReason
        elif kind in _MOVING and self._target is not None:
            self.follow()
        return False

    def _on_focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        if new is None or new.window() is not self._window:
            self._target = None  # another window, or nobody; `_focused` remembers
            self.follow()
            return
        returned = new is self._focused and self._reason in _KEEPING
        if not returned:
            self._by_keyboard = self._reason in _KEYBOARD
        self._focused = new
        self._target = new if self._by_keyboard else None
        self._reason = Qt.FocusReason.OtherFocusReason
        self._watch(new)
        self.follow()
        new.update()

    def _watch(self, widget: QWidget) -> None:
        for old in self._watched:
            if old is not self._window and isValid(old):  # a destroyed one has let go by itself
                old.removeEventFilter(self)
        self._watched = _lineage(widget, self._window)
        for one in self._watched:
            one.installEventFilter(self)

    def _place(self) -> QRect | None:
        """The overlay's rectangle in the window, or None when there is nothing to show."""
        target = self._target
        if (
            target is None
            or not isValid(target)
            or not target.isVisible()
            or _style_of(target).place == "none"
        ):
            return None
        host = _host_of(target)
        grow = 0 if _style_of(target).place == "inside" else FOCUS_GAP + FOCUS_WIDTH
        ring = QRect(host.mapTo(self._window, QPoint(0, 0)), host.size())
        ring = ring.adjusted(-grow, -grow, grow, grow)
        for one in _lineage(host, self._window)[1:]:
            area = one.parentWidget()
            if one is self._window or (
                isinstance(area, QAbstractScrollArea) and area.viewport() is one
            ):
                ring &= QRect(one.mapTo(self._window, QPoint(0, 0)), one.size())
        return ring if ring.isValid() else None


def _lineage(widget: QWidget, window: QWidget) -> list[QWidget]:
    """The widget and everything it lies in, up to and with the window."""
    found = [widget]
    while found[-1] is not window and (parent := found[-1].parentWidget()) is not None:
        found.append(parent)
    return found


def _style_of(widget: QWidget) -> RingStyle:
    chosen = widget.property(_PROPERTY)
    if isinstance(chosen, RingStyle):
        return chosen
    if isinstance(widget, QAbstractButton):
        return RingStyle()
    if isinstance(widget, _SHOW_FOCUS_THEMSELVES):
        return RingStyle("none")
    return RingStyle("inside")


def _host_of(widget: QWidget) -> QWidget:
    parent = widget.parentWidget()
    return parent if _style_of(widget).of_parent and parent is not None else widget
