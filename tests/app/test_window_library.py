"""The whole window on an Ollama double: models fetched, used, unloaded, deleted."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.bridge import Bridge
from app.client import Client
from app.model_dialogs import DeleteDialog, ReadingDialog
from app.text_dialog import TextDialog
from app.theme import apply_theme, theme_of
from app.window import MainWindow
from app.wiring import Workplace
from engine.testing.ollama import OllamaDouble
from engine.testing.ollama_rules import Model
from engine.testing.ollama_state import Layer
from tests.app.window_room import is_done, say

LAYERS = (Layer("aaaa1111", 1000, (0, 400, 1000)), Layer("bbbb2222", 50, (50,)))


@pytest.fixture
def server():
    with OllamaDouble() as double:
        double.always("It is understood.")
        double.fetchable(Model("new", template="{{ .Prompt }}"), layers=LAYERS)
        yield double


@pytest.fixture
def window(qtbot, tmp_path, monkeypatch, server):
    """A window on an empty profile whose default model is the double's; closed at the end."""
    monkeypatch.setenv("OLLAMA_HOST", server.host)
    apply_theme(QApplication.instance(), theme_of())
    environ = {"PORTHOLE_MODELS_DEFAULT": "ollama:m:latest", "OLLAMA_HOST": server.host}
    bridge = Bridge(lambda tell: Client(Workplace(str(tmp_path / "profile"), environ), tell))
    made = MainWindow(bridge, "0.1")
    qtbot.addWidget(made)
    with qtbot.waitSignal(made.shown):
        made.show()
    yield made
    made.close()


def open_models(qtbot, window):
    """The models window, when its list is there."""
    window.do("models")
    models = window.models_window
    qtbot.waitUntil(lambda: models._lines.row_of("ollama:m:latest") >= 0)
    return models


def get(qtbot, models, name):
    """Type a name into the dialog."""
    qtbot.mouseClick(models.shelf.get_button, Qt.MouseButton.LeftButton)
    dialog = models.findChildren(TextDialog)[-1]
    dialog.field.setPlainText(name)
    with qtbot.waitSignal(dialog.taken):
        qtbot.keyClick(dialog.field, Qt.Key.Key_Return)


def notice(window):
    shown = window.parts.notices.shown
    return shown.text if shown else ""


# ---- fetching -----------------------------------------------------------------------------------


def test_a_model_from_its_name_to_the_first_reply(qtbot, window, server):
    """Typed, seen coming, paused, resumed, there; one link later it answers."""
    gate = server.hold("pull", 2)
    models = open_models(qtbot, window)
    get(qtbot, models, "ollama pull new")
    qtbot.waitUntil(lambda: models.pull_panel.isVisible() and bool(models.pull_panel.rows))
    qtbot.waitUntil(lambda: window.parts.sidebar.pulls.text() == "Fetching new · 40 %")
    qtbot.mouseClick(models.pull_panel.main_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: models.pull_panel.main_button.text() == "Resume")
    server.wait_for(lambda: server.left == 1)
    assert gate.reached.is_set()
    assert window.parts.sidebar.pulls.text() == "new is paused · 40 %"
    qtbot.keyClick(models.shelf.pulls[0].main_button, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: models.model == "ollama:new:latest" and models.panel.isVisible())
    assert window.parts.sidebar.pulls.isHidden()
    assert notice(window) == "new is on your server now."
    window._act_on_notice("use_arrived")
    qtbot.waitUntil(lambda: window._model == "ollama:new:latest")
    say(qtbot, window, "hello")
    assert server.bodies()[-1]["model"] == "new:latest"


def test_fetching_goes_on_behind_a_closed_window(qtbot, window, server):
    """The sidebar says so, and leads back to it."""
    gate = server.hold("pull", 2)
    models = open_models(qtbot, window)
    get(qtbot, models, "new")
    qtbot.waitUntil(lambda: window.parts.sidebar.pulls.isVisible())
    models.close()
    qtbot.waitUntil(lambda: "40 %" in window.parts.sidebar.pulls.text())
    qtbot.mouseClick(window.parts.sidebar.pulls, Qt.MouseButton.LeftButton)
    assert models.isVisible()
    assert (models.pull, models.pull_panel.isVisible()) == ("new", True)
    models.close()
    gate.open()
    qtbot.waitUntil(lambda: notice(window) == "new is on your server now.")
    qtbot.waitUntil(lambda: "ollama:new:latest" in window._models)


def test_an_unknown_name(qtbot, window, server):
    """Said in plain words, here and there; removed, it is gone."""
    models = open_models(qtbot, window)
    get(qtbot, models, "nowhere:3b")
    panel = models.pull_panel
    qtbot.waitUntil(lambda: panel.card.isVisible())
    assert panel.card.words.text().startswith("Ollama's library has no model named “nowhere:3b”.")
    assert panel.main_button.text() == "Try again"
    assert "nowhere:3b" in notice(window)
    qtbot.mouseClick(panel.cancel_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.isHidden() and models.shelf.pulls_head.isHidden())
    assert window.parts.sidebar.pulls.isHidden()


