"""One setting in the window: what it is, what changes it, what is wrong with what was typed."""

from PySide6.QtCore import QCoreApplication, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.client.preferences import SettingsState, Spot
from app.labels import Words
from app.preferences.drawing import EffectiveView, WindowDrawing
from app.preferences.editors import Editor, make_editor
from app.preferences.reading import Read
from app.preferences.words import help_words, range_words, title_words
from app.theme import theme_of
from app.theme.focus import set_focus_ring
from app.theme.painting import hairline
from app.words import joined
from engine.settings import Setting, Value

LABEL_PX = 236
GAP_PX = 24
_WINDOWS = ("context.cap_tokens", "context_window")


class SettingRow(QWidget):
    """Title and help at the left, the editor at the right; one below the other when narrow.

    Signals:
        typed(key, Read): something is being typed.
        changed(key, value): it is to be saved.
        reset_requested(key): the default is to apply again.
    """

    typed = Signal(str, object)
    changed = Signal(str, object)
    reset_requested = Signal(str)

    def __init__(self, setting: Setting, parent: QWidget) -> None:
        super().__init__(parent)
        self.setting = setting
        self._theme = theme_of()
        self._is_last = False
        self.setAccessibleName(title_words(setting))
        self.title = Words(title_words(setting), "interface_medium", "ink", self, wrap=True)
        self.help = Words(_help_of(setting), "small", "ink3", self, wrap=True)
        self.editor: Editor = make_editor(setting, self)
        self.reset = Link(self.tr("Reset"), self)
        self.reset.setAccessibleName(self.tr("Reset {}").format(title_words(setting)))
        self.reset.hide()
        self._problem: Words | None = None  # made when there is one: most rows never have
        self._note: Words | None = None
        self.effective = (
            EffectiveView(self) if setting.key == "compaction.reserve_tokens" else None
        )
        self.drawing = WindowDrawing(self) if setting.key in _WINDOWS else None
        self._lay_out()
        self.editor.typed.connect(self._on_typed)
        self.editor.edited.connect(self._on_edited)
        self.reset.clicked.connect(lambda: self.reset_requested.emit(setting.key))
        self._theme.changed.connect(self._renew)
        self._describe()
        self._renew()

    def _lay_out(self) -> None:
        self._labels = QWidget(self)
        label = QVBoxLayout(self._labels)
        label.setContentsMargins(0, 0, 0, 0)
        label.addWidget(self.title)
        label.addWidget(self.help)
        label.addStretch(1)
        self._label = label
        line = QHBoxLayout()
        line.addWidget(self.editor, 1)
        line.addWidget(self.reset, 0, Qt.AlignmentFlag.AlignVCenter)
        self._line = line
        self._controls = QVBoxLayout()
        self._controls.addLayout(line)
        if self.effective is not None:
            self._controls.addWidget(self.effective)
        if self.drawing is not None:
            self._controls.addWidget(self.drawing)
        self._controls.addStretch(1)
        self._box = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._box.addWidget(self._labels)
        self._box.addLayout(self._controls, 1)

    @property
    def problem(self) -> Words:
        """Why what stands there has no effect."""
        if self._problem is None:
            self._problem = Words("", "small", "red", self, wrap=True)
            self._problem.hide()
            self._controls.insertWidget(1, self._problem)
        return self._problem

    @property
    def note(self) -> Words:
        """What else there is to know."""
        if self._note is None:
            self._note = Words("", "small", "ink2", self, wrap=True)
            self._note.hide()
            self._controls.insertWidget(1 if self._problem is None else 2, self._note)
        return self._note

    # ---- what it shows --------------------------------------------------------------------------

    def show_state(self, state: SettingsState, spot: Spot) -> None:
        """Show what applies; what is being typed is left alone."""
        is_free = not state.is_overridden(spot) and not state.is_broken
        value = state.value(spot)
        self.editor.set_value(value)
        self.editor.setEnabled(is_free and (not spot.key or self._has_model(spot)))
        read = self.editor.read()
        self.set_problem(read.problem)
        can_reset = is_free and state.own(spot) is not None
        if not can_reset and self.reset.hasFocus():
            self.editor.focus_target.setFocus()
        self.reset.setVisible(can_reset)
        if state.is_overridden(spot):
            said = self.tr("{} in the environment decides.").format(self.setting.variable)
            self.set_note(said)

    def _has_model(self, spot: Spot) -> bool:
        """Whether there is something to set it for."""
        return self.setting.default is not None or bool(spot.model)

    def set_usable(self, *, usable: bool) -> None:
        """Whether it would change anything; what was set can be taken back all the same."""
        if not usable:
            self.editor.setEnabled(False)

    def set_note(self, text: str) -> None:
        """A line below the editor; "" takes it away."""
        if text or self._note is not None:
            self.note.setText(text)
            self.note.setVisible(bool(text))
            self._describe()

    def set_problem(self, text: str) -> None:
        """Why what stands there has no effect; "" when it has."""
        if text or self._problem is not None:
            self.problem.setText(text)
            self.problem.setVisible(bool(text))
            self._describe()
        self.editor.set_wrong(bool(text))

    def _describe(self) -> None:
        """Help, problem and note are read with the control."""
        problem = self._problem.text() if self._problem is not None else ""
        note = self._note.text() if self._note is not None else ""
        self.editor.describe(" ".join(word for word in (problem, self.help.text(), note) if word))

    def set_last(self, last: bool) -> None:  # noqa: FBT001  # a setter as Qt's own
        """Whether nothing comes after it in its group: no line is drawn then."""
        self._is_last = last
        self.update()

    def set_narrow(self, narrow: bool) -> None:  # noqa: FBT001  # as above
        """Whether the editor stands below the words."""
        way = QBoxLayout.Direction
        self._box.setDirection(way.TopToBottom if narrow else way.LeftToRight)
        wide = 16_777_215 if narrow else self._theme.px(LABEL_PX)  # Qt's largest
        self._labels.setMaximumWidth(wide)
        self._labels.setMinimumWidth(0 if narrow else wide)
        self._box.setSpacing(self._theme.px(8 if narrow else GAP_PX))

    # ---- inside ---------------------------------------------------------------------------------

    def _on_typed(self, read: Read) -> None:
        self.set_problem(read.problem)
        self.typed.emit(self.setting.key, read)

    def _on_edited(self, read: Read) -> None:
        self.set_problem(read.problem)
        if read.problem:
            return
        value: Value | None = read.value
        if value is None:
            self.reset_requested.emit(self.setting.key)
        else:
            self.changed.emit(self.setting.key, value)

    def _renew(self) -> None:
        px = self._theme.px
        self._box.setContentsMargins(0, px(12), 0, px(12))
        self._label.setSpacing(px(2))
        self._line.setSpacing(px(8))
        self._controls.setSpacing(px(6))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: the line below."""
        if not self._is_last:
            y = self.height() - 1
            hairline(QPainter(self), 0, y, self.width(), self._theme.color("line"))


class Link(QPushButton):
    """A word to press, without a box."""

    def __init__(self, text: str, parent: QWidget) -> None:
        super().__init__(text, parent)
        self._theme = theme_of()
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAutoDefault(False)
        set_focus_ring(self, "outside", 4)
        self._theme.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        """Qt's: its words."""
        metrics = QFontMetrics(self._theme.font("interface_medium"))
        return QSize(metrics.horizontalAdvance(self.text()) + 2, self._theme.px(24))

    def minimumSizeHint(self) -> QSize:
        """Qt's."""
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: the words, underlined under the pointer."""
        painter = QPainter(self)
        font = self._theme.font("interface_medium")
        font.setUnderline(self.underMouse() and self.isEnabled())
        painter.setFont(font)
        painter.setPen(self._theme.color("accent" if self.isEnabled() else "disabled"))
        painter.drawText(QRectF(self.rect()), Qt.AlignmentFlag.AlignCenter, self.text())


def _help_of(setting: Setting) -> str:
    if setting.default is None:
        return joined(help_words(setting), _bounds(setting))
    return joined(help_words(setting), range_words(setting))


def _bounds(setting: Setting) -> str:
    """What a model's own setting may be; it has no default to name."""
    if setting.minimum is None or setting.maximum is None:
        return ""
    said = QCoreApplication.translate("Preferences", "{least} to {most}.")
    return said.format(least=f"{setting.minimum:,}", most=f"{setting.maximum:,}")
