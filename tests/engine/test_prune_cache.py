"""Pruning for a cold prefix cache; vectors C of context-engine.md section 5."""

import math
from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.prune import CachePruning, apply_shortenings, plan_cache_pruning
from engine.prune.weights import body_chars
from engine.tokens import utf16_length
from engine.transcript import Image, Message, Text, user

ON = CachePruning(mode="cache-ttl")
PLACEHOLDER = "[Old tool result content cleared]"
TTL = 300_000
PICTURE = Image("image/png", "AAAA")


def assistant(text="ok"):
    return Message("assistant", (Text(text),))


def result(chars, tool="read", *more):
    return Message("tool_result", (Text("t" * chars), *more), tool_call_id="c", tool_name=tool)


def layout(*results, assistants=3):
    """user, assistant, the results, so many assistants: 10 characters beside the results."""
    return [user("u1"), assistant(), *results, *[assistant()] * assistants]


def pruned(bodies, window, settings=ON, *, now=TTL, touched=0):
    plan = plan_cache_pruning(bodies, window, settings, now_ms=now, touched_ms=touched)
    return list(apply_shortenings(bodies, plan.shortenings))


def lengths(bodies):
    """Characters of the results."""
    return [utf16_length(b.text) for b in bodies if b.role == "tool_result"]


# ---- C vectors ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chars", "window", "left"),
    [
        pytest.param(5_000, 1_000, 3_086, id="C1"),
        pytest.param(5_000, 4_170, 3_086, id="C1-4170"),
        pytest.param(5_000, 4_180, 5_000, id="C2-4180"),
        pytest.param(5_000, 200_000, 5_000, id="C2-200000"),
        pytest.param(4_000, 1_000, 4_000, id="C3-4000"),
        pytest.param(4_001, 1_000, 3_086, id="C3-4001"),
    ],
)
def test_a_long_result_is_trimmed_from_30_percent_of_the_window(chars, window, left):
    """Head and tail of 1,500, five characters between, a note of 81."""
    assert lengths(pruned(layout(result(chars)), window)) == [left]


def test_c1_a_trimmed_result_has_its_beginning_its_end_and_a_note():
    """C1: the first 1,500 characters, dots on a line, the last 1,500, the figures."""
    text = "h" * 2_500 + "t" * 2_500
    old = Message("tool_result", (Text(text),), tool_call_id="c", tool_name="read")
    trimmed = pruned(layout(old), 1_000)[2].text
    assert trimmed.startswith("h" * 1_500 + "\n...\n" + "t" * 1_500)
    note = trimmed[3_005:]
    assert len(note) == 81
    assert [figure in note for figure in ("first 1500", "last 1500", "5000")] == [True] * 3


def test_c4_with_fewer_than_three_assistants_nothing_is_old():
    """C4: two assistant messages in all protect everything."""
    bodies = [user("u1"), assistant(), result(5_000), assistant()]
    assert pruned(bodies, 1_000) == bodies


@pytest.mark.parametrize(
    ("count", "window", "cleared"),
    [
        pytest.param(20, 16_000, 13, id="C5"),
        pytest.param(12, 16_000, 0, id="C6"),
        pytest.param(20, 39_000, 1, id="C7-39000"),
        pytest.param(20, 40_000, 1, id="C7-40000"),
        pytest.param(20, 70_000, 0, id="C8"),
    ],
)
def test_the_oldest_results_are_cleared_until_half_the_window(count, window, cleared):
    """Only while 50 % are reached and 50,000 characters could go."""
    after = pruned(layout(*[result(4_000)] * count), window)
    assert lengths(after) == [33] * cleared + [4_000] * (count - cleared)
    assert [b.text for b in after[2 : 2 + cleared]] == [PLACEHOLDER] * cleared


def test_c9_nothing_before_the_first_user_message_is_touched():
    """C9: with every limit at 0 the result after the first user message is cleared, only it."""
    bodies = [assistant(), result(20_000), assistant(), user("u1"), result(20_000)]
    everything = CachePruning(
        mode="cache-ttl",
        keep_last_assistants=0,
        soft_trim_ratio=0,
        hard_clear_ratio=0,
        min_prunable_chars=0,
    )
    after = pruned(bodies, 16_000, everything)
    assert after[1] is bodies[1]
    assert after[4].text == PLACEHOLDER


