"""The state of a context window: count, budget, targets, route; what is planned from it."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.budget import plan_budget, plan_targets
from engine.compact import CompactionPlan, NothingToCompact
from engine.compact.cut import is_message
from engine.context import (
    ContextSettings,
    guard_trips,
    is_tool_turn,
    plan_estimate,
    plan_folding,
    plan_room,
    plan_sent,
    plan_shortenings,
    plan_view,
    stands_degraded,
    texts_by_id,
    with_fixed,
)
from engine.errors import ContextOverflow
from engine.events import Notice, Receipt
from engine.prune import FRESH_KEEP_CHARS, CachePruning, plan_oversized
from engine.testing import FakeClock, conversation, memory_store
from engine.tokens import (
    UNCALIBRATED,
    Calibration,
    Count,
    estimate_messages,
    is_runtime_context,
)
from engine.transcript import Compaction, Custom, Message, Pin, Text, Usage, user
from engine.view import plan_visible, shortening_entry
from tests.engine.compact_items import calls, entries, said
from tests.engine.talks import Talk, words


def long_result(chars, call="a", *, line="t"):
    text = (line * (chars // len(line) + 1))[:chars]
    return Message("tool_result", (Text(text),), tool_call_id=call, tool_name="read")


def answered(read=1_000, written=50, *, model="test", stop_reason="stop", text="Yes."):
    usage = Usage(read_tokens=read, written_tokens=written)
    return Message("assistant", (Text(text),), model=model, stop_reason=stop_reason, usage=usage)


def view_of(words, tokens=300, *, window=16_000, fixed=0, kind="exact", **settings):
    """A view of a path whose messages all weigh the same."""
    path = entries(words)
    weights = {entry.id: tokens for entry in path} | {"": tokens}
    total = fixed + sum(weights[entry.id] for entry in plan_visible(path))
    return plan_view(path, weights, Count(total, kind), window, ContextSettings(**settings))


TURN = ["user", "assistant"]


# ---- the view -------------------------------------------------------------------------------------


def test_view_knows_what_no_compaction_can_fold():
    """Of an exact count: what the visible entries do not weigh is system prompt and frame."""
    view = view_of(TURN * 2, fixed=700)
    assert (view.count.tokens, view.fixed_tokens) == (1_900, 700)


def test_count_under_the_weights_leaves_nothing_fixed():
    """Weights of single messages add up to more than a prompt now and then."""
    path = entries(TURN)
    view = plan_view(path, {"e0": 50, "e1": 60}, Count(100, "exact"), 16_000, ContextSettings())
    assert view.fixed_tokens == 0


def test_fixed_part_of_an_estimate_has_to_be_told():
    """An estimate has margins everywhere: a difference would say nothing."""
    view = view_of(TURN, fixed=700, kind="estimated")
    assert view.fixed_tokens == 0
    assert with_fixed(view, 840).fixed_tokens == 840
    assert with_fixed(view, 840).count == view.count


@pytest.mark.parametrize(("factor", "weight"), [(1.0, 300), (1.2, 360), (1.23, 369), (0.6, 180)])
def test_weights_carry_the_margin_of_an_estimate(factor, weight):
    """Rounded up, each for itself; exact weights stay as they are."""
    path = entries(TURN)
    weights = {"e0": 300, "e1": 1}
    view = plan_view(
        path, weights, Count(600, "estimated"), 16_000, ContextSettings(), factor=factor
    )
    assert view.weights["e0"] == weight
    assert view.weights["e1"] == -(-1 * round(factor * 100) // 100)
    assert weights == {"e0": 300, "e1": 1}


def test_leaf_is_the_last_entry():
    """Where a compaction is appended; nowhere on an empty path."""
    assert view_of(TURN).leaf == "e1"
    assert view_of([]).leaf is None


def test_empty_conversation_fits_and_has_nothing_to_compact():
    """No division by nothing anywhere."""
    view = view_of([])
    assert (view.route.route, view.reducible_chars) == ("fits", 0)
    assert isinstance(plan_folding(view), NothingToCompact)
    assert plan_shortenings(view) == {}


@pytest.mark.parametrize(
    ("window", "chars", "cap"),
    [(16_000, 0, 16_000), (4_096, 0, 4_912), (128_000, 32_000, 32_000), (0, 0, 1), (1, 0, 1)],
)
def test_cap_of_a_result_is_of_the_window_or_as_set(window, chars, cap):
    """SPEC1 12.4.2; a window of nothing still has a cap."""
    assert view_of([], window=window, result_chars=chars).cap_chars == cap


# ---- targets --------------------------------------------------------------------------------------


def test_usual_targets_are_those_of_the_budget():
    """With the settings' tail and what is fixed."""
    view = view_of(TURN, fixed=300, keep_recent=900)
    assert view.targets == plan_targets(view.budget, fixed_tokens=300, keep_recent=900)


