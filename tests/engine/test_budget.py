"""The window's division, a compaction's targets and the four routes: every vector, every cell."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.budget import (
    Budget,
    must_compact,
    plan_budget,
    plan_route,
    plan_targets,
    summary_output_cap,
    threshold_chars,
)
from engine.tokens import spec_prompt_tokens
from engine.transcript import Message, Text, user

WINDOWS = (
    4096, 8192, 16000, 16384, 20000, 24576, 32000, 32768, 40960, 65536, 131072, 200000,
)  # fmt: skip
windows = st.integers(4_096, 1_048_576)
reserves = st.integers(0, 1_200_000)

# ---- the division ---------------------------------------------------------------------------------

MAIN_TABLE = """
4096   2048 2048   2048  2048   2049
8192   4096 4096   4096  4096   4097
16000  8000 8000   8000  8000   8001
16384  8000 8384   8384  8000   8001
20000  8000 12000  12000 8000   8001
24576  8000 16576  16576 8000   8001
32000  8000 24000  20000 12000  12001
32768  8000 24768  20000 12768  12769
40960  8000 32960  20000 20960  20961
65536  8000 57536  20000 45536  45537
131072 8000 123072 20000 111072 111073
200000 8000 192000 20000 180000 180001
"""


@pytest.mark.parametrize("row", MAIN_TABLE.strip().splitlines(), ids=lambda row: row.split()[0])
def test_default_reserve_table(row):
    """Main table: minimum, largest reserve, reserve, prompt budget, first size that compacts."""
    window, min_prompt, most, reserve, prompt, trigger = map(int, row.split())
    budget = plan_budget(window)
    assert budget.min_prompt == min_prompt
    assert plan_budget(window, 10**9).reserve == most
    assert (budget.reserve, budget.prompt) == (reserve, prompt)
    assert must_compact(trigger, budget)
    assert not must_compact(trigger - 1, budget)


OTHER_TABLE = """
2048  20000 2048/2048 4096/4096 8000/8000 8384/8000 12000/8000 16576/8000 20000/12000 20000/12768 20000/20960 20000/45536 20000/111072 20000/180000
2048  0     2048/2048 2048/6144 2048/13952 2048/14336 2048/17952 2048/22528 2048/29952 2048/30720 2048/38912 2048/63488 2048/129024 2048/197952
16384 0     2048/2048 4096/4096 8000/8000 8384/8000 12000/8000 16384/8192 16384/15616 16384/16384 16384/24576 16384/49152 16384/114688 16384/183616
30000 20000 2048/2048 4096/4096 8000/8000 8384/8000 12000/8000 16576/8000 24000/8000 24768/8000 30000/10960 30000/35536 30000/101072 30000/170000
60000 20000 2048/2048 4096/4096 8000/8000 8384/8000 12000/8000 16576/8000 24000/8000 24768/8000 32960/8000 57536/8000 60000/71072 60000/140000
0     0     0/4096 0/8192 0/16000 0/16384 0/20000 0/24576 0/32000 0/32768 0/40960 0/65536 0/131072 0/200000
"""
OTHER_CELLS = [
    pytest.param(
        window,
        int(reserve),
        int(floor),
        *map(int, cell.split("/")),
        id=f"{window}-{reserve}-floor{floor}",
    )
    for reserve, floor, *cells in map(str.split, OTHER_TABLE.strip().splitlines())
    for window, cell in zip(WINDOWS, cells, strict=True)
]


@pytest.mark.parametrize(("window", "reserve", "floor", "effective", "prompt"), OTHER_CELLS)
def test_other_configurations_table(window, reserve, floor, effective, prompt):
    """Every cell of the table of other configurations."""
    budget = plan_budget(window, reserve, floor)
    assert (budget.reserve, budget.prompt) == (effective, prompt)


@pytest.mark.parametrize(
    ("window", "reserve", "floor", "effective", "prompt"),
    [
        pytest.param(16000, 20000, 20000, 8000, 8000, id="B1"),
        pytest.param(32000, 20000, 20000, 20000, 12000, id="B2"),
        pytest.param(28000, 20000, 20000, 20000, 8000, id="B3"),
        pytest.param(24000, 10**6, 0, 16000, 8000, id="B4"),
        pytest.param(200000, 12000, 20000, 20000, 180000, id="B5"),
        pytest.param(200000, 32000, 20000, 32000, 168000, id="B6"),
        pytest.param(8192, 2048, 0, 2048, 6144, id="B7"),
        pytest.param(1, 20000, 20000, 0, 1, id="B8-1"),
        pytest.param(0, 20000, 20000, 0, 1, id="B8-0"),
        pytest.param(-5, 20000, 20000, 0, 1, id="B8-negative"),
        pytest.param(1000.9, 100.9, 0, 100, 900, id="B9"),
        pytest.param(1000, -50, 0, 0, 1000, id="B10"),
        pytest.param(math.nan, math.nan, math.nan, 0, 1, id="not-a-number"),
    ],
)
def test_budget_vector(window, reserve, floor, effective, prompt):
    """Vectors B1 to B10: effective reserve and prompt budget."""
    budget = plan_budget(window, reserve, floor)
    assert (budget.reserve, budget.prompt) == (effective, prompt)


@pytest.mark.parametrize(
    ("budget", "tokens", "compacts"),
    [
        pytest.param(plan_budget(100000, 10000, 0), 90000, False, id="B11-at"),
        pytest.param(plan_budget(100000, 10000, 0), 90001, True, id="B11-over"),
        pytest.param(plan_budget(16000, 8000, 0), 8000, False, id="B12-at"),
        pytest.param(plan_budget(16000, 8000, 0), 8001, True, id="B12-over"),
        pytest.param(plan_budget(16000), 1, False, id="B13"),
    ],
)
def test_trigger_is_strictly_greater(budget, tokens, compacts):
    """Vectors B11 to B13: a context exactly at the budget is not compacted."""
    assert must_compact(tokens, budget) is compacts


def test_switched_off_never_compacts():
    """Vector B14."""
    assert not must_compact(10**9, plan_budget(16000), enabled=False)


@pytest.mark.parametrize(
    ("window", "cap"),
    [
        (4096, 1638), (8192, 3276), (16000, 6400), (16384, 6707), (20000, 9600), (24576, 13260),
        (32000, 16000), (200000, 16000),
    ],
)  # fmt: skip
def test_summary_output_cap(window, cap):
    """Vector B15: 0.8 of the effective reserve, rounded down."""
    assert summary_output_cap(plan_budget(window).reserve) == cap


@given(windows, reserves, reserves)
def test_reserve_and_prompt_are_the_window(window, reserve, floor):
    """Nothing is lost, nothing negative, the prompt always has its minimum."""
    budget = plan_budget(window, reserve, floor)
    assert budget.reserve + budget.prompt == window
    assert budget.prompt >= budget.min_prompt == min(8000, window // 2)
    assert 0 <= budget.reserve <= max(reserve, floor)


# ---- why --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        pytest.param(plan_budget(200000, 30000), "", id="as-typed"),
        pytest.param(plan_budget(200000, 5000), "raised to the floor 20,000", id="raised"),
        pytest.param(
            plan_budget(32000, 30000),
            "capped at 24,000 so that 8,000 remain for the prompt",
            id="capped",
        ),
        pytest.param(
            plan_budget(16384, 2048),
            "raised to the floor 20,000, then capped at 8,384 so that 8,000 remain for the prompt",
            id="raised-then-capped",
        ),
        pytest.param(plan_budget(16384, 2048, 0), "", id="floor-0"),
        pytest.param(
            plan_budget(16384, 16384, 0),
            "capped at 8,384 so that 8,000 remain for the prompt",
            id="floor-0-capped",
        ),
        pytest.param(
            plan_budget(1, 10, 0), "capped at 0 so that 1 remains for the prompt", id="singular"
        ),
    ],
)
def test_explanation(budget, words):
    """Why the effective reserve is not the one that was typed, in plain words."""
    assert budget.explanation == words


@given(windows, reserves, reserves)
def test_explanation_is_there_exactly_when_something_was_changed(window, reserve, floor):
    """Silence means: as typed."""
    budget = plan_budget(window, reserve, floor)
    assert (budget.explanation == "") == (budget.reserve == reserve)


# ---- targets ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("window", "target", "summary", "facts", "recent", "flush", "overhead", "gain"),
    [
        (4096, 1228, 512, 81, 635, 0, 512, 204),
        (16000, 4800, 960, 320, 3520, 4000, 2000, 800),
        (16384, 4800, 960, 320, 3520, 4000, 2048, 800),
        (32768, 7660, 1532, 510, 5618, 8768, 4096, 1276),
        (131072, 66643, 4000, 1000, 20000, 107072, 4096, 11107),
    ],
)
def test_targets_of_common_windows(window, target, summary, facts, recent, flush, overhead, gain):
    """60 % target, 12 % summary, 4 % exact values, the rest for the newest messages."""
    targets = plan_targets(plan_budget(window))
    assert (targets.target, targets.summary_cap, targets.facts_cap) == (target, summary, facts)
    assert (targets.keep_recent, targets.flush_threshold) == (recent, flush)
    assert (targets.chunk_overhead, targets.min_gain) == (overhead, gain)


@given(windows, reserves, reserves, st.integers(0, 1_048_576), st.integers(0, 100_000))
def test_what_is_left_after_a_compaction_fits_the_target(window, reserve, floor, fixed, recent):
    """Summary, exact values, kept tail and the fixed part: within the target if fixed leaves room."""
    budget = plan_budget(window, reserve, floor)
    targets = plan_targets(budget, fixed_tokens=fixed, keep_recent=recent)
    parts = targets.summary_cap + targets.facts_cap + fixed
    assert parts + targets.keep_recent <= max(targets.target, parts)
    assert targets.target < budget.prompt
    assert 0 <= targets.keep_recent <= recent


@given(st.integers(0, 1_048_576), reserves, reserves, st.integers(0, 10_000))
def test_no_target_is_negative(window, reserve, floor, soft):
    """Down to a window of nothing; and a gain of nothing never counts as one."""
    budget = plan_budget(window, reserve, floor)
    targets = plan_targets(budget, soft_threshold=soft)
    for name in targets.__slots__:
        assert getattr(targets, name) >= 0, name
    assert targets.min_gain >= 1
    assert targets.flush_threshold < budget.prompt or soft == 0


@given(windows, reserves, reserves)
def test_summary_cap_stays_within_its_bounds(window, reserve, floor):
    """Never over 4,000, a quarter of the budget or 0.8 of the reserve; the least is 64 tokens."""
    budget = plan_budget(window, reserve, floor)
    cap = plan_targets(budget).summary_cap
    assert 64 <= cap <= min(4000, budget.prompt // 4)
    if budget.reserve > 0:
        assert cap <= max(64, summary_output_cap(budget.reserve))
    elif budget.prompt >= 2048:
        assert cap >= 512


@given(windows)
def test_a_larger_fixed_part_only_shortens_the_tail(window):
    """Nothing else depends on the system prompt."""
    budget = plan_budget(window)
    without, with_fixed = plan_targets(budget), plan_targets(budget, fixed_tokens=1000)
    assert with_fixed.keep_recent <= without.keep_recent
    assert with_fixed.target == without.target


# ---- routes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("overflow", "chars"),
    [
        (0, 0), (-3, 0), (1, 2052), (100, 2448), (512, 4096), (1023, 6140), (1024, 6144),
        (1025, 6150), (2000, 12000), (5000, 30000),
    ],
)  # fmt: skip
def test_threshold_vector(overflow, chars):
    """The threshold vectors of section 4; nothing need be reduced where nothing overflows."""
    assert threshold_chars(overflow) == chars


def _history(user_chars: int, *result_chars: int) -> list[Message]:
    results = [Message("tool_result", (Text("x" * n),)) for n in result_chars if n]
    return [user("u" * user_chars), *results]


ROUTES = """
P1  24000  0      16000  20000 fits 7200 8000 0 0 8000
P2  26664  0      16000  20000 fits 8000 8000 0 0 8000
P3  26668  0      16000  20000 compact_only 8001 8000 1 0 8000
P4  32000  0      16000  20000 compact_only 9600 8000 1600 0 8000
P5  4000   24000  16000  20000 truncate_tool_results_only 8400 8000 400 8000 8000
P6  4000   26000  16000  20000 truncate_tool_results_only 9000 8000 1000 10000 8000
P7  4000   30000  16000  8000  truncate_tool_results_only 10200 8000 2200 14000 8000
P8  12000  20000  16000  20000 compact_then_truncate 9600 8000 1600 4000 8000
P9  20000  15000  16000  8000  compact_only 10500 8000 2500 0 8000
P10 1      40000  16000  8000  compact_then_truncate 12004 8000 4004 24000 8000
P11 1      40000  200000 20000 fits 12004 180000 0 24000 20000
P12 40000  0      32000  20000 fits 12000 12000 0 0 20000
P13 40004  0      32000  20000 compact_only 12002 12000 2 0 20000
P14 4000   60000  32768  20000 truncate_tool_results_only 19200 12768 6432 44000 20000
P15 4000   120000 32768  20000 compact_then_truncate 37200 12768 24432 104000 20000
P16 4000   6000   4096   20000 compact_then_truncate 3000 2048 952 1088 2048
P17 4000   3000   4096   20000 compact_only 2100 2048 52 0 2048
P18 8000   14000  8192   20000 compact_then_truncate 6600 4096 2504 4172 4096
P19 600000 0      200000 20000 fits 180000 180000 0 0 20000
P20 600004 0      200000 20000 compact_only 180002 180000 2 0 20000
P21 0      37200  18000  8000  truncate_tool_results_only 11160 10000 1160 21200 8000
P22 100    100    1      20000 compact_then_truncate 60 1 59 99 0
P22 100    100    0      20000 compact_then_truncate 60 1 59 99 0
"""


@pytest.mark.parametrize(
    "row", ROUTES.strip().splitlines(), ids=lambda row: "-".join(row.split()[::3][:2])
)
def test_route_vector(row):
    """Vectors P1 to P22 for a given reducible length; the estimate is the specification's."""
    name, user_chars, result_chars, window, reserve, route, *figures = row.split()
    estimated, prompt, overflow, reducible, effective = map(int, figures)
    results = [12400] * 3 if name == "P21" else [int(result_chars)]
    bodies = _history(int(user_chars), *results)
    counted = spec_prompt_tokens(bodies, prompt="hello" if name in ("P10", "P11") else "")
    budget = plan_budget(int(window), int(reserve), 0)
    plan = plan_route(counted, budget, reducible)
    assert plan.estimated == estimated
    assert (plan.route, plan.budget, plan.overflow) == (route, prompt, overflow)
    assert (plan.reserve, plan.reducible_chars) == (effective, reducible)
    assert plan.threshold_chars == threshold_chars(overflow)


