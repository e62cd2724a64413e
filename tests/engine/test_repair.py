"""Tool calls and their results; vectors Y of context-engine.md section 7."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.repair import MISSING_RESULT, repair_entries, repair_tool_pairs
from engine.transcript import (
    BranchSummary,
    Compaction,
    Custom,
    CustomMessage,
    Entry,
    Label,
    Message,
    ModelChange,
    Pin,
    Text,
    ToolCall,
    Unknown,
    user,
)

ERRORED = ("failed", "stopped", "interrupted")
HELLO = user("hello")
SAID = Message("assistant", (Text("sure"),), stop_reason="stop")
PIN = Pin("e1")


def calls(*ids, stop_reason="tool_calls"):
    """A reply that calls tools."""
    parts = (Text("let me see"), *[ToolCall(id_, f"tool{id_}", {}) for id_ in ids])
    return Message("assistant", parts, stop_reason=stop_reason)


def result(id_, text="found", name=None):
    return Message("tool_result", (Text(text),), tool_call_id=id_, tool_name=name or f"tool{id_}")


def missing(id_):
    """What is put in for a call without a result."""
    return Message(
        "tool_result",
        (Text(MISSING_RESULT),),
        tool_call_id=id_,
        tool_name=f"tool{id_}",
        is_error=True,
    )


def same(left, right):
    """Whether two sequences hold the very same objects."""
    return len(left) == len(right) and all(a is b for a, b in zip(left, right, strict=True))


# ---- Y vectors ------------------------------------------------------------------------------


def test_y1_results_come_in_the_order_of_the_calls_and_a_missing_one_is_put_in():
    """Y1: call(1, 2), user, result 2."""
    repair = repair_tool_pairs([calls("1", "2"), HELLO, result("2")])
    assert repair.bodies == (calls("1", "2"), missing("1"), result("2"), HELLO)
    assert (repair.added, repair.moved) == (1, True)


def test_y2_of_two_results_with_one_id_the_first_wins():
    """Y2: call 1, result a, result b of the same id, user."""
    repair = repair_tool_pairs([calls("1"), result("1", "a"), result("1", "b"), HELLO])
    assert repair.bodies == (calls("1"), result("1", "a"), HELLO)
    assert (repair.duplicates, repair.orphans, repair.added) == (1, 0, 0)


def test_y3_a_result_that_nobody_called_for_goes():
    """Y3: user, orphan result, assistant."""
    repair = repair_tool_pairs([HELLO, result("9"), SAID])
    assert repair.bodies == (HELLO, SAID)
    assert (repair.orphans, repair.duplicates) == (1, 0)


@pytest.mark.parametrize("reason", ERRORED)
def test_y4_an_errored_reply_gets_no_result_put_in(reason):
    """Y4: errored call 1, user."""
    bodies = (calls("1", stop_reason=reason), HELLO)
    repair = repair_tool_pairs(bodies)
    assert same(repair.bodies, bodies)
    assert (repair.added, repair.changed) == (0, False)


@pytest.mark.parametrize("reason", ERRORED)
def test_y5_an_errored_reply_keeps_the_result_it_has_or_goes_with_it(reason):
    """Y5: aborted call 1 with its result, user; by policy unchanged, or the user only."""
    bodies = (calls("1", stop_reason=reason), result("1"), HELLO)
    assert same(repair_tool_pairs(bodies).bodies, bodies)
    dropped = repair_tool_pairs(bodies, errored="drop")
    assert dropped.bodies == (HELLO,)
    assert (dropped.dropped, dropped.changed) == (2, True)


def test_y6_a_result_behind_the_next_reply_is_too_late():
    """Y6: call 1, assistant, late result 1."""
    repair = repair_tool_pairs([calls("1"), SAID, result("1")])
    assert repair.bodies == (calls("1"), missing("1"), SAID)
    assert (repair.added, repair.orphans) == (1, 1)


def test_y7_what_is_in_order_is_returned_as_it_is():
    """Y7: call 1, result 1: the very same tuple."""
    bodies = (calls("1"), result("1"))
    repair = repair_tool_pairs(bodies)
    assert repair.bodies is bodies
    assert (repair.moved, repair.changed) == (False, False)


# ---- more behaviour -------------------------------------------------------------------------


def test_a_result_put_in_is_an_error_and_says_what_it_is():
    """The model is told that the history has none, and no program takes it for a success."""
    (_, put_in) = repair_tool_pairs([calls("1")]).bodies
    assert put_in.is_error
    assert "history" in put_in.text


@pytest.mark.parametrize("name", ["", "  "])
def test_a_result_without_a_tool_name_gets_that_of_its_call(name):
    """A blank name is filled in; the rest of the result stays."""
    blank = Message("tool_result", (Text("found"),), tool_call_id="1", tool_name=name)
    repair = repair_tool_pairs([calls("1"), blank])
    assert repair.bodies == (calls("1"), result("1"))
    assert (repair.named, repair.moved, repair.changed) == (1, False, True)


def test_an_id_used_again_by_a_later_reply_is_another_call():
    """Models count their calls from the start in every reply; nothing is a duplicate then."""
    bodies = (calls("1"), result("1", "a"), SAID, calls("1"), result("1", "b"))
    assert repair_tool_pairs(bodies).bodies is bodies


def test_calls_of_one_id_take_their_results_in_order():
    """Two calls without ids have two results; a third is one too many."""
    bodies = [calls("", ""), result("", "a"), result("", "b"), result("", "c")]
    repair = repair_tool_pairs(bodies)
    assert [body.text for body in repair.bodies[1:]] == ["a", "b"]
    assert repair.duplicates == 1


def test_a_reply_that_stopped_at_its_token_limit_is_complete():
    """Its calls may be cut short, but the model must find results for them."""
    repair = repair_tool_pairs([calls("1", stop_reason="length"), HELLO])
    assert repair.bodies == (calls("1", stop_reason="length"), missing("1"), HELLO)


def test_dropping_an_errored_reply_leaves_what_was_said_meanwhile():
    """Its results go, the user's words stay, a result of nobody is an orphan."""
    bodies = [calls("1", stop_reason="failed"), HELLO, result("1"), result("7"), SAID]
    repair = repair_tool_pairs(bodies, errored="drop")
    assert repair.bodies == (HELLO, SAID)
    assert (repair.dropped, repair.orphans) == (2, 1)


