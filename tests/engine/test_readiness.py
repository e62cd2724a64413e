"""Which window a model gets, what is told, and what is refused."""

import asyncio

import pytest

from engine.backends.base import Loaded, ModelInfo
from engine.errors import MemoryShort, WindowBlocked
from engine.models import ModelPlan, WindowLimits
from engine.readiness import (
    free_memory,
    keep_ready,
    make_ready,
    plan_asides,
    plan_notices,
    plan_place,
    plan_ready,
)
from engine.testing import ScriptedBackend

GIB = 1024**3


def plan_of(backend="llama.cpp", **changes):
    return ModelPlan("m", backend, "test", **changes)


def info_of(trained=32_768, **changes):
    return ModelInfo("test", trained_window=trained, **changes)


@pytest.mark.parametrize(
    ("changes", "tokens", "source"),
    [
        ({}, 32_768, "model"),
        ({"window_manifest": 16_384}, 16_384, "manifest"),
        ({"window_manifest": 16_384, "window_setting": 20_000}, 20_000, "modelsConfig"),
        ({"window_setting": 20_000, "window_option": 24_000}, 24_000, "option"),
        ({"limits": WindowLimits(cap_tokens=20_000)}, 20_000, "agentContextTokens"),
    ],
)
def test_window_comes_from_the_first_that_says_something(changes, tokens, source):
    """Option, setting, manifest, the model itself; then the cap."""
    asked, request = plan_ready(plan_of(**changes), info_of(), None)
    assert (asked.window.tokens, asked.window.source) == (tokens, source)
    assert request.window_tokens == tokens


def test_modelfile_window_counts_when_larger():
    """An Ollama model's own num_ctx (O3) reaches the request."""
    asked, _ = plan_ready(plan_of("ollama"), info_of(8_192, configured_window=20_000), None)
    assert asked.window.tokens == 8_192  # a server never loads more than the trained length


def test_stretched_window_names_both_figures():
    """Trained on 8,192, asked for 16,384, auto: both figures and what happens past the first."""
    plan = plan_of(window_manifest=16_384, stretch="auto")
    asked, request = plan_ready(plan, info_of(8_192), None)
    told = " ".join(notice.text for notice in plan_notices(plan, asked.window, asked.notes))
    assert request.stretch == "auto"
    for words in ("16,384", "8,192", "YaRN"):
        assert words in told


def test_memory_makes_the_window_smaller_and_says_so():
    """Half the memory: what fits is requested, and the user is told."""
    info = info_of(weights_bytes=GIB, kv_bytes_per_token=100_000)
    asked, _ = plan_ready(plan_of(), info, 3 * GIB)
    assert 16_000 < asked.window.tokens < 32_768
    assert asked.window.source == "memory"
    assert "memory" in " ".join(asked.notes)


def test_weights_that_do_not_fit_are_refused():
    """No window helps a model that is larger than the memory."""
    with pytest.raises(MemoryShort, match=r"8\.\d GB"):
        plan_ready(plan_of(), info_of(weights_bytes=8 * 10**9, kv_bytes_per_token=1), GIB)


def test_window_asked_for_beyond_memory_is_refused_with_the_largest_that_fits():
    """Asked for in so many words: not quietly made smaller."""
    plan = plan_of(window_option=50_000_000)
    with pytest.raises(MemoryShort, match="50,000,000") as caught:
        plan_ready(plan, info_of(kv_bytes_per_token=23_040), 16 * GIB)
    assert "at most" in caught.value.remedy


@pytest.mark.parametrize("tokens", [1, 8_192, 15_999])
def test_window_under_the_minimum_loads_nothing(tokens):
    """The guard comes before the load."""
    backend = ScriptedBackend()
    plan = plan_of("scripted", window_option=tokens)
    with pytest.raises(WindowBlocked, match=f"{tokens:,}"):
        asyncio.run(make_ready(backend, plan, lambda _f: None, lambda: None))
    assert backend.loads == []


def test_smaller_load_counts_from_then_on():
    """Less was loaded than asked: that is the window, and it is said."""
    backend = ScriptedBackend(window_tokens=20_480)
    ready = asyncio.run(make_ready(backend, plan_of("scripted"), lambda _f: None, lambda: None))
    assert (ready.window.tokens, ready.window.loaded) == (20_480, 20_480)
    assert any("20,480" in notice.text for notice in ready.notices)


def test_loading_again_asks_for_the_same():
    """Later turns load with the very same request, whatever memory is free by then."""
    backend = ScriptedBackend()
    plan = plan_of("scripted")

    async def twice():
        ready = await make_ready(backend, plan, lambda _f: None, lambda: None)
        return await keep_ready(backend, plan, lambda _f: None, ready)

    asyncio.run(twice())
    assert backend.loads[0] == backend.loads[1]


def test_progress_of_loading_is_passed_on():
    """What the backend reports arrives."""
    seen = []
    asyncio.run(make_ready(ScriptedBackend(), plan_of("scripted"), seen.append, lambda: None))
    assert seen == [0.5, 1.0]


def test_free_memory_is_a_number_of_bytes():
    """The machine says something sensible."""
    assert free_memory() > 10_000_000


# ---- where it runs ------------------------------------------------------------------------------


def told_of(info, loaded):
    return [(n.code, n.level, n.text) for n in plan_asides(plan_of("ollama"), info, loaded)]


def test_what_leaves_the_computer_is_told():
    """A model of ollama.com says so whenever it is made ready."""
    [(code, level, text)] = told_of(info_of(cloud=True), Loaded(16_384))
    assert (code, level) == ("cloud", "warning")
    assert "leave this computer" in text


def test_a_server_that_cuts_is_told():
    """In the backend's own words; a server that refuses needs none."""
    assert told_of(info_of(), Loaded(16_384, cuts="It is old.")) == [
        ("old_server", "warning", "It is old.")
    ]
    assert told_of(info_of(), Loaded(16_384)) == []


def test_what_runs_elsewhere_gets_no_advice():
    """A window that nobody here can change is only said to be too small."""
    plan = plan_of("ollama")
    asked, _ = plan_ready(plan, info_of(8_192), None)
    for cloud, advice in ((False, "choose a model"), (True, "")):
        with pytest.raises(WindowBlocked) as caught:
            plan_notices(plan_place(plan, info_of(8_192, cloud=cloud)), asked.window, ())
        assert advice in caught.value.remedy.lower()
        assert bool(caught.value.remedy) is not cloud
