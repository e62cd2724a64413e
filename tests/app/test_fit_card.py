"""The card over the composer and the dialog of parts: what they show, and everything by keyboard."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QWidget

from app.client import Digesting, PartsWaiting
from app.client.fit_values import FitOffer, LargerWindow, PartsToChoose
from app.fit_card import FitCard
from app.fit_dialog import PartsDialog
from app.theme import apply_theme, theme_of
from engine.fitting import LEFT_OUT, Part, plan_parts

OFFER = FitOffer(
    "",
    "tile-sizes.csv",
    0,
    9_870,
    5_086,
    can_pick=True,
    digest_pieces=3,
    digest_seconds=118,
    part_count=3,
    larger=LargerWindow("scripted:test", 32_768, "fits"),
)
PART = Part("x", 40, first_line=2, last_line=3)


@pytest.fixture
def desk(qtbot):
    """A window to stand on, 800 px wide."""
    apply_theme(QApplication.instance(), theme_of())
    made = QWidget()
    qtbot.addWidget(made)
    made.resize(800, 600)
    made.show()
    yield made
    theme_of().set_zoom(1.0)
    theme_of().set_scheme("light")


@pytest.fixture
def card(desk):
    made = FitCard(desk)
    made.resize(760, 10)
    return made


# ---- the card -----------------------------------------------------------------------------------


def test_nothing_is_shown_at_first(card):
    assert card.isHidden()


def test_an_offer_has_a_button_for_everything_that_works(card):
    card.show_offer(OFFER)
    assert card.isVisible()
    assert (
        card.title.text()
        == card.accessibleName()
        == ("tile-sizes.csv does not fit: 9,870 tokens, and there is room for 5,086.")
    )
    words = [card.button(action).text() for action in card.actions_offered]
    assert words == [
        "Choose parts…",
        "Digest it in 3 pieces, about 2 min",
        "Ask part by part",
        "Use a window of 32,768",
        "Remove",
    ]
    assert [card.button(action).accessibleName() for action in card.actions_offered] == words


def test_only_what_would_work_is_offered(card):
    """And one button is the likeliest, if there is any choice."""
    card.show_offer(FitOffer("", "a.csv", 0, 9_870, 10))
    assert card.actions_offered == ("remove",)
    card.show_offer(FitOffer("", "", -1, 9_870, 10))
    assert card.actions_offered == ()
    card.show_offer(OFFER)
    kinds = [card.button(action).kind for action in card.actions_offered]
    assert kinds == ["primary", "plain", "plain", "plain", "quiet"]


@pytest.mark.parametrize("action", ["pick", "digest", "follow", "larger", "remove"])
def test_a_button_says_what_was_pressed(qtbot, card, action):
    """By mouse and by keyboard."""
    card.show_offer(OFFER)
    with qtbot.waitSignal(card.acted) as pressed:
        qtbot.mouseClick(card.button(action), Qt.MouseButton.LeftButton)
    assert pressed.args == [action]
    with qtbot.waitSignal(card.acted):
        qtbot.keyClick(card.button(action), Qt.Key.Key_Space)


def test_tab_goes_through_the_buttons_in_order(qtbot, desk, card):
    card.show_offer(OFFER)
    desk.activateWindow()
    card.button("pick").setFocus(Qt.FocusReason.TabFocusReason)
    seen = []
    for _ in range(4):
        seen.append(next(a for a in card.actions_offered if card.button(a).hasFocus()))
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    assert seen == ["pick", "digest", "follow", "larger"]


def test_other_figures_leave_the_focus_where_it_is(desk, card):
    """They change with every word that is typed."""
    card.show_offer(OFFER)
    desk.activateWindow()
    card.button("digest").setFocus()
    before = card.button("digest")
    card.show_offer(FitOffer("", "tile-sizes.csv", 0, 9_999, 5_000, digest_pieces=4))
    assert card.button("digest") is before
    assert before.hasFocus()
    assert before.text() == "Digest it in 4 pieces"


def test_a_button_that_goes_gives_the_focus_away(qtbot, desk, card):
    """To whoever takes it: the composer."""
    card.show_offer(OFFER)
    desk.activateWindow()
    card.button("digest").setFocus()
    with qtbot.waitSignal(card.left):
        card.show_digest(Digesting("", "tile-sizes.csv"))


def test_a_digest_shows_how_far_it_is_and_can_be_stopped(qtbot, card):
    card.show_digest(Digesting("", "a.csv", 2, 2, "writing", 450, 900))
    assert card.bar.isVisible()
    assert card.bar.value() == 875
    assert card.about.text() == "step 2 of 2 · writing, 450 tokens"
    with qtbot.waitSignal(card.acted) as pressed:
        card.button("stop").click()
    assert pressed.args == ["stop"]
    card.show_offer(OFFER)
    assert card.bar.isHidden()


def test_the_next_part_is_offered(card):
    card.show_next(PartsWaiting("", "a.csv", 1, 3, PART))
    assert card.actions_offered == ("next", "end")
    assert card.button("next").text() == "Ask part 2 of 3"
    assert card.button("next").kind == "primary"
    card.show_next(PartsWaiting("", "a.csv", 1, 3))
    assert card.about.isHidden()


def test_a_narrow_card_has_its_buttons_in_rows(card):
    """Nothing is cut off, and it is higher."""
    card.show_offer(OFFER)
    wide = card.height()
    card.resize(340, 10)
    assert card.height() > wide
    boxes = [card.button(action).geometry() for action in card.actions_offered]
    assert all(box.right() < card.width() and box.bottom() < card.height() for box in boxes)
    assert all(not a.intersects(b) for a in boxes for b in boxes if a is not b)


def test_right_to_left_the_card_is_mirrored(card):
    card.show_offer(OFFER)
    left = card.button("pick").geometry()
    card.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    right = card.button("pick").geometry()
    assert right.right() == card.width() - left.left() - 1
    assert card.icon.x() > card.title.x()


def test_zoom_makes_the_card_larger(card):
    card.show_offer(OFFER)
    before = card.height()
    theme_of().set_zoom(1.5)
    assert card.height() > before


def test_a_change_of_direction_is_followed(card):
    card.show_offer(OFFER)
    card.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    card.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    assert card.icon.x() < card.title.x()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_border_is_amber_only_where_something_does_not_fit(card, scheme):
    """Painted in the theme's colours, in both schemes."""
    theme_of().set_scheme(scheme)
    theme = theme_of()
    card.show_offer(OFFER)

    def edge():
        return card.grab().toImage().pixelColor(QPoint(card.width() // 2, 0)).name()

    assert edge() == theme.color("amber_line").name()
    card.show_digest(Digesting("", "a"))
    assert edge() == theme.color("line").name()


# ---- the dialog ---------------------------------------------------------------------------------

TEXT = "".join(f"## {n}. Section\nsome words of it, number {n}\n\n" for n in range(1, 7))


def by_words(text):
    return len(text.split())


@pytest.fixture
def dialog(qtbot, desk):
    """Six sections of nine words, and room for three and a half."""
    parts = plan_parts(TEXT, 12, by_words)
    assert [part.tokens for part in parts] == [9] * 6
    made = PartsDialog(PartsToChoose("", "guide.md", 0, parts, 32), "guide.md", desk)
    made.show()
    qtbot.waitExposed(made)
    return made


def test_at_first_the_beginning_is_ticked_as_far_as_it_fits(dialog):
    assert dialog.windowTitle() == "Choose parts of guide.md"
    assert dialog.ticked() == {0, 1, 2}
    assert dialog.total.text() == "3 of 6 parts: 27 of 32 tokens"
    assert dialog.ok_button.isEnabled()


def test_it_keeps_nobody_from_typing(dialog):
    assert not dialog.isModal()


def test_every_part_has_its_name_and_size_for_a_screen_reader(dialog):
    said = dialog.list.item(1).data(Qt.ItemDataRole.AccessibleTextRole)
    assert said.startswith("2. Section, 9 tokens, ## 2. Section some words")


def test_space_ticks_and_the_arrows_go_on(qtbot, dialog):
    """The total follows; too much is said and cannot be taken."""
    qtbot.keyClick(dialog.list, Qt.Key.Key_End)
    qtbot.keyClick(dialog.list, Qt.Key.Key_Space)
    assert dialog.ticked() == {0, 1, 2, 5}
    assert dialog.total.text().endswith("36 of 32 tokens, 4 too many")
    assert not dialog.ok_button.isEnabled()
    with qtbot.assertNotEmitted(dialog.taken):
        qtbot.keyClick(dialog.list, Qt.Key.Key_Return)
    qtbot.keyClick(dialog.list, Qt.Key.Key_Home)
    qtbot.keyClick(dialog.list, Qt.Key.Key_Space)
    assert dialog.ticked() == {1, 2, 5}
    assert dialog.ok_button.isEnabled()


def test_a_click_on_a_line_ticks_it(qtbot, dialog):
    place = dialog.list.visualItemRect(dialog.list.item(4)).center()
    viewport = dialog.list.viewport()
    qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=place)
    assert 4 in dialog.ticked()
    qtbot.mouseClick(viewport, Qt.MouseButton.RightButton, pos=place)
    assert 4 in dialog.ticked()
    qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=place)
    assert 4 not in dialog.ticked()


