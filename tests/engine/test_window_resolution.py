"""Which window applies: every R, K and O vector, and what holds for all values."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.window import (
    Claim,
    ContextWindow,
    WindowCache,
    effective_model_window,
    plan_guard,
    positive_tokens,
    resolve_window,
)

NAN, INFINITY = math.nan, math.inf

R_VECTORS = {
    "R1": ({}, 200_000, "default"),
    "R2": ({"model": Claim(48_000, 64_000)}, 48_000, "model"),
    "R3": ({"model": Claim(None, 64_000)}, 64_000, "model"),
    "R4": ({"model": Claim(0, 64_000)}, 64_000, "model"),
    "R5": ({"model": Claim(NAN, -1)}, 200_000, "default"),
    "R6": (
        {"configured": Claim(12_000, 1_050_000), "model": Claim(48_000, 64_000)},
        12_000,
        "modelsConfig",
    ),
    "R7": (
        {"configured": Claim(None, 12_000), "model": Claim(48_000, 64_000)},
        12_000,
        "modelsConfig",
    ),
    "R8": (
        {"configured": Claim(0, 9_000), "model": Claim(48_000, 64_000)},
        9_000,
        "modelsConfig",
    ),
    "R9": (
        {"model": Claim(None, 200_000), "cap_tokens": 20_000},
        20_000,
        "agentContextTokens",
    ),
    "R10": ({"model": Claim(None, 64_000), "cap_tokens": 128_000}, 64_000, "model"),
    "R11": ({"model": Claim(None, 64_000), "cap_tokens": 64_000}, 64_000, "model"),
    "R12": (
        {"configured": Claim(64_000), "cap_tokens": 20_000.7},
        20_000,
        "agentContextTokens",
    ),
    "R13": (
        {"model": Claim(None, 200_000), "cap_tokens": 12_000},
        12_000,
        "agentContextTokens",
    ),
}


@pytest.mark.parametrize(("claims", "tokens", "source"), R_VECTORS.values(), ids=R_VECTORS.keys())
def test_resolution_vector(claims, tokens, source):
    """The specification's order, label for label."""
    window = resolve_window(**claims)
    assert (window.tokens, window.source) == (tokens, source)


def test_r13_is_blocked():
    """R13: a cap below the hard minimum blocks."""
    claims, _, _ = R_VECTORS["R13"]
    assert plan_guard(resolve_window(**claims).tokens).block


@pytest.mark.parametrize("value", [NAN, INFINITY], ids=["W12", "W13"])
def test_invalid_window_falls_to_the_default(value):
    """W12, W13: what is no finite number never reaches the guard."""
    window = resolve_window(model=Claim(value, value), cap_tokens=value)
    assert (window.tokens, window.source) == (200_000, "default")


@pytest.mark.parametrize("value", [0, -1, 0.5, NAN, INFINITY, -INFINITY, None, "64000", True, []])
def test_not_positive_is_absent(value):
    """Zero, negative, fractions of a token, not finite, not a number, a switch: absent."""
    assert positive_tokens(value) is None


@pytest.mark.parametrize(
    ("value", "tokens"), [(1, 1), (1.9, 1), (15_999.9, 15_999), (10**400, 10**400)]
)
def test_fractions_are_floored(value, tokens):
    """A fraction counts as the whole below it."""
    assert positive_tokens(value) == tokens


def test_own_sources_have_their_place():
    """An option of this run goes before everything, the starter's manifest before its metadata."""
    everything = {"configured": Claim(2), "manifest": 3, "model": Claim(4)}
    assert resolve_window(option=1, **everything).source == "option"
    assert resolve_window(option=0, **everything).source == "modelsConfig"
    everything["configured"] = Claim(-1)
    assert resolve_window(**everything).source == "manifest"
    everything["manifest"] = None
    assert resolve_window(**everything).source == "model"


def test_capped_wish_is_remembered():
    """A figure the user asked for and the cap lowers is kept, a model's own is not."""
    assert resolve_window(option=65_536, cap_tokens=32_768).held_from == 65_536
    assert resolve_window(configured=Claim(65_536), cap_tokens=32_768).held_from == 65_536
    assert resolve_window(model=Claim(65_536), cap_tokens=32_768).held_from == 0


