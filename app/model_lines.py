"""The models as lines to choose from: heads, rows, and the words under each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QCoreApplication, QObject, Qt

if TYPE_CHECKING:
    from app.client import ModelRow
    from app.conversation_list import AnyIndex

MODEL_LINE = Qt.ItemDataRole.UserRole
"""The role that gives the whole `ModelLine`."""

_MEGABYTE, _GIGABYTE = 1_000_000, 1_000_000_000


@dataclass(frozen=True, slots=True)
class ModelLine:
    """A line of the list: a group's head, or a model."""

    head: str = ""
    row: "ModelRow | None" = None


def plan_model_lines(
    models: Sequence["ModelRow"], search: str = "", heads: tuple[str, str] = ("", "")
) -> tuple[ModelLine, ...]:
    """Models under their heads (our own, Ollama's), those that hold every word of `search`."""
    lines: list[ModelLine] = []
    for head, sources in zip(heads, (("starter", "gguf"), ("ollama",)), strict=True):
        found = [row for row in models if row.source in sources and _holds(row, search)]
        if found:
            lines.append(ModelLine(head=head))
            lines += [ModelLine(row=row) for row in found]
    return tuple(lines)


def _holds(row: "ModelRow", search: str) -> bool:
    own = row.name.partition(":")[2]  # "llama" is not to find everything that Ollama has
    text = f"{row.title} {own or row.name} {row.details}".casefold()
    return all(word in text for word in search.casefold().split())


def size_words(size_bytes: int) -> str:
    """A size on disk: "98 MB", "1.9 GB"; "" when unknown."""
    if size_bytes <= 0:
        return ""
    if size_bytes < _GIGABYTE:
        return f"{max(1, round(size_bytes / _MEGABYTE))} MB"
    return f"{size_bytes / _GIGABYTE:.1f} GB"


def fetched_words(done: int, total: int) -> str:
    """How much of a file is here: "63 of 98 MB"."""
    return QCoreApplication.translate("ModelPicker", "{0} of {1} MB").format(
        round(done / _MEGABYTE), max(1, round(total / _MEGABYTE))
    )


def fact_words(row: "ModelRow") -> str:
    """What is known of a model, under its title: quantisation, size, window."""
    window = f"{row.window_tokens:,}" if row.window_tokens > 0 else ""
    parts = (cloud_words() if row.cloud else "", row.details, size_words(row.size_bytes), window)
    return " · ".join(part for part in parts if part)


def cloud_words() -> str:
    """What is to be known of every model of ollama.com."""
    return QCoreApplication.translate("ModelPicker", "runs on ollama.com · leaves this computer")


def badge_of(row: "ModelRow") -> tuple[str, str]:
    """A model's badge, its words and its kind; empty for none."""
    if not row.fetched:
        return QCoreApplication.translate("ModelPicker", "to be fetched"), "plain"
    if row.cloud and row.guard != "warn":
        words = QCoreApplication.translate("ModelPicker", "cloud")
        return words, "cloud_off" if row.guard == "block" else "cloud"
    if row.guard == "block":
        return QCoreApplication.translate("ModelPicker", "blocked"), "red"
    if row.guard == "warn":
        return QCoreApplication.translate("ModelPicker", "small window"), "amber"
    return "", "plain"


def dot_of(row: "ModelRow") -> str:
    """The colour of a model's dot: loaded, blocked, or "" for a ring."""
    if row.loaded:
        return "green"
    return "red" if row.guard == "block" and not row.cloud else ""


def spoken_model(row: "ModelRow", *, current: bool) -> str:
    """What a screen reader says of a model."""
    parts = [row.title, fact_words(row), badge_of(row)[0]]
    if current:
        parts.append(QCoreApplication.translate("ModelPicker", "answers here"))
    if row.loaded:
        parts.append(QCoreApplication.translate("ModelPicker", "loaded"))
    parts.append(row.reason)
    return ", ".join(part for part in parts if part)


class ModelLines(QAbstractListModel):
    """The lines of the list; `current` is the name of the model that answers here."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.current = ""
        self._lines: tuple[ModelLine, ...] = ()

    @property
    def lines(self) -> tuple[ModelLine, ...]:
        """What is shown."""
        return self._lines

    def set_lines(self, lines: Sequence[ModelLine]) -> None:
        """Show these."""
        self.beginResetModel()
        self._lines = tuple(lines)
        self.endResetModel()

    def row_of(self, name: str) -> int:
        """The line of a model, or -1."""
        found = (n for n, line in enumerate(self._lines) if line.row and line.row.name == name)
        return next(found, -1)

    def rowCount(self, parent: "AnyIndex | None" = None) -> int:
        """Qt's: lines at the root, none below."""
        return 0 if parent is not None and parent.isValid() else len(self._lines)

    def data(self, index: "AnyIndex", role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Qt's: title, what is said of it, and the line itself under `MODEL_LINE`."""
        if not index.isValid():
            return None
        line = self._lines[index.row()]
        if role == MODEL_LINE:
            return line
        if line.row is None:
            return line.head if role == Qt.ItemDataRole.DisplayRole else None
        if role == Qt.ItemDataRole.DisplayRole:
            return line.row.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return spoken_model(line.row, current=line.row.name == self.current)
        if role == Qt.ItemDataRole.ToolTipRole:
            return line.row.reason or line.row.name
        return None

    def flags(self, index: "AnyIndex") -> Qt.ItemFlag:
        """Qt's: heads can be neither chosen nor reached."""
        if not index.isValid() or self._lines[index.row()].row is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def step(self, start: int, by: int) -> int:
        """The model `by` lines from the line `start`, heads left out; clipped, -1 when none."""
        rows = [n for n, line in enumerate(self._lines) if line.row]
        if not rows:
            return -1
        if start not in rows:
            return rows[0] if by > 0 else rows[-1]
        return rows[min(max(rows.index(start) + by, 0), len(rows) - 1)]
