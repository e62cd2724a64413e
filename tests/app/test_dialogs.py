"""The dialogs, the reports of bugs, and what the About dialog knows of licences."""

from datetime import datetime
from importlib import metadata
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget

from app.actions import TABLE
from app.dialogs import AboutDialog, CrashDialog, LinkDialog, ShortcutSheet, plan_columns
from app.labels import Words
from app.licences import Licence, find_licences
from app.reports import plan_report, save_report
from app.theme import theme_of

MOMENT = datetime(2026, 11, 30, 14, 2, 5)


@pytest.fixture
def window(qtbot):
    """The window a dialog belongs to."""
    one = QWidget()
    qtbot.addWidget(one)
    one.resize(900, 700)
    one.show()
    return one


def words_of(dialog):
    return " ".join(one.text() for one in dialog.findChildren(Words))


# ---- shortcuts ----------------------------------------------------------------------------------


def test_columns_are_about_even():
    """Menus stay whole and in their order; one menu alone stands at the left."""
    assert plan_columns({"a": 6, "b": 2, "c": 3, "d": 3}) == (("a", "b"), ("c", "d"))
    assert plan_columns({"a": 30, "b": 2}) == (("a",), ("b",))
    assert plan_columns({"a": 1}) == (("a",), ())
    assert plan_columns({}) == ((), ())


def test_every_shortcut_is_in_the_sheet(window):
    """Each action that has one, once, with its menu as a head."""
    sheet = ShortcutSheet(TABLE, window)
    sheet.show()
    names = [one.accessibleName() for one in sheet.findChildren(QWidget)]
    for action in TABLE:
        listed = [name for name in names if name.startswith(f"{action.text.rstrip('…')}: ")]
        assert len(listed) == bool(action.shortcut), action.id
    said = words_of(sheet)
    assert all(action.menu in said for action in TABLE)
    assert "While writing" in said
    sheet.grab()
    sheet.close()


def test_escape_closes_a_dialog(window, qtbot):
    """As does the button; it is gone afterwards."""
    for press in ("key", "button"):
        sheet = ShortcutSheet(TABLE, window)
        sheet.show()
        with qtbot.waitSignal(sheet.destroyed):
            if press == "key":
                qtbot.keyClick(sheet, Qt.Key_Escape)
            else:
                qtbot.keyClick(sheet, Qt.Key_Return)


# ---- About --------------------------------------------------------------------------------------


def test_about_shows_each_licence(window):
    """The text of the part that is chosen; the version of Porthole."""
    parts = (Licence("Alpha", "1.2", "MIT", "text of a"), Licence("Beta", "", "OFL", "text of b"))
    about = AboutDialog("0.9", parts, window)
    about.show()
    assert "Version 0.9." in words_of(about)
    assert [about.parts.item(n).text() for n in (0, 1)] == ["Alpha 1.2 · MIT", "Beta · OFL"]
    assert about.text.toPlainText() == "text of a"
    about.parts.setCurrentRow(1)
    assert about.text.toPlainText() == "text of b"
    about.parts.clear()
    assert about.text.toPlainText() == ""
    about.grab()
    about.close()


def test_every_part_has_its_text():
    """What is installed, the starter and the fonts, each with more than the licence's name."""
    found = {part.name.lower().replace("_", "-"): part for part in find_licences()}
    assert {"pyside6-essentials", "httpx", "inter", "smollm2 135m instruct"} <= set(found)
    assert all(len(part.text) > 400 for part in found.values())
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in found["pyside6-essentials"].text


def test_what_is_not_installed_is_left_out(monkeypatch, tmp_path):
    """A slim installation lists less; a font without its file too; nothing fails."""

    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr("app.licences.metadata.distribution", missing)
    monkeypatch.setattr("app.licences.resources_dir", lambda: tmp_path)
    assert [(part.name, part.text) for part in find_licences()] == [
        ("SmolLM2 135M Instruct", "Apache-2.0")
    ]


# ---- links --------------------------------------------------------------------------------------


def test_a_link_is_shown_before_it_opens(window, qtbot):
    """The whole target, however long; Enter from habit opens nothing."""
    url = "https://example.org/" + "long/" * 60
    dialog = LinkDialog(url, window)
    dialog.show()
    assert dialog.target.text() == url
    assert dialog.target.height() >= dialog.target.heightForWidth(dialog.target.width())
    assert dialog.focusWidget() is dialog.cancel_button
    with qtbot.assertNotEmitted(dialog.confirmed):
        qtbot.keyClick(dialog.cancel_button, Qt.Key_Return)
    assert not dialog.isVisible()


