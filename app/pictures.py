"""Pictures as they are shown: their sizes without decoding, decoded when there is time, and kept.

::

    paint ─▶ pixmap: there ─▶ drawn
               └─ not yet: None, a quiet place ─▶ one a turn of Qt's loop ─▶ ready ─▶ paint again

What is kept is bounded; what was drawn last stays longest.
"""

import base64
import binascii
from collections import OrderedDict, deque
from functools import lru_cache

from PySide6.QtCore import (
    QBuffer,
    QByteArray,
    QIODevice,
    QObject,
    QPointF,
    QRectF,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QImage, QImageReader, QPainter, QPainterPath, QPixmap

from engine.transcript import Image

MOST_BYTES = 64_000_000
"""Decoded pictures that are kept."""
_HEAD_CHARACTERS = 88_000  # of base64: where a header says the size
_MOST_WAITING = 60
_UNKNOWN = QSize(160, 120)
_LARGEST = 20_000


class Pictures(QObject):
    """Decoded pictures in the sizes they are drawn in.

    Signals:
        ready(): one that was asked for is there now.
    """

    ready = Signal()

    def __init__(self, parent: QObject | None = None, most_bytes: int = MOST_BYTES) -> None:
        super().__init__(parent)
        self._most = most_bytes
        self._kept: OrderedDict[tuple[str, int, int], QPixmap] = OrderedDict()
        self._waiting: deque[tuple[Image, QSize]] = deque(maxlen=_MOST_WAITING)
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._work)
        self.decoded = 0

    @property
    def kept_bytes(self) -> int:
        """What the decoded pictures take."""
        return sum(_bytes_of(pixmap) for pixmap in self._kept.values())

    def pixmap(self, image: Image, size: QSize) -> QPixmap | None:
        """A picture at a size in device px; None while it is decoded, a null one if it is broken."""
        key = image.data, size.width(), size.height()
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
            return found
        if (image, size) not in self._waiting:
            self._waiting.append((image, size))
        self._timer.start(0)
        return None

    def _work(self) -> None:
        """Decode what was asked for last: that is what is looked at."""
        image, size = self._waiting.pop()
        self.decoded += 1
        pixmap = QPixmap.fromImage(decode(image, size))
        self._kept[(image.data, size.width(), size.height())] = pixmap
        left = self.kept_bytes
        while left > self._most and len(self._kept) > 1:
            left -= _bytes_of(self._kept.popitem(last=False)[1])
        if self._waiting:
            self._timer.start(0)
        self.ready.emit()


def _bytes_of(pixmap: QPixmap) -> int:
    return pixmap.width() * pixmap.height() * 4


def bytes_of(image: Image) -> bytes:
    """The picture's file; empty when its data is none."""
    try:
        return base64.b64decode(image.data)
    except (binascii.Error, ValueError):
        return b""


def decode(image: Image, size: QSize | None = None) -> QImage:
    """The picture, at a size if one is given; a null one if it is broken."""
    buffer, reader = _reader(bytes_of(image))
    whole = reader.size()
    if size is not None and whole.isValid() and not _is_turned(reader):
        least = size.width() * 2, size.height() * 2
        if whole.width() > least[0] and whole.height() > least[1]:
            reader.setScaledSize(QSize(*least))  # half the work for a JPEG
    picture = reader.read()
    buffer.close()
    if picture.isNull() or size is None or picture.size() == size:
        return picture
    mode = Qt.TransformationMode.SmoothTransformation
    return picture.scaled(size, Qt.AspectRatioMode.IgnoreAspectRatio, mode)


def size_of(image: Image) -> QSize:
    """Width and height, without decoding; a usual size where nothing tells."""
    if 0 < image.width <= _LARGEST and 0 < image.height <= _LARGEST:
        return QSize(image.width, image.height)
    return QSize(_told_size(image.data))


@lru_cache(maxsize=64)
def _told_size(data: str) -> QSize:
    """What the header of a picture says, which an older or foreign file brought without its size."""
    head = data[:_HEAD_CHARACTERS]
    buffer, reader = _reader(bytes_of(Image("", head[: len(head) // 4 * 4])))
    size = reader.size().transposed() if _is_turned(reader) else reader.size()
    buffer.close()
    return size if size.isValid() and not size.isEmpty() else _UNKNOWN


def _reader(data: bytes) -> tuple[QBuffer, QImageReader]:
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    reader.setAutoTransform(True)
    return buffer, reader


def _is_turned(reader: QImageReader) -> bool:
    return bool(reader.transformation().value & 4)  # by a quarter: sides change places


def fitted(size: QSize, most: QSize) -> QSize:
    """A size made smaller until it fits, its shape kept; never larger, never nothing."""
    if size.width() <= most.width() and size.height() <= most.height():
        return size.expandedTo(QSize(1, 1))
    return size.scaled(most, Qt.AspectRatioMode.KeepAspectRatio).expandedTo(QSize(1, 1))


def draw_rounded(painter: QPainter, pixmap: QPixmap, rect: QRectF, radius: float) -> None:
    """Draw a picture over the whole of a rectangle, its corners round and its middle kept."""
    path = QPainterPath()
    path.addRoundedRect(rect, radius, radius)
    whole = QSize(pixmap.width(), pixmap.height())
    shape = rect.size().toSize() if not rect.isEmpty() else QSize(1, 1)
    part = shape.scaled(whole, Qt.AspectRatioMode.KeepAspectRatio)
    corner = QPointF((whole.width() - part.width()) / 2, (whole.height() - part.height()) / 2)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    painter.setClipPath(path, Qt.ClipOperation.IntersectClip)
    painter.drawPixmap(rect, pixmap, QRectF(corner, part.toSizeF()))
    painter.restore()
