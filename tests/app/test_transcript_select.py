"""Selecting and copying across messages, and finding in them."""

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication

from app.transcript.selection import Place, Selection
from tests.app.transcript_room import (
    CODE,
    LONG_LINE,
    RICH,
    click,
    conversation,
    focus,
    full_house,
    letter,
    mouse,
    reply,
    show,
    user,
)

SHIFT, CONTROL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier


def clipboard():
    return QGuiApplication.clipboard().text()


@pytest.fixture
def talk(qtbot):
    """Three short messages in view."""
    return show(
        qtbot,
        [
            user("a", "alpha beta gamma"),
            reply("b", "First **bold** line.\n\nSecond line with `code`."),
            user("c", "delta\nepsilon"),
        ],
    )


def drag(view, start, end):
    mouse(view, "press", start)
    mouse(view, "drag", (start + end) / 2)
    mouse(view, "drag", end)
    mouse(view, "release", end)


def test_drag_within_a_message(talk):
    """What the pointer passes over is selected."""
    drag(talk, letter(talk, "a", 6), letter(talk, "a", 10) - QPointF(2, 0))
    assert talk.selected_text() == "beta"


def test_drag_across_messages(talk):
    """From the middle of one to the middle of a later one, forwards and backwards alike."""
    first, last = letter(talk, "a", 6), letter(talk, "c", 3) - QPointF(2, 0)
    told = []
    talk.selection_changed.connect(lambda: told.append(1))
    drag(talk, first, last)
    expected = "beta gamma\n\nFirst bold line.\nSecond line with code.\n\ndel"
    assert talk.selected_text() == expected
    drag(talk, last, first)
    assert talk.selected_text() == expected
    assert told


def test_markdown_keeps_the_marks_of_whole_messages(talk):
    """Whole messages are copied as they were written, parts as they show."""
    drag(talk, letter(talk, "a", 6), letter(talk, "c", 3) - QPointF(2, 0))
    source = "First **bold** line.\n\nSecond line with `code`."
    assert talk.selected_text(as_markdown=True) == f"beta gamma\n\n{source}\n\ndel"


def test_a_click_ends_the_selection(talk):
    """A click elsewhere selects nothing."""
    talk.select_all()
    click(talk, letter(talk, "c", 1))
    assert not talk.has_selection()
    assert talk.selected_text() == ""


def test_shift_click_extends(talk):
    """From the last click to this one."""
    click(talk, letter(talk, "a", 0))
    click(talk, letter(talk, "a", 5) - QPointF(2, 0), modifiers=SHIFT)
    assert talk.selected_text() == "alpha"


def test_double_click_takes_a_word_and_grows_by_words(talk):
    """A word at once; dragging on takes whole words, in both directions."""
    middle = letter(talk, "a", 8)
    click(talk, middle)
    mouse(talk, "double", middle)
    assert talk.selected_text() == "beta"
    mouse(talk, "drag", letter(talk, "a", 13))
    assert talk.selected_text() == "beta gamma"
    mouse(talk, "drag", letter(talk, "a", 2))
    assert talk.selected_text() == "alpha beta"
    mouse(talk, "release", letter(talk, "a", 2))


def test_triple_click_takes_a_paragraph(talk):
    """A third click soon after takes the paragraph."""
    middle = letter(talk, "b", 3)
    mouse(talk, "double", middle)
    mouse(talk, "release", middle)
    click(talk, middle)
    assert talk.selected_text() == "First bold line."


def test_other_buttons_select_nothing(talk):
    """Neither the middle button nor a double click of it begins a selection."""
    for kind in ("press", "double"):
        mouse(talk, kind, letter(talk, "a", 3), button=Qt.MouseButton.MiddleButton)
        mouse(talk, "drag", letter(talk, "a", 9), button=Qt.MouseButton.MiddleButton)
    assert not talk.has_selection()


