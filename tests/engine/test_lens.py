"""What the lens says a model sees is what the backend received, message by message, byte by byte."""

import asyncio
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.backends.base import PromptMessage
from engine.context import ContextSettings, plan_sent, plan_view
from engine.lens import plan_lens, plan_prompt, sent_text
from engine.prompt import plan_messages
from engine.prune import CachePruning
from engine.testing import reply
from engine.tokens import RUNTIME_CONTEXT, Count
from engine.transcript import (
    BranchSummary,
    Compaction,
    Custom,
    CustomMessage,
    Entry,
    Message,
    ModelChange,
    Pin,
    Text,
    Thinking,
    ToolCall,
    Usage,
    user,
)
from engine.undoing import undoing_entry
from engine.view import UNSENT, shortening_entry
from tests.engine.talks import Talk

NOTE_OF_US = min(RUNTIME_CONTEXT)

# ---- random histories ---------------------------------------------------------------------------

words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)


def message_of(kind, text, pick):
    """What is said in a step; None for steps that are about something else."""
    match kind:
        case "user" | "system":
            return Message(kind, (Text(text),))
        case "reply" | "thought":
            return reply(text, thinking="hm, " + text if kind == "thought" else "")
        case "empty":
            return reply("", thinking=text)
        case "failed":
            return Message("assistant", (Text(text),), stop_reason="failed", error="It broke.")
        case "call":
            call = ToolCall(f"c{pick % 4}", "read", {"path": text})
            return Message("assistant", (Text(text), call), stop_reason="tool_calls")
        case "result" | "orphan":
            id_ = f"c{pick % 4}" if kind == "result" else "nobody"
            return Message(
                "tool_result", (Text(text * 60),), tool_call_id=id_, details={"secret": text}
            )
    return None


def note_of(kind, text):
    """What the program says in a step, None for nothing."""
    notes = {
        "note": CustomMessage("note", text, details={"secret": text}),
        "runtime": CustomMessage(NOTE_OF_US, text),
        "branch": BranchSummary("elsewhere", text),
        "unsent": Custom(UNSENT, {"text": text}),
        "model": ModelChange("scripted:test"),
    }
    return notes.get(kind)


def act_of(kind, text, pick, path):
    """What is done to the path in a step; None where it has nothing to be done to."""
    chosen = path[pick % len(path)] if path else None
    folds = [entry for entry in path if isinstance(entry.body, Compaction)]
    results = [e for e in path if isinstance(e.body, Message) and e.body.role == "tool_result"]
    match kind:
        case "fold" if chosen is not None:
            pinned = [e.id for e in path if isinstance(e.body, Message)][: pick % 3]
            return Compaction(text, chosen.id, 900, 90, facts={"pinned": pinned, "folded": 3})
        case "pin" if chosen is not None:
            return Pin(chosen.id, pick % 5 > 0)
        case "shorten" if results:
            return shortening_entry({e.id: text for e in results[: 1 + pick % 2]})
        case "undo" if folds:
            return undoing_entry(folds[pick % len(folds)].id, undone=pick % 3 > 0)
        case "edit" if folds:
            facts = {**folds[-1].body.facts, "edits": folds[-1].id}
            return Compaction(text, folds[-1].body.first_kept, 900, 90, facts=facts)
    return None


KINDS = (
    *("user", "reply", "thought", "empty", "failed", "call", "result", "orphan", "system"),
    *("note", "runtime", "branch", "unsent", "model"),
    *("fold", "pin", "shorten", "undo", "edit"),
)
steps = st.lists(st.tuples(st.sampled_from(KINDS), words, st.integers(0, 99)), max_size=24)


def fill(talk, story):
    """Store a random history."""
    for kind, text, pick in story:
        body = (
            message_of(kind, text, pick)
            or note_of(kind, text)
            or act_of(kind, text, pick, talk.path)
        )
        if body is not None:
            talk.store.append(talk.session_id, body)


def looked_at(talk, path):
    """The view of a path as the session acts on it."""
    return asyncio.run(talk.session.peek(path))


def asked(talk):
    """The path up to the last question, as it was when the request was made."""
    path = talk.path
    last = max(i for i, e in enumerate(path) if e.body == user("And now?"))
    return path[: last + 1]


