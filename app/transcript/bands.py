"""What the lens says of each item: a state, a figure, a few words. Qt-free.

The states are the engine's (`engine.lens`); this only puts them beside what is shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.items import CardItem, DayItem, Item, ReplyItem, UserItem
from app.lens_tint import Tint
from app.words import translate
from engine.lens import Seen


@dataclass(frozen=True, slots=True)
class Band:
    """The band behind an item: its tint, the state in words, what stands behind it."""

    tint: Tint = ""
    state: str = ""
    rest: str = ""

    @property
    def words(self) -> str:
        """Both, for a screen reader."""
        return " · ".join(part for part in (self.state, self.rest) if part)


class LensBook:
    """What the model sees of a conversation, by item.

    Args:
        lens: of every entry of the path.
        exact: whether its figures are counted; estimated otherwise.
    """

    def __init__(self, lens: Sequence[Seen] = (), *, exact: bool = True) -> None:
        self._seen = {seen.entry: seen for seen in lens}
        for seen in lens:
            if seen.answers_for:  # the card is that of the compaction, its words are edited
                self._seen[seen.answers_for] = seen
        self._exact = exact

    def seen(self, item_id: str) -> Seen | None:
        """What the model sees of an item's entry; None for what is not stored."""
        return self._seen.get(item_id)

    def band(self, item: Item) -> Band | None:
        """The band behind an item; None for days, which part the page."""
        if isinstance(item, DayItem):
            return None
        seen = self._seen.get(item.id)
        if seen is None:
            return _unknown_band(item)
        match seen.state:
            case "verbatim":
                return Band("verbatim", _verbatim_words(seen), self._figure(seen.tokens))
            case "shortened":
                words = translate("Lens", "{sent} of {whole}").format(
                    sent=self._figure(seen.tokens), whole=self._figure(seen.whole)
                )
                return Band("shortened", translate("Lens", "Shortened"), words)
            case "folded":
                words = translate("Lens", "0 of {whole}").format(whole=self._figure(seen.whole))
                return Band("folded", translate("Lens", "Folded"), words)
            case "not_sent":
                return _not_sent(item)

    def _figure(self, tokens: int) -> str:
        return f"{tokens:,}" if self._exact else f"≈ {tokens:,}"


def _verbatim_words(seen: Seen) -> str:
    match seen.segment:
        case "pinned":
            return translate("Lens", "Pinned, verbatim")
        case "summary":
            return translate("Lens", "Summary, verbatim")
        case _:
            return translate("Lens", "Verbatim")


def _unknown_band(item: Item) -> Band:
    """What is not on the stored path: it waits, it is being written, or it is only shown."""
    match item:
        case UserItem(queued=True):
            return Band("not_sent", _not_sent_words(), translate("Lens", "waits for its turn"))
        case UserItem():
            return Band()
        case ReplyItem(is_running=True):
            return Band("", translate("Lens", "Being written"))
        case ReplyItem() if item.text:  # it is there, and will be looked at in a moment
            return Band()
        case CardItem(kind="compacting"):
            return Band()
        case _:
            return _not_sent(item)


def _not_sent(item: Item) -> Band:
    match item:
        case CardItem(kind="compaction"):
            why = translate("Lens", "undone")
        case CardItem(kind="error"):
            why = translate("Lens", "kept here")
        case CardItem():
            why = translate("Lens", "only shown here")
        case ReplyItem():
            why = translate("Lens", "nothing was said")
        case _:
            why = translate("Lens", "stays here")
    return Band("not_sent", _not_sent_words(), why)


def _not_sent_words() -> str:
    return translate("Lens", "Not sent")
