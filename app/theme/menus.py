"""Menus in the theme: round, with check marks and shortcuts where the eye looks for them."""

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QAction, QIcon, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QWidget

from app.theme.painting import draw_icon, hairline, rounded
from app.theme.theme import theme_of

_PLAIN = 12  # where words begin in a menu without pictures
_PICTURED = 36  # and in one with icons or marks


class PopupMenu(QMenu):
    """A menu that paints its rows; layout, keys and submenus stay Qt's.

    The active row is `selected`, not `hover`: on a dark menu the latter can hardly be seen, and
    here the row is all that shows where the keyboard is.
    """

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self._theme = theme_of()
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
        self.setWindowFlag(Qt.WindowType.NoDropShadowWindowHint)
        self.setWindowFlag(Qt.WindowType.FramelessWindowHint)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Box and rows, in as many columns as Qt laid them out."""
        painter = QPainter(self)
        color = self._theme.color
        rounded(painter, QRectF(self.rect()), self._theme.px(8), color("raised"), color("control"))
        shown = [action for action in self.actions() if action.isVisible()]
        pictured = any(action.isCheckable() or not action.icon().isNull() for action in shown)
        for action in shown:
            row = self.actionGeometry(action)
            if action.isSeparator():
                inset = self._theme.px(8)
                middle = row.top() + row.height() / 2
                hairline(
                    painter, row.left() + inset, middle, row.width() - 2 * inset, color("line")
                )
            else:
                self._paint_row(
                    painter, action, row, self._theme.px(_PICTURED if pictured else _PLAIN)
                )
        painter.end()

    def _paint_row(self, painter: QPainter, action: QAction, row: QRect, indent: int) -> None:
        px, color = self._theme.px, self._theme.color
        box = QRectF(row)
        enabled = action.isEnabled()
        if enabled and action is self.activeAction():
            rounded(painter, box, px(6), color("selected"))
        self._paint_picture(painter, action, box)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(self._theme.font("interface"))
        painter.setPen(color("ink" if enabled else "disabled"))
        flags = int(middle) | int(Qt.TextFlag.TextHideMnemonic)
        painter.drawText(box.adjusted(indent, 0, 0, 0), flags, action.text().split("\t")[0])
        keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        side = px(14)
        if action.menu() is not None:
            ink = "ink2" if enabled else "disabled"
            at = (box.right() - px(8) - side, box.center().y() - side / 2, side)
            draw_icon(painter, self._theme, "chevron-right", ink, at)
        elif keys and action.isShortcutVisibleInContextMenu():
            painter.setFont(self._theme.font("small"))
            painter.setPen(color("ink3" if enabled else "disabled"))
            painter.drawText(
                box.adjusted(0, 0, -px(12), 0), middle | Qt.AlignmentFlag.AlignRight, keys
            )

    def _paint_picture(self, painter: QPainter, action: QAction, box: QRectF) -> None:
        """The mark of what is on, else the action's icon."""
        side = self._theme.px(16)
        left, top = box.left() + self._theme.px(10), box.center().y() - side / 2
        if action.isChecked():
            ink = "accent" if action.isEnabled() else "disabled"
            draw_icon(painter, self._theme, "check", ink, (left, top, side))
            return
        mode = QIcon.Mode.Normal if action.isEnabled() else QIcon.Mode.Disabled
        picture = action.icon().pixmap(QSize(side, side), self.devicePixelRatioF(), mode)
        painter.drawPixmap(QRectF(left, top, side, side).toRect(), picture)
