"""Says beside reserve and window fields what holds in the chosen model's window, and why."""

from collections.abc import Callable

from app.client.preferences import SettingsState, Spot
from app.client.values import ThinkFacts
from app.preferences.editors import ChoiceEditor
from app.preferences.effective import Effective, kept_words, plan_effective
from app.preferences.row import SettingRow
from app.words import joined, translate
from engine.settings import Value

RESERVE = "compaction.reserve_tokens"
FLOOR = "compaction.reserve_floor"
KEEP = "compaction.keep_recent_tokens"
THINKING = ("think", "thinking_history")
WINDOWS = ("context.cap_tokens", "context_window")


class Explainer:
    """Keeps the explanations true to what applies and to what is being typed.

    Args:
        row: gives the row of a setting, None while it is not made.
    """

    def __init__(self, row: Callable[[str], SettingRow | None]) -> None:
        self._row = row
        self._typed: dict[str, Value] = {}

    def note_typed(self, key: str, value: Value | None) -> None:
        """This stands in a field and is not applied yet; None where it makes no sense."""
        if value is None:
            self._typed.pop(key, None)
        else:
            self._typed[key] = value

    def forget(self, key: str) -> None:
        """What was typed is applied."""
        self._typed.pop(key, None)

    def forget_all(self) -> None:
        """What was typed does not count."""
        self._typed.clear()

    def explain(self, state: SettingsState, model: str) -> None:
        """Explain what applies now; `model` is the title of the model the windows are of."""
        effective = self._effective(state)
        reserve, keep = self._row(RESERVE), self._row(KEEP)
        if reserve is not None and reserve.effective is not None:
            reserve.effective.show_effective(effective, model)
        if keep is not None and state.origins.get(KEEP) != "environment":
            keep.set_note(kept_words(effective, self._value(state, KEEP)))
        for key in WINDOWS:
            row = self._row(key)
            if row is not None and state.origins.get(key) != "environment":
                self._explain_window(row, state, model, effective)
        for key in THINKING:
            row = self._row(key)
            if row is not None:
                _explain_thinking(row, state)

    def _effective(self, state: SettingsState) -> Effective:
        tokens = state.window.tokens
        return plan_effective(tokens, self._value(state, RESERVE), self._value(state, FLOOR))

    def _value(self, state: SettingsState, key: str) -> int:
        value = self._typed.get(key, state.values[key])
        assert isinstance(value, int)
        return value

    def _explain_window(
        self, row: SettingRow, state: SettingsState, model: str, effective: Effective
    ) -> None:
        tokens = state.window.tokens
        key = row.setting.key
        typed = self._typed.get(key, state.value(Spot(key, state.model)))
        row.set_note(window_words(state, model))
        if state.window_why:
            row.note.set_color("red" if state.window.guard == "block" else "ink2")
        if row.drawing is not None:
            row.drawing.setVisible(bool(tokens) and typed not in (None, tokens))
            row.drawing.set_effective(effective, model, shows_typed=False)


def _explain_thinking(row: SettingRow, state: SettingsState) -> None:
    """Offer what the chosen model takes; a model that cannot be told anything is said to be one."""
    facts = state.window.think
    said = thinking_words(facts) if row.setting.key == "think" or not facts.thinks else ""
    row.set_note(said)
    row.set_usable(usable=not said)
    if row.setting.key == "think" and isinstance(row.editor, ChoiceEditor):
        usual = ("off", "on") if said else row.setting.choices
        row.editor.offer(facts.choices or usual)


def thinking_words(facts: ThinkFacts) -> str:
    """Why nothing can be set of a model's thinking; "" where something can, or nobody knows."""
    if not facts.thinks:
        return translate("Preferences", "This model does not think.")
    if facts.choices == ():
        return translate("Preferences", "This model always thinks. It cannot be told not to.")
    return ""


def window_words(state: SettingsState, model: str) -> str:
    """What the chosen model's window is, and who decides that."""
    if not state.window.tokens:
        return state.window_why
    said = translate("Preferences", "In effect for {model}: {window}.")
    words = said.format(model=model, window=state.window.words or f"{state.window.tokens:,}")
    return joined(words, state.window_why)
