"""Single models through the client: what they are, memory and disk, unloading, deleting."""

import asyncio
import math
import os
from datetime import UTC, datetime

import pytest

from app.client import ModelsChanged, ModelState, WindowKnown
from app.client.library import Deletion, find_ollama_folder, free_disk
from app.client.localized import localized
from engine.errors import EnvironmentFault, ModelMissing
from engine.settings import save_setting
from engine.testing import ScriptedBackend
from engine.testing.ollama import OllamaDouble
from engine.testing.ollama_rules import Model, digest_of
from tests.app.client_room import an_ollama_room
from tests.app.test_client_ollama import reached
from tests.backends.gguf_files import write_gguf

M = "ollama:m:latest"


@pytest.fixture
def server():
    with OllamaDouble() as double:
        double.always("It is understood.")
        yield double


def run(tmp_path, server, body, **fields):
    """Run a test's body in a room on a server."""

    async def main():
        async with an_ollama_room(tmp_path, server, **fields) as room:
            return await body(room)

    return asyncio.run(main())


def facts_of(tmp_path, server, model):
    return run(tmp_path, server, lambda room: room.client.library.facts(model))


# ---- what a model is ----------------------------------------------------------------------------


def test_facts_of_one_of_ollamas(tmp_path, server):
    """All that the server tells of it."""
    server.state.store(
        Model(
            "wise",
            capabilities=("completion", "tools"),
            template="{{ .Prompt }}",
            system="Be brief.",
            size=2_000_000_000,
        )
    )
    facts = facts_of(tmp_path, server, "ollama:wise")
    assert (facts.family, facts.parameters, facts.quantization) == ("llama", "135M", "Q4_1")
    assert (facts.size_bytes, facts.trained_window) == (2_000_000_000, 32_768)
    assert facts.capabilities == ("completion", "tools")
    assert (facts.template, facts.system) == ("{{ .Prompt }}", "Be brief.")
    assert datetime.fromtimestamp(facts.modified_ms / 1000, UTC).year == 2026
    assert facts.can_delete


def test_facts_of_a_file(tmp_path, server):
    """What its header says; files are not deleted here."""
    file = write_gguf(tmp_path / "m.gguf", {"general.license": "apache-2.0"})
    facts = facts_of(tmp_path, server, f"llama.cpp:{file}")
    assert (facts.family, facts.licence, facts.can_delete) == ("llama", "apache-2.0", False)
    assert facts.size_bytes == file.stat().st_size


@pytest.mark.parametrize("model", ["ollama:nope", "nonsense"])
def test_facts_of_what_is_not_there(tmp_path, server, model):
    """Its name and nothing else: the panel says the rest."""
    facts = facts_of(tmp_path, server, model)
    assert (facts.model, facts.family, facts.can_delete) == (model, "", False)


# ---- memory and disk ----------------------------------------------------------------------------


def test_what_is_in_memory(tmp_path, server):
    """Whoever loaded it: its size, where it is, until when; unloaded, it is gone."""
    server.other_client("plain", 8_192)
    server.state.runners["plain:latest"].keep_alive = math.inf

    async def body(room):
        await room.client.models()
        id_ = await room.client.send(None, "hello", "ollama:m")
        await room.rest(id_)
        holdings = await room.client.library.holdings()
        after = await room.client.library.unload("ollama:m")
        return holdings, after, room.of(ModelState)

    holdings, after, states = run(tmp_path, server, body)
    loaded = {one.model: one for one in holdings.loaded}
    mine, other = loaded[M], loaded["ollama:plain:latest"]
    assert (mine.title, mine.window_tokens, mine.gpu_share) == ("m", 32_768, 0)
    assert (mine.stays, other.stays) == (False, True)
    assert datetime.fromtimestamp(mine.until_ms / 1000, UTC).hour == 0
    assert (other.window_tokens, other.until_ms) == (8_192, 0)
    assert [one.model for one in after.loaded] == ["ollama:plain:latest"]
    assert [(state.name, state.state) for state in states][-1] == ("ollama:m", "none")


def test_after_unloading_a_conversation_goes_on(tmp_path, server):
    """The model is loaded again for it, with the same window."""

    async def body(room):
        id_ = await room.client.send(None, "hello", "ollama:m")
        await room.rest(id_)
        await room.client.library.unload("ollama:m")
        await room.send("and on", id_)
        return room.last(id_)

    assert run(tmp_path, server, body).state == "done"
    assert server.loads == [("m", 32_768)] * 2


def test_a_model_that_answers_stays(tmp_path, server):
    """It is neither unloaded nor deleted, and the reply comes to its end."""
    gate = server.hold("piece")

    async def body(room):
        id_ = await room.client.send(None, "hello", "ollama:m")
        await reached(gate)
        said = []
        for act in (room.client.library.unload, room.client.library.delete):
            with pytest.raises(EnvironmentFault) as caught:
                await act("ollama:M:latest")
            said.append(caught.value)
        gate.open()
        await room.rest(id_)
        return said, room.last(id_)

    said, reply = run(tmp_path, server, body)
    assert {fault.sentence for fault in said} == {"M is answering just now."}
    assert reply.state == "done"
    assert server.bodies("/api/delete") == []


class Loaded(ScriptedBackend):
    """Has a file loaded, as llama.cpp's own worker has."""

    worker_pid = os.getpid()
    loaded_model = ("/models/tiny.gguf", 16_384)
    closed = 0

    async def close(self):
        self.loaded_model = None
        self.closed += 1


