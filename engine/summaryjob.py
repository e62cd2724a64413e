"""What a compaction asks of a model: what is folded, what the model may already hold of it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.backends.base import PromptMessage
from engine.caution import plan_limit
from engine.compact import CompactionPlan, Language, SummaryWishes, conversation_language
from engine.context import ContextView, stands_degraded
from engine.prompt import plan_messages
from engine.readiness import Ready
from engine.tokens import Calibration
from engine.transcript import Entry, Message


@dataclass(frozen=True, slots=True)
class HeldPrompt:
    """A prompt the model may already have read, and its size in tokens as far as it is known."""

    messages: tuple[PromptMessage, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class SummaryJob:
    """What is to be summarised, and how.

    Attributes:
        folding: what is folded.
        prompts: prompts the model may already hold that contain what is folded, the best first;
            empty when the summary cannot be written in place.
        cap_tokens: the most a summary may have.
        limit_tokens: prompt and summary together stay under this.
        chunk_overhead: tokens of a staged request beside its chunk.
        language, wishes: how it is asked for.
    """

    folding: CompactionPlan
    prompts: tuple[HeldPrompt, ...]
    cap_tokens: int
    limit_tokens: int
    chunk_overhead: int
    language: Language
    wishes: SummaryWishes


def plan_job(
    view: ContextView,
    folding: CompactionPlan,
    ready: Ready,
    *,
    focus: str,
    system_prompt: str | None,
) -> SummaryJob:
    """The job for a compaction of this context.

    Args:
        view: the context.
        folding: what is folded.
        ready: the model that is to write.
        focus: what the user wants kept above all; empty for the settings' wishes.
        system_prompt: the conversation's, if the writer is its own model; None if it is another.
    """
    wishes, in_place = view.settings.wishes, view.settings.in_place
    limit = _limit(ready, view)
    return SummaryJob(
        folding,
        () if system_prompt is None or not in_place else _held(view, folding, system_prompt),
        cap_tokens=view.targets.summary_cap,
        limit_tokens=limit,
        chunk_overhead=min(view.targets.chunk_overhead, limit // 8),
        language=conversation_language(entry.body for entry in view.visible),
        wishes=replace(wishes, focus=focus) if focus else wishes,
    )


def plan_cautiously(job: SummaryJob, ready: Ready, calibration: Calibration) -> SummaryJob:
    """The job, in requests that what runs the writer will not cut in silence.

    `calibration` is what is known of estimates for the writer.
    """
    if not ready.loaded.cuts:
        return job
    limit = plan_limit(job.limit_tokens, calibration)
    return replace(job, limit_tokens=limit, chunk_overhead=min(job.chunk_overhead, limit // 8))


def _held(
    view: ContextView, folding: CompactionPlan, system_prompt: str
) -> tuple[HeldPrompt, ...]:
    """What the model has read already: the whole conversation, or its beginning up to the cut.

    After a placeholder the originals are summarised, which no longer stand in any prompt. Pictures
    are folded with their messages: a summary is made of words, and a mark stands for each.
    """
    if stands_degraded(view.path):
        return ()
    visible, weights = view.visible, view.weights
    asked = visible[-1] if visible and _is_user(visible[-1]) else None
    whole = visible[:-1] if asked else visible
    cut = next((i for i, e in enumerate(visible) if e.id == folding.first_kept), len(whole))
    begin = visible[:cut]
    unread = weights.get(asked.id, 0) if asked else 0
    read = view.fixed_tokens + sum(weights.get(entry.id, 0) for entry in begin)
    thought = view.thinking.get
    unread += sum(thought(entry.id, 0) for entry in whole)  # a summary is written without it
    read -= sum(thought(entry.id, 0) for entry in begin)
    return (
        HeldPrompt(_words_of(whole, system_prompt), view.count.tokens - unread),
        HeldPrompt(_words_of(begin, system_prompt), read),
    )


def _words_of(entries: Sequence[Entry], system_prompt: str) -> tuple[PromptMessage, ...]:
    """The prompt of these entries without earlier thinking and without pictures."""
    return plan_messages(entries, system_prompt, "drop", pictures="marked")


def _limit(ready: Ready, view: ContextView) -> int:
    """Prompt and summary together stay under this: the window of whoever writes, and what it runs
    without stretching, which would make the whole conversation be read once more.
    """
    window = min(view.budget.window, ready.window.tokens)
    trained = ready.loaded.trained_tokens
    native = ready.request.stretch == "auto" and 0 < view.count.tokens <= trained
    return min(window, trained) if native else window


def _is_user(entry: Entry) -> bool:
    return isinstance(entry.body, Message) and entry.body.role == "user"
