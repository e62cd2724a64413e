"""Which context window applies to a model, and where the figure comes from (SPEC1 12.3.2)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

DEFAULT_WINDOW_TOKENS = 200_000
"""The window of a model nothing is known of. A local model always says something."""

Source = Literal[
    "option",
    "modelsConfig",
    "manifest",
    "model",
    "default",
    "agentContextTokens",
    "trained",
    "memory",
    "loaded",
]
"""Where a window's figure comes from.

SPEC1's own labels are modelsConfig, model, default and agentContextTokens. Before them come option
(asked for in this run) and, after modelsConfig, manifest (the starter's); trained, memory and
loaded are what can make a window smaller afterwards. `source_words` says them to people.
"""


@dataclass(frozen=True, slots=True)
class Claim:
    """What one place says of a model's window, unchecked: anything may stand in a file.

    `context_tokens` is meant for the conversation and goes before `context_window`, the model's
    technical limit; whatever is not a positive finite number counts as absent.
    """

    context_tokens: object = None
    context_window: object = None

    @property
    def tokens(self) -> int | None:
        """The valid figure, floored; None when there is none."""
        return positive_tokens(self.context_tokens) or positive_tokens(self.context_window)


NO_CLAIM = Claim()


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """The window of a model, in tokens; 0 where something is not known (yet).

    `tokens` is the one that counts, in every later step. `requested` is what the backend is asked
    for, the same in every request to the model. `trained` is what the model was trained on.
    `loaded` is what the backend really made ready, `per_slot` one conversation's share of that.
    `held_from` is a figure the user asked for and the global cap lowered.
    """

    tokens: int
    source: Source
    requested: int = 0
    trained: int = 0
    loaded: int = 0
    per_slot: int = 0
    held_from: int = 0

    def __str__(self) -> str:
        if 0 < self.trained < self.tokens:
            return f"{self.tokens:,} tokens, trained on {self.trained:,}"
        return f"{self.tokens:,} tokens"


def positive_tokens(value: object) -> int | None:
    """A number that is finite and at least 1, floored; None for everything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    tokens = math.floor(value)
    return tokens if tokens > 0 else None


def resolve_window(
    *,
    option: object = None,
    configured: Claim = NO_CLAIM,
    manifest: object = None,
    model: Claim = NO_CLAIM,
    cap_tokens: object = None,
    trained_tokens: int = 0,
) -> ContextWindow:
    """The first valid one of option, per-model setting, manifest, model metadata, 200,000.

    Then the global cap, if it is valid and strictly smaller: it lowers and never raises. What is
    not a positive finite number is passed over. `trained_tokens` is only carried along.
    """
    candidates: tuple[tuple[int | None, Source], ...] = (
        (positive_tokens(option), "option"),
        (configured.tokens, "modelsConfig"),
        (positive_tokens(manifest), "manifest"),
        (model.tokens, "model"),
    )
    tokens, source = next(
        ((tokens, source) for tokens, source in candidates if tokens),
        (DEFAULT_WINDOW_TOKENS, "default"),
    )
    return cap_window(ContextWindow(tokens, source, trained=trained_tokens), cap_tokens)


def cap_window(window: ContextWindow, cap_tokens: object) -> ContextWindow:
    """The window under the global cap: unchanged unless the cap is valid and strictly smaller."""
    cap = positive_tokens(cap_tokens)
    if cap is None or cap >= window.tokens:
        return window
    asked = window.tokens if window.source in ("option", "modelsConfig") else window.held_from
    return replace(window, tokens=cap, source="agentContextTokens", held_from=asked)


def effective_model_window(native_tokens: object, num_ctx: object) -> int | None:
    """An Ollama model's own figure: its Modelfile's `num_ctx` wins only when it is larger.

    None when neither is a positive finite number.
    """
    return max(positive_tokens(native_tokens) or 0, positive_tokens(num_ctx) or 0) or None


@dataclass(frozen=True, slots=True)
class WindowCache:
    """Windows learned of models, by model name; a value: every change gives a new cache.

    Of several figures learned for one model the smaller counts: the same name may be served from
    several places, and a request must fit all of them. An override wins over what was learned.
    """

    learned: Mapping[str, int] = field(default_factory=dict)
    overrides: Mapping[str, int] = field(default_factory=dict)

    def learn(self, model: str, claim: Claim) -> "WindowCache":
        """With a discovered figure; an invalid one changes nothing."""
        tokens = claim.tokens
        if tokens is None:
            return self
        smaller = min(tokens, self.learned.get(model, tokens))
        return WindowCache(MappingProxyType({**self.learned, model: smaller}), self.overrides)

    def override(self, model: str, tokens: object) -> "WindowCache":
        """With a figure the user configured, whatever was learned; an invalid one changes nothing."""
        valid = positive_tokens(tokens)
        if valid is None:
            return self
        return WindowCache(self.learned, MappingProxyType({**self.overrides, model: valid}))

    def look_up(self, model: str) -> int | None:
        """The model's window in tokens: override, else learned, else None."""
        return self.overrides.get(model, self.learned.get(model))
