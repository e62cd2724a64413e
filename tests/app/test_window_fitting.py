"""A draft that does not fit, in a whole window: the card, the dialog, digests, part by part."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.client.preferences import Spot
from app.fit_dialog import PartsDialog
from app.typed import Attachment, split_message
from engine.fitting import LEFT_OUT
from engine.testing import Script, asks_for_summary
from tests.app.window_room import SCRIPTED, is_done, say, users
from tests.engine.talks import GOOD_SUMMARY, words

MODEL = SCRIPTED["PORTHOLE_MODELS_DEFAULT"]
DIGEST = "A table of tile sizes. Zoom 14 has the largest tile, 812 KB."
QUESTION = "Which zoom levels cost the most?"
TABLE = "".join(f"{n},{n * n},tile-{n}\n" for n in range(650))
PATIENCE_MS = 20_000


def answers(request):
    if "digest" in request.messages[0].content:
        return DIGEST
    return GOOD_SUMMARY if asks_for_summary(request) else "Noted."


def backend_of(window):
    """The scripted backend of the window's engine."""
    return window._bridge._client._workplace.backend("scripted")


@pytest.fixture
def small(qtbot, window):
    """A window whose model reads 16,384 tokens; larger ones are allowed."""
    spot = Spot("context_window", MODEL)
    window._bridge.ask(lambda c: c.preferences.set(spot, 16_384, MODEL))
    qtbot.waitUntil(
        lambda: window._facts.budget is not None and window._facts.budget.window == 16_384,
        timeout=PATIENCE_MS,
    )
    backend_of(window).otherwise = answers
    return window


def composer(window):
    return window.parts.composer


def card(window):
    return window.fit_card


def names(window):
    return [file.name for file in composer(window).attachments()]


def attach(qtbot, window, text=TABLE, name="tile-sizes.csv"):
    """Attach a file that does not fit, and wait for what can be done."""
    composer(window).add_attachment(Attachment.of(name, text))
    composer(window).flush_draft()
    qtbot.waitUntil(lambda: "pick" in card(window).actions_offered, timeout=PATIENCE_MS)


def dialog_of(qtbot, window):
    def shown():
        return [made for made in window.findChildren(PartsDialog) if made.isVisible()]

    qtbot.waitUntil(lambda: bool(shown()), timeout=PATIENCE_MS)
    return shown()[0]


def wait_gone(qtbot, window):
    qtbot.waitUntil(lambda: card(window).isHidden(), timeout=PATIENCE_MS)


# ---- the card -----------------------------------------------------------------------------------


def test_a_file_that_fits_brings_no_card(qtbot, small):
    composer(small).add_attachment(Attachment.of("a.csv", "1,2,3"))
    composer(small).flush_draft()
    qtbot.waitUntil(lambda: small._facts.draft > 0)
    assert card(small).isHidden()


def test_a_file_that_does_not_fit_brings_the_card(qtbot, small):
    """Over the composer; the tag is amber and says the same size; the status line says nothing."""
    composer(small).set_text(QUESTION)
    attach(qtbot, small)
    offer = small._offer
    assert card(small).title.text().startswith(f"tile-sizes.csv does not fit: {offer.tokens:,} ")
    [file] = composer(small).attachments()
    assert (file.fits, file.tokens) == (False, offer.tokens)
    qtbot.waitUntil(lambda: card(small).geometry().bottom() < composer(small).y())
    assert small.parts.notices.shown is None
    assert card(small).actions_offered == ("pick", "digest", "follow", "larger", "remove")


def test_typing_goes_on_below_the_card(qtbot, small):
    """It takes no focus, and the figures follow what is typed."""
    composer(small).setFocus()
    attach(qtbot, small)
    assert small.focusWidget() is composer(small)._edit
    before = small._offer.room
    QTest.keyClicks(composer(small)._edit, "and how many tiles are there in all of them together?")
    composer(small).flush_draft()
    qtbot.waitUntil(lambda: small._offer.room < before, timeout=PATIENCE_MS)


def test_it_is_not_sent_and_the_reason_is_said(qtbot, small):
    attach(qtbot, small)
    small.do("send")
    assert users(small) == []
    assert "does not fit" in small.parts.notices.shown.text
    assert names(small) == ["tile-sizes.csv"]


def test_removing_it_ends_the_card(qtbot, small):
    composer(small).set_text(QUESTION)
    attach(qtbot, small)
    card(small).button("remove").click()
    wait_gone(qtbot, small)
    assert names(small) == []
    assert composer(small).text() == QUESTION


