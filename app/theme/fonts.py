"""The type of the window: roles, families with their fall-backs, and the bundled files."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from PySide6.QtGui import QFont, QFontDatabase, QGuiApplication

from engine.paths import resources_dir

Role = Literal[
    "display",
    "empty",
    "page",
    "word",
    "title",
    "reading",
    "reading_plain",
    "summary",
    "spoken",
    "interface",
    "interface_medium",
    "interface_bold",
    "small",
    "small_medium",
    "small_bold",
    "tiny",
    "tiny_medium",
    "code",
    "code_inline",
    "chip",
]
Face = Literal["serif", "sans", "mono"]
ReadingFace = Literal["book", "plain", "system"]


@dataclass(frozen=True, slots=True)
class Type:
    """One role's face, weight, and size and line height in px at zoom 1."""

    face: Face
    weight: int
    size: float
    line: int


TYPES: dict[Role, Type] = {
    "display": Type("serif", 600, 28, 36),  # first run
    "empty": Type("serif", 600, 24, 32),  # the empty conversation
    "page": Type("serif", 600, 20, 28),  # a page of a dialog
    "word": Type("serif", 600, 16, 20),  # the name over the sidebar
    "title": Type("sans", 600, 14, 20),  # the conversation's title
    "reading": Type("serif", 400, 16, 26),  # the model's replies
    "reading_plain": Type("sans", 400, 15, 26),  # the same in CJK and right-to-left scripts
    "summary": Type("serif", 400, 14, 22),  # the compaction card
    "spoken": Type("sans", 400, 15, 24),  # the user's messages, the composer
    "interface": Type("sans", 400, 13, 20),
    "interface_medium": Type("sans", 500, 13, 20),  # buttons, the current row
    "interface_bold": Type("sans", 600, 13, 20),  # titles, card heads
    "small": Type("sans", 400, 12, 16),  # receipts, help, status line
    "small_medium": Type("sans", 500, 12, 16),  # chips, meter figures
    "small_bold": Type("sans", 600, 12, 16),  # table heads
    "tiny": Type("sans", 400, 11, 16),  # times in the sidebar
    "tiny_medium": Type("sans", 500, 11, 16),  # groups, badges, the label of code
    "code": Type("mono", 400, 13, 20),
    "code_inline": Type("mono", 400, 13.5, 20),
    "chip": Type("mono", 400, 12, 20),  # tags that hold exact values
}

_BUNDLED: dict[Face, str] = {"sans": "Inter", "serif": "Literata", "mono": "JetBrains Mono"}
_SYSTEM: dict[Face, dict[str, tuple[str, ...]]] = {
    "sans": {
        "darwin": (".AppleSystemUIFont",),
        "win32": ("Segoe UI Variable Text", "Segoe UI"),
        "linux": ("Noto Sans", "DejaVu Sans"),
    },
    "serif": {
        "darwin": ("Georgia",),
        "win32": ("Georgia", "Cambria"),
        "linux": ("Noto Serif", "DejaVu Serif"),
    },
    "mono": {
        "darwin": ("SF Mono", "Menlo"),
        "win32": ("Cascadia Mono", "Consolas"),
        "linux": ("Noto Sans Mono", "DejaVu Sans Mono"),
    },
}
_HAN: dict[str, dict[str, tuple[str, ...]]] = {
    "zh": {
        "darwin": ("PingFang SC",),
        "win32": ("Microsoft YaHei UI",),
        "linux": ("Noto Sans CJK SC", "Source Han Sans SC", "Droid Sans Fallback"),
    },
    "ja": {
        "darwin": ("Hiragino Sans",),
        "win32": ("Yu Gothic UI",),
        "linux": ("Noto Sans CJK JP",),
    },
    "ko": {
        "darwin": ("Apple SD Gothic Neo",),
        "win32": ("Malgun Gothic",),
        "linux": ("Noto Sans CJK KR",),
    },
}
_EMOJI = {
    "darwin": ("Apple Color Emoji",),
    "win32": ("Segoe UI Emoji",),
    "linux": ("Noto Color Emoji",),
}


def families(
    face: Face, language: str = "en", *, bundled: bool = True, platform: str = sys.platform
) -> list[str]:
    """Families of a face in the order in which glyphs are looked for.

    Han forms differ by language, so the face of the interface's own `language` ("zh", "ja",
    "zh_CN") comes first among them.
    """
    system = platform if platform in _EMOJI else "linux"
    spoken = language[:2]
    order = sorted(_HAN, key=lambda code: code != spoken)
    names = [_BUNDLED[face]] if bundled else []
    names += _SYSTEM[face][system]
    for code in order:
        names += _HAN[code][system]
    return [*names, *_EMOJI[system]]


@cache
def load_fonts(folder: Path | None = None) -> tuple[str, ...]:
    """Make the bundled families known to Qt, once; gives their names.

    A file that is missing or unreadable is left out: the system's faces stand in.
    """
    found: dict[str, None] = {}
    for path in sorted((folder or resources_dir() / "fonts").glob("*.ttf")):
        number = QFontDatabase.addApplicationFont(str(path))
        if number >= 0:
            found.update(dict.fromkeys(QFontDatabase.applicationFontFamilies(number)))
    return tuple(found)


def make_font(
    face: Face, weight: int, pixels: int, *, language: str = "en", bundled: bool = True
) -> QFont:
    """A font of a face: tabular figures, no ligatures in code, hinting as the screen needs."""
    font = QFont()
    font.setFamilies(families(face, language, bundled=bundled))
    font.setPixelSize(max(1, pixels))
    font.setWeight(QFont.Weight(weight))
    ratios = [screen.devicePixelRatio() for screen in QGuiApplication.screens()]
    font.setHintingPreference(plan_hinting(ratios))
    features = {"liga": 0, "calt": 0} if face == "mono" else {"tnum": 1}
    if face == "sans":
        features |= {"ss03": 1, "cv05": 1}  # Inter: round quotes, an l that is not an I
    for tag, value in features.items():
        font.setFeature(QFont.Tag(tag), value)
    return font


def plan_hinting(ratios: Iterable[float], platform: str = sys.platform) -> QFont.HintingPreference:
    """Vertical hinting sharpens at whole scales; at broken ones and on macOS it distorts."""
    if platform != "darwin" and all(float(ratio).is_integer() for ratio in ratios):
        return QFont.HintingPreference.PreferVerticalHinting
    return QFont.HintingPreference.PreferNoHinting
