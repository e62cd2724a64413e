"""What a model sees of a conversation, as entries: a pure function of its path.

::

    path ─▶ after the last compaction ─▶ pins back in ─▶ results shortened ─▶ pairs repaired ─▶ visible

The transcript is never rewritten. That results were shortened for good stands in a custom entry
(`SHORTENED`) that comes after them; what could not be sent stands in one too (`UNSENT`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.repair import repair_entries
from engine.tokens import is_runtime_context
from engine.transcript import (
    Compaction,
    Custom,
    Entry,
    Message,
    Part,
    Pin,
    Text,
    last_compaction,
    to_payload,
    visible_entries,
)

SHORTENED = "shortened_results"
"""Type of the custom entry that holds new texts for tool results: {"results": {entry id: text}}."""

UNSENT = "unsent_message"
"""Type of the custom entry that keeps a message which could not be sent: {"text": …}.

Pictures of it are kept as `parts`, in the form of a message's payload.
"""


def plan_visible(path: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries a model gets something of, in the order it gets them.

    The last compaction comes first (SPEC2 2.2), then what is pinned before its kept tail, then the
    tail and what came after. Every tool call has its result and every result its call (SPEC1 12.7).
    """
    return repair_entries(plan_unrepaired(path))


def plan_unrepaired(path: Sequence[Entry]) -> tuple[Entry, ...]:
    """The same before pairs are repaired: what the specification's own estimate is made of."""
    others = [
        entry for entry in path if type(entry.body) is not Message
    ]  # few, and all that matters
    if not others:
        return tuple(path)
    visible = _with_pins(path)
    if any(is_runtime_context(entry.body) for entry in others):
        visible = tuple(entry for entry in visible if not is_runtime_context(entry.body))
    return _shortened(visible, others)


def shortened_texts(path: Sequence[Entry]) -> dict[str, str]:
    """The texts that stand in for tool results, by entry id; the last word counts."""
    texts: dict[str, str] = {}
    for body in [entry.body for entry in path if type(entry.body) is Custom]:
        if body.custom_type == SHORTENED:
            results = body.data.get("results")
            if isinstance(results, Mapping):
                texts.update({id_: text for id_, text in results.items() if isinstance(text, str)})
    return texts


def shortening_entry(texts: Mapping[str, str]) -> Custom:
    """The body that shortens tool results for good: new texts by entry id."""
    return Custom(SHORTENED, {"results": dict(texts)})


def unsent_entry(said: Message) -> Custom:
    """The body that keeps a message which is not sent (yet), whole."""
    if not said.images:
        return Custom(UNSENT, {"text": said.text})
    parts = [part for part in to_payload(said)["parts"] if part["type"] == "image"]
    return Custom(UNSENT, {"text": said.text, "parts": parts})


def pinned_ids(path: Sequence[Entry]) -> frozenset[str]:
    """The entries that are pinned on this path; none of what a program told itself."""
    pins: dict[str, bool] = {}
    for body in [entry.body for entry in path if type(entry.body) is Pin]:
        pins[body.target] = body.pinned
    pinned = frozenset(target for target, is_pinned in pins.items() if is_pinned)
    if not pinned:
        return pinned
    return pinned - {entry.id for entry in path if is_runtime_context(entry.body)}


def _with_pins(path: Sequence[Entry]) -> tuple[Entry, ...]:
    visible = visible_entries(path)
    index = last_compaction(path)
    if index is None:
        return visible
    body = path[index].body
    assert isinstance(body, Compaction)
    wanted = _texts(body.facts, "pinned")
    if not wanted:
        return visible
    shown = {entry.id for entry in visible}
    kept = tuple(
        e
        for e in path[:index]
        if e.id in wanted and e.id not in shown and not isinstance(e.body, Compaction)
    )
    return (visible[0], *kept, *visible[1:])


def _shortened(visible: tuple[Entry, ...], path: Sequence[Entry]) -> tuple[Entry, ...]:
    texts = shortened_texts(path)
    if not texts:
        return visible
    return tuple(_with_text(entry, texts) for entry in visible)


def _with_text(entry: Entry, texts: Mapping[str, str]) -> Entry:
    body = entry.body
    if entry.id not in texts or not isinstance(body, Message) or body.role != "tool_result":
        return entry
    others: tuple[Part, ...] = tuple(part for part in body.parts if not isinstance(part, Text))
    return replace(entry, body=replace(body, parts=(Text(texts[entry.id]), *others)))


def _texts(facts: Mapping[str, Any], name: str) -> frozenset[str]:
    value = facts.get(name)
    return (
        frozenset(x for x in value if isinstance(x, str))
        if isinstance(value, list)
        else frozenset()
    )
