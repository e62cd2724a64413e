"""The versions that the Ollama double plays: 0.3, 0.6, 0.12 and 0.33, and what differs between."""

import base64
import json

import pytest

from engine.testing.ollama import OllamaDouble
from engine.testing.ollama_rules import Model, default_window
from engine.testing.ollama_script import Reply
from tests.backends.double_talk import (
    TOOLS,
    USER,
    ask,
    chat,
    load,
    long_last,
    overfull,
    processes,
    words,
)

PLAYED = ("0.3.14", "0.6.8", "0.12.0", "0.12.6", "0.33.0")
WINDOW = {"num_ctx": 16384}
STRICT = {"options": WINDOW, "truncate": False, "shift": False}
VISION = Model("v", capabilities=("completion", "vision"), image_tokens=600)
IMAGE = base64.b64encode(b"picture").decode()
LOOK = [{"role": "user", "content": "look here", "images": [IMAGE]}]


def show(server, model="m"):
    return ask(server, "POST", "/api/show", {"model": model}).json


@pytest.mark.parametrize("version", PLAYED)
def test_a_turn_of_every_version(version):
    """Load, ps, a streamed reply with its reason and counts, the same in each."""
    with OllamaDouble(version=version) as server:
        assert ask(server, "GET", "/api/version").json == {"version": version}
        server.say("fine words")
        load(server, num_ctx=16384)
        lines = chat(server, "m", options=WINDOW).lines
        assert "".join(line["message"]["content"] for line in lines) == "fine words"
        assert lines[-1]["done_reason"] == "stop"
        assert (lines[-1]["prompt_eval_count"], lines[-1]["eval_count"]) == (2, 2)
        assert len(server.loads) == 1
        assert "m" in processes(server)


@pytest.mark.parametrize(
    ("version", "window", "after", "capabilities", "wrong_method"),
    [
        ("0.3.14", 2048, "", None, 404),
        ("0.6.8", 4096, "", ["completion", "tools"], 404),
        ("0.12.0", 4096, 4096, ["completion", "tools", "thinking"], 405),
        ("0.33.0", 4096, 4096, ["completion", "tools", "thinking"], 405),
    ],
)
def test_what_a_version_tells(version, window, after, capabilities, wrong_method):
    """2, 3, 13, 20: the default window, whether ps tells it, capabilities, the wrong method."""
    with OllamaDouble(version=version) as server:
        load(server)
        assert server.windows() == {"m": window}
        assert processes(server)["m"].get("context_length", "") == after
        assert show(server).get("capabilities") == capabilities
        assert ask(server, "GET", "/api/chat").status == wrong_method


@pytest.mark.parametrize(
    ("version", "vram", "window"),
    [
        ("0.33.0", 8, 4096),
        ("0.33.0", 24, 32768),
        ("0.33.0", 80, 262144),
        ("0.12.0", 80, 4096),
        ("0.6.0", 80, 2048),
    ],
)
def test_20_the_default_window_by_memory(version, vram, window):
    """20: by the graphics card since 0.15.5, and no more than the model was trained for."""
    with OllamaDouble([Model("m", trained=1_000_000)], version=version, vram_gib=vram) as server:
        load(server)
        assert server.windows() == {"m": window}
        on_card = processes(server)["m"]["size_vram"]
        assert on_card == 1_000_000_000  # all of it fits


def test_20_a_default_that_was_set():
    """20: OLLAMA_CONTEXT_LENGTH goes before what memory says."""
    with OllamaDouble(default_window=10_000, vram_gib=80) as server:
        load(server)
        assert server.windows() == {"m": 10_000}


def test_a_restart_plays_the_new_version_in_everything():
    """Default window and slots go with the version."""
    with OllamaDouble(version="0.3.14", vram_gib=24) as server:
        assert (server.state.default_window, server.state.parallel) == (2048, 4)
        server.restart("0.33.0")
        assert (server.state.default_window, server.state.parallel) == (32768, 1)
    assert default_window((0, 33, 0), 24) == 32768


# ---- 29 to 33 by version and path ---------------------------------------------------------------


