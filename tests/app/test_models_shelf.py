"""The models window: what a model is, what is in memory, what is fetched, and the dialogs."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QDateTime, QLocale, Qt
from PySide6.QtWidgets import QApplication

from app.client import Pull, PullLayer
from app.client.library import Deletion, Holdings, LoadedModel, ModelFacts
from app.model_dialogs import DeleteDialog, ReadingDialog, deletion_texts
from app.pull_line import PullLine
from app.pull_words import amount_text, left_text, percent, row_texts, size_text, summary
from app.theme import theme_of
from app.truth import ModelsWindow
from app.truth.facts import capability, first_line
from app.truth.shelf import loaded_texts
from tests.app.test_models_window import BLOCKED, FINE, QWEN, STARTER, TRUTH

GIGABYTE = 1_000_000_000
FACTS = ModelFacts(
    QWEN,
    "qwen2",
    "3.1B",
    "Q4_K_M",
    1_900_000_000,
    32_768,
    ("completion", "tools", "zither"),
    "\n  Qwen RESEARCH LICENSE\n\nIt says more.",
    "{{ .Prompt }}\nand on",
    "Be brief.",
    QDateTime(2026, 3, 14, 12, 0, 0).toMSecsSinceEpoch(),
    True,
)
PULL = Pull(
    "llama3.2:3b",
    "pulling",
    "fetching",
    (PullLayer("dde5aa3fc5ffc17176b5", GIGABYTE, 2 * GIGABYTE), PullLayer("966de9", 1_429, 1_429)),
    24_300_000,
    41.0,
)
FAILED = Pull("nowhere", "failed", error="There is no such model.", remedy="Look at the names.")


@pytest.fixture
def models(qtbot):
    """The window with two models, one of Ollama's shown."""
    made = ModelsWindow()
    qtbot.addWidget(made)
    made.set_models((STARTER, BLOCKED), "127.0.0.1")
    made.show_model(QWEN)
    made.show_truth(TRUTH)
    made.show()
    qtbot.waitExposed(made)
    return made


@pytest.fixture
def shelf(models):
    """The foot of the list."""
    return models.shelf


def rows_of(models):
    return [row for row in models.panel.facts.rows if row.isVisibleTo(models)]


# ---- what a model is ----------------------------------------------------------------------------


def test_facts(models):
    """A row each, with tags for what it can do, and ways to the whole texts."""
    models.show_facts(FACTS)
    said = [row.accessibleName() for row in rows_of(models)]
    day = QLocale().toString(
        QDateTime(2026, 3, 14, 12, 0, 0).date(), QLocale.FormatType.ShortFormat
    )
    assert said == [
        "Family: qwen2",
        "Parameters: 3.1B",
        "Quantisation: Q4_K_M",
        "Size on disk: 1.9 GB",
        "Trained window: 32,768 tokens",
        "Can do: chat, tools, zither",
        f"Changed: {day}",
        "Licence: Qwen RESEARCH LICENSE",
        "Template: 2 lines",
        "System prompt: Be brief.",
    ]
    tags = [tag.text for row in rows_of(models) for tag in row.tags if tag.isVisibleTo(models)]
    assert tags == ["chat", "tools", "zither"]
    assert models.panel.facts.delete_button.isVisible()


def test_what_is_not_known_has_no_row(models):
    """And a file is not deleted here; nothing known, nothing shown."""
    models.show_facts(FACTS)
    models.show_facts(ModelFacts(QWEN, "llama", licence="apache-2.0"))
    assert [row.accessibleName() for row in rows_of(models)] == [
        "Family: llama",
        "Licence: apache-2.0",
    ]
    assert not any(row.show_button.isVisibleTo(models) for row in rows_of(models))
    assert models.panel.facts.delete_button.isHidden()
    models.show_facts(ModelFacts(QWEN))
    assert models.panel.facts.isHidden()


def test_facts_of_another_model_are_too_late(models):
    """The chosen one's stay."""
    models.show_facts(FACTS)
    models.show_facts(ModelFacts("starter", "llama"))
    assert rows_of(models)[0].accessibleName() == "Family: qwen2"


