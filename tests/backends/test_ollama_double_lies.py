"""The Ollama double can depart from the rules at any time, and its log tells what it really did."""

import json

import pytest

from engine.testing.ollama import MODELS, OllamaDouble
from engine.testing.ollama_log import OTHER, End, Load, Shift, Truncation, Unload
from engine.testing.ollama_rules import Model
from engine.testing.ollama_script import Reply
from engine.testing.ollama_switches import absent, zero
from tests.backends.double_talk import (
    USER,
    ask,
    chat,
    load,
    long_last,
    overfull,
    processes,
    waiting,
    words,
)

WINDOW = {"num_ctx": 16384}
STRICT = {"options": WINDOW, "truncate": False, "shift": False}


@pytest.fixture
def server():
    with OllamaDouble() as double:
        yield double


# ---- truncates anyway ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lie", "messages", "count", "lost"),
    [
        ("messages", overfull(), 11300, [("messages", 6000)]),
        ("half", overfull(), 8194, [("cut", 9106)]),
        ("both", overfull(), 11300, [("messages", 6000)]),
        ("half", long_last(), 8194, [("cut", 9106)]),
        ("both", long_last(), 8194, [("cut", 9106)]),
        ("system", long_last(), 8194, [("messages", 300), ("cut", 8806)]),
    ],
)
def test_f5_truncate_false_is_ignored(server, lie, messages, count, lost):
    """F5: 200 with less than was sent, though the request forbids it; the log has the loss."""
    server.switches.truncates_anyway = lie
    got = chat(server, messages=messages, **STRICT)
    assert (got.status, got.lines[-1]["prompt_eval_count"]) == (200, count)
    assert server.log.truncations == [Truncation(0, "m", *loss) for loss in lost]


@pytest.mark.parametrize("path", ["rendered", "native"])
@pytest.mark.parametrize("version", ["0.12.6", "0.33.0"])
def test_f5_on_every_path_and_version(version, path):
    """F5: also where this version and path would refuse."""
    with OllamaDouble([Model("m", path=path)], version=version) as server:
        assert chat(server, messages=long_last(), **STRICT).status == 400
        server.switches.truncates_anyway = "both"
        assert chat(server, messages=long_last(), **STRICT).status == 200
        server.switches.truncates_anyway = ""
        assert chat(server, messages=long_last(), **STRICT).status == 400
    assert {truncation.request for truncation in server.log.truncations} == {1}


def test_dropping_messages_alone_leaves_a_long_last_message_to_the_rules(server):
    """Where whole messages are the only lie, a last message that is too long is still refused."""
    server.switches.truncates_anyway = "messages"
    status, text = chat(server, messages=long_last(), **STRICT).error
    assert (status, json.loads(text)["error"]["n_prompt_tokens"]) == (400, 17300)


@pytest.mark.parametrize("version", ["0.6.8", "0.15.4"])
def test_f7_the_system_prompt_is_dropped(version):
    """F7: before 0.15.5 a long last message pushes the system prompt out, and the answer is 200."""
    with OllamaDouble(version=version) as server:
        got = chat(server, messages=long_last(), options=WINDOW)
    assert got.status == 200
    assert [message["role"] for message in server.seen[0].messages] == ["user"]


def test_f7_by_a_switch(server):
    """F7: newer versions do it too when told so."""
    server.switches.truncates_anyway = "system"
    assert chat(server, messages=long_last(), **STRICT).status == 200
    assert [message["role"] for message in server.seen[0].messages] == ["user"]


def test_a_prompt_that_fits_is_left_alone(server):
    """The lies cut nothing that fits."""
    server.switches.truncates_anyway = "both"
    assert chat(server, **STRICT).lines[-1]["prompt_eval_count"] == 2
    assert server.log.truncations == []


# ---- shifts -------------------------------------------------------------------------------------


def full(server, **fields):
    """A reply of 2,000 tokens to a prompt of 16,000 in a window of 16,384; its last object."""
    server.say(words(2000))
    long = [{"role": "user", "content": words(16000)}]
    return chat(server, "plain", long, options=WINDOW, **fields).lines[-1]


