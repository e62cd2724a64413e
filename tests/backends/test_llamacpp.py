"""The llama.cpp backend with the real starter model: replies, reuse, stops, deaths, stretching."""

import asyncio
import os
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import psutil
import pytest

from engine.backends.base import Loaded, Loading, PromptMessage, Sampling, TextChunk
from engine.backends.llamacpp import LlamaCppBackend
from engine.errors import (
    BackendSilent,
    ContextOverflow,
    MemoryShort,
    ModelMissing,
    ModelUnusable,
    TemplateUnusable,
    WorkerDied,
)
from tests.backends.llamacpp_talk import (
    CAPITAL,
    LONG,
    MEDIUM,
    SYSTEM,
    TALE,
    WINDOW,
    failing,
    load_of,
    patched,
    reply_to,
    request_to,
    run,
    trained_on,
    until,
)

pytestmark = pytest.mark.model
ROOT = Path(__file__).resolve().parents[2]


def nothing(_):
    """Progress nobody looks at."""


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


# ---- replies ------------------------------------------------------------------------------------


def test_the_capital_of_france_is_paris(starter_path):
    """The greedy reply names Paris, is the same twice, and its usage and ids add up."""

    async def scenario(backend):
        request = request_to(starter_path, SYSTEM, CAPITAL)
        return [await reply_to(backend, request) for _ in range(2)]

    first, second = run(scenario)
    assert "Paris" in first.text
    assert second.text == first.text
    assert second.ids == first.ids
    assert first.finished.stop_reason == "stop"
    assert first.usage.written_tokens == len(first.ids)
    assert first.usage.load_seconds > 0
    assert isinstance(first.chunks[0], Loading)


def test_a_second_turn_reads_only_what_is_new(talk, starter_path):
    """Everything the first turn left in the cache is reused, the reply by its stored ids."""

    async def scenario(backend):
        loaded = await backend.load(load_of(starter_path), nothing)
        first = await reply_to(backend, request_to(starter_path, SYSTEM, CAPITAL))
        history = (SYSTEM, CAPITAL, first.as_message(loaded.vocabulary))
        again = request_to(starter_path, *history, PromptMessage("user", "And of Italy?"))
        return first, await reply_to(backend, again), await backend.count(again)

    first, second, counted = talk(scenario)
    held = first.usage.prompt_tokens + first.usage.written_tokens
    assert second.usage.reused_tokens == held
    assert second.usage.read_tokens == counted - held
    assert [chunk.reused for chunk in second.reads] == [held] * len(second.reads)


def test_a_count_is_what_a_reply_reads_and_reuses(talk, starter_path):
    """Counting is exact, for a first prompt and for one that is partly held."""

    async def scenario(backend):
        for messages in ((SYSTEM, CAPITAL), (SYSTEM, CAPITAL), (SYSTEM, TALE), (LONG,)):
            request = request_to(starter_path, *messages, max_tokens=1)
            counted = await backend.count(request)
            usage = (await reply_to(backend, request)).usage
            yield counted, usage.prompt_tokens

    async def collect(backend):
        return [pair async for pair in scenario(backend)]

    for counted, prompt in talk(collect):
        assert counted == prompt


def test_reading_is_reported_batch_by_batch(talk, starter_path):
    """A long prompt reports its progress from the reused tokens to all of them."""

    async def scenario(backend):
        return await reply_to(backend, request_to(starter_path, LONG, max_tokens=1))

    reads = talk(scenario).reads
    steps = [chunk.read for chunk in reads]
    assert steps[0] == reads[0].reused
    assert len(steps) > 3
    assert steps[-1] == reads[-1].total
    assert all(0 < after - before <= 128 for before, after in pairwise(steps))


def test_a_reply_ends_at_its_limit(talk, starter_path):
    """`max_tokens` is kept, and the reason says so."""

    async def scenario(backend):
        return await reply_to(backend, request_to(starter_path, TALE, max_tokens=5))

    reply = talk(scenario)
    assert reply.finished.stop_reason == "length"
    assert reply.usage.written_tokens == len(reply.ids) == 5


