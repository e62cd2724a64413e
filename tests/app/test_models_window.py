"""The models window: list, guard card, figures, memory, and how the application comes to it."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QWidget

from app.bridge import Bridge
from app.client import Client, ModelRow
from app.client.preferences import Spot
from app.client.window_truth import Cure, ModelTruth, WindowFigure, plan_figures
from app.header import Header
from app.model_picker import ModelPicker
from app.theme import apply_theme, theme_of
from app.truth import ModelsWindow
from app.truth.words import (
    cure_words,
    figure_name,
    free_words,
    gigabytes,
    guard_text,
    guard_title,
    origin_words,
    spoken_figure,
    subtitle,
    verdict_words,
    why_words,
)
from app.window import MainWindow
from app.wiring import Workplace
from engine.settings import save_model_setting
from engine.testing.ollama import OllamaDouble
from engine.testing.ollama_rules import Model
from engine.window import ContextWindow, plan_memory_estimates
from tests.app.window_room import replies
from tests.backends.gguf_files import write_gguf

QWEN = "ollama:qwen"
STARTER = ModelRow(
    *("starter", "SmolLM2 135M", 98_000_000, "Q4_1", 16_384),
    *("warn", "A small window.", "starter", True, True),
)
BLOCKED = ModelRow(
    QWEN, "qwen", 1_900_000_000, "Q4_K_M", 4_096, "block", "Too small.", "ollama", False, True
)
FREE = 3_200_000_000
CURE = Cure("window", 16_384, ((Spot("context_window", QWEN), 16_384),))
TRUTH = ModelTruth(
    QWEN,
    "qwen",
    "ollama",
    "http://127.0.0.1:11434",
    "qwen2 · Q4_K_M",
    "block",
    window=4_096,
    figures=plan_figures(
        ContextWindow(4_096, "modelsConfig", 4_096, 32_768), 4_096, is_trouble=True, is_own=False
    ),
    memory=plan_memory_estimates(1_900_000_000, 36_864, "f16", FREE),
    free_bytes=FREE,
    total_bytes=8_000_000_000,
    cures=(CURE, Cure("ask", 32_768, ((Spot("context_window", QWEN), 32_768),))),
    hard_min=16_000,
    warn_below=32_000,
)
FINE = replace(TRUTH, guard="ok", cures=(), figures=TRUTH.figures[:1])


@pytest.fixture
def models(qtbot):
    """The window with two models, the blocked one shown."""
    made = ModelsWindow()
    qtbot.addWidget(made)
    made.set_models((STARTER, BLOCKED), "127.0.0.1")
    made.show_model(QWEN)
    made.show_truth(TRUTH)
    made.show()
    qtbot.waitExposed(made)
    return made


def buttons(models):
    return [button.text() for button in models.panel.card.cures]


# ---- what it shows ------------------------------------------------------------------------------


def test_a_blocked_model(models):
    """Why, the buttons that help, the figure that decides in red."""
    panel = models.panel
    assert (panel.title.text(), panel.badge.text) == ("qwen", "blocked")
    assert panel.card.isVisible()
    assert panel.card.title.text() == "Not used: the window is below the limit"
    assert "4,096 tokens: set for this model" in panel.card.words.text()
    assert "at least 16,000" in panel.card.words.text()
    assert buttons(models) == ["Use 16,384 for this model", "Ask Ollama for 32,768"]
    assert panel.card.cures[0].kind == "primary"
    assert [row.tone for row in panel.figures.rows] == ["red", "ink", "ink", "ink"]
    assert panel.figures.rows[0].accessibleName() == "Requested: 4,096, set for this model"


def test_one_that_is_warned_of(models):
    """Amber, and another sentence."""
    models.show_truth(replace(TRUTH, guard="warn", window=16_384, cures=TRUTH.cures[1:]))
    assert models.panel.badge.text == "small window"
    assert "go best with 32,000" in models.panel.card.words.text()
    assert buttons(models) == ["Ask Ollama for 32,768"]
    assert models.panel.figures.rows[0].tone == "amber"


def test_one_that_is_fine(models):
    """No card, no badge."""
    models.show_truth(FINE)
    assert models.panel.card.isHidden()
    assert models.panel.badge.isHidden()
    assert models.panel.figures.rows[0].tone == "ink"


def test_one_of_which_nothing_is_known(models):
    """The reason, without figures, bars or buttons."""
    models.show_truth(ModelTruth(QWEN, "qwen", guard="block", problem="It is gone."))
    panel = models.panel
    assert (panel.card.title.text(), panel.card.words.text()) == (
        "This model cannot be used",
        "It is gone.",
    )
    for widget in (panel.card.buttons, panel.figures, panel.memory, panel.foot):
        assert widget.isHidden()


def test_what_to_do_where_no_button_helps(models):
    """The remedy in words."""
    models.show_truth(replace(TRUTH, cures=(), remedy="Raise the limit of the server."))
    assert models.panel.card.words.text().endswith("Raise the limit of the server.")


def test_why_there_is_a_limit(models, qtbot):
    """Folded; a press shows it, another model folds it again."""
    card = models.panel.card
    assert card.why.text() == "Why 16,000?"
    assert card.reason.isHidden()
    qtbot.mouseClick(card.why, Qt.MouseButton.LeftButton)
    assert card.reason.isVisible()
    models.show_truth(replace(TRUTH, cures=()))
    assert card.reason.isVisible(), "the same model"
    models.show_model("starter")
    models.show_truth(replace(TRUTH, model="starter"))
    assert card.reason.isHidden()


def test_memory_bars(models):
    """Each window's size and verdict; the line stands where what is free ends."""
    bars = models.panel.memory
    assert bars.accessibleName().startswith("16,384: 2.8 GB, fits. 24,576: 3.1 GB, just fits.")
    assert "too large" in bars.accessibleName()
    bar = bars.bar(0)
    assert bar.left() < bars.place_of(TRUTH.memory[0].needed_bytes, bar)
    assert bars.place_of(TRUTH.memory[0].needed_bytes, bar) < bars.place_of(FREE, bar)
    assert bars.place_of(FREE, bar) < bars.place_of(TRUTH.memory[2].needed_bytes, bar)
    assert bars.place_of(TRUTH.memory[2].needed_bytes, bar) <= bar.right()
    shot = models.panel.memory.grab().toImage()
    ratio = shot.devicePixelRatio()

    def color(x, y):
        return shot.pixelColor(round(x * ratio), round(y * ratio)).name()

    theme = theme_of()
    assert color(bar.left() + 8, bar.center().y()) == theme.color("m_system").name()
    last = bars.bar(2)
    context = bars.place_of(TRUTH.memory[2].weights_bytes, last) + 8
    assert color(context, last.center().y()) == theme.color("red").name()
    upright = bars.place_of(FREE, bar)
    assert color(upright, bar.center().y() - 9) == theme.color("ink").name()


