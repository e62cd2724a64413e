"""What a model is: family, sizes, capabilities, licence, template; copied, shown whole, deleted."""

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale, Qt, Signal
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.client.library import ModelFacts
from app.labels import Words
from app.meter import figure
from app.pull_words import size_text
from app.theme import theme_of
from app.theme.controls import Badge, Button
from app.theme.painting import hairline, line_width
from app.words import translate

_ROW_PX, _NAME_PX = 34, 128
_FIRST_LINE = 120


@dataclass(frozen=True, slots=True)
class FactRow:
    """A row: name, value; or tags. `whole` is the text that "Show" opens, under `title`."""

    name: str
    value: str
    tags: tuple[str, ...] = ()
    show: str = ""
    title: str = ""
    whole: str = ""

    @property
    def words(self) -> str:
        """The value in words, whichever way it is shown."""
        return ", ".join(self.tags) or self.value


def plan_facts(facts: ModelFacts) -> tuple[FactRow, ...]:
    """The rows of what is known of a model; what is not known has none."""
    return tuple(row for row in (*_figures(facts), *_texts(facts)) if row.words)


def _figures(facts: ModelFacts) -> tuple[FactRow, ...]:
    trained = ""
    if facts.trained_window:
        tokens = QCoreApplication.translate("ModelFacts", "{} tokens")
        trained = tokens.format(figure(facts.trained_window))
    changed = ""
    if facts.modified_ms:
        moment = QDateTime.fromMSecsSinceEpoch(facts.modified_ms)
        changed = QLocale().toString(moment.date(), QLocale.FormatType.ShortFormat)
    size = size_text(facts.size_bytes) if facts.size_bytes else ""
    return (
        FactRow(QCoreApplication.translate("ModelFacts", "Family"), facts.family),
        FactRow(QCoreApplication.translate("ModelFacts", "Parameters"), facts.parameters),
        FactRow(QCoreApplication.translate("ModelFacts", "Quantisation"), facts.quantization),
        FactRow(QCoreApplication.translate("ModelFacts", "Size on disk"), size),
        FactRow(QCoreApplication.translate("ModelFacts", "Trained window"), trained),
        FactRow(
            QCoreApplication.translate("ModelFacts", "Can do"),
            "",
            tuple(capability(name) for name in facts.capabilities),
        ),
        FactRow(QCoreApplication.translate("ModelFacts", "Changed"), changed),
    )


def _texts(facts: ModelFacts) -> tuple[FactRow, ...]:
    lines = len(facts.template.splitlines())
    template = translate("ModelFacts", "%n line(s)", "", lines) if lines else ""
    licence = first_line(facts.licence)
    is_more = licence != facts.licence.strip()
    return (
        FactRow(
            QCoreApplication.translate("ModelFacts", "Licence"),
            licence,
            (),
            QCoreApplication.translate("ModelFacts", "Show licence") if is_more else "",
            QCoreApplication.translate("ModelFacts", "Licence"),
            facts.licence,
        ),
        FactRow(
            QCoreApplication.translate("ModelFacts", "Template"),
            template,
            (),
            QCoreApplication.translate("ModelFacts", "Show template"),
            QCoreApplication.translate("ModelFacts", "Template"),
            facts.template,
        ),
        FactRow(
            QCoreApplication.translate("ModelFacts", "System prompt"),
            first_line(facts.system),
            (),
            QCoreApplication.translate("ModelFacts", "Show system prompt"),
            QCoreApplication.translate("ModelFacts", "System prompt"),
            facts.system,
        ),
    )


