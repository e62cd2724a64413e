"""What a conversation is made of, and pure walks over it.

A conversation is a tree of entries, append-only::

    e1 user ── e2 assistant ── e3 user ── e4 assistant        <- leaf of the older branch
                            └─ e5 user ── e6 assistant        <- leaf: editing e3 made e5

An `Entry` has an id, a parent and a body; a body knows its content only. What the model sees is
computed from the path root → leaf and the last compaction on it (`visible_entries`); nothing is
ever rewritten. This module does no I/O; the store turns bodies into JSON with `to_payload` and back
with `from_payload`, which reads tolerantly: a field it cannot understand costs that field, never
the conversation, and an unknown type is kept as `Unknown`, byte for byte.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, Literal, get_args

Role = Literal["system", "user", "assistant", "tool_result"]
StopReason = Literal["stop", "length", "stopped", "failed", "interrupted", "tool_calls"]
"""Why a reply ended: by itself, at its token limit, by the user, by a failure, by a crash, to call tools."""


@dataclass(frozen=True, slots=True)
class Text:
    """Words that were said, verbatim."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """A model's reasoning before its answer, verbatim."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to call a tool; `arguments` is a JSON object."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Image:
    """A picture; `data` is base64. Its size is in pixels, 0 when it was not told."""

    mime: str
    data: str
    name: str = ""
    width: int = 0
    height: int = 0


@dataclass(frozen=True, slots=True)
class UnknownPart:
    """A part of a kind this version does not know; kept, never sent to a model."""

    raw: Mapping[str, Any]


Part = Text | Thinking | ToolCall | Image | UnknownPart


@dataclass(frozen=True, slots=True)
class Usage:
    """What one request cost, as the backend reported it.

    `read_tokens` were evaluated, `reused_tokens` came out of the prefix cache (their sum is the
    prompt, see `prompt_tokens`), `written_tokens` were generated, thinking included. Seconds are
    floats. A backend that cannot tell read from reused reports all as read and `reused_known` false.
    """

    read_tokens: int = 0
    reused_tokens: int = 0
    written_tokens: int = 0
    load_seconds: float = 0.0
    read_seconds: float = 0.0
    write_seconds: float = 0.0
    reused_known: bool = True

    @property
    def prompt_tokens(self) -> int:
        """Tokens of the whole prompt, read and reused."""
        return self.read_tokens + self.reused_tokens


@dataclass(frozen=True, slots=True)
class TokenIds:
    """The token ids a model generated for a reply, without the end token.

    `vocabulary` names the tokenizer; ids are only valid for a model with the same name.
    Stored so that the next prompt's prefix is exactly what the backend's cache holds.
    """

    vocabulary: str
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Message:
    """Something said by the user, the model, the system prompt or a tool.

    `details` of a tool result is for the program and never reaches a count or a model (SPEC1 12.3.1).
    The last six fields belong to assistant messages.
    """

    role: Role
    parts: tuple[Part, ...] = ()
    tool_call_id: str = ""
    tool_name: str = ""
    is_error: bool = False
    details: Mapping[str, Any] | None = None
    model: str = ""
    stop_reason: StopReason | None = None
    usage: Usage | None = None
    token_ids: TokenIds | None = None
    error: str = ""

    @property
    def text(self) -> str:
        """The text parts joined, verbatim."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def thinking(self) -> str:
        """The thinking parts joined, verbatim."""
        return "".join(part.text for part in self.parts if isinstance(part, Thinking))

    @property
    def images(self) -> tuple[Image, ...]:
        """The pictures, in order."""
        return tuple(part for part in self.parts if isinstance(part, Image))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls of an assistant message, in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))


@dataclass(frozen=True, slots=True)
class CustomMessage:
    """Text put into the conversation by the program; sent to the model, details never."""

    custom_type: str
    content: str
    display: bool = True
    details: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Custom:
    """Data of the program; never sent to a model."""

    custom_type: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Compaction:
    """The summary that stands for everything before `first_kept` (an entry id).

    Tokens are counted before and after; `way` is in_place, staged or a fallback tier; `facts`
    holds what a later version adds (exact values, degraded, seconds by stage, …).
    """

    summary: str
    first_kept: str
    tokens_before: int = 0
    tokens_after: int = 0
    reason: str = ""
    way: str = ""
    model: str = ""
    seconds: float = 0.0
    focus: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BranchSummary:
    """What happened on another branch that left at entry `from_id`."""

    from_id: str
    summary: str
    details: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ModelChange:
    """From here on the conversation uses `model` (a model name as the user writes it)."""

    model: str


@dataclass(frozen=True, slots=True)
class Label:
    """A name for entry `target`; an empty label removes it."""

    target: str
    label: str


@dataclass(frozen=True, slots=True)
class Pin:
    """Entry `target` is pinned (never folded), or no longer."""

    target: str
    pinned: bool = True


@dataclass(frozen=True, slots=True)
class Unknown:
    """An entry of a type this version does not know, or cannot read; kept as it is."""

    type: str
    payload: Mapping[str, Any]


Body = (
    Message
    | CustomMessage
    | Custom
    | Compaction
    | BranchSummary
    | ModelChange
    | Label
    | Pin
    | Unknown
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One step of a conversation: identity and place of a body.

    `parent` is None for a root. `created_at` is milliseconds since 1970, UTC.
    """

    id: str
    session: str
    parent: str | None
    created_at: int
    body: Body


