"""How a chat template is told whether, or how much, a model shall think. Pure.

Templates agree on two names for the switch and on one for the level, but not on its words; some
raise for a word they do not know.
"""

import re
from typing import Final

from engine.backends.base import Think, ThinkChoice, ThinkLevel

SWITCHES: Final = frozenset({"enable_thinking", "thinking"})
"""What templates call the switch."""

_LEVELS: Final[tuple[ThinkLevel, ...]] = ("low", "medium", "high", "max")
_CODE: Final = re.compile(r"\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
_COMMENT: Final = re.compile(r"\{#.*?#\}", re.DOTALL)
_TEXT: Final = re.compile(r"\"[^\"]*\"|'[^']*'")
_SWITCH: Final = re.compile(r"(?<![.\w])enable_thinking\b")
_PLAIN_SWITCH: Final = re.compile(r"(?<![.\w])thinking\b(?!\s*=[^=])")  # a usual word, too
_EFFORT: Final = re.compile(r"(?<![.\w])reasoning_effort\b")


def effort_word(think: Think | None, source: str, *, has_switch: bool) -> str:
    """What a template gets as `reasoning_effort`; "" to leave it to the template.

    One that has a word for no thinking gets that; one without it, and without a switch, can only
    be told to think little.
    """
    none = _none_word(source)
    match think:
        case None:
            return ""
        case False:
            return none or ("" if has_switch else "low")
        case True:
            return "high" if none == "no_think" else ""
        case "max" if not _is_quoted("max", source):
            return "high"
        case "medium" if none == "no_think":  # it has two levels, and raises for a third
            return "high"
    return think


def template_choices(source: str) -> tuple[ThinkChoice, ...]:
    """What a model with this template can be told; nothing when it always does as it does."""
    code = "".join(_CODE.findall(_COMMENT.sub("", source)))
    bare = _TEXT.sub("", code)
    has_switch = bool(_SWITCH.search(code) or _PLAIN_SWITCH.search(bare))
    if not _EFFORT.search(bare):
        return ("off", "on") if has_switch else ()
    named: tuple[ThinkLevel, ...] = tuple(x for x in _LEVELS if _is_quoted(x, code))
    if "medium" in named:  # its usual one: the others are not spelled out
        named = ("low", "medium", "high")
    if has_switch or not named:
        return ("off", "on", *named)
    return ("off", *named) if _none_word(code) else named


def _none_word(source: str) -> str:
    return next((word for word in ("no_think", "none") if _is_quoted(word, source)), "")


def _is_quoted(word: str, source: str) -> bool:
    return f'"{word}"' in source or f"'{word}'" in source
