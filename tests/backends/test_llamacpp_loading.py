"""Loading models with the llama.cpp backend, and everything that can be wrong with a file."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from engine.backends.base import Loaded
from engine.errors import (
    MemoryShort,
    ModelMissing,
    ModelUnusable,
    TemplateUnusable,
)
from tests.backends.llamacpp_talk import (
    CAPITAL,
    SYSTEM,
    WINDOW,
    load_of,
    nothing,
    patched,
    reply_to,
    request_to,
    run,
)

pytestmark = pytest.mark.model
ROOT = Path(__file__).resolve().parents[2]


def test_loading_again_is_free_and_another_window_keeps_the_worker(talk, starter_path):
    """The same request returns at once; a new window makes only the context anew."""

    async def scenario(backend):
        first = await backend.load(load_of(starter_path), nothing)
        fractions = []
        again = await backend.load(load_of(starter_path), fractions.append)
        pid = backend.worker_pid
        wider = await backend.load(load_of(starter_path, 4096), fractions.append)
        return first, again, wider, fractions, pid == backend.worker_pid

    first, again, wider, fractions, same_worker = talk(scenario)
    assert first == again
    assert first == Loaded(WINDOW, 8192, first.vocabulary)
    assert wider == Loaded(4096, 8192, first.vocabulary)
    assert fractions == []
    assert same_worker


def test_what_is_loaded_is_told(starter_path):
    """The file and its window; nothing before, and nothing after it is put away."""

    async def scenario(backend):
        before = backend.loaded_model
        await backend.load(load_of(starter_path), nothing)
        loaded = backend.loaded_model
        await backend.close()
        return before, loaded, backend.loaded_model

    assert run(scenario) == (None, (str(starter_path), WINDOW), None)


def test_a_q8_cache_answers_too(talk, starter_path):
    """The low-memory cache is used, and the reply is still sensible."""

    async def scenario(backend):
        await backend.load(replace(load_of(starter_path), kv_type="q8_0"), nothing)
        return await reply_to(backend, request_to(starter_path, SYSTEM, CAPITAL))

    assert "Paris" in talk(scenario).text


def test_a_window_beyond_the_memory_is_refused(talk, starter_path):
    """Ten million tokens are refused with figures, and the backend still works."""

    async def scenario(backend):
        with pytest.raises(MemoryShort) as caught:
            await backend.load(load_of(starter_path, 10_000_000, "auto"), nothing)
        await backend.load(load_of(starter_path), nothing)
        return caught.value

    fault = talk(scenario)
    assert "10,000,000 tokens" in fault.sentence
    assert "largest window that fits" in fault.remedy


BAD_FILES = {
    "missing": (lambda path, _: None, ModelMissing),
    "folder": (lambda path, _: path.mkdir(), ModelMissing),
    "empty": (lambda path, _: path.write_bytes(b""), ModelUnusable),
    "random": (lambda path, _: path.write_bytes(os.urandom(4096)), ModelUnusable),
    "half": (
        lambda path, whole: path.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2]),
        ModelUnusable,
    ),
    "epsilon": (
        lambda path, whole: patched(
            whole, path, b"llama.attention.layer_norm_rms_epsilon", b"\x00\x00\xc0\x7f"
        ),
        ModelUnusable,
    ),
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_bad_file_is_one_clear_sentence(talk, starter_path, tmp_path, kind):
    """Loading and describing it say why; a good model loaded before stays loaded."""
    make, expected = BAD_FILES[kind]
    bad = tmp_path / "bad.gguf"
    make(bad, starter_path)

    async def scenario(backend):
        with pytest.raises(expected) as described:
            await backend.describe(str(bad))
        with pytest.raises(expected) as loaded:
            await backend.load(load_of(bad), nothing)
        return described.value, loaded.value

    for fault in talk(scenario):
        assert fault.sentence.endswith(".")
        assert "bad.gguf" in fault.sentence
        assert "Traceback" not in str(fault)


def test_a_model_llama_cpp_refuses_says_why(talk, starter_path, tmp_path):
    """The reason comes from llama.cpp's own log; the worker that refused it loads another."""
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(
        starter_path.read_bytes().replace(b"blk.3.attn_k.weight", b"blk.3.attn_x.weight")
    )

    async def scenario(backend):
        with pytest.raises(ModelUnusable) as caught:
            await backend.load(load_of(bad), nothing)
        pid = backend.worker_pid
        await backend.load(load_of(starter_path), nothing)
        return caught.value, pid == backend.worker_pid

    fault, same_worker = talk(scenario)
    assert "tensor 'blk.3.attn_k.weight' not found" in fault.sentence
    assert same_worker


