"""From generated tokens to chunks: whole characters, thinking apart from text, no stop strings.

Every token's id is given out exactly once, with the first chunk after it: so what was given out at
any moment spells at least the text that was, and a reply that is stopped has its ids.
"""

from collections.abc import Iterable, Iterator, Sequence

from engine.backends.base import TextChunk, ThinkingChunk
from engine.backends.llamacpp_worker.think import (
    Kind,
    Split,
    StopFinder,
    ThinkSplitter,
    ThinkTags,
    Utf8Splitter,
)
from engine.backends.llamacpp_worker.vocabulary import Vocabulary

ReplyChunk = TextChunk | ThinkingChunk
_NO_TAGS = ThinkTags("", "")


class ReplyText:
    """The text of one reply, as its tokens come.

    Args:
        vocabulary: what the tokens spell.
        tags: how this model marks its thinking, None if it does not think.
        opened: whether the prompt ends inside the thinking.
        stops: strings that end the reply.

    Attributes:
        is_stopped: whether a stop string was met; nothing more is to be written then.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        tags: ThinkTags | None,
        *,
        opened: bool,
        stops: Sequence[str],
    ) -> None:
        tags = tags or _NO_TAGS
        self._vocabulary = vocabulary
        self._characters = Utf8Splitter()
        self._splitter = ThinkSplitter(tags.open, tags.close, opened=opened, passing=tags.passing)
        self._stops = StopFinder(stops)
        self._is_plain = tags is _NO_TAGS and not any(stops)
        self._kind: Kind = "thinking" if opened else "text"
        self._at_start = opened
        self._ids: list[int] = []
        self.is_stopped = False

    def take(self, token: int) -> Sequence[ReplyChunk]:
        """The chunks that are settled with one more token."""
        self._ids.append(token)
        text = self._characters.feed(self._vocabulary.piece(token))
        if not text:
            return ()
        if self._is_plain:
            return (self._settled(TextChunk, text),)
        return list(self._chunks(self._splitter.feed(text)))

    def finish(self) -> Iterator[ReplyChunk]:
        """What was held back, when the reply has ended."""
        if not self.is_stopped:
            rest = self._characters.flush()
            yield from self._chunks([*self._splitter.feed(rest), *self._splitter.flush()])
            yield from self._chunk("text", self._stops.flush())
        if self._ids:
            yield from self._chunk(self._kind, "", even_empty=True)

    def _chunks(self, parts: Iterable[Split]) -> Iterator[ReplyChunk]:
        for kind, text in parts:
            if kind == "text":
                text, self.is_stopped = self._stops.feed(text)
            else:
                yield from self._chunk("text", self._stops.flush())
            yield from self._chunk(kind, text)
            if self.is_stopped:
                return

    def _chunk(self, kind: Kind, text: str, *, even_empty: bool = False) -> Iterator[ReplyChunk]:
        """Text with the ids that wait; line breaks beside a thinking tag belong to the tag."""
        if kind != self._kind and text:
            self._kind, self._at_start = kind, True
        if self._at_start:
            text = text.lstrip("\n")
            self._at_start = not text
        if text or even_empty:
            yield self._settled(TextChunk if kind == "text" else ThinkingChunk, text)

    def _settled(self, kind: type[ReplyChunk], text: str) -> ReplyChunk:
        ids, self._ids = tuple(self._ids), []
        return kind(text, ids)
