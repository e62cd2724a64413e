"""The Ollama double keeps a real server's rules; the numbers are those of the rules' checklist.

Asked with the standard library's HTTP client, so that nothing of ours is on both sides.
"""

import contextlib
import http.client
import json
import socket
import threading

import ollama
import pytest

from engine.testing.ollama import MODELS, OllamaDouble
from engine.testing.ollama_rules import (
    Model,
    Refusal,
    checked_options,
    default_window,
    effective_shift,
    keep_alive_seconds,
    resolved_window,
    tokens_of,
)
from engine.testing.ollama_script import (
    BUSY,
    HTML,
    Answer,
    Close,
    Drop,
    EndEarly,
    Error,
    NoDone,
    Reply,
)
from tests.backends.double_talk import (
    TOOLS,
    USER,
    ask,
    chat,
    load,
    long_last,
    overfull,
    waiting,
    words,
)


@pytest.fixture
def server():
    with OllamaDouble() as double:
        yield double


# ---- plain endpoints ----------------------------------------------------------------------------


def test_1_root_says_that_it_runs(server):
    """1: GET / answers with a line of text."""
    got = ask(server, "GET", "/")
    assert (got.status, got.raw) == (200, b"Ollama is running")


def test_1_head_has_no_body(server):
    """1: HEAD / has the same head and no body."""
    got = ask(server, "HEAD", "/")
    assert (got.status, got.raw) == (200, b"")


def test_2_version(server):
    """2: the version is told."""
    assert ask(server, "GET", "/api/version").json == {"version": "0.33.0"}


@pytest.mark.parametrize(
    ("version", "wrong_method"),
    [("0.33.0", (405, b"405 method not allowed")), ("0.6.8", (404, b"404 page not found"))],
)
def test_3_unknown_path_and_wrong_method(version, wrong_method):
    """3: an unknown path is 404 in plain text, a wrong method 405, before 0.7 404 as well."""
    with OllamaDouble(version=version) as server:
        unknown, wrong = ask(server, "GET", "/api/nope"), ask(server, "GET", "/api/chat")
    assert (unknown.status, unknown.raw) == (404, b"404 page not found")
    assert (wrong.status, wrong.raw) == wrong_method


def test_4_and_6_nothing_there():
    """4, 6: lists are empty lists, not null."""
    with OllamaDouble(models=()) as server:
        assert ask(server, "GET", "/api/tags").json == {"models": []}
        assert ask(server, "GET", "/api/ps").json == {"models": []}


def test_5_newest_model_first(server):
    """5: the model changed last stands first; digests are bare hexadecimal."""
    models = ask(server, "GET", "/api/tags").json["models"]
    stamps = [model["modified_at"] for model in models]
    assert stamps == sorted(stamps, reverse=True)
    assert all(int(model["digest"], 16) and len(model["digest"]) == 64 for model in models)


@pytest.mark.parametrize(
    ("number", "method", "path", "body", "expected"),
    [
        (7, "POST", "/api/chat", b"", (400, "missing request body")),
        (9, "POST", "/api/chat", {}, (400, "model is required")),
        (9, "POST", "/api/generate", {}, (404, "model '' not found")),
        (10, "POST", "/api/chat", {"model": "x"}, (404, "model 'x' not found")),
        (12, "POST", "/api/show", {}, (400, "model is required")),
        (12, "POST", "/api/show", {"model": "x"}, (404, "model 'x:latest' not found")),
        (
            16,
            "POST",
            "/api/chat",
            {"model": "m", "messages": USER, "options": {"num_ctx": "16384"}},
            (500, 'option "num_ctx" must be of type integer'),
        ),
        (
            39,
            "POST",
            "/api/chat",
            {"model": "m", "messages": USER, "think": "huge"},
            (
                400,
                'invalid think value: "huge" (must be "high", "medium", "low", "max", true, or '
                "false)",
            ),
        ),
        (
            39,
            "POST",
            "/api/chat",
            {"model": "m", "messages": USER, "top_logprobs": 21},
            (400, "top_logprobs must be between 0 and 20"),
        ),
        (
            40,
            "POST",
            "/api/chat",
            {"model": "emb", "messages": USER},
            (400, '"emb" does not support chat'),
        ),
        (
            50,
            "POST",
            "/api/generate",
            {"model": "m", "prompt": "x", "raw": True, "system": "s"},
            (400, "raw mode does not support template, system, or context"),
        ),
    ],
)
def test_refusals(server, number, method, path, body, expected):
    """7 to 50: requests that are refused, with the server's own status and words."""
    assert ask(server, method, path, body).error == expected


