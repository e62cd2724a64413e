"""A client on an Ollama server with models of ollama.com, with a token, and on an old server."""

import asyncio
from datetime import UTC, datetime

import pytest

from app.client import Failed, Notice
from app.client.preferences import Spot
from app.reports import plan_report
from engine.backends.base import PromptMessage, PromptRequest
from engine.backends.ollama import OllamaBackend
from engine.errors import Bug
from engine.testing.ollama import OllamaDouble
from engine.testing.ollama_rules import Model
from engine.testing.ollama_script import Answer
from tests.app.client_room import an_ollama_room

CLOUD, STUB = "ollama:big:cloud", "ollama:far:latest"
MODELS = (
    Model("m"),
    Model("big:cloud", remote_host="https://ollama.com", trained=131_072),
    Model("far", remote_host="https://ollama.com", trained=4_096),
)
ALLOW = Spot("ollama.allow_cloud")
TOKEN = "tok-5ecret"


def run(tmp_path, body, model="ollama:m", **double):
    """Run a test's body in a room on a server; the server and what the body gives."""

    async def main(server):
        async with an_ollama_room(tmp_path, server, model=model) as room:
            return await body(room, server)

    with OllamaDouble(MODELS, **double) as server:
        server.always("It is understood.")
        return server, asyncio.run(main(server))


def named(server, model):
    """The requests in which a model is named."""
    bodies = (request.body for request in server.requests if isinstance(request.body, dict))
    return [body for body in bodies if body.get("model") == model]


async def say(room, text, model, conversation=None):
    """Say something to a model and wait for what comes of it; the conversation."""
    conversation = await room.client.send(conversation, text, model)
    await room.rest(conversation)
    return conversation


async def answered(room, text, model):
    """How something that is said in a new conversation is answered."""
    return room.last(await say(room, text, model))


# ---- off ----------------------------------------------------------------------------------------


def test_cloud_models_are_listed_and_off(tmp_path):
    """They are marked, blocked and say why; the others are not. Nobody was asked about them."""

    async def body(room, server):
        return {row.name: row for row in await room.client.models()}

    server, rows = run(tmp_path, body)
    for name in (CLOUD, STUB):
        assert (rows[name].cloud, rows[name].guard) == (True, "block")
        assert "Allow cloud models" in rows[name].reason
    assert (rows["ollama:m:latest"].cloud, rows["ollama:m:latest"].guard) == (False, "ok")
    assert named(server, "big:cloud") == named(server, "far:latest") == []


@pytest.mark.parametrize("model", [CLOUD, STUB])
def test_what_is_said_to_one_is_not_sent(tmp_path, model):
    """The message is kept, and the conversation says what would leave and where to allow it."""

    async def body(room, server):
        await room.client.models()
        return await answered(room, "my secret diary", model)

    server, reply = run(tmp_path, body)
    assert reply.state == "failed"
    assert "would leave this computer. Nothing was sent." in reply.error
    assert "ollama.allow_cloud" in reply.remedy
    assert "my secret diary" not in str([request.body for request in server.requests])
    assert named(server, model.partition(":")[2]) == []


def test_the_truth_about_one_says_why(tmp_path):
    """The models window tells the same, and that it is a model of ollama.com."""

    async def body(room, server):
        return await room.client.truth.read(CLOUD)

    _, truth = run(tmp_path, body)
    assert truth.cloud
    assert "would leave this computer" in truth.problem


# ---- on -----------------------------------------------------------------------------------------


def test_the_word_counts_at_once_and_is_taken_back_at_once(tmp_path):
    """No restart: allowed, it answers and is told of once; taken back, the next message stays here."""

    async def body(room, server):
        await room.client.models()
        await room.client.preferences.set(ALLOW, True)
        rows = {row.name: row for row in await room.client.models()}
        truth = await room.client.truth.read(CLOUD)
        conversation = await say(room, "one", CLOUD)
        await say(room, "two", CLOUD, conversation)
        notices = [n.text for n in room.of(Notice) if "ollama.com" in n.text]
        await room.client.preferences.set(ALLOW, False)
        await say(room, "three", CLOUD, conversation)
        after = {row.name: row for row in await room.client.models()}
        return rows, truth, notices, after

    server, (rows, truth, notices, after) = run(tmp_path, body)
    assert (rows[CLOUD].cloud, rows[CLOUD].guard, rows[CLOUD].window_tokens) == (
        True,
        "ok",
        32_768,
    )
    assert (truth.cloud, truth.elsewhere, truth.problem) == (True, True, "")
    assert [row.kind for row in truth.figures] == ["requested", "trained"]
    assert notices == [
        "big:cloud runs on ollama.com: your messages and files leave this computer."
    ]
    assert [body["messages"][-1]["content"] for body in server.bodies()] == ["one", "two"]
    assert after[CLOUD].guard == "block"


