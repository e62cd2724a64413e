"""Dialogs about single models: a text to read, whether one shall be deleted."""

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtGui import QGuiApplication, QTextOption
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app.client.library import Deletion
from app.dialogs import Dialog, Framed
from app.labels import Words
from app.pull_words import size_text
from app.theme.controls import Button
from app.words import translate

_READING_WIDTH, _READING_HEIGHT = 720, 400


class ReadingDialog(Dialog):
    """A text to be read and copied: a licence, a template, a system prompt."""

    def __init__(self, title: str, text: str, parent: QWidget | None) -> None:
        super().__init__(title, parent, _READING_WIDTH)
        self.setAccessibleName(title)
        self.text = QPlainTextEdit(text, self)
        self.text.setReadOnly(True)
        self.text.setAccessibleName(title)
        self.text.setFont(self._theme.font("chip"))
        self.text.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.text.setTabChangesFocus(True)
        self.text.setMinimumHeight(self._theme.px(_READING_HEIGHT))
        self.column.addWidget(Framed(self.text, self), 1)
        self.column.addLayout(self.buttons)
        self.copy_button = self.add_button(Button(self.tr("Copy"), "plain", "copy", self))
        self.copy_button.clicked.connect(self._on_copy)
        self.add_close(self.tr("Close")).setDefault(True)

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text.toPlainText())
        self.copy_button.setText(self.tr("Copied"))
        self.copy_button.set_icon("check")


class DeleteDialog(Dialog):
    """Whether a model shall be deleted: what is freed, and who used it.

    Signals:
        confirmed(model): delete it.
    """

    confirmed = Signal(str)

    def __init__(self, deletion: Deletion, parent: QWidget | None) -> None:
        title = QCoreApplication.translate("DeleteDialog", "Delete {}?").format(deletion.title)
        super().__init__(title, parent, 480)
        self.setAccessibleName(title)
        self._model = deletion.model
        self.said = deletion_texts(deletion)
        for text in self.said:
            self.column.addWidget(Words(text, "interface", "ink2", self, wrap=True))
        self.column.addLayout(self.buttons)
        self.cancel_button = self.add_close(self.tr("Cancel"))
        self.delete_button = self.add_button(Button(self.tr("Delete"), "danger", "trash", self))
        self.delete_button.setAutoDefault(False)
        self.delete_button.clicked.connect(self._on_delete)
        self.cancel_button.setDefault(True)
        self.cancel_button.setFocus()  # Enter from habit deletes nothing

    def _on_delete(self) -> None:
        self.accept()
        self.confirmed.emit(self._model)


def deletion_texts(deletion: Deletion) -> tuple[str, ...]:
    """What deleting a model comes to, a paragraph each."""
    texts = []
    if deletion.shared_with:
        text = QCoreApplication.translate(
            "DeleteDialog", "{} is the same model under another name and stays: nothing is freed."
        )
        texts.append(text.format(deletion.shared_with))
    elif deletion.size_bytes:
        text = QCoreApplication.translate(
            "DeleteDialog",
            "It goes from Ollama's disk for good, and frees up to {}. To have it again, it must "
            "be fetched again.",
        )
        texts.append(text.format(size_text(deletion.size_bytes)))
    texts += _uses(deletion)
    if deletion.conversations:
        texts.append(
            translate(
                "DeleteDialog",
                "%n conversation(s) used it. They stay, and go on with another model.",
                "",
                deletion.conversations,
            )
        )
    return tuple(texts)


def _uses(deletion: Deletion) -> list[str]:
    """What is to be changed where it is in use."""
    texts = (
        (
            deletion.is_open,
            QCoreApplication.translate(
                "DeleteDialog",
                "It answers in the conversation that is open: choose another model there.",
            ),
        ),
        (
            deletion.is_default,
            QCoreApplication.translate(
                "DeleteDialog",
                "New conversations use it: choose another default in Preferences, Models.",
            ),
        ),
        (
            deletion.writes_summaries,
            QCoreApplication.translate(
                "DeleteDialog",
                "It writes the summaries: choose another in Preferences, Compaction.",
            ),
        ),
    )
    return [text for is_so, text in texts if is_so]
