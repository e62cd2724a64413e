"""The list of conversations on the screen: a delegate that paints its lines, a view with the keys.

All lines of a list have the same height (32 px; 52 px while searching), so that Qt lays 5,000 of
them out without asking; only what is seen is ever painted.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QFont,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPalette,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.conversation_list import (
    LINE,
    AnyIndex,
    ConversationModel,
    group_words,
    title_of,
    when_words,
)
from app.grouping import Line, find_hits
from app.labels import prose
from app.theme import Theme, theme_of
from app.theme.painting import draw_focus_ring, draw_icon, rounded

if TYPE_CHECKING:
    from app.client import ConversationRow

ROW, FOUND_ROW = 32, 52
MARGIN, PADDING, GAP, RADIUS = 8, 8, 8, 6
PIN, DOT = 14, 6
KEYBOARD_REASONS = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)
_VCENTER = Qt.AlignmentFlag.AlignVCenter


@dataclass(slots=True)
class Looks:
    """What the delegate must know beside a line: how the list is being used.

    `current`: the open conversation. `search`: the words that are searched, "" for none.
    `keyboard`: whether the focused row shows it.
    """

    current: str = ""
    search: str = ""
    keyboard: bool = False


@dataclass(slots=True)
class _Fonts:
    """Fonts and their metrics, made once for each look of the theme."""

    theme: Theme
    title: QFont = field(init=False)
    bold: QFont = field(init=False)
    medium: QFont = field(init=False)
    tiny: QFont = field(init=False)
    head: QFont = field(init=False)
    small: QFont = field(init=False)

    def __post_init__(self) -> None:
        font = self.theme.font
        self.title, self.medium = prose(font("interface")), prose(font("interface_medium"))
        self.bold, self.small = prose(font("interface_bold")), prose(font("small"))
        self.tiny, self.head = font("tiny"), font("tiny_medium")


class ConversationDelegate(QStyledItemDelegate):
    """Paints one line. `painted` counts them, for tests and the bench."""

    def __init__(self, parent: QWidget, lines: ConversationModel, looks: Looks) -> None:
        super().__init__(parent)
        self.painted = 0
        self._lines = lines
        self._looks = looks
        self._theme = theme_of()
        self._theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _on_theme_changed(self) -> None:
        self._fonts = _Fonts(self._theme)

    # -- measures ------------------------------------------------------------------------

    def sizeHint(self, _option: QStyleOptionViewItem, _index: AnyIndex) -> QSize:
        """Qt's: one height for all."""
        return QSize(0, self._theme.px(FOUND_ROW if self._looks.search else ROW))

    def undo_rect(self, row: QRect) -> QRectF:
        """Where "Undo" stands in a row that says "Deleted"."""
        text = QRectF(row).adjusted(self._theme.px(PADDING), 0, 0, 0)
        metrics = QFontMetricsF(self._fonts.title)
        start = metrics.horizontalAdvance(self._deleted_words())
        width = metrics.horizontalAdvance(self._undo_words())
        return QRectF(text.x() + start, text.y(), width, text.height())

    @staticmethod
    def _deleted_words() -> str:
        return QCoreApplication.translate("Sidebar", "Deleted") + " · "

    @staticmethod
    def _undo_words() -> str:
        return QCoreApplication.translate("Sidebar", "Undo")

    def row_rect(self, whole: QRect) -> QRect:
        """The painted part of a line; `whole` is what the view gives it."""
        view = self.parent()
        bar = view.verticalScrollBar() if isinstance(view, QListView) else None
        margin = self._theme.px(MARGIN)
        right = margin - bar.width() if bar is not None and bar.isVisible() else margin
        return whole.adjusted(margin, 0, -max(0, right), 0)

    # -- painting ------------------------------------------------------------------------

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        """Qt's: a head, a deleted row or a row."""
        self.painted += 1
        line: Line = index.data(LINE)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = self.row_rect(option.rect)
        if line.group is not None:
            self._paint_head(painter, rect, group_words(line.group, self._lines.now))
        if line.row is not None:
            chosen = line.row.id == self._looks.current and not line.deleted
            self._paint_ground(painter, rect, option.state, chosen=chosen)
            if line.deleted:
                self._paint_deleted(painter, rect)
            else:
                self._paint_row(painter, rect, line.row, chosen=chosen)
        painter.restore()

    def _paint_head(self, painter: QPainter, rect: QRect, words: str) -> None:
        px = self._theme.px
        painter.setFont(self._fonts.head)
        painter.setPen(self._theme.color("ink3"))
        room = QRectF(rect).adjusted(px(PADDING), px(12), -px(PADDING), -px(4))
        painter.drawText(room, _VCENTER, words)

    def _paint_row(
        self, painter: QPainter, rect: QRect, row: "ConversationRow", *, chosen: bool
    ) -> None:
        px = self._theme.px
        room = QRectF(rect).adjusted(px(PADDING), 0, -px(PADDING), 0)
        if self._looks.search:
            below = QRectF(room.x(), room.y() + px(28), room.width(), px(16))
            room = QRectF(room.x(), room.y() + px(7), room.width(), px(20))
            self._paint_text(painter, below, row.snippet or row.model, self._fonts.small, "ink3")
        end = self._paint_end(painter, room, row, chosen=chosen)
        room.setRight(end - px(GAP))
        if row.unread:
            self._paint_dot(painter, room)
        face = self._fonts.medium if chosen else self._fonts.title
        self._paint_text(painter, room, title_of(row), face, "ink")

    def _paint_ground(
        self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, *, chosen: bool
    ) -> None:
        radius = self._theme.px(RADIUS)
        if chosen:
            rounded(painter, QRectF(rect), radius, self._theme.color("selected"))
        elif state & QStyle.StateFlag.State_MouseOver:
            rounded(painter, QRectF(rect), radius, self._theme.color("hover"))
        focused = state & QStyle.StateFlag.State_HasFocus
        if focused and self._looks.keyboard:
            color = self._theme.color("accent")
            draw_focus_ring(painter, QRectF(rect), radius, color, inside=True)

    def _paint_deleted(self, painter: QPainter, rect: QRect) -> None:
        words, link = self._deleted_words(), self.undo_rect(rect)
        painter.setFont(self._fonts.title)
        painter.setPen(self._theme.color("ink3"))
        room = QRectF(rect).adjusted(self._theme.px(PADDING), 0, 0, 0)
        painter.drawText(room, _VCENTER, words)
        painter.setPen(self._theme.color("accent"))
        painter.drawText(link.adjusted(0, 0, 1, 0), _VCENTER, self._undo_words())

    def _paint_end(
        self, painter: QPainter, room: QRectF, row: "ConversationRow", *, chosen: bool
    ) -> float:
        """Time and pin at the right; the x where they begin."""
        px, words = self._theme.px, when_words(row.updated_at, self._lines.now)
        color = "ink2" if chosen else "ink3"
        face = self._fonts.tiny
        if row.running:
            words = QCoreApplication.translate("Sidebar", "writing")
            color, face = "accent", self._fonts.head
        width = QFontMetricsF(face).horizontalAdvance(words)
        painter.setFont(face)
        painter.setPen(self._theme.color(color))
        x = room.right() - width
        painter.drawText(QRectF(x, room.y(), width + 1, room.height()), _VCENTER, words)
        if not row.pinned:
            return x
        side = px(PIN)
        x = x - px(GAP) - side
        place = (x, room.center().y() - side / 2, side)
        draw_icon(painter, self._theme, "pin", "ink3", place)
        return x

    def _paint_dot(self, painter: QPainter, room: QRectF) -> None:
        side = self._theme.px(DOT)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("accent"))
        painter.drawEllipse(QRectF(room.x(), room.center().y() - side / 2, side, side))
        room.setLeft(room.left() + side + self._theme.px(6))

    def _paint_text(
        self, painter: QPainter, room: QRectF, text: str, face: QFont, color: str
    ) -> None:
        """One line of text, elided at the end, its hits at weight 600."""
        hits = find_hits(text, self._looks.search)
        metrics = QFontMetricsF(self._fonts.bold if hits else face)
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        if not hits:
            painter.setFont(face)
            painter.setPen(self._theme.color(color))
            painter.drawText(room, _VCENTER | Qt.TextFlag.TextSingleLine, shown)
            return
        _draw_with_hits(painter, room, (shown, face), hits, self._theme.color(color))

    # -- renaming in place ---------------------------------------------------------------

    def createEditor(
        self, parent: QWidget, _option: QStyleOptionViewItem, _index: AnyIndex
    ) -> QWidget:
        """Qt's: a field over the row."""
        editor = QLineEdit(parent)
        editor.setAccessibleName(
            QCoreApplication.translate("Sidebar", "Title of the conversation")
        )
        editor.setFont(self._fonts.title)
        editor.setTextMargins(0, 0, 0, 0)
        return editor

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, _index: AnyIndex
    ) -> None:
        """Qt's: exactly over the painted row."""
        whole = option.rect
        editor.setGeometry(self.row_rect(whole))


