"""Parting a text that is too large: nothing lost, everything fits, parts where the writer made them."""

from itertools import accumulate, pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.context import ContextSettings, plan_view
from engine.fitting import (
    LEFT_OUT,
    WINDOW_STEP,
    Part,
    plan_excerpt,
    plan_first_parts,
    plan_parts,
    plan_pieces,
    plan_room_in,
    plan_windows,
)
from engine.tokens import Count, estimate_text
from engine.transcript import user
from tests.engine.compact_items import entries, said

PROSE = "The lamp is lit at dusk and the keeper writes it down. "


def by_words(text):
    """A size that is easy to foresee: one for each word."""
    return len(text.split())


def guide(sections=4, sentences=10):
    """A Markdown file with a title and sections."""
    parts = [f"## {n}. Section {n}\n\n{PROSE * sentences}\n\n" for n in range(1, sections + 1)]
    return "# Guide\n\nHow to keep a light.\n\n" + "".join(parts)


def names(parts):
    return [(part.kind, part.title) for part in parts]


# ---- nothing is lost, everything fits -----------------------------------------------------------

BITS = st.sampled_from(
    [
        "# A\n",
        "## B b\n",
        "```\n",
        "\n",
        "\f",
        "===\n",
        "a",
        "é",
        " ",
        ",",
        "x" * 40,
        "中文字",
        "words ",
    ]
)
TEXTS = st.one_of(st.text(max_size=300), st.lists(BITS, max_size=60).map("".join))
WEIGHTS = st.sampled_from([len, by_words, estimate_text, lambda text: len(text.encode())])


@settings(deadline=None, max_examples=300)
@given(TEXTS, st.integers(1, 80), WEIGHTS)
@example("", 5, len)
@example("\f", 1, len)
@example("\n#\f===", 1, len)
@example("e\u0301" * 20, 3, len)
def test_the_parts_joined_are_the_text(text, room, weigh):
    """Whatever it is made of; and no part is empty."""
    for parts in (plan_parts(text, room, weigh), plan_pieces(text, room, weigh)):
        assert "".join(part.text for part in parts) == text
        assert all(part.text for part in parts)
        assert all(part.tokens == weigh(part.text) for part in parts)


@settings(deadline=None, max_examples=300)
@example("0\u0300", 1, len)
@given(TEXTS, st.integers(1, 80), WEIGHTS)
def test_every_part_fits(text, room, weigh):
    """But for a letter that is too large by itself."""
    for parts in (plan_parts(text, room, weigh), plan_pieces(text, room, weigh)):
        for part in parts:
            assert part.tokens <= room or len(part.text.strip()) <= 2


@settings(deadline=None)
@given(TEXTS, st.integers(1, 80))
def test_a_line_is_only_cut_where_it_alone_is_too_large(text, room):
    """Every part ends at the end of a line, unless the line has several parts."""
    parts = plan_parts(text, room, len)
    for part, after in pairwise(parts):
        if not part.text.endswith(("\n", "\f")):
            assert part.pieces > 1
            assert after.first_line == part.last_line


@settings(deadline=None)
@given(TEXTS, st.integers(1, 80))
def test_a_piece_takes_as_many_parts_as_fit(text, room):
    """The part after it would have been too much."""
    parts, pieces = plan_parts(text, room, len), plan_pieces(text, room, len)
    ends = list(accumulate(len(part.text) for part in parts))
    passed = 0
    for piece in pieces[:-1]:
        passed += len(piece.text)
        after = parts[ends.index(passed) + 1]
        assert piece.tokens + after.tokens > room


@settings(deadline=None)
@given(TEXTS, st.integers(1, 80))
def test_an_excerpt_of_everything_is_the_text_and_of_nothing_is_empty(text, room):
    parts = plan_parts(text, room, len)
    assert plan_excerpt(parts, range(len(parts))) == text
    assert plan_excerpt(parts, ()) == ""


def test_no_room_at_all_is_taken_as_one_token():
    """It comes to an end all the same."""
    assert [part.text for part in plan_parts("abc", 0, len)] == ["a", "b", "c"]


# ---- where it is parted -------------------------------------------------------------------------


def test_a_text_that_fits_is_one_part():
    [part] = plan_parts("one\ntwo\n", 100, by_words)
    assert part == Part("one\ntwo\n", 2, first_line=1, last_line=2)


