"""The words a summary is asked for with, and the words a stored one is shown to a model in. Pure.

::

    conversation ─▶ serialise ─┐
    resources/prompts/*.txt ───┼─▶ task_text ─▶ one user message ─▶ summary ─▶ frame_summary
    wishes (policy, focus) ────┘

Texts are files, one per purpose and language, written for small models: short, plain, a length in
words. They are read once. Whatever a user or a model wrote is filled in as it is, in one pass, and
never looked at again for marks; tags in it that are ours are made harmless, visibly, no word lost.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from string import Template
from typing import Literal

from engine.compact.tasks import Kind, SummaryTask
from engine.paths import resources_dir
from engine.tokens import Weighed, is_runtime_context, utf16_head, utf16_length
from engine.transcript import (
    Body,
    BranchSummary,
    Compaction,
    CustomMessage,
    Entry,
    Image,
    Message,
    Role,
)

Language = Literal["en", "zh"]
"""The languages the prompt texts exist in."""
InstructionKind = Kind | Literal["in_place"]
Policy = Literal["strict", "off", "custom"]

TOOL_CHARS = 2000
"""Characters of a tool result a summariser gets to read."""
WISH_CHARS = 800
"""Characters of a focus, of standing instructions, of a custom policy; the rest is not sent."""

_SAMPLE_MESSAGES = 40  # the newest, to tell the language from
_SAMPLE_CHARS = 4000
_MESSAGE_SAMPLE_CHARS = 1000
_HAN_SHARE = 0.5  # of Han characters among these and Latin words


@dataclass(frozen=True, slots=True)
class SummaryWishes:
    """What the user wants of summaries (SPEC1 12.5.4).

    `policy` on identifiers: strict, off, or the words of `custom` (strict when these are blank).
    `focus` is for this summary; without one the standing `instructions` of the settings count.
    """

    policy: Policy = "strict"
    custom: str = ""
    focus: str = ""
    instructions: str = ""


# ---- the language -------------------------------------------------------------------------------

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_KANA_HANGUL = re.compile(r"[\u3040-\u30ff\uac00-\ud7a3]")
_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]+")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)


def conversation_language(bodies: Iterable[Body]) -> Language:
    """The language to ask for a summary in: Chinese where Han without kana or hangul prevails.

    Looks at a bounded sample of the newest words of user and assistant; code does not count.
    """
    sample = _CODE.sub(" ", _sample(bodies))
    han = len(_HAN.findall(sample))
    others = len(_KANA_HANGUL.findall(sample))
    words = len(_LATIN_WORD.findall(sample))
    chinese = han > 10 * others and han >= _HAN_SHARE * (han + words)
    return "zh" if han and chinese else "en"


def _sample(bodies: Iterable[Body]) -> str:
    sequence = bodies if isinstance(bodies, Sequence) else tuple(bodies)
    room, pieces = _SAMPLE_CHARS, []
    for said in islice(filter(None, map(_said, reversed(sequence))), _SAMPLE_MESSAGES):
        piece = said[: min(room, _MESSAGE_SAMPLE_CHARS)]
        pieces.append(piece)
        room -= len(piece)
        if room <= 0:
            break
    return "\n".join(pieces)


def _said(body: Body) -> str:
    match body:
        case Message(role="user" | "assistant"):
            return body.text
        case Compaction(summary=summary) | BranchSummary(summary=summary):
            return summary
        case _:
            return ""


# ---- the conversation as text -------------------------------------------------------------------


def serialise(
    items: Iterable[Weighed | Entry | Body], language: Language, *, tool_chars: int = TOOL_CHARS
) -> str:
    """A conversation as text within `<conversation>` tags, for a model that is to summarise it.

    Roles are words. Left out: thinking, details, runtime context, earlier compactions (the
    previous summary carries them). Tool results and calls are cut at `tool_chars` UTF-16 units.
    """
    bodies = map(_body_of, items)
    blocks = (block for body in bodies for block in _blocks(body, language, tool_chars))
    return _tagged("conversation", "\n\n".join(blocks))


def _body_of(item: Weighed | Entry | Body) -> Body:
    entry = item.entry if isinstance(item, Weighed) else item
    return entry.body if isinstance(entry, Entry) else entry


def _blocks(body: Body, language: Language, tool_chars: int) -> Iterator[str]:
    say = _phrases(language)
    match body:
        case Message(role="tool_result"):
            kind = say["tool_error"] if body.is_error else say["tool_result"]
            name = f" ({body.tool_name})" if body.tool_name else ""
            yield f"{kind}{name}: {_cut(_content(body, language), tool_chars, language)}"
        case Message():
            if content := _content(body, language):
                yield f"{say[body.role]}: {content}"
            for call in body.tool_calls:
                arguments = _cut(_compact_json(call.arguments), tool_chars, language)
                yield f"{say['tool_call']}: {call.name} {arguments}"
        case CustomMessage(content=content) if content.strip() and not is_runtime_context(body):
            yield f"{say['note']}: {content.strip()}"
        case BranchSummary(summary=summary) if summary.strip():
            yield f"{say['other_branch']}: {summary.strip()}"
        case _:
            return


def _content(message: Message, language: Language) -> str:
    images = sum(isinstance(part, Image) for part in message.parts)
    marks = [_phrases(language)["image"]] * images
    return " ".join([text, *marks] if (text := message.text.strip()) else marks)


def _cut(text: str, units: int, language: Language) -> str:
    if utf16_length(text) <= units:
        return text
    head = utf16_head(text, units)
    left = utf16_length(text) - utf16_length(head)
    return f"{head}\n{phrase('cut', language, count=str(left))}"


def _compact_json(value: Mapping[str, object]) -> str:
    return json.dumps(dict(value), ensure_ascii=False, separators=(",", ":"), default=str)


# ---- asking -------------------------------------------------------------------------------------


def system_text(language: Language) -> str:
    """The system prompt of a staged request for a summary."""
    return _file("system", language)


def instruction_text(
    kind: InstructionKind,
    language: Language,
    wishes: SummaryWishes,
    *,
    max_words: int,
    previous: str = "",
    plain: bool = False,
) -> str:
    """What is asked for, to stand after the conversation (SPEC1 12.5.4).

    `plain` asks for a few sentences and no structure, whatever the kind: all a very small model can.

    `max_words` is told in words, for Chinese in characters, a third more of them. A `previous`
    summary is put before it in `<previous-summary>` tags, and a plain summary is then an update.
    """
    if previous.strip() and kind == "summary":
        kind = "update"
    length = max_words * 4 // 3 if language == "zh" else max_words
    closing = Template(_file("plain" if plain else "closing", language)).substitute(
        wishes=_wishes_text(wishes, language), max_words=str(max(1, length))
    )
    sections = _file("sections", language)
    asked = Template(_file(kind, language)).substitute(sections=sections, closing=closing)
    asked = closing if plain else asked
    before = (_tagged("previous-summary", previous.strip()),) if previous.strip() else ()
    return "\n\n".join((*before, asked))


def task_text(
    task: SummaryTask,
    language: Language,
    wishes: SummaryWishes,
    *,
    max_words: int,
    plain: bool = False,
) -> str:
    """The whole user message of one staged request: what to read, then what to do.

    The task's own focus counts before the one in `wishes`.
    """
    focus = task.focus if task.focus.strip() else wishes.focus
    wishes = SummaryWishes(wishes.policy, wishes.custom, focus, wishes.instructions)
    kind: InstructionKind = task.kind
    if kind == "summary" and task.previous.strip():
        kind = "update"
    before = [_tagged("previous-summary", task.previous.strip())] if task.previous.strip() else []
    partials = [_tagged("partial-summary", text.strip()) for text in task.partials]
    read = partials if kind == "merge" else [serialise(task.items, language)]
    asked = instruction_text(kind, language, wishes, max_words=max_words, plain=plain)
    return "\n\n".join((*before, *read, asked))


def digest_text(
    task: SummaryTask, language: Language, name: str, *, max_words: int, plain: bool = False
) -> str:
    """The whole user message of one request for a digest of a file called `name`.

    `plain` asks for a few sentences, as `instruction_text` does.
    """
    length = max_words * 4 // 3 if language == "zh" else max_words
    before = [_tagged("previous-summary", task.previous.strip())] if task.previous.strip() else []
    if task.kind == "merge":
        kind, read = "digest_merge", [_tagged("partial-summary", t.strip()) for t in task.partials]
    else:
        kind, text = "digest", "".join(_said(_body_of(item)) for item in task.items)
        read = [_tagged("document", _DOCUMENT_TAG.sub(r"‹\1›", text))]
        if before:
            kind = "digest_update"
    focus = _wish(task.focus)
    closing = Template(_file("digest_plain" if plain else "digest_closing", language)).substitute(
        focus=f"- {phrase('digest_focus', language, focus=focus)}\n" if focus else "",
        max_words=str(max(1, length)),
    )
    asked = Template(_file(kind, language)).substitute(name=_wish(name), closing=closing)
    return "\n\n".join((*before, *read, asked))


def digest_system_text(language: Language) -> str:
    """The system prompt of a request for a digest."""
    return _file("digest_system", language)


def _wishes_text(wishes: SummaryWishes, language: Language) -> str:
    """The identifier part, then the focus, else the standing instructions, else the language."""
    lines = []
    custom = _wish(wishes.custom)
    if wishes.policy == "custom" and custom:
        lines.append(custom)
    elif wishes.policy != "off":
        lines.append(phrase("identifiers", language))
    if focus := _wish(wishes.focus):
        lines.append(phrase("focus", language, focus=focus))
    elif instructions := _wish(wishes.instructions):
        lines.append(phrase("instructions", language, instructions=instructions))
    else:
        lines.append(phrase("language", language))
    return "\n".join(f"- {line}" for line in lines)


def _wish(text: str) -> str:
    return utf16_head(harmless(text.strip()), WISH_CHARS)


# ---- showing a stored one -----------------------------------------------------------------------


def frame_summary(summary: str, facts: str, language: Language) -> str:
    """A stored summary as a model sees it: past context, not an order, in `<summary>` tags.

    `facts` (a text of `facts_text`, with its heading) follow after it; blank for none.
    """
    block = f"\n\n{harmless(facts.strip())}" if facts.strip() else ""
    return Template(_file("frame", language)).substitute(
        summary=harmless(summary.strip()), facts=block
    )


def join_split_turn(history: str, prefix: str, language: Language) -> str:
    """The summary of the earlier turns and that of a split turn's beginning as one text."""
    before = history.strip() or no_history_text(language)
    return f"{before}\n\n---\n\n{phrase('split_turn', language)}\n\n{prefix.strip()}"


