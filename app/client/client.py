"""The client: one object with everything a window can ask for."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any

from app.client.context import Context
from app.client.fitting import Fitting
from app.client.folds import Folds
from app.client.idle import Idle
from app.client.images import Images, images_of, names_of, require_words
from app.client.keeping import Keeping
from app.client.library import Library
from app.client.models import Models, WindowFacts
from app.client.preferences import Preferences
from app.client.pulls import Pulls
from app.client.resting import within
from app.client.setting_aside import SettingAside
from app.client.shelf import UNDO_SECONDS, ExportKind, Shelf
from app.client.status import status_words
from app.client.system import SystemPrompts
from app.client.talk import Talk, Work
from app.client.talks import Talks, window_known
from app.client.turns import Turns
from app.client.values import (
    Conversation,
    ConversationRow,
    ModelRow,
    Notice,
    RowsChanged,
    Told,
)
from app.client.window_truth import WindowTruth
from app.items import LIVE, UNANSWERED, Tree, removal
from app.typed import AttachedImage, Attachment
from app.wiring import Workplace, kept_options
from app.words import translate
from engine.errors import ConversationMissing, EnvironmentFault
from engine.settings import ModelSettings
from engine.tokens import Count, estimate_body, plan_count
from engine.undoing import effective_path

_CLOSE_SECONDS = 0.3
"""Backends that take longer to close are left behind; their processes end with this one."""
_DRAFT_SECONDS = 1.0
"""A draft is on the disk this long after it was changed."""
_COUNTED_ENTRIES = 100
"""A longer path without a reply that was measured is not estimated when it is opened."""
_COMPLETE_SECONDS = 0.15
"""What is above the end of a long conversation comes this long after it: it is shown first."""


class Client:
    """Everything a window can ask of the engine; used on one loop's thread, made there.

    Every method may raise EnvironmentFault, with a sentence and what to do.

    Attributes:
        system: system prompts, and those that are kept.
        folds: what can be done with compactions afterwards.
        fitting: what can be done with a draft that does not fit.
        idle: folds while nobody uses the conversation.
        library: single models: what they are, unloaded, deleted. pulls: fetches Ollama's.
        images: pictures that go along with messages.

    Args:
        workplace: store, settings, backends; closed by `close`.
        tell: called, on the loop's thread, with what the window must know.
        undo_seconds: how long deleting a conversation can be undone.
    """

    def __init__(
        self,
        workplace: Workplace,
        tell: Callable[[Told], None],
        *,
        undo_seconds: float = UNDO_SECONDS,
    ) -> None:
        self._workplace = workplace
        self._tell = tell
        self._keeping = Keeping(workplace.paths.data_dir / "window.json")
        self._models = Models(workplace, tell)
        self._talks = Talks(workplace, self._models, self._keeping, tell)
        self._turns = Turns(workplace, self._models, self._keeping, self._talks)
        self._shelf = Shelf(workplace, self._keeping, self._talks, self._turns, undo_seconds)
        self.preferences = Preferences(workplace, self._models, self._talks, self._tell_facts)
        self.context = Context(workplace, self._keeping, self._talks, self._models)
        self.idle = Idle(workplace, self.context, self._talks, self._turns)
        self.truth = WindowTruth(workplace, self._models, self._talks, self.preferences)
        self.pulls = Pulls(workplace, self._models, self._keeping, tell, self._report)
        self.library = Library(
            workplace, self._models, self._talks, self._keeping, tell, self._tell_facts
        )
        self.folds = Folds(
            workplace,
            self._talks,
            self._turns,
            lambda talk: self._window(talk).budget,
        )
        known = (workplace, self._keeping, self._talks, self._models, self._turns)
        self.system = SystemPrompts(
            workplace, self._talks, self._turns, self._keeping, self.context.renew
        )
        self.fitting = Fitting(*known, self.context.view, self.send)
        self.images = Images(self._keeping, tell, self._note_draft)
        self._aside = SettingAside()
        self._saving: asyncio.TimerHandle | None = None
        self._learning: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Open the store and tell what was noticed about it and the settings.

        Raises StoreUnusable and SettingsUnusable when there is nothing to work with.
        """
        for problem in self._workplace.settings.problems:
            self._tell(Notice("", "warning", str(problem)))
        for notice in self._workplace.store.notices:
            self._tell(Notice("", "warning", notice))
        self._shelf.finish_deletions(self._keeping.going)
        self._keeping.save()
        self.pulls.start()

    async def close(self) -> None:
        """Stop everything within a moment, keep what was typed, close backends and store."""
        if self._saving is not None:
            self._saving.cancel()
        for task in self._learning:
            task.cancel()
        self.idle.close()
        self.context.close()
        self.fitting.close()
        self._shelf.close()
        await self.pulls.close()
        await self._models.cancel_fetch()
        await self._turns.close()
        self._keeping.save()
        try:
            await within(_CLOSE_SECONDS, self._workplace.close())
        finally:
            self._workplace.close_store()

    # ---- conversations --------------------------------------------------------------------------

    async def conversations(self, search: str = "") -> tuple[ConversationRow, ...]:
        """The list, the last changed first; with `search`, what holds its words."""
        return self._shelf.rows(search)

    async def open(self, id: str | None) -> Conversation:
        """A conversation to be shown; None for a new one. It counts as read."""
        self._talks.rest(id or "")
        self._aside.end()
        self.context.show_anew()
        if not id:
            return self._blank()
        talk = self._talks.talk(id)
        if talk.plan is None and not talk.is_running and self._talks.plan_tail(talk):
            self._in_background(self._complete(talk))
        else:
            self._talks.replan(talk)
        conversation = self._described(talk)
        talk.note_told()
        if id in self._keeping.unread:
            self._keeping.unread.discard(id)
            self._keeping.note()
            self._tell(RowsChanged())
        return conversation

    async def resume(self, id: str) -> Conversation:
        """The conversation that was open when the window was closed; a new one if it is gone."""
        try:
            return await self.open(id)
        except ConversationMissing:
            return self._blank()

    async def _complete(self, talk: Talk) -> None:
        """The rest of a long conversation, when its end was shown."""
        await asyncio.sleep(_COMPLETE_SECONDS)
        if talk.id == self._talks.shown and talk.plan is None:
            with self._talks.guarding(talk.id):
                self._talks.refresh(talk)
                self._tell(window_known(talk.id, self._window(talk)))
        self._aside.set(len(talk.path))

    def _described(self, talk: Talk) -> Conversation:
        """A conversation as it is now."""
        row = self._workplace.store.session(talk.id)
        facts = self._window(talk)
        used = self._used(talk, row.context_tokens)
        return Conversation(
            talk.id,
            row.title,
            facts.model,
            talk.items(),
            self._keeping.drafts.get(talk.id, ""),
            facts.words,
            facts.tokens,
            facts.budget,
            used.tokens,
            facts.guard,
            facts.guard_text,
            used.kind,
            talk.is_running,
            talk.id in self._keeping.pinned,
            facts.think,
            self._keeping.images.get(talk.id, ()),
            facts.sees_images,
        )

    def _blank(self) -> Conversation:
        facts = self._facts("", self._keeping.model, ModelSettings())
        return Conversation(
            "",
            "",
            facts.model,
            draft=self._keeping.drafts.get("", ""),
            window=facts.words,
            window_tokens=facts.tokens,
            budget_tokens=facts.budget,
            guard=facts.guard,
            guard_text=facts.guard_text,
            think=facts.think,
            images=self._keeping.images.get("", ()),
            sees_images=facts.sees_images,
        )

    def _window(self, talk: Talk) -> WindowFacts:
        """What the loaded model has, else what it would have."""
        if talk.window is not None and talk.window.model == talk.model:
            return talk.window
        return self._facts(talk.id, talk.model, kept_options(talk.path))

    def _facts(self, id_: str, model: str, options: ModelSettings) -> WindowFacts:
        """What can be said at once; the rest is asked for and told."""
        try:
            name = self._workplace.model_name(model or None)
        except EnvironmentFault as fault:
            return WindowFacts(model, guard="block", guard_text=str(fault))
        facts = self._models.known_window(name, (options,))
        if facts.guard == "unknown" or facts.is_remembered:

            async def learn() -> None:
                try:
                    learned = await self._models.learn_window(name, (options,))
                except EnvironmentFault as fault:
                    learned = replace(facts, guard="block", guard_text=str(fault))
                self._tell(window_known(id_, learned))
                self.context.renew(id_)

            self._in_background(learn())
        return facts

    def _tell_facts(self) -> None:
        """Window and meter of what is shown, again: a setting was changed."""
        shown = self._talks.shown
        self.context.renew()
        if not shown:
            self._tell(window_known("", self._facts("", self._keeping.model, ModelSettings())))
            return
        talk = self._talks.talk(shown)
        self._tell(window_known(shown, self._window(talk)))

    def _report(self, error: Exception) -> None:
        self._talks.tell_failure("", error)

    def _in_background(self, doing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(doing)
        self._learning.add(task)
        task.add_done_callback(self._learning.discard)

    def _used(self, talk: Talk, context_tokens: int) -> Count:
        """How full the window is, from what is stored: nothing is loaded for it."""
        path = talk.path
        path = effective_path(path)
        count = plan_count(path[-_COUNTED_ENTRIES:], estimate_body, model=talk.model)
        if count.kind == "estimated" and len(path) > _COUNTED_ENTRIES:
            return Count(context_tokens, "estimated")
        return count

    async def rename(self, id: str, title: str) -> None:
        """Give a conversation another title."""
        self._shelf.rename(id, title)

    async def pin(self, id: str, pinned: bool) -> None:  # noqa: FBT001  # the window's signature
        """Keep it at the top of the list, or no longer."""
        self._shelf.pin(id, pinned=pinned)

    async def delete(self, id: str) -> None:
        """Out of sight; gone for good after some seconds, unless `undelete` comes before."""
        self._shelf.delete(id)

    async def undelete(self, id: str) -> None:
        """Have a conversation back."""
        self._shelf.undelete(id)

    async def duplicate(self, id: str) -> str:
        """A copy with every branch; its id."""
        return self._shelf.duplicate(id)

    async def export(self, id: str, path: str, kind: ExportKind) -> None:
        """Write it to a file."""
        self._shelf.export(id, path, kind)

    async def keep_draft(self, id: str, text: str) -> None:
        """Remember what is typed and not sent; it is on the disk within a second."""
        if self._keeping.keep_draft(id, text):
            self._note_draft(id)
        else:
            self.context.renew(id)

    async def read_file(self, path: str) -> Attachment | AttachedImage:
        """A file to go along with a message: a picture, or a text with its tokens (estimated)."""
        return await self.images.read(path)

    async def edited(self, id: str, entry_id: str) -> str:
        """What was written in the place of a message and not sent; "" for nothing."""
        return self._keeping.drafts.get(_edit_name(id, entry_id), "")

    async def keep_edited(self, id: str, entry_id: str, text: str) -> None:
        """Remember what is written in the place of a message; "" when it was given up."""
        if not entry_id.startswith(LIVE):
            await self.keep_draft(_edit_name(id, entry_id), text)

    def _note_draft(self, id_: str) -> None:
        if self._saving is None:
            loop = asyncio.get_running_loop()
            self._saving = loop.call_later(_DRAFT_SECONDS, self._save)
        self.context.renew(id_)

    def _save(self) -> None:
        self._saving = None
        self._keeping.save()

    # ---- turns ----------------------------------------------------------------------------------

    async def send(
        self,
        id: str | None,
        text: str,
        model: str = "",
        images: Sequence[AttachedImage] | None = (),
    ) -> str:
        """Say something; the conversation's id, at once. A running reply is waited for.

        `id` None (or "") begins a conversation, with `model` if it is named. `images` go along,
        None for those of the draft.
        """
        sent = self.images.take(id or "", images)
        require_words(text, sent)
        if not id:
            name = self._workplace.model_name(model or self._keeping.model or None)
            id = self._shelf.create(text or names_of(sent), name.label)
            self._talks.rest(id)
            self._keeping.keep_draft("", "")
            if self._keeping.system:
                self._workplace.keep_options(id, ModelSettings(system_prompt=self._keeping.system))
                self._keeping.system = ""
        self._keeping.keep_draft(id, "")
        self._turns.ask(id, Work("send", text, images=sent))
        self.context.renew(id)
        return id

    async def stop(self, id: str) -> str:
        """Stop what runs, at any time; the texts that waited, to be put back into the composer."""
        return self._turns.stop(id)

    async def answer(self, id: str, entry_id: str = "") -> None:
        """Answer again: the last question, or that of the reply named. The older reply is kept."""
        entry_id = "" if entry_id.startswith((LIVE, UNANSWERED)) else entry_id
        self._turns.ask_instead(id, Work("answer", entry=entry_id))

    async def edit(self, id: str, entry_id: str, text: str) -> None:
        """Say something else instead: a new branch. One that still waits is changed."""
        if entry_id.startswith(LIVE):
            if (work := self._turns.take_back(id, entry_id)) is not None:
                self._turns.ask(id, Work("send", text, images=work.images))
            return
        images = images_of(self._workplace.store.entry(id, entry_id))
        require_words(text, images)
        self._turns.ask_instead(id, Work("edit", text, entry=entry_id, images=images))
        await self.keep_edited(id, entry_id, "")

    async def go_on(self, id: str, words: str = "") -> None:
        """Have a reply that was cut continued: the model is asked to, in `words`."""
        self._turns.ask(id, Work("send", words or translate("Client", "Continue.")))

    async def choose(self, id: str, entry_id: str) -> None:
        """Go to another version of a message, and to the end of its branch."""
        talk = self._talks.talk(id)
        await self._turns.rest(talk)
        tree = Tree(self._workplace.store.entries(id))
        self._workplace.store.set_leaf(id, tree.newest_leaf(entry_id))
        self._talks.refresh(talk, anew=True)

    async def delete_message(self, id: str, entry_id: str) -> str:
        """Take a message and everything after it out of sight; what waits is given back as text.

        If there are other versions of it, the nearest is shown in its place. `undo` undoes it.
        """
        if entry_id.startswith(LIVE):
            if (work := self._turns.take_back(id, entry_id)) is None:
                return ""
            self._talks.hand_back_images(id, work.images)
            return work.text
        talk, store = self._talks.talk(id), self._workplace.store
        await self._turns.rest(talk)
        entry, leaf = store.entry(id, entry_id), store.session(id).leaf
        tree = Tree(store.entries(id))
        store.append(id, removal(entry, removed=True), entry.parent, move_leaf=False)
        if any(step.id == entry_id for step in tree.path(leaf)):
            store.set_leaf(id, tree.instead_of(entry))
        talk.undo.append((entry_id, leaf))
        self._talks.refresh(talk, anew=True)
        return ""

    async def undo(self, id: str) -> bool:
        """Take back the last removal of a message in this conversation; False without one."""
        talk, store = self._talks.talk(id), self._workplace.store
        await self._turns.rest(talk)
        if not talk.undo:
            return False
        entry_id, leaf = talk.undo.pop()
        entry = store.entry(id, entry_id)
        store.append(id, removal(entry, removed=False), entry.parent, move_leaf=False)
        store.set_leaf(id, leaf)
        self._talks.refresh(talk, anew=True)
        return True

    async def compact(self, id: str, focus: str = "") -> None:
        """Fold older messages into a summary; `focus` says what to keep above all."""
        self._turns.ask(id, Work("compact", focus))

    async def reports_folder(self) -> str:
        """Where reports of our bugs are saved; made if it is not there."""
        folder = self._workplace.paths.reports_dir
        self._workplace.paths.ensure()
        folder.mkdir(parents=True, exist_ok=True)
        return str(folder)

    # ---- models ---------------------------------------------------------------------------------

    async def models(self) -> tuple[ModelRow, ...]:
        """Every model that can be chosen, with its window and what the guard says of it."""
        return await self._models.rows()

    async def model_problems(self) -> dict[str, str]:
        """Why a backend had no models when they were listed last, by backend."""
        return dict(self._models.problems)

    async def ollama_host(self) -> str:
        """Where Ollama answered when its models were listed last; "" if it did not."""
        return self._models.ollama_host()

    async def use_model(self, id: str | None, name: str) -> None:
        """Go on with another model; for a new conversation (None), begin with it."""
        label = self._workplace.model_name(name).label
        if not id:
            self._keeping.model = label
            self._keeping.note()
            self._keeping.save()
            self._tell(window_known("", self._facts("", label, ModelSettings())))
            self.context.renew("")
            return
        talk = self._talks.talk(id)
        if talk.is_running:
            self._turns.ask(id, Work("model", label))
            return
        self._turns.switch(talk, label)
        self._talks.refresh(talk)
        self._tell(window_known(id, self._window(talk)))
        self._tell(RowsChanged())

    async def fetch_starter(self) -> None:
        """Fetch the starter model, telling its progress; returns when it is here."""
        await self._models.fetch_starter()

    async def cancel_fetch(self) -> None:
        """Stop fetching it."""
        await self._models.cancel_fetch()

    async def add_gguf(self, path: str) -> str:
        """Put a GGUF file on the list of models; its name."""
        return self._models.add_file(path)

    async def status(self, id: str | None) -> str:
        """Model, window and counters of a conversation, as Markdown."""
        conversation = self._blank()
        if id:
            talk = self._talks.talk(id)
            self._talks.replan(talk)
            conversation = self._described(talk)
        row = self._workplace.store.session(id) if id else None
        return status_words(conversation, row)


def _edit_name(id_: str, entry_id: str) -> str:
    """Under what the text in the place of a message is kept."""
    return f"{id_}/{entry_id}"
