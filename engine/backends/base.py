"""The protocol every backend speaks: values in, chunks out.

A backend knows wire formats and processes, nothing of conversations. Order of use::

    describe(model) ─▶ load(LoadRequest) ─▶ count(PromptRequest) ─▶ stream(PromptRequest)

Failures are `EnvironmentFault`s (`engine.errors`), translated inside the backend. The user's stop
is cancelling the task, or `aclose()` on the stream: the backend stops at once, stays usable, and
nothing is raised for it.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from engine.transcript import StopReason, ToolCall, Usage

Stretch = Literal["off", "auto", "yarn"]
ThinkLevel = Literal["low", "medium", "high", "max"]
Think = bool | ThinkLevel
"""Whether a model thinks before it answers, or how much."""
ThinkChoice = Literal["off", "on", "low", "medium", "high", "max"]
"""The same in words."""
PromptRole = Literal["system", "user", "assistant", "tool"]
LoadProgress = Callable[[float | None], None]
"""Called with 0…1 while a model loads, None when the fraction is unknown."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is chosen; None leaves a value to the backend's default.

    `seed` None means a random one. `stop` are strings that end a reply and are not part of it.
    """

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    repeat_penalty: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message as a model gets it. `content` is plain text.

    `token_ids` are the ids this very model generated for an assistant message (thinking included,
    end token excluded); a backend with the same `vocabulary` uses them instead of the text where
    they spell exactly what its template prints. `images` are pictures in base64, never a path; only
    a model that sees images gets any.
    """

    role: PromptRole
    content: str
    thinking: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    tool_name: str = ""
    token_ids: tuple[int, ...] = ()
    vocabulary: str = ""
    images: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptRequest:
    """Everything a backend needs for one reply; built by `engine.prompt` only.

    `model` is the backend's own name (a file path, an Ollama name). `window_tokens` is the window
    the model was loaded with and the same in every request to it. `max_tokens` bounds the reply.
    `tools` are JSON schemas in the OpenAI function form. `think` None leaves it to the model; what
    a model or its server does not take, the backend leaves out.
    """

    model: str
    messages: tuple[PromptMessage, ...]
    window_tokens: int
    max_tokens: int
    sampling: Sampling = Sampling()
    tools: tuple[Mapping[str, Any], ...] = ()
    think: Think | None = None


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """Make a model ready for a window of `window_tokens` (tokens).

    `stretch`: what may be done when the window is larger than the model was trained for.
    `kv_type`: precision of the KV cache (llama.cpp). `words_only`: its vocabulary and no weights,
    so that prompts are counted and none can be run (llama.cpp).
    """

    model: str
    window_tokens: int
    stretch: Stretch = "off"
    kv_type: Literal["f16", "q8_0"] = "f16"
    words_only: bool = False


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was really loaded: the window that counts from now on. Tokens.

    `window_tokens` is one conversation's share (per slot). `trained_tokens` 0 when unknown.
    `vocabulary` names the tokenizer for stored token ids, empty when ids are not exchanged.
    `digest` is that of the model's content, empty when it is not told. `note` is what the user must
    know of how it was loaded, a sentence. `cuts`: why what runs it may cut a prompt that is too long
    in silence, a sentence; empty where it refuses one.
    """

    window_tokens: int
    trained_tokens: int = 0
    vocabulary: str = ""
    digest: str = ""
    note: str = ""
    cuts: str = ""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What is known of a model without loading it. Tokens and bytes; 0 and "" when unknown.

    `configured_window` is a window the model itself asks for (Modelfile `num_ctx`).
    `kv_bytes_per_token` is the f16 cost of one token of context. `think` is what it can be told
    of thinking: nothing when it does not think or always does, None when that is not known.
    `cloud`: the server has it run by another one: what is said to it leaves the user's machines.
    `cuts`: as in `Loaded`.
    """

    name: str
    architecture: str = ""
    title: str = ""
    trained_window: int = 0
    configured_window: int = 0
    weights_bytes: int = 0
    kv_bytes_per_token: int = 0
    parameters: str = ""
    quantization: str = ""
    template: str = ""
    capabilities: frozenset[str] = frozenset()
    think: tuple[ThinkChoice, ...] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    cloud: bool = False
    cuts: str = ""

    @property
    def sees_images(self) -> bool:
        """Whether pictures may be sent to it."""
        return "vision" in self.capabilities


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """A line in the list of models; `cloud` as in `ModelInfo`.

    `digest` is that of its content, "" when it is not told: models of one digest are one on disk.
    """

    name: str
    size_bytes: int = 0
    details: str = ""
    digest: str = ""
    cloud: bool = False


