"""Who loads, who waits and who goes, in an Ollama double: the real server's scheduler.

A request for a model that is loaded as it wants takes it at once; every other goes through one
queue and is served in order, one load at a time. A load that changes how a model is loaded waits
for the running requests of that model. With a model in hand, a request waits for one of its
runner's slots. Nobody is told of any of this waiting.
"""

import asyncio
import math
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

from engine.testing import ollama_rules as rules
from engine.testing.ollama_faults import BUSY, Fault, Impatient, LoadFails
from engine.testing.ollama_log import OTHER, Aborted, Load, Unload, Why
from engine.testing.ollama_rules import LoadOptions, Model, Refusal
from engine.testing.ollama_state import LOAD_NS, WARM_NS, Runner, State


class GaveUp(Exception):
    """A proxy between client and server did not wait any longer."""


@dataclass(frozen=True, slots=True)
class Want:
    """A request's wish for a model: loaded how, for how long, and what is to go wrong."""

    model: Model
    options: LoadOptions
    request: int = OTHER
    keep_alive: float | None = None
    fault: Fault | None = None


@dataclass(slots=True)
class Lease:
    """A request's hold on a runner, given back once. `load_ns`: how long it took to be had.

    `model` is the one that was asked for; the runner may have been loaded for another one of the
    same weights.
    """

    scheduler: "Scheduler"
    model: Model
    runner: Runner
    load_ns: int
    kept: bool = False
    in_slot: bool = False

    async def enter(self) -> None:
        """Wait for a slot; a runner that is stuck has none."""
        await self.runner.slots.acquire()
        self.in_slot = True
        if self.runner.stuck:
            await asyncio.Event().wait()

    def work_on(self, work: Coroutine[Any, Any, None]) -> None:
        """Keep the runner, and its slot, until this work is over: nobody waits for it."""
        self.kept = True
        task = asyncio.ensure_future(work)
        self.scheduler.background.add(task)
        task.add_done_callback(self._worked)

    def _worked(self, task: asyncio.Future[None]) -> None:
        self.scheduler.background.discard(task)
        self.kept = False
        self.give_back()

    def give_back(self) -> None:
        """The request has no more use for it."""
        if self.kept:
            return
        if self.in_slot:
            self.runner.slots.release()
        self.scheduler.finished(self.runner)


@dataclass(slots=True)
class Ticket:
    """A wish in the queue; its client has left when `given` is cancelled."""

    want: Want
    given: "asyncio.Future[Lease]"


