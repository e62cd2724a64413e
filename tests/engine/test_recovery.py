"""What is done about a request that failed for its size, and within which bounds (SPEC1 12.5.1)."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.context import ContextSettings
from engine.errors import (
    BackendFailed,
    BackendRefused,
    BackendSilent,
    BackendUnreachable,
    ContextOverflow,
    MemoryShort,
    MessageTooLarge,
    WindowBlocked,
    WorkerDied,
)
from engine.overflow import OverflowText
from engine.recovery import (
    OVERFLOW_COMPACTIONS,
    TIMEOUT_COMPACTIONS,
    Recovery,
    Tries,
    overflow_of,
    plan_recovery,
)
from engine.testing import Script, ScriptedBackend
from tests.engine.talks import Talk, words

LLAMA = "the request exceeds the available context size, try increasing it"
SILENT = BackendSilent("It said nothing.")


def plan(fault, tries=Tries(), sent=6_000, window=8_000):  # noqa: B008  # frozen
    return plan_recovery(fault, tries, sent_tokens=sent, window_tokens=window)


# ---- what is an overflow --------------------------------------------------------------------------

OVERFLOWS = [
    pytest.param(ContextOverflow("It does not fit."), OverflowText(0, 0), id="our-own"),
    pytest.param(
        ContextOverflow("No.", prompt_tokens=9_000, window_tokens=4_096),
        OverflowText(9_000, 4_096),
        id="our-own-with-figures",
    ),
    pytest.param(BackendRefused("Refused.", detail=LLAMA), OverflowText(0, 0), id="detail"),
    pytest.param(
        BackendRefused("prompt is too long: 5000 tokens > 4096 maximum"),
        OverflowText(5_000, 4_096),
        id="sentence",
    ),
    pytest.param(BackendFailed(LLAMA), OverflowText(0, 0), id="failed-in-the-middle"),
]
OTHERS = [
    pytest.param(
        MessageTooLarge("Too large.", prompt_tokens=9, window_tokens=8), id="message-too-large"
    ),
    pytest.param(BackendRefused("Refused.", detail="rate limit: too many tokens"), id="rate"),
    pytest.param(BackendRefused("Refused.", detail="no such model"), id="another-refusal"),
    pytest.param(BackendUnreachable(LLAMA), id="unreachable"),
    pytest.param(WorkerDied("The process ended."), id="died"),
    pytest.param(WindowBlocked("The context window is 8,000 tokens, under 16,000."), id="guard"),
    pytest.param(MemoryShort("The context window does not fit into memory."), id="memory"),
]


@pytest.mark.parametrize(("fault", "figures"), OVERFLOWS)
def test_overflow_is_told_with_its_figures(fault, figures):
    """Whoever says it, in figures or in a server's own words."""
    assert overflow_of(fault) == figures


@pytest.mark.parametrize("fault", OTHERS)
def test_other_faults_are_no_overflow_and_not_recovered_from(fault):
    """A compaction would not mend them."""
    assert overflow_of(fault) is None
    assert plan(fault) is None


def test_detail_counts_before_the_sentence():
    """Our own sentence about a refusal is not searched when the server said something."""
    fault = BackendRefused("The prompt is too long.", detail="rate limit reached")
    assert overflow_of(fault) is None


# ---- overflow -------------------------------------------------------------------------------------


def test_window_a_refusal_tells_is_handed_on():
    """What the server said of window and prompt is what is learned."""
    fault = ContextOverflow("No.", prompt_tokens=7_000, window_tokens=4_096)
    assert plan(fault) == Recovery("overflow", Tries(overflow=1), 4_096, 7_000)


def test_refusal_that_tells_nothing_is_for_four_fifths_of_the_prompt():
    """The refusing window is then taken to be smaller than what was sent: every try gets smaller."""
    assert plan(ContextOverflow("No."), sent=5_001).window_tokens == 4_000


def test_refusing_window_is_never_larger_than_the_known_one():
    """A server that names its trained window after it was loaded with less."""
    fault = ContextOverflow("No.", window_tokens=131_072)
    assert plan(fault, window=8_000).window_tokens == 8_000


def test_overflow_is_compacted_for_three_times():
    """Then it is given up; compactions for timeouts do not count."""
    fault, tries = ContextOverflow("No."), Tries(timeout=2)
    for number in range(1, OVERFLOW_COMPACTIONS + 1):
        tries = plan(fault, tries).tries
        assert tries == Tries(overflow=number, timeout=2)
    assert OVERFLOW_COMPACTIONS == 3
    assert plan(fault, tries) is None