# ---- chunks -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Loading:
    """The model is (re)loaded inside a request; fraction 0…1 or None."""

    fraction: float | None


@dataclass(frozen=True, slots=True)
class Reading:
    """Reading the prompt: `read` of `total` tokens, `reused` of the total came from the cache.

    `read` counts the reused ones too, so it runs from `reused` to `total`.
    """

    read: int
    total: int
    reused: int


@dataclass(frozen=True, slots=True)
class TextChunk:
    """Reply text, split at whole characters; `ids` are the tokens that became settled with it."""

    text: str
    ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ThinkingChunk:
    """Thinking text; as `TextChunk`."""

    text: str
    ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolCallChunk:
    """A whole tool call."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class Warned:
    """Something the user must be told; `code` is stable, `text` is a sentence.

    Codes: `stretched` (the context was made anew with YaRN), `reloaded`, `template_repaired`,
    `server_cut` (it dropped what was sent), `window_shrank` (it was loaded again, and smaller),
    `no_thinking` (the model was asked to think and cannot: it answered without).
    """

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The last chunk of a reply that ended by itself (never after a failure or a stop).

    `tells_whole`: this kind of backend reports every prompt, and the whole of it.
    """

    stop_reason: StopReason
    usage: Usage
    tells_whole: bool = False


Chunk = Loading | Reading | TextChunk | ThinkingChunk | ToolCallChunk | Warned | Finished


class Backend(Protocol):
    """What runs models. All methods raise `EnvironmentFault` subclasses only (and are cancellable)."""

    name: str
    """"llama.cpp", "ollama" or "scripted"."""

    async def list_models(self) -> tuple[ModelSummary, ...]:
        """The models this backend could run."""
        ...

    async def describe(self, model: str) -> ModelInfo:
        """What is known of a model. Raises ModelMissing, ModelUnusable, BackendUnreachable."""
        ...

    async def load(self, request: LoadRequest, progress: LoadProgress) -> Loaded:
        """Make the model ready; returns at once when it already is, with the same window."""
        ...

    async def count(self, request: PromptRequest) -> int | None:
        """Exact size of the rendered prompt in tokens; None if this backend cannot count."""
        ...

    async def count_texts(
        self, request: PromptRequest, texts: Sequence[str]
    ) -> tuple[int, ...] | None:
        """Exact sizes of plain texts in tokens, without any template; None if it cannot count.

        `request` says which model, and with which window it is loaded; its messages do not matter.
        """
        ...

    def stream(self, request: PromptRequest) -> AsyncIterator[Chunk]:
        """Run one reply. Ends with exactly one `Finished`, or raises a fault; `aclose()` stops."""
        ...

    async def save_prefix(self, file: Path) -> bool:
        """Keep what the prefix cache holds in `file`, so that a later process reads nothing twice.

        False when there is nothing to keep or the backend cannot; never raises for it.
        """
        ...

    async def restore_prefix(self, file: Path) -> bool:
        """Fill the loaded model's prefix cache from `file`; False when it does not fit or is gone.

        A file of another model, window or version is refused before native code sees it.
        """
        ...

    async def close(self) -> None:
        """Stop what was started (worker processes, connections). Safe to call twice."""
        ...