@pytest.mark.parametrize(
    ("over", "reducible", "route", "compacts"),
    [
        pytest.param(0, 0, "fits", False, id="at-the-budget"),
        pytest.param(0, 99999, "fits", False, id="fits-with-much-to-reduce"),
        pytest.param(1, 0, "compact_only", True, id="nothing-to-reduce"),
        pytest.param(1, -1, "compact_only", True, id="less-than-nothing"),
        pytest.param(1, 1, "compact_then_truncate", True, id="too-little"),
        pytest.param(1, 2051, "compact_then_truncate", True, id="one-short"),
        pytest.param(1, 2052, "truncate_tool_results_only", False, id="just-enough"),
        pytest.param(2000, 11999, "compact_then_truncate", True, id="one-short-of-the-factor"),
        pytest.param(2000, 12000, "truncate_tool_results_only", False, id="just-the-factor"),
    ],
)
def test_route_decision(over, reducible, route, compacts):
    """The decision table, at its edges."""
    budget = plan_budget(16384)
    plan = plan_route(budget.prompt + over, budget, reducible)
    assert (plan.route, plan.must_compact) == (route, compacts)


@given(st.integers(0, 10**6), windows, st.integers(0, 10**6))
def test_a_route_is_taken_exactly_when_needed(tokens, window, reducible):
    """It fits if and only if no compaction is due, and shortening alone frees the overflow."""
    budget: Budget = plan_budget(window)
    plan = plan_route(tokens, budget, reducible)
    assert (plan.route == "fits") is not must_compact(tokens, budget)
    if plan.route == "truncate_tool_results_only":
        assert reducible >= 4 * plan.overflow