@pytest.mark.parametrize("path", ["rendered", "native"])
@pytest.mark.parametrize("version", PLAYED)
def test_29_messages_are_dropped_in_every_version(version, path):
    """29: the habit of all of them: the first turn vanishes and the answer is 200."""
    with OllamaDouble([Model("m", path=path)], version=version) as server:
        got = chat(server, messages=overfull(), options=WINDOW)
        assert (got.status, got.lines[-1]["prompt_eval_count"]) == (200, 11300)
        assert [message["content"][:2] for message in server.seen[0].messages] == [
            "s0",
            "b0",
            "c0",
        ]


@pytest.mark.parametrize(
    ("version", "path", "told"),
    [
        ("0.3.14", "rendered", 8194),
        ("0.6.8", "rendered", 16384),
        ("0.12.0", "rendered", 16384),
        ("0.12.0", "native", 16384),
        ("0.33.0", "rendered", 8194),
        ("0.33.0", "native", None),
    ],
)
def test_30_a_long_last_message(version, path, told):
    """30: what is read of it, or a refusal."""
    with OllamaDouble([Model("m", path=path)], version=version) as server:
        got = chat(server, messages=long_last(), options=WINDOW)
    if told is None:
        assert got.status == 400
    else:
        assert (got.status, got.lines[-1]["prompt_eval_count"]) == (200, told)


@pytest.mark.parametrize(
    ("version", "answer"),
    [
        ("0.3.14", 200),
        ("0.6.8", 200),
        ("0.12.0", 200),
        ("0.12.6", "the input length exceeds the context length"),
        ("0.33.0", "exceed_context_size_error"),
    ],
)
def test_31_truncate_false(version, answer):
    """31: unknown before 0.12.6, where it is ignored; a refusal since."""
    with OllamaDouble(version=version) as server:
        got = chat(server, messages=overfull(), **STRICT)
        if answer == 200:
            assert got.status == 200
            assert server.log.truncations
        else:
            assert got.status == 400
            assert answer in got.error[1]
            assert server.log.truncations == []


@pytest.mark.parametrize(
    ("total", "version", "path", "told"),
    [
        (16384, "0.24.0", "rendered", 16384),
        (16384, "0.33.0", "rendered", 8194),
        (16384, "0.33.0", "native", None),
        (16383, "0.33.0", "rendered", 16383),
        (16383, "0.33.0", "native", 16383),
    ],
)
def test_30_at_the_very_edge(total, version, path, told):
    """30: a prompt exactly as long as the window, and one token shorter."""
    with OllamaDouble([Model("m", path=path)], version=version) as server:
        got = chat(server, messages=[{"role": "user", "content": words(total)}], options=WINDOW)
    assert (got.lines[-1].get("prompt_eval_count") if got.status == 200 else None) == told


@pytest.mark.parametrize(
    ("version", "reason"),
    [("0.6.8", "stop"), ("0.12.0", "stop"), ("0.12.6", "length"), ("0.33.0", "length")],
)
def test_33_shift_false(version, reason):
    """33: before 0.12.6 the window shifts whatever is asked, and the log has it."""
    with OllamaDouble(version=version) as server:
        server.say(words(30))
        last = chat(server, "plain", options={"num_ctx": 20}, shift=False).lines[-1]
        assert last["done_reason"] == reason
        assert bool(server.log.shifts) is (reason == "stop")


# ---- thinking, tools, words ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "think", "message"),
    [
        ("0.6.8", None, {"content": "<think>in</think>out"}),
        ("0.6.8", False, {"content": "<think>in</think>out"}),
        ("0.6.8", True, {"content": "<think>in</think>out"}),
        ("0.12.0", None, {"content": "<think>in</think>out"}),
        ("0.12.0", True, {"content": "out", "thinking": "in"}),
        ("0.12.0", False, {"content": "out"}),
        ("0.33.0", None, {"content": "out", "thinking": "in"}),
        ("0.33.0", "high", {"content": "out", "thinking": "in"}),
        ("0.33.0", False, {"content": "out"}),
    ],
)
def test_36_thinking_by_version(version, think, message):
    """36: unknown before 0.9, on by itself since 0.12.4."""
    with OllamaDouble(version=version) as server:
        server.say(Reply("out", thinking="in"))
        fields = {} if think is None else {"think": think}
        got = chat(server, stream=False, **fields).json["message"]
    assert got == {"role": "assistant", **message}


