"""A conversation in a window of 16,384 tokens on an Ollama server, over its real socket.

The double follows the real server's rules: it cuts, refuses and loads again as that does. A token
is a word, so what a prompt really had is in its log (`seen`), and a token takes a millisecond to
read, so what was read twice is in the receipts.
"""

import asyncio
import itertools
import json
import threading
import time

import pytest

from engine.backends.base import PromptMessage
from engine.errors import (
    BackendRefused,
    BackendSilent,
    ContextOverflow,
)
from engine.events import (
    CompactionEnded,
    CompactionProgress,
    CompactionStarted,
    Receipt,
)
from engine.testing.ollama import MODELS, OllamaDouble
from engine.testing.ollama_rules import Model, Refusal, nested_overflow, words_of
from engine.testing.ollama_script import BUSY, Answer, Close, Drop, EndEarly, Error, Reply, Silence
from engine.tokens import estimate_messages
from tests.backends.ollama_desk import BUDGET, PATIENCE, SUMMARY, WHOLE, WINDOW, Desk, is_summary
from tests.engine.long_talk import complaints, diary


@pytest.fixture
def server():
    with OllamaDouble() as double:
        yield double


@pytest.fixture
def desk(server):
    """Makes desks; their stores are closed at the end."""
    made = []

    def make(*history, at=None, **fields):
        made.append(Desk(at or server, history, **fields))
        return made[-1]

    yield make
    for one in made:
        one.store.close()


def page(number, tokens):
    """A page of the diary that is estimated at about so many tokens, the margin included.

    By the double's tokenizer it has half of them.
    """
    return diary(number, round(tokens / 1.57))


def pages(count, tokens=700):
    """A history of so many messages, every second one the user's."""
    return tuple(page(number, tokens) for number in range(count))


def count_words(body):
    """Words of a request's prompt."""
    return len(words_of(body["messages"]))


# ---- sixty turns ------------------------------------------------------------------------------


def sixty_turns(desk, server):
    """A conversation of sixty turns; what was told of it, and the server's log."""
    talker = desk(at=server)
    rows = talker.long_talk([diary(number, 420) for number in range(60)])
    return talker, rows


@pytest.fixture(scope="module")
def long_desk():
    """The sixty turns that several tests look at."""
    with OllamaDouble() as double:
        talker, rows = sixty_turns(lambda at: Desk(at), double)
        yield talker, rows
        talker.store.close()


def test_sixty_turns(long_desk):
    """Within the budget, 2 to 5 compactions that each free 30 %, nothing read twice between them."""
    talker, rows = long_desk
    assert list(complaints(rows, WINDOW, slack=1)) == []
    assert max(count_words(body) for body in talker.chats) <= BUDGET
    assert {compaction.way for compaction in talker.compactions} == {"in_place"}
    assert len(talker.summaries) == len(talker.compactions)


def test_sixty_turns_are_neither_cut_nor_loaded_again(long_desk):
    """The server gave the model every prompt whole, and loaded it once."""
    talker, _ = long_desk
    given = [(list(seen.messages), list(seen.words)) for seen in talker.server.seen]
    assert given == [(body["messages"], words_of(body["messages"])) for body in talker.bodies]
    assert talker.server.loads == [("m", WINDOW)]


def test_sixty_turns_have_the_same_load_options(long_desk):
    """Window, refusal instead of cutting, keep-alive: alike in replies, summaries and loads."""
    talker, _ = long_desk
    bodies = talker.server.bodies()
    assert len(talker.summaries) >= 2
    assert len(bodies) > len(talker.bodies) >= 62
    assert {body["options"]["num_ctx"] for body in bodies} == {WINDOW}
    assert {(body["truncate"], body["shift"], body["keep_alive"]) for body in bodies} == {
        (False, False, "30m")
    }
    assert not any(
        {"num_batch", "num_gpu", "num_thread"} & set(body["options"]) for body in bodies
    )


@pytest.mark.parametrize("version", ["0.12.6", "0.30.9"])
def test_sixty_turns_on_older_servers(desk, version):
    """The same on every server that refuses instead of cutting."""
    with OllamaDouble(version=version) as server:
        _, rows = sixty_turns(lambda at: desk(at=at), server)
    assert list(complaints(rows, WINDOW, slack=1)) == []
    assert server.loads == [("m", WINDOW)]


# ---- in place ---------------------------------------------------------------------------------

LONG_REPLY = diary(99, 6_000)


