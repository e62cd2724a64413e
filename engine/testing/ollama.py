"""An Ollama server for tests: a real socket on loopback, real rules, scripted replies.

::

    with OllamaDouble() as server:
        server.say("Paris is the capital of France.")
        backend = OllamaBackend(server.host)
        ...
        assert server.bodies("/api/chat")[0]["options"]["num_ctx"] == 16384

It runs on its own thread. Which rules it follows depends on `version`; they are in
`engine.testing.ollama_rules`, with what is simplified: a token is a whitespace-separated word.
Its models are `m` (completion, thinking, tools), `plain` (completion) and `emb` (embedding only),
all trained on 32,768 tokens, unless others are given. Nothing sleeps, and time is the double's own.

- `fail` makes one answer break as servers were seen to break (`engine.testing.ollama_faults`);
- `switches` make it lie, or behave otherwise, for as long as one likes
  (`engine.testing.ollama_switches`);
- `hold` makes it wait at a place, `wait_for` waits for what it should see;
- `restart`, `other_client`, `stick`, `advance` and `jump` happen to the whole server;
- `log` is what it noted of its own work: what was cut, shifted, loaded, aborted, and how each
  request ended (`engine.testing.ollama_log`).
"""

import asyncio
import socket
import threading
from collections.abc import Callable, Coroutine, Iterable
from types import TracebackType
from typing import Any, Self, Unpack

from engine.testing import ollama_rules as rules
from engine.testing.ollama_endpoints import answer
from engine.testing.ollama_exchange import Exchange
from engine.testing.ollama_faults import Fault
from engine.testing.ollama_log import How, Log, Phase
from engine.testing.ollama_rules import Model
from engine.testing.ollama_scheduler import Lease, Scheduler, Want
from engine.testing.ollama_script import Gate, Point, Reply, Responder, Seen
from engine.testing.ollama_socket import Request, Wire
from engine.testing.ollama_state import Fetchable, Layer, Limits, State
from engine.testing.ollama_switches import Switches

MODELS = (
    Model("m", capabilities=("completion", "tools", "thinking")),
    Model("plain"),
    Model("emb", capabilities=("embedding",)),
)
_PATIENCE = 30.0  # seconds after which a test that waits has failed


