"""The parts of the window as places: panes, the sidebar beside and over, files, dialogs, what is kept."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from app.actions import TABLE
from app.text_dialog import TextDialog
from app.theme import theme_of
from app.view_state import ViewState
from tests.app.window_room import is_done, replies, say, users


def said(window):
    """What the status line says."""
    shown = window.parts.notices.shown
    return shown.text if shown is not None else ""


@pytest.fixture
def active(qtbot, window):
    """The window, in front."""
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return window


# ---- panes -----------------------------------------------------------------------------------


def test_f6_goes_round(qtbot, active):
    """From the composer to the list, the model, the conversation and back; Shift+F6 the other way."""
    say(qtbot, active, "Once")
    parts = active.parts
    stops = [parts.sidebar.list, parts.header.chip, parts.transcript, parts.composer.focusProxy()]
    stops[3].setFocus()
    for stop in stops:
        active.do("next_pane")
        assert active.focusWidget() is stop
    active.do("previous_pane")
    assert active.focusWidget() is parts.transcript


def test_a_hidden_sidebar_is_no_pane(qtbot, active):
    """Where it is not shown, F6 passes it."""
    active.do("sidebar")
    active.parts.composer.setFocus()
    active.do("next_pane")
    assert active.focusWidget() is active.parts.header.chip


def test_from_nowhere_to_the_first_pane(qtbot, active):
    """Without a focus F6 begins at the first pane."""
    if active.focusWidget() is not None:
        active.focusWidget().clearFocus()
    active.parts.header.more_button.setFocus()
    active.do("next_pane")
    assert active.focusWidget() is active.parts.sidebar.search


# ---- every action --------------------------------------------------------------------------------


def reachable_names(window):
    """Actions a hand can reach: menus, the palette, a message's menu, composer and its keys."""
    menus = {
        action.objectName() for menu in window.findChildren(QMenu) for action in menu.actions()
    }
    palette = {action.id for action in window.actions_.enabled()}
    return menus | palette


@pytest.mark.parametrize("action", [action.id for action in TABLE])
def test_every_action_is_done_by_something(window, action):
    """No action of the table is without effect: the window has a handler for it."""
    assert action in window._handlers


def test_every_action_can_be_reached_by_keyboard(window):
    """By menu and palette, or for one message by its menu."""
    names = reachable_names(window)
    for action in TABLE:
        by_place = action.place != "window"
        assert action.id in names or by_place, action.id


# ---- the sidebar ---------------------------------------------------------------------------------


def test_in_a_narrow_window_the_sidebar_lies_over_the_conversation(qtbot, window):
    """The button brings it as a sheet; the conversation keeps its width."""
    window.resize(720, 640)
    parts = window.parts
    qtbot.waitUntil(lambda: parts.main.width() == 720)
    assert not parts.sidebar_shown
    window.do("sidebar")
    assert parts.sidebar_shown
    assert parts.main.width() == 720
    assert parts.sidebar.geometry().left() == 0
    assert parts.sidebar.height() == parts.main.height()


def test_choosing_closes_the_sheet(qtbot, window):
    """A conversation was chosen: the sheet has done its work."""
    say(qtbot, window, "Once")
    window.resize(720, 640)
    window.do("sidebar")
    with qtbot.waitSignal(window.shown):
        window.parts.sidebar.chosen.emit(window._id)
    assert not window.parts.sidebar_shown


def test_a_click_beside_the_sheet_closes_it(qtbot, window):
    """And does nothing else."""
    window.resize(720, 640)
    window.do("sidebar")
    veil = window.parts.veil
    qtbot.mouseClick(veil, Qt.MouseButton.LeftButton, pos=QPoint(veil.width() - 5, 300))
    assert not window.parts.sidebar_shown
    assert not veil.isVisible()


def test_escape_closes_the_sheet(qtbot, active):
    """Before it stops anything."""
    active.resize(720, 640)
    active.do("sidebar")
    qtbot.keyClick(active.parts.sidebar.list, Qt.Key.Key_Escape)
    assert not active.parts.sidebar_shown


def test_a_wide_window_puts_it_back_beside(qtbot, window):
    """With the width it had."""
    before = window.parts.sidebar.width()
    window.resize(720, 640)
    window.do("sidebar")
    window.resize(1280, 820)
    parts = window.parts
    assert parts.sidebar.parent() is parts
    assert parts.sidebar.width() == before
    assert not parts.veil.isVisible()


