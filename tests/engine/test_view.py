"""What a model sees of a path: one summary, pins, the tail, shortened results, whole pairs."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from engine.repair import MISSING_RESULT
from engine.tokens import is_runtime_context
from engine.transcript import (
    BranchSummary,
    Compaction,
    Custom,
    CustomMessage,
    Image,
    Message,
    Pin,
    Text,
    user,
)
from engine.view import (
    SHORTENED,
    UNSENT,
    pinned_ids,
    plan_unrepaired,
    plan_visible,
    shortened_texts,
    shortening_entry,
)
from tests.engine.compact_items import calls, entries, result, said

PICTURE = Image("image/png", "AAAA")


def seen(*words):
    """Ids of what is visible of a path of words or bodies, in order."""
    return [entry.id for entry in plan_visible(entries(words))]


def summary(first_kept, **facts):
    return Compaction("They spoke of oil.", first_kept, facts=facts)


# ---- the compaction that counts -------------------------------------------------------------------


def test_everything_is_visible_without_a_compaction():
    """The path itself, the same objects."""
    path = entries(["user", "assistant", "user"])
    assert plan_visible(path) == path


def test_summary_comes_first_then_tail_then_what_came_after():
    """SPEC2 2.2: the newest compaction, its kept tail, the rest."""
    assert seen("user", "assistant", "user", "assistant", summary("e2"), "user") == [
        "e4", "e2", "e3", "e5",
    ]  # fmt: skip


def test_only_the_last_compaction_is_visible():
    """Two compactions: never two summaries, the latest wins."""
    first, second = summary("e2"), summary("e5")
    words = ["user", "assistant", "user", first, "assistant", "user", second, "user"]
    assert seen(*words) == ["e6", "e5", "e7"]


def test_older_compaction_within_the_kept_tail_is_no_message():
    """A tail that reaches back past an older compaction keeps the messages, not that summary."""
    first, second = summary("e1"), summary("e2")
    words = ["user", "assistant", "user", first, "assistant", "user", second, "user"]
    assert seen(*words) == ["e6", "e2", "e4", "e5", "e7"]


@pytest.mark.parametrize("first_kept", ["", "gone", "e4"])
def test_first_kept_that_is_not_before_the_compaction_keeps_nothing(first_kept):
    """A hard checkpoint: the summary and what came after, an id after it does not count."""
    assert seen("user", "assistant", "user", summary(first_kept), "assistant") == ["e3", "e4"]


# ---- pins -----------------------------------------------------------------------------------------


def test_pinned_message_stays_between_summary_and_tail():
    """What was pinned when it was folded is still there verbatim, in the path's order."""
    compaction = summary("e4", pinned=["e2", "e0"])
    words = ["user", "assistant", "user", "assistant", "user", compaction, "user"]
    assert seen(*words) == ["e5", "e0", "e2", "e4", "e6"]


def test_pinned_message_in_the_tail_is_there_once():
    """What is in the tail anyway is not put before it."""
    assert seen("user", "assistant", "user", summary("e2", pinned=["e2", "e0"])) == [
        "e3", "e0", "e2",
    ]  # fmt: skip


@pytest.mark.parametrize("pinned", [None, "e0", {"e0": 1}, [1, None, ["e0"]], ["gone", "e3"]])
def test_pins_that_make_no_sense_are_left_out(pinned):
    """A foreign or damaged list pins nothing; the compaction itself can be pinned nowhere."""
    assert seen("user", "assistant", "user", summary("e2", pinned=pinned)) == ["e3", "e2"]


def test_last_word_on_a_pin_counts():
    """Pinned, unpinned, pinned again; each target for itself."""
    path = entries(
        ["user", Pin("e0"), Pin("e9"), Pin("e0", pinned=False), Pin("e1"), Pin("e9", pinned=True)]
    )
    assert pinned_ids(path) == {"e1", "e9"}
    assert pinned_ids(path[:3]) == {"e0", "e9"}


