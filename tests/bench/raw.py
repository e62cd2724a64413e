"""The baseline: llama.cpp's low-level calls and nothing else, in a process of its own.

Reads one JSON line per job from stdin, answers with one JSON line:
`{"model", "context", "threads"}` first, then `{"job": "write"|"turn", ...}`:

- `write`: read `prompt` tokens, write `count` tokens greedily; answers `{"seconds", "count"}`.
- `turn`: with `held` tokens in the cache, read `new` tokens and choose one; `{"seconds"}`.
"""

import ctypes
import json
import os
import sys
import time
from typing import Any

os.environ["OMP_WAIT_POLICY"] = "passive"

import llama_cpp as lib
import numpy as np

BATCH = 128


class Raw:
    """A context, and a batch to fill it with."""

    def __init__(self, model: str, context: int, threads: int) -> None:
        lib.llama_log_set(_SILENT, ctypes.c_void_p(0))
        lib.llama_backend_init()
        self.model = lib.llama_model_load_from_file(
            model.encode(), lib.llama_model_default_params()
        )
        params = lib.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch = context, BATCH, BATCH
        params.n_threads = params.n_threads_batch = threads
        params.n_seq_max, params.kv_unified, params.swa_full = 2, True, True
        self.context = lib.llama_init_from_model(self.model, params)
        self.memory = lib.llama_get_memory(self.context)
        self.vocab = lib.llama_model_get_vocab(self.model)
        self.size = lib.llama_vocab_n_tokens(self.vocab)
        self.batch = lib.llama_batch_init(BATCH, 0, 1)
        self.sampler = lib.llama_sampler_init_greedy()

    def read(self, tokens: list[int], start: int) -> None:
        """Decode tokens at positions from `start`, logits for the last one only."""
        for offset in range(0, len(tokens), BATCH):
            part = tokens[offset : offset + BATCH]
            self.batch.n_tokens = len(part)
            for i, token in enumerate(part):
                self.batch.token[i], self.batch.pos[i] = token, start + offset + i
                self.batch.n_seq_id[i], self.batch.seq_id[i][0] = 1, 0
                self.batch.logits[i] = offset + i == len(tokens) - 1
            assert lib.llama_decode(self.context, self.batch) == 0

    def choose(self) -> int:
        """The likeliest next token."""
        return int(lib.llama_sampler_sample(self.sampler, self.context, -1))

    def clear(self, keep: int) -> None:
        """Forget everything from position `keep` on."""
        lib.llama_memory_seq_rm(self.memory, 0, keep, -1)

    def some_tokens(self, count: int) -> list[int]:
        """Ordinary tokens, the same in every run."""
        return [int(t) for t in np.random.default_rng(7).integers(1_000, self.size - 100, count)]

    def write(self, prompt: int, count: int) -> dict[str, Any]:
        """The `write` job."""
        self.clear(0)
        self.read(self.some_tokens(prompt), 0)
        token, started = self.choose(), time.perf_counter()
        for position in range(prompt, prompt + count):
            self.read([token], position)
            token = self.choose()
        return {"seconds": time.perf_counter() - started, "count": count}

    def turn(self, held: int, new: int) -> dict[str, Any]:
        """The `turn` job."""
        self.clear(0)
        tokens = self.some_tokens(held + new)
        self.read(tokens[:held], 0)
        started = time.perf_counter()
        self.read(tokens[held:], held)
        self.choose()
        return {"seconds": time.perf_counter() - started}


@lib.llama_log_callback
def _SILENT(level: int, text: bytes, data: Any) -> None:
    pass


def main() -> None:
    """Serve jobs until stdin ends."""
    setup = json.loads(sys.stdin.readline())
    raw = Raw(setup["model"], setup["context"], setup["threads"])
    for line in sys.stdin:
        job = json.loads(line)
        kind = job.pop("job")
        print(json.dumps(getattr(raw, kind)(**job)), flush=True)


if __name__ == "__main__":
    main()
