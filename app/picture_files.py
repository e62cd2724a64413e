"""Pictures that go along with a message: read, turned upright, made smaller where they are large.

Safe on any thread. A picture becomes what every server can read: PNG or JPEG, one picture, at most
`MOST_SIDE` pixels wide and high. One that is so already stays as it is, byte for byte.
"""

import base64
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt
from PySide6.QtGui import QImage, QImageIOHandler, QImageReader

from app.typed import AttachedImage
from app.words import translate
from engine.errors import EnvironmentFault
from engine.transcript import Image

MOST_SIDE = 1_568
"""Models that see make pictures smaller than this themselves; more would only cost tokens."""
MOST_BYTES = 64_000_000
"""A larger file is refused before it is read."""
_MOST_PIXELS = 60_000_000  # what Qt reads at once; of a JPEG it can read a smaller one
_MOST_JPEG_PIXELS = 400_000_000
_MOST_SENT_BYTES = 4_000_000
_MOST_PNG_BYTES = 1_500_000
_JPEG_QUALITY = 90
_HEAD_BYTES = 16
_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".jfif", ".webp", ".gif", ".bmp"})
_MAGIC = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a")
_SENT = {"png": "image/png", "jpeg": "image/jpeg"}
_TURNED = QImageIOHandler.Transformation.TransformationRotate90
_AS_IT_IS = QImageIOHandler.Transformation.TransformationNone


def is_picture(path: str) -> bool:
    """Whether a file is a picture, by how it begins, or by its name."""
    file = Path(path)
    try:
        with file.open("rb") as opened:
            head = opened.read(_HEAD_BYTES)
    except OSError:
        return False
    is_riff = head.startswith(b"RIFF") and head[8:12] == b"WEBP"
    is_bmp = head.startswith(b"BM") and head[6:10] == bytes(4)
    return head.startswith(_MAGIC) or is_riff or is_bmp or file.suffix.lower() in _SUFFIXES


def read_picture(path: str) -> AttachedImage:
    """A file's picture as it is sent. Raises EnvironmentFault for what is none, or too large."""
    file = Path(path)
    try:
        size = file.stat().st_size
        if size > MOST_BYTES:
            raise _too_large(file.name, f"{size / 1_000_000:,.0f} MB")
        data = file.read_bytes()
    except OSError as error:
        raise EnvironmentFault(
            translate("Files", "{name} cannot be read: {reason}.").format(
                name=file.name, reason=(error.strerror or str(error)).lower()
            )
        ) from error
    return prepare_bytes(data, file.name)


def prepare_bytes(data: bytes, name: str) -> AttachedImage:
    """The picture in a file's bytes as it is sent. Raises as `read_picture`."""
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    reader.setAutoTransform(True)
    whole, kind = reader.size(), bytes(reader.format().data()).decode("ascii", "replace")
    turn, frames = reader.transformation(), max(1, reader.imageCount())
    pixels = whole.width() * whole.height()
    if pixels > (_MOST_JPEG_PIXELS if kind == "jpeg" else _MOST_PIXELS):
        raise _too_large(name, f"{whole.width():,} × {whole.height():,}")
    target = _fitted(whole)
    if kind == "jpeg" and target != whole:
        reader.setScaledSize(_fitted(whole, 2))  # little is read, and that is made smaller well
    picture = reader.read()
    if picture.isNull():
        raise _broken(name)
    is_ready = kind in _SENT and turn == _AS_IT_IS and target == whole
    if is_ready and frames == 1 and len(data) <= _MOST_SENT_BYTES:
        return AttachedImage(_image(data, _SENT[kind], name, whole))
    if bool(turn.value & _TURNED.value):
        whole, target = whole.transposed(), target.transposed()
    prepared = _encoded(picture, name, target, prefers_jpeg=kind == "jpeg")
    was = (whole.width(), whole.height()) if target != whole else None
    return AttachedImage(prepared, was, frames)


def prepare_picture(picture: QImage, name: str) -> AttachedImage:
    """A picture of the clipboard as it is sent. Raises EnvironmentFault for an empty one."""
    if picture.isNull():
        raise _broken(name)
    whole = picture.size()
    target = _fitted(whole)
    was = (whole.width(), whole.height()) if target != whole else None
    return AttachedImage(_encoded(picture, name, target, prefers_jpeg=False), was)


def _fitted(size: QSize, times: int = 1) -> QSize:
    """A size that is not too large, its shape kept; `times` as large where it was larger."""
    most = times * MOST_SIDE
    if max(size.width(), size.height()) <= most:
        return size
    fitted = size.scaled(QSize(most, most), Qt.AspectRatioMode.KeepAspectRatio)
    return fitted.expandedTo(QSize(1, 1))


def _encoded(picture: QImage, name: str, size: QSize, *, prefers_jpeg: bool) -> Image:
    """As PNG, which loses nothing; a photograph, or what is large as PNG, as JPEG."""
    if picture.size() != size:
        mode = Qt.TransformationMode.SmoothTransformation
        picture = picture.scaled(size, Qt.AspectRatioMode.IgnoreAspectRatio, mode)
    is_solid = not picture.hasAlphaChannel()
    data = b"" if prefers_jpeg and is_solid else _written(picture, "PNG")
    if is_solid and not 0 < len(data) <= _MOST_PNG_BYTES:
        return _image(_written(picture, "JPEG"), "image/jpeg", name, size)
    return _image(data, "image/png", name, size)


def _written(picture: QImage, kind: str) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    picture.save(buffer, kind, _JPEG_QUALITY if kind == "JPEG" else -1)  # type: ignore[call-overload]  # Qt's stub knows bytes only
    return bytes(buffer.data().data())


def _image(data: bytes, mime: str, name: str, size: QSize) -> Image:
    text = base64.b64encode(data).decode("ascii")
    return Image(mime, text, " ".join(name.split()), size.width(), size.height())


def _broken(name: str) -> EnvironmentFault:
    return EnvironmentFault(
        translate("Files", "{name} is broken: no image can be read from it.").format(name=name)
    )


def _too_large(name: str, size: str) -> EnvironmentFault:
    return EnvironmentFault(
        translate("Files", "{name} is too large for an image: {size}.").format(
            name=name, size=size
        ),
        translate("Files", "Make it smaller, or send a part of it."),
    )
