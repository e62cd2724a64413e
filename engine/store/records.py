"""Bodies as the specification writes them (context-engine.md 7.1), and back.

A record is one line's JSON object. What the specification's fields cannot hold (the exact usage,
token ids, how a compaction was done) goes under the key `porthole`, which other readers ignore;
without it, reading gives the nearest thing. Whatever is not understood becomes `Unknown`, with all
its fields.
"""

from collections.abc import Mapping
from typing import Any

from engine.transcript import (
    IMAGE_FACTS,
    Body,
    BranchSummary,
    Compaction,
    Custom,
    CustomMessage,
    Image,
    Label,
    Message,
    ModelChange,
    Part,
    Pin,
    Text,
    Thinking,
    ToolCall,
    Unknown,
    UnknownPart,
    Usage,
    from_payload,
    image_facts,
    to_payload,
)

OURS = "porthole"
"""The key of what only this program reads."""

_PIN = "porthole.pin"
_FRAME = ("type", "id", "parentId", "timestamp")
_ROLES = {
    "user": "user",
    "assistant": "assistant",
    "toolResult": "tool_result",
    "system": "system",
}
_ROLE_NAMES = {ours: theirs for theirs, ours in _ROLES.items()}
_CUSTOM_ROLES = ("custom", "hookMessage")  # the second is what versions 1 and 2 called it
_STOPS = {
    "stop": "stop",
    "length": "length",
    "toolUse": "tool_calls",
    "error": "failed",
    "aborted": "stopped",
}
_STOP_NAMES = {ours: theirs for theirs, ours in _STOPS.items()} | {"interrupted": "aborted"}
_MESSAGE_TEXTS = {"toolCallId": "tool_call_id", "toolName": "tool_name", "errorMessage": "error"}
_COMPACTION_FACTS = ("details", "fromHook")


def record_of(body: Body, created_at: int) -> dict[str, Any]:
    """A body's `type` and fields; `created_at` (milliseconds) is what a message's own time says."""
    match body:
        case Message():
            return _message_record(body, created_at)
        case CustomMessage():
            return {
                "type": "custom_message",
                "customType": body.custom_type,
                "content": body.content,
                "display": body.display,
                **({} if body.details is None else {"details": dict(body.details)}),
            }
        case Custom(custom_type=name, data=data):
            return {"type": "custom", "customType": name, "data": dict(data)}
        case Pin():
            return {"type": "custom", "customType": _PIN, "data": to_payload(body)}
        case Compaction():
            return _compaction_record(body)
        case BranchSummary(from_id=from_id, summary=summary, details=details):
            record = {"type": "branch_summary", "fromId": from_id, "summary": summary}
            return record if details is None else {**record, "details": dict(details)}
        case ModelChange(model=model):
            return {"type": "model_change", **_provider_and_model(model, "modelId")}
        case Label(target=target, label=label):
            return {"type": "label", "targetId": target, **({"label": label} if label else {})}
        case Unknown(type=name, payload=payload):
            return {"type": name, **payload}


def body_of(record: Mapping[str, Any]) -> Body:
    """The body of a record; `Unknown` for what is not understood."""
    rest = {key: value for key, value in record.items() if key not in _FRAME}
    name = str(record.get("type"))
    read = _READERS.get(name)
    return (read(rest) if read else None) or Unknown(name, rest)


# ---- messages -----------------------------------------------------------------------------------


def _message_record(message: Message, created_at: int) -> dict[str, Any]:
    said: dict[str, Any] = {
        "role": _ROLE_NAMES[message.role],
        "content": [_block_of(part) for part in message.parts],
    }
    if message.model:
        said |= _provider_and_model(message.model, "model")
    for theirs, ours in _MESSAGE_TEXTS.items():
        if value := getattr(message, ours):
            said[theirs] = value
    if message.role == "tool_result" or message.is_error:
        said["isError"] = message.is_error
    if message.details is not None:
        said["details"] = dict(message.details)
    if message.usage is not None:
        said["usage"] = _usage_record(message.usage)
    if message.stop_reason is not None:
        said["stopReason"] = _STOP_NAMES[message.stop_reason]
    said["timestamp"] = created_at
    payload = to_payload(message)
    ours_only: dict[str, Any] = {
        key: payload[key] for key in ("usage", "token_ids") if key in payload
    }
    if message.stop_reason == "interrupted":
        ours_only["stop_reason"] = "interrupted"
    record = {"type": "message", "message": said}
    return {**record, OURS: ours_only} if ours_only else record


def _message_of(rest: Mapping[str, Any]) -> Body | None:
    said = rest.get("message")
    if not isinstance(said, Mapping) or not isinstance(said.get("role"), str):
        return None
    if said["role"] in _CUSTOM_ROLES:
        return _custom_message_of(said)
    if said["role"] not in _ROLES:
        return None
    content = said.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}] if content else []
    blocks = content if isinstance(content, list) else []
    payload: dict[str, Any] = {
        "role": _ROLES[said["role"]],
        "parts": [_part_payload(block) for block in blocks],
        "model": _joined_model(said, "model"),
        "is_error": said.get("isError"),
        "details": said.get("details"),
        "stop_reason": _STOPS.get(str(said.get("stopReason"))),
        "usage": _usage_payload(said.get("usage")),
    }
    payload |= {ours: said.get(theirs) for theirs, ours in _MESSAGE_TEXTS.items()}
    if isinstance(known := rest.get(OURS), Mapping):
        payload |= {k: known[k] for k in ("usage", "token_ids", "stop_reason") if k in known}
    return from_payload("message", payload)