def test_8_broken_json(server):
    """8: half a JSON document is a 400 that says something."""
    status, text = ask(server, "POST", "/api/chat", b'{"model":').error
    assert status == 400
    assert text


def test_13_show(server):
    """13: show gives the trained window under the architecture's key, and the capabilities."""
    shown = ask(server, "POST", "/api/show", {"model": "m"}).json
    assert shown["model_info"]["llama.context_length"] == 32768
    assert shown["capabilities"] == ["completion", "tools", "thinking"]


def test_show_of_old_servers_has_no_capabilities():
    """Capabilities are told from 0.6.4 on."""
    with OllamaDouble(version="0.6.3") as server:
        assert "capabilities" not in ask(server, "POST", "/api/show", {"model": "m"}).json


def test_show_gives_the_modelfile_parameters():
    """The Modelfile's parameters are text, names padded to 30 columns."""
    with OllamaDouble([Model("m", num_ctx=8192)]) as server:
        parameters = ask(server, "POST", "/api/show", {"model": "m"}).json["parameters"]
    assert parameters == "num_ctx" + " " * 24 + "8192"


# ---- loading ------------------------------------------------------------------------------------


def test_14_load_is_one_document(server):
    """14: no messages: the model is loaded, answered with one object without counts."""
    got = load(server, num_ctx=16384)
    assert got.kind.startswith("application/json")
    assert (got.json["done_reason"], "eval_count" in got.json) == ("load", False)
    assert server.windows() == {"m": 16384}


@pytest.mark.parametrize("loaded", [True, False])
def test_15_unload(server, loaded):
    """15: keep_alive 0 without messages unloads, also what was not loaded."""
    if loaded:
        load(server)
    got = chat(server, messages=[], keep_alive=0)
    assert got.json["done_reason"] == "unload"
    assert ask(server, "GET", "/api/ps").json == {"models": []}


def test_generate_loads_and_unloads_too(server):
    """Generate without a prompt loads, with keep_alive 0 unloads."""
    first = ask(server, "POST", "/api/generate", {"model": "m"})
    second = ask(server, "POST", "/api/generate", {"model": "m", "keep_alive": 0})
    assert (first.json["done_reason"], first.json["response"]) == ("load", "")
    assert second.json["done_reason"] == "unload"


@pytest.mark.parametrize(
    ("number", "asked", "window"),
    [(17, 16384.9, 16384), (17, 0, 4), (18, 999999, 32768), (20, None, 4096)],
)
def test_windows(server, number, asked, window):
    """17, 18, 20: what a num_ctx becomes, and what its absence."""
    load(server, **({} if asked is None else {"num_ctx": asked}))
    assert ask(server, "GET", "/api/ps").json["models"][0]["context_length"] == window


@pytest.mark.parametrize(
    ("version", "window"), [("0.6.6", 2048), ("0.6.7", 4096), ("0.15.4", 4096), ("0.33.0", 4096)]
)
def test_20_default_window_by_version(version, window):
    """20: the default window was 2048 before 0.6.7."""
    with OllamaDouble(version=version) as server:
        load(server)
        assert server.windows() == {"m": window}


