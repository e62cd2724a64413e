"""What holds of any conversation in any window: Appendix A of context-engine.md, by its numbers.

1 to 8 are here; 9 (notes are saved at most once a compaction cycle) is in test_budget_notes.py.

::

    Story (random path, random sizes) ─▶ view ─▶ plans        every window 4,096…1,048,576
    Talk  (random life of a session)  ─▶ requests, entries    what only acts can show
"""

import asyncio
import io
import math
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from engine.budget import plan_budget
from engine.compact import CompactionPlan, NothingToCompact, Urgency
from engine.context import (
    ContextSettings,
    plan_estimate,
    plan_folding,
    plan_seen,
    plan_sent,
    plan_shortenings,
    plan_view,
    stands_degraded,
)
from engine.errors import BackendSilent, BackendUnreachable, ContextOverflow, EnvironmentFault
from engine.events import CompactionEnded, CompactionStarted, Notice, Receipt, TurnEnded
from engine.folding import plan_entry
from engine.prompt import plan_messages
from engine.prune import FRESH_KEEP_CHARS, CachePruning
from engine.testing import Script, asks_for_summary
from engine.tokens import UNCALIBRATED, Count, estimate_messages
from engine.transcript import (
    Compaction,
    CustomMessage,
    Entry,
    Label,
    Message,
    ModelChange,
    Pin,
    Text,
    Thinking,
    ToolCall,
    Usage,
    user,
)
from engine.view import pinned_ids, plan_visible, shortening_entry
from tests.engine.estimator_texts import texts
from tests.engine.talks import GOOD_SUMMARY, Talk
from tests.engine.test_view import pairs_are_whole

WINDOWS = (4_096, 8_192, 16_000, 16_384, 20_000, 32_768, 131_072, 200_000, 1_048_576)
windows = st.sampled_from(WINDOWS) | st.integers(4_096, 1_048_576)
reserves = st.sampled_from([0, 2_048, 20_000, 1 << 20]) | st.integers(0, 1 << 21)
SCRIPTS = ("english_chat", "chinese", "japanese", "arabic", "python_code", "emoji", "log_lines")
SAMPLES = {name: text for name, text in texts().items() if name in SCRIPTS}

# ---- random conversations -------------------------------------------------------------------------


class Story:
    """A path that grows, and the tokens each of its entries weighs."""

    def __init__(self, window, policy):
        self.window, self.settings, self.fixed = window, policy, 0
        self.path: list[Entry] = []
        self.tokens = {"": 40}

    def __repr__(self):
        """Short: what hypothesis prints when something does not hold."""
        kinds = [getattr(e.body, "role", type(e.body).__name__) for e in self.path]
        told = [f"{e.id} {k} {self.tokens[e.id]}" for e, k in zip(self.path, kinds, strict=True)]
        return f"Story({self.window}, fixed {self.fixed}, {self.settings.order}: {told})"

    def add(self, body, tokens=0):
        parent = self.path[-1].id if self.path else None
        self.path.append(Entry(f"e{len(self.path)}", "s", parent, len(self.path), body))
        self.tokens[self.path[-1].id] = tokens
        return self.path[-1]

    def view(self, urgency: Urgency = "usual"):
        """A view of it as it is, counted exactly: what is seen is weighed, and what may be again."""
        visible, pinned = plan_visible(self.path), pinned_ids(self.path)
        again = [e for e in self.path if e.id in pinned or stands_degraded(self.path)]
        weights = {entry.id: self.tokens[entry.id] for entry in (*visible, *again)}
        total = self.fixed + sum(weights[entry.id] for entry in visible)
        view = plan_view(self.path, weights, Count(total, "exact"), self.window, self.settings)
        return replace(view, urgency=urgency)

    def compact(self, view, folding, *, degraded=False, size=1.0):
        """Store a compaction as a session would; summary and values weigh a share of their caps."""
        summary = f"Summary of e{len(self.path)}."
        body = plan_entry(
            view, folding, summary=summary, language="en", reason="threshold", focus=""
        )
        if degraded:
            body = replace(body, facts={**body.facts, "degraded": True})
        most = view.targets.summary_cap + view.targets.facts_cap
        return self.add(body, int(size * most))

    @property
    def newest_user(self):
        return next(entry for entry in reversed(self.path) if is_role(entry, "user"))


def is_role(entry, role):
    return isinstance(entry.body, Message) and entry.body.role == role


