"""Saying something else instead: a composer in the place of the message that is edited."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.attachments import AttachmentRow
from app.composer_parts import DraftEdit
from app.labels import Words
from app.theme import theme_of
from app.theme.controls import Button
from app.theme.painting import rounded
from app.typed import Attachment, join_message, split_message

if TYPE_CHECKING:
    from app.transcript.view import TranscriptView

_TOP_PX, _SIDE_PX, _TOOLS_PX, _BORDER_PX = 12, 16, 44, 1
_AWAY = -100_000  # px: out of sight, and still with the focus


class MessageEditor(QWidget):
    """A message as a text to be changed, with the files that go along; Send and Cancel below.

    Signals:
        submitted(text): this shall be said instead.
        cancelled(): it stays as it was.
        resized(): it wants another height.
    """

    submitted = Signal(str)
    cancelled = Signal()
    resized = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._files = AttachmentRow(self)
        self._attachments: tuple[Attachment, ...] = ()
        self._most = 0
        self.edit = DraftEdit(self)
        self.edit.setAccessibleName(self.tr("Edit the message"))
        self.edit.installEventFilter(self)
        self.hint = Words(self.tr("The old version stays."), "small", "ink3", self)
        self.cancel = Button(self.tr("Cancel"), "quiet", "", self)
        self.send = Button(self.tr("Send"), "primary", "", self)
        self.setAccessibleName(self.edit.accessibleName())
        self.setFocusProxy(self.edit)
        self._connect()
        self._renew()

    def _connect(self) -> None:
        edit = self.edit
        edit.send_pressed.connect(self._submit)
        edit.escape_pressed.connect(self.cancelled)
        edit.textChanged.connect(self._on_changed)
        edit.document().documentLayout().documentSizeChanged.connect(self.resized)
        edit.long_text_pasted.connect(edit.insertPlainText)
        edit.focus_changed.connect(self.update)
        self.cancel.clicked.connect(self.cancelled)
        self.send.clicked.connect(self._submit)
        self._files.removed.connect(self._remove)
        theme_of().changed.connect(self._renew)

    # -- what is written -----------------------------------------------------------------

    def text(self) -> str:
        """What is written, with the files that go along."""
        return join_message(self.edit.text(), self._attachments)

    def set_text(self, text: str) -> None:
        """Begin with this text."""
        typed, self._attachments = split_message(text)
        self.edit.replace_text(typed, undoable=False)
        self._files.set_attachments(self._attachments)
        self._on_changed()

    def _remove(self, index: int) -> None:
        self._attachments = tuple(a for i, a in enumerate(self._attachments) if i != index)
        self._files.set_attachments(self._attachments)
        self._on_changed()
        self.resized.emit()

    def _submit(self) -> None:
        text = self.text()
        if text.strip():
            self.submitted.emit(text)

    def _on_changed(self) -> None:
        self.send.setEnabled(bool(self.text().strip()))

    # -- size ----------------------------------------------------------------------------

    def height_for(self, width: int, most: int) -> int:
        """The height it wants at a width, its text at most `most` px high."""
        px = theme_of().px
        self._most = most
        inner = width - 2 * px(_SIDE_PX)
        self.edit.setFixedWidth(max(1, inner))
        files = self._files.height_for(inner)
        return 2 * _BORDER_PX + px(_TOP_PX) + files + self._text_height() + px(_TOOLS_PX)

    def _text_height(self) -> int:
        line = self.edit.line_px()
        return min(self.edit.text_px(), max(line, self._most // line * line))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt's: the parts at their places."""
        super().resizeEvent(event)
        px, width = theme_of().px, self.width()
        side, top = px(_SIDE_PX), _BORDER_PX + px(_TOP_PX)
        files = self._files.height_for(width - 2 * side)
        self._files.setGeometry(side, top, width - 2 * side, files)
        rise = self.edit.leading_px() // 2
        text = self._text_height()
        self.edit.setGeometry(side, top + files - rise, width - 2 * side, text + rise)
        self._place_tools(top + files + text)

    def _place_tools(self, top: int) -> None:
        px, right = theme_of().px, self.width() - theme_of().px(8)
        middle = top + px(_TOOLS_PX) // 2
        for button in (self.send, self.cancel):
            size = button.sizeHint()
            right -= size.width()
            button.setGeometry(right, middle - size.height() // 2, size.width(), size.height())
            right -= px(8)
        height = self.hint.sizeHint().height()
        left = px(_SIDE_PX)
        self.hint.setGeometry(left, middle - height // 2, max(0, right - left), height)

    def sizeHint(self) -> QSize:
        """As it is."""
        return self.size()

    def _renew(self) -> None:
        self.edit.restyle()
        self.resized.emit()
        self.update()

    # -- Qt's ----------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt's: Esc ends the editing here, before it stops a reply."""
        is_key = event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent)
        if is_key and event.key() == Qt.Key.Key_Escape:  # type: ignore[attr-defined]  # a QKeyEvent
            event.accept()
            return True
        return super().eventFilter(watched, event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Qt's: a click beside the text goes on writing, and is no click on the page."""
        self.edit.setFocus(Qt.FocusReason.MouseFocusReason)
        event.accept()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: the box."""
        theme, painter = theme_of(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), theme.color("paper"))
        line = theme.color("accent" if self.edit.hasFocus() else "control")
        rounded(painter, QRectF(self.rect()), theme.px(12), theme.color("raised"), line)
        painter.end()


class Editing(QObject):
    """The one message of a view that is edited in its place.

    Signals:
        submitted(item_id, text): say this instead.
        left(item_id, text): it is over and nothing is said; `text` is what was written so far, ""
            if it was given up.
    """

    submitted = Signal(str, str)
    left = Signal(str, str)

    def __init__(self, view: "TranscriptView") -> None:
        super().__init__(view)
        self._view = view
        self._editor: MessageEditor | None = None

    @property
    def item_id(self) -> str:
        """The message that is edited, "" for none."""
        return self._view.desk.editing

    @property
    def editor(self) -> MessageEditor | None:
        """The field, while something is edited."""
        return self._editor

    def begin(self, item_id: str, text: str) -> None:
        """Put the field in the place of a message, with this text."""
        self.leave()
        index = self._view.model.index_of(item_id)
        if index < 0:
            return
        editor = MessageEditor(self._view.viewport())
        editor.set_text(text)
        editor.submitted.connect(self._on_submitted)
        editor.cancelled.connect(self.cancel)
        self._editor = editor
        self._view.desk.editing = item_id
        self._measure()
        self._view.remake(index)
        editor.resized.connect(self._on_resized)
        editor.show()
        box = self._view.box(index)
        self._view.show_span(index, 0, box.height)
        editor.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def cancel(self) -> None:
        """The message stays as it was; what was written is given up."""
        self._end("")

    def leave(self) -> None:
        """End it for now: what was written is told."""
        if self._editor is not None:
            self._end(self._editor.text())

    def _end(self, text: str) -> None:
        item_id = self.item_id
        if self._take_away():
            self.left.emit(item_id, text)

    def _on_submitted(self, text: str) -> None:
        item_id = self.item_id
        if self._take_away():
            self.submitted.emit(item_id, text)

    def _take_away(self) -> bool:
        editor, self._editor = self._editor, None
        if editor is None:
            return False
        item_id, self._view.desk.editing = self.item_id, ""
        editor.hide()
        editor.deleteLater()
        index = self._view.model.index_of(item_id)
        if index >= 0:
            self._view.remake(index)
        self._view.setFocus(Qt.FocusReason.OtherFocusReason)
        return True

    def _measure(self) -> None:
        assert self._editor is not None
        most = self._view.viewport().height() // 2
        width = self._view.column()[1]
        self._view.desk.editor_height = self._editor.height_for(width, most)

    def _on_resized(self) -> None:
        index = self._view.model.index_of(self.item_id)
        if self._editor is None or index < 0:
            return
        before = self._view.desk.editor_height
        self._measure()
        if self._view.desk.editor_height != before:
            self._view.remake(index)
        self.place()

    def place(self) -> None:
        """Put the field where its message stands now; end it when the message is gone."""
        editor = self._editor
        if editor is None:
            return
        index = self._view.model.index_of(self.item_id)
        if index < 0:
            self.leave()
            return
        left, width = self._view.column()
        if editor.width() not in (0, width):
            self._measure()
        rect = self._view.item_rect(index)
        top = rect.top() if not rect.isEmpty() else _AWAY
        editor.setGeometry(left, top, width, self._view.desk.editor_height)
