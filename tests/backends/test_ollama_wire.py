"""Ollama's JSON, both ways."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.backends import ollama_wire as wire
from engine.backends.base import (
    ModelSummary,
    PromptMessage,
    PromptRequest,
    Sampling,
    TextChunk,
    ThinkingChunk,
    ToolCallChunk,
)
from engine.errors import BackendFailed, Bug
from engine.transcript import ToolCall


def request(**fields):
    base = {
        "model": "m",
        "messages": (PromptMessage("user", "hello"),),
        "window_tokens": 16384,
        "max_tokens": 500,
    }
    return PromptRequest(**(base | fields))


# ---- Modelfile, names, versions -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("vector", "parameters", "tokens"),
    [
        ("O1", "num_ctx 8192\nnum_ctx 32768", 32768),
        ("O2", "num_ctx -1", 0),
        ("O2", "num_ctx 0", 0),
        ("last positive", "num_ctx 8192\nnum_ctx 0\nnum_ctx -1", 8192),
        ("padded", f'{"stop":<30} "<|im_end|>"\n{"num_ctx":<30} 16384\n', 16384),
        ("windows line ends", "num_ctx 8192\r\ntemperature 1\r\n", 8192),
        ("other names", "num_ctx_extra 5\nmy_num_ctx 6\nnum_predict 7", 0),
        ("no number", "num_ctx many\nnum_ctx 1.5", 0),
        ("none", "", 0),
    ],
)
def test_the_window_of_a_modelfile(vector, parameters, tokens):
    """The last positive num_ctx line counts (vectors O1, O2)."""
    assert wire.modelfile_num_ctx(parameters) == tokens


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("m", "m:latest"),
        ("M:Latest", "m:latest"),
        ("registry.ollama.ai/library/m:q4", "m:q4"),
        ("hf.co/a/b", "hf.co/a/b:latest"),
        ("host:5000/a/b", "host:5000/a/b:latest"),
    ],
)
def test_names_are_compared_in_full(name, full):
    """Case and the default tag do not make another model."""
    assert wire.full_name(name) == full


@pytest.mark.parametrize(
    ("name", "cloud"),
    [
        ("gpt-oss:cloud", True),
        ("gpt-oss:120b-cloud", True),
        ("Gpt-Oss:120B-CLOUD", True),
        ("cloud", False),
        ("my-cloud", False),
        ("my-cloud:7b", False),
        ("m:local", False),
    ],
)
def test_cloud_names(name, cloud):
    """The tag says that a model runs elsewhere."""
    assert wire.is_cloud_name(name) is cloud


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("0.12.6", (0, 12, 6)),
        ("0.33.0-rc2", (0, 33, 0)),
        ("v0.1.48", (0, 1, 48)),
        ("0.0.0", None),
        ("", None),
        ("next", None),
    ],
)
def test_versions(text, version):
    """Numbers of a version; a development build has none."""
    assert wire.parse_version(text) == version


# ---- requests -----------------------------------------------------------------------------------


def test_loading_and_chatting_carry_the_same_load_options():
    """What decides how a model is loaded is the same in both bodies."""
    load, chat = wire.load_body("m", 16384), wire.chat_body(request())
    for key in ("model", "truncate", "shift", "keep_alive"):
        assert load[key] == chat[key]
    assert load["options"] == {"num_ctx": 16384}
    assert chat["options"] == {"num_ctx": 16384, "num_predict": 500}


def test_sampling_is_mapped_and_defaults_are_left_out():
    """Each value has Ollama's name; None is not sent at all."""
    sampling = Sampling(0.0, 0.9, 40, 0.05, 1.1, 7, ("END",))
    assert wire.chat_body(request(sampling=sampling))["options"] == {
        "num_ctx": 16384,
        "num_predict": 500,
        "temperature": 0.0,
        "top_p": 0.9,
        "top_k": 40,
        "min_p": 0.05,
        "repeat_penalty": 1.1,
        "seed": 7,
        "stop": ["END"],
    }


@pytest.mark.parametrize("think", [True, False, "low", "max"])
def test_think_is_sent(think):
    """Thinking is asked for, or asked not to be."""
    assert wire.chat_body(request(think=think))["think"] is think


def test_what_is_said_of_thinking_can_be_changed():
    """Nothing else of the request is another then."""
    body = wire.chat_body(request(think="max"))
    without = {name: value for name, value in body.items() if name != "think"}
    assert wire.with_think(body, None) == without
    assert wire.with_think(body, "high") == {**without, "think": "high"}


