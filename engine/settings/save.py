"""Changing one setting in the file; everything else in it stays as it was.

The text is edited by tomlkit, which keeps comments and order, and then compared with what it was:
if it means anything but the old file with that one change, or if a line that does not belong to the
changed key is gone, nothing is written.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import SettingsUnusable
from engine.paths import atomic_write, folder_lock, make_private, os_reason
from engine.settings.document import (
    Document,
    Fault,
    KeyPath,
    Statement,
    line_of,
    parse_toml,
    read_document,
    statements,
)
from engine.settings.load import dotted, is_bare
from engine.settings.models import MODEL_SETTINGS, MODEL_TABLE
from engine.settings.setting import Setting, Value, literal, nearest, shown
from engine.settings.table import SETTINGS


def save_setting(file: Path, key: str, value: object) -> None:
    """Set a setting in the file, which is made when it is missing (0600).

    Raises SettingsUnusable: unknown key, value not allowed (says what is), file broken, unreadable
    or unwritable. The file is then as it was.
    """
    accepted = _checked(key, SETTINGS.get(key), value, SETTINGS)
    _edit(file, tuple(key.split(".")), accepted)


def save_model_setting(file: Path, model: str, key: str, value: object) -> None:
    """Set a setting of one model, named as the user writes it. Raises as `save_setting`."""
    accepted = _checked(key, MODEL_SETTINGS.get(key), value, MODEL_SETTINGS)
    _edit(file, (MODEL_TABLE, _model_name(model), key), accepted)


def unset_setting(file: Path, key: str) -> None:
    """Take a setting out of the file, its own end-of-line comment with it; the default applies.

    Nothing happens when it is not there. Works for unknown keys too. Raises as `save_setting`.
    """
    _edit(file, tuple(key.split(".")), None)


def unset_model_setting(file: Path, model: str, key: str) -> None:
    """Take a setting of one model out of the file. Raises as `save_setting`."""
    _edit(file, (MODEL_TABLE, _model_name(model), key), None)


def set_broken_aside(file: Path) -> Path | None:
    """Rename a file that is not TOML to ``settings.toml.broken-N``, so that saving works again.

    Returns its new name, None when the file is fine or missing: then nothing happens. An existing
    file is never overwritten. Raises SettingsUnusable when it cannot be read or renamed.
    """
    with _locked(file):
        if read_document(file).fault is None:
            return None
        number = 1
        while (aside := file.with_name(f"{file.name}.broken-{number}")).exists():
            number += 1
        file.rename(aside)
        return aside


def _checked(
    key: str, setting: Setting | None, value: object, known: Mapping[str, Setting]
) -> Value:
    if setting is None:
        meant = nearest(key, known)
        raise SettingsUnusable(
            f"{shown(key)} is not a setting.", f"Did you mean {meant}?" if meant else ""
        )
    accepted = setting.accept(value)
    if accepted is None:
        raise SettingsUnusable(f"{key} must be {setting.allowed}, not {setting.told(value)}.")
    return accepted


def _model_name(model: str) -> str:
    if not model or MODEL_SETTINGS["system_prompt"].accept(model) is None:
        raise SettingsUnusable(f"{shown(model)} cannot be a model's name.")
    return model


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Hold the settings against another Porthole, and translate what the system refuses."""
    make_private(file.parent, fault=SettingsUnusable)
    try:
        with folder_lock(file.parent):
            yield
    except OSError as error:
        raise SettingsUnusable(
            f"The settings file {file} cannot be changed: {os_reason(error)}.",
            "It is as it was.",
        ) from error


def _edit(file: Path, path: KeyPath, value: Value | None) -> None:
    """Read, change one key (None removes it), check, write."""
    with _locked(file):
        document = read_document(file)
        if document.fault is not None:
            raise SettingsUnusable(
                f"The settings file {file} is not valid TOML in line {document.fault.line} "
                f"({document.fault.reason}), so nothing can be saved into it.",
                "Mend that line, or rename the file to start with a new one.",
            )
        if value is None and not _holds(document.data, path):
            return
        text = _edited(file, document, path, value)
        atomic_write(file, ("\ufeff" if document.bom else "") + text)


def _edited(file: Path, document: Document, path: KeyPath, value: Value | None) -> str:
    """The new text, proven to differ from the old one in nothing but this key."""
    text = document.text
    crlf = "\r\n" in text and text.count("\r\n") == text.count("\n")
    if crlf:
        text = text.replace("\r\n", "\n")
    if text and not text.endswith("\n"):
        text += "\n"
    old = _Text(text, tuple(statements(text)))
    wanted = _changed(document.data, path, value)
    if wanted is None:
        raise _in_the_way(file, old, path)
    for edit in (_inserted, _tomlkit_edited):
        new = edit(old, path, value)
        if new is not None and _means(new, wanted) and not _loses_lines(old, new, path):
            return new.replace("\n", "\r\n") if crlf else new
    raise _too_tangled(file, path, value)


