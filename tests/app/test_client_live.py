"""A turn while it runs, event by event."""

import pytest

from app.client.live import LiveReply
from app.items import LIVE, CardItem
from app.words import install, plain, short_tokens, translate
from engine.errors import BackendUnreachable, Bug
from engine.events import (
    CompactionEnded,
    CompactionProgress,
    CompactionStarted,
    ModelLoading,
    Notice,
    PromptReading,
    Receipt,
    TextDelta,
    ThinkingDelta,
    TurnEnded,
    TurnStarted,
)
from engine.testing import FakeClock
from engine.transcript import Compaction, Entry, Usage, user

ENTRY = Entry("e1", "s", None, 5, user("q"))
FOLD = Entry("c1", "s", None, 5, Compaction("summary", "e1", 900, 300))


def live(clock=None, **more):
    return LiveReply("1", "m", 5, clock=clock or FakeClock(), **more)


def after(*events, clock=None, **more):
    turn = live(clock, **more)
    for event in events:
        turn.take(event)
    return turn


def test_it_begins_with_waiting():
    """Before any news; with a name that no entry has."""
    (item,) = live().items()
    assert (item.id, item.state, item.waits_for, item.model) == (f"{LIVE}1", "waiting", "", "m")
    assert item.is_running


def test_waiting_for_another_chat():
    """Until there is news of its own."""
    turn = live()
    turn.wait_for("Other")
    assert turn.reply.waits_for == "Other"
    turn.take(PromptReading(1, 0, 10, 0))
    assert turn.reply.waits_for == ""


def test_loading_in_percent():
    """Or without, where that cannot be told; with an estimate once it moved."""
    clock = FakeClock()
    turn = after(ModelLoading(1, None), clock=clock)
    assert (turn.reply.state, turn.reply.total) == ("loading", 0)
    turn.take(ModelLoading(1, 0.25))
    clock.advance(2)
    turn.take(ModelLoading(1, 0.5))
    assert (turn.reply.done, turn.reply.total, turn.reply.seconds_left) == (50, 100, 2.0)


def test_loaded_model_reads():
    """A server that is not heard of again reads the prompt, as far as is known."""
    turn = after(ModelLoading(1, None), ModelLoading(1, 1.0))
    assert (turn.reply.state, turn.reply.total) == ("reading", 0)


def test_reading_with_an_estimate():
    """From how fast it goes; what was reused does not count as fast."""
    clock = FakeClock()
    turn = after(PromptReading(1, 1000, 3000, 1000), clock=clock)
    assert turn.reply.seconds_left == 0.0
    clock.advance(4)
    turn.take(PromptReading(1, 2000, 3000, 1000))
    item = turn.reply
    assert (item.state, item.done, item.total, item.reused) == ("reading", 2000, 3000, 1000)
    assert item.seconds_left == 4.0
    turn.take(PromptReading(1, 3000, 3000, 1000))
    assert turn.reply.seconds_left == 0.0
    turn.take(PromptReading(1, 10, 500, 0))
    assert turn.reply.seconds_left == 0.0, "another prompt begins anew"


def test_thinking_and_writing():
    """Apart, with how long it thought."""
    clock = FakeClock()
    turn = after(ThinkingDelta(1, "h"), clock=clock)
    clock.advance(4)
    turn.take(ThinkingDelta(1, "m"))
    assert (turn.reply.state, turn.reply.thinking) == ("thinking", "hm")
    turn.take(TextDelta(1, "Par"))
    turn.take(TextDelta(1, "is"))
    item = turn.reply
    assert (item.state, item.text, item.thought_seconds) == ("writing", "Paris", 4.0)


def test_speed_once_it_can_be_told():
    """Tokens a second, after some tokens and some time."""
    clock = FakeClock()
    turn = live(clock)
    for _ in range(11):
        turn.take(TextDelta(1, "x"))
        clock.advance(0.1)
    assert turn.reply.speed == pytest.approx(10.0)
    assert after(TextDelta(1, "x"), TextDelta(1, "x")).reply.speed == 0.0


def test_the_receipt_and_the_end():
    """What it cost, and how long it took."""
    usage = Usage(10, 5, 40, 0.5, 1.5, 2.0)
    turn = after(
        TextDelta(1, "x"), Receipt(1, 15, "exact", usage, 100, 45), TurnEnded(1, "stop", ENTRY)
    )
    item = turn.reply
    assert (item.state, item.seconds, item.speed) == ("done", 4.0, 20.0)
    assert (item.receipt.sent, item.receipt.reused, item.receipt.room) == (15, 5, 45)
    unknown = after(Receipt(1, 15, "anchored", Usage(15, reused_known=False), 100, 45)).reply
    assert unknown.receipt.reused is None


