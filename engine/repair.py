"""Tool calls and their results, put back together (SPEC1 12.7; context-engine.md 7.4).

A model refuses a conversation in which a call has no result or a result no call. Both come about:
a program ends in the middle of a tool, a compaction cuts between the two, a user speaks in
between. ::

    call(1, 2) · user · result 2        ─▶  call(1, 2) · result 1 (put in) · result 2 · user
    call 1 · result a · result b        ─▶  call 1 · result a              second of the same id
    user · result                       ─▶  user                           nobody called
    call 1 · assistant · late result 1  ─▶  call 1 · result 1 (put in) · assistant

In memory only; the transcript is never repaired. What is in order comes back as the same objects.

What no model sees as a message where it stands (custom data, labels, pins, model changes,
compactions, what is unknown) stays right behind the message it came after, and does not part a
call from its results.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal, NamedTuple, TypeGuard

from engine.transcript import (
    Body,
    BranchSummary,
    CustomMessage,
    Entry,
    Message,
    Text,
    ToolCall,
)

Errored = Literal["keep", "drop"]
"""What becomes of a reply that called tools and failed, was stopped or was interrupted."""

MISSING_RESULT = (
    "[No result: the history of this conversation has none for this tool call. "
    "This note was put in its place.]"
)
_MESSAGES = (Message, CustomMessage, BranchSummary)
"""What a model reads where it stands."""
_START = -1
_ERRORED = ("failed", "stopped", "interrupted")


@dataclass(frozen=True, slots=True)
class Repair:
    """A repaired conversation and what was done to it.

    Attributes:
        bodies: the repaired bodies; the given ones if nothing was to be done.
        added: results that were put in.
        duplicates: results that were dropped because their call had one already.
        orphans: results that were dropped because nobody called.
        moved: whether a result changed its place.
        named: results that got the tool name of their call.
        dropped: errored replies and their results that were dropped (`errored="drop"`).
    """

    bodies: tuple[Body, ...]
    added: int = 0
    duplicates: int = 0
    orphans: int = 0
    moved: bool = False
    named: int = 0
    dropped: int = 0

    @property
    def changed(self) -> bool:
        """Whether anything was done."""
        done = self.added + self.duplicates + self.orphans + self.named + self.dropped
        return self.moved or done > 0


def repair_tool_pairs(bodies: Sequence[Body], *, errored: Errored = "keep") -> Repair:
    """Let every tool result follow its call, and every completed call have one (SPEC1 12.7).

    Ids count within one reply and what follows it up to the next: models use them again. Several
    calls of one id take the results in their order.

    Args:
        bodies: what the model would see.
        errored: replies that failed, were stopped or interrupted get no results put in; "keep"
            keeps them and the results they have, "drop" drops both.
    """
    work = _repair(bodies, errored)
    if work is None:
        return Repair(tuple(bodies))
    return Repair(
        tuple(step.body for step in work.steps),
        added=work.added,
        duplicates=work.duplicates,
        orphans=work.orphans,
        moved=work.moved,
        named=work.named,
        dropped=work.dropped,
    )


def repair_entries(entries: Sequence[Entry], *, errored: Errored = "keep") -> tuple[Entry, ...]:
    """The same for entries. A result that is put in has no id; its parent is the call's entry."""
    work = _repair([entry.body for entry in entries], errored)
    if work is None:
        return tuple(entries)
    return tuple(_entry(step, entries) for step in work.steps)


def _entry(step: "_Step", entries: Sequence[Entry]) -> Entry:
    entry = entries[step.place]
    if step.added:
        return Entry("", entry.session, entry.id, entry.created_at, step.body)
    return entry if step.body is entry.body else replace(entry, body=step.body)


class _Step(NamedTuple):
    """One body of the repaired sequence; `place` is where it, or the reply it answers, stood."""

    place: int
    body: Body
    added: bool = False


@dataclass(slots=True)
class _Work:
    """The repaired sequence while it is made, and what was done to it."""

    bodies: Sequence[Body]
    followers: dict[int, list[int]]
    """By index of a message: what stands behind it and is none. _START for what comes first."""
    steps: list[_Step] = field(default_factory=list)
    held: int = _START
    """The message whose followers are still to be placed."""
    added: int = 0
    duplicates: int = 0
    orphans: int = 0
    moved: bool = False
    named: int = 0
    dropped: int = 0

    def place(self, index: int, body: Body | None = None) -> None:
        """Put the message of `index` next, changed or as it is."""
        self.skip(index)
        self.steps.append(_Step(index, self.bodies[index] if body is None else body))

    def skip(self, index: int) -> None:
        """Leave the message of `index` out; what stands behind it is still placed."""
        self.release()
        self.held = index

    def put_in(self, index: int, body: Body) -> None:
        """Put a result for the reply of `index` right behind the last message."""
        self.steps.append(_Step(index, body, added=True))
        self.added += 1

    def release(self) -> None:
        """Place what stands behind the last message."""
        places = self.followers.get(self.held, ())
        self.steps.extend(_Step(i, self.bodies[i]) for i in places)

    @property
    def changed(self) -> bool:
        """Whether anything was done."""
        done = self.added + self.duplicates + self.orphans + self.named + self.dropped
        return self.moved or done > 0


