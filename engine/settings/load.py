"""From the file and the environment to values that can be relied on.

::

    settings.toml ─▶ document ─▶ _FileReader ──┐
                                 (problems)    ├─▶ Settings: environment > file > default
    PORTHOLE_*   ────────────▶ _read_environ ──┘

Whatever cannot be understood becomes a `Problem` and the default applies; it stays in the file.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from engine.settings.document import (
    Document,
    KeyPath,
    Statement,
    line_of,
    read_document,
    statements,
)
from engine.settings.models import MODEL_SETTINGS, MODEL_TABLE
from engine.settings.setting import (
    ENVIRONMENT_PREFIX,
    Setting,
    Value,
    nearest,
    shown,
    variable_of,
)
from engine.settings.table import (
    SETTINGS,
    TOMBSTONES,
    Tombstone,
    tombstones_by_key,
)

NOT_SETTINGS = ("PORTHOLE_PROFILE", "PORTHOLE_LLAMA_WHEELS", "PORTHOLE_RETRY_LLAMA")
"""Variables of the same family that mean something to other parts; PORTHOLE_TEST_* are more."""

Origin = Literal["default", "file", "environment"]
"""Where a setting's value comes from."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in the file or the environment that has no effect, or not the one it looks like.

    `key` is dotted as in the file, or the variable's name; `line` is the file's, 0 for a variable
    and where it is unknown. `message` is one sentence.
    """

    key: str
    line: int
    message: str

    def __str__(self) -> str:
        place = f"Settings, line {self.line}: " if self.line else "Settings: "
        return place + self.message


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What the user set for one model; None: not set, something more general decides."""

    context_window: int | None = None
    stretch: Literal["off", "auto", "yarn"] | None = None
    kv_type: Literal["f16", "q8_0"] | None = None
    system_prompt: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    repeat_penalty: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    think: Literal["off", "on", "low", "medium", "high", "max"] | None = None
    thinking_history: Literal["drop", "last", "keep"] | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings as they apply; without arguments, the defaults.

    ``settings["context.cap_tokens"]`` is always valid for its `Setting`: type, bounds, choices.
    Lists are tuples. An unknown key raises KeyError: it is a bug.
    """

    values: Mapping[str, Value] = field(
        default_factory=dict, repr=False
    )  # there are secrets in it
    models: Mapping[str, ModelSettings] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    origins: Mapping[str, Origin] = field(default_factory=dict)
    broken: bool = False
    """The file is not TOML: nothing of it applies, and nothing can be saved into it."""

    def __getitem__(self, key: str) -> Any:
        return self.values[key] if key in self.values else SETTINGS[key].default

    def model(self, name: str) -> ModelSettings:
        """What is set for a model, by its name as the user writes it."""
        return self.models.get(name, ModelSettings())

    def origin(self, key: str) -> Origin:
        """Where this setting's value comes from."""
        return self.origins.get(key, "default")


def load_settings(
    file: Path,
    environ: Mapping[str, str] | None = None,
    *,
    tombstones: Iterable[Tombstone] = TOMBSTONES,
) -> Settings:
    """Read the settings file and the environment (`os.environ` when None).

    A missing file means defaults. Bad content is reported in `problems`, never raised; raises
    SettingsUnusable only when the file is there and cannot be read.
    """
    document = read_document(file)
    gone = tombstones_by_key(tombstones)
    reader = _FileReader(document, gone)
    reader.read()
    from_environ, environ_problems = _read_environ(
        os.environ if environ is None else environ, gone
    )
    origins: dict[str, Origin] = dict.fromkeys(reader.values, "file")
    origins.update(dict.fromkeys(from_environ, "environment"))
    return Settings(
        MappingProxyType({**reader.values, **from_environ}),
        MappingProxyType(reader.models),
        (*sorted(reader.problems, key=lambda problem: problem.line), *environ_problems),
        MappingProxyType(origins),
        broken=document.fault is not None,
    )