def test_what_is_no_name(qtbot, window, server):
    """Said where it was typed; nothing is asked."""
    models = open_models(qtbot, window)
    get(qtbot, models, "two words")
    qtbot.waitUntil(lambda: "is not a model's name" in models.shelf.fault.text())
    assert server.bodies("/api/pull") == []


def test_one_that_cannot_chat(qtbot, window, server):
    """It is there, and nobody looks for it in the list in vain."""
    server.fetchable(Model("vectors", capabilities=("embedding",)), layers=(Layer("c", 5, (5,)),))
    window._pull("vectors")
    qtbot.waitUntil(lambda: "does not chat" in notice(window))
    assert window.parts.notices.shown.action == ""


def test_without_a_server(qtbot, window, server):
    """A sentence with a button; when it answers again, so does the list."""
    models = open_models(qtbot, window)
    server.stop()
    models.looked.emit()
    qtbot.waitUntil(lambda: models.shelf.problem.isVisible())
    assert models.shelf.problem.text().startswith("No Ollama server answers at")
    get(qtbot, models, "new")
    qtbot.waitUntil(lambda: models.pull_panel.card.isVisible())
    server.start()
    qtbot.mouseClick(models.pull_panel.main_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: notice(window) == "new is on your server now.")
    qtbot.mouseClick(models.shelf.retry, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: models.shelf.problem.isHidden())


def test_from_the_menu(qtbot, window):
    """The action opens the models window with the question."""
    window.do("get_model")
    assert window.models_window.isVisible()
    (dialog,) = window.models_window.findChildren(TextDialog)
    assert dialog.windowTitle() == "Get a model from Ollama"
    dialog.reject()


# ---- single models ------------------------------------------------------------------------------


def test_what_a_model_is_is_shown(qtbot, window, server):
    """With the model; its template can be read whole."""
    models = open_models(qtbot, window)
    qtbot.waitUntil(lambda: models.panel.facts.isVisible())
    assert "Family: llama" in models.panel.facts.text()
    row = next(row for row in models.panel.facts.rows if row.fact.title == "Template")
    qtbot.mouseClick(row.show_button, Qt.MouseButton.LeftButton)
    (dialog,) = models.findChildren(ReadingDialog)
    assert dialog.text.toPlainText() == "{{ .Prompt }}"
    dialog.close()


def test_memory_on_screen(qtbot, window, server):
    """After a reply the model is there; unloaded, it is not, and the sidebar says so."""
    say(qtbot, window, "hello")
    models = open_models(qtbot, window)
    qtbot.waitUntil(lambda: models.shelf.loaded_head.isVisible())
    assert models.shelf.loaded[0].title.text() == "m"
    qtbot.mouseClick(models.shelf.loaded[0].unload, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: models.shelf.loaded_head.isHidden())
    assert server.windows() == {}
    qtbot.waitUntil(lambda: window.parts.sidebar._foot.words.text() == "m not loaded")


def test_a_model_that_answers_is_not_unloaded(qtbot, window, server):
    """It is said in the models window, and the reply comes to its end."""
    gate = server.hold("piece")
    window.parts.composer.set_text("hello")
    window.do("send")
    models = open_models(qtbot, window)
    qtbot.waitUntil(lambda: gate.reached.is_set() and models.shelf.loaded_head.isVisible())
    qtbot.mouseClick(models.shelf.loaded[0].unload, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "answering just now" in models.shelf.fault.text())
    gate.open()
    qtbot.waitUntil(lambda: is_done(window))


def test_deleting_on_screen(qtbot, window, server):
    """Asked first; then it is gone from server and list, and the conversation says what to do."""
    say(qtbot, window, "hello")
    models = open_models(qtbot, window)
    qtbot.waitUntil(lambda: models.panel.facts.isVisible())
    qtbot.mouseClick(models.panel.facts.delete_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(models.findChildren(DeleteDialog)))
    (dialog,) = models.findChildren(DeleteDialog)
    said = " ".join(dialog.said)
    assert "frees up to 1.0 GB" in said
    assert "conversation that is open" in said
    assert "1 conversation used it" in said
    assert server.bodies("/api/delete") == []
    qtbot.mouseClick(dialog.delete_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: models._lines.row_of("ollama:m:latest") < 0)
    assert models.model == "starter"
    qtbot.waitUntil(lambda: window.parts.header.badge.text == "blocked")
    assert "no model named “m" in window.parts.header.badge.toolTip()
    assert len(window._rows) == 1


def test_a_model_that_is_gone_already(qtbot, window, server):
    """Another program deleted it: said, no question asked."""
    models = open_models(qtbot, window)
    qtbot.waitUntil(lambda: models.panel.facts.isVisible())
    del server.state.models["m:latest"]
    qtbot.mouseClick(models.panel.facts.delete_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "not there any longer" in models.shelf.fault.text())
    assert models.findChildren(DeleteDialog) == []
