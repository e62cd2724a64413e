"""The context where it went wrong once: pins, notices, small reserves, pruned requests."""

import asyncio
from dataclasses import replace

import pytest

from engine.compact import CompactionPlan
from engine.context import ContextSettings, plan_folding
from engine.errors import ContextOverflow
from engine.events import Notice, Receipt
from engine.prune import CachePruning
from engine.testing import FakeClock, Script, conversation, memory_store
from engine.tokens import estimate_messages, estimate_text
from engine.transcript import Compaction, Message, Pin, Text, ToolCall, user
from engine.view import SHORTENED, plan_visible
from tests.engine.compact_items import entries as entries_of
from tests.engine.talks import Talk, words


def history(count=16, tokens=1_000):
    return tuple(f"Message {n}. " + words(tokens - 6) for n in range(count))


def size(request):
    return estimate_messages(request.messages)


def tool_turn(talk, text, call="c1", *, answered=True):
    bodies = [
        user("Look it up."),
        Message("assistant", (ToolCall(call, "read", {}),), stop_reason="tool_calls"),
        Message("tool_result", (Text(text),), tool_call_id=call, tool_name="read"),
    ]
    if answered:
        bodies.append(Message("assistant", (Text("Found."),), stop_reason="stop"))
    talk.store.append_all(talk.session_id, bodies)


def test_reducible_counts_results_that_nobody_can_shorten():
    """Results put in by repair have no entry: none of their characters is reducible."""
    from engine.context import plan_shortenings, plan_view
    from engine.tokens import Count
    from tests.engine.compact_items import calls, entries

    path = entries(["user", calls(*[f"c{n}" for n in range(300)]), "user"])
    view = plan_view(path, {}, Count(9_000, "exact"), 16_000, ContextSettings())
    assert plan_shortenings(view) or view.reducible_chars == 0
    assert view.route.route == "compact_only"


def test_pin_of_a_folded_message_weighs_nothing_to_the_plan():
    """Pinned after it was folded: the plan knows what it weighs when it comes back."""
    with Talk(history(16)) as talk:
        talk.say("One")
        folded = talk.path[2]
        assert folded.id not in [e.id for e in plan_visible(talk.path)]
        talk.store.append(talk.session_id, Pin(folded.id))
        view = replace(asyncio.run(talk.session.look()), urgency="asked_for")
        plan = plan_folding(view)
        assert isinstance(plan, CompactionPlan)
        [item] = [i for i in plan.pinned if i.entry.id == folded.id]
        assert item.tokens > 900


def test_many_such_pins_block_every_compaction():
    """Eight pinned old messages, twice the cap for pins: compaction goes on."""
    with Talk(history(16)) as talk:
        talk.say("One")
        for entry in talk.path[:8]:
            talk.store.append(talk.session_id, Pin(entry.id))
        talk.say("Two " + words(3_000), "Three " + words(2_000))
        view = asyncio.run(talk.session.look())
        assert view.count.tokens <= 8_000


@pytest.mark.parametrize("exact", [True, False])
def test_shortening_raises_the_count(exact):
    """A result one character over its cap: a notice that weighs more is not put in its place."""
    with Talk((), exact=exact, summary="") as talk:
        tool_turn(talk, ("=" * 79 + "\n") * 200 + "x", answered=True)
        talk.store.append(talk.session_id, Message("user", (Text(words(7_900)),)))
        talk.run(talk.session.answer())
        texts = [e.text for e in talk.told(Notice) if e.code == "results_shortened"]
        for text in texts:
            before, after = text.split("(")[1].split(" tokens")[0].replace(",", "").split(" → ")
            assert int(after) < int(before)


@pytest.mark.parametrize("exact", [True, False])
def test_small_reserve_fails_a_turn_instead_of_compacting(exact):
    """Reserve 0: between window − 512 and the window it compacts instead of failing."""
    settings = ContextSettings(reserve_tokens=0, reserve_floor=0)
    for tokens in range(950, 1_030, 4):
        with Talk(history(16, tokens), exact=exact, settings=settings) as talk:
            talk.say("Go on")
            assert talk.ended.reason == "stop", (tokens, talk.ended.error)


