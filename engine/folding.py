"""From a summary that was written to the entry that is stored, and the words that tell of it. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engine.caution import MOST_UNDERCOUNT
from engine.compact import (
    SENTENCES,
    CompactionPlan,
    Fact,
    Language,
    facts_from_json,
    facts_to_json,
    find_facts,
    plan_facts,
)
from engine.context import MIN_REPLY_TOKENS, ContextView
from engine.errors import ContextOverflow, EnvironmentFault, MessageTooLarge
from engine.events import CompactionDue, CompactionEnded, CompactionMode, CompactionReason
from engine.tokens import Weighed, estimate_text
from engine.transcript import Compaction, Entry, Message, user
from engine.undoing import edited_id

CHOICES = (
    "Start a new conversation, use a model with a larger window, or lower the reserve "
    "(compaction.reserve_tokens and compaction.reserve_floor)."
)
TRY_LATER = (
    "It is tried again once the conversation has grown. compaction.model can name a model that "
    "summarises better."
)
_INSTRUCTION_TOKENS = 300
"""What a request for a summary in place adds to the conversation, about."""
_USUAL_SHARE = 0.6
"""Of the summary's cap, what is usually written."""
_EDITED_FACTS_TOKENS = 256
"""Exact values under an edited summary may have so many, or as many as they had."""
_POOL_TOKENS = 4_000
"""Exact values remembered for later compactions, whether or not this one shows them."""


def plan_entry(
    view: ContextView,
    folding: CompactionPlan,
    *,
    summary: str,
    language: Language,
    reason: CompactionReason,
    focus: str,
) -> Compaction:
    """The compaction entry for a summary: exact values found, merged with those carried, capped.

    What only a count or the writer can tell (tokens after, seconds, way, model) is still to come.
    """
    pool = _pool(folding)
    shown = plan_facts(pool, (), summary, cap_tokens=view.targets.facts_cap, weigh=estimate_text)
    facts: dict[str, Any] = {
        "language": language,
        "values": facts_to_json(shown),
        "pool": facts_to_json(pool),
        "folded": len(folded_messages(folding)),
        "split_turn": folding.split_turn,
    }
    if folding.pinned:
        facts["pinned"] = [item.entry.id for item in folding.pinned]
    return Compaction(
        summary,
        folding.first_kept,
        tokens_before=view.count.tokens,
        reason=reason,
        focus=focus,
        facts=facts,
    )


def plan_due(
    view: ContextView, folding: CompactionPlan, mode: CompactionMode, turn: int
) -> CompactionDue:
    """What a compaction would do, for the user to decide: figures, preview, about how long."""
    messages = folded_messages(folding)
    kept = [item for item in folding.kept if isinstance(item.entry.body, Message)]
    cap = view.targets.summary_cap
    in_place = (
        view.settings.in_place
        and view.count.tokens + _INSTRUCTION_TOKENS + cap <= view.budget.window
    )
    read = _INSTRUCTION_TOKENS if in_place else sum(item.tokens for item in messages)
    said = [item.entry for item in messages if _is_user(item.entry)]
    return CompactionDue(
        turn,
        mode,
        view.count.tokens,
        folding.predicted_tokens,
        view.budget.prompt,
        len(messages),
        len(kept),
        len(folding.pinned),
        in_place,
        usual_seconds(view.path, read, round(cap * _USUAL_SHARE)),
        tuple(said),
    )


def _is_user(entry: Entry) -> bool:
    return isinstance(entry.body, Message) and entry.body.role == "user"


def usual_seconds(path: Sequence[Entry], read: int, written: int) -> float:
    """About how long that takes, by the last reply's speeds; 0 when they are not known."""
    for entry in reversed(path):
        usage = entry.body.usage if isinstance(entry.body, Message) else None
        if usage is None or usage.write_seconds <= 0 or usage.written_tokens <= 0:
            continue
        seconds = written * usage.write_seconds / usage.written_tokens
        if usage.read_tokens > 0:
            seconds += read * usage.read_seconds / usage.read_tokens
        return seconds
    return 0.0


def plan_edited(entry: Entry, summary: str) -> Compaction:
    """The compaction entry that puts the user's words in the place of a summary.

    It stands for the same messages. Exact values the new words leave out are carried under them,
    as under the old ones; a placeholder that was edited is a summary. Raises EnvironmentFault for
    an empty one.
    """
    body = entry.body
    assert isinstance(body, Compaction)
    if not summary.strip():
        raise EnvironmentFault(
            "A summary cannot be empty.", "Undo the compaction to send the messages themselves."
        )
    before = facts_from_json(body.facts.get("values"))
    pool = facts_from_json(body.facts.get("pool")) or before
    cap = max(_EDITED_FACTS_TOKENS, sum(estimate_text(fact.value) for fact in before))
    shown = plan_facts(pool, (), summary, cap_tokens=cap, weigh=estimate_text)
    grown = _values_tokens(summary, shown) - _values_tokens(body.summary, before)
    facts = {**body.facts, "values": facts_to_json(shown), "edits": edited_id(entry)}
    facts.pop("degraded", None)
    after = max(0, body.tokens_after + grown) if body.tokens_after else 0
    return replace(body, summary=summary.strip(), tokens_after=after, reason="edit", facts=facts)


