"""Public bug reports of other programs the engine is immune to; ids are those of the list of cases.

Each test plays the smallest way into the trouble, and a relative of it. What a window, a server or a
disk has to do with is tested where that is (readiness, backends, store).
"""

import asyncio
import itertools
from dataclasses import replace

import pytest

from engine.budget import MIN_PROMPT_TOKENS, plan_budget, plan_targets
from engine.compact import CompactionPlan
from engine.context import ContextSettings, plan_folding
from engine.errors import ContextOverflow, MessageTooLarge
from engine.events import CompactionEnded, CompactionStarted, Receipt, TurnEnded
from engine.testing import Script, ScriptedBackend, asks_for_summary
from engine.tokens import estimate_messages, estimate_text, spec_tokens
from engine.transcript import Compaction, Message, Text, ToolCall, user
from tests.engine.estimator_texts import texts
from tests.engine.long_talk import diary
from tests.engine.talks import GOOD_SUMMARY, Talk, words

NO_RESERVE = ContextSettings(reserve_tokens=0, reserve_floor=0)


def history(count=16, tokens=1_000):
    """Messages of so many tokens, told apart by their numbers; user and model by turns."""
    return tuple(f"Message {n}. " + words(tokens - 6) for n in range(count))


def size(request):
    return estimate_messages(request.messages)


def prompt(request):
    """Everything a model gets to read, as one text."""
    return "\n".join(message.content for message in request.messages)


class Limited(Talk):
    """A conversation whose model may write so many tokens."""

    max_tokens = 12_000

    def plan(self, *args, **more):
        return replace(super().plan(*args, **more), max_tokens=self.max_tokens)


def turns(talk, texts_):
    """Say the texts one after the other; the events of each turn."""
    every = []
    for text in texts_:
        talk.say(text)
        every.append(tuple(talk.events))
    return every


def of_kind(events, kind):
    return [event for event in events if isinstance(event, kind)]


# ---- C01, C02, C04, C09: what is sent ---------------------------------------------------------------


@pytest.mark.parametrize("exact", [True, False], ids=["counted", "reported"])
def test_c01_old_turns_are_folded_not_cut(exact):
    """Past the window the first turn is in a summary, and no request is larger than the window."""
    with Talk(("My boat is called Freya.", "Noted."), exact=exact, reply=words(120)) as talk:
        for number in range(12):
            talk.say(diary(number, 900))
            assert talk.ended.reason == "stop"
        assert talk.compactions
        assert all(size(request) < 16_384 for request in talk.backend.requests)
        assert "Freya" in prompt(talk.chats[-1])


@pytest.mark.parametrize("before", [(), history(4, 500)], ids=["first-message", "later"])
def test_c02_long_paste_is_refused_not_halved(before):
    """20,000 tokens in a 16K window: nothing is sent, size and room are told, the text is kept."""
    with Talk(before) as talk:
        path = talk.path
        talk.say(words(20_000))
        assert isinstance(talk.ended.error, MessageTooLarge)
        assert talk.ended.error.room_tokens > 5_000
        assert talk.backend.requests == []
        assert talk.path == path


def test_c04_helper_calls_use_the_same_window():
    """Replies and summaries, in place and staged: one num_ctx in every request of a chat."""
    for settings in (ContextSettings(), ContextSettings(in_place=False)):
        with Talk(history(), settings=settings) as talk:
            talk.say("One")
            talk.run(talk.session.compact())
            assert talk.summaries
            assert {request.window_tokens for request in talk.backend.requests} == {16_384}
            assert {request.window_tokens for request in talk.backend.loads} == {16_384}


@pytest.mark.parametrize("tokens", [12_526, 40_000])
def test_c09_gauge_never_passes_100_percent_at_send_time(tokens):
    """A file larger than a small window: refused; what was sent always fits."""
    with Talk(history(4, 300), window=4_096) as talk:
        talk.say("One", words(tokens), "Two")
        sent = [event.sent_tokens for event in talk.told(Receipt)]
        assert sent
        assert all(size(request) + request.max_tokens <= 4_096 for request in talk.chats)


# ---- C08: rolling window re-reads everything ----------------------------------------------------------


