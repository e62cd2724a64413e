"""The items of the open conversation, and what changed in them."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from app.items import LIVE, Item


class TranscriptModel(QObject):
    """The list of items a view shows.

    Signals: `reset()`, everything is different; `changed(first, last)`, same items with new
    content; `removed(first, last)` and `inserted(first, last)`, told after the fact, in this
    order, with indexes both included.
    """

    reset = Signal()
    changed = Signal(int, int)
    removed = Signal(int, int)
    inserted = Signal(int, int)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._items: list[Item] = []
        self._index: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: int) -> Item:
        return self._items[index]

    def items(self) -> tuple[Item, ...]:
        """All items, in order."""
        return tuple(self._items)

    def index_of(self, item_id: str) -> int:
        """The index of the item with this id, -1 when there is none."""
        return self._index.get(item_id, -1)

    def set_items(self, items: Sequence[Item], from_index: int = 0) -> None:
        """Take the items as they are now, and tell the smallest change.

        `items` is the whole list; before `from_index` it is taken as known to be the same.
        """
        old, new = self._items, list(items)
        start = min(from_index, len(old), len(new))
        if not old or not new:
            if old or new:
                self._take(new, 0)
                self.reset.emit()
            return
        same, dirty = _walk_alike(old, new, start)
        tail = _common_tail(old, new, same)
        if same == 0 and tail == 0:
            self._take(new, 0)
            self.reset.emit()
            return
        self._tell(new, (same, tail), dirty)

    def _tell(self, new: list[Item], ends: tuple[int, int], dirty: list[int]) -> None:
        same, tail = ends
        old = self._items
        gone, came = len(old) - tail - same, len(new) - tail - same
        dirty += [len(new) - k for k in range(tail, 0, -1) if old[-k] != new[-k]]
        start = min([same, *dirty])
        if gone:
            self._take([*new[:same], *new[len(new) - tail :]], start)
            self.removed.emit(same, same + gone - 1)
        self._take(new, start)
        if came:
            self.inserted.emit(same, same + came - 1)
        for first, last in _ranges(dirty):
            self.changed.emit(first, last)

    def _take(self, items: list[Item], start: int) -> None:
        """Hold these items, which are the same ones as before up to `start`."""
        for item in self._items[start:]:
            self._index.pop(item.id, None)
        self._items = items
        for at in range(start, len(items)):
            self._index[items[at].id] = at


def _walk_alike(old: list[Item], new: list[Item], start: int) -> tuple[int, list[int]]:
    """How far both lists hold the same items, and which of these have new content."""
    at, dirty = start, []
    end = min(len(old), len(new))
    while at < end:
        before, after = old[at], new[at]
        if before is not after:
            if before.id != after.id or type(before) is not type(after):
                break
            if before != after:
                dirty.append(at)
        at += 1
    return at, dirty


def _common_tail(old: list[Item], new: list[Item], start: int) -> int:
    """How many items at the end are the same ones, not counting those before `start`."""
    count, most = 0, min(len(old), len(new)) - start
    while count < most and _is_same(old[-1 - count], new[-1 - count]):
        count += 1
    return count


def _is_same(before: Item, after: Item) -> bool:
    """Whether this is one item at two times: a live reply gets another id when it is stored."""
    if type(before) is not type(after):
        return False
    return before.id == after.id or before.id.startswith(LIVE)


def _ranges(indexes: list[int]) -> list[tuple[int, int]]:
    """Ascending indexes as runs."""
    runs: list[tuple[int, int]] = []
    for index in indexes:
        if runs and runs[-1][1] == index - 1:
            runs[-1] = (runs[-1][0], index)
        else:
            runs.append((index, index))
    return runs
