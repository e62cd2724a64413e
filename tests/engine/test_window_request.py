"""What is requested, what fits, what is believed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import MemoryShort
from engine.window import (
    OVERHEAD_BYTES,
    Claim,
    ContextWindow,
    kv_bytes,
    memory_short,
    plan_guard,
    plan_memory,
    plan_stretch,
    plan_window_request,
    resolve_window,
    settle_window,
)

MIB = 1024 * 1024
STARTER_KV = 23_040  # bytes a token, f16: 30 layers, 3 heads, 64 + 64 dimensions, 2 bytes
STARTER_WEIGHTS = 92 * MIB


def starter(option=None):
    return resolve_window(
        option=option,
        manifest=16_384,
        model=Claim(None, 8192),
        cap_tokens=32_768,
        trained_tokens=8192,
    )


# ---- request ------------------------------------------------------------------------------------


def test_starter_is_requested_as_its_manifest_says():
    """The starter: 16,384 requested, stretched when needed, both figures said."""
    plan = plan_window_request(starter(), stretch="auto")
    assert (plan.window.tokens, plan.window.requested) == (16_384, 16_384)
    assert plan.stretch == "auto"
    (note,) = plan.notes
    assert "16,384 tokens, trained on 8,192" in note
    assert "past 8,192" in note


def test_starter_at_its_trained_window_is_blocked():
    """--window 8192 needs no stretching and is refused by the guard."""
    plan = plan_window_request(starter(option=8192), stretch="auto")
    assert (plan.stretch, plan.notes) == ("off", ())
    assert plan_guard(plan.window.tokens).block
    assert plan.window.source == "option"


def test_default_cap():
    """A model with a large window is asked for 32,768."""
    plan = plan_window_request(ContextWindow(131_072, "model", trained=131_072))
    assert plan.window.requested == 32_768
    assert plan.window.source == "agentContextTokens"
    assert plan.notes == ()


@pytest.mark.parametrize("resolved_under", [32_768, None], ids=["at resolution", "at request"])
def test_capped_wish_is_told(resolved_under):
    """A wish the cap holds down is not lowered in silence, wherever the cap is applied."""
    window = resolve_window(option=65_536, model=Claim(131_072), cap_tokens=resolved_under)
    plan = plan_window_request(window)
    (note,) = plan.notes
    assert "32,768 tokens and not 65,536" in note
    assert "context.cap_tokens" in note
    assert plan.window.source == "agentContextTokens"


def test_memory_lowers_the_window():
    """What does not fit is not requested, and is told."""
    window = ContextWindow(32_768, "model", trained=32_768)
    plan = plan_window_request(window, memory_tokens=20_224)
    assert (plan.window.requested, plan.window.source) == (20_224, "memory")
    (note,) = plan.notes
    assert "20,224 tokens and not 32,768" in note


def test_memory_below_the_trained_window_needs_no_stretch():
    """When memory allows less than the model was trained on, nothing is stretched."""
    plan = plan_window_request(starter(), stretch="yarn", memory_tokens=4096)
    assert plan.stretch == "off"
    assert len(plan.notes) == 1


def test_no_memory_at_all_is_blocked():
    """A window of nothing never passes as an unknown one."""
    plan = plan_window_request(starter(), memory_tokens=0)
    assert plan_guard(plan.window.tokens).block


def test_unstretched_window_is_clamped_once():
    """Stretching off: the trained window is requested, and one sentence says so."""
    plan = plan_window_request(starter(), stretch="off")
    assert (plan.window.requested, plan.window.source) == (8192, "trained")
    assert len(plan.notes) == 1


WINDOWS = st.builds(
    ContextWindow,
    st.integers(1, 2**21),
    st.sampled_from(["option", "modelsConfig", "model"]),
    trained=st.integers(0, 2**21),
)
STRETCHES = st.sampled_from(["off", "auto", "yarn"])


@given(WINDOWS, STRETCHES, st.none() | st.integers(1, 2**21), st.none() | st.integers(1, 2**21))
def test_request_is_the_least_of_all(window, stretch, cap, memory):
    """The request is the smallest of resolved, trained (unless stretched), cap and memory."""
    plan = plan_window_request(window, stretch=stretch, cap_tokens=cap, memory_tokens=memory)
    limits = [window.tokens, cap, memory, window.trained if stretch == "off" else None]
    least = min(limit for limit in limits if limit)
    assert plan.window.tokens == plan.window.requested == least
    assert (plan.window.source == window.source) == (least == window.tokens)
    stretched = stretch if 0 < window.trained < least else "off"
    assert plan.stretch == stretched


@given(WINDOWS, STRETCHES, st.integers(1, 2**21), st.integers(1, 2**21))
def test_more_memory_never_means_a_smaller_window(window, stretch, one, other):
    """The request grows with memory."""
    small, large = (
        plan_window_request(window, stretch=stretch, memory_tokens=memory).window.tokens
        for memory in sorted((one, other))
    )
    assert small <= large


# ---- stretch ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("mode", "figure"), [("auto", "past 8,192"), ("yarn", "past 8,192")])
def test_stretch_says_both_figures(mode, figure):
    """A stretched window names both figures and what happens past the trained one."""
    plan = plan_stretch(ContextWindow(16_384, "manifest", trained=8192), mode)
    assert (plan.mode, plan.factor, plan.window.tokens) == (mode, 2.0, 16_384)
    assert "16,384 tokens, trained on 8,192" in plan.sentence
    assert figure in plan.sentence


def test_stretch_off_clamps():
    """Without stretching the trained window is all there is, and that is said."""
    plan = plan_stretch(ContextWindow(16_384, "modelsConfig", trained=8192), "off")
    assert (plan.mode, plan.factor) == ("off", 1.0)
    assert (plan.window.tokens, plan.window.source) == (8192, "trained")
    assert "8,192 tokens and not 16,384" in plan.sentence


@pytest.mark.parametrize("mode", ["off", "auto", "yarn"])
@pytest.mark.parametrize("trained", [0, 16_384, 131_072], ids=["unknown", "equal", "larger"])
def test_nothing_to_stretch(mode, trained):
    """A window within the trained one, or of a model that does not say, stands as it is."""
    window = ContextWindow(16_384, "model", trained=trained)
    plan = plan_stretch(window, mode)
    assert (plan.window, plan.mode, plan.factor, plan.sentence) == (window, "off", 1.0, "")


# ---- memory -------------------------------------------------------------------------------------


def test_starter_memory():
    """The starter at 16,384: weights, 360 MiB of cache and the overhead."""
    plan = plan_memory(STARTER_WEIGHTS, STARTER_KV, 16_384, 4096 * MIB)
    assert plan.needed_bytes == STARTER_WEIGHTS + 360 * MIB + OVERHEAD_BYTES
    assert plan.fits


def test_largest_window_fits_exactly():
    """The largest window fits, the next one does not."""
    available = STARTER_WEIGHTS + OVERHEAD_BYTES + STARTER_KV * 20_000
    largest = plan_memory(STARTER_WEIGHTS, STARTER_KV, 32_768, available).largest_window
    assert largest == 19_968  # the multiple of 256 below 20,000
    assert plan_memory(STARTER_WEIGHTS, STARTER_KV, largest, available).fits
    assert not plan_memory(STARTER_WEIGHTS, STARTER_KV, largest + 1, available).fits


def test_weights_alone_do_not_fit():
    """A model whose weights are too large has no window at all."""
    plan = plan_memory(STARTER_WEIGHTS, STARTER_KV, 16_384, STARTER_WEIGHTS)
    assert (plan.fits, plan.largest_window) == (False, 0)
    fault = memory_short("llama.cpp:/m.gguf", plan, STARTER_WEIGHTS)
    assert isinstance(fault, MemoryShort)
    assert "0.7 GB" in fault.sentence
    assert "0.1 GB are free" in fault.sentence


def test_unknown_memory_and_cost():
    """What the machine or the model does not say does not lower the window."""
    assert plan_memory(STARTER_WEIGHTS, STARTER_KV, 16_384, None).largest_window is None
    unknown_cost = plan_memory(STARTER_WEIGHTS, 0, 16_384, 4096 * MIB)
    assert (unknown_cost.fits, unknown_cost.largest_window) == (True, None)


def test_a_million_tokens_are_refused_before_they_are_made():
    """The window that filled 23 GB of memory until it was killed is found by arithmetic."""
    assert not plan_memory(STARTER_WEIGHTS, STARTER_KV, 1_000_000, 16 * 1024 * MIB).fits


def test_q8_0_costs_about_half():
    """The low-memory cache: 34 bytes for what takes 64."""
    assert kv_bytes(STARTER_KV, "f16") == STARTER_KV
    assert kv_bytes(STARTER_KV, "q8_0") == 12_240
    assert kv_bytes(1, "q8_0") == 1


SIZES = st.integers(0, 2**40)


@given(SIZES, st.integers(1, 2**20), st.integers(1, 2**21), SIZES)
def test_memory_plan_agrees_with_itself(weights, per_token, window, available):
    """A window fits exactly when it is no larger than the largest one that does."""
    plan = plan_memory(weights, per_token, window, available)
    padded = -(-window // 256) * 256
    assert plan.fits == (padded <= plan.largest_window)
    if plan.largest_window:
        assert plan_memory(weights, per_token, plan.largest_window, available).fits


@given(SIZES, st.integers(1, 2**20), SIZES, SIZES)
def test_largest_window_grows_with_memory(weights, per_token, one, other):
    """More memory never allows less."""
    small, large = (
        plan_memory(weights, per_token, 1, available).largest_window
        for available in sorted((one, other))
    )
    assert small <= large


# ---- settle -------------------------------------------------------------------------------------

REQUESTED = ContextWindow(16_384, "model", requested=16_384, trained=32_768)


def test_loaded_as_requested():
    """What was asked for was loaded: nothing to say."""
    plan = settle_window(REQUESTED, 16_384)
    assert (plan.window.tokens, plan.window.loaded, plan.window.per_slot) == (16_384,) * 3
    assert (plan.window.source, plan.notes) == ("model", ())


def test_less_was_loaded():
    """Fewer tokens than requested: they count, and it is said."""
    plan = settle_window(REQUESTED, 4096)
    assert (plan.window.tokens, plan.window.source) == (4096, "loaded")
    assert plan.window.requested == 16_384
    (note,) = plan.notes
    assert "16,384 tokens were asked for and 4,096 were loaded" in note
    assert plan_guard(plan.window.tokens).block


def test_window_split_between_slots():
    """A window shared by two conversations counts half for each, and is judged by that."""
    plan = settle_window(REQUESTED, 16_384, slots=2)
    assert (plan.window.tokens, plan.window.loaded, plan.window.per_slot) == (8192, 16_384, 8192)
    assert "16,384 shared by 2 conversations" in plan.notes[0]
    assert plan_guard(plan.window.tokens).block


def test_more_was_loaded():
    """A larger window than requested does not change what every request asks for."""
    plan = settle_window(REQUESTED, 32_768)
    assert (plan.window.tokens, plan.window.requested) == (16_384, 16_384)
    assert (plan.window.loaded, plan.notes) == (32_768, ())


@pytest.mark.parametrize("loaded", [0, -1, None])
def test_unknown_load(loaded):
    """A backend that cannot tell leaves the request standing."""
    plan = settle_window(REQUESTED, loaded)
    assert (plan.window.tokens, plan.window.loaded, plan.notes) == (16_384, 0, ())


@given(WINDOWS, st.integers(1, 2**21), st.integers(1, 8))
def test_settled_window_is_never_larger(window, loaded, slots):
    """After loading, the window is the smaller of asked and got, and told exactly when smaller."""
    requested = plan_window_request(window).window
    plan = settle_window(requested, loaded, slots)
    share = max(1, loaded // slots)
    assert plan.window.tokens == min(requested.requested, share)
    assert bool(plan.notes) == (plan.window.tokens < requested.requested)
