"""The list of pages at the left: one of them is shown; arrows move between them."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QRadioButton, QSizePolicy, QVBoxLayout, QWidget

from app.preferences.pages import Page
from app.theme import theme_of
from app.theme.focus import set_focus_ring
from app.theme.painting import rounded


class Navigation(QWidget):
    """The names of the pages.

    Signals:
        chosen(id): show a page.
    """

    chosen = Signal(str)

    def __init__(self, pages: Sequence[Page], parent: QWidget) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Pages"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.rows: dict[str, _Row] = {}
        for page in pages:
            row = self.rows[page.id] = _Row(page.title, self)
            row.clicked.connect(lambda _on, id_=page.id: self.chosen.emit(id_))  # by arrows too
            column.addWidget(row)
        column.addStretch(1)

    def set_page(self, page: str) -> None:
        """Mark a page as the one that is shown, without telling; "" for none of them."""
        for id_, row in self.rows.items():
            row.blockSignals(True)
            row.setAutoExclusive(False)  # or the last one that is on cannot be put off
            row.setChecked(id_ == page)
            row.setAutoExclusive(True)
            row.blockSignals(False)
            row.update()


class _Row(QRadioButton):
    """The name of a page."""

    def __init__(self, words: str, parent: QWidget) -> None:
        super().__init__(words, parent)
        self._theme = theme_of()
        self.setAccessibleName(words)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        set_focus_ring(self, "inside", 6)
        self._theme.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        """Qt's: a row of 32."""
        return QSize(self._theme.px(120), self._theme.px(32))

    def minimumSizeHint(self) -> QSize:
        """Qt's."""
        return QSize(self._theme.px(48), self._theme.px(32))

    def hitButton(self, pos: QPoint) -> bool:
        """Qt's: all of it can be pressed."""
        return self.rect().contains(pos)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: its ground, its words."""
        theme, box = self._theme, QRectF(self.rect())
        painter = QPainter(self)
        fill = "selected" if self.isChecked() else "hover" if self.underMouse() else ""
        if fill:
            rounded(painter, box, theme.px(6), theme.color(fill))
        painter.setFont(theme.font("interface_medium" if self.isChecked() else "interface"))
        painter.setPen(theme.color("ink"))
        room = box.adjusted(theme.px(8), 0, -theme.px(8), 0)
        words = painter.fontMetrics().elidedText(
            self.text(), Qt.TextElideMode.ElideRight, int(room.width())
        )
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, words)
