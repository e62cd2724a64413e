"""The window's language: which one is spoken, and that in Chinese nothing is English or cut."""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QTranslator
from PySide6.QtGui import QAction, QFontMetrics, QFontMetricsF
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QMenu, QPushButton, QWidget

from app import desktop, words
from app.actions import TABLE
from app.dialogs import AboutDialog, CrashDialog, LinkDialog, ShortcutSheet
from app.items import Receipt
from app.language import plan_language, plan_locale, speak
from app.licences import find_licences
from app.terminal.console import EXIT_USAGE
from app.terminal.parser import parse
from app.theme import apply_theme, theme_of
from app.transcript import words as said
from engine.paths import find_paths
from engine.settings import save_setting

CATALOGUE = Path(__file__).parents[2] / "resources" / "translations" / "porthole_zh_CN.ts"
WIDE, HIGH = 1280, 820


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """The folder of the catalogue, compiled as the set-up compiles it."""
    folder = tmp_path_factory.mktemp("translations")
    tool = Path(sys.executable).parent / "pyside6-lrelease"
    target = folder / "porthole_zh_CN.qm"
    subprocess.run([tool, "-silent", CATALOGUE, "-qm", target], check=True)
    return folder


@pytest.fixture
def app(qapp, compiled):
    """The application, speaking English again afterwards."""
    locale = QLocale()
    yield qapp
    speak(qapp, ["en"], compiled)
    QLocale.setDefault(locale)


# ---- which one ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wishes", "language"),
    [
        ([], "en"),
        (["", "auto", "zh-Hans-CN"], "zh_CN"),
        (["zh"], "zh_CN"),
        (["zh_CN", "en"], "zh_CN"),
        (["en", "zh_CN"], "en"),
        (["en_GB"], "en"),
        (["de-DE", "zh-CN", "en-US"], "zh_CN"),
        (["zh-Hant-TW", "en-US"], "en"),
        (["zh_TW"], "en"),
        (["ja"], "en"),
    ],
)
def test_the_first_language_there_is_wins(wishes, language):
    """What is asked for, the setting and the system are asked in their order."""
    assert plan_language(wishes) == language


@pytest.mark.parametrize(
    ("language", "system", "shown"),
    [
        ("en", "C", "12,345 13:05"),
        ("en", "en_US", "12,345 1:05"),
        ("en", "de_DE", "12,345 13:05"),
        ("zh_CN", "C", "12,345 13:05"),
        ("zh_CN", "en_US", "12,345 13:05"),
    ],
)
def test_numbers_and_times_fit_the_language(language, system, shown):
    """Thousands are grouped everywhere; the system's own manner holds where it speaks the language."""
    from PySide6.QtCore import QTime

    locale = plan_locale(language, QLocale(system))
    time = locale.toString(QTime(13, 5), QLocale.FormatType.ShortFormat)
    assert f"{locale.toString(12_345)} {time}".startswith(shown)


@pytest.mark.parametrize("code", ["zh", "zh_CN", "zh-cn", "zh_Hans_CN"])
def test_language_is_asked_for_on_the_command_line(code):
    """However it is written."""
    assert parse(["--demo", "--lang", code]).lang == "zh_CN"
    assert parse(["--lang", "EN"]).lang == "en"
    assert parse([]).lang is None


def test_unknown_language_is_wrong_usage(capsys):
    """The two there are named."""
    with pytest.raises(SystemExit) as ended:
        parse(["--lang", "de"])
    assert ended.value.code == EXIT_USAGE
    assert "en, zh_CN" in capsys.readouterr().err


def test_command_line_wins_over_the_setting(tmp_path):
    """And settings that cannot be read wish for nothing: the window tells of them."""
    profile = str(tmp_path)
    options = argparse.Namespace(lang="zh_CN")
    assert desktop._wished_languages(options, profile, {}) == ("zh_CN", "auto")
    file = find_paths(profile, {}).settings_file
    find_paths(profile, {}).ensure()
    save_setting(file, "language", "en")
    none = argparse.Namespace(lang=None)
    assert desktop._wished_languages(none, profile, {}) == ("", "en")
    file.unlink()
    file.mkdir()
    assert desktop._wished_languages(options, profile, {}) == ("zh_CN",)


# ---- speaking -----------------------------------------------------------------------------------


def test_everything_learns_the_language(app, compiled):
    """Qt's texts, our words, numbers, the faces of Han characters."""
    assert speak(app, ["zh_CN"], compiled) == "zh_CN"
    assert QCoreApplication.translate("Transcript", "Copy") == "复制"
    assert QCoreApplication.translate("QPlatformTheme", "Cancel") == "取消"
    assert words.translate("Client", "%n token(s)", "", 12_345) == "12,345 个词元"
    assert QLocale().toString(12_345) == "12,345"
    assert theme_of().language == "zh_CN"
    assert not words.is_plain()


