"""Fixtures of the backends' tests: one llama.cpp worker for the tests of a module that end nothing."""

import asyncio
import os

import pytest

from engine.backends.base import PromptMessage
from engine.backends.llamacpp import LlamaCppBackend
from tests.backends.llamacpp_talk import load_of, nothing, reply_to, request_to


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
