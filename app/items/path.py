"""The path of a conversation's leaf as items. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from typing import Any, TypeVar

from app.items.cards import fenced, message_card, shortened_card, unsent_card
from app.items.compactions import Compactions
from app.items.tree import Tree
from app.items.values import (
    UNANSWERED,
    CardItem,
    DayItem,
    Item,
    Receipt,
    ReplyItem,
    State,
    UserItem,
    Versions,
)
from app.words import translate
from engine.tokens import estimate_text
from engine.transcript import (
    BranchSummary,
    Custom,
    CustomMessage,
    Entry,
    Message,
    Pin,
    Usage,
)
from engine.view import SHORTENED, UNSENT

_COUNTED_CHARACTERS = 600
"""Only a message at least this long is counted: the figure is shown where it is folded."""


class PathPlan:
    """The path of a leaf as items, made at once and then extended as the conversation goes on.

    Args:
        entries: all of the conversation, in the order they were added.
        leaf: where the path ends; one that is nowhere means the last entry.
        zone: whose days these are; None for the machine's.
        known: what is known of replies beyond what is stored, by entry id, from when they were
            written (receipt, seconds of thinking, fault and remedy apart).

    Attributes:
        path: its entries, root to leaf.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        leaf: str | None,
        *,
        zone: tzinfo | None,
        known: Mapping[str, ReplyItem] | None = None,
    ) -> None:
        self._tree = Tree(entries)
        self._unsent = _unsent_below(entries, self._tree.removed)
        self._days = _Days(zone)
        self._items = self._days.parted(self._unsent.get(None, ()))
        self._compactions = Compactions()
        self._opened: set[str] = set()
        self._pinned: set[str] = set()
        self._originals: tuple[str, tuple[Item, ...]] = ("", ())
        self.path: list[Entry] = []
        for entry in self._tree.path(leaf):
            self._show(entry, known or {})

    @property
    def leaf(self) -> str | None:
        """The last entry of the path."""
        return self.path[-1].id if self.path else None

    def extend(self, entries: Sequence[Entry], known: Mapping[str, ReplyItem]) -> bool:
        """Go on with entries that were added below the leaf, in order.

        False, and nothing is changed, when all must be planned anew: an unsent message may have been
        sent now, or something hangs elsewhere.
        """
        if self._unsent or (entries and entries[0].parent != self.leaf):
            return False
        for entry in entries:
            self._tree.add(entry)
            self._show(entry, known)
        return True

    def items(self, *, running: bool) -> tuple[Item, ...]:
        """The items: those a summary stands for only where its card is open, below it.

        `running`: a reply is being written, so that a last message is no loose end.
        """
        question: Entry | None = None
        for entry in reversed(self.path):
            if isinstance(entry.body, Message):
                question = entry if entry.body.role == "user" else None
                break
        items = self._folded()
        if question is None or running:
            return items
        id_ = UNANSWERED + question.id
        return (*items, ReplyItem(id_, "", when_ms=question.created_at, state="stopped"))

    def toggle_originals(self, card: str, *, opened: bool | None = None) -> None:
        """Show the messages a compaction stands for, or hide them; None for the other of the two."""
        wanted = card not in self._opened if opened is None else opened
        (self._opened.add if wanted else self._opened.discard)(card)
        self._show_cards((card,))

    @property
    def last_fold(self) -> str:
        """The card of the compaction that counts; "" for none."""
        return self._compactions.last

    def compaction(self, card: str) -> Entry | None:
        """The entry a compaction's card shows: it, or the last edit of it; None if there is none."""
        return self._compactions.entry(card) if card in self._compactions else None

    def _folded(self) -> tuple[Item, ...]:
        """The items, with those before the last fold behind its card."""
        last = self._compactions.last
        at = self._index_of(last) if last else -1
        if at < 0:
            return tuple(self._items)
        card, kept = self._items[at], self._items[at + 1 :]
        if last not in self._opened:
            day = next((x for x in reversed(self._items[:at]) if isinstance(x, DayItem)), None)
            return (card, *kept) if day is None else (day, card, *kept)
        if self._originals[0] != last or len(self._originals[1]) != at:
            originals = tuple(replace(item, folded=True) for item in self._items[:at])
            self._originals = (last, originals)
        return (card, *self._originals[1], *kept)

    def _pin(self, pin: Pin) -> None:
        """A message is pinned from here on, or no longer."""
        (self._pinned.add if pin.pinned else self._pinned.discard)(pin.target)
        at = self._index_of(pin.target)
        item = self._items[at] if at >= 0 else None
        if isinstance(item, UserItem | ReplyItem):
            self._items[at] = replace(item, pinned=pin.pinned)
            self._originals = ("", ())

    @property
    def pinned(self) -> frozenset[str]:
        """The entries that are pinned."""
        return frozenset(self._pinned)

    def _index_of(self, id_: str) -> int:
        return next(
            (at for at in range(len(self._items) - 1, -1, -1) if self._items[at].id == id_), -1
        )

    def _show_cards(self, cards: Sequence[str]) -> None:
        """Bring cards up to date; one that is not there yet is put at its fold."""
        for card in cards:
            if card not in self._compactions:
                continue
            item = self._compactions.card(card, is_open=card in self._opened)
            at = self._index_of(card)
            if item is None:
                if at >= 0:
                    del self._items[at]
            elif at >= 0:
                self._items[at] = item
            else:
                self._items.insert(self._fold_index(card), item)
        if cards:
            self._originals = ("", ())

    def _fold_index(self, card: str) -> int:
        """Where a card belongs: before the first item that its compaction kept."""
        first = self._compactions.first_kept(card)
        kept: set[str] = set()
        for entry in reversed(self.path):
            kept.add(entry.id)
            if entry.id == first:
                break
        else:
            return len(self._items)
        place = len(self._items)
        for at in range(len(self._items) - 1, -1, -1):
            item = self._items[at]
            if item.id in kept:
                place = at
            elif isinstance(item, UserItem | ReplyItem):
                break
        return place

    def _show(self, entry: Entry, known: Mapping[str, ReplyItem]) -> None:
        self.path.append(entry)
        if changed := self._compactions.take(entry):
            self._show_cards(changed)
        if isinstance(entry.body, Pin):
            self._pin(entry.body)
        item = item_of(entry, self._tree, known)
        here = () if item is None else (item,)
        self._items += self._days.parted((*here, *self._unsent.get(entry.id, ())))


