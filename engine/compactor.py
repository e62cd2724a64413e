"""Has a summary written: in place at the end of the conversation, or staged over its messages.

::

    in place   the prompt the model has already read + the instruction ─▶ only that is read (design.md 6)
       │ does not fit, another model, or rejected twice
       ▼
    staged     the folded messages as text, in pieces, merged (SPEC1 12.5.4, 12.5.5)
       │ rejected or failed three times
       ▼
    fallback   without oversized messages; then a placeholder, marked degraded (SPEC1 12.5.6)

Nothing of these exchanges enters the transcript but the summary. The user's stop ends all of it
and leaves everything as it was.
"""

import asyncio
import math
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from engine.backends.base import (
    Backend,
    Finished,
    PromptMessage,
    PromptRequest,
    Reading,
    Sampling,
    TextChunk,
    ThinkingChunk,
)
from engine.compact import (
    CompactionPlan,
    Stages,
    Summariser,
    SummaryRejected,
    SummaryTask,
    Written,
    check_echo,
    check_size,
    clean_summary,
    instruction_text,
    system_text,
    task_text,
)
from engine.errors import ContextOverflow
from engine.events import CompactionProgress, Event
from engine.models import ModelPlan
from engine.prompt import plan_request
from engine.readiness import Ready
from engine.summaryjob import SummaryJob
from engine.tokens import SAFETY_MARGIN, Weighed, estimate_messages, estimate_text
from engine.transcript import StopReason

Way = Literal["in_place", "staged", "partial", "placeholder"]
Doing = Literal["reading", "writing", "waiting"]
Progress = Callable[[Doing, int, int, int], None]
"""Told what is being done, how much of it, of how much, and in which stage (from 1)."""

Words = Callable[[SummaryTask, SummaryJob, int, bool], tuple[str, str]]
"""System prompt and message of a staged request: its task, the job, how many words are wanted, and
whether in plain sentences."""

IN_PLACE_ATTEMPTS = 3
SMALL_MODEL_BYTES = 700_000_000
"""Weights of a model that is asked for a few plain sentences: it would only echo a longer task."""
_PLAIN_TOKENS = 320
_FRAME_TOKENS = 64
"""What a chat template puts around two messages, rather too much."""
WORDS_PER_TOKEN = 0.6
"""For the length a model is told; it keeps to words better than to tokens, and to neither well."""

_TIER_WAYS: dict[int, Way] = {1: "staged", 2: "partial", 3: "placeholder"}


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes a summary: a model that is ready."""

    backend: Backend
    plan: ModelPlan
    ready: Ready


@dataclass(frozen=True, slots=True)
class WrittenSummary:
    """A summary that may stand, and what it took: `requests`, and why earlier ones did not do.

    `rejected` are reasons of what was written and could not stand, `faults` sentences of what failed.
    """

    text: str
    way: Way
    requests: int
    rejected: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    read_tokens: int = 0
    written_tokens: int = 0

    @property
    def is_degraded(self) -> bool:
        """Whether it only stands in for one: no model could write it."""
        return self.way == "placeholder"


def conversation_words(
    task: SummaryTask,
    job: SummaryJob,
    max_words: int,
    plain: bool,  # noqa: FBT001  # one of `Words`
) -> tuple[str, str]:
    """How a conversation's summary is asked for."""
    text = task_text(task, job.language, job.wishes, max_words=max_words, plain=plain)
    return system_text(job.language), text


