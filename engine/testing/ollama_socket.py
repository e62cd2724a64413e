"""HTTP/1.1 for an Ollama double: requests off a socket, answers onto it, and ways to break off.

Framing as Go's server does it: a document has a length, a stream is chunked with one JSON object
and a line feed in each chunk; `<`, `>`, `&` and two line separators are escaped in JSON.
"""

import asyncio
import http
import itertools
import json
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

_REASONS = {status.value: status.phrase for status in http.HTTPStatus}
Chunking = Literal["", "two", "split", "characters", "bytes"]
_ESCAPES = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}


@dataclass(slots=True)
class Request:
    """A request as it came. `body` is the first JSON value of `raw`, None when there is none.

    `left` becomes true when the client closed the connection before its answer was complete.
    `number` counts the requests of a double, from 0.
    """

    method: str
    target: str
    headers: Mapping[str, str]
    raw: bytes = b""
    body: Any = None
    left: bool = False
    number: int = 0

    @property
    def path(self) -> str:
        """The path alone, also of a request made to a proxy."""
        bare = self.target.partition("?")[0]
        return "/" + bare.partition("://")[2].partition("/")[2] if "://" in bare else bare


def go_json(value: Any) -> bytes:
    """Compact JSON as Go writes it, with a line feed."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return (text.translate(_ESCAPES) + "\n").encode()


def chunks_of(data: bytes, how: Chunking) -> list[bytes]:
    """An object's line in one or more pieces; "characters" ends one inside each long character."""
    if how == "bytes":
        cuts = list(range(1, len(data)))
    elif how == "split":
        cuts = [len(data) // 3, 2 * len(data) // 3]
    elif how == "characters":
        cuts = [place + 1 for place, byte in enumerate(data) if byte >= 0xC0]
    else:
        cuts = []
    edges = [0, *cuts, len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


def _first_value(raw: bytes) -> Any:
    """What Go's decoder takes of a body: the first JSON value."""
    try:
        return json.JSONDecoder().raw_decode(raw.decode().lstrip())[0]
    except ValueError:
        return None


@dataclass(slots=True)
class Wire:
    """One connection. `headless` while a HEAD request is answered, `broken` after `cut`.

    `chunking` is how the objects of a stream are put into chunks, where not one into each.
    """

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    streaming: bool = False
    broken: bool = False
    headless: bool = False
    chunking: Chunking = ""
    _held: bytes = b""
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
        raw = await self._body(request.headers)
        if raw is None:
            return None
        request.raw, request.body = raw, _first_value(raw)
        self.streaming, self.headless, self.chunking = False, method == "HEAD", ""
        return request

    async def _body(self, headers: Mapping[str, str]) -> bytes | None:
        """A request's body, None when the client closed before its end."""
        if headers.get("transfer-encoding", "").lower() != "chunked":
            return await self._taken(int(headers.get("content-length", "0")))
        whole = bytearray()
        while True:
            while (end := self._buffer.find(b"\r\n")) < 0:
                if not await self._fill():
                    return None
            size = int(bytes(self._buffer[:end]).partition(b";")[0], 16)
            del self._buffer[: end + 2]
            chunk = await self._taken(size + 2)
            if chunk is None or not size:
                return None if chunk is None else bytes(whole)
            whole += chunk[:-2]

    async def _taken(self, length: int) -> bytes | None:
        while len(self._buffer) < length:
            if not await self._fill():
                return None
        taken = bytes(self._buffer[:length])
        del self._buffer[:length]
        return taken

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

    async def json(
        self, status: int, value: Any, content_type: str = "application/json; charset=utf-8"
    ) -> None:
        """A whole answer of one JSON object."""
        await self.document(status, go_json(value).rstrip(b"\n"), content_type)

    async def line(self, value: Any) -> None:
        """One object of a stream, which begins with the first."""
        data = go_json(value)
        if self.chunking == "two" and not self._held:
            self._held = data
            return
        data, self._held = self._held + data, b""
        for part in chunks_of(data, self.chunking):
            await self.chunk(part)

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
        if self._held:
            held, self._held = self._held, b""
            await self.chunk(held)
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