def plan_items(
    entries: Sequence[Entry],
    leaf: str | None,
    *,
    zone: tzinfo | None,
    known: Mapping[str, ReplyItem] | None = None,
    running: bool = False,
) -> tuple[Item, ...]:
    """The path of the leaf as items: days, messages with their versions, cards.

    Arguments as those of `PathPlan` and its `items`.
    """
    return PathPlan(entries, leaf, zone=zone, known=known).items(running=running)


class _Days:
    """Puts a day before the first item of each day."""

    def __init__(self, zone: tzinfo | None) -> None:
        self._zone = zone
        self._begin = self._end = 0  # of the day reached, milliseconds

    def parted(self, items: Sequence[Item]) -> list[Item]:
        """The items, with the days that begin before them."""
        parted: list[Item] = []
        for item in items:
            if not self._begin <= item.when_ms < self._end:
                self._begin, self._end = _day_around(item.when_ms, self._zone)
                parted.append(DayItem(f"day:{item.id}", item.when_ms))
            parted.append(item)
        return parted


def _day_around(when_ms: int, zone: tzinfo | None) -> tuple[int, int]:
    """When the local day of a moment begins and ends, milliseconds.

    A time that no calendar has (a damaged store) gets a day of its own.
    """
    try:
        local = datetime.fromtimestamp(when_ms / 1000, zone)
        midnight = local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
        begin, end = midnight.timestamp(), (midnight + timedelta(days=1)).timestamp()
    except (OverflowError, OSError, ValueError):
        return when_ms, when_ms + 1
    return round(begin * 1000), round(end * 1000)


