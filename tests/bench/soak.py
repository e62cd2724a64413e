"""Ten minutes on a server that breaks at random, fifty turns a minute: what grows, what is left over.

The server has a process of its own (`python -m tests.bench.soak` runs it), so that the memory that
is looked at is the client's alone. PORTHOLE_SOAK_MINUTES makes it shorter or longer.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import psutil

from engine.backends.ollama import OllamaBackend
from engine.testing.ollama import OllamaDouble
from tests.app.client_room import a_room_on
from tests.app.ollama_soak import LIMITS, Breaking, Soaked, paced, soak

PER_MINUTE = 50
MINUTES = 10.0
_LOOKING = 2
"""Tasks that may look at the conversation that is shown, at any moment."""
ROOT = Path(__file__).parents[2]


def minutes() -> float:
    """How long; at least long enough to compare two looks."""
    return max(2.0, float(os.environ.get("PORTHOLE_SOAK_MINUTES", MINUTES)))


def soaked() -> tuple[Soaked, list[str]]:
    """What a soak came to, and what is wrong with it."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.soak"], cwd=ROOT, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        host = child.stdout.readline().strip()
        with tempfile.TemporaryDirectory() as folder:
            threads = threading.active_count()
            found, left = asyncio.run(_client(host, Path(folder)))
        sockets = psutil.Process().net_connections("tcp")
        return found, [*_complaints(found), *_left(left, sockets, threads)]
    finally:
        child.stdin.close()
        child.wait()


async def _client(host: str, folder: Path) -> tuple[Soaked, int]:
    async with a_room_on(folder, OllamaBackend(host, **LIMITS)) as room:
        found = await soak(
            room, paced(minutes(), PER_MINUTE), 11, lambda n: n % PER_MINUTE == PER_MINUTE - 1
        )
    return found, len(asyncio.all_tasks())


def growth(found: Soaked) -> float:
    """Memory at the end by that after the first fifth, in which caches fill."""
    first = max(1, len(found.memory) // 5)
    return statistics.median(found.memory[-first:]) / found.memory[first - 1]


def _complaints(found: Soaked) -> list[str]:
    wrong = [f"lost: {text[:40]}" for text in found.lost]
    if not 0 < found.failed < found.turns:
        wrong.append(f"{found.failed} of {found.turns} turns failed")
    for name in ("tasks", "threads", "sockets"):
        counts = getattr(found, name)
        if max(counts[1:]) > counts[0] + _LOOKING:
            wrong.append(f"{name} at rest: {counts}")
    return wrong


def _left(tasks: int, sockets: list[object], threads: int) -> list[str]:
    wrong = [f"{tasks - 1} tasks left"] if tasks > 1 else []
    wrong += [f"a socket left: {one}" for one in sockets]
    now = threading.active_count()
    return wrong + ([f"{now - threads} threads left"] if now > threads else [])


def serve() -> None:
    """Be the server until the parent closes the pipe."""
    with OllamaDouble() as server:
        Breaking(server, 5)
        print(server.host, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    serve()
