"""Conversations as files of the specification (context-engine.md 7.1): vectors J1 to J8, and back."""

import io
import json
from datetime import UTC, datetime
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import EnvironmentFault
from engine.store import Store
from engine.store.jsonl import CARRIED
from engine.transcript import (
    BranchSummary,
    Compaction,
    Custom,
    CustomMessage,
    Image,
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
    user,
    visible_entries,
)
from tests.engine.transcript_strategies import bodies, json_values, texts

HEADER = {
    "type": "session",
    "version": 3,
    "id": "0c8fe1b2-7d56-4f0e-9c39-aa00bb11cc22",
    "timestamp": "2026-01-02T03:04:05.678Z",
    "cwd": "/home/someone",
}


@pytest.fixture(scope="module")
def store():
    """One store for all imports; each makes a conversation of its own."""
    with Store.in_memory() as opened:
        yield opened


def record(type_, number, **fields):
    """An entry's line under the one before it (ids e0, e1, …)."""
    return {
        "type": type_,
        "id": f"e{number}",
        "parentId": f"e{number - 1}" if number else None,
        "timestamp": f"2026-01-02T03:05:{number:02}.000Z",
        **fields,
    }


def said(number, role, text):
    content = text if role == "user" else [{"type": "text", "text": text}]
    return record("message", number, message={"role": role, "content": content})


def talk(*steps):
    """Lines: strings are messages of user and assistant by their first letter, pairs compactions."""
    lines = [HEADER]
    for number, step in enumerate(steps):
        if isinstance(step, str):
            lines.append(said(number, {"u": "user", "a": "assistant"}[step[0]], step))
        else:
            kept = f"e{steps.index(step[0])}"
            lines.append(
                record(
                    "compaction", number, summary=step[1], firstKeptEntryId=kept, tokensBefore=9
                )
            )
    return lines


def imported(store, lines):
    """Import lines (objects, or raw strings and bytes); returns what import says."""
    return store.import_jsonl(
        line if isinstance(line, str | bytes) else json.dumps(line) + "\n" for line in lines
    )


def path_of(store, lines):
    return store.path(imported(store, lines).session.id)


def seen(store, lines):
    """The texts of what the model sees."""
    return [
        entry.body.summary if isinstance(entry.body, Compaction) else entry.body.text
        for entry in visible_entries(path_of(store, lines))
    ]


def exported(store, session):
    file = io.StringIO()
    store.export_jsonl(session, file)
    return file.getvalue()


# ---- the vectors ----------------------------------------------------------------------------

VECTORS = {
    "J1": (
        talk("u1", "a1", "u2", "a2", ("u2", "sum"), "u3", "a3"),
        ["sum", "u2", "a2", "u3", "a3"],
    ),
    "J2": (
        talk("u1", "a1", "u2", ("u2", "one"), "u3", "a3", ("u3", "two"), "u4"),
        ["two", "u3", "a3", "u4"],
    ),
    "J3": (talk("u1", "a1", ("u1", "sum"), "u2"), ["sum", "u1", "a1", "u2"]),
    "J4": (talk("u1", "a1", "u2"), ["u1", "a1", "u2"]),
}


@pytest.mark.parametrize(("lines", "texts_"), VECTORS.values(), ids=VECTORS)
def test_what_the_model_sees_of_a_file(store, lines, texts_):
    """J1 to J4: the last compaction's summary, its kept tail, and what follows."""
    assert seen(store, lines) == texts_


@pytest.mark.parametrize(
    "garbage", ["{torn", "", "\0\0\0", "[1]", '"x"', '{"no":"type"}', b"\xff\xfe", '{"type":7}']
)
def test_j5_garbage_in_the_middle_is_skipped(store, garbage):
    """J5: a line that is not an entry costs itself only; blank lines are not even counted."""
    lines = talk("u1", "a1", "u2")
    result = imported(store, [*lines[:2], garbage, *lines[2:]])
    assert [e.body.text for e in store.path(result.session.id)] == ["u1", "a1", "u2"]
    assert result.entries == 3
    blank = not garbage.strip("\0") if isinstance(garbage, str) else False
    assert result.skipped == (0 if blank else 1)


