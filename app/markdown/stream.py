"""Markdown that is still being written: closed blocks stand, only the tail is built again."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from markdown_it.token import Token
from PySide6.QtGui import QTextDocument

from app.markdown.builder import editing, start
from app.markdown.built import Built
from app.markdown.fence import OpenFence, closing_of
from app.markdown.formats import Formats
from app.markdown.look import Look
from app.markdown.openlist import OpenList, standing_items
from app.markdown.opentable import OpenTable, TypedTable, open_table
from app.markdown.parsing import Addresses, clean, parse
from app.markdown.plain import text_between
from app.markdown.writer import Seam

_CLOSED_AT_ONCE = ("heading_close", "hr")
_CLOSED_BY_EMPTY_LINE = ("paragraph_close", "table_close", "math_block")


@dataclass(slots=True)
class Effort:
    """What a stream has done so far, in characters: what tests and benches count."""

    parsed: int = 0
    removed: int = 0
    rebuilt: int = 0


class MarkdownStream:
    """Builds a document from text that comes in pieces.

    After every `append` the document shows the text so far, but for a large table that is still
    open: Qt lays all of it out again for every cell, so its rows come some at a time. After
    `finish` it equals what `MarkdownBuilder.fill` makes of the whole. Inside an open fence it only
    ever appends.
    `built` is of the document as it is; its `plain` is set by `finish`.
    """

    def __init__(self, document: QTextDocument, look: Look) -> None:
        self.built = Built()
        self.effort = Effort()
        self._document = document
        self._formats = Formats(look)
        self._writer = start(document, self._formats, self.built)
        self._origin = self._seam = self._writer.seam()
        self._pieces: list[str] = []
        self._held = ""  # half a line end
        self._tail = ""  # the source after the seam
        self._addresses: Addresses = {}
        self._fence: OpenFence | None = None
        self._list: OpenList | None = None
        self._literal: str | None = None  # of a long paragraph, as it stands
        self._table: OpenTable | TypedTable | None = None
        self._waits = 0  # so many pieces are not shown before the table is built again
        self._held_back = False  # the end of the source is not shown as yet
        self._waiting_line = False  # a line ended in what is held back

    @property
    def source(self) -> str:
        """All that was appended, cleaned."""
        return "".join(self._pieces)

    def append(self, text: str) -> None:
        """Show more of the text."""
        text = self._held + text
        self._held = text[-1:] if text.endswith("\r") else ""
        self._take(clean(text[: len(text) - len(self._held)]))

    def finish(self) -> Built:
        """The text is complete: bring the document into its final state."""
        if self._held:
            self._take("\n")
            self._held = ""
        with editing(self._writer):
            if self._held_back:
                self._go_on(new_line=True)
            if self._fence is not None:
                self._fence.end(self._tail)
                self._fence, self._tail = None, ""
            if self._names_addresses():
                self._rebuild()
        self.built.plain = text_between(self._document)
        return self.built

    def _names_addresses(self) -> bool:
        """Whether any link may have been shown before its address was known."""
        if "]:" in self._tail:  # the last line may name one too
            self._parse(self._tail, learn=True)
        return bool(self._addresses)

    def _take(self, text: str) -> None:
        if not text:
            return
        self._pieces.append(text)
        self._tail += text
        new_line = self._waiting_line or "\n" in text
        if self._waits and "\n\n" not in self._tail[-len(text) - 1 :]:
            self._waits, self._waiting_line = self._waits - 1, new_line
            self._held_back = True
            return
        with editing(self._writer):
            self._go_on(new_line=new_line)

    def _go_on(self, *, new_line: bool) -> None:
        """Show what the tail says by now."""
        self._waits, self._waiting_line, self._held_back = 0, False, False
        if self._literal is not None and not new_line:
            self._go_on_literal(self._tail.strip())
            return
        while self._fence is None or self._feed(self._fence):
            self._show(new_line=new_line)
            if self._fence is None:
                return
            new_line = True

    def _feed(self, fence: OpenFence) -> bool:
        """Hand the tail to the open fence; whether it closed and something is left to show."""
        self._tail, closed = fence.feed(self._tail)
        if closed:
            self._fence = None
            self._seam = self._writer.seam()
        return closed and self._tail != ""

    # -- the tail ------------------------------------------------------------------------

    def _show(self, *, new_line: bool) -> None:
        """Build the tail again, and move the seam behind the blocks that are closed."""
        if self._table is not None and self._grow_table(self._table):
            return
        complete = self._tail[: self._tail.rfind("\n") + 1]
        whole = self._parse(complete, learn=True) if new_line else []
        shown = whole if complete == self._tail else self._parse(self._tail)
        opens = is_open_fence(whole, complete)
        if self._list is not None and not self._list.goes_on(whole if opens else shown):
            self._leave_list(self._list)
            self._show(new_line=True)
        elif opens:
            self._open_fence(whole)
        else:
            seams = self._write(shown)
            if new_line:  # only whole lines decide what is closed
                self._move_seam(whole, shown, seams)
            self._literal = _literal_of(shown, self._tail)
            self._table = open_table(self._writer, self._seam, shown, self._tail)
            self._waits = self._table.pieces_to_wait if self._table is not None else 0

    def _grow_table(self, table: OpenTable | TypedTable) -> bool:
        """Show the table at the end as the tail says; whether it is all, or all but what follows.

        An empty line closes it: what stands is left, and the rest is shown after it.
        """
        self._table = None
        head = len(self._tail) - len(self._tail.lstrip("\n"))
        end = self._tail.find("\n\n", head) + 1
        if not table.grow(self._tail[:end] if end else self._tail, self._parse):
            return False
        if end:
            self._seam, self._tail = self._writer.seam(), self._tail[end:]
            self._show(new_line=True)
        else:
            self._table = table
            self._waits = table.pieces_to_wait
        return True

    def _move_seam(
        self, whole: Sequence[Token], shown: Sequence[Token], seams: Sequence[Seam]
    ) -> None:
        closed = closed_blocks(whole, self._tail[: self._tail.rfind("\n") + 1])
        if closed.blocks:
            self._seam, self._list = seams[closed.blocks - 1], None
            self._tail = _after_lines(self._tail, closed.lines)
            return
        items = standing_items(whole, shown)
        if items is None:
            return
        rest = _after_lines(self._tail, items.lines)
        source = self._tail.removesuffix(rest)
        if self._list is None:
            self._list = OpenList(self._seam, source, items.items, items.opened)
        else:
            count = self._list.items + items.items
            self._list = replace(self._list, source=self._list.source + source, items=count)
        self._seam, self._tail = self._writer.item_seams[items.items - 1], rest

    def _leave_list(self, standing: OpenList) -> None:
        """Take a list back as a whole: its later items change how the earlier ones look."""
        self._seam, self._tail = standing.before, standing.source + self._tail
        self._list = None

    def _open_fence(self, tokens: Sequence[Token]) -> None:
        """Write what stands before an open fence, and then only append to it."""
        token = tokens[-1]
        line, _end = token.map or (0, 0)
        self._write(tokens[:-1])
        self._literal = self._list = None
        opening = self._tail.split("\n", line + 1)[line]
        self._fence = OpenFence(self._writer, token, opening)
        self._tail = _after_lines(self._tail, line + 1)

    def _parse(self, source: str, *, learn: bool = False) -> list[Token]:
        self.effort.parsed += len(source)
        tokens, addresses = parse(source, self._addresses)
        if learn:
            self._addresses = addresses
        return tokens

    def _write(self, tokens: Sequence[Token]) -> list[Seam]:
        """Write the tail's blocks; a long paragraph that only grew stays where it stands."""
        text = _literal_of(tokens[:3])
        if self._literal is not None and text is not None and text.startswith(self._literal):
            self._go_on_literal(text)
            return [self._writer.seam(), *self._writer.write(tokens[3:])]
        self.effort.removed += self._writer.resume(self._seam)
        return self._writer.write(tokens)

    def _go_on_literal(self, text: str) -> None:
        """Append to the long paragraph at the end, so that it says `text`."""
        shown = self._literal or ""
        self._writer.go_on_literal(shown[shown.rfind("\n") + 1 :], text[len(shown) :])
        self._literal = text

    def _rebuild(self) -> None:
        """Build everything again: an address may have come after the link that names it."""
        self.effort.rebuilt += 1
        tokens, _addresses = parse(self.source)
        self.effort.removed += self._writer.resume(self._origin)
        self._writer.write(tokens)


