"""The measurements: ours and the baseline, taken in turns so that load hits both alike."""

import asyncio
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import Any

import psutil

from engine.backends.base import (
    Finished,
    LoadRequest,
    PromptMessage,
    PromptRequest,
    Sampling,
    TextChunk,
)
from engine.backends.llamacpp import LlamaCppBackend
from engine.paths import find_paths
from engine.store import Store
from engine.transcript import user

ROOT = Path(__file__).parents[2]
CONTEXT = 16_384
WRITTEN = 192
ROUNDS = 5
GREEDY = Sampling(temperature=0.0)


def starter_file() -> Path:
    """The starter model: the tests' one, by its name or where they keep it, else the user's."""
    named = os.environ.get("PORTHOLE_TEST_MODEL")
    if named:
        return Path(named)
    paths = find_paths(None, os.environ)
    for folder in (paths.cache_dir / "starter", paths.models_dir):
        for found in sorted(folder.glob("SmolLM2*.gguf")):
            return found
    sys.exit("No starter model: run packaging/test once, or porthole models get starter.")


def threads() -> int:
    """As many as the backend takes by itself."""
    cores = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    return cores - 1 if cores >= 4 else cores


@contextmanager
def raw_loop() -> Iterator[Any]:
    """The baseline process; a function that gives it a job and returns the answer."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.raw"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_WAIT_POLICY": "passive", "GGML_NO_BACKTRACE": "1"},
    )
    assert process.stdin is not None
    assert process.stdout is not None

    def job(**fields: Any) -> dict[str, Any]:
        process.stdin.write(json.dumps(fields) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    process.stdin.write(
        json.dumps({"model": str(starter_file()), "context": CONTEXT, "threads": threads()}) + "\n"
    )
    process.stdin.flush()
    try:
        yield job
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()


def request_of(messages: list[PromptMessage], max_tokens: int) -> PromptRequest:
    """A greedy request to the starter."""
    return PromptRequest(str(starter_file()), tuple(messages), CONTEXT, max_tokens, GREEDY)


async def loaded_backend() -> LlamaCppBackend:
    """Our backend with the starter in it."""
    backend = LlamaCppBackend()
    await backend.load(LoadRequest(str(starter_file()), CONTEXT, "auto"), lambda _fraction: None)
    return backend


async def run(backend: LlamaCppBackend, request: PromptRequest) -> tuple[str, Finished, float]:
    """A reply, how it ended, and the seconds to its first text."""
    started, first, texts = time.perf_counter(), 0.0, []
    async with aclosing(backend.stream(request)) as stream:
        async for chunk in stream:
            if isinstance(chunk, TextChunk):
                first = first or time.perf_counter() - started
                texts.append(chunk)
            if isinstance(chunk, Finished):
                return "".join(chunk.text for chunk in texts), chunk, first
    raise AssertionError("a stream ends with Finished")


def reply_speed() -> tuple[float, float]:
    """Tokens a second of a reply as the application gets it, and of the raw loop."""
    long = "Write a very long story about a ship, with many details. Do not stop."

    async def measure() -> tuple[list[float], list[float]]:
        ours, raw = [], []
        backend = await loaded_backend()
        try:
            with raw_loop() as job:
                for number in range(ROUNDS):
                    request = request_of([PromptMessage("user", f"{number}. {long}")], WRITTEN)
                    started = time.perf_counter()
                    _, finished, first = await run(backend, request)
                    seconds = time.perf_counter() - started - first
                    ours.append((finished.usage.written_tokens - 1) / seconds)
                    prompt = finished.usage.prompt_tokens
                    count = finished.usage.written_tokens - 1
                    done = job(job="write", prompt=prompt, count=count)
                    raw.append(done["count"] / done["seconds"])
        finally:
            await backend.close()
        return ours, raw

    ours, raw = asyncio.run(measure())
    return statistics.median(ours), statistics.median(raw)


def first_token_on_turn_ten() -> tuple[float, float]:
    """Milliseconds to the first token on turn 10 of a conversation, and raw with as many tokens."""

    async def measure() -> tuple[list[float], list[float]]:
        ours, raw = [], []
        backend = await loaded_backend()
        try:
            with raw_loop() as job:
                for number in range(ROUNDS):
                    first, usage = await tenth_turn(backend, number)
                    ours.append(first * 1000)
                    done = job(job="turn", held=usage.reused_tokens, new=usage.read_tokens)
                    raw.append(done["seconds"] * 1000)
        finally:
            await backend.close()
        return ours, raw

    ours, raw = asyncio.run(measure())
    return statistics.median(ours), statistics.median(raw)


async def tenth_turn(backend: LlamaCppBackend, number: int) -> tuple[float, Any]:
    """Ten turns; the seconds to the first text of the last, and what it cost."""
    loaded = await backend.load(
        LoadRequest(str(starter_file()), CONTEXT, "auto"), lambda _fraction: None
    )
    messages = [PromptMessage("system", f"Conversation {number}. Answer in one sentence.")]
    for turn in range(10):
        messages.append(PromptMessage("user", f"Tell me one thing about the number {turn}. " * 4))
        ids: list[int] = []
        texts: list[str] = []
        started, first, usage = time.perf_counter(), 0.0, None
        async with aclosing(backend.stream(request_of(messages, 40))) as stream:
            async for chunk in stream:
                if isinstance(chunk, TextChunk):
                    first = first or time.perf_counter() - started
                    ids.extend(chunk.ids)
                    texts.append(chunk.text)
                if isinstance(chunk, Finished):
                    usage = chunk.usage
        messages.append(
            PromptMessage(
                "assistant",
                "".join(texts),
                token_ids=tuple(ids),
                vocabulary=loaded.vocabulary,
            )
        )
    return first, usage


def durable_append() -> tuple[float, float]:
    """Milliseconds of a durable append, and of a bare INSERT with synchronous=FULL."""
    text, count = "A message of an ordinary length. " * 10, 200
    with tempfile.TemporaryDirectory() as folder:
        bare = sqlite3.connect(Path(folder) / "bare.db", isolation_level=None)
        bare.execute("PRAGMA journal_mode=WAL")
        bare.execute("PRAGMA synchronous=FULL")
        bare.execute("CREATE TABLE entries (id TEXT PRIMARY KEY, payload TEXT)")
        ours, raw = [], []
        with Store.open(Path(folder) / "porthole.db") as store:
            session = store.create_session().id
            for number in range(count):
                started = time.perf_counter()
                store.append(session, user(text), durable=True)
                ours.append(time.perf_counter() - started)
                started = time.perf_counter()
                bare.execute("INSERT INTO entries VALUES (?, ?)", (str(number), text))
                raw.append(time.perf_counter() - started)
        bare.close()
    return statistics.median(ours) * 1000, statistics.median(raw) * 1000


def status_start() -> tuple[float, float]:
    """Seconds of `porthole status`, and of starting Python; the best of several."""
    with tempfile.TemporaryDirectory() as profile:
        status = [sys.executable, "-m", "app", "--profile", profile, "status"]
        bare = [sys.executable, "-c", "pass"]
        ours, raw = [], []
        for _ in range(2 * ROUNDS):
            for command, into in ((status, ours), (bare, raw)):
                started = time.perf_counter()
                subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
                into.append(time.perf_counter() - started)
    return min(ours), min(raw)
