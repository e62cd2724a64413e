"""Files that go along with a message: chosen, dropped or pasted; models among them are added."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtWidgets import QFileDialog

from app.typed import AttachedImage, Attachment
from app.window.pictures import Pictures
from app.words import translate

_MOST_FILES = 20


class Files(Pictures):
    """What is dropped into the window or attached."""

    def _attach(self) -> None:
        paths, _ = QFileDialog.getOpenFileNames(self, self.tr("Attach files"))
        self._take_files(paths)

    def _take_files(self, paths: Sequence[str]) -> None:
        """Read texts and pictures into the message; a model file is used."""
        for path in paths[:_MOST_FILES]:
            if Path(path).suffix.lower() == ".gguf":
                self._add_file(path)
            else:
                self._read_file(path)
        if len(paths) > _MOST_FILES:
            text = translate(
                "Files", "At most %n file(s) can be attached at once.", "", _MOST_FILES
            )
            self.say(text, tone="amber")

    def _read_file(self, path: str) -> None:
        here = self._id
        self._bridge.ask(lambda c: c.read_file(path), lambda file: self._attached(here, file))

    def _attached(self, conversation: str, file: Attachment | AttachedImage) -> None:
        if isinstance(file, AttachedImage):
            self._add_picture(conversation, file)
            return
        fits = not self._room or file.tokens <= self._room
        self.parts.composer.add_attachment(replace(file, fits=fits))
        self._focus_composer()
