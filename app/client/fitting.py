"""What can be done with a draft that does not fit: parts, a digest, part by part, a larger window.

::

    draft, context ─▶ offer ─┬─ parts ────────▶ the window picks, and attaches an excerpt
                             ├─ digest ───────▶ Digesting told … ─▶ an attachment
                             ├─ ask_parts ────▶ a message; PartsWaiting told ─▶ next_part …
                             └─ larger ───────▶ a setting of the model (app.client.preferences)

What does not fit is the largest thing of the draft: a file, or what is typed. Nothing of the
conversation is touched but by messages that are sent like any other.
"""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from app.client.fit_values import (
    LEAST_ROOM,
    FitOffer,
    LargerWindow,
    PartsToChoose,
    Seen,
    Subject,
    native_window,
    plan_larger,
    plan_native,
    plan_offer,
    plan_subject,
)
from app.client.keeping import Keeping
from app.client.models import Models, worker_memory
from app.client.talks import Talks
from app.client.turns import Turns
from app.client.values import Digesting, PartsWaiting
from app.typed import AttachedImage, Attachment, join_message
from app.wiring import Workplace, kept_options
from app.words import translate
from engine.backends.base import ModelInfo
from engine.caution import plan_limit
from engine.compactor import Doing, Writer
from engine.context import ContextView
from engine.digest import plan_digest, write_digest
from engine.errors import EnvironmentFault
from engine.fitting import Part, plan_parts, plan_pieces, plan_windows
from engine.models import STARTER, ModelName, ModelPlan
from engine.readiness import Ready, free_memory, make_ready
from engine.segments import plan_fit
from engine.tokens import IMAGE_TOKENS, estimate_text

_CHOICES = 4
"""A part that can be chosen has at most this share of the room, so that several can be."""
_TELL_SECONDS = 0.1
_TOLD_FROM = 0.1
"""Of the work: earlier nothing is said of how long it takes."""

Look = Callable[[str], Awaitable[tuple[ContextView, int] | None]]
"""A conversation's context without its draft, and what that adds; None as yet."""
Send = Callable[[str | None, str, str, Sequence[AttachedImage] | None], Awaitable[str]]
"""Says something in a conversation: text, model of a new one, pictures (None: the draft's)."""


@dataclass(slots=True)
class _Following:
    """A file that is asked about part by part."""

    question: str
    name: str
    pieces: tuple[Part, ...]
    asked: int = 0


class _Progress:
    """Tells how far a digest is: what is news, ten times a second at most."""

    def __init__(self, tell: Callable[[Digesting], None], id_: str, name: str, steps: int) -> None:
        self._tell = tell
        self._begun = Digesting(id_, name, steps=steps)
        self._began = time.monotonic()
        self._told = 0.0
        self._what: tuple[int, str] = (0, "")

    def __call__(self, doing: Doing, done: int, total: int, stage: int) -> None:
        """Take what the compactor says."""
        now, step = time.monotonic(), max(1, stage)
        if self._what == (step, doing) and now - self._told < _TELL_SECONDS:
            return
        self._what, self._told = (step, doing), now
        share = min(1.0, done / total) / 2 if total else 0.0
        steps = max(step, self._begun.steps)
        passed = (step - 1 + (share if doing == "reading" else 0.5 + share)) / steps
        left = (now - self._began) * (1 - passed) / passed if passed > _TOLD_FROM else 0.0
        self._tell(
            replace(
                self._begun,
                step=step,
                steps=steps,
                doing=doing,
                done=done,
                total=total,
                seconds_left=left,
            )
        )


