"""Models: which there are, what their windows allow, the starter and its fetch."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from app.client.knocking import require_listener
from app.client.values import Fetching, GuardState, ModelRow, ModelState, ThinkFacts, Told
from app.wiring import Workplace
from app.words import translate
from engine.backends.base import ModelInfo, ModelSummary
from engine.backends.ollama_wire import full_name, is_cloud_name
from engine.budget import plan_budget
from engine.context import UNDONE_RESERVE
from engine.errors import EnvironmentFault, WindowBlocked
from engine.models import STARTER, ModelName, ModelPlan
from engine.readiness import ASIDE, Ready, plan_notices, plan_place, plan_ready
from engine.settings import ModelSettings, save_setting
from engine.window import ContextWindow, effective_model_window

_ASKED_AT_ONCE = 4
"""Models that are asked about at the same time."""
_PATIENCE_SECONDS = 10.0
"""A list that is looked at does not wait longer for a backend."""


@dataclass(frozen=True, slots=True)
class WindowFacts:
    """What a model's context window is and what the guard says of it; tokens, 0 if unknown.

    `is_remembered`: an earlier run of the program learned it, and nobody was asked yet.
    `sees_images`: whether the model gets pictures, None while that is not known.
    """

    model: str
    words: str = ""
    tokens: int = 0
    budget: int = 0
    guard: GuardState = "unknown"
    guard_text: str = ""
    is_remembered: bool = False
    think: ThinkFacts = ThinkFacts()
    sees_images: bool | None = None


class Models:
    """The models of one workplace."""

    def __init__(self, workplace: Workplace, tell: Callable[[Told], None]) -> None:
        self._workplace = workplace
        self._tell = tell
        self._infos: dict[str, ModelInfo] = {}
        self._clouds: set[str] = set()  # labels of models that run on ollama.com
        self._loaded: dict[str, str] = {}  # by backend: the label loaded last
        self._fetch: asyncio.Task[None] | None = None
        self._watcher: Callable[[int, int], None] | None = None
        self.problems: dict[str, str] = {}
        self.disk_bytes: dict[str, int] = {}  # by backend: what the models listed last take
        self.patience_seconds = _PATIENCE_SECONDS

    # ---- windows --------------------------------------------------------------------------------

    def known_window(self, name: ModelName, options: Iterable[ModelSettings]) -> WindowFacts:
        """What can be said of a model's window without asking anybody."""
        info = self.known_info(name.label)
        if info is None and self._is_unfetched(name):
            info = self._workplace.starter_info()
        remembered = self._workplace.windows.look_up(_key(name)) if info is None else None
        if info is None and remembered is None:
            return WindowFacts(name.label)
        plan = self._workplace.plan(name, tuple(options))
        known = info or ModelInfo(name.label, trained_window=remembered or 0)
        sees = None if info is None else info.sees_images
        facts = judge(plan, known, self._reserve())
        think = self._thinking(plan.label, known)
        return replace(facts, is_remembered=info is None, think=think, sees_images=sees)

    def asked_window(self, label: str, options: Iterable[ModelSettings]) -> ContextWindow | None:
        """What would be asked for, and who decides it; None for what is not known or cannot be."""
        info = self.known_info(label)
        try:
            name = self._workplace.model_name(label)
            if info is None and self._is_unfetched(name):
                info = self._workplace.starter_info()
            if info is None:
                return None
            plan = self._workplace.plan(name, tuple(options))
            return plan_ready(plan, info, None)[0].window
        except EnvironmentFault:
            return None

    async def learn_window(self, name: ModelName, options: Iterable[ModelSettings]) -> WindowFacts:
        """The same, asking the backend (a file's header, a server). Raises EnvironmentFault."""
        await self.learn_info(name)
        return self.known_window(name, options)

    async def learn_info(self, name: ModelName) -> ModelInfo:
        """What is known of a model, asking the backend the first time. Raises EnvironmentFault."""
        if (known := self.known_info(name.label)) is not None:
            return known
        if self._is_unfetched(name):
            return self._workplace.starter_info()
        backend = self._workplace.backend(name.backend)
        info = self._infos[name.label] = await backend.describe(name.name)
        told = effective_model_window(info.trained_window, info.configured_window)
        self._workplace.windows.learn(_key(name), told)
        return info

    def loaded_window(self, label: str, ready: Ready) -> WindowFacts:
        """What a loaded model really has."""
        name = self._workplace.model_name(label)
        self._workplace.windows.learn(_key(name), ready.window.tokens)
        words = " ".join(notice.text for notice in ready.notices if notice.code not in ASIDE)
        facts = _facts(label, str(ready.window), ready.window.tokens, self._reserve(), words)
        think = self._thinking(label, ready.info)
        return replace(facts, think=think, sees_images=ready.sees_images)

    def set_anew(self, facts: WindowFacts) -> WindowFacts:
        """What is known of a loaded model, by the settings as they are now."""
        chosen = self._workplace.settings.model(facts.model).think or ""
        think = replace(facts.think, chosen=chosen)
        return replace(facts, budget=self.budget_of(facts.tokens), think=think)

    def _thinking(self, label: str, info: ModelInfo) -> ThinkFacts:
        """What a model can be told of thinking, and what is set for it."""
        known = info.capabilities
        thinks = "thinking" in known if known else True
        return ThinkFacts(info.think, thinks, self._workplace.settings.model(label).think or "")

    def budget_of(self, window_tokens: int, *, undone: bool = False) -> int:
        """What a prompt may have of a window, tokens; `undone`: after the undoing of a compaction."""
        reserve = (UNDONE_RESERVE, 0) if undone else self._reserve()
        return plan_budget(window_tokens, *reserve).prompt

    def _reserve(self) -> tuple[int, int]:
        settings = self._workplace.settings
        return settings["compaction.reserve_tokens"], settings["compaction.reserve_floor"]

    def _is_unfetched(self, name: ModelName) -> bool:
        return name.label == STARTER and not self._workplace.has_starter

    # ---- what is loaded -------------------------------------------------------------------------

    def note_loading(self, name: ModelName, fraction: float | None) -> None:
        """A model is being loaded; 1 means that it is."""
        if fraction is not None and fraction >= 1.0:
            self.note_loaded(name)
            return
        if not self.is_cloud(name.label):
            self._loaded.pop(name.backend, None)
            self._tell(ModelState(name.label, "loading", fraction))

    def note_loaded(self, name: ModelName) -> None:
        """A model is loaded, or was used just now."""
        if self._loaded.get(name.backend) != name.label and not self.is_cloud(name.label):
            self._loaded[name.backend] = name.label
            memory = worker_memory(self._workplace.backend(name.backend))
            self._tell(ModelState(name.label, "loaded", 1.0, memory))

    def note_failed(self, name: ModelName) -> None:
        """A model could not be loaded, or broke."""
        self._loaded.pop(name.backend, None)
        self._tell(ModelState(name.label, "failed"))

    def note_unloaded(self, name: ModelName) -> None:
        """A model was put out of the memory."""
        if same_model(self._loaded.get(name.backend, ""), name.label):
            del self._loaded[name.backend]
            self._tell(ModelState(name.label, "none"))

    def known_info(self, label: str) -> ModelInfo | None:
        """What was learned of a model, without asking anybody; None of one that must not be used."""
        return None if self.is_refused(label) else self._infos.get(label)

    def is_cloud(self, label: str) -> bool:
        """Whether a model runs on ollama.com, as far as is known."""
        info = self._infos.get(label)
        return is_cloud_label(label) or label in self._clouds or (info is not None and info.cloud)

    def is_refused(self, label: str) -> bool:
        """Whether it does, and the user did not allow that."""
        return self.is_cloud(label) and not self._workplace.settings["ollama.allow_cloud"]

    def forget(self, label: str) -> None:
        """What was known of a model does not hold any longer: it is gone, or another one."""
        for known in [known for known in self._infos if same_model(known, label)]:
            del self._infos[known]

    # ---- the list -------------------------------------------------------------------------------

    async def rows(self) -> tuple[ModelRow, ...]:
        """Every model that can be chosen; `problems` says afterwards why a backend gave none."""
        files, server = await asyncio.gather(self._listed("llama.cpp"), self._listed("ollama"))
        self._clouds = {f"ollama:{model.name}" for model in server if model.cloud}
        asked = asyncio.Semaphore(_ASKED_AT_ONCE)
        own = self._own_files(files)
        starter = self._workplace.starter.size_bytes if self._workplace.has_starter else 0
        self.disk_bytes = {
            "llama.cpp": sum(file.size_bytes for file in own) + starter,
            "ollama": sum({m.digest or m.name: m.size_bytes for m in server}.values()),
        }
        rows = [self._row(f"llama.cpp:{f.name}", f, asked) for f in own]
        rows += [self._row(f"ollama:{model.name}", model, asked) for model in server]
        return (await self._starter_row(asked), *await asyncio.gather(*rows))

    async def label_of(self, name: str) -> str:
        """The label of a model of Ollama's as the list has it, by any of its names; "" if not."""
        label = f"ollama:{name}"
        listed = await self._listed("ollama")
        same = (f"ollama:{one.name}" for one in listed)
        return next((one for one in same if same_model(one, label)), "")

    def ollama_host(self) -> str:
        """Where Ollama answers, without the scheme; "" if it did not when it was asked last."""
        backend = self._workplace.backend("ollama")
        host = getattr(backend, "address", "") if "ollama" not in self.problems else ""
        return str(host).removeprefix("http://").removeprefix("https://")

    async def _listed(self, backend: str) -> tuple[ModelSummary, ...]:
        self.problems.pop(backend, None)
        try:
            async with asyncio.timeout(self.patience_seconds):
                asked = self._workplace.backend(backend)
                if place := getattr(asked, "address", ""):
                    await require_listener(place)
                return await asked.list_models()
        except EnvironmentFault as fault:
            self.problems[backend] = str(fault)
        except TimeoutError:
            self.problems[backend] = _silent(backend)
        return ()

    def _own_files(self, found: tuple[ModelSummary, ...]) -> tuple[ModelSummary, ...]:
        """The files the user added and those in the folders, without the starter's own."""
        added = [_added(text) for text in self._workplace.settings["models.added"]]
        known = {str(self._workplace.starter_file), *(model.name for model in added)}
        return (*added, *(model for model in found if model.name not in known))

    async def _starter_row(self, asked: asyncio.Semaphore) -> ModelRow:
        manifest = self._workplace.starter
        return await self._row(
            STARTER, ModelSummary(STARTER, manifest.size_bytes, manifest.note), asked
        )

    async def _row(self, label: str, model: ModelSummary, asked: asyncio.Semaphore) -> ModelRow:
        """A model with its window, as far as its backend says it."""
        name = self._workplace.model_name(label)
        async with asked:
            facts = await self._row_window(name)
        info = self.known_info(label)
        fetched = label != STARTER or self._workplace.has_starter
        return ModelRow(
            label,
            title_of_model(label, info, self._workplace.starter.title),
            model.size_bytes,
            details_of(info) or model.details,
            facts.tokens,
            facts.guard,
            facts.guard_text,
            "starter" if label == STARTER else "ollama" if name.backend == "ollama" else "gguf",
            self._loaded.get(name.backend) == label,
            fetched and (model.size_bytes > 0 or name.backend == "ollama"),
            model.cloud,
        )

    async def _row_window(self, name: ModelName) -> WindowFacts:
        """A model's window for the list, or why it has none there."""
        if self.is_refused(name.label):  # nobody is asked
            words = translate(
                "Client", "Off. Preferences, Models, “Allow cloud models” turns it on."
            )
            return WindowFacts(name.label, guard="block", guard_text=words)
        try:
            async with asyncio.timeout(self.patience_seconds):
                return await self.learn_window(name, ())
        except EnvironmentFault as fault:
            return WindowFacts(name.label, guard="block", guard_text=str(fault))
        except TimeoutError:
            return WindowFacts(name.label, guard_text=_silent(name.backend))

    def add_file(self, path: str) -> str:
        """Put a GGUF file on the list; it stays where it is. Its name.

        Raises EnvironmentFault for what is no usable file.
        """
        from engine.backends.gguf import read_header

        workplace = self._workplace
        name = workplace.model_name(f"llama.cpp:{path}")
        read_header(Path(name.name))
        added = list(workplace.settings["models.added"])
        if name.name not in added and name.name != str(workplace.starter_file):
            workplace.paths.ensure()
            save_setting(workplace.paths.settings_file, "models.added", [*added, name.name])
            workplace.read_settings_again()
        return STARTER if name.name == str(workplace.starter_file) else name.label

    # ---- the starter ----------------------------------------------------------------------------

    async def fetch_starter(self, on_progress: Callable[[int, int], None] | None = None) -> None:
        """Have the starter on the disk; one fetch at a time, whoever asks for it.

        Cancelling who waits does not end the fetch; `cancel_fetch` does, and who waits then gets
        CancelledError. Raises DownloadFailed.
        """
        if self._workplace.has_starter:
            return
        if self._fetch is None or self._fetch.done():
            self._fetch = asyncio.create_task(self._run_fetch())
        self._watcher = on_progress or self._watcher
        await asyncio.shield(self._fetch)

    async def _run_fetch(self) -> None:
        from engine.starter import FetchProgress, fetch_starter

        workplace, manifest = self._workplace, self._workplace.starter
        told = Fetching(0, manifest.download_bytes)

        def progress(now: FetchProgress) -> None:
            nonlocal told
            told = Fetching(now.done_bytes, now.total_bytes, now.seconds_left)
            self._tell(told)
            if self._watcher is not None:
                self._watcher(now.done_bytes, now.total_bytes)

        error = ""
        self._tell(told)
        try:
            workplace.paths.ensure()
            await fetch_starter(workplace.paths.models_dir, manifest, progress)
        except asyncio.CancelledError:
            error = translate("Client", "The fetch was stopped.")
            raise
        except EnvironmentFault as fault:
            error = str(fault)
            raise
        finally:
            self._watcher = None
            self._tell(Fetching(told.done, told.total, None, over=True, error=error))

    async def cancel_fetch(self) -> None:
        """Stop the fetch, if there is one; nothing of it is left behind."""
        task, self._fetch = self._fetch, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def _key(name: ModelName) -> str:
    """One name for a model, however it is written."""
    return name.queue if name.backend == "ollama" else name.label


