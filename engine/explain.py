"""What the engine would do with a conversation, and why: the figures of its context. Pure.

::

    path ─▶ visible ─▶ weights (estimated) ─▶ ContextView ─▶ route, cut, chunks ─▶ Explanation
                                                  ▲
                        the same value the session acts on (engine.context)

Nothing is sent and nothing loaded, so that a model that counts exactly is estimated here. `spec`
gives the specification's own figures instead: its estimator (four characters a token), what is
visible before it is repaired, its cut with the kept tail taken literally, its chunks.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from engine.budget import plan_budget
from engine.compact import (
    NothingToCompact,
    adaptive_chunk_ratio,
    chunk_budget,
    chunk_by_max_tokens,
    plan_cut,
)
from engine.compact.chunks import CHUNK_OVERHEAD_TOKENS
from engine.compact.cut import is_message
from engine.context import (
    ContextSettings,
    ContextView,
    plan_folding,
    plan_shortenings,
    plan_uncounted,
    weighed_entries,
    with_window,
)
from engine.models import WindowLimits
from engine.prompt import Pictures, pictures_for, plan_message, plan_messages
from engine.segments import Segment, plan_segments
from engine.thinking import DEFAULT_HISTORY, ThinkingHistory
from engine.tokens import (
    SAFETY_MARGIN,
    UNCALIBRATED,
    Calibration,
    Count,
    Weighed,
    estimate_messages,
    spec_prompt_tokens,
    spec_tokens,
    utf16_length,
)
from engine.transcript import Body, Compaction, Entry, Message, Thinking, user
from engine.undoing import effective_path
from engine.view import plan_unrepaired
from engine.window import ContextWindow, Endpoint, Guard, guard_words, plan_guard


@dataclass(frozen=True, slots=True)
class Explained:
    """The model a context is explained for, as far as is known without running it.

    Attributes:
        label: its name as the user writes it; empty for a conversation of no known model.
        system_prompt: what it is told first.
        calibration: what is known of estimates for it.
        limits: which windows are refused, and warned of.
        endpoint: where it runs.
        thinking_history: its rule for what it thought before.
        sees_images: whether it gets pictures.
    """

    label: str = ""
    system_prompt: str = ""
    calibration: Calibration = UNCALIBRATED
    limits: WindowLimits = field(default_factory=WindowLimits)
    endpoint: Endpoint = field(default_factory=Endpoint)
    thinking_history: ThinkingHistory = DEFAULT_HISTORY
    sees_images: bool = False


@dataclass(frozen=True, slots=True)
class Fold:
    """What a compaction would fold, in messages.

    Attributes:
        first_kept: id of the first message that stays; of the first of all if nothing is folded.
        folded: what a summary would stand for.
        kept: what stays after it, word for word.
        pinned: ids of what is folded and yet stays.
        split_turn: whether a turn goes through the cut.
        after_tokens: the most the prompt can have afterwards; 0 where nothing says so.
        why_not: why nothing would be folded, a sentence; empty when something is.
    """

    first_kept: str
    folded: tuple[Weighed, ...]
    kept: tuple[Weighed, ...]
    pinned: frozenset[str] = frozenset()
    split_turn: bool = False
    after_tokens: int = 0
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Shortened:
    """A tool result that would be shortened; UTF-16 characters."""

    entry: Entry
    before_chars: int
    after_chars: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """A context and what would be done about it.

    Attributes:
        window: the window that applies, and where the figure comes from.
        guard: the verdict on it; `messages` say it in words.
        view: count, budget, route and targets, as the session would have them.
        spec_estimate: the prompt's tokens as the specification estimates them, margin included.
        segments: what the count is made of; together they are `view.count.tokens`.
        fold: what a compaction would fold.
        chunks: tokens of the pieces a staged summary would be written from.
        shortened: tool results that the route would shorten.
    """

    window: ContextWindow
    guard: Guard
    messages: tuple[str, ...]
    view: ContextView
    spec_estimate: int
    segments: tuple[Segment, ...]
    fold: Fold
    chunks: tuple[int, ...]
    shortened: tuple[Shortened, ...]

    def to_json(self) -> dict[str, Any]:
        """The figures as JSON; tokens, and characters where the name says so."""
        view, route = self.view, self.view.route
        return {
            "window": {"tokens": self.window.tokens, "source": self.window.source},
            "guard": {
                "warn": self.guard.warn,
                "block": self.guard.block,
                "messages": list(self.messages),
            },
            "budget": {
                "min_prompt": view.budget.min_prompt,
                "reserve": view.budget.reserve,
                "prompt": view.budget.prompt,
            },
            "count": {
                "tokens": view.count.tokens,
                "kind": view.count.kind,
                "spec_estimate": self.spec_estimate,
            },
            "route": route.route,
            "overflow": route.overflow,
            "reducible_chars": route.reducible_chars,
            "threshold_chars": route.threshold_chars,
            "cut": {
                "first_kept": self.fold.first_kept,
                "folded": len(self.fold.folded),
                "kept": len(self.fold.kept),
                "split_turn": self.fold.split_turn,
            },
            "chunks": list(self.chunks),
            "target": view.targets.target,
        }


def plan_explanation(
    path: Sequence[Entry],
    window: ContextWindow,
    settings: ContextSettings,
    model: Explained = Explained(),
    *,
    spec: bool = False,
    counted: ContextView | None = None,
) -> Explanation:
    """Explain the context of a path.

    Args:
        path: root to leaf.
        window: the window that applies.
        settings: how it is managed.
        model: for whom.
        spec: with the specification's own figures.
        counted: the path's context as its model's own tokenizer counts it, if that is at hand.
    """
    path = effective_path(path)
    settings = replace(settings, thinking_history=model.thinking_history)
    if spec:
        seen = _spec_view(path, window.tokens, settings, model)
    elif counted is not None:
        seen = with_window(counted, window.tokens, settings)
    else:
        seen = _view(path, window.tokens, settings, model)
    fold = _spec_fold(seen) if spec else _fold(seen)
    limits = model.limits
    guard = plan_guard(window.tokens, limits.hard_min_tokens, limits.warn_below_tokens)
    words = guard_words(model.label or "The model", window, guard, model.endpoint)
    overhead = CHUNK_OVERHEAD_TOKENS if spec else seen.targets.chunk_overhead
    return Explanation(
        window,
        guard,
        () if words is None else (str(words),),
        seen,
        spec_estimate(path, model.system_prompt),
        plan_segments(seen),
        fold,
        plan_chunks(fold.folded, window.tokens, overhead),
        _shortened(seen, fold),
    )


def spec_estimate(path: Sequence[Entry], system_prompt: str = "") -> int:
    """The prompt's tokens as the specification estimates them (SPEC1 12.3), margin included."""
    bodies = (entry.body for entry in plan_unrepaired(path))
    return spec_prompt_tokens(bodies, system_prompt=system_prompt)


