"""Who writes a summary and how: in place, staged, in how many attempts, within which limits."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from engine.backends.base import PromptMessage, Sampling
from engine.compact import CompactionPlan, SummaryWishes, instruction_text
from engine.compactor import (
    IN_PLACE_ATTEMPTS,
    SMALL_MODEL_BYTES,
    Compactor,
    Writer,
    plan_sampling,
)
from engine.context import ContextSettings, plan_folding, plan_view
from engine.errors import (
    BackendUnreachable,
    ContextOverflow,
    Stopped,
    WorkerDied,
)
from engine.events import CompactionEnded, CompactionProgress, CompactionStarted
from engine.models import ModelPlan, WindowLimits
from engine.readiness import make_ready
from engine.session import Session
from engine.sessiontools import SessionTools
from engine.summaryjob import plan_job
from engine.testing import FakeClock, Script, ScriptedBackend, asks_for_summary
from engine.tokens import Count, estimate_messages, estimate_text
from engine.transcript import Compaction, user
from tests.engine.compact_items import entries, said
from tests.engine.talks import GOOD_SUMMARY, Talk, no_sleep, words

SYSTEM = "You keep a lighthouse."
PLAIN = "in plain sentences"
STRUCTURED = "## Goal"


def turns(count, tokens=400):
    """So many turns of two messages, each with its number, and a question."""
    said_ = [(user, lambda text: said("assistant", text))[n % 2] for n in range(2 * count)]
    bodies = [make(f"Message {n}. " + words(tokens)) for n, make in enumerate(said_)]
    return entries([*bodies, user("What is next?")])


class Desk:
    """A compactor at work on one path, and everything it did.

    `limit` is what prompt and summary may have together; the window unless it is told.
    """

    def __init__(self, path, *scripts, otherwise=GOOD_SUMMARY, **more):
        self.path = path
        self.exact = more.pop("exact", True)
        self.limit = more.pop("limit", None)
        self.window = more.pop("window", 16_384)
        self.weights_bytes = more.pop("weights_bytes", 0)
        self.own = more.pop("own", True)
        self.stretch = more.pop("stretch", "off")
        self.settings = ContextSettings(**more)
        self.backend = ScriptedBackend(
            scripts,
            otherwise=otherwise if callable(otherwise) else lambda request: otherwise,
            exact=self.exact,
            trained_window=1 << 20,
        )
        self.told, self.slept = [], []
        self.writes = asyncio.Event()

    async def prepare(self):
        plan = ModelPlan(
            "scripted:test",
            "scripted",
            "test",
            window_option=self.window,
            sampling=Sampling(temperature=0.1, seed=77, stop=("x",)),
            limits=WindowLimits(1 << 20, 1, 1),
        )
        ready = await make_ready(self.backend, plan, lambda fraction: None, lambda: None)
        ready = replace(ready, info=replace(ready.info, weights_bytes=self.weights_bytes))
        self.view = self.look()
        self.folding = plan_folding(self.view)
        assert isinstance(self.folding, CompactionPlan)
        job = plan_job(
            self.view,
            self.folding,
            ready,
            focus="the lamp",
            system_prompt=SYSTEM if self.own else None,
        )
        self.job = job if self.limit is None else replace(job, limit_tokens=self.limit)
        writer = Writer(self.backend, plan, ready)
        return Compactor(writer, self.tell, sleep=self.sleep, chance=lambda: 0.5)

    def look(self):
        weights = {e.id: 8 + estimate_text(getattr(e.body, "text", "")) for e in self.path}
        total = estimate_messages((PromptMessage("system", SYSTEM),)) + sum(weights.values())
        count = Count(total, "exact" if self.exact else "estimated")
        view = plan_view(self.path, weights, count, self.window, self.settings)
        return replace(view, urgency="refused")

    def tell(self, doing, done, total, stage):
        self.told.append((doing, done, total, stage))
        if doing == "writing":
            self.writes.set()

    async def sleep(self, seconds):
        self.slept.append(seconds)

    def run(self):
        async def work():
            return await (await self.prepare()).summarise(self.job)

        return asyncio.run(work())

    @property
    def requests(self):
        return self.backend.requests

    @property
    def asked(self):
        """What was asked for at the end of each request."""
        return [request.messages[-1].content for request in self.requests]


def measured(desk):
    """Tokens the two in-place requests would have, summary included."""
    asyncio.run(desk.prepare())
    instruction = instruction_text(
        "in_place",
        "en",
        replace(SummaryWishes(), focus="the lamp"),
        max_words=max(40, int(desk.job.cap_tokens * 0.6)),
    )
    added = (PromptMessage("user", instruction),)
    return [
        estimate_messages((*held.messages, *added)) + desk.job.cap_tokens
        for held in desk.job.prompts
    ]


# ---- in place -------------------------------------------------------------------------------------


def test_summary_is_written_at_the_end_of_the_whole_conversation():
    """What the model has read already, unchanged, and one instruction; the question is not in it."""
    desk = Desk(turns(6))
    written = desk.run()
    assert (written.text, written.way, written.requests) == (GOOD_SUMMARY, "in_place", 1)
    [request] = desk.requests
    texts = [message.content for message in request.messages]
    assert texts[0] == SYSTEM
    assert texts[1:-1] == [entry.body.text for entry in desk.path[:-1]]
    assert "the lamp" in texts[-1]
    assert request.think is False


def test_beginning_is_used_where_the_whole_does_not_fit():
    """The prompt up to the cut was read too: only the tail is left out."""
    whole, beginning = measured(Desk(turns(6)))
    assert beginning < whole
    desk = Desk(turns(6), limit=whole - 1)
    assert desk.run().way == "in_place"
    texts = [message.content for message in desk.requests[0].messages[1:-1]]
    cut = [entry.id for entry in desk.path].index(desk.folding.first_kept)
    assert texts == [entry.body.text for entry in desk.path[:cut]]
    assert 0 < cut < len(desk.path) - 1


def test_whole_conversation_may_fill_its_limit_exactly():
    """Prompt and summary together: at the limit is within it."""
    whole, _ = measured(Desk(turns(6)))
    desk = Desk(turns(6), limit=whole)
    desk.run()
    assert len(desk.requests[0].messages) == len(desk.path) + 1


def test_staged_when_neither_fits():
    """Then the folded messages are read once more, as text."""
    _, beginning = measured(Desk(turns(6)))
    desk = Desk(turns(6), limit=beginning - 1)
    written = desk.run()
    assert written.way == "staged"
    assert all("<conversation>" in asked or "summary>" in asked for asked in desk.asked)
    assert all(request.messages[0].content != SYSTEM for request in desk.requests)


@pytest.mark.parametrize("more", [{"own": False}, {"in_place": False}])
def test_staged_for_another_model_or_when_switched_off(more):
    """Another model holds nothing of the conversation."""
    desk = Desk(turns(6), **more)
    assert desk.run().way == "staged"
    assert desk.job.prompts == ()


def test_staged_from_the_originals_after_a_placeholder():
    """They stand in no prompt the model could hold."""
    path = turns(6)
    placeholder = Compaction("No summary.", path[8].id, facts={"degraded": True})
    words_ = [*(entry.body for entry in path[:-1]), placeholder, path[-1].body]
    desk = Desk(entries(words_))
    assert desk.run().way == "staged"
    assert "Message 0." in "".join(desk.asked)


def test_uncounted_prompt_has_the_size_it_is_known_to_have():
    """Nobody counts: what is known of the prompt, and an estimate of what is added."""
    desk = Desk(turns(6), exact=False)
    assert desk.run().way == "in_place"
    known = desk.job.prompts[0].tokens
    tight = Desk(turns(6), exact=False, limit=known + desk.job.cap_tokens)
    tight.run()
    assert len(tight.requests[0].messages) < len(desk.requests[0].messages)


# ---- the limit ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stretch", "trained", "tokens", "limit"),
    [
        ("auto", 8_192, 8_192, 8_192),
        ("auto", 8_192, 8_193, 16_384),
        ("off", 8_192, 6_000, 16_384),
        ("yarn", 8_192, 6_000, 16_384),
        ("auto", 0, 6_000, 16_384),
        ("auto", 32_768, 6_000, 16_384),
    ],
    ids=["native", "stretched-already", "off", "always", "unknown", "trained-on-more"],
)
def test_summary_does_not_stretch_a_context_that_runs_natively(stretch, trained, tokens, limit):
    """Prompt and summary stay within the trained window while the conversation does."""
    desk = Desk(turns(6))
    compactor = asyncio.run(desk.prepare())
    ready = compactor._writer.ready
    ready = replace(
        ready,
        request=replace(ready.request, stretch=stretch),
        loaded=replace(ready.loaded, trained_tokens=trained),
    )
    view = replace(desk.view, count=Count(tokens, "exact"))
    job = plan_job(view, desk.folding, ready, focus="", system_prompt=SYSTEM)
    assert job.limit_tokens == limit


# ---- attempts -------------------------------------------------------------------------------------


def test_rejected_summary_is_asked_for_again_in_plain_words():
    """Structure first; then fewer words, plain sentences, another seed, against loops."""
    desk = Desk(turns(6), "", Script("The two", stop_reason="failed"), GOOD_SUMMARY)
    written = desk.run()
    assert (written.way, written.requests) == ("in_place", 3)
    assert written.rejected == ("empty", "unfinished")
    assert [PLAIN in asked for asked in desk.asked] == [False, True, True]
    assert [STRUCTURED in asked for asked in desk.asked] == [True, False, False]
    caps = [request.max_tokens for request in desk.requests]
    assert caps[0] > caps[1] == caps[2] == 320
    assert len({request.sampling.seed for request in desk.requests}) == 3


def test_staged_after_three_attempts_in_place():
    """The other way out, still in plain words; every reason is told."""
    desk = Desk(turns(6), *[""] * IN_PLACE_ATTEMPTS)
    written = desk.run()
    assert IN_PLACE_ATTEMPTS == 3
    assert written.way == "staged"
    assert written.rejected == ("empty",) * 3
    assert all(PLAIN in asked for asked in desk.asked[1:])
    assert not written.is_degraded


def test_placeholder_when_nothing_can_stand():
    """Three in place, three of each stage, waits between those; then what only stands in for one."""
    desk = Desk(turns(2), otherwise="")
    written = desk.run()
    assert (written.way, written.is_degraded) == ("placeholder", True)
    assert set(written.rejected) == {"empty"}
    assert written.requests == len(desk.requests) == len(written.rejected)
    assert desk.slept == [0.5, 1.0] * (len(desk.slept) // 2)
    assert "unavailable" in written.text


def test_window_smaller_than_believed_goes_to_stages_at_once():
    """The same prompt would be refused again: not even a second attempt in place."""
    desk = Desk(turns(6), Script("x", fault=ContextOverflow("It does not fit.")))
    written = desk.run()
    assert written.way == "staged"
    assert len(desk.requests[0].messages) > len(desk.requests[1].messages)
    assert written.rejected == ()


@pytest.mark.parametrize("fault", [BackendUnreachable("No server answers."), WorkerDied("Gone.")])
def test_fault_in_place_is_not_tried_again(fault):
    """Nobody is there to write: the caller decides what becomes of it."""
    desk = Desk(turns(6), Script("x", fault=fault))
    with pytest.raises(type(fault)):
        desk.run()
    assert len(desk.requests) == 1


def test_fault_in_a_stage_is_tried_again():
    """Three attempts a request, with their waits (SPEC1 12.5.6)."""
    fault = Script("x", fault=WorkerDied("Gone."))
    desk = Desk(turns(2), fault, fault, in_place=False)
    assert desk.run().way == "staged"
    assert desk.slept == [0.5, 1.0]


# ---- what may not stand -----------------------------------------------------------------------------


def echo(request):
    """Repeats what was asked for."""
    return request.messages[-1].content.rpartition("\n</")[2]


REFUSALS = [
    pytest.param(echo, "echo", id="instructions-repeated"),
    pytest.param(lambda r: r.messages[1].content * 9, "repeating", id="went-round-in-circles"),
    pytest.param(lambda r: Script("", thinking="Let me see."), "thinking", id="thinking-only"),
    pytest.param(lambda r: "I'm sorry, but I can't do that.", "refused", id="refused"),
    pytest.param(lambda r: Script("The two", stop_reason="length"), "unfinished", id="cut-off"),
]


@pytest.mark.parametrize(("writes", "reason"), REFUSALS)
def test_what_is_no_summary_is_rejected(writes, reason):
    """Whatever way it was asked for."""
    for in_place in (True, False):
        written = Desk(turns(2), otherwise=writes, in_place=in_place).run()
        assert written.is_degraded
        assert reason in written.rejected


def numbered(tokens):
    """Text that neither repeats itself nor says anything."""
    text, number = "", 0
    while estimate_text(text) < tokens:
        number += 1
        text += f"Ship {number} passed buoy {number * 7 % 97} with {number * 13 % 89} barrels. "
    return text


def test_summary_that_hardly_saves_anything_is_rejected():
    """Nine tenths of what it replaces, and no more."""
    desk = Desk(turns(2, 60), otherwise=numbered(300))
    assert "not_smaller" in desk.run().rejected


def test_summary_over_its_cap_is_rejected():
    """A model that ran over its room, on a server that does not count."""
    desk = Desk(turns(8), otherwise=numbered(1_500))
    written = desk.run()
    assert written.is_degraded
    assert "too_long" in written.rejected


def test_whole_sentences_of_a_summary_that_was_cut_off_stand():
    """At its token limit: the last, unfinished one goes."""
    cut = Script(f"{GOOD_SUMMARY} They also spoke of the", stop_reason="length")
    assert Desk(turns(6), cut).run().text == GOOD_SUMMARY


def test_words_around_a_summary_are_taken_off():
    """Tags and politeness of the model."""
    wrapped = f"Here is the summary:\n\n<summary>\n{GOOD_SUMMARY}\n</summary>"
    assert Desk(turns(6), wrapped).run().text == GOOD_SUMMARY


# ---- the model ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "plain"),
    [(0, False), (1, True), (SMALL_MODEL_BYTES - 1, True), (SMALL_MODEL_BYTES, False)],
    ids=["unknown", "tiny", "small", "large"],
)
def test_small_model_is_asked_for_plain_sentences(weights, plain):
    """It would only echo a longer task, in place and in stages."""
    for in_place in (True, False):
        desk = Desk(turns(6), weights_bytes=weights, in_place=in_place)
        desk.run()
        assert (PLAIN in desk.asked[0]) is plain


def test_sampling_of_summaries():
    """Sober, otherwise at each attempt, against loops; the chat's stop strings do not count."""
    usual = Sampling(temperature=1.5, top_p=0.8, repeat_penalty=1.3, seed=7, stop=("END",))
    first, second, late = (plan_sampling(usual, attempt) for attempt in (0, 1, 9))
    assert [s.temperature for s in (first, second, late)] == [0.3, 0.5, 0.7]
    assert [s.repeat_penalty for s in (first, second)] == [1.3, 1.3]
    assert plan_sampling(Sampling(), 0).repeat_penalty == 1.1
    assert plan_sampling(Sampling(), 1).repeat_penalty == 1.25
    assert len({first.seed, second.seed, late.seed, usual.seed}) == 4
    assert (first.top_p, first.stop) == (0.8, ())


