"""What the composer is made of: the text field and the round button."""

from PySide6.QtCore import (
    QEvent,
    QMimeData,
    QPointF,
    QRectF,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QFocusEvent,
    QFontMetricsF,
    QImage,
    QInputMethodEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QTextBlockFormat,
    QTextCursor,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QFrame,
    QSizePolicy,
    QStyle,
    QTextEdit,
    QWidget,
)

from app.command_list import CommandList
from app.theme import theme_of
from app.theme.controls import set_focus_ring
from app.theme.painting import rounded
from app.typed import clean_text

MARGIN_PX = 15
"""Room between the text and the end of the field."""

_CARET_PX = 2
_LONG_TEXT = 20_000  # characters; in a longer text each key would be felt
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class DraftEdit(QTextEdit):
    """The text field: plain text on a grid of lines, in any script and direction.

    It decides what a key means and does nothing about it. While an input method composes, and
    for the rest of the event that ends it, Enter belongs to the input method.

    Signals:
        send_pressed(): Enter, or Ctrl+Enter.
        escape_pressed(): Escape.
        history_pressed(int): Up (-1) or Down (+1) at the edge of the text.
        files_dropped(list): paths of local files that were dropped or pasted.
        image_pasted(QImage): a picture was pasted or dropped that is no file.
        long_text_pasted(str): a text that makes it too long to be typed in; it was not inserted.
        focus_changed(bool): it got or lost the focus.
    """

    send_pressed = Signal()
    escape_pressed = Signal()
    history_pressed = Signal(int)
    files_dropped = Signal(list)
    image_pasted = Signal(QImage)
    long_text_pasted = Signal(str)
    focus_changed = Signal(bool)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.completion: CommandList | None = None
        self._placeholder = ""
        self._composing = False
        self._just_composed = QTimer(self)
        self._just_composed.setSingleShot(True)
        self._blink = QTimer(self)
        self._blink.timeout.connect(self._on_blink)
        self._caret_on = False
        self.setAcceptRichText(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setLineWrapMode(QTextEdit.LineWrapMode.WidgetWidth)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setCursorWidth(0)  # painted here: Qt's own caret takes no colour
        self.setStyleSheet("QTextEdit { background: transparent; border: 0; padding: 0 }")
        self.viewport().setAutoFillBackground(False)
        self.document().setDocumentMargin(0)
        self.cursorPositionChanged.connect(self._on_caret_moved)
        self.setAccessibleName(self.tr("Message"))
        self.restyle()

    @property
    def composing(self) -> bool:
        """Whether an input method has a composition open, or closed one in this very event."""
        return self._composing or self._just_composed.isActive()

    @property
    def placeholder(self) -> str:
        """What stands in the empty field."""
        return self._placeholder

    def set_placeholder(self, text: str) -> None:
        """Change what stands in the empty field; a screen reader gets it as the description."""
        self._placeholder = text
        self.setAccessibleDescription(text)
        self.viewport().update()

    def line_px(self) -> int:
        """Height of one line."""
        return theme_of().line_height("spoken")

    def leading_px(self) -> int:
        """Empty room over the letters of the first line: Qt puts all of a fixed line's there."""
        return max(0, self.line_px() - round(QFontMetricsF(self.font()).height()))

    def text_px(self) -> int:
        """Height of the whole text."""
        return max(self.line_px(), round(self.document().size().height()))

    def restyle(self) -> None:
        """Take font and line height from the theme again."""
        self.setFont(theme_of().font("spoken"))
        self.document().setDefaultFont(theme_of().font("spoken"))
        self._set_margin()
        self._set_lines()
        self._on_caret_moved()

    def text(self) -> str:
        """The text, with plain line ends and its no-break spaces."""
        return clean_text(self.document().toRawText())

    def replace_text(self, text: str, *, undoable: bool) -> None:
        """Put `text` in place of the whole, the caret behind it."""
        if not undoable:
            self.document().setUndoRedoEnabled(False)
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)
        if not undoable:
            self.document().setUndoRedoEnabled(True)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    # -- Qt's: text in -------------------------------------------------------------------

    def loadResource(self, kind: int, name: object) -> object:
        """Qt's; a draft loads nothing."""
        return None

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Qt's; text, local files, pictures."""
        return bool(source.hasText() or source.hasImage() or local_files(source))

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Qt's; what was pasted or dropped: files are told, text goes in as plain text."""
        if files := local_files(source):
            self.files_dropped.emit(files)
            return
        text = clean_text(source.text()) if source.hasFormat("text/plain") else ""
        if source.hasImage() and not text.strip():  # a table of a spreadsheet comes as both
            self.image_pasted.emit(QImage(source.imageData()))
            return
        text = text or clean_text(source.text())
        if len(text) + self.document().characterCount() > _LONG_TEXT:
            self.long_text_pasted.emit(text)
        elif text:
            self.textCursor().insertText(text)
            self.ensureCursorVisible()

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        """Qt's; keeps track of whether a composition is open."""
        was_composing, self._composing = self._composing, bool(event.preeditString())
        if was_composing and not self._composing:
            self._just_composed.start(0)  # an Enter in the same batch of events ended it
        super().inputMethodEvent(event)
        self._on_caret_moved()

    # -- Qt's: keys ----------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        """Qt's; while a composition or the list of commands is open, its keys come first."""
        inner = self._composing or self._list_is_open()
        if event.type() == QEvent.Type.ShortcutOverride and inner:
            assert isinstance(event, QKeyEvent)
            if event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_Tab, *_ENTER):
                event.accept()
                return True
        if event.type() == QEvent.Type.KeyPress and self._list_is_open():
            assert isinstance(event, QKeyEvent)
            if event.key() == Qt.Key.Key_Tab:  # before Qt makes it move the focus
                self.keyPressEvent(event)
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt's; Enter, Escape, Up and Down have a meaning here, all others are Qt's."""
        key, modifiers = event.key(), event.modifiers()
        plain = not modifiers & ~Qt.KeyboardModifier.KeypadModifier
        if key in _ENTER:
            self._on_enter(event)
        elif plain and self.completion is not None and self.completion.take_key(key):
            event.accept()
        elif key == Qt.Key.Key_Escape and not self.composing:
            self.escape_pressed.emit()
        elif plain and key == Qt.Key.Key_Up and self._at_edge(QTextCursor.MoveOperation.Up):
            self.history_pressed.emit(-1)
        elif plain and key == Qt.Key.Key_Down and self._at_edge(QTextCursor.MoveOperation.Down):
            self.history_pressed.emit(1)
        else:
            super().keyPressEvent(event)

    def _on_enter(self, event: QKeyEvent) -> None:
        event.accept()
        breaking = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.AltModifier
        if self.composing:
            return
        if event.modifiers() & breaking:
            self.textCursor().insertBlock()
            self.ensureCursorVisible()
        elif event.isAutoRepeat():
            return  # a held key sends once
        elif self.completion is None or not self.completion.take_key(event.key()):
            self.send_pressed.emit()

    def _at_edge(self, towards: QTextCursor.MoveOperation) -> bool:
        return not QTextCursor(self.textCursor()).movePosition(towards)

    def _list_is_open(self) -> bool:
        return self.completion is not None and self.completion.isVisible()

    # -- Qt's: looks ---------------------------------------------------------------------

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Qt's; the caret blinks."""
        super().focusInEvent(event)
        self._on_caret_moved()
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Qt's; the caret goes."""
        super().focusOutEvent(event)
        self._blink.stop()
        self._caret_on = False
        self.viewport().update()
        self.focus_changed.emit(False)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt's; paints the text, then placeholder and caret."""
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        if self._placeholder and self.document().isEmpty() and not self._composing:
            self._paint_placeholder(painter)
        if self._caret_on:
            rect = QRectF(self.cursorRect())
            metrics = QFontMetricsF(self.font())
            height = min(rect.height(), round(metrics.height()))
            top = rect.center().y() - height / 2
            width = max(_CARET_PX, self.style().pixelMetric(QStyle.PixelMetric.PM_TextCursorWidth))
            left = min(rect.left(), self.viewport().width() - width)
            painter.fillRect(QRectF(left, top, width, height), theme_of().color("accent"))
        painter.end()

    def _paint_placeholder(self, painter: QPainter) -> None:
        leading = self.leading_px()
        area = QRectF(0, leading, self.viewport().width(), self.line_px() - leading)
        area.adjust(_CARET_PX, 0, -_CARET_PX, 0)  # beside the caret, not under it
        text = QFontMetricsF(self.font()).elidedText(
            self._placeholder, Qt.TextElideMode.ElideRight, area.width()
        )
        painter.setFont(self.font())
        painter.setPen(theme_of().color("ink3"))
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, text)  # leading side is implied

    def changeEvent(self, event: QEvent) -> None:
        """Qt's; another direction of the interface puts the margin on the other side."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.LayoutDirectionChange:
            self._set_margin()

    def _set_margin(self) -> None:
        """Keep the text off the border that the scroll bar stands at."""
        margin = theme_of().px(MARGIN_PX)
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        self.setViewportMargins(margin if mirrored else 0, 0, 0 if mirrored else margin, 0)

    def _set_lines(self) -> None:
        """Put every paragraph on the grid of lines; later ones inherit it."""
        block_format = QTextBlockFormat()
        kind = QTextBlockFormat.LineHeightTypes.FixedHeight
        block_format.setLineHeight(self.line_px(), kind.value)
        undo = self.document().isUndoRedoEnabled()
        self.document().setUndoRedoEnabled(False)
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.mergeBlockFormat(block_format)
        self.document().setUndoRedoEnabled(undo)

    def _on_caret_moved(self) -> None:
        self._caret_on = self.hasFocus()
        flash = QApplication.styleHints().cursorFlashTime() // 2
        if self._caret_on and flash > 0:
            self._blink.start(flash)
        self.viewport().update()

    def _on_blink(self) -> None:
        self._caret_on = not self._caret_on
        self.viewport().update()


def local_files(source: QMimeData) -> list[str]:
    """Paths of the files of a clipboard or a drag; none if anything in it is not local."""
    urls = source.urls() if source.hasUrls() else []
    return [url.toLocalFile() for url in urls] if all(u.isLocalFile() for u in urls) else []


class SendButton(QAbstractButton):
    """The round button at the end of the composer; a pill that says Stop while a reply runs."""

    _SIZE_PX = 32

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._running = False
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        set_focus_ring(self, "outside", self._SIZE_PX // 2)
        self.set_running(running=False)

    @property
    def running(self) -> bool:
        """Whether it says Stop."""
        return self._running

    def set_running(self, *, running: bool) -> None:
        """Say Stop, or show the arrow."""
        self._running = running
        name = self.tr("Stop the reply") if running else self.tr("Send")
        self.setText(self.tr("Stop") if running else "")
        self.setAccessibleName(name)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """A circle, or as wide as the word and its key."""
        theme = theme_of()
        side = theme.px(self._SIZE_PX)
        if not self._running:
            return QSize(side, side)
        word = QFontMetricsF(theme.font("interface_medium")).horizontalAdvance(self.text())
        return QSize(
            round(theme.px(8 + 18 + 4) + word + theme.px(8) + self._key_width()) + theme.px(10),
            side,
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt's; Enter does what Space does."""
        if event.key() in _ENTER and not event.isAutoRepeat():
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt's; paints the state it is in."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = theme_of()
        if self._running:
            self._paint_pill(painter)
        else:
            fill, ink = self._colors()
            radius = self.height() / 2
            color = theme.color(fill)
            rounded(painter, QRectF(self.rect()), radius, color, color)
            self._paint_icon(painter, "send", ink, theme.px(20), (self.width() - theme.px(20)) / 2)
        painter.end()

    def _colors(self) -> tuple[str, str]:
        if not self.isEnabled():
            return "m_free", "ink3"
        if self.isDown():
            return "accent_down", "on_accent"
        return ("accent_hover" if self.underMouse() else "accent"), "on_accent"

    def _paint_pill(self, painter: QPainter) -> None:
        theme, box = theme_of(), QRectF(self.rect())
        lit = self.isDown() or self.underMouse()
        fill = theme.color("ink2" if lit else "ink")
        paper = theme.color("paper")
        rounded(painter, box, box.height() / 2, fill, fill)
        size, height = theme.px(18), theme.px(18)
        icon = self._placed(QRectF(theme.px(8), 0, size, box.height()))
        self._paint_icon(painter, "stop", "paper", size, icon.left())
        painter.setFont(theme.font("interface_medium"))
        painter.setPen(paper)
        words = QRectF(theme.px(8 + 18 + 4), 0, box.width(), box.height())
        words.setRight(box.width() - theme.px(10) - self._key_width())
        painter.drawText(self._placed(words), Qt.AlignmentFlag.AlignVCenter, self.text())
        key = QRectF(words.right(), (box.height() - height) / 2, self._key_width(), height)
        painter.setOpacity(0.75)
        rounded(painter, self._placed(key), theme.px(4), line=paper)
        painter.setFont(theme.font("tiny_medium"))
        painter.setPen(paper)
        painter.drawText(self._placed(key), Qt.AlignmentFlag.AlignCenter, self._key())

    def _placed(self, rect: QRectF) -> QRectF:
        """A rectangle where it belongs in the direction of the interface."""
        if self.layoutDirection() == Qt.LayoutDirection.RightToLeft:
            return QRectF(self.width() - rect.right(), rect.top(), rect.width(), rect.height())
        return rect

    def _paint_icon(
        self, painter: QPainter, name: str, color: str, size: int, left: float
    ) -> None:
        pixmap = theme_of().pixmap(name, color, size, self.devicePixelRatioF())
        painter.drawPixmap(QPointF(left, (self.height() - size) / 2), pixmap)

    def _key(self) -> str:
        return self.tr("Esc")

    def _key_width(self) -> float:
        metrics = QFontMetricsF(theme_of().font("tiny_medium"))
        return round(metrics.horizontalAdvance(self._key())) + theme_of().px(12)
