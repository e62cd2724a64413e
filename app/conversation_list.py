"""The list of conversations as a model of lines, and the words for what its lines say."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QAbstractListModel,
    QCoreApplication,
    QDate,
    QDateTime,
    QLocale,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from app.grouping import Group, Line, plan_when

if TYPE_CHECKING:
    from app.client import ConversationRow

AnyIndex = QModelIndex | QPersistentModelIndex

LINE = Qt.ItemDataRole.UserRole
"""The role that gives the whole `Line`."""


# ---- words --------------------------------------------------------------------------------------


def title_of(row: "ConversationRow") -> str:
    """A conversation's title on one line; one without a title is a new one."""
    title = " ".join(row.title.split())
    return title or QCoreApplication.translate("Sidebar", "New conversation")


def group_words(group: Group, now: datetime) -> str:
    """The head of a group."""
    if group.first is None:
        return {
            "pinned": QCoreApplication.translate("Sidebar", "Pinned"),
            "today": QCoreApplication.translate("Sidebar", "Today"),
            "yesterday": QCoreApplication.translate("Sidebar", "Yesterday"),
        }.get(group.kind) or QCoreApplication.translate("Sidebar", "Previous 7 days")
    if group.first.year == now.year:
        pattern = QCoreApplication.translate("Sidebar", "MMMM", "a month of this year")
    else:
        pattern = QCoreApplication.translate("Sidebar", "MMMM yyyy", "a month of another year")
    return QLocale().toString(QDate(group.first.year, group.first.month, group.first.day), pattern)


def when_words(updated_at: int, now: datetime) -> str:
    """A row's time: "now", "14:02", "Mon", "19 Nov". `updated_at` in ms since 1970, UTC."""
    kind, moment = plan_when(updated_at, now)
    locale = QLocale()
    day = QDate(moment.year, moment.month, moment.day)
    if kind == "now":
        return QCoreApplication.translate("Sidebar", "now")
    if kind == "weekday":
        return locale.dayName(day.dayOfWeek(), QLocale.FormatType.ShortFormat)
    if kind == "day":
        pattern = QCoreApplication.translate("Sidebar", "d MMM", "a day of this year")
        return locale.toString(day, pattern)
    if kind == "year":
        pattern = QCoreApplication.translate("Sidebar", "MMM yyyy", "a day of another year")
        return locale.toString(day, pattern)
    half = "ap" in locale.timeFormat(QLocale.FormatType.ShortFormat).lower()
    return moment.strftime("%I:%M %p").lstrip("0") if half else moment.strftime("%H:%M")


def spoken_words(line: Line, now: datetime) -> str:
    """What a screen reader says of a line."""
    if line.row is None:
        return group_words(line.group, now) if line.group else ""
    parts = [title_of(line.row)]
    if line.deleted:
        parts.append(QCoreApplication.translate("Sidebar", "deleted, Enter brings it back"))
        return ", ".join(parts)
    if line.row.pinned:
        parts.append(QCoreApplication.translate("Sidebar", "pinned"))
    if line.row.unread:
        parts.append(QCoreApplication.translate("Sidebar", "unread reply"))
    if line.row.running:
        parts.append(QCoreApplication.translate("Sidebar", "a reply is being written"))
    parts.append(when_words(line.row.updated_at, now))
    if line.row.snippet:
        parts.append(line.row.snippet)
    return ", ".join(parts)


# ---- model --------------------------------------------------------------------------------------


class ConversationModel(QAbstractListModel):
    """The lines of the list.

    Signals:
        renamed(id, title): the user typed a new title.
    """

    renamed = Signal(str, str)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.now = datetime.now()
        self._lines: tuple[Line, ...] = ()

    @property
    def lines(self) -> tuple[Line, ...]:
        """What the list shows."""
        return self._lines

    def set_lines(self, lines: Sequence[Line], now: datetime) -> None:
        """Show these lines; what is the same at both ends stays, with its selection."""
        new = tuple(lines)
        old = self._lines
        self.now = now
        head = _same(old, new)
        tail = _same(old[head:][::-1], new[head:][::-1])
        nowhere = QModelIndex()
        if head + tail < len(old):
            self.beginRemoveRows(nowhere, head, len(old) - tail - 1)
            self._lines = old[:head] + old[len(old) - tail :]
            self.endRemoveRows()
        if head + tail < len(new):
            self.beginInsertRows(nowhere, head, len(new) - tail - 1)
            self._lines = new
            self.endInsertRows()
        self._lines = new
        if new:
            self.dataChanged.emit(self.index(0), self.index(len(new) - 1))

    def row_of(self, conversation: str) -> int:
        """The line of a conversation, or -1."""
        found = (
            n for n, line in enumerate(self._lines) if line.row and line.row.id == conversation
        )
        return next(found, -1)

    def rowCount(self, parent: AnyIndex | None = None) -> int:
        """Qt's: lines at the root, none below."""
        return 0 if parent is not None and parent.isValid() else len(self._lines)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Qt's: the title, what is said of the line, and the line itself under `LINE`."""
        if not index.isValid():
            return None
        line = self._lines[index.row()]
        if role == LINE:
            return line
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return title_of(line.row) if line.row else spoken_words(line, self.now)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return spoken_words(line, self.now)
        if role == Qt.ItemDataRole.ToolTipRole and line.row and not line.deleted:
            return self._tip(line.row)
        return None

    def setData(self, index: AnyIndex, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Qt's: a title was typed; tells it, the rows that come back show it."""
        row = self._lines[index.row()].row
        title = " ".join(str(value).split())
        if role != Qt.ItemDataRole.EditRole or row is None or not title or title == title_of(row):
            return False
        self.renamed.emit(row.id, title)
        return True

    def flags(self, index: AnyIndex) -> Qt.ItemFlag:
        """Qt's: heads can be neither chosen nor reached."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        line = self._lines[index.row()]
        if line.row is None:
            return Qt.ItemFlag.ItemNeverHasChildren
        usual = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        usual |= Qt.ItemFlag.ItemNeverHasChildren
        return usual if line.deleted else usual | Qt.ItemFlag.ItemIsEditable

    def _tip(self, row: "ConversationRow") -> str:
        moment = QDateTime.fromMSecsSinceEpoch(row.updated_at)
        when = QLocale().toString(moment, QLocale.FormatType.ShortFormat)
        facts = " · ".join(part for part in (row.model, when) if part)
        return f"{title_of(row)}\n{facts}"


def _same(old: Sequence[Line], new: Sequence[Line]) -> int:
    """How many lines at the beginning are the same conversations and heads."""
    count = 0
    for before, after in zip(old, new, strict=False):
        if before.key != after.key:
            break
        count += 1
    return count