def test_modelfile_window_before_the_default():
    """The Modelfile's num_ctx counts where the request names none."""
    with OllamaDouble([Model("m", num_ctx=8192)]) as server:
        load(server)
        assert server.windows() == {"m": 8192}


def test_window_limit_loads_less():
    """The switch for a lowered window: less is loaded than was asked for, once."""
    with OllamaDouble(window_limit=12000) as server:
        load(server, num_ctx=16384)
        load(server, num_ctx=16384)
        assert server.loads == [("m", 12000)]


def test_19_unknown_fields_are_ignored(server):
    """19: unknown options and fields do no harm."""
    assert chat(server, options={"nonsense": 1}, nonsense=2).status == 200


def test_21_leaving_num_ctx_out_reloads(server):
    """21: a request without num_ctx after one with it loads the default."""
    load(server, num_ctx=16384)
    load(server)
    assert server.loads == [("m", 16384), ("m", 4096)]


def test_22_same_options_load_once(server):
    """22: the same options do not load again, and the second load is short."""
    first = chat(server, stream=False, options={"num_ctx": 16384}).json
    second = chat(server, stream=False, options={"num_ctx": 16384}).json
    assert server.loads == [("m", 16384)]
    assert second["load_duration"] < first["load_duration"]


@pytest.mark.parametrize(("version", "loads"), [("0.33.0", 2), ("0.24.0", 1)])
def test_23_shift_is_a_load_option(version, loads):
    """23: since 0.30 another shift loads the model again."""
    with OllamaDouble(version=version) as server:
        chat(server)
        chat(server, shift=False)
        assert len(server.loads) == loads


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("-1", 'time: missing unit in duration "-1"'),
        ("300", 'time: missing unit in duration "300"'),
        ("soon", 'time: invalid duration "soon"'),
        (True, "Unsupported type: 'bool'"),
    ],
)
def test_24_keep_alive_refused(server, value, text):
    """24: a keep_alive that is no number and no Go duration."""
    assert chat(server, keep_alive=value).error == (400, text)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("10m", 600), ("1h30m", 5400), (-1, float("inf")), ("-1m", float("inf")), (2.5, 2.5)],
)
def test_24_keep_alive(value, seconds):
    """24: what a keep_alive means."""
    assert keep_alive_seconds(value) == seconds


@pytest.mark.parametrize(
    ("option", "kind"),
    [
        ({"num_ctx": True}, "of type integer"),
        ({"temperature": "hot"}, "of type float32"),
        ({"use_mmap": 1}, "of type boolean"),
        ({"stop": "END"}, "of type array"),
        ({"stop": [1]}, "of an array of strings"),
    ],
)
def test_16_option_types(option, kind):
    """16: an option of a wrong type is a 500 that names it."""
    with pytest.raises(Refusal, match=kind) as caught:
        checked_options(option)
    assert caught.value.status == 500


def test_16_options_are_taken_as_go_takes_them():
    """Fractions of integers are cut off, null and unknown names skipped."""
    options = {
        "num_ctx": 4096.7,
        "top_p": 1,
        "use_mmap": False,
        "stop": ["x"],
        "seed": None,
        "a": 1,
    }
    assert checked_options(options) == {
        "num_ctx": 4096,
        "top_p": 1.0,
        "use_mmap": False,
        "stop": ["x"],
    }


@pytest.mark.parametrize(
    ("version", "vram", "window"),
    [
        ((0, 33, 0), 22, 4096),
        ((0, 33, 0), 24, 32768),
        ((0, 33, 0), 48, 262144),
        ((0, 15, 4), 48, 4096),
    ],
)
def test_20_default_window_by_memory(version, vram, window):
    """20: since 0.15.5 the default depends on the graphics memory."""
    assert default_window(version, vram) == window


@pytest.mark.parametrize(("version", "window"), [((0, 11, 5), 2048), ((0, 11, 4), 512)])
def test_vision_models_get_at_least_2048(version, window):
    """Since 0.11.5 a vision model's window has a floor."""
    model = Model("v", capabilities=("completion", "vision"))
    assert resolved_window(512, model, version, 4096) == window


