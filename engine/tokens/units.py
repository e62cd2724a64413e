"""Text measured in UTF-16 code units, the specification's characters.

An emoji is two units; a text is never cut between them.
"""


def utf16_length(text: str) -> int:
    """Length in UTF-16 code units: what the specification calls characters."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf16_head(text: str, units: int) -> str:
    """The longest beginning of at most `units` UTF-16 code units, no pair cut in two."""
    head = text[: max(0, units)]
    while (excess := utf16_length(head) - units) > 0 and head:
        head = head[: -_fewest(excess)]
    return head


def utf16_tail(text: str, units: int) -> str:
    """The longest end of at most `units` UTF-16 code units, no pair cut in two."""
    tail = text[-units:] if units > 0 else ""
    while (excess := utf16_length(tail) - units) > 0 and tail:
        tail = tail[_fewest(excess) :]
    return tail


def _fewest(units: int) -> int:
    """How many characters must go at least, whatever they are, to lose this many units."""
    return (units + 1) // 2
