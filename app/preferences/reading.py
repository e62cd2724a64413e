"""From what is typed to a setting's value, or to the sentence that says why not. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.preferences.words import title_words
from app.sentences import localized
from app.words import translate
from engine.settings import Setting, Value

_BETWEEN_DIGITS = " \u00a0\u2009\u202f'’_"
"""What people put between groups of digits, besides what their language does."""


@dataclass(frozen=True, slots=True)
class Read:
    """What was typed, understood.

    `value` None without a `problem`: nothing is to be set, so that something more general decides.
    """

    value: Value | None = None
    problem: str = ""


def read_text(setting: Setting, text: str, *, group: str = ",", point: str = ".") -> Read:
    """What a text means for a setting; figures may be grouped as the language does it."""
    if setting.default is None and not text.strip():
        return Read()
    found: object = text
    if setting.kind in ("whole", "number"):
        found = setting.parse(_plain_figure(text, group, point))
    elif setting.kind == "list":
        found = [line.strip() for line in text.splitlines() if line.strip()]
    return check(setting, found)


def check(setting: Setting, value: object) -> Read:
    """A value held against its setting."""
    accepted = setting.accept(value)
    return Read(problem=problem_words(setting)) if accepted is None else Read(accepted)


def problem_words(setting: Setting) -> str:
    """What a setting may be, said to someone who wrote something else."""
    name = title_words(setting)
    if setting.minimum is not None and setting.maximum is not None:
        words = (
            translate("Preferences", "{name} is a whole number from {least} to {most}.")
            if setting.kind == "whole"
            else translate("Preferences", "{name} is a number from {least} to {most}.")
        )
        return words.format(name=name, least=f"{setting.minimum:,}", most=f"{setting.maximum:,}")
    if setting.choices or setting.pattern_words:
        return translate("Preferences", "{name} is {allowed}.").format(
            name=name, allowed=localized(setting.allowed)
        )
    return translate("Preferences", "{name} holds a character no file can hold.").format(name=name)


def written(setting: Setting, value: Value | None, figures: str = ",") -> str:
    """A value as it stands in a field; `figures` separates groups of digits."""
    match value:
        case None:
            return ""
        case bool() | str():
            return str(value)
        case int():
            return f"{value:,}".replace(",", figures)
        case float():
            return f"{value:g}"
    return lines_of(value)


def lines_of(texts: Sequence[str]) -> str:
    """A list as it stands in a box: one a line."""
    return "\n".join(texts)


def _plain_figure(text: str, group: str, point: str) -> str:
    """A figure as programs write it."""
    for sign in (group, *_BETWEEN_DIGITS):
        text = text.replace(sign, "")
    return text.replace(point, ".")
