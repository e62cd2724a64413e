"""Waiting in the Ollama double: for a load, for running requests, for a slot, without a byte."""

import contextlib
import http.client
import random
import threading

import pytest

from engine.testing.ollama import MODELS, OllamaDouble
from engine.testing.ollama_faults import NUMBERED, Chunked, Huge
from engine.testing.ollama_log import OTHER, Aborted, End, Lingering
from engine.testing.ollama_rules import Model, default_parallel
from engine.testing.ollama_script import BUSY, Reply
from tests.backends.double_talk import USER, chat, load, processes, waiting, words

SMALL, LARGE = {"num_ctx": 8192}, {"num_ctx": 16384}


@pytest.fixture
def server():
    with OllamaDouble() as double:
        yield double


def test_41_a_full_queue():
    """41: with one request loading and as many waiting as may, the next is turned away at once."""
    with OllamaDouble(max_queue=1) as server:
        gate = server.hold("load")
        with (
            waiting(server, model="m", messages=USER) as first,
            waiting(server, model="plain", messages=USER) as second,
        ):
            first.is_at("loading")
            second.is_at("queued")
            assert server.queued == 1
            assert chat(server, "emb", []).status == 400  # judged before the queue
            assert chat(server, messages=USER).error == (503, BUSY)
            gate.open()
            assert [first.answer().status, second.answer().status] == [200, 200]


def test_41_a_loaded_model_needs_no_place_in_the_queue():
    """41: what is loaded as wanted is served beside a load and a full queue."""
    with OllamaDouble(max_queue=1) as server:
        load(server, "plain")
        gate = server.hold("load")
        with (
            waiting(server, model="m", messages=USER) as first,
            waiting(server, model="m", messages=USER) as second,
        ):
            first.is_at("loading")
            second.is_at("queued")
            assert chat(server, "plain").status == 200
            gate.open()
            assert second.answer().status == 200
            assert first.is_silent() is False


def test_a_queued_client_that_left_is_skipped(server):
    """It keeps its place until its turn, and then nothing is loaded for it."""
    gate = server.hold("load")
    with (
        waiting(server, model="m", messages=USER) as first,
        waiting(server, model="plain", messages=USER) as second,
    ):
        first.is_at("loading")
        second.is_at("queued").leave()
        server.wait_for(lambda: server.log.end_of(1) is not None)
        assert server.queued == 1
        gate.open()
        assert first.answer().status == 200
    server.settle()
    assert server.log.end_of(1) == End(1, "/api/chat", "left", "queued")
    assert server.loads == [("m", 4096)]
    assert server.queued == 0


def test_47_leaving_while_loading(server):
    """47: the load is aborted, the next in the queue has its turn, the model loads again."""
    server.hold("load")
    with (
        waiting(server, model="m", messages=USER) as first,
        waiting(server, model="m", messages=USER) as second,
    ):
        first.is_at("loading")
        second.is_at("queued")
        first.leave()
        assert second.answer().status == 200
    assert server.log.aborts == [Aborted(0, "m")]
    assert server.loads == [("m", 4096)]


def test_requests_of_one_model_take_turns(server):
    """A second request of a model waits for the first without a byte, then is answered."""
    load(server, "plain")
    server.say("one", "two")
    gate = server.hold("prompt")
    with (
        waiting(server, model="plain", messages=USER, stream=False) as first,
        waiting(server, model="plain", messages=USER, stream=False) as second,
    ):
        first.is_at("reading")
        second.is_at("queued")
        assert second.is_silent()
        assert server.queued == 0  # not the queue before the loads
        gate.open()
        contents = [request.answer().json["message"]["content"] for request in (first, second)]
    assert contents == ["one", "two"]


def test_slots_serve_as_many_at_once():
    """With two slots two requests of a model run, and a third waits."""
    with OllamaDouble(num_parallel=2) as server:
        gates = [server.hold("prompt"), server.hold("prompt")]
        with (
            waiting(server, model="plain", messages=USER) as first,
            waiting(server, model="plain", messages=USER) as second,
            waiting(server, model="plain", messages=USER) as third,
        ):
            first.is_at("reading")
            second.is_at("reading")
            third.is_at("queued")
            gates[1].open()
            assert third.answer().status == 200
            assert second.answer().status == 200
            gates[0].open()
            assert first.answer().status == 200


@pytest.mark.parametrize(
    ("version", "slots"),
    [((0, 1, 48), 1), ((0, 3, 11), 4), ((0, 6, 8), 4), ((0, 10, 0), 1), ((0, 33, 0), 1)],
)
def test_slots_by_version(version, slots):
    """Before 0.10 the server took four where memory was there."""
    assert default_parallel(version) == slots


def test_a_client_that_waits_for_a_slot_and_leaves(server):
    """It is not answered, and the slot goes to the next."""
    gate = server.hold("prompt")
    with (
        waiting(server, model="plain", messages=USER) as first,
        waiting(server, model="plain", messages=USER) as second,
        waiting(server, model="plain", messages=USER) as third,
    ):
        first.is_at("reading")
        second.is_at("queued").leave()
        third.is_at("queued")
        server.wait_for(lambda: server.log.end_of(1) is not None)
        gate.open()
        assert third.answer().status == 200
    server.settle()
    assert server.log.end_of(1) == End(1, "/api/chat", "left", "queued")
    assert [seen.request for seen in server.seen] == [0, 2]


