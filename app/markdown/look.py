"""How Markdown looks: the fonts, lines and colours a builder needs, as one value."""

from dataclasses import dataclass
from typing import Literal, Protocol

from PySide6.QtGui import QColor, QFont

CodeKind = Literal["", "key", "fn", "str", "num", "com"]
FontRole = Literal["reading", "reading_plain", "interface", "small", "code", "code_inline"]

_HEADINGS = ((20, 28), (18, 26), (16, 26))
_CODE_KINDS: tuple[CodeKind, ...] = ("key", "fn", "str", "num", "com")
BOLD = QFont.Weight.DemiBold


class Themed(Protocol):
    """What is asked of the application's theme."""

    def color(self, name: str) -> QColor:
        """The colour of a token."""
        ...

    def font(self, role: FontRole) -> QFont:
        """The font of a role, at the zoom in force."""
        ...

    def line_height(self, role: FontRole) -> int:
        """The height of a role's line, in px."""
        ...

    def px(self, value: float) -> int:
        """A measure times the zoom."""
        ...


@dataclass(frozen=True, slots=True)
class Face:
    """A font and the height of its lines in px."""

    font: QFont
    line: int


@dataclass(frozen=True, slots=True)
class Look:
    """Faces, colours and the zoom. Two looks that are equal build equal documents."""

    body: Face
    headings: tuple[Face, ...]
    code: Face
    inline_code: QFont
    signs: QFont  # of bullets and boxes, which a book face lacks
    cell: Face
    cell_head: Face
    ink: QColor
    ink2: QColor
    ink3: QColor
    accent: QColor
    code_colors: dict[CodeKind, QColor]
    zoom: float
    keep_breaks: bool = True  # a line break the author typed is shown as one

    @classmethod
    def of(cls, theme: Themed, plain: bool = False) -> "Look":  # noqa: FBT001, FBT002  # agreed
        """The look of a theme; `plain` for CJK and right-to-left text (`needs_plain_face`)."""
        role: FontRole = "reading_plain" if plain else "reading"
        body = Face(theme.font(role), theme.line_height(role))
        headings = tuple(
            Face(_sized(body.font, theme.px(size), BOLD), theme.px(line))
            for size, line in _HEADINGS
        )
        interface = theme.font("interface")
        return cls(
            body=body,
            headings=headings,
            code=Face(theme.font("code"), theme.line_height("code")),
            inline_code=theme.font("code_inline"),
            signs=_sized(interface, body.font.pixelSize(), QFont.Weight.Normal),
            cell=Face(_sized(interface, theme.px(14), QFont.Weight.Normal), theme.px(20)),
            cell_head=Face(_sized(interface, theme.px(12), BOLD), theme.px(20)),
            ink=theme.color("ink"),
            ink2=theme.color("ink2"),
            ink3=theme.color("ink3"),
            accent=theme.color("accent"),
            code_colors={kind: theme.color(f"c_{kind}") for kind in _CODE_KINDS},
            zoom=theme.px(1_000) / 1_000,
        )

    def px(self, value: float) -> int:
        """A measure times the zoom, rounded."""
        return round(value * self.zoom)


def _sized(font: QFont, pixels: int, weight: QFont.Weight) -> QFont:
    made = QFont(font)
    made.setPixelSize(pixels)
    made.setWeight(weight)
    return made
