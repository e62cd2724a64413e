"""The user's settings: read for the window, changed one by one, put back, at once in effect.

::

    set, reset, restore ─▶ the file ─▶ settings read again ─▶ window and meter told again
    the file, edited    ─▶ reread   ─▶                        ─▶ sessions renewed at their next turn
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from app.client.models import Models, WindowFacts
from app.client.talk import Talk
from app.client.talks import Talks
from app.wiring import Workplace, kept_options
from app.words import translate
from engine.errors import EnvironmentFault, SettingsUnusable
from engine.settings import (
    MODEL_SETTINGS,
    SETTINGS,
    ModelSettings,
    Origin,
    Settings,
    Value,
    load_settings,
    save_model_setting,
    save_setting,
    set_broken_aside,
    unset_model_setting,
    unset_setting,
)
from engine.window import ContextWindow

_ASK_SECONDS = 2.0
"""A dialog does not wait longer for a server that is asked about a model's window."""
_MODEL_KEYS = ("models.default", "compaction.model")
"""Settings that name a model."""
_UNKNOWN = WindowFacts("")


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a value is set: a key of the table, or one of a model's own, for `model`."""

    key: str
    model: str = ""

    @property
    def is_of_model(self) -> bool:
        """Whether it holds for one model only."""
        return self.key in MODEL_SETTINGS


@dataclass(frozen=True, slots=True)
class Place:
    """A file or folder of the profile; `kind` is "settings", "conversations", "models", …"""

    kind: str
    path: str


@dataclass(frozen=True, slots=True)
class SettingsState:
    """All settings as they apply, and where they come from.

    Attributes:
        values: every setting of the table.
        origins: where those come from that are no defaults.
        saved: what the file itself says; the environment may say otherwise.
        models: what is set for single models, by label.
        model: the model that windows are shown for, by label; its title for people.
        window: what that model's window is, or would be; tokens 0 while nobody could be asked.
        window_why: who decides it, in words; "" where it is not known.
        problems: sentences on what is wrong in file or environment.
        is_broken: the file is not TOML: nothing of it applies, nothing can be saved.
        file: the settings file, which need not exist.
        places: where everything lies.
    """

    values: Mapping[str, Value] = field(repr=False)  # there are secrets in it
    origins: Mapping[str, Origin] = field(default_factory=dict)
    saved: Mapping[str, Value] = field(default_factory=dict, repr=False)
    models: Mapping[str, ModelSettings] = field(default_factory=dict)
    model: str = ""
    window: WindowFacts = _UNKNOWN
    window_why: str = ""
    problems: tuple[str, ...] = ()
    is_broken: bool = False
    file: str = ""
    places: tuple[Place, ...] = ()

    def value(self, spot: Spot) -> Value | None:
        """What applies at a spot; None where nothing is set for a model."""
        if spot.is_of_model:
            found: Value | None = getattr(self.models.get(spot.model, ModelSettings()), spot.key)
            return found
        return self.values[spot.key]

    def own(self, spot: Spot) -> Value | None:
        """What the file itself says there; None when it says nothing."""
        return self.value(spot) if spot.is_of_model else self.saved.get(spot.key)

    def is_overridden(self, spot: Spot) -> bool:
        """Whether a variable of the environment decides, so that saving changes nothing now."""
        return not spot.is_of_model and self.origins.get(spot.key) == "environment"


