"""The specification's own estimator: four characters a token (SPEC1 12.3, context-engine.md 3).

Used for the specification's figures (`explain --spec`, `spec_estimate`) and its vectors. It is up
to eleven times short for scripts other than Latin; what decides is `engine.tokens.script`.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from engine.tokens.units import utf16_length
from engine.transcript import (
    Body,
    BranchSummary,
    Compaction,
    CustomMessage,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    Unknown,
    user,
)

CHARS_PER_TOKEN = 4
SAFETY_MARGIN = 1.2
"""What an estimate is multiplied with before it is compared with a budget; an exact count never."""
IMAGE_CHARS = 4800
"""What a picture in a tool result weighs, in characters."""
RUNTIME_CONTEXT = frozenset({"openclaw.runtime-context", "runtime-context", "runtime_context"})
"""Custom types of what a program tells itself: they never reach a count or a model (SPEC1 12.3.1)."""


def is_runtime_context(body: Body) -> bool:
    """Whether a body is a runtime-context message, kept but never counted and never sent."""
    return isinstance(body, CustomMessage) and body.custom_type in RUNTIME_CONTEXT


def spec_tokens(body: Body) -> int:
    """A body's tokens as the specification estimates them; one rounding up per message.

    System messages, data of the program and whatever is unknown count 0; a user's pictures too
    (the rule of the specification's time). `details` never count.
    """
    return math.ceil(_chars(body) / CHARS_PER_TOKEN)


def spec_messages_tokens(bodies: Iterable[Body]) -> int:
    """Tokens of a message list, without a margin."""
    return sum(spec_tokens(body) for body in bodies)


def spec_prompt_tokens(
    bodies: Iterable[Body],
    *,
    prompt: str = "",
    system_prompt: str = "",
    unwindowed: Iterable[Body] | None = None,
) -> int:
    """The estimate before a request is sent, margin included (SPEC1 12.3; context-engine.md 3.3).

    Args:
        bodies: the history to be sent.
        prompt: the new message, not yet in the history.
        system_prompt: counted, unlike in the specification's program (CONFLICT-13).
        unwindowed: the history before it was shortened; the larger of the two decides.
    """
    tokens = spec_messages_tokens(bodies)
    if unwindowed is not None:
        tokens = max(tokens, spec_messages_tokens(unwindowed))
    # A system message scores nothing; as a user message the system prompt counts.
    tokens += spec_tokens(user(prompt)) + spec_tokens(user(system_prompt))
    return math.ceil(tokens * SAFETY_MARGIN)


_CJK = re.compile(
    "[\u2e80-\u9fff\ua000-\ua4ff\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"
    "\U00020000-\U0003ffff]+"
)


def weighted_chars(text: str) -> int:
    """Length in characters where each CJK code point weighs four (one token), others their units.

    For guards that count characters (context-engine.md 3.4).
    """
    if text.isascii():
        return len(text)
    units = utf16_length(text)
    for run in _CJK.findall(text):
        units += CHARS_PER_TOKEN * len(run) - utf16_length(run)
    return units


def _chars(body: Body) -> int:
    match body:
        case Message():
            return _message_chars(body)
        case CustomMessage(content=content):
            return 0 if is_runtime_context(body) else utf16_length(content)
        case Compaction(summary=summary) | BranchSummary(summary=summary):
            return utf16_length(summary)
        case Unknown(type="message", payload=payload):
            return _command_chars(payload)
        case _:
            return 0


def _message_chars(message: Message) -> int:
    if message.role == "system":
        return 0
    chars = 0
    for part in message.parts:
        match part:
            case Text(text=text):
                chars += utf16_length(text)
            case Thinking(text=text) if message.role == "assistant":
                chars += utf16_length(text)
            case ToolCall() if message.role == "assistant":
                chars += utf16_length(part.name) + utf16_length(compact_json(part.arguments))
            case Image() if message.role == "tool_result":
                chars += IMAGE_CHARS
            case _:
                pass
    return chars


def _command_chars(payload: Mapping[str, Any]) -> int:
    """A command the user ran, out of a foreign transcript: kept as `Unknown`, never sent."""
    match payload.get("message"):
        case {"role": "bashExecution", **rest}:
            texts = (rest.get("command"), rest.get("output"))
            return sum(utf16_length(text) for text in texts if isinstance(text, str))
        case _:
            return 0


def compact_json(value: Any) -> str:
    """JSON as the specification writes and measures it: no spaces, nothing escaped that need not."""
    return _COMPACT.encode(value)


_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str)
