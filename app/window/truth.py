"""The models window: opened from header, picker and menu; what its buttons do."""

from collections.abc import Callable

from app.client import ModelRow, WindowKnown
from app.client.window_truth import Cure, ModelTruth
from app.truth import ModelsWindow
from app.window.models import Models


class Truth(Models):
    """Shows the truth about models' windows, and has it changed."""

    models_window: ModelsWindow | None = None
    """None until it was shown for the first time."""
    _known: WindowKnown | None = None  # what was told of the open conversation's window last

    def truth_handlers(self) -> dict[str, Callable[[], object]]:
        """What these actions do."""
        return {"models": self.show_truth}

    def show_truth(self, model: str = "") -> None:
        """Open the models window at a model; "" for the one that answers here."""
        if self.models_window is None:
            self.models_window = self._make_models_window()
        window = self.models_window
        self.refresh_models()
        window.answers = self._model
        window.show_model(model or self._model)
        window.show()
        window.raise_()
        window.activateWindow()
        window.list.setFocus()

    def show_window_setting(self, model: str) -> None:
        """Show where a model's window is set."""
        self.do("settings")

    def _make_models_window(self) -> ModelsWindow:
        made = ModelsWindow(self)
        made.asked.connect(self._ask_truth)
        made.cure_chosen.connect(self._cure)
        made.window_wanted.connect(lambda name: self.show_window_setting(name))
        made.open_file_requested.connect(lambda: self.do("open_model"))
        return made

    def _ask_truth(self, model: str) -> None:
        self._bridge.ask(lambda c: c.truth.read(model), self._show_model_truth)

    def _show_model_truth(self, truth: ModelTruth) -> None:
        if self.models_window is not None:
            self.models_window.show_truth(truth)

    def _cure(self, model: str, cure: Cure) -> None:
        self._bridge.ask(lambda c: c.truth.apply(model, cure), self._cured)

    def _cured(self, truth: ModelTruth) -> None:
        self._show_model_truth(truth)
        self.refresh_models()

    def _show_model_rows(self, rows: tuple[ModelRow, ...]) -> None:
        super()._show_model_rows(rows)
        known = self._known
        if known is not None and known.model == self._model and known.window_tokens:
            # the list says what would be asked for, and a model need not be in it
            self.parts.header.set_model(self._title_of(known.model), known.window_tokens)
        if self.models_window is not None:
            self.models_window.set_models(rows)

    def _show_ollama(self, host: str) -> None:
        super()._show_ollama(host)
        if self.models_window is not None:
            self.models_window.set_models(tuple(self._models.values()), host)

    def _show_window(self, known: WindowKnown) -> None:
        self._known = known
        super()._show_window(known)
        window = self.models_window
        if window is not None and window.isVisible() and window.model == known.model:
            self._ask_truth(known.model)

    def _act_on_item(self, item_id: str, action: str) -> None:
        if action == "window_truth":
            self.show_truth()
        else:
            super()._act_on_item(item_id, action)
