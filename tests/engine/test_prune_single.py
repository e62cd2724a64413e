"""What is kept of one text that is too long; vectors T and the caps of context-engine.md section 5."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.prune import (
    MIDDLE_MARKER,
    TAIL_CAP_CHARS,
    has_important_tail,
    plan_oversized,
    result_cap_chars,
    truncate_text,
)
from engine.tokens import utf16_length
from engine.transcript import Image, Message, Text, user

NOTICE = re.compile(r"\[\.\.\. (\d+) more characters truncated\]\Z")
BOOM = "x" * 50_000 + "\nError: boom"
LINES = "normal line\n" * 1_000
PICTURE = Image("image/png", "AAAA")

# T6: 11,051 characters ending in an error and a stack trace. The head's room of 3,412 has its last
# line end at 3,395, and the tail's first line end is beyond its first fifth: 17 characters go.
T6_TRACE = (
    "Error: the reader stopped in the middle of a record\n"
    "Traceback (most recent call last):\n"
    '  File "reader.py", line 41, in read\n'
)
T6 = "r" * 3_395 + "\n" + "s" * (11_051 - 3_396 - len(T6_TRACE)) + T6_TRACE


def result(*texts, call="c1", tool="read"):
    parts = tuple(Text(text) if isinstance(text, str) else text for text in texts)
    return Message("tool_result", parts, tool_call_id=call, tool_name=tool)


def missing(text):
    """The figure in a text's notice."""
    return int(NOTICE.search(text)[1])


def marked_head(text):
    """Length of what stands before the marker, None without one."""
    return text.index(MIDDLE_MARKER) if MIDDLE_MARKER in text else None


# ---- T vectors ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "most", "length", "removed"),
    [
        pytest.param("a" * 10_000, 5_000, 5_000, 5_036, id="T1"),
        pytest.param("x" * 50_000, 3_000, 3_000, 47_037, id="T2"),
        pytest.param(LINES, 5_000, 4_991, 7_045, id="T5"),
        pytest.param(T6, 5_000, 4_983, 6_104, id="T6"),
        pytest.param("x" * 100_000 + " done", 16_000, 16_000, 84_042, id="T7"),
    ],
)
def test_a_text_is_cut_to_a_length_and_says_how_much_is_missing(text, most, length, removed):
    """Length of what is left and the figure in its notice, exactly."""
    cut = truncate_text(text, most)
    assert (utf16_length(cut), missing(cut)) == (length, removed)


def test_t3_of_a_notice_that_does_not_fit_the_beginning_is_left():
    """T3: in ten characters there is room for the first ten of the notice."""
    assert truncate_text("x" * 5_000, 10) == "[... 5000 "


@pytest.mark.parametrize("text", ["a", "two\nlines", BOOM, "\N{FIRE}"])
def test_t4_nothing_is_left_of_any_text_without_room(text):
    """T4: a cap of 0 leaves the empty text."""
    assert truncate_text(text, 0) == ""


def test_t5_a_head_ends_at_the_end_of_a_line_and_has_no_marker():
    """T5: the cut goes back to a line end close by; an unimportant end is not kept."""
    cut = truncate_text(LINES, 5_000)
    assert MIDDLE_MARKER not in cut
    assert cut.startswith("normal line\n" * 412 + "normal line[... ")


def test_t6_an_error_at_the_end_survives():
    """T6: head, marker, the whole error with its trace, notice at the very end."""
    cut = truncate_text(T6, 5_000)
    assert len(T6) == 11_051
    assert MIDDLE_MARKER in cut
    assert cut.endswith(T6_TRACE + "[... 6104 more characters truncated]")


def test_t7_an_important_end_gets_four_thousand_characters_at_most():
    """T7: head 11,900, tail 4,000 (the program's cap, CONFLICT-6), then the notice."""
    cut = truncate_text("x" * 100_000 + " done", 16_000)
    assert marked_head(cut) == 11_900
    tail = cut[11_900 + utf16_length(MIDDLE_MARKER) :].removesuffix(NOTICE.search(cut)[0])
    assert len(tail) == TAIL_CAP_CHARS == 4_000
    assert tail.endswith("x done")


def test_a_tail_begins_at_the_beginning_of_a_line():
    """A line end within the first fifth of the tail: the tail starts behind it."""
    cut = truncate_text("h" * 20_000 + "\n" + "t" * 1_400 + " done", 5_000)
    assert "h" + MIDDLE_MARKER + "t" * 1_400 + " done[... " in cut


