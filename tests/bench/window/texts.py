"""Conversations to measure with: prose, lists, code, tables, quotations. All made up."""

import random
from collections.abc import Iterator

from app.items import DayItem, Item, ReplyItem, UserItem
from engine.testing import reply
from engine.transcript import Body, user

WHEN = 1_793_000_000_000
_MINUTE = 60_000
_STORY = (
    "the light of a lamp turns slowly over water and every keeper writes down what was seen at "
    "night because weather changes fast near rocks while boats come home before dark with their "
    "catch so that somebody must look after lens oil stairs door bell paint rope and log book"
)
_WORDS = _STORY.split()
_CODE = {
    "python": (
        "def bearing(here, there):",
        '    """Degrees from north, clockwise."""',
        "    north, east = there[0] - here[0], there[1] - here[1]",
        "    if north == east == 0:",
        "        raise ValueError('the same place')  # no bearing",
        "    return math.degrees(math.atan2(east, north)) % 360",
    ),
    "javascript": (
        "export function seconds(flashes, period = 20) {",
        "  // a group of flashes, then dark",
        "  return flashes.map((at, number) => at + number * period);",
        "}",
        'console.log(seconds([0, 2.5, 5], 15), "s");',
    ),
    "sql": (
        "SELECT name, height_m, count(*) AS visits",
        "FROM lights JOIN log ON log.light = lights.id",
        "WHERE seen_at >= '2024-03-01' AND height_m > 12.5",
        "GROUP BY name ORDER BY visits DESC LIMIT 20;",
    ),
}


class Author:
    """Writes texts, the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def words(self, count: int) -> str:
        """A sentence of so many words, one of them marked now and then."""
        chance = self._chance
        chosen = [chance.choice(_WORDS) for _ in range(count)]
        at = chance.randrange(count)
        mark = chance.choice(("**{}**", "*{}*", "`{}`", "[{}](https://example.org/a)", "{}", "{}"))
        chosen[at] = mark.format(chosen[at])
        return " ".join(chosen).capitalize() + "."

    def paragraph(self) -> str:
        """Three to five sentences."""
        sentences = range(self._chance.randint(3, 5))
        return " ".join(self.words(self._chance.randint(8, 18)) for _ in sentences)

    def list(self) -> str:
        """Three to six items."""
        mark = self._chance.choice(("- ", "1. "))
        return "\n".join(mark + self.words(9) for _ in range(self._chance.randint(3, 6)))

    def code(self, lines: int = 0) -> str:
        """A block of code, of about twelve lines or so many."""
        language = self._chance.choice(list(_CODE))
        source = _CODE[language]
        count = lines or self._chance.randint(5, 18)
        body = "\n".join(source[number % len(source)] for number in range(count))
        return f"```{language}\n{body}\n```"

    def table(self, rows: int = 0) -> str:
        """A table of four columns."""
        lines = ["| Light | Height | Period | Seen |", "|---|--:|--:|---|"]
        for number in range(rows or self._chance.randint(3, 8)):
            cells = self._chance.choice(_WORDS), self._chance.randint(5, 60), number
            lines.append(f"| {cells[0]} {number} | {cells[1]} m | {cells[2]} s | `{cells[0]}` |")
        return "\n".join(lines)

    def answer(self) -> str:
        """A reply of some 200 words: two paragraphs and what else such replies have."""
        chance = self._chance
        parts = [self.paragraph()]
        if chance.random() < 0.3:
            parts.append("## " + self.words(4))
        parts.append(chance.choice((self.list, self.list, self.code, self.table, self.quote))())
        parts.append(self.paragraph())
        if chance.random() < 0.3:
            parts.append(self.code())
        return "\n\n".join(parts)

    def quote(self) -> str:
        """A quotation."""
        return "> " + self.words(20)

    def question(self) -> str:
        """What a user asks."""
        return self.words(self._chance.randint(6, 30))

    def long_answer(self, characters: int) -> str:
        """Everything there is, until it is so long."""
        parts: list[str] = []
        while sum(map(len, parts)) < characters:
            parts.append(self.answer())
        return "\n\n".join(parts)[:characters]


def said(count: int) -> Iterator[tuple[str, str]]:
    """So many messages: role and text."""
    author = Author(7)
    for number in range(count):
        if number % 2:
            yield "assistant", author.answer()
        else:
            yield "user", author.question()


def items(count: int) -> list[Item]:
    """So many messages as the window gets them, with a day every 60."""
    made: list[Item] = []
    for number, (role, text) in enumerate(said(count)):
        when = WHEN + number * _MINUTE
        if number % 60 == 0:
            made.append(DayItem(f"day:{number}", when))
        if role == "user":
            made.append(UserItem(f"m{number}", text, when))
        else:
            made.append(ReplyItem(f"m{number}", text, when_ms=when, model="Tiny 1B"))
    return made


def bodies(count: int) -> list[Body]:
    """So many messages as the store keeps them."""
    return [user(text) if role == "user" else reply(text) for role, text in said(count)]


def chunks(text: str, per_second: int, frame_ms: int) -> Iterator[str]:
    """The text as it stands each frame, at so many tokens (of 4.2 characters) a second."""
    step = per_second * 4.2 * frame_ms / 1000
    for frame in range(1, int(len(text) / step) + 1):
        yield text[: round(frame * step)]
