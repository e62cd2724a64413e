"""What a model's name means, and how that model is to be run.

Names are what the user writes: `starter`, `llama.cpp:PATH`, `ollama:NAME`; a bare path ending in
`.gguf` is taken as the second. A `ModelPlan` is everything a session needs to know of its model,
from three layers, the first that says something wins: this run's options, the user's settings
for the model, the model's own manifest.

::

    "starter" ─▶ parse_model_name ─▶ ModelName ─┐
    options, settings, manifest ─▶ Wishes ──────┴─▶ plan_model ─▶ ModelPlan ─▶ readiness, session
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from engine.backends.base import Sampling, Stretch, Think
from engine.backends.ollama_wire import full_name
from engine.errors import ModelMissing
from engine.settings import ModelSettings
from engine.thinking import DEFAULT_HISTORY, ThinkingHistory, think_of
from engine.tokens import estimate_text

BackendName = Literal["llama.cpp", "ollama", "scripted"]
STARTER = "starter"
HOW_TO_NAME = "Name a model as starter, llama.cpp:PATH or ollama:NAME; porthole models lists them."


@dataclass(frozen=True, slots=True)
class ModelName:
    """A parsed name: the backend, the backend's own name for the model, and what to call it."""

    backend: BackendName
    name: str
    label: str

    @property
    def queue(self) -> str:
        """Whose turn it waits for, see `queue_of`."""
        return queue_of(self.backend, self.name)


def queue_of(backend: BackendName, name: str) -> str:
    """A name for what works on one thing at a time: a model of a server, or this machine.

    A server queues by itself, in silence: what waits here can be told, and stopped at once.
    """
    return f"{backend}:{full_name(name)}" if backend == "ollama" else backend


@dataclass(frozen=True, slots=True)
class WindowLimits:
    """The settings that hold for every model; tokens (SPEC1 12.3.2, 12.3.3)."""

    cap_tokens: int = 32_768
    hard_min_tokens: int = 16_000
    warn_below_tokens: int = 32_000


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """Which model, and how to run it. Tokens; None leaves a value to the model.

    What the window is asked to be, by who asks: `window_option` (this run or this conversation),
    `window_setting` (the user's setting for the model), `window_manifest` (the model's own). `self_hosted`: it runs
    where the user can change it. `note` is what the user should be told of it, a sentence.
    """

    label: str
    backend: BackendName
    name: str
    window_option: int | None = None
    window_setting: int | None = None
    window_manifest: int | None = None
    stretch: Stretch = "off"
    kv_type: Literal["f16", "q8_0"] = "f16"
    system_prompt: str = ""
    sampling: Sampling = Sampling()
    max_tokens: int | None = None
    think: Think | None = None
    thinking_history: ThinkingHistory = DEFAULT_HISTORY
    limits: WindowLimits = WindowLimits()
    self_hosted: bool = True
    note: str = ""

    @property
    def queue(self) -> str:
        """Whose turn it waits for, see `queue_of`."""
        return queue_of(self.backend, self.name)

    def loads_as(self, other: "ModelPlan") -> bool:
        """Whether the model is loaded, and its window judged, as for another plan."""
        told: dict[str, object] = {"system_prompt": "", "sampling": Sampling(), "note": ""}
        told |= {"max_tokens": None, "think": None, "thinking_history": DEFAULT_HISTORY}
        return replace(self, **told) == replace(other, **told)  # type: ignore[arg-type]  # by name


def plan_remembered(plan: ModelPlan, notes: str, most_tokens: int) -> ModelPlan:
    """The plan with the user's notes after its system prompt; tokens are estimated.

    Notes of more than `most_tokens` are left out whole, and `note` says so: nothing is cut.
    """
    notes = notes.strip()
    size = estimate_text(notes)
    if not notes:
        return plan
    if size > most_tokens:
        note = (
            f"Your notes have about {size:,} tokens, more than the {most_tokens:,} they may have, "
            "and are not sent. Shorten them, or let them have more, under Memory in the settings."
        )
        return replace(plan, note=note)
    prompt = f"{plan.system_prompt}\n\n{notes}" if plan.system_prompt.strip() else notes
    return replace(plan, system_prompt=prompt)


@dataclass(frozen=True, slots=True)
class Wishes:
    """Who wants what of a model; for each value the first in this order that says something wins.

    `options`: this run's and this conversation's. `settings`: the user's for the model.
    `manifest`: the model's own. `defaults`: the user's for all models.
    """

    options: Sequence[ModelSettings] = ()
    settings: ModelSettings = ModelSettings()
    manifest: ModelSettings = ModelSettings()
    defaults: ModelSettings = ModelSettings()

    def pick(self, field: str, default: Any = None) -> Any:
        """The value of a field of `ModelSettings`, or `default` when nobody wants anything."""
        layers = (*self.options, self.settings, self.manifest, self.defaults)
        wanted = (getattr(layer, field) for layer in layers)
        return next((value for value in wanted if value is not None), default)


def parse_model_name(text: str, starter_file: Path) -> ModelName:
    """What a name stands for; `starter_file` is where the starter lies. Raises ModelMissing."""
    text = text.strip()
    kind, separator, rest = text.partition(":")
    if text == STARTER:
        return ModelName("llama.cpp", str(starter_file), STARTER)
    if separator and kind == "ollama" and rest:
        return ModelName("ollama", rest, text)
    if separator and kind == "scripted" and rest:
        return ModelName("scripted", rest, text)
    if separator and kind in ("llama.cpp", "llamacpp") and rest:
        return _file_name(rest)
    if text.lower().endswith(".gguf"):
        return _file_name(text)
    hint = f"Did you mean ollama:{text}? " if text and "/" not in kind else ""
    raise ModelMissing(f"“{text}” does not name a model.", f"{hint}{HOW_TO_NAME}")


def plan_model(
    name: ModelName,
    wishes: Wishes,
    limits: WindowLimits = WindowLimits(),
    *,
    self_hosted: bool = True,
) -> ModelPlan:
    """How to run a model."""
    pick = wishes.pick
    return ModelPlan(
        name.label,
        name.backend,
        name.name,
        window_option=Wishes(wishes.options).pick("context_window"),
        window_setting=wishes.settings.context_window,
        window_manifest=wishes.manifest.context_window,
        stretch=pick("stretch", "off"),
        kv_type=pick("kv_type", "f16"),
        system_prompt=pick("system_prompt", ""),
        sampling=Sampling(
            temperature=pick("temperature"),
            top_p=pick("top_p"),
            top_k=pick("top_k"),
            min_p=pick("min_p"),
            repeat_penalty=pick("repeat_penalty"),
            seed=pick("seed"),
        ),
        max_tokens=pick("max_tokens"),
        think=think_of(pick("think")),
        thinking_history=pick("thinking_history", DEFAULT_HISTORY),
        limits=limits,
        self_hosted=self_hosted,
    )


def _file_name(text: str) -> ModelName:
    """A model file, by its absolute path, so that one file has one name wherever one stands."""
    path = Path(text).expanduser().absolute()
    return ModelName("llama.cpp", str(path), f"llama.cpp:{path}")
