"""What a compaction folds and keeps: context-engine.md 6.3, design.md section 6; C08, C17, C19, C21."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.budget import Targets, plan_budget, plan_targets
from engine.compact import CompactionPlan, NothingToCompact, plan_compaction
from engine.transcript import Compaction, Entry, Message, visible_entries
from tests.engine.compact_items import entries, ids, said

TARGETS = Targets(
    target=3000,
    summary_cap=500,
    facts_cap=100,
    keep_recent=2000,
    flush_threshold=0,
    chunk_overhead=0,
    min_gain=500,
)


def weights(path, tokens):
    """The same weight for every message, or those given in order."""
    if isinstance(tokens, int):
        return {entry.id: tokens for entry in path}
    return {entry.id: weight for entry, weight in zip(path, tokens, strict=True)}


def plan(words, tokens=400, targets=TARGETS, **more):
    """A plan for a path of words."""
    path = entries(words)
    more = {"fixed_tokens": 100, "budget_tokens": 5000, **more}
    return plan_compaction(path, weights(path, tokens), targets, **more)


TURN = ["user", "assistant"]


# ---- the kept tail --------------------------------------------------------------------------------


def test_the_tail_is_kept_by_tokens():
    """Ten turns and a new message: the tail has keep_recent tokens, everything before is folded."""
    planned = plan(TURN * 10 + ["user"])
    assert ids(planned.folded) == tuple(range(16))
    assert ids(planned.kept) == (16, 17, 18, 19, 20)
    assert (planned.first_kept, planned.split_turn) == ("e16", False)
    assert planned.before_tokens == 100 + 21 * 400
    assert planned.predicted_tokens == 100 + 600 + 5 * 400


def test_the_tail_is_halved_until_the_target_is_reached():
    """When the usual tail would leave more than the target, half of it is kept."""
    planned = plan(TURN * 10 + ["user"], targets=replace(TARGETS, target=2000))
    assert ids(planned.kept) == (18, 19, 20)
    assert planned.predicted_tokens == 1900


def test_the_last_exchange_is_kept_where_it_fits():
    """Before less than the last exchange is kept, the last exchange is tried."""
    tokens = [400] * 18 + [900, 900, 400]
    planned = plan(TURN * 10 + ["user"], tokens, targets=replace(TARGETS, keep_recent=1500))
    assert ids(planned.kept) == (18, 19, 20)


def test_only_the_newest_message_is_kept_when_nothing_else_fits():
    """A last exchange over the target is folded; the message that waits for its reply is not."""
    tokens = [400] * 18 + [2000, 2000, 400]
    planned = plan(TURN * 10 + ["user"], tokens, targets=replace(TARGETS, target=1500))
    assert ids(planned.kept) == (20,)
    assert planned.split_turn is False


def test_c17_few_huge_messages():
    """C17: six messages of 2,500 tokens in 16K are cut by tokens; free room reaches the target."""
    budget = plan_budget(16_000)
    targets = plan_targets(budget, fixed_tokens=100)
    planned = plan(
        TURN * 3 + ["user"],
        [2500] * 6 + [50],
        targets=targets,
        budget_tokens=budget.prompt,
    )
    assert planned.predicted_tokens <= targets.target
    assert ids(planned.kept) == (5, 6)


def test_the_smallest_that_gains_enough_when_no_tail_reaches_the_target():
    """A message larger than the target leaves the shortest tail, if that frees something."""
    planned = plan(TURN * 10 + ["user"], [400] * 20 + [3500])
    assert ids(planned.kept) == (20,)
    assert planned.predicted_tokens == 4200


def test_settings_before_the_cut_are_kept():
    """A change of the model right before the kept tail is part of it."""
    planned = plan([*TURN * 8, "model", *TURN * 2, "user"], [400] * 16 + [0] + [400] * 5)
    assert planned.first_kept == "e16"


# ---- a turn that is split -------------------------------------------------------------------------

LOOP = ["call:a", "result:a", "call:b", "result:b", "call:c", "result:c"]


def test_a_long_turn_is_split():
    """A tool loop larger than the tail is cut within: its beginning is folded apart."""
    planned = plan([*TURN * 3, "user", *LOOP * 2], 400)
    assert planned.split_turn is True
    assert ids(planned.folded) == (0, 1, 2, 3, 4, 5)
    assert ids(planned.turn_prefix) == (6, 7, 8, 9, 10, 11, 12, 13, 14)
    assert ids(planned.kept) == (15, 16, 17, 18)


def test_a_turn_is_not_split_where_it_fits():
    """The whole last exchange is kept, although a tail of keep_recent tokens would split it."""
    planned = plan([*TURN * 4, "user", *LOOP[:4]], 400, targets=replace(TARGETS, keep_recent=800))
    assert planned.split_turn is False
    assert ids(planned.kept) == (8, 9, 10, 11, 12)


def test_the_newest_user_message_of_a_split_turn_stays_verbatim():
    """When the cut goes past the newest user message, it is kept beside the summary."""
    planned = plan(["user", *LOOP * 3], 400, targets=replace(TARGETS, keep_recent=800))
    assert planned.split_turn is True
    assert planned.folded == ()
    assert ids(planned.turn_prefix)[0] == 0
    assert ids(planned.pinned) == (0,)
    assert planned.predicted_tokens == 100 + 600 + 400 + sum(i.tokens for i in planned.kept)


def test_the_newest_user_message_stays_through_a_second_split():
    """A turn that is compacted twice still has what the user asked, although it is before the range."""
    first = Compaction("so far", "e5", facts={"pinned": ["e0"]})
    planned = plan(
        ["user", *LOOP, first, *LOOP * 2], 400, targets=replace(TARGETS, keep_recent=800)
    )
    assert ids(planned.pinned) == (0,)
    assert planned.before_tokens == 100 + 400 * (1 + 1 + 2 + 12)
    assert 0 not in ids(planned.folded)


def test_a_result_at_the_end_is_kept_with_its_call():
    """Where the last result alone is longer than the tail shall be, the tail begins with its call."""
    words = [*TURN * 3, "user", *LOOP[:4]]
    tokens = [400] * 6 + [100, 400, 400, 100, 1500]
    planned = plan(words, tokens, targets=replace(TARGETS, keep_recent=1000))
    assert ids(planned.kept) == (9, 10)


# ---- earlier compactions --------------------------------------------------------------------------


def test_the_range_begins_with_what_the_last_one_kept():
    """pi #2608: the messages the last compaction kept are folded into the next summary."""
    summary = Compaction("so far", "e4")
    planned = plan([*TURN * 3, summary, *TURN * 5, "user"])
    assert ids(planned.folded)[:3] == (4, 5, 7)
    assert planned.previous is summary
    assert planned.previous_entry == "e6"
    assert planned.before_tokens == 100 + 400 * (1 + 2 + 11)