def test_texts_are_shown_whole(models, qtbot):
    """Licence, template, system prompt: by a button each, which the keyboard reaches."""
    models.show_facts(FACTS)
    shown = []
    models.text_requested.connect(lambda title, text: shown.append((title, text)))
    buttons = [row.show_button for row in rows_of(models) if row.show_button.isVisibleTo(models)]
    assert [button.text() for button in buttons] == [
        "Show licence",
        "Show template",
        "Show system prompt",
    ]
    for button in buttons:
        qtbot.keyClick(button, Qt.Key.Key_Space)
    assert shown == [
        ("Licence", FACTS.licence),
        ("Template", FACTS.template),
        ("System prompt", FACTS.system),
    ]


def test_facts_are_copied(models, qtbot):
    """All of them as text; the button says that it did, until another model is shown."""
    models.show_facts(FACTS)
    button = models.panel.facts.copy_button
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    text = QApplication.clipboard().text()
    assert text.startswith(f"{QWEN}\nFamily: qwen2\n")
    assert "Can do: chat, tools, zither" in text
    assert button.text() == "Copied"
    models.show_facts(FACTS)
    assert button.text() == "Copied"
    models.show_model("starter")
    models.show_facts(ModelFacts("starter", "llama"))
    assert button.text() == "Copy"


def test_deleting_is_asked_for(models, qtbot):
    """Of the model that is shown."""
    models.show_facts(FACTS)
    with qtbot.waitSignal(models.delete_requested) as told:
        qtbot.mouseClick(models.panel.facts.delete_button, Qt.MouseButton.LeftButton)
    assert told.args == [QWEN]


def test_first_lines():
    """Not empty, on one line, not long."""
    assert first_line("\n\n  one \t two\nthree") == "one two"
    assert first_line(" \n") == ""
    assert first_line("x" * 500) == "x" * 120 + "…"
    assert capability("vision") == "see images"


# ---- memory and disk ----------------------------------------------------------------------------


def test_what_is_in_memory(models, shelf, qtbot):
    """A row each with a button; the list's dots follow; unloaded, both are gone."""
    told = (
        LoadedModel(QWEN, "qwen", 4_200_000_000, 0.62, 16_384, 1),
        LoadedModel("ollama:embedder:latest", "embedder", 300_000_000, 1.0, stays=True),
    )
    models.set_holdings(Holdings(told, 98_000_000, 7_200_000_000, 88_000_000_000))
    assert shelf.loaded_head.isVisible()
    first, second = shelf.loaded
    assert first.accessibleName().startswith("qwen, 4.2 GB · 62 % GPU · until ")
    assert second.accessibleName() == "embedder, 300 MB · GPU · until it is unloaded"
    assert first.unload.accessibleName() == "Unload qwen"
    with qtbot.waitSignal(models.unload_requested) as asked:
        qtbot.keyClick(first.unload, Qt.Key.Key_Space)
    assert asked.args == [QWEN]
    loaded = {line.row.name: line.row.loaded for line in models._lines.lines if line.row}
    assert loaded == {"starter": True, QWEN: True}
    models.set_holdings(Holdings())
    assert shelf.loaded_head.isHidden()
    assert shelf.area.isHidden()
    loaded = {line.row.name: line.row.loaded for line in models._lines.lines if line.row}
    assert loaded == {"starter": True, QWEN: False}


def test_how_much_of_the_disk(models, shelf):
    """In the heads what the models take, below the list what is free."""
    models.set_holdings(Holdings((), 98_000_000, 7_200_000_000, 88_000_000_000))
    heads = [line.head for line in models._lines.lines if line.head]
    assert heads == ["In Porthole · 98 MB", "Ollama at 127.0.0.1 · 7.2 GB"]
    assert shelf.disk.text() == "88.0 GB free on this computer's disk"
    models.set_holdings(Holdings())
    assert [line.head for line in models._lines.lines if line.head] == [
        "In Porthole",
        "Ollama at 127.0.0.1",
    ]
    assert shelf.disk.isHidden()


def test_news_of_memory_leaves_the_list_as_it_stands(models, qtbot):
    """The same again moves nothing, and the chosen model stays chosen."""
    resets = []
    models._lines.modelReset.connect(lambda: resets.append(1))
    models.set_holdings(Holdings((), 1_000_000))
    models.set_holdings(Holdings((), 1_000_000))
    assert len(resets) == 1
    assert models.list.currentIndex().row() == models._lines.row_of(QWEN)


