"""What each entry weighs for one model: exact where its tokenizer is at hand, estimated elsewhere.

An entry's weight is what its message adds to a prompt: words, tool calls and the chat template's
overhead, in tokens; estimated, its thinking too. What a template makes of thinking, only an exact
count of the whole prompt tells. Texts weighed once are not weighed again.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace

from engine.backends.base import Backend, PromptMessage, PromptRequest
from engine.prompt import pictures_for, plan_message
from engine.tokens import (
    IMAGE_TOKENS,
    MESSAGE_OVERHEAD_TOKENS,
    SAFETY_MARGIN,
    estimate_messages,
    estimate_text,
)
from engine.transcript import Body, Entry, Message

CountTexts = Callable[[Sequence[str]], Awaitable[tuple[int, ...] | None]]
"""Exact sizes of texts in tokens; None where there is no tokenizer."""

_AT_ONCE_CHARACTERS = 2_000_000


async def count_parted(backend: Backend, request: PromptRequest) -> tuple[int | None, int]:
    """The exact size of a prompt, None where nobody can count it; and how much of it is thinking.

    That is what the prompt is smaller without: a template may print some of it, or none.
    """
    less: int | None = None
    if any(message.thinking for message in request.messages):
        messages = tuple(replace(message, thinking="") for message in request.messages)
        less = await backend.count(replace(request, messages=messages))
    exact = await backend.count(request)  # last: backends keep what they rendered, to send it
    return exact, 0 if exact is None or less is None else max(0, exact - less)


SURELY_FITS_BYTES = 1_000
"""A message of no more bytes fits every window that is allowed; a token is at least a byte."""
_SURELY_FIT_IMAGES = 2


def surely_fits(said: Message) -> bool:
    """Whether a message fits every window that is allowed, so that no model need be asked."""
    size = len(said.text.encode("utf-8", "surrogatepass"))
    return size <= SURELY_FITS_BYTES and len(said.images) <= _SURELY_FIT_IMAGES


def size_of(said: Message, exact: Sequence[int] | None, ratio: float, *, sees_images: bool) -> int:
    """Tokens of a new message: its text as it was counted, else estimated; and its pictures.

    `ratio` is the model's calibration; never less than 1: the text may be in another script.
    """
    pictures = IMAGE_TOKENS * len(said.images) if sees_images else 0
    if exact is not None:
        return exact[0] + pictures
    tokens = estimate_text(said.text) + pictures
    return round(SAFETY_MARGIN * max(1.0, ratio) * tokens)


class Scale:
    """Weighs the entries of one conversation for one model.

    Args:
        vocabulary: name of the model's tokenizer, for replies whose ids are stored.
        sees_images: whether it gets pictures.
    """

    def __init__(self, vocabulary: str = "", *, sees_images: bool = False) -> None:
        self._vocabulary = vocabulary
        self._pictures = pictures_for(sees_images=sees_images)
        self._weights: dict[str, tuple[Body, int]] = {}

    async def weigh(self, entries: Iterable[Entry], count: CountTexts) -> dict[str, int]:
        """Tokens of each entry, by id; 0 for what a model gets nothing of."""
        listed = list(entries)
        known = self._weights
        for some in _portions(entry for entry in listed if not self._knows(entry)):
            weights = await self._weigh_new(some, count)
            known.update({e.id: (e.body, w) for e, w in zip(some, weights, strict=True)})
        return {entry.id: known[entry.id][1] for entry in listed}

    def _knows(self, entry: Entry) -> bool:
        found = self._weights.get(entry.id)
        return found is not None and (found[0] is entry.body or found[0] == entry.body)

    async def _weigh_new(self, entries: Sequence[Entry], count: CountTexts) -> list[int]:
        messages = [plan_message(entry, self._pictures) for entry in entries]
        texts = [
            "" if m is None or self._stored_ids(e) else _text(m)
            for e, m in zip(entries, messages, strict=True)
        ]
        exact = await count(texts)
        if exact is None:
            return [0 if m is None else estimate_messages((m,)) for m in messages]
        return [
            0 if message is None else tokens + self._stored_ids(entry) + _frame(message)
            for entry, message, tokens in zip(entries, messages, exact, strict=True)
        ]

    def _stored_ids(self, entry: Entry) -> int:
        """Tokens the model itself wrote for a reply, 0 when they are not known."""
        body = entry.body
        if not isinstance(body, Message) or body.token_ids is None or body.tool_calls:
            return 0
        if body.thinking:  # the ids spell it too
            return 0
        return len(body.token_ids.ids) if body.token_ids.vocabulary == self._vocabulary else 0


def _frame(message: PromptMessage) -> int:
    """What a message has beside its words: the template's marks, pictures."""
    return MESSAGE_OVERHEAD_TOKENS + IMAGE_TOKENS * len(message.images)


def _text(message: PromptMessage) -> str:
    calls = [{"name": c.name, "arguments": dict(c.arguments)} for c in message.tool_calls]
    return message.content + (json.dumps(calls, ensure_ascii=False) if calls else "")


def _portions(entries: Iterable[Entry]) -> list[list[Entry]]:
    """The entries in portions of bounded size: one request of a whole archive would not do."""
    portions: list[list[Entry]] = []
    room = 0
    for entry in entries:
        size = len(entry.body.text) if isinstance(entry.body, Message) else 1_000
        if not portions or size > room:
            portions.append([])
            room = _AT_ONCE_CHARACTERS
        portions[-1].append(entry)
        room -= size
    return portions
