"""The GGUF header reader, whatever the bytes are: a header or a refusal, soon and in little memory."""

import struct
import tempfile
import tracemalloc
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.backends.gguf import GgufHeader, read_header
from engine.errors import ModelUnusable
from tests.backends import gguf_files
from tests.backends.gguf_files import INT32, UINT64, Typed


def outcome(raw: bytes) -> GgufHeader | None:
    """Read `raw` as a file: a header, or None when refused. Anything else that is raised fails."""
    with tempfile.NamedTemporaryFile(suffix=".gguf") as file:
        file.write(raw)
        file.flush()
        try:
            return read_header(Path(file.name))
        except ModelUnusable:
            return None


WHOLE = gguf_files.gguf_bytes(
    {
        "llama.attention.head_count_kv": Typed(INT32, [2, 2]),
        "split.count": 1,
        "llama.expert_count": 4,
        "llama.expert_used_count": Typed(UINT64, [2, 2]),
    }
)


@given(cut=st.integers(0, len(WHOLE) - 1))
@settings(max_examples=150, deadline=None)
def test_any_truncation_is_refused_or_complete(cut):
    """A file cut anywhere before the end of its last tensor is refused."""
    end_of_last_tensor = len(WHOLE)  # the last tensor fills its padding
    assert (outcome(WHOLE[:cut]) is None) == (cut < end_of_last_tensor)


@given(
    changes=st.lists(
        st.tuples(st.integers(0, len(WHOLE) - 1), st.binary(min_size=1, max_size=8)),
        min_size=1,
        max_size=4,
    )
)
@settings(max_examples=400, deadline=None)
def test_any_mutation_is_a_header_or_a_refusal(changes):
    """Bytes overwritten anywhere, lengths and counts included: no other exception, no big memory."""
    raw = bytearray(WHOLE)
    for at, new in changes:
        raw[at : at + len(new)] = new
    tracemalloc.start()
    try:
        outcome(bytes(raw))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3_000_000


@given(tail=st.binary(max_size=400), kv=st.integers(0, 2**64 - 1), tensors=st.integers(0, 9))
@settings(max_examples=150, deadline=None)
def test_any_bytes_after_the_start_are_a_refusal(tail, kv, tensors):
    """A right magic and version, then noise."""
    assert outcome(b"GGUF" + struct.pack("<IQQ", 3, tensors, kv) + tail) is None