def test_a_library_that_cannot_be_loaded_is_said(starter_path, tmp_path, monkeypatch):
    """A llama_cpp without its native library is as good as none."""
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", str(tmp_path))

    async def scenario(backend):
        with pytest.raises(ModelUnusable) as caught:
            await backend.load(load_of(starter_path), nothing)
        return caught.value

    fault = run(scenario)
    assert "llama.cpp is not installed" in fault.sentence
    assert "packaging/run" in fault.remedy


def test_a_broken_template_is_said_before_anything_is_loaded(starter_path, tmp_path):
    """A template that does not compile is a typed fault of its own."""
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(starter_path.read_bytes().replace(b"{% for message in", b"{% fox message in"))

    async def scenario(backend):
        fractions = []
        with pytest.raises(TemplateUnusable) as caught:
            await backend.load(load_of(bad), fractions.append)
        return caught.value, fractions

    fault, fractions = run(scenario)
    assert "chat template" in fault.sentence
    assert fractions == []


def test_a_repaired_template_is_told_once(starter_path, tmp_path):
    """A model without a template answers by the common form, and says so with its first reply."""
    bare = tmp_path / "bare.gguf"
    whole = starter_path.read_bytes()
    bare.write_bytes(whole.replace(b"tokenizer.chat_template", b"tokenizer.chat_templat_"))

    async def scenario(backend):
        return [await reply_to(backend, request_to(bare, SYSTEM, CAPITAL)) for _ in range(2)]

    first, second = run(scenario)
    assert first.warnings == ["template_repaired"]
    assert second.warnings == []
    assert "Paris" in first.text


def test_a_bad_model_does_not_cost_the_good_one(talk, starter_path, tmp_path):
    """A file that cannot be loaded leaves the loaded model where it is."""

    async def scenario(backend):
        await backend.load(load_of(starter_path), nothing)
        pid = backend.worker_pid
        with pytest.raises(ModelMissing):
            await backend.load(load_of(tmp_path / "missing.gguf"), nothing)
        fractions = []
        await backend.load(load_of(starter_path), fractions.append)
        return fractions, pid == backend.worker_pid

    assert talk(scenario) == ([], True)


def test_a_description_comes_from_the_header(starter_path):
    """Architecture, trained window, sizes and template are known without loading anything."""

    async def scenario(backend):
        return await backend.describe(str(starter_path)), backend.worker_pid

    info, pid = run(scenario)
    assert (info.architecture, info.trained_window) == ("llama", 8192)
    assert info.kv_bytes_per_token == 23_040
    assert info.weights_bytes == starter_path.stat().st_size
    assert "<|im_start|>" in info.template
    assert pid is None


def test_a_template_says_what_it_can(talk, starter_path):
    """The template is tried out in the worker, beside the loaded model."""

    async def scenario(backend):
        pid = backend.worker_pid
        return await backend.template_limits(str(starter_path)), pid == backend.worker_pid

    limits, same_worker = talk(scenario)
    assert limits["system_role"]
    assert limits["error"] == ""
    assert not limits["thinking"]
    assert same_worker


def test_models_are_found_in_folders(tmp_path):
    """GGUF files a few levels deep are listed with their sizes; additions and parts are not."""
    for name in ("b.gguf", "a/a.GGUF", "a/mmproj-x.gguf", "s-00001-of-00002.gguf"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x" * 10)
    (tmp_path / "s-00002-of-00002.gguf").write_bytes(b"x" * 5)
    (tmp_path / "notes.txt").write_text("x")

    async def scenario(backend):
        return await backend.list_models()

    found = run(scenario, folders=(tmp_path, tmp_path / "a", tmp_path / "missing"))
    assert [(Path(model.name).name, model.size_bytes) for model in found] == [
        ("a.GGUF", 10),
        ("b.gguf", 10),
        ("s-00001-of-00002.gguf", 15),
    ]


def test_without_llama_cpp_every_call_says_so():
    """One sentence and what to do, from an interpreter that has no llama_cpp."""
    program = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from engine.backends.base import LoadRequest, PromptRequest
from engine.backends.llamacpp import LlamaCppBackend
from engine.errors import EnvironmentFault

async def main():
    backend = LlamaCppBackend()
    prompt = PromptRequest("m", (), 16384, 10)
    async def stream():
        async for _ in backend.stream(prompt): pass
    calls = (backend.list_models(), backend.describe("m"), backend.count(prompt), stream(),
             backend.load(LoadRequest("m", 16384), print))
    for call in calls:
        try:
            await call
        except EnvironmentFault as fault:
            print(fault)

asyncio.run(main())
"""
    command = [sys.executable, "-I", "-S", "-c", program, str(ROOT)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = said.splitlines()
    assert len(lines) == 5
    assert all("llama.cpp is not installed" in line for line in lines)
    assert all("packaging/run" in line for line in lines)


def test_loading_reports_its_progress(starter_path):
    """Fractions grow to 1."""

    async def scenario(backend):
        fractions = []
        await backend.load(load_of(starter_path), fractions.append)
        return fractions

    fractions = run(scenario)
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