def user(text: str, images: Iterable[Image] = ()) -> Message:
    """A user message of one text part, and the pictures that go along."""
    return Message("user", (Text(text), *images))


def path_to(entries: Iterable[Entry], leaf: str | None) -> tuple[Entry, ...]:
    """The entries from the root to `leaf`, in order; empty for None or an unknown leaf.

    A parent that is missing, or a cycle (a damaged store), ends the walk: what hangs together
    is returned.
    """
    by_id = {entry.id: entry for entry in entries}
    steps: list[Entry] = []
    seen: set[str] = set()
    while leaf is not None and leaf in by_id and leaf not in seen:
        seen.add(leaf)
        steps.append(by_id[leaf])
        leaf = by_id[leaf].parent
    return tuple(reversed(steps))


def last_compaction(path: Sequence[Entry]) -> int | None:
    """Index on the path of the compaction that counts: the last one (SPEC2 2.2)."""
    found = [index for index, entry in enumerate(path) if type(entry.body) is Compaction]
    return found[-1] if found else None


def visible_entries(path: Sequence[Entry]) -> tuple[Entry, ...]:
    """What the model sees of a path: the last compaction, the kept tail, and what came after.

    Without a compaction everything. A `first_kept` that is not on the path keeps nothing from
    before the compaction (a hard checkpoint).
    """
    index = last_compaction(path)
    if index is None:
        return tuple(path)
    compaction = path[index].body
    assert isinstance(compaction, Compaction)
    kept: tuple[Entry, ...] = ()
    for start in range(index):
        if path[start].id == compaction.first_kept:
            # an older compaction within the kept tail is no message: only the last summary counts
            kept = tuple(e for e in path[start:index] if not isinstance(e.body, Compaction))
            break
    return (path[index], *kept, *path[index + 1 :])


def current_model(path: Sequence[Entry]) -> str:
    """The model the path last used or changed to; empty when it never did."""
    for entry in reversed(path):
        if isinstance(entry.body, ModelChange):
            return entry.body.model
        if isinstance(entry.body, Message) and entry.body.role == "assistant" and entry.body.model:
            return entry.body.model
    return ""


# ---- payloads -------------------------------------------------------------------------------


def type_of(body: Body) -> str:
    """The entry type a body is stored under."""
    match body:
        case Unknown(type=name):
            return name
        case _:
            return _TYPE_NAMES[type(body)]


def to_payload(body: Body) -> dict[str, Any]:
    """A JSON-ready object for a body; fields that hold their default are left out."""
    match body:
        case Unknown(payload=payload):
            return dict(payload)
        case Message():
            return _message_payload(body)
        case _:
            return {
                known.name: value
                for known in fields(body)
                if (value := getattr(body, known.name)) != _default_of(known)
            }


def _default_of(known: Field[Any]) -> Any:
    """What a field holds when nobody says; MISSING, which equals nothing, for a required one."""
    return known.default if known.default_factory is MISSING else known.default_factory()


def from_payload(type_name: str, payload: Any) -> Body:
    """The body of a stored entry; whatever cannot be understood becomes `Unknown`."""
    if not isinstance(payload, Mapping):
        return Unknown(type_name, {"raw": payload})
    cls = _TYPES.get(type_name)
    if cls is None:
        return Unknown(type_name, payload)
    if cls is Message:
        return _message_from(payload) or Unknown(type_name, payload)
    known = {name: payload[name] for name in cls.__dataclass_fields__ if _fits(cls, name, payload)}
    try:
        body: Body = cls(**known)
    except TypeError:  # a required field is missing or of a wrong type
        return Unknown(type_name, payload)
    return body


_TYPE_NAMES: dict[type, str] = {
    Message: "message",
    CustomMessage: "custom_message",
    Custom: "custom",
    Compaction: "compaction",
    BranchSummary: "branch_summary",
    ModelChange: "model_change",
    Label: "label",
    Pin: "pin",
}
_TYPES: dict[str, Any] = {name: cls for cls, name in _TYPE_NAMES.items()}
_SIMPLE: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
}


