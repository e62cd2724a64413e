"""The side panel: what the prompt is made of, how the window is divided, the compactions.

::

    What the model sees        ×
    lens: switch and legend
    parts of the prompt        tokens
    prompt, free, reserve (and why), window
    show the whole prompt, copy it
    compactions: before → after …
"""

from collections.abc import Sequence

from PySide6.QtCore import QDate, QDateTime, QLocale, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.client import ContextFacts
from app.context_figures import fit_words, ledger_words, plan_meter, reserve_words
from app.labels import Words
from app.lens_tint import Tint, paint_tint
from app.meter import figure, paint_row, part_title
from app.meter_plan import MeterValues, Row, plan_rows
from app.theme import theme_of
from app.theme.controls import Button, IconButton, set_focus_ring
from app.theme.inputs import Switch
from app.theme.painting import hairline, line_width, rounded
from engine.segments import LedgerLine

WIDTH = 296
"""In px at zoom 1."""
_HEAD = 52
_PADDING = 16
_ROW = 28
_LEGEND: tuple[Tint, ...] = ("verbatim", "shortened", "folded", "not_sent")


class ContextPanel(QWidget):
    """Shows one conversation's `ContextFacts`; holds values and asks for everything else.

    Signals:
        closed(): it shall go away.
        lens_toggled(on): the lens shall be switched.
        prompt_requested(): the whole prompt shall be shown.
        copy_requested(): it shall be put on the clipboard.
        compaction_chosen(entry): go to the card of a compaction.
    """

    closed = Signal()
    lens_toggled = Signal(bool)
    prompt_requested = Signal()
    copy_requested = Signal()
    compaction_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self._facts = ContextFacts("")
        self.setAccessibleName(self.tr("What the model sees"))
        self._make_parts()
        self._lay_out()
        self._theme.changed.connect(self._renew)
        self._renew()
        self.set_facts(self._facts)
        self.set_lens(on=False)

    # -- what it is made of --------------------------------------------------------------

    def _make_parts(self) -> None:
        self.title = Words(self.tr("What the model sees"), "title", "ink", self)
        self.close_button = IconButton("close", self.tr("Close the panel"), self)
        self.page = QWidget(self)
        words = self.page
        self.lens_words = Words(self.tr("Show in the conversation"), "interface", "ink", words)
        self.lens_switch = Switch(self.tr("Show in the conversation what the model sees"), words)
        self.legend = Legend(words)
        self.parts_title = Words(self.tr("Parts of the prompt"), "interface_bold", "ink", words)
        self.parts_kind = Words("", "small", "ink3", words)
        self.parts_list = Figures(words)
        self.sums_list = Figures(words)
        self.reserve = Words("", "small", "ink3", words, wrap=True)
        self.room = Words("", "small", "ink3", words, wrap=True)
        self.state = Words("", "small", "amber", words, wrap=True)
        self.prompt_button = Button(
            self.tr("Show the whole prompt"), "plain", "", words, large=True
        )
        self.copy_button = Button(self.tr("Copy as sent"), "quiet", "copy", words)
        self.hint = Words("", "small", "ink3", words, wrap=True)
        self.ledger_title = Words(self.tr("Compactions"), "interface_bold", "ink", words)
        self.ledger_none = Words("", "small", "ink3", words, wrap=True)
        self.ledger: list[LedgerRow] = []
        self.close_button.clicked.connect(self.closed)
        self.lens_switch.clicked.connect(self.lens_toggled)
        self.prompt_button.clicked.connect(self.prompt_requested)
        self.copy_button.clicked.connect(self.copy_requested)

    def _lay_out(self) -> None:
        self._head = QHBoxLayout()
        self._head.addWidget(self.title, 1)
        self._head.addWidget(self.close_button)
        self._column = QVBoxLayout(self.page)
        switch, parts = QHBoxLayout(), QHBoxLayout()
        switch.addWidget(self.lens_words, 1)
        switch.addWidget(self.lens_switch)
        parts.addWidget(self.parts_title, 1)
        parts.addWidget(self.parts_kind)
        self._column.addLayout(switch)
        self._column.addWidget(self.legend)
        self._column.addWidget(_Rule(self.page))
        self._column.addLayout(parts)
        for part in (self.parts_list, self.sums_list, self.reserve, self.room, self.state):
            self._column.addWidget(part)
        self._column.addWidget(_Rule(self.page))
        self.prompt_button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._column.addWidget(self.prompt_button)
        self._column.addWidget(self.copy_button, 0, Qt.AlignmentFlag.AlignHCenter)
        self._column.addWidget(self.hint)
        self._column.addWidget(_Rule(self.page))
        self._column.addWidget(self.ledger_title)
        self._column.addWidget(self.ledger_none)
        self._lines = QVBoxLayout()
        self._lines.setContentsMargins(0, 0, 0, 0)
        self._column.addLayout(self._lines)
        self._column.addStretch(1)
        self._scroll = QScrollArea(self)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setWidget(self.page)
        self._scroll.viewport().setAutoFillBackground(False)
        self.page.setAutoFillBackground(False)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addLayout(self._head)
        whole.addWidget(self._scroll, 1)

    def _renew(self) -> None:
        px = self._theme.px
        self.setFixedWidth(px(WIDTH))
        pad = px(_PADDING)
        self._head.setContentsMargins(pad, (px(_HEAD) - px(32)) // 2, px(10), px(6))
        self._column.setContentsMargins(pad, px(4), pad, pad)
        self._column.setSpacing(px(8))
        self._lines.setSpacing(px(2))
        self.update()

    # -- what it shows -------------------------------------------------------------------

    @property
    def facts(self) -> ContextFacts:
        """What was set last."""
        return self._facts

    def set_facts(self, facts: ContextFacts) -> None:
        """Show these figures."""
        self._facts = facts
        values = plan_meter(facts)
        parts, sums = _groups(values)
        self.parts_kind.setText(
            self.tr("tokens, exact") if values.exact else self.tr("tokens, estimated")
        )
        self.parts_list.set_rows(parts, exact=values.exact)
        self.sums_list.set_rows(sums, exact=values.exact)
        budget, fit = facts.budget, facts.fit
        why = reserve_words(budget) if budget is not None else ""
        self._say(self.reserve, self.tr("Kept for the reply: {}.").format(why) if why else "")
        room = self.tr("A message can have {tokens} tokens at most.")
        self._say(self.room, room.format(tokens=figure(fit.room)) if fit is not None else "")
        words, tone = fit_words(facts)
        self.state.set_color(tone or "amber")
        self._say(self.state, words)
        self._show_ledger(facts.ledger)

    def set_lens(self, *, on: bool) -> None:
        """Show the lens as switched on or off."""
        self.lens_switch.setChecked(on)
        hint = self.tr("Click a tinted passage to read the exact text that goes to the model.")
        self._say(self.hint, hint if on else "")

    def _say(self, words: Words, text: str) -> None:
        words.setText(text)
        words.setVisible(bool(text))

    def _show_ledger(self, lines: Sequence[LedgerLine]) -> None:
        if [row.line for row in self.ledger] == list(lines) and lines:
            return
        for row in self.ledger:
            self._lines.removeWidget(row)
            row.hide()
            row.deleteLater()
        self.ledger = [LedgerRow(line, self.page) for line in lines]
        for row in self.ledger:
            self._lines.addWidget(row)
            row.chosen.connect(self.compaction_chosen)
            row.show()
        none = self.tr("None yet. Older messages are folded when the prompt is over its budget.")
        self._say(self.ledger_none, "" if lines else none)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: the ground, and the line at the side of the conversation."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("side"))
        wide = line_width(self.devicePixelRatioF())
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        left = self.width() - wide if mirrored else 0
        painter.fillRect(QRectF(left, 0, wide, self.height()), self._theme.color("line"))


def _groups(values: MeterValues) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """The parts, then the sums."""
    groups = plan_rows(values)
    return (groups[0], groups[1]) if len(groups) > 1 else ((), groups[0])


class Figures(QWidget):
    """A list of parts and their tokens, as the meter's popup has it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows: tuple[Row, ...] = ()
        self._exact = True
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme_of().changed.connect(self.updateGeometry)

    def set_rows(self, rows: tuple[Row, ...], *, exact: bool) -> None:
        """Show these lines."""
        self.rows, self._exact = rows, exact
        said = ", ".join(f"{part_title(row.part)} {figure(row.tokens)}" for row in rows)
        self.setAccessibleName(said)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Qt's: as high as its lines."""
        return QSize(theme_of().px(120), len(self.rows) * theme_of().px(_ROW))

    def minimumSizeHint(self) -> QSize:
        """Qt's: all lines."""
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: line by line."""
        painter, high = QPainter(self), theme_of().px(_ROW)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        for number, row in enumerate(self.rows):
            area = QRectF(0, number * high, self.width(), high)
            paint_row(painter, area, row, exact=self._exact, mirrored=mirrored)
        painter.end()


class Legend(QWidget):
    """What the tints of the lens mean."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(", ".join(": ".join(self.words(tint)) for tint in _LEGEND))
        theme_of().changed.connect(self.updateGeometry)

    def words(self, tint: Tint) -> tuple[str, str]:
        """A state's name, and what it says."""
        found = {
            "verbatim": (self.tr("Verbatim"), self.tr("exactly as written")),
            "shortened": (self.tr("Shortened"), self.tr("the middle left out")),
            "folded": (self.tr("Folded"), self.tr("only in the summary")),
            "not_sent": (self.tr("Not sent"), self.tr("stays on your disk")),
        }
        return found[tint]

    def sizeHint(self) -> QSize:
        """Qt's: four lines."""
        return QSize(theme_of().px(120), len(_LEGEND) * theme_of().px(_ROW))

    def minimumSizeHint(self) -> QSize:
        """Qt's: all four."""
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: a swatch with the rule of the state, its name, what it says."""
        theme, painter = theme_of(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        px, middle = theme.px, Qt.AlignmentFlag.AlignVCenter
        names = [self.words(tint)[0] for tint in _LEGEND]
        metrics = QFontMetricsF(theme.font("interface_medium"))
        second = px(26) + max(metrics.horizontalAdvance(name) for name in names) + px(16)
        for number, tint in enumerate(_LEGEND):
            area = QRectF(0, number * px(_ROW), self.width(), px(_ROW))
            swatch = QRectF(0, round(area.center().y() - px(8)), px(16), px(16))
            if tint == "not_sent":
                ground, line = theme.color("paper"), theme.color("control")
                rounded(painter, swatch, px(3), ground, line)
            else:
                paint_tint(painter, swatch, tint, theme)
            name, about = self.words(tint)
            painter.setFont(theme.font("interface_medium"))
            painter.setPen(theme.color("ink"))
            painter.drawText(area.adjusted(px(26), 0, 0, 0), middle, name)
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color("ink3"))
            painter.drawText(area.adjusted(second, 0, 0, 0), middle, about)
        painter.end()


class LedgerRow(QAbstractButton):
    """One compaction: before and after, when; what was folded and how.

    Signals:
        chosen(entry): it was pressed.
    """

    chosen = Signal(str)

    def __init__(self, line: LedgerLine, parent: QWidget) -> None:
        super().__init__(parent)
        self.line = line
        self._title, self._about = ledger_words(line)
        self._when = _when(line.when_ms)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        said = (self._title, self._about, self._when)
        self.setAccessibleName(self.tr("Compaction {}").format(", ".join(x for x in said if x)))
        self.setToolTip(self.tr("Go to its card"))
        set_focus_ring(self, "inside", 6)
        self.clicked.connect(lambda: self.chosen.emit(self.line.entry))
        theme_of().changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        """Qt's: two lines."""
        return QSize(theme_of().px(120), theme_of().px(44))

    def minimumSizeHint(self) -> QSize:
        """Qt's: both."""
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: a row; quiet when it was undone."""
        theme, painter = theme_of(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        px = theme.px
        if self.isDown() or self.underMouse():
            fill = theme.color("selected" if self.isDown() else "hover")
            rounded(painter, QRectF(self.rect()), px(6), fill)
        counts = not self.line.undone
        room = QRectF(self.rect()).adjusted(px(8), px(4), -px(8), -px(4))
        first = QRectF(room.left(), room.top(), room.width(), px(20))
        second = QRectF(room.left(), first.bottom(), room.width(), px(16))
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(theme.font("interface_medium"))
        painter.setPen(theme.color("plum" if counts else "ink3"))
        painter.drawText(first, middle, self._title)
        font = theme.font("small")
        painter.setFont(font)
        painter.setPen(theme.color("ink3"))
        painter.drawText(first, middle | Qt.AlignmentFlag.AlignTrailing, self._when)
        shown = QFontMetricsF(font).elidedText(
            self._about, Qt.TextElideMode.ElideRight, second.width()
        )
        painter.drawText(second, middle, shown)
        painter.end()


def _when(when_ms: int) -> str:
    """The time of a moment of today, the day of any other, in the user's locale."""
    when, locale = QDateTime.fromMSecsSinceEpoch(when_ms), QLocale()
    short = QLocale.FormatType.ShortFormat
    if when.date() == QDate.currentDate():
        return locale.toString(when.time(), short)
    return locale.toString(when.date(), short)


class _Rule(QWidget):
    """A hairline with room around it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(1, theme_of().px(9))

    def paintEvent(self, _event: QPaintEvent) -> None:
        middle = self.height() // 2
        hairline(QPainter(self), 0, middle, self.width(), theme_of().color("line"))