def test_dragging_outside_scrolls(qtbot):
    """Held above or below the view, the selection goes on by itself, until it is let go."""
    view = show(qtbot, conversation(80))
    view.scroll_to_item(40)
    mouse(view, "press", QPointF(300, 300))
    mouse(view, "drag", QPointF(300, -40))
    qtbot.waitUntil(lambda: min(view.visible_items) < 38)
    mouse(view, "drag", QPointF(300, view.viewport().height() + 300))
    qtbot.waitUntil(lambda: max(view.visible_items) > 43)
    mouse(view, "drag", QPointF(300, 200))
    mouse(view, "release", QPointF(300, 200))
    first, last = view.selection.ends
    assert last.item > first.item


def test_select_all_and_copy_keys(qtbot, talk):
    """Ctrl+A, Ctrl+C and Ctrl+Shift+C; Escape ends it."""
    talk.setFocus()
    qtbot.keyClick(talk, Qt.Key.Key_A, CONTROL)
    qtbot.keyClick(talk, Qt.Key.Key_C, CONTROL)
    assert clipboard().startswith("alpha beta gamma\n\nFirst bold line.")
    qtbot.keyClick(talk, Qt.Key.Key_C, CONTROL | SHIFT)
    assert "**bold**" in clipboard()
    qtbot.keyClick(talk, Qt.Key.Key_Escape)
    assert not talk.has_selection()


def test_copy_without_a_selection_takes_the_focused_message(qtbot, talk):
    """Ctrl+C on a message that has the focus copies it whole."""
    QGuiApplication.clipboard().setText("before")
    talk.copy()
    assert clipboard() == "before"
    focus(qtbot, talk)
    qtbot.keyClick(talk, Qt.Key.Key_Up, CONTROL)
    talk.copy()
    assert clipboard() == "First bold line.\nSecond line with code."
    talk.copy(as_markdown=True)
    assert "**bold**" in clipboard()
    talk.copy_message("a")
    assert clipboard() == "alpha beta gamma"
    talk.copy_message("none")
    assert clipboard() == "alpha beta gamma"


def test_select_all_of_ten_thousand_lays_nothing_out(qtbot):
    """Whole messages come from their source: nothing is built to copy them."""
    view = show(qtbot, conversation(10_000))
    built = view.documents_built
    view.select_all()
    text = view.selected_text()
    assert text.startswith("item 0 ")
    assert text.count("item ") == 10_000
    assert view.documents_built == built


@pytest.mark.parametrize(
    ("key", "modifiers", "expected"),
    [
        (Qt.Key.Key_Right, SHIFT, "a"),
        (Qt.Key.Key_Right, SHIFT | CONTROL, "alpha "),
        (Qt.Key.Key_End, SHIFT, "alpha beta gamma"),
        (Qt.Key.Key_Down, SHIFT, "alpha beta gamma"),
    ],
)
def test_shift_and_arrows_select(qtbot, talk, key, modifiers, expected):
    """By letters, words, lines; down from a line at an end goes into the next message."""
    qtbot.keyClick(talk, key, modifiers)
    assert talk.selected_text() == expected


def test_arrows_cross_messages_and_come_back(qtbot, talk):
    """Over the end of a message into the next, and back over its start."""
    talk.selection.begin(Place(0, 0, 15))
    for _ in range(3):
        qtbot.keyClick(talk, Qt.Key.Key_Right, SHIFT)
    assert talk.selection.head == Place(1, 0, 1)
    for _ in range(2):
        qtbot.keyClick(talk, Qt.Key.Key_Left, SHIFT)
    assert talk.selection.head == Place(0, 0, 16)
    qtbot.keyClick(talk, Qt.Key.Key_Home, SHIFT)
    assert talk.selected_text() == "alpha beta gamm"
    qtbot.keyClick(talk, Qt.Key.Key_Home, SHIFT)
    assert talk.selection.head == Place(0, 0, 0)


def test_lines_down_and_up(qtbot, talk):
    """Down keeps the distance from the left, also through other messages; up comes back."""
    talk.selection.begin(Place(1, 0, 3))
    qtbot.keyClick(talk, Qt.Key.Key_Down, SHIFT)
    assert talk.selection.head.item == 1
    assert talk.selection.head.position > 15
    qtbot.keyClick(talk, Qt.Key.Key_Down, SHIFT)
    assert talk.selection.head == Place(2, 0, 0)
    qtbot.keyClick(talk, Qt.Key.Key_Up, SHIFT)
    assert talk.selection.head.item == 1


