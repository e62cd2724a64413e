"""A conversation's turns: the order of the steps, stop, and exactly one terminal event.

::

    the user's entry is committed ─▶ model ready, window allowed (readiness) ─▶ prompt (plan)
      ─▶ stream, checkpointed ─▶ the reply's entry ─▶ Receipt ─▶ TurnEnded

No policy of its own: what to send and whether it may be sent is planned elsewhere. Promises:

- What the user typed is on the disk before anything else happens.
- `TurnEnded` comes exactly once, last, whatever fails; failures and stops are events.
- What the model wrote is kept, whatever ends it; a crash costs at most `CHECKPOINT_SECONDS`.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

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
from engine.errors import Bug, ContextOverflow, EnvironmentFault, PortholeError
from engine.events import (
    CountKind,
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
from engine.models import ModelPlan
from engine.prefixes import PrefixFolder
from engine.prompt import plan_max_tokens, plan_messages, plan_request
from engine.readiness import Ready, free_memory, keep_ready, make_ready
from engine.store import Reply as RunningReply
from engine.store import Store
from engine.tokens import estimate_messages
from engine.transcript import (
    Entry,
    Message,
    Part,
    StopReason,
    Text,
    Thinking,
    TokenIds,
    Usage,
    user,
    visible_entries,
)

CHECKPOINT_SECONDS = 1.0


@dataclass
class _Reply:
    """The reply being written: parts in the order they came, and what it cost."""

    parts: list[Part] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    usage: Usage | None = None
    stop_reason: StopReason = "stopped"
    error: PortholeError | None = None
    running: RunningReply | None = None
    checkpointed: float = 0.0

    def add(self, chunk: TextChunk | ThinkingChunk | ToolCallChunk) -> None:
        """Take a chunk in; text that follows text joins it."""
        if isinstance(chunk, ToolCallChunk):
            self.parts.append(chunk.call)
            return
        kind = Text if isinstance(chunk, TextChunk) else Thinking
        last = self.parts[-1] if self.parts else None
        if isinstance(last, kind):
            self.parts[-1] = kind(last.text + chunk.text)
        elif chunk.text:
            self.parts.append(kind(chunk.text))
        self.ids.extend(chunk.ids)

    def message(self, model: str, vocabulary: str) -> Message:
        """The reply as it is stored."""
        return Message(
            "assistant",
            tuple(self.parts),
            model=model,
            stop_reason=self.stop_reason,
            usage=self.usage,
            token_ids=TokenIds(vocabulary, tuple(self.ids)) if vocabulary and self.ids else None,
            error=str(self.error) if self.error else "",
        )


class Session:
    """One conversation with one model.

    Args:
        store: where everything is kept; used on the loop's thread only.
        backend: what runs the model.
        session_id: an existing session of the store.
        plan: which model, how.
        prefixes: where the backend's prefix cache is kept between runs; None keeps nothing.
        clock: seconds, monotonic.
        free_memory: the machine's free memory in bytes.
    """

    def __init__(
        self,
        store: Store,
        backend: Backend,
        session_id: str,
        plan: ModelPlan,
        *,
        prefixes: PrefixFolder | None = None,
        clock: Callable[[], float] = time.monotonic,
        free_memory: Callable[[], int | None] = free_memory,
    ) -> None:
        self._store = store
        self._backend = backend
        self._prefixes = prefixes
        self._clock = clock
        self._free_memory = free_memory
        self._turn = 0
        self._task: asyncio.Task[None] | None = None
        self._runs = False  # a task cancelled before its first step would never say how it ended
        self._stop_asked = False
        self.session_id = session_id
        self.plan = plan
        self.ready: Ready | None = None

    async def send(self, text: str) -> AsyncIterator[Event]:
        """Say something: the events of one turn, ending with exactly one TurnEnded.

        Cancelling the consumer stops the turn; TurnEnded still arrives.
        """
        async for event in self._events(text):
            yield event

    async def answer(self) -> AsyncIterator[Event]:
        """Answer (again) the last thing the user said, as a new branch; events as in `send`."""
        async for event in self._events(None):
            yield event

    def stop(self) -> None:
        """Stop the running turn, if any. What was written is kept; a second stop changes nothing."""
        self._stop_asked = True
        if self._runs and self._task is not None and not self._task.cancelling():
            self._task.cancel()  # once: a second would cut short the backend's own clearing up

    async def keep_prefix(self) -> None:
        """Keep the backend's prefix cache on the disk, so that the next run reads nothing twice."""
        if self._prefixes is None or self.ready is None:
            return
        if self._prefixes.prepare():
            await self._backend.save_prefix(self._prefixes.file(self.session_id))
            self._prefixes.trim()

    async def _events(self, text: str | None) -> AsyncIterator[Event]:
        self._turn += 1
        self._runs = self._stop_asked = False
        queue: asyncio.Queue[Event] = asyncio.Queue()
        task = self._task = asyncio.create_task(self._run(text, queue))
        try:
            while True:
                try:
                    event = await queue.get()
                except asyncio.CancelledError:  # the consumer's stop: deliver the end all the same
                    self.stop()
                    continue
                yield event
                if isinstance(event, TurnEnded):
                    break
        finally:
            self.stop()
            await asyncio.gather(task, return_exceptions=True)
            self._task = None

    async def _run(self, text: str | None, queue: asyncio.Queue[Event]) -> None:
        """The turn's outermost frame: turns every way to end into the one terminal event."""
        reply = _Reply()
        self._runs = True
        try:
            await self._take_turn(text, reply, queue.put_nowait)
        except asyncio.CancelledError:
            reply.stop_reason = "stopped"
        except Exception as error:  # noqa: BLE001  # the one place: our bug must not end the app
            reply.stop_reason, reply.error = "failed", _failure(error)
        queue.put_nowait(self._finish(reply))

    async def _take_turn(
        self, text: str | None, reply: _Reply, emit: Callable[[Event], None]
    ) -> None:
        entry = self._commit(text)
        emit(TurnStarted(self._turn, entry))
        if self._stop_asked:
            raise asyncio.CancelledError
        reply.running = self._store.start_reply(self.session_id, entry.id, self.plan.label)
        ready = await self._make_ready(emit)
        request, sent, kind = await self._plan_request(entry, ready)
        await self._stream(request, reply, emit)
        if reply.usage is not None:
            room = max(0, ready.window.tokens - sent - reply.usage.written_tokens)
            emit(Receipt(self._turn, sent, kind, reply.usage, ready.window.tokens, room))

    def _commit(self, text: str | None) -> Entry:
        """Put the user's message on the disk, or find the one to answer again."""
        if text is not None:
            return self._store.append(self.session_id, user(text), durable=True)
        for entry in reversed(self._store.path(self.session_id)):
            if isinstance(entry.body, Message) and entry.body.role == "user":
                self._store.set_leaf(self.session_id, entry.id)
                return entry
        raise EnvironmentFault("There is nothing to answer in this conversation yet.")

    async def _make_ready(self, emit: Callable[[Event], None]) -> Ready:
        """Load the model for its window, or raise; what the user must know becomes notices."""
        turn = self._turn

        def progress(fraction: float | None) -> None:
            emit(ModelLoading(turn, fraction))

        if self.ready is not None:
            self.ready = await keep_ready(self._backend, self.plan, progress, self.ready)
            return self.ready
        ready = self.ready = await make_ready(
            self._backend, self.plan, progress, self._free_memory
        )
        if self._prefixes is not None:
            await self._backend.restore_prefix(self._prefixes.file(self.session_id))
        for notice in ready.notices:
            emit(Notice(turn, notice.level, notice.code, notice.text))
        return ready

    async def _plan_request(
        self, entry: Entry, ready: Ready
    ) -> tuple[PromptRequest, int, CountKind]:
        """The request, the tokens it sends, and how they were counted. Raises ContextOverflow."""
        plan, window = self.plan, ready.window.tokens
        visible = visible_entries(self._store.path(self.session_id, entry.id))
        messages = plan_messages(visible, plan.system_prompt)

        def request_of(max_tokens: int) -> PromptRequest:
            return plan_request(
                messages,
                model=plan.name,
                window_tokens=ready.request.window_tokens,
                max_tokens=max_tokens,
                sampling=plan.sampling,
                think=plan.think,
            )

        exact = await self._backend.count(request_of(1))
        sent = estimate_messages(messages) if exact is None else exact
        if exact is not None and exact >= window:
            raise _overflow(exact, window)
        request = request_of(plan_max_tokens(plan.max_tokens, window, sent))
        return request, sent, "estimated" if exact is None else "exact"

    async def _stream(
        self, request: PromptRequest, reply: _Reply, emit: Callable[[Event], None]
    ) -> None:
        stream = self._backend.stream(request)
        try:
            async for chunk in stream:
                self._take_chunk(chunk, reply, emit)
        finally:
            if (close := getattr(stream, "aclose", None)) is not None:
                await close()

    def _take_chunk(self, chunk: Chunk, reply: _Reply, emit: Callable[[Event], None]) -> None:
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
            case Finished(stop_reason=reason, usage=usage):
                reply.stop_reason, reply.usage = reason, usage
        self._checkpoint(reply)

    def _checkpoint(self, reply: _Reply) -> None:
        """Keep the running reply, at most once in CHECKPOINT_SECONDS."""
        now = self._clock()
        if (
            reply.running is None
            or not reply.parts
            or now - reply.checkpointed < CHECKPOINT_SECONDS
        ):
            return
        reply.checkpointed = now
        message = reply.message(self.plan.label, self._vocabulary)
        self._store.checkpoint_reply(
            reply.running, message.text, message.thinking, message.token_ids
        )

    def _finish(self, reply: _Reply) -> TurnEnded:
        """Store the reply, whatever it came to, and say how the turn ended. Never raises."""
        entry: Entry | None = None
        try:
            if reply.running is not None:
                entry = self._store_reply(reply.running, reply)
        except Exception as error:  # noqa: BLE001  # still the outermost frame: the turn must end
            reply.stop_reason, reply.error = "failed", reply.error or _failure(error)
        return TurnEnded(self._turn, reply.stop_reason, entry, reply.error)

    def _store_reply(self, running: RunningReply, reply: _Reply) -> Entry | None:
        if not reply.parts and reply.error is None:
            self._store.discard_reply(running)  # stopped before a word: nothing to keep
            return None
        message = reply.message(self.plan.label, self._vocabulary)
        return self._store.finish_reply(running, message)

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


def _overflow(prompt_tokens: int, window_tokens: int) -> ContextOverflow:
    return ContextOverflow(
        f"This conversation is {prompt_tokens:,} tokens long and the context window is "
        f"{window_tokens:,}: it was not sent, and nothing was cut.",
        "Start a new conversation, or use a model with a larger window.",
        prompt_tokens=prompt_tokens,
        window_tokens=window_tokens,
    )
