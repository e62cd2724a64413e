"""A window that shows one picture as large as it is, or as there is room for."""

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QGuiApplication,
    QImage,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QWidget

from app.pictures import decode, fitted
from app.theme import theme_of
from app.theme.painting import ratio_of
from engine.transcript import Image

_MARGIN_PX = 16
_LEAST_PX = 240
_MOST_OF_SCREEN = 0.8


class ImageViewer(QWidget):
    """One picture; Esc closes, Ctrl+C copies.

    Args:
        image: what is shown.
        parent: the window it belongs to.

    Signals:
        menu_requested(QPoint): a menu for the picture is wanted, at a place of the screen.
    """

    menu_requested = Signal(QPoint)

    def __init__(self, image: Image, parent: QWidget | None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.image = image
        self._picture = decode(image)
        self._scaled = QImage()
        name = image.name or self.tr("Image")
        self.setWindowTitle(name)
        said = self.tr("Image {name}, {width} × {height}")
        size = self._picture.size()
        self.setAccessibleName(
            said.format(name=name, width=f"{size.width():,}", height=f"{size.height():,}")
        )
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(_LEAST_PX, _LEAST_PX)
        self.resize(self._first_size())
        theme_of().changed.connect(self.update)

    def _first_size(self) -> QSize:
        """All of the picture, if the screen has room for it."""
        screen = self.screen().availableSize() * _MOST_OF_SCREEN
        margin = 2 * theme_of().px(_MARGIN_PX)
        room = screen - QSize(margin, margin)
        return fitted(self._picture.size(), room) + QSize(margin, margin)

    def copy(self) -> None:
        """Put the picture on the clipboard."""
        if not self._picture.isNull():
            QGuiApplication.clipboard().setImage(self._picture)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt's; Esc closes, Ctrl+C copies."""
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Qt's; asks for the menu."""
        self.menu_requested.emit(event.globalPos())

    def changeEvent(self, event: QEvent) -> None:
        """Qt's; another screen may have another scale."""
        self._scaled = QImage()
        super().changeEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt's; the picture in the middle, never larger than it is."""
        theme, painter = theme_of(), QPainter(self)
        painter.fillRect(self.rect(), theme.color("paper"))
        if self._picture.isNull():
            painter.setFont(theme.font("interface"))
            painter.setPen(theme.color("ink2"))
            words = self.tr("This image is broken and cannot be shown.")
            flags = Qt.AlignmentFlag.AlignCenter.value | Qt.TextFlag.TextWordWrap.value
            painter.drawText(self.rect(), flags, words)
        else:
            self._paint_picture(painter)
        painter.end()

    def _paint_picture(self, painter: QPainter) -> None:
        dpr, margin = ratio_of(painter), theme_of().px(_MARGIN_PX)
        room = self.size() - QSize(2 * margin, 2 * margin)
        size = fitted(self._picture.size(), QSize(1, 1).expandedTo(room))
        wanted = QSize(round(size.width() * dpr), round(size.height() * dpr))
        wanted = fitted(self._picture.size(), wanted)
        if self._scaled.size() != wanted:
            mode = Qt.TransformationMode.SmoothTransformation
            self._scaled = self._picture.scaled(wanted, Qt.AspectRatioMode.IgnoreAspectRatio, mode)
        place = QRectF(0, 0, size.width(), size.height())
        place.moveCenter(QRectF(self.rect()).center())
        painter.drawImage(place, self._scaled)