def test_a_stop_string_ends_a_reply_and_is_not_part_of_it(talk, starter_path):
    """The text ends before the stop string; the ids of everything generated are there."""

    async def scenario(backend):
        greedy = Sampling(temperature=0.0, stop=("France is",))
        request = request_to(starter_path, SYSTEM, CAPITAL, sampling=greedy)
        return await reply_to(backend, request)

    reply = talk(scenario)
    assert reply.finished.stop_reason == "stop"
    assert reply.text == "The capital of "
    assert len(reply.ids) == reply.usage.written_tokens


def test_a_seed_makes_sampling_repeatable(talk, starter_path):
    """The same seed gives the same reply, and the other settings are obeyed with it."""

    async def scenario(backend):
        def warm(seed, **changes):
            sampling = Sampling(temperature=1.2, seed=seed, **changes)
            request = request_to(starter_path, TALE, sampling=sampling, max_tokens=12)
            return reply_to(backend, request)

        same = [(await warm(7)).text for _ in range(2)]
        others = {(await warm(seed)).text for seed in (8, 9, 10)}
        narrow = {(await warm(seed, top_k=1)).text for seed in (8, 9)}
        return same, others, narrow

    same, others, narrow = talk(scenario)
    assert same[0] == same[1]
    assert len(others) == 3
    assert len(narrow) == 1


def test_a_count_need_not_wait_for_a_running_reply(talk, starter_path):
    """Counting is served between two tokens of a reply that goes on."""

    async def scenario(backend):
        request = request_to(starter_path, TALE, max_tokens=60)
        stream = backend.stream(request)
        async for chunk in stream:
            if isinstance(chunk, TextChunk):
                break
        await backend.count(request_to(starter_path, CAPITAL))
        rest = [chunk async for chunk in stream]
        return len(rest)

    assert talk(scenario) > 10


# ---- the prompt's limits ------------------------------------------------------------------------


def test_a_prompt_beyond_the_window_is_refused_with_the_figures(talk, starter_path):
    """Nothing is evaluated: the error comes before any reading, and says both numbers."""

    async def scenario(backend):
        await backend.load(load_of(starter_path, 256), nothing)
        request = request_to(starter_path, LONG, window_tokens=256)
        counted = await backend.count(request)
        return counted, *await failing(backend, request, ContextOverflow)

    counted, fault, reply = talk(scenario)
    assert (fault.prompt_tokens, fault.window_tokens) == (counted, 256)
    assert reply.chunks == []


def test_a_reply_ends_where_the_window_ends(talk, starter_path):
    """Prompt and reply together never pass the window."""

    async def scenario(backend):
        await backend.load(load_of(starter_path, 128), nothing)
        request = request_to(starter_path, TALE, window_tokens=128, max_tokens=10_000)
        return await reply_to(backend, request)

    usage = talk(scenario).usage
    assert usage.prompt_tokens + usage.written_tokens == 128


# ---- stopping -----------------------------------------------------------------------------------


def test_a_stop_while_reading_keeps_what_was_read(talk, starter_path):
    """The same request afterwards reuses the batches that were finished."""

    async def scenario(backend):
        request = request_to(starter_path, LONG, max_tokens=6)
        stopped = await until(backend, request, lambda reply: len(reply.reads) == 3)
        pid = backend.worker_pid
        again = await reply_to(backend, request)
        same_worker = pid == backend.worker_pid
        await backend.load(load_of(starter_path, 1024), nothing)
        return stopped, again, await reply_to(backend, request), same_worker

    stopped, again, fresh, same_worker = talk(scenario)
    assert fresh.usage.reused_tokens == 0
    assert again.ids == fresh.ids
    assert stopped.reads[-1].read < stopped.reads[-1].total
    assert again.usage.reused_tokens >= stopped.reads[-1].read
    assert same_worker


def test_a_stop_while_writing_keeps_what_was_written(talk, starter_path):
    """The next turn reuses prompt and stopped reply, by the ids that came with its text."""

    async def scenario(backend):
        loaded = await backend.load(load_of(starter_path), nothing)
        request = request_to(starter_path, TALE, max_tokens=500)
        stopped = await until(backend, request, lambda reply: len(reply.ids) >= 10)
        history = (TALE, stopped.as_message(loaded.vocabulary), PromptMessage("user", "Go on."))
        return stopped, await reply_to(backend, request_to(starter_path, *history))

    stopped, after = talk(scenario)
    prompt = stopped.reads[-1].total
    assert after.usage.reused_tokens >= prompt + len(stopped.ids) - 1