# ---- what is told ---------------------------------------------------------------------------------------


def test_progress_tells_reading_and_writing_of_every_request():
    """Numbered from 1; reading ends with its total, writing goes up."""
    desk = Desk(turns(6), "", GOOD_SUMMARY)
    desk.run()
    assert {stage for *_, stage in desk.told} == {1, 2}
    reading = [(done, total) for doing, done, total, stage in desk.told if doing == "reading"]
    assert reading[-1][0] == reading[-1][1]
    writing = [done for doing, done, _, stage in desk.told if (doing, stage) == ("writing", 2)]
    assert writing == sorted(writing)
    assert writing[-1] == len(GOOD_SUMMARY.split())


def test_thinking_is_progress_too():
    """A model that thinks all the same is seen to work."""
    desk = Desk(turns(6), Script(GOOD_SUMMARY, thinking="Well."))
    assert desk.run().text == GOOD_SUMMARY
    assert desk.told[2][:2] == ("writing", 1)


def test_tokens_of_all_requests_are_added_up():
    """For the conversation's counters: attempts in vain included."""
    desk = Desk(turns(6), "", GOOD_SUMMARY)
    written = desk.run()
    assert written.read_tokens == sum(
        estimate_messages(request.messages) for request in desk.requests
    )
    assert written.written_tokens == estimate_text(GOOD_SUMMARY)


