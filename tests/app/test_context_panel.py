"""The side panel and the dialog of the prompt: figures in, wishes out."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget

from app.client import DRAFT, ContextFacts, PromptText
from app.context_figures import (
    fit_words,
    ledger_words,
    plan_meter,
    refusal_words,
    reserve_words,
)
from app.context_panel import ContextPanel
from app.lens_tint import paint_tint
from app.meter_plan import MeterValues, Row
from app.prompt_dialog import PromptDialog
from app.theme import theme_of
from engine.backends.base import PromptMessage
from engine.budget import plan_budget
from engine.lens import SentMessage
from engine.segments import Fit, LedgerLine, Segment
from engine.tokens import Count
from engine.transcript import ToolCall

SEGMENTS = (
    Segment("system prompt", 412, 0),
    Segment("summary", 934, 1),
    Segment("pinned", 188, 1),
    Segment("your messages", 242, 2),
    Segment("replies", 400, 2),
    Segment("files", 24, 0),
    Segment("tool results", 700, 1),
)
FACTS = ContextFacts(
    "a",
    SEGMENTS,
    draft=14,
    used=2_914,
    kind="exact",
    budget=plan_budget(16_384),
    fit=Fit("fits", 6_000, 0),
    ledger=(
        LedgerLine("e9", 7_600, 2_900, 24, 6.2, "in_place", "test", 1_700_000_000_000, True),
        LedgerLine("e4", 9_000, 4_000, 0, 0.0, "staged", "test", 10, undone=True),
    ),
)


@pytest.fixture
def panel(qtbot):
    made = ContextPanel()
    qtbot.addWidget(made)
    made.set_facts(FACTS)
    made.resize(296, 900)
    with qtbot.waitExposed(made):
        made.show()
    return made


# ---- figures ------------------------------------------------------------------------------------


def test_segments_become_the_parts_of_the_meter():
    """Messages of both sides are recent ones; files and results of tools are one part."""
    values = plan_meter(FACTS)
    assert values == MeterValues(412, 188, 934, 642, 724, 0, 14, 8_000, 16_384)
    assert values.used == FACTS.used


def test_without_a_budget_the_meter_knows_no_window():
    """Only what is used."""
    values = plan_meter(ContextFacts("", SEGMENTS[:1], used=412))
    assert (values.used, values.budget, values.window, values.exact) == (412, 0, 0, False)


def test_a_new_total_goes_to_the_recent_messages():
    """After a reply, until the parts are told again."""
    grown = plan_meter(FACTS).grown_to(3_000, exact=False)
    assert (grown.used, grown.recent, grown.exact) == (3_000, 642 + 86, False)


def test_a_smaller_total_takes_no_more_than_there_is():
    """After a compaction the other parts may be more than all."""
    assert plan_meter(FACTS).grown_to(100, exact=True).recent == 0


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ((16_384, 4_096, 0), ""),
        ((32_768, 4_096, 20_000), "4,096 asked for, raised to the floor 20,000"),
        (
            (16_384, 20_000, 20_000),
            "20,000 asked for, capped at 8,384 so that 8,000 remain for the prompt",
        ),
        (
            (16_384, 4_096, 20_000),
            "4,096 asked for, raised to the floor 20,000, capped at 8,384 so that 8,000 remain "
            "for the prompt",
        ),
    ],
)
def test_why_the_reserve_is_what_it_is(asked, words):
    """Every step that changed it."""
    assert reserve_words(plan_budget(*asked)) == words


@pytest.mark.parametrize(
    ("fit", "words", "tone"),
    [
        (None, "", ""),
        (Fit("fits", 6_000, 0), "", ""),
        (Fit("near", 6_000, 0), "Nearly full", "amber"),
        (Fit("folds", 6_000, 37), "37 tokens over the budget: older", "red"),
        (Fit("over", 6_000, 37), "sent whole", "red"),
        (Fit("too_large", 6, 37), "14 tokens, and there is room for 6", "red"),
    ],
)
def test_what_is_said_of_the_draft(fit, words, tone):
    """A sentence with figures, and how grave it is."""
    facts = ContextFacts("a", draft=14, fit=fit)
    assert words in fit_words(facts)[0]
    assert bool(words) == bool(fit_words(facts)[0])
    assert fit_words(facts)[1] == tone
    assert bool(refusal_words(facts)) == (fit is not None and fit.state == "too_large")


def test_a_compaction_in_two_lines():
    """Before and after; folded, how and how long; what is not known is left out."""
    assert ledger_words(FACTS.ledger[0]) == (
        "7.6k → 2.9k",
        "24 messages folded · in place, 6 s",
    )
    assert ledger_words(FACTS.ledger[1]) == ("9.0k → 4.0k", "undone · in stages")
    assert ledger_words(LedgerLine("e", 0, 0, 0, 0.0, "", "", 0)) == ("Compacted", "")


# ---- the panel ----------------------------------------------------------------------------------


def test_the_panel_lists_parts_and_sums(panel):
    """As the meter's list; together they are the prompt."""
    assert panel.parts_list.rows[0] == Row("system", 412)
    assert sum(row.tokens for row in panel.parts_list.rows) == 2_914
    assert [row.part for row in panel.sums_list.rows] == ["prompt", "free", "reserve", "window"]
    assert panel.parts_kind.text() == "tokens, exact"
    assert "20,000 asked for" in panel.reserve.text()
    assert "6,000" in panel.room.text()
    assert not panel.state.isVisible()
    assert "Pins 188" in panel.parts_list.accessibleName()


