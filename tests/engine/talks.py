"""Conversations that outgrow their window, with a scripted model that can also summarise."""

import asyncio
from dataclasses import dataclass, field

from engine.context import ContextSettings
from engine.events import CompactionEnded, Notice, TurnEnded
from engine.models import ModelPlan, WindowLimits
from engine.session import Session
from engine.sessiontools import SessionTools
from engine.testing import (
    FakeClock,
    Script,
    ScriptedBackend,
    asks_for_summary,
    conversation,
    memory_store,
)
from engine.tokens import estimate_text
from engine.transcript import Compaction

GOOD_SUMMARY = "The two talk about lighthouses; the keeper's list is half done, the lamp is next."


UNIT = "the lamp of the house burns for all "
PER_UNIT = estimate_text(UNIT * 100) / 100


def words(tokens):
    """English text of about that many tokens by the double's count."""
    return UNIT * round(tokens / PER_UNIT)


async def no_sleep(seconds):
    """Waits between attempts take no time here."""


@dataclass
class Talk:
    """One session on a scripted backend: what was sent, told and stored.

    `summary` is what the model writes when it is asked for one: a text, a Script, or a function
    of the request. Replies repeat `reply`, or come from `scripts` first.
    """

    history: tuple = ()
    window: int = 16_384
    scripts: tuple = ()
    summary: object = GOOD_SUMMARY
    reply: object = "Yes."
    exact: bool = True
    system: str = ""
    settings: ContextSettings = ContextSettings()
    hard_min: int = 1
    think: object = None
    thinking: str = "last"
    events: list = field(default_factory=list)

    def __post_init__(self):
        self.store = memory_store()
        self.session_id, _ = conversation(self.store, *self.history)
        self.backend = ScriptedBackend(
            self.scripts, otherwise=self.answer, exact=self.exact, trained_window=1 << 20
        )
        self.session = self.open()

    def open(self):
        tools = SessionTools(clock=FakeClock(step=0.01), sleep=no_sleep)
        return Session(
            self.store, self.backend, self.session_id, self.plan(), self.settings, tools
        )

    def plan(self, window=None, name="test"):
        limits = WindowLimits(cap_tokens=1 << 20, hard_min_tokens=self.hard_min)
        return ModelPlan(
            f"scripted:{name}",
            "scripted",
            "test",
            window_option=window or self.window,
            system_prompt=self.system,
            think=self.think,
            thinking_history=self.thinking,
            limits=limits,
        )

    def answer(self, request):
        wanted = self.summary if asks_for_summary(request) else self.reply
        if callable(wanted):
            wanted = wanted(request)
        return wanted if isinstance(wanted, Script) else Script(wanted)

    def run(self, *works, until=None):
        """Run what gives events, one after the other; the events of the last."""

        async def collect():
            for work in works:
                self.events = []
                async for event in work:
                    self.events.append(event)
                    if until is not None:
                        until(event)
            return self.events

        return asyncio.run(collect())

    def say(self, *texts, **more):
        return self.run(*(self.session.send(text) for text in texts), **more)

    def close(self):
        self.store.close()

    def __enter__(self):
        return self

    def __exit__(self, *details):
        self.close()

    # ---- what came of it ------------------------------------------------------------------------

    @property
    def path(self):
        return self.store.path(self.session_id)

    @property
    def compactions(self):
        return [entry.body for entry in self.path if isinstance(entry.body, Compaction)]

    @property
    def chats(self):
        return [r for r in self.backend.requests if not asks_for_summary(r)]

    @property
    def summaries(self):
        return [r for r in self.backend.requests if asks_for_summary(r)]

    @property
    def ended(self):
        last = self.events[-1]
        assert isinstance(last, TurnEnded | CompactionEnded)
        return last

    def told(self, kind):
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def notices(self):
        return [event.code for event in self.told(Notice)]
