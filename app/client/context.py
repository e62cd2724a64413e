"""What the shown conversation's prompt is made of: counted, weighed and told, never loading anything.

::

    turn, compaction, opening, model, settings ─┐
    draft (as it is kept)                      ─┴─▶ renew ─▶ ContextView ─▶ ContextFacts told
                                                                 ▲
                      the session's own view if its model is loaded; else the same plan, estimated

One look at a time; whatever comes meanwhile is one more look after it.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from app.client.keeping import Keeping
from app.client.models import Models
from app.client.talk import Talk
from app.client.talks import Talks
from app.client.values import ContextFacts, Notice
from app.typed import Message as TypedMessage
from app.typed import join_message, plan_submission, split_message
from app.wiring import Workplace, kept_options
from app.words import translate
from engine.context import (
    ContextSettings,
    ContextView,
    plan_uncounted,
    sent_alone,
    weighed_entries,
    with_settings,
)
from engine.errors import EnvironmentFault
from engine.lens import Seen, SentMessage, plan_lens, plan_prompt
from engine.models import ModelPlan
from engine.prompt import plan_messages
from engine.segments import LedgerLine, Segment, plan_fit, plan_ledger, plan_segments
from engine.tokens import Count, estimate_messages
from engine.transcript import Entry, user
from engine.undoing import effective_path
from engine.weighing import Scale

DRAFT = "draft"
"""Id of the entry that stands for what is typed and not sent."""
_AT_ONCE = 8
"""Entries that are estimated before others get their turn: a few milliseconds of this thread."""
_REST_SECONDS = 0.002


@dataclass(frozen=True, slots=True)
class PromptText:
    """The prompt as it would be sent now, with the draft.

    Attributes:
        parts: every message, in order.
        count: the size of all, as the session acts on it.
        route: what the session would do before it is sent; "fits" for nothing.
    """

    parts: tuple[SentMessage, ...]
    count: Count
    route: str = "fits"


@dataclass(slots=True)
class _Base:
    """A context without the draft, and what was worked out of it; `stored` is its path as stored."""

    key: tuple[object, ...]
    view: ContextView
    stored: tuple[Entry, ...]
    segments: tuple[Segment, ...]
    ledger: tuple[LedgerLine, ...]
    lens: tuple[Seen, ...] | None = None


@dataclass(frozen=True, slots=True)
class _Looked:
    """A look at a context: without and with the draft; the system prompt it begins with."""

    base: _Base
    drafted: ContextView
    system_prompt: str
    scale: Scale

    @property
    def draft(self) -> int:
        """What the draft adds, tokens."""
        return max(0, self.drafted.count.tokens - self.base.view.count.tokens)


class Context:
    """Looks at the shown conversation whenever something changed; used on the client's loop.

    Args:
        workplace: models and settings.
        keeping: drafts.
        talks: the conversations in use, and whom to tell.
        models: what is known of windows.

    Attributes:
        noticed: called when something of the conversation that is shown changed, its draft too.
    """

    def __init__(
        self,
        workplace: Workplace,
        keeping: Keeping,
        talks: Talks,
        models: Models,
    ) -> None:
        self._workplace = workplace
        self._keeping = keeping
        self._talks = talks
        self._models = models
        self._asked = self._done = 0
        self._task: asyncio.Task[None] | None = None
        self._scale: tuple[tuple[str, bool], Scale] = (("", False), Scale())
        self._last: _Base | None = None
        self._told: ContextFacts | None = None
        self._lens = False
        self._failure = ""
        self.noticed: Callable[[], None] = lambda: None
        talks.changed = self.renew

    @property
    def told(self) -> ContextFacts | None:
        """What the window was told last of what it shows."""
        return self._told

    async def set_lens(self, on: bool) -> None:  # noqa: FBT001  # a switch
        """Have told what the model sees of every entry, or no longer."""
        self._lens = on
        self.renew()

    async def prompt(self, id: str) -> PromptText:
        """The prompt of a conversation ("" is a new one) as it would be sent now, with its draft."""
        seen = await self._look(id)
        if seen is None:
            return PromptText((), Count(0, "estimated"))
        view = seen.drafted
        return PromptText(plan_prompt(view, seen.system_prompt), view.count, view.route.route)

    async def view(self, id: str) -> tuple[ContextView, int] | None:
        """A conversation's context without its draft, and the tokens that adds; None as yet."""
        seen = await self._look(id)
        if seen is None:
            return None
        return seen.base.view, seen.draft

    # ---- telling --------------------------------------------------------------------------------

    def renew(self, id: str | None = None) -> None:
        """Something changed, in the conversation named or everywhere: look again, and tell.

        What is not shown is not looked at.
        """
        if id is not None and id != self._talks.shown:
            return
        self.noticed()
        self._asked += 1
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._work())

    def close(self) -> None:
        """Look no more."""
        if self._task is not None:
            self._task.cancel()
        self._asked = self._done = 0

    async def _work(self) -> None:
        while self._done != self._asked:
            self._done = self._asked
            await asyncio.sleep(0)  # what changes together is looked at together
            here = self._talks.shown
            try:
                facts = await self._facts(here)
            except Exception as error:  # noqa: BLE001  # told, not swallowed
                self._tell_failure(here, error)
                continue
            self._failure = ""
            if facts is not None and here == self._talks.shown and facts != self._told:
                self._told = facts
                self._talks.tell(facts)

    def _tell_failure(self, here: str, error: Exception) -> None:
        """A bug of ours costs the figures, not the conversation: told and saved once."""
        if repr(error) == self._failure:
            return
        self._failure = repr(error)
        self._talks.report(error)
        said = translate("Client", "The context could not be worked out. A report was saved.")
        self._talks.tell(Notice(here, "warning", said))

    def show_anew(self) -> None:
        """A conversation is opened: what was told before does not stand on the screen any more."""
        self._told = None
        self.renew()

    async def _facts(self, id_: str) -> ContextFacts | None:
        try:
            seen = await self._look(id_)
        except EnvironmentFault:  # the conversation or its model is gone: that is told elsewhere
            return None
        if seen is None:
            return None
        base, view = seen.base, seen.base.view
        if self._lens and base.lens is None:
            weights = await _weighed(seen.scale, sent_alone(base.stored, view.settings))
            base.lens = plan_lens(view, base.stored, lambda entry: weights[entry.id])
        known = view.budget.window > 0
        return ContextFacts(
            id_,
            base.segments,
            seen.draft,
            view.count.tokens + seen.draft,
            seen.drafted.count.kind,
            view.budget if known else None,
            plan_fit(view, seen.draft) if known else None,
            base.ledger,
            base.lens if self._lens else None,
        )

    # ---- looking --------------------------------------------------------------------------------

    async def _look(self, id_: str) -> _Looked | None:
        """A conversation's context; None while only the end of it was read.

        Raises EnvironmentFault for what is not stored, and for a model that is none.
        """
        talk = self._talks.talk(id_) if id_ else None
        if talk is not None and talk.plan is None:
            return None
        path = talk.path if talk is not None else ()
        look = self._estimates(talk, path)
        base = await self._base(talk, path, look)
        draft = self._draft_entry(id_, path)
        drafted = base.view
        if draft is not None:
            longer = (*path, draft)
            drafted = await self._peek(talk, longer, look) or await look.at(longer)
        return _Looked(base, drafted, look.system, look.scale)

    def _estimates(self, talk: Talk | None, path: tuple[Entry, ...]) -> "_Estimates":
        """How this conversation is looked at where nobody can count: its model, prompt, window."""
        workplace = self._workplace
        model = talk.model if talk is not None else self._keeping.model
        name, options = workplace.model_name(model or None), (kept_options(path),)
        plan = workplace.plan(name, options)
        system, window = plan.system_prompt, None
        if talk is not None and talk.window is not None and talk.window.model == plan.label:
            window = talk.window.tokens
        elif talk is None and self._keeping.system:
            system = self._keeping.system
        known = self._models.known_window(name, options)
        loaded = talk.window if talk is not None and window is not None else None
        sees = (loaded or known).sees_images or False
        scale = self._scale_of(talk.id if talk is not None else "", sees_images=sees)
        settings = replace(workplace.context_settings(), thinking_history=plan.thinking_history)
        window = known.tokens if window is None else window
        return _Estimates(workplace, scale, plan, system, settings, window, sees)

    async def _base(self, talk: Talk | None, path: tuple[Entry, ...], look: "_Estimates") -> _Base:
        """The context without the draft; looked at once for as long as nothing changes."""
        key: tuple[object, ...] = (path[-1:], len(path), *look.key)
        if talk is not None and talk.session is not None:
            key = (*key, talk.id, talk.session.ready, talk.window)
        if self._last is None or self._last.key != key:
            view = await self._peek(talk, path, look) or await look.at(path)
            segments = plan_segments(view, share_of_files)
            self._last = _Base(key, view, path, segments, plan_ledger(path))
        return self._last

    async def _peek(
        self, talk: Talk | None, path: tuple[Entry, ...], look: "_Estimates"
    ) -> ContextView | None:
        """The session's own view; None unless its model is loaded, as it is to be."""
        session = talk.session if talk is not None else None
        if (
            talk is None
            or session is None
            or talk.window is None
            or not self._has_process(session)
        ):
            return None
        as_now = (look.plan.label, look.system, look.plan.thinking_history)
        plan = session.plan
        if (plan.label, plan.system_prompt, plan.thinking_history) != as_now:
            return None
        try:
            view = await session.peek(path)
        except EnvironmentFault:  # the next turn finds out, and says so
            return None
        return view if view is None else with_settings(view, look.settings)

    def _has_process(self, session: object) -> bool:
        """Whether counting starts nothing: a worker that died is not started for a figure."""
        plan = getattr(session, "plan", None)
        if not isinstance(plan, ModelPlan) or plan.backend != "llama.cpp":
            return True
        return getattr(self._workplace.backend(plan.backend), "worker_pid", None) is not None

    def _draft_entry(self, id_: str, path: Sequence[Entry]) -> Entry | None:
        draft = self._keeping.drafts.get(id_, "")
        images = [attached.image for attached in self._keeping.images.get(id_, ())]
        text = message_of(draft) or (draft.strip() if images else "")
        if not text and not images:
            return None
        leaf = path[-1].id if path else None
        return Entry(DRAFT, id_, leaf, time.time_ns() // 1_000_000, user(text, images))

    def _scale_of(self, id_: str, *, sees_images: bool) -> Scale:
        """What was weighed for the conversation that is shown; of others nothing is kept."""
        key = id_, sees_images
        if self._scale[0] != key:
            self._scale = (key, Scale(sees_images=sees_images))
        return self._scale[1]


@dataclass(frozen=True, slots=True)
class _Estimates:
    """How a context is looked at when nobody can count it."""

    workplace: Workplace
    scale: Scale
    plan: ModelPlan
    system: str
    settings: ContextSettings
    window: int
    sees_images: bool

    @property
    def key(self) -> tuple[object, ...]:
        """What the result depends on beside the path."""
        return self.plan.label, self.system, self.settings, self.window, self.sees_images

    async def at(self, path: tuple[Entry, ...]) -> ContextView:
        """The context of a path, as a session would find it if its backend could not count."""
        path = effective_path(path)
        label = self.plan.label
        view = plan_uncounted(
            path,
            await _weighed(self.scale, weighed_entries(path, self.settings)),
            self.window,
            self.settings,
            system_tokens=estimate_messages(plan_messages((), self.system)),
            calibration=self.workplace.calibrations.of(label),
            model=label,
        )
        return replace(view, sees_images=self.sees_images)


async def _weighed(scale: Scale, entries: Sequence[Entry]) -> dict[str, int]:
    """What entries weigh, estimated a few at a time: the window's thread gets its turns between."""
    weights: dict[str, int] = {}
    for first in range(0, len(entries), _AT_ONCE):
        began = time.perf_counter()
        weights |= await scale.weigh(entries[first : first + _AT_ONCE], _nobody_counts)
        if time.perf_counter() - began > _REST_SECONDS:
            await asyncio.sleep(_REST_SECONDS)
    return weights


async def _nobody_counts(_texts: Sequence[str]) -> None:
    return None


def message_of(draft: str) -> str:
    """The message a draft would be sent as; "" for none, and for a command."""
    typed, files = split_message(draft)
    planned = plan_submission(typed)
    if isinstance(planned, TypedMessage):
        return join_message(planned.text, files)
    return join_message(typed.strip(), files) if files else ""


def share_of_files(text: str) -> float:
    """How much of a message is files that went along, 0…1, by its characters."""
    if not text.endswith("```"):
        return 0.0
    typed, files = split_message(text)
    return 1.0 - len(typed) / len(text) if files else 0.0
