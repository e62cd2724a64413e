"""What the tests need beside the application: the starter model, a screen, where things are."""

import os
import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path

from steps.site import Site, digest
from steps.sources import models_folder, pinned_version
from steps.system import find_machine, install_packages, plan_command
from steps.work import SetUpFailed, Worker

_XVFB = "Xvfb"


def starter_file(site: Site) -> Path:
    """The tests' copy of the starter model; it is kept for the next time."""
    return site.cache / "starter" / str(_manifest(site)["file"]["name"])


def starter_key(site: Site) -> str:
    """Changes when another starter is wanted."""
    return digest(_manifest(site)["file"], str(site.cache))


def _manifest(site: Site) -> dict[str, dict[str, object]]:
    path = site.root / "resources" / "starter.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def provide_starter(site: Site, worker: Worker) -> None:
    """Fetch the starter model with the application's own code."""
    worker.run(
        (site.python, site.root / "packaging" / "fetch_starter.py", starter_file(site).parent),
        failure="The tests need the starter model.",
        on_line=lambda line: line,
    )


def has_screen() -> bool:
    """Whether windows can be shown where nobody looks: Xvfb is installed."""
    return shutil.which(_XVFB) is not None


def screen_failure_key() -> str:
    """The stamp of a set-up without a screen; changes when somebody installs one."""
    return "failed, and there is one now" if has_screen() else "failed"


def provide_screen(_site: Site, worker: Worker) -> None:
    """Make sure there is a screen for the window's tests; installs one as root on Debian and Ubuntu.

    Raises SetUpFailed with the command to type; the tests paint without a screen then.
    """
    if has_screen():
        return
    machine = find_machine()
    if machine.installs:
        install_packages(worker, "screen")
        if has_screen():
            return
    raise SetUpFailed(f"There is no Xvfb: {plan_command(machine, 'screen')}")


def plan_environ(site: Site, environ: Mapping[str, str]) -> dict[str, str]:
    """The variables the tests run with: the environment first in PATH, and where their files are."""
    models = models_folder(site, pinned_version(site))
    return {
        **environ,
        "VIRTUAL_ENV": str(site.venv),
        "PATH": f"{site.venv / 'bin'}{os.pathsep}{environ.get('PATH', '')}",
        "PORTHOLE_TEST_MODEL": str(starter_file(site)),
        "PORTHOLE_TEST_TEMPLATES": str(models / "templates"),
        "PORTHOLE_TEST_VOCABS": str(models),
    }