def first_line(text: str) -> str:
    """The first line that says something, on one line and not long."""
    line = next((" ".join(line.split()) for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= _FIRST_LINE else line[:_FIRST_LINE].rstrip() + "…"


def capability(name: str) -> str:
    """What a model can do, in a word."""
    known = {
        "completion": QCoreApplication.translate("ModelFacts", "chat"),
        "tools": QCoreApplication.translate("ModelFacts", "tools"),
        "insert": QCoreApplication.translate("ModelFacts", "fill in"),
        "vision": QCoreApplication.translate("ModelFacts", "see images"),
        "embedding": QCoreApplication.translate("ModelFacts", "embeddings"),
        "thinking": QCoreApplication.translate("ModelFacts", "thinking"),
        "image": QCoreApplication.translate("ModelFacts", "make images"),
        "audio": QCoreApplication.translate("ModelFacts", "hear audio"),
    }
    return known.get(name, name)


class FactsSection(QWidget):
    """The rows under a head, and the button that deletes.

    Signals:
        text_requested(title, text): show a text whole.
        delete_requested(): ask whether the model shall be deleted.
    """

    text_requested = Signal(str, str)
    delete_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self._facts = ModelFacts("")
        self.rows: list[_Row] = []
        self.head = Words(self.tr("What it is"), "interface_bold", "ink", self)
        self.copy_button = Button(self.tr("Copy"), "quiet", "copy", self)
        self.copy_button.setAccessibleDescription(self.head.text())
        self.delete_button = Button(self.tr("Delete from Ollama…"), "danger", "trash", self)
        for button in (self.copy_button, self.delete_button):
            button.setAutoDefault(False)
        top = QHBoxLayout()
        top.addWidget(self.head, 1)
        top.addWidget(self.copy_button)
        self._list = QVBoxLayout()
        self._list.setSpacing(0)
        self._column = QVBoxLayout(self)
        self._column.setSpacing(0)
        self._column.addLayout(top)
        self._column.addLayout(self._list)
        self._column.addSpacing(self._theme.px(16))
        self._column.addWidget(self.delete_button)
        self.copy_button.clicked.connect(self._on_copy)
        self.delete_button.clicked.connect(self.delete_requested)
        self._theme.changed.connect(self._renew)
        self._renew()
        self.hide()

    def _renew(self) -> None:
        self._column.setContentsMargins(0, self._theme.px(22), 0, 0)

    def show_facts(self, facts: ModelFacts) -> None:
        """Show these; nothing is shown where nothing is known."""
        if facts.model != self._facts.model:
            self.copy_button.setText(self.tr("Copy"))
            self.copy_button.set_icon("copy")
        rows = plan_facts(facts)
        self._facts = facts
        while len(self.rows) < len(rows):
            row = _Row(self)
            row.show_button.clicked.connect(lambda _=False, row=row: self._on_show(row.fact))
            self.rows.append(row)
            self._list.addWidget(row)
        for number, row in enumerate(self.rows):
            row.setVisible(number < len(rows))
            if number < len(rows):
                row.show_fact(rows[number])
        self.delete_button.setVisible(facts.can_delete)
        self.setVisible(bool(rows) or facts.can_delete)

    def text(self) -> str:
        """All rows as text, one a line; for the clipboard."""
        rows = plan_facts(self._facts)
        return "\n".join(f"{row.name}: {row.words}" for row in rows)

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(f"{self._facts.model}\n{self.text()}\n")
        self.copy_button.setText(self.tr("Copied"))
        self.copy_button.set_icon("check")

    def _on_show(self, fact: FactRow) -> None:
        self.text_requested.emit(fact.title, fact.whole)


class _Row(QWidget):
    """One row: name, value or tags, and a button where there is more to read."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self.fact = FactRow("", "")
        self.name = Words("", "interface", "ink2", self)
        self.value = Words("", "interface", "ink", self)
        self.tags: list[Badge] = []
        self.show_button = Button("", "quiet", "", self)
        self.show_button.setAutoDefault(False)
        self._tags = QHBoxLayout()
        self._row = QHBoxLayout(self)
        self._row.addWidget(self.name)
        self._row.addLayout(self._tags)
        self._row.addWidget(self.value, 1)
        self._row.addWidget(self.show_button, 0, Qt.AlignmentFlag.AlignVCenter)
        self._theme.changed.connect(self._renew)
        self._renew()

    def _renew(self) -> None:
        px = self._theme.px
        self.setFixedHeight(px(_ROW_PX))
        self.name.setFixedWidth(px(_NAME_PX))
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(0)
        self._tags.setSpacing(px(6))

    def show_fact(self, fact: FactRow) -> None:
        """Show a fact."""
        self.fact = fact
        self.name.setText(fact.name)
        self.value.setText(fact.value)
        while len(self.tags) < len(fact.tags):
            self.tags.append(Badge("", "plain", "", self))
            self._tags.addWidget(self.tags[-1])
        for number, tag in enumerate(self.tags):
            tag.setVisible(number < len(fact.tags))
            if number < len(fact.tags):
                tag.set_state(fact.tags[number], "plain", "")
        self.show_button.setVisible(bool(fact.show))
        self.show_button.setText(fact.show)
        self.setAccessibleName(f"{fact.name}: {fact.words}")

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: the line below."""
        y = self.height() - line_width(self.devicePixelRatioF())
        hairline(QPainter(self), 0, y, self.width(), self._theme.color("line"))