def in_place(desk, trigger):
    """A conversation with one compaction: after a long reply, or before a large message."""
    talker = desk(*pages(10))
    talker.say("Go on.", page(20, 4_000))
    if trigger == "threshold":
        talker.reply = LONG_REPLY
        talker.say("Tell me all.")
        talker.reply = "Noted."
    else:
        talker.say(page(21, 4_200))
    [compaction] = talker.compactions
    assert (compaction.reason, compaction.way) == (trigger, "in_place")
    return talker


@pytest.fixture(params=["threshold", "preemptive"])
def folded(request, desk):
    """After a reply, and before a request."""
    return in_place(desk, request.param)


def test_the_instruction_is_appended_to_what_was_read(folded):
    """Previous request, reply, instruction: the server keeps its prefix and reads only the last."""
    [summary] = folded.summaries
    before = folded.bodies[folded.bodies.index(summary) - 1]["messages"]
    assert summary["messages"][: len(before)] == before
    reply, instruction = summary["messages"][len(before) :]
    assert reply["role"] == "assistant"
    assert reply["content"] in ("Noted.", LONG_REPLY)
    assert instruction["role"] == "user"
    seen = {len(seen.messages): seen.words for seen in folded.server.seen}
    read, written = seen[len(before)], reply["content"].split()
    assert list(seen[len(before) + 2][: len(read) + len(written)]) == [*read, *written]


def test_thinking_is_off_for_the_summary_only(folded):
    """The conversation's own requests leave it to the model."""
    assert [body["think"] for body in folded.summaries] == [False]
    assert not any("think" in body for body in folded.chats)


def test_the_summary_has_its_own_limit(folded):
    """The cap of the summary, not the rest of the window."""
    [summary] = folded.summaries
    assert 512 <= summary["options"]["num_predict"] <= 960
    assert count_words(summary) + summary["options"]["num_predict"] < WINDOW


def test_nothing_of_the_exchange_is_in_later_requests_but_the_summary(folded):
    """The instruction never comes again, the summary stands once, at the beginning."""
    folded.say("And then?", "And after that?")
    [summary] = folded.summaries
    instruction = summary["messages"][-1]["content"]
    later = folded.bodies[folded.bodies.index(summary) + 1 :]
    assert len(later) >= 2
    for body in later:
        texts = [message["content"] for message in body["messages"]]
        assert instruction not in texts
        assert [SUMMARY in text for text in texts] == [True] + [False] * (len(texts) - 1)
    assert not any(asks_for_instruction(entry) for entry in folded.path)


def asks_for_instruction(entry):
    text = getattr(entry.body, "text", "")
    return bool(text) and is_summary([{"content": text}])


def test_requests_after_a_compaction_grow_by_appending(folded):
    """The prefix after it is stable again."""
    folded.say("And then?", "And after that?", "And then?")
    [summary] = folded.summaries
    later = folded.bodies[folded.bodies.index(summary) + 1 :]
    for before, after in itertools.pairwise(body["messages"] for body in later):
        assert after[: len(before)] == before
        assert len(after) == len(before) + 2


# ---- the server refuses -----------------------------------------------------------------------

REFUSALS = {
    "0.12.6": "the input length exceeds the context length",
    "0.30": nested_overflow(7_900, 6_500),
    "0.30.9": "the prompt is longer than the context length currently available to the model; "
    "shorten the prompt, adjust the context length in settings, or use a model with a longer "
    "context length",
    "runner": "exceed_context_size_error: request exceeds the available context size",
}


@pytest.mark.parametrize("text", REFUSALS.values(), ids=REFUSALS)
def test_a_refused_prompt_is_compacted_and_sent_again(desk, server, text):
    """Each of the server's own texts: one compaction, a smaller prompt, the reply; no trace."""
    talker = desk(*pages(10))
    server.fail(Error(text, status=400))
    talker.say("What is next?")
    assert talker.ended.reason == "stop", talker.ended.error
    assert [compaction.reason for compaction in talker.compactions] == ["overflow"]
    refused, answered = talker.chats
    assert count_words(answered) < count_words(refused)
    assert answered["messages"][-1] == refused["messages"][-1]
    assert [entry.body.text for entry in talker.path if getattr(entry.body, "error", None)] == []


def greedy(tokens_per_word):
    """A server whose model needs several tokens for a word."""
    return OllamaDouble((*MODELS, Model("greedy", tokens_per_word=tokens_per_word)))


