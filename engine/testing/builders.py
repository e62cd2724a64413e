"""Short ways to make the values tests are full of."""

from collections.abc import Callable

from engine.backends.base import PromptRequest
from engine.compact import Language, SummaryWishes, instruction_text
from engine.store import Store
from engine.transcript import Entry, Message, StopReason, Text, Thinking, user


class FakeClock:
    """Seconds that pass only when told: call it for the time, `advance` to move it.

    `step`: seconds that go by before each call, for a clock that nobody is there to move.
    """

    def __init__(self, start: float = 1_000_000.0, step: float = 0.0) -> None:
        self.now = start
        self.step = step

    def __call__(self) -> float:
        """The time in seconds."""
        self.now += self.step
        return self.now

    def advance(self, seconds: float) -> None:
        """Let `seconds` go by."""
        self.now += seconds


def memory_store(clock: Callable[[], int] | None = None) -> Store:
    """A real store, with its whole schema, in memory. `clock` gives milliseconds since 1970."""
    return Store.in_memory() if clock is None else Store.in_memory(clock=clock)


def reply(
    text: str, *, model: str = "test", thinking: str = "", stop_reason: StopReason = "stop"
) -> Message:
    """A finished assistant message."""
    parts = (Thinking(thinking), Text(text)) if thinking else (Text(text),)
    return Message("assistant", parts, model=model, stop_reason=stop_reason)


def conversation(store: Store, *texts: str, title: str = "") -> tuple[str, tuple[Entry, ...]]:
    """A stored conversation of alternating user and assistant texts: its id and its entries."""
    session = store.create_session(title=title).id
    entries = tuple(
        store.append(session, user(text) if index % 2 == 0 else reply(text))
        for index, text in enumerate(texts)
    )
    return session, entries


def asks_for_summary(request: PromptRequest) -> bool:
    """Whether a request is for a summary, in place or staged, and not for a reply."""
    last = request.messages[-1].content
    return any(mark in last for mark in _SUMMARY_MARKS)


def _rule(language: Language) -> str:
    """The rule that stands in every request for a summary."""
    text = instruction_text("summary", language, SummaryWishes(), max_words=1)
    return text.splitlines()[-2]


_SUMMARY_MARKS = (_rule("en"), _rule("zh"))
