"""Ollama's JSON, both ways: requests as it wants them, answers as our values. Pure.

Every request to a model goes through `_request`, so that `num_ctx`, `shift`, `truncate` and
`keep_alive` are the same in all of them: a different load option makes the server load the model
again and throw its prefix cache away. Answers are read tolerantly: a field that is missing or of
another type is as if it were absent.
"""

import json
import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.backends.base import (
    Chunk,
    Finished,
    ModelInfo,
    ModelSummary,
    PromptMessage,
    PromptRequest,
    Sampling,
    TextChunk,
    Think,
    ThinkingChunk,
    ToolCallChunk,
)
from engine.backends.kv_cache import told_kv_bytes
from engine.backends.ollama_thinking import think_choices
from engine.errors import BackendFailed, Bug
from engine.transcript import StopReason, ToolCall, Usage

Json = Mapping[str, Any]
Version = tuple[int, int, int]

KEEP_ALIVE = "30m"
"""How long the server keeps the model after a request: a user reads and thinks before writing."""

NO_CUT_VERSION: Version = (0, 12, 6)
"""The first server that knows `truncate` and `shift`; older ones ignore them without a word."""

_WHOLE_SINCE: Version = (0, 2, 0)
_IN_PART: Version = (0, 30, 0)
_NANOSECONDS = 1e9


@dataclass(frozen=True, slots=True)
class PullProgress:
    """A step of fetching a model; bytes of the layer `digest`, 0 when unknown.

    `completed` may go backwards: a failed part of a layer is fetched again.
    """

    status: str
    completed: int = 0
    total: int = 0
    digest: str = ""


@dataclass(frozen=True, slots=True)
class RunningModel:
    """A model the server holds in memory. Tokens and bytes; 0 when the server does not say.

    `digest` is that of its content, "" when the server does not say. `expires_at` is when it goes
    if nothing is asked of it meanwhile, RFC 3339 by the server's clock; centuries away for never.
    """

    name: str
    window_tokens: int = 0
    size_bytes: int = 0
    vram_bytes: int = 0
    digest: str = ""
    expires_at: str = ""


# ---- names --------------------------------------------------------------------------------------


def full_name(model: str) -> str:
    """The name under which the server knows a model: lower case, with its tag."""
    name = model.strip().lower().removeprefix("registry.ollama.ai/").removeprefix("library/")
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def is_cloud_name(model: str) -> bool:
    """Whether the name alone says that the model runs on ollama.com."""
    tag = full_name(model).rpartition(":")[2]
    return tag == "cloud" or tag.endswith("-cloud")


def taken_over_words(found_tokens: int, asked_tokens: int) -> str:
    """That another program had the model loaded with another window than is asked for."""
    return (
        f"Another program made Ollama load the model with a window of {found_tokens:,} tokens: it "
        f"is loaded again with {asked_tokens:,}."
    )


def old_server_words(version: str) -> str:
    """What a server of this version, before `NO_CUT_VERSION`, may do, and what is done about it."""
    known = ".".join(str(part) for part in NO_CUT_VERSION)
    return (
        f"This Ollama server's version is {version}: before {known} it may drop the beginning of a "
        "long conversation in silence. Porthole counts more cautiously so that it need not; update "
        "the server to be sure."
    )


# ---- requests -----------------------------------------------------------------------------------


def load_body(model: str, window_tokens: int, keep_alive: str = KEEP_ALIVE) -> dict[str, Any]:
    """A request that loads a model and generates nothing."""
    return _request(model, window_tokens, {}, keep_alive) | {"messages": [], "stream": False}


def chat_body(request: PromptRequest, keep_alive: str = KEEP_ALIVE) -> dict[str, Any]:
    """A streamed chat request.

    Raises:
        Bug: `max_tokens` is not positive; the server would read that as ten times the window.
    """
    if request.max_tokens < 1:
        raise Bug(f"max_tokens must be at least 1, not {request.max_tokens}")
    options = _sampling(request.sampling) | {"num_predict": request.max_tokens}
    body = _request(request.model, request.window_tokens, options, keep_alive) | {
        "messages": [_message(message) for message in request.messages],
        "stream": True,
    }
    if request.tools:
        body["tools"] = list(request.tools)
    return with_think(body, request.think)


def with_think(body: Json, think: Think | None) -> dict[str, Any]:
    """A chat request that says this of thinking; None says nothing."""
    said = {name: value for name, value in body.items() if name != "think"}
    return said if think is None else said | {"think": think}