def test_estimated_figures_are_called_so(panel):
    """And nothing is said of a window that is not known."""
    panel.set_facts(ContextFacts("b", SEGMENTS, used=2_900))
    assert panel.parts_kind.text() == "tokens, estimated"
    assert not panel.reserve.isVisible()
    assert not panel.room.isVisible()


def test_without_anything_there_is_a_sum(panel):
    """A new conversation of no system prompt."""
    panel.set_facts(ContextFacts(""))
    assert panel.parts_list.rows == ()
    assert panel.sums_list.rows == (Row("prompt", 0),)
    assert panel.ledger == []
    assert "None yet" in panel.ledger_none.text()
    assert panel.ledger_none.isVisible()


def test_a_draft_that_does_not_fit_is_said(panel):
    """In red, with figures."""
    panel.set_facts(ContextFacts("a", draft=14, fit=Fit("too_large", 6, 8)))
    assert panel.state.isVisible()
    assert "room for 6" in panel.state.text()


def test_a_compaction_leads_to_its_card(qtbot, panel):
    """By mouse and by keyboard."""
    row = panel.ledger[1]
    with qtbot.waitSignal(panel.compaction_chosen) as told:
        qtbot.mouseClick(row, Qt.MouseButton.LeftButton)
    assert told.args == ["e4"]
    with qtbot.waitSignal(panel.compaction_chosen) as told:
        qtbot.keyClick(panel.ledger[0], Qt.Key.Key_Space)
    assert told.args == ["e9"]
    assert "7.6k" in panel.ledger[0].accessibleName()


def test_rows_stay_while_the_ledger_is_the_same(panel):
    """The focus in them is not lost with every key that is typed."""
    before = panel.ledger
    panel.set_facts(FACTS)
    assert panel.ledger is before
    panel.set_facts(ContextFacts("a", ledger=FACTS.ledger[:1]))
    assert [row.line.entry for row in panel.ledger] == ["e9"]


def test_what_the_panel_asks_for(qtbot, panel):
    """Closing, the lens, the prompt, a copy of it."""
    for button, signal in (
        (panel.close_button, panel.closed),
        (panel.prompt_button, panel.prompt_requested),
        (panel.copy_button, panel.copy_requested),
    ):
        with qtbot.waitSignal(signal):
            qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(panel.lens_toggled) as told:
        qtbot.mouseClick(panel.lens_switch, Qt.MouseButton.LeftButton)
    assert told.args == [True]


def test_the_hint_is_there_while_the_lens_is_on(panel):
    """What can be done with a tinted passage."""
    assert not panel.hint.isVisible()
    panel.set_lens(on=True)
    assert panel.hint.isVisible()
    assert panel.lens_switch.isChecked()


def test_everything_in_the_panel_has_a_name(panel):
    """For screen readers."""
    for part in (panel, panel.close_button, panel.lens_switch, panel.legend, panel.sums_list):
        assert part.accessibleName()


def test_it_is_painted_in_both_schemes_and_directions(qtbot, panel):
    """Every widget paints; the line stands at the side of the conversation."""
    theme = theme_of()
    for scheme in ("light", "dark"):
        theme.set_scheme(scheme)
        picture = panel.grab().toImage()
        assert picture.pixelColor(0, 400) == theme.color("line")
        assert picture.pixelColor(8, 400) == theme.color("side")
    theme.set_scheme("light")
    panel.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    picture = panel.grab().toImage()
    assert picture.pixelColor(picture.width() - 1, 400) == theme.color("line")
    panel.ledger[0].setDown(True)
    panel.grab()


def test_a_time_that_no_calendar_has_is_no_trouble(panel):
    """A damaged store."""
    panel.set_facts(ContextFacts("a", ledger=(LedgerLine("e", 1, 1, 1, 1.0, "x", "", -(10**17)),)))
    panel.grab()
    assert len(panel.ledger) == 1


