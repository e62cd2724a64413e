"""All tool results of a conversation together; vectors A of context-engine.md section 5."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine.prune import (
    FRESH_KEEP_CHARS,
    apply_shortenings,
    plan_oversized,
    plan_session_prune,
    reducible_chars,
)
from engine.tokens import utf16_length
from engine.transcript import (
    Custom,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    user,
)

SHORTEST = 33
"""Characters of the shortest notice: how far down a result may go."""


def result(text, **more):
    return Message("tool_result", (Text(text),), tool_call_id="c", tool_name="read", **more)


def sized(*sizes):
    """Results of so many characters, oldest first."""
    return [result("x" * size) for size in sizes]


def lengths(bodies):
    return [utf16_length(body.text) for body in bodies]


def pruned(bodies, cap, **how):
    return list(apply_shortenings(bodies, plan_session_prune(bodies, cap, **how)))


# ---- A vectors ------------------------------------------------------------------------------

VECTORS = [
    # id, sizes oldest → newest, cap, newest first, oldest first, reducible
    ("A1", (12_400, 12_400, 12_400), 16_000, (12_400, 3_567, 33), (33, 3_567, 12_400), 21_200),
    ("A2", (12_000, 6_500), 16_000, (12_000, 4_000), (9_500, 6_500), 2_500),
    ("A3", (9_000, 9_000), 16_000, (9_000, 7_000), (7_000, 9_000), 2_000),
    ("A4", (6_000,) * 3, 16_000, (6_000, 6_000, 4_000), (4_000, 6_000, 6_000), 2_000),
    ("A5", (5_000,) * 3, 16_000, (5_000,) * 3, (5_000,) * 3, 0),
    ("A6", (18_600,) * 3, 16_000, (15_934, 33, 33), (33, 33, 15_934), 39_800),
    ("A7", (500_000, 24_800, 24_800), 16_000, (15_934, 33, 33), (33, 33, 15_934), 533_600),
    ("A9", (18_600,) * 3, 120, (54, 33, 33), (33, 33, 54), 55_680),
    ("A10", (4_000,) * 3, 4_912, (4_000, 879, 33), (33, 879, 4_000), 7_088),
    ("A11", (9_000, 3_000, 3_000), 9_828, (9_000, 795, 33), (3_828, 3_000, 3_000), 5_172),
    ("A12", (3_000, 3_000, 9_000), 9_828, (3_000, 3_000, 3_828), (33, 795, 9_000), 5_172),
    ("A13", (8_000, 8_000), 16_000, (8_000, 8_000), (8_000, 8_000), 0),
    ("A14", (8_000, 8_001), 16_000, (8_000, 8_000), (7_999, 8_001), 1),
    ("A15-16000", (20_000,), 16_000, (16_000,), (16_000,), 4_000),
    ("A15-8192", (20_000,), 9_828, (9_828,), (9_828,), 10_172),
    ("A16", (16_000,), 16_000, (16_000,), (16_000,), 0),
]


@pytest.mark.parametrize(
    ("sizes", "cap", "expected"),
    [pytest.param(sizes, cap, newest, id=name) for name, sizes, cap, newest, _, _ in VECTORS],
)
def test_newest_first(sizes, cap, expected):
    """The specification's letter: the newest result goes first."""
    assert lengths(pruned(sized(*sizes), cap, order="newest_first")) == list(expected)


@pytest.mark.parametrize(
    ("sizes", "cap", "expected"),
    [pytest.param(sizes, cap, oldest, id=name) for name, sizes, cap, _, oldest, _ in VECTORS],
)
def test_oldest_first(sizes, cap, expected):
    """The specification's reason: the oldest result goes first."""
    assert lengths(pruned(sized(*sizes), cap, order="oldest_first")) == list(expected)


@pytest.mark.parametrize(
    ("sizes", "cap", "expected"),
    [
        *[pytest.param(sizes, cap, chars, id=name) for name, sizes, cap, _, _, chars in VECTORS],
        pytest.param((45_000, 15_500, 15_500), 16_000, 60_000, id="A8"),
        pytest.param((16_001,), 16_000, 1, id="one over the cap"),
    ],
)
def test_reducible(sizes, cap, expected):
    """What both passes would save, in characters."""
    assert reducible_chars(sized(*sizes), cap) == expected