@pytest.mark.parametrize("lines", [[], talk("u1", "a1")[1:], [{**HEADER, "id": 7}], ["text"]])
def test_j6_without_a_header_there_is_no_conversation(store, lines):
    """J6: a file without a valid header is empty; nothing is made of it, and the user is told."""
    before = store.sessions()
    with pytest.raises(EnvironmentFault, match="no conversation in this file"):
        imported(store, lines)
    assert store.sessions() == before


def test_j7_a_branch_is_another_child(store):
    """J7: the last entry is the leaf; the branch it left is still in the conversation."""
    lines = [*talk("u1", "a1", "u2"), {**said(3, "user", "new"), "parentId": "e1"}]
    session = imported(store, lines).session.id
    assert [e.id for e in store.path(session)] == ["e0", "e1", "e3"]
    assert [e.id for e in store.entries(session)] == ["e0", "e1", "e2", "e3"]


def test_j8_custom_is_data_and_custom_message_is_said(store):
    """J8: a custom entry is data of the program, a custom message has words for the model."""
    lines = [
        HEADER,
        record("custom", 0, customType="state", data={"n": 1}),
        record("custom_message", 1, customType="note", content="remember", display=False),
    ]
    assert [entry.body for entry in path_of(store, lines)] == [
        Custom("state", {"n": 1}),
        CustomMessage("note", "remember", False),
    ]


# ---- foreign files --------------------------------------------------------------------------


def test_every_type_of_the_specification_is_read(store):
    """All entry types and kinds of content, as another program writes them."""
    usage = {"input": 5, "output": 7, "cacheRead": 11, "cacheWrite": 0, "totalTokens": 23}
    content = [
        {"type": "thinking", "thinking": "hm", "thinkingSignature": "x"},
        {"type": "text", "text": "yes"},
        {"type": "toolCall", "id": "c", "name": "look", "arguments": {"at": 1}},
        {"type": "video", "url": "y"},
    ]
    picture = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    result = {"role": "toolResult", "toolCallId": "c", "toolName": "look", "isError": True}
    call = {"role": "assistant", "content": content, "provider": "p", "model": "m"}
    failed = {"role": "assistant", "content": [], "stopReason": "error", "errorMessage": "no"}
    compaction = {"summary": "s", "firstKeptEntryId": "e1", "tokensBefore": 9, "fromHook": True}
    lines = [
        HEADER,
        record("message", 0, message={"role": "user", "content": [picture]}),
        record("message", 1, message={**call, "usage": usage, "stopReason": "toolUse"}),
        record("message", 2, message={**result, "content": "nothing", "details": {"d": 1}}),
        record("message", 3, message=failed),
        record("compaction", 4, **compaction, details={"read": ["f"]}),
        record("branch_summary", 5, fromId="e2", summary="b"),
        record("model_change", 6, provider="ollama", modelId="qwen3:4b"),
        record("thinking_level_change", 7, thinkingLevel="high"),
        record("label", 8, targetId="e1", label="here"),
        record("label", 9, targetId="e1"),
        record("session_info", 10, name="A title"),
        record("message", 11, message={"role": "hookMessage", "customType": "t", "content": "c"}),
        record("message", 12, message={"role": "oracle", "content": "?"}),
    ]
    session = imported(store, lines).session
    assert session.title == "A title"
    assert [entry.body for entry in store.path(session.id)] == [
        Message("user", (Image("image/png", "aGk="),)),
        Message(
            "assistant",
            (
                Thinking("hm"),
                Text("yes"),
                ToolCall("c", "look", {"at": 1}),
                UnknownPart({"type": "video", "url": "y"}),
            ),
            model="p:m",
            stop_reason="tool_calls",
            usage=Usage(5, 11, 7),
        ),
        Message(
            "tool_result",
            (Text("nothing"),),
            tool_call_id="c",
            tool_name="look",
            is_error=True,
            details={"d": 1},
        ),
        Message("assistant", stop_reason="failed", error="no"),
        Compaction("s", "e1", 9, facts={"details": {"read": ["f"]}, "fromHook": True}),
        BranchSummary("e2", "b"),
        ModelChange("ollama:qwen3:4b"),
        Unknown("thinking_level_change", {"thinkingLevel": "high"}),
        Label("e1", "here"),
        Label("e1", ""),
        Unknown("session_info", {"name": "A title"}),
        CustomMessage("t", "c"),
        Unknown("message", {"message": {"role": "oracle", "content": "?"}}),
    ]


