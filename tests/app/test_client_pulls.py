"""Models that Ollama fetches, through the client: queue, pause, failure, what is told of it."""

import asyncio

import pytest

from app.client import ModelsChanged, Pull, Pulling, PullLayer
from app.client.localized import localized
from app.client.pulls import Pace, clean_name, plan_step
from app.wiring import Workplace
from engine.backends.ollama_wire import PullProgress
from engine.errors import EnvironmentFault
from engine.testing.ollama import OllamaDouble
from engine.testing.ollama_faults import Error
from engine.testing.ollama_rules import Model
from engine.testing.ollama_state import Layer
from tests.app.client_room import an_ollama_room
from tests.app.test_client_ollama import reached, seen

LAYERS = (Layer("aaaa1111", 1000, (0, 400, 1000)), Layer("bbbb2222", 50, (50,)))
NEW = "ollama:new:latest"


@pytest.fixture
def server():
    with OllamaDouble() as double:
        double.fetchable(Model("new"), layers=LAYERS)
        double.fetchable(Model("other"), layers=(Layer("cccc3333", 10, (10,)),))
        yield double


def run(tmp_path, server, body):
    """Run a test's body in a room on a server, with every step told."""

    async def main():
        async with an_ollama_room(tmp_path, server) as room:
            room.client.pulls.tell_seconds = 0
            return await body(room)

    return asyncio.run(main())


def states(room, name="new"):
    """What a pull went through, as it was told."""
    told = [pull for value in room.of(Pulling) for pull in value.pulls if pull.name == name]
    return list(dict.fromkeys(pull.state for pull in told))


def over(room):
    """Whether the last that was told is that nothing is fetched."""
    told = room.of(Pulling)
    return bool(told) and not told[-1].pulls


def pull_of(room, name="new"):
    """A pull as it was told last."""
    return next(pull for pull in room.of(Pulling)[-1].pulls if pull.name == name)


# ---- from the name to the list ------------------------------------------------------------------


def test_a_pull_from_beginning_to_end(tmp_path, server):
    """Each layer with its bytes, all of them together; then the model can be chosen."""

    async def body(room):
        before = await room.client.models()
        name = await room.client.pulls.add("  ollama pull new ")
        await room.until(lambda: over(room))
        return name, before, await room.client.models(), room

    name, before, after, room = run(tmp_path, server, body)
    assert name == "new"
    assert states(room) == ["waiting", "pulling"]
    told = [pull for value in room.of(Pulling) for pull in value.pulls]
    assert [layer.digest for layer in told[-1].layers] == ["aaaa1111", "bbbb2222"]
    assert (told[-1].done, told[-1].total) == (1_050, 1_050)
    assert {(pull.done, pull.total) for pull in told} >= {(0, 0), (0, 1_000), (400, 1_000)}
    assert [pull.doing for pull in told][-1] == "finishing"
    assert room.of(ModelsChanged) == [ModelsChanged("new", NEW)]
    assert {row.name for row in after} - {row.name for row in before} == {NEW}


def test_a_model_that_is_fetched_anew_is_asked_about_anew(tmp_path, server):
    """Its window is that of the new one."""

    async def body(room):
        before = {row.name: row.window_tokens for row in await room.client.models()}
        server.fetchable(Model("m", trained=65_536), layers=(Layer("dddd", 5, (5,)),))
        await room.client.pulls.add("m:latest")
        await room.until(lambda: over(room))
        truth = await room.client.truth.read("ollama:m:latest")
        return before, {row.kind: row.tokens for row in truth.figures}

    before, after = run(tmp_path, server, body)
    assert (before["ollama:m:latest"], after["trained"]) == (32_768, 65_536)


def test_one_that_cannot_chat(tmp_path, server):
    """It is fetched, and is not said to be in the list."""
    server.fetchable(Model("vectors", capabilities=("embedding",)))

    async def body(room):
        await room.client.pulls.add("vectors")
        await room.until(lambda: room.of(ModelsChanged))
        return room.of(ModelsChanged)

    assert run(tmp_path, server, body) == [ModelsChanged("vectors", "")]


