"""The table of actions: every user intent once. See the package."""

import re
import sys
from dataclasses import dataclass
from typing import Any, Literal

from PySide6.QtCore import QCoreApplication

from app.actions.words import MENU_WORDS, WORDS

Menu = Literal["file", "edit", "view", "chat", "message", "help"]
Place = Literal["window", "composer", "message"]


@dataclass(frozen=True, slots=True)
class Action:
    """A thing a user can do.

    Attributes:
        id: what `triggered` says.
        name: what it is called, English; `text` is in the user's language.
        about: one sentence for palette, sheet and status line, English; `help` translated.
        keys: its shortcuts in Qt's portable form, apart by "; ", the one to be shown first. Ctrl is
            Command on macOS.
        section: the menu it stands in; "" for none.
        place: where its shortcuts count. What composer and message view handle themselves stands
            here for sheet, palette and context menus.
        icon: its icon's name, "" for none.
        checkable: whether it is a switch.
        group: actions of one menu with one group stand together.
        mac: other shortcuts on macOS; None for the same.
    """

    id: str
    name: str
    about: str
    keys: str = ""
    section: Menu | Literal[""] = ""
    place: Place = "window"
    icon: str = ""
    checkable: bool = False
    group: int = 0
    mac: str | None = None

    @property
    def text(self) -> str:
        """What it is called, in the user's language."""
        return QCoreApplication.translate("Actions", self.name)

    @property
    def help(self) -> str:
        """What it does, in the user's language."""
        return QCoreApplication.translate("Actions", self.about)

    @property
    def menu(self) -> str:
        """The name of its menu in the user's language, "" for none."""
        return menu_name(self.section) if self.section else ""

    @property
    def shortcut(self) -> str:
        """The shortcut to be shown, in Qt's portable form; "" for none."""
        return next(iter(self.shortcuts()), "")

    def shortcuts(self, platform: str = sys.platform) -> tuple[str, ...]:
        """Its shortcuts on a platform, in Qt's portable form."""
        keys = self.mac if self.mac is not None and platform == "darwin" else self.keys
        return tuple(part for part in keys.split("; ") if part)


def _action(id_: str, shortcut: str, menu: Menu | Literal[""], **more: Any) -> Action:
    return Action(id_, *WORDS[id_], shortcut, menu, **more)


