"""What tests of the whole window share."""

import pytest
from PySide6.QtWidgets import QApplication

from app.bridge import Bridge
from app.client import Client
from app.theme import apply_theme, theme_of
from app.window import MainWindow
from app.wiring import Workplace
from tests.app.window_room import SCRIPTED


@pytest.fixture
def window(qtbot, tmp_path):
    """A window on an empty profile; it is closed, and the engine with it."""
    apply_theme(QApplication.instance(), theme_of())
    bridge = Bridge(lambda tell: Client(Workplace(str(tmp_path / "profile"), SCRIPTED), tell))
    made = MainWindow(bridge, "0.1")
    bridge.setParent(made)  # or whichever thread collects garbage ends it, and waits for this one
    qtbot.addWidget(made)
    with qtbot.waitSignal(made.shown):
        made.show()
    yield made
    made.close()
