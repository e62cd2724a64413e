"""A model's thinking: what of it a prompt has again, and how a model can be told to think. Pure.

A model's own thinking is worth nothing to it later and fills a small window. So by default (`last`)
a prompt has only the thinking of the turn that still runs: of replies that called tools, since the
last thing the user said, while no answer stands after them. That is what most chat templates do;
what is left out here is not counted either.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from engine.backends.base import Think, ThinkChoice
from engine.tokens import is_runtime_context
from engine.transcript import (
    BranchSummary,
    Compaction,
    CustomMessage,
    Entry,
    Message,
    Thinking,
)

ThinkingHistory = Literal["drop", "last", "keep"]
"""What of earlier thinking a prompt has: nothing, that of the running turn, all of it."""

DEFAULT_HISTORY: ThinkingHistory = "last"

_SWITCH: dict[ThinkChoice, bool] = {"off": False, "on": True}


def plan_history(visible: Sequence[Entry], rule: ThinkingHistory) -> tuple[Entry, ...]:
    """What is visible of a path, without the thinking that the rule leaves out.

    Entries that lose nothing are the same ones. Planning twice changes nothing.
    """
    if rule == "keep":
        return tuple(visible)
    begin = _running_from(visible) if rule == "last" else len(visible)
    return (*map(without_thinking, visible[:begin]), *visible[begin:])


def without_thinking(entry: Entry) -> Entry:
    """The entry as it is sent when its thinking is not.

    Nor are the ids it was written with: they spell the thinking too, and a cache that holds them
    holds another beginning.
    """
    body = entry.body
    if not isinstance(body, Message) or not any(isinstance(p, Thinking) for p in body.parts):
        return entry
    parts = tuple(part for part in body.parts if not isinstance(part, Thinking))
    return replace(entry, body=replace(body, parts=parts, token_ids=None))


def _running_from(visible: Sequence[Entry]) -> int:
    """Where the turn begins that still runs: after the last answer, and the last user's words."""
    for index in range(len(visible) - 1, -1, -1):
        if _ends_turn(visible[index]):
            return index + 1
    return 0


def _ends_turn(entry: Entry) -> bool:
    """Whether thinking before it is over: a model gets it as a user's words, or it is an answer."""
    match entry.body:
        case Message(role="assistant") as reply:
            return bool(reply.text) and not reply.tool_calls
        case Message(role=role):
            return role != "tool_result"
        case CustomMessage() as custom:
            return not is_runtime_context(custom)
        case body:
            return isinstance(body, Compaction | BranchSummary)


# ---- telling a model to think -------------------------------------------------------------------


def think_of(choice: ThinkChoice | None) -> Think | None:
    """What a choice is in a request."""
    return _SWITCH[choice] if choice == "off" or choice == "on" else choice
