"""Compactions in the whole window: told in the status line, undone from it, cards' actions."""

import pytest
from PySide6.QtWidgets import QApplication

from app.bridge import Bridge
from app.client import Client
from app.items import CardItem
from app.pins_dialog import PinsDialog
from app.text_dialog import TextDialog
from app.theme import apply_theme, theme_of
from app.window import MainWindow
from app.wiring import Workplace
from engine.testing import ScriptedBackend, asks_for_summary
from tests.app.test_client_folds import LONG, SUMMARY
from tests.app.window_room import is_done, replies, say, users

SMALL = {"PORTHOLE_MODELS_DEFAULT": "scripted:test", "PORTHOLE_CONTEXT_CAP_TOKENS": "16384"}


@pytest.fixture
def window(qtbot, tmp_path):
    """A window whose model answers with a word, and summarises when it is asked to."""
    apply_theme(QApplication.instance(), theme_of())

    def make_client(tell):
        workplace = Workplace(str(tmp_path / "profile"), SMALL)
        workplace._backends["scripted"] = ScriptedBackend(
            otherwise=lambda request: SUMMARY if asks_for_summary(request) else "Yes."
        )
        return Client(workplace, tell)

    made = MainWindow(Bridge(make_client), "0.1")
    qtbot.addWidget(made)
    with qtbot.waitSignal(made.shown):
        made.show()
    yield made
    made.close()


def card(window):
    """The compaction's card; None without one."""
    cards = [i for i in window.items.items() if isinstance(i, CardItem) and i.kind == "compaction"]
    return cards[-1] if cards else None


def fill(qtbot, window):
    """Talk until the conversation is folded by itself; how many messages that took."""
    for number in range(1, 40):
        window.parts.composer.set_text(f"{number}. {LONG}")
        window.do("send")
        qtbot.waitUntil(lambda: is_done(window) and not window.parts.composer._button.running)
        qtbot.waitUntil(lambda n=number: users(window)[-1].startswith(f"{n}."))
        if card(window) is not None:
            return number
    raise AssertionError("never folded")


def status(window):
    return window.parts.notices.shown


def test_the_status_line_says_it_and_undoes_it(qtbot, window):
    """It stands until something is said; its link brings the messages back."""
    count = fill(qtbot, window)
    assert status(window).text.startswith("Compacted: ")
    assert status(window).action_text == "Undo"
    qtbot.waitUntil(lambda: len(users(window)) < count)
    window.parts.notices.acted.emit(status(window).action)
    qtbot.waitUntil(lambda: card(window).is_undone)
    assert len(users(window)) == count
    assert not status(window).text.startswith("Compacted: ")
    assert window.parts.composer.meter.values.budget == 16_384 - 1_024


def test_what_is_said_next_takes_it_away(qtbot, window):
    """The next message begins something new."""
    fill(qtbot, window)
    say(qtbot, window, "short")
    assert status(window) is None or not status(window).text.startswith("Compacted: ")


def test_the_card_edits_its_summary(qtbot, window):
    """The dialog has the words that are there; what is put in their place is on the card."""
    fill(qtbot, window)
    window._act_on_item(card(window).id, "edit_summary")
    qtbot.waitUntil(lambda: bool(window.findChildren(TextDialog)))
    dialog = window.findChildren(TextDialog)[0]
    assert dialog.field.toPlainText() == SUMMARY
    dialog.field.setPlainText("My own words.")
    dialog.ok_button.click()
    qtbot.waitUntil(lambda: card(window).body == "My own words.")


def test_the_card_is_made_anew_with_a_focus(qtbot, window):
    """The new one names the focus."""
    fill(qtbot, window)
    window._act_on_item(card(window).id, "redo_focus")
    qtbot.waitUntil(lambda: bool(window.findChildren(TextDialog)))
    dialog = window.findChildren(TextDialog)[0]
    dialog.field.setPlainText("the ships")
    dialog.ok_button.click()
    qtbot.waitUntil(lambda: card(window) is not None and "the ships" in card(window).facts)