def test_a_load_with_another_window_waits_for_running_requests(server):
    """21: the reload waits for the answer that is under way; nobody is told."""
    server.say(words(3))
    gate = server.hold("piece", after=1)
    with (
        waiting(server, model="plain", messages=USER, options=SMALL) as first,
        waiting(server, model="plain", messages=USER, options=LARGE) as second,
    ):
        first.is_at("writing")
        second.is_at("queued")
        assert second.is_silent()
        assert server.windows() == {"plain": 8192}
        gate.open()
        assert first.answer().lines[-1]["done_reason"] == "stop"
        assert second.answer().status == 200
    assert server.loads == [("plain", 8192), ("plain", 16384)]
    assert len(server.log.reloads) == 1


def test_leaving_before_a_reload_still_unloads(server):
    """The client that wanted another window left: the model goes all the same, nothing loads."""
    gate = server.hold("prompt")
    with (
        waiting(server, model="plain", messages=USER, options=SMALL) as first,
        waiting(server, model="plain", messages=USER, options=LARGE) as second,
    ):
        first.is_at("reading")
        second.is_at("queued")
        server.wait_for(lambda: server.queued == 0)  # its turn has come, and it waits
        second.leave()
        server.wait_for(lambda: server.log.end_of(1) is not None)
        gate.open()
        assert first.answer().status == 200
        server.wait_for(lambda: server.windows() == {})
    assert server.loads == [("plain", 8192)]
    server.wait_for(lambda: server.log.aborts == [Aborted(1, "plain")])
    server.settle()
    assert server.phases == {}


def test_models_stay_loaded_beside_each_other(server):
    """Another model does not send the first one away."""
    load(server, "m")
    load(server, "plain")
    assert set(processes(server)) == {"m", "plain"}


def test_one_goes_where_there_is_no_room():
    """With room for one, an idle one goes; a busy one is waited for."""
    with OllamaDouble(max_loaded=1) as server:
        load(server, "m")
        gate = server.hold("prompt", model="plain")
        with (
            waiting(server, model="plain", messages=USER) as first,
            waiting(server, model="m", messages=USER) as second,
        ):
            first.is_at("reading")
            second.is_at("queued")
            assert set(server.windows()) == {"plain"}
            gate.open()
            assert [first.answer().status, second.answer().status] == [200, 200]
        assert [load.model for load in server.log.loads] == ["m", "plain", "m"]
        assert server.log.reloads == []
        assert [unload.why for unload in server.log.unloads] == ["room", "room"]


def test_the_one_kept_shortest_goes_first():
    """Of two idle models the one with the shorter keep_alive makes room."""
    with OllamaDouble((*MODELS, Model("third")), max_loaded=2) as server:
        chat(server, "m", [], keep_alive=600)
        chat(server, "plain", [], keep_alive=60)
        load(server, "third")
        assert set(server.windows()) == {"m", "third"}


def test_15_an_unload_waits_for_the_answer(server):
    """15: an unload while the model is busy is answered at once, and done at the answer's end."""
    gate = server.hold("prompt")
    with waiting(server, model="plain", messages=USER) as request:
        request.is_at("reading")
        assert chat(server, "plain", [], keep_alive=0).json["done_reason"] == "unload"
        assert set(server.windows()) == {"plain"}
        gate.open()
        assert request.answer().status == 200
    server.wait_for(lambda: server.windows() == {})


def test_15_keep_alive_nothing_goes_after_the_answer(server):
    """15: with messages the model goes when the answer is complete."""
    assert chat(server, keep_alive=0).status == 200
    server.wait_for(lambda: server.windows() == {})


@pytest.mark.parametrize(("version", "reason"), [("0.3.10", "load"), ("0.3.11", "unload")])
def test_15_unload_by_version(version, reason):
    """15: before 0.3.11 it was loaded first if need be, and called a load."""
    with OllamaDouble(version=version) as server:
        assert chat(server, messages=[], keep_alive=0).json["done_reason"] == reason
        server.wait_for(lambda: server.windows() == {})
        assert len(server.loads) == (reason == "load")


# ---- what goes on after the client has left -----------------------------------------------------


@pytest.mark.parametrize(
    ("version", "habit", "tokens"),
    [
        ("0.33.0", "", None),
        ("0.24.0", "", 50),
        ("0.33.0", "prompt", 50),
        ("0.33.0", "reply", 53),
        ("0.24.0", "stop", None),
    ],
)
def test_f18_work_after_leaving(version, habit, tokens):
    """F18: leaving while the prompt is read: older runners read on, and the slot stays busy."""
    with OllamaDouble(version=version, num_parallel=1) as server:
        server.switches.after_leaving = habit
        server.always(Reply("three more words"))
        long = [{"role": "user", "content": words(50)}]
        gate = server.hold("prompt")
        with (
            waiting(server, model="plain", messages=long) as first,
            waiting(server, model="plain", messages=USER) as second,
        ):
            first.is_at("reading")
            second.is_at("queued")
            first.leave()
            server.wait_for(lambda: server.log.end_of(0) is not None)
            assert server.log.end_of(0) == End(0, "/api/chat", "left", "reading")
            if tokens is None:
                assert second.answer().status == 200
                assert server.log.lingering == []
                return
            assert second.is_silent()
            assert server.phases == {1: "queued"}
            gate.open()
            assert second.answer().status == 200
            assert server.log.lingering == [Lingering(0, "plain", tokens)]


