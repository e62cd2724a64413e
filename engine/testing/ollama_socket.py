"""HTTP/1.1 for an Ollama double: requests off a socket, answers onto it, and ways to break off.

Framing as Go's server does it: a document has a length, a stream is chunked with one JSON object
and a line feed in each chunk; `<`, `>`, `&` and two line separators are escaped in JSON.
"""

import asyncio
import json
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_REASONS = {200: "OK", 307: "Temporary Redirect", 400: "Bad Request", 403: "Forbidden"}
_ESCAPES = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}


@dataclass(slots=True)
class Request:
    """A request as it came. `body` is the first JSON value of `raw`, None when there is none.

    `left` becomes true when the client closed the connection before its answer was complete.
    """

    method: str
    target: str
    headers: Mapping[str, str]
    raw: bytes = b""
    body: Any = None
    left: bool = False

    @property
    def path(self) -> str:
        """The path alone, also of a request made to a proxy."""
        bare = self.target.partition("?")[0]
        return "/" + bare.partition("://")[2].partition("/")[2] if "://" in bare else bare


def go_json(value: Any) -> bytes:
    """Compact JSON as Go writes it, with a line feed."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return (text.translate(_ESCAPES) + "\n").encode()


def _first_value(raw: bytes) -> Any:
    """What Go's decoder takes of a body: the first JSON value."""
    try:
        return json.JSONDecoder().raw_decode(raw.decode().lstrip())[0]
    except ValueError:
        return None


@dataclass(slots=True)
class Wire:
    """One connection. `headless` while a HEAD request is answered, `broken` after `cut`."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    streaming: bool = False
    broken: bool = False
    headless: bool = False
    _buffer: bytearray = field(default_factory=bytearray)

    # ---- requests ----

    async def request(self) -> Request | None:
        """The next request, None when the client has closed."""
        while (end := self._buffer.find(b"\r\n\r\n")) < 0:
            if not await self._fill():
                return None
            if not self._buffer[:1].isalpha():  # a TLS greeting, say
                self.writer.write(
                    b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n400 Bad Request"
                )
                return None
        head = self._buffer[:end].decode("latin-1").split("\r\n")
        del self._buffer[: end + 4]
        method, target, _ = head[0].split(" ", 2)
        pairs = (line.partition(":") for line in head[1:])
        request = Request(method, target, {k.lower(): v.strip() for k, _, v in pairs})
        length = int(request.headers.get("content-length", "0"))
        while len(self._buffer) < length:
            if not await self._fill():
                return None
        request.raw = bytes(self._buffer[:length])
        del self._buffer[:length]
        request.body = _first_value(request.raw)
        self.streaming, self.headless = False, method == "HEAD"
        return request

    async def left(self) -> None:
        """Returns when the client has closed its end."""
        while await self._fill():
            pass

    async def _fill(self) -> bool:
        try:
            more = await self.reader.read(65536)
        except ConnectionError:
            more = b""
        self._buffer += more
        return bool(more)

    # ---- answers ----

    async def document(
        self, status: int, body: bytes, content_type: str, headers: Mapping[str, str] | None = None
    ) -> None:
        """A whole answer."""
        await self._head(
            status,
            {
                "Content-Type": content_type,
                "Content-Length": str(len(body)),
                **(headers or {}),
            },
        )
        if not self.headless:
            await self._write(body)

    async def json(self, status: int, value: Any) -> None:
        """A whole answer of one JSON object."""
        body = go_json(value).rstrip(b"\n")
        await self.document(status, body, "application/json; charset=utf-8")

    async def line(self, value: Any) -> None:
        """One object of a stream, which begins with the first."""
        await self.chunk(go_json(value))

    async def chunk(self, data: bytes) -> None:
        """Bytes of a stream as they are."""
        await self.begin()
        await self._write(b"%x\r\n%s\r\n" % (len(data), data))

    async def begin(self) -> None:
        """The head of a stream, once."""
        if not self.streaming:
            self.streaming = True
            head = {"Content-Type": "application/x-ndjson", "Transfer-Encoding": "chunked"}
            await self._head(200, head)

    async def end(self) -> None:
        """The clean end of a stream."""
        await self.begin()
        await self._write(b"0\r\n\r\n")

    async def half_chunk(self, data: bytes) -> None:
        """The beginning of a chunk that will never be complete."""
        await self.begin()
        await self._write(b"%x\r\n%s" % (len(data) * 2, data))

    def cut(self, *, reset: bool) -> None:
        """Close the connection where it is, orderly or with a reset. What is queued is dropped."""
        self.broken = True
        if reset:
            sock = self.writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    def close(self) -> None:
        """Close at the end; what is queued is still sent while the double runs."""
        self.writer.close()

    async def _head(self, status: int, headers: Mapping[str, str]) -> None:
        lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Status')}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        await self._write("\r\n".join([*lines, "", ""]).encode("latin-1"))

    async def _write(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()
