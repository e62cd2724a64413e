"""llama.cpp through its low-level bindings, wrapped so that its fatal mistakes cannot be made.

Sampling without logits, a batch larger than the context's, or freeing in the wrong order end the
process; each wrapper here keeps one of those rules. The package itself is not imported (its
start-up costs 0.3 s and 35 MB and it replaces the log callback): only its ctypes module is.
"""

import ctypes
import functools
import importlib
import importlib.util
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from engine.backends.base import Sampling
from engine.backends.llamacpp_worker.protocol import not_installed
from engine.errors import BackendFailed, ModelUnusable, Stopped

BATCH_TOKENS = 128
"""Read as fast as larger batches, with a progress report and a way out after each."""
CHAT = 0
"""The sequence a conversation lives in; the other one is for summaries written beside it."""
SEQUENCES = 2
_REPEAT_TOKENS = 64
"""How far back a repeat penalty looks."""
_ERROR_LEVEL = 4
_CONTINUES_LEVEL = 5


@functools.cache
def bindings() -> Any:
    """llama-cpp-python's ctypes module. Raises ModelUnusable when it is not there or not whole."""
    spec = importlib.util.find_spec("llama_cpp")
    if spec is None:
        raise not_installed()
    sys.modules.setdefault("llama_cpp", importlib.util.module_from_spec(spec))
    try:
        return importlib.import_module("llama_cpp.llama_cpp")
    except (ImportError, OSError, RuntimeError, AttributeError) as error:
        raise not_installed(str(error)) from error


class Log:
    """The last lines llama.cpp logged; the reason of a failed load is only to be found here."""

    def __init__(self, api: Any) -> None:
        self._lines: deque[tuple[int, str]] = deque(maxlen=100)
        self._callback = api.llama_log_callback(self._take)  # kept: native code holds it
        api.llama_log_set(self._callback, None)

    def clear(self) -> None:
        """Forget what was logged, before something that may fail."""
        self._lines.clear()

    def reason(self) -> str:
        """The first error logged since `clear`, without the name of the C function; "" if none."""
        for level, line in self._lines:
            if level == _ERROR_LEVEL and line.strip():
                return line.rsplit(": error loading model: ", 1)[-1].split(": ", 1)[-1].strip()
        return ""

    def _take(self, level: int, text: bytes, _: object) -> None:
        line = text.decode("utf-8", "replace").rstrip("\n")
        if level == _CONTINUES_LEVEL and self._lines:
            level, before = self._lines.pop()
            line = before + line
        self._lines.append((level, line))


@functools.cache
def native_log() -> Log:
    """The process's one log; llama.cpp holds on to it for good."""
    return Log(bindings())


class Interrupt:
    """The user's stop: raised by one thread, obeyed by native code within milliseconds.

    llama.cpp asks a C function after every step of its graph, 500 times for one token of a small
    model. A Python function there costs a percent of the speed; C's own strlen does not: the
    length of "" is 0, go on, and the length of "x" is 1, stop.
    """

    def __init__(self) -> None:
        self._flag = ctypes.create_string_buffer(2)
        library = ctypes.cdll.msvcrt if os.name == "nt" else ctypes.CDLL(None)
        self._asked = library.strlen

    @property
    def raised(self) -> bool:
        """Whether to stop."""
        return bool(self._flag.value)

    @raised.setter
    def raised(self, stop: bool) -> None:
        self._flag.value = b"x" if stop else b""

    def install(self, api: Any, context: Any) -> None:
        """Let llama.cpp look at it while it works in `context`; this object must outlive it."""
        asked = ctypes.cast(self._asked, api.ggml_abort_callback)
        api.llama_set_abort_callback(context, asked, ctypes.cast(self._flag, ctypes.c_void_p))

    def check(self) -> None:
        """Raise Stopped if the user stopped."""
        if self._flag.value:
            raise Stopped


class Model:
    """A GGUF's weights and vocabulary in memory.

    Args:
        path: the file.
        on_progress: called with 0…1 while the weights are read; returning False gives up.
        words_only: leave the weights out; nothing can be run then.

    Raises:
        ModelUnusable: llama.cpp cannot load it; with its reason.
        Stopped: `on_progress` returned False.
    """

    def __init__(
        self, path: str, on_progress: Callable[[float], bool], *, words_only: bool = False
    ) -> None:
        api, log = bindings(), native_log()
        stopped = False

        def report(fraction: float, _: object) -> bool:
            nonlocal stopped
            stopped = not on_progress(fraction)
            return not stopped

        params = api.llama_model_default_params()
        params.vocab_only = words_only
        callback = params.progress_callback = api.llama_progress_callback(report)
        log.clear()
        self.pointer = api.llama_model_load_from_file(os.fsencode(path), params)
        del callback  # it had to live until here
        if stopped:
            self.close()
            raise Stopped
        if not self.pointer:
            reason = log.reason() or "llama.cpp gives no reason"
            raise ModelUnusable(
                f"This model cannot be loaded: {reason.rstrip('.')}.",
                "Fetch the file again, or choose another model.",
            )
        self.vocabulary_pointer = api.llama_model_get_vocab(self.pointer)
        self.library_version = api.llama_version().decode()

    def close(self) -> None:
        """Free the weights; every context of the model must be closed before."""
        if self.pointer:
            bindings().llama_model_free(self.pointer)
        self.pointer = None


