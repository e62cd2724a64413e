"""What happens to a bug of ours: a trace for the reader, a report on the disk."""

import sys
import traceback

from app.reports import report_bug
from app.terminal.console import EXIT_BUG, Console
from engine.paths import Paths


def save_report(error: BaseException, paths: Paths | None, console: Console) -> int:
    """Print the trace, save it under the reports folder, and return the exit code for a bug."""
    trace = "".join(traceback.format_exception(error))
    console.say(trace.rstrip())
    console.say("This is a bug in Porthole. What you typed is kept.")
    if paths is not None:
        _, path = report_bug(error, paths.reports_dir)
        if path is not None:  # else the trace is on the screen; there is no place to keep it
            console.say(f"The report is saved as {path}")
    return EXIT_BUG


def is_interactive() -> bool:
    """Whether a person types: stdin is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()