# ---- stopped ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("in_place", [True, False])
def test_stop_ends_it_at_once(in_place):
    """Cancelling: the stream is closed, nothing is tried again, no placeholder comes back."""
    desk = Desk(turns(6), otherwise=Script("one two", hold_after=1), in_place=in_place)

    async def work():
        task = asyncio.ensure_future((await desk.prepare()).summarise(desk.job))
        await desk.writes.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(work())
    assert len(desk.requests) == desk.backend.stopped == 1


def test_stop_a_backend_reports_is_no_failure_either():
    """`Stopped` goes through every tier."""
    desk = Desk(turns(2), Script("x", fault=Stopped()), in_place=False)
    with pytest.raises(Stopped):
        desk.run()
    assert len(desk.requests) == 1


# ---- pieces that do not fit ---------------------------------------------------------------------------------


def test_no_staged_request_is_over_the_limit():
    """C20: chunked by construction; every request and its summary fit."""
    desk = Desk(turns(16, 700), in_place=False, limit=4_096)
    written = desk.run()
    assert written.way == "staged"
    assert len(desk.requests) > 3
    for request in desk.requests:
        assert estimate_messages(request.messages) + request.max_tokens <= 4_096


def test_message_over_the_limit_leaves_a_note():
    """Second tier: everything but what is too large, and a note for that."""
    path = list(turns(2, 300))
    path[0] = replace(path[0], body=user("Huge. " + words(9_000)))
    desk = Desk(tuple(path), in_place=False, limit=4_096)
    written = desk.run()
    assert written.way == "partial"
    assert written.text.startswith(GOOD_SUMMARY)
    assert "Large user message (~9K tokens) omitted" in written.text
    assert not any("Huge." in asked for asked in desk.asked)


