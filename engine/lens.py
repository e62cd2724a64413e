"""The prompt message by message, and what of each entry a model sees. Pure.

::

    ContextView ─▶ sent (results shortened once) ─▶ prompt: every message as the backend gets it
                                                       ▲
    path ──────────────────────────────────────────────┴─▶ lens: verbatim, shortened, folded, not sent

The messages are made by `engine.prompt` and nobody else: what is shown is what is sent.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from engine.backends.base import PromptMessage
from engine.context import ContextView, plan_sent
from engine.prompt import pictures_for, plan_message, plan_messages
from engine.segments import SegmentName, pinned_before, segment_of
from engine.tokens import compact_json, estimate_messages
from engine.transcript import Compaction, Entry, last_compaction
from engine.undoing import edited_id

Sight = Literal["verbatim", "shortened", "folded", "not_sent"]
"""What a model gets of an entry: all of it as it is written, less, only its summary, nothing."""

Weigh = Callable[[Entry], int]
"""Tokens of an entry as it is written."""


@dataclass(frozen=True, slots=True)
class SentMessage:
    """One message of a prompt.

    Attributes:
        message: as the backend gets it.
        entry: where it comes from; "" for the system prompt and for what was put in for a missing
            result.
        segment: the part of the prompt it belongs to.
        tokens: its weight.
    """

    message: PromptMessage
    entry: str
    segment: SegmentName
    tokens: int


@dataclass(frozen=True, slots=True)
class Seen:
    """What a model sees of one entry of a path; tokens.

    Attributes:
        entry: its id.
        state: see `Sight`.
        tokens: of what is sent.
        whole: of the entry as it is written.
        message: what is sent, None for nothing.
        segment: the part of the prompt it belongs to.
        answers_for: for a summary that was edited, the compaction it stands for, else "".
    """

    entry: str
    state: Sight
    tokens: int
    whole: int
    message: PromptMessage | None
    segment: SegmentName
    answers_for: str = ""


def sent_text(message: PromptMessage) -> str:
    """The exact words of a message, after the thinking that goes along; calls after them, as JSON."""
    calls = [compact_json({"name": c.name, "arguments": c.arguments}) for c in message.tool_calls]
    words = [text for text in (message.thinking, message.content) if text]
    return "\n".join([*words, *calls])


def plan_prompt(view: ContextView, system_prompt: str) -> tuple[SentMessage, ...]:
    """Every message of the prompt in order, as the next request would have them."""
    pinned = pinned_before(view.path)
    system = plan_messages((), system_prompt)
    sent = [SentMessage(m, "", "system prompt", view.fixed_tokens) for m in system]
    pictures = pictures_for(sees_images=view.sees_images)
    for before, entry in zip(view.visible, plan_sent(view), strict=True):
        message = plan_message(entry, pictures)
        if message is not None:
            name = "pinned" if entry.id in pinned else segment_of(entry.body)
            sent.append(SentMessage(message, entry.id, name, _sent_tokens(view, before, entry)))
    return tuple(sent)


def _sent_tokens(view: ContextView, before: Entry, entry: Entry) -> int:
    """The weight of what is sent of a visible entry: less where it is shortened this once."""
    weight = view.weights.get(before.id, 0)
    return weight if entry is before else _in_proportion(weight, before, entry)


def _in_proportion(weight: int, before: Entry, after: Entry) -> int:
    """What an entry weighs in another form, if it weighs so much in this one."""
    return round(weight * _estimate(after) / max(1, _estimate(before)))


def _estimate(entry: Entry) -> int:
    message = plan_message(entry)
    return 0 if message is None else estimate_messages((message,))


def plan_lens(
    view: ContextView, path: Sequence[Entry], weigh: Weigh = _estimate
) -> tuple[Seen, ...]:
    """What the next request would have of every entry of a path, in the path's order.

    Args:
        view: the context of that path.
        path: the entries as they are stored.
        weigh: what entries weigh that are in no prompt.
    """
    sent = {m.entry: m for m in plan_prompt(view, "") if m.entry}
    folds = last_compaction(view.path) or 0
    return tuple(
        _seen(entry, sent.get(entry.id), weigh, is_folded=index < folds)
        for index, entry in enumerate(path)
    )


def _seen(entry: Entry, sent: SentMessage | None, weigh: Weigh, *, is_folded: bool) -> Seen:
    if sent is None:
        return _unseen(entry, weigh, is_folded=is_folded)
    whole = plan_message(entry, "sent")
    is_same = whole is not None and _said(whole) == _said(sent.message)
    before = sent.tokens
    if not is_same and whole is not None:
        before = round(sent.tokens * estimate_messages((whole,)) / max(1, _size(sent.message)))
    edits = edited_id(entry)
    return Seen(
        entry.id,
        "verbatim" if is_same else "shortened",
        sent.tokens,
        before,
        sent.message,
        sent.segment,
        edits if edits != entry.id else "",
    )


def _said(message: PromptMessage) -> str:
    """What was said: thinking that is not sent again makes no message a shorter one."""
    return sent_text(replace(message, thinking=""))


def _size(message: PromptMessage) -> int:
    return estimate_messages((message,))


def _unseen(entry: Entry, weigh: Weigh, *, is_folded: bool) -> Seen:
    """What is in no prompt: folded if a summary stands for it, else not sent."""
    says = plan_message(entry) is not None
    name = segment_of(entry.body)
    is_folded = is_folded and (says or isinstance(entry.body, Compaction))
    state: Sight = "folded" if is_folded else "not_sent"
    return Seen(entry.id, state, 0, weigh(entry) if says else 0, None, name)