@pytest.mark.parametrize(("version", "status"), [("0.6.8", 200), ("0.9.0", 400), ("0.33.0", 400)])
def test_35_thinking_of_a_model_that_cannot(version, status):
    """35: refused where the field is known."""
    with OllamaDouble(version=version) as server:
        assert chat(server, "plain", think=True).status == status


@pytest.mark.parametrize(
    ("version", "think", "status"),
    [
        ("0.9.0", "high", 400),
        ("0.11.0", "high", 200),
        ("0.12.0", "max", 400),
        ("0.33.0", "max", 200),
    ],
)
def test_39_levels_by_version(version, think, status):
    """39: booleans alone before 0.11, `max` since 0.22."""
    with OllamaDouble(version=version) as server:
        assert chat(server, think=think).status == status


@pytest.mark.parametrize(
    ("version", "keys"),
    [
        ("0.3.14", {"function": {"name", "arguments"}}),
        ("0.6.8", {"function": {"index", "name", "arguments"}}),
        ("0.12.10", {"id": None, "function": {"index", "name", "arguments"}}),
    ],
)
def test_38_calls_by_version(version, keys):
    """38: the index since 0.4.7, the id since 0.12.10."""
    with OllamaDouble(version=version) as server:
        server.say(Reply(tool_calls=(("look_up", {"word": "hill"}),)))
        lines = chat(server, tools=TOOLS).lines
    (call,) = next(line["message"]["tool_calls"] for line in lines if len(line["message"]) > 2)
    assert set(call) == set(keys)
    assert set(call["function"]) == keys["function"]


@pytest.mark.parametrize(("version", "pieces"), [("0.6.8", ["one two"]), ("0.8.0", None)])
def test_38_with_tools_old_servers_withhold_the_text(version, pieces):
    """38: before 0.8 all the text is in the last object when the request has tools, and none when
    there are calls."""
    with OllamaDouble([Model("m", capabilities=("completion", "tools"))], version=version) as s:
        s.say("one two")
        got = [line["message"]["content"] for line in chat(s, tools=TOOLS).lines]
        s.say(Reply("one two", tool_calls=(("look_up", {}),)))
        lines = chat(s, tools=TOOLS).lines
    assert got == (pieces or ["one", " two", ""])
    told = "".join(line["message"]["content"] for line in lines)
    assert told == ("" if pieces else "one two")


@pytest.mark.parametrize(("path", "place"), [("rendered", -2), ("native", -1)])
def test_38_native_calls_come_last(path, place):
    """38: llama-server's calls are in the last object."""
    model = Model("m", capabilities=("completion", "tools"), path=path)
    with OllamaDouble([model]) as server:
        server.say(Reply("look", tool_calls=(("look_up", {}),)))
        assert "tool_calls" in chat(server, tools=TOOLS).lines[place]["message"]


@pytest.mark.parametrize(
    ("version", "text"),
    [
        ("0.3.0", 'model "x" not found, try pulling it first'),
        ("0.3.14", "model 'x' not found"),
        ("0.33.0", "model 'x' not found"),
    ],
)
def test_10_unknown_model_by_version(version, text):
    """10: the words changed with 0.3.11, the status did not."""
    with OllamaDouble(version=version) as server:
        assert chat(server, "x").error == (404, text)


@pytest.mark.parametrize(("version", "name"), [("0.24.0", "x"), ("0.33.0", "x:latest")])
def test_12_show_of_an_unknown_model(version, name):
    """12: with its tag since 0.30."""
    with OllamaDouble(version=version) as server:
        assert ask(server, "POST", "/api/show", {"model": "x"}).error == (
            404,
            f"model '{name}' not found",
        )


def test_a_format_that_is_none():
    """A word that is no format is a 500."""
    with OllamaDouble() as server:
        status, text = chat(server, format="xml").error
        assert chat(server, format={"type": "object"}).status == 200
    assert (status, text.partition(";")[0]) == (500, r'invalid format: "\"xml\""')


def test_38_arguments_that_are_a_string():
    """38: an earlier call's arguments must be an object."""
    said = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"function": {"name": "look_up", "arguments": '{"word":"hill"}'}}],
    }
    with OllamaDouble() as server:
        assert chat(server, messages=[*USER, said, *USER]).status == 400


