"""A popup panel: raised ground, rounded border; closes when something else is clicked."""

from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QWidget

from app.theme import theme_of
from app.theme.painting import rounded

RADIUS = 8
_EDGE = 8


class Popup(QFrame):
    """The ground of the model picker and the command palette. Esc and a click outside close it."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
        self.setAccessibleName(name)
        self.setWindowTitle(name)
        self._theme = theme_of()
        self._theme.changed.connect(self.renew)

    def renew(self) -> None:
        """Measure again: the theme is another one."""
        self.update()

    def place(self, corner: QPoint) -> None:
        """Put the upper left corner at a global place, or as near as keeps it on the screen."""
        screen = QGuiApplication.screenAt(corner) or self.screen()
        room = screen.availableGeometry().adjusted(_EDGE, _EDGE, -_EDGE, -_EDGE)
        self.move(plan_place(QRect(corner, self.size()), room))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: one rounded box."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        fill, line = self._theme.color("raised"), self._theme.color("control")
        rounded(painter, QRectF(self.rect()), self._theme.px(RADIUS), fill, line)


def plan_place(wanted: QRect, room: QRect) -> QPoint:
    """The upper left corner nearest to the wanted one with which it lies in the room."""
    x = max(room.left(), min(wanted.x(), room.right() - wanted.width() + 1))
    y = max(room.top(), min(wanted.y(), room.bottom() - wanted.height() + 1))
    return QPoint(x, y)
