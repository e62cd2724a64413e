"""Colours for code, in slices: the lexer is a generator, so it can be left and gone on with.

Colours are a layout's own formats, not the document's: positions and text stay as they are.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtGui import QTextBlock, QTextCharFormat, QTextDocument, QTextLayout

from app.markdown.look import CodeKind, Look

if TYPE_CHECKING:
    from pygments.lexer import Lexer

COLOURED = 20_000
"""Characters of one block of code that are coloured; the rest stays plain."""

_PLAIN_NAMES = frozenset(("", "text", "txt", "plain", "plaintext", "output", "console-output"))
_ALIASES = {"c++": "cpp", "vue": "html", "jsonc": "json", "golang": "go", "node": "js"}
_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")


_classes: "dict[str, type[Lexer] | None]" = {}
_lexers: "dict[str, Lexer | None]" = {}


def lexer_loaded(language: str) -> bool:
    """Whether `lexer_of` answers at once; a lexer's first use can cost 50 ms."""
    return language.lower() in _lexers or not _is_name(language)


def load_lexer(language: str) -> None:
    """One step towards a loaded lexer: its module first, then its rules. Each can cost 30 ms."""
    name = language.lower()
    if name not in _classes:
        _classes[name] = _find(name)
        if _classes[name] is not None:
            return
    found = _classes[name]
    _lexers[name] = None if found is None else found()


def lexer_of(language: str) -> "Lexer | None":
    """The lexer of a language by the name models write, None if there is none for it."""
    while not lexer_loaded(language):
        load_lexer(language)
    return _lexers.get(language.lower())


def _is_name(language: str) -> bool:
    name = language.lower()
    return name not in _PLAIN_NAMES and _LANGUAGE.fullmatch(name) is not None


def _find(name: str) -> "type[Lexer] | None":
    from pygments.lexers import find_lexer_class_by_name  # late, or every start pays for it
    from pygments.util import ClassNotFound

    try:
        return find_lexer_class_by_name(_ALIASES.get(name, name))
    except ClassNotFound:
        return None


def utf16(text: str) -> int:
    """The length of a text in a document's positions."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def coloured_part(text: str) -> str:
    """The whole lines of a text that are coloured."""
    if len(text) <= COLOURED:
        return text
    return text[: text.rfind("\n", 0, COLOURED + 1) + 1].removesuffix("\n")


class Highlight:
    """The colouring of one block of code, whose first line is the block at `first`.

    `source` is the text and its language.
    """

    def __init__(self, document: QTextDocument, first: int, source: tuple[str, str], look: Look):
        self.first = first
        self.is_done = False
        self._document = document
        self._text, self._language = source
        self._look = look
        self._tokens: Iterator[tuple[CodeKind, str]] | None = None
        self._brush = _Brush(document.findBlock(first), look)

    def step(self, characters: int) -> int:
        """Colour the next `characters` or a little more; how many it were (at least 1).

        A lexer that is not loaded yet costs steps of its own.
        """
        if not lexer_loaded(self._language):
            load_lexer(self._language)
            return characters
        if self._tokens is None:
            self._tokens = kinds(self._text, self._language)
        done = 0
        for kind, value in self._tokens:
            self._brush.paint(kind, value)
            done += len(value)
            if done >= characters:
                return done
        self._brush.end()
        self.is_done = True
        return max(1, done)


def kinds(text: str, language: str) -> Iterator[tuple[CodeKind, str]]:
    """The text in pieces, each with its kind; all of it as one piece for an unknown language."""
    lexer = lexer_of(language)
    if lexer is None:
        return
    part = coloured_part(text)
    left = len(part)
    for _offset, token, value in lexer.get_tokens_unprocessed(part + "\n"):  # rules wait for it
        yield _kind(token), value[:left]
        left -= len(value)
        if left <= 0:
            return


@lru_cache(maxsize=512)
def _kind(token: object) -> CodeKind:
    """The kind of a Pygments token type, by the nearest ancestor we have a colour for."""
    names = str(token).split(".")[1:]
    for count in range(len(names), 0, -1):
        found = _KINDS.get(".".join(names[:count]))
        if found is not None:
            return found
    return ""


_KINDS: dict[str, CodeKind] = {
    "Comment": "com",
    "Comment.Preproc": "key",
    "Keyword": "key",
    "Operator.Word": "key",
    "Name.Function": "fn",
    "Name.Class": "fn",
    "Name.Decorator": "fn",
    "Name.Tag": "key",
    "Name.Attribute": "fn",
    "Name.Exception": "fn",
    "Literal.String": "str",
    "Literal.Number": "num",
    "Literal.Date": "num",
    "Generic.Inserted": "str",
    "Generic.Deleted": "num",
    "Generic.Heading": "key",
    "Generic.Subheading": "key",
    "Generic.Prompt": "com",
}


class _Brush:
    """Walks the blocks of a frame with the tokens and hands each block its formats."""

    def __init__(self, block: QTextBlock, look: Look) -> None:
        self._block = block
        self._at = 0
        self._ranges: list[QTextLayout.FormatRange] = []
        self._formats = {kind: _format(look, kind) for kind in look.code_colors}

    def paint(self, kind: CodeKind, value: str) -> None:
        """Go on over `value`, which may hold line ends."""
        lines = value.split("\n")
        for number, line in enumerate(lines):
            if number:
                self._next_block()
            if line:
                self._paint_line(kind, utf16(line))

    def _paint_line(self, kind: CodeKind, length: int) -> None:
        """Go on over part of a line, into the blocks a long line was broken into."""
        while length > 0 and self._block.isValid():
            room = self._block.length() - 1 - self._at
            if room <= 0:
                self._next_block()
                continue
            count = min(room, length)
            if kind:
                span = QTextLayout.FormatRange()
                span.start, span.length, span.format = self._at, count, self._formats[kind]
                self._ranges.append(span)
            self._at += count
            length -= count

    def end(self) -> None:
        """Give the block its formats, unless it has none and gets none."""
        if self._block.isValid() and (self._ranges or self._block.layout().formats()):
            self._block.layout().setFormats(self._ranges)
        self._ranges = []

    def _next_block(self) -> None:
        self.end()
        self._block = self._block.next()
        self._at = 0


def _format(look: Look, kind: CodeKind) -> QTextCharFormat:
    made = QTextCharFormat()
    made.setForeground(look.code_colors[kind])
    return made
