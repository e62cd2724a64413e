"""The staged summary: context-engine.md 6.5 and 6.6, vectors F, the staged rows; C08, C14, C20, C21."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.compact import (
    Retry,
    Stages,
    Summariser,
    SummaryRejected,
    SummaryTask,
    no_history_text,
    placeholder_text,
)
from engine.errors import (
    BackendFailed,
    BackendSilent,
    BackendUnreachable,
    ContextOverflow,
    Stopped,
)
from engine.tokens import estimate_text
from tests.engine.compact_items import ids, users, weighed

SMALL = weighed(("user", 100))
SMALL_AND_LARGE = weighed(("user", 100), ("user", 125_000))
SILENT = BackendSilent("Nothing was heard.", "")
BROKEN = BackendFailed("The backend broke.", "")
OVERFLOW = ContextOverflow("Too long.", "")


class Model:
    """Writes summaries as told: a function from a task to a text, or to a failure to raise."""

    def __init__(self, write):
        self.write = write
        self.tasks: list[SummaryTask] = []

    async def __call__(self, task):
        self.tasks.append(task)
        written = self.write(task)
        if isinstance(written, BaseException):
            raise written
        return written

    @property
    def sizes(self):
        """What each request had to summarise: messages, or partial summaries."""
        return tuple(len(task.items) or len(task.partials) for task in self.tasks)


class Clock:
    """Remembers how long was slept."""

    def __init__(self):
        self.slept: list[float] = []

    async def sleep(self, seconds):
        self.slept.append(seconds)


def summariser(model, clock=None, *, window=200_000, **stages):
    """A summariser whose waits take no time and have no jitter."""
    return Summariser(
        model,
        window=window,
        stages=Stages(**stages),
        sleep=(clock or Clock()).sleep,
        random=lambda: 0.5,
    )


def summarise(model, items, previous="", focus="", **more):
    """The summary of items."""
    return asyncio.run(summariser(model, **more).in_stages(items, previous, focus))


def failing(*, large):
    """Always fails, or only while a large message is asked for."""
    return lambda task: BROKEN if not large or task.items[-1].tokens > 1000 else "a summary"


# ---- stages ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("items", "chunk_tokens", "sizes", "kinds"),
    [
        pytest.param(
            users(4, 300), 1000, (2, 2, 2), "summary summary merge", id="staged-4x300@1000"
        ),
        pytest.param(users(8, 1000), 8000, (6, 2), "summary update", id="staged-8x1000@8000"),
        pytest.param(
            users(8, 1000), 7999, (4, 4, 2), "summary summary merge", id="staged-8x1000@7999"
        ),
        pytest.param(users(3, 300), 300, (1, 1, 1), "summary update update", id="staged-three"),
        pytest.param(users(4, 300), 1440, (4,), "summary", id="staged-fits"),
    ],
)
def test_stages(items, chunk_tokens, sizes, kinds):
    """Messages over the chunk budget are split by share and merged; fewer than four never are."""
    model = Model(lambda task: f"of {len(task.items)}")
    summary = summarise(model, items, chunk_tokens=chunk_tokens)
    assert model.sizes == sizes
    assert " ".join(task.kind for task in model.tasks) == kinds
    assert (summary.tier, summary.calls, summary.degraded) == (1, len(sizes), False)


def test_no_messages():
    """staged-empty: with nothing to summarise the previous summary stays, or there is none."""
    model = Model(lambda task: "never")
    assert summarise(model, (), "the previous one").text == "the previous one"
    assert summarise(model, ()).text == no_history_text("en")
    assert summarise(model, weighed(("model", 0), ("label", 0)), "P").text == "P"
    assert model.tasks == []


def test_each_chunk_carries_the_summary_on():
    """staged-iteration: three chunks get P, SP, SSP; the last answer is the summary."""
    model = Model(lambda task: "S" + task.previous)
    summary = summarise(model, users(3, 1000), "P", chunk_tokens=1300)
    assert [task.previous for task in model.tasks] == ["P", "SP", "SSP"]
    assert summary.text == "SSSP"
    assert [task.kind for task in model.tasks] == ["update"] * 3


def test_the_older_summary_enters_at_the_merge():
    """Parts begin without a previous summary; merging carries it on, with the user's focus."""
    model = Model(lambda task: task.kind)
    summarise(model, users(4, 300), "P", "the plan", chunk_tokens=1000)
    assert [task.previous for task in model.tasks] == ["", "", "P"]
    assert [task.focus for task in model.tasks] == ["the plan"] * 3
    assert model.tasks[-1].partials == ("summary", "summary")


