"""A table's tokens as rows of cells, and what its columns need."""

from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it.token import Token

_LONG = 200  # px at zoom 1: a wider text may wrap
_NARROWEST = 160  # px at zoom 1 of a column in which texts wrap
_MEASURED = 80  # characters that are certainly wider than that


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a cell, and to which side ("left", "center", "right" or "")."""

    inside: Token
    side: str


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a table, the head first, and the place of its closing token."""

    rows: tuple[tuple[Cell, ...], ...]
    end: int

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return len(self.rows[0])


def read_table(tokens: Sequence[Token], at: int) -> Table:
    """The table that opens at a token."""
    rows: list[list[Cell]] = []
    end = at
    while tokens[end].type != "table_close":
        token = tokens[end]
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            side = str(token.attrs.get("style", "")).removeprefix("text-align:")
            rows[-1].append(Cell(tokens[end + 1], side))
        end += 1
    return Table(tuple(tuple(row) for row in rows), end)


def is_long(width: float, zoom: float) -> bool:
    """Whether a text this wide, in px, may wrap; a shorter one stays on one line."""
    return width > _LONG * zoom


def certainly_long(text: str) -> bool:
    """Whether a text need not be measured to know that it may wrap."""
    return len(text) > _MEASURED


def head_padding(width: float, zoom: float) -> int:
    """What the head of a column of wrapping texts lacks to keep it readable, in px."""
    return max(0, round(_NARROWEST * zoom - width))
