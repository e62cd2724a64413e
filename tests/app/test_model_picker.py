"""The popup in which a model is chosen."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QMimeData, QModelIndex, QPoint, QPointF, QRect, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from app.client import ModelRow
from app.model_lines import (
    MODEL_LINE,
    ModelLines,
    badge_of,
    dot_of,
    fact_words,
    plan_model_lines,
    size_words,
    spoken_model,
)
from app.model_picker import ModelPicker, reason_lines
from app.popup import plan_place
from app.theme import theme_of

STARTER = ModelRow(
    *("starter", "SmolLM2 135M", 98_362_432, "Q4_1", 16_384),
    *("warn", "A small window.", "starter", True, True),
)
FILE = ModelRow(
    "llama.cpp:/p.gguf", "Phi", 2_500_000_000, "Q4", 32_768, "ok", "", "gguf", False, True
)
BLOCKED = ModelRow(
    "ollama:q", "Qwen", 0, "", 4_096, "block", "Too small. " * 40, "ollama", False, True
)
OTHER = ModelRow("ollama:g", "Gemma", 0, "Q4", 0, "unknown", "", "ollama", False, True)
ALL = (STARTER, FILE, BLOCKED, OTHER)


@pytest.fixture
def picker(qtbot):
    """A picker with four models, open."""
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(800, 600)
    window.show()
    one = ModelPicker(window)
    one.set_models(ALL, "starter", "127.0.0.1")
    one.open_at(QPoint(10, 10))
    yield one
    one.close()


def names(picker):
    lines = picker.list.model().lines
    return [line.row.name if line.row else line.head for line in lines]


def lit(picker):
    line = picker.list.currentIndex().data(MODEL_LINE)
    return line.row.name if line else ""


def test_models_stand_under_their_heads():
    """Ours and Ollama's; a head without models is left out, and a search looks at all words."""
    heads = ("Ours", "Ollama")
    lines = plan_model_lines((OTHER, STARTER), "", heads)
    assert [line.head or line.row.name for line in lines] == [
        "Ours",
        "starter",
        "Ollama",
        "ollama:g",
    ]
    lines = plan_model_lines(ALL, "q4 GEM", heads)
    assert [line.head or line.row.name for line in lines] == ["Ollama", "ollama:g"]


@pytest.mark.usefixtures("qapp")
def test_what_is_said_of_a_model():
    """Size, window, state in words, and the reason."""
    assert [size_words(n) for n in (0, 5, 98_362_432, 1_900_000_000)] == [
        "",
        "1 MB",
        "98 MB",
        "1.9 GB",
    ]
    assert fact_words(STARTER) == "Q4_1 · 98 MB · 16,384"
    assert [badge_of(row) for row in ALL] == [
        *(("small window", "amber"), ("", "plain"), ("blocked", "red"), ("", "plain")),
    ]
    assert badge_of(replace(STARTER, fetched=False))[0] == "to be fetched"
    assert [dot_of(row) for row in ALL] == ["green", "", "red", ""]
    said = spoken_model(STARTER, current=True)
    assert (
        said
        == "SmolLM2 135M, Q4_1 · 98 MB · 16,384, small window, answers here, loaded, A small window."
    )
    assert spoken_model(OTHER, current=False) == "Gemma, Q4"


def test_the_list_answers_every_role(qapp):
    """Heads have words and nothing else; steps leave them out."""
    model = ModelLines(qapp)
    assert model.step(-1, 1) == -1
    model.set_lines(plan_model_lines((STARTER, OTHER), "", ("Ours", "Ollama")))
    head, first, last = model.index(0), model.index(1), model.index(3)
    assert (model.data(head), model.data(first)) == ("Ours", "SmolLM2 135M")
    assert model.data(head, Qt.ItemDataRole.AccessibleTextRole) is None
    assert model.data(first, Qt.ItemDataRole.AccessibleTextRole).endswith(
        "loaded, A small window."
    )
    assert model.data(first, Qt.ItemDataRole.ToolTipRole) == "A small window."
    assert model.data(last, Qt.ItemDataRole.ToolTipRole) == "ollama:g"
    assert model.data(first, Qt.ItemDataRole.DecorationRole) is None
    assert model.data(QModelIndex()) is None
    assert model.rowCount(first) == 0
    assert model.flags(head) == Qt.ItemFlag.NoItemFlags
    steps = [model.step(start, by) for start, by in ((-1, 1), (-1, -1), (1, 1), (3, 1), (3, -1))]
    assert steps == [1, 3, 3, 3, 1]


