"""What the tests need beside the application: the starter model, and where things are."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path

from steps.site import Site, digest
from steps.sources import models_folder, pinned_version
from steps.work import Worker


def starter_file(site: Site) -> Path:
    """The tests' copy of the starter model; it is kept for the next time."""
    return site.cache / "starter" / str(_manifest(site)["file"]["name"])


def starter_key(site: Site) -> str:
    """Changes when another starter is wanted."""
    return digest(_manifest(site)["file"], str(site.cache))


def _manifest(site: Site) -> dict[str, dict[str, object]]:
    path = site.root / "resources" / "starter.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def provide_starter(site: Site, worker: Worker) -> None:
    """Fetch the starter model with the application's own code."""
    worker.run(
        (site.python, site.root / "packaging" / "fetch_starter.py", starter_file(site).parent),
        failure="The tests need the starter model.",
        on_line=lambda line: line,
    )


def plan_environ(site: Site, environ: Mapping[str, str]) -> dict[str, str]:
    """The variables the tests run with: the environment first in PATH, and where their files are."""
    models = models_folder(site, pinned_version(site))
    return {
        **environ,
        "VIRTUAL_ENV": str(site.venv),
        "PATH": f"{site.venv / 'bin'}{os.pathsep}{environ.get('PATH', '')}",
        "PORTHOLE_TEST_MODEL": str(starter_file(site)),
        "PORTHOLE_TEST_TEMPLATES": str(models / "templates"),
        "PORTHOLE_TEST_VOCABS": str(models),
    }