def test_header_and_times_are_kept(store):
    """The conversation's id, its origin and every time come out of the file, in milliseconds."""
    session = imported(store, [{**HEADER, "id": "kept", "parentSession": "/old.jsonl"}]).session
    assert (session.id, session.parent_session) == ("kept", "/old.jsonl")
    moment = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
    assert session.created_at == int(moment.timestamp() * 1000)
    (entry,) = path_of(store, talk("u1"))
    assert entry.created_at == int(datetime(2026, 1, 2, 3, 5, tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        (1767323105678, 1767323105678),
        ("2026-01-02T03:04:05", 1767323045000),
        ("2026-01-02T05:04:05+02:00", 1767323045000),
        ("yesterday", 1767323045678),
        (None, 1767323045678),
        (True, 1767323045678),
        (-5, 1767323045678),
        ("1960-01-01T00:00:00Z", 0),
    ],
)
def test_odd_times(store, time, expected):
    """Numbers, zones, nonsense: a time that cannot be read is the conversation's."""
    (entry,) = path_of(store, [HEADER, {**said(0, "user", "x"), "timestamp": time}])
    assert entry.created_at == expected


def test_version_1_has_its_order_only(store):
    """Without ids the lines follow each other, and the first kept entry is told by its number."""
    lines = [
        {key: value for key, value in HEADER.items() if key != "version"},
        *(
            {key: value for key, value in said(n, role, text).items() if key[-2:].lower() != "id"}
            for n, (role, text) in enumerate([("user", "u1"), ("assistant", "a1"), ("user", "u2")])
        ),
        {"type": "compaction", "summary": "sum", "firstKeptEntryIndex": 3, "tokensBefore": 9},
        {"type": "message", "message": {"role": "user", "content": "u3"}},
    ]
    assert seen(store, lines) == ["sum", "u2", "u3"]


@pytest.mark.parametrize("parent", ["nowhere", "e2", "e1", 7])
def test_a_parent_that_is_not_before_its_child_is_the_entry_before(store, parent):
    """Lost, later, its own or no id at all: the entry hangs on the one before it in the file."""
    lines = talk("u1", "a1", "u2")
    lines[2]["parentId"] = parent
    assert [entry.body.text for entry in path_of(store, lines)] == ["u1", "a1", "u2"]


def test_an_entry_written_twice_is_one_and_a_reused_id_is_two(store):
    """An exact repetition is dropped; another entry under the same id gets a name of its own."""
    lines = talk("u1", "a1", "u2")
    again = {**said(1, "assistant", "other a1")}
    result = imported(store, [*lines[:3], lines[2], again, lines[3]])
    entries = store.entries(result.session.id)
    assert [(e.id, e.body.text) for e in entries] == [
        ("e0", "u1"),
        ("e1", "a1"),
        ("e1~2", "other a1"),
        ("e2", "u2"),
    ]
    assert entries[3].parent == "e1~2", "children belong to the nearest holder before them"


def test_importing_over_an_existing_conversation_makes_another(store):
    """A file whose id is taken becomes a second conversation; the first stays as it is."""
    first = imported(store, talk("u1")).session
    before = store.entries(first.id)
    second = imported(store, talk("u1", "a1")).session
    assert first.id != second.id
    assert store.entries(first.id) == before
    assert len(store.entries(second.id)) == 2


# ---- there and back -------------------------------------------------------------------------


def tree(store, contents, parents):
    """A conversation of these bodies, each hung on the leaf or on an earlier entry."""
    session = store.create_session("Title", "starter", "older").id
    entries = []
    for body, parent in zip(contents, parents, strict=False):
        above = entries[parent % len(entries)].id if entries else None
        entries.append(store.append(session, body, above))
    return session, entries


