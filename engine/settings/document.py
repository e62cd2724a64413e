"""The settings file as text: what it says, and on which lines it says it.

tomllib says what a file means but not where, so the lines are found by asking tomllib about ever
more of them: an open string or array is never valid by itself, so the first lines that are make one
statement. That happens only when there is something to report or to check.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.errors import SettingsUnusable
from engine.paths import os_reason

MOST_BYTES = 1_048_576
"""A larger settings file is refused unread."""

_LONGEST_STATEMENT_LINES = 300

KeyPath = tuple[str, ...]
"""Where a key is: ("context", "cap_tokens")."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a text is not TOML: the parser's words, and the line, 0 when it cannot tell."""

    reason: str
    line: int


@dataclass(frozen=True, slots=True)
class Document:
    """A settings file that was read: text without byte-order mark, and its meaning.

    `data` is empty when `fault` is set. `bom`: the file starts with a byte-order mark.
    """

    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    fault: Fault | None = None
    bom: bool = False


def read_document(file: Path) -> Document:
    """Read a settings file; one that does not exist is an empty one.

    Raises SettingsUnusable when it is there and cannot be read: a folder, a device, no permission,
    larger than `MOST_BYTES`.
    """
    try:
        raw = _read(file)
    except FileNotFoundError:
        return Document()
    except (OSError, ValueError) as error:
        raise SettingsUnusable(
            f"The settings file {file} cannot be read: {os_reason(error)}.",
            "Check that it is a file you may read, or start Porthole with --profile DIR.",
        ) from error
    return parse_document(raw)


def _read(file: Path) -> bytes:
    status = os.stat(file)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(0, "It is a folder")
    if not stat.S_ISREG(status.st_mode):
        raise OSError(0, "It is not a regular file")
    if status.st_size > MOST_BYTES:
        raise OSError(0, f"It is larger than {MOST_BYTES:,} bytes")
    return file.read_bytes()


def parse_document(raw: bytes) -> Document:
    """The meaning of a settings file's bytes; what is not TOML becomes a `Fault`."""
    bom = raw.startswith(b"\xef\xbb\xbf")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Document(fault=Fault("It is not UTF-8 text", raw.count(b"\n", 0, error.start) + 1))
    data = parse_toml(text)
    if isinstance(data, Fault):
        return Document(text, fault=data, bom=bom)
    return Document(text, data, bom=bom)


def parse_toml(text: str) -> Mapping[str, Any] | Fault:
    """What a text means as TOML, or why it is none. Never raises."""
    if not text.strip():
        return {}
    import tomllib  # here: many profiles have no settings file

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return _fault(text, str(error))
    except RecursionError:
        return Fault("Something is nested too deeply", 0)
    except ValueError:  # int() has a limit of its own
        return Fault("A number is too long", 0)


def _fault(text: str, words: str) -> Fault:
    """tomllib's message, "Reason (at line 3, column 5)" or "(at end of document)", taken apart."""
    reason, _, place = words.rpartition(" (at ")
    number = place.removeprefix("line ").partition(",")[0]
    line = int(number) if number.isdecimal() else max(1, len(text.rstrip("\n").split("\n")))
    return Fault(reason or words, line)


@dataclass(frozen=True, slots=True)
class Statement:
    """A table header, or a key with its value: its path, and its lines, from 1, inclusive.

    What an inline table holds has no statement of its own.
    """

    path: KeyPath
    first_line: int
    last_line: int
    is_header: bool = False


def statements(text: str) -> Iterator[Statement]:
    """The statements of a valid TOML text, in order; ends early at an absurdly long one."""
    lines = text.replace("\r\n", "\n").split("\n")
    table: KeyPath = ()
    first = 0
    while first < len(lines):
        line = lines[first].strip()
        if not line or line.startswith("#"):
            first += 1
            continue
        for last in range(first, min(len(lines), first + _LONGEST_STATEMENT_LINES)):
            found = parse_toml("\n".join(lines[first : last + 1]))
            if not isinstance(found, Fault):
                break
        else:
            return
        is_header = line.startswith("[")
        path = _path(found) if is_header else table + _key_path(lines[first])
        if is_header:
            table = path
        yield Statement(path, first + 1, last + 1, is_header)
        first = last + 1


def _key_path(line: str) -> KeyPath:
    """The dotted key a line begins with: all before the first ``=`` that is in no quotes."""
    end = line.find("=")
    while end >= 0:
        found = parse_toml(line[:end] + "=0")
        if not isinstance(found, Fault):
            return _path(found)
        end = line.find("=", end + 1)
    raise AssertionError("a statement without a key")


def _path(data: Any) -> KeyPath:
    """The one key of each level, outermost first."""
    path: list[str] = []
    while isinstance(data, dict) and data:
        key, data = next(iter(data.items()))
        path.append(key)
        if isinstance(data, list):  # [[key]]
            data = data[0]
    return tuple(path)


def line_of(found: Iterable[Statement], path: KeyPath) -> int:
    """The line a key is set on, or the nearest thing around it; 0 when it cannot be found."""
    best, depth = 0, 0
    for statement in found:
        shared = _shared(statement.path, path)
        if shared == len(path):
            return statement.first_line
        if shared > depth and shared == len(statement.path):
            best, depth = statement.first_line, shared
    return best


def _shared(one: KeyPath, other: KeyPath) -> int:
    """How many keys two paths have in common from the left."""
    count = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        count += 1
    return count
