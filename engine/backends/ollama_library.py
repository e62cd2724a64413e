"""The models stored on an Ollama server: put out of its memory, deleted.

::

    unload ── POST   /api/chat, no messages, keep_alive 0
    delete ── DELETE /api/delete

What else there is to know of them is `OllamaBackend.describe`; fetching one is `pull`.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import TYPE_CHECKING

from engine.backends import ollama_faults as faults
from engine.backends.ollama_wire import Json

if TYPE_CHECKING:  # the transport costs half a second to import, and is needed by requests only
    from engine.backends.ollama_http import Answer

Request = Callable[
    [str, str, Json | None, faults.Explain, tuple[float, float]],
    AbstractAsyncContextManager["Answer"],
]
"""A request as the backend makes it: method, path, body, what an error means, silence (seconds)."""


class Library:
    """What is stored on one server.

    Args:
        ask: makes a request.
        is_cloud: whether a model runs on ollama.com, and so never in this server's memory.
        silence_seconds: the longest silence before an answer: a large model takes a while to go,
            and servers before 0.3.11 load a model that is not loaded first.
    """

    def __init__(
        self, ask: Request, is_cloud: Callable[[str], bool], silence_seconds: float
    ) -> None:
        self._ask = ask
        self._is_cloud = is_cloud
        self._silence = (silence_seconds, silence_seconds)

    async def unload(self, model: str) -> None:
        """Put a model out of the server's memory; one that works goes when it is done.

        Raises BackendUnreachable, BackendRefused, BackendSilent, ModelMissing.
        """
        if self._is_cloud(model):
            return
        body = {"model": model, "messages": [], "keep_alive": 0, "stream": False}
        explain = partial(faults.chat_refusal, model=model)
        async with self._ask("POST", "/api/chat", body, explain, self._silence) as answer:
            await answer.document()

    async def delete(self, model: str) -> None:
        """Delete a model; parts that another one shares stay.

        Raises BackendUnreachable, BackendRefused, BackendSilent, ModelMissing.
        """
        explain = partial(faults.chat_refusal, model=model)
        body = {"model": model}
        async with self._ask("DELETE", "/api/delete", body, explain, self._silence) as answer:
            await answer.whole()
