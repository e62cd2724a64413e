"""The model's reply: thinking, prose, what it does just now, how it ended, what it cost."""

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QTextDocument

from app.items import CardItem, ReplyItem
from app.transcript import words
from app.transcript.box import Box, Desk, Label, Scene
from app.transcript.face import CardFace, CardPlace, paint_bar
from app.transcript.offers import place_icons, place_pin, place_versions, words_of
from app.transcript.parts import Part, elided, height_of, row, width_of
from app.transcript.prose import Prose
from app.transcript.run import Face, Run, set_plain

_BAR_WIDTH = 360


class ReplyBox(Box):
    """One reply without a box round it, over the full column."""

    item: ReplyItem

    def __init__(self, item: ReplyItem, desk: Desk) -> None:
        super().__init__(item, desk)
        self.prose: Prose | None = None
        self.thinking: Run | None = None
        self._thought = ""
        self._card: CardFace | None = None
        self._bar = QRectF()
        self._rule = QRectF()
        self.refill()

    # -- documents -------------------------------------------------------------------------

    def refill(self) -> None:
        """Bring prose, thinking and error up to the item."""
        self._refill_thinking()
        if self.item.text and self.prose is None:
            self.prose = Prose(self.desk, "reading")
        if self.prose is not None:
            self.prose.set_text(self.item.text, is_running=self.item.is_running)
            at = self.prose.changed_from
            self.changed_from = None if at is None else at + self.prose.origin.y()
        self._refill_card()
        texts = (self.thinking, self.prose, self._card.prose if self._card else None)
        self.runs = [run for run in texts if run is not None]

    def _refill_thinking(self) -> None:
        wanted = bool(self.item.thinking) and self.desk.is_open(self.item.id, "toggle_thinking")
        if not wanted:
            if self.thinking is not None:
                self.thinking.drop()
            self.thinking, self._thought = None, ""
            return
        if self.thinking is None:
            self.thinking = Run(QTextDocument(self.desk.owner))
            self.desk.built += 1
        if self._thought != self.item.thinking:
            self._thought = self.item.thinking
            theme = self.theme
            line = theme.line_height("interface")
            face = Face(theme.font("interface"), line, theme.color("ink2"))
            set_plain(self.thinking.document, self._thought, face)

    def _refill_card(self) -> None:
        kind = self._card_kind()
        if self._card is not None and self._card.kind != kind:
            if self._card.prose is not None:
                self._card.prose.drop()
            self._card = None
        if self._card is None and kind:
            self._card = CardFace(self, kind, Prose(self.desk, "note"))
        if self._card is not None and self._card.prose is not None:
            self._card.prose.set_text(self._told().body, is_running=False)

    def _card_kind(self) -> str:
        """Which card stands below: why it failed, why it was read otherwise (on demand), or ""."""
        if self.item.state == "failed":
            return "failed"
        is_asked = self._mismatch and self.desk.is_open(self.item.id, "toggle_why")
        return "why" if is_asked else ""

    @property
    def _mismatch(self) -> str:
        return self.item.receipt.mismatch if self.item.receipt is not None else ""

    # -- places ----------------------------------------------------------------------------

    def arrange(self, width: int) -> float:
        """From top to bottom."""
        self._bar = QRectF()
        self._rule = QRectF()
        y = self._arrange_thinking(width)
        y = self._arrange_prose(width, y)
        if self.item.is_running:
            return self._arrange_state(width, y) + self.px(16)
        y = self._arrange_ending(width, y)
        return self._arrange_card(width, y)

    def _arrange_thinking(self, width: int) -> float:
        if not self.item.thinking:
            return 0
        is_open = self.thinking is not None
        text = words.thought(self.item)
        icon = "chevron-down" if is_open else "chevron-right"
        part = Part(
            QRectF(),
            text,
            "toggle_thinking",
            "line",
            text=text,
            icon=icon,
            tone="ink3",
            role="toggle",
            is_open=is_open,
        )
        self.parts += row([part], -self.px(2), 0, self.theme)
        y = float(height_of(part, self.theme) + self.px(4))
        if self.thinking is not None:
            self.thinking.origin = QPointF(self.px(16), y)
            self.thinking.set_width(width - self.px(16))
            self._rule = QRectF(self.px(4), y, self.px(2), self.thinking.height)
            y += self.thinking.height + self.px(8)
        return y

    def _arrange_prose(self, width: int, y: float) -> float:
        if self.prose is None or not self.item.text:
            return y
        self.prose.origin = QPointF(0, y - self.prose.lift)
        self.prose.set_width(width)
        self.prose.decorate()
        self.parts += self.prose.placed_parts()
        return y + self.prose.height

    def _arrange_state(self, width: int, y: float) -> float:
        """What a running reply does, in words; while text stands, only the speed of writing."""
        item, px = self.item, self.px
        title, figures, left = (
            words.state_title(item),
            words.state_figures(item),
            words.state_left(item),
        )
        line = self.theme.line_height("reading")
        if item.text and self.prose is not None and self.prose.height > line:
            return y
        y += px(8)
        start, middle = px(32), y + px(10)
        self.add_picture(QPointF(0, middle), "lens", 20, "accent")
        end = self.add_label(QPointF(start, middle), title, ("interface_bold", "ink"), width)
        for text, color in ((figures, "ink2"), (left and f"· {left}", "ink3")):
            if text:
                place = QPointF(end + px(8), middle)
                end = self.add_label(place, text, ("interface", color), width - end - px(8))
        y += px(20)
        if item.state in ("loading", "reading") and item.total:
            self._bar = QRectF(start, y + px(8), min(px(_BAR_WIDTH), width - start), px(4))
            y += px(12)
        note = words.state_note(item)
        if note:
            place = QPointF(start, y + px(18))
            self.add_label(place, note, ("small", "ink3"), width - start)
            y += px(30)
        return y

    def _arrange_ending(self, width: int, y: float) -> float:
        """The line below: how it ended or what it cost at the left, actions at the right."""
        item, px = self.item, self.px
        middle = y + px(16)
        right = self._arrange_actions(width, middle)
        ending = words.ending(item)
        if ending:
            end = self._line("warning", ending, "amber", QRectF(0, middle, right, 0))
            self._add_continue(end, middle, right)
        elif item.receipt is not None:
            cost = words.receipt(item.receipt, item.seconds or item.receipt.seconds)
            if self._mismatch:
                self._arrange_mismatch(cost, middle, right)
            else:
                self._line("check", cost, "ink3", QRectF(0, middle, right, 0))
        elif item.state == "failed":
            return y
        return y + px(24)

    def _line(self, icon: str, text: str, color: str, area: QRectF) -> float:
        """A small line with its icon; returns where it ends."""
        self.add_picture(area.topLeft(), icon, 14, color)
        place = QPointF(self.px(20), area.top())
        return self.add_label(place, text, ("small", color), area.width() - self.px(28))

    def _arrange_mismatch(self, cost: str, middle: float, right: float) -> None:
        """The receipt of a reply that did not see what was sent; ends in a link to the reason."""
        is_open = self.desk.is_open(self.item.id, "toggle_why")
        text = words_of("toggle_why")
        part = Part(
            QRectF(), text, "toggle_why", "link", text=text, role="toggle", is_open=is_open
        )
        wide = width_of(part, self.theme) + self.px(8)
        end = self._line("warning", cost, "amber", QRectF(0, middle, right - wide, 0))
        top = middle - height_of(part, self.theme) / 2
        self.parts += row([part], end + self.px(8), top, self.theme)

    def _add_continue(self, end: float, middle: float, right: float) -> None:
        if self.item.state not in ("stopped", "cut", "interrupted"):
            return
        text = words_of("continue" if self.item.text else "retry")
        action = "continue" if self.item.text else "retry"
        part = Part(QRectF(), text, action, "link", text=text)
        if end + self.px(8) + width_of(part, self.theme) <= right:
            top = middle - height_of(part, self.theme) / 2
            self.parts += row([part], end + self.px(8), top, self.theme)

    def _arrange_actions(self, width: int, middle: float) -> float:
        """Icons, time and model at the right (shy), versions at their left; where they begin."""
        top = middle - self.px(14)
        right = float(width)
        if self.item.state != "failed" or self.item.text:
            right = place_icons(self, "reply", width, top)
        if self.item.pinned:
            right = place_pin(self, right, top)
        if self.item.versions is not None:
            right = place_versions(self, self.item.versions, right - self.px(4), top)
        said = [words.clock(self.item.when_ms)] if self.item.when_ms else []
        model = self.desk.titles.get(self.item.model, self.item.model)
        said += [model] if model else []
        text = elided(" · ".join(said), self.theme.font("small"), self.px(220))
        wide = self.metrics("small").horizontalAdvance(text)
        room = self.px(360) if self.item.receipt is not None else self.px(20)
        if text and right - wide - self.px(8) > room:
            place = QPointF(right - wide - self.px(8), middle)
            self.labels.append(Label(place, text, "small", "ink3", shy=True))
            return right - wide - self.px(16)
        return right - self.px(8)

    def _arrange_card(self, width: int, y: float) -> float:
        if self._card is None:
            return y + self.px(20)
        top = y + self.px(12 if y else 0)
        height = self._card.arrange(self._told(), CardPlace(round(top), width))
        return round(top) + height + self.px(20)

    def _told(self) -> CardItem:
        """What went wrong, as a card."""
        item = self.item
        if item.state != "failed" and item.receipt is not None:
            receipt = item.receipt
            return CardItem(item.id, "error", receipt.mismatch, body=receipt.cure, tone="amber")
        return CardItem(item.id, "error", item.error, body=item.remedy, tone="red")

    def paint_ground(self, painter: QPainter, scene: Scene) -> None:
        """The thinking's rule, the bar, the card."""
        if not self._rule.isEmpty():
            painter.fillRect(self._rule, scene.theme.color("line"))
        if not self._bar.isEmpty():
            share = self.item.done / self.item.total if self.item.total else 0.0
            paint_bar(painter, self._bar, min(1.0, share), scene)
        if self._card is not None:
            self._card.paint(painter, scene)

    def code_text(self, index: int) -> str:
        """The source of a block of code of the reply."""
        return self.prose.built.code[index].text if self.prose is not None else ""
