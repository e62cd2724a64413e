"""What an Ollama server's errors and the transport's exceptions mean."""

import json

import httpx
import pytest

from engine.backends import ollama_faults as faults
from engine.backends.ollama_http import MEANINGS, Where, fault_of, translated
from engine.errors import (
    BackendFailed,
    BackendRefused,
    BackendSilent,
    BackendUnreachable,
    Bug,
    ContextOverflow,
    DownloadFailed,
    EnvironmentFault,
    MemoryShort,
    ModelMissing,
    ModelUnusable,
    PortholeError,
)
from engine.testing.ollama_rules import nested_overflow
from engine.testing.ollama_script import BUSY, HTML

PLACE = "http://127.0.0.1:11434"


def subclasses(kind):
    """A class and everything below it."""
    return {kind}.union(*(subclasses(below) for below in kind.__subclasses__()))


FOREIGN = sorted(
    subclasses(httpx.HTTPError)
    | subclasses(httpx.StreamError)
    | {httpx.InvalidURL, httpx.CookieConflict},
    key=lambda kind: kind.__name__,
)
MISUSES = subclasses(httpx.StreamError)


def raised(kind):
    """An exception of a kind, made as the transport makes it."""
    error = kind.__new__(kind)
    Exception.__init__(error, "something happened")
    return error


@pytest.mark.parametrize("answered", [False, True])
@pytest.mark.parametrize("kind", FOREIGN, ids=lambda kind: kind.__name__)
def test_every_exception_of_the_transport_is_translated(kind, answered):
    """None escapes as it is: each has its own entry, a fault for the user or a bug of ours."""
    assert kind in MEANINGS
    with pytest.raises(PortholeError) as caught, translated(Where(PLACE, answered=answered)):
        raise raised(kind)
    if kind in MISUSES:
        assert isinstance(caught.value, Bug)
    else:
        assert isinstance(caught.value, EnvironmentFault)
        assert caught.value.sentence.endswith(".")


@pytest.mark.parametrize(
    ("error", "answered", "kind"),
    [
        (httpx.ConnectError("refused"), False, BackendUnreachable),
        (httpx.ConnectTimeout("slow"), False, BackendUnreachable),
        (httpx.ProxyError("407"), False, BackendUnreachable),
        (httpx.ReadError("reset"), False, BackendUnreachable),
        (httpx.ReadError("reset"), True, BackendFailed),
        (httpx.RemoteProtocolError("Server disconnected without"), False, BackendUnreachable),
        (httpx.RemoteProtocolError("illegal status line"), False, BackendRefused),
        (httpx.RemoteProtocolError("peer closed connection"), True, BackendFailed),
        (httpx.DecodingError("gzip"), False, BackendRefused),
        (httpx.DecodingError("gzip"), True, BackendFailed),
        (httpx.ReadTimeout("slow"), True, BackendSilent),
        (ConnectionResetError(104, "reset"), True, BackendFailed),
    ],
)
def test_what_an_exception_means(error, answered, kind):
    """Before an answer the server is not there, within one the reply was cut."""
    assert type(fault_of(error, Where(PLACE, answered=answered))) is kind


def test_an_exception_nobody_thought_of_is_a_bug():
    """What has no meaning is not dressed up as the environment's fault."""
    assert isinstance(fault_of(RuntimeError("new"), Where(PLACE)), Bug)


NESTED = nested_overflow(17300, 16384)


@pytest.mark.parametrize(
    ("status", "words", "kind"),
    [
        (404, "model 'x' not found", ModelMissing),
        (404, 'model "x" not found, try pulling it first', ModelMissing),
        (0, "model 'x:latest' not found", ModelMissing),
        (400, NESTED, ContextOverflow),
        (400, "the input length exceeds the context length", ContextOverflow),
        (
            400,
            "the prompt is longer than the context length currently available to the model; "
            "shorten the prompt",
            ContextOverflow,
        ),
        (
            500,
            "input length (17300 tokens) exceeds the model's maximum context length (16384 tokens)",
            ContextOverflow,
        ),
        (
            500,
            "model requires more system memory (8.1 GiB) than is available (5.2 GiB)",
            MemoryShort,
        ),
        (
            500,
            "llama-server reported out-of-memory during startup: ggml_backend_alloc failed",
            MemoryShort,
        ),
        (
            500,
            "llama-server process has terminated: exit status 1: ggml_backend_cpu_buffer_type_"
            "alloc_buffer: failed to allocate buffer of size 34359738368",
            MemoryShort,
        ),
        (500, "llama runner process has terminated: signal: killed", MemoryShort),
        (500, "llama runner process has terminated: exit status 2", BackendFailed),
        (500, "llama-server process has terminated: exit status 0xc0000135", BackendFailed),
        (
            500,
            "model runner has unexpectedly stopped, this may be due to resource limitations or an "
            "internal error, check ollama server logs for details",
            BackendFailed,
        ),
        (0, "an error was encountered while running the model: EOF", BackendFailed),
        (500, "error parsing tool call: raw='{', err=unexpected end", BackendFailed),
        (0, "CUDA error: an illegal memory access was encountered", BackendFailed),
        (500, "timed out waiting for llama runner to start - progress 0.00 - ", BackendSilent),
        (500, "timed out waiting for llama-server to start - loading", BackendSilent),
        (400, '"emb" does not support chat', ModelUnusable),
        (500, "unable to load model: /blobs/sha256-1", ModelUnusable),
        (
            500,
            "error loading model architecture: unknown model architecture: 'new'",
            ModelUnusable,
        ),
        (400, '"plain" does not support thinking', BackendRefused),
        (503, BUSY, BackendRefused),
        (401, "unauthorized", BackendRefused),
        (500, "something quite new", BackendRefused),
    ],
)
def test_what_an_error_text_means(status, words, kind):
    """The texts of all server versions, in the whole answer and in the middle of a stream."""
    body = json.dumps({"error": words}).encode()
    explain = lambda w, s=0, *, began=False: faults.chat_refusal(w, s, began=began, model="x")  # noqa: E731
    fault = faults.refusal(status, body, place=PLACE, explain=explain)
    assert type(fault) is kind
    assert fault.sentence.endswith((".", "…"))
    assert "\n" not in fault.sentence


