"""The panel of a model that is fetched: how far it is, each layer, and what can be done."""

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.client import Pull, PullLayer
from app.labels import Words
from app.pull_words import amount_text, doing_text, size_text, whole_text
from app.theme import theme_of
from app.theme.controls import Button, Progress
from app.theme.painting import draw_icon, hairline, line_width, rounded
from app.words import joined

_ROW_PX, _DIGEST_PX, _AMOUNT_PX, _STEPS = 34, 128, 128, 10_000
_DIGITS = 12
"""Of a digest are shown, as Ollama itself does."""


class PullPanel(QWidget):
    """All that is known of one pull.

    Signals:
        action(name, what): "pause", "resume" or "cancel" it.
    """

    action = Signal(str, str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self.pull: Pull | None = None
        self.title = Words("", "page", "ink", self)
        self.subtitle = Words("", "interface", "ink2", self)
        self.card = _FaultCard(self)
        self.progress = Progress(self.tr("Fetched"), self)
        self.words = Words("", "interface", "ink2", self)
        self.main_button = Button("", "plain", "", self)
        self.cancel_button = Button(self.tr("Cancel"), "plain", "", self)
        buttons = QHBoxLayout()
        buttons.addWidget(self.main_button)
        buttons.addWidget(self.cancel_button)
        buttons.addStretch(1)
        self._buttons = buttons
        self.head = Words(self.tr("Layers"), "interface_bold", "ink", self)
        self.rows: list[_LayerRow] = []
        self._list = QVBoxLayout()
        self._list.setSpacing(0)
        self.foot = Words(
            self.tr(
                "A pause ends the request. Ollama keeps what has arrived, and goes on from there."
            ),
            *("small", "ink3", self),
            wrap=True,
        )
        self._lay_out()
        self.main_button.clicked.connect(self._on_main)
        self.cancel_button.clicked.connect(lambda: self._act("cancel"))
        self._theme.changed.connect(self._renew)
        self._renew()
        self.hide()

    def _lay_out(self) -> None:
        column = self._column = QVBoxLayout(self)
        for widget in (self.title, self.subtitle, self.card, self.progress, self.words):
            column.addWidget(widget)
        column.addLayout(self._buttons)
        column.addWidget(self.head)
        column.addLayout(self._list)
        column.addWidget(self.foot)
        column.addStretch(1)
        for button in (self.main_button, self.cancel_button):
            button.setAutoDefault(False)

    def _renew(self) -> None:
        px = self._theme.px
        self._column.setContentsMargins(px(28), px(22), px(28), px(20))
        self._column.setSpacing(0)
        self.subtitle.setContentsMargins(0, 0, 0, px(16))
        self.words.setContentsMargins(0, px(8), 0, px(12))
        self._buttons.setSpacing(px(8))
        self.head.setContentsMargins(0, px(24), 0, px(4))
        self.foot.setContentsMargins(0, px(16), 0, 0)

    def show_pull(self, pull: Pull) -> None:
        """Show how it is."""
        self.pull = pull
        self.title.setText(pull.name)
        self.subtitle.setText(self.tr("From Ollama's library · {}").format(doing_text(pull)))
        self.card.show_fault(pull)
        share = pull.done / pull.total if pull.total else 0.0
        self.progress.setRange(0, _STEPS)
        self.progress.setValue(int(_STEPS * min(share, 1.0)))
        self.words.setText(whole_text(pull))
        for widget in (self.progress, self.words):
            widget.setVisible(bool(pull.total) or pull.state != "failed")
        self.foot.setVisible(pull.state != "failed")
        self._show_button(pull)
        self._show_layers(pull)

    def _show_button(self, pull: Pull) -> None:
        text, icon = {
            "paused": (self.tr("Resume"), "play"),
            "failed": (self.tr("Try again"), "retry"),
        }.get(pull.state, (self.tr("Pause"), "pause"))
        if self.main_button.text() != text:
            self.main_button.setText(text)
            self.main_button.set_icon(icon)
            self.main_button.set_kind("primary" if pull.state == "failed" else "plain")
        cancel = self.tr("Remove") if pull.state == "failed" else self.tr("Cancel")
        self.cancel_button.setText(cancel)

    def _show_layers(self, pull: Pull) -> None:
        while len(self.rows) < len(pull.layers):
            row = _LayerRow(self)
            self.rows.append(row)
            self._list.addWidget(row)
        for number, row in enumerate(self.rows):
            row.setVisible(number < len(pull.layers))
            if number < len(pull.layers):
                row.show_layer(pull.layers[number])
        self.head.setVisible(bool(pull.layers))

    def _on_main(self) -> None:
        running = self.pull is not None and self.pull.state in ("waiting", "pulling")
        self._act("pause" if running else "resume")

    def _act(self, what: str) -> None:
        if self.pull is not None:
            self.action.emit(self.pull.name, what)


class _LayerRow(QWidget):
    """One layer: the beginning of its digest, a bar, how much of it is there."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self.name = Words("", "chip", "ink2", self)
        self.bar = Progress("", self)
        self.amount = Words("", "small", "ink2", self)
        self.amount.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._row = QHBoxLayout(self)
        self._row.addWidget(self.name)
        self._row.addWidget(self.bar, 1)
        self._row.addWidget(self.amount)
        self._theme.changed.connect(self._renew)
        self._renew()

    def _renew(self) -> None:
        px = self._theme.px
        self.setFixedHeight(px(_ROW_PX))
        self.name.setFixedWidth(px(_DIGEST_PX))
        self.amount.setFixedWidth(px(_AMOUNT_PX))
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(px(12))

    def show_layer(self, layer: PullLayer) -> None:
        """Show how much of it is there."""
        is_whole = bool(layer.total) and layer.done >= layer.total
        amount = size_text(layer.total) if is_whole else amount_text(layer.done, layer.total)
        self.name.setText(layer.digest[:_DIGITS])
        self.amount.setText(amount)
        share = layer.done / layer.total if layer.total else 0.0
        self.bar.setRange(0, _STEPS)
        self.bar.setValue(int(_STEPS * min(share, 1.0)))
        self.bar.setAccessibleName(self.name.text())
        self.setAccessibleName(f"{self.name.text()}: {amount}")

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: the line below."""
        y = self.height() - line_width(self.devicePixelRatioF())
        hairline(QPainter(self), 0, y, self.width(), self._theme.color("line"))


class _FaultCard(QWidget):
    """Why it failed, and what to do about it; hidden if it did not."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self.words = Words("", "interface", "ink", self, wrap=True)
        self._column = QVBoxLayout(self)
        self._column.addWidget(self.words)
        self._theme.changed.connect(self._renew)
        self._renew()
        self.hide()

    def _renew(self) -> None:
        px = self._theme.px
        self._column.setContentsMargins(px(42), px(12), px(16), px(12 + 16))

    def show_fault(self, pull: Pull) -> None:
        """Say why a pull failed."""
        text = joined(pull.error, pull.remedy)
        self.words.setText(text)
        self.setAccessibleName(text)
        self.setVisible(bool(text))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: the card and its icon; 16 px below it belong to the gap."""
        theme, px, painter = self._theme, self._theme.px, QPainter(self)
        box = QRectF(self.rect()).adjusted(0, 0, 0, -px(16))
        rounded(painter, box, px(10), theme.color("red_bg"), theme.color("red_line"))
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        x = box.right() - px(16 + 18) if mirrored else px(16)
        draw_icon(painter, theme, "warning", "red", (x, px(13), px(18)))
