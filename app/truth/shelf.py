"""The foot of the models' list: what is in memory, what is fetched, and the ways to more models."""

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QDateTime, QEvent, QLocale, QObject, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.client import Pull
from app.client.library import Holdings, LoadedModel
from app.labels import Words, prose
from app.pull_words import row_texts, size_text, spoken
from app.theme import theme_of
from app.theme.controls import Button, IconButton, Progress, set_focus_ring

_STEPS = 10_000
_HIGHEST_PX = 232
"""What is in memory and fetched takes no more of the list's room; more is scrolled."""


class Shelf(QWidget):
    """Below the list: a fault, memory, pulls, the disk, buttons.

    Signals:
        get_requested(): ask which model Ollama shall fetch.
        open_requested(): ask for a GGUF file.
        retry_requested(): ask the server again.
        unload_requested(model): put a model out of the memory.
        pull_chosen(name): show a pull.
        pull_action(name, what): "pause", "resume" or "cancel" one.
    """

    get_requested = Signal()
    open_requested = Signal()
    retry_requested = Signal()
    unload_requested = Signal(str)
    pull_chosen = Signal(str)
    pull_action = Signal(str, str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self.fault = Words("", "small", "red", self, wrap=True)
        self.problem = Words("", "small", "ink2", self, wrap=True)
        self.retry = Button(self.tr("Try again"), "quiet", "retry", self)
        self._inner = QWidget(self)
        self.area = _Fitted(self._inner, self)
        self.loaded_head = Words(self.tr("In memory"), "tiny_medium", "ink3", self._inner)
        self.loaded: list[LoadedRow] = []
        self.pulls_head = Words(
            self.tr("From Ollama's library"), "tiny_medium", "ink3", self._inner
        )
        self.pulls: list[PullRow] = []
        self.disk = Words("", "small", "ink3", self)
        self.get_button = self._wide(self.tr("Get a model from Ollama…"), "download")
        self.open_button = self._wide(self.tr("Open a GGUF file…"), "folder")
        self._lay_out()
        self.get_button.clicked.connect(self.get_requested)
        self.open_button.clicked.connect(self.open_requested)
        self.retry.clicked.connect(self.retry_requested)
        self._theme.changed.connect(self._renew)
        self._renew()
        self.set_holdings(Holdings())
        self.set_pulls(())
        self.say("")

    def _wide(self, text: str, icon: str) -> Button:
        button = Button(text, "plain", icon, self)
        button.setAutoDefault(False)
        policy = button.sizePolicy()
        policy.setHorizontalPolicy(QSizePolicy.Policy.Expanding)
        button.setSizePolicy(policy)
        return button

    def _lay_out(self) -> None:
        self.retry.setAutoDefault(False)
        inner = self._rows = QVBoxLayout(self._inner)
        inner.addWidget(self.loaded_head)
        self._loaded = QVBoxLayout()
        inner.addLayout(self._loaded)
        inner.addWidget(self.pulls_head)
        self._pulls = QVBoxLayout()
        inner.addLayout(self._pulls)
        inner.addStretch(1)
        column = self._column = QVBoxLayout(self)
        column.addWidget(self.fault)
        column.addWidget(self.problem)
        column.addWidget(self.retry, 0, Qt.AlignmentFlag.AlignLeft)
        for widget in (self.area, self.disk, self.get_button, self.open_button):
            column.addWidget(widget)

    def _renew(self) -> None:
        px = self._theme.px
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(px(8))
        self._rows.setContentsMargins(px(2), 0, px(2), 0)
        for layout in (self._rows, self._loaded, self._pulls):
            layout.setSpacing(px(6))
        for words in (self.fault, self.problem, self.disk, self.loaded_head, self.pulls_head):
            words.setContentsMargins(px(8), 0, px(8), 0)
        self.limit(self._theme.px(_HIGHEST_PX))

    def limit(self, height: int) -> None:
        """Give what is in memory and fetched no more of the list's room than this, px."""
        self.area.setMaximumHeight(min(height, self._theme.px(_HIGHEST_PX)))
        self._fit()

    # -- what it shows -------------------------------------------------------------------

    def say(self, fault: str) -> None:
        """Say what could not be done; "" takes it back."""
        self.fault.setText(fault)
        self.fault.setVisible(bool(fault))

    def set_holdings(self, holdings: Holdings) -> None:
        """Show what is in memory and how much of the disk is free."""
        self.problem.setText(holdings.problem)
        self.problem.setVisible(bool(holdings.problem))
        self.retry.setVisible(bool(holdings.problem))
        for row, model in zip(self._ready(len(holdings.loaded)), holdings.loaded, strict=True):
            row.show_model(model)
        self.loaded_head.setVisible(bool(holdings.loaded))
        free = size_text(holdings.free_bytes) if holdings.free_bytes else ""
        self.disk.setText(self.tr("{} free on this computer's disk").format(free) if free else "")
        self.disk.setVisible(bool(free))
        self._fit()

    def _ready(self, count: int) -> list["LoadedRow"]:
        """So many rows, visible."""
        while len(self.loaded) < count:
            row = LoadedRow(self._inner)
            row.unload.clicked.connect(lambda _=False, row=row: self._on_unload(row.model))
            self.loaded.append(row)
            self._loaded.addWidget(row)
        for number, row in enumerate(self.loaded):
            row.setVisible(number < count)
        return self.loaded[:count]

    def _on_unload(self, model: str) -> None:
        self.say("")
        self.unload_requested.emit(model)

    def set_pulls(self, pulls: Sequence[Pull]) -> None:
        """Show what is fetched."""
        while len(self.pulls) < len(pulls):
            row = PullRow(self._inner)
            row.chosen.connect(self.pull_chosen)
            row.action.connect(self.pull_action)
            self.pulls.append(row)
            self._pulls.addWidget(row)
        for number, row in enumerate(self.pulls):
            row.setVisible(number < len(pulls))
            if number < len(pulls):
                row.show_pull(pulls[number])
        self.pulls_head.setVisible(bool(pulls))
        self._fit()

    def _fit(self) -> None:
        self.area.setVisible(not (self.loaded_head.isHidden() and self.pulls_head.isHidden()))
        self.area.updateGeometry()


class _Fitted(QScrollArea):
    """As high as what is in it, as far as it may."""

    def __init__(self, content: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self._content = content
        self.setWidget(content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self.viewport().setAutoFillBackground(False)
        content.setAutoFillBackground(False)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt's, which makes the content fit; here the other way round as well."""
        if watched is self._content and event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)

    def sizeHint(self) -> QSize:
        """Qt's."""
        return self._content.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """Qt's: a row and a bit."""
        return QSize(0, min(self.sizeHint().height(), theme_of().px(64)))


class LoadedRow(QWidget):
    """A model in memory: its name, where it is and until when, and the button that unloads it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self.model = ""
        self.title = Words("", "interface_medium", "ink", self)
        self.words = Words("", "small", "ink2", self)
        self.unload = Button(self.tr("Unload"), "quiet", "", self)
        self.unload.setAutoDefault(False)
        top = QHBoxLayout()
        top.addWidget(self.title, 1)
        top.addWidget(self.unload)
        self._column = QVBoxLayout(self)
        self._column.setSpacing(0)
        self._column.addLayout(top)
        self._column.addWidget(self.words)
        self._theme.changed.connect(self._renew)
        self._renew()

    def _renew(self) -> None:
        self._column.setContentsMargins(self._theme.px(8), 0, 0, 0)

    def show_model(self, loaded: LoadedModel) -> None:
        """Show a model."""
        words = " · ".join(loaded_texts(loaded))
        self.model = loaded.model
        self.title.setText(loaded.title)
        self.words.setText(words)
        self.setAccessibleName(f"{loaded.title}, {words}")
        self.unload.setAccessibleName(self.tr("Unload {}").format(loaded.title))


def loaded_texts(loaded: LoadedModel) -> list[str]:
    """How large, where, and until when."""
    texts = [size_text(loaded.size_bytes)] if loaded.size_bytes else []
    share = loaded.gpu_share
    if share is not None:
        texts.append(_place(share))
    if loaded.until_ms:
        moment = QDateTime.fromMSecsSinceEpoch(loaded.until_ms)
        is_today = moment.date() == QDateTime.currentDateTime().date()
        shown = moment.time() if is_today else moment
        time = QLocale().toString(shown, QLocale.FormatType.ShortFormat)
        texts.append(QCoreApplication.translate("ModelsWindow", "until {}").format(time))
    elif loaded.stays:
        texts.append(QCoreApplication.translate("ModelsWindow", "until it is unloaded"))
    return texts


def _place(gpu_share: float) -> str:
    percent = round(gpu_share * 100)
    if percent <= 0:
        return QCoreApplication.translate("ModelsWindow", "CPU")
    if percent >= 100:
        return QCoreApplication.translate("ModelsWindow", "GPU")
    return QCoreApplication.translate("ModelsWindow", "{} % GPU").format(percent)


class PullRow(QWidget):
    """A model that is fetched: its name, which shows more, two buttons, a bar, how far it is.

    Signals:
        chosen(name): show it.
        action(name, what): "pause", "resume" or "cancel" it.
    """

    chosen = Signal(str)
    action = Signal(str, str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self._name = ""
        self._what = "pause"
        self.title = _Title(self)
        self.main_button = IconButton("pause", "", self, size=28, icon_size=16)
        self.cancel_button = IconButton("close", "", self, size=28, icon_size=16)
        self.bar = Progress("", self)
        self.start = Words("", "small", "ink2", self)
        self.end = Words("", "small", "ink2", self)
        self._lay_out()
        self.title.clicked.connect(lambda: self.chosen.emit(self._name))
        self.main_button.clicked.connect(lambda: self.action.emit(self._name, self._what))
        self.cancel_button.clicked.connect(lambda: self.action.emit(self._name, "cancel"))
        self._theme.changed.connect(self._renew)
        self._renew()

    def _lay_out(self) -> None:
        top, low = QHBoxLayout(), QHBoxLayout()
        for widget in (self.title, self.main_button, self.cancel_button):
            top.addWidget(widget, 1 if widget is self.title else 0)
        top.setSpacing(0)
        low.addWidget(self.start, 1)
        low.addWidget(self.end)
        self._column = QVBoxLayout(self)
        self._column.addLayout(top)
        self._column.addWidget(self.bar)
        self._column.addLayout(low)

    def _renew(self) -> None:
        px = self._theme.px
        self._column.setContentsMargins(px(8), 0, 0, px(4))
        self._column.setSpacing(px(2))

    def show_pull(self, pull: Pull) -> None:
        """Show how it is."""
        self._name = pull.name
        self.title.setText(pull.name)
        self.title.setAccessibleName(spoken(pull))
        icon, name, self._what = {
            "paused": ("play", self.tr("Resume {}"), "resume"),
            "failed": ("retry", self.tr("Try {} again"), "resume"),
        }.get(pull.state, ("pause", self.tr("Pause {}"), "pause"))
        self.main_button.set_icon(icon)
        self.main_button.set_name(name.format(pull.name))
        failed = pull.state == "failed"
        cancel = self.tr("Remove {}") if failed else self.tr("Cancel {}")
        self.cancel_button.set_name(cancel.format(pull.name))
        share = pull.done / pull.total if pull.total else 0.0
        self.bar.setRange(0, _STEPS)
        self.bar.setValue(int(_STEPS * min(share, 1.0)))
        self.bar.setAccessibleName(pull.name)
        start, end = row_texts(pull)
        self.start.setText(pull.error if failed else start)
        self.start.set_color("red" if failed else "ink2")
        self.end.setText("" if failed else end)


class _Title(QAbstractButton):
    """A name that is pressed."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        set_focus_ring(self, "inside", 4)
        self._theme.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        """Qt's: one line."""
        return QSize(self._theme.px(80), self._theme.px(28))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: the name, underlined under the pointer."""
        font = prose(self._theme.font("interface_medium"))
        font.setUnderline(self.underMouse())
        painter = QPainter(self)
        painter.setFont(font)
        painter.setPen(self._theme.color("ink"))
        shown = QFontMetrics(font).elidedText(
            self.text(), Qt.TextElideMode.ElideMiddle, self.width()
        )
        painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignVCenter), shown)
