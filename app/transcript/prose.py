"""Markdown laid out on the page, with what the page paints round it: code, tables, inline code."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QRegion, QTextCursor

from app.labels import prose
from app.markdown import (
    Built,
    Face,
    Look,
    MarkdownBuilder,
    MarkdownStream,
    SafeDocument,
    boxes,
    needs_plain_face,
)
from app.theme import Theme
from app.theme.painting import hairline
from app.transcript import frames, words
from app.transcript.box import Desk
from app.transcript.folds import Folds
from app.transcript.frames import HEAD, Pane
from app.transcript.offers import words_of
from app.transcript.parts import Part, row, width_of
from app.transcript.run import Mark, Run

Style = Literal["reading", "summary", "note"]
_JUDGED = 2_000  # characters after which a growing text keeps its face
_FOLD_ROW = 30
_HEAD_ABOVE = 44  # px at most that a block of code begins over its text


def look_of(theme: Theme, style: Style, *, is_plain: bool) -> Look:
    """The look of a text of this style, in the plain face or not."""
    look = Look.of(theme, is_plain)
    if style == "reading":
        return look
    role: Literal["summary", "interface"] = "summary" if style == "summary" else "interface"
    font = prose(theme.font("interface") if is_plain else theme.font(role))
    return replace(look, body=Face(font, theme.line_height(role)), ink=theme.color("ink2"))


class Prose(Run):
    """A run of Markdown. `changed_from` is the height from which the last change made a
    difference, in the document's coordinates; None for everywhere.
    """

    def __init__(self, desk: Desk, style: Style) -> None:
        super().__init__(SafeDocument(desk.owner))
        desk.built += 1
        self._desk = desk
        self._style: Style = style
        self._text = ""
        self._plain = False
        self._stream: MarkdownStream | None = None
        self.folds = Folds(self.document, desk.theme.px(_FOLD_ROW))
        self.has_grown = False
        self._was_streamed = False
        self._first_change: int | None = None
        self.built = Built()
        self.panes: list[Pane] = []
        self.chips: list[QRectF] = []
        self.links: list[Part] = []
        self.buttons: list[Part] = []
        self._look = Look.of(desk.theme)
        self._clean = 0  # what stands before this position is where it was when decorated last
        self._decorated = -1.0  # the width then
        self._known_chips: dict[tuple[int, int], list[QRectF]] = {}
        self._known_links: dict[tuple[int, int, str], Part] = {}
        self._known_panes: dict[int, Pane] = {}
        self._columns: tuple[float, ...] = ()  # of the last table: where each begins
        self._known_buttons: dict[object, list[Part]] = {}
        self.changed_from: float | None = None
        self.document.contentsChange.connect(self._on_change)

    def _on_change(self, position: int, _removed: int, _added: int) -> None:
        if self._first_change is None or position < self._first_change:
            self._first_change = position
        self._clean = min(self._clean, position)

    # -- filling ---------------------------------------------------------------------------

    def set_text(self, text: str, *, is_running: bool) -> None:
        """Show this text; what only grew is appended to what stands there."""
        grown = self._stream is not None and text.startswith(self._text)
        self._first_change = None
        if grown and (
            not self._text or len(text) > _JUDGED or needs_plain_face(text) == self._plain
        ):
            self._append(text, is_running=is_running)
        elif text != self._text or self._stream is not None:
            self._fill(text, is_running=is_running)
        self.changed_from = self._height_of_change()

    def _append(self, text: str, *, is_running: bool) -> None:
        if self._stream is None:
            return
        self._stream.append(text[len(self._text) :])
        self._text = text
        if not is_running:
            self._stream.finish()
        self.built = self._stream.built
        self._note_table()
        if not is_running:
            self._stream = None

    def _note_table(self) -> None:
        """A change in a table that moves its columns moves what stands before it in the table."""
        at, tables = self._first_change, self.built.tables
        if at is None or not tables or not tables[-1].first <= at <= tables[-1].last + 1:
            return
        columns = boxes.table_columns(self.document, tables[-1])
        if columns != self._columns:
            self._columns = columns
            self._on_change(tables[-1].first, 0, 0)

    def _fill(self, text: str, *, is_running: bool) -> None:
        self._plain = needs_plain_face(text)
        self.folds.reset()
        self._text = text
        if is_running:
            self._was_streamed = True
            self._look = look_of(self._desk.theme, self._style, is_plain=self._plain)
            self._stream = MarkdownStream(self.document, self._look)
            self._stream.append(text)
            self.built = self._stream.built
            return
        self._stream = None
        builder = self._builder()
        self._look = builder.look
        self.built = builder.fill(self.document, text)
        if not self._was_streamed:
            self.folds.fold(self.built)
            self._clean = 0

    def _builder(self) -> MarkdownBuilder:
        """The builder of this style; kept, for it remembers its formats."""
        key = f"{self._style} {self._plain}"
        builder = self._desk.kept.get(key)
        if not isinstance(builder, MarkdownBuilder):
            look = look_of(self._desk.theme, self._style, is_plain=self._plain)
            builder = self._desk.kept[key] = MarkdownBuilder(look)
        return builder

    def _height_of_change(self) -> float | None:
        """From which height down the document differs from before."""
        if self.document.textWidth() < 0:
            return None  # asking would lay it out, and again at its width
        if self._first_change is None:
            return self.document.size().height()
        block = self.document.findBlock(self._first_change)
        return self.document.documentLayout().blockBoundingRect(block).top() - _HEAD_ABOVE

    @property
    def is_unfinished(self) -> bool:
        """Whether there is something for `work` to do."""
        return self.folds.is_growing or bool(self.built.pending)

    def work(self) -> bool:
        """Show some more lines of unfolded code, or colour some; True while there is more to do.

        When lines were shown `has_grown` is set, and the text is to be placed anew.
        """
        if self.folds.is_growing:
            self._note_shown(self.folds.grow())
            return False  # what shows must be placed first
        cursor = QTextCursor(self.document)
        cursor.beginEditBlock()  # formats alone take a block's lines away; its end lays it out
        try:
            return self.built.work()
        finally:
            cursor.endEditBlock()

    # -- long code -------------------------------------------------------------------------

    def unfold_code(self, index: int, until: int = -1) -> None:
        """Show all lines of a long block of code: the first now, and those up to a position.

        `work` shows the rest.
        """
        self._note_shown(self.folds.unfold(index))
        while self.folds.is_growing and self.folds.hides(until) >= 0:
            self._note_shown(self.folds.grow())

    def _note_shown(self, position: int) -> None:
        """Lines show from here on: what stands below is somewhere else."""
        if position >= 0:
            self._clean = min(self._clean, position)
            self.has_grown = True

    def hidden_code(self, position: int) -> int:
        """The index of the folded block of code that hides a position, -1 when it shows."""
        return self.folds.hides(position)

    def scroll_to(self, position: int) -> None:
        """Scroll a pane sideways so that a position in it shows."""
        x = self.caret(position).left() - self.origin.x()
        for pane in self.panes:
            if pane.first <= position <= pane.last and pane.slack:
                left, right = pane.inner.left() + 24, pane.inner.right() - 48
                if not left <= x - pane.offset <= right:
                    pane.scroll_by(x - pane.offset - left)

    # -- what stands round the text --------------------------------------------------------

    def decorate(self) -> None:
        """Find the places of code, tables, inline code and links; after the width is set.

        What stands before the first change since the last time is taken from there.
        """
        width, self.has_grown = self.document.textWidth(), False
        if width != self._decorated:
            self._decorated, self._clean = width, 0
        clean, built = self._clean, self.built
        self._place_panes(clean)
        chips = self._known_chips
        self._known_chips = {
            span: chips[span]
            if span in chips and span[1] < clean
            else boxes.inline_code_boxes(self.document, span, self._look)
            for span in built.inline_code
        }
        self.chips = [rect for rects in self._known_chips.values() for rect in rects]
        links = self._known_links
        self._known_links = {
            link: links[link] if link in links and link[1] < clean else self._link(*link)
            for link in built.links
        }
        self.links = list(self._known_links.values())
        self._place_buttons()
        self._clean = self.document.characterCount()

    def _place_buttons(self) -> None:
        """The buttons of a block of code whose box is where it was stay as they are."""
        known, self._known_buttons = self._known_buttons, {}
        for at in range(len(self.built.code)):
            key = (at, self.panes[at].box.getRect(), self.folds.folded.get(at, 0))
            self._known_buttons[key] = known.get(key) or self._code_parts(at)
        self.buttons = [part for parts in self._known_buttons.values() for part in parts]

    def _place_panes(self, clean: int) -> None:
        """Find the boxes of code and tables. Code that only grew is measured where it did."""
        before, self._known_panes = self._known_panes, {}
        for at, code in enumerate(self.built.code):
            old = before.get(code.first)
            if old is None or code.last >= clean:
                grew = old if old is not None and clean > code.first else None
                pane = frames.code_pane(self.document, code, self._look, grew)
                if at in self.folds.folded:
                    pane.make_room(self._desk.theme.px(_FOLD_ROW))
                if old is not None:
                    pane.offset = min(old.offset, pane.slack)
                old = pane
            self._known_panes[code.first] = old
        for table in self.built.tables:
            old = before.get(table.first)
            if old is None or table.last >= clean:
                pane = frames.table_pane(self.document, table, self._look)
                pane.offset = min(old.offset, pane.slack) if old is not None else 0.0
                old = pane
            self._known_panes[table.first] = old
        self.panes = list(self._known_panes.values())

    def _link(self, first: int, last: int, url: str) -> Part:
        rects = tuple(rect.translated(-self.origin) for rect in self.rects(first, last))
        cursor = QTextCursor(self.document)
        cursor.setPosition(first)
        cursor.setPosition(last, QTextCursor.MoveMode.KeepAnchor)
        source = QCoreApplication.translate("Transcript", "Link {0}, to {1}")
        name = source.format(cursor.selectedText(), url)
        whole = rects[0] if rects else QRectF()
        return Part(whole, name, f"link:{url}", "link", role="link", rects=rects)

    def _code_parts(self, at: int) -> list[Part]:
        theme, pane = self._desk.theme, self.panes[at]
        text = words_of("copy")
        name = QCoreApplication.translate("Transcript", "Copy code")
        copy = Part(QRectF(), name, f"copy_code:{at}", "code", text=text, icon="copy")
        left = pane.box.right() - theme.px(4) - width_of(copy, theme)
        parts = row([copy], left, pane.box.top() + theme.px((HEAD - 24) / 2), theme)
        if at in self.folds.folded:
            source = QCoreApplication.translate("Transcript", "Show all {0} lines")
            text = source.format(words.number(self.folds.folded[at]))
            part = Part(QRectF(), text, f"show_code:{at}", "link", text=text, role="toggle")
            top = pane.box.bottom() - theme.px(_FOLD_ROW)
            parts += row([part], pane.box.left() + theme.px(14), top, theme)
        return parts

    def placed_parts(self) -> list[Part]:
        """Links and buttons in the item's coordinates, in reading order."""
        found = [part.moved(self.origin) for part in (*self.links, *self.buttons)]
        return sorted(found, key=lambda part: (part.rect.top(), part.rect.left()))

    # -- sideways --------------------------------------------------------------------------

    def pane_at(self, point: QPointF) -> Pane | None:
        """The code block or table under a point of the item."""
        inside = point - self.origin
        return next((pane for pane in self.panes if pane.box.contains(inside)), None)

    def inward(self, point: QPointF) -> QPointF:
        """A point as the document counts it, where a pane is scrolled sideways."""
        for pane in self.panes:
            if pane.offset and pane.inner.contains(point):
                return point + QPointF(pane.offset, 0)
        return point

    # -- painting --------------------------------------------------------------------------

    def draw(self, painter: QPainter, clip: QRectF, theme: Theme, marks: Sequence[Mark]) -> None:
        """Grounds first, then the text; panes that are cut are drawn by themselves."""
        document = self.document
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for quote in self.built.quotes:
            rule = boxes.quote_rule(document, quote, self._look)
            painter.fillRect(rule, theme.color("line"))
        for position in self.built.rules:
            rule = boxes.rule_box(document, position)
            color = theme.color("line")
            hairline(painter, rule.left(), rule.center().y(), rule.width(), color)
        self._draw_chips(painter, clip, theme)
        for pane in self.panes:
            if pane.box.intersects(clip):
                frames.paint_pane(painter, pane, theme)
        cut = [pane for pane in self.panes if pane.slack and pane.box.intersects(clip)]
        if not cut:
            super().draw(painter, clip, theme, marks)
            return
        self._draw_around(painter, clip, theme, (cut, marks))
        for pane in cut:
            self._draw_pane(painter, clip, theme, (pane, marks))

    def _draw_chips(self, painter: QPainter, clip: QRectF, theme: Theme) -> None:
        radius, color = theme.px(4), theme.color("sunken")
        for rect in self.chips:
            if rect.intersects(clip):
                path = QPainterPath()
                path.addRoundedRect(rect, radius, radius)
                painter.fillPath(path, color)

    def _draw_around(
        self,
        painter: QPainter,
        clip: QRectF,
        theme: Theme,
        what: tuple[list[Pane], Sequence[Mark]],
    ) -> None:
        region = QRegion(clip.toAlignedRect())
        for pane in what[0]:
            region -= QRegion(pane.box.toAlignedRect().adjusted(0, 0, 100_000, 0))
        painter.save()
        painter.setClipRegion(region, Qt.ClipOperation.IntersectClip)
        super().draw(painter, clip, theme, what[1])
        painter.restore()

    def _draw_pane(
        self, painter: QPainter, clip: QRectF, theme: Theme, what: tuple[Pane, Sequence[Mark]]
    ) -> None:
        pane, marks = what
        inner = pane.inner.intersected(clip)
        if not inner.isEmpty():
            painter.save()
            painter.setClipRect(inner, Qt.ClipOperation.IntersectClip)
            painter.translate(-pane.offset, 0)
            super().draw(painter, inner.translated(pane.offset, 0), theme, marks)
            painter.restore()
        frames.paint_thumb(painter, pane, theme)
