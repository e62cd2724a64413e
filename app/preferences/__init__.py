"""The preferences window, built from the settings table; what it needs of the theme and the file.

::

    SettingsState ─▶ PreferencesWindow ─▶ signals: changed, reset_requested, restore_requested, …
    SettingsWatch: the file was edited elsewhere      apply_appearance: what the theme is told
"""

from app.preferences.appearance import MEASURES, apply_appearance, dress, plan_appearance
from app.preferences.watch import SettingsWatch
from app.preferences.window import PreferencesWindow

__all__ = [
    "MEASURES",
    "PreferencesWindow",
    "SettingsWatch",
    "apply_appearance",
    "dress",
    "plan_appearance",
]