@dataclass(frozen=True, slots=True)
class ContextShape:
    """How a context is made. `yarn_from` is the trained window to stretch from, 0 for native."""

    window_tokens: int
    threads: int
    kv_type: Literal["f16", "q8_0"] = "f16"
    yarn_from: int = 0


class Context:
    """A model's KV cache: sequences of tokens that were read, and the way to read more.

    `held` says, per sequence, exactly which tokens the cache holds, whatever was interrupted.

    Raises:
        ModelUnusable: llama.cpp cannot make a context of this shape; with its reason.
    """

    def __init__(self, model: Model, shape: ContextShape, interrupt: Interrupt) -> None:
        self._api = api = bindings()
        self._interrupt = interrupt
        log = native_log()
        log.clear()
        self.pointer = api.llama_init_from_model(model.pointer, _context_params(api, shape))
        if not self.pointer:
            reason = log.reason() or "llama.cpp gives no reason"
            raise ModelUnusable(
                f"No context of {shape.window_tokens:,} tokens can be made for this model: "
                f"{reason.rstrip('.')}.",
                "Choose a smaller window, or f16 as the type of its cache.",
            )
        interrupt.install(api, self.pointer)
        self.shape = shape
        self.window_tokens = min(shape.window_tokens, int(api.llama_n_ctx(self.pointer)))
        self.held: list[list[int]] = [[] for _ in range(SEQUENCES)]
        self._memory = api.llama_get_memory(self.pointer)
        self._most = min(BATCH_TOKENS, int(api.llama_n_batch(self.pointer)))
        self._batch = _Batch(api, self._most)
        self._rewinds = not (
            api.llama_model_is_recurrent(model.pointer) or api.llama_model_is_hybrid(model.pointer)
        )

    def close(self) -> None:
        """Free the cache."""
        if self.pointer:
            self._batch.close()
            self._api.llama_free(self.pointer)
        self.pointer = None

    def shared_prefix(self, ids: Sequence[int], seq: int = CHAT) -> int:
        """How many of the first tokens of `ids` the cache holds already."""
        held = self.held[seq]
        most = min(len(held), len(ids))
        if held[:most] == list(ids[:most]):
            return most
        return next(index for index in range(most) if held[index] != ids[index])

    def keep(self, tokens: int, seq: int = CHAT) -> int:
        """Forget everything after the first `tokens`; the number really kept, possibly 0.

        A recurrent model cannot go back, and a sliding window may no longer hold what is
        needed: then everything is forgotten.
        """
        if tokens < len(self.held[seq]):
            if not self._api.llama_memory_seq_rm(self._memory, seq, tokens, -1):
                self._api.llama_memory_seq_rm(self._memory, seq, -1, -1)
                tokens = 0
            del self.held[seq][tokens:]
        return tokens

    def read(self, ids: Sequence[int], seq: int = CHAT) -> Iterator[int]:
        """Evaluate tokens after what the sequence holds, yielding how many are done.

        Afterwards a token can be sampled. Raises Stopped on the user's stop (what was evaluated
        stays), BackendFailed when llama.cpp cannot go on.
        """
        for start in range(0, len(ids), self._most):
            part = ids[start : start + self._most]
            self.evaluate(part, seq, logits=start + len(part) == len(ids))
            yield start + len(part)

    def evaluate(self, ids: Sequence[int], seq: int = CHAT, *, logits: bool = True) -> None:
        """Evaluate at most one batch of tokens; as `read`."""
        held = self.held[seq]
        code = self._batch.decode(self.pointer, ids, len(held), seq, logits=logits)
        if code == 0:
            held.extend(ids)
            return
        if self._rewinds:
            del held[int(self._api.llama_memory_seq_pos_max(self._memory, seq)) + 1 :]
        else:
            self.keep(0, seq)  # a recurrent state may be half changed
        self._interrupt.check()
        raise BackendFailed(
            f"llama.cpp could not evaluate the prompt (code {code}).",
            "Try again; if it fails again, choose a smaller window or another model.",
        )

    def state(self, seq: int = CHAT) -> bytearray:
        """llama.cpp's copy of what a sequence holds; only a context of the same shape takes it."""
        state = bytearray(int(self._api.llama_state_seq_get_size(self.pointer, seq)))
        buffer = (ctypes.c_uint8 * len(state)).from_buffer(state)
        written = self._api.llama_state_seq_get_data(self.pointer, buffer, len(state), seq)
        del buffer  # while it is there the length is fixed
        del state[int(written) :]
        return state

    def take_state(self, state: bytearray, ids: Sequence[int], seq: int = CHAT) -> bool:
        """Put back what `state` returned for a sequence that held `ids`; whether it worked."""
        self.keep(0, seq)
        buffer = (ctypes.c_uint8 * len(state)).from_buffer(state)
        if not self._api.llama_state_seq_set_data(self.pointer, buffer, len(state), seq):
            self._api.llama_memory_seq_rm(self._memory, seq, -1, -1)
            return False
        self.held[seq] = list(ids)
        return True


