"""Talking to the Ollama double without anything of ours: the standard library's HTTP client, and raw
sockets where the bytes themselves matter."""

import contextlib
import http.client
import itertools
import json
import socket

_NAMES = itertools.count()
PATIENCE = 30  # seconds after which a test that waits has failed
USER = [{"role": "user", "content": "say something"}]
TOOLS = [{"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}]


class Got:
    """A whole answer."""

    def __init__(self, response):
        self.status = response.status
        self.kind = response.getheader("Content-Type")
        self.headers = response.headers
        self.raw = response.read()

    @property
    def json(self):
        return json.loads(self.raw)

    @property
    def lines(self):
        return [json.loads(line) for line in self.raw.split(b"\n") if line]

    @property
    def error(self):
        return self.status, self.json["error"]


def ask(server, method, path, body=None, headers=None):
    """Send one request and read its whole answer."""
    data = json.dumps(body) if isinstance(body, dict) else body
    with contextlib.closing(
        http.client.HTTPConnection("127.0.0.1", server.port, PATIENCE)
    ) as connection:
        connection.request(method, path, data, headers or {})
        return Got(connection.getresponse())


def chat(server, model="m", messages=USER, **fields):
    return ask(server, "POST", "/api/chat", {"model": model, "messages": messages, **fields})


def load(server, model="m", **options):
    return chat(server, model, [], options=options)


def processes(server):
    """What `/api/ps` tells, by the model's name."""
    models = ask(server, "GET", "/api/ps").json["models"]
    return {model["name"].partition(":")[0]: model for model in models}


def words(count, word="w"):
    return " ".join(f"{word}{index}" for index in range(count))


def overfull():
    """17,300 tokens in four messages."""
    return [
        {"role": "system", "content": words(300, "s")},
        {"role": "user", "content": words(6000, "a")},
        {"role": "assistant", "content": words(6000, "b")},
        {"role": "user", "content": words(5000, "c")},
    ]


def long_last():
    """A system prompt and one message that alone is longer than a window of 16,384."""
    return [
        {"role": "system", "content": words(300, "s")},
        {"role": "user", "content": words(17000, "a")},
    ]


class Waiting:
    """A request whose answer is not waited for; `leave` closes the connection."""

    def __init__(self, server, path="/api/chat", headers=None, **body):
        self.server = server
        self.socket = socket.create_connection(("127.0.0.1", server.port), PATIENCE)
        data = json.dumps(body).encode()
        self.name = str(next(_NAMES))
        pairs = {"Host": server.host, "Content-Length": len(data), "X-Name": self.name}
        pairs |= headers or {}
        lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in pairs.items())]
        head = "\r\n".join([*lines, "", ""])
        self.socket.sendall(head.encode() + data)
        server.wait_for(self._arrived)

    def _arrived(self):
        """Whether the server has the request; it is then known by its number."""
        mine = [r for r in self.server.requests if r.headers.get("x-name") == self.name]
        self.number = mine[0].number if mine else -1
        return bool(mine)

    def is_at(self, phase):
        """Wait until the request is in a phase."""
        self.server.wait_for(lambda: self.server.phases.get(self.number) == phase)
        return self

    def bytes(self):
        """Everything that comes until the server closes, or breaks."""
        received = bytearray()
        while data := self.socket.recv(65536):
            received += data
        return bytes(received)

    def answer(self):
        """The whole answer."""
        response = http.client.HTTPResponse(self.socket)
        response.begin()
        got = Got(response)
        self.leave()
        return got

    def is_silent(self):
        """Whether not a byte has come so far."""
        self.socket.setblocking(False)
        try:
            return not self.socket.recv(1)
        except BlockingIOError:
            return True
        finally:
            self.socket.settimeout(PATIENCE)

    def leave(self):
        """Close the connection."""
        self.socket.close()
        return self


@contextlib.contextmanager
def waiting(server, path="/api/chat", headers=None, **body):
    """A request under way, whose connection is closed at the end."""
    request = Waiting(server, path, headers, **body)
    try:
        yield request
    finally:
        request.leave()
