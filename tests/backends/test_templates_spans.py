"""Where the words are: the cuts of a marked rendering, laid over the rendering itself."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.backends.base import PromptMessage
from engine.backends.llamacpp_worker.templates_spans import Found, Marks, find_pieces, unused_nonce
from engine.backends.llamacpp_worker.templates_turns import RESHAPES, as_turns

TEXTS = st.lists(st.text("ab \n<|>", max_size=6), max_size=6)


def found(text: str, pattern: str, *texts: str) -> Found:
    """Lay `text` over a rendering made from `pattern`, in which each `{}` is a marked text."""
    marks = Marks(unused_nonce([text, pattern, *texts]))
    marked = pattern.format(*(marks.mark(said, n, "words") for n, said in enumerate(texts)))
    return find_pieces(text, marks.cut(marked))


def shown(result: Found) -> list[tuple[int | None, str]]:
    """The pieces of a result; None for the template's."""
    return [(piece.message, piece.text) for piece in result.pieces]


def test_the_cuts_fit():
    """The rendering is the marked one without its marks."""
    result = found("<u>hi<e><u>hi<e>", "<u>{}<e><u>{}<e>", "hi", "hi")
    assert shown(result) == [(None, "<u>"), (0, "hi"), (None, "<e><u>"), (1, "hi"), (None, "<e>")]
    assert result.lost == result.changed == ()


def test_outer_blanks_may_be_gone():
    """Stripped on either side, all of it or only the line ends."""
    for text in ("<u>hi<e>", "<u> hi<e>", "<u>hi \n<e>", "<u>\n hi \n<e>"):
        result = found(text, "<u>{}<e>", "\n hi \n")
        assert result.lost == ()
        assert "".join(part for _, part in shown(result)) == text
        assert shown(result)[0] == (None, "<u>")
        assert shown(result)[-1] == (None, "<e>")


def test_other_template_text_is_searched_through():
    """The template decided differently for the marked text: the words stand between their neighbours."""
    result = found("<u>!!hi<e> <u>ho<e>", "<u>{}<e> <u>{}<e>", "hi", "ho")
    assert [part for part in shown(result) if part[0] is not None] == [(0, "hi"), (1, "ho")]


def test_a_control_token_as_content_is_found_where_it_was_said():
    """And not where the template itself wrote one, even if the cuts do not fit."""
    result = found("<u>?<e><u><e><e>", "<u>{}<e><u>{}<e>", "?!", "<e>")
    assert [number for number, _ in shown(result) if number is not None] == [1]
    assert shown(result)[-2:] == [(1, "<e>"), (None, "<e>")]


def test_one_neighbour_is_enough():
    """Something new stands in front of a text, or behind it."""
    result = found("<u>!hi<e><u>ho?<e>", "<u>{}<e><u>{}<e>", "hi", "ho")
    assert [part for part in shown(result) if part[0] is not None] == [(0, "hi"), (1, "ho")]


def test_a_text_that_is_not_there_is_lost():
    """Its place is empty, or something else stands there."""
    for text in ("<u><e>", "<u>other<e>", ""):
        assert [field.text for field in found(text, "<u>{}<e>", "hi").lost] == ["hi"]


def test_a_mark_without_its_partner_means_that_something_was_cut_off():
    """At the end, in front of another text, and behind one: the text counts as lost each time."""
    marks = Marks(unused_nonce([]))
    one, two = marks.mark("one", 0, "words"), marks.mark("two", 1, "words")
    size = len(one) - len("one")
    half = size // 2
    for marked, lost in (
        (f"<u>{two}<e>{one[:-half]}", ["one"]),
        (f"<u>{one[:-half]}<e>{two}", ["one"]),
        (f"<u>{one}<e>{two[half:]}", ["two"]),
        (f"<u>{one[:-half]}{two[half:]}", ["one", "two"]),
        (f"<u>{one}{two}{one[half:]}", ["one"]),
    ):
        result = find_pieces(re.sub(r"qmark0q[ab]\dz", "", marked), marks.cut(marked))
        assert [field.text for field in result.lost] == lost


def test_many_ways_to_lose_blanks_are_not_all_tried():
    """Thirty texts that could each be stripped in several ways, and an end that never fits."""
    result = found(" a" * 30 + "!", "{}" * 30, *[" a "] * 30)
    assert len(result.lost) <= 30  # an answer at all: trying all ways would take for ever


@given(texts=TEXTS, pattern=st.sampled_from(["<u>{}<e>", "{}|", " {} ", "<|{}|>", "a{}b"]))
@settings(deadline=None)
def test_what_is_put_together_is_taken_apart(texts, pattern):
    """Any texts between any template text: each is content of its own message, all of it."""
    whole = pattern * len(texts)
    result = found(whole.format(*texts), whole, *texts)
    assert "".join(part for _, part in shown(result)) == whole.format(*texts)
    assert result.lost == ()
    for number, text in enumerate(texts):
        said = [part for message, part in shown(result) if message == number]
        assert said == ([text] if text.strip() else [])


@given(texts=TEXTS)
@settings(deadline=None)
def test_a_nonce_stands_nowhere(texts):
    """Also if somebody writes the usual one."""
    nonce = unused_nonce([*texts, "qmark0q", "xqmark1qx"])
    assert nonce == "qmark2q"


def test_a_repair_with_nothing_to_do_changes_nothing():
    """Every repair, on no turns at all and on a conversation that needs none."""
    turns, told = as_turns([PromptMessage("user", "hi"), PromptMessage("assistant", "ho")])
    assert told == ()
    for reshape in RESHAPES.values():
        assert reshape.apply(turns) == turns
        assert reshape.apply(()) == ()
