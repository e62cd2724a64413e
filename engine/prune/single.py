"""One tool result: when it is too long, and what is kept of it (SPEC1 12.4.1, 12.4.2).

::

    long text, max    ┌──────────── 70 % ────────────┐        ┌─── 30 % ───┐
    important end:    head, to the end of a line ··· marker ··· the text's end, notice
    any other end:    head, to the end of a line ······························ notice

The notice names the characters that are missing. Characters are UTF-16 code units throughout,
and no surrogate pair is cut. Images and other parts of a result are left alone.
"""

import re
from collections.abc import Iterable, Sequence

from engine.tokens import utf16_head, utf16_length, utf16_tail
from engine.transcript import Part, Text

HARD_CAP_CHARS = 16_000
"""The most characters of one result, whatever the window."""
WINDOW_SHARE_TENTHS = 3
"""The share of the window one result may fill, in tenths."""
CHARS_PER_TOKEN = 4
MIN_KEEP_CHARS = 2_000
"""What is kept of a text at least, where its cap allows; nothing in the recovery of an overflow."""
IMPORTANT_TAIL_CHARS = 2_000
"""How far back from the end a text is searched for words that make its end worth keeping."""
TAIL_CAP_CHARS = 4_000
"""The most characters of an important end. SPEC1 says 30 %; its program caps that (CONFLICT-6)."""
MIDDLE_MARKER = "\n\n⚠️ [... the middle is omitted, head and tail are shown ...]\n\n"
"""Stands between head and tail: 63 characters."""
NOTICE = "[... {} more characters truncated]"
SHORTEST_NOTICE_CHARS = 33

_OWN_NOTICE = re.compile(r"\[\.\.\. (\d{1,15}) more characters truncated\]\Z")
_IMPORTANT = re.compile(
    r"\b(?:error|exception|failed|fatal|traceback|panic|stack trace|errno|exit code"
    r"|total|summary|result|complete|finished|done)\b",
    re.ASCII,
)
_SPACE = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""What the specification's program trims; Python's own set differs."""


def has_important_tail(text: str) -> bool:
    """Whether the end of a text is worth keeping: an error, a closing brace, a result.

    Looks at the last 2,000 characters (SPEC1 12.4.1).
    """
    tail = utf16_tail(text, IMPORTANT_TAIL_CHARS).lower()
    return tail.rstrip(_SPACE).endswith("}") or _IMPORTANT.search(tail) is not None


def result_cap_chars(window_tokens: int, override: int | None = None) -> int:
    """The most characters of one tool result in a window (SPEC1 12.4.2), 0 for no window.

    A positive `override` (characters) replaces the formula.
    """
    if override is not None and override > 0:
        return override
    tokens = max(0, window_tokens) * WINDOW_SHARE_TENTHS // 10
    return min(tokens * CHARS_PER_TOKEN, HARD_CAP_CHARS)


def truncate_text(text: str, max_chars: int, *, min_keep: int = MIN_KEEP_CHARS) -> str:
    """A text of at most `max_chars`; the very same text when it is not longer.

    The notice at the end is part of the size. Of a text that was truncated before, the earlier
    notice goes and its figure is added to the new one.

    Args:
        text: any text.
        max_chars: the most characters; for 0 or less nothing is left.
        min_keep: characters to keep rather than to look after the end of the text.
    """
    length = utf16_length(text)
    if length <= max_chars:
        return text
    if max_chars <= 0:
        return ""
    body, missing = _without_notice(text)
    total = (length if body is text else utf16_length(body)) + missing
    if max_chars <= SHORTEST_NOTICE_CHARS:
        return NOTICE.format(total)[:max_chars]
    least = min(min_keep, max(0, max_chars - SHORTEST_NOTICE_CHARS))
    room = max(least, max_chars - len(NOTICE.format(total - max_chars)))
    kept = _head_and_tail(body, room, least) or _head(body, room)
    return _with_notice(kept, total, max_chars)


def text_chars(parts: Iterable[Part]) -> int:
    """Characters of the text parts."""
    chars = 0
    for part in parts:
        if isinstance(part, Text):
            chars += utf16_length(part.text)
    return chars


def shorten_parts(parts: Sequence[Part], max_chars: int, min_keep: int) -> tuple[Part, ...]:
    """The parts of a result with at most `max_chars` of text, of which it has more.

    Several texts share the cap by their lengths, each keeping `min_keep` and a notice where all
    can; what is not text stays as it is and where it is.
    """
    match parts:
        case (Text(text=text),):
            return (Text(truncate_text(text, max_chars, min_keep=min_keep)),)
    lengths = [utf16_length(part.text) for part in parts if isinstance(part, Text)]
    shares = iter(_shares(lengths, max_chars, min_keep))
    return tuple(
        Text(truncate_text(part.text, next(shares), min_keep=min_keep))
        if isinstance(part, Text)
        else part
        for part in parts
    )


def _shares(lengths: Sequence[int], cap: int, min_keep: int) -> list[int]:
    """The characters each of several texts may have; their sum is never over the cap."""
    total = sum(lengths)
    plain = [cap * length // total for length in lengths]
    least = [min(length, min_keep + SHORTEST_NOTICE_CHARS) for length in lengths]
    if sum(least) > cap:
        return plain  # the cap is a promise, the least to keep a wish
    shares = [max(share, floor) for share, floor in zip(plain, least, strict=True)]
    excess = sum(shares) - cap
    if excess <= 0:
        return shares
    spare = [share - floor for share, floor in zip(shares, least, strict=True)]
    whole = sum(spare)  # not less than the excess, for the floors fit the cap
    return [
        share - -(-excess * slack // whole) for share, slack in zip(shares, spare, strict=True)
    ]


def _without_notice(text: str) -> tuple[str, int]:
    """A text without the notice of an earlier truncation, and what that said is missing."""
    found = _OWN_NOTICE.search(text[-SHORTEST_NOTICE_CHARS - 15 :])
    if found is None:
        return text, 0  # the very same text
    return text[: len(text) - len(found[0])], int(found[1])


def _head_and_tail(text: str, room: int, least: int) -> str:
    """Beginning, marker and end of a text whose end matters; empty where that leaves too little."""
    if room <= 2 * least or not has_important_tail(text):
        return ""
    tail_room = min(room * 3 // 10, TAIL_CAP_CHARS)
    head_room = room - tail_room - utf16_length(MIDDLE_MARKER)
    if head_room <= least:
        return ""
    return _head(text, head_room) + MIDDLE_MARKER + _tail(text, tail_room)


def _head(text: str, room: int) -> str:
    """The beginning, up to the last line end if that lies beyond 80 % of the room."""
    head = utf16_head(text, room)
    if text[len(head) : len(head) + 1] == "\n":
        return head
    line_end = head.rfind("\n")
    if line_end >= 0 and 5 * utf16_length(head[:line_end]) > 4 * room:
        return head[:line_end]
    return head


def _tail(text: str, room: int) -> str:
    """The end, from the first line start if that lies within the first 20 % of the room."""
    tail = utf16_tail(text, room)
    line_end = tail.find("\n")
    if line_end >= 0 and 5 * utf16_length(tail[:line_end]) < room:
        return tail[line_end + 1 :]
    return tail


def _with_notice(kept: str, total: int, max_chars: int) -> str:
    """Add the notice; what does not fit with it goes from the end of the kept text."""
    while True:
        length = utf16_length(kept)
        notice = NOTICE.format(total - length)
        excess = length + len(notice) - max_chars
        if excess <= 0:
            return kept + notice
        if not kept:
            return notice[:max_chars]
        kept = utf16_head(kept, max(0, length - excess))
