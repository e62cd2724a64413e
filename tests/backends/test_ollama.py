"""The Ollama backend over a real socket, against the double."""

import asyncio
import gc
import http.client
import json
import subprocess
import sys
import warnings
from contextlib import aclosing
from dataclasses import replace

import pytest

from engine.backends.base import (
    Finished,
    Loaded,
    Loading,
    LoadRequest,
    PromptMessage,
    PromptRequest,
    TextChunk,
    ThinkingChunk,
    ToolCallChunk,
    Warned,
)
from engine.backends.ollama import OllamaBackend, PullProgress, RunningModel
from engine.errors import (
    BackendFailed,
    BackendRefused,
    BackendSilent,
    BackendUnreachable,
    Bug,
    ContextOverflow,
    DownloadFailed,
    MemoryShort,
    ModelMissing,
    ModelUnusable,
)
from engine.testing.ollama import MODELS, OllamaDouble
from engine.testing.ollama_rules import Model
from engine.testing.ollama_script import (
    Answer,
    Close,
    Drop,
    EndEarly,
    Error,
    NoDone,
    Reply,
    Silence,
)

TOOL = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}
PATIENCE = 30.0


@pytest.fixture
def server():
    with OllamaDouble() as double:
        yield double


def using(server, work, **limits):
    """Run `work(backend)` with a backend for the server, and close it."""

    async def run():
        backend = OllamaBackend(server.host, **limits)
        try:
            return await work(backend)
        finally:
            await backend.close()

    return asyncio.run(run())


def prompt(*words, **fields):
    """A request of user and assistant messages in turn."""
    roles = ("user", "assistant")
    messages = tuple(PromptMessage(roles[i % 2], text) for i, text in enumerate(words or ("go",)))
    base = {"model": "m", "messages": messages, "window_tokens": 16384, "max_tokens": 500}
    return PromptRequest(**(base | fields))


async def chunks_of(backend, request, into=None):
    """All chunks of a reply; those before a failure are left in `into`."""
    chunks = [] if into is None else into
    async with aclosing(backend.stream(request)) as stream:
        async for chunk in stream:
            chunks.append(chunk)  # kept when the stream fails
    return chunks


def chunks(server, request=None, **limits):
    return using(server, lambda backend: chunks_of(backend, request or prompt()), **limits)


def said(received, kind=TextChunk):
    return "".join(chunk.text for chunk in received if isinstance(chunk, kind))


async def loaded(backend, window=16384, model="m"):
    return await backend.load(LoadRequest(model, window), lambda fraction: None)


def post(server, body):
    """Another program's request, whole."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.request("POST", "/api/chat", json.dumps(body))
    answer = connection.getresponse().read()
    connection.close()
    return answer


# ---- what there is ------------------------------------------------------------------------------


def test_version_is_asked_for_once(server):
    """The version is kept; it is asked for at the first need."""

    async def twice(backend):
        return await backend.version(), await backend.version()

    assert using(server, twice) == ("0.33.0", "0.33.0")
    assert len(server.requests) == 1


def test_models_are_listed():
    """Newest first, with size; none that embed only. Those that run elsewhere are marked."""
    models = (*MODELS, Model("far", remote_host="https://ollama.com"), Model("big:cloud"))
    with OllamaDouble(models) as server:
        listed = using(server, lambda backend: backend.list_models())
    assert [(model.name, model.size_bytes, model.cloud) for model in listed] == [
        ("big:cloud", 0, True),
        ("far:latest", 0, True),
        ("plain:latest", 1_000_000_000, False),
        ("m:latest", 1_000_000_000, False),
    ]


def test_a_model_is_described():
    """Trained window, the Modelfile's own window, capabilities, template, size."""
    model = Model(
        "m", capabilities=("completion", "thinking"), trained=40960, num_ctx=8192, family="qwen3"
    )
    with OllamaDouble([model]) as server:
        info = using(server, lambda backend: backend.describe("m"))
    assert (info.name, info.architecture) == ("m", "qwen3")
    assert (info.trained_window, info.configured_window) == (40960, 8192)
    assert info.capabilities == {"completion", "thinking"}
    assert (info.weights_bytes, info.quantization) == (1_000_000_000, "Q4_1")
    assert info.template == "{{ .Prompt }}"


