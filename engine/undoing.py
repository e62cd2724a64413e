"""Compactions that were undone or edited: what of a path counts. Pure; the transcript is only appended to.

A compaction is undone, and brought back, by a custom entry of type `UNDONE` after it: {"target":
its id, "undone": bool}; the last word counts. Its summary is edited by another compaction entry
with the same first kept entry, whose facts say which one it edits ("edits": its id); what is
undone is undone with its edits.
"""

from collections.abc import Sequence
from dataclasses import replace

from engine.transcript import Body, Compaction, Custom, Entry

UNDONE = "compaction_undone"
"""Type of the custom entry that undoes a compaction or brings it back."""

_VOID = Custom("undone_compaction")
"""Stands in for a compaction that does not count."""


def undoing_entry(target: str, *, undone: bool) -> Custom:
    """The body that undoes a compaction (an entry id), or brings it back."""
    return Custom(UNDONE, {"target": target, "undone": undone})


def undone_ids(path: Sequence[Entry]) -> frozenset[str]:
    """The compactions on a path that are undone now."""
    words: dict[str, bool] = {}
    for body in [entry.body for entry in path if type(entry.body) is Custom]:
        if is_undoing(body):
            target = body.data.get("target")
            if isinstance(target, str):
                words[target] = body.data.get("undone") is True
    return frozenset(target for target, undone in words.items() if undone)


def edited_id(entry: Entry) -> str:
    """The compaction an entry stands for: itself, or the one whose summary it edits."""
    body = entry.body
    edits = body.facts.get("edits") if isinstance(body, Compaction) else None
    return edits if isinstance(edits, str) and edits else entry.id


def effective_path(path: Sequence[Entry]) -> tuple[Entry, ...]:
    """The path as it counts: undone compactions are void, every entry keeps its place and id."""
    undone = undone_ids(path)
    if not undone:
        return tuple(path)
    return tuple(
        replace(entry, body=_VOID)
        if isinstance(entry.body, Compaction) and edited_id(entry) in undone
        else entry
        for entry in path
    )


def stands_undone(path: Sequence[Entry]) -> bool:
    """Whether the last compaction of an effective path was undone: the user wants the originals.

    The prompt budget is then all of the window but room for a reply, so that they are sent for as
    long as they fit.
    """
    for entry in reversed(path):
        if isinstance(entry.body, Compaction):
            return False
        if entry.body is _VOID:
            return True
    return False


def is_undoing(body: Body) -> bool:
    """Whether a body undoes a compaction or brings one back: what was reported before is stale."""
    return type(body) is Custom and body.custom_type == UNDONE
