"""From a rendered prompt to token ids: exact, the same for counting and for reading.

The template's own text may spell control tokens, what people wrote may not. Where a stored reply's
ids spell exactly what the template prints for it, they are used instead of its text: tokenising
the text again gives other ids now and then, and the prefix cache would end there.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from engine.backends.base import PromptMessage
from engine.backends.llamacpp_worker.templates import Rendered
from engine.backends.llamacpp_worker.vocabulary import Vocabulary

_CACHED_IDS = 500_000
"""Ids kept of fragments tokenised before: the messages of several long conversations."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """Which of a reply's ids (`start` to `end`) spell printed text, `before_bytes` of it earlier."""

    start: int
    end: int
    before_bytes: int = 0


def plan_spelling(pieces: Sequence[bytes], printed: bytes, before: bytes) -> Spelling | None:
    """Which ids of a reply can stand for the text a template prints for it.

    Args:
        pieces: what each id spells.
        printed: the reply's text as the template prints it.
        before: what the template prints between the message before and `printed` (the reply's
            thinking, its tags); ids that spell the end of it too are used for both.
    """
    whole = b"".join(pieces)
    extra = len(whole) - len(printed)
    if extra >= 0 and whole.endswith(printed) and before.endswith(whole[:extra]):
        return Spelling(0, len(pieces), extra)
    borders = list(accumulate(map(len, pieces), initial=0))
    last = {offset: index for index, offset in enumerate(borders)}
    offset = whole.find(printed) if printed else -1
    while offset >= 0:
        start, end = last.get(offset), last.get(offset + len(printed))
        if start is not None and end is not None:
            return Spelling(start, end)
        offset = whole.find(printed, offset + 1)
    return None


@dataclass(slots=True)
class _Fragment:
    """A stretch of the prompt: text still to be tokenised, or ids that stand for it."""

    text: bytes
    message: int | None
    special: bool = False
    ids: tuple[int, ...] | None = None


class Tokenizer:
    """Tokenises rendered prompts with one vocabulary; a fragment seen before costs nothing."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._cache: OrderedDict[tuple[bytes, bool, bool], tuple[int, ...]] = OrderedDict()
        self._cached_ids = 0

    def prompt_ids(self, rendered: Rendered, messages: Sequence[PromptMessage]) -> list[int]:
        """The ids of a whole prompt, with the begin token the vocabulary wants."""
        ids: list[int] = []
        for index, fragment in enumerate(self._fragments(rendered, messages)):
            if fragment.ids is None:
                ids.extend(self._tokenize(fragment, first=index == 0))
            else:
                ids.extend(fragment.ids)
        return self._vocabulary.with_begin(ids)

    def size(self, text: str) -> int:
        """Tokens of what somebody wrote, standing by itself in the middle of a prompt."""
        fragment = _Fragment(text.encode("utf-8", "replace"), None)
        return len(self._tokenize(fragment, first=False))

    def _fragments(self, rendered: Rendered, messages: Sequence[PromptMessage]) -> list[_Fragment]:
        fragments: list[_Fragment] = []
        for piece in rendered.pieces:
            text = piece.text.encode("utf-8", "replace")  # llama.cpp ends on a lone surrogate
            special = piece.kind == "template"
            fragment = _Fragment(text, None if special else piece.message, special)
            if not special:
                self._use_stored_ids(fragment, fragments, messages)
            fragments.append(fragment)
        return fragments

    def _use_stored_ids(
        self,
        fragment: _Fragment,
        fragments: list[_Fragment],
        messages: Sequence[PromptMessage],
    ) -> None:
        """Give a reply's fragment its own ids, if they spell it; they may take text before it."""
        if fragment.message is None:
            return
        message = messages[fragment.message]
        if not message.token_ids or message.vocabulary != self._vocabulary.fingerprint:
            return
        spelling = plan_spelling(
            [self._vocabulary.piece(token) for token in message.token_ids],
            fragment.text,
            _text_before(fragments, fragment.message),
        )
        if spelling is not None:
            _cut(fragments, spelling.before_bytes)
            fragment.ids = message.token_ids[spelling.start : spelling.end]

    def _tokenize(self, fragment: _Fragment, *, first: bool) -> tuple[int, ...]:
        key = (fragment.text, fragment.special, first)
        ids = self._cache.pop(key, None)
        if ids is None:
            ids = self._vocabulary.tokenize(fragment.text, special=fragment.special, first=first)
            self._cached_ids += len(ids)
        self._cache[key] = ids  # the newest is the last to go
        while self._cached_ids > _CACHED_IDS and len(self._cache) > 1:
            _, oldest = self._cache.popitem(last=False)
            self._cached_ids -= len(oldest)
        return ids


def _text_before(fragments: list[_Fragment], message: int) -> bytes:
    """What is printed after the last content of any other message."""
    start = len(fragments)
    while start and fragments[start - 1].message in (None, message):
        start -= 1
    return b"".join(fragment.text for fragment in fragments[start:])


def _cut(fragments: list[_Fragment], size: int) -> None:
    """Take `size` bytes off the end of the fragments."""
    while size:
        last = fragments.pop()
        if size < len(last.text):
            kept = last.text[:-size]
            fragments.append(_Fragment(kept, last.message, last.special))
            return
        size -= len(last.text)
