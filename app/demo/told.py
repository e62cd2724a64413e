"""What a demonstration is made of."""

from dataclasses import dataclass

from engine.transcript import Body, Compaction, Message, Text, Thinking, Usage, user

MODEL = "starter"


@dataclass(frozen=True, slots=True)
class Told:
    """One conversation: its title, how long ago it was (days), what was said in turn."""

    title: str
    days_ago: float
    said: tuple[Body, ...]


def reply(text: str, thinking: str = "", *, prompt: int = 900, reused: int = 700) -> Message:
    """A finished reply with what it cost."""
    parts = (Thinking(thinking), Text(text)) if thinking else (Text(text),)
    written = max(8, len(text) // 4)
    usage = Usage(prompt - reused, reused, written, 0.0, (prompt - reused) / 150, written / 40)
    return Message("assistant", parts, model=MODEL, stop_reason="stop", usage=usage)


def exchange(question: str, answer: str) -> tuple[Body, ...]:
    """A question and its answer."""
    return (user(question), reply(answer))


def folded(summary: str, values: tuple[tuple[str, str], ...]) -> Compaction:
    """A compaction with its summary, and exact values as (kind, value)."""
    return Compaction(
        summary,
        "",
        tokens_before=7_610,
        tokens_after=2_914,
        reason="threshold",
        way="in_place",
        model=MODEL,
        seconds=6.2,
        facts={
            "values": [{"kind": kind, "value": value} for kind, value in values],
            "folded": 24,
        },
    )