class Scheduler:
    """The queue, and the models in memory. Everything happens in the double's own loop."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.background: set[asyncio.Future[None]] = set()
        self._pending: asyncio.Queue[Ticket] = asyncio.Queue(state.max_queue)

    @property
    def queued(self) -> int:
        """How many requests stand in the queue, those of clients that have left included."""
        return self._pending.qsize()

    async def lease(self, want: Want) -> Lease:
        """A model, loaded (again) if need be.

        Raises:
            Refusal: the queue is full, or the model cannot be loaded.
            GaveUp: a proxy did not wait for the load.
        """
        runner = self.state.runners.get(want.model.place)
        if isinstance(want.fault, LoadFails) and runner is not None:
            self.drop(runner, "died")
        elif runner is not None and not rules.is_reload(runner.options, want.options):
            if runner.stuck:
                await asyncio.Event().wait()
            return self._taken(runner, want, WARM_NS)
        ticket = Ticket(want, asyncio.get_running_loop().create_future())
        try:
            self._pending.put_nowait(ticket)
        except asyncio.QueueFull:
            raise Refusal(503, BUSY) from None
        self.state.log.enter(want.request, "queued")
        try:
            return await ticket.given
        except asyncio.CancelledError:
            if not ticket.given.cancelled() and ticket.given.exception() is None:
                ticket.given.result().give_back()  # it came just as the client left
            raise

    def _taken(self, runner: Runner, want: Want, load_ns: int) -> Lease:
        runner.users += 1
        if want.keep_alive is not None:
            runner.keep_alive = want.keep_alive
        return Lease(self, want.model, runner, load_ns)

    # ---- the queue's own work ----

    async def work(self) -> None:
        """Serve the queue, for as long as the server runs."""
        while True:
            ticket = await self._pending.get()
            if ticket.given.cancelled():
                continue
            try:
                lease = await self._served(ticket)
            except (Refusal, GaveUp) as refused:
                if not ticket.given.cancelled():
                    ticket.given.set_exception(refused)
                continue
            if lease is not None and ticket.given.cancelled():
                lease.give_back()
            elif lease is not None:
                ticket.given.set_result(lease)

    async def _served(self, ticket: Ticket) -> Lease | None:
        """A lease, None when the client left while its model was loaded."""
        want, runners = ticket.want, self.state.runners
        place, again = want.model.place, False
        while True:
            runner = runners.get(place)
            if runner is not None and not rules.is_reload(runner.options, want.options):
                return self._taken(runner, want, WARM_NS)
            if runner is not None:
                again = True
                await self._retired(runner, "reload")
            elif len(runners) >= self.state.max_loaded:
                await self._retired(self._first_to_go(), "room")
            else:
                break
        if not await self._loaded(ticket):
            self.state.log.aborts.append(Aborted(want.request, want.model.name))
            return None
        return self._taken(self._started(want, again=again), want, LOAD_NS)

    def _first_to_go(self) -> Runner:
        """Of those that are idle, if there are any, the one that is kept for the shortest time."""
        runners = self.state.runners.values()
        return min(runners, key=lambda runner: (runner.users > 0, runner.keep_alive))

    async def _retired(self, runner: Runner, why: Why) -> None:
        """Wait until a model's requests are over, and it is gone."""
        if runner.users or runner.stuck:
            runner.leaves = why
            await runner.gone.wait()
        else:
            self.drop(runner, why)

    async def _loaded(self, ticket: Ticket) -> bool:
        """Load: False when the client left meanwhile. Raises Refusal, GaveUp."""
        want, log = ticket.want, self.state.log
        if want.request in log.running:  # it is not when its client left while it waited
            log.enter(want.request, "loading")
        if isinstance(want.fault, LoadFails):
            log.aborts.append(Aborted(want.request, want.model.name))
            raise Refusal(want.fault.status, want.fault.text)
        if isinstance(want.fault, Impatient):
            log.aborts.append(Aborted(want.request, want.model.name))
            raise GaveUp
        gate = self.state.script.next_gate("load", model=want.model.full_name)
        if gate is None:
            return not ticket.given.cancelled()
        opened = asyncio.ensure_future(gate.passed())
        try:
            either: set[asyncio.Future[Any]] = {opened, ticket.given}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        finally:
            opened.cancel()
        return not ticket.given.cancelled()

    def _started(self, want: Want, *, again: bool) -> Runner:
        state = self.state
        options, asked = want.options, want.options.window
        if state.switches.fits and asked > state.switches.fits:
            asked = self._fitting(want)
        window = min(asked, state.window_limit or asked) // state.slots
        runner = Runner(want.model, options, window, asyncio.Semaphore(state.parallel))
        state.runners[want.model.place] = runner
        state.log.loads.append(Load(want.request, want.model.name, window, again))
        state.log.changed()
        return runner

    def _fitting(self, want: Want) -> int:
        """A window that memory can hold, where the server looks for one. Raises Refusal 500."""
        state, fits = self.state, self.state.switches.fits
        lower = rules.smaller_window(want.options.window)
        if state.version >= rules.LLAMA_SERVER:
            if want.options.automatic and lower <= fits:
                return lower
            raise Refusal(500, rules.OUT_OF_MEMORY_STARTING)
        raise Refusal(500, rules.OUT_OF_MEMORY)

    # ---- going ----

    def finished(self, runner: Runner) -> None:
        """A request of a model is over: the model's time runs from now, or is up."""
        runner.users -= 1
        if runner.users or runner.stuck:
            return
        if runner.leaves or runner.keep_alive == 0:
            self.drop(runner, runner.leaves or "asked")
        elif not math.isinf(runner.keep_alive):
            runner.expires = self.state.clock.elapsed + runner.keep_alive
            runner.expiry = self.state.clock.after(runner.keep_alive)

    def unload(self, model: Model) -> None:
        """Drop a model from memory when its last request is over; nothing if it is not there."""
        runner = self.state.runners.get(model.place)
        if runner is not None:
            runner.leaves = "asked"
            if not runner.users and not runner.stuck:
                self.drop(runner, "asked")

    def drop(self, runner: Runner, why: Why) -> None:
        """Take a model out of memory now."""
        if self.state.runners.get(runner.model.place) is runner:
            del self.state.runners[runner.model.place]
            self.state.log.unloads.append(Unload(runner.model.name, why))
        runner.gone.set()
        self.state.log.changed()

    def expire(self) -> None:
        """Drop the models whose time is up."""
        for runner in list(self.state.runners.values()):
            idle = not runner.users and not runner.stuck and not math.isinf(runner.keep_alive)
            if idle and runner.expires <= self.state.clock.elapsed:
                self.drop(runner, "expired")

    async def close(self) -> None:
        """Everything that nobody waits for ends."""
        for task in self.background:
            task.cancel()
        await asyncio.gather(*self.background, return_exceptions=True)
