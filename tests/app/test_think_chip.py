"""The chip that says how the model thinks: when it is there, what it offers, what it tells."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from app.client.values import ThinkFacts
from app.composer import Composer
from app.meter_plan import MeterValues
from app.theme import apply_theme, theme_of

SWITCH = ThinkFacts(("off", "on"))
LEVELS = ThinkFacts(("low", "medium", "high"), chosen="low")


@pytest.fixture
def composer(qtbot):
    apply_theme(QApplication.instance(), theme_of())
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(700, 500)
    layout = QVBoxLayout(window)
    layout.setContentsMargins(0, 0, 0, 0)
    made = Composer(window)
    layout.addStretch(1)
    layout.addWidget(made)
    made.set_meter(MeterValues.total(2914, 8000, 16384))
    with qtbot.waitExposed(window):
        window.show()
    return made


@pytest.fixture
def chip(composer):
    return composer.think


def opened(qtbot, chip):
    """Its menu, open; closed by whoever asked for it."""
    chip.click()
    qtbot.waitUntil(lambda: chip.menu is not None and chip.menu.isVisible())
    return chip.menu


def offered(menu):
    return [(action.text(), action.isChecked()) for action in menu.actions()]


@pytest.mark.parametrize(
    "facts", [ThinkFacts(), ThinkFacts(()), ThinkFacts((), thinks=False, chosen="on")]
)
def test_there_is_none_without_a_choice(chip, facts):
    """A model that does not think, always does, or is not known yet."""
    chip.set_facts(SWITCH)
    assert chip.isVisible()
    chip.set_facts(facts)
    assert not chip.isVisible()


@pytest.mark.parametrize(
    ("chosen", "words"),
    [("", "Think"), ("off", "Think: off"), ("on", "Think: on"), ("high", "Think: high")],
)
def test_it_says_what_is_set(chip, chosen, words):
    """In a word or two, the same for eyes and ears; the tooltip says what it is about."""
    chip.set_facts(ThinkFacts(("off", "on", "high"), chosen=chosen))
    spoken = QAccessible.queryAccessibleInterface(chip)
    assert spoken.text(QAccessible.Text.Name) == chip.accessibleName() == words
    assert spoken.text(QAccessible.Text.Description) == chip.toolTip()
    assert chip.toolTip() == "How much this model thinks before it answers"


def test_it_offers_what_the_model_takes(qtbot, chip):
    """And its own way; what is set is marked, and the keyboard stands there."""
    chip.set_facts(LEVELS)
    menu = opened(qtbot, chip)
    assert offered(menu) == [
        ("By itself", False),
        ("Low", True),
        ("Medium", False),
        ("High", False),
    ]
    assert menu.activeAction().text() == "Low"
    menu.close()
    chip.set_facts(SWITCH)
    menu = opened(qtbot, chip)
    assert offered(menu) == [("By itself", True), ("Off", False), ("On", False)]
    menu.close()


def test_a_choice_is_told_once(qtbot, chip):
    """Another one than stands; what stands is shown when it is told to be."""
    told = []
    chip.chosen.connect(told.append)
    chip.set_facts(LEVELS)
    for text in ("High", "Low", "By itself"):
        menu = opened(qtbot, chip)
        next(action for action in menu.actions() if action.text() == text).trigger()
        menu.close()
    assert told == ["high", ""]
    assert chip.text() == "Think: low"


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Space, Qt.Key.Key_Up])
def test_the_keyboard_reaches_and_opens_it(qtbot, composer, chip, key):
    """Tab comes to it between the attach button and the meter; Enter chooses in its menu."""
    told = []
    chip.chosen.connect(told.append)
    chip.set_facts(SWITCH)
    composer._attach.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(composer._attach, Qt.Key.Key_Tab)
    assert chip.hasFocus()
    qtbot.keyClick(chip, key)
    menu = chip.menu
    qtbot.waitUntil(menu.isVisible)
    qtbot.keyClick(menu, Qt.Key.Key_Down)
    qtbot.keyClick(menu, Qt.Key.Key_Return)
    assert told == ["off"]


@pytest.mark.parametrize("zoom", [1.0, 1.5])
@pytest.mark.parametrize("direction", list(Qt.LayoutDirection)[:2])
def test_the_meter_begins_behind_it(qtbot, composer, chip, zoom, direction):
    """Nothing lies over anything, at every width, in both directions; too narrow, it goes."""
    composer.setLayoutDirection(direction)
    seen = set()
    try:
        theme_of().set_zoom(zoom)
        chip.set_facts(LEVELS)
        least = composer.minimumSizeHint().width()
        for width in range(least, least + 400, 20):
            composer.window().resize(width, 500)
            composer.window().layout().activate()
            seen.add(chip.isVisible())
            parts = (composer._attach, composer.meter, composer._button)
            boxes = [part.geometry() for part in parts]
            boxes += [chip.geometry()] if chip.isVisible() else []
            assert all(composer.rect().contains(box) for box in boxes)
            others = [(a, b) for i, a in enumerate(boxes) for b in boxes[i + 1 :]]
            assert not any(a.intersects(b) for a, b in others)
            assert composer.meter.width() >= composer.meter.minimumSizeHint().width()
    finally:
        theme_of().set_zoom(1.0)
    assert seen == {False, True}


def test_it_opens_above_itself(qtbot, chip):
    """The composer stands at the foot of the window."""
    chip.set_facts(SWITCH)
    menu = opened(qtbot, chip)
    top = chip.mapToGlobal(chip.rect().topLeft()).y()
    assert menu.geometry().bottom() < top
    menu.close()