def test_advice_about_a_small_window_is_not_given_for_one(tmp_path):
    """What runs on ollama.com is not self-hosted: nobody here can change its window."""

    async def body(room, server):
        await room.client.models()
        await room.client.preferences.set(ALLOW, True)
        return {row.name: row for row in await room.client.models()}

    _, rows = run(tmp_path, body)
    assert (rows[STUB].guard, rows[STUB].cloud) == ("block", True)
    assert rows[STUB].reason.endswith("at least 16,000 are needed.")


def test_no_cloud_model_is_chosen_by_itself(tmp_path):
    """Allowed or not, conversations go on with what was chosen for them, summaries too."""

    async def body(room, server):
        await room.client.preferences.set(ALLOW, True)
        await room.client.models()
        conversation = await say(room, "hello", "")
        await room.client.compact(conversation)
        await room.rest(conversation)

    server, _ = run(tmp_path, body)
    assert {body["model"] for body in server.bodies()} == {"m"}


# ---- the token ----------------------------------------------------------------------------------


def test_the_token_of_the_settings_is_sent_from_the_next_request_on(tmp_path):
    """Set, changed and taken away while Porthole runs."""

    async def body(room, server):
        for token in (TOKEN, "other", ""):
            await room.client.preferences.set(Spot("ollama.token"), token)
            await room.client.models()

    server, _ = run(tmp_path, body)
    keys = dict.fromkeys(request.headers.get("authorization") for request in server.requests)
    assert list(keys) == [f"Bearer {TOKEN}", "Bearer other", None]


def test_nothing_that_is_told_holds_the_token(tmp_path):
    """Neither faults, even where the server repeats it, nor notices, nor what is stored."""

    async def body(room, server):
        await room.client.preferences.set(Spot("ollama.token"), TOKEN)
        server.fail(Answer(401, f'{{"error":"bad token {TOKEN}"}}'))
        first = await answered(room, "one", "ollama:m")
        server.fail(Answer(500, f'{{"error":"cannot look up {TOKEN}"}}'))
        second = await answered(room, "two", "ollama:m")
        return first, second, repr(room.told), repr(await room.client.preferences.read())

    _, (first, second, values, state) = run(tmp_path, body)
    assert "refuses the token" in first.error
    assert "cannot look up …" in second.error
    assert TOKEN not in values
    assert TOKEN not in state
    stored = [path for path in tmp_path.rglob("*") if path.is_file()]
    holding = [path.name for path in stored if TOKEN.encode() in path.read_bytes()]
    assert holding == ["settings.toml"]


def test_a_report_of_a_bug_does_not_hold_the_token():
    """Though it is in the very frames that failed."""

    moment = datetime.now(UTC)

    async def work():
        backend = OllamaBackend("127.0.0.1:9", token=TOKEN)
        request = PromptRequest("m", (PromptMessage("user", "hi"),), 16_384, 0)
        try:
            await anext(backend.stream(request))
        except Bug as error:
            return plan_report(error, moment, {})
        finally:
            await backend.close()

    report = asyncio.run(work())
    assert "max_tokens" in report
    assert TOKEN not in report


# ---- old servers --------------------------------------------------------------------------------


def test_an_old_server_is_said_once_in_every_conversation_and_stands_in_the_models_window(
    tmp_path,
):
    """With its version, and what Porthole does about it; the window's own verdict is untouched."""

    async def body(room, server):
        for text in ("one", "two"):
            conversation = await say(room, text, "ollama:m")
            await say(room, "more", "ollama:m", conversation)
        truth = await room.client.truth.read("ollama:m")
        return [n for n in room.of(Notice) if "0.6.8" in n.text], truth, room.of(Failed)

    _, (notices, truth, failed) = run(tmp_path, body, version="0.6.8")
    assert [notice.level for notice in notices] == ["warning"] * 2
    assert len({notice.id for notice in notices}) == 2
    assert "counts more cautiously" in notices[0].text
    assert truth.server == notices[0].text
    assert truth.guard == "ok"
    assert failed == []


def test_a_new_server_has_nothing_to_be_said_of(tmp_path):
    """The line is not there for servers that refuse what is too long."""

    async def body(room, server):
        return await room.client.truth.read("ollama:m")

    _, truth = run(tmp_path, body)
    assert truth.server == ""
