"""What the context engine costs: planning, summaries in place and staged, sixty real turns."""

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from engine.backends.llamacpp import LlamaCppBackend
from engine.context import ContextSettings, plan_folding, plan_view
from engine.events import CompactionEnded
from engine.models import ModelPlan, WindowLimits
from engine.session import Session
from engine.store import Store
from engine.testing import reply
from engine.tokens import Count, estimate_text
from engine.transcript import Body, Entry, Message, user
from tests.bench.measures import starter_file
from tests.engine.long_talk import HEADER, complaints, diary, talk

ENTRIES = 10_000
WINDOW = 16_384


def planning() -> tuple[float, float]:
    """Milliseconds to plan 10,000 entries again (view, route, cut), and to walk them once."""
    path = _long_path()
    weights = {entry.id: 40 for entry in path}
    count = Count(40 * len(path), "estimated")
    ours, bare = [], []
    for _ in range(9):
        started = time.perf_counter()
        view = plan_view(path, weights, count, WINDOW, ContextSettings())
        folding = plan_folding(view)
        assert view.route.must_compact
        assert folding
        ours.append(time.perf_counter() - started)
        started = time.perf_counter()
        sum(weights[entry.id] for entry in path if isinstance(entry.body, Message))
        bare.append(time.perf_counter() - started)
    return statistics.median(ours[1:]) * 1000, statistics.median(bare[1:]) * 1000


def _long_path() -> tuple[Entry, ...]:
    bodies: list[Body] = [
        user(f"Question {n}") if n % 2 == 0 else reply(f"Answer {n}") for n in range(ENTRIES)
    ]
    bodies[-1] = user("The last question")
    return tuple(
        Entry(f"{n:08x}", "s", f"{n - 1:08x}" if n else None, n, body)
        for n, body in enumerate(bodies)
    )


@asynccontextmanager
async def _session(folder: Path, history: list[Body], *, in_place: bool) -> AsyncIterator[Session]:
    """A conversation with the real starter, its history stored and not read yet."""
    plan = ModelPlan(
        "starter",
        "llama.cpp",
        str(starter_file()),
        window_option=WINDOW,
        stretch="auto",
        limits=WindowLimits(),
        max_tokens=48,
    )
    backend = LlamaCppBackend()
    with Store.open(folder / "porthole.db") as store:
        session_id = store.create_session().id
        store.append_all(session_id, history)
        settings = replace(ContextSettings(), in_place=in_place)
        try:
            yield Session(store, backend, session_id, plan, settings)
        finally:
            await backend.close()


def in_place_and_staged() -> tuple[float, float]:
    """Seconds of a compaction of a 6K conversation the model has read, in place and staged."""

    async def measure(*, in_place: bool) -> float:
        history: list[Body] = []
        while sum(estimate_text(b.text) for b in history if isinstance(b, Message)) < 5_900:
            history += [user(diary(len(history), 300)), reply("I have noted it all.")]
        with tempfile.TemporaryDirectory() as folder:
            async with _session(Path(folder), history, in_place=in_place) as session:
                async for _ in session.send("What was counted? One sentence."):
                    pass
                async for event in session.compact():
                    ended = event
                assert isinstance(ended, CompactionEnded), ended
                print(
                    f"# {'in place' if in_place else 'staged'}: {ended.text} "
                    f"({ended.entry.body.way if ended.entry else ended.outcome}, "
                    f"{ended.entry.body.facts.get('requests') if ended.entry else '-'} requests)",
                    file=sys.stderr,
                )
                return ended.seconds

    return asyncio.run(measure(in_place=True)), asyncio.run(measure(in_place=False))


def sixty_turns() -> tuple[int, list[str]]:
    """Compactions of a real 60-turn conversation at 16,384, and what does not hold of it."""

    async def measure() -> tuple[int, list[str]]:
        with tempfile.TemporaryDirectory() as folder:
            async with _session(Path(folder), [], in_place=True) as session:
                rows = await talk(session, [diary(number, 210) for number in range(60)])
        print("\n".join((HEADER, *(row.line() for row in rows))), file=sys.stderr)
        return sum(len(row.compactions) for row in rows), list(complaints(rows, WINDOW, slack=8))

    return asyncio.run(measure())
