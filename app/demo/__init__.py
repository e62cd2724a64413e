"""Conversations to show the window with: a throw-away profile, filled as if it had been used.

Everything in it is made up. Times are relative to now, so that the list has its groups.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.demo import chinese, english
from app.demo.told import MODEL, Told, reply
from engine.store import Store
from engine.transcript import Body, Compaction, user

__all__ = ["Clock", "Told", "conversations", "fill"]

_KEPT = 2
"""Entries before a compaction that it keeps word for word."""
_MINUTE_MS = 60_000
_DAY_MS = 86_400_000


def conversations(language: str = "en") -> tuple[Told, ...]:
    """The conversations of a demonstration, the newest first."""
    return chinese.conversations() if language.startswith("zh") else english.conversations()


class Clock:
    """The store's time while it is filled: moved to when a conversation was; milliseconds."""

    def __init__(self, now_ms: int) -> None:
        self._now = now_ms
        self.back_ms = 0

    def __call__(self) -> int:
        """The time."""
        return self._now - self.back_ms


def fill(store: Store, clock: Clock, messages: int = 0, language: str = "en") -> str:
    """Put the conversations into a store that runs on `clock`; the id of the one to show.

    `language`: whose conversations, "en" or "zh_CN".
    `messages`: so many are added to it before the others, for a long one.
    """
    first, told_here = "", conversations(language)
    for told in reversed(told_here):
        clock.back_ms = int(told.days_ago * _DAY_MS)
        session = store.create_session(title=told.title, model=MODEL).id
        bodies: Sequence[Body] = told.said
        if told.title == told_here[0].title:
            bodies = (*_many(messages), *bodies)
            first = session
        ids: list[str] = []
        for body in bodies:
            if isinstance(body, Compaction):
                body = replace(body, first_kept=ids[-_KEPT])
            ids.append(store.append(session, body).id)
            clock.back_ms -= _MINUTE_MS if told.days_ago > 0.1 else 0
    return first


def _many(messages: int) -> Iterator[Body]:
    """A long conversation, every message another one."""
    chance = random.Random(11)
    things = ("the lamp", "the lens", "the stairs", "the boat", "the weather", "the log book")
    for number in range(messages // 2):
        thing = chance.choice(things)
        yield user(f"Question {number + 1}: what is to be done about {thing} today?")
        lines = [f"For {thing}, in this order:", ""]
        lines += [f"{n + 1}. Look at part {chance.randrange(2, 90)}." for n in range(3)]
        yield reply("\n".join(lines))