@dataclass(frozen=True, slots=True)
class _Text:
    """A settings file's text, line ends as LF, the last line ended, and its statements."""

    text: str
    statements: tuple[Statement, ...]

    def __contains__(self, path: KeyPath) -> bool:
        return bool(self.lines_of(path))

    def lines_of(self, path: KeyPath) -> list[str]:
        """The lines of the statement that sets a key, be it inside an inline table."""
        lines = self.text.split("\n")
        found: list[str] = []
        for statement in self.statements:
            if not statement.is_header and statement.path == path[: len(statement.path)]:
                found += lines[statement.first_line - 1 : statement.last_line]
        return found


def _inserted(old: _Text, path: KeyPath, value: Value | None) -> str | None:
    """The text with a new key under its table's header, after the last key there.

    None when the key is there already. A table that is missing is put at the end. tomlkit would
    put the key below the comment that introduces the next table.
    """
    if value is None or path in old:
        return None
    lines = old.text.split("\n")
    key = f"{_key(path[-1])} = {literal(value)}"
    section, place, inside = path[:-1], 0, len(path) == 1
    for statement in old.statements:
        if statement.is_header:
            inside = statement.path == section
        if inside:
            place = statement.last_line
    if place or not section:
        return "\n".join([*lines[:place], key, *lines[place:]])
    gap = "\n" if old.text.strip() else ""
    return f"{old.text}{gap}[{'.'.join(map(_key, section))}]\n{key}\n"


def _key(name: str) -> str:
    return name if is_bare(name) else literal(name)


def _tomlkit_edited(old: _Text, path: KeyPath, value: Value | None) -> str | None:
    """The text with one key set or removed by tomlkit; None where it cannot.

    An end-of-line comment stays with a changed value.
    """
    import tomlkit  # here: slow to import and needed for a change only
    from tomlkit.exceptions import TOMLKitError
    from tomlkit.items import InlineTable

    try:
        document = tomlkit.parse(old.text)
        place: Any = document
        for name in path[:-1]:
            if name not in place:
                inline = isinstance(place, InlineTable)
                place[name] = tomlkit.inline_table() if inline else tomlkit.table()
            place = place[name]
        if value is None:
            del place[path[-1]]
        else:
            before = place.get(path[-1])
            place[path[-1]] = tomlkit.value(_commented(before, literal(value)))
        return tomlkit.dumps(document)
    except (TOMLKitError, ValueError, LookupError, TypeError, AttributeError):
        return None  # stricter than tomllib, and not free of faults, in odd corners


def _commented(before: Any, text: str) -> str:
    """A list's text with the comments that stood in the list it replaces, first."""
    import re

    if not isinstance(before, list) or not text.startswith("["):
        return text
    outside_strings = r"\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*'|(#[^\n]*)"
    as_written = getattr(before, "as_string", str)()
    comments = [comment for comment in re.findall(outside_strings, as_written) if comment]
    if not comments:
        return text
    return "[\n" + "".join(f"  {comment}\n" for comment in comments) + "  " + text[1:].lstrip()


def _loses_lines(old: _Text, new: str, path: KeyPath) -> bool:
    """Whether a line is gone that does not belong to the statement that sets the key."""
    gone = Counter(old.text.split("\n")) - Counter(new.split("\n"))
    gone -= Counter(old.lines_of(path))
    return any(line.strip() for line in gone)


def _in_the_way(file: Path, old: _Text, path: KeyPath) -> SettingsUnusable:
    table = dotted(path[:-1])
    return SettingsUnusable(
        f"In {file}, line {line_of(old.statements, path[:-1])}, something else is in the place of "
        f"the table [{table}].",
        f"Rename or remove it, then set {dotted(path)} again.",
    )


def _too_tangled(file: Path, path: KeyPath, value: Value | None) -> SettingsUnusable:
    place = f"under [{dotted(path[:-1])}]" if path[:-1] else "above the first table"
    setting = SETTINGS.get(".".join(path))
    words = setting.told(value) if setting is not None and setting.secret else literal(value or "")
    return SettingsUnusable(
        f"Porthole cannot change {dotted(path)} in {file} without touching the rest of it.",
        "Remove it there yourself."
        if value is None
        else f"Write {path[-1]} = {words} {place} there yourself.",
    )


def _changed(data: Mapping[str, Any], path: KeyPath, value: Value | None) -> Any:
    """What the file shall mean; None when something that is no table is in the way."""
    wanted: dict[str, Any] = deepcopy(dict(data))
    place = wanted
    for name in path[:-1]:
        below = place.setdefault(name, {})
        if not isinstance(below, dict):
            return None
        place = below
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = list(value) if isinstance(value, tuple) else value
    return wanted


def _holds(data: Mapping[str, Any], path: KeyPath) -> bool:
    place: Any = data
    for name in path:
        if not isinstance(place, dict) or name not in place:
            return False
        place = place[name]
    return True


def _means(text: str, wanted: Any) -> bool:
    """Whether a text means this; a table without keys is as good as none."""
    found = parse_toml(text)
    return not isinstance(found, Fault) and _same(_without_empty(found), _without_empty(wanted))


def _without_empty(data: Any) -> Any:
    if not isinstance(data, dict):
        return data
    kept = {name: _without_empty(below) for name, below in data.items()}
    return {name: below for name, below in kept.items() if below != {}}


def _same(one: Any, other: Any) -> bool:
    """Equal in meaning and in types; NaN equals itself."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other) or (one != one and other != other)