def test_cancelling_the_task_stops_a_reply(talk, starter_path):
    """A cancelled consumer ends at once and leaves a worker that answers the next request."""

    async def scenario(backend):
        request = request_to(starter_path, LONG, max_tokens=500)
        began = asyncio.Event()

        async def consume():
            async for _ in backend.stream(request):
                began.set()

        task = asyncio.create_task(consume())
        await began.wait()
        pid = backend.worker_pid
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        reply = await reply_to(backend, request_to(starter_path, SYSTEM, CAPITAL))
        return reply, pid == backend.worker_pid

    reply, same_worker = talk(scenario)
    assert "Paris" in reply.text
    assert same_worker


def test_a_stop_while_loading_leaves_a_backend_that_loads(starter_path):
    """Cancelling a load is obeyed, and loading again works."""

    async def scenario(backend):
        began = asyncio.Event()
        load = backend.load(load_of(starter_path), lambda _: began.set())
        task = asyncio.create_task(load)
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await reply_to(backend, request_to(starter_path, SYSTEM, CAPITAL))

    assert "Paris" in run(scenario).text


def test_loading_reports_its_progress(starter_path):
    """Fractions grow to 1."""

    async def scenario(backend):
        fractions = []
        await backend.load(load_of(starter_path), fractions.append)
        return fractions

    fractions = run(scenario)
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0


# ---- deaths -------------------------------------------------------------------------------------


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
    worker.wait(timeout=10)


def test_closing_leaves_no_process(starter_path):
    """After close, twice, nothing of the worker is left."""

    async def scenario(backend):
        await backend.load(load_of(starter_path), nothing)
        pid = backend.worker_pid
        await backend.close()
        await backend.close()
        return pid

    assert not psutil.pid_exists(run(scenario))


# ---- loading ------------------------------------------------------------------------------------


def test_loading_again_is_free_and_another_window_keeps_the_worker(talk, starter_path):
    """The same request returns at once; a new window makes only the context anew."""

    async def scenario(backend):
        first = await backend.load(load_of(starter_path), nothing)
        fractions = []
        again = await backend.load(load_of(starter_path), fractions.append)
        pid = backend.worker_pid
        wider = await backend.load(load_of(starter_path, 4096), fractions.append)
        return first, again, wider, fractions, pid == backend.worker_pid

    first, again, wider, fractions, same_worker = talk(scenario)
    assert first == again
    assert first == Loaded(WINDOW, 8192, first.vocabulary)
    assert wider == Loaded(4096, 8192, first.vocabulary)
    assert fractions == []
    assert same_worker


def test_a_q8_cache_answers_too(talk, starter_path):
    """The low-memory cache is used, and the reply is still sensible."""

    async def scenario(backend):
        await backend.load(replace(load_of(starter_path), kv_type="q8_0"), nothing)
        return await reply_to(backend, request_to(starter_path, SYSTEM, CAPITAL))

    assert "Paris" in talk(scenario).text


def test_a_window_beyond_the_memory_is_refused(talk, starter_path):
    """Ten million tokens are refused with figures, and the backend still works."""

    async def scenario(backend):
        with pytest.raises(MemoryShort) as caught:
            await backend.load(load_of(starter_path, 10_000_000, "auto"), nothing)
        await backend.load(load_of(starter_path), nothing)
        return caught.value

    fault = talk(scenario)
    assert "10,000,000 tokens" in fault.sentence
    assert "largest window that fits" in fault.remedy


