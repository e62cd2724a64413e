"""What may be sent to a server that cuts in silence: the largest figure an estimate may stand for."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.caution import MOST_UNDERCOUNT, fits, most_tokens, plan_limit, with_ceiling
from engine.context import MIN_REPLY_TOKENS, ContextSettings, plan_view
from engine.folding import unsendable
from engine.tokens import UNCALIBRATED, Calibration, Count

WINDOW = 16_384
KNOWN = Calibration(1.4)
tokens = st.integers(0, 3 * WINDOW)


def view_of(size, kind="estimated"):
    return plan_view([], {}, Count(size, kind), WINDOW, ContextSettings())


@given(tokens, st.sampled_from(["estimated", "anchored"]))
def test_an_unknown_tokenizer_may_need_twice_the_estimate(size, kind):
    """Prompt and shortest reply fit the window, less a token, even if the estimate was half of it."""
    view = with_ceiling(view_of(size, kind), UNCALIBRATED)
    assert fits(view) == (MOST_UNDERCOUNT * size + 1 + MIN_REPLY_TOKENS <= WINDOW)
    assert most_tokens(view) == MOST_UNDERCOUNT * size + 1


@given(tokens)
def test_a_known_one_needs_a_little_more(size):
    """Once a prompt was counted, one token in 25 is enough, and the last of the window stays free."""
    view = with_ceiling(view_of(size), KNOWN)
    assert most_tokens(view) == size + size // 25 + 1


@given(st.integers(2_000, 262_144), st.integers(0, 30_000), st.sampled_from([UNCALIBRATED, KNOWN]))
def test_what_the_budget_allows_is_sent(window, reserve, calibration):
    """So that folding to the budget is enough; the window itself stays what it is."""
    settings = ContextSettings(reserve_tokens=reserve, reserve_floor=0)
    before = plan_view([], {}, Count(100, "estimated"), window, settings).budget
    budget = with_ceiling(
        plan_view([], {}, Count(100, "estimated"), window, settings), calibration
    ).budget
    assert budget.prompt <= before.prompt
    assert (budget.window, budget.prompt + budget.reserve) == (window, window)
    full = plan_view([], {}, Count(budget.prompt, "estimated"), window, settings)
    assert fits(with_ceiling(full, calibration))


@given(tokens)
def test_without_a_ceiling_an_estimate_is_believed(size):
    """A server that refuses is sent what seems to fit; the reply leaves one token in 25 alone."""
    view = view_of(size)
    assert fits(view) == (size + MIN_REPLY_TOKENS <= WINDOW)
    assert most_tokens(view) == size + size // 25
    assert most_tokens(view_of(size, "exact")) == size


@pytest.mark.parametrize(
    ("calibration", "limit"),
    [(UNCALIBRATED, 8_191), (Calibration(0.8), 16_383), (Calibration(2.5), 6_553)],
)
def test_requests_for_summaries_are_smaller(calibration, limit):
    """By plain estimates: as much less as the model is known to need more, or half."""
    assert plan_limit(WINDOW, calibration) == limit


def test_what_is_too_long_is_said_as_ever():
    """A prompt that does not fit by its estimate has nothing to do with the server's age."""
    for view in (view_of(WINDOW), with_ceiling(view_of(WINDOW), UNCALIBRATED)):
        assert "nothing was cut" in unsendable(view).sentence


def test_what_may_be_too_long_says_what_would_help():
    """The figure, the most that is sent, and two ways on."""
    fault = unsendable(with_ceiling(view_of(9_000), UNCALIBRATED))
    assert "about 9,000 tokens was not sent" in fault.sentence
    assert "at most 7,935 are" in fault.sentence
    assert fits(with_ceiling(view_of(7_935), UNCALIBRATED))
    assert not fits(with_ceiling(view_of(7_936), UNCALIBRATED))
    assert "Update the Ollama server" in fault.remedy
    assert (fault.prompt_tokens, fault.window_tokens) == (9_000, WINDOW)


def test_a_known_tokenizer_s_prompt_at_the_edge_is_too_long():
    """Between the estimate and what it may stand for, the usual words hold."""
    edge = WINDOW - MIN_REPLY_TOKENS - 10
    view = with_ceiling(view_of(edge), KNOWN)
    assert not fits(view)
    assert "not known how it counts" not in unsendable(view).sentence
    assert fits(replace(view, ceiling=0))
