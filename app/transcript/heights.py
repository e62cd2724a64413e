"""Heights of all items, known or guessed, summed so that any place is found in log n. Qt-free."""

from collections.abc import Iterable, Sequence

from app.items import CardItem, Item, ReplyItem, UserItem
from app.transcript.thumbs import plan_thumbs, sizes_of

_LOOKED_AT = 300
"""Characters in which line ends are counted; the rest is taken for the same kind of text."""


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


def estimate(item: Item, width: int, zoom: float = 1.0) -> int:
    """A cheap guess of an item's height in px, from its source alone."""
    return Guess(width, zoom)(item)


class Guess:
    """Guesses the heights of items in a column; what is the same for all is worked out once.

    Ten thousand are guessed before a conversation shows, so it is short on purpose.
    """

    def __init__(self, width: int, zoom: float = 1.0) -> None:
        self._zoom = zoom
        self._reading = max(12.0, width / (7.7 * zoom))  # letters a line
        self._spoken = max(12.0, min(width, 560 * zoom) / (7.6 * zoom))
        self._small = max(12.0, width / (7 * zoom))

    def __call__(self, item: Item) -> int:
        """The guess for an item, in px."""
        return max(1, round(self._guess(item) * self._zoom))

    def _guess(self, item: Item) -> float:
        """The guess at zoom 1."""
        if isinstance(item, ReplyItem):
            guess = _lines(item.text, self._reading) * 26 + 52
            return guess + 24 if item.thinking else guess
        if isinstance(item, UserItem):
            said = min(_lines(item.text, self._spoken) * 24, 260) if item.text else 0.0
            return said + 28 + self._pictures(item)
        if isinstance(item, CardItem):
            body = min(_lines(item.body, self._small) * 22, 66)
            return 92 + body + (32 if item.values else 0)
        return 32

    def _pictures(self, item: UserItem) -> float:
        if not item.images:
            return 0.0
        return plan_thumbs(sizes_of(item.images), self._spoken * 7.6).height / self._zoom


def _lines(text: str, per_line: float) -> float:
    length = len(text)
    breaks = float(text.count("\n", 0, _LOOKED_AT))
    if length > _LOOKED_AT:
        breaks *= length / _LOOKED_AT
    if not text.isascii():
        length = _letters(text)
    return length / per_line + breaks * 0.6 + 0.6


def _letters(text: str) -> int:
    """Roughly how many Latin letters wide the text is: a Han character counts twice."""
    return len(text) + (len(text.encode("utf-8", "replace")) - len(text)) // 2
