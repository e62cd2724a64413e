"""Earlier thinking: what of it a prompt has by each rule, and that the rest weighs nothing."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.backends.base import PromptMessage, PromptRequest
from engine.context import ContextSettings, plan_estimate, plan_seen, weighed_entries
from engine.lens import plan_lens, plan_prompt, sent_text
from engine.models import ModelName, Wishes, plan_model
from engine.prompt import plan_message, plan_messages
from engine.settings import ModelSettings
from engine.testing import ScriptedBackend, reply
from engine.thinking import plan_history, think_of
from engine.tokens import SAFETY_MARGIN, UNCALIBRATED, estimate_messages
from engine.transcript import (
    BranchSummary,
    Compaction,
    CustomMessage,
    Entry,
    Message,
    Pin,
    Text,
    Thinking,
    TokenIds,
    ToolCall,
    Usage,
    user,
)
from engine.weighing import count_parted
from tests.engine.talks import Talk, words

RULES = ("drop", "last", "keep")
KINDS = ("user", "reply", "silent", "calling", "result", "summary", "note", "branch", "pin")


def body_of(kind, number):
    """A body of a kind; every thinking is its own word."""
    thought = Thinking(f"thought{number}.")
    match kind:
        case "user":
            return user(f"Question {number}.")
        case "reply":
            ids = TokenIds("v", (number,))
            return Message("assistant", (thought, Text(f"Answer {number}.")), token_ids=ids)
        case "silent":
            return Message("assistant", (thought,), stop_reason="failed")
        case "calling":
            return Message("assistant", (thought, ToolCall(f"c{number}", "clock", {})))
        case "result":
            return Message("tool_result", (Text(f"Result {number}."),), f"c{number - 1}", "clock")
        case "summary":
            return Compaction(f"Summary {number}.", "gone")
        case "note":
            return CustomMessage("note", f"Note {number}.")
        case "branch":
            return BranchSummary("gone", f"Branch {number}.")
        case _:
            return Pin("gone")


def entries_of(kinds):
    return [Entry(str(i), "s", None, i, body_of(kind, i)) for i, kind in enumerate(kinds)]


kinds = st.lists(st.sampled_from(KINDS), max_size=14)
TOOL_TURN = ("user", "reply", "user", "calling", "result", "calling", "result")


# ---- the rules ----------------------------------------------------------------------------------


@given(kinds, st.sampled_from(RULES))
@example(TOOL_TURN, "last")
def test_no_thinking_of_a_dropped_reply_is_in_any_message(kinds, rule):
    """What a message has as thinking is all there is of thinking in the prompt; the rest is gone."""
    entries = entries_of(kinds)
    planned = plan_messages(entries, "System.", rule)
    sent = {message.thinking for message in planned if message.thinking}
    thoughts = {e.body.thinking for e in entries if isinstance(e.body, Message)} - {""}
    assert sent <= thoughts
    assert not any(thought in repr(planned) for thought in thoughts - sent)


@given(kinds)
def test_drop_sends_no_thinking(kinds):
    """Nothing of it, in any message."""
    assert not any(m.thinking for m in plan_messages(entries_of(kinds), "", "drop"))


@given(kinds)
def test_keep_sends_all_thinking(kinds):
    """Of every reply that is sent at all, as it is."""
    entries = entries_of(kinds)
    messages = (plan_message(entry) for entry in entries)
    assert plan_messages(entries, "", "keep") == tuple(m for m in messages if m is not None)


@given(kinds)
@example(TOOL_TURN)
@example((*TOOL_TURN, "reply"))
@example(("calling", "result", "silent", "pin"))
def test_last_sends_the_thinking_of_the_running_turn(kinds):
    """Of replies that called tools, since the last words of a user and the last answer."""
    planned = plan_messages(entries_of(kinds), "", "last")
    over = [i for i, m in enumerate(planned) if m.role == "user" or _answers(m)]
    begin = over[-1] + 1 if over else 0
    for index, message in enumerate(planned):
        has_some = index >= begin and bool(message.tool_calls)
        assert bool(message.thinking) == has_some


def _answers(message):
    return message.role == "assistant" and not message.tool_calls


@given(kinds, st.sampled_from(RULES))
def test_planning_again_changes_nothing(kinds, rule):
    """And what loses nothing is the same entry."""
    entries = entries_of(kinds)
    once = plan_history(entries, rule)
    assert all(a is b for a, b in zip(plan_history(once, rule), once, strict=True))
    for before, after in zip(entries, once, strict=True):
        assert after is before or before.body.thinking


@given(kinds, st.sampled_from(RULES))
@example(TOOL_TURN, "last")
def test_a_message_more_changes_the_prompt_from_the_running_turn_at_most(kinds, rule):
    """What a backend has read of everything before stays good."""
    entries = entries_of(kinds)
    before = plan_messages(entries, "System.", rule)
    after = plan_messages([*entries, *entries_of(["user"])], "System.", rule)
    kept = next((i for i, m in enumerate(before) if m.thinking), len(before))
    same = len(before) if rule == "keep" else kept
    assert after[:same] == before[:same]


@pytest.mark.parametrize("rule", ["drop", "last"])
def test_a_reply_without_its_thinking_goes_without_the_ids_that_spell_it(rule):
    """Its words are spelled anew: the ids say more than is sent."""
    [planned] = plan_messages(entries_of(["reply"]), "", rule)
    assert planned == PromptMessage("assistant", "Answer 0.")


def test_a_reply_that_thought_nothing_keeps_its_ids():
    """They spell exactly what is sent."""
    body = Message("assistant", (Text("Paris"),), token_ids=TokenIds("v", (1, 2)))
    [planned] = plan_messages([Entry("0", "s", None, 0, body)], "", "drop")
    assert (planned.token_ids, planned.vocabulary) == ((1, 2), "v")


# ---- what it weighs -----------------------------------------------------------------------------


def a_path(*bodies):
    return tuple(Entry(f"e{i}", "s", None, i, body) for i, body in enumerate(bodies))


@pytest.mark.parametrize("rule", RULES)
def test_entries_are_weighed_as_they_are_sent(rule):
    """The folded ones too: they would come back without their thinking."""
    path = a_path(
        user("Why?"),
        reply("So.", thinking="hm"),
        Pin("e1"),
        Compaction("Said.", "e5"),
        user("And?"),
        reply("Then.", thinking="hm"),
    )
    settings = ContextSettings(thinking_history=rule)
    weighed = {e.id: e.body for e in weighed_entries(path, settings)}
    kept = {id_ for id_ in ("e1", "e5") if weighed[id_].thinking}
    assert kept == ({"e1", "e5"} if rule == "keep" else set())
    assert {e.id: e.body for e in plan_seen(path, settings)}.items() <= weighed.items()


class Counting(ScriptedBackend):
    """Counts as it is told to, and remembers what for."""

    def __init__(self, *, exact=True, prints=True):
        super().__init__(exact=exact)
        self.prints = prints
        self.counted = []

    async def count(self, request):
        self.counted.append(request)
        if not self.prints:
            messages = tuple(replace(m, thinking="") for m in request.messages)
            request = replace(request, messages=messages)
        return await super().count(request)


def parted(backend, *messages):
    request = PromptRequest("test", messages, 16_384, 1)
    return asyncio.run(count_parted(backend, request)), backend.counted


THOUGHTFUL = PromptMessage("assistant", "So.", thinking="Let me see. " * 20)


def test_the_share_of_thinking_is_what_the_prompt_is_smaller_without():
    """Counted exactly; the prompt itself last, as it is what will be sent."""
    (whole, thinking), asked = parted(Counting(), THOUGHTFUL)
    assert whole == estimate_messages((THOUGHTFUL,))
    assert thinking == whole - estimate_messages((replace(THOUGHTFUL, thinking=""),)) > 0
    assert asked[-1].messages == (THOUGHTFUL,)


def test_thinking_that_a_template_leaves_out_weighs_nothing():
    """What is sent and not printed is no part of the prompt."""
    (whole, thinking), _ = parted(Counting(prints=False), THOUGHTFUL)
    assert (whole, thinking) == (estimate_messages((replace(THOUGHTFUL, thinking=""),)), 0)


def test_a_prompt_without_thinking_is_counted_once():
    """Which is nearly every one."""
    (_, thinking), asked = parted(Counting(), PromptMessage("user", "Hi"))
    assert (thinking, len(asked)) == (0, 1)


def test_nobody_counts_where_nobody_can():
    """The estimate tells then."""
    (whole, thinking), _ = parted(Counting(exact=False), THOUGHTFUL)
    assert (whole, thinking) == (None, 0)


def reported(thinking, written):
    """A reply whose server said what it read and wrote."""
    parts = (*((Thinking(thinking),) if thinking else ()), Text("Yes."))
    usage = Usage(read_tokens=1_000, written_tokens=written)
    return Message("assistant", parts, model="m", stop_reason="stop", usage=usage)


def anchored(body, rule):
    path = a_path(user("Why?"), body)
    settings = ContextSettings(thinking_history=rule)
    visible = plan_seen(path, settings)
    weights = {
        e.id: estimate_messages((plan_message(e),)) for e in weighed_entries(path, settings)
    }
    return plan_estimate(
        path, visible, weights, system_tokens=0, calibration=UNCALIBRATED, model="m"
    ), weights["e1"]


def test_a_report_counts_without_the_thinking_that_is_not_sent_again():
    """The server said what it wrote, thinking included; its words alone go back, with a margin."""
    count, words_alone = anchored(reported("Let me see. " * 100, 400), "last")
    assert count.kind == "anchored"
    assert 1_000 + words_alone <= count.tokens <= 1_000 + words_alone * SAFETY_MARGIN + 1


@pytest.mark.parametrize(("thinking", "rule"), [("", "last"), ("Let me see.", "keep")])
def test_a_report_counts_whole_where_all_of_the_reply_is_sent(thinking, rule):
    """Nothing of it is left out."""
    count, _ = anchored(reported(thinking, 400), rule)
    assert count.tokens == 1_400


def test_a_report_is_never_raised_by_leaving_thinking_out():
    """An estimate of the words that is larger than all that was written says nothing."""
    count, _ = anchored(reported("Hm.", 2), "last")
    assert count.tokens == 1_002


# ---- what is shown of it ------------------------------------------------------------------------


def shown(rule):
    with Talk(thinking=rule) as talk:
        for body in (user("Why?"), reply("So.", thinking="Let me see.")):
            talk.store.append(talk.session_id, body)
        talk.run(talk.session.compact())
        view = asyncio.run(talk.session.peek(talk.path))
        return plan_prompt(view, "")[-1], plan_lens(view, talk.path)[-1]


def test_the_prompt_shows_the_thinking_that_goes_along():
    """What is shown is what is sent."""
    sent, _ = shown("keep")
    assert sent_text(sent.message) == "Let me see.\nSo."


def test_a_reply_is_sent_verbatim_though_its_thinking_is_not():
    """Thinking is nothing that was said."""
    sent, seen = shown("last")
    assert sent_text(sent.message) == "So."
    assert (seen.state, seen.tokens) == ("verbatim", seen.whole)


# ---- the settings of a model --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choice", "think"),
    [(None, None), ("off", False), ("on", True), ("low", "low"), ("max", "max")],
)
def test_choices_in_a_request(choice, think):
    """Off and on are a switch, levels are words, nothing is left to the model."""
    assert think_of(choice) is think if not isinstance(think, str) else think_of(choice) == think


def test_a_models_settings_are_in_its_plan():
    """Unset, it thinks as it does by itself, and gets the thinking of the running turn only."""
    name = ModelName("ollama", "m", "ollama:m")
    plain = plan_model(name, Wishes())
    told = plan_model(name, Wishes(settings=ModelSettings(think="high", thinking_history="keep")))
    assert (plain.think, plain.thinking_history) == (None, "last")
    assert (told.think, told.thinking_history) == ("high", "keep")
    assert plain.loads_as(told), "nothing of it needs the model to be loaded again"


# ---- in a conversation --------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["drop", "last"])
def test_a_session_sends_no_earlier_thinking(rule):
    """And asks for thinking as the model's settings say, in every turn."""
    with Talk(thinking=rule, think="high") as talk:
        talk.store.append(talk.session_id, user("Why?"))
        talk.store.append(talk.session_id, reply("So.", thinking="Let me see."))
        talk.say("And?", "Then?")
        assert [r.think for r in talk.chats] == ["high", "high"]
        assert not any(m.thinking for r in talk.chats for m in r.messages)


def test_a_session_sends_all_thinking_where_it_is_kept():
    """By the model's rule."""
    with Talk(thinking="keep") as talk:
        talk.store.append(talk.session_id, user("Why?"))
        talk.store.append(talk.session_id, reply("So.", thinking="Let me see."))
        talk.say("And?")
        assert [m.thinking for m in talk.chats[-1].messages] == ["", "Let me see.", ""]


@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize("think", [True, "max"])
def test_summaries_are_written_without_thinking(in_place, think):
    """In place and in stages, whatever the model is set to; and without any of its earlier one."""
    settings = ContextSettings(in_place=in_place)
    with Talk(thinking="keep", think=think, settings=settings) as talk:
        for number in range(8):
            talk.store.append(talk.session_id, user(words(600)))
            body = reply(f"Noted {number}.", thinking=f"secret{number}")
            talk.store.append(talk.session_id, body)
        talk.run(talk.session.compact())
        assert {r.think for r in talk.summaries} == {False}
        assert "secret" not in repr(talk.summaries)
        assert talk.compactions[-1].way == ("in_place" if in_place else "staged")
        assert talk.compactions[-1].tokens_after < talk.compactions[-1].tokens_before
