"""Preferences of the whole window: over the bridge into the file, and at once in effect."""

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication

from app.bridge import Bridge
from app.client import Client
from app.preferences import MEASURES, SettingsWatch, apply_appearance, dress, plan_appearance
from app.theme import apply_theme, theme_of
from app.window import MainWindow
from app.wiring import Workplace
from engine.errors import Bug
from engine.settings import SETTINGS, load_settings, save_model_setting, save_setting
from tests.app.window_room import say

MODEL = "scripted:test"
RESERVE, FLOOR = "compaction.reserve_tokens", "compaction.reserve_floor"


@pytest.fixture
def file(tmp_path):
    """The settings file: a scripted model with a window of 16,384."""
    workplace = Workplace(str(tmp_path / "profile"), {})
    workplace.paths.ensure()
    made = workplace.paths.settings_file
    save_setting(made, "models.default", MODEL)
    save_model_setting(made, MODEL, "context_window", 16_384)
    return made


@pytest.fixture
def window(qtbot, tmp_path, file):
    """The whole window on that profile; closed, and the theme as it was, at the end."""
    theme = theme_of()
    apply_theme(QApplication.instance(), theme)
    bridge = Bridge(lambda tell: Client(Workplace(str(tmp_path / "profile"), {}), tell))
    made = MainWindow(bridge, "0.1")
    qtbot.addWidget(made)
    with qtbot.waitSignal(made.shown):
        made.show()
    qtbot.waitUntil(lambda: made._settings is not None)
    yield made
    if made.preferences is not None:
        made.preferences.close()
    made.close()
    usual = {key: setting.default for key, setting in SETTINGS.items()}
    if made._settings is not None:
        apply_appearance(theme, plan_appearance(made._settings.values, usual))


def opened(qtbot, window, key):
    """The preferences, open at a setting; its row."""
    window.do("settings")
    qtbot.waitUntil(lambda: window.preferences.state is not None)
    window.preferences.show_setting(key)
    return window.preferences.row(key)


def enter(qtbot, row, text):
    row.editor.field.setFocus()
    row.editor.field.selectAll()
    qtbot.keyClicks(row.editor.field, text)
    qtbot.keyClick(row.editor.field, Qt.Key.Key_Return)


def saved(file):
    return load_settings(file, {})


def test_reserve_floor_and_meter_as_the_issue_says(qtbot, window, file):
    """4,096 is raised and capped, and explained; floor 0 makes it hold, and the meter moves."""
    say(qtbot, window, "Hello")
    row = opened(qtbot, window, RESERVE)
    qtbot.waitUntil(lambda: window.preferences.state.window.tokens == 16_384)
    assert window.parts.composer.meter.values.budget == 8_000
    enter(qtbot, row, "4096")
    assert row.effective.steps.text == "typed 4,096 › floor raises to 20,000 › capped at 8,384"
    assert "In effect: 8,384, leaving 8,000 for the prompt." in row.effective.sentence.text()
    qtbot.waitUntil(lambda: saved(file)[RESERVE] == 4_096)
    window.preferences.show_setting(FLOOR)
    enter(qtbot, window.preferences.row(FLOOR), "0")
    qtbot.waitUntil(lambda: window.parts.composer.meter.values.budget == 12_288)
    assert window.parts.composer.meter.values.window == 16_384
    qtbot.waitUntil(row.effective.isHidden)
    assert saved(file)[FLOOR] == 0


def test_cancel_restores_file_and_meter(qtbot, window, file):
    """What was changed since the opening is as it was, here and in the file."""
    text = file.read_text()
    say(qtbot, window, "Hello")
    enter(qtbot, opened(qtbot, window, FLOOR), "0")
    enter(qtbot, opened(qtbot, window, RESERVE), "4096")
    qtbot.waitUntil(lambda: window.parts.composer.meter.values.budget == 12_288)
    window.preferences.cancel.click()
    qtbot.waitUntil(lambda: window.parts.composer.meter.values.budget == 8_000)
    qtbot.waitUntil(lambda: window.preferences.row(RESERVE).editor.field.text() == "20,000")
    assert saved(file).origins == {"models.default": "file"}
    assert text.splitlines()[0] in file.read_text()


