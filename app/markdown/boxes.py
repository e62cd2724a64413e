"""Where the view paints under a built document: rectangles and lines in the document's px.

The document must be laid out at the view's width. Each function works for one thing at a time,
so that a view asks only for what is on screen.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QRectF
from PySide6.QtGui import (
    QTextBlock,
    QTextCursor,
    QTextDocument,
    QTextFrame,
    QTextLine,
    QTextTable,
)

from app.markdown.built import CodeFrame, Quote, Span, TableFrame
from app.markdown.formats import BESIDE_CODE, CELL_PADDING, HEAD, SIDE
from app.markdown.look import Look

_CODE_ABOVE = 15  # from the baseline to the top of inline code's box, in reading text
_CODE_HEIGHT = 20
_RULE = 2


@dataclass(frozen=True, slots=True)
class TableBox:
    """A table's rectangle, as wide as its cells, and the tops of its rows after the first."""

    rect: QRectF
    row_tops: tuple[float, ...]


def code_box(document: QTextDocument, code: CodeFrame, look: Look) -> QRectF:
    """The box of a block of code, its head of `HEAD` px at zoom 1 included.

    It is as wide as the column allows; `content_width` says how wide the code itself is.
    """
    return _frame_rect(document, QTextCursor(document.findBlock(code.first)).currentFrame(), look)


def content_width(document: QTextDocument, code: CodeFrame) -> float:
    """The width of the longest line of code: if the box is narrower, the view scrolls it."""
    return widest_line(document, (code.first, code.last))[0]


def widest_line(document: QTextDocument, span: Span) -> tuple[float, int]:
    """The width of the longest line from one position to another, and where the last one begins.

    The first hidden line ends it: code is folded from a line on.
    """
    widest, (at, last) = 0.0, span
    block = document.findBlock(at)
    while block.isValid() and block.position() <= last and block.isVisible():
        widest, at = max(widest, block.layout().boundingRect().width()), block.position()
        block = block.next()
    return widest, at


def table_box(document: QTextDocument, table: TableFrame, look: Look) -> TableBox:
    """The box of a table; wider than the document's text if its cells need it."""
    frame: QTextTable | None = QTextCursor(document.findBlock(table.first)).currentTable()
    assert frame is not None
    tops = []
    for row in range(1, table.rows):
        block = frame.cellAt(row, 0).firstCursorPosition().block()
        tops.append(_block_rect(document, block).top() - look.px(CELL_PADDING[0]))
    return TableBox(_table_rect(document, frame, look), tuple(tops))


def table_columns(document: QTextDocument, table: TableFrame) -> tuple[float, ...]:
    """The left edges of a table's columns and its right one; and where it stands."""
    frame: QTextTable | None = QTextCursor(document.findBlock(table.first)).currentTable()
    assert frame is not None
    heads = [frame.cellAt(0, column).firstCursorPosition() for column in range(table.columns)]
    rects = [_block_rect(document, head.block()) for head in heads]
    return (*(rect.left() for rect in rects), rects[-1].right(), rects[0].top())


def inline_code_boxes(document: QTextDocument, span: Span, look: Look) -> list[QRectF]:
    """The boxes behind inline code, one a line it stands on."""
    first, last = span
    block = document.findBlock(first)
    origin = _block_rect(document, block).topLeft()
    beside = look.px(BESIDE_CODE)
    boxes = []
    for line, start, end in _lines(block, first - block.position(), last - block.position()):
        sides = sorted((_x(line.cursorToX(start)), _x(line.cursorToX(end))))
        base = origin.y() + line.y() + line.ascent()
        top = round(base - look.px(_CODE_ABOVE))
        left, right = origin.x() + sides[0] - beside, origin.x() + sides[1] + beside
        boxes.append(QRectF(left, top, right - left, look.px(_CODE_HEIGHT)))
    return boxes


def quote_rule(document: QTextDocument, quote: Quote, look: Look) -> QRectF:
    """The rule beside a quotation."""
    top, _bottom = _extent(document, document.findBlock(quote.first), look)
    _top, bottom = _extent(document, document.findBlock(quote.last), look)
    left = float(quote.inset)
    if quote.from_right:
        left = document.textWidth() - quote.inset - look.px(_RULE)
    return QRectF(left, top, look.px(_RULE), bottom - top)


def rule_box(document: QTextDocument, position: int) -> QRectF:
    """The line of a thematic break, as wide as its block and 1 px high at zoom 1."""
    block = document.findBlock(position)
    form = block.blockFormat()
    left, top = form.leftMargin(), _block_rect(document, block).top()
    width = document.textWidth() - left - form.rightMargin()
    return QRectF(left, top, width, form.lineHeight())


def _frame_rect(document: QTextDocument, frame: QTextFrame, look: Look) -> QRectF:
    bounds, form = document.documentLayout().frameBoundingRect(frame), frame.frameFormat()
    side, head = look.px(SIDE), look.px(HEAD)
    left, top = form.leftMargin() - side, bounds.top() + form.topMargin() - head
    right = document.textWidth() - form.rightMargin() + side
    return QRectF(left, top, right - left, bounds.bottom() - form.bottomMargin() - top)


def _table_rect(document: QTextDocument, table: QTextTable, look: Look) -> QRectF:
    """Qt gives a table's size with its margins, but as its place that of the first text."""
    size, form = document.documentLayout().frameBoundingRect(table).size(), table.frameFormat()
    first = _block_rect(document, table.cellAt(0, 0).firstCursorPosition().block()).topLeft()
    return QRectF(
        first.x() - look.px(CELL_PADDING[1]),
        first.y() - look.px(CELL_PADDING[0]),
        size.width() - form.leftMargin() - form.rightMargin(),
        size.height() - form.topMargin() - form.bottomMargin(),
    )


def _extent(document: QTextDocument, block: QTextBlock, look: Look) -> tuple[float, float]:
    """Where a block begins and ends, line height included, or the box that it stands in."""
    cursor = QTextCursor(block)
    table: QTextTable | None = cursor.currentTable()
    frame = cursor.currentFrame()
    if table is not None:
        rect = _table_rect(document, table, look)
    elif frame != document.rootFrame():
        rect = _frame_rect(document, frame, look)
    else:
        rect = _block_rect(document, block)
        lines = block.layout().lineCount() * block.blockFormat().lineHeight()
        rect.setHeight(max(rect.height(), lines))
    return rect.top(), rect.bottom()


def _lines(block: QTextBlock, first: int, last: int) -> Iterator[tuple[QTextLine, int, int]]:
    """The lines of a block that hold some of its positions `first` to `last`, and which."""
    layout = block.layout()
    for number in range(layout.lineCount()):
        line = layout.lineAt(number)
        start = max(first, line.textStart())
        end = min(last, line.textStart() + line.textLength())
        if start < end:
            yield line, start, end


def _x(place: object) -> float:
    """`cursorToX` gives a pair in some versions of PySide."""
    number = place[0] if isinstance(place, tuple) else place
    assert isinstance(number, float)
    return number


def _block_rect(document: QTextDocument, block: QTextBlock) -> QRectF:
    return document.documentLayout().blockBoundingRect(block)