def test_restored_after_an_undoing(qtbot, window):
    """Undo and redo on the card itself."""
    fill(qtbot, window)
    window._act_on_item(card(window).id, "undo_compaction")
    qtbot.waitUntil(lambda: card(window).is_undone)
    window._act_on_item(card(window).id, "restore_compaction")
    qtbot.waitUntil(lambda: not card(window).is_undone)


def test_the_cards_menu_has_what_it_has_no_room_for(qtbot, window):
    """Made anew as it was, by another model, with pins; copied."""
    fill(qtbot, window)
    menu = window._fold_menu(card(window))
    names = [action.text() for action in menu.actions() if action.text()]
    assert names == ["Redo", "Redo with another model", "Pin messages and redo…", "Copy"]
    menu.actions()[-1].trigger()
    assert QApplication.clipboard().text().startswith(SUMMARY)
    before = card(window).id
    menu.actions()[0].trigger()
    qtbot.waitUntil(lambda: card(window) is not None and card(window).id != before)


def test_messages_are_pinned_and_the_card_made_anew(qtbot, window):
    """What is ticked in the dialog stands in the conversation, under the new card."""
    fill(qtbot, window)
    before = card(window).id
    first = "1. The lighthouse"
    qtbot.waitUntil(lambda: not any(text.startswith(first) for text in users(window)))
    menu = window._fold_menu(card(window))
    next(a for a in menu.actions() if a.text().startswith("Pin ")).trigger()
    qtbot.waitUntil(lambda: bool(window.findChildren(PinsDialog)))
    dialog = window.findChildren(PinsDialog)[0]
    assert not dialog.ok_button.isEnabled()
    assert dialog.list.item(0).text().startswith("You, ")
    assert dialog.text.toPlainText().startswith(first)
    dialog.tick(frozenset({0}))
    assert dialog.total.text().startswith("1 pinned: ")
    dialog.ok_button.click()
    qtbot.waitUntil(lambda: card(window) is not None and card(window).id != before)
    qtbot.waitUntil(lambda: is_done(window) and not window.parts.composer._button.running)
    sent = ask(qtbot, window, lambda c, id_: c.folds.pinnable(id_, card(window).id))
    assert [m.is_pinned for m in sent.messages][:2] == [True, False]


def test_no_more_is_pinned_than_there_is_room_for(qtbot, window):
    """The dialog says how much is too much, and does not take it."""
    fill(qtbot, window)
    found = ask(qtbot, window, lambda c, id_: c.folds.pinnable(id_, card(window).id))
    dialog = PinsDialog(found, window)
    dialog.tick(frozenset(range(len(found.messages))))
    assert "too many" in dialog.total.text()
    assert not dialog.ok_button.isEnabled()


def ask(qtbot, window, work):
    """What the client answers about the open conversation."""
    answers = []
    window._ask_here(work, answers.append)
    qtbot.waitUntil(lambda: bool(answers))
    return answers[0]


def test_finding_looks_into_what_is_folded(qtbot, window):
    """The originals open with the search, and are found."""
    fill(qtbot, window)
    window.do("find")
    qtbot.waitUntil(lambda: card(window).is_open)
    assert window.parts.transcript.find("1. The lighthouse") >= 1
    assert len(replies(window)) == len(users(window))


def test_context_answers_with_a_card(qtbot, window):
    """What fills the window, as the meter has it; no model reads it."""
    say(qtbot, window, "Once")
    window._command("context", "")
    qtbot.waitUntil(lambda: isinstance(window.items.items()[-1], CardItem))
    answer = window.items.items()[-1]
    assert answer.title == "What fills the window"
    assert f"{window.parts.composer.meter.values.free:,}" in answer.body
    assert len(replies(window)) == 1