def test_a_prompt_that_was_underestimated_is_refused_by_the_server_itself(desk):
    """What was taken for 7,000 tokens has 17,850: refused with figures, believed, compacted."""
    with greedy(5) as server:
        talker = desk(*pages(10), at=server, model="greedy")
        talker.say("What is next?")
        assert talker.ended.reason == "stop", talker.ended.error
        assert talker.compactions[0].reason == "overflow"
        assert server.loads == [("greedy", WINDOW)]
        ratio = talker.book.of("ollama:greedy").ratio
        assert ratio > 2
        talker.say(*("More. " + diary(n, 150) for n in range(30, 36)))
        assert talker.ended.reason == "stop", talker.ended.error
        assert max(len(seen.words) for seen in server.seen[-6:]) < WINDOW


def test_a_window_that_shrank_unseen_is_learned_from_the_refusal(desk):
    """The server lost memory and could not say so: its refusal does, for all later turns."""
    with greedy(2) as server:
        talker = desk(*pages(10), at=server, model="greedy")
        talker.say("Go on.")
        server.state.window_limit = 6_000
        server.state.runners.clear()
        for _ in range(2):  # before the load, and after it
            server.fail(Answer(404, "404 page not found", "text/plain"), "/api/ps")
        talker.say("And now?")
        assert talker.ended.reason == "stop", talker.ended.error
        assert talker.compactions[0].reason == "overflow"
        assert server.windows() == {"greedy": 6_000}
        before = len(server.seen)
        talker.say(*(page(n, 300) for n in range(40, 52)))
        assert talker.ended.reason == "stop", talker.ended.error
        assert len(server.seen) >= before + 12
        assert max(len(seen.words) for seen in server.seen[before:]) < 6_000


def test_a_server_that_refuses_everything_is_asked_four_times_at_most(desk, server):
    """At most three compactions, each for a smaller prompt; then figures and choices."""

    def refuse(seen):
        raise Refusal(400, "the input length exceeds the context length")

    talker = desk(*pages(14, 500), reply=refuse)
    talker.say("What is next?")
    error = talker.ended.error
    assert isinstance(error, ContextOverflow)
    assert "new conversation" in error.remedy
    sizes = [count_words(body) for body in talker.chats]
    assert 2 <= len(sizes) <= 4
    assert sizes == sorted(set(sizes), reverse=True)
    reasons = [compaction.reason for compaction in talker.compactions]
    assert reasons == ["overflow"] * len(reasons)
    assert 1 <= len(reasons) <= 3


def test_a_refused_summary_is_written_in_stages(desk, server):
    """In place does not fit where the server says so: the pieces do."""
    talker = desk(*pages(10))

    def refuse_once(seen):
        talker.summary = SUMMARY
        raise Refusal(400, REFUSALS["0.30.9"])

    talker.summary = refuse_once
    talker.run(talker.session.compact())
    assert talker.ended.outcome == "done", talker.ended.text
    assert talker.compactions[0].way == "staged"


NO_OVERFLOWS = {
    "429": Answer(429, '{"error":"too many requests, slow down"}', "application/json"),
    "429 in an envelope": Answer(
        429,
        json.dumps(
            {"error": {"message": "Rate limit: request too large, 30000 tokens per minute"}}
        ),
        "application/json",
    ),
    "503": Error(BUSY, status=503),
    "503 page": Answer(503),
    "402": Answer(402, '{"error":"insufficient quota for input tokens"}', "application/json"),
}


@pytest.mark.parametrize("fault", NO_OVERFLOWS.values(), ids=NO_OVERFLOWS)
def test_a_busy_server_is_no_overflow(desk, server, fault):
    """Limits by time, queues and quotas: told once, nothing compacted, nothing sent again."""
    talker = desk(*pages(10))
    server.fail(fault)
    talker.say("What is next?")
    assert isinstance(talker.ended.error, BackendRefused)
    assert talker.compactions == []
    assert len(talker.bodies) == 1


# ---- the server loads less --------------------------------------------------------------------


def test_a_smaller_window_from_the_start_counts(desk):
    """`/api/ps` says 8,192: the budget is its half, and no prompt is larger."""
    with OllamaDouble(window_limit=8_192) as server:
        talker = desk(at=server)
        talker.say(*(diary(number, 450) for number in range(16)))
        assert talker.ended.reason == "stop", talker.ended.error
        assert talker.compactions
        assert max(len(seen.words) for seen in server.seen if not is_summary(seen.messages)) <= (
            4_096
        )
        assert {body["options"]["num_ctx"] for body in server.bodies()} == {WINDOW}
        assert server.loads == [("m", 8_192)]


