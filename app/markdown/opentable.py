"""A top-level table that is still being written: its complete rows stand, the last one is redone."""

from collections.abc import Callable, Sequence

from markdown_it.token import Token

from app.markdown.parsing import MOST_CELLS
from app.markdown.tables import read_table
from app.markdown.tablewriter import WrittenTable

_HEADS = 2  # lines: the head, and the one of dashes below it


class OpenTable:
    """The table at the end of a document; `grow` it as long as the source is nothing else."""

    def __init__(self, written: WrittenTable, tokens: Sequence[Token], source: str) -> None:
        self._written = written
        self._before, _end = tokens[0].map or (0, 0)
        self._complete = self._rows_complete(source.split("\n"))

    @property
    def cells(self) -> int:
        """How many cells stand, the head's apart."""
        return (self._written.rows - 1) * self._written.columns

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


def open_table(
    written: WrittenTable | None, tokens: Sequence[Token], source: str
) -> OpenTable | None:
    """The table that tokens are, if the source ends in it and its first two lines are complete."""
    if written is None or not is_table(tokens) or "\n\n" in source.lstrip("\n"):
        return None
    first, _end = tokens[0].map or (0, 0)
    if source.count("\n") < first + _HEADS:
        return None
    return OpenTable(written, tokens, source)


def is_table(tokens: Sequence[Token]) -> bool:
    """Whether the tokens are one table and nothing else."""
    return sum(token.level == 0 for token in tokens) == 2 and tokens[0].type == "table_open"