def test_request_that_would_not_fit_is_not_made():
    """A window of a few tokens: no request at all, and a placeholder that says so."""
    desk = Desk(turns(3, 300), in_place=False, limit=200)
    written = desk.run()
    assert written.is_degraded
    assert desk.requests == []


# ---- within a session -----------------------------------------------------------------------------------------


class OtherModel(Talk):
    """Summaries come from a second model, opened for each compaction."""

    def open(self):
        self.other = ScriptedBackend(otherwise=lambda request: self.summary, name="other")
        self.opened = self.closed = 0
        tools = SessionTools(clock=FakeClock(step=0.01), sleep=no_sleep, writer=self.open_writer)
        return Session(
            self.store, self.backend, self.session_id, self.plan(), self.settings, tools
        )

    @asynccontextmanager
    async def open_writer(self):
        self.opened += 1
        plan = replace(self.plan(8_192), label="scripted:writer")
        ready = await make_ready(self.other, plan, lambda fraction: None, lambda: None)
        try:
            yield Writer(self.other, plan, ready)
        finally:
            self.closed += 1


def history(count=16, tokens=1_000):
    return tuple(f"Message {n}. " + words(tokens) for n in range(count))


def test_another_model_writes_the_summary():
    """compaction.model: opened once, closed, named in the entry; the chat's own is not asked."""
    with OtherModel(history()) as talk:
        talk.say("Go on")
        [compaction] = talk.compactions
        assert (compaction.model, compaction.way) == ("scripted:writer", "staged")
        assert talk.summaries == []
        assert all(asks_for_summary(request) for request in talk.other.requests)
        assert {request.window_tokens for request in talk.other.requests} == {8_192}
        assert (talk.opened, talk.closed) == (1, 1)


