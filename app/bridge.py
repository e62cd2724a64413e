"""Between the window and the engine: the engine's loop on a thread of its own.

::

    Qt's thread                                   the engine's thread
    ask(work, then) ── call_soon_threadsafe ────▶ work(client) ─┐
    then(result)    ◀─┐                                         │
    told            ◀─┴─ one queued signal ◀── what is told ◀───┘   (in one order)

Streamed items of a conversation are joined every `JOIN_MS`; everything else is delivered at once, and
nothing overtakes anything. The only concurrency of the window.
"""

import asyncio
import inspect
import itertools
import sys
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from app.client import Client, Failed, ItemsChanged, Told
from app.client.live import fault_words
from app.client.localized import localized
from engine.errors import Bug, EnvironmentFault

T = TypeVar("T")
Fault = EnvironmentFault | Bug
Tell = Callable[[Told], None]
_Waiter = tuple[Callable[[Any], None] | None, Callable[[Fault], None] | None]

JOIN_MS = 33
"""Streamed items are delivered at most this often."""
_TURN_SECONDS = 0.001
"""After so long the engine's thread hands the interpreter over when Qt's wants it.

Whatever Qt's thread does asks for it several times over, and each time waits as long: with Python's
own 5 ms the window would stand still for 100 ms while the engine plans.
"""
_LEAVE_ROUNDS = 3
_LEAVE_SECONDS = 0.05
"""Tasks that are cancelled at the very end get this long."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What an `ask` came to; `ticket` names who waits for it."""

    ticket: int
    value: Any = None
    fault: Fault | None = None
    is_void: bool = False  # it was stopped: nobody is called


