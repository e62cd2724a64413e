"""Every fault of the list, F1 to F24, as bytes on the wire, and those of transport and framing.

Read off a raw socket, or with the standard library's client where only the answer matters.
"""

import http.client
import json
import re

import pytest

from engine.testing import ollama_faults as faults
from engine.testing.ollama import OllamaDouble
from engine.testing.ollama_faults import (
    BUSY,
    HTML,
    NUMBERED,
    AfterDone,
    Answer,
    Chunked,
    Close,
    Drop,
    EndEarly,
    Error,
    Huge,
    Impatient,
    LoadFails,
    NoDone,
    Silence,
    redirect,
    refusal,
)
from engine.testing.ollama_log import Aborted, End
from engine.testing.ollama_rules import Model
from engine.testing.ollama_script import Reply
from tests.backends.double_talk import USER, ask, chat, load, processes, waiting, words

HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
)


@pytest.fixture
def server():
    with OllamaDouble() as double:
        double.always(Reply(("one", " two", " três", " four")))
        yield double


class Wire:
    """What came for one chat: everything, its head, its chunks, and how it ended."""

    def __init__(self, raw, *, reset=False):
        self.raw = raw
        self.reset = reset
        self.head, _, rest = raw.partition(b"\r\n\r\n")
        self.chunks, self.clean = [], False
        while match := re.match(rb"([0-9a-f]+)\r\n", rest):
            size = int(match[1], 16)
            data, rest = rest[match.end() :][:size], rest[match.end() + size + 2 :]
            if not size:
                self.clean = True
                break
            self.chunks.append(data)
            if len(data) < size:
                break

    @property
    def text(self):
        return b"".join(self.chunks)


def wire(server, fault, model="plain", **fields):
    """The bytes of an answer to a chat, read until the connection ends or the stream does."""
    if fault is not None:
        server.fail(fault)
    received, reset = bytearray(), False
    with waiting(server, model=model, messages=USER, **fields) as request:
        try:
            while not received.endswith(b"0\r\n\r\n"):
                data = request.socket.recv(65536)
                if not data:
                    break
                received += data
        except ConnectionResetError:
            reset = True
    return Wire(bytes(received), reset=reset)


def contents(lines):
    return "".join(line["message"]["content"] for line in lines if "message" in line)


# ---- F1 to F4: how a stream ends ----------------------------------------------------------------


def test_an_answer_without_a_fault(server):
    """The measure of the others: a head, a chunk for each line, the stream's end."""
    got = wire(server, None)
    assert got.raw.startswith(HEAD)
    assert [chunk[-1:] for chunk in got.chunks] == [b"\n"] * 5
    assert [json.loads(chunk)["done"] for chunk in got.chunks] == [False] * 4 + [True]
    assert got.clean


def test_f1_a_clean_end_without_done(server):
    """F1: whole lines, the end of the stream, and no line that is done."""
    got = wire(server, NUMBERED["F1"])
    assert [json.loads(chunk)["done"] for chunk in got.chunks] == [False, False]
    assert got.clean


def test_f1_at_the_very_end(server):
    """F1: everything was said, only the last object is not there."""
    got = wire(server, EndEarly(after=99))
    lines = [json.loads(chunk) for chunk in got.chunks]
    assert contents(lines) == "one two três four"
    assert not any(line["done"] for line in lines)
    assert got.clean


def test_f1_nothing_at_all(server):
    """F1: 200 and an empty stream; not streamed, the zero object."""
    assert wire(server, EndEarly()).raw == HEAD + b"0\r\n\r\n"
    server.fail(EndEarly())
    assert chat(server, stream=False).json == {
        "model": "",
        "created_at": "0001-01-01T00:00:00Z",
        "message": {"role": "", "content": ""},
        "done": False,
    }


def test_f1_thirty_identical_tokens(server):
    """F1: the runner gives up by itself: a clean end, no last object."""
    server.say(" ha" * 100)
    got = wire(server, None)
    assert len(got.chunks) == 31
    assert got.clean
    assert not json.loads(got.chunks[-1])["done"]


