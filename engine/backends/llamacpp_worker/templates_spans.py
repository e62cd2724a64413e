"""Which characters of a rendered prompt are people's words, and which are the template's.

The template is rendered twice: once as it is, and once with a mark before and behind every text of
the conversation::

    <|im_start|>user\\n [mark a7] What is {{ x }}? [mark b7] <|im_end|>\\n

Between the marks of the second rendering stands what the template made of the text (trimmed it,
escaped it for JSON), and what is outside is the template's own. If putting the parts together
without the marks gives the first rendering again, blanks at their borders apart, the borders are
exact: the content decides nothing, however short it is or whatever control tokens it spells. If not
(a template that looks at the content decided differently), each part is searched for between the
same surroundings. A text found nowhere is lost, and the caller repairs.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

FieldKind = Literal["words", "reply", "thinking", "name", "argument", "tool"]

_AROUND: Final = 16
"""Characters of the template's own text that must surround a text that is searched for."""
_NEAR: Final = 4 * _AROUND
_FIT_STEPS: Final = 20
"""How often a part may be tried, on average, before the fit is given up."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a prompt, in order; together they are the prompt.

    A "template" piece may spell control tokens; a "content" piece is what a person, a model or a
    tool wrote and is tokenised without them. `message` is the number of the message a content
    piece is from, None for the rest (a tool's description is content of no message).
    """

    text: str
    kind: Literal["template", "content"]
    message: int | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """A text that went into the template."""

    text: str
    message: int | None
    kind: FieldKind

    @property
    def is_optional(self) -> bool:
        """Whether a template may leave it out: thinking of older replies, tool descriptions."""
        return self.kind in ("thinking", "tool")


class Marks:
    """Collects the fields of a conversation, and marks them if it is told to.

    Args:
        nonce: lower-case letters and digits that stand nowhere else; empty: do not mark.
    """

    def __init__(self, nonce: str) -> None:
        self.fields: list[Field] = []
        self._nonce = nonce
        self._pattern = re.compile(rf"{nonce}([ab])(\d+)z") if nonce else None

    def mark(self, text: str, message: int | None, kind: FieldKind) -> str:
        """The text as it goes into the template. Blank text is not marked: there is no border."""
        if not text.strip():
            return text
        self.fields.append(Field(text, message, kind))
        if not self._nonce:
            return text
        number = len(self.fields) - 1
        return f"{self._nonce}a{number}z{text}{self._nonce}b{number}z"

    def cut(self, marked: str) -> "Cuts":
        """Take a marked rendering apart."""
        assert self._pattern is not None, "only marked texts can be cut"
        return Cuts(marked, self.fields, self._pattern)


