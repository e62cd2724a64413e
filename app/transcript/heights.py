"""Heights of all items, known or guessed, summed so that any place is found in log n. Qt-free."""

from collections.abc import Iterable, Sequence

from app.items import CardItem, DayItem, Item, ReplyItem, UserItem


class Heights:
    """A Fenwick tree of item heights, in whole px."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._heights: list[int] = []
        self._tree: list[int] = [0]
        self._step = 0
        self.reset(heights)

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    def reset(self, heights: Iterable[int]) -> None:
        """Take all heights anew; linear."""
        self._heights = list(heights)
        count = len(self._heights)
        tree = [0, *self._heights]
        for i in range(1, count + 1):
            above = i + (i & -i)
            if above <= count:
                tree[above] += tree[i]
        self._tree = tree
        self._step = 1 << (count.bit_length() - 1) if count else 0

    def set(self, index: int, height: int) -> int:
        """Correct one height; returns by how much it changed."""
        change = height - self._heights[index]
        self._heights[index] = height
        i = index + 1
        while change and i < len(self._tree):
            self._tree[i] += change
            i += i & -i
        return change

    def insert(self, index: int, heights: Sequence[int]) -> None:
        """Put heights before `index`. At the end costs log n each, elsewhere it is linear."""
        if index == len(self._heights):
            for height in heights:
                self._append(height)
            return
        self.reset([*self._heights[:index], *heights, *self._heights[index:]])

    def _append(self, height: int) -> None:
        self._heights.append(height)
        i = len(self._heights)
        low = i - (i & -i)
        self._tree.append(self.top(i - 1) - self.top(low) + height)
        self._step = 1 << (i.bit_length() - 1)

    def remove(self, first: int, last: int) -> None:
        """Take out the heights `first` to `last`, both included."""
        self.reset([*self._heights[:first], *self._heights[last + 1 :]])

    def scale(self, factor: float) -> None:
        """Multiply every height: a new width changes guesses alike."""
        self.reset(max(1, round(height * factor)) for height in self._heights)

    def top(self, index: int) -> int:
        """The sum of the heights before `index`."""
        total = 0
        while index > 0:
            total += self._tree[index]
            index -= index & -index
        return total

    def total(self) -> int:
        """The sum of all heights."""
        return self.top(len(self._heights))

    def at(self, y: int) -> int:
        """The index of the item that covers `y`; the last one below the end, 0 when empty."""
        index = 0
        step = self._step
        while step:
            probe = index + step
            if probe < len(self._tree) and self._tree[probe] <= y:
                y -= self._tree[probe]
                index = probe
            step >>= 1
        return max(0, min(index, len(self._heights) - 1))


def _letters(text: str) -> int:
    """Roughly how many Latin letters wide the text is: a Han character counts twice."""
    if text.isascii():
        return len(text)
    return len(text) + (len(text.encode("utf-8", "replace")) - len(text)) // 2


def _flow(text: str, width: float, advance: float, line: float) -> float:
    per_line = max(12.0, width / advance)
    return line * (_letters(text) / per_line + text.count("\n") * 0.6 + 0.6)


def estimate(item: Item, width: int, zoom: float = 1.0) -> int:
    """A cheap guess of an item's height in px, from its source alone."""
    match item:
        case DayItem():
            guess = 32 * zoom
        case UserItem():
            spoken = _flow(item.text, min(width, 560 * zoom), 7.6 * zoom, 24 * zoom)
            guess = min(spoken, 260 * zoom) + 28 * zoom
        case ReplyItem():
            guess = _flow(item.text, width, 7.7 * zoom, 26 * zoom) + 52 * zoom
            guess += 24 * zoom if item.thinking else 0
        case CardItem():
            body = min(_flow(item.body, width, 7 * zoom, 22 * zoom), 66 * zoom)
            guess = 92 * zoom + body + (32 * zoom if item.values else 0)
    return max(1, round(guess))
