"""The card that asks before it folds: the question, what it would do in figures, what would fold."""

from PySide6.QtCore import QCoreApplication, QPointF, QRectF
from PySide6.QtGui import QPainter, QTextDocument

from app.items import CardItem
from app.theme import Role
from app.theme.painting import rounded
from app.transcript import words
from app.transcript.box import Box, Desk, Label, Scene
from app.transcript.offers import words_of
from app.transcript.parts import Look, Part, elided, height_of, row, width_of
from app.transcript.run import Face, Run, set_plain

_SHOWN = 3
_NARROW = 520  # px: below this the figures stand in two rows
_LINE = 26
_LOOKS: dict[str, Look] = {"compact_now": "primary", "not_now": "quiet", "always": "link"}


class AskBox(Box):
    """One question; it never keeps anybody from typing."""

    item: CardItem

    def __init__(self, item: CardItem, desk: Desk) -> None:
        super().__init__(item, desk)
        self.runs = [Run(QTextDocument(desk.owner))]
        desk.built += 1
        self._rules: list[QRectF] = []
        self._preview = QRectF()
        self._card = QRectF()
        self.refill()

    def refill(self) -> None:
        """The reason's document."""
        theme = self.theme
        face = Face(theme.font("interface"), theme.line_height("interface"), theme.color("ink2"))
        set_plain(self.runs[0].document, self.item.body, face)

    def arrange(self, width: int) -> float:
        """From top to bottom, and the gap below."""
        px = self.px
        left, right = px(16), width - px(16)
        middle = px(24)
        self.add_picture(QPointF(left, middle), "fold", 18, "plum")
        place = QPointF(left + px(26), middle)
        self.add_label(place, self.item.title, ("interface_bold", "ink"), right - place.x())
        run = self.runs[0]
        run.document.setTextWidth(right - left)
        run.origin = QPointF(left, middle + px(14) - run.lift)
        y = run.origin.y() + run.height + px(14)
        y = self._arrange_figures(QRectF(left, y, right - left, 0))
        y = self._arrange_preview(QRectF(left, y + px(12), right - left, 0))
        y = self._arrange_buttons(QRectF(left, y + px(12), right - left, 0))
        self._card = QRectF(0, 0, width, y + px(14))
        return self._card.height() + px(16)

    def _arrange_figures(self, area: QRectF) -> float:
        """Facts in columns: label, value, note."""
        px, figures = self.px, self.item.figures
        self._rules = []
        if not figures:
            return area.top()
        columns = len(figures) if area.width() >= px(_NARROW) else 2
        wide, high = area.width() / columns, px(56)
        for at, figure in enumerate(figures):
            x = area.left() + (at % columns) * wide
            y = area.top() + (at // columns) * (high + px(8))
            if at % columns:
                self._rules.append(QRectF(x, y, 1, high))
                x += px(14)
            room = wide - px(22)
            lines: tuple[tuple[str, Role, str, int], ...] = (
                (figure.label, "small", "ink2", 8),
                (figure.value, "title", "ink", 28),
                (figure.note, "small", "ink3", 48),
            )
            for text, role, color, below in lines:
                font = self.theme.font(role)
                shown = elided(text, font, room)
                self.labels.append(Label(QPointF(x, y + px(below)), shown, role, color))
        rows = (len(figures) + columns - 1) // columns
        return area.top() + rows * (high + px(8)) - px(8)

    def _arrange_preview(self, area: QRectF) -> float:
        """The box of what would fold: the first of it, all of it on demand."""
        px, lines = self.px, self.item.preview
        self._preview = QRectF()
        if not lines:
            return area.top() - px(12)
        is_open = self.desk.is_open(self.item.id, "show_all")
        shown = lines if is_open else lines[:_SHOWN]
        inside = area.adjusted(px(14), 0, -px(14), 0)
        middle = area.top() + px(18)
        head = QCoreApplication.translate("Transcript", "What would fold")
        self.add_label(QPointF(inside.left(), middle), head, ("small", "ink2"), inside.width() / 2)
        if len(lines) > _SHOWN:
            self._add_all(is_open=is_open, right=inside.right(), middle=middle)
        gap = self.metrics("small").horizontalAdvance("00:00  ") + px(8)
        for at, (when, text) in enumerate(shown):
            y = middle + px(_LINE) * (at + 1)
            self.add_label(QPointF(inside.left(), y), words.clock(when), ("small", "ink3"), gap)
            place = QPointF(inside.left() + gap, y)
            self.add_label(place, text, ("interface", "ink"), inside.width() - gap)
        bottom = middle + px(_LINE) * len(shown) + px(16)
        self._preview = QRectF(area.left(), area.top(), area.width(), bottom - area.top())
        return bottom

    def _add_all(self, *, is_open: bool, right: float, middle: float) -> None:
        source = QCoreApplication.translate("Transcript", "All {0}")
        text = source.format(words.number(len(self.item.preview)))
        if is_open:
            text = QCoreApplication.translate("Transcript", "Show less")
        part = Part(QRectF(), text, "show_all", "link", text=text, role="toggle", is_open=is_open)
        left = right - width_of(part, self.theme)
        top = middle - height_of(part, self.theme) / 2
        self.parts += row([part], left, top, self.theme)

    def _arrange_buttons(self, area: QRectF) -> float:
        """The answers; the one that settles it for good stands apart, where there is room."""
        parts = []
        for action in self.item.offers or ():
            text = words_of(action)
            look = _LOOKS.get(action, "plain")
            parts.append(Part(QRectF(), text, action, look, text=text))
        placed = row(parts, area.left(), area.top(), self.theme)
        last = placed[-1] if placed else None
        if last is not None and last.action == "always":
            spare = area.right() - last.rect.right()
            if spare >= 0:
                placed[-1] = last.moved(QPointF(spare, 0))
            else:
                below = placed[0].rect.bottom() + self.px(8) - last.rect.top()
                placed[-1] = last.moved(QPointF(area.left() - last.rect.left(), below))
        self.parts += placed
        return max((part.rect.bottom() for part in placed), default=area.top())

    def paint_ground(self, painter: QPainter, scene: Scene) -> None:
        """The card, the lines between the figures, the box of the preview."""
        color = scene.theme.color
        rounded(painter, self._card, self.px(10), color("plum_bg"), color("plum_line"))
        for rule in self._rules:
            painter.fillRect(rule, color("plum_line"))
        if not self._preview.isEmpty():
            rounded(painter, self._preview, self.px(8), color("raised"), color("plum_line"))