def _draw_with_hits(
    painter: QPainter,
    room: QRectF,
    what: tuple[str, QFont],
    hits: tuple[tuple[int, int], ...],
    color: QColor,
) -> None:
    """Draw a line with parts in bold; a text layout keeps right-to-left scripts whole."""
    shown, face = what
    layout = QTextLayout(shown, face)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.NoWrap)
    layout.setTextOption(option)
    bold = QTextCharFormat()
    bold.setFontWeight(QFont.Weight.DemiBold)
    bold.setForeground(theme_of().color("ink"))
    ranges = []
    for start, length in hits:
        part = QTextLayout.FormatRange()
        part.start, part.length, part.format = start, length, bold
        ranges.append(part)
    layout.setFormats(ranges)
    layout.beginLayout()
    line = layout.createLine()
    line.setLineWidth(room.width())
    layout.endLayout()
    painter.setPen(color)
    layout.draw(painter, room.topLeft() + QRectF(0, 0, 0, room.height() - line.height()).center())


class ConversationView(QListView):
    """The list itself.

    Signals:
        opened(id): a row was clicked, or Enter pressed on it.
        action(id, name): "rename", "delete" or "undelete" was asked for.
        menu_asked(id, position): the context menu, at a global position.
        left_upwards(): Up on the first row.
    """

    opened = Signal(str)
    action = Signal(str, str)
    menu_asked = Signal(str, QPoint)
    left_upwards = Signal()

    def __init__(self, model: ConversationModel, parent: QWidget) -> None:
        super().__init__(parent)
        self.looks = Looks()
        self._lines = model
        self._delegate = ConversationDelegate(self, model, self.looks)
        self.setModel(model)
        self.setItemDelegate(self._delegate)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUniformItemSizes(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setAttribute(Qt.WidgetAttribute.WA_MacShowFocusRect, False)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setAccessibleName(QCoreApplication.translate("Sidebar", "Conversations"))
        theme_of().changed.connect(self.measure_again)
        self.measure_again()

    @property
    def painted(self) -> int:
        """How many lines were painted so far."""
        return self._delegate.painted

    def measure_again(self) -> None:
        """Lay out anew: the height of the lines, or the theme, is different."""
        theme, palette = theme_of(), self.palette()
        palette.setColor(QPalette.ColorRole.Base, theme.color("side"))
        self.setPalette(palette)  # an opaque ground: scrolling moves what is painted
        self.viewport().setPalette(palette)  # it does not follow a second change by itself
        self.verticalScrollBar().setSingleStep(theme.px(ROW))
        self.scheduleDelayedItemsLayout()
        self.viewport().update()

    def line(self) -> Line | None:
        """The line the keys act on."""
        index = self.currentIndex()
        line = index.data(LINE) if index.isValid() else None
        return line if isinstance(line, Line) else None

    def go_to(self, conversation: str, *, scroll: bool = True) -> None:
        """Make a conversation the row the keys act on, and bring it into view."""
        row = self._lines.row_of(conversation)
        if row < 0:
            return
        index = self._lines.index(row)
        self.setCurrentIndex(index)
        if scroll:
            self.scrollTo(index)

    def rename(self, conversation: str) -> None:
        """Open the field over a conversation's title."""
        self.go_to(conversation)
        row = self._lines.row_of(conversation)
        if row >= 0 and self._lines.flags(self._lines.index(row)) & Qt.ItemFlag.ItemIsEditable:
            self.edit(self._lines.index(row))

    # -- keys and mouse ------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        """Qt's: F2 and Delete are of the row here, before the window's shortcuts take them."""
        own = (Qt.Key.Key_F2, Qt.Key.Key_Delete)
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() in own
            and not event.modifiers()
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt's: Enter opens, F2 renames, Delete deletes, Up on the first row leaves."""
        self.looks.keyboard = True
        line, key = self.line(), event.key()
        row = line.row if line else None
        if key == Qt.Key.Key_Up and not self._is_above():
            self.left_upwards.emit()
        elif (
            row is None or line is None or event.modifiers() & Qt.KeyboardModifier.ControlModifier
        ):
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._use(line)
        elif key == Qt.Key.Key_F2:
            self.rename(row.id)
        elif key == Qt.Key.Key_Delete and not line.deleted:
            self.action.emit(row.id, "delete")
        else:
            super().keyPressEvent(event)
        self.viewport().update()

    def _is_above(self) -> bool:
        """Whether there is a conversation above the one the keys act on."""
        above = self._lines.lines[: max(0, self.currentIndex().row())]
        return any(line.row for line in above)

    def _use(self, line: Line) -> None:
        if line.row is not None:
            if line.deleted:
                self.action.emit(line.row.id, "undelete")
            else:
                self.opened.emit(line.row.id)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Qt's: from here on the pointer is used, the ring goes."""
        self.looks.keyboard = False
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Qt's: a click opens; on a deleted row only "Undo" does something."""
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        line = index.data(LINE) if index.isValid() else None
        if event.button() != Qt.MouseButton.LeftButton or not isinstance(line, Line):
            return
        rect = self._delegate.row_rect(self.visualRect(index))
        if not line.deleted or self._delegate.undo_rect(rect).contains(event.position()):
            self._use(line)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Qt's: asks for the menu of the row under the pointer, or of the focused one."""
        index, place = self.indexAt(event.pos()), event.globalPos()
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            index = self.currentIndex()
            place = self.viewport().mapToGlobal(self.visualRect(index).center())
        line = index.data(LINE) if index.isValid() else None
        if isinstance(line, Line) and line.row is not None and not line.deleted:
            self.menu_asked.emit(line.row.id, place)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Qt's: reached by the keyboard, there is always a row to act on."""
        self.looks.keyboard = event.reason() in KEYBOARD_REASONS
        if not self.currentIndex().isValid():
            self.go_to(self.looks.current)
        if not self.currentIndex().isValid():
            self.go_to_first()
        super().focusInEvent(event)

    def go_to_first(self) -> None:
        """Make the first conversation the row the keys act on."""
        first = next((line.row for line in self._lines.lines if line.row), None)
        if first is not None:
            self.go_to(first.id)
