"""An Ollama server's rules as pure functions, by server version.

Written after the server's source and its public behaviour; the version in which a rule changed
stands beside it. What is simplified, and no more: **one token is one whitespace-separated word**
(some models need several for each), a chat template adds no tokens, there is no BOS token, and an
image costs what its model says.
"""

import hashlib
import json
import math
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Version = tuple[int, int, int]
Path = Literal["rendered", "native"]
Message = Mapping[str, Any]

THINKING: Version = (0, 9, 0)
SHIFT_KNOWN: Version = (0, 12, 6)
LLAMA_SERVER: Version = (0, 30, 0)

OUT_OF_MEMORY = "model requires more system memory (8.1 GiB) than is available (5.2 GiB)"
OUT_OF_MEMORY_STARTING = (
    "llama-server reported out-of-memory during startup: ggml_backend_cuda_buffer_type_alloc_buffer:"
    " allocating 8192.00 MiB on device 0: cudaMalloc failed: out of memory"
)
_NO_IMAGES: Mapping[Path, Mapping[str, Any]] = {
    "rendered": {
        "code": 400,
        "message": "Multimodal data provided, but model does not support multimodal requests.",
        "type": "invalid_request_error",
    },
    "native": {
        "code": 500,
        "message": "image input is not supported - hint: if this is unexpected, you may need "
        "to provide the mmproj",
        "type": "server_error",
    },
}

_INTEGERS = frozenset(
    [
        "num_ctx",
        "num_batch",
        "num_gpu",
        "main_gpu",
        "num_thread",
        "draft_num_predict",
        "num_keep",
        "seed",
        "num_predict",
        "top_k",
        "repeat_last_n",
    ]
)
_FLOATS = frozenset(
    [
        "top_p",
        "min_p",
        "typical_p",
        "temperature",
        "repeat_penalty",
        "presence_penalty",
        "frequency_penalty",
    ]
)
_BOOLEANS = frozenset(("use_mmap",))
_LOAD_TIME = ("num_batch", "num_gpu", "main_gpu", "use_mmap", "num_thread", "draft_num_predict")
_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)")
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


def no_images(path: Path) -> "Refusal":
    """What llama-server says of images that a model cannot see."""
    error = _NO_IMAGES[path]
    return Refusal(error["code"], json.dumps({"error": error}, separators=(",", ":")))


class Refusal(Exception):
    """An answer with an error status and the server's own text."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(status, text)
        self.status = status
        self.text = text


@dataclass(frozen=True, slots=True)
class Model:
    """A model on the server. `trained` and `num_ctx` (of its Modelfile, 0 for none) are tokens.

    `path` is how chats are run since 0.30: through a Go template, or natively by llama-server.
    `tokens_per_word`: how wasteful its tokenizer is. `image_tokens`: what it reads for an image;
    `projector`: it has a file of its own for that, so that dropping messages estimates 768. `system`
    and `messages` (of its Modelfile) are put before every chat, where they cost tokens. `digest`
    names its content; that of its name when empty. `weights` names the file that is loaded, which
    a copy and a model made of this one share with it; its own when empty.
    """

    name: str
    capabilities: tuple[str, ...] = ("completion",)
    trained: int = 32768
    num_ctx: int = 0
    path: Path = "rendered"
    family: str = "llama"
    size: int = 1_000_000_000
    template: str = "{{ .Prompt }}"
    parameters: tuple[tuple[str, str], ...] = ()
    remote_host: str = ""
    tokens_per_word: int = 1
    image_tokens: int = 512
    projector: bool = True
    system: str = ""
    messages: tuple[Message, ...] = ()
    digest: str = ""
    weights: str = ""

    @property
    def full_name(self) -> str:
        """Lower case, with its tag."""
        return full_name(self.name)

    @property
    def place(self) -> str:
        """By what it is known in memory: models of the same weights are loaded as one."""
        return self.weights or self.full_name


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """What a model is loaded with; a request that differs makes the server load it again.

    `automatic`: the window came from the server's default. `shift` is None before 0.30, where it
    is no load option.
    """

    window: int
    automatic: bool
    shift: bool | None
    others: Mapping[str, Any] = field(default_factory=dict)


def parse_version(text: str) -> Version:
    """The numbers of a version."""
    major, minor, patch = re.findall(r"\d+", text)[:3]
    return int(major), int(minor), int(patch)


def full_name(name: str) -> str:
    """A model's name with its tag, lower case."""
    lower = name.lower().removeprefix("registry.ollama.ai/").removeprefix("library/")
    return lower if ":" in lower.rpartition("/")[2] else f"{lower}:latest"