@pytest.mark.parametrize(
    ("words", "sizes"),
    [
        (NESTED, (17300, 16384)),
        ("an error was encountered while running the model: " + NESTED, (17300, 16384)),
        (
            "input length (17300 tokens) exceeds the model's maximum context length (16384 tokens)",
            (17300, 16384),
        ),
        ('request (9 tokens) exceeds the available context size (8 tokens) {"broken', (9, 8)),
        ("the input length exceeds the context length", (0, 0)),
    ],
)
def test_sizes_of_an_overflow(words, sizes):
    """Prompt and window are taken out of the text where it says them."""
    fault = faults.chat_refusal(words, 400)
    assert isinstance(fault, ContextOverflow)
    assert (fault.prompt_tokens, fault.window_tokens) == sizes


def test_an_overflow_is_told_with_both_sizes():
    """The sentence holds the figures."""
    sentence = faults.chat_refusal(NESTED, 400).sentence
    assert "17,300" in sentence
    assert "16,384" in sentence


def test_memory_is_told_with_both_sizes():
    """What is needed and what is free, as the server says it."""
    words = "model requires more system memory (8.1 GiB) than is available (5.2 GiB)"
    sentence = faults.chat_refusal(words, 500, model="m").sentence
    assert "8.1 GiB" in sentence
    assert "5.2 GiB" in sentence


def test_a_missing_model_says_how_to_get_it():
    """The remedy is the command that fetches it, and the models there are."""
    fault = faults.missing("llama3.2", ("m:latest", "plain:latest"))
    assert "`ollama pull llama3.2`" in fault.remedy
    assert "m:latest, plain:latest" in fault.remedy


def test_an_unknown_error_after_some_text_is_a_failure():
    """In the middle of a reply nothing was refused: it broke."""
    assert type(faults.chat_refusal("something quite new", began=True)) is BackendFailed


@pytest.mark.parametrize(
    ("status", "body"),
    [(501, HTML.encode()), (404, b"404 page not found"), (500, b""), (500, b"[]"), (500, b"\xff")],
)
def test_an_error_without_ollamas_json(status, body):
    """A page, plain text, nothing: it is not an Ollama server that answers."""
    fault = faults.refusal(status, body, place=PLACE)
    assert isinstance(fault, BackendRefused)
    assert fault.status == status
    assert "not an Ollama server" in fault.sentence


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_proxy_that_got_no_answer(status):
    """Its page is no sign that Ollama is not behind it."""
    fault = faults.refusal(status, HTML.encode(), place=PLACE)
    assert fault.status == status
    assert f"status {status}" in fault.sentence
    assert "let the proxy wait longer" in fault.remedy


@pytest.mark.parametrize("began", [True, False])
def test_what_had_arrived_is_said_to_be_kept_if_it_did(began):
    """A runner that dies before a word leaves nothing to keep."""
    fault = faults.chat_refusal("model runner has unexpectedly stopped", began=began)
    assert ("is kept" in fault.remedy) == began


def test_a_refused_host_name():
    """403 without a body: the name under which the server was asked is not allowed."""
    fault = faults.refusal(403, b"", place="http://box:11434")
    assert "refuses requests" in fault.sentence
    assert "OLLAMA_ORIGINS" in fault.remedy


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"error": "x"}, "x"),
        ({"error": {"message": "x"}}, "x"),
        ({"error": {"code": 1}}, '{"code": 1}'),
        ({"error parsing tool call": "x"}, "error parsing tool call: x"),
        ({"message": {}}, ""),
        ({"error": ""}, ""),
        ({"error": None, "message": {}}, ""),
        ([], ""),
        (None, ""),
    ],
)
def test_where_error_texts_stand(answer, words):
    """The error key, an object under it, and the key of one server generation."""
    assert faults.error_words(answer) == words


def test_long_words_of_a_server_are_shortened():
    """A runner's log is not put into one sentence whole; it is kept as detail."""
    log = "boom " * 1000
    fault = faults.chat_refusal(log, 500)
    assert isinstance(fault, BackendRefused)
    assert len(fault.sentence) < 400
    assert fault.detail == log


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("pull model manifest: file does not exist", "has no model named “x”"),
        ("write /models/blobs: no space left on device", "disk is full"),
        ("digest mismatch, file must be downloaded again: want a, got b", "damaged"),
        ("max retries exceeded: dial tcp: lookup r2.example: no such host", "cannot reach"),
        ("max retries exceeded: EOF", "max retries exceeded: EOF."),
    ],
)
def test_why_a_model_could_not_be_fetched(words, part):
    """Each way a pull fails has its own sentence."""
    fault = faults.pull_refusal(words, model="x")
    assert isinstance(fault, DownloadFailed)
    assert part in fault.sentence
    assert fault.remedy
