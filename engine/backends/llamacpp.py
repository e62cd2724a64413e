"""GGUF files run by llama.cpp in a child process: the application's side.

One worker at a time, for the model loaded last. It is started when it is needed and again after
it died; every call that needs the model loads it if it is not there. What the worker does and
promises is in `engine.backends.llamacpp_worker`; how it is watched, in `llamacpp_process`.
"""

import asyncio
import importlib.util
import os
import re
import sys
import time
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.backends.base import (
    Chunk,
    Finished,
    Loaded,
    Loading,
    LoadProgress,
    LoadRequest,
    ModelInfo,
    ModelSummary,
    PromptRequest,
)
from engine.backends.gguf import GgufHeader, read_header
from engine.backends.llamacpp_process import WorkerProcess
from engine.backends.llamacpp_worker.effort import template_choices
from engine.backends.llamacpp_worker.protocol import (
    chunk_from_wire,
    load_to_wire,
    loaded_from_wire,
    not_installed,
    request_to_wire,
)
from engine.backends.llamacpp_worker.think import find_think_tags
from engine.errors import BackendFailed, EnvironmentFault

SILENCE_SECONDS = 120.0
"""How long a working worker may say nothing; in native code it says every second that it gets on."""
_LOAD_PATIENCE_SECONDS = 0.1
"""A load that is stopped costs nothing to end by force."""
_SEARCH_DEPTH = 4
_PART = re.compile(r"-(\d{5})-of-\d{5}\.gguf$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _State:
    """The worker that runs, what it was asked to load, and what it then had."""

    worker: WorkerProcess
    request: LoadRequest
    loaded: Loaded


class LlamaCppBackend:
    """Runs GGUF files; a model's name is its path. Implements `engine.backends.base.Backend`.

    Args:
        folders: where `list_models` looks.
        threads: for llama.cpp; None takes the physical cores, all but one if there are four.
        silence_seconds: how long a working worker may say nothing before it is given up.
        python: the interpreter that runs the worker.
        words_only: load vocabularies and no weights: prompts are counted, and none can be run.
    """

    name = "llama.cpp"

    def __init__(
        self,
        folders: Iterable[Path] = (),
        threads: int | None = None,
        *,
        silence_seconds: float = SILENCE_SECONDS,
        python: str = sys.executable,
        words_only: bool = False,
    ) -> None:
        self._folders = tuple(folders)
        self._words_only = words_only
        self._threads = threads
        self._silence_seconds = silence_seconds
        self._python = python
        self._lock = asyncio.Lock()
        self._worker: WorkerProcess | None = None
        self._state: _State | None = None
        self._wanted: dict[str, LoadRequest] = {}

    @property
    def worker_pid(self) -> int | None:
        """The process id of the running worker, for whoever watches the machine."""
        worker = self._worker
        return worker.pid if worker is not None and worker.is_usable else None

    @property
    def loaded_model(self) -> tuple[str, int] | None:
        """The file that is loaded and its window (tokens); None for none, or vocabulary only."""
        state = self._state
        if state is None or not state.worker.is_usable or state.request.words_only:
            return None
        return state.request.model, state.loaded.window_tokens

    def look_in(self, folders: Iterable[Path]) -> None:
        """Look for model files in other folders from now on."""
        self._folders = tuple(folders)

    async def list_models(self) -> tuple[ModelSummary, ...]:
        """The GGUF files in the folders, a few levels deep, by name; nothing is opened."""
        _require_llama_cpp()
        return await asyncio.to_thread(lambda: tuple(_find_models(self._folders)))

    async def describe(self, model: str) -> ModelInfo:
        """What a file's header says. Raises ModelMissing, ModelUnusable."""
        _require_llama_cpp()
        header = await asyncio.to_thread(read_header, Path(model))
        return _info(model, header)

    async def template_limits(self, model: str) -> Mapping[str, Any]:
        """What a model's chat template can do by itself, tried out in a worker.

        system_role, consecutive_users, tools, thinking, date (it reads today's): bool; error: a
        sentence, empty when it works. Raises as `describe`, and WorkerDied, TemplateUnusable.
        """
        _require_llama_cpp()
        async with self._lock:
            if self._worker is None or not self._worker.is_usable:
                await self._start_worker()
        assert self._worker is not None
        async with aclosing(self._worker.ask("probe", {"model": model})) as messages:
            async for message in messages:
                if message["say"] == "probed":
                    return {key: message[key] for key in message if key not in ("say", "job")}
        raise BackendFailed("The llama.cpp worker said nothing about the template.")

    async def load(self, request: LoadRequest, progress: LoadProgress) -> Loaded:
        """Make a model ready; at once when it is, loaded in the same way.

        Raises ModelMissing, ModelUnusable, MemoryShort (before anything native is asked),
        WorkerDied, BackendSilent.
        """
        _require_llama_cpp()
        if self._words_only:
            request = replace(request, words_only=True)
        async with self._lock, aclosing(self._loading(request)) as steps:
            async for step in steps:
                if isinstance(step, Loaded):
                    return step
                progress(step)
        raise BackendFailed("The llama.cpp worker loaded nothing.")

    async def count(self, request: PromptRequest) -> int | None:
        """The exact size of the prompt, as `stream` would read it. Raises as `stream`."""
        state = await self._ready(request)
        fields = {"request": request_to_wire(request)}
        async with aclosing(state.worker.ask("count", fields)) as messages:
            async for message in messages:
                if message["say"] == "counted":
                    return int(message["tokens"])
        return None

    async def count_texts(
        self, request: PromptRequest, texts: Sequence[str]
    ) -> tuple[int, ...] | None:
        """Exact sizes of plain texts in tokens. Raises as `stream`."""
        state = await self._ready(request)
        async with aclosing(state.worker.ask("measure", {"texts": list(texts)})) as messages:
            async for message in messages:
                if message["say"] == "measured":
                    return tuple(message["tokens"])
        return None

    async def stream(self, request: PromptRequest) -> AsyncGenerator[Chunk, None]:
        """Run one reply.

        Raises TemplateUnusable, ContextOverflow (before anything is evaluated), WorkerDied,
        BackendSilent, BackendFailed, and what `load` raises when the model has to be loaded
        again.
        """
        _require_llama_cpp()
        started = time.monotonic()
        async with self._lock, aclosing(self._loading(self._load_request(request))) as steps:
            async for step in steps:
                if not isinstance(step, Loaded):
                    yield Loading(step)
        load_seconds = time.monotonic() - started
        state = self._state
        assert state is not None
        fields = {"request": request_to_wire(request)}
        async with aclosing(state.worker.ask("stream", fields)) as messages:
            async for message in messages:
                if message["say"] in ("rendering", "rendered"):
                    continue
                chunk = chunk_from_wire(message)
                if isinstance(chunk, Finished):
                    usage = replace(chunk.usage, load_seconds=load_seconds)
                    chunk = replace(chunk, usage=usage)
                yield chunk

    async def save_prefix(self, file: Path) -> bool:
        """Write what the prefix cache holds; False when nothing is loaded or it cannot be."""
        return await self._move_prefix("save", file)

    async def restore_prefix(self, file: Path) -> bool:
        """Fill the loaded model's prefix cache; False when the file was not written for it."""
        return await self._move_prefix("restore", file)

    async def close(self) -> None:
        """End the worker. It is started again if it is needed again."""
        worker, self._worker, self._state = self._worker, None, None
        if worker is not None:
            await worker.close()

    # ---- loading --------------------------------------------------------------------------------

    def _is_loaded(self, request: LoadRequest) -> bool:
        state = self._state
        return state is not None and state.worker.is_usable and state.request == request

    def _load_request(self, request: PromptRequest) -> LoadRequest:
        """How the model of a prompt was, or is to be, loaded."""
        default = LoadRequest(request.model, request.window_tokens)
        return self._wanted.get(request.model, default)

    async def _ready(self, request: PromptRequest) -> _State:
        await self.load(self._load_request(request), lambda _: None)
        assert self._state is not None
        return self._state

    async def _loading(self, request: LoadRequest) -> AsyncGenerator[float | Loaded | None, None]:
        """Load, unless it is; fractions, then what was loaded. The lock must be held."""
        if not self._is_loaded(request):
            worker = await self._worker_for(request)
            self._state = None
            fields = load_to_wire(request, self._thread_count())
            steps = worker.ask("load", fields, patience_seconds=_LOAD_PATIENCE_SECONDS)
            async with aclosing(steps) as messages:
                async for message in messages:
                    if message["say"] == "loading":
                        yield message["fraction"]
                    elif message["say"] == "loaded":
                        self._state = _State(worker, request, loaded_from_wire(message))
            self._wanted[request.model] = request
        if self._state is not None:
            yield self._state.loaded

    async def _worker_for(self, request: LoadRequest) -> WorkerProcess:
        """A worker that may load this model: the running one if it has it, or has none."""
        worker, state = self._worker, self._state
        if worker is None or not worker.is_usable:
            return await self._start_worker()
        if state is None or state.request.model == request.model:
            return worker
        await asyncio.to_thread(read_header, Path(request.model))  # before the other is lost
        return await self._start_worker()

    async def _start_worker(self) -> WorkerProcess:
        """A new worker in the place of the old one, if there was any."""
        await self.close()
        self._worker = await WorkerProcess.start(
            self._python, self._thread_count(), self._silence_seconds
        )
        return self._worker

    def _thread_count(self) -> int:
        return self._threads or _usual_threads()

    async def _move_prefix(self, do: str, file: Path) -> bool:
        state = self._state
        if state is None or not state.worker.is_usable:
            return False
        try:
            async with aclosing(state.worker.ask(do, {"file": str(file)})) as messages:
                async for message in messages:
                    if message["say"] == "moved":
                        return bool(message["done"])
        except EnvironmentFault:
            return False  # the next request finds out and says so
        return False


def _require_llama_cpp() -> None:
    if importlib.util.find_spec("llama_cpp") is None:
        raise not_installed()


def _usual_threads() -> int:
    import psutil  # late: 50 ms

    usable = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    return plan_threads(psutil.cpu_count(logical=False) or usable, usable)


def plan_threads(physical_cores: int, usable_processors: int) -> int:
    """Threads for llama.cpp: the physical cores, one less from four on so that the rest can work."""
    cores = max(1, min(physical_cores, usable_processors))
    return cores - 1 if cores >= 4 else cores


def _info(model: str, header: GgufHeader) -> ModelInfo:
    return ModelInfo(
        name=model,
        architecture=header.architecture,
        title=header.name,
        trained_window=header.trained_window,
        weights_bytes=header.file_bytes,
        kv_bytes_per_token=header.kv_bytes_per_token,
        parameters=header.parameters,
        quantization=header.quantization,
        template=header.template,
        capabilities=(capabilities := _capabilities(header)),
        think=template_choices(header.template) if "thinking" in capabilities else (),
        facts=header.metadata,
    )


def _capabilities(header: GgufHeader) -> frozenset[str]:
    """What the template's source says; running it is for the worker (`template_limits`)."""
    found = {"completion"}
    if re.search(r"\btools\b", header.template):
        found.add("tools")
    if find_think_tags(header.template) is not None:
        found.add("thinking")
    return frozenset(found)


def _find_models(folders: Iterable[Path]) -> Iterator[ModelSummary]:
    """A model in several files is its first one, with the size of all."""
    found = {path for folder in folders for path in _gguf_files(folder, _SEARCH_DEPTH)}
    sizes = {path: _size(path) for path in sorted(found)}
    for path, size in sizes.items():
        part = _PART.search(path.name)
        if part is not None:
            start = path.name[: part.start()]
            size = sum(
                other_size
                for other, other_size in sizes.items()
                if other.parent == path.parent and _PART.sub("", other.name) == start
            )
        if "mmproj" not in path.name.lower() and (part is None or int(part[1]) == 1):
            yield ModelSummary(str(path), size, path.stem)


def _gguf_files(folder: Path, depth: int) -> Iterator[Path]:
    """Files below a folder; folders that may not be read count as empty."""
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    for entry in entries:
        if entry.suffix.lower() == ".gguf" and entry.is_file():
            yield entry
        elif depth > 1 and entry.is_dir() and not entry.name.startswith("."):
            yield from _gguf_files(entry, depth - 1)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
