"""A conversation that outgrows its window: what is compacted, when, and what never happens."""

import asyncio

import pytest

from engine.context import ContextSettings
from engine.errors import (
    BackendRefused,
    BackendSilent,
    BackendUnreachable,
    ContextOverflow,
    MessageTooLarge,
)
from engine.events import (
    CompactionEnded,
    CompactionProgress,
    CompactionStarted,
    Receipt,
    TextDelta,
    TurnEnded,
    TurnStarted,
)
from engine.testing import Script, ScriptedBackend
from engine.transcript import Custom, Message, Text, ToolCall
from engine.view import SHORTENED, UNSENT
from tests.engine.talks import GOOD_SUMMARY, Talk, words


def long_history(turns=8, tokens=1_000):
    """Turns of two messages with `tokens` each, every message told apart by its number."""
    texts = (f"Message {n}. " + words(tokens - 6) for n in range(2 * turns))
    return tuple(texts)


def sizes(talk):
    """Prompt sizes of the chat requests in tokens."""
    return [asyncio.run(talk.backend.count(request)) for request in talk.chats]


# ---- before a request ---------------------------------------------------------------------------


def test_conversation_over_budget_is_compacted_before_it_is_sent():
    """16 messages of 1,000 tokens in a 16K window: folded first, then sent within 8,000."""
    with Talk(long_history()) as talk:
        talk.say("What is next?")
        assert talk.ended.reason == "stop"
        assert (
            next(type(e) for e in talk.events if "Compaction" in type(e).__name__)
            is CompactionStarted
        )
        assert sizes(talk)[0] <= 8_000
        [compaction] = talk.compactions
        assert (compaction.summary, compaction.reason) == (GOOD_SUMMARY, "preemptive")
        assert compaction.tokens_after < compaction.tokens_before


def test_what_is_sent_after_a_compaction_is_system_summary_tail_and_question():
    """System prompt first and verbatim, one summary, the tail, the question last and verbatim."""
    with Talk(long_history(), system="Speak like a keeper.\n") as talk:
        talk.say("What is *next*? ")
        messages = talk.chats[0].messages
        assert (messages[0].role, messages[0].content) == ("system", "Speak like a keeper.\n")
        assert GOOD_SUMMARY in messages[1].content
        assert sum(GOOD_SUMMARY in m.content for m in messages) == 1
        assert messages[-1].content == "What is *next*? "
        assert messages[-2].content.startswith("Message 15.")


def test_summary_is_asked_for_at_the_end_of_what_was_read():
    """In place: the request is the conversation so far, unchanged, and one instruction."""
    with Talk(long_history(turns=3)) as talk:
        talk.say("One", "Two " + words(2_500))
        [summary] = talk.summaries
        before = talk.chats[0].messages
        assert summary.messages[: len(before)] == before
        assert [m.role for m in summary.messages[len(before) :]] == ["assistant", "user"]
        assert talk.compactions[0].way == "in_place"


def test_summary_request_has_the_same_window_and_no_thinking():
    """Another num_ctx would make a server load the model again; thinking is off for it."""
    with Talk(long_history()) as talk:
        talk.say("Go on")
        assert {r.window_tokens for r in talk.backend.requests} == {16_384}
        assert all(r.think is False for r in talk.summaries)


def test_nothing_of_the_exchange_with_the_summariser_enters_the_transcript():
    """The transcript gains the question, the compaction and the reply; nothing else, nothing less."""
    with Talk(long_history()) as talk:
        before = talk.path
        talk.say("Go on")
        assert talk.path[: len(before)] == before
        kinds = [type(entry.body).__name__ for entry in talk.path[len(before) :]]
        assert kinds == ["Message", "Compaction", "Message"]


def test_compaction_events_carry_counted_figures():
    """Before and after are what the prompt really had and has."""
    with Talk(long_history()) as talk:
        talk.say("Go on")
        [ended] = talk.told(CompactionEnded)
        assert ended.outcome == "done"
        assert ended.after_tokens == sizes(talk)[0] == talk.compactions[0].tokens_after
        assert ended.before_tokens > 8_000
        assert "Compacted" in ended.text
        assert talk.told(CompactionProgress)


def test_session_counts_its_compactions_and_their_tokens():
    """The counters of SPEC2 7.4 rise."""
    with Talk(long_history()) as talk:
        talk.say("Go on")
        row = talk.store.session(talk.session_id)
        assert row.compaction_count == 1
        assert row.output_tokens > 0


def test_compaction_is_not_repeated_by_the_next_turns():
    """Small turns after a compaction are sent at once (no stale usage, no loop)."""
    with Talk(long_history()) as talk:
        talk.say("One", "Two", "Three")
        assert len(talk.summaries) == len(talk.compactions) == 1