def test_an_edited_file_shows_without_a_restart(qtbot, window, file):
    """Written in place, or replaced as editors do: fields, theme and meter follow."""
    row = opened(qtbot, window, RESERVE)
    file.write_text(file.read_text() + "\n[compaction]\nreserve_tokens = 9_000\n")
    qtbot.waitUntil(lambda: row.editor.field.text() == "9,000", timeout=10_000)
    other = file.with_name("other")
    other.write_text(file.read_text().replace("9_000", "7_000") + "\n[appearance]\nzoom = 120\n")
    other.replace(file)
    qtbot.waitUntil(lambda: row.editor.field.text() == "7,000", timeout=10_000)
    assert theme_of().zoom == 1.2
    file.write_text(file.read_text().replace("7_000", "6_000"))
    qtbot.waitUntil(lambda: row.editor.field.text() == "6,000", timeout=10_000)


def test_a_broken_file_is_said_and_mended(qtbot, window, file):
    """An editor's slip shows at once; a new file is begun from there."""
    opened(qtbot, window, RESERVE)
    file.write_text("nonsense = = 1")
    qtbot.waitUntil(window.preferences.banner.isVisible, timeout=10_000)
    window.preferences.banner.aside.click()
    qtbot.waitUntil(window.preferences.banner.isHidden)
    assert not file.exists()


def test_appearance_changes_at_once_and_is_kept(qtbot, window, file):
    """Theme, size and width of the text change with the click, and stand in the file."""
    opened(qtbot, window, "appearance.scheme").editor._on_chosen("dark")
    qtbot.waitUntil(lambda: theme_of().choice == "dark")
    opened(qtbot, window, "appearance.measure").editor._on_chosen("wide")
    qtbot.waitUntil(lambda: window.parts.transcript._most == MEASURES["wide"])
    assert window.parts.foot._width_px == 840 + 48
    enter(qtbot, opened(qtbot, window, "appearance.zoom"), "150")
    qtbot.waitUntil(lambda: theme_of().zoom == 1.5)
    found = saved(file)
    assert [found[f"appearance.{key}"] for key in ("scheme", "measure", "zoom")] == [
        "dark",
        "wide",
        150,
    ]


def test_menus_change_the_settings_too(qtbot, window, file):
    """Zoom and theme of the menu are kept; many steps in a row end where they should."""
    for _ in range(3):
        window.do("zoom_in")
    window.do("theme_dark")
    assert (theme_of().zoom, theme_of().choice) == (1.3, "dark")
    qtbot.waitUntil(lambda: saved(file)["appearance.scheme"] == "dark")
    qtbot.waitUntil(lambda: window._settings_asked == 0)
    assert (theme_of().zoom, saved(file)["appearance.zoom"]) == (1.3, 130)
    for action in ("zoom_out", "zoom_reset", "theme_light", "theme_system"):
        window.do(action)
    qtbot.waitUntil(lambda: window._settings_asked == 0)
    found = saved(file)
    assert (found["appearance.zoom"], found["appearance.scheme"]) == (100, "system")


def test_what_the_file_refuses_is_said(qtbot, window, file):
    """Beside the field while the preferences are open, else in the status line."""
    row = opened(qtbot, window, "ollama.host")
    file.unlink()
    file.mkdir()
    enter(qtbot, row, "http://127.0.0.1:1")
    qtbot.waitUntil(lambda: "cannot" in row.problem.text())
    window.preferences.close()
    window.do("zoom_in")
    qtbot.waitUntil(lambda: window._settings_asked == 0)
    qtbot.waitUntil(lambda: "cannot" in str(window.parts.notices.shown))


def test_a_bug_of_ours_is_told_as_one(qtbot, window):
    """Not as a fault of the file."""
    with qtbot.waitSignal(window.crashed) as told:
        window._ask_settings(lambda c, _: c.preferences.nothing_of_the_kind())
    assert isinstance(told.args[0], AttributeError)
    assert window._settings_asked == 0
    with qtbot.waitSignal(window.crashed):
        window._tell_settings_fault(None, Bug("ours"))


