"""A top-level table that is still being written: its complete rows stand, the last one is redone.

One of too many cells is shown as typed, and only what came last is parsed, to see that it goes on.
"""

from collections.abc import Callable, Sequence

from markdown_it.token import Token

from app.markdown.parsing import MOST_CELLS, typed_table
from app.markdown.tables import read_table
from app.markdown.tablewriter import WrittenTable
from app.markdown.writer import Seam, Writer

_HEADS = 2  # lines: the head, and the one of dashes below it
_CELLS_A_PIECE = 20  # so many are laid out while one piece of text arrives
_CHARACTERS_A_PIECE = 2_000  # of a table that is shown as typed


class OpenTable:
    """The table at the end of a document; `grow` it as long as the source is nothing else."""

    def __init__(self, written: WrittenTable, tokens: Sequence[Token], source: str) -> None:
        self._written = written
        self._before, _end = tokens[0].map or (0, 0)
        self._complete = self._rows_complete(source.split("\n"))

    @property
    def pieces_to_wait(self) -> int:
        """For how many pieces it stands as it is: the more cells, the longer they are laid out."""
        return (self._written.rows - 1) * self._written.columns // _CELLS_A_PIECE

    def grow(self, source: str, parse: Callable[[str], Sequence[Token]]) -> bool:
        """Show what the source says by now, if all of it is still the table.

        `source` begins where it did before; only its head and the rows that are not complete are
        parsed. False when it is no longer a table, or one too large to be laid out.
        """
        lines = source.split("\n")
        start = self._before + _HEADS
        more = lines[start + self._complete :]
        tokens = parse("\n".join([*lines[self._before : start], *more]))
        if not is_table(tokens):
            return False
        rows = read_table(tokens, 0).rows[1:]
        if (self._complete + len(rows) + 1) * self._written.columns > MOST_CELLS:
            return False
        self._written.replace_rows(1 + self._complete, rows)
        self._complete = self._rows_complete(lines)
        return True

    def _rows_complete(self, lines: Sequence[str]) -> int:
        """How many rows after the head no later text can change: their lines have ended."""
        ended = len(lines) - 1 - self._before - _HEADS
        return max(0, min(ended, self._written.rows - 1))


class TypedTable:
    """A table at the end of a document, after a seam, that is too large to be laid out."""

    def __init__(self, writer: Writer, seam: Seam, tokens: Sequence[Token], source: str) -> None:
        self._writer = writer
        self._seam = seam
        self._before, _end = tokens[0].map or (0, 0)
        self._length = len(source)
        self._known = source.count("\n")  # lines of the source that no later text can change

    @property
    def pieces_to_wait(self) -> int:
        """For how many pieces it stands as it is."""
        return self._length // _CHARACTERS_A_PIECE

    def grow(self, source: str, parse: Callable[[str], Sequence[Token]]) -> bool:
        """Show what the source says by now; False when it is not certain to be all table."""
        lines = source.split("\n")
        start = self._before + _HEADS
        more = lines[max(start, self._known) :]
        tokens = parse("\n".join([*lines[self._before : start], *more]))
        if not is_table(tokens):
            return False
        rows = sum(token.type == "tr_open" for token in tokens) - 1
        end = max(start, self._known) + rows
        self._writer.resume(self._seam)
        self._writer.write([typed_table(lines[self._before : end], self._before)])
        self._known, self._length = len(lines) - 1, len(source)
        return True


def open_table(
    writer: Writer, seam: Seam, tokens: Sequence[Token], source: str
) -> OpenTable | TypedTable | None:
    """The table that tokens are, if the source ends in it and its first two lines are complete.

    The writer wrote it just now, after the seam.
    """
    if not tokens or "\n\n" in source.lstrip("\n"):
        return None
    first, _end = tokens[0].map or (0, 0)
    if source.count("\n") < first + _HEADS:
        return None
    if len(tokens) == 1 and tokens[0].meta.get("table"):
        return TypedTable(writer, seam, tokens, source)
    if writer.last_table is not None and is_table(tokens):
        return OpenTable(writer.last_table, tokens, source)
    return None


def is_table(tokens: Sequence[Token]) -> bool:
    """Whether the tokens are one table and nothing else."""
    return sum(token.level == 0 for token in tokens) == 2 and tokens[0].type == "table_open"
