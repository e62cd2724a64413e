"""A conversation of many turns, written down turn by turn, and what must hold of it."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from engine.budget import plan_budget
from engine.events import CompactionEnded, Receipt, TurnEnded
from engine.session import Session

PLACES = ("Skagen", "Kullen", "Marstrand", "Vinga", "Holmen", "Utsira", "Lista", "Ryvarden")
THINGS = ("a lens", "two barrels of oil", "a brass clock", "the spare wick", "a coil of rope")
PEOPLE = ("Ingrid", "Tomas", "Old Berg", "the pilot", "the new apprentice", "Captain Lund")
WEATHER = ("fog from the west", "a clear night", "hard rain", "ice on the rail", "a falling glass")


def diary(number: int, tokens: int, seed: int = 7) -> str:
    """A page of a lighthouse diary of about that many tokens; every page is another one."""
    chance = random.Random(seed * 1_000 + number)
    lines = [f"Page {number}. Here is what happened; note it, and answer in one short sentence."]
    while len(" ".join(lines)) < 4 * tokens:
        lines.append(
            f"At {chance.randrange(24):02}:{chance.randrange(60):02} {chance.choice(PEOPLE)} brought "
            f"{chance.choice(THINGS)} to {chance.choice(PLACES)}; there was "
            f"{chance.choice(WEATHER)}, and we counted {chance.randrange(2, 90)} ships."
        )
    return " ".join(lines)


@dataclass
class Row:
    """One turn: tokens sent, read, reused and written, and the compactions it had."""

    turn: int
    sent: int = 0
    read: int = 0
    reused: int = 0
    written: int = 0
    ended: str = ""
    compactions: list[CompactionEnded] = field(default_factory=list)

    @property
    def prompt(self) -> int:
        """Tokens of the prompt as the backend reported them."""
        return self.read + self.reused

    def line(self) -> str:
        folds = "; ".join(
            f"{c.reason}: {c.before_tokens:,} → {c.after_tokens:,}, {c.folded} folded, "
            f"{c.entry.body.way if c.entry else c.outcome}, {c.seconds:.1f} s"
            for c in self.compactions
        )
        return (
            f"{self.turn:>4} {self.sent:>7,} {self.read:>7,} {self.reused:>7,} "
            f"{self.written:>6,}  {folds}"
        ).rstrip()


HEADER = "turn    sent    read  reused  wrote  compaction"


async def talk(session: Session, texts: list[str]) -> list[Row]:
    """Say the texts one after the other; a row for each."""
    rows = []
    for number, text in enumerate(texts, 1):
        row = Row(number)
        async for event in session.send(text):
            match event:
                case Receipt(sent_tokens=sent, usage=usage):
                    row.sent, row.written = sent, usage.written_tokens
                    row.read, row.reused = usage.read_tokens, usage.reused_tokens
                case CompactionEnded():
                    row.compactions.append(event)
                case TurnEnded(reason=reason, error=error):
                    row.ended = f"{reason} {error or ''}".strip()
        rows.append(row)
    return rows


def complaints(rows: list[Row], window: int, *, slack: int = 0) -> Iterator[str]:
    """What does not hold: the issue's conditions on a long conversation.

    `slack`: tokens a reply may be read again beyond what is new (a template's turn marks).
    """
    budget = plan_budget(window).prompt
    for row in rows:
        yield from _complaints_of(row, budget)
    turns = [row.turn for row in rows for _ in row.compactions]
    if not 2 <= len(turns) <= 5:
        yield f"{len(turns)} compactions"
    for one, two in pairwise(turns):
        if two - one < 4:
            yield f"compactions in turns {one} and {two}"
    for before, row in pairwise(rows):
        new = row.prompt - before.prompt - before.written
        if not (before.compactions or row.compactions) and row.read > new + slack:
            yield f"turn {row.turn} read {row.read}, {new} were new"


def _complaints_of(row: Row, budget: int) -> Iterator[str]:
    if not row.ended.startswith(("stop", "length")):
        yield f"turn {row.turn} ended: {row.ended}"
    if row.sent > budget:
        yield f"turn {row.turn} sent {row.sent}, over the budget of {budget}"
    for compaction in row.compactions:
        freed = compaction.before_tokens - compaction.after_tokens
        if compaction.outcome != "done" or freed < 0.3 * budget:
            yield f"turn {row.turn}: {compaction.outcome}, freed {freed} of {budget}"
