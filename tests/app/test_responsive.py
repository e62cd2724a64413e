"""Whatever the engine does, none of it runs on Qt's thread: the window cannot wait for it.

How late the window's beat comes is measured in `tests/bench` (`heartbeat_…`).
"""

import socket
import sqlite3
import sys
import threading
from contextlib import contextmanager

import pytest

from app.items import ReplyItem
from engine.context import ContextSettings, plan_view
from engine.paths import find_paths
from engine.store import Store
from engine.testing import reply
from engine.tokens import Count
from engine.transcript import user
from tests.app.test_bridge import stand

__all__ = ["stand"]  # a fixture

WORK = ("engine.store", "engine.context", "engine.session", "engine.backends", "app.client.client")


@contextmanager
def watched():
    """The modules of the engine whose functions are called on this thread meanwhile."""
    called = set()

    def note(frame, event, _argument):
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith(WORK):
            called.add(name)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield called
    finally:
        sys.setprofile(before)


def long_conversation(folder, count):
    """A stored conversation of so many messages; its id."""
    paths = find_paths(str(folder), {})
    paths.ensure()
    with Store.open(paths.database) as store:
        id_ = store.create_session(title="long").id
        said = [user(f"{n}") if n % 2 == 0 else reply(f"{n}") for n in range(count)]
        store.append_all(id_, said)
    return id_


def test_the_watch_sees_what_runs_here():
    """What the other tests rely on."""
    with watched() as called:
        plan_view((), {}, Count(0, "estimated"), 16_384, ContextSettings())
    assert "engine.context" in called


def test_opening_ten_thousand_messages(stand, tmp_path):
    """Reading and planning is the engine's; the items arrive."""
    id_ = long_conversation(tmp_path, 10_000)
    one = stand()
    with watched() as called:
        opened = one.result(lambda client: client.open(id_))
        one.until(lambda: any(len(change.items) > 5_000 for change in one.changes()))
    assert called == set()
    assert opened.items


def test_planning_again_and_again(stand, tmp_path):
    """A loop that plans all the time holds no other thread up."""
    id_ = long_conversation(tmp_path, 10_000)
    one, beats, done = stand(), [], []

    async def plan(_client):
        with Store.open(find_paths(str(tmp_path), {}).database) as store:
            entries = store.entries(id_)
        weights = {entry.id: 40 for entry in entries}
        for _ in range(10):
            plan_view(entries, weights, Count(400_000, "estimated"), 16_384, ContextSettings())
        return True

    one.bridge.ask(plan, done.append)
    with watched() as called:
        one.until(lambda: beats.append(1) or done)
    assert called == set()
    assert len(beats) > 1


def test_engine_that_stands_still(stand):
    """A worker that hangs: Qt's thread goes on, and goes on answering itself."""
    one, release, turns = stand(), threading.Event(), []

    async def hang(_client):
        release.wait(60)

    with watched() as called:
        one.bridge.ask(hang)
        one.until(lambda: turns.append(1) or len(turns) > 5)
    release.set()
    assert called == set()


def test_silent_server(stand, monkeypatch):
    """A server that takes the connection and says nothing: the reply is waited for elsewhere."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{server.getsockname()[1]}")
        one = stand()
        with watched() as called:
            id_ = one.result(lambda client: client.send(None, "hello", "ollama:nobody"))
            one.until(
                lambda: any(
                    isinstance(item, ReplyItem)
                    for change in one.changes()
                    for item in change.items
                )
            )
            one.result(lambda client: client.stop(id_))
        assert called == set()


@pytest.mark.parametrize("then", ["rename", "open"])
def test_store_that_cannot_be_written(stand, tmp_path, then):
    """Another process holds the lock: what is asked for waits on the engine's thread."""
    id_ = long_conversation(tmp_path, 4)
    one = stand()
    one.result(lambda client: client.conversations())
    lock = sqlite3.connect(find_paths(str(tmp_path), {}).database, isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    answers, turns = [], []
    with watched() as called:
        one.bridge.ask(lambda client: client.rename(id_, "Other"), answers.append, answers.append)
        if then == "open":
            one.bridge.ask(lambda client: client.open(id_), answers.append)
        one.until(lambda: turns.append(1) or len(turns) > 5)
        assert answers == []
        lock.execute("ROLLBACK")
        one.until(lambda: len(answers) == 1 + (then == "open"))
    lock.close()
    assert called == set()
