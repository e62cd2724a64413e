"""Starting and ending the window: our own bugs are saved and shown, nothing ends for them."""

import sys

from PySide6.QtWidgets import QApplication

from app import desktop
from app.dialogs import CrashDialog


def test_bug_of_ours_is_saved_and_shown(qtbot, window, tmp_path):
    """An exception nobody caught: a report on the disk, a dialog, and the window goes on."""
    profile, before = str(tmp_path / "profile"), sys.excepthook
    with desktop._reported(window, profile, {}):
        sys.excepthook(ValueError, ValueError("oops"), None)
        window.crashed.emit(KeyError("again"))
        dialogs = [w for w in QApplication.topLevelWidgets() if isinstance(w, CrashDialog)]
        assert len(dialogs) == 2
        reports = sorted((tmp_path / "profile").rglob("report-*.txt"))
        texts = [file.read_text(encoding="utf-8") for file in reports]
        assert ["oops" in texts[0], "again" in texts[1]] == [True, True]
        for dialog in dialogs:
            dialog.close()
    assert sys.excepthook is before


def test_keyboard_interrupt_closes_the_window(qtbot, window, tmp_path):
    """Ctrl+C is no bug."""
    with desktop._reported(window, str(tmp_path / "profile"), {}):
        sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert not window.isVisible()


def test_raised_window_is_shown_again(qtbot, window):
    """A second start brings the minimised window back."""
    window.showMinimized()
    desktop._raise(window)
    assert not window.isMinimized()


def test_the_dialog_of_a_bug_shows_the_report_and_quits(qtbot, window, tmp_path, monkeypatch):
    """Its buttons do what they say: the folder is opened, the window closed in order."""
    opened = []
    monkeypatch.setattr("app.desktop.QDesktopServices.openUrl", opened.append)
    with desktop._reported(window, str(tmp_path / "profile"), {}):
        sys.excepthook(ValueError, ValueError("oops"), None)
        dialog = next(w for w in QApplication.topLevelWidgets() if isinstance(w, CrashDialog))
        dialog.folder_button.click()
        assert opened[0].toLocalFile().endswith("reports")
        dialog.quit_button.click()
    assert not window.isVisible()