def digest_of(model: Model) -> str:
    """The name of a model's content: hexadecimal, without a prefix."""
    return model.digest or hashlib.sha256(model.full_name.encode()).hexdigest()


# ---- fields of a request ------------------------------------------------------------------------


def checked_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The known options; numbers of integer options lose their fraction, null is skipped.

    Raises Refusal 500 for a value of a wrong type.
    """
    checked: dict[str, Any] = {}
    for name, value in options.items():
        if value is None:
            continue
        if name in _INTEGERS:
            checked[name] = int(_typed(name, value, (int, float), "integer"))
        elif name in _FLOATS:
            checked[name] = float(_typed(name, value, (int, float), "float32"))
        elif name in _BOOLEANS:
            checked[name] = _typed(name, value, (bool,), "boolean")
        elif name == "stop":
            checked[name] = _strings(name, _typed(name, value, (list,), "array"))
    return checked


def _typed(name: str, value: Any, kinds: tuple[type, ...], wanted: str) -> Any:
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise Refusal(500, f'option "{name}" must be of type {wanted}')
    return value


def _strings(name: str, values: list[Any]) -> list[str]:
    if not all(isinstance(value, str) for value in values):
        raise Refusal(500, f'option "{name}" must be of an array of strings')
    return values


def keep_alive_seconds(value: Any) -> float:
    """Seconds of a `keep_alive` field, infinite for a negative one. Raises Refusal 400."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        kind = {bool: "bool", list: "[]interface {}", dict: "map[string]interface {}"}
        raise Refusal(400, f"Unsupported type: '{kind[type(value)]}'")
    seconds = _go_duration(value) if isinstance(value, str) else float(value)
    return math.inf if seconds < 0 else seconds


def _go_duration(text: str) -> float:
    sign = -1 if text.startswith("-") else 1
    bare = text[1:] if text[:1] in ("-", "+") else text
    if bare == "0":
        return 0.0
    parts = _DURATION.findall(bare)
    if parts and "".join(number + unit for number, unit in parts) == bare:
        return sign * math.fsum(float(number) * _UNITS[unit] for number, unit in parts)
    if re.fullmatch(r"\d+(\.\d*)?", bare):
        raise Refusal(400, f'time: missing unit in duration "{text}"')
    raise Refusal(400, f'time: invalid duration "{text}"')


def checked_think(value: Any, version: Version) -> bool | str | None:
    """A `think` field; unknown before 0.9, a boolean alone before 0.11. Raises Refusal 400."""
    if version < THINKING:
        return None
    if version < (0, 11, 0) and not isinstance(value, bool | None):
        raise Refusal(
            400,
            "json: cannot unmarshal string into Go struct field ChatRequest.think of type bool",
        )
    levels = (
        ("high", "medium", "low", "max") if version >= (0, 22, 0) else ("high", "medium", "low")
    )
    if value is None or isinstance(value, bool) or value in levels:
        return value  # type: ignore[no-any-return]  # one of the listed strings
    listed = ", ".join(f'"{level}"' for level in levels)
    raise Refusal(400, f'invalid think value: "{value}" (must be {listed}, true, or false)')


# ---- the window ---------------------------------------------------------------------------------


def default_window(version: Version, vram_gib: float) -> int:
    """The window of a request that names none, on a machine with this much VRAM."""
    if version < (0, 6, 7):
        return 2048
    if version < (0, 15, 5) or vram_gib < 23:
        return 4096
    return 262144 if vram_gib >= 47 else 32768


def default_parallel(version: Version) -> int:
    """How many requests a model serves at once where nobody said, with memory enough."""
    return 4 if (0, 2, 0) <= version < (0, 10, 0) else 1


def smaller_window(window: int) -> int:
    """Where an automatic window does not fit into memory: one tier down."""
    return next((tier for tier in (32768, 4096) if tier < window), window)


def resolved_window(asked: int | None, model: Model, version: Version, default: int) -> int:
    """The window a model is loaded with: request, Modelfile, default; then the clamps."""
    window = asked if asked is not None else model.num_ctx or default
    window = max(window, 4)
    if "vision" in model.capabilities and version >= (0, 11, 5):
        window = max(window, 2048)
    return min(window, model.trained)