@pytest.mark.parametrize(
    ("asked", "window", "family", "version", "shifts"),
    [
        (None, 16384, "llama", (0, 33, 0), True),
        (None, 16384, "deepseek2", (0, 33, 0), False),
        (None, 16384, "llama", (0, 30, 5), False),
        (None, 4096, "llama", (0, 30, 5), True),
        (False, 4096, "llama", (0, 12, 6), False),
        (False, 4096, "llama", (0, 12, 5), True),
        (None, 4096, "llama", (0, 12, 6), True),
    ],
)
def test_23_whether_a_full_window_shifts(asked, window, family, version, shifts):
    """23: the request's word, else the version's default."""
    model = Model("m", family=family)
    assert effective_shift(asked=asked, window=window, model=model, version=version) is shifts


def test_47_leaving_while_loading_aborts_the_load(server):
    """47: a client that leaves aborts the load; the next request starts over."""
    gate = server.hold("load")
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.request("POST", "/api/chat", json.dumps({"model": "m", "messages": []}))
    assert gate.reached.wait(30)
    connection.close()
    server.wait_for(lambda: server.left == 1)
    assert (server.state.aborted_loads, server.windows()) == (1, {})
    load(server)
    assert server.loads == [("m", 4096)]


# ---- replies ------------------------------------------------------------------------------------


def test_25_stream(server):
    """25: one object a line, all not done but the last, which has six metrics."""
    server.say("one two three")
    got = chat(server, think=False)
    assert got.kind == "application/x-ndjson"
    assert [line["done"] for line in got.lines] == [False, False, False, True]
    assert "".join(line["message"]["content"] for line in got.lines) == "one two three"
    metrics = {key for key in got.lines[-1] if key.endswith(("_duration", "_count"))}
    assert len(metrics) == 6


def test_26_whole_document(server):
    """26: without a stream, one object with the joined content."""
    server.say("one two three")
    got = chat(server, stream=False, think=False)
    assert got.json["message"] == {"role": "assistant", "content": "one two three"}
    assert got.json["eval_count"] == 3


def test_27_generate_streams_by_default(server):
    """27: a stream is the default, for generate too."""
    server.say("one two")
    got = ask(server, "POST", "/api/generate", {"model": "plain", "prompt": "go"})
    assert [line["response"] for line in got.lines] == ["one", " two", ""]


def test_28_num_predict(server):
    """28: num_predict ends the reply with `length`."""
    server.say(words(9))
    last = chat(server, think=False, options={"num_predict": 5}).lines[-1]
    assert (last["done_reason"], last["eval_count"]) == ("length", 5)


def test_json_is_escaped_as_go_does(server):
    """Angle brackets are escaped on the wire, U+0085 is not."""
    server.say(Reply(("<a>\x85",)))
    raw = chat(server, "plain").raw
    assert b"\\u003ca\\u003e\xc2\x85" in raw


def test_34_prompt_count_of_a_repeated_prompt(server):
    """34: the same prompt counts the same, cached or not."""
    counts = [chat(server, stream=False).json["prompt_eval_count"] for _ in range(2)]
    assert counts == [2, 2]


@pytest.mark.parametrize("version", ["0.1.48", "0.30.0"])
def test_34_versions_that_leave_the_cache_out(version):
    """34: some versions count what was processed only."""
    with OllamaDouble(version=version) as server:
        long = [{"role": "user", "content": words(50)}]
        counts = [
            chat(server, messages=long, stream=False).json["prompt_eval_count"] for _ in range(2)
        ]
    assert counts == [50, 1]