def test_a_file_marked_too_hastily_is_unmarked(qtbot, small):
    """What the engine says counts: beside a conversation that can be folded it fits."""
    composer(small).add_attachment(Attachment.of("a.csv", "1,2,3", tokens=9, fits=False))
    composer(small).flush_draft()
    qtbot.waitUntil(lambda: composer(small).attachments()[0].fits, timeout=PATIENCE_MS)


def test_another_conversation_has_no_card(qtbot, small):
    """And back in the first, the draft brings it again."""
    say(qtbot, small, "Hello")
    first = small._id
    attach(qtbot, small)
    small.do("new_chat")
    wait_gone(qtbot, small)
    small.open(first)
    qtbot.waitUntil(lambda: "pick" in card(small).actions_offered, timeout=PATIENCE_MS)


def test_an_offer_that_comes_too_late_is_not_shown(qtbot, small):
    """The draft was changed, or another conversation is open."""
    attach(qtbot, small)
    offer = small._offer
    composer(small).set_attachments(())
    composer(small).flush_draft()
    wait_gone(qtbot, small)
    small._show_fit_offer(offer)
    assert card(small).isHidden()


# ---- parts --------------------------------------------------------------------------------------


def test_parts_are_chosen_and_take_the_place_of_the_file(qtbot, small):
    """Then it fits, and is sent."""
    composer(small).set_text(QUESTION)
    attach(qtbot, small)
    card(small).button("pick").click()
    dialog = dialog_of(qtbot, small)
    assert dialog.windowTitle() == "Choose parts of tile-sizes.csv"
    dialog.ok_button.click()
    wait_gone(qtbot, small)
    assert names(small) == ["tile-sizes.csv (excerpt)"]
    assert composer(small).attachments()[0].text.endswith(LEFT_OUT.rstrip())
    small.do("send")
    qtbot.waitUntil(lambda: is_done(small), timeout=PATIENCE_MS)
    assert split_message(users(small)[0])[0] == QUESTION


def test_while_parts_are_chosen_one_can_type(qtbot, small):
    attach(qtbot, small)
    card(small).button("pick").click()
    dialog_of(qtbot, small)
    QTest.keyClicks(composer(small)._edit, "words")
    assert composer(small).text().startswith("words")


def test_an_excerpt_of_another_conversation_goes_nowhere(qtbot, small):
    say(qtbot, small, "Hello")
    attach(qtbot, small)
    card(small).button("pick").click()
    dialog = dialog_of(qtbot, small)
    small.do("new_chat")
    qtbot.waitUntil(lambda: small._id == "", timeout=PATIENCE_MS)
    dialog.ok_button.click()
    assert names(small) == []


def test_a_long_message_is_shortened_in_the_field(qtbot, small):
    """What is typed has no name and cannot be removed, but its parts can be chosen."""
    composer(small).set_text(words(9_000))
    composer(small)._draft_timer.start()
    small._keep_draft(composer(small).text())
    qtbot.waitUntil(lambda: "pick" in card(small).actions_offered, timeout=PATIENCE_MS)
    assert "remove" not in card(small).actions_offered
    card(small).button("pick").click()
    dialog = dialog_of(qtbot, small)
    assert dialog.windowTitle() == "Choose parts of your message"
    dialog.ok_button.click()
    composer(small).flush_draft()
    wait_gone(qtbot, small)
    assert names(small) == []
    assert composer(small).text().endswith(LEFT_OUT.rstrip())


# ---- a digest -----------------------------------------------------------------------------------


def test_a_digest_takes_the_place_of_the_file(qtbot, small):
    composer(small).set_text(QUESTION)
    attach(qtbot, small)
    card(small).button("digest").click()
    qtbot.waitUntil(lambda: names(small) == ["tile-sizes.csv (digest)"], timeout=PATIENCE_MS)
    wait_gone(qtbot, small)
    assert composer(small).attachments()[0].text == DIGEST
    assert composer(small).attachments()[0].tokens > 0
    assert composer(small).text().startswith(QUESTION)
    assert users(small) == []


def test_a_digest_shows_its_progress_and_is_stopped(qtbot, small):
    """Then everything is as it was."""
    backend_of(small).otherwise = lambda _: Script(DIGEST, hold_after=3)
    attach(qtbot, small)
    card(small).button("digest").click()
    qtbot.waitUntil(lambda: "writing" in card(small).about.text(), timeout=PATIENCE_MS)
    assert card(small).title.text() == "Digesting tile-sizes.csv"
    assert card(small).bar.isVisible()
    composer(small).setFocus()
    QTest.keyClicks(composer(small)._edit, "meanwhile")
    card(small).button("stop").click()
    qtbot.waitUntil(lambda: "pick" in card(small).actions_offered, timeout=PATIENCE_MS)
    assert names(small) == ["tile-sizes.csv"]
    assert composer(small).text().startswith("meanwhile")


