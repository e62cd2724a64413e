"""One loaded model answering: what its cache holds is kept, read on from, and stretched.

Everything here runs on the worker's main thread. Replies are generators of chunks; between two
chunks other work may be done, and the user's stop arrives as `Stopped` out of the generator.
"""

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.backends.base import (
    Chunk,
    Finished,
    Loaded,
    PromptRequest,
    Reading,
    Warned,
)
from engine.backends.llamacpp_worker.native import (
    CHAT,
    Context,
    ContextShape,
    Interrupt,
    Model,
    Sampler,
)
from engine.backends.llamacpp_worker.prefix_file import Prefix, read_prefix, write_prefix
from engine.backends.llamacpp_worker.reply_text import ReplyText
from engine.backends.llamacpp_worker.stretch import StretchPlan, must_stretch, plan_change
from engine.backends.llamacpp_worker.templates import ChatTemplate, Rendered
from engine.backends.llamacpp_worker.think import ThinkTags
from engine.backends.llamacpp_worker.tokenizing import Tokenizer
from engine.backends.llamacpp_worker.vocabulary import Vocabulary
from engine.errors import ContextOverflow
from engine.transcript import StopReason, Usage


@dataclass
class _Cost:
    """What a reply costs, while it is added up; tokens and seconds."""

    prompt: int = 0
    reused: int = 0
    written: int = 0
    read_seconds: float = 0.0
    write_seconds: float = 0.0

    @contextmanager
    def reading(self) -> Iterator[None]:
        """The block reads."""
        started = time.monotonic()
        yield
        self.read_seconds += time.monotonic() - started

    @contextmanager
    def writing(self) -> Iterator[None]:
        """The block writes, but for what it spends reading again."""
        started, read_before = time.monotonic(), self.read_seconds
        yield
        spent = time.monotonic() - started
        self.write_seconds += spent - (self.read_seconds - read_before)

    def usage(self) -> Usage:
        """The sum."""
        return Usage(
            read_tokens=self.prompt - self.reused,
            reused_tokens=self.reused,
            written_tokens=self.written,
            read_seconds=self.read_seconds,
            write_seconds=self.write_seconds,
        )


