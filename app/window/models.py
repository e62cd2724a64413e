"""Which model answers: choosing, fetching, adding one."""

from PySide6.QtWidgets import QFileDialog

from app.client import ModelRow
from app.notices import Notice as Line
from app.window.messages import Messages

_OFFER_MS = 15_000


class Models(Messages):
    """The model picker, the first run, and what they lead to."""

    def refresh_models(self) -> None:
        """Ask again what can be chosen."""
        self._bridge.ask(lambda c: c.models(), self._show_model_rows)

    def _show_model_rows(self, rows: tuple[ModelRow, ...]) -> None:
        self._models = {row.name: row for row in rows}
        self.picker.set_models(rows, self._model)
        self._bridge.ask(lambda c: c.ollama_host(), self._show_ollama)
        starter = next((row for row in rows if row.source == "starter"), None)
        if starter is not None:
            self.parts.first_run.set_starter(starter.title, starter.size_bytes)
        self.parts.transcript.set_titles({row.name: row.title for row in rows if row.title})
        self._show_titles()
        self._choose_page()

    def _show_titles(self) -> None:
        """The model's name for people, wherever it stands."""
        title = self._title_of(self._model)
        row = self._models.get(self._model)
        self.parts.composer.set_model(title)
        self.parts.header.set_model(title, row.window_tokens if row else 0)
        self.parts.header.set_cloud(on=self._is_cloud(self._model))
        self.parts.empty.set_model(title, self._budget)
        if self._model_state is not None:
            state = self._model_state
            self.parts.sidebar.set_model_state(self._title_of(state.name), state)

    def _show_ollama(self, host: str) -> None:
        found = [r for r in self._models.values() if r.source == "ollama" and not r.cloud]
        largest = max(found, key=lambda row: row.size_bytes, default=None)
        name = largest.title if largest is not None else ""
        self.parts.first_run.set_ollama(host, len(found), name)

    def show_models(self) -> None:
        """Open the model picker under the header's chip."""
        self.refresh_models()
        self.picker.open_at(self.parts.header.chip_corner())

    def _use_model(self, name: str) -> None:
        here = self._id
        self._model = name
        self._bridge.ask(lambda c: c.use_model(here or None, name))

    def _tell_refused(self, name: str) -> None:
        row = self._models.get(name)
        if row is not None and row.cloud:
            self._offer_cloud(row)
        elif row is not None:
            self.say(row.reason, tone="red")

    def _offer_cloud(self, row: ModelRow) -> None:
        """Say what using a model of ollama.com would come to, and where it is allowed."""
        words = self.tr(
            "{} runs on ollama.com: your messages and files would leave this computer."
        )
        line = Line(
            words.format(row.title),
            "cloud",
            "amber",
            "allow_cloud",
            self.tr("Allow in Preferences…"),
            key="cloud",
            lasts_ms=_OFFER_MS,
        )
        self.parts.notices.say(line)

    def _open_file(self) -> None:
        path, _ = QFileDialog.getOpenFileName(
            self, self.tr("Open a GGUF file"), "", self.tr("Models (*.gguf)")
        )
        if path:
            self._add_file(path)

    def _add_file(self, path: str) -> None:
        self._bridge.ask(lambda c: c.add_gguf(path), self._added)

    def _added(self, name: str) -> None:
        self.refresh_models()
        self._use_model(name)

    def _stop_fetch(self) -> None:
        self._bridge.ask(lambda c: c.cancel_fetch())
