"""How much of the window is whose: reserve, prompt budget, targets of a compaction, the four routes.

::

    window = reserve + prompt budget                        (SPEC1 12.2; context-engine.md 2)
             ▲         ▲
             │         └─ never under min(8000, half the window)
             └─ for the reply and the program's own requests

What the specification leaves fixed (kept tail, summary length, flush threshold, chunk overhead)
is scaled to the budget here, so that a 16K window is not compacted in vain (design.md section 4).
Pure arithmetic. All figures are tokens unless their name says chars.
"""

import math
from dataclasses import dataclass
from typing import Literal

RESERVE_TOKENS = 20_000
RESERVE_FLOOR_TOKENS = 20_000
KEEP_RECENT_TOKENS = 20_000
MIN_PROMPT_TOKENS = 8_000
MIN_PROMPT_RATIO = 0.5
SOFT_THRESHOLD_TOKENS = 4_000

Route = Literal["fits", "truncate_tool_results_only", "compact_only", "compact_then_truncate"]


@dataclass(frozen=True, slots=True)
class Budget:
    """How a window is divided; tokens.

    Attributes:
        window: the whole window, 0 or more.
        min_prompt: what the prompt may always have, at least 1.
        reserve: what is kept free, after raising to the floor and capping.
        prompt: the most a prompt may have; window − reserve, at least 1.
        requested: the reserve as it was asked for.
        floor: what smaller reserves are raised to; 0 for no floor.
    """

    window: int
    min_prompt: int
    reserve: int
    prompt: int
    requested: int
    floor: int

    @property
    def explanation(self) -> str:
        """Why the reserve is not what was typed, in words; empty when it is."""
        raised = max(self.requested, self.floor)
        steps = []
        if raised > self.requested:
            steps.append(f"raised to the floor {raised:,}")
        if self.reserve < raised:
            remain = "remains" if self.prompt == 1 else "remain"
            steps.append(
                f"capped at {self.reserve:,} so that {self.prompt:,} {remain} for the prompt"
            )
        return ", then ".join(steps)


def plan_budget(
    window_tokens: float,
    reserve_tokens: float = RESERVE_TOKENS,
    floor_tokens: float = RESERVE_FLOOR_TOKENS,
) -> Budget:
    """Divide a window (SPEC1 12.2). The final reserve is capped, floor or not (CONFLICT-2).

    Fractions are cut off; what is negative or not a number counts as 0.
    """
    window, requested, floor = map(_whole, (window_tokens, reserve_tokens, floor_tokens))
    min_prompt = max(1, min(MIN_PROMPT_TOKENS, math.floor(MIN_PROMPT_RATIO * window)))
    reserve = max(0, min(max(requested, floor), window - min_prompt))
    return Budget(window, min_prompt, reserve, max(1, window - reserve), requested, floor)


def must_compact(tokens: int, budget: Budget, *, enabled: bool = True) -> bool:
    """Whether a context of `tokens` must be compacted: strictly more than the budget (SPEC1 12.4)."""
    return enabled and tokens > budget.prompt


def must_save_notes(
    tokens: int, threshold: int, *, compactions: int | None, saved_at: int | None
) -> bool:
    """Whether notes are due before a prompt of `tokens`: once between two compactions (SPEC2 5).

    Args:
        tokens: what is about to be sent.
        threshold: `Targets.flush_threshold`; 0 is never.
        compactions: how many the conversation had; None when nobody counted them.
        saved_at: that number when notes were last tried; None when they never were.
    """
    if threshold <= 0 or tokens < threshold:
        return False
    return saved_at is None or saved_at != (compactions or 0)


# ---- what a compaction aims at --------------------------------------------------------------------

_SMALLEST_SUMMARY = 64
"""A reserve of a few tokens caps a summary no further: in less nothing can be said."""
_MOST_CHUNK_OVERHEAD = 4_096


@dataclass(frozen=True, slots=True)
class Targets:
    """What a compaction aims at in a given budget; tokens, none negative.

    Attributes:
        target: the next prompt shall not be larger.
        summary_cap: the most a summary may have.
        facts_cap: the most the exact values under it may have.
        keep_recent: the most of the newest messages that is kept verbatim.
        flush_threshold: context size at which notes are saved before a compaction; 0 is never.
        chunk_overhead: what a staged request needs beside its chunk: instruction, previous summary.
        min_gain: a compaction that frees less has failed; at least 1.
    """

    target: int
    summary_cap: int
    facts_cap: int
    keep_recent: int
    flush_threshold: int
    chunk_overhead: int
    min_gain: int


