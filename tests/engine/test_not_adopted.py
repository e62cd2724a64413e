"""Each row of not_adopted.py, run: our behaviour is what the table says, and not the source's."""

import asyncio
import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from engine.backends.base import ModelInfo, PromptMessage, PromptRequest
from engine.backends.ollama_wire import chat_body
from engine.budget import RESERVE_TOKENS, must_compact, plan_budget, plan_route, plan_targets
from engine.compact import (
    CompactionPlan,
    SummaryRejected,
    SummaryWishes,
    check_size,
    chunk_budget,
    instruction_text,
    plan_compaction,
    plan_cut,
    plan_history_share,
)
from engine.context import ContextSettings, plan_shortenings, plan_view
from engine.errors import BackendSilent, ContextOverflow, Stopped
from engine.events import CompactionEnded, CompactionStarted
from engine.folding import CHOICES
from engine.models import ModelPlan, WindowLimits
from engine.prune import (
    MIDDLE_MARKER,
    CachePruning,
    apply_shortenings,
    plan_session_prune,
    result_cap_chars,
    truncate_text,
)
from engine.readiness import plan_ready
from engine.recovery import Tries, plan_recovery
from engine.repair import MISSING_RESULT
from engine.testing import Script
from engine.tokens import (
    IMAGE_TOKENS,
    Count,
    estimate_body,
    estimate_text,
    spec_prompt_tokens,
    spec_tokens,
)
from engine.transcript import (
    Compaction,
    Custom,
    CustomMessage,
    Image,
    Message,
    Text,
    ToolCall,
    user,
)
from engine.view import SHORTENED, plan_visible
from engine.window import Claim, is_self_hosted, plan_guard, resolve_window
from tests.engine.compact_items import calls, entries, ids, users, weighed
from tests.engine.estimator_texts import texts
from tests.engine.not_adopted import DEPARTURES
from tests.engine.talks import GOOD_SUMMARY, Talk, words

CHECKS: dict[str, Callable[[], None]] = {}


def of(id_):
    """Registers what shows that a row is true."""

    def register(check):
        assert id_ not in CHECKS
        CHECKS[id_] = check
        return check

    return register


@pytest.mark.parametrize("row", [row for row in DEPARTURES if not row.later], ids=lambda r: r.id)
def test_departure_is_as_the_table_says(row):
    """Ours, not the source's."""
    CHECKS[row.id]()


def test_table_is_whole():
    """Unique ids; every row that can be run has its check, every check its row; all is said."""
    runnable = [row.id for row in DEPARTURES if not row.later]
    every = [row.id for row in DEPARTURES]
    assert len(every) == len(set(every))
    assert set(CHECKS) == set(runnable)
    assert all(row.source and row.ours and row.why for row in DEPARTURES)


# 13 is E16; 21 is a rationale, in 22 both agree
OF_OTHER_NAME = {13: "E16"}
CONFLICTS = [
    "1b",
    "2b",
    "7b",
    *(OF_OTHER_NAME.get(n, str(n)) for n in range(1, 21)),
]


@pytest.mark.parametrize("number", CONFLICTS)
def test_every_conflict_of_appendix_c_has_its_row(number):
    """Where specification and source differ, the table says what was chosen."""
    wanted = number if number in OF_OTHER_NAME.values() else f"CONFLICT-{number}"
    assert wanted in [row.id for row in DEPARTURES]


# ---- 1: the window ----------------------------------------------------------------------------------


@of("W12-W13")
def invalid_windows_are_passed_over():
    for value in (math.nan, math.inf, -math.inf):
        assert resolve_window(option=value, model=Claim(48_000)).tokens == 48_000
        guard = plan_guard(value)
        assert (guard.tokens, guard.warn, guard.block) == (0, False, False)


@of("CONFLICT-1")
def guard_has_the_limits_of_the_specification():
    for tokens in (3_999, 4_000, 7_999, 8_000, 12_800):
        assert (plan_guard(tokens).warn, plan_guard(tokens).block) == (True, True)
    assert not plan_guard(0).block
    assert not plan_guard(1_000_000).warn
    assert (WindowLimits().hard_min_tokens, WindowLimits().warn_below_tokens) == (16_000, 32_000)


@of("CONFLICT-1b")
def global_cap_holds():
    window = resolve_window(model=Claim(200_000), cap_tokens=20_000)
    assert (window.tokens, window.source) == (20_000, "agentContextTokens")


@of("1.4-invalid-default")
def default_window_is_that_of_the_specification():
    assert resolve_window().tokens == 200_000


