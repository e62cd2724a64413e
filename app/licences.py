"""What Porthole is made of, and under which licences, for the About dialog."""

from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from engine.paths import resources_dir

_PARTS: tuple[tuple[str, str], ...] = (  # distribution, licence when its metadata does not say
    ("PySide6_Essentials", "LGPL-3.0"),
    ("shiboken6", "LGPL-3.0"),
    ("llama-cpp-python", "MIT"),
    ("ollama", "MIT"),
    ("httpx", "BSD-3-Clause"),
    ("jinja2", "BSD-3-Clause"),
    ("markdown-it-py", "MIT"),
    ("linkify-it-py", "MIT"),
    ("Pygments", "BSD-2-Clause"),
    ("platformdirs", "MIT"),
    ("tomlkit", "MIT"),
    ("sqlite-utils", "Apache-2.0"),
    ("psutil", "BSD-3-Clause"),
    ("prompt_toolkit", "BSD-3-Clause"),
)
_FONTS = ("Inter", "Literata", "JetBrainsMono")
_FONT_LICENCE = "SIL OFL 1.1"
_STARTER = "SmolLM2 135M Instruct"
_USUAL_NAMES = ("LICENSE", "LICENSE.txt", "LICENSE.md", "LICENSE.rst", "COPYING")


@dataclass(frozen=True, slots=True)
class Licence:
    """A part: its name, version ("" for a font), the licence's name, and its whole text."""

    name: str
    version: str
    kind: str
    text: str


def find_licences() -> tuple[Licence, ...]:
    """The parts that are installed here, as their own files say; fonts last. Reads small files."""
    found = [_of_distribution(name, kind) for name, kind in _PARTS]
    found.append(Licence(_STARTER, "", "Apache-2.0", _usual_text("Apache-2.0")))
    found += [_of_font(name) for name in _FONTS]
    return tuple(part for part in found if part is not None)


def _of_distribution(name: str, kind: str) -> Licence | None:
    try:
        part = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None
    facts = part.metadata
    names = [*(facts.get_all("License-File") or ()), *_USUAL_NAMES]
    places = (f"{folder}{file}" for file in names for folder in ("licenses/", ""))
    text = next((found for place in places if (found := part.read_text(place))), "")
    said = str(facts["License-Expression"] or kind) if "License-Expression" in facts else kind
    return Licence(facts["Name"], part.version, said, text or _usual_text(said))


def _usual_text(kind: str) -> str:
    """The licence's own text, for parts that come without one; the LGPL builds on the GPL."""
    kinds = ("LGPL-3.0", "GPL-3.0") if kind.startswith("LGPL-3.0") else (kind,)
    found = (_read(resources_dir() / "licences" / f"{name}.txt") for name in kinds)
    return "\n\n".join(text for text in found if text) or kind


def _of_font(name: str) -> Licence | None:
    text = _read(resources_dir() / "fonts" / f"OFL-{name}.txt")
    return Licence(name, "", _FONT_LICENCE, text) if text else None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