TABLE: tuple[Action, ...] = (
    _action("new_chat", "Ctrl+N", "file", icon="new-chat"),
    _action("open_model", "Ctrl+O", "file", icon="folder"),
    _action("fetch_starter", "", "file", icon="download"),
    _action("get_model", "", "file", icon="download"),
    _action("rename_chat", "F2", "file", icon="edit", group=1),
    _action("pin_chat", "Ctrl+Shift+P", "file", icon="pin", checkable=True, group=1),
    _action("duplicate_chat", "Ctrl+Shift+D", "file", icon="copy", group=1),
    _action("export_markdown", "Ctrl+E", "file", icon="file", group=2),
    _action("export_jsonl", "Ctrl+Shift+E", "file", icon="file", group=2),
    _action("delete_chat", "Ctrl+Shift+Backspace", "file", icon="trash", group=3),
    _action("settings", "Ctrl+,", "file", icon="settings", group=4),
    _action("quit", "Ctrl+Q", "file", icon="close", group=5),
    _action("undo", "Ctrl+Z", "edit", icon="undo"),
    _action("copy", "Ctrl+C", "edit", icon="copy", group=1),
    _action("copy_markdown", "Ctrl+Alt+C", "edit", icon="copy", group=1),
    _action("copy_last", "Ctrl+Shift+C", "edit", icon="copy", group=1),
    _action("select_all", "Ctrl+A", "edit", group=1),
    _action("edit_last", "Alt+Up", "edit", icon="edit", group=2),
    _action("find", "Ctrl+F", "edit", icon="search", group=3),
    _action("find_next", "F3; Ctrl+G", "edit", icon="chevron-down", group=3),
    _action("find_previous", "Shift+F3; Ctrl+Shift+G", "edit", group=3),
    _action("search", "Ctrl+Shift+F", "edit", icon="search", group=3),
    _action("palette", "Ctrl+K; Ctrl+Shift+A", "view", icon="search"),
    _action("sidebar", "Ctrl+\\", "view", icon="sidebar", checkable=True, group=1),
    _action("panel", "Ctrl+Shift+\\", "view", icon="panel", checkable=True, group=1),
    _action("lens", "Ctrl+Shift+L", "view", icon="lens", checkable=True, group=1),
    _action("show_prompt", "", "view", icon="lens", group=1),
    _action("next_chat", "Ctrl+Tab; Ctrl+PgDown", "view", group=2, mac="Meta+Tab"),
    _action("previous_chat", "Ctrl+Shift+Tab; Ctrl+PgUp", "view", group=2, mac="Meta+Shift+Tab"),
    _action("go_to_start", "Ctrl+Home", "view", group=3, mac="Ctrl+Up"),
    _action("go_to_end", "Ctrl+End", "view", icon="arrow-down", group=3, mac="Ctrl+Down"),
    _action("focus_composer", "Ctrl+L", "view", icon="edit", group=3),
    _action("next_pane", "F6", "view", group=3),
    _action("previous_pane", "Shift+F6", "view", group=3),
    _action("zoom_in", "Ctrl++; Ctrl+=", "view", group=4),
    _action("zoom_out", "Ctrl+-", "view", group=4),
    _action("zoom_reset", "Ctrl+0", "view", group=4),
    _action("theme_system", "", "view", checkable=True, group=5),
    _action("theme_light", "", "view", checkable=True, group=5),
    _action("theme_dark", "", "view", checkable=True, group=5),
    _action("full_screen", "F11", "view", checkable=True, group=6, mac="Meta+Ctrl+F"),
    _action("send", "Return", "chat", place="composer", icon="send"),
    _action("line_break", "Shift+Return", "", place="composer"),
    _action("stop", "Esc", "chat", icon="stop"),
    _action("regenerate", "Ctrl+R", "chat", icon="retry"),
    _action("continue", "Ctrl+Shift+Return", "chat", icon="redo"),
    _action("attach", "Ctrl+U", "chat", icon="attach", group=1),
    _action("compact", "", "chat", icon="fold", group=2),
    _action("compact_focus", "", "chat", icon="fold", group=2),
    _action("model_picker", "Ctrl+M", "chat", icon="model", group=3, mac="Ctrl+Shift+M"),
    _action("models", "Ctrl+Shift+I", "chat", icon="memory", group=3),
    _action("system_prompt", "", "chat", icon="edit", group=3),
    _action("status", "Ctrl+I", "chat", icon="info", group=3),
    _action("message_copy", "", "message", place="message", icon="copy"),
    _action("message_copy_markdown", "", "message", place="message", icon="copy"),
    _action("message_edit", "", "message", place="message", icon="edit", group=1),
    _action("message_regenerate", "", "message", place="message", icon="retry", group=1),
    _action("message_pin", "", "message", place="message", icon="pin", group=1),
    _action("message_unpin", "", "message", place="message", icon="pin", group=1),
    _action(
        "message_earlier", "Alt+Left", "message", place="message", icon="chevron-left", group=2
    ),
    _action(
        "message_later", "Alt+Right", "message", place="message", icon="chevron-right", group=2
    ),
    _action("message_delete", "", "message", place="message", icon="trash", group=3),
    _action("shortcuts", "F1; Ctrl+/", "help", icon="info"),
    _action("open_reports", "", "help", icon="folder", group=1),
    _action("about", "", "help", icon="mark", group=2),
)
"""Every action, in the order of menus and sheet."""

MESSAGE_ACTIONS: tuple[str, ...] = tuple(a.id for a in TABLE if a.place == "message")
"""What can be done with one message, by id; the menu of a message is made of them."""
BY_ID: dict[str, Action] = {action.id: action for action in TABLE}
MENUS: tuple[Menu, ...] = ("file", "edit", "view", "chat", "help")
"""The menus of the menu bar, in order."""


def menu_words(menu: Menu) -> str:
    """A menu's name in the user's language, with its mnemonic."""
    return QCoreApplication.translate("Actions", MENU_WORDS[menu])


def menu_name(menu: Menu) -> str:
    """The same without a mnemonic: File, 文件."""
    return re.sub(r"\(&.\)|&", "", menu_words(menu))


def menu_groups(menu: Menu) -> tuple[tuple[Action, ...], ...]:
    """The actions of a menu, in groups that are parted by lines."""
    inside = [action for action in TABLE if action.section == menu]
    groups = sorted({action.group for action in inside})
    return tuple(tuple(a for a in inside if a.group == group) for group in groups)
