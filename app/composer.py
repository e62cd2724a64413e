"""The composer: where a message is written, with the meter and the button that sends or stops."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QImage,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.attachments import AttachmentRow
from app.command_list import CommandList
from app.composer_parts import DraftEdit, SendButton
from app.image_chips import ImageRow
from app.meter import Meter
from app.meter_plan import MeterValues
from app.theme import theme_of
from app.theme.controls import IconButton
from app.theme.painting import rounded
from app.think_chip import ThinkChip
from app.typed import (
    COMMANDS,
    Attachment,
    Command,
    History,
    Message,
    UnknownCommand,
    join_message,
    plan_completions,
    plan_submission,
    split_message,
)

_DRAFT_MS = 400
_BORDER_PX = 1
_TOP_PX = 12
_SIDE_PX = 16
_UNDER_TEXT_PX = 4
_TOOLS_PX = 44
_TOOLS_BOTTOM_PX = 4
_TOOL_PX = 32
_METER_PX = 20
DOCK_WIDTH_PX = 768
"""How wide it likes to be, at zoom 1."""


class Composer(QWidget):
    """Text field, attached files, meter and button in one box.

    It reads no file and sends nothing: it tells what was asked for. A text and the files that go
    along are one string, as `app.typed.join_message` writes it, in `submitted`, in the draft and
    in the history alike. Pictures are beside it.

    Attributes:
        pictures: those that go along.

    Signals:
        submitted(str): a message was sent; the field is empty again.
        submitted_with(str, tuple): the same, with the pictures (`AttachedImage`) that go along.
        command(str, str): a slash command was given: its name without the slash, the rest.
        unknown_command(str): what was sent looks like a command and is none; it was kept.
        refused(str): sending is blocked, for this reason; the text was kept.
        stop_requested(): the running reply shall stop.
        draft_changed(str): what is written has changed; told some 0.4 s after the last key.
        files_dropped(list): paths of files that were dropped or pasted.
        image_pasted(QImage): a picture was pasted or dropped that is no file.
        images_changed(tuple): the user took a picture away, or all were sent.
        attach_requested(): the attach button was pressed.
        meter_clicked(): the meter was pressed.
    """

    submitted = Signal(str)
    submitted_with = Signal(str, tuple)
    command = Signal(str, str)
    unknown_command = Signal(str)
    refused = Signal(str)
    stop_requested = Signal()
    draft_changed = Signal(str)
    files_dropped = Signal(list)
    image_pasted = Signal(QImage)
    images_changed = Signal(tuple)
    attach_requested = Signal()
    meter_clicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._attachments: tuple[Attachment, ...] = ()
        self._history = History()
        self._blocked = ""
        self._dropping = False
        self._recalling = False
        self._told_draft = ""
        self.pictures = ImageRow(self)
        self._files = AttachmentRow(self)
        self._edit = DraftEdit(self)
        self._attach = IconButton("attach", self.tr("Attach files"))
        self._attach.setParent(self)
        self.think = ThinkChip(self)
        self.meter = Meter(self)
        self._button = SendButton(self)
        self._commands = CommandList(self)
        self._edit.completion = self._commands
        self._draft_timer = QTimer(self)
        self._draft_timer.setSingleShot(True)
        self._draft_timer.setInterval(_DRAFT_MS)
        self._watched: QWidget | None = None
        self.setAcceptDrops(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusProxy(self._edit)
        self.setAccessibleName(self.tr("Composer"))
        self._connect()
        self.set_model("")
        self._on_theme()

    def _connect(self) -> None:
        edit = self._edit
        edit.textChanged.connect(self._on_text_changed)
        edit.document().documentLayout().documentSizeChanged.connect(self._on_size_changed)
        edit.cursorPositionChanged.connect(self._offer_commands)
        edit.send_pressed.connect(self.send)
        edit.escape_pressed.connect(self._on_escape)
        edit.history_pressed.connect(self._on_history)
        edit.files_dropped.connect(self.files_dropped)
        edit.image_pasted.connect(self.image_pasted)
        edit.long_text_pasted.connect(self._on_long_text)
        edit.focus_changed.connect(self._on_focus)
        self._files.removed.connect(self.remove_attachment)
        self.pictures.changed.connect(self._on_pictures)
        self.pictures.removed.connect(self._on_picture_removed)
        self._attach.clicked.connect(self.attach_requested)
        self.think.shown_changed.connect(self._place)
        self.meter.clicked.connect(self.meter_clicked)
        self._button.clicked.connect(self._on_button)
        self._commands.chosen.connect(self._on_command_chosen)
        self._draft_timer.timeout.connect(self.flush_draft)
        theme_of().changed.connect(self._on_theme)

    # -- what is written -----------------------------------------------------------------

    def text(self) -> str:
        """What is written, with the files that go along."""
        return join_message(self._edit.text(), self._attachments)

    def set_text(self, text: str) -> None:
        """Show another draft, as when another conversation is opened; it cannot be undone.

        What was written before is told through `draft_changed` first, so call this, or
        `flush_draft`, before another conversation becomes the current one.
        """
        self.flush_draft()
        self._history = self._history.left()
        self._put(text, undoable=False)
        self._told_draft = self.text()
        self._draft_timer.stop()

    def insert_text(self, text: str) -> None:
        """Put a text where the caret is, as when a passage is quoted; it can be undone."""
        self._edit.textCursor().insertText(text)

    def replace_typed(self, text: str) -> None:
        """Put a text in place of what is typed, the files staying; it can be undone."""
        self._edit.replace_text(text, undoable=True)

    def flush_draft(self) -> None:
        """Tell the draft now if it is not told yet."""
        self._draft_timer.stop()
        draft = self.text()
        if draft != self._told_draft:
            self._told_draft = draft
            self.draft_changed.emit(draft)

    def undo(self) -> None:
        """Take back the last change of the text."""
        self._edit.undo()

    def redo(self) -> None:
        """Make the change again that was taken back last."""
        self._edit.redo()

    # -- files that go along -------------------------------------------------------------

    def attachments(self) -> tuple[Attachment, ...]:
        """The files that go along."""
        return self._attachments

    def add_attachment(self, attachment: Attachment) -> None:
        """Add a file that was read; one of the same name and text is there only once."""
        known = {(one.name, one.text) for one in self._attachments}
        if (attachment.name, attachment.text) not in known:
            self.set_attachments((*self._attachments, attachment))

    def set_attachments(self, attachments: Sequence[Attachment]) -> None:
        """Replace the files that go along, as when their tokens are known."""
        self._attachments = tuple(attachments)
        self._files.set_attachments(self._attachments)
        self._on_text_changed()
        self._on_size_changed()

    def remove_attachment(self, index: int) -> None:
        """Leave one of the files out."""
        kept = [one for i, one in enumerate(self._attachments) if i != index]
        self.set_attachments(kept)
        self._edit.setFocus(Qt.FocusReason.OtherFocusReason)

    # -- state ---------------------------------------------------------------------------

    def set_running(self, running: bool) -> None:  # noqa: FBT001  # the name says what it is
        """Whether a reply runs: the button says Stop, Escape stops, Enter still submits."""
        if running == self._button.running:  # told with every piece of a reply
            return
        self._button.set_running(running=running)
        self._renew_button()
        self._place()

    def set_blocked(self, reason: str) -> None:
        """Send nothing for this reason, a sentence; "" to send again."""
        self._blocked = reason
        self._renew_button()

    def set_meter(self, values: MeterValues) -> None:
        """Show these values in the meter."""
        self.meter.set_values(values)

    def set_model(self, name: str) -> None:
        """Name the model in the placeholder; "" for no model."""
        text = self.tr("Message {model}").format(model=name) if name else self.tr("Message")
        self._edit.set_placeholder(text)

    def set_history(self, texts: Sequence[str]) -> None:
        """What Up goes back to, oldest first."""
        self._history = History.of(texts)

    def send(self) -> None:
        """Do what Enter does."""
        if self._blocked:
            self.refused.emit(self._blocked)
            return
        planned, alone = plan_submission(self._edit.text()), not self._goes_along
        match planned:
            case UnknownCommand(name):
                self.unknown_command.emit(name)
            case Command(name, rest) if alone:
                self._empty()
                self.command.emit(name, rest)
            case None if alone:
                pass
            case _:
                typed = planned.text if isinstance(planned, Message) else self._edit.text().strip()
                self._send_message(join_message(typed, self._attachments))

    def _send_message(self, message: str) -> None:
        if refusal := self.pictures.refusal(has_words=bool(message.strip())):
            self.refused.emit(refusal)
            return
        if message:
            self._history = self._history.added(self.text())
        images = self.pictures.take()
        self._empty()
        if images:
            self.images_changed.emit(())
            self.submitted_with.emit(message, images)
        else:
            self.submitted.emit(message)

    @property
    def _goes_along(self) -> bool:
        return bool(self._attachments or self.pictures.images)

    # -- Qt's ----------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        """As high as the text needs, up to a third of the window."""
        return QSize(theme_of().px(DOCK_WIDTH_PX), self._height())

    def minimumSizeHint(self) -> QSize:
        """Wide enough for the meter's figures and the pill; as high as the text needs."""
        px = theme_of().px
        tools = self.meter.minimumSizeHint().width() + self._button.sizeHint().width()
        return QSize(tools + px(2 * 8 + _TOOL_PX + 4 + 12 + 2), self._height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt's; another width may need another height."""
        super().resizeEvent(event)
        self._place()
        self._on_size_changed()

    def showEvent(self, event: QShowEvent) -> None:
        """Qt's; watches the window's height from here on."""
        super().showEvent(event)
        if self._watched is not self.window():
            if self._watched is not None:
                self._watched.removeEventFilter(self)
            self._watched = self.window()
            self._watched.installEventFilter(self)
        self._on_size_changed()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt's; a higher window lets the text grow higher."""
        if event.type() == QEvent.Type.Resize and watched is self._watched:
            self._on_size_changed()
        return super().eventFilter(watched, event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Qt's; a click anywhere in the box goes on writing."""
        self._edit.setFocus(Qt.FocusReason.MouseFocusReason)
        super().mousePressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Qt's; the whole box takes text and files."""
        if self._edit.canInsertFromMimeData(event.mimeData()):
            event.acceptProposedAction()
            self._show_dropping(dropping=True)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Qt's; the border goes back."""
        self._show_dropping(dropping=False)

    def dropEvent(self, event: QDropEvent) -> None:
        """Qt's; what falls beside the text field counts as well."""
        self._show_dropping(dropping=False)
        self._edit.insertFromMimeData(event.mimeData())
        event.acceptProposedAction()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt's; paints the box."""
        theme, painter = theme_of(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        lit = self._dropping or self._edit.hasFocus()
        line = theme.color("accent" if lit else "control")
        fill = theme.color("raised")
        rounded(painter, QRectF(self.rect()), theme.px(12), fill, line)
        painter.end()

    # -- inside: size --------------------------------------------------------------------

    def _text_height(self) -> int:
        """Height of the text field: whole lines, one to a third of the window."""
        line = self._edit.line_px()
        most = max(line, self.window().height() // 3 // line * line)
        return min(self._edit.text_px(), most)

    def _inner_width(self) -> int:
        return max(0, self.width() - 2 * theme_of().px(_SIDE_PX))

    def _height(self) -> int:
        px = theme_of().px
        files = self._files.height_for(self._inner_width())
        files += self.pictures.height_for(self._inner_width())
        frame = 2 * _BORDER_PX + px(_TOP_PX + _UNDER_TEXT_PX + _TOOLS_PX)
        return frame + files + self._text_height()

    def _place(self) -> None:
        """Put the parts where they belong; mirrored in a right-to-left interface."""
        px, width = theme_of().px, self.width()
        side, y, inner = px(_SIDE_PX), _BORDER_PX + px(_TOP_PX), self._inner_width()
        above, files = self.pictures.height_for(inner), self._files.height_for(inner)
        self._put_at(self.pictures, QRect(side, y, inner, above))
        y += above
        self._put_at(self._files, QRect(side, y, inner, files))
        # The field reaches to the border, so that its scroll bar stands at the edge; it is as
        # much higher as puts the letters, not their lines, into the middle.
        height, rise = self._text_height(), self._edit.leading_px() // 2
        self._put_at(self._edit, QRect(side, y + files - rise, width - side - _BORDER_PX, height))
        top = y + files + height + px(_UNDER_TEXT_PX)
        middle = top + px(_TOOLS_PX - _TOOLS_BOTTOM_PX) // 2
        tool, edge = px(_TOOL_PX), _BORDER_PX + px(8)
        self._put_at(self._attach, QRect(edge, middle - tool // 2, tool, tool))
        button = self._button.sizeHint()
        right = width - edge - button.width()
        self._put_at(self._button, QRect(right, middle - tool // 2, button.width(), tool))
        left = edge + tool + px(4)
        spare = right - px(12 + 8) - left - self.meter.minimumSizeHint().width()
        chip = self.think.width_within(spare)
        self.think.setVisible(bool(chip))
        if chip:
            self._put_at(self.think, QRect(left, middle - px(12), chip, px(24)))
            left += chip + px(8)
        meter = QRect(left, middle - px(_METER_PX) // 2, right - px(12) - left, px(_METER_PX))
        self._put_at(self.meter, meter)

    def _put_at(self, part: QWidget, rect: QRect) -> None:
        if self.layoutDirection() == Qt.LayoutDirection.RightToLeft:
            rect.moveLeft(self.width() - rect.left() - rect.width())
        part.setGeometry(rect)

    def _on_size_changed(self) -> None:
        if self.height() != self._height():
            self.setFixedHeight(self._height())
        self._place()

    # -- inside: what happens ------------------------------------------------------------

    def _put(self, text: str, *, undoable: bool) -> None:
        typed, attachments = split_message(text)
        self._recalling = True
        self._edit.replace_text(typed, undoable=undoable)
        self._recalling = False
        self.set_attachments(attachments)
        self._commands.hide()

    def _empty(self) -> None:
        """Nothing is written any more, and that is told at once."""
        self._put("", undoable=False)
        self._history = self._history.left()
        self.flush_draft()

    def _on_text_changed(self) -> None:
        if not self._recalling and self._history.shown not in (None, self.text()):
            self._history = self._history.left()
        self._renew_button()
        self._offer_commands()
        self._draft_timer.start()

    def _renew_button(self) -> None:
        something = self._goes_along or bool(self._edit.text().strip())
        sends = something and not self._blocked
        self._button.setEnabled(sends or self._button.running)
        self._button.setToolTip("" if self._button.running else self._blocked)

    def _on_history(self, step: int) -> None:
        """Up in an empty field, or while an unchanged text of the history stands in it."""
        text = self.text()
        if text and text != self._history.shown:
            return
        moved = self._history.moved(step)
        if moved != self._history:
            self._history = moved
            self._put(moved.shown or "", undoable=True)

    def _on_escape(self) -> None:
        if self._button.running:
            self.stop_requested.emit()

    def _on_button(self) -> None:
        if self._button.running:
            self.stop_requested.emit()
        else:
            self.send()
            self._edit.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_pictures(self) -> None:
        self._renew_button()
        self._on_size_changed()

    def _on_picture_removed(self) -> None:
        self.images_changed.emit(self.pictures.images)
        self._edit.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_long_text(self, text: str) -> None:
        number = len(self._attachments) + 1
        name = self.tr("Pasted text {number}.txt").format(number=number)
        self.add_attachment(Attachment.of(name, text))

    def _on_focus(self, has: bool) -> None:  # noqa: FBT001  # a slot
        if not has:
            self._commands.hide()
        self.update()

    def _offer_commands(self) -> None:
        text = self._edit.text()
        at_end = self._edit.textCursor().position() == len(text)
        offers = at_end and self._edit.hasFocus() and not self._recalling
        self._commands.offer(plan_completions(text) if offers else (), self)

    def _on_command_chosen(self, name: str, at_once: bool) -> None:  # noqa: FBT001  # a slot
        runs = at_once and (not COMMANDS[name] or self._edit.text() == f"/{name}")
        space = " " if COMMANDS[name] else ""
        self._edit.replace_text(f"/{name}{space}", undoable=True)
        self._commands.hide()
        if runs:
            self.send()

    def _show_dropping(self, *, dropping: bool) -> None:
        self._dropping = dropping
        self.update()

    def _on_theme(self) -> None:
        self._edit.restyle()
        self._on_size_changed()
        self.update()