def _request(model: str, window_tokens: int, options: Json, keep_alive: str) -> dict[str, Any]:
    """What every request carries; an empty `keep_alive` leaves it to the server."""
    body = {
        "model": model,
        "options": {"num_ctx": window_tokens, **options},
        "truncate": False,
        "shift": False,
    }
    return body | ({"keep_alive": keep_alive} if keep_alive else {})


def _sampling(sampling: Sampling) -> dict[str, Any]:
    named = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": sampling.top_k,
        "min_p": sampling.min_p,
        "repeat_penalty": sampling.repeat_penalty,
        "seed": sampling.seed,
        "stop": list(sampling.stop) or None,
    }
    return {name: value for name, value in named.items() if value is not None}


def _message(message: PromptMessage) -> dict[str, Any]:
    body: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.thinking:
        body["thinking"] = message.thinking
    if message.images:
        body["images"] = list(message.images)
    if message.tool_calls:
        body["tool_calls"] = [
            {"id": call.id, "function": {"name": call.name, "arguments": dict(call.arguments)}}
            for call in message.tool_calls
        ]
    if message.tool_name:
        body["tool_name"] = message.tool_name
    if message.tool_call_id:
        body["tool_call_id"] = message.tool_call_id
    return body


# ---- answers ------------------------------------------------------------------------------------


def chunks_of(line: Json) -> list[Chunk]:
    """What one object of a chat stream brings: thinking, then text, then tool calls.

    Raises:
        BackendFailed: a tool call that cannot be understood.
    """
    message = mapping(line.get("message"))
    chunks: list[Chunk] = []
    if thinking := text(message, "thinking"):
        chunks.append(ThinkingChunk(_whole(thinking)))
    if content := text(message, "content"):
        chunks.append(TextChunk(_whole(content)))
    chunks.extend(ToolCallChunk(_tool_call(call)) for call in _items(message, "tool_calls"))
    return chunks


def is_last(line: Json) -> bool:
    """Whether this object ends the reply. Some gateways say why it ended and not that it did."""
    return line.get("done") is True or bool(text(line, "done_reason"))


def finished(line: Json, *, called: bool, tells_whole: bool = False) -> Finished:
    """The end of a reply out of the stream's last object; `called` if it holds tool calls.

    `tells_whole`: the server is of a version that reports whole prompts.
    """
    reason: StopReason = "tool_calls" if called else "stop"
    if text(line, "done_reason") == "length":
        reason = "length"
    return Finished(reason, _usage(line), tells_whole)


def tells_whole(version: str) -> bool:
    """Whether a server of this version reports every prompt, and whole; false if that is not known.

    Before 0.2.0, and in 0.30.0, it left out what came from its cache.
    """
    numbers = parse_version(version)
    return numbers is not None and numbers >= _WHOLE_SINCE and numbers != _IN_PART


def _usage(line: Json) -> Usage:
    return Usage(
        read_tokens=number(line, "prompt_eval_count"),
        written_tokens=number(line, "eval_count"),
        load_seconds=number(line, "load_duration") / _NANOSECONDS,
        read_seconds=number(line, "prompt_eval_duration") / _NANOSECONDS,
        write_seconds=number(line, "eval_duration") / _NANOSECONDS,
        reused_known=False,
    )


def model_summaries(tags: Json, *, cloud: bool = False) -> tuple[ModelSummary, ...]:
    """The models that can chat, in the server's order; `cloud`: the server is ollama.com."""
    listed = (item for item in _items(tags, "models") if _can_chat(item))
    return tuple(_summary(item, cloud=cloud) for item in listed)


def running_models(processes: Json) -> tuple[RunningModel, ...]:
    """The models in memory."""
    return tuple(
        RunningModel(
            text(item, "model") or text(item, "name"),
            number(item, "context_length"),
            number(item, "size"),
            number(item, "size_vram"),
            text(item, "digest"),
            text(item, "expires_at"),
        )
        for item in _items(processes, "models")
    )


def model_info(model: str, show: Json, size_bytes: int) -> ModelInfo:
    """What `/api/show` tells of a model."""
    known, details = mapping(show.get("model_info")), mapping(show.get("details"))
    architecture = text(known, "general.architecture") or text(details, "family")
    parameters = text(show, "parameters")
    capabilities = frozenset(x for x in _list(show, "capabilities") if isinstance(x, str))
    return ModelInfo(
        name=model,
        architecture=architecture,
        title=text(known, "general.basename") or model,
        trained_window=_trained_window(known, architecture),
        configured_window=modelfile_num_ctx(parameters),
        weights_bytes=size_bytes,
        kv_bytes_per_token=told_kv_bytes(known, architecture),
        parameters=text(details, "parameter_size"),
        quantization=text(details, "quantization_level"),
        template=text(show, "template"),
        capabilities=_with_eyes(capabilities, show, details),
        think=think_choices(capabilities, (model, architecture, text(details, "family"))),
        facts={name: value for name in _FACTS if (value := text(show, name))},
        cloud=is_remote(show) or is_cloud_name(model),
    )


