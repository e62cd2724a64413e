"""What a session may do without, given to it by whoever constructs it."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from engine.compactor import Writer
from engine.prefixes import PrefixFolder
from engine.readiness import free_memory
from engine.tokens import CalibrationBook

SummaryWriter = Callable[[], AbstractAsyncContextManager[Writer]]
"""Opens the model that writes summaries, for one compaction."""


@dataclass(frozen=True, slots=True)
class SessionTools:
    """What a session may do without.

    Attributes:
        prefixes: where the backend's prefix cache is kept between runs; None keeps nothing.
        book: what is known of token estimates, by model; None learns for this session only.
        writer: who writes summaries; None for the conversation's own model.
        clock: seconds, monotonic.
        sleep: waits between attempts at a summary, seconds.
        free_memory: the machine's free memory in bytes.
    """

    prefixes: PrefixFolder | None = None
    book: CalibrationBook | None = None
    writer: SummaryWriter | None = None
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    free_memory: Callable[[], int | None] = free_memory


def as_it_is(writer: Writer) -> SummaryWriter:
    """The conversation's own model: it is open already, and stays so."""

    @asynccontextmanager
    async def open_writer() -> AsyncIterator[Writer]:
        yield writer

    return open_writer