def test_the_words_of_a_part_are_beside_it(qtbot, dialog):
    assert dialog.text.toPlainText().startswith("## 1. Section")
    qtbot.keyClick(dialog.list, Qt.Key.Key_Down)
    assert dialog.text.toPlainText().startswith("## 2. Section")


def test_enter_takes_an_excerpt(qtbot, dialog):
    qtbot.mouseClick(dialog.none_button, Qt.MouseButton.LeftButton)
    assert dialog.ticked() == frozenset()
    assert not dialog.ok_button.isEnabled()
    qtbot.keyClick(dialog.list, Qt.Key.Key_Down)
    qtbot.keyClick(dialog.list, Qt.Key.Key_Space)
    with qtbot.waitSignal(dialog.taken) as taken:
        qtbot.keyClick(dialog.list, Qt.Key.Key_Return)
    assert taken.args == [f"{LEFT_OUT}## 2. Section\nsome words of it, number 2\n\n{LEFT_OUT}"]
    assert dialog.isHidden()


def test_the_first_that_fit_can_be_ticked_again(qtbot, dialog):
    dialog.none_button.click()
    dialog.first_button.click()
    assert dialog.ticked() == {0, 1, 2}


def test_escape_takes_nothing(qtbot, dialog):
    with qtbot.assertNotEmitted(dialog.taken):
        qtbot.keyClick(dialog.list, Qt.Key.Key_Escape)
    assert dialog.isHidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_ticks_are_seen_in_both_schemes(dialog, scheme):
    """A ticked box is filled with the accent, an empty one is not."""
    theme_of().set_scheme(scheme)
    accent = theme_of().color("accent").name()

    def colors(place):
        rect = dialog.list.visualItemRect(dialog.list.item(place))
        picture = dialog.list.viewport().grab(rect).toImage()
        return {picture.pixelColor(x, rect.height() // 2).name() for x in range(theme_of().px(28))}

    assert accent in colors(1)
    assert accent not in colors(4)
