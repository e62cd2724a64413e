"""Speaking HTTP with an Ollama server: one request, one answer, every failure translated.

The transport is the `httpx` client inside `ollama`'s own `AsyncClient`. Its `chat()` cannot send
`truncate` and `shift`, and its stream reader splits lines at characters that JSON strings may
hold, so the request is made and the answer read here. There is no total time limit: what is
limited is silence, long while a model may be loading or reading, short within an answer.
No connection outlives its answer, so a server that restarts is never met on a dead one.
"""

import asyncio
import json
import os
import re
import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, cast

import certifi
import httpx
import ollama

from engine.backends import ollama_faults as faults
from engine.backends.ollama_address import Address
from engine.backends.ollama_wire import Json
from engine.errors import (
    BackendFailed,
    BackendRefused,
    BackendUnreachable,
    Bug,
    PortholeError,
)

CONNECT_SECONDS = 5.0
_MOST_BYTES = 64 * 1024 * 1024  # of one JSON document; an endless one is no Ollama server's


@dataclass(frozen=True, slots=True)
class Ask:
    """A request: where, what, how long silence may last, and what an error text means.

    `first` is the longest silence before the first byte of the answer, `gap` the longest within
    it; seconds.
    """

    method: str
    path: str
    first: float
    gap: float
    body: Json | None = None
    explain: faults.Explain = faults.chat_refusal


@dataclass(frozen=True, slots=True)
class Where:
    """Which server, whether it is this machine, and whether its answer had begun."""

    place: str
    local: bool = True
    answered: bool = False


