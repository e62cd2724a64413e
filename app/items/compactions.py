"""Compactions of a path as cards: edited, undone, and what can be done with each. Pure."""

from dataclasses import replace

from app.items.cards import compaction_card
from app.items.values import CardItem
from app.words import translate
from engine.transcript import Compaction, Custom, Entry
from engine.undoing import UNDONE, edited_id

LAST_OFFERS = ("edit_summary", "undo_compaction", "redo_focus", "copy", "more")
UNDONE_OFFERS = ("restore_compaction",)
OLDER_OFFERS = ("copy",)


class Compactions:
    """The compactions of a path, in the order in which they were made.

    The one that counts is the last that is not undone; only it can be edited, undone or made anew.
    Those that were undone after it can be brought back.
    """

    def __init__(self) -> None:
        self._first: dict[str, Entry] = {}  # by card: the compaction
        self._now: dict[str, Entry] = {}  # by card: it, or the last edit of it
        self._undone: set[str] = set()

    def take(self, entry: Entry) -> tuple[str, ...]:
        """Go on with an entry; the cards that are other ones now, a new one last."""
        match entry.body:
            case Compaction():
                return self._fold(entry)
            case Custom(
                custom_type=kind, data={"target": str(target), "undone": bool(undone)}
            ) if kind == UNDONE and target in self._first:
                (self._undone.add if undone else self._undone.discard)(target)
                return tuple(self._first)
        return ()

    def _fold(self, entry: Entry) -> tuple[str, ...]:
        card = edited_id(entry)
        if card in self._first:
            self._now[card] = entry
            return (card,)
        self._first[entry.id] = self._now[entry.id] = entry
        return tuple(self._first)

    def __contains__(self, card: object) -> bool:
        return card in self._first

    @property
    def last(self) -> str:
        """The card of the compaction that counts; "" for none."""
        return next((card for card in reversed(self._first) if card not in self._undone), "")

    def entry(self, card: str) -> Entry:
        """The entry a card shows: the compaction, or the last edit of it."""
        return self._now[card]

    def first_kept(self, card: str) -> str:
        """The first entry the compaction of a card kept."""
        body = self._first[card].body
        assert isinstance(body, Compaction)
        return body.first_kept

    def card(self, card: str, *, is_open: bool) -> CardItem | None:
        """A compaction's card as it is now; None for one that another stands in the place of.

        `is_open`: its originals are shown.
        """
        first, last = self._first[card], self.last
        made = compaction_card(replace(self._now[card], id=card, created_at=first.created_at))
        if card in self._undone:
            cards = list(self._first)
            if last and cards.index(card) < cards.index(last):
                return None
            return replace(
                made,
                title=translate("Items", "Compaction undone"),
                facts=translate("Items", "the messages themselves are sent again"),
                tone="plum",
                is_undone=True,
                offers=UNDONE_OFFERS,
            )
        if self._now[card] is not first:
            edited = translate("Items", "edited")
            made = replace(made, facts=" · ".join(part for part in (made.facts, edited) if part))
        if card == last:
            return replace(made, offers=LAST_OFFERS, has_originals=True, is_open=is_open)
        return replace(made, offers=OLDER_OFFERS)
