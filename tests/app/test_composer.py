"""The composer: what keys, pastes and drops mean, and what it tells."""

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import (
    QAccessible,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QGuiApplication,
    QInputMethodEvent,
    QKeyEvent,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QVBoxLayout, QWidget

from app.command_list import command_words
from app.composer import Composer
from app.composer_dock import ComposerDock
from app.meter_plan import MeterValues
from app.notices import Notice
from app.theme import theme_of
from app.typed import COMMANDS, Attachment, join_message

Key = Qt.Key
FILE = Attachment("notes.md", "# Notes")
VALUES = MeterValues.total(2914, 8000, 16384)


class Told(list):
    """Everything a composer tells, in order, as (signal, values…)."""

    def __init__(self, composer):
        super().__init__()
        for name in (
            "submitted",
            "command",
            "unknown_command",
            "refused",
            "stop_requested",
            "draft_changed",
            "files_dropped",
            "attach_requested",
            "meter_clicked",
        ):
            getattr(composer, name).connect(self._recorder(name))

    def _recorder(self, name):
        return lambda *values: self.append((name, *values))

    def of(self, name):
        return [entry[1:] for entry in self if entry[0] == name]


@pytest.fixture
def window(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(700, 600)
    layout = QVBoxLayout(window)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.addStretch()
    window.dock = ComposerDock()
    layout.addWidget(window.dock)
    window.show()
    window.dock.setFocus()
    qtbot.waitUntil(window.dock.composer._edit.hasFocus)
    return window


@pytest.fixture
def composer(window):
    composer = window.dock.composer
    composer.window_kept = window
    return composer


@pytest.fixture
def told(composer):
    return Told(composer)


def press(composer, key, modifier=Qt.KeyboardModifier.NoModifier):
    QTest.keyClick(composer._edit, key, modifier)


def type_text(composer, text):
    QTest.keyClicks(composer._edit, text)


# -- sending ------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [Key.Key_Return, Key.Key_Enter])
def test_enter_sends_and_empties(composer, told, key):
    """Both Enter keys send what is written."""
    type_text(composer, "Hello")
    press(composer, key)
    assert told.of("submitted") == [("Hello",)]
    assert composer.text() == ""


def test_shift_enter_breaks_the_line(composer, told):
    """Shift and Alt with Enter add a line, Ctrl sends."""
    type_text(composer, "a")
    press(composer, Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    type_text(composer, "b")
    press(composer, Key.Key_Return, Qt.KeyboardModifier.AltModifier)
    type_text(composer, "c")
    assert composer.text() == "a\nb\nc"
    press(composer, Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert told.of("submitted") == [("a\nb\nc",)]


def test_a_held_enter_sends_once(composer, told):
    """The key's repetition does not send what is typed meanwhile."""
    type_text(composer, "a")
    repeated = QKeyEvent(
        QEvent.Type.KeyPress,
        Key.Key_Return,
        Qt.KeyboardModifier.NoModifier,
        "\r",
        True,
    )
    QApplication.sendEvent(composer._edit, repeated)
    assert not told.of("submitted")
    assert composer.text() == "a"


def test_nothing_to_send(composer, told):
    """Blank text stays where it is and the button is off."""
    type_text(composer, "  ")
    press(composer, Key.Key_Return)
    assert not told.of("submitted")
    assert not composer._button.isEnabled()


def test_the_button_sends(composer, told):
    """A click does what Enter does, and the caret stays in the field."""
    type_text(composer, "Hello")
    QTest.mouseClick(composer._button, Qt.MouseButton.LeftButton)
    assert told.of("submitted") == [("Hello",)]
    assert composer._edit.hasFocus()


def test_the_button_by_keyboard(composer, told):
    """Enter presses the focused button."""
    type_text(composer, "Hello")
    QTest.keyClick(composer._button, Key.Key_A)
    QTest.keyClick(composer._button, Key.Key_Return)
    assert told.of("submitted") == [("Hello",)]


def test_a_blocked_message_is_kept(composer, told):
    """While sending is blocked the reason is told and nothing is lost."""
    type_text(composer, "Hello")
    composer.set_blocked("It does not fit.")
    press(composer, Key.Key_Return)
    assert told.of("refused") == [("It does not fit.",)]
    assert (composer.text(), composer._button.isEnabled()) == ("Hello", False)
    assert composer._button.toolTip() == "It does not fit."
    composer.set_blocked("")
    press(composer, Key.Key_Return)
    assert told.of("submitted") == [("Hello",)]


# -- running ------------------------------------------------------------------------------


def test_while_a_reply_runs(composer, told):
    """The button and Escape stop it; Enter still submits, to be queued."""
    press(composer, Key.Key_Escape)
    assert not told
    composer.set_running(True)
    assert composer._button.accessibleName() == "Stop the reply"
    press(composer, Key.Key_Escape)
    QTest.mouseClick(composer._button, Qt.MouseButton.LeftButton)
    type_text(composer, "Next")
    press(composer, Key.Key_Return)
    assert len(told.of("stop_requested")) == 2
    assert told.of("submitted") == [("Next",)]
    composer.set_running(False)
    assert composer._button.accessibleName() == "Send"


def test_the_pill_takes_room_from_the_meter(composer):
    """The parts never overlap."""
    wide = composer.meter.width()
    composer.set_running(True)
    assert composer.meter.width() < wide
    assert composer.meter.geometry().right() < composer._button.geometry().left()
    assert composer._attach.geometry().right() < composer.meter.geometry().left()


# -- input methods ------------------------------------------------------------------------


def compose(composer, preedit, commit=""):
    event = QInputMethodEvent(preedit, [])
    if commit:
        event.setCommitString(commit)
    QApplication.sendEvent(composer._edit, event)


def test_enter_while_composing_belongs_to_the_input_method(composer, told):
    """Nothing is sent and no line is broken while a composition is open."""
    compose(composer, "ni hao")
    press(composer, Key.Key_Return)
    press(composer, Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert not told.of("submitted")
    compose(composer, "", "你好")
    assert composer.text() == "你好"


def test_enter_that_ends_a_composition_never_sends(qtbot, composer, told):
    """An Enter in the same batch of events as the commit is spent; the next one sends."""
    compose(composer, "ni hao")
    compose(composer, "", "你好")
    event = QKeyEvent(QEvent.Type.KeyPress, Key.Key_Return, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(composer._edit, event)
    assert not told.of("submitted")
    qtbot.waitUntil(lambda: not composer._edit.composing)
    press(composer, Key.Key_Return)
    assert told.of("submitted") == [("你好",)]


def test_escape_while_composing_does_not_stop(composer, told):
    """It ends the composition, not the reply."""
    composer.set_running(True)
    compose(composer, "ni")
    press(composer, Key.Key_Escape)
    assert not told.of("stop_requested")


def test_escape_while_composing_is_no_shortcut(composer):
    """The window's own Escape waits as well."""
    compose(composer, "ni")
    shortcut = QKeyEvent(
        QEvent.Type.ShortcutOverride, Key.Key_Escape, Qt.KeyboardModifier.NoModifier
    )
    shortcut.ignore()
    QApplication.sendEvent(composer._edit, shortcut)
    assert shortcut.isAccepted()


def test_a_cancelled_composition_leaves_the_text(composer):
    """What was written before is untouched."""
    type_text(composer, "a")
    compose(composer, "ni")
    compose(composer, "")
    assert composer.text() == "a"


# -- commands -----------------------------------------------------------------------------


def test_a_slash_offers_commands(composer):
    """The list narrows with the name and goes with the first space or without a match."""
    type_text(composer, "/")
    assert composer._commands.names == tuple(COMMANDS)
    type_text(composer, "s")
    assert (composer._commands.names, composer._commands.isVisible()) == (
        ("status", "system"),
        True,
    )
    type_text(composer, "x")
    assert composer._commands.isHidden()


def test_the_list_lies_over_the_composer_within_the_window(composer):
    """It is not cut off."""
    type_text(composer, "/")
    box = composer._commands.geometry()
    window = composer.window()
    assert window.rect().contains(box)
    assert box.bottom() <= composer.mapTo(window, QPoint(0, 0)).y()


def test_tab_completes(composer, told):
    """A command that takes words waits for them; nothing is sent."""
    type_text(composer, "/c")
    press(composer, Key.Key_Tab)
    assert composer.text() == "/compact "
    assert composer._edit.hasFocus()
    assert not told.of("command")


def test_enter_completes_a_command_that_takes_words(composer, told):
    """The first Enter fills in, the second gives the command."""
    type_text(composer, "/c")
    press(composer, Key.Key_Return)
    assert composer.text() == "/compact "
    type_text(composer, "dates")
    press(composer, Key.Key_Return)
    assert told.of("command") == [("compact", "dates")]
    assert composer.text() == ""


def test_enter_gives_a_whole_command_at_once(composer, told):
    """Nothing is missing, so nothing is asked."""
    type_text(composer, "/compact")
    press(composer, Key.Key_Return)
    type_text(composer, "/n")
    press(composer, Key.Key_Return)
    assert told.of("command") == [("compact", ""), ("new", "")]


def test_arrows_walk_the_list_round(composer, told):
    """Down and Up choose; typing on keeps the choice where it still fits."""
    type_text(composer, "/")
    press(composer, Key.Key_Up)
    assert composer._commands.current == "help"
    press(composer, Key.Key_Down)
    press(composer, Key.Key_Down)
    press(composer, Key.Key_Down)
    assert composer._commands.current == "status"
    type_text(composer, "s")
    assert composer._commands.current == "status"
    press(composer, Key.Key_Down)
    type_text(composer, "y")
    assert composer._commands.current == "system"
    assert not told.of("command")


def test_escape_closes_the_list_before_anything_else(composer, told):
    """It neither stops the reply nor reaches the window's shortcuts."""
    composer.set_running(True)
    type_text(composer, "/")
    shortcut = QKeyEvent(
        QEvent.Type.ShortcutOverride, Key.Key_Escape, Qt.KeyboardModifier.NoModifier
    )
    shortcut.ignore()
    QApplication.sendEvent(composer._edit, shortcut)
    assert shortcut.isAccepted()
    press(composer, Key.Key_Escape)
    assert composer._commands.isHidden()
    assert not told.of("stop_requested")


def test_other_shortcuts_pass_the_open_list(composer):
    """Only its own keys are taken from the window."""
    type_text(composer, "/")
    shortcut = QKeyEvent(QEvent.Type.ShortcutOverride, Key.Key_F1, Qt.KeyboardModifier.NoModifier)
    shortcut.ignore()
    QApplication.sendEvent(composer._edit, shortcut)
    assert not shortcut.isAccepted()


def test_a_click_chooses(composer, told):
    """The row under the pointer is taken."""
    type_text(composer, "/")
    view = composer._commands._view
    rect = view.visualRect(view.model().index(2, 0))
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
    assert told.of("command") == [("status", "")]


def test_the_list_goes_with_the_focus(qtbot, composer):
    """Nothing floats over a window one has left."""
    type_text(composer, "/")
    composer._attach.setFocus()
    qtbot.waitUntil(composer._commands.isHidden)


def test_a_slash_in_the_middle_offers_nothing(composer):
    """Only the caret at the end of the name counts."""
    composer.set_text("/ne")
    press(composer, Key.Key_Home)
    assert composer._commands.isHidden()


def test_unknown_command_is_kept(composer, told):
    """A slip is told, not sent."""
    type_text(composer, "/nwe")
    press(composer, Key.Key_Return)
    assert told.of("unknown_command") == [("nwe",)]
    assert composer.text() == "/nwe"


def test_two_slashes_send_one(composer, told):
    """A message may begin with a slash."""
    type_text(composer, "//new is a command")
    press(composer, Key.Key_Return)
    assert told.of("submitted") == [("/new is a command",)]


def test_every_command_has_words_a_screen_reader_gets(composer):
    """Name, argument and help of each row."""
    type_text(composer, "/")
    model = composer._commands._view.model()
    texts = [
        model.index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole)
        for row in range(model.rowCount())
    ]
    for name, text in zip(COMMANDS, texts, strict=True):
        assert text.startswith(f"/{name}")
        assert text.endswith(command_words(name)[1])
    assert model.index(0, 0).data(Qt.ItemDataRole.DecorationRole) is None


# -- history ------------------------------------------------------------------------------


def test_up_in_an_empty_composer_brings_back_what_was_sent(composer):
    """Up to the oldest, Down back to nothing."""
    composer.set_history(["one", "two\nlines"])
    press(composer, Key.Key_Up)
    assert composer.text() == "two\nlines"
    press(composer, Key.Key_Up)
    assert composer.text() == "two\nlines"  # the caret goes through its lines first
    press(composer, Key.Key_Up)
    assert composer.text() == "one"
    press(composer, Key.Key_Up)
    assert composer.text() == "one"
    press(composer, Key.Key_Down)
    press(composer, Key.Key_Down)
    assert composer.text() == ""


def test_up_in_a_text_of_ones_own_leaves_it(composer):
    """Neither a draft nor a changed text of the history is overwritten."""
    composer.set_history(["one"])
    type_text(composer, "mine")
    press(composer, Key.Key_Up)
    assert composer.text() == "mine"
    composer.set_text("")
    press(composer, Key.Key_Up)
    type_text(composer, "!")
    press(composer, Key.Key_Down)
    assert composer.text() == "one!"


def test_sent_messages_join_the_history(composer):
    """As they were typed, files included."""
    type_text(composer, "//x")
    composer.add_attachment(FILE)
    press(composer, Key.Key_Return)
    press(composer, Key.Key_Up)
    assert composer.text() == join_message("//x", [FILE])
    assert composer.attachments() == (FILE,)


def test_a_recalled_text_can_be_undone(composer):
    """Undo and redo work across it."""
    composer.set_history(["one"])
    press(composer, Key.Key_Up)
    composer.undo()
    assert composer.text() == ""
    composer.redo()
    assert composer.text() == "one"


# -- paste and drop -----------------------------------------------------------------------


def mime(text="", *urls, html=""):
    data = QMimeData()
    if text:
        data.setText(text)
    if html:
        data.setHtml(html)
    if urls:
        data.setUrls([QUrl(url) for url in urls])
    return data


def paste(composer, data):
    QGuiApplication.clipboard().setMimeData(data)
    composer._edit.paste()


def test_pasted_text_is_plain(composer):
    """Formats are dropped, line ends are ours, nothing unstorable comes in."""
    paste(composer, mime("a\r\nb\0", html="<b>a</b><img src='file:///x'>"))
    assert composer.text() == "a\nb"
    composer.undo()
    assert composer.text() == ""


def test_no_break_spaces_stay(composer):
    """What is pasted is what is sent."""
    paste(composer, mime("1\u00a0km"))
    assert composer.text() == "1\u00a0km"


def test_html_alone_is_not_taken(composer):
    """A picture or a page without text inserts nothing."""
    paste(composer, mime())
    assert composer.text() == ""
    composer._edit.insertFromMimeData(mime())
    assert composer.text() == ""


def test_pasted_files_are_told(composer, told):
    """Reading them is somebody else's business."""
    paste(composer, mime("file:///a.txt", "file:///a.txt", "file:///b.txt"))
    assert told.of("files_dropped") == [(["/a.txt", "/b.txt"],)]
    assert composer.text() == ""


def test_a_pasted_address_is_text(composer, told):
    """Only local files are files."""
    paste(composer, mime("https://example.org/x", "https://example.org/x"))
    assert not told.of("files_dropped")
    assert composer.text() == "https://example.org/x"


def test_a_very_long_paste_becomes_a_file(composer):
    """Typing behind it stays quick; it goes along all the same."""
    text = "word " * 5000
    paste(composer, mime(text))
    assert composer._edit.text() == ""
    (attachment,) = composer.attachments()
    assert attachment.text == text
    assert attachment.name == "Pasted text 1.txt"


def test_pastes_that_add_up_become_a_file(composer):
    """The limit is for the whole text, not for one paste."""
    for _ in range(3):
        paste(composer, mime("word " * 1900))
    assert len(composer._edit.text()) == 2 * 9500
    assert len(composer.attachments()) == 1


def drop(target, data):
    where, copy = QPointF(5, 5), Qt.DropAction.CopyAction
    enter = QDragEnterEvent(
        QPoint(5, 5), copy, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    enter.ignore()
    QApplication.sendEvent(target, enter)
    if enter.isAccepted():
        event = QDropEvent(
            where, copy, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        )
        QApplication.sendEvent(target, event)
    return enter.isAccepted()


@pytest.mark.parametrize("part", ["box", "field"])
def test_files_dropped_anywhere_in_the_box(composer, told, part):
    """The text field and the room around it take them."""
    target = composer if part == "box" else composer._edit.viewport()
    assert drop(target, mime("", "file:///a.txt"))
    assert told.of("files_dropped") == [(["/a.txt"],)]


def test_dropped_text_is_inserted(composer):
    """Plain, too."""
    assert drop(composer, mime("hello"))
    assert composer.text() == "hello"


def test_what_cannot_be_dropped_is_refused(composer):
    """An empty drag is not accepted."""
    assert not drop(composer, mime())


def border(composer):
    picture = composer.grab().toImage()
    return picture.pixelColor(picture.width() // 2, 0).name()


def test_a_drag_over_it_lights_the_border(composer):
    """One sees where it would fall, until it leaves."""
    composer._edit.clearFocus()
    assert border(composer) == theme_of().color("control").name()
    data = mime("x")
    enter = QDragEnterEvent(
        QPoint(5, 5),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(composer, enter)
    assert border(composer) == theme_of().color("accent").name()
    QApplication.sendEvent(composer, QDragLeaveEvent())
    assert border(composer) == theme_of().color("control").name()


# -- files that go along ------------------------------------------------------------------


def test_attachments_are_sent_with_the_text(composer, told):
    """They follow the text in the message, and are gone afterwards."""
    type_text(composer, "Look")
    composer.add_attachment(FILE)
    composer.add_attachment(FILE)
    press(composer, Key.Key_Return)
    assert told.of("submitted") == [(join_message("Look", [FILE]),)]
    assert composer.attachments() == ()


def test_a_file_alone_can_be_sent(composer, told):
    """Without a word of text."""
    composer.add_attachment(FILE)
    assert composer._button.isEnabled()
    press(composer, Key.Key_Return)
    assert told.of("submitted") == [(join_message("", [FILE]),)]


def test_a_command_with_files_is_a_message(composer, told):
    """Files are never thrown away by a command."""
    composer.add_attachment(FILE)
    type_text(composer, "/new")
    press(composer, Key.Key_Escape)
    press(composer, Key.Key_Return)
    assert told.of("submitted") == [(join_message("/new", [FILE]),)]


def test_tags_show_and_remove_files(composer):
    """The cross of a tag leaves its file out; the box shrinks again."""
    low = composer.height()
    other = Attachment("b.csv", "x", tokens=9870, fits=False)
    composer.set_attachments([FILE, other])
    assert composer.height() > low
    tags = composer._files.tags
    assert [tag.accessibleName() for tag in tags] == ["notes.md", "b.csv 9,870"]
    cross = tags[0].findChild(QAbstractButton)
    assert cross.accessibleName() == "Remove notes.md"
    cross.setDown(True)
    assert not composer.grab().isNull()
    cross.setDown(False)
    cross.click()
    assert composer.attachments() == (other,)
    composer._files.tags[0].findChild(QAbstractButton).click()
    assert composer.height() == low


def test_many_tags_wrap(composer):
    """No tag leaves the box, none lies on another."""
    composer.set_attachments([Attachment(f"a rather long name {i}.txt", str(i)) for i in range(9)])
    boxes = [tag.geometry() for tag in composer._files.tags]
    assert all(composer._files.rect().contains(box) for box in boxes)
    pairs = ((a, b) for i, a in enumerate(boxes) for b in boxes[i + 1 :])
    assert not any(a.intersects(b) for a, b in pairs)


# -- drafts -------------------------------------------------------------------------------


def test_the_draft_is_told_after_a_pause(qtbot, composer, told):
    """Once for a burst of keys."""
    with qtbot.waitSignal(composer.draft_changed):
        type_text(composer, "Hel")
        type_text(composer, "lo")
    assert told.of("draft_changed") == [("Hello",)]


def test_sending_tells_the_empty_draft_at_once(composer, told):
    """Before the message itself, so that no restart brings it back as a draft."""
    type_text(composer, "Hello")
    composer.flush_draft()
    press(composer, Key.Key_Return)
    assert [entry[0] for entry in told] == ["draft_changed", "draft_changed", "submitted"]
    assert told.of("draft_changed") == [("Hello",), ("",)]


def test_another_draft_tells_the_old_one_first_and_not_itself(composer, told):
    """Switching conversations loses nothing, and opening one is no change."""
    type_text(composer, "mine")
    composer.set_text(join_message("theirs", [FILE]))
    composer.flush_draft()
    assert told.of("draft_changed") == [("mine",)]
    assert composer.attachments() == (FILE,)
    assert composer._edit.text() == "theirs"
    composer.undo()
    assert composer._edit.text() == "theirs"


def test_quoted_text_goes_to_the_caret(composer):
    """It can be undone."""
    type_text(composer, "ab")
    press(composer, Key.Key_Left)
    composer.insert_text("X\n")
    assert composer.text() == "aX\nb"
    composer.undo()
    assert composer.text() == "ab"


# -- size, scripts, looks -----------------------------------------------------------------


def test_grows_line_by_line_to_a_third_of_the_window(qtbot, composer):
    """Then it scrolls; a smaller window takes the room back."""
    one = composer.height()
    composer.set_text("a\nb")
    assert composer.height() == one + 24
    composer.set_text("\n".join(map(str, range(60))))
    assert composer._edit.height() == 600 // 3 // 24 * 24
    assert composer._edit.verticalScrollBar().maximum() > 0
    composer.window().resize(700, 450)
    qtbot.waitUntil(lambda: composer._edit.height() == 144)
    composer.set_text("")
    assert composer.height() == one


def test_wraps_where_it_is_narrow(qtbot, composer):
    """A long line needs more lines in a narrower window."""
    composer.set_text("some words that go on " * 6)
    wide = composer.height()
    composer.window().resize(400, 600)
    qtbot.waitUntil(lambda: composer.height() > wide)


def test_lines_are_equally_high_in_every_script(composer):
    """Fall-back fonts do not move the lines apart; new lines are as high."""
    composer.set_text("Latin\n中文输入\nعربي\n😀")
    assert composer._edit.text_px() == 4 * 24
    press(composer, Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert composer._edit.text_px() == 5 * 24
    composer.set_text("")
    paste(composer, mime("一\n二"))
    assert composer._edit.text_px() == 2 * 24


def test_right_to_left_text_stands_at_the_right(composer):
    """Each paragraph has its own direction."""
    composer.set_text("Latin\nمرحبا")
    edit = composer._edit
    assert edit.cursorRect().left() < edit.viewport().width()
    block = edit.document().lastBlock()
    assert block.layout().lineAt(0).naturalTextRect().left() > edit.viewport().width() / 2


def test_mirrored_in_a_right_to_left_interface(qtbot, composer):
    """Button at the left, attach at the right."""
    composer.add_attachment(Attachment("a.txt", "x", tokens=10))
    composer.set_running(True)
    composer.window().dock.notices.say(Notice("x", "clock"))
    QApplication.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    try:
        composer._on_size_changed()
        assert composer._button.geometry().right() < composer._attach.geometry().left()
        assert composer._files.tags[0].geometry().right() > composer._files.width() - 3
        type_text(composer, "/")
        right = composer._commands.geometry().right()
        assert right == composer.mapTo(composer.window(), QPoint(composer.width() - 1, 0)).x()
        composer.window().grab()
    finally:
        QApplication.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


def test_placeholder_names_the_model(composer):
    """A screen reader gets it as the description of the field."""
    composer.set_model("SmolLM2 135M")
    assert composer._edit.placeholder == "Message SmolLM2 135M"
    assert composer._edit.accessibleDescription() == "Message SmolLM2 135M"
    composer.set_model("")
    assert composer._edit.placeholder == "Message"


def ink_in(widget, token):
    picture = widget.grab().toImage()
    color = theme_of().color(token).name()
    return any(
        picture.pixelColor(x, y).name() == color
        for x in range(picture.width())
        for y in range(picture.height())
    )


def test_placeholder_gives_way_to_a_composition(composer):
    """Neither text nor preedit is written over it."""
    composer.set_model("Model")
    composer._edit.clearFocus()
    assert ink_in(composer._edit, "ink3")
    composer._edit.setFocus()
    compose(composer, "n")
    assert not ink_in(composer._edit, "ink3")


def test_the_caret_is_painted_only_with_focus(qtbot, composer):
    """In the accent colour, and it blinks."""
    composer.set_text("x")
    assert ink_in(composer._edit, "accent")
    qtbot.waitUntil(lambda: not composer._edit._caret_on)
    assert not ink_in(composer._edit, "accent")
    composer._edit.setFocus()
    composer._attach.setFocus()
    assert not ink_in(composer._edit, "accent")


def test_a_caret_that_does_not_blink(composer):
    """The system's setting is kept."""
    hints = QApplication.styleHints()
    before = hints.cursorFlashTime()
    composer._edit._blink.stop()
    hints.setCursorFlashTime(0)
    try:
        composer.set_text("x")
        assert ink_in(composer._edit, "accent")
        assert not composer._edit._blink.isActive()
    finally:
        hints.setCursorFlashTime(before)


@pytest.mark.parametrize("running", [False, True])
@pytest.mark.parametrize("down", [False, True])
def test_button_paints_each_state(composer, running, down):
    """Accent to send, ink for the pill; another shade while pressed."""
    composer.set_text("x")
    composer.set_running(running)
    composer._button.setDown(down)
    token = {
        (False, False): "accent",
        (False, True): "accent_down",
        (True, False): "ink",
        (True, True): "ink2",
    }[running, down]
    assert ink_in(composer._button, token)
    composer.set_running(False)
    composer.set_text("")
    assert ink_in(composer._button, "m_free")


def test_attach_and_meter_are_told(composer, told):
    """Both are somebody else's business."""
    composer._attach.click()
    composer.set_meter(VALUES)
    composer.meter.click()
    assert told == [("attach_requested",), ("meter_clicked",)]
    assert composer.meter.values == VALUES


def test_a_click_beside_the_text_goes_on_writing(composer):
    """Anywhere in the box."""
    composer._attach.setFocus()
    QTest.mouseClick(composer, Qt.MouseButton.LeftButton, pos=QPoint(composer.width() // 2, 3))
    assert composer._edit.hasFocus()


def test_every_control_has_a_name(composer):
    """For screen readers."""
    composer.add_attachment(FILE)
    type_text(composer, "/")
    for widget in [composer, *composer.findChildren(QWidget), composer._commands]:
        if widget.focusPolicy() != Qt.FocusPolicy.NoFocus and widget.isVisible():
            interface = QAccessible.queryAccessibleInterface(widget)
            assert interface.text(QAccessible.Text.Name), widget


def test_tab_order(composer):
    """Text, attach, meter, button."""
    composer.set_text("x")
    order = []
    for _ in range(4):
        order.append(QApplication.focusWidget())
        QTest.keyClick(QApplication.focusWidget(), Key.Key_Tab)
    assert order == [composer._edit, composer._attach, composer.meter, composer._button]


def test_nothing_is_loaded(composer):
    """Not even what a document would ask for."""
    assert composer._edit.loadResource(2, QUrl("file:///etc/hostname")) is None


def test_zoom_and_column(qtbot, composer):
    """Everything grows with the zoom; the box is at most 752 wide and centred."""
    window = composer.window()
    window.resize(1280, 800)
    qtbot.waitUntil(lambda: composer.width() == 752)
    assert composer.mapTo(window, QPoint(0, 0)).x() == (1280 - 752) // 2
    composer.set_text("a\nb")
    low = composer.height()
    theme_of().set_zoom(1.5)
    try:
        qtbot.waitUntil(lambda: composer.width() == 752 * 1.5)
        assert composer.height() == pytest.approx(low * 1.5, abs=2)
    finally:
        theme_of().set_zoom(1)


def test_moved_to_another_window(qtbot, composer):
    """It then watches that window's height, and its lists open there."""
    other = QWidget()
    qtbot.addWidget(other)
    other.resize(500, 300)
    composer.setParent(other)
    other.show()
    composer.show()
    composer.set_text("\n".join(map(str, range(60))))
    qtbot.waitUntil(lambda: composer._edit.height() == 96)
    other.activateWindow()
    composer._edit.setFocus()
    qtbot.waitUntil(composer._edit.hasFocus)
    composer.set_text("")
    type_text(composer, "/")
    assert composer._commands.parentWidget() is other


def test_smallest_size_holds_everything(composer):
    """The meter's figures and the pill fit into the minimum."""
    composer.set_meter(VALUES)
    composer.set_running(True)
    smallest = composer.minimumSizeHint()
    assert smallest.width() < 400
    assert composer.sizeHint().height() == smallest.height() == composer.height()


def test_alone_it_works_too(qtbot):
    """A composer without a dock, as a message being edited in place uses it."""
    alone = Composer()
    qtbot.addWidget(alone)
    told = Told(alone)
    alone.set_text("x")
    alone.send()
    alone.show()
    assert told.of("submitted") == [("x",)]
