"""The one style sheet: only for what Qt's own widgets paint; ours paint themselves."""

import re
from dataclasses import asdict
from string import Template

from app.theme.tokens import Tokens

_UNSCALED = 2  # lines of 1 and 2 px stay lines at every zoom

_SHEET = Template(
    """
QToolTip { background: $raised; color: $ink; border: 1px solid $control; border-radius: 6px;
    padding: 1px 4px; font-size: 12px; }

QMenu { background: $raised; color: $ink; border: 1px solid $control; border-radius: 8px;
    padding: 4px; }
QMenu::item { min-height: 28px; padding: 0 20px 0 12px; border-radius: 6px; }
QMenu::item:selected { background: $selected; }
QMenu::item:disabled { color: $disabled; background: transparent; }
QMenu::icon { padding-left: 8px; }
QMenu::separator { height: 1px; background: $line; margin: 4px 8px; }

QMenuBar { background: $side; color: $ink; border-bottom: 1px solid $line; }
QMenuBar::item { padding: 4px 8px; border-radius: 6px; background: transparent; }
QMenuBar::item:selected { background: $hover; }
QMenuBar::item:pressed { background: $selected; }

QScrollBar { background: transparent; border: none; margin: 0; }
QScrollBar:vertical { width: 12px; }
QScrollBar:horizontal { height: 12px; }
QScrollBar::handle { background: $thumb; border-radius: 4px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 32px; }
QScrollBar::handle:horizontal { min-width: 32px; }
QScrollBar::handle:hover, QScrollBar::handle:pressed { background: $thumbHover; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; border: none; }

QPushButton { background: $raised; color: $ink; border: 1px solid $line; border-radius: 6px;
    min-height: 26px; padding: 0 12px; font-weight: 500; }
QPushButton:hover { background: $hover; }
QPushButton:pressed, QPushButton:checked { background: $selected; }
QPushButton:disabled { color: $disabled; background: $raised; }
QPushButton:default { background: $accent; color: $onAccent; border-color: $accent; }
QPushButton:default:hover { background: $accentHover; border-color: $accentHover; }
QPushButton:default:pressed { background: $accentDown; border-color: $accentDown; }
QPushButton:default:disabled { background: $mFree; color: $disabled; border-color: $mFree; }

QLineEdit { background: $raised; color: $ink; placeholder-text-color: $ink3;
    border: 1px solid $control; border-radius: 6px; min-height: 30px; padding: 0 9px; }
QLineEdit:focus { border: 2px solid $accent; min-height: 28px; padding: 0 8px; }
QLineEdit:disabled { color: $disabled; border-color: $line; }
QLineEdit[painted="true"] { background: transparent; border: none; border-radius: 0;
    min-height: 0; padding: 0; }
"""
)


def style_sheet(tokens: Tokens, zoom: float) -> str:
    """The style sheet in the colours of `tokens`, its sizes multiplied by `zoom`."""
    names = {_camel(name): value for name, value in asdict(tokens).items()}
    names["thumb"] = _faded(tokens.control, 40)
    names["thumbHover"] = _faded(tokens.control, 60)
    return re.sub(r"(\d+)px", lambda found: _scaled(int(found[1]), zoom), _SHEET.substitute(names))


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


def _scaled(value: int, zoom: float) -> str:
    return f"{value if value <= _UNSCALED else round(value * zoom)}px"


def _faded(color: str, percent: int) -> str:
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {percent}%)"
