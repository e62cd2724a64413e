"""How the window looks: tokens, the theme, icons, fonts, painting and controls.

The only package of the client that names a colour or a font. All but the tokens imports PySide6, so
nothing that runs without a window may use it; it is loaded when it is first asked for, for the
window's ground is painted with the tokens alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from app.theme.tokens import DARK, LIGHT, Scheme, Tokens

if TYPE_CHECKING:
    from app.theme.fonts import Role, load_fonts
    from app.theme.icons import app_icon
    from app.theme.theme import Theme, apply_theme, theme_of

__all__ = [
    "DARK",
    "LIGHT",
    "Role",
    "Scheme",
    "Theme",
    "Tokens",
    "app_icon",
    "apply_theme",
    "load_fonts",
    "theme_of",
]

_HOMES = {
    "Role": "fonts",
    "Theme": "theme",
    "app_icon": "icons",
    "apply_theme": "theme",
    "load_fonts": "fonts",
    "theme_of": "theme",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