def test_answering_again_after_a_compaction_does_not_compact_again():
    """Regenerate keeps the compaction that was made for the question."""
    with Talk(long_history()) as talk:
        talk.say("Go on")
        talk.run(talk.session.answer())
        assert talk.ended.reason == "stop"
        assert len(talk.summaries) == 1
        assert talk.chats[1].messages == talk.chats[0].messages


def test_switched_off_the_conversation_is_sent_whole_while_it_fits():
    """compaction.enabled = false: nothing is folded, the user is told that the budget is passed."""
    with Talk(long_history(turns=5), settings=ContextSettings(enabled=False)) as talk:
        talk.say("Go on")
        assert talk.summaries == []
        assert talk.ended.reason == "stop"
        assert "over_budget" in talk.notices


def test_switched_off_a_refusal_is_told_and_nothing_is_folded():
    """compaction.enabled = false holds after an overflow too: figures and choices, no summary."""
    fault = ContextOverflow("It does not fit.")
    settings = ContextSettings(enabled=False)
    with Talk(long_history(turns=3), settings=settings, reply=Script("x", fault=fault)) as talk:
        talk.say("Go on")
        assert talk.summaries == []
        assert isinstance(talk.ended.error, ContextOverflow)
        assert "new conversation" in talk.ended.error.remedy


# ---- summaries that may not stand -----------------------------------------------------------------

BAD_SUMMARIES = {
    "C12 blank": "",
    "C12 thinking only": Script("", thinking="I should summarise this."),
    "C14 unfinished thinking": Script("<think>First I look at", stop_reason="length"),
    "C21 as long as its input": lambda r: " ".join(m.content for m in r.messages),
    "refused": "I'm sorry, but I can't help with that.",
    "stopped in the middle": Script("The two", stop_reason="failed"),
}


@pytest.mark.parametrize("bad", BAD_SUMMARIES.values(), ids=BAD_SUMMARIES)
def test_bad_summary_is_refused_and_everything_stays(bad):
    """The older summary and all messages stay, the user is told, the turn goes on."""
    history = long_history(turns=3)
    with Talk(history) as talk:
        talk.run(talk.session.compact(), talk.session.send(words(900)))
        good = talk.compactions
        talk.summary = bad
        talk.say("Two " + words(2_600), "Three " + words(2_600))
        assert talk.compactions == good
        assert any("could not be compacted" in e.text for e in talk.told(CompactionEnded))
        assert talk.ended.reason == "stop"
        assert GOOD_SUMMARY in talk.chats[-1].messages[0].content


def test_at_most_one_compaction_is_tried_in_a_turn():
    """C21: a summariser that never shrinks is asked a bounded number of times, in every turn."""
    with Talk(
        long_history(turns=5), summary=lambda r: " ".join(m.content for m in r.messages)
    ) as talk:
        asked = []
        for text in ("One", "Two", "Three"):
            before = len(talk.summaries)
            talk.say(text)
            asked.append(len(talk.summaries) - before)
            assert (
                len(talk.told(CompactionStarted)) <= 2
            )  # before the request, and after the reply
        assert max(asked) <= 20
        assert talk.ended.reason == "stop"


def test_placeholder_stands_only_where_the_turn_could_not_go_on():
    """Over the window, no summary to be had: a degraded compaction, marked, and the turn goes on."""
    with Talk(long_history(turns=12), summary="") as talk:
        talk.say("Go on")
        [compaction] = talk.compactions
        assert compaction.way == "placeholder"
        assert compaction.facts["degraded"] is True
        assert talk.ended.reason == "stop"
        assert "placeholder" in talk.told(CompactionEnded)[0].text


def test_compaction_after_a_placeholder_starts_from_the_originals():
    """What only a placeholder stood for is summarised once a model can."""
    with Talk(long_history(turns=12), summary="") as talk:
        talk.say("Go on")
        talk.summary = GOOD_SUMMARY
        talk.backend.requests.clear()
        talk.run(talk.session.compact())
        read = "".join(m.content for r in talk.summaries for m in r.messages)
        assert "Message 0." in read
        assert talk.compactions[-1].summary.strip()
        assert not talk.compactions[-1].facts.get("degraded")


# ---- after a refusal ------------------------------------------------------------------------------


def overflow(window=0):
    return Script("x", fault=ContextOverflow("It does not fit.", window_tokens=window))


