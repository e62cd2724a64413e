"""A conversation is folded while nobody uses it, where that is wanted."""

import asyncio

import pytest

from app.client import Notice
from app.items import CardItem
from engine.settings import save_setting
from engine.testing import Script, asks_for_summary
from tests.app.client_room import a_room

LONG = "The lighthouse keeper counted the ships that passed the point in the evening. " * 240
SUMMARY = "The user and the assistant talked about a lighthouse and the ships that passed it."
SECONDS = 90


class Clock:
    """What is to be done later, done when the test says so."""

    def __init__(self):
        self.waits, self.doing = [], None

    def later(self, seconds, doing):
        self.waits.append(seconds)
        self.doing = doing
        return self

    def cancel(self):
        self.doing = None

    def ring(self):
        """The time is over."""
        doing, self.doing = self.doing, None
        doing()


def answer(request):
    return SUMMARY if asks_for_summary(request) else "Yes."


def run(tmp_path, body, *, otherwise=answer, **values):
    """Do something with a client that folds after a minute and a half, and its clock."""

    async def main():
        async with a_room(tmp_path, otherwise=otherwise) as room:
            settings = {
                "idle_seconds": SECONDS,
                "reserve_tokens": 1_024,
                "reserve_floor": 0,
                **values,
            }
            for name, value in settings.items():
                save_setting(room.workplace.paths.settings_file, f"compaction.{name}", value)
            room.workplace.read_settings_again()
            clock = Clock()
            room.client.idle.later = clock.later
            return await body(room, clock)

    return asyncio.run(main())


async def filled(room, share=0.8):
    """A conversation that fills so much of its budget, and rests; its id."""
    await room.client.open(None)
    id_ = await room.send(f"1. {LONG}")
    await room.client.open(id_)
    number = 1
    while (facts := await room.facts(id_)).used < share * facts.budget.prompt:
        number += 1
        await room.send(f"{number}. {LONG}", id_)
    return id_


def cards(room, id_):
    return [item for item in room.items(id_) if isinstance(item, CardItem)]


def test_what_is_nearly_full_is_folded_at_rest(tmp_path):
    """With a card that says why; and once it was folded it is left alone."""

    async def body(room, clock):
        id_ = await filled(room)
        assert not cards(room, id_)
        assert clock.waits[-1] == SECONDS
        clock.ring()
        await room.rest(id_)
        (card,) = cards(room, id_)
        assert card.kind == "compaction"
        assert "while nobody typed" in card.facts
        asked = len(room.backend.requests)
        clock.ring()
        await room.rest(id_)
        assert len(room.backend.requests) == asked

    run(tmp_path, body)


@pytest.mark.parametrize(
    "values",
    [{"idle_seconds": 0}, {"enabled": False}, {"mode": "ask"}, {"mode": "remind"}],
    ids=lambda values: next(iter(values)),
)
def test_nothing_is_waited_for_where_it_is_not_wanted(values, tmp_path):
    """Off by its own setting, by that of all compaction, and where the user is asked first."""

    async def body(room, clock):
        await filled(room, 0.5)
        assert clock.waits == []

    run(tmp_path, body, **values)


def test_what_has_room_is_left_alone(tmp_path):
    """Half of the budget is not nearly all of it."""

    async def body(room, clock):
        id_ = await filled(room, 0.4)
        asked = len(room.backend.requests)
        clock.ring()
        await room.rest(id_)
        assert len(room.backend.requests) == asked
        assert not cards(room, id_)

    run(tmp_path, body)


def test_typing_is_no_rest(tmp_path):
    """Every change of the draft starts the clock again."""

    async def body(room, clock):
        id_ = await filled(room)
        before = len(clock.waits)
        await room.client.keep_draft(id_, "I was just")
        assert len(clock.waits) > before

    run(tmp_path, body)


def test_a_message_is_not_kept_waiting(tmp_path):
    """What folds by itself gives way: nothing is changed, nothing is told, the reply comes."""
    summaries = []

    def slow(request):
        if asks_for_summary(request) and not summaries:
            summaries.append(request)
            return Script(SUMMARY, hold_after=1)
        return answer(request)

    async def body(room, clock):
        id_ = await filled(room)
        clock.ring()
        await room.until(
            lambda: any(c.kind == "compacting" for c in cards(room, id_)) and summaries
        )
        told = len(room.of(Notice))
        await room.send("Are you there?", id_)
        assert room.last(id_).text == "Yes."
        assert all(card.kind != "compacting" for card in cards(room, id_))
        assert all("Stopped" not in notice.text for notice in room.of(Notice)[told:])

    run(tmp_path, body, otherwise=slow)


def test_what_was_undone_is_left_alone(tmp_path):
    """The user wants the originals."""

    async def body(room, clock):
        id_ = await filled(room)
        clock.ring()
        await room.rest(id_)
        (card,) = cards(room, id_)
        await room.client.folds.undo(id_, card.id)
        asked = len(room.backend.requests)
        clock.ring()
        await room.rest(id_)
        assert len(room.backend.requests) == asked

    run(tmp_path, body)


async def held(room, clock):
    """A nearly full conversation whose folding was begun at rest, and stands still; its id."""
    id_ = await filled(room)
    room.backend.otherwise = lambda request: (
        Script(SUMMARY, hold_after=1) if asks_for_summary(request) else "Yes."
    )
    clock.ring()
    await room.until(lambda: any(c.kind == "compacting" for c in cards(room, id_)))
    return id_


def test_another_conversation_is_not_kept_waiting(tmp_path):
    """It has the model at once: nobody asked for what holds it."""

    async def body(room, clock):
        id_ = await held(room, clock)
        other = await room.send("Hello there")
        assert room.last(other).text == "Yes."
        await room.rest(id_)
        assert not cards(room, id_)

    run(tmp_path, body)


def test_what_is_done_to_the_conversation_comes_first(tmp_path):
    """A message is pinned while it folds by itself: that ends, and is no reply to wait for."""

    async def body(room, clock):
        id_ = await held(room, clock)
        first = room.items(id_)[0].id
        await room.client.folds.pin(id_, first, pinned=True)
        assert room.items(id_)[0].pinned
        assert not cards(room, id_)

    run(tmp_path, body)
