"""What a prompt is made of, whether a draft fits, the ledger of compactions."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.context import MIN_REPLY_TOKENS, ContextSettings
from engine.errors import MessageTooLarge
from engine.segments import plan_fit, plan_ledger, plan_segments
from engine.testing import reply
from engine.tokens import MESSAGE_OVERHEAD_TOKENS
from engine.transcript import Compaction, Entry, Message, Pin, Text, Thinking, ToolCall, user
from engine.undoing import undoing_entry
from tests.engine.talks import Talk, words


def looked_at(talk):
    """The view of the whole conversation."""
    talk.run(talk.session.compact())  # loads the model; there is nothing to fold
    return asyncio.run(talk.session.peek(talk.path))


def segments_of(view, **more):
    return {segment.name: segment.tokens for segment in plan_segments(view, **more)}


def put(talk, *bodies):
    return [talk.store.append(talk.session_id, body) for body in bodies]


@pytest.mark.parametrize("exact", [True, False])
def test_segments_together_are_the_count(exact):
    """The figure the session acts on, whatever way it was counted."""
    with Talk(exact=exact, system="Be brief.") as talk:
        put(talk, user("Why?"), reply("So.", thinking="Let me see."), user("And?"))
        view = looked_at(talk)
        assert sum(segments_of(view).values()) == view.count.tokens
        assert segments_of(view)["system prompt"] > 0


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["user", "reply", "fold", "pin"]), max_size=12),
    st.booleans(),
    st.sampled_from(["drop", "last", "keep"]),
)
def test_segments_are_the_count_for_every_mixture(kinds, exact, rule):
    """Messages, replies with thinking, folds and pins in any order, by every rule."""
    with Talk(exact=exact, window=200_000, thinking=rule) as talk:
        for kind in kinds:
            path = talk.path
            first = path[0].id if path else "gone"
            body = {
                "user": user("some words of mine"),
                "reply": reply("an answer", thinking="thoughts"),
                "fold": Compaction("Said before.", first, facts={"pinned": [first]}),
                "pin": Pin(first),
            }[kind]
            put(talk, body)
        view = looked_at(talk)
        assert sum(segments_of(view).values()) in (view.count.tokens, 0)


def test_thinking_is_a_part_where_it_is_estimated():
    """A model that gets its earlier thinking: its share stands apart."""
    with Talk(exact=False, thinking="keep") as talk:
        put(talk, user("Why?"), reply("So.", thinking="Let me see. " * 40))
        parts = segments_of(looked_at(talk))
    assert parts["thinking"] > 10 * parts["replies"]


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("rule", ["drop", "last"])
def test_thinking_that_is_not_sent_weighs_nothing(exact, rule):
    """The count is that of the same conversation without it."""
    with Talk(exact=exact, thinking=rule) as talk, Talk(exact=exact, thinking=rule) as other:
        put(talk, user("Why?"), reply("So.", thinking="Let me see. " * 40), user("And?"))
        put(other, user("Why?"), reply("So."), user("And?"))
        seen, plain = looked_at(talk), looked_at(other)
        assert segments_of(seen) == segments_of(plain)
        assert (seen.count, sorted(seen.weights.values())) == (
            plain.count,
            sorted(plain.weights.values()),
        )


@pytest.mark.parametrize("rule", ["last", "keep"])
def test_thinking_of_a_running_turn_is_a_part_of_an_exact_count(rule):
    """As much as the prompt is smaller without it; the rest is what it would be."""
    call = ToolCall("c1", "clock", {})
    body = Message("assistant", (Thinking("Let me see. " * 40), Text("Wait."), call))
    result = Message("tool_result", (Text("12"),), "c1", "clock")
    with Talk(thinking=rule) as talk, Talk(thinking="drop") as without:
        for each in (talk, without):
            put(each, user("When?"), body, result)
        seen, plain = looked_at(talk), looked_at(without)
    assert segments_of(plain).get("thinking", 0) == 0
    assert segments_of(seen)["thinking"] == seen.count.tokens - plain.count.tokens > 80
    assert segments_of(seen) == {**segments_of(plain), "thinking": segments_of(seen)["thinking"]}


def test_files_of_a_message_are_told_apart():
    """As much of its weight as its text has of them."""
    with Talk() as talk:
        put(talk, user(words(1_000)), reply("Yes."))
        view = looked_at(talk)
        whole = segments_of(view)["your messages"]
        parts = segments_of(view, files=lambda _: 0.75)
    assert parts["files"] == round(whole * 0.75)
    assert parts["files"] + parts["your messages"] == whole


def test_a_share_of_files_beyond_all_measure_is_all():
    """Whoever says it."""
    with Talk() as talk:
        put(talk, user("a table"))
        assert "your messages" not in segments_of(looked_at(talk), files=lambda _: 7.0)


def test_pins_and_summary_are_parts():
    """What was kept although it was folded, and the summary that folded the rest."""
    with Talk() as talk:
        kept = put(talk, user("Never forget this."), reply("No."))[0]
        put(talk, Compaction("Said before.", "gone", facts={"pinned": [kept.id]}), user("Next"))
        parts = segments_of(looked_at(talk))
    assert set(parts) >= {"pinned", "summary", "your messages"}
    assert "replies" not in parts


def test_results_are_a_part():
    """Of tools."""
    with Talk(exact=False) as talk:
        put(talk, user("Why?"), reply("So."), Message("tool_result", (Text("x"),)), user("?"))
        assert "tool results" not in segments_of(looked_at(talk)), "nobody called: it is not sent"


# ---- one message more ---------------------------------------------------------------------------


def test_what_fits_fits():
    """Far below the budget."""
    with Talk(("Hi", "Hello")) as talk:
        assert plan_fit(looked_at(talk), 20).state == "fits"


def test_from_nine_tenths_on_a_compaction_is_near():
    """7,200 of 8,000 are near; one token less is not."""
    with Talk((words(2_000), words(2_000))) as talk:
        view = looked_at(talk)
        less = view.budget.prompt * 9 // 10 - view.count.tokens
        with_history = (plan_fit(view, less - 1).state, plan_fit(view, less).state)
    assert with_history == ("fits", "near")


def test_over_the_budget_older_messages_are_folded_first():
    """The session would compact and send; nothing stands in the way."""
    with Talk((words(3_000), words(3_000))) as talk:
        fit = plan_fit(looked_at(talk), 4_000)
        assert fit.state == "folds"
        assert fit.over > 1_500
        talk.say(words(3_900))
        assert talk.ended.reason == "stop"


def test_a_message_beyond_the_room_is_too_large():
    """And the session refuses it."""
    with Talk(("Hi", "Hello")) as talk:
        view = looked_at(talk)
        fit = plan_fit(view, 9_000)
        assert (fit.state, fit.over) == ("too_large", view.count.tokens + 9_000 - 8_000)
        talk.say(words(9_000))
        assert isinstance(talk.ended.error, MessageTooLarge)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("history", [(), ("Hi", "Hello"), (words(2_000), words(2_000))])
def test_the_verdict_is_the_session_s(exact, history):
    """For sizes around the room, refused is what the session refuses."""
    for more in (-60, 60):
        with Talk(history, exact=exact) as talk:
            view = looked_at(talk)
            room = plan_fit(view, 0).room
            text = words((room + more) / (1.0 if exact else 1.2))
            path = (*talk.path, Entry("draft", talk.session_id, None, 0, user(text)))
            after = asyncio.run(talk.session.peek(path))
            fit = plan_fit(view, after.count.tokens - view.count.tokens)
            talk.say(text)
            refused = isinstance(talk.ended.error, MessageTooLarge)
            assert (fit.state == "too_large") == refused == (more > 0)


def test_without_compaction_it_is_sent_whole_as_long_as_it_can_be():
    """Over the budget is said; what leaves no room for a reply is refused."""
    off = ContextSettings(enabled=False)
    with Talk((words(3_000), words(3_000)), settings=off) as talk:
        view = looked_at(talk)
        assert plan_fit(view, 4_000).state == "over"
        most = view.budget.window - MIN_REPLY_TOKENS - view.count.tokens
        room = plan_fit(view, 0).room
        assert room + MESSAGE_OVERHEAD_TOKENS < most, "the room is what counts here"


def test_without_compaction_the_window_is_the_end():
    """A conversation that nearly fills it takes no message more."""
    off = ContextSettings(enabled=False)
    with Talk((words(8_000), words(7_000)), settings=off) as talk:
        fit = plan_fit(looked_at(talk), 1_000)
    assert fit.state == "too_large"
    assert fit.room < 1_000


# ---- compactions --------------------------------------------------------------------------------


def test_the_ledger_has_the_last_first():
    """With figures, and which one counts; the second was taken back."""
    with Talk() as talk:
        first = Compaction("a", "gone", 9_000, 3_000, way="in_place", seconds=6.0, model="m")
        entries = put(
            talk,
            user("a"),
            Compaction(**{**fields(first), "facts": {"folded": 24}}),
            user("b"),
            Compaction("b", "gone", 8_000, 4_000, facts={"degraded": True, "folded": "many"}),
            user("c"),
        )
        put(talk, undoing_entry(entries[3].id, undone=True))
        last, before = plan_ledger(talk.path)
    assert (last.entry, last.undone, last.counts, last.degraded) == (
        entries[3].id,
        True,
        False,
        True,
    )
    assert last.folded == 0
    assert (before.entry, before.undone, before.counts) == (entries[1].id, False, True)
    assert (before.before, before.after, before.folded, before.seconds) == (9_000, 3_000, 24, 6.0)


def fields(body):
    return {name: getattr(body, name) for name in body.__dataclass_fields__}


def test_an_edit_is_no_compaction():
    """It changes the words of one."""
    with Talk() as talk:
        fold = put(talk, user("a"), Compaction("a", "gone"))[1]
        put(talk, Compaction("b", "gone", facts={"edits": fold.id}))
        assert [line.entry for line in plan_ledger(talk.path)] == [fold.id]


def test_no_model_no_view():
    """Looking loads nothing."""
    with Talk(("Hi", "Hello")) as talk:
        assert asyncio.run(talk.session.peek(talk.path)) is None
        assert talk.backend.loads == []
