"""How the window looks: tokens, the theme, icons, fonts, painting and controls.

The only package of the client that names a colour or a font. It imports PySide6, so nothing
that runs without a window may import it.
"""

from app.theme.fonts import Role, load_fonts
from app.theme.icons import app_icon
from app.theme.theme import Theme, apply_theme, theme_of
from app.theme.tokens import DARK, LIGHT, Scheme, Tokens

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
