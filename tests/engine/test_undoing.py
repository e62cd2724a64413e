"""Compactions undone, brought back, edited: what of a path counts then."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.compact import NothingToCompact
from engine.context import UNDONE_RESERVE, ContextSettings, plan_folding, plan_view
from engine.errors import EnvironmentFault
from engine.folding import plan_edited
from engine.testing import reply
from engine.tokens import Count, find_anchor
from engine.transcript import Compaction, Custom, Entry, Message, Usage, user, visible_entries
from engine.undoing import (
    edited_id,
    effective_path,
    stands_undone,
    undoing_entry,
    undone_ids,
)
from engine.view import plan_visible

WINDOW = 16_384


def path_of(*bodies):
    """A path of these bodies; ids are e0, e1, …"""
    return tuple(
        Entry(f"e{n}", "s", f"e{n - 1}" if n else None, n, body) for n, body in enumerate(bodies)
    )


def ids(entries):
    return [entry.id for entry in entries]


TALK = (
    user("one"),
    reply("two"),
    user("three"),
    reply("four"),
    Compaction("the summary", "e2", tokens_before=900, tokens_after=300),
    user("five"),
)


def test_an_undone_compaction_is_not_seen():
    """The originals are there again, in order, and nothing of the summary."""
    path = effective_path(path_of(*TALK, undoing_entry("e4", undone=True)))
    assert ids(e for e in plan_visible(path) if isinstance(e.body, Message)) == [
        "e0",
        "e1",
        "e2",
        "e3",
        "e5",
    ]
    assert not [e for e in plan_visible(path) if isinstance(e.body, Compaction)]


def test_the_path_keeps_its_places():
    """Every entry has its id and place: what is added goes to the end of the same path."""
    raw = path_of(*TALK, undoing_entry("e4", undone=True))
    path = effective_path(raw)
    assert ids(path) == ids(raw)
    assert [e.parent for e in path] == [e.parent for e in raw]


def test_the_last_word_counts():
    """Undone, brought back, undone again."""
    marks = [undoing_entry("e4", undone=undone) for undone in (True, False, True)]
    for many, undone in ((1, True), (2, False), (3, True)):
        path = path_of(*TALK, *marks[:many])
        assert (undone_ids(path) == {"e4"}) is undone
        assert stands_undone(effective_path(path)) is undone


def test_without_a_mark_nothing_changes():
    """The path is as it was."""
    path = path_of(*TALK)
    assert effective_path(path) == path
    assert not stands_undone(path)


def test_the_compaction_before_counts_again():
    """Undoing the second of two leaves the first one's summary."""
    path = path_of(*TALK, reply("six"), Compaction("both", "e5"), undoing_entry("e7", undone=True))
    visible = visible_entries(effective_path(path))
    assert visible[0].id == "e4"
    assert not stands_undone(effective_path(path_of(*TALK)))
    assert stands_undone(effective_path(path))


def test_a_later_compaction_ends_it():
    """When the conversation was folded again, its summary counts, and the usual budget."""
    path = path_of(*TALK, undoing_entry("e4", undone=True), Compaction("anew", "e5"))
    assert not stands_undone(effective_path(path))
    assert visible_entries(effective_path(path))[0].id == "e7"


def test_nonsense_marks_are_ignored():
    """Marks of another version, or of nothing."""
    marks = (Custom("compaction_undone", {"target": 5}), Custom("compaction_undone"))
    assert undone_ids(path_of(*TALK, *marks)) == frozenset()


def test_reports_before_an_undoing_are_stale():
    """What the server read then was another context."""
    measured = replace(reply("six"), usage=Usage(200, 0, 20))
    path = path_of(*TALK, measured)
    assert find_anchor(path) is not None
    assert (
        find_anchor(effective_path(path_of(*TALK, measured, undoing_entry("e4", undone=True))))
        is None
    )


def view_of(path, tokens=9_000):
    weights = {entry.id: 100 for entry in path}
    return plan_view(path, weights, Count(tokens, "exact"), WINDOW, ContextSettings())


def test_the_originals_are_sent_for_as_long_as_they_fit():
    """After an undoing the budget is all of the window but room for a reply."""
    undone = effective_path(path_of(*TALK, undoing_entry("e4", undone=True)))
    assert view_of(path_of(*TALK)).budget.prompt == 8_000
    assert view_of(undone).budget.prompt == WINDOW - UNDONE_RESERVE
    assert view_of(undone).route.route == "fits"
    assert view_of(undone, tokens=WINDOW).route.must_compact


# ---- editing ---------------------------------------------------------------------------------


def edited(path, text, at=4):
    return plan_edited(path[at], text)


def test_an_edited_summary_stands_for_the_same_messages():
    """The next request has the user's words, and no more of the old ones."""
    path = path_of(*TALK)
    body = edited(path, " My own words. ")
    after = effective_path((*path, Entry("e6", "s", "e5", 6, body)))
    visible = plan_visible(after)
    assert visible[0].body.summary == "My own words."
    assert ids(visible[1:]) == ["e2", "e3", "e5"]
    assert edited_id(after[-1]) == "e4"


def test_an_edit_of_an_edit_is_of_the_first():
    """However often it is edited, it is one compaction."""
    path = path_of(*TALK)
    once = Entry("e6", "s", "e5", 6, edited(path, "Once."))
    assert plan_edited(once, "Twice.").facts["edits"] == "e4"


def test_undoing_undoes_the_edits_too():
    """The originals come back, not the summary before the edit."""
    path = path_of(*TALK)
    body = edited(path, "My own words.")
    path = path_of(*TALK, body, undoing_entry("e4", undone=True))
    assert stands_undone(effective_path(path))


def test_an_empty_summary_is_refused():
    """There is a way to have no summary: undoing."""
    with pytest.raises(EnvironmentFault, match="cannot be empty"):
        edited(path_of(*TALK), "  \n")


def test_a_placeholder_that_was_edited_is_a_summary():
    """The user wrote what no model could."""
    body = Compaction("(placeholder)", "e2", tokens_before=9, facts={"degraded": True})
    path = path_of(*TALK[:4], body)
    assert "degraded" not in edited(path, "What was said.").facts


def test_values_left_out_are_carried_under_it():
    """A path in the old summary's values that the new words do not name stays."""
    values = [{"kind": "path", "value": "~/maps/coast.gpx", "label": "", "count": 1, "last": 0}]
    body = Compaction("Old.", "e2", tokens_before=9, tokens_after=5, facts={"values": values})
    after = edited(path_of(*TALK[:4], body), "New words.")
    assert [value["value"] for value in after.facts["values"]] == ["~/maps/coast.gpx"]
    named = edited(path_of(*TALK[:4], body), "It is ~/maps/coast.gpx that counts.")
    assert named.facts["values"] == []


@given(st.text(min_size=1, max_size=400).filter(str.strip))
def test_tokens_after_follow_the_words(text):
    """More words, more tokens; never fewer than none."""
    path = path_of(*TALK)
    after = edited(path, text)
    assert after.tokens_after >= 0
    assert edited(path, text + " and more words than before").tokens_after >= after.tokens_after


def test_an_edit_is_nothing_that_was_said():
    """A conversation whose summary was just edited has nothing new to fold."""
    path = path_of(*TALK[:5])
    body = edited(path, "My own words.")
    view = view_of(path_of(*TALK[:5], body))
    plan = plan_folding(view)
    assert isinstance(plan, NothingToCompact)
    assert plan.reason == "already_compacted"
