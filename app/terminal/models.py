"""`porthole models`: what can be used here; fetch the starter; add a file; look at one model."""

import argparse
import asyncio
import json
from pathlib import Path
from typing import Any

from app.terminal.console import EXIT_OK, Console, megabytes
from app.terminal.fetch import better_models, ensure_starter
from app.terminal.modelfacts import CLOUD_WORDS, info_facts, window_facts
from app.wiring import Workplace
from engine.backends.base import ModelSummary
from engine.errors import EnvironmentFault
from engine.models import STARTER
from engine.settings import save_setting


def run(options: argparse.Namespace, workplace: Workplace, console: Console) -> int:
    """Do what was asked for about models."""
    match options.action:
        case "get":
            return asyncio.run(_get(workplace, console))
        case "add":
            return _add(options.path, workplace, console)
        case "info":
            return asyncio.run(_info(options, workplace, console))
        case _:
            return asyncio.run(_list(options, workplace, console))


async def _get(workplace: Workplace, console: Console) -> int:
    there = workplace.has_starter
    await ensure_starter(workplace, console)
    console.say(
        f"The starter model is {'already ' if there else ''}here: {workplace.starter_file}"
    )
    return EXIT_OK


def _add(text: str, workplace: Workplace, console: Console) -> int:
    """Put a file on the list; it stays where it is. Raises for what is no usable GGUF file."""
    name = workplace.model_name(f"llama.cpp:{text}")
    facts = window_facts(workplace, name)
    added = list(workplace.settings["models.added"])
    workplace.paths.ensure()
    if name.name not in added:
        save_setting(workplace.paths.settings_file, "models.added", [*added, name.name])
    console.say(f"Added {Path(name.name).name}. Use it: porthole ask --model {name.label} TEXT")
    for line in facts["lines"]:
        console.say(line[:1].upper() + line[1:])
    return EXIT_OK


async def _info(options: argparse.Namespace, workplace: Workplace, console: Console) -> int:
    try:
        facts = await info_facts(workplace, workplace.model_name(options.model))
    finally:
        await workplace.close()
    if getattr(options, "json", False):
        console.result(json.dumps(facts, ensure_ascii=False, indent=2))
    else:
        for line in facts["lines"]:
            console.result(line)
    return EXIT_OK


async def _list(options: argparse.Namespace, workplace: Workplace, console: Console) -> int:
    try:
        files, no_files = await _models_of(workplace, "llama.cpp")
        server, no_server = await _models_of(workplace, "ollama")
    finally:
        await workplace.close()
    groups = {
        STARTER: _starter(workplace),
        "llama.cpp": _own_files(workplace, files),
        "ollama": server,
    }
    reasons = {"llama.cpp": no_files, "ollama": no_server}
    if getattr(options, "json", False):
        console.result(json.dumps(_summary(groups, reasons), ensure_ascii=False, indent=2))
        return EXIT_OK
    for line in _lines(workplace, groups, reasons):
        console.result(line)
    for line in better_models(workplace):
        console.say(line)
    return EXIT_OK


async def _models_of(workplace: Workplace, backend: str) -> tuple[tuple[ModelSummary, ...], str]:
    """A backend's models, and why there are none when it cannot be asked."""
    try:
        return await workplace.backend(backend).list_models(), ""
    except EnvironmentFault as fault:
        return (), str(fault)


def _starter(workplace: Workplace) -> tuple[ModelSummary, ...]:
    manifest = workplace.starter
    here = workplace.has_starter
    where = "here" if here else "not fetched yet: porthole models get starter"
    return (ModelSummary(STARTER, manifest.size_bytes, f"{manifest.title}, {where}"),)


def _own_files(workplace: Workplace, found: tuple[ModelSummary, ...]) -> tuple[ModelSummary, ...]:
    """The files found in the folders and those the user added, without the starter's own."""
    added = []
    for text in workplace.settings["models.added"]:
        try:
            added.append(ModelSummary(text, Path(text).expanduser().stat().st_size, "added"))
        except OSError:
            added.append(ModelSummary(text, 0, "added, but it is not there now"))
    known = {str(workplace.starter_file), *(model.name for model in added)}
    return (*added, *(model for model in found if model.name not in known))


def _summary(
    groups: dict[str, tuple[ModelSummary, ...]], reasons: dict[str, str]
) -> dict[str, Any]:
    return {
        "models": [
            {
                "name": model.name if backend == STARTER else f"{backend}:{model.name}",
                "size_bytes": model.size_bytes,
                "details": model.details,
                "cloud": model.cloud,
            }
            for backend, models in groups.items()
            for model in models
        ],
        "problems": {backend: reason for backend, reason in reasons.items() if reason},
    }


def _lines(
    workplace: Workplace,
    groups: dict[str, tuple[ModelSummary, ...]],
    reasons: dict[str, str],
) -> list[str]:
    default = workplace.model_name(None).label
    summary = _summary(groups, reasons)
    lines = []
    for model in summary["models"]:
        mark = "*" if model["name"] == default else " "
        size = megabytes(model["size_bytes"]) if model["size_bytes"] else ""
        lines.append(f"{mark} {model['name']}  {size}  {model['details']}".rstrip())
        if model["cloud"]:
            allowed = workplace.settings["ollama.allow_cloud"]
            off = "" if allowed else "; off, as ollama.allow_cloud in the settings is false"
            lines.append(f"    {CLOUD_WORDS}{off}")
    lines += [f"  {backend}: {reason}" for backend, reason in summary["problems"].items()]
    return lines
