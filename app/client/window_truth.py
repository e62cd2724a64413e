"""The truth about one model's window: requested, trained, loaded, memory, guard, and what helps.

::

    read ──▶ describe, what is loaded, free memory ─▶ ModelTruth
    apply ─▶ a cure's settings into the file ───────▶ in effect ─▶ ModelTruth

Nothing is loaded for it. What the cures would do is planned as the next turn plans it, so that
none is offered that would not work.
"""

import asyncio
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import urlsplit

from app.client.models import Models, WindowFacts, details_of, title_of_model, worker_memory
from app.client.preferences import Preferences, Spot
from app.client.talk import Talk
from app.client.talks import Talks
from app.client.values import GuardState
from app.sentences import localized
from app.wiring import Workplace, kept_options
from engine.backends.base import ModelInfo
from engine.backends.ollama_wire import RunningModel, full_name
from engine.errors import EnvironmentFault
from engine.models import ModelName, ModelPlan
from engine.readiness import free_memory, plan_place, plan_ready
from engine.settings import Value
from engine.window import (
    MOST_STRETCH,
    ContextWindow,
    Endpoint,
    MemoryEstimate,
    Source,
    guard_words,
    plan_guard,
    plan_memory_estimates,
    settle_window,
    suggested_window,
)

FigureKind = Literal["requested", "trained", "loaded", "per_chat"]
CureKind = Literal["window", "ask", "stretch", "cap", "half_context"]
Origin = Source | Literal["metadata", "process", "server", "not_loaded", "alone", "shared", ""]
_PATIENCE_SECONDS = 5.0
"""A panel that is looked at does not wait longer for a backend."""
_MOST_SHARING = 8
_LOOPBACK = ("127.", "localhost", "[::1]", "::1")


@dataclass(frozen=True, slots=True)
class WindowFigure:
    """One row of the truth; tokens, 0 when not known. `origin`: who says it.

    `decides`: this figure makes the window what it is. `sharing`: so many chats seem to share
    what is loaded, 0 for no sign of it. `stretched`: the window is so many times larger, 0 if not.
    """

    kind: FigureKind
    tokens: int
    origin: Origin = ""
    decides: bool = False
    sharing: int = 0
    stretched: float = 0.0


@dataclass(frozen=True, slots=True)
class Cure:
    """Settings that give the model a window of `tokens`; `trained` is what it was trained on."""

    kind: CureKind
    tokens: int
    settings: tuple[tuple[Spot, Value], ...]
    trained: int = 0


@dataclass(frozen=True, slots=True)
class ModelTruth:
    """All of it; tokens and bytes, 0 when unknown.

    Attributes:
        model: its name, as the user writes it; `title` for people.
        backend: "llama.cpp", "ollama", …; `place`: its file, or the server's address.
        details: architecture, size, quantisation.
        guard: the verdict; `remedy` says what to do about it where no setting here helps.
        window: what counts, or would.
        figures: requested, trained, loaded, per chat.
        memory: what usual windows would take; empty when it is not known.
        free_bytes, total_bytes: of this machine. `elsewhere`: it runs on another one.
        hard_min, warn_below: the limits that are set.
        cloud: it runs on ollama.com, and what is said to it leaves this computer.
        server: what is to be known of the server that runs it, a sentence; "" for nothing.
        problem: why nothing is known; everything else is empty then.
    """

    model: str
    title: str
    backend: str = ""
    place: str = ""
    details: str = ""
    guard: GuardState = "unknown"
    remedy: str = ""
    window: int = 0
    figures: tuple[WindowFigure, ...] = ()
    memory: tuple[MemoryEstimate, ...] = ()
    free_bytes: int = 0
    total_bytes: int = 0
    elsewhere: bool = False
    cures: tuple[Cure, ...] = ()
    hard_min: int = 0
    warn_below: int = 0
    problem: str = ""
    cloud: bool = False
    server: str = ""