def plan_chunks(folded: Sequence[Weighed], window_tokens: int, overhead: int) -> tuple[int, ...]:
    """Tokens of the chunks that messages are summarised in (SPEC1 12.5.2, 12.5.3)."""
    budget = chunk_budget(window_tokens, adaptive_chunk_ratio(folded, window_tokens), overhead)
    chunks = chunk_by_max_tokens(folded, budget)
    return tuple(sum(item.tokens for item in chunk) for chunk in chunks)


# ---- the context --------------------------------------------------------------------------------


def _view(
    path: Sequence[Entry], window_tokens: int, settings: ContextSettings, model: Explained
) -> ContextView:
    """The context as a session would find it if its backend could not count."""
    pictures = pictures_for(sees_images=model.sees_images)
    entries = weighed_entries(path, settings)
    weights = {entry.id: _weight(entry, pictures) for entry in entries}
    view = plan_uncounted(
        path,
        weights,
        window_tokens,
        settings,
        system_tokens=estimate_messages(plan_messages((), model.system_prompt)),
        calibration=model.calibration,
        model=model.label,
    )
    return replace(view, sees_images=model.sees_images)


def _weight(entry: Entry, pictures: Pictures) -> int:
    message = plan_message(entry, pictures)
    return 0 if message is None else estimate_messages((message,))


