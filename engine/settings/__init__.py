"""Every setting once: read from TOML and the environment, checked, saved without losing a line.

::

    settings = load_settings(paths.settings_file)     # never fails for what is in the file
    settings["context.cap_tokens"]                    # valid: type, bounds, choices
    settings.model("ollama:qwen3:8b").temperature     # None: not set
    settings.problems                                 # what has no effect, with line and range
    save_setting(paths.settings_file, "language", "zh")

A setting comes from the environment (``PORTHOLE_CONTEXT_CAP_TOKENS``), else the file, else its
default. What is unknown or invalid is reported, has no effect and stays in the file, as do comments
and order. tomlkit is imported by a save, tomllib only when there is a file.
"""

from engine.settings.load import (
    NOT_SETTINGS,
    ModelSettings,
    Origin,
    Problem,
    Settings,
    load_settings,
)
from engine.settings.models import MODEL_SETTINGS
from engine.settings.save import (
    save_model_setting,
    save_setting,
    set_broken_aside,
    unset_model_setting,
    unset_setting,
)
from engine.settings.setting import Kind, Setting, Value
from engine.settings.table import (
    SETTINGS,
    TOMBSTONES,
    Tombstone,
    settings_markdown_table,
)

__all__ = [
    "MODEL_SETTINGS",
    "NOT_SETTINGS",
    "SETTINGS",
    "TOMBSTONES",
    "Kind",
    "ModelSettings",
    "Origin",
    "Problem",
    "Setting",
    "Settings",
    "Tombstone",
    "Value",
    "load_settings",
    "save_model_setting",
    "save_setting",
    "set_broken_aside",
    "settings_markdown_table",
    "unset_model_setting",
    "unset_setting",
]
