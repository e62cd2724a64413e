"""A conversation on its way into a chat template, and the ways to reshape it for one that refuses.

::

    PromptMessage ─as_turns─▶ Turn ─RESHAPES─▶ Turn ─templates_fields─▶ the template's variables

A `Turn` keeps every text apart with the number of the message it comes from, so that after folding
and merging it is still known whose words stand where. Reshaping never loses a word.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final, Literal

from engine.backends.base import PromptMessage, PromptRole
from engine.transcript import ToolCall

GAP: Final = "\n\n"

ReshapeName = Literal[
    "calls_as_text",
    "results_as_text",
    "leave_out_empty",
    "fold_system",
    "fold_first_reply",
    "merge_same",
]


@dataclass(frozen=True, slots=True)
class Words:
    """Text of the message number `message`; None for joining text of our own."""

    text: str
    message: int | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One message as a template gets it. `message` is the number of the first one in it."""

    role: PromptRole
    content: tuple[Words, ...]
    message: int
    thinking: Words | None = None
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    tool_name: str = ""


@dataclass(frozen=True, slots=True)
class Reshape:
    """A repair: what it does to the turns, and how it is told."""

    apply: Callable[[tuple[Turn, ...]], tuple[Turn, ...]]
    told: str


def as_turns(messages: Sequence[PromptMessage]) -> tuple[tuple[Turn, ...], tuple[str, ...]]:
    """The turns of a conversation, with one system message at the start; and what that took."""
    turns = tuple(
        Turn(
            message.role,
            (Words(message.content, number),) if message.content else (),
            number,
            Words(message.thinking, number) if message.thinking else None,
            message.tool_calls,
            message.tool_call_id,
            message.tool_name,
        )
        for number, message in enumerate(messages)
    )
    system = [turn for turn in turns if turn.role == "system"]
    others = tuple(turn for turn in turns if turn.role != "system")
    if not system or (len(system) == 1 and turns[0] is system[0]):
        return turns, ()
    first = replace(system[0], content=_joined(system))
    return (first, *others), ("The system messages were joined into one at the start.",)


def reshaped(turns: tuple[Turn, ...], names: Sequence[ReshapeName]) -> tuple[Turn, ...]:
    """The turns after some repairs, which are made in the order of `RESHAPES`."""
    for name, reshape in RESHAPES.items():
        if name in names:
            turns = reshape.apply(turns)
    return turns


def told(turns: tuple[Turn, ...], names: Sequence[ReshapeName]) -> tuple[str, ...]:
    """The same repairs in words, those that changed something."""
    words = []
    for name, reshape in RESHAPES.items():
        if name in names:
            changed = reshape.apply(turns)
            if changed != turns:
                words.append(reshape.told)
            turns = changed
    return tuple(words)


# ---- the repairs


def _calls_as_text(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    return tuple(
        replace(
            turn, calls=(), content=_spaced([turn.content, *map(_call_words(turn), turn.calls)])
        )
        if turn.calls
        else turn
        for turn in turns
    )


def _call_words(turn: Turn) -> Callable[[ToolCall], tuple[Words, ...]]:
    def words(call: ToolCall) -> tuple[Words, ...]:
        arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
        return (Words("Tool call: "), Words(f"{call.name}({arguments})", turn.message))

    return words


def _results_as_text(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    return tuple(
        Turn("user", (*_result_title(turn), *turn.content), turn.message)
        if turn.role == "tool"
        else turn
        for turn in turns
    )


def _result_title(turn: Turn) -> tuple[Words, ...]:
    name = (Words(" of "), Words(turn.tool_name, turn.message)) if turn.tool_name else ()
    return (Words("Tool result"), *name, Words(":\n"))


def _leave_out_empty(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Replies that were stopped before the first word."""
    return tuple(turn for turn in turns if turn.content or turn.calls or turn.role != "assistant")


def _fold_system(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    if not turns or turns[0].role != "system":
        return turns
    return _fold_into_user(turns[0].content, turns[1:], turns[0].message)


def _fold_first_reply(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Leading replies become words of the first user message."""
    head = [turn for turn in turns if turn.role == "system"]
    rest = turns[len(head) :]
    replies = []
    while rest and rest[0].role == "assistant":
        replies.append(rest[0])
        rest = rest[1:]
    if not replies:
        return turns
    said = (Words("Earlier reply:\n"), *_joined(replies))
    return (*head, *_fold_into_user(said, rest, replies[0].message))


def _fold_into_user(
    words: tuple[Words, ...], turns: tuple[Turn, ...], message: int
) -> tuple[Turn, ...]:
    """The words at the start of the first user message, which is made when there is none in front."""
    if turns and turns[0].role == "user":
        first = replace(turns[0], content=_spaced([words, turns[0].content]), message=message)
        return (first, *turns[1:])
    return (Turn("user", words, message), *turns)


def _merge_same(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Neighbours of one role become one message; tool calls and results stay as they are."""

    def sort_of(turn: Turn) -> object:
        return turn.message if turn.calls or turn.role == "tool" else turn.role

    return tuple(
        replace(group[0], content=_joined(group), thinking=group[-1].thinking)
        for _, found in groupby(turns, sort_of)
        for group in [list(found)]
    )


def _joined(turns: Sequence[Turn]) -> tuple[Words, ...]:
    return _spaced([turn.content for turn in turns])


def _spaced(parts: Sequence[tuple[Words, ...]]) -> tuple[Words, ...]:
    """The parts that are not empty, with a blank line between."""
    words: list[Words] = []
    for part in parts:
        if part and words:
            words.append(Words(GAP))
        words.extend(part)
    return tuple(words)


RESHAPES: Final[dict[ReshapeName, Reshape]] = {
    "calls_as_text": Reshape(
        _calls_as_text,
        "The model's template does not take these tool calls; they are sent as text.",
    ),
    "results_as_text": Reshape(
        _results_as_text,
        "The model's template does not take these tool results; they are sent as the user's text.",
    ),
    "leave_out_empty": Reshape(
        _leave_out_empty, "The model's template takes no empty reply; it is left out."
    ),
    "fold_system": Reshape(
        _fold_system,
        "The model's template takes no system prompt here; it is put before the first message.",
    ),
    "fold_first_reply": Reshape(
        _fold_first_reply,
        "The model's template must begin with the user; the first reply is quoted there.",
    ),
    "merge_same": Reshape(
        _merge_same,
        "The model's template takes no two messages of one role in a row; they are joined.",
    ),
}
"""The repairs, in the order they are made."""