def is_cloud_label(label: str) -> bool:
    """Whether the label alone says that a model runs on ollama.com."""
    kind, _, name = label.partition(":")
    return kind == "ollama" and is_cloud_name(name)


def same_model(one: str, other: str) -> bool:
    """Whether two labels mean one model: Ollama's names have an optional tag, and no case."""
    (kind, _, name), (other_kind, _, other_name) = one.partition(":"), other.partition(":")
    if kind != other_kind or kind != "ollama":
        return one == other
    return full_name(name) == full_name(other_name)


def judge(plan: ModelPlan, info: ModelInfo, reserve: tuple[int, int]) -> WindowFacts:
    """The window a model would get, and what the guard says of it; memory is not judged."""
    plan = plan_place(plan, info)
    asked, _ = plan_ready(plan, info, None)
    tokens, words = asked.window.tokens, str(asked.window)
    try:
        notices = plan_notices(plan, asked.window, asked.notes)
    except WindowBlocked as fault:
        budget = plan_budget(tokens, *reserve).prompt
        return WindowFacts(plan.label, words, tokens, budget, "block", str(fault))
    return _facts(plan.label, words, tokens, reserve, " ".join(n.text for n in notices))


def _facts(
    label: str, words: str, tokens: int, reserve: tuple[int, int], warning: str
) -> WindowFacts:
    budget = plan_budget(tokens, *reserve).prompt
    return WindowFacts(label, words, tokens, budget, "warn" if warning else "ok", warning)


def _silent(backend: str) -> str:
    return translate("Client", "{backend} does not answer.").format(backend=backend.capitalize())


def title_of_model(label: str, info: ModelInfo | None, starter_title: str) -> str:
    """What to call a model where people read it."""
    if label == STARTER:
        return starter_title
    kind, _, rest = label.partition(":")
    if kind == "ollama":
        return rest.removesuffix(":latest")
    return (info.title if info else "") or Path(rest).stem


def details_of(info: ModelInfo | None) -> str:
    """Architecture, size and quantisation, as far as they are known."""
    if info is None:
        return ""
    return " · ".join(x for x in (info.architecture, info.parameters, info.quantization) if x)


def _added(text: str) -> ModelSummary:
    """A file the user added; of no size when it is not there now."""
    try:
        size = Path(text).expanduser().stat().st_size
    except OSError:
        return ModelSummary(text, 0, translate("Client", "added, but it is not there now"))
    return ModelSummary(text, size)


def worker_memory(backend: object) -> int:
    """What a backend's own process takes, in bytes; 0 when it has none or it is gone."""
    import psutil

    pid = getattr(backend, "worker_pid", None)
    if pid is None:
        return 0
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0