def effective_shift(*, asked: bool | None, window: int, model: Model, version: Version) -> bool:
    """Whether a full window shifts while the answer is written."""
    if version < SHIFT_KNOWN or (asked is None and version < LLAMA_SERVER):
        return True
    if asked is not None:
        return asked
    if version < (0, 30, 9):
        return window < 8192
    return model.family != "deepseek2"


def can_shift(model: Model, version: Version) -> bool:
    """Whether a model's window can shift at all: llama-server does not with a projector loaded."""
    return version < LLAMA_SERVER or not ("vision" in model.capabilities and model.projector)


def load_options(
    options: Mapping[str, Any], model: Model, version: Version, *, shift: bool | None, default: int
) -> LoadOptions:
    """What a request with these (checked) options wants the model loaded with."""
    asked = options.get("num_ctx")
    window = resolved_window(asked, model, version, default)
    shifts = effective_shift(asked=shift, window=window, model=model, version=version)
    return LoadOptions(
        window,
        automatic=asked is None and not model.num_ctx,
        shift=shifts if version >= LLAMA_SERVER else None,
        others={name: options[name] for name in _LOAD_TIME if name in options},
    )


def is_reload(loaded: LoadOptions, wanted: LoadOptions) -> bool:
    """Whether a loaded model has to be loaded again for a request."""
    if wanted.automatic and not loaded.automatic:
        return True
    others = {k: v for k, v in wanted.others.items() if (k, v) != ("num_gpu", -1)}
    had = {k: v for k, v in loaded.others.items() if k in others or k != "num_gpu"}
    return (loaded.window, loaded.shift, had) != (wanted.window, wanted.shift, others)


# ---- the prompt ---------------------------------------------------------------------------------


def words_of(
    messages: Sequence[Message],
    tools: Sequence[Any] = (),
    per_word: int = 1,
    image_tokens: int = 0,
) -> list[str]:
    """The prompt: the tokens of the tools and of the messages, in order, `per_word` for a word."""
    words = json.dumps(tools).split() * per_word if tools else []
    for message in messages:
        for image in message.get("images") or ():
            words += [
                f"[img {zlib.crc32(str(image).encode())} {place}]" for place in range(image_tokens)
            ]
        own = str(message.get("content", "")).split()
        if calls := message.get("tool_calls"):
            own += json.dumps(calls).split()
        words += [word for word in own for _ in range(per_word)]
    return words


def kept_messages(
    messages: Sequence[Message],
    window: int,
    version: Version,
    weigh: Callable[[Sequence[Message]], int],
) -> list[Message]:
    """Stage 1: whole old messages are dropped until the rest fits; the last always stays.

    `weigh` counts the tokens of messages, tools included.

    Before 0.15.5 the walk is from the end, and a system message before a too long last message
    is dropped with the others. (Before 0.2.2 the server dropped pairs; not imitated.)
    """
    forward = version >= (0, 15, 5)
    return (_kept_forward if forward else _kept_backward)(messages, window, weigh)


def _kept_forward(
    messages: Sequence[Message], window: int, weigh: Callable[[Sequence[Message]], int]
) -> list[Message]:
    kept: list[Message] = list(messages)
    for start in range(len(messages)):
        kept = [*_systems(messages[:start]), *messages[start:]]
        if weigh(kept) <= window:
            break
    return kept


def _kept_backward(
    messages: Sequence[Message], window: int, weigh: Callable[[Sequence[Message]], int]
) -> list[Message]:
    first = len(messages) - 1
    systems: list[Message] = []
    for start in range(first - 1, -1, -1):
        systems = _systems(messages[:start])
        if weigh([*systems, *messages[start:]]) > window:
            break
        first = start
    return [*systems, *messages[first:]]


def _systems(messages: Sequence[Message]) -> list[Message]:
    return [message for message in messages if message.get("role") == "system"]


@dataclass(frozen=True, slots=True)
class Cut:
    """How a prompt is treated that is too long: the request's flags, resolved.

    `shift` decides what happens to a prompt that is too long, `shifts` (which a fault, or a model
    that cannot, makes something else) whether a full window ends the reply.
    """

    window: int
    keep: int
    truncate: bool
    shift: bool
    path: Path
    version: Version
    shifts: bool = True
    images: bool = False


