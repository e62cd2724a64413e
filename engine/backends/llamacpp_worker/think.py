"""A reply's stream of text: thinking apart from answer, up to a stop string, in whole characters.

Everything here is incremental and holds back as little as possible: what is fed comes out at once,
but for a tail that might become a tag, a stop string or a character. However a text is chunked, the
joined output is the same.
"""

import codecs
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["text", "thinking"]
Split = tuple[Kind, str]


@dataclass(frozen=True, slots=True)
class ThinkTags:
    """The texts between which a model thinks. They may be control tokens of its vocabulary.

    `passing` are texts of its format that belong to neither thinking nor answer.
    """

    open: str
    close: str
    passing: tuple[str, ...] = ()


_KNOWN: Final = (
    ThinkTags("[THINK]", "[/THINK]"),
    ThinkTags("<|START_THINKING|>", "<|END_THINKING|>"),
    ThinkTags("<|inner_prefix|>", "<|inner_suffix|>"),
    ThinkTags("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
    ThinkTags("<|channel>thought", "<channel|>"),
    ThinkTags("<|think|>", "<|end|>", ("<|begin|>assistant", "<|content|>")),
    ThinkTags("Here are my reasoning steps:\n", "[BEGIN FINAL RESPONSE]"),
    ThinkTags(
        "<|channel|>analysis<|message|>",
        "<|end|>",
        ("<|start|>assistant", "<|channel|>final<|message|>"),
    ),
)
THINK_TAG: Final = re.compile(r"(</?[\w:.-]*think(?:ing)?(?::[\w.-]+)?>|\[/?THINK\])")
"""A tag, opening or closing, as it may stand in the text of a reply; `split` keeps the tags."""
_CLOSING: Final = re.compile(r"</([\w:.-]*think(?:ing)?(?::[\w.-]+)?)>")


def find_think_tags(source: str, rendered: str = "") -> ThinkTags | None:
    """The tags a template writes, None when it knows no thinking.

    `rendered` is a prompt it made, for templates that put their tags together while they run.
    """
    for tags in _KNOWN:
        if tags.open in source + rendered and (tags.close in source or tags.open in rendered):
            return tags
    for text in (source, rendered):
        found = [match[1] for match in _CLOSING.finditer(text)]
        if found:
            name = max(found, key=found.count)
            return ThinkTags(f"<{name}>", f"</{name}>")
    return None


def opens_thinking(prompt_end: str, tags: ThinkTags | None) -> bool:
    """Whether a prompt's end (what follows the last message) leaves the thinking open."""
    if tags is None:
        return False
    return prompt_end.rfind(tags.open) > prompt_end.rfind(tags.close)


class ThinkSplitter:
    """Splits a reply into thinking and text.

    Args:
        open: the tag that begins thinking; empty when there is none.
        close: the tag that ends it.
        opened: whether the prompt already ended inside the thinking.
        passing: texts that are dropped wherever they stand outside the thinking.

    Tags are not part of the output. Thinking may come several times.
    """

    def __init__(
        self, open: str, close: str, *, opened: bool = False, passing: Iterable[str] = ()
    ) -> None:
        self._open = open
        self._close = close
        self._passing = tuple(passing)
        self._inside = opened
        self._held = ""

    def feed(self, text: str) -> list[Split]:
        """What is settled now: parts of one kind, in order, none empty."""
        self._held += text
        parts: list[Split] = []
        while True:
            at, tag = _first_of(self._held, self._tags())
            if not tag:
                break
            self._put(parts, self._held[:at])
            self._held = self._held[at + len(tag) :]
            if tag not in self._passing or self._inside:
                self._inside = not self._inside
        kept = _possible_start(self._held, self._tags())
        self._put(parts, self._held[: len(self._held) - kept])
        self._held = self._held[len(self._held) - kept :]
        return parts

    def flush(self) -> list[Split]:
        """The rest, when the reply has ended; a tag begun and never finished is text."""
        parts: list[Split] = []
        self._put(parts, self._held)
        self._held = ""
        return parts

    def _tags(self) -> tuple[str, ...]:
        tags = (self._close,) if self._inside else (self._open, *self._passing)
        return tuple(tag for tag in tags if tag)

    def _put(self, parts: list[Split], text: str) -> None:
        kind: Kind = "thinking" if self._inside else "text"
        if not text:
            return
        if parts and parts[-1][0] == kind:
            parts[-1] = (kind, parts[-1][1] + text)
        else:
            parts.append((kind, text))


class StopFinder:
    """Ends a text before the first of several stop strings.

    Args:
        stops: the strings; empty ones are ignored.

    The stop string that is complete first counts.
    """

    def __init__(self, stops: Iterable[str]) -> None:
        self._stops = tuple(stop for stop in stops if stop)
        self._held = ""
        self._stopped = False

    def feed(self, text: str) -> tuple[str, bool]:
        """The text that is safe to show now, and whether a stop string was met (for good)."""
        if self._stopped:
            return "", True
        self._held += text
        at, stop = _first_of(self._held, self._stops)
        if stop:
            self._stopped = True
            return self._held[:at], True
        kept = _possible_start(self._held, self._stops)
        safe, self._held = (
            self._held[: len(self._held) - kept],
            self._held[len(self._held) - kept :],
        )
        return safe, False

    def flush(self) -> str:
        """The rest, when the text has ended without a stop string."""
        rest, self._held = ("" if self._stopped else self._held), ""
        return rest


class Utf8Splitter:
    """Turns tokens' bytes into whole characters; bytes that are none become U+FFFD."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def feed(self, raw: bytes) -> str:
        """The characters that are complete now."""
        return self._decoder.decode(raw)

    def flush(self) -> str:
        """What is left of an incomplete character, as U+FFFD."""
        return self._decoder.decode(b"", final=True)


def _first_of(text: str, tags: Iterable[str]) -> tuple[int, str]:
    """Where the tag stands that is complete first, and that tag (the longest of several); "" if none.

    Complete first, not begun first: only so the answer does not depend on how the text is chunked.
    """
    found = [(text.find(tag) + len(tag), -len(tag), tag) for tag in tags if tag in text]
    if not found:
        return len(text), ""
    end, _, tag = min(found)
    return end - len(tag), tag


def _possible_start(text: str, tags: Iterable[str]) -> int:
    """How many characters at the end of the text may be the start of a tag."""
    return max(
        (
            size
            for tag in tags
            for size in range(min(len(tag) - 1, len(text)), 0, -1)
            if text.endswith(tag[:size])
        ),
        default=0,
    )
