"""The transcript view with a long conversation: opening it, a reply that streams, the wheel."""

from PySide6.QtCore import QCoreApplication, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QWidget

from app.bridge import JOIN_MS
from app.items import ReplyItem
from app.transcript.model import TranscriptModel
from app.transcript.view import TranscriptView
from tests.bench.window import texts
from tests.bench.window.child import Stopwatch, summary
from tests.bench.window.painting import HEIGHT, WIDTH, application, paint, turn

TOKENS_A_SECOND = 100
_IDLE_TURNS = 400


def empty_view() -> tuple[TranscriptView, TranscriptModel]:
    """A shown view of nothing."""
    view = TranscriptView()
    model = TranscriptModel(view)
    view.set_model(model)
    view.resize(WIDTH, HEIGHT)
    view.show()
    paint(view)
    return view, model


def opening(count: int) -> dict[str, float]:
    """From the items to the painted end."""
    _app = application()
    items = texts.items(count)
    view, model = empty_view()
    watch = Stopwatch()
    model.set_items(items)
    view.scroll_to_end()
    paint(view)
    return {"ms": watch.wall, "cpu": watch.cpu, "documents": view.documents_built}


def streaming(count: int, characters: int = 8_000) -> dict[str, float]:
    """A long reply of everything there is, onto the end."""
    return _streaming(count, texts.Author(3).long_answer(characters))


def streaming_fence(lines: int) -> dict[str, float]:
    """An open fence of so many lines."""
    return _streaming(10, texts.Author(3).code(lines)[:-4], 1_000)


def streaming_table(rows: int) -> dict[str, float]:
    """A table of so many rows."""
    return _streaming(10, texts.Author(3).table(rows), 1_000)


def streaming_line(characters: int) -> dict[str, float]:
    """A line without a space."""
    return _streaming(10, "x" * characters, 1_000)


def _streaming(count: int, text: str, per_second: int = TOKENS_A_SECOND) -> dict[str, float]:
    """An update every frame, each painted; what the view does when idle counts for the duty."""
    _app = application()
    items = texts.items(count)
    view, model = empty_view()
    model.set_items([*items, ReplyItem("live:1", "", state="writing")])
    view.scroll_to_end()
    rest(view)
    updates, idle = [], [0.0]
    for shown in texts.chunks(text, per_second, JOIN_MS):
        watch = Stopwatch()
        new = ReplyItem("live:1", shown, state="writing", speed=100.0)
        model.set_items([*items, new], len(items))
        paint(view)
        updates.append(watch.cpu)
        idle += rest(view)
    watch = Stopwatch()
    model.set_items([*items, ReplyItem("stored", text)], len(items))
    paint(view)
    last = watch.cpu
    duty = (sum(updates) + sum(idle)) / (len(updates) * JOIN_MS)
    return {**summary(updates), "duty": 100 * duty, "last": last, "idle": max(idle)}


def rest(view: TranscriptView) -> list[float]:
    """Let the view do all it does when idle; the milliseconds of each turn."""
    turns = []
    while view._idle.isActive() and len(turns) < _IDLE_TURNS:
        watch = Stopwatch()
        turn()
        turns.append(watch.cpu)
    return turns


def wheel(count: int) -> dict[str, float]:
    """Up 300 notches from the end, then down 100 through what was seen."""
    _app = application()
    view, model = empty_view()
    model.set_items(texts.items(count))
    view.scroll_to_end()
    rest(view)
    steps, idle = [], [0.0]
    for notch in [1] * 300 + [-1] * 100:
        watch = Stopwatch()
        turn_wheel(view.viewport(), notch)
        paint(view)
        steps.append(watch.cpu)
        idle += rest(view)[:2]  # a quick hand leaves that much time
    return {**summary(steps), "idle": max(idle)}


def turn_wheel(viewport: QWidget, notch: int) -> None:
    """One notch of the wheel in the middle of a view."""
    place = QPointF(viewport.rect().center())
    event = QWheelEvent(
        place,
        QPointF(viewport.mapToGlobal(place.toPoint())),
        QPoint(),
        QPoint(0, notch * 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QCoreApplication.sendEvent(viewport, event)


def monster(kind: str) -> dict[str, float]:
    """A reply of 100 or 200 KB that is stored: shown, unfolded, scrolled to its start and back."""
    made = {
        "fence": lambda: texts.Author(5).code(4_500)[:200_000] + "\n```\n",
        "line": lambda: "x" * 100_000,
        "code_line": lambda: "```\n" + "x" * 100_000 + "\n```\n",
        "table": lambda: texts.Author(5).table(900),
        "prose": lambda: texts.Author(5).long_answer(200_000),
    }
    _app = application()
    before = texts.items(10)
    items = [*before, ReplyItem("big", made[kind]())]
    view, model = empty_view()
    model.set_items(before)
    rest(view)
    spans = []

    def do(what) -> None:
        watch = Stopwatch()
        what()
        paint(view)
        spans.append(watch.cpu)
        spans.extend(rest(view))

    do(lambda: model.set_items(items))
    for part in [part for part in view.box(len(items) - 1).parts if "show_code" in part.action]:
        do(lambda part=part: view.perform(len(items) - 1, part))
    do(view.scroll_to_end)
    do(lambda: view.scroll_to_item(len(items) - 1))
    do(lambda: view.resize(WIDTH - 200, HEIGHT))
    do(view.scroll_to_end)
    return {**summary(spans), "turns": len(spans), "first": spans[0]}
