"""What a token of context costs a model, from the settings that say how its attention is built.

The same keys stand in a GGUF file's header and in what an Ollama server tells of a model.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

RECURRENT: Final = frozenset({"mamba", "mamba2", "rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7"})
UNCOUNTED_KEYS: Final = re.compile(
    r"\.(ssm|wkv|kda|shortconv)\.|\.attention\.(kv_lora_rank|key_length_mla|recurrent_layers"
    r"|compress_ratios)$|\.full_attention_interval$|\.token_shift_count$"
)
"""Settings of models whose cache is not heads times head size: latent, recurrent, hybrid."""
_F16_BYTES = 2
_MOST = 1_000_000


def told_kv_bytes(known: Mapping[str, Any], architecture: str) -> int:
    """The f16 cost of one token of context in bytes, every layer caching it; 0 when it cannot be told.

    `known` are settings by key, of whatever types: what is missing or makes no sense is unknown.
    """
    if architecture in RECURRENT or any(map(UNCOUNTED_KEYS.search, known)):
        return 0

    def told(key: str) -> int:
        value = known.get(f"{architecture}.{key}")
        if isinstance(value, bool) or not isinstance(value, int):
            return 0
        return value if 0 < value <= _MOST else 0

    layers = (
        told("block_count") - told("nextn_predict_layers") - told("attention.shared_kv_layers")
    )
    heads = told("attention.head_count")
    natural = told("embedding_length") // heads if heads else 0
    key = max(told("attention.key_length") or natural, told("attention.key_length_swa"))
    value = max(told("attention.value_length") or natural, told("attention.value_length_swa"))
    kv_heads = _kv_heads(known.get(f"{architecture}.attention.head_count_kv"), heads, layers)
    if layers <= 0 or not key or not value:
        return 0
    return kv_heads * (key + value) * _F16_BYTES


def _kv_heads(told: Any, heads: int, layers: int) -> int:
    """Key and value heads of all layers together; a list has one figure for each layer."""
    if isinstance(told, list):
        found = [count for count in told[: max(0, layers)] if isinstance(count, int)]
        return sum(found) if len(found) == layers and min(found, default=-1) >= 0 else 0
    if isinstance(told, int) and not isinstance(told, bool) and 0 < told <= _MOST:
        return told * max(0, layers)
    return heads * max(0, layers)
