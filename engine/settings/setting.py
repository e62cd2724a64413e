"""One setting: what it may be, and how a value from a file or the environment becomes it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

Kind = Literal["whole", "number", "text", "switch", "list"]
"""Whole number (int), number (float), text (str), switch (bool), list of texts (tuple[str, …])."""

Value = int | float | str | bool | tuple[str, ...]

ENVIRONMENT_PREFIX = "PORTHOLE_"
MOST_TOKENS = 16_777_216
"""No context window is larger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A setting, declared once: checks, the dialog and the tables in the documents derive from it.

    `key` is dotted: the part before the last dot is its TOML table. `default` None (per-model
    settings only) means: not set, something more general decides. Bounds are inclusive. `pattern`
    is a regular expression a text must match as a whole, `pattern_words` says it to people.
    `unit` is tokens, seconds, % or "". `needs_restart`: a running Porthole does not notice a change.
    `was_switch`: what false and true stand for in a text that was a switch once.
    `secret`: its value is shown as dots, and told to nobody; white space around it is no part of it.
    """

    key: str
    kind: Kind
    default: Value | None
    title: str
    help: str
    minimum: int | float | None = None
    maximum: int | float | None = None
    choices: tuple[str, ...] = ()
    pattern: str = ""
    pattern_words: str = ""
    unit: str = ""
    needs_restart: bool = False
    was_switch: tuple[str, str] | None = None
    secret: bool = False

    @property
    def section(self) -> str:
        """The TOML table it is in; empty for the top of the file."""
        return self.key.rpartition(".")[0]

    @property
    def variable(self) -> str:
        """The environment variable that overrides it (not for per-model settings)."""
        return variable_of(self.key)

    @property
    def allowed(self) -> str:
        """What it may be, in words that follow "must be"."""
        if self.choices:
            return "one of " + ", ".join(f'"{choice}"' for choice in self.choices)
        if self.pattern_words:
            return self.pattern_words
        words = {
            "whole": "a whole number",
            "number": "a number",
            "text": "text in quotes",
            "switch": "true or false",
            "list": 'a list of texts, such as ["one", "two"]',
        }[self.kind]
        if self.minimum is not None and self.maximum is not None:
            words += f" from {self.minimum:,} to {self.maximum:,}"
        return words

    def accept(self, value: object) -> Value | None:
        """The value as this setting holds it, or None when it is not `allowed`.

        A whole number passes for a number, and a switch for the text it became; nothing else
        changes its type, true is not 1.
        """
        match self.kind, value:
            case "switch", bool():
                return value
            case (("whole" | "number"), bool()):
                return None
            case "whole", int(number):
                return self._in_bounds(number)
            case "number", (int() | float()) as number:
                return self._in_bounds(number)
            case "text", bool() if self.was_switch is not None:
                return self.was_switch[value]
            case "text", str():
                return self._accept_text(value)
            case "list", list() | tuple():
                return _accept_list(value)
        return None

    def parse(self, text: str) -> object:
        """What an environment variable's text means: to be given to `accept`.

        Lists are separated as PATH is; switches are true or false; what is not a number stays text.
        """
        from os import pathsep

        word = text.strip()
        match self.kind:
            case "whole" if re.fullmatch(r"[+-]?[0-9][0-9_]{0,30}", word):
                return int(word.replace("_", ""))
            case "number" if re.fullmatch(r"[+-]?[0-9]{1,30}(\.[0-9]{1,30})?", word):
                return float(word)
            case "switch" if word.lower() in ("true", "false"):
                return word.lower() == "true"
            case "list":
                return [part for part in text.split(pathsep) if part]
        return text

    def _in_bounds(self, number: int | float) -> Value | None:
        low, high = self.minimum, self.maximum
        if (low is not None and not number >= low) or (high is not None and not number <= high):
            return None  # written so that NaN fails
        return float(number) if self.kind == "number" else number

    def told(self, value: object) -> str:
        """A value in a sentence about it: as a person would write it, a secret as dots."""
        return "•••" if self.secret else shown(value)

    def _accept_text(self, text: str) -> Value | None:
        text = text.strip() if self.secret else text  # it was pasted with the line's end
        if not _is_writable(text) or (self.choices and text not in self.choices):
            return None
        if self.pattern and not re.fullmatch(self.pattern, text):
            return None
        return text


def variable_of(key: str) -> str:
    """The environment variable of a setting's key."""
    return ENVIRONMENT_PREFIX + key.upper().replace(".", "_")


def _accept_list(items: Iterable[object]) -> tuple[str, ...] | None:
    texts = tuple(items)
    if all(isinstance(text, str) and text and _is_writable(text) for text in texts):
        return tuple(str(text) for text in texts)
    return None


def _is_writable(text: str) -> bool:
    """No NUL and no half of a surrogate pair: neither fits a file or a file name."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def shown(value: Any) -> str:
    """A value as a person would write it in the file, cut to a readable length."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() if abs(value) >= 10**18:  # and Python refuses to print really long ones
            return "a far larger number" if value > 0 else "a far smaller number"
        case int() | float():
            return f"{value:,}"
        case str():
            return f'"{_cut(value)}"'
        case list() | tuple():
            return (
                "["
                + ", ".join(shown(item) for item in value[:3])
                + (", …]" if len(value) > 3 else "]")
            )
        case dict():
            return "a table"
    return _cut(str(value))


def literal(value: Value | str) -> str:
    """A value, or a key that needs quotes, as it is written in the file, whole."""
    from json import dumps

    if isinstance(value, tuple) and len(value) > 1:
        return "[\n" + "".join(f"  {literal(item)},\n" for item in value) + "]"
    return dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # JSON but for DEL


def _cut(text: str, limit: int = 60) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[:limit] + "…"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known name someone probably meant, or None.

    The last part of a dotted key is enough if it is the only one of its name.
    """
    from difflib import get_close_matches

    names = list(known)
    folded = {name.lower(): name for name in names}
    close = get_close_matches(word.lower()[:100], folded, n=1, cutoff=0.7)
    if close:
        return folded[close[0]]
    tails = [name for name in names if name.rpartition(".")[2] == word.lower().rpartition(".")[2]]
    return tails[0] if len(tails) == 1 else None


def table_of(*settings: Setting) -> Mapping[str, Setting]:
    """Settings by their keys, in order."""
    return MappingProxyType({setting.key: setting for setting in settings})
