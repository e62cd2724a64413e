"""The cut: context-engine.md 6.3, vectors X.

Not adopted: in pi a settings entry that is absorbed right before the cut's user message makes the cut
count as one that splits a turn, with the turn's start at 0. Nothing is split there, and a summary of
"the beginning of the turn" would be one of the whole history: see `test_settings_go_with_the_tail`.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.compact import Cut, plan_cut
from engine.transcript import CustomMessage, Message, ModelChange
from tests.engine.compact_items import weighed

TURNS = weighed(*[("user", 400), ("assistant", 400)] * 10)
TOOLS = weighed(
    ("user", 1),
    ("assistant", 1),
    ("user", 1),
    ("call:a", 4),
    ("result:a", 2000),
    ("assistant", 1000),
)


@pytest.mark.parametrize(
    ("keep_recent", "cut"),
    [
        pytest.param(2400, Cut(14), id="X1"),
        pytest.param(2500, Cut(13, True, 12), id="X2"),
        pytest.param(400, Cut(19, True, 18), id="X3-400"),
        pytest.param(1, Cut(19, True, 18), id="X3-1"),
        pytest.param(8000, Cut(0), id="X4-8000"),
        pytest.param(8001, Cut(0), id="X4-8001"),
        pytest.param(20000, Cut(0), id="X4-20000"),
    ],
)
def test_ten_turns(keep_recent, cut):
    """Ten turns of 800 tokens are cut where the tail has what is to be kept."""
    assert plan_cut(TURNS, keep_recent) == cut


@pytest.mark.parametrize(
    ("keep_recent", "cut"),
    [
        pytest.param(900, Cut(5, True, 2), id="tools-900"),
        pytest.param(1000, Cut(5, True, 2), id="tools-1000"),
        pytest.param(1001, Cut(5, True, 2), id="tools-1001"),
        pytest.param(3001, Cut(3, True, 2), id="tools-3001"),
        pytest.param(3010, Cut(0), id="tools-3010"),
    ],
)
def test_a_result_stays_with_its_call(keep_recent, cut):
    """A tail that would begin with a tool result begins with the reply after it, or with the call."""
    assert plan_cut(TOOLS, keep_recent) == cut


@pytest.mark.parametrize(
    ("items", "cut"),
    [
        pytest.param(
            weighed(
                ("user", 1), ("assistant", 1), ("user", 1), ("call:a", 1), ("result:a", 20000)
            ),
            Cut(0),
            id="trailing-result",
        ),
        pytest.param(
            weighed(
                ("user", 1),
                ("assistant", 1),
                ("user", 1),
                ("call:a", 1),
                ("result:a", 20000),
                ("assistant", 1),
            ),
            Cut(5, True, 2),
            id="trailing-result-then-reply",
        ),
        pytest.param(weighed(("result:a", 9000), ("result:b", 20000)), Cut(0), id="only-results"),
        pytest.param((), Cut(0), id="empty"),
    ],
)
def test_edges(items, cut):
    """Where no place follows, nothing is summarised."""
    assert plan_cut(items, 20000) == cut


def test_settings_go_with_the_tail():
    """Settings right before the cut are kept, and do not make it split a turn (not as in pi)."""
    items = weighed(
        ("user", 500),
        ("assistant", 500),
        ("model", 0),
        ("label", 0),
        ("user", 500),
        ("assistant", 1),
    )
    assert plan_cut(items, 501) == Cut(2)


def test_settings_before_a_split():
    """Settings before a reply that is cut at go with the tail; the turn's start is still found."""
    items = weighed(("user", 500), ("assistant", 500), ("data", 0), ("assistant", 500))
    assert plan_cut(items, 500) == Cut(2, True, 0)


def test_a_note_opens_a_turn():
    """A cut before a custom message splits nothing."""
    items = weighed(("user", 500), ("assistant", 500), ("note", 500), ("assistant", 500))
    assert plan_cut(items, 1000) == Cut(2)


def test_runtime_context_is_no_message():
    """What never reaches a model is no place to cut at; it goes with what comes after it."""
    items = weighed(("user", 500), ("assistant", 500), ("runtime", 0), ("user", 500))
    assert plan_cut(items, 1) == Cut(2)


