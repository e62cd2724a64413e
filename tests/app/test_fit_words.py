"""A draft that does not fit, in words."""

import pytest

from app.client import Digesting, PartsWaiting
from app.client.fit_values import FitOffer
from app.fit_words import (
    about_time,
    about_words,
    chosen_words,
    digest_share,
    digest_words,
    digesting_words,
    part_words,
    title_words,
    waiting_words,
)
from engine.fitting import Part

OFFER = FitOffer("", "tile-sizes.csv", 0, 9_870, 5_086, can_pick=True, digest_pieces=3)


def test_a_file_that_does_not_fit_is_named_with_its_figures():
    """As visual.md has it."""
    assert title_words(OFFER) == (
        "tile-sizes.csv does not fit: 9,870 tokens, and there is room for 5,086."
    )


def test_what_is_typed_has_no_name():
    assert title_words(FitOffer("", "", -1, 9_870, 5_086)) == (
        "This message does not fit: 9,870 tokens, and there is room for 5,086."
    )


def test_what_can_be_done_is_said_or_that_nothing_can():
    assert about_words(OFFER).startswith("Choose how much of it")
    assert about_words(FitOffer("", "a.csv", 0, 9, 1)).startswith("What stands beside it")


@pytest.mark.parametrize(
    ("pieces", "seconds", "words"),
    [
        (1, 0, "Digest it in 1 piece"),
        (3, 0, "Digest it in 3 pieces"),
        (3, 118, "Digest it in 3 pieces, about 2 min"),
        (2, 0.2, "Digest it in 2 pieces, about 1 s"),
    ],
)
def test_the_button_of_a_digest_says_what_it_costs(pieces, seconds, words):
    offer = FitOffer("", "a", 0, 9, 1, digest_pieces=pieces, digest_seconds=seconds)
    assert digest_words(offer) == words


def test_long_times_are_in_minutes():
    assert (about_time(89), about_time(90)) == ("about 89 s", "about 2 min")


@pytest.mark.parametrize(
    ("digest", "words"),
    [
        (Digesting("", "a.csv"), "waiting for the model"),
        (Digesting("", "a.csv", doing="loading"), "loading the model"),
        (
            Digesting("", "a.csv", 2, 3, "reading", 1_240, 5_380, 130.0),
            "step 2 of 3 · reading 1,240 of 5,380 tokens · about 2 min left",
        ),
        (Digesting("", "a.csv", 2, 3, "writing", 1, 900), "step 2 of 3 · writing, 1 token"),
        (Digesting("", "a.csv", 2, 3, "waiting"), "step 2 of 3 · waiting to try again"),
    ],
)
def test_a_digest_says_how_far_it_is(digest, words):
    assert digesting_words(digest) == ("Digesting a.csv", words)


def test_a_digest_of_what_is_typed_has_a_name_too():
    assert digesting_words(Digesting("", ""))[0] == "Digesting Your message"


@pytest.mark.parametrize(
    ("digest", "share"),
    [
        (Digesting("", "a"), 0.0),
        (Digesting("", "a", 1, 2, "reading", 50, 100), 0.125),
        (Digesting("", "a", 1, 2, "writing", 0, 0), 0.25),
        (Digesting("", "a", 2, 2, "writing", 100, 100), 1.0),
        (Digesting("", "a", 2, 2, "waiting", 0, 0), 0.5),
    ],
)
def test_each_step_is_half_reading_half_writing(digest, share):
    assert digest_share(digest) == share


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (Part("", 1, "heading", "3. Installation"), "3. Installation"),
        (Part("", 1, "heading", "A", "C"), "A … C"),
        (Part("", 1, "heading"), "Without a title"),
        (Part("", 1, "heading", "A", piece=2, pieces=3), "A (2 of 3)"),
        (Part("", 1, "page", number=4, last_number=4), "Page 4"),
        (Part("", 1, "page", number=4, last_number=7), "Pages 4 to 7"),
        (Part("", 1, first_line=1, last_line=1_240), "Lines 1 to 1,240"),
        (Part("", 1, first_line=7, last_line=7, piece=1, pieces=2), "Line 7 (1 of 2)"),
    ],
)
def test_a_part_is_called_by_its_heading_page_or_lines(part, words):
    assert part_words(part) == words


def test_what_waits_says_what_was_sent_and_what_comes():
    part = Part("x", 4_875, first_line=347, last_line=621)
    title, about = waiting_words(PartsWaiting("", "a.csv", 1, 2, part))
    assert title == "a.csv: part 1 of 2 was sent."
    assert about == "Next: Lines 347 to 621, 4,875 tokens. The question stays the same."
    assert waiting_words(PartsWaiting("", "a.csv", 2, 2))[1] == ""


def test_what_is_chosen_is_held_against_the_room():
    assert chosen_words(2, 6, 3_701, 7_989) == "2 of 6 parts: 3,701 of 7,989 tokens"
    assert chosen_words(6, 6, 8_000, 7_989) == ("6 of 6 parts: 8,000 of 7,989 tokens, 11 too many")
