"""Lines of a list in a dialog: a name with its tokens, and below how the text begins."""

from typing import Any, cast

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.theme import theme_of
from app.theme.painting import rounded

TOKENS = Qt.ItemDataRole.UserRole
"""Role of the tokens, as they are shown."""
BEGIN = Qt.ItemDataRole.UserRole + 1
"""Role of how the text begins; "" for a line that is a name only."""
Index = QModelIndex | QPersistentModelIndex


class TwoLines(QStyledItemDelegate):
    """Paints such lines."""

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        """Qt's: two lines."""
        return QSize(theme_of().px(100), theme_of().px(46))

    def paint_before(self, _painter: QPainter, room: QRectF, _index: Index) -> QRectF:
        """Paint what stands before the words; the room that is left for them."""
        return room

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Qt's."""
        theme, option_ = theme_of(), cast("Any", option)  # its stub has no fields
        px, area, state = theme.px, QRectF(option_.rect), option_.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if state & QStyle.StateFlag.State_Selected:
            rounded(painter, area.adjusted(0, 1, 0, -1), px(6), theme.color("selected"))
        elif state & QStyle.StateFlag.State_MouseOver:
            rounded(painter, area.adjusted(0, 1, 0, -1), px(6), theme.color("hover"))
        room = area.adjusted(px(8), px(4), -px(8), -px(4))
        self._paint_words(painter, self.paint_before(painter, room, index), index)
        painter.restore()

    def _paint_words(self, painter: QPainter, room: QRectF, index: Index) -> None:
        theme, px, middle = theme_of(), theme_of().px, Qt.AlignmentFlag.AlignVCenter
        begin, tokens = index.data(BEGIN), index.data(TOKENS)
        first = QRectF(room.left(), room.top(), room.width(), px(20) if begin else room.height())
        bold, small = theme.font("interface_medium"), theme.font("small")
        wide = first.width() - QFontMetricsF(small).horizontalAdvance(tokens) - px(10)
        cut = Qt.TextElideMode.ElideRight
        painter.setFont(bold)
        painter.setPen(theme.color("ink"))
        painter.drawText(first, middle, QFontMetricsF(bold).elidedText(index.data(), cut, wide))
        painter.setFont(small)
        painter.setPen(theme.color("ink3"))
        painter.drawText(first, middle | Qt.AlignmentFlag.AlignTrailing, tokens)
        second = QRectF(room.left(), first.bottom(), room.width(), px(16))
        shown = QFontMetricsF(small).elidedText(begin, cut, second.width())
        painter.drawText(second, middle, shown)
