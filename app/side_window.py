"""The frame of the windows that stand beside the main one: a side at the left, an area beside it."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from app.theme import theme_of
from app.theme.painting import hairline


class SideWindow(QWidget):
    """A window of its own with grounds, a line beside its side, and Esc to close it.

    Args:
        title: of the window.
        minimum: smallest width and height, in pixels.
        parent: the window it belongs to; it stands beside it, and lets it be used.

    Attributes:
        side: what stands at the left; hidden, it takes no room.
        side_column: what is in it, from the top.
        area: scrolls what stands beside it.
        columns: the window's own layout, empty.
    """

    def __init__(self, title: str, minimum: tuple[int, int], parent: QWidget | None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self._theme = theme_of()
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.setMinimumSize(*minimum)
        self.side = QWidget(self)
        self.side_column = QVBoxLayout(self.side)
        self.area = QScrollArea(self)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setWidgetResizable(True)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.viewport().setAutoFillBackground(False)
        self.columns = QHBoxLayout(self)
        self.columns.setContentsMargins(0, 0, 0, 0)
        self.columns.setSpacing(0)
        self.columns.addWidget(self.side)

    def side_width(self) -> int:
        """How wide the side is, in pixels; 0 while it is hidden."""
        return 0 if self.side.isHidden() else self.side.width()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt's; Esc closes."""
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: the grounds, and the line beside the side."""
        color, painter = self._theme.color, QPainter(self)
        painter.fillRect(self.rect(), color("paper"))
        if self.side_width():
            side = self.side.geometry()  # at the right where one reads from there
            mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
            painter.fillRect(side, color("side"))
            edge = side.left() if mirrored else side.right()
            hairline(painter, edge, 0, self.height(), color("line"), vertical=True)