@pytest.mark.parametrize(
    ("said_tokens", "summary", "facts"),
    [(100, 64, 64), (1_200, 300, 120), (400_000, 960, 320)],
    ids=["tiny", "short", "long"],
)
@pytest.mark.parametrize("urgency", ["asked_for", "refused"])
def test_summary_of_a_short_conversation_is_short(urgency, said_tokens, summary, facts):
    """Asked for or refused: a quarter and a tenth of what there is, never over the usual caps."""
    view = replace(view_of(["user"], said_tokens), urgency=urgency)
    assert (view.targets.summary_cap, view.targets.facts_cap) == (summary, facts)


# ---- an estimate's anchor ---------------------------------------------------------------------------


def estimate(words, *, model="test", system=100, calibration=UNCALIBRATED):
    path = entries(words)
    weights = {entry.id: 100 if is_message(entry.body) else 0 for entry in path}
    weights |= {entry.id: 100 for entry in path if is_runtime_context(entry.body)}
    return plan_estimate(
        path,
        plan_visible(path),
        weights,
        system_tokens=system,
        calibration=calibration,
        model=model,
    )


def test_estimate_is_anchored_on_the_last_real_usage():
    """What the server reported plus what came after it, with its margin."""
    assert estimate(["user", answered(), "user"]) == Count(1_170, "anchored")


def test_estimate_without_usage_is_of_everything():
    """System prompt included, margin on all of it."""
    assert estimate(["user", "assistant", "user"]) == Count(480, "estimated")


def test_usage_from_before_a_compaction_is_stale():
    """Its context is gone (#8 of section 12, pi #1860): in the tail or not."""
    words = ["user", answered(), Compaction("Short.", "e1"), "user"]
    assert estimate(words) == Count(480, "estimated")


def test_usage_after_the_compaction_counts_again():
    """The first reply after it anchors the count (#63892)."""
    words = ["user", Compaction("Short.", "e0"), "user", answered(300), "user"]
    assert estimate(words) == Count(470, "anchored")


def test_usage_from_before_results_were_shortened_is_stale():
    """What was read then is not what is sent now."""
    words = ["user", answered(), shortening_entry({"e9": "x"}), "user"]
    assert estimate(words).kind == "estimated"


def test_usage_after_results_were_shortened_counts():
    """The anchor came later."""
    words = ["user", shortening_entry({"e9": "x"}), answered(), "user"]
    assert estimate(words).kind == "anchored"


def test_data_after_the_anchor_changes_nothing():
    """A label, a setting, the program's data: neither stale nor heavy."""
    assert estimate(["user", answered(), "label", "data", "model"]) == Count(1_050, "anchored")


@pytest.mark.parametrize("reason", ["stopped", "failed", "interrupted"])
def test_usage_of_an_unfinished_reply_does_not_count(reason):
    """E14: the one before it does, if there is one."""
    broken = answered(9_000, stop_reason=reason)
    assert estimate(["user", broken, "user"]).kind == "estimated"
    words = ["user", answered(), "user", broken, "user"]
    assert estimate(words) == Count(1_050 + 360, "anchored")


def test_usage_of_another_model_does_not_count():
    """Another tokenizer counted it."""
    assert estimate(["user", answered(), "user"], model="other").kind == "estimated"