def test_settings_are_no_messages():
    """What is no message is neither counted nor sent."""
    model = Model(lambda task: "a summary")
    summarise(model, weighed(("model", 0), ("user", 10), ("label", 0), ("user", 10)))
    assert [ids(task.items) for task in model.tasks] == [(1, 3)]


def test_parts_can_be_chosen():
    """Three parts are three partial summaries; one part is never a merge."""
    model = Model(lambda task: "a summary")
    summarise(model, users(6, 300), chunk_tokens=1000, parts=3)
    assert model.sizes == (2, 2, 2, 3)
    model.tasks.clear()
    summarise(model, users(6, 300), chunk_tokens=1000, parts=1)
    assert model.sizes == (2, 2, 2)


def test_a_merge_that_would_not_fit_is_done_in_steps():
    """Partial summaries too long for one request are merged one after the other."""
    long = "many words " * 170
    model = Model(lambda task: long if task.kind == "summary" else "merged")
    summary = summarise(model, users(4, 300), chunk_tokens=1000, window=900)
    merges = [task for task in model.tasks if task.kind == "merge"]
    assert [len(task.partials) for task in merges] == [1, 1]
    assert [task.previous for task in merges] == ["", "merged"]
    assert summary.text == "merged"


# ---- tiers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("items", "write", "calls", "tier", "text"),
    [
        pytest.param(SMALL, failing(large=False), 3, 3, placeholder_text(1, 0, "en"), id="F1"),
        pytest.param(
            SMALL_AND_LARGE, failing(large=False), 6, 3, placeholder_text(2, 1, "en"), id="F2"
        ),
        pytest.param(
            SMALL_AND_LARGE,
            failing(large=True),
            5,
            2,
            "a summary\n\n[Large user message (~125K tokens) omitted from the summary]",
            id="F3",
        ),
        pytest.param(SMALL, lambda _: SILENT, 1, 3, placeholder_text(1, 0, "en"), id="F4-timeout"),
    ],
)
def test_tiers(items, write, calls, tier, text):
    """What fails falls to the next tier: without the large ones, then a placeholder."""
    model = Model(write)
    summary = summarise(model, items)
    assert (len(model.tasks), summary.calls) == (calls, calls)
    assert (summary.tier, summary.text) == (tier, text)
    assert summary.degraded is (tier == 3)


@pytest.mark.parametrize(
    "stop", [asyncio.CancelledError(), Stopped()], ids=["F4-cancelled", "F4-stopped"]
)
def test_a_stop_is_never_a_placeholder(stop):
    """F4: a stop by the user is raised after one call; nothing is retried or written."""
    model = Model(lambda _: stop)
    with pytest.raises(type(stop)):
        summarise(model, SMALL_AND_LARGE)
    assert len(model.tasks) == 1


def test_waits():
    """F5: without jitter 500 and 1000 ms pass between attempts; the third failure ends."""
    clock = Clock()
    summarise(Model(failing(large=False)), SMALL, clock=clock)
    assert clock.slept == [0.5, 1.0]


def test_waits_double_up_to_a_limit():
    """Each wait is twice the one before, until five seconds."""
    delays = [Retry().delay_ms(attempt, 0.5) for attempt in range(1, 7)]
    assert delays == [500, 1000, 2000, 4000, 5000, 5000]


@settings(deadline=None)
@given(st.integers(1, 40), st.floats(0, 1))
def test_jitter_stays_within_its_bounds(attempt, chance):
    """A wait is within a fifth of its length, and within its limits."""
    usual = Retry(jitter=0).delay_ms(attempt, chance)
    delay = Retry().delay_ms(attempt, chance)
    assert abs(delay - usual) <= 0.2 * usual + 1
    assert 500 <= delay <= 5000