def test_unknown_text_is_english_with_its_plural(app, compiled):
    """A text the catalogue lacks is shown as it would be in English."""
    speak(app, ["zh_CN"], compiled)
    assert words.translate("Nowhere", "%n boat(s)", "", 2) == "2 boats"
    assert words.translate("Nowhere", "A boat") == "A boat"


def test_speaking_again_takes_the_other_language_away(app, compiled):
    """English needs no translator, and none is left."""
    speak(app, ["zh_CN"], compiled)
    assert speak(app, ["en"], compiled) == "en"
    assert QCoreApplication.translate("Transcript", "Copy") == "Copy"
    assert words.is_plain()
    assert theme_of().language == "en"
    assert app.findChildren(QTranslator) == []


def test_without_the_compiled_catalogue_it_is_english(app, tmp_path):
    """A machine that was not set up whole starts all the same."""
    assert speak(app, ["zh_CN"], tmp_path) == "en"
    assert words.is_plain()
    assert theme_of().language == "en"


def test_damaged_catalogue_is_english(app, compiled, tmp_path):
    """What cannot be loaded is as good as nothing."""
    shutil.copy(CATALOGUE, tmp_path / "porthole_zh_CN.qm")
    assert speak(app, ["zh_CN"], tmp_path) == "en"


def test_receipt_has_thousands(app, compiled):
    """Full figures, grouped, in both languages; about before an estimate."""
    paid = Receipt(6_912, "exact", 6_912, None, 40, 1_088, 8_000)
    guess = Receipt(1_790, "estimated", 370, 1_420)
    speak(app, ["en"], compiled)
    assert said.receipt(paid, 9.4) == "sent 6,912 · read 6,912 · room 1,088 · 9.4 s"
    assert said.receipt(guess, 0).startswith("sent about 1,790 · read 370")
    speak(app, ["zh_CN"], compiled)
    assert said.receipt(paid, 9.4) == "已发送 6,912 · 已读取 6,912 · 剩余 1,088 · 9.4 秒"
    assert said.receipt(guess, 0).startswith("已发送约 1,790 · 已读取 370")


def test_a_day_has_spaces_around_its_figures(app, compiled):
    """As in all our own strings."""
    from datetime import date

    speak(app, ["zh_CN"], compiled)
    assert said.day(1_700_000_000_000, date(2026, 11, 30)) == "2023 年 11 月 14 日 星期二"


# ---- the window ---------------------------------------------------------------------------------

OURS = (
    "Porthole|Ollama|GGUF|Markdown|JSONL|SmolLM2|Instruct|starter|Q4_1|Ctrl|Shift|Alt|Enter|Esc|"
    "Return|PgUp|PgDown|PageUp|PageDown|Home|End|Tab|Space|Del|Backspace|Up|Down|Left|Right|llama.cpp|F\\d+|YaRN|MB|GB|K|k|Qt|PySide6|Python"
)
ALLOWED = re.compile(rf"\b({OURS})\b|/\w+|\(&?[A-Z]\)|\b[A-Z]\b|[\w.+-]*[\d.:/][\w.:/+-]*")
ENGLISH = re.compile(r"[A-Za-z]{2,}")
"""What a visible text may hold that is no Chinese: names, keys, commands, units, versions."""


@pytest.fixture
def demo(qtbot, app, tmp_path):
    """Makes the real window on the demonstration's profile, in a language made beforehand."""
    apply_theme(QApplication.instance(), theme_of())
    made = []

    def show(language="en"):
        options = argparse.Namespace(demo=True, messages=0, profile=None, lang=language)
        kept = desktop._profile(options)
        profile, first = kept.__enter__()
        window = desktop._window(profile, {}, first)
        made.append((window, kept))
        qtbot.addWidget(window)
        window.resize(WIDE, HIGH)
        with qtbot.waitSignal(window.shown):
            window.show()
        qtbot.waitUntil(lambda: bool(window._rows))
        return window

    yield show
    for window, kept in made:
        window.close()
        kept.__exit__(None, None, None)


_PROPERTIES = ("text", "title", "placeholderText", "toolTip", "statusTip", "windowTitle", "accessibleName", "accessibleDescription")  # fmt: skip


def _texts(root: QWidget):
    """Every text of a widget and all below it, with the kind of who shows it."""
    things = [root, *root.findChildren(QWidget), *root.findChildren(QAction)]
    for thing in things:
        for name in _PROPERTIES:
            value = thing.property(name)
            if isinstance(value, str) and value:
                yield type(thing).__name__, name, value


def _english(root: QWidget, content: set[str]):
    """Texts with English words that are neither allowed nor the conversations' own."""
    for kind, name, text in _texts(root):
        left = text
        for own in content:
            left = left.replace(own, "")
        if ENGLISH.search(ALLOWED.sub("", left)):
            yield kind, name, text


