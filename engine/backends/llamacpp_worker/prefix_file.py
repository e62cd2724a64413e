"""A prefix cache on the disk, so that a conversation continued later is not read again.

::

    PORTHOLE-PREFIX 1\n
    {"model": …, "version": …, "shape": …, "tokens": n, "bytes": n, "crc32": n}\n
    token ids, 4 bytes each, little-endian
    llama.cpp's state of the sequence

llama.cpp believes whatever it is given, so nothing reaches it that was not written by the same
version, for the same model and the same shape of context, or whose checksum differs.
"""

import hashlib
import json
import os
import zlib
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FIRST_LINE = b"PORTHOLE-PREFIX 1\n"
_SAMPLE_BYTES = 64 * 1024
_LONGEST_LINE = 4096


@dataclass(frozen=True, slots=True)
class Prefix:
    """What a sequence of a context held: its tokens and llama.cpp's state for them."""

    ids: tuple[int, ...]
    state: bytearray


def model_mark(path: Path) -> str:
    """What tells a model file from any other: its size, its first and its last bytes."""
    with path.open("rb") as file:
        digest = hashlib.sha256(file.read(_SAMPLE_BYTES))
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - _SAMPLE_BYTES))
        digest.update(file.read())
    return f"{size}-{digest.hexdigest()[:32]}"


def write_prefix(file: Path, marks: Mapping[str, Any], prefix: Prefix) -> None:
    """Write atomically, readable by the user only. `marks` says what it fits. Raises OSError."""
    ids = array("i", prefix.ids).tobytes()
    facts = {
        **marks,
        "tokens": len(prefix.ids),
        "bytes": len(prefix.state),
        "crc32": zlib.crc32(prefix.state, zlib.crc32(ids)),
    }
    part = file.with_name(file.name + ".part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as out:
            out.write(_FIRST_LINE + json.dumps(facts).encode() + b"\n")
            out.write(ids)
            out.write(prefix.state)
        part.replace(file)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def read_prefix(file: Path, marks: Mapping[str, Any]) -> Prefix | None:
    """The prefix of a file, None when it is gone, damaged, or was made for something else."""
    try:
        with file.open("rb") as source:
            if source.readline(len(_FIRST_LINE)) != _FIRST_LINE:
                return None
            facts = json.loads(source.readline(_LONGEST_LINE))
            if any(facts.get(name) != value for name, value in marks.items()):
                return None
            size = os.fstat(source.fileno()).st_size - source.tell()
            if size != 4 * facts["tokens"] + facts["bytes"]:
                return None
            ids, state = source.read(4 * facts["tokens"]), bytearray(facts["bytes"])
            source.readinto(state)
            if zlib.crc32(state, zlib.crc32(ids)) != facts["crc32"]:
                return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return Prefix(tuple(array("i", ids)), state)
