"""The GGUF header reader: what it reports, and what it refuses before native code sees it."""

import contextlib
import json
import os
import random
import resource
import struct
import subprocess
import sys
import tempfile
import tracemalloc
from pathlib import Path

import pytest

from engine.backends.gguf import read_header
from engine.backends.gguf_wire import Damaged, read_container
from engine.errors import ModelMissing, ModelUnusable
from tests.backends import gguf_files
from tests.backends.gguf_files import FLOAT32, INT32, STRING, TensorSpec, Typed

TWO_60, TWO_50 = 2**60, 2**50


def refused(path: Path) -> str:
    """The sentence a file is refused with; it ends with a full stop and has a remedy."""
    with pytest.raises(ModelUnusable) as caught:
        read_header(path)
    assert type(caught.value) is ModelUnusable
    assert caught.value.sentence.endswith(".")
    assert caught.value.remedy.endswith((".", str(path)))
    return caught.value.sentence


@pytest.fixture
def tiny(tmp_path):
    """Writes a tiny GGUF with changed settings; returns its path."""

    def write(metadata=None, **options) -> Path:
        return gguf_files.write_gguf(tmp_path / "tiny.gguf", metadata, **options)

    return write


# ---- what it reports


def test_the_starter_model_is_described_exactly(starter_path):
    """The real starter: every figure the rest of the application relies on."""
    header = read_header(starter_path)
    assert (header.architecture, header.trained_window, header.block_count) == ("llama", 8192, 30)
    assert header.kv_bytes_per_token == 23_040  # 22.5 KiB, as measured
    assert (header.quantization, header.parameters) == ("Q4_1", "135M")
    assert (header.bos, header.eos) == ("<|im_start|>", "<|im_end|>")
    assert header.file_bytes == starter_path.stat().st_size
    assert "<|im_start|>" in header.template
    assert header.vocabulary_size == 49_152
    assert "tokenizer.chat_template" not in header.metadata


