"""An Ollama server as a backend.

::

    describe ── GET  /api/version, POST /api/show, GET /api/tags
    load ────── POST /api/chat, no messages ─▶ GET /api/ps: the window that was really loaded
    stream ──── GET  /api/ps (will it load?) ─▶ POST /api/chat ─▶ thinking, text, calls, usage

Promises:

- Nothing is cut in silence. Every request to a model carries the same `num_ctx` and says
  `truncate: false` and `shift: false`; a prompt that does not fit is refused by the server, and a
  reply that fills the window ends with "length". A server too old to know the two fields is named
  whenever a model is described or loaded (`cuts`): what it is sent must fit by our own count.
- Nothing is loaded twice: loading and every reply use the same load options.
- Nothing goes anywhere but to the configured server. It never changes by itself, redirects are not
  followed, and a model that the server would run on ollama.com is refused before anything is sent,
  unless the user allows such models. The token is sent only where nobody can read along.
- A stream that stops without its last object is a failure, never a short reply.

It does not count tokens, and does not decide which window is allowed.
"""

import os
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from engine.backends import ollama_faults as faults
from engine.backends import ollama_wire as wire
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
    Think,
    ThinkChoice,
    ToolCallChunk,
    Warned,
)
from engine.backends.ollama_address import parse_address
from engine.backends.ollama_cloud import CloudGate
from engine.backends.ollama_library import Library
from engine.backends.ollama_thinking import cannot_think, plan_think
from engine.backends.ollama_wire import PullProgress, RunningModel, modelfile_num_ctx
from engine.errors import (
    BackendFailed,
    BackendRefused,
    BackendSilent,
    BackendUnreachable,
    EnvironmentFault,
    ModelMissing,
)

if TYPE_CHECKING:  # the transport costs half a second to import, and is needed by requests only
    from engine.backends.ollama_http import Answer, Connection

__all__ = ["OllamaBackend", "PullProgress", "RunningModel", "modelfile_num_ctx"]

_T = TypeVar("_T")

SILENCE_SECONDS = 300.0
LOAD_SILENCE_SECONDS = 1800.0
ANSWER_SECONDS = 30.0
"""The longest silence of a request that loads and generates nothing."""
_LOADED_SECONDS = 0.1
"""A model that was ready was not loaded: that takes longer."""
_LOOK_SECONDS = 2.0
"""A reply that is there waits no longer for what is only asked about it."""


