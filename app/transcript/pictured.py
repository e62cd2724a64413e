"""The transcript's pictures: decoded when there is time, marked where the model sees none."""

from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.transcript.lens import Lensed


class Pictured(Lensed):
    """A scroller whose messages may have pictures.

    Attributes:
        menu_part: what of an item a menu was asked for, "" for the whole of it.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.menu_part = ""
        self._desk.pictures.ready.connect(self.viewport().update)

    def set_sight(self, sees: bool | None) -> None:  # noqa: FBT001  # three-valued
        """Whether the model sees pictures; None while that is not known."""
        is_blind = sees is False
        if is_blind != self._desk.is_blind:
            self._desk.is_blind = is_blind
            self.restyle()
