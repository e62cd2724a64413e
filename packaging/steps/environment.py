"""The virtual environment, and what pip installs into it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from steps.site import Site, digest
from steps.system import offline
from steps.work import CommandFailed, Worker

PIP_QUIETLY = ("--no-input", "--disable-pip-version-check", "--progress-bar=off")
_BUILD_TABLES = ("build-system", "project")


RUNNING = ".".join(map(str, sys.version_info[:3]))
"""The version of the Python that runs this; an environment made by it has the same."""


def environment_stamp(site: Site) -> str:
    """The stamp of the environment: where it was made. Its scripts work nowhere else."""
    return str(site.root)


def environment_version(site: Site, chosen: str | None, stamps: Mapping[str, str]) -> str:
    """The version of the environment's Python, such as `3.11.7`.

    Empty when the environment has to be made: it does not work, has no whole pip, was moved or
    copied here, or is not of the Python the user chose (PYTHON=). One made by hand will do.
    """
    if stamps.get("environment", environment_stamp(site)) != environment_stamp(site):
        return ""
    if not any(map(_is_whole, site.venv.glob("lib/python*/site-packages/pip-*.dist-info"))):
        return ""
    there = RUNNING if Path(sys.prefix) == site.venv else _version_of(site.python)
    return (
        there if not chosen or there == _version_of(Path(shutil.which(chosen) or chosen)) else ""
    )


def _version_of(python: Path) -> str:
    """The version of a Python; empty when it does not run."""
    code = "import sys; print('.'.join(map(str, sys.version_info[:3])))"
    try:
        done = subprocess.run(
            [python, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.decode().strip()


def make_environment(site: Site, worker: Worker) -> None:
    """Make the environment anew. What the set-up itself keeps in its folder stays."""
    for path in site.venv.iterdir():
        if path == site.own:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    site.stamps.clear()
    base = getattr(sys, "_base_executable", sys.executable)
    worker.run(
        (base, "-m", "venv", site.venv), failure="The Python environment could not be made."
    )


def libraries_key(site: Site, python: str) -> str:
    """Changes when other libraries are wanted, or another Python runs, or the folder moved."""
    project = site.project()
    wanted = {name: project.get(name) for name in _BUILD_TABLES}
    return digest(wanted, project.get("tool", {}).get("setuptools"), python, str(site.root))


def install_libraries(site: Site, worker: Worker) -> None:
    """Install Porthole, editable, with everything it needs but llama.cpp."""
    pip_install(site, worker, ("--editable", str(site.root)))
    # Porthole's own modules would be compiled at every start where PYTHONDONTWRITEBYTECODE is set.
    folders = [site.root / name for name in ("app", "engine") if (site.root / name).is_dir()]
    worker.run(
        (site.python, "-m", "compileall", "-q", *folders), failure="Porthole does not compile."
    )


def tools_key(site: Site, python: str) -> str:
    """Changes when other tools are wanted for the tests."""
    return digest(site.project().get("dependency-groups"), python)


def install_tools(site: Site, worker: Worker) -> None:
    """Install what the tests need: the group `dev`, read here since pip knows groups from 25.1."""
    pip_install(site, worker, site.project()["dependency-groups"]["dev"])


def pip_install(site: Site, worker: Worker, wanted: Sequence[str], *, what: str = "") -> None:
    """Install packages; the user's pip settings hold. Raises SetUpFailed."""
    sweep_half_installed(site.venv)
    try:
        worker.run(
            (site.python, "-m", "pip", "install", *PIP_QUIETLY, *wanted),
            failure=what or "The libraries could not be installed.",
            environ={"PIP_USER": "0"},
            on_line=shorten_pip_line,
        )
    except CommandFailed as error:
        if offline(error):
            error = CommandFailed(
                "The package index cannot be reached; connect to the network, then run the same "
                "command again: it goes on where it stopped.",
                error.said,
                worker.log,
            )
        raise error from None


def shorten_pip_line(line: str) -> str:
    """What a line of pip's output says of its progress: what is fetched, what is installed."""
    words = line.split()
    if words[:1] == ["Collecting"] and len(words) > 1:
        return f"looking for {words[1].split('>')[0].split('<')[0].split('=')[0].split(';')[0]}"
    if words[:1] == ["Downloading"] and len(words) > 1:
        name = words[1].rsplit("/", 1)[-1].split("-")[0]
        return f"downloading {name} {' '.join(words[2:4])}".strip()
    if words[:2] == ["Installing", "collected"]:
        return f"installing {line.count(',') + 1} packages"
    return " ".join(words[:2]).lower() if words[:1] in (["Building"], ["Preparing"]) else ""


def sweep_half_installed(venv: Path) -> list[str]:
    """Remove the records of packages whose installation was interrupted; returns their names.

    pip takes a package for installed as soon as its metadata are there, yet it writes the scripts
    and the final list of files (RECORD, in which its own INSTALLER stands) last.
    """
    swept = []
    for folder in venv.glob("lib/python*/site-packages"):
        for record in folder.glob("*.dist-info"):
            if not _is_whole(record):
                shutil.rmtree(record)
                swept.append(record.name.removesuffix(".dist-info"))
        for leftover in folder.glob("~*"):  # pip's name for what it is replacing
            if leftover.is_dir():
                shutil.rmtree(leftover)
            else:
                os.unlink(leftover)
    return sorted(swept)


def _is_whole(record: Path) -> bool:
    try:
        listed = (record / "RECORD").read_text(encoding="utf-8")
    except OSError:
        return False
    return f"{record.name}/INSTALLER," in listed