def wire(messages):
    """Messages as bytes: role, words, thinking, calls, ids and names."""
    return [repr(message).encode("utf-8", "surrogatepass") for message in messages]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps, st.booleans(), st.sampled_from(["", "Be brief."]), st.sampled_from([4_096, 200_000]))
def test_the_lens_is_what_the_backend_received(story, exact, system, window):
    """For random histories: tinted as sent is exactly the recorded request, and nothing else is.

    In the small window results are shortened and older messages folded within the turn.
    """
    with Talk(window=window, exact=exact, system=system) as talk:
        fill(talk, story)
        talk.say("And now?")
        if talk.ended.reason != "stop":
            return  # nothing fitted, nothing was sent
        request = talk.chats[-1]
        path = before_the_reply(talk)
        view = looked_at(talk, path)
        prompt = plan_prompt(view, system)
        assert wire(m.message for m in prompt) == wire(request.messages)
        seen = plan_lens(view, path)
        assert [s.entry for s in seen] == [e.id for e in path]
        tinted = Counter(wire(s.message for s in seen if s.message is not None))
        unbound = Counter(wire(m.message for m in prompt if not m.entry))
        assert tinted + unbound == Counter(wire(request.messages))
        check_states(path, seen)


def before_the_reply(talk):
    """The path as it was when the request was made."""
    answered = talk.ended.entry.parent
    return talk.store.path(talk.session_id, answered)


def check_states(path, seen):
    """What is said to be verbatim is the entry's own text; what is not sent has no message."""
    for entry, sight in zip(path, seen, strict=True):
        own = entry.body.text if isinstance(entry.body, Message) else None
        match sight.state:
            case "verbatim" if own is not None:
                assert sight.message.content.encode() == own.encode()
                assert sight.tokens == sight.whole
            case "shortened":
                assert sight.message.content != own
            case "folded" | "not_sent":
                assert sight.message is None
                assert sight.tokens == 0


# ---- one by one ---------------------------------------------------------------------------------


def a_lens(*bodies, settings=ContextSettings(), window=200_000):
    """The states of a stored conversation of these bodies, and the lens itself."""
    with Talk(window=window, settings=settings) as talk:
        entries = [talk.store.append(talk.session_id, body) for body in bodies]
        talk.say("And now?")
        path = asked(talk)
        lens = plan_lens(looked_at(talk, path), path)
        assert [sight.entry for sight in lens][: len(entries)] == [e.id for e in entries]
        return lens


def states(*bodies, **more):
    return [sight.state for sight in a_lens(*bodies, **more)][: len(bodies)]


def test_what_nobody_folded_is_verbatim():
    """Questions and answers, thinking or not."""
    assert states(user("a"), reply("b", thinking="hm")) == ["verbatim", "verbatim"]


def test_a_reply_of_no_words_is_not_sent():
    """Failed or stopped before a word."""
    failed = Message("assistant", (Thinking("hm"),), stop_reason="failed", error="broke")
    assert states(user("a"), failed) == ["verbatim", "not_sent"]


def test_what_lies_before_a_fold_is_folded():
    """Its summary stands for it, and is sent."""
    found = states(user("a"), reply("b"), Compaction("Both said hello.", "gone"), user("c"))
    assert found == ["folded", "folded", "verbatim", "verbatim"]


def test_a_second_fold_folds_the_first():
    """Only the last summary is sent."""
    found = states(user("a"), Compaction("One.", "gone"), reply("b"), Compaction("Two.", "gone"))
    assert found == ["folded", "folded", "folded", "verbatim"]


def test_settings_are_not_sent():
    """Pins, model changes and the program's own data say nothing to a model."""
    note = CustomMessage(NOTE_OF_US, "it is noon")
    found = states(user("a"), reply("b"), ModelChange("scripted:test"), Custom("x", {}), note)
    assert found == ["verbatim", "verbatim", "not_sent", "not_sent", "not_sent"]


def calling():
    return Message("assistant", (ToolCall("c", "read", {}),), stop_reason="tool_calls")


def result(text):
    return Message("tool_result", (Text(text),), tool_call_id="c", tool_name="read")


