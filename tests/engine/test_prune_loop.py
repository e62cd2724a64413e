"""The guard inside a turn; limits of context-engine.md section 4.4."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.prune import LoopGuard, apply_shortenings, plan_loop_guard
from engine.transcript import (
    BranchSummary,
    Compaction,
    Custom,
    CustomMessage,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    Unknown,
    UnknownPart,
    user,
)

PICTURE = Image("image/png", "AAAA")


def result(*parts):
    texts = (Text(part) if isinstance(part, str) else part for part in parts)
    return Message("tool_result", tuple(texts), tool_call_id="c", tool_name="read")


@pytest.mark.parametrize(
    ("window", "raw", "total"),
    [
        (0, 512, 1_024),
        (284, 512, 1_024),
        (1_000, 512, 3_600),
        (4_096, 2_048, 14_745),
        (8_192, 4_096, 29_491),
        (16_000, 8_000, 57_600),
        (16_384, 8_192, 58_982),
        (20_000, 10_000, 72_000),
        (24_576, 12_288, 88_473),
        (32_000, 16_000, 115_200),
        (32_768, 16_384, 117_964),
        (40_960, 20_480, 147_456),
        (65_536, 32_768, 235_929),
        (131_072, 65_536, 471_859),
        (200_000, 100_000, 720_000),
    ],
)
def test_the_limits_of_a_window(window, raw, total):
    """Plain characters of one result, weighted characters of everything."""
    guard = LoopGuard.of(window)
    assert (guard.result_chars, guard.total_limit) == (raw, total)


@pytest.mark.parametrize(
    ("window", "raw"), [(1_000, 512), (8_192, 4_096), (16_000, 8_000), (200_000, 100_000)]
)
def test_a_result_is_cut_to_half_a_character_per_token(window, raw):
    """At the limit it stays, one character over it is cut to the limit."""
    assert plan_loop_guard([result("x" * raw)], window).shortenings == ()
    (change,) = plan_loop_guard([result("x" * (raw + 1))], window).shortenings
    assert (change.index, change.before_chars, change.after_chars) == (0, raw + 1, raw)


@pytest.mark.parametrize("chars", [57_600, 57_601])
def test_only_more_than_the_limit_is_an_overflow(chars):
    """Exactly at the limit of 16,000 tokens the messages fit."""
    plan = plan_loop_guard([user("u" * chars)], 16_000)
    assert (plan.total_chars, plan.limit_chars) == (chars, 57_600)
    assert plan.overflow is (chars > 57_600)


def test_results_are_weighed_after_they_were_cut():
    """Four results of half a million characters count as four times the limit."""
    plan = plan_loop_guard([result("x" * 500_000)] * 4, 16_000)
    assert plan.total_chars == 4 * 16_000
    assert plan.overflow
    assert not plan_loop_guard([result("x" * 500_000)] * 3, 16_000).overflow


@pytest.mark.parametrize(
    ("body", "chars"),
    [
        pytest.param(user("abcd"), 4, id="user text"),
        pytest.param(user("漢字"), 8, id="a CJK character is four"),
        pytest.param(Message("system", (Text("abcd"),)), 4, id="system prompt"),
        pytest.param(Message("user", (PICTURE,)), 8_000, id="picture"),
        pytest.param(
            Message(
                "assistant", (Thinking("abc"), Text("de"), ToolCall("1", "ls", {"path": "a b"}))
            ),
            3 + 2 + 2 + 14,
            id="reply with thinking and call",
        ),
        pytest.param(result("abcd"), 8, id="characters of a result weigh two"),
        pytest.param(result("漢字"), 8, id="CJK in a result is weighted once"),
        pytest.param(result("漢字ab"), 12, id="mixed result"),
        pytest.param(result("ab", PICTURE), 8_004, id="result with picture"),
        pytest.param(CustomMessage("note", "abc"), 3, id="custom message"),
        pytest.param(CustomMessage("runtime-context", "abc"), 0, id="runtime context"),
        pytest.param(Compaction("summary", "e1"), 7, id="summary"),
        pytest.param(BranchSummary("e1", "branch"), 6, id="branch summary"),
        pytest.param(Custom("note", {"a": "b" * 99}), 0, id="data of the program"),
        pytest.param(Unknown("dream", {"a": "b" * 99}), 0, id="unknown entry"),
        pytest.param(Message("user", (UnknownPart({"a": "b"}),)), 0, id="unknown part"),
    ],
)
def test_what_a_body_weighs(body, chars):
    """Weighted characters of what a model gets, nothing for what it never gets."""
    assert plan_loop_guard([body], 16_000).total_chars == chars


pieces = st.sampled_from(["a", "漢", "𠀀", "\N{FIRE}", "words and \n", "error "])
texts = st.builds(
    lambda left, many, right, more: left * many + right * more,
    pieces,
    st.integers(0, 3_000),
    pieces,
    st.integers(0, 3_000),
)
windows = st.integers(0, 8_000)


@settings(deadline=None)
@given(st.lists(texts, max_size=3), windows)
def test_no_result_is_over_the_limit_whatever_its_script(parts, window):
    """A copy with the shortenings needs no more of them."""
    bodies = [user("go on"), result(*parts, PICTURE)]
    plan = plan_loop_guard(bodies, window)
    after = apply_shortenings(bodies, plan.shortenings)
    again = plan_loop_guard(after, window)
    assert again.shortenings == ()
    assert again.total_chars == plan.total_chars
    # The pictures and the user's text aside, what is left is within the limit of a result.
    assert plan.total_chars - 8_000 - 5 <= LoopGuard.of(window).result_limit


@settings(deadline=None)
@given(windows, windows)
def test_limits_rise_with_the_window(one, other):
    """A larger window never allows less."""
    small, large = (LoopGuard.of(window) for window in sorted((one, other)))
    assert small.result_limit <= large.result_limit
    assert small.total_limit <= large.total_limit
