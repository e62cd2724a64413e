"""Fixtures of the backends' tests: a shared llama.cpp worker, and Ollama servers to compare."""

import asyncio
import os
from functools import cache

import pytest

from engine.backends.base import PromptMessage
from engine.backends.llamacpp import LlamaCppBackend
from tests.backends.contract_peer import Kind, double_peer, real_peer
from tests.backends.llamacpp_talk import load_of, nothing, reply_to, request_to

SERVER = os.environ.get("PORTHOLE_OLLAMA", "")
MODEL = os.environ.get("PORTHOLE_OLLAMA_MODEL", "")
KINDS = [
    Kind("0.3.14", (0, 3, 14), "rendered"),
    Kind("0.6.8", (0, 6, 8), "rendered"),
    Kind("0.12.11", (0, 12, 11), "rendered"),
    Kind("0.24.0", (0, 24, 0), "rendered"),
    Kind("0.33.0", (0, 33, 0), "rendered"),
    Kind("0.33.0 native", (0, 33, 0), "native"),
]


@cache
def real():
    """The real Ollama server; asked for only where one is named."""
    return real_peer(SERVER, MODEL)


@cache
def learned():
    """The same, once it is known how long a load takes there."""
    peer, _ = real()
    peer.learn()
    return peer


@cache
def kinds():
    """Every server there is to ask."""
    if not SERVER:
        return KINDS
    peer, capabilities = real()
    nearby = SERVER.startswith(("127.", "localhost"))
    return [*KINDS, Kind("real", peer.version, peer.path, capabilities, True, nearby)]


def pytest_generate_tests(metafunc):
    """A rule of the contract is asked of every server that its marks let pass."""
    if "peer" in metafunc.fixturenames:
        marks = list(metafunc.definition.iter_markers("peers"))
        asked = [kind for kind in kinds() if all(mark.args[0](kind) for mark in marks)]
        names = [kind.name for kind in asked]
        metafunc.parametrize("peer", asked, ids=names, indirect=True)


@pytest.fixture
def peer(request):
    """One Ollama server after the other, for the contract that all keep."""
    kind = request.param
    if kind.is_real:
        yield learned()
        return
    with double_peer(".".join(map(str, kind.version)), kind.path) as double:
        yield double


@pytest.fixture(scope="module")
def runner():
    """One loop for the backend that many tests share."""
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def shared(runner):
    """One backend for tests that end nothing, so that not each of them starts a worker."""
    backend = LlamaCppBackend()
    yield backend
    runner.run(backend.close())


@pytest.fixture
def talk(runner, shared, starter_path):
    """Runs a scenario with the shared backend, the starter loaded and nothing of use cached."""

    def run_shared(scenario):
        async def main():
            await shared.load(load_of(starter_path), nothing)
            other = PromptMessage("user", os.urandom(8).hex())
            await reply_to(shared, request_to(starter_path, other, max_tokens=1))
            return await scenario(shared)

        return runner.run(main())

    return run_shared