@pytest.mark.parametrize(
    "between",
    [
        PIN,
        Label("e1", "here"),
        Custom("note", {}),
        ModelChange("small"),
        Compaction("summary", "e1"),
        Unknown("dream", {}),
    ],
    ids=lambda body: type(body).__name__,
)
def test_what_is_no_message_does_not_part_a_call_from_its_result(between):
    """It keeps its place: behind the message it came after."""
    clean = (calls("1"), between, result("1"), HELLO)
    assert repair_tool_pairs(clean).bodies is clean
    displaced = repair_tool_pairs([calls("1"), HELLO, between, result("1"), SAID])
    assert displaced.bodies == (calls("1"), result("1"), HELLO, between, SAID)
    unanswered = repair_tool_pairs([between, calls("1", "2"), result("1"), between, SAID])
    assert unanswered.bodies == (
        between,
        calls("1", "2"),
        result("1"),
        missing("2"),
        between,
        SAID,
    )


@pytest.mark.parametrize(
    "between", [CustomMessage("note", "by the way"), BranchSummary("e1", "elsewhere")]
)
def test_what_a_model_reads_goes_behind_the_results(between):
    """A note or a branch's summary between a call and its result is read after it."""
    repair = repair_tool_pairs([calls("1"), between, result("1")])
    assert repair.bodies == (calls("1"), result("1"), between)
    assert repair.moved


def test_what_stood_behind_a_dropped_result_stays():
    """A pin behind an orphan is kept, in its order."""
    repair = repair_tool_pairs([HELLO, PIN, result("9"), Custom("note", {}), SAID])
    assert repair.bodies == (HELLO, PIN, Custom("note", {}), SAID)


# ---- entries --------------------------------------------------------------------------------


def entries_of(bodies):
    return tuple(
        Entry(f"e{n}", "s1", f"e{n - 1}" if n else None, 1_000 + n, body)
        for n, body in enumerate(bodies)
    )


def test_entries_in_order_are_returned_as_they_are():
    """The very same tuple, whatever stands between."""
    entries = entries_of([HELLO, calls("1"), PIN, result("1"), SAID])
    assert repair_entries(entries) is entries


def test_an_entry_put_in_belongs_to_its_call():
    """No id, for it is not stored; session and time of the call."""
    entries = entries_of([HELLO, calls("1"), HELLO])
    repaired = repair_entries(entries)
    assert same((repaired[0], repaired[1], repaired[3]), entries)
    assert repaired[2] == Entry("", "s1", "e1", 1_001, missing("1"))


def test_an_entry_keeps_its_id_when_its_result_gets_a_name():
    """Only the body is another one."""
    blank = Message("tool_result", (Text("found"),), tool_call_id="1")
    entries = entries_of([calls("1"), blank])
    repaired = repair_entries(entries)
    assert repaired[0] is entries[0]
    assert repaired[1] == Entry("e1", "s1", "e0", 1_001, result("1"))


