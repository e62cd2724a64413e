"""One measurement in a process of its own: `python -m tests.bench.window.child MODULE.NAME ARG…`.

The function MODULE.NAME of this package is called with the arguments (whole numbers as such); what
it returns is printed as one JSON line.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]


def measured(what: str, *arguments: object) -> dict[str, float]:
    """Call a function of this package in a new process, offscreen unless a display is there."""
    command = [sys.executable, "-m", "tests.bench.window.child", what, *map(str, arguments)]
    environment = dict(os.environ)
    if not any(map(environ_has, ("DISPLAY", "WAYLAND_DISPLAY"))):
        environment.setdefault("QT_QPA_PLATFORM", "offscreen")
    done = subprocess.run(
        command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def environ_has(name: str) -> bool:
    """Whether an environment variable says anything."""
    return bool(os.environ.get(name))


def best(what: str, *arguments: object, of: int = 3, by: str = "ms") -> dict[str, float]:
    """The run with the smallest value out of several: load only ever adds."""
    return min((measured(what, *arguments) for _ in range(of)), key=lambda run: run[by])


def p99(values: list[float]) -> float:
    """The value that one in a hundred is above."""
    return sorted(values)[max(0, len(values) * 99 // 100 - 1)]


def summary(milliseconds: list[float]) -> dict[str, float]:
    """Median, p99 and longest."""
    return {
        "median": statistics.median(milliseconds),
        "p99": p99(milliseconds),
        "max": max(milliseconds),
    }


class Stopwatch:
    """Milliseconds of this thread's work, and of the clock, since it was made."""

    def __init__(self) -> None:
        self._cpu, self._wall = time.thread_time(), time.perf_counter()

    @property
    def cpu(self) -> float:
        """Of this thread's work: what others do on the machine does not count."""
        return (time.thread_time() - self._cpu) * 1000

    @property
    def wall(self) -> float:
        """Of the clock."""
        return (time.perf_counter() - self._wall) * 1000


def main(what: str, *arguments: str) -> None:
    """In the child."""
    module, _, name = what.partition(".")
    given: list[Any] = [int(word) if word.isdigit() else word for word in arguments]
    function = getattr(import_module(f"tests.bench.window.{module}"), name)
    print(json.dumps(function(*given)), flush=True)
    os._exit(0)  # how long Qt takes to tear a thousand pages down is nobody's question


if __name__ == "__main__":
    main(*sys.argv[1:])
