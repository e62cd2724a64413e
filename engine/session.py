"""A conversation's turns: the order of the steps, stop, and exactly one terminal event.

::

    the user's entry is committed ─▶ model ready, window allowed (readiness)
      ─▶ prompt, brought within its budget (keeper) ─▶ stream, checkpointed ─┬─▶ the reply's entry
                   ▲                                                         │     ─▶ Receipt
                   └── compact, within bounds (recovery) ◀── too large ──────┘     ─▶ threshold
                                                                                   ─▶ TurnEnded

No policy of its own: what to send and whether it may be sent is planned elsewhere. Promises:

- What the user typed is on the disk before anything else happens. A message too large for any
  prompt is kept too, and never stands in the conversation as if it had been sent.
- `TurnEnded` comes exactly once, last, whatever fails; failures and stops are events.
- What the model wrote is kept, whatever ends it; a crash costs at most `CHECKPOINT_SECONDS`.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeVar

from engine.backends.base import (
    Backend,
    Chunk,
    Finished,
    Loading,
    PromptRequest,
    Reading,
    TextChunk,
    ThinkingChunk,
    ToolCallChunk,
    Warned,
)
from engine.context import ContextSettings, ContextView, plan_sent
from engine.errors import Bug, EnvironmentFault, PortholeError
from engine.events import (
    CompactionDue,
    CompactionEnded,
    Event,
    ModelLoading,
    Notice,
    PromptReading,
    Receipt,
    TextDelta,
    ThinkingDelta,
    TurnEnded,
    TurnStarted,
)
from engine.folding import failure_words, overflow_fault, too_large
from engine.keeper import Emit, Keeper
from engine.models import ModelPlan
from engine.readiness import RELOADED, Ready, keep_ready, make_ready
from engine.receipts import Receipts, SentPrompt
from engine.recovery import Recovery, Tries, plan_recovery
from engine.reply import Checkpoints, WrittenReply
from engine.sessiontools import SessionTools
from engine.store import Store
from engine.tokens import Count
from engine.transcript import Compaction, Custom, Entry, Message, ModelChange, Usage, user
from engine.view import unsent_entry
from engine.weighing import surely_fits

_GOOD_ENDS = ("stop", "length", "tool_calls")
_T = TypeVar("_T")
_Asked = Literal["manual", "idle"]


class Session:
    """One conversation with one model.

    Args:
        store: where everything is kept; used on the loop's thread only.
        backend: what runs the model.
        session_id: an existing session of the store.
        plan: which model, how.
        context: how the window is managed.
        tools: what a session may do without, see `SessionTools`.
    """

    def __init__(
        self,
        store: Store,
        backend: Backend,
        session_id: str,
        plan: ModelPlan,
        context: ContextSettings = ContextSettings(),
        tools: SessionTools = SessionTools(),
    ) -> None:
        self._store = store
        self._context = context
        self._tools = tools
        self._turn = 0
        self._task: asyncio.Task[None] | None = None
        self._runs = False  # a task cancelled before its first step would never say how it ended
        self._stop_asked = False
        self.session_id = session_id
        self._checkpoints = Checkpoints(store, tools.clock, self._message)
        self._use(plan, backend)

    def _use(self, plan: ModelPlan, backend: Backend) -> None:
        self.plan = plan
        self._backend = backend
        self.ready: Ready | None = None
        self._sent: PromptRequest | None = None
        self._receipts = Receipts()
        self._keeper = Keeper(
            self._store,
            backend,
            self.session_id,
            plan,
            self._context,
            self._tools,
        )

    # ---- what a user does -----------------------------------------------------------------------

    async def send(self, said: str | Message) -> AsyncIterator[Event]:
        """Say something, a text or a whole message: the events of a turn, ending with TurnEnded.

        Cancelling the consumer stops the turn; TurnEnded still arrives.
        """
        message = user(said) if isinstance(said, str) else said
        async for event in self._events(self._run_turn, message):
            yield event

    async def answer(self) -> AsyncIterator[Event]:
        """Answer (again) the last thing the user said, as a new branch; events as in `send`."""
        async for event in self._events(self._run_turn, None):
            yield event

    async def compact(self, focus: str = "", reason: _Asked = "manual") -> AsyncIterator[Event]:
        """Fold older messages into a summary now; `focus` says what it should look at.

        Ends with exactly one CompactionEnded; whatever fails is told there, and changes nothing.
        """
        async for event in self._events(partial(self._run_compaction, reason), focus):
            yield event

    def switch(self, plan: ModelPlan, backend: Backend) -> None:
        """Go on with another model, from the next turn. What does not fit it is compacted first."""
        self._use(plan, backend)
        self._store.append(self.session_id, ModelChange(plan.label))
        self._store.set_model(self.session_id, plan.label)

    def renew(self, plan: ModelPlan, context: ContextSettings, tools: SessionTools) -> None:
        """Go on with other settings of the same model; for when no turn runs.

        The model stays as it is loaded, unless it would now be loaded in another way.
        """
        ready = self.ready if plan.loads_as(self.plan) else None
        self._context, self._tools = context, tools
        self._use(plan, self._backend)
        self.ready = ready

    async def look(self) -> ContextView:
        """The conversation's context as the next turn would find it; loads the model.

        Raises as a turn would.
        """
        ready = await self._make_ready(lambda event: None)
        return await self._keeper.look(ready, self._store.path(self.session_id))

    async def peek(self, path: Sequence[Entry]) -> ContextView | None:
        """The context of a path as the next turn would find it; None unless the model is loaded.

        Loads nothing and changes nothing, also while a turn runs. Raises as a turn would.
        """
        ready = self.ready
        return None if ready is None else await self._keeper.look(ready, path)

    def put_off(self, due: CompactionDue) -> None:
        """The user does not want what is due to be folded now."""
        self._keeper.put_off(due.before_tokens)

    def stop(self) -> None:
        """Stop what runs, if anything. What was written is kept; a second stop changes nothing."""
        self._stop_asked = True
        if self._runs and self._task is not None and not self._task.cancelling():
            self._task.cancel()  # once: a second would cut short the backend's own clearing up

    async def keep_prefix(self) -> None:
        """Keep the backend's prefix cache on the disk, so that the next run reads nothing twice."""
        prefixes = self._tools.prefixes
        if prefixes is None or self.ready is None:
            return
        if prefixes.prepare():
            await self._backend.save_prefix(prefixes.file(self.session_id))
            prefixes.trim()

    # ---- the frame ------------------------------------------------------------------------------

    async def _events(
        self, run: Callable[[_T, Emit], Coroutine[Any, Any, Event]], what: _T
    ) -> AsyncIterator[Event]:
        """The events of one piece of work; the last is what `run` returns."""
        self._turn += 1
        self._runs = self._stop_asked = False
        queue: asyncio.Queue[tuple[Event, bool]] = asyncio.Queue()

        async def work() -> None:
            self._runs = True
            last = await run(what, lambda event: queue.put_nowait((event, False)))
            queue.put_nowait((last, True))

        task = self._task = asyncio.create_task(work())
        try:
            while True:
                try:
                    event, is_last = await queue.get()
                except asyncio.CancelledError:  # the consumer's stop: deliver the end all the same
                    self.stop()
                    continue
                yield event
                if is_last:
                    break
        finally:
            self.stop()
            await asyncio.gather(task, return_exceptions=True)
            self._task = None

    async def _run_turn(self, said: Message | None, emit: Emit) -> Event:
        """The turn's outermost frame: turns every way to end into the one terminal event."""
        reply = WrittenReply()
        try:
            await self._take_turn(said, reply, emit)
        except asyncio.CancelledError:
            reply.stop_reason = "stopped"
        except Exception as error:  # noqa: BLE001  # the one place: our bug must not end the app
            reply.stop_reason, reply.error = "failed", _failure(error)
        return self._finish(reply)

    async def _run_compaction(self, reason: _Asked, focus: str, emit: Emit) -> Event:
        """The outermost frame of a compaction that is no turn's."""
        told: list[CompactionEnded] = []

        def tell(event: Event) -> None:
            if isinstance(event, CompactionEnded):
                told.append(event)
            else:
                emit(event)

        ended = CompactionEnded(self._turn, reason, "stopped", "Stopped. Nothing was changed.")
        try:
            if self._stop_asked:
                raise asyncio.CancelledError
            ready = await self._make_ready(tell)
            view = await self._keeper.look(ready, self._store.path(self.session_id))
            compacted = await self._keeper.compact(
                ready, view, reason, tell, self._turn, focus=focus
            )
            return compacted.ended
        except asyncio.CancelledError:
            return told[0] if told else ended
        except Exception as error:  # noqa: BLE001  # as in _run_turn
            fault = _failure(error)
            ended = replace(ended, outcome="failed", text=failure_words(fault), error=fault)
            return replace(told[0], error=fault) if told else ended

    # ---- the turn -------------------------------------------------------------------------------

    async def _take_turn(self, said: Message | None, reply: WrittenReply, emit: Emit) -> None:
        asked = self._asked() if said is None else await self._admit(said, reply, emit)
        reply.parent = asked.id
        emit(TurnStarted(self._turn, asked))
        if self._stop_asked:
            raise asyncio.CancelledError
        ready = await self._make_ready(emit)
        view = await self._reply_to(asked.id, ready, reply, emit)
        if (usage := reply.usage) is not None:
            reply.receipt = self._emit_receipt(ready, view, reply, usage, emit)
            reply.entry = self._store_reply(reply)
            await self._maintain(ready, reply, emit)

    def _emit_receipt(
        self, ready: Ready, view: ContextView, reply: WrittenReply, usage: Usage, emit: Emit
    ) -> Receipt:
        """What was sent and what it cost; a warning if it was not read as it was sent."""
        count, window, request = view.count, view.budget.window, self._sent
        assert request is not None
        room = max(0, window - count.tokens - usage.written_tokens)
        as_counted = plan_sent(view) is view.visible  # else something was shortened on the way
        judged = count if as_counted else Count(count.tokens, "estimated")
        sent = SentPrompt(request.messages, judged, window)
        mismatch = self._receipts.judge(sent, usage, reply.reported(request.max_tokens))
        if mismatch is None:
            self._keeper.learn(ready, view, usage.prompt_tokens)
        receipt = Receipt(self._turn, count.tokens, count.kind, usage, window, room, mismatch)
        emit(receipt)
        if mismatch is not None:
            text = f"{mismatch.sentence} {mismatch.remedy}"
            emit(Notice(self._turn, "warning", "read_otherwise", text))
        return receipt

    async def _admit(self, said: Message, reply: WrittenReply, emit: Emit) -> Entry:
        """Put the user's message on the disk, as sent. Raises MessageTooLarge, and keeps it then.

        A message that may be too large is kept beside the conversation until the model can say;
        where the model cannot be asked, it is taken as any other.
        """
        if surely_fits(said):
            return self._commit(said)
        kept = self.ready is None and self._keep_unsent(said)
        path = self._store.path(self.session_id)
        try:
            ready = await self._make_ready(emit)
            size, room = await self._keeper.room_for(ready, said, path)
        except BaseException:
            entry = self._commit(said)
            reply.parent = entry.id
            emit(TurnStarted(self._turn, entry))
            raise
        if size > room:
            _ = kept or self._keep_unsent(said)
            raise too_large(size, room, self._keeper.window(ready))
        return self._commit(said)

    def _commit(self, said: Message) -> Entry:
        return self._store.append(self.session_id, said, durable=True)

    def _keep_unsent(self, said: Message) -> bool:
        """Keep a message that is not sent (yet), beside the conversation."""
        self._store.append(self.session_id, unsent_entry(said), move_leaf=False, durable=True)
        return True

    def _asked(self) -> Entry:
        """The last thing the user said, with the compactions that were made to answer it."""
        path = self._store.path(self.session_id)
        for index in range(len(path) - 1, -1, -1):
            body = path[index].body
            if isinstance(body, Message) and body.role == "user":
                while index + 1 < len(path) and isinstance(
                    path[index + 1].body, Compaction | Custom
                ):
                    index += 1
                self._store.set_leaf(self.session_id, path[index].id)
                return path[index]
        raise EnvironmentFault("There is nothing to answer in this conversation yet.")

    async def _reply_to(
        self, leaf: str, ready: Ready, reply: WrittenReply, emit: Emit
    ) -> ContextView:
        """Ask the model, compacting before and between as the window demands; what was sent."""
        tries = Tries()
        self._keeper.begin_turn()
        while True:
            path = self._store.path(self.session_id, leaf)
            view = await self._keeper.fit(ready, path, emit, self._turn)
            reply.parent = leaf = view.leaf or leaf
            reply.running = self._store.start_reply(self.session_id, leaf, self.plan.label)
            try:
                self._sent = self._keeper.request(ready, view, self.plan.max_tokens)
                await self._stream(self._sent, reply, emit)
                return view
            except EnvironmentFault as fault:
                recovery = plan_recovery(
                    fault,
                    tries,
                    sent_tokens=view.count.tokens,
                    window_tokens=view.budget.window,
                )
                if recovery is None or reply.parts:
                    raise
                tries = recovery.tries
                self._store.discard_reply(reply.running)
                reply.running = None
                leaf = await self._recover(recovery, ready, view, emit, fault)

    async def _recover(
        self,
        recovery: Recovery,
        ready: Ready,
        view: ContextView,
        emit: Emit,
        fault: EnvironmentFault,
    ) -> str:
        """Make the context smaller after a refusal; the leaf to go on from. Raises if it cannot."""
        if recovery.cause == "overflow":
            self._keeper.learn_window(recovery.window_tokens, guessed=recovery.is_guess)
            self._keeper.learn(ready, view, recovery.prompt_tokens)
        after = await self._keeper.shrink(ready, view, recovery.cause, emit, self._turn)
        if after is None:
            if recovery.cause == "timeout":
                raise fault
            raise overflow_fault(view.count.tokens, self._keeper.window(ready)) from fault
        return after.leaf or ""

    async def _maintain(self, ready: Ready, reply: WrittenReply, emit: Emit) -> None:
        """After a good reply: compact when the context has outgrown its budget (SPEC2 3.1).

        The next turn then need not wait for it. The user's stop ends this, not the turn.
        """
        entry = reply.entry
        if entry is None or reply.stop_reason not in _GOOD_ENDS:
            return
        try:
            path = self._store.path(self.session_id, entry.id)
            view = await self._keeper.look(ready, path)
            if self._keeper.is_due(view) and not self._keeper.asks(view, emit, self._turn):
                await self._keeper.compact(ready, view, "threshold", emit, self._turn)
        except asyncio.CancelledError:
            return
        except EnvironmentFault:  # the reply is there; the next turn meets the fault and tells
            return

    async def _make_ready(self, emit: Emit) -> Ready:
        """Load the model for its window, or raise; what the user must know becomes notices."""
        turn, prefixes = self._turn, self._tools.prefixes

        def progress(fraction: float | None) -> None:
            emit(ModelLoading(turn, fraction))

        if self.ready is not None:
            before = self.ready
            self.ready = await keep_ready(self._backend, self.plan, progress, before)
            is_news = self.ready.window != before.window  # loaded again, and not as it was
            self._tell_window(self.ready, emit, "" if is_news else RELOADED)
            return self.ready
        ready = self.ready = await make_ready(
            self._backend, self.plan, progress, self._tools.free_memory
        )
        if prefixes is not None:
            await self._backend.restore_prefix(prefixes.file(self.session_id))
        self._tell_window(ready, emit)
        return ready

    def _tell_window(self, ready: Ready, emit: Emit, only: str = "") -> None:
        for notice in ready.notices:
            if only in ("", notice.code):
                emit(Notice(self._turn, notice.level, notice.code, notice.text))

    async def _stream(self, request: PromptRequest, reply: WrittenReply, emit: Emit) -> None:
        stream = self._backend.stream(request)
        try:
            async for chunk in stream:
                self._take_chunk(chunk, reply, emit)
        finally:
            self._checkpoints.stop()
            if (close := getattr(stream, "aclose", None)) is not None:
                await close()

    def _take_chunk(self, chunk: Chunk, reply: WrittenReply, emit: Emit) -> None:
        turn = self._turn
        match chunk:
            case TextChunk(text=text):
                reply.add(chunk)
                if text:
                    emit(TextDelta(turn, text))
            case ThinkingChunk(text=text):
                reply.add(chunk)
                if text:
                    emit(ThinkingDelta(turn, text))
            case ToolCallChunk():
                reply.add(chunk)
            case Loading(fraction=fraction):
                emit(ModelLoading(turn, fraction))
            case Reading(read=read, total=total, reused=reused):
                emit(PromptReading(turn, read, total, reused))
            case Warned(code=code, text=text):
                emit(Notice(turn, "warning", code, text))
            case Finished(stop_reason=reason, usage=usage, tells_whole=whole):
                reply.stop_reason, reply.usage, reply.tells_whole = reason, usage, whole
        self._checkpoints.take(reply)

    def _finish(self, reply: WrittenReply) -> TurnEnded:
        """Store the reply, whatever it came to, and say how the turn ended. Never raises."""
        try:
            if reply.entry is None and reply.parent:
                reply.entry = self._store_reply(reply)
        except Exception as error:  # noqa: BLE001  # still the outermost frame: the turn must end
            reply.stop_reason, reply.error = "failed", reply.error or _failure(error)
        return TurnEnded(self._turn, reply.stop_reason, reply.entry, reply.error)

    def _store_reply(self, reply: WrittenReply) -> Entry | None:
        running = reply.running
        if not reply.parts and reply.error is None:
            if running is not None:
                self._store.discard_reply(running)  # stopped before a word: nothing to keep
            return None
        if running is None:
            running = self._store.start_reply(self.session_id, reply.parent, self.plan.label)
        return self._store.finish_reply(running, self._message(reply))

    def _message(self, reply: WrittenReply) -> Message:
        return reply.message(self.plan.label, self._vocabulary)

    @property
    def _vocabulary(self) -> str:
        return self.ready.loaded.vocabulary if self.ready else ""


def _failure(error: Exception) -> PortholeError:
    """What ended a turn: the environment's fault as it is, everything else as our bug."""
    if isinstance(error, EnvironmentFault):
        return error
    bug = Bug(f"{type(error).__name__}: {error}")
    bug.__cause__ = error
    return bug