# ---- tints --------------------------------------------------------------------------------------


def painted(qtbot, tint):
    """The pixels of a band."""
    from PySide6.QtCore import QRectF
    from PySide6.QtGui import QImage, QPainter

    image = QImage(60, 40, QImage.Format.Format_RGB32)
    image.fill(theme_of().color("paper"))
    painter = QPainter(image)
    paint_tint(painter, QRectF(0, 0, 60, 40), tint, theme_of())
    painter.end()
    return image


@pytest.mark.parametrize(
    ("tint", "ground", "rule"),
    [
        ("verbatim", "l_verb", "m_recent"),
        ("shortened", "l_short", "m_pins"),
        ("folded", "l_fold", "plum"),
    ],
)
def test_each_state_has_a_ground_and_a_rule(qtbot, tint, ground, rule):
    """Never colour alone: the rule has a pattern, too."""
    image = painted(qtbot, tint)
    assert image.pixelColor(30, 20) == theme_of().color(ground)
    column = [image.pixelColor(1, y) == theme_of().color(rule) for y in range(8, 32)]
    assert all(column) == (tint == "verbatim")
    assert any(column)


def test_not_sent_is_hollow(qtbot):
    """No ground; an empty rule."""
    image = painted(qtbot, "not_sent")
    assert image.pixelColor(30, 20) == image.pixelColor(2, 20) == theme_of().color("paper")
    assert image.pixelColor(0, 20) == theme_of().color("control")


def test_what_is_not_known_is_not_tinted(qtbot):
    """Nothing is painted."""
    image = painted(qtbot, "")
    assert {image.pixelColor(x, 20).name() for x in range(60)} == {
        theme_of().color("paper").name()
    }


# ---- the prompt ---------------------------------------------------------------------------------

PROMPT = PromptText(
    (
        SentMessage(PromptMessage("system", "Be brief."), "", "system prompt", 7),
        SentMessage(PromptMessage("user", "Why?\n\nReally, why?"), "e1", "your messages", 9),
        SentMessage(
            PromptMessage("assistant", "", tool_calls=(ToolCall("c", "read", {}),)),
            "e2",
            "replies",
            12,
        ),
        SentMessage(PromptMessage("tool", "42"), "", "tool results", 4),
        SentMessage(PromptMessage("user", "And now?"), DRAFT, "your messages", 6),
    ),
    Count(41, "exact"),
)


@pytest.fixture
def dialog(qtbot):
    """Makes a dialog over a window, and shows it."""
    parent = QWidget()
    qtbot.addWidget(parent)

    def show(prompt=PROMPT, *args):
        made = PromptDialog(prompt, parent, *args)
        made.show()
        return made

    return show


def test_the_dialog_lists_every_message(dialog):
    """With its tokens; all of it is shown first."""
    shown = dialog()
    names = [shown.list.item(i).text() for i in range(shown.list.count())]
    assert names == ["All of it", "System prompt", "You", "Model", "Tool", "Draft"]
    assert "41 tokens" in shown.about.text()
    assert shown.text.toPlainText().startswith("[system]\nBe brief.\n\n[user]\nWhy?")
    assert "≈" not in shown.about.text()
    shown.grab()


def test_one_message_is_shown_exactly(qtbot, dialog):
    """Its own words and nothing else, and so it is copied."""
    shown = dialog(PROMPT, "e1")
    assert shown.text.toPlainText() == "Why?\n\nReally, why?"
    qtbot.mouseClick(shown.copy_button, Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text() == "Why?\n\nReally, why?"
    assert shown.copy_button.text() == "Copied"
    shown.list.setCurrentRow(3)
    assert shown.text.toPlainText() == '{"name":"read","arguments":{}}'


def test_an_entry_that_is_not_in_it_shows_all(dialog):
    """With a note that says why."""
    shown = dialog(PROMPT, "gone", "Nothing of this message goes to the model.")
    assert shown.list.currentRow() == 0
    assert shown.note.isVisible()
    assert not dialog().note.isVisible()


def test_an_estimate_and_what_comes_first_are_said(dialog):
    """≈ before the figure; a prompt over its budget is folded first."""
    shown = dialog(PromptText(PROMPT.parts, Count(9_000, "estimated"), "compact_only"))
    assert "≈ 9,000" in shown.about.text()
    assert "folded first" in shown.about.text()


def test_the_text_cannot_be_changed(dialog):
    """It is what is sent."""
    shown = dialog()
    assert shown.text.isReadOnly()
    assert shown.list.item(2).data(Qt.ItemDataRole.AccessibleTextRole) == (
        "You, 9 tokens, Why? Really, why?"
    )
