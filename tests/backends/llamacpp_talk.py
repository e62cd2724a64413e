"""What the llama.cpp tests share: requests, a backend that is closed, a model with another window."""

import asyncio
import struct
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from engine.backends.base import (
    Chunk,
    Finished,
    LoadRequest,
    PromptMessage,
    PromptRequest,
    Reading,
    Sampling,
    Stretch,
    TextChunk,
    ThinkingChunk,
    Warned,
)
from engine.backends.llamacpp import LlamaCppBackend
from engine.errors import EnvironmentFault

WINDOW = 2048
SYSTEM = PromptMessage("system", "You are a helpful assistant.")
CAPITAL = PromptMessage("user", "What is the capital of France? Answer in one sentence.")
LONG = PromptMessage("user", "The lighthouse keeper counts ships. " * 46 + "How many?")
"""Some 310 tokens: three batches of reading."""
MEDIUM = PromptMessage("user", "The lighthouse keeper counts ships. " * 12 + "How many?")
"""Some 110 tokens."""
TALE = PromptMessage("user", "Tell me a long story about a lighthouse keeper and the sea.")


def nothing(_: object) -> None:
    """Progress nobody looks at."""


def request_to(path: Path, *messages: PromptMessage, **changes: Any) -> PromptRequest:
    """A greedy request of at most 32 tokens."""
    settings = {
        "window_tokens": WINDOW,
        "max_tokens": 32,
        "sampling": Sampling(temperature=0.0),
        **changes,
    }
    return PromptRequest(str(path), messages, **settings)


def load_of(path: Path, window: int = WINDOW, stretch: Stretch = "off") -> LoadRequest:
    return LoadRequest(str(path), window, stretch)


def run(scenario: Callable[[LlamaCppBackend], Awaitable[Any]], **options: Any) -> Any:
    """Run a scenario with a backend of its own."""

    async def main() -> Any:
        backend = LlamaCppBackend(**options)
        try:
            return await scenario(backend)
        finally:
            await backend.close()

    return asyncio.run(main())


@dataclass
class Reply:
    """Everything a stream gave."""

    chunks: list[Chunk] = field(default_factory=list)

    def of(self, kind: type) -> list[Any]:
        return [chunk for chunk in self.chunks if isinstance(chunk, kind)]

    @property
    def text(self) -> str:
        return "".join(chunk.text for chunk in self.of(TextChunk))

    @property
    def thinking(self) -> str:
        return "".join(chunk.text for chunk in self.of(ThinkingChunk))

    @property
    def ids(self) -> tuple[int, ...]:
        spoken = self.of((TextChunk, ThinkingChunk))  # type: ignore[arg-type]
        return tuple(token for chunk in spoken for token in chunk.ids)

    @property
    def finished(self) -> Finished:
        (finished,) = self.of(Finished)
        assert self.chunks[-1] is finished
        return finished

    @property
    def usage(self):
        return self.finished.usage

    @property
    def reads(self) -> list[Reading]:
        return self.of(Reading)

    @property
    def warnings(self) -> list[str]:
        return [warned.code for warned in self.of(Warned)]

    def as_message(self, vocabulary: str) -> PromptMessage:
        return PromptMessage("assistant", self.text, token_ids=self.ids, vocabulary=vocabulary)


async def reply_to(backend: LlamaCppBackend, request: PromptRequest) -> Reply:
    """A whole reply."""
    reply = Reply()
    async for chunk in backend.stream(request):
        reply.chunks.append(chunk)
    return reply


async def until(
    backend: LlamaCppBackend, request: PromptRequest, enough: Callable[[Reply], bool]
) -> Reply:
    """A reply that is stopped as soon as there is enough of it."""
    reply = Reply()
    async with aclosing(backend.stream(request)) as stream:
        async for chunk in stream:
            reply.chunks.append(chunk)
            if enough(reply):
                break
    return reply


async def failing(
    backend: LlamaCppBackend,
    request: PromptRequest,
    expected: type[EnvironmentFault],
    on_text: Callable[[], None] = lambda: None,
) -> tuple[EnvironmentFault, Reply]:
    """A reply that must fail, and what came before; `on_text` is called at its first words."""
    reply = Reply()

    async def consume() -> None:
        async for chunk in backend.stream(request):
            reply.chunks.append(chunk)
            if isinstance(chunk, TextChunk) and len(reply.of(TextChunk)) == 1:
                on_text()

    with pytest.raises(expected) as caught:
        await consume()
    return caught.value, reply


def trained_on(source: Path, target: Path, tokens: int) -> Path:
    """A copy of a model that says it was trained on a window of `tokens`."""
    return patched(source, target, b"llama.context_length", struct.pack("<I", tokens))


def patched(source: Path, target: Path, key: bytes, value: bytes) -> Path:
    """A copy of a GGUF file with the four bytes of one setting changed."""
    data = bytearray(source.read_bytes())
    at = data.index(key) + len(key) + 4  # the key is followed by its type
    data[at : at + len(value)] = value
    target.write_bytes(data)
    return target