def test_a_wasteful_tokenizer_counts_several_tokens_for_a_word():
    """Prompt, reply, limit and window are all in its tokens; what was said is reused as it was."""
    with OllamaDouble([Model("m", tokens_per_word=3)]) as server:
        server.say("one two three four")
        first = chat(server, stream=False, options={"num_predict": 6}).json
        said = [*USER, {"role": "assistant", "content": "one two"}, *USER]
        second = chat(server, messages=said, stream=False).json
        refused = chat(server, truncate=False, options={"num_ctx": 6}).error
    assert (first["prompt_eval_count"], first["eval_count"]) == (6, 6)
    assert (first["message"]["content"], first["done_reason"]) == ("one two", "length")
    assert second["prompt_eval_count"] == 18
    assert second["prompt_eval_duration"] == 6_000_000
    assert refused[0] == 400
    assert "6 tokens" in refused[1]


def test_35_thinking_of_a_model_that_cannot(server):
    """35: thinking asked of a model that cannot is refused, thinking off is accepted."""
    assert chat(server, "plain", think=True).error == (400, '"plain" does not support thinking')
    assert chat(server, "plain", think=False).status == 200


@pytest.mark.parametrize("version", ["0.33.0", "0.12.4"])
def test_36_thinking_is_on_by_itself(version):
    """36: a thinking model thinks unless told not to, thinking first."""
    with OllamaDouble(version=version) as server:
        server.say(Reply("out", thinking="in side"))
        messages = [line["message"] for line in chat(server).lines]
    assert [(m.get("thinking"), m["content"]) for m in messages[:3]] == [
        ("in", ""),
        (" side", ""),
        (None, "out"),
    ]


def test_36_thinking_in_the_content_of_older_servers():
    """36: before 0.12.4 the tags stay in the content when nothing was said about thinking."""
    with OllamaDouble(version="0.12.3") as server:
        server.say(Reply("out", thinking="in"))
        assert chat(server, stream=False).json["message"]["content"] == "<think>in</think>out"


def test_37_tools_of_a_model_that_has_none(server):
    """37: the refusal names the model in full."""
    assert chat(server, "plain", tools=TOOLS).error == (
        400,
        "registry.ollama.ai/library/plain:latest does not support tools",
    )


@pytest.mark.parametrize(("calls_last", "index"), [(False, -2), (True, -1)])
def test_38_tool_calls(server, calls_last, index):
    """38: calls have object arguments and an id, in a middle or the last object."""
    server.say(Reply(tool_calls=(("look_up", {"word": "hill"}),), calls_last=calls_last))
    (call,) = chat(server, tools=TOOLS).lines[index]["message"]["tool_calls"]
    assert call["function"] == {"index": 0, "name": "look_up", "arguments": {"word": "hill"}}
    assert len(call["id"]) == len("call_") + 8


def test_a_model_that_repeats_itself_ends_without_a_last_object(server):
    """More than 30 identical tokens: the stream ends cleanly and is not done."""
    server.say(" ha" * 100)
    lines = chat(server, "plain").lines
    assert (len(lines), lines[-1]["done"]) == (31, False)


def test_48_leaving_while_it_writes(server):
    """48: a client that leaves stops the reply; the model stays loaded."""
    server.say(words(10))
    gate = server.hold("piece", after=3)
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.request("POST", "/api/chat", json.dumps({"model": "plain", "messages": USER}))
    response = connection.getresponse()
    assert response.readline()
    assert gate.reached.wait(30)
    response.close()
    connection.close()
    server.wait_for(lambda: server.left == 1)
    assert server.windows() == {"plain": 4096}


# ---- the window is full -------------------------------------------------------------------------


def test_29_whole_messages_are_dropped(server):
    """29: the oldest messages vanish, the system prompt stays, and the answer is 200."""
    last = chat(server, messages=overfull(), options={"num_ctx": 16384}).lines[-1]
    assert last["prompt_eval_count"] == 11300
    assert [m["content"][:2] for m in server.seen[0].messages] == ["s0", "b0", "c0"]


