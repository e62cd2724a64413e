"""The lens over the transcript: bands, their words, what stays where it is, what a click asks for."""

from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible

from app.items import CardItem, DayItem, ReplyItem
from app.theme import theme_of
from app.transcript.bands import Band, LensBook
from engine.backends.base import PromptMessage
from engine.lens import Seen
from tests.app.transcript_room import (
    WHEN,
    click,
    conversation,
    full_house,
    mouse,
    paint,
    reply,
    show,
    user,
)


def seen(entry, state="verbatim", tokens=24, whole=24, segment="your messages", answers_for=""):
    """What the model sees of an entry."""
    sent = state in ("verbatim", "shortened")
    message = PromptMessage("user", "words") if sent else None
    return Seen(entry, state, tokens if sent else 0, whole, message, segment, answers_for)


def book(*lens, exact=True):
    return LensBook(lens, exact=exact)


def all_verbatim(items):
    return book(*(seen(item.id) for item in items))


# ---- words --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sight", "band"),
    [
        (seen("a"), Band("verbatim", "Verbatim", "24")),
        (seen("a", segment="pinned"), Band("verbatim", "Pinned, verbatim", "24")),
        (seen("a", segment="summary"), Band("verbatim", "Summary, verbatim", "24")),
        (seen("a", "shortened", 724, 3_560), Band("shortened", "Shortened", "724 of 3,560")),
        (seen("a", "folded", whole=341), Band("folded", "Folded", "0 of 341")),
        (seen("a", "not_sent"), Band("not_sent", "Not sent", "stays here")),
    ],
)
def test_what_a_band_says(sight, band):
    """State and tokens."""
    assert book(sight).band(user("a", "words")) == band


def test_an_estimate_says_so():
    """≈ before its figures."""
    assert book(seen("a"), exact=False).band(user("a", "words")).rest == "≈ 24"


@pytest.mark.parametrize(
    ("item", "band"),
    [
        (DayItem("day", WHEN), None),
        (user("q", "next", queued=True), Band("not_sent", "Not sent", "waits for its turn")),
        (user("live:said:1", "now"), Band()),
        (ReplyItem("live:1", "so", state="writing"), Band("", "Being written")),
        (ReplyItem("live:1", "so"), Band()),
        (ReplyItem("x", "", state="stopped"), Band("not_sent", "Not sent", "nothing was said")),
        (CardItem("c", "compacting", "…"), Band()),
        (CardItem("c", "compaction", "Old"), Band("not_sent", "Not sent", "undone")),
        (CardItem("c", "error", "Too large"), Band("not_sent", "Not sent", "kept here")),
        (CardItem("c", "local", "Status"), Band("not_sent", "Not sent", "only shown here")),
    ],
)
def test_what_is_not_on_the_path(item, band):
    """Days have no band; what waits, runs or is only shown says so."""
    assert book().band(item) == band


def test_a_card_of_an_edited_summary_has_the_words_of_the_edit():
    """The edit is another entry; the card is that of the compaction."""
    lens = book(seen("c", "folded"), seen("e", segment="summary", answers_for="c"))
    assert lens.band(CardItem("c", "compaction", "Compacted")).tint == "verbatim"
    assert lens.seen("c").entry == "e"
    assert lens.seen("nobody") is None


# ---- painting and places ------------------------------------------------------------------------


def test_every_item_of_a_full_house_can_be_tinted(qtbot):
    """Every kind and state of item, in light and dark, with every state of the lens."""
    items = full_house()
    view = show(qtbot, items)
    states = ["verbatim", "shortened", "folded", "not_sent"]
    lens = [seen(item.id, states[n % 4]) for n, item in enumerate(items)]
    for scheme in ("light", "dark"):
        theme_of().set_scheme(scheme)
        view.set_lens(book(*lens))
        view.grab()
    theme_of().set_scheme("light")


def test_a_band_is_painted_in_its_colour(qtbot):
    """Left of the text stands the rule, behind it the tint."""
    items = [user("a", "short"), reply("b", "An answer.")]
    view = show(qtbot, items)
    view.set_lens(book(seen("a", "folded"), seen("b")))
    qtbot.waitUntil(lambda: not view._is_shading())
    area = view.band_rect(1)
    picture = view.viewport().grab().toImage()
    middle = round(area.center().y())
    assert picture.pixelColor(round(area.left()) + 1, middle) == theme_of().color("m_recent")
    assert picture.pixelColor(round(area.right()) - 4, middle) == theme_of().color("l_verb")
    above = view.band_rect(0)
    assert picture.pixelColor(round(above.left()) + 200, round(above.top()) + 3) == (
        theme_of().color("l_fold")
    )


