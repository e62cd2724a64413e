"""Choosing which of the messages behind a compaction stay word for word when it is made anew."""

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QWidget

from app.client.fit_values import Pinnable, PinsToChoose
from app.fit_words import with_excess
from app.ticks_dialog import Tick, TicksDialog, TicksWords
from app.transcript.words import clock
from app.words import translate


class PinsDialog(TicksDialog):
    """The messages behind a compaction; those that are pinned are ticked at first.

    Args:
        found: the messages, and the room that pins have.
        parent: the window it belongs to.

    Signals:
        taken(ids): the ids of the messages that stay word for word, a frozenset.
    """

    taken = Signal(object)

    def __init__(self, found: PinsToChoose, parent: QWidget) -> None:
        self._found = found
        ticks = [Tick(_title(m), m.text, m.tokens) for m in found.messages]
        super().__init__(ticks, found.room, _words(), parent)
        self._before = frozenset(i for i, m in enumerate(found.messages) if m.is_pinned)
        self.begin(self._before)

    def total_words(self, count: int, tokens: int, room: int) -> str:
        """So many messages, against the room for pins."""
        said = translate("PinsDialog", "%n pinned: {size} of {room} tokens", "", count)
        words = said.format(size=f"{tokens:,}", room=f"{room:,}")
        return with_excess(words, tokens, room)

    def may_take(self, chosen: frozenset[int], tokens: int, room: int) -> bool:
        """Other pins than before, and no more than there is room for."""
        return chosen != self._before and tokens <= room

    def take(self, chosen: frozenset[int]) -> None:
        """Hand out the messages."""
        self.taken.emit(frozenset(self._found.messages[place].id for place in chosen))


def _title(message: Pinnable) -> str:
    you = QCoreApplication.translate("PinsDialog", "You, {time}")
    model = QCoreApplication.translate("PinsDialog", "The model, {time}")
    return (you if message.is_users else model).format(time=clock(message.when_ms))


def _words() -> TicksWords:
    return TicksWords(
        QCoreApplication.translate("PinsDialog", "Pin messages and redo"),
        QCoreApplication.translate(
            "PinsDialog",
            "Messages that are ticked stay word for word in every prompt; the summary of the others "
            "is written anew. Pins may have a quarter of the prompt budget.",
        ),
        QCoreApplication.translate("PinsDialog", "Folded messages"),
        QCoreApplication.translate("PinsDialog", "The words of this message"),
        QCoreApplication.translate("PinsDialog", "How much of the room for pins is taken"),
        QCoreApplication.translate("PinsDialog", "Pin and redo"),
    )
