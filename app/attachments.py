"""The row of files that go along with the message, as tags over the text."""

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.meter import figure
from app.theme import theme_of
from app.theme.painting import rounded
from app.typed import Attachment

_TAG_PX = 26
_GAP_PX = 6
_PADDING_PX = 10
_ICON_PX = 14
_CLOSE_PX = 20
_WIDEST_PX = 320


class Close(QAbstractButton):
    """The cross at the end of a tag."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt's; paints the cross."""
        theme, painter = theme_of(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.underMouse() or self.isDown():
            color = theme.color("selected" if self.isDown() else "hover")
            rounded(painter, QRectF(self.rect()), theme.px(4), color, color)
        size = theme.px(_ICON_PX)
        icon = theme.pixmap("close", "ink2", size, self.devicePixelRatioF())
        offset = (self.width() - size) / 2
        painter.drawPixmap(QPointF(offset, offset), icon)
        painter.end()


class Tag(QWidget):
    """One file: its name, its tokens where they are known, and a cross.

    Signals:
        removed(): the cross was pressed.
    """

    removed = Signal()

    def __init__(self, attachment: Attachment, parent: QWidget) -> None:
        super().__init__(parent)
        self.attachment = attachment
        tokens = figure(attachment.tokens) if attachment.tokens else ""
        self._tokens = tokens
        self._close = Close(self)
        self._close.setAccessibleName(self.tr("Remove {name}").format(name=attachment.name))
        self._close.setToolTip(self._close.accessibleName())
        self._close.clicked.connect(self.removed)
        self.setAccessibleName(f"{attachment.name} {tokens}".strip())
        self.setToolTip(attachment.name)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Its words, at most 320 px."""
        theme = theme_of()
        name = QFontMetrics(theme.font("chip")).horizontalAdvance(self.attachment.name)
        words = name + self._tokens_width() + theme.px(_ICON_PX + 6)
        width = words + theme.px(2 * _PADDING_PX - 4 + _CLOSE_PX)
        return QSize(min(width, theme.px(_WIDEST_PX)), theme.px(_TAG_PX))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt's; the cross stays at the end."""
        theme = theme_of()
        side = theme.px(_CLOSE_PX)
        x = self.width() - side - theme.px(4)
        if self._mirrored():
            x = theme.px(4)
        self._close.setGeometry(x, (self.height() - side) // 2, side, side)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt's; paints the tag, in amber where it does not fit."""
        theme, painter = theme_of(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        fits = self.attachment.fits
        fill, line = ("sunken", "line") if fits else ("amber_bg", "amber_line")
        box = QRectF(self.rect())
        rounded(painter, box, theme.px(6), theme.color(fill), theme.color(line))
        size, pad = theme.px(_ICON_PX), theme.px(_PADDING_PX)
        icon = theme.pixmap("file", "ink2", size, self.devicePixelRatioF())
        room = QRect(pad + size + theme.px(6), 0, 0, self.height())
        room.setRight(self.width() - theme.px(_CLOSE_PX + 6))
        name = QFontMetrics(theme.font("chip")).elidedText(
            self.attachment.name,
            Qt.TextElideMode.ElideMiddle,
            room.width() - self._tokens_width(),
        )
        painter.drawPixmap(self._placed(QRect(pad, (self.height() - size) // 2, size, size)), icon)
        align = Qt.AlignmentFlag.AlignVCenter  # and the leading side
        painter.setFont(theme.font("chip"))
        painter.setPen(theme.color("ink"))
        painter.drawText(self._placed(room), align, name)
        room.setLeft(room.right() - self._tokens_width() + theme.px(6))
        painter.setFont(theme.font("small_medium"))
        painter.setPen(theme.color("ink3" if fits else "amber"))
        painter.drawText(self._placed(room), align, self._tokens)
        painter.end()

    def _placed(self, rect: QRect) -> QRect:
        """A rectangle where it belongs in the direction of the interface."""
        if not self._mirrored():
            return rect
        return QRect(QPoint(self.width() - rect.right() - 1, rect.top()), rect.size())

    def _mirrored(self) -> bool:
        return self.layoutDirection() == Qt.LayoutDirection.RightToLeft

    def _tokens_width(self) -> int:
        if not self._tokens:
            return 0
        metrics = QFontMetrics(theme_of().font("small_medium"))
        return metrics.horizontalAdvance(self._tokens) + theme_of().px(12)


class AttachmentRow(QWidget):
    """The tags, in as many lines as they need; no height without any.

    Signals:
        removed(int): the tag at this index shall go.
    """

    removed = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._tags: list[Tag] = []
        self.setAccessibleName(self.tr("Files that go along"))
        self.hide()

    @property
    def tags(self) -> tuple[Tag, ...]:
        """The tags in order."""
        return tuple(self._tags)

    def set_attachments(self, attachments: tuple[Attachment, ...]) -> None:
        """Show these files."""
        for old in self._tags:
            old.hide()
            old.deleteLater()
        self._tags = [Tag(attachment, self) for attachment in attachments]
        for tag in self._tags:
            tag.removed.connect(self._on_removed)
            tag.show()
        self.setVisible(bool(self._tags))

    def height_for(self, width: int) -> int:
        """Place the tags in `width` px; the height they take, space below included."""
        px = theme_of().px
        x = y = 0
        for tag in self._tags:
            size = tag.sizeHint()
            if x and x + size.width() > width:
                x, y = 0, y + px(_TAG_PX + _GAP_PX)
            mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
            tag.setGeometry(
                width - x - size.width() if mirrored else x,
                y,
                min(size.width(), width),
                size.height(),
            )
            x += size.width() + px(_GAP_PX)
        return y + px(_TAG_PX + _GAP_PX) if self._tags else 0

    def _on_removed(self) -> None:
        sender = self.sender()
        if isinstance(sender, Tag) and sender in self._tags:
            self.removed.emit(self._tags.index(sender))
