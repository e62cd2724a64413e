"""Writes tokens into a document through one cursor, and notes what stands where.

Between two top-level blocks the writer can be left (`seam`) and taken up again (`resume`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from markdown_it.token import Token
from PySide6.QtGui import QFont, QTextBlockFormat, QTextCursor, QTextDocument

from app.markdown import formats as make
from app.markdown.built import CONTINUES, Built, CodeFrame, Quote
from app.markdown.formats import MARKER_GAP, Base, Formats, Place
from app.markdown.highlight import Highlight, lexer_loaded
from app.markdown.nesting import (
    Around,
    Kind,
    ListAround,
    QuoteAround,
    gap_above,
    insets,
    list_opened,
    next_marker,
    quote_opened,
    task_glyph,
)
from app.markdown.pieces import code_pieces, prose_pieces
from app.markdown.runs import LINE_BREAK, PLAIN, Run, runs_of, text_of, without_box
from app.markdown.scripts import direction_of, stands_tall
from app.markdown.tables import read_table
from app.markdown.tablewriter import WrittenTable

_AT_ONCE = 1_500  # characters of code that are coloured while it is built
_LANGUAGE_END = re.compile(r"[\s{,]")


def language_of(info: str) -> str:
    """The language a fence names: `python`, also of `python {1,3}` or `{.python}`."""
    return _LANGUAGE_END.split(info.strip().removeprefix("{.").removesuffix("}"), maxsplit=1)[0]


@dataclass(frozen=True, slots=True)
class Seam:
    """A place between two top-level blocks, or two items of a top-level list, `around`.

    What stands before it is not touched again.
    """

    position: int
    kind: Kind
    fresh: bool
    block: QTextBlockFormat
    marks: tuple[int, ...]
    around: tuple[ListAround, ...]


class Writer:
    """Writes blocks at the end of a document."""

    def __init__(self, document: QTextDocument, formats: Formats, built: Built) -> None:
        self.document = document
        self.formats = formats
        self.look = formats.look
        self.built = built
        self.cursor = QTextCursor(document)
        self._kind: Kind = ""
        self._fresh = True  # the cursor stands in an empty block that the next one takes over
        self._around: list[Around] = []
        self._marker: str = ""
        self._is_task = False
        self._is_first = True  # nothing of this writing is closed yet
        self._quoted = 0
        self.last_table: WrittenTable | None = None
        self.item_seams: list[Seam] = []  # after each item of the list that was written first

    # -- seams ---------------------------------------------------------------------------

    def seam(self) -> Seam:
        """The place where the writer stands now."""
        block = make.filler() if self._fresh else self.cursor.blockFormat()
        around = tuple(replace(outer) for outer in self._around if isinstance(outer, ListAround))
        place = (self.cursor.position(), self._kind, self._fresh)
        return Seam(*place, block, self.built.marks(), around)

    def resume(self, seam: Seam) -> int:
        """Take away all that was written after a seam; how many characters it was."""
        self.cursor.setPosition(seam.position)
        self.cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        removed = self.cursor.selectionEnd() - self.cursor.selectionStart()
        if removed:
            self.cursor.removeSelectedText()
        self.cursor.setBlockFormat(seam.block)  # an empty block takes that of what is removed
        self._kind, self._fresh = seam.kind, seam.fresh
        self._around = [replace(outer) for outer in seam.around]
        self.built.cut(seam.marks)
        return removed

    # -- tokens --------------------------------------------------------------------------

    def write(self, tokens: Sequence[Token]) -> list[Seam]:
        """Write top-level tokens; the seam after each of their blocks.

        After `resume` at a seam between items they begin with the rest of the list.
        """
        seams = []
        self.item_seams = []
        self._is_first = True
        at = len(self._around)
        while at < len(tokens):
            token = tokens[at]
            if token.type == "table_open":
                at = self._table(tokens, at)
            else:
                self._write_token(tokens, at)
            if tokens[at].level == 0 and tokens[at].nesting <= 0:
                seams.append(self.seam())
                self._is_first = False
            at += 1
        return seams

    def _write_token(self, tokens: Sequence[Token], at: int) -> None:
        token = tokens[at]
        match token.type:
            case "inline" | "literal":
                self._paragraph(tokens, at)
            case "fence" | "code_block":
                self.code(token.content.removesuffix("\n"), language_of(token.info))
            case "math_block":
                self._math(token.content)
            case "hr":
                self._rule()
            case "bullet_list_open" | "ordered_list_open":
                self._around.append(list_opened(tokens, at, self._around))
            case "list_item_open":
                self._open_item(tokens, at)
            case "blockquote_open":
                self._around.append(quote_opened(tokens, at))
                self._quoted += 1
            case _ if token.nesting < 0:
                self._close(token)

    def _close(self, token: Token) -> None:
        match token.type:
            case "list_item_close":
                self._flush_marker()
                if token.level == 1 and self._is_first:
                    self.item_seams.append(self.seam())
            case "bullet_list_close" | "ordered_list_close":
                self._around.pop()
            case "blockquote_close":
                self._close_quote()

    def _open_item(self, tokens: Sequence[Token], at: int) -> None:
        self._flush_marker()
        inner = self._around[-1]
        assert isinstance(inner, ListAround)
        glyph = task_glyph(tokens, at)
        self._is_task = bool(glyph)
        self._marker = next_marker(inner, glyph)

    def _close_quote(self) -> None:
        quote = self._around.pop()
        self._quoted -= 1
        if not isinstance(quote, QuoteAround) or quote.first < 0:
            return
        last = self.cursor.position() - (1 if self._fresh else 0)
        left, right = insets(self._around, "rtl" if quote.from_right else "ltr")
        inset = self.look.px(right if quote.from_right else left)
        self.built.quotes.append(Quote(quote.first, last, inset, quote.from_right))

    # -- blocks of text ------------------------------------------------------------------

    def _body(self) -> Base:
        return self.formats.quoted if self._quoted else self.formats.body

    def _paragraph(self, tokens: Sequence[Token], at: int) -> None:
        """A paragraph or heading: what is inside an opening token."""
        token, opening = tokens[at], tokens[at - 1]
        if token.type == "literal":
            self.literal(token.content)
            return
        runs = runs_of(token, keep_breaks=self.look.keep_breaks)
        if self._is_task and self._marker:
            runs = without_box(runs)
        base, level = self._body(), 0
        if opening.type == "heading_open":
            level = int(opening.tag[1])
            base = self.formats.heading(level, quoted=self._quoted > 0)
        self._start_block(text_of(runs), base, level)
        self.write_runs(runs, base)

    def _start_block(self, text: str, base: Base, level: int = 0) -> None:
        """A new block for a text, after its list's marker if one is due."""
        direction = direction_of(text) or "ltr"
        kind: Kind = "heading" if level else "text"
        left, right = (self.look.px(inset) for inset in insets(self._around, direction))
        hanging, gap = self._marker_place(direction, left, right)
        place = Place(self._gap(kind), left, right, hanging, direction)
        made = make.block(base.face.line, place, tall=stands_tall(text))
        if level:
            make.heading_level(made, level)
        if self._quoted:
            make.quote_level(made, self._quoted)
        self._insert_block(made, kind)
        if self._marker:
            marker, self._marker = self._marker, ""
            face = self._marker_font(marker)
            self.cursor.insertText(marker, make.characters(face, self.look.ink3))
            self.cursor.insertText(" ", make.spacer(face, gap, self.look.ink3))

    def _marker_place(self, direction: str, left: int, right: int) -> tuple[int, float]:
        """How far the first line hangs out for its marker, and the gap after that."""
        if not self._marker:
            return 0, 0.0
        gap = float(self.look.px(MARKER_GAP))
        lists = [n for n, outer in enumerate(self._around) if isinstance(outer, ListAround)]
        inner = insets(self._around[: lists[-1] + 1], "rtl" if direction == "rtl" else "ltr")
        inside = (left, right) if direction != "rtl" else (right, left)
        edge = self.look.px(inner[1] if direction == "rtl" else inner[0])
        gap += max(0, inside[0] - edge)  # a quote stands between
        width = self.formats.advance(self._marker, self._marker_font(self._marker))
        hanging = min(round(width + gap), inside[0])
        return hanging, hanging - width

    def _marker_font(self, marker: str) -> QFont:
        return self.look.body.font if marker[0].isdigit() else self.look.signs

    def _gap(self, kind: Kind) -> int:
        return self.look.px(gap_above(kind, self._kind, self._around))

    def _insert_block(self, made: QTextBlockFormat, kind: Kind) -> None:
        if self._fresh:
            self.cursor.setBlockFormat(made)
            self.cursor.setBlockCharFormat(self.formats.plain(self._body()))
        else:
            self.cursor.insertBlock(made, self.formats.plain(self._body()))
        self._fresh = False
        self.touch(kind)

    def touch(self, kind: Kind) -> None:
        """Note that something of this kind now stands last."""
        self._kind = kind
        for outer in self._around:
            if isinstance(outer, ListAround):
                outer.untouched = False
            elif outer.first < 0:
                outer.first = self.cursor.position()

    def _flush_marker(self) -> None:
        """The marker of an item that has no text of its own to begin with."""
        if self._marker:
            self._start_block("", self._body())
        self._is_task = False

    def write_runs(self, runs: Sequence[Run], base: Base) -> None:
        """Text in the block where the cursor stands."""
        for number, run in enumerate(runs):
            first = self.cursor.position()
            if run.style.code:
                self.cursor.insertText(run.text, self.formats.of(run, base))
                self.built.inline_code.append((first, self.cursor.position()))
            else:
                after_code = number > 0 and runs[number - 1].style.code
                before_code = number + 1 < len(runs) and runs[number + 1].style.code
                self._insert_beside(run, base, after_code, before_code)
            if run.style.url:
                self._note_link(first, run.style.url)

    def _insert_beside(self, run: Run, base: Base, *beside: bool) -> None:
        """A run whose outer spaces are wider where inline code stands beside it."""
        text = run.text
        wide = self.formats.of(run, base, self.look.px(make.BESIDE_CODE))
        if beside[0] and text.startswith(" "):
            self.cursor.insertText(" ", wide)
            text = text[1:]
        ends = beside[1] and text.endswith(" ")
        self.cursor.insertText(text[:-1] if ends else text, self.formats.of(run, base))
        if ends:
            self.cursor.insertText(" ", wide)

    def _note_link(self, first: int, url: str) -> None:
        links = self.built.links
        if links and links[-1][1] == first and links[-1][2] == url:
            first = links.pop()[0]
        links.append((first, self.cursor.position(), url))

    def literal(self, text: str) -> None:
        """A long paragraph as typed, in pieces that are laid out one by one."""
        base = self._body()
        style = self.formats.plain(base)
        for number, line in enumerate(text.split("\n")):
            for part, piece in enumerate(prose_pieces(line)):
                if number or part:
                    self._go_on_block(base, continues=part > 0)
                else:
                    self._start_block(line[:200], base)
                self.cursor.insertText(piece, style)

    def go_on_literal(self, last: str, text: str) -> None:
        """Append to the last line, `last`, of a paragraph that `literal` wrote."""
        base = self._body()
        style = self.formats.plain(base)
        for number, line in enumerate((last + text).split("\n")):
            pieces = prose_pieces(line)
            old = prose_pieces(last) if number == 0 else []
            if old:
                pieces = [pieces[len(old) - 1][len(old[-1]) :], *pieces[len(old) :]]
            for part, piece in enumerate(pieces):
                if part or number:
                    self._go_on_block(base, continues=part > 0)
                self.cursor.insertText(piece, style)

    def _go_on_block(self, base: Base, *, continues: bool) -> None:
        made = QTextBlockFormat(self.cursor.blockFormat())
        made.setTopMargin(0)
        made.setTextIndent(0)
        if continues:
            made.setProperty(CONTINUES, True)
        else:
            made.clearProperty(CONTINUES)
        self.cursor.insertBlock(made, self.formats.plain(base))

    def _math(self, text: str) -> None:
        base = self.formats.math
        self._start_block("a", base)
        self.write_runs([Run(text.replace("\n", LINE_BREAK), PLAIN)], base)

    def _rule(self) -> None:
        self._flush_marker()
        if self._kind == "frame":
            self._fresh = False  # Qt puts an empty block right after a table beside it
        left, right = (self.look.px(inset) for inset in insets(self._around, "ltr"))
        self._insert_block(
            make.block(self.look.px(1), Place(self._gap("rule"), left, right)), "rule"
        )
        self.built.rules.append(self.cursor.position())

    # -- frames --------------------------------------------------------------------------

    def code(self, text: str, language: str) -> None:
        """A block of code, coloured at once if it is short and the lexer is there."""
        first = self.open_code()
        self._write_code(text)
        self.close_code(first, text, language)

    def open_code(self) -> int:
        """Begin a frame of code; the position of its text. The cursor stands in it."""
        self.cursor.insertFrame(make.code_frame(self.look, self.frame_place()))
        self.cursor.setBlockFormat(self.formats.code_line)
        self.cursor.setBlockCharFormat(self.formats.code)
        self._fresh = False
        self.touch("frame")
        return self.cursor.position()

    def _write_code(self, text: str) -> None:
        lines = text.split("\n")
        if max(map(len, lines)) <= len(code_pieces(text)[0]):
            self.cursor.insertText(text, self.formats.code)
            return
        for number, line in enumerate(lines):
            self.code_line(line, first=number == 0)

    def code_line(self, line: str, *, first: bool) -> None:
        """A line of code, in the block where the cursor stands if it is the frame's first."""
        for part, piece in enumerate(code_pieces(line)):
            if part or not first:
                self.cursor.insertBlock(self._line_format(continues=part > 0), self.formats.code)
            self.cursor.insertText(piece, self.formats.code)

    def go_on_code_line(self, shown: str, more: str) -> None:
        """Append `more` to the last line of code, of which `shown` stands there already."""
        old, new = code_pieces(shown), code_pieces(shown + more)
        self.cursor.insertText(new[len(old) - 1][len(old[-1]) :], self.formats.code)
        for piece in new[len(old) :]:
            self.cursor.insertBlock(self._line_format(continues=True), self.formats.code)
            self.cursor.insertText(piece, self.formats.code)

    def _line_format(self, *, continues: bool) -> QTextBlockFormat:
        if continues:
            return make.code_line(self.look.code.line, continues=True)
        return self.formats.code_line

    def close_code(self, first: int, text: str, language: str) -> None:
        """End a frame of code: note it, and have it coloured."""
        self.built.code.append(CodeFrame(first, self.cursor.position(), language, text))
        self.leave_frame()
        job = Highlight(self.document, first, (text, language), self.look)
        if len(text) <= _AT_ONCE and lexer_loaded(language):
            job.step(len(text) + 1)
        if not job.is_done:
            self.built.pending.append(job)

    def frame_place(self) -> Place:
        """Where a frame stands; the empty block before it, if there is one, gets no height."""
        self._flush_marker()
        left, right = (self.look.px(inset) for inset in insets(self._around, "ltr"))
        if self._fresh:
            self.cursor.setBlockFormat(make.filler())
        return Place(self._gap("frame"), left, right)

    def leave_frame(self) -> None:
        """Step out of the frame that the cursor stands at the end of."""
        self.cursor.setPosition(self.cursor.currentFrame().lastPosition())
        self.cursor.movePosition(QTextCursor.MoveOperation.NextCharacter)
        self.cursor.setBlockFormat(make.filler())
        self._fresh = True

    def _table(self, tokens: Sequence[Token], at: int) -> int:
        """A table; the place of its closing token."""
        table = read_table(tokens, at)
        self.last_table = WrittenTable(self, table)
        return table.end