def test_bands_do_not_touch_and_hold_their_item(qtbot):
    """4 px apart, each with its line over the item."""
    items = conversation(12)
    view = show(qtbot, items)
    view.set_lens(all_verbatim(items))
    rects = [view.band_rect(index) for index in sorted(view.visible_items)]
    for index, rect in zip(sorted(view.visible_items), rects, strict=True):
        assert rect.top() + theme_of().px(24) == view.item_rect(index).top()
    gaps = [after.top() - before.bottom() for before, after in pairwise(rects)]
    assert set(gaps) == {theme_of().px(4)}


def text_top(view, index):
    """Where an item's text begins in the viewport."""
    return view.item_rect(index).top()


@pytest.mark.parametrize("start", [0, 3, 40, 77])
def test_the_first_message_in_view_stays_where_it_is(qtbot, start):
    """Switched on and off; texts are as wide as before."""
    items = conversation(120)
    view = show(qtbot, items)
    view.scroll_to_item(start, 60)
    first = min(i for i, y in view.visible_items.items() if y >= 0)
    before, width = text_top(view, first), view.item_rect(first).width()
    view.set_lens(all_verbatim(items))
    assert abs(text_top(view, first) - before) <= (theme_of().px(24) if start == 0 else 0)
    assert view.item_rect(first).width() == width
    view.set_lens(None)
    assert text_top(view, first) == before


def test_at_the_end_it_stays_at_the_end(qtbot):
    """The newest message is read on."""
    items = conversation(60)
    view = show(qtbot, items)
    assert view.at_end
    view.set_lens(all_verbatim(items))
    assert view.at_end
    bar = view.verticalScrollBar()
    assert bar.value() == bar.maximum()
    view.set_lens(None)
    assert view.at_end


def test_nothing_is_built_anew(qtbot):
    """The lens makes no document, and forgets none."""
    items = conversation(200)
    view = show(qtbot, items)
    paint(view)
    qtbot.waitUntil(lambda: not view._idle.isActive())
    before = view.documents_built
    view.set_lens(all_verbatim(items))
    view.set_lens(all_verbatim(items))
    view.set_lens(None)
    assert view.documents_built == before


def test_an_empty_conversation_can_have_a_lens(qtbot):
    """Nothing is there to be tinted."""
    view = show(qtbot, [])
    view.set_lens(book())
    view.set_lens(None)
    assert view.lens is None


def test_what_comes_later_has_its_line_too(qtbot):
    """Items are added, changed and taken away under the lens; heights stay true."""
    items = conversation(8)
    view = show(qtbot, items)
    view.set_lens(all_verbatim(items))
    view.model.set_items([*items, reply("new", "Fresh words."), DayItem("d", WHEN)])
    paint(view)
    index = view.model.index_of("new")
    view.scroll_to_end()
    assert view.band(index) == Band()
    assert view._heights[index] == view.box(index).height + theme_of().px(24)
    day = view.model.index_of("d")
    assert view._heights[day] == view.box(day).height
    assert view.band_rect(day).isEmpty()
    view.restyle()
    assert view._heights[index] == view.box(index).height + theme_of().px(24)


def test_finding_shows_the_whole_of_a_hit(qtbot):
    """What is scrolled to is in view, with the lens as without."""
    items = conversation(90)
    view = show(qtbot, items)
    view.set_lens(all_verbatim(items))
    assert view.find("item 12 ") == 1
    view.find_next()
    index = view.model.index_of("i12")
    rect = view.item_rect(index)
    assert not rect.isEmpty()
    assert 0 <= rect.top() < view.viewport().height()


def test_folding_works_under_the_lens(qtbot):
    """Parts are hit where they are painted."""
    items = [reply("a", "Words", thinking="Let me see. " * 30)]
    view = show(qtbot, items)
    view.set_lens(all_verbatim(items))
    part = next(p for p in view.box(0).parts if p.action == "toggle_thinking")
    place = part.rect.center() + QPointF(view.item_rect(0).topLeft())
    before = view.box(0).height
    asked = []
    view.text_asked.connect(asked.append)
    click(view, place)
    assert view.box(0).height > before
    assert asked == []


