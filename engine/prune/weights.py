"""What bodies weigh in characters, for the guards that compare with a window of characters.

Each CJK character weighs four, for it is about a token; an image 8,000 (context-engine.md 3.4, 4.4).
What never reaches a model weighs nothing.
"""

from collections.abc import Iterable

from engine.tokens import compact_json, is_runtime_context, weighted_chars
from engine.transcript import (
    Body,
    BranchSummary,
    Compaction,
    CustomMessage,
    Image,
    Message,
    Part,
    Text,
    Thinking,
    ToolCall,
)

IMAGE_CHARS = 8_000
"""What a picture weighs."""


def body_chars(body: Body) -> int:
    """Weighted characters of what a model gets of a body."""
    if isinstance(body, Message):
        return parts_chars(body.parts)
    if isinstance(body, CustomMessage):
        return 0 if is_runtime_context(body) else weighted_chars(body.content)
    if isinstance(body, (Compaction, BranchSummary)):
        return weighted_chars(body.summary)
    return 0


def parts_chars(parts: Iterable[Part]) -> int:
    """Weighted characters of the parts of a message."""
    chars = 0
    for part in parts:  # no match: this runs for every message before every call of a model
        if isinstance(part, (Text, Thinking)):
            chars += weighted_chars(part.text)
        elif isinstance(part, ToolCall):
            chars += weighted_chars(part.name) + weighted_chars(compact_json(part.arguments))
        elif isinstance(part, Image):
            chars += IMAGE_CHARS
    return chars
