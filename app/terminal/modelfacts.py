"""What is known of a model without running it, as JSON and as lines to read."""

from pathlib import Path
from typing import Any

from app.terminal.console import megabytes
from app.wiring import Workplace
from engine.backends.base import ModelInfo
from engine.errors import WindowBlocked
from engine.models import STARTER, ModelName, ModelPlan
from engine.readiness import plan_notices, plan_place, plan_ready
from engine.window import USUAL_WINDOWS

CLOUD_WORDS = "runs on ollama.com: what you write leaves this computer"


def window_facts(workplace: Workplace, name: ModelName) -> dict[str, Any]:
    """The default model and its window, without a server and without loading anything.

    Raises EnvironmentFault for a file that is missing or cannot be used.
    """
    if name.backend == "ollama":
        lines = ["asked of the Ollama server when it is used: porthole models info " + name.label]
        return {"name": name.label, "lines": lines, "window": None}
    if is_unfetched(workplace, name):
        manifest = workplace.starter
        info = workplace.starter_info()
        lines = [
            f"not fetched yet ({megabytes(manifest.size_bytes)}): porthole models get starter"
        ]
    else:
        info = _file_info(Path(name.name))
        lines = []
    window = planned_window(workplace.plan(name), info)
    return {"name": name.label, "lines": [*lines, *window.pop("lines")], "window": window}


def planned_window(plan: ModelPlan, info: ModelInfo) -> dict[str, Any]:
    """The window a model would get here and what the guard says of it; memory is not judged."""
    asked, _ = plan_ready(plan, info, None)
    window = asked.window
    try:
        told = [notice.text for notice in plan_notices(plan, window, asked.notes)]
        blocked = False
    except WindowBlocked as fault:
        told, blocked = [str(fault)], True
    return {
        "tokens": window.tokens,
        "source": window.source,
        "trained": window.trained,
        "blocked": blocked,
        "lines": [f"context window {window}", *told],
    }


def is_unfetched(workplace: Workplace, name: ModelName) -> bool:
    """Whether this is the starter, and its file is not here yet."""
    return name.label == STARTER and not workplace.has_starter


async def info_facts(workplace: Workplace, name: ModelName) -> dict[str, Any]:
    """Everything that can be told of a model; asks the server for an Ollama model."""
    if is_unfetched(workplace, name):
        info = workplace.starter_info()
    else:
        info = await workplace.backend(name.backend).describe(name.name)
    plan = plan_place(workplace.plan(name), info)
    window = planned_window(plan, info)
    window_lines = window.pop("lines")
    facts: dict[str, Any] = {
        "name": name.label,
        "title": info.title,
        "architecture": info.architecture,
        "parameters": info.parameters,
        "quantization": info.quantization,
        "weights_bytes": info.weights_bytes,
        "trained_window": info.trained_window,
        "configured_window": info.configured_window,
        "kv_bytes_per_token": info.kv_bytes_per_token,
        "capabilities": sorted(info.capabilities),
        "facts": dict(info.facts),
        "window": window,
        "cloud": info.cloud,
        "server": info.cuts,
    }
    facts["template_limits"] = await _template_limits(workplace, name)
    facts["lines"] = _lines(facts, window_lines)
    return facts


async def _template_limits(workplace: Workplace, name: ModelName) -> dict[str, Any] | None:
    """What the chat template of a file can do, tried out in a worker; None for a server's model."""
    from engine.backends.llamacpp import LlamaCppBackend

    backend = workplace.backend(name.backend)
    if not isinstance(backend, LlamaCppBackend) or is_unfetched(workplace, name):
        return None
    return dict(await backend.template_limits(name.name))


def template_words(limits: dict[str, Any]) -> str:
    """What a chat template can do, in words."""
    if limits["error"]:
        return f"its chat template is not used: {limits['error']}"
    can = {
        "system_role": "a system prompt",
        "consecutive_users": "two user messages in a row",
        "tools": "tool calls",
        "thinking": "thinking",
    }
    takes = [words for key, words in can.items() if limits[key]]
    lacks = [words for key, words in can.items() if not limits[key] and key != "thinking"]
    told = f"its chat template takes {', '.join(takes)}" if takes else "its chat template is plain"
    return told + (f"; worked around: {', '.join(lacks)}" if lacks else "")


def _file_info(path: Path) -> ModelInfo:
    from engine.backends.gguf import read_header

    header = read_header(path)
    return ModelInfo(
        str(path), architecture=header.architecture, trained_window=header.trained_window
    )


def _lines(facts: dict[str, Any], window_lines: list[str]) -> list[str]:
    about = [facts["title"], facts["architecture"], facts["parameters"], facts["quantization"]]
    lines = [facts["name"], "  " + ", ".join(text for text in about if text)]
    if facts["cloud"]:
        lines.append(f"  {CLOUD_WORDS}")
    if facts["server"]:
        lines.append(f"  {facts['server']}")
    if facts["weights_bytes"]:
        lines.append(f"  weights {megabytes(facts['weights_bytes'])}")
    if facts["kv_bytes_per_token"]:
        cost = [
            f"{window:,}: {megabytes(window * facts['kv_bytes_per_token'])}"
            for window in USUAL_WINDOWS
        ]
        lines.append("  memory of the context, by window: " + ", ".join(cost))
    lines += [f"  {line}" for line in window_lines]
    if facts["capabilities"]:
        lines.append("  can: " + ", ".join(facts["capabilities"]))
    if facts["template_limits"] is not None:
        lines.append("  " + template_words(facts["template_limits"]))
    return lines
