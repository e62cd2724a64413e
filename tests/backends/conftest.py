"""Fixtures of the backends' tests: a shared llama.cpp worker, and Ollama servers to compare."""

import asyncio
import os

import pytest

from engine.backends.base import PromptMessage
from engine.backends.llamacpp import LlamaCppBackend
from tests.backends.contract_peer import double_peer, real_peer
from tests.backends.llamacpp_talk import load_of, nothing, reply_to, request_to

SERVER = os.environ.get("PORTHOLE_OLLAMA", "")
MODEL = os.environ.get("PORTHOLE_OLLAMA_MODEL", "")
DOUBLES = {
    "0.3.14": ("0.3.14", "rendered"),
    "0.6.8": ("0.6.8", "rendered"),
    "0.12.11": ("0.12.11", "rendered"),
    "0.24.0": ("0.24.0", "rendered"),
    "0.33.0": ("0.33.0", "rendered"),
    "0.33.0 native": ("0.33.0", "native"),
}


@pytest.fixture(scope="session")
def real():
    """The real Ollama server; asked for only where one is named."""
    if (peer := real_peer(SERVER, MODEL)) is None:
        pytest.skip("the Ollama server has no small model that can chat")
    return peer


@pytest.fixture(params=[*DOUBLES, *(["real"] if SERVER else [])])
def peer(request):
    """One Ollama server after the other, for the contract that all keep."""
    if request.param == "real":
        yield request.getfixturevalue("real")
        return
    with double_peer(*DOUBLES[request.param]) as double:
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
