"""Models stored on an Ollama server: unloaded, deleted, fetched in parts that stay."""

import asyncio
from contextlib import aclosing

import pytest

from engine.backends.base import LoadRequest
from engine.backends.ollama import OllamaBackend
from engine.errors import (
    BackendRefused,
    BackendUnreachable,
    DownloadFailed,
    ModelMissing,
    ModelUnusable,
)
from engine.testing.ollama import OllamaDouble
from engine.testing.ollama_faults import Drop, Error
from engine.testing.ollama_rules import Model
from engine.testing.ollama_state import Layer

LAYERS = (Layer("aaaa1111", 1000, (0, 400, 1000)), Layer("bbbb2222", 50, (50,)))


@pytest.fixture
def server():
    with OllamaDouble() as double:
        yield double


def using(server, work):
    """Run `work(backend)` with a backend for the server, and close it."""

    async def run():
        backend = OllamaBackend(server.host)
        try:
            return await work(backend)
        finally:
            await backend.close()

    return asyncio.run(run())


# ---- out of the memory --------------------------------------------------------------------------


def test_unloading(server):
    """The server's memory is empty afterwards; nothing but that was asked for."""

    async def work(backend):
        await backend.load(LoadRequest("m", 16_384), lambda _: None)
        before = await backend.ps()
        await backend.library.unload("m")
        return before, await backend.ps()

    before, after = using(server, work)
    assert [model.name for model in before] == ["m:latest"]
    assert after == ()
    body = server.bodies()[-1]
    assert (body["messages"], body["keep_alive"]) == ([], 0)
    assert "options" not in body


def test_unloading_what_is_not_loaded(server):
    """Nothing is loaded for it."""
    using(server, lambda backend: backend.library.unload("m"))
    assert server.loads == []


def test_unloading_what_is_not_there(server):
    """Said as such."""
    with pytest.raises(ModelMissing, match="no model named “nope”"):
        using(server, lambda backend: backend.library.unload("nope"))


def test_what_is_loaded_says_until_when(server):
    """By the server's clock, as it writes it."""

    async def work(backend):
        await backend.load(LoadRequest("m", 16_384), lambda _: None)
        return await backend.ps()

    (model,) = using(server, work)
    assert model.expires_at.startswith("2026-01-01T00:30")
    assert model.size_bytes > 0


# ---- off the disk -------------------------------------------------------------------------------


def test_deleting(server):
    """It is gone from the list; the answer's empty body is no failure."""

    async def work(backend):
        await backend.library.delete("m")
        return await backend.list_models()

    assert [model.name for model in using(server, work)] == ["plain:latest"]
    assert server.bodies("/api/delete") == [{"model": "m"}]


def test_deleting_what_is_not_there(server):
    """Said as such."""
    with pytest.raises(ModelMissing, match="no model named “nope”"):
        using(server, lambda backend: backend.library.delete("nope"))


def test_a_server_that_refuses_to_delete(server):
    """In its own words, and the model is still there."""
    server.fail(Error("remove blobs: permission denied", status=500), "/api/delete")
    with pytest.raises(BackendRefused, match="permission denied"):
        using(server, lambda backend: backend.library.delete("m"))
    assert "m:latest" in server.state.models


def test_deleting_without_a_server(server):
    """As every request says it."""
    server.stop()
    with pytest.raises(BackendUnreachable):
        using(server, lambda backend: backend.library.delete("m"))
    server.start()


# ---- what a model is ----------------------------------------------------------------------------


def test_a_description_holds_the_texts(server):
    """Template, system prompt, when it was changed, and the names of one content."""
    server.state.store(Model("wise", template="{{ .Prompt }}!", system="Be brief."))

    async def work(backend):
        return await backend.describe("wise"), await backend.list_models()

    info, models = using(server, work)
    assert info.template == "{{ .Prompt }}!"
    assert info.facts["system"] == "Be brief."
    assert info.facts["modified_at"].startswith("2026-01-01")
    assert len({model.digest for model in models}) == len(models)
    assert all(model.digest for model in models)


# ---- fetching -----------------------------------------------------------------------------------


async def _steps(backend, model="new", count=None):
    """Its steps; it is left after `count` of them."""
    seen = []
    async with aclosing(backend.pull(model)) as steps:
        async for step in steps:
            seen.append((step.digest, step.completed))
            if len(seen) == count:
                break
    return [step for step in seen if step[0]]


def test_a_pull_goes_on_where_it_was_left(server):
    """What has arrived is not fetched twice."""
    server.fetchable(Model("new"), layers=LAYERS)
    server.hold("pull", 2)

    async def work(backend):
        return await _steps(backend, count=3), await _steps(backend)

    first, then = using(server, work)
    assert first == [("sha256:aaaa1111", 0), ("sha256:aaaa1111", 400)]
    assert then[0] == ("sha256:aaaa1111", 400)
    assert then[-1] == ("sha256:bbbb2222", 50)
    assert "new:latest" in server.state.models


def test_a_pull_that_breaks_off_speaks_of_a_pull(server):
    """Not of a reply, and says that it can go on."""
    server.fetchable(Model("new"), layers=LAYERS)
    server.fail(Drop(after=2), "/api/pull")
    with pytest.raises(DownloadFailed) as caught:
        using(server, _steps)
    assert "stopped fetching “new”" in caught.value.sentence
    assert "it continues there" in caught.value.remedy


def test_a_pull_of_a_model_that_runs_elsewhere(server):
    """Nothing is asked."""
    with pytest.raises(ModelUnusable):
        using(server, lambda backend: _steps(backend, "gpt-oss:120b-cloud"))
    assert server.bodies("/api/pull") == []