def test_a_checkpoint_that_kept_nothing():
    """A first kept entry that is not on the path: the range begins after the compaction."""
    planned = plan([*TURN * 3, Compaction("so far", "gone"), *TURN * 5, "user"])
    assert ids(planned.folded)[0] == 7
    assert planned.before_tokens == 100 + 400 * 12


def test_a_degraded_compaction_is_folded_again_from_the_originals():
    """A placeholder is no summary to carry on: the one before it is, and what it had kept."""
    good = Compaction("so far", "e4")
    degraded = Compaction("no summary", "e12", facts={"degraded": True})
    planned = plan([*TURN * 3, good, *TURN * 4, degraded, *TURN * 4, "user"])
    assert planned.previous is good
    assert ids(planned.folded)[:4] == (4, 5, 7, 8)
    assert 15 not in ids(planned.folded + planned.kept)
    assert planned.before_tokens == 100 + 400 * (1 + 3 + 9)


def test_only_degraded_compactions():
    """Without a good summary everything is folded anew, from the first entry."""
    degraded = Compaction("no summary", "e4", facts={"degraded": True})
    planned = plan([*TURN * 3, degraded, *TURN * 5, "user"])
    assert planned.previous is None
    assert planned.previous_entry == ""
    assert ids(planned.folded)[:8] == (0, 1, 2, 3, 4, 5, 7, 8)


def test_two_summaries_are_never_counted():
    """An older compaction inside the last one's tail weighs nothing: the latest wins."""
    path = [*TURN * 3, Compaction("one", "e2"), *TURN, Compaction("two", "e4"), *TURN * 5, "user"]
    planned = plan(path)
    assert planned.before_tokens == 100 + 400 * (1 + 4 + 11)
    assert planned.previous_entry == "e9"


# ---- a long conversation --------------------------------------------------------------------------


