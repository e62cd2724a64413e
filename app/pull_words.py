"""The words of models that are fetched from Ollama's library: sizes, speed, time, state."""

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QLocale

from app.client import Pull
from app.words import translate

_UNITS = (("GB", 1e9, 1), ("MB", 1e6, 0), ("kB", 1e3, 0), ("B", 1.0, 0))
_SECONDS, _MINUTES, _HOURS = 90, 90 * 60, 48 * 3_600
"""Longer than this is said in the next unit."""


def size_text(size: int) -> str:
    """A size: "2.0 GB", "98 MB", "12 kB", "96 B"."""
    unit, one, digits = _unit(size)
    return f"{_number(size / one, digits)} {unit}"


def amount_text(done: int, total: int) -> str:
    """How much of it is there, in the unit of the whole: "1.2 of 2.0 GB"."""
    unit, one, digits = _unit(total)
    said = QCoreApplication.translate("Pulls", "{0} of {1} {2}")
    return said.format(_number(done / one, digits), _number(total / one, digits), unit)


def _unit(size: int) -> tuple[str, float, int]:
    return next((unit for unit in _UNITS if size >= unit[1]), _UNITS[-1])


def _number(value: float, digits: int) -> str:
    return QLocale().toString(float(value), "f", digits)


def percent(pull: Pull) -> int:
    """How much of what is known of is there, rounded down: 100 is all of it."""
    return int(100 * min(pull.done, pull.total) / pull.total) if pull.total else 0


def speed_text(pull: Pull) -> str:
    """How fast it comes, "" when that is not known."""
    if pull.per_second <= 0:
        return ""
    said = QCoreApplication.translate("Pulls", "{} a second")
    return said.format(size_text(round(pull.per_second)))


def left_text(pull: Pull) -> str:
    """About how long it takes yet, "" when that is not known."""
    seconds = pull.seconds_left
    if seconds is None or seconds > _HOURS:
        return ""
    if seconds <= _SECONDS:
        return translate("Pulls", "about %n second(s) left", "", max(1, round(seconds)))
    if seconds <= _MINUTES:
        return translate("Pulls", "about %n minute(s) left", "", round(seconds / 60))
    return translate("Pulls", "about %n hour(s) left", "", round(seconds / 3_600))


def doing_text(pull: Pull) -> str:
    """What happens to it, in a word or two."""
    if pull.state == "waiting":
        return QCoreApplication.translate("Pulls", "Waits its turn")
    if pull.state == "paused":
        return QCoreApplication.translate("Pulls", "Paused")
    if pull.state == "failed":
        return QCoreApplication.translate("Pulls", "Not fetched")
    return {
        "asking": QCoreApplication.translate("Pulls", "Asking Ollama's library"),
        "fetching": QCoreApplication.translate("Pulls", "Fetching"),
        "checking": QCoreApplication.translate("Pulls", "Checking what has arrived"),
        "finishing": QCoreApplication.translate("Pulls", "Finishing"),
    }[pull.doing]


def row_texts(pull: Pull) -> tuple[str, str]:
    """What stands under its name in a narrow place: at the start, at the end."""
    amount = amount_text(pull.done, pull.total) if pull.total else ""
    if pull.state == "pulling" and pull.doing == "fetching" and amount:
        return amount, left_text(pull)
    return doing_text(pull), amount


def whole_text(pull: Pull) -> str:
    """All that is known of how far it is, in one line."""
    amount = amount_text(pull.done, pull.total) if pull.total else ""
    parts = [amount, speed_text(pull), left_text(pull)]
    if pull.state != "pulling" or pull.doing != "fetching":
        parts.insert(0, doing_text(pull))
    return " · ".join(part for part in parts if part)


def spoken(pull: Pull) -> str:
    """A pull for a screen reader."""
    share = f"{percent(pull)} %" if pull.total else ""
    return ", ".join(part for part in (pull.name, doing_text(pull), share, pull.error) if part)


def summary(pulls: Sequence[Pull]) -> str:
    """All of them in a line: the one that is under way, or what became of it, and how many more."""
    first = next((pull for pull in pulls if pull.state == "pulling"), pulls[0])
    said = {
        "pulling": QCoreApplication.translate("Pulls", "Fetching {}"),
        "waiting": QCoreApplication.translate("Pulls", "{} waits"),
        "paused": QCoreApplication.translate("Pulls", "{} is paused"),
        "failed": QCoreApplication.translate("Pulls", "{} was not fetched"),
    }[first.state].format(first.name)
    parts = [said]
    if first.total and first.state != "failed":
        parts.append(f"{percent(first)} %")
    if len(pulls) > 1:
        parts.append(translate("Pulls", "%n more", "", len(pulls) - 1))
    return " · ".join(parts)