class _FileReader:
    """Walks a document once; `values`, `models` and `problems` are its results."""

    def __init__(self, document: Document, gone: Mapping[str, Tombstone]) -> None:
        self._document = document
        self._gone = gone
        self._statements: list[Statement] | None = None
        self.values: dict[str, Value] = {}
        self.models: dict[str, ModelSettings] = {}
        self.problems: list[Problem] = []

    def read(self) -> None:
        if self._document.fault is not None:
            self.problems.append(_broken_problem(self._document))
            return
        self._walk(self._document.data, ())

    def _walk(self, table: Mapping[str, Any], path: KeyPath) -> None:
        for name, value in table.items():
            here = (*path, name)
            key = ".".join(here)
            if here == (MODEL_TABLE,):
                self._read_models(value)
            elif key in SETTINGS and len(here) == len(key.split(".")):
                self._take(SETTINGS[key], key, here, value)
            elif key in self._gone:
                self._bury(self._gone[key], here, value)
            elif key in _SECTIONS or any(buried.startswith(key + ".") for buried in self._gone):
                self._enter(key, here, value)
            else:
                self._report(here, _unknown_words(dotted(here), SETTINGS))

    def _enter(self, key: str, path: KeyPath, value: Any) -> None:
        if isinstance(value, dict):
            self._walk(value, path)
        else:
            self._report(
                path, f"{key} is a table, written [{key}], not {shown(value)}; it has no effect."
            )

    def _take(self, setting: Setting, key: str, path: KeyPath, value: Any) -> None:
        accepted = setting.accept(value)
        if accepted is None:
            default = shown(setting.default)
            self._report(
                path, f"{_invalid_words(key, setting, value)}; the default {default} applies."
            )
        else:
            self.values[setting.key] = accepted

    def _bury(self, tombstone: Tombstone, path: KeyPath, value: Any) -> None:
        self._report(path, _tombstone_words(dotted(path), tombstone))
        new = SETTINGS.get(tombstone.replacement or "")
        if new is None or _dig(self._document.data, tuple(new.key.split("."))) is not None:
            return  # dropped, or the new name is there too and wins
        self._take(new, dotted(path), path, value)

    def _read_models(self, models: Any) -> None:
        if not isinstance(models, dict):
            self._report(
                (MODEL_TABLE,),
                f'{MODEL_TABLE} is a table, written [{MODEL_TABLE}."NAME"], '
                f"not {shown(models)}; it has no effect.",
            )
            return
        for name, table in models.items():
            if isinstance(table, dict):
                self.models[name] = self._read_model(name, table)
            else:
                key = dotted((MODEL_TABLE, name))
                self._report(
                    (MODEL_TABLE, name),
                    f"{key} names a model and cannot be {shown(table)}: settings of a model are "
                    f'written under [{MODEL_TABLE}."NAME"]; it has no effect.',
                )

    def _read_model(self, model: str, table: Mapping[str, Any]) -> ModelSettings:
        values: dict[str, Any] = {}
        for name, value in table.items():
            path = (MODEL_TABLE, model, name)
            if name not in MODEL_SETTINGS:
                self._report(path, _unknown_model_words(path, value))
                continue
            accepted = MODEL_SETTINGS[name].accept(value)
            if accepted is None:
                words = _invalid_words(dotted(path), MODEL_SETTINGS[name], value)
                self._report(path, f"{words}; it has no effect.")
            else:
                values[name] = accepted
        return ModelSettings(**values)

    def _report(self, path: KeyPath, message: str) -> None:
        if self._statements is None:
            self._statements = list(statements(self._document.text))
        self.problems.append(Problem(dotted(path), line_of(self._statements, path), message))


_SECTIONS = frozenset(setting.section for setting in SETTINGS.values()) - {""}


_BY_VARIABLE = MappingProxyType({setting.variable: setting for setting in SETTINGS.values()})


