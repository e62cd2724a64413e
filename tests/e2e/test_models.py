"""`porthole models`, `status`, `sessions` and `show`."""

from engine.testing.ollama import OllamaDouble
from engine.testing.ollama_rules import Model
from engine.testing.ollama_script import Answer
from tests.backends.gguf_files import write_gguf


def test_models_of_every_kind_are_listed(porthole, tmp_path):
    """The starter, files found in a folder, files added, the server's."""
    folder = tmp_path / "folder"
    folder.mkdir()
    write_gguf(folder / "found.gguf")
    added = write_gguf(tmp_path / "added.gguf")
    porthole.settings(f'[models]\nfolders = ["{folder}"]\n')
    assert porthole.run("models", "add", str(added)).returncode == 0
    with OllamaDouble() as double:
        porthole.environment["PORTHOLE_OLLAMA_HOST"] = double.host
        names = [model["name"] for model in porthole.json("models", "list")["models"]]
    assert names[0] == "starter"
    for name in (f"llama.cpp:{added}", f"llama.cpp:{folder / 'found.gguf'}", "ollama:m:latest"):
        assert name in names


def test_list_without_a_server_says_so_and_goes_on(porthole):
    """No Ollama is no failure of the list."""
    porthole.environment["PORTHOLE_OLLAMA_HOST"] = "127.0.0.1:9"
    done = porthole.run("models")
    assert done.returncode == 0
    assert "starter" in done.stdout
    assert "127.0.0.1:9" in done.stdout


def test_added_file_stays_added_and_comments_stay(porthole, tmp_path):
    """Adding writes the settings file and loses nothing in it."""
    porthole.settings("# mine\n[context]\ncap_tokens = 20000  # enough\n")
    porthole.run("models", "add", str(write_gguf(tmp_path / "one.gguf")))
    text = porthole.settings_file.read_text(encoding="utf-8")
    assert "# mine" in text
    assert "# enough" in text
    assert "one.gguf" in text


def test_file_that_is_no_model_is_not_added(porthole, tmp_path):
    """A mistake is told, and the settings stay as they are."""
    path = tmp_path / "notes.gguf"
    path.write_text("not a model")
    done = porthole.run("models", "add", str(path))
    assert done.returncode == 3
    assert "notes.gguf" in done.stderr
    assert not porthole.settings_file.exists()


def test_info_tells_window_and_memory(porthole):
    """What a model is, the window it gets here, and what the context costs."""
    done = porthole.run("models", "info", "starter")
    for words in (
        "llama",
        "16,384",
        "trained on 8,192",
        "memory",
        "template takes a system prompt",
    ):
        assert words in done.stdout


def test_info_of_an_ollama_model_comes_from_the_server(porthole):
    """The server is asked, and nothing is loaded."""
    with OllamaDouble() as double:
        porthole.environment["PORTHOLE_OLLAMA_HOST"] = double.host
        info = porthole.json("models", "info", "ollama:m")
        assert double.loads == []
    assert info["trained_window"] == 32_768
    assert "tools" in info["capabilities"]


def test_starter_that_is_there_is_not_fetched_again(porthole):
    """`models get starter` finds it."""
    done = porthole.run("models", "get", "starter")
    assert done.returncode == 0
    assert "already here" in done.stderr


def test_starter_offline_is_one_sentence_with_two_alternatives(empty_profile):
    """No index to be reached: what else can be done; the typed message is kept."""
    empty_profile.environment |= {"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_NO_INDEX": "1"}
    empty_profile.environment |= {"PIP_FIND_LINKS": "", "PIP_RETRIES": "0"}
    done = empty_profile.run("ask", "Hello")
    assert done.returncode == 3
    assert "models add" in done.stderr
    assert "ollama:" in done.stderr
    assert "Traceback" not in done.stderr
    assert empty_profile.said() == [["Hello"]]


def test_conversation_with_ollama_keeps_window_and_switches(porthole):
    """Every request to a model: the same num_ctx, truncate and shift off, nothing loaded twice."""
    with OllamaDouble() as double:
        double.always("Fine.")
        porthole.environment["PORTHOLE_OLLAMA_HOST"] = double.host
        first = porthole.json("ask", "One", "--model", "ollama:m")
        for text in ("Two", "Three"):
            porthole.json("ask", text, "--session", first["session"])
        bodies = [body for body in double.bodies("/api/chat") if body["messages"]]
        assert len(double.loads) == 1
    assert len(bodies) == 3
    assert {body["options"]["num_ctx"] for body in bodies} == {32_768}
    assert {(body["truncate"], body["shift"]) for body in bodies} == {(False, False)}
    said = [message["content"] for message in bodies[-1]["messages"]]
    assert said == ["One", "Fine.", "Two", "Fine.", "Three"]


def test_status_tells_where_things_are(porthole):
    """Places, the model and its window, how many conversations; problems of the settings."""
    porthole.settings("[context]\ncap_tokns = 1\n")
    status = porthole.json("status")
    assert status["database"] == str(porthole.database)
    assert status["model"]["window"]["tokens"] == 16_384
    assert "cap_tokens" in status["settings_problems"][0]
    assert not porthole.database.exists()


