"""What the Ollama double stores: pulls in all their ways, delete, copy, blobs, create, embed."""

import hashlib
import http.client

import pytest

from engine.testing.ollama import OllamaDouble
from engine.testing.ollama_faults import NUMBERED, Drop, EndEarly, Error, Silence
from engine.testing.ollama_rules import Model
from engine.testing.ollama_state import Layer
from tests.backends.double_talk import ask, chat, load, processes, waiting, words

LAYERS = (
    Layer("aaaaaaaaaaaa1111", 1000, (0, 300, 700, 1000)),
    Layer("bbbbbbbbbbbb2222", 50, (0, 50)),
    Layer("cccccccccccc3333", 10, (10,)),
)
GGUF = b"GGUF" + bytes(100)


@pytest.fixture
def server():
    with OllamaDouble() as double:
        double.fetchable(Model("new"), layers=LAYERS)
        yield double


def digest(data):
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def pull(server, model="new", **fields):
    return ask(server, "POST", "/api/pull", {"model": model, **fields})


def progress(got):
    """(first letter of the layer, bytes) of each progress line."""
    lines = [line for line in got.lines if "total" in line]
    return [(line["digest"][7], line.get("completed", 0)) for line in lines]


def names(server):
    return [model["name"] for model in ask(server, "GET", "/api/tags").json["models"]]


# ---- pull ---------------------------------------------------------------------------------------


def test_46_layers_one_after_the_other(server):
    """46: every layer goes from nothing to its total; `completed` is absent while nothing is."""
    got = pull(server)
    assert [line["status"] for line in got.lines] == [
        "pulling manifest",
        *["pulling aaaaaaaaaaaa"] * 4,
        *["pulling bbbbbbbbbbbb"] * 2,
        "pulling cccccccccccc",
        "verifying sha256 digest",
        "writing manifest",
        "success",
    ]
    assert progress(got) == [
        *[("a", bytes_) for bytes_ in (0, 300, 700, 1000)],
        *[("b", 0), ("b", 50), ("c", 10)],
    ]
    assert "completed" not in got.lines[1]
    assert names(server)[0] == "new:latest"


def test_46_what_is_there_is_told_in_one_line(server):
    """46: a second pull has one object for each layer, complete at once."""
    pull(server)
    assert progress(pull(server)) == [("a", 1000), ("b", 50), ("c", 10)]


def test_46_a_layer_that_another_model_has(server):
    """46: layers are shared."""
    server.fetchable(Model("other"), layers=(LAYERS[0], Layer("dddddddddddd4444", 5, (5,))))
    pull(server)
    assert progress(pull(server, "other")) == [("a", 1000), ("d", 5)]


def test_46_leaving_keeps_what_was_fetched(server):
    """46: a pull that its client left is taken up where it stood, and is not there before."""
    gate = server.hold("pull", after=3)
    with waiting(server, "/api/pull", model="new") as request:
        assert gate.reached.wait(30)
        assert names(server)[0] != "new:latest"
        request.leave()
        server.settle()
    assert progress(pull(server))[:3] == [("a", 700), ("a", 1000), ("b", 0)]
    assert names(server)[0] == "new:latest"


def test_46_a_restart_keeps_it_too(server):
    """46: so does a restart of the server."""
    server.hold("pull", after=2)
    with waiting(server, "/api/pull", model="new"):
        server.wait_for(lambda: not server.state.script.gates)
        server.restart()
    assert progress(pull(server))[0] == ("a", 300)


@pytest.mark.parametrize("known", [True, False])
def test_46_not_streamed(server, known):
    """46: without a stream one object, or a 500."""
    got = pull(server, "new" if known else "nowhere", stream=False)
    if known:
        assert (got.kind, got.json) == ("application/json", {"status": "success"})
    else:
        assert got.error == (500, "pull model manifest: file does not exist")


def test_46_without_a_name(server):
    """46: no model is no valid name."""
    assert ask(server, "POST", "/api/pull", {}).error == (400, "invalid model name")


def test_f20_progress_goes_backwards(server):
    """F20: a part that failed is rolled back."""
    server.fetchable(Model("odd"), steps=(0, 600, 400, 990, 990, 1000))
    assert [done for _, done in progress(pull(server, "odd"))] == [0, 600, 400, 990, 990, 1000]


def test_f20_progress_sticks(server):
    """F20: the same figure again and again near the end, and then nothing."""
    server.fetchable(Model("odd"), steps=(0, *[990] * 5))
    server.fail(Silence(after=6), "/api/pull")
    with waiting(server, "/api/pull", model="odd") as request:
        received = b""
        while received.count(b'"completed":990') < 5:
            received += request.socket.recv(65536)
        assert request.is_silent()
    assert b"success" not in received


