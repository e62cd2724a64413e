"""Turns: one after the other in a conversation, one at a time for each model of a server.

::

    send, edit, answer, compact, model ─▶ the conversation's queue ─▶ its task, work by work:
        wait for the backend ─▶ starter here? ─▶ session ─▶ events ─▶ items, notices, meter

Promises:

- What was typed is on the disk, as a message or as one that waits, when the asking returns.
- A fault becomes a failed reply in its place, a bug of ours too, with a saved report.
- After a stop nothing that waited is sent: it is handed back.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Literal, cast

from app.client.keeping import Keeping
from app.client.live import LiveReply, fault_words
from app.client.models import Models
from app.client.resting import put_away, within
from app.client.talk import Talk, Work
from app.client.talks import Level, Talks
from app.client.values import Notice, RowsChanged
from app.items import LIVE, reminder_words
from app.sentences import localized
from app.wiring import Workplace
from app.words import joined as joined_words
from app.words import translate
from engine import events
from engine.errors import (
    BackendFailed,
    BackendUnreachable,
    Bug,
    EnvironmentFault,
    SettingsUnusable,
    WindowBlocked,
)
from engine.events import Event
from engine.models import STARTER, ModelName
from engine.session import Session
from engine.transcript import Message, ModelChange, user
from engine.undoing import undoing_entry

_STOP_SECONDS = 0.4
"""What stops is waited for this long when everything ends."""
_MODEL_BROKE = (BackendFailed, BackendUnreachable)


class Turns:
    """The running and waiting turns of all conversations.

    Args:
        workplace: store, backends, sessions.
        models: windows, and the starter's fetch.
        keeping: what was read, and what not.
        talks: the conversations in use.
    """

    def __init__(
        self,
        workplace: Workplace,
        models: Models,
        keeping: Keeping,
        talks: Talks,
    ) -> None:
        self._workplace = workplace
        self._models = models
        self._keeping = keeping
        self._talks = talks
        self._locks: dict[str, asyncio.Lock] = {}
        self._users: dict[str, Talk] = {}  # by queue: who used it last
        self._is_closing = self._is_over = False

    # ---- asking ---------------------------------------------------------------------------------

    def ask(self, id_: str, work: Work) -> None:
        """Have something done after what is being done; a message that must wait is kept."""
        talk = self._talks.talk(id_)
        self._number(talk, work)
        talk.queue.append(work)
        self._have_way(talk)
        self._begin(talk)

    def ask_instead(self, id_: str, work: Work) -> None:
        """Have something done now: what runs is stopped for it, what waits comes after."""
        talk = self._talks.talk(id_)
        self._number(talk, work)
        talk.queue.appendleft(work)
        self._halt(talk)
        self._begin(talk)

    def _number(self, talk: Talk, work: Work) -> None:
        talk.go_on()
        work.id = talk.new_id()
        work.when_ms = time.time_ns() // 1_000_000

    def _begin(self, talk: Talk) -> None:
        if talk.task is None:
            self._talks.replan(talk)
            talk.task = asyncio.create_task(self._run(talk))
            self._talks.tell(RowsChanged())
        self._talks.keep_waiting(talk)
        self._talks.show(talk)

    def take_back(self, id_: str, item_id: str) -> Work | None:
        """Take a waiting message out of the queue; None if it does not wait any more."""
        talk = self._talks.talk(id_)
        for work in talk.queue:
            if work.says and item_id == f"{LIVE}said:{work.id}":
                talk.queue.remove(work)
                self._talks.keep_waiting(talk)
                self._talks.show(talk)
                return work
        return None

    def stop(self, id_: str) -> str:
        """Stop what runs; the texts that waited, which are not sent now (pictures: DraftImages)."""
        talk = self._talks.talk(id_)
        waited = self._talks.hand_back(talk)
        self._halt(talk)
        self._talks.keep_waiting(talk)
        self._talks.show(talk)
        return waited

    def _halt(self, talk: Talk) -> None:
        """Stop the running turn, whatever it does."""
        if talk.work is None:
            return
        talk.stop_asked = True
        if talk.is_streaming and talk.session is not None:
            talk.session.stop()
        elif talk.preparing is not None:
            talk.preparing.cancel()

    def _have_way(self, talk: Talk) -> bool:
        """Stop what nobody asked for, for what somebody does; whether there was such."""
        is_idle = talk.work is not None and talk.work.is_idle
        if is_idle:
            self._halt(talk)
        return is_idle

    def _free(self, queue: str) -> None:
        """The same of whatever conversation uses what the queue is for."""
        if (user := self._users.get(queue)) is not None:
            self._have_way(user)

    @asynccontextmanager
    async def between(self, queue: str) -> AsyncIterator[None]:
        """Have a model to oneself, between turns; what it has read for a conversation is kept."""
        self._free(queue)
        async with self._locks.setdefault(queue, asyncio.Lock()):
            if (talk := self._users.pop(queue, None)) is not None:
                await put_away(talk)
            yield

    async def rest(self, talk: Talk) -> None:
        """Wait for what follows a reply that is there: the branch may not be changed under it.

        Raises EnvironmentFault while one is written.
        """
        if talk.task is not None and (self._have_way(talk) or talk.is_answered):
            await asyncio.wait({talk.task})
        if talk.is_running:
            raise EnvironmentFault(
                translate("Client", "A reply is being written."),
                translate("Client", "Stop it first, or wait until it is there."),
            )

    # ---- the task -------------------------------------------------------------------------------

    async def _run(self, talk: Talk) -> None:
        """Do what is in the queue, then rest."""
        try:
            while talk.queue and not self._is_closing:
                talk.work, talk.stop_asked, talk.is_odd = talk.queue.popleft(), False, False
                await self._do(talk, talk.work)
        finally:
            talk.task = None
            with self._talks.guarding(talk.id):
                self._come_to_rest(talk)

    def _come_to_rest(self, talk: Talk) -> None:
        if self._is_gone(talk):
            return
        if talk.id != self._talks.shown:
            self._keeping.unread.add(talk.id)
            self._keeping.note()
            self._keeping.save()
        self._talks.tell(RowsChanged())

    async def _do(self, talk: Talk, work: Work) -> None:
        """One piece of work, to whatever end it comes."""
        try:
            if work.kind == "model":
                self.switch(talk, work.text)
            else:
                await self._take_turn(talk, work)
        except EnvironmentFault as fault:
            self._fail(talk, work, fault)
        except Exception as error:  # noqa: BLE001  # our bug must not end the conversation
            self._fail(talk, work, error)
        finally:
            talk.work, talk.live, talk.asked = None, None, ""
            self._settle(talk)

    def _is_gone(self, talk: Talk) -> bool:
        """Whether the conversation was deleted, or everything is over: nothing is told then."""
        return self._is_over or talk.id not in self._talks

    def _settle(self, talk: Talk) -> None:
        """Show what is stored, unless everything is over."""
        if not self._is_gone(talk):
            with self._talks.guarding(talk.id):
                self._talks.keep_waiting(talk)
                self._talks.refresh(talk, anew=talk.is_odd)

    async def _take_turn(self, talk: Talk, work: Work) -> None:
        name = self._workplace.model_name(talk.model or None)
        with_reply = work.kind != "compact"
        talk.live = LiveReply(talk.new_id(), name.label, work.when_ms, with_reply=with_reply)
        self._talks.refresh(talk)
        lock = self._locks.setdefault(name.queue, asyncio.Lock())
        talk.preparing = asyncio.create_task(self._prepare(talk, name, lock))
        try:
            await talk.preparing
        except asyncio.CancelledError:
            if not talk.stop_asked:
                raise  # the program ends
            self._keep_unsaid(talk, work)
            return
        finally:
            talk.preparing = None
        try:
            if talk.stop_asked:  # at the very moment it was prepared
                self._keep_unsaid(talk, work)
            else:
                await self._stream(talk, work, name)
        finally:
            lock.release()

    # ---- before the turn ------------------------------------------------------------------------

    async def _prepare(self, talk: Talk, name: ModelName, lock: asyncio.Lock) -> None:
        """Wait for the backend and have a session; the lock is held then, and else not."""
        if lock.locked():
            self._free(name.queue)
            self._say_waiting(talk, name)
        await lock.acquire()
        try:
            other = self._users.get(name.queue)
            self._users[name.queue] = talk
            if other is not None and other is not talk:
                await put_away(other)
            self._require_sound_settings()
            if name.label == STARTER and not self._workplace.has_starter:
                await self._models.fetch_starter(
                    lambda done, total: self._say_fetch(talk, done, total)
                )
            if talk.session is None:
                talk.session = self._new_session(talk, name)
            elif talk.settings != self._workplace.settings:
                self._renew_session(talk, talk.session, name)
            talk.settings = self._workplace.settings
        except BaseException:
            lock.release()
            raise

    def _say_waiting(self, talk: Talk, name: ModelName) -> None:
        other = self._users.get(name.queue)
        if talk.live is not None and other is not None:
            with suppress(EnvironmentFault):  # it may be gone
                talk.live.wait_for(self._workplace.store.session(other.id).title)
            self._talks.show(talk)

    def _say_fetch(self, talk: Talk, done: int, total: int) -> None:
        if talk.live is not None:
            talk.live.load(round(100 * done / max(1, total)), 100)
            self._talks.show(talk)

    def _require_sound_settings(self) -> None:
        """A conversation must not run with other settings than its user believes."""
        workplace = self._workplace
        if workplace.settings.problems and (problems := workplace.read_settings_again().problems):
            remedy = translate("Client", "Mend it in {file}.")
            raise SettingsUnusable(
                str(problems[0]), remedy.format(file=workplace.paths.settings_file)
            )

    def _new_session(self, talk: Talk, name: ModelName) -> Session:
        workplace = self._workplace
        workplace.store.set_model(talk.id, name.label)
        plan = workplace.plan(name, (workplace.kept_options(talk.id),))
        return workplace.session(talk.id, plan)

    def _renew_session(self, talk: Talk, session: Session, name: ModelName) -> None:
        """The user changed a setting: it holds from this turn on."""
        plan = self._workplace.plan(name, (self._workplace.kept_options(talk.id),))
        self._workplace.renew(session, plan)

    def switch(self, talk: Talk, model: str) -> None:
        """Go on with another model. Raises ModelMissing for what names none."""
        workplace = self._workplace
        name = workplace.model_name(model)
        talk.model = name.label
        talk.noticed.clear()
        plan = workplace.plan(name, (workplace.kept_options(talk.id),))
        if talk.session is not None:
            talk.session.switch(plan, workplace.backend(name.backend))
        else:
            workplace.store.append(talk.id, ModelChange(name.label))
            workplace.store.set_model(talk.id, name.label)

    # ---- the turn -------------------------------------------------------------------------------

    async def _stream(self, talk: Talk, work: Work, name: ModelName) -> None:
        """Run the session, and follow it to its end."""
        assert talk.session is not None
        talk.is_streaming = True
        try:
            async with aclosing(self._events(talk, work, talk.session)) as stream:
                async for event in stream:
                    self._take(talk, work, name, event)
        finally:
            talk.is_streaming = False

    def _events(self, talk: Talk, work: Work, session: Session) -> AsyncGenerator[Event, None]:
        match work.kind:
            case "compact":
                self._begin_anew(talk, work, session)
                stream = session.compact(work.text, "idle" if work.is_idle else "manual")
            case "answer":
                self._go_before(talk, work.entry)
                stream = session.answer()
            case _:
                self._go_before(talk, work.entry)
                stream = session.send(user(work.text, work.images))
        return cast("AsyncGenerator[Event, None]", stream)

    def _begin_anew(self, talk: Talk, work: Work, session: Session) -> None:
        """A compaction is made anew: from the originals, perhaps by another model."""
        if work.entry:
            body = undoing_entry(work.entry, undone=True)
            self._workplace.store.append(talk.id, body, durable=True)
        if work.model:
            self._workplace.renew(session, session.plan, work.model)
            talk.settings = None  # the usual writer comes back with the next turn

    def _go_before(self, talk: Talk, entry: str) -> None:
        """Continue from before an entry: what follows is another version of it."""
        if entry:
            store = self._workplace.store
            store.set_leaf(talk.id, store.entry(talk.id, entry).parent)

    def _take(self, talk: Talk, work: Work, name: ModelName, event: Event) -> None:
        """One event of a turn: what it changes, and what is told of it."""
        is_shown = talk.live is not None and talk.live.take(event)
        match event:
            case events.TurnStarted(entry=entry):
                work.is_started = is_shown = True
                self._talks.keep_waiting(talk)
                talk.asked = entry.id
                self._talks.replan(talk)
                self._talks.tell(RowsChanged())
            case events.ModelLoading(fraction=fraction):
                self._models.note_loading(name, fraction)
            case events.PromptReading():
                self._models.note_loaded(name)
                self._talks.tell_window(talk)
            case events.Notice(level=level, code=code, text=text):
                self._talks.tell_window(talk)
                self._talks.notice(talk, level, f"{code}: {text}", text)
            case events.CompactionEnded() | events.CompactionDue():
                self._take_compaction(talk, work, event)
            case events.Receipt():
                used = event.sent_tokens + event.usage.written_tokens
                self._talks.tell_meter(talk, used, event.window_tokens, event.sent_kind)
                self._talks.tell_window(talk)  # of a server, which does not say what it reads
            case events.TurnEnded():
                self._talks.note_refused(talk, work, event)
                self._after_turn(talk, name, event)
                return  # shown as what is stored, by whoever called
        if is_shown:
            self._talks.show(talk)

    def _take_compaction(
        self, talk: Talk, work: Work, event: events.CompactionEnded | events.CompactionDue
    ) -> None:
        if isinstance(event, events.CompactionDue):
            if event.mode == "ask":
                talk.due = event
            else:
                self._talks.tell(Notice(talk.id, "info", reminder_words(event)))
            return
        if work.entry and work.kind == "compact" and event.outcome != "done":
            body = undoing_entry(work.entry, undone=False)
            self._workplace.store.append(talk.id, body, durable=True)
        is_ours = isinstance(event.error, Bug)  # told otherwise, with its report
        talk.unfolded = event.text if event.outcome == "failed" and not is_ours else ""
        self._after_compaction(talk, event)

    def _after_compaction(self, talk: Talk, ended: events.CompactionEnded) -> None:
        if ended.outcome == "done":
            ready = talk.session.ready if talk.session else None
            if ready is not None:
                self._talks.tell_meter(talk, ended.after_tokens, ready.window.tokens, "exact")
        if isinstance(ended.error, Bug):
            self._talks.tell_failure(talk.id, ended.error)
        elif text := self._compaction_words(talk, ended):
            level: Level = "warning" if ended.outcome == "failed" else "info"
            card = ended.entry.id if ended.entry is not None else ""
            action: Literal["", "undo_compaction"] = "undo_compaction" if card else ""
            self._talks.tell(Notice(talk.id, level, text, action, card))

    def _compaction_words(self, talk: Talk, ended: events.CompactionEnded) -> str:
        """What is told of a compaction; nothing of a good one to those who do not want it."""
        settings = self._workplace.settings
        if ended.is_silent or (ended.outcome == "done" and not settings["compaction.notify"]):
            return ""
        if ended.outcome != "done" or not settings["compaction.verbose"]:
            return ended.text
        count = self._workplace.store.session(talk.id).compaction_count
        said = translate("Client", "Auto-compaction complete (count {count}).")
        return joined_words(localized(ended.text), said.format(count=count))

    def _after_turn(self, talk: Talk, name: ModelName, ended: events.TurnEnded) -> None:
        if ended.entry is not None and talk.live is not None:
            talk.known[ended.entry.id] = talk.live.reply
        error = ended.error
        if isinstance(error, WindowBlocked):
            self._talks.tell_blocked(talk, name.label, error)
        talk.is_odd = ended.entry is None and error is not None  # it may lie beside the path
        if isinstance(error, _MODEL_BROKE):
            self._models.note_failed(name)
        is_told = ended.entry is not None and not isinstance(error, Bug)  # by the failed reply
        if error is not None and not is_told and not self._is_gone(talk):
            self._talks.tell_failure(talk.id, error)

    # ---- other ends -----------------------------------------------------------------------------

    def _keep_unsaid(self, talk: Talk, work: Work) -> None:
        """A message that was stopped before it was sent is in the conversation all the same."""
        if work.says:
            self._go_before(talk, work.entry)
            self._workplace.store.append(talk.id, user(work.text, work.images), durable=True)
            work.is_started = True

    def _fail(self, talk: Talk, work: Work, error: Exception) -> None:
        """A turn that could not even begin: a failed reply where the reply would be."""
        if self._is_gone(talk):
            return
        with self._talks.guarding(talk.id):
            self._keep_unsaid(talk, work)
            question = self._question(talk)
            if not isinstance(error, EnvironmentFault) or question is None or not work.wants_reply:
                self._talks.tell_failure(talk.id, error)
            if question is not None and work.wants_reply:
                self._store_failed(talk, question, error)

    def _question(self, talk: Talk) -> str | None:
        """The last thing the user said."""
        for entry in reversed(self._workplace.store.path(talk.id)):
            if isinstance(entry.body, Message) and entry.body.role == "user":
                return entry.id
        return None

    def _store_failed(self, talk: Talk, question: str, error: Exception) -> None:
        store, live = self._workplace.store, talk.live
        sentence, remedy = fault_words(error)
        store.set_leaf(talk.id, question)
        running = store.start_reply(talk.id, question, talk.model)
        words = f"{sentence} {remedy}".strip()
        message = Message("assistant", model=talk.model, stop_reason="failed", error=words)
        entry = store.finish_reply(running, message)
        if live is not None:
            live.fail(error)
            talk.known[entry.id] = live.reply

    # ---- the end --------------------------------------------------------------------------------

    async def close(self) -> None:
        """Stop everything, within a moment. What waited is kept, and is a draft at the next start."""
        self._is_closing = True
        tasks = {talk.task for talk in self._talks.all() if talk.task is not None}
        for talk in self._talks.all():
            self._halt(talk)
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_STOP_SECONDS)
            for task in late:
                task.cancel()
        else:
            await within(_STOP_SECONDS, self._put_all_away())
        self._is_over = True  # what hangs and ends later finds the store closed, and opens none

    async def _put_all_away(self) -> None:
        for talk in self._users.values():
            await put_away(talk)