def test_pinned_call_keeps_a_result():
    """A call whose result was folded gets a result put in: a model refuses it otherwise."""
    words = ["user", calls("a"), result("a"), "user", summary("e3", pinned=["e1"])]
    visible = plan_visible(entries(words))
    assert [entry.id for entry in visible] == ["e4", "e1", "", "e3"]
    assert visible[2].body.text == MISSING_RESULT


# ---- shortened results ----------------------------------------------------------------------------


def test_shortened_result_has_its_new_text_and_the_entry_its_old_one():
    """The view changes, the path does not; who else is on it stays the same object."""
    path = entries(["user", calls("a"), result("a"), shortening_entry({"e2": "fou…"}), "user"])
    visible = plan_visible(path)
    assert visible[2].body.text == "fou…"
    assert visible[2].body.tool_call_id == "a"
    assert path[2].body.text == "found"
    assert [visible[i] is path[i] for i in (0, 1, 4)] == [True] * 3


def test_last_shortening_of_a_result_counts():
    """A result shortened twice has the newer text; another one keeps its own."""
    path = entries(
        [
            "user",
            calls("a", "b"),
            result("a"),
            result("b"),
            shortening_entry({"e2": "long", "e3": "b-text"}),
            shortening_entry({"e2": "short"}),
        ]
    )
    assert shortened_texts(path) == {"e2": "short", "e3": "b-text"}
    assert [e.body.text for e in plan_visible(path)[2:4]] == ["short", "b-text"]


def test_pictures_of_a_shortened_result_stay():
    """Only its text is replaced, several texts by one."""
    parts = (Text("one"), PICTURE, Text("two"))
    path = entries(
        [
            "user",
            calls("a"),
            Message("tool_result", parts, tool_call_id="a"),
            shortening_entry({"e2": "1"}),
        ]
    )
    assert plan_visible(path)[2].body.parts == (Text("1"), PICTURE)


def test_only_tool_results_can_be_shortened():
    """A text for what a person or a model said is not heard: nobody's words are replaced."""
    path = entries(["user", "assistant", shortening_entry({"e0": "x", "e1": "x", "e2": "x"})])
    assert [e.body for e in plan_visible(path)] == [e.body for e in path]


@pytest.mark.parametrize(
    "data", [{}, {"results": None}, {"results": ["e2"]}, {"results": {"e2": 7}}, {"e2": "x"}]
)
def test_shortening_that_cannot_be_read_changes_nothing(data):
    """A damaged entry costs the shortening, never the conversation."""
    path = entries(["user", calls("a"), result("a"), Custom(SHORTENED, data)])
    assert shortened_texts(path) == {}
    assert plan_visible(path)[2].body.text == "found"


def test_shortening_on_another_branch_does_not_count():
    """A path that does not have the entry has the result whole."""
    path = entries(["user", calls("a"), result("a"), shortening_entry({"e2": "x"}), "user"])
    other = (*path[:3], path[4])
    assert plan_visible(other)[2].body.text == "found"


def test_result_stays_shortened_after_a_compaction():
    """A compaction after it does not make a kept result long again."""
    words = ["user", "user", calls("a"), result("a"), shortening_entry({"e3": "x"}), summary("e1")]
    visible = plan_visible(entries(words))
    assert [entry.body.text for entry in visible if entry.id == "e3"] == ["x"]


# ---- what never reaches a model ---------------------------------------------------------------------


def test_runtime_context_is_not_visible():
    """SPEC1 12.3.1: kept on the path, never seen; another custom message is."""
    assert seen("user", "runtime", "note", "assistant") == ["e0", "e2", "e3"]


def test_unsent_message_is_no_message():
    """What could not be sent is kept as data: nobody said it in the conversation."""
    path = entries(["user", Custom(UNSENT, {"text": "all of it"}), "assistant"])
    assert [e.body for e in plan_visible(path) if isinstance(e.body, Message)] == [
        said("user"),
        said("assistant"),
    ]


