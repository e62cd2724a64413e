"""The settings of the appearance, and what they change in the theme."""

from collections.abc import Mapping
from typing import Any

from app.theme import Theme
from engine.settings import SETTINGS, Settings

MEASURES = {"narrow": 640, "medium": 720, "wide": 840}
"""The most a line of a message may be wide; px at zoom 1."""
_CONTRAST = {"system": None, "usual": False, "high": True}
KEYS = tuple(key for key in SETTINGS if key.startswith("appearance."))


def plan_appearance(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """What changed of the appearance."""
    return {key: now[key] for key in KEYS if before[key] != now[key]}


def dress(theme: Theme, settings: Settings) -> None:
    """Have the theme look as the settings say, before anything is shown."""
    apply_appearance(theme, {key: settings[key] for key in KEYS})


def apply_appearance(theme: Theme, changes: Mapping[str, Any]) -> None:
    """Have the theme look like these settings; the measure is the transcript's (`MEASURES`)."""
    for key, value in changes.items():
        match key:
            case "appearance.scheme":
                theme.set_scheme(value)
            case "appearance.zoom":
                theme.set_zoom(value / 100)
            case "appearance.reading_face":
                theme.set_reading_face(value)
            case "appearance.contrast":
                theme.set_more_contrast(_CONTRAST[value])
            case "appearance.motion":
                theme.set_motion(value)
