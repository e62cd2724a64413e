"""What a GGUF file is, from its header alone: for the list of models, and before native code.

llama.cpp ends its process when a header lies (a block count of four billion, a negative
epsilon), so every file passes `read_header` first. It promises: no weight is read, the time is a
few milliseconds to some tenths of a second (the vocabulary has to be stepped over), and whatever
the file holds, the answer is a `GgufHeader`, `ModelMissing` or `ModelUnusable`.

What it cannot see: weights that are damaged but complete (GGUF has no checksum), and tensors that
do not fit their architecture; llama.cpp refuses the latter itself.
"""

import math
import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from engine.backends.gguf_wire import Array, Container, Damaged, Scalar, read_container, text_at
from engine.backends.kv_cache import RECURRENT, UNCOUNTED_KEYS
from engine.errors import ModelMissing, ModelUnusable

MAX_LAYERS: Final = 512
"""llama.cpp's own limit; more ends its process."""
MAX_EXPERTS: Final = 1024
MAX_CONTEXT: Final = 100_000_000
MAX_TEMPLATE_CHARACTERS: Final = 1_000_000
_OTHER_KINDS: Final = {
    "clip": "it is a picture encoder, an addition to a model",
    "adapter": "it is an adapter (LoRA), an addition to a model",
    "mmproj": "it is a picture encoder, an addition to a model",
    "imatrix": "it is a table for quantizing, not a model",
}
_FILE_TYPES: Final = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K",
    11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S",
    17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS",
    23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S",
    29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4",
    39: "NVFP4", 40: "Q1_0", 41: "Q2_0",
}  # fmt: skip
"""general.file_type, by number (llama_ftype)."""
_PART: Final = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """What a header says, checked. Tokens, bytes and counts; 0, "" and None when it does not say.

    `head_counts` and `kv_head_counts` have one entry per layer. `kv_bytes_per_token` is the f16
    cost of one token of context with every layer caching it, 0 when the architecture keeps
    something else than keys and values. `file_bytes` is the sum over a model's parts.
    `metadata` has every scalar setting; `template` is left out of it.
    """

    path: Path
    architecture: str
    name: str
    trained_window: int
    block_count: int
    embedding_length: int
    head_counts: tuple[int, ...]
    kv_head_counts: tuple[int, ...]
    kv_bytes_per_token: int
    file_bytes: int
    quantization: str
    parameters: str
    vocabulary_size: int
    template: str = ""
    bos_id: int | None = None
    eos_id: int | None = None
    bos: str = ""
    eos: str = ""
    sliding_window: int = 0
    metadata: Mapping[str, Scalar] = field(default_factory=dict)


def read_header(path: Path) -> GgufHeader:
    """Read and check a GGUF file's header.

    Raises ModelMissing (no such file, a folder), ModelUnusable (no permission, not a GGUF,
    damaged, incomplete, with values that would end llama.cpp's process).
    """
    size = _size_of(path)
    try:
        with path.open("rb") as file:
            container = read_container(file, size)
            return _Reading(path, container).header(
                lambda array, index: text_at(file, size, array, index), size
            )
    except Damaged as fault:
        raise ModelUnusable(f"{path.name} cannot be used: {fault.reason}.", fault.remedy) from None
    except PermissionError:
        raise _not_permitted(path) from None
    except OSError as error:
        raise ModelUnusable(
            f"{path.name} cannot be read: {error.strerror or error}.",
            "Check the disk or the network folder it is on.",
        ) from error


def _size_of(path: Path) -> int:
    """The size of a regular file in bytes; anything else raises."""
    try:
        found = path.stat()
    except PermissionError:
        raise _not_permitted(path) from None
    except (OSError, ValueError):  # ValueError: a NUL in the name
        raise ModelMissing(
            f"There is no model file {path.name}.", f"Looked for it here: {path}"
        ) from None
    if stat.S_ISDIR(found.st_mode):
        raise ModelMissing(
            f"{path.name or path} is a folder, not a model file.", "Name the .gguf file in it."
        )
    if not stat.S_ISREG(found.st_mode):
        raise ModelUnusable(f"{path.name} is not an ordinary file.", "Name a .gguf file.")
    return found.st_size


def _not_permitted(path: Path) -> ModelUnusable:
    return ModelUnusable(
        f"{path.name} may not be read by you.",
        f"Change its permissions, for example with: chmod u+r {path}",
    )


