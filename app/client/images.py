"""Pictures that go along with messages: read, kept with the draft, taken when it is sent, saved."""

import asyncio
import base64
import binascii
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.client.files import read_text_file
from app.client.keeping import Keeping
from app.client.values import DraftImages, Told
from app.typed import AttachedImage, Attachment
from app.words import translate
from engine.errors import EnvironmentFault
from engine.transcript import Entry, Image, Message

if TYPE_CHECKING:
    from PySide6.QtGui import QImage


class Images:
    """What a window can do with pictures; used on the client's loop.

    Args:
        keeping: drafts.
        tell: called with what the window must know.
        noticed: called with the conversation whose draft has others; they are to be saved soon.
    """

    def __init__(
        self, keeping: Keeping, tell: Callable[[Told], None], noticed: Callable[[str], None]
    ) -> None:
        self._keeping = keeping
        self._tell = tell
        self._noticed = noticed
        self._reading = asyncio.Lock()

    async def keep(self, id: str, images: Sequence[AttachedImage]) -> None:
        """Remember the pictures that go along with a draft, as is done with its text."""
        if self._keeping.keep_images(id, images):
            self._noticed(id)

    async def read(self, path: str) -> Attachment | AttachedImage:
        """A file that goes along with a message: a picture or a text. Raises EnvironmentFault.

        One after the other: they come in order, and one large picture is in memory at a time.
        """
        async with self._reading:
            return await asyncio.to_thread(_read_file, path)

    async def prepare(self, picture: "QImage", name: str) -> AttachedImage:
        """A picture of the clipboard as it is sent. Raises EnvironmentFault for an empty one."""
        from app.picture_files import prepare_picture

        async with self._reading:
            return await asyncio.to_thread(prepare_picture, picture, name)

    async def save(self, image: Image, path: str) -> None:
        """Write a picture to a file. Raises EnvironmentFault where that cannot be."""
        await asyncio.to_thread(_write, image, path)

    def take(self, id: str, images: Sequence[AttachedImage] | None) -> tuple[Image, ...]:
        """The pictures of a message that is sent: these, or for None those of the draft.

        They are no part of the draft any more.
        """
        kept = self._keeping.images.get(id, ())
        sent = kept if images is None else tuple(images)
        self._keeping.keep_images(id, [one for one in kept if one not in sent])
        if images is None and kept:
            self._tell(DraftImages(id))
        return tuple(one.image for one in sent)


def _read_file(path: str) -> Attachment | AttachedImage:
    from app.picture_files import is_picture, read_picture

    return read_picture(path) if is_picture(path) else read_text_file(path)


def require_words(text: str, images: Sequence[Image] = ()) -> None:
    """Raises EnvironmentFault for a message that says nothing and shows nothing."""
    if not text.strip() and not images:
        raise EnvironmentFault(translate("Client", "There is nothing to send: it is empty."))


def images_of(entry: Entry) -> tuple[Image, ...]:
    """The pictures of a stored message."""
    return entry.body.images if isinstance(entry.body, Message) else ()


def names_of(images: Iterable[Image]) -> str:
    """The names of pictures, as one text."""
    return ", ".join(image.name or translate("Client", "Image") for image in images)


def _write(image: Image, path: str) -> None:
    file = Path(path).expanduser()
    try:
        file.write_bytes(base64.b64decode(image.data))
    except (OSError, binascii.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        sentence = translate("Client", "{file} cannot be written: {reason}.")
        raise EnvironmentFault(sentence.format(file=file, reason=reason.lower())) from error
