"""Every colour of the window, by the name its use has: one frozen set a scheme.

Nothing else in the client may name a colour. The contrast of each pair that occurs is computed
by a test, so a token is changed here and nowhere else. Qt-free.
"""

from dataclasses import dataclass, replace
from typing import Literal

Scheme = Literal["light", "dark"]


@dataclass(frozen=True, slots=True)
class Tokens:
    """The colours of one scheme, as "#RRGGBB"."""

    # surfaces
    paper: str  # transcript, window, dialog
    side: str  # sidebar, side panel, dialog title and navigation
    raised: str  # cards, composer, fields, plain buttons
    sunken: str  # code, table head, chips, inline code
    hover: str  # a row or button under the pointer
    selected: str  # a selected row, a toggled icon, a pressed plain button, selected text
    bubble: str  # the user's message
    # lines
    line: str  # hairlines, card and table borders: decoration
    control: str  # borders of what can be used: fields, composer, switches
    # text
    ink: str  # text
    ink2: str  # secondary text, icons
    ink3: str  # times, receipts, help, placeholders
    disabled: str  # disabled text only
    # the accent
    accent: str  # links, primary fill, focus, selection mark, caret
    accent_hover: str  # the primary button under the pointer
    accent_down: str  # the primary button pressed
    on_accent: str  # text on the three above
    # states: colour, tint, border of the tint
    amber: str  # a small window, near the limit
    amber_bg: str
    amber_line: str
    red: str  # blocked, failed, over the limit
    red_bg: str
    red_line: str
    green: str  # fits, loaded
    plum: str  # compaction, everywhere
    plum_bg: str
    plum_line: str
    # the meter
    m_system: str
    m_pins: str
    m_summary: str
    m_recent: str
    m_files: str
    m_think: str
    m_draft: str
    m_free: str  # free room; the track of progress bars
    m_hatch: str  # hatch lines of the reserve
    # the lens: bands behind messages
    l_verb: str  # sent as written
    l_short: str  # shortened
    l_fold: str  # folded
    l_not: str  # not sent
    # code
    c_key: str  # keywords
    c_str: str  # strings
    c_num: str  # numbers
    c_com: str  # comments
    c_fn: str  # names


LIGHT = Tokens(
    paper="#FBF9F4",
    side="#F3EFE6",
    raised="#FFFEFB",
    sunken="#F4F0E7",
    hover="#EDE8DC",
    selected="#DCE9EA",
    bubble="#EFEADF",
    line="#E4DDCE",
    control="#8E8676",
    ink="#1E2933",
    ink2="#4E5963",
    ink3="#60676C",
    disabled="#A09A8D",
    accent="#0F5E73",
    accent_hover="#0B4E60",
    accent_down="#083E4D",
    on_accent="#FFFFFF",
    amber="#855000",
    amber_bg="#FAEED3",
    amber_line="#E3C98F",
    red="#A3301D",
    red_bg="#FAE9E3",
    red_line="#E6BDB0",
    green="#2C6A3F",
    plum="#6D4C7D",
    plum_bg="#F3ECF3",
    plum_line="#D9C8DE",
    m_system="#44525E",
    m_pins="#A87215",
    m_summary="#7C5A8D",
    m_recent="#0F6E86",
    m_files="#5F7A36",
    m_think="#6B838C",
    m_draft="#2A8DA2",
    m_free="#E9E3D6",
    m_hatch="#B9B09E",
    l_verb="#E6F0F0",
    l_short="#FAF0DA",
    l_fold="#F3ECF3",
    l_not="#FBF9F4",
    c_key="#7A3E6B",
    c_str="#2F6A3A",
    c_num="#9A4A12",
    c_com="#676E72",
    c_fn="#0F5E73",
)

DARK = Tokens(
    paper="#121A24",
    side="#0D141D",
    raised="#182230",
    sunken="#0E1620",
    hover="#1A2532",
    selected="#17323D",
    bubble="#1D2937",
    line="#263342",
    control="#66778A",
    ink="#E8E4DA",
    ink2="#B3BAC0",
    ink3="#929DA7",
    disabled="#5B6774",
    accent="#62BACB",
    accent_hover="#7CC8D6",
    accent_down="#4CA6B8",
    on_accent="#0B1620",
    amber="#E9B35A",
    amber_bg="#2E2616",
    amber_line="#57451F",
    red="#F0907C",
    red_bg="#331D1D",
    red_line="#663631",
    green="#7FC290",
    plum="#BE9FCE",
    plum_bg="#251F31",
    plum_line="#44375A",
    m_system="#8595A3",
    m_pins="#D9A441",
    m_summary="#A884BB",
    m_recent="#3F9DB1",
    m_files="#8BA85C",
    m_think="#6A8896",
    m_draft="#8FD6E3",
    m_free="#223040",
    m_hatch="#42525F",
    l_verb="#14282F",
    l_short="#2A2418",
    l_fold="#221D2E",
    l_not="#121A24",
    c_key="#D7A3C8",
    c_str="#93C79B",
    c_num="#E2A778",
    c_com="#8C98A2",
    c_fn="#7CC5D4",
)


def high_contrast(tokens: Tokens) -> Tokens:
    """The same scheme for eyes that asked for more: real borders, no faint text, no tints."""
    plain = tokens.raised
    return replace(
        tokens,
        line=tokens.control,
        ink3=tokens.ink2,
        amber_bg=plain,
        amber_line=tokens.amber,
        red_bg=plain,
        red_line=tokens.red,
        plum_bg=plain,
        plum_line=tokens.plum,
        l_verb=tokens.paper,
        l_short=tokens.paper,
        l_fold=tokens.paper,
    )