shares = st.sampled_from([0.0, 0.0002, 0.002, 0.02, 0.1, 0.4, 1.2])
"""Sizes of messages, as a share of the window: tiny to larger than it."""
steps = st.sampled_from(["turn"] * 5 + ["tools"] * 3 + ["pin", "other", "compaction", "shortened"])
policies = st.builds(
    ContextSettings,
    reserve_tokens=reserves,
    reserve_floor=st.sampled_from([0, 20_000]),
    keep_recent=st.sampled_from([1, 500, 20_000, 1 << 20]),
    order=st.sampled_from(["newest_first", "oldest_first"]),
    result_chars=st.sampled_from([0, 0, 50, 4_000, 40_000]),
)


@st.composite
def stories(draw, max_steps=12):
    """A conversation of some turns, with all that may stand between them; a question last."""
    story = Story(draw(windows), draw(policies))
    story.fixed = draw(st.sampled_from([0, 30, story.window // 10]))
    for step in draw(st.lists(steps, max_size=max_steps)):
        tell(story, step, draw)
    story.add(said("user", draw), size(story, draw))
    return story


LINES = "12:03 the lamp was lit\n" * 2_200


def result(call, chars):
    return Message("tool_result", (Text(LINES[:chars]),), tool_call_id=call, tool_name="read")


OTHERS = (
    CustomMessage("note", "A note."),
    CustomMessage("runtime-context", "Not for the model."),
    ModelChange("other"),
    Label("e0", "here"),
    result("stray", 3_000),
)


def size(story, draw):
    return 8 + int(draw(shares) * story.window)


def said(role, draw):
    name = draw(st.sampled_from(SCRIPTS))
    parts = (Text(SAMPLES[name][: draw(st.integers(1, 60))]),)
    thinking = (Thinking("Let me see."),) if role == "assistant" and draw(st.booleans()) else ()
    return Message(role, (*thinking, *parts))


def tell(story, step, draw):
    """One step of a story."""
    ids = st.sampled_from([entry.id for entry in story.path] or ["gone"])
    match step:
        case "turn":
            story.add(said("user", draw), size(story, draw))
            story.add(said("assistant", draw), size(story, draw))
        case "tools":
            tell_tools(story, draw)
        case "pin":
            story.add(Pin(draw(ids), draw(st.booleans())))
        case "other":
            story.add(draw(st.sampled_from(OTHERS)), 10)
        case "compaction":
            folding = plan_folding(view := story.view("refused"))
            if isinstance(folding, CompactionPlan):
                story.compact(view, folding, degraded=draw(st.booleans()))
        case "shortened":
            changed = plan_shortenings(story.view())
            if changed:
                story.add(shortening_entry(changed))


def tell_tools(story, draw):
    """A turn with tool calls; a result may be missing, come late, or be enormous."""
    story.add(said("user", draw), size(story, draw))
    for number in range(draw(st.integers(1, 3))):
        call = f"c{len(story.path)}-{number}"
        story.add(Message("assistant", (ToolCall(call, "read", {}),)), 30)
        fate = draw(st.sampled_from(["there"] * 4 + ["missing", "late"]))
        if fate == "late":
            story.add(user("Hurry."), 10)
        if fate != "missing":
            chars = draw(st.sampled_from([0, 33, 2_000, 15_999, 16_001, 50_000]))
            story.add(result(call, chars), 8 + chars // 4)
    if draw(st.booleans()):
        story.add(said("assistant", draw), size(story, draw))


urgencies = st.sampled_from(["usual", "asked_for", "refused"])
many = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


# ---- 1: the budget ----------------------------------------------------------------------------------


@given(windows, reserves, reserves)
def test_1_prompt_has_its_minimum_and_nothing_is_lost(window, reserve, floor):
    """promptBudget ≥ min(8000, ⌊w/2⌋); reserve + budget = w."""
    policy = ContextSettings(reserve_tokens=reserve, reserve_floor=floor)
    budget = plan_view([], {}, Count(0, "exact"), window, policy).budget
    assert budget.prompt >= min(8_000, window // 2)
    assert budget.reserve + budget.prompt == window


# ---- 2: progress ------------------------------------------------------------------------------------


@many
@given(stories(), urgencies)
def test_2_folding_lowers_the_count_or_says_why_not(story, urgency):
    """A plan always predicts less, by itself a tenth of the budget less; else a sentence."""
    view = story.view(urgency)
    folding = plan_folding(view)
    if isinstance(folding, NothingToCompact):
        assert folding.detail.endswith(".")
        return
    least = 1 if urgency != "usual" else view.targets.min_gain
    assert folding.predicted_tokens <= folding.before_tokens - least
    assert folding.before_tokens <= view.count.tokens or stands_degraded(story.path)
    story.compact(view, folding)
    after = story.view().count.tokens
    assert after <= folding.predicted_tokens + put_in(story)
    assert after < view.count.tokens + put_in(story)


def put_in(story):
    """Tokens of results that repair puts in: a plan does not know of them."""
    return sum(story.tokens[""] for entry in plan_visible(story.path) if not entry.id)


@many
@given(stories(max_steps=8), st.booleans())
def test_2_compacting_again_and_again_ends(story, degraded):
    """Each one that is made leaves less; then there is nothing left to fold."""
    count = story.view().count.tokens
    for _ in range(40):
        view = story.view("refused")
        folding = plan_folding(view)
        if isinstance(folding, NothingToCompact):
            break
        story.compact(view, folding, degraded=degraded, size=0.9)
        after = story.view().count.tokens - put_in(story)
        if after >= count:
            break  # a session stores nothing then
        count = after
    else:
        pytest.fail("there is always something to fold")


@many
@given(stories())
def test_2_shortening_takes_away_and_ends(story):
    """Each result it names gets shorter; done, there is nothing more to shorten."""
    view = story.view()
    changed = plan_shortenings(view)
    if not changed:
        assert view.reducible_chars <= put_in_chars(view)
        return
    before = {entry.id: len(entry.body.text) for entry in view.visible if is_result(entry)}
    assert all(len(text) < before[id_] for id_, text in changed.items())
    story.add(shortening_entry(changed))
    assert story.view().reducible_chars < view.reducible_chars
    for _ in range(4):
        again = plan_shortenings(story.view())
        if not again:
            break
        story.add(shortening_entry(again))
    assert not plan_shortenings(story.view())


def put_in_chars(view):
    """Characters of results that repair put in: they have no entry that could be shortened."""
    return sum(len(entry.body.text) for entry in view.visible if not entry.id)


def is_result(entry):
    return is_role(entry, "tool_result")


# ---- 3: caps, and nothing rewritten ---------------------------------------------------------------------


@many
@given(stories())
def test_3_shortened_texts_are_within_their_cap(story):
    """Each under the cap; all together too, or every one of them as short as it may be."""
    view = story.view()
    changed = plan_shortenings(view)
    assert all(len(text) <= view.cap_chars for text in changed.values())
    story.add(shortening_entry(changed))
    results = [e for e in plan_visible(story.path) if is_result(e) and e.id]
    total = sum(len(entry.body.text) for entry in results)
    shortest = 33 * len(results) + FRESH_CHARS
    assert total <= max(view.cap_chars + put_in_chars(view), shortest)


FRESH_CHARS = FRESH_KEEP_CHARS * 5 // 4 + 110
"""What the newest result of the running turn may keep."""


@many
@given(stories(), urgencies)
def test_3_plans_change_nothing_they_are_given(story, urgency):
    """The path is the same values afterwards: whatever is decided is appended by others."""
    before, weights = tuple(story.path), dict(story.tokens)
    view = story.view(urgency)
    plan_folding(view)
    plan_shortenings(view)
    plan_sent(view)
    plan_messages(view.visible, "x")
    assert tuple(story.path) == before
    assert story.tokens == weights
    assert view.path == before


# ---- 4: pairs -------------------------------------------------------------------------------------------


@many
@given(stories(), urgencies)
def test_4_pairs_are_whole_after_every_cut(story, urgency):
    """Each result after its call, each completed call with one result: before and after acts."""
    assert pairs_are_whole([entry.body for entry in plan_visible(story.path)])
    view = story.view(urgency)
    folding = plan_folding(view)
    if isinstance(folding, CompactionPlan):
        first = next(e for e in story.path if e.id == folding.first_kept)
        assert not is_result(first)
        story.compact(view, folding)
        visible = plan_visible(story.path)
        assert pairs_are_whole([entry.body for entry in visible])
        assert_pairs_were_not_parted(folding)


def assert_pairs_were_not_parted(folding):
    """No call is folded while its result is kept: repair would have to throw the result away."""
    pinned = {item.entry.id for item in folding.pinned}
    folded = [i.entry for i in (*folding.folded, *folding.turn_prefix) if i.entry.id not in pinned]
    made = {call.id for entry in folded if is_role(entry, "assistant") for call in calls_of(entry)}
    kept = {item.entry.body.tool_call_id for item in folding.kept if is_result(item.entry)}
    assert not made & kept


def calls_of(entry):
    return entry.body.tool_calls


# ---- 5: what is shortened for one request --------------------------------------------------------------------


@many
@given(stories(), st.integers(0, 10**6))
def test_5_request_level_pruning_is_of_the_request_only(story, rested):
    """The same entries in the same order, only results changed, only to less; pairs intact."""
    story.add(Message("assistant", (Text("Yes."),), usage=Usage(read_tokens=10)), 10)
    story.add(user("And?"), 10)
    cold = CachePruning(mode="cache-ttl", ttl_ms=1_000, min_prunable_chars=0)
    story.settings = replace(story.settings, cache=cold)
    story.path[-1] = replace(story.path[-1], created_at=rested)
    view = story.view()
    sent = plan_sent(view)
    assert [entry.id for entry in sent] == [entry.id for entry in view.visible]
    for new, old in zip(sent, view.visible, strict=True):
        if new is not old:
            assert is_result(old)
            assert len(new.body.text) < len(old.body.text)
    assert pairs_are_whole([entry.body for entry in sent])
    assert plan_seen(story.path, story.settings) == view.visible


# ---- 6: one summary -----------------------------------------------------------------------------------------


@many
@given(stories(), st.integers(1, 3))
def test_6_never_two_summaries_and_the_latest_wins(story, times):
    """In what is seen and in what is sent, after any number of compactions, degraded or not."""
    for number in range(times):
        view = story.view("refused")
        folding = plan_folding(view)
        if isinstance(folding, CompactionPlan):
            story.compact(view, folding, degraded=number % 2 == 1)
            story.add(user("Go on."), 10)
    made = [entry.body.summary for entry in story.path if isinstance(entry.body, Compaction)]
    sent = "\n".join(m.content for m in plan_messages(plan_visible(story.path), ""))
    assert [summary for summary in made if f"\n{summary}\n" in sent] == made[-1:]
    assert sent.count("<summary>") == bool(made)


# ---- 8: the last thing the user said ---------------------------------------------------------------------------


@many
@given(stories(), urgencies)
def test_8_last_user_text_is_sent_verbatim(story, urgency):
    """Kept or pinned by every plan, whatever it weighs; word for word in the next prompt."""
    newest = story.newest_user
    view = story.view(urgency)
    folding = plan_folding(view)
    if isinstance(folding, CompactionPlan):
        stays = {item.entry.id for item in (*folding.kept, *folding.pinned)}
        assert newest.id in stays
        story.compact(view, folding)
    changed = plan_shortenings(story.view())
    if changed:
        story.add(shortening_entry(changed))
    sent = plan_messages(plan_sent(story.view()), "Rules.")
    assert [m.content for m in sent if m.role == "user"][-1] == newest.body.text


# ---- and ---------------------------------------------------------------------------------------------------------


@many
@given(stories(), urgencies)
def test_kept_tail_reaches_the_end_and_nothing_is_lost(story, urgency):
    """Folded, beginning of the turn, kept: one after the other, all there is since the summary."""
    view = story.view(urgency)
    folding = plan_folding(view)
    if isinstance(folding, NothingToCompact):
        return
    assert folding.kept[-1].entry.id == story.path[-1].id
    assert folding.kept[0].entry.id == folding.first_kept
    parts = (*folding.folded, *folding.turn_prefix, *folding.kept)
    ids = [item.entry.id for item in parts]
    places = {entry.id: place for place, entry in enumerate(story.path)}
    start = places[ids[0]]
    later = [e.id for e in story.path[start:] if not isinstance(e.body, Compaction)]
    assert ids == later
    assert (folding.previous is None) is (folding.previous_entry == "")
    if folding.previous is None:
        assert ids[0] == next(e.id for e in story.path if not isinstance(e.body, Compaction))


@many
@given(stories(), st.text(min_size=1).filter(str.strip), urgencies)
def test_c15_system_prompt_is_first_and_verbatim(story, system, urgency):
    """Whatever it says and whatever is folded; never a second one."""
    view = story.view(urgency)
    folding = plan_folding(view)
    if isinstance(folding, CompactionPlan):
        story.compact(view, folding)
    first, *others = plan_messages(plan_visible(story.path), system)
    assert (first.role, first.content) == ("system", system)
    assert all(message.role != "system" for message in others)


@many
@given(stories())
def test_pinned_messages_stay_verbatim_within_their_share(story):
    """What is pinned and fits a quarter of the budget together is never folded away."""
    view = story.view("refused")
    folding = plan_folding(view)
    if isinstance(folding, NothingToCompact):
        return
    newest = story.newest_user.id
    weights = [i.tokens for i in folding.pinned if i.entry.id != newest]
    assert sum(weights) <= view.budget.prompt // 4
    story.compact(view, folding)
    seen = {entry.id for entry in plan_visible(story.path)}
    kept = [i.entry for i in folding.pinned if not is_result(i.entry)]
    assert {entry.id for entry in kept} <= seen


@many
@given(stories(), st.floats(0.5, 4.0), st.integers(0, 400_000))
def test_estimate_is_never_anchored_on_what_is_gone(story, ratio, usage):
    """Usage from before a compaction or a shortening does not count, whatever it says."""
    story.add(Message("assistant", (Text("a"),), usage=Usage(read_tokens=usage)), 5)
    folding = plan_folding(view := story.view("refused"))
    if isinstance(folding, CompactionPlan):
        story.compact(view, folding)
        assert estimate(story) == Count(estimate(story).tokens, "estimated")
        assert estimate(story).tokens >= story.view().count.tokens
    else:
        kind = "anchored" if usage else "estimated"
        assert estimate(story).kind == kind
        assert not usage or estimate(story).tokens == usage


def estimate(story):
    visible = plan_visible(story.path)
    return plan_estimate(
        story.path,
        visible,
        story.tokens,
        system_tokens=story.fixed,
        calibration=UNCALIBRATED,
        model="",
    )


@many
@given(stories())
def test_route_follows_from_count_budget_and_results(story):
    """One value: what is over the budget is never called fitting, what fits is left alone."""
    view = story.view()
    route = view.route
    assert (route.route == "fits") is (view.count.tokens <= view.budget.prompt)
    assert route.overflow == max(0, view.count.tokens - view.budget.prompt)
    if view.reducible_chars > put_in_chars(view):
        assert plan_shortenings(view)
    assert 0 <= view.targets.keep_recent <= max(view.settings.keep_recent, 0)


# ---- 2, 3, 5, 7 with acts --------------------------------------------------------------------------------------

SUMMARIES = {
    "good": GOOD_SUMMARY,
    "chinese": "他们在谈灯塔的历史，看守人的清单做了一半，下一步是修灯。",
    "blank": "",
    "as long": lambda r: " ".join(m.content for m in r.messages),
    "refused": "I'm sorry, but I can't do that.",
    "overflows": Script("x", fault=ContextOverflow("It does not fit.")),
    "down": Script("x", fault=BackendUnreachable("No server answers.")),
}
FAULTS = {
    "none": None,
    "overflow": ContextOverflow("It does not fit."),
    "small window": ContextOverflow("It does not fit.", window_tokens=3_500),
    "silent": BackendSilent("It said nothing."),
}
BUDGETS = (4_096, 8_192, 16_000, 16_384, 32_768, 131_072, 1_048_576)
lives = st.fixed_dictionaries(
    {
        "window": st.sampled_from(BUDGETS) | st.integers(4_096, 40_000),
        "exact": st.booleans(),
        "system": st.sampled_from(["", "Keep the lamp.\n", "你是灯塔看守人。"]),
        "summary": st.sampled_from(sorted(SUMMARIES)),
        "faults": st.lists(st.sampled_from(sorted(FAULTS)), max_size=6),
        "messages": st.lists(
            st.tuples(st.sampled_from(SCRIPTS), st.sampled_from([0.001, 0.02, 0.2, 0.6])),
            max_size=14,
        ),
        "results": st.lists(st.sampled_from([10, 6_000, 16_001, 40_000]), max_size=3),
        "turns": st.integers(1, 3),
    }
)


class Life:
    """A session with a random past, and what it does in some turns."""

    def __init__(self, drawn):
        self.drawn = drawn
        self.faults = [FAULTS[name] for name in drawn["faults"]]
        window = drawn["window"]
        # a large window has a large reserve, so that little text is needed to fill its budget
        reserve = max(20_000, window - 12_000) if window > 40_000 else 20_000
        self.budget = plan_budget(window, reserve)
        self.talk = Talk(
            window=window,
            exact=drawn["exact"],
            system=drawn["system"],
            summary=SUMMARIES[drawn["summary"]],
            reply=self.reply,
            settings=ContextSettings(reserve_tokens=reserve),
        )
        self.talk.store.append_all(self.talk.session_id, self.past())

    def reply(self, request):
        fault = self.faults.pop(0) if self.faults else None
        return Script("x", fault=fault) if fault else "Noted."

    def past(self):
        """Messages in several scripts, tiny to huge, then a turn with tool results."""
        bodies = []
        for number, (script, share) in enumerate(self.drawn["messages"]):
            wanted = max(1, int(share * self.budget.prompt))
            sample = SAMPLES[script]
            text = f"{number}: " + sample * math.ceil(wanted / len(sample))
            text = text[: 8 + wanted]
            bodies.append(
                user(text)
                if number % 2 == 0
                else Message("assistant", (Text(text),), stop_reason="stop")
            )
        for number, chars in enumerate(self.drawn["results"]):
            call = ToolCall(f"c{number}", "read", {"n": number})
            bodies.append(Message("assistant", (call,), stop_reason="tool_calls"))
            bodies.append(result(call.id, chars))
        return bodies

    def exported(self):
        file = io.StringIO()
        self.talk.store.export_jsonl(self.talk.session_id, file)
        return file.getvalue().splitlines()[1:]  # the header carries counters


few = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)


@few
@given(lives)
def test_2_3_7_any_life_makes_progress_and_only_appends(drawn):
    """No loop, bounded tries, each step smaller, the old file a beginning of the new one."""
    life = Life(drawn)
    with life.talk as talk:
        for number in range(drawn["turns"]):
            before, asked = life.exported(), f"What of it, {number}?"
            requests = len(talk.backend.requests)
            talk.say(asked)
            after = life.exported()
            assert after[: len(before)] == before
            check_events(talk)
            check_requests(life, talk.backend.requests[requests:], asked)


def check_events(talk):
    """2 and 7: each step that is done is smaller; at most 3 and 2 compactions for refusals."""
    assert isinstance(talk.ended, TurnEnded)
    assert talk.ended.error is None or isinstance(talk.ended.error, EnvironmentFault)
    assert len(talk.told(TurnEnded)) == 1
    done = [event for event in talk.told(CompactionEnded) if event.outcome == "done"]
    assert all(event.after_tokens < event.before_tokens for event in done)
    reasons = Counter(event.reason for event in talk.told(CompactionStarted))
    assert reasons["overflow"] <= 3
    assert reasons["timeout"] <= 2
    assert reasons["preemptive"] <= 1 + 3 + 2  # once for each request that is planned
    assert reasons["threshold"] <= 1
    told = [event.code for event in talk.told(Notice)]
    for receipt in talk.told(Receipt):
        budget = plan_budget(receipt.window_tokens, talk.settings.reserve_tokens)
        assert receipt.sent_tokens <= budget.prompt or "over_budget" in told


def check_requests(life, requests, asked):
    """What was sent fits, and is system prompt, at most one summary, …, the question."""
    window, system = life.drawn["window"], life.drawn["system"]
    for request in requests:
        tokens = estimate_messages(request.messages)
        assert tokens < window
        assert tokens + request.max_tokens <= window or not life.drawn["exact"]
        if asks_for_summary(request):
            continue
        first = request.messages[0]
        assert not system or (first.role, first.content) == ("system", system)
        assert [m.content for m in request.messages if m.role == "user"][-1] == asked
        assert sum("<summary>" in m.content for m in request.messages) <= 1
        assert wire_pairs_are_whole(request.messages)
    chats = [estimate_messages(r.messages) for r in requests if not asks_for_summary(r)]
    assert chats == sorted(chats, reverse=True)
    assert len(set(chats)) == len(chats)


def wire_pairs_are_whole(messages):
    waiting = []
    for message in messages:
        if message.role == "tool":
            if message.tool_call_id not in waiting:
                return False
            waiting.remove(message.tool_call_id)
        elif waiting:
            return False
        else:
            waiting = [call.id for call in message.tool_calls]
    return not waiting


def test_5_looking_writes_nothing():
    """The state of a context is asked for again and again: not a byte of the file changes."""
    drawn = {
        "window": 8_192,
        "exact": True,
        "system": "Keep the lamp.",
        "summary": "good",
        "faults": [],
        "messages": [("english_chat", 0.6), ("chinese", 0.6)] * 3,
        "results": [40_000, 16_001],
        "turns": 1,
    }
    life = Life(drawn)
    with life.talk as talk:
        before = life.exported()
        views = [asyncio.run(talk.session.look()) for _ in range(2)]
        assert views[0] == views[1]
        assert views[0].route.route != "fits"
        assert life.exported() == before