def _fits(cls: Any, name: str, payload: Mapping[str, Any]) -> bool:
    """Whether the payload has a value of the right JSON type for a field."""
    if name not in payload:
        return False
    declared = str(getattr(cls.__annotations__[name], "__name__", cls.__annotations__[name]))
    wanted = _SIMPLE.get(declared, (Mapping,))
    value = payload[name]
    if isinstance(value, bool) and bool not in wanted:
        return False
    return isinstance(value, wanted)


def _message_payload(message: Message) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "role": message.role,
        "parts": [_part_payload(part) for part in message.parts],
    }
    for name in ("tool_call_id", "tool_name", "is_error", "model", "stop_reason", "error"):
        if value := getattr(message, name):
            payload[name] = value
    if message.details is not None:
        payload["details"] = dict(message.details)
    if message.usage is not None:
        payload["usage"] = {
            name: getattr(message.usage, name) for name in Usage.__dataclass_fields__
        }
    if message.token_ids is not None:
        payload["token_ids"] = {
            "vocabulary": message.token_ids.vocabulary,
            "ids": list(message.token_ids.ids),
        }
    return payload


def _part_payload(part: Part) -> dict[str, Any]:
    match part:
        case Text(text=text):
            return {"type": "text", "text": text}
        case Thinking(text=text):
            return {"type": "thinking", "text": text}
        case ToolCall():
            return {
                "type": "tool_call",
                "id": part.id,
                "name": part.name,
                "arguments": dict(part.arguments),
            }
        case Image(mime=mime, data=data):
            return {"type": "image", "mime": mime, "data": data} | image_facts(part)
        case UnknownPart(raw=raw):
            return dict(raw)


def _message_from(payload: Mapping[str, Any]) -> Message | None:
    role = payload.get("role")
    raw_parts = payload.get("parts")
    if not isinstance(role, str) or role not in _ROLES or not isinstance(raw_parts, list):
        return None
    stop_reason, details = payload.get("stop_reason"), payload.get("details")
    return Message(
        role=_ROLES[role],
        parts=tuple([_part_from(raw) for raw in raw_parts]),
        tool_call_id=_string(payload, "tool_call_id"),
        tool_name=_string(payload, "tool_name"),
        is_error=payload.get("is_error") is True,
        details=details if isinstance(details, Mapping) else None,
        model=_string(payload, "model"),
        stop_reason=_STOP_REASONS.get(stop_reason) if isinstance(stop_reason, str) else None,
        usage=_usage_from(payload.get("usage")),
        token_ids=_token_ids_from(payload.get("token_ids")),
        error=_string(payload, "error"),
    )


_ROLES: dict[str, Role] = {role: role for role in get_args(Role)}
_STOP_REASONS: dict[str, StopReason] = {reason: reason for reason in get_args(StopReason)}


def _string(payload: Mapping[str, Any], name: str) -> str:
    value = payload.get(name)
    return value if isinstance(value, str) else ""


def _part_from(raw: Any) -> Part:
    if not isinstance(raw, dict):
        return UnknownPart({"raw": raw})
    if raw.get("type") == "text" and isinstance(raw.get("text"), str):
        return Text(raw["text"])  # nearly every part; a match over mappings is slow
    match raw:
        case {"type": "thinking", "text": str(text)}:
            return Thinking(text)
        case {
            "type": "tool_call",
            "id": str(id_),
            "name": str(name),
            "arguments": dict(arguments),
        }:
            return ToolCall(id_, name, arguments)
        case {"type": "image", "mime": str(mime), "data": str(data)}:
            facts = {name: raw[name] for name in IMAGE_FACTS if _fits(Image, name, raw)}
            return Image(mime, data, **facts)
        case _:
            return UnknownPart(raw)


IMAGE_FACTS = ("name", "width", "height")


def image_facts(image: Image) -> dict[str, Any]:
    """What is known of a picture beside its data, JSON-ready."""
    return {name: value for name in IMAGE_FACTS if (value := getattr(image, name))}


def _usage_from(raw: Any) -> Usage | None:
    if not isinstance(raw, dict):
        return None
    return Usage(
        **{name: raw[name] for name in Usage.__dataclass_fields__ if _fits(Usage, name, raw)}
    )


def _token_ids_from(raw: Any) -> TokenIds | None:
    match raw:
        case {"vocabulary": str(vocabulary), "ids": list(ids)} if all(type(i) is int for i in ids):
            return TokenIds(vocabulary, tuple(ids))
        case _:
            return None