class Chat:
    """A model, its context and its template.

    Args:
        model: the loaded weights.
        template: how its prompts are written.
        plan: its window, and whether it may be stretched.
        shape: how its context is made, natively; None where only words are counted.
        mark: names the model file, for prefixes kept on the disk.
        interrupt: the user's stop.
        on_rendering: called with True before a template runs and False after it.

    Attributes:
        loaded: what is really there.
    """

    def __init__(
        self,
        model: Model,
        template: ChatTemplate,
        plan: StretchPlan,
        shape: ContextShape | None,
        *,
        mark: str,
        interrupt: Interrupt,
        on_rendering: Callable[[bool], None],
    ) -> None:
        self._model = model
        self._template = template
        self._plan = plan
        self._shape = shape
        self._mark = mark
        self._interrupt = interrupt
        self._on_rendering = on_rendering
        self._repairs_told: set[str] = set()
        self.vocabulary = Vocabulary(model)
        self._tokenizer = Tokenizer(self.vocabulary)
        self._made: Context | None = None
        window = plan.window_tokens
        if shape is not None:
            window = min(window, self._context.window_tokens)
        self.loaded = Loaded(window, plan.trained_tokens, self.vocabulary.fingerprint)

    def close(self) -> None:
        """Free the context; the model stays."""
        if self._made is not None:
            self._made.close()
            self._made = None

    def count(self, request: PromptRequest) -> int:
        """The exact size of the prompt in tokens. Raises TemplateUnusable."""
        return len(self._prompt(request)[0])

    def measure(self, texts: Sequence[str]) -> list[int]:
        """Exact sizes of plain texts in tokens, without any template."""
        return [self._tokenizer.size(text) for text in texts]

    def reply(self, request: PromptRequest) -> Iterator[Chunk]:
        """Read the prompt and write the reply, ending with `Finished`.

        Raises TemplateUnusable, ContextOverflow (before anything is evaluated), BackendFailed,
        Stopped.
        """
        prompt, rendered = self._prompt(request)
        window = min(self.loaded.window_tokens, request.window_tokens)
        if len(prompt) >= window:
            raise _overflow(len(prompt), window)
        yield from self._tell_repairs(rendered)
        cost = _Cost(prompt=len(prompt))
        with cost.reading():
            yield from self._change_context(prompt)
            cost.reused = yield from self._read(prompt)
        limit = min(request.max_tokens, window - len(prompt))
        reason: StopReason = yield from self._write(request, rendered, limit, cost)
        yield Finished(reason, cost.usage())

    def save(self, file: Path) -> bool:
        """Write what the cache holds of the conversation; False when that is nothing."""
        ids = self._context.held[CHAT]
        if not ids:
            return False
        try:
            write_prefix(file, self._marks, Prefix(tuple(ids), self._context.state()))
        except OSError:
            return False
        return True

    def restore(self, file: Path) -> bool:
        """Fill the cache from a file written by `save` for this model, window and version."""
        for stretched in (False, True):
            prefix = read_prefix(file, self._marks_for(stretched=stretched))
            if prefix is None or len(prefix.ids) > self.loaded.window_tokens:
                continue
            if stretched != self.is_stretched:
                self._make_context(stretched=stretched)
            return self._context.take_state(prefix.state, prefix.ids)
        return False

    @property
    def _marks(self) -> dict[str, Any]:
        return self._marks_for(stretched=self.is_stretched)

    def _marks_for(self, *, stretched: bool) -> dict[str, Any]:
        """What a prefix on the disk must have been written for."""
        shape = self._shape_for(stretched=stretched)
        return {
            "model": self._mark,
            "version": self._model.library_version,
            "window": shape.window_tokens,
            "cache": shape.kv_type,
            "yarn_from": shape.yarn_from,
        }

    # ---- the prompt -----------------------------------------------------------------------------

    def _prompt(self, request: PromptRequest) -> tuple[list[int], Rendered]:
        self._on_rendering(True)
        rendered = self._template.render(
            request.messages, tools=request.tools, think=request.think
        )
        self._on_rendering(False)
        self.vocabulary.show(_tag_texts(rendered.think))
        return self._tokenizer.prompt_ids(rendered, request.messages), rendered

    def _tell_repairs(self, rendered: Rendered) -> Iterator[Chunk]:
        for repair in rendered.repairs:
            if repair not in self._repairs_told:
                self._repairs_told.add(repair)
                yield Warned("template_repaired", repair)

    def _read(self, ids: list[int]) -> Generator[Chunk, None, int]:
        """Read what the cache does not hold; how many tokens it did.

        The last token is always read: it gives what the first sampling needs.
        """
        context = self._context
        reused = context.keep(min(context.shared_prefix(ids), len(ids) - 1))
        yield Reading(reused, len(ids), reused)
        for done in context.read(ids[reused:]):
            yield Reading(reused + done, len(ids), reused)
        return reused

    # ---- the reply ------------------------------------------------------------------------------

    def _write(
        self, request: PromptRequest, rendered: Rendered, limit: int, cost: _Cost
    ) -> Generator[Chunk, None, StopReason]:
        """Write at most `limit` tokens after the prompt that was read; why it ended."""
        text = ReplyText(
            self.vocabulary,
            rendered.think,
            opened=rendered.opens_thinking,
            stops=request.sampling.stop,
        )
        with (
            cost.writing(),
            closing(
                Sampler(request.sampling, self.vocabulary.tokens, self._context.held[CHAT])
            ) as sampler,
        ):
            reason = yield from self._generate(sampler, text, limit, cost)
        yield from text.finish()
        return reason

    def _generate(
        self, sampler: Sampler, text: ReplyText, limit: int, cost: _Cost
    ) -> Generator[Chunk, None, StopReason]:
        while cost.written < limit:
            self._interrupt.check()
            token = sampler.sample(self._context)
            if self.vocabulary.is_end(token):
                return "stop"
            cost.written += 1
            yield from text.take(token)
            if text.is_stopped:
                return "stop"
            if cost.written == limit:
                break
            held = self._context.held[CHAT]
            if must_stretch(self._plan, stretched=self.is_stretched, position=len(held)):
                yield from self._stretch([*held, token], cost)
            else:
                self._context.evaluate((token,))
        return "length"

    def _stretch(self, ids: list[int], cost: _Cost) -> Iterator[Chunk]:
        """Make the context anew with YaRN and read everything so far once more."""
        yield self._stretched_warning()
        with cost.reading():
            self._make_context(stretched=True)
            yield from self._read(ids)

    # ---- the context ----------------------------------------------------------------------------

    @property
    def is_stretched(self) -> bool:
        """Whether the context was made with YaRN."""
        return self._context.shape.yarn_from > 0

    def _change_context(self, prompt: list[int]) -> Iterator[Chunk]:
        """Stretch the context before a prompt that needs it, or go back to the native one."""
        change = plan_change(
            self._plan,
            stretched=self.is_stretched,
            prompt_tokens=len(prompt),
            reused_tokens=self._context.shared_prefix(prompt),
        )
        if change == "stretch":
            yield self._stretched_warning()
            self._make_context(stretched=True)
        elif change == "return":
            yield Warned(
                "reloaded",
                f"This conversation fits the {self._plan.trained_tokens:,} tokens the model was "
                "trained on again: it runs unstretched from here.",
            )
            self._make_context(stretched=False)

    def _stretched_warning(self) -> Warned:
        return Warned(
            "stretched",
            f"This conversation has passed the {self._plan.trained_tokens:,} tokens the model "
            f"was trained on: its context was stretched to {self._plan.window_tokens:,} (YaRN) and "
            "is read once more. From here on answers may be weaker.",
        )

    def _make_context(self, *, stretched: bool) -> Context:
        """A new, empty context in the place of the old one. Raises ModelUnusable."""
        if self._made is not None:
            self._made.close()  # first: two of them may not fit the memory
            self._made = None
        shape = self._shape_for(stretched=stretched)
        self._made = Context(self._model, shape, self._interrupt)
        return self._made

    def _shape_for(self, *, stretched: bool) -> ContextShape:
        assert self._shape is not None  # a model of words only runs nothing
        return replace(self._shape, yarn_from=self._plan.trained_tokens if stretched else 0)

    @property
    def _context(self) -> Context:
        """The context; made again if making another one had failed."""
        return self._made or self._make_context(stretched=self._plan.starts_stretched)


def _tag_texts(tags: ThinkTags | None) -> tuple[str, ...]:
    return (tags.open, tags.close, *tags.passing) if tags is not None else ()


def _overflow(prompt_tokens: int, window_tokens: int) -> ContextOverflow:
    return ContextOverflow(
        f"The prompt is {prompt_tokens:,} tokens long and the context window is "
        f"{window_tokens:,}: it was not read.",
        "Shorten the conversation, or use a larger window.",
        prompt_tokens=prompt_tokens,
        window_tokens=window_tokens,
    )
