"""The preferences window: every setting shown, explained, changed, searched, put back."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from app.client.models import WindowFacts
from app.client.preferences import Place, SettingsState, Spot
from app.client.values import ThinkFacts
from app.preferences import PreferencesWindow
from app.preferences.editors import BoxEditor, ChoiceEditor, FieldEditor, ModelEditor, SwitchEditor
from app.preferences.effective import plan_effective
from app.preferences.row import SettingRow
from app.preferences.secret import Reveal
from app.theme import apply_theme, theme_of
from engine.settings import MODEL_SETTINGS, SETTINGS, ModelSettings
from tests.app.test_preferences_plan import EVERY, bad_texts

MODELS = (("starter", "SmolLM2 135M"), ("ollama:qwen3:8b", "qwen3:8b"))
RESERVE, FLOOR = "compaction.reserve_tokens", "compaction.reserve_floor"
WINDOW = WindowFacts("starter", "16,384 tokens", 16_384, 8_000, "warn", "A small window.")


def a_state(changes=None, models=None, **more):
    """What the client answers: defaults with some changes, for a window of 16,384."""
    changes = changes or {}
    values = {key: setting.default for key, setting in SETTINGS.items()} | changes
    more.setdefault("window", WINDOW)
    more.setdefault("window_why", "A small window.")
    return SettingsState(
        values,
        dict.fromkeys(changes, "file"),
        changes,
        {"starter": ModelSettings(**(models or {}))},
        "starter",
        file="/profile/config/settings.toml",
        places=(
            Place("settings", "/profile/config/settings.toml"),
            Place("models", "/profile/models"),
        ),
        **more,
    )


@pytest.fixture(autouse=True)
def _dressed():
    """The application in its theme, as it was before afterwards."""
    theme = theme_of()
    apply_theme(QApplication.instance(), theme)
    yield
    theme.set_zoom(1.0)
    if theme.choice != "system":
        theme.set_scheme("system")


@pytest.fixture
def window(qtbot):
    """The window at its usual size, with defaults."""
    made = PreferencesWindow()
    qtbot.addWidget(made)
    made.set_models(MODELS)
    made.set_state(a_state())
    with qtbot.waitExposed(made):
        made.show()
    return made


def heard(signal):
    """Everything a signal says from now on."""
    told = []
    signal.connect(lambda *values: told.append(values))
    return told


def row_of(window, key):
    window.show_setting(key)
    return window.row(key)


def typed(qtbot, row, text):
    """Type into a row's field or box as a person does."""
    control = row.editor.control
    control.setFocus()
    control.selectAll()
    qtbot.keyClicks(control, text) if text else qtbot.keyClick(control, Qt.Key.Key_Delete)


def made(qtbot, window):
    """Wait until every row of what is shown is there; they are made bit by bit."""
    views = [view for view in window.views.values() if not view.isHidden()]
    qtbot.waitUntil(lambda: all(view.is_made for view in views), timeout=20_000)


def shown_rows(window):
    return {row.setting.key for row in window.findChildren(SettingRow) if row.isVisible()}


# ---- every setting --------------------------------------------------------------------------


def test_every_setting_is_there_with_help_and_name(window):
    """Title, help and range to read; its control has a name and its help as description."""
    for setting in EVERY:
        row = row_of(window, setting.key)
        assert row.isVisible(), setting.key
        assert row.title.text() == setting.title
        assert setting.help in row.help.text()
        assert ("Default" in row.help.text()) == (setting.default is not None)
        control = row.editor.control
        assert control.accessibleName() == setting.title
        assert setting.help in control.accessibleDescription()
        assert control.isEnabled()
        assert setting.help in row.editor.focus_target.accessibleDescription()