def test_a_digest_of_a_long_message_is_a_file(qtbot, small):
    composer(small).set_text(words(9_000))
    small._keep_draft(composer(small).text())
    qtbot.waitUntil(lambda: "digest" in card(small).actions_offered, timeout=PATIENCE_MS)
    card(small).button("digest").click()
    qtbot.waitUntil(lambda: names(small) == ["Your message (digest)"], timeout=PATIENCE_MS)
    assert split_message(composer(small).text())[0] == ""


def test_a_digest_that_fails_is_said(qtbot, small):
    backend_of(small).otherwise = lambda _: Script("I", stop_reason="length")
    attach(qtbot, small)
    card(small).button("digest").click()
    qtbot.waitUntil(
        lambda: (
            small.parts.notices.shown is not None
            and "could not write a digest" in small.parts.notices.shown.text
        ),
        timeout=PATIENCE_MS,
    )
    qtbot.waitUntil(lambda: "pick" in card(small).actions_offered, timeout=PATIENCE_MS)


def test_a_digest_is_seen_only_where_it_is_written(qtbot, small):
    """And it is there when one comes back."""
    say(qtbot, small, "Hello")
    first = small._id
    backend_of(small).otherwise = lambda _: Script(DIGEST, hold_after=3)
    attach(qtbot, small)
    card(small).button("digest").click()
    qtbot.waitUntil(lambda: "stop" in card(small).actions_offered, timeout=PATIENCE_MS)
    small.do("new_chat")
    wait_gone(qtbot, small)
    client = small._bridge._client
    small._bridge._loop.call_soon_threadsafe(backend_of(small).release.set)
    qtbot.waitUntil(lambda: not client.fitting._digests, timeout=PATIENCE_MS)
    small.open(first)
    qtbot.waitUntil(lambda: names(small) == ["tile-sizes.csv (digest)"], timeout=PATIENCE_MS)


# ---- part by part, a larger window --------------------------------------------------------------


def test_parts_are_asked_one_after_the_other(qtbot, small):
    composer(small).set_text(QUESTION)
    attach(qtbot, small)
    card(small).button("follow").click()
    qtbot.waitUntil(
        lambda: is_done(small) and "next" in card(small).actions_offered, timeout=PATIENCE_MS
    )
    assert composer(small).text() == ""
    total = small._waiting.total
    for number in range(2, total + 1):
        words_ = f"Ask part {number} of {total}"
        qtbot.waitUntil(lambda w=words_: card(small).button("next").text() == w)
        card(small).button("next").click()
    wait_gone(qtbot, small)
    qtbot.waitUntil(
        lambda: is_done(small) and f"part {total} of" in users(small)[-1], timeout=PATIENCE_MS
    )
    typed, [file] = split_message(users(small)[-1])
    assert (typed, file.name) == (QUESTION, f"tile-sizes.csv (part {total} of {total})")
    assert file.text.endswith(TABLE.splitlines()[-1])


def test_what_waits_is_offered_again_when_one_comes_back(qtbot, small):
    attach(qtbot, small)
    card(small).button("follow").click()
    qtbot.waitUntil(
        lambda: is_done(small) and "next" in card(small).actions_offered, timeout=PATIENCE_MS
    )
    first = small._id
    small.do("new_chat")
    wait_gone(qtbot, small)
    small.open(first)
    qtbot.waitUntil(lambda: "end" in card(small).actions_offered, timeout=PATIENCE_MS)
    card(small).button("end").click()
    wait_gone(qtbot, small)


def test_a_larger_window_makes_it_fit(qtbot, small):
    """The setting of the model is changed, and nothing of the draft."""
    attach(qtbot, small)
    assert card(small).button("larger").text() == "Use a window of 32,768"
    card(small).button("larger").click()
    wait_gone(qtbot, small)
    assert small._facts.budget.window == 32_768
    assert names(small) == ["tile-sizes.csv"]
    qtbot.waitUntil(
        lambda: (
            small.parts.notices.shown is not None
            and "has a window of 32,768" in small.parts.notices.shown.text
        ),
        timeout=PATIENCE_MS,
    )


def test_everything_is_reached_by_keyboard(qtbot, small):
    """Backwards from the field: Shift+Tab, and Space presses."""
    attach(qtbot, small)
    small.activateWindow()
    composer(small)._edit.setFocus()
    for _ in range(8):
        if small.focusWidget() is card(small).button("remove"):
            break
        QTest.keyClick(small.focusWidget(), Qt.Key.Key_Backtab, Qt.KeyboardModifier.ShiftModifier)
    assert small.focusWidget() is card(small).button("remove")
    QTest.keyClick(small.focusWidget(), Qt.Key.Key_Space)
    wait_gone(qtbot, small)
    assert small.focusWidget() is composer(small)._edit
