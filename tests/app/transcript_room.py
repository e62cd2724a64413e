"""Items and handles that the transcript's tests share: a shown view and what a person does to it."""

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication

from app.items import CardItem, DayItem, Receipt, ReplyItem, UserItem
from app.transcript.model import TranscriptModel
from app.transcript.view import TranscriptView

WHEN = 1_793_000_000_000
CODE = "def area(a, b):\n    return a * b"
RICH = f"""Measure **twice**, see [the guide](https://example.org/guide) and `area`.

```python
{CODE}
```

| wood | mm |
|---|--:|
| oak | 22 |
| ash | 18 |

> Wood moves.

---

1. saw
2. plane
"""
LONG_LINE = "x = " + " + ".join(f"value_{k}" for k in range(60))


def receipt(**fields):
    """The receipt of a usual reply."""
    return Receipt(**{"sent": 6912, "read": 6912, "room": 1088} | fields)


def reply(name, text, **fields):
    """A finished reply."""
    return ReplyItem(name, text, **{"when_ms": WHEN, "model": "Tiny 1B"} | fields)


def user(name, text, **fields):
    """A message of the user."""
    return UserItem(name, text, WHEN, **fields)


def conversation(count):
    """So many items of different heights, each text with its number."""
    made = []
    for k in range(count):
        words = f"item {k} " + "about planing boards of oak and ash " * (1 + k * 7 % 23)
        if k % 2 == 0:
            made.append(user(f"i{k}", words[:300]))
        elif k % 11 == 0:
            made.append(reply(f"i{k}", f"{words}\n\n```python\n{CODE}\n```\n"))
        else:
            made.append(reply(f"i{k}", words, receipt=receipt()))
    return made


def full_house():
    """One item of every kind and state."""
    return [
        DayItem("day", WHEN),
        CardItem(
            "fold",
            "compaction",
            "Compacted: 7.6k → 2.9k",
            "24 messages folded",
            "They plan a shelf. " * 40,
            ("oak", "22 mm", "4 × M6", *(f"a rather long exact value {k}" for k in range(9))),
            "plum",
            WHEN,
            model="Tiny 1B",
        ),
        user("short", "How thick?"),
        reply(
            "rich", RICH, thinking="Let me think. " * 20, thought_seconds=4.2, receipt=receipt()
        ),
        user("long", "\n".join(f"line {k}" for k in range(20)), tokens=1204),
        reply("cut", "A beginning", state="cut"),
        CardItem("note", "local", "Status", "", "All is `well`.", when_ms=WHEN),
        CardItem("wrong", "error", "No model.", "", "Choose one.", tone="red"),
        CardItem("busy", "compacting", "Compacting context…", "2 of 3", done=2, total=3),
        user("next", "And then?", queued=True),
        reply("failed", "", state="failed", error="No answer.", remedy="Start the server."),
    ]


def show(qtbot, items, size=(1016, 640)):
    """A shown view of these items, painted."""
    view = TranscriptView()
    qtbot.addWidget(view)
    view.resize(*size)
    model = TranscriptModel(view)
    model.set_items(items)
    view.set_model(model)
    with qtbot.waitExposed(view):
        view.show()
    paint(view)
    return view


def paint(view):
    """Paint what is due, and only that."""
    QApplication.sendPostedEvents()
    QApplication.sendEvent(view.window(), QEvent(QEvent.Type.UpdateRequest))


def wheel(view, notches=0, *, pixels=None, sideways=0, at=None, modifiers=None):
    """Turn the wheel: notches up are positive, as Qt counts them."""
    place = QPointF(at) if at is not None else QPointF(view.viewport().rect().center())
    event = QWheelEvent(
        place,
        QPointF(view.viewport().mapToGlobal(place.toPoint())),
        pixels or QPoint(),
        QPoint(sideways * 120, notches * 120),
        Qt.MouseButton.NoButton,
        modifiers or Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view.viewport(), event)


def mouse(view, kind, place, button=Qt.MouseButton.LeftButton, modifiers=None):
    """A mouse event; a move has the left button down when `kind` is "drag"."""
    types = {
        "press": QEvent.Type.MouseButtonPress,
        "release": QEvent.Type.MouseButtonRelease,
        "double": QEvent.Type.MouseButtonDblClick,
        "drag": QEvent.Type.MouseMove,
        "move": QEvent.Type.MouseMove,
    }
    place = QPointF(place)
    held = Qt.MouseButton.NoButton if kind in ("release", "move") else button
    acting = Qt.MouseButton.NoButton if kind in ("drag", "move") else button
    event = QMouseEvent(
        types[kind],
        place,
        QPointF(view.viewport().mapToGlobal(place.toPoint())),
        acting,
        held,
        modifiers or Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(view.viewport(), event)


def click(view, place, **more):
    """Press and release."""
    mouse(view, "press", place, **more)
    mouse(view, "release", place, **more)


def part_of(view, name, action):
    """The part of an item with this action."""
    box = view.box(view.model.index_of(name))
    return next(part for part in box.parts if part.action == action)


def place_of(view, name, action):
    """The middle of a part, in the viewport; the item is brought into view first."""
    index = view.model.index_of(name)
    part = part_of(view, name, action)
    view.show_span(index, part.rect.top(), part.rect.bottom())
    part = part_of(view, name, action)
    rect = part.rects[0] if part.rects else part.rect
    return QRectF(rect).center() + QPointF(view.item_rect(index).topLeft())


def use(view, name, action):
    """Click a part."""
    click(view, place_of(view, name, action))


def letter(view, name, position, run=0):
    """The middle of the letter after a position of an item's text, in the viewport."""
    index = view.model.index_of(name)
    caret = view.box(index).runs[run].caret(position)
    return caret.center() + QPointF(view.item_rect(index).topLeft()) + QPointF(1, 0)


def tops(view):
    """Where the visible items are, by id."""
    return {view.model[index].id: y for index, y in view.visible_items.items()}


def focus(qtbot, view):
    """Give the view the keyboard's focus as Tab does."""
    with qtbot.waitActive(view):
        view.activateWindow()
    view.clearFocus()
    view.setFocus(Qt.FocusReason.TabFocusReason)
    assert view.hasFocus()
