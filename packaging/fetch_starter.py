"""Fetch the starter model: `fetch_starter.py FOLDER`, run by the environment's Python.

Progress goes to stdout line by line, for the set-up to show.
"""

import asyncio
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

from engine.errors import DownloadFailed  # noqa: E402  # needs the path above
from engine.starter import FetchProgress, fetch_starter, load_manifest  # noqa: E402  # as above


def show(progress: FetchProgress) -> None:
    """One line: megabytes and time left."""
    left = "" if progress.seconds_left is None else f", {progress.seconds_left:.0f} s left"
    done, total = progress.done_bytes / 1e6, progress.total_bytes / 1e6
    sys.stdout.write(f"{done:.0f} of {total:.0f} MB{left}\n")
    sys.stdout.flush()


def main() -> int:
    """Fetch; the exit code is 3 when that cannot be done."""
    manifest = load_manifest(ROOT / "resources" / "starter.toml")
    try:
        asyncio.run(fetch_starter(Path(sys.argv[1]), manifest, show))
    except DownloadFailed as failure:
        sys.stdout.write(f"{failure.sentence}\n")
        return 3
    except KeyboardInterrupt:
        return 130
    return 0


sys.exit(main())
