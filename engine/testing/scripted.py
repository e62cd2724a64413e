"""A backend with written replies: speaks `engine.backends.base` like the real ones."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from engine.backends.base import (
    Chunk,
    Finished,
    Loaded,
    LoadProgress,
    LoadRequest,
    ModelInfo,
    ModelSummary,
    PromptMessage,
    PromptRequest,
    Reading,
    TextChunk,
    ThinkingChunk,
    ToolCallChunk,
)
from engine.errors import ModelMissing
from engine.tokens import estimate_messages, estimate_text
from engine.transcript import StopReason, ToolCall, Usage


@dataclass(frozen=True, slots=True)
class Script:
    """One reply.

    `text` is streamed word by word. `fault` is raised after `fault_after` words (an exception of
    any kind, so that bugs can be played too). `hold_after` words the stream waits until the
    backend's `release` event is set, or until it is stopped.
    """

    text: str = ""
    thinking: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    stop_reason: StopReason = "stop"
    fault: Exception | None = None
    fault_after: int = 0
    hold_after: int | None = None


@dataclass
class ScriptedBackend:
    """Replies in the order of `scripts`; when they run out, `otherwise` writes them.

    Attributes:
        otherwise: makes the reply to a request no script is left for; None repeats the last words.
        window_tokens: what it claims to have loaded; None for what was asked.
        trained_window: what `describe` reports, in tokens.
        exact: whether it can count (`count` gives None otherwise).
        sees_images: whether pictures may be sent to it.
        requests, loads: every call, in order.
        stopped: how many streams ended before their time.
    """

    scripts: Iterable[Script | str] = ()
    otherwise: Callable[[PromptRequest], Script | str] | None = None
    window_tokens: int | None = None
    trained_window: int = 32_768
    exact: bool = True
    sees_images: bool = False
    models: tuple[str, ...] = ("test",)
    name: str = "scripted"
    requests: list[PromptRequest] = field(default_factory=list)
    loads: list[LoadRequest] = field(default_factory=list)
    stopped: int = 0
    closed: bool = False

    def __post_init__(self) -> None:
        self._scripts = iter([s if isinstance(s, Script) else Script(s) for s in self.scripts])
        self._held: tuple[PromptMessage, ...] = ()  # what its prefix cache would hold
        self.release = asyncio.Event()

    async def list_models(self) -> tuple[ModelSummary, ...]:
        """The names given at construction."""
        return tuple(ModelSummary(name) for name in self.models)

    async def describe(self, model: str) -> ModelInfo:
        """A small model; raises ModelMissing for a name not in `models`."""
        if model not in self.models:
            raise ModelMissing(f"There is no scripted model “{model}”.")
        return ModelInfo(
            model,
            architecture="scripted",
            trained_window=self.trained_window,
            capabilities=frozenset({"vision"} if self.sees_images else ()),
        )

    async def load(self, request: LoadRequest, progress: LoadProgress) -> Loaded:
        """Loads at once, reporting half way and the end."""
        self.loads.append(request)
        progress(0.5)
        progress(1.0)
        return Loaded(self.window_tokens or request.window_tokens, self.trained_window)

    async def count(self, request: PromptRequest) -> int | None:
        """The estimate, declared exact: one rule for the double's own usage too."""
        return estimate_messages(request.messages) if self.exact else None

    async def count_texts(
        self, request: PromptRequest, texts: Sequence[str]
    ) -> tuple[int, ...] | None:
        """The estimates, declared exact, as `count`."""
        return tuple(estimate_text(text) for text in texts) if self.exact else None

    async def stream(self, request: PromptRequest) -> AsyncIterator[Chunk]:
        """Play the next script."""
        self.requests.append(request)
        script = next(self._scripts, None) or self._other(request)
        finished = False
        try:
            async for chunk in self._play(script, request):
                yield chunk
            finished = True
        finally:
            self.stopped += not finished and script.fault is None

    def _reused(self, request: PromptRequest) -> int:
        """Tokens of the messages that the last prompt and its reply begin with, too."""
        same = 0
        for mine, held in zip(request.messages, self._held, strict=False):
            if (mine.role, mine.content) != (held.role, held.content):
                break
            same += 1
        return min(
            estimate_messages(request.messages[:same]), estimate_messages(request.messages) - 1
        )

    def _other(self, request: PromptRequest) -> Script:
        if self.otherwise is None:
            return Script(request.messages[-1].content)
        reply = self.otherwise(request)
        return reply if isinstance(reply, Script) else Script(reply)

    async def _play(self, script: Script, request: PromptRequest) -> AsyncIterator[Chunk]:
        prompt = estimate_messages(request.messages)
        reused = self._reused(request)
        yield Reading(reused, prompt, reused)
        yield Reading(prompt, prompt, reused)
        if script.thinking:
            yield ThinkingChunk(script.thinking)
        words = script.text.split(" ")
        for index, word in enumerate(words):
            if script.fault is not None and index == script.fault_after:
                raise script.fault
            if index == script.hold_after:
                await self.release.wait()
            yield TextChunk(word if index == 0 else f" {word}")
        if script.fault is not None:
            raise script.fault
        for call in script.tool_calls:
            yield ToolCallChunk(call)
        usage = Usage(
            read_tokens=prompt - reused,
            reused_tokens=reused,
            written_tokens=estimate_text(script.text),
        )
        self._held = (*request.messages, PromptMessage("assistant", script.text))
        yield Finished(script.stop_reason, usage)

    async def save_prefix(self, file: Path) -> bool:
        """It has no cache."""
        return False

    async def restore_prefix(self, file: Path) -> bool:
        """It has no cache."""
        return False

    async def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True
