"""What can be done with a compaction afterwards: see its originals, edit, undo, make it anew.

All of it is appended to the conversation, so that all of it can be undone.
"""

from collections.abc import Callable

from app.client.talk import Talk, Work
from app.client.talks import Talks
from app.client.turns import Turns
from app.wiring import Workplace
from app.words import translate
from engine.compact.plan import PINNED_SHARE
from engine.errors import EnvironmentFault
from engine.folding import plan_edited
from engine.settings import save_setting
from engine.tokens import estimate_body
from engine.transcript import Body, Compaction, Entry, Pin
from engine.undoing import undoing_entry


class Folds:
    """The compactions of all conversations; cards are named by the ids of their items.

    Every method may raise EnvironmentFault, with a sentence and what to do.

    Args:
        workplace: the store.
        talks: the conversations in use.
        turns: what runs in them.
        recount: tells how full a conversation's window is now.
        budget: tokens a prompt of a conversation may have; 0 while that is not known.
    """

    def __init__(
        self,
        workplace: Workplace,
        talks: Talks,
        turns: Turns,
        recount: Callable[[Talk], None],
        budget: Callable[[Talk], int],
    ) -> None:
        self._workplace = workplace
        self._talks = talks
        self._turns = turns
        self._recount = recount
        self._budget = budget

    async def toggle_originals(self, id: str, card: str) -> None:
        """Show the messages a compaction stands for, or hide them again."""
        self._open(id, card, opened=card not in self._talks.talk(id).opened)

    async def show_originals(self, id: str) -> bool:
        """Show what is folded, to be searched or looked at; False when nothing is."""
        talk = self._planned(id)
        card = talk.plan.last_fold if talk.plan is not None else ""
        if card and card not in talk.opened:
            self._open(id, card, opened=True)
        return bool(card)

    def _open(self, id: str, card: str, *, opened: bool) -> None:
        talk = self._planned(id)
        (talk.opened.add if opened else talk.opened.discard)(card)
        if talk.plan is not None:
            talk.plan.toggle_originals(card, opened=opened)
            talk.base = talk.plan.items(running=talk.wants_reply)
        self._talks.show(talk)

    async def summary(self, id: str, card: str) -> str:
        """The summary of a compaction, as it is now."""
        body = self._entry(id, card).body
        return body.summary if isinstance(body, Compaction) else ""

    async def edit(self, id: str, card: str, text: str) -> None:
        """Put other words in the place of a summary: the next request carries them."""
        self._append(id, plan_edited(self._entry(id, card), text))

    async def undo(self, id: str, card: str) -> None:
        """Have the messages themselves sent again, for as long as they fit."""
        self._append(id, undoing_entry(card, undone=True))

    async def restore(self, id: str, card: str) -> None:
        """Have the summary count again."""
        self._append(id, undoing_entry(card, undone=False))

    async def redo(self, id: str, card: str, focus: str = "", model: str = "") -> None:
        """Have the summary written anew from the originals; the old one stays until it is there.

        `focus` says what to keep above all, `model` names another model to write it.
        """
        self._entry(id, card)
        self._turns.ask(id, Work("compact", focus, entry=card, model=model))

    async def put_off(self, id: str) -> None:
        """Not now: asked again when the conversation has grown."""
        talk = self._talks.talk(id)
        if talk.due is not None and talk.session is not None:
            talk.session.put_off(talk.due)
        talk.due = None
        self._talks.show(talk)

    async def always(self, id: str) -> None:
        """Fold by itself and tell, from now on; and now."""
        paths = self._workplace.paths
        paths.ensure()
        save_setting(paths.settings_file, "compaction.mode", "automatic")
        self._workplace.read_settings_again()
        self._turns.ask(id, Work("compact"))

    async def pin(self, id: str, entry_id: str, pinned: bool) -> None:  # noqa: FBT001  # a state
        """Never fold a message, or no longer: from the next compaction on.

        Raises EnvironmentFault when the pins would have more than a quarter of the prompt budget.
        """
        entry = self._workplace.store.entry(id, entry_id)
        if pinned:
            self._require_room_for_pin(self._planned(id), entry)
        self._append(id, Pin(entry_id, pinned))

    def _require_room_for_pin(self, talk: Talk, entry: Entry) -> None:
        budget = self._budget(talk)
        others = talk.plan.pinned if talk.plan is not None else frozenset()
        held = sum(estimate_body(e.body) for e in talk.path if e.id in others - {entry.id})
        size, most = estimate_body(entry.body), int(budget * PINNED_SHARE)
        if budget and held + size > most:
            raise EnvironmentFault(
                translate(
                    "Client",
                    "Pinned messages may have {most} tokens together; this one has about {size}, "
                    "the others have {held}.",
                ).format(most=f"{most:,}", size=f"{size:,}", held=f"{held:,}"),
                translate(
                    "Client",
                    "Unpin another one first, or copy what matters into a shorter message.",
                ),
            )

    def _append(self, id: str, body: Body) -> None:
        talk = self._talks.talk(id)
        self._turns.require_rest(talk)
        self._workplace.store.append(id, body, durable=True)
        self._talks.refresh(talk)
        self._recount(talk)

    def _planned(self, id: str) -> Talk:
        talk = self._talks.talk(id)
        if talk.plan is None:
            self._talks.replan(talk)
        return talk

    def _entry(self, id: str, card: str) -> Entry:
        talk = self._planned(id)
        entry = talk.plan.compaction(card) if talk.plan is not None else None
        if entry is None:
            raise EnvironmentFault(
                translate("Client", "This compaction is not part of the conversation any more.")
            )
        return entry