def unused_nonce(texts: Sequence[str]) -> str:
    """A nonce that stands in none of the texts."""
    number = 0
    while any(f"qmark{number}q" in text for text in texts):
        number += 1
    return f"qmark{number}q"


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a marked rendering; `field` is the number of a field, None for the template."""

    text: str
    field: int | None


class Cuts:
    """A marked rendering, taken apart.

    `parts` are it without the marks. Of the fields in it, `whole` have both marks around them each
    time; `broken` are those of which the template cut something off, mark included.
    """

    def __init__(self, marked: str, fields: Sequence[Field], pattern: re.Pattern[str]) -> None:
        self.fields = fields
        self.parts: list[Part] = []
        self.broken: set[int] = set()
        seen: set[int] = set()
        opened: int | None = None
        end = 0
        for mark in pattern.finditer(marked):
            number = int(mark[2])
            is_end = mark[1] == "b"
            field = opened if is_end and opened == number else None
            self._append(marked[end : mark.start()], field)
            if opened is not None and field is None:
                self.broken.add(opened)
            if is_end and field is None:
                self.broken.add(number)
            seen.add(number)
            opened = None if is_end else number
            end = mark.end()
        if opened is not None:
            self.broken.add(opened)
        self._append(marked[end:], None)
        self.whole = seen - self.broken

    def _append(self, text: str, field: int | None) -> None:
        if text:
            self.parts.append(Part(text, field))


@dataclass(frozen=True, slots=True)
class Found:
    """Where everything is. `pieces` are complete when nothing is `lost`."""

    pieces: tuple[Piece, ...]
    lost: tuple[Field, ...]
    changed: tuple[Field, ...]


def find_pieces(text: str, cuts: Cuts) -> Found:
    """The pieces of a rendering, from the cuts of its marked twin."""
    placed = cuts.whole
    spans = _fitted(text, cuts.parts)
    if spans is None:
        spans, placed = _searched(text, cuts)
    lost = tuple(
        field
        for number, field in enumerate(cuts.fields)
        if number in cuts.broken
        or (number not in placed and not (field.is_optional and _is_left_out(number, text, cuts)))
    )
    return Found(_pieces(text, spans, cuts.fields), lost, _changed(cuts))


def _is_left_out(number: int, text: str, cuts: Cuts) -> bool:
    return number not in cuts.whole or cuts.fields[number].text.strip() not in text


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    field: int


def _fitted(text: str, parts: Sequence[Part]) -> list[_Span] | None:
    """The spans if the parts, put together, are the text; content may have lost outer blanks."""
    at = 0
    spans: list[_Span] = []
    untried: list[_Choice] = []
    number = 0
    steps = 0
    while number < len(parts) or at != len(text):
        steps += 1
        if steps > _FIT_STEPS * len(parts):
            return None
        if number < len(parts) and parts[number].field is None:
            if text.startswith(parts[number].text, at):
                at += len(parts[number].text)
                number += 1
                continue
        elif number < len(parts):
            untried.append(_Choice(_forms(parts[number].text), number, at, len(spans)))
        choice, form = _next_form(text, untried)
        if choice is None:
            return None
        at = choice.start + len(form)
        number = choice.part
        del spans[choice.spans :]
        spans.append(_Span(choice.start, at, parts[number].field or 0))
        number += 1
    return spans


@dataclass(frozen=True, slots=True)
class _Choice:
    """A content part being fitted: its forms not tried yet, its place, the spans before it."""

    forms: Iterator[str]
    part: int
    start: int
    spans: int


def _next_form(text: str, untried: list[_Choice]) -> tuple[_Choice | None, str]:
    """The next form that stands in its place, of the last content part that has one left."""
    while untried:
        choice = untried[-1]
        for form in choice.forms:
            if text.startswith(form, choice.start):
                return choice, form
        untried.pop()
    return None, ""


def _forms(text: str) -> Iterator[str]:
    """A text as it is, and with the outer blanks a template may strip."""
    yield text
    core = text.strip()
    before, after = text[: text.find(core)], text[text.find(core) + len(core) :]
    for left in dict.fromkeys((before, before.lstrip("\n"), before.lstrip(" "), "")):
        for right in dict.fromkeys((after, after.rstrip("\n"), after.rstrip(" "), "")):
            if len(left) + len(right) < len(before) + len(after):
                yield left + core + right


def _searched(text: str, cuts: Cuts) -> tuple[list[_Span], set[int]]:
    """The spans of content parts that stand, in order, between their surroundings."""
    spans: list[_Span] = []
    placed = cuts.whole - {part.field for part in cuts.parts if part.text.strip()}
    cursor = 0
    for number, part in enumerate(cuts.parts):
        core = part.text.strip()
        if part.field is None or not core:
            continue
        before = _template_text(cuts.parts, number - 1).rstrip()[-_AROUND:]
        after = _template_text(cuts.parts, number + 1).lstrip()[:_AROUND]
        start = _place(text, core, cursor, before, after)
        if start is None:
            continue
        cursor = start + len(core)
        spans.append(_Span(start, cursor, part.field))
        placed.add(part.field)
    return spans, placed


def _template_text(parts: Sequence[Part], number: int) -> str:
    if not 0 <= number < len(parts) or parts[number].field is not None:
        return ""
    return parts[number].text


def _place(text: str, core: str, cursor: int, before: str, after: str) -> int | None:
    """The first place of `core` between its surroundings; else behind or else before one of them."""
    behind = ahead = None
    start = text.find(core, cursor)
    while start >= 0:
        end = start + len(core)
        left, right = text[max(0, start - _NEAR) : start], text[end : end + _NEAR]
        fits_before = bool(before) and left.rstrip().endswith(before)
        fits_after = bool(after) and right.lstrip().startswith(after)
        if fits_before and fits_after:
            return start
        if fits_before and behind is None:
            behind = start
        if fits_after and ahead is None:
            ahead = start
        start = text.find(core, start + 1)
    return ahead if behind is None else behind


def _pieces(text: str, spans: Sequence[_Span], fields: Sequence[Field]) -> tuple[Piece, ...]:
    """The text as pieces; texts of one message with nothing between them are one."""
    pieces: list[Piece] = []
    end = 0
    for span in spans:
        if span.start > end:
            pieces.append(Piece(text[end : span.start], "template"))
        said, message = text[span.start : span.end], fields[span.field].message
        if pieces and pieces[-1].kind == "content" and pieces[-1].message == message:
            pieces[-1] = Piece(pieces[-1].text + said, "content", message)
        elif said:
            pieces.append(Piece(said, "content", message))
        end = span.end
    if end < len(text):
        pieces.append(Piece(text[end:], "template"))
    return tuple(pieces)


def _changed(cuts: Cuts) -> tuple[Field, ...]:
    """Fields whose words the template rewrote (took something out, say)."""
    unchanged = {
        part.field
        for part in cuts.parts
        if part.field is not None and _is_form_of(part.text, cuts.fields[part.field].text)
    }
    return tuple(
        cuts.fields[number]
        for number in sorted(cuts.whole - unchanged)
        if cuts.fields[number].kind in ("words", "reply")
    )


def _is_form_of(shown: str, text: str) -> bool:
    """Whether it is the text, blanks apart, perhaps escaped for JSON."""
    escaped = (json.dumps(text, ensure_ascii=flag)[1:-1] for flag in (False, True))
    return shown.strip() == text.strip() or any(shown == form for form in escaped)