@dataclass(frozen=True, slots=True)
class _Live:
    """What is loaded just now, as far as can be told without loading anything.

    `window` None: not by us. `reported` is what the server says it has loaded, for whomever.
    """

    window: ContextWindow | None = None
    reported: int = 0
    taken_bytes: int = 0


class WindowTruth:
    """What a window can ask and change about single models; used on the client's loop.

    Args:
        workplace: settings, backends.
        models: what is known of models.
        talks: the conversations in use, and with what they are loaded.
        preferences: changes settings.
    """

    def __init__(
        self, workplace: Workplace, models: Models, talks: Talks, preferences: Preferences
    ) -> None:
        self._workplace = workplace
        self._models = models
        self._talks = talks
        self._preferences = preferences

    async def read(self, model: str = "") -> ModelTruth:
        """The truth about a model; "" for the default one. Never raises for one that is amiss."""
        try:
            name = self._workplace.model_name(model or None)
            async with asyncio.timeout(_PATIENCE_SECONDS):
                info = await self._models.learn_info(name)
                live = await self._live(name)
        except EnvironmentFault as fault:
            problem, cloud = localized(str(fault)), self._models.is_cloud(model)
            return ModelTruth(model, model, guard="block", problem=problem, cloud=cloud)
        except TimeoutError:
            return ModelTruth(model, title_of_model(name.label, None, ""), name.backend)
        try:
            return self._truth(name, info, live)
        except EnvironmentFault as fault:  # its weights do not fit
            title = title_of_model(name.label, info, self._workplace.starter.title)
            problem = localized(str(fault))
            return ModelTruth(name.label, title, name.backend, guard="block", problem=problem)

    async def apply(self, model: str, cure: Cure) -> ModelTruth:
        """Save a cure's settings, in effect at once; the truth afterwards.

        Raises SettingsUnusable when the file cannot be changed: it is then as it was.
        """
        await self._preferences.restore(cure.settings, model)
        return await self.read(model)

    # ---- asking ---------------------------------------------------------------------------------

    async def _live(self, name: ModelName) -> _Live:
        """What is loaded: by a conversation of this run, or by the server for anybody."""
        backend = self._workplace.backend(name.backend)
        taken = worker_memory(backend)
        window = self._loaded_window(name.label)
        running = await _running(backend, name.name)
        if running is None:
            return _Live(window, 0, taken)
        return _Live(window, running.window_tokens, running.size_bytes)

    def _loaded_window(self, label: str) -> ContextWindow | None:
        for talk in self._in_order():
            ready = talk.session.ready if talk.session is not None else None
            if talk.session is not None and ready is not None and talk.session.plan.label == label:
                return ready.window
        return None

    def _refused_window(self, label: str) -> int:
        """What was loaded for a conversation and was too small to be used; 0 for none."""
        for talk in self._in_order():
            facts: WindowFacts | None = talk.window
            if facts is not None and facts.model == label and facts.guard == "block":
                return facts.tokens
        return 0

    def _in_order(self) -> list[Talk]:
        """The conversations, the shown one first."""
        return sorted(self._talks.all(), key=lambda talk: talk.id != self._talks.shown)

    def _plan(self, name: ModelName) -> ModelPlan:
        """How it is run: in the shown conversation, if that is one with this model."""
        shown = next((t for t in self._talks.all() if t.id == self._talks.shown), None)
        options = (kept_options(shown.path),) if shown and shown.model == name.label else ()
        return self._workplace.plan(name, options)

    # ---- putting together -----------------------------------------------------------------------

    def _truth(self, name: ModelName, info: ModelInfo, live: _Live) -> ModelTruth:
        plan = plan_place(self._plan(name), info)
        is_own = name.backend == "llama.cpp"
        place = name.name if is_own else str(getattr(self._backend(name), "address", ""))
        elsewhere = info.cloud or (not is_own and not _is_here(place))
        free = 0 if elsewhere else (free_memory() or 0) + live.taken_bytes
        available = (free or None) if is_own else None
        window = self._window(plan, info, live, available)
        guard = plan_guard(
            window.tokens, plan.limits.hard_min_tokens, plan.limits.warn_below_tokens
        )
        figures = plan_figures(
            window, live.reported, is_trouble=guard.block or guard.warn, is_own=is_own
        )
        if info.cloud:  # which is loaded nowhere that could be asked
            figures = tuple(row for row in figures if row.kind in ("requested", "trained"))
        cures = plan_cures(plan, info, window, available)
        is_helpless = guard.block or window.source in ("loaded", "memory")
        words = guard_words(plan.label, window, guard, Endpoint(plan.self_hosted, is_own))
        return ModelTruth(
            name.label,
            title_of_model(name.label, info, self._workplace.starter.title),
            name.backend,
            place,
            details_of(info),
            "block" if guard.block else "warn" if guard.warn else "ok",
            localized(words.remedy) if words and not cures and is_helpless else "",
            window.tokens,
            figures,
            _memory(plan, info, None if elsewhere else free or None),
            free,
            0 if elsewhere else _total_memory(),
            elsewhere,
            cures,
            plan.limits.hard_min_tokens,
            plan.limits.warn_below_tokens,
            cloud=info.cloud,
            server=localized(info.cuts),
        )

    def _backend(self, name: ModelName) -> object:
        return self._workplace.backend(name.backend)

    def _window(
        self, plan: ModelPlan, info: ModelInfo, live: _Live, available: int | None
    ) -> ContextWindow:
        """What is loaded, was loaded and refused, or would be asked for."""
        if live.window is not None:
            return live.window
        asked = plan_ready(plan, info, available)[0].window
        refused = self._refused_window(plan.label)
        return settle_window(asked, refused).window if refused else asked


