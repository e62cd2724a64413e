"""Sets Porthole up, then becomes it: `set_up.py run|test KEY [ARGUMENTS]`.

Started by packaging/start.sh with any Python from 3.11 on. KEY names the state of the files that
the set-up is made from; stored when everything is in place, it lets the shell skip all this.
Exit code 3 when something is missing, 130 and the like after a signal, else the application's.
"""

import signal
import sys


def _leave(number: int, _frame: object) -> None:
    sys.exit(128 + number)  # quietly, from wherever we are; what runs is stopped on the way


for _signal in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(_signal, _leave)

import os  # noqa: E402  # nothing may be interrupted with a trace
import time  # noqa: E402  # as above
from pathlib import Path  # noqa: E402  # as above

from steps import environment, llama, testing  # noqa: E402  # as above
from steps.plan import Mode, Step, all_done, carry_out, is_pending, plan_steps  # noqa: E402  # as above
from steps.site import Site, find_site, replace_text  # noqa: E402  # as above
from steps.work import Console, SetUpFailed, Worker, format_seconds  # noqa: E402  # as above

_WAITING = "Another set-up of this folder is running; waiting for it ..."


def plan(site: Site, mode: Mode) -> tuple[list[Step], list[Step]]:
    """All steps, and those of them that have to be done."""
    environ = dict(os.environ)
    stamps = site.stamps.read()
    python = environment.environment_version(site, environ.get("PYTHON"), stamps)
    made = environment.environment_stamp(site)
    make = Step("environment", "Python environment", made, environment.make_environment)
    stamps = stamps if python else {}
    steps = plan_steps(site, mode, environ, python or environment.RUNNING, stamps)
    pending = [step for step in steps if is_pending(step, stamps.get(step.name, ""))]
    return steps, pending if python else [make, *pending]


def set_up(site: Site, mode: Mode, key: str, console: Console) -> None:
    """Do what has to be done. Raises SetUpFailed."""
    worker = Worker(console, site.log)
    steps, pending = plan(site, mode)
    if pending:
        with worker.lock(site.own / "lock", _WAITING):
            steps, pending = plan(site, mode)  # another set-up may have done it meanwhile
            _do(site, worker, pending)
    if all_done(steps, site.stamps.read()):
        replace_text(site.ready, key)


def _do(site: Site, worker: Worker, pending: list[Step]) -> None:
    if not pending:
        return
    started = time.monotonic()
    site.ready.unlink(missing_ok=True)
    site.stamps.put("environment", environment.environment_stamp(site))  # also one made by hand
    worker.console.say(
        f"Setting up Porthole in {site.root} with Python {environment.RUNNING}. "
        "Once interrupted it goes on where it stopped."
    )
    notes = carry_out(pending, site, worker)
    for note in notes:
        worker.console.say(note)
    worker.console.say(f"Set up in {format_seconds(time.monotonic() - started)}.")


def hand_over(site: Site, mode: Mode, arguments: list[str]) -> None:
    """Become the application, or the tests."""
    environ = {
        name: value
        for name, value in os.environ.items()
        if name not in (llama.WHEELS_VARIABLE, llama.RETRY_VARIABLE)
    }
    programs = site.venv / "bin"
    if mode == "run":
        os.execve(programs / "porthole", ["porthole", *arguments], environ)
    os.chdir(site.root)
    environ = testing.plan_environ(site, environ)
    if arguments:
        os.execve(site.python, ["python", "-m", "pytest", *arguments], environ)
    os.execve(programs / "poe", ["poe", "check"], environ)


def main() -> int:
    """Set up and hand over; returns only when that failed."""
    mode: Mode = "test" if sys.argv[1] == "test" else "run"
    console = Console()
    try:
        site = find_site(Path(__file__).resolve().parents[1], os.environ)
        set_up(site, mode, sys.argv[2], console)
        hand_over(site, mode, sys.argv[3:])
    except (SetUpFailed, OSError) as failure:
        console.say(str(failure))
    finally:
        console.wipe()
    return 3


sys.exit(main())
