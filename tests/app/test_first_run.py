"""The page of the first run, and that of a conversation without messages."""

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from app.client import Fetching
from app.first_run import EmptyPage, FirstRun
from app.theme import theme_of


@pytest.fixture
def page(qtbot):
    """The first run, shown."""
    one = FirstRun()
    qtbot.addWidget(one)
    one.resize(1000, 700)
    one.set_starter("SmolLM2 135M", 98_362_432)
    one.show()
    qtbot.waitExposed(one)
    return one


def test_three_ways_to_a_model(page, qtbot):
    """The starter, Ollama, a file: each has its button and its signal."""
    page.set_ollama("127.0.0.1:11434", 3, "Qwen2.5 3B")
    assert page.starter.button.text() == "Get it, 98 MB"
    for choice, signal in (
        (page.starter, page.starter_requested),
        (page.ollama, page.ollama_requested),
        (page.file, page.open_file_requested),
    ):
        with qtbot.waitSignal(signal):
            qtbot.mouseClick(choice.button, Qt.LeftButton)


def test_the_size_is_left_out_when_unknown(page):
    """The button says its verb all the same."""
    page.set_starter("X", 0)
    assert page.starter.button.text() == "Get it"
    assert page.starter.text.startswith("X is small")


def test_fetching_shows_figures_and_can_be_stopped(page, qtbot):
    """Before anything is known, while it comes, while it is checked, and after."""
    plain = page.grab().toImage()
    said = []
    for done, total in ((0, 0), (63_000_000, 98_000_000), (98_000_000, 98_000_000)):
        page.set_fetching(Fetching(done, total))
        said.append(page.starter.progress_words)
    assert said == ["Beginning", "63 of 98 MB", "Checking the file"]
    assert page.grab().toImage() != plain
    assert page.starter.button.text() == "Stop"
    with qtbot.waitSignal(page.starter_stopped):
        qtbot.mouseClick(page.starter.button, Qt.LeftButton)
    page.set_fetching(None)
    assert page.starter.progress_words == ""
    assert not page.starter.progress.isVisible()


def test_a_failed_fetch_says_why_and_can_be_tried_again(page, qtbot):
    """The sentence stands in the card until it is begun anew."""
    page.set_fetching(Fetching(5, 98_000_000, over=True, error="There is no network."))
    assert page.starter.text == "There is no network."
    with qtbot.waitSignal(page.starter_requested):
        qtbot.mouseClick(page.starter.button, Qt.LeftButton)
    page.set_fetching(Fetching(1_000_000, 98_000_000))
    assert page.starter.text.startswith("SmolLM2 135M is small")


def test_ollama_says_what_was_found(page):
    """Not there, there without models, one model, several."""
    said = []
    for found in (("", 0, ""), ("h:1", 0, ""), ("h:1", 1, "Q"), ("h:1", 3, "Q")):
        page.set_ollama(*found)
        said.append((page.ollama.text, page.ollama.button.isEnabled()))
    assert said == [
        ("Not found on this computer.", False),
        ("It answers at h:1 and has no models yet.", True),
        ("1 model at h:1. The largest is Q.", True),
        ("3 models at h:1. The largest is Q.", True),
    ]
    assert "Q" in page.ollama.button.accessibleDescription()


def test_an_ollama_without_models(page, qtbot):
    """It can be asked to fetch one; with models, they can be used."""
    page.set_ollama("h:1", 0, "")
    assert page.ollama.button.text() == "Get a model…"
    with qtbot.waitSignal(page.get_requested):
        qtbot.mouseClick(page.ollama.button, Qt.MouseButton.LeftButton)
    page.set_ollama("h:1", 2, "Q")
    assert page.ollama.button.text() == "Use Ollama"
    with qtbot.waitSignal(page.ollama_requested):
        qtbot.mouseClick(page.ollama.button, Qt.MouseButton.LeftButton)


def test_what_is_typed_is_for_the_composer(page, qtbot):
    """Letters are told; keys without a letter, and with Ctrl, are not."""
    typed = []
    page.typed.connect(typed.append)
    qtbot.keyClicks(page, "Hi ")
    qtbot.keyClick(page, Qt.Key_A, Qt.ControlModifier)
    qtbot.keyClick(page, Qt.Key_Down)
    qtbot.keyClick(page, Qt.Key_Return)
    assert "".join(typed) == "Hi "


def test_a_gguf_can_be_dropped_anywhere(page, qtbot, tmp_path):
    """Other files are not taken."""

    def drop(name):
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(tmp_path / name))])
        given = (Qt.CopyAction, data, Qt.LeftButton, Qt.NoModifier)
        enter, move = QDragEnterEvent(QPoint(5, 5), *given), QDragMoveEvent(QPoint(5, 5), *given)
        for event, handle in ((enter, page.dragEnterEvent), (move, page.dragMoveEvent)):
            event.ignore()
            handle(event)
        page.dropEvent(QDropEvent(QPointF(5, 5), *given))
        return enter.isAccepted(), move.isAccepted()

    with qtbot.assertNotEmitted(page.file_dropped):
        assert drop("a.txt") == (False, False)
    with qtbot.waitSignal(page.file_dropped) as told:
        assert drop("a.gguf") == (True, True)
    assert told.args == [str(tmp_path / "a.gguf")]


def test_the_column_has_its_width_and_shrinks(page, qtbot):
    """600 px in the middle, less in a narrow window, without a bar at the bottom."""
    px = theme_of().px
    assert page.box.width() == px(600)
    page.resize(420, 700)
    qtbot.waitUntil(lambda: page.box.width() < px(420))
    assert not page.horizontalScrollBar().isVisible()


def test_it_follows_the_theme(page):
    """Larger text, larger cards."""
    before = page.starter.sizeHint().height()
    theme_of().set_zoom(1.5)
    try:
        assert page.starter.sizeHint().height() > before
    finally:
        theme_of().set_zoom(1.0)


def test_every_control_has_a_name(page):
    """What the keys can reach says what it is."""
    for one in (page, *page.findChildren(QWidget)):
        if one.focusPolicy() != Qt.FocusPolicy.NoFocus:
            assert one.accessibleName() or one.text(), one


def test_an_empty_conversation_says_what_fits(qtbot):
    """Tokens, and pages for people; nothing made up while that is not known."""
    page = EmptyPage()
    qtbot.addWidget(page)
    page.resize(900, 600)
    page.set_model("SmolLM2 135M", 8_000)
    assert page.text.text().startswith(
        "SmolLM2 135M reads up to 8,000 tokens at a time, about 20 pages. When"
    )
    before = page.grab().toImage()
    page.set_model("SmolLM2 135M", 0)
    assert page.text.text() == "Everything stays on this computer."
    assert page.grab().toImage() != before
    theme_of().set_zoom(1.5)
    try:
        assert page.box.maximumWidth() == 690
    finally:
        theme_of().set_zoom(1.0)
