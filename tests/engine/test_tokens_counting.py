"""Anchored and estimated counts: which usage is believed, and what is added to it."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.backends.base import PromptMessage
from engine.tokens import (
    Anchor,
    Calibration,
    Count,
    estimate_body,
    estimate_messages,
    find_anchor,
    plan_count,
    spec_messages_tokens,
    spec_tokens,
)
from engine.transcript import (
    BranchSummary,
    Compaction,
    Custom,
    CustomMessage,
    Entry,
    Image,
    Label,
    Message,
    Pin,
    Text,
    Thinking,
    ToolCall,
    Unknown,
    UnknownPart,
    Usage,
    user,
)
from tests.engine.transcript_strategies import bodies


def _path(*contents):
    """A path of entries e0, e1, … with these bodies."""
    return tuple(
        Entry(f"e{n}", "s", f"e{n - 1}" if n else None, n, body) for n, body in enumerate(contents)
    )


def _reply(text="hi", read=0, written=0, stop="stop", model="m", **usage):
    counted = Usage(read_tokens=read, written_tokens=written, **usage) if read else None
    return Message("assistant", (Text(text),), model=model, stop_reason=stop, usage=counted)


def test_e12_usage_is_all_that_was_read_and_written():
    """E12: 1,000 read, 500 written, 200 from the cache and 100 put into it are 1,800."""
    reply = _reply(read=1000 + 100, written=500, reused_tokens=200)
    assert find_anchor(_path(user("a"), reply)) == Anchor(1, 1800)


def test_e13_what_follows_the_anchor_is_estimated():
    """E13: usage 1,800 and 400 characters after it are 1,900; the margin is on the 100 only."""
    path = _path(user("a"), _reply(read=1500, written=300), user("x" * 400))
    anchor = find_anchor(path)
    assert anchor == Anchor(1, 1800)
    assert spec_messages_tokens(entry.body for entry in path[anchor.index + 1 :]) == 100
    assert plan_count(path, spec_tokens) == Count(1800 + 120, "anchored")


def test_e14_an_aborted_reply_is_no_anchor():
    """E14: its usage is not believed; everything is estimated (4 before the margin)."""
    path = _path(user("x" * 11), _reply("hi", read=4900, written=100, stop="stopped"))
    assert find_anchor(path) is None
    assert spec_messages_tokens(entry.body for entry in path) == 4
    assert plan_count(path, spec_tokens) == Count(5, "estimated")


@pytest.mark.parametrize("stop", ["stopped", "failed", "interrupted"])
def test_unfinished_replies_are_passed_over(stop):
    """The finished reply before it anchors; the unfinished one is estimated like any message."""
    path = _path(
        user("a"), _reply(read=90, written=10), user("b"), _reply("x" * 400, 999, 1, stop)
    )
    assert find_anchor(path) == Anchor(1, 100)
    assert plan_count(path, spec_tokens).tokens == 100 + math.ceil(1.2 * (1 + 100))


@pytest.mark.parametrize("stop", ["stop", "length", "tool_calls", None])
def test_finished_replies_anchor(stop):
    """However they ended by themselves; a foreign transcript may not say."""
    assert find_anchor(_path(user("a"), _reply(read=90, written=10, stop=stop))) == Anchor(1, 100)


def test_usage_from_before_the_last_compaction_is_not_believed():
    """Its figures are of a context that is gone, though the reply itself may be in the kept tail."""
    before = (user("x" * 40), _reply("y" * 40, read=9000, written=90))
    path = _path(*before, Compaction("s" * 40, "e1"))
    assert find_anchor(path) is None
    assert plan_count(path, spec_tokens) == Count(math.ceil(1.2 * 20), "estimated")


def test_usage_after_the_compaction_is_believed():
    """The first reply after a compaction anchors again."""
    path = _path(user("a"), Compaction("s", "e0"), user("b"), _reply(read=50, written=7))
    assert find_anchor(path) == Anchor(3, 57)


def test_another_models_usage_does_not_count_when_a_model_is_named():
    """Its tokenizer is another; an earlier reply of the named model still anchors."""
    mine, other = _reply(read=80, written=20, model="a"), _reply("z" * 40, 500, 50, model="b")
    path = _path(user("x"), mine, user("y"), other)
    assert find_anchor(path, "a") == Anchor(1, 100)
    assert find_anchor(path, "b") == Anchor(3, 550)
    assert find_anchor(path, "c") is None
    assert find_anchor(path) == Anchor(3, 550)


def test_usage_of_nothing_is_none():
    """A backend that reports zeros has reported nothing."""
    empty = Message("assistant", (Text("hi"),), usage=Usage())
    assert find_anchor(_path(user("a"), empty)) is None
    assert find_anchor(()) is None


def test_the_fixed_part_is_in_the_anchor_already():
    """System prompt and tool schemas are added to estimates only."""
    path = _path(user("abcd"), _reply(read=90, written=10))
    assert plan_count(path, spec_tokens, fixed_tokens=1000) == Count(100, "anchored")
    assert plan_count(path[:1], spec_tokens, fixed_tokens=1000) == Count(1202, "estimated")


def test_calibration_is_on_estimates_only():
    """Twice as many for a model that was seen to need twice as many, before the margin."""
    path = _path(user("abcd"), _reply(read=90, written=10), user("x" * 40))
    twice = Calibration(2.0)
    assert plan_count(path, spec_tokens, calibration=twice).tokens == 100 + 24
    assert plan_count(path[:1], spec_tokens, fixed_tokens=9, calibration=twice).tokens == 24


def test_e20_details_and_runtime_context_do_not_count():
    """E20: a megabyte of details weighs nothing, nor does what the program tells itself."""
    result = Message("tool_result", (Text("abcd"),), details={"raw": "x" * 10**6})
    hidden = CustomMessage("openclaw.runtime-context", "x" * 4000)
    assert plan_count(_path(result, hidden), spec_tokens).tokens == 2
    assert plan_count(_path(result), estimate_body) == plan_count(
        _path(result, hidden), estimate_body
    )
    assert plan_count(_path(hidden), lambda body: 1000) == Count(0, "estimated")


@given(st.lists(bodies, max_size=8), st.integers(0, 5000), st.floats(0.5, 4.0))
def test_a_count_never_falls_when_something_is_said(contents, fixed, ratio):
    """Any history, with one more user message, is at least as large."""
    learned = Calibration(ratio)
    path = _path(*contents, user("more"))
    before = plan_count(path[:-1], estimate_body, fixed_tokens=fixed, calibration=learned)
    after = plan_count(path, estimate_body, fixed_tokens=fixed, calibration=learned)
    assert after.tokens > before.tokens >= 0
    assert after.kind == before.kind


# ---- what a body weighs -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(Custom("x", {"a": "b" * 99}), id="data"),
        pytest.param(Label("x", "label"), id="label"),
        pytest.param(Pin("x"), id="pin"),
        pytest.param(Unknown("x", {"a": "b" * 99}), id="unknown"),
        pytest.param(Message("assistant", ()), id="empty-reply"),
        pytest.param(Message("assistant", (Thinking("hm"),)), id="thinking-only"),
        pytest.param(CustomMessage("runtime-context", "hm"), id="runtime-context"),
    ],
)
def test_what_never_reaches_a_model_weighs_nothing(body):
    """Not even a message's overhead."""
    assert estimate_body(body) == 0