def test_a_missing_model_is_told_with_those_there_are(server):
    """The remedy names the command that fetches it, and the server's models."""
    with pytest.raises(ModelMissing) as caught:
        using(server, lambda backend: backend.describe("nope"))
    assert "`ollama pull nope`" in caught.value.remedy
    assert "m:latest" in caught.value.remedy


def test_ps_tells_what_is_loaded(server):
    """The loaded models with their windows."""

    async def work(backend):
        before = await backend.ps()
        await loaded(backend)
        return before, await backend.ps()

    before, after = using(server, work)
    assert before == ()
    [model] = after
    until = "2026-01-01T00:30:00+00:00"
    told = RunningModel("m:latest", 16384, 1_000_000_000, 0, expires_at=until)
    assert replace(model, digest="") == told
    assert len(model.digest) == 64


def test_tokens_are_not_counted(server):
    """The server cannot count, and nothing is asked of it."""
    assert using(server, lambda backend: backend.count(prompt())) is None
    assert server.requests == []


# ---- loading ------------------------------------------------------------------------------------


def test_load_believes_the_server(server):
    """The window is what the server says it loaded."""
    assert replace(using(server, loaded), digest="") == Loaded(16384, 32768)
    assert server.loads == [("m", 16384)]


def test_load_of_more_than_the_model_was_trained_for(server):
    """The server clamps; what was loaded counts."""
    got = using(server, lambda backend: loaded(backend, 65536))
    assert (got.window_tokens, got.trained_tokens) == (32768, 32768)


def test_load_that_came_out_smaller():
    """A lowered window counts, and is not taken for another program's work afterwards."""
    with OllamaDouble(window_limit=12000) as server:

        async def work(backend):
            return await loaded(backend), await chunks_of(backend, prompt())

        got, received = using(server, work)
    assert got.window_tokens == 12000
    assert not [chunk for chunk in received if isinstance(chunk, Warned | Loading)]


def test_load_on_servers_that_do_not_tell_the_window():
    """Without /api/ps the trained window is the most that can have been loaded."""
    with OllamaDouble(version="0.1.37") as server:
        got = using(server, lambda backend: loaded(backend, 65536))
    assert replace(got, cuts="") == Loaded(32768, 32768)


def test_load_reports_that_it_works(server):
    """Progress is told, without a fraction that nobody knows, and that it is over."""
    told = []
    request = LoadRequest("m", 16384)
    using(server, lambda backend: backend.load(request, told.append))
    assert told == [None, 1.0]


@pytest.mark.parametrize(
    ("fault", "kind", "part"),
    [
        (
            Error("model requires more system memory (8.1 GiB) than is available (5.2 GiB)"),
            MemoryShort,
            "8.1 GiB",
        ),
        (
            Error("timed out waiting for llama runner to start - progress 0.00 - "),
            BackendSilent,
            "gave up loading",
        ),
        (Error("unable to load model: /blobs/sha256-1"), ModelUnusable, "cannot chat"),
        (Error("llama runner process has terminated: exit status 2"), BackendFailed, "broke"),
        (Answer(504), BackendRefused, "got no answer from it"),
        (Answer(200), BackendRefused, "not an Ollama server"),
        (Close(), BackendUnreachable, "closed the connection"),
        (Drop(), BackendFailed, "cut"),
        (EndEarly(), BackendRefused, "not an Ollama server"),
    ],
)
def test_loads_that_fail(server, fault, kind, part):
    """Each way to fail has its type and its sentence."""
    server.fail(fault, "load")
    with pytest.raises(kind, match=part):
        using(server, loaded)


def test_embedding_models_are_refused(server):
    """A model that cannot chat says so when it is loaded."""
    with pytest.raises(ModelUnusable, match="does not support chat"):
        using(server, lambda backend: loaded(backend, model="emb"))


