"""Where the set-up keeps things, and its stamps: what is done already."""

import hashlib
import json
import os
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Site:
    """The folders of one set-up. `cache` is shared by all copies of Porthole on the machine."""

    root: Path
    cache: Path

    @property
    def venv(self) -> Path:
        """The virtual environment Porthole runs in."""
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        """The virtual environment's Python."""
        return self.venv / "bin" / "python"

    @property
    def own(self) -> Path:
        """The set-up's own folder; it outlives a renewal of the environment around it."""
        return self.venv / "porthole"

    @property
    def log(self) -> Path:
        """Everything the programs that were run have said."""
        return self.own / "set-up.log"

    @property
    def ready(self) -> Path:
        """Holds the shell's key while everything is in place; packaging/start.sh compares it."""
        return self.own / "ready"

    @property
    def stamps(self) -> "Stamps":
        """The record of finished steps."""
        return Stamps(self.own / "stamps.json")

    def project(self) -> dict[str, Any]:
        """The content of pyproject.toml."""
        return tomllib.loads((self.root / "pyproject.toml").read_text(encoding="utf-8"))


def find_site(root: Path, environ: Mapping[str, str], platform: str = sys.platform) -> Site:
    """The site of the copy of Porthole at `root`; its cache is made if it can be.

    The cache is the platform's. Where that cannot be written (a read-only or missing home) it lies
    in the environment instead.
    """
    site = Site(root, cache_folder(environ, platform))
    try:
        site.cache.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=site.cache).close()
    except OSError:
        site = Site(root, site.own / "cache")
        site.cache.mkdir(parents=True, exist_ok=True)
    site.own.mkdir(parents=True, exist_ok=True)
    return site


def cache_folder(environ: Mapping[str, str], platform: str) -> Path:
    """Where the platform wants Porthole's cache; the application itself uses the same folder."""
    home = Path(environ.get("HOME") or os.path.expanduser("~"))
    if platform == "darwin":
        return home / "Library" / "Caches" / "porthole"
    chosen = environ.get("XDG_CACHE_HOME", "")
    return (Path(chosen) if os.path.isabs(chosen) else home / ".cache") / "porthole"


@dataclass(frozen=True, slots=True)
class Stamps:
    """Finished steps by name, each with the key it was done for. A file, replaced as a whole."""

    path: Path

    def read(self) -> dict[str, str]:
        """All stamps; none when there is no file, or a damaged one."""
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def put(self, name: str, key: str) -> None:
        """Record a finished step."""
        replace_text(self.path, json.dumps({**self.read(), name: key}, indent=1))

    def clear(self) -> None:
        """Forget all steps."""
        self.path.unlink(missing_ok=True)


def replace_text(path: Path, text: str) -> None:
    """Write a file so that it is never seen half written."""
    new = path.with_name(f"{path.name}.{os.getpid()}")
    new.write_text(text, encoding="utf-8")
    os.replace(new, path)


def digest(*values: Any) -> str:
    """A short name for values that JSON can hold: equal values, equal names."""
    text = json.dumps(values, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
