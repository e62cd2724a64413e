"""Windows that were learned: the smaller one within a run, kept from one run to the next."""

import pytest

from engine.errors import SettingsUnusable
from engine.window.learned import LearnedWindows


def test_of_several_figures_the_smaller_counts():
    """In whatever order they come; what is no figure changes nothing."""
    for order in ((1_048_576, 128_000), (128_000, 1_048_576)):
        windows = LearnedWindows()
        for tokens in (*order, 0, None, -1, float("nan"), "9"):
            windows.learn("m", tokens)
        assert windows.look_up("m") == 128_000
    assert LearnedWindows().look_up("m") is None


def test_what_was_learned_is_there_in_the_next_run(tmp_path):
    """And replaced by what that one learns, though it may be larger."""
    file = tmp_path / "new" / "windows.json"
    first = LearnedWindows()
    first.learn("a", 12_000)
    first.learn("b", 8_192)
    first.save(file)
    second = LearnedWindows.load(file)
    assert second.look_up("a") == 12_000
    second.learn("a", 32_768)
    assert second.look_up("a") == 32_768
    second.save(file)
    third = LearnedWindows.load(file)
    assert (third.look_up("a"), third.look_up("b")) == (32_768, 8_192)


@pytest.mark.parametrize("content", [b"", b"[]", b'{"a": "x", "b": true, "c": -1}', b"\xff", b"{"])
def test_garbage_is_read_as_nothing_known(tmp_path, content):
    """A damaged file costs a figure for a moment, never the start."""
    file = tmp_path / "windows.json"
    file.write_bytes(content)
    assert [LearnedWindows.load(file).look_up(name) for name in "abc"] == [None] * 3


def test_a_file_that_cannot_be_written(tmp_path):
    """The caller decides whether it matters."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(SettingsUnusable):
        LearnedWindows({"a": 1}).save(tmp_path / "file" / "windows.json")