@pytest.mark.parametrize("false", [True, False])
def test_f2_a_last_object_that_is_not_done(server, false):
    """F2: it has a reason and counts, and `done` is false or missing."""
    last = json.loads(wire(server, NoDone(false=false)).chunks[-1])
    assert last["done_reason"] == "stop"
    assert last["eval_count"] == 4
    assert last.get("done", "missing") == (False if false else "missing")


def test_f3_closed_before_any_byte(server):
    """F3: the connection ends, and nothing came."""
    got = wire(server, NUMBERED["F3"])
    assert (got.raw, got.reset) == (b"", False)
    assert chat(server).status == 200


@pytest.mark.parametrize("reset", [True, False])
def test_f4_broken_within_a_line(server, reset):
    """F4: a chunk that is never complete, then a close or a reset."""
    got = wire(server, Drop(after=2, reset=reset))
    assert not got.clean
    if reset:  # what had come may be lost with it
        assert got.reset or not got.chunks[-1].endswith(b"\n")
    else:
        assert len(got.chunks) == 3
        assert not got.chunks[-1].endswith(b"\n")
        assert not got.reset


def test_f4_is_a_reset(server):
    """F4: what breaks with a reset is seen as one."""
    server.fail(NUMBERED["F4"])
    with waiting(server, model="plain", messages=USER) as request:
        server.settle()
        with pytest.raises(ConnectionResetError):
            request.bytes()
    assert server.log.end_of(0) == End(0, "/api/chat", "broken", "writing")


def test_half_a_line_and_a_clean_end(server):
    """The stream ends as it should, within an object."""
    got = wire(server, EndEarly(after=1, half_line=True))
    assert got.clean
    assert not got.text.endswith(b"\n")


@pytest.mark.parametrize("fault", [EndEarly(1, half_character=True), Drop(1, half_character=True)])
def test_half_a_character_at_the_end(server, fault):
    """The last byte that comes is the first of a character."""
    got = wire(server, fault)
    with pytest.raises(UnicodeDecodeError, match="unexpected end of data"):
        got.text.decode()
    assert got.clean is isinstance(fault, EndEarly)


# ---- F5 to F8 are switches (test_ollama_double_lies), F6 and F9 answers -------------------------


def test_f6_json_within_the_error(server):
    """F6: by the rules on the native path, and by itself as a fault."""
    with OllamaDouble([Model("native", path="native"), Model("rendered")]) as double:
        long = [{"role": "user", "content": words(5000)}]
        status, text = chat(double, "native", long).error
        assert chat(double, "rendered", long).status == 200
    assert (status, json.loads(text)["error"]["n_prompt_tokens"]) == (400, 5000)
    server.fail(NUMBERED["F6"])
    status, text = chat(server).error
    assert (status, json.loads(text)["error"]["n_ctx"]) == (400, 16384)


@pytest.mark.parametrize("status", [500, 502, 504])
def test_f9_a_page_from_a_proxy(server, status):
    """F9: HTML, with the proxy's status."""
    server.fail(Answer(status))
    got = chat(server)
    assert (got.status, got.kind, got.raw.decode()) == (status, "text/html", HTML)


# ---- F10 to F15: runners ------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [True, False])
def test_f10_the_runner_stopped(server, stream):
    """F10: 500 before the first piece, and the model is no longer there."""
    server.fail(NUMBERED["F10"])
    status, text = chat(server, stream=stream).error
    assert (status, text.partition(",")[0]) == (500, "model runner has unexpectedly stopped")
    assert server.windows() == {}
    assert [unload.why for unload in server.log.unloads] == ["died"]


@pytest.mark.parametrize(
    ("number", "text"), [("F11", "process has terminated"), ("F15", "timed out waiting for")]
)
def test_f11_f15_the_model_does_not_load(server, number, text):
    """F11, F15: 500 while loading, also of a model that was loaded; the next request may have it."""
    load(server, "plain")
    server.fail(NUMBERED[number])
    status, said = chat(server, "plain").error
    assert status == 500
    assert text in said
    assert server.windows() == {}
    assert server.log.aborts == [Aborted(1, "plain")]
    assert chat(server, "plain").status == 200


def test_f11_of_a_load_without_messages(server):
    """F11: an empty chat fails the same way."""
    server.fail(LoadFails("llama runner process has terminated: exit status 2"), "load")
    assert load(server).error == (500, "llama runner process has terminated: exit status 2")
    assert server.windows() == {}


