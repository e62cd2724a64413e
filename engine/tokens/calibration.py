"""Learning how far an estimate is off for a model, from what its backend really counted.

Too small an estimate overflows the window, too large a one only compacts early: the ratio rises at
once and falls slowly.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.errors import SettingsUnusable
from engine.paths import atomic_write, make_private

LEAST_RATIO = 0.5
MOST_RATIO = 12.0
"""Beyond it something else was counted than was estimated."""
LARGEST_STEP_DOWN = 0.1
FEWEST_TOKENS = 64
"""A smaller prompt says more about the template around it than about the estimate."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What estimates for a model are multiplied with; 1.0 as long as nothing is known."""

    ratio: float = 1.0

    def learn(self, estimated_tokens: int, exact_tokens: int) -> "Calibration":
        """After one prompt was both estimated (without calibration) and counted.

        Up at once to the ratio seen, down at most 10 % a step, within 0.5…12. A prompt of fewer
        than 64 tokens teaches nothing.
        """
        if estimated_tokens < FEWEST_TOKENS or exact_tokens <= 0:
            return self
        seen = min(exact_tokens / estimated_tokens, MOST_RATIO)
        return Calibration(max(LEAST_RATIO, seen, self.ratio * (1 - LARGEST_STEP_DOWN)))

    def apply(self, tokens: int) -> int:
        """An estimate, calibrated, rounded up; the safety margin is not in it."""
        return math.ceil(tokens * self.ratio)


UNCALIBRATED = Calibration()


class CalibrationBook:
    """The calibrations of all models; kept in one small file.

    By the digest of a model's content where that is told, so that copies share what was learned
    and another model under an old name begins anew; else by name. `names` says which digest a name
    had last.
    """

    def __init__(
        self, ratios: Mapping[str, float] | None = None, names: Mapping[str, str] | None = None
    ) -> None:
        self._known = {key: Calibration(ratio) for key, ratio in (ratios or {}).items()}
        self._names = dict(names or {})

    @classmethod
    def load(cls, file: Path) -> "CalibrationBook":
        """Read a book; whatever is missing or makes no sense is left out, nothing is raised."""
        try:
            known = json.loads(file.read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return cls()
        if not isinstance(known, dict):
            return cls()
        ratios = {key: float(ratio) for key, ratio in known.items() if _makes_sense(ratio)}
        return cls(ratios, {n: d for n, d in known.items() if isinstance(d, str) and d})

    def save(self, file: Path) -> None:
        """Replace the file in one step, readable for its user only. Raises SettingsUnusable."""
        make_private(file.parent, fault=SettingsUnusable)
        ratios = {key: calibration.ratio for key, calibration in self._known.items()}
        kept = json.dumps({**ratios, **self._names}, indent=1, sort_keys=True)
        atomic_write(file, kept + "\n")

    def of(self, model: str, digest: str = "") -> Calibration:
        """A model's calibration; the neutral one if nothing was learned.

        `digest` is that of its content; "" for the one the name had last.
        """
        known = self._names.get(model, model)  # by name only: from before digests were told
        key = digest if digest and (digest in self._known or model in self._names) else known
        return self._known.get(key, UNCALIBRATED)

    def learn(
        self, model: str, estimated_tokens: int, exact_tokens: int, digest: str = ""
    ) -> Calibration:
        """Learn from one counted prompt of a model; its calibration from now on."""
        key = digest or self._names.get(model, model)
        learned = self._known[key] = self.of(model, digest).learn(estimated_tokens, exact_tokens)
        if digest:
            self._names[model] = digest
            self._known.pop(model, None)
        return learned


def _makes_sense(ratio: object) -> bool:
    if isinstance(ratio, bool) or not isinstance(ratio, (int, float)):
        return False
    return LEAST_RATIO <= ratio <= MOST_RATIO
