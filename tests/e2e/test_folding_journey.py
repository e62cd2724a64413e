"""The window in the open, with the real starter at 16,384: folded by itself, edited, undone, kept."""

from tests.engine.long_talk import diary

QUESTION = "What is the password? Answer with one word."


def talk_until_folded(window):
    """Paste pages until the conversation is folded by itself; how many it took, and the card."""
    for number in range(1, 14):
        window.paste(diary(number, 1_100))
        window.keys("Return")
        window.until(lambda seen: seen.stops)
        seen = window.until(rests)
        if seen.of_kind("card"):  # and soon it is the stored one
            return number, window.until(lambda seen: fold(seen) is not None)
    raise AssertionError("the conversation was never folded")


def rests(seen):
    """Nothing is written, and nothing is to be folded: the budget holds what is there."""
    return not seen.stops and ended(seen) and seen.used <= seen.budget


def ended(seen):
    return all(reply.state in ("done", "cut") for reply in seen.replies)


def fold(seen):
    """The card of the compaction that counts; None without one."""
    cards = [card for card in seen.of_kind("card") if card.offers]
    return cards[-1] if cards else None


def explained(porthole):
    """What `porthole explain` says of the only conversation."""
    (row,) = porthole.json("sessions", "--json")
    return porthole.json("explain", "--session", row["id"], "--json")


def agrees(porthole, window, budget):
    """The meter and `porthole explain` say the same, to the token: both count as the model does."""
    said = explained(porthole)
    assert said["count"]["kind"] == "exact"
    seen = window.until(lambda seen: seen.used == said["count"]["tokens"])
    assert said["budget"]["prompt"] == seen.budget == budget


def is_undone(seen):
    return any(card.undone for card in seen.of_kind("card"))


def edited(window):
    """Put other words in the place of the summary, and go on talking."""
    window.press("card", "edit_summary")
    window.until(lambda seen: seen.open)
    window.keys("Ctrl+A")
    window.paste("The party walked from the mill to the harbour. The password is heron.")
    window.keys("Ctrl+Return")
    window.until(lambda seen: fold(seen) is not None and "heron" in fold(seen).body)
    window.picture("edited")
    replies = len(window.seen.replies)
    window.keys("Ctrl+L")
    window.paste(QUESTION)
    window.keys("Return")
    window.until(lambda seen: len(seen.replies) > replies and not seen.stops and ended(seen))


def test_folded_by_itself_edited_undone_and_kept(open_window, porthole):
    """The card, the notice and the meter agree with explain; all that is done to it stays done."""
    porthole.settings("[model.starter]\nmax_tokens = 40\ntemperature = 0\n")
    window = open_window(porthole)
    window.until(lambda seen: seen.page == "empty" and seen.budget)
    assert window.seen.budget == 8_000
    count, seen = talk_until_folded(window)
    assert (seen.notice[:11], seen.link) == ("Compacted: ", "Undo")
    assert len(seen.said) < count
    agrees(porthole, window, 8_000)
    window.picture("folded")
    window.press("card", "show_originals")
    window.until(lambda seen: len(seen.said) == count)
    window.picture("originals")
    window.press("card", "show_originals")
    window.until(lambda seen: len(seen.said) < count)
    edited(window)
    before = window.seen.used
    window.press("card", "undo_compaction")
    seen = window.until(lambda seen: is_undone(seen) and seen.used > before + 1_000)
    assert len(seen.said) == count + 1
    agrees(porthole, window, 16_384 - 1_024)
    window.picture("undone")
    window.close()
    again = open_window(porthole)
    again.until(lambda seen: len(seen.said) == count + 1 and is_undone(seen))
    again.press("card", "restore_compaction")
    seen = again.until(lambda seen: not is_undone(seen))
    assert "heron" in fold(seen).body
    again.close()