def test_the_letter_of_the_specification_is_the_default():
    """Without an order, newest first."""
    assert lengths(pruned(sized(9_000, 9_000), 16_000)) == [9_000, 7_000]


# ---- the running turn -----------------------------------------------------------------------


@pytest.mark.parametrize("order", ["newest_first", "oldest_first"])
def test_the_newest_result_of_the_running_turn_is_not_starved(order):
    """A1 with the newest result in the running turn: no model has to read it again."""
    first, second, newest = lengths(
        pruned(sized(12_400, 12_400, 12_400), 16_000, order=order, fresh_from=2)
    )
    assert first + second + newest <= 16_000
    assert newest >= FRESH_KEEP_CHARS


def test_results_of_the_running_turn_keep_two_thousand_characters_where_that_is_possible():
    """Two old and three fresh results: the old ones give what the fresh ones may not."""
    sizes = lengths(pruned(sized(*[9_000] * 5), 16_000, fresh_from=2))
    assert sum(sizes) == 16_000
    assert min(sizes[2:]) >= FRESH_KEEP_CHARS
    assert sizes[1] == SHORTEST


@pytest.mark.parametrize("order", ["newest_first", "oldest_first"])
def test_too_many_results_in_one_turn_still_fit_and_the_newest_survives(order):
    """Twenty results of one turn cannot keep 2,000 each; the cap holds, the newest is readable."""
    sizes = lengths(pruned(sized(*[9_000] * 20), 16_000, order=order, fresh_from=0))
    assert sum(sizes) <= 16_000
    assert sizes[-1] >= FRESH_KEEP_CHARS


