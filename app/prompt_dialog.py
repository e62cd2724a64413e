"""The whole prompt, or one message of it: exactly what would be sent, to be read and copied."""

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QGuiApplication, QTextOption
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QWidget,
)

from app.client import DRAFT, PromptText
from app.dialogs import Dialog, Framed
from app.labels import Words
from app.meter import figure
from app.theme.controls import Button
from app.two_lines import BEGIN, TOKENS, TwoLines
from app.words import translate
from engine.lens import SentMessage, sent_text

_WIDTH = 820
_LIST_WIDTH = 252
_HEIGHT = 420
_ALL = -1


def prompt_text(parts: Sequence[SentMessage]) -> str:
    """All messages as one text, each under its role."""
    return "\n\n".join(f"[{part.message.role}]\n{_exact(part)}" for part in parts)


def _exact(part: SentMessage) -> str:
    """What is sent of a message: its words, and how many pictures go along."""
    text, count = sent_text(part.message), len(part.message.images)
    if not count:
        return text
    said = translate("PromptDialog", "(with %n image(s))", "", count)
    return f"{text}\n\n{said}" if text else said


class PromptDialog(Dialog):
    """Every message of the prompt with its tokens, and the exact words of the one chosen.

    Args:
        prompt: what would be sent.
        parent: the window.
        entry: the entry whose message is shown first; "" for all of them.
        note: why an entry has no message of its own, a sentence; "" when it has.
    """

    def __init__(
        self, prompt: PromptText, parent: QWidget | None, entry: str = "", note: str = ""
    ) -> None:
        title = QCoreApplication.translate("PromptDialog", "What goes to the model")
        super().__init__(title, parent, _WIDTH)
        self.setAccessibleName(title)
        self._prompt = prompt
        self.about = Words(self._about_words(), "small", "ink3", self, wrap=True)
        self.note = Words(note, "interface", "ink2", self, wrap=True)
        self.note.setVisible(bool(note))
        self.list = QListWidget(self)
        self.text = QPlainTextEdit(self)
        self._make_list()
        self._make_text()
        row = QHBoxLayout()
        row.addWidget(Framed(self.list, self))
        row.addWidget(Framed(self.text, self), 1)
        row.setSpacing(self._theme.px(12))
        self.column.addWidget(self.about)
        self.column.addWidget(self.note)
        self.column.addLayout(row, 1)
        self.column.addLayout(self.buttons)
        self.copy_button = self.add_button(Button(self.tr("Copy"), "plain", "copy", self))
        self.copy_button.clicked.connect(self.copy)
        self.add_close(self.tr("Close"))
        self.list.currentRowChanged.connect(self._show)
        self.list.setCurrentRow(self._row_of(entry))
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def _about_words(self) -> str:
        count = self._prompt.count
        tokens = figure(count.tokens) if count.kind == "exact" else f"≈ {figure(count.tokens)}"
        said = self.tr("{tokens} tokens with the model's own marks around each message.")
        words = said.format(tokens=tokens)
        if self._prompt.route != "fits":
            words += " " + self.tr("It is over its budget: older messages are folded first.")
        return words

    # -- parts ---------------------------------------------------------------------------

    def _make_list(self) -> None:
        px = self._theme.px
        self.list.setAccessibleName(self.tr("Messages of the prompt"))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.setFixedWidth(px(_LIST_WIDTH))
        self.list.setMinimumHeight(px(_HEIGHT))
        self.list.setItemDelegate(TwoLines(self.list))
        self._add(self.tr("All of it"), figure(self._prompt.count.tokens), "")
        for part in self._prompt.parts:
            begin = " ".join(part.message.content[:120].split())
            self._add(self._name(part), figure(part.tokens), begin)

    def _add(self, name: str, tokens: str, begin: str) -> None:
        """A line of the list: what it is, its tokens, how it begins."""
        item = QListWidgetItem(name, self.list)
        item.setData(TOKENS, tokens)
        item.setData(BEGIN, begin)
        said = (name, self.tr("{} tokens").format(tokens), begin)
        item.setData(Qt.ItemDataRole.AccessibleTextRole, ", ".join(x for x in said if x))

    def _name(self, part: SentMessage) -> str:
        names = {
            "system prompt": self.tr("System prompt"),
            "summary": self.tr("Summary"),
            "pinned": self.tr("Pinned"),
            "your messages": self.tr("You"),
            "replies": self.tr("Model"),
            "tool results": self.tr("Tool"),
        }
        return (
            self.tr("Draft") if part.entry == DRAFT else names.get(part.segment, part.message.role)
        )

    def _make_text(self) -> None:
        self.text.setReadOnly(True)
        self.text.setAccessibleName(self.tr("Exactly what is sent"))
        self.text.setFont(self._theme.font("chip"))
        self.text.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.text.setTabChangesFocus(True)

    def _row_of(self, entry: str) -> int:
        entries = [part.entry for part in self._prompt.parts]
        return entries.index(entry) + 1 if entry and entry in entries else 0

    # -- what is shown -------------------------------------------------------------------

    def shown_text(self) -> str:
        """The exact words of the message that is chosen, or of all of them."""
        row = self.list.currentRow() - 1
        parts = self._prompt.parts
        return _exact(parts[row]) if 0 <= row < len(parts) else prompt_text(parts)

    def _show(self) -> None:
        self.text.setPlainText(self.shown_text())

    def copy(self) -> None:
        """Put what is shown on the clipboard, as it is sent."""
        QGuiApplication.clipboard().setText(self.shown_text())
        self.copy_button.setText(self.tr("Copied"))
        self.copy_button.set_icon("check")