def test_memory_of_another_computer(models):
    """No line of what is free, and said why."""
    memory = plan_memory_estimates(1_900_000_000, 36_864, "f16", None)
    models.show_truth(replace(TRUTH, elsewhere=True, memory=memory, free_bytes=0, total_bytes=0))
    assert "another computer" in models.panel.foot.text()
    assert "not known" in models.panel.memory.accessibleName()
    models.panel.memory.grab()


def test_buttons_flow_in_a_narrow_window(models, qtbot):
    """On a second line, all of them to be seen, in every size of letters."""
    models.resize(640, 500)
    flow = models.panel.card.buttons
    qtbot.waitUntil(lambda: flow.height() >= flow.heightForWidth(flow.width()))
    tops = {button.y() for button in (*models.panel.card.cures, models.panel.card.why)}
    assert len(tops) > 1
    assert models.panel.card.why.geometry().bottom() < flow.height()
    theme_of().set_zoom(1.5)
    qtbot.waitUntil(lambda: flow.height() >= flow.heightForWidth(flow.width()))
    theme_of().set_zoom(1.0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_paints_in_both_schemes(models, scheme):
    """The grounds of list and panel."""
    theme_of().set_scheme(scheme)
    shot = models.grab().toImage()
    side, paper = (theme_of().color(name).name() for name in ("side", "paper"))
    theme_of().set_scheme("light")
    assert shot.pixelColor(3, shot.height() // 2).name() == side
    assert shot.pixelColor(shot.width() - 40, 6).name() == paper


# ---- what is asked of it ------------------------------------------------------------------------


def test_choosing_a_model(models, qtbot):
    """Arrows and clicks ask for it; an answer about another one is too late."""
    with qtbot.waitSignal(models.asked) as asked:
        models.list.setFocus()
        qtbot.keyClick(models.list, Qt.Key.Key_Up)
    assert asked.args == ["starter"]
    models.show_truth(replace(TRUTH, title="late"))
    assert models.panel.title.text() == "qwen"
    index = models.list.model().index(models._lines.row_of(QWEN))
    place = models.list.visualRect(index).center()
    with qtbot.waitSignal(models.asked) as asked:
        qtbot.mouseClick(
            models.list.viewport(),
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
            place,
        )
    assert asked.args == [QWEN]


def test_the_list_tells_nothing_by_itself(models, qtbot):
    """New rows, the same model: nobody chose."""
    with qtbot.assertNotEmitted(models.asked):
        models.set_models((STARTER, replace(BLOCKED, guard="ok")))
        models.list.go_to("nobody")
    assert not models.list.currentIndex().isValid()
    models.list.grab()


def test_the_default_model(qtbot):
    """Before a name is known, the first answer is the one to show."""
    made = ModelsWindow()
    qtbot.addWidget(made)
    made.set_models((STARTER, BLOCKED))
    made.show_truth(TRUTH)
    assert made.model == QWEN
    assert made.panel.truth is TRUTH


def test_buttons(models, qtbot):
    """Cures, the preferences, a file: told, by pointer or keyboard."""
    with qtbot.waitSignal(models.cure_chosen) as told:
        qtbot.mouseClick(models.panel.card.cures[0], Qt.MouseButton.LeftButton)
    assert told.args == [QWEN, CURE]
    with qtbot.waitSignal(models.window_wanted) as told:
        qtbot.keyClick(models.panel.card.choose, Qt.Key.Key_Space)
    assert told.args == [QWEN]
    with qtbot.waitSignal(models.open_file_requested):
        qtbot.mouseClick(models.open_button, Qt.MouseButton.LeftButton)


def test_escape_closes(models, qtbot):
    """And no other key."""
    qtbot.keyClick(models, Qt.Key.Key_F)
    assert models.isVisible()
    qtbot.keyClick(models, Qt.Key.Key_Escape)
    assert models.isHidden()


# ---- words --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cure", "words"),
    [
        (Cure("window", 16_384, ()), "Use 16,384 for this model"),
        (Cure("ask", 32_768, ()), "Ask Ollama for 32,768"),
        (Cure("stretch", 16_384, (), 8_192), "Stretch 8,192 × 2"),
        (Cure("stretch", 16_384, (), 12_000), "Stretch 12,000 to 16,384"),
        (Cure("cap", 32_768, ()), "Allow windows up to 32,768"),
        (Cure("half_context", 32_768, ()), "Fit 32,768: half the memory for the context"),
    ],
)
def test_what_buttons_say(cure, words):
    """A verb and the figure."""
    assert cure_words(cure) == words


def test_other_words():
    """Names, sources, verdicts, sizes."""
    names = [figure_name(kind) for kind in ("requested", "trained", "loaded", "per_chat")]
    assert names == ["Requested", "Trained on", "Loaded", "Per chat"]
    shared = WindowFigure("per_chat", 8_192, "shared", sharing=4)
    assert origin_words(shared) == "seems to be shared by 4 chats (OLLAMA_NUM_PARALLEL)"
    assert spoken_figure(WindowFigure("trained", 0)) == "Trained on: –"
    stretched = WindowFigure("trained", 8_192, "metadata", stretched=2.0)
    assert origin_words(stretched) == "from the model's metadata, stretched × 2"
    verdicts = [verdict_words(v) for v in ("fits", "tight", "too_large", "unknown")]
    assert verdicts == ["fits", "just fits", "too large", "not known"]
    assert gigabytes(2_750_000_000) == "2.8 GB"
    assert subtitle(TRUTH) == "Ollama · qwen · qwen2 · Q4_K_M"
    assert subtitle(replace(TRUTH, backend="llama.cpp")) == "In Porthole · qwen2 · Q4_K_M"
    assert guard_title(FINE) == ""
    assert guard_text(replace(TRUTH, figures=())) == ""
    assert "16,000" in why_words(TRUTH)
    assert "32,000" in why_words(FINE)
    assert "3.2 GB of 8.0 GB" in free_words(TRUTH)


# ---- ways to it ---------------------------------------------------------------------------------


def test_the_badge_is_pressed(qtbot):
    """By the pointer, Enter or the space bar; by no other button or key."""
    header = Header()
    qtbot.addWidget(header)
    header.set_guard("warn", "A small window.")
    header.show()
    badge = header.badge
    told = []
    header.badge_clicked.connect(lambda: told.append(1))
    qtbot.mouseClick(badge, Qt.MouseButton.LeftButton)
    qtbot.keyClick(badge, Qt.Key.Key_Return)
    qtbot.keyClick(badge, Qt.Key.Key_Space)
    assert len(told) == 3
    qtbot.mouseClick(badge, Qt.MouseButton.RightButton)
    qtbot.keyClick(badge, Qt.Key.Key_A)
    assert len(told) == 3
    assert badge.focusPolicy() & Qt.FocusPolicy.TabFocus


def test_details_in_the_picker(qtbot):
    """Of the model the row stands on; of the current one where there is no row."""
    parent = QWidget()
    qtbot.addWidget(parent)
    picker = ModelPicker(parent)
    picker.set_models((STARTER, BLOCKED), "starter")
    picker.open_at(QPoint(0, 0))
    qtbot.keyClick(picker.field, Qt.Key.Key_Down)
    with qtbot.waitSignal(picker.details_requested) as told:
        qtbot.mouseClick(picker.details_button, Qt.MouseButton.LeftButton)
    assert told.args == [QWEN]
    assert picker.isHidden()
    picker.set_models((), "starter")
    with qtbot.waitSignal(picker.details_requested) as told:
        picker.details_button.click()
    assert told.args == ["starter"]


# ---- in the whole application -------------------------------------------------------------------


@pytest.fixture
def start(qtbot, tmp_path, monkeypatch):
    """Makes main windows on a profile, with an Ollama double; closed at the end."""
    opened, servers = [], []

    def make(model, *served, **fields):
        server = OllamaDouble(*([served] if served else []), **fields)
        servers.append(server.__enter__())
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        apply_theme(QApplication.instance(), theme_of())
        environ = {"PORTHOLE_MODELS_DEFAULT": model, "OLLAMA_HOST": server.host}
        workplace = Workplace(str(tmp_path / "profile"), environ)
        bridge = Bridge(lambda tell: Client(workplace, tell))
        window = MainWindow(bridge, "0.1")
        qtbot.addWidget(window)
        with qtbot.waitSignal(window.shown):
            window.show()
        opened.append(window)
        return window

    yield make
    for window in opened:
        window.close()
    for server in servers:
        server.__exit__(None, None, None)


LIMITS = [(15_999, "blocked"), (16_000, "small window"), (31_999, "small window"), (32_000, "")]


@pytest.mark.parametrize(("trained", "badge"), LIMITS)
@pytest.mark.parametrize("backend", ["ollama", "llama.cpp"])
def test_the_limits_on_screen(qtbot, start, tmp_path, backend, trained, badge):
    """15,999 blocked, 16,000 and 31,999 a small window, 32,000 clean: header and panel."""
    file = write_gguf(tmp_path / "m.gguf", {"llama.context_length": trained})
    label = "ollama:m:latest" if backend == "ollama" else f"llama.cpp:{file}"
    window = start(label, Model("m", trained=trained))
    header = window.parts.header
    known = f"{trained // 1024}K" if trained % 1024 == 0 else f"{trained / 1000:.0f}k"
    qtbot.waitUntil(lambda: header.chip.accessibleName().endswith(known))
    assert header.badge.text == badge
    assert header.badge.isVisible() == bool(badge)
    window.do("models")
    models = window.models_window
    qtbot.waitUntil(lambda: models.panel.truth is not None)
    assert (models.panel.truth.model, models.panel.truth.window) == (label, trained)
    assert models.panel.badge.isVisible() == bool(badge)
    if badge:
        assert models.panel.badge.text == badge


def test_a_button_changes_the_open_conversation(qtbot, start, tmp_path):
    """Blocked by a setting: the badge, a click, a button, and the header says the new window."""
    paths = Workplace(str(tmp_path / "profile"), {}).paths
    paths.ensure()
    file = paths.settings_file
    save_model_setting(file, "ollama:m:latest", "context_window", 4_096)
    window = start("ollama:m:latest")
    header = window.parts.header
    qtbot.waitUntil(lambda: header.badge.text == "blocked")
    qtbot.mouseClick(header.badge, Qt.MouseButton.LeftButton)
    models = window.models_window
    qtbot.waitUntil(lambda: models.isVisible() and bool(models.panel.card.cures))
    assert buttons(models) == ["Use 16,384 for this model", "Ask Ollama for 32,768"]
    qtbot.mouseClick(models.panel.card.cures[0], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: header.badge.text == "small window")
    qtbot.waitUntil(lambda: models.panel.badge.text == "small window")
    assert header.chip.accessibleName().endswith("16K")
    assert "context_window = 16384" in file.read_text("utf-8")
    row = models._lines.row_of("ollama:m:latest")
    assert row >= 0


def test_the_menu_and_the_preferences(qtbot, start):
    """From the picker and the menu it is the same window; its link leads to the settings."""
    window = start("ollama:m:latest")
    window.do("models")
    first = window.models_window
    window.picker.details_requested.emit("ollama:plain")
    assert window.models_window is first
    assert first.model == "ollama:plain"
    asked = []
    window._handlers["open_model"] = lambda: asked.append("open_model")
    first.open_file_requested.emit()
    assert asked == ["open_model"]
    first.window_wanted.emit("ollama:plain")
    qtbot.waitUntil(lambda: window.preferences is not None and window.preferences.isVisible())
    qtbot.waitUntil(lambda: window.preferences.model == "ollama:plain")
    window.preferences.close()


def test_what_was_loaded_stays_on_screen(qtbot, start):
    """20,000 instead of 32,768: the header says so in the same turn, and after the list as well."""
    window = start("ollama:m:latest", window_limit=20_000)
    header = window.parts.header
    qtbot.waitUntil(lambda: header.chip.accessibleName().endswith("32K"))
    window.parts.composer.set_text("Hello there")
    window.do("send")
    qtbot.waitUntil(lambda: bool(replies(window)) and replies(window)[-1].state == "done")
    qtbot.waitUntil(lambda: header.chip.accessibleName().endswith("20k"))
    assert header.badge.text == "small window"
    assert "32,768 tokens were asked for" in header.badge.toolTip()
    window.picker.set_models(())
    window.refresh_models()
    qtbot.waitUntil(lambda: bool(window.picker._models))
    assert header.chip.accessibleName().endswith("20k")
    assert header.badge.text == "small window"


def test_a_window_that_is_too_small_is_blocked_on_screen(qtbot, start):
    """Four chats share it: the reply says why, the header is red, the panel shows the figure."""
    window = start("ollama:m:latest", slots=4)
    header = window.parts.header
    qtbot.waitUntil(lambda: header.chip.accessibleName().endswith("32K"))
    window.parts.composer.set_text("Hello there")
    window.do("send")
    qtbot.waitUntil(lambda: bool(replies(window)) and replies(window)[-1].state == "failed")
    qtbot.waitUntil(lambda: header.badge.text == "blocked")
    assert "8,192" in replies(window)[-1].error
    assert header.chip.accessibleName().endswith("8K")
    window.do("models")
    panel = window.models_window.panel
    qtbot.waitUntil(lambda: panel.truth is not None and panel.truth.window == 8_192)
    assert [(row.tone, row.value.text()) for row in panel.figures.rows][2] == ("red", "8,192")
    assert "shared by 4 chats" in panel.figures.rows[3].origin.text()


def test_a_cut_prompt_on_screen(qtbot, start):
    """An old server with a smaller window: the reply's receipt asks why, and leads to the window."""
    window = start("ollama:m:latest", version="0.9.0", window_limit=4_096)

    def say(text, count):
        window.parts.composer.set_text(text)
        window.do("send")
        qtbot.waitUntil(
            lambda: len([r for r in replies(window) if r.state == "done"]) == count, timeout=10_000
        )

    say("river stone bridge " * 800, 1)
    say("And what is next?", 2)
    say("winter garden lamp " * 800, 3)
    last = replies(window)[-1]
    assert last.receipt.mismatch
    assert not any(reply.receipt.mismatch for reply in replies(window)[:-1])
    view = window.parts.transcript
    index = window.items.index_of(last.id)
    assert "toggle_why" in [part.action for part in view.box(index).parts]
    window._act_on_item(last.id, "window_truth")
    assert window.models_window.isVisible()
