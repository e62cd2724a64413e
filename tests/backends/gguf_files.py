"""Writes small GGUF files for tests: whole ones, and ones damaged on purpose.

``write_gguf(path)`` makes a file that the header reader accepts (a llama with two layers and a
vocabulary of twelve tokens; its tensors are too few for llama.cpp to run it). Give `metadata` to
change settings (None removes one), or take the bytes from `gguf_bytes` and damage them.
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

UINT8, INT8, UINT16, INT16, UINT32, INT32, FLOAT32, BOOL = range(8)
STRING, ARRAY, UINT64, INT64, FLOAT64 = range(8, 13)
_LETTERS = {
    UINT8: "B", INT8: "b", UINT16: "H", INT16: "h", UINT32: "I", INT32: "i", FLOAT32: "f",
    BOOL: "?", UINT64: "Q", INT64: "q", FLOAT64: "d",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Typed:
    """A value with its GGUF type spelled out; `claimed_count` lies about a list's length."""

    type: int
    value: Any
    claimed_count: int | None = None


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """A tensor of zeros: ggml type code 0 is F32, 1 is F16, 3 is Q4_1."""

    name: str
    shape: tuple[int, ...] = (8, 4)
    type: int = 0
    nbytes: int = 128
    offset: int | None = None


TOKENS = ("<unk>", "<s>", "</s>", "▁a", "▁b", "▁the", "b", "c", "d", "e", "\n", "<|im_end|>")

SETTINGS: Mapping[str, Any] = {
    "general.architecture": "llama",
    "general.name": "Tiny",
    "general.file_type": 3,
    "llama.context_length": 8192,
    "llama.embedding_length": 64,
    "llama.block_count": 2,
    "llama.feed_forward_length": 128,
    "llama.attention.head_count": 4,
    "llama.attention.head_count_kv": 2,
    "llama.attention.layer_norm_rms_epsilon": 1e-5,
    "llama.rope.freq_base": 10_000.0,
    "tokenizer.ggml.model": "llama",
    "tokenizer.ggml.tokens": list(TOKENS),
    "tokenizer.ggml.scores": [0.0] * len(TOKENS),
    "tokenizer.ggml.token_type": Typed(INT32, [1] * len(TOKENS)),
    "tokenizer.ggml.bos_token_id": 1,
    "tokenizer.ggml.eos_token_id": 11,
    "tokenizer.chat_template": "{% for m in messages %}{{ m.content }}{% endfor %}",
}
"""The settings `write_gguf` starts from."""

TENSORS = (TensorSpec("token_embd.weight"), TensorSpec("output_norm.weight", (8,), 0, 32))


def write_gguf(
    path: Path,
    metadata: Mapping[str, Any] | None = None,
    tensors: Sequence[TensorSpec] = TENSORS,
    **options: Any,
) -> Path:
    """Write a file and return its path; `options` as in `gguf_bytes`."""
    path.write_bytes(gguf_bytes(metadata, tensors, **options))
    return path


def gguf_bytes(
    metadata: Mapping[str, Any] | None = None,
    tensors: Sequence[TensorSpec] = TENSORS,
    *,
    magic: bytes = b"GGUF",
    version: int = 3,
    claimed_kv: int | None = None,
    claimed_tensors: int | None = None,
    alignment: int = 32,
) -> bytes:
    """A whole file. `metadata` is laid over `SETTINGS`; the `claimed_` counts may lie."""
    settings = {**SETTINGS, **(metadata or {})}
    settings = {key: value for key, value in settings.items() if value is not None}
    head = magic + struct.pack(
        "<IQQ",
        version,
        len(tensors) if claimed_tensors is None else claimed_tensors,
        len(settings) if claimed_kv is None else claimed_kv,
    )
    head += b"".join(_text(key) + _value(value) for key, value in settings.items())
    weights = b""
    for tensor in tensors:
        at = len(weights) if tensor.offset is None else tensor.offset
        head += _text(tensor.name) + struct.pack("<I", len(tensor.shape))
        head += struct.pack(f"<{len(tensor.shape)}Q", *tensor.shape)
        head += struct.pack("<IQ", tensor.type, at)
        weights += _padded(b"\0" * tensor.nbytes, alignment)
    return _padded(head, alignment) + weights


def _value(value: Any) -> bytes:
    match value:
        case Typed(value=list()):
            return struct.pack("<I", ARRAY) + _list(value.type, value.value, value.claimed_count)
        case Typed():
            return struct.pack("<I", value.type) + _item(value.type, value.value)
        case list():
            return struct.pack("<I", ARRAY) + _list(_type_of(value[0]), value, None)
        case _:
            return struct.pack("<I", _type_of(value)) + _item(_type_of(value), value)


def _list(element: int, items: Sequence[Any], claimed: int | None) -> bytes:
    count = len(items) if claimed is None else claimed
    return struct.pack("<IQ", element, count) + b"".join(_item(element, item) for item in items)


def _item(kind: int, value: Any) -> bytes:
    return _text(value) if kind == STRING else struct.pack("<" + _LETTERS[kind], value)


def _type_of(value: Any) -> int:
    return {bool: BOOL, int: UINT32, float: FLOAT32, str: STRING}[type(value)]


def _text(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def _padded(raw: bytes, alignment: int) -> bytes:
    return raw + b"\0" * (-len(raw) % alignment)
