"""How the window looked when it was closed: one small file, read before it is shown."""

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from engine.errors import EnvironmentFault
from engine.paths import atomic_write


@dataclass(frozen=True, slots=True)
class ViewState:
    """Place and parts of the window.

    Attributes:
        geometry: Qt's own note of place, size and screen, base64; "" for the first start.
        sidebar_width: px at zoom 1; 0 for the usual width.
        sidebar_shown: whether the user wants it where there is room.
        conversation: the one that was open, "" for a new one.
    """

    geometry: str = ""
    sidebar_width: int = 0
    sidebar_shown: bool = True
    conversation: str = ""


def load_view_state(file: Path) -> ViewState:
    """What was kept; what cannot be understood is as at the first start."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return ViewState()
    if not isinstance(content, dict):
        return ViewState()
    usual = asdict(ViewState())
    kept = {
        name: content[name] if type(content.get(name)) is type(value) else value
        for name, value in usual.items()
    }
    return ViewState(**kept)


def save_view_state(file: Path, state: ViewState) -> None:
    """Keep it; a disk that cannot be written costs only this."""
    with suppress(EnvironmentFault):
        atomic_write(file, json.dumps(asdict(state), indent=1) + "\n")
