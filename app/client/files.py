"""Text files that go along with a message: read in the background, decoded, measured."""

import codecs
from pathlib import Path

from app.typed import Attachment
from app.words import translate
from engine.errors import EnvironmentFault
from engine.tokens import estimate_text

MOST_BYTES = 4_000_000
"""A larger file fits no window by far; it is refused before it is read."""
_TRIED_BYTES = 64_000  # enough to tell the encoding
_WESTERN = "cp1252"
_LATIN = frozenset({"cp1250", "cp1254", "cp1257", "latin_1", "iso8859_15", "mac_roman"})
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def read_text_file(path: str) -> Attachment:
    """A file's text with its tokens (estimated, rather too many).

    Raises EnvironmentFault for what is no readable text file or larger than `MOST_BYTES`.
    """
    file = Path(path)
    data = _read(file)
    text = decode(data)
    if text is None:
        raise EnvironmentFault(
            translate("Files", "{name} is not a text file.").format(name=file.name),
            translate(
                "Files", "Text and images (PNG, JPEG, WebP, GIF, BMP) can go along with a message."
            ),
        )
    attachment = Attachment.of(file.name, text)
    return Attachment.of(file.name, text, tokens=estimate_text(attachment.text))


def _read(file: Path) -> bytes:
    name = file.name
    try:
        if not file.is_file():
            raise EnvironmentFault(translate("Files", "{name} is not a file.").format(name=name))
        size = file.stat().st_size
        if size > MOST_BYTES:
            raise EnvironmentFault(
                translate("Files", "{name} is too large: {size} MB.").format(
                    name=name, size=f"{size / 1_000_000:.1f}"
                ),
                translate("Files", "A file may have {most} MB; send a part of it.").format(
                    most=MOST_BYTES // 1_000_000
                ),
            )
        return file.read_bytes()
    except OSError as error:
        raise EnvironmentFault(
            translate("Files", "{name} cannot be read: {reason}.").format(
                name=name, reason=(error.strerror or str(error)).lower()
            )
        ) from error


def decode(data: bytes) -> str | None:
    """The text in bytes of an unknown encoding; None when they are no text."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _decoded(data, encoding)
    if b"\0" in data[:_TRIED_BYTES]:
        return _wide(data)
    return _decoded(data, "utf-8") if _is_utf8(data) else _guessed(data)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _decoded(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _wide(data: bytes) -> str | None:
    """UTF-16 without a mark: in Latin text every second byte is 0, and nothing else is."""
    tried = data[:_TRIED_BYTES]
    even, odd = tried[::2].count(0), tried[1::2].count(0)
    if max(even, odd) < len(tried) // 8 or min(even, odd) > len(tried) // 200:
        return None
    return _decoded(data, "utf-16-le" if odd > even else "utf-16-be")


def _guessed(data: bytes) -> str | None:
    from charset_normalizer import from_bytes  # slow to load, and seldom needed

    tried = data[:_TRIED_BYTES]
    found = from_bytes(tried[: tried.rfind(b"\n") + 1] or tried)
    best = found.best()
    if best is None:
        return None
    western = next((match for match in found if match.encoding == _WESTERN), None)
    if western is not None and western.coherence >= best.coherence and best.encoding in _LATIN:
        best = western  # a few words look alike in all of them, and this one is the commonest
    return data.decode(best.encoding, "replace")