def _content(window) -> set[str]:
    """What people and models said, and what they named."""
    titles = {row.title for row in window._rows}
    return {*titles, *(getattr(item, "text", "") for item in window.items.items())} - {""}


def test_no_english_is_left_in_the_window(app, compiled, demo):
    """All widgets, actions and menus of the real window, shown or not."""
    speak(app, ["zh_CN"], compiled)
    window = demo("zh_CN")
    content = _content(window)
    assert set(_english(window, content)) == set()
    menus = window.findChildren(QMenu)
    assert {text for menu in menus for text in _english(menu, content)} == set()
    assert "视图(&V)" in {menu.title() for menu in menus} | {
        a.text() for a in window.findChildren(QAction)
    }


def test_no_english_is_left_in_the_dialogs(qtbot, app, compiled, demo, tmp_path):
    """The sheet of shortcuts, About, a link, a crash."""
    speak(app, ["zh_CN"], compiled)
    window = demo()
    for dialog in _dialogs(window, tmp_path):
        qtbot.addWidget(dialog)
        left = {
            found
            for found in _english(dialog, {"https://example.org/a", str(tmp_path)})
            if found[0] not in ("QPlainTextEdit", "QTextEdit", "QTextBrowser")
            and not _is_licence(found[2])
        }
        assert left == set(), type(dialog).__name__


def _is_licence(text: str) -> bool:
    """Names of parts and of their licences are names."""
    return bool(re.search(r"licen[cs]e|LGPL|MIT|BSD|Apache|OFL", text, re.IGNORECASE))


def _dialogs(window, folder: Path) -> list[QDialog]:
    return [
        ShortcutSheet(TABLE, window),
        AboutDialog("0.1", find_licences(), window),
        LinkDialog("https://example.org/a", window),
        CrashDialog("report", folder / "report.txt", window),
    ]


def _cut(window, monkeypatch) -> set[str]:
    """Texts that are elided when the window paints itself."""
    cut: set[str] = set()
    for kind in (QFontMetrics, QFontMetricsF):
        real = kind.elidedText

        def noting(self, text, *rest, real=real):
            shown = real(self, text, *rest)
            if shown != text:
                cut.add(text)
            return shown

        monkeypatch.setattr(kind, "elidedText", noting)
    QApplication.processEvents()  # what changed its words is given its new place first
    window.grab()
    return cut


def _narrow_labels(window) -> set[str]:
    """Labels and buttons on the screen that have less room than one line of their words needs."""
    narrow = set()
    for widget in [*window.findChildren(QLabel), *window.findChildren(QPushButton)]:
        text = widget.text()
        if not widget.isVisible() or not text or "<" in text:
            continue
        if isinstance(widget, QLabel) and (widget.wordWrap() or widget.pixmap()):
            continue
        if QFontMetricsF(widget.font()).horizontalAdvance(text) > widget.width() + 1:
            narrow.add(text)
    return narrow


def test_nothing_is_cut_in_chinese(app, compiled, demo, monkeypatch):
    """At 1280 every label has its room; only what people said may end in dots."""
    speak(app, ["zh_CN"], compiled)
    window = demo("zh_CN")
    assert _cut(window, monkeypatch) - _content(window) == set()
    assert _narrow_labels(window) == set()


class Long(QTranslator):
    """A language of which every text is a third longer, as German is."""

    def translate(self, context, source, disambiguation=None, n=-1):
        return lengthened(source)

    def isEmpty(self):
        return False


def lengthened(text: str) -> str:
    """The text with 35 % more letters, before the full stop or the dots."""
    letters = len(re.sub(r"\{.*?\}|%n", "", text))
    return text if letters < 3 else text + "n" * max(1, round(letters * 0.35))


@pytest.fixture
def german_length(app):
    """The application in the long language."""
    translator = Long(app)
    app.installTranslator(translator)

    def translate(context, text, disambiguation="", n=-1):
        return lengthened(words.plain(context, text, disambiguation, n))

    words.install(translate)
    yield
    words.install(words.plain)
    app.removeTranslator(translator)


def test_nothing_is_cut_in_a_longer_language(german_length, demo, monkeypatch):
    """The layouts leave room for languages that need a third more."""
    window = demo()
    assert _cut(window, monkeypatch) - _content(window) == set()
    assert _narrow_labels(window) == set()


def test_window_speaks_of_faults_in_chinese(qtbot, app, compiled, demo):
    """What the engine says reaches the window in the language: a model that is not there."""
    speak(app, ["zh_CN"], compiled)
    window = demo("zh_CN")
    told = []
    window._bridge.ask(lambda c: c.add_gguf("/nowhere/at-all.gguf"), fail=told.append)
    qtbot.waitUntil(lambda: bool(told))
    assert told[0].sentence == "没有模型文件 at-all.gguf。"
    assert told[0].remedy == "查找的位置：/nowhere/at-all.gguf"