def _spec_view(
    path: Sequence[Entry], window_tokens: int, settings: ContextSettings, model: Explained
) -> ContextView:
    """The context as the specification sees it: its estimator, nothing repaired."""
    budget = plan_budget(window_tokens, settings.reserve_tokens, settings.reserve_floor)
    visible = plan_unrepaired(path)
    return ContextView(
        tuple(path),
        visible,
        {entry.id: spec_tokens(entry.body) for entry in path},
        Count(spec_estimate(path, model.system_prompt), "estimated"),
        math.ceil(SAFETY_MARGIN * spec_tokens(user(model.system_prompt))),
        budget,
        settings,
        thinking={
            entry.id: spec_tokens(Message("assistant", (Thinking(entry.body.thinking),)))
            for entry in visible
            if isinstance(entry.body, Message) and entry.body.thinking
        },
    )


# ---- what would be done -------------------------------------------------------------------------


def _fold(view: ContextView) -> Fold:
    """What the session would fold."""
    folding = plan_folding(view)
    if isinstance(folding, NothingToCompact):
        return _nothing(view, folding.detail)
    kept = _messages(folding.kept)
    return Fold(
        kept[0].entry.id if kept else folding.first_kept,
        _messages((*folding.folded, *folding.turn_prefix)),
        kept,
        frozenset(item.entry.id for item in folding.pinned),
        folding.split_turn,
        folding.predicted_tokens,
    )


def _spec_fold(view: ContextView) -> Fold:
    """What the specification would fold, its kept tail as configured (context-engine.md 6.3)."""
    entries = (e for e in view.visible if not isinstance(e.body, Compaction))
    items = [Weighed(entry, view.weights.get(entry.id, 0)) for entry in entries]
    cut = plan_cut(items, view.settings.keep_recent)
    folded, kept = _messages(items[: cut.first_kept]), _messages(items[cut.first_kept :])
    if not folded or not kept:
        return _nothing(view, "There is nothing before the kept tail to summarise.")
    return Fold(kept[0].entry.id, folded, kept, split_turn=cut.split_turn)


def _nothing(view: ContextView, why_not: str) -> Fold:
    kept = _messages(Weighed(e, view.weights.get(e.id, 0)) for e in view.visible)
    return Fold(kept[0].entry.id if kept else "", (), kept, why_not=why_not)


def _messages(items: Iterable[Weighed]) -> tuple[Weighed, ...]:
    """What was said; settings and summaries are no messages."""
    return tuple(item for item in items if item.entry.id and _is_said(item.entry.body))


def _is_said(body: Body) -> bool:
    return is_message(body) and not isinstance(body, Compaction)


def _shortened(view: ContextView, fold: Fold) -> tuple[Shortened, ...]:
    """Tool results that the route would shorten now.

    After a compaction only what it keeps is left to shorten, and only if that is still too much.
    """
    route = view.route.route
    if route == "compact_then_truncate" and fold.folded:
        if fold.after_tokens <= view.budget.prompt:
            return ()
        view = replace(view, visible=tuple(item.entry for item in fold.kept))
    elif route not in ("truncate_tool_results_only", "compact_then_truncate"):
        return ()
    entries = {entry.id: entry for entry in view.visible}
    return tuple(
        Shortened(entries[id_], _chars(entries[id_]), utf16_length(text))
        for id_, text in plan_shortenings(view).items()
    )


def _chars(entry: Entry) -> int:
    return utf16_length(entry.body.text) if isinstance(entry.body, Message) else 0
