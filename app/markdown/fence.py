"""A fence of code that is still open: lines are appended to its frame and never taken back."""

import re

from markdown_it.token import Token

from app.markdown.built import CodeFrame
from app.markdown.highlight import COLOURED, Highlight, lexer_loaded
from app.markdown.pieces import PIECE
from app.markdown.writer import Writer, language_of

_TAB = 4


class OpenFence:
    """The open fence at the end of a document; `feed` it source until it gives a rest back."""

    def __init__(self, writer: Writer, token: Token, opening: str) -> None:
        self._writer = writer
        self._closing = closing_of(token.markup)
        self._marker = token.markup[0]
        self._indent = len(opening) - len(opening.lstrip(" "))
        self._language = language_of(token.info)
        self._lines: list[str] = []  # the complete ones
        self._shown: str | None = None  # of the line that is not complete
        self._length = 0
        self._first = writer.open_code()
        writer.built.code.append(CodeFrame(self._first, self._first, self._language, ""))
        if not lexer_loaded(self._language):
            job = Highlight(writer.document, self._first, ("", self._language), writer.look)
            writer.built.pending.append(job)  # loads the lexer when the view is idle

    def feed(self, source: str) -> tuple[str, bool]:
        """Take more: all source since what was given back last, and that.

        Gives back what is still to come again, and whether the fence is closed.
        """
        lines = source.split("\n")
        partial = lines.pop()
        for number, line in enumerate(lines):
            if self._closing.fullmatch(line):
                self._put(lines[:number])
                self._close()
                return "\n".join([*lines[number + 1 :], partial]), True
        self._put(lines)
        if partial.strip(f"{self._marker} \t"):  # else it may become the closing line
            self._show(_without_indent(partial, self._indent))
        self._note()
        return partial, False

    def end(self, partial: str) -> None:
        """The source ends here, with a line that has no end."""
        if partial.strip(" \t") and not self._closing.fullmatch(partial):
            self._put([partial])
        self._close()

    def _put(self, lines: list[str]) -> None:
        """Write complete lines; the first may be there in part."""
        for line in lines:
            text = _without_indent(line, self._indent)
            if self._shown is None:
                self._writer.code_line(text, first=not self._lines)
            else:
                self._show(text)
                self._shown = None
            self._complete(text)

    def _show(self, text: str) -> None:
        """Write as much of an incomplete line as there is by now."""
        if self._shown is None:
            if not text:
                return
            self._writer.code_line(text, first=not self._lines)
        else:
            self._writer.go_on_code_line(self._shown, text[len(self._shown) :])
        self._shown = text

    def _complete(self, line: str) -> None:
        """Note a line that is written, and colour it by itself until the whole is coloured."""
        self._lines.append(line)
        self._length += len(line) + 1
        if self._length <= COLOURED and len(line) <= PIECE and lexer_loaded(self._language):
            first = self._writer.cursor.block().position()
            source = (line, self._language)
            job = Highlight(self._writer.document, first, source, self._writer.look)
            job.step(len(line) + 1)

    def _note(self) -> None:
        shown = [] if self._shown is None else [self._shown]
        text = "\n".join(self._lines + shown)
        last = self._writer.cursor.position()
        self._writer.built.code[-1] = CodeFrame(self._first, last, self._language, text)

    def _close(self) -> None:
        self._writer.built.code.pop()
        self._writer.close_code(self._first, "\n".join(self._lines), self._language)


def closing_of(markup: str) -> re.Pattern[str]:
    """What a line looks like that closes a fence opened with these marks."""
    return re.compile(rf" {{0,3}}{re.escape(markup[0])}{{{len(markup)},}}[ \t]*")


def _without_indent(line: str, indent: int) -> str:
    """A line without up to `indent` columns of the space it starts with."""
    columns = at = 0
    while at < len(line) and columns < indent and line[at] in " \t":
        columns += 1 if line[at] == " " else _TAB - columns % _TAB
        at += 1
    return " " * (columns - indent) + line[at:]