def test_to_the_ends_of_the_conversation(qtbot, talk):
    """Ctrl+Shift+End and Home; at the ends further keys stay there."""
    qtbot.keyClick(talk, Qt.Key.Key_End, CONTROL | SHIFT)
    assert talk.selection.head == Place(2, 0, 13)
    qtbot.keyClick(talk, Qt.Key.Key_Right, SHIFT)
    assert talk.selection.head == Place(2, 0, 13)
    qtbot.keyClick(talk, Qt.Key.Key_Home, CONTROL | SHIFT)
    qtbot.keyClick(talk, Qt.Key.Key_Up, SHIFT)
    assert talk.selection.head == Place(0, 0, 0)


def test_keys_bring_what_they_reach_into_view(qtbot):
    """Selecting to the start shows the start."""
    view = show(qtbot, conversation(60))
    qtbot.keyClick(view, Qt.Key.Key_Home, CONTROL | SHIFT)
    assert 0 in view.visible_items


def test_a_selection_ends_when_its_items_go(talk):
    """Inserting or removing at or before its end would mean other text: it ends."""
    items = list(talk.model.items())
    talk.select_all()
    talk.model.set_items([*items[:1], user("x", "new"), *items[1:]])
    assert not talk.has_selection()
    talk.select_all()
    talk.model.set_items(items)
    assert not talk.has_selection()
    drag(talk, letter(talk, "a", 0), letter(talk, "a", 5) - QPointF(2, 0))
    talk.model.set_items([*items, user("x", "new")])
    assert talk.selected_text() == "alpha"
    talk.model.set_items(items)
    assert talk.selected_text() == "alpha"


def test_cards_and_days_in_a_selection(qtbot):
    """Days say nothing; a card's title and text are copied; all kinds paint selected."""
    view = show(qtbot, full_house(), size=(1016, 1400))
    view.select_all()
    text = view.selected_text()
    assert "Compacted: 7.6k → 2.9k\nThey plan a shelf." in text
    assert "oak\t22" in text
    view.scroll_to_item(0)
    view.grab()
    drag(view, QPointF(200, 20), letter(view, "short", 3))
    assert view.selected_text().endswith("How")


def test_nothing_is_an_empty_selection():
    """It has no ends and touches nothing."""
    nothing = Selection()
    assert (nothing.is_empty, list(nothing.items()), nothing.mark(0, 0)) == (True, [], None)
    with pytest.raises(ValueError, match="nothing is selected"):
        _ = nothing.ends
    nothing.extend(Place(1))
    assert nothing.anchor == Place(1)


def test_a_pane_scrolled_sideways_selects_what_shows(qtbot):
    """The letter under the pointer counts, not the one that was there."""
    view = show(qtbot, [reply("a", f"```\n{LONG_LINE}\n```")])
    run = view.box(0).runs[0]
    before = run.hit(QPointF(200, run.panes[0].inner.center().y()))
    assert run.panes[0].scroll_by(300)
    assert not run.panes[0].scroll_by(0)
    after = run.hit(QPointF(200, run.panes[0].inner.center().y()))
    assert after > before + 20


# -- find ------------------------------------------------------------------------------------


def found_of(view):
    told = []
    view.found.connect(lambda number, total: told.append((number, total)))
    return told


def test_find_counts_and_walks(qtbot):
    """All hits are counted; next and previous go round."""
    view = show(
        qtbot, [user("a", "Oak and oak"), reply("b", "An **oak** stands."), user("c", "ash")]
    )
    told = found_of(view)
    assert view.find("OAK") == 3
    view.grab()
    for _ in range(4):
        view.find_next()
    view.find_previous()
    view.find_previous()
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3), (1, 3), (3, 3), (2, 3)]
    view.find("")
    view.find_next()
    assert told[-2:] == [(0, 0), (0, 0)]


