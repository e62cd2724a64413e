"""The report of a bug of ours: what to write, and where. Only people pass it on."""

import platform
import traceback
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

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
    """Write a report and keep the latest few; None when it cannot be written."""
    path = folder / f"report-{moment:%Y%m%d-%H%M%S}.txt"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        for old in sorted(folder.glob(_PATTERN))[:-_KEPT]:
            old.unlink()
    except OSError:
        return None
    return path
