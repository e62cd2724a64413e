"""Exact values: what the program carries past a summary word for word. Pure.

::

    folded messages ─▶ find_facts ─┐
    facts of the last compaction ──┼─▶ plan_facts ─▶ stored ─▶ facts_text, under the summary
    the new summary ───────────────┘

A model that summarises turns "port 8443" into "the port". So identifiers, dates, amounts, quoted
words and names are found in what is folded; those the summary does not have are listed under it.
What the user stated ranks first. A value that stands in one summary may be lost in the next, so
the caller carries all of them (a plan for an empty summary is the pool), not only those listed.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.compact.fact_patterns import find_values, is_value_at, label_of
from engine.compact.wording import Language, phrase
from engine.tokens import compact_json, is_runtime_context
from engine.transcript import (
    Body,
    BranchSummary,
    Compaction,
    CustomMessage,
    Message,
    Text,
)

PASTED_VALUES = 40
"""A user's message with more values than this is pasted material, not something stated."""

_LABELLED = 200  # values of one text that get a label; more are a list, not sentences
_RECURRENCE = 0.25  # of the whole span of positions, for each message more that has a value
_MOST_RECURRENCE = 4
_KIND_WEIGHT = {  # of the span, too: what identifies one thing outlasts what is merely recent
    "name": 1.25,
    **dict.fromkeys(("url", "path", "email", "uuid", "host", "ip", "hash", "port", "id"), 1.0),
    "version": 1.0,
    "file": 0.9,
    "quoted": -0.25,
    "time": -0.5,
}
_FLOOD = 40  # values of one kind; they are a log or a table, not something to remember
_FLOOD_WEIGHT = -0.5
_CLOCK = re.compile(r"[0-2]?[0-9]:[0-5][0-9](?::[0-5][0-9])?(?: ?[AaPp][Mm])?")
_MISFITS = 24  # values in a row that do not fit: the cap is reached
_WITHIN = frozenset({"host", "ip", "file", "path", "email", "url"})


@dataclass(frozen=True, slots=True)
class Fact:
    """A value to keep word for word.

    Attributes:
        kind: url, path, email, uuid, host, ip, hash, name, quoted, date, version, port, id,
            amount, phone or file.
        value: what must not change.
        label: a few words around it, the value among them; empty where there are none.
        count: messages it occurred in.
        last: position it was last seen at; a larger one is newer.
        from_user: whether the user stated it.
    """

    kind: str
    value: str
    label: str = ""
    count: int = 1
    last: int = 0
    from_user: bool = False


# ---- finding ------------------------------------------------------------------------------------


def find_facts(bodies: Iterable[Body]) -> tuple[Fact, ...]:
    """The exact values of messages in order of first occurrence, each value once.

    `last` is the position of a body among `bodies`. Of tool calls, tool results and fenced code
    only what identifies something is taken; thinking, details and runtime context are not read.
    """
    facts: dict[str, Fact] = {}
    for position, body in enumerate(bodies):
        for key, fact in _facts_of(body, position).items():
            facts[key] = _merged(facts[key], fact) if key in facts else fact
    return tuple(facts.values())


def _facts_of(body: Body, position: int) -> dict[str, Fact]:
    user = isinstance(body, Message) and body.role == "user"
    facts: dict[str, Fact] = {}
    for text, plain in _texts(body):
        since = 0
        every = find_values(text, plain=plain)
        flood = len(every) > _LABELLED
        for found in every:
            label = "" if flood else label_of(text, found, since=since)
            since = found.end
            fact = Fact(found.kind, found.value, label, 1, position, user and plain)
            first = facts.setdefault(_key(found.value), fact)
            if first is not fact and fact.from_user > first.from_user:
                facts[_key(found.value)] = fact
    if user and len(facts) > PASTED_VALUES:
        return {key: replace(fact, from_user=False) for key, fact in facts.items()}
    return facts


def _texts(body: Body) -> Iterator[tuple[str, bool]]:
    """What is read of a body, and whether it is plain words."""
    match body:
        case Message(role="tool_result"):
            yield body.text, False
        case Message():
            yield from _prose_and_code("\n".join(_said(body)))
            for call in body.tool_calls:
                yield compact_json(dict(call.arguments)), False
        case CustomMessage(content=content) if not is_runtime_context(body):
            yield content, False
        case Compaction(summary=summary) | BranchSummary(summary=summary):
            yield summary, True
        case _:
            return


