"""Every user intent once: id, words, shortcut, help, menu. Menus, palette and sheet are made of it.

The window connects `Actions.triggered` and says what can be done now with `set_enabled`; it never
makes a QAction of its own.
"""

from app.actions.qactions import Actions
from app.actions.table import (
    BY_ID,
    MENUS,
    MESSAGE_ACTIONS,
    TABLE,
    Action,
    Menu,
    Place,
    menu_groups,
    menu_name,
    menu_words,
)

__all__ = [
    "BY_ID",
    "MENUS",
    "MESSAGE_ACTIONS",
    "TABLE",
    "Action",
    "Actions",
    "Menu",
    "Place",
    "menu_groups",
    "menu_name",
    "menu_words",
]
