"""Conversations to show the window with: a throw-away profile, filled as if it had been used.

Everything in it is made up. Times are relative to now, so that the list has its groups.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.store import Store
from engine.transcript import Body, Compaction, Message, Text, Thinking, Usage, user

MODEL = "starter"
_MINUTE_MS = 60_000
_DAY_MS = 86_400_000


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


PAPER = """A paper map keeps its scale only if the printer does. Set **“actual size”** in the print
dialogue, never *fit to page*, and measure the bar afterwards: it must be `50 mm` long.

| Paper | Covers at 1:25,000 | Sheets for 4 × 6 km |
|---|---:|---:|
| A4 | 5.2 × 7.4 km | 1 |
| A5 | 3.7 × 5.2 km | 2 |
| A6 | 2.6 × 3.7 km | 4 |

1. Choose the sheet that holds the walk with a finger's width around it.
2. Fold it so that the middle of the walk lies on no fold.
3. Write the date on it; paths change.
"""

CODE = """Here is a small function that cuts a track into sheets:

```python
from dataclasses import dataclass


@dataclass(frozen=True)
class Sheet:
    west: float
    south: float
    width_m: float = 5_200
    height_m: float = 7_400

    def holds(self, east: float, north: float) -> bool:
        \"\"\"Whether a point lies on this sheet.\"\"\"
        return 0 <= east - self.west <= self.width_m and 0 <= north - self.south <= self.height_m
```

It uses metres throughout, so `holds(431_200, 6_402_950)` needs projected coordinates, not degrees.
"""

CHINESE = """可以。把地图按 **1:25 000** 打印在 A4 纸上，一张纸大约覆盖 5.2 × 7.4 公里。

- 打印时选择“实际大小”，不要选“适合页面”。
- 打印后量一下比例尺，应为 50 毫米。
- 把路线中间放在没有折痕的地方。
"""

THOUGHT = (
    "The user walks 4 by 6 km. At 1:25,000 one A4 sheet holds 5.2 by 7.4 km, so one is enough. "
    "Smaller sheets are easier to fold; a table compares them."
)


def conversations() -> tuple[Told, ...]:
    """The conversations of a demonstration, the newest first."""
    return (
        Told("Printing a walking map", 0.02, _map_talk()),
        Told(
            "按比例打印地图",
            0.2,
            (user("我想打印一张徒步地图，比例尺是 1:25 000，可以吗？"), reply(CHINESE)),
        ),
        Told(
            "Names for a sailing boat",
            1.1,
            _short(
                "Names for a small wooden boat?",
                "*Skarv*, *Terna*, *Alke*: all sea birds, all short enough to call.",
            ),
        ),
        Told(
            "Why bread needs salt",
            3.4,
            _short(
                "Why does bread need salt?",
                "It slows the yeast and tightens the gluten; without it a loaf rises fast and falls.",
            ),
        ),
        Told(
            "Reading an old tide table",
            6.0,
            _short(
                "What does MHWS mean?",
                "**Mean high water springs**: the average height of high water at spring tides.",
            ),
        ),
        Told(
            "A letter to the harbour office",
            21.0,
            _short(
                "Please make this politer.",
                "“We would be grateful if you could tell us when the crane is free.”",
            ),
        ),
        Told(
            "Knots that hold on wet rope",
            64.0,
            _short(
                "Which knots hold on wet rope?",
                "The bowline holds; the reef knot slips. A sheet bend with two turns is safer.",
            ),
        ),
    )


class Clock:
    """The store's time while it is filled: moved to when a conversation was; milliseconds."""

    def __init__(self, now_ms: int) -> None:
        self._now = now_ms
        self.back_ms = 0

    def __call__(self) -> int:
        """The time."""
        return self._now - self.back_ms


def fill(store: Store, clock: Clock, messages: int = 0) -> str:
    """Put the conversations into a store that runs on `clock`; the id of the one to show.

    `messages`: so many are added to it before the others, for a long one.
    """
    first = ""
    for told in reversed(conversations()):
        clock.back_ms = int(told.days_ago * _DAY_MS)
        session = store.create_session(title=told.title, model=MODEL).id
        bodies: Sequence[Body] = told.said
        if told.title == conversations()[0].title:
            bodies = (*_many(messages), *bodies)
            first = session
        for body in bodies:
            store.append(session, body)
            clock.back_ms -= _MINUTE_MS if told.days_ago > 0.1 else 0
    return first


def _short(question: str, answer: str) -> tuple[Body, ...]:
    return (user(question), reply(answer))


def _map_talk() -> tuple[Body, ...]:
    summary = (
        "The user plans a walk of 4 by 6 km near the coast and wants it on paper. They chose "
        "1:25,000. Done: the track was cleaned and cut to the area. Next: choose the paper and print."
    )
    return (
        user("I have the track of a walk and want it on paper. Which scale?"),
        reply("1:25,000 shows every path. For cycling 1:50,000 is enough."),
        user("Then 1:25,000. How large a sheet do I need for 4 by 6 km?"),
        reply(PAPER, THOUGHT, prompt=1_204, reused=890),
        user("Can you write me something in Python that says whether a point is on a sheet?"),
        reply(CODE, prompt=1_790, reused=1_420),
        Compaction(
            summary,
            "",
            tokens_before=7_610,
            tokens_after=2_914,
            reason="threshold",
            way="in_place",
            model=MODEL,
            seconds=6.2,
            facts={
                "values": [
                    {"kind": "path", "value": "~/maps/coast.gpx"},
                    {"kind": "amount", "value": "50 mm"},
                    {"kind": "id", "value": "1:25,000"},
                ],
                "folded": 24,
            },
        ),
        user("And if I only have a printer for A5?"),
        reply(
            "Two sheets do, side by side, with 8 mm of overlap to glue.",
            prompt=2_996,
            reused=2_914,
        ),
    )


def _many(messages: int) -> Iterator[Body]:
    """A long conversation, every message another one."""
    chance = random.Random(11)
    things = ("the lamp", "the lens", "the stairs", "the boat", "the weather", "the log book")
    for number in range(messages // 2):
        thing = chance.choice(things)
        yield user(f"Question {number + 1}: what is to be done about {thing} today?")
        lines = [f"For {thing}, in this order:", ""]
        lines += [f"{n + 1}. Look at part {chance.randrange(2, 90)}." for n in range(3)]
        yield reply("\n".join(lines))
