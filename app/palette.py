"""The command palette: everything that can be done, and every conversation, by name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import (
    QAbstractListModel,
    QCoreApplication,
    QModelIndex,
    QObject,
    QPoint,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.labels import Words, key_words, prose
from app.popup import Popup
from app.search_field import SearchField
from app.theme import theme_of
from app.theme.painting import draw_key_tag, rounded

if TYPE_CHECKING:
    from app.actions import Action
    from app.client import ConversationRow
    from app.conversation_list import AnyIndex
    from app.theme import Role

WIDTH, ROW, ROWS = 560, 36, 10
_TOP = 72
_MOST_CONVERSATIONS = 8
_ENTRY = Qt.ItemDataRole.UserRole


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that can be chosen. `note` stands quietly beside `text`; `keys` is its shortcut."""

    kind: Literal["action", "conversation"]
    id: str
    text: str
    note: str = ""
    keys: str = ""


def rank(search: str, text: str) -> int:
    """How well a text answers a search: 0 is best, -1 not at all.

    Better at the beginning than at the beginning of a word, than inside one, than letters in order.
    """
    wanted, there = search.casefold().split(), text.casefold()
    if not wanted:
        return 0
    if there.startswith(" ".join(wanted)):
        return 0
    starts = there.replace("-", " ").split()
    if all(any(start.startswith(word) for start in starts) for word in wanted):
        return 1
    if all(word in there for word in wanted):
        return 2
    letters = iter(there)
    return 3 if all(letter in letters for letter in "".join(wanted)) else -1


def plan_entries(
    search: str, actions: Sequence[Entry], conversations: Sequence[Entry]
) -> tuple[Entry, ...]:
    """What a search shows, best first: actions (by name, else by what they do), conversations."""
    found: list[tuple[int, int, Entry]] = []
    for place, entry in enumerate(actions):
        score = rank(search, entry.text)
        by_note = rank(search, entry.note) if entry.note else -1
        if score < 0 and 0 <= by_note < 3:  # letters in order mean nothing in a sentence
            score = 4
        if score >= 0:
            found.append((score, place, entry))
    shown = [entry for _, _, entry in sorted(found, key=lambda item: item[:2])]
    titles = [
        entry for entry in conversations if search.strip() and 0 <= rank(search, entry.text) < 3
    ]
    return (*shown, *titles[:_MOST_CONVERSATIONS])


