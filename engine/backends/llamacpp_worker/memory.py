"""Whether a model and its context fit this machine, computed before anything is allocated.

llama.cpp touches every page of a KV cache when it makes a context: asked for a million tokens it
fills the machine until something is killed. So nothing native is asked before this was.
"""

from dataclasses import dataclass

from engine.errors import MemoryShort

OVERHEAD_BYTES = 256 * 2**20
"""The process itself, compute buffers for batches of 128, logits of a large vocabulary."""
Q8_SHARE = 34 / 64
"""A q8_0 block holds 32 values in 34 bytes; f16 needs 64."""
WINDOW_STEP = 256
"""Windows are offered in multiples of this many tokens, as llama.cpp rounds them."""


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """What a load would take, bytes, and the largest window the free memory allows, tokens."""

    needed_bytes: int
    available_bytes: int
    largest_window: int

    @property
    def fits(self) -> bool:
        """Whether the load may go on."""
        return self.needed_bytes <= self.available_bytes


def plan_memory(
    *, available_bytes: int, weights_bytes: int, kv_bytes_per_token: int, window_tokens: int
) -> MemoryPlan:
    """Weigh a load against the free memory.

    `weights_bytes` is 0 when the weights are in memory already; `kv_bytes_per_token` 0 means that
    the cost is unknown, and only the weights count.
    """
    fixed = weights_bytes + OVERHEAD_BYTES
    needed = fixed + kv_bytes_per_token * window_tokens
    if kv_bytes_per_token <= 0:
        return MemoryPlan(needed, available_bytes, window_tokens)
    room = max(0, available_bytes - fixed) // kv_bytes_per_token
    return MemoryPlan(needed, available_bytes, room - room % WINDOW_STEP)


def memory_short(plan: MemoryPlan, window_tokens: int) -> MemoryShort:
    """The refusal of a plan that does not fit, with the figures and the way out."""
    sentence = (
        f"A context window of {window_tokens:,} tokens needs {_gigabytes(plan.needed_bytes)} of "
        f"memory for this model, and {_gigabytes(plan.available_bytes)} are free."
    )
    if plan.largest_window >= WINDOW_STEP:
        remedy = (
            f"The largest window that fits now is {plan.largest_window:,} tokens; "
            "close other programs, or choose a smaller window or model."
        )
    else:
        remedy = "Not even its weights fit; close other programs, or choose a smaller model."
    return MemoryShort(sentence, remedy)


def _gigabytes(size: int) -> str:
    return f"{size / 2**30:,.1f} GB"