def _with_eyes(told: frozenset[str], show: Json, details: Json) -> frozenset[str]:
    """What a model can do. Servers before 0.6.4 do not say; a model with a projector sees images."""
    families = (name for name in _list(details, "families") if isinstance(name, str))
    has_eyes = bool(mapping(show.get("projector_info"))) or not _EYES.isdisjoint(families)
    return told if told or not has_eyes else frozenset({"vision"})


_EYES = frozenset({"clip", "mllama"})
"""Families of a model's own part that sees, on servers that do not tell capabilities."""
_FACTS = ("license", "parameters", "system", "renderer", "parser", "modified_at", "requires")


def modelfile_num_ctx(parameters: str) -> int:
    """The last positive `num_ctx` of a Modelfile's parameters (tokens), 0 when there is none.

    `parameters` is text with one `name value` a line, as `/api/show` gives it.
    """
    values = re.findall(r"^[ \t]*num_ctx[ \t]+(\d{1,12})[ \t]*\r?$", parameters, re.MULTILINE)
    return next((int(value) for value in reversed(values) if int(value) > 0), 0)


def parse_version(value: str) -> Version | None:
    """Numbers of `0.33.0-rc2`; None when it is no version, or `0.0.0`, which any build may say."""
    match = re.match(r"v?(\d+)\.(\d+)\.(\d+)", value)
    if match is None:
        return None
    major, minor, patch = (int(part) for part in match.groups())
    return (major, minor, patch) if (major, minor, patch) != (0, 0, 0) else None


def pull_progress(line: Json) -> PullProgress:
    """One object of a pull's stream."""
    return PullProgress(
        text(line, "status"),
        number(line, "completed"),
        number(line, "total"),
        text(line, "digest"),
    )


def _tool_call(raw: Json) -> ToolCall:
    function = mapping(raw.get("function"))
    arguments, name = function.get("arguments"), text(function, "name")
    if isinstance(arguments, str):  # some gateways keep the OpenAI form
        try:
            arguments = json.loads(arguments)
        except ValueError:
            name = ""
    if not name or not isinstance(arguments, Mapping | None):
        raise BackendFailed("The model called a tool in a way that cannot be understood.")
    # Servers before 0.12.10 give no id; results are paired with calls by it.
    call_id = text(raw, "id") or f"call_{os.urandom(4).hex()}"
    return ToolCall(call_id, name, dict(arguments or {}))


def _trained_window(known: Json, architecture: str) -> int:
    exact = number(known, f"{architecture}.context_length")
    if exact > 0:
        return exact
    named = (number(known, key) for key in known if key.endswith(".context_length"))
    return next((value for value in named if value > 0), 0)


def _can_chat(item: Json) -> bool:
    capabilities = _list(item, "capabilities")  # servers before 0.30 do not list them
    return not capabilities or "completion" in capabilities


def is_remote(item: Json) -> bool:
    """Whether what the server lists or shows says that it has the model run by another server."""
    return bool(text(item, "remote_host") or text(item, "remote_model"))


def _summary(item: Json, *, cloud: bool) -> ModelSummary:
    details = mapping(item.get("details"))
    words = (text(details, key) for key in ("family", "parameter_size", "quantization_level"))
    said = ", ".join(filter(None, words))
    name, digest = text(item, "name"), text(item, "digest")
    cloud = cloud or is_remote(item) or is_cloud_name(name)
    size = 0 if cloud else number(item, "size")  # a stub's, or another disk's
    return ModelSummary(name, size, said, digest, cloud)


def _whole(words: str) -> str:
    """Text without lone surrogates, which no file could hold."""
    return words.encode("utf-8", "replace").decode("utf-8") if not words.isascii() else words


# ---- tolerant reading ---------------------------------------------------------------------------


def mapping(value: Any) -> Json:
    """The value if it is a JSON object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def text(holder: Json, key: str) -> str:
    """A string field, empty when absent."""
    value = holder.get(key)
    return value if isinstance(value, str) else ""


def number(holder: Json, key: str) -> int:
    """A number field as an integer, 0 when absent or negative."""
    value = holder.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0
    return max(0, int(value))


def _list(holder: Json, key: str) -> list[Any]:
    value = holder.get(key)
    return value if isinstance(value, list) else []


def _items(holder: Json, key: str) -> list[Json]:
    return [item for item in _list(holder, key) if isinstance(item, Mapping)]
