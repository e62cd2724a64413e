"""What every part of the window's behaviour needs: the bridge, the parts, what is open now."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMainWindow, QWidget

from app.actions import Actions
from app.bridge import Bridge
from app.client import ConversationRow, ModelRow, ModelState
from app.client.models import is_cloud_label
from app.model_picker import ModelPicker
from app.notices import Notice as Line
from app.palette import Palette
from app.transcript.model import TranscriptModel
from app.window.layout import Parts

_PASSING_MS = 6_000


class WindowBase(QMainWindow):
    """The window's parts and state; behaviour comes in the classes below it."""

    shown = Signal(str)
    crashed = Signal(object)
    leaving = Signal(object)

    def __init__(self, bridge: Bridge, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._id = ""
        self._model = ""
        self._target = ""  # the message whose menu is open
        self._search = ""
        self._budget = 0  # tokens a prompt may have
        self._model_state: ModelState | None = None
        self._room = 0  # tokens; 0 while it is not known
        self._rows: tuple[ConversationRow, ...] = ()
        self._models: dict[str, ModelRow] = {}
        self._handlers: dict[str, Callable[[], object]] = {}
        self.items = TranscriptModel(self)
        self.parts = Parts(self)
        self.parts.transcript.set_model(self.items)
        self.setCentralWidget(self.parts)
        self.actions_ = Actions(self)
        self.palette_ = Palette(self)
        self.picker = ModelPicker(self)

    def do(self, action: str) -> None:
        """Do what an action of the table says."""
        handler = self._handlers.get(action)
        if handler is not None:
            handler()

    def say(self, text: str, *, tone: Any = "plain", lasts: bool = True) -> None:
        """Say something in the status line; it goes by itself if it `lasts` only a while."""
        icon = {"amber": "warning", "red": "blocked"}.get(tone, "info")
        self.parts.notices.say(Line(text, icon, tone, lasts_ms=_PASSING_MS if lasts else 0))

    def _title_of(self, model: str) -> str:
        row = self._models.get(model)
        if row is not None and row.title:
            return row.title
        return model.partition(":")[2] or model  # before the models are known

    def _is_cloud(self, model: str) -> bool:
        """Whether what is said to a model leaves this computer."""
        row = self._models.get(model)
        return is_cloud_label(model) if row is None else row.cloud

    def _ask_here(
        self,
        work: Callable[[Any, str], Any],
        then: Callable[[Any], None] | None = None,
    ) -> None:
        """Ask something about the open conversation; nothing for one that is not stored yet."""
        here = self._id
        if here:
            self._bridge.ask(lambda c: work(c, here), then)

    def _focus_composer(self) -> None:
        self.parts.composer.setFocus()
