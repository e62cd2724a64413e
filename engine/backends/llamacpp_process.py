"""The application's end of a llama.cpp worker: started, asked, stopped, watched, buried.

::

    ask("stream", …) ──▶ stdin ─▶ worker ─▶ stdout ──▶ the job's queue ──▶ messages
                                     └─▶ stderr ──▶ the last lines, for the reason of a death

A worker that ends, or says nothing for too long while it should work, fails every job it has with
one typed fault, and is never used again; the owner starts another one. Nothing is left behind: no
process, no zombie, no open pipe.
"""

import asyncio
import itertools
import os
import signal
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any, cast

from engine.backends.llamacpp_worker.protocol import (
    ENDINGS,
    Wire,
    decode,
    encode,
    fault_from_wire,
)
from engine.errors import (
    BackendFailed,
    BackendSilent,
    EnvironmentFault,
    TemplateUnusable,
    WorkerDied,
)

RENDER_SECONDS = 4.0
"""A template has less than this inside the worker; here it is the last resort."""
STOP_SECONDS = 0.25
"""How long a stop waits for the worker's word before it goes on without."""
_CLOSE_SECONDS = 1.0
_ERROR_BYTES = 8192
_ROOT = Path(__file__).resolve().parents[2]
_AGAIN = "The model is loaded again with the next message."

Inbox = asyncio.Queue[Wire | None]
"""A job's messages; None when no more can come."""


