"""Meter, panel and lens in a whole window: what is told is shown, what is pressed is done."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication

from app.prompt_dialog import PromptDialog
from app.window.context import PANEL_FROM
from engine.lens import sent_text
from engine.transcript import Compaction, user
from tests.app.window_room import say


@pytest.fixture
def talked(qtbot, window):
    """A window after one turn, with the figures of it."""
    say(qtbot, window, "Hello there")
    qtbot.waitUntil(lambda: bool(window._facts.segments) and window._facts.id == window._id)
    return window


def values(window):
    return window.parts.composer.meter.values


def typed(window, text):
    """Type, and let the draft be told."""
    window.parts.composer._edit.setPlainText(text)
    window.parts.composer.flush_draft()


def dialogs(window):
    return [made for made in window.findChildren(PromptDialog) if made.isVisible()]


def the_dialog(qtbot, window):
    qtbot.waitUntil(lambda: bool(dialogs(window)))
    return dialogs(window)[0]


# ---- meter --------------------------------------------------------------------------------------


def test_after_a_turn_the_meter_has_parts(qtbot, talked):
    """Exact, in a window of 32,768."""
    qtbot.waitUntil(lambda: values(talked).exact)
    assert values(talked).recent > 0
    assert values(talked).used == talked._facts.used
    assert (values(talked).budget, values(talked).window) == (12_768, 32_768)


def test_what_is_typed_moves_the_meter(qtbot, talked):
    """And what is deleted moves it back."""
    before = values(talked).used
    typed(talked, "What is it like there, and how many of you are there?")
    qtbot.waitUntil(lambda: values(talked).draft > 0)
    assert values(talked).used == before + values(talked).draft
    typed(talked, "")
    qtbot.waitUntil(lambda: values(talked).draft == 0)
    assert values(talked).used == before


def test_typing_asks_the_main_thread_to_count_nothing(qtbot, talked, monkeypatch):
    """However long the conversation: the window only tells the draft."""
    import threading

    from engine import weighing

    threads = set()
    weigh = weighing.estimate_messages

    def watched(messages):
        threads.add(threading.current_thread().name)
        return weigh(messages)

    monkeypatch.setattr(weighing, "estimate_messages", watched)
    asked = talked._bridge.ask
    talked.parts.composer._edit.setPlainText("some words")
    talked.do("new_chat")
    qtbot.waitUntil(lambda: talked._id == "")
    typed(talked, "words in a new conversation")
    qtbot.waitUntil(lambda: values(talked).draft > 0)
    assert threads == {"engine"}
    assert asked


def test_a_draft_that_cannot_be_sent_turns_send_off(qtbot, talked):
    """A card says the reason, and it is said when it is tried; shorter, it goes."""
    typed(talked, "word " * 20_000)
    qtbot.waitUntil(lambda: talked._facts.fit.state == "too_large")
    assert not talked.parts.composer._button.isEnabled()
    assert values(talked).level == "over"
    qtbot.waitUntil(lambda: "does not fit" in talked.fit_card.title.text())
    typed(talked, "word")
    qtbot.waitUntil(lambda: talked.parts.composer._button.isEnabled())
    qtbot.waitUntil(talked.fit_card.isHidden)
    assert talked.parts.notices.shown is None


def test_why_send_is_off_is_said_when_it_is_tried(qtbot, talked):
    """Enter keeps the text, and says the figures."""
    typed(talked, "word " * 20_000)
    qtbot.waitUntil(lambda: talked._facts.fit.state == "too_large")
    with qtbot.waitSignal(talked.parts.composer.refused) as told:
        talked.parts.composer.send()
    assert "there is room for" in told.args[0]
    assert talked.parts.composer.text()


def test_over_the_budget_it_is_said_and_sent(qtbot, talked):
    """Older messages are folded first: Send stays on."""
    say(qtbot, talked, "word " * 3_000)
    typed(talked, "word " * 6_000)
    qtbot.waitUntil(lambda: talked._facts.fit.state == "folds")
    assert talked.parts.composer._button.isEnabled()
    assert "folded before" in talked.parts.notices.shown.text
    typed(talked, "")
    shown = talked.parts.notices
    qtbot.waitUntil(lambda: "folded before" not in getattr(shown.shown, "text", ""))


def test_a_blocked_model_stays_blocked(talked):
    """Whatever the draft is."""
    talked._guard_text = "Too small a window."
    talked._renew_block()
    assert talked.parts.composer._blocked == "Too small a window."


def test_a_total_keeps_the_parts(talked):
    """A receipt comes before the parts are counted again: only the recent messages grow."""
    before = values(talked)
    talked._show_meter(before.used + 100, before.budget, before.window, exact=True)
    after = values(talked)
    assert after.recent == before.recent + 100
    assert (after.system, after.summary, after.draft) == (before.system, before.summary, 0)


def test_another_conversation_has_its_own_figures(qtbot, talked):
    """What was told of the last one is gone at once."""
    assert values(talked).used
    talked.do("new_chat")
    qtbot.waitUntil(lambda: talked._id == "")
    qtbot.waitUntil(lambda: talked._facts.id == "" and values(talked).used == 0)


def test_the_list_comes_over_the_meter(qtbot, talked):
    """Hovering lists the parts; with the panel it goes."""
    meter = talked.parts.composer.meter
    meter.show_list()
    assert [row.part for row in meter.listing.rows][:1] == ["recent"]
    talked.do("panel")
    assert meter.listing is None


# ---- panel --------------------------------------------------------------------------------------


def test_the_meter_opens_the_panel(qtbot, talked):
    """A press; header and menu show that it is there."""
    qtbot.mouseClick(talked.parts.composer.meter, Qt.MouseButton.LeftButton)
    assert talked.panel_shown
    assert talked.panel.isVisible()
    assert talked.parts.header.panel_button.isChecked()
    assert talked.actions_["panel"].isChecked()
    assert talked.panel.facts == talked._facts
    qtbot.mouseClick(talked.parts.composer.meter, Qt.MouseButton.LeftButton)
    assert talked.panel_shown
    talked.panel.close_button.click()
    assert not talked.panel.isVisible()
    assert not talked.parts.header.panel_button.isChecked()


def test_the_panel_stands_beside_the_conversation(qtbot, talked):
    """The column narrows by its width."""
    parts = talked.parts
    before = parts.transcript.width()
    talked.parts.header.action.emit("panel")
    qtbot.waitUntil(lambda: parts.transcript.width() == before - talked.panel.width())
    assert talked.panel.geometry().right() == parts.main.rect().right()
    assert talked.panel.height() == parts.main.height()


def test_in_a_narrow_window_it_lies_over_the_conversation(qtbot, talked):
    """Header and composer stay free; Esc takes it away, and nothing else."""
    talked.resize(PANEL_FROM - 100, 700)
    talked.do("panel")
    parts = talked.parts
    assert parts.transcript.width() == parts.main.width()
    qtbot.waitUntil(lambda: talked.panel.geometry().top() == parts.header.height())
    assert talked.panel.geometry().bottom() < parts.foot.y()
    talked.panel.close_button.setFocus()
    qtbot.keyClick(talked.panel.close_button, Qt.Key.Key_A)
    assert talked.panel.isVisible()
    qtbot.keyClick(talked.panel.close_button, Qt.Key.Key_Escape)
    assert not talked.panel.isVisible()
    talked.resize(1_280, 820)
    talked.do("panel")
    qtbot.waitUntil(lambda: parts.transcript.width() == parts.main.width() - talked.panel.width())


def test_beside_the_conversation_escape_leaves_it(qtbot, talked):
    """It is no sheet there."""
    talked.do("panel")
    talked.panel.close_button.setFocus()
    qtbot.keyClick(talked.panel.close_button, Qt.Key.Key_Escape)
    assert talked.panel.isVisible()


def test_the_panel_stands_at_the_other_side_where_one_reads_from_there(qtbot, talked):
    """Right to left."""
    talked.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    talked.do("panel")
    assert talked.panel.geometry().left() == 0


def test_the_focus_goes_back_to_the_composer(qtbot, talked):
    """When the panel that has it is closed."""
    talked.activateWindow()
    qtbot.waitUntil(talked.isActiveWindow)
    talked.do("panel")
    talked.panel.prompt_button.setFocus()
    talked.do("panel")
    assert talked.focusWidget() is talked.parts.composer.focusProxy()


def test_f6_goes_to_the_panel_too(talked):
    """While it is there."""
    assert talked.panel.close_button not in talked._panes()
    talked.do("panel")
    assert talked.panel.close_button in talked._panes()


def test_a_compaction_of_the_panel_leads_to_its_card(qtbot, talked):
    """Also to an older one, which stands behind the last; what is not there any more is said."""
    here = talked._id
    put_fold(talked, here)
    put_fold(talked, here)
    talked.open(here)
    qtbot.waitUntil(lambda: len(talked._facts.ledger) == 2)
    talked.do("panel")
    newest, oldest = talked.panel.ledger
    newest.click()
    qtbot.waitUntil(lambda: talked.items.index_of(newest.line.entry) >= 0)
    assert talked.items.index_of(oldest.line.entry) < 0
    oldest.click()
    qtbot.waitUntil(lambda: talked.items.index_of(oldest.line.entry) >= 0)
    index = talked.items.index_of(oldest.line.entry)
    qtbot.waitUntil(lambda: index in talked.parts.transcript.visible_items)
    talked._go_to_card("gone")
    qtbot.waitUntil(lambda: talked.parts.notices.shown is not None)
    assert "not in this conversation" in talked.parts.notices.shown.text


# ---- lens ---------------------------------------------------------------------------------------


def lensed(qtbot, window):
    window.do("lens")
    qtbot.waitUntil(lambda: window._facts.lens is not None)
    return window.parts.transcript


def test_the_lens_tints_what_is_sent(qtbot, talked):
    """Its words are the exact words; header, menu and panel show that it is on."""
    view = lensed(qtbot, talked)
    ids = [item.id for item in talked.items.items()]
    bands = [view.lens.band(item) for item in talked.items.items()]
    assert [band.tint for band in bands if band is not None] == ["verbatim", "verbatim"]
    question = view.lens.seen(ids[-2])
    assert sent_text(question.message) == "Hello there"
    assert talked.parts.header.lens_button.isChecked()
    assert talked.panel.lens_switch.isChecked()
    talked.panel.lens_switch.click()
    assert view.lens is None
    assert not talked.parts.header.lens_button.isChecked()


def test_the_lens_follows_the_conversation(qtbot, talked):
    """A new turn is tinted when it is there; another conversation has its own."""
    view = lensed(qtbot, talked)
    say(qtbot, talked, "And you?")
    qtbot.waitUntil(lambda: view.lens.band(talked.items.items()[-1]).tint == "verbatim")
    last = talked.items.items()[-1]
    talked.do("new_chat")
    qtbot.waitUntil(lambda: talked._id == "")
    assert view.lens is not None
    assert view.lens.seen(last.id) is None


def test_a_band_opens_the_exact_text(qtbot, talked):
    """That message of the prompt is chosen; it can be copied."""
    view = lensed(qtbot, talked)
    reply = talked.items.items()[-1]
    view.text_asked.emit(reply.id)
    dialog = the_dialog(qtbot, talked)
    assert dialog.shown_text() == reply.text
    dialog.copy()
    assert QApplication.clipboard().text() == reply.text


def test_what_is_not_sent_says_so(qtbot, talked):
    """The whole prompt is shown, and why the message is not in it."""
    lensed(qtbot, talked)
    talked.parts.transcript.text_asked.emit("nobody")
    assert "Nothing of this message" in the_dialog(qtbot, talked).note.text()


def test_a_folded_message_leads_to_its_summary(qtbot, talked):
    """Only that goes to the model."""
    here = talked._id
    put_fold(talked, here)
    talked.open(here)
    view = lensed(qtbot, talked)
    qtbot.waitUntil(lambda: any(s.state == "folded" for s in talked._facts.lens or ()))
    folded = next(s.entry for s in talked._facts.lens if s.state == "folded")
    view.text_asked.emit(folded)
    dialog = the_dialog(qtbot, talked)
    assert "only the summary" in dialog.note.text()
    assert "They greeted each other." in dialog.shown_text()


def put_fold(window, here):
    """Fold what was said, as a compaction would; on the engine's thread."""
    import threading

    done = threading.Event()

    async def put(client):
        client._workplace.store.append(here, Compaction("They greeted each other.", "gone"))
        client._workplace.store.append(here, user("What next?"))
        done.set()

    window._bridge.ask(put)
    assert done.wait(30)


