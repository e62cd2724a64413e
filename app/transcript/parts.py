"""What can be used in the transcript: small painted controls, hit-tested and spoken.

A part is a value: where it is, what it is called, what it does. One list of them for each item
feeds painting, the pointer, the keyboard and the screen reader alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from app.theme import Role, Theme
from app.theme.painting import draw_focus_ring, rounded

PartRole = Literal["button", "toggle", "link"]
Look = Literal[
    "primary", "plain", "quiet", "icon", "line", "link", "tag", "more", "code", "picture"
]
_FONTS: dict[Look, Role] = {
    "primary": "interface_medium",
    "plain": "interface_medium",
    "quiet": "interface_medium",
    "line": "small",
    "link": "small_medium",
    "tag": "chip",
    "more": "small",
    "code": "tiny_medium",
}
_HEIGHTS: dict[Look, int] = {"tag": 22, "more": 22, "link": 20, "line": 20, "code": 24}
_PADDINGS: dict[Look, int] = {
    "primary": 12,
    "plain": 12,
    "quiet": 8,
    "tag": 7,
    "more": 7,
    "code": 8,
}


@dataclass(frozen=True, slots=True)
class Part:
    """One control of an item.

    `rect` is in the item's coordinates; `name` is what a screen reader says; `action` is told by
    the view when it is used. `icon` and `text` are painted in the manner of `look`; a part that
    is `shy` shows only while its item is under the pointer or has the focus. An `is_open` that is
    not None makes it something that folds. A picture is painted by its item. Links in text have the look "link" and no text;
    `rects` are their lines.
    """

    rect: QRectF
    name: str
    action: str
    look: Look
    text: str = ""
    icon: str = ""
    tone: str = "ink2"
    role: PartRole = "button"
    shy: bool = False
    is_open: bool | None = None
    rects: tuple[QRectF, ...] = ()

    def contains(self, point: QPointF) -> bool:
        """Whether a point of the item lies on it."""
        return self.rect.contains(point) or any(rect.contains(point) for rect in self.rects)

    def reaches(self, area: QRectF) -> bool:
        """Whether any of it lies in an area of the item, whatever stands beside that."""
        rects = self.rects or (self.rect,)
        return rects[0].top() <= area.bottom() and rects[-1].bottom() >= area.top()

    def moved(self, by: QPointF) -> "Part":
        """The same part elsewhere."""
        rects = tuple(rect.translated(by) for rect in self.rects)
        return replace(self, rect=self.rect.translated(by), rects=rects)


@dataclass(frozen=True, slots=True)
class PartState:
    """How a part is just now."""

    hovered: bool = False
    pressed: bool = False
    focused: bool = False
    copied: bool = False


def copied_words() -> str:
    """What stands on a Copy button for a moment after it was used."""
    return QCoreApplication.translate("Transcript", "Copied")


def width_of(part: Part, theme: Theme) -> float:
    """How wide the part wants to be, in px."""
    if part.look == "icon":
        return theme.px(28)
    text = QFontMetricsF(theme.font(_FONTS[part.look])).horizontalAdvance(part.text)
    icon = theme.px(_icon_size(part) + _icon_gap(part)) if part.icon else 0
    return round(text + icon + 2 * theme.px(_PADDINGS.get(part.look, 0)) + 0.5)


def height_of(part: Part, theme: Theme) -> int:
    """How high the part is, in px."""
    return theme.px(_HEIGHTS.get(part.look, 28))


def row(parts: Sequence[Part], left: float, top: float, theme: Theme, gap: int = 8) -> list[Part]:
    """The parts beside one another from `left`, the highest at `top`, the others centred."""
    placed = []
    tallest = max((height_of(part, theme) for part in parts), default=0)
    for part in parts:
        width, height = width_of(part, theme), height_of(part, theme)
        rect = QRectF(left, top + (tallest - height) / 2, width, height)
        placed.append(replace(part, rect=rect))
        left += width + theme.px(gap)
    return placed


def flow(
    parts: Sequence[Part], area: QRectF, first: float, theme: Theme, gap: int = 8
) -> list[Part]:
    """The parts in rows of `area`'s width from its top; the first row begins at `first`."""
    placed: list[Part] = []
    left, top, step = first, area.top(), theme.px(gap)
    for part in parts:
        width, height = width_of(part, theme), height_of(part, theme)
        if left + width > area.right() + 0.5 and left > area.left():
            left, top = area.left(), top + height + step
        placed.append(replace(part, rect=QRectF(left, top, width, height)))
        left += width + step
    return placed


