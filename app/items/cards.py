"""Cards: what in a conversation is no message of user or model. Pure."""

import re
from collections.abc import Mapping
from typing import Any

from app.items.values import CardItem, Figure, Tone
from app.sentences import localized
from app.words import joined, short_tokens, translate
from engine.events import CompactionDue
from engine.transcript import Compaction, Entry, Message


def compaction_card(entry: Entry) -> CardItem:
    """The card at the fold: before and after, what was folded and how, the summary, exact values."""
    body = entry.body
    assert isinstance(body, Compaction)
    degraded = body.facts.get("degraded") is True
    return CardItem(
        entry.id,
        "compaction",
        _compaction_title(body, degraded=degraded),
        " · ".join(_compaction_facts(body)),
        body.summary.strip(),
        exact_values(body),
        "amber" if degraded else "plum",
        entry.created_at,
        model=body.model,
    )


def _compaction_title(body: Compaction, *, degraded: bool) -> str:
    if degraded:
        return translate("Items", "Shortened without a summary")
    if body.tokens_before and body.tokens_after:
        before, after = short_tokens(body.tokens_before), short_tokens(body.tokens_after)
        return translate("Items", "Compacted: {before} → {after}").format(
            before=before, after=after
        )
    return translate("Items", "Compacted")


def _compaction_facts(body: Compaction) -> list[str]:
    facts = []
    folded = body.facts.get("folded")
    if type(folded) is int:
        facts.append(translate("Items", "%n message(s) folded", "", folded))
    ways = {
        "in_place": translate("Items", "in place"),
        "staged": translate("Items", "in stages"),
        "partial": translate("Items", "in stages, in part"),
        "placeholder": translate("Items", "a placeholder"),
    }
    how = [ways.get(body.way, body.way)] if body.way else []
    if body.seconds:
        seconds = max(1, round(body.seconds))
        how.append(translate("Items", "%n s", "", seconds))
    facts += [translate("Items", ", ").join(how)] if how else []
    reasons = {
        "preemptive": translate("Items", "before sending"),
        "overflow": translate("Items", "the model refused the prompt"),
        "timeout": translate("Items", "the model took too long"),
        "threshold": translate("Items", "after a reply"),
        "idle": translate("Items", "while nobody typed"),
        "manual": translate("Items", "asked for"),
    }
    facts += [reasons[body.reason]] if body.reason in reasons else []
    if body.focus:
        facts.append(translate("Items", "focus: {words}").format(words=body.focus))
    return facts


_PREVIEW_WORDS = 160
ASK_OFFERS = ("compact_now", "compact_with_focus", "not_now", "always")


def ask_card(id_: str, due: CompactionDue) -> CardItem:
    """The question whether to fold now: what it would do, in figures and first words."""
    in_use = translate("Items", "{used} of {budget} tokens are in use.").format(
        used=f"{due.before_tokens:,}", budget=f"{due.budget_tokens:,}"
    )
    stays = translate("Items", "The messages stay here and can be put back.")
    preview = tuple(
        (entry.created_at, " ".join(entry.body.text.split())[:_PREVIEW_WORDS])
        for entry in due.preview
        if isinstance(entry.body, Message)
    )
    return CardItem(
        id_,
        "ask",
        translate("Items", "The window is nearly full. Fold the older messages now?"),
        body=joined(in_use, stays),
        offers=ASK_OFFERS,
        figures=_ask_figures(due),
        preview=preview,
    )


def _ask_figures(due: CompactionDue) -> tuple[Figure, ...]:
    before, after = short_tokens(due.before_tokens), short_tokens(due.after_tokens)
    freed = f"{max(0, due.before_tokens - due.after_tokens):,}"
    seconds, pins = max(1, round(due.seconds)), due.pinned
    return (
        Figure(
            translate("Items", "Prompt"),
            translate("Items", "{before} → about {after}").format(before=before, after=after),
            translate("Items", "frees about {tokens}").format(tokens=freed),
        ),
        Figure(
            translate("Items", "Folds"),
            translate("Items", "%n message(s)", "", due.folded),
            translate("Items", "to the summary"),
        ),
        Figure(
            translate("Items", "Stays word for word"),
            translate("Items", "%n message(s)", "", due.kept),
            translate("Items", "and %n pin(s)", "", pins) if pins else "",
        ),
        Figure(
            translate("Items", "Takes"),
            translate("Items", "about %n s", "", seconds)
            if due.seconds
            else translate("Items", "not known yet"),
            translate("Items", "in place") if due.in_place else translate("Items", "in stages"),
        ),
    )


UNFOLDED_OFFERS = ("compact_now", "use_model", "models", "new_chat")


def unfolded_card(id_: str, why: str) -> CardItem:
    """A compaction that failed: why, that nothing was changed, and what can be done instead."""
    title = translate("Items", "The conversation could not be compacted")
    safe = translate("Items", "All messages are as they were.")
    return CardItem(
        id_,
        "error",
        title,
        body=joined(localized(why), safe),
        tone="amber",
        offers=UNFOLDED_OFFERS,
    )


def reminder_words(due: CompactionDue) -> str:
    """One line that reminds: the budget is full, and nothing is done about it."""
    return translate(
        "Items", "{used} of {budget} tokens are in use. Compact when it suits you."
    ).format(used=f"{due.before_tokens:,}", budget=f"{due.budget_tokens:,}")


def exact_values(body: Compaction) -> tuple[str, ...]:
    """The exact values under a summary; what is not understood is left out."""
    values = body.facts.get("values")
    listed = values if isinstance(values, list) else []
    found = [value.get("value") for value in listed if isinstance(value, Mapping)]
    return tuple(value for value in found if isinstance(value, str))


def message_card(entry: Entry, message: Message) -> CardItem:
    """A system prompt or a tool's result."""
    when = entry.created_at
    if message.role == "system":
        title = translate("Items", "System prompt")
        return CardItem(entry.id, "local", title, body=message.text, when_ms=when)
    title = translate("Items", "Result of a tool")
    tone: Tone = "red" if message.is_error else "plain"
    body = fenced(message.text)
    return CardItem(entry.id, "local", title, message.tool_name, body, tone=tone, when_ms=when)


def shortened_card(entry: Entry, data: Mapping[str, Any]) -> CardItem:
    """Tool results were shortened for the model, for good."""
    results = data.get("results")
    count = len(results) if isinstance(results, Mapping) else 0
    title = translate("Items", "%n tool result(s) shortened for the model", "", count)
    facts = translate("Items", "whole here")
    return CardItem(entry.id, "local", title, facts, when_ms=entry.created_at)


def unsent_card(id_: str, text: str, when_ms: int) -> CardItem:
    """A message that was too large to be sent, kept to be copied or made shorter."""
    title = translate("Items", "Not sent: too large")
    facts = translate("Items", "The message is kept here.")
    return CardItem(id_, "error", title, facts, fenced(text), tone="amber", when_ms=when_ms)


def fenced(text: str) -> str:
    """Text as a Markdown block that shows it as it is."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"