# ---- the prompt ---------------------------------------------------------------------------------


def test_the_whole_prompt_with_the_draft(qtbot, talked):
    """As it would be sent now, with what was typed a moment ago."""
    talked.parts.composer._edit.setPlainText("Not told yet")
    talked.do("show_prompt")
    dialog = the_dialog(qtbot, talked)
    texts = dialog.text.toPlainText()
    assert texts.startswith("[user]\nHello there\n\n[assistant]\n")
    assert texts.endswith("[user]\nNot told yet")


def test_the_prompt_can_be_copied_from_the_panel(qtbot, talked):
    """Without being looked at."""
    talked.do("panel")
    talked.panel.copy_button.click()
    qtbot.waitUntil(lambda: talked.parts.notices.shown is not None)
    assert QApplication.clipboard().text().startswith("[user]\nHello there")


def test_the_panel_opens_the_prompt(qtbot, talked):
    """Its large button."""
    talked.do("panel")
    qtbot.mouseClick(talked.panel.prompt_button, Qt.MouseButton.LeftButton, pos=QPoint(20, 10))
    assert the_dialog(qtbot, talked).list.count() == 3


def test_the_lens_can_be_switched_as_fast_as_one_likes(qtbot, talked):
    """Off and on again before anything is told: the bands are there."""
    view = lensed(qtbot, talked)
    last = talked.items.items()[-1]
    for _ in range(3):
        talked.do("lens")
        talked.do("lens")
    assert view.lens.band(last).tint == "verbatim"
    talked.do("lens")
    assert view.lens is None
