"""Ollama servers that want a token, and servers behind https: secrets stay where they belong."""

import asyncio
import contextlib
import socket
import ssl
import threading
import traceback

import pytest
import trustme

from engine.backends.ollama import OllamaBackend
from engine.errors import BackendRefused, BackendUnreachable, EnvironmentFault
from engine.testing.ollama import OllamaDouble
from engine.testing.ollama_script import Answer

TOKEN = "tok-5ecret"
NAMES = ["plain:latest", "m:latest"]
WANTED = '{"error":"unauthorized"}'


@pytest.fixture(autouse=True)
def _no_surroundings(monkeypatch):
    """No proxy, host, key or certificate of the machine reaches these tests."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name in ("OLLAMA_HOST", "OLLAMA_API_KEY", "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)


def models_at(host, token=""):
    """The names a backend lists at an address."""

    async def listed():
        backend = OllamaBackend(host, token=token)
        try:
            return [model.name for model in await backend.list_models()]
        finally:
            await backend.close()

    return asyncio.run(listed())


def keys_of(server):
    return [request.headers.get("authorization") for request in server.requests]


# ---- the token ----------------------------------------------------------------------------------


def test_the_token_is_sent():
    """A server on this machine gets it with every request."""
    with OllamaDouble() as server:
        assert models_at(server.host, TOKEN) == NAMES
        assert keys_of(server) == [f"Bearer {TOKEN}"]


def test_the_token_is_one_s_own_and_not_the_environment_s(monkeypatch):
    """What is set for Porthole wins over OLLAMA_API_KEY."""
    monkeypatch.setenv("OLLAMA_API_KEY", "other")
    with OllamaDouble() as server:
        models_at(server.host, TOKEN)
        assert keys_of(server) == [f"Bearer {TOKEN}"]


@pytest.mark.parametrize("key", ["two words", "schlüssel", "line\nbreak"])
def test_a_key_of_the_environment_that_is_none_is_left_out(monkeypatch, key):
    """What no header can hold is not sent, and repeated nowhere."""
    monkeypatch.setenv("OLLAMA_API_KEY", key)
    with OllamaDouble() as server:
        assert models_at(server.host) == NAMES
        assert keys_of(server) == [None]


def test_another_token_counts_from_the_next_request_on():
    """Settings that change take effect at once."""

    async def work(host):
        backend = OllamaBackend(host)
        await backend.list_models()
        backend.use(token=TOKEN, allow_cloud=False)
        await backend.list_models()
        backend.use(token="", allow_cloud=False)
        await backend.list_models()
        await backend.close()

    with OllamaDouble() as server:
        asyncio.run(work(server.host))
        assert keys_of(server) == [None, f"Bearer {TOKEN}", None]


@pytest.mark.parametrize("host", ["http://models.internal", "192.168.1.5:11434"])
def test_the_token_never_travels_in_plain_text(monkeypatch, host):
    """Over a network without https nothing is sent, and it is said what to do."""
    with OllamaDouble() as proxy:  # it would see whatever was sent
        monkeypatch.setenv("HTTP_PROXY", f"http://{proxy.host}")
        with pytest.raises(BackendRefused, match="The token was not sent to") as caught:
            models_at(host, TOKEN)
        assert proxy.requests == []
    assert "https://" in caught.value.remedy
    assert TOKEN not in str(caught.value)


def refused_with(answer, token=""):
    with OllamaDouble() as server:
        server.fail(answer, "/api/tags")
        with pytest.raises(EnvironmentFault) as caught:
            models_at(server.host, token)
        return caught.value, server.host


def test_a_server_that_wants_a_token():
    """A 401 without a token: who has one, and where it is set."""
    fault, host = refused_with(Answer(401, WANTED))
    assert fault.sentence == f"The server at http://{host} wants a token."
    assert "ollama.token" in fault.remedy


@pytest.mark.parametrize("body", [WANTED, "<html>401</html>", ""])
def test_a_server_that_refuses_the_token(body):
    """A 401 with one: it is wrong, whatever the server or a proxy says with it."""
    fault, host = refused_with(Answer(401, body), TOKEN)
    assert fault.sentence == f"The server at http://{host} refuses the token."
    assert fault.status == 401


def test_a_server_that_is_not_signed_in():
    """Models of ollama.com need an account there, which is not Porthole's token."""
    body = '{"error":"unauthorized","signin_url":"https://ollama.com/connect?x"}'
    fault, _ = refused_with(Answer(401, body))
    assert "not signed in" in fault.sentence
    assert "ollama signin" in fault.remedy


