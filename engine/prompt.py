"""The one place where a conversation becomes a request to a model.

::

    visible entries ─┐
    system prompt ───┼─▶ plan_messages ─▶ PromptMessage… ─▶ plan_request ─▶ PromptRequest
    sampling, window ┘

Pure. What never reaches a model: `details` of tool results and of custom messages and the program's
runtime context (SPEC1 12.3.1), custom entries, labels, pins, parts of an unknown kind, replies in which nothing was written,
earlier thinking by the model's rule (`engine.thinking`).
The system prompt goes first and verbatim, always. A user's pictures go along only to a model that
sees them; to any other, a mark in the text says that there is one.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from engine.backends.base import PromptMessage, PromptRequest, Sampling, Think
from engine.compact import Language, facts_from_json, facts_text, frame_summary
from engine.thinking import DEFAULT_HISTORY, ThinkingHistory, plan_history
from engine.tokens import is_runtime_context
from engine.transcript import (
    BranchSummary,
    Compaction,
    CustomMessage,
    Entry,
    Image,
    Message,
)

Pictures = Literal["sent", "unseen", "marked"]
"""What becomes of a user's pictures: sent as they are; for a model that sees none, a mark that says
so; where only words are wanted (summaries), a mark.
"""

BRANCH_INTRODUCTION = (
    "This conversation was continued from an earlier point. What happened on the other branch, "
    "for context; it is not a new request:"
)


def pictures_for(*, sees_images: bool) -> Pictures:
    """What a model's prompt has of pictures."""
    return "sent" if sees_images else "unseen"


def plan_messages(
    visible: Sequence[Entry],
    system_prompt: str,
    history: ThinkingHistory = DEFAULT_HISTORY,
    *,
    pictures: Pictures = "unseen",
) -> tuple[PromptMessage, ...]:
    """The messages a model gets for the visible entries of a path, system prompt first.

    Summaries become user messages with an introduction and `<summary>` tags (SPEC2 2.2). What is
    visible of a path, `engine.view` says; `history` is the rule for earlier thinking.
    """
    system = (PromptMessage("system", system_prompt),) if system_prompt.strip() else ()
    planned = (plan_message(entry, pictures) for entry in plan_history(visible, history))
    return (*system, *(message for message in planned if message is not None))


def plan_request(
    messages: tuple[PromptMessage, ...],
    *,
    model: str,
    window_tokens: int,
    max_tokens: int,
    sampling: Sampling,
    tools: tuple[Mapping[str, Any], ...] = (),
    think: Think | None = None,
) -> PromptRequest:
    """A request for one reply."""
    return PromptRequest(model, messages, window_tokens, max_tokens, sampling, tools, think)


def plan_max_tokens(wanted: int | None, window_tokens: int, prompt_tokens: int) -> int:
    """Tokens a reply may have: what is wanted, never more than window − prompt, at least one."""
    room = max(1, window_tokens - prompt_tokens)
    return room if wanted is None else max(1, min(wanted, room))


def plan_message(entry: Entry, pictures: Pictures = "unseen") -> PromptMessage | None:
    """What a model gets for an entry, its thinking included; None for what it gets nothing of."""
    match entry.body:
        case Message() as message:
            return _from_message(message, pictures)
        case CustomMessage(content=content) as custom:
            return None if is_runtime_context(custom) else PromptMessage("user", content)
        case Compaction() as compaction:
            return PromptMessage("user", _summary(compaction))
        case BranchSummary(summary=summary):
            return PromptMessage("user", _framed(BRANCH_INTRODUCTION, summary))
        case _:
            return None


def _summary(compaction: Compaction) -> str:
    """A stored summary as a model gets it: past context, with the exact values under it."""
    language: Language = "zh" if compaction.facts.get("language") == "zh" else "en"
    values = facts_text(facts_from_json(compaction.facts.get("values")), language)
    return frame_summary(compaction.summary, values, language)


def _framed(introduction: str, summary: str) -> str:
    return f"{introduction}\n\n<summary>\n{summary}\n</summary>"


def _from_message(message: Message, pictures: Pictures) -> PromptMessage | None:
    match message.role:
        case "user" if message.images:
            return _with_pictures(message, pictures)
        case "user" | "system":
            return PromptMessage(message.role, message.text)
        case "tool_result":
            return PromptMessage(
                "tool",
                message.text,
                tool_call_id=message.tool_call_id,
                tool_name=message.tool_name,
            )
        case "assistant":
            return _from_reply(message)


def _with_pictures(message: Message, pictures: Pictures) -> PromptMessage:
    if pictures == "sent":
        data = tuple(image.data for image in message.images)
        return PromptMessage("user", message.text, images=data)
    marks = "\n".join(_mark(image, pictures) for image in message.images)
    return PromptMessage("user", f"{message.text}\n\n{marks}" if message.text else marks)


def _mark(image: Image, pictures: Pictures) -> str:
    """What stands for a picture where it is not: nothing is left out in silence."""
    name = " ".join(image.name.split())
    named = f"image: {name}" if name else "image"
    return f"[{named}, not shown to this model]" if pictures == "unseen" else f"[{named}]"


def _from_reply(message: Message) -> PromptMessage | None:
    if not message.text and not message.tool_calls:
        return None  # failed or stopped before a word: the model never said anything
    ids = message.token_ids
    return PromptMessage(
        "assistant",
        message.text,
        thinking=message.thinking,
        tool_calls=message.tool_calls,
        token_ids=ids.ids if ids else (),
        vocabulary=ids.vocabulary if ids else "",
    )
