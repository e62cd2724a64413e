"""The list of slash commands that fit what is typed."""

from PySide6.QtCore import (
    QAbstractListModel,
    QCoreApplication,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QFontMetricsF,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.theme import theme_of
from app.theme.painting import rounded

_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


def command_words(name: str) -> tuple[str, str]:
    """What may follow a command, and what it does; in the user's language."""
    words = {
        "new": ("", QCoreApplication.translate("Commands", "Start a new conversation")),
        "compact": (
            QCoreApplication.translate("Commands", "[focus]"),
            QCoreApplication.translate("Commands", "Fold older messages into a summary"),
        ),
        "status": ("", QCoreApplication.translate("Commands", "Show model, window and counters")),
        "context": ("", QCoreApplication.translate("Commands", "Show what fills the window")),
        "model": (
            QCoreApplication.translate("Commands", "[name]"),
            QCoreApplication.translate("Commands", "Choose the model that answers"),
        ),
        "system": (
            QCoreApplication.translate("Commands", "[text]"),
            QCoreApplication.translate("Commands", "Change the system prompt"),
        ),
        "help": ("", QCoreApplication.translate("Commands", "Show commands and shortcuts")),
    }
    return words[name]


class _CommandModel(QAbstractListModel):
    """The commands that still match."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.names: tuple[str, ...] = ()

    def set_names(self, names: tuple[str, ...]) -> None:
        self.beginResetModel()
        self.names = names
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008  # Qt's default
        return 0 if parent.isValid() else len(self.names)

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        name = self.names[index.row()]
        argument, help_text = command_words(name)
        if role == Qt.ItemDataRole.DisplayRole:
            return name
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"/{name} {argument}: {help_text}"
        return None


class _CommandDelegate(QStyledItemDelegate):
    """Paints one command: its name, what may follow, what it does."""

    ROW_PX = 28

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        return QSize(0, theme_of().px(self.ROW_PX))

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        theme = theme_of()
        name = str(index.data())
        argument, help_text = command_words(name)
        rect = QRectF(option.rect)
        state = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if state & QStyle.StateFlag.State_Selected:
            color = theme.color("selected")
            rounded(painter, rect, theme.px(6), color, color)
        mirrored = option.direction == Qt.LayoutDirection.RightToLeft
        pad, column = theme.px(8), theme.px(136)
        area = rect.adjusted(pad, 0, -pad, 0)
        align = Qt.AlignmentFlag.AlignVCenter  # and the leading side
        word = f"/{name}"
        painter.setFont(theme.font("interface_medium"))
        painter.setPen(theme.color("ink"))
        painter.drawText(area, align, word)
        gap = QFontMetricsF(painter.font()).horizontalAdvance(word + " ")
        painter.setFont(theme.font("interface"))
        painter.setPen(theme.color("ink3"))
        painter.drawText(self._after(area, gap, mirrored=mirrored), align, argument)
        painter.setPen(theme.color("ink2"))
        painter.drawText(self._after(area, column, mirrored=mirrored), align, help_text)
        painter.restore()

    @staticmethod
    def _after(area: QRectF, indent: float, *, mirrored: bool) -> QRectF:
        return area.adjusted(0, 0, -indent, 0) if mirrored else area.adjusted(indent, 0, 0, 0)


class CommandList(QFrame):
    """The commands that fit what was typed; lies over the window, over the composer.

    It never takes the focus: the text field hands it keys.

    Signals:
        chosen(str, bool): a command was taken; True if by Enter or a click, which also runs it
            where it needs no more words.
    """

    chosen = Signal(str, bool)

    _WIDTH_PX = 420
    _PADDING_PX = 4

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._model = _CommandModel(self)
        self._view = QListView(self)
        self._view.setModel(self._model)
        self._view.setItemDelegate(_CommandDelegate(self._view))
        self._view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._view.setFrameShape(QFrame.Shape.NoFrame)
        self._view.setMouseTracking(True)
        self._view.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._view.setStyleSheet("QListView { background: transparent; border: 0 }")
        self._view.setAccessibleName(self.tr("Commands"))
        self._view.entered.connect(self._view.setCurrentIndex)
        self._view.clicked.connect(self._on_clicked)
        self._view.selectionModel().currentChanged.connect(self._on_current)
        self.setAccessibleName(self.tr("Commands"))
        self.hide()

    @property
    def names(self) -> tuple[str, ...]:
        """The commands that are offered."""
        return self._model.names

    @property
    def current(self) -> str:
        """The command that Enter would take."""
        return str(self._view.currentIndex().data() or "")

    def offer(self, names: tuple[str, ...], over: QWidget) -> None:
        """Show these commands above a widget, the first one current; none hides the list."""
        if not names:
            self.hide()
            return
        window = over.window()
        if self.parentWidget() is not window:
            self.setParent(window)
        kept = self.current
        self._model.set_names(names)
        row = names.index(kept) if kept in names and self.isVisible() else 0
        self._view.setCurrentIndex(self._model.index(row))
        px = theme_of().px
        width = min(px(self._WIDTH_PX), over.width())
        height = px(_CommandDelegate.ROW_PX) * len(names) + 2 * px(self._PADDING_PX)
        corner = over.mapTo(window, QPoint(0, -height - px(4)))
        if self.layoutDirection() == Qt.LayoutDirection.RightToLeft:
            corner.setX(corner.x() + over.width() - width)
        self.setGeometry(corner.x(), max(0, corner.y()), width, height)
        pad = px(self._PADDING_PX)
        self._view.setGeometry(pad, pad, width - 2 * pad, height - 2 * pad)
        self.raise_()
        self.show()

    def take_key(self, key: int) -> bool:
        """Use a key if the list is open and it means something here."""
        if not self.isVisible():
            return False
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            step = 1 if key == Qt.Key.Key_Down else -1
            row = (self._view.currentIndex().row() + step) % len(self.names)
            self._view.setCurrentIndex(self._model.index(row))
        elif key == Qt.Key.Key_Escape:
            self.hide()
        elif key == Qt.Key.Key_Tab or key in _ENTER:
            name = self.current
            self.hide()
            self.chosen.emit(name, key != Qt.Key.Key_Tab)
        else:
            return False
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt's; paints the box."""
        theme, painter = theme_of(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect())
        rounded(painter, box, theme.px(8), theme.color("raised"), theme.color("control"))
        painter.end()

    def _on_current(self, index: QModelIndex) -> None:
        """Say the row aloud: the focus is in the text field, so a screen reader misses it."""
        if self.isVisible() and index.isValid():
            words = str(index.data(Qt.ItemDataRole.AccessibleTextRole))
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words))

    def _on_clicked(self, index: QModelIndex) -> None:
        self._view.setCurrentIndex(index)
        self.take_key(Qt.Key.Key_Return)
