"""Models of Ollama's: fetched, unloaded, deleted, looked at, from the models window."""

from collections.abc import Callable

from app.client import ModelRow, ModelsChanged, Pull, Pulling
from app.client.library import Deletion, Holdings, ModelFacts
from app.client.window_truth import ModelTruth
from app.model_dialogs import DeleteDialog, ReadingDialog
from app.notices import Notice as Line
from app.text_dialog import TextDialog
from app.truth import ModelsWindow
from app.window.truth import Truth
from app.words import joined
from engine.errors import Bug, EnvironmentFault

_ARRIVED = "arrived"
_ARRIVED_MS = 20_000


class Library(Truth):
    """What the models window can do with single models, and what is told of their fetching."""

    _pulls: tuple[Pull, ...] = ()
    _arrived = ""  # the model that was fetched last
    _awaited = ""  # it is chosen in the models window when the list has it

    def library_handlers(self) -> dict[str, Callable[[], object]]:
        """What these actions do."""
        return {"get_model": self._ask_name, "use_arrived": self._use_arrived}

    def _make_models_window(self) -> ModelsWindow:
        made = super()._make_models_window()
        made.asked.connect(self._ask_facts)
        made.looked.connect(self._look)
        made.retry_requested.connect(self.refresh_models)
        made.get_requested.connect(self._ask_name)
        made.pull_action.connect(self._act_on_pull)
        made.unload_requested.connect(self._unload)
        made.delete_requested.connect(self._ask_deletion)
        made.text_requested.connect(self._show_text)
        made.set_pulls(self._pulls)
        return made

    def _fault(self, fault: EnvironmentFault | Bug) -> None:
        """Something failed: said where it was asked for."""
        if not isinstance(fault, EnvironmentFault):
            self.crashed.emit(fault.__cause__ or fault)
        elif self.models_window is not None and self.models_window.isVisible():
            self.models_window.say(joined(fault.sentence, fault.remedy))
        else:
            self.say(joined(fault.sentence, fault.remedy), tone="red", lasts=False)

    # ---- what there is --------------------------------------------------------------------------

    def _ask_facts(self, model: str) -> None:
        self._bridge.ask(lambda c: c.library.facts(model), self._show_facts_of)

    def _show_facts_of(self, facts: ModelFacts) -> None:
        if self.models_window is not None:
            self.models_window.show_facts(facts)

    def _look(self) -> None:
        self._bridge.ask(lambda c: c.library.holdings(), self._show_holdings)

    def _show_holdings(self, holdings: Holdings) -> None:
        if self.models_window is not None:
            self.models_window.set_holdings(holdings)

    def _show_model_rows(self, rows: tuple[ModelRow, ...]) -> None:
        super()._show_model_rows(rows)
        window = self.models_window
        if window is None:
            return
        self._look()
        if self._awaited and any(row.name == self._awaited for row in rows):
            window.show_model(self._awaited)
            self._awaited = ""

    def _cured(self, truth: ModelTruth) -> None:
        super()._cured(truth)
        self._ask_facts(truth.model)

    def _show_text(self, title: str, text: str) -> None:
        ReadingDialog(title, text, self.models_window).open()

    # ---- fetching -------------------------------------------------------------------------------

    def show_pulls(self) -> None:
        """Open the models window at what is fetched."""
        pulls = self._pulls
        self.show_truth()
        if pulls and self.models_window is not None:
            first = next((pull for pull in pulls if pull.state == "pulling"), pulls[0])
            self.models_window.show_pull(first.name)

    def _ask_name(self) -> None:
        """Ask which model Ollama shall fetch."""
        if self.models_window is None or not self.models_window.isVisible():
            self.show_truth()
        about = self.tr(
            "Its name in Ollama's library, as `ollama pull` takes it: llama3.2:3b, or "
            "hf.co/user/model for one of Hugging Face. The server fetches it from the internet."
        )
        title, ok = self.tr("Get a model from Ollama"), self.tr("Get it")
        assert self.models_window is not None
        dialog = TextDialog(
            title, about, "", self.models_window, ok=ok, lines=1, can_be_empty=False
        )
        dialog.taken.connect(self._pull)
        dialog.open()

    def _pull(self, text: str) -> None:
        if self.models_window is not None:
            self.models_window.say("")
        self._bridge.ask(lambda c: c.pulls.add(text), self._begun, self._fault)

    def _begun(self, name: str) -> None:
        if self.models_window is not None:
            self.models_window.show_pull(name)

    def _act_on_pull(self, name: str, what: str) -> None:
        match what:
            case "pause":
                self._bridge.ask(lambda c: c.pulls.pause(name))
            case "resume":
                self._bridge.ask(lambda c: c.pulls.resume(name))
            case "cancel":
                self._bridge.ask(lambda c: c.pulls.cancel(name))

    def _take_library(self, told: Pulling | ModelsChanged) -> None:
        if isinstance(told, ModelsChanged):
            self._take_change(told)
            return
        failed = {pull.name for pull in self._pulls if pull.state == "failed"}
        self._pulls = told.pulls
        self.parts.sidebar.pulls.set_pulls(told.pulls)
        if self.models_window is not None:
            self.models_window.set_pulls(told.pulls)
        for pull in told.pulls:
            if pull.state == "failed" and pull.name not in failed:
                self.say(joined(pull.error, pull.remedy), tone="red", lasts=False)

    def _take_change(self, change: ModelsChanged) -> None:
        window = self.models_window
        if change.fetched:
            self._tell_arrived(change)
        if window is not None and change.gone == window.model:
            window.show_model(self._model if self._model != change.gone else "starter")
        self.refresh_models()

    def _tell_arrived(self, change: ModelsChanged) -> None:
        """A model was fetched: it can be chosen."""
        self._arrived = change.arrived
        if not change.arrived:
            text = self.tr("{} is on your server now. It does not chat, so it is not in the list.")
            self.say(text.format(change.fetched))
            return
        if self.models_window is not None and self.models_window.pull == change.fetched:
            self._awaited = change.arrived
        text = self.tr("{} is on your server now.").format(change.fetched)
        use = self.tr("Use it here")
        line = Line(text, "check", "green", "use_arrived", use, _ARRIVED, _ARRIVED_MS)
        self.parts.notices.say(line)

    def _use_arrived(self) -> None:
        self.parts.notices.withdraw(_ARRIVED)
        if self._arrived:
            self._use_model(self._arrived)

    # ---- out of memory, off the disk ------------------------------------------------------------

    def _unload(self, model: str) -> None:
        self._bridge.ask(lambda c: c.library.unload(model), self._show_unloaded, self._fault)

    def _show_unloaded(self, holdings: Holdings) -> None:
        self._show_holdings(holdings)
        self.refresh_models()

    def _ask_deletion(self, model: str) -> None:
        """Ask whether a model shall be deleted, with what that comes to."""
        if self.models_window is not None:
            self.models_window.say("")
        self._bridge.ask(lambda c: c.library.deletion(model), self._confirm, self._fault)

    def _confirm(self, deletion: Deletion) -> None:
        dialog = DeleteDialog(deletion, self.models_window)
        dialog.confirmed.connect(self._delete_model)
        dialog.open()

    def _delete_model(self, model: str) -> None:
        self._bridge.ask(lambda c: c.library.delete(model), None, self._fault)
