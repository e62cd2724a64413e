"""Where an Ollama server is: addresses are read as Ollama reads them, and reached as it is."""

import asyncio
import contextlib
import socket
import threading

import pytest

from engine.backends.ollama import OllamaBackend
from engine.backends.ollama_address import parse_address
from engine.errors import BackendRefused, BackendUnreachable
from engine.testing.ollama import OllamaDouble
from engine.testing.ollama_script import Answer

PROXY_NAMES = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy")


@pytest.fixture(autouse=True)
def _no_surroundings(monkeypatch):
    """No proxy, host or key of the machine reaches these tests."""
    for name in (*PROXY_NAMES, "NO_PROXY", "no_proxy", "OLLAMA_HOST", "OLLAMA_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def models_at(host):
    """The names a backend lists at an address."""

    async def listed():
        backend = OllamaBackend(host)
        try:
            return [model.name for model in await backend.list_models()]
        finally:
            await backend.close()

    return asyncio.run(listed())


def free_port():
    """A port on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("", "http://127.0.0.1:11434"),
        ("1.2.3.4", "http://1.2.3.4:11434"),
        (":1234", "http://127.0.0.1:1234"),
        ("1.2.3.4:1234", "http://1.2.3.4:1234"),
        ("example.com", "http://example.com:11434"),
        ("example.com:1234", "http://example.com:1234"),
        (":0", "http://127.0.0.1:0"),
        (":66000", "http://127.0.0.1:11434"),
        (":-1", "http://127.0.0.1:11434"),
        ("example.com:port", "http://example.com:11434"),
        ("[::1]", "http://[::1]:11434"),
        ("::1", "http://[::1]:11434"),
        ("[::1]:1337", "http://[::1]:1337"),
        ("0001:002:003:0004::1", "http://[1:2:3:4::1]:11434"),
        (" 1.2.3.4 ", "http://1.2.3.4:11434"),
        ('"1.2.3.4"', "http://1.2.3.4:11434"),
        (' " 1.2.3.4 " ', "http://1.2.3.4:11434"),
        ("'1.2.3.4'", "http://1.2.3.4:11434"),
        ("http://1.2.3.4", "http://1.2.3.4:80"),
        ("HTTP://1.2.3.4", "http://1.2.3.4:80"),
        ("http://1.2.3.4:4321", "http://1.2.3.4:4321"),
        ("https://1.2.3.4", "https://1.2.3.4:443"),
        ("https://example.com/ollama", "https://example.com:443/ollama"),
        ("example.com:56789/path/", "http://example.com:56789/path"),
        ("ollama.com", "https://ollama.com:443"),
        ("https://localhost:1234", "https://localhost:1234"),
    ],
)
def test_addresses_are_read_as_ollama_reads_them(text, url):
    """Every form OLLAMA_HOST may have, with its default port."""
    assert str(parse_address(text)) == url


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("0.0.0.0", ("127.0.0.1",)),
        ("0.0.0.0:1234", ("127.0.0.1",)),
        ("[::]:1234", ("::1", "127.0.0.1")),
        ("localhost", ("127.0.0.1", "::1")),
        ("LOCALHOST:1234", ("127.0.0.1", "::1")),
        ("", ("127.0.0.1", "::1")),
        ("192.168.1.5", ("192.168.1.5",)),
    ],
)
def test_bind_addresses_and_localhost_mean_this_machine(text, hosts):
    """A bind address is mapped to loopback, and localhost is tried in both families."""
    assert parse_address(text).hosts == hosts


@pytest.mark.parametrize(
    ("text", "local"),
    [
        ("", True),
        ("127.0.0.2:1", True),
        ("[::1]", True),
        ("0.0.0.0", True),
        ("box.localhost", True),
        ("192.168.1.5", False),
        ("example.com", False),
        ("localhost.example.com", False),
    ],
)
def test_loopback(text, local):
    """Which addresses are this machine."""
    assert parse_address(text).loopback is local


@pytest.mark.parametrize("text", ["ftp://example.com", "unix:///run/ollama.sock", "://x"])
def test_other_schemes_are_refused(text):
    """An address that is not http says so, and what one looks like."""
    with pytest.raises(BackendUnreachable, match="cannot be used"):
        parse_address(text)


def test_an_address_with_a_password_is_refused_without_a_word_of_it():
    """Nothing that might be a secret is repeated."""
    with pytest.raises(BackendUnreachable, match="user name") as caught:
        parse_address("https://me:hunter2@server.example/ollama")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "private", "cloud"),
    [
        ("", True, False),
        ("http://127.0.0.5", True, False),
        ("https://server.example", True, False),
        ("http://192.168.1.5", False, False),
        ("server.internal", False, False),
        ("ollama.com", True, True),
        ("https://api.OLLAMA.com", True, True),
        ("https://notollama.com", True, False),
        ("https://ollama.com.example", True, False),
    ],
)
def test_what_an_address_is_good_for(text, private, cloud):
    """Secrets go to this machine or over https; ollama.com is known by its name."""
    address = parse_address(text)
    assert (address.private, address.is_cloud) == (private, cloud)


@pytest.mark.parametrize("text", ["http://[::1", "exa mple.com", "a:b:c", "[x]:1"])
def test_addresses_that_are_none(text):
    """Nonsense is one sentence at the first request, not a crash."""
    with pytest.raises(BackendUnreachable, match=r"cannot be used|No Ollama server answers"):
        models_at(text)


@pytest.mark.parametrize(
    ("bind", "form"),
    [
        ("127.0.0.1", "127.0.0.1:{}"),
        ("127.0.0.1", "0.0.0.0:{}"),
        ("127.0.0.1", "localhost:{}"),
        ("127.0.0.1", ":{}"),
        ("127.0.0.1", "[::]:{}"),
        ("127.0.0.1", " 'http://localhost:{}/' "),
    ],
)
def test_the_server_is_reached(bind, form):
    """Every way to write this machine reaches a server on it."""
    with OllamaDouble(bind=bind) as server:
        assert models_at(form.format(server.port)) == ["plain:latest", "m:latest"]


def test_the_environment_names_the_host(monkeypatch):
    """Without a host of its own, a backend goes where OLLAMA_HOST says."""
    with OllamaDouble() as server:
        monkeypatch.setenv("OLLAMA_HOST", f"0.0.0.0:{server.port}")
        assert models_at("") == ["plain:latest", "m:latest"]


def test_a_host_of_its_own_wins_over_the_environment(monkeypatch):
    """A configured host is never replaced by another."""
    with OllamaDouble() as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        with pytest.raises(BackendUnreachable):
            models_at(f"127.0.0.1:{free_port()}")
        assert server.requests == []


def test_proxies_are_bypassed_for_loopback(monkeypatch):
    """A proxy in the environment, here a dead one, does not catch local traffic."""
    for name in PROXY_NAMES:
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    with OllamaDouble() as server:
        assert models_at(server.host) == ["plain:latest", "m:latest"]


def test_proxies_are_used_for_other_machines(monkeypatch):
    """A server elsewhere is reached through the user's proxy, as any other."""
    with OllamaDouble() as server:
        monkeypatch.setenv("HTTP_PROXY", f"http://{server.host}")
        assert models_at("http://models.internal") == ["plain:latest", "m:latest"]
        assert server.requests[0].target == "http://models.internal/api/tags"


def test_a_key_is_not_sent_in_plain_text(monkeypatch):
    """OLLAMA_API_KEY goes to this machine or over https, never readable over a network."""
    monkeypatch.setenv("OLLAMA_API_KEY", "secret")
    with OllamaDouble() as server:
        models_at(server.host)
        monkeypatch.setenv("HTTP_PROXY", f"http://{server.host}")
        models_at("http://models.internal")
        keys = [request.headers.get("authorization") for request in server.requests]
    assert keys == ["Bearer secret", None]


def test_redirects_are_not_followed():
    """A redirect to another machine is reported, and nothing is sent there."""
    with OllamaDouble() as other, OllamaDouble() as server:
        target = (("Location", f"http://{other.host}/api/tags"),)
        server.fail(Answer(307, "", headers=target), "/api/tags")
        with pytest.raises(BackendRefused, match="not followed"):
            models_at(server.host)
        assert other.requests == []


def test_nobody_there():
    """A closed port: one sentence with the address, and how to start Ollama."""
    port = free_port()
    with pytest.raises(BackendUnreachable) as caught:
        models_at(f"localhost:{port}")
    assert caught.value.sentence == f"No Ollama server answers at http://127.0.0.1:{port}."
    assert "ollama serve" in caught.value.remedy
    assert "ollama.host" in caught.value.remedy


def test_a_name_that_does_not_exist():
    """A host name that cannot be found is said to be that."""
    with pytest.raises(BackendUnreachable, match="no such host name"):
        models_at("no-such-name.invalid")


def test_https_to_a_plain_server():
    """A secure connection to a server that speaks plain http."""
    with OllamaDouble() as server, pytest.raises(BackendUnreachable, match="not speak https"):
        models_at(f"https://127.0.0.1:{server.port}")


@contextlib.contextmanager
def something_else(greeting):
    """A server of another kind: greets whoever comes, and closes."""

    def greet():
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(greeting)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=greet)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


@pytest.mark.parametrize(
    "greeting",
    [
        b"HTTP/1.1 400 Bad Request\r\n\r\nBad Request\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong",
        b'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{"status":"up"}',
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
        b'HTTP/1.1 404 Not Found\r\nContent-Length: 22\r\n\r\n{"detail":"Not Found"}',
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    ],
)
def test_a_port_of_something_else(greeting):
    """Whatever else listens there: it answers, but it is not an Ollama server."""
    with something_else(greeting) as port:
        with pytest.raises(BackendRefused) as caught:
            models_at(f"127.0.0.1:{port}")
        assert f"http://127.0.0.1:{port} answers" in caught.value.sentence
        assert caught.value.sentence.endswith("but it is not an Ollama server.")


def test_a_port_that_hangs_up():
    """A server that closes without an answer to HTTP: said so, with the address to check."""
    with something_else(b"SSH-2.0-OpenSSH_9.6\r\n") as port:
        with pytest.raises(BackendUnreachable, match="closed the connection") as caught:
            models_at(f"127.0.0.1:{port}")
        assert "ollama.host" in caught.value.remedy