def test_29_small():
    """29: in a window of six words, the system prompt and the last message are left."""
    with OllamaDouble() as server:
        conversation = [
            {"role": "system", "content": "short words"},
            {"role": "user", "content": words(5)},
            {"role": "assistant", "content": words(4)},
            {"role": "user", "content": "new ask"},
        ]
        chat(server, messages=conversation, options={"num_ctx": 6})
    assert [m["content"] for m in server.seen[0].messages] == ["short words", "new ask"]


def test_29_older_servers_drop_the_system_prompt():
    """29: before 0.15.5 a too long last message pushes the system prompt out."""
    with OllamaDouble(version="0.15.4") as server:
        chat(server, messages=long_last(), options={"num_ctx": 16384})
    assert [m["role"] for m in server.seen[0].messages] == ["user"]
    assert len(server.seen[0].words) == 16384


def test_30_a_long_message_is_halved(server):
    """30: rendered: first four tokens and the last half window; the system text is gone."""
    last = chat(server, messages=long_last(), options={"num_ctx": 16384}).lines[-1]
    assert last["prompt_eval_count"] == 8194
    assert server.seen[0].words[:5] == ("s0", "s1", "s2", "s3", "a8810")


@pytest.mark.parametrize(
    ("window", "keep", "expected"),
    [(65536, 4, 32770), (4096, 4, 2050), (32768, 5, 16387)],
)
def test_30_halved_as_reported(window, keep, expected):
    """30: the figures of public reports."""
    with OllamaDouble([Model("big", trained=131072)]) as server:
        options = {"num_ctx": window, "num_keep": keep}
        long = [{"role": "user", "content": words(window + 10)}]
        last = chat(server, "big", long, options=options).lines[-1]
    assert last["prompt_eval_count"] == expected


@pytest.mark.parametrize(
    ("version", "kept"),
    [("0.1.40", 9195), ("0.3.0", 8194), ("0.24.0", 16384), ("0.30.5", 16383), ("0.30.11", 8194)],
)
def test_30_cut_by_version(version, kept):
    """30: how much of a too long message each generation of servers reads."""
    with OllamaDouble(version=version) as server:
        long = [{"role": "user", "content": words(17385)}]
        chat(server, messages=long, options={"num_ctx": 16384})
    assert len(server.seen[0].words) == kept


def nested(prompt, window):
    return {
        "code": 400,
        "message": f"request ({prompt} tokens) exceeds the available context size ({window} "
        "tokens), try increasing it",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": prompt,
        "n_ctx": window,
    }


def test_30_native_refuses():
    """30: native: a JSON document inside the error text, with both sizes."""
    with OllamaDouble([Model("m", path="native")]) as server:
        status, text = chat(server, messages=long_last(), options={"num_ctx": 16384}).error
    assert (status, json.loads(text)["error"]) == (400, nested(17300, 16384))


def test_31_truncate_false(server):
    """31: since 0.30 the nested refusal, for the rendered path too."""
    status, text = chat(
        server, messages=overfull(), options={"num_ctx": 16384}, truncate=False
    ).error
    assert (status, json.loads(text)["error"]) == (400, nested(17300, 16384))


@pytest.mark.parametrize("version", ["0.12.6", "0.24.0"])
def test_31_truncate_false_before_030(version):
    """31: from 0.12.6 to 0.24 a plain refusal."""
    with OllamaDouble(version=version) as server:
        got = chat(server, messages=overfull(), options={"num_ctx": 16384}, truncate=False)
    assert got.error == (400, "the input length exceeds the context length")


def test_31_truncate_false_unknown_to_old_servers():
    """31: before 0.12.6 the field is ignored and messages vanish."""
    with OllamaDouble(version="0.12.5") as server:
        got = chat(server, messages=overfull(), options={"num_ctx": 16384}, truncate=False)
    assert got.status == 200
    assert len(server.seen[0].messages) == 3


def test_32_rendered_with_shift_off(server):
    """32: truncating with shift off refuses a prompt that stays too long."""
    status, text = chat(
        server, messages=long_last(), options={"num_ctx": 16384}, shift=False
    ).error
    assert status == 400
    assert text.startswith("the prompt is longer than the context length")


