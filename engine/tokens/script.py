"""The estimator in use: tokens of a text by its scripts, never much under any vocabulary's count.

A text is cut into runs; each run has a weight: the tokens that the costliest of nine vocabularies
(32k to 262k tokens) needs for it. Small vocabularies decide: they spell out whatever is not English.
So Chinese comes out at twice or thrice what a modern model needs; a model that is used teaches its
own ratio (`engine.tokens.calibration`). tests/engine/test_tokens_script.py holds the figures
against real vocabularies.

::

    text ─ blocks of some 600 characters ─ runs ┬ word        1, and more the less English it looks
                                                ├ code        base64, hashes: nearly one a character
                                                ├ digit       1
                                                ├ punctuation by sort and length
                                                ├ white space by sort and length
                                                └ other scripts: a weight a character, by block

How English words look is judged for a whole block: "on", "die" and "gift" alone say nothing.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from engine.backends.base import PromptMessage
from engine.tokens.english import count_unusual
from engine.tokens.spec import compact_json, is_runtime_context
from engine.transcript import (
    Body,
    BranchSummary,
    Compaction,
    CustomMessage,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
)

MESSAGE_OVERHEAD_TOKENS = 8
"""Role names and control tokens that a chat template puts around a message."""
CALL_OVERHEAD_TOKENS = 16
"""Tags, keys and braces that a chat template puts around a tool call."""
FRAME_TOKENS = 96
"""What stands around a summary in a prompt: that it is past context, not an order."""
IMAGE_TOKENS = 1200
"""What a picture weighs before a server has read it.

Models differ: 256 for each (Gemma 3), 576 (LLaVA), a token for every 28 x 28 pixels (Qwen, some
1,300 for a screen). Ollama itself reckons with 768. With the margin of an estimate this is above all
but large pictures of the last kind; what was really read anchors the count from the first reply on.
"""
EXACT_VALUES = "values"
"""The key of a compaction's facts that is put into the prompt under its summary."""

# ---- weights --------------------------------------------------------------------------------------

_LETTER_WEIGHTS = ((0.2, 0.06), (0.3, 0.2), (0.4, 0.29), (0.5, 0.37), (0.8, 0.48), (1.0, 0.68))
"""Share of unusual letter groups in a block, and what each letter of a word but its first adds.

English has a share of 0.15…0.2, French 0.35, German 0.5, Polish 0.75, random letters 0.9.
"""
_LONG_WORD = 6
_LONG_LETTER = 0.06
"""What each letter beyond the sixth adds, in any language."""
_CAPITAL = 0.75
"""A capital within a word (camelCase) mostly begins a new token."""
_CAPITALS = 0.2
_CAPITALS_LETTER = 0.22
"""WORDS ALL IN CAPITALS: vocabularies know few of them."""
_DIACRITIC = 0.8
_VIETNAMESE = 1.75
"""A letter with one mark, and one with two, beyond what any letter costs."""
_CODE = 0.93
_PUNCTUATION = 0.8
_REPEATED = 2.0
_REPEATED_CHARACTER = 0.02
"""=====: a few tokens whatever its length."""
_SPACES = 1.0
_SPACE = 0.045
_TABS = 1.0
_TAB = 0.1
_CONTROL = 1.5
_SPACE_BEFORE_SCRIPT = 0.6
"""A space before a word of another script; before a character no vocabulary knows, a whole token."""
_UNKNOWN = 2.7
"""From this weight on no vocabulary knows a character: it is spelled byte by byte."""