def test_models_that_run_elsewhere_say_so():
    """Replies of a cloud model name the place."""
    with OllamaDouble([Model("far:cloud", remote_host="https://ollama.com:443")]) as server:
        line = chat(server, "far:cloud").lines[0]
    assert (line["remote_model"], line["remote_host"]) == ("far:cloud", "https://ollama.com:443")


# ---- what the Modelfile adds --------------------------------------------------------------------


def test_a_modelfile_puts_its_own_before_the_chat():
    """Its messages and its system prompt count; a request's own system prompt replaces that."""
    example = {"role": "assistant", "content": "an example"}
    model = Model("m", system="be brief", messages=(example,))
    with OllamaDouble([model]) as server:
        counts = [
            chat(server, messages=messages).lines[-1]["prompt_eval_count"]
            for messages in (USER, [{"role": "system", "content": "x"}, *USER])
        ]
        roles = [[m["role"] for m in seen.messages] for seen in server.seen]
    assert counts == [6, 7]
    assert roles[0] == ["system", "assistant", "user"]


# ---- images -------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["0.12.0", "0.33.0"])
def test_an_image_costs_what_the_model_says(version):
    """The count has it, each image anew."""
    with OllamaDouble([VISION], version=version) as server:
        once = chat(server, "v", LOOK).lines[-1]["prompt_eval_count"]
        twice = chat(server, "v", [{**LOOK[0], "images": [IMAGE, IMAGE]}]).lines[-1]
    assert (once, twice["prompt_eval_count"]) == (602, 1202)


def test_the_same_image_is_in_the_cache():
    """A repeated image is not read again, another one is."""
    other = [{**LOOK[0], "images": [base64.b64encode(b"other").decode()]}]
    with OllamaDouble([VISION]) as server:
        spent = [
            chat(server, "v", messages).lines[-1]["prompt_eval_duration"]
            for messages in (LOOK, LOOK, other)
        ]
    assert spent == [602_000_000, 1_000_000, 602_000_000]


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("rendered", 400, "Multimodal data provided"),
        ("native", 500, "image input is not supported"),
    ],
)
@pytest.mark.parametrize("version", ["0.33.0", "0.30.0"])
def test_images_for_a_model_that_sees_nothing(version, path, status, said):
    """Since 0.30 the runner's refusal comes through, another one on each path."""
    with OllamaDouble([Model("plain", path=path)], version=version) as server:
        got = chat(server, "plain", LOOK)
    error = json.loads(got.error[1])["error"]
    assert (got.status, error["code"]) == (status, status)
    assert error["message"].startswith(said)


@pytest.mark.parametrize("version", ["0.12.0", "0.3.14"])
def test_images_that_nobody_looks_at(version):
    """Before 0.30 a mark stood in the prompt for each."""
    with OllamaDouble(version=version) as server:
        got = chat(server, "plain", LOOK)
    assert (got.status, got.lines[-1]["prompt_eval_count"]) == (200, 3)


@pytest.mark.parametrize(("projector", "kept"), [(True, 1), (False, 3)])
def test_dropping_messages_estimates_images(projector, kept):
    """Stage 1 takes 768 for an image of a model with a projector, nothing for others."""
    model = Model(
        "v", capabilities=("completion", "vision"), image_tokens=100, projector=projector
    )
    said = [*LOOK, {"role": "assistant", "content": words(1500)}, *USER]
    with OllamaDouble([model]) as server:
        assert chat(server, "v", said, options={"num_ctx": 2048}).status == 200
    assert len(server.seen[0].messages) == kept + (kept == 1)


@pytest.mark.parametrize("truncates", [False, True])
def test_a_prompt_with_images_is_not_cut(truncates):
    """Since 0.30 too many images are refused on every path, unless it truncates anyway."""
    images = [{**LOOK[0], "images": [IMAGE] * 5}]
    with OllamaDouble([VISION]) as server:
        server.switches.truncates_anyway = "both" if truncates else ""
        got = chat(server, "v", images, options={"num_ctx": 2048})
    assert got.status == (200 if truncates else 400)


def test_generate_takes_images_too():
    """The same count by the other endpoint."""
    with OllamaDouble([VISION]) as server:
        body = {"model": "v", "prompt": "look here", "images": [IMAGE], "stream": False}
        assert ask(server, "POST", "/api/generate", body).json["prompt_eval_count"] == 602