class Compactor:
    """Writes summaries with one model.

    Args:
        writer: the model.
        progress: told how far it is.
        words: how staged summaries are asked for.
        sleep: waits between attempts, seconds.
        chance: a number from 0 to 1, for the jitter of those waits.
    """

    def __init__(
        self,
        writer: Writer,
        progress: Progress,
        *,
        words: Words = conversation_words,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._writer = writer
        self._progress = progress
        self._words = words
        self._sleep = sleep
        self._chance = chance
        self._requests = 0
        self._rejected: list[str] = []
        self._faults: list[str] = []
        self._failures = 0
        self._read = 0
        self._written = 0

    async def summarise(self, job: SummaryJob) -> WrittenSummary:
        """A summary of what the job folds.

        Raises BackendUnreachable, WorkerDied and other faults only when not even the placeholder
        may stand for them; cancelling propagates at once.
        """
        text = await self._in_place(job)
        way: Way = "in_place"
        if text is None:
            text, way = await self._staged(job)
        return WrittenSummary(
            text,
            way,
            self._requests,
            tuple(self._rejected),
            tuple(self._faults),
            self._read,
            self._written,
        )

    # ---- in place -------------------------------------------------------------------------------

    async def _in_place(self, job: SummaryJob) -> str | None:
        """The summary, written at the end of what the model holds; None to go the other way."""
        for attempt in range(IN_PLACE_ATTEMPTS):
            request = await self._in_place_request(job, attempt)
            if request is None:
                return None
            try:
                return await self._write(request, job, job.folding)
            except SummaryRejected as rejected:
                self._rejected.append(rejected.reason)
                self._failures += 1
            except ContextOverflow:
                return None  # the server's window is smaller than was believed
        return None

    async def _in_place_request(self, job: SummaryJob, attempt: int) -> PromptRequest | None:
        """The first prompt to which instruction and summary can be added within the limit."""
        cap, plain = self._cap(job.cap_tokens, attempt)
        instruction = instruction_text(
            "in_place", job.language, job.wishes, max_words=_words(cap, attempt), plain=plain
        )
        added = PromptMessage("user", instruction)
        for prompt in job.prompts:
            request = self._request((*prompt.messages, added), cap, attempt)
            size = await self._writer.backend.count(request)
            if size is None:
                size = prompt.tokens + _estimated((added,))
            if size + cap <= job.limit_tokens:
                return request
        return None

    def _cap(self, cap_tokens: int, attempt: int) -> tuple[int, bool]:
        """Tokens a summary may have at an attempt, and whether plain sentences are asked for.

        A model that failed at the structured task is asked for less.
        """
        weights = self._writer.ready.info.weights_bytes
        plain = attempt > 0 or 0 < weights < SMALL_MODEL_BYTES
        return min(cap_tokens, _PLAIN_TOKENS) if plain else cap_tokens, plain

    # ---- staged ---------------------------------------------------------------------------------

    async def _staged(self, job: SummaryJob) -> tuple[str, Way]:
        """The summary in stages: whole turns first, then the beginning of a split turn."""
        folding = job.folding
        previous = folding.previous.summary if folding.previous else ""

        async def generate(task: SummaryTask) -> str:
            return await self._generate(task, job)

        summariser = Summariser(
            generate,
            window=job.limit_tokens,
            chunk_overhead=job.chunk_overhead,
            language=job.language,
            stages=Stages(
                output_tokens=job.cap_tokens, instruction_tokens=_instruction_tokens(job)
            ),
            sleep=self._sleep,
            random=self._chance,
        )
        summary = await summariser.in_turns(
            folding.folded, folding.turn_prefix, previous=previous, focus=job.wishes.focus
        )
        self._rejected.extend(summary.rejected)
        self._faults.extend(summary.faults)
        return summary.text, _TIER_WAYS[summary.tier]

    async def _generate(self, task: SummaryTask, job: SummaryJob) -> str:
        """One staged request."""
        attempt = min(self._failures, 2)
        cap, plain = self._cap(max(1, int(job.cap_tokens * task.share)), attempt)
        system, text = self._words(task, job, _words(cap, attempt), plain)
        messages = (PromptMessage("system", system), PromptMessage("user", text))
        request = self._request(messages, cap, self._requests)
        size = await self._size(request)
        if size + cap > job.limit_tokens:
            raise ContextOverflow(
                "A request for a summary would not fit the context window.",
                prompt_tokens=size,
                window_tokens=job.limit_tokens,
            )
        try:
            return await self._write(request, job, task)
        except SummaryRejected:
            self._failures += 1
            raise

    # ---- one request ----------------------------------------------------------------------------

    async def _write(
        self, request: PromptRequest, job: SummaryJob, of: CompactionPlan | SummaryTask
    ) -> str:
        """Run a request; its text if it may stand as a summary. Raises SummaryRejected."""
        self._requests += 1
        written = await self._run(request)
        text = clean_summary(written, salvage=True)
        tokens = await self._text_tokens(request, text)
        check_echo(text, request.messages[-1].content.rpartition("\n</")[2])  # what was asked
        replaced = _replaced(of)
        if isinstance(of, SummaryTask):  # a part may be small; the whole is measured at the end
            replaced = max(replaced, 2 * job.cap_tokens)
        check_size(tokens, replaced_tokens=replaced, cap_tokens=job.cap_tokens)
        return text

    async def _run(self, request: PromptRequest) -> Written:
        text: list[str] = []
        thinking: list[str] = []
        reason: StopReason = "interrupted"
        stage, written = self._requests, 0
        stream = self._writer.backend.stream(request)
        try:
            async for chunk in stream:
                match chunk:
                    case TextChunk(text=piece) | ThinkingChunk(text=piece):
                        (text if isinstance(chunk, TextChunk) else thinking).append(piece)
                        written += max(1, len(chunk.ids))
                        self._progress("writing", written, request.max_tokens, stage)
                    case Reading(read=read, total=total):
                        self._progress("reading", read, total, stage)
                    case Finished(stop_reason=reason, usage=usage):
                        self._read += usage.prompt_tokens
                        self._written += usage.written_tokens
        finally:
            if (close := getattr(stream, "aclose", None)) is not None:
                await close()
        return Written("".join(text), "".join(thinking), reason)

    def _request(
        self, messages: tuple[PromptMessage, ...], cap_tokens: int, attempt: int
    ) -> PromptRequest:
        plan, ready = self._writer.plan, self._writer.ready
        return plan_request(
            messages,
            model=plan.name,
            window_tokens=ready.request.window_tokens,
            max_tokens=cap_tokens,
            sampling=plan_sampling(plan.sampling, attempt),
            think=False,
        )

    async def _size(self, request: PromptRequest) -> int:
        exact = await self._writer.backend.count(request)
        return _estimated(request.messages) if exact is None else exact

    async def _text_tokens(self, request: PromptRequest, text: str) -> int:
        exact = await self._writer.backend.count_texts(request, (text,))
        return estimate_text(text) if exact is None else exact[0]


def teller(emit: Callable[[Event], None], turn: int) -> Progress:
    """Tells what is being done as events of a turn."""

    def tell(doing: Doing, done: int, total: int, stage: int) -> None:
        emit(CompactionProgress(turn, doing, done, total, stage))

    return tell


def plan_sampling(usual: Sampling, attempt: int) -> Sampling:
    """How a summary is sampled: soberly, otherwise at each attempt, and against loops."""
    return replace(
        usual,
        temperature=min(0.3 + 0.2 * attempt, 0.7),
        repeat_penalty=max(usual.repeat_penalty or 1.0, 1.1 if attempt == 0 else 1.25),
        seed=attempt + 1,
        stop=(),
    )


def _estimated(messages: tuple[PromptMessage, ...]) -> int:
    return math.ceil(SAFETY_MARGIN * estimate_messages(messages))


def _words(cap_tokens: int, attempt: int) -> int:
    """Words to ask for: well under the cap, fewer when the model ran over it before."""
    return max(40, int(cap_tokens * WORDS_PER_TOKEN / (1 + attempt)))


def _instruction_tokens(job: SummaryJob) -> int:
    """What a staged request has beside messages and summaries, at most."""
    task = SummaryTask("merge", partials=(" ",))
    words = task_text(task, job.language, job.wishes, max_words=_words(job.cap_tokens, 0))
    return estimate_text(system_text(job.language)) + estimate_text(words) + _FRAME_TOKENS


def _replaced(of: CompactionPlan | SummaryTask) -> int:
    """Tokens of what a summary stands for."""
    if isinstance(of, CompactionPlan):
        previous = estimate_text(of.previous.summary) if of.previous else 0
        return previous + _sum(of.folded) + _sum(of.turn_prefix)
    texts = (of.previous, *of.partials)
    return _sum(of.items) + sum(estimate_text(text) for text in texts if text)


def _sum(items: Sequence[Weighed]) -> int:
    return sum(item.tokens for item in items)
