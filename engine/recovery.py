"""What to do about a request that failed for its size: compact and try again, within bounds. Pure.

Bounds (SPEC1 12.5.1): at most 3 compactions a turn for overflow, 2 for timeout. A timeout counts
only when the prompt filled much of the window; a reply that has begun is never asked for again.
"""

from dataclasses import dataclass, replace
from typing import Literal

from engine.errors import (
    BackendFailed,
    BackendRefused,
    BackendSilent,
    ContextOverflow,
    EnvironmentFault,
    MessageTooLarge,
)
from engine.overflow import OverflowText, find_overflow

OVERFLOW_COMPACTIONS = 3
TIMEOUT_COMPACTIONS = 2
TIMEOUT_SHARE = 0.65
"""Of the window; a shorter prompt that times out has another reason."""
_UNTOLD_SHARE = 0.8
"""The refusing window is taken to be this share of the prompt when nobody says how large it is."""

Cause = Literal["overflow", "timeout"]


@dataclass(frozen=True, slots=True)
class Tries:
    """Compactions of the running turn, by cause."""

    overflow: int = 0
    timeout: int = 0


@dataclass(frozen=True, slots=True)
class Recovery:
    """Compact for this cause, then try again.

    `window_tokens`: the window that refused, as far as one can tell; 0 when it did not refuse.
    `is_guess`: nobody said how large that window is. `prompt_tokens`: how large the prompt was said
    to be, 0 when it was not.
    """

    cause: Cause
    tries: Tries
    window_tokens: int = 0
    prompt_tokens: int = 0
    is_guess: bool = False


def plan_recovery(
    fault: EnvironmentFault, tries: Tries, *, sent_tokens: int, window_tokens: int
) -> Recovery | None:
    """What to do after a request of `sent_tokens` failed before a word; None to give up."""
    overflow = overflow_of(fault)
    if overflow is not None:
        if tries.overflow >= OVERFLOW_COMPACTIONS:
            return None
        told = overflow.window_tokens or int(_UNTOLD_SHARE * sent_tokens)
        return Recovery(
            "overflow",
            replace(tries, overflow=tries.overflow + 1),
            min(window_tokens, told),
            overflow.prompt_tokens,
            is_guess=not overflow.window_tokens,
        )
    is_large = window_tokens > 0 and sent_tokens / window_tokens > TIMEOUT_SHARE
    if isinstance(fault, BackendSilent) and is_large and tries.timeout < TIMEOUT_COMPACTIONS:
        return Recovery("timeout", replace(tries, timeout=tries.timeout + 1))
    return None


def overflow_of(fault: EnvironmentFault) -> OverflowText | None:
    """The figures of a refusal for the prompt's size; None for every other fault.

    Servers say it in many words; a rate limit is no overflow.
    """
    if isinstance(fault, MessageTooLarge):
        return None
    if isinstance(fault, ContextOverflow):
        return OverflowText(fault.prompt_tokens, fault.window_tokens)
    if isinstance(fault, BackendRefused):
        return find_overflow(fault.detail or fault.sentence)
    if isinstance(fault, BackendFailed):
        return find_overflow(fault.sentence)
    return None