def plan_targets(
    budget: Budget,
    *,
    fixed_tokens: int = 0,
    keep_recent: int = KEEP_RECENT_TOKENS,
    soft_threshold: int = SOFT_THRESHOLD_TOKENS,
) -> Targets:
    """Scale a compaction to the budget (design.md section 4).

    Args:
        budget: the divided window.
        fixed_tokens: what no compaction can fold: system prompt, tool schemas.
        keep_recent: the kept tail as configured; a small budget gets less.
        soft_threshold: how long before the budget is full notes are saved.

    Summary, exact values, kept tail and `fixed_tokens` together stay within the target as long as
    `fixed_tokens` leaves any room in it.
    """
    prompt = budget.prompt
    target = prompt * 60 // 100
    summary_cap = _summary_cap(budget)
    facts_cap = min(_clamp(prompt * 4 // 100, 64, 1_000), prompt // 4)
    room = target - fixed_tokens - summary_cap - facts_cap
    return Targets(
        target=target,
        summary_cap=summary_cap,
        facts_cap=facts_cap,
        keep_recent=max(0, min(keep_recent, room)),
        flush_threshold=max(0, prompt - soft_threshold),
        chunk_overhead=min(_MOST_CHUNK_OVERHEAD, budget.window // 8),
        min_gain=max(1, prompt * 10 // 100),
    )


def summary_output_cap(reserve_tokens: int) -> int:
    """The most tokens a summary request may write: 0.8 of the reserve (vector B15)."""
    return max(0, reserve_tokens) * 4 // 5


def _summary_cap(budget: Budget) -> int:
    """12 % of the budget within 512…4,000 (16,000 characters); less where that is too much."""
    cap = min(_clamp(budget.prompt * 12 // 100, 512, 4_000), budget.prompt // 4)
    if budget.reserve == 0:
        return cap
    return min(cap, max(_SMALLEST_SUMMARY, summary_output_cap(budget.reserve)))


# ---- routes ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RoutePlan:
    """What to do with a prompt before it is sent, and the figures that decided (SPEC1 12.2).

    Attributes:
        route: the way to go.
        estimated: tokens of the prompt.
        budget: tokens it may have.
        overflow: tokens it has too many.
        reducible_chars: characters that shortening tool results can save at most.
        threshold_chars: characters that must be reducible for shortening alone to do; 0 if it fits.
        reserve: tokens kept free.
    """

    route: Route
    estimated: int
    budget: int
    overflow: int
    reducible_chars: int
    threshold_chars: int
    reserve: int

    @property
    def must_compact(self) -> bool:
        """Whether the route compacts."""
        return self.route in ("compact_only", "compact_then_truncate")


def threshold_chars(overflow_tokens: int) -> int:
    """Characters that must be reducible for shortening alone to end an overflow; 0 for none.

    Four characters a token and a buffer of 2,048, or half as much again (context-engine.md 4.2).
    """
    if overflow_tokens <= 0:
        return 0
    return max(4 * overflow_tokens + 2_048, 6 * overflow_tokens)


def plan_route(estimated_tokens: int, budget: Budget, reducible_chars: int) -> RoutePlan:
    """Choose one of the four routes (SPEC1 12.2; context-engine.md 4.2)."""
    overflow = max(0, estimated_tokens - budget.prompt)
    threshold = threshold_chars(overflow)
    return RoutePlan(
        route=_route(overflow, reducible_chars, threshold),
        estimated=estimated_tokens,
        budget=budget.prompt,
        overflow=overflow,
        reducible_chars=reducible_chars,
        threshold_chars=threshold,
        reserve=budget.reserve,
    )


def _route(overflow: int, reducible: int, threshold: int) -> Route:
    if overflow == 0:
        return "fits"
    if reducible <= 0:
        return "compact_only"
    return "truncate_tool_results_only" if reducible >= threshold else "compact_then_truncate"


def _whole(value: float) -> int:
    return max(0, math.floor(value)) if math.isfinite(value) else 0


def _clamp(value: int, least: int, most: int) -> int:
    return max(least, min(value, most))
