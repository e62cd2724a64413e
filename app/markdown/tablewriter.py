"""Writes a table into a document, at once or row after row."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextTable, QTextTableCellFormat

from app.markdown import formats as make
from app.markdown.built import TableFrame
from app.markdown.formats import Place
from app.markdown.runs import runs_of, text_of
from app.markdown.scripts import direction_of, stands_tall
from app.markdown.tables import Cell, Table, certainly_long, head_padding, is_long

if TYPE_CHECKING:
    from app.markdown.writer import Writer

_SIDES = {
    "left": Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute,
    "center": Qt.AlignmentFlag.AlignHCenter,
    "right": Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute,
}


class WrittenTable:
    """A table that stands in a document; while it is the last thing there its rows may change."""

    def __init__(self, writer: "Writer", table: Table) -> None:
        self._writer = writer
        made = make.table(writer.look, writer.frame_place())
        self._frame: QTextTable = writer.cursor.insertTable(len(table.rows), table.columns, made)
        writer.touch("frame")
        self._heads = table.rows[0]
        self._wraps: list[list[bool]] = []  # of each row: which of its cells may wrap
        self._marks: list[tuple[int, ...]] = []  # what was noted before each row
        self._paddings = [0] * table.columns  # of the head's cells, in px
        self._write_rows(table.rows)
        self._leave()

    @property
    def rows(self) -> int:
        """How many rows there are, the head among them."""
        return len(self._wraps)

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return len(self._heads)

    def replace_rows(self, first: int, rows: Sequence[Sequence[Cell]]) -> None:
        """Put rows in the place of all from `first` (at least 1) on."""
        writer = self._writer
        writer.built.cut(self._marks[first] if first < self.rows else writer.built.marks())
        if writer.built.tables and writer.built.tables[-1].first == self._frame.firstPosition():
            writer.built.tables.pop()
        del self._wraps[first:], self._marks[first:]
        self._remove_rows(first)
        if rows:
            self._frame.appendRows(len(rows))
            self._write_rows(rows)
        else:
            self._pad_heads()
        self._leave()

    def _remove_rows(self, first: int) -> None:
        """Take away all rows from `first` on."""
        if self._frame.rows() <= first:
            return
        before = self._frame.cellAt(first - 1, self.columns - 1).lastCursorPosition()
        block, letters = before.blockFormat(), before.blockCharFormat()
        self._frame.removeRows(first, self._frame.rows() - first)
        before.setBlockFormat(block)  # an empty block takes that of what is removed after it
        before.setBlockCharFormat(letters)

    def _write_rows(self, rows: Sequence[Sequence[Cell]]) -> None:
        """Fill rows that are there and empty, in reading order, or noted places would move."""
        start = self.rows
        self._wraps += [[self._may_wrap(cell) for cell in row] for row in rows]
        for number, row in enumerate(rows, start):
            self._marks.append(self._writer.built.marks())
            for column, cell in enumerate(row):
                self._write_cell((number, column), cell)
        self._pad_heads()

    def _leave(self) -> None:
        """Note the table, and step out of it."""
        first = self._frame.firstPosition()
        self._writer.cursor.setPosition(first)
        self._writer.leave_frame()
        size = (self.columns, self.rows)
        self._writer.built.tables.append(TableFrame(first, self._frame.lastPosition(), *size))

    def _may_wrap(self, cell: Cell) -> bool:
        text = cell.inside.content
        writer = self._writer
        font, zoom = writer.look.cell.font, writer.look.zoom
        return certainly_long(text) or is_long(writer.formats.advance(text, font), zoom)

    def _pad_heads(self) -> None:
        """A column in which texts wrap gets what its head lacks in width, others nothing."""
        for column, cell in enumerate(self._heads):
            padding = self._lack(cell) if any(wraps[column] for wraps in self._wraps) else 0
            if padding != self._paddings[column]:
                self._paddings[column] = padding
                self._frame.cellAt(0, column).setFormat(self._cell_format(cell, padding))

    def _lack(self, head: Cell) -> int:
        look = self._writer.look
        width = self._writer.formats.advance(head.inside.content[:80], look.cell.font)
        return head_padding(width, look.zoom)

    def _cell_format(self, cell: Cell, padding: int = 0) -> QTextTableCellFormat:
        sideways = (padding, 0) if cell.side == "right" else (0, padding)
        return make.cell(self._writer.look, *sideways)

    def _write_cell(self, place: tuple[int, int], cell: Cell) -> None:
        writer = self._writer
        base = writer.formats.cell if place[0] else writer.formats.cell_head
        runs = runs_of(cell.inside, keep_breaks=writer.look.keep_breaks)
        at = self._frame.cellAt(*place)
        at.setFormat(self._cell_format(cell))
        writer.cursor = at.firstCursorPosition()
        text = text_of(runs)
        made = make.block(
            base.face.line, Place(direction=direction_of(text) or "ltr"), tall=stands_tall(text)
        )
        made.setNonBreakableLines(not self._wraps[place[0]][place[1]])
        if cell.side in _SIDES:
            made.setAlignment(_SIDES[cell.side])
        writer.cursor.setBlockFormat(made)
        writer.write_runs(runs, base)
