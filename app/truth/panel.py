"""The panel of one model: what it is, the guard's card, the window as it is, memory."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.client.window_truth import Cure, ModelTruth, WindowFigure
from app.labels import Words
from app.meter import figure
from app.theme import theme_of
from app.theme.controls import Badge, Button
from app.theme.painting import draw_icon, hairline, line_width, rounded
from app.truth.facts import FactsSection
from app.truth.memory import MemoryBars
from app.truth.words import (
    cure_words,
    figure_name,
    figure_value,
    free_words,
    guard_text,
    guard_title,
    origin_words,
    place_words,
    spoken_figure,
    subtitle,
    why_words,
)

_ROW_PX, _NAME_PX, _FIGURE_PX = 34, 96, 64


class ModelPanel(QWidget):
    """All that is known of one model.

    Signals:
        cure_chosen(cure): save these settings.
        window_wanted(): show the preferences at this model's window.
        text_requested(title, text): show a text whole. delete_requested(): see `FactsSection`.
    """

    cure_chosen = Signal(object)
    window_wanted = Signal()
    text_requested = Signal(str, str)
    delete_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self.truth: ModelTruth | None = None
        self.title = Words("", "page", "ink", self)
        self.title.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.badge = Badge("", "plain", None, self)
        self.subtitle = Words("", "interface", "ink2", self)
        self.place = Words("", "interface", "amber", self, wrap=True)
        self.card = GuardCard(self)
        self.figures = FigureRows(self)
        self.memory = MemoryBars(self)
        self.foot = Words("", "small", "ink3", self, wrap=True)
        self.facts = FactsSection(self)
        head = QHBoxLayout()
        head.addWidget(self.title)
        head.addWidget(self.badge)
        head.addStretch(1)
        self._head = head
        column = QVBoxLayout(self)
        column.addLayout(head)
        for widget in (
            self.subtitle,
            self.place,
            self.card,
            self.figures,
            self.memory,
            self.foot,
            self.facts,
        ):
            column.addWidget(widget)
        column.addStretch(1)
        self._column = column
        self.card.cure_chosen.connect(self.cure_chosen)
        self.card.window_wanted.connect(self.window_wanted)
        self.facts.text_requested.connect(self.text_requested)
        self.facts.delete_requested.connect(self.delete_requested)
        self._theme.changed.connect(self._renew)
        self._renew()

    def _renew(self) -> None:
        px = self._theme.px
        self._head.setSpacing(px(12))
        self._column.setContentsMargins(px(28), px(22), px(28), px(20))
        self._column.setSpacing(0)
        self.subtitle.setContentsMargins(0, 0, 0, px(16))
        self.place.setContentsMargins(0, 0, 0, px(16))
        self.figures.setContentsMargins(0, px(20), 0, px(22))
        self.foot.setContentsMargins(0, px(8), 0, 0)

    def show_truth(self, truth: ModelTruth) -> None:
        """Show a model."""
        self.truth = truth
        self.title.setText(truth.title)
        self.subtitle.setText(subtitle(truth))
        self.place.setText(place_words(truth))
        self.place.setVisible(bool(self.place.text()))
        self._show_badge(truth)
        self.card.show_truth(truth)
        self.figures.setVisible(bool(truth.figures))
        self.figures.show_rows(truth.figures, truth.guard)
        self.memory.setVisible(bool(truth.memory))
        self.memory.set_truth(truth)
        self.foot.setVisible(bool(truth.memory))
        self.foot.setText(free_words(truth))

    def _show_badge(self, truth: ModelTruth) -> None:
        if truth.cloud and truth.guard != "warn":
            self.badge.set_state(self.tr("cloud"), "amber", "cloud")
        elif truth.guard == "block":
            self.badge.set_state(self.tr("blocked"), "red")
        elif truth.guard == "warn":
            self.badge.set_state(self.tr("small window"), "amber")
        self.badge.setVisible(truth.cloud or truth.guard in ("block", "warn"))


class GuardCard(QWidget):
    """Why a model is blocked or warned of, and the buttons that change it; hidden if it is not.

    Signals:
        cure_chosen(cure), window_wanted(): as the panel's.
    """

    cure_chosen = Signal(object)
    window_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self._truth: ModelTruth | None = None
        self.cures: list[Button] = []
        self.title = Words("", "interface_bold", "ink", self)
        self.words = Words("", "interface", "ink", self, wrap=True)
        self.buttons = ButtonFlow(self)
        self.choose = Button(self.tr("Choose a window…"), "plain", "", self.buttons)
        self.why = Button("", "quiet", "", self.buttons)
        self.reason = Words("", "small", "ink2", self, wrap=True)
        column = QVBoxLayout(self)
        for widget in (self.title, self.words, self.buttons, self.reason):
            column.addWidget(widget)
        self._column = column
        self.choose.clicked.connect(self.window_wanted)
        self.why.clicked.connect(lambda: self.reason.setVisible(self.reason.isHidden()))
        self._theme.changed.connect(self._renew)
        self._renew()
        self.hide()

    def _renew(self) -> None:
        px = self._theme.px
        self._column.setContentsMargins(px(16), px(14), px(16), px(14))
        self._column.setSpacing(0)
        self.title.setContentsMargins(px(26), 0, 0, px(4))
        self.buttons.setContentsMargins(0, px(10), 0, 0)
        self.reason.setContentsMargins(0, px(10), 0, 0)

    def show_truth(self, truth: ModelTruth) -> None:
        """Say what is wrong with a model, and offer what helps."""
        is_other = self._truth is None or self._truth.model != truth.model
        self._truth = truth
        title = guard_title(truth)
        self.setVisible(bool(title))
        self.title.setText(title)
        self.words.setText(guard_text(truth))
        self.setAccessibleName(f"{title}. {self.words.text()}")
        for button in self.cures:
            button.hide()
            button.deleteLater()
        self.cures = [self._cure_button(at, cure) for at, cure in enumerate(truth.cures)]
        limit = truth.hard_min if truth.guard == "block" else truth.warn_below
        self.why.setText(self.tr("Why {0}?").format(figure(limit)))
        self.reason.setText(why_words(truth))
        if is_other:
            self.reason.hide()
        self.buttons.setVisible(not truth.problem)
        self.buttons.place((*self.cures, self.choose, self.why))
        self.update()

    def _cure_button(self, at: int, cure: Cure) -> Button:
        button = Button(cure_words(cure), "plain" if at else "primary", "", self.buttons)
        button.setAutoDefault(False)
        button.clicked.connect(lambda: self.cure_chosen.emit(cure))
        button.show()
        return button

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: the card and its icon."""
        if self._truth is None:
            return
        theme, painter = self._theme, QPainter(self)
        kind, icon = ("red", "blocked") if self._truth.guard == "block" else ("amber", "warning")
        fill, line = theme.color(f"{kind}_bg"), theme.color(f"{kind}_line")
        rounded(painter, QRectF(self.rect()), theme.px(10), fill, line)
        draw_icon(painter, theme, icon, kind, (theme.px(16), theme.px(15), theme.px(18)))