def test_what_came_after_the_anchor_and_is_not_seen_weighs_nothing():
    """Runtime context is on the path and in no prompt."""
    assert estimate(["user", answered(), "runtime", "user"]) == Count(1_170, "anchored")


def test_calibration_is_in_the_estimated_part_only():
    """The anchor is a real figure already."""
    learned = Calibration(2.0)
    assert estimate(["user", answered(), "user"], calibration=learned).tokens == 1_050 + 240
    assert estimate(["user", "user"], calibration=learned).tokens == 720


# ---- room for a message -------------------------------------------------------------------------------


def test_room_is_the_budget_without_history():
    """Nothing has to be folded: all of the budget but what is fixed."""
    budget = plan_budget(16_384)
    room = plan_room(budget, plan_targets(budget), fixed_tokens=500, has_history=False)
    assert room == 7_500


def test_room_beside_a_history_leaves_place_for_its_summary():
    """Everything else can be folded, into summary and exact values."""
    budget = plan_budget(16_384)
    targets = plan_targets(budget)
    room = plan_room(budget, targets, fixed_tokens=500, has_history=True)
    assert room == 7_500 - targets.summary_cap - targets.facts_cap


@given(st.integers(1, 1_048_576), st.integers(0, 2_000_000), st.booleans())
def test_room_is_within_the_budget_and_never_negative(window, fixed, has_history):
    """Whatever the window, and whatever the system prompt."""
    budget = plan_budget(window)
    targets = plan_targets(budget, fixed_tokens=fixed)
    room = plan_room(budget, targets, fixed_tokens=fixed, has_history=has_history)
    assert 0 <= room <= max(0, budget.prompt - fixed)


# ---- a placeholder --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "stands"),
    [
        ([], False),
        (TURN, False),
        (["user", Compaction("x", "e0")], False),
        (["user", Compaction("x", "e0", facts={"degraded": True})], True),
        (["user", Compaction("x", "e0", facts={"degraded": "yes"})], False),
        (["user", Compaction("x", "e0", facts={"degraded": True}), Compaction("x", "e0")], False),
    ],
    ids=["empty", "none", "good", "degraded", "damaged", "mended"],
)
def test_placeholder_stands_while_it_is_the_last_compaction(words, stands):
    """A later good compaction ends it."""
    assert stands_degraded(entries(words)) is stands


# ---- folding ----------------------------------------------------------------------------------------------


def test_pinned_entries_are_not_folded_away():
    """What the path says is pinned stays verbatim wherever the cut goes."""
    view = view_of([*TURN, Pin("e0"), *TURN * 12, "user"], 400)
    folding = plan_folding(view)
    assert isinstance(folding, CompactionPlan)
    assert [item.entry.id for item in folding.pinned] == ["e0"]


def test_urgency_decides_how_little_is_enough():
    """By itself a small gain is none; asked for it is; after a refusal also right after another."""
    words = [*TURN * 3, "user"]
    view = view_of(words, 150)
    assert isinstance(plan_folding(view), NothingToCompact)
    assert isinstance(plan_folding(replace(view, urgency="asked_for")), CompactionPlan)
    again = replace(view_of([*words, Compaction("x", "e1")], 400), urgency="asked_for")
    assert isinstance(plan_folding(again), NothingToCompact)
    assert isinstance(plan_folding(replace(again, urgency="refused")), CompactionPlan)


# ---- shortening -------------------------------------------------------------------------------------------


def test_shortenings_bring_results_under_the_cap_by_entry():
    """New texts by the entries' ids; what is short enough is not named."""
    words = ["user", calls("a"), long_result(40_000), "user"]
    view = view_of(words, window=8_192)
    [(id_, text)] = plan_shortenings(view).items()
    assert id_ == "e2"
    assert len(text) == view.cap_chars == 9_828
    assert view.reducible_chars == 40_000 - 9_828


