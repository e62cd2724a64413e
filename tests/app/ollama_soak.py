"""A long time on a server that breaks at random: what is typed, what is kept, what is left over."""

import asyncio
import gc
import random
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import psutil

from engine.testing.ollama import OllamaDouble
from engine.testing.ollama_faults import (
    BUSY,
    OUT_OF_MEMORY,
    RUNNER_STOPPED,
    TOOL_CALL,
    AfterDone,
    Answer,
    Chunked,
    Close,
    Drop,
    EndEarly,
    Error,
    Huge,
    Impatient,
    LoadFails,
    NoDone,
    Silence,
    redirect,
    refusal,
)
from engine.testing.ollama_script import Reply, Seen
from tests.app.client_room import Room

LIMITS = {"silence_seconds": 0.5, "load_silence_seconds": 0.5}
CONVERSATIONS = 8
_FAULTS = (
    EndEarly(2),
    EndEarly(1, half_line=True),
    EndEarly(1, half_character=True),
    NoDone(),
    Close(),
    Drop(2),
    Drop(3, reset=True),
    Drop(1, reset=True, half_character=True),
    Answer(500),
    Answer(502),
    Answer(403, "", "text/plain"),
    Answer(200, '{"error":"upstream failed"}', "application/json"),
    Error(RUNNER_STOPPED, dies=True),
    Error(OUT_OF_MEMORY, 3, dies=True),
    Error(TOOL_CALL),
    LoadFails(),
    Impatient(),
    Silence(0),
    Silence(3),
    Chunked("two"),
    Chunked("split"),
    Chunked("characters"),
    Huge(500_000),
    AfterDone("text"),
    redirect(307, "http://127.0.0.1:9/"),
    refusal(404, "model 'm' not found"),
    refusal(503, BUSY),
)
_WORDS = ("lamp", "glass", "灯塔", "oil", "fog", "wick", "storm", "tide", "über", "rope", "дым")


class Breaking:
    """Makes a double answer at random, and break at one request in `of`.

    A reply decides of the request after it, so that the faults come from the double's own thread.
    """

    def __init__(self, server: OllamaDouble, seed: int, of: int = 4) -> None:
        self._server = server
        self._chance = random.Random(seed)
        self._of = of
        server.always(self.answer)

    def answer(self, seen: Seen) -> Reply:
        """A reply of a few words; perhaps the next request breaks."""
        if self._chance.randrange(self._of) == 0:
            fault = self._chance.choice(_FAULTS)
            at_load = isinstance(fault, Close | Answer | LoadFails | Impatient)
            path = "load" if at_load and self._chance.random() < 0.5 else "/api/chat"
            self._server.fail(fault, path)
        words = self._chance.choices(_WORDS, k=self._chance.randint(4, 60))
        return Reply(" ".join(words), thinking="hm so " if self._chance.random() < 0.3 else "")


@dataclass
class Soaked:
    """What there was at rest, minute by minute, and what was lost."""

    memory: list[int] = field(default_factory=list)
    tasks: list[int] = field(default_factory=list)
    threads: list[int] = field(default_factory=list)
    sockets: list[int] = field(default_factory=list)
    turns: int = 0
    failed: int = 0
    lost: list[str] = field(default_factory=list)

    def look(self) -> None:
        """What there is now; nothing runs."""
        gc.collect()
        process = psutil.Process()
        self.memory.append(process.memory_info().rss)
        self.tasks.append(len(asyncio.all_tasks()))
        self.threads.append(threading.active_count())
        self.sockets.append(len(process.net_connections("tcp")))


async def soak(
    room: Room, turns: AsyncIterator[int], seed: int, look: Callable[[int], bool]
) -> Soaked:
    """Talk in several conversations, a turn at each tick, stopping some; `look` says when to count."""
    chance, soaked = random.Random(seed), Soaked()
    typed: dict[str, list[str]] = {}
    async for number in turns:
        texts = " ".join(chance.choices(_WORDS, k=chance.randint(3, 300)))
        text = f"Message {number}: {texts}"
        known = list(typed)
        id_ = chance.choice(known) if len(known) >= CONVERSATIONS else None
        opened = await room.client.open(id_)
        room.shown.clear()  # as a window, which holds the open conversation only
        room.shown[opened.id] = opened.items
        id_ = await room.client.send(id_, text)
        typed.setdefault(id_, []).append(text)
        if chance.random() < 0.1:
            await room.until(lambda id_=id_: room.last(id_).text or not room.last(id_).is_running)
            back = await room.client.stop(id_)
            if back:  # nothing had begun: what was typed is in the composer again
                assert typed[id_].pop() == back
        await room.rest(id_)
        soaked.turns += 1
        soaked.failed += room.last(id_).state == "failed"
        room.told.clear()
        if look(number):
            soaked.look()
    for id_, texts in typed.items():
        await room.client.open(id_)
        kept = [
            entry.body.text
            for entry in room.workplace.store.path(id_)
            if hasattr(entry.body, "text")
        ]
        soaked.lost += [text for text in texts if text not in kept]
    return soaked


async def at_once(count: int) -> AsyncIterator[int]:
    """Turn after turn."""
    for number in range(count):
        yield number


async def paced(minutes: float, per_minute: int) -> AsyncIterator[int]:
    """So many turns a minute, for so many minutes."""
    begin = time.monotonic()
    for number in range(int(minutes * per_minute)):
        await asyncio.sleep(max(0.0, begin + number * 60 / per_minute - time.monotonic()))
        yield number
