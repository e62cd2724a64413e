"""What usual windows would take of the memory, against figures worked out by hand."""

import pytest

from engine.window import OVERHEAD_BYTES, USUAL_WINDOWS, plan_memory_estimates

# SmolLM2 135M: 30 layers, 3 key and value heads of 64 each, 2 bytes a value:
STARTER_PER_TOKEN = 30 * 3 * (64 + 64) * 2
WEIGHTS = 98_000_000


def test_by_hand():
    """23,040 bytes a token: 377 MB at 16,384, 566 MB at 24,576, 755 MB at 32,768."""
    assert STARTER_PER_TOKEN == 23_040
    rows = plan_memory_estimates(WEIGHTS, STARTER_PER_TOKEN, "f16", None)
    assert [row.window for row in rows] == [16_384, 24_576, 32_768] == list(USUAL_WINDOWS)
    assert [row.context_bytes for row in rows] == [377_487_360, 566_231_040, 754_974_720]
    assert {row.weights_bytes for row in rows} == {WEIGHTS}
    assert {row.work_bytes for row in rows} == {OVERHEAD_BYTES}
    assert rows[0].needed_bytes == WEIGHTS + 377_487_360 + OVERHEAD_BYTES
    assert {row.verdict for row in rows} == {"unknown"}


def test_q8_takes_17_of_32():
    """A block of 32 values is 34 bytes instead of 64."""
    (row,) = plan_memory_estimates(WEIGHTS, STARTER_PER_TOKEN, "q8_0", None, (16_384,))
    assert row.context_bytes == 16_384 * 12_240


@pytest.mark.parametrize(
    ("spare", "verdict"),
    [(-1, "too_large"), (0, "tight"), (20_000_000, "tight"), (1 << 30, "fits")],
)
def test_verdicts(spare, verdict):
    """Up to nine tenths of what is free it fits; up to all of it, just so."""
    needed = WEIGHTS + 16_384 * STARTER_PER_TOKEN + OVERHEAD_BYTES
    (row,) = plan_memory_estimates(WEIGHTS, STARTER_PER_TOKEN, "f16", needed + spare, (16_384,))
    assert row.verdict == verdict


@pytest.mark.parametrize(("weights", "per_token"), [(0, 23_040), (WEIGHTS, 0), (WEIGHTS, -1)])
def test_what_is_not_known_is_not_judged(weights, per_token):
    """Neither fits nor too large."""
    (row,) = plan_memory_estimates(weights, per_token, "f16", 1 << 40, (16_384,))
    assert row.verdict == "unknown"


def test_a_window_is_rounded_up_as_llama_cpp_does():
    """To 256 tokens."""
    (row,) = plan_memory_estimates(WEIGHTS, 10, "f16", None, (16_000,))
    assert row.context_bytes == 16_128 * 10  # 63 × 256
    (row,) = plan_memory_estimates(WEIGHTS, 10, "f16", None, (16_129,))
    assert row.context_bytes == 16_384 * 10