def cold_talk(**more):
    clock = FakeClock(1_000_000.0)
    cache = CachePruning(mode="cache-ttl", ttl_ms=1_000, min_prunable_chars=0)

    class Cold(Talk):
        def __post_init__(self):
            super().__post_init__()
            self.store = memory_store(lambda: int(clock() * 1000))
            self.session_id, _ = conversation(self.store, *self.history)
            self.session = self.open()

    return Cold(settings=ContextSettings(cache=cache), **more), clock


def test_anchor_on_a_pruned_request():
    """What the server read was pruned for once; the next prompt is whole, and known to be."""
    talk, clock = cold_talk(exact=False, window=16_384)
    with talk:
        for n in range(3):
            tool_turn(talk, f"{n} " + words(1_900), call=f"c{n}")
        talk.say("One")
        for _ in range(3):
            talk.store.append(talk.session_id, Message("assistant", (Text("a"),)))
        clock.advance(10_000)
        talk.say("Two")
        assert "results_shortened_once" in talk.notices
        talk.say("Three")
        [receipt] = talk.told(Receipt)
        real = size(talk.chats[-1])
        assert receipt.sent_tokens >= real


def test_calibration_learns_from_pruned_requests():
    """What was pruned for one request teaches nothing of the estimates."""
    talk, clock = cold_talk(exact=False, window=16_384)
    with talk:
        for n in range(3):
            tool_turn(talk, f"{n} " + words(1_900), call=f"c{n}")
        for _ in range(3):
            talk.store.append(talk.session_id, Message("assistant", (Text("a"),)))
        talk.say("One")
        before = talk.session._keeper._book.of("scripted:test").ratio
        clock.advance(10_000)
        talk.say("Two")
        assert "results_shortened_once" in talk.notices
        after = talk.session._keeper._book.of("scripted:test").ratio
        assert after > 0.95 * before


def test_last_resort_more_than_once_a_turn():
    """Appendix A 7: at most one truncation as the last resort in a run."""
    windows = iter([8_000, 4_000, 3_000, 2_000])

    def refuse(request):
        return Script("x", fault=ContextOverflow("No.", window_tokens=next(windows, 1_000)))

    with Talk((), reply=refuse, summary="") as talk:
        tool_turn(talk, words(7_000))
        talk.say("And?")
        changes = [e for e in talk.path if getattr(e.body, "custom_type", "") == SHORTENED]
        assert len(changes) <= 1


def test_anchored_count_misses_results_that_are_put_in():
    """Twenty calls without results after the anchor: what is put in for them is counted."""
    with Talk(exact=False) as talk:
        calls = tuple(ToolCall(f"c{n}", "read", {"n": n}) for n in range(60))
        talk.scripts = ()
        talk.reply = lambda r: (
            Script("Looking.", tool_calls=calls, stop_reason="tool_calls")
            if len(r.messages) < 2
            else "Yes."
        )
        talk.say("One", "Two")
        [receipt] = talk.told(Receipt)
        # the double does not report the calls it wrote: they are not in the anchor
        written = estimate_messages((talk.chats[-1].messages[1],))
        assert receipt.sent_tokens >= size(talk.chats[-1]) - written


def test_prediction_misses_the_summary_s_frame():
    """Summary and values at their caps: the next prompt is hardly larger than predicted."""
    with Talk(history(16)) as talk:
        view = asyncio.run(talk.session.look())
        plan = plan_folding(view)
        cap = view.targets.summary_cap
        text, n = "", 0
        while estimate_text(text + f"Ship {n} passed buoy {n * 7 % 97}. ") <= cap:
            text += f"Ship {n} passed buoy {n * 7 % 97}. "
            n += 1
        talk.summary = text
        talk.say("Go on")
        [body] = talk.compactions
        assert body.summary
        assert body.tokens_after <= plan.predicted_tokens + 10


def test_pinned_compaction_is_no_second_summary():
    """Foreign data may pin anything; one summary reaches the model."""
    first = Compaction("one", "e1")
    second = Compaction("two", "e3", facts={"pinned": ["e2"]})
    path = entries_of(["user", "user", first, "user", second])
    assert sum(isinstance(e.body, Compaction) for e in plan_visible(path)) == 1
