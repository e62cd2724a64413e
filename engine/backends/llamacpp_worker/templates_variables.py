"""What a chat template is called with: the turns as the mappings templates expect.

Templates agree on little more than `messages` with `role` and `content`; `Attempt.dialect` says
which of the forms in use is tried. Content is always plain text. Every text that people, models or
tools wrote goes through `Marks.mark` on its way in.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from engine.backends.base import PromptRole, Think
from engine.backends.llamacpp_worker.effort import SWITCHES
from engine.backends.llamacpp_worker.templates_attempts import Attempt
from engine.backends.llamacpp_worker.templates_spans import Marks
from engine.backends.llamacpp_worker.templates_turns import Turn, Words
from engine.backends.llamacpp_worker.think import THINK_TAG
from engine.transcript import ToolCall

_PLAIN: Final = re.compile(r"[\w.:-]{1,64}")
"""Names and ids that cannot spell a control token, and so need no border."""
_CONTROL_SIGNS: Final = re.compile(r"[<\[{|｜]")
_THINKING_KEYS: Final = ("reasoning_content", "reasoning", "thinking")


@dataclass(frozen=True, slots=True)
class Inputs:
    """What goes into a template beside the conversation.

    `wanted` are the variables its source reads; `thinking_keys` the names it has for a reply's
    thinking. `effort` is its word for how much the model shall think, "" for no word of it.
    """

    bos: str
    eos: str
    day: date
    tools: tuple[Mapping[str, Any], ...] = ()
    think: Think | None = None
    effort: str = ""
    wanted: frozenset[str] = frozenset()
    thinking_keys: tuple[str, ...] = ()


def thinking_keys(source: str) -> tuple[str, ...]:
    """The keys under which a template looks for a reply's thinking."""
    return tuple(key for key in _THINKING_KEYS if re.search(rf"\b{key}\b", source))


def variables(
    turns: Sequence[Turn], inputs: Inputs, attempt: Attempt, marks: Marks
) -> dict[str, Any]:
    """Everything a template is rendered with; made anew for each rendering, as it may be changed."""
    found: dict[str, Any] = {
        "messages": _Messages(inputs, attempt, marks).of(turns),
        "add_generation_prompt": True,
        "bos_token": inputs.bos,
        "eos_token": inputs.eos,
        "date_string": inputs.day.strftime("%d %b %Y"),
        "strftime_now": inputs.day.strftime,
        "tools": _tools(inputs.tools, marks) or ([] if "tools_list" in attempt.moves else None),
    }
    if inputs.think is not None:
        found |= dict.fromkeys(SWITCHES, inputs.think is not False)
    if inputs.effort and "reasoning_effort" in inputs.wanted:
        found["reasoning_effort"] = inputs.effort
    if "functions" in inputs.wanted:  # Firefunction's names for tools and today
        found["functions"] = json.dumps(found["tools"] or [], ensure_ascii=False)
    if "datetime" in inputs.wanted:
        found["datetime"] = inputs.day.strftime("%Y-%m-%d")
    return found


class _Messages:
    """Turns as mappings, with tool call ids that belong together."""

    def __init__(self, inputs: Inputs, attempt: Attempt, marks: Marks) -> None:
        self._inputs = inputs
        self._moves = attempt.moves
        self._marks = marks
        self._ids: dict[str, str] = {}
        self._unanswered: list[str] = []

    def of(self, turns: Sequence[Turn]) -> list[dict[str, Any]]:
        """One mapping per turn."""
        return [self._message(turn) for turn in turns]

    def _message(self, turn: Turn) -> dict[str, Any]:
        content = "".join(self._words(words, turn.role) for words in turn.content)
        message: dict[str, Any] = {"role": turn.role, "content": content}
        if turn.thinking is not None and "without_thinking" not in self._moves:
            thinking = self._marks.mark(turn.thinking.text, turn.message, "thinking")
            message |= dict.fromkeys(self._inputs.thinking_keys, thinking)
        if turn.calls:
            message["tool_calls"] = [self._call(call, turn.message) for call in turn.calls]
            if not content and "content_none" in self._moves:
                message["content"] = None
        if turn.role == "tool":
            message["tool_call_id"] = self._answered_id(turn.call_id)
            if turn.tool_name:
                message["name"] = self._name(turn.tool_name, turn.message)
        return message

    def _words(self, words: Words, role: PromptRole) -> str:
        """A text, marked; of a reply with thinking in it, what is between the tags.

        Templates take such a reply apart at its tags, leave the thinking out or write the tags
        anew; so the tags of a reply (and of a reply only) count as the template's.
        """
        if words.message is None:
            return words.text
        if role != "assistant":
            return self._marks.mark(words.text, words.message, "words")
        parts = THINK_TAG.split(words.text)  # text, tag, text, tag, text
        parts[:-1:2] = [self._marks.mark(part, words.message, "thinking") for part in parts[:-1:2]]
        parts[-1] = self._marks.mark(parts[-1], words.message, "reply")
        return "".join(parts)

    def _call(self, call: ToolCall, message: int) -> dict[str, Any]:
        arguments: Any = self._argument(call.arguments, message)
        if "arguments_text" in self._moves:
            arguments = json.dumps(arguments, ensure_ascii=False)
        shown = self._shown_id(call.id)
        self._unanswered.append(shown)
        return {
            "id": shown,
            "type": "function",
            "function": {"name": self._name(call.name, message), "arguments": arguments},
        }

    def _argument(self, value: Any, message: int) -> Any:
        """A JSON value with every text in it marked; keys only where they could do harm."""
        if isinstance(value, str):
            return self._marks.mark(value, message, "argument")
        if isinstance(value, Mapping):
            return {
                self._name(str(key), message): self._argument(part, message)
                for key, part in value.items()
            }
        if isinstance(value, list | tuple):
            return [self._argument(part, message) for part in value]
        return value

    def _name(self, name: str, message: int) -> str:
        return name if _PLAIN.fullmatch(name) else self._marks.mark(name, message, "name")

    def _shown_id(self, own: str) -> str:
        """The id a template gets: the backend's own if it is harmless and allowed, else made up."""
        if own and _PLAIN.fullmatch(own) and "short_ids" not in self._moves:
            return own
        key = own or f" {len(self._ids)}"  # calls without an id are different calls
        return self._ids.setdefault(key, f"call{len(self._ids):05}")

    def _answered_id(self, own: str) -> str:
        shown = self._shown_id(own) if own or not self._unanswered else self._unanswered[0]
        if shown in self._unanswered:
            self._unanswered.remove(shown)
        return shown


def _tools(tools: Sequence[Mapping[str, Any]], marks: Marks) -> list[Any]:
    return [_tool_part(tool, marks) for tool in tools]


def _tool_part(value: Any, marks: Marks) -> Any:
    """A copy of a tool's schema; descriptions that could spell control tokens are marked."""
    if isinstance(value, Mapping):
        return {
            key: marks.mark(part, None, "tool")
            if key == "description" and isinstance(part, str) and _CONTROL_SIGNS.search(part)
            else _tool_part(part, marks)
            for key, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [_tool_part(part, marks) for part in value]
    return value
