"""A conversation on an Ollama double, with what was said, told, stored and really read."""

import asyncio
from dataclasses import dataclass, field, replace

from engine.backends.base import PromptMessage, PromptRequest
from engine.backends.ollama import OllamaBackend
from engine.context import ContextSettings
from engine.events import CompactionEnded, Receipt, TurnEnded
from engine.models import ModelPlan, WindowLimits
from engine.session import Session
from engine.sessiontools import SessionTools
from engine.testing import asks_for_summary, conversation, memory_store
from engine.testing.ollama import OllamaDouble
from engine.testing.ollama_script import Reply
from engine.tokens import CalibrationBook
from engine.transcript import Compaction
from tests.engine.long_talk import talk

WINDOW = 16_384
BUDGET = 8_000
PATIENCE = 30.0
SUMMARY = """## Goal
The user keeps a lighthouse diary and wants each page noted with one short sentence.
## Progress
- Ingrid brought a brass clock to Skagen, the pilot brought two barrels of oil to Vinga.
- Old Berg warned of ice near Lista; the apprentice counted ships until the fog came.
## Last request
Another page was handed over, and it was noted."""
WHOLE = ContextSettings(reserve_tokens=0, reserve_floor=0)
"""The whole window is for the prompt."""


async def no_sleep(seconds):
    """Waits between attempts take no time here."""


def is_summary(messages):
    """Whether the messages of a request ask for a summary."""
    asked = PromptMessage("user", messages[-1]["content"]) if messages else None
    return asked is not None and asks_for_summary(PromptRequest("m", (asked,), 1, 1))


@dataclass
class Desk:
    """One session on an Ollama double: what was said, told and stored.

    `summary` and `reply` are what the model writes: a text, a Reply, or a function of what it saw.
    """

    server: OllamaDouble
    history: tuple = ()
    model: str = "m"
    settings: ContextSettings = ContextSettings()
    summary: object = SUMMARY
    reply: object = "Noted."
    limits: dict = field(default_factory=dict)
    events: list = field(default_factory=list)

    def __post_init__(self):
        self.server.always(self.answer)
        self.store = memory_store()
        self.session_id, _ = conversation(self.store, *self.history)
        self.backend = OllamaBackend(self.server.host, **self.limits)
        self.book = CalibrationBook()
        plan = ModelPlan(
            f"ollama:{self.model}",
            "ollama",
            self.model,
            window_option=WINDOW,
            limits=WindowLimits(hard_min_tokens=1),
        )
        tools = SessionTools(book=self.book, sleep=no_sleep)
        self.session = Session(
            self.store, self.backend, self.session_id, plan, self.settings, tools
        )

    def answer(self, seen):
        wanted = self.summary if is_summary(seen.messages) else self.reply
        wanted = wanted(seen) if callable(wanted) else wanted
        return wanted if isinstance(wanted, Reply) else Reply(wanted)

    def run(self, *works, until=None):
        """Run what gives events, one after the other; the events of the last."""

        async def collect():
            try:
                for work in works:
                    self.events = []
                    async for event in work:
                        self.events.append(event)
                        if until is not None:
                            await until(event)
            finally:
                await self.backend.close()
            return self.events

        return asyncio.run(collect())

    def say(self, *texts, **more):
        return self.run(*(self.session.send(text) for text in texts), **more)

    def long_talk(self, texts):
        """A row for each turn, with what the server really read in it."""

        async def rows():
            try:
                return await talk(Metered(self.session), texts)
            finally:
                await self.backend.close()

        return asyncio.run(rows())

    # ---- what came of it ----

    @property
    def path(self):
        return self.store.path(self.session_id)

    @property
    def compactions(self):
        return [entry.body for entry in self.path if isinstance(entry.body, Compaction)]

    @property
    def bodies(self):
        """All requests that were to be answered, in order."""
        return [body for body in self.server.bodies() if body["messages"]]

    @property
    def chats(self):
        return [body for body in self.bodies if not is_summary(body["messages"])]

    @property
    def summaries(self):
        return [body for body in self.bodies if is_summary(body["messages"])]

    @property
    def ended(self):
        last = self.events[-1]
        assert isinstance(last, TurnEnded | CompactionEnded)
        return last

    def told(self, kind):
        return [event for event in self.events if isinstance(event, kind)]


@dataclass(frozen=True)
class Metered:
    """A session whose receipts tell what the server read: it does not say so, but takes its time."""

    session: Session

    async def send(self, text):
        async for event in self.session.send(text):
            yield _metered(event) if isinstance(event, Receipt) else event


def _metered(receipt):
    usage, read = receipt.usage, round(receipt.usage.read_seconds * 1_000)
    usage = replace(usage, read_tokens=read, reused_tokens=usage.prompt_tokens - read)
    return replace(receipt, usage=usage)
