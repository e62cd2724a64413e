"""A server that the contract suite asks: the Ollama double, or the one that PORTHOLE_OLLAMA names.

Asked with the standard library's HTTP client, so that nothing of ours is on both sides. Lengths
are asked of the server itself (`Peer.count`): the same assertions hold whatever a token is.
"""

import contextlib
import http.client
import json
import secrets
from dataclasses import dataclass
from datetime import datetime

import pytest

from engine.testing.ollama import OllamaDouble
from engine.testing.ollama_rules import Model, parse_version
from engine.testing.ollama_script import Reply
from engine.testing.ollama_state import LOAD_NS

PATIENCE = 600.0  # seconds without a byte after which a server is taken for dead
ROOM = 2048  # a window in which everything asked here fits
WINDOW = 512  # a window in which it does not
WORDS = ["the", "red", "fox", "ran", "over", "the", "old", "bridge", "at", "noon"]
ENDLESS = {"type": "array", "items": {"type": "integer"}, "minItems": 1500}
"""A format that keeps a real model writing; the double writes for as long without it."""
UNSUCH = "porthole-contract-no-such-model"


class Got:
    """A whole answer."""

    def __init__(self, response):
        self.status = response.status
        self.kind = response.getheader("Content-Type")
        self.raw = response.read()

    @property
    def json(self):
        return json.loads(self.raw)

    @property
    def lines(self):
        return [json.loads(line) for line in self.raw.split(b"\n") if line]

    @property
    def error(self):
        """Its status and its text, which is alone in the answer."""
        (text,) = self.json.values()
        return self.status, text


def sentence(words):
    """A text of so many words."""
    return " ".join(WORDS[index % len(WORDS)] for index in range(words))


def said(*texts):
    """Messages of a user and an assistant in turn, the user's first."""
    return [
        {"role": ("user", "assistant")[index % 2], "content": text}
        for index, text in enumerate(texts)
    ]


def with_system(text, messages):
    """The messages after a system prompt."""
    return [{"role": "system", "content": text}, *messages]


@dataclass
class Peer:
    """One server and one of its models that can chat.

    `path` is how the model's chats are run since 0.30: "rendered" or "native". `load_ns`: a model
    that took so long to be ready was loaded.
    """

    address: str
    model: str
    version: tuple
    path: str
    double: OllamaDouble | None = None
    load_ns: float = LOAD_NS / 3

    # ---- requests ----

    def connect(self):
        """A connection that is closed at the end of a `with`."""
        return contextlib.closing(http.client.HTTPConnection(self.address, timeout=PATIENCE))

    def ask(self, method, path, body=None, headers=None):
        """Send one request and read its whole answer."""
        data = json.dumps(body) if isinstance(body, dict) else body
        with self.connect() as connection:
            connection.request(method, path, data, headers or {})
            return Got(connection.getresponse())

    def post(self, path, **body):
        return self.ask("POST", path, body)

    def body(self, messages, *, window=ROOM, reply=4, **fields):
        """A chat request whose reply ends soon; `fields` of the request come on top."""
        if isinstance(messages, str):
            messages = said(messages)
        options = {"num_ctx": window, "num_predict": reply, **fields.pop("options", {})}
        return {"model": self.model, "messages": messages, "options": options} | fields

    def chat(self, messages, **fields):
        """The answer to a chat, in one piece."""
        return self.post("/api/chat", **self.body(messages, **{"stream": False, **fields}))

    def told(self, messages, **fields):
        """The only object of a chat that is answered."""
        got = self.chat(messages, **fields)
        assert got.status == 200, got.raw
        return got.json

    def endless(self):
        """Fields of a request whose reply does not end by itself."""
        return {"format": ENDLESS} if self.version >= (0, 5, 0) and self.double is None else {}

    # ---- questions ----

    def count(self, messages):
        """How many tokens the server counts in these messages."""
        return self.told(messages, reply=1)["prompt_eval_count"]

    def exactly(self, tokens, reach=8):
        """A message that the server counts so many tokens in."""
        words = tokens
        for _ in range(reach):
            text = " ".join(["the"] * words)
            if (counted := self.count(text)) == tokens:
                return text
            words += tokens - counted
        raise AssertionError(f"no message of exactly {tokens} tokens was found")

    def was_loaded(self, told):
        """Whether an answer had to wait for its model to be loaded."""
        return told["load_duration"] > self.load_ns

    def learn(self):
        """See how long a load takes here; being ready otherwise takes far less, but not nothing."""
        self.unload()
        self.load_ns = self.told("hi")["load_duration"] / 3

    def load(self, window=ROOM, **fields):
        """Have the model in memory with this window; the answer."""
        return self.told([], window=window, **fields)

    def unload(self):
        assert self.told([], keep_alive=0)["done"]
        assert self.goes()

    def loaded(self, model=""):
        """What the server says of the loaded model, None when it is not loaded."""
        listed = self.ask("GET", "/api/ps").json["models"]
        return next((item for item in listed if item["name"] == full(model or self.model)), None)

    def goes(self, model=""):
        """Whether a model goes out of memory: a server answers first and clears up then."""
        return self.comes_true(lambda: self.loaded(model) is None)

    def comes_true(self, is_so, looks=5000):
        """Whether something is so in the end."""
        return any(is_so() for _ in range(looks))

    def tag(self, model=""):
        """What the list of models says of one, None when it is not there."""
        listed = self.ask("GET", "/api/tags").json["models"]
        return next((item for item in listed if item["name"] == full(model or self.model)), None)

    @contextlib.contextmanager
    def derived(self, **fields):
        """A model made from this one for a while, by a copy or with `fields` by a creation.

        Its name is new, so that no model which was there before is touched.
        """
        name = f"porthole-contract-{secrets.token_hex(6)}"
        assert self.tag(name) is None
        if fields:
            made = self.post("/api/create", model=name, **{"from": self.model}, **fields)
        else:
            made = self.post("/api/copy", source=self.model, destination=name)
        assert made.status == 200, made.raw
        try:
            yield name
        finally:
            self.told([], model=name, keep_alive=0)
            self.ask("DELETE", "/api/delete", {"model": name})