BAD_FILES = {
    "missing": (lambda path, _: None, ModelMissing),
    "folder": (lambda path, _: path.mkdir(), ModelMissing),
    "empty": (lambda path, _: path.write_bytes(b""), ModelUnusable),
    "random": (lambda path, _: path.write_bytes(os.urandom(4096)), ModelUnusable),
    "half": (
        lambda path, whole: path.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2]),
        ModelUnusable,
    ),
    "epsilon": (
        lambda path, whole: patched(
            whole, path, b"llama.attention.layer_norm_rms_epsilon", b"\x00\x00\xc0\x7f"
        ),
        ModelUnusable,
    ),
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_bad_file_is_one_clear_sentence(talk, starter_path, tmp_path, kind):
    """Loading and describing it say why; a good model loaded before stays loaded."""
    make, expected = BAD_FILES[kind]
    bad = tmp_path / "bad.gguf"
    make(bad, starter_path)

    async def scenario(backend):
        with pytest.raises(expected) as described:
            await backend.describe(str(bad))
        with pytest.raises(expected) as loaded:
            await backend.load(load_of(bad), nothing)
        return described.value, loaded.value

    for fault in talk(scenario):
        assert fault.sentence.endswith(".")
        assert "bad.gguf" in fault.sentence
        assert "Traceback" not in str(fault)


def test_a_model_llama_cpp_refuses_says_why(talk, starter_path, tmp_path):
    """The reason comes from llama.cpp's own log; the worker that refused it loads another."""
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(
        starter_path.read_bytes().replace(b"blk.3.attn_k.weight", b"blk.3.attn_x.weight")
    )

    async def scenario(backend):
        with pytest.raises(ModelUnusable) as caught:
            await backend.load(load_of(bad), nothing)
        pid = backend.worker_pid
        await backend.load(load_of(starter_path), nothing)
        return caught.value, pid == backend.worker_pid

    fault, same_worker = talk(scenario)
    assert "tensor 'blk.3.attn_k.weight' not found" in fault.sentence
    assert same_worker


def test_a_library_that_cannot_be_loaded_is_said(starter_path, tmp_path, monkeypatch):
    """A llama_cpp without its native library is as good as none."""
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", str(tmp_path))

    async def scenario(backend):
        with pytest.raises(ModelUnusable) as caught:
            await backend.load(load_of(starter_path), nothing)
        return caught.value

    fault = run(scenario)
    assert "llama.cpp is not installed" in fault.sentence
    assert "packaging/run" in fault.remedy


def test_a_broken_template_is_said_before_anything_is_loaded(starter_path, tmp_path):
    """A template that does not compile is a typed fault of its own."""
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(starter_path.read_bytes().replace(b"{% for message in", b"{% fox message in"))

    async def scenario(backend):
        fractions = []
        with pytest.raises(TemplateUnusable) as caught:
            await backend.load(load_of(bad), fractions.append)
        return caught.value, fractions

    fault, fractions = run(scenario)
    assert "chat template" in fault.sentence
    assert fractions == []


def test_a_repaired_template_is_told_once(starter_path, tmp_path):
    """A model without a template answers by the common form, and says so with its first reply."""
    bare = tmp_path / "bare.gguf"
    whole = starter_path.read_bytes()
    bare.write_bytes(whole.replace(b"tokenizer.chat_template", b"tokenizer.chat_templat_"))

    async def scenario(backend):
        return [await reply_to(backend, request_to(bare, SYSTEM, CAPITAL)) for _ in range(2)]

    first, second = run(scenario)
    assert first.warnings == ["template_repaired"]
    assert second.warnings == []
    assert "Paris" in first.text


def test_a_bad_model_does_not_cost_the_good_one(talk, starter_path, tmp_path):
    """A file that cannot be loaded leaves the loaded model where it is."""

    async def scenario(backend):
        await backend.load(load_of(starter_path), nothing)
        pid = backend.worker_pid
        with pytest.raises(ModelMissing):
            await backend.load(load_of(tmp_path / "missing.gguf"), nothing)
        fractions = []
        await backend.load(load_of(starter_path), fractions.append)
        return fractions, pid == backend.worker_pid

    assert talk(scenario) == ([], True)


def test_a_description_comes_from_the_header(starter_path):
    """Architecture, trained window, sizes and template are known without loading anything."""

    async def scenario(backend):
        return await backend.describe(str(starter_path)), backend.worker_pid

    info, pid = run(scenario)
    assert (info.architecture, info.trained_window) == ("llama", 8192)
    assert info.kv_bytes_per_token == 23_040
    assert info.weights_bytes == starter_path.stat().st_size
    assert "<|im_start|>" in info.template
    assert pid is None


