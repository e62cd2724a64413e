"""The application's end of a llama.cpp worker: started, asked, stopped, watched, buried.

::

    ask("stream", …) ──▶ stdin ─▶ worker ─▶ stdout ──▶ listener ──▶ the job's queue ──▶ messages
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
from typing import Any

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
_LINE_BYTES = 2**24
_ERROR_BYTES = 8192
_ROOT = Path(__file__).resolve().parents[2]
_AGAIN = "The model is loaded again with the next message."


class WorkerProcess:
    """One running worker. Made by `start`; every method is for the loop it was started on.

    Attributes:
        is_usable: whether jobs can be given to it.
    """

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        silence_seconds: float,
        render_seconds: float = RENDER_SECONDS,
    ) -> None:
        self._process = process
        self._silence_seconds = silence_seconds
        self._render_seconds = render_seconds
        self._rendering = False
        self._heard = asyncio.get_running_loop().time()
        self._numbers = itertools.count(1)
        self._inboxes: dict[int, asyncio.Queue[Wire | None]] = {}
        self._errors = bytearray()
        self._fault: EnvironmentFault | None = None
        self._collecting = asyncio.create_task(self._collect_errors())
        self._listening = asyncio.create_task(self._listen())
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
        try:
            process = await asyncio.create_subprocess_exec(
                *(python, "-P", "-m", "engine.backends.llamacpp_worker"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=_environment(threads),
                limit=_LINE_BYTES,
                start_new_session=True,  # Ctrl-C in a terminal stops a reply, not the worker
            )
        except OSError as error:
            raise WorkerDied(
                f"The llama.cpp worker cannot be started: {error.strerror}.",
                "Run packaging/run again to repair the installation.",
            ) from error
        return cls(process, silence_seconds, render_seconds)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    async def ask(
        self, do: str, fields: Mapping[str, Any], *, patience_seconds: float = 2.0
    ) -> AsyncGenerator[Wire, None]:
        """Give the worker a job: its messages, the last one ends it.

        Leaving early (cancelling, `aclose`) stops the job; a worker that does not confirm that
        within `patience_seconds` is killed. Raises what the worker reports, WorkerDied,
        BackendSilent.
        """
        job = next(self._numbers)
        inbox = self._inboxes[job] = asyncio.Queue()
        ended = False
        try:
            await self._send({"do": do, "job": job, **fields})
            while not ended:
                message = await self._next(inbox)
                ended = message["say"] in ENDINGS
                if message["say"] == "failed":
                    raise fault_from_wire(message)
                yield message
        finally:
            if ended or self._fault is not None:
                self._inboxes.pop(job, None)
            else:
                await self._stop(job, inbox, patience_seconds)

    async def close(self) -> None:
        """End the process and wait until nothing of it is left."""
        self.is_usable = False
        if self._process.stdin is not None:
            self._process.stdin.close()  # the worker ends by itself when it has no application
        try:
            async with asyncio.timeout(1.0):
                await self._process.wait()
        except TimeoutError:
            self._kill()
        await asyncio.gather(self._listening, *self._stopping)

    # ---- a job ----------------------------------------------------------------------------------

    async def _send(self, message: Mapping[str, Any]) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(encode(message))
            await stdin.drain()
        except (BrokenPipeError, ConnectionResetError):
            pass  # the listener finds out why, and says so to every job

    async def _next(self, inbox: asyncio.Queue[Wire | None]) -> Wire:
        """A job's next message; raises when none can come any more."""
        loop = asyncio.get_running_loop()
        asked = loop.time()
        message = None if inbox.empty() else inbox.get_nowait()
        while message is None and self._fault is None:
            quiet_since = max(asked, self._heard)
            limit = self._render_seconds if self._rendering else self._silence_seconds
            try:
                async with asyncio.timeout_at(quiet_since + limit):
                    message = await inbox.get()
            except TimeoutError:
                if quiet_since == max(asked, self._heard):
                    self._give_up()
        if message is None:
            assert self._fault is not None
            raise self._fault
        return message

    async def _stop(
        self, job: int, inbox: asyncio.Queue[Wire | None], patience_seconds: float
    ) -> None:
        task = asyncio.create_task(self._confirm(job, inbox, patience_seconds))
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)
        await asyncio.wait({task}, timeout=STOP_SECONDS)

    async def _confirm(
        self, job: int, inbox: asyncio.Queue[Wire | None], patience_seconds: float
    ) -> None:
        """Tell the worker to stop and wait for its word; without it, kill it."""
        try:
            async with asyncio.timeout(patience_seconds):
                await self._send({"do": "stop", "job": job})
                while (message := await inbox.get()) is not None:
                    if message["say"] in ENDINGS:
                        break
        except TimeoutError:
            self._kill()
        finally:
            self._inboxes.pop(job, None)

    # ---- the process ----------------------------------------------------------------------------

    async def _listen(self) -> None:
        """Hand messages to their jobs until the worker is gone, then tell them why."""
        stdout = self._process.stdout
        assert stdout is not None
        clock = asyncio.get_running_loop().time
        while line := await stdout.readline():
            if not line.endswith(b"\n"):
                break  # it died in the middle of a word
            message = decode(line)
            self._heard = clock()
            self._rendering = message["say"] == "rendering"
            if (inbox := self._inboxes.get(message["job"])) is not None:
                inbox.put_nowait(message)
        code = await self._process.wait()
        await self._collecting
        self._fail(_death(code, self._errors.decode("utf-8", "replace")))

    async def _collect_errors(self) -> None:
        stderr = self._process.stderr
        assert stderr is not None
        while data := await stderr.read(_ERROR_BYTES):
            self._errors += data
            del self._errors[:-_ERROR_BYTES]

    def _fail(self, fault: EnvironmentFault) -> None:
        self.is_usable = False
        if self._fault is None:
            self._fault = fault
        for inbox in self._inboxes.values():
            inbox.put_nowait(None)

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

    def _kill(self) -> None:
        self.is_usable = False
        if self._process.returncode is None:
            self._process.kill()


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