@pytest.mark.parametrize(
    ("most", "head"),
    [
        pytest.param(4_063, 2_756, id="T8"),
        pytest.param(2_000, None, id="T9-2000"),
        pytest.param(1_000, None, id="T9-1000"),
        pytest.param(5_000, 3_412, id="T10-5000"),
        pytest.param(8_000, 5_512, id="T10-8000"),
        pytest.param(16_000, 11_900, id="T10-16000"),
        pytest.param(32_000, 27_900, id="T10-32000"),
    ],
)
def test_head_and_total_of_a_text_that_ends_in_an_error(most, head):
    """70 % head and 30 % tail where both are worth it, head only below; the size is exact."""
    cut = truncate_text(BOOM, most)
    assert marked_head(cut) == head
    assert utf16_length(cut) == most


def test_t11_two_texts_of_a_result_share_the_cap_and_the_picture_stays():
    """T11: 30,000 and 10,000 characters with a picture between become 12,000, picture, 4,000."""
    message = result("a" * 30_000, PICTURE, "b" * 10_000)
    (change,) = plan_oversized([message], 16_000)
    first, picture, second = change.parts
    assert picture is PICTURE
    assert [len(first.text), len(second.text)] == [12_000, 4_000]


@pytest.mark.parametrize("text", ["", "short", "x" * 2_000, "\N{FIRE}" * 1_000])
def test_t12_a_text_within_the_cap_is_the_same_object(text):
    """T12: nothing is touched that fits, exactly at the cap included."""
    assert truncate_text(text, utf16_length(text)) is text
    assert truncate_text(text, 1_000_000) is text


def test_the_marker_has_the_length_the_vectors_count_with():
    """63 UTF-16 units; every head above depends on it."""
    assert utf16_length(MIDDLE_MARKER) == 63


# ---- important tail -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "done",
        "DONE",
        "exit code 1",
        '{"a":1}',
        '{"a":1} \n\ufeff',
        "result:",
        "traceback",
        "stack trace",
        "errno",
        "Total 5",
    ],
)
def test_an_end_with_an_error_a_brace_or_a_result_is_important(text):
    """Whole words, any case, or a closing brace at the very end."""
    assert has_important_tail(text)


@pytest.mark.parametrize("text", ["donee", "undone", "abandoned", "terror", "ok", '{"a":1} x', ""])
def test_other_ends_are_not_important(text):
    """Parts of words and braces further in do not count."""
    assert not has_important_tail(text)


def test_the_end_is_searched_for_exactly_two_thousand_characters():
    """A word that starts 2,000 characters from the end counts, one character earlier not."""
    assert has_important_tail("x " + "error" + " " * 1_995)
    assert not has_important_tail("x " + "error" + " " * 1_996)


# ---- caps -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("window", "cap"),
    [
        (0, 0),
        (1, 0),
        (-5, 0),
        (4_096, 4_912),
        (8_192, 9_828),
        (13_333, 15_996),
        (13_334, 16_000),
        (16_000, 16_000),
        (16_384, 16_000),
        (20_000, 16_000),
        (24_576, 16_000),
        (32_000, 16_000),
        (32_768, 16_000),
        (40_960, 16_000),
        (65_536, 16_000),
        (131_072, 16_000),
        (200_000, 16_000),
    ],
)
def test_the_cap_of_a_window(window, cap):
    """Three tenths of the window, floored before it becomes characters, at most 16,000."""
    assert result_cap_chars(window) == cap


@pytest.mark.parametrize(("override", "cap"), [(32_000, 32_000), (0, 16_000), (None, 16_000)])
def test_a_configured_cap_replaces_the_formula(override, cap):
    """32,000 at a window of 128,000; none and 0 leave the formula."""
    assert result_cap_chars(128_000, override) == cap


# ---- truncated before -----------------------------------------------------------------------


def test_a_text_truncated_before_is_left_alone_within_its_cap():
    """The result of a truncation is not truncated again by the same cap."""
    once = truncate_text(BOOM, 16_000)
    assert truncate_text(once, 16_000) is once


def test_truncating_further_counts_all_that_is_missing_in_one_notice():
    """The second notice replaces the first and counts from the text as it was."""
    twice = truncate_text(truncate_text("x" * 100_000, 16_000), 5_000)
    assert twice == truncate_text("x" * 100_000, 5_000)
    assert missing(twice) == 95_037


