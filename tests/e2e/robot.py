"""The real program with somebody at its keys: `python -m tests.e2e.robot PORTHOLE-ARGUMENTS`.

It starts `app.__main__.main` as it is and changes nothing in it. A thread reads steps from stdin,
one JSON object a line, and hands them to Qt's loop, where they are done with real key and mouse
events; each is answered on stdout with what the window shows then. `tests.e2e.driver` is the other
end.
"""

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from PySide6.QtCore import (
    QCoreApplication,
    QElapsedTimer,
    QEvent,
    QObject,
    QPoint,
    QPointF,
    QRectF,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QInputMethodEvent, QKeySequence, QMouseEvent, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QTextEdit, QWidget

POLL_MS = 15
PATIENCE_MS = 30_000
"""After so long without any change, what is waited for will not come."""
_LEFT, _PLAIN = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
_CONTEXTS = ("Sidebar", "Messages", "MainWindow", "Actions", "Models", "Conversations")

Step = dict[str, Any]


def main_window() -> Any:
    """The application's window, None as long as it is not there."""
    from app.window import MainWindow

    found = (w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow))
    return next(found, None)


def others(window: QWidget) -> list[QWidget]:
    """What is open beside the window, the lowest first: menus, popups, dialogs."""
    return [
        widget
        for widget in QApplication.topLevelWidgets()
        if widget.isVisible() and widget is not window
    ]


# ---- what is shown ------------------------------------------------------------------------------


def look(window: Any) -> Step:
    """All that a person could read off the window."""
    parts, view = window.parts, window.parts.transcript
    pages = {parts.transcript: "transcript", parts.empty: "empty", parts.first_run: "first run"}
    notice = parts.notices.shown
    focused = QApplication.focusWidget()
    popup = QApplication.activePopupWidget()
    return {
        "title": window.windowTitle(),
        "size": [window.width(), window.height()],
        "minimised": window.isMinimized(),
        "page": pages[parts.pages.currentWidget()],
        "items": [item_words(item) for item in view.model.items()],
        "at_end": view.at_end,
        "composer": parts.composer.text(),
        "used": _meter(parts).used,
        "budget": _meter(parts).budget,
        "stops": parts.composer._button.running,
        "notice": notice.text if notice else "",
        "link": notice.action_text if notice else "",
        "rows": [row_words(line, parts.sidebar) for line in parts.sidebar._model.lines],
        "sidebar": parts.sidebar_shown,
        "model": parts.header.chip.accessibleName(),
        "badge": parts.header.badge.accessibleName(),
        "found": parts.header.find_bar.count_words,
        "starter": parts.first_run.starter.text,
        "ollama": parts.first_run.ollama.text,
        "focus": focused.accessibleName() if focused else "",
        "typing": focused.toPlainText() if isinstance(focused, QTextEdit) else "",
        "open": [widget.accessibleName() or widget.windowTitle() for widget in others(window)],
        "menu": [a.text() for a in popup.actions()] if isinstance(popup, QMenu) else [],
        "models": [line.row.title for line in window.picker._lines.lines if line.row],
        "selected": view.selected_text(),
        "clipboard": QApplication.clipboard().text(),
    }


def item_words(item: Any) -> Step:
    """One item of the transcript."""
    versions = getattr(item, "versions", None)
    return {
        "kind": type(item).__name__.removesuffix("Item").lower(),
        "text": getattr(item, "text", ""),
        "state": getattr(item, "state", ""),
        "thinking": getattr(item, "thinking", ""),
        "done": getattr(item, "done", 0),
        "error": getattr(item, "error", ""),
        "title": getattr(item, "title", ""),
        "body": getattr(item, "body", ""),
        "model": getattr(item, "model", ""),
        "queued": getattr(item, "queued", False),
        "facts": getattr(item, "facts", ""),
        "undone": getattr(item, "is_undone", False),
        "offers": list(getattr(item, "offers", None) or ()),
        "receipt": getattr(item, "receipt", None) is not None,
        "version": f"{versions.number}/{versions.of}" if versions else "",
    }


def _meter(parts: Any) -> Any:
    return parts.composer.meter.values


def row_words(line: Any, sidebar: Any) -> Step:
    """One line of the sidebar; a group's head has no title."""
    row = line.row
    return {
        "title": row.title if row else "",
        "pinned": row.pinned if row else False,
        "snippet": row.snippet if row else "",
        "current": bool(row) and row.id == sidebar.list.looks.current,
        "deleted": line.deleted,
    }