class WorkerProcess(asyncio.SubprocessProtocol):
    """One running worker. Made by `start`; every method is for the loop it was started on.

    Messages go from the pipe to their job in one step, without a task between: a token costs the
    application little of the processors the model needs.

    Attributes:
        is_usable: whether jobs can be given to it.
    """

    def __init__(
        self, silence_seconds: float, render_seconds: float, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._silence_seconds = silence_seconds
        self._render_seconds = render_seconds
        self._loop = loop
        self._numbers = itertools.count(1)
        self._inboxes: dict[int, Inbox] = {}
        self._said = bytearray()
        self._errors = bytearray()
        self._rendering = False
        self._heard = loop.time()
        self._watch: asyncio.TimerHandle | None = None
        self._fault: EnvironmentFault | None = None
        self._gone = asyncio.Event()
        self._stopping: set[asyncio.Task[None]] = set()
        self.is_usable = True

    @classmethod
    async def start(
        cls,
        python: str,
        threads: int,
        silence_seconds: float,
        render_seconds: float = RENDER_SECONDS,
    ) -> "WorkerProcess":
        """Start a worker with the interpreter `python`. Raises WorkerDied if that cannot be."""
        loop = asyncio.get_running_loop()
        try:
            _, worker = await loop.subprocess_exec(
                lambda: cls(silence_seconds, render_seconds, loop),
                *(python, "-P", "-m", "engine.backends.llamacpp_worker"),
                env=_environment(threads),
                start_new_session=True,  # Ctrl-C in a terminal stops a reply, not the worker
            )
        except OSError as error:
            raise WorkerDied(
                f"The llama.cpp worker cannot be started: {error.strerror}.",
                "Run packaging/run again to repair the installation.",
            ) from error
        return worker

    @property
    def pid(self) -> int:
        """The process id."""
        return self._pid

    async def ask(
        self, do: str, fields: Mapping[str, Any], *, patience_seconds: float = 2.0
    ) -> AsyncGenerator[Wire, None]:
        """Give the worker a job: its messages, the last one ends it.

        Leaving early (cancelling, `aclose`) stops the job; a worker that does not confirm that
        within `patience_seconds` is killed. Raises what the worker reports, WorkerDied,
        BackendSilent, TemplateUnusable.
        """
        job = next(self._numbers)
        inbox = self._open(job)
        said = ""
        try:
            self._send({"do": do, "job": job, **fields})
            while said not in ENDINGS:
                message = inbox.get_nowait() if not inbox.empty() else await inbox.get()
                if message is None:
                    raise self._fault or BackendFailed("The llama.cpp worker has no fault.")
                said = message["say"]
                if said == "failed":
                    raise fault_from_wire(message)
                yield message
        finally:
            if job in self._inboxes:
                await self._stop(job, inbox, patience_seconds)

    async def close(self) -> None:
        """End the process and wait until nothing of it is left."""
        self.is_usable = False
        self._stdin.close()  # the worker ends by itself when it has no application
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._gone.wait()
        except TimeoutError:
            self._kill()
            await self._gone.wait()
        await asyncio.gather(*self._stopping)

    # ---- a job ----------------------------------------------------------------------------------

    def _open(self, job: int) -> Inbox:
        """A new job's inbox; from now on silence counts."""
        inbox = Inbox()
        if self._fault is not None:
            inbox.put_nowait(None)
            return inbox
        self._inboxes[job] = inbox
        if len(self._inboxes) == 1:
            self._heard = self._loop.time()
            self._watch_again()
        return inbox

    def _send(self, message: Mapping[str, Any]) -> None:
        self._stdin.write(encode(message))  # a worker that is gone is found out by its pipes

    async def _stop(self, job: int, inbox: Inbox, patience_seconds: float) -> None:
        task = asyncio.create_task(self._confirm(job, inbox, patience_seconds))
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)
        await asyncio.wait({task}, timeout=STOP_SECONDS)

    async def _confirm(self, job: int, inbox: Inbox, patience_seconds: float) -> None:
        """Tell the worker to stop and wait for its word; without it, kill it."""
        self._send({"do": "stop", "job": job})
        try:
            async with asyncio.timeout(patience_seconds):
                while (message := await inbox.get()) is not None:
                    if message["say"] in ENDINGS:
                        break
        except TimeoutError:
            self._kill()

    # ---- the process, as asyncio reports it -----------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The process runs."""
        self._transport = cast(asyncio.SubprocessTransport, transport)
        self._pid = self._transport.get_pid()
        self._stdin = cast(asyncio.WriteTransport, self._transport.get_pipe_transport(0))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Whole lines are messages; what is on stderr is kept for the reason of a death."""
        if fd == 2:
            self._errors += data
            del self._errors[:-_ERROR_BYTES]
            return
        self._said += data
        *lines, rest = self._said.split(b"\n")
        self._said = rest
        for line in lines:
            self._take(decode(bytes(line)))

    def connection_lost(self, exc: Exception | None) -> None:
        """The process has ended and its pipes are empty."""
        del exc
        self._transport.close()  # marks it closed; there is nothing left to close
        code = self._transport.get_returncode() or 0
        self._fail(_death(code, self._errors.decode("utf-8", "replace")))
        self._gone.set()

    def _take(self, message: Wire) -> None:
        if message["say"] == "working":
            if not self._rendering:  # an endless template works, too
                self._heard = self._loop.time()
            return
        self._heard = self._loop.time()
        rendering = message["say"] == "rendering"
        if rendering != self._rendering:
            self._rendering = rendering
            self._watch_again()
        job = message["job"]
        if (inbox := self._inboxes.get(job)) is not None:
            inbox.put_nowait(message)
            if message["say"] in ENDINGS:
                del self._inboxes[job]

    # ---- silence --------------------------------------------------------------------------------

    def _watch_again(self) -> None:
        """Look again when the limit that counts now may be over."""
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
        if self._inboxes:
            self._watch = self._loop.call_at(self._heard + self._limit_seconds, self._look)

    @property
    def _limit_seconds(self) -> float:
        return self._render_seconds if self._rendering else self._silence_seconds

    def _look(self) -> None:
        if self._inboxes and self._loop.time() >= self._heard + self._limit_seconds:
            self._give_up()
        else:
            self._watch_again()

    def _give_up(self) -> None:
        """The worker was silent for too long while it should work."""
        if self._rendering:
            fault: EnvironmentFault = TemplateUnusable(
                f"The model's chat template ran for more than {self._render_seconds:g} seconds.",
                "Choose another model.",
            )
        else:
            fault = BackendSilent(
                f"The llama.cpp worker said nothing for {self._silence_seconds:g} seconds "
                "and was ended.",
                _AGAIN,
            )
        self._kill()
        self._fail(fault)

    def _fail(self, fault: EnvironmentFault) -> None:
        """Every job ends with the first fault there was."""
        self.is_usable = False
        self._fault = self._fault or fault
        while self._inboxes:
            _, inbox = self._inboxes.popitem()
            inbox.put_nowait(None)
        self._watch_again()

    def _kill(self) -> None:
        self.is_usable = False
        if self._transport.get_returncode() is None:
            self._transport.kill()


def _environment(threads: int) -> dict[str, str]:
    """The worker's environment, which must be set before it loads native code."""
    path = os.environ.get("PYTHONPATH", "")
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, (str(_ROOT), path))),
        "OMP_WAIT_POLICY": "passive",  # spinning threads are many times slower on a busy machine
        "OMP_NUM_THREADS": str(threads),
        "GGML_NO_BACKTRACE": "1",  # else an abort starts a debugger and takes seconds
    }


def _death(code: int, errors: str) -> BackendFailed:
    """Why a worker is gone, from its exit code and its last words."""
    words = _last_words(errors)
    if code == -signal.SIGKILL:
        how = "was killed, perhaps because the machine ran out of memory"
    elif code < 0:
        how = f"crashed ({_signal_name(-code)})"
    else:
        how = f"ended by itself (code {code})"
    remedy = _AGAIN
    if code == -signal.SIGILL:
        remedy = "llama.cpp was built for another processor: run packaging/run again to build it."
    return WorkerDied(f"The llama.cpp worker {how}{words}.", remedy)


def _last_words(errors: str) -> str:
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    if not lines:
        return ""
    said = next((line for line in reversed(lines) if "ASSERT" in line), lines[-1])
    return ": " + said.rsplit("/", 1)[-1].rstrip(".")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