def test_one_that_was_hidden_stays_hidden(qtbot, window):
    """What the user did not want in a wide window does not come back by itself."""
    window.do("sidebar")
    window.resize(720, 640)
    window.resize(1280, 820)
    assert not window.parts.sidebar_shown


# ---- what is kept --------------------------------------------------------------------------------


def test_the_window_looks_as_it_was_left(qtbot, window):
    """Its size; the screen of the tests is a small one."""
    window.resize(777, 666)
    state = window.view_state()
    window.resize(700, 600)
    window.restore(state)
    assert (window.width(), window.height()) == (777, 666)


def test_the_sidebar_is_as_it_was_left(qtbot, window):
    """As wide, and there or not."""
    window.parts.setSizes([333, 947])
    state = window.view_state()
    assert state.sidebar_width == 333
    window.do("sidebar")
    hidden = window.view_state()
    assert (hidden.sidebar_width, hidden.sidebar_shown) == (333, False)
    window.restore(replace(state, geometry=""))
    qtbot.waitUntil(lambda: window.parts.sidebar.width() == 333)
    window.restore(replace(hidden, geometry=""))
    assert not window.parts.sidebar_shown


def test_nonsense_of_another_run_is_ignored(qtbot, window):
    """A geometry that is none, a width beyond all measure."""
    window.restore(ViewState("!!!", 90_000, True, "nowhere"))
    assert window.parts.sidebar.width() <= theme_of().px(400)


def test_leaving_tells_how_it_looked(qtbot, window):
    """With the conversation that was open."""
    say(qtbot, window, "Once")
    with qtbot.waitSignal(window.leaving) as told:
        window.close()
    assert told.args[0].conversation == window._id


# ---- files ---------------------------------------------------------------------------------------


def attached(window):
    return [one.name for one in window.parts.composer.attachments()]


def test_attached_files_go_along(qtbot, window, tmp_path, monkeypatch):
    """They are read in the background, shown as tags with their tokens, and sent."""
    file = tmp_path / "notes.txt"
    file.write_text("alpha beta gamma", encoding="utf-8")
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([str(file)], ""))
    window.do("attach")
    qtbot.waitUntil(lambda: attached(window) == ["notes.txt"])
    assert window.parts.composer.attachments()[0].tokens > 0
    window.parts.composer.insert_text("Read it")
    window.do("send")
    qtbot.waitUntil(lambda: is_done(window))
    assert "alpha beta gamma" in users(window)[0]


def test_dropped_files_go_along(qtbot, window, tmp_path):
    """Dropped or pasted into the composer."""
    file = tmp_path / "table.csv"
    file.write_text("a,b\n1,2\n", encoding="utf-8")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file))])
    window.parts.composer._edit.insertFromMimeData(data)
    qtbot.waitUntil(lambda: attached(window) == ["table.csv"])


def test_what_is_no_text_is_said(qtbot, window, tmp_path):
    """Something else cannot go along; nothing is lost."""
    file = tmp_path / "program.bin"
    file.write_bytes(bytes(range(256)) * 8)
    window.parts.composer.set_text("Look at this")
    window._take_files([str(file)])
    qtbot.waitUntil(lambda: "program.bin is not a text file" in said(window))
    assert window.parts.composer.text() == "Look at this"


def test_too_many_files_at_once(qtbot, window, tmp_path):
    """The first twenty go along, and that is said."""
    files = []
    for number in range(22):
        file = tmp_path / f"{number:02}.txt"
        file.write_text(f"text {number}", encoding="utf-8")
        files.append(str(file))
    window._take_files(files)
    qtbot.waitUntil(lambda: len(attached(window)) == 20)
    assert "20" in said(window)


# ---- dialogs -------------------------------------------------------------------------------------


def dialog_of(qtbot, window):
    qtbot.waitUntil(lambda: any(d.isVisible() for d in window.findChildren(TextDialog)))
    return next(d for d in window.findChildren(TextDialog) if d.isVisible())


def test_the_system_prompt_is_shown_and_changed(qtbot, window):
    """What was set comes back into the dialog the next time."""
    say(qtbot, window, "Once")
    window.do("system_prompt")
    dialog = dialog_of(qtbot, window)
    dialog.field.setPlainText("Answer in rhymes.")
    dialog.ok_button.click()
    qtbot.waitUntil(lambda: "system prompt" in said(window))
    window._command("system", "")
    assert dialog_of(qtbot, window).field.toPlainText() == "Answer in rhymes."


