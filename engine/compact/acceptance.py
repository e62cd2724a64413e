"""Whether what a model wrote may stand as a summary. Pure.

::

    Written ─▶ clean_summary ─▶ count ─▶ check_size ─▶ the text that is stored
                  │                         │
                  └── SummaryRejected ◀─────┘   the older summary and the messages stay

Cleaning takes off what models put around an answer: thinking blocks, tags, a code fence around
everything, "Here is the summary:". Nothing inside the summary is rewritten. Rejected is whatever
is unfinished, empty, only thinking, a refusal, a loop, or no smaller than what it would replace.
"""

import re
from collections import Counter
from dataclasses import dataclass

from engine.errors import PortholeError
from engine.transcript import StopReason

SENTENCES = {
    "unfinished": "The model did not finish the summary.",
    "empty": "The model wrote no summary.",
    "thinking": "The model only thought aloud and wrote no summary.",
    "not_smaller": "The summary would not have been smaller than the messages it replaces.",
    "too_long": "The summary is longer than the room kept for it.",
    "refused": "The model refused to write a summary.",
    "repeating": "The model repeated itself instead of summarising.",
    "echo": "The model repeated the instructions instead of summarising.",
}
"""What the user is told, by reason."""

SALVAGE_SHARE = 0.3  # of what was written; less than that is no summary of the whole
_REFUSAL_CHARS = 500  # a longer text that begins with an apology has an answer in it
_LAYERS = 20  # of tags, fences and phrases around an answer; with more, there is none inside
_GRAM = 8  # words, or characters of scripts without spaces
_GRAM_SHARE = 0.3  # of the text, covered by its most frequent gram
_SEEN_SHARE = 0.5  # of the grams, that had occurred before
_FEWEST_WORDS = 40  # a shorter text repeats itself by chance
_SAME_LINE = 4  # times a line may occur
_ECHO_SHARE = 0.3  # of the text, lines that stand in the instruction
_LINE_BYTES = 16  # shorter lines ("- None") may recur under every heading


