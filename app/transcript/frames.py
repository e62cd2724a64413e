"""Code blocks and tables as the page paints them round a document's text."""

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QTextDocument

from app.markdown import CodeFrame, Look, TableFrame, boxes
from app.theme import Theme
from app.theme.painting import hairline, rounded
from app.transcript.parts import draw_text

HEAD = 30
"""Height of the head of a code block, in px at zoom 1."""
_TEXT_LEFT = 14


@dataclass(slots=True)
class Pane:
    """A code block or table: its painted box, what is inside, how far it is scrolled sideways.

    All in the document's coordinates. `content` is how wide the inside is when nothing is cut;
    `rows` are the heights of the lines between a table's rows; `measured` is the position up to
    which lines of code were measured: a folded block has more.
    """

    first: int
    last: int
    box: QRectF
    inner: QRectF
    content: float
    is_code: bool
    language: str = ""
    rows: tuple[float, ...] = ()
    offset: float = 0.0
    measured: int = 0

    @property
    def slack(self) -> float:
        """How far it can be scrolled to the right, in px; 0 when all of it shows."""
        over = self.content - self.inner.width()
        return over if over > 1 else 0.0

    def scroll_by(self, dx: float) -> bool:
        """Scroll sideways; True when that moved anything."""
        before = self.offset
        self.offset = min(max(0.0, self.offset + dx), self.slack)
        return self.offset != before

    def make_room(self, height: float) -> None:
        """Make the box higher, for a row under the code."""
        self.box.setBottom(self.box.bottom() + height)
        self.inner.setBottom(self.inner.bottom() + height)

    def thumb(self, theme: Theme) -> QRectF:
        """The scroll bar's thumb, empty when nothing is cut."""
        if self.slack <= 0:
            return QRectF()
        track = self.inner.width() - theme.px(8)
        width = max(theme.px(32), track * self.inner.width() / self.content)
        left = self.inner.left() + theme.px(4) + (track - width) * self.offset / self.slack
        return QRectF(left, self.box.bottom() - theme.px(8), width, theme.px(6))


def code_pane(document: QTextDocument, code: CodeFrame, look: Look, before: Pane | None) -> Pane:
    """The box of a block of code. `before` is what it was when it had fewer lines."""
    box = boxes.code_box(document, code, look)
    inner = box.adjusted(1, look.px(HEAD), -1, -1)
    margins = 2 * look.px(_TEXT_LEFT) - 2
    known = before.content - margins if before is not None else 0.0
    start = before.measured if before is not None else code.first
    widest, measured = boxes.widest_line(document, (start, code.last))
    return Pane(
        code.first,
        code.last,
        box,
        inner,
        max(known, widest) + margins,
        True,
        code.language,
        offset=before.offset if before is not None else 0.0,
        measured=measured,
    )


def table_pane(document: QTextDocument, table: TableFrame, look: Look) -> Pane:
    """The box of a table, and the lines between its rows."""
    found = boxes.table_box(document, table, look)
    box = QRectF(found.rect)
    box.setWidth(min(box.width(), document.textWidth() - box.left()))
    return Pane(table.first, table.last, box, box, found.rect.width(), False, rows=found.row_tops)


def paint_pane(painter: QPainter, pane: Pane, theme: Theme) -> None:
    """The box of a code block or table, its head and lines."""
    px, line = theme.px, theme.color("line")
    radius = px(8)
    if not pane.is_code:
        rounded(painter, pane.box, radius, theme.color("paper"), line)
        _paint_table_lines(painter, pane, theme)
        return
    rounded(painter, pane.box, radius, theme.color("sunken"), line)
    hairline(painter, pane.box.left(), pane.box.top() + px(HEAD), pane.box.width(), line)
    place = QPointF(pane.box.left() + px(_TEXT_LEFT), pane.box.top() + px(HEAD) / 2)
    font = theme.font("tiny_medium")
    draw_text(painter, place, pane.language, font, theme.color("ink3"))


def _paint_table_lines(painter: QPainter, pane: Pane, theme: Theme) -> None:
    """The tinted first row of a table, round at the top only, and the lines between rows."""
    line = theme.color("line")
    bottom = pane.rows[0] if pane.rows else pane.box.bottom()
    head = QRectF(pane.box.left(), pane.box.top(), pane.box.width(), bottom - pane.box.top())
    painter.save()
    painter.setClipRect(head)
    whole = head.adjusted(0, 0, 0, theme.px(16) if pane.rows else 0)
    rounded(painter, whole, theme.px(8), theme.color("sunken"), line)
    painter.restore()
    for y in pane.rows:
        hairline(painter, pane.box.left(), y, pane.box.width(), line)


def paint_thumb(painter: QPainter, pane: Pane, theme: Theme) -> None:
    """The scroll bar of a pane that is cut."""
    color = theme.color("control")
    color.setAlphaF(0.5)
    rounded(painter, pane.thumb(theme), theme.px(3), color)
