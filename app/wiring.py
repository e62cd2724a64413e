"""Builds the parts and joins them: the one place that constructs store, backends and sessions.

Everything is made when it is first asked for; `close` undoes it in reverse order.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from engine.backends.base import Backend, ModelInfo
from engine.backends.ollama_wire import is_cloud_name
from engine.errors import EnvironmentFault
from engine.models import (
    STARTER,
    ModelName,
    ModelPlan,
    WindowLimits,
    Wishes,
    parse_model_name,
    plan_model,
    plan_remembered,
)
from engine.paths import Paths, find_paths, resources_dir
from engine.settings import ModelSettings, Settings, load_settings
from engine.transcript import Custom, Entry, current_model
from engine.window import is_self_hosted

if TYPE_CHECKING:
    from engine.compactor import Writer
    from engine.context import ContextSettings, ContextView
    from engine.prefixes import PrefixFolder
    from engine.session import Session
    from engine.sessiontools import SessionTools, SummaryWriter
    from engine.starter import Manifest
    from engine.store import SessionRow, Store
    from engine.tokens import CalibrationBook
    from engine.window.learned import LearnedWindows


class OllamaWords(TypedDict):
    """What an Ollama backend takes another value of while it is used."""

    token: str
    allow_cloud: bool


OPTIONS_ENTRY = "options"
"""Type of the custom entry that keeps what was asked for a conversation (system prompt, window)."""


class Workplace:
    """One profile of one user: paths, settings, store, backends.

    Args:
        profile: folder that everything is kept under; None for the platform's own places.
        environ: environment variables.
    """

    def __init__(self, profile: str | None, environ: Mapping[str, str]) -> None:
        self.paths: Paths = find_paths(profile, environ)
        self._environ = environ
        self._backends: dict[str, Backend] = {}

    @cached_property
    def settings(self) -> Settings:
        """The settings of file and environment; what is wrong with them is in `problems`."""
        return load_settings(self.paths.settings_file, self._environ)

    @cached_property
    def starter(self) -> "Manifest":
        """The starter model's manifest."""
        from engine.starter import load_manifest

        return load_manifest(resources_dir() / "starter.toml")

    @cached_property
    def store(self) -> "Store":
        """The conversations; opened, and repaired where needed, on first use."""
        from engine.store import Store

        self.paths.ensure()
        return Store.open(self.paths.database)

    def read_settings_again(self) -> Settings:
        """The settings as the file is now; what was made with the old ones stays as it is.

        Told at once are where model files are looked for, what the Ollama server wants to see, and
        whether models may be used that it has run elsewhere.
        """
        self.__dict__.pop("settings", None)
        look_in = getattr(self._backends.get("llama.cpp"), "look_in", None)
        if look_in is not None:
            look_in(self._model_folders())
        use = getattr(self._backends.get("ollama"), "use", None)
        if use is not None:
            use(**self._ollama_words())
        return self.settings

    def _ollama_words(self) -> "OllamaWords":
        settings = self.settings
        return {
            "token": settings["ollama.token"],
            "allow_cloud": settings["ollama.allow_cloud"],
        }

    def _model_folders(self) -> list[Path]:
        added = (Path(name).expanduser() for name in self.settings["models.folders"])
        return [self.paths.models_dir, *added]

    def model_name(self, text: str | None) -> ModelName:
        """The model a name stands for; None is the default: the user's setting, else the starter."""
        chosen = text or self.settings["models.default"] or STARTER
        return parse_model_name(str(chosen), self.starter_file)

    @property
    def starter_file(self) -> Path:
        """Where the starter model lies, or will."""
        return self.paths.models_dir / self.starter.file

    @property
    def has_starter(self) -> bool:
        """Whether the starter lies there whole; what was verified once is judged by its size."""
        from engine.starter import is_present

        return is_present(self.paths.models_dir, self.starter)

    def starter_info(self) -> ModelInfo:
        """What the manifest says of the starter, for as long as the file is not here."""
        manifest = self.starter
        return ModelInfo(
            STARTER,
            title=manifest.title,
            trained_window=manifest.trained_window,
            weights_bytes=manifest.size_bytes,
        )

    def plan(
        self, name: ModelName, options: Sequence[ModelSettings] = (), *, remembers: bool = True
    ) -> ModelPlan:
        """How to run a model: `options` first, then the user's settings, then its manifest.

        `remembers`: with the user's notes after the system prompt, where they are to be sent.
        """
        settings = self.settings
        wishes = Wishes(
            options,
            settings.model(name.label),
            self.starter.settings() if name.label == STARTER else ModelSettings(),
            ModelSettings(
                system_prompt=settings["chat.system_prompt"] or None,
                kv_type=settings["llamacpp.kv_type"],
            ),
        )
        limits = WindowLimits(
            settings["context.cap_tokens"],
            settings["context.hard_min_tokens"],
            settings["context.warn_below_tokens"],
        )
        plan = plan_model(name, wishes, limits, self_hosted=self._is_self_hosted(name))
        if not remembers or not settings["memory.include"]:
            return plan
        return plan_remembered(plan, settings["memory.notes"], settings["memory.most_tokens"])

    def _is_self_hosted(self, name: ModelName) -> bool:
        """Whether the user can change the limits of what runs the model, as far as its name says."""
        host = self.settings["ollama.host"] or self._environ.get("OLLAMA_HOST", "")
        if name.backend != "ollama":
            return True
        return not is_cloud_name(name.name) and (not host or is_self_hosted(host))

    def backend(self, name: str) -> "Backend":
        """The backend of that name, made on first use."""
        if name not in self._backends:
            self._backends[name] = self._make_backend(name)
        return self._backends[name]

    def _make_backend(self, name: str) -> "Backend":
        settings = self.settings
        if name == "ollama":
            from engine.backends.ollama import OllamaBackend

            return OllamaBackend(
                settings["ollama.host"],
                silence_seconds=settings["ollama.silence_seconds"],
                load_silence_seconds=settings["ollama.load_silence_seconds"],
                keep_alive=settings["ollama.keep_alive"],
                **self._ollama_words(),
            )
        if name == "scripted":
            from engine.testing import ScriptedBackend

            return ScriptedBackend()
        from engine.backends.llamacpp import LlamaCppBackend

        return LlamaCppBackend(
            self._model_folders(),
            threads=settings["llamacpp.threads"] or None,
            silence_seconds=settings["llamacpp.silence_seconds"],
        )

    async def counted(self, session_id: str, plan: ModelPlan) -> "ContextView | None":
        """A conversation's context as its GGUF file's tokenizer counts it, without the weights.

        None where that is not at hand.
        """
        if plan.backend != "llama.cpp":
            return None
        from engine.backends.llamacpp import LlamaCppBackend
        from engine.session import Session

        backend = LlamaCppBackend(words_only=True)
        tools, settings = self._tools(plan, None), self.context_settings()
        try:
            return await Session(self.store, backend, session_id, plan, settings, tools).look()
        except EnvironmentFault:  # whoever asks has an estimate too
            return None
        finally:
            await backend.close()

    def session(
        self, session_id: str, plan: ModelPlan, summary_model: str | None = None
    ) -> "Session":
        """A conversation with a model; `summary_model` writes its summaries, else the setting's."""
        from engine.session import Session

        backend, tools = self.backend(plan.backend), self._tools(plan, summary_model)
        return Session(self.store, backend, session_id, plan, self.context_settings(), tools)

    def renew(self, session: "Session", plan: ModelPlan, summary_model: str | None = None) -> None:
        """Have a session go on with the settings as they are now; for when no turn of it runs.

        `summary_model` writes its summaries, else the setting's.
        """
        session.renew(plan, self.context_settings(), self._tools(plan, summary_model))

    def _tools(self, plan: ModelPlan, summary_model: str | None) -> "SessionTools":
        from engine.sessiontools import SessionTools

        return SessionTools(
            prefixes=self.prefixes,
            book=self.calibrations,
            writer=self._summary_writer(plan, summary_model),
        )

    @property
    def prefixes(self) -> "PrefixFolder":
        """Where the backends' prefix caches are kept between runs."""
        from engine.prefixes import PrefixFolder

        return PrefixFolder(self.paths.cache_dir / "prefix")

    def context_settings(self) -> "ContextSettings":
        """How the user wants windows to be managed."""
        from engine.compact import SummaryWishes
        from engine.context import ContextSettings
        from engine.prune import CachePruning

        settings = self.settings
        return ContextSettings(
            enabled=settings["compaction.enabled"],
            mode=settings["compaction.mode"],
            reserve_tokens=settings["compaction.reserve_tokens"],
            reserve_floor=settings["compaction.reserve_floor"],
            keep_recent=settings["compaction.keep_recent_tokens"],
            in_place=settings["compaction.in_place"],
            wishes=SummaryWishes(
                policy=settings["compaction.identifier_policy"],
                custom=settings["compaction.identifier_text"],
                instructions=settings["compaction.instructions"],
            ),
            timeout_seconds=settings["compaction.timeout_seconds"],
            result_chars=settings["pruning.result_chars"],
            order=settings["pruning.order"],
            cache=CachePruning(
                mode=settings["pruning.mode"], ttl_ms=1000 * settings["pruning.ttl_seconds"]
            ),
        )

    @cached_property
    def calibrations(self) -> "CalibrationBook":
        """What is known of token estimates, by model; kept when the workplace is closed."""
        from engine.tokens import CalibrationBook

        return CalibrationBook.load(self._calibration_file)

    @cached_property
    def windows(self) -> "LearnedWindows":
        """What was learned of models' windows; kept when the workplace is closed."""
        from engine.window.learned import LearnedWindows

        return LearnedWindows.load(self._windows_file)

    @property
    def _windows_file(self) -> Path:
        return self.paths.cache_dir / "windows.json"

    @property
    def _calibration_file(self) -> Path:
        return self.paths.cache_dir / "calibration.json"

    def _summary_writer(self, plan: ModelPlan, model: str | None) -> "SummaryWriter | None":
        """Who writes the summaries of a conversation; None for its own model.

        Another GGUF file gets a process of its own for as long as it writes, so that the
        conversation's model stays loaded with what it has read.
        """
        chosen = model or self.settings["compaction.model"]
        if not chosen or self.model_name(chosen).label == plan.label:
            return None
        name = self.model_name(chosen)

        @asynccontextmanager
        async def open_writer() -> "AsyncIterator[Writer]":
            from engine.compactor import Writer
            from engine.readiness import free_memory, make_ready

            writer_plan = self.plan(name)
            shared = name.backend != "llama.cpp"
            backend = self.backend(name.backend) if shared else self._make_backend(name.backend)
            try:
                ready = await make_ready(backend, writer_plan, lambda _: None, free_memory)
                yield Writer(backend, writer_plan, ready)
            finally:
                if not shared:
                    await backend.close()

        return open_writer

    def session_model(self, row: "SessionRow") -> str:
        """The model a stored conversation last used; empty when it never had one."""
        return current_model(self.store.path(row.id)) or row.model

    def kept_options(self, session_id: str) -> ModelSettings:
        """What was asked for this conversation in earlier runs and holds on."""
        return kept_options(self.store.path(session_id))

    def keep_options(self, session_id: str, options: ModelSettings) -> None:
        """Remember what was asked for a conversation: later runs use it without being told again."""
        lasting = {
            name: value
            for name, value in asdict(options).items()
            if value is not None and name in LASTING
        }
        if lasting:
            self.store.append(session_id, Custom(OPTIONS_ENTRY, lasting))

    async def close(self) -> None:
        """Stop the backends, then close the store."""
        for backend in reversed(list(self._backends.values())):
            await backend.close()
        self._backends.clear()
        self._keep_learned()
        self.close_store()

    def _keep_learned(self) -> None:
        """Keep what was learned of estimates and windows; caches, so that a full disk is no fault."""
        with suppress(EnvironmentFault):
            if "calibrations" in self.__dict__:
                self.calibrations.save(self._calibration_file)
            if "windows" in self.__dict__:
                self.windows.save(self._windows_file)

    def close_store(self) -> None:
        """Close the store if it was opened."""
        if "store" in self.__dict__:
            self.store.close()
            del self.__dict__["store"]


LASTING = ("system_prompt", "context_window", "temperature")
"""Options that hold for the conversation, not for one reply only."""


def kept_options(path: Sequence[Entry]) -> ModelSettings:
    """The lasting options of a path: for each, the last that was set."""
    found: dict[str, object] = {}
    for entry in path:
        if isinstance(entry.body, Custom) and entry.body.custom_type == OPTIONS_ENTRY:
            found.update((k, v) for k, v in entry.body.data.items() if k in LASTING)
    return ModelSettings(**found)  # type: ignore[arg-type]  # written by keep_options only
