"""The worker's end of the pipes: commands in, messages out, stops at once, and the way to die.

::

    stdin ──▶ reader thread ──▶ inbox ──▶ main thread (the only one that calls llama.cpp)
                   │ stop: raises the Interrupt native code looks at
                   └ end of file: the application is gone, the process ends

Native code and whatever else prints to file descriptor 1; the protocol has descriptors of its own.
"""

import os
import queue
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

from engine.backends.llamacpp_worker.native import Interrupt
from engine.backends.llamacpp_worker.protocol import Wire, decode, encode

PULSE_SECONDS = 1.0
"""How often a worker that is busy in native code says that it still gets on."""
_TOGETHER_SECONDS = 0.03
_WORDS = frozenset({"text", "thinking"})
_WORKING_SHARE = 0.01
"""Less of a processor than this is waiting, not working."""
_LONGEST_STEP_SECONDS = 900.0
"""A large model on a slow machine may need minutes for a batch; what takes longer hangs."""
_PATIENCE_SECONDS = 0.5
"""How long the main thread may take to end tidily once the application is gone."""


def private_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The process's stdin and stdout moved to descriptors nothing else knows.

    Afterwards descriptor 0 reads nothing and 1 is the same as 2.
    """
    reader = os.fdopen(os.dup(0), "rb")
    writer = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return reader, writer


class Link:
    """The conversation with the application.

    Args:
        reader: where commands come from.
        writer: where messages go.
        interrupt: raised when the running job is to stop.
    """

    def __init__(self, reader: BinaryIO, writer: BinaryIO, interrupt: Interrupt) -> None:
        self._reader = reader
        self._writer = writer
        self._interrupt = interrupt
        self._inbox: queue.SimpleQueue[Wire | None] = queue.SimpleQueue()
        self._aside: deque[Wire | None] = deque()
        self._writing = threading.Lock()
        self._jobs = threading.Lock()
        self._running: int | None = None
        self._stopped: set[int] = set()
        self._ended = threading.Event()
        self._said = self._words_sent = time.monotonic()

    def start(self) -> None:
        """Begin to listen, and to say that native code gets on."""
        for target in (self._listen, self._pulse):
            threading.Thread(target=target, daemon=True).start()

    def commands(self) -> Iterator[Wire]:
        """Commands in the order they came, until the application is gone."""
        while True:
            command = self._aside.popleft() if self._aside else self._inbox.get()
            if command is None:
                return
            yield command

    def waiting_counts(self) -> Iterator[Wire]:
        """The count commands that came meanwhile; they need not wait for a reply's end."""
        while True:
            try:
                command = self._inbox.get_nowait()
            except queue.Empty:
                return
            if command is not None and command["do"] in ("count", "measure"):
                yield command
            else:
                self._aside.append(command)

    @contextmanager
    def working(self, job: int) -> Iterator[None]:
        """While the block runs, a stop for `job` raises the interrupt."""
        with self._jobs:
            self._running = job
            self._interrupt.raised = job in self._stopped
        try:
            yield
        finally:
            with self._jobs:
                self._running = None
                self._stopped.discard(job)
                self._interrupt.raised = False

    def say(self, job: int, message: Mapping[str, Any]) -> None:
        """Send a message; ends the process when nobody is there to read it.

        Words that follow each other faster than an eye can tell are sent together.
        """
        now = self._said = time.monotonic()
        words = message["say"] in _WORDS
        waits = words and now - self._words_sent < _TOGETHER_SECONDS
        if words and not waits:
            self._words_sent = now
        self._write({**message, "job": job}, flush=not waits)

    def _write(self, message: Wire, *, flush: bool) -> None:
        line = encode(message)
        try:
            with self._writing:
                self._writer.write(line)
                if flush:
                    self._writer.flush()
        except (BrokenPipeError, ValueError):  # closed by the other side, or by us at the end
            self._leave()

    def close(self) -> None:
        """Say that the main thread is through."""
        self._ended.set()

    def _listen(self) -> None:
        for line in self._reader:
            command = decode(line)
            if command["do"] == "stop":
                self._stop(command["job"])
            else:
                self._inbox.put(command)
        self._leave()

    def _stop(self, job: int) -> None:
        with self._jobs:
            self._stopped.add(job)
            if self._running == job:
                self._interrupt.raised = True

    def _leave(self) -> None:
        """End the process, tidily if the main thread manages to."""
        self._interrupt.raised = True
        self._inbox.put(None)
        if not self._ended.wait(_PATIENCE_SECONDS):
            os._exit(0)

    def _pulse(self) -> None:
        """Say that the process works, as long as it does and a single step may take."""
        before = time.process_time()
        while not self._ended.wait(PULSE_SECONDS):
            now = time.process_time()
            works = now - before > _WORKING_SHARE * PULSE_SECONDS
            if works and time.monotonic() - self._said < _LONGEST_STEP_SECONDS:
                self._write({"say": "working", "job": None}, flush=True)
            before = now
