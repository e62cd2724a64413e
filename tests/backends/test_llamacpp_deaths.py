"""Workers that die, hang, or lose their application, with the real starter model."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from engine.errors import (
    BackendSilent,
    WorkerDied,
)
from tests.backends.llamacpp_talk import (
    CAPITAL,
    SYSTEM,
    TALE,
    failing,
    load_of,
    nothing,
    reply_to,
    request_to,
    run,
)

pytestmark = pytest.mark.model
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("number", "words"),
    [(signal.SIGKILL, "was killed"), (signal.SIGABRT, "crashed (SIGABRT)")],
)
def test_a_worker_that_dies_ends_the_reply_and_is_replaced(starter_path, number, words):
    """What was written is kept by the consumer; the next request works; no zombie is left."""

    async def scenario(backend):
        request = request_to(starter_path, TALE, max_tokens=500)
        await backend.load(load_of(starter_path), nothing)
        pid = backend.worker_pid
        fault, partial = await failing(backend, request, WorkerDied, lambda: os.kill(pid, number))
        gone = not psutil.pid_exists(pid)
        reply = await reply_to(backend, request_to(starter_path, SYSTEM, CAPITAL))
        return fault, partial.text, gone, reply

    fault, text, gone, reply = run(scenario)
    assert words in fault.sentence
    assert fault.sentence.count(".") - fault.sentence.count("llama.cpp") == 1
    assert text
    assert gone
    assert "Paris" in reply.text


def test_a_worker_that_hangs_is_given_up(starter_path):
    """Silence beyond the limit is a typed failure; the hung process is gone afterwards."""

    async def scenario(backend):
        request = request_to(starter_path, TALE, max_tokens=500)
        await backend.load(load_of(starter_path), nothing)
        pid = backend.worker_pid
        await failing(backend, request, BackendSilent, lambda: os.kill(pid, signal.SIGSTOP))
        reply = await reply_to(backend, request_to(starter_path, SYSTEM, CAPITAL))
        return pid, reply

    pid, reply = run(scenario, silence_seconds=2.5)
    assert not psutil.pid_exists(pid)
    assert "Paris" in reply.text


def test_a_worker_ends_with_its_application(starter_path):
    """When the application is killed in the middle of a reply, its worker ends by itself."""
    application = subprocess.Popen(
        [sys.executable, "-m", "tests.backends.llamacpp_application", str(starter_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    with application:
        assert application.stdout is not None
        worker = psutil.Process(int(application.stdout.readline()))
        application.kill()
    try:
        worker.wait(timeout=10)
    except psutil.TimeoutExpired:  # ended, but on a machine where nobody buries orphans
        assert worker.status() == psutil.STATUS_ZOMBIE


def test_closing_leaves_no_process(starter_path):
    """After close, twice, nothing of the worker is left."""

    async def scenario(backend):
        await backend.load(load_of(starter_path), nothing)
        pid = backend.worker_pid
        await backend.close()
        await backend.close()
        return pid

    assert not psutil.pid_exists(run(scenario))
