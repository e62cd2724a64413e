"""The separator of days: the date between two hairlines."""

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from app.items import DayItem
from app.theme.painting import hairline
from app.transcript import words
from app.transcript.box import Box, Label, Scene


class DayBox(Box):
    """One day, 16 px high and 16 above the next item."""

    item: DayItem

    def arrange(self, width: int) -> float:
        """Centre the words."""
        text = words.day(self.item.when_ms, words.now())
        wide = self.metrics("tiny").horizontalAdvance(text)
        left = round((width - wide) / 2)
        self.labels.append(Label(QPointF(left, self.px(8)), text, "tiny", "ink3"))
        gap, middle = self.px(12), self.px(8)
        self._lines = (
            QRectF(0, middle, left - gap, 1),
            QRectF(left + wide + gap, middle, width - left - wide - gap, 1),
        )
        return self.px(32)

    def paint_ground(self, painter: QPainter, scene: Scene) -> None:
        """The hairlines at both sides."""
        for line in self._lines:
            hairline(painter, line.left(), line.top(), line.width(), scene.theme.color("line"))