def test_stopping_a_load(server):
    """Cancelling closes the connection, which aborts the load; the backend stays usable."""
    gate = server.hold("load")

    async def work(backend):
        task = asyncio.create_task(loaded(backend))
        assert await asyncio.to_thread(gate.reached.wait, PATIENCE)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(server.wait_for, lambda: server.left == 1)
        return await loaded(backend)

    assert replace(using(server, work), digest="") == Loaded(16384, 32768)
    assert (server.state.aborted_loads, server.loads) == (1, [("m", 16384)])


# ---- a conversation -----------------------------------------------------------------------------


def test_all_requests_of_a_conversation_carry_the_same_load_options(server):
    """Every request to the model has the same num_ctx, and truncate and shift false."""

    async def work(backend):
        await loaded(backend)
        await chunks_of(backend, prompt("a"))
        await chunks_of(backend, prompt("a", "b", "c", max_tokens=7, think=False))
        await loaded(backend)
        await chunks_of(backend, prompt("a", "b", "c", "d", "e", tools=(TOOL,)))

    using(server, work)
    bodies = server.bodies("/api/chat")
    assert len(bodies) == 5
    assert {body["options"]["num_ctx"] for body in bodies} == {16384}
    assert {(body["truncate"], body["shift"]) for body in bodies} == {(False, False)}
    assert {body["keep_alive"] for body in bodies} == {"30m"}
    assert server.loads == [("m", 16384)]


def test_a_reply_is_streamed(server):
    """Text as it comes, then exactly one end with what it cost."""
    server.say("Paris is the capital.")
    received = using(server, _load_and_stream)
    assert said(received) == "Paris is the capital."
    end = received[-1]
    assert [chunk for chunk in received if isinstance(chunk, Finished)] == [end]
    assert (end.stop_reason, end.usage.read_tokens, end.usage.written_tokens) == ("stop", 1, 4)
    assert end.usage.reused_known is False


async def _load_and_stream(backend):
    await loaded(backend)
    return await chunks_of(backend, prompt())


def test_text_arrives_before_the_reply_is_complete(server):
    """The first words are there while the server still writes."""
    server.say("one two three")
    gate = server.hold("piece", after=1)

    async def work(backend):
        async with aclosing(backend.stream(prompt(think=False))) as stream:
            first = [await anext(stream), await anext(stream)]
            assert await asyncio.to_thread(gate.reached.wait, PATIENCE)
            gate.open()
            return first, [chunk async for chunk in stream]

    first, rest = using(server, work)
    assert first == [Loading(None), TextChunk("one")]
    assert said(rest) == " two three"


def test_thinking_is_told_apart(server):
    """Thinking comes as thinking, the answer as text."""
    server.say(Reply("Answer.", thinking="Let me see."))
    received = chunks(server)
    assert said(received, ThinkingChunk) == "Let me see."
    assert said(received) == "Answer."


@pytest.mark.parametrize("calls_last", [False, True])
def test_tool_calls(server, calls_last):
    """Calls come whole, and the reply ends for them, in whichever object they stood."""
    calls = (("look_up", {"word": "hill"}), ("look_up", {"word": "dale"}))
    server.say(Reply("Wait.", tool_calls=calls, calls_last=calls_last))
    received = chunks(server, prompt(tools=(TOOL,)))
    made = [chunk.call for chunk in received if isinstance(chunk, ToolCallChunk)]
    assert [(call.name, call.arguments["word"]) for call in made] == [
        ("look_up", "hill"),
        ("look_up", "dale"),
    ]
    assert made[0].id != made[1].id
    assert received[-1].stop_reason == "tool_calls"


def test_calls_and_results_go_back(server):
    """A call and its result are sent as the server wants them."""
    server.say(Reply(tool_calls=(("look_up", {"word": "hill"}),)))

    async def work(backend):
        first = await chunks_of(backend, prompt(tools=(TOOL,)))
        (call,) = (chunk.call for chunk in first if isinstance(chunk, ToolCallChunk))
        messages = (
            PromptMessage("user", "go"),
            PromptMessage("assistant", "", tool_calls=(call,)),
            PromptMessage("tool", "a hill", tool_call_id=call.id, tool_name=call.name),
        )
        return await chunks_of(backend, prompt(messages=messages, tools=(TOOL,)))

    assert said(using(server, work)) == "Understood."