def test_it_shows_what_it_is_given(picker):
    """Under heads, the one that answers ready to be chosen."""
    assert names(picker) == [
        *("In Porthole", "starter", "llama.cpp:/p.gguf"),
        *("Ollama at 127.0.0.1", "ollama:q", "ollama:g"),
    ]
    assert lit(picker) == "starter"


def test_arrows_and_enter_choose(picker, qtbot):
    """From the search field, over heads."""
    qtbot.keyClick(picker.field, Qt.Key_Down)
    with qtbot.waitSignal(picker.chosen) as told:
        qtbot.keyClick(picker.field, Qt.Key_Return)
    assert told.args == ["llama.cpp:/p.gguf"]
    assert not picker.isVisible()


def test_the_pointer_chooses(picker, qtbot):
    """It lights the row under it; a head stays unlit and is no choice."""
    model, view = picker.list.model(), picker.list
    view.entered.emit(model.index(model.row_of("ollama:g")))
    assert lit(picker) == "ollama:g"
    view.entered.emit(model.index(0))
    assert lit(picker) == "ollama:g"
    spot = view.visualRect(model.index(model.row_of("llama.cpp:/p.gguf"))).center()
    with qtbot.waitSignal(picker.chosen) as told:
        qtbot.mouseClick(view.viewport(), Qt.LeftButton, pos=spot)
    assert told.args == ["llama.cpp:/p.gguf"]


def test_a_blocked_one_is_refused(picker, qtbot):
    """It is not chosen; the window can say what to do."""
    picker.field.setText("qwen")
    picker.field.tell_now()
    with qtbot.assertNotEmitted(picker.chosen), qtbot.waitSignal(picker.refused) as told:
        qtbot.keyClick(picker.field, Qt.Key_Return)
    assert told.args == ["ollama:q"]


def test_a_search_without_hits_says_so(picker, qtbot):
    """And Enter does nothing then."""
    picker.field.setText("nothing like it")
    picker.field.tell_now()
    assert picker._empty.text() == "No model is called “nothing like it”."
    with qtbot.assertNotEmitted(picker.chosen):
        qtbot.keyClick(picker.field, Qt.Key_Down)
        qtbot.keyClick(picker.field, Qt.Key_Return)
    picker.set_models(())
    assert picker._empty.text().startswith("No models yet.")
    assert picker.list.current == ""


def test_the_starter_is_fetched_and_stopped(picker, qtbot):
    """Picked while it is not here, it is asked for; picked again, the fetch is stopped."""
    picker.set_models((replace(STARTER, fetched=False, loaded=False, reason=""),))
    qtbot.keyClick(picker.field, Qt.Key_Down)
    plain = picker.grab().toImage()
    with qtbot.waitSignal(picker.fetch_requested):
        qtbot.keyClick(picker.field, Qt.Key_Return)
    picker.set_fetching(63_000_000, 98_000_000)
    assert picker.isVisible()
    assert picker.grab().toImage() != plain
    with qtbot.waitSignal(picker.fetch_stopped):
        qtbot.keyClick(picker.field, Qt.Key_Return)


def test_a_file_can_be_opened_or_dropped(picker, qtbot, tmp_path):
    """Only GGUF files of this machine are taken."""

    def drop(*urls):
        data = QMimeData()
        data.setUrls([QUrl(url) for url in urls])
        enter = QDragEnterEvent(QPoint(5, 5), Qt.CopyAction, data, Qt.LeftButton, Qt.NoModifier)
        enter.ignore()
        picker.dragEnterEvent(enter)
        event = QDropEvent(QPointF(5, 5), Qt.CopyAction, data, Qt.LeftButton, Qt.NoModifier)
        picker.dropEvent(event)
        return enter.isAccepted()

    file = QUrl.fromLocalFile(str(tmp_path / "a.GGUF")).toString()
    with qtbot.assertNotEmitted(picker.file_dropped):
        assert not drop("file:///a.txt", "https://example.org/a.gguf")
    with qtbot.waitSignal(picker.file_dropped) as told:
        assert drop("file:///a.txt", file)
    assert told.args == [str(tmp_path / "a.GGUF")]
    picker.open_at(QPoint(0, 0))
    with qtbot.waitSignal(picker.open_file_requested):
        qtbot.mouseClick(picker.open_button, Qt.LeftButton)