def test_refused_prompt_is_compacted_and_sent_again():
    """An overflow the server reports: compacted, retried, answered; the refusal leaves no trace."""
    with Talk(long_history(turns=3), scripts=(overflow(),)) as talk:
        talk.say("Go on")
        assert talk.ended.reason == "stop"
        assert talk.compactions[0].reason == "overflow"
        first, second = sizes(talk)
        assert second < first
        replies = [e.body for e in talk.path if isinstance(e.body, Message) and e.body.error]
        assert replies == []


OVERFLOWS = [
    "the request exceeds the available context size. try increasing it",
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
    "prompt too long; exceeded max context length by 12 tokens",
    "上下文过长，请缩短后重试",
]


@pytest.mark.parametrize("words_of_server", OVERFLOWS)
def test_overflow_is_recognised_in_a_server_s_own_words(words_of_server):
    """Servers that refuse with a sentence of their own."""
    fault = BackendRefused("Refused.", detail=words_of_server, status=400)
    with Talk(long_history(turns=3), scripts=(Script("x", fault=fault),)) as talk:
        talk.say("Go on")
        assert talk.compactions[0].reason == "overflow"
        assert talk.ended.reason == "stop"


def test_rate_limit_is_no_overflow():
    """It is told, and nothing is compacted."""
    fault = BackendRefused("Refused.", detail="Rate limit reached: too many tokens per minute")
    with Talk(long_history(turns=3), scripts=(Script("x", fault=fault),)) as talk:
        talk.say("Go on")
        assert talk.compactions == []
        assert talk.ended.error is fault


def test_overflow_is_compacted_for_three_times_at_most():
    """A server that refuses everything: bounded, every compaction smaller, then choices."""
    with Talk(long_history(turns=7, tokens=500), scripts=()) as talk:
        talk.reply = lambda request: overflow()
        talk.say("Go on")
        assert isinstance(talk.ended.error, ContextOverflow)
        assert "new conversation" in talk.ended.error.remedy
        assert 1 <= len(talk.chats) <= 4
        assert sizes(talk) == sorted(sizes(talk), reverse=True)
        assert len(set(sizes(talk))) == len(sizes(talk))


def test_learned_window_holds_for_later_turns():
    """The window a refusal tells is believed from then on."""
    with Talk(long_history(turns=4, tokens=900), scripts=(overflow(window=6_000),)) as talk:
        talk.say("Go on", *["More " + words(600)] * 8)
        assert all(size <= 6_000 for size in sizes(talk)[1:])
        assert talk.ended.reason == "stop"


def test_timeout_of_a_long_prompt_is_compacted_for_twice_at_most():
    """Over 65 % of the window: compact and try again, twice; then the fault is told."""
    settings = ContextSettings(reserve_tokens=0, reserve_floor=0)
    with Talk(long_history(turns=6), settings=settings) as talk:
        talk.reply = Script("x", fault=BackendSilent("It said nothing."))
        talk.say("Go on")
        assert isinstance(talk.ended.error, BackendSilent)
        reasons = [compaction.reason for compaction in talk.compactions]
        assert reasons == ["timeout"] * len(reasons)
        assert 1 <= len(reasons) <= 2


def test_timeout_of_a_short_prompt_has_another_reason():
    """Nothing is compacted for it."""
    with Talk(long_history(turns=2)) as talk:
        talk.reply = Script("x", fault=BackendSilent("It said nothing."))
        talk.say("Go on")
        assert talk.compactions == []
        assert isinstance(talk.ended.error, BackendSilent)


def test_reply_that_has_begun_is_never_asked_for_again():
    """A fault in the middle of a reply keeps what was written."""
    fault = ContextOverflow("Window full.")
    with Talk(
        long_history(turns=3), scripts=(Script("one two", fault=fault, fault_after=1),)
    ) as talk:
        talk.say("Go on")
        assert talk.ended.error is fault
        assert talk.path[-1].body.text == "one"
        assert len(talk.chats) == 1


# ---- after a reply --------------------------------------------------------------------------------


def test_context_that_outgrew_its_budget_is_compacted_after_the_reply():
    """The threshold: the reply stands first, then the compaction, then the turn ends."""
    with Talk(long_history(turns=3), reply=words(2_500)) as talk:
        talk.say("Go on")
        assert talk.compactions[0].reason == "threshold"
        kinds = [type(event) for event in talk.events]
        assert kinds.index(Receipt) < kinds.index(CompactionStarted) < kinds.index(TurnEnded)
        talk.reply = "Yes."
        talk.say("And now?")
        assert not talk.told(CompactionStarted)