def test_every_setting_rejects_its_bad_values(window):
    """What it cannot be is explained beside it, and is not applied."""
    changed, reset = heard(window.changed), heard(window.reset_requested)
    typing = []
    for setting in EVERY:
        row = row_of(window, setting.key)
        if not isinstance(row.editor, FieldEditor | BoxEditor):
            continue  # only what it may be is offered
        typing.append(setting.key)
        for text in bad_texts(setting):
            row.editor._write(text)
            row.editor._on_typed()
            assert row.problem.isVisible(), (setting.key, text)
            assert setting.title in row.problem.text()
            assert row.problem.text() in row.editor.control.accessibleDescription()
            row.editor.apply()
        row.editor.set_value(setting.default)
    assert (changed, reset) == ([], [])
    assert len(typing) > len(EVERY) / 2


def test_every_setting_can_be_changed_and_shows_it(qtbot, window):
    """Another value is told once with its key; the state that comes of it is shown, with Reset."""
    told, back = heard(window.changed), heard(window.reset_requested)
    for setting in EVERY:
        told.clear()
        back.clear()
        row = row_of(window, setting.key)
        value = change(qtbot, row)
        model = "starter" if setting.key in MODEL_SETTINGS else ""
        assert told == [(setting.key, value, model)]
        mine = {setting.key: value}
        window.set_state(a_state(models=mine) if model else a_state(mine))
        assert row.editor.read().value == value, setting.key
        assert row.reset.isVisible()
        row.reset.click()
        assert back == [(setting.key, model)]
        window.set_state(a_state())
        assert row.reset.isHidden()
        assert row.editor.read().value == setting.default, setting.key


def change(qtbot, row):
    """Change a setting with whatever its row offers; the value it should have then."""
    editor, setting = row.editor, row.setting
    if isinstance(editor, SwitchEditor):
        qtbot.mouseClick(editor.switch, Qt.MouseButton.LeftButton)
        return not setting.default
    if isinstance(editor, ChoiceEditor):
        other = next(c for c in (*setting.choices, "true") if c != setting.default)
        editor.segmented._parts[other].click()
        return True if setting.kind == "switch" else other
    if isinstance(editor, ModelEditor):
        editor.choice._choose(2)
        return "ollama:qwen3:8b"
    value = {"whole": setting.maximum, "number": setting.maximum, "list": ("/one",)}.get(
        setting.kind, "5m" if setting.pattern else "mine"
    )
    typed(qtbot, row, "/one" if setting.kind == "list" else str(value))
    editor.apply()
    return value


# ---- effective values -----------------------------------------------------------------------


def test_reserve_is_explained_while_it_is_typed(qtbot, window):
    """4,096 at 16,384: the floor raises it, the cap brings it to 8,384, and 8,000 are left."""
    row = row_of(window, RESERVE)
    assert row.effective.isVisible()
    typed(qtbot, row, "4096")
    assert row.effective.steps.text == "typed 4,096 › floor raises to 20,000 › capped at 8,384"
    assert row.effective.sentence.text() == (
        "In effect: 8,384, leaving 8,000 for the prompt. Set the floor to 0 to use 4,096 as typed."
    )
    said = row.effective.drawing.accessibleName()
    assert said == "The window of SmolLM2 135M, 16,384 tokens: 8,000 prompt, 8,384 reply"


def test_floor_of_zero_ends_the_explanation(qtbot, window):
    """Typing 0 into the floor makes the reserve hold as typed, and says so by saying nothing."""
    window.set_state(a_state({RESERVE: 4_096}))
    row, floor = row_of(window, RESERVE), row_of(window, FLOOR)
    assert row.effective.isVisible()
    typed(qtbot, floor, "0")
    assert row.effective.isHidden()
    typed(qtbot, floor, "zero")
    assert row.effective.isVisible()


def test_tail_says_what_holds(qtbot, window):
    """20,000 recent tokens do not fit a budget of 8,000."""
    row = row_of(window, "compaction.keep_recent_tokens")
    assert row.note.text() == "In effect: at most 3,520 at this window"
    typed(qtbot, row, "100")
    assert row.note.isHidden()