# ---- pairs ------------------------------------------------------------------------------------------


def test_cut_between_call_and_result_leaves_no_orphan():
    """A tail that begins with a result, as another program may have cut: the result goes."""
    assert seen("user", calls("a"), result("a"), "user", summary("e2")) == ["e4", "e3"]


def test_unrepaired_view_is_as_it_was_cut():
    """The specification's estimate is made of what is there before pairs are repaired."""
    path = entries(["user", calls("a"), "runtime", "user"])
    assert [e.id for e in plan_unrepaired(path)] == ["e0", "e1", "e3"]
    assert [e.id for e in plan_visible(path)] == ["e0", "e1", "", "e3"]


# ---- whatever the path ------------------------------------------------------------------------------

ids = st.sampled_from([f"e{i}" for i in range(12)] + ["gone", ""])
bodies = st.one_of(
    st.sampled_from(["user", "assistant", "note", "runtime", "model", "data", "label"]),
    st.builds(lambda many: calls(*many), st.lists(st.sampled_from("abc"), min_size=1, max_size=2)),
    st.builds(result, st.sampled_from("abcd")),
    st.builds(lambda id_: calls(id_, stop_reason="stopped"), st.sampled_from("abc")),
    st.builds(lambda first, pins: summary(first, pinned=pins), ids, st.lists(ids, max_size=3)),
    st.builds(lambda texts: shortening_entry(texts), st.dictionaries(ids, st.text(max_size=4))),
    st.builds(Pin, ids, st.booleans()),
    st.builds(BranchSummary, ids, st.just("elsewhere")),
)


@given(st.lists(bodies, max_size=12))
def test_visible_is_one_summary_and_whole_pairs_of_any_path(words):
    """Appendix A 4 and 6, on anything: at most one summary, first; each result after its call."""
    path = entries(words)
    summaries = {entry.id for entry in path if isinstance(entry.body, Compaction)}
    assume(not any(summaries & set(path[int(id_[1:])].body.facts["pinned"]) for id_ in summaries))
    visible = plan_visible(path)
    kinds = [isinstance(entry.body, Compaction) for entry in visible]
    assert kinds.count(True) == any(isinstance(e.body, Compaction) for e in path)
    assert not any(kinds[1:])
    assert pairs_are_whole([entry.body for entry in visible])
    named = [entry.id for entry in visible if entry.id]
    assert len(named) == len(set(named))
    assert set(named) <= {entry.id for entry in path}
    assert not any(is_runtime_context(entry.body) for entry in visible)


def pairs_are_whole(visible):
    """Whether each result follows its call and each completed call has exactly one result."""
    open_calls, must_have = [], False
    for body in visible:
        if not isinstance(body, Message | CustomMessage | BranchSummary):
            continue
        if isinstance(body, Message) and body.role == "tool_result":
            if body.tool_call_id not in open_calls:
                return False
            open_calls.remove(body.tool_call_id)
            continue
        if open_calls and must_have:
            return False
        open_calls = [call.id for call in body.tool_calls] if isinstance(body, Message) else []
        must_have = isinstance(body, Message) and body.stop_reason not in ("stopped", "failed")
    return not (open_calls and must_have)


def test_a_visible_path_stays_as_it_is_when_more_is_said():
    """Between compactions the view only grows: what was sent is the beginning of what is sent."""
    words = ["user", calls("a"), result("a"), "user", summary("e3", pinned=["e0"]), "assistant"]
    before = plan_visible(entries(words))
    after = plan_visible(entries([*words, user("more"), said("assistant")]))
    assert after[: len(before)] == before


def test_what_a_program_told_itself_cannot_be_pinned():
    """It is never sent, so a pin of it would weigh for nothing in every plan."""
    told = CustomMessage("runtime-context", "the working folder is empty")
    path = entries(("user", told, Pin("e1"), Pin("e0")))
    assert pinned_ids(path) == {"e0"}
