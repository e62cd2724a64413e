"""`porthole status`: where things are, and whether all is well. Starts nothing, asks no server."""

import argparse
import json
from typing import Any

from app.terminal.console import EXIT_OK, Console, megabytes
from app.terminal.modelfacts import window_facts
from app.wiring import Workplace
from engine.errors import EnvironmentFault
from engine.store import Store


def run(options: argparse.Namespace, workplace: Workplace, console: Console) -> int:
    """Print the status on stdout."""
    status = gather(workplace)
    if options.json:
        console.result(json.dumps(status, ensure_ascii=False, indent=2))
        return EXIT_OK
    for line in lines_of(status):
        console.result(line)
    return EXIT_OK


def gather(workplace: Workplace) -> dict[str, Any]:
    """Everything `status` knows, as JSON."""
    paths = workplace.paths
    status: dict[str, Any] = {
        "settings_file": str(paths.settings_file),
        "database": str(paths.database),
        "models_folder": str(paths.models_dir),
        "settings_problems": [str(problem) for problem in workplace.settings.problems],
        "conversations": None,
        "database_bytes": None,
        "model": None,
        "problems": [],
    }
    try:
        if paths.database.exists():
            with Store.open(paths.database, read_only=True) as store:
                rows = store.sessions()
            status["conversations"] = len(rows)
            status["total_tokens"] = sum(row.total_tokens for row in rows)
            status["database_bytes"] = paths.database.stat().st_size
        else:
            status["conversations"] = 0
    except EnvironmentFault as fault:
        status["problems"].append(str(fault))
    try:
        status["model"] = window_facts(workplace, workplace.model_name(None))
    except EnvironmentFault as fault:
        status["problems"].append(str(fault))
    return status


def lines_of(status: dict[str, Any]) -> list[str]:
    """The status as lines to read."""
    lines = []
    model = status["model"]
    if model is not None:
        lines.append(f"Model          {model['name']}")
        lines += [f"               {line}" for line in model["lines"]]
    size = status["database_bytes"]
    kept = f", {megabytes(size)}" if size else ""
    count = status["conversations"]
    lines.append(f"Conversations  {'unreadable' if count is None else f'{count:,}'}{kept}")
    lines.append(f"               {status['database']}")
    lines.append(f"Settings       {status['settings_file']}")
    lines += [f"  ! {problem}" for problem in status["settings_problems"]]
    lines.append(f"Model folder   {status['models_folder']}")
    lines += [f"  ! {problem}" for problem in status["problems"]]
    return lines
