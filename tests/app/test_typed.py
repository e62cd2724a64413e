"""What a typed text means, and how files go along with it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.typed import (
    Attachment,
    Command,
    History,
    Message,
    UnknownCommand,
    clean_text,
    join_message,
    plan_completions,
    plan_submission,
    split_message,
)


@pytest.mark.parametrize(
    ("text", "planned"),
    [
        ("", None),
        (" \n\t", None),
        ("Hello", Message("Hello")),
        ("\n  two\nlines \n", Message("  two\nlines")),
        ("/new", Command("new")),
        (" /status \n", Command("status")),
        ("/compact", Command("compact")),
        ("/compact the dates\nand names", Command("compact", "the dates\nand names")),
        ("/system Be brief.", Command("system", "Be brief.")),
        ("/help me write a letter", Message("/help me write a letter")),
        ("/nwe", UnknownCommand("nwe")),
        ("/etc/fstab", Message("/etc/fstab")),
        ("/etc/fstab is wrong", Message("/etc/fstab is wrong")),
        ("/", Message("/")),
        ("//new", Message("/new")),
        ("//", Message("/")),
        ("say /new", Message("say /new")),
    ],
)
def test_submission(text, planned):
    """Commands are commands only where nobody can have meant anything else."""
    assert plan_submission(text) == planned


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("/", ("new", "compact", "status", "context", "model", "system", "help")),
        ("/s", ("status", "system")),
        ("/compact", ("compact",)),
        ("/compact ", ()),
        ("//", ()),
        ("x", ()),
        ("", ()),
    ],
)
def test_completions(text, names):
    """A slash and the beginning of a name offer what fits."""
    assert plan_completions(text) == names


def test_cleaning_keeps_what_can_be_stored():
    """Foreign line ends become ours, NUL and half characters go, no-break spaces stay."""
    assert (
        clean_text("a\r\nb\rc\u2028d\u2029e\0f\ud83dg 1\u00a0km") == "a\nb\nc\nd\nef?g 1\u00a0km"
    )


def test_file_of_odd_name_and_end():
    """A name is one line, the text ends in no newline."""
    assert Attachment.of("a\nb.txt", "x\r\ny\n\n") == Attachment("a b.txt", "x\ny")
    assert Attachment.of(" ", "").name == "text"


def test_joined_message_is_readable():
    """Text first, then each file with its name and a fence that nothing in it closes."""
    files = (Attachment("a.py", "```\nx"), Attachment("LICENSE", "y"))
    assert join_message("Look", files) == (
        "Look\n\na.py:\n````py\n```\nx\n````\n\nLICENSE:\n```\ny\n```"
    )


_NAMES = st.text(
    st.characters(blacklist_characters="\n\r", blacklist_categories=["Cs", "Zl", "Zp", "Cc"]),
    min_size=1,
).map(lambda name: " ".join(name.split()) or "x")
_TEXTS = st.text(st.sampled_from("a`:\n .")).map(lambda text: text.rstrip("\n"))
_FILES = st.lists(st.builds(Attachment, _NAMES, _TEXTS), max_size=3).map(tuple)


@given(st.text(st.sampled_from("ab \n/")), _FILES)
def test_splitting_finds_the_files_again(text, files):
    """What was joined comes apart as it was."""
    assert split_message(join_message(text, files)) == (text, files)


@given(st.text(st.sampled_from("a`:\n")) | st.text())
def test_splitting_changes_no_character(text):
    """Whatever a draft holds, it is sent as it was kept."""
    assert join_message(*split_message(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "```\nx\n```",
        "Look:\n```\nx\n```",
        "a.py:\n```python\nx\n```",
        ":\n```\nx\n```",
        "one\na.txt:\n```txt\nx\n```",
        "\n\na:\n```\nx\n```",
        "a:\n````\nx\n````",
        "x\n```",
        "``",
    ],
)
def test_a_block_of_ones_own_stays_text(text):
    """Only what is exactly as we write it becomes a file; the rest is the user's own text."""
    kept, files = split_message(text)
    assert join_message(kept, files) == text
    assert files == (() if text != "Look:\n```\nx\n```" else (Attachment("Look", "x"),))


def test_history_walks_and_stops_at_both_ends():
    """Earlier to the oldest, later to nothing shown."""
    history = History.of(["one", "two"])
    assert history.shown is None
    walked = [history := history.moved(step) for step in (-1, -1, -1, 1, 1, 1)]
    assert [h.shown for h in walked] == ["two", "one", "one", "two", None, None]


def test_history_keeps_no_repetition():
    """Sending the same again adds nothing; something else does, and nothing is shown then."""
    history = History.of(["one"]).moved(-1)
    assert history.added("one").texts == ("one",)
    assert history.added("two") == History(("one", "two"), 2)
    assert history.left().shown is None
