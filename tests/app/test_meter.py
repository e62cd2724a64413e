"""The meter: values, the planned bar, the painted widget."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QLocale, QPoint, Qt
from PySide6.QtGui import QHelpEvent, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from app.meter import Meter, figure, part_title, sentence
from app.meter_plan import PARTS, MeterValues, Row, plan_bar, plan_rows
from app.theme import theme_of

VALUES = MeterValues(
    system=412, pins=188, summary=934, recent=1366, draft=14, budget=8000, window=16384
)


@pytest.fixture
def window(qtbot):
    """A window with a meter at its foot, shown, without motion."""
    theme_of().set_motion(False)
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(600, 400)
    layout = QVBoxLayout(window)
    layout.addStretch()
    window.meter = Meter()
    layout.addWidget(window.meter)
    window.show()
    qtbot.waitExposed(window)
    yield window
    theme_of().set_motion(True)


def test_sums():
    """Used, free and reserve agree with one another."""
    assert (VALUES.used, VALUES.free, VALUES.reserve) == (2914, 5086, 8384)


def test_total_splits_off_the_draft():
    """When only the sum is known, the rest is shown as messages."""
    values = MeterValues.total(100, 8000, 16384, draft=30, exact=False)
    assert (values.recent, values.draft, values.used, values.exact) == (70, 30, 100, False)
    assert MeterValues.total(10, 0, 0, draft=30).recent == 0


@pytest.mark.parametrize(
    ("used", "budget", "level"),
    [
        (7199, 8000, "ok"),
        (7200, 8000, "near"),
        (8000, 8000, "near"),
        (8001, 8000, "over"),
        (9000, 0, "ok"),
    ],
)
def test_levels(used, budget, level):
    """It warns from nine tenths of the budget, and says when it is over."""
    assert MeterValues.total(used, budget, 16384).level == level


def names_of(bar):
    return [piece.name for piece in bar.pieces]


def test_bar_of_ordinary_values():
    """Segments in their order, free to the tick, reserve to the end."""
    bar = plan_bar({"system": 1000, "recent": 3000}, 8000, 16000, 320, 1)
    assert names_of(bar) == ["system", "recent", "free", "reserve"]
    assert [(p.left, p.right) for p in bar.pieces] == [(0, 20), (20, 80), (80, 160), (160, 320)]
    assert bar.tick == 160


def test_bar_over_the_budget():
    """Segments are cut at the tick; what exceeds is red behind it."""
    bar = plan_bar({"system": 1000, "files": 11000, "draft": 10}, 8000, 16000, 320, 1)
    assert names_of(bar) == ["system", "files", "over", "reserve"]
    assert bar.pieces[1].right == bar.tick == bar.pieces[2].left
    assert bar.pieces[2].right == 240


def test_bar_far_over_the_window():
    """Red ends with the bar."""
    bar = plan_bar({"files": 90000}, 8000, 16000, 320, 1)
    assert bar.pieces[-1].name == "over"
    assert bar.pieces[-1].right == 320


def test_bar_of_unknown_window_or_budget():
    """Without a window a plain track, without a budget no tick and no reserve."""
    assert names_of(plan_bar({"recent": 10}, 0, 0, 320, 1)) == ["free"]
    bar = plan_bar({"recent": 8000}, 0, 16000, 320, 1)
    assert (names_of(bar), bar.tick) == (["recent", "free"], None)


def test_full_bar_keeps_small_segments_visible():
    """Where no room is free, the widest segment gives way."""
    tokens = dict.fromkeys(PARTS, 1) | {"recent": 7994}
    bar = plan_bar(tokens, 8000, 16000, 320, 1)
    assert names_of(bar) == [*PARTS, "reserve"]
    assert all(p.right - p.left >= 4 for p in bar.pieces)


def test_bar_too_narrow_for_its_segments():
    """Even then nothing passes the tick."""
    bar = plan_bar(dict.fromkeys(PARTS, 1), 8000, 16000, 20, 1)
    assert max(p.right for p in bar.pieces if p.name in PARTS) <= bar.tick


@given(
    st.dictionaries(st.sampled_from(PARTS), st.integers(0, 40000)),
    st.integers(0, 40000),
    st.integers(0, 40000),
    st.integers(0, 1200),
    st.sampled_from([1.0, 1.25, 1.5, 2.0, 3.0]),
)
def test_bar_is_always_whole(tokens, budget, window, width, dpr):
    """Pieces touch, fill the bar exactly, and lie on device pixels."""
    ordered = {part: tokens[part] for part in PARTS if part in tokens}
    bar = plan_bar(ordered, budget, window, width, dpr)
    edges = [0.0, *(p.right for p in bar.pieces)]
    assert [p.left for p in bar.pieces] == edges[:-1]
    assert edges[-1] == pytest.approx(width, abs=0.51 / dpr)
    assert all(abs(edge * dpr - round(edge * dpr)) < 1e-6 for edge in edges)


def test_rows_leave_out_what_is_empty():
    """The list names what is there, then the sums."""
    parts, sums = plan_rows(VALUES)
    assert [row.part for row in parts] == ["system", "pins", "summary", "recent", "draft"]
    assert sums[0] == Row("prompt", 2914)
    assert [row.part for row in sums] == ["prompt", "free", "reserve", "window"]
    assert plan_rows(MeterValues()) == ((Row("prompt", 0),),)


def test_rows_say_how_much_is_too_much():
    """Over the budget nothing is free; the excess is named."""
    sums = plan_rows(MeterValues.total(9000, 8000, 16384))[1]
    assert Row("over", 1000) in sums
    assert "free" not in [row.part for row in sums]


def test_every_part_has_a_title():
    """Nothing shows a bare key."""
    rows = [*PARTS, "free", "over", "reserve", "prompt", "window"]
    assert len({part_title(row) for row in rows}) == len(rows)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (VALUES, "2,914 of 8,000 tokens used, 5,086 free"),
        (MeterValues.total(9000, 8000, 16384), "9,000 of 8,000 tokens used, 1,000 too many"),
        (MeterValues.total(50, 0, 0, exact=False), "about 50 tokens used"),
    ],
)
def test_sentence(values, words):
    """A screen reader hears the figures."""
    assert sentence(values) == words


def test_figures_follow_the_locale():
    """Thousands are grouped as the locale does, and grouped even in the C locale."""
    before = QLocale()
    try:
        QLocale.setDefault(QLocale(QLocale.Language.German))
        assert figure(2914) == "2.914"
        QLocale.setDefault(QLocale.c())
        assert figure(2914) == "2,914"
    finally:
        QLocale.setDefault(before)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (VALUES, "2,914 of 8,000"),
        (MeterValues.total(2914, 8000, 16384, exact=False), "≈ 2,914 of 8,000"),
        (MeterValues.total(2914, 0, 0, exact=False), "≈ 2,914"),
    ],
)
def test_figures_beside_the_bar(window, values, words):
    """The bar always has its figures."""
    window.meter.set_values(values)
    assert window.meter.figures() == words
    assert window.meter.values == values


def test_accessible_text(window):
    """Name and description are the sentence and the list."""
    window.meter.set_values(VALUES)
    assert window.meter.accessibleName() == "2,914 of 8,000 tokens used, 5,086 free"
    assert "Summary and exact values 934" in window.meter.accessibleDescription()


def color_at(meter, x, y):
    picture = meter.grab().toImage()
    ratio = picture.devicePixelRatio()
    return picture.pixelColor(round(x * ratio), round(y * ratio)).name()


@pytest.mark.parametrize(
    ("values", "token"),
    [
        (MeterValues.total(800, 8000, 16000), "ink2"),
        (MeterValues.total(7800, 8000, 16000), "amber"),
        (MeterValues.total(9800, 8000, 16000), "red"),
    ],
)
def test_tick_is_coloured_by_level(window, values, token):
    """The tick at the budget says how close it is."""
    window.meter.set_values(values)
    tick = window.meter.bar().tick
    assert color_at(window.meter, tick, 3) == theme_of().color(token).name()


def test_segments_are_painted_in_their_colours(window):
    """The middle of a piece has the piece's colour; over the budget it is red."""
    window.meter.set_values(MeterValues(system=2000, files=7000, budget=8000, window=16000))
    colors = {"system": "m_system", "files": "m_files", "over": "red"}
    for piece in window.meter.bar().pieces[:-1]:
        middle = (piece.left + piece.right) / 2
        want = theme_of().color(colors[piece.name]).name()
        assert color_at(window.meter, middle, window.meter.height() / 2) == want