def test_a_bug_is_not_retried():
    """What is no fault of the environment is a bug of ours and propagates."""
    model = Model(lambda _: ZeroDivisionError("ours"))
    with pytest.raises(ZeroDivisionError):
        summarise(model, SMALL)
    assert len(model.tasks) == 1


def test_a_failure_is_tried_again():
    """The third attempt counts as well as the first; its failures are told."""
    answers = [SummaryRejected("empty"), BROKEN, "at last"]
    model = Model(lambda _: answers.pop(0))
    summary = summarise(model, SMALL)
    assert (summary.text, summary.tier, summary.calls) == ("at last", 1, 3)
    assert summary.rejected == ("empty",)
    assert summary.faults == ("The backend broke.",)


def test_c14_thinking_is_never_a_summary():
    """C14: a model that only thinks leaves a placeholder that is marked, and says so."""
    model = Model(lambda _: SummaryRejected("thinking"))
    summary = summarise(model, SMALL, "the previous one")
    assert summary.degraded
    assert summary.rejected == ("thinking",) * 3


def test_a_placeholder_never_replaces_a_summary():
    """The previous summary stays in front of the note that there is no new one."""
    summary = summarise(Model(failing(large=False)), users(3, 100), "the previous one")
    assert summary.text == "the previous one\n\n" + placeholder_text(3, 0, "en")


def test_silence_moves_on_to_the_next_tier():
    """A timeout is not retried, but without the large message there may be a summary."""
    write = Model(lambda task: SILENT if task.items[-1].tokens > 1000 else "a summary")
    summary = summarise(write, SMALL_AND_LARGE)
    assert (summary.tier, summary.calls) == (2, 3)


def test_the_notes_have_an_order():
    """Each message that was left out has its note, with its role and size, in order."""
    items = weighed(("assistant", 90_400), ("user", 100), ("call:a", 10), ("result:a", 150_600))
    model = Model(lambda task: BROKEN if max(i.tokens for i in task.items) > 1000 else "rest")
    summary = summarise(model, items, min_messages=9)
    assert summary.tier == 2
    assert summary.text.split("\n") == [
        "rest",
        "",
        "[Large assistant message (~90K tokens) omitted from the summary]",
        "[Large tool result message (~151K tokens) omitted from the summary]",
    ]


def test_only_large_messages():
    """With nothing left beside the large messages the second tier is passed over."""
    summary = summarise(Model(failing(large=False)), weighed(("user", 125_000)))
    assert (summary.calls, summary.text) == (3, placeholder_text(1, 1, "en"))


def test_a_part_that_fails_leaves_its_placeholder():
    """When one of two parts has no summary, the other's is kept, and the whole is degraded."""
    model = Model(lambda task: BROKEN if ids(task.items)[:1] == (2,) else "the first half")
    summary = summarise(model, users(4, 300), chunk_tokens=1000)
    assert summary.degraded
    assert summary.text == "the first half\n\n" + placeholder_text(2, 0, "en")
    assert summary.calls == 4


def test_all_parts_fail():
    """One placeholder for all of them, under the previous summary."""
    summary = summarise(Model(failing(large=False)), users(4, 300), "P", chunk_tokens=1000)
    assert summary.text == "P\n\n" + placeholder_text(4, 0, "en")
    assert (summary.tier, summary.calls) == (3, 6)


def merge_fails(task):
    """Parts are summarised, merging them always fails."""
    return BROKEN if task.kind == "merge" else f"part {ids(task.items)[0]}"


def test_a_merge_that_fails_loses_nothing_that_fits():
    """Partial summaries within the cap stand one after the other, the older summary first."""
    summary = summarise(
        Model(merge_fails), users(4, 300), "P", chunk_tokens=1000, output_tokens=50
    )
    assert summary.text == "P\n\npart 0\n\npart 2"
    assert (summary.tier, summary.degraded) == (1, False)


def test_a_merge_that_fails_and_is_too_long():
    """Partial summaries over the cap are no summary: the placeholder says so, the older one stays."""
    summary = summarise(Model(merge_fails), users(4, 300), "P", chunk_tokens=1000, output_tokens=5)
    assert summary.text == "P\n\n" + placeholder_text(4, 0, "en")
    assert summary.degraded


