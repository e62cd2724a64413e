"""Compactions afterwards, through the client: originals, editing, undoing, made anew."""

import asyncio

import pytest

from app.client import Notice
from app.items import CardItem, UserItem
from engine.context import UNDONE_RESERVE
from engine.errors import EnvironmentFault
from engine.testing import Script, asks_for_summary
from tests.app.client_room import a_room

LONG = "The lighthouse keeper counted the ships that passed the point in the evening. " * 60
SUMMARY = "The user and the assistant talked about a lighthouse and the ships that passed it."


def answer(request):
    """A summary when one is asked for, else a word."""
    return SUMMARY if asks_for_summary(request) else "Yes."


def run(tmp_path, body):
    """Do something with a client whose model writes a summary when it is asked for one."""

    async def main():
        async with a_room(tmp_path, otherwise=answer) as room:
            return await body(room)

    return asyncio.run(main())


async def folded(room, turns=6):
    """A conversation that was compacted; its id and its card."""
    id_ = await room.send(f"1. {LONG}")
    for number in range(2, turns + 1):
        await room.send(f"{number}. {LONG}", id_)
    await room.client.compact(id_)
    await room.rest(id_)
    return id_, card_of(room, id_)


def card_of(room, id_):
    return next(item for item in room.items(id_) if isinstance(item, CardItem))


def said(room, id_):
    return [item.text[:2] for item in room.items(id_) if isinstance(item, UserItem)]


def test_what_is_folded_is_behind_the_card(tmp_path):
    """And comes back below it, when it is asked for."""

    async def body(room):
        id_, card = await folded(room)
        few = said(room, id_)
        assert card.has_originals
        assert len(few) < 6
        await room.client.folds.toggle_originals(id_, card.id)
        assert said(room, id_) == ["1.", "2.", "3.", "4.", "5.", "6."]
        assert card_of(room, id_).is_open
        await room.client.folds.toggle_originals(id_, card.id)
        assert said(room, id_) == few

    run(tmp_path, body)


def test_originals_stay_open_while_the_conversation_goes_on(tmp_path):
    """A new turn hides nothing that was opened; another conversation does."""

    async def body(room):
        id_, _card = await folded(room)
        assert await room.client.folds.show_originals(id_)
        await room.send("7. short", id_)
        assert said(room, id_)[0] == "1."
        await room.client.open(None)
        opened = await room.client.open(id_)
        assert not next(i for i in opened.items if isinstance(i, CardItem)).is_open

    run(tmp_path, body)


def test_nothing_folded_has_no_originals(tmp_path):
    """A conversation without a compaction."""

    async def body(room):
        id_ = await room.send("short")
        assert not await room.client.folds.show_originals(id_)

    run(tmp_path, body)


def test_an_edited_summary_is_sent_from_then_on(tmp_path):
    """On the card, and in the next request; nothing of the old words in it."""

    async def body(room):
        id_, card = await folded(room)
        assert await room.client.folds.summary(id_, card.id) == card.body
        await room.client.folds.edit(id_, card.id, "Only my own words count.")
        assert card_of(room, id_).body == "Only my own words count."
        await room.send("7. short", id_)
        sent = "\n".join(m.content for m in room.backend.requests[-1].messages)
        assert "Only my own words count." in sent
        assert SUMMARY not in sent

    run(tmp_path, body)


def test_an_undone_compaction_sends_the_originals(tmp_path):
    """All of them, the card says so, and the meter moves; restored, the summary counts again."""

    async def body(room):
        id_, card = await folded(room)
        before = await room.facts(id_)
        await room.client.folds.undo(id_, card.id)
        after = await room.facts(id_)
        assert after.used > before.used
        assert after.budget.prompt == after.budget.window - UNDONE_RESERVE
        assert card_of(room, id_).is_undone
        assert len(said(room, id_)) == 6
        await room.send("7. short", id_)
        sent = "\n".join(m.content for m in room.backend.requests[-1].messages)
        assert all(f"{number}. The light" in sent for number in range(1, 7))
        assert SUMMARY not in sent
        await room.client.folds.restore(id_, card.id)
        await room.send("8. short", id_)
        sent = "\n".join(m.content for m in room.backend.requests[-1].messages)
        assert SUMMARY in sent
        assert "1. The light" not in sent

    run(tmp_path, body)


def test_a_summary_made_anew_is_of_the_originals(tmp_path):
    """With the focus that was asked for; there is one card that counts."""

    async def body(room):
        id_, card = await folded(room)
        await room.client.folds.redo(id_, card.id, "the names of the ships")
        await room.rest(id_)
        asked = next(r for r in reversed(room.backend.requests) if asks_for_summary(r))
        words = "\n".join(m.content for m in asked.messages)
        assert "1. The light" in words
        assert "the names of the ships" in words
        assert card_of(room, id_).id != card.id
        assert "the names of the ships" in card_of(room, id_).facts

    run(tmp_path, body)


def test_pinned_messages_stay_when_it_is_made_anew(tmp_path):
    """Word for word in the next request, beside the summary; unpinned again they are folded."""

    async def body(room):
        id_, card = await folded(room)
        found = await room.client.folds.pinnable(id_, card.id)
        assert [m.text[:2] for m in found.messages if m.is_users][:2] == ["1.", "2."]
        second = next(m.id for m in found.messages if m.text.startswith("2."))
        await room.client.folds.redo_pinned(id_, card.id, frozenset({second}))
        await room.rest(id_)
        await room.send("7. short", id_)
        sent = "\n".join(m.content for m in room.backend.requests[-1].messages)
        assert "2. The light" in sent
        assert "1. The light" not in sent
        assert SUMMARY in sent
        last = card_of(room, id_)
        await room.client.folds.redo_pinned(id_, last.id, frozenset())
        await room.rest(id_)
        await room.send("8. short", id_)
        sent = "\n".join(m.content for m in room.backend.requests[-1].messages)
        assert "2. The light" not in sent

    run(tmp_path, body)


