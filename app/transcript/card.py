"""Cards of the conversation: compactions, errors, answers to local commands."""

from PySide6.QtGui import QPainter

from app.items import CardItem
from app.transcript.box import Box, Desk, Scene
from app.transcript.face import CardFace, CardPlace
from app.transcript.prose import Prose


class CardBox(Box):
    """One card, full width of the column."""

    item: CardItem

    def __init__(self, item: CardItem, desk: Desk) -> None:
        super().__init__(item, desk)
        self._face = CardFace(self, item.kind, None)
        self.refill()

    def refill(self) -> None:
        """Make or refill the body's document."""
        item = self.item
        self._face.kind = item.kind
        if item.body and self._face.prose is None:
            is_summary = item.kind == "compaction"
            self._face.prose = Prose(self.desk, "summary" if is_summary else "note")
            self.runs = [self._face.prose]
        if self._face.prose is not None:
            self._face.prose.set_text(item.body, is_running=False)

    def arrange(self, width: int) -> float:
        """The card and the gap below it."""
        return self._face.arrange(self.item, CardPlace(0, width)) + self.px(16)

    def paint_ground(self, painter: QPainter, scene: Scene) -> None:
        """The card's box."""
        self._face.paint(painter, scene)

    def code_text(self, index: int) -> str:
        """The source of a block of code of the body."""
        prose = self._face.prose
        return prose.built.code[index].text if prose is not None else ""
