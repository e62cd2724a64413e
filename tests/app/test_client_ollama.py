"""A client on an Ollama server: queues, and stopping in every phase of a turn."""

import asyncio

import pytest

from app.client import Notice, WindowKnown
from app.items import CardItem, UserItem
from engine.testing.ollama import OllamaDouble
from engine.testing.ollama_script import Close, Reply
from tests.app.client_room import PATIENCE_SECONDS, an_ollama_room

LONG = Reply("one two three four", thinking="let me see")


def run(tmp_path, body, **double):
    """Run a test's body in a room on a server; the server and what the body gives."""

    async def main(server):
        async with an_ollama_room(tmp_path, server) as room:
            return await body(room, server)

    with OllamaDouble(**double) as server:
        server.always("It is understood.")
        return server, asyncio.run(main(server))


async def reached(gate):
    """Wait until the server is at a place, without keeping the client from its work."""
    assert await asyncio.to_thread(gate.reached.wait, PATIENCE_SECONDS)


async def seen(server, happened):
    """Wait until the server saw something."""
    await asyncio.to_thread(server.wait_for, happened)


def chats(server):
    """The requests that were to be answered."""
    return [body for body in server.bodies() if body["messages"]]


def came(reply):
    """What there is of a reply."""
    return reply.thinking.strip(), reply.text.strip()


# ---- queues -------------------------------------------------------------------------------------


def test_conversations_with_one_model_wait_for_each_other(tmp_path):
    """The server would let them wait in silence; here the second says for whom it waits."""

    async def body(room, server):
        gate = server.hold("piece", after=1)
        one = await room.client.send(None, "first chat")
        await reached(gate)
        two = await room.client.send(None, "second chat")
        await room.until(lambda: room.last(two).waits_for)
        waits = room.last(two).waits_for, len(chats(server))
        gate.open()
        await room.rest(one)
        await room.rest(two)
        return waits, room.last(one).state, room.last(two).state

    _, (waits, *states) = run(tmp_path, body)
    assert waits == ("first chat", 1)
    assert states == ["done", "done"]


def test_conversations_with_two_models_do_not(tmp_path):
    """Each model has a queue of its own."""

    async def body(room, server):
        server.say(LONG)
        gate = server.hold("piece", after=1)
        one = await room.client.send(None, "first chat")
        await reached(gate)
        two = await room.client.send(None, "second chat", "ollama:plain")
        await room.rest(two)
        states = room.last(one).is_running, room.last(two).state
        gate.open()
        await room.rest(one)
        return (*states, room.last(one).state)

    assert run(tmp_path, body)[1] == (True, "done", "done")


# ---- windows ------------------------------------------------------------------------------------


def test_a_window_is_told_before_the_server_answers(tmp_path):
    """What an earlier run learned is shown at once; nothing waits for a slow server."""
    with OllamaDouble() as server:

        async def first():
            async with an_ollama_room(tmp_path, server) as room:
                await room.client.models()

        async def second():
            async with an_ollama_room(tmp_path, server) as room:
                asked = len(server.requests)
                shown = await room.client.open(None)
                told = len(server.requests) - asked, shown.window_tokens, shown.guard
                await room.until(lambda: room.of(WindowKnown))
                return told, room.of(WindowKnown)[-1].guard

        asyncio.run(first())
        told, guard = asyncio.run(second())
    assert told == (0, 32_768, "ok")
    assert guard == "ok"


def test_a_server_that_is_not_there_does_not_hide_the_window(tmp_path):
    """The figure stays, and beside it why the model cannot be used now."""
    with OllamaDouble() as server:

        async def first():
            async with an_ollama_room(tmp_path, server) as room:
                await room.client.models()

        asyncio.run(first())

    async def second():
        async with an_ollama_room(tmp_path, server) as room:
            await room.client.open(None)
            await room.until(lambda: room.of(WindowKnown))
            return room.of(WindowKnown)[-1]

    known = asyncio.run(second())
    assert (known.window_tokens, known.guard) == (32_768, "block")
    assert "No Ollama server answers" in known.guard_text


