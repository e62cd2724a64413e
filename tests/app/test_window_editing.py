"""Saying something else instead: the editor in the place of a message, in the whole window."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QMenu

from app.items import ReplyItem, UserItem
from app.typed import Attachment, join_message
from app.window.messages import fits
from tests.app.window_room import is_done, replies, say, users


def first_user(window):
    return next(item for item in window.items.items() if isinstance(item, UserItem))


def begin(qtbot, window, item_id=""):
    """Edit a message, the last one unless it is named; the editor."""
    if item_id:
        window._act_on_item(item_id, "edit")
    else:
        window.do("edit_last")
    editing = window.parts.transcript.editing
    qtbot.waitUntil(lambda: editing.editor is not None)
    return editing.editor


def test_a_message_is_edited_in_its_place(qtbot, window):
    """The editor stands where the message stood, with its text and the focus."""
    say(qtbot, window, "First words")
    editor = begin(qtbot, window)
    rect = window.parts.transcript.item_rect(window.items.index_of(first_user(window).id))
    assert editor.text() == "First words"
    assert editor.geometry().topLeft() == rect.topLeft()
    assert editor.height() <= rect.height()
    assert window.parts.composer.text() == ""


def test_enter_says_it_instead(qtbot, window):
    """A new version is answered; the arrows lead back to the old one."""
    say(qtbot, window, "First words")
    editor = begin(qtbot, window)
    qtbot.keyClicks(editor.edit, " and more")
    qtbot.keyClick(editor.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: users(window) == ["First words and more"] and is_done(window))
    versions = first_user(window).versions
    assert (versions.number, versions.of) == (2, 2)
    window._act_on_item(first_user(window).id, "earlier")
    qtbot.waitUntil(lambda: users(window) == ["First words"])


def test_an_older_message_can_be_edited(qtbot, window):
    """Not only the last one: what followed stays reachable."""
    say(qtbot, window, "One")
    say(qtbot, window, "Two")
    editor = begin(qtbot, window, first_user(window).id)
    editor.set_text("Uno")
    editor.send.click()
    qtbot.waitUntil(lambda: users(window) == ["Uno"] and is_done(window))
    window._act_on_item(first_user(window).id, "earlier")
    qtbot.waitUntil(lambda: users(window) == ["One", "Two"])


def test_escape_leaves_it_as_it_was(qtbot, window):
    """Esc gives the changes up, and they do not come back."""
    say(qtbot, window, "First words")
    editor = begin(qtbot, window)
    qtbot.keyClicks(editor.edit, " changed")
    qtbot.keyClick(editor.edit, Qt.Key.Key_Escape)
    assert window.parts.transcript.editing.editor is None
    assert users(window) == ["First words"]
    assert begin(qtbot, window).text() == "First words"


def test_nothing_cannot_be_said(qtbot, window):
    """An emptied message is not sent."""
    say(qtbot, window, "First words")
    editor = begin(qtbot, window)
    editor.set_text("  ")
    assert not editor.send.isEnabled()
    qtbot.keyClick(editor.edit, Qt.Key.Key_Return)
    assert window.parts.transcript.editing.editor is editor


def test_what_was_changed_is_kept_when_another_conversation_is_shown(qtbot, window):
    """Coming back to the message, the editor holds what was written in it."""
    say(qtbot, window, "First words")
    here = window._id
    editor = begin(qtbot, window)
    editor.set_text("Half a tho")
    with qtbot.waitSignal(window.shown):
        window.do("new_chat")
    assert window.parts.transcript.editing.editor is None
    with qtbot.waitSignal(window.shown):
        window.open(here)
    assert begin(qtbot, window).text() == "Half a tho"


def test_files_of_a_message_can_be_left_out(qtbot, window):
    """They stand as tags over the text, each with a cross."""
    message = join_message(
        "Read this", [Attachment("a.txt", "alpha"), Attachment("b.txt", "beta")]
    )
    say(qtbot, window, message)
    editor = begin(qtbot, window)
    assert editor.edit.text() == "Read this"
    editor._files.tags[0].removed.emit()
    assert editor.text() == join_message("Read this", [Attachment("b.txt", "beta")])


def test_the_editor_grows_with_its_text_and_scrolls_with_the_page(qtbot, window):
    """More lines need more room; scrolled away it keeps the focus, and comes back."""
    for number in range(12):
        say(qtbot, window, f"Message {number} with some words")
    view = window.parts.transcript
    editor = begin(qtbot, window)
    before = editor.height()
    editor.edit.insertPlainText("\nmore\nlines\nhere")
    qtbot.waitUntil(lambda: editor.height() > before)
    view.scroll_to_item(0)
    assert editor.geometry().bottom() < 0 or editor.geometry().top() > view.viewport().height()
    assert editor.edit.hasFocus()
    view.scroll_to_end()
    assert view.viewport().rect().intersects(editor.geometry())


def test_resizing_keeps_the_editor_on_its_column(qtbot, window):
    """A narrower window makes the editor narrower, with its text in it."""
    say(qtbot, window, "First words")
    editor = begin(qtbot, window)
    window.resize(700, 600)
    qtbot.waitUntil(lambda: editor.width() == window.parts.transcript.column()[1])
    assert editor.geometry().left() == window.parts.transcript.column()[0]


def test_a_click_beside_the_text_goes_on_writing(qtbot, window):
    """The box belongs to the text."""
    say(qtbot, window, "First words")
    editor = begin(qtbot, window)
    window.parts.composer.setFocus()
    qtbot.mouseClick(editor, Qt.MouseButton.LeftButton, pos=QPoint(3, editor.height() - 3))
    assert editor.edit.hasFocus()


def test_deleting_the_message_ends_its_editing(qtbot, window):
    """There is nothing left to be changed."""
    say(qtbot, window, "First words")
    begin(qtbot, window)
    window._act_on_item(first_user(window).id, "delete")
    qtbot.waitUntil(lambda: not window.items.items())
    assert window.parts.transcript.editing.editor is None


# ---- the menu of a message -------------------------------------------------------------------


def open_menu(window, item):
    """The menu of a message."""
    window._show_item_menu(item.id, QPoint(20, 20))
    return next(m for m in window.findChildren(QMenu) if m.isVisible())


def test_the_menu_offers_what_fits(qtbot, window):
    """A question can be edited, a reply answered again; versions only where there are some."""
    say(qtbot, window, "Once")
    names = []
    for item in (first_user(window), replies(window)[0]):
        menu = open_menu(window, item)
        names.append({action.objectName() for action in menu.actions() if action.text()})
        menu.close()
    assert "message_edit" in names[0]
    assert "message_edit" not in names[1]
    assert "message_regenerate" in names[1]
    assert "message_earlier" not in names[0] | names[1]


def test_the_menu_acts_on_its_message(qtbot, window):
    """Copy gives the text of the message the menu was opened for."""
    say(qtbot, window, "**Once**")
    menu = open_menu(window, replies(window)[0])
    action = window.actions_["message_copy"]
    menu.setActiveAction(action)
    qtbot.keyClick(menu, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().text() == "Once")
    qtbot.waitUntil(lambda: window._target == "")


def test_a_message_is_pinned_from_its_menu(qtbot, window):
    """It shows its pin, and the menu takes it off again."""
    say(qtbot, window, "Once")
    assert fits("message_pin", first_user(window))
    window._target = first_user(window).id
    window.do("message_pin")
    qtbot.waitUntil(lambda: first_user(window).pinned)
    assert not fits("message_pin", first_user(window))
    box = window.parts.transcript.box(window.items.index_of(first_user(window).id))
    pin = next(part for part in box.parts if part.action == "unpin")
    window.parts.transcript.perform(window.items.index_of(first_user(window).id), pin)
    qtbot.waitUntil(lambda: not first_user(window).pinned)


def test_keys_act_on_the_focused_message(qtbot, window):
    """Alt+Left goes to the earlier version of the message that has the focus."""
    window.activateWindow()
    say(qtbot, window, "Once")
    window.do("regenerate")
    qtbot.waitUntil(lambda: bool(replies(window)) and replies(window)[0].versions is not None)
    qtbot.waitUntil(lambda: is_done(window))
    view = window.parts.transcript
    view.setFocus(Qt.FocusReason.TabFocusReason)
    at = next(i for i, x in enumerate(window.items.items()) if isinstance(x, ReplyItem))
    qtbot.waitUntil(lambda: view.focused_part()[0] == at)
    qtbot.keyClick(view, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    qtbot.waitUntil(lambda: replies(window)[0].versions.number == 1)


def test_without_a_message_nothing_happens(qtbot, window):
    """The actions of messages do nothing where there is none."""
    QApplication.clipboard().setText("before")
    window.do("message_copy")
    assert QApplication.clipboard().text() == "before"
