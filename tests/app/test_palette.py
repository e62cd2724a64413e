"""The command palette."""

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QWidget

from app.actions import TABLE
from app.client import ConversationRow
from app.palette import Entry, Palette, plan_entries, rank
from app.theme import theme_of

ROWS = tuple(ConversationRow(str(n), f"Map number {n}", "m", n) for n in range(20))


@pytest.fixture
def palette(qtbot):
    """A palette over a window, with all actions and some conversations, open."""
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(900, 700)
    window.show()
    one = Palette(window)
    one.open_over(
        window, TABLE, (*ROWS, ConversationRow("x", "", "m", 0)), lambda id_: id_ != "quit"
    )
    yield one
    one.close()


@pytest.mark.parametrize(
    ("search", "text", "score"),
    [
        ("", "Zoom in", 0),
        ("zoom", "Zoom in", 0),
        ("in", "Zoom in", 1),
        ("oo", "Zoom in", 2),
        ("zin", "Zoom in", 3),
        ("x", "Zoom in", -1),
        ("in zoom", "Zoom in", 1),
    ],
)
def test_how_well_a_text_answers(search, text, score):
    """The beginning, words, parts of words, letters in order, nothing."""
    assert rank(search, text) == score


def test_the_best_comes_first():
    """Names before what they do, actions before conversations; equals keep their order."""
    actions = [
        Entry("action", "a", "Export", "Write a copy"),
        Entry("action", "b", "Copy"),
        Entry("action", "c", "Last copy"),
        Entry("action", "d", "Find", "c-o-p-y is no word of this"),
    ]
    titles = [Entry("conversation", "t", "A copy of it"), Entry("conversation", "u", "Other")]
    found = plan_entries("copy", actions, titles)
    assert [entry.id for entry in found] == ["b", "c", "a", "t"]
    assert len(plan_entries("", actions, titles)) == 4


def test_it_offers_what_can_be_done(palette):
    """All actions but those that cannot be done now; no conversations before a search."""
    ids = [entry.id for entry in palette.entries]
    assert ids == [action.id for action in TABLE if action.id != "quit"]


def test_typing_and_enter_do_it(palette, qtbot):
    """The best hit is ready; the palette closes before it is told."""
    qtbot.keyClicks(palette.field, "keyboard sh")
    with qtbot.waitSignal(palette.action_chosen) as told:
        qtbot.keyClick(palette.field, Qt.Key_Return)
    assert told.args == ["shortcuts"]
    assert not palette.isVisible()


def test_conversations_are_found_too(palette, qtbot):
    """By their titles, a few at most."""
    qtbot.keyClicks(palette.field, "map number 1")
    found = [entry for entry in palette.entries if entry.kind == "conversation"]
    assert 1 < len(found) <= 8
    qtbot.keyClicks(palette.field, "9")
    with qtbot.waitSignal(palette.conversation_chosen) as told:
        qtbot.keyClick(palette.field, Qt.Key_Return)
    assert told.args == ["19"]


def test_arrows_go_around(palette, qtbot):
    """Up from the first is the last; a page stops at the ends."""
    last = len(palette.entries) - 1

    def press(key):
        qtbot.keyClick(palette.field, key)
        return palette.list.currentIndex().row()

    assert press(Qt.Key_Up) == last
    assert press(Qt.Key_PageDown) == last
    assert press(Qt.Key_Down) == 0
    assert press(Qt.Key_PageUp) == 0


def test_nothing_found_says_so(palette, qtbot):
    """And the keys do nothing then."""
    palette.field.setText("qqqqq")
    assert palette._empty.isVisible()
    with qtbot.assertNotEmitted(palette.action_chosen):
        qtbot.keyClick(palette.field, Qt.Key_Down)
        qtbot.keyClick(palette.field, Qt.Key_Return)


def test_a_click_does_it(palette, qtbot):
    """The row under the pointer is lit."""
    view = palette.list
    view.entered.emit(view.model().index(1))
    assert view.currentIndex().row() == 1
    spot = view.visualRect(view.model().index(2)).center()
    with qtbot.waitSignal(palette.action_chosen) as told:
        qtbot.mouseClick(view.viewport(), Qt.LeftButton, pos=spot)
    assert told.args == [TABLE[2].id]


def test_escape_closes(palette, qtbot):
    """Whatever was typed."""
    palette.field.setText("x")
    qtbot.keyClick(palette.field, Qt.Key_Escape)
    assert not palette.isVisible()


def test_rows_are_spoken_with_note_and_keys(palette):
    """A screen reader hears what is seen."""
    model = palette.list.model()
    said = model.data(model.index(0), Qt.ItemDataRole.AccessibleTextRole)
    assert said.startswith(f"{TABLE[0].text}, {TABLE[0].help}")
    assert model.data(model.index(0)) == TABLE[0].text
    assert model.data(model.index(0), Qt.ItemDataRole.DecorationRole) is None
    assert model.data(QModelIndex()) is None
    assert model.rowCount(model.index(0)) == 0


def test_it_paints_keys_and_notes(palette, qtbot):
    """What is lit looks different; a note without room is left out; sizes follow the zoom."""
    before = palette.grab().toImage()
    qtbot.keyClick(palette.field, Qt.Key_Down)
    assert palette.grab().toImage() != before
    long = Entry("action", "l", "A name " * 14, "with a note")
    palette._actions = (long,)
    palette._refresh()
    palette.grab()
    width = palette.width()
    theme_of().set_zoom(1.5)
    try:
        assert palette.width() > width
    finally:
        theme_of().set_zoom(1.0)