class SummaryRejected(PortholeError):
    """What a model wrote cannot stand as a summary.

    Args:
        reason: a key of `SENTENCES`.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    @property
    def sentence(self) -> str:
        """What is wrong with it, for the user."""
        return SENTENCES.get(self.reason, "The summary could not be used.")

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, slots=True)
class Written:
    """What one request for a summary produced: text, thinking told apart, why it ended."""

    text: str
    thinking: str = ""
    stop_reason: StopReason = "stop"


def check_size(
    tokens: int, *, replaced_tokens: int, cap_tokens: int = 0, margin: float = 0.1
) -> None:
    """Raise SummaryRejected if a summary of `tokens` gains too little or passes the cap."""
    if tokens > replaced_tokens * (1 - margin):
        raise SummaryRejected("not_smaller")
    if 0 < cap_tokens < tokens:
        raise SummaryRejected("too_long")


def clean_summary(written: Written, *, salvage: bool = False) -> str:
    """The summary without what was put around it.

    A text that ended at its token limit is unfinished. With `salvage` it is cut back to its last
    complete sentence or list item, if that leaves 30 % of it. Raises SummaryRejected.
    """
    text = _answer(written)
    if written.stop_reason == "length" and salvage:
        text = _whole_part(text)
    elif written.stop_reason != "stop":
        raise SummaryRejected("unfinished")
    if is_refusal(text):
        raise SummaryRejected("refused")
    if is_repeating(text):
        raise SummaryRejected("repeating")
    return text


def check_echo(text: str, instruction: str) -> None:
    """Raise SummaryRejected if a summary is made of the lines of what was asked for."""
    asked = {line for line in map(_bare, instruction.splitlines()) if line}
    lines = [line for line in map(_bare, text.splitlines()) if line]
    echoed = sum(len(line) for line in lines if line in asked)
    if echoed > _ECHO_SHARE * sum(map(len, lines)):
        raise SummaryRejected("echo")


def _bare(line: str) -> str:
    return line.strip(" \t-*•#:.").lower()


def is_refusal(text: str) -> bool:
    """Whether a short text declines the task, or asks for the conversation it was given."""
    return len(text) <= _REFUSAL_CHARS and _REFUSAL.match(text) is not None


def is_repeating(text: str) -> bool:
    """Whether a model went round in circles: one line again and again, or the same words."""
    text = _COUNTED.sub(" ", text.lower())  # a model may number its rounds
    return _lines_repeat(text) or _words_repeat(_WORD.findall(text))


# ---- what is around it --------------------------------------------------------------------------

_TAGS = "think|thinking|thought|reasoning|analysis|scratchpad"
_THINKING = re.compile(
    rf"^[ \t]*(?:<({_TAGS})>(.*?)(?:</\1>|(\Z))|\[THINK\](.*?)(?:\[/THINK\]|(\Z)))",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
# Some templates open the block in the prompt, and only its end is in the reply.
_THINKING_END = re.compile(
    rf"^[ \t]*</(?:{_TAGS})>|(?<!`)</(?:{_TAGS})>[ \t]*$", re.IGNORECASE | re.MULTILINE
)
_OPENING = re.compile(r"^[ \t]*<summary>", re.IGNORECASE | re.MULTILINE)
_CLOSING = re.compile(r"(?:</summary>[ \t]*)+$", re.IGNORECASE | re.MULTILINE)
_TAG = re.compile(r"</?summary>", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)")
_CHATTER = re.compile(
    r"(?:(?:sure|okay|ok|of course|certainly|absolutely|alright|understood)\b[^\n:]{0,20}?[,.!] *)?"
    r"(?:here(?:['’]s| is| are)|below is|the following is)\b[^\n:]{0,100}"
    r"\b(?:summary|summaries|recap|overview)\b[^\n:]{0,80}(?::[ \t]*|[ \t]*(?=\n))"
    r"|this is (?:a|the|my) (?:brief |short |concise )?summary\b[^\n:]{0,60}:[ \t]*"
    r"|(?:sure|okay|ok|of course|certainly|absolutely|alright|understood)[,.!]*[ \t]*\n"
    r"|(?:(?:好的|好|当然|没问题|可以|明白)[，,。！!]* *)?(?:以下|下面|这)(?:是|为)[^\n：:]{0,60}"
    r"(?:摘要|总结|概要|小结|概括)[^\n：:]{0,30}[：:][ \t]*"
    r"|(?:#{1,4} +|\*\*)?(?:summary|conversation summary|摘要|对话摘要|总结|对话总结)"
    r"(?:\*\*)?[:：]?(?:\*\*)?[ \t]*\n",
    re.IGNORECASE,
)
_FAREWELL = re.compile(
    r"(?<!\n)\n+(?:-{3,}\n+)?(?:(?:please )?let me know if|(?:please )?feel free to|is there anything else"
    r"|i hope this|如果(?:你|您)(?:还)?(?:有|需要)|希望(?:这|以上)|还有(?:什么|其他)[^\n]{0,10}(?:吗|么))"
    r"[^\n]{0,200}\Z",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"[\W_]*(?:"
    r"(?:i['’]?m|i am) (?:so |very )?(?:sorry|afraid|unable|not able)\b"
    r"|(?:i )?apologi[sz]e\b|sorry\b"
    r"|(?:unfortunately,? )?i (?:can['’]?t|can ?not|could not|couldn['’]t|won['’]t|will not|must decline"
    r"|do not have|don['’]t have|do not see|don['’]t see)\b"
    r"|as an? (?:ai|artificial|large language|language)\b"
    r"|(?:please|could you|can you) (?:please )?(?:provide|share|paste|give me|send)\b"
    r"|(?:there is|there['’]s) no (?:conversation|text|previous|content)\b"
    r"|no conversation (?:was|has been) (?:provided|given)"
    r"|(?:很|非常)?(?:抱歉|对不起|不好意思)|我(?:无法|不能|没法|没有办法)"
    r"|作为(?:一个|一名)?(?:AI|人工智能|大?语言模型)|请(?:您|你)?(?:先)?提供|(?:这里)?没有(?:任何)?(?:对话|内容)"
    r")",
    re.IGNORECASE,
)


def _answer(written: Written) -> str:
    """The text without what is around it, never empty. Raises SummaryRejected."""
    text, thought = _without_thinking(written.text)
    text = _unwrapped(text)
    if not re.search(r"\w", text):
        raise SummaryRejected("thinking" if thought or written.thinking.strip() else "empty")
    return text


def _without_thinking(text: str) -> tuple[str, bool]:
    """The text without its thinking, and whether there was some. A block left open rejects it."""
    thought = False

    def drop(block: re.Match[str]) -> str:
        nonlocal thought
        thought = True
        if block[3] is not None or block[5] is not None:
            raise SummaryRejected("thinking")
        return ""

    text = _THINKING.sub(drop, text)
    if ends := list(_THINKING_END.finditer(text)):
        return text[ends[-1].end() :], True
    return text, thought


def _unwrapped(text: str) -> str:
    """The text out of its tags, its code fence and the phrases before and after it."""
    text = text.strip("\ufeff \t\r\n")
    for _ in range(_LAYERS):
        before = text
        text = _out_of_tags(_out_of_fence(text)).strip()
        if (chatter := _CHATTER.match(text)) and text[chatter.end() :].strip():
            text = text[chatter.end() :]
        text = _FAREWELL.sub("", text).strip()
        if text == before:
            return text
    raise SummaryRejected("repeating")


def _out_of_tags(text: str) -> str:
    opening = _OPENING.search(text)
    inner = text[opening.end() :] if opening else text
    closings = list(_CLOSING.finditer(inner))
    inner = inner[: closings[-1].start()] if closings else inner
    return inner if inner.strip() else _TAG.sub("", text)


def _out_of_fence(text: str) -> str:
    """The lines within a code fence that is around all of the text; other fences stay."""
    lines = text.split("\n")
    fences = [number for number, line in enumerate(lines) if _FENCE.match(line)]
    if not fences or fences[0] != 0 or len(fences) % 2:
        return text
    bare = [lines[number].strip() in ("```", "~~~") for number in fences]
    nested = len(fences) == 2 or not bare[1]  # a bare second one closes the first
    whole = fences[-1] == len(lines) - 1 and bare[-1]
    return "\n".join(lines[1:-1]) if whole and nested else text


# ---- a text that was cut off --------------------------------------------------------------------

_SENTENCE_END = re.compile(
    r"(?<![0-9])(?<!e\.g)(?<!i\.e)[.!?…][\"'”’)\]*_`]*(?=\s|\Z)"
    r"|(?<=[0-9])[.!?][\"'”’)\]*_`]*(?=\s)|[。！？…][”’」』）】*_`]*"
)
_MARKER = re.compile(r"(?:[-*+•]|\d{1,3}[.)])?\Z")
_HEADING = re.compile(r"(?:#{1,6}\s[^\n]*|\*\*[^\n*]{1,60}\*\*:?|[^\n]{1,60}[:：])\Z")


def _whole_part(text: str) -> str:
    """The text up to its last complete sentence or list item. Raises SummaryRejected."""
    lines = text.split("\n")
    last = lines.pop()
    ends = [end.end() for end in _SENTENCE_END.finditer(last)]
    ends = [end for end in ends if not _MARKER.match(last[:end].strip())]
    if ends:
        lines.append(last[: ends[-1]])
    while lines and _says_nothing(lines[-1].strip()):
        lines.pop()  # a heading with nothing under it says nothing
    whole = "\n".join(lines).strip()
    if not re.search(r"\w", whole) or len(whole) < SALVAGE_SHARE * len(text):
        raise SummaryRejected("unfinished")
    return whole


def _says_nothing(line: str) -> bool:
    """Whether a line, stripped, is blank, a list marker or a heading."""
    return bool(_MARKER.match(line) or _HEADING.match(line))


# ---- a text that goes round in circles ----------------------------------------------------------

# A word, a character of a script without spaces, a sign (but rules and tables are drawn of the
# same signs again and again). Endless words are taken in pieces.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]|[^\W_]{1,20}|[^\w\s|=-]")


_COUNTED = re.compile(r"(?<![\w.])\d{1,4}[.)](?=\s)")


def _lines_repeat(text: str) -> bool:
    lines = Counter(" ".join(_WORD.findall(line)) for line in text.split("\n"))
    return any(
        times > _SAME_LINE and len(line.encode("utf-8", "replace")) >= _LINE_BYTES
        for line, times in lines.items()
        if re.search(r"\w", line)
    )


def _words_repeat(words: list[str]) -> bool:
    if len(words) < _FEWEST_WORDS:
        return False
    grams = Counter(zip(*(words[start:] for start in range(_GRAM)), strict=False))
    most, total = max(grams.values()), grams.total()
    seen = (total - len(grams)) / total
    return seen > _SEEN_SHARE or (most > 2 and most * _GRAM > _GRAM_SHARE * len(words))
