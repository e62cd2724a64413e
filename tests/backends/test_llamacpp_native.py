"""The wrappers around llama.cpp, with the starter model: sequences, stops, state."""

import pytest

from engine.backends.base import Sampling
from engine.backends.llamacpp_worker.native import (
    CHAT,
    Context,
    ContextShape,
    Interrupt,
    Model,
    Sampler,
    bindings,
)
from engine.backends.llamacpp_worker.vocabulary import Vocabulary
from engine.errors import Stopped

pytestmark = pytest.mark.model
SUMMARY = 1
GREEDY = Sampling(temperature=0.0)


@pytest.fixture(scope="module")
def model(starter_path):
    """The starter."""
    model = Model(str(starter_path), lambda _: True)
    yield model
    model.close()


@pytest.fixture
def interrupt():
    """The user's stop."""
    return Interrupt()


@pytest.fixture
def context(model, interrupt):
    """A small context."""
    context = Context(model, ContextShape(512, 1), interrupt)
    yield context
    context.close()


@pytest.fixture(scope="module")
def words(model):
    """Two hundred tokens to read."""
    text = b"The keeper of the lighthouse looked at the sea and counted ships. " * 20
    return list(Vocabulary(model).tokenize(text, special=False, first=True)[:200])


def read(context, ids, seq=CHAT):
    return list(context.read(ids, seq))


def next_token(context):
    sampler = Sampler(GREEDY, 49_152, ())
    token = sampler.sample(context)
    sampler.close()
    return token


def test_reading_comes_in_batches(context, words):
    """At most 128 tokens at a time, and the context knows what it holds."""
    assert read(context, words) == [128, 200]
    assert context.held[CHAT] == words
    assert context.shared_prefix([*words[:150], -1]) == 150


def test_two_sequences_do_not_disturb_each_other(context, words):
    """The summary's sequence is read and forgotten; the chat goes on as if it had never been."""
    read(context, words)
    alone = next_token(context)
    read(context, words[:40], SUMMARY)
    assert context.held[SUMMARY] == words[:40]
    assert context.keep(0, SUMMARY) == 0
    assert context.keep(199) == 199
    context.evaluate(words[199:])
    assert next_token(context) == alone


def test_a_stop_leaves_what_was_read_and_the_context_usable(context, interrupt, words):
    """An interrupted batch leaves nothing of itself; reading goes on after it."""
    read(context, words)
    whole = next_token(context)
    context.keep(0)
    steps = context.read(words)
    assert next(steps) == 128
    interrupt.raised = True
    with pytest.raises(Stopped):
        next(steps)
    interrupt.raised = False
    assert context.held[CHAT] == words[:128]
    assert read(context, words[128:]) == [72]
    assert next_token(context) == whole


def test_a_load_stops_when_it_is_told(starter_path):
    """Progress answered with False gives up, and frees what was loaded."""
    seen = []

    def stop_at_second(fraction):
        seen.append(fraction)
        return len(seen) < 2

    with pytest.raises(Stopped):
        Model(str(starter_path), stop_at_second)
    assert len(seen) == 2


def test_a_context_of_a_stretched_model_reads_too(model, interrupt, words):
    """YaRN changes the reply's numbers, not the way of reading."""
    context = Context(model, ContextShape(512, 1, yarn_from=128), interrupt)
    assert read(context, words) == [128, 200]
    assert next_token(context) >= 0
    context.close()


def test_a_seed_that_means_random_cannot_be_asked_for(model, context, words):
    """llama.cpp's mark for "random" given as a seed is an ordinary seed."""
    read(context, words[:20])
    mark = bindings().LLAMA_DEFAULT_SEED

    def sampled():
        sampler = Sampler(
            Sampling(temperature=3.0, top_k=1000, top_p=1.0, min_p=0.0, seed=mark), 49_152, ()
        )
        tokens = [sampler.sample(context) for _ in range(8)]
        sampler.close()
        return tokens

    assert sampled() == sampled()


def test_a_repeat_penalty_counts_what_came_before(context, words):
    """A token that was just said is chosen no more when repeating is made dear."""
    read(context, words[:60])
    likely = next_token(context)
    sampler = Sampler(Sampling(temperature=0.0, repeat_penalty=100.0), 49_152, [likely])
    assert sampler.sample(context) != likely
    sampler.close()