def test_f18_it_also_delays_a_reload():
    """F18: what goes on for nobody has to end before the model is loaded otherwise."""
    with OllamaDouble() as server:
        server.switches.after_leaving = "reply"
        gate = server.hold("prompt")
        with waiting(server, model="plain", messages=USER) as request:
            request.is_at("reading").leave()
            server.wait_for(lambda: server.log.end_of(0) is not None)
        with waiting(server, model="plain", messages=USER, options=LARGE) as request:
            request.is_at("queued")
            assert server.windows() == {"plain": 4096}
            gate.open()
            assert request.answer().status == 200
            assert server.windows() == {"plain": 16384}


def test_f16_a_model_that_is_stuck(server):
    """F16: accepted, not a byte; ps shows the model, its time long over; others are served."""
    load(server, "plain")
    server.stick("plain")
    with waiting(server, model="plain", messages=USER) as request:
        ps = processes(server)["plain"]
        assert ps["expires_at"] < "2026-01-01"
        assert chat(server, "m").status == 200
        assert request.is_silent()
    server.advance(1e6)
    assert "plain" in processes(server)
    server.restart()
    assert chat(server, "plain").status == 200


def test_f16_one_that_waits_when_it_gets_stuck(server):
    """F16: a request that has the model already and waits for its slot gets no byte either."""
    gate = server.hold("prompt")
    with (
        waiting(server, model="plain", messages=USER) as first,
        waiting(server, model="plain", messages=USER) as second,
    ):
        first.is_at("reading")
        second.is_at("queued")
        server.stick("plain")
        gate.open()
        assert first.answer().status == 200
        assert chat(server, "plain", [], keep_alive=0).json["done_reason"] == "unload"
        assert second.is_silent()
        assert "plain" in processes(server)


def test_f16_the_queue_behind_it_stands_still(server):
    """F16: a wish for another window waits for a model that never goes, and so do all loads."""
    load(server, "plain")
    server.stick("plain")
    with (
        waiting(server, model="plain", messages=USER, options=LARGE) as first,
        waiting(server, model="m", messages=USER) as second,
    ):
        first.is_at("queued")
        second.is_at("queued")
        server.wait_for(lambda: server.queued == 1)
        assert second.is_silent()


# ---- nothing stays behind -----------------------------------------------------------------------


def test_a_restart_ends_everything_that_waits(server):
    """Requests in every phase, another client, and work for nobody: all end with the server."""
    server.switches.after_leaving = "reply"
    server.hold("prompt")
    with (
        waiting(server, model="plain", messages=USER) as first,
        waiting(server, model="plain", messages=USER) as second,
        waiting(server, model="plain", messages=USER, options=LARGE) as third,
    ):
        first.is_at("reading")
        second.is_at("queued")
        third.is_at("queued")
        server.other_client("plain", 2048, wait=False)
        server.wait_for(lambda: OTHER in server.log.running)
        first.leave()
        server.wait_for(lambda: server.log.end_of(0) is not None)
        server.restart()
    server.settle()
    assert (server.queued, server.windows()) == (0, {})
    assert chat(server, "plain").status == 200


def _disorder(server, seed):
    """Requests of every kind, some of which are left at once."""
    dice = random.Random(seed)
    faults = [*NUMBERED.values(), Chunked("two"), Huge(100_000)]
    for _ in range(20):
        server.fail(dice.choice(faults), dice.choice(["/api/chat", "load", "/api/tags"]))
        model, options = dice.choice(["m", "plain"]), dice.choice([SMALL, LARGE])
        messages = dice.choice([USER, USER, []])
        with (
            contextlib.suppress(OSError, http.client.HTTPException),
            waiting(server, model=model, messages=messages, options=options) as request,
        ):
            if dice.random() < 0.6:
                request.answer()


@pytest.mark.parametrize("seed", range(3))
def test_disorder_leaves_nothing_behind(seed):
    """After many clients that break, leave and reload, every request ended and every slot is free."""
    with OllamaDouble(num_parallel=2, max_queue=2) as server:
        clients = [
            threading.Thread(target=_disorder, args=(server, 10 * seed + each))
            for each in range(4)
        ]
        for client in clients:
            client.start()
        for window in (2048, 8192):
            server.other_client("m", window, wait=False)
            server.advance(1000)
        for client in clients:
            client.join()
        server.settle()
        ended = sorted(end.request for end in server.log.ends)
        assert ended == [request.number for request in server.requests]
        assert len(ended) == 80
        assert server.queued == 0
        for runner in server.state.runners.values():
            assert runner.users == 0
            assert not runner.slots.locked()