def test_previous_first_goes_up_from_the_view(qtbot):
    """Without a current hit, the search begins at what is in view."""
    view = show(qtbot, conversation(300))
    told = found_of(view)
    total = view.find("item")
    assert total == 300
    view.find_previous()
    assert told[-1] == (300, 300)
    view.find_previous()
    assert told[-1] == (299, 300)


def test_a_far_hit_comes_into_view(qtbot):
    """Going to a hit brings its line into view, laying out only what is near it."""
    view = show(qtbot, conversation(3_000))
    built = view.documents_built
    assert view.find("item 1234 ") == 1
    view.find_next()
    assert view.model.index_of("i1234") in view.visible_items
    assert view.documents_built < built + 40


def test_marks_of_the_source_are_no_hits(qtbot):
    """A target of a link is counted until the item is laid out, then put right."""
    items = [
        reply("a", "See [it](https://oak.example/oak)."),
        *conversation(200),
        user("z", "oak?"),
    ]
    view = show(qtbot, items)
    assert view.find("oak.example") == 1
    told = found_of(view)
    view.find_next()
    assert told == [(0, 0)]
    view.find("zebra")
    view.find_previous()
    assert told[-1] == (0, 0)


def test_a_backward_search_skips_what_only_the_source_has(qtbot):
    """Going up, an item without a visible hit is passed over."""
    items = [
        user("first", "guide"),
        reply("a", "See [it](https://x.example/guide)."),
        *conversation(120),
        user("last", "guide"),
    ]
    view = show(qtbot, items)
    told = found_of(view)
    assert view.find("guide") == 3
    for _ in range(3):
        view.find_previous()
    assert told[1:] == [(3, 3), (1, 2), (2, 2)]


def test_find_counts_letters_beyond_the_first_plane(qtbot):
    """Emoji before a hit do not shift what is marked."""
    view = show(qtbot, [user("a", "🌲🌲 oak"), reply("b", "🌲 an oak")])
    assert view.find("oak") == 2
    view.find_next()
    hit = view._finder.current
    cursor = view.box(hit.item).runs[0].document.find("oak")
    assert (hit.first, hit.last) == (cursor.selectionStart(), cursor.selectionEnd())


def test_find_unfolds_what_hides_a_hit(qtbot):
    """A long message, a card's text, long code and a long line open where the hit is."""
    code = "\n".join(f"print({k})" for k in range(40))
    items = [
        *full_house(),
        reply("code", f"```python\n{code}\n```\n\n```\n{LONG_LINE}\n```"),
    ]
    view = show(qtbot, items)
    for term, name in (("line 18", "long"), ("print(38)", "code"), ("value_58", "code")):
        assert view.find(term) == 1
        view.find_next()
        index = view.model.index_of(name)
        assert index in view.visible_items
    assert view._desk.is_open("long", "show_all")
    prose = view.box(view.model.index_of("code")).runs[0]
    assert prose.hidden_code(prose.document.find("print(38)").position()) == -1
    assert prose.panes[1].offset > 0


def test_a_growing_reply_is_searched_on(qtbot):
    """New text of an item counts at once, as do new items."""
    view = show(qtbot, [user("a", "oak"), reply("b", "oak")])
    told = found_of(view)
    view.find("oak")
    view.model.set_items([user("a", "oak"), reply("b", "oak, and oak")])
    assert told[-1] == (0, 3)
    view.find_next()
    view.model.set_items([user("a", "ash"), reply("b", "oak, and oak")])
    assert told[-1] == (0, 2)
    view.model.set_items([user("a", "ash"), reply("b", "oak, and oak"), user("c", "oak")])
    assert told[-1] == (0, 3)


def test_rich_text_copied_in_part_reads_as_shown(qtbot):
    """Part of a reply with code, table and list comes out as one reads it."""
    view = show(qtbot, [reply("a", RICH), user("b", "x")], size=(1016, 900))
    drag(view, letter(view, "a", 0), letter(view, "b", 0))
    text = view.selected_text()
    assert CODE in text
    assert "oak\t22\nash\t18" in text
    assert "1. saw\n2. plane" in text