@pytest.mark.parametrize(
    ("shift", "reason", "written"), [(True, "stop", 2000), (False, "length", 384)]
)
def test_33_the_window_fills_while_writing(server, shift, reason, written):
    """33: with shift on more is written than fits, with shift off the reply ends."""
    server.say(words(2000))
    long = [{"role": "user", "content": words(16000)}]
    last = chat(server, "plain", long, options={"num_ctx": 16384}, shift=shift).lines[-1]
    assert (last["done_reason"], last["eval_count"]) == (reason, written)


# ---- faults -------------------------------------------------------------------------------------


def test_41_busy(server):
    """41: a full queue."""
    server.fail(Answer(503, json.dumps({"error": BUSY}), "application/json"))
    assert chat(server).error == (503, BUSY)


@pytest.mark.parametrize("stream", [True, False])
def test_42_runner_error_before_the_first_piece(server, stream):
    """42: the runner's status and plain JSON, streamed or not."""
    server.fail(Error("rate limit exceeded", status=503))
    assert chat(server, stream=stream).error == (503, "rate limit exceeded")


def test_42_older_servers_say_it_in_the_stream():
    """42: before 0.12.6 a stream's first error was a line with status 200."""
    with OllamaDouble(version="0.12.5") as server:
        server.fail(Error("broken"))
        got = chat(server)
    assert (got.status, got.lines) == (200, [{"error": "broken"}])


def test_f1_end_without_a_last_object(server):
    """F1: the stream ends cleanly and is not done."""
    server.say(words(5))
    server.fail(EndEarly(after=2))
    lines = chat(server, "plain").lines
    assert [line["done"] for line in lines] == [False, False]


def test_f2_last_object_without_done(server):
    """F2: the last object says why and not that."""
    server.fail(NoDone())
    last = chat(server, "plain").lines[-1]
    assert last["done_reason"] == "stop"
    assert "done" not in last


def test_f3_close_before_any_byte(server):
    """F3: the connection closes before an answer, once."""
    server.fail(Close())
    with pytest.raises(http.client.RemoteDisconnected):
        chat(server)
    assert chat(server).status == 200


@pytest.mark.parametrize(
    ("reset", "error"), [(False, http.client.IncompleteRead), (True, ConnectionResetError)]
)
def test_f4_broken_in_the_middle_of_a_line(server, reset, error):
    """F4: the connection breaks within a chunk."""
    server.say(words(5))
    server.fail(Drop(after=2, reset=reset))
    with pytest.raises((error, http.client.IncompleteRead)):
        chat(server, "plain")


def test_f9_a_page_instead(server):
    """F9: a proxy's page."""
    server.fail(Answer(502))
    got = chat(server)
    assert (got.status, got.kind, got.raw.decode()) == (502, "text/html", HTML)


def test_f12_error_line_after_some_pieces(server):
    """F12: an error line ends the stream, the status stays 200."""
    server.say(words(5))
    server.fail(Error("CUDA error", after=2))
    got = chat(server, "plain")
    assert (got.status, got.lines[-1]) == (200, {"error": "CUDA error"})
    assert len(got.lines) == 3


def test_faults_of_loads_have_their_own_place(server):
    """A fault for loads leaves replies alone."""
    server.fail(Error("too big"), "load")
    assert chat(server).status == 200
    assert load(server).error == (500, "too big")


# ---- pull, hosts, clients -----------------------------------------------------------------------


def test_46_pull(server):
    """46: manifest, layers, checks, success; then the model is there."""
    server.fetchable(Model("new"))
    lines = ask(server, "POST", "/api/pull", {"model": "new"}).lines
    assert [line["status"] for line in lines] == [
        "pulling manifest",
        *["pulling a1b2c3d4e5f6"] * 3,
        "verifying sha256 digest",
        "writing manifest",
        "success",
    ]
    assert [line.get("completed") for line in lines[1:4]] == [None, 400, 1000]
    assert ask(server, "GET", "/api/tags").json["models"][0]["name"] == "new:latest"


