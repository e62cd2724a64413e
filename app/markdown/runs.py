"""The inside of a paragraph as runs: a text and how it is set. Knows no Qt."""

from collections.abc import Sequence
from typing import NamedTuple

from markdown_it.token import Token

from app.markdown.parsing import is_live

LINE_BREAK = "\u2028"  # a line ends, the paragraph goes on


class Style(NamedTuple):
    """How a run is set."""

    bold: bool = False
    italic: bool = False
    struck: bool = False
    code: bool = False
    url: str = ""


class Run(NamedTuple):
    """Text that is set in one way."""

    text: str
    style: Style


PLAIN = Style()


def runs_of(token: Token, *, keep_breaks: bool = True) -> list[Run]:
    """The runs of an inline token; a literal one is a single run."""
    if token.type == "literal":
        return [Run(token.content, PLAIN)]
    soft = LINE_BREAK if keep_breaks else " "
    made: list[Run] = []
    styles = [PLAIN]
    before: Token | None = None
    for child in token.children or ():
        if child.nesting > 0:
            styles.append(_opened(styles[-1], child))
        elif before is not None and before.type == "link_open" and child.type == "link_close":
            made.append(Run(str(before.attrs.get("href", "")), styles.pop()))  # had no text
        elif child.nesting < 0:
            styles.pop()
        elif child.type == "code_inline":
            made.append(Run(child.content, styles[-1]._replace(code=True)))
        else:
            _add(made, _text_of(child, soft), styles[-1])
        before = child
    return made


def text_of(runs: Sequence[Run]) -> str:
    """The text of runs, line breaks as such."""
    return "".join([run.text for run in runs]).replace(LINE_BREAK, "\n")


def without_box(runs: Sequence[Run]) -> list[Run]:
    """A task's runs without the box that was typed, `[ ] `, which stands as its marker."""
    first = runs[0]._replace(text=runs[0].text[len("[ ] ") :])
    return [first, *runs[1:]] if first.text else list(runs[1:])


def _opened(style: Style, token: Token) -> Style:
    match token.type:
        case "strong_open":
            return style._replace(bold=True)
        case "em_open":
            return style._replace(italic=True)
        case "s_open":
            return style._replace(struck=True)
        case _:  # link_open
            url = str(token.attrs.get("href", ""))
            return style._replace(url=url if is_live(url) else "")


def _text_of(token: Token, soft: str) -> str:
    match token.type:
        case "softbreak":
            return soft
        case "hardbreak":
            return LINE_BREAK
        case "math":
            return token.content.replace("\n", LINE_BREAK)
        case _:
            return token.content


def _add(made: list[Run], text: str, style: Style) -> None:
    """Append the text, to the last run if that is set the same way."""
    if not text:
        return
    if made and made[-1].style == style:
        made[-1] = Run(made[-1].text + text, style)
    else:
        made.append(Run(text, style))