def test_a_compaction_may_be_cut_at():
    """A compaction in the range is a valid place, and settings before it are not passed over."""
    items = weighed(("user", 500), ("compaction", 500), ("data", 0), ("user", 500))
    assert plan_cut(items, 1) == Cut(2)
    assert plan_cut(items, 1000) == Cut(1, True, 0)


def test_a_turn_that_began_before_the_range():
    """A reply whose turn opened before the range does not split one."""
    items = weighed(("assistant", 500), ("assistant", 500))
    assert plan_cut(items, 500) == Cut(1)


def test_a_displaced_result_is_not_parted_from_its_call():
    """A user message that came between a call and its result is no place to cut at."""
    items = weighed(
        ("user", 100), ("call:a", 100), ("user", 100), ("result:a", 100), ("user", 100)
    )
    assert plan_cut(items, 300) == Cut(4)


def test_reused_call_ids():
    """Ids that a backend uses again and again pair a result with the latest call before it."""
    items = weighed(*[("user", 10), ("call:0", 10), ("result:0", 10), ("assistant", 10)] * 3)
    assert plan_cut(items, 40) == Cut(8)
    assert plan_cut(items, 11) == Cut(11, True, 8)


def test_an_orphan_result_blocks_nothing():
    """A result whose call is nowhere leaves the places before it valid."""
    items = weighed(("user", 10), ("assistant", 10), ("user", 10), ("result:z", 10), ("user", 10))
    assert plan_cut(items, 30) == Cut(2)


def test_start():
    """With a start only what follows is cut; indices stay those of the whole."""
    assert plan_cut(TURNS, 2500, start=12) == Cut(13, True, 12)
    assert plan_cut(TURNS, 2500, start=14) == Cut(14)
    assert plan_cut(TURNS, 400, start=20) == Cut(20)


WORDS = [
    "user",
    "assistant",
    "call:a",
    "call:b",
    "result:a",
    "result:b",
    "model",
    "note",
    "system",
]
histories = st.lists(st.tuples(st.sampled_from(WORDS), st.integers(0, 900)), max_size=40)


def places(items):
    """Where a cut may go, worked out one by one."""
    bodies = [item.entry.body for item in items]
    pairs, made = [], {}
    for index, body in enumerate(bodies):
        if isinstance(body, Message):
            made.update((call.id, index) for call in body.tool_calls)
            if body.role == "tool_result" and body.tool_call_id in made:
                pairs.append((made[body.tool_call_id], index))
    return [
        index
        for index, body in enumerate(bodies)
        if (isinstance(body, CustomMessage) or getattr(body, "role", "") in ("user", "assistant"))
        and not any(call < index <= answer for call, answer in pairs)
    ]


@settings(deadline=None)
@given(histories, st.integers(1, 12_000))
def test_the_first_place_that_keeps_enough(pairs, keep_recent):
    """The cut is the first valid place at or after where the tail, seen from the end, is long enough."""
    items = weighed(*pairs)
    valid = places(items)
    tail = [sum(item.tokens for item in items[index:]) for index in range(len(items))]
    enough = [index for index, tokens in enumerate(tail) if tokens >= keep_recent]
    following = [index for index in valid if enough and index >= enough[-1]]
    expected = (following or valid or [0])[0]
    while expected > 0 and isinstance(items[expected - 1].entry.body, ModelChange):
        expected -= 1
    assert plan_cut(items, keep_recent).first_kept == expected


@settings(deadline=None)
@given(histories, st.integers(0, 12_000))
def test_a_split_turn_begins_before_the_cut(pairs, keep_recent):
    """The turn that is split begins with what opened it, and nothing opens another before the cut."""
    items = weighed(*pairs)
    cut = plan_cut(items, keep_recent)
    assert cut.split_turn == (cut.turn_start is not None)
    if cut.turn_start is not None:
        opening = [
            isinstance(item.entry.body, CustomMessage)
            or getattr(item.entry.body, "role", "") == "user"
            for item in items[cut.turn_start : cut.first_kept]
        ]
        assert opening[:1] == [True]
        assert not any(opening[1:])
