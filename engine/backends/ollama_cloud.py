"""Which of a server's models run on ollama.com, and whether they may be used.

An Ollama server sends what is said to such a model on: it leaves the user's machines. The name may
say so, the server's list, or the model's description; ollama.com itself runs nothing else. Without
the user's word nothing at all is sent for them, not even to the user's own server.
"""

from collections.abc import Awaitable, Callable, Iterable

from engine.backends import ollama_faults as faults
from engine.backends.base import ModelSummary
from engine.backends.ollama_wire import Json, full_name, is_cloud_name, mapping
from engine.errors import BackendRefused


class CloudGate:
    """What is known of one server's models.

    Args:
        document: asks the server: method and path.
        allowed: the user's word; may be set at any time.
        everything: the server is ollama.com.
    """

    def __init__(
        self,
        document: Callable[[str, str], Awaitable[Json]],
        *,
        allowed: bool,
        everything: bool = False,
    ) -> None:
        self.allowed = allowed
        self.everything = everything
        self._document = document
        self._known: dict[str, bool] = {}

    def note(self, model: str, *, cloud: bool) -> None:
        """The server said of a model whether it runs on ollama.com."""
        self._known[full_name(model)] = cloud

    def note_list(self, models: Iterable[ModelSummary]) -> None:
        """The server listed its models."""
        for model in models:
            self.note(model.name, cloud=model.cloud)

    def is_cloud(self, model: str) -> bool:
        """Whether a model runs on ollama.com, as far as is known."""
        known = self._known.get(full_name(model), False)
        return self.everything or is_cloud_name(model) or known

    def is_known(self, model: str) -> bool:
        """Whether the server need not be asked for it."""
        return self.is_cloud(model) or full_name(model) in self._known

    def require(self, model: str) -> None:
        """Raises ModelUnusable for a model of ollama.com unless those are allowed."""
        if not self.allowed and self.is_cloud(model):
            raise faults.cloud_model(model)

    async def admit(self, model: str) -> bool:
        """Whether a model runs on ollama.com, and may. Raises ModelUnusable if it must not.

        Asks the server, which may be told to leave ollama.com alone.
        """
        self.require(model)
        if not self.is_cloud(model):
            return False
        try:
            status = await self._document("GET", "/api/status")
        except BackendRefused:  # servers before 0.16.2 cannot tell
            return True
        if is_switched_off(status):
            raise faults.cloud_off(model)
        return True


def is_switched_off(status: Json) -> bool:
    """Whether the server's `/api/status` says that it runs nothing on ollama.com."""
    return mapping(status.get("cloud")).get("disabled") is True
