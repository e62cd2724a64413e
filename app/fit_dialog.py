"""Choosing the parts of a file that go along: a list to tick, its words beside it, a running total."""

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QWidget

from app.client.fit_values import PartsToChoose
from app.fit_words import chosen_words, part_words
from app.theme.controls import Button
from app.ticks_dialog import Tick, TicksDialog, TicksWords
from engine.fitting import plan_excerpt, plan_first_parts


class PartsDialog(TicksDialog):
    """The parts of a text, to be ticked; at first those from the beginning that fit.

    Args:
        found: the parts, and the room for them.
        name: what they are parts of.
        parent: the window it belongs to.

    Signals:
        taken(text): an excerpt of the parts that were ticked.
    """

    taken = Signal(str)

    def __init__(self, found: PartsToChoose, name: str, parent: QWidget) -> None:
        self._found = found
        ticks = [Tick(part_words(part), part.text, part.tokens) for part in found.parts]
        super().__init__(ticks, found.room, _words(name), parent)
        self.first_button = Button(self.tr("The first that fit"), "quiet", "", self)
        self.buttons.insertWidget(0, self.first_button)
        self.first_button.clicked.connect(self.tick_first)
        self.begin(self._first())

    def _first(self) -> frozenset[int]:
        return plan_first_parts(self._found.parts, self._found.room)

    def tick_first(self) -> None:
        """Tick the parts from the beginning for as long as they fit."""
        self.tick(self._first())

    def total_words(self, count: int, tokens: int, room: int) -> str:
        """So many of all, against the room."""
        return chosen_words(count, len(self._found.parts), tokens, room)

    def may_take(self, chosen: frozenset[int], tokens: int, room: int) -> bool:
        """Something, and no more than fits."""
        return 0 < tokens <= room

    def take(self, chosen: frozenset[int]) -> None:
        """Hand out an excerpt."""
        self.taken.emit(plan_excerpt(self._found.parts, chosen))


def _words(name: str) -> TicksWords:
    return TicksWords(
        QCoreApplication.translate("PartsDialog", "Choose parts of {name}").format(name=name),
        QCoreApplication.translate(
            "PartsDialog",
            "The parts that are ticked go along, in their order; the others do not.",
        ),
        QCoreApplication.translate("PartsDialog", "Parts"),
        QCoreApplication.translate("PartsDialog", "The words of this part"),
        QCoreApplication.translate("PartsDialog", "How much of the room is taken"),
        QCoreApplication.translate("PartsDialog", "Use these parts"),
    )
