"""Lines too long to lay out at once, broken into pieces. What is broken once stays so."""

PIECE = 2_000
"""A line of code is broken after so many characters."""

_SOON = 1_800  # from here a long paragraph breaks at the next space
_LATEST = 2_400


def code_pieces(line: str) -> list[str]:
    """A line of code in pieces; joined they are the line."""
    return [line[at : at + PIECE] for at in range(0, len(line), PIECE)] or [""]


def prose_pieces(line: str) -> list[str]:
    """A line of a long paragraph in pieces, at spaces if it has any; joined they are the line.

    Where a piece ends depends on nothing after it, so a longer line has the same pieces first.
    """
    made, start = [], 0
    while len(line) - start > _SOON:
        space = line.find(" ", start + _SOON, start + _LATEST)
        end = space + 1 if space >= 0 else start + _LATEST
        if end >= len(line):
            break
        made.append(line[start:end])
        start = end
    return [*made, line[start:]]
