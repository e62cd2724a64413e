"""Entries and the walks over them."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    Thinking,
    ToolCall,
    Unknown,
    UnknownPart,
    Usage,
    current_model,
    from_payload,
    last_compaction,
    path_to,
    to_payload,
    type_of,
    user,
    visible_entries,
)
from tests.engine.transcript_strategies import bodies, json_values


def chain(*bodies_):
    """Entries one under the other, with ids e0, e1, …"""
    return tuple(
        Entry(f"e{n}", "s", f"e{n - 1}" if n else None, n, body) for n, body in enumerate(bodies_)
    )


def assistant(text, model=""):
    return Message("assistant", (Text(text),), model=model)


def ids(entries):
    return [entry.id for entry in entries]


# ---- payloads -------------------------------------------------------------------------------


@settings(deadline=None)
@given(bodies)
def test_a_body_comes_back_from_its_json(body):
    """Storing a body as JSON and reading it again gives the same body, whatever it holds."""
    text = json.dumps(to_payload(body))
    assert from_payload(type_of(body), json.loads(text)) == body


@pytest.mark.parametrize(
    "body",
    [
        Label("e1", ""),
        Compaction("", ""),
        CustomMessage("", ""),
        ModelChange(""),
        Pin("e1", False),
    ],
)
def test_an_empty_required_field_is_not_left_out(body):
    """A body whose required field is empty is still itself after reading."""
    assert from_payload(type_of(body), to_payload(body)) == body


@settings(deadline=None)
@given(st.sampled_from(["message", "compaction", "label", "pin", "custom", "what"]), json_values)
def test_any_json_is_read_without_an_error(type_name, payload):
    """Whatever a row holds, reading gives a body and never raises."""
    body = from_payload(type_name, payload)
    assert type_of(body) == type_name


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from([*Message.__dataclass_fields__]), json_values | st.just("user"), max_size=6
    )
)
def test_a_damaged_message_costs_the_field_not_the_message(payload):
    """Fields of wrong kinds are dropped as long as role and parts can be read."""
    payload |= {"role": "user", "parts": [{"type": "text", "text": "kept"}]}
    body = from_payload("message", payload)
    assert isinstance(body, Message)
    assert body.text == "kept"


def test_a_message_without_a_role_is_kept_as_it_is():
    """What cannot be understood as a message stays, whole, as an unknown entry."""
    payload = {"role": "oracle", "parts": []}
    assert from_payload("message", payload) == Unknown("message", payload)


def test_an_unknown_part_is_kept():
    """A part of a kind of a later version survives reading and writing."""
    payload = {"role": "user", "parts": [{"type": "video", "url": "x"}, 7]}
    body = from_payload("message", payload)
    assert body.parts == (UnknownPart({"type": "video", "url": "x"}), UnknownPart({"raw": 7}))
    assert to_payload(body)["parts"][0] == {"type": "video", "url": "x"}


def test_true_is_not_a_number():
    """A boolean where a count belongs costs that count."""
    payload = {
        "role": "assistant",
        "parts": [],
        "usage": {"read_tokens": True, "written_tokens": 3},
    }
    assert from_payload("message", payload).usage == Usage(0, 0, 3)


# ---- messages -------------------------------------------------------------------------------


def test_a_message_tells_text_thinking_and_calls_apart():
    """Text, thinking and tool calls are each read in order, verbatim."""
    call = ToolCall("c1", "look", {"where": "here"})
    message = Message("assistant", (Thinking("hm "), Text("a"), call, Thinking("so"), Text("b")))
    assert (message.text, message.thinking, message.tool_calls) == ("ab", "hm so", (call,))


def test_a_prompt_is_what_was_read_and_what_was_reused():
    """The prompt's size is the sum of evaluated and cached tokens."""
    assert Usage(read_tokens=3, reused_tokens=4).prompt_tokens == 7


# ---- walks ----------------------------------------------------------------------------------


