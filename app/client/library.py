"""Single models: what they are, what is in memory, how much of the disk; unloaded, deleted."""

import asyncio
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from app.client.keeping import Keeping
from app.client.knocking import require_listener
from app.client.models import Models, same_model, title_of_model, worker_memory
from app.client.resting import put_away
from app.client.talks import Talks
from app.client.values import ModelsChanged, Told
from app.wiring import Workplace
from app.words import translate
from engine.backends.base import ModelInfo
from engine.backends.ollama_address import parse_address
from engine.backends.ollama_wire import RunningModel
from engine.errors import EnvironmentFault, ModelMissing
from engine.models import STARTER, ModelName

_PATIENCE_SECONDS = 5.0
"""A panel that is looked at does not wait longer for a backend."""
_GOING_SECONDS, _LOOKS = 0.2, 25
"""A model that was put out of the memory is looked for so often: large ones take a while to go."""
_FOR_EVER_YEARS = 2
_FOLDERS = ("~/.ollama/models", "/usr/share/ollama/.ollama/models", "/var/lib/ollama/models")
"""Where Ollama keeps models, by itself and as a service on Linux."""


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What a model is; bytes and tokens, 0 and "" when unknown.

    Attributes:
        model: its label.
        family, parameters, quantization: "llama", "3.2B", "Q4_K_M".
        size_bytes: on disk.
        trained_window: tokens it was trained on.
        capabilities: "completion", "tools", "vision", …, by name.
        licence, template, system: whole texts.
        modified_ms: when it was changed last, since 1970, UTC.
        can_delete: whether it may be deleted here.
    """

    model: str
    family: str = ""
    parameters: str = ""
    quantization: str = ""
    size_bytes: int = 0
    trained_window: int = 0
    capabilities: tuple[str, ...] = ()
    licence: str = ""
    template: str = ""
    system: str = ""
    modified_ms: int = 0
    can_delete: bool = False


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model in memory; bytes and tokens, 0 when unknown.

    `gpu_share`: how much of it is on the GPU, 0…1; None when that is not told. `until_ms`: when it
    goes unless it is used, since 1970, UTC; 0 when not known. `stays`: until somebody unloads it.
    """

    model: str
    title: str
    size_bytes: int = 0
    gpu_share: float | None = None
    window_tokens: int = 0
    until_ms: int = 0
    stays: bool = False


@dataclass(frozen=True, slots=True)
class Holdings:
    """What is in memory and on disk; bytes, 0 when unknown.

    `own_bytes`, `ollama_bytes`: what the listed models take. `free_bytes`: of this computer's disk
    where models go. `problem`: why Ollama could not be asked, "" when it answered.
    """

    loaded: tuple[LoadedModel, ...] = ()
    own_bytes: int = 0
    ollama_bytes: int = 0
    free_bytes: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Deletion:
    """What deleting a model would come to; bytes.

    Attributes:
        model, title: its label; its name for people.
        size_bytes: what is freed at most, 0 when unknown or nothing.
        shared_with: another name of the same content, which stays; "" for none.
        conversations: how many used it last. They stay.
        is_default: new conversations use it. is_open: the one that is shown does.
        writes_summaries: the settings name it for that.
    """

    model: str
    title: str
    size_bytes: int = 0
    shared_with: str = ""
    conversations: int = 0
    is_default: bool = False
    is_open: bool = False
    writes_summaries: bool = False