@pytest.mark.parametrize(
    "text",
    [
        NUMBERED["F21"].text,
        "unexpected EOF",
        "write /root/.ollama/blobs/x: no space left on device",
    ],
)
def test_f21_a_pull_that_ends_in_an_error(server, text):
    """F21: a line with 200 after some progress; the next pull goes on from there."""
    server.fail(Error(text, after=2), "/api/pull")
    got = pull(server)
    assert (got.status, got.lines[-1]) == (200, {"error": text})
    assert progress(got) == [("a", 0), ("a", 300)]
    assert "new:latest" not in names(server)
    assert progress(pull(server))[0] == ("a", 300)


def test_f22_a_digest_that_does_not_match(server):
    """F22: the error line says to download again, and what was fetched is thrown away."""
    server.fail(Error(NUMBERED["F22"].text, after=3), "/api/pull")
    assert pull(server).lines[-1]["error"].startswith("digest mismatch, file must be downloaded")
    assert progress(pull(server))[0] == ("a", 0)


def test_f22_at_the_very_end(server):
    """F22: after the last byte of the last layer."""
    server.fail(Error(NUMBERED["F22"].text, after=99), "/api/pull")
    got = pull(server)
    assert progress(got)[-1] == ("c", 10)
    assert "error" in got.lines[-1]
    assert "new:latest" not in names(server)


@pytest.mark.parametrize("fault", [EndEarly(after=2), EndEarly(after=2, half_line=True)])
def test_a_pull_that_ends_without_success(server, fault):
    """A clean end of the stream, with no success and no error."""
    server.fail(fault, "/api/pull")
    assert b"success" not in pull(server).raw
    assert "new:latest" not in names(server)


def test_a_pull_that_breaks(server):
    """The connection breaks in the middle of a line."""
    server.fail(Drop(after=2), "/api/pull")
    with pytest.raises(http.client.IncompleteRead):
        pull(server)
    assert progress(pull(server))[0] == ("a", 300)


# ---- delete, copy -------------------------------------------------------------------------------


def test_43_delete(server):
    """43: unknown 404; known 200 and an empty body, gone from the list; a loaded one stays so."""
    assert ask(server, "DELETE", "/api/delete", {"model": "x"}).error == (
        404,
        "model 'x' not found",
    )
    load(server)
    got = ask(server, "DELETE", "/api/delete", {"model": "M:Latest"})
    assert (got.status, got.raw) == (200, b"")
    assert "m:latest" not in names(server)
    assert "m" in processes(server)
    assert chat(server).error == (404, "model 'm' not found")


def test_43_delete_forgets_what_was_pulled(server):
    """43: another pull of it begins at nothing."""
    pull(server)
    ask(server, "DELETE", "/api/delete", {"name": "new"})
    assert progress(pull(server))[0] == ("a", 0)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", (400, "missing request body")),
        ({"model": "a b!"}, (400, 'name "a b!" is invalid')),
        ({}, (400, 'name "" is invalid')),
    ],
)
def test_43_deletes_that_are_refused(server, body, expected):
    """43: no body, no name, no valid name."""
    assert ask(server, "DELETE", "/api/delete", body).error == expected


def test_44_copy(server):
    """44: unknown 404; known 200 and an empty body, the same content under both names."""
    asked = {"source": "x", "destination": "y"}
    assert ask(server, "POST", "/api/copy", asked).error == (404, 'model "x" not found')
    got = ask(server, "POST", "/api/copy", {"source": "m", "destination": "mine:v2"})
    assert (got.status, got.raw) == (200, b"")
    models = ask(server, "GET", "/api/tags").json["models"]
    digests = {model["name"]: model["digest"] for model in models}
    assert digests["mine:v2"] == digests["m:latest"]
    assert chat(server, "mine:v2").status == 200


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"source": "a b", "destination": "y"}, (400, 'source "a b" is invalid')),
        ({"source": "m", "destination": ""}, (400, 'destination "" is invalid')),
    ],
)
def test_44_copies_that_are_refused(server, body, expected):
    """44: names that are none."""
    assert ask(server, "POST", "/api/copy", body).error == expected


def test_44_copying_onto_itself(server):
    """44: changes nothing."""
    before = names(server)
    body = {"source": "m", "destination": "m:latest"}
    assert ask(server, "POST", "/api/copy", body).status == 200
    assert names(server) == before


# ---- blobs, create ------------------------------------------------------------------------------