def test_models_are_offered_and_chosen(qtbot, window):
    """The list of models reaches the dialog; another one's window is shown when it is chosen."""
    row = opened(qtbot, window, "context_window")
    group = window.preferences.views["context"].groups["one_model"]
    qtbot.waitUntil(lambda: "starter" in group._labels)
    group.choice._choose(group._labels.index("starter"))
    qtbot.waitUntil(lambda: window.preferences.model == "starter")
    assert window.preferences.state.window.tokens > 0
    assert row.editor.field.text() == ""
    window.do("settings")
    qtbot.waitUntil(lambda: window.preferences.model == MODEL)
    qtbot.waitUntil(lambda: row.editor.field.text() == "16,384")


def test_reset_takes_a_setting_out_of_the_file(qtbot, window, file):
    """The default applies, and the file says nothing of it any more."""
    row = opened(qtbot, window, "context.cap_tokens")
    enter(qtbot, row, "20000")
    qtbot.waitUntil(row.reset.isVisible)
    row.reset.click()
    qtbot.waitUntil(row.reset.isHidden)
    assert saved(file).origin("context.cap_tokens") == "default"


def test_file_and_folders_are_opened(qtbot, window, file, monkeypatch):
    """With what the computer has for them; a missing file's folder instead of nothing."""
    seen = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: seen.append(url.toLocalFile()))
    opened(qtbot, window, RESERVE)
    window.preferences.file_link.click()
    window.preferences.show_requested.emit(str(file))
    window._open_place(str(file.with_name("gone.toml")))
    assert seen == [str(file), str(file.parent), str(file.parent)]


def test_opening_at_a_setting_shows_it(qtbot, window):
    """A link elsewhere can lead straight to it."""
    window.show_preferences("compaction.identifier_policy")
    qtbot.waitUntil(lambda: window.preferences.row("compaction.identifier_policy").isVisible())


# ---- the parts ------------------------------------------------------------------------------


def test_watch_tells_of_the_file_only(qtbot, tmp_path):
    """Made, replaced, removed: told. Other files of the folder: not. Another file: watched then."""
    owner = QObject()
    watch = SettingsWatch(owner)
    assert watch.file == ""
    file = tmp_path / "settings.toml"
    watch.watch(str(file))
    watch.watch(str(file))
    with qtbot.waitSignal(watch.changed, timeout=10_000):
        file.write_text("a = 1")
    with qtbot.waitSignal(watch.changed, timeout=10_000):
        (tmp_path / "new").write_text("a = 22")
        (tmp_path / "new").replace(file)
    with qtbot.waitSignal(watch.changed, timeout=10_000):
        file.unlink()
    with qtbot.assertNotEmitted(watch.changed), qtbot.waitSignal(watch._timer.timeout):
        (tmp_path / "unrelated").write_text("x")
    elsewhere = tmp_path / "sub" / "settings.toml"
    elsewhere.parent.mkdir()
    watch.watch(str(elsewhere))
    assert watch.file == str(elsewhere)
    with qtbot.waitSignal(watch.changed, timeout=10_000):
        elsewhere.write_text("b = 1")


def test_only_what_changed_is_applied():
    """A theme that was chosen otherwise meanwhile is not undone by another setting."""
    before = {key: setting.default for key, setting in SETTINGS.items()}
    assert plan_appearance(before, before) == {}
    assert plan_appearance(before, before | {"appearance.zoom": 90}) == {"appearance.zoom": 90}


def test_every_setting_of_the_appearance_reaches_the_theme(tmp_path):
    """Scheme, size, face, contrast, motion: from the file into the theme; the width is not its."""
    theme = theme_of()
    file = tmp_path / "settings.toml"
    for key, value in (
        ("scheme", "dark"),
        ("zoom", 150),
        ("reading_face", "plain"),
        ("contrast", "high"),
        ("motion", False),
    ):
        save_setting(file, f"appearance.{key}", value)
    dress(theme, load_settings(file, {}))
    assert (theme.choice, theme.zoom, theme.reading_face) == ("dark", 1.5, "plain")
    assert theme.more_contrast
    assert theme.reduced_motion
    dress(theme, load_settings(tmp_path / "none.toml", {}))
    assert (theme.choice, theme.zoom, theme.reading_face) == ("system", 1.0, "book")
    assert not theme.more_contrast