class Preferences:
    """What a window can do with the settings; used on the client's loop.

    Args:
        workplace: settings and where they lie.
        models: what is known of windows.
        talks: the conversations in use.
        tell_facts: called to have window and meter of the shown conversation told again.
    """

    def __init__(
        self,
        workplace: Workplace,
        models: Models,
        talks: Talks,
        tell_facts: Callable[[], None],
    ) -> None:
        self._workplace = workplace
        self._models = models
        self._talks = talks
        self._tell_facts = tell_facts

    # ---- reading --------------------------------------------------------------------------------

    async def read(self, model: str = "") -> SettingsState:
        """All settings; windows are those of `model`, "" for what new conversations use."""
        settings, paths = self._workplace.settings, self._workplace.paths
        label, window = await self._window(model)
        return SettingsState(
            MappingProxyType({key: settings[key] for key in SETTINGS}),
            settings.origins,
            _saved(self._workplace),
            settings.models,
            label,
            window,
            self._why(label, window),
            tuple(str(problem) for problem in settings.problems),
            settings.broken,
            str(paths.settings_file),
            (
                Place("settings", str(paths.settings_file)),
                Place("conversations", str(paths.database)),
                Place("models", str(paths.models_dir)),
                Place("cache", str(paths.cache_dir)),
                Place("reports", str(paths.reports_dir)),
            ),
        )

    async def reread(self, model: str = "") -> SettingsState:
        """The file may have been changed: what it says now, and in effect.

        Raises SettingsUnusable when it is there and cannot be read; what applied still does then.
        """
        before = self._workplace.settings
        try:
            after = self._workplace.read_settings_again()
        except EnvironmentFault:
            self._workplace.settings = before
            raise
        if after != before:
            await self._apply()
        return await self.read(model)

    async def _window(self, model: str) -> tuple[str, WindowFacts]:
        """A model's label and window: what is loaded for the shown conversation, or would be."""
        try:
            name = self._workplace.model_name(model or None)
        except EnvironmentFault as fault:
            return model, WindowFacts(model, guard="block", guard_text=str(fault))
        loaded = self._loaded(name.label)
        if loaded is not None:
            return name.label, loaded
        try:
            async with asyncio.timeout(_ASK_SECONDS):
                return name.label, await self._models.learn_window(name, self._options(name.label))
        except EnvironmentFault as fault:
            return name.label, WindowFacts(name.label, guard="block", guard_text=str(fault))
        except TimeoutError:
            return name.label, WindowFacts(name.label)

    def _loaded(self, label: str) -> WindowFacts | None:
        for talk in self._talks.all():
            if talk.id == self._talks.shown and talk.window is not None:
                return talk.window if talk.window.model == label else None
        return None

    def _options(self, label: str) -> tuple[ModelSettings, ...]:
        """What is asked for in the shown conversation, if it is one with this model."""
        for talk in self._talks.all():
            if talk.id == self._talks.shown and talk.model == label:
                return (kept_options(talk.path),)
        return ()

    def _why(self, label: str, window: WindowFacts) -> str:
        if window.guard_text:
            return window.guard_text
        asked = self._models.asked_window(label, self._options(label))
        if asked is None or asked.tokens != window.tokens:
            return ""
        return source_sentence(asked)

    # ---- changing -------------------------------------------------------------------------------

    async def set(self, spot: Spot, value: object, model: str = "") -> SettingsState:
        """Change a setting in the file, at once in effect; the state afterwards, for `model`.

        Raises SettingsUnusable, and other faults for what names no model: nothing is changed then.
        """
        if spot.key in _MODEL_KEYS and SETTINGS[spot.key].accept(value):
            self._workplace.model_name(str(value))
        self._save(spot, value)
        return await self.reread(model)

    async def reset(self, spot: Spot, model: str = "") -> SettingsState:
        """Take a setting out of the file: its default applies. Raises as `set`."""
        self._save(spot, None)
        return await self.reread(model)

    async def restore(
        self, before: Iterable[tuple[Spot, Value | None]], model: str = ""
    ) -> SettingsState:
        """Put values back into the file, None for what was not in it. Raises as `set`."""
        for spot, value in before:
            self._save(spot, value)
        return await self.reread(model)

    async def set_aside(self, model: str = "") -> SettingsState:
        """Rename a file that is not TOML, so that settings can be saved again. Raises as `set`."""
        set_broken_aside(self._workplace.paths.settings_file)
        return await self.reread(model)

    def _save(self, spot: Spot, value: object) -> None:
        file = self._workplace.paths.settings_file
        self._workplace.paths.ensure()
        if spot.is_of_model and value is None:
            unset_model_setting(file, spot.model, spot.key)
        elif spot.is_of_model:
            save_model_setting(file, spot.model, spot.key, value)
        elif value is None:
            unset_setting(file, spot.key)
        else:
            save_setting(file, spot.key, value)

    async def _apply(self) -> None:
        """The settings are others: what was told by the old ones is told again.

        Sessions take them at their next turn: what runs ends as it began.
        """
        for talk in self._talks.all():
            if talk.window is None:
                continue
            label = self._workplace.model_name(talk.model or None).label
            if self._loads_otherwise(talk) or self._models.is_cloud(label):
                talk.window = None  # and whether it may be used
            else:
                talk.window = self._models.set_anew(talk.window)
            if talk.window is None and talk.id == self._talks.shown:
                await self._window(talk.model)  # asked now, so that it is told once and whole
        self._tell_facts()

    def _loads_otherwise(self, talk: Talk) -> bool:
        """Whether its model will be loaded in another way at the next turn."""
        if talk.session is None or talk.is_running:
            return False
        name = self._workplace.model_name(talk.model or None)
        plan = self._workplace.plan(name, (self._workplace.kept_options(talk.id),))
        return not plan.loads_as(talk.session.plan)


def _saved(workplace: Workplace) -> Mapping[str, Value]:
    """What the file says, whatever the environment says."""
    try:
        settings: Settings = load_settings(workplace.paths.settings_file, {})
    except SettingsUnusable:
        return {}
    return settings.values


def source_sentence(window: ContextWindow) -> str:
    """Who decides a window's size, for people who set it."""
    words = {
        "option": translate("Preferences", "This conversation asks for it."),
        "modelsConfig": translate("Preferences", "That is what you set for this model."),
        "manifest": translate("Preferences", "That is what comes with the model."),
        "model": translate("Preferences", "That is what the model itself says."),
        "default": translate("Preferences", "The model says nothing, so this is assumed."),
        "agentContextTokens": translate("Preferences", "The largest window allowed decides."),
        "trained": translate("Preferences", "The model was trained on no more."),
        "memory": translate("Preferences", "No more fits into this computer's memory."),
        "loaded": translate("Preferences", "That is what was really loaded."),
    }
    return words[window.source]
