"""The chip in the composer that says how the model thinks, and opens the choices for it."""

from typing import Literal

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeyEvent
from PySide6.QtWidgets import QWidget

from app.client.values import ThinkFacts
from app.theme import theme_of
from app.theme.controls import Chip, PopupMenu
from engine.backends.base import ThinkChoice

_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Down, Qt.Key.Key_Up)


class ThinkChip(Chip):
    """Shown only for a model that can be told to think or not; opens upwards.

    Signals:
        chosen(str): a choice, "" to leave it to the model.
        shown_changed(): it takes more or less room than before.
    """

    chosen = Signal(str)
    shown_changed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__("", "thought", parent)
        self._facts = ThinkFacts()
        self._menu: PopupMenu | None = None
        self.clicked.connect(self.open_menu)
        self.hide()

    @property
    def facts(self) -> ThinkFacts:
        """What it shows."""
        return self._facts

    @property
    def has_choices(self) -> bool:
        """Whether there is something to choose."""
        return bool(self._facts.choices)

    def set_facts(self, facts: ThinkFacts) -> None:
        """Show what a model can be told, and what it is told."""
        if facts == self._facts:
            return
        self._facts = facts
        said = self.tr("Think")
        if facts.chosen:
            said = self.tr("Think: {}").format(self._words_of(facts.chosen).lower())
        self.set_text(said)
        about = self.tr("How much this model thinks before it answers")
        self.setToolTip(about)
        self.setAccessibleDescription(about)
        self.shown_changed.emit()

    def width_within(self, room: int) -> int:
        """How wide it is where it can have so much; 0 where it is not shown, for want of room too."""
        if not self.has_choices or room < self.minimumSizeHint().width():
            return 0
        return min(room, self.sizeHint().width())

    def open_menu(self) -> None:
        """Offer what there is to choose, what is chosen marked."""
        if self._menu is not None:
            self._menu.deleteLater()
        menu = self._menu = PopupMenu("", self)
        menu.setAccessibleName(self.accessibleDescription())
        group = QActionGroup(menu)
        choices: tuple[ThinkChoice | Literal[""], ...] = ("", *(self._facts.choices or ()))
        for choice in choices:
            action = menu.addAction(self._words_of(choice))
            action.setCheckable(True)
            action.setChecked(choice == self._facts.chosen)
            action.setData(choice)
            group.addAction(action)
        menu.triggered.connect(self._on_chosen)
        top = self.mapToGlobal(QPoint(0, 0))
        menu.popup(top - QPoint(0, menu.sizeHint().height() + theme_of().px(4)))
        checked = group.checkedAction()
        if checked is not None:
            menu.setActiveAction(checked)

    @property
    def menu(self) -> PopupMenu | None:
        """The choices, once they were opened."""
        return self._menu

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt's; Enter and the arrows open it too."""
        if event.key() in _KEYS and not event.isAutoRepeat():
            self.click()
        else:
            super().keyPressEvent(event)

    def _on_chosen(self, action: QAction) -> None:
        if action.data() != self._facts.chosen:
            self.chosen.emit(action.data())

    def _words_of(self, choice: ThinkChoice | Literal[""]) -> str:
        words: dict[ThinkChoice | Literal[""], str] = {
            "": self.tr("By itself"),
            "off": self.tr("Off"),
            "on": self.tr("On"),
            "low": self.tr("Low"),
            "medium": self.tr("Medium"),
            "high": self.tr("High"),
            "max": self.tr("Max"),
        }
        return words[choice]
