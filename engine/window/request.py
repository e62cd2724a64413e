"""What is asked of a backend, what fits the machine, and what is believed afterwards.

::

    resolve_window ─▶ plan_window_request ─▶ plan_guard ─▶ load ─▶ settle_window ─▶ plan_guard
                      (trained, cap, memory)                       (loaded, slots)

Every step may lower the window and names itself as the source when it does; none raises it.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from engine.errors import MemoryShort
from engine.window.resolution import ContextWindow, cap_window, positive_tokens

if TYPE_CHECKING:  # a name only: the backends' values would be half of what importing this costs
    from engine.backends.base import Stretch

CAP_TOKENS = 32_768
"""Default of the global cap: small windows are what this application is for."""

OVERHEAD_BYTES = 256 * 1024 * 1024
"""What a model needs besides weights and KV cache.

The worker process itself (41 MiB measured, Python and llama.cpp), the compute buffer at a batch of
128 with flash attention (25 MiB measured at 32,768 tokens), and the scores of one batch over a
large vocabulary (128 · 262,144 · 4 bytes = 128 MiB), rounded up.
"""

WINDOW_STEP_TOKENS = 256
"""llama.cpp rounds the size of a context up to a multiple of this."""

_Q8_0_SHARE = (34, 64)
"""A block of 32 values: 34 bytes as q8_0, 64 as f16."""


@dataclass(frozen=True, slots=True)
class WindowPlan:
    """A window after a step, how it may be stretched, and what the user must be told (sentences).

    `stretch` is what the backend is told; off unless the window is larger than the trained one.
    """

    window: ContextWindow
    notes: tuple[str, ...] = ()
    stretch: "Stretch" = "off"


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """Whether a model fits with a window. Bytes and tokens.

    `needed_bytes` is for the whole window. `largest_window` is the largest one that fits, a
    multiple of 256, 0 when not even the weights do; None when it cannot be told.
    """

    needed_bytes: int
    fits: bool
    largest_window: int | None


@dataclass(frozen=True, slots=True)
class StretchPlan:
    """What becomes of a window larger than the model was trained for.

    `mode` is what the backend is told: off unless the window really is larger. `factor` is window
    over trained, 1 when nothing is stretched. `sentence` is for the user, empty when nothing is up.
    """

    window: ContextWindow
    mode: "Stretch"
    factor: float
    sentence: str = ""


def kv_bytes(kv_bytes_per_token: int, kv_type: Literal["f16", "q8_0"]) -> int:
    """The cost of one token of context in bytes, from its cost in f16; rounded up."""
    if kv_type == "f16":
        return kv_bytes_per_token
    share, whole = _Q8_0_SHARE
    return -(-kv_bytes_per_token * share // whole)


def plan_memory(
    weights_bytes: int, kv_bytes_per_token: int, window: int, available_bytes: int | None
) -> MemoryPlan:
    """Whether weights, KV cache of `window` tokens and overhead fit into what is available.

    `available_bytes` None: the machine does not say, which counts as enough. A cost per token of 0
    is an unknown one: then only the weights are judged. Checked before a context is made, because
    llama.cpp would go on filling memory until the system kills it.
    """
    size = -(-max(0, window) // WINDOW_STEP_TOKENS) * WINDOW_STEP_TOKENS
    fixed = max(0, weights_bytes) + OVERHEAD_BYTES
    per_token = max(0, kv_bytes_per_token)
    needed = fixed + size * per_token
    if available_bytes is None:
        return MemoryPlan(needed, fits=True, largest_window=None)
    room = available_bytes - fixed
    if room < 0:
        return MemoryPlan(needed, fits=False, largest_window=0)
    if per_token == 0:
        return MemoryPlan(needed, fits=True, largest_window=None)
    largest = room // per_token // WINDOW_STEP_TOKENS * WINDOW_STEP_TOKENS
    return MemoryPlan(needed, fits=needed <= available_bytes, largest_window=largest)


def memory_short(model: str, plan: MemoryPlan, available_bytes: int) -> MemoryShort:
    """The fault for a model that does not fit, however small the window."""
    return MemoryShort(
        f"{model} does not fit into this machine's memory: it needs {_size(plan.needed_bytes)}, "
        f"and {_size(available_bytes)} are free.",
        "Close other programs, or choose a smaller model (porthole models).",
    )


def plan_stretch(window: ContextWindow, mode: "Stretch") -> StretchPlan:
    """Hold a window against what the model was trained on (`window.trained`, 0: unknown).

    off clamps to the trained window; auto and yarn let the larger one stand. The sentence names
    both figures and what happens past the trained one.
    """
    trained = window.trained
    if trained <= 0 or window.tokens <= trained:
        return StretchPlan(window, "off", 1.0)
    both = f"{window.tokens:,} tokens, trained on {trained:,}"
    match mode:
        case "off":
            clamped = replace(window, tokens=trained, source="trained")
            sentence = (
                f"The window is {trained:,} tokens and not {window.tokens:,}: "
                "the model was trained on no more, and stretching is off."
            )
            return StretchPlan(clamped, "off", 1.0, sentence)
        case "auto":
            sentence = (
                f"The window is {both}: up to {trained:,} the model runs as it was trained; past "
                f"{trained:,} the conversation is read once more in a window stretched with YaRN, "
                "and answers get less reliable."
            )
        case "yarn":
            sentence = (
                f"The window is {both}: it is stretched with YaRN from the start, which reaches "
                f"past {trained:,} and makes answers less reliable at any length."
            )
    return StretchPlan(window, mode, window.tokens / trained, sentence)


def plan_window_request(
    window: ContextWindow,
    *,
    stretch: "Stretch" = "off",
    cap_tokens: object = CAP_TOKENS,
    memory_tokens: int | None = None,
) -> WindowPlan:
    """What is requested: the least of resolved window, trained one (unless stretched), cap, memory.

    `memory_tokens` is `MemoryPlan.largest_window`; None: unknown. It must not be 0: a model that
    does not fit at all is a `memory_short`, and here asks for a single token, which is blocked.
    """
    notes = []
    window = cap_window(window, cap_tokens)
    if window.held_from:
        notes.append(
            f"The window is {window.tokens:,} tokens and not {window.held_from:,}: "
            "context.cap_tokens in the settings allows no more."
        )
    if stretch == "off":
        clamped = plan_stretch(window, "off")
        window = clamped.window
        notes.append(clamped.sentence)
    if memory_tokens is not None and memory_tokens < window.tokens:
        fitting = max(1, memory_tokens)
        notes.append(
            f"The window is {fitting:,} tokens and not {window.tokens:,}: "
            "no more fits into this machine's memory."
        )
        window = replace(window, tokens=fitting, source="memory")
    stretched = plan_stretch(window, stretch)
    notes.append(stretched.sentence)
    return WindowPlan(
        replace(window, requested=window.tokens),
        tuple(note for note in notes if note),
        stretched.mode,
    )


def settle_window(window: ContextWindow, loaded_tokens: object, slots: int = 1) -> WindowPlan:
    """Believe only what was really loaded.

    `loaded_tokens` is the backend's whole window, `slots` how many conversations share it; a
    backend that reports one conversation's share (`Loaded.window_tokens`, Ollama's /api/ps) has one
    slot. A smaller share than requested counts from now on. A larger one changes nothing: every
    request goes on asking for the same. An unknown one (0, invalid) leaves the request standing.
    """
    wanted = window.requested or window.tokens
    loaded = positive_tokens(loaded_tokens)
    if loaded is None:
        return WindowPlan(replace(window, tokens=wanted))
    share = max(1, loaded // max(1, slots))
    if share >= wanted:
        return WindowPlan(replace(window, tokens=wanted, loaded=loaded, per_slot=share))
    split = f" ({loaded:,} shared by {slots} conversations)" if slots > 1 else ""
    note = (
        f"{wanted:,} tokens were asked for and {share:,} were loaded{split}: {share:,} is the "
        "window that counts."
    )
    settled = replace(window, tokens=share, source="loaded", loaded=loaded, per_slot=share)
    return WindowPlan(settled, (note,))


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB"
