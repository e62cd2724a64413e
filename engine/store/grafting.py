"""Making a tree of entries that may come from a damaged or foreign file."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from engine.store.rows import dumped
from engine.transcript import Entry, to_payload


@dataclass(slots=True)
class _Grown:
    """What is known of one conversation so far."""

    names: dict[str, str] = field(default_factory=dict)  # id in the file -> id it got
    contents: dict[str, int] = field(default_factory=dict)  # id it got -> hash of what it holds
    last: str | None = None


def grafted(entries: Iterable[Entry]) -> Iterator[Entry]:
    """The entries as trees, one per conversation, in order: nothing that was said is left out.

    Every id is unique in its conversation and every parent comes before its children:

    - an entry met twice is dropped; another one under a used id is renamed (`id~2`), and
      later children belong to the nearest holder before them;
    - a parent that is nowhere before its child (lost, later, itself) is replaced by the entry that
      precedes the child.
    """
    conversations: dict[str, _Grown] = {}
    for entry in entries:
        grown = conversations.setdefault(entry.session, _Grown())
        if mended := _mended(entry, grown):
            yield mended


def _mended(entry: Entry, grown: _Grown) -> Entry | None:
    content = hash((entry.parent, dumped(to_payload(entry.body))))
    holder = grown.names.get(entry.id)
    if holder is not None and grown.contents[holder] == content:
        return None
    parent = entry.parent
    if parent is not None:
        parent = grown.names.get(parent, grown.last)
    id_, number = entry.id, 1
    while id_ in grown.contents:
        number += 1
        id_ = f"{entry.id}~{number}"
    grown.names[entry.id] = grown.last = id_
    grown.contents[id_] = content
    return replace(entry, id=id_, parent=parent)