def test_reading_the_header_does_not_read_the_weights(starter_path):
    """A few megabytes of memory at most for a file of a hundred: the vocabulary is not stored."""
    tracemalloc.start()
    try:
        read_header(starter_path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < starter_path.stat().st_size / 20


def test_a_tiny_file_is_described(tiny):
    """A file from the test writer, with all its parts."""
    header = read_header(tiny())
    assert header.name == "Tiny"
    assert header.head_counts == (4, 4)
    assert header.kv_head_counts == (2, 2)
    assert header.kv_bytes_per_token == 2 * 2 * (16 + 16) * 2
    assert (header.bos_id, header.bos, header.eos_id, header.eos) == (1, "<s>", 11, "<|im_end|>")
    assert header.template == gguf_files.SETTINGS["tokenizer.chat_template"]
    assert header.metadata["llama.rope.freq_base"] == 10_000.0


def test_a_file_without_a_name_is_called_by_its_file_name(tiny):
    """No `general.name`: the file's own stem."""
    assert read_header(tiny({"general.name": None})).name == "tiny"


def test_unused_token_ids_have_no_text(tiny):
    """A missing id and an id outside the vocabulary give an empty text, not an error."""
    header = read_header(
        tiny({"tokenizer.ggml.bos_token_id": None, "tokenizer.ggml.eos_token_id": 99_999})
    )
    assert (header.bos_id, header.bos, header.eos_id, header.eos) == (None, "", 99_999, "")


def test_a_token_deep_in_a_long_vocabulary_is_found(tiny):
    """Tokens are stepped over in batches; any id's text is still the right one."""
    tokens = [f"t{index}" * (index % 7 + 1) for index in range(5000)]
    for wanted in (0, 1023, 1024, 1025, 4999):
        header = read_header(
            tiny({"tokenizer.ggml.tokens": tokens, "tokenizer.ggml.eos_token_id": wanted})
        )
        assert header.eos == tokens[wanted]


def test_heads_may_differ_per_layer(tiny):
    """A list of head counts is summed layer by layer; layers without attention cost nothing."""
    header = read_header(
        tiny(
            {
                "llama.block_count": 3,
                "llama.attention.head_count": Typed(INT32, [4, 0, 8]),
                "llama.attention.head_count_kv": Typed(INT32, [2, 0, 4]),
                "llama.attention.key_length": 16,
                "llama.attention.value_length": 8,
            }
        )
    )
    assert header.kv_head_counts == (2, 0, 4)
    assert header.kv_bytes_per_token == (2 + 4) * (16 + 8) * 2


def test_layers_with_a_sliding_window_may_have_other_heads(tiny):
    """The pattern says which layers use the sliding window's head size."""
    header = read_header(
        tiny(
            {
                "llama.attention.sliding_window": 512,
                "llama.attention.sliding_window_pattern": [True, False],
                "llama.attention.key_length_swa": 4,
                "llama.attention.value_length_swa": 4,
            }
        )
    )
    assert header.sliding_window == 512
    assert header.kv_bytes_per_token == 2 * (4 + 4) * 2 + 2 * (16 + 16) * 2


@pytest.mark.parametrize(
    "settings",
    [
        {"llama.attention.kv_lora_rank": 512},
        {"llama.ssm.state_size": 16},
        {"llama.shortconv.l_cache": 3},
        {"llama.full_attention_interval": 4},
        {"llama.ssm.state_size": 16, "llama.attention.head_count": 0},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_a_cache_of_another_kind_is_unknown(tiny, settings):
    """Latent, recurrent and hybrid models: the cost per token is 0, which means unknown."""
    assert read_header(tiny(settings)).kv_bytes_per_token == 0


def test_quantization_and_parameters_come_from_the_tensors_when_not_said(tiny):
    """No file type, no size label: the type with most bytes, the sum of the elements."""
    tensors = (
        TensorSpec("a", (32, 40_000), 3, 40_000 * 20),
        TensorSpec("b", (64,), 0, 256),
    )
    header = read_header(tiny({"general.file_type": None}, tensors=tensors))
    assert (header.quantization, header.parameters) == ("Q4_1", "1.3M")


def test_a_model_in_parts_counts_all_its_parts(tmp_path):
    """The first part is opened; the size is the sum over the parts beside it."""
    first = tmp_path / "big-00001-of-00002.gguf"
    gguf_files.write_gguf(first, {"split.count": 2, "split.no": 0})
    second = tmp_path / "big-00002-of-00002.gguf"
    second.write_bytes(b"x" * 1000)
    assert read_header(first).file_bytes == first.stat().st_size + 1000
    second.unlink()
    assert "big-00002-of-00002.gguf" in refused(first)


def test_a_template_beyond_any_use_is_not_taken(tiny):
    """A template of more than a million characters is left out; the model still counts."""
    assert read_header(tiny({"tokenizer.chat_template": "x" * 1_000_001})).template == ""


# ---- what it refuses


@pytest.mark.parametrize("name", ["absent.gguf", "folder", "nul\0in.gguf", "absent/deeper.gguf"])
def test_no_such_file(tmp_path, name):
    """A missing file, a folder and an impossible name are a missing model."""
    (tmp_path / "folder").mkdir()
    with pytest.raises(ModelMissing) as caught:
        read_header(tmp_path / name)
    assert caught.value.sentence.endswith(".")
    assert caught.value.remedy


@contextlib.contextmanager
def no_privileges():
    """Root may read everything; another user may not."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65_534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_no_permission(tmp_path):
    """A file, and a file in a folder, that the user may not read."""
    folder = Path(tempfile.mkdtemp())
    try:
        path = gguf_files.write_gguf(folder / "secret.gguf")
        path.chmod(0o000)
        folder.chmod(0o755)
        with no_privileges():
            assert refused(path) == "secret.gguf may not be read by you."
        folder.chmod(0o000)
        with no_privileges():
            assert refused(path) == "secret.gguf may not be read by you."
    finally:
        folder.chmod(0o755)
        path.unlink()
        folder.rmdir()


def test_a_file_that_cannot_be_opened_is_refused(tiny):
    """Any other error of the system: its own words, and where to look."""
    path = tiny()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
    try:
        with pytest.raises(ModelUnusable) as caught:
            read_header(path)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert caught.value.sentence == "tiny.gguf cannot be read: Too many open files."


def test_a_setting_of_an_unknown_type_is_refused(tmp_path):
    """Its length is unknown, so nothing behind it can be read."""
    raw = gguf_files.gguf_bytes({"z.kind": 7})
    key = b"z.kind" + struct.pack("<I", gguf_files.UINT32)
    path = tmp_path / "odd.gguf"
    path.write_bytes(raw.replace(key, b"z.kind" + struct.pack("<I", 77)))
    assert "'z.kind' has the unknown type 77" in refused(path)


def test_a_setting_that_comes_twice_is_refused(tmp_path):
    """Which of the two would count is anybody's guess; llama.cpp refuses it, too."""
    raw = gguf_files.gguf_bytes({"z.one": 1, "z.two": 2})
    path = tmp_path / "twice.gguf"
    path.write_bytes(raw.replace(b"z.two", b"z.one"))
    assert "'z.one' twice" in refused(path)


def test_a_file_that_shrinks_while_it_is_read_is_refused(tmp_path):
    """The size is asked once; what is not there any more is damage, not a crash."""
    path = gguf_files.write_gguf(tmp_path / "tiny.gguf")
    size = path.stat().st_size
    os.truncate(path, 100)
    with path.open("rb") as file, pytest.raises(Damaged):
        read_container(file, size)


def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path):
    """Opening a FIFO would wait for ever; only ordinary files are opened."""
    pipe = tmp_path / "pipe.gguf"
    os.mkfifo(pipe)
    assert "not an ordinary file" in refused(pipe)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "it is empty"),
        (b"GGUF", "too short"),
        (random.Random(1).randbytes(4096), "not a GGUF file"),
        (gguf_files.gguf_bytes(magic=b"GGML"), "not a GGUF file"),
        (gguf_files.gguf_bytes(version=99), "version 99"),
        (gguf_files.gguf_bytes(version=1), "version 1 "),
        (gguf_files.gguf_bytes(version=3 << 24), "byte order"),
        (gguf_files.gguf_bytes(claimed_kv=TWO_60), "settings"),
        (gguf_files.gguf_bytes(claimed_tensors=TWO_60), "tensors"),
        (gguf_files.gguf_bytes(claimed_kv=60_000), "cannot be used"),
        (gguf_files.gguf_bytes()[:100], "ends in the middle"),
        (gguf_files.gguf_bytes()[:-150], "incomplete"),
        (gguf_files.gguf_bytes()[:-33], "incomplete"),
        (gguf_files.gguf_bytes(tensors=()), "no weights"),
    ],
    ids=lambda value: None if isinstance(value, bytes) else value,
)
def test_a_damaged_file_is_refused_with_the_reason(tmp_path, content, words):
    """Each kind of damage has its own words."""
    path = tmp_path / "broken.gguf"
    path.write_bytes(content)
    assert words in refused(path)


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({"llama.block_count": 4_000_000_000}, "block count is 4,000,000,000"),
        ({"llama.block_count": 0}, "block count is 0"),
        ({"llama.block_count": None}, "block count"),
        ({"llama.block_count": "two"}, "block count is 'two'"),
        ({"llama.block_count": True}, "block count"),
        ({"llama.attention.layer_norm_rms_epsilon": float("nan")}, "epsilon is nan"),
        ({"llama.attention.layer_norm_rms_epsilon": -1e-5}, "epsilon is -1e-05"),
        ({"llama.attention.layer_norm_epsilon": float("inf")}, "epsilon is inf"),
        ({"llama.context_length": 4_000_000_000}, "context length is 4,000,000,000"),
        ({"llama.context_length": 0}, "context length is 0"),
        ({"llama.context_length": None}, "context length"),
        ({"llama.embedding_length": 0}, "embedding length"),
        ({"llama.attention.head_count": 0}, "no attention heads"),
        ({"llama.attention.head_count": None}, "no attention heads"),
        ({"llama.attention.head_count": 7, "llama.attention.head_count_kv": 7}, "do not divide"),
        ({"llama.attention.head_count_kv": 3}, "evenly"),
        ({"llama.attention.head_count": Typed(INT32, [4])}, "1 entries"),
        ({"llama.attention.head_count": Typed(INT32, [4, -4])}, "not a number in every layer"),
        ({"llama.attention.head_count": Typed(STRING, ["a", "b"])}, "entries"),
        ({"llama.attention.key_length": 0}, "key length"),
        ({"llama.rope.freq_base": 0.0}, "freq base"),
        ({"llama.rope.freq_base": float("inf")}, "freq base"),
        ({"llama.logit_scale": float("nan")}, "logit scale is nan"),
        ({"llama.rope.scaling.type": "sideways"}, "rope scaling"),
        ({"llama.expert_count": 5000}, "expert count"),
        ({"llama.expert_count": 4}, "uses 0 of 4"),
        ({"llama.expert_count": 4, "llama.expert_used_count": 5}, "uses 5 of 4"),
        ({"llama.expert_used_count": 2}, "uses 2 of 0"),
        (
            {
                "llama.expert_count": 6,
                "llama.expert_used_count": 2,
                "llama.expert_group_count": 4,
                "llama.expert_group_used_count": 2,
            },
            "do not divide into 4",
        ),
        ({"llama.nextn_predict_layers": 3}, "nextn"),
        ({"general.architecture": None}, "what kind of model"),
        ({"general.architecture": "../../etc"}, "what kind of model"),
        ({"general.architecture": "clip"}, "picture encoder"),
        ({"general.type": "adapter"}, "adapter"),
        ({"general.alignment": 24}, "alignment"),
        ({"split.no": 1, "split.count": 3}, "part 2"),
        ({"x": Typed(FLOAT32, [1.0], claimed_count=TWO_50)}, "longer than the file"),
        ({"x": Typed(STRING, ["a"], claimed_count=TWO_50)}, "longer than the file"),
        ({"x": Typed(99, [])}, "unknown type 99"),
        ({"": 1}, "no usable name"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_lying_setting_is_refused_with_the_reason(tiny, metadata, words):
    """Values that would end llama.cpp's process, or that no model can have."""
    assert words in refused(tiny(metadata))


@pytest.mark.parametrize(
    ("tensors", "words"),
    [
        ((TensorSpec("a"), TensorSpec("a")), "twice"),
        ((TensorSpec("n" * 64),), "63 bytes"),
        ((TensorSpec("a", (1, 1, 1, 1, 1)),), "dimensions"),
        ((TensorSpec("a", (2**62, 2**62)),), "impossible shape"),
        ((TensorSpec("a", (33,), 3, 20),), "impossible shape"),
        ((TensorSpec("a", (), 3, 20),), "impossible shape"),
        ((TensorSpec("a", type=77),), "unknown type 77"),
        ((TensorSpec("a"), TensorSpec("b", offset=64)), "not where it should be"),
        ((TensorSpec("a", (8, 4_000_000)),), "incomplete"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_lying_tensor_directory_is_refused_with_the_reason(tiny, tensors, words):
    """Names, shapes, types and places that do not hold together."""
    assert words in refused(tiny(tensors=tensors))


def test_a_string_longer_than_the_file_is_refused(tmp_path):
    """A length of 2^63 does not overflow into something readable."""
    raw = b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + struct.pack("<Q", 2**63) + b"key"
    path = tmp_path / "long.gguf"
    path.write_bytes(raw)
    assert "cannot be used" in refused(path)


def test_a_header_of_nothing_but_text_is_refused(tiny):
    """More text than any model has is not taken into memory."""
    texts = {f"note.{index}": "x" * 3_900_000 for index in range(5)}
    assert "too much text" in refused(tiny(texts))


def test_a_single_very_long_text_is_stepped_over(tiny):
    """A tokenizer file kept as text is skipped, and what follows is still read."""
    header = read_header(tiny({"general.name": None, "note": "x" * 5_000_000, "z.last": 7}))
    assert "note" not in header.metadata
    assert header.metadata["z.last"] == 7


@pytest.fixture
def starter_copy(starter_path, tmp_path):
    """A copy of the real starter: its real header, holes for weights; `patch` is (key, new value)."""

    def copy(patch: tuple[str, bytes] | None = None, length: int | None = None) -> Path:
        with starter_path.open("rb") as file:
            head = bytearray(file.read(4_000_000))
        if patch is not None:
            key, value = patch
            at = head.index(key.encode()) + len(key) + 4  # behind the key stands the type
            head[at : at + len(value)] = value
        path = tmp_path / "copy.gguf"
        path.write_bytes(head)
        os.truncate(path, starter_path.stat().st_size if length is None else length)
        return path

    return copy


def test_the_copy_of_the_starter_is_accepted(starter_copy):
    """Without a change the copy is as good as the original: what follows is refused for its change."""
    assert read_header(starter_copy()).architecture == "llama"


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("llama.block_count", struct.pack("<I", 4_000_000_000), "block count"),
        ("llama.context_length", struct.pack("<I", 4_000_000_000), "context length"),
        ("llama.attention.head_count", struct.pack("<I", 0), "heads"),
        ("llama.attention.head_count", struct.pack("<I", 7), "heads"),
        ("llama.attention.layer_norm_rms_epsilon", struct.pack("<f", float("nan")), "epsilon"),
        ("llama.attention.layer_norm_rms_epsilon", struct.pack("<f", -1.0), "epsilon"),
    ],
)
def test_the_starter_with_one_lie_is_refused(starter_copy, key, value, words):
    """The real file with one changed value: those that end llama.cpp's process among them."""
    assert words in refused(starter_copy((key, value)))


@pytest.mark.parametrize("missing", [1024, 50_000_000, 98_000_000])
def test_the_starter_cut_short_is_refused(starter_copy, starter_path, missing):
    """The last kilobyte, half, and nearly everything missing."""
    path = starter_copy(length=starter_path.stat().st_size - missing)
    assert any(words in refused(path) for words in ("incomplete", "longer than the file"))


def test_importing_the_reader_is_light():
    """Listing models imports neither numpy nor a transport."""
    code = (
        "import sys, json, engine.backends.gguf;"
        "print(json.dumps([m for m in sys.modules if m.split('.')[0] in"
        " {'numpy', 'jinja2', 'httpx', 'llama_cpp', 'asyncio'}]))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert json.loads(found) == []