def test_33_a_shift_is_noted(server):
    """33: the window is full after 384 tokens; half of it beyond num_keep is forgotten."""
    last = full(server)
    assert (last["done_reason"], last["prompt_eval_count"] + last["eval_count"]) == ("stop", 18000)
    assert server.log.shifts == [Shift(0, "plain", (16384 - 4) // 2)]


def test_33_no_shift_where_it_is_off(server):
    """33: with shift off the reply ends, and nothing is forgotten."""
    assert full(server, shift=False)["done_reason"] == "length"
    assert server.log.shifts == []


def test_shift_false_is_ignored(server):
    """The switch: `shift: false` is accepted and the window shifts all the same."""
    server.switches.shifts_anyway = True
    last = full(server, shift=False, truncate=False)
    assert (last["done_reason"], last["eval_count"]) == ("stop", 2000)
    assert len(server.log.shifts) == 1


def test_a_long_reply_shifts_more_than_once():
    """Each time the window is full again."""
    with OllamaDouble() as server:
        server.say(words(30))
        chat(server, "plain", options={"num_ctx": 10, "num_keep": 2, "num_predict": 30})
    assert [shift.tokens_lost for shift in server.log.shifts] == [4] * 6


@pytest.mark.parametrize(("version", "reason"), [("0.33.0", "length"), ("0.24.0", "stop")])
def test_vision_models_do_not_shift(version, reason):
    """Since 0.30 a model with a projector stops at the full window, whatever was asked."""
    model = Model("plain", capabilities=("completion", "vision"))
    with OllamaDouble([model], version=version) as server:
        assert full(server, shift=True)["done_reason"] == reason


# ---- the window ---------------------------------------------------------------------------------


def test_the_window_is_lowered_at_once_and_ps_tells(server):
    """A loaded model's window shrinks without a reload; ps tells the truth, requests are refused."""
    load(server, num_ctx=16384)
    server.switches.lowers_to = 6000
    assert processes(server)["m"]["context_length"] == 6000
    long = [{"role": "user", "content": words(7000)}]
    status, text = chat(server, messages=long, options=WINDOW, truncate=False).error
    assert (status, json.loads(text)["error"]["n_ctx"]) == (400, 6000)
    assert len(server.loads) == 1


@pytest.mark.parametrize("how", ["lowers_to", "window_limit"])
def test_the_window_is_lowered_and_ps_lies(server, how):
    """With the other switch ps tells what was asked for; the log and `windows` the truth."""
    server.switches.ps_lies = True
    setattr(server.switches if how == "lowers_to" else server.state, how, 6000)
    load(server, num_ctx=16384)
    assert processes(server)["m"]["context_length"] == 16384
    assert server.windows() == {"m": 6000}


def test_a_lowered_window_truncates_in_silence(server):
    """Lowered, lying and truncating: 200, half of the small window read."""
    server.switches.lowers_to, server.switches.ps_lies = 6000, True
    server.switches.truncates_anyway = "both"
    long = [{"role": "user", "content": words(7000)}]
    last = chat(server, messages=long, **STRICT).lines[-1]
    assert last["prompt_eval_count"] == 3002
    assert server.log.truncations == [Truncation(0, "m", "cut", 3998)]


def test_divided_by_slots():
    """What is loaded is shared between conversations; each has its part."""
    with OllamaDouble(slots=4) as server:
        load(server, num_ctx=16384)
        assert processes(server)["m"]["context_length"] == 4096


@pytest.mark.parametrize(
    ("version", "asked", "answer"),
    [
        ("0.33.0", {}, 4096),
        ("0.33.0", WINDOW, "llama-server reported out-of-memory"),
        ("0.24.0", {}, "model requires more system memory"),
    ],
)
def test_a_window_that_memory_cannot_hold(version, asked, answer):
    """An automatic window is lowered without a word since 0.30; an explicit one is refused."""
    with OllamaDouble(version=version, default_window=32768) as server:
        server.switches.fits = 8192
        got = load(server, **asked)
        if isinstance(answer, int):
            assert server.windows() == {"m": answer}
        else:
            assert got.error[0] == 500
            assert got.error[1].startswith(answer)


# ---- counts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lie", "told"),
    [(lambda true: true * 2, 4), (lambda true: true - 1, 1), (zero, 0), (absent, None)],
)
@pytest.mark.parametrize(
    ("switch", "name"),
    [("prompt_count", "prompt_eval_count"), ("reply_count", "eval_count")],
)
def test_f8_wrong_counts(server, switch, name, lie, told):
    """F8: a count is replaced by a function of the true one, is nothing, or is not there."""
    setattr(server.switches, switch, lie)
    server.say("two words")
    assert chat(server, "plain").lines[-1].get(name) == told


@pytest.mark.parametrize(("version", "counts"), [("0.1.48", [50, 1]), ("0.30.0", [50, 1])])
def test_f8_counts_without_what_was_cached(version, counts):
    """F8: some versions tell on a repeat what they processed only."""
    with OllamaDouble(version=version) as server:
        long = [{"role": "user", "content": words(50)}]
        told = [chat(server, messages=long).lines[-1]["prompt_eval_count"] for _ in counts]
    assert told == counts


def test_absurd_durations(server):
    """Durations are what a function makes of them: negative, years."""
    server.switches.durations = lambda true: -true
    last = chat(server).lines[-1]
    assert last["total_duration"] < 0
    assert last["eval_duration"] == -1_000_000


# ---- time ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [-3600.0, 10 * 365 * 86400.0, 1e13])
def test_the_clock_jumps(server, seconds):
    """What is told of time jumps, nothing expires by it; a date beyond all dates is the last."""
    load(server)
    before = chat(server).lines[0]["created_at"]
    server.jump(seconds)
    after = chat(server).lines[0]["created_at"]
    assert (after < before) is (seconds < 0)
    assert after != before
    assert server.windows() == {"m": 4096}


@pytest.mark.parametrize(
    ("keep_alive", "last"), [(None, 300), ("10m", 600), (2.5, 2.5), (-1, float("inf"))]
)
def test_24_models_go_when_their_time_is_up(server, keep_alive, last):
    """24: counted from the end of the last request; five minutes where nothing was said."""
    chat(server, **({} if keep_alive is None else {"keep_alive": keep_alive}))
    server.advance(min(last, 1e9) - 1)
    assert server.windows() == {"m": 4096}
    server.advance(2)
    assert server.windows() == ({"m": 4096} if last == float("inf") else {})
    assert server.log.unloads == ([] if last == float("inf") else [Unload("m", "expired")])


def test_24_each_request_starts_the_time_anew(server):
    """24: the time runs from the last request's end, with what an earlier one said of it."""
    chat(server, keep_alive=100)
    server.advance(90)
    chat(server)
    server.advance(90)
    assert server.windows() == {"m": 4096}


def test_24_a_busy_model_does_not_expire(server):
    """24: while a request runs, no time runs out."""
    gate = server.hold("prompt")
    with waiting(server, model="m", messages=USER) as request:
        request.is_at("reading")
        server.advance(1e6)
        assert server.windows() == {"m": 4096}
        gate.open()
        assert request.answer().status == 200


def test_24_what_ps_tells_of_the_time(server):
    """24: ten minutes after the request's end; forever is centuries away."""
    chat(server, keep_alive="10m")
    assert processes(server)["m"]["expires_at"].startswith("2026-01-01T00:10:00")
    chat(server, keep_alive=-1)
    assert processes(server)["m"]["expires_at"] > "2300"


# ---- the whole server ---------------------------------------------------------------------------


def test_f17_another_client_loads_the_model_otherwise(server):
    """F17: between two turns the window is another's; our next request loads the model again."""
    chat(server, options=WINDOW)
    server.other_client("m", 2048)
    assert processes(server)["m"]["context_length"] == 2048
    last = chat(server, options=WINDOW).lines[-1]
    assert server.log.loads == [
        Load(0, "m", 16384, again=False),
        Load(OTHER, "m", 2048, again=True),
        Load(2, "m", 16384, again=True),
    ]
    assert last["load_duration"] > 1_000_000_000
    assert len(server.bodies()) == 2  # the other's is not among ours


def test_f17_another_client_leaves_the_window_to_the_server(server):
    """F17: one that says nothing of the window reloads as well, with the default."""
    chat(server, options=WINDOW)
    server.other_client("m")
    assert server.windows() == {"m": 4096}


def test_f17_another_client_waits_for_our_answer(server):
    """F17: while we are answered the other one waits."""
    server.say(words(3))
    gate = server.hold("piece", after=1)
    with waiting(server, model="plain", messages=USER, options=WINDOW) as request:
        request.is_at("writing")
        server.other_client("plain", 2048, wait=False)
        server.wait_for(lambda: server.log.running.get(OTHER) == "queued")
        assert server.windows() == {"plain": 16384}
        gate.open()
        assert request.answer().lines[-1]["done"]
        server.wait_for(lambda: server.windows() == {"plain": 2048})


@pytest.mark.parametrize("version", ["", "0.12.5"])
def test_restart_on_the_same_port(server, version):
    """A restart forgets what was loaded, keeps what is stored, and may be of another version."""
    chat(server, options=WINDOW)
    port = server.port
    server.restart(version)
    assert server.port == port
    assert processes(server) == {}
    assert ask(server, "GET", "/api/version").json == {"version": version or "0.33.0"}
    chat(server, options=WINDOW)
    assert server.log.reloads == []
    assert [load.again for load in server.log.loads] == [False, False]


def test_restart_breaks_what_is_under_way(server):
    """An answer under way breaks; the log says that the server stopped."""
    server.say(words(3))
    server.hold("piece", after=1)
    with waiting(server, model="plain", messages=USER) as request:
        request.is_at("writing")
        server.restart()
        with pytest.raises(ConnectionError):
            raise_unless_broken(request)
    assert server.log.end_of(0) == End(0, "/api/chat", "stopped", "writing")
    assert chat(server).status == 200


def raise_unless_broken(request):
    """Read to the end: a reset raises, and a clean close without the end of the stream counts."""
    if not request.bytes().endswith(b"0\r\n\r\n"):
        raise ConnectionResetError


def test_a_server_that_is_down(server):
    """Between stop and start nobody can connect."""
    server.stop()
    with pytest.raises(ConnectionRefusedError):
        ask(server, "GET", "/")
    server.start()
    assert ask(server, "GET", "/").status == 200


# ---- the log ------------------------------------------------------------------------------------


def test_a_clean_conversation_leaves_a_clean_log(server):
    """Nothing lost, nothing loaded twice, every request complete."""
    said = list(USER)
    for _ in range(5):
        got = chat(server, messages=said, stream=False, **STRICT).json
        said += [got["message"], *USER]
    server.settle()
    log = server.log
    assert (log.truncations, log.shifts, log.reloads, log.aborts, log.lingering) == ([],) * 5
    assert log.loads == [Load(0, "m", 16384, again=False)]
    assert {(end.how, end.phase) for end in log.ends_of("/api/chat")} == {("complete", "writing")}
    assert [end.request for end in log.ends] == list(range(5))


def test_reloads_are_told_from_loads(server):
    """A load after the model had gone is none; one that made it go is."""
    load(server, num_ctx=8192)
    chat(server, messages=[], keep_alive=0)
    load(server, num_ctx=16384)
    load(server, num_ctx=8192)
    assert [(load.window, load.again) for load in server.log.loads] == [
        (8192, False),
        (16384, False),
        (8192, True),
    ]
    assert [unload.why for unload in server.log.unloads] == ["asked", "reload"]


@pytest.mark.parametrize(
    ("point", "phase"), [("load", "loading"), ("prompt", "reading"), ("piece", "writing")]
)
def test_the_log_knows_where_a_client_left(server, point, phase):
    """How a request ended, and where it then was."""
    server.say(words(3))
    server.hold(point, after=1 if point == "piece" else 0)
    with waiting(server, model="plain", messages=USER) as request:
        request.is_at(phase)
        assert server.log.end_of(request.number) is None
        request.leave()
        server.wait_for(lambda: server.log.end_of(request.number) is not None)
    assert server.log.end_of(request.number) == End(0, "/api/chat", "left", phase)
    assert server.phases == {}


def test_refusals_are_noted(server):
    """A refused request ended, and was refused."""
    chat(server, "nowhere")
    chat(server, messages=overfull(), **STRICT)
    server.settle()
    assert [(end.how, end.phase) for end in server.log.ends] == [
        ("refused", "asking"),
        ("refused", "reading"),
    ]
    assert server.log.truncations == []


def test_truncation_by_the_rules_is_noted_too(server):
    """A request that does not forbid it is cut, and the log has it."""
    chat(server, messages=overfull(), options=WINDOW)
    chat(server, messages=long_last(), options=WINDOW)
    assert server.log.truncations == [
        Truncation(0, "m", "messages", 6000),
        Truncation(1, "m", "cut", 9106),
    ]


def test_gates_may_wait_for_one_model():
    """A gate for a model leaves the others alone."""
    with OllamaDouble(MODELS) as server:
        gate = server.hold("prompt", model="plain")
        server.always(Reply("fine"))
        assert chat(server, "m").status == 200
        with waiting(server, model="plain", messages=USER) as request:
            request.is_at("reading")
            gate.open()
            assert request.answer().status == 200


def test_what_is_over_can_be_forgotten(server):
    """A long test stays small: records go, numbers go on, and what is under way stays."""
    server.always(Reply("fine"))
    chat(server, "plain")
    gate = server.hold("prompt")
    with waiting(server, model="plain", messages=USER) as request:
        request.is_at("reading")
        server.forget()
        assert [request.number for request in server.requests] == [1]
        assert (server.seen, server.loads, server.log.ends) == ([], [], [])
        gate.open()
        assert request.answer().status == 200
    server.settle()
    assert server.log.ends == [End(1, "/api/chat", "complete", "writing")]
    assert server.windows() == {"plain": 4096}