class OllamaBackend:
    """One Ollama server.

    Args:
        host: its address as in `OLLAMA_HOST`; empty for that variable, or this machine.
        silence_seconds: the longest silence within a reply (a tool call may be buffered whole).
        load_silence_seconds: the longest silence before a reply: the queue, loading the model and
            reading the prompt all happen before the server's first byte.
        keep_alive: how long the server keeps the model after a reply (a Go duration); empty
            leaves it to the server. The same in every request.
        token: sent to a server that wants one; "" for OLLAMA_API_KEY, if that is set.
        allow_cloud: whether models may be used that the server has run by ollama.com.
    """

    name = "ollama"

    def __init__(
        self,
        host: str = "",
        *,
        silence_seconds: float = SILENCE_SECONDS,
        load_silence_seconds: float = LOAD_SILENCE_SECONDS,
        keep_alive: str = wire.KEEP_ALIVE,
        token: str = "",
        allow_cloud: bool = False,
    ) -> None:
        self._host = host.strip() or os.environ.get("OLLAMA_HOST", "")
        self._silence = silence_seconds
        self._load_silence = load_silence_seconds
        self._keep_alive = keep_alive
        self._token = token
        self._cloud = CloudGate(self._document, allowed=allow_cloud)
        self._connection: Connection | None = None
        self._version: str | None = None
        self._trained: dict[str, int] = {}  # of the models that were asked about
        self._think: dict[str, tuple[ThinkChoice, ...] | None] = {}  # what each can be told
        self._windows: dict[tuple[str, int], int] = {}  # name, asked → what was loaded

    def use(self, *, token: str, allow_cloud: bool) -> None:
        """Go by another token and another word on models of ollama.com, from the next request on."""
        self._token, self._cloud.allowed = token, allow_cloud
        if self._connection is not None:
            self._connection.token = token

    # ---- what there is --------------------------------------------------------------------------

    async def version(self) -> str:
        """The server's version, asked for once. Raises BackendUnreachable, BackendRefused."""
        if self._version is None:
            answer = await self._document("GET", "/api/version")
            self._version = self._required(wire.text(answer, "version"))
        return self._version

    async def list_models(self) -> tuple[ModelSummary, ...]:
        """The models on the server's list that can chat, newest first."""
        tags = await self._document("GET", "/api/tags")
        self._required("models" in tags)
        models = wire.model_summaries(tags, cloud=self._cloud.everything)
        self._cloud.note_list(models)
        return models

    async def describe(self, model: str) -> ModelInfo:
        """What the server tells of a model without loading it.

        Raises:
            ModelMissing: the server has no such model.
            ModelUnusable: it would run on ollama.com, and must not or cannot.
            BackendUnreachable, BackendRefused: no server, or no Ollama server.
        """
        self._cloud.require(model)
        models = await self.list_models()
        show = await self._show(model)
        name = wire.full_name(model)
        same = (item for item in models if wire.full_name(item.name) == name)
        info = wire.model_info(model, show, next((item.size_bytes for item in same), 0))
        self._trained[name], self._think[name] = info.trained_window, info.think
        cloud = self._cloud.is_cloud(model)
        return replace(info, cloud=cloud, cuts="" if cloud else await self._cuts())

    async def ps(self, patience_seconds: float = ANSWER_SECONDS) -> tuple[RunningModel, ...]:
        """The models in the server's memory, with the windows they were loaded with."""
        answer = await self._document("GET", "/api/ps", patience_seconds=patience_seconds)
        return wire.running_models(answer)

    # ---- work -----------------------------------------------------------------------------------

    async def load(self, request: LoadRequest, progress: LoadProgress) -> Loaded:
        """Make the server load the model with this window, and ask what it really loaded.

        A window that came out smaller is the window from now on. `progress` gets None, then 1: the
        server does not say how far it is. A model of ollama.com is not loaded: nothing is sent.
        Raises as `describe`, and MemoryShort, BackendSilent.
        """
        trained = await self._trained_window(request.model)
        if await self._cloud.admit(request.model):
            progress(1.0)
            return Loaded(min(request.window_tokens, trained or request.window_tokens), trained)
        other = await self._other_window(request)
        progress(None)
        body = wire.load_body(request.model, request.window_tokens, self._keep_alive)
        async with self._chat(body, gap=self._load_silence) as answer:
            await answer.document()
        progress(1.0)
        running = await self._running(request.model)
        live = running.window_tokens if running else 0
        window = min(request.window_tokens, live or trained or request.window_tokens)
        self._windows[wire.full_name(request.model), request.window_tokens] = live
        note = ""
        if other and live != other:
            note = wire.taken_over_words(other, request.window_tokens)
        digest = running.digest if running else ""
        return Loaded(window, trained, digest=digest, note=note, cuts=await self._cuts())

    async def count(self, request: PromptRequest) -> int | None:
        """None: the server has no way to count a prompt without running it."""
        return None

    async def count_texts(
        self, request: PromptRequest, texts: Sequence[str]
    ) -> tuple[int, ...] | None:
        """None, as `count`."""
        return None

    async def stream(self, request: PromptRequest) -> AsyncGenerator[Chunk, None]:
        """Run one reply; see `Backend.stream`. Leaving it closes the connection, which stops it.

        Raises:
            ContextOverflow: the server refused the prompt; nothing was cut.
            BackendFailed: the reply broke off, what came before is good.
            BackendSilent, BackendUnreachable, BackendRefused, MemoryShort, ModelMissing.
        """
        body = wire.chat_body(request, self._keep_alive)
        await self._trained_window(request.model)
        await self._told_version()
        for warning in await self._foreseen_load(request):
            yield warning
        body = wire.with_think(body, self._plan_think(request))
        try:
            async with aclosing(self._reply(request, body)) as chunks:
                async for chunk in chunks:
                    yield chunk
                return
        except BackendRefused as fault:
            if "think" not in body or not faults.is_about_thinking(fault):
                raise
        self._think[wire.full_name(request.model)] = ()
        yield cannot_think(request.model)
        async with aclosing(self._reply(request, wire.with_think(body, None))) as chunks:
            async for chunk in chunks:
                yield chunk

    async def _reply(self, request: PromptRequest, body: wire.Json) -> AsyncGenerator[Chunk, None]:
        """One reply to a request's body. Raises as `stream`."""
        called = False
        async with self._chat(body, gap=self._silence) as answer:
            while (line := await answer.line()) is not None:
                for chunk in wire.chunks_of(line):
                    called = called or isinstance(chunk, ToolCallChunk)
                    yield chunk
                if wire.is_last(line):
                    whole = wire.tells_whole(self._version or "")
                    end = wire.finished(line, called=called, tells_whole=whole)
                    for chunk in (*await self._shrunk(request, end), *_ending(end, request)):
                        yield chunk
                    return
        raise faults.cut("the server ended it without saying that it is complete")

    async def pull(self, model: str) -> AsyncGenerator[PullProgress, None]:
        """Make the server fetch a model from its library; leaving it cancels, what came is kept.

        Raises:
            DownloadFailed: unknown name, offline, disk full, damaged.
            ModelUnusable: it would run on ollama.com, and must not.
        """
        self._cloud.require(model)
        body = {"model": model, "stream": True}
        explain = partial(faults.pull_refusal, model=model)
        silence = (self._load_silence, self._load_silence)  # it checks whole files in silence
        try:
            async with self._ask("POST", "/api/pull", body, explain, silence) as answer:
                while (line := await answer.line()) is not None:
                    progress = wire.pull_progress(line)
                    yield progress
                    if progress.status == "success":
                        self._trained.pop(wire.full_name(model), None)
                        return
        except BackendFailed as fault:  # which speaks of replies
            raise faults.pull_stopped(model) from fault
        raise faults.pull_stopped(model)

    @property
    def library(self) -> Library:
        """Deletes what is stored on the server, and puts models out of its memory."""
        return Library(self._ask, self._cloud.is_cloud, self._load_silence)

    async def save_prefix(self, file: Path) -> bool:
        """The server keeps its prefix cache to itself."""
        return False

    async def restore_prefix(self, file: Path) -> bool:
        """The server keeps its prefix cache to itself."""
        return False

    async def close(self) -> None:
        """Close the connections. Safe to call twice; the next request opens new ones."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    # ---- steps ----------------------------------------------------------------------------------

    async def _trained_window(self, model: str) -> int:
        """Tokens the model was trained for, 0 when unknown; asked for once a model.

        Raises as `_show`: every use of a model passes here before anything is sent to it.
        """
        name = wire.full_name(model)
        self._cloud.require(model)
        if name not in self._trained:
            show = await self._show(model)
            info = wire.model_info(model, show, 0)
            self._trained[name], self._think[name] = info.trained_window, info.think
        return self._trained[name]

    async def _show(self, model: str) -> wire.Json:
        """What the server tells of a model.

        Raises ModelUnusable if it runs on ollama.com, and must not or cannot: not even its name is
        sent then, where the list of models says so.
        """
        if not self._cloud.is_known(model):
            await self.list_models()
        await self._cloud.admit(model)
        try:
            show = await self._document("POST", "/api/show", {"model": model}, model)
        except ModelMissing as fault:
            raise await self._missing(model) from fault
        self._cloud.note(model, cloud=self._cloud.is_cloud(model) or wire.is_remote(show))
        self._cloud.require(model)
        return show

    async def _missing(self, model: str) -> EnvironmentFault:
        """No such model, and which there are."""
        others: tuple[ModelSummary, ...] = ()
        with suppress(EnvironmentFault):  # the fault to tell of is the missing model
            others = await self.list_models()
        return faults.missing(model, tuple(item.name for item in others))

    async def _running(
        self, model: str, patience_seconds: float = ANSWER_SECONDS
    ) -> RunningModel | None:
        """The model's place in memory; None when it is not there, or the server cannot tell."""
        try:
            running = await self.ps(patience_seconds)
        except BackendRefused:  # servers before 0.1.38 have no /api/ps
            return None
        name = wire.full_name(model)
        return next((item for item in running if wire.full_name(item.name) == name), None)

    async def _told_version(self) -> str:
        """The server's version, "unknown" from some other program that speaks its language."""
        try:
            return await self.version()
        except BackendRefused:
            return "unknown"

    async def _cuts(self) -> str:
        """Why the server may cut a prompt in silence, "" if it knows how to refuse instead."""
        version = await self._told_version()
        numbers = wire.parse_version(version)
        if version != "unknown" and (numbers is None or numbers >= wire.NO_CUT_VERSION):
            return ""
        return wire.old_server_words(version)

    async def _other_window(self, request: LoadRequest) -> int:
        """Tokens of the window it has in memory now, if that is not what was loaded before; else 0."""
        usual = self._windows.get((wire.full_name(request.model), request.window_tokens))
        if not usual:
            return 0
        try:
            running = await self._running(request.model, _LOOK_SECONDS)
        except BackendSilent:  # it is busy loading, for another program perhaps
            return 0
        return 0 if running is None or running.window_tokens == usual else running.window_tokens

    def _plan_think(self, request: PromptRequest) -> Think | None:
        """What is said of thinking to this model on this server; None for nothing."""
        choices = self._think.get(wire.full_name(request.model))
        return plan_think(request.think, choices, wire.parse_version(self._version or ""))

    async def _foreseen_load(self, request: PromptRequest) -> tuple[Chunk, ...]:
        """`Loading` if the request will make the server load the model, and why, if known."""
        if self._cloud.is_cloud(request.model):
            return ()
        try:
            running = await self._running(request.model)
        except BackendSilent:  # as in _other_window
            running = None
        if running is None:
            return (Loading(None),)
        asked = request.window_tokens
        if running.window_tokens in (0, self._usual_window(request)):
            return ()
        words = wire.taken_over_words(running.window_tokens, asked)
        return (Warned("reloaded", words), Loading(None))

    async def _shrunk(self, request: PromptRequest, end: Finished) -> tuple[Chunk, ...]:
        """A warning if the model was loaded within the reply, and smaller than it was before.

        The server says nothing of that in the reply; without a load there is nothing to ask.
        """
        usual = self._usual_window(request)
        if end.usage.load_seconds < _LOADED_SECONDS or not usual:
            return ()
        try:
            running = await self._running(request.model, _LOOK_SECONDS)
        except EnvironmentFault:  # the reply is there: it does not wait for this
            return ()
        if running is None or not 0 < running.window_tokens < usual:
            return ()
        return (
            Warned(
                "window_shrank",
                f"Ollama loaded the model again within this reply, with a window of "
                f"{running.window_tokens:,} tokens instead of {usual:,}: what is older may not "
                "have been read. The next message goes by the smaller window.",
            ),
        )

    def _usual_window(self, request: PromptRequest) -> int:
        """The window the model has when it is loaded as this request wants it; tokens."""
        name, asked = wire.full_name(request.model), request.window_tokens
        known = self._windows.get((name, asked))
        return known or min(asked, self._trained.get(name) or asked)

    # ---- requests -------------------------------------------------------------------------------

    def _chat(self, body: wire.Json, *, gap: float) -> AbstractAsyncContextManager["Answer"]:
        """A request to a model: the first byte may take as long as loading and reading do."""
        explain = partial(faults.chat_refusal, model=body["model"])
        return self._ask("POST", "/api/chat", body, explain, (self._load_silence, gap))

    async def _document(
        self,
        method: str,
        path: str,
        body: wire.Json | None = None,
        model: str = "",
        patience_seconds: float = ANSWER_SECONDS,
    ) -> wire.Json:
        """A request that loads nothing, answered with one JSON object."""
        limit = min(patience_seconds, self._silence)
        explain = partial(faults.chat_refusal, model=model)
        async with self._ask(method, path, body, explain, (limit, limit)) as answer:
            return await answer.document()

    @asynccontextmanager
    async def _ask(
        self,
        method: str,
        path: str,
        body: wire.Json | None,
        explain: faults.Explain,
        silence: tuple[float, float],
    ) -> AsyncIterator["Answer"]:
        """The answer to a request; `silence` before its first byte and within it, seconds."""
        from engine.backends.ollama_http import Ask, Connection

        if self._connection is None:
            address = parse_address(self._host)
            self._cloud.everything = address.is_cloud
            self._connection = Connection(address, self._token)
        first, gap = silence
        try:
            async with self._connection.ask(
                Ask(method, path, first, gap, body, explain)
            ) as answer:
                yield answer
        except BackendUnreachable:
            self._version = None  # what answers next time may be another version
            raise

    @property
    def address(self) -> str:
        """Where the server is asked for, as a URL. Raises BackendUnreachable for no address."""
        return str(parse_address(self._host))

    def _required(self, value: _T) -> _T:
        """The value, which no Ollama server leaves out. Raises BackendRefused without it."""
        if not value:
            raise faults.not_ollama(str(parse_address(self._host)))
        return value


def _ending(end: Finished, request: PromptRequest) -> tuple[Chunk, ...]:
    """The end of a reply, with a warning if the server made room by dropping something.

    More tokens than the window holds cannot have been read and written without that. A prompt that
    alone has more was miscounted, which its receipt tells.
    """
    used = end.usage.prompt_tokens + end.usage.written_tokens
    if used <= request.window_tokens or end.usage.prompt_tokens > request.window_tokens:
        return (end,)
    return (
        Warned(
            "server_cut",
            f"Ollama dropped the beginning of the conversation while it answered: {used:,} tokens "
            f"do not fit its window of {request.window_tokens:,}.",
        ),
        end,
    )
