"""What the window keeps of conversations beside the store: drafts, pins, what waits, what goes.

One small JSON file in the data folder, replaced as a whole. Whatever in it cannot be understood is
left out; a file that cannot be written costs what is in it, never the conversation.
"""

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from app.client.draft_images import DraftImages
from app.typed import AttachedImage
from engine.errors import EnvironmentFault
from engine.paths import atomic_write
from engine.transcript import Image


class Keeping:
    """The file's content, changed by name and written by `save`.

    Attributes:
        drafts: what is typed and not sent, by conversation ("" is the new one); what is written in
            the place of a message, by "conversation/message".
        pinned, unread: conversations that are so.
        going: conversations that were deleted and are still to be removed.
        waiting: messages that wait for their turn, by conversation.
        images, waiting_images: pictures that go along with drafts, and with what waits.
        presets: system prompts the user keeps, by name.
        pulls: models that Ollama was to fetch and that are not there yet.
        model, system: model and system prompt chosen for the next new conversation.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._is_changed = False
        content = _read(file)
        self.drafts: dict[str, str] = _texts(content.get("drafts"))
        self.pinned: set[str] = _names(content.get("pinned"))
        self.unread: set[str] = _names(content.get("unread"))
        self.going: set[str] = _names(content.get("going"))
        self.waiting: dict[str, list[str]] = _lists(content.get("waiting"))
        self.model: str = _text(content.get("model"))
        self.system: str = _text(content.get("system"))
        self.presets: dict[str, str] = _texts(content.get("presets"))
        self.pulls: list[str] = _lists({"": content.get("pulls")}).get("", [])
        self._files = DraftImages(file.with_name(f"{file.stem}-images"))
        self.images = self._files.read(content.get("images"))
        self.waiting_images = self._files.read(content.get("waiting_images"))
        self._take_back()

    def _take_back(self) -> None:
        """What waited when the program ended was never sent: it becomes the draft."""
        for id_, texts in self.waiting.items():
            self.drafts[id_] = joined((*texts, self.drafts.get(id_, "")))
        for id_, images in self.waiting_images.items():
            self.images[id_] = (*images, *self.images.get(id_, ()))
        self._is_changed = bool(self.waiting or self.waiting_images)
        self.waiting, self.waiting_images = {}, {}

    def note(self) -> None:
        """Something changed; `save` will write it."""
        self._is_changed = True

    def keep_draft(self, id_: str, text: str) -> bool:
        """Remember a draft, "" to forget it; whether it is another one than before."""
        if self.drafts.get(id_, "") == text:
            return False
        if text:
            self.drafts[id_] = text
        else:
            del self.drafts[id_]
        self.note()
        return True

    def keep_images(self, id_: str, images: Sequence[AttachedImage]) -> bool:
        """Remember the pictures of a draft; whether they are others than before."""
        if self.images.get(id_, ()) == tuple(images):
            return False
        self.images.pop(id_, None)
        if images:
            self.images[id_] = tuple(images)
        self.note()
        return True

    def keep_waiting(self, id_: str, texts: Sequence[str], images: Sequence[Image]) -> bool:
        """Remember what waits in a conversation; whether it is something else than before."""
        attached = tuple(map(AttachedImage, images))
        before = self.waiting.pop(id_, []), self.waiting_images.pop(id_, ())
        if texts:
            self.waiting[id_] = list(texts)
        if attached:
            self.waiting_images[id_] = attached
        if before == (list(texts), attached):
            return False
        self.note()
        return True

    def forget(self, id_: str) -> None:
        """The conversation is gone for good."""
        for name in [name for name in self.drafts if name.partition("/")[0] == id_]:
            del self.drafts[name]
        for kept in (self.waiting, self.images, self.waiting_images):
            kept.pop(id_, None)
        for names in (self.pinned, self.unread, self.going):
            names.discard(id_)
        self.note()

    def save(self) -> None:
        """Write what changed. A disk that is full or read-only is told of by the store."""
        if not self._is_changed:
            return
        with suppress(EnvironmentFault):
            atomic_write(self._file, json.dumps(self._content(), indent=1) + "\n")
            self._is_changed = False
            self._files.drop_others(self.images, self.waiting_images)

    def _content(self) -> dict[str, Any]:
        """What is written; escapes keep what is no character (half a surrogate pair) as it was
        typed. Pictures are on the disk before the file names them.
        """
        return {
            "drafts": self.drafts,
            "pinned": sorted(self.pinned),
            "unread": sorted(self.unread),
            "going": sorted(self.going),
            "waiting": self.waiting,
            "model": self.model,
            "system": self.system,
            "presets": self.presets,
            "pulls": self.pulls,
            "images": self._files.keep(self.images),
            "waiting_images": self._files.keep(self.waiting_images),
        }


def joined(texts: Iterable[str]) -> str:
    """Several messages as one text, apart by blank lines."""
    return "\n\n".join(text for text in texts if text.strip())


def _read(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {name: text for name, text in value.items() if isinstance(text, str) and text}


def _names(value: Any) -> set[str]:
    return {name for name in value if isinstance(name, str)} if isinstance(value, list) else set()


def _lists(value: Any) -> dict[str, list[str]]:
    if not isinstance(value, dict):
        return {}
    lists = {
        name: [text for text in texts if isinstance(text, str)]
        for name, texts in value.items()
        if isinstance(texts, list)
    }
    return {name: texts for name, texts in lists.items() if texts}