def test_no_server(models, shelf, qtbot):
    """A sentence and a button."""
    models.set_holdings(Holdings(problem="No Ollama server answers at 127.0.0.1:11434."))
    assert shelf.problem.isVisible()
    with qtbot.waitSignal(models.retry_requested):
        qtbot.mouseClick(shelf.retry, Qt.MouseButton.LeftButton)
    models.set_holdings(Holdings())
    assert shelf.problem.isHidden()
    assert shelf.retry.isHidden()


def test_memory_is_looked_at_while_it_is_seen(models, qtbot):
    """Again and again; not behind a closed window."""
    models._looks.setInterval(1)
    with qtbot.waitSignal(models.looked):
        pass
    models.close()
    assert not models._looks.isActive()


def test_where_a_model_is():
    """On the processor, on the card, on both; nothing where it is not told."""
    one = LoadedModel("m", "m", 2 * GIGABYTE)
    assert loaded_texts(one) == ["2.0 GB"]
    assert loaded_texts(replace(one, gpu_share=0.0)) == ["2.0 GB", "CPU"]
    assert loaded_texts(replace(one, gpu_share=1.0)) == ["2.0 GB", "GPU"]
    assert loaded_texts(replace(one, gpu_share=0.5)) == ["2.0 GB", "50 % GPU"]


def test_until_when():
    """Today the time, later the day too."""
    soon = QDateTime.currentDateTime().addSecs(0)
    later = soon.addDays(3)
    one = LoadedModel("m", "m", until_ms=soon.toMSecsSinceEpoch())
    time = QLocale().toString(soon.time(), QLocale.FormatType.ShortFormat)
    assert loaded_texts(one) == [f"until {time}"]
    (said,) = loaded_texts(replace(one, until_ms=later.toMSecsSinceEpoch()))
    assert QLocale().toString(later.date(), QLocale.FormatType.ShortFormat) in said


# ---- what is fetched ----------------------------------------------------------------------------


def test_rows_of_pulls(models, shelf, qtbot):
    """Name, how far, about how long; a button for each thing that can be done."""
    models.set_pulls((PULL, replace(PULL, name="b", state="paused"), FAILED))
    first, second, third = shelf.pulls
    assert (first.start.text(), first.end.text()) == ("1.0 of 2.0 GB", "about 41 seconds left")
    assert (second.start.text(), second.end.text()) == ("Paused", "1.0 of 2.0 GB")
    assert (third.start.text(), third.end.text()) == ("There is no such model.", "")
    assert first.title.accessibleName() == "llama3.2:3b, Fetching, 50 %"
    names = [row.main_button.accessibleName() for row in shelf.pulls]
    assert names == ["Pause llama3.2:3b", "Resume b", "Try nowhere again"]
    assert [row.cancel_button.accessibleName() for row in shelf.pulls] == [
        "Cancel llama3.2:3b",
        "Cancel b",
        "Remove nowhere",
    ]
    asked = []
    models.pull_action.connect(lambda name, what: asked.append((name, what)))
    for row in shelf.pulls:
        qtbot.keyClick(row.main_button, Qt.Key.Key_Space)
        qtbot.mouseClick(row.cancel_button, Qt.MouseButton.LeftButton)
    assert asked == [
        *(("llama3.2:3b", "pause"), ("llama3.2:3b", "cancel")),
        *(("b", "resume"), ("b", "cancel")),
        *(("nowhere", "resume"), ("nowhere", "cancel")),
    ]
    for row in shelf.pulls:
        for part in (row.title, row.main_button, row.cancel_button):
            assert part.focusPolicy() & Qt.FocusPolicy.TabFocus
    models.set_pulls(())
    assert shelf.pulls_head.isHidden()


