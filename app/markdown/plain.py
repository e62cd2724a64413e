"""The text of a document as one would type it: for copying, find, and screen readers."""

from collections.abc import Iterator

from PySide6.QtGui import QTextBlock, QTextCursor, QTextDocument, QTextTable

from app.markdown.built import CONTINUES, FILLER
from app.markdown.runs import LINE_BREAK


def text_between(document: QTextDocument, first: int = 0, last: int | None = None) -> str:
    """The text between two document positions as one would type it.

    Long lines that were broken are whole again, cells of a row are parted by tabs.
    """
    last = document.characterCount() - 1 if last is None else last
    parts: list[str] = []
    before: QTextBlock | None = None
    for block in _blocks(document, first, last):
        text = block.text()
        if before is not None:
            parts.append(_between(before, block))
        start = max(0, first - block.position())
        parts.append(_cut(text, start, last - block.position()))
        before = block
    return "".join(parts).replace(LINE_BREAK, "\n")


def _blocks(document: QTextDocument, first: int, last: int) -> Iterator[QTextBlock]:
    block = document.findBlock(first)
    while block.isValid() and block.position() <= last:
        if not block.blockFormat().boolProperty(FILLER):
            yield block
        block = block.next()


def _cut(text: str, start: int, end: int) -> str:
    """Part of a block's text; `start` and `end` count as positions of a document do."""
    if text.isascii():
        return text[start:end]
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le", "replace")


def _between(before: QTextBlock, block: QTextBlock) -> str:
    """What stands between two blocks."""
    if block.blockFormat().boolProperty(CONTINUES):
        return ""
    table: QTextTable | None = QTextCursor(block).currentTable()
    if table is None or QTextCursor(before).currentTable() != table:
        return "\n"
    row, other = (table.cellAt(b.position()).row() for b in (block, before))
    return "\t" if row == other else "\n"
