"""The status line: one notice at a time, and no height without one."""

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from app.notices import Notice, Notices
from app.theme import theme_of

QUEUE = Notice("Sent when this reply is done.", "clock", key="queue")
FOLDED = Notice("Compacted: 7.6k → 2.9k", "fold", "plum", "undo", "Undo", key="compaction")


@pytest.fixture
def notices(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(500, 200)
    layout = QVBoxLayout(window)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.addStretch()
    notices = Notices()
    layout.addWidget(notices)
    window.show()
    qtbot.waitExposed(window)
    yield notices
    del window  # kept until here: it owns the notices


def test_no_height_without_a_notice(notices):
    """The line takes room only while it says something."""
    assert notices.isHidden()
    notices.say(QUEUE)
    assert notices.isVisible()
    assert notices.height() == 28
    notices.withdraw("queue")
    assert notices.isHidden()
    assert notices.shown is None


def test_the_latest_is_shown_and_an_earlier_one_returns(notices):
    """One at a time; what lasts comes back."""
    notices.say(QUEUE)
    notices.say(FOLDED)
    assert notices.shown == FOLDED
    notices.withdraw("compaction")
    assert notices.shown == QUEUE


def test_same_key_replaces(notices):
    """News about the same thing takes the place of the old."""
    notices.say(QUEUE)
    notices.say(Notice("Two messages wait.", key="queue"))
    notices.withdraw("queue")
    assert notices.shown is None


def test_withdrawing_what_is_not_there_changes_nothing(qtbot, notices):
    """No signal, no flicker."""
    notices.say(QUEUE)
    with qtbot.assertNotEmitted(notices.shown_changed):
        notices.withdraw("other")
    assert notices.shown == QUEUE


def test_a_passing_notice_goes_by_itself(qtbot, notices):
    """After its time the standing one is shown again."""
    notices.say(QUEUE)
    notices.say(Notice("Copied.", "check", "green", lasts_ms=1))
    qtbot.waitUntil(lambda: notices.shown == QUEUE)


def test_a_passing_notice_is_not_kept_under_another(notices):
    """What is overtaken in its time does not come back."""
    notices.say(Notice("Copied.", lasts_ms=60_000))
    notices.say(QUEUE)
    notices.withdraw("queue")
    assert notices.shown is None


def test_clear_takes_everything(qtbot, notices):
    """Another conversation starts with an empty line."""
    notices.say(QUEUE)
    notices.say(FOLDED)
    notices.clear()
    assert notices.shown is None
    with qtbot.assertNotEmitted(notices.shown_changed):
        notices.clear()


def test_the_link_tells_its_action(qtbot, notices):
    """By mouse and by keyboard."""
    notices.say(FOLDED)
    with qtbot.waitSignal(notices.acted, check_params_cb=lambda action: action == "undo"):
        QTest.mouseClick(notices._link, Qt.MouseButton.LeftButton)
    notices._link.setFocus()
    with qtbot.waitSignal(notices.acted):
        QTest.keyClick(notices._link, Qt.Key.Key_Space)
    notices._link.setDown(True)
    assert not notices.grab().isNull()


def test_no_link_without_an_action(notices):
    """A sentence alone has nothing to press; a press that comes too late does nothing."""
    notices.say(QUEUE)
    assert notices._link.isHidden()
    notices.clear()
    notices._link.click()


def test_screen_reader_gets_text_and_link(notices):
    """Names are the words shown; the link says what it is about."""
    notices.say(FOLDED)
    assert notices._line.accessibleName() == FOLDED.text
    assert notices._link.accessibleName() == "Undo"
    assert notices._link.accessibleDescription() == FOLDED.text


def hover(line):
    where = QPoint(5, 5)
    QApplication.sendEvent(line, QHelpEvent(QEvent.Type.ToolTip, where, line.mapToGlobal(where)))


def test_a_long_notice_is_elided_and_told_whole_on_hover(qtbot, notices):
    """The link keeps its place; the tooltip has the rest."""
    text = "There is so much to say about this " * 8
    notices.say(Notice(text, "warning", "amber", "why", "Why?"))
    qtbot.waitUntil(lambda: notices._line.elided().endswith("…"))
    assert notices._link.geometry().right() < notices.width()
    hover(notices._line)
    assert notices._line.toolTip() == text
    notices.say(QUEUE)
    qtbot.waitUntil(lambda: notices._line.elided() == QUEUE.text)
    hover(notices._line)
    assert notices._line.toolTip() == ""


def test_paints_in_both_directions(notices):
    """The icon stands before the text in either direction."""
    notices.say(FOLDED)
    for direction, edge in (
        (Qt.LayoutDirection.LeftToRight, 23),
        (Qt.LayoutDirection.RightToLeft, 476),
    ):
        QApplication.setLayoutDirection(direction)
        try:
            QApplication.sendPostedEvents()
            picture = notices.grab().toImage()
        finally:
            QApplication.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        ratio = picture.devicePixelRatio()
        left, right, bottom = (round(x * ratio) for x in (edge - 2, edge + 3, 24))
        column = {
            picture.pixelColor(x, y).name() for x in range(left, right) for y in range(bottom)
        }
        assert theme_of().color("plum").name() in column


def test_grows_with_the_zoom(notices):
    """It measures again when the theme changes."""
    notices.say(FOLDED)
    theme_of().set_zoom(1.5)
    try:
        assert notices.height() == 42
    finally:
        theme_of().set_zoom(1)
