"""What a token of context costs: from a server's words, from a header, and in a real process."""

import asyncio

import psutil
import pytest

from engine.backends.base import LoadRequest
from engine.backends.gguf import read_header
from engine.backends.kv_cache import told_kv_bytes
from engine.backends.llamacpp import LlamaCppBackend
from engine.backends.ollama import OllamaBackend
from engine.testing.ollama import OllamaDouble

SMOL = {
    "llama.block_count": 30,
    "llama.embedding_length": 576,
    "llama.attention.head_count": 9,
    "llama.attention.head_count_kv": 3,
}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, 23_040),
        ({"llama.attention.key_length": 128, "llama.attention.value_length": 128}, 46_080),
        ({"llama.attention.key_length_swa": 128}, 30 * 3 * (128 + 64) * 2),
        ({"llama.attention.head_count_kv": None}, 69_120),  # as many as there are heads
        ({"llama.attention.head_count_kv": [3] * 29 + [0]}, 22_272),
        ({"llama.attention.head_count_kv": [3] * 4}, 0),
        ({"llama.attention.head_count_kv": [3] * 29 + [-1]}, 0),
        ({"llama.attention.head_count_kv": ["3"] * 30}, 0),
        ({"llama.attention.shared_kv_layers": 10}, 15_360),
        ({"llama.attention.kv_lora_rank": 512}, 0),
        ({"llama.ssm.state_size": 16}, 0),
        ({"llama.block_count": True}, 0),
        ({"llama.block_count": "30"}, 0),
        ({"llama.attention.head_count": 0}, 0),
        ({"llama.embedding_length": 0}, 0),
    ],
)
def test_from_what_a_server_tells(changes, expected):
    """Heads times head size times two bytes, keys and values; 0 for other kinds of caches."""
    assert told_kv_bytes({**SMOL, **changes}, "llama") == expected


def test_recurrent_models_keep_something_else():
    """Nothing grows with the context."""
    assert told_kv_bytes({"mamba.block_count": 30}, "mamba") == 0


def test_the_server_tells_it():
    """`/api/show` has the same keys as a header."""

    async def described():
        backend = OllamaBackend(server.host)
        try:
            return await backend.describe("m")
        finally:
            await backend.close()

    with OllamaDouble() as server:
        info = asyncio.run(described())
    assert info.kv_bytes_per_token == 23_040
    assert info.weights_bytes == 1_000_000_000


def test_the_header_and_a_real_process(starter_path):
    """4,096 tokens more make the worker larger by 4,096 times the header's cost."""
    cost = read_header(starter_path).kv_bytes_per_token
    assert cost == told_kv_bytes(SMOL, "llama") == 23_040

    async def taken(window):
        backend = LlamaCppBackend(threads=1)
        try:
            await backend.load(LoadRequest(str(starter_path), window), lambda _: None)
            return psutil.Process(backend.worker_pid).memory_full_info().uss
        finally:
            await backend.close()

    async def grown():
        return await taken(8_192) - await taken(4_096)

    assert asyncio.run(grown()) == pytest.approx(4_096 * cost, rel=0.1)
