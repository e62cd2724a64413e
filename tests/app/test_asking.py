"""Modes: folding is asked for first, or only reminded of; and what the question's buttons do."""

import asyncio

from app.client import Notice
from app.items import CardItem
from engine.settings import save_setting
from engine.testing import asks_for_summary
from tests.app.client_room import a_room
from tests.app.test_client_folds import LONG, SUMMARY


def run(tmp_path, body, mode):
    """Do something with a client in that mode."""

    async def main():
        def answer(request):
            return SUMMARY if asks_for_summary(request) else "Yes."

        async with a_room(tmp_path, otherwise=answer, window_tokens=16_384) as room:
            save_setting(room.workplace.paths.settings_file, "compaction.mode", mode)
            save_setting(room.workplace.paths.settings_file, "context.cap_tokens", 16_384)
            room.workplace.read_settings_again()
            return await body(room)

    return asyncio.run(main())


def cards(room, id_, kind):
    return [i for i in room.items(id_) if isinstance(i, CardItem) and i.kind == kind]


async def filled(room):
    """A conversation that has outgrown its budget; its id."""
    id_ = await room.send(f"1. {LONG}")
    for number in range(2, 40):
        if cards(room, id_, "ask") or any("tokens are in use" in n.text for n in room.of(Notice)):
            return id_
        await room.send(f"{number}. {LONG}", id_)
    raise AssertionError("the budget was never full")


def test_ask_first_shows_what_would_be_done(tmp_path):
    """Nothing is folded; figures, preview and four answers stand at the end."""

    async def body(room):
        id_ = await filled(room)
        (card,) = cards(room, id_, "ask")
        assert not cards(room, id_, "compaction")
        assert room.items(id_)[-1] is card
        assert [figure.label for figure in card.figures] == [
            "Prompt",
            "Folds",
            "Stays word for word",
            "Takes",
        ]
        assert card.preview[0][1].startswith("1. The lighthouse")
        assert card.offers == ("compact_now", "compact_with_focus", "not_now", "always")
        assert "of 8,000 tokens are in use" in card.body

    run(tmp_path, body, "ask")


def test_compact_now_folds_and_the_question_goes(tmp_path):
    """What the figures said comes about."""

    async def body(room):
        id_ = await filled(room)
        await room.client.compact(id_)
        await room.rest(id_)
        assert not cards(room, id_, "ask")
        assert len(cards(room, id_, "compaction")) == 1

    run(tmp_path, body, "ask")


def test_not_now_asks_again_when_it_has_grown(tmp_path):
    """The next turn is sent whole; a tenth of the budget later the question comes back."""

    async def body(room):
        id_ = await filled(room)
        await room.client.folds.put_off(id_)
        assert not cards(room, id_, "ask")
        await room.send("short", id_)
        assert not cards(room, id_, "ask")
        await room.send(f"longer {LONG}", id_)
        assert cards(room, id_, "ask")
        assert not cards(room, id_, "compaction")

    run(tmp_path, body, "ask")


def test_always_folds_now_and_from_then_on(tmp_path):
    """The setting is written, and this conversation folded."""

    async def body(room):
        id_ = await filled(room)
        await room.client.folds.always(id_)
        await room.rest(id_)
        assert room.workplace.settings["compaction.mode"] == "automatic"
        assert cards(room, id_, "compaction")

    run(tmp_path, body, "ask")


def test_what_does_not_fit_the_window_is_not_sent(tmp_path):
    """Asked and not answered, the conversation grows until it cannot be sent: that is said."""

    async def body(room):
        id_ = await filled(room)
        for number in range(100, 130):
            await room.send(f"{number}. {LONG}", id_)
            if room.last(id_).state == "failed":
                break
        assert "was not sent" in room.last(id_).error
        assert not cards(room, id_, "compaction")
        assert cards(room, id_, "ask")

    run(tmp_path, body, "ask")


def test_remind_only_says_so(tmp_path):
    """One line, no card, nothing folded."""

    async def body(room):
        id_ = await filled(room)
        assert not cards(room, id_, "ask")
        assert not cards(room, id_, "compaction")
        assert "Compact when it suits you." in room.of(Notice)[-1].text

    run(tmp_path, body, "remind")
