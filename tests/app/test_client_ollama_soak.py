"""Two hundred turns on a server that breaks at random, one after the other."""

import asyncio
import threading

import psutil

from engine.testing.ollama import OllamaDouble
from tests.app.client_room import an_ollama_room
from tests.app.ollama_soak import LIMITS, Breaking, at_once, soak

TURNS = 200


def test_nothing_is_lost_and_nothing_left_over(tmp_path):
    """Every word that was typed is there; tasks, threads and sockets are what they were."""
    process = psutil.Process()

    async def main(server):
        async with an_ollama_room(tmp_path, server, **LIMITS) as room:
            soaked = await soak(room, at_once(TURNS), 11, lambda n: n % 40 == 39)
        return soaked, len(asyncio.all_tasks())

    with OllamaDouble() as server:
        Breaking(server, 5)
        listening = len(process.net_connections("tcp"))
        threads = threading.active_count()
        soaked, tasks = asyncio.run(main(server))
        server.wait_for(lambda: len(process.net_connections("tcp")) <= listening)
    assert soaked.lost == []
    assert (soaked.turns, tasks) == (TURNS, 1)
    assert 0 < soaked.failed < TURNS
    assert max(soaked.tasks) <= 3, "what looks at the conversation that is shown"
    assert max(soaked.threads) <= threads + 2, "the loop's own workers"
    assert max(soaked.sockets) <= listening + 2, "a connection and its other end"
    assert threading.active_count() == threads - 1