@pytest.mark.parametrize("odd", ["\x85", "\u2028", "\u2029", "\x0b", "\x1c", "\r", "🙂", "<&>"])
def test_lines_end_at_line_feeds_only(server, odd):
    """A character that some take for a line's end does not break an object in two."""
    server.say(Reply((f"a{odd}b", f"{odd}c")))
    assert said(chunks(server, prompt(model="plain"))) == f"a{odd}b{odd}c"


def test_the_limit_of_a_reply(server):
    """max_tokens is the server's limit, and the reply says that it met it."""
    server.say("one two three four")
    received = chunks(server, prompt(model="plain", max_tokens=2))
    assert said(received) == "one two"
    assert (received[-1].stop_reason, received[-1].usage.written_tokens) == ("length", 2)


def test_a_reply_that_fills_the_window(server):
    """With the window full the reply ends with `length`; nothing is pushed out."""
    server.say(" ".join(f"w{index}" for index in range(50)))
    words = " ".join(f"p{index}" for index in range(90))
    received = chunks(server, prompt(words, model="plain", window_tokens=100))
    assert (received[-1].stop_reason, received[-1].usage.written_tokens) == ("length", 10)
    assert not [chunk for chunk in received if isinstance(chunk, Warned)]


def test_a_reply_without_a_limit_is_our_bug(server):
    """Nothing is sent without a limit."""
    with pytest.raises(Bug):
        chunks(server, prompt(max_tokens=0))
    assert server.requests == []


def test_text_that_is_no_unicode_is_sent(server):
    """Half a surrogate pair in what the user typed does not break the request."""
    chunks(server, prompt("bad \ud83d char"))
    assert server.bodies()[-1]["messages"][0]["content"].startswith("bad ")


def test_a_closed_backend_can_be_used_again(server):
    """Closing twice is fine, and the next request connects anew."""

    async def work(backend):
        await backend.close()
        await backend.version()
        await backend.close()
        await backend.close()
        return await chunks_of(backend, prompt())

    assert said(using(server, work)) == "Understood."


# ---- nothing is cut in silence ------------------------------------------------------------------


@pytest.mark.parametrize("path", ["rendered", "native"])
@pytest.mark.parametrize(
    ("version", "sizes"),
    [("0.12.6", (0, 0)), ("0.24.0", (0, 0)), ("0.30.0", (120, 100)), ("0.33.0", (120, 100))],
)
def test_a_prompt_that_does_not_fit_is_refused(version, path, sizes):
    """Every server that knows the fields refuses; sizes are told where it tells them."""
    words = [" ".join(["w"] * 40)] * 3
    with OllamaDouble([Model("m", path=path)], version=version) as server:
        with pytest.raises(ContextOverflow) as caught:
            chunks(server, prompt(*words, window_tokens=100))
        assert server.seen == []
    assert (caught.value.prompt_tokens, caught.value.window_tokens) == sizes


def described_and_loaded(server):
    async def work(backend):
        return (await backend.describe("m")).cuts, (await loaded(backend)).cuts

    return using(server, work)


@pytest.mark.parametrize("version", ["0.3.0", "0.6.8", "0.12.5"])
def test_an_old_server_is_named(version):
    """A server that may cut in silence is named with every model; the fields are sent all the same."""
    with OllamaDouble(version=version) as server:
        described, got = described_and_loaded(server)
        assert [body["truncate"] for body in server.bodies()] == [False]
    assert described == got
    assert f"version is {version}: before 0.12.6" in got


@pytest.mark.parametrize("version", ["0.12.6", "0.33.0-rc2", "0.0.0"])
def test_newer_servers_cut_nothing(version):
    """From 0.12.6 on, and for development builds, there is nothing to say."""
    with OllamaDouble(version="0.33.0") as server:
        server.state.version_text = version
        assert described_and_loaded(server) == ("", "")


def test_a_server_that_hides_its_version(server):
    """Whoever does not tell its version may be old."""
    for _ in range(2):
        server.fail(Answer(404, "404 page not found", "text/plain"), "/api/version")
    assert all("version is unknown" in told for told in described_and_loaded(server))


