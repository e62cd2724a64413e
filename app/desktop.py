"""Starts the window and ends it in order: one per profile, crashes reported, the engine closed first."""

import argparse
import gc
import hashlib
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import metadata
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QLocale, QLockFile, QObject, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from PySide6.QtWidgets import QApplication

from app.bridge import Bridge, Tell
from app.client import Client
from app.dialogs import CrashDialog
from app.first_sight import Ground, make_application
from app.language import plan_language, speak
from app.preferences import dress
from app.reports import report_bug
from app.theme import app_icon, apply_theme, theme_of
from app.view_state import load_view_state, save_view_state
from app.window import MainWindow
from app.wiring import Workplace
from engine.errors import EnvironmentFault
from engine.paths import find_paths
from engine.settings import load_settings

_SETTLE_MS = 1000  # a picture is taken when nothing moves any more
_KNOCK_MS = 500
_SIGNAL_MS = 200


def run(
    options: argparse.Namespace, environ: Mapping[str, str], ground: Ground | None = None
) -> int:
    """Show the window until it is closed, in the place of its `ground`; the exit code.

    `options`: profile, lang, and for a demonstration demo, messages, screenshot, size, theme, scale.
    """
    with _profile(options) as (profile, first):
        app = _application(options)
        _dress(options, profile, environ)
        speak(app, _wished_languages(options, profile, environ))
        door = _Door(profile, environ)
        if not options.demo and door.is_open_elsewhere():
            return 0
        kept = find_paths(profile, environ).data_dir / "view.json"
        state = load_view_state(kept)
        window = _window(profile, environ, first or state.conversation)
        window.restore(state)
        window.leaving.connect(lambda left: save_view_state(kept, left))
        door.knocked = lambda: _raise(window)
        _place(window, options)
        if options.screenshot:
            _take_picture(window, Path(options.screenshot))
        keep_what_is_loaded(window)
        if ground is not None:
            ground.give_way_to(window)
        window.show()
        _close_on_signals(window)
        with _reported(window, profile, environ):
            return int(app.exec())


def _application(options: argparse.Namespace) -> QApplication:
    app = make_application(options)
    apply_theme(app, theme_of())
    app.setWindowIcon(app_icon())
    return app


def _dress(options: argparse.Namespace, profile: str | None, environ: Mapping[str, str]) -> None:
    """Theme, size and faces as the settings say; the theme of the command line comes first."""
    theme = theme_of()
    with suppress(EnvironmentFault):  # what is wrong with the settings is told in the window
        dress(theme, load_settings(find_paths(profile, environ).settings_file, environ))
    if options.theme:
        theme.set_scheme(options.theme)


def _wished_languages(
    options: argparse.Namespace, profile: str | None, environ: Mapping[str, str]
) -> tuple[str, ...]:
    """The language asked for on the command line, then that of the settings."""
    with suppress(EnvironmentFault):  # what is wrong with the settings is told in the window
        settings = load_settings(find_paths(profile, environ).settings_file, environ)
        return options.lang or "", settings["language"]
    return (options.lang or "",)


def _window(profile: str | None, environ: Mapping[str, str], first: str) -> MainWindow:
    def make_client(tell: Tell) -> Client:
        return Client(Workplace(profile, environ), tell)

    bridge = Bridge(make_client)
    window = MainWindow(bridge, metadata.version("porthole"), first)
    bridge.setParent(window)
    return window


def keep_what_is_loaded(window: MainWindow) -> None:
    """Have the collector of garbage pass by what the program consists of, once all of it is there.

    It would look through all of it whenever a long conversation is read, on whichever thread, and
    the window would stand still for 80 ms.
    """
    kind = Qt.ConnectionType.SingleShotConnection
    window.shown.connect(lambda _: gc.freeze(), kind)


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


def _show_in_folder(path: str) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(Path(path).parent)))


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

    language = plan_language((options.lang or "", *QLocale.system().uiLanguages()))
    with tempfile.TemporaryDirectory(prefix="porthole-demo-") as folder:
        paths = find_paths(folder, {})
        paths.ensure()
        clock = Clock(time.time_ns() // 1_000_000)
        with Store.open(paths.database, clock=clock) as store:
            first = fill(store, clock, options.messages, language)
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
        dialog = CrashDialog(*report_bug(error, folder), window)
        dialog.folder_requested.connect(_show_in_folder)
        dialog.quit_requested.connect(window.close)
        dialog.show()

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