def test_stop_during_the_compaction_after_a_reply_leaves_a_good_turn():
    """The reply is there and whole; the compaction is not; nothing failed."""
    with Talk(long_history(turns=3), reply=words(2_500)) as talk:
        talk.summary = Script("one two three", hold_after=1)

        def stop_it(event):
            if isinstance(event, CompactionProgress) and event.doing == "writing":
                talk.session.stop()

        talk.say("Go on", until=stop_it)
        assert (talk.ended.reason, talk.ended.error) == ("stop", None)
        assert talk.compactions == []
        assert [e.outcome for e in talk.told(CompactionEnded)] == ["stopped"]


def test_stop_during_a_compaction_before_the_request_ends_the_turn():
    """Nothing is folded, nothing is sent, the message stays."""
    with Talk(long_history(), summary=Script("one two three", hold_after=1)) as talk:

        def stop_it(event):
            if isinstance(event, CompactionProgress) and event.doing == "writing":
                talk.session.stop()

        talk.say("Go on", until=stop_it)
        assert talk.ended.reason == "stopped"
        assert talk.compactions == []
        assert talk.chats == []
        assert talk.path[-1].body.text == "Go on"


# ---- by the user ----------------------------------------------------------------------------------


def test_manual_compaction_folds_a_short_conversation_too():
    """/compact works whatever the size, with its focus in the request and in the entry."""
    with Talk(long_history(turns=3, tokens=200)) as talk:
        talk.run(talk.session.compact("the colour of the lamp"))
        [compaction] = talk.compactions
        assert (compaction.reason, compaction.focus) == ("manual", "the colour of the lamp")
        assert "the colour of the lamp" in talk.summaries[0].messages[-1].content
        assert talk.ended.outcome == "done"


@pytest.mark.parametrize("history", [(), ("Hello",), ("Hello", "Good day")])
def test_manual_compaction_of_nothing_says_so(history):
    """An empty or tiny conversation: no request, no entry, a sentence."""
    with Talk(history) as talk:
        talk.run(talk.session.compact())
        assert talk.ended.outcome == "nothing"
        assert talk.ended.text
        assert talk.summaries == []


def test_manual_compaction_twice_says_that_nothing_was_said_since():
    """The second finds nothing to do."""
    with Talk(long_history(turns=3, tokens=200)) as talk:
        talk.run(talk.session.compact(), talk.session.compact())
        assert talk.ended.outcome == "nothing"
        assert len(talk.compactions) == 1


def test_failing_backend_fails_the_manual_compaction_with_its_sentence():
    """Nothing is changed, the reason is told."""
    fault = BackendUnreachable("No server answers.")
    with Talk(long_history(turns=3), summary=Script("x", fault=fault)) as talk:
        talk.run(talk.session.compact())
        assert talk.ended.outcome == "failed"
        assert "No server answers." in talk.ended.text
        assert talk.compactions == []


# ---- messages that cannot fit -----------------------------------------------------------------------


def test_message_that_cannot_fit_is_refused_before_it_is_sent():
    """20,000 tokens in a 16K window: size, room and choices are told; it is kept, not as sent."""
    with Talk(long_history(turns=2)) as talk:
        before = talk.path
        text = words(20_000)
        talk.say(text)
        error = talk.ended.error
        assert isinstance(error, MessageTooLarge)
        assert (error.prompt_tokens, error.window_tokens) > (19_000, 16_000)
        assert 0 < error.room_tokens < 8_000
        assert f"{error.room_tokens:,}" in str(error)
        assert talk.path == before
        assert talk.backend.requests == []
        kept = [e.body for e in talk.store.entries(talk.session_id) if isinstance(e.body, Custom)]
        assert [body.data["text"] for body in kept if body.custom_type == UNSENT] == [text]


def test_message_that_just_fits_is_sent_after_folding_everything_else():
    """What the room says is true: a message of that size goes through."""
    with Talk(long_history(turns=3)) as talk:
        talk.say(words(20_000))
        room = talk.ended.error.room_tokens
        talk.say(words(room - 50))
        assert talk.ended.reason == "stop"
        assert sizes(talk)[-1] <= 8_000


def test_long_message_is_kept_when_the_model_cannot_be_loaded():
    """Nobody can say whether it fits: it is taken as any other, and the fault is told."""
    with Talk() as talk:
        talk.backend.models = ()
        text = words(5_000)
        talk.say(text)
        assert talk.path[0].body.text == text
        assert talk.ended.reason == "failed"
        assert [type(event) for event in talk.events] == [TurnStarted, TurnEnded]


# ---- another model ----------------------------------------------------------------------------------


def test_smaller_window_compacts_for_the_target_first():
    """A model switch from 32K to 16K: the next request is within the smaller budget."""
    with Talk(long_history(turns=6, tokens=900), window=32_768) as talk:
        talk.say("One")
        talk.session.switch(talk.plan(16_384, "small"), talk.backend)
        talk.say("Two")
        first, second = sizes(talk)
        assert first > 8_000 >= second
        assert talk.ended.reason == "stop"


