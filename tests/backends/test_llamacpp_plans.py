"""The worker's pure decisions: memory, stretching, threads, which stored ids spell a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.backends.llamacpp import plan_threads
from engine.backends.llamacpp_worker.memory import memory_short, plan_memory
from engine.backends.llamacpp_worker.stretch import must_stretch, plan_change, plan_stretch
from engine.backends.llamacpp_worker.tokenizing import plan_spelling

GIB = 2**30


def test_ten_million_tokens_are_refused_with_the_figures():
    """What is needed, what is free and the largest window that fits are all said."""
    plan = plan_memory(
        available_bytes=8 * GIB,
        weights_bytes=GIB // 10,
        kv_bytes_per_token=23_040,
        window_tokens=10_000_000,
    )
    fault = memory_short(plan, 10_000_000)
    assert not plan.fits
    assert "10,000,000 tokens needs 214.9 GB" in fault.sentence
    assert "8.0 GB are free" in fault.sentence
    assert f"{plan.largest_window:,} tokens" in fault.remedy


def test_weights_that_do_not_fit_leave_no_window():
    """With too little memory for the weights no window is offered."""
    plan = plan_memory(
        available_bytes=GIB, weights_bytes=4 * GIB, kv_bytes_per_token=1000, window_tokens=16_384
    )
    assert plan.largest_window == 0
    assert "smaller model" in memory_short(plan, 16_384).remedy


@given(
    available=st.integers(0, 2**40),
    weights=st.integers(0, 2**40),
    kv=st.integers(1, 2**22),
    window=st.integers(1, 2**24),
)
def test_the_largest_window_is_the_border(available, weights, kv, window):
    """The offered window fits, and the next larger one does not."""

    def plan(tokens):
        return plan_memory(
            available_bytes=available,
            weights_bytes=weights,
            kv_bytes_per_token=kv,
            window_tokens=tokens,
        )

    largest = plan(window).largest_window
    assert largest % 256 == 0
    assert largest == 0 or plan(largest).fits
    assert not plan(largest + 256).fits
    if plan(window).fits:
        assert window < largest + 256


def test_an_unstretched_model_gets_its_trained_window():
    """With stretch off the window is clamped; a model trained on more keeps what was asked."""
    assert plan_stretch("off", 8192, 16_384).window_tokens == 8192
    assert plan_stretch("off", 131_072, 16_384).window_tokens == 16_384
    assert plan_stretch("off", 0, 16_384).window_tokens == 16_384
    assert plan_stretch("auto", 8192, 16_384).window_tokens == 16_384


def test_yarn_stretches_from_the_start_and_only_when_needed():
    """The context is made with YaRN at once, unless the model was trained on the window."""
    assert plan_stretch("yarn", 8192, 16_384).starts_stretched
    assert not plan_stretch("yarn", 32_768, 16_384).starts_stretched
    assert not plan_stretch("auto", 8192, 16_384).starts_stretched


@pytest.mark.parametrize(
    ("stretched", "prompt", "reused", "change"),
    [
        (False, 8191, 0, "none"),
        (False, 8192, 8000, "stretch"),
        (True, 9000, 0, "none"),
        (True, 7168, 3583, "return"),
        (True, 7168, 3584, "none"),  # half of it would be reused
        (True, 7169, 0, "none"),  # no room for a reply
        (True, 300, 256, "return"),  # a new conversation: little to read
        (True, 300, 257, "none"),
    ],
)
def test_auto_changes_the_context_before_a_prompt(stretched, prompt, reused, change):
    """It stretches at the trained window and returns when little is lost by it."""
    plan = plan_stretch("auto", 8192, 16_384)
    found = plan_change(plan, stretched=stretched, prompt_tokens=prompt, reused_tokens=reused)
    assert found == change


def test_auto_stretches_in_the_middle_of_a_reply():
    """The first position beyond the trained window is never evaluated natively."""
    plan = plan_stretch("auto", 8192, 16_384)
    assert not must_stretch(plan, stretched=False, position=8191)
    assert must_stretch(plan, stretched=False, position=8192)
    assert not must_stretch(plan, stretched=True, position=8192)
    assert not must_stretch(plan_stretch("yarn", 8192, 16_384), stretched=True, position=9000)


def test_threads_leave_a_core_from_four_on():
    """Small machines use every physical core."""
    assert [plan_threads(cores, 64) for cores in (1, 2, 3, 4, 8)] == [1, 2, 3, 3, 7]
    assert plan_threads(16, 2) == 2


def spelled(pieces, printed, before=b""):
    spelling = plan_spelling(pieces, printed, before)
    return spelling and (spelling.start, spelling.end, spelling.before_bytes)


def test_ids_that_spell_the_text_are_used():
    """A reply printed as it was generated is its ids."""
    assert spelled([b"The", b" cap", b"ital"], b"The capital") == (0, 3, 0)


def test_ids_of_trimmed_ends_are_left_out():
    """A template that trims the reply costs the trimmed tokens only."""
    assert spelled([b" \n", b"Paris", b".", b"\n"], b"Paris.") == (1, 3, 0)


def test_text_inside_a_token_has_no_ids():
    """Where the borders of tokens do not fit, the text is tokenised."""
    assert spelled([b" Paris", b"."], b"Paris.") is None
    assert spelled([b"Paris", b"."], b"Berlin.") is None
    assert spelled([b"Paris"], b"") is None


def test_ids_of_the_thinking_before_are_used_too():
    """Thinking that the template prints as it was generated keeps its ids, tags included."""
    pieces = [b"<think>", b"\n", b"hm", b"\n</think>\n\n", b"Yes", b"."]
    before = b"<|im_start|>assistant\n<think>\nhm\n</think>\n\n"
    assert spelled(pieces, b"Yes.", before) == (0, 6, 21)
    assert spelled(pieces, b"Yes.", b"<|im_start|>assistant\n") == (4, 6, 0)


def test_a_character_split_over_tokens_is_found():
    """Borders are those of tokens, not of characters."""
    assert spelled([b"a", b"\xf0\x9f", b"\x99\x82", b"!"], "🙂!".encode()) == (1, 4, 0)
