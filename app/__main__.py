"""Start-up: the command line in, an exit code out; where failures end up, and how.

The environment's fault is one sentence and what to do, the user's stop is silent, our bug is a
trace and a saved report. Commands load what they need when they are chosen, so that
`porthole status` starts at once.
"""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from app.terminal.console import EXIT_ENVIRONMENT, EXIT_OK, EXIT_STOPPED, Console
from app.terminal.parser import parse
from engine.errors import EnvironmentFault, Stopped

if TYPE_CHECKING:
    from app.wiring import Workplace

Command = Callable[[argparse.Namespace, "Workplace", Console], int]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    _speak_utf8()
    options = parse(sys.argv[1:] if argv is None else argv)
    console = Console()
    if options.version:
        return _print_version(console)
    workplace: Workplace | None = None
    try:
        if options.command is None:
            return _open_window(options)
        from app import wiring

        workplace = wiring.Workplace(options.profile, os.environ)
        return _command(options.command)(options, workplace, console)
    except EnvironmentFault as fault:
        console.say(str(fault))
        return EXIT_ENVIRONMENT
    except (KeyboardInterrupt, Stopped):
        console.clear_progress()
        return EXIT_STOPPED
    except BrokenPipeError:  # the reader of our output went away (| head)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK
    except Exception as error:  # noqa: BLE001  # the outermost frame: our bug gets its report
        from app.terminal.report import save_report

        return save_report(error, workplace.paths if workplace else None, console)


def _command(name: str) -> Command:
    """The function behind a command; imports only that command's modules."""
    run: Command
    match name:
        case "ask":
            from app.terminal.ask import run
        case "chat":
            from app.terminal.chat import run
        case "compact":
            from app.terminal.compact import run
        case "explain":
            from app.terminal.explain import run
        case "models":
            from app.terminal.models import run
        case "status":
            from app.terminal.status import run
        case _:
            from app.terminal.sessions import run
    return run


def _open_window(options: argparse.Namespace) -> int:
    """The window; Qt is loaded here and nowhere else. Raises EnvironmentFault without a screen."""
    if not (options.screenshot or has_screen(os.environ)):
        raise EnvironmentFault(
            "There is no screen here to open a window on.",
            "porthole chat talks in the terminal, porthole ask answers one question.",
        )
    from app.first_sight import show_ground

    ground = show_ground(options, os.environ)
    from app.desktop import run as run_window  # what takes long, while the ground stands there

    return run_window(options, os.environ, ground)


def has_screen(environ: Mapping[str, str]) -> bool:
    """Whether a window can be shown: a display is named, or the platform always has one."""
    if sys.platform in ("win32", "darwin"):
        return True
    wanted = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    return any(environ.get(name) for name in wanted)


def _print_version(console: Console) -> int:
    from importlib.metadata import version

    console.result(f"porthole {version('porthole')}")
    return EXIT_OK


def _speak_utf8() -> None:
    """Replies are in every script there is; a narrow locale must not end the program."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")


if __name__ == "__main__":
    sys.exit(main())
