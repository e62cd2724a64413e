"""Weighed entries in one line each, for the tests of compaction."""

from collections.abc import Iterable

from engine.tokens import Weighed
from engine.transcript import (
    Body,
    Compaction,
    Custom,
    CustomMessage,
    Entry,
    Label,
    Message,
    ModelChange,
    Text,
    ToolCall,
)


def said(role: str, text: str = "word") -> Message:
    """A message of one text part."""
    return Message(role, (Text(text),))


def calls(*ids: str, stop_reason: str = "tool_calls") -> Message:
    """A reply that calls tools."""
    parts = (Text("let me look"), *(ToolCall(id_, "read", {}) for id_ in ids))
    return Message("assistant", parts, stop_reason=stop_reason)


def result(call_id: str) -> Message:
    """What a tool answered."""
    return Message("tool_result", (Text("found"),), tool_call_id=call_id)


SHORT: dict[str, Body] = {
    "user": said("user"),
    "assistant": said("assistant"),
    "system": said("system"),
    "model": ModelChange("other"),
    "label": Label("e0", "here"),
    "data": Custom("state", {}),
    "note": CustomMessage("note", "a note"),
    "runtime": CustomMessage("runtime-context", "not for the model"),
    "compaction": Compaction("summary", "e0"),
}


def body_of(word: str | Body) -> Body:
    """The body a word stands for: `user`, `call:a`, `result:a`, `aborted:a`…; a body is itself."""
    if not isinstance(word, str):
        return word
    kind, _, id_ = word.partition(":")
    match kind:
        case "call":
            return calls(*id_.split(","))
        case "aborted":
            return calls(id_, stop_reason="stopped")
        case "result":
            return result(id_)
        case _:
            return SHORT[kind]


def entries(words: Iterable[str | Body]) -> tuple[Entry, ...]:
    """A path e0, e1, … of these."""
    return tuple(
        Entry(f"e{index}", "s", f"e{index - 1}" if index else None, index, body_of(word))
        for index, word in enumerate(words)
    )


def weighed(*pairs: tuple[str | Body, int]) -> tuple[Weighed, ...]:
    """Items of (word, tokens)."""
    path = entries(word for word, _ in pairs)
    return tuple(Weighed(entry, tokens) for entry, (_, tokens) in zip(path, pairs, strict=True))


def users(count: int, tokens: int) -> tuple[Weighed, ...]:
    """As many user messages of the same size."""
    return weighed(*[("user", tokens)] * count)


def ids(items: Iterable[Weighed]) -> tuple[int, ...]:
    """The numbers of the entries."""
    return tuple(int(item.entry.id[1:]) for item in items)
