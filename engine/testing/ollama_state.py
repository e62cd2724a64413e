"""What an Ollama double holds: its models, what is loaded, its clock and its notes.

Time is the double's own: a clock that moves a thousandth of a second with every look, so that
answers do not depend on the machine's; only what a test lets pass makes models expire.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypedDict

from engine.testing import ollama_rules as rules
from engine.testing.ollama_log import OTHER, Log, Stage, Truncation, Why
from engine.testing.ollama_rules import LoadOptions, Model, Refusal, Version
from engine.testing.ollama_script import Script, Seen
from engine.testing.ollama_switches import Switches

START = datetime(2026, 1, 1, tzinfo=UTC)
KEEP_ALIVE = 300.0
LOAD_NS = 2_000_000_000
WARM_NS = 1_000_000
TOKEN_NS = 1_000_000


@dataclass(slots=True)
class Runner:
    """A loaded model. `window` (tokens) is what it was really loaded with.

    `users` counts the requests that have it, waiting for a slot or not. `expires` is when it goes
    (seconds on the double's clock) and `expiry` what is told of that, both from the end of its last
    request. `leaves`: why it goes when that is over, whatever its time. `stuck`: it serves nobody
    any more, and does not go either. `gone` is set when it went.
    """

    model: Model
    options: LoadOptions
    window: int
    slots: asyncio.Semaphore
    keep_alive: float = KEEP_ALIVE
    cached: list[str] = field(default_factory=list)
    users: int = 0
    expires: float = 0.0
    expiry: datetime | None = None
    leaves: Why | Literal[""] = ""
    stuck: bool = False
    gone: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True, slots=True)
class Layer:
    """A file of a model that can be pulled: `total` bytes, whose progress goes by `steps`.

    A step smaller than the one before goes backwards (F20).
    """

    digest: str
    total: int = 1000
    steps: tuple[int, ...] = (0, 400, 1000)


@dataclass(frozen=True, slots=True)
class Fetchable:
    """A model that can be pulled, in layers one after the other."""

    model: Model
    layers: tuple[Layer, ...]


@dataclass(slots=True)
class Clock:
    """Time, in seconds since the start.

    `elapsed` is what a test let pass; `jumped` moves what is told and nothing else, as when
    somebody sets the machine's clock.
    """

    elapsed: float = 0.0
    jumped: float = 0.0
    looks: int = 0

    def now(self) -> datetime:
        """The time as it is told, later at every look; never beyond what a date can hold."""
        self.looks += 1
        return self.after(self.looks / 1000)

    def after(self, seconds: float) -> datetime:
        """The time that will be told so many seconds from now."""
        try:
            return START + timedelta(seconds=self.elapsed + self.jumped + seconds)
        except OverflowError:
            return datetime.max.replace(tzinfo=UTC)


class Limits(TypedDict, total=False):
    """The limits of a server that have defaults; what they mean is told at `State`."""

    window_limit: int
    slots: int
    max_queue: int
    max_loaded: int
    vram_gib: float


@dataclass(slots=True)
class State:
    """A server. `window_limit` makes it load less than it is asked for; 0 does not.

    `slots`: it divides what a model is loaded with between so many conversations. `parallel`: so
    many requests are served by a model at once. `max_queue`: so many wait for a load at most.
    `max_loaded`: so many models are in memory at most. `vram_gib`: memory of the graphics card.
    `fetched`: bytes there are of each layer of a model that was pulled, or begun to be.
    """

    version_text: str
    models: dict[str, Model]
    default_window: int
    window_limit: int = 0
    slots: int = 1
    parallel: int = 1
    max_queue: int = 512
    max_loaded: int = 3
    vram_gib: float = 0.0
    library: dict[str, Fetchable] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)
    fetched: dict[str, int] = field(default_factory=dict)
    runners: dict[str, Runner] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)
    script: Script = field(default_factory=Script)
    switches: Switches = field(default_factory=Switches)
    clock: Clock = field(default_factory=Clock)
    log: Log = field(default_factory=Log)

    @property
    def version(self) -> Version:
        """The version's numbers."""
        return rules.parse_version(self.version_text)

    @property
    def aborted_loads(self) -> int:
        """How many loads ended before the model was there."""
        return len(self.log.aborts)

    def stamp(self) -> str:
        """The time as the server writes it: nanoseconds, UTC."""
        return self.clock.now().strftime("%Y-%m-%dT%H:%M:%S.%f") + "001Z"

    def model(self, name: str) -> Model:
        """A model by any of its names. Raises Refusal 404."""
        if (found := self.models.get(rules.full_name(name))) is None:
            raise Refusal(404, f"model '{name}' not found")
        return found

    def store(self, model: Model) -> None:
        """Have a model, instead of one of the same name; it is then the one changed last."""
        self.models.pop(model.full_name, None)
        self.models[model.full_name] = model

    def options_for(
        self, body: Mapping[str, Any], model: Model
    ) -> tuple[dict[str, Any], LoadOptions]:
        """The checked options of a request, and what they want loaded. Raises Refusal."""
        options = rules.checked_options(body.get("options") or {})
        wanted = rules.load_options(
            options,
            model,
            self.version,
            shift=body.get("shift"),
            default=self.default_window,
        )
        return options, wanted

    def live_window(self, runner: Runner) -> int:
        """The window a model is really used with, tokens."""
        return min(runner.window, self.switches.lowers_to or runner.window)

    # ---- what the model gets to read ----

    def read(
        self,
        runner: Runner,
        model: Model,
        messages: Sequence[Mapping[str, Any]],
        body: Mapping[str, Any],
        keep: int,
        request: int = OTHER,
    ) -> tuple[Seen, rules.Cut]:
        """What the model gets of these messages (stages 1 and 2). Raises Refusal.

        `model` is whose template and abilities count; the runner may serve several.
        """
        log = self.log
        cut = self._cut(runner, model, messages, body, keep)
        tools = body.get("tools") or ()
        kept = self._kept(messages, model, tools, cut)
        whole, rest = (self._words(some, model, tools) for some in (messages, kept))
        words = rules.cut_words(rest, cut)
        losses: tuple[tuple[Stage, int], ...] = (
            ("messages", len(whole) - len(rest)),
            ("cut", len(rest) - len(words)),
        )
        for stage, lost in losses:
            if lost:
                log.truncations.append(Truncation(request, model.name, stage, lost))
        seen = Seen(model.name, tuple(kept), tuple(words), request)
        self.seen.append(seen)
        return seen, cut

    def _cut(
        self,
        runner: Runner,
        model: Model,
        messages: Sequence[Mapping[str, Any]],
        body: Mapping[str, Any],
        keep: int,
    ) -> rules.Cut:
        """How this prompt is treated, the lies included."""
        lies, version = self.switches, self.version
        window = self.live_window(runner)
        shift = rules.effective_shift(
            asked=body.get("shift"), window=window, model=model, version=version
        )
        truncate = body.get("truncate") is not False or version < rules.SHIFT_KNOWN
        cuts_anyway = lies.truncates_anyway in ("half", "both", "system")
        return rules.Cut(
            window,
            keep,
            truncate=truncate or cuts_anyway,
            shift=shift or cuts_anyway,
            path="rendered" if cuts_anyway else model.path,
            version=version,
            shifts=(shift or lies.shifts_anyway) and rules.can_shift(model, version),
            images=not cuts_anyway and any(message.get("images") for message in messages),
        )

    def _kept(
        self,
        messages: Sequence[Mapping[str, Any]],
        model: Model,
        tools: Sequence[Any],
        cut: rules.Cut,
    ) -> list[Mapping[str, Any]]:
        """Stage 1, where it is not left out."""
        lie, version = self.switches.truncates_anyway, self.version
        if lie == "half" or not (cut.truncate or lie):
            return list(messages)
        estimate = (768 if model.projector else 0) if "vision" in model.capabilities else 0

        def weigh(some: Sequence[Mapping[str, Any]]) -> int:
            return len(rules.words_of(some, tools, model.tokens_per_word, estimate))

        walk = (0, 15, 4) if lie == "system" else version
        return rules.kept_messages(messages, cut.window, walk, weigh)

    def _words(
        self, messages: Sequence[Mapping[str, Any]], model: Model, tools: Sequence[Any]
    ) -> list[str]:
        """The tokens of messages. Raises Refusal for images that the model cannot see."""
        images = any(message.get("images") for message in messages)
        if not images or "vision" in model.capabilities:
            return rules.words_of(messages, tools, model.tokens_per_word, model.image_tokens)
        if self.version >= rules.LLAMA_SERVER:
            raise rules.no_images(model.path)
        return rules.words_of(messages, tools, model.tokens_per_word, 1)