def test_another_model_that_cannot_be_opened_fails_the_compaction():
    """The fault is told, everything stays; nothing of it reaches the turn's end."""
    with OtherModel(history(8)) as talk:
        talk.other.models = ()
        talk.run(talk.session.compact())
        assert talk.ended.outcome == "failed"
        assert "no scripted model" in talk.ended.text
        assert talk.compactions == []


def test_other_model_s_requests_fit_its_own_window():
    """A writer with a smaller window gets smaller pieces."""
    with OtherModel(history()) as talk:
        talk.say("Go on")
        for request in talk.other.requests:
            assert estimate_messages(request.messages) + request.max_tokens <= 8_192


AT_ONCE = ContextSettings(timeout_seconds=1e-9)


def test_compaction_that_takes_too_long_is_given_up():
    """The limit, the setting and the old state are told; the turn goes on."""
    hold = Script("one two", hold_after=0)
    with Talk(history(10), settings=AT_ONCE, summary=hold) as talk:
        talk.say("Go on")
        [ended, *_] = talk.told(CompactionEnded)
        assert ended.outcome == "failed"
        assert "longer than" in ended.text
        assert "compaction.timeout_seconds" in ended.text
        assert talk.compactions == []
        assert talk.ended.reason == "stop"


def test_manual_compaction_that_takes_too_long_fails():
    """One ending, with what to do."""
    with Talk(history(4), settings=AT_ONCE, summary=Script("x", hold_after=0)) as talk:
        talk.run(talk.session.compact())
        assert talk.ended.outcome == "failed"
        assert "longer than" in str(talk.ended.error)
        assert talk.backend.stopped <= 1


def test_stages_are_told_to_the_user():
    """Events of a staged compaction: started once, progress of each stage, ended once."""
    with Talk(history(16), settings=ContextSettings(in_place=False)) as talk:
        talk.say("Go on")
        stages = [event.stage for event in talk.told(CompactionProgress)]
        assert stages == sorted(stages)
        assert max(stages) == len(talk.summaries) > 1
        assert len(talk.told(CompactionStarted)) == len(talk.told(CompactionEnded)) == 1
