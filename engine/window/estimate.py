"""What a model with a window would take of the machine's memory, and whether that is there. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from engine.window.request import OVERHEAD_BYTES, WINDOW_STEP_TOKENS, kv_bytes

USUAL_WINDOWS = (16_384, 24_576, 32_768)
"""The windows that are compared: from the smallest allowed to the largest asked for by default."""
_TIGHT_SHARE = 0.9
"""Of what is free: beyond, any other program that is started makes it too little."""

MemoryVerdict = Literal["fits", "tight", "too_large", "unknown"]


@dataclass(frozen=True, slots=True)
class MemoryEstimate:
    """What a window of `window` tokens would take, bytes.

    `weights_bytes` 0 and `context_bytes` 0 mean that it is not known. `work_bytes` is what the
    program itself needs, rounded up.
    """

    window: int
    weights_bytes: int
    context_bytes: int
    work_bytes: int
    verdict: MemoryVerdict = "unknown"

    @property
    def needed_bytes(self) -> int:
        """All of it."""
        return self.weights_bytes + self.context_bytes + self.work_bytes


def plan_memory_estimates(
    weights_bytes: int,
    kv_bytes_per_token: int,
    kv_type: Literal["f16", "q8_0"],
    available_bytes: int | None,
    windows: Sequence[int] = USUAL_WINDOWS,
) -> tuple[MemoryEstimate, ...]:
    """What each window would take.

    `kv_bytes_per_token` is the cost in f16, `kv_type` what is used. `available_bytes` None: the
    machine does not say, or the model runs on another one; the verdict is "unknown" then, and
    wherever the weights or the cost of the context are not known.
    """
    per_token = kv_bytes(max(0, kv_bytes_per_token), kv_type)
    return tuple(
        _estimate(max(0, weights_bytes), per_token, window, available_bytes) for window in windows
    )


def _estimate(weights: int, per_token: int, window: int, available: int | None) -> MemoryEstimate:
    size = -(-window // WINDOW_STEP_TOKENS) * WINDOW_STEP_TOKENS
    context = size * per_token
    verdict: MemoryVerdict = "unknown"
    needed = weights + context + OVERHEAD_BYTES
    if available is not None and weights and context:
        verdict = "fits" if needed <= _TIGHT_SHARE * available else "tight"
        verdict = verdict if needed <= available else "too_large"
    return MemoryEstimate(window, weights, context, OVERHEAD_BYTES, verdict)
