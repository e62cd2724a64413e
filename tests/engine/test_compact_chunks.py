"""Taking messages apart: context-engine.md 6.4, vectors S, the ratio table, oversize, history share.

One figure of the reference is not adopted: for 4 × 1000 tokens at 2000 it says one pass. Splitting 2,2
as vector S1 demands, and dropping one part a pass, takes two; everything else in that row holds.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.compact import (
    adaptive_chunk_ratio,
    chunk_budget,
    chunk_by_max_tokens,
    is_oversized,
    plan_history_share,
    split_by_share,
)
from engine.transcript import Message
from tests.engine.compact_items import ids, users, weighed


def sizes(chunks):
    """Messages in each chunk."""
    return tuple(len(chunk) for chunk in chunks)


@pytest.mark.parametrize(
    ("count", "parts", "expected"),
    [
        pytest.param(4, 2, (2, 2), id="S1-4/2"),
        pytest.param(6, 3, (2, 2, 2), id="S1-6/3"),
        pytest.param(5, 2, (2, 3), id="S1-5/2"),
        pytest.param(3, 9, (1, 1, 1), id="S1-3/9"),
        pytest.param(3, 1, (3,), id="S1-3/1"),
        pytest.param(3, float("nan"), (3,), id="S1-3/NaN"),
        pytest.param(0, 2, (), id="S1-empty"),
        pytest.param(3, float("inf"), (3,), id="S1-3/inf"),
        pytest.param(3, -1, (3,), id="S1-3/negative"),
        pytest.param(4, 2.9, (2, 2), id="S1-4/2.9"),
    ],
)
def test_split_by_share(count, parts, expected):
    """Equal messages go into as many equal parts as are asked for and possible."""
    assert sizes(split_by_share(users(count, 1000), parts)) == expected


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        pytest.param(
            [("user", 1000), ("call:a", 1005), ("result:a", 200), ("user", 1000)],
            ((0,), (1, 2, 3)),
            id="S2",
        ),
        pytest.param(
            [("call:a", 1005), ("result:a", 1000), ("user", 1000)], ((0, 1), (2,)), id="S3"
        ),
        pytest.param(
            [("user", 1000), ("call:a", 55), ("result:a", 1000)], ((0,), (1, 2)), id="S4"
        ),
        pytest.param(
            [("aborted:a", 1005), ("user", 1000), ("user", 1000)], ((0,), (1, 2)), id="S5"
        ),
        pytest.param([("user", 1000), ("call:a", 1005), ("user", 1000)], ((0,), (1, 2)), id="S6"),
        pytest.param(
            [("user", 1000), ("call:a", 1005), ("user", 200), ("result:a", 200), ("user", 1000)],
            ((0,), (1, 2, 3, 4)),
            id="S7",
        ),
    ],
)
def test_a_pair_stays_in_one_part(pairs, expected):
    """Two parts; a boundary that would part a call from its result moves before the call."""
    assert tuple(map(ids, split_by_share(weighed(*pairs), 2))) == expected


@pytest.mark.parametrize(
    ("items", "max_tokens", "expected"),
    [
        pytest.param(users(5, 1000), 2400, (2, 2, 1), id="S8"),
        pytest.param(users(5, 1000), 2399, (1, 1, 1, 1, 1), id="S9"),
        pytest.param(users(3, 1000), 1, (1, 1, 1), id="S10"),
        pytest.param(
            weighed(("user", 100), ("user", 10000), ("user", 100)), 2400, (1, 1, 1), id="S11"
        ),
        pytest.param((), 2400, (), id="empty"),
        pytest.param(users(2, 0), -5, (2,), id="weightless"),
    ],
)
def test_chunk_by_max_tokens(items, max_tokens, expected):
    """Chunks fill up to the limit less its margin; what is larger stands alone."""
    assert sizes(chunk_by_max_tokens(items, max_tokens)) == expected


def test_a_pair_that_fits_stays_in_one_chunk():
    """A call and its result go to the next chunk together."""
    items = weighed(("user", 300), ("call:a", 300), ("result:a", 500), ("user", 300))
    assert tuple(map(ids, chunk_by_max_tokens(items, 1200))) == ((0,), (1, 2), (3,))


def test_a_pair_larger_than_a_chunk_is_taken_apart():
    """The request must fit: a call and a result over the limit together are two chunks."""
    items = weighed(("call:a", 600), ("result:a", 600), ("user", 300))
    assert tuple(map(ids, chunk_by_max_tokens(items, 1200))) == ((0,), (1, 2))


@pytest.mark.parametrize(
    ("count", "tokens", "window", "ratio"),
    [
        pytest.param(0, 0, 200000, 0.4, id="ratio-empty"),
        pytest.param(2, 250, 200000, 0.4, id="ratio-2x250@200000"),
        pytest.param(1, 16666, 200000, 0.4, id="ratio-1x16666@200000"),
        pytest.param(1, 16667, 200000, 0.199996, id="ratio-1x16667@200000"),
        pytest.param(1, 16668, 200000, 0.199984, id="ratio-1x16668@200000"),
        pytest.param(2, 50000, 200000, 0.15, id="ratio-2x50000@200000"),
        pytest.param(2, 1333, 16000, 0.4, id="ratio-2x1333@16000"),
        pytest.param(2, 1334, 16000, 0.1999, id="ratio-2x1334@16000"),
        pytest.param(2, 2000, 16000, 0.15, id="ratio-2x2000@16000"),
        pytest.param(2, 3000, 16000, 0.15, id="ratio-2x3000@16000"),
        pytest.param(2, 2000, 32768, 0.4, id="ratio-2x2000@32768"),
        pytest.param(1, 150000, 200000, 0.15, id="ratio-1x150000@200000"),
        pytest.param(1, 100, 0, 0.4, id="ratio-no-window"),
    ],
)
def test_adaptive_chunk_ratio(count, tokens, window, ratio):
    """Large messages make chunks smaller, in a step at a tenth of the window."""
    assert adaptive_chunk_ratio(users(count, tokens), window) == pytest.approx(ratio, abs=1e-9)


@pytest.mark.parametrize(
    ("tokens", "window", "expected"),
    [
        pytest.param(83333, 200000, False, id="oversize-83333@200000"),
        pytest.param(83334, 200000, True, id="oversize-83334@200000"),
        pytest.param(6666, 16000, False, id="oversize-6666@16000"),
        pytest.param(6667, 16000, True, id="oversize-6667@16000"),
    ],
)
def test_is_oversized(tokens, window, expected):
    """A message over half the window, margin included, is too large to be summarised."""
    assert is_oversized(tokens, window) is expected


@pytest.mark.parametrize(
    ("window", "oversized_from", "large", "small", "history"),
    [
        pytest.param(4096, 1707, 1, 1, 2048, id="derived-4096"),
        pytest.param(8192, 3414, 1, 1, 4096, id="derived-8192"),
        pytest.param(16000, 6667, 2304, 1, 8000, id="derived-16000"),
        pytest.param(16384, 6827, 2457, 1, 8192, id="derived-16384"),
        pytest.param(20000, 8334, 3904, 1, 10000, id="derived-20000"),
        pytest.param(24576, 10241, 5734, 1, 12288, id="derived-24576"),
        pytest.param(32000, 13334, 8704, 704, 16000, id="derived-32000"),
        pytest.param(32768, 13654, 9011, 819, 16384, id="derived-32768"),
        pytest.param(40960, 17067, 12288, 2048, 20480, id="derived-40960"),
        pytest.param(65536, 27307, 22118, 5734, 32768, id="derived-65536"),
        pytest.param(131072, 54614, 48332, 15564, 65536, id="derived-131072"),
        pytest.param(200000, 83334, 75904, 25904, 100000, id="derived-200000"),
    ],
)
def test_limits_of_a_window(window, oversized_from, large, small, history):
    """The limits derived from each window of the table in context-engine.md 2."""
    assert is_oversized(oversized_from, window)
    assert not is_oversized(oversized_from - 1, window)
    assert chunk_budget(window, 0.4) == large
    assert chunk_budget(window, adaptive_chunk_ratio(users(1, window), window)) == small
    assert plan_history_share((), window).budget == history


def test_chunk_overhead_can_be_scaled():
    """With an overhead that scales, a small window keeps a chunk worth a request."""
    assert chunk_budget(8192, 0.4, overhead=1024) == 2252


CALL_FIRST = weighed(("call:a", 1005), ("result:a", 750), ("user", 125))


@pytest.mark.parametrize(
    ("items", "max_tokens", "kept", "dropped_tokens", "passes"),
    [
        pytest.param(users(4, 1000), 2000, (3,), 3000, 2, id="share-4x1000@2000"),
        pytest.param(users(6, 1000), 3000, (5,), 5000, 3, id="share-6x1000@3000"),
        pytest.param(users(1, 250), 2000, (0,), 0, 0, id="share-1x250"),
        pytest.param(users(1, 10000), 2000, (0,), 0, 0, id="share-single-over-budget"),
        pytest.param(CALL_FIRST, 2000, (2,), 1755, 1, id="share-call-result-user"),
        pytest.param((), 2000, (), 0, 0, id="share-empty"),
    ],
)
def test_history_share(items, max_tokens, kept, dropped_tokens, passes):
    """The oldest parts are dropped until the rest has half the window, or is one part."""
    plan = plan_history_share(items, max_tokens)
    assert ids(plan.kept) == kept
    assert plan.dropped_tokens == dropped_tokens
    assert plan.passes == passes
    assert plan.budget == max_tokens // 2
    assert plan.kept_tokens == sum(item.tokens for item in plan.kept)


def test_orphans_count_as_dropped():
    """A second result for a call that went with an earlier part goes too."""
    items = weighed(("call:a", 500), ("result:a", 500), ("result:a", 100), ("user", 900))
    plan = plan_history_share(items, 1900)
    assert ids(plan.kept) == (3,)
    assert ids(plan.dropped) == (0, 1, 2)
    assert plan.dropped_tokens == 1100


WORDS = ["user", "assistant", "call:a", "call:b", "aborted:a", "result:a", "result:b", "model"]
histories = st.lists(st.tuples(st.sampled_from(WORDS), st.integers(0, 3000)), max_size=30)
limits = st.integers(1, 12_000)


@settings(deadline=None)
@given(histories, limits)
def test_chunks_hold_everything_in_order(pairs, max_tokens):
    """Nothing is lost, doubled or moved; only a single message may be over the limit."""
    items = weighed(*pairs)
    chunks = chunk_by_max_tokens(items, max_tokens)
    assert tuple(item for chunk in chunks for item in chunk) == items
    assert all(chunks)
    for chunk in chunks:
        tokens = sum(item.tokens for item in chunk)
        assert tokens * 1.2 <= max_tokens or tokens <= 1 or _one_has_weight(chunk)


def _one_has_weight(chunk):
    return sum(1 for item in chunk if item.tokens > 0) <= 1


@settings(deadline=None)
@given(histories, st.integers(1, 6))
def test_parts_hold_everything_in_order(pairs, parts):
    """Nothing is lost, doubled or moved; no more parts than asked for, none of them empty."""
    items = weighed(*pairs)
    split = split_by_share(items, parts)
    assert tuple(item for part in split for item in part) == items
    assert all(split)
    assert len(split) <= parts


@settings(deadline=None)
@given(histories, st.integers(2, 6))
def test_parts_keep_pairs(pairs, parts):
    """The next result for an open call is in the part of the reply that made it."""
    items = weighed(*pairs)
    for part in split_by_share(items, parts)[:-1]:
        awaited: set[str] = set()
        for item in part:
            body = item.entry.body
            if isinstance(body, Message) and body.role == "assistant":
                awaited = {call.id for call in body.tool_calls if body.stop_reason != "stopped"}
            elif isinstance(body, Message) and body.role == "tool_result":
                awaited.discard(body.tool_call_id)
        assert not awaited


@settings(deadline=None)
@given(histories, limits, st.floats(0.1, 0.9), st.integers(1, 4))
def test_history_share_ends(pairs, max_tokens, share, parts):
    """It ends within its budget or with one part left; kept and dropped are everything."""
    items = weighed(*pairs)
    plan = plan_history_share(items, max_tokens, share, parts)
    assert sorted(ids(plan.kept) + ids(plan.dropped)) == sorted(ids(items))
    assert plan.kept_tokens <= plan.budget or len(split_by_share(plan.kept, parts)) <= 1
    assert plan.passes > 0 or not plan.dropped


@settings(deadline=None)
@given(histories, st.integers(4096, 1_048_576))
def test_ratio_stays_within_its_bounds(pairs, window):
    """Whatever the messages, a chunk gets 15 to 40 % of the window."""
    assert 0.15 - 1e-9 <= adaptive_chunk_ratio(weighed(*pairs), window) <= 0.4
