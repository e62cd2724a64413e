"""The foot of the conversation: status line, cards and composer in one column."""

from itertools import pairwise

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QVBoxLayout, QWidget

from app.composer import DOCK_WIDTH_PX, Composer
from app.notices import Notices
from app.theme import theme_of

_COLUMN_PX = 720  # of the messages above, for the usual width
_DOCK_SIDE_PX = 8
_DOCK_BOTTOM_PX = 12


class ComposerDock(QWidget):
    """The foot of the conversation: the status line over the composer, centred in its column."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._column = QWidget(self)
        self.notices = Notices(self._column)
        self.composer = Composer(self._column)
        self._rows = QVBoxLayout(self._column)
        self._rows.setSpacing(0)
        self._rows.addWidget(self.notices)
        self._rows.addWidget(self.composer)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._outer = QVBoxLayout(self)
        self._outer.setContentsMargins(0, 0, 0, 0)
        self._outer.addWidget(self._column)
        self._width_px = DOCK_WIDTH_PX
        self.setFocusProxy(self.composer)
        theme_of().changed.connect(self._on_theme)
        self._on_theme()

    def put_above(self, card: QWidget) -> None:
        """Put a card between the status line and the composer; Tab comes to it in this order."""
        self._rows.insertWidget(self._rows.count() - 1, card)
        stops = [*self.notices.findChildren(QAbstractButton), *card.findChildren(QAbstractButton)]
        for first, second in pairwise(stops):
            QWidget.setTabOrder(first, second)

    def set_column(self, width: int) -> None:
        """The most a line of the messages above may be wide, in px at zoom 1: it stands under them."""
        self._width_px = width + DOCK_WIDTH_PX - _COLUMN_PX
        self._on_theme()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt's; keeps the column in the middle."""
        super().resizeEvent(event)
        self._on_theme()

    def _on_theme(self) -> None:
        px = theme_of().px
        spare = max(0, self.width() - px(self._width_px)) // 2
        side = px(_DOCK_SIDE_PX)
        self._outer.setContentsMargins(spare, 0, spare, 0)
        self._rows.setContentsMargins(side, 0, side, px(_DOCK_BOTTOM_PX))