# ---- plans --------------------------------------------------------------------------------------


def plan_figures(
    window: ContextWindow, reported: int = 0, *, is_trouble: bool, is_own: bool
) -> tuple[WindowFigure, ...]:
    """The rows: every figure with who says it; the one that decides is marked where it hurts.

    `reported`: tokens the server has the model loaded with, for whomever; 0 when it does not say.
    """
    source = window.source
    deciding: FigureKind = "requested"
    if source == "loaded":
        deciding = "loaded" if window.loaded == window.per_slot else "per_chat"
    elif source in ("trained", "model") and window.trained == window.tokens:
        deciding = "trained"
    loaded = window.loaded or reported
    origin: Origin = "process" if is_own else "server"
    share = window.per_slot or loaded
    sharing = _sharing(window, loaded, share)
    is_stretched = 0 < window.trained < window.tokens
    stretched = window.tokens / window.trained if is_stretched else 0.0
    asked: Origin = "" if source == "loaded" else source
    rows = (
        WindowFigure("requested", window.requested or window.tokens, asked),
        WindowFigure(
            "trained", window.trained, "metadata" if window.trained else "", stretched=stretched
        ),
        WindowFigure("loaded", loaded, origin if loaded else "not_loaded"),
        WindowFigure(
            "per_chat",
            share,
            "" if not share else "shared" if sharing else "alone",
            sharing=sharing,
        ),
    )
    return tuple(replace(row, decides=is_trouble and row.kind == deciding) for row in rows)


def _sharing(window: ContextWindow, loaded: int, share: int) -> int:
    """Between how many chats the server seems to divide what it loads; 0 for no sign of it."""
    if share and loaded > share:
        return loaded // share
    wanted = window.requested
    if window.source == "loaded" and share and wanted % share == 0:
        parts = wanted // share
        return parts if 2 <= parts <= _MOST_SHARING else 0
    return 0