@of("1.1-native-clamp")
def configured_window_is_not_clamped_by_the_native_one():
    window = resolve_window(configured=Claim(64_000), model=Claim(48_000), trained_tokens=48_000)
    assert (window.tokens, window.trained) == (64_000, 48_000)
    assert "trained on 48,000" in str(window)


@of("1.3-lan")
def servers_of_the_house_are_self_hosted():
    assert is_self_hosted("http://192.168.1.20:11434")
    assert not is_self_hosted("https://models.example.com")


@of("1.6-unknown-window")
def unknown_window_asks_for_the_cap():
    plan = ModelPlan("ollama:x", "ollama", "x")
    _, request = plan_ready(plan, ModelInfo("x"), None)
    assert request.window_tokens == WindowLimits().cap_tokens == 32_768
    assert resolve_window(cap_tokens=32_768).tokens == 32_768


@of("1.6-num-ctx")
def every_request_carries_num_ctx():
    request = PromptRequest("x", (PromptMessage("user", "hello"),), 16_384, 100)
    body = chat_body(request, "")
    assert body["options"]["num_ctx"] == 16_384
    assert (body["truncate"], body["shift"]) == (False, False)


# ---- 2: the budget ------------------------------------------------------------------------------------


@of("CONFLICT-2")
def final_reserve_is_capped():
    for window in (4_096, 8_192, 16_000, 16_384, 20_000):
        for floor in (0, 20_000):
            budget = plan_budget(window, 16_384, floor)
            assert budget.reserve <= window - budget.min_prompt < 16_384


@of("B13-S")
def small_window_does_not_compact_from_the_first_token():
    assert not must_compact(1, plan_budget(16_000))
    assert not must_compact(8_000, plan_budget(16_000))


S_COLUMNS = {  # window: settings reserve, first size that compacts, in S
    4_096: (16_384, 1),
    8_192: (16_384, 1),
    16_000: (16_384, 1),
    16_384: (16_384, 1),
    20_000: (16_384, 3_617),
}


@of("B-table-S")
def columns_of_the_bug_are_not_ours():
    for window, (reserve, fires) in S_COLUMNS.items():
        budget = plan_budget(window)
        assert budget.reserve < reserve
        assert not must_compact(fires, budget)
    assert plan_budget(24_576).reserve == 16_576  # from here on both agree


@of("CONFLICT-2b")
def reserve_is_configurable():
    assert plan_budget(200_000, 30_000, 0).reserve == 30_000
    assert plan_budget(200_000, 2_048, 0).reserve == 2_048


@of("CONFLICT-3")
def tiny_windows_keep_half_for_the_reply():
    assert [plan_budget(window).prompt for window in (4_096, 8_192)] == [2_048, 4_096]


@of("2.3-keep-recent")
def kept_tail_scales_with_the_budget():
    for window in (4_096, 16_384, 32_768):
        budget = plan_budget(window)
        targets = plan_targets(budget)
        assert targets.keep_recent < targets.target < budget.prompt
    assert plan_targets(plan_budget(200_000)).keep_recent == 20_000


@of("M6")
def notes_are_saved_before_the_effective_budget_is_full():
    thresholds = [
        plan_targets(plan_budget(window)).flush_threshold
        for window in (24_000, 24_576, 32_000, 200_000)
    ]
    assert thresholds == [4_000, 4_000, 8_000, 176_000]


@of("B15-as-cap")
def summary_is_capped_by_the_budget():
    caps = [plan_targets(plan_budget(window)).summary_cap for window in (8_192, 16_384, 200_000)]
    assert caps == [512, 960, 4_000]


@of("2-table-chunks")
def overhead_of_chunks_scales():
    assert chunk_budget(8_192, 0.4) == 1  # S's figure, by default
    scaled = plan_targets(plan_budget(8_192)).chunk_overhead
    assert scaled == 1_024
    assert chunk_budget(8_192, 0.4, scaled) == 2_252


# ---- 3: estimates -------------------------------------------------------------------------------------

PICTURE = Image("image/png", "AAAA")


@of("E3-C")
def picture_of_a_user_counts_in_the_estimator_in_use():
    body = Message("user", (Text("abcde"), PICTURE))
    assert spec_tokens(body) == 2
    assert estimate_body(body) > IMAGE_TOKENS == 1_200


@of("E16")
def system_prompt_is_counted():
    assert spec_prompt_tokens([], prompt="hello", system_prompt="x" * 40_000) == 12_003