def test_a_window_that_shrinks_between_turns_is_compacted_for(desk):
    """Restarted with less memory: the conversation fits the smaller window before it is sent."""
    with greedy(2) as server:
        talker = desk(*pages(10), at=server, model="greedy")
        talker.say("Go on.")
        server.state.window_limit = 8_192
        server.state.runners.clear()
        talker.say("And now?")
        assert talker.ended.reason == "stop", talker.ended.error
        assert [compaction.reason for compaction in talker.compactions] == ["preemptive"]
        first, second = [seen for seen in server.seen if not is_summary(seen.messages)]
        assert len(first.words) > 4_096 >= len(second.words)
    [receipt] = talker.told(Receipt)
    assert (receipt.window_tokens, receipt.sent_tokens <= 4_096) == (8_192, True)


# ---- the server is silent ---------------------------------------------------------------------


def falling_silent(talker):
    """Every chat of the conversation meets silence; summaries are written."""
    talker.server.fail(Silence())

    def answer(seen):
        talker.server.fail(Silence())  # for the request after this one
        return Reply(SUMMARY)

    talker.summary = answer


def test_silence_over_a_large_prompt_is_compacted_for_twice_at_most(desk, server):
    """A message of two thirds of the window: the prompt shrinks, then the silence is told."""
    talker = desk(*pages(6, 500), settings=WHOLE, limits={"load_silence_seconds": 0.5})
    falling_silent(talker)
    talker.say(page(50, 11_500))
    assert isinstance(talker.ended.error, BackendSilent)
    reasons = [compaction.reason for compaction in talker.compactions]
    assert reasons == ["timeout"] * len(reasons)
    assert 1 <= len(reasons) <= 2
    assert len(talker.chats) == len(reasons) + 1
    sizes = [count_words(body) for body in talker.chats]
    assert sizes == sorted(set(sizes), reverse=True)


def test_silence_once_is_compacted_for_and_answered(desk, server):
    """The smaller prompt is read in time: the turn is a good one."""
    talker = desk(*pages(22, 560), settings=WHOLE, limits={"load_silence_seconds": 0.5})
    server.fail(Silence())
    talker.say("What is next?")
    assert talker.ended.reason == "stop", talker.ended.error
    assert [compaction.reason for compaction in talker.compactions] == ["timeout"]
    assert server.left == 1


def test_silence_over_a_small_prompt_has_another_reason(desk, server):
    """Under 65 % of the window nothing is compacted: one request, one failure."""
    talker = desk(*pages(10), settings=WHOLE, limits={"load_silence_seconds": 0.5})
    server.fail(Silence())
    talker.say("What is next?")
    assert isinstance(talker.ended.error, BackendSilent)
    assert talker.compactions == []
    assert len(talker.bodies) == 1


def test_silence_within_a_reply_is_not_asked_again(desk, server):
    """What was written is kept; a reply that has begun is never asked for again."""
    talker = desk(
        *pages(22, 560), settings=WHOLE, reply="one two three", limits={"silence_seconds": 0.5}
    )
    server.fail(Silence(after=2))
    talker.say("What is next?")
    assert isinstance(talker.ended.error, BackendSilent)
    assert talker.compactions == []
    assert talker.path[-1].body.text == "one two"
    assert len(talker.bodies) == 1


# ---- summaries that may not stand -------------------------------------------------------------

BAD = {
    "empty": "",
    "blank": " \n ",
    "thinking only": "<think>First I look at what they said about the ships.</think>",
    "thinking that never ends": "<think>First I look at what they said about",
    "refusal": "I'm sorry, but I can't help with that.",
    "round and round": "The keeper counts the ships and the keeper counts the ships. " * 30,
}
CUTS = {
    "ended early": EndEarly(after=3),
    "dropped": Drop(after=3),
    "closed": Close(),
    "runner died": Error("model runner has unexpectedly stopped", after=3),
}


def outgrowing(talker):
    """A good compaction, then a conversation that outgrows its budget again with a bad summary."""
    talker.run(talker.session.compact())
    [good] = talker.compactions
    return good