def _repair(bodies: Sequence[Body], errored: Errored) -> _Work | None:
    """The work of repairing, None when there was nothing to do."""
    if not _has_tools(bodies) or _in_order(bodies, errored):
        return None
    messages, followers = _sorted_out(bodies)
    work = _Work(bodies, followers)
    for span in _spans(bodies, messages):
        head = bodies[span[0]]
        calls = _calls(head)
        if not calls:
            _without_calls(work, span)
        elif errored == "drop" and _is_errored(head):
            _dropped(work, span, calls)
        else:
            _with_calls(work, span, calls)
    work.release()
    kept = [step.place for step in work.steps if not step.added]
    work.moved = any(left > right for left, right in pairwise(kept))
    return work if work.changed else None


def _has_tools(bodies: Iterable[Body]) -> bool:
    """Whether there are calls or results at all; most conversations have none."""
    others = [body for body in bodies if type(body) is Message and body.role != "user"]
    if "tool_result" in [body.role for body in others]:
        return True
    return bool([part for body in others for part in body.parts if type(part) is ToolCall])


def _in_order(bodies: Iterable[Body], errored: Errored) -> bool:
    """Whether there is surely nothing to do: the usual case, in one pass that builds nothing."""
    waiting: list[ToolCall] = []  # calls of the last reply that have no result yet, last first
    complete = True  # whether that reply must have them all
    for body in bodies:
        if isinstance(body, Message) and body.role == "tool_result":
            if not _answers(body, waiting, complete=complete):
                return False
        elif isinstance(body, _MESSAGES):
            if waiting and complete:
                return False
            waiting = []
            if isinstance(body, Message) and body.role == "assistant":
                waiting = [part for part in reversed(body.parts) if isinstance(part, ToolCall)]
                complete = not waiting or body.stop_reason not in _ERRORED
                if not complete and errored == "drop":
                    return False
    return not (waiting and complete)


def _answers(result: Message, waiting: list[ToolCall], *, complete: bool) -> bool:
    """Whether a result is that of the next call, and has a tool name; the call goes."""
    while waiting:
        call = waiting.pop()
        if call.id == result.tool_call_id:
            return _is_named(result, call)
        if complete:
            return False
    return False


def _is_named(result: Message, call: ToolCall) -> bool:
    return bool(result.tool_name.strip()) or not call.name


def _sorted_out(bodies: Sequence[Body]) -> tuple[list[int], dict[int, list[int]]]:
    """The indices of the messages, and by message those of what follows it and is none."""
    messages: list[int] = []
    followers: dict[int, list[int]] = {}
    for index, body in enumerate(bodies):
        if isinstance(body, _MESSAGES):
            messages.append(index)
        else:
            followers.setdefault(messages[-1] if messages else _START, []).append(index)
    return messages, followers


def _spans(bodies: Sequence[Body], messages: Iterable[int]) -> Iterator[list[int]]:
    """The messages, of which there are some, in stretches: each from one reply up to the next."""
    span: list[int] = []
    for index in messages:
        body = bodies[index]
        if span and isinstance(body, Message) and body.role == "assistant":
            yield span
            span = []
        span.append(index)
    yield span


def _without_calls(work: _Work, span: Sequence[int]) -> None:
    for index in span:
        if _is_result(work.bodies[index]):
            work.skip(index)
            work.orphans += 1
        else:
            work.place(index)


def _with_calls(work: _Work, span: Sequence[int], calls: Sequence[ToolCall]) -> None:
    waiting = _results_by_id(work.bodies, span)
    complete = not _is_errored(work.bodies[span[0]])
    work.place(span[0])
    for call in calls:
        found = waiting.get(call.id)
        if found:
            _place_result(work, found.popleft(), call)
        elif complete:
            work.put_in(span[0], _missing(call))
    left = {index for indices in waiting.values() for index in indices}
    ids = {call.id for call in calls}
    for index in span[1:]:
        body = work.bodies[index]
        if not _is_result(body):
            work.place(index)
        elif index in left:
            work.skip(index)
            if body.tool_call_id in ids:
                work.duplicates += 1
            else:
                work.orphans += 1


def _place_result(work: _Work, index: int, call: ToolCall) -> None:
    body = work.bodies[index]
    assert isinstance(body, Message)
    if _is_named(body, call):
        work.place(index)
    else:
        work.place(index, replace(body, tool_name=call.name))
        work.named += 1


def _dropped(work: _Work, span: Sequence[int], calls: Sequence[ToolCall]) -> None:
    """Leave out a reply and its results; results of nobody are orphans as everywhere."""
    ids = {call.id for call in calls}
    work.skip(span[0])
    work.dropped += 1
    for index in span[1:]:
        body = work.bodies[index]
        if not _is_result(body):
            work.place(index)
            continue
        work.skip(index)
        if body.tool_call_id in ids:
            work.dropped += 1
        else:
            work.orphans += 1


def _results_by_id(bodies: Sequence[Body], span: Sequence[int]) -> dict[str, deque[int]]:
    results: dict[str, deque[int]] = {}
    for index in span:
        body = bodies[index]
        if _is_result(body):
            results.setdefault(body.tool_call_id, deque()).append(index)
    return results


def _missing(call: ToolCall) -> Message:
    return Message(
        "tool_result",
        (Text(MISSING_RESULT),),
        tool_call_id=call.id,
        tool_name=call.name,
        is_error=True,
    )


def _calls(body: Body) -> tuple[ToolCall, ...]:
    if not isinstance(body, Message) or body.role != "assistant":
        return ()
    return body.tool_calls


def _is_result(body: Body) -> TypeGuard[Message]:
    return isinstance(body, Message) and body.role == "tool_result"


def _is_errored(body: Body) -> bool:
    return isinstance(body, Message) and body.stop_reason in _ERRORED