def test_the_path_follows_parents_not_order():
    """Only the entries between the root and the leaf are on the path."""
    trunk = chain(user("1"), assistant("2"), user("3"))
    branch = Entry("b", "s", "e1", 9, user("instead"))
    assert ids(path_to((*trunk, branch), "b")) == ["e0", "e1", "b"]


@pytest.mark.parametrize("leaf", [None, "nowhere"])
def test_no_leaf_no_path(leaf):
    """None and an unknown leaf have an empty path."""
    assert path_to(chain(user("1")), leaf) == ()


def test_a_lost_parent_ends_the_walk():
    """Where the chain is torn, what hangs together is returned."""
    torn = chain(user("1"), assistant("2"), user("3"))[1:]
    assert ids(path_to(torn, "e2")) == ["e1", "e2"]


def test_a_cycle_ends_the_walk():
    """Entries that are their own ancestors do not hang the walk."""
    cycle = [Entry("a", "s", "b", 0, user("a")), Entry("b", "s", "a", 0, user("b"))]
    assert ids(path_to(cycle, "a")) == ["b", "a"]


@settings(deadline=None)
@given(st.lists(st.integers(0, 30), max_size=30), st.data())
def test_a_path_is_a_chain_from_a_root(parents, data):
    """In any tree each entry of a path is the parent of the next, and the first has none."""
    entries = [
        Entry(str(n), "s", None if parent >= n else str(parent), n, user(str(n)))
        for n, parent in enumerate(parents)
    ]
    leaf = data.draw(st.sampled_from([None, *ids(entries)]))
    path = path_to(entries, leaf)
    assert [entry.parent for entry in path] == [None, *ids(path)][: len(path)]
    assert (path[-1].id if path else None) == leaf


def test_the_last_compaction_counts():
    """Of several compactions the last on the path is the one (SPEC2 2.2)."""
    path = chain(user("1"), Compaction("a", "e0"), user("2"), Compaction("b", "e2"))
    assert last_compaction(path) == 3
    assert last_compaction(path[:1]) is None


def test_current_model_is_the_last_used_or_chosen():
    """A change wins over earlier replies, a reply over earlier changes."""
    path = chain(ModelChange("a"), user("1"), assistant("2", "b"))
    assert current_model(path) == "b"
    assert current_model((*path, Entry("x", "s", "e2", 0, ModelChange("c")))) == "c"
    assert current_model(path[1:2]) == ""


VISIBLE = {
    # id: bodies, ids the model sees, in order (context-engine.md, test vectors 7)
    "J1": (
        [
            *(user("1"), assistant("1"), user("2"), assistant("2")),
            Compaction("sum", "e2"),
            *(user("3"), assistant("3")),
        ],
        ["e4", "e2", "e3", "e5", "e6"],
    ),
    "J2": (
        [
            *(user("1"), assistant("1"), Compaction("one", "e1"), user("2"), assistant("2")),
            *(user("3"), Compaction("two", "e5"), assistant("3")),
        ],
        ["e6", "e5", "e7"],
    ),
    "J3": (
        [user("1"), assistant("1"), Compaction("sum", "e0"), user("2")],
        ["e2", "e0", "e1", "e3"],
    ),
    "J4": ([user("1"), assistant("1"), user("2")], ["e0", "e1", "e2"]),
    "first kept is not on the path": (
        [user("1"), assistant("1"), Compaction("sum", "elsewhere"), user("2")],
        ["e2", "e3"],
    ),
}


@pytest.mark.parametrize(("path", "seen"), VISIBLE.values(), ids=VISIBLE)
def test_what_the_model_sees_after_a_compaction(path, seen):
    """The last compaction, the kept tail, and what came after it (context-engine.md 7.2)."""
    assert ids(visible_entries(chain(*path))) == seen


def test_side_branches_and_data_stay_entries():
    """Types that no model sees keep their place on the path; the prompt leaves them out."""
    path = chain(Custom("state"), BranchSummary("e0", "there"), CustomMessage("note", "here"))
    assert visible_entries(path) == path
