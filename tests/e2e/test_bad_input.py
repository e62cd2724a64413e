"""Bad input: each ends with one clear sentence and exit code 3, and nothing is lost."""

import ctypes
import math
import os
import re
import socket
import sqlite3
import threading
from contextlib import closing, contextmanager

import pytest

from engine.testing.ollama import OllamaDouble
from engine.testing.ollama_rules import Model
from engine.testing.ollama_script import Drop, EndEarly
from tests.backends.gguf_files import gguf_bytes, write_gguf

HELLO = "Hello there"


def assert_told(done, *words):
    """One sentence for people: exit 3, the words in it, no trace, nothing on stdout."""
    assert done.returncode == 3, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    for word in words:
        assert re.search(word, done.stderr), done.stderr


# ---- model files --------------------------------------------------------------------------------


def missing(_path, _starter):
    """Nothing is there."""


def empty(path, _starter):
    path.write_bytes(b"")


def random_bytes(path, _starter):
    path.write_bytes(os.urandom(50_000))


def truncated(path, starter):
    path.write_bytes(starter.read_bytes()[:40_000_000])


def half_header(path, _starter):
    path.write_bytes(gguf_bytes()[:300])


def directory(path, _starter):
    path.mkdir()


def absurd_layers(path, _starter):
    write_gguf(path, {"llama.block_count": 4_000_000_000})


def epsilon_not_a_number(path, _starter):
    write_gguf(path, {"llama.attention.layer_norm_rms_epsilon": math.nan})


def epsilon_negative(path, _starter):
    write_gguf(path, {"llama.attention.layer_norm_rms_epsilon": -1.0})


def absurd_window(path, _starter):
    write_gguf(path, {"llama.context_length": 4_000_000_000})


FILES = [missing, empty, random_bytes, truncated, half_header, directory]
FILES += [absurd_layers, epsilon_not_a_number, epsilon_negative, absurd_window]


@pytest.mark.parametrize("make", FILES, ids=lambda make: make.__name__)
def test_unusable_model_file(porthole, starter_path, tmp_path, make):
    """A file that is no usable model: told by name; the typed message is kept."""
    path = tmp_path / "model.gguf"
    make(path, starter_path)
    done = porthole.run("ask", HELLO, "--model", f"llama.cpp:{path}")
    assert_told(done, "model.gguf")
    assert porthole.said() == [[HELLO]]


def without_privileges():
    """Give up root's right to ignore permissions, for a child process about to start."""
    if os.getuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        drop_from_bounding_set, dac_override, dac_read_search = 24, 1, 2
        for capability in (dac_override, dac_read_search):
            if libc.prctl(drop_from_bounding_set, capability, 0, 0, 0) != 0:
                os._exit(99)


def test_model_file_without_permission(porthole, starter_path, tmp_path):
    """A file that may not be read is told as that."""
    path = tmp_path / "model.gguf"
    path.write_bytes(starter_path.read_bytes())
    path.chmod(0)
    command = ("ask", HELLO, "--model", f"llama.cpp:{path}")
    done = porthole.run(*command, preexec_fn=without_privileges)
    assert_told(done, "model.gguf", "permission")
    assert porthole.said() == [[HELLO]]


def test_name_that_is_no_model(porthole):
    """A mistyped model name: how models are named."""
    done = porthole.run("ask", HELLO, "--model", "qwen3:4b")
    assert_told(done, "ollama:qwen3:4b", "porthole models")
    assert porthole.said() == [[HELLO]]


def test_window_beyond_memory(porthole):
    """A window that no memory holds is refused with figures, before anything is made."""
    done = porthole.run("ask", HELLO, "--window", "50000000")
    assert_told(done, "50,000,000", "GB", "at most")
    assert porthole.said() == [[HELLO]]


# ---- servers ------------------------------------------------------------------------------------


@contextmanager
def closed_port():
    """A port that nobody listens on, held so that nobody takes it."""
    with closing(socket.socket()) as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@contextmanager
