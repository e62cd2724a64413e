"""The llama.cpp backend with the real starter model: replies, reuse, stops, stretching."""

import asyncio
import os
from itertools import pairwise

import pytest

from engine.backends.base import Loading, PromptMessage, Sampling, TextChunk
from engine.errors import (
    ContextOverflow,
)
from tests.backends.llamacpp_talk import (
    CAPITAL,
    LONG,
    MEDIUM,
    SYSTEM,
    TALE,
    failing,
    load_of,
    nothing,
    reply_to,
    request_to,
    run,
    trained_on,
    until,
)

pytestmark = pytest.mark.model


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
        await backend.load(load_of(starter_path, 64), nothing)
        request = request_to(starter_path, TALE, window_tokens=64, max_tokens=10_000)
        return await reply_to(backend, request)

    usage = talk(scenario).usage
    assert usage.prompt_tokens + usage.written_tokens == 64


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


# ---- stretching ---------------------------------------------------------------------------------


def test_auto_stretches_in_the_middle_of_a_reply(talk, starter_path, tmp_path):
    """Natively up to the trained window, then once more with YaRN, and the reply goes on."""
    model = trained_on(starter_path, tmp_path / "short.gguf", 64)

    async def scenario(backend):
        loaded = await backend.load(load_of(model, 512, "auto"), nothing)
        native = await reply_to(
            backend, request_to(starter_path, TALE, window_tokens=512, max_tokens=15)
        )
        await backend.load(load_of(model, 512, "auto"), nothing)
        request = request_to(model, TALE, window_tokens=512, max_tokens=45)
        return loaded, native, await reply_to(backend, request)

    loaded, native, reply = talk(scenario)
    assert loaded.window_tokens == 512
    assert loaded.trained_tokens == 64
    assert reply.text.startswith(native.text)
    assert reply.warnings == ["stretched"]
    (place,) = [i for i, chunk in enumerate(reply.chunks) if getattr(chunk, "code", "")]
    words = reply.chunks[place].text
    assert "64" in words
    assert "512" in words
    before = sum(len(getattr(chunk, "ids", ())) for chunk in reply.chunks[:place])
    assert reply.reads[0].total + before == 64 + 1  # the one that would have been at 64
    assert reply.reads[-1].total == 64 + 1
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