def test_several_come_one_after_the_other(tmp_path, server):
    """The second waits until the first is there; asking twice is asking once."""
    gate = server.hold("pull", 1)

    async def body(room):
        await room.client.pulls.add("new")
        await reached(gate)
        await room.client.pulls.add("other")
        await room.client.pulls.add("OTHER:latest")
        waiting = await room.client.pulls.all()
        asked = len(server.bodies("/api/pull"))
        gate.open()
        await room.until(lambda: over(room))
        return waiting, asked, room.of(ModelsChanged)

    waiting, asked, changes = run(tmp_path, server, body)
    assert [(pull.name, pull.state) for pull in waiting] == [
        ("new", "pulling"),
        ("other", "waiting"),
    ]
    assert asked == 1
    assert [change.fetched for change in changes] == ["new", "other"]
    assert [body["model"] for body in server.bodies("/api/pull")] == ["new", "other"]


# ---- pausing, giving up -------------------------------------------------------------------------


def test_pause_and_resume(tmp_path, server):
    """The request ends, what has arrived stays in sight; asked again, it goes on there."""
    gate = server.hold("pull", 2)

    async def body(room):
        pulls = room.client.pulls
        await pulls.add("new")
        await reached(gate)
        await room.until(lambda: pull_of(room).done == 400)
        await pulls.pause("new")
        await pulls.pause("new")
        await seen(server, lambda: server.left == 1)
        paused = pull_of(room)
        count = len(room.told)
        await pulls.resume("new")
        await room.until(lambda: over(room))
        later = [p for v in room.told[count:] if isinstance(v, Pulling) for p in v.pulls]
        return paused, [pull.done for pull in later]

    paused, done = run(tmp_path, server, body)
    assert (paused.state, paused.done, paused.total) == ("paused", 400, 1_000)
    assert min(done) == 400, "what was there is never shown as gone"
    assert done[-1] == 1_050
    assert len(server.bodies("/api/pull")) == 2


def test_another_goes_on_while_one_is_paused(tmp_path, server):
    """And one that waits can be paused too."""
    gate = server.hold("pull", 2)

    async def body(room):
        pulls = room.client.pulls
        await pulls.add("new")
        await reached(gate)
        await pulls.add("other")
        await pulls.pause("other")
        await pulls.pause("new")
        both = [(pull.name, pull.state) for pull in await pulls.all()]
        await pulls.resume("other")
        await room.until(lambda: room.of(ModelsChanged))
        return both, await pulls.all(), room.of(ModelsChanged)

    both, left, changes = run(tmp_path, server, body)
    assert both == [("new", "paused"), ("other", "paused")]
    assert [(pull.name, pull.state) for pull in left] == [("new", "paused")]
    assert [change.fetched for change in changes] == ["other"]


def test_giving_up(tmp_path, server):
    """The request ends, and nothing is left of it here; one that waits begins."""
    gate = server.hold("pull", 2)

    async def body(room):
        pulls = room.client.pulls
        await pulls.add("new")
        await reached(gate)
        await pulls.add("other")
        await pulls.cancel("new")
        await pulls.cancel("new")
        await room.until(lambda: over(room))
        await seen(server, lambda: server.left == 1)
        return room.of(ModelsChanged)

    assert [change.fetched for change in run(tmp_path, server, body)] == ["other"]
    assert "new:latest" not in server.state.models


def test_names_nobody_asked_for(tmp_path, server):
    """Nothing happens to them."""

    async def body(room):
        pulls = room.client.pulls
        for act in (pulls.pause, pulls.resume, pulls.cancel):
            await act("nobody")
        return await pulls.all()

    assert run(tmp_path, server, body) == ()


