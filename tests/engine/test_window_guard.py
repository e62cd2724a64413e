"""Whether a window is allowed, and the words for it: every W and H vector."""

import math
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import WindowBlocked
from engine.window import (
    ContextWindow,
    Endpoint,
    Source,
    guard_words,
    is_self_hosted,
    plan_guard,
    source_words,
    suggested_window,
    window_blocked,
)

W_VECTORS = {
    "W1": (0, 0, False, False),
    "W2": (1, 1, True, True),
    "W3": (15_999, 15_999, True, True),
    "W4": (16_000, 16_000, True, False),
    "W5": (16_001, 16_001, True, False),
    "W6": (31_999, 31_999, True, False),
    "W7": (32_000, 32_000, False, False),
    "W8a": (32_001, 32_001, False, False),
    "W8b": (200_000, 200_000, False, False),
    "W9": (-5, 0, False, False),
    "W10": (15_999.9, 15_999, True, True),
    "W11": (16_000.9, 16_000, True, False),
    "W12": (math.nan, 0, False, False),
    "W13": (math.inf, 0, False, False),
}

NOT_ADOPTED = {
    "CHG": "Later limits follow 10 % and 20 % of the model's own window (4,000 and 8,000 at "
    "least), so a 4,000-token window would pass; the specification's 16,000 and 32,000 win."
}


@pytest.mark.parametrize(
    ("tokens", "whole", "warn", "block"), W_VECTORS.values(), ids=W_VECTORS.keys()
)
def test_guard_vector(tokens, whole, warn, block):
    """The specification's verdict; what is no finite number is an unknown window."""
    guard = plan_guard(tokens)
    assert (guard.tokens, guard.warn, guard.block) == (whole, warn, block)


def test_w14_own_limits():
    """W14: limits from the settings count instead."""
    guard = plan_guard(10_000, hard_min=9000, warn_below=12_000)
    assert (guard.warn, guard.block) == (True, False)


def test_limits_are_floored_and_at_least_one():
    """Odd limits: fractions are floored, and a limit below 1 is 1."""
    assert not plan_guard(9000, hard_min=9000.9, warn_below=9000.9).warn
    guard = plan_guard(1, hard_min=0, warn_below=-5)
    assert (guard.hard_min_tokens, guard.warn_below_tokens) == (1, 1)
    assert not guard.warn
    assert not guard.block


@pytest.mark.parametrize(
    ("tokens", "newer"),
    [(4000, (True, False)), (7999, (True, False)), (8000, (False, False))],
)
def test_chg_is_not_adopted(tokens, newer):
    """CHG: windows that the changed rule lets pass are blocked here."""
    guard = plan_guard(tokens)
    assert (guard.warn, guard.block) == (True, True), NOT_ADOPTED["CHG"]
    assert newer != (guard.warn, guard.block)


LIMITS = st.integers(1, 10**6)


@given(st.integers(1, 10**6), LIMITS, LIMITS)
def test_guard_follows_the_limits(tokens, hard_min, warn_below):
    """For any limits: blocked means under the one, warned under the other, and they are kept."""
    guard = plan_guard(tokens, hard_min, warn_below)
    assert guard.block == (tokens < hard_min)
    assert guard.warn == (tokens < warn_below)
    assert (guard.hard_min_tokens, guard.warn_below_tokens) == (hard_min, warn_below)
    assert guard.warn or not guard.block or hard_min > warn_below


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_larger_window_is_never_judged_worse(one, other):
    """More room never turns allowed into blocked, nor silent into warned."""
    small, large = plan_guard(min(one, other)), plan_guard(max(one, other))
    assert small.block >= large.block
    assert small.warn >= large.warn


# ---- words --------------------------------------------------------------------------------------

LLAMA = Endpoint(self_hosted=True, can_stretch=True)
OLLAMA = Endpoint(self_hosted=True)
PUBLIC = Endpoint(self_hosted=False)


def words(tokens, source="model", endpoint=OLLAMA, trained=0, model="ollama:m"):
    window = ContextWindow(tokens, source, trained=trained)
    return guard_words(model, window, plan_guard(tokens), endpoint)


@pytest.mark.parametrize("tokens", [8000, 20_000], ids=["block", "warn"])
def test_h1_three_different_hints(tokens):
    """H1: cap, per-model setting and the rest each get their own advice."""
    cap = words(tokens, "agentContextTokens").remedy
    configured = words(tokens, "modelsConfig").remedy
    others = {words(tokens, source).remedy for source in ("model", "default")}
    assert "context.cap_tokens" in cap
    assert "context_window to" in configured
    assert '[model."ollama:m"]' in configured
    assert "larger window" in configured
    assert others == {
        f"Set context_window = {suggested_window(16_000 if tokens < 16_000 else 32_000)} under "
        '[model."ollama:m"] in the settings, or choose a model with a larger window (porthole '
        "models). Conversations go best with 32,000 tokens and more."
    }
    assert len({cap, configured, *others}) == 3


