"""What the transcript says and shows of each item: states, costs, days, and how it looks."""

from dataclasses import replace
from datetime import date, datetime

import pytest
from PySide6.QtCore import QLocale, QPointF
from PySide6.QtGui import QColor

from app.items import CardItem, DayItem, ReplyItem
from app.theme import theme_of
from app.transcript import words
from app.transcript.offers import words_of
from tests.app.transcript_room import (
    CODE,
    LONG_LINE,
    RICH,
    WHEN,
    full_house,
    paint,
    receipt,
    reply,
    show,
    user,
)


@pytest.fixture(autouse=True)
def _in_english(qapp):
    """Figures as an American reads them, whatever the machine."""
    before = QLocale()
    QLocale.setDefault(QLocale("en_US"))
    yield
    QLocale.setDefault(before)


def labels(view, name):
    return [label.text for label in view.box(view.model.index_of(name)).labels]


def color_at(image, x, y):
    """The colour at a place in logical px, at any scale."""
    ratio = image.devicePixelRatio()
    return image.pixelColor(int(x * ratio), int(y * ratio))


def state_of(**fields):
    item = ReplyItem("r", "", **fields)
    return (words.state_title(item), words.state_figures(item), words.state_left(item))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"state": "waiting"}, ("Waiting for the model", "", "")),
        (
            {"state": "waiting", "waits_for": "Shelf"},
            ("Waiting for another chat", "Shelf", ""),
        ),
        ({"state": "loading"}, ("Loading the model", "", "")),
        (
            {"state": "loading", "done": 40, "total": 100, "seconds_left": 3.4},
            ("Loading the model", "40 %", "about 3 s"),
        ),
        (
            {"state": "reading", "done": 4096, "total": 6912, "seconds_left": 80},
            ("Reading the prompt", "4,096 / 6,912", "about 1 min 20 s"),
        ),
        ({"state": "thinking", "speed": 14.2}, ("Thinking", "14 tokens a second", "")),
        ({"state": "writing", "speed": 3.14}, ("Writing", "3.1 tokens a second", "")),
        ({"state": "writing"}, ("Writing", "", "")),
    ],
)
def test_states_are_said_in_words(fields, said):
    """What it does, how far it is, how long it will take."""
    assert state_of(**fields) == said


@pytest.mark.parametrize(
    ("fields", "seconds", "said"),
    [
        ({}, 9.4, "sent 6,912 · read 6,912 · room 1,088 · 9.4 s"),
        ({"sent_kind": "estimated", "room": None}, 0, "sent about 6,912 · read 6,912"),
        (
            {"reused": 6000, "read": 912},
            0,
            "sent 6,912 · read 912 · 6,000 remembered · room 1,088",
        ),
        ({"read": 0}, 61, "sent 6,912 · room 1,088 · 1 min 1 s"),
    ],
)
def test_receipts(fields, seconds, said):
    """Only what is known; estimates say so."""
    assert words.receipt(receipt(**fields), seconds) == said


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"thought_seconds": 4.2}, "Thought for 4 s · 3 words"),
        ({}, "Thought · 3 words"),
        ({"state": "thinking"}, "Thinking · 3 words"),
        ({"state": "thinking", "speed": 20.0}, "Thinking · 20 tokens a second · 3 words"),
    ],
)
def test_thinking_is_folded_with_its_length(fields, said):
    """How long it took, how long it is; a Han character counts as a word."""
    assert words.thought(ReplyItem("r", "", thinking="so 好的", **fields)) == said


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"state": "done"}, ""),
        ({"state": "stopped", "text": "a"}, "Stopped. This much is saved."),
        ({"state": "stopped", "text": ""}, "Stopped."),
        ({"state": "cut", "text": "a"}, "Cut short at its limit. This much is saved."),
        ({"state": "failed", "text": "a"}, "Cut short. This much is saved."),
        ({"state": "failed", "text": ""}, ""),
    ],
)
def test_endings(fields, said):
    """How it ended, if it did not end well, and what is safe."""
    assert words.ending(ReplyItem("r", **({"text": "a"} | fields))) == said