def prefix_changes(talk):
    """How often a request did not begin with the one before it, byte for byte."""
    return sum(
        after.messages[: len(before.messages)] != before.messages
        for before, after in itertools.pairwise(talk.chats)
    )


@pytest.mark.parametrize(
    ("window", "exact", "page"),
    [(16_384, True, 500), (16_384, False, 350), (8_192, True, 250), (32_768, True, 700)],
    ids=["16k", "16k-reported", "8k", "32k"],
)
def test_c08_thirty_turns_past_the_limit_keep_their_prefix(window, exact, page):
    """Compaction in rare big steps; between them only what is new is read."""
    with Talk(window=window, exact=exact, reply=words(40)) as talk:
        every = turns(talk, [*(diary(number, page) for number in range(30)), "And now?"])
        assert prefix_changes(talk) == len(talk.compactions)
        assert 2 <= len(talk.compactions) <= 6
        compacted = [bool(of_kind(events, CompactionStarted)) for events in every]
        read = [of_kind(events, Receipt)[0].usage.read_tokens for events in every]
        quiet = [
            tokens
            for tokens, before, now in zip(read[1:], compacted, compacted[1:], strict=False)
            if not (before or now)
        ]
        assert len(quiet) >= 15
        assert max(quiet) < 2 * page


def test_c08_retry_and_reopening_read_nothing_twice():
    """Regenerating, and going on in another process: the same beginning, byte for byte."""
    with Talk(history(), reply="Yes.") as talk:
        talk.say("One")
        talk.run(talk.session.answer())
        talk.session = talk.open()
        talk.say("Two")
        first, again, later = talk.chats
        assert again.messages == first.messages
        assert later.messages[: len(first.messages)] == first.messages


def test_c08_shortened_tool_results_change_the_prefix_once():
    """What was shortened stays as it is; it is not cut anew at every turn."""
    with Talk(history(2, 200)) as talk:
        add_tool_turn(talk, words(9_000))
        turns(talk, ["One", "Two", "Three", "Four"])
        assert prefix_changes(talk) == 0
        [result] = {m.content for r in talk.chats for m in r.messages if m.role == "tool"}
        assert "truncated" in result


def add_tool_turn(talk, text, call="c1"):
    """A stored turn with one tool call and its result."""
    bodies = (
        user("Look it up."),
        Message("assistant", (ToolCall(call, "read", {}),), stop_reason="tool_calls"),
        Message("tool_result", (Text(text),), tool_call_id=call, tool_name="read"),
        Message("assistant", (Text("Found."),), stop_reason="stop"),
    )
    talk.store.append_all(talk.session_id, bodies)


# ---- C11: the reply's reserve eats the history --------------------------------------------------------


@pytest.mark.parametrize("max_tokens", [12_000, 16_384, 1 << 20])
def test_c11_raising_the_reply_limit_drops_no_history(max_tokens):
    """12K of reply in a 16K window: every message is sent, the reply's limit gives way."""
    before = history(7, 1_000)
    with Limited(before) as talk:
        talk.max_tokens = max_tokens
        talk.session = talk.open()
        talk.say("And now?")
        [request] = talk.chats
        assert [m.content for m in request.messages] == [*before, "And now?"]
        assert request.max_tokens == min(max_tokens, 16_384 - size(request))
        assert not talk.compactions


@pytest.mark.parametrize(
    ("reserve", "floor", "effective", "words_"),
    [
        (12_000, 0, 8_384, "capped at 8,384 so that 8,000 remain for the prompt"),
        (12_000, 20_000, 8_384, "raised to the floor 20,000, then capped at 8,384"),
        (8_384, 0, 8_384, ""),
        (16_384, 0, 8_384, "capped at 8,384"),
        (10**9, 10**9, 8_384, "capped at 8,384"),
    ],
)
def test_c11_reserve_is_clamped_and_it_is_said(reserve, floor, effective, words_):
    """The prompt's minimum holds whatever is typed; the explanation says what became of it."""
    budget = plan_budget(16_384, reserve, floor)
    assert (budget.reserve, budget.prompt) == (effective, MIN_PROMPT_TOKENS)
    assert words_ in budget.explanation
    assert bool(budget.explanation) is bool(words_)


