"""Counting tokens where no tokenizer is at hand.

Backends that own the tokenizer count exactly (`Backend.count`); this is for the others.
"""

from collections.abc import Iterable

from engine.backends.base import PromptMessage

BYTES_PER_TOKEN = 3
"""English needs about four bytes a token, code and Chinese about three: this rather counts too much."""
MESSAGE_OVERHEAD_TOKENS = 8
"""Role names and control tokens that a chat template puts around a message."""


def estimate_text(text: str) -> int:
    """Tokens of a text, rather too many than too few: a third of its UTF-8 bytes, rounded up."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


def estimate_messages(messages: Iterable[PromptMessage]) -> int:
    """Tokens of a prompt: text, thinking, tool calls and the template's overhead per message."""
    return sum(
        MESSAGE_OVERHEAD_TOKENS
        + estimate_text(message.content)
        + estimate_text(message.thinking)
        + sum(estimate_text(f"{call.name}{call.arguments}") for call in message.tool_calls)
        for message in messages
    )