def plan_cures(
    plan: ModelPlan, info: ModelInfo, window: ContextWindow, available: int | None
) -> tuple[Cure, ...]:
    """What would lift the window over its limits, the likeliest first; only what would work.

    A window that a server loaded smaller than it was asked for is not cured by asking for more.
    """
    limits = plan.limits
    guard = plan_guard(window.tokens, limits.hard_min_tokens, limits.warn_below_tokens)
    if window.source == "loaded":
        return ()
    least = suggested_window(limits.hard_min_tokens)
    wanted = [least] if guard.block else []
    wanted += [suggested_window(limits.warn_below_tokens)] if guard.warn or guard.block else []
    found: list[Cure] = []
    for tokens in dict.fromkeys(wanted):
        first: CureKind = "ask" if plan.backend == "ollama" and tokens > least else "window"
        cures = (_tried(plan, info, available, cure) for cure in _ways(plan, info, tokens, first))
        cure = next((cure for cure in cures if cure is not None), None)
        if cure is not None and cure.tokens > window.tokens:
            found.append(cure)
    return tuple(found)


def _ways(plan: ModelPlan, info: ModelInfo, tokens: int, first: CureKind) -> list[Cure]:
    """The ways to such a window, the smallest change first."""
    size = (Spot("context_window", plan.label), tokens)
    cap = (Spot("context.cap_tokens"), tokens)
    stretch = (Spot("stretch", plan.label), "auto")
    half = (Spot("kv_type", plan.label), "q8_0")
    is_capped = plan.limits.cap_tokens < tokens
    ways = [Cure(first, tokens, (size,))]
    if is_capped:
        ways += [Cure("cap", tokens, (cap,)), Cure("cap", tokens, (cap, size))]
    if plan.backend == "llama.cpp":
        trained = info.trained_window
        if plan.kv_type == "f16":
            ways += [Cure("half_context", tokens, (half,))]
            ways += [Cure("half_context", tokens, (half, size))]
        if 0 < trained < tokens <= MOST_STRETCH * trained:
            ways += [Cure("stretch", tokens, (stretch, size), trained)]
            ways += [Cure("stretch", tokens, (stretch, size, cap), trained)] if is_capped else []
    return ways


def _tried(plan: ModelPlan, info: ModelInfo, available: int | None, cure: Cure) -> Cure | None:
    """The cure, if the next turn would have that window with it."""
    changes: dict[str, Any] = {}
    limits = plan.limits
    for spot, value in cure.settings:
        if spot.key == "context_window":
            changes["window_setting"] = value
        elif spot.key == "context.cap_tokens":
            assert isinstance(value, int)
            limits = replace(limits, cap_tokens=value)
        else:
            changes[spot.key] = value
    try:
        got = plan_ready(replace(plan, limits=limits, **changes), info, available)[0].window
    except EnvironmentFault:
        return None
    too_far = 0 < info.trained_window * MOST_STRETCH < got.tokens
    return cure if got.tokens == cure.tokens and not too_far else None


def _memory(plan: ModelPlan, info: ModelInfo, available: int | None) -> tuple[MemoryEstimate, ...]:
    if not info.weights_bytes or not info.kv_bytes_per_token:
        return ()
    return plan_memory_estimates(
        info.weights_bytes, info.kv_bytes_per_token, plan.kv_type, available
    )


# ---- the machine --------------------------------------------------------------------------------


async def _running(backend: object, model: str) -> RunningModel | None:
    """The model's place in the server's memory; None when it is not there or cannot be told."""
    ask = getattr(backend, "ps", None)
    if ask is None:
        return None
    try:
        running = await ask()
    except EnvironmentFault:
        return None
    return next((one for one in running if full_name(one.name) == full_name(model)), None)


def _is_here(address: str) -> bool:
    """Whether a server runs on this machine, so that its memory is the server's."""
    host = urlsplit(address if "://" in address else f"//{address}").netloc.rpartition("@")[2]
    return host.startswith(_LOOPBACK)


def _total_memory() -> int:
    import psutil

    return int(psutil.virtual_memory().total)