def test_think_is_left_to_the_model():
    """None sends no field; nor do absent tools."""
    body = wire.chat_body(request(think=None))
    assert {"think", "tools"}.isdisjoint(body)


@pytest.mark.parametrize("tokens", [0, -1])
def test_a_reply_without_a_limit_is_never_asked_for(tokens):
    """The server would read it as ten windows."""
    with pytest.raises(Bug):
        wire.chat_body(request(max_tokens=tokens))


def test_messages_keep_all_they_have():
    """Thinking, calls, ids and names go out; an empty content too."""
    call = ToolCall("call_1", "look_up", {"word": "hill"})
    messages = (
        PromptMessage("assistant", "", thinking="hm", tool_calls=(call,)),
        PromptMessage("tool", "a hill", tool_call_id="call_1", tool_name="look_up"),
    )
    assert wire.chat_body(request(messages=messages))["messages"] == [
        {
            "role": "assistant",
            "content": "",
            "thinking": "hm",
            "tool_calls": [
                {"id": "call_1", "function": {"name": "look_up", "arguments": {"word": "hill"}}}
            ],
        },
        {"role": "tool", "content": "a hill", "tool_name": "look_up", "tool_call_id": "call_1"},
    ]


def test_pictures_go_beside_the_words_as_plain_base64():
    """No data: prefix, no field where there are none."""
    seen = PromptMessage("user", "Who?", images=("Y2F0", "ZG9n"))
    body = wire.chat_body(request(messages=(seen, PromptMessage("user", "And?"))))
    assert body["messages"] == [
        {"role": "user", "content": "Who?", "images": ["Y2F0", "ZG9n"]},
        {"role": "user", "content": "And?"},
    ]


@pytest.mark.parametrize(
    ("show", "sees"),
    [
        ({"capabilities": ["completion", "vision"]}, True),
        ({"capabilities": ["completion"], "projector_info": {"a": 1}}, False),
        ({"projector_info": {"general.architecture": "clip"}}, True),
        ({"details": {"families": ["llama", "clip"]}}, True),
        ({"details": {"families": ["llama"]}, "projector_info": {}}, False),
        ({"details": {"families": None}}, False),
        ({"details": {"families": [{}, 3]}}, False),
        ({}, False),
    ],
)
def test_which_models_see(show, sees):
    """By what the server tells; older ones tell no capabilities, but that there is a projector."""
    assert wire.model_info("m", show, 0).sees_images == sees


# ---- answers ------------------------------------------------------------------------------------


def test_chunks_of_one_object():
    """Thinking, text and calls of one object, in that order."""
    call = {"id": "call_1", "function": {"name": "f", "arguments": {"a": 1}}}
    line = {"message": {"thinking": "t", "content": "c", "tool_calls": [call]}}
    assert wire.chunks_of(line) == [
        ThinkingChunk("t"),
        TextChunk("c"),
        ToolCallChunk(ToolCall("call_1", "f", {"a": 1})),
    ]


def test_calls_of_older_servers_get_ids():
    """Without an id from the server each call has its own."""
    call = {"function": {"name": "f", "arguments": {}}}
    first, second = wire.chunks_of({"message": {"tool_calls": [call, call]}})
    assert first.call.id != second.call.id


def test_arguments_in_a_string_are_read():
    """Some gateways keep the arguments as JSON text."""
    call = {"id": "1", "function": {"name": "f", "arguments": '{"a": 1}'}}
    (chunk,) = wire.chunks_of({"message": {"tool_calls": [call]}})
    assert chunk.call.arguments == {"a": 1}


@pytest.mark.parametrize(
    "function", [{}, {"name": "f", "arguments": "{"}, {"name": "f", "arguments": [1]}, {"name": 3}]
)
def test_a_call_that_cannot_be_understood_fails(function):
    """It is not passed on as something else."""
    with pytest.raises(BackendFailed):
        wire.chunks_of({"message": {"tool_calls": [{"function": function}]}})


def test_lone_surrogates_become_text_that_can_be_stored():
    """Half a surrogate pair has no UTF-8 form."""
    (chunk,) = wire.chunks_of(json.loads('{"message": {"content": "a\\ud83d b\\ud83d\\ude00"}}'))
    assert chunk.text == "a? b😀"


