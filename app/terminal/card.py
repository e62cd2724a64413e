"""A compaction as a card: what it did, the summary, and the exact values under it."""

from typing import Any

from app.terminal.console import counted, duration
from engine.transcript import Compaction

REASONS = {
    "preemptive": "before sending: the conversation had outgrown its prompt budget",
    "overflow": "the model refused the prompt as too long",
    "timeout": "the model took too long over the prompt",
    "threshold": "after a reply: the conversation had outgrown its prompt budget",
    "idle": "nobody used the conversation for a while, and it was nearly full",
    "manual": "you asked for it",
}
WAYS = {
    "in_place": "in place, at the end of what the model had read",
    "staged": "in stages, from the messages read once more",
    "partial": "in stages, without messages that were too large",
    "placeholder": "not written: a placeholder stands for it",
}


def card_lines(compaction: Compaction) -> list[str]:
    """The card, line by line."""
    facts = compaction.facts
    lines = ["", f"── compacted: {_figures(compaction)} ──"]
    if compaction.reason:
        lines.append(f"Why      {REASONS.get(compaction.reason, compaction.reason)}")
    if compaction.way:
        by = f", by {compaction.model}" if compaction.model else ""
        lines.append(f"Way      {WAYS.get(compaction.way, compaction.way)}{by}")
    if compaction.focus:
        lines.append(f"Focus    {compaction.focus}")
    if facts.get("degraded") is True:
        lines.append(
            "Degraded no summary could be written; the next compaction starts again from the "
            "messages themselves"
        )
    lines += ["", compaction.summary.strip() or "(an empty summary)"]
    if values := values_of(compaction):
        lines += ["", "Exact values:"]
        lines += [f"  {_value_line(value)}" for value in values]
    return lines


def values_of(compaction: Compaction) -> list[dict[str, Any]]:
    """The exact values shown under a summary; what is not understood is left out."""
    values = compaction.facts.get("values")
    listed = values if isinstance(values, list) else []
    return [v for v in listed if isinstance(v, dict) and isinstance(v.get("value"), str)]


def _figures(compaction: Compaction) -> str:
    """Before and after, how many messages, how long."""
    before, after = compaction.tokens_before, compaction.tokens_after
    parts = []
    if before and after:
        parts.append(f"{before:,} → {after:,} tokens")
    elif before:
        parts.append(f"{before:,} tokens before")
    folded = compaction.facts.get("folded")
    if type(folded) is int:
        parts.append(f"{counted(folded, 'message')} folded")
    if compaction.seconds:
        parts.append(duration(compaction.seconds))
    return ", ".join(parts) or "what came before"


def _value_line(value: dict[str, Any]) -> str:
    label = value.get("label")
    about = f"  ({label})" if isinstance(label, str) and label.strip() else ""
    return f"{value['value']}{about}"
