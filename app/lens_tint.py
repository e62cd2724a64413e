"""How each state of the lens looks: a ground, and a rule with a pattern of its own at its left."""

from typing import Literal

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter

from app.theme import Theme
from app.theme.painting import rounded
from engine.lens import Sight

Tint = Sight | Literal[""]
"""A state, or "" for what nothing can be said of yet."""

_RULE_PX = 3
_HOLLOW_PX = 5
_FILLS: dict[Tint, str] = {"verbatim": "l_verb", "shortened": "l_short", "folded": "l_fold"}
_RULES: dict[Tint, tuple[str, int, int]] = {
    "verbatim": ("m_recent", 0, 0),
    "shortened": ("m_pins", 6, 4),
    "folded": ("plum", 3, 3),
}
"""The rule's colour, and how long its dashes and gaps are; 0 for solid."""


def paint_tint(painter: QPainter, band: QRectF, tint: Tint, theme: Theme) -> None:
    """Paint a state into a band; nothing where nothing can be said."""
    if fill := _FILLS.get(tint, ""):
        rounded(painter, band, theme.px(6), theme.color(fill))
    if tint in _RULES:
        color, dash, gap = _RULES[tint]
        rule = QRectF(band.left(), band.top(), theme.px(_RULE_PX), band.height())
        _paint_rule(painter, rule, theme.color(color), theme.px(dash), theme.px(gap))
    elif tint == "not_sent":
        hollow = QRectF(band.left(), band.top(), theme.px(_HOLLOW_PX), band.height())
        rounded(painter, hollow, theme.px(1), theme.color("paper"), theme.color("control"))


def _paint_rule(painter: QPainter, rule: QRectF, color: QColor, dash: int, gap: int) -> None:
    if not dash:
        painter.fillRect(rule, color)
        return
    y = rule.top()
    while y < rule.bottom():
        painter.fillRect(QRectF(rule.left(), y, rule.width(), min(dash, rule.bottom() - y)), color)
        y += dash + gap