def test_headings_part_a_text_the_higher_ones_first():
    """A section that fits stays whole, with its deeper headings."""
    text = "# One\n\na b c\n\n## Deep\n\nd e f\n\n# Two\n\n" + "w " * 30 + "\n\n## Low\n\nx y z\n"
    parts = plan_parts(text, 40, by_words)
    assert names(parts) == [("heading", "One"), ("heading", "Two")]
    parts = plan_parts(text, 34, by_words)
    assert names(parts) == [("heading", "One"), ("heading", "Two"), ("heading", "Low")]


def test_what_stands_before_the_first_heading_is_lines():
    parts = plan_parts("a foreword of words\n\n# One\n\nb c d\n", 5, by_words)
    assert names(parts)[0] == ("lines", "")
    assert (parts[0].first_line, parts[0].last_line) == (1, 2)


def test_a_section_that_is_too_large_is_parted_and_its_pieces_are_counted():
    parts = plan_parts(guide(2, 10), 60, by_words)
    pieces = [part for part in parts if part.title == "1. Section 1"]
    assert [(part.piece, part.pieces) for part in pieces] == [
        (n + 1, len(pieces)) for n in range(len(pieces))
    ]
    assert len(pieces) > 1


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# Plain", "Plain"),
        ("   ### Indented", "Indented"),
        ("## Closed ##", "Closed"),
        ("#", ""),
        ("Underlined\n====", "Underlined"),
    ],
)
def test_headings_as_markdown_has_them(line, title):
    text = f"{PROSE}\n\n{line}\n\n{PROSE}\n"
    assert names(plan_parts(text, 14, by_words))[1] == ("heading", title)


@pytest.mark.parametrize("line", ["#hashtag", "    # code", "####### seven", "a # b", "= ="])
def test_what_only_looks_like_a_heading_is_none(line):
    text = f"{PROSE}\n\n{line}\n\n{PROSE}\n"
    assert {part.kind for part in plan_parts(text, 14, by_words)} == {"lines"}


@pytest.mark.parametrize("fence", ["```", "~~~~"])
def test_a_heading_in_code_is_none(fence):
    """A comment of a shell script, say; after the fence headings count again."""
    code = f"{fence}sh\n# a comment\n```x\n{fence}\n" if fence == "~~~~" else "```\n# no\n```\n"
    text = f"{PROSE}\n\n{code}\n# Yes\n\n{PROSE}\n"
    parts = plan_parts(text, 14, by_words)
    assert [part.title for part in parts if part.kind == "heading"] == ["Yes"]


def test_form_feeds_are_pages():
    """As programs write them that take the text out of a PDF."""
    text = "\f".join(f"Page {n}\n{PROSE}\n" for n in range(1, 4))
    parts = plan_parts(text, 20, by_words)
    assert [(part.kind, part.number) for part in parts] == [("page", 1), ("page", 2), ("page", 3)]
    assert [part.first_line for part in parts] == [1, 3, 5]


def test_a_page_that_is_too_large_has_pieces():
    text = f"{PROSE}\n\f" + f"{PROSE}\n\n" * 4
    parts = plan_parts(text, 14, by_words)
    assert [(part.number, part.piece, part.pieces) for part in parts][:3] == [
        (1, 0, 0),
        (2, 1, 4),
        (2, 2, 4),
    ]


def test_paragraphs_stay_whole_where_they_fit():
    """As many together as there is room for."""
    text = "\n\n".join(["a b c"] * 5) + "\n"
    parts = plan_parts(text, 7, by_words)
    assert [by_words(part.text) for part in parts] == [6, 6, 3]
    assert all(part.text.startswith("a b c\n") for part in parts)


def test_a_table_is_parted_at_its_lines():
    """Each part says which."""
    text = "".join(f"{n} x\n" for n in range(100))
    parts = plan_parts(text, 60, by_words)
    lines = [(part.first_line, part.last_line) for part in parts]
    assert lines == [(1, 30), (31, 60), (61, 90), (91, 100)]
    assert {part.pieces for part in parts} == {0}


def test_a_line_without_an_end_is_cut_at_its_commas():
    text = ",".join(str(n) for n in range(1_000))
    parts = plan_parts(text, 200, len)
    assert all(part.text.endswith(",") for part in parts[:-1])
    assert [part.piece for part in parts] == list(range(1, len(parts) + 1))
    assert {part.pieces for part in parts} == {len(parts)}


