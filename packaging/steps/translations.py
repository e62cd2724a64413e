"""The window's languages: each catalogue becomes the file Qt loads, with PySide6's own tool."""

from pathlib import Path

from steps.site import Site, digest
from steps.work import Worker


def catalogues(site: Site) -> list[Path]:
    """The catalogues of Qt Linguist, one a language."""
    return sorted((site.root / "resources" / "translations").glob("*.ts"))


def compiled(catalogue: Path) -> Path:
    """The file Qt loads; it lies beside the catalogue and is in no repository."""
    return catalogue.with_suffix(".qm")


def translations_key(site: Site, libraries: str) -> str:
    """Names what the catalogues are compiled from: changes with a catalogue, and with the libraries' stamp."""
    texts = [path.read_text(encoding="utf-8") for path in catalogues(site)]
    return digest(texts, libraries)


def is_lost(site: Site) -> bool:
    """Whether what was compiled is no longer there."""
    return not all(compiled(path).is_file() for path in catalogues(site))


def compile_translations(site: Site, worker: Worker) -> None:
    """Compile every catalogue. Raises SetUpFailed; the window speaks English without."""
    for catalogue in catalogues(site):
        worker.run(
            (
                *(site.venv / "bin" / "pyside6-lrelease", "-silent"),
                *(catalogue, "-qm", compiled(catalogue)),
            ),
            failure=f"{catalogue.name} could not be compiled.",
        )
