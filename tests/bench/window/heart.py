"""Qt's thread beats every 10 ms while the engine is in trouble: how late does it ever come?

Each measurement gives `late`, the latest beat in trouble, and `rest`, the latest one without, in ms.
"""

import os
import signal
import socket
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from app.items import Item, ReplyItem
from app.wiring import Workplace
from engine.context import ContextSettings, plan_folding, plan_view
from engine.paths import find_paths
from engine.tokens import Count
from tests.bench.measures import starter_file
from tests.bench.window.shell import Heartbeat, Room
from tests.bench.window.stored import fill

_SECONDS = 2.0


def busy(profile: str, count: int) -> dict[str, float]:
    """The engine plans a conversation of so many entries, over and over."""
    room = Room(profile)
    id_ = room.id_of(str(count))

    async def plan(_client: object) -> None:
        entries = room.workplace.store.entries(id_)
        weights = {entry.id: 40 for entry in entries}
        used = Count(40 * len(entries), "estimated")
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end:
            plan_folding(plan_view(entries, weights, used, 16_384, ContextSettings()))

    return _beaten(room, lambda: room.bridge.ask(plan))


def hanging_worker() -> dict[str, float]:
    """The process that runs the model stands still in the middle of a reply."""
    with tempfile.TemporaryDirectory() as folder:
        starter = Workplace(folder, {}).starter_file
        starter.parent.mkdir(parents=True)
        starter.symlink_to(starter_file())
        room = _room(Path(folder))
        sent: list[str] = []
        words = "Write a very long story about a ship."
        room.bridge.ask(lambda client: client.send(None, words), sent.append)
        room.until(lambda: sent)
        room.window.open(sent[0])
        room.until(lambda: _is_written(room.window.items.items()))
        workers = psutil.Process().children(recursive=True)
        for worker in workers:
            worker.send_signal(signal.SIGSTOP)
        try:
            return _beaten(room, lambda: room.window.do("stop"))
        finally:
            for worker in workers:
                worker.kill()


def silent_server() -> dict[str, float]:
    """A server takes every connection and says nothing."""
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        os.environ["OLLAMA_HOST"] = f"127.0.0.1:{server.getsockname()[1]}"
        room = _room(Path(folder))

        def send() -> None:
            room.bridge.ask(lambda client: client.send(None, "Is anybody there?", "ollama:nobody"))

        return _beaten(room, send)


def slow_disk() -> dict[str, float]:
    """The disk does not take what is written: another process has the store locked."""
    with tempfile.TemporaryDirectory() as folder:
        fill(Path(folder), 100)
        room = Room(folder)
        id_ = room.id_of("100")
        lock = sqlite3.connect(find_paths(folder, {}).database, isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")

        def write() -> None:
            room.bridge.ask(lambda client: client.rename(id_, "Another title"))
            room.bridge.ask(lambda client: client.open(id_))

        try:
            return _beaten(room, write)
        finally:
            lock.execute("ROLLBACK")


def _is_written(items: tuple[Item, ...]) -> bool:
    """Whether some of a reply is there."""
    return any(isinstance(item, ReplyItem) and item.text for item in items)


def _room(folder: Path) -> Room:
    fill(folder, 100)
    return Room(str(folder))


def _beaten(room: Room, trouble: Callable[[], None]) -> dict[str, float]:
    heart = Heartbeat()
    room.rest(_SECONDS)
    rest = heart.latest
    heart.start()
    trouble()
    end = time.monotonic() + _SECONDS
    room.until(lambda: time.monotonic() > end)
    return {"late": heart.latest, "rest": rest}