# ---- what is done -------------------------------------------------------------------------------


class Hands:
    """Types, presses and looks; every method is a step, its arguments are the step's fields."""

    def __init__(self, window: Any) -> None:
        self.window = window
        self.parts = window.parts

    def keys(self, keys: str) -> None:
        """Press a shortcut, such as "Ctrl+F", where the focus is."""
        QTest.keySequence(self._target(), QKeySequence(keys))

    def type(self, text: str) -> None:
        """Type a text; a line end is Shift+Enter, what no key has comes from an input method."""
        for letter in text:
            target = self._target()
            if letter == "\n":
                QTest.keyClick(target, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
            elif letter.isascii():
                QTest.keyClick(target, letter)
            else:
                event = QInputMethodEvent()
                event.setCommitString(letter)
                QCoreApplication.sendEvent(target, event)

    def paste(self, text: str) -> None:
        """Paste a text where the focus is."""
        QApplication.clipboard().setText(text)
        QTest.keySequence(self._target(), QKeySequence.StandardKey.Paste)

    def _target(self) -> QWidget:
        popup = QApplication.activePopupWidget()
        if popup is None and QApplication.activeWindow() is None:  # nobody else does it here
            self.window.activateWindow()
            QTest.qWaitForWindowActive(self.window)
        inner = popup.focusWidget() if popup is not None else QApplication.focusWidget()
        return inner or popup or self.window

    def click(self, part: str) -> None:
        """Click in the middle of a part of the window, such as "header.chip"."""
        widget = self.parts
        for name in part.split("."):
            widget = getattr(widget, name)
        assert widget.isVisible(), f"{part} is not shown"
        QTest.mouseClick(widget, _LEFT, _PLAIN, widget.rect().center())

    def press(self, kind: str, action: str, at: int = -1) -> None:
        """Use a part of a message: the pointer goes to the message, then to the part.

        Args:
            kind: "user", "reply" or "card".
            action: what the part does, such as "copy" or "earlier".
            at: which of that kind, from 0, or from the end.
        """
        view = self.parts.transcript
        index = self._index(kind, at)
        found = [p for p in view.box(index).parts if p.action.startswith(action)]
        assert found, [part.action for part in view.box(index).parts]
        rect = found[0].rect
        view.show_span(index, rect.top(), rect.bottom())
        place = rect.center() + QPointF(view.item_rect(index).topLeft())
        self._move(view.viewport(), place)
        QTest.mouseClick(view.viewport(), _LEFT, _PLAIN, place.toPoint())

    def point(self, kind: str, at: int = -1) -> None:
        """Put the pointer on a message."""
        view = self.parts.transcript
        rect = view.item_rect(self._index(kind, at)).intersected(view.viewport().rect())
        self._move(view.viewport(), QPointF(rect.center()))

    def _index(self, kind: str, at: int) -> int:
        items = self.parts.transcript.model.items()
        of_kind = [
            index
            for index, item in enumerate(items)
            if type(item).__name__.lower() == f"{kind}item"
        ]
        return of_kind[at]

    def _move(self, widget: QWidget, place: QPointF) -> None:
        event = QMouseEvent(
            QEvent.Type.MouseMove,
            place,
            QPointF(widget.mapToGlobal(place.toPoint())),
            Qt.MouseButton.NoButton,
            Qt.MouseButton.NoButton,
            _PLAIN,
        )
        QCoreApplication.sendEvent(widget, event)

    def row(self, title: str, where: str = "middle") -> None:
        """Click on a conversation; `where` "undo" is the link of a deleted one."""
        view = self.parts.sidebar.list
        index = self._row(title)
        rect = QRectF(view._delegate.row_rect(view.visualRect(index)))
        place = view._delegate.undo_rect(rect).center() if where == "undo" else rect.center()
        QTest.mouseClick(view.viewport(), _LEFT, _PLAIN, QPointF(place).toPoint())

    def _row(self, title: str) -> Any:
        model = self.parts.sidebar._model
        rows = [n for n, line in enumerate(model.lines) if line.row and line.row.title == title]
        assert rows, title
        index = model.index(rows[0])
        self.parts.sidebar.list.scrollTo(index)
        return index

    def row_menu(self, title: str) -> None:
        """Ask for the menu of a conversation."""
        view = self.parts.sidebar.list
        place = view.visualRect(self._row(title)).center()
        view.menu_asked.emit(
            view.model().index(self._row(title).row()).data(Qt.ItemDataRole.UserRole).row.id,
            view.viewport().mapToGlobal(place),
        )

    def choose(self, text: str) -> None:
        """Click on an entry of the open menu; `text` is English, or in the window's language."""
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu), "no menu is open"
        names = {text} | {QCoreApplication.translate(context, text) for context in _CONTEXTS}
        action = next(a for a in menu.actions() if a.text().replace("&", "") in names)
        QTest.mouseClick(menu, _LEFT, _PLAIN, menu.actionGeometry(action).center())

    def resize(self, width: int, height: int) -> None:
        """Make the window another size."""
        self.window.resize(width, height)

    def minimise(self) -> None:
        """Put the window away."""
        self.window.showMinimized()

    def grab(self, file: str, theme: str) -> None:
        """Paint the window and what is open over it into a picture."""
        from app.theme import theme_of

        before = theme_of().choice
        theme_of().set_scheme(theme)
        self._settle()
        picture = self.window.grab()
        painter = QPainter(picture)
        for widget in others(self.window):
            corner = widget.mapToGlobal(QPoint()) - self.window.mapToGlobal(QPoint())
            painter.drawPixmap(corner, widget.grab())
        painter.end()
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        assert picture.save(file), file
        theme_of().set_scheme(before)

    def _settle(self) -> None:
        """Let motions end and code be coloured."""
        clock = QElapsedTimer()
        clock.start()
        while clock.elapsed() < 300:
            QCoreApplication.processEvents()

    def look(self) -> None:
        """Nothing but the answer."""

    def quit(self) -> None:
        """Close the window, as its button would."""
        self.window.close()