def test_c10_off_is_the_default_and_prunes_nothing():
    """C10: no configuration, no pruning."""
    bodies = layout(*[result(4_000)] * 20)
    assert CachePruning().mode == "off"
    plan = plan_cache_pruning(bodies, 1_000, CachePruning(), now_ms=TTL, touched_ms=0)
    assert (plan.shortenings, plan.touched_ms) == ((), 0)


def test_c11_figures_out_of_range_are_brought_into_it():
    """C11: 2, −1 and 2.9 become 1, 0 and 2."""
    settings = CachePruning(
        soft_trim_ratio=2, hard_clear_ratio=-1, keep_last_assistants=2.9
    ).normalised()
    assert (settings.soft_trim_ratio, settings.hard_clear_ratio) == (1, 0)
    assert settings.keep_last_assistants == 2


@pytest.mark.parametrize(
    ("touched", "ttl", "prunes"),
    [
        pytest.param(1, TTL, False, id="C12 a millisecond before"),
        pytest.param(0, TTL, True, id="C12 at the time"),
        pytest.param(None, TTL, False, id="C12 never touched"),
        pytest.param(0, 0, False, id="C12 no time"),
        pytest.param(0, -5, False, id="C12 negative time"),
    ],
)
def test_c12_only_a_cold_cache_is_pruned_for(touched, ttl, prunes):
    """C12: cold from ttl milliseconds after the last touch; unknown is not cold."""
    settings = CachePruning(mode="cache-ttl", ttl_ms=ttl)
    bodies = layout(result(5_000))
    plan = plan_cache_pruning(bodies, 1_000, settings, now_ms=TTL, touched_ms=touched)
    assert bool(plan.shortenings) is prunes
    assert plan.touched_ms == (TTL if prunes else touched)


# ---- more behaviour -------------------------------------------------------------------------


def test_the_last_touch_stays_when_nothing_changed():
    """A cold cache with nothing to prune is not touched."""
    plan = plan_cache_pruning(layout(result(10)), 16_000, ON, now_ms=2 * TTL, touched_ms=7)
    assert (plan.shortenings, plan.touched_ms) == ((), 7)


def test_results_after_the_third_last_assistant_are_protected():
    """What the model is working with stays whole."""
    bodies = [user("u"), assistant(), assistant(), result(9_000), assistant(), result(9_000)]
    assert pruned(bodies, 1_000) == bodies


@pytest.mark.parametrize(
    ("tool", "allow", "deny", "may"),
    [
        ("read", (), (), True),
        ("read", ("read",), (), True),
        ("READ", ("re*",), (), True),
        ("read", ("RE*",), (), True),
        ("write", ("re*",), (), False),
        ("read", (), ("re*",), False),
        ("read", ("read",), ("READ",), False),
        ("read", ("*",), ("write",), True),
    ],
)
def test_which_tools_may_be_pruned(tool, allow, deny, may):
    """Patterns without case; the denied wins over the allowed; no list allows all."""
    settings = CachePruning(mode="cache-ttl", allow=allow, deny=deny)
    assert (lengths(pruned(layout(result(5_000, tool)), 1_000, settings)) != [5_000]) is may


def test_a_picture_in_a_trimmed_result_becomes_a_marker():
    """Nothing of the picture is sent; the text says that one was there."""
    after = pruned(layout(result(5_000, "look", PICTURE)), 1_000)[2]
    assert [type(part) for part in after.parts] == [Text]
    assert "image" in after.text


def test_a_picture_in_a_short_old_result_goes_too():
    """A picture weighs 8,000 characters, whatever text it comes with."""
    after = pruned(layout(result(10, "look", PICTURE)), 1_000)[2]
    assert after.parts[0] == Text("t" * 10)
    assert [type(part) for part in after.parts] == [Text, Text]


def test_clearing_can_be_off():
    """Then results are trimmed at most."""
    settings = CachePruning(mode="cache-ttl", hard_clear=False)
    assert lengths(pruned(layout(*[result(4_000)] * 20), 1_000, settings)) == [4_000] * 20


def test_a_result_shorter_than_the_placeholder_is_not_replaced():
    """Clearing never makes a prompt longer."""
    settings = CachePruning(mode="cache-ttl", min_prunable_chars=0, hard_clear_ratio=0)
    assert lengths(pruned(layout(result(5), result(9_000)), 1_000, settings)) == [5, 33]


