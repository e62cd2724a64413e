"""One request for a summary: what is asked for, and how often it is tried (SPEC1 12.5.6)."""

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from engine.compact.acceptance import SummaryRejected
from engine.errors import BackendSilent, ContextOverflow, EnvironmentFault
from engine.tokens import Weighed

Kind = Literal["summary", "update", "merge", "split_turn"]
"""Of messages, of messages after an older summary, of partial summaries, of a turn's beginning."""


@dataclass(frozen=True, slots=True)
class SummaryTask:
    """One request for a summary.

    Attributes:
        kind: what is asked for.
        items: the messages to summarise; none for a merge.
        previous: the older summary to carry on, empty without one.
        partials: summaries of consecutive parts, the oldest first; for a merge.
        focus: what the user wants kept above all.
        share: the part of the room for a summary that this one may have, above 0 and at most 1.
    """

    kind: Kind
    items: tuple[Weighed, ...] = ()
    previous: str = ""
    partials: tuple[str, ...] = ()
    focus: str = ""
    share: float = 1.0


Generate = Callable[[SummaryTask], Awaitable[str]]
"""Runs a request. Raises SummaryRejected when what was written cannot stand, or a fault."""


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a request is tried, and how long to wait before it is tried again."""

    attempts: int = 3
    first_ms: int = 500
    most_ms: int = 5_000
    jitter: float = 0.2

    def delay_ms(self, attempt: int, random01: float) -> int:
        """Milliseconds to wait after failed attempt number `attempt` (1 is the first).

        Doubles each time, gives or takes the jitter (`random01` from 0 to 1), and stays within
        first_ms…most_ms.
        """
        usual = min(self.first_ms << (attempt - 1), self.most_ms)
        delay = math.floor(usual * (1 + self.jitter * (2 * random01 - 1)) + 0.5)
        return max(self.first_ms, min(delay, self.most_ms))


class RequestFailed(Exception):
    """No attempt at a request brought a summary; the next tier is tried."""


class Requests:
    """Makes requests, each in several attempts, and counts them.

    Args:
        generate: runs one.
        retry: attempts and waits.
        sleep: waits, seconds.
        random: a number from 0 to 1, for the jitter.

    Attributes:
        calls: requests made so far, failed ones included.
        rejected: why what was written could not stand, in order.
        faults: sentences of the faults that ended attempts, in order.
    """

    def __init__(
        self,
        generate: Generate,
        retry: Retry,
        sleep: Callable[[float], Awaitable[None]],
        random: Callable[[], float],
    ) -> None:
        self._generate = generate
        self._retry = retry
        self._sleep = sleep
        self._random = random
        self.calls = 0
        self.rejected: list[str] = []
        self.faults: list[str] = []

    async def make(self, task: SummaryTask) -> str:
        """What the request brought.

        A rejected summary and a fault are tried again after a wait, but not silence, which took
        all the time there was. Raises RequestFailed when that was in vain, and ContextOverflow at
        once: the same request would not fit the next time either. Cancelling, `Stopped` and bugs
        of ours propagate.
        """
        for attempt in range(1, self._retry.attempts + 1):
            self.calls += 1
            try:
                return await self._generate(task)
            except SummaryRejected as rejected:
                self.rejected.append(rejected.reason)
            except ContextOverflow:
                raise
            except BackendSilent as fault:
                self.faults.append(str(fault))
                break
            except EnvironmentFault as fault:
                self.faults.append(str(fault))
            if attempt < self._retry.attempts:
                await self._sleep(self._retry.delay_ms(attempt, self._random()) / 1000)
        raise RequestFailed
