"""Painting that stays sharp: whole device pixels at every scale, lines as filled paths.

Coordinates are logical px of the painter's device. A painter that is translated must be so by
whole device pixels (`snap` the offset), or lines fall between them again.
"""

import math

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath

from app.theme.theme import Theme

FOCUS_WIDTH = 2  # the focus ring's thickness
FOCUS_GAP = 2  # between an outside ring and its control


def ratio_of(painter: QPainter) -> float:
    """Device pixels a logical px where `painter` paints."""
    return painter.device().devicePixelRatioF()


def snap(x: float, dpr: float) -> float:
    """The nearest place that lies between two device pixels."""
    return math.floor(x * dpr + 0.5) / dpr


def snapped(rect: QRectF, dpr: float) -> QRectF:
    """`rect` with every edge between device pixels."""
    left, top = snap(rect.left(), dpr), snap(rect.top(), dpr)
    return QRectF(left, top, snap(rect.right(), dpr) - left, snap(rect.bottom(), dpr) - top)


def line_width(dpr: float) -> float:
    """A hairline's width: 1 px, rounded to whole device pixels, never none."""
    return max(1, math.floor(dpr + 0.5)) / dpr


def rounded(
    painter: QPainter,
    rect: QRectF,
    radius: float,
    fill: QColor | None = None,
    line: QColor | None = None,
    *,
    width: float = 0.0,
) -> None:
    """A box with round corners: `fill` inside a border of `line`, one hairline wide.

    Another `width` is in logical px. Without a fill the inside is left as it is.
    """
    dpr = ratio_of(painter)
    outer = snapped(rect, dpr)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if line is None:
        if fill is not None:
            painter.fillPath(_path(outer, radius), fill)
    else:
        edge = snap(width, dpr) or line_width(dpr)
        inner = _path(outer.adjusted(edge, edge, -edge, -edge), radius - edge)
        if fill is None:
            ring = _path(outer, radius)
            ring.addPath(inner)
            ring.setFillRule(Qt.FillRule.OddEvenFill)
            painter.fillPath(ring, line)
        else:
            painter.fillPath(_path(outer, radius), line)
            painter.fillPath(inner, fill)
    painter.restore()


def hairline(
    painter: QPainter,
    x: float,
    y: float,
    length: float,
    color: QColor,
    *,
    vertical: bool = False,
) -> None:
    """A line of `line_width` from (x, y) to the right, or downwards."""
    dpr = ratio_of(painter)
    width = line_width(dpr)
    size = (width, length) if vertical else (length, width)
    box = QRectF(snap(x, dpr), snap(y, dpr), *size)
    painter.fillRect(snapped(box, dpr), color)


def draw_focus_ring(
    painter: QPainter, rect: QRectF, radius: float, color: QColor, *, inside: bool = False
) -> None:
    """The keyboard's focus around `rect` (or within its edge), whose corners have `radius`."""
    if inside:
        rounded(painter, rect, radius, line=color, width=FOCUS_WIDTH)
        return
    grow = FOCUS_GAP + FOCUS_WIDTH
    around = rect.adjusted(-grow, -grow, grow, grow)
    rounded(painter, around, radius + grow, line=color, width=FOCUS_WIDTH)


def draw_icon(
    painter: QPainter, theme: Theme, name: str, color: str, place: tuple[float, float, int]
) -> None:
    """An icon in a token's colour; `place` is left, top and side in px as they will stand."""
    x, y, side = place
    dpr = ratio_of(painter)
    picture = theme.pixmap(name, color, side, dpr)
    painter.drawPixmap(QPointF(snap(x, dpr), snap(y, dpr)), picture)


def draw_key_tag(painter: QPainter, theme: Theme, text: str, right: float, middle: float) -> float:
    """A shortcut in its little frame, ending at `right`, centred on `middle`; gives its left."""
    painter.save()
    painter.setFont(theme.font("tiny_medium"))
    width = painter.fontMetrics().horizontalAdvance(text) + 2 * theme.px(5)
    height = theme.px(18)
    box = QRectF(right - width, middle - height / 2, width, height)
    rounded(painter, box, theme.px(4), theme.color("side"), theme.color("line"))
    painter.setPen(theme.color("ink3"))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
    painter.restore()
    return box.left()


def _path(rect: QRectF, radius: float) -> QPainterPath:
    path = QPainterPath()
    radius = max(0.0, min(radius, rect.width() / 2, rect.height() / 2))
    path.addRoundedRect(rect, radius, radius)
    return path
