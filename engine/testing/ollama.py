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
all trained on 32,768 tokens, unless others are given. `fail` makes it break as servers were seen to
break, `hold` makes it wait at a place, `wait_for` waits for what it should see; nothing sleeps.
"""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Self

from engine.testing import ollama_rules as rules
from engine.testing.ollama_endpoints import answer
from engine.testing.ollama_generation import Exchange
from engine.testing.ollama_rules import Model
from engine.testing.ollama_script import Fault, Gate, Point, Reply, Responder, Seen
from engine.testing.ollama_socket import Request, Wire
from engine.testing.ollama_state import Fetchable, State

MODELS = (
    Model("m", capabilities=("completion", "tools", "thinking")),
    Model("plain"),
    Model("emb", capabilities=("embedding",)),
)
_PATIENCE = 30.0  # seconds after which a test that waits has failed


class OllamaDouble:
    """A stand-in for `ollama serve`; a context manager.

    Args:
        models: what is stored on it, oldest first.
        version: what it says it is, and behaves like.
        default_window: tokens of a request that names no `num_ctx`; 0 for the version's own.
        window_limit: it loads no more tokens than this, whatever is asked; 0 for no limit.
        slots: it divides what it loads between so many conversations.
        bind: the address it listens on.

    Attributes:
        requests: every request, in order of arrival.
    """

    def __init__(
        self,
        models: Iterable[Model] = MODELS,
        *,
        version: str = "0.33.0",
        default_window: int = 0,
        window_limit: int = 0,
        slots: int = 1,
        bind: str = "127.0.0.1",
    ) -> None:
        default = default_window or rules.default_window(rules.parse_version(version), 0)
        stored = {model.full_name: model for model in models}
        self.state = State(version, stored, default, window_limit, slots)
        self.requests: list[Request] = []
        self.port = 0
        self._bind = bind
        self._errors: list[BaseException] = []
        self._changed = threading.Condition()
        self._connections: dict[asyncio.Future[None], socket.socket] = {}
        self._started = threading.Event()
        self._stop = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop
        self._thread = threading.Thread(target=self._run, name="ollama-double", daemon=True)

    def __enter__(self) -> Self:
        self._loop = asyncio.SelectorEventLoop()
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

    def hold(self, point: Point, after: int = 0) -> Gate:
        """Wait at a place, once: while loading, before the first piece, before piece `after`."""
        gate = Gate(self._loop, after)
        self.state.script.gates[point] = gate
        return gate

    def fetchable(self, model: Model, steps: tuple[int, ...] = (0, 400, 1000)) -> None:
        """Let a model be pulled, in one layer of 1000 bytes whose progress goes by `steps`."""
        self.state.library[model.full_name] = Fetchable(model, steps=steps)

    # ---- what it saw ----

    @property
    def seen(self) -> list[Seen]:
        """What the models were really given to read, by request."""
        return self.state.seen

    @property
    def loads(self) -> list[tuple[str, int]]:
        """Every load of a model: its name and its window in tokens."""
        return self.state.loads

    @property
    def left(self) -> int:
        """How many requests their clients left before the answer was complete."""
        return sum(request.left for request in self.requests)

    def windows(self) -> dict[str, int]:
        """The windows of the models that are loaded now, tokens."""
        return {runner.model.name: runner.window for runner in self.state.runners.values()}

    def bodies(self, path: str = "/api/chat") -> list[Any]:
        """The JSON bodies of the requests to a path."""
        return [request.body for request in self.requests if request.path == path]

    def wait_for(self, happened: Callable[[], bool]) -> None:
        """Wait until something is so, looking again whenever anything changes.

        Raises:
            AssertionError: it was not so within half a minute.
        """
        with self._changed:
            if not self._changed.wait_for(happened, _PATIENCE):
                raise AssertionError("the Ollama double did not see what was waited for")

    # ---- its thread ----

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        except OSError as error:  # the address cannot be had
            self._errors.append(error)
        finally:
            self._started.set()
            self._loop.close()

    async def _serve(self) -> None:
        """Listen until told to stop.

        Not with asyncio's own server, which loses a connection that comes while it closes.
        """
        family = socket.AF_INET6 if ":" in self._bind else socket.AF_INET
        with socket.create_server((self._bind, 0), family=family) as listener:
            listener.setblocking(False)
            self.port = listener.getsockname()[1]
            self._loop.add_reader(listener, self._accept, listener)
            self._started.set()
            await self._stop.wait()
            self._loop.remove_reader(listener)
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await asyncio.sleep(0)  # connections that were cut are closed in the loop's next turn
        for connection in self._connections.values():
            connection.close()  # of those whose work had not begun

    def _accept(self, listener: socket.socket) -> None:
        try:
            connection, _ = listener.accept()
        except OSError:  # the client has gone again
            return
        connection.setblocking(False)
        self._connections[asyncio.ensure_future(self._connection(connection))] = connection

    async def _connection(self, connection: socket.socket) -> None:
        wire = Wire(*await asyncio.open_connection(sock=connection))
        try:
            while not wire.broken and (request := await wire.request()) is not None:
                self.requests.append(request)
                self._notify()
                await self._exchange(Exchange(self.state, request, wire))
        except asyncio.CancelledError:  # the double stops: nothing is queued any longer
            wire.cut(reset=False)
            raise
        finally:
            wire.close()

    async def _exchange(self, exchange: Exchange) -> None:
        """Answer until the answer is complete, or the client leaves."""
        work = asyncio.ensure_future(answer(exchange))
        leaving = asyncio.ensure_future(exchange.wire.left())
        try:
            await asyncio.wait({work, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                exchange.request.left = exchange.wire.broken = True
        finally:
            work.cancel()
            leaving.cancel()
            outcome, _ = await asyncio.gather(work, leaving, return_exceptions=True)
            self._judge(outcome, exchange)
            self._notify()

    def _judge(self, outcome: BaseException | None, exchange: Exchange) -> None:
        if isinstance(outcome, ConnectionError):
            exchange.request.left = exchange.wire.broken = True
        elif isinstance(outcome, Exception):
            exchange.wire.cut(reset=True)
            self._errors.append(outcome)

    def _notify(self) -> None:
        with self._changed:
            self._changed.notify_all()