def test_45_blobs(server):
    """45: not there 404, stored 201, there 200, of another digest 400."""
    path = f"/api/blobs/{digest(GGUF)}"
    assert ask(server, "HEAD", path).status == 404
    assert ask(server, "POST", path, GGUF).status == 201
    assert ask(server, "HEAD", path).status == 200
    assert ask(server, "POST", path, GGUF).status == 200
    wrong = f"/api/blobs/{digest(b'else')}"
    assert ask(server, "POST", wrong, GGUF).error == (
        400,
        f'digest mismatch, expected "{digest(b"else")}", got "{digest(GGUF)}"',
    )
    assert ask(server, "POST", "/api/blobs/sha256:1", GGUF).error == (
        400,
        "invalid digest format",
    )


def test_45_a_blob_in_chunks(server):
    """45: sent in chunks, as clients send files."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, 30)
    parts = iter([GGUF[:5], GGUF[5:]])
    connection.request("POST", f"/api/blobs/{digest(GGUF)}", parts, encode_chunked=True)
    assert connection.getresponse().status == 201
    connection.close()


def test_create_of_a_file(server):
    """A GGUF becomes a model, run natively, with its own window."""
    ask(server, "POST", f"/api/blobs/{digest(GGUF)}", GGUF)
    body = {"model": "mine", "files": {"f.gguf": digest(GGUF)}, "parameters": {"num_ctx": 8192}}
    got = ask(server, "POST", "/api/create", body)
    assert [line["status"] for line in got.lines] == [
        "parsing GGUF",
        f"using existing layer {digest(GGUF)}",
        "writing manifest",
        "success",
    ]
    load(server, "mine")
    assert server.windows() == {"mine": 8192}
    long = [{"role": "user", "content": words(9000)}]
    assert chat(server, "mine", long).status == 400


def test_create_from_another_model(server):
    """A model of another's content, with its own system prompt, which is put before every chat."""
    body = {"model": "mine", "from": "plain", "system": "be brief", "stream": False}
    got = ask(server, "POST", "/api/create", body)
    assert got.json == {"status": "success"}
    assert chat(server, "mine").lines[-1]["prompt_eval_count"] == 4
    assert ask(server, "POST", "/api/show", {"model": "mine"}).json["system"] == "be brief"


def test_create_from_a_model_that_is_nowhere(server):
    """It is looked for where models come from, and not found there."""
    got = ask(server, "POST", "/api/create", {"model": "mine", "from": "nowhere"})
    assert got.lines[-1] == {"error": "pull model manifest: file does not exist"}
    assert names(server) == ["emb:latest", "plain:latest", "m:latest"]


def test_create_of_a_modelfile_in_old_servers():
    """Before 0.5.5 a Modelfile's text was sent."""
    with OllamaDouble(version="0.3.14") as server:
        text = "FROM plain\nPARAMETER num_ctx 8192\nSYSTEM be brief"
        ask(server, "POST", "/api/create", {"model": "mine", "modelfile": text})
        load(server, "mine")
        assert server.windows() == {"mine": 8192}


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({}, "invalid model name"),
        ({"model": "a b!", "from": "m"}, "invalid model name"),
        ({"model": "x"}, "neither 'from' or 'files' was specified"),
        ({"model": "x", "files": {}}, "no files provided to convert"),
        ({"model": "x", "files": {"/f": "sha256:1"}}, "file path must be relative"),
        ({"model": "x", "files": {"f": "sha256:1"}}, "supplied file was not in GGUF format"),
    ],
)
def test_creates_that_are_refused(server, body, text):
    """Each with its own words."""
    assert ask(server, "POST", "/api/create", body).error == (400, text)


# ---- embed --------------------------------------------------------------------------------------


def test_11_embed_of_an_unknown_model(server):
    """11: the older text, with the advice to pull."""
    got = ask(server, "POST", "/api/embed", {"model": "x", "input": "a"})
    assert got.error == (404, 'model "x" not found, try pulling it first')


def test_embed(server):
    """A vector for each text, the same for the same; none for none, but the model loads."""
    one = ask(server, "POST", "/api/embed", {"model": "emb", "input": "two words"}).json
    two = ask(server, "POST", "/api/embed", {"model": "emb", "input": ["two words", "x"]}).json
    none = ask(server, "POST", "/api/embed", {"model": "emb", "input": []}).json
    assert one["embeddings"] == two["embeddings"][:1]
    assert (one["prompt_eval_count"], two["prompt_eval_count"]) == (2, 3)
    assert none["embeddings"] == []
    assert server.loads == [("emb", 4096)]


def test_embed_truncates_unless_told_not_to(server):
    """Too long a text is cut, or refused."""
    body = {"model": "emb", "input": words(5000)}
    assert ask(server, "POST", "/api/embed", body).json["prompt_eval_count"] == 4096
    assert ask(server, "POST", "/api/embed", {**body, "truncate": False}).error == (
        400,
        "the input length exceeds the context length",
    )