def test_the_program_ends_and_begins_again(tmp_path, server):
    """What was not complete is there, paused; nothing is asked for by itself."""
    gate = server.hold("pull", 2)

    async def first(room):
        await room.client.pulls.add("new")
        await reached(gate)

    async def second(room):
        there = await room.client.pulls.all()
        told, asked = room.of(Pulling)[-1], len(server.bodies("/api/pull"))
        await room.client.pulls.resume("new")
        await room.until(lambda: over(room))
        return there, told, asked

    async def third(room):
        return await room.client.pulls.all()

    run(tmp_path, server, first)
    there, told, asked = run(tmp_path, server, second)
    assert there == told.pulls == (Pull("new", "paused"),)
    assert asked == 1
    assert run(tmp_path, server, third) == ()


# ---- what fails ---------------------------------------------------------------------------------


def test_an_unknown_name_and_another_try(tmp_path, server):
    """In plain words; the next one is fetched all the same; then it is there after all."""

    async def body(room):
        pulls = room.client.pulls
        await pulls.add("nowhere:3b")
        await pulls.add("other")
        await room.until(lambda: room.of(ModelsChanged))
        failed = pull_of(room, "nowhere:3b")
        server.fetchable(Model("nowhere:3b"), layers=(Layer("eeee", 7, (7,)),))
        await pulls.resume("nowhere:3b")
        await room.until(lambda: over(room))
        return failed, room.of(ModelsChanged)

    failed, changes = run(tmp_path, server, body)
    assert failed.state == "failed"
    assert failed.error == "Ollama's library has no model named “nowhere:3b”."
    assert "ollama.com/library" in failed.remedy
    assert [change.fetched for change in changes] == ["other", "nowhere:3b"]


def test_a_disk_that_is_full(tmp_path, server):
    """What had arrived is still shown; trying again goes on there."""
    server.fail(Error("write: no space left on device", after=2), "/api/pull")

    async def body(room):
        await room.client.pulls.add("new")
        await room.until(lambda: pull_of(room).state == "failed")
        failed = pull_of(room)
        await room.client.pulls.add("new")
        await room.until(lambda: over(room))
        return failed, room.of(ModelsChanged)

    failed, changes = run(tmp_path, server, body)
    assert "disk is full" in failed.error
    assert (failed.done, failed.per_second, failed.seconds_left) == (400, 0, None)
    assert len(changes) == 1


def test_no_server(tmp_path, server):
    """A sentence; with the server back, it is fetched."""
    server.stop()

    async def body(room):
        await room.client.pulls.add("new")
        await room.until(lambda: pull_of(room).state == "failed")
        failed = pull_of(room)
        await asyncio.to_thread(server.start)
        await room.client.pulls.resume("new")
        await room.until(lambda: over(room))
        return failed

    assert run(tmp_path, server, body).error.startswith("No Ollama server answers at")


def test_a_model_that_runs_elsewhere_is_not_fetched(tmp_path, server):
    """Nothing is asked of the server."""

    async def body(room):
        await room.client.pulls.add("gpt-oss:120b-cloud")
        await room.until(lambda: room.of(Pulling)[-1].pulls[0].state == "failed")
        return room.of(Pulling)[-1].pulls[0]

    assert "runs on ollama.com" in run(tmp_path, server, body).error
    assert server.bodies("/api/pull") == []


def test_a_bug_of_ours_ends_one_pull_only(tmp_path, server):
    """It is told, and a report is saved."""

    async def body(room):
        broken = room.backend.pull

        def pull(name):
            if name == "new":
                raise RuntimeError("a bug")
            return broken(name)

        room.backend.pull = pull
        await room.client.pulls.add("new")
        await room.client.pulls.add("other")
        await room.until(lambda: room.of(ModelsChanged))
        return pull_of(room), list(Workplace(str(tmp_path), {}).paths.reports_dir.iterdir())

    failed, reports = run(tmp_path, server, body)
    assert "wrong inside Porthole" in failed.error
    assert len(reports) == 1


def test_a_fault_in_the_users_language():
    """What the window is told is gone through whole."""
    told = Pulling((Pull("x", "failed", error="It broke (porthole models).", remedy=""),))
    assert localized(told).pulls[0].error == "It broke."


