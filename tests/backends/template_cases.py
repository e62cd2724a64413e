"""Conversations and small templates for the tests of chat templates."""

from datetime import date

from engine.backends.base import PromptMessage
from engine.backends.llamacpp_worker.templates import ChatTemplate, Rendered
from engine.transcript import ToolCall

DAY = date(2025, 1, 31)
SYSTEM = PromptMessage("system", "Be brief.")
USER = PromptMessage("user", "What time is it?")
REPLY = PromptMessage("assistant", "Noon.")
MORE = PromptMessage("user", "And in Rome?")
CALL = ToolCall("call_1", "get_time", {"zone": "Europe/Rome", "hours": 24})
CALLING = PromptMessage("assistant", "", tool_calls=(CALL,))
RESULT = PromptMessage("tool", "13:00", tool_call_id="call_1", tool_name="get_time")

LOOP = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}<|assistant|>"
TRIMMING = LOOP.replace("m.content", "m.content|trim")

TOOLS = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% for c in m.tool_calls or [] %}"
    "<call {{ c.id }}>{{ c.function.name }} {{ c.function.arguments|tojson }}</call>"
    "{% endfor %}<|end|>{% endfor %}<|assistant|>"
)
STRICT = (
    "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Roles must alternate') }}{% endif %}"
    "<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}<|assistant|>"
)


def prompt(source: str, *messages: PromptMessage, **options) -> Rendered:
    """A prompt, checked: its pieces put together are its text."""
    rendered = ChatTemplate(source, "<s>", "</s>", today=DAY).render(messages, **options)
    assert "".join(piece.text for piece in rendered.pieces) == rendered.text
    assert all(piece.text for piece in rendered.pieces)
    return rendered


def contents(rendered: Rendered) -> list[tuple[int | None, str]]:
    """The content pieces: message and text."""
    return [(piece.message, piece.text) for piece in rendered.pieces if piece.kind == "content"]


def frame(rendered: Rendered) -> list[str]:
    """The template's own pieces."""
    return [piece.text for piece in rendered.pieces if piece.kind == "template"]