def _read_environ(
    environ: Mapping[str, str], gone: Mapping[str, Tombstone]
) -> tuple[dict[str, Value], list[Problem]]:
    """Values and problems of the PORTHOLE_* variables; an empty one counts as not there."""
    values: dict[str, Value] = {}
    problems: list[Problem] = []
    for name, text in sorted(environ.items()):
        if not name.startswith(ENVIRONMENT_PREFIX) or not text or _is_elsewhere(name):
            continue
        setting, words = _meant_by(name, gone)
        if words:
            problems.append(Problem(name, 0, words))
        if setting is None or (words and environ.get(setting.variable)):
            continue  # nothing, or an old name beside the new one, which wins
        accepted = setting.accept(setting.parse(text))
        if accepted is None:
            words = _invalid_words(name, setting, text)
            problems.append(Problem(name, 0, f"{words}; it has no effect."))
        else:
            values[setting.key] = accepted
    return values, problems


def _meant_by(variable: str, gone: Mapping[str, Tombstone]) -> tuple[Setting | None, str]:
    """The setting a variable overrides, and what is wrong with its name."""
    if variable in _BY_VARIABLE:
        return _BY_VARIABLE[variable], ""
    for tombstone in gone.values():
        if variable == variable_of(tombstone.key):
            words = _tombstone_words(variable, tombstone)
            return SETTINGS.get(tombstone.replacement or ""), words
    return None, _unknown_words(variable, (*_BY_VARIABLE, *NOT_SETTINGS))


def _is_elsewhere(name: str) -> bool:
    return name in NOT_SETTINGS or name.startswith("PORTHOLE_TEST_")


def dotted(path: KeyPath) -> str:
    """A key as it is written in the file: quoted where it must be, cut where it is absurd."""
    return ".".join(part if is_bare(part) else shown(part) for part in path)


def is_bare(part: str) -> bool:
    """Whether a key needs no quotes and is short enough to be shown whole."""
    return bool(part) and len(part) <= 60 and part.isascii() and not set(part) - _BARE


_BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def _dig(data: Any, path: KeyPath) -> Any:
    """The value at a path of tables, None when there is none."""
    for name in path:
        if not isinstance(data, dict) or name not in data:
            return None
        data = data[name]
    return data


# ---- words --------------------------------------------------------------------------------------


def _broken_problem(document: Document) -> Problem:
    assert document.fault is not None
    reason, line = document.fault.reason, document.fault.line
    lines = document.text.split("\n")
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    hint = ""
    if text.lstrip().startswith(f"[{MODEL_TABLE}."):
        hint = f' A model\'s name goes in quotes: [{MODEL_TABLE}."ollama:qwen3:8b"].'
    elif "\\" in text:
        hint = " A path with backslashes goes in single quotes: 'C:\\models'."
    return Problem(
        "",
        line,
        f"the file is not valid TOML ({reason}), so none of it applies until it is mended.{hint}",
    )


def _invalid_words(name: str, setting: Setting, value: Any) -> str:
    meant = nearest(value, setting.choices) if isinstance(value, str) and setting.choices else None
    hint = f' (did you mean "{meant}"?)' if meant else ""
    return f"{name} must be {setting.allowed}, not {setting.told(value)}{hint}"


def _unknown_words(name: str, known: Iterable[str]) -> str:
    meant = nearest(name, known)
    hint = f"; did you mean {meant}?" if meant else "."
    return f"{name} is not a setting and has no effect{hint}"


def _unknown_model_words(path: KeyPath, value: Any) -> str:
    if isinstance(value, dict):
        return (
            f"{dotted(path)} is not a setting and has no effect; a model's name with a dot in it "
            f'goes in quotes: [{MODEL_TABLE}."{path[1]}.{path[2]}"].'
        )
    meant = nearest(path[2], MODEL_SETTINGS)
    hint = f"; did you mean {meant}?" if meant else "."
    return f"{dotted(path)} is not a setting of a model and has no effect{hint}"


def _tombstone_words(name: str, tombstone: Tombstone) -> str:
    if tombstone.replacement is None:
        return f"{name} is no longer a setting and has no effect: {tombstone.note}"
    return f"{name} is now called {tombstone.replacement}: {tombstone.note}"
