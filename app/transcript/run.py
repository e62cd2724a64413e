"""A stretch of selectable text of an item: one document at a place, never loading anything."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFont,
    QFontMetricsF,
    QPainter,
    QPalette,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextOption,
)

from app.theme import Theme

MarkKind = Literal["selection", "hit", "current"]
WHOLE = 1 << 30
"""As the end of a mark: to the end of the text."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A painted range of a text, in document positions; `last` is not included."""

    first: int
    last: int
    kind: MarkKind


@dataclass(frozen=True, slots=True)
class Face:
    """How plain text is set: font, line height in px, colour."""

    font: QFont
    line: int
    color: QColor


def set_plain(document: QTextDocument, text: str, face: Face) -> None:
    """Fill a document with text as typed, every line `face.line` px high."""
    document.setUndoRedoEnabled(False)
    document.setDocumentMargin(0)
    document.setDefaultFont(face.font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    document.setDefaultTextOption(option)
    document.clear()
    cursor = QTextCursor(document)
    block = QTextBlockFormat()
    block.setLineHeight(face.line, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
    cursor.setBlockFormat(block)
    letters = QTextCharFormat()
    letters.setForeground(face.color)
    cursor.setCharFormat(letters)
    cursor.insertText(text, letters)


class Run:
    """A laid-out document at `origin` of its item, cut at `shown` px of height when folded.

    Positions are those of the document (UTF-16 units). Whoever owns a run calls `drop`.
    """

    def __init__(self, document: QTextDocument) -> None:
        self.document = document
        self.origin = QPointF()
        self.shown: float | None = None

    def drop(self) -> None:
        """Let the document go."""
        self.document.deleteLater()

    def set_width(self, width: float) -> None:
        """Lay the text out anew when the width differs."""
        if self.document.textWidth() != width:
            self.document.setTextWidth(width)

    @property
    def lift(self) -> int:
        """How much higher the text must stand to be in the middle of its first line, in px.

        Qt puts what a fixed line height adds above the letters.
        """
        form = self.document.begin().blockFormat()
        natural = QFontMetricsF(self.document.defaultFont()).height()
        return max(0, int((form.lineHeight() - natural) / 2))

    @property
    def height(self) -> float:
        """The height that shows, in px."""
        full = self.document.size().height()
        return full if self.shown is None else min(full, self.shown)

    @property
    def rect(self) -> QRectF:
        """Where the text stands in its item."""
        return QRectF(self.origin.x(), self.origin.y(), self.document.textWidth(), self.height)

    @property
    def length(self) -> int:
        """The last position of the text."""
        return max(0, self.document.characterCount() - 1)

    # -- places ----------------------------------------------------------------------------

    def hit(self, point: QPointF) -> int:
        """The position nearest to a point of the item."""
        inside = self.inward(point - self.origin)
        at = self.document.documentLayout().hitTest(inside, Qt.HitTestAccuracy.FuzzyHit)
        return max(0, min(at, self.length))

    def inward(self, point: QPointF) -> QPointF:
        """A point of the run as a point of the document; differs where something is scrolled."""
        return point

    def caret(self, position: int) -> QRectF:
        """Where the caret stands before `position`, in the item's coordinates."""
        position = max(0, min(position, self.length))
        block = self.document.findBlock(position)
        top = self.document.documentLayout().blockBoundingRect(block).topLeft()
        line = block.layout().lineForTextPosition(position - block.position())
        if not line.isValid():
            return QRectF(self.origin + top, self.origin + top).adjusted(0, 0, 1, 16)
        x = cursor_x(line, position - block.position())
        place = self.origin + top + QPointF(x, line.y())
        return QRectF(place.x(), place.y(), 1, line.height())

    def rects(self, first: int, last: int) -> list[QRectF]:
        """The boxes of a range, one a line, in the item's coordinates."""
        found = []
        block = self.document.findBlock(first)
        while block.isValid() and block.position() < last:
            start = max(first - block.position(), 0)
            end = min(last - block.position(), max(0, block.length() - 1))
            top = self.origin + self.document.documentLayout().blockBoundingRect(block).topLeft()
            found += _line_rects(block.layout(), top, start, end)
            block = block.next()
        return found

    # -- painting --------------------------------------------------------------------------

    def paint(
        self, painter: QPainter, exposed: QRectF, theme: Theme, marks: Sequence[Mark]
    ) -> None:
        """Draw the text and the marks under it; `exposed` is in the item's coordinates."""
        clip = exposed.intersected(self.rect.adjusted(-8, 0, 8, 2))
        if clip.isEmpty():
            return
        painter.save()
        painter.setClipRect(clip, Qt.ClipOperation.IntersectClip)
        painter.translate(self.origin)
        self.draw(painter, clip.translated(-self.origin), theme, marks)
        painter.restore()

    def draw(self, painter: QPainter, clip: QRectF, theme: Theme, marks: Sequence[Mark]) -> None:
        """Draw what lies in `clip`; painter and clip are in the document's coordinates."""
        context = QAbstractTextDocumentLayout.PaintContext()
        context.clip = clip
        context.palette.setColor(QPalette.ColorRole.Text, theme.color("ink"))
        context.selections = [selection(self.document, mark, theme) for mark in marks]
        self.document.documentLayout().draw(painter, context)


def selection(
    document: QTextDocument, mark: Mark, theme: Theme
) -> QAbstractTextDocumentLayout.Selection:
    """A mark as the layout paints it."""
    end = max(0, document.characterCount() - 1)
    cursor = QTextCursor(document)
    cursor.setPosition(min(mark.first, end))
    cursor.setPosition(min(mark.last, end), QTextCursor.MoveMode.KeepAnchor)
    look = QTextCharFormat()
    grounds = {"selection": "selected", "hit": "amber_bg", "current": "amber"}
    look.setBackground(theme.color(grounds[mark.kind]))
    look.setForeground(theme.color("paper" if mark.kind == "current" else "ink"))
    found = QAbstractTextDocumentLayout.Selection()
    found.cursor = cursor
    found.format = look
    return found


def cursor_x(line: object, position: int) -> float:
    """`QTextLine.cursorToX`, which answers with a tuple in PySide."""
    found = line.cursorToX(position)  # type: ignore[attr-defined]  # QTextLine; its stub lies
    return float(found[0] if isinstance(found, tuple) else found)


def _line_rects(layout: object, top: QPointF, start: int, end: int) -> list[QRectF]:
    found = []
    for at in range(layout.lineCount()):  # type: ignore[attr-defined]  # QTextLayout
        line = layout.lineAt(at)  # type: ignore[attr-defined]  # QTextLayout
        first, last = line.textStart(), line.textStart() + line.textLength()
        if last < start or first > end or (last == start and start != end):
            continue
        x0, x1 = cursor_x(line, max(start, first)), cursor_x(line, min(end, last))
        left, width = min(x0, x1), abs(x1 - x0)
        found.append(QRectF(top.x() + left, top.y() + line.y(), width, line.height()))
    return found
