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
    """The calibrations of all models, by name; kept in one small file."""

    def __init__(self, ratios: Mapping[str, float] | None = None) -> None:
        self._by_model = {name: Calibration(ratio) for name, ratio in (ratios or {}).items()}

    @classmethod
    def load(cls, file: Path) -> "CalibrationBook":
        """Read a book; whatever is missing or makes no sense is left out, nothing is raised."""
        try:
            known = json.loads(file.read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return cls()
        if not isinstance(known, dict):
            return cls()
        return cls({name: float(ratio) for name, ratio in known.items() if _makes_sense(ratio)})

    def save(self, file: Path) -> None:
        """Replace the file in one step, readable for its user only. Raises SettingsUnusable."""
        make_private(file.parent, fault=SettingsUnusable)
        ratios = {name: calibration.ratio for name, calibration in self._by_model.items()}
        atomic_write(file, json.dumps(ratios, indent=1, sort_keys=True) + "\n")

    def of(self, model: str) -> Calibration:
        """A model's calibration; the neutral one if nothing was learned."""
        return self._by_model.get(model, UNCALIBRATED)

    def learn(self, model: str, estimated_tokens: int, exact_tokens: int) -> Calibration:
        """Learn from one counted prompt of a model; its calibration from now on."""
        learned = self._by_model[model] = self.of(model).learn(estimated_tokens, exact_tokens)
        return learned


def _makes_sense(ratio: object) -> bool:
    if isinstance(ratio, bool) or not isinstance(ratio, (int, float)):
        return False
    return LEAST_RATIO <= ratio <= MOST_RATIO