class Library:
    """Models one by one; used on the client's loop.

    Args:
        workplace: backends, settings, store.
        models: what is known of models.
        talks: the conversations in use.
        keeping: the model of the next new conversation.
        tell: called with `ModelsChanged`.
        renew: tells what is shown of windows anew.
    """

    def __init__(
        self,
        workplace: Workplace,
        models: Models,
        talks: Talks,
        keeping: Keeping,
        tell: Callable[[Told], None],
        renew: Callable[[], None],
    ) -> None:
        self._workplace = workplace
        self._models = models
        self._talks = talks
        self._keeping = keeping
        self._tell = tell
        self._renew = renew

    # ---- looking --------------------------------------------------------------------------------

    async def facts(self, model: str) -> ModelFacts:
        """What a model is; of one that is amiss nothing but its name. Never raises."""
        with suppress(EnvironmentFault, TimeoutError):
            name = self._workplace.model_name(model or None)
            async with asyncio.timeout(_PATIENCE_SECONDS):
                info = await self._models.learn_info(name)
            return _facts(model, info, can_delete=name.backend == "ollama")
        return ModelFacts(model)

    async def holdings(self) -> Holdings:
        """What is in memory, by whomever, and what the models that were listed last take."""
        running: tuple[RunningModel, ...] = ()
        problem = ""
        try:
            running = await self._running()
        except EnvironmentFault as fault:
            problem = fault.sentence
        own, sizes = self._own_loaded(), self._models.disk_bytes
        return Holdings(
            (*own, *(self._loaded(one) for one in running)),
            sizes.get("llama.cpp", 0),
            sizes.get("ollama", 0),
            self._free_bytes(),
            problem,
        )

    async def _running(self) -> tuple[RunningModel, ...]:
        """What Ollama has in memory. Raises EnvironmentFault."""
        backend: Any = self._workplace.backend("ollama")
        if place := getattr(backend, "address", ""):
            await require_listener(place)
        ask = getattr(backend, "ps", None)
        found: tuple[RunningModel, ...] = await ask(_PATIENCE_SECONDS) if ask else ()
        return found

    def _own_loaded(self) -> tuple[LoadedModel, ...]:
        backend = self._workplace.backend("llama.cpp")
        loaded = getattr(backend, "loaded_model", None)
        if loaded is None:
            return ()
        file, window = loaded
        is_starter = file == str(self._workplace.starter_file)
        label = STARTER if is_starter else f"llama.cpp:{file}"
        return (LoadedModel(label, self._title(label), worker_memory(backend), None, window),)

    def _loaded(self, one: RunningModel) -> LoadedModel:
        label = f"ollama:{one.name}"
        until = _moment(one.expires_at)
        stays = until is not None and until.year - datetime.now().year > _FOR_EVER_YEARS
        return LoadedModel(
            label,
            self._title(label),
            one.size_bytes,
            one.vram_bytes / one.size_bytes if one.size_bytes else None,
            one.window_tokens,
            0 if until is None or stays else round(until.timestamp() * 1000),
            stays,
        )

    def _title(self, label: str) -> str:
        info = self._models.known_info(label)
        return title_of_model(label, info, self._workplace.starter.title)

    def _free_bytes(self) -> int:
        """Of the disk where Ollama keeps models on this computer, else of that of our own."""
        folder = None
        with suppress(EnvironmentFault):  # an address that is none
            address = str(getattr(self._workplace.backend("ollama"), "address", ""))
            folder = find_ollama_folder(os.environ) if parse_address(address).loopback else None
        return free_disk(folder or self._workplace.paths.models_dir)

    # ---- out of the memory ----------------------------------------------------------------------

    async def unload(self, model: str) -> Holdings:
        """Put a model out of the memory; what is left there.

        Raises EnvironmentFault, also while it is answering.
        """
        name = self._workplace.model_name(model)
        self._require_rest(name)
        backend: Any = self._workplace.backend(name.backend)
        if name.backend == "llama.cpp":
            for talk in self._talks.all():
                await put_away(talk)
            await backend.close()
        else:
            await backend.library.unload(name.name)
            await self._gone(name)
        self._models.note_unloaded(name)
        return await self.holdings()

    async def _gone(self, name: ModelName) -> None:
        """Wait a moment until the server has let go of a model."""
        for _ in range(_LOOKS):
            running = await self._running()
            if not any(same_model(f"ollama:{one.name}", name.label) for one in running):
                return
            await asyncio.sleep(_GOING_SECONDS)

    def _require_rest(self, name: ModelName) -> None:
        """Raise EnvironmentFault while the model answers somewhere."""
        default = self._default()
        talks = (talk for talk in self._talks.all() if talk.is_running)
        if any(same_model(talk.model or default, name.label) for talk in talks):
            said = translate("Client", "{model} is answering just now.")
            raise EnvironmentFault(
                said.format(model=self._title(name.label)),
                translate("Client", "Wait for the reply, or stop it."),
            )

    def _default(self) -> str:
        """The label of the model that new conversations use, unless another one is chosen."""
        return str(self._workplace.settings["models.default"] or STARTER)

    # ---- off the disk ---------------------------------------------------------------------------

    async def deletion(self, model: str) -> Deletion:
        """What deleting a model would come to. Raises EnvironmentFault."""
        name = self._workplace.model_name(model)
        settings = self._workplace.settings
        listed = await self._workplace.backend(name.backend).list_models()
        own = next((m for m in listed if same_model(f"ollama:{m.name}", name.label)), None)
        if own is None:
            raise ModelMissing(translate("Client", "The model is not there any longer."))
        shared = (m.name for m in listed if m is not own and own.digest and m.digest == own.digest)
        twin = next(shared, "")
        used = (row.model for row in self._workplace.store.sessions())
        default = self._default()
        begins = self._keeping.model
        shown = next((t.model for t in self._talks.all() if t.id == self._talks.shown), begins)
        return Deletion(
            name.label,
            self._title(name.label),
            0 if twin else own.size_bytes,
            twin,
            sum(same_model(one, name.label) for one in used),
            same_model(default, name.label),
            same_model(shown or default, name.label),
            same_model(str(settings["compaction.model"]), name.label),
        )

    async def delete(self, model: str) -> None:
        """Delete a model of Ollama's, out of its memory first; one that is gone is no failure.

        Raises EnvironmentFault, also while it is answering.
        """
        name = self._workplace.model_name(model)
        self._require_rest(name)
        backend: Any = self._workplace.backend(name.backend)
        with suppress(EnvironmentFault):  # what fails here fails below again, or does not matter
            running = await self._running()
            if any(same_model(f"ollama:{one.name}", name.label) for one in running):
                await backend.library.unload(name.name)
        with suppress(ModelMissing):
            await backend.library.delete(name.name)
        self._let_go(name)
        self._tell(ModelsChanged(gone=name.label))

    def _let_go(self, name: ModelName) -> None:
        """Nothing that was known of the model holds any longer."""
        self._models.forget(name.label)
        self._models.note_unloaded(name)
        for talk in self._talks.all():
            if same_model(talk.model, name.label):
                talk.window = None
                if talk.session is not None:
                    talk.session.ready = None
        if same_model(self._keeping.model, name.label):
            self._keeping.model = ""
            self._keeping.note()
            self._keeping.save()
        self._renew()


