"""The engine's thread and Qt's: order, joining, failures, and an end in any state."""

import asyncio
import gc
import threading
import time

import pytest
import shiboken6
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QThread

from app.bridge import Bridge, join_items, joined_change, plan_cancelled
from app.client import Client, Failed, ItemsChanged, Meter, RowsChanged
from app.items import LIVE, UserItem
from app.wiring import Workplace
from engine.errors import Bug, EnvironmentFault
from engine.settings import save_setting
from engine.testing import Script, ScriptedBackend
from tests.app.client_room import MODEL

PATIENCE_MS = 60_000


class Stand:
    """A bridge over a scripted backend, and all it told."""

    def __init__(self, qtbot, tmp_path, make_backend=ScriptedBackend):
        self.qtbot, self.owner = qtbot, QObject()
        self.told, self.crashes, self.threads = [], [], set()

        def make_client(tell):
            workplace = Workplace(str(tmp_path), {})
            workplace.paths.ensure()
            save_setting(workplace.paths.settings_file, "models.default", MODEL)
            self.backend = workplace._backends["scripted"] = make_backend()
            return Client(workplace, tell)

        self.bridge = Bridge(make_client, self.owner)
        self.bridge.told.connect(self._take)
        self.bridge.crashed.connect(self.crashes.append)

    def _take(self, value):
        self.threads.add(QThread.isMainThread())
        self.told.append(value)

    def until(self, is_so):
        self.qtbot.waitUntil(lambda: bool(is_so()), timeout=PATIENCE_MS)

    def result(self, work):
        results = []
        self.bridge.ask(work, results.append)
        self.until(lambda: results)
        return results[0]

    def changes(self):
        return [value for value in self.told if isinstance(value, ItemsChanged)]

    def has_text(self, text):
        return any(
            getattr(item, "text", "") == text for change in self.changes() for item in change.items
        )


@pytest.fixture
def stand(qtbot, tmp_path):
    made = []

    def make(*arguments):
        made.append(Stand(qtbot, tmp_path, *arguments))
        return made[-1]

    yield make
    for one in made:
        assert one.bridge.close(PATIENCE_MS)
        one.owner.deleteLater()


def scripts(*said):
    return lambda: ScriptedBackend(said)


# ---- asking and telling -------------------------------------------------------------------------


def test_an_answer_comes_back_on_qts_thread(stand):
    """The work is done on the engine's, the callback is called on Qt's."""
    one = stand()
    seen = []

    async def work(client):
        return threading.current_thread().name

    one.bridge.ask(work, lambda name: seen.append((name, threading.current_thread())))
    one.until(lambda: seen)
    assert seen == [("engine", threading.main_thread())]


def test_answers_come_in_the_order_of_asking(stand):
    """What is asked first is begun and answered first."""
    one = stand()
    seen = []

    def ask(number):
        async def work(client):
            return number

        one.bridge.ask(work, seen.append)

    for number in range(50):
        ask(number)
    one.until(lambda: len(seen) == 50)
    assert seen == list(range(50))


def test_a_conversation_through_the_bridge(stand):
    """From the first message to the stored reply; every value on Qt's thread."""
    one = stand(scripts("a b c"))
    id_ = one.result(lambda client: client.send(None, "hello"))
    one.until(lambda: one.changes() and not one.changes()[-1].items[-1].id.startswith(LIVE))
    opened = one.result(lambda client: client.open(id_))
    assert [item.text for item in opened.items[1:]] == ["hello", "a b c"]
    assert one.threads == {True}
    assert any(isinstance(value, Meter) for value in one.told)


def test_streamed_items_are_joined(stand):
    """A long reply is told in few changes, and nothing of it is lost."""
    words = " ".join(str(number) for number in range(3_000))
    one = stand(scripts(words))
    one.result(lambda client: client.send(None, "count"))
    one.until(lambda: one.has_text(words))
    assert len(one.changes()) < 300


def test_a_fault_goes_to_whoever_asked(stand):
    """With its sentence; nobody else is told."""
    one = stand()
    seen = []
    one.bridge.ask(lambda client: client.open("nobody"), None, seen.append)
    one.until(lambda: seen)
    assert isinstance(seen[0], EnvironmentFault)
    assert one.told == []


def test_a_fault_nobody_takes_is_told(stand):
    """As a failure."""
    one = stand()
    one.bridge.ask(lambda client: client.open("nobody"))
    one.until(lambda: one.told)
    assert isinstance(one.told[0], Failed)
    assert "nobody" in one.told[0].sentence


def test_a_bug_goes_to_whoever_asked_or_crashes(stand):
    """The exception itself, and the engine goes on."""
    one = stand()

    async def work(client):
        raise ZeroDivisionError("oops")

    seen = []
    one.bridge.ask(work, None, seen.append)
    one.bridge.ask(work)
    one.until(lambda: seen and one.crashes)
    assert isinstance(seen[0], Bug)
    assert isinstance(one.crashes[0], ZeroDivisionError)
    assert one.result(lambda client: client.conversations()) == ()


