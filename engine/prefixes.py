"""Prefix caches on the disk: one file a conversation, so that going on reads nothing twice.

They are a cache: losing one costs the time to read the conversation again, nothing else. They
hold what was said, so they are for the user only, and go with their conversation.
"""

import contextlib
from collections.abc import Iterable
from pathlib import Path

from engine.errors import StoreReadOnly
from engine.paths import make_private

LIMIT_BYTES = 2_000_000_000
"""All files together; 16,384 tokens of the starter take about 370 MB, of a model of 8B about 2 GB."""

FREE_BYTES = 3 * LIMIT_BYTES
"""With less than this free on the disk nothing is kept: room for words comes before time."""


class PrefixFolder:
    """The folder they lie in, kept under `limit_bytes` by removing the longest unused.

    Nothing is kept while the disk has less than `free_bytes` free.
    """

    def __init__(
        self, folder: Path, limit_bytes: int = LIMIT_BYTES, free_bytes: int = FREE_BYTES
    ) -> None:
        self._folder = folder
        self._limit_bytes = limit_bytes
        self._free_bytes = free_bytes

    def file(self, session: str) -> Path:
        """Where a conversation's prefix cache is, or would be."""
        return self._folder / f"{session}.kv"

    def prepare(self) -> bool:
        """Make the folder; False when it cannot be made, or the disk is too full."""
        import shutil

        try:
            make_private(self._folder, fault=StoreReadOnly)
        except StoreReadOnly:
            return False
        return shutil.disk_usage(self._folder).free >= self._free_bytes

    def trim(self) -> None:
        """Remove the longest unused files until the rest fits the limit."""
        found: list[tuple[float, int, Path]] = []
        for path in self._folder.glob("*.kv"):
            with contextlib.suppress(OSError):  # another process was faster
                facts = path.stat()
                found.append((facts.st_mtime, facts.st_size, path))
        for path in plan_removals(found, self._limit_bytes):
            with contextlib.suppress(OSError):
                path.unlink()

    def forget(self, session: str) -> None:
        """Remove a conversation's file, for when the conversation is deleted."""
        self.file(session).unlink(missing_ok=True)


def plan_removals(found: Iterable[tuple[float, int, Path]], limit_bytes: int) -> tuple[Path, ...]:
    """Which files go: the oldest, until the newest that stay fit `limit_bytes`.

    `found` are (time of last use, bytes, path). The newest stays whatever its size.
    """
    kept, removed = 0, []
    for number, (_, size, path) in enumerate(sorted(found, reverse=True)):
        kept += size
        if number and kept > limit_bytes:
            removed.append(path)
    return tuple(removed)