@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_a_bad_summary_changes_nothing(desk, server, text):
    """The older summary and all messages stay, it is told, and the turn goes on."""
    talker = desk(*pages(8))
    good = outgrowing(talker)
    talker.summary = text
    talker.say(page(60, 4_000), page(61, 5_500))
    assert talker.compactions == [good]
    failed = talker.told(CompactionEnded)
    assert {end.outcome for end in failed} == {"failed"}
    assert all("could not be compacted" in end.text for end in failed)
    assert talker.ended.reason == "stop", talker.ended.error
    assert SUMMARY in talker.chats[-1]["messages"][0]["content"]


@pytest.mark.parametrize("fault", CUTS.values(), ids=CUTS)
def test_a_summary_that_is_cut_changes_nothing(desk, server, fault):
    """A stream that breaks in the middle is no summary, however good its beginning."""

    def fail_next(seen):
        server.fail(fault)
        return Reply(LONG_REPLY)

    talker = desk(*pages(8), reply=fail_next)
    talker.say(page(61, 2_300))
    assert [end.outcome for end in talker.told(CompactionEnded)] == ["failed"]
    assert talker.compactions == []
    assert (talker.ended.reason, talker.ended.error) == ("stop", None)
    assert talker.path[-1].body.text == LONG_REPLY
    talker.reply = "Noted."
    talker.say("And then?")
    assert talker.ended.reason == "stop", talker.ended.error


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (EndEarly(after=3), "reply was cut"),
        (Close(), "closed the connection"),
        (Error(BUSY, status=503), "server busy"),
    ],
    ids=["cut", "closed", "busy"],
)
def test_a_manual_compaction_that_fails_says_why(desk, server, fault, words):
    """The fault is told; the conversation is as it was."""
    talker = desk(*pages(8))
    before = talker.path
    for _ in range(12):  # however often it is tried
        server.fail(fault)
    talker.run(talker.session.compact())
    assert talker.ended.outcome == "failed"
    assert "unchanged" in talker.ended.text
    assert words in talker.ended.text
    assert talker.path == before


def test_thinking_beside_the_summary_is_no_part_of_it(desk, server):
    """A block of thought before a good summary is taken off."""
    talker = desk(*pages(8), summary=f"<think>Ships, then ice.</think>\n{SUMMARY}")
    talker.run(talker.session.compact())
    assert [compaction.summary for compaction in talker.compactions] == [SUMMARY]


# ---- stop -------------------------------------------------------------------------------------

WORK_SECONDS = 0.25
"""What a stop may cost the processors, until the server's request has ended."""


class Stopper:
    """Stops a session at an event, and measures the work until the server sees the request end."""

    def __init__(self, talker, kind, ready=None):
        self.talker = talker
        self.kind = kind
        self.ready = ready
        self.work = None

    async def __call__(self, event):
        if self.work is not None or not isinstance(event, self.kind):
            return
        if self.ready is not None:
            assert await asyncio.to_thread(self.ready.wait, PATIENCE)
        begun = time.process_time()
        self.talker.session.stop()
        await asyncio.to_thread(self.talker.server.wait_for, lambda: self.talker.server.left == 1)
        self.work = time.process_time() - begun
        # a request that ended before it came to the gate leaves it standing for the next one
        self.talker.server.state.script.gates.clear()


def stopped_while_writing(talker):
    def hold(seen):
        talker.server.hold("piece", after=4)
        return Reply(SUMMARY)

    talker.summary = hold
    return Stopper(talker, CompactionProgress)


def stopped_while_reading(talker):
    arrived = threading.Event()

    def hold(seen):
        talker.server.hold("prompt")
        arrived.set()
        return Reply(SUMMARY)

    talker.summary = hold
    return Stopper(talker, CompactionStarted, arrived)


STOPS = {"writing": stopped_while_writing, "reading": stopped_while_reading}


@pytest.mark.parametrize("stopped", STOPS.values(), ids=STOPS)
def test_stop_ends_a_compaction_that_was_asked_for(desk, server, stopped):
    """The server's request ends at once, the conversation is as it was, and both go on."""
    talker = desk(*pages(8))
    before = talker.path
    stopper = stopped(talker)
    talker.run(talker.session.compact(), until=stopper)
    assert (talker.ended.outcome, talker.ended.entry) == ("stopped", None)
    assert stopper.work < WORK_SECONDS
    assert [is_summary(r.body["messages"]) for r in server.requests if r.left] == [True]
    assert talker.path == before
    assert talker.store.session(talker.session_id).compaction_count == 0
    talker.summary = SUMMARY
    talker.run(talker.session.compact())
    assert talker.ended.outcome == "done", talker.ended.text
    assert server.loads == [("m", WINDOW)]


