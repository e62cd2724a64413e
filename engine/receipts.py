"""Whether a backend read what it was sent: the judgement on a reply's receipt. Pure.

A server that cuts a prompt says nothing of it; only its count of what it read tells. That count is
held against the least that the prompt can have been:

::

    counted exactly ──────────────────────────────▶ the count itself
    begins with the prompt before, and that was ──▶ what was read then, and the least of the rest
    estimated ────────────────────────────────────▶ the least that any tokenizer makes of it

An honest turn never falls below it, so that a warning always means something. Some servers report
only what they newly read; what can be explained by that is not warned of.

Counts that nothing sent or written can have are told of too, and so is a count that is missing where
every server of that kind gives one. What another tokenizer could make of the same words is no proof.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from engine.backends.base import PromptMessage
from engine.events import Mismatch, MismatchCause
from engine.tokens import IMAGE_TOKENS, Count, estimate_once, estimate_text
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
_MOST_OF_IMAGE = 16_384
"""Tokens a picture can have: a large one, for a model that cuts it into tiles."""
_INVISIBLE = 128
"""Tokens of a reply that leave no text: tags around thinking, ends of turns, half characters."""
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


@dataclass(frozen=True, slots=True)
class ReportedReply:
    """The reply that a usage was reported with.

    `text` is all that arrived of it, thinking included; None where that says nothing of its tokens
    (tool calls are no text). `max_tokens` is what it was allowed, 0 for no limit. `tells_whole`:
    this kind of server reports every prompt, and whole.
    """

    text: str | None = None
    max_tokens: int = 0
    tells_whole: bool = False


NO_REPLY = ReportedReply()


class Receipts:
    """The receipts of one conversation with one model, each judged by those before."""

    def __init__(self) -> None:
        self._read: ReadPrompt | None = None  # the last prompt that was read whole

    def judge(
        self, sent: SentPrompt, usage: Usage, reply: ReportedReply = NO_REPLY
    ) -> Mismatch | None:
        """As `judge_receipt`; what was read is remembered for the next one."""
        mismatch = judge_receipt(sent, usage, self._read, reply)
        self._read = note_read(sent, usage, mismatch, self._read, reply)
        return mismatch


def judge_receipt(
    sent: SentPrompt,
    usage: Usage,
    before: ReadPrompt | None = None,
    reply: ReportedReply = NO_REPLY,
) -> Mismatch | None:
    """What is wrong between what was sent and what was read; None when nothing is.

    `before` is the prompt that was read last in this conversation. A backend that reports nothing
    (0 tokens) is judged only if its kind always reports.
    """
    read, shown = usage.prompt_tokens, sent.count.tokens
    if read <= 0 or (reply.tells_whole and reply.text and usage.written_tokens <= 0):
        return _untold(sent, read) if reply.tells_whole else None
    if sent.count.kind == "exact":
        if abs(read - shown) <= _tolerance(shown):
            return None
        return _mismatch(sent, read)
    if reply.tells_whole:
        before = before and replace(before, reports_whole=True)
    if (found := _miscounted(sent, usage, before, reply)) is not None:
        return found
    if not reply.tells_whole and _is_new_part(sent, read, before):
        return None
    if read >= plan_least(sent.messages) - _TOKENS and not _fell(sent, read, before):
        return None
    return _mismatch(sent, read)


def _miscounted(
    sent: SentPrompt, usage: Usage, before: ReadPrompt | None, reply: ReportedReply
) -> Mismatch | None:
    """Counts that nothing which was sent, or which arrived, can have; None when they can be."""
    read, written = usage.prompt_tokens, usage.written_tokens
    if 0 < sent.window_tokens < read or _rose(sent, read, before):
        return _too_many_read(sent, read)
    if 0 < reply.max_tokens < written or _is_other_text(reply, written):
        return _wrong_reply(sent, written)
    return None


def _rose(sent: SentPrompt, read: int, before: ReadPrompt | None) -> bool:
    """Whether more was read than of the same beginning before, and all that is new can be."""
    if before is None or not before.reports_whole or not _begins_with(sent, before):
        return False
    said = sum(_estimated(message) for message in before.messages)
    ratio = max(1.0, before.tokens / max(1, said))
    new = sent.messages[len(before.messages) :]
    frames = _TOKENS * len(new)
    frames += sum(len(str(message.tool_calls)) for message in new if message.tool_calls)
    return read > before.tokens + _tolerance(before.tokens) + ratio * _most(new) + frames


def _is_other_text(reply: ReportedReply, written: int) -> bool:
    """Whether a reply of so many tokens cannot be the one that arrived."""
    if reply.text is None or written <= 0:
        return False
    size = len(reply.text.encode("utf-8", "surrogatepass"))
    return not _least(reply.text) - _TOKENS <= written <= size + _INVISIBLE


def plan_least(messages: Sequence[PromptMessage]) -> int:
    """The fewest tokens a tokenizer makes of these messages, templates aside."""
    return sum(_least(message.content) for message in messages)


def note_read(
    sent: SentPrompt,
    usage: Usage,
    mismatch: Mismatch | None,
    before: ReadPrompt | None = None,
    reply: ReportedReply = NO_REPLY,
) -> ReadPrompt | None:
    """What to compare the next prompt with.

    What it was before when this one was not read as it was sent: a lie that lasts is told of in
    every turn.
    """
    read = usage.prompt_tokens
    if mismatch is not None or read <= 0:
        return before
    known = reply.tells_whole or (before is not None and before.reports_whole)
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


def _estimated(message: PromptMessage) -> int:
    return estimate_text(message.content) + IMAGE_TOKENS * len(message.images)


def _most(new: Sequence[PromptMessage]) -> float:
    """The most tokens that what is new can be."""
    estimated = sum(estimate_text(message.content + message.thinking) for message in new)
    pictures = _MOST_OF_IMAGE * sum(len(message.images) for message in new)
    return estimated * _MOST_OF_NEW + pictures + 4 * _TOKENS


@lru_cache(maxsize=512)  # of the same messages in every turn
def _least(text: str) -> int:
    """Runs of one sign may be one token; the rest is held to be what large vocabularies make of it."""
    short = _RUNS.sub(lambda run: " " if run[0].isspace() else run[1], text)
    plain = _OTHERS.sub("", short)
    others = "".join(_OTHERS.findall(short))
    least = _LEAST_OF_ASCII * estimate_once(plain) if plain.strip() else 0.0
    return int(least + (_LEAST_OF_OTHERS * estimate_once(others) if others else 0.0))


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


def _untold(sent: SentPrompt, read: int) -> Mismatch:
    return Mismatch(
        sent.count.tokens,
        read,
        "untold",
        "The server did not say how much it read and wrote: whether it read the whole "
        "conversation cannot be checked.",
        "Restart it or update it: every Ollama server says that with each reply.",
    )


_DISTRUST = (
    "Its counts are not relied on until they make sense again. Restart it or update it if this "
    "comes back."
)


def _too_many_read(sent: SentPrompt, read: int) -> Mismatch:
    shown = sent.count.tokens
    sentence = f"The server says that it read {read:,} tokens: more than the about {shown:,} sent."
    return Mismatch(shown, read, "miscounted", sentence, _DISTRUST)


def _wrong_reply(sent: SentPrompt, written: int) -> Mismatch:
    sentence = f"The server says that it wrote {written:,} tokens: not the reply that arrived."
    return Mismatch(sent.count.tokens, written, "miscounted", sentence, _DISTRUST)


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
        case _:
            return (
                "The model's template was probably applied in another way than it was counted: "
                "answer again; if it comes back, choose another model file."
            )
