"""The application, and having things painted at once."""

from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from app.theme import apply_theme, theme_of

WIDTH, HEIGHT = 1016, 700


def application() -> QApplication:
    """Qt with the window's theme."""
    app = QApplication(["porthole"])
    theme = theme_of()
    apply_theme(app, theme)
    theme.set_scheme("light")
    return app


def paint(widget: QWidget) -> None:
    """Paint what is due, and only that."""
    QCoreApplication.sendPostedEvents()
    QCoreApplication.sendEvent(widget.window(), QEvent(QEvent.Type.UpdateRequest))


def wait() -> None:
    """One turn of the event loop that waits for something to do, for a millisecond at most."""
    loop = QEventLoop()
    QTimer.singleShot(1, loop.quit)
    loop.exec()


def turn() -> None:
    """One turn of the event loop: what is posted, the timers that are due, what that paints."""
    QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 0)
