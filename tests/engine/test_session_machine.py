"""Random lives of a conversation: whatever the user, the model and the machine do, this holds."""

import asyncio
import tempfile
from itertools import pairwise
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine.budget import plan_budget
from engine.context import ContextSettings
from engine.errors import (
    BackendSilent,
    BackendUnreachable,
    ContextOverflow,
    EnvironmentFault,
    WorkerDied,
)
from engine.events import CompactionEnded, CompactionStarted, Notice, Receipt, TurnEnded
from engine.models import ModelPlan, WindowLimits
from engine.session import Session
from engine.sessiontools import SessionTools
from engine.store import Store
from engine.testing import FakeClock, Script, ScriptedBackend, asks_for_summary
from engine.transcript import Compaction, Message, Text, ToolCall, user
from tests.engine.talks import no_sleep, words

SYSTEM = "You keep a lighthouse. Answer in few words."
WINDOWS = (4_096, 6_000, 8_192, 16_384, 32_768)
SUMMARIES = {
    "good": "They counted ships; the lamp is to be mended next, and oil is short.",
    "blank": "",
    "thinking": Script("", thinking="Let me see."),
    "cut": Script("The two", stop_reason="length"),
    "as long": words(3_000),
    "refused": "I'm sorry, I can't do that.",
    "down": Script("x", fault=BackendUnreachable("No server answers.")),
    "died": Script("The two spoke", fault=WorkerDied("It died."), fault_after=1),
}
FAULTS = {
    "none": None,
    "overflow": ContextOverflow("It does not fit."),
    "small window": ContextOverflow("It does not fit.", window_tokens=3_000),
    "silent": BackendSilent("It said nothing."),
    "down": BackendUnreachable("No server answers."),
}