@pytest.mark.parametrize("turn_tokens", [120, 500, 900])
@pytest.mark.parametrize("window", [16_000, 16_384, 32_768, 131_072])
def test_c08_compactions_are_rare_and_large(window, turn_tokens):
    """C08: each compaction frees 30 % of the budget, and at least four turns lie between two."""
    budget = plan_budget(window)
    targets = plan_targets(budget, fixed_tokens=300)
    path, tokens, compacted, size = [], {}, [], 300
    for turn in range(600):
        for word, weight in (("user", turn_tokens // 4), ("assistant", turn_tokens * 3 // 4)):
            path += append(path, said(word))
            tokens[path[-1].id] = weight
            size += weight
            if word == "user" and size > budget.prompt:
                planned = plan_compaction(
                    path, tokens, targets, fixed_tokens=300, budget_tokens=budget.prompt
                )
                assert planned.before_tokens == size
                path += append(path, Compaction("so far", planned.first_kept))
                tokens[path[-1].id] = targets.summary_cap + targets.facts_cap
                compacted.append((turn, size - planned.predicted_tokens))
                size = planned.predicted_tokens
    gaps = [later - sooner for (sooner, _), (later, _) in pairwise(compacted)]
    assert all(freed >= 0.3 * budget.prompt for _, freed in compacted)
    assert all(gap >= 4 for gap in gaps)
    assert len(compacted) >= 1 or window > 600 * turn_tokens


def append(path, body):
    """The next entry of a path."""
    return [Entry(f"e{len(path)}", "s", path[-1].id if path else None, len(path), body)]


# ---- nothing to do --------------------------------------------------------------------------------


@pytest.mark.parametrize("after", [[], ["label"], ["model", "data"], ["runtime"]])
def test_nothing_was_said_since(after):
    """Right after a compaction there is none, whatever settings follow it."""
    nothing = plan([*TURN * 9, Compaction("so far", "e2"), *after], urgency="asked_for")
    assert nothing.reason == "already_compacted"


@pytest.mark.parametrize("urgency", ["usual", "asked_for", "refused"])
@pytest.mark.parametrize("words", [[], ["user"], ["model", "user"], ["model"], ["assistant"]])
def test_nothing_before_the_last_message(words, urgency):
    """What was said last is never folded, not even on demand."""
    assert plan(words, 4000, urgency=urgency).reason == "nothing_to_compact"


def test_no_gain_says_why():
    """A compaction that would free less than the least gain is refused with its figures."""
    nothing = plan([*TURN, "user"], [400, 300, 4000])
    assert nothing == NothingToCompact(
        "no_gain",
        "The context has 4,800 tokens and could still have 4,700 after a compaction; "
        "that frees less than 500.",
    )


def test_c19_a_budget_without_room():
    """C19: where summary and system prompt alone fill the budget, there is no endless compaction."""
    nothing = plan([*TURN * 2, "user"], 150, fixed_tokens=4000)
    assert nothing.reason == "no_gain"


# ---- on demand ------------------------------------------------------------------------------------


def test_a_short_conversation_is_compacted_on_demand():
    """/compact folds about half of a conversation that is far from the budget."""
    planned = plan(TURN * 3, 300, urgency="asked_for")
    assert ids(planned.kept) == (4, 5)
    assert (planned.before_tokens, planned.predicted_tokens) == (1900, 1300)


def test_on_demand_a_small_gain_will_do():
    """/compact accepts what an automatic one refuses, as long as it frees anything."""
    assert plan([*TURN, "user"], [400, 300, 4000], urgency="asked_for").predicted_tokens == 4700


def test_on_demand_nothing_is_made_larger():
    """/compact of a conversation shorter than a summary is refused."""
    assert plan(TURN * 2, 20, urgency="asked_for").reason == "no_gain"


# ---- pinned ---------------------------------------------------------------------------------------


def test_pinned_messages_stay_verbatim():
    """A pinned message is folded and kept beside the summary; its tokens are counted."""
    planned = plan(TURN * 10 + ["user"], pinned=frozenset({"e3", "e19"}))
    assert ids(planned.pinned) == (3,)
    assert 3 in ids(planned.folded)
    assert planned.predicted_tokens == 100 + 600 + 400 + sum(i.tokens for i in planned.kept)


def test_pinned_messages_have_a_cap():
    """A quarter of the budget is for them, the newest first; the others are named."""
    planned = plan(TURN * 10 + ["user"], pinned=frozenset({"e1", "e3", "e5", "e7"}))
    assert ids(planned.pinned) == (3, 5, 7)
    assert planned.unpinned == ("e1",)


def test_messages_pinned_earlier_stay():
    """What an earlier compaction kept verbatim, the next one keeps too, and it counts as seen."""
    summary = Compaction("so far", "e4", facts={"pinned": ["e1"]})
    planned = plan([*TURN * 3, summary, *TURN * 5, "user"], pinned=frozenset({"e1"}))
    assert ids(planned.pinned) == (1,)
    assert planned.before_tokens == 100 + 400 * 15


# ---- properties -----------------------------------------------------------------------------------

STEPS = [
    ["user", "assistant"],
    ["user", "call:a", "result:a", "assistant"],
    ["user", "call:a,b", "result:a", "result:b", "call:c", "result:c"],
    ["user"],
    ["model"],
    ["note"],
    ["aborted:z"],
    ["compaction"],
    ["degraded"],
    ["checkpoint"],
]


@st.composite
def paths(draw):
    """A path with tool calls, settings and compactions, its weights, and a window with targets."""
    words, sizes = [], []
    for step in draw(st.lists(st.sampled_from(STEPS), max_size=14)):
        for word in step:
            if word in ("compaction", "degraded", "checkpoint"):
                kept = draw(st.integers(0, max(0, len(words) - 1)))
                facts = {"degraded": True} if word == "degraded" else {}
                first = "gone" if word == "checkpoint" else f"e{kept}"
                words.append(Compaction("so far", first, facts=facts))
                sizes.append(draw(st.integers(0, 600)))
            else:
                words.append(word)
                sizes.append(0 if word == "model" else draw(SIZES))
    if draw(st.booleans()):
        words.append("user")
        sizes.append(draw(SIZES))
    return entries(words), sizes


SIZES = st.one_of(st.integers(1, 60), st.integers(60, 900), st.integers(900, 9000))
WINDOWS = st.one_of(st.integers(4_096, 40_000), st.integers(40_000, 1_048_576))


@st.composite
def cases(draw):
    """Everything a plan is made of."""
    path, sizes = draw(paths())
    fixed = draw(st.integers(0, 3_000))
    budget = plan_budget(draw(WINDOWS))
    pinned = draw(st.frozensets(st.sampled_from([e.id for e in path]), max_size=3)) if path else ()
    return {
        "path": path,
        "tokens": weights(path, sizes),
        "targets": plan_targets(budget, fixed_tokens=fixed),
        "fixed_tokens": fixed,
        "budget_tokens": budget.prompt,
        "pinned": frozenset(pinned),
        "urgency": draw(st.sampled_from(["usual", "asked_for"])),
    }


def run(case):
    """The plan for a case."""
    named = dict(case)
    return plan_compaction(named.pop("path"), named.pop("tokens"), named.pop("targets"), **named)


def newest_user(path):
    """Id of the newest user message."""
    own = [e.id for e in path if isinstance(e.body, Message) and e.body.role == "user"]
    return own[-1] if own else None


@settings(deadline=None)
@given(cases())
def test_a_plan_always_frees_something(case):
    """What is predicted is less than before, by the least gain unless it was asked for."""
    planned = run(case)
    if isinstance(planned, CompactionPlan):
        least = 1 if case["urgency"] != "usual" else case["targets"].min_gain
        assert planned.before_tokens - planned.predicted_tokens >= least
        assert planned.folded or planned.turn_prefix
    else:
        assert planned.detail.endswith(".")


@settings(deadline=None)
@given(cases())
def test_before_is_what_is_visible(case):
    """The tokens before are those of what the model sees, with one summary only."""
    planned = run(case)
    if isinstance(planned, CompactionPlan):
        seen = visible_entries(case["path"])
        others = [e for e in seen[1:] if not isinstance(e.body, Compaction)]
        expected = sum(case["tokens"][e.id] for e in (seen[0], *others))
        assert planned.before_tokens == case["fixed_tokens"] + expected


@settings(deadline=None)
@given(cases())
def test_predicted_is_the_sum_of_what_stays(case):
    """The most the next prompt can have: fixed, summary, exact values, pinned and kept."""
    planned = run(case)
    if isinstance(planned, CompactionPlan):
        stays = sum(item.tokens for item in (*planned.pinned, *planned.kept))
        caps = case["targets"].summary_cap + case["targets"].facts_cap
        assert planned.predicted_tokens == case["fixed_tokens"] + caps + stays
        held = [i for i in planned.pinned if i.entry.id != newest_user(case["path"])]
        assert sum(i.tokens for i in held) <= case["budget_tokens"] // 4
        assert {*planned.unpinned, *(i.entry.id for i in held)} <= case["pinned"]


@settings(deadline=None)
@given(cases())
def test_folded_and_kept_are_the_range_in_order(case):
    """Nothing is lost, nothing is there twice, no compaction is folded, the end is kept."""
    planned = run(case)
    if isinstance(planned, CompactionPlan):
        path = case["path"]
        order = [item.entry.id for item in (*planned.folded, *planned.turn_prefix, *planned.kept)]
        start = [e.id for e in path].index(order[0])
        assert order == [e.id for e in path[start:] if not isinstance(e.body, Compaction)]
        assert planned.kept[0].entry.id == planned.first_kept
        assert bool(planned.turn_prefix) <= planned.split_turn
        assert planned.kept[-1].entry.id == order[-1]


@settings(deadline=None)
@given(cases())
def test_pairs_stay_together(case):
    """No result is kept whose call, the latest before it, was folded."""
    planned = run(case)
    if isinstance(planned, CompactionPlan):
        made: dict[str, str] = {}
        kept = {item.entry.id for item in planned.kept}
        for item in (*planned.folded, *planned.turn_prefix, *planned.kept):
            body = item.entry.body
            if isinstance(body, Message) and body.role == "tool_result":
                call = made.get(body.tool_call_id)
                assert call is None or (call in kept) == (item.entry.id in kept)
            elif isinstance(body, Message):
                made.update((call.id, item.entry.id) for call in body.tool_calls)


@settings(deadline=None)
@given(cases())
def test_the_newest_user_message_stays_verbatim(case):
    """What the user said last is in the kept tail, or beside the summary."""
    planned = run(case)
    if isinstance(planned, CompactionPlan):
        verbatim = {item.entry.id for item in (*planned.kept, *planned.pinned)}
        assert newest_user(case["path"]) in {None, *verbatim}


@settings(deadline=None)
@given(cases())
def test_a_message_that_waits_is_kept(case):
    """A user message without a reply is never folded."""
    planned = run(case)
    last = case["path"][-1].body if case["path"] else None
    waits = isinstance(last, Message) and last.role == "user"
    if isinstance(planned, CompactionPlan) and waits:
        assert planned.kept[-1].entry.id == case["path"][-1].id


@settings(deadline=None)
@given(cases())
def test_the_target_is_reached_where_it_can_be(case):
    """When any shorter tail would be within the target, so is the plan."""
    case["pinned"] = frozenset()
    planned = run(case)
    if isinstance(planned, CompactionPlan) and planned.predicted_tokens > case["targets"].target:
        caps = case["targets"].summary_cap + case["targets"].facts_cap
        asked = {item.entry.id: item.tokens for item in (*planned.pinned, *planned.kept)}
        for place in range(1, len(planned.kept)):
            tail = planned.kept[place:]
            if _may_begin(tail, planned.kept[:place]):
                stays = {item.entry.id: item.tokens for item in tail}
                newest = newest_user(case["path"])
                stays |= {newest: asked[newest]} if newest else {}
                assert case["fixed_tokens"] + caps + sum(stays.values()) > case["targets"].target


def _may_begin(tail, folded):
    """Whether a tail may begin here: with a user message or a reply, and no result without its call."""
    first = tail[0].entry.body
    if not isinstance(first, Message) or first.role == "tool_result":
        return False
    made = {call.id for item in folded for call in getattr(item.entry.body, "tool_calls", ())}
    for item in tail:
        body = item.entry.body
        if isinstance(body, Message):
            if body.role == "tool_result" and body.tool_call_id in made:
                return False
            made -= {call.id for call in body.tool_calls}
    return True


@settings(deadline=None)
@given(cases())
def test_applied_again_and_again_it_ends(case):
    """With the plan carried out and nothing said since, there is nothing to compact."""
    planned = run(case)
    if isinstance(planned, CompactionPlan):
        body = Compaction("new", planned.first_kept)
        entry = Entry("new", "s", case["path"][-1].id, 0, body)
        tokens = {**case["tokens"], "new": case["targets"].summary_cap}
        again = run({**case, "path": (*case["path"], entry), "tokens": tokens})
        assert isinstance(again, NothingToCompact)
        assert again.reason == "already_compacted"


@settings(deadline=None)
@given(cases())
def test_compactions_in_a_row_shrink_to_an_end(case):
    """With one word said between compactions, each leaves less than the one before, and they end."""
    path, tokens = list(case["path"]), dict(case["tokens"])
    before = None
    for round_ in range(40):
        planned = run({**case, "path": tuple(path), "tokens": tokens, "urgency": "usual"})
        if isinstance(planned, NothingToCompact):
            break
        assert before is None or planned.before_tokens <= before + 1
        before = planned.predicted_tokens
        pinned = [item.entry.id for item in planned.pinned]
        summary = Compaction("new", planned.first_kept, facts={"pinned": pinned})
        path.append(Entry(f"n{round_}", "s", path[-1].id, 0, summary))
        path.append(Entry(f"u{round_}", "s", path[-1].id, 0, said("user")))
        caps = case["targets"].summary_cap + case["targets"].facts_cap
        tokens |= {f"n{round_}": caps, f"u{round_}": 1}
    else:
        raise AssertionError("it never ends")
