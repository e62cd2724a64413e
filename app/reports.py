"""The report of a bug of ours: what to write, and where. Only people pass it on."""

import platform
import traceback
from collections.abc import Mapping
from datetime import datetime
from importlib import metadata
from pathlib import Path

from engine.errors import EnvironmentFault, StoreReadOnly
from engine.paths import atomic_write, make_private

_KEPT = 20
_PATTERN = "report-*.txt"


def plan_report(
    error: BaseException, moment: datetime, versions: Mapping[str, str], home: str = ""
) -> str:
    """What happened, where, and on what; paths under `home` are written with "~".

    The values of variables are left out: they may hold what somebody wrote.
    """
    machine = {"system": platform.platform(terse=True), "python": platform.python_version()}
    facts = "\n".join(f"{name}: {value}" for name, value in {**versions, **machine}.items())
    trace = "".join(traceback.format_exception(error))
    if home:
        trace = trace.replace(home, "~")
    return f"Porthole stumbled on {moment:%Y-%m-%d at %H:%M:%S}\n\n{facts}\n\n{trace}"


def save_report(folder: Path, text: str, moment: datetime) -> Path | None:
    """Write a report, for its user only, and keep the latest few; None when it cannot be written."""
    path = folder / f"report-{moment:%Y%m%d-%H%M%S-%f}.txt"
    try:
        make_private(folder, fault=StoreReadOnly)
        atomic_write(path, text)
        for old in sorted(folder.glob(_PATTERN))[:-_KEPT]:
            old.unlink()
    except (EnvironmentFault, OSError):
        return None
    return path


def report_bug(error: BaseException, folder: Path) -> tuple[str, Path | None]:
    """Plan and save the report of a bug that happened now: its text, and where it is."""
    moment = datetime.now().astimezone()
    versions = {name: _version_of(name) for name in ("porthole", "PySide6_Essentials")}
    text = plan_report(error, moment, versions, str(Path.home()))
    text = text.encode("utf-8", "replace").decode("utf-8")  # a message may hold half a character
    return text, save_report(folder, text, moment)


def _version_of(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "not installed"