def _said(message: Message) -> Iterator[str]:
    return (part.text for part in message.parts if isinstance(part, Text))


_FENCED = re.compile(r"^[ \t]{0,3}```.*?(?:^[ \t]{0,3}```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)


def _prose_and_code(text: str) -> Iterator[tuple[str, bool]]:
    end = 0
    for fence in _FENCED.finditer(text) if "```" in text else ():
        yield text[end : fence.start()], True
        yield fence[0], False
        end = fence.end()
    yield text[end:], True


# ---- choosing -----------------------------------------------------------------------------------


def plan_facts(
    found: Iterable[Fact],
    carried: Iterable[Fact],
    summary: str,
    *,
    cap_tokens: int,
    weigh: Callable[[str], int],
) -> tuple[Fact, ...]:
    """The facts to list under a summary, best first.

    Those missing from `summary`, word for word and as numbers, as many as `facts_text` can hold
    within `cap_tokens` as `weigh` counts them: the user's before others, among each what is
    recent and what recurs. `carried` are facts of the last compaction, all older than `found`; a
    value found again is merged with the carried one and counts on. What finds no room with its
    label may without; what finds none is dropped.
    """
    merged = _merge(found, carried)
    present = _presence(summary)
    missing = [fact for fact in merged if not present(fact.value)]
    ranked = sorted(missing, key=_score(merged), reverse=True)
    return _dense(_fitting(ranked, cap_tokens, weigh))


def _merge(found: Iterable[Fact], carried: Iterable[Fact]) -> list[Fact]:
    """Each value once, positions of carried ones before all of the new ones."""
    old = tuple(carried)
    shift = max((fact.last for fact in old), default=0) + 1
    merged = {_key(fact.value): replace(fact, last=fact.last - shift) for fact in old}
    for fact in found:
        key = _key(fact.value)
        merged[key] = _merged(merged[key], fact) if key in merged else fact
    return list(merged.values())


def _merged(old: Fact, new: Fact) -> Fact:
    """One fact of two of the same value, `new` the newer; words of the user are the better label."""
    better = new if new.from_user or not old.from_user else old
    return replace(
        better,
        label=better.label or old.label or new.label,
        count=old.count + new.count,
        last=max(old.last, new.last),
        from_user=old.from_user or new.from_user,
    )


def _score(facts: Sequence[Fact]) -> Callable[[Fact], tuple[bool, float]]:
    positions = [fact.last for fact in facts] or [0]
    span = max(positions) - min(positions) + 1
    of_kind = Counter(map(_sort, facts))

    def score(fact: Fact) -> tuple[bool, float]:
        sort = _sort(fact)
        recurrence = _RECURRENCE * min(fact.count - 1, _MOST_RECURRENCE)
        flood = _FLOOD_WEIGHT * min(1.0, (of_kind[sort] - 1) / _FLOOD)
        bonus = recurrence + _KIND_WEIGHT.get(sort, 0.0) + flood
        return fact.from_user, fact.last + span * bonus

    return score


def _sort(fact: Fact) -> str:
    """The kind, with the time of day told apart from the date."""
    return "time" if fact.kind == "date" and _CLOCK.fullmatch(fact.value) else fact.kind


def _fitting(ranked: Sequence[Fact], cap_tokens: int, weigh: Callable[[str], int]) -> list[Fact]:
    """The facts there is room for, with their labels while there is room for these."""
    chosen = _filled(ranked, cap_tokens, weigh)
    if within := {fact.value for fact in chosen if _within(fact, chosen)}:
        chosen = _filled([fact for fact in ranked if fact.value not in within], cap_tokens, weigh)
    while chosen and _largest(weigh, lambda language: facts_text(chosen, language)) > cap_tokens:
        chosen.pop()  # counts that round down do not add up
    return chosen


def _filled(ranked: Sequence[Fact], cap_tokens: int, weigh: Callable[[str], int]) -> list[Fact]:
    chosen: list[Fact] = []
    room = cap_tokens - _largest(weigh, lambda language: f"{facts_heading(language)}\n")
    misfits = 0
    for fact in ranked:
        if misfits >= _MISFITS or room <= 0:
            break
        for version in (fact, _bare(fact)):
            cost = weigh(f"{_line(version)}\n")
            if cost <= room:
                chosen.append(version)
                room -= cost
                misfits = 0
                break
        else:
            misfits += 1
    return chosen


def _largest(weigh: Callable[[str], int], text: Callable[[Language], str]) -> int:
    """The tokens of a text in the language that needs most."""
    return max(weigh(text(language)) for language in _LANGUAGES)


def _bare(fact: Fact) -> Fact:
    """The fact without its label, but for the one word a number means nothing without."""
    word = _WORD_BEFORE.search(fact.label) if fact.kind in ("port", "id") else None
    return replace(fact, label=word[0] if word else "")


_WORD_BEFORE = re.compile(
    r"(?:(?i:ports?)|端口号?)\D{0,4}[0-9]+$|[^\W\d_]+ ?[^\w\s]? ?[#A-Za-z0-9-]+$"
)


def _within(fact: Fact, chosen: Sequence[Fact]) -> bool:
    """Whether a host, a file, … stands in an address or a path that is listed already."""
    return fact.kind in _WITHIN and any(
        other.kind in _WITHIN and fact.value in other.value and fact.value != other.value
        for other in chosen
    )


def _dense(facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """The facts with positions 0, 1, … in the same order."""
    places = {last: place for place, last in enumerate(sorted({fact.last for fact in facts}))}
    return tuple(replace(fact, last=places[fact.last]) for fact in facts)


# ---- comparing ----------------------------------------------------------------------------------

_THOUSANDS = re.compile(r"(?<=\d)[,'\u00a0\u202f\u2009 ](?=\d{3}(?!\d))")
_UNIT_SPACE = re.compile(
    r"(?<=\d)[\u00a0\u202f ](?=[^\W\d_]|[%°$€£¥₹])|(?<=[$€£¥₹])[\u00a0\u202f ](?=\d)"
)
_TRAILING_ZEROS = re.compile(r"(?<=\d)\.0+(?![\d.])")


def _key(value: str) -> str:
    """What two spellings of one value share; case counts."""
    return _normal(value) if any(map(str.isdigit, value)) else value


def _normal(text: str) -> str:
    """A text with numbers in one form: no thousands separators, no space before a unit."""
    return _TRAILING_ZEROS.sub("", _UNIT_SPACE.sub("", _THOUSANDS.sub("", text)))


def _presence(summary: str) -> Callable[[str], bool]:
    """Whether a value stands in the summary word for word, or its number in another form."""
    normal = _normal(summary)

    def present(value: str) -> bool:
        return is_value_at(summary, value) or (
            any(map(str.isdigit, value)) and is_value_at(normal, _normal(value))
        )

    return present


# ---- as text, as JSON ---------------------------------------------------------------------------

_LANGUAGES: tuple[Language, ...] = ("en", "zh")


def facts_heading(language: Language) -> str:
    """The line above the list."""
    return phrase("facts_heading", language)


def facts_text(facts: Iterable[Fact], language: Language) -> str:
    """The list under a summary with its heading, the oldest first; empty without facts."""
    listed = sorted(facts, key=lambda fact: fact.last)
    return "\n".join((facts_heading(language), *map(_line, listed))) if listed else ""


def _line(fact: Fact) -> str:
    value = " ".join(fact.value.split("\n"))
    if not fact.label:
        return f"- {value}"
    return f"- {fact.label}" if fact.value in fact.label else f"- {fact.label}: {value}"


def facts_to_json(facts: Iterable[Fact]) -> list[dict[str, Any]]:
    """JSON-ready objects, in order; what holds its default is left out."""
    return [
        {name: value for name, value in _fields(fact) if value != _DEFAULTS.get(name)}
        for fact in facts
    ]


def _fields(fact: Fact) -> Iterator[tuple[str, Any]]:
    return ((name, getattr(fact, name)) for name in Fact.__dataclass_fields__)


_DEFAULTS = {"label": "", "count": 1, "last": 0, "from_user": False}


def facts_from_json(value: Any) -> tuple[Fact, ...]:
    """The facts of a stored list; what cannot be understood costs that field or that fact."""
    raw_facts = value if isinstance(value, list | tuple) else ()
    return tuple(fact for raw in raw_facts if (fact := _fact_from(raw)) is not None)


def _fact_from(raw: Any) -> Fact | None:
    if not isinstance(raw, Mapping):
        return None
    kind, value = raw.get("kind"), raw.get("value")
    if not isinstance(kind, str) or not isinstance(value, str) or not value.strip():
        return None
    given = {
        name: raw[name]
        for name, default in _DEFAULTS.items()
        if name in raw and type(raw[name]) is type(default)
    }
    return Fact(kind, value, **given)