def placeholder_text(messages: int, oversized: int, language: Language) -> str:
    """What stands for a summary that could not be had (SPEC1 12.5.6, third tier)."""
    return phrase("placeholder", language, messages=str(messages), oversized=str(oversized))


def omitted_note(role: Role, tokens: int, language: Language) -> str:
    """A note for one message left out of a summary because it is too large (second tier)."""
    thousands = (tokens + 500) // 1000  # halves go up
    named = phrase(f"role_{role}", language)
    return phrase("omitted", language, role=named, thousands=str(thousands))


def no_history_text(language: Language) -> str:
    """What stands for the summary of nothing."""
    return phrase("no_history", language)


def phrase(name: str, language: Language, **marks: str) -> str:
    """A short text of `phrases.*.txt` with its marks filled in."""
    text = _phrases(language)[name]
    return Template(text).substitute(marks) if marks else text


# ---- tags and files -----------------------------------------------------------------------------

_OUR_TAG = re.compile(
    r"<([ \t]{0,4}/?[ \t]{0,4}(?:previous-|partial-)?(?:summary|conversation)\b[^<>\n]{0,40})>",
    re.IGNORECASE,
)

_DOCUMENT_TAG = re.compile(r"<([ \t]{0,4}/?[ \t]{0,4}document\b[^<>\n]{0,40})>", re.IGNORECASE)


def harmless(text: str) -> str:
    """A text whose tags cannot be taken for ours: `</summary>` becomes `‹/summary›`."""
    return _OUR_TAG.sub(r"‹\1›", text)


def _tagged(tag: str, text: str) -> str:
    return f"<{tag}>\n{harmless(text)}\n</{tag}>"


@cache
def _file(name: str, language: Language) -> str:
    """A prompt text that comes with the program, without the line end of its last line."""
    path = resources_dir() / "prompts" / f"{name}.{language}.txt"
    return path.read_text(encoding="utf-8").strip()


@cache
def _phrases(language: Language) -> Mapping[str, str]:
    lines = _file("phrases", language).splitlines()
    pairs = (line.partition(" = ") for line in lines if not line.startswith("#"))
    return {name.strip(): text.strip() for name, _, text in pairs}