def test_results_of_the_running_turn_keep_2000_characters():
    """Older ones give instead (#132008): newest first would have starved the fresh one."""
    old = ["user", calls("a"), long_result(9_000), "assistant"]
    fresh = ["user", calls("b"), long_result(9_000, "b")]
    texts = plan_shortenings(view_of([*old, *fresh], window=8_192))
    assert len(texts["e6"]) >= FRESH_KEEP_CHARS
    total = sum(len(texts.get(id_, "t" * 9_000)) for id_ in ("e2", "e6"))
    assert total <= view_of([], window=8_192).cap_chars


@pytest.mark.parametrize(
    ("order", "shortened"), [("newest_first", ["e4"]), ("oldest_first", ["e2"])]
)
def test_order_of_shortening_is_a_setting(order, shortened):
    """CONFLICT-4: the letter or the reason of the specification."""
    words = ["user", calls("a"), long_result(9_000), calls("b"), long_result(9_000, "b"), *TURN]
    assert list(plan_shortenings(view_of(words, order=order))) == shortened


def test_result_that_was_put_in_cannot_be_shortened():
    """It has no entry to shorten."""
    visible = plan_visible(entries(["user", calls("a"), "user"]))
    changes = plan_oversized([entry.body for entry in visible], 40)
    assert [visible[change.index].id for change in changes] == [""]
    assert texts_by_id(visible, changes) == {}


# ---- what is sent this once ---------------------------------------------------------------------------------

COLD = CachePruning(mode="cache-ttl", ttl_ms=2)
OLD_TOOL = ["user", "assistant", calls("a"), long_result(20_000)]


def rested(ms, *, mode="cache-ttl"):
    """A path that was last answered some milliseconds before the last word."""
    words = [*OLD_TOOL, "assistant", "assistant", answered(), "user"]
    view = view_of(words, cache=replace(COLD, mode=mode, ttl_ms=1_000))
    last = replace(view.path[-1], created_at=view.path[-2].created_at + ms)
    return replace(view, path=(*view.path[:-1], last))


def test_old_results_are_trimmed_once_when_the_cache_is_cold():
    """In the request only: path and view stay as they are."""
    view = rested(1_000)
    sent = plan_sent(view)
    assert [a.id for a in sent] == [b.id for b in view.visible]
    assert len(sent[3].body.text) < 4_000 < len(view.visible[3].body.text)
    assert [i for i, (a, b) in enumerate(zip(sent, view.visible, strict=True)) if a is not b] == [
        3
    ]


@pytest.mark.parametrize(("ms", "mode"), [(999, "cache-ttl"), (10**6, "off")])
def test_nothing_is_trimmed_while_the_cache_is_warm_or_pruning_off(ms, mode):
    """C10, C12: the very same view."""
    view = rested(ms, mode=mode)
    assert plan_sent(view) is view.visible


def test_nothing_is_trimmed_when_nobody_knows_when_the_model_last_read():
    """A conversation without a reported reply, and an empty one."""
    view = view_of([*OLD_TOOL, "assistant", "assistant", "assistant", "user"], cache=COLD)
    assert plan_sent(view) is view.visible
    assert plan_sent(view_of([], cache=COLD)) == ()


def test_result_over_half_the_window_is_cut_in_a_tool_turn():
    """The guard before every call within a turn: raw text up to w/2 characters."""
    view = view_of(["user", calls("a"), long_result(15_000)])
    assert is_tool_turn(view.visible)
    assert len(plan_sent(view)[2].body.text) <= 8_000
    assert len(view.visible[2].body.text) == 15_000


def test_result_of_an_earlier_turn_is_not_cut_by_the_guard():
    """Only a running tool turn has it."""
    view = view_of(["user", calls("a"), long_result(15_000), "assistant", "user"])
    assert not is_tool_turn(view.visible)
    assert plan_sent(view) is view.visible


@pytest.mark.parametrize(
    ("kind", "chars", "trips"),
    [("estimated", 60_000, True), ("exact", 60_000, False), ("estimated", 20_000, False)],
)
def test_guard_trips_on_uncounted_characters_over_the_window(kind, chars, trips):
    """90 % of the window in characters; a counted prompt needs no guess."""
    words = [user("u" * chars), calls("a"), long_result(100)]
    assert guard_trips(view_of(words, kind=kind)) is trips


