"""Pictures read from files and the clipboard: what is sent of them."""

import base64
import struct
import zlib

import pytest
from PySide6.QtCore import QBuffer, QIODevice, QSize
from PySide6.QtGui import QColor, QImage, QPainter

from app.picture_files import MOST_SIDE, is_picture, prepare_picture, read_picture
from app.pictures import decode, size_of
from engine.errors import EnvironmentFault
from engine.transcript import Image

GIF = base64.b64decode(
    "R0lGODlhAgACAIAAAP8AAAAA/yH/C05FVFNDQVBFMi4wAwEAAAAh+QQBCgABACwAAAAAAgACAAACAoRRACH5BAEKAAEA"
    "LAAAAAACAAIAAAICjFMAOw=="
)


def a_picture(width=40, height=30, color="#2a7", *, alpha=False):
    kind = QImage.Format.Format_ARGB32 if alpha else QImage.Format.Format_RGB32
    image = QImage(width, height, kind)
    image.fill(QColor(0, 0, 0, 0) if alpha else QColor(color))
    painter = QPainter(image)
    painter.fillRect(0, 0, width // 2, height // 2, QColor("#a27"))
    painter.end()
    return image


def encoded(image, kind):
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    assert image.save(buffer, kind)
    return bytes(buffer.data().data())


def put(folder, name, data):
    file = folder / name
    file.write_bytes(data)
    return str(file)


def data_of(image):
    return base64.b64decode(image.data)


@pytest.mark.parametrize(("kind", "mime"), [("PNG", "image/png"), ("JPEG", "image/jpeg")])
def test_a_small_png_or_jpeg_stays_as_it_is(tmp_path, kind, mime):
    """Byte for byte; its size is known."""
    data = encoded(a_picture(), kind)
    read = read_picture(put(tmp_path, "my  pic.x", data))
    assert data_of(read.image) == data
    assert (read.image.mime, read.image.name) == (mime, "my pic.x")
    assert (read.image.width, read.image.height, read.was, read.frames) == (40, 30, None, 1)


@pytest.mark.parametrize("kind", ["WEBP", "BMP"])
def test_what_not_every_server_reads_becomes_png(tmp_path, kind):
    """In its own size, its colours kept."""
    read = read_picture(put(tmp_path, "a.x", encoded(a_picture(), kind)))
    assert read.image.mime == "image/png"
    picture = decode(read.image)
    assert picture.size() == QSize(40, 30)
    assert picture.pixelColor(39, 29).green() > 150
    assert read.was is None


def test_of_an_animation_the_first_picture_is_taken(tmp_path):
    """And it is known that there are more."""
    read = read_picture(put(tmp_path, "a.gif", GIF))
    assert (read.image.mime, read.frames) == ("image/png", 2)
    assert decode(read.image).size() == QSize(2, 2)


@pytest.mark.parametrize(("width", "height"), [(4000, 3000), (1000, 5000), (1569, 10)])
def test_a_large_picture_is_made_smaller(tmp_path, width, height):
    """Its shape is kept, and what it was is told."""
    read = read_picture(put(tmp_path, "a.png", encoded(a_picture(width, height), "PNG")))
    size = QSize(read.image.width, read.image.height)
    assert max(size.width(), size.height()) == MOST_SIDE
    assert abs(size.width() * height - size.height() * width) <= max(width, height)
    assert read.was == (width, height)
    assert decode(read.image).size() == size


def test_a_photograph_stays_a_jpeg_and_what_is_transparent_a_png(tmp_path):
    """However large they were."""
    photo = read_picture(put(tmp_path, "a.jpg", encoded(a_picture(2000, 1500), "JPEG")))
    assert photo.image.mime == "image/jpeg"
    logo = read_picture(put(tmp_path, "b.png", encoded(a_picture(2000, 1500, alpha=True), "PNG")))
    assert logo.image.mime == "image/png"
    assert decode(logo.image).pixelColor(1500, 1000).alpha() == 0


def turned(data, orientation):
    """A JPEG with an orientation, as a camera writes it."""
    tiff = b"II*\0" + struct.pack("<IHHHIHHI", 8, 1, 0x0112, 3, 1, orientation, 0, 0)
    body = b"Exif\0\0" + tiff
    return data[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + data[2:]


def test_a_picture_of_a_turned_camera_is_turned_upright(tmp_path):
    """No server does that; width and height change places."""
    data = turned(encoded(a_picture(40, 30), "JPEG"), 6)
    read = read_picture(put(tmp_path, "a.jpg", data))
    assert (read.image.width, read.image.height) == (30, 40)
    assert decode(read.image).size() == QSize(30, 40)
    assert read.was is None
    large = turned(encoded(a_picture(4000, 3000), "JPEG"), 6)
    read = read_picture(put(tmp_path, "b.jpg", large))
    assert (read.image.width, read.image.height) == (1176, 1568)
    assert read.was == (3000, 4000)
    picture = decode(read.image)
    assert picture.pixelColor(1100, 100).red() > picture.pixelColor(100, 1500).red()


@pytest.mark.parametrize("data", [b"", b"\x89PNG\r\n\x1a\n", b"\x89PNG\r\n\x1a\nnothing at all"])
def test_a_broken_picture_is_told_in_a_sentence(tmp_path, data):
    path = put(tmp_path, "a.png", data)
    assert is_picture(path)
    with pytest.raises(EnvironmentFault, match=r"a\.png is broken"):
        read_picture(path)


def test_half_a_picture_is_no_picture(tmp_path):
    """A download that was cut; a model would see something else than the user."""
    whole = encoded(a_picture(400, 300), "PNG")
    with pytest.raises(EnvironmentFault, match="broken"):
        read_picture(put(tmp_path, "a.png", whole[: len(whole) // 2]))


def test_a_picture_of_too_many_pixels_is_refused_before_it_is_decoded(tmp_path):
    """A few bytes can claim any size."""
    data = bytearray(encoded(a_picture(1, 1), "PNG"))
    struct.pack_into(">II", data, 16, 20_000, 20_000)
    struct.pack_into(">I", data, 29, zlib.crc32(bytes(data[12:29])))
    with pytest.raises(EnvironmentFault, match="too large for an image: 20,000 × 20,000"):
        read_picture(put(tmp_path, "a.png", bytes(data)))


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path):
    file = tmp_path / "a.png"
    with file.open("wb") as opened:
        opened.truncate(65_000_000)
    with pytest.raises(EnvironmentFault, match="65 MB"):
        read_picture(str(file))


def test_a_file_that_is_not_there_is_told_of(tmp_path):
    with pytest.raises(EnvironmentFault, match=r"gone\.png cannot be read"):
        read_picture(str(tmp_path / "gone.png"))


def test_what_is_a_picture_its_beginning_says(tmp_path):
    """Or its name, where that says nothing."""
    for name, data in (
        ("notes", encoded(a_picture(), "PNG")),
        ("notes.txt", encoded(a_picture(), "JPEG")),
        ("b", GIF),
        ("c", encoded(a_picture(), "WEBP")),
        ("d", encoded(a_picture(), "BMP")),
        ("e.JPG", b"words"),
    ):
        assert is_picture(put(tmp_path, name, data)), name
    for name, data in (("a.txt", b"BMW is a make."), ("b.svg", b"<svg/>"), ("c.md", b"")):
        assert not is_picture(put(tmp_path, name, data)), name
    assert not is_picture(str(tmp_path / "gone.png"))


def test_a_picture_of_the_clipboard_is_made_ready_as_one_of_a_file():
    read = prepare_picture(a_picture(2000, 1000), "Pasted image 1.png")
    assert (read.image.width, read.image.height, read.was) == (1568, 784, (2000, 1000))
    assert read.image.name == "Pasted image 1.png"
    with pytest.raises(EnvironmentFault):
        prepare_picture(QImage(), "nothing")


def test_a_large_screen_shot_of_much_detail_becomes_a_jpeg():
    """As PNG it would be megabytes in every request."""
    image = QImage(1200, 900, QImage.Format.Format_RGB32)
    noise = bytes((x * 7919 + (x >> 5) * 104_729) & 255 for x in range(1200 * 900 * 4))
    image = QImage(noise, 1200, 900, QImage.Format.Format_RGB32)
    read = prepare_picture(image, "noise")
    assert read.image.mime in ("image/jpeg", "image/png")
    assert len(data_of(read.image)) < 4_000_000


def test_the_size_of_a_foreign_picture_is_read_from_its_header():
    """Without decoding; where there is none, a usual size stands for it."""
    data = base64.b64encode(encoded(a_picture(64, 48), "PNG")).decode()
    assert size_of(Image("image/png", data)) == QSize(64, 48)
    assert size_of(Image("image/png", "no base64 at all!")) == QSize(160, 120)
    assert size_of(Image("image/png", data, width=-5, height=3)) == QSize(64, 48)
