"""Puts built libraries into a wheel, so that pip installs (and removes) them like any package."""

import base64
import hashlib
import os
import zipfile
from collections.abc import Iterable
from pathlib import Path


def libraries_of(build: Path) -> dict[str, Path]:
    """The shared libraries in a folder, by the name a loader asks for.

    A wheel holds no links: a library that has several names is there under each.
    """
    return {
        path.name: path
        for pattern in ("lib*.so", "lib*.so.*", "lib*.dylib")
        for path in sorted(build.glob(pattern))
    }


def add_libraries(wheel: Path, folder: str, libraries: dict[str, Path], into: Path) -> Path:
    """Write `wheel` anew with libraries in `folder`, into another directory; returns its path.

    The new wheel appears there as a whole. The list of files (RECORD) is made anew.
    """
    target = into / wheel.name
    new = into / f"{wheel.name}.{os.getpid()}"
    try:
        with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(new, "w") as out:
            _rewrite(old, out, folder, libraries)
        os.replace(new, target)
    finally:
        new.unlink(missing_ok=True)
    return target


def _rewrite(
    old: zipfile.ZipFile, out: zipfile.ZipFile, folder: str, libraries: dict[str, Path]
) -> None:
    record = next(name for name in old.namelist() if name.endswith(".dist-info/RECORD"))
    lines = []
    for name, content, mode in _contents(old, record, folder, libraries):
        entry = zipfile.ZipInfo(name)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = mode << 16
        out.writestr(entry, content)
        lines.append(f"{name},sha256={_record_hash(content)},{len(content)}\n")
    out.writestr(record, "".join(lines) + f"{record},,\n")


def _contents(
    old: zipfile.ZipFile, record: str, folder: str, libraries: dict[str, Path]
) -> Iterable[tuple[str, bytes, int]]:
    """Name, content and mode of every file of the new wheel but its RECORD; metadata last."""
    names = [info.filename for info in old.infolist() if not info.is_dir()]
    metadata = record.removesuffix("RECORD")
    for name in names:
        if not name.startswith((metadata, f"{folder}/")):
            yield name, old.read(name), 0o100644
    for name, path in libraries.items():
        yield f"{folder}/{name}", path.read_bytes(), 0o100755
    for name in names:
        if name.startswith(metadata) and name != record:
            yield name, old.read(name), 0o100644


def _record_hash(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