def item_of(entry: Entry, tree: Tree, known: Mapping[str, ReplyItem]) -> Item | None:
    """The item that shows an entry; None for one that says nothing to people."""
    match entry.body:
        case Message(role="user", text=text):
            tokens = estimate_text(text) if len(text) >= _COUNTED_CHARACTERS else 0
            versions, images = tree.versions(entry), entry.body.images
            return UserItem(entry.id, text, entry.created_at, versions, tokens, images=images)
        case Message(role="assistant"):
            return _reply(entry, entry.body, tree.versions(entry), known.get(entry.id))
        case Message():
            return message_card(entry, entry.body)
        case BranchSummary(summary=text):
            title = translate("Items", "What happened on another branch")
            return CardItem(entry.id, "local", title, body=text, when_ms=entry.created_at)
        case CustomMessage(content=text, display=True):
            return CardItem(entry.id, "local", "", body=text, when_ms=entry.created_at)
        case Custom(custom_type=kind, data=data) if kind == SHORTENED:
            return shortened_card(entry, data)
        case _:
            return None


_STATES: dict[str | None, State] = {
    "length": "cut",
    "stopped": "stopped",
    "failed": "failed",
    "interrupted": "interrupted",
}


def _reply(
    entry: Entry, message: Message, versions: Versions | None, known: ReplyItem | None
) -> ReplyItem:
    """A stored reply; `known` is it as it was when it was written, in this run of the program."""
    receipt = None if message.usage is None else receipt_of(message.usage, message.details)
    item = ReplyItem(
        entry.id,
        _reply_text(message),
        message.thinking,
        message.model,
        entry.created_at,
        _STATES.get(message.stop_reason, "done"),
        seconds=0.0 if receipt is None else receipt.seconds,
        speed=0.0 if receipt is None else receipt.speed,
        error=message.error,
        receipt=receipt,
        versions=versions,
    )
    if known is None:
        return item
    return replace(
        item,
        seconds=known.seconds,
        speed=known.speed,
        error=known.error,
        remedy=known.remedy,
        receipt=known.receipt,
        thought_seconds=known.thought_seconds,
    )


def receipt_of(usage: Usage, details: Mapping[str, Any] | None = None) -> Receipt:
    """The receipt of a stored reply: what the backend reported, and what was kept of the sending."""
    told = (details or {}).get("receipt")
    facts: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
    kind = facts.get("kind")
    return Receipt(
        _whole(facts.get("sent"), usage.prompt_tokens),
        kind if kind in ("exact", "anchored", "estimated") else "exact",
        usage.read_tokens,
        usage.reused_tokens if usage.reused_known else None,
        usage.written_tokens,
        room=_whole(facts.get("room"), None),
        window=_whole(facts.get("window"), None),
        load_seconds=usage.load_seconds,
        read_seconds=usage.read_seconds,
        write_seconds=usage.write_seconds,
        mismatch=_words(facts.get("mismatch")),
        cure=_words(facts.get("cure")),
    )


_Other = TypeVar("_Other")


def _whole(value: object, otherwise: _Other) -> int | _Other:
    return value if isinstance(value, int) and not isinstance(value, bool) else otherwise


def _words(value: object) -> str:
    return value if isinstance(value, str) else ""


def _reply_text(message: Message) -> str:
    """What the model said, and which tools it called."""
    calls = [
        f"`{call.name}`\n\n{fenced(str(dict(call.arguments)))}" for call in message.tool_calls
    ]
    return "\n\n".join([message.text, *calls]) if calls else message.text


def _unsent_below(
    entries: Sequence[Entry], removed: frozenset[str]
) -> dict[str | None, tuple[CardItem, ...]]:
    """Messages that were kept and never sent, by the entry they were written after."""
    waiting: list[tuple[str, Entry]] = []
    for entry in entries:
        match entry.body:
            case Custom(custom_type=kind, data={"text": str(text)}) if kind == UNSENT:
                waiting.append((text, entry))
            case Message(role="user", text=text) if waiting:
                at = next((i for i, (kept, _) in enumerate(waiting) if kept == text), None)
                if at is not None:
                    del waiting[at]  # it was sent after all
            case _:
                pass
    below: dict[str | None, tuple[CardItem, ...]] = {}
    for text, entry in waiting:
        if entry.id not in removed:
            card = unsent_card(entry.id, text, entry.created_at)
            below[entry.parent] = (*below.get(entry.parent, ()), card)
    return below