@of("E18")
def messages_have_no_overhead_in_the_specification_s_estimate():
    assert spec_prompt_tokens([user("x" * 4_000)], prompt="hello") == 1_203


@of("E19")
def results_are_four_characters_a_token():
    body = Message("tool_result", (Text("x" * 40_000),), tool_name="read")
    assert spec_tokens(body) == 10_000


@of("P-503000")
def large_results_are_not_counted_twice():
    bodies = [Message("tool_result", (Text("x" * 100_600),))] * 5
    tokens = spec_prompt_tokens(bodies)
    assert tokens == 150_900
    assert plan_route(tokens, plan_budget(200_000, 32_000, 0), 0).route == "fits"


@of("3-decides")
def script_aware_estimate_decides():
    chinese = texts()["chinese"]
    assert estimate_text(chinese) > 3 * spec_tokens(user(chinese))
    with Talk(tuple(f"{n} {chinese}" for n in range(12)), exact=False) as talk:
        view = asyncio.run(talk.session.look())
        assert view.count.tokens > 3 * spec_prompt_tokens(entry.body for entry in talk.path)


# ---- 4: routes ------------------------------------------------------------------------------------------


def tool_turn(text, call="c"):
    return (
        user("Look."),
        Message("assistant", (ToolCall(call, "read", {}),), stop_reason="tool_calls"),
        Message("tool_result", (Text(text),), tool_call_id=call, tool_name="read"),
    )


@of("4.2-200-messages")
def number_of_messages_decides_no_route():
    path = entries([*[user("a")] * 300, *tool_turn("t" * 60_000)])
    weights = {entry.id: 1 for entry in path} | {path[-1].id: 15_000}
    view = plan_view(path, weights, Count(15_302, "exact"), 20_000, ContextSettings())
    assert len(view.visible) > 200
    assert view.route.route == "truncate_tool_results_only"


@of("4.3-unbounded-shortening")
def shortening_is_tried_once():
    with Talk((*["Hello."] * 2,)) as talk:
        talk.store.append_all(talk.session_id, [*tool_turn(words(9_000))])
        talk.say("And?", "And then?")
        changes = [e for e in talk.path if getattr(e.body, "custom_type", "") == SHORTENED]
        assert len(changes) == 1
        assert talk.ended.reason == "stop"


# ---- 5: tool results --------------------------------------------------------------------------------------


def shortened(sizes, *, fresh_from=None, **more):
    bodies = [Message("tool_result", (Text("t" * size),)) for size in sizes]
    plan = plan_session_prune(bodies, 16_000, fresh_from=fresh_from, **more)
    return [len(body.text) for body in apply_shortenings(bodies, plan)]


@of("CONFLICT-4")
def newest_results_are_cut_first_and_none_is_blanked():
    assert shortened([12_400] * 3) == [12_400, 3_567, 33]  # A1
    assert shortened([12_400] * 3, order="oldest_first") == [33, 3_567, 12_400]
    assert ContextSettings().order == "newest_first"
    assert min(shortened([20_000] * 40)) > 0


@of("A1-fresh")
def newest_result_of_the_running_turn_keeps_its_beginning():
    lengths = shortened([12_400] * 3, fresh_from=0)
    assert lengths[-1] >= 2_000
    assert sum(lengths) <= 16_000


@of("5.2-aggregate-budget")
def all_results_together_have_one_cap():
    assert sum(shortened([15_000] * 4)) <= 16_000


@of("CONFLICT-5")
def cap_of_a_result_does_not_grow_with_the_window():
    assert [result_cap_chars(window) for window in (100_000, 131_072, 200_000)] == [16_000] * 3


@of("CONFLICT-6")
def important_end_has_at_most_4000_characters():
    text = truncate_text("x" * 100_000 + " done", 16_000)  # T7
    head, tail = text.split(MIDDLE_MARKER)
    assert len(head) == 11_900
    assert len(tail) == 4_000 + len("[... 84042 more characters truncated]")


@of("CONFLICT-7")
def shortening_appends_one_entry():
    with Talk(("Hello.", "Good day.")) as talk:
        talk.store.append_all(talk.session_id, tool_turn(words(10_000)))
        before = talk.store.entries(talk.session_id)
        talk.say("And?")
        after = talk.store.entries(talk.session_id)
        assert after[: len(before)] == before
        assert [type(e.body) for e in after[len(before) :]] == [Message, Custom, Message]


