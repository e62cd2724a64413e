"""The header of a conversation and its find bar."""

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QWidget

from app.client import Conversation, ModelRow
from app.header import Header, window_words
from app.theme import theme_of


@pytest.fixture
def header(qtbot):
    """A header with a conversation, shown 900 px wide."""
    one = Header()
    qtbot.addWidget(one)
    one.resize(900, 52)
    model = ModelRow("starter", "SmolLM2 135M", 1, "", 16_384, "warn", "", "starter", True, True)
    conversation = Conversation(
        *("a", "Offline map", "starter"),
        window_tokens=16_384,
        guard="warn",
        guard_text="Its window is 16,384.",
    )
    one.set_conversation(conversation, model)
    one.show()
    qtbot.waitExposed(one)
    return one


def keeps_escape(widget):
    """Whether a widget takes Esc before the window's shortcuts do."""
    event = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_Escape, Qt.NoModifier)
    event.ignore()
    QApplication.sendEvent(widget, event)
    return event.isAccepted()


@pytest.mark.parametrize(
    ("tokens", "words"),
    [(0, ""), (16_384, "16K"), (20_000, "20k"), (131_072, "128K"), (999, "999")],
)
def test_a_window_in_a_few_letters(tokens, words):
    """Whole KiB as K, others as k; nothing for an unknown one."""
    assert window_words(tokens) == words


def test_it_shows_the_conversation(header):
    """Title, model and window, and a badge whose tooltip is the reason."""
    assert header.title.text() == "Offline map"
    assert header.chip.accessibleName() == "Model: SmolLM2 135M · 16K"
    assert header.badge.text == "small window"
    assert header.badge.toolTip() == "Its window is 16,384."
    assert header.badge.accessibleName() == "small window: Its window is 16,384."


def test_a_long_title_leaves_the_model_its_room(header):
    """The title can be cut, the model and its window are what one looks for."""
    header.resize(720, header.height())
    header.set_title("A title that is longer than any window is wide, " * 3)
    header.set_model("SmolLM2", 16_384)
    header.set_guard("warn", "A small window.")
    header.layout().activate()
    header._row.activate()
    assert header.chip.width() == header.chip.sizeHint().width()
    assert header.title.width() > 100


def test_a_new_conversation_says_so(header):
    """Without title, model and window there are still words."""
    header.set_conversation(Conversation("", "", "ollama:x"), None)
    assert header.title.text() == "New conversation"
    assert header.chip.accessibleName() == "Model: ollama:x"
    header.set_model("", 0)
    assert header.chip.accessibleName() == "Model: none"
    assert not header.badge.isVisible()


def test_every_guard_has_its_badge(header):
    """Blocked, small, stretched; blocked wins over all, and without a reason the word stays."""
    header.set_guard("block", "Too small.", 2)
    assert (header.badge.text, header.badge.isVisible()) == ("blocked", True)
    header.set_guard("ok", "", 2)
    assert (header.badge.text, header.badge.toolTip()) == ("stretched ×2", "stretched ×2")
    header.set_guard("ok", "")
    assert not header.badge.isVisible()


def test_in_a_narrow_window_the_badge_is_its_icon(header):
    """And its words are in the tooltip all the same."""
    wide = header.badge.sizeHint().width()
    header.resize(500, 52)
    assert header.badge.sizeHint().width() < wide
    assert not header.lens_button.isVisible()
    assert header.more_button.isVisible()
    assert header.badge.toolTip() == "Its window is 16,384."


def test_a_double_click_renames(header, qtbot):
    """Enter keeps what was typed and tells it once."""
    told = []
    header.renamed.connect(told.append)
    qtbot.mouseDClick(header.title, Qt.RightButton)
    assert header.editor.isHidden()
    qtbot.mouseDClick(header.title, Qt.LeftButton)
    assert header.editor.text() == "Offline map"
    header.editor.setText("  Tiles \t offline ")
    qtbot.keyClick(header.editor, Qt.Key_Return)
    assert told == ["Tiles offline"]
    assert header.title.text() == "Tiles offline"
    assert header.title.isVisible()


def test_escape_and_emptiness_rename_nothing(header, qtbot):
    """The old title stays; Esc reaches no shortcut of the window."""
    with qtbot.assertNotEmitted(header.renamed):
        header.begin_rename()
        assert keeps_escape(header.editor)
        header.editor.setText("Other")
        qtbot.keyClick(header.editor, Qt.Key_Escape)
        header.begin_rename()
        header.editor.setText(" ")
        qtbot.keyClick(header.editor, Qt.Key_Return)
        header.begin_rename()
        qtbot.keyClick(header.editor, Qt.Key_Return)
    assert header.title.text() == "Offline map"
    assert header.editor.isHidden()