def test_mirrored_in_a_right_to_left_interface(window):
    """The first segment stands at the right, the figures at the left."""
    window.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    window.meter.set_values(VALUES)
    x = window.meter.width() - 6
    want = theme_of().color("m_system").name()
    assert color_at(window.meter, x, window.meter.height() / 2) == want
    window.meter.show_list()
    window.grab()


def test_new_values_move_there(qtbot, window):
    """With motion, the bar passes between the old and the new values and arrives."""
    theme_of().set_motion(True)
    window.meter.set_values(MeterValues(system=8000, budget=8000, window=16000))
    qtbot.waitUntil(lambda: window.meter.bar().pieces[0].right == window.meter.bar().tick)
    seen = []
    window.meter._tween.valueChanged.connect(
        lambda _: seen.append(window.meter.bar().pieces[0].right)
    )
    window.meter.set_values(MeterValues(system=80, budget=8000, window=16000))
    qtbot.waitUntil(lambda: window.meter._tween.state() == window.meter._tween.State.Stopped)
    assert seen == sorted(seen, reverse=True)
    assert seen[-1] == 4


def test_hovering_lists_the_segments(window):
    """A resting pointer shows the list over the bar, within the window; leaving takes it away."""
    meter = window.meter
    meter.set_values(VALUES)
    QApplication.sendEvent(
        meter, QHelpEvent(QEvent.Type.ToolTip, QPoint(5, 5), meter.mapToGlobal(QPoint(5, 5)))
    )
    assert [row.part for row in meter.listing.rows][:2] == ["system", "pins"]
    assert window.rect().contains(meter.listing.geometry())
    assert not meter.listing.grab().isNull()
    QApplication.sendEvent(meter, QEvent(QEvent.Type.Leave))
    assert meter.listing is None