def test_window_fields_say_what_the_model_gets(window):
    """The largest window, and the model's own, name the window in effect and who decides it."""
    for key in ("context.cap_tokens", "context_window"):
        row = row_of(window, key)
        assert row.note.text() == "In effect for SmolLM2 135M: 16,384 tokens. A small window."
    assert window.row("context.cap_tokens").drawing.isVisible()
    assert window.row("context_window").drawing.isHidden()
    window.set_state(a_state(models={"context_window": 30_000}))
    assert window.row("context_window").drawing.isVisible()


def test_unknown_window_explains_nothing(window):
    """Nobody could be asked: no figures, only what is known."""
    state = a_state({RESERVE: 4_096}, window=WindowFacts("starter"), window_why="")
    window.set_state(state)
    assert row_of(window, RESERVE).effective.isHidden()
    row = row_of(window, "context.cap_tokens")
    assert row.note.isHidden()
    assert row.drawing.isHidden()


def drawing_of(qtbot, window):
    drawing = row_of(window, RESERVE).effective.drawing
    qtbot.waitUntil(lambda: drawing.height() == drawing.sizeHint().height())  # it is laid out
    return drawing


def test_drawing_parts_the_window_where_the_figures_say(qtbot, window):
    """8,000 of 16,384 are prompt; 4,096 would part it at three quarters."""
    window.set_state(a_state({RESERVE: 4_096}))
    drawing = drawing_of(qtbot, window)
    bar = drawing.bar()
    assert drawing.place_of(8_000) == pytest.approx(
        bar.left() + bar.width() * 8_000 / 16_384, abs=1
    )
    assert drawing.place_of(99_999) == pytest.approx(bar.right(), abs=1)
    image = drawing.grab().toImage()
    ratio, middle = image.devicePixelRatio(), bar.center().y()
    inside = image.pixelColor(round((drawing.place_of(8_000) - 8) * ratio), round(middle * ratio))
    beyond = image.pixelColor(round((bar.right() - 3) * ratio), round(middle * ratio))
    assert inside == theme_of().color("m_recent")
    assert beyond != inside


def test_drawing_of_a_reserve_larger_than_the_window(qtbot, window):
    """No line where the typed value would be: it would lie outside."""
    drawing = drawing_of(qtbot, window)
    drawing.set_effective(plan_effective(16_384, 16_000, 0), "SmolLM2 135M")
    inside = drawing.grab().toImage()
    drawing.set_effective(plan_effective(16_384, 900_000, 0), "SmolLM2 135M")
    assert drawing.grab().toImage() != inside
    drawing.resize(120, drawing.height())
    assert isinstance(drawing.grab().toImage(), QImage)


# ---- typing ---------------------------------------------------------------------------------


def test_typing_is_applied_after_a_pause(qtbot, window):
    """Not every key is saved: one value, when typing rests."""
    row = row_of(window, RESERVE)
    with qtbot.waitSignal(window.changed, timeout=10_000) as told:
        typed(qtbot, row, "4096")
    assert told.args == [RESERVE, 4_096, ""]


def test_enter_applies_at_once_and_groups_the_figure(qtbot, window):
    """The figure stands as figures do when it is meant; the same again is no change."""
    row = row_of(window, RESERVE)
    told = heard(window.changed)
    typed(qtbot, row, "4096")
    qtbot.keyClick(row.editor.field, Qt.Key.Key_Return)
    assert told == [(RESERVE, 4_096, "")]
    assert row.editor.field.text() == "4,096"
    qtbot.keyClick(row.editor.field, Qt.Key.Key_Return)
    assert len(told) == 1


def test_what_is_being_typed_is_left_alone(qtbot, window):
    """A state that arrives meanwhile does not move the text; later it does."""
    row = row_of(window, RESERVE)
    typed(qtbot, row, "409")
    window.set_state(a_state({RESERVE: 5_000}))
    assert row.editor.field.text() == "409"
    row.editor.apply()
    window.set_state(a_state({RESERVE: 5_000}))
    assert row.editor.field.text() == "5,000"


