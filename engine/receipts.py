"""Whether a backend read what it was sent: the judgement on a reply's receipt. Pure.

A server that cuts a prompt says nothing of it; only its count of what it read tells. That count is
held against the least that the prompt can have been:

::

    counted exactly ──────────────────────────────▶ the count itself
    begins with the prompt before, and that was ──▶ what was read then, and the least of the rest
    estimated ────────────────────────────────────▶ the least that any tokenizer makes of it

An honest turn never falls below it, so that a warning always means something. Some servers report
only what they newly read; what can be explained by that is not warned of.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from engine.backends.base import PromptMessage
from engine.events import Mismatch, MismatchCause
from engine.tokens import Count, estimate_text
from engine.transcript import Usage

_SHARE, _TOKENS = 0.01, 16
"""What a template may add or leave out: one per cent and a few tokens."""
_LEAST_OF_ASCII = 0.4
_LEAST_OF_OTHERS = 0.12
"""Tokens a text can have for one that was estimated: large vocabularies have whole words of many
scripts, where the estimate counts bytes.
"""
_MOST_OF_NEW = 2.0
"""What is new can have so many tokens for one that was estimated, its frame included."""
_MOST_SLOTS = 8
_SLOT_SHARE = 0.03

_RUNS = re.compile(r"(.)\1{3,}|\s+", re.DOTALL)
_OTHERS = re.compile(r"[^\x00-\x7f]+")


@dataclass(frozen=True, slots=True)
class SentPrompt:
    """A prompt that was sent: its messages, its size as it was shown, the window asked for."""

    messages: tuple[PromptMessage, ...]
    count: Count
    window_tokens: int = 0


@dataclass(frozen=True, slots=True)
class ReadPrompt:
    """A prompt that was read, and how many tokens were reported of it.

    `reports_whole`: the backend was seen to report whole prompts, not only what is new in them.
    """

    messages: tuple[PromptMessage, ...]
    tokens: int
    reports_whole: bool = False


def judge_receipt(
    sent: SentPrompt, usage: Usage, before: ReadPrompt | None = None
) -> Mismatch | None:
    """What is wrong between what was sent and what was read; None when nothing is.

    `before` is the prompt that was read last in this conversation. A backend that reports nothing
    (0 tokens) is not judged.
    """
    read, shown = usage.prompt_tokens, sent.count.tokens
    if read <= 0:
        return None
    if sent.count.kind == "exact":
        if abs(read - shown) <= _tolerance(shown):
            return None
        return _mismatch(sent, read)
    if _is_new_part(sent, read, before):
        return None
    if read >= plan_least(sent.messages) - _TOKENS and not _fell(sent, read, before):
        return None
    return _mismatch(sent, read)


def plan_least(messages: Sequence[PromptMessage]) -> int:
    """The fewest tokens a tokenizer makes of these messages, templates aside."""
    return sum(_least(message.content) for message in messages)


def note_read(
    sent: SentPrompt, usage: Usage, mismatch: Mismatch | None, before: ReadPrompt | None = None
) -> ReadPrompt | None:
    """What to compare the next prompt with; None when this one was not read as it was sent."""
    read = usage.prompt_tokens
    if mismatch is not None or read <= 0:
        return None
    known = before is not None and before.reports_whole
    new = _new_part(sent, before)
    is_whole = known or (len(new) < len(sent.messages) and read > _most(new))
    return ReadPrompt(sent.messages, read, is_whole)


def _new_part(sent: SentPrompt, before: ReadPrompt | None) -> tuple[PromptMessage, ...]:
    """What the backend cannot have read before: all after the last prompt, or the last reply."""
    if before is not None and _begins_with(sent, before):
        return sent.messages[len(before.messages) :]
    replies = [at for at, message in enumerate(sent.messages) if message.role == "assistant"]
    return sent.messages[replies[-1] + 1 :] if replies else sent.messages


def _is_new_part(sent: SentPrompt, read: int, before: ReadPrompt | None) -> bool:
    """Whether the report is explained by counting only what is new, as some servers do."""
    new = _new_part(sent, before)
    if len(new) == len(sent.messages) or (before is not None and before.reports_whole):
        return False
    return plan_least(new) - _TOKENS <= read <= _most(new)


def _fell(sent: SentPrompt, read: int, before: ReadPrompt | None) -> bool:
    """Whether less was read than of the same beginning before."""
    if before is None or not _begins_with(sent, before):
        return False
    new = sent.messages[len(before.messages) :]
    return read < before.tokens - _tolerance(before.tokens) + plan_least(new)


def _begins_with(sent: SentPrompt, before: ReadPrompt) -> bool:
    return sent.messages[: len(before.messages)] == before.messages


def _most(new: Sequence[PromptMessage]) -> float:
    """The most tokens that what is new can be."""
    estimated = sum(estimate_text(message.content + message.thinking) for message in new)
    return estimated * _MOST_OF_NEW + 4 * _TOKENS


def _least(text: str) -> int:
    """Runs of one sign may be one token; the rest is held to be what large vocabularies make of it."""
    short = _RUNS.sub(lambda run: " " if run[0].isspace() else run[1], text)
    plain = _OTHERS.sub("", short)
    others = "".join(_OTHERS.findall(short))
    least = _LEAST_OF_ASCII * estimate_text(plain) if plain.strip() else 0.0
    return int(least + (_LEAST_OF_OTHERS * estimate_text(others) if others else 0.0))


def _tolerance(tokens: int) -> int:
    return max(_TOKENS, int(_SHARE * tokens))


# ---- words --------------------------------------------------------------------------------------


def _mismatch(sent: SentPrompt, read: int) -> Mismatch:
    cause, count = _cause(sent, read)
    return Mismatch(sent.count.tokens, read, cause, _sentence(sent, read), _remedy(cause, count))


def _cause(sent: SentPrompt, read: int) -> tuple[MismatchCause, int]:
    """The probable cause; for a divided window, between how many."""
    if read > sent.count.tokens or sent.count.kind == "exact":
        return "rendered_otherwise", 0
    for slots in range(2, _MOST_SLOTS + 1):
        if abs(read * slots - sent.window_tokens) <= _SLOT_SHARE * sent.window_tokens:
            return "divided", slots
    return "smaller_window", 0


def _sentence(sent: SentPrompt, read: int) -> str:
    shown = sent.count.tokens
    if sent.count.kind == "exact":
        return f"{read:,} tokens were read, and {shown:,} were sent."
    return (
        f"The server read {read:,} of about {shown:,} tokens sent. "
        "The start of the conversation was not seen."
    )


def _remedy(cause: MismatchCause, slots: int) -> str:
    match cause:
        case "divided":
            return (
                f"It seems to divide its window between {slots} conversations: set "
                "OLLAMA_NUM_PARALLEL to 1, or use a smaller window for this model."
            )
        case "smaller_window":
            return (
                "It seems to run the model with a smaller window than was asked for: update or "
                "restart it, or use a smaller window for this model."
            )
        case "rendered_otherwise":
            return (
                "The model's template was probably applied in another way than it was counted: "
                "answer again; if it comes back, choose another model file."
            )
