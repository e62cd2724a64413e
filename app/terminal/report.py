"""What happens to a bug of ours: a trace for the reader, a report on the disk."""

import platform
import sys
import traceback
from datetime import UTC, datetime

from app.terminal.console import EXIT_BUG, Console
from engine.errors import EnvironmentFault
from engine.paths import Paths, atomic_write


def save_report(error: BaseException, paths: Paths | None, console: Console) -> int:
    """Print the trace, save it under the reports folder, and return the exit code for a bug."""
    trace = "".join(traceback.format_exception(error))
    console.say(trace.rstrip())
    console.say("This is a bug in Porthole. What you typed is kept.")
    if paths is None:
        return EXIT_BUG
    head = f"Porthole, Python {platform.python_version()}, {platform.platform()}\n\n"
    name = f"{datetime.now(UTC):%Y-%m-%dT%H-%M-%S-%f}.txt"
    try:
        paths.ensure()
        atomic_write(paths.reports_dir / name, head + trace)
    except EnvironmentFault:
        return EXIT_BUG  # the trace is on the screen; there is no place to keep it
    console.say(f"The report is saved as {paths.reports_dir / name}")
    return EXIT_BUG


def is_interactive() -> bool:
    """Whether a person types: stdin is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()