def test_e3_pictures_weigh_1200_tokens():
    """E3 (second figure): a picture counts in the estimator in use, whoever sent it."""
    picture = Image("image/png", "A" * 100_000)
    for role in ("user", "tool_result"):
        plain, with_picture = (
            Message(role, (Text("abcde"),)),
            Message(role, (Text("abcde"), picture)),
        )
        assert estimate_body(with_picture) - estimate_body(plain) == 1200


def test_a_body_weighs_what_its_message_does():
    """The weights of a stored message and of the one that is sent agree."""
    call = ToolCall("c", "clock", {"zone": "UTC"})
    said = Message("assistant", (Thinking("Hm."), Text("It is late."), call))
    sent = PromptMessage("assistant", "It is late.", thinking="Hm.", tool_calls=(call,))
    assert estimate_body(said) == estimate_messages([sent])
    result = Message("tool_result", (Text("23:59"),), tool_call_id="c", tool_name="clock")
    answer = PromptMessage("tool", "23:59", tool_call_id="c", tool_name="clock")
    assert estimate_body(result) == estimate_messages([answer])


def test_everything_a_model_reads_is_counted():
    """Content, thinking and calls of every message, and what the template puts around each."""
    call = ToolCall("c", "clock", {"zone": "UTC"})
    bare = estimate_messages([PromptMessage("user", "")])
    full = PromptMessage("assistant", "abc", thinking="abc", tool_calls=(call,))
    parts = [
        PromptMessage("assistant", "abc"),
        PromptMessage("assistant", "", thinking="abc"),
        PromptMessage("assistant", "", tool_calls=(call,)),
    ]
    assert bare == 8
    assert estimate_messages([full]) == sum(estimate_messages([p]) for p in parts) - 2 * bare
    assert estimate_messages([full, full]) == 2 * estimate_messages([full])


def test_unknown_parts_are_not_sent_and_not_counted():
    """A part of a kind this version does not know."""
    odd = Message("user", (Text("abc"), UnknownPart({"type": "video", "data": "x" * 999})))
    assert estimate_body(odd) == estimate_body(user("abc"))


def test_summaries_weigh_more_than_their_text():
    """The sentence that frames them, and the exact values under a compaction's."""
    text = estimate_body(user("What was agreed."))
    plain = Compaction("What was agreed.", "e1")
    values = [{"kind": "port", "value": "8443", "label": "the test server"}]
    with_values = Compaction(
        "What was agreed.", "e1", facts={"values": values, "details": "x" * 999}
    )
    assert estimate_body(plain) > text + 50
    assert estimate_body(BranchSummary("e1", "What was agreed.")) > text + 50
    assert 10 < estimate_body(with_values) - estimate_body(plain) < 60


def test_a_reply_that_was_read_otherwise_is_no_anchor():
    """What a server that cut the prompt reports is not the size of the conversation."""
    honest = Message("assistant", (Text("x"),), usage=Usage(read_tokens=900, written_tokens=10))
    cut = replace(honest, details={"receipt": {"sent": 3_000, "mismatch": "It was cut."}})
    assert find_anchor(_path(user("a"), honest)) == Anchor(1, 910)
    assert find_anchor(_path(user("a"), cut)) is None
    fine = replace(honest, details={"receipt": {"sent": 900, "mismatch": ""}})
    assert find_anchor(_path(user("a"), fine)) == Anchor(1, 910)
