"""What an Ollama double holds: its models, what is loaded, and what it was given to read.

Time is the double's own: a clock that moves a second with every look, so that answers do not
depend on the machine's.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from engine.testing import ollama_rules as rules
from engine.testing.ollama_rules import LoadOptions, Model, Refusal, Version
from engine.testing.ollama_script import Script, Seen

_START = datetime(2026, 1, 1, tzinfo=UTC)
_FOREVER = timedelta(days=106_751)
_KEEP_ALIVE = 300.0
LOAD_NS = 2_000_000_000
WARM_NS = 1_000_000
TOKEN_NS = 1_000_000


@dataclass(slots=True)
class Runner:
    """A loaded model. `window` (tokens) is what it was really loaded with."""

    model: Model
    options: LoadOptions
    window: int
    keep_alive: float = _KEEP_ALIVE
    cached: list[str] = field(default_factory=list)
    busy: int = 0


@dataclass(frozen=True, slots=True)
class Fetchable:
    """A model that can be pulled: layers of (digest, total bytes), and the steps each reports."""

    model: Model
    layers: tuple[tuple[str, int], ...] = (("a1b2c3d4e5f60718", 1000),)
    steps: tuple[int, ...] = (0, 400, 1000)


@dataclass(slots=True)
class State:
    """A server. `window_limit` makes it load less than it is asked for; 0 does not.

    `slots`: so many conversations share what a model is loaded with.
    """

    version_text: str
    models: dict[str, Model]
    default_window: int
    window_limit: int = 0
    slots: int = 1
    library: dict[str, Fetchable] = field(default_factory=dict)
    runners: dict[str, Runner] = field(default_factory=dict)
    loads: list[tuple[str, int]] = field(default_factory=list)
    aborted_loads: int = 0
    seen: list[Seen] = field(default_factory=list)
    script: Script = field(default_factory=Script)
    ticks: int = 0

    @property
    def version(self) -> Version:
        """The version's numbers."""
        return rules.parse_version(self.version_text)

    def now(self) -> datetime:
        """The double's time, a second later at every look."""
        self.ticks += 1
        return _START + timedelta(seconds=self.ticks)

    def stamp(self) -> str:
        """The time as the server writes it: nanoseconds, UTC."""
        return self.now().strftime("%Y-%m-%dT%H:%M:%S.000000001Z")

    def model(self, name: str) -> Model:
        """A model by any of its names. Raises Refusal 404."""
        if (found := self.models.get(rules.full_name(name))) is None:
            raise Refusal(404, f"model '{name}' not found")
        return found

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

    async def ready(self, model: Model, wanted: LoadOptions) -> tuple[Runner, int]:
        """The loaded model, loaded (again) if need be, and how long that took (nanoseconds)."""
        runner = self.runners.get(model.full_name)
        if runner is not None and not rules.is_reload(runner.options, wanted):
            return runner, WARM_NS
        self.runners.pop(model.full_name, None)
        try:
            await self.script.pass_gate("load")
        except BaseException:  # the client left: the load is aborted, the next request starts over
            self.aborted_loads += 1
            raise
        window = min(wanted.window, self.window_limit or wanted.window) // self.slots
        runner = Runner(model, wanted, window)
        self.runners[model.full_name] = runner
        self.loads.append((model.name, window))
        return runner, LOAD_NS

    def unload(self, model: Model) -> None:
        """Drop a model from memory; nothing happens when it is not there."""
        self.runners.pop(model.full_name, None)

    def read(
        self,
        runner: Runner,
        messages: Sequence[Mapping[str, Any]],
        body: Mapping[str, Any],
        keep: int,
    ) -> tuple[Seen, rules.Cut]:
        """What the model gets of these messages (stages 1 and 2). Raises Refusal."""
        known = self.version >= rules.SHIFT_KNOWN
        shift = rules.effective_shift(
            asked=body.get("shift"),
            window=runner.window,
            model=runner.model,
            version=self.version,
        )
        truncate = body.get("truncate") is not False or not known
        cut = rules.Cut(runner.window, keep, truncate, shift, runner.model.path, self.version)
        tools, per_word = body.get("tools") or (), runner.model.tokens_per_word
        kept = list(messages)
        if truncate:
            kept = rules.kept_messages(messages, runner.window // per_word, self.version, tools)
        words = rules.cut_words(rules.words_of(kept, tools, per_word), cut)
        seen = Seen(runner.model.name, tuple(kept), tuple(words))
        self.seen.append(seen)
        return seen, cut

    # ---- listings ----

    def tags(self) -> list[dict[str, Any]]:
        """The models, last one first."""
        return [self._tag(index, model) for index, model in reversed([*enumerate(self._order())])]

    def _order(self) -> list[Model]:
        return list(self.models.values())

    def _tag(self, index: int, model: Model) -> dict[str, Any]:
        item = _identity(model) | {
            "modified_at": (_START + timedelta(days=index)).isoformat().replace("+00:00", "Z"),
        }
        if self.version >= rules.LLAMA_SERVER:
            item["capabilities"] = list(model.capabilities)
        if model.remote_host:
            item |= {"remote_model": model.name, "remote_host": model.remote_host}
        return item

    def processes(self) -> list[dict[str, Any]]:
        """The loaded models, longest expiry first."""
        runners = sorted(self.runners.values(), key=lambda runner: -runner.keep_alive)
        return [self._process(runner) for runner in runners]

    def _process(self, runner: Runner) -> dict[str, Any]:
        forever = math.isinf(runner.keep_alive)
        expiry = self.now() + (_FOREVER if forever else timedelta(seconds=runner.keep_alive))
        item = _identity(runner.model) | {"expires_at": expiry.isoformat(), "size_vram": 0}
        if self.version >= (0, 10, 0):
            item["context_length"] = runner.window
        return item

    def show(self, model: Model) -> dict[str, Any]:
        """A model's description."""
        parameters = list(model.parameters)
        if model.num_ctx:
            parameters.append(("num_ctx", str(model.num_ctx)))
        shown: dict[str, Any] = {
            "modelfile": f"FROM {model.name}",
            "parameters": "\n".join(f"{name:<30} {value}" for name, value in parameters),
            "template": model.template,
            "details": _details(model),
            "model_info": {
                "general.architecture": model.family,
                f"{model.family}.context_length": model.trained,
                f"{model.family}.block_count": 30,
                f"{model.family}.embedding_length": 576,
                f"{model.family}.attention.head_count": 9,
                f"{model.family}.attention.head_count_kv": 3,
            },
            "modified_at": _START.isoformat(),
        }
        if self.version >= (0, 6, 4):
            shown["capabilities"] = list(model.capabilities)
        if model.remote_host:
            shown |= {"remote_model": model.name, "remote_host": model.remote_host}
        return {name: value for name, value in shown.items() if value not in ("", None)}


def _identity(model: Model) -> dict[str, Any]:
    return {
        "name": model.full_name,
        "model": model.full_name,
        "size": model.size,
        "digest": hashlib.sha256(model.full_name.encode()).hexdigest(),
        "details": _details(model),
    }


def _details(model: Model) -> dict[str, Any]:
    return {
        "parent_model": "",
        "format": "gguf",
        "family": model.family,
        "families": [model.family],
        "parameter_size": "135M",
        "quantization_level": "Q4_1",
    }