def test_h2_no_hint_for_a_distant_server():
    """H2: the limits of somebody else's server are not the user's to change."""
    assert words(8000, endpoint=PUBLIC).remedy == ""
    assert words(20_000, endpoint=PUBLIC).remedy == ""


def test_h3_block_says_the_figures():
    """H3: a blocked window says its size, where that comes from, and the minimum."""
    sentence = words(8000).sentence
    assert all(part in sentence for part in ("ollama:m", "8,000", "model itself", "16,000"))


def test_warning_says_the_figures():
    """A warning says model, size, source and the line it is under."""
    sentence = words(20_000, "modelsConfig").sentence
    parts = ("ollama:m", "20,000", "context_window of ollama:m in the settings", "32,000")
    assert all(part in sentence for part in parts)


def test_comfortable_window_says_nothing():
    """Nothing is said where nothing is wrong."""
    assert words(32_000) is None


def test_block_wins_over_warn():
    """A window that is both is told of once, as blocked."""
    assert "cannot be used" in str(words(8000))
    assert "small context window" not in str(words(8000))


def test_refused_option_says_how_to_go_on():
    """A window asked for on the command line: what to type instead."""
    assert words(8192, "option", LLAMA, 8192).remedy == (
        "Leave out --window 8192, or ask for --window 16384."
    )


@pytest.mark.parametrize(
    ("tokens", "trained", "endpoint", "advice"),
    [
        pytest.param(8192, 8192, LLAMA, 'and stretch = "auto"', id="twice: stretch"),
        pytest.param(4096, 4096, LLAMA, "trained on 4,096 tokens", id="four times: another model"),
        pytest.param(8192, 8192, OLLAMA, "trained on 8,192 tokens", id="Ollama cannot"),
        pytest.param(8192, 32_768, OLLAMA, "context_window = 16384 under", id="no need"),
    ],
)
@pytest.mark.parametrize("source", ["model", "trained"])
def test_advice_knows_the_trained_window(tokens, trained, endpoint, advice, source):
    """Stretching is advised where it is possible and was tried; else another model."""
    assert advice in words(tokens, source, endpoint, trained).remedy


@pytest.mark.parametrize(
    ("source", "advice"), [("memory", 'kv_type = "q8_0"'), ("loaded", "limit of the server")]
)
def test_advice_for_what_really_limits(source, advice):
    """Where memory or the server set the limit, raising a setting is not the advice."""
    remedy = words(8000, source).remedy
    assert advice in remedy
    assert "context_window" not in remedy


@pytest.mark.parametrize("source", get_args(Source))
@pytest.mark.parametrize("tokens", [8000, 20_000])
def test_every_source_has_words_and_advice(source, tokens):
    """Whatever a figure comes from, it is said in words and something can be done."""
    told = words(tokens, source)
    assert source_words(source, "ollama:m") in told.sentence
    assert told.remedy.endswith(".")
    assert "agentContextTokens" not in str(told)
    assert "modelsConfig" not in str(told)


def test_fault_carries_sentence_and_remedy():
    """A blocked window is raised as the environment's fault."""
    told = words(8000)
    fault = window_blocked(told)
    assert isinstance(fault, WindowBlocked)
    assert (fault.sentence, fault.remedy) == (told.sentence, told.remedy)


@pytest.mark.parametrize(("limit", "offered"), [(16_000, 16_384), (32_000, 32_768), (1, 1024)])
def test_suggested_window(limit, offered):
    """What is offered is round and enough."""
    assert suggested_window(limit) == offered


@given(st.integers(1, 10**7))
def test_suggested_window_is_allowed(limit):
    """The offer always satisfies the limit it is made for."""
    assert not plan_guard(suggested_window(limit), limit, limit).block


# ---- where a model runs -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:11434",
        "http://127.0.0.1:11434/",
        "https://127.8.9.1",
        "http://[::1]:11434",
        "http://ollama.localhost",
        "http://kitchen.local:11434",
        "http://OLLAMA.Internal.",
        "localhost:11434",
        "127.0.0.1",
        "http://0.0.0.0:11434",
        "http://192.168.1.20:11434",
        "http://10.0.0.3",
        "http://[fd00::1]:11434",
        "http://nas:11434",
    ],
)
def test_own_servers(url):
    """This machine, names of the house, and private addresses are the user's own."""
    assert is_self_hosted(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.com/v1",
        "http://localhost.example.com",
        "http://8.8.8.8:11434",
        "http://[2001:4860:4860::8888]",
        "http://internal.example.org",
        "",
        "   ",
        "http://",
        "http://[::1",
        "http://not a host/",
    ],
)
def test_distant_and_unreadable_servers(url):
    """A public address, an empty one and an unreadable one are not."""
    assert not is_self_hosted(url)


@given(st.text())
def test_any_address_is_judged(url):
    """No text makes the test fail."""
    assert is_self_hosted(url) in (True, False)
