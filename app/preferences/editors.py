"""What a setting is changed with: one kind of editor for each kind of setting.

::

    typed(Read)   with every key: to explain at once
    edited(Read)  when it is meant: a click, Enter, leaving, or a pause in typing
"""

from collections.abc import Collection, Sequence

from PySide6.QtCore import QCoreApplication, QEvent, QLocale, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QResizeEvent, QTextOption
from PySide6.QtWidgets import (
    QAbstractButton,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QPlainTextEdit,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.labels import Words, prose
from app.preferences.reading import Read, check, lines_of, read_text, written
from app.preferences.secret import Reveal
from app.preferences.words import choice_words, title_words, unit_words, unset_model_words
from app.theme import theme_of
from app.theme.controls import Button, Choice, Field, Segmented, Switch
from app.theme.focus import set_focus_ring
from app.theme.painting import rounded
from engine.settings import Setting, Value

PAUSE_MS = 600
"""What is typed is applied when typing pauses for so long."""
_FIGURE_PX = 112
_BOX_LINES = (3, 8)
_UNSET = ""


class Editor(QWidget):
    """Changes one setting.

    Signals:
        typed(Read): what stands there now, with every key.
        edited(Read): it is meant.
    """

    typed = Signal(object)
    edited = Signal(object)

    def __init__(self, setting: Setting, parent: QWidget) -> None:
        super().__init__(parent)
        self.setting = setting
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._theme = theme_of()

    def set_value(self, value: Value | None) -> None:
        """Show a value without telling; what is being typed is left alone."""
        raise NotImplementedError

    def set_wrong(self, wrong: bool) -> None:  # noqa: FBT001  # a setter as Qt's own
        """Show that what stands there cannot be used."""

    def read(self) -> Read:
        """What stands there."""
        raise NotImplementedError

    @property
    def control(self) -> QWidget:
        """The widget that has the setting's name."""
        raise NotImplementedError

    @property
    def focus_target(self) -> QWidget:
        """The widget that takes the focus."""
        return self.control

    def describe(self, words: str) -> None:
        """Have a screen reader say this with the control."""
        self.control.setAccessibleDescription(words)


class SwitchEditor(Editor):
    """On or off."""

    def __init__(self, setting: Setting, parent: QWidget) -> None:
        super().__init__(setting, parent)
        self.switch = Switch(title_words(setting), self)
        self._words = Words("", "interface", "ink2", self)
        self._row.addWidget(self.switch)
        self._row.addWidget(self._words, 1)
        self._row.setSpacing(self._theme.px(10))
        self.switch.toggled.connect(self._say)
        self.switch.clicked.connect(lambda _checked: self.edited.emit(self.read()))
        self._say()
        self.setMinimumHeight(self._theme.px(24))

    def _say(self) -> None:
        self._words.setText(self.tr("On") if self.switch.isChecked() else self.tr("Off"))

    def set_value(self, value: Value | None) -> None:
        """Show a value without telling."""
        self.switch.setChecked(bool(value))

    def read(self) -> Read:
        """What it is now."""
        return Read(self.switch.isChecked())

    @property
    def control(self) -> QWidget:
        """The switch."""
        return self.switch


class ChoiceEditor(Editor):
    """One of a few, side by side where there is room, else in a list that opens."""

    def __init__(
        self, setting: Setting, parts: Sequence[tuple[str, str]], parent: QWidget
    ) -> None:
        super().__init__(setting, parent)
        self._words = dict(parts)
        self._keys = list(self._words)
        self._offered: Collection[str] = self._keys
        name = title_words(setting)
        self.segmented = Segmented(parts, name, self)
        self.choice = Choice(name, self)
        self.choice.addItems([words for _, words in parts])
        self._row.addWidget(self.segmented)
        self._row.addWidget(self.choice)
        self._row.addStretch(1)
        self.segmented.chosen.connect(self._on_chosen)
        self.choice.activated.connect(lambda at: self._on_chosen(self._keys[at]))
        self._theme.changed.connect(self._fit)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._fit()

    def sizeHint(self) -> QSize:
        """All parts side by side."""
        return QSize(self.segmented.sizeHint().width(), self._theme.px(32))

    def minimumSizeHint(self) -> QSize:
        """The list that opens."""
        return QSize(self.choice.minimumSizeHint().width(), self._theme.px(32))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt's: choose what fits."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        fits = self.segmented.sizeHint().width() <= self.width()
        self.segmented.setVisible(fits)
        self.choice.setVisible(not fits)

    def offer(self, choices: Collection[str]) -> None:
        """Offer these only, and what is chosen; whoever may leave it unset may go on to."""
        self._offered = {*choices, _UNSET}
        self._show(self.segmented.value)

    def _on_chosen(self, key: str) -> None:
        self._show(key)
        self.edited.emit(self.read())

    def _show(self, key: str) -> None:
        self.segmented.set_value(key)
        keys = [other for other in self._words if other in self._offered or other == key]
        if keys != self._keys:
            self._keys = keys
            self.segmented.offer(keys)
            self.choice.clear()
            self.choice.addItems([self._words[other] for other in keys])
            self._fit()
        self.choice.setCurrentIndex(keys.index(key))

    def set_value(self, value: Value | None) -> None:
        """Show a value without telling."""
        self._show(_UNSET if value is None else str(value))

    def read(self) -> Read:
        """The part that is chosen."""
        key = self.segmented.value
        return Read() if key == _UNSET else check(self.setting, key)

    @property
    def control(self) -> QWidget:
        """Whichever of the two is shown."""
        return self.choice if self.segmented.isHidden() else self.segmented

    @property
    def focus_target(self) -> QWidget:
        """The list, or the part that is chosen."""
        if self.segmented.isHidden():
            return self.choice
        return next(part for part in self._segments() if part.isChecked())

    def _segments(self) -> list[QAbstractButton]:
        return self.segmented.findChildren(QAbstractButton)

    def describe(self, words: str) -> None:
        """Have a screen reader say this with every part, and with the list."""
        for widget in (self.segmented, self.choice, *self._segments()):
            widget.setAccessibleDescription(words)


class ModelEditor(Editor):
    """One of the models; what stands in the file is offered too, if it is none of them."""

    def __init__(self, setting: Setting, parent: QWidget) -> None:
        super().__init__(setting, parent)
        self.choice = Choice(title_words(setting), self)
        self._row.addWidget(self.choice, 1)
        self._labels: list[str] = []
        self._value = ""
        self._models: tuple[tuple[str, str], ...] = ()
        self.choice.activated.connect(lambda _at: self.edited.emit(self.read()))
        self.set_models(())

    def set_models(self, models: Sequence[tuple[str, str]]) -> None:
        """Offer these: (label, title) pairs."""
        self._models = tuple(models)
        known = dict(self._models)
        empty = unset_model_words(self.setting)
        self._labels = ["", *known]
        if self._value not in self._labels:
            self._labels.append(self._value)
        self.choice.clear()
        for label in self._labels:
            self.choice.addItem(known.get(label, label) if label else empty)
        self.choice.setCurrentIndex(self._labels.index(self._value))

    def set_value(self, value: Value | None) -> None:
        """Show a value without telling."""
        self._value = str(value or "")
        self.set_models(self._models)

    def read(self) -> Read:
        """The model that is chosen."""
        return check(self.setting, self._labels[max(0, self.choice.currentIndex())])

    @property
    def control(self) -> QWidget:
        """The list."""
        return self.choice


class _TypedEditor(Editor):
    """Something that is typed, and applied when it is meant."""

    def __init__(self, setting: Setting, parent: QWidget) -> None:
        super().__init__(setting, parent)
        self._timer = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._timer.timeout.connect(self.apply)
        self._shown: Value | None = None

    def apply(self) -> None:
        """Tell what stands there, if it is another value than the one that was shown."""
        self._timer.stop()
        read = self.read()
        if read.problem or read.value != self._shown:
            self._shown = self._shown if read.problem else read.value
            self.edited.emit(read)

    def set_value(self, value: Value | None) -> None:
        """Show a value without telling; what is being typed is left alone."""
        is_typing = self._timer.isActive()
        self._shown = value
        read = self.read()
        is_same = not read.problem and read.value == value
        if is_typing or (is_same and self.control.hasFocus()):
            return
        self._write(written(self.setting, value, QLocale().groupSeparator() or ","))

    def read(self) -> Read:
        """What stands there, understood."""
        locale = QLocale()
        group, point = locale.groupSeparator() or ",", locale.decimalPoint() or "."
        return read_text(self.setting, self._text(), group=group, point=point)

    def _on_typed(self) -> None:
        self._timer.start()
        self.typed.emit(self.read())

    def _text(self) -> str:
        raise NotImplementedError

    def _write(self, text: str) -> None:
        raise NotImplementedError


class FieldEditor(_TypedEditor):
    """A figure with its unit, or one line of text."""

    def __init__(self, setting: Setting, parent: QWidget) -> None:
        super().__init__(setting, parent)
        is_figure = setting.kind in ("whole", "number")
        self.field = Field(title_words(setting), "", self, numeric=is_figure)
        if setting.default is None:
            self.field.setPlaceholderText(self.tr("not set"))
        self._is_figure = is_figure
        self._row.addWidget(self.field, 0 if is_figure else 1)
        if setting.secret:
            self._row.addWidget(Reveal(self.field, self))
        if setting.unit:
            self._row.addWidget(Words(unit_words(setting), "interface", "ink3", self))
        if is_figure:
            self._row.addStretch(1)
        self.field.textEdited.connect(lambda _text: self._on_typed())
        self.field.editingFinished.connect(self._on_finished)
        self._theme.changed.connect(self._renew)
        self._renew()

    def _renew(self) -> None:
        self._row.setSpacing(self._theme.px(8))
        if self._is_figure:
            self.field.setFixedWidth(self._theme.px(_FIGURE_PX))

    def _on_finished(self) -> None:
        self.apply()
        if not self.read().problem:
            self._write(written(self.setting, self._shown, QLocale().groupSeparator() or ","))

    def set_wrong(self, wrong: bool) -> None:  # noqa: FBT001  # a setter as Qt's own
        """Show that what stands there cannot be used."""
        self.field.set_wrong(wrong)

    def _text(self) -> str:
        return self.field.text()

    def _write(self, text: str) -> None:
        if self.field.text() != text:
            self.field.setText(text)

    @property
    def control(self) -> QWidget:
        """The field."""
        return self.field


class _Box(QPlainTextEdit):
    """Several lines of text in a painted frame; Tab goes on to the next control."""

    left = Signal()

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self.is_wrong = False
        self.setAccessibleName(name)
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.viewport().setAutoFillBackground(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        set_focus_ring(self, "none")
        self.document().setDocumentMargin(0)
        self.textChanged.connect(self._fit)
        self._theme.changed.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        px = self._theme.px
        self.setFont(prose(self._theme.font("interface")))
        self.setViewportMargins(px(10), px(6), px(6), px(6))
        least, most = _BOX_LINES
        lines = min(max(self.document().blockCount() + 1, least), most)
        self.setFixedHeight(lines * self.fontMetrics().lineSpacing() + px(14))

    def event(self, event: QEvent) -> bool:
        """Qt's: leaving is told, and the frame shows the focus."""
        kind = event.type()
        if kind == QEvent.Type.Paint and isinstance(event, QPaintEvent):
            self._paint_frame()
        if kind in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.update()
        if kind == QEvent.Type.FocusOut:
            self.left.emit()
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt's; Ctrl+Enter is done."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and event.modifiers():
            self.left.emit()
            return
        super().keyPressEvent(event)

    def _paint_frame(self) -> None:
        color, focused = self._theme.color, self.hasFocus()
        edge = "red" if self.is_wrong else "accent" if focused else "control"
        edge = edge if self.isEnabled() else "line"
        painter, width = QPainter(self), 2.0 if focused else 0.0
        box, radius = QRectF(self.rect()), self._theme.px(6)
        rounded(painter, box, radius, color("raised"), color(edge), width=width)
        painter.end()


class BoxEditor(_TypedEditor):
    """Text of several lines, or a list with one entry a line."""

    def __init__(self, setting: Setting, parent: QWidget) -> None:
        super().__init__(setting, parent)
        self.box = _Box(title_words(setting), self)
        column = QVBoxLayout()
        column.addWidget(self.box)
        self._row.addLayout(column, 1)
        self.add: Button | None = None
        if setting.kind == "list":
            self.box.setPlaceholderText(self.tr("One path a line"))
            self.add = Button(self.tr("Add…"), "plain", "folder", self)
            self.add.setAccessibleName(self.tr("Add to {}").format(title_words(setting)))
            self.add.clicked.connect(self._choose_path)
            column.addWidget(self.add)
            column.setSpacing(self._theme.px(6))
        elif setting.default is None:
            self.box.setPlaceholderText(self.tr("not set"))
        self.box.textChanged.connect(self._on_changed)
        self.box.left.connect(self.apply)
        self._is_writing = False

    def _on_changed(self) -> None:
        if not self._is_writing:
            self._on_typed()

    def _choose_path(self) -> None:
        """One more entry, chosen and not typed."""
        title = title_words(self.setting)
        if self.setting.key == "models.folders":
            path = QFileDialog.getExistingDirectory(self, title)
        else:
            path, _ = QFileDialog.getOpenFileName(self, title, "", self.tr("Models (*.gguf)"))
        if path:
            lines = [line for line in self.box.toPlainText().splitlines() if line.strip()]
            self.box.setPlainText(lines_of([*lines, path]))
            self.apply()

    def set_wrong(self, wrong: bool) -> None:  # noqa: FBT001  # a setter as Qt's own
        """Show that what stands there cannot be used."""
        self.box.is_wrong = wrong
        self.box.update()

    def _text(self) -> str:
        return self.box.toPlainText()

    def _write(self, text: str) -> None:
        if self.box.toPlainText() != text:
            self._is_writing = True
            self.box.setPlainText(text)
            self._is_writing = False

    @property
    def control(self) -> QWidget:
        """The box."""
        return self.box


_MODELS = ("models.default", "compaction.model")
_LONG = (
    "chat.system_prompt",
    "memory.notes",
    "compaction.instructions",
    "compaction.identifier_text",
    "system_prompt",
)


def make_editor(setting: Setting, parent: QWidget) -> Editor:
    """The editor for a setting."""
    if setting.key in _MODELS:
        return ModelEditor(setting, parent)
    if setting.kind == "switch":
        return SwitchEditor(setting, parent)
    if setting.choices:
        return ChoiceEditor(setting, _parts(setting), parent)
    if setting.kind == "list" or setting.key in _LONG:
        return BoxEditor(setting, parent)
    return FieldEditor(setting, parent)


def _parts(setting: Setting) -> list[tuple[str, str]]:
    unset = [(_UNSET, QCoreApplication.translate("Preferences", "Not set"))]
    parts = [(choice, choice_words(setting, choice)) for choice in setting.choices]
    return unset + parts if setting.default is None else parts
