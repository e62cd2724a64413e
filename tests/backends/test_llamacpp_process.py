"""A worker seen from outside: what is done with one that misbehaves. The workers are small scripts."""

import asyncio
import sys
from contextlib import aclosing

import psutil
import pytest

from engine.backends.llamacpp_process import WorkerProcess
from engine.backends.llamacpp_worker.protocol import decode, encode
from engine.errors import BackendSilent, ContextOverflow, TemplateUnusable, WorkerDied

SAYS = """#!{python}
import json, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
def say(job, **words):
    print(json.dumps(dict(words, job=job)), flush=True)
for line in sys.stdin:
    command = json.loads(line)
    job = command["job"]
    {body}
"""


@pytest.fixture
def script(tmp_path):
    """Makes an executable that answers each command with `body`, in place of an interpreter."""

    def make(body: str) -> str:
        path = tmp_path / "worker"
        path.write_text(SAYS.format(python=sys.executable, body=body))
        path.chmod(0o700)
        return str(path)

    return make


def with_worker(python: str, scenario, **limits):
    """Run a scenario with a worker that is closed afterwards; its process must be gone then."""

    async def main():
        settings = {"silence_seconds": 30.0, "render_seconds": 30.0, **limits}
        worker = await WorkerProcess.start(python, 1, **settings)
        try:
            return await scenario(worker)
        finally:
            await worker.close()
            assert not psutil.pid_exists(worker.pid)

    return asyncio.run(main())


async def all_of(worker, do="stream"):
    async with aclosing(worker.ask(do, {})) as messages:
        return [message["say"] async for message in messages]


def test_a_job_gets_its_own_messages_up_to_its_end(script):
    """What belongs to no job, or follows the end, is not seen; two jobs do not mix."""
    body = """
    for words in ("text", "finished"):
        say(None, say="working")
        say(job, say=words)
    say(job, say="text")
"""

    async def scenario(worker):
        return await asyncio.gather(all_of(worker), all_of(worker))

    assert with_worker(script(body), scenario) == [["text", "finished"]] * 2


def test_a_template_that_never_ends_is_ended(script):
    """The watchdog kills a worker that renders for too long, and says what it was."""

    async def scenario(worker):
        with pytest.raises(TemplateUnusable) as caught:
            await all_of(worker)
        return caught.value, worker.is_usable

    fault, usable = with_worker(script('say(job, say="rendering")'), scenario, render_seconds=0.2)
    assert "chat template" in fault.sentence
    assert not usable


def test_silence_is_a_failure_of_every_job(script):
    """A worker that says nothing is given up, for all who wait for it."""

    async def scenario(worker):
        return await asyncio.gather(all_of(worker), all_of(worker), return_exceptions=True)

    faults = with_worker(script("pass"), scenario, silence_seconds=0.2)
    assert [type(fault) for fault in faults] == [BackendSilent] * 2


class QuickLoop(asyncio.SelectorEventLoop):
    """A loop whose clock can be moved on."""

    ahead = 0.0

    def time(self):
        return super().time() + self.ahead


def test_a_pulse_is_not_silence(script):
    """A worker that says it gets on may take longer than the limit; one that stops may not."""

    async def scenario():
        loop = asyncio.get_running_loop()
        worker = await WorkerProcess.start(
            script("pass"), 1, silence_seconds=30.0, render_seconds=30.0
        )
        job = asyncio.create_task(all_of(worker))
        try:
            for _ in range(9):
                await asyncio.sleep(0)  # the job, or the watch, has its turn
                loop.ahead += 20
                worker.pipe_data_received(1, encode({"say": "working", "job": None}))
            await asyncio.sleep(0)
            waited = not job.done()
            loop.ahead += 31
            return waited, await asyncio.gather(job, return_exceptions=True)
        finally:
            await worker.close()

    with asyncio.Runner(loop_factory=QuickLoop) as runner:
        waited, [fault] = runner.run(scenario())
    assert waited
    assert isinstance(fault, BackendSilent)