# ---- tool results -------------------------------------------------------------------------------------


def tool_turn(store, session, *results):
    """A stored turn with a call and its result for each of the texts."""
    from engine.transcript import user

    store.append(session, user("Look it up."))
    for number, text in enumerate(results):
        call = ToolCall(f"c{number}", "read_file", {"path": f"notes-{number}.txt"})
        store.append(session, Message("assistant", (call,), stop_reason="tool_calls"))
        result = Message("tool_result", (Text(text),), tool_call_id=call.id, tool_name="read_file")
        store.append(session, result)
    store.append(session, Message("assistant", (Text("Found."),), stop_reason="stop"))


def test_long_tool_results_are_shortened_without_a_summary():
    """Shortening alone does: no model is asked, the entries stay as they are, the user is told."""
    with Talk(long_history(turns=1, tokens=200)) as talk:
        tool_turn(talk.store, talk.session_id, words(10_000))
        before = talk.path
        talk.say("And?")
        assert talk.summaries == []
        assert talk.path[: len(before)] == before
        assert sum(getattr(e.body, "custom_type", "") == SHORTENED for e in talk.path) == 1
        assert sizes(talk)[-1] <= 8_000
        assert "results_shortened" in talk.notices
        result = next(m for m in talk.chats[-1].messages if m.role == "tool")
        assert "truncated" in result.content


def test_call_and_result_stay_together_after_every_cut():
    """Every request: each tool message follows its call, each call has its result."""
    with Talk(long_history(turns=2, tokens=700)) as talk:
        for _ in range(3):
            tool_turn(talk.store, talk.session_id, words(900), words(900))
            talk.say("And? " + words(300))
        for request in talk.chats:
            open_calls = []
            for message in request.messages:
                if message.role == "tool":
                    assert open_calls.pop(0) == message.tool_call_id
                    continue
                assert open_calls == []
                open_calls = [call.id for call in message.tool_calls]
            assert open_calls == []


# ---- exact values ---------------------------------------------------------------------------------------

FACTS = {
    "path": "/srv/lamps/config/beam.toml",
    "url": "https://harbour.example/notes?id=7741",
    "hash": "9f2c4e1ab07d5563",
    "port": "8443",
    "date": "2027-03-14",
    "amount": "1,250.50 kg",
    "name": "Marit Solvang",
    "version": "v3.11.4-rc2",
}


def test_eight_values_survive_three_compactions_with_vague_summaries():
    """C25: the program carries them, whatever the model writes."""
    said = (
        f"My name is {FACTS['name']}. The file is {FACTS['path']}, see {FACTS['url']}. "
        f"The commit is {FACTS['hash']}, the server listens on port {FACTS['port']}. "
        f"Delivery is on {FACTS['date']}: {FACTS['amount']} of glass. We run {FACTS['version']}."
    )
    with Talk(
        (said, "Noted.", *long_history(turns=3)), summary="They spoke of several things."
    ) as talk:
        for number in range(3):
            talk.say(f"Go on {number}. " + words(2_400), "More. " + words(2_400))
            talk.run(talk.session.compact())
        assert len(talk.compactions) >= 3
        talk.say("What do you know?")
        prompt = "\n".join(message.content for message in talk.chats[-1].messages)
        assert {name for name, value in FACTS.items() if value in prompt} == set(FACTS)


# ---- a backend that cannot count --------------------------------------------------------------------------


def test_uncounted_backend_is_anchored_on_what_it_reported():
    """After a reply its own figures count; only what is newer is estimated."""
    with Talk(exact=False) as talk:
        talk.say("One", "Two")
        receipt = talk.told(Receipt)[0]
        assert receipt.sent_kind == "anchored"


def test_uncounted_backend_stays_within_the_window_too():
    """30 turns against a server that only reports afterwards: never over, and it compacts."""
    with Talk(exact=False, reply=words(300)) as talk:
        for number in range(30):
            talk.say(f"Turn {number}. " + words(250))
            assert talk.ended.reason == "stop"
        assert talk.compactions
        assert max(request_size(r) for r in talk.backend.requests) < 16_384


def request_size(request):
    return asyncio.run(ScriptedBackend().count(request))


def test_text_deltas_are_of_the_reply_only():
    """What the summariser writes is not shown as if it were the answer."""
    with Talk(long_history()) as talk:
        talk.say("Go on")
        assert "".join(e.text for e in talk.told(TextDelta)) == "Yes."
