"""A conversation's entries as branches: versions of messages, where a branch goes on. Pure."""

from collections.abc import Sequence

from app.items.values import REMOVED, Versions
from engine.transcript import Custom, Entry, Message
from engine.view import UNSENT


class Tree:
    """A conversation's entries as branches: which messages are versions of each other.

    Two messages are versions of each other when they have one role and follow the same message;
    compactions and other bodies between them do not matter. What was removed is none.
    """

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = list(entries)
        self._by_id = {entry.id: entry for entry in entries}
        self.removed = removed_ids(entries)
        self._anchors: dict[str, str | None] = {}
        self._groups: dict[tuple[str | None, str], list[str]] = {}
        for entry in entries:
            self._place(entry)

    def add(self, entry: Entry) -> None:
        """One more entry, which removes nothing; it comes after all others. Known ones stay."""
        if entry.id in self:
            return
        self._entries.append(entry)
        self._by_id[entry.id] = entry
        self._place(entry)

    def __contains__(self, id_: str) -> bool:
        return id_ in self._by_id

    def _place(self, entry: Entry) -> None:
        above = self._by_id.get(entry.parent or "")
        if above is not None and isinstance(above.body, Message):
            anchor: str | None = above.id
        else:
            anchor = self._anchors.get(entry.parent or "")
        self._anchors[entry.id] = anchor
        if isinstance(entry.body, Message):
            self._groups.setdefault((anchor, entry.body.role), []).append(entry.id)

    def path(self, leaf: str | None) -> tuple[Entry, ...]:
        """Root to leaf. A leaf that is nowhere (a damaged store) means the last entry."""
        if leaf is not None and leaf not in self._by_id and self._entries:
            leaf = self._entries[-1].id
        steps: list[Entry] = []
        seen: set[str] = set()
        while leaf is not None and leaf in self._by_id and leaf not in seen:
            seen.add(leaf)
            steps.append(self._by_id[leaf])
            leaf = steps[-1].parent
        return tuple(reversed(steps))

    def versions(self, entry: Entry) -> Versions | None:
        """Which version of how many a message is; None when it is the only one."""
        if not isinstance(entry.body, Message):
            return None
        group = self._groups[self._anchors[entry.id], entry.body.role]
        if len(group) > 1 and self.removed:
            group = [id_ for id_ in group if id_ not in self.removed or id_ == entry.id]
        if len(group) < 2:
            return None
        at = group.index(entry.id)
        earlier = group[at - 1] if at else ""
        later = group[at + 1] if at + 1 < len(group) else ""
        return Versions(at + 1, len(group), earlier, later)

    def instead_of(self, entry: Entry) -> str | None:
        """Where a conversation goes on when a message is taken away: another version, or before."""
        versions = self.versions(entry)
        other = "" if versions is None else versions.earlier or versions.later
        return self.newest_leaf(other) if other else entry.parent

    def newest_leaf(self, entry_id: str) -> str:
        """The last entry that was added below an entry, or itself: where its branch goes on.

        Removed branches and what lies beside a conversation (unsent messages, marks) are passed by.
        """
        inside = {entry_id}
        newest = entry_id
        for entry in self._entries:
            if entry.parent in inside and entry.id not in self.removed and not is_beside(entry):
                inside.add(entry.id)
                newest = entry.id
        return newest


def removal(entry: Entry, *, removed: bool) -> Custom:
    """The body that takes an entry out of sight, or shows it again."""
    return Custom(REMOVED, {"target": entry.id, "removed": removed})


def removed_ids(entries: Sequence[Entry]) -> frozenset[str]:
    """The messages taken out of sight; the last word on each counts."""
    removed: dict[str, bool] = {}
    for entry in entries:
        match entry.body:
            case Custom(custom_type=kind, data={"target": str(target)} as data) if kind == REMOVED:
                removed[target] = data.get("removed") is not False
            case _:
                pass
    return frozenset(target for target, is_removed in removed.items() if is_removed)


def is_beside(entry: Entry) -> bool:
    """Whether an entry lies beside the conversation: nothing goes on from it."""
    return isinstance(entry.body, Custom) and entry.body.custom_type in (UNSENT, REMOVED)