_BANDS: tuple[tuple[int, float, str], ...] = (
    (0x0080, 1.50, "signs of Latin-1"),
    (0x0250, 2.00, "phonetic letters, loose diacritics"),
    (0x0370, 1.08, "Greek"),
    (0x0400, 2.00, "rare Cyrillic capitals"),
    (0x0410, 0.84, "Cyrillic, as in Russian"),
    (0x0450, 1.10, "Ukrainian, Serbian, Macedonian letters"),
    (0x0460, 2.00, "Cyrillic of other languages, historic Cyrillic"),
    (0x0530, 2.05, "Armenian"),
    (0x0590, 1.30, "Hebrew, Yiddish"),
    (0x0600, 1.10, "Arabic"),
    (0x0671, 1.25, "Persian and Urdu letters"),
    (0x06B0, 2.00, "Kurdish and Uyghur letters"),
    (0x06CC, 1.25, "Persian Yeh"),
    (0x06CD, 2.00, "Pashto and Uyghur letters"),
    (0x0780, 2.00, "Thaana, N'Ko, Samaritan"),
    (0x0900, 1.45, "Devanagari"),
    (0x0980, 2.10, "Bengali"),
    (0x0A00, 3.00, "Gurmukhi, Gujarati, Oriya"),
    (0x0B80, 2.10, "Tamil"),
    (0x0C00, 3.00, "Telugu, Kannada"),
    (0x0D00, 2.35, "Malayalam"),
    (0x0D80, 3.00, "Sinhala"),
    (0x0E00, 1.87, "Thai"),
    (0x0E80, 2.95, "Lao, Tibetan, Burmese"),
    (0x10A0, 2.06, "Georgian"),
    (0x1100, 3.00, "Hangul parts, Ethiopic, Khmer, Mongolian and others"),
    (0x1F00, 2.60, "polytonic Greek"),
    (0x2000, 2.05, "typographic signs, joiners"),
    (0x2070, 2.05, "superscripts, currencies, arrows, operators"),
    (0x2500, 0.75, "boxes and blocks"),
    (0x25A0, 3.00, "shapes, dingbats, Braille, rare scripts"),
    (0x2E80, 2.45, "radicals, CJK punctuation"),
    (0x3040, 1.63, "Kana"),
    (0x3100, 2.60, "Bopomofo, enclosed and rare Chinese characters"),
    (0x4E00, 1.97, "Chinese characters"),
    (0xA000, 3.00, "Yi and other rare scripts"),
    (0xAC00, 2.66, "Hangul"),
    (0xD7B0, 3.00, "private use, presentation and full-width forms"),
    (0xFE00, 1.90, "variation selectors"),
    (0xFE10, 3.00, "full-width forms"),
    (0x10000, 4.00, "historic scripts, mathematical letters"),
    (0x1F000, 3.67, "emoji"),
    (0x20000, 4.00, "rarest Chinese characters, tags"),
)
"""First code point of a band, tokens a character, what is in it."""

_STARTS = tuple(start for start, _, _ in _BANDS)
_WEIGHTS = tuple(weight for _, weight, _ in _BANDS)

# ---- cutting --------------------------------------------------------------------------------------

_BLOCK = re.compile(r".{1,600}\S{0,40}", re.DOTALL)
_LATIN = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff"
_PIECES = rf" ?[{_LATIN}]{{1,32}}| ?[0-9]| ?[!-/:-@\[-`{{-~]+| +|\t+|\n+| ?."
_PIECE = re.compile(_PIECES, re.DOTALL)
_SHORTEST_CODE = 24
_RUN = re.compile(rf" ?[A-Za-z0-9][A-Za-z0-9+/=_\-]{{{_SHORTEST_CODE - 1},}}|{_PIECES}", re.DOTALL)


@lru_cache(maxsize=2_048)  # the messages of a conversation are asked for again and again
def estimate_text(text: str) -> int:
    """Tokens of a text, rather too many than too few; linear in its length whatever it holds."""
    return estimate_once(text)


def estimate_once(text: str) -> int:
    """The same of a text that will not be asked for again: nothing of it is remembered."""
    return math.ceil(sum(map(_block_weight, _BLOCK.findall(text))))


def _block_weight(block: str) -> float:
    total, letters, unusual, groups = 0.0, 0, 0, 0
    for run in _RUN.findall(block):
        if len(run) < _SHORTEST_CODE:
            pieces = [run]
        elif _is_code(run):
            total += _CODE * len(run)
            continue
        else:
            pieces = _PIECE.findall(run)
        for weight in map(_weigh, pieces):
            total += weight.tokens
            letters += weight.letters
            unusual += weight.unusual
            groups += weight.groups
    return total + letters * _letter_weight(unusual / groups if groups else 0.0)


def _is_code(run: str) -> bool:
    """Whether a long run of letters and digits is base64, a hash or a key, and not words."""
    run = run.lstrip()
    if len(run) < _SHORTEST_CODE or run.isalpha() or not run[0].isalnum():
        return False
    digits = sum(map(str.isdigit, run))
    capitals = sum(map(str.isupper, run))
    small = sum(map(str.islower, run))
    if digits and (capitals or small):
        return True
    return capitals > 3 and small > 3 and capitals * 3 > small


class _Weight(NamedTuple):
    """What a piece of text weighs by itself, and how much of it is for the block to judge."""

    tokens: float
    letters: int = 0
    unusual: int = 0
    groups: int = 0


@lru_cache(maxsize=1 << 14)
def _weigh(piece: str) -> _Weight:
    """A piece as `_PIECE` cuts it; the space before a word or a sign belongs to its token."""
    bare = piece[1:] if piece[0] == " " and len(piece) > 1 and piece[1] != " " else piece
    first = bare[0]
    if (
        first.isalpha()
        and (first < "\u0250" or "\u1e00" <= first < "\u1f00")
        and first not in "ªº"
    ):
        return _weigh_word(bare)
    if first >= "\x80":
        return _Weight(_character_weight(first, spaced=bare is not piece))
    if "0" <= first <= "9":
        return _Weight(float(len(piece)))
    return _Weight(_sign_weight(bare))


