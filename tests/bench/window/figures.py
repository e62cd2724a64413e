"""The window's figures: what is measured, beside what, and how good it must be."""

import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from tests.bench.figure import Figure
from tests.bench.window.child import best, measured
from tests.bench.window.start import starting
from tests.bench.window.stored import fill, fill_many

MANY, FEW, BASE = 10_000, 100, 1_000
FULL = 136
"""Messages of about 32,000 tokens."""
CONVERSATIONS = 5_000
_BROWSER = f"QTextBrowser, {BASE:,} messages"
_folders: list[tempfile.TemporaryDirectory[str]] = []  # removed when the bench ends


def _folder() -> Path:
    _folders.append(tempfile.TemporaryDirectory(prefix="porthole-bench-"))
    return Path(_folders[-1].name)


@cache
def _long_profile() -> Path:
    folder = _folder()
    fill(folder, FEW, FULL, MANY)
    return folder


@cache
def _many_profile() -> Path:
    folder = _folder()
    fill_many(folder, CONVERSATIONS)
    return folder


@cache
def _page(what: str) -> dict[str, float]:
    return measured(f"page.{what}", MANY)


@cache
def _browser(what: str) -> dict[str, float]:
    return measured(f"browser.{what}", BASE)


@cache
def _shell(what: str) -> dict[str, float]:
    return measured(f"shell.{what}", _long_profile(), MANY)


def _within(value: float, unit: str, base: tuple[float, str], most: float) -> Figure:
    return Figure(value, unit, base[0], base[1], f"value <= {most:g}", value <= most)


def page_open() -> Figure:
    """The view: from 10,000 items to the painted end."""
    ours = best("page.opening", MANY)["ms"]
    return _within(ours, "ms", (_browser("opening")["ms"], _BROWSER), 250)


def page_open_scale() -> Figure:
    """The same beside 100 items."""
    ours, few = best("page.opening", MANY)["ms"], best("page.opening", FEW)["ms"]
    return Figure(ours, "ms", few, f"{FEW} messages", "<= 2", ours <= 2 * few)


def window_open() -> Figure:
    """A stored conversation: from asking the engine to its painted end."""
    ours = best("shell.opening", _long_profile(), MANY)["ms"]
    return _within(ours, "ms", (_browser("opening")["ms"], _BROWSER), 250)


def window_open_scale() -> Figure:
    """The same beside a conversation of 100."""
    ours = best("shell.opening", _long_profile(), MANY)["ms"]
    few = best("shell.opening", _long_profile(), FEW)["ms"]
    return Figure(ours, "ms", few, f"{FEW} messages", "<= 2", ours <= 2 * few)


def window_memory() -> Figure:
    """Resident memory of the process, without a model, with all of the conversation."""
    ours = measured("shell.opening", _long_profile(), MANY)["rss"]
    return _within(ours, "MB", (_browser("opening")["rss"], _BROWSER), 160)


def stream(where: Callable[[str], dict[str, float]], key: str, most: float) -> Figure:
    """A reply at 100 tokens/s: main-thread time of an update, or all of it in percent."""
    unit = "%" if key == "duty" else "ms"
    return _within(where("streaming")[key], unit, (_browser("streaming")[key], _BROWSER), most)


def wheel() -> Figure:
    """A notch of the wheel, painted."""
    return _within(_page("wheel")["p99"], "ms", (_browser("wheel")["p99"], _BROWSER), 6)


def window_start() -> Figure:
    """From starting the process to a window on the screen (its ground), warm."""
    times = _starts()
    ours, empty = times["ground"], times["empty"]
    return Figure(ours, "ms", empty, "empty PySide6 window", "<= 1.5", ours <= 1.5 * empty)


def window_start_whole() -> Figure:
    """The same to the window with everything in it; no goal is set for it."""
    times = _starts()
    return Figure(times["whole"], "ms", times["empty"], "empty PySide6 window", "none", True)


@cache
def _starts() -> dict[str, float]:
    return starting()


def sidebar_scroll() -> Figure:
    """A notch of the wheel over 5,000 conversations, painted."""
    ours = measured("shell.sidebar", _many_profile())["p99"]
    return _within(ours, "ms", (_browser("wheel")["p99"], _BROWSER), 6)


def sidebar_search() -> Figure:
    """From a letter of a search over 5,000 conversations to the painted answer, the median."""
    run = _searching()
    return _within(run["median"], "ms", (run["busy"], "of it on the main thread"), 250)


@cache
def _searching() -> dict[str, float]:
    return measured("shell.searching", _many_profile())


def typing() -> Figure:
    """From a keystroke in the composer of a full 32K conversation to its paint."""
    run = measured("shell.typing", _long_profile(), FULL)
    return _within(run["p99"], "ms", (run["median"], "median"), 16)


def monster(kind: str) -> Figure:
    """The longest turn of the main thread with a huge reply: shown, unfolded, resized."""
    run = measured("page.monster", kind)
    return _within(run["max"], "ms", (run["median"], "median turn"), 100)


def monster_stream(kind: str, size: int) -> Figure:
    """The longest turn of the main thread while a huge block streams at 1,000 tokens/s."""
    run = measured(f"page.streaming_{kind}", size)
    longest = max(run["max"], run["idle"], run["last"])
    return _within(longest, "ms", (run["median"], "median update"), 100)


def heartbeat(kind: str, *arguments: Callable[[], object]) -> Figure:
    """How late a beat of 10 ms on the main thread is at most while the engine is in trouble."""
    run = measured(f"heart.{kind}", *(argument() for argument in arguments))
    return _within(run["late"], "ms", (run["rest"], "at rest"), 100)


FIGURES: dict[str, Callable[[], Figure]] = {
    "page_open": page_open,
    "page_open_scale": page_open_scale,
    "window_open": window_open,
    "window_open_scale": window_open_scale,
    "window_memory": window_memory,
    "stream_p99": partial(stream, _page, "p99", 12),
    "stream_duty": partial(stream, _page, "duty", 20),
    "window_stream_p99": partial(stream, _shell, "p99", 12),
    "window_stream_duty": partial(stream, _shell, "duty", 20),
    "wheel_p99": wheel,
    "window_start": window_start,
    "window_start_whole": window_start_whole,
    "sidebar_scroll_p99": sidebar_scroll,
    "sidebar_search": sidebar_search,
    "typing_p99": typing,
    "monster_fence": partial(monster, "fence"),
    "monster_line": partial(monster, "line"),
    "monster_code_line": partial(monster, "code_line"),
    "monster_table": partial(monster, "table"),
    "monster_stream_fence": partial(monster_stream, "fence", 1_500),
    "monster_stream_line": partial(monster_stream, "line", 30_000),
    "monster_stream_table": partial(monster_stream, "table", 400),
    "heartbeat_busy": partial(heartbeat, "busy", _long_profile, lambda: MANY),
    "heartbeat_worker": partial(heartbeat, "hanging_worker"),
    "heartbeat_server": partial(heartbeat, "silent_server"),
    "heartbeat_disk": partial(heartbeat, "slow_disk"),
}
