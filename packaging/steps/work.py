"""Running programs and telling how far they are: console, child processes, locks."""

import fcntl
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

_TICK_SECONDS = 1.0
_GRACE_SECONDS = 10.0  # between asking a child to stop and killing it
_TAIL_LINES = 8
_LONGEST_LINE = 200


class SetUpFailed(Exception):
    """A step cannot be done; the text is for the user."""


class CommandFailed(SetUpFailed):
    """A program ended with an error. `tail` are its last lines; the text adds the log's path.

    `said` is all it said, for finding out what kind of failure it was.
    """

    def __init__(self, what: str, said: str, log: Path) -> None:
        lines = [line[:_LONGEST_LINE] for line in said.splitlines() if line.strip()]
        self.tail = "\n".join(f"  | {line}" for line in lines[-_TAIL_LINES:])
        self.said = said
        super().__init__(f"{what}\n{self.tail}\n  All it said: {log}".replace("\n\n", "\n"))


def format_seconds(seconds: float) -> str:
    """A duration for people: `7 s`, `3 min 05 s`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


@dataclass(slots=True)
class Console:
    """Progress on stderr: one line a step, rewritten on a terminal. ASCII only."""

    heading: str = ""
    _started: float = 0.0
    _live: bool = False
    _tty: bool = field(
        default_factory=lambda: (
            sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        )
    )

    def say(self, text: str) -> None:
        """A line of its own."""
        self._wipe()
        self._write(f"{text}\n")

    def begin(self, heading: str) -> None:
        """A step begins."""
        self.heading, self._started = heading, time.monotonic()
        if self._tty:
            self.tick("")
        else:
            self._write(f"{heading} ...\n")

    def tick(self, detail: str) -> None:
        """On a terminal: show what goes on at this moment, and for how long."""
        if not self._tty:
            return
        elapsed = format_seconds(time.monotonic() - self._started)
        line = f"{self.heading} ... {elapsed}{f'  {detail}' if detail else ''}"
        width = shutil.get_terminal_size().columns - 1
        self._write(f"\r\x1b[K{line[:width]}")
        self._live = True

    def milestone(self, detail: str) -> None:
        """Elsewhere: a line now and then from a long step."""
        if not self._tty:
            self._write(f"{self.heading}: {detail}\n")

    def end(self, outcome: str = "done") -> None:
        """The step is over."""
        self._wipe()
        elapsed = format_seconds(time.monotonic() - self._started)
        self._write(f"{self.heading}: {outcome} in {elapsed}\n")

    def wipe(self) -> None:
        """Leave no half line behind."""
        self._wipe()

    def _wipe(self) -> None:
        if self._live:
            self._write("\r\x1b[K")
            self._live = False

    def _write(self, text: str) -> None:
        if sys.stderr is not None:
            sys.stderr.write(text)
            sys.stderr.flush()


@dataclass(slots=True)
class Worker:
    """Runs the programs of a set-up, each in a process group of its own, into one log.

    The children inherit the lock (`held`): should this process be killed, the next set-up waits
    for what it left running.
    """

    console: Console
    log: Path
    held: list[int] = field(default_factory=list)

    def run(
        self,
        command: Sequence[str | Path],
        *,
        failure: str,
        environ: Mapping[str, str] | None = None,
        folder: Path | None = None,
        on_line: Callable[[str], str] | None = None,
    ) -> str:
        """Run a program to its end; returns what it said.

        `on_line` turns a line of output into what the console shows. Raises CommandFailed with
        `failure` as its sentence.
        """
        env = {**os.environ, "PYTHONUNBUFFERED": "1", **(environ or {})}
        said: list[str] = []
        try:
            process = subprocess.Popen(
                [str(part) for part in command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=env,
                cwd=folder,
                process_group=0,
                pass_fds=self.held,
            )
        except OSError as error:
            raise CommandFailed(failure, f"{command[0]}: {error.strerror}", self.log) from error
        with process, self.log.open("a", encoding="utf-8") as log:
            log.write(f"$ {' '.join(str(part) for part in command)}\n")
            try:
                detail = ""
                for line in self._lines(process):
                    if line is not None:
                        log.write(f"{line}\n")
                        said.append(line)
                        detail = on_line(line) if on_line else detail
                    self.console.tick(detail)
            finally:
                stop_group(process)
        if process.returncode:
            raise CommandFailed(failure, "\n".join(said), self.log)
        return "\n".join(said)

    def _lines(self, process: subprocess.Popen[bytes]) -> Iterator[str | None]:
        """Output line by line, None at every tick without one; ends when the program ends."""
        assert process.stdout is not None
        handle = process.stdout.fileno()
        rest = b""
        with selectors.DefaultSelector() as selector:
            selector.register(handle, selectors.EVENT_READ)
            while True:
                if not selector.select(_TICK_SECONDS):
                    if process.poll() is not None:
                        break  # a grandchild keeps the pipe open
                    yield None
                    continue
                block = os.read(handle, 65536)
                *lines, rest = (rest + block).replace(b"\r", b"\n").split(b"\n")
                yield from (line.decode(errors="replace") for line in lines)
                if not block:
                    break
        if rest:
            yield rest.decode(errors="replace")
        process.wait()

    @contextmanager
    def lock(self, path: Path, waiting: str) -> Iterator[None]:
        """Hold a lock between processes; says `waiting` when another one holds it."""
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self.console.say(waiting)
                fcntl.flock(handle, fcntl.LOCK_EX)
            self.held.append(handle)
            yield
        finally:
            if handle in self.held:
                self.held.remove(handle)
            os.close(handle)


def stop_group(process: subprocess.Popen[bytes]) -> None:
    """Stop a program and all it started, if it still runs: first kindly, so that it tidies up."""
    if process.poll() is not None:
        return
    with suppress(ProcessLookupError, subprocess.TimeoutExpired):
        os.killpg(process.pid, signal.SIGINT)
        process.wait(_GRACE_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # it, or what it left behind
    process.wait()