@pytest.mark.parametrize(
    ("reason", "state"), [("length", "cut"), ("stopped", "stopped"), ("tool_calls", "done")]
)
def test_ends(reason, state):
    """Seconds are the clock's where the backend told none."""
    clock = FakeClock()
    turn = after(TextDelta(1, "x"), clock=clock)
    clock.advance(3)
    turn.take(TurnEnded(1, reason, ENTRY))
    assert (turn.reply.state, turn.reply.seconds) == (state, 3.0)


def test_thinking_that_was_stopped_has_its_time():
    """It thought, and never said a word."""
    clock = FakeClock()
    turn = after(ThinkingDelta(1, "h"), clock=clock)
    clock.advance(2)
    turn.take(TurnEnded(1, "stopped", ENTRY))
    assert turn.reply.thought_seconds == 2.0
    assert turn.items() == (turn.reply,)


def test_stopped_before_a_word_leaves_nothing():
    """There is no reply to show."""
    assert after(TurnStarted(1, ENTRY), TurnEnded(1, "stopped")).items() == ()


def test_a_failure_has_sentence_and_remedy():
    """Of the environment; a bug of ours has words of its own."""
    fault = BackendUnreachable("Away.", "Start it.")
    item = after(TurnEnded(1, "failed", ENTRY, fault)).reply
    assert (item.state, item.error, item.remedy) == ("failed", "Away.", "Start it.")
    bug = live()
    bug.fail(KeyError("x"))
    assert bug.reply.error == "Something went wrong inside Porthole."
    same = live()
    same.fail(Bug("x"))
    assert same.reply.error == bug.reply.error
    away = live()
    away.fail(fault)
    assert away.reply.error == "Away."


def test_what_changes_nothing():
    """Notices and the beginning of a turn show nothing of their own."""
    turn = live()
    assert not turn.take(Notice(1, "info", "x", "y"))
    assert not turn.take(TurnStarted(1, ENTRY))
    assert turn.take(TextDelta(1, "x"))


def test_a_compaction_before_the_reply():
    """It stands in the reply's place while it runs, and before it when it is done."""
    turn = after(CompactionStarted(1, "preemptive", 900, 3))
    (card,) = turn.items()
    assert (card.kind, card.facts) == ("compacting", "3 messages to fold")
    turn.take(CompactionProgress(1, "reading", 10, 1200))
    assert turn.items()[0].facts == "reading 10 of 1,200 tokens"
    turn.take(CompactionProgress(1, "writing", 1300, 0, 2))
    assert turn.items()[0].facts == "writing, 1,300 tokens · request 2"
    turn.take(CompactionProgress(1, "waiting", 0, 0))
    assert turn.items()[0].facts == "waiting to try again"
    turn.take(CompactionEnded(1, "preemptive", "done", "x", FOLD))
    done, reply = turn.items()
    assert (done.id, done.kind, reply.state) == ("c1", "compaction", "waiting")


def test_a_compaction_after_the_reply():
    """The reply stays where it is."""
    turn = after(
        TextDelta(1, "x"),
        Receipt(1, 1, "exact", Usage(), 9, 8),
        CompactionStarted(1, "threshold", 900, 3),
    )
    reply, card = turn.items()
    assert (reply.state, card.kind) == ("done", "compacting")
    turn.take(TurnEnded(1, "stop", ENTRY))
    assert turn.items() == (turn.reply,)


def test_a_compaction_that_fails_leaves_no_card():
    """It is told as a notice."""
    turn = after(
        CompactionProgress(1, "reading", 1, 2),
        CompactionStarted(1, "preemptive", 900, 3),
        CompactionEnded(1, "preemptive", "failed", "x"),
        CompactionEnded(1, "preemptive", "failed", "x"),
    )
    assert not any(isinstance(item, CardItem) for item in turn.items())


def test_a_compaction_alone_has_no_reply():
    """Asked for by the user."""
    turn = after(CompactionStarted(1, "manual", 900, 1), with_reply=False)
    assert [type(item) for item in turn.items()] == [CardItem]
    assert turn.items()[0].facts == "1 message to fold"


# ---- words --------------------------------------------------------------------------------------


def test_words_are_translated_when_somebody_can():
    """Qt's translator is installed by the window."""
    try:
        install(lambda context, text, _, n: f"{context}/{text}/{n}")
        assert translate("A", "b %n", "", 2) == "A/b %n/2"
    finally:
        install(plain)
    assert translate("A", "%n token(s)", "", 1_200) == "1,200 tokens"
    assert translate("A", "%n token(s)", "", 1) == "1 token"
    assert translate("A", "%n token(s)") == "%n token(s)"


@pytest.mark.parametrize(
    ("tokens", "words"),
    [(0, "0"), (850, "850"), (7_600, "7.6k"), (9_949, "9.9k"), (9_950, "10k"), (24_400, "24k")],
)
def test_short_tokens(tokens, words):
    """For narrow places."""
    assert short_tokens(tokens) == words