@of("CONFLICT-14")
def cache_pruning_is_off_and_five_minutes():
    assert (CachePruning().mode, CachePruning().ttl_ms) == ("off", 300_000)
    assert ContextSettings().cache == CachePruning()


# ---- 6: compaction ------------------------------------------------------------------------------------------


@of("6.2-reset")
def conversation_that_cannot_be_sent_stays():
    settings = ContextSettings(reserve_tokens=0, reserve_floor=0)
    with Talk(settings=settings) as talk:
        talk.store.append(talk.session_id, user(words(17_000)))
        before = talk.path
        talk.run(talk.session.answer())
        assert isinstance(talk.ended.error, ContextOverflow)
        assert talk.path[: len(before)] == before
        assert talk.store.session(talk.session_id).id == talk.session_id


@of("6.2-advice")
def advice_never_raises_the_reserve():
    assert "raise" not in CHOICES.lower()
    assert "lower the reserve" in CHOICES


@of("X-settings")
def absorbed_setting_splits_no_turn():
    items = weighed(("user", 400), ("assistant", 400), ("model", 0), ("user", 400))
    cut = plan_cut(items, 400)
    assert (cut.first_kept, cut.split_turn, cut.turn_start) == (2, False, None)


@of("X-trailing-result")
def large_result_at_the_end_is_no_dead_end():
    path = entries(["user", "assistant", "user", "assistant", "user", "call:a", "result:a"])
    weights = {entry.id: 3_000 for entry in path} | {path[-1].id: 20_000}
    budget = plan_budget(60_000)
    plan = plan_compaction(
        path,
        weights,
        plan_targets(budget),
        fixed_tokens=0,
        budget_tokens=budget.prompt,
        urgency="refused",
    )
    assert isinstance(plan, CompactionPlan)
    assert ids(plan.kept)[-2:] == (5, 6)
    assert plan.folded


@of("6.3-range")
def next_summary_begins_with_the_kept_tail():
    compaction = Compaction("Old.", "e2")
    path = entries(["user", "assistant", "user", "assistant", compaction, *["user"] * 6])
    weights = {entry.id: 2_000 for entry in path}
    budget = plan_budget(16_384)
    plan = plan_compaction(
        path,
        weights,
        plan_targets(budget),
        fixed_tokens=0,
        budget_tokens=budget.prompt,
    )
    assert isinstance(plan, CompactionPlan)
    assert ids(plan.folded)[:2] == (2, 3)
    assert plan.previous == compaction


@of("history-share")
def history_share_takes_two_passes():
    share = plan_history_share(users(4, 1_000), 2_000)
    assert (ids(share.kept), share.dropped_tokens, share.passes) == ((3,), 3_000, 2)


def long_history(count=12, tokens=1_000):
    return tuple(f"Message {n}. " + words(tokens) for n in range(count))


@of("F4-abort")
def stop_is_never_a_placeholder():
    with Talk(long_history(20), summary=Script("one two", hold_after=1)) as talk:

        def stop_it(event):
            if type(event).__name__ == "CompactionProgress" and event.doing == "writing":
                talk.session.stop()

        talk.say("Go on", until=stop_it)
        assert talk.ended.reason == "stopped"
        assert talk.compactions == []


@of("CONFLICT-8")
def placeholder_is_stored_only_where_it_must_and_marked():
    with Talk(long_history(12), summary="") as talk:  # over the budget, not over the window
        talk.say("Go on")
        assert talk.compactions == []
    with Talk(long_history(24), summary="") as talk:
        talk.say("Go on")
        assert talk.compactions[0].facts["degraded"] is True
        talk.summary = GOOD_SUMMARY
        talk.run(talk.session.compact())
        read = "\n".join(m.content for r in talk.summaries for m in r.messages)
        assert "Message 0." in read


@of("CONFLICT-15")
def manual_compaction_keeps_recent_messages():
    with Talk(long_history(8, 200)) as talk:
        talk.run(talk.session.compact())
        kept = [e.body.text for e in plan_visible(talk.path) if isinstance(e.body, Message)]
        assert kept
        assert kept[-1].startswith("Message 7.")


@of("CONFLICT-17")
def timeout_of_a_short_prompt_compacts_nothing():
    fault = BackendSilent("It said nothing.")
    for sent, compacts in ((6_400, False), (6_600, True)):
        plan = plan_recovery(fault, Tries(), sent_tokens=sent, window_tokens=10_000)
        assert (plan is not None) is compacts