def test_f12_an_error_after_some_pieces(server):
    """F12: the status stays 200, an error line comes and the stream ends."""
    got = wire(server, NUMBERED["F12"])
    assert got.raw.startswith(HEAD)
    assert [list(json.loads(chunk)) == ["error"] for chunk in got.chunks] == [False, False, True]
    assert "CUDA error" in json.loads(got.chunks[-1])["error"]
    assert got.clean


def test_f13_an_error_under_another_key(server):
    """F13: the line has no `error`, its key is the message."""
    got = wire(server, NUMBERED["F13"])
    assert list(json.loads(got.chunks[-1])) == ["error parsing tool call"]


def test_f14_a_tool_call_that_could_not_be_read(server):
    """F14: 500 with the raw text of the call."""
    server.fail(NUMBERED["F14"])
    status, text = chat(server).error
    assert status == 500
    assert re.match(r"error parsing tool call: raw='.*', err=", text)


def test_42_the_first_error_of_a_stream_is_plain_json(server):
    """42: with its real status and without a charset, streamed or not."""
    for stream in (True, False):
        server.fail(Error("rate limit exceeded", status=503))
        got = chat(server, stream=stream)
        assert (got.error, got.kind) == ((503, "rate limit exceeded"), "application/json")


# ---- F16 and F18: test_ollama_double_queue; F17: test_ollama_double_lies ------------------------


def test_f16_no_byte_ever(server):
    """F16: the request is accepted, ps shows the model, and nothing comes."""
    server.fail(Silence())
    with waiting(server, model="plain", messages=USER) as request:
        request.is_at("reading")
        assert "plain" in processes(server)
        assert request.is_silent()
    server.settle()
    assert server.log.end_of(0).how == "left"


def test_silence_within_a_reply(server):
    """Some pieces, then nothing, and no close."""
    server.fail(Silence(after=2))
    with waiting(server, model="plain", messages=USER) as request:
        received = b""
        while received.count(b'"done":false') < 2:
            received += request.socket.recv(65536)
        assert [json.loads(chunk)["done"] for chunk in Wire(received).chunks] == [False, False]
        assert request.is_silent()
    server.settle()
    assert server.log.end_of(0) == End(0, "/api/chat", "left", "writing")


def test_f19_a_foreign_host(server):
    """F19: 403 without a body, by the rules and as a fault."""
    server.fail(NUMBERED["F19"])
    for got in (
        ask(server, "GET", "/api/tags", headers={"Host": "evil.example"}),
        chat(server),
    ):
        assert (got.status, got.raw) == (403, b"")


def test_f19_private_addresses_are_served(server):
    """F19: an address of this machine's own networks is no foreign name."""
    for host in ("192.168.1.4:11434", "localhost:1", "box.local", "[::1]:11434"):
        assert ask(server, "GET", "/api/tags", headers={"Host": host}).status == 200


# ---- F20 to F22: test_ollama_double_storage -----------------------------------------------------


def test_f23_a_proxy_gives_up_while_loading(server):
    """F23: the client gets the proxy's page, the load is aborted, the next request begins anew."""
    server.fail(NUMBERED["F23"])
    got = chat(server)
    assert (got.status, got.kind) == (504, "text/html")
    assert (server.log.aborts, server.windows()) == ([Aborted(0, "m")], {})
    assert chat(server).status == 200


def test_f23_with_the_model_loaded(server):
    """F23: where nothing loads, the reply alone is lost."""
    load(server)
    server.fail(Impatient(502))
    assert chat(server).status == 502
    assert server.windows() == {"m": 4096}
    assert server.log.aborts == []


@pytest.mark.parametrize("stream", [True, False])
def test_f24_an_error_with_200(server, stream):
    """F24: 200, a body with `error` and no message."""
    server.fail(NUMBERED["F24"])
    got = chat(server, stream=stream)
    assert (got.status, got.json) == (200, {"error": "upstream failed"})


# ---- framing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["two", "split", "characters", "bytes"])
def test_lines_in_other_chunks(server, how):
    """The same lines come, in other pieces."""
    got = wire(server, Chunked(how))
    lines = [json.loads(line) for line in got.text.splitlines()]
    assert contents(lines) == "one two três four"
    assert lines[-1]["done"]
    assert got.clean


