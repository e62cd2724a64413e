"""The preferences: their window, and what a changed setting does to this one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from app.client import ModelRow
from app.client.preferences import SettingsState, Spot
from app.preferences import (
    MEASURES,
    PreferencesWindow,
    SettingsWatch,
    apply_appearance,
    plan_appearance,
)
from app.theme import theme_of
from app.window.models import Models
from engine.errors import EnvironmentFault

_OF_MODELS = ("ollama.token", "ollama.allow_cloud")
"""Settings on which it depends what can be chosen."""
_ZOOM_STEP = 10
_ZOOM_RANGE = (80, 200)


class Preferences(Models):
    """Shows and changes settings; follows the file; theme, size and width at once."""

    def begin_preferences(self) -> None:
        """Read the settings and follow their file from now on; once, when the window is made."""
        self._settings: SettingsState | None = None
        self._settings_asked = 0
        self.preferences: PreferencesWindow | None = None
        self._watch = SettingsWatch(self)
        self._watch.changed.connect(
            lambda: self._ask_settings(lambda c, model: c.preferences.reread(model))
        )
        self._ask_settings(lambda c, model: c.preferences.read(model))
        self.parts.composer.think.chosen.connect(self._choose_thinking)

    def preference_handlers(self) -> dict[str, Callable[[], object]]:
        """What these actions do."""
        return {
            "settings": self.show_preferences,
            "zoom_in": lambda: self._zoom_to(round(theme_of().zoom * 100) + _ZOOM_STEP),
            "zoom_out": lambda: self._zoom_to(round(theme_of().zoom * 100) - _ZOOM_STEP),
            "zoom_reset": lambda: self._zoom_to(100),
            "theme_system": lambda: self._choose_scheme("system"),
            "theme_light": lambda: self._choose_scheme("light"),
            "allow_cloud": lambda: self.show_preferences("ollama.allow_cloud"),
            "theme_dark": lambda: self._choose_scheme("dark"),
        }

    def show_preferences(self, key: str = "") -> None:
        """Open the preferences, at a setting if one is named."""
        if self.preferences is None:
            self.preferences = self._make_preferences()
            self._show_settings_models()
            if self._settings is not None:
                self.preferences.set_state(self._settings)
        window = self.preferences
        here = self._model
        self._ask_settings(lambda c, _: c.preferences.read(here))
        window.show()
        window.raise_()
        window.activateWindow()
        if key:
            window.show_setting(key)

    def show_window_setting(self, model: str) -> None:
        """Open the preferences where the window of a model is set."""
        self.show_preferences("context_window")
        self._ask_settings(lambda c, _: c.preferences.read(model))

    def _make_preferences(self) -> PreferencesWindow:
        made = PreferencesWindow(self)
        made.changed.connect(self._save_setting)
        made.reset_requested.connect(self._reset_setting)
        made.restore_requested.connect(
            lambda entries: self._ask_settings(lambda c, m: c.preferences.restore(entries, m))
        )
        made.set_aside_requested.connect(
            lambda: self._ask_settings(lambda c, model: c.preferences.set_aside(model))
        )
        made.model_chosen.connect(
            lambda label: self._ask_settings(lambda c, _: c.preferences.read(label))
        )
        made.open_requested.connect(self._open_place)
        made.show_requested.connect(lambda path: self._open_place(str(Path(path).parent)))
        return made

    # ---- asking ---------------------------------------------------------------------------------

    def _ask_settings(self, work: Callable[[Any, str], Any], spot: Spot | None = None) -> None:
        """Ask the client for something that answers with all settings; the last answer is shown."""
        shown = self.preferences.model if self.preferences else ""
        model = shown or self._model
        self._settings_asked += 1

        def answered(state: SettingsState) -> None:
            self._settings_asked -= 1
            if not self._settings_asked:
                self._show_settings(state)

        def failed(fault: Exception) -> None:
            self._settings_asked -= 1
            self._tell_settings_fault(spot, fault)

        self._bridge.ask(lambda c: work(c, model), answered, failed)

    def _save_setting(self, key: str, value: object, model: str) -> None:
        spot = Spot(key, model)
        self._ask_settings(lambda c, m: c.preferences.set(spot, value, m), spot)

    def _reset_setting(self, key: str, model: str) -> None:
        spot = Spot(key, model)
        self._ask_settings(lambda c, m: c.preferences.reset(spot, m), spot)

    def _tell_settings_fault(self, spot: Spot | None, fault: Exception) -> None:
        if not isinstance(fault, EnvironmentFault):
            self.crashed.emit(fault.__cause__ or fault)
        elif spot is not None and self.preferences is not None and self.preferences.isVisible():
            self.preferences.show_fault(spot, str(fault))
        else:
            self.say(str(fault), tone="red", lasts=False)

    # ---- showing --------------------------------------------------------------------------------

    def _show_settings(self, state: SettingsState) -> None:
        before, self._settings = self._settings, state
        self._watch.watch(state.file)
        if before is not None:  # the first time, the application was dressed before it was shown
            apply_appearance(theme_of(), plan_appearance(before.values, state.values))
            if any(before.values[key] != state.values[key] for key in _OF_MODELS):
                self.refresh_models()
        width = MEASURES[str(state.values["appearance.measure"])]
        self.parts.transcript.set_column(width)
        self.parts.foot.set_column(width)
        if self.preferences is not None:
            self.preferences.set_state(state)

    def _show_model_rows(self, rows: tuple[ModelRow, ...]) -> None:
        super()._show_model_rows(rows)
        self._show_settings_models()

    def _show_settings_models(self) -> None:
        if self.preferences is not None:
            rows = self._models.values()
            self.preferences.set_models([(row.name, row.title or row.name) for row in rows])

    # ---- what the menus change too --------------------------------------------------------------

    def _zoom_to(self, percent: int) -> None:
        least, most = _ZOOM_RANGE
        percent = min(max(percent, least), most)
        theme_of().set_zoom(percent / 100)
        self._save_setting("appearance.zoom", percent, "")

    def _choose_scheme(self, scheme: Any) -> None:
        theme_of().set_scheme(scheme)
        self._save_setting("appearance.scheme", scheme, "")

    def _choose_thinking(self, choice: str) -> None:
        """Tell the model that answers here how to think, from the next reply on; "" its own way."""
        if choice:
            self._save_setting("think", choice, self._model)
        else:
            self._reset_setting("think", self._model)

    def _open_place(self, path: str) -> None:
        """Open a file or folder with what the computer has for it; a missing file's folder."""
        place = Path(path)
        place = place if place.exists() else place.parent
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(place)))
