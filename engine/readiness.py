"""Getting a model ready: which window it gets, whether that is allowed, what was really loaded.

::

    describe ─▶ resolve ─▶ cap, trained, memory ─▶ guard ─▶ load ─▶ settle ─▶ guard ─▶ Ready

The policy is `engine.window`'s; this module asks the backend and walks the steps. A window under the
hard minimum is refused before anything is loaded, and again if less was loaded than asked.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from engine.backends.base import Backend, Loaded, LoadRequest, ModelInfo
from engine.errors import MemoryShort
from engine.models import ModelPlan
from engine.window import (
    Claim,
    ContextWindow,
    Endpoint,
    WindowPlan,
    effective_model_window,
    guard_words,
    kv_bytes,
    memory_short,
    plan_guard,
    plan_memory,
    plan_window_request,
    resolve_window,
    settle_window,
    window_blocked,
)

RELOADED = "reloaded"
"""Code of the notice that another program's doing had to be undone; it is news every time."""
ASIDE = frozenset({"cloud", "old_server"})
"""Codes of notices that are not about the window."""


@dataclass(frozen=True, slots=True)
class ReadyNotice:
    """Something the user should know about the model or its window; a sentence or two."""

    level: Literal["info", "warning"]
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Ready:
    """A loaded model and the window that counts for it.

    `request` and `asked` are what it was loaded with: the same every time, so that nothing is
    loaded or read twice.
    """

    window: ContextWindow
    loaded: Loaded
    request: LoadRequest
    asked: WindowPlan
    info: ModelInfo
    notices: tuple[ReadyNotice, ...] = ()

    @property
    def sees_images(self) -> bool:
        """Whether pictures may be sent to it."""
        return self.info.sees_images


def plan_ready(
    plan: ModelPlan, info: ModelInfo, available_bytes: int | None
) -> tuple[WindowPlan, LoadRequest]:
    """What to load: the window to request and how. Pure.

    `available_bytes` is the machine's free memory for a model that runs here, None for a server's.
    Raises MemoryShort when the weights alone do not fit, or the window that was asked for in so
    many words does not; the guard is the caller's next step.
    """
    trained = info.trained_window
    window = resolve_window(
        option=plan.window_option,
        configured=Claim(plan.window_setting),
        manifest=plan.window_manifest,
        model=Claim(effective_model_window(trained, info.configured_window)),
        trained_tokens=trained,
    )
    per_token = kv_bytes(info.kv_bytes_per_token, plan.kv_type)
    _refuse_impossible(plan, info.weights_bytes, per_token, available_bytes)
    memory = plan_memory(info.weights_bytes, per_token, window.tokens, available_bytes)
    if memory.largest_window == 0 and available_bytes is not None:
        raise memory_short(plan.label, memory, available_bytes)
    asked = plan_window_request(
        window,
        stretch=plan.stretch,
        cap_tokens=plan.limits.cap_tokens,
        memory_tokens=memory.largest_window,
    )
    request = LoadRequest(plan.name, asked.window.requested, asked.stretch, plan.kv_type)
    return asked, request


def _refuse_impossible(
    plan: ModelPlan, weights_bytes: int, per_token: int, available_bytes: int | None
) -> None:
    """A window the user names and no memory holds is refused, not quietly made smaller."""
    asked = plan.window_option
    if asked is None or available_bytes is None:
        return
    memory = plan_memory(weights_bytes, per_token, asked, available_bytes)
    if not memory.fits and memory.largest_window:
        raise MemoryShort(
            f"A window of {asked:,} tokens does not fit into this machine's memory: {plan.label} "
            f"would need {memory.needed_bytes / 1e9:.1f} GB, and {available_bytes / 1e9:.1f} GB "
            f"are free.",
            f"Ask for at most {memory.largest_window:,} tokens with --window, or close other "
            "programs.",
        )


def plan_notices(
    plan: ModelPlan, window: ContextWindow, notes: tuple[str, ...]
) -> tuple[ReadyNotice, ...]:
    """What to tell of a window: the notes of the steps, and the guard's warning.

    Raises WindowBlocked for a window under the hard minimum.
    """
    limits = plan.limits
    guard = plan_guard(window.tokens, limits.hard_min_tokens, limits.warn_below_tokens)
    endpoint = Endpoint(plan.self_hosted, can_stretch=plan.backend == "llama.cpp")
    words = guard_words(plan.label, window, guard, endpoint)
    if words is not None and guard.block:
        raise window_blocked(words, window.tokens)
    told = tuple(ReadyNotice("warning", "window_note", note) for note in notes)
    if plan.note:
        told = (*told, ReadyNotice("warning", "notes_too_long", plan.note))
    return told if words is None else (ReadyNotice("warning", "window_small", str(words)), *told)


def plan_place(plan: ModelPlan, info: ModelInfo) -> ModelPlan:
    """The plan, once it is known where the model runs: of what runs elsewhere nobody can say more
    than that its window is too small.
    """
    return replace(plan, self_hosted=False) if info.cloud else plan


def plan_asides(plan: ModelPlan, info: ModelInfo, loaded: Loaded) -> tuple[ReadyNotice, ...]:
    """What to tell of where a model runs."""
    told: tuple[ReadyNotice, ...] = ()
    if info.cloud:
        words = f"{plan.name} runs on ollama.com: your messages and files leave this computer."
        told = (ReadyNotice("warning", "cloud", words),)
    return (*told, ReadyNotice("warning", "old_server", loaded.cuts)) if loaded.cuts else told


async def make_ready(
    backend: Backend,
    plan: ModelPlan,
    progress: Callable[[float | None], None],
    available: Callable[[], int | None],
) -> Ready:
    """Load the plan's model with the window it is allowed.

    `available` gives the machine's free memory in bytes. Raises WindowBlocked, MemoryShort, and
    what the backend raises for a model it cannot find or load.
    """
    info = await backend.describe(plan.name)
    plan = plan_place(plan, info)
    asked, request = plan_ready(plan, info, available() if plan.backend == "llama.cpp" else None)
    plan_notices(plan, asked.window, asked.notes)
    return await _load(backend, plan, progress, (info, asked, request))


async def keep_ready(
    backend: Backend, plan: ModelPlan, progress: Callable[[float | None], None], ready: Ready
) -> Ready:
    """Load again what was loaded before, in the same way; at once when it still is.

    Raises as `make_ready`.
    """
    return await _load(backend, plan, progress, (ready.info, ready.asked, ready.request))


async def _load(
    backend: Backend,
    plan: ModelPlan,
    progress: Callable[[float | None], None],
    what: tuple[ModelInfo, WindowPlan, LoadRequest],
) -> Ready:
    info, asked, request = what
    loaded = await backend.load(request, progress)
    settled = settle_window(asked.window, loaded.window_tokens)
    plan = plan_place(plan, info)
    notices = plan_notices(plan, settled.window, (*asked.notes, *settled.notes))
    if loaded.note:
        notices = (*notices, ReadyNotice("warning", RELOADED, loaded.note))
    notices = (*plan_asides(plan, info, loaded), *notices)
    return Ready(settled.window, loaded, request, asked, info, notices)


def free_memory() -> int | None:
    """The machine's free memory in bytes, what can be freed at once included."""
    import psutil

    return int(psutil.virtual_memory().available)