@of("CONFLICT-18")
def abort_is_not_tried_again():
    with Talk(long_history(4), summary=Script("x", fault=Stopped())) as talk:
        talk.run(talk.session.compact())
        assert len(talk.summaries) == 1
        assert talk.compactions == []


@of("6.5-safeguard")
def headings_are_our_own_and_values_the_program_s():
    asked = instruction_text("summary", "en", SummaryWishes(), max_words=100)
    assert all(
        heading not in asked
        for heading in ("Open TODOs", "Pending user asks", "Exact identifiers")
    )
    headings = ("Goal", "Constraints", "Progress", "Key decisions", "Open questions")
    assert all(heading in asked for heading in headings)
    with Talk((*long_history(4, 300), "The port is 8443.", "Noted."), summary="They spoke.") as t:
        t.say(words(500))
        t.run(t.session.compact())
        assert [body.summary for body in t.compactions] == ["They spoke."]  # no audit
        t.say("Which port?")
        assert any("8443" in message.content for message in t.chats[-1].messages)


@of("6.5-size")
def summary_over_its_cap_is_rejected():
    with pytest.raises(SummaryRejected):
        check_size(961, replaced_tokens=5_000, cap_tokens=960)
    check_size(960, replaced_tokens=5_000, cap_tokens=960)


@of("6.5-file-lists")
def no_list_of_files_is_asked_for_or_added():
    with Talk(long_history(4, 300)) as talk:
        talk.store.append_all(talk.session_id, tool_turn("found"))
        talk.say(words(400))
        talk.run(talk.session.compact())
        told = talk.compactions[0].summary + "".join(
            r.messages[-1].content for r in talk.summaries
        )
        assert "-files>" not in told


@of("6.1-transcript-bytes")
def size_of_the_transcript_compacts_nothing():
    with Talk(("Hello.", "Good day.")) as talk:
        talk.store.append(talk.session_id, Custom("blob", {"raw": "x" * 4_000_000}))
        talk.say("And?")
        assert not talk.told(CompactionStarted)


# ---- 7: the transcript -----------------------------------------------------------------------------------------


@of("CONFLICT-16")
def runtime_context_is_neither_counted_nor_sent():
    note = CustomMessage("openclaw.runtime-context", "secret " * 100)
    assert spec_tokens(note) == estimate_body(note) == 0
    with Talk(("Hello.", "Good day.")) as talk:
        talk.store.append(talk.session_id, note)
        talk.say("And?")
        assert not any("secret" in message.content for message in talk.chats[0].messages)


@of("CONFLICT-19")
def pairs_are_repaired_in_memory():
    with Talk(("Hello.",)) as talk:
        talk.store.append(talk.session_id, calls("a"))
        before = talk.path
        talk.say("And?")
        assert [m.content for m in talk.chats[0].messages if m.role == "tool"] == [MISSING_RESULT]
        assert talk.path[: len(before)] == before
        assert not any(MISSING_RESULT in getattr(e.body, "text", "") for e in talk.path)


@of("7.1-lazy-file")
def message_is_stored_before_the_reply():
    with Talk() as talk:
        talk.backend.models = ()  # not even loaded
        talk.say("Hello.")
        assert talk.path[0].body == user("Hello.")


# ---- 9: what is told ---------------------------------------------------------------------------------------------


def told_texts(talk):
    return [event.text for event in talk.told(CompactionEnded)]


@of("CONFLICT-12")
def notices_are_words():
    with Talk(long_history(16)) as talk:
        talk.say("Go on")
        assert told_texts(talk)
        assert all("\N{BROOM}" not in text for text in told_texts(talk))


@of("U1")
def compaction_is_always_told():
    with Talk(long_history(16)) as talk:
        talk.say("Go on")
        assert (len(talk.told(CompactionStarted)), len(talk.told(CompactionEnded))) == (1, 1)


@of("CONFLICT-20")
def what_ended_is_told_with_its_figures():
    with Talk(long_history(16)) as talk:
        talk.say("Go on")
        [text] = told_texts(talk)
        assert text.startswith("Compacted: ")
        assert all(word in text for word in ("→", "tokens", "folded", " s."))
        assert "count" not in text


def test_defaults_the_rows_speak_of():
    """The settings' defaults are the specification's where nothing else is said."""
    settings = ContextSettings()
    assert settings.reserve_tokens == settings.reserve_floor == RESERVE_TOKENS == 20_000
    assert settings.keep_recent == 20_000
    view = plan_view([], {}, Count(0, "exact"), 16_384, replace(settings, keep_recent=1))
    assert plan_shortenings(view) == {}
