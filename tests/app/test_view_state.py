"""How the window looked, kept in a file."""

import pytest

from app.view_state import ViewState, load_view_state, save_view_state


def test_what_is_saved_comes_back(tmp_path):
    """Every field."""
    state = ViewState("abc=", 300, False, "c1")
    save_view_state(tmp_path / "view.json", state)
    assert load_view_state(tmp_path / "view.json") == state


@pytest.mark.parametrize(
    "content",
    ["", "[1]", "{", '{"geometry": 5, "sidebar_width": true, "other": 1}', "[" * 100_000],
)
def test_nonsense_is_the_first_start(tmp_path, content):
    """A file that was changed by hand, or half written by a crash, costs only what was in it."""
    file = tmp_path / "view.json"
    file.write_text(content, encoding="utf-8")
    assert load_view_state(file) == ViewState()


def test_no_file_is_the_first_start(tmp_path):
    """Nothing is kept yet."""
    assert load_view_state(tmp_path / "view.json") == ViewState()


def test_a_place_that_cannot_be_written_is_no_fault(tmp_path):
    """The window closes all the same."""
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    save_view_state(file / "view.json", ViewState())
    assert file.read_text(encoding="utf-8") == ""