class Conversation(RuleBasedStateMachine):
    """One conversation in a store on the disk, and everything that can happen to it."""

    @initialize(window=st.sampled_from(WINDOWS), exact=st.booleans())
    def begin(self, window, exact):
        self.folder = tempfile.TemporaryDirectory()
        self.window, self.exact = window, exact
        self.store = Store.open(Path(self.folder.name) / "porthole.db")
        self.session_id = self.store.create_session().id
        self.summary = SUMMARIES["good"]
        self.reply_tokens = 30
        self.known = ()
        self.faults = []
        self.asked = ""
        self.events = []
        self.connect()

    steps = 0

    def teardown(self):
        if hasattr(self, "store"):
            self.store.close()
            self.folder.cleanup()

    def connect(self):
        self.backend = ScriptedBackend(
            otherwise=self.answer, exact=self.exact, trained_window=1 << 20
        )
        self.session = Session(
            self.store,
            self.backend,
            self.session_id,
            self.plan(),
            ContextSettings(),
            SessionTools(clock=FakeClock(step=0.01), sleep=no_sleep),
        )

    def plan(self):
        return ModelPlan(
            f"scripted:{self.window}",
            "scripted",
            "test",
            window_option=self.window,
            system_prompt=SYSTEM,
            limits=WindowLimits(cap_tokens=1 << 20, hard_min_tokens=1),
        )

    def answer(self, request):
        if asks_for_summary(request):
            return self.summary
        if self.faults:
            return Script("x", fault=self.faults.pop(0))
        return words(self.reply_tokens)

    def run(self, work, *, stop_at=None):
        async def collect():
            events = []
            async for event in work:
                events.append(event)
                if len(events) == stop_at:
                    self.session.stop()
            return events

        Conversation.steps += 1
        self.sent_before = len(self.backend.requests)
        self.events = asyncio.run(collect())

    # ---- what happens ---------------------------------------------------------------------------

    @rule(
        tokens=st.sampled_from([5, 60, 300, 900, 2_500, 9_000]),
        reply=st.sampled_from([5, 200, 900]),
    )
    def send(self, tokens, reply):
        self.reply_tokens = reply
        self.asked = f"Question {len(self.known)}: " + words(tokens)
        self.run(self.session.send(self.asked))

    @rule(kind=st.sampled_from(sorted(FAULTS)), times=st.integers(1, 5))
    def send_to_a_failing_backend(self, kind, times):
        self.faults = [FAULTS[kind]] * times if FAULTS[kind] else []
        self.asked = f"Question {len(self.known)}"
        self.run(self.session.send(self.asked))
        self.faults = []

    @rule(tokens=st.sampled_from([60, 900]), at=st.integers(1, 12))
    def send_and_stop(self, tokens, at):
        self.asked = f"Question {len(self.known)}: " + words(tokens)
        self.run(self.session.send(self.asked), stop_at=at)

    @precondition(lambda self: self.users())
    @rule()
    def retry(self):
        self.asked = self.users()[-1].body.text
        self.run(self.session.answer())

    @precondition(lambda self: self.users())
    @rule(back=st.integers(1, 4))
    def edit(self, back):
        target = self.users()[-back:][0]
        self.store.set_leaf(self.session_id, target.parent)
        self.asked = f"Edited {len(self.known)}"
        self.run(self.session.send(self.asked))

    @rule(at=st.none() | st.integers(1, 6))
    def compact(self, at):
        self.run(self.session.compact("the lamp"), stop_at=at)

    @rule(window=st.sampled_from(WINDOWS))
    def switch_model(self, window):
        self.window = window
        self.session.switch(self.plan(), self.backend)
        self.events = []

    @rule(kind=st.sampled_from(sorted(SUMMARIES)))
    def summariser_changes(self, kind):
        self.summary = SUMMARIES[kind]
        self.events = []

    @rule(size=st.sampled_from([50, 6_000, 40_000]))
    def tool_turn(self, size):
        call = ToolCall(f"c{len(self.known)}", "read_file", {"path": "log.txt"})
        text = ("a line of the log\n" * (size // 18 + 1))[:size]
        bodies = (
            user("Read the log."),
            Message("assistant", (call,), stop_reason="tool_calls"),
            Message("tool_result", (Text(text),), tool_call_id=call.id, tool_name="read_file"),
            Message("assistant", (Text("I read it."),), stop_reason="stop"),
        )
        self.store.append_all(self.session_id, bodies)
        self.events = []

    @rule(mid_reply=st.booleans())
    def crash_and_reopen(self, mid_reply):
        if mid_reply and self.users():
            leaf = self.store.session(self.session_id).leaf
            self.store.start_reply(self.session_id, leaf)
        self.store.close()
        self.store = Store.open(Path(self.folder.name) / "porthole.db")
        self.connect()
        self.events = []

    def failure(self, request):
        """What to look at when a request is not as it should be."""
        sent = [(m.role, len(m.content), m.content[:40]) for m in request.messages]
        return "\n".join(map(str, [self.asked[:40], *sent, *self.events]))[:6_000]

    # ---- what holds -----------------------------------------------------------------------------

    def users(self):
        path = self.store.path(self.session_id)
        return [e for e in path if isinstance(e.body, Message) and e.body.role == "user"]

    @invariant()
    def transcript_is_only_appended_to(self):
        if not hasattr(self, "store"):
            return
        entries = self.store.entries(self.session_id)
        assert entries[: len(self.known)] == self.known
        self.known = entries

    @invariant()
    def every_work_ends_once(self):
        if getattr(self, "events", None):
            ends = [e for e in self.events if isinstance(e, TurnEnded)]
            manual = isinstance(self.events[-1], CompactionEnded)
            assert manual or (len(ends) == 1 and self.events[-1] is ends[0])
            if ends and ends[0].error is not None:
                assert isinstance(ends[0].error, EnvironmentFault), repr(ends[0].error.__cause__)

    @invariant()
    def compactions_shrink_and_are_few(self):
        events = getattr(self, "events", [])
        for event in events:
            if isinstance(event, CompactionEnded) and event.outcome == "done":
                assert event.after_tokens < event.before_tokens
        started = [e.reason for e in events if isinstance(e, CompactionStarted)]
        assert started.count("overflow") <= 3
        assert started.count("timeout") <= 2
        assert started.count("threshold") <= 1
        done = [e for e in events if isinstance(e, CompactionEnded) and e.outcome == "failed"]
        assert len(done) <= 4

    @invariant()
    def requests_are_sound(self):
        if not getattr(self, "events", None):
            return
        for request in self.backend.requests[self.sent_before :]:
            size = asyncio.run(ScriptedBackend().count(request))
            assert size < self.window
            assert size + request.max_tokens <= self.window or not self.exact
            if asks_for_summary(request):
                continue
            messages = request.messages
            assert (messages[0].role, messages[0].content) == ("system", SYSTEM)
            last_user = [m for m in messages if m.role == "user"][-1]
            assert last_user.content == self.asked, self.failure(request)
            assert sum("<summary>" in m.content for m in messages) <= 1
            for one, two in pairwise(messages):
                calls = [call.id for call in one.tool_calls]
                if calls:
                    assert (two.role, two.tool_call_id) == ("tool", calls[0])
                if two.role == "tool":
                    assert one.tool_calls or one.role == "tool"

    @invariant()
    def budget_is_kept_or_told(self):
        for event in getattr(self, "events", []):
            if isinstance(event, Receipt) and self.exact:
                over = event.sent_tokens > plan_budget(event.window_tokens).prompt
                told = [e.code for e in self.events if isinstance(e, Notice)]
                assert not over or "over_budget" in told

    @invariant()
    def one_summary_counts(self):
        if hasattr(self, "store"):
            path = self.store.path(self.session_id)
            for entry in path:
                if isinstance(entry.body, Compaction):
                    assert entry.body.tokens_after < entry.body.tokens_before


TestConversation = Conversation.TestCase
TestConversation.settings = settings(
    # Hypothesis leaves rules out by turns, so that the number of steps differs much from run to run.
    max_examples=130,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)


def test_enough_was_tried():
    """The machine above ran the session at least a thousand times, settings and crashes aside."""
    assert Conversation.steps >= 1_000
