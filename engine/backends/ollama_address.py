"""Where an Ollama server is: the address as a person writes it, read as Ollama itself reads it.

`OLLAMA_HOST` forms: `host`, `host:port`, `:port`, `scheme://host[:port][/path]`, IPv6 bare or in
brackets, spaces and quotes around it. The port is 11434, with an explicit scheme 80 or 443.
A bind address (`0.0.0.0`, `::`) is not a place to connect to and means this machine.
"""

import ipaddress
import re
from dataclasses import dataclass

from engine.errors import BackendUnreachable

DEFAULT_PORT = 11434
_SCHEME_PORTS = {"http": 80, "https": 443}
_LOOPBACK = ("127.0.0.1", "::1")
# `localhost` may be either family, and a server bound to `::` listens on both.
_CANDIDATES = {
    "": _LOOPBACK,
    "localhost": _LOOPBACK,
    "0.0.0.0": ("127.0.0.1",),
    "::": ("::1", "127.0.0.1"),
}


@dataclass(frozen=True, slots=True)
class Address:
    """A server's place. `hosts` are tried in order and are all the same machine.

    `path` is a prefix without slashes around it; empty for none.
    """

    scheme: str
    hosts: tuple[str, ...]
    port: int
    path: str = ""

    @property
    def urls(self) -> tuple[str, ...]:
        """The base URLs to try, in order."""
        return tuple(self._url(host) for host in self.hosts)

    @property
    def loopback(self) -> bool:
        """Whether the server is this very machine, so that no proxy may come between."""
        return all(_is_loopback(host) for host in self.hosts)

    @property
    def private(self) -> bool:
        """Whether nobody on the way can read along, so that a secret may be sent."""
        return self.scheme == "https" or self.loopback

    @property
    def is_cloud(self) -> bool:
        """Whether it is ollama.com itself."""
        return any(f".{host.lower()}".endswith(".ollama.com") for host in self.hosts)

    def __str__(self) -> str:
        return self._url(self.hosts[0])

    def _url(self, host: str) -> str:
        shown = f"[{host}]" if ":" in host else host
        return f"{self.scheme}://{shown}:{self.port}" + (f"/{self.path}" if self.path else "")


def parse_address(text: str) -> Address:
    """Read an address as Ollama reads `OLLAMA_HOST`; an empty one is this machine, port 11434.

    Raises:
        BackendUnreachable: the scheme is neither http nor https, or a user is named.
    """
    bare = text.strip().strip("\"'").strip()
    if bare == "ollama.com":  # as Ollama does; nothing but the user's own words leads there
        return Address("https", (bare,), 443)
    scheme, separator, rest = bare.partition("://")
    if not separator:
        scheme, rest = "http", bare
    scheme = scheme.lower()
    if scheme not in _SCHEME_PORTS:
        raise BackendUnreachable(
            f"The Ollama address {text.strip()!r} cannot be used: it starts with {scheme}://.",
            "Set `ollama.host` to something like 127.0.0.1:11434 or https://server.example.",
        )
    default = _SCHEME_PORTS[scheme] if separator else DEFAULT_PORT
    place, _, path = rest.partition("/")
    if "@" in place:  # what is said of it holds no word of it
        raise BackendUnreachable(
            "The Ollama address has a user name in it, which is not used.",
            "Leave out what stands before the @. A token goes into `ollama.token`.",
        )
    host, port = _split(place, default)
    return Address(scheme, _hosts(scheme, host), port, path.strip("/"))


def _hosts(scheme: str, host: str) -> tuple[str, ...]:
    name = host.lower()
    if name == "localhost" and scheme == "https":
        return (host,)  # the certificate is for the name
    return _CANDIDATES.get(name, (host,))


def _split(place: str, default: int) -> tuple[str, int]:
    """Host and port; a port that is none, or out of range, is the default."""
    match = re.fullmatch(
        r"\[(?P<six>[^\[\]]*)\]:(?P<a>[^:]*)|(?P<name>[^:\[\]]*):(?P<b>[^:]*)", place
    )
    if match is None:
        return _plain_host(place), default
    port = match["a"] if match["six"] is not None else match["b"]
    valid = re.fullmatch(r"[0-9]{1,5}", port) is not None and int(port) <= 65535
    host = match["six"] if match["six"] is not None else match["name"]
    return _plain_host(host), int(port) if valid else default


def _plain_host(host: str) -> str:
    """An IP address in its shortest spelling, anything else as it is."""
    bare = host.strip("[]")
    try:
        return str(ipaddress.ip_address(bare))
    except ValueError:
        return host


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost" or host.lower().endswith(".localhost")