class ButtonFlow(QWidget):
    """Buttons side by side, on as many lines as they need."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._shown: tuple[Button, ...] = ()
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def place(self, buttons: Sequence[Button]) -> None:
        """Show these, in this order; the keyboard goes the same way."""
        self._shown = tuple(buttons)
        for before, after in zip(self._shown, self._shown[1:], strict=False):
            QWidget.setTabOrder(before, after)
        self._flow(self.width(), move=True)
        self.updateGeometry()

    def _flow(self, width: int, *, move: bool) -> int:
        """Put them where they stand; returns the height."""
        gap, around = theme_of().px(8), self.contentsMargins()
        x, y, high = 0, around.top(), 0
        for button in self._shown:
            size = button.sizeHint()
            if x and x + size.width() > width:
                x, y = 0, y + high + gap
            if move:
                button.setGeometry(x, y, size.width(), size.height())
            x, high = x + size.width() + gap, size.height()
        return y + high

    def hasHeightForWidth(self) -> bool:
        """Qt's."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Qt's."""
        return self._flow(width, move=False)

    def sizeHint(self) -> QSize:
        """Qt's: the lines they need at this width."""
        return QSize(theme_of().px(320), self._flow(max(1, self.width()), move=False))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt's."""
        super().resizeEvent(event)
        self._flow(self.width(), move=True)


class FigureRows(QWidget):
    """Requested, trained, loaded, per chat: a row of 34 each, name, figure, who says it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self.head = Words(self.tr("The window, as it is"), "interface_bold", "ink", self)
        self.rows: list[FigureRow] = []
        self._column = QVBoxLayout(self)
        self._column.setSpacing(0)
        self._column.addWidget(self.head)

    def show_rows(self, figures: Sequence[WindowFigure], guard: str) -> None:
        """Show these; the one that decides in the colour of the guard's verdict."""
        while len(self.rows) < len(figures):
            row = FigureRow(self)
            self.rows.append(row)
            self._column.addWidget(row)
        for row, value in zip(self.rows, figures, strict=False):
            row.show_figure(value, guard)

    def setContentsMargins(self, *margins: int) -> None:  # type: ignore[override]  # the int form
        """Qt's; the layout keeps them."""
        self._column.setContentsMargins(*margins)


class FigureRow(QWidget):
    """One figure."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self.name = Words("", "interface", "ink2", self)
        self.value = Words("", "interface_bold", "ink", self)
        self.origin = Words("", "interface", "ink2", self)
        self.tone = "ink"
        self._theme.changed.connect(self._renew)
        self._renew()

    def _renew(self) -> None:
        self.setFixedHeight(self._theme.px(_ROW_PX))
        self._place()

    def show_figure(self, row: WindowFigure, guard: str) -> None:
        """Show a figure; red or amber if it is the trouble."""
        self.tone = ({"block": "red", "warn": "amber"}.get(guard, "ink")) if row.decides else "ink"
        self.name.setText(figure_name(row.kind))
        self.value.setText(figure_value(row))
        self.value.set_color(self.tone)
        self.origin.setText(origin_words(row))
        self.setAccessibleName(spoken_figure(row))
        self._place()

    def _place(self) -> None:
        px, high = self._theme.px, self._theme.px(20)
        top = (self.height() - high) // 2
        self.name.setGeometry(0, top, px(_NAME_PX), high)
        wide = self.value.sizeHint().width()
        right = px(_NAME_PX) + px(_FIGURE_PX)
        self.value.setGeometry(right - wide, top, wide, high)
        left = right + px(12)
        self.origin.setGeometry(left, top, max(0, self.width() - left), high)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt's."""
        super().resizeEvent(event)
        self._place()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: the line below."""
        y = self.height() - line_width(self.devicePixelRatioF())
        hairline(QPainter(self), 0, y, self.width(), self._theme.color("line"))