def test_a_models_setting_is_taken_away_by_emptying_it(qtbot, window):
    """Nothing typed means that something more general decides."""
    window.set_state(a_state(models={"temperature": 0.5}))
    row = row_of(window, "temperature")
    told = heard(window.reset_requested)
    assert row.editor.field.text() == "0.5"
    typed(qtbot, row, "")
    row.editor.apply()
    assert told == [("temperature", "starter")]
    think = row_of(window, "think")
    think.editor.segmented._parts["on"].click()
    think.editor.segmented._parts[""].click()
    assert told[-1] == ("think", "starter")


def shown_parts(row):
    """The words of the choices that are offered, side by side and in the list."""
    parts = row.editor.segmented._parts
    words = [part.text() for part in parts.values() if not part.isHidden()]
    listed = [row.editor.choice.itemText(i) for i in range(row.editor.choice.count())]
    assert listed == words
    return words


def thinking(window, facts, **models):
    """The two rows of a model's thinking, for a model of which this is known."""
    window.set_state(a_state(models=models, window=replace(WINDOW, think=facts)))
    return row_of(window, "think"), row_of(window, "thinking_history")


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        (("off", "on"), ["Not set", "Off", "On"]),
        (("low", "medium", "high"), ["Not set", "Low", "Medium", "High"]),
        (None, ["Not set", "Off", "On", "Low", "Medium", "High", "Max"]),
    ],
)
def test_what_a_model_takes_of_thinking_is_offered(window, choices, words):
    """And all there is where nobody knows."""
    think, history = thinking(window, ThinkFacts(choices))
    assert shown_parts(think) == words
    assert think.editor.isEnabled()
    assert history.editor.isEnabled()
    assert (think.note.text(), history.note.text()) == ("", "")


def test_another_model_is_offered_what_it_takes(window):
    """Going from one to the next, and back."""
    for choices in (("off", "on"), None, ("low", "high"), ()):
        think, _ = thinking(window, ThinkFacts(choices, thinks=choices != ()))
        assert len(shown_parts(think)) == 1 + len(
            {None: range(6), (): ("off", "on")}.get(choices, choices)
        )


def test_what_is_set_is_shown_though_the_model_does_not_take_it(window):
    """A level of a model that only knows off and on; it can be taken back."""
    think, _ = thinking(window, ThinkFacts(("off", "on")), think="low")
    assert shown_parts(think) == ["Not set", "Off", "On", "Low"]
    assert think.editor.read().value == "low"
    told = heard(window.reset_requested)
    think.reset.click()
    assert told == [("think", "starter")]


def test_a_model_that_does_not_think_says_so(window):
    """Both settings are off, with the reason, for eyes and ears; a value can be taken back."""
    think, history = thinking(window, ThinkFacts((), thinks=False), think="on")
    for row in (think, history):
        assert not row.editor.isEnabled()
        assert row.note.text() == "This model does not think."
        assert "This model does not think." in row.editor.control.accessibleDescription()
    assert not think.reset.isHidden()
    think, history = thinking(window, ThinkFacts(("off", "on")))
    assert think.editor.isEnabled()
    assert (think.note.text(), history.editor.isEnabled()) == ("", True)


def test_a_model_that_always_thinks_says_so(window):
    """It cannot be told; what of it is sent again can."""
    think, history = thinking(window, ThinkFacts(()))
    assert not think.editor.isEnabled()
    assert think.note.text() == "This model always thinks. It cannot be told not to."
    assert (history.editor.isEnabled(), history.note.text()) == (True, "")


def test_a_fault_is_said_beside_the_field(window):
    """What the file refused stands where it was typed."""
    row = row_of(window, "ollama.host")
    window.show_fault(Spot("ollama.host"), "The disk is full.")
    assert (row.problem.text(), row.problem.isVisible()) == ("The disk is full.", True)
    assert row.editor.field.is_wrong
    window.show_fault(Spot("compaction.enabled"), "No row was made for it yet.")