LAST = {
    "done": True,
    "done_reason": "stop",
    "load_duration": 2_000_000_000,
    "prompt_eval_count": 120,
    "prompt_eval_duration": 500_000_000,
    "eval_count": 30,
    "eval_duration": 1_500_000_000,
}


def test_usage_of_the_last_object():
    """Counts are tokens, durations seconds; what the cache gave is not known."""
    usage = wire.finished(LAST, called=False).usage
    assert (usage.read_tokens, usage.reused_tokens, usage.written_tokens) == (120, 0, 30)
    assert (usage.load_seconds, usage.read_seconds, usage.write_seconds) == (2.0, 0.5, 1.5)
    assert usage.reused_known is False


@pytest.mark.parametrize(
    ("reason", "called", "stop"),
    [
        ("stop", False, "stop"),
        ("length", False, "length"),
        ("stop", True, "tool_calls"),
        ("length", True, "length"),
        ("", False, "stop"),
    ],
)
def test_why_a_reply_ended(reason, called, stop):
    """The server's reason, and calls that were made."""
    assert wire.finished(LAST | {"done_reason": reason}, called=called).stop_reason == stop


@pytest.mark.parametrize(
    ("line", "last"),
    [
        ({"done": True}, True),
        ({"done": False}, False),
        ({}, False),
        ({"done_reason": "stop"}, True),
        ({"done": "true"}, False),
    ],
)
def test_which_object_is_the_last(line, last):
    """It says that it is done, or at least why."""
    assert wire.is_last(line) is last


def test_models_that_cannot_chat_here_are_not_listed():
    """No embedding models, nothing without a shape; what runs elsewhere is marked, without a size."""
    tags = {
        "models": [
            {
                "name": "a:latest",
                "size": 5,
                "details": {"family": "llama", "parameter_size": "1B"},
            },
            {"name": "b:latest", "capabilities": ["embedding"]},
            {"name": "c:cloud"},
            {"name": "d:latest", "remote_host": "https://ollama.com", "size": 382},
            "nonsense",
            {"name": "e:latest", "capabilities": ["completion"], "details": None},
        ]
    }
    assert wire.model_summaries(tags) == (
        ModelSummary("a:latest", 5, "llama, 1B"),
        ModelSummary("c:cloud", cloud=True),
        ModelSummary("d:latest", cloud=True),
        ModelSummary("e:latest"),
    )
    assert all(model.cloud for model in wire.model_summaries(tags, cloud=True))


def test_a_model_of_a_new_architecture_still_has_its_window():
    """A key that ends in context_length is enough."""
    show = {"model_info": {"general.architecture": "brandnew", "other.context_length": 8192}}
    assert wire.model_info("m", show, 0).trained_window == 8192


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
SHOW_KEYS = st.sampled_from(["model_info", "details", "parameters", "capabilities", "template"])
ANY_CHUNK = (TextChunk, ThinkingChunk, ToolCallChunk)
LINE_KEYS = st.sampled_from(["message", "done", "done_reason", "eval_count", "load_duration"])


@given(st.dictionaries(SHOW_KEYS, JSON), st.dictionaries(st.just("models"), JSON))
def test_any_description_is_read(show, tags):
    """Whatever a server says about models, reading it does not fail."""
    assert wire.model_info("m", show, 0).trained_window >= 0
    assert all(item.size_bytes >= 0 for item in wire.model_summaries(tags))
    assert all(item.window_tokens >= 0 for item in wire.running_models(tags))


@given(st.dictionaries(LINE_KEYS, JSON))
def test_any_object_of_a_stream_is_read(line):
    """Whatever an object holds, it gives chunks and an end, or a failure that is ours."""
    with contextlib.suppress(BackendFailed):
        assert all(isinstance(chunk, ANY_CHUNK) for chunk in wire.chunks_of(line))
    assert wire.finished(line, called=False).usage.written_tokens >= 0


@pytest.mark.parametrize(("set_to", "sent"), [("1h", "1h"), ("-1m", "-1m"), ("", None)])
def test_keep_alive_is_the_same_in_every_request(set_to, sent):
    """Loading and chatting say alike how long the model is kept; empty leaves it to the server."""
    bodies = wire.load_body("m", 16384, set_to), wire.chat_body(request(), set_to)
    assert [body.get("keep_alive") for body in bodies] == [sent, sent]