def test_the_list_follows_the_values(window):
    """While it is open it shows what is true now."""
    window.meter.show_list()
    window.meter.set_values(MeterValues.total(9000, 8000, 16384, exact=False))
    assert Row("over", 1000) in window.meter.listing.rows
    assert not window.meter.listing.grab().isNull()


def test_the_list_moves_with_the_meter_to_another_window(qtbot, window):
    """A meter put elsewhere shows its list there."""
    window.meter.show_list()
    window.meter.hide_list()
    other = QWidget()
    qtbot.addWidget(other)
    window.meter.setParent(other)
    other.show()
    window.meter.show_list()
    assert window.meter.listing.parentWidget() is other


def test_pressed_by_keyboard_and_mouse(qtbot, window):
    """Enter, Space and a click ask for the panel; other keys do not."""
    clicks = []
    window.meter.clicked.connect(lambda: clicks.append(True))
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Space, Qt.Key.Key_A):
        QTest.keyClick(window.meter, key)
    QTest.mouseClick(window.meter, Qt.MouseButton.LeftButton)
    assert len(clicks) == 3
    assert window.meter.listing is not None


def test_escape_closes_the_list_only(window):
    """While the list is open Escape is its own; after that it is the window's again."""
    meter = window.meter
    meter.show_list()
    press = QKeyEvent(
        QEvent.Type.ShortcutOverride, Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier
    )
    press.ignore()
    QApplication.sendEvent(meter, press)
    assert press.isAccepted()
    QTest.keyClick(meter, Qt.Key.Key_Escape)
    assert meter.listing is None
    other = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_A, Qt.KeyboardModifier.NoModifier)
    other.ignore()
    meter.show_list()
    QApplication.sendEvent(meter, other)
    assert not other.isAccepted()


def test_the_list_goes_with_the_focus(qtbot, window):
    """Tabbing on closes it."""
    window.meter.setFocus()
    window.meter.show_list()
    window.meter.clearFocus()
    qtbot.waitUntil(lambda: window.meter.listing is None)


def test_larger_text_needs_more_room(window):
    """It measures again when the theme changes."""
    before = window.meter.minimumSizeHint().width()
    theme_of().set_zoom(1.5)
    try:
        assert window.meter.minimumSizeHint().width() > before
        assert window.meter.sizeHint().height() == 30
    finally:
        theme_of().set_zoom(1)
