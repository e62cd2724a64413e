"""Models of ollama.com in the whole window: refused, allowed where the refusal leads, marked."""

import pytest
from PySide6.QtWidgets import QApplication

from app.bridge import Bridge
from app.client import Client
from app.preferences import apply_appearance, plan_appearance
from app.theme import apply_theme, theme_of
from app.window import MainWindow
from app.wiring import Workplace
from engine.settings import SETTINGS, save_setting
from engine.testing.ollama import OllamaDouble
from engine.testing.ollama_rules import Model
from tests.app.window_room import say

OWN, CLOUD = "ollama:m", "ollama:big:cloud"


@pytest.fixture
def server():
    """A server with a model of its own, and one of ollama.com."""
    models = (Model("m"), Model("big:cloud", remote_host="https://ollama.com", trained=131_072))
    with OllamaDouble(models) as double:
        double.always("It is understood.")
        yield double


@pytest.fixture
def window(qtbot, tmp_path, server):
    """The whole window on that server, when it knows the models; closed at the end."""
    place = str(tmp_path / "profile")
    workplace = Workplace(place, {})
    workplace.paths.ensure()
    save_setting(workplace.paths.settings_file, "ollama.host", server.host)
    save_setting(workplace.paths.settings_file, "models.default", OWN)
    apply_theme(QApplication.instance(), theme_of())
    made = MainWindow(Bridge(lambda tell: Client(Workplace(place, {}), tell)), "0.1")
    qtbot.addWidget(made)
    with qtbot.waitSignal(made.shown):
        made.show()
    made.refresh_models()
    qtbot.waitUntil(lambda: CLOUD in made._models and made._settings is not None)
    yield made
    if made.preferences is not None:
        made.preferences.close()
    made.close()
    usual = {key: setting.default for key, setting in SETTINGS.items()}
    apply_appearance(theme_of(), plan_appearance(made._settings.values, usual))


def allow(qtbot, window):
    """Turn the switch on where the refusal leads."""
    window.picker.refused.emit(CLOUD)
    window.parts.notices._link.click()
    qtbot.waitUntil(lambda: bool(window.preferences and window.preferences.state))
    row = window.preferences.row("ollama.allow_cloud")
    assert row.isVisible()
    row.editor.switch.click()
    qtbot.waitUntil(lambda: window._models[CLOUD].guard == "ok")


def test_a_refused_model_leads_to_the_switch(qtbot, window, server):
    """What would leave is said; the link opens the setting; on, the model can be chosen at once."""
    window.picker.refused.emit(CLOUD)
    shown = window.parts.notices.shown
    assert (
        shown.text
        == "big:cloud runs on ollama.com: your messages and files would leave this computer."
    )
    assert window._model == OWN
    allow(qtbot, window)
    window.picker.chosen.emit(CLOUD)
    qtbot.waitUntil(window.parts.header.cloud.isVisible)
    say(qtbot, window, "hello")
    assert [body["model"] for body in server.bodies()] == ["big:cloud"]


def test_the_mark_is_the_conversation_s(qtbot, window):
    """It goes with a model of one's own and comes back with the other, whatever the guard says."""
    assert window.parts.header.cloud.isHidden()
    allow(qtbot, window)
    window.picker.chosen.emit(CLOUD)
    qtbot.waitUntil(window.parts.header.cloud.isVisible)
    window.picker.chosen.emit(OWN)
    qtbot.waitUntil(window.parts.header.cloud.isHidden)


def test_first_run_offers_no_cloud_model(window):
    """It counts and names what is on the server itself."""
    window._show_ollama("127.0.0.1:1")
    assert "1 model" in window.parts.first_run.ollama.text
    assert "The largest is m." in window.parts.first_run.ollama.text


def test_the_models_window_marks_it(qtbot, window):
    """Off: why it cannot be used. On: that it leaves, in amber, and no figure of a load."""
    window.show_truth(CLOUD)
    panel = window.models_window.panel
    qtbot.waitUntil(lambda: panel.truth is not None and panel.truth.model == CLOUD)
    assert panel.badge.text == "cloud"
    assert "would leave this computer" in panel.card.words.text()
    assert panel.place.isHidden()
    allow(qtbot, window)
    window.show_truth(CLOUD)
    qtbot.waitUntil(lambda: not panel.truth.problem)
    assert "your messages and files leave this computer" in panel.place.text()
    assert panel.place.isVisible()
    window.models_window.close()
