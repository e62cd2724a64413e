"""What the terminal front writes where."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.terminal.chat import joined_lines
from app.terminal.console import EXIT_BUG, Console, duration, megabytes, printable
from app.terminal.conversing import TITLE_CHARACTERS, title_of
from app.terminal.report import save_report
from engine.paths import Paths


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self):
        return True


def console(*, live=False):
    out, err = io.StringIO(), Terminal() if live else io.StringIO()
    return Console(out, err), out, err


def test_replies_and_talk_go_different_ways():
    """A reply on stdout, everything else on stderr."""
    front, out, err = console()
    front.reply("Paris")
    front.end_reply()
    front.say("Done.")
    front.result("a line")
    assert out.getvalue() == "Paris\na line\n"
    assert err.getvalue() == "Done.\n"


def test_reply_that_ends_its_line_gets_no_second_one():
    """No blank line after a reply that brought its own."""
    front, out, _ = console()
    front.reply("Paris\n")
    front.end_reply()
    assert out.getvalue() == "Paris\n"


def test_progress_on_a_terminal_is_one_line_rewritten():
    """The line is updated in place and taken away before the reply."""
    front, _, err = console(live=True)
    front.progress("Reading…", "1 of 2")
    front.progress("Reading…", "2 of 2")
    front.reply("x")
    assert err.getvalue().count("\n") == 0
    assert err.getvalue().endswith("\r\x1b[2K")


def test_progress_elsewhere_is_a_line_for_each_stage():
    """A log gets each stage once, without figures that would fill it."""
    front, _, err = console()
    for figures in ("1 of 3", "2 of 3", "3 of 3"):
        front.progress("Reading…", figures)
    front.progress("Thinking…")
    assert err.getvalue() == "Reading…\nThinking…\n"


def test_talk_after_half_a_line_begins_a_new_one_on_a_terminal():
    """A warning in the middle of a reply does not stick to it."""
    front, out, err = console(live=True)
    front.reply("Once upon")
    front.say("Stopped.")
    assert out.getvalue() == "Once upon"
    assert err.getvalue() == "\nStopped.\n"


@given(st.text())
def test_any_text_can_be_printed(text):
    """Lone surrogates are replaced, everything else stays."""
    shown = printable(text)
    shown.encode("utf-8")
    assert len(shown) == len(text)


@pytest.mark.parametrize(
    ("size", "words"), [(98_362_432, "98 MB"), (25_300_000_000, "25.3 GB"), (0, "0 MB")]
)
def test_sizes_in_words(size, words):
    """Decimal, as file managers show them."""
    assert megabytes(size) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.44, "0.4 s"), (12.3, "12 s"), (75, "1 min 15 s")]
)
def test_durations_in_words(seconds, words):
    """Tenths only where they matter."""
    assert duration(seconds) == words


@given(st.text())
def test_title_is_one_short_line(text):
    """The first words, on one line, cut with an ellipsis."""
    title = title_of(text)
    assert len(title) <= TITLE_CHARACTERS
    assert len(title.splitlines()) <= 1


@pytest.mark.parametrize(
    ("lines", "messages"),
    [
        (["a\n", "b\n"], ["a", "b"]),
        (["a\\\n", "b\n", "c\n"], ["a\nb", "c"]),
        (["a\\\n"], ["a"]),
        ([], []),
    ],
)
def test_piped_lines_become_messages(lines, messages):
    """A backslash at the end joins the next line; nothing is lost at the end of input."""
    assert list(joined_lines(lines)) == messages


# ---- our own bugs -------------------------------------------------------------------------------


def test_a_bug_is_shown_and_saved(tmp_path):
    """The trace, what is safe, and the file that holds the same trace; half a character hurts none."""
    front, out, err = console()
    paths = Paths(tmp_path / "c", tmp_path / "d", tmp_path / "x", tmp_path / "l")
    assert save_report(ValueError("half \ud83d"), paths, front) == EXIT_BUG
    (saved,) = paths.reports_dir.iterdir()
    assert "ValueError: half ?" in saved.read_text(encoding="utf-8")
    assert "ValueError: half" in err.getvalue()
    assert err.getvalue().endswith(
        f"This is a bug in Porthole. What you typed is kept.\nThe report is saved as {saved}\n"
    )
    assert out.getvalue() == ""


def test_a_bug_without_a_place_for_its_report_is_shown(tmp_path):
    """A file stands where the folder should be: the trace is on the screen all the same."""
    front, _, err = console()
    (tmp_path / "l").write_text("")
    (tmp_path / "d").write_text("")
    paths = Paths(tmp_path / "c", tmp_path / "d", tmp_path / "x", tmp_path / "l")
    assert save_report(ValueError("boom"), paths, front) == EXIT_BUG
    assert "ValueError: boom" in err.getvalue()
    assert err.getvalue().endswith("What you typed is kept.\n")
