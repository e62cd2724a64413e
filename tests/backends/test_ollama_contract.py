"""One contract for every Ollama server: what it has, what it refuses, how it loads.

The fixture `peer` is the double at several versions, and a real server when PORTHOLE_OLLAMA names
one (`host:port`); PORTHOLE_OLLAMA_MODEL then names the model, else it is the smallest that can
chat. Nothing that was on that server before is changed or deleted. Where the double and a server
differ, the double is wrong.
"""

import json
from datetime import timedelta

import pytest

from tests.backends.contract_peer import (
    ROOM,
    UNSUCH,
    WINDOW,
    double_peer,
    full,
    moment,
    nearby,
    offline,
    said,
    sentence,
    since,
    with_system,
    without,
)

DETAILS = {"parent_model", "format", "family", "families", "parameter_size", "quantization_level"}
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]


# ---- what there is ------------------------------------------------------------------------------


def test_the_root_says_that_it_runs(peer):
    """GET / answers with one line of text, HEAD with none."""
    got, head = peer.ask("GET", "/"), peer.ask("HEAD", "/")
    assert (got.status, got.raw) == (200, b"Ollama is running")
    assert (head.status, head.raw) == (200, b"")


def test_the_version_is_three_numbers(peer):
    """A client goes by the version, and by nothing else."""
    got = peer.ask("GET", "/api/version")
    assert got.kind == "application/json; charset=utf-8"
    assert list(got.json) == ["version"]


def test_an_unknown_path_is_not_found(peer):
    """In plain text, unlike an unknown model."""
    got = peer.ask("GET", "/api/nope")
    assert (got.status, got.raw, got.kind) == (404, b"404 page not found", "text/plain")


def test_a_wrong_method_is_refused(peer):
    """405 since 0.7, 404 before."""
    got = peer.ask("GET", "/api/chat")
    wanted = (405, b"405 method not allowed")
    assert (got.status, got.raw) == (
        wanted if peer.version >= (0, 7, 0) else (404, b"404 page not found")
    )


def test_the_list_of_models_names_each(peer):
    """Every model has its names, its size in bytes, a bare digest and its kind; the newest first."""
    models = peer.ask("GET", "/api/tags").json["models"]
    for item in models:
        assert item["name"] == item["model"] == full(item["name"])
        assert item["size"] > 0
        assert len(bytes.fromhex(item["digest"])) == 32
        lengths = {"context_length", "embedding_length"} if peer.version >= (0, 30, 0) else set()
        assert item["details"].keys() == DETAILS | lengths
        assert peer.version < (0, 30, 0) or item["capabilities"]
    changed = [moment(item["modified_at"]) for item in models]
    assert changed == sorted(changed, reverse=True)


def test_a_model_is_shown_with_its_trained_length(peer):
    """Under the name of its architecture, with what it can do where the server says that."""
    shown = peer.post("/api/show", model=peer.model).json
    family = shown["model_info"]["general.architecture"]
    assert shown["model_info"][f"{family}.context_length"] >= ROOM
    assert shown["model_info"][f"{family}.block_count"] > 0
    assert isinstance(shown["template"], str)
    assert peer.version < (0, 6, 4) or "completion" in shown["capabilities"]


def test_a_short_show_has_no_lists(peer):
    """The tokens of a vocabulary are only told when asked for: there is null instead."""
    info = peer.post("/api/show", model=peer.model).json["model_info"]
    assert info["tokenizer.ggml.tokens"] is None
    assert not [name for name, value in info.items() if isinstance(value, list) and value]


def test_a_name_needs_no_tag_and_no_case(peer):
    """`x`, `x:latest` and `X` are one model; the answer has the name it was asked by."""
    for name in (peer.model.removesuffix(":latest"), full(peer.model), peer.model.upper()):
        assert peer.told([], model=name)["model"] == name


# ---- refusals -----------------------------------------------------------------------------------


def test_a_body_is_missing(peer):
    """An empty body is 400."""
    assert peer.ask("POST", "/api/chat").error == (400, "missing request body")


def test_a_body_is_no_json(peer):
    """The words are the decoder's own and not to be relied on."""
    status, text = peer.ask("POST", "/api/chat", b'{"model":').error
    assert (status, bool(text)) == (400, True)


def test_content_that_is_no_text_is_refused(peer):
    """A list of parts, as other servers have it, is 400."""
    assert peer.chat([{"role": "user", "content": [{"text": "hi"}]}]).error[0] == 400


def test_messages_are_objects(peer):
    """A bare text for a message is 400."""
    assert peer.chat(["hi"]).error[0] == 400


