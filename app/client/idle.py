"""Folds the conversation that is shown while nobody uses it, so that the next turn need not.

::

    a keystroke, a turn, another conversation ──▶ `touch` ──▶ the clock starts again
    it ran out, and the conversation is nearly full ──▶ a compaction, which gives way to a message
"""

import asyncio
from collections.abc import Callable
from typing import Protocol

from app.client.context import Context
from app.client.talk import Talk, Work
from app.client.talks import Talks
from app.client.turns import Turns
from app.wiring import Workplace
from engine.undoing import effective_path, stands_undone

NEARLY_FULL = 0.75
"""Of the prompt budget: less is not worth a summary yet."""


class Handle(Protocol):
    """Something to be done later, as an event loop's `call_later` gives it."""

    def cancel(self) -> None:
        """Do it never."""


class Idle:
    """Watches for rest.

    Attributes:
        later: does something after so many seconds; an event loop's `call_later`.
    """

    def __init__(self, workplace: Workplace, context: Context, talks: Talks, turns: Turns) -> None:
        self._workplace = workplace
        self._context = context
        self._talks = talks
        self._turns = turns
        self._handle: Handle | None = None
        self._tried: tuple[str, str] = ("", "")  # conversation and last entry: once is enough
        self.later: Callable[[float, Callable[[], object]], Handle] = _call_later
        context.noticed = self.touch

    def touch(self) -> None:
        """Something happened: nobody was idle."""
        self.close()
        seconds = self._seconds()
        if seconds and self._talks.shown:
            self._handle = self.later(seconds, self._fold)

    def close(self) -> None:
        """Watch no more."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _seconds(self) -> int:
        """How long to wait; 0 for never."""
        settings = self._workplace.settings
        if not settings["compaction.enabled"] or settings["compaction.mode"] != "automatic":
            return 0
        return int(settings["compaction.idle_seconds"])

    def _fold(self) -> None:
        """Nobody did anything: fold what is nearly full."""
        self._handle = None
        shown = self._talks.shown
        if not self._seconds() or shown not in self._talks:
            return
        talk = self._talks.talk(shown)
        here = (talk.id, talk.path[-1].id if talk.path else "")
        if here != self._tried and self._is_worth_it(talk):
            self._tried = here
            self._turns.ask(talk.id, Work("compact", is_idle=True))

    def _is_worth_it(self, talk: Talk) -> bool:
        """Whether it rests, its model is there, and little of its budget is left."""
        facts = self._context.told
        if talk.is_running or talk.session is None or talk.session.ready is None:
            return False
        if facts is None or facts.id != talk.id or facts.budget is None:
            return False
        used = facts.used - facts.draft
        is_full = used >= NEARLY_FULL * facts.budget.prompt
        return is_full and not stands_undone(effective_path(talk.path))


def _call_later(seconds: float, doing: Callable[[], object]) -> Handle:
    return asyncio.get_running_loop().call_later(seconds, doing)
