"""Block, frame and character formats of a look, made once each."""

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QTextBlockFormat,
    QTextCharFormat,
    QTextFormat,
    QTextFrameFormat,
    QTextLength,
    QTextTableCellFormat,
    QTextTableFormat,
)

from app.markdown.built import CONTINUES, FILLER
from app.markdown.look import BOLD, Face, Look
from app.markdown.runs import PLAIN, Run, Style
from app.markdown.scripts import Direction, stands_upright

GAP = 12  # above and below code and tables
HEAD = 30  # the bar over code that holds language and Copy
PADDING = 10  # above and below the code itself, and with the margin left and right
SIDE = 4
MARKER_GAP = 8  # between a list's marker and its text
CELL_PADDING = (4, 14)
BESIDE_CODE = 3  # the space on either side of inline code is so much wider

_REMEMBERED = 1_000
_NOTHING = Run("", PLAIN)
_FIXED = QTextBlockFormat.LineHeightTypes.FixedHeight.value
_MINIMUM = QTextBlockFormat.LineHeightTypes.MinimumHeight.value


@dataclass(frozen=True, slots=True, eq=False)
class Base:
    """What a paragraph's runs have in common: face, colour, and the font of inline code.

    There is one of each for a look; they are told apart by identity.
    """

    face: Face
    color: QColor
    code: QFont


@dataclass(frozen=True, slots=True)
class Place:
    """Where a block stands: its margins and first line's indent in px, and its direction."""

    top: int = 0
    left: int = 0
    right: int = 0
    hanging: int = 0
    direction: Direction = ""


class Formats:
    """Formats of one look."""

    def __init__(self, look: Look) -> None:
        self.look = look
        inline = look.inline_code
        self.body = Base(look.body, look.ink, inline)
        self.quoted = Base(look.body, look.ink2, inline)
        self.headings = [Base(face, look.ink, inline) for face in look.headings]
        self.quoted_headings = [Base(face, look.ink2, inline) for face in look.headings]
        self.cell = Base(look.cell, look.ink, look.code.font)
        self.cell_head = Base(look.cell_head, look.ink2, look.code.font)
        self.math = Base(look.code, look.ink, look.code.font)
        self.code = characters(look.code.font, look.ink)
        self.code_line = code_line(look.code.line)
        self._characters: dict[tuple[Base, Style, int], QTextCharFormat] = {}
        self._widths: dict[tuple[str, str], float] = {}

    def heading(self, level: int, *, quoted: bool) -> Base:
        """The base of a heading of level 1 to 6."""
        bases = self.quoted_headings if quoted else self.headings
        return bases[min(level, len(bases)) - 1]

    def of(self, run: Run, base: Base, beside: int = 0) -> QTextCharFormat:
        """The format of a run; `beside` widens its letters, in px: for one space."""
        style = run.style
        if style.italic and stands_upright(run.text):  # nobody slants these; Qt would
            style = style._replace(italic=False, bold=True)
        key = (base, style, beside)
        found = self._characters.get(key)
        if found is None:
            found = self._make(style, base, beside)
            if len(self._characters) < _REMEMBERED:
                self._characters[key] = found
        return found

    def plain(self, base: Base) -> QTextCharFormat:
        """The format of plain text."""
        return self.of(_NOTHING, base)

    def advance(self, text: str, font: QFont) -> float:
        """The width of a short text, in px."""
        key = (text, font.key())
        found = self._widths.get(key)
        if found is None:
            found = QFontMetricsF(font).horizontalAdvance(text)
            if len(self._widths) < _REMEMBERED:
                self._widths[key] = found
        return found

    def _make(self, style: Style, base: Base, beside: int) -> QTextCharFormat:
        font = QFont(base.code if style.code else base.face.font)
        if style.bold:
            font.setWeight(BOLD)
        if beside:
            font.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, beside)
        font.setItalic(style.italic)
        font.setStrikeOut(style.struck)
        made = characters(font, self.look.accent if style.url else base.color)
        if style.url:
            made.setAnchor(True)
            made.setAnchorHref(style.url)
        return made


def characters(font: QFont, color: QColor) -> QTextCharFormat:
    """A character format with a font, its features included, and a colour."""
    made = QTextCharFormat()
    made.setFont(font)
    made.setForeground(color)
    return made


def spacer(font: QFont, width: float, color: QColor) -> QTextCharFormat:
    """A format in which one space is `width` px wide."""
    made = QFont(font)
    # letter spacing, as Qt leaves word spacing out where Chinese follows
    missing = width - QFontMetricsF(font).horizontalAdvance(" ")
    made.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, missing)
    return characters(made, color)


def block(line: int, place: Place, *, tall: bool = False) -> QTextBlockFormat:
    """Lines exactly `line` px high, or, for `tall` letters, at least."""
    made = QTextBlockFormat()
    made.setLineHeight(line, _MINIMUM if tall else _FIXED)
    made.setTopMargin(place.top)
    made.setLeftMargin(place.left)
    made.setRightMargin(place.right)
    made.setTextIndent(-place.hanging)
    if place.direction:
        right_to_left = place.direction == "rtl"
        made.setLayoutDirection(
            Qt.LayoutDirection.RightToLeft if right_to_left else Qt.LayoutDirection.LeftToRight
        )
    return made


def code_line(line: int, *, continues: bool = False) -> QTextBlockFormat:
    """A line of code: it never wraps, and runs from left to right."""
    made = block(line, Place(direction="ltr"))
    made.setNonBreakableLines(True)
    if continues:
        made.setProperty(CONTINUES, True)
    return made


def filler() -> QTextBlockFormat:
    """The empty block Qt needs beside a frame: no height, not of the text."""
    made = block(0, Place())
    made.setProperty(FILLER, True)
    return made


def code_frame(look: Look, place: Place) -> QTextFrameFormat:
    """The frame of a block of code; the view paints box, head and label."""
    made = QTextFrameFormat()
    made.setBorder(0)
    made.setPadding(look.px(PADDING))
    made.setTopMargin(place.top + look.px(HEAD))
    made.setBottomMargin(look.px(GAP))
    made.setLeftMargin(place.left + look.px(SIDE))
    made.setRightMargin(place.right + look.px(SIDE))
    return made


def table(look: Look, place: Place) -> QTextTableFormat:
    """A table as wide as its column, or wider if it must; the view paints its lines."""
    made = QTextTableFormat()
    made.setBorder(0)
    made.setCellPadding(0)
    made.setCellSpacing(0)
    made.setHeaderRowCount(1)
    made.setTopMargin(place.top)
    made.setBottomMargin(look.px(GAP))
    made.setLeftMargin(place.left)
    made.setRightMargin(place.right)
    made.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
    return made


def cell(look: Look, extra_left: int = 0, extra_right: int = 0) -> QTextTableCellFormat:
    """A cell's padding; `extra` keeps a column of long texts from getting too narrow."""
    upright, sideways = CELL_PADDING
    made = QTextTableCellFormat()
    made.setTopPadding(look.px(upright))
    made.setBottomPadding(look.px(upright))
    made.setLeftPadding(look.px(sideways) + extra_left)
    made.setRightPadding(look.px(sideways) + extra_right)
    made.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignTop)
    return made


def heading_level(made: QTextBlockFormat, level: int) -> None:
    """Say that a block is a heading, for those who do not see its size."""
    made.setHeadingLevel(level)


def quote_level(made: QTextBlockFormat, level: int) -> None:
    """Say how deep in quotations a block stands."""
    made.setProperty(QTextFormat.Property.BlockQuoteLevel, level)
