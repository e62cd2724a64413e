"""The demonstration in English."""

from app.demo.told import Told, exchange, folded, reply
from engine.transcript import Body, user

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

CODE = """This says whether a point lies on an A4 sheet:

```python
def holds(sheet: Sheet, east: float, north: float) -> bool:
    \"\"\"Whether a point lies on a sheet of 5.2 by 7.4 km.\"\"\"
    return 0 <= east - sheet.west <= 5_200 and 0 <= north - sheet.south <= 7_400
```

It counts in metres, so `holds(sheet, 431_200, 6_402_950)` needs projected coordinates, not degrees.
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
    """The conversations, the newest first."""
    return (
        Told("Printing a walking map", 0.02, _map_talk()),
        Told(
            "按比例打印地图",
            0.2,
            exchange("我想打印一张徒步地图，比例尺是 1:25 000，可以吗？", CHINESE),
        ),
        Told(
            "Names for a sailing boat",
            1.1,
            exchange(
                "Names for a small wooden boat?",
                "*Skarv*, *Terna*, *Alke*: all sea birds, all short enough to call.",
            ),
        ),
        Told(
            "Why bread needs salt",
            3.4,
            exchange(
                "Why does bread need salt?",
                "It slows the yeast and tightens the gluten; without it a loaf rises fast and falls.",
            ),
        ),
        Told(
            "Reading an old tide table",
            6.0,
            exchange(
                "What does MHWS mean?",
                "**Mean high water springs**: the average height of high water at spring tides.",
            ),
        ),
        Told(
            "A letter to the harbour office",
            21.0,
            exchange(
                "Please make this politer.",
                "“We would be grateful if you could tell us when the crane is free.”",
            ),
        ),
        Told(
            "Knots that hold on wet rope",
            64.0,
            exchange(
                "Which knots hold on wet rope?",
                "The bowline holds; the reef knot slips. A sheet bend with two turns is safer.",
            ),
        ),
    )


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
        folded(
            summary,
            (("path", "~/maps/coast.gpx"), ("amount", "50 mm"), ("id", "1:25,000")),
        ),
        user("And if I only have a printer for A5?"),
        reply(
            "Two sheets do, side by side, with 8 mm of overlap to glue.",
            prompt=2_996,
            reused=2_914,
        ),
    )