def test_a_server_that_was_put_back_is_old_at_the_next_load(server):
    """Another version on the same address, after it was away, is asked for again."""

    async def work(backend):
        before = await loaded(backend)
        await asyncio.to_thread(server.stop)
        with pytest.raises(BackendUnreachable):
            await loaded(backend)
        await asyncio.to_thread(server.start, "0.6.8")
        return before.cuts, (await loaded(backend)).cuts

    before, after = using(server, work)
    assert before == ""
    assert "0.6.8" in after


def test_a_window_that_was_shifted_is_told():
    """On an old server, more tokens than the window holds mean that something was dropped."""
    with OllamaDouble(version="0.12.5") as server:
        server.say(" ".join(f"w{index}" for index in range(50)))
        words = " ".join(f"p{index}" for index in range(90))
        received = chunks(server, prompt(words, model="plain", window_tokens=100))
    assert [chunk.code for chunk in received if isinstance(chunk, Warned)] == ["server_cut"]
    assert isinstance(received[-1], Finished)


def test_a_load_within_a_reply_is_told(server):
    """A model that is not in memory is loaded first: said before the wait begins."""
    assert chunks(server)[0] == Loading(None)


def test_another_programs_window_is_told(server):
    """Another program loaded the model otherwise: it is loaded again, and said why."""

    async def work(backend):
        await loaded(backend)
        await asyncio.to_thread(
            post, server, {"model": "m", "messages": [], "options": {"num_ctx": 2048}}
        )
        return await chunks_of(backend, prompt())

    received = using(server, work)
    assert received[0].code == "reloaded"
    assert "2,048" in received[0].text
    assert received[1] == Loading(None)
    assert [window for _, window in server.loads] == [16384, 2048, 16384]


def test_a_model_in_memory_is_not_announced(server):
    """Nothing is said about loading when nothing is loaded."""
    received = using(server, _load_and_stream)
    assert not [chunk for chunk in received if isinstance(chunk, Loading | Warned)]


# ---- nothing goes anywhere else -----------------------------------------------------------------


@pytest.mark.parametrize("name", ["gpt-oss:120b-cloud", "m:cloud"])
def test_cloud_names_are_refused_before_anything_is_sent(server, name):
    """The tag alone says that it runs elsewhere: not one request is made."""

    async def work(backend):
        for attempt in (
            backend.describe(name),
            loaded(backend, model=name),
            chunks_of(backend, prompt(model=name)),
            anext(backend.pull(name)),
        ):
            with pytest.raises(ModelUnusable, match=r"ollama\.com"):
                await attempt

    using(server, work)
    assert server.requests == []


def test_cloud_stubs_are_refused_before_a_word_is_sent():
    """A stored name whose model runs elsewhere: the list says so, not even the name was sent."""
    with OllamaDouble([Model("far", remote_host="https://ollama.com")]) as server:
        with pytest.raises(ModelUnusable, match=r"ollama\.com"):
            chunks(server, prompt(model="far"))
        assert [request.path for request in server.requests] == ["/api/tags"]


# ---- stop ---------------------------------------------------------------------------------------


async def _read(stream, into, enough):
    """Read on and on; `enough` is set after three chunks."""
    async for chunk in stream:
        into.append(chunk)
        if len(into) == 3:
            enough.set()


def test_stopping_while_the_prompt_is_read(server):
    """Cancelled before the first byte: the connection closes, and the backend stays usable."""
    gate = server.hold("prompt")

    async def work(backend):
        task = asyncio.create_task(chunks_of(backend, prompt()))
        assert await asyncio.to_thread(gate.reached.wait, PATIENCE)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(server.wait_for, lambda: server.left == 1)
        return await chunks_of(backend, prompt())

    assert said(using(server, work)) == "Understood."
    assert server.loads == [("m", 16384)]


