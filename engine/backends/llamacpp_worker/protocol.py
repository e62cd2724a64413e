"""The words between the application and its llama.cpp worker: JSON objects, one per line.

The application says ``do`` (load, count, measure, stream, probe, save, restore, stop), the worker answers with
``say``; every message carries the ``job`` it belongs to, a number the application chose (null for
the pulse, "working"). A job ends with exactly one of `ENDINGS`::

    {"do": "stream", "job": 7, "request": {…}}
    {"say": "reading", "job": 7, "read": 128, "total": 300, "reused": 0}
    {"say": "text", "job": 7, "text": "Paris", "ids": [7042]}
    {"say": "finished", "job": 7, "stop_reason": "stop", "usage": {…}}

Both sides run the same version of this module, so nothing here is tolerant. No I/O, and nothing
heavy is imported: the application imports it too.
"""

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import engine.errors
from engine.backends.base import (
    Chunk,
    Finished,
    Loaded,
    LoadRequest,
    PromptMessage,
    PromptRequest,
    Reading,
    Sampling,
    TextChunk,
    ThinkingChunk,
    Warned,
)
from engine.errors import Bug, ContextOverflow, EnvironmentFault, ModelUnusable
from engine.transcript import ToolCall, Usage

Wire = dict[str, Any]
_ENCODER = json.JSONEncoder(separators=(",", ":"))
ENDINGS = frozenset(
    {"loaded", "counted", "measured", "finished", "moved", "probed", "stopped", "failed"}
)
"""What the last message of a job says."""


def encode(message: Mapping[str, Any]) -> bytes:
    """A message as one line of ASCII JSON."""
    return _ENCODER.encode(message).encode("ascii") + b"\n"


def decode(line: bytes) -> Wire:
    """The message of a line."""
    message: Wire = json.loads(line)
    return message


def not_installed(detail: str = "") -> ModelUnusable:
    """The fault of a machine where llama.cpp was not built; `detail` is the loader's own reason."""
    reason = f" ({detail})" if detail else ""
    return ModelUnusable(
        f"llama.cpp is not installed here, so this application cannot run GGUF files{reason}.",
        "Run packaging/run again to build it, or use an Ollama server.",
    )


# ---- requests -----------------------------------------------------------------------------------


def load_to_wire(request: LoadRequest, threads: int) -> Wire:
    """A load command's fields."""
    return {**_plain(request), "threads": threads}


def load_from_wire(wire: Wire) -> tuple[LoadRequest, int]:
    """The inverse of `load_to_wire`."""
    names = [field.name for field in fields(LoadRequest)]
    return LoadRequest(**{name: wire[name] for name in names}), wire["threads"]


def request_to_wire(request: PromptRequest) -> Wire:
    """A prompt request as JSON values."""
    wire = _plain(request)
    wire["messages"] = [_message_to_wire(message) for message in request.messages]
    wire["sampling"] = _plain(request.sampling)
    wire["tools"] = [dict(tool) for tool in request.tools]
    return wire


def request_from_wire(wire: Wire) -> PromptRequest:
    """The inverse of `request_to_wire`."""
    sampling = Sampling(**{**wire["sampling"], "stop": tuple(wire["sampling"]["stop"])})
    changes = {
        "messages": tuple(_message_from_wire(message) for message in wire["messages"]),
        "sampling": sampling,
        "tools": tuple(wire["tools"]),
    }
    return PromptRequest(**{**wire, **changes})


def _plain(value: Any) -> Wire:
    """The fields of a dataclass, one level deep (asdict would copy every token id)."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _message_to_wire(message: PromptMessage) -> Wire:
    wire = _plain(message)
    del wire["images"]  # no model that runs here sees any
    wire["tool_calls"] = [
        {"id": call.id, "name": call.name, "arguments": dict(call.arguments)}
        for call in message.tool_calls
    ]
    return wire


def _message_from_wire(wire: Wire) -> PromptMessage:
    calls = tuple(ToolCall(**call) for call in wire["tool_calls"])
    return PromptMessage(**{**wire, "tool_calls": calls, "token_ids": tuple(wire["token_ids"])})


# ---- answers ------------------------------------------------------------------------------------


def chunk_to_wire(chunk: Chunk) -> Wire:
    """What a worker says for a chunk, without its job."""
    match chunk:
        case TextChunk(text=text, ids=ids):
            return {"say": "text", "text": text, "ids": ids}
        case ThinkingChunk(text=text, ids=ids):
            return {"say": "thinking", "text": text, "ids": ids}
        case Reading():
            return {"say": "reading", **_plain(chunk)}
        case Warned():
            return {"say": "warned", **_plain(chunk)}
        case Finished(stop_reason=reason, usage=usage):
            return {"say": "finished", "stop_reason": reason, "usage": _plain(usage)}
        case _:
            raise Bug(f"A worker does not send {type(chunk).__name__}.")


def chunk_from_wire(wire: Wire) -> Chunk:
    """The inverse of `chunk_to_wire`."""
    match wire["say"]:
        case "text":
            return TextChunk(wire["text"], tuple(wire["ids"]))
        case "thinking":
            return ThinkingChunk(wire["text"], tuple(wire["ids"]))
        case "reading":
            return Reading(wire["read"], wire["total"], wire["reused"])
        case "warned":
            return Warned(wire["code"], wire["text"])
        case "finished":
            return Finished(wire["stop_reason"], Usage(**wire["usage"]))
        case other:
            raise Bug(f"A worker does not say {other!r} while it replies.")


def loaded_to_wire(loaded: Loaded) -> Wire:
    """What a worker says when a model is ready."""
    return {"say": "loaded", **_plain(loaded)}


def loaded_from_wire(wire: Wire) -> Loaded:
    """The inverse of `loaded_to_wire`."""
    return Loaded(**{field.name: wire[field.name] for field in fields(Loaded)})


def fault_to_wire(fault: EnvironmentFault) -> Wire:
    """What a worker says when a job cannot be done; the fault's type travels by its name."""
    wire: Wire = {
        "say": "failed",
        "fault": type(fault).__name__,
        "sentence": fault.sentence,
        "remedy": fault.remedy,
    }
    if isinstance(fault, ContextOverflow):
        wire["facts"] = {
            "prompt_tokens": fault.prompt_tokens,
            "window_tokens": fault.window_tokens,
        }
    return wire


def fault_from_wire(wire: Wire) -> EnvironmentFault:
    """The inverse of `fault_to_wire`."""
    kind = getattr(engine.errors, wire["fault"], None)
    if not (isinstance(kind, type) and issubclass(kind, EnvironmentFault)):
        raise Bug(f"A worker reported an unknown fault: {wire['fault']}.")
    return kind(wire["sentence"], wire["remedy"], **wire.get("facts", {}))
