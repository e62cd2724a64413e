"""The whole window on a real engine thread and a real store, with a scripted model."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QFileDialog

from app.client import Failed, Fetching, ModelRow, ModelState, Notice, WindowKnown
from app.items import CardItem, UserItem
from app.theme import theme_of
from tests.app.window_room import is_done, replies, say, users


def test_message_is_answered_and_listed(qtbot, window):
    """What is typed is shown, answered, and its conversation stands in the sidebar."""
    say(qtbot, window, "Hello lighthouse")
    assert users(window) == ["Hello lighthouse"]
    assert replies(window)[0].text == "Hello lighthouse"
    qtbot.waitUntil(lambda: [row.title for row in window._rows] == ["Hello lighthouse"])
    assert window.parts.pages.currentWidget() is window.parts.transcript
    assert "Hello lighthouse" in window.windowTitle()


def test_regenerating_keeps_the_older_reply(qtbot, window):
    """Answer again makes a second version, and the arrows go back to the first."""
    say(qtbot, window, "Once")
    window.do("regenerate")
    qtbot.waitUntil(lambda: replies(window) and replies(window)[0].versions is not None)
    qtbot.waitUntil(lambda: is_done(window))
    versions = replies(window)[0].versions
    assert (versions.number, versions.of) == (2, 2)
    window._act_on_item(replies(window)[0].id, "earlier")
    qtbot.waitUntil(lambda: replies(window)[0].versions.number == 1)


def test_deleting_a_message_can_be_undone(qtbot, window):
    """It and what follows go out of sight, and come back."""
    say(qtbot, window, "Keep this")
    say(qtbot, window, "Drop this")
    second = [item.id for item in window.items.items() if isinstance(item, UserItem)][1]
    window._act_on_item(second, "delete")
    qtbot.waitUntil(lambda: users(window) == ["Keep this"])
    window.do("undo")
    qtbot.waitUntil(lambda: users(window) == ["Keep this", "Drop this"])


def test_conversations_are_opened_renamed_pinned_and_deleted(qtbot, window):
    """Everything the sidebar offers reaches the store and comes back."""
    say(qtbot, window, "One")
    first = window._id
    window.do("new_chat")
    qtbot.waitUntil(lambda: window._id == "")
    say(qtbot, window, "Two")
    qtbot.waitUntil(lambda: len(window._rows) == 2)
    window.do("next_chat")
    qtbot.waitUntil(lambda: window._id == first)
    window._rename(first, "The first")
    qtbot.waitUntil(lambda: "The first" in [row.title for row in window._rows])
    window.do("pin_chat")
    qtbot.waitUntil(lambda: any(row.pinned for row in window._rows))
    window.do("pin_chat")
    qtbot.waitUntil(lambda: not any(row.pinned for row in window._rows))
    window.do("duplicate_chat")
    qtbot.waitUntil(lambda: len(window._rows) == 3)
    window._act_on_row(first, "delete")
    qtbot.waitUntil(lambda: first not in [row.id for row in window._rows])
    window._act_on_row(first, "undelete")
    qtbot.waitUntil(lambda: first in [row.id for row in window._rows])


def test_deleting_the_open_conversation_shows_a_new_one(qtbot, window):
    """Nothing is left on the screen of what was deleted."""
    say(qtbot, window, "Gone")
    window.do("delete_chat")
    qtbot.waitUntil(lambda: window._id == "" and len(window.items) == 0)
    assert window.parts.pages.currentWidget() is not window.parts.transcript


def test_search_finds_conversations_by_their_words(qtbot, window):
    """The list shows what was found, and everything again afterwards."""
    say(qtbot, window, "About lanterns")
    window.do("new_chat")
    qtbot.waitUntil(lambda: window._id == "")
    say(qtbot, window, "About ropes")
    qtbot.waitUntil(lambda: len(window._rows) == 2)
    window._find_conversations("lanterns")
    qtbot.waitUntil(lambda: len(window.parts.sidebar._rows) == 1)
    window._find_conversations("")
    qtbot.waitUntil(lambda: len(window.parts.sidebar._rows) == 2)


def test_drafts_are_kept_with_their_conversation(qtbot, window):
    """Half a message is there again when its conversation is opened again."""
    say(qtbot, window, "One")
    first = window._id
    window.parts.composer.set_text("half a mess")
    window._keep_draft("half a mess")
    window.open("")
    qtbot.waitUntil(lambda: window._id == "")
    window.open(first)
    qtbot.waitUntil(lambda: window.parts.composer.text() == "half a mess")


@pytest.mark.parametrize("kind", ["markdown", "jsonl"])
def test_export_writes_the_file_that_was_chosen(qtbot, window, tmp_path, monkeypatch, kind):
    """The user names a file, and is told when it is there."""
    say(qtbot, window, "Write me down")
    file = tmp_path / f"talk.{kind}"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(file), ""))
    window.do(f"export_{kind}")
    qtbot.waitUntil(lambda: file.exists() and window.parts.notices.shown is not None)
    assert "Write me down" in file.read_text(encoding="utf-8")


def test_slash_commands_do_what_they_say(qtbot, window):
    """/status shows a card, /compact says that there is nothing, /system holds, /new begins."""
    say(qtbot, window, "Hello")
    window._command("/status", "")
    qtbot.waitUntil(lambda: isinstance(window.items.items()[-1], CardItem))
    window._command("/system", "Be brief.")
    qtbot.waitUntil(lambda: window.parts.notices.shown is not None)
    window._command("/compact", "lamps")
    window._command("/model", "")
    assert window.picker.isVisible()
    window.picker.close()
    window._command("/new", "")
    qtbot.waitUntil(lambda: window._id == "")


def test_what_is_told_is_shown(qtbot, window):
    """Notices, failures, the model's state, the window's guard, the fetch of the starter."""
    window._take(Notice("", "warning", "The settings have a typo."))
    assert window.parts.notices.shown.text == "The settings have a typo."
    window._take(Failed("", "No server answers.", "Start it."))
    assert window.parts.notices.shown.text == "No server answers. Start it."
    window._take(WindowKnown("", "m", "4,096", 4_096, 2_048, "block", "Too small."))
    window._take(ModelState("m", "loading", 0.5))
    window._take(Fetching(10, 100))
    window._take(Fetching(100, 100, over=True))
    assert window.parts.header.badge.isVisibleTo(window)


def test_first_run_is_shown_without_any_model(qtbot, window):
    """The model that would answer is not here: the three ways to one, also where others are."""
    window._model = "starter"
    row = ModelRow(
        "starter", "SmolLM2", 98_000_000, "", 16_384, "warn", "small", "starter", False, False
    )
    other = ModelRow("ollama:m", "m", 1, "", 32_768, "ok", "", "ollama", False, True)
    window._show_model_rows((row, other))
    assert window.parts.pages.currentWidget() is window.parts.first_run
    window._tell_refused("starter")
    assert window.parts.notices.shown.text == "small"


def test_files_of_models_are_added(qtbot, window, tmp_path, monkeypatch):
    """A file that is no model is told; nothing else happens."""
    file = tmp_path / "x.gguf"
    file.write_bytes(b"no model")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(file), ""))
    window.do("open_model")
    qtbot.waitUntil(lambda: window.parts.notices.shown is not None)


def test_zoom_theme_and_sidebar(qtbot, window):
    """The view's own actions work, and leave the theme as it was."""
    theme = theme_of()
    window.do("zoom_in")
    assert theme.zoom > 1
    window.do("zoom_out")
    window.do("zoom_reset")
    assert theme.zoom == 1.0
    window.do("theme_dark")
    assert theme.scheme == "dark"
    window.do("theme_light")
    window.do("theme_system")
    shown = window.parts.sidebar_shown
    window.do("sidebar")
    assert window.parts.sidebar_shown is not shown
    window.do("sidebar")