def test_too_many_pins_change_nothing(tmp_path):
    """They would leave the conversation no room: said, and nothing is pinned."""

    async def body(room):
        id_, card = await folded(room)
        found = await room.client.folds.pinnable(id_, card.id)
        room.client.folds._budget = lambda _talk: 1_000
        with pytest.raises(EnvironmentFault, match="250 tokens together"):
            await room.client.folds.redo_pinned(
                id_, card.id, frozenset(m.id for m in found.messages)
            )
        assert not any(
            m.is_pinned for m in (await room.client.folds.pinnable(id_, card.id)).messages
        )

    run(tmp_path, body)


def test_a_redo_that_fails_changes_nothing(tmp_path):
    """The summary that was there counts on."""

    async def body(room):
        id_, card = await folded(room)
        room.backend.otherwise = lambda _request: ""
        await room.client.folds.redo(id_, card.id, "nothing")
        await room.rest(id_)
        assert card_of(room, id_).id == card.id
        assert not card_of(room, id_).is_undone
        notices = [told for told in room.told if isinstance(told, Notice)]
        assert notices[-1].level == "warning"

    run(tmp_path, body)


def test_undone_at_the_very_end_of_a_turn(tmp_path):
    """The reply is there, and its turn is being brought to an end: that is waited for."""

    async def body(room):
        id_, card = await folded(room)
        seen = asyncio.Event()
        tell = room.tell

        def listen(value):
            tell(value)
            talk = room.client._talks.talk(id_)
            if talk.is_answered:
                seen.set()

        room.tell = listen
        await room.client.send(id_, "7. short")
        await seen.wait()
        assert room.client._talks.is_running(id_)
        await room.client.folds.undo(id_, card.id)
        assert card_of(room, id_).is_undone
        assert said(room, id_)[-1] == "7."

    run(tmp_path, body)


def test_while_a_reply_is_written_a_summary_is_left_alone(tmp_path):
    """It would change under the model: that is said."""

    async def body(room):
        id_, card = await folded(room)
        room.backend.otherwise = lambda _request: Script("slow words here", hold_after=1)
        await room.client.send(id_, "7. short")
        await room.until(lambda: room.last(id_).text.startswith("slow"))
        with pytest.raises(EnvironmentFault, match="being written"):
            await room.client.folds.undo(id_, card.id)
        await room.client.stop(id_)
        await room.rest(id_)

    run(tmp_path, body)


def test_a_card_of_another_branch_is_told(tmp_path):
    """What is not on the path cannot be changed."""

    async def body(room):
        id_, _ = await folded(room)
        with pytest.raises(EnvironmentFault, match="not part of the conversation"):
            await room.client.folds.edit(id_, "nothing", "words")

    run(tmp_path, body)


def test_a_pinned_message_is_never_folded(tmp_path):
    """Word for word in the prompt after the next compaction."""

    async def body(room):
        id_ = await room.send("1. Remember the number 4711 of the locker.")
        for number in range(2, 7):
            await room.send(f"{number}. {LONG}", id_)
        first = next(i for i in room.items(id_) if isinstance(i, UserItem))
        await room.client.folds.pin(id_, first.id, True)
        await room.client.compact(id_)
        await room.rest(id_)
        await room.send("7. short", id_)
        sent = "\n".join(m.content for m in room.backend.requests[-1].messages)
        assert "1. Remember the number 4711 of the locker." in sent

    run(tmp_path, body)


def test_a_pin_is_shown_and_taken_off(tmp_path):
    """On the message it was put on."""

    async def body(room):
        id_ = await room.send("1. Remember the number 4711.")
        message = next(i for i in room.items(id_) if isinstance(i, UserItem))
        for pinned in (True, False):
            await room.client.folds.pin(id_, message.id, pinned)
            shown = next(i for i in room.items(id_) if isinstance(i, UserItem))
            assert shown.pinned is pinned

    run(tmp_path, body)


def test_pins_have_a_cap(tmp_path):
    """A quarter of the prompt budget: more is refused with the figures, and nothing is pinned."""

    async def body(room):
        id_ = await room.send("1. short")
        large = await room.client.send(id_, "many words " * 2_000)
        await room.rest(large)
        first, second = [i for i in room.items(id_) if isinstance(i, UserItem)]
        await room.client.folds.pin(id_, first.id, True)
        with pytest.raises(EnvironmentFault, match="Pinned messages may have 3,192 tokens"):
            await room.client.folds.pin(id_, second.id, True)
        assert [i.pinned for i in room.items(id_) if isinstance(i, UserItem)] == [True, False]

    run(tmp_path, body)


def test_a_compaction_that_fails_says_so_with_choices(tmp_path):
    """A card in the conversation: why, that nothing was changed, and four ways on; then it goes."""

    async def body(room):
        id_ = await room.send(f"1. {LONG}")
        for number in range(2, 7):
            await room.send(f"{number}. {LONG}", id_)
        room.backend.otherwise = lambda _request: ""
        await room.client.compact(id_)
        await room.rest(id_)
        card = card_of(room, id_)
        assert card.title == "The conversation could not be compacted"
        assert "All messages are as they were." in card.body
        assert card.offers == ("compact_now", "use_model", "models", "new_chat")
        room.backend.otherwise = answer
        await room.client.compact(id_)
        await room.rest(id_)
        assert card_of(room, id_).kind == "compaction"

    run(tmp_path, body)
