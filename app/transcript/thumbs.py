"""Where the pictures of a message stand: small, in rows that end at the right. Pure, Qt-free."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.transcript import Image

_ALONE = 320
_AMONG = 200
_LEAST = 48
_GAP = 8
_UNKNOWN = (160, 120)

Size = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Thumb:
    """A place for a picture, px; the picture itself is `wide` x `high` in the middle of it."""

    left: float
    top: float
    width: int
    height: int
    wide: int
    high: int


@dataclass(frozen=True, slots=True)
class Thumbs:
    """All places, and how high they are together."""

    places: tuple[Thumb, ...]
    height: int


def plan_thumbs(sizes: Sequence[Size], width: float, zoom: float = 1.0) -> Thumbs:
    """Places for pictures of these sizes in a column: each at most 320 px, 200 among others."""
    most = min(width, (_ALONE if len(sizes) == 1 else _AMONG) * zoom)
    gap, least = round(_GAP * zoom), min(width, _LEAST * zoom)
    rows: list[list[Thumb]] = []
    top = used = tallest = 0
    for wide, high in (_fitted(size, most) for size in sizes):
        across, down = max(wide, round(least)), max(high, round(least))
        if rows and used + gap + across <= width:
            used += gap + across
        else:
            top += tallest + gap if rows else 0
            rows.append([])
            used, tallest = across, 0
        tallest = max(tallest, down)
        rows[-1].append(Thumb(0, top, across, down, wide, high))
    places = [place for row in rows for place in _ending_at(row, width, gap)]
    return Thumbs(tuple(places), top + tallest)


def sizes_of(images: Sequence[Image]) -> list[Size]:
    """The sizes that are known without looking at the data; a usual one for others."""
    return [
        (image.width, image.height) if image.width > 0 and image.height > 0 else _UNKNOWN
        for image in images
    ]


def _fitted(size: Size, most: float) -> Size:
    share = min(1.0, most / max(1, *size))
    return max(1, round(size[0] * share)), max(1, round(size[1] * share))


def _ending_at(row: Sequence[Thumb], right: float, gap: int) -> list[Thumb]:
    """A row that ends at the right, its places at one foot."""
    tallest = max(place.height for place in row)
    left = right - sum(place.width for place in row) - gap * (len(row) - 1)
    placed = []
    for place in row:
        foot = place.top + tallest - place.height
        placed.append(Thumb(left, foot, place.width, place.height, place.wide, place.high))
        left += place.width + gap
    return placed