def test_c11_reserve_of_12k_sends_the_same_history():
    """As a setting: 7,000 tokens are within the budget, all of them are sent."""
    before = history(7, 1_000)
    settings = ContextSettings(reserve_tokens=12_000, reserve_floor=0)
    with Talk(before, settings=settings) as talk:
        talk.say("And now?")
        assert [m.content for m in talk.chats[0].messages][:-1] == list(before)


# ---- C12: a blank summary replaces a good one ---------------------------------------------------------

BLANK = {
    "thinking-only": Script("", thinking="I should summarise this first of all."),
    "nothing": "",
    "white-space": " \n\t ",
    "empty-tags": "<summary>\n</summary>",
    "empty-fence": "```\n```",
    "thinking-in-tags": "<think>Let me see what was said.</think>",
}


@pytest.mark.parametrize("in_place", [True, False], ids=["in-place", "staged"])
@pytest.mark.parametrize("blank", BLANK.values(), ids=BLANK)
def test_c12_blank_summary_never_replaces_a_good_one(blank, in_place):
    """The older summary and all messages stay, and it is said; the conversation goes on."""
    with Talk(history(6), settings=ContextSettings(in_place=in_place)) as talk:
        talk.run(talk.session.compact(), talk.session.send(words(700)))
        [good] = talk.compactions
        talk.summary = blank
        talk.run(talk.session.compact())
        assert talk.ended.outcome == "failed"
        assert "unchanged" in talk.ended.text
        assert talk.compactions == [good]
        talk.say("And now?")
        assert prompt(talk.chats[-1]).count(GOOD_SUMMARY) == 1


def test_c12_blank_summary_before_a_request_is_told_in_the_turn():
    """Over the budget, under the window: it is sent whole, and the user knows why."""
    with Talk(history(12), summary=BLANK["thinking-only"]) as talk:
        talk.say("Go on")
        assert talk.compactions == []
        assert talk.told(CompactionEnded)[0].outcome == "failed"
        assert "over_budget" in talk.notices
        assert talk.ended.reason == "stop"


# ---- C14: reasoning stored as the summary ---------------------------------------------------------------

REASONING = "First I look at what the user wants, then at the lamp, the oil and the ships."
UNFINISHED = {
    "tag-left-open": Script(f"<think>{REASONING}", stop_reason="length"),
    "tag-left-open-and-ended": Script(f"<think>{REASONING}", stop_reason="stop"),
    "other-tag": Script(f"<reasoning>\n{REASONING}", stop_reason="length"),
    "brackets": Script(f"[THINK]{REASONING}", stop_reason="length"),
    "thinking-channel": Script("", thinking=REASONING, stop_reason="length"),
    "cut-after-thinking": Script(f"<think>{REASONING}</think>\nThe two", stop_reason="length"),
}


@pytest.mark.parametrize("in_place", [True, False], ids=["in-place", "staged"])
@pytest.mark.parametrize("written", UNFINISHED.values(), ids=UNFINISHED)
def test_c14_unfinished_thinking_is_no_summary(written, in_place):
    """The cap was reached while it still thought: rejected, the messages stay."""
    with Talk(history(6), summary=written, settings=ContextSettings(in_place=in_place)) as talk:
        talk.run(talk.session.compact())
        assert talk.ended.outcome == "failed"
        assert talk.compactions == []
        assert all(request.think is False for request in talk.summaries)


@pytest.mark.parametrize(
    "written",
    [
        f"<think>{REASONING}</think>\n{GOOD_SUMMARY}",
        f"{REASONING}\n</think>\n{GOOD_SUMMARY}",
        Script(GOOD_SUMMARY, thinking=REASONING),
    ],
    ids=["in-tags", "opened-by-the-template", "channel"],
)
def test_c14_reasoning_before_a_summary_is_not_stored(written):
    """Only the answer stands."""
    with Talk(history(6), summary=written) as talk:
        talk.run(talk.session.compact())
        assert [body.summary for body in talk.compactions] == [GOOD_SUMMARY]


