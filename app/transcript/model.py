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

    def tail(self, first: int) -> tuple[Item, ...]:
        """The items from an index on."""
        return tuple(self._items[first:])

    def set_items(self, items: Sequence[Item], from_index: int = 0) -> None:
        """Take the items as they are now, and tell the smallest change.

        `items` is the whole list; before `from_index` it is taken as known to be the same.
        """
        self.set_tail(items[from_index:], from_index)

    def set_tail(self, items: Sequence[Item], first: int = 0) -> None:
        """Take the items from `first` on as they are now, and tell the smallest change.

        Those before are the same; they are not even looked at.
        """
        first = min(first, len(self._items))
        old, new = self._items[first:], list(items)
        if not first and not (old and new):
            if old or new:
                self._take(new, 0)
                self.reset.emit()
            return
        same, dirty = _walk_alike(old, new)
        tail = _common_tail(old, new, same)
        if first + same == 0 and tail == 0:
            self._take(new, 0)
            self.reset.emit()
            return
        dirty += [len(new) - k for k in range(tail, 0, -1) if old[-k] != new[-k]]
        self._tell(new, first, (same, tail), dirty)

    def _tell(self, new: list[Item], first: int, ends: tuple[int, int], dirty: list[int]) -> None:
        """Hold `new` from `first` on: `ends` items at its start and end are the same ones."""
        same, tail = ends
        gone, came = len(self._items) - first - tail - same, len(new) - tail - same
        start = min([same, *dirty])
        if gone:
            self._take([*new[start:same], *new[len(new) - tail :]], first + start)
            self.removed.emit(first + same, first + same + gone - 1)
        self._take(new[start:], first + start)
        if came:
            self.inserted.emit(first + same, first + same + came - 1)
        for one, last in _ranges(dirty):
            self.changed.emit(first + one, first + last)

    def _take(self, items: list[Item], start: int) -> None:
        """Hold these items from `start` on."""
        for item in self._items[start:]:
            self._index.pop(item.id, None)
        self._items[start:] = items
        for at, item in enumerate(items, start):
            self._index[item.id] = at


def _walk_alike(old: list[Item], new: list[Item]) -> tuple[int, list[int]]:
    """How far both lists hold the same items, and which of these have new content."""
    at, dirty = 0, []
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
