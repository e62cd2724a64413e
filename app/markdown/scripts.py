"""What the letters of a text ask for: the plain face, a direction, an upright emphasis."""

import re
import unicodedata
from typing import Literal

Direction = Literal["ltr", "rtl", ""]

_CJK = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3040-\u30ff"
    "\u3100-\u318f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff"
    "\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003fffd"
)
_RIGHT_TO_LEFT = (
    "\u0590-\u08ff\ufb1d-\ufdcf\ufdf0-\ufdff\ufe70-\ufefe\U00010800-\U00010fff"
    "\U0001e800-\U0001efff"
)
_INDIC = "\u0900-\u0dff"
_TALL = "\u0900-\u109f\u1780-\u17ff\u19e0-\u19ff\u1a20-\u1aaf"  # Indic, Thai, Tibetan, Khmer …
_CJK_MARKS = "\u3000-\u303f\ufe30-\ufe4f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"

_CJK_OR_MARK = re.compile(f"[{_CJK}{_CJK_MARKS}]")
_PLAIN = re.compile(f"[{_CJK}{_RIGHT_TO_LEFT}{_INDIC}]")
_UPRIGHT = re.compile(f"[{_CJK}{_CJK_MARKS}{_RIGHT_TO_LEFT}{_INDIC}]")
_TALL_LETTER = re.compile(f"[{_TALL}]")
_LETTER = re.compile(r"[^\W\d_]")

_SAMPLE = 8_000
_PLAIN_SHARE = 0.2


def needs_plain_face(text: str) -> bool:
    """Whether over a fifth of the letters are CJK, Arabic, Hebrew or Indic.

    A Latin book face beside them looks odd. Judges by the first 8,000 characters.
    """
    sample = text[:_SAMPLE]
    foreign = len(_PLAIN.findall(sample))
    return foreign > 0 and foreign > _PLAIN_SHARE * len(_LETTER.findall(sample))


def stands_upright(text: str) -> bool:
    """Whether the text has letters that no font slants: they are emphasised by weight."""
    return not text.isascii() and _UPRIGHT.search(text) is not None


def stands_tall(text: str) -> bool:
    """Whether the text has letters that need more room above and below than a fixed line."""
    return not text.isascii() and _TALL_LETTER.search(text) is not None


def is_cjk(char: str) -> bool:
    """Whether a character is Chinese, Japanese or Korean, punctuation included."""
    return _CJK_OR_MARK.match(char) is not None


def direction_of(text: str) -> Direction:
    """The direction of the first letter that has one; "" if none has."""
    if text.isascii():
        return "ltr" if any(map(str.isalpha, text)) else ""
    for char in text:
        kind = unicodedata.bidirectional(char)
        if kind == "L":
            return "ltr"
        if kind in ("R", "AL"):
            return "rtl"
    return ""
