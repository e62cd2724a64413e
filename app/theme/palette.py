"""Qt's own palette from the tokens, for whatever Qt paints itself."""

from PySide6.QtGui import QColor, QPalette

from app.theme.tokens import Tokens

_ROLES: dict[QPalette.ColorRole, str] = {
    QPalette.ColorRole.Window: "paper",
    QPalette.ColorRole.WindowText: "ink",
    QPalette.ColorRole.Base: "raised",
    QPalette.ColorRole.AlternateBase: "sunken",
    QPalette.ColorRole.Text: "ink",
    QPalette.ColorRole.PlaceholderText: "ink3",
    QPalette.ColorRole.Button: "raised",
    QPalette.ColorRole.ButtonText: "ink",
    QPalette.ColorRole.BrightText: "red",
    QPalette.ColorRole.Highlight: "selected",
    QPalette.ColorRole.HighlightedText: "ink",
    QPalette.ColorRole.Link: "accent",
    QPalette.ColorRole.LinkVisited: "accent",
    QPalette.ColorRole.ToolTipBase: "raised",
    QPalette.ColorRole.ToolTipText: "ink",
    QPalette.ColorRole.Light: "raised",
    QPalette.ColorRole.Midlight: "hover",
    QPalette.ColorRole.Mid: "line",
    QPalette.ColorRole.Dark: "control",
    QPalette.ColorRole.Shadow: "line",
    QPalette.ColorRole.Accent: "accent",
}
_DISABLED: dict[QPalette.ColorRole, str] = {
    QPalette.ColorRole.WindowText: "disabled",
    QPalette.ColorRole.Text: "disabled",
    QPalette.ColorRole.ButtonText: "disabled",
    QPalette.ColorRole.HighlightedText: "disabled",
    QPalette.ColorRole.PlaceholderText: "disabled",
    QPalette.ColorRole.Link: "disabled",
    QPalette.ColorRole.LinkVisited: "disabled",
}


def make_palette(tokens: Tokens) -> QPalette:
    """Every role of all three groups; an inactive window looks like an active one."""
    palette = QPalette()
    for role, name in _ROLES.items():
        color = QColor(getattr(tokens, name))
        palette.setColor(QPalette.ColorGroup.Active, role, color)
        palette.setColor(QPalette.ColorGroup.Inactive, role, color)
        faint = QColor(getattr(tokens, _DISABLED.get(role, name)))
        palette.setColor(QPalette.ColorGroup.Disabled, role, faint)
    return palette
