"""Text files of any encoding, and what is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.client.files import MOST_BYTES, decode, read_text_file
from engine.errors import EnvironmentFault

CHINESE = "上下文窗口很小，对话很长，因此需要压缩。请把会议记录整理成三点，每点不超过二十个字。"
JAPANESE = "これは日本語の文章です。会議の記録を三つの点にまとめてください。よろしくお願いします。"
WESTERN = (
    "Müller fährt über die Straße nach Köln – “schön”, sagte er. Garçon, déjà vu, naïve façade."
)


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", CHINESE),
        ("utf-8-sig", CHINESE),
        ("utf-16", JAPANESE),
        ("utf-16-le", "Plain words, as Windows writes them."),
        ("utf-16-be", "Plain words, as others write them."),
        ("utf-32", CHINESE),
        ("gb18030", CHINESE),
        ("shift_jis", JAPANESE),
        ("cp1252", WESTERN),
        ("cp1252", WESTERN * 2_000),
    ],
)
def test_the_encoding_is_found(encoding, text):
    """What was written is read, whatever wrote it."""
    assert decode(text.encode(encoding)) == text


@given(st.text(alphabet=st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_utf8_is_never_changed(text):
    """Every text in UTF-8 comes back as it is, but for its mark."""
    assert decode(text.encode()) == text.removeprefix("\ufeff")


@given(st.binary())
def test_bytes_never_raise(data):
    """Whatever they are, they are a text or none."""
    assert decode(data) is None or isinstance(decode(data), str)


@pytest.mark.parametrize(
    "data", [bytes(range(256)) * 4, b"PNG\0\0\0\1\0\0" * 30, b"\xff\xfe\x00\xd8"], ids=len
)
def test_no_text_is_none(data):
    """A program or a picture is refused."""
    assert decode(data) is None


def test_a_file_has_name_text_and_tokens(tmp_path):
    """Line ends are ours; tokens are estimated."""
    file = tmp_path / "notes.txt"
    file.write_bytes(b"one\r\ntwo\r\n")
    read = read_text_file(str(file))
    assert (read.name, read.text) == ("notes.txt", "one\ntwo")
    assert read.tokens > 0


def test_what_cannot_be_read_says_why(tmp_path):
    """A folder, nothing, a picture, a file too large: one sentence each, naming the file."""
    picture, large = tmp_path / "a.png", tmp_path / "large.log"
    picture.write_bytes(bytes(range(256)))
    large.write_bytes(b"x" * (MOST_BYTES + 1))
    for path, words in (
        (tmp_path, "is not a file"),
        (tmp_path / "gone.txt", "is not a file"),
        (picture, "is not a text file"),
        (large, "is too large: 4.0 MB"),
    ):
        with pytest.raises(EnvironmentFault) as fault:
            read_text_file(str(path))
        assert path.name in fault.value.sentence
        assert words in fault.value.sentence


def test_a_path_that_the_system_refuses(tmp_path):
    """The system's own reason is given."""
    with pytest.raises(EnvironmentFault, match="cannot be read: file name too long"):
        read_text_file(str(tmp_path / ("x" * 300)))