def _icon_size(part: Part) -> int:
    return 14 if part.look in ("line", "link", "more", "code") else 16


def _icon_gap(part: Part) -> int:
    return 4 if part.look in ("primary", "plain", "quiet") else 6


def paint_part(painter: QPainter, part: Part, theme: Theme, state: PartState) -> None:
    """Paint one part as it is now."""
    if part.look == "link" and not part.text:
        _paint_link_focus(painter, part, theme, state)
        return
    fill, line = _ground(part, theme, state)
    radius = theme.px(4 if part.look in ("tag", "more", "line", "code") else 6)
    if fill is not None:
        rounded(painter, part.rect, radius, fill, line or fill)
    _paint_face(painter, part, theme, state)
    if state.focused:
        draw_focus_ring(
            painter, part.rect, radius, theme.color("accent"), inside=part.look == "icon"
        )


def _paint_link_focus(painter: QPainter, part: Part, theme: Theme, state: PartState) -> None:
    """A link's text belongs to its document; here it gets its underline and ring."""
    for rect in part.rects:
        if state.hovered or state.focused:
            below = rect.bottom() - theme.px(4)
            painter.fillRect(QRectF(rect.left(), below, rect.width(), 1), theme.color("accent"))
        if state.focused:
            draw_focus_ring(painter, rect, theme.px(4), theme.color("accent"))


def _ground(part: Part, theme: Theme, state: PartState) -> tuple[QColor | None, QColor | None]:
    """Fill and border of a part, None for none."""
    if part.look == "primary":
        pressed = "accent_down" if state.pressed else "accent_hover"
        return theme.color(pressed if state.pressed or state.hovered else "accent"), None
    if state.pressed and part.look in ("plain", "quiet", "icon", "code"):
        return theme.color("selected"), None
    if part.look in ("plain", "tag"):
        resting = "raised" if part.look == "plain" else "sunken"
        return theme.color("hover" if state.hovered else resting), theme.color("line")
    if state.hovered and part.look in ("quiet", "icon", "more", "code"):
        return theme.color("hover"), None
    return None, None


def _tone(part: Part, state: PartState) -> str:
    if part.look == "primary":
        return "on_accent"
    if part.look == "link":
        return "accent"
    if part.look in ("plain", "tag"):
        return "ink"
    return "ink2" if part.look == "line" and state.hovered else part.tone


def _paint_face(painter: QPainter, part: Part, theme: Theme, state: PartState) -> None:
    icon = "check" if state.copied else part.icon
    text = copied_words() if state.copied and part.look in ("quiet", "code") else part.text
    tone = _tone(part, state)
    rect = part.rect
    left = rect.left() + theme.px(_PADDINGS.get(part.look, 0))
    if icon:
        size = theme.px(_icon_size(part))
        if part.look == "icon":
            left = rect.center().x() - size / 2
        elif part.look in ("primary", "plain"):
            left -= theme.px(2)
        place = QPointF(left, rect.center().y() - size / 2)
        ink = "ink2" if part.look == "plain" else tone
        dpr = painter.device().devicePixelRatio()
        painter.drawPixmap(snapped(place, dpr), theme.pixmap(icon, ink, size, dpr))
        left += size + theme.px(_icon_gap(part))
    if text:
        font = theme.font(_FONTS[part.look])
        draw_text(painter, QPointF(left, rect.center().y()), text, font, theme.color(tone))
        if part.look == "link" and state.hovered:
            width = QFontMetricsF(font).horizontalAdvance(text)
            below = rect.center().y() + theme.px(7)
            painter.fillRect(QRectF(left, below, width, 1), theme.color(tone))


def snapped(point: QPointF, dpr: float) -> QPointF:
    """The nearest place on whole device pixels, so that pictures stay sharp."""
    return QPointF(round(point.x() * dpr) / dpr, round(point.y() * dpr) / dpr)


def draw_text(
    painter: QPainter, middle_left: QPointF, text: str, font: QFont, color: QColor
) -> float:
    """Draw one line, centred on `middle_left` by its capitals; returns where it ends."""
    metrics = QFontMetricsF(font)
    baseline = middle_left.y() + (metrics.ascent() - metrics.descent()) / 2
    painter.setFont(font)
    painter.setPen(color)
    painter.drawText(QPointF(middle_left.x(), round(baseline)), text)
    return middle_left.x() + metrics.horizontalAdvance(text)


def elided(text: str, font: QFont, width: float) -> str:
    """The text, cut with an ellipsis when it is wider than `width` px."""
    return QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, max(0.0, width))
