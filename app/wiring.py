"""Builds the parts and joins them: the one place that constructs store, backends and sessions.

Everything is made when it is first asked for; `close` undoes it in reverse order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from engine.backends.base import Backend, ModelInfo
from engine.models import (
    STARTER,
    ModelName,
    ModelPlan,
    WindowLimits,
    Wishes,
    parse_model_name,
    plan_model,
)
from engine.paths import Paths, find_paths, resources_dir
from engine.settings import ModelSettings, Settings, load_settings
from engine.transcript import Custom, Entry, current_model
from engine.window import is_self_hosted

if TYPE_CHECKING:
    from engine.session import Session
    from engine.starter import Manifest
    from engine.store import SessionRow, Store

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

    def plan(self, name: ModelName, options: Sequence[ModelSettings] = ()) -> ModelPlan:
        """How to run a model: `options` first, then the user's settings, then its manifest."""
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
        return plan_model(name, wishes, limits, self_hosted=self._is_self_hosted(name.backend))

    def _is_self_hosted(self, backend: str) -> bool:
        """Whether the user can change the limits of what runs the model."""
        host = self.settings["ollama.host"] or self._environ.get("OLLAMA_HOST", "")
        return backend != "ollama" or not host or is_self_hosted(host)

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
            )
        if name == "scripted":
            from engine.testing import ScriptedBackend

            return ScriptedBackend()
        from engine.backends.llamacpp import LlamaCppBackend

        return LlamaCppBackend(
            [
                self.paths.models_dir,
                *(Path(name).expanduser() for name in settings["models.folders"]),
            ],
            threads=settings["llamacpp.threads"] or None,
            silence_seconds=settings["llamacpp.silence_seconds"],
        )

    def session(self, session_id: str, plan: ModelPlan) -> "Session":
        """A conversation with a model."""
        from engine.prefixes import PrefixFolder
        from engine.session import Session

        prefixes = PrefixFolder(self.paths.cache_dir / "prefix")
        backend = self.backend(plan.backend)
        return Session(self.store, backend, session_id, plan, prefixes=prefixes)

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
        self.close_store()

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
