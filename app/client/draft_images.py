"""Pictures of drafts and of messages that wait: each in a file of its own beside the kept file.

The kept file is written with every word; pictures are written once, under the digest of their
content, and go when nothing names them any more. What cannot be read is left out.
"""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from app.typed import AttachedImage
from engine.paths import atomic_write
from engine.transcript import IMAGE_FACTS, Image, image_facts

Images = Mapping[str, Sequence[AttachedImage]]
"""Pictures by what they belong to."""


class DraftImages:
    """The files of pictures that were not sent yet.

    Args:
        folder: where they lie; made when the first one is written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._written: dict[str, str] = {}  # file names by data

    def read(self, kept: Any) -> dict[str, tuple[AttachedImage, ...]]:
        """The pictures that `keep` told of."""
        if not isinstance(kept, dict):
            return {}
        found = {
            id_: tuple(x for one in listed if (x := self._image_of(one)) is not None)
            for id_, listed in kept.items()
            if isinstance(listed, list)
        }
        return {id_: images for id_, images in found.items() if images}

    def keep(self, images: Images) -> dict[str, list[dict[str, Any]]]:
        """Have them on the disk; what tells of them again, JSON-ready.

        Raises EnvironmentFault where they cannot be written.
        """
        return {id_: [self._keep(one) for one in listed] for id_, listed in images.items()}

    def drop_others(self, *kept: Images) -> None:
        """Remove the files of all but these pictures."""
        data = {one.image.data for images in kept for listed in images.values() for one in listed}
        self._written = {text: name for text, name in self._written.items() if text in data}
        named = set(self._written.values())
        with suppress(OSError):  # a folder that is not there; a file that comes and goes
            for file in self._folder.iterdir():
                if file.name not in named:
                    file.unlink()

    def _keep(self, attached: AttachedImage) -> dict[str, Any]:
        image = attached.image
        name = self._written.get(image.data)
        if name is None:
            name = hashlib.sha256(image.data.encode("utf-8", "surrogatepass")).hexdigest()
            self._write(self._folder / name, image.data)
            self._written[image.data] = name
        told: dict[str, Any] = {"file": name, "mime": image.mime} | image_facts(image)
        if attached.was is not None:
            told["was"] = list(attached.was)
        return told | ({"frames": attached.frames} if attached.frames != 1 else {})

    def _write(self, file: Path, data: str) -> None:
        if file.exists():
            return
        with suppress(OSError):  # if it cannot be made, writing says so
            self._folder.mkdir(parents=True, exist_ok=True)
        atomic_write(file, data)

    def _image_of(self, told: Any) -> AttachedImage | None:
        match told:
            case {"file": str(name), "mime": str(mime)} if name.isalnum():
                with suppress(OSError, ValueError):
                    data = (self._folder / name).read_text(encoding="utf-8")
                    self._written[data] = name
                    facts = {key: told[key] for key in IMAGE_FACTS if _is_sound(key, told)}
                    image, frames = Image(mime, data, **facts), told.get("frames")
                    was = _size(told.get("was"))
                    return AttachedImage(image, was, frames if type(frames) is int else 1)
        return None


def _is_sound(key: str, told: Mapping[str, Any]) -> bool:
    return type(told.get(key)) is (str if key == "name" else int)


def _size(value: Any) -> tuple[int, int] | None:
    match value:
        case [int(width), int(height)]:
            return width, height
    return None
