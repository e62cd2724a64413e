"""The pages of a conversation without messages: the first run, and the empty conversation."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragMoveEvent,
    QDropEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.labels import Picture, Words, key_words, prose
from app.model_lines import fetched_words, size_words
from app.model_picker import dropped_model
from app.theme import theme_of
from app.theme.controls import Button, Progress
from app.theme.painting import rounded
from app.words import joined, translate

if TYPE_CHECKING:
    from app.client import Fetching

COLUMN, EMPTY_COLUMN = 600, 460
_MARK, _EMPTY_MARK, _PAGE_TOKENS = 56, 44, 400


class _Page(QScrollArea):
    """A column in the middle. What is typed on it belongs to the composer.

    Signals:
        typed(text): characters were typed while the page had the keys.
        file_dropped(path): a GGUF file was dropped on it.
    """

    typed = Signal(str)
    file_dropped = Signal(str)

    def __init__(self, width: int, picture: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self._width = width
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAcceptDrops(True)
        self.page = QWidget(self)
        self.box = QWidget(self.page)
        self.column = QVBoxLayout(self.box)
        side = _MARK if picture == "app-icon" else _EMPTY_MARK
        self.column.addWidget(Picture(picture, "accent", side, self.box, self.tr("Porthole")))
        self._below_mark = QWidget(self.box)
        self.column.addWidget(self._below_mark)
        self._whole = QHBoxLayout(self.page)
        self._whole.addStretch(1)
        self._whole.addWidget(self.box, 1000)
        self._whole.addStretch(1)
        self.setWidget(self.page)
        self.viewport().setAutoFillBackground(False)
        self.page.setAutoFillBackground(False)
        self._theme.changed.connect(self.renew)

    def renew(self) -> None:
        """Measure again: the theme is another one."""
        px = self._theme.px
        self._below_mark.setFixedHeight(px(14))
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(0)
        self.box.setMaximumWidth(px(self._width))
        self._whole.setContentsMargins(px(24), px(16), px(24), px(16))
        self._whole.setAlignment(self.box, Qt.AlignmentFlag.AlignVCenter)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt's: letters go to the composer, the rest scrolls."""
        text = event.text()
        held = event.modifiers() & (
            Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
        )
        if text.isprintable() and text and not held:
            self.typed.emit(text)
        else:
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Qt's: a GGUF file is welcome."""
        if dropped_model(event):
            event.acceptProposedAction()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Qt's: anywhere on the page."""
        if dropped_model(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Qt's: tells the file."""
        path = dropped_model(event)
        if path:
            event.acceptProposedAction()
            self.file_dropped.emit(path)


class FirstRun(_Page):
    """One page, three ways to a model; the first message can be typed meanwhile.

    Signals:
        starter_requested(), starter_stopped(): fetch the starter; stop fetching it.
        ollama_requested(): use what Ollama has. get_requested(): have it fetch a model.
        open_file_requested(): ask for a GGUF file.
    """

    starter_requested = Signal()
    starter_stopped = Signal()
    ollama_requested = Signal()
    get_requested = Signal()
    open_file_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(COLUMN, "app-icon", parent)
        self.setAccessibleName(self.tr("Welcome"))
        box = self.box
        title = Words(
            self.tr("A quiet window to your own model."), "display", "ink", box, wrap=True
        )
        said = self.tr(
            "Everything stays on this computer. Choose what answers you; change it later."
        )
        self._said = Words(said, "spoken", "ink2", box, wrap=True)
        self.starter = _Choice("download", self.tr("The starter model"), box)
        self.ollama = _Choice("model", "", box)
        self.file = _Choice("folder", self.tr("A GGUF file of your own"), box)
        self._note = _Note(self.tr("Porthole connects to nothing but the model you choose."), box)
        for widget in (title, self._said, self.starter, self.ollama, self.file, self._note):
            self.column.addWidget(widget)
        self.file.set_text(self.tr("Open one, or drop it anywhere on this window."))
        self.file.button.setText(self.tr("Open…"))
        self.file.button.clicked.connect(self.open_file_requested)
        self.ollama.button.clicked.connect(self._on_ollama)
        self.starter.button.clicked.connect(self._on_starter)
        self._fetching = self._ollama_is_empty = False
        self.set_starter("SmolLM2 135M", 0)
        self.set_ollama("", 0, "")
        self.renew()

    def renew(self) -> None:
        """Measure again: the theme is another one."""
        super().renew()
        px = self._theme.px
        self._said.setContentsMargins(0, px(4), 0, px(24))
        for choice in (self.starter, self.ollama, self.file):
            choice.renew()
        self._note.setContentsMargins(0, px(4), 0, 0)

    # -- what it shows -------------------------------------------------------------------

    def set_starter(self, title: str, size_bytes: int) -> None:
        """What can be fetched; `size_bytes` 0 when not known."""
        size = size_words(size_bytes)
        self._starter_text = self.tr("{} is small, quick, good for a first try.").format(title)
        self._fetch_text = self.tr("Get it, {}").format(size) if size else self.tr("Get it")
        self.starter.set_text(self._starter_text)
        self.starter.button.setText(self._fetch_text)

    def set_fetching(self, news: "Fetching | None") -> None:
        """How far the starter is; None when it is not being fetched. A failure is said in red."""
        self._fetching = news is not None and not news.over
        failed = news.error if news is not None and news.over else ""
        self.starter.set_lit(lit=self._fetching)
        self.starter.set_text(failed or self._starter_text, "red" if failed else "ink2")
        self.starter.button.setText(self.tr("Stop") if self._fetching else self._fetch_text)
        if news is None or news.over:
            self.starter.set_progress(0, 0, "")
            return
        if news.total and news.done >= news.total:
            words = self.tr("Checking the file")
        else:
            words = fetched_words(news.done, news.total) if news.total else self.tr("Beginning")
        self.starter.set_progress(news.done, news.total, words)

    def set_ollama(self, host: str, models: int, largest: str) -> None:
        """What was found of Ollama: where ("" for nowhere), how many models, the largest's name."""
        self._ollama_is_empty = bool(host) and not models
        get, use = self.tr("Get a model…"), self.tr("Use Ollama")
        self.ollama.button.setText(get if self._ollama_is_empty else use)
        self.ollama.button.setEnabled(bool(host))
        if not host:
            self.ollama.set_title(self.tr("Ollama"))
            self.ollama.set_text(self.tr("Not found on this computer."))
            return
        self.ollama.set_title(self.tr("Ollama, found on this computer"))
        if not models:
            self.ollama.set_text(self.tr("It answers at {} and has no models yet.").format(host))
            return
        count = translate("FirstRun", "%n model(s) at {}.", "", models).format(host)
        self.ollama.set_text(joined(count, self.tr("The largest is {}.").format(largest)))

    def _on_ollama(self) -> None:
        (self.get_requested if self._ollama_is_empty else self.ollama_requested).emit()

    def _on_starter(self) -> None:
        (self.starter_stopped if self._fetching else self.starter_requested).emit()


class _Choice(QWidget):
    """A card: icon, title, sentence, a button; a progress bar while there is progress."""

    def __init__(self, icon: str, title: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self._lit = False
        self._picture = Picture(icon, "ink2", 20, self)
        self._title = Words(title, "title", "ink", self)
        self._text = Words("", "interface", "ink2", self, wrap=True)
        self.progress = Progress(title, self)
        self._words = Words("", "small", "ink2", self)
        self.button = Button("", "plain", "", self)
        self._bar = QHBoxLayout()
        self._bar.addWidget(self.progress, 1)
        self._bar.addWidget(self._words)
        middle = QVBoxLayout()
        middle.setSpacing(0)
        middle.addWidget(self._title)
        middle.addWidget(self._text)
        middle.addLayout(self._bar)
        self._row = QHBoxLayout(self)
        self._row.addWidget(self._picture, 0, Qt.AlignmentFlag.AlignTop)
        self._row.addLayout(middle, 1)
        self._row.addWidget(self.button)
        self.set_title(title)
        self.set_progress(0, 0, "")

    def renew(self) -> None:
        """Measure again: the theme is another one."""
        px = self._theme.px
        self._row.setContentsMargins(px(16), px(14), px(16), px(14 + 12))
        self._row.setSpacing(px(16))
        self._picture.set_color("accent" if self._lit else "ink2")
        self._bar.setSpacing(px(12))
        shown = not self.progress.isHidden()
        self._bar.setContentsMargins(0, px(10) if shown else 0, 0, 0)
        self.update()

    @property
    def text(self) -> str:
        """Its sentence."""
        return self._text.text()

    @property
    def progress_words(self) -> str:
        """What stands beside the bar; "" when there is none."""
        return self._words.text()

    def set_title(self, title: str) -> None:
        """Its first line; the button is told apart by it."""
        self._title.setText(title)
        self.progress.setAccessibleName(title)
        self._name_button()

    def set_text(self, text: str, color: str = "ink2") -> None:
        """Its sentence."""
        self._text.setText(text)
        self._text.set_color(color)
        self._name_button()

    def _name_button(self) -> None:
        self.button.setAccessibleDescription(f"{self._title.text()}. {self._text.text()}")

    def set_lit(self, *, lit: bool) -> None:
        """Whether this is the one that is under way."""
        self._lit = lit
        self.renew()

    def set_progress(self, done: int, total: int, words: str) -> None:
        """Show how far it is, of `total` (0: not known), and in words; no words, no bar."""
        self.progress.setRange(0, max(1, total // 1024))
        self.progress.setValue(done // 1024)
        self.progress.setVisible(bool(words))
        self._words.setVisible(bool(words))
        self._words.setText(words)
        self.renew()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: the card; 12 px below it belong to the gap."""
        painter = QPainter(self)
        box = QRectF(self.rect()).adjusted(0, 0, 0, -self._theme.px(12))
        line = self._theme.color("accent" if self._lit else "line")
        rounded(painter, box, self._theme.px(10), self._theme.color("raised"), line)


class _Note(QWidget):
    """A sentence with an icon before it."""

    def __init__(self, text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self._words = Words(text, "small", "ink3", self, wrap=True)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.addWidget(Picture("info", "ink3", 16, self))
        self._row.addWidget(self._words, 1)
        self._theme.changed.connect(self._renew)
        self._renew()

    def _renew(self) -> None:
        self._row.setSpacing(self._theme.px(6))


class EmptyPage(_Page):
    """A conversation that has not begun: what the model can hold, and the four ways to begin."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(EMPTY_COLUMN, "mark", parent)
        self.setAccessibleName(self.tr("Empty conversation"))
        box = self.box
        self.title = Words(self.tr("What is on your mind?"), "empty", "ink", box, wrap=True)
        self.text = Words("", "spoken", "ink2", box, wrap=True)
        self.column.addWidget(self.title)
        self.column.addWidget(self.text)
        hints = (
            (key_words("Ctrl+K"), self.tr("Do anything by name")),
            ("/", self.tr("Commands, while writing")),
            (self.tr("Drop"), self.tr("A text file or an image, to ask about it")),
            ("F1", self.tr("All shortcuts")),
        )
        for keys, words in hints:
            self.column.addWidget(_Hint(keys, words, box))
        self.set_model("", 0)
        self.renew()

    def set_model(self, title: str, budget_tokens: int) -> None:
        """Say what the model reads at a time; 0 tokens when that is not known yet."""
        fold = self.tr(
            "When a conversation grows past that, the older part is folded into a summary, and "
            "you will see it happen."
        )
        if budget_tokens > 0 and title:
            pages = max(1, round(budget_tokens / _PAGE_TOKENS))
            reads = translate(
                "EmptyPage", "{0} reads up to {1} tokens at a time, about %n page(s).", "", pages
            )
            self.text.setText(joined(reads.format(title, f"{budget_tokens:,}"), fold))
        else:
            self.text.setText(self.tr("Everything stays on this computer."))

    def renew(self) -> None:
        """Measure again: the theme is another one."""
        super().renew()
        self.text.setContentsMargins(0, self._theme.px(4), 0, self._theme.px(24))


class _Hint(QLabel):
    """A key in its frame, and what it does."""

    def __init__(self, keys: str, words: str, parent: QWidget) -> None:
        super().__init__(words, parent)
        self._keys = keys
        self._theme = theme_of()
        self.setAccessibleName(f"{keys}: {words}")
        self._theme.changed.connect(self._renew)
        self._renew()

    def _renew(self) -> None:
        self.setFixedHeight(self._theme.px(28))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's."""
        px, theme = self._theme.px, self._theme
        painter = QPainter(self)
        box = QRectF(0, (self.height() - px(18)) / 2, px(52), px(18))
        rounded(painter, box, px(4), theme.color("paper"), theme.color("line"))
        painter.setFont(theme.font("tiny_medium"))
        painter.setPen(theme.color("ink2"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, self._keys)
        painter.setFont(prose(theme.font("interface")))
        room = QRectF(self.rect()).adjusted(px(64), 0, 0, 0)
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, self.text())