def _context_params(api: Any, shape: ContextShape) -> Any:
    params = api.llama_context_default_params()
    params.n_ctx = shape.window_tokens
    params.n_batch = params.n_ubatch = BATCH_TOKENS
    params.n_threads = params.n_threads_batch = shape.threads
    params.n_seq_max = SEQUENCES
    params.kv_unified = True  # the sequences share cells: copying one costs nothing
    params.swa_full = True  # else going back silently gives wrong results (Gemma)
    if shape.kv_type == "q8_0":
        params.type_k = params.type_v = api.GGML_TYPE_Q8_0
        params.flash_attn_type = api.LLAMA_FLASH_ATTN_TYPE_ENABLED
    if shape.yarn_from:
        params.rope_scaling_type = api.LLAMA_ROPE_SCALING_TYPE_YARN
        params.rope_freq_scale = shape.yarn_from / shape.window_tokens
        params.yarn_orig_ctx = shape.yarn_from
    return params


class _Batch:
    """One reusable llama_batch; larger than its context's it would end the process.

    Only what changes is written: between two tokens Python is the slow part.
    """

    def __init__(self, api: Any, size: int) -> None:
        self._decode, self._free = api.llama_decode, api.llama_batch_free
        self._batch = batch = api.llama_batch_init(size, 0, 1)
        self._token, self._pos, self._logits = batch.token, batch.pos, batch.logits
        self._sequences = [batch.seq_id[index] for index in range(size)]
        self._marked = self._seq = 0
        for index in range(size):
            batch.n_seq_id[index] = 1
            batch.logits[index] = 0
            batch.seq_id[index][0] = 0

    def decode(
        self, context: Any, ids: Sequence[int], position: int, seq: int, *, logits: bool
    ) -> int:
        """Evaluate `ids` at `position` and on; llama_decode's code."""
        for index, token in enumerate(ids):
            self._token[index] = token
            self._pos[index] = position + index
        if seq != self._seq:
            self._seq = seq
            for sequence in self._sequences:
                sequence[0] = seq
        self._logits[self._marked] = 0
        self._marked = len(ids) - 1
        self._logits[self._marked] = logits
        self._batch.n_tokens = len(ids)
        return int(self._decode(context, self._batch))

    def close(self) -> None:
        self._free(self._batch)


class Sampler:
    """Chooses the next token: repeat penalty, top-k, top-p, min-p, temperature, in this order.

    What a request leaves open has llama.cpp's own values. Temperature 0 is greedy.
    """

    def __init__(self, sampling: Sampling, vocabulary_tokens: int, before: Sequence[int]) -> None:
        api = bindings()
        self._sample, self._free = api.llama_sampler_sample, api.llama_sampler_free
        self._chain = api.llama_sampler_chain_init(api.llama_sampler_chain_default_params())
        for part in _sampler_parts(api, sampling, vocabulary_tokens):
            api.llama_sampler_chain_add(self._chain, part)
        for token in before[-_REPEAT_TOKENS:] if sampling.repeat_penalty else ():
            api.llama_sampler_accept(self._chain, token)

    def sample(self, context: Context) -> int:
        """The next token after the last one evaluated with logits."""
        return int(self._sample(self._chain, context.pointer, -1))

    def close(self) -> None:
        """Free the chain and its parts."""
        self._free(self._chain)


def _sampler_parts(api: Any, sampling: Sampling, vocabulary_tokens: int) -> Iterator[Any]:
    penalty = sampling.repeat_penalty
    if penalty is not None and penalty > 0 and penalty != 1.0:
        yield api.llama_sampler_init_penalties(
            vocabulary_tokens, _REPEAT_TOKENS, penalty, 0.0, 0.0
        )
    temperature = _given(sampling.temperature, 0.8)
    if temperature <= 0:
        yield api.llama_sampler_init_greedy()
        return
    yield api.llama_sampler_init_top_k(int(_given(sampling.top_k, 40)))
    yield api.llama_sampler_init_top_p(_given(sampling.top_p, 0.95), 1)
    yield api.llama_sampler_init_min_p(_given(sampling.min_p, 0.05), 1)
    yield api.llama_sampler_init_temp(temperature)
    yield api.llama_sampler_init_dist(_seed(api, sampling.seed))


def _given(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value


def _seed(api: Any, seed: int | None) -> int:
    """The seed as llama.cpp takes it; its own mark for "random" is not a seed one can ask for."""
    random_mark = int(api.LLAMA_DEFAULT_SEED)
    return random_mark if seed is None else seed % random_mark