def _values_tokens(summary: str, values: Sequence[Fact]) -> int:
    return estimate_text("\n".join([summary, *(fact.value for fact in values)]))


def folded_messages(folding: CompactionPlan) -> tuple[Weighed, ...]:
    """The messages a summary will stand for."""
    items = (*folding.folded, *folding.turn_prefix)
    return tuple(item for item in items if isinstance(item.entry.body, Message))


def done(ended: CompactionEnded, entry: Entry, seconds: float) -> CompactionEnded:
    """How a compaction that succeeded is told."""
    body = entry.body
    assert isinstance(body, Compaction)
    after = body.tokens_after
    text = (
        f"Compacted: {short(ended.before_tokens)} → {short(after)} tokens, "
        f"{counted(ended.folded, 'message')} folded, {seconds:.0f} s."
    )
    if body.facts.get("degraded"):
        text += (
            " No summary could be written: a placeholder stands for them, and the next compaction "
            "starts again from the messages themselves."
        )
    return replace(
        ended, outcome="done", text=text, entry=entry, after_tokens=after, seconds=seconds
    )


def why_not(rejected: Sequence[str], faults: Sequence[str] = ()) -> str:
    """Why no summary may stand: the last fault, else what was wrong with the last attempt."""
    if faults:
        return faults[-1]
    return SENTENCES.get(rejected[-1], rejected[-1]) if rejected else "The model wrote no summary."


def failure_words(error: Exception) -> str:
    """How a compaction that failed is told."""
    return f"The conversation could not be compacted and is unchanged: {error}"


def overflow_fault(prompt_tokens: int, window_tokens: int) -> ContextOverflow:
    """The conversation cannot be sent: figures, and what the user can choose."""
    return ContextOverflow(
        f"This conversation is {prompt_tokens:,} tokens long and the context window is "
        f"{window_tokens:,}: it was not sent, and nothing was cut.",
        CHOICES,
        prompt_tokens=prompt_tokens,
        window_tokens=window_tokens,
    )


def unsendable(view: ContextView) -> ContextOverflow:
    """The conversation cannot be sent: it is too long, or may be for a server that would not say so."""
    tokens, window = view.count.tokens, view.budget.window
    most = (window - MIN_REPLY_TOKENS - 1) // MOST_UNDERCOUNT
    is_known = view.ceiling < MOST_UNDERCOUNT * tokens
    if is_known or tokens + MIN_REPLY_TOKENS > window:
        return overflow_fault(tokens, window)
    return ContextOverflow(
        f"This prompt of about {tokens:,} tokens was not sent: the Ollama server is too old to refuse "
        f"one that is too long, and as long as it is not known how it counts, at most {most:,} are.",
        "Update the Ollama server. Or say a few sentences to this model in a new conversation; after "
        "its reply it is known.",
        prompt_tokens=tokens,
        window_tokens=window,
    )


def too_large(size_tokens: int, room_tokens: int, window_tokens: int) -> MessageTooLarge:
    """A message that fits no prompt of this conversation: size, room, and what can be chosen."""
    return MessageTooLarge(
        f"This message is {size_tokens:,} tokens long, and this conversation has room for "
        f"{room_tokens:,} at most (context window {window_tokens:,}). It was not sent; it is kept.",
        f"Send a shorter part of it. Or: {CHOICES[0].lower()}{CHOICES[1:]}",
        prompt_tokens=size_tokens,
        window_tokens=window_tokens,
        room_tokens=room_tokens,
    )


def short(tokens: int) -> str:
    """Tokens for people: 9.8k, 312."""
    return f"{tokens / 1000:.1f}k" if tokens >= 1_000 else str(tokens)


def counted(number: int, noun: str) -> str:
    """A number with its noun: 1 message, 24 messages."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _pool(folding: CompactionPlan) -> tuple[Fact, ...]:
    """All exact values of what is folded, and of what was folded before."""
    items = (*folding.folded, *folding.turn_prefix)
    previous = folding.previous
    carried: tuple[Fact, ...] = ()
    if previous is not None:
        known = previous.facts.get("pool") or previous.facts.get("values")
        carried = facts_from_json(known)
        if not carried:  # a summary from elsewhere: its own words are all there is
            carried = find_facts((user(previous.summary),))
    found = find_facts(item.entry.body for item in items)
    return plan_facts(found, carried, "", cap_tokens=_POOL_TOKENS, weigh=estimate_text)
