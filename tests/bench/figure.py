"""What a measurement comes to: a value beside its baseline, and whether the goal is met."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """A measured value beside its baseline; `goal` is for the ratio, or for the value itself."""

    value: float
    unit: str
    baseline: float
    baseline_name: str
    goal: str
    is_met: bool

    def line(self, name: str) -> str:
        ratio = self.value / self.baseline if self.baseline else float("nan")
        verdict = "ok" if self.is_met else "SHORT"
        return (
            f"{name} {self.value:.4g} {self.unit} | {self.baseline_name} {self.baseline:.4g} | "
            f"{ratio:.3f} | {self.goal} | {verdict}"
        )
