"""Thinking, from the chip to the server: over the bridge into the file, and into the next request."""

import pytest
from PySide6.QtWidgets import QApplication

from app.bridge import Bridge
from app.client import Client, WindowKnown
from app.client.values import ThinkFacts
from app.theme import apply_theme, theme_of
from app.window import MainWindow
from app.wiring import Workplace
from engine.settings import load_settings, save_model_setting, save_setting
from engine.testing.ollama import MODELS, OllamaDouble
from engine.testing.ollama_rules import Model
from engine.testing.ollama_script import Reply
from tests.app.test_client import run
from tests.app.window_room import say

MODEL = "ollama:m"
GPT_OSS = Model("gpt-oss:20b", capabilities=("completion", "thinking"), family="gptoss")
PATIENCE_MS = 30_000


@pytest.fixture
def server(monkeypatch):
    """A server with a model that thinks, one with levels and one that does not."""
    with OllamaDouble((*MODELS, GPT_OSS)) as made:
        made.always(lambda _: Reply("Good.", thinking="Let me see. " * 20))
        monkeypatch.setenv("OLLAMA_HOST", made.host)
        yield made


@pytest.fixture
def file(tmp_path):
    workplace = Workplace(str(tmp_path / "profile"), {})
    workplace.paths.ensure()
    made = workplace.paths.settings_file
    save_setting(made, "models.default", MODEL)
    return made


@pytest.fixture
def window(qtbot, tmp_path, file, server):
    apply_theme(QApplication.instance(), theme_of())
    profile = str(tmp_path / "profile")
    bridge = Bridge(lambda tell: Client(Workplace(profile, {"OLLAMA_HOST": server.host}), tell))
    made = MainWindow(bridge, "0.1")
    qtbot.addWidget(made)
    with qtbot.waitSignal(made.shown):
        made.show()
    qtbot.waitUntil(lambda: made._settings is not None, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: made.parts.composer.think.facts.choices is not None)
    yield made
    if made.preferences is not None:
        made.preferences.close()
    made.close()


def choose(window, words):
    chip = window.parts.composer.think
    chip.click()
    next(action for action in chip.menu.actions() if action.text() == words).trigger()
    chip.menu.close()


def asked(server):
    """What was said of thinking in every request that had messages."""
    bodies = (body for body in server.bodies("/api/chat") if body["messages"])
    return [body.get("think", "nothing") for body in bodies]


def test_a_choice_goes_into_the_file_and_the_next_request(qtbot, window, file, server):
    """At once for the conversation that is open; taken back, nothing is left of it."""
    chip = window.parts.composer.think
    say(qtbot, window, "Why?")
    for words, shown, stored in (("Off", "Think: off", "off"), ("By itself", "Think", None)):
        choose(window, words)
        qtbot.waitUntil(lambda: chip.text() == shown, timeout=PATIENCE_MS)  # noqa: B023
        assert load_settings(file, {}).model(MODEL).think == stored
        say(qtbot, window, "And?")
    assert asked(server) == ["nothing", False, "nothing"]
    assert len(server.loads) == 1, "nothing is loaded again for it"


def test_the_preferences_show_what_the_chip_set(qtbot, window):
    """And the chip what is set there."""
    chip = window.parts.composer.think
    choose(window, "On")
    qtbot.waitUntil(lambda: chip.text() == "Think: on", timeout=PATIENCE_MS)
    window.do("settings")
    qtbot.waitUntil(lambda: window.preferences.state is not None, timeout=PATIENCE_MS)
    window.preferences.show_setting("think")
    row = window.preferences.row("think")
    qtbot.waitUntil(lambda: row.editor.read().value == "on", timeout=PATIENCE_MS)
    row.editor.segmented._parts["off"].click()
    qtbot.waitUntil(lambda: chip.text() == "Think: off", timeout=PATIENCE_MS)


def test_the_chip_is_that_of_the_model(qtbot, window):
    """Another model is chosen: its choices, or none where it does not think."""
    chip = window.parts.composer.think
    assert chip.facts == ThinkFacts(("off", "on"))
    window._use_model("ollama:gpt-oss:20b")
    qtbot.waitUntil(lambda: chip.facts.choices == ("low", "medium", "high"), timeout=PATIENCE_MS)
    assert chip.isVisible()
    window._use_model("ollama:plain")
    qtbot.waitUntil(lambda: chip.facts.choices == (), timeout=PATIENCE_MS)
    assert not chip.isVisible()
    window._use_model(MODEL)
    qtbot.waitUntil(chip.isVisible, timeout=PATIENCE_MS)


# ---- what the client tells ----------------------------------------------------------------------


def test_earlier_thinking_weighs_nothing_in_the_meter_and_the_panel(tmp_path, server):
    """What the server wrote, thinking included, is not what goes back to it."""

    async def body(room):
        id_ = await room.client.send(None, "Why?", MODEL)
        await room.rest(id_)
        dropped = await room.facts(id_)
        save_model_setting(room.workplace.paths.settings_file, MODEL, "thinking_history", "keep")
        await room.client.preferences.reread()
        kept = await room.facts(id_)
        return dropped, kept

    dropped, kept = run(tmp_path, body)
    parts = {segment.name: segment.tokens for segment in dropped.segments}
    assert "thinking" not in parts
    assert sum(parts.values()) == dropped.used
    more = {segment.name: segment.tokens for segment in kept.segments}
    assert more["thinking"] > 3 * more["replies"]
    assert sum(more.values()) == kept.used > dropped.used + 40


def test_what_a_model_can_be_told_is_told(tmp_path, server):
    """When a conversation is opened, and again when it is set otherwise."""

    async def body(room):
        save_model_setting(room.workplace.paths.settings_file, MODEL, "think", "on")
        await room.client.preferences.reread()
        id_ = await room.client.send(None, "Why?", MODEL)
        await room.rest(id_)
        opened = await room.client.open(id_)
        save_model_setting(room.workplace.paths.settings_file, MODEL, "think", "off")
        await room.client.preferences.reread()
        return opened.think, room.of(WindowKnown)[-1].think, await room.client.open(id_)

    opened, told, again = run(tmp_path, body)
    assert opened == ThinkFacts(("off", "on"), chosen="on")
    assert told == again.think == ThinkFacts(("off", "on"), chosen="off")
