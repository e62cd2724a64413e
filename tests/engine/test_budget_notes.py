"""When notes for the long memory are due: the M vectors of context-engine.md 8.1, Appendix A 9."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.budget import must_compact, must_save_notes, plan_budget, plan_targets


def threshold_of(window, floor, soft):
    return plan_targets(plan_budget(window, 0, floor), soft_threshold=soft).flush_threshold


@pytest.mark.parametrize(
    ("tokens", "window", "floor", "soft", "due"),
    [
        pytest.param(85, 100, 10, 5, True, id="M1"),
        pytest.param(10_000, 100_000, 20_000, 10_000, False, id="M2"),
        pytest.param(96_000, 100_000, 5_000, 2_000, True, id="M3"),
        pytest.param(7_999, 32_000, 20_000, 4_000, False, id="M7-below"),
        pytest.param(8_000, 32_000, 20_000, 4_000, True, id="M7"),
        pytest.param(1 << 40, 100, 10, 90, False, id="no room"),
    ],
)
def test_notes_are_due_from_the_threshold(tokens, window, floor, soft, due):
    """At the threshold or over it; never where there is none."""
    threshold = threshold_of(window, floor, soft)
    assert must_save_notes(tokens, threshold, compactions=0, saved_at=None) is due


@pytest.mark.parametrize(
    ("compactions", "saved_at", "due"),
    [
        pytest.param(3, 3, False, id="M4"),
        pytest.param(None, None, True, id="M4b-never"),
        pytest.param(None, 0, False, id="M4b-done"),
        pytest.param(4, 3, True, id="next cycle"),
    ],
)
def test_notes_are_due_once_a_cycle(compactions, saved_at, due):
    """A number that was never counted is nought; notes that were never saved are not done."""
    assert must_save_notes(90_000, 80_000, compactions=compactions, saved_at=saved_at) is due


@given(
    window=st.integers(4_096, 1_048_576),
    shares=st.lists(st.floats(0, 1.5), max_size=60),
)
def test_notes_are_saved_at_most_once_a_cycle(window, shares):
    """Appendix A 9: whatever the prompts measure, once at most between two compactions."""
    budget = plan_budget(window)
    threshold = plan_targets(budget).flush_threshold
    cycles, compactions, saved_at = [], 0, None
    for tokens in (int(share * budget.prompt) for share in shares):
        if must_save_notes(tokens, threshold, compactions=compactions, saved_at=saved_at):
            saved_at = compactions
            cycles.append(compactions)
        compactions += must_compact(tokens, budget)
    assert len(cycles) == len(set(cycles))
    assert len(cycles) == 0 or threshold > 0