@since(0, 5, 0)
def test_a_format_is_json_or_a_schema(peer):
    """500; the word that was sent stands there as it was on the wire, quoted once more."""
    wanted = 'invalid format: "\\"xml\\""; expected "json" or a valid JSON Schema object'
    assert peer.chat("hi", format="xml").error == (500, wanted)


@without("vision")
def test_images_need_a_model_that_sees(peer):
    """Since 0.30, in the runner's words; before, nothing was said."""
    got = peer.chat([{"role": "user", "content": "hi", "images": ["aGVsbG8="]}])
    if peer.version < (0, 30, 0):
        assert got.status == 200
    else:
        status, text = got.error
        assert status == {"rendered": 400, "native": 500}[peer.path]
        assert json.loads(text)["error"]["code"] == status


def test_no_model_is_named(peer):
    """Chat and show say 400; generate looks for a model without a name."""
    assert peer.post("/api/chat").error == (400, "model is required")
    assert peer.post("/api/generate").error == (404, "model '' not found")
    assert peer.post("/api/show").error == (400, "model is required")


@pytest.mark.parametrize("path", ["/api/chat", "/api/generate", "/api/show"])
def test_a_model_is_not_there(peer, path):
    """404 with the name in it, which is all that a client may go by."""
    status, text = peer.post(path, model=UNSUCH, messages=said("hi"), prompt="hi").error
    assert (status, UNSUCH in text, "not found" in text) == (404, True, True)


def test_a_model_to_copy_or_delete_is_not_there(peer):
    """404, in either case."""
    copied = peer.post("/api/copy", source=UNSUCH, destination=f"{UNSUCH}-2")
    assert copied.error == (404, f'model "{UNSUCH}" not found')
    deleted = peer.ask("DELETE", "/api/delete", {"model": UNSUCH})
    assert deleted.error == (404, f"model '{UNSUCH}' not found")


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("num_ctx", "512", "integer"),
        ("temperature", "hot", "float32"),
        ("use_mmap", 1, "boolean"),
        ("stop", "end", "array"),
    ],
)
def test_an_option_of_a_wrong_type_is_refused(peer, name, value, kind):
    """500, although the fault is the client's."""
    assert peer.chat("hi", options={name: value}).error == (
        500,
        f'option "{name}" must be of type {kind}',
    )


def test_what_is_unknown_or_null_is_ignored(peer):
    """So a field that a server is too old for does nothing, and nobody says so."""
    got = peer.chat("hi", options={"nonsense": 1, "top_k": None}, nonsense=True)
    assert got.status == 200


def test_a_fraction_of_an_integer_is_dropped(peer):
    """4096.7 is 4096."""
    peer.load(WINDOW + 0.9)
    assert peer.version < (0, 10, 0) or peer.loaded()["context_length"] == WINDOW


@since(0, 9, 0)
@without("thinking")
def test_thinking_needs_a_model_that_thinks(peer):
    """True is refused, false is not."""
    assert peer.chat("hi", think=True).error == (400, f'"{peer.model}" does not support thinking')
    assert peer.chat("hi", think=False).status == 200


@since(0, 11, 0)
def test_a_level_of_thinking_is_one_of_a_few(peer):
    """Levels came in 0.11."""
    status, text = peer.chat("hi", think="huge").error
    assert (status, text.startswith('invalid think value: "huge" (must be "high"')) == (400, True)


@without("tools")
def test_tools_need_a_model_that_calls_them(peer):
    """The model is told of by its full name."""
    named = f"registry.ollama.ai/library/{full(peer.model)}"
    assert peer.chat("hi", tools=TOOLS).error == (400, f"{named} does not support tools")


@pytest.mark.parametrize("value", ["-1", "300"])
def test_a_keep_alive_in_a_text_needs_a_unit(peer, value):
    """Only a number is seconds."""
    assert peer.chat("hi", keep_alive=value).error == (
        400,
        f'time: missing unit in duration "{value}"',
    )


def test_a_keep_alive_is_a_number_or_a_text(peer):
    """Nothing else."""
    assert peer.chat("hi", keep_alive=True).error == (400, "Unsupported type: 'bool'")


def test_a_raw_prompt_has_no_system(peer):
    """Of generate: raw is as it is."""
    got = peer.post("/api/generate", model=peer.model, prompt="hi", raw=True, system="s")
    assert got.error == (400, "raw mode does not support template, system, or context")


@pytest.mark.parametrize("header", ["Host", "Origin"])
@nearby
def test_a_stranger_is_refused_without_a_word(peer, header):
    """A page of another host, or another host's name for this one, is 403 and empty."""
    stranger = {"Host": "evil.example", "Origin": "http://evil.example"}[header]
    got = peer.ask("GET", "/api/version", headers={header: stranger})
    assert (got.status, got.raw) == (403, b"")