def test_a_callback_that_raises_costs_nobody_else_anything(stand):
    """It is told as a crash; the answers behind it come."""
    one = stand()
    seen = []

    def broken(_rows):
        raise ZeroDivisionError("oops")

    one.bridge.ask(lambda client: client.conversations(), broken)
    one.bridge.ask(lambda client: client.conversations(), seen.append)
    one.until(lambda: seen)
    assert isinstance(one.crashes[0], ZeroDivisionError)


def test_a_loose_end_is_told(stand):
    """An exception in a callback of the loop belongs to nobody."""
    one = stand()

    async def work(client):
        def broken():
            raise ZeroDivisionError("oops")

        asyncio.get_running_loop().call_soon(broken)
        asyncio.get_running_loop().call_exception_handler({"message": "no exception in it"})

    one.bridge.ask(work)
    one.until(lambda: one.crashes)
    assert isinstance(one.crashes[0], ZeroDivisionError)


def test_what_is_cancelled_answers_nobody(stand):
    """Neither callback is called; others are answered."""
    one = stand()
    seen = []

    async def work(client):
        asyncio.current_task().cancel()
        await asyncio.sleep(0)

    one.bridge.ask(work, seen.append, seen.append)
    assert one.result(lambda client: client.conversations()) == ()
    assert seen == []


def test_without_a_callback(stand):
    """An answer nobody waits for is dropped."""
    one = stand()
    one.bridge.ask(lambda client: client.keep_draft("", "x"))
    assert one.result(lambda client: client.open(None)).draft == "x"


# ---- a client that cannot be made ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "crashes"), [(EnvironmentFault("Newer.", "Update."), 0), (KeyError("oops"), 1)]
)
def test_a_client_that_cannot_be_made(qtbot, error, crashes):
    """Told once; whoever asks gets the fault; the end is orderly."""

    def make_client(tell):
        raise error

    owner = QObject()
    bridge = Bridge(make_client, owner)
    told, crashed, seen = [], [], []
    bridge.told.connect(told.append)
    bridge.crashed.connect(crashed.append)
    bridge.ask(lambda client: client.conversations(), None, seen.append)
    qtbot.waitUntil(lambda: bool(seen), timeout=PATIENCE_MS)
    assert isinstance(told[0], Failed)
    assert len(crashed) == crashes
    assert isinstance(seen[0], EnvironmentFault | Bug)
    assert bridge.close(PATIENCE_MS)


# ---- the end ------------------------------------------------------------------------------------


class Loading(ScriptedBackend):
    """Never done loading."""

    async def load(self, request, progress):
        progress(0.1)
        await asyncio.Event().wait()


class Hanging(ScriptedBackend):
    """Neither stops nor closes."""

    async def stream(self, request):
        try:
            async for chunk in ScriptedBackend.stream(self, request):
                yield chunk
        finally:
            await asyncio.Event().wait()

    async def close(self):
        await asyncio.Event().wait()


def begun(one):
    """A turn has begun to write."""
    one.result(lambda client: client.send(None, "go"))
    one.until(lambda: one.has_text("a"))


@pytest.mark.parametrize("state", ["starting", "idle", "loading", "streaming", "hanging"])
def test_the_end_is_orderly_in_any_state(stand, state):
    """The thread ends, the loop is closed, nothing is told afterwards."""
    held = Script("a b", hold_after=1)
    backends = {
        "loading": Loading,
        "streaming": scripts(held),
        "hanging": lambda: Hanging([held]),
    }
    one = stand(backends.get(state, ScriptedBackend))
    if state == "idle":
        one.result(lambda client: client.conversations())
    elif state == "loading":
        one.result(lambda client: client.send(None, "go"))
        one.until(lambda: any(getattr(v, "state", "") == "loading" for v in one.told))
    elif state != "starting":
        begun(one)
    before = list(one.told)
    assert one.bridge.close(PATIENCE_MS)
    QCoreApplication.sendPostedEvents()
    assert one.told == before
    assert one.bridge._loop.is_closed()


@pytest.mark.parametrize("make_backend", [scripts(Script("a b", hold_after=1)), Loading])
def test_the_usual_patience_is_enough(stand, make_backend):
    """A streaming or loading backend that lets itself be stopped ends within the second."""
    one = stand(make_backend)
    one.result(lambda client: client.send(None, "go"))
    one.until(lambda: one.changes())
    assert one.bridge.close()


def test_what_was_not_begun_is_not_cancelled_yet():
    """A library's coroutine inside a task would stay behind, and Python complain of it."""

    async def wrapped(inner):
        await inner

    async def main():
        before = asyncio.create_task(wrapped(asyncio.sleep(3_600)))
        assert plan_cancelled({before}) == []
        await asyncio.sleep(0)
        assert plan_cancelled({before}) == [before]
        before.cancel()
        await asyncio.wait({before})

    asyncio.run(main())


