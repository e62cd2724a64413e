"""Every pair of colours that occurs can be read: WCAG AA, in both schemes and high contrast."""

from dataclasses import fields

import pytest

from app.theme.tokens import DARK, LIGHT, Tokens, high_contrast

SURFACES = ("paper", "side", "raised", "sunken", "hover", "selected", "bubble")
TINTS = ("plum_bg", "amber_bg", "red_bg", "l_verb", "l_short", "l_fold", "l_not")
METER = ("m_system", "m_pins", "m_summary", "m_recent", "m_files", "m_think")
TEXT, SHAPE = 4.5, 3.0
PAIRS = [
    *[(text, under, TEXT) for text in ("ink", "ink2", "ink3") for under in SURFACES + TINTS],
    *[("accent", under, TEXT) for under in (*SURFACES[:6], "plum_bg", "amber_bg", "red_bg")],
    *[("on_accent", under, TEXT) for under in ("accent", "accent_hover", "accent_down")],
    ("on_accent", "m_recent", TEXT),  # the prompt's share in the window drawing
    *[("amber", under, TEXT) for under in ("amber_bg", "paper", "raised", "side", "l_short")],
    ("paper", "amber", TEXT),  # the current hit of a search
    ("ink", "amber_bg", TEXT),  # the other hits
    ("paper", "ink", TEXT),  # the Stop pill
    ("ink3", "m_free", SHAPE),  # the arrow of Send with nothing to send
    *[("red", under, TEXT) for under in ("red_bg", "paper", "raised")],
    *[("green", under, TEXT) for under in ("paper", "side", "raised")],
    *[("plum", under, TEXT) for under in ("plum_bg", "paper", "raised", "l_fold")],
    *[(code, "sunken", TEXT) for code in ("c_key", "c_str", "c_num", "c_com", "c_fn")],
    *[("control", under, SHAPE) for under in ("paper", "raised", "side", "sunken")],
    *[("accent", under, SHAPE) for under in SURFACES],  # the focus ring
    *[(part, "m_free", SHAPE) for part in (*METER, "m_draft", "red")],
    *[(part, "raised", SHAPE) for part in METER],
    *[(line, "paper", SHAPE) for line in ("m_recent", "m_pins", "m_summary")],  # the lens's rules
]
SETS = {
    "light": LIGHT,
    "dark": DARK,
    "light, high contrast": high_contrast(LIGHT),
    "dark, high contrast": high_contrast(DARK),
}


def luminance(color: str) -> float:
    """WCAG's relative luminance of "#RRGGBB"."""
    channels = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (
        c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """WCAG's contrast ratio of two colours."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_measure_agrees_with_the_standard():
    """Black on white is 21 : 1, and the order does not matter."""
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#FFFFFF", "#777777") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("name", SETS)
def test_every_pair_meets_aa(name):
    """No pair that occurs on the screen is fainter than AA allows."""
    tokens = SETS[name]
    faint = {
        f"{ink} on {under}": round(ratio, 2)
        for ink, under, least in PAIRS
        if (ratio := contrast(getattr(tokens, ink), getattr(tokens, under))) < least
    }
    assert not faint


@pytest.mark.parametrize("name", ["light", "dark"])
def test_high_contrast_is_never_fainter(name):
    """What is read under high contrast has at least the contrast it had before."""
    plain, more = SETS[name], SETS[f"{name}, high contrast"]
    assert contrast(more.line, more.paper) >= SHAPE > contrast(plain.line, plain.paper)
    assert contrast(more.ink3, more.paper) > contrast(plain.ink3, plain.paper)


def test_every_token_is_a_colour():
    """Six hexadecimal digits, in both schemes."""
    for tokens in (LIGHT, DARK):
        for field in fields(Tokens):
            value = getattr(tokens, field.name)
            assert value.startswith("#")
            assert len(value) == 7
            int(value[1:], 16)
