"""What a model's name means, and whose wish wins."""

from pathlib import Path

import pytest

from engine.errors import ModelMissing
from engine.models import (
    ModelName,
    ModelPlan,
    Wishes,
    parse_model_name,
    plan_model,
    plan_remembered,
)
from engine.settings import ModelSettings

STARTER = Path("/models/starter.gguf")


@pytest.mark.parametrize(
    ("text", "backend", "name", "label"),
    [
        ("starter", "llama.cpp", "/models/starter.gguf", "starter"),
        (" starter ", "llama.cpp", "/models/starter.gguf", "starter"),
        ("llama.cpp:/a/b.gguf", "llama.cpp", "/a/b.gguf", "llama.cpp:/a/b.gguf"),
        ("/a/b.GGUF", "llama.cpp", "/a/b.GGUF", "llama.cpp:/a/b.GGUF"),
        ("ollama:qwen3:4b", "ollama", "qwen3:4b", "ollama:qwen3:4b"),
        ("ollama:hf.co/a/b:Q4", "ollama", "hf.co/a/b:Q4", "ollama:hf.co/a/b:Q4"),
        ("scripted:test", "scripted", "test", "scripted:test"),
    ],
)
def test_name_is_understood(text, backend, name, label):
    """Each way to write a model's name."""
    assert parse_model_name(text, STARTER) == ModelName(backend, name, label)


def test_file_has_one_name_wherever_one_stands(tmp_path, monkeypatch):
    """A relative path is made absolute, so that its settings are found again."""
    monkeypatch.chdir(tmp_path)
    assert parse_model_name("llama.cpp:x.gguf", STARTER).label == f"llama.cpp:{tmp_path}/x.gguf"


@pytest.mark.parametrize("text", ["", "qwen3", "ollama:", "llama.cpp:", "http://x/y"])
def test_name_that_means_nothing_is_explained(text):
    """The three ways to name a model are in the answer."""
    with pytest.raises(ModelMissing, match=r"starter, llama\.cpp:PATH or ollama:NAME"):
        parse_model_name(text, STARTER)


def test_first_wish_wins_for_each_value():
    """Options, then the user's settings, then the manifest, then the defaults; value by value."""
    plan = plan_model(
        ModelName("llama.cpp", "f", "starter"),
        Wishes(
            (ModelSettings(temperature=0.0), ModelSettings(temperature=1.0, seed=3)),
            ModelSettings(seed=4, top_k=5),
            ModelSettings(top_k=6, stretch="auto", system_prompt=""),
            ModelSettings(system_prompt="Be kind.", kv_type="q8_0"),
        ),
    )
    assert (plan.sampling.temperature, plan.sampling.seed, plan.sampling.top_k) == (0.0, 3, 5)
    assert (plan.stretch, plan.system_prompt, plan.kv_type) == ("auto", "", "q8_0")


def test_window_wishes_are_kept_apart():
    """Who asks for a window decides what it is called, so each keeps its place."""
    plan = plan_model(
        ModelName("llama.cpp", "f", "starter"),
        Wishes(
            (ModelSettings(), ModelSettings(context_window=20_000)),
            ModelSettings(context_window=24_000),
            ModelSettings(context_window=16_384),
        ),
    )
    assert (plan.window_option, plan.window_setting, plan.window_manifest) == (
        20_000,
        24_000,
        16_384,
    )


def test_without_wishes_everything_is_the_models_own():
    """Nothing set: no window asked for, no stretch, no sampling of ours."""
    plan = plan_model(ModelName("ollama", "m", "ollama:m"), Wishes())
    assert plan.window_option is plan.window_setting is plan.window_manifest is None
    assert (plan.stretch, plan.max_tokens, plan.sampling.temperature) == ("off", None, None)


def test_notes_follow_the_system_prompt():
    """As they are, after an empty line; alone where there is no system prompt."""
    plan = ModelPlan("starter", "llama.cpp", "x", system_prompt="Be brief.")
    assert plan_remembered(plan, " I am Ada. ", 100).system_prompt == "Be brief.\n\nI am Ada."
    bare = ModelPlan("starter", "llama.cpp", "x")
    assert plan_remembered(bare, "I am Ada.", 100).system_prompt == "I am Ada."
    assert plan_remembered(plan, " \n", 100) == plan


def test_notes_that_are_too_long_are_left_out_whole():
    """With both figures in what is told; the model is loaded as it was."""
    plan = ModelPlan("starter", "llama.cpp", "x", system_prompt="Be brief.")
    told = plan_remembered(plan, "word " * 900, 500)
    assert told.system_prompt == "Be brief."
    assert "more than the 500" in told.note
    assert told.loads_as(plan)