@pytest.mark.parametrize("stopped", STOPS.values(), ids=STOPS)
def test_stop_during_the_compaction_after_a_reply_leaves_a_good_turn(desk, server, stopped):
    """The reply is whole, nothing was folded, and the next turn finds everything there."""
    talker = desk(*pages(8), reply=LONG_REPLY)
    stopper = stopped(talker)
    talker.say(page(61, 2_300), until=stopper)
    assert (talker.ended.reason, talker.ended.error) == ("stop", None)
    assert stopper.work < WORK_SECONDS
    assert [end.outcome for end in talker.told(CompactionEnded)] == ["stopped"]
    assert talker.compactions == []
    assert talker.path[-1].body.text == LONG_REPLY


@pytest.mark.parametrize("stopped", STOPS.values(), ids=STOPS)
def test_stop_during_the_compaction_before_a_request_ends_the_turn(desk, server, stopped):
    """No chat is sent, the message stays, and it is answered when it is asked for again."""
    talker = desk(*pages(14))
    stopper = stopped(talker)
    talker.say("What is next?", until=stopper)
    assert (talker.ended.reason, talker.ended.entry) == ("stopped", None)
    assert stopper.work < WORK_SECONDS
    assert talker.chats == []
    assert talker.compactions == []
    assert talker.path[-1].body.text == "What is next?"
    talker.summary = SUMMARY
    talker.run(talker.session.answer())
    assert talker.ended.reason == "stop", talker.ended.error
    assert talker.chats[-1]["messages"][-1]["content"] == "What is next?"


# ---- counting ---------------------------------------------------------------------------------


def receipts(talker, *texts):
    """The receipt of each turn."""
    got = []
    for text in texts:
        talker.say(text)
        got += talker.told(Receipt)
    return got


def test_the_first_prompt_is_estimated_the_later_ones_are_anchored(desk, server):
    """The server's own figure for everything up to the last reply, an estimate for what is newer."""
    talker = desk(*pages(2))
    first, second = receipts(talker, "One more.", "And another.")
    assert (first.sent_kind, second.sent_kind) == ("estimated", "anchored")
    anchor = first.usage.prompt_tokens + first.usage.written_tokens
    assert anchor < second.sent_tokens < anchor + 30
    assert second.usage.prompt_tokens <= second.sent_tokens


def test_no_count_is_under_what_the_server_reports(desk, server):
    """English, turn by turn: what was said to be sent is what was read, or a little more."""
    talker = desk()
    for receipt in receipts(talker, *(diary(number, 500) for number in range(12))):
        assert receipt.usage.prompt_tokens <= receipt.sent_tokens


def test_calibration_rises_at_once_to_what_the_server_reports(desk):
    """A model that needs three tokens a word: after one reply the next estimate has them."""
    with greedy(3) as server:
        talker = desk(at=server, model="greedy")
        [receipt] = receipts(talker, diary(1, 900))
        estimated = estimate_messages([PromptMessage("user", diary(1, 900))])
        seen = receipt.usage.prompt_tokens / estimated
        assert seen > 1.5
        assert talker.book.of("ollama:greedy").ratio == pytest.approx(seen, rel=0.02)
        [second] = receipts(talker, diary(2, 900))
        assert second.usage.prompt_tokens <= second.sent_tokens


def test_calibration_falls_slowly(desk, server):
    """A model that needs fewer tokens than estimated: a tenth down with every turn, no more."""
    talker = desk()
    ratios = []
    for number in range(4):
        talker.say(diary(number, 400))
        ratios.append(talker.book.of("ollama:m").ratio)
    assert ratios[:2] == pytest.approx([0.9, 0.81], rel=0.01)
    assert ratios == sorted(ratios, reverse=True)


def test_usage_from_before_a_compaction_is_no_anchor(desk):
    """Right after a compaction the count is an estimate of what is left, not the old figure."""
    with greedy(2) as server:
        talker = desk(*pages(8), at=server, model="greedy")
        talker.say("One more.")
        talker.run(talker.session.compact())
        before = talker.ended.before_tokens
        [receipt] = receipts(talker, "And another.")
        assert receipt.sent_kind == "estimated"
        assert receipt.usage.prompt_tokens <= receipt.sent_tokens < before
        [receipt] = receipts(talker, "And one more.")
        assert receipt.sent_kind == "anchored"