# ---- loading ------------------------------------------------------------------------------------


def test_no_messages_load_a_model(peer):
    """One object, also for a stream, with no counts; afterwards the model is listed."""
    peer.unload()
    got = peer.chat([], stream=True)
    assert (got.status, got.kind) == (200, "application/json; charset=utf-8")
    assert got.json.keys() == {"model", "created_at", "message", "done", "done_reason"}
    assert got.json["message"] == {"role": "assistant", "content": ""}
    assert (got.json["done"], got.json["done_reason"]) == (True, "load")
    assert peer.loaded() is not None


def test_no_prompt_loads_a_model(peer):
    """Generate does the same."""
    peer.unload()
    told = peer.post("/api/generate", model=peer.model, options={"num_ctx": ROOM}).json
    assert (told["response"], told["done_reason"]) == ("", "load")
    assert peer.loaded() is not None


def test_no_messages_and_no_time_unload_it(peer):
    """At once, and also when it was not there."""
    peer.load()
    for _ in range(2):
        assert peer.told([], keep_alive=0)["done_reason"] == "unload"
        assert peer.goes()


def test_a_chat_may_unload_its_model_when_it_is_over(peer):
    """The answer is whole all the same."""
    assert peer.told("hi", keep_alive=0)["eval_count"] > 0
    assert peer.goes()


def test_what_is_loaded_is_listed(peer):
    """With its window where the server tells of it, and how much of it is not on the processor."""
    peer.load(WINDOW)
    listed = peer.loaded()
    assert listed["name"] == listed["model"] == full(peer.model)
    assert listed["digest"] == peer.tag()["digest"]
    tagged = peer.tag()["details"]
    assert listed["details"] == {"parent_model": ""} | {
        name: tagged[name] for name in DETAILS if name != "parent_model"
    }
    assert 0 <= listed["size_vram"] <= listed["size"]
    assert peer.version < (0, 10, 0) or listed["context_length"] == WINDOW


@since(0, 10, 0)
def test_a_window_ends_where_the_model_was_trained(peer):
    """Asked for more, the server answers 200 and loads what there is."""
    info = peer.post("/api/show", model=peer.model).json["model_info"]
    trained = info[f"{info['general.architecture']}.context_length"]
    peer.load(trained * 4)
    assert peer.loaded()["context_length"] == trained
    peer.unload()


def test_the_same_options_do_not_load_again(peer):
    """Whatever the messages, the reply's length and the sampling."""
    peer.unload()
    assert peer.was_loaded(peer.told("hi", window=WINDOW))
    again = peer.told(said("hi", "hello", "bye"), window=WINDOW, reply=6, options={"top_k": 9})
    assert not peer.was_loaded(again)


def test_another_window_loads_again(peer):
    """And the list of what is loaded tells of it."""
    peer.load(WINDOW)
    assert peer.was_loaded(peer.told("hi", window=WINDOW * 2))
    assert peer.version < (0, 10, 0) or peer.loaded()["context_length"] == WINDOW * 2


def test_a_window_left_out_loads_again(peer):
    """After a window that was asked for, none at all is another one: the server's own."""
    peer.load(WINDOW)
    told = peer.post(
        "/api/chat",
        model=peer.model,
        messages=said("hi"),
        stream=False,
        options={"num_predict": 4},
    )
    assert peer.was_loaded(told.json)
    assert peer.version < (0, 10, 0) or peer.loaded()["context_length"] > WINDOW


@since(0, 12, 6)
def test_shifting_is_loaded_with_the_model(peer):
    """Since 0.30; before, it is a matter of each request."""
    peer.load(WINDOW)
    assert peer.was_loaded(peer.told("hi", window=WINDOW, shift=False)) == (
        peer.version >= (0, 30, 0)
    )


def stays(peer):
    """How many seconds from the end of its last request a model stays, as far as is told."""
    peer.told("hi")  # from whose end on the time runs that was asked for before
    told = peer.told("hi")
    return (moment(peer.loaded()["expires_at"]) - moment(told["created_at"])).total_seconds()


@pytest.mark.parametrize(("asked", "seconds"), [(600, 600), ("1h30m", 5400), (0.5e4, 5000)])
def test_a_loaded_model_stays_as_long_as_asked(peer, asked, seconds):
    """A number is seconds, a text has units; requests that ask for nothing leave it so."""
    peer.load(keep_alive=asked)
    assert stays(peer) == pytest.approx(seconds, abs=300)


