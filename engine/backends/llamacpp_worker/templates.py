"""From messages to a prompt, with a model's own chat template; nobody's words are lost.

::

    messages ─▶ attempt: as it is ──── all words there ─────────────────▶ Rendered
                 │ refused, or words missing
                 ▼
                attempts: other forms of the variables, then repairs ───▶ Rendered + repairs
                 │ none works
                 ▼
                ChatML, tool calls and results as text ─────────────────▶ Rendered + repairs

Templates raise on what they do not know (a system prompt, two user messages in a row) or drop it
without a word. So each rendering is checked: every message's text, every tool call's name and
arguments, every tool result must be in the prompt. `templates_turns` has the repairs,
`templates_variables` the forms, `templates_spans` the check, `templates_sandbox` the fence.

The result is a pure function of its arguments: the date is given, and what is remembered (the last
prompt, as a conversation is counted and then sent) changes nothing.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date as Date
from typing import Any, Final

from jinja2 import Template
from jinja2.exceptions import SecurityError

from engine.backends.base import PromptMessage, Think
from engine.backends.llamacpp_worker.effort import SWITCHES, effort_word
from engine.backends.llamacpp_worker.templates_attempts import (
    Attempt,
    Attempts,
    Failure,
    Missing,
)
from engine.backends.llamacpp_worker.templates_sandbox import (
    COMPILE_FAILURES,
    RENDER_FAILURES,
    Meter,
    OverLimit,
    TemplateSandbox,
)
from engine.backends.llamacpp_worker.templates_spans import (
    Field,
    Marks,
    Piece,
    find_pieces,
    unused_nonce,
)
from engine.backends.llamacpp_worker.templates_turns import Turn, as_turns, reshaped, told
from engine.backends.llamacpp_worker.templates_variables import (
    Inputs,
    thinking_keys,
    variables,
)
from engine.backends.llamacpp_worker.think import ThinkTags, find_think_tags, opens_thinking
from engine.errors import Bug, TemplateUnusable
from engine.transcript import ToolCall

__all__ = ["CHATML", "ChatTemplate", "Piece", "Rendered", "TemplateLimits", "probe_template"]

CHATML: Final = (
    "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content"
    " + '<|im_end|>' + '\\n' }}{% endfor %}{{ '<|im_start|>assistant' + '\\n' }}"
)
"""The template for models that have none, and for conversations that a model's own cannot render."""
_CHATML_ATTEMPT: Final = Attempt(frozenset({"calls_as_text", "results_as_text"}))
_REMEDY: Final = "Choose another conversion of this model, or another model."


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt.

    `pieces` put together are `text`. `repairs` are sentences for the user: what was changed in the
    conversation so that the model gets every word. `dialect` says which unusual forms of the
    variables the template needed; nothing was changed for it. `is_own` is False when the model's
    template could not be used and ChatML stands in. `think` are the tags this model thinks
    between, None if it does not; `opens_thinking` says that the prompt ends inside of them.
    """

    text: str
    pieces: tuple[Piece, ...]
    repairs: tuple[str, ...] = ()
    dialect: tuple[str, ...] = ()
    is_own: bool = True
    think: ThinkTags | None = None
    opens_thinking: bool = False


class ChatTemplate:
    """A model's chat template.

    Args:
        source: Jinja source as in the GGUF's metadata; empty when the model has none.
        bos: text of the begin token, as the template prints it.
        eos: text of the end token.
        today: the date the template may know; fixed, so that a prompt's start does not change.
        clock: seconds, for the time limit.

    Raises TemplateUnusable when the source does not compile. Not for several threads at once.
    """

    def __init__(
        self,
        source: str,
        bos: str = "",
        eos: str = "",
        *,
        today: Date | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._clock = clock
        self._sandbox = TemplateSandbox()
        self._chatml = self._sandbox.compile_template(CHATML, Meter(clock))
        self._own = self._compiled(source) if source.strip() else None
        self._inputs = Inputs(
            bos,
            eos,
            today or Date.today(),
            wanted=self._sandbox.names_read,
            thinking_keys=thinking_keys(source),
        )
        self._has_switch = bool(SWITCHES & self._sandbox.names_read)
        self._last: tuple[tuple[PromptMessage, ...], Inputs, Rendered] | None = None

    def render(
        self,
        messages: Sequence[PromptMessage],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        think: Think | None = None,
        date: Date | None = None,
    ) -> Rendered:
        """The prompt for the next reply.

        Args:
            messages: the conversation, oldest first.
            tools: JSON schemas in the OpenAI function form.
            think: whether or how much the model shall think, None leaves it to the template.
            date: the date the template may know, instead of the one it was made with.

        Raises TemplateUnusable: the template tried what it may not, or passed a limit.
        """
        inputs = replace(
            self._inputs,
            tools=tuple(tools),
            think=think,
            effort=effort_word(think, self._source, has_switch=self._has_switch),
            day=date or self._inputs.day,
        )
        if self._last is None or self._last[:2] != (tuple(messages), inputs):
            rendered = self._render(messages, inputs)
            self._last = (tuple(messages), inputs, rendered)
        return self._last[2]

    # ---- the ways

    def _render(self, messages: Sequence[PromptMessage], inputs: Inputs) -> Rendered:
        meter = Meter(self._clock)
        turns, repairs = as_turns(messages)
        try:
            found = self._by_own_template(turns, inputs, meter)
            if found is None:
                found = self._by_chatml(turns, inputs, meter)
        except OverLimit as limit:
            raise _unusable(f"{limit}") from None
        return replace(found, repairs=repairs + found.repairs)

    def _by_own_template(
        self, turns: tuple[Turn, ...], inputs: Inputs, meter: Meter
    ) -> Rendered | None:
        """The first attempt that works; None if there is none."""
        if self._own is None:
            return None
        forbidden: SecurityError | None = None
        attempts = Attempts(turns, has_tools=bool(inputs.tools))
        while (attempt := attempts.next()) is not None:
            try:
                found = self._attempted(self._own, turns, inputs, attempt, meter)
            except SecurityError as error:
                forbidden = forbidden or error
                found = Failure(str(error) or "forbidden")
            except RENDER_FAILURES as error:
                found = Failure(f"{type(error).__name__}: {error}")
            if isinstance(found, Rendered):
                return found
            attempts.failed(found)
        if forbidden is not None:
            raise _unusable(f"it tried what a template may not: {forbidden}") from None
        return None

    def _by_chatml(self, turns: tuple[Turn, ...], inputs: Inputs, meter: Meter) -> Rendered:
        found = self._attempted(self._chatml, turns, inputs, _CHATML_ATTEMPT, meter)
        if isinstance(found, Failure):
            raise Bug(f"ChatML lost {sorted(found.missing)} of a conversation")
        reason = (
            "The model has no chat template; the ChatML form is used."
            if self._own is None
            else "The model's template cannot render this conversation; the ChatML form is used."
        )
        return replace(found, is_own=False, repairs=(reason, *found.repairs))

    def _attempted(
        self,
        template: Template,
        turns: tuple[Turn, ...],
        inputs: Inputs,
        attempt: Attempt,
        meter: Meter,
    ) -> Rendered | Failure:
        """One rendering, checked. Raises RENDER_FAILURES, OverLimit."""
        shaped = reshaped(turns, attempt.reshapes)
        plain = Marks("")
        text = self._sandbox.run(template, variables(shaped, inputs, attempt, plain), meter)
        marks = Marks(unused_nonce([self._source, text, *(field.text for field in plain.fields)]))
        marked = self._sandbox.run(template, variables(shaped, inputs, attempt, marks), meter)
        found = find_pieces(text, marks.cut(marked))
        missing = _missing(found.lost, turns) | _missing_calls(text, shaped)
        if missing:
            return Failure(missing=missing)
        end = found.pieces[-1].text if found.pieces and found.pieces[-1].kind == "template" else ""
        tags = find_think_tags(self._source, end)
        return Rendered(
            text,
            found.pieces,
            repairs=(
                *told(turns, attempt.reshapes),
                *_told_changes(found.changed),
                *_told_tools(text, inputs.tools),
            ),
            dialect=attempt.dialect,
            think=tags,
            opens_thinking=opens_thinking(end, tags),
        )

    # ---- the source

    def _compiled(self, source: str) -> Template:
        try:
            return self._sandbox.compile_template(source, Meter(self._clock))
        except (*COMPILE_FAILURES, OverLimit) as error:
            raise _unusable(f"{error}") from error


@dataclass(frozen=True, slots=True)
class TemplateLimits:
    """What a template can do by itself, without repairs. `error` is a sentence, empty if it works."""

    system_role: bool = False
    consecutive_users: bool = False
    tools: bool = False
    thinking: bool = False
    date: bool = False
    error: str = ""


def probe_template(source: str, bos: str = "", eos: str = "") -> TemplateLimits:
    """Try a template on small conversations. Never raises for what the template does."""
    day = Date(2025, 1, 31)
    user, reply = PromptMessage("user", "First words."), PromptMessage("assistant", "An answer.")
    call = ToolCall("call00000", "get_time", {"zone": "UTC"})
    try:
        template = ChatTemplate(source, bos, eos, today=day)
        plain = template.render([user])
        if not plain.is_own:
            return TemplateLimits(error=plain.repairs[0])
        with_tools = template.render(
            [
                user,
                PromptMessage("assistant", "", tool_calls=(call,)),
                PromptMessage("tool", "noon", tool_call_id=call.id, tool_name=call.name),
            ],
            tools=[_PROBE_TOOL],
        )
        return TemplateLimits(
            system_role=_is_untouched(template.render([PromptMessage("system", "Rules."), user])),
            consecutive_users=_is_untouched(
                template.render([user, PromptMessage("user", "More words."), reply, user])
            ),
            tools=_is_untouched(with_tools) and call.name in with_tools.text,
            thinking=plain.think is not None,
            date=plain.text != template.render([user], date=Date(2024, 12, 25)).text,
        )
    except TemplateUnusable as error:
        return TemplateLimits(error=error.sentence)


_PROBE_TOOL: Final = {
    "type": "function",
    "function": {
        "name": "get_time",
        "description": "The time in a zone.",
        "parameters": {
            "type": "object",
            "properties": {"zone": {"type": "string", "description": "Name of the zone."}},
            "required": ["zone"],
        },
    },
}


def _is_untouched(rendered: Rendered) -> bool:
    return rendered.is_own and not rendered.repairs


def _missing(lost: Sequence[Field], turns: Sequence[Turn]) -> frozenset[tuple[Missing, int]]:
    """What a lost text is a part of, by message."""
    parts: dict[str, Missing] = {"system": "system", "user": "user", "tool": "results"}
    roles = {turn.message: turn.role for turn in turns}
    return frozenset(
        (
            "calls"
            if field.kind in ("name", "argument")
            else parts.get(roles.get(field.message, "assistant"), "reply"),
            field.message,
        )
        for field in lost
        if field.message is not None
    )


def _missing_calls(text: str, turns: Sequence[Turn]) -> frozenset[tuple[Missing, int]]:
    """Calls of which a name, key or number is not in the prompt; their texts are checked before."""
    return frozenset(
        ("calls", turn.message)
        for turn in turns
        for call in turn.calls
        if call.name not in text
        or not all(part in text for part in _bare_parts(dict(call.arguments)))
    )


def _bare_parts(value: Any) -> list[str]:
    """What must be printed of a JSON value beside its texts."""
    if isinstance(value, Mapping):
        return [part for key, item in value.items() for part in (str(key), *_bare_parts(item))]
    if isinstance(value, list | tuple):
        return [part for item in value for part in _bare_parts(item)]
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return []
    return [json.dumps(value)]


def _told_changes(changed: Sequence[Field]) -> tuple[str, ...]:
    numbers = sorted({field.message + 1 for field in changed if field.message is not None})
    return tuple(f"The model's template rewrites message {number}." for number in numbers)


def _told_tools(text: str, tools: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    names = [str(tool.get("function", tool).get("name", "")) for tool in tools]
    if all(name in text for name in names):
        return ()
    return ("The model's template does not tell the model of its tools.",)


def _unusable(reason: str) -> TemplateUnusable:
    sentence = " ".join(reason.split()).rstrip(".")[:300]
    return TemplateUnusable(f"The model's chat template cannot be used: {sentence}.", _REMEDY)
