"""Markdown as readable plain text. Knows no Qt."""

from collections.abc import Sequence

from markdown_it.token import Token

from app.markdown.nesting import ListAround, list_opened, next_marker, task_glyph
from app.markdown.parsing import clean, parse
from app.markdown.runs import runs_of, text_of, without_box
from app.markdown.tables import read_table


def plain_text(text: str) -> str:
    """Markdown as readable plain text: what a document built from it says.

    For titles, search and copying. The cells of a table's row are parted by tabs.
    """
    tokens, _addresses = parse(clean(text))
    return text_of_tokens(tokens)


def text_of_tokens(tokens: Sequence[Token], *, keep_breaks: bool = True) -> str:
    """The text of parsed Markdown, a line break the author typed being one or a space."""
    return _Reader(tokens, keep_breaks=keep_breaks).read()


class _Reader:
    """Collects the lines of tokens."""

    def __init__(self, tokens: Sequence[Token], *, keep_breaks: bool) -> None:
        self._tokens = tokens
        self._keep_breaks = keep_breaks
        self._lines: list[str] = []
        self._lists: list[ListAround] = []
        self._marker = ""
        self._is_task = False

    def read(self) -> str:
        """All of it."""
        at = 0
        while at < len(self._tokens):
            if self._tokens[at].type == "table_open":
                at = self._read_table(at)
            else:
                self._read_token(at)
            at += 1
        return "\n".join(self._lines)

    def _read_token(self, at: int) -> None:
        token = self._tokens[at]
        match token.type:
            case "inline" | "literal":
                runs = runs_of(token, keep_breaks=self._keep_breaks)
                self._say(text_of(without_box(runs) if self._is_task else runs))
            case "math_block":
                self._say(token.content)
            case "fence" | "code_block" | "hr":
                self._flush_marker()
                self._say(token.content.removesuffix("\n"))
            case "bullet_list_open" | "ordered_list_open":
                self._lists.append(list_opened(self._tokens, at, self._lists))
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
            case "list_item_open":
                self._flush_marker()
                glyph = task_glyph(self._tokens, at)
                self._marker, self._is_task = next_marker(self._lists[-1], glyph), bool(glyph)
            case "list_item_close":
                self._flush_marker()

    def _read_table(self, at: int) -> int:
        self._flush_marker()
        table = read_table(self._tokens, at)
        for row in table.rows:
            runs = [runs_of(cell.inside, keep_breaks=self._keep_breaks) for cell in row]
            self._say("\t".join(map(text_of, runs)))
        return table.end

    def _say(self, text: str) -> None:
        self._lines.append(f"{self._marker} {text}" if self._marker else text)
        self._marker, self._is_task = "", False

    def _flush_marker(self) -> None:
        if self._marker:
            self._say("")
