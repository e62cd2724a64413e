"""The reader's place: nothing moves but what was asked to, whatever is laid out meanwhile."""

import random
from dataclasses import replace

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication

from app.items import CardItem, ReplyItem
from app.theme import theme_of
from app.transcript.model import TranscriptModel
from tests.app.transcript_room import (
    CODE,
    LONG_LINE,
    conversation,
    full_house,
    paint,
    reply,
    show,
    tops,
    user,
    wheel,
)

STEP = 60  # px of a notch


def test_opens_at_the_end(qtbot):
    """The last item ends where the view does."""
    view = show(qtbot, conversation(300))
    assert view.at_end
    assert max(view.visible_items) == 299
    assert view.item_rect(299).bottom() <= view.viewport().height()


def test_a_short_conversation_begins_at_the_top(qtbot):
    """What fits stands at the top, with the room above it, and cannot be scrolled."""
    view = show(qtbot, [user("a", "Hello")])
    assert tops(view) == {"a": 16}
    assert view.verticalScrollBar().maximum() == 0
    wheel(view, 3)
    assert (tops(view), view.at_end) == ({"a": 16}, True)


def test_nothing_to_show_is_shown(qtbot):
    """An empty model paints, scrolls and takes keys without a word."""
    view = show(qtbot, [])
    view.scroll_to_end()
    view.resize(500, 400)
    wheel(view, 1)
    for key in (Qt.Key.Key_Up, Qt.Key.Key_A, Qt.Key.Key_Return):
        qtbot.keyClick(view, key, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(view, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    view.grab()
    assert view.visible_items == {}


def test_ten_thousand_items_lay_out_a_screenful(qtbot):
    """Opening makes documents for what is in view, no more than with a hundred."""
    few, many = show(qtbot, conversation(100)), show(qtbot, conversation(10_000))
    assert many.documents_built <= few.documents_built + 4 <= 24


def test_scrolling_far_keeps_few_layouts(qtbot):
    """However far one scrolls, old layouts are let go."""
    view = show(qtbot, conversation(2_000))
    for index in range(0, 2_000, 5):
        view.scroll_to_item(index)
    assert view.documents_built > 400
    assert len(view._boxes) <= 160


def test_200_wheel_steps_move_by_exactly_that(qtbot):
    """Going up through what was never laid out, every item in view moves by the step."""
    view = show(qtbot, conversation(400))
    for _ in range(200):
        before = tops(view)
        wheel(view, 1)
        after = tops(view)
        assert {after[name] - before[name] for name in after.keys() & before.keys()} == {STEP}
        paint(view)


def test_a_walk_up_and_down_comes_back(qtbot):
    """Random steps in both directions: every step is exact, also over items of wrong guesses."""
    dice = random.Random(5)
    view = show(qtbot, conversation(400))
    view.scroll_to_item(200)
    for _ in range(150):
        before = tops(view)
        dy = dice.randint(-400, 400)
        view.scroll_by(dy)
        after = tops(view)
        both = after.keys() & before.keys()
        assert {after[name] - before[name] for name in both} == {-dy}


def test_50_resizes_keep_the_first_message(qtbot):
    """The first message that begins in view stays where it is, at any width and height."""
    dice = random.Random(2)
    view = show(qtbot, conversation(300))
    view.scroll_to_item(150, 30)
    first, y = next((name, y) for name, y in tops(view).items() if y >= 0)
    for _ in range(50):
        view.resize(dice.randint(480, 1300), dice.randint(400, 900))
        QApplication.processEvents()
        assert tops(view)[first] == y
        paint(view)


def test_resizing_in_a_message_longer_than_the_view(qtbot):
    """When one message fills the view, the line at its top stays there."""
    long = reply("long", "\n\n".join(f"Paragraph {k} of a long text. " * 9 for k in range(80)))
    view = show(qtbot, [user("a", "Go on"), long, user("b", "Thanks")])
    view.scroll_to_item(1, -3_000)
    run = view.box(1).runs[0]
    position = run.hit(run.caret(0).center() + QPoint(0, -view.item_rect(1).top()))
    for width in (900, 620, 500, 760, 480, 1016):
        view.resize(width, 640)
        QApplication.processEvents()
        line = view.box(1).runs[0].caret(position)
        assert abs(line.top() + view.item_rect(1).top()) <= line.height()


def test_at_the_end_resizing_stays_at_the_end(qtbot):
    """Who reads the end keeps it."""
    view = show(qtbot, conversation(100))
    for width, height in ((600, 500), (1100, 900), (480, 480)):
        view.resize(width, height)
        QApplication.processEvents()
        assert view.verticalScrollBar().value() == view.verticalScrollBar().maximum()
        assert view.at_end


def test_following_a_reply_at_the_end(qtbot):
    """The reader at the end sees each new line."""
    base = conversation(40)
    view = show(qtbot, base)
    live = ReplyItem("live:1", "", state="waiting")
    for k in range(40):
        live = replace(live, text=live.text + f"more words {k}. " * 6, state="writing")
        view.model.set_items([*base, live], from_index=40)
        assert view.at_end
        assert view.item_rect(40).bottom() <= view.viewport().height()
    paint(view)


def test_a_reader_above_is_left_alone(qtbot):
    """Who has scrolled up reads on while the reply grows, is stored, and more comes."""
    base = conversation(40)
    live = ReplyItem("live:1", "Start. " * 300, state="writing")
    view = show(qtbot, [*base, live])
    wheel(view, 2)
    place = tops(view)
    for k in range(20):
        live = replace(live, text=live.text + f"more words {k}. " * 6)
        view.model.set_items([*base, live], from_index=40)
        assert tops(view) == place
    view.model.set_items([*base, replace(live, id="stored", state="done")], from_index=40)
    after = tops(view)
    assert after.pop("stored") == place.pop("live:1")
    assert after == place
    view.model.set_items([*base, replace(live, id="stored", state="done"), user("n", "More")])
    assert not view.at_end


def test_items_above_come_and_go_without_a_jump(qtbot):
    """What is inserted, changed or removed above does not move what is read."""
    base = conversation(60)
    view = show(qtbot, base)
    view.scroll_to_item(30, 10)
    place = tops(view)
    view.model.set_items([*base[:10], user("new", "in between"), *base[10:]])
    assert tops(view) == place
    view.model.set_items(base)
    assert tops(view) == place
    view.model.set_items([*base[:5], reply("i5", "much longer " * 400), *base[6:]])
    assert tops(view) == place
    view.model.set_items(base[:25])
    assert max(view.visible_items) == 24


def test_removing_what_is_read_shows_what_follows(qtbot):
    """The item at the top is removed: the next one takes its place."""
    base = conversation(60)
    view = show(qtbot, base)
    view.scroll_to_item(30, 0)
    view.model.set_items([*base[:30], *base[31:]])
    assert tops(view)["i31"] == 0


def test_wheel_counts_whole_pixels(qtbot):
    """A touch pad's pixels are taken as they are; parts of one are kept for later."""
    view = show(qtbot, conversation(100))
    before = tops(view)
    wheel(view, pixels=QPoint(0, 7))
    name = next(iter(before.keys() & tops(view).keys()))
    assert tops(view)[name] - before[name] == 7


def test_the_scroll_bar_moves_the_page(qtbot):
    """Dragging the bar shows what is there, and its end is the end."""
    view = show(qtbot, conversation(200))
    seen = []
    view.at_end_changed.connect(seen.append)
    bar = view.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    assert 20 < min(view.visible_items) < 180
    bar.setValue(bar.maximum())
    assert max(view.visible_items) == 199
    assert seen == [False, True]


def test_the_end_button_shows_away_from_the_end(qtbot):
    """It floats over the page only when the end is not in view, and leads there."""
    view = show(qtbot, conversation(100))
    assert view.end_button().isEmpty()
    wheel(view, 10)
    place = view.end_button().center()
    qtbot.mouseMove(view.viewport(), place)
    view.grab()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert view.at_end
    assert view.end_button().isEmpty()


def test_keys_scroll(qtbot):
    """Lines, pages, start and end."""
    view = show(qtbot, conversation(100))
    view.scroll_to_item(50, 0)
    for key, back in (
        (Qt.Key.Key_Down, Qt.Key.Key_Up),
        (Qt.Key.Key_PageDown, Qt.Key.Key_PageUp),
    ):
        before = tops(view)
        qtbot.keyClick(view, key)
        assert tops(view) != before
        qtbot.keyClick(view, back)
        assert tops(view) == before
    qtbot.keyClick(view, Qt.Key.Key_Home)
    assert tops(view)["i0"] == 16
    qtbot.keyClick(view, Qt.Key.Key_End)
    assert view.at_end


def test_go_to_an_item(qtbot):
    """It stands at the top; an unknown id is said to be so."""
    view = show(qtbot, conversation(500))
    assert view.go_to("i123")
    assert tops(view)["i123"] == 16
    assert not view.go_to("nowhere")


def test_unfolding_keeps_the_item_in_place(qtbot):
    """The item that is unfolded begins where it began."""
    view = show(qtbot, full_house(), size=(800, 300))
    for name, action in (
        ("rich", "toggle_thinking"),
        ("fold", "toggle_card"),
        ("fold", "toggle_values"),
        ("long", "show_all"),
    ):
        index = view.model.index_of(name)
        view.scroll_to_item(index, 5)
        part = next(part for part in view.box(index).parts if part.action == action)
        height = view.box(index).height
        view.perform(index, part)
        assert view.box(index).height > height
        assert tops(view)[name] == 5


def test_zoom_and_colours_keep_the_place(qtbot):
    """A new zoom or scheme measures anew; the first message stays."""
    theme = theme_of()
    view = show(qtbot, conversation(100))
    view.scroll_to_item(50, 20)
    first = next(name for name, y in tops(view).items() if y >= 0)
    y = tops(view)[first]
    try:
        for change in (
            lambda: theme.set_zoom(1.5),
            lambda: theme.set_scheme("dark"),
            lambda: theme.set_zoom(1.0),
            lambda: view.set_column(640),
            lambda: view.set_column(640),
        ):
            change()
            assert tops(view)[first] == y
        assert view.column()[1] == 640
    finally:
        theme.set_zoom(1.0)
        theme.set_scheme("system")


def test_another_model_is_shown_from_its_end(qtbot):
    """The old model's changes no longer matter."""
    view = show(qtbot, conversation(50))
    old, new = view.model, TranscriptModel(view)
    new.set_items(conversation(80))
    view.scroll_to_item(3)
    view.set_model(new)
    old.set_items([])
    assert view.at_end
    assert max(view.visible_items) == 79


def test_only_what_changed_is_painted(qtbot):
    """A growing reply repaints from the changed line down, not the page."""
    base = [user("a", "Go"), reply("r", "one\n\n" * 6)]
    live = ReplyItem("live:1", "First paragraph of some length.\n\n" * 12 + "and", state="writing")
    view = show(qtbot, [*base, live])
    paint(view)
    paints = []
    original = view.viewport().update

    def noted(*args):
        paints.append(args)
        original(*args)

    view.viewport().update = noted
    view.model.set_items([*base, replace(live, text=live.text + " more")], from_index=2)
    rects = [args[0] for args in paints if args]
    assert rects
    assert len(rects) == len(paints)  # never everything
    assert max(rect.height() for rect in rects) < view.item_rect(2).height() / 2


def test_scrolling_paints_what_painting_would(qtbot):
    """After many small steps with moved pixels, the picture is that of painting everything."""
    view = show(
        qtbot, [*full_house(), reply("w", f"```\n{LONG_LINE}\n{CODE}\n```"), *full_house()[2:3]]
    )
    view.scroll_to_item(2)
    for dy in (13, 40, -7, 90, -33):
        view.scroll_by(dy)
        paint(view)
    moved = view.viewport().grab().toImage()
    view.viewport().repaint()
    assert moved == view.viewport().grab().toImage()


def test_what_is_next_is_laid_out_ahead(qtbot):
    """When idle, the items beside the view are laid out, and nothing moves."""
    view = show(qtbot, conversation(60))
    view.scroll_to_item(30, 10)
    place = tops(view)
    first, last = min(view.visible_items), max(view.visible_items)
    qtbot.waitUntil(lambda: {first - 1, last + 1} <= view._boxes.keys())
    assert tops(view) == place


def test_originals_come_below_their_card_in_place(qtbot):
    """Opened at the end of the page, the card stays where it is and the messages follow it."""
    card = CardItem("c", "compaction", "Compacted", has_originals=True, offers=("copy",))
    kept = [user(f"k{n}", f"Kept {n} " * 60) for n in range(9)]
    view = show(qtbot, [card, *kept])
    view.show_span(0, 0, 10)
    before = view.item_rect(0).top()
    part = next(p for p in view.box(0).parts if p.action == "show_originals")
    view.perform(0, part)
    originals = [user(f"o{n}", f"Folded {n} " * 30, folded=True) for n in range(9)]
    view.model.set_items((replace(card, is_open=True), *originals, *kept), 0)
    assert view.item_rect(0).top() == before
    assert view.item_rect(1).top() > before
