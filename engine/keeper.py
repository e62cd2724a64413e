"""Keeps a conversation's prompt within its budget: counts, shortens, compacts. The acts.

::

    look ─▶ ContextView ─▶ route ─┬─ fits ────────────────────────────────────▶ send
                                  ├─ shorten tool results ─▶ look again
                                  └─ compact (then shorten) ─▶ look again, once

What is to be done is planned by `engine.context`; this asks the backend, writes the entries and
tells. Promises:

- The transcript is only appended to. A compaction is stored when it is complete, counted, and
  smaller than what it replaces; until then, and whatever fails, everything stays as it was.
- Every step lowers the count or is the last one: at most one compaction for one look, no loop.
- The user's stop is not a failure and leaves nothing behind.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.backends.base import Backend, PromptMessage, PromptRequest
from engine.budget import must_compact
from engine.caution import fits, most_tokens, with_ceiling
from engine.compact import CompactionPlan, NothingToCompact, Urgency
from engine.compactor import Compactor, Writer, teller
from engine.context import (
    ContextSettings,
    ContextView,
    guard_trips,
    plan_folding,
    plan_message_room,
    plan_seen,
    plan_sent,
    plan_shortenings,
    plan_uncounted,
    plan_view,
    weighed_entries,
)
from engine.errors import EnvironmentFault
from engine.events import (
    CompactionEnded,
    CompactionReason,
    CompactionStarted,
    Event,
    Notice,
)
from engine.folding import (
    TRY_LATER,
    counted,
    done,
    failure_words,
    folded_messages,
    overflow_fault,
    plan_due,
    plan_entry,
    unsendable,
    why_not,
)
from engine.models import ModelPlan
from engine.prompt import pictures_for, plan_max_tokens, plan_messages, plan_request
from engine.readiness import Ready
from engine.sessiontools import SessionTools, as_it_is
from engine.store import Store
from engine.summaryjob import plan_cautiously, plan_job
from engine.tokens import (
    CalibrationBook,
    Count,
    estimate_messages,
    reports_in_part,
)
from engine.transcript import Body, Compaction, Entry, Message
from engine.undoing import effective_path
from engine.view import shortening_entry
from engine.weighing import Scale, count_parted, size_of

Emit = Callable[[Event], None]

_URGENCY: dict[CompactionReason, Urgency] = {
    "manual": "asked_for",
    "overflow": "refused",
    "timeout": "refused",
}


@dataclass(frozen=True, slots=True)
class Compacted:
    """What came of a compaction: the event that told of it, and the context as it is now."""

    ended: CompactionEnded
    view: ContextView

    @property
    def is_done(self) -> bool:
        """Whether something was folded."""
        return self.ended.outcome == "done"


class Keeper:
    """Keeps one conversation's prompt within the budget of one model.

    Args:
        store: where the conversation is.
        backend: what runs the model.
        session_id: the conversation.
        plan: the model, and how it is run.
        settings: how the window is managed.
        tools: what it may do without.
    """

    def __init__(
        self,
        store: Store,
        backend: Backend,
        session_id: str,
        plan: ModelPlan,
        settings: ContextSettings,
        tools: SessionTools,
    ) -> None:
        self._store = store
        self._backend = backend
        self._session = session_id
        self._plan = plan
        self._book = tools.book or CalibrationBook()
        self._writer = tools.writer
        self._clock = tools.clock
        self._sleep = tools.sleep
        self._scale: tuple[tuple[str, bool], Scale] = (("", False), Scale())
        self._learned_window: int | None = None
        self._guessed_window: int | None = None
        self._is_told = True  # whether the backend's reports are of whole prompts
        self._failed_at: int | None = None
        self.settings = replace(settings, thinking_history=plan.thinking_history)

    # ---- looking --------------------------------------------------------------------------------

    def window(self, ready: Ready) -> int:
        """The window that counts: what was loaded, or less if the backend refused less."""
        known = (ready.window.tokens, self._learned_window, self._guessed_window)
        return min(tokens for tokens in known if tokens is not None)

    def begin_turn(self) -> None:
        """What was only guessed of the window held for the last turn."""
        self._guessed_window = None

    def learn_window(self, tokens: int, *, guessed: bool) -> None:
        """The backend refused a prompt that should have fitted: its window is smaller.

        What it said holds on, a guess only for this turn: the server may be well again.
        """
        if guessed:
            self._guessed_window = min(tokens, self._guessed_window or tokens)
        else:
            self._learned_window = min(tokens, self._learned_window or tokens)

    async def look(self, ready: Ready, path: Sequence[Entry]) -> ContextView:
        """The context of a path: counted as exactly as the backend can."""
        path = effective_path(path)
        request = self._request(ready, self._messages(ready, plan_seen(path, self.settings)), 1)

        async def count_texts(texts: Sequence[str]) -> tuple[int, ...] | None:
            return await self._backend.count_texts(request, texts)

        entries = weighed_entries(path, self.settings)
        weights = await self._scale_for(ready).weigh(entries, count_texts)
        exact, thinking = await count_parted(self._backend, request)
        if exact is None:
            view = self._uncounted(ready, path, weights)
        else:
            count, window, by = Count(exact, "exact"), self.window(ready), self.settings
            view = plan_view(path, weights, count, window, by, thinking_tokens=thinking)
        return replace(view, sees_images=ready.sees_images)

    def _uncounted(
        self, ready: Ready, path: Sequence[Entry], weights: Mapping[str, int]
    ) -> ContextView:
        label = self._plan.label
        if reports_in_part(path, label):
            self._is_told = False
        known = self._book.of(label, ready.loaded.digest)
        view = plan_uncounted(
            path,
            weights,
            self.window(ready),
            self.settings,
            system_tokens=self._system_tokens(),
            calibration=known,
            model=label,
        )
        return with_ceiling(view, known) if ready.loaded.cuts else view

    def learn(self, ready: Ready, view: ContextView, prompt_tokens: int) -> None:
        """A backend that cannot count told how large this prompt really was.

        Of a prompt with pictures nothing is learned: what they cost says nothing of words.
        """
        if view.count.kind != "exact" and prompt_tokens and self._is_told:
            messages = self._messages(ready, view.visible)
            if not any(message.images for message in messages):
                estimate, digest = estimate_messages(messages), ready.loaded.digest
                self._book.learn(self._plan.label, estimate, prompt_tokens, digest)

    async def room_for(
        self, ready: Ready, said: Message, path: Sequence[Entry]
    ) -> tuple[int, int]:
        """Tokens a new message would have, and the most it may have in this conversation."""
        view = await self.look(ready, path)
        alone = self._request(ready, self._messages(ready, ()), 1)
        exact = await self._backend.count_texts(alone, (said.text,))
        ratio = self._book.of(self._plan.label, ready.loaded.digest).ratio
        size = size_of(said, exact, ratio, sees_images=ready.sees_images)
        return size, plan_message_room(view, self._system_tokens())

    # ---- fitting --------------------------------------------------------------------------------

    async def fit(self, ready: Ready, path: Sequence[Entry], emit: Emit, turn: int) -> ContextView:
        """The context, brought within its budget where that is possible (SPEC1 12.2).

        Raises ContextOverflow, with what the user can do, when it cannot even be sent as it is.
        """
        view = await self.look(ready, path)
        if view.route.route == "truncate_tool_results_only":
            view = await self._shorten(ready, view, emit, turn)
        if self.is_due(view) and not self.asks(view, emit, turn):
            compacted = await self.compact(ready, view, "preemptive", emit, turn)
            view = compacted.view
            if view.route.overflow and view.reducible_chars:
                view = await self._shorten(ready, view, emit, turn)
        self._require_room(view, emit, turn)
        return await self._pruned(ready, view, emit, turn)

    async def _pruned(self, ready: Ready, view: ContextView, emit: Emit, turn: int) -> ContextView:
        """The context as it is sent this once: tool results shortened in the request only."""
        sent = plan_sent(view)
        if sent is view.visible:
            return view
        changed = sum(
            new.body is not old.body for new, old in zip(sent, view.visible, strict=True)
        )
        request = self._request(ready, self._messages(ready, sent), 1)
        exact = await self._backend.count(request)
        tokens = estimate_messages(request.messages) if exact is None else exact
        kind = view.count.kind if exact is not None else "estimated"
        emit(
            Notice(
                turn,
                "info",
                "results_shortened_once",
                f"{counted(changed, 'tool result')} shortened in this request. The transcript keeps "
                "them whole.",
            )
        )
        return replace(view, visible=sent, count=Count(min(tokens, view.count.tokens), kind))

    def is_due(self, view: ContextView) -> bool:
        """Whether to compact by itself now.

        After a failure the next try waits until the context has grown by a tenth of the budget, or
        cannot be sent any more: a model that cannot summarise is not asked in every turn.
        """
        over = must_compact(view.count.tokens, view.budget)
        if not self.settings.enabled or not (over or self._must(view, "preemptive")):
            return False
        grown = view.targets.min_gain
        waits = self._failed_at is not None and view.count.tokens < self._failed_at + grown
        return not waits or self._must(view, "preemptive")

    def asks(self, view: ContextView, emit: Emit, turn: int) -> bool:
        """Tell what a compaction would do, where the user is to be asked or reminded; if not, False."""
        mode = self.settings.mode
        if mode == "automatic":
            return False
        folding = plan_folding(view)
        if isinstance(folding, CompactionPlan):
            emit(plan_due(view, folding, mode, turn))
        return True

    def put_off(self, tokens: int) -> None:
        """Not now: it is due again when the prompt of so many tokens has grown by a tenth of the budget."""
        self._failed_at = tokens

    async def shrink(
        self, ready: Ready, view: ContextView, reason: CompactionReason, emit: Emit, turn: int
    ) -> ContextView | None:
        """A smaller context after the backend failed at this one; None when there is none.

        Compacts; where that is not possible, shortens tool results, the last resort (SPEC1 12.4.4).
        """
        view = await self.look(ready, view.path)  # with the window that was learned
        if self.settings.enabled and not self.asks(view, emit, turn):
            compacted = await self.compact(ready, view, reason, emit, turn)
            if compacted.is_done:
                return compacted.view
        after = await self._shorten(ready, view, emit, turn)
        return after if after.count.tokens < view.count.tokens else None

    async def _shorten(
        self, ready: Ready, view: ContextView, emit: Emit, turn: int
    ) -> ContextView:
        """Shorten tool results for good: one entry says their new texts, they stay as they are."""
        texts = plan_shortenings(view)
        if not texts:
            return view
        body = shortening_entry(texts)
        draft = Entry("draft", self._session, view.leaf, 0, body)
        after = await self.look(ready, (*view.path, draft))
        if after.weight >= view.weight:
            return view  # a notice may need more tokens than what it stands for
        entry = self._append(view, body)
        after = await self.look(ready, (*view.path, entry))
        emit(
            Notice(
                turn,
                "info",
                "results_shortened",
                f"{counted(len(texts), 'tool result')} shortened to fit the context window "
                f"({view.count.tokens:,} → {after.count.tokens:,} tokens). The transcript keeps "
                "them whole.",
            )
        )
        return after

    def _require_room(self, view: ContextView, emit: Emit, turn: int) -> None:
        tokens, window = view.count.tokens, view.budget.window
        if not fits(view):
            raise unsendable(view)
        if view.route.overflow:
            emit(
                Notice(
                    turn,
                    "warning",
                    "over_budget",
                    f"The conversation is {view.route.overflow:,} tokens over its prompt budget of "
                    f"{view.budget.prompt:,}. It is sent whole; the reply has room for "
                    f"{window - tokens:,} tokens.",
                )
            )

    def request(self, ready: Ready, view: ContextView, max_tokens: int | None) -> PromptRequest:
        """The request for a reply to a context that fits.

        Raises ContextOverflow when the characters of a running tool turn say that it does not.
        """
        if guard_trips(view):
            raise overflow_fault(view.count.tokens, view.budget.window)
        room = plan_max_tokens(max_tokens, view.budget.window, most_tokens(view))
        return self._request(ready, self._messages(ready, view.visible), room)

    # ---- compacting -----------------------------------------------------------------------------

    async def compact(
        self,
        ready: Ready,
        view: ContextView,
        reason: CompactionReason,
        emit: Emit,
        turn: int,
        *,
        focus: str = "",
    ) -> Compacted:
        """Fold older messages into a summary (SPEC1 12.5).

        What the environment does is told, not raised; the user's stop and our bugs are both.
        """
        view = replace(view, urgency=_URGENCY.get(reason, "usual"))
        folding = plan_folding(view)
        before = view.count.tokens
        if isinstance(folding, NothingToCompact):
            ended = CompactionEnded(turn, reason, "nothing", folding.detail, before_tokens=before)
            if reason == "manual":  # by itself it is no news: what follows from it is told
                emit(ended)
            return Compacted(ended, view)
        folded = len(folded_messages(folding))
        emit(CompactionStarted(turn, reason, before, folded))
        started = self._clock()
        ended = CompactionEnded(
            turn, reason, "stopped", "Stopped. Nothing was changed.", None, before, before, folded
        )
        after = view
        try:
            body = await self._summarised(ready, view, folding, (reason, focus), emit, turn)
            entry, after = await self._store_if_smaller(ready, view, body, started)
            self._failed_at = None
            ended = done(ended, entry, self._clock() - started)
        except EnvironmentFault as fault:
            self._failed_at = before
            told = fault if reason == "manual" else None
            ended = replace(ended, outcome="failed", text=failure_words(fault), error=told)
        except Exception as error:
            ended = replace(ended, outcome="failed", text=failure_words(error))
            raise
        finally:
            emit(ended)
        return Compacted(ended, after)

    async def _summarised(
        self,
        ready: Ready,
        view: ContextView,
        folding: CompactionPlan,
        why: tuple[CompactionReason, str],
        emit: Emit,
        turn: int,
    ) -> Compaction:
        """The compaction's body, without what only a count can tell."""
        reason, focus = why
        own = as_it_is(Writer(self._backend, self._plan, ready))
        limit = self.settings.timeout_seconds
        try:
            async with asyncio.timeout(limit), (self._writer or own)() as writer:
                compactor = Compactor(writer, teller(emit, turn), sleep=self._sleep)
                is_own = writer.backend is self._backend
                held = self._plan.system_prompt if is_own else None
                job = plan_job(view, folding, writer.ready, focus=focus, system_prompt=held)
                known = self._book.of(writer.plan.label, writer.ready.loaded.digest)
                job = plan_cautiously(job, writer.ready, known)
                written = await compactor.summarise(job)
        except TimeoutError as error:
            raise EnvironmentFault(
                f"It took longer than {limit:,.0f} seconds.",
                "Raise compaction.timeout_seconds, or use a faster model for summaries.",
            ) from error
        self._store.add_usage(
            self._session,
            input_tokens=written.read_tokens,
            output_tokens=written.written_tokens,
        )
        if written.is_degraded and not self._must(view, reason):
            raise EnvironmentFault(why_not(written.rejected, written.faults), TRY_LATER)
        body = plan_entry(
            view,
            folding,
            summary=written.text,
            language=job.language,
            reason=reason,
            focus=focus,
        )
        more = {"requests": written.requests, "rejected": list(written.rejected)}
        facts = {**body.facts, **more, **({"degraded": True} if written.is_degraded else {})}
        return replace(body, way=written.way, model=writer.plan.label, facts=facts)

    def _must(self, view: ContextView, reason: CompactionReason) -> bool:
        """Whether even a placeholder is better than nothing: the conversation cannot go on else."""
        return reason == "overflow" or (reason == "preemptive" and not fits(view))

    async def _store_if_smaller(
        self, ready: Ready, view: ContextView, body: Compaction, started: float
    ) -> tuple[Entry, ContextView]:
        """Count the prompt as it would be; store the compaction if that is a gain."""
        draft = Entry("draft", self._session, view.leaf, 0, body)
        after = await self.look(ready, (*view.path, draft))
        share = after.weight / max(1, view.weight)
        tokens = after.count.tokens
        if view.count.kind == "anchored":  # an estimate beside what was counted would mislead
            tokens = round(view.count.tokens * share)
        if share >= 1 or tokens >= view.count.tokens:
            raise EnvironmentFault(
                f"The summary would have saved nothing ({view.count.tokens:,} → {tokens:,} tokens)."
            )
        body = replace(body, tokens_after=tokens, seconds=round(self._clock() - started, 3))
        entry = self._append(view, body)
        self._store.count_compaction(self._session)
        return entry, await self.look(ready, (*view.path, entry))

    # ---- parts ----------------------------------------------------------------------------------

    def _append(self, view: ContextView, body: Body) -> Entry:
        """Add an entry at the end of the path; the leaf follows unless the user moved it."""
        stands = self._store.session(self._session).leaf == view.leaf
        return self._store.append(self._session, body, view.leaf, move_leaf=stands, durable=True)

    def _messages(self, ready: Ready, visible: Sequence[Entry]) -> tuple[PromptMessage, ...]:
        pictures = pictures_for(sees_images=ready.sees_images)
        system, history = self._plan.system_prompt, self.settings.thinking_history
        return plan_messages(visible, system, history, pictures=pictures)

    def _request(
        self, ready: Ready, messages: tuple[PromptMessage, ...], max_tokens: int
    ) -> PromptRequest:
        return plan_request(
            messages,
            model=self._plan.name,
            window_tokens=ready.request.window_tokens,
            max_tokens=max_tokens,
            sampling=self._plan.sampling,
            think=self._plan.think,
        )

    def _scale_for(self, ready: Ready) -> Scale:
        key = ready.loaded.vocabulary, ready.sees_images
        if self._scale[0] != key:
            self._scale = (key, Scale(key[0], sees_images=key[1]))
        return self._scale[1]

    def _system_tokens(self) -> int:
        return estimate_messages(plan_messages((), self._plan.system_prompt))