@settings(deadline=None)
@given(
    st.integers(3_000, 9_000),
    st.integers(1, 80),
    st.sampled_from(["", "\nerror: no such file", "\n}"]),
    st.sampled_from(["newest_first", "oldest_first"]),
)
def test_two_thousand_characters_of_the_newest_result_itself_are_kept(size, width, end, order):
    """Notices, markers and cuts at line ends come on top of the 2,000."""
    line = "w" * width + "\n"
    newest = (line * (size // len(line) + 1))[:size] + end
    bodies = [*sized(*[9_000] * 20), result(newest)]
    kept = pruned(bodies, 16_000, order=order, fresh_from=0)[-1].text
    own = sum(kept.count(character) for character in "w\n")
    assert own >= FRESH_KEEP_CHARS


def test_a_cap_below_two_thousand_wins_over_the_running_turn():
    """On a window of 1,000 tokens a fresh result gets what there is."""
    (size,) = lengths(pruned(sized(5_000), 1_200, fresh_from=0))
    assert size == 1_200


def test_without_recovery_every_result_keeps_two_thousand_characters():
    """Outside the recovery of an overflow the aggregate pass stops at 2,000 and a notice."""
    assert lengths(pruned(sized(12_400, 12_400, 12_400), 16_000, recovery=False)) == [
        11_934,
        2_033,
        2_033,
    ]


# ---- what may change ------------------------------------------------------------------------


def test_a_result_keeps_everything_but_its_text():
    """Call, name, error flag, details and pictures stay; the other bodies are the same objects."""
    picture = Image("image/png", "AAAA")
    before = Message(
        "tool_result",
        (Text("x" * 20_000), picture),
        tool_call_id="c7",
        tool_name="read",
        is_error=True,
        details={"path": "a.txt"},
    )
    hello = user("hello " * 10_000)
    first, after = apply_shortenings([hello, before], plan_oversized([hello, before], 16_000))
    assert first is hello
    assert after == Message(
        "tool_result",
        (after.parts[0], picture),
        tool_call_id="c7",
        tool_name="read",
        is_error=True,
        details={"path": "a.txt"},
    )


def test_the_notice_counts_from_the_whole_text():
    """A result cut by both passes has one notice, with everything that is missing."""
    newest = pruned(sized(2_000, 200_000), 16_000)[1].text
    assert len(newest) == 14_000
    assert newest.endswith("[... 186038 more characters truncated]")
    assert newest.count("more characters truncated") == 1


def test_request_level_pruning_leaves_the_sum_alone():
    """Only the oversize pass: many results under the cap stay as they are."""
    assert plan_oversized(sized(12_400, 12_400, 12_400), 16_000) == ()


pieces = st.sampled_from(["a", "error\n", "漢字", "\N{FIRE}", "line\n", "} "])
texts = st.builds(lambda piece, times: piece * times, pieces, st.integers(0, 3_000))
tool_results = st.one_of(
    st.builds(result, texts),
    st.builds(
        lambda parts: Message("tool_result", tuple(parts), tool_call_id="c"),
        st.lists(st.one_of(st.builds(Text, texts), st.just(Image("image/png", "AA"))), max_size=4),
    ),
)
others = st.one_of(
    st.builds(user, texts),
    st.builds(
        lambda text: Message("assistant", (Thinking(text), ToolCall("c", "read", {}))), texts
    ),
    st.just(Custom("note", {"a": 1})),
)
histories = st.lists(st.one_of(tool_results, others), max_size=12)
policies = st.fixed_dictionaries(
    {
        "order": st.sampled_from(["newest_first", "oldest_first"]),
        "recovery": st.booleans(),
        "fresh_from": st.none() | st.integers(0, 12),
    }
)
caps = st.integers(-5, 20_000)


@settings(deadline=None)
@given(histories, caps, policies)
def test_only_tool_results_change_and_nothing_moves(bodies, cap, policy):
    """Number, order and kind of the bodies stay; what is no tool result is the same object."""
    after = pruned(bodies, cap, **policy)
    assert len(after) == len(bodies)
    for old, new in zip(bodies, after, strict=True):
        if isinstance(old, Message) and old.role == "tool_result":
            assert (new.role, new.tool_call_id) == (old.role, old.tool_call_id)
            assert utf16_length(new.text) <= utf16_length(old.text)
        else:
            assert new is old


def results_of(bodies):
    return [b for b in bodies if isinstance(b, Message) and b.role == "tool_result"]


@settings(deadline=None)
@given(histories, caps, policies)
def test_the_sum_is_under_the_cap_or_every_result_is_at_its_least(bodies, cap, policy):
    """After the aggregate pass nothing that could still give is over."""
    cap = max(1, cap)
    after = lengths(results_of(pruned(bodies, cap, **policy)))
    assert all(length <= cap for length in after)
    least = SHORTEST if policy["recovery"] else 2_000 + SHORTEST
    newest = after[-1:] if policy["fresh_from"] is not None else []
    spared = newest if newest and newest[0] > least else []
    others_ = after[: len(after) - len(spared)]
    assert sum(after) <= cap or all(length <= least for length in others_)


@settings(deadline=None)
@given(histories, caps)
def test_reducible_is_what_pruning_really_removes(bodies, cap):
    """The figure the route is chosen by is no promise that cannot be kept."""
    removed = sum(lengths(results_of(bodies))) - sum(lengths(results_of(pruned(bodies, cap))))
    assert reducible_chars(bodies, cap) == removed


@settings(deadline=None)
@given(histories, caps, policies)
def test_pruning_again_finds_nothing_when_the_sum_fitted(bodies, cap, policy):
    """What fits is left alone the next time."""
    once = pruned(bodies, cap, **policy)
    assume(sum(lengths(results_of(once))) <= max(1, cap))
    assert plan_session_prune(once, cap, **policy) == ()


@settings(deadline=None)
@given(histories, caps)
def test_shortenings_are_in_order_and_shorten(bodies, cap):
    """Each index once, rising, and each saves something."""
    changes = plan_session_prune(bodies, cap)
    indices = [change.index for change in changes]
    assert indices == sorted(set(indices))
    assert all(change.removed_chars > 0 for change in changes)
