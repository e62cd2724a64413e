"""When a model runs as it was trained, and when its context is stretched with YaRN. Pure.

A model trained on fewer tokens than its window answers well up to its trained window and breaks
soon after it; stretched it works beyond, and worse everywhere. So `auto` stays native until the
conversation really passes the trained window::

    native ──(the next token's position would be the trained window)──▶ stretched
    stretched ──(a shorter prompt comes that would be read anew anyway)──▶ native
"""

from dataclasses import dataclass
from typing import Literal

from engine.backends.base import Stretch

Change = Literal["none", "stretch", "return"]
_RETURN_TOKENS = 1024
"""A reply of this many tokens must fit natively before it is worth going back."""


@dataclass(frozen=True, slots=True)
class StretchPlan:
    """What may be done with a model trained on `trained_tokens` (0 unknown).

    `window_tokens` is the window that counts: what was asked for, or the trained window if the
    model may not be stretched.
    """

    stretch: Stretch
    trained_tokens: int
    window_tokens: int

    @property
    def is_needed(self) -> bool:
        """Whether the window is larger than what the model was trained for."""
        return 0 < self.trained_tokens < self.window_tokens

    @property
    def starts_stretched(self) -> bool:
        """Whether the first context is made with YaRN."""
        return self.is_needed and self.stretch == "yarn"


def plan_stretch(stretch: Stretch, trained_tokens: int, window_tokens: int) -> StretchPlan:
    """The window and the ways of a load."""
    if stretch == "off" and 0 < trained_tokens < window_tokens:
        window_tokens = trained_tokens
    return StretchPlan(stretch, trained_tokens, window_tokens)


def plan_change(
    plan: StretchPlan, *, stretched: bool, prompt_tokens: int, reused_tokens: int
) -> Change:
    """What to do with the context before a prompt is read.

    `reused_tokens` is what the cache as it is would save.
    """
    if plan.stretch != "auto" or not plan.is_needed:
        return "none"
    if not stretched:
        return "stretch" if prompt_tokens >= plan.trained_tokens else "none"
    margin = min(_RETURN_TOKENS, plan.trained_tokens // 8)
    fits = prompt_tokens + margin <= plan.trained_tokens
    is_cheap = 2 * reused_tokens < prompt_tokens or reused_tokens <= margin // 4
    return "return" if fits and is_cheap else "none"


def must_stretch(plan: StretchPlan, *, stretched: bool, position: int) -> bool:
    """Whether the context must be made anew before a token is evaluated at `position`."""
    return (
        plan.stretch == "auto"
        and plan.is_needed
        and not stretched
        and position >= plan.trained_tokens
    )