def answering(answer):
    """A server that gives every request the same bytes."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:

        def serve():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65_536)
                    connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


HTML = b"<html><body>It works!</body></html>"
PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"


def ask_ollama(porthole, port, model="m"):
    porthole.environment["PORTHOLE_OLLAMA_HOST"] = f"127.0.0.1:{port}"
    return porthole.run("ask", HELLO, "--model", f"ollama:{model}")


def test_no_server(porthole):
    """Nobody listens: the address, and how to start Ollama."""
    with closed_port() as port:
        done = ask_ollama(porthole, port)
        assert_told(done, str(port), "ollama serve")
        assert porthole.said() == [[HELLO]]


def test_server_that_answers_html(porthole):
    """A web server on the wrong port is told as what it is."""
    with answering(PAGE % len(HTML) + HTML) as port:
        done = ask_ollama(porthole, port)
        assert_told(done, str(port), "not an Ollama")
        assert porthole.said() == [[HELLO]]


def test_server_that_speaks_no_http(porthole):
    """Another kind of server: one sentence, no trace."""
    with answering(b"220 mail ready\r\n") as port:
        assert_told(ask_ollama(porthole, port), str(port))


@pytest.mark.parametrize("fault", [EndEarly(after=2), Drop(after=2), Drop(after=2, reset=True)])
def test_server_that_closes_mid_stream(porthole, fault):
    """The reply ends before its end: told, and what had come is kept, marked as failed."""
    with OllamaDouble() as double:
        double.say("one two three four")
        double.fail(fault)
        done = ask_ollama(porthole, double.port)
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert done.stdout.strip() == "one two"
    [row] = porthole.json("sessions")
    reply = porthole.json("show", row["id"])["entries"][-1]
    assert reply["stop_reason"] == "failed"
    assert reply["parts"][0]["text"].strip() == "one two"


def test_server_that_closes_at_once(porthole):
    """A connection that breaks before the first word: told, nothing is made up."""
    with OllamaDouble() as double:
        double.fail(Drop())
        assert_told(ask_ollama(porthole, double.port), "reply|connection")


def test_model_below_the_minimum_is_refused_before_any_chat(porthole):
    """An Ollama model of 8,192 tokens: refused by its description alone."""
    with OllamaDouble(models=[Model("short", trained=8_192)]) as double:
        done = ask_ollama(porthole, double.port, "short")
        assert_told(done, "8,192", "16,000")
        assert {request.path for request in double.requests} <= {
            "/api/show",
            "/api/tags",
            "/api/version",
        }


# ---- settings and store -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[context]\ncap_tokns = 20000\n", ["line 2", "cap_tokens"]),
        ("[context]\n\ncap_tokens = -5\n", ["line 3", "from 1"]),
        ("[context\ncap_tokens = 20000\n", ["line 1"]),
    ],
    ids=["unknown key", "out of range", "not TOML"],
)
def test_settings_file_with_a_typo(porthole, text, words):
    """The line and what is allowed; the file stays as it is, the message is kept."""
    porthole.settings(text)
    done = porthole.run("ask", HELLO)
    assert_told(done, "settings.toml", *words)
    assert porthole.settings_file.read_text(encoding="utf-8") == text
    assert porthole.said() == [[HELLO]]


def test_environment_variable_with_a_typo(porthole):
    """The variable that was meant, and where to mend it."""
    porthole.environment["PORTHOLE_CONTXT_CAP_TOKENS"] = "20000"
    assert_told(porthole.run("ask", HELLO), "PORTHOLE_CONTEXT_CAP_TOKENS", "variable")
    assert porthole.said() == [[HELLO]]


def test_read_only_data_directory(porthole):
    """Nothing typed could be kept: refused before it is tried."""
    data = porthole.profile / "data"
    data.chmod(0o500)
    done = porthole.run("ask", HELLO, preexec_fn=without_privileges)
    data.chmod(0o700)
    assert_told(done, "read-only|permission")


def test_database_of_a_newer_version(porthole):
    """Left alone, byte for byte."""
    porthole.run("sessions")
    with closing(sqlite3.connect(porthole.database)) as database, database:
        database.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at)"
            " SELECT migration_set, 'from_the_future', applied_at FROM _sqlite_migrations LIMIT 1"
        )
    before = porthole.database.read_bytes()
    done = porthole.run("ask", HELLO)
    assert_told(done, "newer version")
    assert porthole.database.read_bytes() == before


def test_database_full_of_zeros(porthole):
    """Set aside and named, never overwritten; the message is kept in a new one."""
    zeros = bytes(64 * 1024)
    porthole.database.write_bytes(zeros)
    done = porthole.run("ask", HELLO)
    assert_told(done, "damaged")
    kept = [path for path in porthole.database.parent.iterdir() if path.is_file()]
    assert zeros in [path.read_bytes() for path in kept if "damaged" in path.name]
    assert porthole.said() == [[HELLO]]