def test_a_figure_too_long_to_be_ours_is_not_a_notice():
    """A tool's own text with an absurd figure is text like any other."""
    text = "x" * 100 + f"[... {'9' * 5_000} more characters truncated]"
    assert missing(truncate_text(text, 80)) == len(text) - (80 - 36)


# ---- properties -----------------------------------------------------------------------------

alphabet = st.sampled_from(
    ["a", "b ", "\n", "漢", "字", "\N{FIRE}", "𠀀", "é", "error ", "}", "line of words\n"]
)
long_texts = st.builds(
    lambda pieces, times, end: "".join(pieces) * times + end,
    st.lists(alphabet, min_size=1, max_size=30),
    st.integers(1, 400),
    st.sampled_from(["", " done", "\nError: boom", "}", "\N{FIRE}"]),
)
caps = st.one_of(st.integers(0, 300), st.integers(0, 20_000))
keeps = st.sampled_from([0, 1, 500, 2_000])


@settings(deadline=None)
@given(long_texts, caps, keeps)
@example("\N{FIRE}" * 4_000, 5_001, 2_000)
@example("\N{FIRE}" * 4_000 + " error", 5_000, 0)
@example("words", 3, 0)
def test_a_text_is_never_longer_than_its_cap(text, most, keep):
    """Whatever the text, the cap and what should be kept: at most the cap."""
    assert utf16_length(truncate_text(text, most, min_keep=keep)) <= most


@settings(deadline=None)
@given(long_texts, st.integers(60, 20_000), keeps)
def test_what_is_left_begins_as_the_text_did(text, most, keep):
    """Up to the marker, or else up to the notice, it is the text's own beginning."""
    cut = truncate_text(text, most, min_keep=keep)
    assert text.startswith(NOTICE.sub("", cut).split(MIDDLE_MARKER)[0])


@settings(deadline=None)
@given(long_texts, caps, keeps)
@example("\N{FIRE}" * 4_000, 5_001, 2_000)
def test_no_surrogate_pair_is_cut(text, most, keep):
    """A text without lone surrogates has none after the cut."""
    cut = truncate_text(text, most, min_keep=keep)
    assert not any("\ud800" <= character <= "\udfff" for character in cut)


@settings(deadline=None)
@given(long_texts, caps, keeps)
def test_truncating_twice_is_truncating_once(text, most, keep):
    """The same cap again changes nothing."""
    once = truncate_text(text, most, min_keep=keep)
    assert truncate_text(once, most, min_keep=keep) == once


@settings(deadline=None)
@given(long_texts, caps, caps)
def test_a_later_smaller_cap_holds_too(text, first, second):
    """A text truncated before obeys the next cap and never grows."""
    once = truncate_text(text, first)
    twice = truncate_text(once, second)
    assert utf16_length(twice) <= min(second, utf16_length(once))


@settings(deadline=None)
@given(long_texts, st.integers(100, 20_000), keeps)
def test_the_notice_counts_what_is_missing(text, most, keep):
    """Removed characters, markers counted as kept, are what the notice says."""
    cut = truncate_text(text, most, min_keep=keep)
    if cut is text:
        return
    kept = utf16_length(cut) - len(NOTICE.search(cut)[0])
    assert missing(cut) == utf16_length(text) - kept


@settings(deadline=None)
@given(st.lists(st.one_of(long_texts, st.just(PICTURE)), max_size=6), caps)
def test_the_texts_of_a_result_are_under_the_cap_together(parts, cap):
    """However many texts a result has, their sum is under the cap; pictures are untouched."""
    message = result(*parts)
    for change in plan_oversized([user("hi"), message], cap):
        assert change.index == 1
        assert change.after_chars <= max(1, cap) < change.before_chars
        assert [type(part) for part in change.parts] == [type(part) for part in message.parts]
        assert change.removed_chars == change.before_chars - utf16_length(change.text)


def test_a_short_text_beside_a_long_one_stays_whole():
    """The least to keep is granted to the short one at the cost of the long one."""
    (change,) = plan_oversized([result("a" * 30_000, "b" * 100)], 5_000)
    first, second = (part.text for part in change.parts)
    assert (len(first), second) == (4_900, "b" * 100)


@settings(deadline=None)
@given(st.integers(0, 2_000_000), st.integers(0, 2_000_000))
def test_a_larger_window_never_has_a_smaller_cap(one, other):
    """The cap rises with the window up to 16,000."""
    small, large = sorted((one, other))
    assert 0 <= result_cap_chars(small) <= result_cap_chars(large) <= 16_000
