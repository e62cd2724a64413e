"""A one-line field for searching: a glass at its left, the shortcut or a way out at its right."""

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.theme import theme_of
from app.theme.controls import Field
from app.theme.painting import draw_key_tag

_DEBOUNCE_MS = 150


class SearchField(Field):
    """A field that tells what is looked for once typing pauses.

    Args:
        placeholder: what is searched; also its accessible name.
        parent: the widget it stands on.
        shortcut: shown as a tag while the field is empty, as "Ctrl+K".
        keeps: Esc leaves at once and the text stays; else Esc empties first.

    Signals:
        search_changed(text): the text, without blanks around it, a moment after the last key; at
            once when it was emptied.
        left(): Esc, in the empty field unless it keeps its text.
        stepped(rows): Up and Down (±1), PageUp and PageDown (±10): for the list that belongs to it.
    """

    search_changed = Signal(str)
    left = Signal()
    stepped = Signal(int)

    def __init__(
        self, placeholder: str, parent: QWidget, *, shortcut: str = "", keeps: bool = False
    ) -> None:
        super().__init__(placeholder, "", parent)
        self._shortcut, self._keeps = shortcut, keeps
        self._told = ""
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_DEBOUNCE_MS)
        self._timer.timeout.connect(self.tell_now)
        self.setPlaceholderText(placeholder)
        self.set_icon("search")
        self.textChanged.connect(self._on_text_changed)

    @property
    def told(self) -> str:
        """The text of the last `search_changed`."""
        return self._told

    def tell_now(self) -> None:
        """Tell what stands there without waiting for the pause."""
        self._timer.stop()
        text = self.text().strip()
        if text != self._told:
            self._told = text
            self.search_changed.emit(text)

    def _on_text_changed(self) -> None:
        if self.text().strip():
            self._timer.start()
        else:
            self.tell_now()

    # -- keys ----------------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        """Qt's: Esc is ours before any shortcut of the window takes it."""
        return keeps_escape(event) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt's: Esc empties, then leaves; arrows move in the list below."""
        steps = {
            Qt.Key.Key_Up: -1,
            Qt.Key.Key_Down: 1,
            Qt.Key.Key_PageUp: -10,
            Qt.Key.Key_PageDown: 10,
        }
        key = event.key()
        if key == Qt.Key.Key_Escape:
            if self.text() and not self._keeps:
                self.clear()
            else:
                self.left.emit()
        elif key in steps:
            self.stepped.emit(steps[Qt.Key(key)])
        else:
            super().keyPressEvent(event)

    # -- painting ------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt's, then the tag."""
        super().paintEvent(event)
        if self._shortcut and not self.text():
            theme = theme_of()
            right, middle = self.width() - theme.px(8), self.height() / 2
            draw_key_tag(QPainter(self), theme, self._shortcut, right, middle)


def keeps_escape(event: QEvent) -> bool:
    """Accepts the announcement of an Esc, so that the key comes here and to no shortcut."""
    if (
        event.type() == QEvent.Type.ShortcutOverride
        and isinstance(event, QKeyEvent)
        and event.key() == Qt.Key.Key_Escape
    ):
        event.accept()
        return True
    return False
