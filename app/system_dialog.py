"""The system prompt of a conversation: written, taken from a preset, kept as one."""

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import QCoreApplication, QPoint, Signal
from PySide6.QtWidgets import QWidget

from app.text_dialog import TextDialog
from app.theme.controls import Button, PopupMenu


def usual_presets() -> dict[str, str]:
    """Presets that are always there, name to text, in the user's language."""
    return {
        QCoreApplication.translate("SystemPrompt", "Brief"): QCoreApplication.translate(
            "SystemPrompt", "Answer in one or two sentences. No introduction, no summary."
        ),
        QCoreApplication.translate("SystemPrompt", "Teacher"): QCoreApplication.translate(
            "SystemPrompt",
            "Explain step by step, in plain words, with one example. Ask what is unclear.",
        ),
        QCoreApplication.translate("SystemPrompt", "Translator"): QCoreApplication.translate(
            "SystemPrompt",
            "Translate what I write into English, or English into Chinese. Give the translation only.",
        ),
        QCoreApplication.translate("SystemPrompt", "Reviewer"): QCoreApplication.translate(
            "SystemPrompt",
            "Look for mistakes in what I write: in facts, logic and language. List them, worst first.",
        ),
        QCoreApplication.translate("SystemPrompt", "Programmer"): QCoreApplication.translate(
            "SystemPrompt",
            "Answer with working code first, then at most three sentences. Name what you assume.",
        ),
    }


class SystemDialog(TextDialog):
    """The text, with presets beside it.

    Args:
        text: the prompt as it is.
        kept: the user's own presets, name to text.
        parent: the window it belongs to.

    Signals:
        kept_as(name, text): keep this as a preset; an empty text forgets the name.
    """

    kept_as = Signal(str, str)

    def __init__(self, text: str, kept: Mapping[str, str], parent: QWidget) -> None:
        about = QCoreApplication.translate(
            "SystemPrompt",
            "It stands before the messages of this conversation and is never folded.",
        )
        title, ok = (
            QCoreApplication.translate("SystemPrompt", "System prompt"),
            QCoreApplication.translate("SystemPrompt", "Use it"),
        )
        super().__init__(title, about, text, parent, ok=ok)
        self._kept = dict(kept)
        self.presets = Button(self.tr("Presets"), "quiet", "", self)
        self.buttons.insertWidget(0, self.presets)
        self.presets.clicked.connect(self._show_presets)

    def menu(self) -> PopupMenu:
        """Every preset; keeping what is written, and forgetting one's own."""
        menu = PopupMenu("", self)
        for name, text in usual_presets().items():
            menu.addAction(name, partial(self._use, text))
        if self._kept:
            menu.addSeparator()
        for name, text in self._kept.items():
            menu.addAction(name, partial(self._use, text))
        menu.addSeparator()
        keep = menu.addAction(self.tr("Keep as a preset…"), self._ask_name)
        keep.setEnabled(bool(self._text()))
        if self._kept:
            forget = PopupMenu(self.tr("Forget"), menu)
            for name in self._kept:
                forget.addAction(name, partial(self._keep, name, ""))
            menu.addMenu(forget)
        return menu

    def _show_presets(self) -> None:
        corner = self.presets.mapToGlobal(QPoint(0, self.presets.height() + 2))
        self.menu().popup(corner)

    def _use(self, text: str) -> None:
        """Put a preset in the place of the text; it can be undone."""
        cursor = self.field.textCursor()
        cursor.select(cursor.SelectionType.Document)
        cursor.insertText(text)
        self.field.setFocus()

    def _ask_name(self) -> None:
        dialog = TextDialog(
            self.tr("Keep as a preset"),
            self.tr("What is it called?"),
            "",
            self,
            ok=self.tr("Keep"),
            lines=1,
            can_be_empty=False,
        )
        text = self._text()
        dialog.taken.connect(lambda name: self._keep(name, text))
        dialog.open()

    def _keep(self, name: str, text: str) -> None:
        if text:
            self._kept[name] = text
        else:
            self._kept.pop(name, None)
        self.kept_as.emit(name, text)