@pytest.mark.parametrize("asked", [-1, "-1m"])
def test_a_loaded_model_may_stay_for_good(peer, asked):
    """Below nothing is for ever, which is centuries ahead."""
    peer.load(keep_alive=asked)
    assert stays(peer) > timedelta(days=36_500).total_seconds()
    peer.unload()


# ---- models come and go -------------------------------------------------------------------------


def test_a_copy_is_the_same_model_by_another_name(peer):
    """It is listed with the same content, and goes without the other one going."""
    with peer.derived() as name:
        assert peer.tag(name)["digest"] == peer.tag()["digest"]
        assert peer.told("hi", model=name)["model"] == name
    assert peer.tag(name) is None
    assert peer.tag() is not None


def test_models_of_the_same_weights_share_their_place(peer):
    """A copy of a loaded model is loaded as well, and listed by the other's name alone."""
    peer.unload()
    with peer.derived() as name:
        peer.load()
        assert not peer.was_loaded(peer.told("hi", model=name))
        assert peer.loaded(name) is None
        assert peer.loaded() is not None
        peer.told([], model=name, keep_alive=0)
        assert peer.goes()


@since(0, 5, 5)
def test_the_modelfile_tells_the_weights(peer):
    """Models that are loaded as one have the same file after FROM, and nothing else says so."""
    with peer.derived(parameters={"num_ctx": WINDOW}, stream=False) as name:
        own, other = (
            peer.post("/api/show", model=model).json["modelfile"] for model in (peer.model, name)
        )
    assert weights(own) == weights(other)
    assert "sha256-" in weights(own)


def weights(modelfile):
    """The file after FROM."""
    return next(line for line in modelfile.splitlines() if line.startswith("FROM "))


@since(0, 5, 5)
@offline
def test_a_model_is_made_of_one_that_is_there(peer):
    """Of a name that is not, the server looks in its library, in vain."""
    body = {"model": f"{UNSUCH}-2", "from": "porthole-contract/no-such-model"}
    status, text = peer.post("/api/create", **body, stream=False).error
    assert (status, text) == (500, "pull model manifest: file does not exist")
    *_, last = peer.post("/api/create", **body).lines
    assert last == {"error": text}


def test_copy_and_delete_answer_with_nothing(peer):
    """200 and an empty body."""
    copied = peer.post("/api/copy", source=peer.model, destination=f"{UNSUCH}-copy")
    deleted = peer.ask("DELETE", "/api/delete", {"model": f"{UNSUCH}-copy"})
    assert [(got.status, got.raw) for got in (copied, deleted)] == [(200, b"")] * 2


@since(0, 5, 5)
def test_a_model_may_bring_its_window(peer):
    """Of a request that asks for none; the parameters that are shown have it."""
    with peer.derived(parameters={"num_ctx": WINDOW}, stream=False) as name:
        shown = peer.post("/api/show", model=name).json["parameters"]
        assert ["num_ctx", str(WINDOW)] in [line.split() for line in shown.splitlines()]
        peer.unload()
        peer.post("/api/chat", model=name, messages=[])
        assert peer.version < (0, 10, 0) or peer.loaded(name)["context_length"] == WINDOW


@since(0, 5, 5)
def test_a_model_may_bring_a_system_prompt(peer):
    """It takes its place in the window, unless the messages begin with one."""
    own = with_system(sentence(50), said("hi"))
    with peer.derived(system=sentence(50), stream=False) as name:
        assert peer.told("hi", model=name)["prompt_eval_count"] == peer.count(own)
        assert peer.told(own, model=name)["prompt_eval_count"] == peer.count(own)


@since(0, 5, 5)
def test_a_model_may_bring_messages(peer):
    """They come before those of the request."""
    before = said(sentence(30), sentence(40))
    with peer.derived(messages=before, stream=False) as name:
        whole = peer.count([*before, *said("hi")])
        assert peer.told("hi", model=name)["prompt_eval_count"] == whole


def test_a_blob_that_is_not_what_it_says_is_refused(peer):
    """A digest is looked for, and held against what comes."""
    path = "/api/blobs/sha256:" + "0" * 64
    assert peer.ask("HEAD", path).status == 404
    status, text = peer.ask("POST", path, b"something else").error
    assert (status, text.startswith("digest mismatch, expected ")) == (400, True)


@pytest.mark.parametrize("version", ["0.3.14", "0.33.0"])
def test_a_model_that_is_not_in_the_library(version):
    """A pull begins with 200 and tells of its failure in a line. (A real one would ask the net.)"""
    with double_peer(version, "rendered") as peer:
        got = peer.post("/api/pull", model=UNSUCH)
        assert (got.status, got.lines[0]) == (200, {"status": "pulling manifest"})
        assert got.lines[-1] == {"error": "pull model manifest: file does not exist"}
