"""What is wrong with the settings file, over the settings."""

from PySide6.QtCore import QRectF, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.client.preferences import SettingsState
from app.labels import Words
from app.theme import theme_of
from app.theme.controls import Button
from app.theme.painting import draw_icon, rounded
from app.words import joined

_MOST = 4
"""So many problems are named, the others counted."""


class Banner(QWidget):
    """A card with the problems; hidden while there are none.

    Signals:
        open_requested(): open the file.
        set_aside_requested(): begin a new file; only offered when nothing of this one applies.
    """

    open_requested = Signal()
    set_aside_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self._is_broken = False
        self.words = Words("", "interface", "ink", self, wrap=True)
        self.open = Button(self.tr("Open settings.toml"), "plain", "file", self)
        self.aside = Button(self.tr("Begin a new file"), "plain", "", self)
        column = QVBoxLayout(self)
        column.addWidget(self.words)
        row = QHBoxLayout()
        row.addWidget(self.open)
        row.addWidget(self.aside)
        row.addStretch(1)
        column.addLayout(row)
        self._column, self._row = column, row
        for button in (self.open, self.aside):
            button.setAutoDefault(False)
        self.open.clicked.connect(self.open_requested)
        self.aside.clicked.connect(self.set_aside_requested)
        self._theme.changed.connect(self._renew)
        self._renew()
        self.hide()

    def show_state(self, state: SettingsState) -> None:
        """Name what is wrong, if anything."""
        self._is_broken = state.is_broken
        lines = list(state.problems[:_MOST])
        if len(state.problems) > _MOST:
            more = self.tr("And {} more.")
            lines.append(more.format(len(state.problems) - _MOST))
        text = joined(*lines)
        self.words.setText(text)
        self.setAccessibleName(text)
        self.aside.setVisible(state.is_broken)
        self.setVisible(bool(lines))
        self.update()

    def _renew(self) -> None:
        px = self._theme.px
        self._column.setContentsMargins(px(16 + 18 + 8), px(14), px(16), px(14))
        self._column.setSpacing(px(12))
        self._row.setSpacing(px(8))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: the card and its icon."""
        theme, painter = self._theme, QPainter(self)
        kind, icon = ("red", "blocked") if self._is_broken else ("amber", "warning")
        line = theme.color(f"{kind}_line")
        rounded(painter, QRectF(self.rect()), theme.px(10), theme.color("raised"), line)
        draw_icon(painter, theme, icon, kind, (theme.px(16), theme.px(15), theme.px(18)))