def test_how_the_chunks_lie(server):
    """Two lines in one chunk, a line in three, a chunk that ends within a character, bytes."""
    two = wire(server, Chunked("two")).chunks
    split = wire(server, Chunked("split")).chunks
    characters = wire(server, Chunked("characters")).chunks
    single = wire(server, Chunked("bytes")).chunks
    assert [chunk.count(b"\n") for chunk in two] == [2, 2, 1]
    assert len(split) == 15
    assert any(chunk.endswith("ê".encode()[:1]) for chunk in characters)
    assert {len(chunk) for chunk in single} == {1}


@pytest.mark.parametrize("field", ["padding", "content"])
def test_a_huge_line(server, field):
    """One object of several million bytes among the others."""
    got = wire(server, Huge(size=3_000_000, field=field))
    sizes = [len(chunk) for chunk in got.chunks]
    assert [size > 3_000_000 for size in sizes] == [False, True, False, False, False, False]
    assert (
        contents(map(json.loads, got.chunks)).replace(" " * 3_000_000, "") == "one two três four"
    )


@pytest.mark.parametrize(("what", "done"), [("text", False), ("again", True)])
def test_more_after_the_last_object(server, what, done):
    """An object comes after the one that was done."""
    lines = [json.loads(chunk) for chunk in wire(server, AfterDone(what)).chunks]
    assert [line["done"] for line in lines[-2:]] == [True, done]


# ---- other answers ------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects(server, status):
    """Another place is named; nothing is answered here."""
    server.fail(redirect(status, "http://127.0.0.1:9/api/chat"))
    got = chat(server)
    assert (got.status, got.headers["Location"]) == (status, "http://127.0.0.1:9/api/chat")
    assert server.loads == []


@pytest.mark.parametrize(
    ("status", "text"), [(404, "model 'm' not found"), (503, BUSY), (500, "odd")]
)
def test_refusals_out_of_nowhere(server, status, text):
    """The server's own kind of refusal, whatever was asked."""
    server.fail(refusal(status, text))
    assert chat(server).error == (status, text)


def test_faults_reach_a_running_server_in_order(server):
    """Each is for one request; then the next, and then none."""
    server.fail(Close())
    server.fail(Answer(502))
    with pytest.raises(http.client.RemoteDisconnected):
        chat(server)
    assert [chat(server).status for _ in range(2)] == [502, 200]


@pytest.mark.parametrize("path", ["/api/tags", "/api/show", "/api/ps", "/api/version"])
def test_other_endpoints_break_as_well(server, path):
    """Faults are for any path."""
    server.fail(faults.Error("down", status=502), path)
    method = "POST" if path == "/api/show" else "GET"
    body = {"model": "m"} if method == "POST" else None
    assert ask(server, method, path, body).error == (502, "down")
    assert ask(server, method, path, body).status == 200


def test_the_log_tells_how_each_ended(server):
    """Broken by a fault, refused, complete."""
    for fault in (EndEarly(after=1), Error("no", after=1), Answer(502)):
        server.fail(fault)
        chat(server)
    wire(server, Close())
    chat(server)
    server.settle()
    hows = [end.how for end in sorted(server.log.ends, key=lambda end: end.request)]
    assert hows == ["broken", "refused", "refused", "broken", "complete"]


@pytest.mark.parametrize(
    ("fault", "came"), [(EndEarly(), b"0\r\n\r\n"), (Drop(), b'a\r\n{"mod'), (Close(), b"")]
)
def test_lists_that_break(server, fault, came):
    """A list of models that ends, or breaks, within its first bytes."""
    server.fail(fault, "/api/show")
    with waiting(server, "/api/show", {"Connection": "close"}, model="m") as request:
        assert request.bytes() == (HEAD + came if came else b"")


def test_a_list_that_never_comes(server):
    """A list of models for which one waits."""
    server.fail(Silence(), "/api/show")
    with waiting(server, "/api/show", model="m") as request:
        request.is_at("asking")
        assert request.is_silent()
    server.settle()
    assert server.log.end_of(0) == End(0, "/api/show", "left", "asking")