def _weigh_word(word: str) -> _Weight:
    length = len(word)
    tokens = 1.0 + _LONG_LETTER * max(0, length - _LONG_WORD)
    capitals = sum(map(str.isupper, word[1:]))
    if capitals and capitals == length - 1 and word[0].isupper():
        tokens += _CAPITALS + _CAPITALS_LETTER * length
    else:
        tokens += _CAPITAL * capitals
    if not word.isascii():
        marked = sum(letter > "\x7f" for letter in word)
        twice = sum(letter > "\u0250" for letter in word)
        tokens += _DIACRITIC * (marked - twice) + _VIETNAMESE * twice
    return _Weight(tokens, length - 1, count_unusual(word), length)


def _character_weight(character: str, *, spaced: bool) -> float:
    weight = _WEIGHTS[bisect_right(_STARTS, ord(character)) - 1]
    if not spaced:
        return weight
    return weight + (1.0 if weight > _UNKNOWN else _SPACE_BEFORE_SCRIPT)


def _sign_weight(signs: str) -> float:
    """White space of one sort, punctuation of any, or one control character."""
    length = len(signs)
    match signs[0]:
        case " ":
            return _SPACES if length == 1 else _SPACES + _SPACE * length
        case "\t":
            return _TABS + _TAB * (length - 1)
        case "\n":
            return float(length)
        case sign if "!" <= sign <= "~":
            return sum(map(_repeated_weight, (len(list(same)) for _, same in groupby(signs))))
        case _:
            return _CONTROL


def _repeated_weight(times: int) -> float:
    return _PUNCTUATION if times == 1 else _REPEATED + _REPEATED_CHARACTER * times


def _letter_weight(share: float) -> float:
    """What each letter adds in a block with this share of unusual groups: `_LETTER_WEIGHTS`, joined."""
    below_share, below = 0.0, _LETTER_WEIGHTS[0][1]
    for above_share, above in _LETTER_WEIGHTS:
        if share <= above_share:
            part = (share - below_share) / (above_share - below_share)
            return below + part * (above - below)
        below_share, below = above_share, above
    return below


# ---- messages -------------------------------------------------------------------------------------


def estimate_messages(messages: Iterable[PromptMessage]) -> int:
    """Tokens of a prompt: text, thinking, tool calls and the template's overhead per message."""
    return sum(_estimate_message(message) for message in messages)


def estimate_body(body: Body) -> int:
    """What a body adds to a prompt, the template's overhead included; tokens.

    0 for what never reaches a model: runtime context, data of the program, labels, pins, unknown
    things, replies in which nothing was written. `details` never count.
    """
    match body:
        case Message():
            return _estimate_entry_message(body)
        case CustomMessage(content=content):
            if is_runtime_context(body):
                return 0
            return MESSAGE_OVERHEAD_TOKENS + estimate_text(content)
        case Compaction(summary=summary, facts=facts):
            values = facts.get(EXACT_VALUES)
            return _framed(summary) + (estimate_text(compact_json(values)) if values else 0)
        case BranchSummary(summary=summary):
            return _framed(summary)
        case _:
            return 0


def _framed(summary: str) -> int:
    return MESSAGE_OVERHEAD_TOKENS + FRAME_TOKENS + estimate_text(summary)


def _estimate_message(message: PromptMessage) -> int:
    return (
        MESSAGE_OVERHEAD_TOKENS
        + estimate_text(message.content)
        + estimate_text(message.thinking)
        + sum(_estimate_call(call) for call in message.tool_calls)
        + (estimate_text(message.tool_name) if message.tool_name else 0)
        + IMAGE_TOKENS * len(message.images)
    )


def _estimate_entry_message(message: Message) -> int:
    if message.role == "assistant" and not message.text and not message.tool_calls:
        return 0  # failed or stopped before a word: the model never said anything
    return (
        MESSAGE_OVERHEAD_TOKENS
        + estimate_text(message.tool_name)
        + sum(_estimate_part(part) for part in message.parts)
    )


def _estimate_part(part: object) -> int:
    match part:
        case Text(text=text) | Thinking(text=text):
            return estimate_text(text)
        case ToolCall():
            return _estimate_call(part)
        case Image():
            return IMAGE_TOKENS
        case _:
            return 0


def _estimate_call(call: ToolCall) -> int:
    return (
        CALL_OVERHEAD_TOKENS
        + estimate_text(call.name)
        + estimate_text(compact_json(call.arguments))
    )
