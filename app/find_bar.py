"""The bar to find words in a conversation: field, "3 of 12", next, previous, close."""

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.labels import Words
from app.search_field import SearchField, keeps_escape
from app.theme import theme_of
from app.theme.controls import IconButton
from app.theme.painting import hairline, line_width

HEIGHT = 44
_FIELD = 320


class FindBar(QWidget):
    """Asks for hits and says which one is shown. Enter is next, Shift+Enter previous, Esc closes.

    Signals:
        find_changed(text): mark these words; "" for none.
        next_requested(), previous_requested(): go to another hit.
        closed(): it was closed; the keys belong to the composer again.
    """

    find_changed = Signal(str)
    next_requested = Signal()
    previous_requested = Signal()
    closed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self.field = SearchField(self.tr("Find in this conversation"), self, keeps=True)
        self._count = Words("", "small", "ink2", self)
        self.previous = IconButton("chevron-left", self.tr("Previous"), self)
        self.next = IconButton("chevron-right", self.tr("Next"), self)
        self.close_button = IconButton("close", self.tr("Close"), self)
        self._row = QHBoxLayout(self)
        self._row.addWidget(self.field, 1000)  # as wide as it may be, then the gap grows
        self._row.addWidget(self._count)
        self._row.addStretch(1)
        for button in (self.previous, self.next, self.close_button):
            self._row.addWidget(button)
        self.field.search_changed.connect(self._on_search_changed)
        self.field.left.connect(self.leave)
        self.previous.clicked.connect(self.previous_requested)
        self.next.clicked.connect(self.next_requested)
        self.close_button.clicked.connect(self.leave)
        self._theme.changed.connect(self._renew)
        self._renew()
        self.set_count(0, 0)
        self.setAccessibleName(self.tr("Find"))

    @property
    def count_words(self) -> str:
        """What it says of the hits."""
        return self._count.text()

    def begin(self, text: str = "") -> None:
        """Show it and put the caret into its field; `text` replaces what stood there."""
        if text:
            self.field.setText(text)
        self.show()
        self.field.selectAll()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        if self.field.told:
            self.find_changed.emit(self.field.told)

    def leave(self) -> None:
        """Close it; the marks go with it."""
        if not self.isHidden():
            self.hide()
            self.find_changed.emit("")
            self.closed.emit()

    def set_count(self, current: int, total: int) -> None:
        """Say how many hits there are, and which one (from 1) is shown."""
        if total:
            text = self.tr("{0} of {1}").format(f"{current:,}", f"{total:,}")
        else:
            text = self.tr("Nothing found") if self.field.told else ""
        self._count.setText(text)
        self._count.setVisible(bool(text))
        self.previous.setEnabled(total > 0)
        self.next.setEnabled(total > 0)

    def _on_search_changed(self, text: str) -> None:
        if not text:
            self.set_count(0, 0)
        self.find_changed.emit(text)

    def _renew(self) -> None:
        px = self._theme.px
        self.setFixedHeight(px(HEIGHT))
        self._row.setContentsMargins(px(24), 0, px(12), 1)
        self._row.setSpacing(px(8))
        self.field.setMaximumWidth(px(_FIELD))
        self.update()

    # -- keys ----------------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        """Qt's: Esc is ours before any shortcut of the window takes it."""
        return keeps_escape(event) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt's: Enter and Shift+Enter go on and back, Esc closes."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.field.tell_now()
            back = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            (self.previous_requested if back else self.next_requested).emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.leave()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: the ground, and the line below."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("side"))
        y = self.height() - line_width(self.devicePixelRatioF())
        hairline(painter, 0, y, self.width(), self._theme.color("line"))