def test_an_interrupted_reply_says_why():
    """The program ended, not the model."""
    assert "program ended" in words.ending(ReplyItem("r", "a", state="interrupted"))


def test_days_have_names():
    """Today and yesterday by name, other days by date."""
    noon = int(datetime(2026, 11, 30, 12).timestamp() * 1000)
    said = [words.day(noon, date(2026, 11 + k // 31, 30 - k % 31)) for k in (0,)]
    said += [words.day(noon, date(2026, 12, 1)), words.day(noon, date(2026, 12, 9))]
    assert said == ["Today", "Yesterday", "Monday, November 30, 2026"]


def test_what_a_screen_reader_says():
    """Who, what, and in which state."""
    assert words.spoken(DayItem("d", WHEN)) == words.day(WHEN, words.now())
    running = ReplyItem("r", "", state="reading", done=1, total=2)
    assert words.spoken(running) == "Reply: Reading the prompt 1 / 2"
    failed = ReplyItem("r", "", state="failed", error="No answer.", model="Tiny")
    assert words.spoken(failed) == "Tiny: No answer."
    assert words.completed(failed) == "Reply complete: No answer."
    assert words.role_of(DayItem("d", WHEN)) == "Day"


@pytest.mark.parametrize(
    ("action", "name"),
    [
        ("copy", "Copy"),
        ("more", "More"),
        ("continue", "Continue"),
        ("undo_compaction", "Undo"),
        ("redo_focus", "Redo with a focus…"),
        ("restore_compaction", "Redo"),
        ("edit_summary", "Edit"),
        ("hide_originals", "Hide originals"),
        ("something", "something"),
    ],
)
def test_actions_have_names(action, name):
    """Known actions in words, others as they are."""
    assert words_of(action) == name


def test_a_reading_reply_shows_bar_and_note(qtbot):
    """State, figures, estimate, what is remembered."""
    item = ReplyItem(
        "r", "", state="reading", done=4096, total=6912, seconds_left=20, reused=2_000
    )
    view = show(qtbot, [user("a", "Go"), item])
    assert labels(view, "r") == [
        "Reading the prompt",
        "4,096 / 6,912",
        "· about 20 s",
        "2,000 tokens are remembered from before.",
    ]
    bar = view.box(1)._bar.translated(QPointF(view.item_rect(1).topLeft()))
    image = view.viewport().grab().toImage()
    theme = theme_of()
    y = bar.center().y()
    assert color_at(image, bar.left() + 60, y) == theme.color("accent")
    assert color_at(image, bar.right() - 60, y) == theme.color("m_free")


@pytest.mark.parametrize("state", ["waiting", "loading", "thinking", "writing"])
def test_every_running_state_paints(qtbot, state):
    """Each says what it does, until text stands."""
    view = show(qtbot, [ReplyItem("r", "", state=state, model="Tiny")])
    assert labels(view, "r")[0] == words.state_title(view.model[0])
    view.grab()


def test_writing_is_said_until_the_first_line_stands(qtbot):
    """Then the text says it."""
    item = ReplyItem("r", "Well", state="writing", speed=14)
    view = show(qtbot, [item])
    assert labels(view, "r") == ["Writing", "14 tokens a second"]
    view.model.set_items([replace(item, text="Well, " * 60)])
    assert labels(view, "r") == []


def test_states_follow_one_another_in_one_place(qtbot):
    """A reply goes through its states: the view shows each, its top stays."""
    base = [user("a", "Go")]
    view = show(qtbot, base)
    live = ReplyItem("live:1", "", state="waiting", model="Tiny", when_ms=WHEN)
    steps = [
        live,
        replace(live, state="loading", done=10, total=100),
        replace(live, state="reading", done=5, total=10),
        replace(live, state="thinking", thinking="Hm"),
        replace(live, state="thinking", thinking="Hm, yes"),
        replace(live, state="writing", thinking="Hm, yes", text="# A\n"),
        replace(live, state="writing", thinking="Hm, yes", text=f"# A\n\n```python\n{CODE[:9]}"),
        replace(
            live, state="writing", thinking="Hm, yes", text=f"# A\n\n```python\n{CODE}\n```\n"
        ),
        replace(
            live, id="r", state="done", text=f"# A\n\n```python\n{CODE}\n```\n", receipt=receipt()
        ),
        replace(live, id="r", state="failed", text="", error="No answer.", remedy="Start it."),
        replace(live, id="r", state="done", text="Now."),
    ]
    for step in steps:
        view.model.set_items([*base, step], from_index=1)
        assert view.item_rect(1).top() == 16 + view.item_rect(0).height()
        paint(view)
        view.grab()
    assert labels(view, "r")[-1].endswith("Tiny")


def test_thinking_can_be_watched(qtbot):
    """Unfolded while it grows it shows more; it stays open under its stored id."""
    live = ReplyItem("live:1", "", state="thinking", thinking="One")
    view = show(qtbot, [live])
    view.perform(0, view.box(0).parts[0])
    view.model.set_items([replace(live, thinking="One, two")])
    assert view.box(0).runs[0].document.toPlainText() == "One, two"
    done = replace(live, id="r", thinking="One, two", text="Three", state="done")
    view.model.set_items([done])
    assert view.box(0).thinking is not None
    view.perform(0, view.box(0).parts[0])
    assert view.box(0).thinking is None


def test_streaming_ends_as_the_whole(qtbot):
    """A reply that streamed in pieces shows what the whole text shows."""
    live = ReplyItem("live:1", "", state="writing")
    view = show(qtbot, [live])
    for end in range(1, len(RICH), 7):
        live = replace(live, text=RICH[:end])
        view.model.set_items([live])
        paint(view)
    view.model.set_items([reply("r", RICH)])
    other = show(qtbot, [reply("r", RICH)])
    mine, whole = view.box(0).prose, other.box(0).prose
    assert mine.document.toPlainText() == whole.document.toPlainText()
    assert [pane.box for pane in mine.panes] == [pane.box for pane in whole.panes]
    assert mine.chips == whole.chips
    assert [part.action for part in mine.links] == [part.action for part in whole.links]
    assert view.box(0).height == other.box(0).height


def test_a_growing_table_has_its_chips_where_the_text_is(qtbot):
    """A later row may widen a column: what stands in the rows before moves with it."""
    source = (
        "| a | b |\n|---|---|\n| x | `code` [l](https://e.org) |\n| y | z |\n| a wider one |\n"
    )
    live = ReplyItem("live:1", "", state="writing")
    view = show(qtbot, [live])
    for end in range(1, len(source) + 1, 3):
        view.model.set_items([replace(live, text=source[:end])])
        mine = view.box(0).prose
        paint(view)
        whole = show(qtbot, [replace(live, text=source[:end])]).box(0).prose
        assert mine.chips == whole.chips
        assert [part.rects for part in mine.links] == [part.rects for part in whole.links]


def test_a_growing_table_is_painted_where_it_grows(qtbot):
    """As long as its columns stay where they are, the rows that stand are not painted again."""
    source = "| a wide head | b |\n|---|---|\n" + "| x | y |\n" * 8
    live = ReplyItem("live:1", source, state="writing")
    view = show(qtbot, [live])
    for text in (f"{source}|", f"{source}| new |"):
        view.model.set_items([replace(live, text=text)])
    pane = view.box(0).prose.panes[0]
    assert view.box(0).changed_from > pane.rows[5]
    view.model.set_items([replace(live, text=f"{source}| new wider than the head | b |")])
    assert view.box(0).changed_from <= pane.box.top()


def test_a_growing_long_line_is_measured_as_it_grows(qtbot):
    """The code's width is right after every piece, and stays scrolled where it was."""
    live = ReplyItem("live:1", "```\nshort\n", state="writing")
    view = show(qtbot, [live])
    assert view.box(0).prose.panes[0].slack == 0
    live = replace(live, text=f"{live.text}{LONG_LINE}")
    view.model.set_items([live])
    pane = view.box(0).prose.panes[0]
    assert pane.slack > 100
    pane.scroll_by(50)
    live = replace(live, text=f"{live.text} + 1\nx\n")
    view.model.set_items([live])
    paint(view)
    after = view.box(0).prose.panes[0]
    assert after.slack > pane.slack
    assert after.offset == 50


def test_a_reply_that_changes_its_script_changes_its_face(qtbot):
    """A stream that turns out to be Chinese is set in the plain face."""
    live = ReplyItem("live:1", "OK: ", state="writing")
    view = show(qtbot, [live])
    book = view.box(0).prose.document.defaultFont().families()
    view.model.set_items([replace(live, text="OK: 好的，我们来看看这个问题。")])
    assert view.box(0).prose.document.defaultFont().families() != book


def test_another_text_in_the_middle_of_a_stream(qtbot):
    """What is not a continuation is shown as it is."""
    live = ReplyItem("live:1", "One two", state="writing")
    view = show(qtbot, [live])
    view.model.set_items([replace(live, text="Else")])
    assert view.box(0).prose.document.toPlainText() == "Else"


def test_code_is_coloured_when_idle(qtbot):
    """Long code gets its colours in slices, and the page does not move."""
    code = "\n".join(f"def area_{k}(a, b): return a * b  # {k}" for k in range(300))
    view = show(qtbot, [reply("a", f"```python\n{code}\n```")])
    height = view.box(0).height
    qtbot.waitUntil(lambda: not view.box(0).prose.built.pending)
    first = view.box(0).prose.document.findBlock(view.box(0).prose.built.code[0].first)
    assert first.layout().formats()
    assert view.box(0).height == height
    view.grab()


def test_inline_code_and_quotes_have_their_grounds(qtbot):
    """Behind inline code is its tint; beside a quotation its rule."""
    view = show(qtbot, [reply("a", RICH)], size=(1016, 900))
    box, origin = view.box(0), QPointF(view.item_rect(0).topLeft())
    chip = box.prose.chips[0].translated(box.prose.origin + origin)
    image = view.viewport().grab().toImage()
    assert color_at(image, chip.left() + 1, chip.center().y()) == theme_of().color("sunken")


def test_dark_and_light_differ(qtbot):
    """The page takes its colours from the theme in force."""
    theme = theme_of()
    view = show(qtbot, full_house())
    try:
        seen = set()
        for scheme in ("light", "dark"):
            theme.set_scheme(scheme)
            image = view.viewport().grab().toImage()
            assert image.pixelColor(2, 2) == theme.color("paper")
            seen.add(QColor(image.pixelColor(2, 2)).name())
        assert len(seen) == 2
    finally:
        theme.set_scheme("system")


@pytest.mark.parametrize("width", [320, 480, 560, 720, 1300])
def test_no_part_leaves_the_column(qtbot, width):
    """At any width every part is inside, and none lies on another."""
    view = show(qtbot, full_house(), size=(width, 600))
    view.offer("compaction", ("edit", "undo", "redo", "copy", "show_originals"))
    column = view.column()[1]
    for index in range(len(view.model)):
        parts = [part for part in view.box(index).parts if part.look != "link" or part.text]
        for part in parts:
            assert part.rect.left() >= -width
            assert part.rect.right() <= column + 1
            others = [other for other in parts if other is not part]
            assert not any(part.rect.intersects(other.rect) for other in others)
    view.scroll_to_item(0)
    view.grab()


def test_a_compacting_card_without_a_total(qtbot):
    """The bar is empty while nothing is known."""
    view = show(
        qtbot, [CardItem("c", "compacting", "Compacting context…"), CardItem("d", "local", "t")]
    )
    assert view.box(0)._face._share == 0
    view.model.set_items(
        [
            CardItem("c", "compaction", "Compacted", "", "Short.", tone="plum"),
            CardItem("d", "local", "t"),
        ]
    )
    assert labels(view, "c") == ["Compacted"]
    view.grab()
