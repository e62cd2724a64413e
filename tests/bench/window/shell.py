"""The real window over a real store: opening, streaming, typing, the list of conversations."""

import os
import time
from collections.abc import Callable

import psutil
from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtTest import QTest

from app.bridge import JOIN_MS, Bridge
from app.client import Client, ConversationRow, ItemsChanged
from app.desktop import keep_what_is_loaded
from app.items import ReplyItem, UserItem
from app.window import MainWindow
from app.wiring import Workplace
from tests.bench.window import texts
from tests.bench.window.child import Stopwatch, summary
from tests.bench.window.page import TOKENS_A_SECOND, rest, turn_wheel
from tests.bench.window.painting import application, paint, turn, wait

_PATIENCE_SECONDS = 60
_BEAT_MS = 10


class Heartbeat(QObject):
    """Beats every 10 ms on Qt's thread; `latest` is how late the latest one came, in ms."""

    def __init__(self) -> None:
        super().__init__()
        self._timer = QTimer(self, interval=_BEAT_MS, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)
        self.start()

    def start(self) -> None:
        """Count anew."""
        self.latest = 0.0
        self._before = time.perf_counter()
        self._timer.start()

    def _beat(self) -> None:
        now = time.perf_counter()
        self.latest = max(self.latest, (now - self._before) * 1000 - _BEAT_MS)
        self._before = now


class Room:
    """A shown window over a profile, everything it asks for at its start answered."""

    def __init__(self, profile: str) -> None:
        self.app = application()
        self.workplace = Workplace(profile, os.environ)
        self.bridge = Bridge(lambda tell: Client(self.workplace, tell))
        self.window = MainWindow(self.bridge)
        keep_what_is_loaded(self.window)
        self.bridge.setParent(self.window)
        self.opened: list[str] = []
        self.window.shown.connect(self.opened.append)
        self.window.show()
        self.until(lambda: self.opened and self.window._models and self.window._rows)
        self.rest()

    def until(self, is_so: Callable[[], object]) -> None:
        """Turn Qt's loop until something is so."""
        end = time.monotonic() + _PATIENCE_SECONDS
        while not is_so():
            wait()  # without the interpreter, which the engine's thread needs
            if time.monotonic() > end:
                raise TimeoutError(is_so)

    def rest(self, seconds: float = 0.3) -> None:
        """Turn Qt's loop for a while, and until the page is done."""
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() > end)
        rest(self.window.parts.transcript)

    def id_of(self, title: str) -> str:
        """The conversation of that title."""
        return next(row.id for row in self.window._rows if row.title == title)

    def open(self, title: str) -> float:
        """Open a conversation; milliseconds from asking to its painted end."""
        id_ = self.id_of(title)
        self.opened.clear()
        watch = Stopwatch()
        self.window.open(id_)
        self.until(lambda: self.opened)
        paint(self.window)
        return watch.wall

    def complete(self, count: int) -> None:
        """Wait until all messages of the open conversation are there."""
        self.until(lambda: messages(self.window) >= count)
        self.rest()


def messages(window: MainWindow) -> int:
    """How many messages the window shows."""
    return sum(isinstance(item, UserItem | ReplyItem) for item in window.items.items())


def opening(profile: str, count: int) -> dict[str, float]:
    """From asking for a stored conversation to its painted end, all of it there, the memory."""
    room = Room(profile)
    heart = Heartbeat()
    spent = room.open(str(count))
    watch = Stopwatch()
    room.complete(count)
    whole = watch.wall
    room.rest(1.0)
    memory = psutil.Process().memory_info().rss / 1e6
    return {"ms": spent, "whole": whole, "late": heart.latest, "rss": memory}


def streaming(profile: str, count: int) -> dict[str, float]:
    """A reply that streams into a conversation, from what the bridge delivers to the paint."""
    room = Room(profile)
    room.open(str(count))
    room.complete(count)
    window, view = room.window, room.window.parts.transcript
    first, id_ = len(window.items), window._id
    updates, idle = [], [0.0]
    answer = texts.Author(3).long_answer(8_000)
    for shown in texts.chunks(answer, TOKENS_A_SECOND, JOIN_MS):
        watch = Stopwatch()
        reply = ReplyItem("live:1", shown, state="writing", speed=100.0)
        room.bridge.told.emit(ItemsChanged(id_, (reply,), first))
        paint(window)
        updates.append(watch.cpu)
        idle += rest(view)
    duty = (sum(updates) + sum(idle)) / (len(updates) * JOIN_MS)
    return {**summary(updates), "duty": 100 * duty, "idle": max(idle)}


def typing(profile: str, count: int) -> dict[str, float]:
    """From a keystroke to its paint, in the composer of a long conversation."""
    room = Room(profile)
    room.open(str(count))
    room.complete(count)
    editor = room.window.focusWidget()
    assert editor is not None
    spans = []
    for character in texts.Author(2).paragraph() * 2:
        watch = Stopwatch()
        QTest.keyClicks(editor, character)
        paint(room.window)
        spans.append(watch.wall)
        turn()
    return summary(spans)


def sidebar(profile: str) -> dict[str, float]:
    """Scrolling through the list of conversations: the wheel, then pages of the scroll bar."""
    room = Room(profile)
    list_ = room.window.parts.sidebar.list
    spans = []
    for _ in range(300):
        watch = Stopwatch()
        turn_wheel(list_.viewport(), -1)
        paint(room.window)
        spans.append(watch.cpu)
    return {**summary(spans), "rows": len(room.window._rows)}


def searching(profile: str) -> dict[str, float]:
    """From a typed letter of a search to the painted answer, the field's own delay apart."""
    room = Room(profile)
    spans, busy, heart = [], [], Heartbeat()
    words = "keeper light"
    for end in range(1, len(words) + 1):
        room.rest()
        watch = Stopwatch()
        rows = _found(room, words[:end])
        work = Stopwatch()
        room.window._search = words[:end]
        room.window._show_rows(rows)
        paint(room.window)
        spans.append(watch.wall)
        busy.append(work.cpu)
    return {**summary(spans), "busy": max(busy), "late": heart.latest}


def _found(room: Room, words: str) -> tuple[ConversationRow, ...]:
    found: list[tuple[ConversationRow, ...]] = []
    room.bridge.ask(lambda client: client.conversations(words), found.append)
    room.until(lambda: found)
    return found[0]