def _unnoticed(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """A client that goes just when its work is cancelled leaves an error that nobody awaits."""
    if not isinstance(context.get("exception"), ConnectionError):
        loop.default_exception_handler(context)


class OllamaDouble:
    """A stand-in for `ollama serve`; a context manager.

    Args:
        models: what is stored on it, oldest first.
        version: what it says it is, and behaves like.
        default_window: tokens of a request that names no `num_ctx`, as `OLLAMA_CONTEXT_LENGTH`
            sets it; 0 for the version's own.
        vram_gib: memory of its graphics card, GiB, on which that default depends.
        window_limit: it loads no more tokens than this, whatever is asked; 0 for no limit.
        slots: it divides what it loads between so many conversations.
        num_parallel: requests a model serves at once; 0 for the version's own number.
        max_queue: requests that wait for a load, before others are turned away.
        max_loaded: models in memory at once.
        bind: the address it listens on.

    Attributes:
        requests: every request, in order of arrival.
    """

    def __init__(
        self,
        models: Iterable[Model] = MODELS,
        *,
        version: str = "0.33.0",
        bind: str = "127.0.0.1",
        default_window: int = 0,
        num_parallel: int = 0,
        **limits: Unpack[Limits],
    ) -> None:
        self._default_window = default_window
        self._num_parallel = num_parallel
        stored = {model.full_name: model for model in models}
        self.state = State(version, stored, default_window, **limits)
        self._play(version)
        self.requests: list[Request] = []
        self._count = 0
        self.port = 0
        self._bind = bind
        self._errors: list[BaseException] = []
        self._changed = threading.Condition()
        self.state.log.changed = self._notify
        self._connections: dict[asyncio.Future[None], socket.socket] = {}
        self._others: set[asyncio.Future[Lease]] = set()
        self._started = threading.Event()
        self._stop = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop
        self._scheduler: Scheduler
        self._listener: socket.socket | None = None
        self._worker: asyncio.Future[None]
        self._thread = threading.Thread(target=self._run, name="ollama-double", daemon=True)

    def _play(self, version: str) -> None:
        """Be a server of this version."""
        state, numbers = self.state, rules.parse_version(version)
        state.version_text = version
        state.default_window = self._default_window or rules.default_window(
            numbers, state.vram_gib
        )
        state.parallel = self._num_parallel or rules.default_parallel(numbers)

    def __enter__(self) -> Self:
        self._loop = asyncio.SelectorEventLoop()
        self._loop.set_exception_handler(_unnoticed)
        self._thread.start()
        self._started.wait()
        if self._errors:
            raise self._errors[0]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        if error is None and self._errors:
            raise self._errors[0]

    # ---- what it is told ----

    @property
    def host(self) -> str:
        """Its address, as `OLLAMA_HOST` would have it."""
        return f"[{self._bind}]:{self.port}" if ":" in self._bind else f"{self._bind}:{self.port}"

    def say(self, *replies: str | Reply | Responder) -> None:
        """Script the next replies; a function makes one of what the model was given to read."""
        made = (Reply(reply) if isinstance(reply, str) else reply for reply in replies)
        self.state.script.replies.extend(made)

    def always(self, reply: str | Reply | Responder) -> None:
        """The reply when no other is scripted."""
        self.state.script.default = Reply(reply) if isinstance(reply, str) else reply

    def fail(self, fault: Fault, path: str = "/api/chat") -> None:
        """Break at the next request to `path`, once; repeated calls queue up.

        A request that only loads a model has the path `load`.
        """
        self.state.script.faults.append((path, fault))

    def hold(self, point: Point, after: int = 0, model: str = "") -> Gate:
        """Wait at a place, once: while loading ("load"), before the prompt is read ("prompt"),
        before piece `after` of a reply, before progress line `after` of a pull.

        With a `model`, only work with that one waits. Gates at one place are met in order.
        """
        gate = Gate(self._loop, point, after, rules.full_name(model) if model else "")
        self.state.script.gates.append(gate)
        return gate

    def fetchable(
        self,
        model: Model,
        steps: tuple[int, ...] = (0, 400, 1000),
        layers: Iterable[Layer] = (),
    ) -> None:
        """Let a model be pulled: in these layers, or in one of 1000 bytes that goes by `steps`."""
        used = {layer.digest for each in self.state.library.values() for layer in each.layers}
        digest = "a1b2c3d4e5f60718"
        digest = digest + rules.digest_of(model)[16:] if digest in used else digest
        fetchable = Fetchable(model, tuple(layers) or (Layer(digest, steps=steps),))
        self.state.library[model.full_name] = fetchable

    @property
    def switches(self) -> Switches:
        """Its lies and habits, to be set at any time."""
        return self.state.switches

    # ---- what happens to the whole server ----

    def restart(self, version: str = "") -> None:
        """Stop and start again on the same port: connections break, no model is loaded any more.

        With a `version`, it comes back as that one. What is stored, pulls begun included, stays.
        """
        self.stop()
        self.start(version)

    def stop(self) -> None:
        """Stop serving: what is under way breaks, and nobody can connect."""
        self._within(self._close())

    def start(self, version: str = "") -> None:
        """Serve again, on the same port, after `stop`."""
        self._play(version or self.state.version_text)
        self._within(self._open())

    def other_client(
        self, model: str, num_ctx: int | None = None, *, wait: bool = True, **fields: Any
    ) -> None:
        """Let another client load a model as it likes it, as with an empty chat (F17).

        `fields` are of the request's body, beside its `options`. It waits its turn like anybody;
        without `wait` this returns before it had it.
        """
        found = self.state.model(model)
        options = {} if num_ctx is None else {"num_ctx": num_ctx}
        body = {"options": options, **fields}
        _, wanted = self.state.options_for(body, found)
        self._within(self._loaded_by_other(Want(found, wanted)), wait=wait)

    def stick(self, model: str) -> None:
        """A loaded model serves nobody any more, says that it is stopping, and does not (F16)."""
        self.state.runners[self.state.model(model).place].stuck = True

    def advance(self, seconds: float) -> None:
        """Let time pass: models whose time is up go."""
        self._within(self._passed(seconds))

    def jump(self, seconds: float) -> None:
        """Set the machine's clock: what is told of time jumps, and no time passes."""
        self.state.clock.jumped += seconds

    # ---- what it saw ----

    @property
    def log(self) -> Log:
        """What it noted of its own work."""
        return self.state.log

    @property
    def phases(self) -> dict[int, Phase]:
        """Where the requests are that are under way, by number."""
        return {number: phase for number, phase in self.log.running.copy().items() if number >= 0}

    @property
    def queued(self) -> int:
        """How many requests stand in the queue before the loads, abandoned ones included."""
        return self._scheduler.queued

    @property
    def seen(self) -> list[Seen]:
        """What the models were really given to read, by request."""
        return self.state.seen

    @property
    def loads(self) -> list[tuple[str, int]]:
        """Every load of a model: its name and its window in tokens."""
        return [(load.model, load.window) for load in self.log.loads]

    @property
    def left(self) -> int:
        """How many requests their clients left before the answer was complete."""
        return sum(request.left for request in self.requests)

    def windows(self) -> dict[str, int]:
        """The windows of the models that are loaded now, tokens, as they really are."""
        state = self.state
        return {r.model.name: state.live_window(r) for r in list(state.runners.values())}

    def bodies(self, path: str = "/api/chat") -> list[Any]:
        """The JSON bodies of the requests to a path."""
        return [request.body for request in self.requests if request.path == path]

    def forget(self) -> None:
        """Drop the records of what is over (requests, prompts, log), to stay small in a long test.

        Requests keep their numbers, and counting goes on.
        """
        self._within(self._forgotten())

    def wait_for(self, happened: Callable[[], bool]) -> None:
        """Wait until something is so, looking again whenever anything changes.

        Raises:
            AssertionError: it was not so within half a minute.
        """
        with self._changed:
            if not self._changed.wait_for(happened, _PATIENCE):
                raise AssertionError("the Ollama double did not see what was waited for")

    def settle(self) -> None:
        """Wait until every request is over: answered, left or broken, and noted in the log."""
        self.wait_for(lambda: not self.log.running)

    # ---- its thread ----

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        except OSError as error:  # the address cannot be had
            self._errors.append(error)
        finally:
            self._started.set()
            self._loop.close()

    def _within(self, work: Coroutine[Any, Any, None], *, wait: bool = True) -> None:
        """Do something in the double's own loop, and wait until it is done."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        if wait:
            future.result(_PATIENCE)

    async def _serve(self) -> None:
        """Listen until told to stop."""
        await self._open()
        self._started.set()
        await self._stop.wait()
        await self._close()
        stray = asyncio.all_tasks() - {asyncio.current_task()}
        for task in stray:
            task.cancel()
        await asyncio.gather(*stray, return_exceptions=True)

    async def _open(self) -> None:
        """Listen.

        Not with asyncio's own server, which loses a connection that comes while it closes.
        """
        family = socket.AF_INET6 if ":" in self._bind else socket.AF_INET
        listener = socket.create_server((self._bind, self.port), family=family)
        listener.setblocking(False)
        self._listener = listener
        self.port = listener.getsockname()[1]
        self._scheduler = Scheduler(self.state)
        self._worker = asyncio.ensure_future(self._scheduler.work())
        self._loop.add_reader(listener, self._accept, listener)

    async def _close(self) -> None:
        """Listen no more, break off what is under way, forget what is loaded."""
        if self._listener is None:
            return
        self._loop.remove_reader(self._listener)
        self._listener.close()
        self._listener = None
        tasks: list[asyncio.Future[Any]] = [*self._connections, *self._others, self._worker]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._scheduler.close()
        self.state.runners.clear()
        await asyncio.sleep(0)  # connections that were cut are closed in the loop's next turn
        for connection in self._connections.values():
            connection.close()  # of those whose work had not begun
        self._connections.clear()

    async def _forgotten(self) -> None:
        running = self.log.running
        self.requests[:] = [request for request in self.requests if request.number in running]
        self.state.seen.clear()
        self.log.clear()

    async def _passed(self, seconds: float) -> None:
        self.state.clock.elapsed += seconds
        self._scheduler.expire()

    async def _loaded_by_other(self, want: Want) -> None:
        other = asyncio.ensure_future(self._scheduler.lease(want))
        self._others.add(other)
        try:
            (await other).give_back()
        finally:
            self._others.discard(other)
            self.log.running.pop(want.request, None)
            self.log.changed()

    def _accept(self, listener: socket.socket) -> None:
        try:
            connection, _ = listener.accept()
        except OSError:  # the client has gone again
            return
        connection.setblocking(False)
        task = asyncio.ensure_future(self._connection(connection))
        self._connections[task] = connection
        task.add_done_callback(self._disconnected)

    def _disconnected(self, task: asyncio.Future[None]) -> None:
        if not task.cancelled():  # the socket of one that was is still to be closed
            self._connections.pop(task, None)

    async def _connection(self, connection: socket.socket) -> None:
        wire = Wire(*await asyncio.open_connection(sock=connection))
        try:
            while not wire.broken and (request := await wire.request()) is not None:
                request.number, self._count = self._count, self._count + 1
                self.requests.append(request)
                self._notify()
                await self._exchange(Exchange(self.state, self._scheduler, request, wire))
                if request.headers.get("connection", "").lower() == "close":
                    break
        except asyncio.CancelledError:  # the double stops: nothing is queued any longer
            wire.cut(reset=False)
            raise
        finally:
            wire.close()

    async def _exchange(self, exchange: Exchange) -> None:
        """Answer until the answer is complete, or the client leaves."""
        exchange.enter("asking")
        work = asyncio.ensure_future(answer(exchange))
        leaving = asyncio.ensure_future(exchange.wire.left())
        how: How = "stopped"
        try:
            await asyncio.wait({work, leaving}, return_when=asyncio.FIRST_COMPLETED)
            how = exchange.how
            if not work.done():
                how = "left"
                exchange.request.left = exchange.wire.broken = True
        finally:
            work.cancel()
            leaving.cancel()
            try:
                outcome, _ = await asyncio.gather(work, leaving, return_exceptions=True)
                if isinstance(outcome, ConnectionError):
                    how = "left"
                self._judge(outcome, exchange)
            finally:  # the server may stop just then
                self.log.over(exchange.number, exchange.request.path, how)

    def _judge(self, outcome: BaseException | None, exchange: Exchange) -> None:
        if isinstance(outcome, ConnectionError):
            exchange.request.left = exchange.wire.broken = True
        elif isinstance(outcome, Exception):
            exchange.wire.cut(reset=True)
            self._errors.append(outcome)

    def _notify(self) -> None:
        with self._changed:
            self._changed.notify_all()