def test_trimming_that_would_not_shorten_is_not_done():
    """With a head and tail as long as the text it stays as it is."""
    settings = CachePruning(mode="cache-ttl", soft_max=100)
    assert lengths(pruned(layout(result(3_050)), 500, settings)) == [3_050]


def test_cjk_results_weigh_four_characters_each():
    """A result of 1,300 CJK characters is 5,200 characters of a window, and worth pruning."""
    old = Message("tool_result", (Text("漢" * 4_100),), tool_call_id="c", tool_name="read")
    assert lengths(pruned(layout(old), 13_000)) == [3_086]
    assert lengths(pruned(layout(result(4_100)), 13_000)) == [4_100]


def test_without_a_user_message_nothing_is_pruned():
    """Everything is before the first thing the user said."""
    bodies = [result(9_000), assistant(), assistant(), assistant()]
    assert pruned(bodies, 1_000) == bodies


def test_a_window_of_nothing_prunes_nothing():
    """Shares of no window mean nothing."""
    bodies = layout(result(9_000))
    assert pruned(bodies, 0) == bodies


numbers = st.one_of(st.integers(-10, 10**6), st.floats(allow_nan=True))


@settings(deadline=None)
@given(st.builds(CachePruning, **{f.name: numbers for f in fields(ON) if f.type in (int, float)}))
def test_settings_are_normalised_to_their_ranges(settings):
    """Shares within 0…1, counts whole and not negative, and doing it again changes nothing."""
    sane = settings.normalised()
    assert 0 <= sane.soft_trim_ratio <= 1
    assert 0 <= sane.hard_clear_ratio <= 1
    counts = (sane.ttl_ms, sane.keep_last_assistants, sane.soft_max, sane.min_prunable_chars)
    assert all(isinstance(count, int) and count >= 0 for count in counts)
    assert sane.normalised() == sane
    assert math.isfinite(sane.soft_head + sane.soft_tail)


pieces = st.sampled_from(["a", "漢", "\N{FIRE}", "line\n"])
texts = st.builds(lambda piece, times: piece * times, pieces, st.integers(0, 6_000))
old_results = st.builds(
    lambda parts, tool: Message("tool_result", tuple(parts), tool_call_id="c", tool_name=tool),
    st.lists(st.one_of(st.builds(Text, texts), st.just(PICTURE)), max_size=3),
    st.sampled_from(["read", "list"]),
)
histories = st.lists(
    st.one_of(old_results, st.builds(user, texts), st.builds(assistant, texts)), max_size=12
)
some_settings = st.builds(
    CachePruning,
    mode=st.just("cache-ttl"),
    keep_last_assistants=st.integers(0, 3),
    soft_trim_ratio=st.floats(0, 1),
    hard_clear_ratio=st.floats(0, 1),
    min_prunable_chars=st.integers(0, 50_000),
    soft_max=st.integers(0, 5_000),
    hard_clear=st.booleans(),
    deny=st.sampled_from([(), ("list",)]),
)


@settings(deadline=None)
@given(histories, st.integers(0, 20_000), some_settings)
def test_only_old_results_change(bodies, window, settings):
    """Everything else is the same object, in the same place; nothing grows but by markers."""
    after = pruned(bodies, window, settings)
    assert len(after) == len(bodies)
    for old, new in zip(bodies, after, strict=True):
        if old.role != "tool_result" or old.tool_name in settings.deny:
            assert new is old
        elif PICTURE not in old.parts:
            assert utf16_length(new.text) <= utf16_length(old.text)


@settings(deadline=None)
@given(histories, st.integers(1, 20_000), st.floats(0, 1))
def test_clearing_goes_on_until_the_share_is_reached(bodies, window, share):
    """With nothing protected: under the share, or nothing is left that could be cleared."""
    settings = CachePruning(
        mode="cache-ttl",
        keep_last_assistants=0,
        soft_trim_ratio=0,
        hard_clear_ratio=share,
        min_prunable_chars=0,
    )
    bodies = [user("u1"), *bodies]
    after = pruned(bodies, window, settings)
    total = sum(body_chars(body) for body in after)
    assert total < share * 4 * window or all(length <= 33 for length in lengths(after))