def since(*version):
    """Marks a rule that older servers do not know: they are not asked."""
    return pytest.mark.peers(lambda peer: peer.version >= version)


def without(capability):
    """Marks a rule about models that cannot do something: others are not asked."""
    return pytest.mark.peers(lambda peer: capability not in peer.capabilities)


offline = pytest.mark.peers(lambda peer: not peer.is_real)
"""Marks a rule for which a real server would ask the net."""

nearby = pytest.mark.peers(lambda peer: peer.is_nearby)
"""Marks a rule of servers that are bound to loopback."""


@dataclass(frozen=True)
class Kind:
    """A server that may be asked, as far as it is known before any test.

    `capabilities` are those of its model. `is_nearby`: it is bound to loopback.
    """

    name: str
    version: tuple
    path: str = ""
    capabilities: frozenset = frozenset({"completion"})
    is_real: bool = False
    is_nearby: bool = True


def moment(text):
    """A point in time as Go writes it, nanoseconds and all."""
    return datetime.fromisoformat(text[:19] + text[19:].lstrip(".0123456789"))


def overflow(got):
    """The two sizes in a refusal of 0.30 and later: a document within the text."""
    status, text = got.error
    inner = json.loads(text)["error"]
    assert (status, inner["type"]) == (400, "exceed_context_size_error")
    return inner["n_prompt_tokens"], inner["n_ctx"]


def full(name):
    """A name with its tag."""
    return name if ":" in name else f"{name}:latest"


# ---- which servers there are --------------------------------------------------------------------


@contextlib.contextmanager
def double_peer(version, path):
    """A double of a version, whose only fault is to talk without end."""
    models = (Model("emb", capabilities=("embedding",)), Model("plain", path=path))
    with OllamaDouble(models, version=version) as double:
        double.always(Reply([f" {word}{index}" for index in range(500) for word in WORDS]))
        yield Peer(double.host, "plain", parse_version(version), path, double)


def real_peer(address, wanted=""):
    """The server at an address, and what its model can do.

    Raises LookupError when it has no small model that can chat.
    """
    asked = Peer(address, "", (0, 0, 0), "")
    version = parse_version(asked.ask("GET", "/api/version").json["version"])
    listed = sorted(asked.ask("GET", "/api/tags").json["models"], key=lambda item: item["size"])
    for name in [wanted] if wanted else [item["name"] for item in listed if _is_local(item)]:
        shown = asked.post("/api/show", model=name).json
        if "completion" in shown.get("capabilities", ["completion"]):
            peer = Peer(address, name, version, path_of(shown))
            return peer, frozenset(shown.get("capabilities", ["completion"]))
    raise LookupError(f"The Ollama server at {address} has no small model that can chat.")


def _is_local(item):
    return "remote_host" not in item and item["size"] < 2_000_000_000


def path_of(shown):
    """How a model's chats are run since 0.30, by what is shown of it.

    Natively when it has no Go template of its own: then its Jinja template is shown, or none.
    """
    own = "{%" not in shown["template"] and shown["template"] != "{{ .Prompt }}"
    return "rendered" if own or shown.get("renderer") or shown.get("parser") else "native"