class Palette(Popup):
    """Up, Down and Enter choose, typing searches, Esc closes.

    Signals:
        action_chosen(id): do this.
        conversation_chosen(id): open this.
    """

    action_chosen = Signal(str)
    conversation_chosen = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(QCoreApplication.translate("Palette", "Commands"), parent)
        self._actions: tuple[Entry, ...] = ()
        self._conversations: tuple[Entry, ...] = ()
        self._entries = _Entries(self)
        self.field = SearchField(self.tr("Do anything by name"), self, keeps=True)
        self._empty = Words(self.tr("Nothing is called that."), "interface", "ink3", self)
        self.list = _EntryView(self._entries, self)
        self._column = QVBoxLayout(self)
        for widget in (self.field, self._empty, self.list):
            self._column.addWidget(widget)
        self.field.textChanged.connect(self._refresh)
        self.field.stepped.connect(self._step)
        self.field.returnPressed.connect(self._use_current)
        self.field.left.connect(self.close)
        self.list.clicked.connect(self._use_current)
        self.renew()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What it shows."""
        return self._entries.entries

    def renew(self) -> None:
        """Measure again: the theme is another one."""
        px = self._theme.px
        self._column.setContentsMargins(px(8), px(8), px(8), px(8))
        self._column.setSpacing(px(8))
        self._empty.setContentsMargins(px(8), 0, px(8), px(8))
        self.setFixedWidth(px(WIDTH))
        super().renew()

    def open_over(
        self,
        window: QWidget,
        actions: Sequence["Action"],
        conversations: Sequence["ConversationRow"] = (),
        enabled: Callable[[str], bool] = bool,
    ) -> None:
        """Show it over a window, the caret in its field.

        Args:
            window: what it stands over, in the middle, near the top.
            actions: what can be done; those that are not `enabled` now are left out.
            conversations: what can be opened.
            enabled: whether the action of an id can be done now.
        """
        self._actions = tuple(
            Entry("action", one.id, one.text.rstrip("…"), one.help, key_words(one.shortcut))
            for one in actions
            if enabled(one.id)
        )
        note = self.tr("conversation")
        self._conversations = tuple(
            Entry("conversation", row.id, row.title, note) for row in conversations if row.title
        )
        self.field.clear()
        self._refresh()
        middle = (window.width() - self.width()) // 2
        self.place(window.mapToGlobal(QPoint(middle, self._theme.px(_TOP))))
        self.show()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def _refresh(self) -> None:
        found = plan_entries(self.field.text(), self._actions, self._conversations)
        self._entries.set_entries(found)
        self.list.setVisible(bool(found))
        self._empty.setVisible(not found)
        self.list.setFixedHeight(self._theme.px(ROW) * min(len(found), ROWS))
        if found:
            self.list.setCurrentIndex(self._entries.index(0))
        self.adjustSize()

    def _step(self, rows: int) -> None:
        last = len(self.entries) - 1
        if last < 0:
            return
        now = self.list.currentIndex().row()
        to = (now + rows) % (last + 1) if abs(rows) == 1 else min(max(now + rows, 0), last)
        self.list.setCurrentIndex(self._entries.index(to))

    def _use_current(self, _index: QModelIndex | None = None) -> None:
        entry = self.list.currentIndex().data(_ENTRY)
        if not isinstance(entry, Entry):
            return
        self.close()
        if entry.kind == "action":
            self.action_chosen.emit(entry.id)
        else:
            self.conversation_chosen.emit(entry.id)


class _Entries(QAbstractListModel):
    """The entries as Qt's list."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.entries: tuple[Entry, ...] = ()

    def set_entries(self, entries: tuple[Entry, ...]) -> None:
        self.beginResetModel()
        self.entries = entries
        self.endResetModel()

    def rowCount(self, parent: "AnyIndex | None" = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.entries)

    def data(self, index: "AnyIndex", role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        entry = self.entries[index.row()]
        if role == _ENTRY:
            return entry
        if role == Qt.ItemDataRole.DisplayRole:
            return entry.text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join(part for part in (entry.text, entry.note, entry.keys) if part)
        return None


class _EntryView(QListView):
    """The list; the pointer moves the row that Enter uses, as in a menu."""

    def __init__(self, model: _Entries, parent: QWidget) -> None:
        super().__init__(parent)
        self.setModel(model)
        self.setItemDelegate(_EntryDelegate(self))
        self.setUniformItemSizes(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the keys are the field's
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        self.setAccessibleName(QCoreApplication.translate("Palette", "Commands"))
        self.entered.connect(self.setCurrentIndex)
        theme_of().changed.connect(self.scheduleDelayedItemsLayout)


class _EntryDelegate(QStyledItemDelegate):
    """Paints an entry: its text, quietly its note, its keys at the right."""

    def sizeHint(self, _option: QStyleOptionViewItem, _index: "AnyIndex") -> QSize:
        return QSize(0, theme_of().px(ROW))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: "AnyIndex") -> None:
        theme, px = theme_of(), theme_of().px
        entry: Entry = index.data(_ENTRY)
        rect = QRectF(option.rect)
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            rounded(painter, rect, px(6), theme.color("selected"))
        room = rect.adjusted(px(12), 0, -px(12), 0)
        if entry.keys:
            left = draw_key_tag(painter, theme, entry.keys, room.right(), room.center().y())
            room.setRight(left - px(12))
        font = prose(theme.font("interface"))
        width = QFontMetricsF(font).horizontalAdvance(entry.text)
        self._draw(painter, room, entry.text, ("interface", "ink"))
        room.setLeft(room.left() + width + px(12))
        if entry.note and room.width() > px(48):
            self._draw(painter, room, entry.note, ("small", "ink3"))
        painter.restore()

    @staticmethod
    def _draw(painter: QPainter, room: QRectF, text: str, look: "tuple[Role, str]") -> None:
        theme = theme_of()
        font = prose(theme.font(look[0]))
        painter.setFont(font)
        painter.setPen(theme.color(look[1]))
        shown = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, shown)