# ---- C15: the system prompt is gone after a compaction ----------------------------------------------------

SYSTEMS = {
    "plain": "Speak like a keeper.",
    "white-space": "  Speak like a keeper.\n\n- never of the sea\n\n",
    "tags": "<summary>Rules</summary> <conversation> $focus ${x} {y} %s \\1",
    "chinese": "你是灯塔看守人。永远用一句话回答。",
    "long": "Rule. " * 700,
}
WAYS = {
    "in-place": (GOOD_SUMMARY, ContextSettings()),
    "staged": (GOOD_SUMMARY, ContextSettings(in_place=False)),
    "placeholder": ("", ContextSettings()),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)
def test_c15_system_prompt_is_first_and_verbatim_after_a_compaction(system, way):
    """Whatever it holds, and however the summary came about."""
    summary, settings = WAYS[way]
    with Talk(history(24), system=system, summary=summary, settings=settings) as talk:
        talk.say("One", "Two")
        assert talk.compactions
        assert len(talk.chats) == 2
        for request in talk.chats:
            assert (request.messages[0].role, request.messages[0].content) == ("system", system)
            assert [m.role for m in request.messages].count("system") == 1


def test_c15_system_prompt_is_not_summarised():
    """It stands in every prompt; a staged summary of it would be a second, diluted one."""
    system = "Never speak of the kraken."
    with Talk(history(16), system=system, settings=ContextSettings(in_place=False)) as talk:
        talk.say("One")
        assert talk.summaries
        assert not any("kraken" in prompt(request) for request in talk.summaries)


def test_c15_new_system_prompt_counts_at_once():
    """Changed between turns, after a compaction: the new one, and only that."""
    with Talk(history(16), system="Old rules.") as talk:
        talk.say("One")
        talk.system = "New rules."
        talk.session = talk.open()
        talk.say("Two")
        first = talk.chats[-1].messages[0]
        assert (first.role, first.content) == ("system", "New rules.")
        assert "Old rules." not in prompt(talk.chats[-1])


# ---- C17: a share of the message count is kept --------------------------------------------------------------


@pytest.mark.parametrize("exact", [True, False], ids=["counted", "reported"])
def test_c17_six_huge_messages_are_cut_by_tokens(exact):
    """6 × 2,500 tokens in 16K: under the target afterwards, and the next turns do not compact."""
    with Talk(history(6, 2_500 if exact else 1_900), exact=exact) as talk:
        talk.say("One")
        [body] = talk.compactions
        budget = plan_budget(16_384)
        assert body.tokens_after <= plan_targets(budget).target
        every = turns(talk, ["Two", "Three", "Four"])
        assert not any(of_kind(events, CompactionStarted) for events in every)


def test_c17_two_hundred_tiny_messages_are_cut_by_tokens_too():
    """The other way round: a share of the count would keep next to nothing, or all."""
    with Talk(history(300, 50)) as talk:
        talk.say("One")
        [body] = talk.compactions
        budget = plan_budget(16_384)
        target = plan_targets(budget).target
        assert 0.5 * target <= body.tokens_after <= target


def test_c17_where_the_target_cannot_be_reached_it_stops_and_says_why():
    """A message of nearly all the room, and little else: no compaction in vain, turn for turn."""
    with Talk(history(2, 300)) as talk:
        talk.say(words(20_000))
        room = talk.ended.error.room_tokens
        talk.say(words(room - 60))
        every = turns(talk, ["One", "Two", "Three"])
        started = [event for events in every for event in of_kind(events, CompactionStarted)]
        assert len(started) <= 1
        assert all(events[-1].reason == "stop" for events in every)


# ---- C19: a reserve as large as the window ------------------------------------------------------------------