def test_46_pull_of_an_unknown_model(server):
    """46: an error line after the first status, with 200."""
    got = ask(server, "POST", "/api/pull", {"model": "nowhere"})
    assert (got.status, got.lines[-1]) == (
        200,
        {"error": "pull model manifest: file does not exist"},
    )


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}])
def test_49_foreign_names_are_refused(server, headers):
    """49: a Host or Origin from elsewhere is a 403 without a body."""
    got = ask(server, "GET", "/api/tags", headers=headers)
    assert (got.status, got.raw) == (403, b"")


def test_requests_are_recorded(server):
    """Every request is kept: path, headers and JSON body."""
    chat(server, options={"num_ctx": 16384})
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/api/chat")
    assert request.headers["host"] == server.host
    assert server.bodies()[0]["options"] == {"num_ctx": 16384}


def test_a_responder_sees_what_the_model_sees(server):
    """A scripted function makes the reply out of what the model was given to read."""
    server.always(lambda seen: Reply(seen.messages[-1]["content"].upper()))
    assert chat(server, "plain", stream=False).json["message"]["content"] == "SAY SOMETHING"


def test_a_connection_serves_several_requests(server):
    """Connections are kept alive as the real server keeps them."""
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.port)) as connection:
        for _ in range(2):
            connection.request("GET", "/api/version")
            assert connection.getresponse().read()


def test_a_connection_is_closed_when_asked(server):
    """A client that says so has no connection afterwards."""
    with waiting(server, "/api/show", {"Connection": "close"}, model="m") as request:
        assert request.bytes().endswith(b"}")


def test_ollamas_own_client_is_served(server, monkeypatch):
    """Ollama's own client can read what the double writes."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    server.say(Reply("fine words", thinking="hm"))
    server.fetchable(Model("new"))
    with ollama.Client(server.host) as client:
        said = list(client.chat("m", USER, stream=True))
        assert "".join(part.message.content or "" for part in said) == "fine words"
        assert said[-1].done_reason == "stop"
        assert {model.model for model in client.list().models} == {
            model.full_name for model in MODELS
        }
        assert client.show("m").modelinfo["llama.context_length"] == 32768
        assert client.ps().models[0].context_length == 4096
        assert [step.status for step in client.pull("new", stream=True)][-1] == "success"


def _provoke_a_bug():
    with OllamaDouble() as double:
        double.always(lambda seen: Reply(str(1 / 0)))
        with contextlib.suppress(OSError, http.client.HTTPException):
            chat(double)


def test_a_bug_in_the_double_fails_the_test():
    """An unexpected exception in the double's thread is raised where it is used."""
    with pytest.raises(ZeroDivisionError):
        _provoke_a_bug()


def test_an_address_that_is_taken():
    """The double says at once when it cannot listen."""
    with pytest.raises(OSError, match="address"), OllamaDouble(bind="192.0.2.1"):
        pass


def test_no_thread_is_left_behind():
    """Leaving the double ends its thread, a client still connected or not."""
    with OllamaDouble() as server, socket.create_connection(("127.0.0.1", server.port)):
        mine = set(server_threads())
        assert mine
    assert not mine & set(server_threads())


def server_threads():
    """The threads of doubles; other tests' threads may end at any time and do not count."""
    return [thread for thread in threading.enumerate() if thread.name == "ollama-double"]


@pytest.mark.parametrize("text", ["", "one", "one two", " lead", "trail \n", "a\n\nb  c ", "  "])
def test_tokens_join_to_the_text(text):
    """A text's tokens are its words, and join to it again."""
    tokens = tokens_of(text)
    assert "".join(tokens) == text
    assert len(tokens) == max(len(text.split()), bool(text))