@pytest.mark.parametrize("way", ["cancel", "close"])
def test_stopping_a_reply(server, way):
    """Cancelling the reader, or closing the stream, closes the connection at once."""
    server.say("one two three four five six")
    server.hold("piece", after=3)
    received = []

    async def work(backend):
        await loaded(backend, model="plain")
        stream = backend.stream(prompt(model="plain"))
        if way == "cancel":
            enough = asyncio.Event()
            task = asyncio.create_task(_read(stream, received, enough))
            await enough.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            received.extend([await anext(stream) for _ in range(3)])
            await stream.aclose()
        await asyncio.to_thread(server.wait_for, lambda: server.left == 1)
        return await chunks_of(backend, prompt(model="plain"))

    assert said(using(server, work)) == "Understood."
    assert said(received) == "one two three"
    assert server.loads == [("plain", 16384)]


# ---- replies that break -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "kind", "part"),
    [
        (EndEarly(after=2), BackendFailed, "reply was cut"),
        (EndEarly(after=2, half_line=True), BackendFailed, "reply was cut"),
        (Drop(after=2), BackendFailed, "reply was cut"),
        (Error("CUDA error: out of memory", after=2), MemoryShort, "too little memory"),
        (Error("CUDA error: illegal access", after=2), BackendFailed, "illegal access"),
        (
            Error("an error was encountered while running the model: EOF", after=2),
            BackendFailed,
            "EOF",
        ),
        (Error("bad", after=2, key="error parsing tool call"), BackendFailed, "parsing tool call"),
    ],
)
def test_replies_that_break_off(server, fault, kind, part):
    """What came before is delivered, then exactly one failure says what happened."""
    server.say("one two three four")
    server.fail(fault)
    received = []

    async def work(backend):
        await chunks_of(backend, prompt(model="plain"), received)

    with pytest.raises(kind, match=part) as caught:
        using(server, work)
    assert type(caught.value) is kind
    assert said(received) == "one two"
    assert not [chunk for chunk in received if isinstance(chunk, Finished)]


def test_a_reply_that_is_reset(server):
    """A reset connection is a failure; how much of what was sent arrives is the system's choice."""
    server.say("one two three four")
    server.fail(Drop(after=2, reset=True))
    received = []
    with pytest.raises((BackendFailed, BackendUnreachable)):
        using(server, lambda backend: chunks_of(backend, prompt(model="plain"), received))
    assert "one two".startswith(said(received))
    assert not [chunk for chunk in received if isinstance(chunk, Finished)]


def test_a_server_that_does_not_say_what_runs(server):
    """A server too busy to answer /api/ps does not keep a reply from beginning."""
    server.fail(Silence(), "/api/ps")
    received = chunks(server, silence_seconds=0.5)
    assert received[0] == Loading(None)
    assert said(received) == "Understood."


@pytest.mark.parametrize(
    ("fault", "kind", "part"),
    [
        (Close(), BackendUnreachable, "closed the connection before it answered"),
        (EndEarly(), BackendFailed, "reply was cut"),
        (Answer(502), BackendRefused, r"got no answer .*status 502"),
        (Answer(200), BackendRefused, "not an Ollama server"),
        (Answer(200, '{"error":"gateway"}', "application/json"), BackendRefused, "gateway"),
        (Answer(403, "", "text/plain"), BackendRefused, "refuses requests"),
        (Error("server busy, please try again.", status=503), BackendRefused, "server busy"),
        (Error("model runner has unexpectedly stopped"), BackendFailed, "unexpectedly stopped"),
        (Error("model 'm' not found", status=404), ModelMissing, "no model named"),
    ],
)
def test_replies_that_never_begin(server, fault, kind, part):
    """No word came: refused, unreachable or silent, each with its sentence."""
    server.fail(fault)
    with pytest.raises(kind, match=part) as caught:
        chunks(server)
    assert type(caught.value) is kind


def test_a_server_that_falls_silent(server):
    """Silence within a reply has its own limit, far below the one for loading."""
    server.say("one two three four")
    server.fail(Silence(after=2))
    with pytest.raises(BackendSilent, match=r"said nothing for 0\.5 seconds"):
        chunks(server, prompt(model="plain"), silence_seconds=0.5)
    server.wait_for(lambda: server.left == 1)