@pytest.mark.parametrize("window", [4_096, 16_000, 16_384, 32_768])
@pytest.mark.parametrize("reserve", ["window", "more"])
def test_c19_reserve_as_large_as_the_window_leaves_a_prompt(window, reserve):
    """Limited to a part of the window; small turns are sent without any compaction."""
    tokens = window if reserve == "window" else 10 * window
    settings = ContextSettings(reserve_tokens=tokens, reserve_floor=tokens)
    with Talk(window=window, settings=settings) as talk:
        every = turns(talk, [f"Turn {n}." for n in range(12)])
        assert not any(of_kind(events, CompactionStarted) for events in every)
        assert plan_budget(window, tokens, tokens).prompt == min(8_000, window // 2)


def test_c19_max_output_as_large_as_the_window():
    """A model that may write as much as its window holds: the prompt still has its budget."""
    with Limited(history(4, 600), reply=words(30)) as talk:
        talk.max_tokens = 16_384
        talk.session = talk.open()
        turns(talk, [f"Turn {n}. " + words(200) for n in range(8)])
        assert talk.compactions == []
        assert all(r.max_tokens == 16_384 - size(r) for r in talk.chats)


def test_c19_full_windows_do_not_compact_endlessly():
    """Usable 8,000 of 16,384 and a conversation far past it: a few compactions in thirty turns."""
    settings = ContextSettings(reserve_tokens=16_384, reserve_floor=16_384)
    with Talk(settings=settings, reply=words(40)) as talk:
        turns(talk, [diary(number, 450) for number in range(30)])
        assert 2 <= len(talk.compactions) <= 5


# ---- C20: the compaction itself does not fit -----------------------------------------------------------------

JUMPS = {
    "of-the-window": (10, 1_000, 7_000, NO_RESERVE),
    "of-the-budget": (5, 950, 3_600, ContextSettings()),
}


@pytest.mark.parametrize("way", ["in-place", "staged"])
@pytest.mark.parametrize("jump", JUMPS.values(), ids=JUMPS)
def test_c20_jump_from_60_to_105_percent(jump, way):
    """One message takes it over: every request of the compaction fits, then it is answered."""
    count, tokens, message, settings = jump
    settings = replace(settings, in_place=way == "in-place")
    with Talk(history(count, tokens), settings=settings) as talk:
        budget = plan_budget(16_384, settings.reserve_tokens, settings.reserve_floor).prompt
        before = sum(estimate_text(text) + 8 for text in history(count, tokens))
        assert 0.55 < before / budget < 0.65
        talk.say(words(message))
        assert talk.told(CompactionStarted)[0].before_tokens > 1.04 * budget
        assert talk.ended.reason == "stop"
        assert size(talk.chats[0]) <= budget
        assert all(size(r) + r.max_tokens <= 16_384 for r in talk.backend.requests)


def test_c20_summariser_that_overflows_itself_does_not_end_the_conversation():
    """Every request for a summary is refused: what needs no model stands in, the turn goes on."""
    count, tokens, message, settings = JUMPS["of-the-window"]
    refused = Script("x", fault=ContextOverflow("It does not fit."))
    with Talk(history(count, tokens), settings=settings, summary=refused) as talk:
        talk.say(words(message))
        assert talk.ended.reason == "stop"
        [body] = talk.compactions
        assert (body.way, body.facts["degraded"]) == ("placeholder", True)
        assert len(talk.summaries) < 30


def test_c20_summariser_that_only_takes_small_requests():
    """A server whose window is far smaller than believed: pieces are halved until they fit."""

    def refuse(request):
        if size(request) > 2_500:
            return Script("x", fault=ContextOverflow("It does not fit."))
        return GOOD_SUMMARY

    with Talk(history(20, 700), summary=refuse) as talk:
        talk.say("Go on")
        assert talk.compactions[0].way == "staged"
        assert talk.ended.reason == "stop"


def test_c20_whole_history_over_the_window_at_once():
    """An imported conversation of three windows: chunked by construction, then answered."""
    with Talk(history(50, 1_000)) as talk:
        talk.say("Go on")
        assert talk.ended.reason == "stop"
        assert size(talk.chats[0]) <= 8_000
        assert all(size(r) + r.max_tokens <= 16_384 for r in talk.backend.requests)


# ---- C21: the compaction loop -----------------------------------------------------------------------------------


def as_long(request):
    """A summary as long as what it is of."""
    return " ".join(message.content for message in request.messages)


def a_little_shorter(request):
    """It saves 5 %, again and again."""
    text = as_long(request)
    return text[: len(text) * 19 // 20]


@pytest.mark.parametrize("summary", [as_long, a_little_shorter, words(3_500), ""])
def test_c21_summariser_that_does_not_shrink_is_not_asked_for_ever(summary):
    """Twelve turns over the budget: a failed try is not repeated in every turn."""
    with Talk(history(9), summary=summary) as talk:
        every = turns(talk, [f"Turn {n}." for n in range(12)])
        started = [len(of_kind(events, CompactionStarted)) for events in every]
        assert max(started) == started[0] == 1
        assert sum(started) <= 2
        assert talk.compactions == []
        assert all(events[-1].reason == "stop" for events in every)


@pytest.mark.parametrize("summary", [as_long, ""], ids=["as-long", "blank"])
def test_c21_conversation_that_cannot_shrink_stops_with_choices(summary):
    """Over the window and nothing left to fold: a fault with what the user can do, no loop."""
    with Talk(settings=NO_RESERVE, summary=summary) as talk:
        talk.store.append(talk.session_id, user(words(17_000)))
        talk.run(talk.session.answer())
        assert isinstance(talk.ended, TurnEnded)
        assert isinstance(talk.ended.error, ContextOverflow)
        assert "new conversation" in talk.ended.error.remedy
        assert talk.chats == []
        assert len(talk.summaries) <= 20


def test_c21_growing_conversation_is_tried_again_now_and_then():
    """It may work later: after the context has grown by a tenth of the budget."""
    with Talk(history(9), summary="") as talk:
        every = turns(talk, [f"Turn {n}. " + words(300) for n in range(10)])
        started = [len(of_kind(events, CompactionStarted)) for events in every]
        assert 1 < sum(started) <= 5
        talk.summary = GOOD_SUMMARY
        turns(talk, [f"More {n}. " + words(300) for n in range(6)])
        assert talk.compactions


# ---- C25: facts die at the second summary -------------------------------------------------------------------------

VALUES = {
    "path": "/srv/lamps/config/beam.toml",
    "url": "https://harbour.example/notes?id=7741",
    "hash": "9f2c4e1ab07d5563",
    "port": "8443",
    "date": "2027-03-14",
    "amount": "1,250.50 kg",
    "name": "Marit Solvang",
    "version": "v3.11.4-rc2",
}
ENGLISH = [
    f"The file is {VALUES['path']}, please remember.",
    f"The notes are at {VALUES['url']} now.",
    f"The commit is {VALUES['hash']}.",
    f"The server listens on port {VALUES['port']}.",
    f"Delivery is on {VALUES['date']}.",
    f"It will be {VALUES['amount']} of glass.",
    f"My name is {VALUES['name']}.",
    f"We run {VALUES['version']} there.",
]
CHINESE = [
    f"配置文件在 {VALUES['path']}。",
    f"说明见 {VALUES['url']} 。",
    f"提交是 {VALUES['hash']}。",
    f"服务器监听端口 {VALUES['port']}。",
    f"交货日期是 {VALUES['date']}。",
    f"一共 {VALUES['amount']} 玻璃。",
    f"联系人 Marit Solvang 会来。我叫 {VALUES['name']}。",
    f"我们用的版本是 {VALUES['version']}。",
]
VAGUE = {
    "en": "They spoke of a file, a server and a delivery, and of someone who will come.",
    "zh": "他们谈到了一个文件、一台服务器和一次交货，还有一位联系人。",
}


@pytest.mark.parametrize(
    ("said", "vague"),
    [(ENGLISH, VAGUE["en"]), (CHINESE, VAGUE["zh"])],
    ids=["english", "chinese"],
)
@pytest.mark.parametrize("exact", [True, False], ids=["counted", "reported"])
def test_c25_values_stated_in_eight_turns_survive_three_compactions(said, vague, exact):
    """Labels instead of values in every summary: the program carries them word for word."""
    with Talk(exact=exact, summary=vague) as talk:
        turns(talk, said)
        for number in range(3):
            talk.say(f"Go on {number}. " + words(900), "More. " + words(900))
            talk.run(talk.session.compact())
            assert talk.ended.outcome == "done"
        talk.say("What do you know?")
        seen = prompt(talk.chats[-1])
        assert {name for name, value in VALUES.items() if value in seen} == set(VALUES)


def test_c25_value_that_one_summary_had_is_there_after_the_next():
    """The first summary names the port, the second only speaks of a port."""
    with Talk((*history(6, 300),)) as talk:
        talk.say("The server listens on port 8443.")
        talk.summary = "The server listens on port 8443; the lamp is next."
        turns(talk, ["Go on. " + words(700)] * 3)
        talk.run(talk.session.compact())
        talk.summary = "The server has a port; the lamp is next."
        turns(talk, ["Go on. " + words(700)] * 3)
        talk.run(talk.session.compact())
        talk.say("Which port?")
        assert "8443" in prompt(talk.chats[-1])


def test_c25_values_survive_a_placeholder():
    """No model could summarise: the values are carried all the same."""
    with Talk((" ".join(ENGLISH), "Noted.", *history(22)), summary="") as talk:
        talk.say("Go on")
        assert talk.compactions[0].facts["degraded"] is True
        seen = prompt(talk.chats[0])
        assert sum(value in seen for value in VALUES.values()) == len(VALUES)


# ---- C26: Chinese text counted at a quarter -----------------------------------------------------------------------


def chinese(number):
    """A message of some hundred characters."""
    text = texts()["chinese"]
    start = 150 * number % (len(text) - 400)
    return f"第{number}条。{text[start : start + 400]}"


def test_c26_chinese_chat_stays_within_16k_uncounted():
    """Forty messages against a server that only reports: never over, and it goes on compacting."""
    summary = "他们在谈灯塔的历史，看守人的清单做了一半，下一步是修灯。"
    with Talk(exact=False, summary=summary, reply=lambda r: chinese(len(r.messages))) as talk:
        every = turns(talk, [chinese(number) for number in range(40)])
        assert all(events[-1].reason == "stop" for events in every)
        assert len(talk.compactions) >= 2
        counted = ScriptedBackend()
        for request in talk.backend.requests:
            tokens = asyncio.run(counted.count(request))
            assert tokens + request.max_tokens <= 16_384
            assert tokens <= 8_000 or asks_for_summary(request)


def test_c26_kept_tail_is_measured_in_real_tokens():
    """A tail of 2,000 tokens is 2,000 tokens, and not 8,000 characters."""
    with Talk(
        tuple(chinese(number) for number in range(40)),
        settings=ContextSettings(keep_recent=2_000),
        summary="他们在谈灯塔的历史，看守人的清单做了一半，下一步是修灯。",
    ) as talk:
        view = asyncio.run(talk.session.look())
        folding = plan_folding(view)
        assert isinstance(folding, CompactionPlan)
        kept = sum(item.tokens for item in folding.kept)
        assert kept <= 2_000 + max(item.tokens for item in folding.kept)
        characters = sum(len(item.entry.body.text) for item in folding.kept)
        assert characters < 2_600


def test_c26_estimate_of_chinese_is_at_least_a_token_a_character():
    """The specification's estimate stays a quarter of that; it decides nothing."""
    text = texts()["chinese"]
    han = sum("\u4e00" <= character <= "\u9fff" for character in text)
    assert estimate_text(text) >= han
    assert spec_tokens(user(text)) <= len(text) / 4 + 1


# ---- C23: compacted and nobody said --------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_c23_compaction_is_told_and_still_there_after_a_restart(way):
    """Before and after in events and in the transcript, with the way it came about."""
    summary, settings = WAYS[way]
    with Talk(history(24), summary=summary, settings=settings) as talk:
        talk.say("Go on")
        [started], [ended] = talk.told(CompactionStarted), talk.told(CompactionEnded)
        assert (started.before_tokens, started.folded) == (ended.before_tokens, ended.folded)
        stored = [e.body for e in talk.store.path(talk.session_id) if e.id == ended.entry.id]
        assert [type(body) for body in stored] == [Compaction]
        assert (stored[0].tokens_before, stored[0].tokens_after) == (
            ended.before_tokens,
            ended.after_tokens,
        )
        assert stored[0].way
