"""What an Ollama double tells of its models: those stored, those loaded, and one in full."""

import math
from datetime import timedelta
from typing import Any

from engine.testing import ollama_rules as rules
from engine.testing.ollama_rules import Model
from engine.testing.ollama_state import START, Runner, State

_FOREVER = timedelta(days=106_751)
_GIB = 2**30
_EMBEDDING = 576


def tags(state: State) -> list[dict[str, Any]]:
    """The models, the one changed last first."""
    return [_tag(state, index, model) for index, model in reversed([*enumerate(_stored(state))])]


def _stored(state: State) -> list[Model]:
    return list(state.models.values())


def _tag(state: State, index: int, model: Model) -> dict[str, Any]:
    changed = START + timedelta(days=index)
    item = _identity(model) | {"modified_at": changed.isoformat().replace("+00:00", "Z")}
    if state.version >= rules.LLAMA_SERVER:
        item["capabilities"] = _capabilities(model, state.version)
        lengths = {"context_length": model.trained, "embedding_length": _EMBEDDING}
        item["details"] = item["details"] | lengths
    if model.remote_host:
        item |= {"remote_model": model.name, "remote_host": model.remote_host}
    return item


def processes(state: State) -> list[dict[str, Any]]:
    """The loaded models, longest expiry first."""
    runners = sorted(state.runners.values(), key=lambda runner: -runner.keep_alive)
    return [_process(state, runner) for runner in runners]


def _process(state: State, runner: Runner) -> dict[str, Any]:
    item = _identity(runner.model)
    on_card = min(item["size"], int(state.vram_gib * _GIB))
    item |= {"expires_at": _expiry(state, runner), "size_vram": on_card}
    if state.version >= (0, 10, 0):
        lies = state.switches.ps_lies
        item["context_length"] = runner.options.window if lies else state.live_window(runner)
    return item


def _expiry(state: State, runner: Runner) -> str:
    if runner.stuck:  # what `ollama ps` shows as `Stopping...`
        return (state.clock.now() - timedelta(seconds=60)).isoformat()
    if math.isinf(runner.keep_alive):
        return (START + _FOREVER).isoformat()
    return (runner.expiry or state.clock.after(runner.keep_alive)).isoformat()


def show(state: State, model: Model) -> dict[str, Any]:
    """A model's description."""
    parameters = list(model.parameters)
    if model.num_ctx:
        parameters.append(("num_ctx", str(model.num_ctx)))
    shown: dict[str, Any] = {
        "modelfile": f"FROM {model.name}",
        "parameters": "\n".join(f"{name:<30} {value}" for name, value in parameters),
        "template": model.template,
        "system": model.system,
        "messages": [dict(message) for message in model.messages] or None,
        "details": _details(model),
        "model_info": {
            "general.architecture": model.family,
            f"{model.family}.context_length": model.trained,
            f"{model.family}.block_count": 30,
            f"{model.family}.embedding_length": _EMBEDDING,
            f"{model.family}.attention.head_count": 9,
            f"{model.family}.attention.head_count_kv": 3,
        },
        "modified_at": START.isoformat(),
    }
    if state.version >= (0, 6, 4):
        shown["capabilities"] = _capabilities(model, state.version)
    if model.remote_host:
        shown |= {"remote_model": model.name, "remote_host": model.remote_host}
    return {name: value for name, value in shown.items() if value not in ("", None)}


def _capabilities(model: Model, version: rules.Version) -> list[str]:
    known = version >= rules.THINKING
    return [name for name in model.capabilities if known or name != "thinking"]


def _identity(model: Model) -> dict[str, Any]:
    return {
        "name": model.full_name,
        "model": model.full_name,
        "size": model.size,
        "digest": rules.digest_of(model),
        "details": _details(model),
    }


def _details(model: Model) -> dict[str, Any]:
    return {
        "parent_model": "",
        "format": "gguf",
        "family": model.family,
        "families": [model.family],
        "parameter_size": "135M",
        "quantization_level": "Q4_1",
    }