class Fitting:
    """What a window can do with drafts that do not fit; used on the client's loop.

    Every method may raise EnvironmentFault, with a sentence and what to do.

    Args:
        workplace: models and settings.
        keeping: drafts.
        talks: the conversations in use, and whom to tell.
        models: what is known of models.
        turns: when a backend may be used.
        look: what a prompt is made of.
        send: says something in a conversation.
    """

    def __init__(
        self,
        workplace: Workplace,
        keeping: Keeping,
        talks: Talks,
        models: Models,
        turns: Turns,
        look: Look,
        send: Send,
    ) -> None:
        self._workplace = workplace
        self._keeping = keeping
        self._talks = talks
        self._models = models
        self._turns = turns
        self._view = look
        self._send = send
        self._subject: Subject | None = None
        self._digests: dict[str, asyncio.Task[Attachment]] = {}
        self._following: dict[str, _Following] = {}

    def close(self) -> None:
        """Stop every digest."""
        for task in self._digests.values():
            task.cancel()

    # ---- what there is ----------------------------------------------------------------------

    async def offer(self, id: str) -> FitOffer | None:
        """What can be done with a conversation's draft; None when it fits."""
        seen = await self._look(id)
        if seen is None:
            return None
        name, plan = self._model(id)
        window, limit = seen.view.budget.window, 0
        try:
            info = await self._models.learn_info(name)
        except EnvironmentFault:
            return plan_offer(id, seen, limit, None)
        if window >= plan.limits.hard_min_tokens:
            limit = plan_native(window, info.trained_window, plan.stretch)
        return plan_offer(id, seen, limit, self._larger(plan, info, seen))

    async def parts(self, id: str) -> PartsToChoose | None:
        """The parts of what does not fit; None when it fits, or nothing of it would."""
        seen = await self._look(id)
        if seen is None or seen.room < LEAST_ROOM:
            return None
        subject, most = seen.subject, max(LEAST_ROOM // 2, seen.room // _CHOICES)
        parts = await asyncio.to_thread(plan_parts, subject.text, most, seen.weigh)
        return PartsToChoose(id, subject.name, subject.index, parts, seen.room)

    async def _look(self, id_: str) -> Seen | None:
        """A draft that is too large, and by how much; None for any other."""
        seen = await self._view(id_)
        if seen is None or not seen[0].budget.window:
            return None
        view, tokens = seen
        fit = plan_fit(view, tokens)
        draft = self._draft(id_)
        if fit.state != "too_large" or not draft.strip():
            return None
        if self._subject is None or self._subject.draft != draft:
            self._subject = await asyncio.to_thread(plan_subject, draft)
        subject = self._subject
        pictures = len(self._keeping.images.get(id_, ())) if view.sees_images else 0
        rest = subject.rest_tokens + IMAGE_TOKENS * pictures
        scale = tokens / max(1, subject.tokens + rest)
        room = max(0, fit.room - math.ceil(scale * rest))
        return Seen(subject, view, tokens, scale, room)

    # ---- a larger window ------------------------------------------------------------------------

    def _larger(self, plan: ModelPlan, info: ModelInfo, seen: Seen) -> LargerWindow | None:
        """The smallest larger window that the next turn would really have, and that holds it all."""
        sizes = plan_windows(seen.view, seen.tokens, plan.limits.cap_tokens)
        if not sizes:
            return None
        window = seen.view.budget.window
        return plan_larger(plan, info, window, sizes[0], self._available(plan))

    def _available(self, plan: ModelPlan) -> int | None:
        """The memory there is for a model that runs here, with what it takes now; else None."""
        free = free_memory() if plan.backend == "llama.cpp" else None
        backend = self._workplace.backend(plan.backend)
        return None if free is None else free + worker_memory(backend)

    def _model(self, id_: str) -> tuple[ModelName, ModelPlan]:
        """The model of a conversation, and how it is run."""
        talk = self._talks.talk(id_) if id_ else None
        model = talk.model if talk is not None else self._keeping.model
        name = self._workplace.model_name(model or None)
        options = (kept_options(talk.path),) if talk is not None else ()
        return name, self._workplace.plan(name, options)

    # ---- a digest -------------------------------------------------------------------------------

    async def digest(self, id: str) -> Attachment | None:
        """A digest of what does not fit, by the conversation's model, to be attached in its place.

        Told meanwhile: Digesting. None when it was stopped, or the draft fits. If another
        conversation is shown at the end it is put into the draft at once, and None is returned.
        """
        seen = await self._look(id)
        if seen is None or id in self._digests:
            return None
        task = self._digests[id] = asyncio.create_task(self._write(id, seen))
        name = seen.subject.name
        self._tell(Digesting(id, name))
        try:
            await asyncio.wait({task})  # stopped from elsewhere: no reason to stop here
            if task.cancelled():
                return None
            return self._handed_over(id, seen.subject, task.result())
        finally:
            task.cancel()
            del self._digests[id]
            self._tell(Digesting(id, name, over=True))

    async def stop_digest(self, id: str) -> None:
        """Stop writing it; nothing is left of it."""
        if (task := self._digests.get(id)) is not None:
            task.cancel()

    async def _write(self, id_: str, seen: Seen) -> Attachment:
        name, plan = self._model(id_)
        subject = seen.subject
        focus = subject.typed if subject.index >= 0 else ""
        called = subject.name or translate("Fitting", "Your message")
        async with self._turns.between(plan.queue):
            ready = await self._ready(id_, subject, name, plan)
            limit = native_window(ready)
            if ready.loaded.cuts:
                known = self._workplace.calibrations.of(plan.label, ready.loaded.digest)
                limit = plan_limit(limit, known)
            steps = await asyncio.to_thread(plan_digest, subject.text, limit, seen.digest_cap)
            progress = _Progress(self._tell, id_, subject.name, steps.requests)
            writer = Writer(self._workplace.backend(plan.backend), plan, ready)
            text = await write_digest(writer, steps, called, focus, progress)
        title = translate("Fitting", "{name} (digest)").format(name=called)
        return Attachment.of(title, text, tokens=estimate_text(text))

    async def _ready(self, id_: str, subject: Subject, name: ModelName, plan: ModelPlan) -> Ready:
        if name.label == STARTER and not self._workplace.has_starter:
            await self._models.fetch_starter()

        def loading(fraction: float | None) -> None:
            self._models.note_loading(name, fraction)
            percent, total = (0, 0) if fraction is None else (round(100 * fraction), 100)
            told = Digesting(id_, subject.name, doing="loading", done=percent, total=total)
            self._tell(told)

        backend = self._workplace.backend(plan.backend)
        return await make_ready(backend, plan, loading, lambda: self._available(plan))

    def _handed_over(self, id_: str, subject: Subject, digest: Attachment) -> Attachment | None:
        """The digest for the window that shows the draft; else it goes into the draft at once."""
        if id_ == self._talks.shown:
            return digest
        files = list(subject.others)
        files.insert(max(0, subject.index), digest)
        typed = subject.typed if subject.index >= 0 else ""
        if self._draft(id_) == subject.draft:
            self._keeping.keep_draft(id_, join_message(typed, files))
            self._keeping.save()
        return None

    # ---- part by part ---------------------------------------------------------------------------

    async def ask_parts(self, id: str, model: str = "") -> str:
        """Ask about the first part of what does not fit, the others waiting; the conversation's id.

        Told: PartsWaiting. `model` is for a new conversation. "" when the draft fits.
        """
        seen = await self._look(id)
        if seen is None or seen.part_room < LEAST_ROOM:
            return ""
        subject = seen.subject
        pieces = await asyncio.to_thread(plan_pieces, subject.text, seen.part_room, seen.weigh)
        question = subject.typed if subject.index >= 0 else ""
        name = subject.name or translate("Fitting", "Your message")
        following = _Following(question, name, pieces)
        return await self._ask_next(id, following, subject.others, model)

    async def next_part(self, id: str) -> None:
        """Ask about the next part that waits in a conversation."""
        following = self._following.get(id)
        if following is not None:
            await self._ask_next(id, following)

    async def end_parts(self, id: str) -> None:
        """Ask about no more parts."""
        self._following.pop(id, None)
        self._tell(PartsWaiting(id))

    async def waiting(self, id: str) -> PartsWaiting:
        """What waits in a conversation."""
        following = self._following.get(id)
        if following is None:
            return PartsWaiting(id)
        total, asked = len(following.pieces), following.asked
        return PartsWaiting(id, following.name, asked, total, following.pieces[asked])

    async def _ask_next(
        self,
        id_: str,
        following: _Following,
        others: tuple[Attachment, ...] = (),
        model: str = "",
    ) -> str:
        total, number = len(following.pieces), following.asked + 1
        title = translate("Fitting", "{name} (part {number} of {total})").format(
            name=following.name, number=number, total=total
        )
        part = Attachment.of(title, following.pieces[number - 1].text)
        images = None if number == 1 else ()
        text = join_message(following.question, (*others, part))
        id_ = await self._send(id_ or None, text, model, images)
        following.asked = number
        if number < total:
            self._following[id_] = following
        else:
            self._following.pop(id_, None)
        self._tell(await self.waiting(id_))
        return id_

    def _draft(self, id_: str) -> str:
        return self._keeping.drafts.get(id_, "")

    def _tell(self, value: Digesting | PartsWaiting) -> None:
        self._talks.tell(value)
