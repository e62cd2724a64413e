"""An Ollama server's side of things: how soon a stop reaches it, and what a long time leaves over."""

import asyncio
import http.client
import json
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from engine.testing.ollama import OllamaDouble
from engine.testing.ollama_script import Gate, Point, Reply
from tests.app.client_room import Room, an_ollama_room

ROUNDS = 10
PHASES: dict[str, tuple[Point, int]] = {
    "load": ("load", 0),
    "read": ("prompt", 0),
    "think": ("piece", 2),
    "write": ("piece", 5),
}
_LONG = Reply("one two three four", thinking="let me see")
Stop = Callable[[Room, OllamaDouble], Awaitable[float]]


def stop_ms(phase: str) -> tuple[float, float]:
    """The longest of several stops in a phase, and of bare connections that are closed; ms.

    From the user's stop until the server has seen the request end; in the queue, where the server
    has seen nothing, until the conversation is at rest.
    """
    stop: Stop = {"queue": _stop_in_queue, "compact": _stop_compaction}.get(phase, _stopper(phase))
    ours = [_in_room(stop) for _ in range(ROUNDS)]
    return max(ours), max(_bare_close() for _ in range(ROUNDS))


def _in_room(stop: Stop) -> float:
    async def main(server: OllamaDouble, folder: Path) -> float:
        async with an_ollama_room(folder, server) as room:
            return 1_000 * await stop(room, server)

    with OllamaDouble() as server, tempfile.TemporaryDirectory() as folder:
        server.always(_LONG)
        return asyncio.run(main(server, Path(folder)))


def _stopper(phase: str) -> Stop:
    async def stop(room: Room, server: OllamaDouble) -> float:
        point, after = PHASES[phase]
        gate = server.hold(point, after=after)
        id_ = await room.client.send(None, "go")
        return await _stopped(room, server, id_, gate)

    return stop


async def _stop_compaction(room: Room, server: OllamaDouble) -> float:
    id_ = await room.send("It was a long story. " * 300)
    for _ in range(3):
        await room.send("And then? " * 200, id_)
    gate = server.hold("prompt")
    await room.client.compact(id_)
    return await _stopped(room, server, id_, gate)


async def _stop_in_queue(room: Room, server: OllamaDouble) -> float:
    gate = server.hold("piece", after=1)
    one = await room.client.send(None, "first")
    await asyncio.to_thread(gate.reached.wait)
    two = await room.client.send(None, "second")
    await room.until(lambda: room.last(two).waits_for)
    begin = time.perf_counter()
    await room.client.stop(two)
    await room.rest(two)
    took = time.perf_counter() - begin
    gate.open()
    await room.rest(one)
    return took


async def _stopped(room: Room, server: OllamaDouble, id_: str, gate: Gate) -> float:
    await asyncio.to_thread(gate.reached.wait)
    left = server.left
    begin = time.perf_counter()
    await room.client.stop(id_)
    await asyncio.to_thread(server.wait_for, lambda: server.left > left)
    took = time.perf_counter() - begin
    await room.rest(id_)
    return took


def _bare_close() -> float:
    """A connection without anything around it, closed while the server answers."""
    with OllamaDouble() as server:
        server.always(_LONG)
        gate = server.hold("piece", after=2)
        connection = http.client.HTTPConnection(server.host)
        body = {"model": "m", "messages": [{"role": "user", "content": "go"}]}
        connection.request("POST", "/api/chat", json.dumps(body))
        gate.reached.wait()
        begin = time.perf_counter()
        connection.sock.close()
        server.wait_for(lambda: server.left == 1)
        return 1_000 * (time.perf_counter() - begin)