# ---- the line to the test -----------------------------------------------------------------------


class Robot(QObject):
    """Does steps in Qt's loop, in order; a step "await" is answered when something has changed."""

    heard = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._hands: Hands | None = None
        self._waiting: list[Callable[[], bool]] = []
        self._timer: QTimer | None = None
        self._clock = QElapsedTimer()
        self.heard.connect(self._hear, Qt.ConnectionType.QueuedConnection)

    def _hear(self, line: str) -> None:
        step = json.loads(line)
        self._clock.start()
        self._waiting.append(lambda: self._try(step))
        self._poll()

    def _poll(self) -> None:
        if self._timer is None:
            self._timer = QTimer(self, interval=POLL_MS)
            self._timer.timeout.connect(self._poll)
        while self._waiting and self._waiting[0]():
            self._waiting.pop(0)
        if self._waiting:
            self._timer.start()
        else:
            self._timer.stop()

    def _try(self, step: Step) -> bool:
        """Do a step; whether it is over."""
        window = main_window()
        if window is None or not window.isVisible():
            return False
        if self._hands is None:
            self._hands = Hands(window)
            window.activateWindow()
        fields = dict(step)
        name = fields.pop("do")
        if name == "await":
            return self._await(look(window), step["seen"])
        self._do(name, fields, window)
        return True

    def _await(self, seen: Step, before: Step) -> bool:
        if seen != before:
            answer({"look": seen})
        elif self._clock.elapsed() > PATIENCE_MS:
            answer({"error": f"nothing changes any more: {seen}"})
        else:
            return False
        return True

    def _do(self, name: str, fields: Step, window: Any) -> None:
        assert self._hands is not None
        try:
            getattr(self._hands, name)(**fields)
        except Exception as error:  # noqa: BLE001  # the test is told what went wrong here
            answer({"error": f"{name}: {type(error).__name__}: {error}"})
        else:
            answer({"look": look(window)})


def answer(told: Step) -> None:
    """Tell the test; one line."""
    print(json.dumps(told), file=_OUT, flush=True)


def lines() -> Iterator[str]:
    """What the test says, until it hangs up."""
    while line := sys.stdin.readline():
        yield line


def listen(robot: Robot) -> None:
    """Hand every line to Qt's loop; the test hanging up ends the program, whatever it does."""
    for line in lines():
        robot.heard.emit(line)
    os._exit(75)


_OUT = os.fdopen(os.dup(1), "w", encoding="utf-8")  # what the program prints goes elsewhere


def main() -> int:
    """Start the program; its exit code."""
    os.dup2(2, 1)
    robot = Robot()
    threading.Thread(target=listen, args=(robot,), daemon=True).start()
    from app.__main__ import main as start

    return start()


if __name__ == "__main__":
    sys.exit(main())
