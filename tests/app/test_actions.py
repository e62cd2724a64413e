"""The table of actions, and the QActions made of it."""

import re
from collections import Counter

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMainWindow

from app.actions import BY_ID, MENUS, TABLE, Actions, menu_groups, menu_words
from app.actions.words import MENU_WORDS, WORDS
from engine.paths import resources_dir

PLATFORMS = ("linux", "win32", "darwin")


@pytest.fixture
def window(qtbot) -> QMainWindow:
    window = QMainWindow()
    qtbot.addWidget(window)
    return window


@pytest.mark.parametrize("platform", PLATFORMS)
def test_no_shortcut_twice(platform):
    """One key does one thing, on every platform."""
    keys = [
        QKeySequence(keys).toString(QKeySequence.SequenceFormat.PortableText)
        for action in TABLE
        for keys in action.shortcuts(platform)
    ]
    assert not [key for key, count in Counter(keys).items() if count > 1]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_every_shortcut_is_a_key(platform):
    """Qt understands every shortcut of the table, as one key with its modifiers."""
    for action in TABLE:
        for keys in action.shortcuts(platform):
            sequence = QKeySequence(keys)
            assert sequence.count() == 1, action.id
            assert sequence[0].key() != Qt.Key.Key_unknown, action.id


@pytest.mark.parametrize(
    ("id_", "keys"),
    [
        ("new_chat", "Ctrl+N"),
        ("search", "Ctrl+Shift+F"),
        ("palette", "Ctrl+K"),
        ("find", "Ctrl+F"),
        ("stop", "Esc"),
        ("regenerate", "Ctrl+R"),
        ("edit_last", "Alt+Up"),
        ("copy_last", "Ctrl+Shift+C"),
        ("sidebar", "Ctrl+\\"),
        ("zoom_in", "Ctrl++"),
        ("zoom_out", "Ctrl+-"),
        ("zoom_reset", "Ctrl+0"),
        ("shortcuts", "F1"),
        ("settings", "Ctrl+,"),
        ("quit", "Ctrl+Q"),
    ],
)
def test_usual_shortcuts(id_, keys):
    """What people's fingers know from other apps."""
    assert BY_ID[id_].shortcut == keys


def test_macos_has_its_own_keys():
    """Command with M and Tab belong to the system there."""
    assert BY_ID["model_picker"].shortcuts("darwin") == ("Ctrl+Shift+M",)
    assert BY_ID["model_picker"].shortcuts("linux") == ("Ctrl+M",)


def test_every_action_has_words():
    """A name, a sentence that ends in a full stop, an id used once, and no word without an action."""
    assert len({action.id for action in TABLE}) == len(TABLE)
    assert {action.id for action in TABLE} == set(WORDS)
    for action in TABLE:
        assert action.text
        assert re.fullmatch(r"[A-Z].*\.", action.help), action.id


def test_every_icon_is_there():
    """The icons named are among those that come with Porthole."""
    icons = {path.stem for path in (resources_dir() / "icons").glob("*.svg")}
    assert {action.icon for action in TABLE if action.icon} <= icons


def test_menus_hold_every_action_once():
    """What has a menu stands in it exactly once, in its group."""
    shown = [a.id for menu in (*MENUS, "message") for group in menu_groups(menu) for a in group]
    assert sorted(shown) == sorted(a.id for a in TABLE if a.section)
    assert all(len(menu_groups(menu)) > 0 for menu in MENUS)


def test_a_menu_has_a_name():
    """With a mnemonic in the menu bar, without one where it is read."""
    assert menu_words("file") == "&File"
    assert BY_ID["quit"].menu == "File"
    assert BY_ID["line_break"].menu == ""
    assert set(MENU_WORDS) == {*MENUS, "message"}


def test_mnemonics_differ():
    """No two menus open with one letter."""
    letters = [MENU_WORDS[menu][MENU_WORDS[menu].index("&") + 1] for menu in MENU_WORDS]
    assert len(set(letters)) == len(letters)


def test_triggered_says_the_id(window, qtbot):
    """The window hears what the user wants."""
    actions = Actions(window)
    with qtbot.waitSignal(actions.triggered) as heard:
        actions["new_chat"].trigger()
    assert heard.args == ["new_chat"]


def test_a_key_triggers_while_no_menu_is_shown(window, qtbot):
    """Shortcuts live in the window itself."""
    actions = Actions(window)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    with qtbot.waitSignal(actions.triggered) as heard:
        qtbot.keyClick(window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    assert heard.args == ["new_chat"]


def test_only_window_actions_are_in_the_window(window):
    """What the composer and a message handle has no shortcut of its own."""
    actions = Actions(window)
    inside = {action.objectName() for action in window.actions()}
    assert inside == {a.id for a in TABLE if a.place == "window"}
    assert actions["send"].shortcuts() == []
    assert [keys.toString() for keys in actions["zoom_in"].shortcuts()] == ["Ctrl++", "Ctrl+="]


def test_what_cannot_be_done_is_off(window):
    """The palette offers what can be done now."""
    actions = Actions(window)
    actions.set_enabled(["stop", "regenerate"], False)
    offered = {action.id for action in actions.enabled()}
    assert not {"stop", "regenerate", "send"} & offered
    assert "new_chat" in offered


def test_a_switch_is_shown_without_a_word(window, qtbot):
    """Showing the state of a switch is no wish of the user."""
    actions = Actions(window)
    with qtbot.assertNotEmitted(actions.triggered):
        actions.set_checked("sidebar", True)
    assert actions["sidebar"].isChecked()


def test_words_are_taken_again(window):
    """After the language changed every action is named anew."""
    actions = Actions(window)
    actions["quit"].setText("?")
    actions.retranslate()
    assert actions["quit"].text() == "Quit"
    assert actions["quit"].toolTip() == BY_ID["quit"].help