@pytest.mark.parametrize("place", ["load", "/api/chat"])
def test_a_server_that_never_answers(server, place):
    """Loading and reading may take long, and not for ever; the connection is closed then."""
    server.fail(Silence(), place)
    work = loaded if place == "load" else (lambda backend: chunks_of(backend, prompt()))
    with pytest.raises(BackendSilent, match="while loading or reading"):
        using(server, work, load_silence_seconds=0.5)
    server.wait_for(lambda: server.left == 1)


def test_a_model_that_repeats_itself_is_a_failure(server):
    """The server gives up after 30 equal tokens without a last object: not a short reply."""
    server.say(" ha" * 100)
    with pytest.raises(BackendFailed, match="cut"):
        chunks(server, prompt(model="plain"))


def test_a_last_object_that_only_says_why(server):
    """A gateway that drops `done` and keeps the reason still ends the reply."""
    server.fail(NoDone())
    assert chunks(server)[-1].stop_reason == "stop"


def test_after_a_failure_the_next_reply_works(server):
    """A broken reply leaves nothing behind."""
    server.fail(Drop(after=0))

    async def work(backend):
        with pytest.raises(BackendFailed):
            await chunks_of(backend, prompt())
        return await chunks_of(backend, prompt())

    assert said(using(server, work)) == "Understood."


def test_a_server_that_was_replaced_is_asked_for_its_version_again():
    """After the server was away, its version is not taken from memory."""

    async def work():
        with OllamaDouble(version="0.12.5") as first:
            backend = OllamaBackend(first.host)
            old = await backend.version()
        with pytest.raises(BackendUnreachable):
            await backend.list_models()
        with pytest.raises(BackendUnreachable):
            await backend.version()
        await backend.close()
        return old

    assert asyncio.run(work()) == "0.12.5"


# ---- pull ---------------------------------------------------------------------------------------


async def _pulled(backend, model="new"):
    async with aclosing(backend.pull(model)) as steps:
        return [step async for step in steps]


def test_pull_tells_its_progress(server):
    """Each step with the bytes of its layer, also backwards; then the model is there."""
    server.fetchable(Model("new"), steps=(0, 600, 400, 1000))
    steps = using(server, _pulled)
    assert [step.completed for step in steps if step.total] == [0, 600, 400, 1000]
    assert steps[1] == PullProgress("pulling a1b2c3d4e5f6", 0, 1000, "sha256:a1b2c3d4e5f60718")
    assert steps[-1] == PullProgress("success")
    assert using(server, lambda backend: backend.describe("new")).trained_window == 32768


@pytest.mark.parametrize(
    ("fault", "part"),
    [
        (None, "no model named “new”"),
        (Error("max retries exceeded: EOF"), "max retries exceeded"),
        (Error("write: no space left on device"), "disk is full"),
        (EndEarly(), "before it was complete"),
    ],
)
def test_pulls_that_fail(server, fault, part):
    """An error line, or an end without success."""
    if fault is not None:
        server.fetchable(Model("new"))
        server.fail(fault, "/api/pull")
    with pytest.raises(DownloadFailed, match=part):
        using(server, _pulled)


def test_stopping_a_pull(server):
    """Leaving a pull closes the connection."""
    server.fetchable(Model("new"))
    gate = server.hold("pull")

    async def work(backend):
        task = asyncio.create_task(_pulled(backend))
        assert await asyncio.to_thread(gate.reached.wait, PATIENCE)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(server.wait_for, lambda: server.left == 1)

    using(server, work)
    assert "new:latest" not in server.state.models


# ---- cost ---------------------------------------------------------------------------------------


def test_importing_the_backend_costs_no_transport():
    """The HTTP libraries are loaded by the first request, not by a program that makes none."""
    code = (
        "import sys, engine.backends.ollama\n"
        "print(sorted({'httpx', 'ollama', 'asyncio', 'ssl', 'pydantic'} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


def test_a_request_may_be_left_at_any_moment(server):
    """Also while its connection is being made: nothing is left that was never begun."""

    async def work(backend):
        await backend.version()
        for turns in range(60):
            asking = asyncio.create_task(backend.ps())
            for _ in range(turns):
                await asyncio.sleep(0)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            del asking
            gc.collect()
        return await backend.ps()

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert using(server, work) == ()
    assert [str(one.message) for one in told] == []