@settings(deadline=None, max_examples=60)
@given(st.lists(bodies, max_size=6), st.lists(st.integers(0, 5), min_size=6, max_size=6), texts)
def test_export_and_import_give_the_same_conversation(contents, parents, title):
    """Any conversation comes back entry for entry, and exports to the same bytes again."""
    with Store.in_memory(clock=count(1_700_000_000_000).__next__) as source:
        session, entries = tree(source, contents, parents)
        source.rename(session, title)
        source.add_usage(session, input_tokens=3, output_tokens=4, context_tokens=5)
        if entries:
            source.set_leaf(session, entries[0].id)
        text = exported(source, session)
        with Store.in_memory() as target:
            result = target.import_jsonl(io.StringIO(text, newline="\n"))
            assert result.skipped == 0
            assert target.entries(session) == source.entries(session)
            assert target.path(session) == source.path(session)
            assert exported(target, session) == text
            assert target.check() == ()


def test_an_exported_file_is_the_specifications(store):
    """Header and entries have the specification's names and shapes, one object a line."""
    clock = count(1_700_000_000_000).__next__
    with Store.in_memory(clock=clock) as source:
        session = source.create_session("T").id
        bodies_ = [
            user("hello"),
            Message(
                "assistant",
                (Thinking("hm"), Text("hi"), ToolCall("c", "look", {})),
                model="ollama:m",
                stop_reason="interrupted",
                usage=Usage(1, 2, 3),
            ),
            Message("tool_result", (Text("x"),), tool_call_id="c", tool_name="look"),
            Compaction("s", "first", 9),
            Pin("first"),
        ]
        ids = [entry.id for entry in source.append_all(session, bodies_)]
        header, *lines = map(json.loads, exported(source, session).splitlines())
    assert header.items() >= {"type": "session", "version": 3, "id": session, "cwd": ""}.items()
    assert header["timestamp"] == "2023-11-14T22:13:20.000Z"
    assert [line["id"] for line in lines] == ids
    assert [line["parentId"] for line in lines] == [None, *ids[:-1]]
    assert [line["type"] for line in lines] == [
        *("message", "message", "message", "compaction", "custom")
    ]
    assert lines[0]["message"]["content"] == [{"type": "text", "text": "hello"}]
    assert lines[1]["message"]["content"][0] == {"type": "thinking", "thinking": "hm"}
    assert lines[1]["message"]["content"][2]["type"] == "toolCall"
    assert lines[1]["message"]["stopReason"] == "aborted"
    assert (lines[1]["message"]["provider"], lines[1]["message"]["model"]) == ("ollama", "m")
    assert lines[1]["message"]["usage"]["totalTokens"] == 6
    assert lines[2]["message"].items() >= {"role": "toolResult", "toolCallId": "c"}.items()
    assert lines[2]["message"]["isError"] is False
    assert (
        lines[3].items()
        >= {"summary": "s", "firstKeptEntryId": "first", "tokensBefore": 9}.items()
    )


def test_a_file_written_to_disk_comes_back(tmp_path):
    """Through a real file: half surrogate pairs survive, an open binary file can be imported."""
    with Store.open(tmp_path / "a.db") as store:
        session = store.create_session().id
        store.append(session, user("\ud800 你好\r\n\u2028"))
        with (tmp_path / "f.jsonl").open("w", encoding="utf-8", newline="") as file:
            store.export_jsonl(session, file)
        with (tmp_path / "f.jsonl").open("rb") as binary:
            result = store.import_jsonl(binary)
        assert [e.body.text for e in store.path(result.session.id)] == ["\ud800 你好\r\n\u2028"]


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.sampled_from(CARRIED), json_values | st.just(2**70)))
def test_any_header_can_be_read(known):
    """Fields of our own in a header may hold anything; what is no use is its default."""
    with Store.in_memory() as store:
        result = imported(store, [{**HEADER, "porthole": known}, *talk("u1")[1:]])
        assert [entry.body.text for entry in store.entries(result.session.id)] == ["u1"]
        assert store.check() == ()


@settings(deadline=None, max_examples=60)
@given(st.lists(st.text(max_size=40) | st.binary(max_size=40), max_size=5))
def test_any_lines_can_be_read(lines):
    """Whatever lines follow a header, importing never fails."""
    with Store.in_memory() as store:
        result = imported(store, [HEADER, *lines])
        assert result.entries == len(store.entries(result.session.id))
