"""Models that an Ollama server runs on ollama.com: refused without the user's word, marked with it."""

import asyncio
import json
from contextlib import aclosing

import pytest

from engine.backends.base import (
    Finished,
    Loaded,
    Loading,
    LoadRequest,
    PromptMessage,
    PromptRequest,
    TextChunk,
)
from engine.backends.ollama import OllamaBackend
from engine.backends.ollama_cloud import CloudGate, is_switched_off
from engine.errors import BackendRefused, ModelUnusable
from engine.testing.ollama import OllamaDouble
from engine.testing.ollama_rules import Model
from engine.testing.ollama_script import Answer

NAMED, STUB = "gpt-oss:120b-cloud", "far"
OFF = Answer(200, json.dumps({"cloud": {"disabled": True, "source": "env"}}))


@pytest.fixture
def server():
    models = (
        Model("m"),
        Model(NAMED, remote_host="https://ollama.com", trained=131_072),
        Model(STUB, remote_host="https://ollama.com"),
    )
    with OllamaDouble(models) as double:
        yield double


def using(server, work, *, allowed):
    async def run():
        backend = OllamaBackend(server.host, allow_cloud=allowed)
        try:
            return await work(backend)
        finally:
            await backend.close()

    return asyncio.run(run())


async def loaded(backend, model, window=32_768):
    return await backend.load(LoadRequest(model, window), lambda fraction: None)


async def said(backend, model):
    request = PromptRequest(model, (PromptMessage("user", "hello"),), 32_768, 100)
    async with aclosing(backend.stream(request)) as stream:
        return [chunk async for chunk in stream]


def uses(backend, model):
    """Everything that can be done with a model."""
    return (
        backend.describe(model),
        loaded(backend, model),
        said(backend, model),
        anext(backend.pull(model)),
    )


def told_of(server, model):
    """The requests in which a model is named."""
    asked = (request.body for request in server.requests)
    return [body for body in asked if isinstance(body, dict) and body.get("model") == model]


@pytest.mark.parametrize("model", [NAMED, STUB, "GPT-OSS:120b-Cloud"])
def test_nothing_is_sent_without_the_user_s_word(server, model):
    """Neither words nor its name, whatever is tried; what leaves, and where to allow it, is said."""

    async def work(backend):
        await backend.list_models()
        for attempt in uses(backend, model):
            with pytest.raises(ModelUnusable) as caught:
                await attempt
            assert "would leave this computer. Nothing was sent." in caught.value.sentence
            assert "ollama.allow_cloud" in caught.value.remedy

    using(server, work, allowed=False)
    assert told_of(server, model) == []
    assert {request.path for request in server.requests} == {"/api/tags"}


@pytest.mark.parametrize("model", [NAMED, STUB])
def test_with_the_user_s_word_it_is_used_and_marked(server, model):
    """It is described, its window is what it was trained on, and it answers. Nothing is loaded."""
    server.always("hello to you")

    async def work(backend):
        info = await backend.describe(model)
        return info, await loaded(backend, model), await said(backend, model)

    info, got, chunks = using(server, work, allowed=True)
    assert info.cloud
    assert got == Loaded(32_768, info.trained_window)
    assert "".join(c.text for c in chunks if isinstance(c, TextChunk)) == "hello to you"
    assert isinstance(chunks[-1], Finished)
    assert not [chunk for chunk in chunks if isinstance(chunk, Loading)]
    assert len(server.bodies("/api/chat")) == 1


def test_the_word_taken_back_holds_for_what_is_in_use(server):
    """Switched off while a conversation goes on: its next message is not sent."""

    async def work(backend):
        for model in (NAMED, STUB):
            await said(backend, model)
        sent = len(server.requests)
        backend.use(token="", allow_cloud=False)
        for model in (NAMED, STUB):
            for attempt in uses(backend, model):
                with pytest.raises(ModelUnusable, match="Nothing was sent"):
                    await attempt
        return sent, len(server.requests)

    sent, after = using(server, work, allowed=True)
    assert sent == after


def test_models_of_one_s_own_are_none_of_this(server):
    """A model on the server is described as that, with the word and without it."""
    for allowed in (True, False):
        assert not using(server, lambda backend: backend.describe("m"), allowed=allowed).cloud


@pytest.mark.parametrize("model", [NAMED, STUB])
def test_a_server_that_leaves_ollama_com_alone(server, model):
    """Allowed here and switched off there: that is said, and nothing was sent."""

    async def work(backend):
        for attempt in (backend.describe(model), loaded(backend, model), said(backend, model)):
            server.fail(OFF, "/api/status")
            with pytest.raises(ModelUnusable, match="switched off on the Ollama server") as caught:
                await attempt
        return caught.value

    fault = using(server, work, allowed=True)
    assert "OLLAMA_NO_CLOUD" in fault.remedy
    assert told_of(server, model) == []


def test_servers_that_cannot_tell_are_asked_all_the_same(server):
    """Before 0.16.2 there is no status: the model is used."""
    server.fail(Answer(404, "404 page not found", "text/plain"), "/api/status")
    assert using(server, lambda backend: backend.describe(STUB), allowed=True).cloud


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (
            Answer(403, '{"error":"ollama cloud is disabled: remote model is unavailable"}'),
            ModelUnusable,
            "switched off on the Ollama server",
        ),
        (
            Answer(401, '{"error":"unauthorized","signin_url":"https://ollama.com/connect"}'),
            BackendRefused,
            "not signed in",
        ),
    ],
)
def test_what_the_server_says_of_ollama_com(server, answer, kind, words):
    """Its refusals are told in plain words."""
    server.fail(answer)
    with pytest.raises(kind, match=words):
        using(server, lambda backend: said(backend, STUB), allowed=True)


def test_ollama_com_itself_runs_nothing_else():
    """On that server every model is elsewhere, whatever it is called."""

    async def nothing(method, path):
        return {}

    gate = CloudGate(nothing, allowed=False, everything=True)
    assert gate.is_cloud("llama3:8b")
    with pytest.raises(ModelUnusable):
        asyncio.run(gate.admit("llama3:8b"))
    gate.allowed = True
    assert asyncio.run(gate.admit("llama3:8b"))


@pytest.mark.parametrize(
    ("status", "off"),
    [
        ({"cloud": {"disabled": True}}, True),
        ({"cloud": {"disabled": False}}, False),
        ({"cloud": {}}, False),
        ({"cloud": "off"}, False),
        ({}, False),
    ],
)
def test_a_status_is_read(status, off):
    """Only a plain yes counts."""
    assert is_switched_off(status) is off
