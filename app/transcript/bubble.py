"""The user's message: a soft bubble at the right, its actions at the left of it."""

import math

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, QSize
from PySide6.QtGui import QPainter, QPainterPath, QTextDocument

from app.items import UserItem
from app.pictures import draw_rounded, size_of
from app.theme.painting import rounded
from app.transcript import words
from app.transcript.box import Box, Desk, Label, Scene
from app.transcript.offers import place_icons, place_pin, place_versions
from app.transcript.parts import Part, row, width_of
from app.transcript.run import Face, Run, set_plain
from app.transcript.thumbs import plan_thumbs

_MOST_LINES = 12
_FOLDED_LINES = 10


class BubbleBox(Box):
    """What the user said; over twelve lines it is folded to ten."""

    item: UserItem

    def __init__(self, item: UserItem, desk: Desk) -> None:
        super().__init__(item, desk)
        self.bubble = QRectF()
        self.thumbs: list[tuple[QRectF, QSize]] = []
        document = QTextDocument(desk.owner)
        desk.built += 1
        self.runs = [Run(document)]
        self._filled = ""
        self.refill()

    def refill(self) -> None:
        """Set the text as typed: a message is not read as Markdown."""
        if self._filled == self.item.text and self.width:
            return
        self._filled = self.item.text
        theme = self.theme
        face = Face(theme.font("spoken"), theme.line_height("spoken"), theme.color("ink"))
        set_plain(self.runs[0].document, self.item.text, face)

    def arrange(self, width: int) -> float:
        """Fit the bubble round the text."""
        top = self._arrange_pictures(width)
        if self.item.text or not self.thumbs:
            self._arrange_text(width, top)
        else:
            self.runs[0].document.setTextWidth(1)
            self.runs[0].shown = 0
            self.runs[0].origin = self.thumbs[-1][0].bottomLeft()
            self.bubble = self.thumbs[-1][0].adjusted(0, 0, 0, top - self.thumbs[-1][0].bottom())
        self._add_actions()
        return self.bubble.bottom() + self._add_queue_words() + self.px(12)

    def _arrange_pictures(self, width: int) -> float:
        """The pictures over the text, and what the model makes of them; where they end."""
        self.thumbs = []
        images = self.item.images
        if not images:
            return 0
        sizes = [size_of(image) for image in images]
        whole = min(self.px(660), width - self.px(72))
        planned = plan_thumbs(
            [(size.width(), size.height()) for size in sizes], whole, self.theme.zoom
        )
        for index, (place, image) in enumerate(zip(planned.places, images, strict=True)):
            left = width - whole + place.left
            rect = QRectF(left, place.top, place.width, place.height)
            self.thumbs.append((rect, QSize(place.wide, place.high)))
            self.parts.append(Part(rect, words.picture(image), f"open_image:{index}", "picture"))
        bottom = planned.height + self.px(6)
        return bottom + (self._add_blind_words(bottom) if self.desk.is_blind else 0)

    def _add_blind_words(self, top: float) -> float:
        text = words.not_shown()
        wide = self.metrics("small").horizontalAdvance(text)
        middle = top + self.px(10)
        left = self.width - wide - self.px(2)
        self.labels.append(Label(QPointF(left, middle), text, "small", "amber"))
        self.add_picture(QPointF(left - self.px(20), middle), "warning", 14, "amber")
        return self.px(24)

    def _arrange_text(self, width: int, top: float) -> None:
        run, side, above = self.runs[0], self.px(14), self.px(8)
        most = min(self.px(560), max(self.px(120), width - self.px(132)))
        run.document.setTextWidth(most - 2 * side)
        wide: float = min(math.ceil(run.document.idealWidth()), most - 2 * side)
        run.document.setTextWidth(wide)
        fold = self._fold(run)
        if fold is not None:
            wide = max(wide, width_of(fold, self.theme))
        left = width - wide - 2 * side
        run.origin = QPointF(left + side, top + above - run.lift)
        bottom = top + above + run.height + (self.px(24) if fold is not None else 0)
        self.bubble = QRectF(left, top, wide + 2 * side, bottom + above - top)
        if fold is not None:
            self.parts += row([fold], left + side, bottom - self.px(20), self.theme)

    def _fold(self, run: Run) -> Part | None:
        """Cut a long message, and give the part that shows all of it."""
        run.shown = None
        line = self.theme.line_height("spoken")
        if run.document.size().height() <= _MOST_LINES * line + 1:
            return None
        is_open = self.desk.is_open(self.item.id, "show_all")
        text = words.show_all(self.item)
        if is_open:
            text = QCoreApplication.translate("Transcript", "Show less")
        else:
            run.shown = _FOLDED_LINES * line
        return Part(QRectF(), text, "show_all", "link", text=text, role="toggle", is_open=is_open)

    def _add_actions(self) -> None:
        """Icons, versions and the time, all at the left of the bubble's last line."""
        right = self.bubble.left() - self.px(8)
        top = self.bubble.bottom() - self.px(34)
        if self.item.versions is not None:
            right = place_versions(self, self.item.versions, right, top) - self.px(4)
        if self.item.pinned:
            right = place_pin(self, right, top)
        right = place_icons(self, "user", right, top) - self.px(4)
        text = words.clock(self.item.when_ms)
        wide = self.metrics("small").horizontalAdvance(text)
        if right - wide > 0:
            place = QPointF(right - wide, top + self.px(14))
            self.labels.append(Label(place, text, "small", "ink3", shy=True))

    def _add_queue_words(self) -> float:
        if not self.item.queued:
            return 0
        text = QCoreApplication.translate("Transcript", "Sent when this reply is done")
        wide = self.metrics("small").horizontalAdvance(text)
        middle = self.bubble.bottom() + self.px(14)
        self.labels.append(
            Label(QPointF(self.width - wide - self.px(2), middle), text, "small", "ink3")
        )
        self.add_picture(QPointF(self.width - wide - self.px(22), middle), "clock", 14, "ink3")
        return self.px(24)

    def paint_ground(self, painter: QPainter, scene: Scene) -> None:
        """The pictures, and the bubble, its lower right corner less round."""
        for index, (rect, size) in enumerate(self.thumbs):
            if rect.intersects(scene.exposed.adjusted(-2, -2, 2, 2)):
                self._paint_picture(painter, scene, index, rect, size)
        if self.item.text or not self.thumbs:
            self._paint_bubble(painter, scene)

    def _paint_picture(
        self, painter: QPainter, scene: Scene, index: int, rect: QRectF, size: QSize
    ) -> None:
        theme, radius = scene.theme, self.px(8)
        dpr = painter.device().devicePixelRatio()
        rounded(painter, rect, radius, theme.color("sunken"), theme.color("line"))
        wanted = QSize(round(size.width() * dpr), round(size.height() * dpr))
        pixmap = self.desk.pictures.pixmap(self.item.images[index], wanted)
        if pixmap is None:
            return
        if pixmap.isNull():
            side = self.px(20)
            icon = theme.pixmap("warning", "ink3", side, dpr)
            painter.drawPixmap(rect.center() - QPointF(side / 2, side / 2), icon)
            return
        place = QRectF(0, 0, size.width(), size.height())
        place.moveCenter(rect.center())
        draw_rounded(painter, pixmap, place, radius)

    def _paint_bubble(self, painter: QPainter, scene: Scene) -> None:
        radius, small = self.px(12), self.px(4)
        path = QPainterPath()
        path.addRoundedRect(self.bubble, radius, radius)
        corner = QRectF(0, 0, radius * 1.6, radius * 1.6)
        corner.moveBottomRight(self.bubble.bottomRight())
        tail = QPainterPath()
        tail.addRoundedRect(corner, small, small)
        painter.fillPath(path.united(tail), scene.theme.color("bubble"))


class EditBox(Box):
    """Room for the editor that stands in the place of a message."""

    item: UserItem

    def arrange(self, width: int) -> float:
        """As high as the editor."""
        return self.desk.editor_height + self.px(12)