class _Reading:
    """One pass over a container's values; every method raises Damaged on a lie."""

    def __init__(self, path: Path, container: Container) -> None:
        self._path = path
        self._container = container
        self._scalars = container.scalars
        self._arrays = container.arrays
        self._architecture = self._text("general.architecture")

    def header(self, token_text: Callable[[Array, int], str], size: int) -> GgufHeader:
        """Check everything, then put it together."""
        self._check_kind()
        self._check_extent(size)
        layers = self._integer("block_count", 1, MAX_LAYERS)
        embedding = self._integer("embedding_length", 1, 1_000_000)
        heads, kv_heads = self._heads(layers, embedding)
        self._check_experts(layers)
        self._check_numbers()
        template = self._text("tokenizer.chat_template")
        tokens = self._arrays.get("tokenizer.ggml.tokens", Array(8, 0))
        bos, eos = (self._token_id(f"tokenizer.ggml.{which}_token_id") for which in ("bos", "eos"))
        return GgufHeader(
            path=self._path,
            architecture=self._architecture,
            name=self._text("general.name").strip() or self._path.stem,
            trained_window=self._integer("context_length", 1, MAX_CONTEXT),
            block_count=layers,
            embedding_length=embedding,
            head_counts=heads,
            kv_head_counts=kv_heads,
            kv_bytes_per_token=self._kv_bytes(embedding, heads, kv_heads),
            file_bytes=self._total_bytes(size),
            quantization=self._quantization(),
            parameters=self._parameters(),
            vocabulary_size=tokens.count,
            template=template if len(template) <= MAX_TEMPLATE_CHARACTERS else "",
            bos_id=bos,
            eos_id=eos,
            bos="" if bos is None else token_text(tokens, bos),
            eos="" if eos is None else token_text(tokens, eos),
            sliding_window=self._integer("attention.sliding_window", 0, 2**32 - 1, 0),
            metadata={
                key: value
                for key, value in self._scalars.items()
                if not key.startswith("tokenizer.chat_template")
            },
        )

    # ---- reading one value

    def _text(self, key: str) -> str:
        value = self._scalars.get(key, "")
        return value if isinstance(value, str) else ""

    def _own(self, key: str) -> str:
        return f"{self._architecture}.{key}"

    def _integer(self, key: str, low: int, high: int, default: int | None = None) -> int:
        """An architecture's own setting as a number in [low, high]."""
        value = self._scalars.get(self._own(key), default)
        if value is None:
            raise Damaged(f"it does not say its {_in_words(key)}")
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise Damaged(f"its {_in_words(key)} is {_shown(value)}")
        return value

    def _per_layer(self, key: str, layers: int) -> tuple[int, ...] | None:
        """A setting that is one number, or a list with one per layer; None when absent."""
        array = self._arrays.get(self._own(key))
        if array is None:
            if self._own(key) not in self._scalars:
                return None
            return (self._integer(key, 0, 1_000_000),) * layers
        values = array.numbers or ()
        if len(values) < layers:
            raise Damaged(f"its list of {_in_words(key)} has {array.count:,} entries")
        found = tuple(value for value in values[:layers] if isinstance(value, int))
        if len(found) < layers or not all(0 <= value <= 1_000_000 for value in found):
            raise Damaged(f"its {_in_words(key)} is not a number in every layer")
        return found

    def _token_id(self, key: str) -> int | None:
        value = self._scalars.get(key)
        return value if isinstance(value, int) and 0 <= value < 2**31 else None

    # ---- checks

    def _check_kind(self) -> None:
        part = self._scalars.get("split.no", 0)
        if isinstance(part, int) and part > 0:
            raise Damaged(f"it is part {part + 1} of a model", "Open the model's first part.")
        if not re.fullmatch(r"[\w.-]{1,64}", self._architecture):
            raise Damaged("it does not say what kind of model it is")
        kind = self._text("general.type")
        for name in (self._architecture, kind):
            if name in _OTHER_KINDS:
                raise Damaged(_OTHER_KINDS[name], "Open the model file itself.")
        if not self._container.tensors:
            raise Damaged("it has no weights in it")

    def _check_extent(self, size: int) -> None:
        """The file is as long as its tensor directory says."""
        last = self._container.tensors[-1]
        needed = self._container.data_offset + last.offset + last.nbytes
        if needed > size:
            raise Damaged(f"it is incomplete: {size:,} bytes of {needed:,}")

    def _heads(self, layers: int, embedding: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Attention heads and key/value heads of every layer."""
        heads = self._per_layer("attention.head_count", layers)
        if heads is None or not any(heads):
            if self._has_other_cache():
                return (0,) * layers, (0,) * layers
            raise Damaged("it has no attention heads")
        kv_heads = self._per_layer("attention.head_count_kv", layers) or heads
        for count, kv_count in zip(heads, kv_heads, strict=True):
            if kv_count and count % kv_count:
                raise Damaged(f"its {count} attention heads do not share {kv_count} evenly")
        if self._own("attention.key_length") not in self._scalars and embedding % max(heads):
            raise Damaged(f"its {max(heads)} attention heads do not divide {embedding:,}")
        return heads, kv_heads

    def _has_other_cache(self) -> bool:
        keys = (*self._scalars, *self._arrays)
        return self._architecture in RECURRENT or any(map(UNCOUNTED_KEYS.search, keys))

    def _check_experts(self, layers: int) -> None:
        """The relations llama.cpp asserts; broken ones end its process."""
        experts = self._integer("expert_count", 0, MAX_EXPERTS, 0)
        used = max(self._per_layer("expert_used_count", layers) or (0,))
        may_be_idle = experts <= 1 and self._architecture.startswith("hunyuan")
        if used > experts or (experts and not used and not may_be_idle):
            raise Damaged(f"it uses {used:,} of {experts:,} experts")
        groups = self._integer("expert_group_count", 0, max(0, experts - 1), 0)
        if groups > 1:
            chosen = self._integer("expert_group_used_count", 1, groups - 1, 0)
            if experts % groups:
                raise Damaged(f"its {experts} experts do not divide into {groups}, {chosen} used")
        self._integer("nextn_predict_layers", 0, layers, 0)

    def _check_numbers(self) -> None:
        """Fractions are finite and epsilons sensible; scaling is of a known kind."""
        prefix = f"{self._architecture}."
        for key, value in self._scalars.items():
            if not key.startswith(prefix) or not isinstance(value, float):
                continue
            words = _in_words(key.removeprefix(prefix))
            if math.isnan(value) or (key.endswith("epsilon") and not 0 <= value <= 1):
                raise Damaged(f"its {words} is {_shown(value)}")
            if ".rope.freq_base" in key and not 0 < value < math.inf:
                raise Damaged(f"its {words} is {_shown(value)}")
        scaling = self._scalars.get(self._own("rope.scaling.type"), "none")
        if scaling not in ("none", "linear", "yarn", "longrope"):
            raise Damaged(f"its kind of rope scaling is {_shown(scaling)}")

    # ---- derived

    def _kv_bytes(self, embedding: int, heads: tuple[int, ...], kv: tuple[int, ...]) -> int:
        if self._has_other_cache() or not any(heads):
            return 0
        natural = embedding // max(heads)
        key = self._integer("attention.key_length", 1, 1_000_000, natural)
        value = self._integer("attention.value_length", 1, 1_000_000, natural)
        near_key = self._integer("attention.key_length_swa", 1, 1_000_000, key)
        near_value = self._integer("attention.value_length_swa", 1, 1_000_000, value)
        near = self._arrays.get(self._own("attention.sliding_window_pattern"))
        layers = len(kv) - self._integer("nextn_predict_layers", 0, len(kv), 0)
        layers -= self._integer("attention.shared_kv_layers", 0, layers, 0)
        is_near = near.numbers if near and near.numbers and len(near.numbers) >= layers else None
        full, short = key + value, near_key + near_value
        per_head = [
            max(full, short) if is_near is None else short if is_near[layer] else full
            for layer in range(layers)
        ]
        return sum(count * size * 2 for count, size in zip(kv, per_head, strict=False))

    def _total_bytes(self, size: int) -> int:
        """This file's size plus that of a split model's other parts; a missing one is damage."""
        parts = self._scalars.get("split.count", 1)
        named = _PART.search(self._path.name)
        if not isinstance(parts, int) or not 1 < parts <= MAX_LAYERS or not named:
            return size
        for part in range(2, parts + 1):
            name = f"{self._path.name[: named.start()]}-{part:05}-of-{parts:05}.gguf"
            try:
                size += os.stat(self._path.with_name(name)).st_size
            except OSError:
                raise Damaged(
                    f"its part {name} is not beside it", "Put all its parts into one folder."
                ) from None
        return size

    def _quantization(self) -> str:
        code = self._scalars.get("general.file_type")
        label = (
            _FILE_TYPES.get(code % 1024, "-") if isinstance(code, int) else "-"
        )  # 1024: guessed
        if label != "-":
            return label
        weights: Counter[str] = Counter()
        for tensor in self._container.tensors:
            weights[tensor.type] += tensor.nbytes
        return weights.most_common(1)[0][0]

    def _parameters(self) -> str:
        label = self._text("general.size_label").strip()
        if label or "split.count" in self._scalars:
            return label
        return _rounded(sum(tensor.elements for tensor in self._container.tensors))


def _in_words(key: str) -> str:
    return key.rpartition("attention.")[2].replace("_", " ").replace(".", " ")


def _shown(value: Scalar) -> str:
    if isinstance(value, str):
        return repr(value)[:80]
    return f"{value:g}" if isinstance(value, float) else f"{value:,}"


def _rounded(count: int) -> str:
    """A number of parameters as people write it: 135M, 7.2B."""
    for unit, name in ((10**9, "B"), (10**6, "M"), (10**3, "K")):
        if count >= unit:
            scaled = count / unit
            return f"{scaled:.1f}{name}" if scaled < 10 else f"{scaled:.0f}{name}"
    return str(count)