def test_narrow_window_hides_the_sidebar(qtbot, window):
    """Below 900 px there is a button for it; wide again, it is back."""
    window.resize(700, 600)
    qtbot.waitUntil(lambda: not window.parts.sidebar_shown)
    window.resize(1280, 820)
    qtbot.waitUntil(lambda: window.parts.sidebar_shown)


def test_find_marks_and_walks(qtbot, window):
    """The find bar counts the hits of the conversation."""
    say(qtbot, window, "lamp and lamp")
    window.do("find")
    window.parts.header.find_bar.find_changed.emit("lamp")
    window.do("find_next")
    window.do("find_previous")
    assert "of 4" in window.parts.header.find_bar.count_words
    window.parts.header.find_bar.leave()


def test_menus_dialogs_and_palette_open(qtbot, window):
    """Whatever shows something else shows it, with the keyboard too."""
    say(qtbot, window, "Hello")
    window._show_menu(QPoint(10, 10))
    window._show_conversation_menu(QPoint(10, 10))
    for item in window.items.items():
        window._show_item_menu(item.id, QPoint(10, 10))
    window._show_item_menu("nothing", QPoint(10, 10))
    window.do("palette")
    assert window.palette_.isVisible()
    window.palette_.close()
    for action in ("shortcuts", "about"):
        window.do(action)
    window._ask_link("https://harbour.example/")
    for widget in QApplication.topLevelWidgets():
        if widget is not window and widget.isVisible():
            widget.close()
    window._act_on_header("panel")
    window._act_on_header("find")
    window.do("full_screen")
    window.do("full_screen")


def test_copying(qtbot, window):
    """The last reply, and what is selected."""
    say(qtbot, window, "Copy this")
    window.do("copy_last")
    assert QApplication.clipboard().text() == "Copy this"
    window.do("select_all")
    window.do("copy")
    assert "Copy this" in QApplication.clipboard().text()
    window.do("copy_markdown")
    window.do("go_to_start")
    window.do("go_to_end")
    window.do("previous_chat")
    window.do("nothing of that name")


def test_keys_reach_the_actions(qtbot, window):
    """Ctrl+N begins a new conversation from anywhere in the window."""
    say(qtbot, window, "Hello")
    window.activateWindow()
    qtbot.keyClick(window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: window._id == "")


def test_other_model_is_used_from_the_next_message_on(qtbot, window):
    """Choosing a model in the picker tells the engine; a wrong name is told."""
    say(qtbot, window, "Hello")
    window._use_model("scripted:test")
    window._use_model("nonsense")
    qtbot.waitUntil(lambda: window.parts.notices.shown is not None)


def test_closing_ends_the_engine(qtbot, window):
    """The engine's thread is gone when the window is."""
    window.close()
    assert not window._bridge._thread.is_alive()
