"""How a conversation leaves its backend to another one, and how long that may take."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from app.client.talk import Talk
from engine.errors import EnvironmentFault


async def put_away(talk: Talk) -> None:
    """Another conversation comes: keep what the model has read of this one, for when it goes on."""
    session = talk.session
    if session is None or session.ready is None or session.plan.backend != "llama.cpp":
        return
    with suppress(EnvironmentFault, OSError):  # a cache: it is read again then
        await session.keep_prefix()
    session.ready = None  # the next turn restores what was kept


async def within(seconds: float, doing: Coroutine[Any, Any, None]) -> bool:
    """Wait for something, not longer than this; whether it ended. It is not waited for then."""
    task = asyncio.ensure_future(doing)
    done, _ = await asyncio.wait({task}, timeout=seconds)
    if not done:
        task.cancel()
        return False
    task.result()
    return True