@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_server_that_repeats_the_token(status):
    """Its words are shown without it, and nothing of it is in the trace."""
    body = f'{{"error":"no such user: Bearer {TOKEN}"}}'
    fault, _ = refused_with(Answer(status, body), TOKEN)
    assert "no such user: Bearer …" in str(fault)
    assert TOKEN not in "".join(traceback.format_exception(fault))
    assert TOKEN not in repr(vars(fault))


# ---- https --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority():
    """A certificate authority of one's own, as of a self-hosted server."""
    return trustme.CA()


@contextlib.contextmanager
def https_before(server, certificate):
    """A proxy that speaks https and hands everything on to the server; gives its port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    is_over = threading.Event()

    def carry(source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    def serve():
        while True:
            raw, _ = listener.accept()
            if is_over.is_set():
                raw.close()
                return
            try:
                secure = context.wrap_socket(raw, server_side=True)
            except OSError:  # the client does not trust it, and has gone
                raw.close()
                continue
            with secure, socket.create_connection(("127.0.0.1", server.port)) as plain:
                request = secure.recv(65536)
                plain.sendall(request)
                plain.shutdown(socket.SHUT_WR)
                carry(plain, secure)

    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield port
    finally:
        is_over.set()
        socket.create_connection(("127.0.0.1", port)).close()  # wakes it
        thread.join()
        listener.close()


def pem_of(authority, tmp_path):
    file = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(file)
    return str(file)


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_a_self_hosted_server_is_reached_over_https(authority, tmp_path, monkeypatch, name):
    """The authority that SSL_CERT_FILE names is trusted, and the token goes there."""
    monkeypatch.setenv("SSL_CERT_FILE", pem_of(authority, tmp_path))
    with (
        OllamaDouble() as server,
        https_before(server, authority.issue_cert(name)) as port,
    ):
        assert models_at(f"https://{name}:{port}", TOKEN) == NAMES
        assert keys_of(server) == [f"Bearer {TOKEN}"]


def test_an_unknown_certificate_is_refused(authority):
    """Nothing is sent to a server that might be anybody, and it is said how to trust one's own."""
    with (
        OllamaDouble() as server,
        https_before(server, authority.issue_cert("127.0.0.1")) as port,
    ):
        with pytest.raises(BackendUnreachable) as caught:
            models_at(f"https://127.0.0.1:{port}", TOKEN)
        assert server.requests == []
    fault = caught.value
    place = f"https://127.0.0.1:{port}"
    assert fault.sentence.startswith(f"The certificate of the server at {place} is not trusted: ")
    assert "SSL_CERT_FILE" in fault.remedy
    assert "_ssl.c" not in str(fault)


def test_a_certificate_for_another_name_is_refused(authority, tmp_path, monkeypatch):
    """Whose certificate it is matters, even from an authority that is trusted."""
    monkeypatch.setenv("SSL_CERT_FILE", pem_of(authority, tmp_path))
    with (
        OllamaDouble() as server,
        https_before(server, authority.issue_cert("other.example")) as port,
        pytest.raises(BackendUnreachable, match=r"not trusted: .*not valid for"),
    ):
        models_at(f"https://127.0.0.1:{port}")


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_certificates_that_cannot_be_read(tmp_path, monkeypatch, content):
    """A wrong SSL_CERT_FILE is one sentence with its name."""
    file = tmp_path / "missing.pem"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with pytest.raises(BackendUnreachable, match=r"missing\.pem cannot be read"):
        models_at("https://127.0.0.1:9")


def test_plain_http_to_a_secure_server():
    """Go's own words for it become an address to set."""
    words = "Client sent an HTTP request to an HTTPS server.\n"
    fault, host = refused_with(Answer(400, words, "text/plain"))
    assert fault.sentence == f"The server at http://{host} speaks https only."
    assert "https://" in fault.remedy