def test_a_pull_in_the_models_place(models, shelf, qtbot):
    """Each layer with its bar; a model of the list comes back when it is pressed."""
    models.show_truth(FINE)
    models.set_pulls((PULL,))
    qtbot.mouseClick(shelf.pulls[0].title, Qt.MouseButton.LeftButton)
    panel = models.pull_panel
    assert panel.isVisible()
    assert models.panel.isHidden()
    assert panel.title.text() == "llama3.2:3b"
    assert panel.words.text() == "1.0 of 2.0 GB · 24 MB a second · about 41 seconds left"
    rows = [row.accessibleName() for row in panel.rows]
    assert rows == ["dde5aa3fc5ff: 1.0 of 2.0 GB", "966de9: 1 kB"]
    assert [round(row.bar.value() / row.bar.maximum(), 1) for row in panel.rows] == [0.5, 1.0]
    assert not models.list.currentIndex().isValid()
    row = models._lines.row_of(QWEN)
    place = models.list.visualRect(models._lines.index(row)).center()
    qtbot.mouseClick(models.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert panel.isHidden()
    assert models.panel.isVisible()


def test_a_shown_pull_follows_what_is_told(models, qtbot):
    """Backwards too; paused, failed, over: then the model stands there again."""
    models.show_truth(FINE)
    models.set_pulls((PULL,))
    models.show_pull("llama3.2:3b")
    panel = models.pull_panel
    before = panel.progress.value()
    back = replace(PULL, layers=(replace(PULL.layers[0], done=GIGABYTE // 2), PULL.layers[1]))
    models.set_pulls((back,))
    assert panel.progress.value() < before
    assert panel.main_button.text() == "Pause"
    models.set_pulls((replace(PULL, state="paused", per_second=0, seconds_left=None),))
    assert (panel.main_button.text(), panel.words.text()) == ("Resume", "Paused · 1.0 of 2.0 GB")
    models.set_pulls((replace(FAILED, name="llama3.2:3b"),))
    assert panel.card.isVisible()
    assert panel.card.words.text() == "There is no such model. Look at the names."
    assert (panel.main_button.text(), panel.cancel_button.text()) == ("Try again", "Remove")
    assert panel.progress.isHidden()
    with qtbot.waitSignal(models.pull_action) as told:
        qtbot.mouseClick(panel.main_button, Qt.MouseButton.LeftButton)
    assert told.args == ["llama3.2:3b", "resume"]
    models.set_pulls(())
    assert panel.isHidden()
    assert models.panel.isVisible()


def test_many_pulls_leave_the_list_its_room(models, shelf, qtbot):
    """They scroll; also in the lowest window."""
    models.resize(640, 400)
    models.set_pulls(tuple(replace(PULL, name=f"model-{n}") for n in range(8)))
    qtbot.waitUntil(lambda: shelf.area.height() <= models.height() // 3)
    assert shelf.area.verticalScrollBar().maximum() > 0
    assert models.list.height() > 60
    models.resize(1000, 800)
    models.set_pulls((PULL,))
    qtbot.waitUntil(lambda: shelf.area.verticalScrollBar().maximum() == 0)


def test_ways_to_more_models(models, shelf, qtbot):
    """Both stand below the list, and the keyboard reaches them."""
    assert shelf.get_button.text() == "Get a model from Ollama…"
    with qtbot.waitSignal(models.get_requested):
        qtbot.keyClick(shelf.get_button, Qt.Key.Key_Space)
    with qtbot.waitSignal(models.open_file_requested):
        qtbot.keyClick(shelf.open_button, Qt.Key.Key_Space)


def test_what_could_not_be_done(models, shelf):
    """It is said until the window is closed."""
    models.say("It is answering.")
    assert (shelf.fault.text(), shelf.fault.isVisible()) == ("It is answering.", True)
    models.close()
    assert shelf.fault.text() == ""


def test_from_right_to_left(models, qtbot):
    """What stands at the start stands at the right."""
    models.show_facts(FACTS)
    models.set_pulls((PULL,))
    models.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    row, pull = rows_of(models)[0], models.shelf.pulls[0]
    qtbot.waitUntil(lambda: row.name.x() > row.value.x())
    qtbot.waitUntil(lambda: pull.title.x() > pull.cancel_button.x())
    shot, side = models.grab().toImage(), theme_of().color("side").name()
    ratio = shot.devicePixelRatio()
    right = round((models.width() - 3) * ratio)
    assert shot.pixelColor(right, round(3 * ratio)).name() == side
    assert shot.pixelColor(3, round(3 * ratio)).name() != side


# ---- words --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (96, "96 B"), (12_400, "12 kB"), (98_000_000, "98 MB"), (2 * GIGABYTE, "2.0 GB")],
)
def test_sizes(size, text):
    """In the unit that fits."""
    assert size_text(size) == text


def test_amounts_and_shares():
    """In the unit of the whole; all of it only when it is all."""
    assert amount_text(400_000, 98_000_000) == "0 of 98 MB"
    assert percent(Pull("x")) == 0
    layers = (PullLayer("a", 999_999, 1_000_000),)
    assert percent(Pull("x", layers=layers)) == 99


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, ""),
        (0.2, "about 1 second left"),
        (89, "about 89 seconds left"),
        (200, "about 3 minutes left"),
        (9_000, "about 2 hours left"),
        (10**7, ""),
    ],
)
def test_times(seconds, text):
    """About, and nothing where it would be a guess."""
    assert left_text(Pull("x", seconds_left=seconds)) == text


def test_words_of_states():
    """What happens, in a word or two."""
    said = [row_texts(Pull("x", "pulling", doing))[0] for doing in ("asking", "checking")]
    assert said == ["Asking Ollama's library", "Checking what has arrived"]
    assert row_texts(Pull("x"))[0] == "Waits its turn"
    assert summary((PULL,)) == "Fetching llama3.2:3b · 50 %"
    assert summary((FAILED, PULL)) == "Fetching llama3.2:3b · 50 % · 1 more"
    assert summary((FAILED,)) == "nowhere was not fetched"
    assert summary((Pull("x"),)) == "x waits"
    assert summary((Pull("x", "paused"), FAILED)) == "x is paused · 1 more"


# ---- the line in the sidebar --------------------------------------------------------------------


def test_the_line(qtbot):
    """There while something is fetched; pressed by pointer or key."""
    line = PullLine(None)
    qtbot.addWidget(line)
    line.resize(240, 36)
    line.set_pulls((PULL,))
    assert line.isVisible()
    assert line.accessibleName() == "Fetching llama3.2:3b · 50 %"
    pressed = []
    line.clicked.connect(lambda: pressed.append(1))
    qtbot.mouseClick(line, Qt.MouseButton.LeftButton)
    qtbot.keyClick(line, Qt.Key.Key_Space)
    assert len(pressed) == 2
    for direction in (Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft):
        line.setLayoutDirection(direction)
        line.set_pulls((FAILED,))
        assert not line.grab().isNull()
    line.set_pulls(())
    assert line.isHidden()


# ---- dialogs ------------------------------------------------------------------------------------


def test_what_deleting_comes_to():
    """Bytes first, then who uses it; the conversations stay."""
    told = Deletion(QWEN, "qwen", 1_900_000_000, "", 3, True, True, True)
    freed, here, default, summaries, stay = deletion_texts(told)
    assert "frees up to 1.9 GB" in freed
    assert "conversation that is open" in here
    assert "New conversations use it" in default
    assert "summaries" in summaries
    assert stay.startswith("3 conversations used it. They stay")
    (twin,) = deletion_texts(Deletion(QWEN, "qwen", 0, "twin:latest"))
    assert twin.startswith("twin:latest is the same model")
    assert deletion_texts(Deletion(QWEN, "qwen")) == ()


def test_deleting_is_confirmed(qtbot):
    """Enter from habit deletes nothing; the button does."""
    told = []

    def ask():
        dialog = DeleteDialog(Deletion(QWEN, "qwen", 5), None)
        dialog.confirmed.connect(told.append)
        dialog.show()
        qtbot.waitExposed(dialog)
        return dialog

    dialog = ask()
    assert dialog.windowTitle() == "Delete qwen?"
    with qtbot.waitSignal(dialog.rejected):
        qtbot.keyClick(dialog, Qt.Key.Key_Return)
    assert told == []
    dialog = ask()
    with qtbot.waitSignal(dialog.accepted):
        qtbot.mouseClick(dialog.delete_button, Qt.MouseButton.LeftButton)
    assert told == [QWEN]


def test_reading_and_copying(qtbot):
    """The whole text."""
    dialog = ReadingDialog("Licence", FACTS.licence, None)
    dialog.show()
    qtbot.waitExposed(dialog)
    assert dialog.text.toPlainText() == FACTS.licence
    assert dialog.text.isReadOnly()
    qtbot.mouseClick(dialog.copy_button, Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text() == FACTS.licence
    assert dialog.copy_button.text() == "Copied"
    dialog.close()