def test_a_template_says_what_it_can(talk, starter_path):
    """The template is tried out in the worker, beside the loaded model."""

    async def scenario(backend):
        pid = backend.worker_pid
        return await backend.template_limits(str(starter_path)), pid == backend.worker_pid

    limits, same_worker = talk(scenario)
    assert limits["system_role"]
    assert limits["error"] == ""
    assert not limits["thinking"]
    assert same_worker


def test_models_are_found_in_folders(tmp_path):
    """GGUF files a few levels deep are listed with their sizes; additions and parts are not."""
    for name in ("b.gguf", "a/a.GGUF", "a/mmproj-x.gguf", "s-00001-of-00002.gguf"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x" * 10)
    (tmp_path / "s-00002-of-00002.gguf").write_bytes(b"x" * 5)
    (tmp_path / "notes.txt").write_text("x")

    async def scenario(backend):
        return await backend.list_models()

    found = run(scenario, folders=(tmp_path, tmp_path / "a", tmp_path / "missing"))
    assert [(Path(model.name).name, model.size_bytes) for model in found] == [
        ("a.GGUF", 10),
        ("b.gguf", 10),
        ("s-00001-of-00002.gguf", 15),
    ]


def test_without_llama_cpp_every_call_says_so():
    """One sentence and what to do, from an interpreter that has no llama_cpp."""
    program = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from engine.backends.base import LoadRequest, PromptRequest
from engine.backends.llamacpp import LlamaCppBackend
from engine.errors import EnvironmentFault

async def main():
    backend = LlamaCppBackend()
    prompt = PromptRequest("m", (), 16384, 10)
    async def stream():
        async for _ in backend.stream(prompt): pass
    calls = (backend.list_models(), backend.describe("m"), backend.count(prompt), stream(),
             backend.load(LoadRequest("m", 16384), print))
    for call in calls:
        try:
            await call
        except EnvironmentFault as fault:
            print(fault)

asyncio.run(main())
"""
    command = [sys.executable, "-I", "-S", "-c", program, str(ROOT)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = said.splitlines()
    assert len(lines) == 5
    assert all("llama.cpp is not installed" in line for line in lines)
    assert all("packaging/run" in line for line in lines)


# ---- stretching ---------------------------------------------------------------------------------


def test_auto_stretches_in_the_middle_of_a_reply(talk, starter_path, tmp_path):
    """Natively up to the trained window, then once more with YaRN, and the reply goes on."""
    model = trained_on(starter_path, tmp_path / "short.gguf", 128)

    async def scenario(backend):
        loaded = await backend.load(load_of(model, 512, "auto"), nothing)
        native = await reply_to(
            backend, request_to(starter_path, TALE, window_tokens=512, max_tokens=40)
        )
        await backend.load(load_of(model, 512, "auto"), nothing)
        request = request_to(model, TALE, window_tokens=512, max_tokens=110)
        return loaded, native, await reply_to(backend, request)

    loaded, native, reply = talk(scenario)
    assert loaded.window_tokens == 512
    assert loaded.trained_tokens == 128
    assert reply.text.startswith(native.text)
    assert reply.warnings == ["stretched"]
    (place,) = [i for i, chunk in enumerate(reply.chunks) if getattr(chunk, "code", "")]
    words = reply.chunks[place].text
    assert "128" in words
    assert "512" in words
    before = sum(len(getattr(chunk, "ids", ())) for chunk in reply.chunks[:place])
    assert reply.reads[0].total + before == 128 + 1  # the one that would have been at 128
    assert reply.reads[-1].total == 128 + 1
    assert reply.usage.written_tokens == len(reply.ids) > before + 10


def test_auto_returns_when_a_short_prompt_comes(talk, starter_path, tmp_path):
    """A prompt beyond the trained window stretches at once; a short one runs natively again."""
    model = trained_on(starter_path, tmp_path / "short.gguf", 64)

    async def scenario(backend):
        await backend.load(load_of(model, 512, "auto"), nothing)
        for messages in ((MEDIUM,), (SYSTEM, CAPITAL), (SYSTEM, CAPITAL)):
            yield await reply_to(backend, request_to(model, *messages))

    async def collect(backend):
        return [reply async for reply in scenario(backend)]

    long, short, again = talk(collect)
    assert [reply.warnings for reply in (long, short, again)] == [["stretched"], ["reloaded"], []]
    assert "Paris" in short.text
    assert again.usage.reused_tokens > 0


def test_yarn_stretches_from_the_start_and_off_never(talk, starter_path, tmp_path):
    """Without leave to stretch the trained window is the window, and it is not passed."""
    model = trained_on(starter_path, tmp_path / "short.gguf", 64)

    async def scenario(backend):
        yarn = await backend.load(load_of(model, 512, "yarn"), nothing)
        stretched = await reply_to(backend, request_to(model, MEDIUM, max_tokens=2))
        off = await backend.load(load_of(model, 512, "off"), nothing)
        full = await reply_to(backend, request_to(model, TALE, max_tokens=512))
        with pytest.raises(ContextOverflow) as caught:
            await reply_to(backend, request_to(model, LONG))
        return yarn, stretched, off, full, caught.value

    yarn, stretched, off, full, fault = talk(scenario)
    assert yarn.window_tokens == 512
    assert stretched.warnings == []
    assert off.window_tokens == fault.window_tokens == 64
    assert full.usage.prompt_tokens + full.usage.written_tokens == 64


# ---- the prefix cache on the disk ---------------------------------------------------------------


def test_a_kept_prefix_is_not_read_again(starter_path, tmp_path):
    """Another process continues a conversation and reads only the new tokens."""
    file = tmp_path / "prefix"

    async def talk(backend):
        loaded = await backend.load(load_of(starter_path), nothing)
        first = await reply_to(backend, request_to(starter_path, SYSTEM, CAPITAL))
        assert await backend.save_prefix(file)
        return first, (SYSTEM, CAPITAL, first.as_message(loaded.vocabulary))

    first, history = run(talk)
    question = PromptMessage("user", "And of Italy?")

    async def go_on(backend):
        await backend.load(load_of(starter_path), nothing)
        assert await backend.restore_prefix(file)
        return await reply_to(backend, request_to(starter_path, *history, question))

    async def stay(backend):
        await backend.load(load_of(starter_path), nothing)
        await reply_to(backend, request_to(starter_path, SYSTEM, CAPITAL))
        return await reply_to(backend, request_to(starter_path, *history, question))

    later, stayed = run(go_on), run(stay)
    held = first.usage.prompt_tokens + first.usage.written_tokens
    assert later.usage.reused_tokens == held
    assert later.text == stayed.text
    assert file.stat().st_mode & 0o077 == 0


def test_a_prefix_of_something_else_is_refused(starter_path, tmp_path):
    """Another window, another model, damage or absence: refused, and replies still come."""
    file, other = tmp_path / "prefix", trained_on(starter_path, tmp_path / "other.gguf", 8191)

    async def scenario(backend):
        assert not await backend.save_prefix(file)  # nothing is loaded
        await backend.load(load_of(starter_path), nothing)
        assert not await backend.save_prefix(file)  # nothing is held
        await reply_to(backend, request_to(starter_path, CAPITAL, max_tokens=2))
        assert await backend.save_prefix(file)
        assert not await backend.save_prefix(tmp_path / "missing" / "prefix")
        whole = file.read_bytes()
        damaged = {
            "absent": None,
            "empty": b"",
            "cut": whole[:-1],
            "flipped": whole[:-1000] + bytes([whole[-1000] ^ 1]) + whole[-999:],
            "foreign": os.urandom(5000),
        }
        restored = {}
        for name, data in damaged.items():
            path = tmp_path / name
            if data is not None:
                path.write_bytes(data)
            restored[name] = await backend.restore_prefix(path)
        await backend.load(load_of(starter_path, 4096), nothing)
        restored["window"] = await backend.restore_prefix(file)
        await backend.load(load_of(other), nothing)
        restored["model"] = await backend.restore_prefix(file)
        await backend.load(load_of(starter_path), nothing)
        restored["whole"] = await backend.restore_prefix(file)
        return restored, await reply_to(backend, request_to(starter_path, SYSTEM, CAPITAL))

    restored, reply = run(scenario)
    assert restored.pop("whole")
    assert not any(restored.values())
    assert "Paris" in reply.text