def test_errored_entries_can_be_dropped():
    """The policy is the same as for bodies."""
    entries = entries_of([calls("1", stop_reason="stopped"), result("1"), HELLO])
    assert repair_entries(entries, errored="drop") == entries[2:]


# ---- properties -----------------------------------------------------------------------------

ids = st.sampled_from(["", "1", "2", "3"])
replies = st.builds(
    lambda named, reason: calls(*named, stop_reason=reason),
    st.lists(ids, max_size=3),
    st.sampled_from(["stop", "length", "tool_calls", None, *ERRORED]),
)
results = st.builds(
    lambda id_, text, name: Message(
        "tool_result", (Text(text),), tool_call_id=id_, tool_name=name
    ),
    ids,
    st.text(max_size=3),
    st.sampled_from(["", "read"]),
)
others = st.sampled_from(
    [
        HELLO,
        user("bye"),
        SAID,
        Message("system", (Text("be kind"),)),
        PIN,
        Custom("note", {}),
        Compaction("summary", "e1"),
        CustomMessage("note", "by the way"),
    ]
)
histories = st.lists(st.one_of(replies, results, results, others), max_size=20)
policies = st.sampled_from(["keep", "drop"])


def is_result(body):
    return isinstance(body, Message) and body.role == "tool_result"


def for_the_model(bodies):
    return [b for b in bodies if isinstance(b, Message | CustomMessage | BranchSummary)]


@settings(deadline=None)
@given(histories, policies)
def test_results_follow_their_reply_in_the_order_of_its_calls(bodies, policy):
    """Every completed call has exactly one result, every result its call before it."""
    messages = for_the_model(repair_tool_pairs(bodies, errored=policy).bodies)
    place = 0
    while place < len(messages):
        body = messages[place]
        place += 1
        assert not is_result(body), "a result of nobody"
        wanted = [call.id for call in getattr(body, "tool_calls", ())]
        found = []
        while place < len(messages) and is_result(messages[place]):
            found.append(messages[place].tool_call_id)
            place += 1
        if getattr(body, "stop_reason", None) in ERRORED:
            rest = iter(wanted)
            assert all(id_ in rest for id_ in found), "out of order, or twice"
            assert policy == "keep" or not wanted
        else:
            assert found == wanted


@settings(deadline=None)
@given(histories, policies)
def test_what_was_said_stays_in_its_order(bodies, policy):
    """Everything but results (and, by policy, errored replies) is there, the same object."""

    def stays(body):
        errored = policy == "drop" and getattr(body, "stop_reason", None) in ERRORED
        return not is_result(body) and not (errored and body.tool_calls)

    repaired = repair_tool_pairs(bodies, errored=policy).bodies
    assert same(
        [body for body in for_the_model(repaired) if not is_result(body)],
        [body for body in for_the_model(bodies) if stays(body)],
    )


@settings(deadline=None)
@given(histories, policies)
def test_what_is_no_message_is_neither_lost_nor_reordered(bodies, policy):
    """Data of the program comes through whole."""
    plain = [b for b in bodies if not isinstance(b, Message | CustomMessage)]
    repaired = repair_tool_pairs(bodies, errored=policy).bodies
    assert same([b for b in repaired if not isinstance(b, Message | CustomMessage)], plain)


@settings(deadline=None)
@given(histories, policies)
def test_repairing_twice_changes_nothing_more(bodies, policy):
    """The second time everything is in order: the same tuple."""
    once = repair_tool_pairs(bodies, errored=policy).bodies
    again = repair_tool_pairs(once, errored=policy)
    assert again.bodies is once
    assert not again.changed


@settings(deadline=None)
@given(histories, policies)
def test_the_report_adds_up(bodies, policy):
    """What was added and dropped is the difference in length; unchanged means the same objects."""
    repair = repair_tool_pairs(bodies, errored=policy)
    gone = repair.duplicates + repair.orphans + repair.dropped
    assert len(repair.bodies) == len(bodies) + repair.added - gone
    assert repair.changed != same(repair.bodies, bodies)


@settings(deadline=None)
@given(histories, policies)
def test_entries_are_repaired_like_their_bodies(bodies, policy):
    """One algorithm: the same bodies, and ids only of what was given."""
    entries = entries_of(bodies)
    repaired = repair_entries(entries, errored=policy)
    assert [e.body for e in repaired] == list(repair_tool_pairs(bodies, errored=policy).bodies)
    kept = [e.id for e in repaired if e.id]
    assert len(kept) == len(set(kept))
    assert set(kept) <= {e.id for e in entries}