class Answer:
    """A successful answer that is being read: JSON objects, one a line, or one document."""

    def __init__(
        self, chunks: AsyncGenerator[bytes, None], ask: Ask, where: Where, secret: str = ""
    ) -> None:
        self._chunks = chunks
        self._ask = ask
        self._where = where
        self._secret = secret  # the token it was asked with
        self._buffer = bytearray()
        self._began = False

    @property
    def place(self) -> str:
        """The server's address for people."""
        return self._where.place

    async def whole(self) -> bytes:
        """All bytes of the answer."""
        while await self._fill():
            pass
        return bytes(self._buffer)

    async def document(self) -> Json:
        """The whole answer as one JSON object. Raises the fault it may hold instead."""
        return self._object(await self.whole())

    async def line(self) -> Json | None:
        """The next object, None at a clean end. Raises the fault it may hold instead."""
        while (raw := await self._raw_line()) is not None:
            if raw.strip():
                return self._object(raw)
        return None

    async def _raw_line(self) -> bytes | None:
        """Bytes up to a line feed, and no other character that might be taken for a line's end."""
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = end = len(self._buffer)
            if not await self._fill():
                if not self._buffer:
                    return None
                break
        raw = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return raw

    async def _fill(self) -> bool:
        """Read more into the buffer; false at the end. Silence and size are limited."""
        began = self._where.answered
        seconds = self._ask.gap if began else self._ask.first
        with translated(self._where):
            async with _silence_limit(seconds, answered=began):
                try:
                    more = await anext(self._chunks)
                except StopAsyncIteration:
                    return False
        self._where = Where(self._where.place, self._where.local, answered=True)
        self._buffer += more
        if len(self._buffer) > _MOST_BYTES:
            raise faults.not_ollama(self._where.place)
        return True

    def _object(self, raw: bytes) -> Json:
        try:
            value: Any = json.loads(raw.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            if self._began:
                raise faults.cut("the connection ended in the middle of a line, or sent no JSON")
            raise faults.not_ollama(self._where.place)
        if words := faults.hidden(faults.error_words(value), self._secret):
            raise self._ask.explain(words, began=self._began)
        self._began = True
        return value


class Connection(ollama.AsyncClient):
    """The way to one server, which never changes. `close()` ends it.

    Args:
        address: the server's.
        token: what it may want to see of whoever asks; "" for OLLAMA_API_KEY, or nothing. It may
            be another one from the next request on.
    """

    def __init__(self, address: Address, token: str = "") -> None:
        self._address = address
        self.token = token
        # Reading the certificates takes a tenth of a second, and plain http to this machine has
        # no use for them: no redirect or proxy can turn it into https.
        secure = address.scheme == "https" or not address.loopback
        try:
            super().__init__(
                str(address),
                follow_redirects=False,  # a redirect could lead to another machine
                trust_env=not address.loopback,  # proxies catch local traffic otherwise
                verify=_trusted() if secure else False,
                timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
                limits=httpx.Limits(max_keepalive_connections=0),
                headers={
                    "Accept-Encoding": "identity",  # a compressing proxy would hold tokens
                    "Authorization": "none",  # else ollama's client puts OLLAMA_API_KEY there
                },
            )
        except (ValueError, httpx.InvalidURL) as error:  # a host that is none
            raise _bad_address(error, Where(str(address))) from error
        self._client.headers.pop("authorization", None)

    async def close(self) -> None:
        """Give up the way; nothing may be asked afterwards."""
        await self._client.aclose()

    @asynccontextmanager
    async def ask(self, ask: Ask) -> AsyncIterator[Answer]:
        """Send a request; inside, its answer is read. Leaving early closes the connection.

        Raises:
            EnvironmentFault: nobody there, refused, silent, not an Ollama server, or the token
                would travel in plain text.
        """
        where = Where(str(self._address), self._address.loopback)
        if self.token and not self._address.private:
            raise faults.token_in_clear(where.place)
        secret = self.token or self._key()
        # ASCII JSON: a lone surrogate, which the user's text may hold, has no UTF-8 form.
        content = None if ask.body is None else json.dumps(ask.body).encode("ascii")
        with translated(where):
            async with _silence_limit(ask.first, answered=False):
                response = await self._send(ask, content, secret)
        try:
            # Typed as an iterator; it is a generator, and must not be left half read.
            chunks = cast(AsyncGenerator[bytes, None], response.aiter_bytes())
            async with aclosing(chunks):
                answer = Answer(chunks, ask, where, secret)
                if not response.is_success:
                    raise await _refused(response, answer, ask, secret)
                yield answer
        finally:
            await response.aclose()

    def _key(self) -> str:
        """OLLAMA_API_KEY, where it may be sent: it is not for others on the way to read."""
        key = os.environ.get("OLLAMA_API_KEY", "").strip()
        return key if self._address.private and re.fullmatch(r"[!-~]+", key) else ""

    async def _send(self, ask: Ask, content: bytes | None, secret: str) -> httpx.Response:
        """The answer's head, from the first of the address's hosts that can be reached."""
        *others, last = self._address.urls
        for url in others:
            try:
                return await self._send_to(url, ask, content, secret)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
        return await self._send_to(last, ask, content, secret)

    async def _send_to(
        self, url: str, ask: Ask, content: bytes | None, secret: str
    ) -> httpx.Response:
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        request = self._client.build_request(
            ask.method, url + ask.path, content=content, headers=headers
        )
        response: httpx.Response = await self._client.send(request, stream=True)
        return response


async def _refused(
    response: httpx.Response, answer: Answer, ask: Ask, secret: str
) -> PortholeError:
    """The fault of an answer whose status is no success."""
    place, status = answer.place, response.status_code
    if response.is_redirect:
        target = response.headers.get("location", "")
        return BackendRefused(
            f"The server at {place} sends requests on to {target!r}, which is not followed.",
            "Set `ollama.host` to Ollama's own address.",
            status=status,
        )
    body = await answer.whole()
    return faults.refusal(status, body, place=place, explain=ask.explain, secret=secret)


def _trusted() -> ssl.SSLContext:
    """The authorities whose certificates count: the system's and those all browsers know, or only
    those that SSL_CERT_FILE or SSL_CERT_DIR name.

    Raises BackendUnreachable when those cannot be read.
    """
    file, folder = (os.environ.get(name) or None for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"))
    try:
        context = ssl.create_default_context(cafile=file, capath=folder)
    except OSError as error:  # ssl's own are a kind of it
        raise faults.no_certificates(file or folder or "") from error
    if not file and not folder:
        context.load_verify_locations(certifi.where())
    return context


@asynccontextmanager
async def _silence_limit(seconds: float, *, answered: bool) -> AsyncIterator[None]:
    """Raises BackendSilent when what is inside takes longer."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise faults.silent(seconds, answered=answered) from None


# ---- foreign exceptions -------------------------------------------------------------------------


@contextmanager
def translated(where: Where) -> Iterator[None]:
    """Turns what the transport raises into our faults."""
    try:
        yield
    except FOREIGN as error:
        raise fault_of(error, where) from error


def fault_of(error: Exception, where: Where) -> PortholeError:
    """Our fault for a foreign exception of one of the `MEANINGS` (or a subclass of one)."""
    for kind in type(error).__mro__:
        if issubclass(kind, Exception) and kind in MEANINGS:
            return MEANINGS[kind](error, where)
    return Bug(f"untranslated {type(error).__name__}: {error}")


def _no_connection(error: Exception, where: Where) -> PortholeError:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, socket.gaierror):
            return faults.unreachable(where.place, "no such host name", local=where.local)
        if isinstance(cause, ssl.SSLCertVerificationError):
            return faults.untrusted(where.place, cause.verify_message)
        if isinstance(cause, ssl.SSLError):
            return faults.insecure(where.place, cause.reason or "")
        cause = cause.__cause__ or cause.__context__
    return faults.unreachable(where.place, local=where.local)


def _connect_timeout(error: Exception, where: Where) -> PortholeError:
    why = f"no connection within {CONNECT_SECONDS:g} seconds"
    return faults.unreachable(where.place, why, local=where.local)


def _broken(error: Exception, where: Where) -> PortholeError:
    if where.answered:
        return faults.cut("the server closed the connection")
    return faults.lost(where.place)


def _protocol(error: Exception, where: Where) -> PortholeError:
    if where.answered or "disconnected" in str(error):
        return _broken(error, where)
    return faults.not_ollama(where.place)


def _unreadable(error: Exception, where: Where) -> PortholeError:
    if where.answered:
        return faults.cut("the server sent something that cannot be read")
    return faults.not_ollama(where.place)


def _not_sent(error: Exception, where: Where) -> PortholeError:
    return BackendFailed(f"The request to {where.place} could not be sent: {error}.")


def _too_slow(error: Exception, where: Where) -> PortholeError:
    return faults.silent(CONNECT_SECONDS, answered=where.answered)


def _bad_proxy(error: Exception, where: Where) -> PortholeError:
    return BackendUnreachable(
        f"The proxy on the way to {where.place} does not let the request through: {error}.",
        "Correct HTTP_PROXY, or add the server to NO_PROXY.",
    )


def _bad_address(error: Exception, where: Where) -> PortholeError:
    return BackendUnreachable(
        f"The Ollama address {where.place} cannot be used: {error}.",
        "Set `ollama.host` to something like 127.0.0.1:11434 or https://server.example.",
    )


def _refused_by(error: Exception, where: Where) -> PortholeError:
    return BackendRefused(f"The server at {where.place} answered in a way not expected: {error}.")


def _misuse(error: Exception, where: Where) -> PortholeError:
    return Bug(f"{type(error).__name__}: {error}")


Translation = Callable[[Exception, Where], PortholeError]
MEANINGS: dict[type[Exception], Translation] = {
    httpx.ConnectError: _no_connection,
    httpx.ConnectTimeout: _connect_timeout,
    httpx.ReadTimeout: _too_slow,
    httpx.WriteTimeout: _too_slow,
    httpx.PoolTimeout: _too_slow,
    httpx.TimeoutException: _too_slow,
    httpx.ReadError: _broken,
    httpx.WriteError: _broken,
    httpx.CloseError: _broken,
    httpx.NetworkError: _broken,
    httpx.ProxyError: _bad_proxy,
    httpx.UnsupportedProtocol: _bad_address,
    httpx.InvalidURL: _bad_address,
    httpx.LocalProtocolError: _not_sent,
    httpx.RemoteProtocolError: _protocol,
    httpx.ProtocolError: _protocol,
    httpx.DecodingError: _unreadable,
    httpx.TooManyRedirects: _refused_by,
    httpx.CookieConflict: _refused_by,
    httpx.HTTPStatusError: _refused_by,
    httpx.TransportError: _broken,
    httpx.RequestError: _broken,
    httpx.HTTPError: _broken,
    httpx.StreamConsumed: _misuse,
    httpx.StreamClosed: _misuse,
    httpx.ResponseNotRead: _misuse,
    httpx.RequestNotRead: _misuse,
    httpx.StreamError: _misuse,
    OSError: _broken,
}
"""What every exception of the transport means."""

FOREIGN = tuple(MEANINGS)