# ---- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("llama3.2:3b", "llama3.2:3b"),
        ("  qwen3 \n", "qwen3"),
        ("ollama pull gemma3:4b", "gemma3:4b"),
        ("$ ollama run gemma3", "gemma3"),
        ("`ollama run gemma3`", "gemma3"),
        ("https://ollama.com/library/llama3.2:3b", "llama3.2:3b"),
        ("https://www.ollama.com/someone/model/", "someone/model"),
        ("https://huggingface.co/bartowski/Tiny-GGUF", "hf.co/bartowski/Tiny-GGUF"),
        ("hf.co/bartowski/Tiny-GGUF:Q4_K_M", "hf.co/bartowski/Tiny-GGUF:Q4_K_M"),
        ("http://registry.local:5000/a/b", "registry.local:5000/a/b"),
    ],
)
def test_what_is_typed(typed, name):
    """A name, a command, an address: always the name as Ollama takes it."""
    assert clean_name(typed) == name


@pytest.mark.parametrize("typed", ["", "   ", "two words", "ollama pull", "-flag", "x;rm", "/x"])
def test_what_is_no_name(typed):
    """Said before anything is asked."""
    with pytest.raises(EnvironmentFault, match="is not a model's name"):
        clean_name(typed)


# ---- progress -----------------------------------------------------------------------------------


def step(completed, total=1_000, digest="sha256:a"):
    return PullProgress("pulling a", completed, total, digest)


def test_progress_that_goes_backwards():
    """What is true is shown: fewer bytes, and the other layers as they were."""
    pull = Pull("x", "pulling")
    for one in (step(600), step(50, 50, "sha256:b"), step(400)):
        pull = plan_step(pull, one)
    assert pull.layers == (PullLayer("a", 400, 1_000), PullLayer("b", 50, 50))
    assert (pull.done, pull.total) == (450, 1_050)


def test_progress_beyond_the_whole():
    """A server that counts too much makes no bar longer than its frame."""
    pull = plan_step(Pull("x", "pulling"), step(1_200))
    assert (pull.done, pull.total) == (1_200, 1_200)


@pytest.mark.parametrize(
    ("status", "doing"),
    [
        ("pulling manifest", "asking"),
        ("verifying sha256 digest", "checking"),
        ("writing manifest", "finishing"),
        ("removing unused layers", "finishing"),
        ("something new", "finishing"),
    ],
)
def test_what_the_server_does(status, doing):
    """In the few words there are for it."""
    assert plan_step(Pull("x", "pulling"), PullProgress(status)).doing == doing


def test_speed_is_of_what_arrives_now():
    """Not of what was there before, nor of the first moment."""
    pace = Pace()
    pace.note(0.0, step(500))
    pace.note(1.0, step(600))
    assert pace.per_second == 0, "too soon"
    pace.note(2.0, step(700))
    assert pace.per_second == 100
    pace.note(3.0, step(900, 900, "sha256:b"))
    assert pace.per_second == pytest.approx(200 / 3), "a layer that is there already is no speed"


def test_speed_after_a_part_is_fetched_once_more():
    """It is measured anew, and never negative."""
    pace = Pace()
    for seconds, done in ((0.0, 0), (2.0, 800), (3.0, 300), (4.0, 400)):
        pace.note(seconds, step(done))
    assert pace.per_second == 0
    pace.note(5.0, step(500))
    assert pace.per_second == 100


def test_speed_forgets():
    """Ten seconds are looked at."""
    pace = Pace()
    for seconds in range(31):
        pace.note(float(seconds), step(min(seconds, 10) * 10))
    assert pace.per_second == 0


def test_progress_is_told_now_and_then(tmp_path, server):
    """The server says it many times a second; the last of a flood is told as well."""
    many = tuple(range(0, 1_000, 2))
    server.fetchable(Model("long"), layers=(Layer("ffff", 1_000, many),))
    server.hold("pull", 499)

    async def body(room):
        room.client.pulls.tell_seconds = 0.5
        await room.client.pulls.add("long")
        await room.until(lambda: pull_of(room, "long").done == 996)
        return len(room.of(Pulling))

    assert run(tmp_path, server, body) < 250