def test_a_confirmed_link_is_told(window, qtbot):
    """Once it was asked for."""
    dialog = LinkDialog("https://example.org", window)
    dialog.show()
    with qtbot.waitSignal(dialog.confirmed) as told:
        qtbot.mouseClick(dialog.open_button, Qt.LeftButton)
    assert told.args == ["https://example.org"]


def test_a_link_can_be_copied_instead(window, qtbot):
    """It lies in the clipboard and nothing opens."""
    dialog = LinkDialog("https://example.org/x", window)
    dialog.show()
    with qtbot.waitSignal(dialog.copied), qtbot.assertNotEmitted(dialog.confirmed):
        qtbot.mouseClick(dialog.copy_button, Qt.LeftButton)
    assert QApplication.clipboard().text() == "https://example.org/x"


# ---- reports ------------------------------------------------------------------------------------


def an_error(secret):
    """An error raised while a variable holds something private."""
    try:
        typed = secret  # what must not be in the report
        raise RuntimeError("boom")
    except RuntimeError as error:
        assert typed
        return error


def test_a_report_says_what_where_and_on_what():
    """Trace, versions, system; no values of variables, no home folder."""
    here = str(Path(__file__).parent)
    report = plan_report(an_error("my secret"), MOMENT, {"porthole": "0.1"}, here)
    assert report.startswith("Porthole stumbled on 2026-11-30 at 14:02:05\n\nporthole: 0.1\n")
    assert "RuntimeError: boom" in report
    assert "python: " in report
    assert "my secret" not in report
    assert here not in report
    assert here in plan_report(an_error("x"), MOMENT, {})


def test_reports_are_saved_and_the_latest_kept(tmp_path):
    """Under their time, twenty at most."""
    folder = tmp_path / "reports"
    saved = [save_report(folder, str(n), MOMENT.replace(minute=n)) for n in range(25)]
    assert saved[-1] == folder / "report-20261130-142405-000000.txt"
    assert saved[-1].read_text(encoding="utf-8") == "24"
    assert sorted(folder.iterdir()) == sorted(saved[5:])


def test_a_report_that_cannot_be_saved_is_no_error(tmp_path):
    """A file stands where the folder should be."""
    (tmp_path / "reports").write_text("")
    assert save_report(tmp_path / "reports", "x", MOMENT) is None


def test_the_crash_dialog_names_the_file(window, qtbot):
    """What is safe, where the report is, and what can be done."""
    dialog = CrashDialog("the report", Path("/tmp/report.txt"), window)
    dialog.show()
    assert str(Path("/tmp/report.txt")) in words_of(dialog)
    assert "Your conversations are saved." in words_of(dialog)
    assert dialog.text.toPlainText() == "the report"
    qtbot.mouseClick(dialog.copy_button, Qt.LeftButton)
    assert QApplication.clipboard().text() == "the report"
    assert dialog.copy_button.text() == "Copied"
    with qtbot.waitSignal(dialog.folder_requested) as told:
        qtbot.mouseClick(dialog.folder_button, Qt.LeftButton)
    assert told.args == [str(Path("/tmp/report.txt"))]
    dialog.grab()
    with qtbot.waitSignal(dialog.quit_requested):
        qtbot.mouseClick(dialog.quit_button, Qt.LeftButton)
    assert not dialog.isVisible()


def test_a_crash_without_a_file_says_so(window, qtbot):
    """Nothing to show in a folder; going on is one key away."""
    dialog = CrashDialog("the report", None, window)
    dialog.show()
    assert "could not be saved" in words_of(dialog)
    assert not dialog.folder_button.isEnabled()
    with qtbot.assertNotEmitted(dialog.quit_requested), qtbot.waitSignal(dialog.accepted):
        qtbot.mouseClick(dialog.go_on_button, Qt.LeftButton)


def test_dialogs_follow_the_theme(window):
    """Colours and sizes change while one is open."""
    dialog = LinkDialog("https://example.org", window)
    dialog.show()
    before, width = dialog.grab().toImage(), dialog.minimumWidth()
    theme_of().set_zoom(1.5)
    try:
        assert dialog.minimumWidth() > width
        assert dialog.grab().toImage() != before
    finally:
        theme_of().set_zoom(1.0)
    dialog.close()


def test_every_control_has_a_name(window):
    """What the keys can reach says what it is, in each dialog."""
    for dialog in (
        ShortcutSheet(TABLE, window),
        AboutDialog("1", (Licence("A", "1", "MIT", "t"),), window),
        LinkDialog("https://example.org", window),
        CrashDialog("r", None, window),
    ):
        assert dialog.accessibleName()
        dialog.show()
        for one in dialog.findChildren(QWidget):
            reachable = one.focusPolicy() != Qt.FocusPolicy.NoFocus
            name = one.accessibleName() or getattr(one, "text", str)()
            assert name or not reachable, one
        dialog.close()