def test_what_our_own_worker_has(tmp_path, server):
    """Its file with what its process takes; unloading ends the process."""

    async def body(room):
        backend = room.workplace._backends["llama.cpp"] = Loaded()
        holdings = await room.client.library.holdings()
        after = await room.client.library.unload("llama.cpp:/models/tiny.gguf")
        closed = backend.closed
        backend.loaded_model = (str(room.workplace.starter_file), 16_384)
        return holdings, after, closed, await room.client.library.holdings()

    holdings, after, closed, starter = run(tmp_path, server, body)
    (one,) = holdings.loaded
    assert (one.title, one.window_tokens, one.gpu_share) == ("tiny", 16_384, None)
    assert one.size_bytes > 1_000_000
    assert (after.loaded, closed) == ((), 1)
    assert [model.model for model in starter.loaded] == ["starter"]


def test_what_the_disk_holds(tmp_path, server, monkeypatch):
    """What the listed models take, two names of one content counted once; what is free."""
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path))
    server.state.store(Model("twin", digest=digest_of(server.state.model("m"))))

    async def body(room):
        await room.client.models()
        return await room.client.library.holdings()

    holdings = run(tmp_path, server, body)
    assert holdings.ollama_bytes == 2_000_000_000, "m with its twin, and plain"
    assert holdings.own_bytes == 0
    assert holdings.free_bytes > 0
    assert holdings.problem == ""


def test_no_server(tmp_path, server):
    """A sentence, and what can be known all the same."""
    server.stop()

    async def body(room):
        return await room.client.library.holdings()

    holdings = run(tmp_path, server, body)
    server.start()
    assert holdings.problem.startswith("No Ollama server answers at")
    assert holdings.loaded == ()
    assert holdings.free_bytes > 0
    assert localized(holdings) == holdings


def test_where_ollama_keeps_models(tmp_path):
    """Where the variable says, if that is a folder; it is not made up."""
    assert find_ollama_folder({"OLLAMA_MODELS": str(tmp_path)}) == tmp_path
    assert find_ollama_folder({"OLLAMA_MODELS": str(tmp_path / "gone")}) != tmp_path / "gone"


def test_free_disk_of_what_is_not_there_yet(tmp_path):
    """Of the disk where it would be."""
    assert free_disk(tmp_path / "not" / "yet") > 0


# ---- deleting -----------------------------------------------------------------------------------


def test_what_deleting_would_come_to(tmp_path, server):
    """Bytes, and who uses it: the default, what is open, summaries, conversations."""

    async def body(room):
        file = room.workplace.paths.settings_file
        save_setting(file, "compaction.model", M)
        room.workplace.read_settings_again()
        for model in ("ollama:m", "ollama:M:latest", "ollama:plain"):
            room.workplace.store.create_session(model=model)
        await room.client.open(None)
        library = room.client.library
        return await library.deletion("ollama:m"), await library.deletion("ollama:plain")

    mine, other = run(tmp_path, server, body)
    assert mine == Deletion("ollama:m", "m", 1_000_000_000, "", 2, True, True, True)
    assert other == Deletion("ollama:plain", "plain", 1_000_000_000, "", 1)


def test_the_open_conversation_counts(tmp_path, server):
    """Not the default, when a stored conversation with another model is shown."""

    async def body(room):
        id_ = room.workplace.store.create_session(model="ollama:plain").id
        await room.client.open(id_)
        library = room.client.library
        return await library.deletion("ollama:m"), await library.deletion("ollama:plain")

    mine, other = run(tmp_path, server, body)
    assert (mine.is_open, mine.is_default) == (False, True)
    assert (other.is_open, other.is_default) == (True, False)


def test_a_model_of_two_names(tmp_path, server):
    """Deleting one frees nothing: the other is named."""
    server.state.store(Model("twin", digest=digest_of(server.state.model("m"))))
    told = run(tmp_path, server, lambda room: room.client.library.deletion("ollama:m"))
    assert (told.size_bytes, told.shared_with) == (0, "twin:latest")


def test_a_model_that_is_gone_already(tmp_path, server):
    """There is nothing to confirm; deleting it all the same is no failure."""

    async def body(room):
        with pytest.raises(ModelMissing):
            await room.client.library.deletion("ollama:nope")
        await room.client.library.delete("ollama:nope")
        return room.of(ModelsChanged)

    assert run(tmp_path, server, body) == [ModelsChanged(gone="ollama:nope")]


def test_deleting(tmp_path, server):
    """Out of memory, off the disk, out of the list; the open conversation says so, and stays."""

    async def body(room):
        id_ = await room.client.send(None, "hello", "ollama:m")
        await room.rest(id_)
        await room.client.open(id_)
        await room.client.library.delete("ollama:m")
        rows = await room.client.models()
        await room.until(lambda: room.of(WindowKnown)[-1].guard == "block")
        await room.send("and on", id_)
        return id_, rows, room

    id_, rows, room = run(tmp_path, server, body)
    assert server.windows() == {}
    assert "m:latest" not in server.state.models
    assert M not in {row.name for row in rows}
    assert room.of(ModelsChanged) == [ModelsChanged(gone="ollama:m")]
    assert "no model named “m”" in room.of(WindowKnown)[-1].guard_text
    assert room.texts(id_)[:2] == ["hello", "It is understood."]
    assert room.last(id_).state == "failed"
    assert "no model named “m”" in room.last(id_).error


def test_deleting_what_the_next_conversation_would_use(tmp_path, server):
    """The default is used again."""

    async def body(room):
        await room.client.use_model(None, "ollama:plain")
        await room.client.library.delete("ollama:plain:latest")
        return (await room.client.open(None)).model

    assert run(tmp_path, server, body) == "ollama:m"


def test_a_loaded_model_of_another_program_is_unloaded_first(tmp_path, server):
    """Its memory is not left taken by what is gone."""
    server.other_client("plain", 8_192)
    run(tmp_path, server, lambda room: room.client.library.delete("ollama:plain"))
    assert server.windows() == {}
