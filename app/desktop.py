"""Starts the window and ends it in order: one per profile, crashes reported, the engine closed first."""

import argparse
import hashlib
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QLockFile, QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from PySide6.QtWidgets import QApplication

from app.bridge import Bridge, Tell
from app.client import Client
from app.dialogs import CrashDialog
from app.reports import report_bug
from app.theme import app_icon, apply_theme, theme_of
from app.window import MainWindow
from app.wiring import Workplace
from engine.paths import find_paths

_SETTLE_MS = 1000  # a picture is taken when nothing moves any more
_KNOCK_MS = 500
_SIGNAL_MS = 200


def run(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Show the window until it is closed; the exit code.

    `options`: profile, and for a demonstration demo, messages, screenshot, size, theme, scale.
    """
    with _profile(options) as (profile, first):
        app = _application(options)
        door = _Door(profile, environ)
        if not options.demo and door.is_open_elsewhere():
            return 0
        window = _window(profile, environ)
        door.knocked = lambda: _raise(window)
        _place(window, options)
        if first:
            window.open(first)
        if options.screenshot:
            _take_picture(window, Path(options.screenshot))
        window.show()
        _close_on_signals(window)
        with _reported(window, profile, environ):
            return int(app.exec())


def _application(options: argparse.Namespace) -> QApplication:
    if options.scale:
        os.environ["QT_SCALE_FACTOR"] = str(options.scale)
    if options.screenshot and not any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY"))):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    QGuiApplication.setHighDpiScaleFactorRoundingPolicy(
        Qt.HighDpiScaleFactorRoundingPolicy.PassThrough
    )
    made = QApplication.instance()
    app = made if isinstance(made, QApplication) else QApplication(["porthole"])
    app.setApplicationName("porthole")
    app.setApplicationDisplayName("Porthole")
    theme = theme_of()
    apply_theme(app, theme)
    if options.theme:
        theme.set_scheme(options.theme)
    app.setWindowIcon(app_icon())
    return app


def _window(profile: str | None, environ: Mapping[str, str]) -> MainWindow:
    def make_client(tell: Tell) -> Client:
        return Client(Workplace(profile, environ), tell)

    bridge = Bridge(make_client)
    window = MainWindow(bridge, metadata.version("porthole"))
    bridge.setParent(window)
    return window


def _close_on_signals(window: MainWindow) -> None:
    """Ctrl+C in the terminal, and a request to end, close the window in order."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: window.close())
    timer = QTimer(window, interval=_SIGNAL_MS)
    timer.timeout.connect(
        lambda: None
    )  # Python looks at signals when it runs, and Qt seldom lets it
    timer.start()


def _place(window: MainWindow, options: argparse.Namespace) -> None:
    if options.size:
        width, _, height = options.size.partition("x")
        window.resize(int(width), int(height))


def _raise(window: MainWindow) -> None:
    window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
    window.show()
    window.raise_()
    window.activateWindow()


def _take_picture(window: MainWindow, file: Path) -> None:
    """Paint the window into a file once a conversation is shown, then end."""

    def paint() -> None:
        window.grab().save(str(file))
        window.close()

    window.shown.connect(lambda _: QTimer.singleShot(_SETTLE_MS, window, paint))


@contextmanager
def _profile(options: argparse.Namespace) -> Iterator[tuple[str | None, str]]:
    """The profile, and the conversation to open; a throw-away one for a demonstration."""
    if not options.demo:
        yield options.profile, ""
        return
    from app.demo import Clock, fill
    from engine.store import Store

    with tempfile.TemporaryDirectory(prefix="porthole-demo-") as folder:
        paths = find_paths(folder, {})
        paths.ensure()
        clock = Clock(time.time_ns() // 1_000_000)
        with Store.open(paths.database, clock=clock) as store:
            first = fill(store, clock, options.messages)
        yield folder, first


# ---- one window a profile ---------------------------------------------------------------------------


class _Door(QObject):
    """A name on this machine that the first window of a profile holds; later ones knock and go."""

    def __init__(self, profile: str | None, environ: Mapping[str, str]) -> None:
        super().__init__()
        paths = find_paths(profile, environ)
        paths.ensure()
        place = str(paths.data_dir)
        self._name = "porthole-" + hashlib.sha256(place.encode()).hexdigest()[:16]
        self._lock = QLockFile(str(paths.data_dir / "window.lock"))
        self._lock.setStaleLockTime(0)  # it lives as long as the process that holds it
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._answer)
        self.knocked: Callable[[], None] = lambda: None

    def is_open_elsewhere(self) -> bool:
        """Whether another window of this profile is there; it comes to the front then."""
        if self._lock.tryLock(0):
            QLocalServer.removeServer(self._name)  # what a crash left behind
            self._server.listen(self._name)
            return False
        socket = QLocalSocket(self)
        socket.connectToServer(self._name)
        socket.waitForConnected(_KNOCK_MS)
        socket.disconnectFromServer()
        return True

    def _answer(self) -> None:
        while (socket := self._server.nextPendingConnection()) is not None:
            socket.deleteLater()
            self.knocked()


# ---- our own bugs -----------------------------------------------------------------------------------


@contextmanager
def _reported(
    window: MainWindow, profile: str | None, environ: Mapping[str, str]
) -> Iterator[None]:
    """While the block runs, an exception nobody caught is saved and shown; the window stays."""
    folder = find_paths(profile, environ).reports_dir

    def tell(error: BaseException) -> None:
        CrashDialog(*report_bug(error, folder), window).show()

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            window.close()
        else:
            tell(error)

    before, sys.excepthook = sys.excepthook, hook
    window.crashed.connect(tell)
    try:
        yield
    finally:
        sys.excepthook = before