def test_an_end_in_the_midst_of_what_begins(stand, recwarn):
    """Nothing is complained of, whatever was about to begin."""
    one, kept = stand(), []

    async def wrapped(inner):
        await inner

    async def work(client):
        await one.bridge._ending.wait()
        for _ in range(60):  # something new in every turn of the loop, through the whole end
            kept.append(asyncio.create_task(wrapped(asyncio.sleep(3_600))))
            await asyncio.sleep(0)

    one.bridge.ask(work)
    one.result(lambda client: client.conversations())
    assert one.bridge.close(PATIENCE_MS)
    kept.clear()
    gc.collect()
    assert [str(told.message) for told in recwarn] == []


def test_after_the_end_asking_does_nothing(stand):
    """“Event loop is closed” is nobody's trouble; closing again does no harm."""
    one = stand()
    assert one.bridge.close(PATIENCE_MS)
    seen = []
    one.bridge.ask(lambda client: client.conversations(), seen.append, seen.append)
    assert one.bridge.close()
    QCoreApplication.sendPostedEvents()
    assert seen == []
    assert one.bridge._waiting == {}


def test_answers_that_come_after_the_end_are_dropped(stand):
    """A result that was already there is not delivered to a window that is gone."""
    one = stand()
    seen = []
    one.bridge.ask(lambda client: client.conversations(), seen.append)
    one.bridge.close(PATIENCE_MS)
    QCoreApplication.sendPostedEvents()
    one.bridge._deliver()
    assert seen == []


def test_closing_from_a_callback(stand):
    """What follows in the same batch is not told any more."""
    one = stand()
    closed, seen = [], []
    barrier = threading.Event()

    async def work(client):
        barrier.wait(60)

    one.bridge.ask(work, lambda _: closed.append(one.bridge.close(PATIENCE_MS)))
    one.bridge.ask(lambda client: client.conversations(), seen.append)
    barrier.set()
    one.until(lambda: closed)
    QCoreApplication.sendPostedEvents()
    assert closed == [True]
    assert seen == [] or seen == [()]


def test_an_engine_that_is_stuck_is_left_behind(stand):
    """A disk that does not answer cannot keep the window open."""
    one = stand()
    release = threading.Event()

    async def work(client):
        release.wait(60)

    one.bridge.ask(work)
    began = time.monotonic()
    assert not one.bridge.close(50)
    assert time.monotonic() - began < 30
    release.set()
    assert one.bridge.close(PATIENCE_MS)


def test_a_bridge_that_was_deleted_and_never_closed(stand, qtbot):
    """The engine finds nobody to tell, and does not fall over it."""
    one = stand()
    one.result(lambda client: client.conversations())
    bridge = one.bridge
    shiboken6.delete(bridge)
    bridge._tell(RowsChanged())
    assert bridge._is_closed
    bridge._call(bridge._ending.set)
    bridge._thread.join(60)
    assert not bridge._thread.is_alive()
    one.bridge = _Closed()


class _Closed:
    def close(self, _patience):
        return True


def test_a_store_that_fails_at_the_end(stand, monkeypatch):
    """Nobody is there to be told; the thread ends all the same."""
    one = stand()
    one.result(lambda client: client.conversations())

    async def close(client):
        raise EnvironmentFault("The disk is full.")

    monkeypatch.setattr(Client, "close", close)
    assert one.bridge.close(PATIENCE_MS)
    assert one.bridge._loop.is_closed()


# ---- joining ------------------------------------------------------------------------------------


def items(*names):
    return tuple(UserItem(name, name, 0) for name in names)


@st.composite
def change_lists(draw):
    """Changes of one conversation as a client tells them: each from within what stands so far."""
    length, changes = 0, []
    for number in range(draw(st.integers(1, 6))):
        first = draw(st.integers(0, length))
        new = items(*(f"{number}.{i}" for i in range(draw(st.integers(0, 4)))))
        changes.append(ItemsChanged("c", new, first))
        length = first + len(new)
    return changes


def shown(changes):
    state = ()
    for change in changes:
        state = (*state[: change.from_index], *change.items)
    return state


@given(change_lists(), st.integers(0, 5))
def test_joining_changes_nothing_of_what_is_shown(changes, at):
    """One change has the effect of all."""
    joined = join_items(changes)
    assert len(joined) == 1
    before = changes[:at]
    later = changes[at:]
    assert shown(joined) == shown(changes)
    assert shown([*before, *join_items(later)]) == shown(changes)


def test_nothing_overtakes_anything():
    """Only what stands between nothing else is joined; conversations stay apart."""
    first = ItemsChanged("a", items("1"), 0)
    other = ItemsChanged("b", items("x"), 0)
    second = ItemsChanged("a", items("2"), 1)
    third = ItemsChanged("a", items("3"), 2)
    assert join_items([first, other, second, RowsChanged(), third]) == [
        ItemsChanged("a", items("1", "2"), 0),
        other,
        RowsChanged(),
        third,
    ]
    assert joined_change(second, first) == first


def test_a_wake_for_nothing(stand):
    """A signal that arrives after its values were delivered does no harm."""
    one = stand()
    one.bridge._wake()
    one.bridge._wake()
    one.bridge._deliver()
    assert one.told == []
    QCoreApplication.sendPostedEvents(None, QEvent.Type.MetaCall)
