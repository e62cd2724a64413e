"""What a server and a model take as `think`. Pure.

::

    wanted ─┬─ the server does not know it yet, the model does not think ─▶ left out
            ├─ a level, and the server knows none yet ────────────────────▶ true
            └─ anything a model with levels does not take ────────────────▶ the nearest level
"""

from collections.abc import Collection

from engine.backends.base import Think, ThinkChoice, Warned

Version = tuple[int, int, int]

THINK_VERSION: Version = (0, 9, 0)
"""The first server that can be told to think."""
_LEVELS_VERSION: Version = (0, 11, 0)
_APART_VERSION: Version = (0, 12, 4)
_MAX_VERSION: Version = (0, 22, 0)


def think_choices(
    capabilities: Collection[str], names: Collection[str]
) -> tuple[ThinkChoice, ...] | None:
    """What a model can be told; nothing when it does not think, None when nobody says so.

    Args:
        capabilities: as the server lists them; servers before 0.6.4 list none.
        names: the model's own, and those of its architecture and family.
    """
    if not capabilities:
        return None
    if "thinking" not in capabilities:
        return ()
    if any("gptoss" in name.lower().replace("-", "") for name in names):
        return ("low", "medium", "high")  # the server ignores true and false for it
    return ("off", "on")


def plan_think(
    wanted: Think | None, choices: tuple[ThinkChoice, ...] | None, version: Version | None
) -> Think | None:
    """The `think` of a request; None leaves it out.

    Args:
        wanted: what is asked for; None leaves it to the model.
        choices: what the model takes, None if that is not known.
        version: the server's, None if it is not known; it is taken for a new one.
    """
    known = version or _MAX_VERSION
    if known < THINK_VERSION or choices == ():
        return None
    if wanted is None:  # these servers leave the thinking in the answer unless it is asked for
        return True if choices and known < _APART_VERSION else None
    if known < _LEVELS_VERSION:
        return wanted is not False
    if wanted is False and choices is not None and "off" not in choices:
        return "low"
    return "high" if wanted == "max" and known < _MAX_VERSION else wanted


def cannot_think(model: str) -> Warned:
    """The server refused what was said of thinking: it is asked again without."""
    return Warned(
        "no_thinking",
        f"Ollama cannot make “{model}” think as it is set: it was asked again without. Take its "
        "“Think” setting back.",
    )
