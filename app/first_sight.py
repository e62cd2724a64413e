"""The window's ground, on the screen before the rest of the program is loaded.

Loading everything takes several times as long as showing an empty window does. So an empty one
stands there at once, where the window will be and in its colours, and goes when that is painted.
This module loads nothing but Qt, the tokens of the theme and the settings, and does not touch the
names in `PySide6.QtCore.Qt`: the first use of any makes all of them, which takes as long again.
"""

import argparse
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QByteArray, QElapsedTimer, QEvent, QLockFile, QObject, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QWidget

from app.theme import DARK, LIGHT, Tokens
from app.view_state import ViewState, load_view_state
from engine.errors import EnvironmentFault
from engine.paths import find_paths
from engine.settings import load_settings

WIDTH, HEIGHT = 1280, 820
"""The window's size at its first start, px."""
_SIDEBAR, _SIDEBAR_FROM = 264, 900
_MIDDLE = 128  # of lightness
_PATIENCE_MS = 200  # for the screen to ask for the ground's paint


def make_application(options: argparse.Namespace) -> QApplication:
    """Qt, at the scale that is asked for. Does nothing when it is there already."""
    made = QApplication.instance()
    if isinstance(made, QApplication):
        return made
    if options.scale:
        os.environ["QT_SCALE_FACTOR"] = str(options.scale)
    if options.screenshot and not any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY"))):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = QApplication(["porthole"])
    app.setApplicationName("porthole")
    app.setApplicationDisplayName("Porthole")
    return app


def show_ground(options: argparse.Namespace, environ: Mapping[str, str]) -> "Ground | None":
    """Show and paint the ground; None where it would only flash up.

    That is for a demonstration or a picture, and when this profile's window is open already.
    """
    make_application(options)
    data = find_paths(options.profile, environ).data_dir
    if options.demo or options.screenshot or _is_open(data):
        return None
    ground = Ground(load_view_state(data / "view.json"), *_look(options, environ))
    if options.size:
        width, _, height = options.size.partition("x")
        ground.resize(int(width), int(height))
    ground.show()
    ground.wait_for_paint()
    return ground


def _look(options: argparse.Namespace, environ: Mapping[str, str]) -> tuple[Tokens, float]:
    """The colours, and the zoom, that the window will have."""
    scheme, zoom = options.theme, 1.0
    with suppress(EnvironmentFault):  # told in the window
        settings = load_settings(find_paths(options.profile, environ).settings_file, environ)
        scheme, zoom = scheme or settings["appearance.scheme"], settings["appearance.zoom"] / 100
    if scheme in ("", None, "system"):
        ground = QApplication.palette().window().color()
        scheme = "dark" if ground.lightness() < _MIDDLE else "light"
    return (DARK if scheme == "dark" else LIGHT), zoom


def _is_open(data: Path) -> bool:
    """Whether a window of this profile is there: it comes to the front, this one goes."""
    lock = QLockFile(str(data / "window.lock"))
    lock.setStaleLockTime(0)
    if not data.is_dir() or lock.tryLock(0):
        lock.unlock()
        return False
    return lock.error() == QLockFile.LockError.LockFailedError


class Ground(QWidget):
    """Paper, and the sidebar's ground if it will be there; nothing can be done with it.

    Nothing is painted from Python: a painter's first use takes as long as an empty window.
    """

    def __init__(self, state: ViewState, tokens: Tokens, zoom: float) -> None:
        super().__init__()
        self._sidebar = round((state.sidebar_width or _SIDEBAR) * zoom)
        self._wide = round(_SIDEBAR_FROM * zoom) if state.sidebar_shown else 1 << 30
        self.setWindowTitle("Porthole")
        self._line, self._side = QFrame(self), QFrame(self)
        self.setStyleSheet(f"background: {tokens.paper}")
        self._line.setStyleSheet(f"background: {tokens.line}; border: none")
        self._side.setStyleSheet(f"background: {tokens.side}; border: none")
        self.resize(WIDTH, HEIGHT)
        if state.geometry:
            self.restoreGeometry(QByteArray.fromBase64(state.geometry.encode("ascii")))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt's: a narrow window has no sidebar."""
        super().resizeEvent(event)
        width = self._sidebar if self.width() >= self._wide else 0
        self._line.setGeometry(0, 0, width, self.height())
        self._side.setGeometry(0, 0, max(0, width - 1), self.height())

    def wait_for_paint(self) -> None:
        """Let the screen show it, for a moment at most."""
        clock, handle = QElapsedTimer(), self.windowHandle()
        clock.start()
        while not handle.isExposed() and clock.elapsed() < _PATIENCE_MS:
            QApplication.processEvents()
        QApplication.processEvents()  # what was painted is sent to the screen

    def give_way_to(self, window: QWidget) -> None:
        """Have the window stand here, and go when it is painted. Call it before it is shown."""
        window.restoreGeometry(self.saveGeometry())
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt's: the window is about to be painted."""
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self, self._go)
        return False

    def _go(self) -> None:
        self.close()
        self.deleteLater()