class Bridge(QObject):
    """Runs a client on the engine's thread.

    Args:
        make_client: called once, on the engine's thread, with what the client tells through. What
            it or the client's `start` raises is told as `Failed`, and answers every `ask`.
        parent: the owner.

    Signals:
        told(object): a `Told` of the client; in order, on Qt's thread.
        crashed(object): an exception that was nobody's: a bug of ours. The engine goes on.
    """

    told = Signal(object)
    crashed = Signal(object)
    _woken = Signal()

    def __init__(
        self, make_client: Callable[[Tell], Client], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._make_client = make_client
        self._lock = threading.Lock()
        self._arrived: deque[Told | _Answer | BaseException] = deque()
        self._is_waking = False
        self._is_closed = False
        self._tickets = itertools.count(1)
        self._waiting: dict[int, _Waiter] = {}
        self._loop = asyncio.new_event_loop()
        self._started, self._ending = asyncio.Event(), asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._client: Client | None = None
        self._broken: Fault | None = None
        self._timer = QTimer(self, singleShot=True, interval=JOIN_MS)
        self._timer.timeout.connect(self._deliver)
        self._woken.connect(self._wake, Qt.ConnectionType.QueuedConnection)
        sys.setswitchinterval(_TURN_SECONDS)
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._thread.start()

    # ---- Qt's side ------------------------------------------------------------------------------

    def ask(
        self,
        work: Callable[[Client], Awaitable[T]],
        then: Callable[[T], None] | None = None,
        fail: Callable[[Fault], None] | None = None,
    ) -> None:
        """Have `work` done on the engine's thread; `then` or `fail` is called on Qt's.

        Without `fail` a fault is told as `Failed`, a bug as `crashed`. After `close` nothing is
        called any more. What is asked is begun in order.
        """
        ticket = next(self._tickets)
        self._waiting[ticket] = (then, fail)
        if not self._call(lambda: self._begin(ticket, work)):
            self._waiting.pop(ticket, None)

    def close(self, patience_ms: int = 1000) -> bool:
        """Stop every turn, close the client, end the thread; whether all of it came to an end.

        Nothing is told afterwards. Calling it again does no harm.
        """
        with self._lock:
            self._is_closed = True
        self._timer.stop()
        self._waiting.clear()
        self._call(self._ending.set)
        self._thread.join(patience_ms / 1000)
        return not self._thread.is_alive()

    def _call(self, doing: Callable[[], object]) -> bool:
        """Have something done on the loop; False when it has ended."""
        try:
            self._loop.call_soon_threadsafe(doing)
        except RuntimeError:  # Event loop is closed
            return False
        return True

    def _wake(self) -> None:
        """Something arrived: streamed items wait for more, everything else is delivered."""
        with self._lock:
            self._is_waking = False
            is_streamed = all(isinstance(value, ItemsChanged) for value in self._arrived)
        if is_streamed:
            if not self._timer.isActive():
                self._timer.start()
            return
        self._deliver()

    def _deliver(self) -> None:
        self._timer.stop()
        with self._lock:
            arrived = list(self._arrived)
            self._arrived.clear()
        for value in join_items(arrived):
            if self._is_closed:  # by a slot
                return
            if isinstance(value, _Answer):
                try:
                    self._answer(value)
                except Exception as error:  # noqa: BLE001  # the others must not be lost for it
                    self.crashed.emit(error)
            elif isinstance(value, BaseException):
                self.crashed.emit(value)
            else:
                self.told.emit(value)

    def _answer(self, answer: _Answer) -> None:
        then, fail = self._waiting.pop(answer.ticket, (None, None))
        fault = answer.fault
        if answer.is_void:
            return
        if fault is None:
            if then is not None:
                then(answer.value)
        elif fail is not None:
            fail(fault)
        elif isinstance(fault, EnvironmentFault):
            self.told.emit(Failed("", fault.sentence, fault.remedy))
        else:
            self.crashed.emit(fault.__cause__ or fault)

    # ---- the engine's side ----------------------------------------------------------------------

    def _tell(self, value: Told | _Answer | BaseException) -> None:
        """Hand something over, in the user's language; on the engine's thread."""
        value = localized(value)
        with self._lock:
            if self._is_closed:
                return
            self._arrived.append(value)
            if self._is_waking:
                return
            try:
                self._woken.emit()  # under the lock: not between `close` and the end of this object
                self._is_waking = True
            except RuntimeError:  # this object was deleted, and never closed
                self._is_closed = True

    def _run(self) -> None:
        """The thread's whole life."""
        asyncio.set_event_loop(self._loop)
        self._loop.set_exception_handler(self._on_loose_end)
        try:
            self._loop.run_until_complete(self._live())
        finally:
            asyncio.set_event_loop(None)
            self._loop.close()

    async def _live(self) -> None:
        await self._start_client()
        self._started.set()
        await self._ending.wait()
        try:
            if self._client is not None:
                await self._client.close()
        except EnvironmentFault:
            return  # nobody is there to be told; what was typed is kept
        finally:
            await self._leave()

    async def _start_client(self) -> None:
        try:
            client = self._make_client(self._tell)
            self._client = client
            await client.start()
        except Exception as error:  # noqa: BLE001  # told; every ask gets it
            self._broken = _as_fault(error)
            sentence, remedy = fault_words(error)
            self._tell(Failed("", sentence, remedy))
            if isinstance(self._broken, Bug):
                self._tell(error)

    async def _leave(self) -> None:
        """Cancel what is left, and what that leaves, and give it a moment."""
        for _ in range(_LEAVE_ROUNDS):
            left = asyncio.all_tasks() - {asyncio.current_task()}
            if not left:
                return
            for task in plan_cancelled(left):
                task.cancel()
            await asyncio.wait(left, timeout=_LEAVE_SECONDS)

    def _on_loose_end(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """An exception nobody took: ours to tell, unless everything ends."""
        error = context.get("exception")
        if isinstance(error, Exception):
            self._tell(error)

    def _begin(self, ticket: int, work: Callable[[Client], Awaitable[Any]]) -> None:
        task = self._loop.create_task(self._do(ticket, work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _do(self, ticket: int, work: Callable[[Client], Awaitable[Any]]) -> None:
        try:
            await self._started.wait()
            if self._broken is not None or self._client is None:
                raise self._broken or Bug("There is no client.")
            self._tell(_Answer(ticket, localized(await work(self._client))))
        except asyncio.CancelledError:
            self._tell(_Answer(ticket, is_void=True))
            raise
        except Exception as error:  # noqa: BLE001  # whoever asked gets it
            self._tell(_Answer(ticket, fault=localized(_as_fault(error))))


def plan_cancelled(left: Iterable["asyncio.Task[Any]"]) -> list["asyncio.Task[Any]"]:
    """Those tasks that have begun; the others begin meanwhile, and come next.

    Libraries wrap their coroutines in tasks: one that is cancelled before its first step leaves the
    coroutine inside behind, and Python complains of it on the screen.
    """
    return [task for task in left if _has_begun(task)]


def _has_begun(task: "asyncio.Task[Any]") -> bool:
    work = task.get_coro()
    return not inspect.iscoroutine(work) or inspect.getcoroutinestate(work) != inspect.CORO_CREATED


def join_items(values: Iterable[Any]) -> list[Any]:
    """Streamed items of one conversation joined, as far as nothing else stands between them."""
    joined: list[Any] = []
    places: dict[str, int] = {}
    for value in values:
        if not isinstance(value, ItemsChanged):
            places.clear()
            joined.append(value)
        elif value.id in places:
            place = places[value.id]
            joined[place] = joined_change(joined[place], value)
        else:
            places[value.id] = len(joined)
            joined.append(value)
    return joined


def joined_change(first: ItemsChanged, then: ItemsChanged) -> ItemsChanged:
    """Two changes of one conversation's items as one."""
    if then.from_index <= first.from_index:
        return then
    kept = first.items[: then.from_index - first.from_index]
    return ItemsChanged(first.id, (*kept, *then.items), first.from_index)


def _as_fault(error: Exception) -> Fault:
    """The environment's fault as it is, everything else as our bug."""
    if isinstance(error, EnvironmentFault | Bug):
        return error
    bug = Bug(f"{type(error).__name__}: {error}")
    bug.__cause__ = error
    return bug