# ---- asking for the text ------------------------------------------------------------------------


@pytest.fixture
def lensed(qtbot):
    items = [user("a", "A question of some words"), reply("b", "An answer of some words.")]
    view = show(qtbot, items)
    view.set_lens(all_verbatim(items))
    view.asked = []
    view.text_asked.connect(view.asked.append)
    return view


def corner(view, index):
    """A place in a band beside its text."""
    area = view.band_rect(index)
    return QPointF(area.left() + 40, area.top() + 8)


def test_a_click_on_a_band_asks_for_the_text(lensed):
    """On its line, beside the text, and on the text."""
    click(lensed, corner(lensed, 0))
    click(lensed, QPointF(lensed.item_rect(1).topLeft()) + QPointF(30, 12))
    assert lensed.asked == ["a", "b"]


def test_dragging_selects_and_asks_nothing(lensed):
    """A passage is chosen, not a band."""
    start = QPointF(lensed.item_rect(1).topLeft()) + QPointF(4, 12)
    mouse(lensed, "press", start)
    mouse(lensed, "drag", start + QPointF(120, 0))
    mouse(lensed, "release", start + QPointF(120, 0))
    assert lensed.asked == []
    assert lensed.selected_text()


def test_other_clicks_ask_nothing(lensed):
    """The right button, with Shift, beside all bands, twice."""
    place = corner(lensed, 0)
    click(lensed, place, button=Qt.MouseButton.RightButton)
    click(lensed, place, modifiers=Qt.KeyboardModifier.ShiftModifier)
    click(lensed, QPointF(2, 2))
    mouse(lensed, "double", place)
    mouse(lensed, "release", place)
    assert lensed.asked == []


def test_without_the_lens_a_click_asks_nothing(lensed):
    """It is a page to be read."""
    place = corner(lensed, 0)
    lensed.set_lens(None)
    click(lensed, place)
    assert lensed.asked == []
    assert lensed.band_at(place) == -1


def test_enter_on_a_message_asks_for_its_text(qtbot, lensed):
    """After Ctrl+Up has given it the focus; Enter on a part uses the part."""
    lensed.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(lensed.hasFocus)
    qtbot.keyClick(lensed, Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier)
    index = lensed.focused_part()[0]
    qtbot.keyClick(lensed, Qt.Key.Key_Return)
    assert lensed.asked == [lensed.model[index].id]
    qtbot.keyClick(lensed, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(lensed, Qt.Key.Key_X)
    lensed.set_lens(None)
    qtbot.keyClick(lensed, Qt.Key.Key_Return)
    assert len(lensed.asked) == 1


def test_a_screen_reader_hears_the_state(lensed):
    """Before who said what."""
    item = QAccessible.queryAccessibleInterface(lensed).child(0)
    assert item.text(QAccessible.Text.Name).startswith("Verbatim · 24. ")
    lensed.set_lens(None)
    assert not item.text(QAccessible.Text.Name).startswith("Verbatim")


def test_bands_stand_at_once_where_motion_is_reduced(qtbot):
    """And fade in otherwise."""
    theme = theme_of()
    items = [user("a", "words")]
    theme.set_motion(False)
    try:
        view = show(qtbot, items)
        view.set_lens(all_verbatim(items))
        assert not view._is_shading()
    finally:
        theme.set_motion(True)
    view.set_lens(None)
    view.set_lens(all_verbatim(items))
    if theme.duration(120):
        assert view._is_shading()
        view.grab()
        qtbot.waitUntil(lambda: not view._is_shading())


def test_originals_keep_their_inset(qtbot):
    """What a card's originals show stands to the right; so do their bands."""
    items = [user("a", "words of mine", folded=True), user("b", "more words")]
    view = show(qtbot, items)
    view.set_lens(book(seen("a", "folded"), seen("b")))
    assert view.band_rect(0).left() > view.band_rect(1).left() + 100
    assert view.band_at(QPointF(view.band_rect(0).center())) == 0
    assert view.band_at(QPointF(QPoint(view.width() - 3, 10))) == -1