def test_buttons_tell_what_they_are(header, qtbot):
    """Each by its name; the menu by its place, the models by the chip's."""
    header.set_sidebar_button(shown=True)
    told = []
    header.action.connect(told.append)
    for button in (
        *(header.sidebar_button, header.find_button, header.lens_button, header.panel_button),
    ):
        qtbot.mouseClick(button, Qt.LeftButton)
    assert told == ["sidebar", "find", "lens", "panel"]
    with qtbot.waitSignal(header.more_requested) as asked:
        qtbot.mouseClick(header.more_button, Qt.LeftButton)
    assert asked.args[0].y() > header.more_button.mapToGlobal(header.more_button.pos()).y()
    with qtbot.waitSignal(header.model_clicked):
        qtbot.mouseClick(header.chip, Qt.LeftButton)
    assert header.chip_corner().y() > header.chip.mapToGlobal(header.chip.rect().bottomLeft()).y()


def test_switches_show_that_they_are_on(header):
    """Lens and panel look and sound different when they are on."""
    before = header.lens_button.grab().toImage()
    header.set_on("lens", on=True)
    header.set_on("panel", on=False)
    assert header.lens_button.isChecked()
    assert header.lens_button.grab().toImage() != before


def test_a_switch_shows_what_is_not_what_was_asked(header, qtbot):
    """Pressed, it waits for the window to say that the lens is on."""
    with qtbot.waitSignal(header.action):
        qtbot.mouseClick(header.lens_button, Qt.LeftButton)
    assert not header.lens_button.isChecked()


def test_it_grows_with_the_zoom(header):
    """Its height, and the colours follow the theme."""
    before = header.grab().toImage()
    theme_of().set_zoom(2.0)
    try:
        QApplication.processEvents()
        assert header.grab().height() > before.height()
    finally:
        theme_of().set_zoom(1.0)


def test_every_control_has_a_name(header):
    """What the keys can reach says what it is."""
    header.find_bar.begin()
    for one in header.findChildren(QWidget):
        if one.focusPolicy() != Qt.FocusPolicy.NoFocus:
            assert one.accessibleName(), one


# ---- find ---------------------------------------------------------------------------------------


def test_finding_tells_words_and_shows_the_count(header, qtbot):
    """A pause after typing asks; the answer stands beside the field."""
    bar = header.find_bar
    bar.begin()
    assert bar.isVisible()
    with qtbot.waitSignal(bar.find_changed) as told:
        qtbot.keyClicks(bar.field, "tile")
    assert told.args == ["tile"]
    bar.set_count(3, 1_200)
    assert bar.count_words == "3 of 1,200"
    assert bar.next.isEnabled()
    bar.set_count(0, 0)
    assert bar.count_words == "Nothing found"
    assert not bar.next.isEnabled()
    bar.field.clear()
    assert bar.count_words == ""
    bar.grab()


def test_enter_goes_on_and_shift_enter_back(header, qtbot):
    """As do the buttons; other keys are left alone."""
    bar = header.find_bar
    bar.begin("tile")
    bar.field.tell_now()
    bar.set_count(1, 2)
    with qtbot.waitSignal(bar.next_requested):
        qtbot.keyClick(bar.field, Qt.Key_Return)
    with qtbot.waitSignal(bar.previous_requested):
        qtbot.keyClick(bar.field, Qt.Key_Return, Qt.ShiftModifier)
    with qtbot.waitSignal(bar.next_requested):
        qtbot.mouseClick(bar.next, Qt.LeftButton)
    with qtbot.waitSignal(bar.previous_requested):
        qtbot.mouseClick(bar.previous, Qt.LeftButton)
    with qtbot.assertNotEmitted(bar.closed):
        qtbot.keyClick(bar, Qt.Key_F5)


def test_escape_closes_and_the_words_come_back(header, qtbot):
    """From the field and from a button; opened again, the old words are asked for again."""
    bar = header.find_bar
    bar.begin("tile")
    bar.field.tell_now()
    with qtbot.waitSignals([bar.closed, bar.find_changed]):
        qtbot.keyClick(bar.field, Qt.Key_Escape)
    assert bar.isHidden()
    with qtbot.waitSignal(bar.find_changed) as told:
        bar.begin()
    assert told.args == ["tile"]
    assert keeps_escape(bar)
    with qtbot.waitSignal(bar.closed):
        qtbot.keyClick(bar, Qt.Key_Escape)
    with qtbot.assertNotEmitted(bar.closed):
        bar.leave()


def test_what_leaves_the_computer_is_marked(header):
    """A badge of its own beside the model, whatever else is said of it; its icon when narrow."""
    assert header.cloud.isHidden()
    header.set_cloud(on=True)
    header.set_guard("warn", "Its window is small.")
    assert header.cloud.isVisible()
    assert header.badge.isVisible()
    assert (header.cloud.text, header.cloud._compact) == ("cloud", False)
    assert "leave this computer" in header.cloud.toolTip()
    assert header.cloud.accessibleDescription() == header.cloud.toolTip()
    header.resize(500, 52)
    assert header.cloud._compact
    assert "leave this computer" in header.cloud.toolTip()
    header.set_cloud(on=False)
    assert header.cloud.isHidden()