def test_lines_that_weigh_more_together_than_apart_are_parted_again():
    """No estimate is quite a sum."""

    def weigh(text):
        return 10 * max(1, text.count("\n")) ** 2

    parts = plan_parts("line\n" * 8, 45, weigh)
    assert all(part.tokens <= 45 for part in parts)
    assert "".join(part.text for part in parts) == "line\n" * 8
    assert plan_pieces("line\n" * 8, 45, weigh) == parts


# ---- pieces and excerpts ------------------------------------------------------------------------


def test_small_neighbours_are_one_piece_with_both_names():
    pieces = plan_pieces(guide(4, 2), 60, by_words)
    assert len(pieces) < 5
    named = [(piece.title, piece.until) for piece in pieces]
    assert named == [
        ("Guide", "1. Section 1"),
        ("2. Section 2", "3. Section 3"),
        ("4. Section 4", ""),
    ]


def test_pages_together_say_from_where_to_where():
    text = "\f".join(f"{n} {PROSE}\n" for n in range(1, 7))
    pieces = plan_pieces(text, 40, by_words)
    assert [(piece.number, piece.last_number) for piece in pieces] == [(1, 3), (4, 6)]


def test_neighbours_of_several_kinds_are_lines():
    [piece] = plan_pieces("a b c\n\n# One\n\nd\n", 8, by_words)
    assert (piece.kind, piece.first_line, piece.last_line) == ("lines", 1, 5)
    both = plan_pieces("a b c\n\n# One\n\nd e f g\n", 9, by_words)
    assert "".join(piece.text for piece in both) == "a b c\n\n# One\n\nd e f g\n"


def test_an_excerpt_is_marked_where_something_is_left_out():
    """Before, between and after; on lines of their own."""
    parts = [Part(text, 1) for text in ("a\n", "b\n", "c\n", "d\n", "e")]
    assert plan_excerpt(parts, {0, 1}) == f"a\nb\n{LEFT_OUT}"
    assert plan_excerpt(parts, {1, 3}) == f"{LEFT_OUT}b\n{LEFT_OUT}d\n{LEFT_OUT}"
    assert plan_excerpt(parts, {4}) == f"{LEFT_OUT}e"
    cut = [Part(text, 1) for text in ("one ", "two ", "three")]
    assert plan_excerpt(cut, {0, 2}) == f"one \n{LEFT_OUT}three"


def test_the_first_parts_are_chosen_at_first():
    """For as long as they fit together."""
    parts = [Part("x", size) for size in (4, 3, 5, 1)]
    assert plan_first_parts(parts, 7) == {0, 1}
    assert plan_first_parts(parts, 3) == frozenset()
    assert plan_first_parts(parts, 13) == {0, 1, 2, 3}


# ---- windows ------------------------------------------------------------------------------------


def a_view(*bodies, window=16_384, **more):
    path = entries(list(bodies))
    count = Count(100, "estimated")
    return plan_view(path, {e.id: 10 for e in path}, count, window, ContextSettings(**more))


def test_the_room_of_another_window_is_what_the_engine_would_allow():
    """A summary has to have room too as soon as there is a conversation."""
    empty, talk = a_view(), a_view(user("Hello"), said("assistant", "Hello."))
    assert plan_room_in(empty, 16_384) == 8_000
    assert plan_room_in(empty, 32_768) == 12_768
    assert plan_room_in(empty, 16_384, goes_on=True) == plan_room_in(talk, 16_384) < 8_000


def test_a_larger_window_is_one_that_holds_the_message():
    """With the usual reserve the prompt stays 8,000 up to a window of 28,000."""
    assert plan_windows(a_view(), 9_870, 32_768) == (32_768,)
    assert plan_windows(a_view(), 8_500, 32_768) == (28_672, 32_768)
    assert plan_windows(a_view(), 12_769, 32_768) == ()
    assert plan_windows(a_view(window=32_768), 100, 32_768) == ()


def test_without_a_floor_every_step_gives_room():
    """A reserve of 4,096 leaves the rest."""
    view = a_view(reserve_tokens=4_096, reserve_floor=0)
    assert plan_windows(view, 14_000, 32_768)[0] == 20_480
    assert all(size % WINDOW_STEP == 0 for size in plan_windows(view, 1, 40_000))