def test_escape_closes(picker, qtbot):
    """Whatever was typed."""
    picker.field.setText("x")
    qtbot.keyClick(picker.field, Qt.Key_Escape)
    assert not picker.isVisible()


def test_search_does_not_look_at_the_kind_of_a_model(picker):
    """Every name of Ollama's begins with "ollama:", and none is a llama for it."""
    picker.field.setText("llama")
    picker.field.tell_now()
    assert names(picker) == []


def test_reason_too_long_ends_with_an_ellipsis(qapp):
    """Whole lines only: what does not fit into three is left out, and that is seen."""
    font = theme_of().font("small")
    assert reason_lines("Too small.", font, 300) == ["Too small."]
    lines = reason_lines("a long reason " * 40, font, 300)
    assert len(lines) == 3
    assert lines[-1].endswith("…")


def test_long_reasons_get_three_lines_at_most(picker):
    """The whole is in the tooltip; rows without a reason are lower."""
    view, px = picker.list, theme_of().px
    heights = [view.height_of(line) for line in view.model().lines if line.row]
    assert heights[1] == heights[3] == px(52)
    assert heights[1] < heights[0] < heights[2] <= px(52 + 2 + 48)
    assert picker.grab().toImage() != QWidget.grab(picker.field).toImage()


def test_it_stays_on_the_screen():
    """Moved as little as needed."""
    room = QRect(0, 0, 100, 100)
    places = [plan_place(QRect(x, y, 40, 40), room) for x, y in ((5, 6), (90, 90), (-9, 50))]
    assert places == [QPoint(5, 6), QPoint(60, 60), QPoint(0, 50)]


def test_it_follows_the_theme(picker):
    """Larger text makes it wider; without a host the head says Ollama alone."""
    before = picker.width()
    theme_of().set_zoom(1.5)
    try:
        assert picker.width() > before
    finally:
        theme_of().set_zoom(1.0)
    picker.set_models(ALL)
    assert "Ollama" in names(picker)


# ---- models of ollama.com -----------------------------------------------------------------------

ALLOWED = ModelRow(
    "ollama:big-cloud", "big-cloud", 0, "gptoss", 32_768, "ok", "", "ollama", False, True, True
)
OFF = replace(ALLOWED, guard="block", reason="Off.", window_tokens=0)


def test_cloud_models_are_marked_for_as_long_as_they_are_listed():
    """Allowed or not, what they are stands under their name, with a badge; off is no fault."""
    for row in (ALLOWED, OFF):
        assert fact_words(row).startswith("runs on ollama.com · leaves this computer")
        assert "leaves this computer" in spoken_model(row, current=False)
    assert badge_of(ALLOWED) == ("cloud", "cloud")
    assert badge_of(OFF) == ("cloud", "cloud_off")
    assert (dot_of(ALLOWED), dot_of(OFF)) == ("", "")


def test_a_cloud_model_with_a_small_window_says_that_first():
    """The badge is the guard's, and the words under the name are still there."""
    row = replace(ALLOWED, guard="warn", reason="Small.")
    assert badge_of(row) == ("small window", "amber")
    assert "leaves this computer" in fact_words(row)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_cloud_models_are_painted(qtbot, picker, scheme):
    """Both badges have their icon in both schemes."""
    theme = theme_of()
    theme.set_scheme(scheme)
    picker.set_models((ALLOWED, replace(OFF, name="ollama:other")), "starter", "127.0.0.1")
    assert not picker.grab().isNull()
    theme.set_scheme("light")


def test_a_cloud_model_that_is_off_is_refused(qtbot, picker):
    """Choosing it asks what to do, and changes no model."""
    picker.set_models((*ALL, OFF), "starter", "127.0.0.1")
    picker.list.setCurrentIndex(picker.list.model().index(len(ALL) + 2))
    assert lit(picker) == OFF.name
    with qtbot.waitSignal(picker.refused) as refused, qtbot.assertNotEmitted(picker.chosen):
        picker._use_current()
    assert refused.args == [OFF.name]