def test_lists_take_what_is_chosen_in_a_dialog(window, monkeypatch):
    """Folders and files are added without typing them; giving up adds nothing."""
    told = heard(window.changed)
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: "/models")
    row_of(window, "models.folders").editor.add.click()
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("/a.gguf", ""))
    row_of(window, "models.added").editor.add.click()
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("", ""))
    row_of(window, "models.added").editor.add.click()
    assert [values[:2] for values in told] == [
        ("models.folders", ("/models",)),
        ("models.added", ("/a.gguf",)),
    ]


def test_boxes_end_with_ctrl_enter_and_tab(qtbot, window):
    """Enter is a new line in a box; with Ctrl it is done, Tab goes on."""
    row = row_of(window, "chat.system_prompt")
    told = heard(window.changed)
    typed(qtbot, row, "Be brief.")
    qtbot.keyClick(row.editor.box, Qt.Key.Key_Return)
    assert told == []
    qtbot.keyClick(row.editor.box, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert told == [("chat.system_prompt", "Be brief.\n", "")]
    qtbot.keyClick(row.editor.box, Qt.Key.Key_Tab)
    assert not row.editor.box.hasFocus()


# ---- search and pages -----------------------------------------------------------------------


def test_search_shows_what_is_found_on_every_page(qtbot, window):
    """Rows of several pages under their titles; emptied, the page is back."""
    window.show_page("general")
    qtbot.keyClicks(window.search, "context")
    wanted = {"context_window", "llamacpp.kv_type"}
    qtbot.waitUntil(lambda: wanted <= shown_rows(window), timeout=10_000)
    made(qtbot, window)
    assert "language" not in shown_rows(window)
    assert window.views["context"].isVisible()
    assert not any(row.isChecked() for row in window.navigation.rows.values())
    qtbot.keyClick(window.search, Qt.Key.Key_Escape)
    assert shown_rows(window) == {s.key for s in window.views["general"].page.settings}
    assert window.navigation.rows["general"].isChecked()


def test_search_that_finds_nothing_says_so(window):
    """No empty page without a word."""
    window.search.setText("qqqq")
    window.search.tell_now()
    assert window.nothing.isVisible()
    assert "qqqq" in window.nothing.text()
    assert shown_rows(window) == set()


def test_pages_are_chosen_by_mouse_and_arrows(qtbot, window):
    """The list at the left is one stop of Tab; arrows move in it."""
    rows = window.navigation.rows
    qtbot.mouseClick(rows["compaction"], Qt.MouseButton.LeftButton)
    assert window.views["compaction"].isVisible()
    rows["compaction"].setFocus()
    qtbot.keyClick(rows["compaction"], Qt.Key.Key_Down)
    assert window.views["memory"].isVisible()
    assert not window.views["compaction"].isVisible()
    window.page_choice._choose(0)
    assert window.views["general"].isVisible()


def test_storage_shows_where_everything_lies(qtbot, window):
    """Each place has a button that shows it; so has the file, at the foot."""
    window.show_page("storage")
    told, opened = heard(window.show_requested), heard(window.open_requested)
    places = window.views["storage"].places
    buttons = [b for b in places.findChildren(QWidget) if b.accessibleName().startswith("Show ")]
    buttons[1].click()
    assert told == [("/profile/models",)]
    window.file_link.click()
    assert opened == [("/profile/config/settings.toml",)]


def test_another_model_is_asked_for(qtbot, window):
    """The list over a model's own settings tells which; what is not listed is offered too."""
    told = heard(window.model_chosen)
    window.show_page("context")
    made(qtbot, window)
    group = window.views["context"].groups["one_model"]
    assert group.choice.currentText() == "SmolLM2 135M"
    group.choice._choose(1)
    assert told == [("ollama:qwen3:8b",)]
    window.set_models(())
    assert group.choice.currentText() == "starter"


def test_a_model_in_the_file_that_is_not_listed_is_kept(window):
    """What was set stays chosen, by its name."""
    window.set_state(a_state({"models.default": "ollama:gone"}))
    editor = row_of(window, "models.default").editor
    assert (editor.choice.currentText(), editor.read().value) == ("ollama:gone", "ollama:gone")


# ---- putting back ---------------------------------------------------------------------------


def test_cancel_puts_back_what_was_there_at_the_opening(qtbot, window):
    """The first value of each changed setting, None for what was not in the file."""
    window.set_state(a_state({RESERVE: 5_000}))
    told = heard(window.restore_requested)
    assert not window.cancel.isEnabled()
    row = row_of(window, RESERVE)
    for figure in (4_096, 6_000):
        typed(qtbot, row, str(figure))
        row.editor.apply()
        window.set_state(a_state({RESERVE: figure}))
    row_of(window, "compaction.enabled").editor.switch.click()
    qtbot.mouseClick(window.cancel, Qt.MouseButton.LeftButton)
    assert told == [(((Spot(RESERVE), 5_000), (Spot("compaction.enabled"), None)),)]
    assert not window.cancel.isEnabled()


def test_opening_again_begins_anew(qtbot, window):
    """Done keeps what was changed: nothing is put back the next time."""
    row_of(window, "compaction.enabled").editor.switch.click()
    assert window.cancel.isEnabled()
    qtbot.mouseClick(window.done, Qt.MouseButton.LeftButton)
    assert window.isHidden()
    window.show()
    assert not window.cancel.isEnabled()


def test_closing_applies_what_is_typed(qtbot, window):
    """Esc does not lose the last figure."""
    row = row_of(window, RESERVE)
    told = heard(window.changed)
    typed(qtbot, row, "4096")
    qtbot.keyClick(row.editor.field, Qt.Key.Key_Escape)
    assert window.isHidden()
    assert told == [(RESERVE, 4_096, "")]


# ---- trouble --------------------------------------------------------------------------------


def test_the_environment_decides_and_says_so(window):
    """What a variable sets cannot be changed here."""
    state = a_state({"context.cap_tokens": 18_000})
    state.origins["context.cap_tokens"] = "environment"
    window.set_state(state)
    row = row_of(window, "context.cap_tokens")
    assert not row.editor.isEnabled()
    assert row.reset.isHidden()
    assert "PORTHOLE_CONTEXT_CAP_TOKENS" in row.note.text()


def test_a_broken_file_is_said_and_can_be_replaced(window):
    """Nothing can be changed until it is mended; two ways out."""
    window.set_state(a_state(problems=("Settings, line 3: not valid.",), is_broken=True))
    aside, opened = heard(window.set_aside_requested), heard(window.open_requested)
    assert window.banner.isVisible()
    assert "line 3" in window.banner.words.text()
    assert not row_of(window, RESERVE).editor.isEnabled()
    window.banner.aside.click()
    window.banner.open.click()
    assert (len(aside), opened) == (1, [("/profile/config/settings.toml",)])
    window.set_state(a_state())
    assert window.banner.isHidden()
    assert row_of(window, RESERVE).editor.isEnabled()


def test_many_problems_are_counted(window):
    """A few in words, the rest as a number; beginning anew is not offered for those."""
    window.set_state(a_state(problems=tuple(f"Problem {n}." for n in range(9))))
    assert "Problem 3." in window.banner.words.text()
    assert "And 5 more." in window.banner.words.text()
    assert window.banner.aside.isHidden()


# ---- keyboard, size, theme ------------------------------------------------------------------


def test_keyboard_reaches_everything(qtbot, window):
    """Tab from the search comes to pages, controls, file, Cancel, Done; each has a name."""
    window.show_page("compaction")
    made(qtbot, window)
    row_of(window, "compaction.enabled").editor.switch.click()
    window.search.setFocus()
    reached = []
    for _ in range(60):
        focused = QApplication.focusWidget()
        if focused in reached:
            break
        reached.append(focused)
        qtbot.keyClick(focused, Qt.Key.Key_Tab)
    assert {window.file_link, window.cancel, window.done} <= set(reached)
    rows = [window.row(s.key) for s in window.views["compaction"].page.settings]
    for row in rows:
        inside = [w for w in reached if row.isAncestorOf(w)]
        assert inside, row.setting.key
    named = [w.accessibleName() or getattr(w, "text", str)() for w in reached]
    assert all(named)


def test_search_keeps_the_keyboard_while_the_window_narrows_and_widens(window):
    """What is typed goes on where it was typed: the field moves, the keyboard with it."""
    for width in (480, 940):
        window.resize(width, 700)
        assert window.focusWidget() is window.search


def test_narrow_window_stacks_and_loses_nothing(qtbot, window):
    """At 480 the pages are a list that opens, editors stand below, nothing is cut off."""
    window.show_page("compaction")
    made(qtbot, window)
    wide = window.row(RESERVE)
    assert wide.editor.geometry().left() > wide.title.geometry().right()
    window.resize(480, 700)
    qtbot.waitUntil(lambda: window.side.isHidden())
    assert window.page_choice.isVisible()
    qtbot.waitUntil(window.search.isVisible)
    row = window.row(RESERVE)
    qtbot.waitUntil(lambda: row.editor.geometry().top() > row.help.geometry().bottom())
    assert window.area.horizontalScrollBar().maximum() == 0
    for page in window.views:
        window.show_page(page)
        made(qtbot, window)
        assert window.area.horizontalScrollBar().maximum() == 0, page
    window.resize(900, 700)
    qtbot.waitUntil(lambda: window.side.isVisible())
    assert window.search.parentWidget() is not None


def test_choices_too_wide_become_a_list(qtbot, window):
    """Segments that do not fit are offered as a list, with the same value."""
    editor = row_of(window, "stretch").editor
    told = heard(window.changed)
    qtbot.waitUntil(editor.segmented.isVisible)
    theme_of().set_zoom(2.0)
    window.resize(480, 700)
    qtbot.waitUntil(editor.segmented.isHidden)
    window.show_setting("stretch")
    assert editor.choice.hasFocus()
    assert editor.control is editor.choice
    editor.choice._choose(3)
    assert told == [("stretch", "yarn", "starter")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("zoom", [1.0, 2.0])
def test_every_page_is_painted_in_the_theme(qtbot, window, scheme, zoom):
    """Ground and side take the tokens, at each size; nothing but the pages scrolls."""
    theme_of().set_scheme(scheme)
    theme_of().set_zoom(zoom)
    window.resize(round(940 * zoom), 700)
    for page in window.views:
        window.show_page(page)
        made(qtbot, window)
        image = window.grab().toImage()
        ground = image.pixelColor(window.area.x() * image.width() // window.width() + 6, 6)
        assert ground == theme_of().color("paper")
        assert image.pixelColor(2, image.height() - 2) == theme_of().color("side")
        assert window.area.horizontalScrollBar().maximum() == 0


# ---- secrets ----------------------------------------------------------------------------------


def test_a_secret_is_dots_until_it_is_asked_for(qtbot, window):
    """The button beside the field shows it and hides it again, and says which it does."""
    window.set_state(a_state({"ollama.token": "tok-5ecret"}))
    row = row_of(window, "ollama.token")
    field, [button] = row.editor.field, row.editor.findChildren(Reveal)
    assert field.text() == "tok-5ecret"
    assert "tok-5ecret" not in field.displayText()
    assert (button.accessibleName(), button.toolTip()) == ("Show Ollama token",) * 2
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert field.displayText() == "tok-5ecret"
    assert button.accessibleName() == "Hide Ollama token"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert "tok-5ecret" not in field.displayText()


def test_a_secret_that_cannot_be_one_is_not_repeated(qtbot, window):
    """What is wrong is said beside the field, without it."""
    row = row_of(window, "ollama.token")
    typed(qtbot, row, "two words")
    row.editor.apply()
    assert row.problem.text() == "Ollama token is letters, digits and signs without spaces."


def test_only_secrets_are_hidden(window):
    """Every other field shows what stands in it."""
    for setting in EVERY:
        row = row_of(window, setting.key)
        assert bool(row.editor.findChildren(Reveal)) == setting.secret
