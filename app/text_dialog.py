"""A text to be written apart: a system prompt, what a summary should keep."""

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget

from app.dialogs import Dialog
from app.labels import Words
from app.theme import theme_of
from app.theme.controls import Button
from app.theme.painting import rounded

_LINES = 8
_LINE_PX = 24


class TextDialog(Dialog):
    """Asks for a text of one or more lines; Ctrl+Enter, or Enter in a single line, takes it.

    Args:
        title: what it is about.
        about: a sentence or two above the field.
        text: what stands in it at first, selected.
        parent: the window it belongs to.
        ok: what the button says that takes the text.
        lines: how many lines are shown.
        can_be_empty: whether an empty text may be taken.

    Signals:
        taken(text): this is what was written; without white space around it.
    """

    taken = Signal(str)

    def __init__(
        self,
        title: str,
        about: str,
        text: str,
        parent: QWidget,
        *,
        ok: str,
        lines: int = _LINES,
        can_be_empty: bool = True,
    ) -> None:
        super().__init__(title, parent, 560)
        self.setAccessibleName(title)
        self._lines = lines
        self._can_be_empty = can_be_empty
        self.column.addWidget(Words(about, "interface", "ink2", self, wrap=True))
        self.field = _Field(title, self)
        self.field.setPlainText(text)
        self.field.selectAll()
        self.field.setFixedHeight(self._theme.px(lines * _LINE_PX))
        if self.is_single:
            self.field.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.column.addWidget(_Box(self.field, self))
        self.column.addLayout(self.buttons)
        self.cancel_button = self.add_close(self.tr("Cancel"))
        self.ok_button = self.add_button(Button(ok, "primary", "", self))
        self.ok_button.clicked.connect(self._take)
        self.ok_button.setDefault(True)
        self.field.textChanged.connect(self._on_changed)
        self.finished.connect(parent.setFocus)  # where one goes on writing
        self.field.setFocus()
        self._on_changed()

    @property
    def is_single(self) -> bool:
        """Whether it asks for one line only."""
        return self._lines == 1

    def _text(self) -> str:
        return self.field.toPlainText().strip()

    def _on_changed(self) -> None:
        self.ok_button.setEnabled(self._can_be_empty or bool(self._text()))

    def _take(self) -> None:
        if self.ok_button.isEnabled():
            text = self._text()
            self.accept()
            self.taken.emit(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt's: Enter takes a single line, Ctrl+Enter any text."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._take()
            return
        super().keyPressEvent(event)


class _Field(QPlainTextEdit):
    """The text. Enter breaks the line where there is more than one.

    Signals:
        focus_changed(): it got or lost the focus.
    """

    focus_changed = Signal()

    def __init__(self, name: str, dialog: TextDialog) -> None:
        super().__init__(dialog)
        self._dialog = dialog
        self.setAccessibleName(name)
        self.setTabChangesFocus(True)
        self.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.setFont(theme_of().font("spoken"))
        self.viewport().setAutoFillBackground(False)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Qt's."""
        super().focusInEvent(event)
        self.focus_changed.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Qt's."""
        super().focusOutEvent(event)
        self.focus_changed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt's."""
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and (control or self._dialog.is_single):
            event.ignore()
        else:
            super().keyPressEvent(event)


class _Box(QWidget):
    """The painted border around the field."""

    def __init__(self, field: _Field, parent: QWidget) -> None:
        super().__init__(parent)
        self._field = field
        row = QVBoxLayout(self)
        pad = theme_of().px(8)
        row.setContentsMargins(pad, pad, pad, pad)
        row.addWidget(field)
        field.focus_changed.connect(self.update)

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme, painter = theme_of(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = theme.color("accent" if self._field.hasFocus() else "control")
        rounded(painter, QRectF(self.rect()), theme.px(6), theme.color("raised"), line)