def test_a_stop_that_is_not_confirmed_ends_the_worker(script):
    """After the patience is over the worker is killed and not used again."""

    async def scenario(worker):
        messages = worker.ask("stream", {}, patience_seconds=0.1)
        await anext(messages)
        await messages.aclose()
        return worker.is_usable

    assert not with_worker(script('command["do"] == "stream" and say(job, say="text")'), scenario)


def test_a_stop_that_is_confirmed_keeps_the_worker(script):
    """The worker is told, and goes on to the next job."""
    body = 'say(job, say="stopped" if command["do"] == "stop" else "text")'

    async def scenario(worker):
        messages = worker.ask("stream", {})
        await anext(messages)
        await messages.aclose()
        again = worker.ask("stream", {})
        first = await anext(again)
        await again.aclose()
        return worker.is_usable, first["say"]

    assert with_worker(script(body), scenario) == (True, "text")


def test_a_worker_that_does_not_leave_is_ended(script):
    """Closing waits for the process, but not forever."""
    body = 'say(job, say="finished"); signal.pause()'
    assert with_worker(script(body), all_of) == ["finished"]


def test_a_dead_worker_takes_no_job(script):
    """What ended it is said again to whoever asks."""

    async def scenario(worker):
        return [
            *await asyncio.gather(all_of(worker), return_exceptions=True),
            *await asyncio.gather(all_of(worker), return_exceptions=True),
        ]

    first, second = with_worker(script("sys.exit(3)"), scenario)
    assert isinstance(first, WorkerDied)
    assert second is first


def test_a_fault_arrives_with_its_type_and_figures(script):
    """What the worker reports as failed is raised as what it was."""
    body = """
    say(job, say="failed", fault="ContextOverflow", sentence="Too long.", remedy="Cut.",
        facts={"prompt_tokens": 5, "window_tokens": 4})
"""

    async def scenario(worker):
        with pytest.raises(ContextOverflow) as caught:
            await all_of(worker)
        return caught.value, worker.is_usable

    fault, usable = with_worker(script(body), scenario)
    assert (str(fault), fault.prompt_tokens, fault.window_tokens) == ("Too long. Cut.", 5, 4)
    assert usable


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("sys.exit('/a/ggml.c:7: GGML_ASSERT(eps >= 0) failed')", "GGML_ASSERT(eps >= 0) failed"),
        ("sys.exit(3)", "ended by itself (code 3)"),
        ("signal.raise_signal(signal.SIGSEGV)", "crashed (SIGSEGV)"),
        ("signal.raise_signal(signal.SIGKILL)", "was killed"),
        ('sys.stdout.write(\'{"say": "te\'); sys.exit(0)', "ended by itself (code 0)"),
    ],
)
def test_a_death_is_explained(script, body, sentence):
    """The signal or exit code is said, with the last thing the worker wrote about it."""

    async def scenario(worker):
        with pytest.raises(WorkerDied) as caught:
            await all_of(worker)
        return caught.value

    fault = with_worker(script(body), scenario)
    assert sentence in fault.sentence
    assert "/a/" not in fault.sentence


def test_an_interpreter_that_is_missing_is_said(tmp_path):
    """A worker that cannot be started is a typed fault."""
    with pytest.raises(WorkerDied, match="cannot be started"):
        with_worker(str(tmp_path / "none"), all_of)


def test_a_message_is_one_line():
    """Whatever is in a text, a message is a line, and comes back as it was."""
    message = {"say": "text", "job": 1, "text": "a\nb\u2028\x00\ud800🙂"}
    line = encode(message)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert decode(line) == message


def test_the_worker_is_found_from_anywhere(tmp_path, monkeypatch):
    """A folder named like our package in the current directory is not taken for it."""
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "__init__.py").write_text("raise SystemExit('the wrong one')")
    monkeypatch.chdir(tmp_path)

    async def scenario(worker):
        async with aclosing(worker.ask("count", {"request": None})) as messages:
            return [message async for message in messages]

    with pytest.raises(Exception, match="No model is loaded"):
        with_worker(sys.executable, scenario)