def test_conversations_are_listed_newest_first_with_their_counters(porthole):
    """`sessions --json` has the counters, `show` what was said."""
    porthole.run("ask", "Hello there", "--max-tokens", "4")
    porthole.run("ask", "Good evening", "--max-tokens", "4")
    rows = porthole.json("sessions")
    assert [row["title"] for row in rows] == ["Good evening", "Hello there"]
    assert all(row["output_tokens"] > 0 and row["input_tokens"] > 0 for row in rows)
    shown = porthole.run("show", rows[1]["id"])
    assert "Hello there" in shown.stdout


def test_half_a_starter_is_not_taken_for_a_whole_one(porthole):
    """A file of another size under its name is told as missing, and would be fetched again."""
    file = next((porthole.profile / "data" / "models").iterdir())
    file.unlink()
    file.write_bytes(b"GGUF half")
    status = porthole.json("status")
    assert "not fetched yet" in status["model"]["lines"][0]


# ---- models of ollama.com, tokens ---------------------------------------------------------------

CLOUD = Model("big:cloud", remote_host="https://ollama.com", trained=131_072)
TOKEN = "tok-5ecret"


def test_cloud_models_are_marked_and_not_used(porthole):
    """The list says what leaves and what switches it on; asking one is refused, and nothing sent."""
    with OllamaDouble([CLOUD]) as double:
        porthole.environment["PORTHOLE_OLLAMA_HOST"] = double.host
        listed = porthole.run("models").stdout
        done = porthole.run("ask", "--model", "ollama:big:cloud", "my diary")
        assert double.bodies() == double.bodies("/api/show") == []
    assert "runs on ollama.com: what you write leaves this computer; off, as" in listed
    assert "ollama.allow_cloud" in listed
    assert done.returncode == 3
    assert "would leave this computer. Nothing was sent." in done.stderr


def test_a_cloud_model_is_used_where_that_is_allowed(porthole):
    """With a line on what leaves; the list keeps its mark."""
    porthole.environment["PORTHOLE_OLLAMA_ALLOW_CLOUD"] = "true"
    with OllamaDouble([CLOUD]) as double:
        double.always("It is understood.")
        porthole.environment["PORTHOLE_OLLAMA_HOST"] = double.host
        done = porthole.run("ask", "--model", "ollama:big:cloud", "hello")
        row = next(m for m in porthole.json("models", "list")["models"] if m["cloud"])
        info = porthole.run("models", "info", "ollama:big:cloud").stdout
    assert (done.returncode, done.stdout) == (0, "It is understood.\n")
    assert "runs on ollama.com: your messages and files leave this computer." in done.stderr
    assert row["name"] == "ollama:big:cloud"
    assert "leaves this computer" in info


def test_the_token_is_printed_nowhere(porthole):
    """Used, refused, repeated by the server, wrong, or over an open network: not a word of it."""
    said = []
    with OllamaDouble() as double:
        porthole.environment |= {
            "PORTHOLE_OLLAMA_HOST": double.host,
            "PORTHOLE_OLLAMA_TOKEN": TOKEN,
        }
        double.always("It is understood.")
        for fault in (None, Answer(401, TOKEN), Answer(500, f'{{"error":"no {TOKEN}"}}')):
            if fault is not None:
                double.fail(fault)
            said.append(porthole.run("ask", "--model", "ollama:m", "hello"))
        assert {r.headers.get("authorization") for r in double.requests} == {f"Bearer {TOKEN}"}
        said.append(porthole.run("status", "--json"))
        said.append(porthole.run("models"))
    porthole.environment["PORTHOLE_OLLAMA_HOST"] = "http://192.0.2.1"
    said.append(porthole.run("models"))
    porthole.environment["PORTHOLE_OLLAMA_TOKEN"] = f"{TOKEN} twice"
    said.append(porthole.run("status"))
    assert "refuses the token" in said[1].stderr
    assert "The token was not sent to http://192.0.2.1:80" in said[5].stdout
    assert "PORTHOLE_OLLAMA_TOKEN must be" in said[6].stdout
    assert TOKEN not in "".join(done.stdout + done.stderr for done in said)
    kept = [path for path in porthole.profile.rglob("*") if path.is_file()]
    assert [path for path in kept if TOKEN.encode() in path.read_bytes()] == []


def test_an_old_server_is_named(porthole):
    """Before the answer, on the line for what one should know; and with what is known of a model."""
    with OllamaDouble(version="0.6.8") as double:
        double.always("It is understood.")
        porthole.environment["PORTHOLE_OLLAMA_HOST"] = double.host
        done = porthole.run("ask", "--model", "ollama:m", "hello")
        info = porthole.run("models", "info", "ollama:m")
    assert done.stdout == "It is understood.\n"
    for words in (done.stderr, info.stdout):
        assert "version is 0.6.8" in words