@dataclass(frozen=True, slots=True)
class Closed:
    """How many top-level blocks no later text can change, and their lines."""

    blocks: int
    lines: int


def closed_blocks(tokens: Sequence[Token], source: str) -> Closed:
    """The blocks of complete lines that are closed: all before the last, or that one too."""
    starts = [n for n, token in enumerate(tokens) if token.level == 0 and token.nesting >= 0]
    if not starts:
        return Closed(0, 0)
    last = tokens[starts[-1]]
    first_line, end_line = last.map or (0, 0)
    if _is_closed(last, tokens[-1], source.split("\n")[first_line:-1]):
        return Closed(len(starts), end_line)
    return Closed(len(starts) - 1, first_line)


def _is_closed(opening: Token, closing: Token, lines: Sequence[str]) -> bool:
    """Whether the last block is closed; `lines` are the source from its first on."""
    first, end = opening.map or (0, 0)
    if closing.type in _CLOSED_BY_EMPTY_LINE:
        return end - first < len(lines) and not lines[end - first].strip()
    if closing.type == "fence":
        return closing_of(closing.markup).fullmatch(lines[end - first - 1]) is not None
    return closing.type in _CLOSED_AT_ONCE


def is_open_fence(tokens: Sequence[Token], source: str) -> bool:
    """Whether complete lines end inside a fence that stands in no list and no quote."""
    if not tokens or tokens[-1].type != "fence":
        return False
    first, end = tokens[-1].map or (0, 0)
    last = source.split("\n")[end - 1]
    return end - first == 1 or not closing_of(tokens[-1].markup).fullmatch(last)


def _literal_of(tokens: Sequence[Token], source: str | None = None) -> str | None:
    """The text of a long paragraph if the tokens are one, and the source is nothing else."""
    if len(tokens) != 3 or tokens[1].type != "literal" or tokens[0].type != "paragraph_open":
        return None
    text = tokens[1].content
    return text if source is None or text == source.strip() else None


def _after_lines(source: str, lines: int) -> str:
    """The source without its first lines."""
    return source.split("\n", lines)[lines] if lines else source