# ---- plans --------------------------------------------------------------------------------------


def _facts(model: str, info: ModelInfo, *, can_delete: bool) -> ModelFacts:
    told = info.facts
    changed = _moment(_said(told, "modified_at"))
    return ModelFacts(
        model,
        info.architecture,
        info.parameters,
        info.quantization,
        info.weights_bytes,
        info.trained_window,
        tuple(sorted(info.capabilities)),
        _said(told, "license") or _said(told, "general.license"),
        info.template,
        _said(told, "system"),
        0 if changed is None else round(changed.timestamp() * 1000),
        can_delete,
    )


def _said(told: Mapping[str, Any], name: str) -> str:
    value = told.get(name)
    return value if isinstance(value, str) else ""


def _moment(text: str) -> datetime | None:
    """A time as RFC 3339 has it, with up to nanoseconds; None when it is none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.astimezone() if moment.year > 1 else None  # Go's zero time is no time


# ---- the disk -----------------------------------------------------------------------------------


def find_ollama_folder(environ: Mapping[str, str]) -> Path | None:
    """Where Ollama keeps models on this computer; None when that is not known."""
    for text in (environ.get("OLLAMA_MODELS", ""), *_FOLDERS):
        with suppress(OSError, RuntimeError):  # may not be looked at; no home folder
            if text and (folder := Path(text).expanduser()).is_dir():
                return folder
    return None


def free_disk(folder: Path) -> int:
    """Free bytes of the disk a folder is on, or would be; 0 when that cannot be told."""
    for place in (folder, *folder.parents):
        with suppress(OSError):
            return shutil.disk_usage(place).free
    return 0
