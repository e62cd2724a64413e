"""Windows that were learned of models, kept from one run to the next (SPEC1 12.10).

So that a window can be told before anybody was asked: a server may be slow, or not be there yet. It
is only told by them; what is requested and what counts is asked anew in every run.
"""

import json
from pathlib import Path

from engine.errors import SettingsUnusable
from engine.paths import atomic_write, make_private
from engine.window.resolution import Claim, WindowCache, positive_tokens


class LearnedWindows:
    """The windows of models by name, tokens: what this run learned, else what an earlier one did.

    Within a run the smaller of several figures counts; a later run's replaces an earlier one's.
    """

    def __init__(self, earlier: dict[str, int] | None = None) -> None:
        self._earlier = earlier or {}
        self._cache = WindowCache()

    @classmethod
    def load(cls, file: Path) -> "LearnedWindows":
        """Read what earlier runs learned; what is missing or makes no sense is left out."""
        try:
            known = json.loads(file.read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return cls()
        if not isinstance(known, dict):
            return cls()
        return cls({name: tokens for name, value in known.items() if (tokens := _read(value))})

    def save(self, file: Path) -> None:
        """Replace the file in one step, readable for its user only. Raises SettingsUnusable."""
        make_private(file.parent, fault=SettingsUnusable)
        known = {**self._earlier, **self._cache.learned}
        atomic_write(file, json.dumps(known, indent=1, sort_keys=True) + "\n")

    def learn(self, model: str, tokens: object) -> None:
        """A window that was told of a model, or that it was loaded with; an invalid one is passed over."""
        self._cache = self._cache.learn(model, Claim(tokens))

    def look_up(self, model: str) -> int | None:
        """A model's window in tokens; None when nobody ever told."""
        return self._cache.look_up(model) or self._earlier.get(model)


def _read(value: object) -> int | None:
    return positive_tokens(value) if isinstance(value, int) else None
