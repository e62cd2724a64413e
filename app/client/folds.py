"""What can be done with a compaction afterwards: see its originals, edit, undo, make it anew.

All of it is appended to the conversation, so that all of it can be undone.
"""

from collections.abc import Callable, Iterator, Sequence

from app.client.fit_values import Pinnable, PinsToChoose
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
from engine.transcript import Body, Compaction, Entry, Message, Pin
from engine.undoing import undoing_entry


class Folds:
    """The compactions of all conversations; cards are named by the ids of their items.

    Every method may raise EnvironmentFault, with a sentence and what to do.

    Args:
        workplace: the store.
        talks: the conversations in use.
        turns: what runs in them.
        budget: tokens a prompt of a conversation may have; 0 while that is not known.
    """

    def __init__(
        self,
        workplace: Workplace,
        talks: Talks,
        turns: Turns,
        budget: Callable[[Talk], int],
    ) -> None:
        self._workplace = workplace
        self._talks = talks
        self._turns = turns
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
        await self._rest(id)
        self._append(id, plan_edited(self._entry(id, card), text))

    async def undo(self, id: str, card: str) -> None:
        """Have the messages themselves sent again, for as long as they fit."""
        await self._rest(id)
        self._append(id, undoing_entry(card, undone=True))

    async def restore(self, id: str, card: str) -> None:
        """Have the summary count again."""
        await self._rest(id)
        self._append(id, undoing_entry(card, undone=False))

    async def redo(self, id: str, card: str, focus: str = "", model: str = "") -> None:
        """Have the summary written anew from the originals; the old one stays until it is there.

        `focus` says what to keep above all, `model` names another model to write it.
        """
        self._entry(id, card)
        self._turns.ask(id, Work("compact", focus, entry=card, model=model))

    async def pinnable(self, id: str, card: str) -> PinsToChoose:
        """The messages a compaction stands for, and the room that pins have among them."""
        talk, first = self._planned(id), self._entry(id, card).body
        assert isinstance(first, Compaction)
        pinned = talk.plan.pinned if talk.plan is not None else frozenset()
        messages = tuple(_pinnables(talk.path, first.first_kept, pinned))
        here = {message.id for message in messages}
        others = sum(estimate_body(e.body) for e in talk.path if e.id in pinned - here)
        room = int(self._budget(talk) * PINNED_SHARE) - others
        return PinsToChoose(messages, max(0, room))

    async def redo_pinned(self, id: str, card: str, pins: frozenset[str]) -> None:
        """Have these of the messages behind a compaction stay word for word, and make it anew.

        Raises EnvironmentFault when they would have more than a quarter of the prompt budget.
        """
        await self._rest(id)
        found = await self.pinnable(id, card)
        size = sum(message.tokens for message in found.messages if message.id in pins)
        if size > found.room:
            raise self._too_many_pins(found.room, size, 0)
        for message in found.messages:
            if message.is_pinned != (message.id in pins):
                pin = Pin(message.id, message.id in pins)
                self._workplace.store.append(id, pin, durable=True)
        self._talks.refresh(self._talks.talk(id))
        await self.redo(id, card)

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
        await self._rest(id)
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
            raise self._too_many_pins(most, size, held)

    def _too_many_pins(self, most: int, size: int, held: int) -> EnvironmentFault:
        return EnvironmentFault(
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

    async def _rest(self, id: str) -> None:
        """Wait until the conversation rests: what is judged before may be something else then."""
        await self._turns.rest(self._talks.talk(id))

    def _append(self, id: str, body: Body) -> None:
        self._workplace.store.append(id, body, durable=True)
        self._talks.refresh(self._talks.talk(id))

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


def _pinnables(
    path: Sequence[Entry], first_kept: str, pinned: frozenset[str]
) -> Iterator[Pinnable]:
    """What was said before an entry."""
    for entry in path:
        if entry.id == first_kept:
            return
        body = entry.body
        if isinstance(body, Message) and body.role in ("user", "assistant") and body.text.strip():
            yield Pinnable(
                entry.id,
                body.role == "user",
                entry.created_at,
                body.text,
                estimate_body(body),
                entry.id in pinned,
            )
