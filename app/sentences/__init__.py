"""The engine's sentences in the user's language; knows no Qt and no engine.

The engine speaks English, and the terminal shows what it says. The window shows the same sentences
through `localized`, which finds the template each was made from and puts its words into the
template's translation. What no template matches is shown as it is.
"""

import re
from functools import lru_cache

from app.sentences.table import FIGURES, TEMPLATES
from app.words import is_plain, joined, translate

CONTEXT = "Sentences"
"""Where the templates stand in the catalogue."""
_REMEMBERED = 512
_FIGURE = r"-?[\d.,]*\d[kMG]?"
_PLACE = re.compile(r"\{(\w+)\}")
_BREAK = re.compile(r"(?<=[.?!…:]) ")
_COMMAND = re.compile(r" \(porthole [^()]*\)")
"""What to type in a terminal, in an aside: the window has buttons for it."""


def localized(text: str) -> str:
    """One or more of the engine's sentences in the user's language; any other text unchanged."""
    if not text or is_plain():
        return _COMMAND.sub("", text)
    return _parsed(text) or text


def _parsed(text: str) -> str | None:
    """Sentence by sentence; None when one of them is unknown."""
    for found in _BREAK.finditer(text):
        head = _whole(text[: found.start()])
        rest = None if head is None else _parsed(text[found.end() :])
        if head is not None and rest is not None:
            return joined(head, rest)
    return _whole(text)


def _whole(text: str) -> str | None:
    """A text made from one template, translated; None when there is none."""
    found = find_template(text)
    if found is None:
        return None
    template, values = found
    spoken = {name: _parsed(value) or value for name, value in values.items()}
    return translate(CONTEXT, template).format(**spoken)


@lru_cache(_REMEMBERED)
def find_template(text: str) -> tuple[str, dict[str, str]] | None:
    """The template a text was made from and what stands in its places; the most literal one."""
    for template, pattern in _patterns():
        match = pattern.fullmatch(text)
        if match is not None:
            return template, match.groupdict()
    return None


@lru_cache(1)
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Each template with the pattern of what is made from it, those with the most words first."""
    ordered = sorted(TEMPLATES, key=lambda text: -len(_PLACE.sub("", text)))
    return tuple((template, _pattern(template)) for template in ordered)


def _pattern(template: str) -> re.Pattern[str]:
    parts = _PLACE.split(template)  # words, name, words, name … words
    names = (
        f"(?P<{name}>{_FIGURE if name in FIGURES else '.*?'})" if odd else re.escape(name)
        for odd, name in ((place % 2, part) for place, part in enumerate(parts))
    )
    return re.compile("".join(names), re.DOTALL)