def test_the_language_of_notes():
    """Placeholders are in the conversation's language."""
    chinese = Summariser(
        Model(failing(large=False)), window=9000, language="zh", sleep=Clock().sleep
    )
    assert asyncio.run(chinese.in_stages(SMALL)).text == placeholder_text(1, 0, "zh")


# ---- what does not fit ----------------------------------------------------------------------------


def test_c20_a_chunk_that_overflows_is_halved():
    """C20: a request the server refuses as too long is made again with half the messages."""
    model = Model(lambda task: OVERFLOW if len(task.items) > 1 else "S" + task.previous)
    clock = Clock()
    summary = summarise(model, users(4, 100), clock=clock)
    assert model.sizes == (4, 2, 1, 1, 2, 1, 1)
    assert (summary.text, summary.tier) == ("SSSS", 1)
    assert clock.slept == []


def test_c20_one_message_that_overflows():
    """C20: a single message that is refused as too long ends in the placeholder, without a retry."""
    model = Model(lambda _: OVERFLOW)
    summary = summarise(model, SMALL, "P")
    assert (summary.tier, summary.calls) == (3, 1)
    assert summary.text.startswith("P\n\n")
    assert summary.faults == ("Too long.",)


def test_halving_keeps_a_pair():
    """Half of a chunk is cut between groups, not within a call and its results."""
    items = weighed(("call:a", 100), ("result:a", 100), ("user", 10))
    model = Model(lambda task: OVERFLOW if len(task.items) > 2 else "a summary")
    summarise(model, items)
    assert [ids(task.items) for task in model.tasks] == [(0, 1, 2), (0, 1), (2,)]


def test_what_cannot_fit_is_never_asked_for():
    """A message larger than the window is left out without a request for it."""
    model = Model(lambda _: "a summary")
    summary = summarise(model, SMALL_AND_LARGE, window=16_000, min_messages=9)
    assert [ids(task.items) for task in model.tasks] == [(0,), (0,)]
    assert summary.tier == 2


def test_no_room_at_all():
    """Where instructions and summaries alone fill the window, the placeholder costs no request."""
    model = Model(lambda _: "a summary")
    summary = summarise(model, users(5, 100), window=1000, output_tokens=500)
    assert (summary.tier, model.tasks) == (3, [])


def test_a_summary_that_grows_does_not_push_the_rest_out():
    """A summary longer than agreed makes the next chunks smaller instead of too large."""
    grown = "many words " * 400
    model = Model(lambda task: grown)
    summarise(model, users(3, 300), window=2000, chunk_tokens=400, output_tokens=100)
    assert len(model.tasks) > 0
    assert all(fits(task, 2000, 100, 0) for task in model.tasks)


def fits(task, window, output, instructions):
    """Whether a request, its margin and its answer fit the window."""
    texts = sum(estimate_text(text) for text in task.partials)
    body = sum(item.tokens for item in task.items) + texts
    older = estimate_text(task.previous) if task.previous else 0
    return body * 1.2 + older + instructions + output <= window


