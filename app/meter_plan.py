"""What the meter shows, and how its bar is laid out. Pure; no Qt."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

Part = Literal["system", "pins", "summary", "recent", "files", "thinking", "draft"]
PARTS: tuple[Part, ...] = ("system", "pins", "summary", "recent", "files", "thinking", "draft")
"""The segments in the order in which they stand in the prompt, and in the bar."""

_NEAR = 0.9  # of the budget: from here the figure and the tick warn
_LEAST_PX = 3.0
GAP_PX = 1.0
"""Room after each segment, in logical px; part of its width."""


@dataclass(frozen=True, slots=True)
class MeterValues:
    """Tokens of each part of the prompt, and what they have to fit into.

    Attributes:
        budget: most tokens the prompt may have, 0 while unknown.
        window: the whole window, 0 while unknown.
        exact: counted by the model's own tokenizer; estimated otherwise.
    """

    system: int = 0
    pins: int = 0
    summary: int = 0
    recent: int = 0
    files: int = 0
    thinking: int = 0
    draft: int = 0
    budget: int = 0
    window: int = 0
    exact: bool = True

    @classmethod
    def total(
        cls, used: int, budget: int, window: int, *, draft: int = 0, exact: bool = True
    ) -> "MeterValues":
        """Values when only the sum is known; `used` includes the draft."""
        return cls(
            recent=max(0, used - draft), draft=draft, budget=budget, window=window, exact=exact
        )

    def grown_to(self, used: int, *, exact: bool) -> "MeterValues":
        """The same parts when the whole is known to be another, as after a reply.

        What is not known of the parts is put down to the recent messages.
        """
        others = self.used - self.recent
        return replace(self, recent=max(0, used - others), exact=exact)

    @property
    def used(self) -> int:
        """Tokens of the whole prompt."""
        return sum(getattr(self, part) for part in PARTS)

    @property
    def free(self) -> int:
        """Tokens the prompt may still grow by."""
        return max(0, self.budget - self.used)

    @property
    def reserve(self) -> int:
        """Tokens kept for the reply."""
        return max(0, self.window - self.budget)

    @property
    def level(self) -> Literal["ok", "near", "over"]:
        """How close to the budget it is; "ok" while that is unknown."""
        if not self.budget or self.used < self.budget * _NEAR:
            return "ok"
        return "near" if self.used <= self.budget else "over"


@dataclass(frozen=True, slots=True)
class Piece:
    """One painted stretch of the bar, in logical px from its start.

    Attributes:
        name: a part, "over", "free" or "reserve".
    """

    name: str
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class Bar:
    """A planned bar: its stretches from left to right, and where the prompt budget ends."""

    pieces: tuple[Piece, ...]
    tick: float | None


def plan_bar(
    tokens: Mapping[str, float], budget: float, window: float, width: float, dpr: float
) -> Bar:
    """Lay the segments into a bar of `width` px, every edge on a device pixel.

    Each segment with a token gets at least 3 px and 1 px of gap after it; what that takes too
    much comes off the free room, and off the widest segment when there is none. Over the budget
    the segments are cut at the tick, and what exceeds is one red piece behind it.
    """
    if window <= 0 or width <= 0:
        return Bar((Piece("free", 0.0, _snap(max(0.0, width), dpr)),), None)
    scale = width / window
    tick = min(budget, window) * scale if budget > 0 else None
    limit = width if tick is None else tick
    over = max(0.0, sum(tokens.values()) * scale - limit)
    widths = {name: max(_LEAST_PX + GAP_PX, n * scale) for name, n in tokens.items() if n > 0}
    pieces, end = list[Piece](), 0.0
    for name, wide in (widths if over else _narrowed(widths, limit)).items():
        pieces.append(Piece(name, end, min(end + wide, limit)))
        end += wide
    pieces.append(Piece("free", end, limit))
    red = min(width, limit + max(over, _LEAST_PX)) if over else limit
    pieces += (Piece("over", limit, red), Piece("reserve", red, width))
    snapped = (Piece(p.name, _snap(p.left, dpr), _snap(p.right, dpr)) for p in pieces)
    return Bar(
        tuple(p for p in snapped if p.right > p.left), None if tick is None else _snap(tick, dpr)
    )


def _narrowed(widths: dict[str, float], limit: float) -> dict[str, float]:
    """The same widths, the widest reduced so that all end at `limit`."""
    widths, excess = dict(widths), sum(widths.values()) - limit
    while excess > 0 and widths:
        widest = max(widths, key=widths.__getitem__)
        taken = min(excess, widths[widest])
        widths[widest] -= taken
        excess -= taken
        if widths[widest] <= 0:
            del widths[widest]
    return widths


def _snap(x: float, dpr: float) -> float:
    return round(x * dpr) / dpr


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the popup: a part's key (see `part_title`) and its tokens."""

    part: str
    tokens: int


def plan_rows(values: MeterValues) -> tuple[tuple[Row, ...], ...]:
    """The popup's lines in groups parted by a rule, as in the side panel."""
    parts = [Row(part, getattr(values, part)) for part in PARTS if getattr(values, part)]
    sums = [Row("prompt", values.used)]
    if values.budget:
        over = values.used - values.budget
        sums.append(Row("over", over) if over > 0 else Row("free", values.free))
    if values.window:
        sums += [Row("reserve", values.reserve), Row("window", values.window)]
    return tuple(group for group in (tuple(parts), tuple(sums)) if group)
