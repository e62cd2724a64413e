"""Notes that every model gets: sent after the system prompt, never part of it, never cut."""

import asyncio

from app.client import Notice
from app.client.preferences import Spot
from tests.app.client_room import MODEL, a_room

NOTES = "My name is Ada. Answer in metric units."


def run(tmp_path, body):
    async def main():
        async with a_room(tmp_path, "Yes.") as room:
            return await body(room)

    return asyncio.run(main())


def system_of(room):
    """What the last request said first."""
    first = room.backend.requests[-1].messages[0]
    return first.content if first.role == "system" else ""


async def note(room, text, **values):
    await room.client.preferences.set(Spot("memory.notes"), text, MODEL)
    for name, value in values.items():
        await room.client.preferences.set(Spot(f"memory.{name}"), value, MODEL)


def test_notes_are_sent_from_the_next_turn_on(tmp_path):
    """In conversations that are open too, and counted as part of the prompt."""

    async def body(room):
        id_ = await room.send("Hello")
        await room.client.open(id_)
        assert system_of(room) == ""
        await note(room, NOTES)
        await room.send("Again", id_)
        assert system_of(room) == NOTES
        facts = await room.facts(id_)
        assert {s.name: s.tokens for s in facts.segments}["system prompt"] > 5

    run(tmp_path, body)


def test_notes_are_no_part_of_the_system_prompt(tmp_path):
    """That is edited without them, and they follow whatever it becomes."""

    async def body(room):
        id_ = await room.send("Hello")
        await note(room, NOTES)
        assert (await room.client.system.read(id_)).text == ""
        await room.client.system.set(id_, "Be brief.")
        await room.send("Again", id_)
        assert system_of(room) == f"Be brief.\n\n{NOTES}"

    run(tmp_path, body)


def test_notes_that_are_off_are_kept_and_not_sent(tmp_path):
    """A switch, not an eraser."""

    async def body(room):
        await note(room, NOTES, include=False)
        await room.send("Hello")
        assert system_of(room) == ""
        assert room.workplace.settings["memory.notes"] == NOTES

    run(tmp_path, body)


def test_notes_that_are_too_long_are_told_and_not_cut(tmp_path):
    """Once, with both figures."""

    async def body(room):
        await note(room, "word " * 900)
        id_ = await room.send("Hello")
        await room.send("Again", id_)
        assert system_of(room) == ""
        told = [n.text for n in room.of(Notice) if "Your notes" in n.text]
        assert len(told) == 1
        assert "more than the 500" in told[0]

    run(tmp_path, body)