@settings(deadline=None)
@given(
    st.lists(st.integers(1, 20_000), max_size=30),
    st.integers(4_096, 200_000),
    st.integers(64, 2_000),
    st.integers(0, 500),
    st.sampled_from(["", "the older summary " * 40]),
)
def test_no_request_exceeds_the_window(sizes, window, output, instructions, previous):
    """Whatever there is to summarise, what is asked for fits, and there is a text in the end."""
    items = weighed(*[("user", size) for size in sizes])
    model = Model(lambda task: "words " * (output // 2))
    summary = summarise(
        model,
        items,
        previous,
        window=window,
        output_tokens=output,
        instruction_tokens=instructions,
    )
    assert summary.text
    assert all(fits(task, window, output, instructions) for task in model.tasks)
    assert summary.calls == len(model.tasks)


@settings(deadline=None)
@given(
    st.lists(st.integers(1, 20_000), min_size=1, max_size=12),
    st.lists(
        st.sampled_from(["ok", BROKEN, SILENT, OVERFLOW, SummaryRejected("empty")]), max_size=30
    ),
)
def test_every_failure_ends_in_a_text(sizes, answers):
    """Any row of failures ends, within a bounded number of requests, and never loses the old summary."""
    queue = list(answers)
    model = Model(lambda task: queue.pop(0) if queue else BROKEN)
    items = weighed(*[("user", size) for size in sizes])
    summary = summarise(model, items, "P", window=16_000)
    assert summary.text
    assert summary.calls <= 3 * (4 * len(items) + 3)
    if summary.calls and "ok" not in answers:
        assert summary.text.startswith("P\n\n")
        assert summary.degraded


# ---- stopping -------------------------------------------------------------------------------------


def test_a_stop_during_a_wait_ends_at_once():
    """Cancelling while an attempt is waited for propagates, and nothing else is asked for."""
    model = Model(failing(large=False))

    async def scene():
        waiting = asyncio.Event()

        async def sleep(seconds):
            waiting.set()
            await asyncio.Event().wait()

        stuck = Summariser(model, window=9000, sleep=sleep)
        task = asyncio.ensure_future(stuck.in_stages(SMALL_AND_LARGE, "P"))
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scene())
    assert len(model.tasks) == 1


def test_a_server_that_is_gone():
    """C21: no server ends in a marked placeholder after three attempts a tier, not in a loop."""
    gone = BackendUnreachable("No server answers.", "Start it.")
    summary = summarise(Model(lambda _: gone), users(4, 300), "P", chunk_tokens=1000)
    assert summary.calls == 6
    assert summary.degraded
    assert set(summary.faults) == {"No server answers. Start it."}


# ---- a turn that was split ------------------------------------------------------------------------


def in_turns(model, folded, prefix, previous="", **more):
    """The summary of whole turns and the beginning of the next."""
    made = summariser(model, **more).in_turns(folded, prefix, previous=previous, focus="the plan")
    return asyncio.run(made)


def test_a_split_turn_has_its_own_summary():
    """The beginning of a turn is summarised apart and stands under a line and a heading."""
    model = Model(lambda task: f"of {task.kind}")
    summary = in_turns(model, users(2, 100), users(1, 100), "P")
    assert [task.kind for task in model.tasks] == ["update", "split_turn"]
    assert [task.previous for task in model.tasks] == ["P", ""]
    history, _, beginning = summary.text.partition("\n\n---\n\n")
    assert history == "of update"
    assert beginning.startswith("**")
    assert beginning.endswith("of split_turn")
    assert (summary.tier, summary.calls) == (1, 2)


def test_both_share_the_room_for_a_summary():
    """Together the two may not be longer than one; alone each has all of the room."""
    model = Model(lambda _: "a summary")
    in_turns(model, users(1, 100), users(1, 100))
    assert sum(task.share for task in model.tasks) == pytest.approx(1)
    model.tasks.clear()
    in_turns(model, (), users(1, 100))
    in_turns(model, users(1, 100), ())
    assert [task.share for task in model.tasks] == [1, 1]


def test_a_split_first_turn():
    """Without earlier turns that part says that there is no earlier history."""
    model = Model(lambda _: "the beginning")
    summary = in_turns(model, (), users(1, 100))
    assert summary.text.startswith(no_history_text("en") + "\n\n---\n\n")
    assert summary.calls == 1


def test_no_split_turn():
    """Without a beginning of a turn it is the summary of the whole turns."""
    model = Model(lambda _: "whole")
    assert in_turns(model, users(2, 100), weighed(("model", 0))).text == "whole"


def test_a_split_turn_that_fails_degrades_the_whole():
    """The history's summary stays, the beginning has a placeholder, and the whole is degraded."""
    model = Model(lambda task: BROKEN if task.kind == "split_turn" else "history")
    summary = in_turns(model, users(2, 100), users(1, 100))
    assert summary.degraded
    assert summary.text.startswith("history\n\n---\n\n")
    assert summary.text.endswith(placeholder_text(1, 0, "en"))
    assert (summary.calls, len(summary.faults)) == (4, 3)


def test_chunks_of_a_split_turn():
    """The chunks of a split turn carry its own summary on."""
    model = Model(lambda task: "S" + task.previous)
    in_turns(model, users(1, 100), users(2, 1000), "P", chunk_tokens=1300)
    assert [(t.kind, t.previous) for t in model.tasks[1:]] == [
        ("split_turn", ""),
        ("split_turn", "S"),
    ]