def test_another_programs_load_is_told_every_time(tmp_path):
    """Who works with two programs on one model wants to know why each turn takes so long."""

    async def body(room, server):
        id_ = await room.send("one")
        for text in ("two", "three"):
            server.other_client("m", 4_096)
            await room.send(text, id_)
        await room.send("four", id_)
        return [notice.text for notice in room.of(Notice) if "Another program" in notice.text]

    server, told = run(tmp_path, body)
    assert len(told) == 2
    assert "4,096" in told[0]
    assert len(server.log.loads) == 5


# ---- stopping -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("point", "after", "thinking", "text"),
    [
        ("load", 0, "", ""),
        ("prompt", 0, "", ""),
        ("piece", 2, "let me", ""),
        ("piece", 5, "let me see", "one two"),
    ],
    ids=["load", "read", "think", "write"],
)
def test_stop_ends_the_request_in_every_phase(tmp_path, point, after, thinking, text):
    """The server sees it end before it could go on; what had come is kept, the message too."""

    async def body(room, server):
        server.say(LONG)
        gate = server.hold(point, after=after)
        id_ = await room.client.send(None, "go")
        await reached(gate)
        await room.until(lambda: came(room.last(id_)) == (thinking, text))
        await room.client.stop(id_)
        await room.rest(id_)
        await seen(server, lambda: server.left == 1)
        shown = [item.text for item in room.items(id_) if isinstance(item, UserItem)]
        last = room.last(id_)
        await room.send("and again", id_)
        return shown, last, room.last(id_).text

    server, (shown, last, again) = run(tmp_path, body)
    assert shown == ["go"]
    assert came(last) == (thinking, text)
    assert again
    assert len(chats(server)) == (1 if point == "load" else 2)
    assert server.state.aborted_loads == (1 if point == "load" else 0)


def test_stop_in_the_queue_sends_nothing(tmp_path):
    """The request was never made; the message stands, unanswered."""

    async def body(room, server):
        gate = server.hold("piece", after=1)
        one = await room.client.send(None, "first chat")
        await reached(gate)
        two = await room.client.send(None, "second chat")
        await room.until(lambda: room.last(two).waits_for)
        await room.client.stop(two)
        await room.rest(two)
        gate.open()
        await room.rest(one)
        return [i.text for i in room.items(two) if isinstance(i, UserItem)], room.last(one).state

    server, (shown, state) = run(tmp_path, body)
    assert (shown, state) == (["second chat"], "done")
    assert len(chats(server)) == 1
    assert server.left == 0


def test_stop_ends_the_request_for_a_summary(tmp_path):
    """Nothing is changed then, and the server sees it end."""

    async def body(room, server):
        id_ = await room.send("It was a long story. " * 300)
        for _ in range(3):
            await room.send("And then? " * 200, id_)
        gate = server.hold("prompt")
        await room.client.compact(id_)
        await reached(gate)
        await room.client.stop(id_)
        await room.rest(id_)
        await seen(server, lambda: server.left == 1)
        return [i.kind for i in room.items(id_) if isinstance(i, CardItem)], room.texts(id_)

    _, (cards, texts) = run(tmp_path, body)
    assert "compaction" not in cards
    assert len(texts) == 8


def test_a_load_that_broke_off_is_not_repeated_by_itself(tmp_path):
    """A proxy that hangs up while the model loads is no reason to load it again and again."""

    async def body(room, server):
        server.fail(Close(), "load")
        id_ = await room.send("go")
        failed, asked = room.last(id_), len(server.bodies())
        await room.client.answer(id_)
        await room.rest(id_)
        return failed, asked, room.last(id_).state

    _, (failed, asked, after) = run(tmp_path, body)
    assert (failed.state, asked) == ("failed", 1)
    assert failed.remedy
    assert after == "done"