def _block_of(part: Part) -> dict[str, Any]:
    match part:
        case Text(text=text):
            return {"type": "text", "text": text}
        case Thinking(text=text):
            return {"type": "thinking", "thinking": text}
        case ToolCall(id=id_, name=name, arguments=arguments):
            return {"type": "toolCall", "id": id_, "name": name, "arguments": dict(arguments)}
        case Image(mime=mime, data=data):
            return {"type": "image", "data": data, "mimeType": mime} | image_facts(part)
        case UnknownPart(raw=raw):
            return dict(raw)


def _part_payload(block: Any) -> Any:
    """A block as `engine.transcript` stores it; what it does not know stays as it is."""
    match block:
        case {"type": "thinking", "thinking": str(text)}:
            return {"type": "thinking", "text": text}
        case {"type": "toolCall", "id": str(id_), "name": str(name), "arguments": dict(arguments)}:
            return {"type": "tool_call", "id": id_, "name": name, "arguments": arguments}
        case {"type": "image", "data": str(data), "mimeType": str(mime)}:
            facts = {key: block[key] for key in IMAGE_FACTS if key in block}
            return {"type": "image", "data": data, "mime": mime} | facts
        case _:
            return block


def _usage_record(usage: Usage) -> dict[str, Any]:
    return {
        "input": usage.read_tokens,
        "output": usage.written_tokens,
        "cacheRead": usage.reused_tokens,
        "cacheWrite": 0,
        "totalTokens": usage.prompt_tokens + usage.written_tokens,
    }


def _usage_payload(usage: Any) -> dict[str, Any] | None:
    if not isinstance(usage, Mapping):
        return None
    names = {
        "input": "read_tokens",
        "cacheRead": "reused_tokens",
        "output": "written_tokens",
    }
    payload = {ours: usage[theirs] for theirs, ours in names.items() if theirs in usage}
    written = usage.get("cacheWrite")
    if isinstance(written, int) and isinstance(payload.get("read_tokens"), int):
        payload["read_tokens"] += written  # evaluated too, and stored for later
    return payload


def _provider_and_model(model: str, key: str) -> dict[str, str]:
    """`ollama:qwen3` is the provider `ollama` and its model; a plain name has no provider."""
    provider, colon, rest = model.partition(":")
    if not provider or not colon:
        provider, rest = "", model
    return {"provider": provider, key: rest}


def _joined_model(said: Mapping[str, Any], key: str) -> str:
    provider, model = said.get("provider"), said.get(key)
    if not isinstance(model, str):
        return ""
    return f"{provider}:{model}" if isinstance(provider, str) and provider else model


# ---- the other types ----------------------------------------------------------------------------


def _compaction_record(body: Compaction) -> dict[str, Any]:
    payload = to_payload(body)
    facts = dict(payload.pop("facts", {}))
    record: dict[str, Any] = {
        "type": "compaction",
        "summary": payload.pop("summary", ""),
        "firstKeptEntryId": payload.pop("first_kept", ""),
        "tokensBefore": payload.pop("tokens_before", 0),
    }
    record |= {key: facts.pop(key) for key in _COMPACTION_FACTS if key in facts}
    if facts:
        payload["facts"] = facts
    return {**record, OURS: payload}


def _compaction_of(rest: Mapping[str, Any]) -> Body | None:
    known = rest.get(OURS)
    payload = dict(known) if isinstance(known, Mapping) else {}
    facts = dict(payload["facts"]) if isinstance(payload.get("facts"), Mapping) else {}
    facts |= {key: rest[key] for key in _COMPACTION_FACTS if key in rest}
    payload |= {
        "summary": rest.get("summary"),
        "first_kept": rest.get("firstKeptEntryId", ""),
        "tokens_before": rest.get("tokensBefore", 0),
        "facts": facts,
    }
    return _known("compaction", payload)


def _custom_message_of(rest: Mapping[str, Any]) -> Body | None:
    content = rest.get("content")
    if isinstance(content, list):
        said = _message_of({"message": {"role": "user", "content": content}})
        content = said.text if isinstance(said, Message) else ""
    payload = {**rest, "custom_type": rest.get("customType"), "content": content}
    return _known("custom_message", payload)


def _custom_of(rest: Mapping[str, Any]) -> Body | None:
    data = rest.get("data", {})
    if rest.get("customType") == _PIN:
        return _known("pin", data)
    if not isinstance(data, Mapping):
        return None
    return _known("custom", {"custom_type": rest.get("customType"), "data": data})


def _branch_summary_of(rest: Mapping[str, Any]) -> Body | None:
    return _known("branch_summary", {**rest, "from_id": rest.get("fromId")})


def _model_change_of(rest: Mapping[str, Any]) -> Body | None:
    if not isinstance(rest.get("modelId"), str):
        return None
    return ModelChange(_joined_model(rest, "modelId"))


def _label_of(rest: Mapping[str, Any]) -> Body | None:
    return _known("label", {"target": rest.get("targetId"), "label": rest.get("label", "")})


def _known(name: str, payload: Any) -> Body | None:
    """The body, or None if it is not understood (the record is kept whole then)."""
    body = from_payload(name, payload)
    return None if isinstance(body, Unknown) else body


_READERS = {
    "message": _message_of,
    "custom_message": _custom_message_of,
    "custom": _custom_of,
    "compaction": _compaction_of,
    "branch_summary": _branch_summary_of,
    "model_change": _model_change_of,
    "label": _label_of,
}