# ---- timeout --------------------------------------------------------------------------------------


def test_silence_is_compacted_for_twice():
    """Then it is given up; compactions for overflow do not count."""
    tries = Tries(overflow=3)
    for number in range(1, TIMEOUT_COMPACTIONS + 1):
        recovery = plan(SILENT, tries)
        assert recovery == Recovery("timeout", Tries(3, number))
        tries = recovery.tries
    assert TIMEOUT_COMPACTIONS == 2
    assert plan(SILENT, tries) is None


@pytest.mark.parametrize(
    ("sent", "window", "compacts"),
    [(6_500, 10_000, False), (6_501, 10_000, True), (0, 10_000, False), (6_501, 0, False)],
    ids=["at-65-percent", "over", "empty", "no-window"],
)
def test_silence_counts_only_for_a_prompt_over_65_percent(sent, window, compacts):
    """A shorter prompt that times out has another reason."""
    assert (plan(SILENT, sent=sent, window=window) is not None) is compacts


# ---- whatever happens -----------------------------------------------------------------------------

faults = st.one_of(
    st.builds(
        lambda told, window: ContextOverflow("No.", prompt_tokens=told, window_tokens=window),
        st.integers(0, 200_000),
        st.integers(0, 200_000),
    ),
    st.sampled_from([SILENT, BackendFailed(LLAMA), BackendUnreachable("No."), WorkerDied("No.")]),
)


@given(st.lists(faults, max_size=12), st.integers(1, 200_000), st.integers(1, 200_000))
def test_no_run_of_faults_is_recovered_from_more_than_five_times(many, sent, window):
    """Appendix A 7: three compactions for overflow and two for timeouts, in any order."""
    tries, causes = Tries(), []
    for fault in many:
        recovery = plan(fault, tries, sent, window)
        if recovery is not None:
            causes.append(recovery.cause)
            tries = recovery.tries
            assert 0 <= recovery.window_tokens <= window
    assert causes.count("overflow") == tries.overflow <= 3
    assert causes.count("timeout") == tries.timeout <= 2


# ---- within a turn --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault", [SILENT, ContextOverflow("It does not fit.")], ids=["silent", "overflow"]
)
def test_turn_with_nothing_to_fold_ends_with_its_fault(fault):
    """One long message, and the server cannot do it: told, with choices; nothing is tried twice."""
    settings = ContextSettings(reserve_tokens=0, reserve_floor=0)
    with Talk(settings=settings, reply=Script("x", fault=fault)) as talk:
        talk.say(words(11_500))
        assert type(talk.ended.error) is type(fault)
        assert talk.compactions == []
        assert len(talk.chats) == 1
        assert talk.path[0].body.text == words(11_500)


def test_answer_to_nothing_is_told():
    """Nobody has said anything: a sentence, no request."""
    with Talk() as talk:
        talk.run(talk.session.answer())
        assert "nothing to answer" in talk.ended.error.sentence
        assert talk.backend.requests == []


class Leaving(ScriptedBackend):
    """A backend that is gone as soon as it has answered."""

    async def count(self, request):
        if self.requests:
            raise BackendUnreachable("No server answers.")
        return await super().count(request)


def test_backend_that_is_gone_after_the_reply_does_not_spoil_the_turn():
    """The reply is there; that nothing could be counted after it is the next turn's matter."""
    with Talk() as talk:
        talk.backend = Leaving(otherwise=talk.answer, trained_window=1 << 20)
        talk.session = talk.open()
        talk.say("Hello")
        assert (talk.ended.reason, talk.ended.error) == ("stop", None)
        assert talk.path[-1].body.text == "Yes."


def test_stop_before_a_compaction_has_begun():
    """At the very moment it is asked for: stopped, nothing loaded, nothing changed."""
    with Talk(("Hello", "Good day")) as talk:

        async def work():
            events = talk.session.compact()
            first = asyncio.ensure_future(anext(events))
            await asyncio.sleep(0)  # the work is planned, and has not taken its first step
            talk.session.stop()
            return [await first, *[event async for event in events]]

        [ended] = asyncio.run(work())
        assert (ended.outcome, ended.reason) == ("stopped", "manual")
        assert talk.backend.loads == []
