"""The table as QActions."""

from collections.abc import Iterable

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from app.actions.table import TABLE, Action, Place

_ROLES = {
    "quit": QAction.MenuRole.QuitRole,
    "about": QAction.MenuRole.AboutRole,
    "settings": QAction.MenuRole.PreferencesRole,
}
"""Where macOS puts them; all others stay in their menus whatever their words."""


class Actions(QObject):
    """A QAction for every action of the table.

    Args:
        window: gets those whose shortcuts count in the whole window, so that they work while no
            menu is shown; it is the parent.

    Signals:
        triggered(str): the user wants this, by its id.
    """

    triggered = Signal(str)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._actions = {action.id: self._make(action) for action in TABLE}
        window.addActions([self._actions[a.id] for a in TABLE if a.place == "window"])
        self.retranslate()

    def _make(self, action: Action) -> QAction:
        made = QAction(self)
        made.setObjectName(action.id)
        made.setCheckable(action.checkable)
        made.setMenuRole(_ROLES.get(action.id, QAction.MenuRole.NoRole))
        made.setAutoRepeat(action.id.startswith(("zoom", "find", "next", "previous")))
        if action.place == "window":
            made.setShortcuts([QKeySequence(keys) for keys in action.shortcuts()])
            made.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        made.triggered.connect(lambda: self.triggered.emit(action.id))
        return made

    def __getitem__(self, id_: str) -> QAction:
        """The QAction with this id."""
        return self._actions[id_]

    def retranslate(self) -> None:
        """Take the words again, after the language changed."""
        for action in TABLE:
            made = self._actions[action.id]
            made.setText(action.text)
            made.setToolTip(action.help)
            made.setStatusTip(action.help)

    def add_to(self, widget: QWidget, place: Place) -> None:
        """Let the shortcuts of a place count while a widget, or something in it, has the focus."""
        for action in TABLE:
            if action.place == place:
                made = self._actions[action.id]
                made.setShortcuts([QKeySequence(keys) for keys in action.shortcuts()])
                made.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
                widget.addAction(made)

    def set_enabled(self, ids: Iterable[str], enabled: bool) -> None:  # noqa: FBT001  # as Qt's own
        """What can be done now, and what not."""
        for id_ in ids:
            self._actions[id_].setEnabled(enabled)

    def set_checked(self, id_: str, checked: bool) -> None:  # noqa: FBT001  # as Qt's own
        """Show a switch as it is; tells nobody."""
        self._actions[id_].setChecked(checked)

    def enabled(self) -> tuple[Action, ...]:
        """What can be done now, for the palette: without what only a message or the composer can."""
        return tuple(a for a in TABLE if a.place == "window" and self._actions[a.id].isEnabled())
