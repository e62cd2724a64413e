"""What the engine says of a context without sending anything."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.compact import plan_cut
from engine.context import ContextSettings, plan_folding
from engine.explain import Explained, plan_explanation, spec_estimate
from engine.testing import reply
from engine.tokens import Calibration, Weighed, estimate_text, spec_tokens
from engine.transcript import (
    Compaction,
    CustomMessage,
    Entry,
    Image,
    Message,
    ModelChange,
    Pin,
    Text,
    ToolCall,
    Usage,
    user,
)
from engine.view import shortening_entry
from engine.window import ContextWindow

WINDOW = ContextWindow(16_000, "option")


def path_of(*bodies):
    """Bodies as a path; their ids are e0, e1, …"""
    return tuple(
        Entry(f"e{i}", "s", f"e{i - 1}" if i else None, 1_000 + i, body)
        for i, body in enumerate(bodies)
    )


def result(chars, call="c"):
    return Message("tool_result", (Text("t" * chars),), tool_call_id=call, tool_name="read")


def calls(*ids):
    return Message("assistant", tuple(ToolCall(id_, "read", {}) for id_ in ids), model="test")


def turns(count, words=200):
    """Whole turns: a user message and a reply, each of so many words."""
    said = []
    for number in range(count):
        said += [user(f"question {number} " + "why " * words), reply(f"answer {number} " * words)]
    return said


def explain(*bodies, window=WINDOW, spec=False, model=None, **settings):
    return plan_explanation(
        path_of(*bodies), window, ContextSettings(**settings), model or Explained(), spec=spec
    )


# ---- the figures --------------------------------------------------------------------------------

KEYS = {
    "window": {"tokens", "source"},
    "guard": {"warn", "block", "messages"},
    "budget": {"min_prompt", "reserve", "prompt"},
    "count": {"tokens", "kind", "spec_estimate"},
    "cut": {"first_kept", "folded", "kept", "split_turn"},
}
PLAIN = {"route", "overflow", "reducible_chars", "threshold_chars", "chunks", "target"}


@pytest.mark.parametrize("spec", [False, True], ids=["session", "spec"])
def test_json_has_exactly_the_keys(spec):
    """Nothing more, nothing less, nested as the issue writes them; and it is JSON."""
    facts = json.loads(json.dumps(explain(*turns(3), spec=spec).to_json()))
    assert set(facts) == {*KEYS, *PLAIN}
    assert {name: set(facts[name]) for name in KEYS} == KEYS


bodies = st.one_of(
    st.text(max_size=400).map(user),
    st.text(min_size=1, max_size=400).map(reply),
    st.integers(0, 30_000).map(result),
    st.just(ModelChange("test")),
    st.builds(CustomMessage, st.sampled_from(["note", "runtime-context"]), st.text(max_size=99)),
    st.builds(Compaction, st.text(max_size=300), st.sampled_from(["e0", "e2", "e5", "gone"])),
    st.builds(Pin, st.sampled_from(["e0", "e1", "e3"])),
)


@given(st.lists(bodies, max_size=14), st.integers(0, 200_000), st.booleans())
def test_every_path_can_be_explained(said, tokens, spec):
    """Any mixture in any window: the segments are the count, folded and kept are messages once."""
    explanation = explain(*said, window=ContextWindow(tokens, "option"), spec=spec)
    count = explanation.view.count.tokens
    assert sum(segment.tokens for segment in explanation.segments) in (count, 0)
    fold = explanation.fold
    ids = [item.entry.id for item in (*fold.folded, *fold.kept)]
    assert len(ids) == len(set(ids))
    assert fold.first_kept == (fold.kept[0].entry.id if fold.kept else "")
    assert sum(explanation.chunks) == sum(item.tokens for item in fold.folded)
    assert bool(fold.why_not) == (not fold.folded)


def test_the_fold_is_the_one_the_session_would_make():
    """The same plan as a compaction: its cut, its messages, its promise."""
    explanation = explain(*turns(30))
    folding = plan_folding(explanation.view)
    assert explanation.view.route.route == "compact_only"
    assert explanation.fold.first_kept == folding.first_kept
    assert explanation.fold.after_tokens == folding.predicted_tokens
    assert len(explanation.fold.folded) == len((*folding.folded, *folding.turn_prefix))
    assert explanation.fold.after_tokens <= explanation.view.targets.target


def test_the_system_prompt_is_counted():
    """It is in every prompt, and no compaction folds it (CONFLICT-13)."""
    model = Explained(system_prompt="Be brief. " * 200)
    plain, told = explain(*turns(2)), explain(*turns(2), model=model)
    assert told.view.count.tokens > plain.view.count.tokens + 400
    assert told.spec_estimate == plain.spec_estimate + 600
    assert {s.name: s.tokens for s in told.segments}["system prompt"] >= 500


def test_estimates_carry_what_is_known_of_the_model():
    """A model that takes twice as many tokens as estimated has a context twice as large."""
    once = explain(*turns(2)).view.count.tokens
    twice = explain(*turns(2), model=Explained(calibration=Calibration(2.0))).view.count.tokens
    assert twice == pytest.approx(2 * once, abs=2)


def test_the_last_replys_usage_anchors_the_count():
    """What the model reported counts as it is; only what came after is estimated."""
    answer = Message(
        "assistant", (Text("Fine."),), model="m", stop_reason="stop", usage=Usage(3_000, 500, 20)
    )
    explanation = explain(user("a"), answer, user("b" * 300), model=Explained("m"))
    assert explanation.view.count.kind == "anchored"
    assert 3_520 < explanation.view.count.tokens < 3_520 + 2 * estimate_text("b" * 300)
    other = explain(user("a"), answer, user("b"), model=Explained("another"))
    assert other.view.count.kind == "estimated"


def test_segments_name_what_fills_the_window():
    """Summary, pinned, your messages, replies, tool results: each with its number."""
    explanation = explain(
        user("keep this " * 30),
        *turns(2),
        Compaction("All that was.", "e3", facts={"pinned": ["e0"]}),
        user("Read it."),
        calls("c"),
        result(900),
        model=Explained(system_prompt="Be brief."),
    )
    found = {s.name: s.entries for s in explanation.segments}
    assert found == {
        "system prompt": 0,
        "summary": 1,
        "pinned": 1,
        "your messages": 2,
        "replies": 2,
        "tool results": 1,
    }


def test_shortened_results_count_as_they_are_sent():
    """A result that was shortened for good weighs what is left of it, in both estimates."""
    said = [user("Read it."), calls("c"), result(40_000)]
    before = explain(*said)
    after = explain(*said, shortening_entry({"e2": "t" * 400}))
    assert after.view.count.tokens < before.view.count.tokens / 20
    assert after.spec_estimate < 200


def test_what_would_be_shortened_is_told():
    """The route that shortens names the results and both lengths."""
    explanation = explain(user("u" * 4_000), calls("c"), result(24_000), spec=True)
    [change] = explanation.shortened
    assert (change.entry.id, change.before_chars) == ("e2", 24_000)
    assert change.after_chars <= 16_000


def test_nothing_is_shortened_where_nothing_would_be():
    """What fits stays; reducible is what could be saved."""
    explanation = explain(calls("c"), result(24_000), window=ContextWindow(64_000, "option"))
    assert explanation.view.route.route == "fits"
    assert explanation.view.route.reducible_chars == 8_000
    assert explanation.shortened == ()


# ---- the specification's figures ----------------------------------------------------------------


def test_spec_reads_what_is_there_unrepaired():
    """A result without a call counts for the specification, and not for the session."""
    said = [user("u" * 400), result(4_000)]
    assert spec_estimate(path_of(*said)) == 1_320
    assert explain(*said, spec=True).view.count.tokens == 1_320
    assert explain(*said).view.count.tokens < 600


def test_spec_keeps_the_tail_as_configured():
    """No scaling to the window: the cut is where the configured tail is reached."""
    said = [user("x" * 1_600) if i % 2 == 0 else reply("y" * 1_600) for i in range(20)]
    explanation = explain(*said, spec=True, keep_recent=2_500)
    cut = plan_cut([Weighed(e, spec_tokens(e.body)) for e in path_of(*said)], 2_500)
    assert explanation.fold.first_kept == f"e{cut.first_kept}" == "e13"
    assert explanation.fold.split_turn


def test_spec_goes_on_from_the_last_kept_tail():
    """After a compaction the range begins with what it kept (pi #2608); the summary is no message."""
    said = turns(3)
    explanation = explain(
        *said, Compaction("Before.", "e2"), *turns(2), spec=True, keep_recent=400
    )
    ids = [item.entry.id for item in (*explanation.fold.folded, *explanation.fold.kept)]
    assert ids == ["e2", "e3", "e4", "e5", "e7", "e8", "e9", "e10"]


def test_spec_chunks_are_the_specifications():
    """Chunk budget ⌊w·ratio⌋ − 4,096 and a margin of 1.2: sums of the chunks in order."""
    said = [user("x" * 1_600) if i % 2 == 0 else reply("y" * 1_600) for i in range(40)]
    explanation = explain(*said, spec=True, keep_recent=400)
    assert explanation.chunks == (1_600,) * 9 + (1_200,)  # 2,304 / 1.2 = 1,920


def test_pictures_are_weighed_where_the_model_gets_them():
    """As the session would: in the parts, as files."""
    seen = user("Who?", (Image("image/png", "Y2F0"),))
    for sees in (True, False):
        told = explain(seen, model=Explained("m", sees_images=sees))
        names = {segment.name for segment in told.segments}
        assert ("files" in names) == sees