def test_guard_is_for_tool_turns_only():
    """Any other uncounted prompt goes by its estimate."""
    assert not guard_trips(view_of([user("u" * 60_000)], kind="estimated"))


def test_tool_turn_of_a_conversation_without_a_user():
    """An imported path may begin anywhere."""
    assert is_tool_turn(entries([said("assistant"), calls("a"), long_result(10)]))
    assert not is_tool_turn(())


# ---- within a session -----------------------------------------------------------------------------


def add_tool_turn(talk, text, call="c", *, answered=True):
    """A stored turn with one call and its result; the running one, or one that was answered."""
    bodies = [
        user("Look it up."),
        calls(call),
        Message("tool_result", (Text(text),), tool_call_id=call, tool_name="read"),
    ]
    done = [said("assistant", "Found.")] if answered else []
    return talk.store.append_all(talk.session_id, [*bodies, *done])


class Resting(Talk):
    """A conversation whose cache is cold once its clock is moved."""

    def __post_init__(self):
        super().__post_init__()
        self.clock = FakeClock()
        self.store = memory_store(lambda: int(1_000 * self.clock()))
        self.session_id, _ = conversation(self.store, *self.history)
        self.session = self.open()


def rested_talk(**more):
    """Six results of 1,150 tokens, long answered, and a conversation that rested since."""
    cache = replace(COLD, ttl_ms=60_000, min_prunable_chars=0)
    talk = Resting(settings=ContextSettings(cache=cache), **more)
    for number in range(6):
        add_tool_turn(talk, f"{number} " + words(1_150), f"c{number}")
    talk.say("One")
    talk.clock.advance(61)
    talk.say("Two")
    return talk


def test_cold_cache_prunes_one_request_and_nothing_else():
    """Told, counted as it is sent, whole in the transcript and in the next request."""
    with rested_talk() as talk:
        assert "results_shortened_once" in talk.notices
        [receipt] = talk.told(Receipt)
        first, second = talk.chats
        assert receipt.sent_tokens == estimate_messages(second.messages)
        assert receipt.sent_tokens < 0.9 * estimate_messages(first.messages)
        assert [e for e in talk.path if isinstance(e.body, Custom)] == []
        talk.say("Three")
        assert "results_shortened_once" not in talk.notices
        tools = [[m.content for m in r.messages if m.role == "tool"] for r in talk.chats]
        assert tools[2] == tools[0] != tools[1]


def fitted(talk):
    """The context of the path as it is, brought within its budget; the model, and what was told."""
    told = []

    async def work():
        ready = await talk.session._make_ready(told.append)
        return ready, await talk.session._keeper.fit(ready, talk.path, told.append, 1)

    return *asyncio.run(work()), [e.code for e in told if isinstance(e, Notice)]


def test_fresh_result_over_half_the_window_is_cut_for_the_request():
    """A running tool turn: the model gets w/2 characters of it, the transcript keeps all."""
    with Talk(window=16_000) as talk:
        add_tool_turn(talk, "=" * 15_000, answered=False)
        _, view, told = fitted(talk)
        assert told[-1] == "results_shortened_once"
        assert len(view.visible[-1].body.text) <= 8_000
        assert len(talk.path[-1].body.text) == 15_000


@pytest.mark.parametrize("exact", [True, False], ids=["counted", "reported"])
def test_characters_of_a_tool_turn_over_the_window_are_not_sent_uncounted(exact):
    """Few tokens by the estimate, and more characters than a window of them can hold."""
    with Talk((), window=16_000, exact=exact) as talk:
        talk.store.append(talk.session_id, user("=" * 60_000))
        add_tool_turn(talk, "found", answered=False)
        ready, view, _ = fitted(talk)
        if exact:
            assert talk.session._keeper.request(ready, view, None).messages
        else:
            with pytest.raises(ContextOverflow):
                talk.session._keeper.request(ready, view, None)