def test_window_says_what_it_was_trained_on():
    """Wherever a window is shown, a larger one than trained says so."""
    assert str(ContextWindow(16_384, "manifest", trained=8192)) == (
        "16,384 tokens, trained on 8,192"
    )
    assert str(ContextWindow(8192, "model", trained=8192)) == "8,192 tokens"
    assert str(ContextWindow(8192, "model")) == "8,192 tokens"


ANYTHING = st.none() | st.integers() | st.floats() | st.text(max_size=3) | st.booleans()
CLAIMS = st.builds(Claim, ANYTHING, ANYTHING)


@given(ANYTHING, CLAIMS, ANYTHING, CLAIMS, ANYTHING)
def test_cap_never_raises_the_window(option, configured, manifest, model, cap):
    """The cap only lowers; whatever the values, the result is a whole number, at least 1."""
    claims = {"option": option, "configured": configured, "manifest": manifest, "model": model}
    free = resolve_window(**claims)
    capped = resolve_window(**claims, cap_tokens=cap)
    assert type(capped.tokens) is int
    assert 1 <= capped.tokens <= free.tokens
    valid_cap = positive_tokens(cap)
    assert valid_cap is None or capped.tokens <= valid_cap
    assert (capped.source == "agentContextTokens") == (capped.tokens < free.tokens)


@given(CLAIMS, CLAIMS)
def test_configured_goes_before_the_model(configured, model):
    """What is valid in the settings decides, whatever the model says."""
    window = resolve_window(configured=configured, model=model)
    if configured.tokens:
        assert (window.tokens, window.source) == (configured.tokens, "modelsConfig")
    else:
        assert window.source in ("model", "default")


# ---- cache --------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [(1_048_576, 128_000), (128_000, 1_048_576)], ids=["K1", "K1r"])
def test_smaller_figure_wins(order):
    """K1: of two figures for one model the smaller counts, in either order."""
    cache = WindowCache()
    for tokens in order:
        cache = cache.learn("m", Claim(None, tokens))
    assert cache.look_up("m") == 128_000


def test_k2_conversation_figure_is_preferred():
    """K2: a discovered contextTokens goes before the technical window."""
    assert WindowCache().learn("m", Claim(272_000, 1_050_000)).look_up("m") == 272_000


@pytest.mark.parametrize("value", [0, None, NAN, -5])
def test_k3_invalid_figure_is_ignored(value):
    """K3: zero or missing teaches nothing and spoils nothing."""
    cache = WindowCache().learn("m", Claim(None, 64_000))
    assert cache.learn("m", Claim(None, value)).look_up("m") == 64_000
    assert WindowCache().learn("m", Claim(value)).look_up("m") is None
    assert cache.override("m", value).look_up("m") == 64_000


def test_override_wins_always():
    """What the user configured wins over what was learned, before and after, larger or smaller."""
    cache = WindowCache().learn("m", Claim(64_000)).override("m", 128_000)
    assert cache.learn("m", Claim(1000)).look_up("m") == 128_000
    assert cache.override("m", 500).look_up("m") == 500


def test_cache_is_a_value():
    """Learning gives a new cache and leaves the old one as it was."""
    old = WindowCache()
    old.learn("m", Claim(1000)).override("m", 5)
    assert old.look_up("m") is None


@given(st.lists(st.integers(-10, 10**7), max_size=8))
def test_cache_is_the_least_valid_figure(figures):
    """After any sequence the cache holds the smallest positive one."""
    cache = WindowCache()
    for figure in figures:
        cache = cache.learn("m", Claim(figure))
    assert cache.look_up("m") == min((f for f in figures if f > 0), default=None)


# ---- Ollama -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("native", "num_ctx", "tokens"),
    [
        pytest.param(8192, 32_768, 32_768, id="O3"),
        pytest.param(131_072, 4096, 131_072, id="O4"),
        pytest.param(8192, None, 8192, id="no num_ctx"),
        pytest.param(None, 4096, 4096, id="no native"),
        pytest.param(0, -1, None, id="neither"),
    ],
)
def test_modelfile_window(native, num_ctx, tokens):
    """O3, O4: the Modelfile's num_ctx wins only when it is larger."""
    assert effective_model_window(native, num_ctx) == tokens
