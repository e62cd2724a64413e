"""The inside of a card: head, text, exact values, buttons. Cards and failed replies share it."""

from dataclasses import dataclass, replace

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from app.items import CardItem
from app.theme.painting import rounded
from app.transcript import words
from app.transcript.box import Box, Scene
from app.transcript.offers import button_parts, words_of
from app.transcript.parts import Part, elided, flow, height_of, row, width_of
from app.transcript.prose import Prose

_ICONS = {"compaction": "fold", "compacting": "fold", "error": "warning", "local": "info"}
_TONES = {
    "plum": ("plum", "plum_line"),
    "amber": ("amber", "amber_line"),
    "red": ("red", "red_line"),
    "plain": ("ink2", "line"),
}
_SUMMARY_LINES = 3
_BAR = 4


@dataclass(frozen=True, slots=True)
class CardPlace:
    """Where a card stands in its box: its top and the width of the column."""

    top: float
    width: int


class CardFace:
    """Lays one card out into the lists of the box that holds it, and paints its ground.

    `kind` names the offered buttons: the item's kind, or "failed" for a reply's error. `prose`
    is the body, None when there is none; it belongs to the box (is one of its runs).
    """

    def __init__(self, box: Box, kind: str, prose: Prose | None) -> None:
        self.box = box
        self.kind = kind
        self.prose = prose
        self.rect = QRectF()
        self._bar: QRectF | None = None
        self._share = 0.0
        self._tone = "plain"
        self._is_undone = False

    def arrange(self, item: CardItem, place: CardPlace) -> float:
        """Place all of it; returns the card's height."""
        px = self.box.px
        self._tone, self._is_undone = item.tone, item.is_undone
        left, right = px(16), place.width - px(16)
        middle = place.top + px(24)
        self._arrange_head(item, left, right, middle)
        y = middle + px(10)
        indent = px(26) if self.kind in ("error", "failed", "why", "local", "compacting") else 0
        y = self._arrange_body(item, QRectF(left + indent, y, right - left - indent, 0))
        y = self._arrange_bar(item, left + indent, y)
        y = self._arrange_values(item, QRectF(left, y, right - left, 0))
        y = self._arrange_buttons(item, QRectF(left + indent, y, right - left - indent, 0))
        self.rect = QRectF(0, place.top, place.width, y + px(14) - place.top)
        return self.rect.height()

    def _arrange_head(self, item: CardItem, left: int, right: int, middle: float) -> None:
        box, px = self.box, self.box.px
        box.add_picture(QPointF(left, middle), _ICONS[item.kind], 18, _TONES[item.tone][0])
        if item.has_originals:
            text = words_of("hide_originals" if item.is_open else "show_originals")
            part = Part(QRectF(), text, "show_originals", "link", text=text, role="toggle")
            part = replace(part, is_open=item.is_open)
            right -= round(width_of(part, box.theme))
            top = middle - height_of(part, box.theme) / 2
            box.parts += row([part], right, top, box.theme)
        start = left + px(26)
        title = QPointF(start, middle)
        end = box.add_label(title, item.title, ("interface_bold", "ink"), right - start)
        facts = QPointF(end + px(8), middle)
        if item.facts and right - facts.x() > px(24):
            box.add_label(facts, item.facts, ("small", "ink3"), right - facts.x())

    def _arrange_body(self, item: CardItem, area: QRectF) -> float:
        """The text, folded to three lines in a compaction card; returns where it ends."""
        prose, px = self.prose, self.box.px
        if prose is None or not item.body:
            return area.top()
        above = px(6) if self.kind == "compaction" else px(4)
        prose.set_width(area.width())
        prose.decorate()
        prose.origin = QPointF(area.left(), area.top() + above - prose.lift)
        prose.shown = None
        bottom = area.top() + above + prose.height
        if self.kind == "compaction":
            bottom = self._fold_body(prose, area.left(), bottom)
        self.box.parts += prose.placed_parts()
        return bottom

    def _fold_body(self, prose: Prose, left: float, bottom: float) -> float:
        box = self.box
        line = box.theme.line_height("summary")
        if prose.height <= _SUMMARY_LINES * line + 1:
            return bottom
        is_open = box.desk.is_open(box.item.id, "toggle_card")
        text = QCoreApplication.translate("Transcript", "More")
        if is_open:
            text = QCoreApplication.translate("Transcript", "Less")
        else:
            prose.shown = _SUMMARY_LINES * line
            bottom = prose.origin.y() + prose.shown
        part = Part(
            QRectF(), text, "toggle_card", "link", text=text, role="toggle", is_open=is_open
        )
        box.parts += row([part], left, bottom + box.px(2), box.theme)
        return bottom + box.px(2) + height_of(part, box.theme)

    def _arrange_bar(self, item: CardItem, left: float, y: float) -> float:
        self._bar = None
        if item.kind != "compacting":
            return y
        px = self.box.px
        self._share = min(1.0, item.done / item.total) if item.total else 0.0
        self._bar = QRectF(left, y + px(6), px(360), px(_BAR))
        return y + px(6 + _BAR)

    def _arrange_values(self, item: CardItem, area: QRectF) -> float:
        """The tags of exact values: one row, the rest behind "4 more"."""
        if not item.values:
            return area.top()
        box, px = self.box, self.box.px
        top = area.top() + px(10)
        label = QCoreApplication.translate("Transcript", "Exact values")
        place = QPointF(area.left(), top + px(11))
        first = box.add_label(place, label, ("small", "ink3"), area.width()) + px(8)
        area = QRectF(area.left(), top, area.width(), 0)
        parts = [self._tag(at, value, area.width()) for at, value in enumerate(item.values)]
        placed = flow(parts, area, first, box.theme, gap=6)
        if not box.desk.is_open(box.item.id, "toggle_values"):
            placed = self._first_row(placed, area)
        box.parts += placed
        return placed[-1].rect.bottom()

    def _tag(self, at: int, value: str, width: float) -> Part:
        source = QCoreApplication.translate("Transcript", "Copy {0}")
        font = self.box.theme.font("chip")
        text = elided(value, font, width - self.box.px(14))
        return Part(QRectF(), source.format(value), f"copy_value:{at}", "tag", text=text)

    def _first_row(self, placed: list[Part], area: QRectF) -> list[Part]:
        """Keep what stands in the first row, and say how many more there are."""
        box, gap = self.box, self.box.px(6)
        kept = [part for part in placed if part.rect.top() == placed[0].rect.top()]
        while len(kept) < len(placed):
            source = QCoreApplication.translate("Transcript", "{0} more")
            text = source.format(words.number(len(placed) - len(kept)))
            more = Part(
                QRectF(), text, "toggle_values", "more", text=text, role="toggle", is_open=False
            )
            left = kept[-1].rect.right() + gap
            wide = width_of(more, box.theme)
            if left + wide <= area.right() or len(kept) == 1:
                rect = QRectF(left, kept[-1].rect.top(), wide, height_of(more, box.theme))
                return [*kept, replace(more, rect=rect)]
            kept.pop()
        return kept

    def _arrange_buttons(self, item: CardItem, area: QRectF) -> float:
        """The buttons, and at their right the time and the model."""
        box, px = self.box, self.box.px
        offers = box.desk.offers.get(self.kind, ()) if item.offers is None else item.offers
        parts = button_parts(self.kind, offers)
        facts = " · ".join(
            part
            for part in (
                words.clock(item.when_ms) if item.when_ms else "",
                box.desk.titles.get(item.model, item.model),
            )
            if part
        )
        if not parts and self.kind != "compaction":
            return area.top()
        area = QRectF(area.left(), area.top() + px(12), area.width(), 0)
        placed = flow(parts, area, area.left(), box.theme)
        box.parts += placed
        bottom = placed[-1].rect.bottom() if placed else area.top() + px(16)
        used = max((part.rect.right() for part in placed), default=area.left())
        wide = box.metrics("small").horizontalAdvance(facts)
        if facts and self.kind == "compaction" and used + wide + px(8) < area.right():
            place = QPointF(area.right() - wide, bottom - (px(14) if placed else px(8)))
            box.add_label(place, facts, ("small", "ink3"), wide + 1)
        return bottom

    def paint(self, painter: QPainter, scene: Scene) -> None:
        """The card's box, and the bar of one that runs."""
        theme = scene.theme
        line = theme.color(_TONES[self._tone][1])
        if self._is_undone:
            _dashed(painter, self.rect, theme.px(10), theme.color("raised"), line)
        else:
            rounded(painter, self.rect, theme.px(10), theme.color("raised"), line)
        if self._bar is not None:
            paint_bar(painter, self._bar, self._share, scene)


def _dashed(painter: QPainter, rect: QRectF, radius: float, fill: QColor, line: QColor) -> None:
    """A box with a dashed border: what it stands for does not count now."""
    rounded(painter, rect, radius, fill)
    painter.save()
    pen = QPen(line, 1, Qt.PenStyle.CustomDashLine)
    pen.setDashPattern([4, 3])
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
    painter.restore()


def paint_bar(painter: QPainter, rect: QRectF, share: float, scene: Scene) -> None:
    """A bar of progress: the track, and `share` (0…1) of it filled."""
    radius = rect.height() / 2
    rounded(painter, rect, radius, scene.theme.color("m_free"))
    if share > 0:
        done = QRectF(
            rect.left(), rect.top(), max(rect.height(), rect.width() * share), rect.height()
        )
        rounded(painter, done, radius, scene.theme.color("accent"))
