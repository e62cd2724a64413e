"""Why a reserve is not what was typed: the steps, in figures and words. Pure.

All arithmetic is `engine.budget`'s; this only tells what it did.
"""

from dataclasses import dataclass
from typing import Literal

from app.words import joined, translate
from engine.budget import Budget, plan_budget, plan_targets

StepKind = Literal["typed", "floor", "cap"]


@dataclass(frozen=True, slots=True)
class Effective:
    """A reserve as it was typed and as it holds in one window; tokens.

    Attributes:
        typed: what stands in the field.
        floor: what smaller reserves are raised to; 0 for none.
        budget: what the engine makes of both.
    """

    typed: int
    floor: int
    budget: Budget

    @property
    def reserve(self) -> int:
        """What is really kept for the reply."""
        return self.budget.reserve

    @property
    def prompt(self) -> int:
        """What that leaves for the prompt."""
        return self.budget.prompt

    @property
    def window(self) -> int:
        """The whole window, 0 while it is not known."""
        return self.budget.window

    @property
    def differs(self) -> bool:
        """Whether there is something to explain."""
        return self.window > 0 and self.typed != self.reserve

    @property
    def is_raised(self) -> bool:
        """Whether the floor is what counts, and not what was typed."""
        return self.floor > self.typed

    @property
    def is_capped(self) -> bool:
        """Whether the prompt's smallest share is what counts in the end."""
        return self.reserve < max(self.typed, self.floor)

    def steps(self) -> tuple[tuple[StepKind, int], ...]:
        """What became of it, in order; the last step is what counts."""
        steps: list[tuple[StepKind, int]] = [("typed", self.typed)]
        if self.is_raised:
            steps.append(("floor", self.floor))
        if self.is_capped:
            steps.append(("cap", self.reserve))
        return tuple(steps)

    @property
    def sentence(self) -> str:
        """What is in effect, and how to have it as typed where that can be had."""
        said = translate(
            "Preferences", "In effect: {reserve}, leaving {prompt} for the prompt."
        ).format(reserve=f"{self.reserve:,}", prompt=f"{self.prompt:,}")
        if not self.is_raised or plan_budget(self.window, self.typed, 0).reserve != self.typed:
            return said
        hint = translate("Preferences", "Set the floor to 0 to use {typed} as typed.")
        return joined(said, hint.format(typed=f"{self.typed:,}"))


def plan_effective(window_tokens: int, typed: int, floor: int) -> Effective:
    """What a typed reserve and a floor come to in a window of so many tokens."""
    return Effective(typed, floor, plan_budget(window_tokens, typed, floor))


def step_words(kind: StepKind, tokens: int) -> str:
    """A step in the few words of its tag."""
    words = {
        "typed": translate("Preferences", "typed {tokens}"),
        "floor": translate("Preferences", "floor raises to {tokens}"),
        "cap": translate("Preferences", "capped at {tokens}"),
    }
    return words[kind].format(tokens=f"{tokens:,}")


def plan_kept(effective: Effective, keep_recent: int) -> int:
    """The most of the newest messages that stays word for word; tokens.

    Without the system prompt, whose size is the conversation's: it takes its part of it.
    """
    return plan_targets(effective.budget, keep_recent=keep_recent).keep_recent


def kept_words(effective: Effective, keep_recent: int) -> str:
    """What holds instead of the tail that was typed; empty where it is the same or not known."""
    kept = plan_kept(effective, keep_recent)
    if not effective.window or kept == keep_recent:
        return ""
    said = translate("Preferences", "In effect: at most {tokens} at this window")
    return said.format(tokens=f"{kept:,}")