def test_a_new_conversation_can_begin_with_a_system_prompt(qtbot, window):
    """Said before the first message, it holds for that conversation only."""
    window._command("system", "Answer in rhymes.")
    qtbot.waitUntil(lambda: "system prompt" in said(window))
    say(qtbot, window, "Once")
    window.do("system_prompt")
    dialog = dialog_of(qtbot, window)
    assert dialog.field.toPlainText() == "Answer in rhymes."
    dialog.reject()
    with qtbot.waitSignal(window.shown):
        window.do("new_chat")
    window.do("system_prompt")
    assert dialog_of(qtbot, window).field.toPlainText() != "Answer in rhymes."


def test_a_preset_is_used_kept_and_forgotten(qtbot, window):
    """The usual ones put their text into the field; one's own come back the next time."""
    window.do("system_prompt")
    dialog = dialog_of(qtbot, window)
    brief = next(action for action in dialog.menu().actions() if action.text() == "Brief")
    brief.trigger()
    assert "one or two sentences" in dialog.field.toPlainText()
    dialog.field.setPlainText("Answer in rhymes.")
    keep = next(a for a in dialog.menu().actions() if a.text().startswith("Keep"))
    keep.trigger()
    name = next(d for d in dialog.findChildren(TextDialog) if d.isVisible())
    qtbot.keyClicks(name.field, "Poet")
    qtbot.keyClick(name.field, Qt.Key.Key_Return)
    dialog.reject()
    window.do("system_prompt")
    qtbot.waitUntil(lambda: dialog_of(qtbot, window) is not dialog)
    again = dialog_of(qtbot, window)
    poet = next(action for action in again.menu().actions() if action.text() == "Poet")
    poet.trigger()
    assert again.field.toPlainText() == "Answer in rhymes."
    forget = next(a.menu() for a in again.menu().actions() if a.menu() is not None)
    forget.actions()[0].trigger()
    assert not [a for a in again.menu().actions() if a.text() == "Poet"]
    again.reject()


def test_a_focus_is_asked_for(qtbot, window):
    """Compact with a focus takes a sentence, Ctrl+Enter sends it; an empty one is not taken."""
    say(qtbot, window, "Once")
    window.do("compact_focus")
    dialog = dialog_of(qtbot, window)
    assert not dialog.ok_button.isEnabled()
    qtbot.keyClicks(dialog.field, "the dates")
    qtbot.keyClick(dialog.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: not dialog_is_open(window))
    qtbot.waitUntil(lambda: bool(said(window)) or len(window.items) > 2)
    assert len(replies(window)) == 1


def dialog_is_open(window):
    return any(d.isVisible() for d in window.findChildren(TextDialog))


def test_unknown_commands_are_told(qtbot, window):
    """A slip costs nothing."""
    window.parts.composer.set_text("/hepl")
    window.do("send")
    assert "/hepl" in said(window)
    assert window.parts.composer.text() == "/hepl"


def test_the_folder_of_reports_is_opened(qtbot, window, monkeypatch):
    """It is there, empty or not, and is given to the desktop."""
    opened = []
    monkeypatch.setattr("app.window.messages.QDesktopServices.openUrl", opened.append)
    window.do("open_reports")
    qtbot.waitUntil(lambda: len(opened) == 1)
    assert opened[0].isLocalFile()


def test_shift_enter_as_an_action(qtbot, window):
    """The action breaks the line where the caret is."""
    window.parts.composer.set_text("one")
    window.do("line_break")
    assert window.parts.composer.text() == "one\n"


# ---- for those who do not see it -----------------------------------------------------------------


def test_everything_that_takes_the_focus_has_a_name(qtbot, window):
    """A screen reader can say what every control is, in the whole window."""
    say(qtbot, window, "Once")
    nameless = [
        widget
        for widget in window.findChildren(QWidget)
        if widget.isVisible()
        and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.focusProxy() is None
        and not widget.accessibleName()
    ]
    assert nameless == []


def test_tab_goes_through_the_window_and_comes_back(qtbot, active):
    """Every stop is visible, none is left out, and the round ends where it began."""
    say(qtbot, active, "Once")
    active.parts.sidebar.search.setFocus(Qt.FocusReason.TabFocusReason)
    stops = []
    for _ in range(60):
        stops.append(active.focusWidget())
        qtbot.keyClick(active.focusWidget(), Qt.Key.Key_Tab)
        if active.focusWidget() is stops[0]:
            break
    assert active.focusWidget() is stops[0]
    assert all(stop.isVisible() for stop in stops)
    parts = active.parts
    wanted = [parts.sidebar.list, parts.header.chip, parts.transcript, parts.composer.focusProxy()]
    assert [stops.index(widget) for widget in wanted] == sorted(map(stops.index, wanted))