def cut_words(words: list[str], cut: Cut) -> list[str]:
    """Stage 2: the tokens the model reads. Raises Refusal where the server refuses to cut."""
    if cut.version >= LLAMA_SERVER:
        return _cut_by_llama_server(words, cut)
    if len(words) <= cut.window - (cut.version < (0, 4, 0)):
        return words
    if not cut.truncate:
        raise Refusal(400, "the input length exceeds the context length")
    keep, left = _kept(words, cut), cut.window - _kept(words, cut)
    if cut.version >= (0, 4, 0):
        return _ends(words, keep, left)
    half = left // 2
    if cut.version >= (0, 1, 48):
        return _ends(words, keep, half)
    erased = (len(words) - keep - half) // half * half
    return words[:keep] + words[keep + erased :]


def _cut_by_llama_server(words: list[str], cut: Cut) -> list[str]:
    if len(words) < cut.window:
        return words
    if cut.path == "native" or cut.images or not cut.truncate:
        raise Refusal(400, nested_overflow(len(words), cut.window))
    if cut.version >= (0, 30, 9) and not cut.shift:
        raise Refusal(
            400,
            "the prompt is longer than the context length currently available to the model; "
            "shorten the prompt, adjust the context length in settings, or use a model with a "
            "longer context length",
        )
    keep = _kept(words, cut)
    if cut.version < (0, 30, 11):
        return _ends(words, keep, cut.window - 1 - keep)
    size = cut.window - max((cut.window - keep) // 2, 1)
    return _ends(words, keep, size - keep)


def _kept(words: list[str], cut: Cut) -> int:
    return min(len(words) if cut.keep < 0 else cut.keep, cut.window - 1)


def _ends(words: list[str], first: int, last: int) -> list[str]:
    return words[:first] + (words[-last:] if last > 0 else [])


def nested_overflow(prompt: int, window: int) -> str:
    """The error text of 0.30 and later: a JSON document inside the string."""
    return json.dumps(
        {
            "error": {
                "code": 400,
                "message": f"request ({prompt} tokens) exceeds the available context size "
                f"({window} tokens), try increasing it",
                "type": "exceed_context_size_error",
                "n_prompt_tokens": prompt,
                "n_ctx": window,
            }
        },
        separators=(",", ":"),
    )


def reply_limit(num_predict: int, prompt: int, cut: Cut) -> int:
    """Stage 3: the most tokens a reply may have; with shift on, a full window does not end it."""
    limit = 10 * cut.window if num_predict < 0 else num_predict
    if num_predict == 0 and cut.path == "rendered":
        limit = 10 * cut.window  # left out on the way to the runner, whose own default is none
    elif num_predict == 0 and cut.version >= LLAMA_SERVER:
        limit = 1  # it looks at the limit once it has a token
    last = int(cut.version < LLAMA_SERVER)  # a token after which nothing comes needs no place
    return limit if cut.shifts else min(limit, cut.window - prompt + last)


def until_stop(pieces: Sequence[tuple[str, str]], stops: Sequence[str]) -> list[tuple[str, str]]:
    """The pieces (kind, text) of a reply before the first of its stops, which is not sent."""
    text = "".join(piece for kind, piece in pieces if kind == "content")
    found = [at for stop in stops if (at := text.find(stop)) >= 0]
    if not found:
        return list(pieces)
    kept, left = [], min(found)
    for kind, piece in pieces:
        part = piece[:left] if kind == "content" else piece
        left -= len(part) if kind == "content" else 0
        if part:
            kept.append((kind, part))
    return kept


def shifted(filled: int, cut: Cut) -> int:
    """How many of the tokens that fill a window are forgotten to go on."""
    keep = min(cut.keep if cut.keep >= 0 else filled, cut.window - 1)
    return max((filled - keep) // 2, 1)


def reported_prompt(prompt: int, reused: int, version: Version) -> int:
    """`prompt_eval_count`; some versions leave out what came from the cache."""
    if version < (0, 2, 0) or version[:3] == (0, 30, 0):
        return prompt - reused
    return prompt


def tokens_of(text: str) -> list[str]:
    """A text as tokens that join to it again."""
    found = re.findall(r"\s*\S+(?:\s+\Z)?", text)
    return found or ([text] if text else [])