def test_a_shortened_result_says_how_much_of_it_is_sent():
    """The new text goes to the model, with its size beside that of the whole."""
    with Talk(window=200_000) as talk:
        entries = [
            talk.store.append(talk.session_id, body)
            for body in (user("a"), calling(), result("a long line of a table " * 300), reply("b"))
        ]
        talk.store.append(talk.session_id, shortening_entry({entries[2].id: "a long line […]"}))
        talk.say("And now?")
        path = asked(talk)
        sight = plan_lens(looked_at(talk, path), path)[2]
    assert sight.state == "shortened"
    assert sight.message.content == "a long line […]"
    assert sight.tokens < 20 < 1_000 < sight.whole


def test_what_is_shortened_this_once_is_shortened():
    """Old results of a conversation that rested are trimmed in the request only; so says the lens."""
    trims = CachePruning("cache-ttl", 1, 1, soft_trim_ratio=0.0, soft_max=500, soft_head=90)
    said = [user("a"), calling(), result("a line " * 900), reply("b"), user("c")]
    said[3] = replace(said[3], usage=Usage(read_tokens=2_000, written_tokens=1))
    path = tuple(
        Entry(f"e{n}", "s", f"e{n - 1}" if n else None, 1_000_000 * n, body)
        for n, body in enumerate(said)
    )
    weights = {entry.id: 2_000 if entry.id == "e2" else 5 for entry in path}
    settings = ContextSettings(cache=trims)
    view = plan_view(path, weights, Count(2_020, "exact"), 16_384, settings)
    sent = plan_messages(plan_sent(view), "")
    assert wire(m.message for m in plan_prompt(view, "")) == wire(sent)
    sight = plan_lens(view, path)[2]
    assert sight.state == "shortened"
    assert 1_990 <= sight.whole <= 2_010
    assert 0 < sight.tokens < 1_000


def test_a_result_that_is_put_in_belongs_to_no_entry():
    """A call without a result gets one in the request; the prompt names no entry for it."""
    with Talk(window=200_000) as talk:
        for body in (user("a"), calling(), user("b"), reply("c")):
            talk.store.append(talk.session_id, body)
        talk.say("And now?")
        prompt = plan_prompt(looked_at(talk, asked(talk)), "")
    assert [m.entry == "" for m in prompt] == [False, False, True, False, False, False]


def test_an_edited_summary_answers_for_the_one_it_edits():
    """The card is that of the compaction; the words are the edited ones."""
    with Talk(window=200_000) as talk:
        talk.store.append(talk.session_id, user("a"))
        fold = talk.store.append(talk.session_id, Compaction("Old.", "gone", facts={}))
        edit = Compaction("New words.", "gone", facts={"edits": fold.id})
        talk.store.append(talk.session_id, edit)
        talk.say("And now?")
        lens = plan_lens(looked_at(talk, asked(talk)), asked(talk))
    assert [s.state for s in lens] == ["folded", "folded", "verbatim", "verbatim"]
    assert lens[2].answers_for == fold.id
    assert "New words." in lens[2].message.content


def test_an_undone_fold_folds_nothing():
    """The originals are sent again, its summary is not."""
    with Talk(window=200_000) as talk:
        talk.store.append(talk.session_id, user("a"))
        fold = talk.store.append(talk.session_id, Compaction("Old.", "gone"))
        talk.store.append(talk.session_id, undoing_entry(fold.id, undone=True))
        talk.say("And now?")
        lens = plan_lens(looked_at(talk, asked(talk)), asked(talk))
    assert [s.state for s in lens] == ["verbatim", "not_sent", "not_sent", "verbatim"]


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (PromptMessage("user", "a"), "a"),
        (PromptMessage("user", ""), ""),
        (
            PromptMessage("assistant", "", tool_calls=(ToolCall("c", "read", {"n": 1}),)),
            '{"name":"read","arguments":{"n":1}}',
        ),
        (
            PromptMessage("assistant", "see", tool_calls=(ToolCall("c", "read", {}),)),
            'see\n{"name":"read","arguments":{}}',
        ),
    ],
)
def test_the_words_of_a_message(message, text):
    """Content first, then the calls as JSON."""
    assert sent_text(message) == text
