"""What an Ollama server's refusals mean, in words for the user. Pure.

The texts of many server versions are recognised here and nowhere else. Since 0.30 the server may
put a whole JSON document of its runner inside the error string; it is read too.
"""

import json
import re
from collections.abc import Callable
from typing import Any, Protocol

from engine.backends.ollama_wire import mapping, text
from engine.errors import (
    BackendFailed,
    BackendRefused,
    BackendSilent,
    BackendUnreachable,
    ContextOverflow,
    DownloadFailed,
    EnvironmentFault,
    MemoryShort,
    ModelMissing,
    ModelUnusable,
)
from engine.overflow import OverflowText, find_overflow

START_REMEDY = "Start Ollama (`ollama serve`), or set `ollama.host` to the address where it runs."
_LOG = "Ollama's own log says more."
_KEPT = "What had arrived is kept."
_PARTIAL_REMEDY = "What had arrived is kept. Send the message again to continue."
_MEMORY_REMEDY = "Choose a smaller context window or a smaller model, or close other programs."
_PULL_REMEDY = "Try again: what has arrived is kept by Ollama, and it continues there."
_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "UNKNOWN_PROTOCOL")
_WANTS_TLS = b"HTTP request to an HTTPS server"
_WORDS = 300  # characters of a server's own words that are shown


_GATEWAY = (502, 503, 504)
"""Statuses of a proxy whose server does not answer."""


class Explain(Protocol):
    """Makes a fault of a server's error text; `began` if part of the answer had come before."""

    def __call__(self, words: str, status: int = 0, *, began: bool = False) -> EnvironmentFault:
        """The fault; `status` is the HTTP status, 0 in the middle of a stream."""
        ...


_MEMORY = re.compile(
    r"more system memory|out[ -]of[ -]memory|insufficient memory|not enough memory"
    r"|(unable|failed) to allocate|cudaMalloc failed|signal: killed|ErrorOutOfDeviceMemory",
    re.IGNORECASE,
)
_ABSENT = re.compile(r"^model .*not found")
_LOAD_STALLED = re.compile(r"timed out waiting for (llama|runner)")
_UNUSABLE = re.compile(
    r"does not support (chat|generate)|(unknown|unsupported) model architecture"
    r"|invalid file magic|unable to load model|error loading model",
    re.IGNORECASE,
)
_DIED = re.compile(
    r"process has terminated|runner has unexpectedly stopped|error was encountered while running"
    r"|error parsing tool call|CUDA error|no longer running",
    re.IGNORECASE,
)


def not_ollama(place: str, status: int = 0) -> EnvironmentFault:
    """Something answers at `place`, and not as an Ollama server does."""
    with_status = f" (HTTP status {status})" if status else ""
    return BackendRefused(
        f"The address {place} answers{with_status}, but it is not an Ollama server.",
        "Set `ollama.host` to Ollama's address and port, usually 127.0.0.1:11434.",
        status=status,
    )


def unreachable(place: str, why: str = "", *, local: bool = True) -> BackendUnreachable:
    """Nothing answers at `place`; `why` is a few words, `local` if it is this machine."""
    reason = f" ({why})" if why else ""
    remedy = START_REMEDY if local else f"See that Ollama runs there and listens. {START_REMEDY}"
    return BackendUnreachable(f"No Ollama server answers at {place}{reason}.", remedy)


def lost(place: str) -> BackendUnreachable:
    """The connection was closed before any answer."""
    return BackendUnreachable(
        f"The server at {place} closed the connection before it answered.",
        "See that Ollama runs there (`ollama ps`) and that `ollama.host` is its address, then try "
        "again.",
    )


def cut(why: str) -> BackendFailed:
    """The reply stopped in the middle."""
    return BackendFailed(f"The reply was cut: {why}.", _PARTIAL_REMEDY)


def silent(seconds: float, *, answered: bool) -> BackendSilent:
    """Nothing was heard for `seconds`; `answered` if the reply had begun."""
    when = "in the middle of its answer" if answered else "while loading or reading"
    remedy = "See what it does (`ollama ps`), restart it if it hangs, then send the message again."
    return BackendSilent(
        f"Ollama said nothing for {seconds:g} seconds {when}.",
        " ".join((_KEPT, remedy) if answered else (remedy,)),
    )


def untrusted(place: str, why: str) -> BackendUnreachable:
    """The server's certificate does not hold; `why` are the words of the TLS library."""
    return BackendUnreachable(
        f"The certificate of the server at {place} is not trusted: {_shown(why)}",
        "If the server is yours, name the file with its CA certificate in SSL_CERT_FILE and start "
        "Porthole again.",
    )


def insecure(place: str, reason: str) -> BackendUnreachable:
    """No secure connection came about; `reason` is the TLS library's code for why."""
    if reason in _NO_TLS:
        return BackendUnreachable(
            f"The server at {place} does not speak https.",
            "Set `ollama.host` to its address with http:// before it.",
        )
    words = reason.lower().replace("_", " ") or "no reason was given"
    return BackendUnreachable(
        f"The secure connection to {place} failed: {words}.",
        "See whether the server speaks https, and whether its certificate is valid.",
    )


def no_certificates(path: str) -> BackendUnreachable:
    """The certificates that the user named cannot be read."""
    return BackendUnreachable(
        f"The certificates in {path} cannot be read.",
        "Correct SSL_CERT_FILE or SSL_CERT_DIR, and start Porthole again.",
    )


def cloud_model(model: str) -> ModelUnusable:
    """A model that runs on somebody else's machine; nothing was sent to it."""
    return ModelUnusable(
        f"The model “{model}” runs on ollama.com: your messages and files would leave this computer. "
        "Nothing was sent.",
        "Allow it with `ollama.allow_cloud` in the settings, or choose a model that is stored on "
        "your server.",
    )


def cloud_off(model: str) -> ModelUnusable:
    """A model of ollama.com, on a server that is told not to use it."""
    return ModelUnusable(
        f"The model “{model}” runs on ollama.com, which is switched off on the Ollama server.",
        "Choose a model that is stored there, or start the server without OLLAMA_NO_CLOUD.",
    )


def token_in_clear(place: str) -> BackendRefused:
    """A secret, and an address on the way to which anybody can read it; nothing was sent."""
    return BackendRefused(
        f"The token was not sent to {place}: without https, anybody on the way could read it.",
        "Set `ollama.host` to an address that begins with https://, or remove `ollama.token`.",
    )


def _unauthorized(words: Any, place: str, *, had_token: bool) -> BackendRefused:
    """The server wants to know who asks; `words` is its answer."""
    if text(mapping(words), "signin_url"):
        return BackendRefused(
            "This model runs on ollama.com, and the Ollama server is not signed in there.",
            "Run `ollama signin` on the server's machine, then try again.",
            status=401,
        )
    if had_token:
        return BackendRefused(
            f"The server at {place} refuses the token.",
            "Correct `ollama.token` in the settings.",
            status=401,
        )
    return BackendRefused(
        f"The server at {place} wants a token.",
        "Ask whoever runs it for one, and set `ollama.token` in the settings.",
        status=401,
    )


def hidden(words: str, secret: str) -> str:
    """A server's words without a secret that it repeats."""
    return words.replace(secret, "…") if secret else words


def missing(model: str, others: tuple[str, ...] = ()) -> ModelMissing:
    """No such model on the server, which has `others`."""
    choice = f" It has: {', '.join(others)}." if others else ""
    return ModelMissing(
        f"Ollama has no model named “{model}”.",
        f"Fetch it with `ollama pull {model}`, or choose another.{choice}",
    )


def refusal(
    status: int, body: bytes, *, place: str, explain: Explain | None = None, secret: str = ""
) -> EnvironmentFault:
    """The fault behind an answer with an error status; `body` is the whole answer.

    `secret` is the token that was sent with the request, "" for none.
    """
    if status == 401:
        return _unauthorized(_parsed(body), place, had_token=bool(secret))
    if status == 400 and _WANTS_TLS in body:
        return BackendRefused(
            f"The server at {place} speaks https only.",
            "Set `ollama.host` to its address with https:// before it.",
            status=status,
        )
    if status == 403 and not body.strip():
        return BackendRefused(
            f"Ollama at {place} refuses requests made under that address.",
            "Use its IP address in `ollama.host`, or allow the name with OLLAMA_ORIGINS there.",
            status=status,
        )
    words = hidden(error_words(_parsed(body)), secret)
    if not words and status in _GATEWAY:
        return BackendRefused(
            f"What stands before Ollama at {place} got no answer from it in time "
            f"(HTTP status {status}).",
            "See that Ollama runs behind that proxy, and let the proxy wait longer: loading a "
            "model may take minutes.",
            status=status,
        )
    if not words:
        return not_ollama(place, status)
    return (explain or chat_refusal)(words, status, began=False)


def chat_refusal(
    words: str, status: int = 0, *, began: bool = False, model: str = ""
) -> EnvironmentFault:
    """The fault behind a server's error text; `began` if part of the reply had come before."""
    if status == 404 and model:
        return missing(model)
    if (overflow := find_overflow(words)) is not None:
        return _overflow(overflow)
    for pattern, make in _MEANINGS:
        if pattern.search(words):
            return make(words, model)
    if model and words.startswith("ollama cloud is disabled"):
        return cloud_off(model)
    if began or _DIED.search(words):
        return _died(words, began=began)
    return BackendRefused(
        f"Ollama refused: {_shown(words)}", _remedy(words, status), status=status, detail=words
    )


def pull_refusal(
    words: str, status: int = 0, *, began: bool = False, model: str = ""
) -> EnvironmentFault:
    """The fault behind a server's error text while it fetches a model."""
    for pattern, sentence, remedy in _PULL_MEANINGS:
        if pattern.search(words):
            return DownloadFailed(sentence.format(model=model), remedy)
    return DownloadFailed(f"Ollama could not fetch {_named(model)}: {_shown(words)}", _PULL_REMEDY)


def is_about_thinking(fault: EnvironmentFault) -> bool:
    """Whether a request was refused for what it said of thinking, and nothing else is wrong."""
    words = fault.detail if isinstance(fault, BackendRefused) else ""
    return any(said in words for said in _NO_THINKING)


def pull_stopped(model: str) -> EnvironmentFault:
    """The fetching broke off in the middle."""
    sentence = f"Ollama stopped fetching “{model}” before it was complete."
    return DownloadFailed(sentence, _PULL_REMEDY)


def error_words(answer: Any) -> str:
    """The error text of an answer's JSON, empty when it is no error.

    Some servers put an object there, and some use a key that only begins with `error`.
    """
    holder = mapping(answer)
    for key, value in holder.items():
        if key.startswith("error") and value:
            inner = text(mapping(value), "message")
            words = value if isinstance(value, str) else inner or json.dumps(value)
            return words if key == "error" else f"{key}: {words}"
    return ""


# ---- meanings -----------------------------------------------------------------------------------


def _overflow(said: OverflowText) -> EnvironmentFault:
    prompt, window = said.prompt_tokens, said.window_tokens
    size = f" of {prompt:,} tokens" if prompt else ""
    room = f" of {window:,} tokens" if window else ""
    return ContextOverflow(
        f"The prompt{size} does not fit the context window{room}: nothing was cut or answered.",
        "Shorten the conversation, start a new one, or use a larger window.",
        prompt_tokens=prompt,
        window_tokens=window,
    )


def _memory(words: str, model: str) -> EnvironmentFault:
    known = re.search(r"\(([\d.]+ \w+)\) than is available \(([\d.]+ \w+)\)", words)
    sizes = f": it needs {known[1]}, {known[2]} are free" if known else ""
    return MemoryShort(
        f"The server has too little memory for {_named(model)} with this window{sizes}.",
        _MEMORY_REMEDY,
    )


def _stalled(words: str, model: str) -> EnvironmentFault:
    return BackendSilent(
        f"Ollama gave up loading {_named(model)}: it made no progress for too long.",
        "Try again; on a slow disk, set OLLAMA_LOAD_TIMEOUT=15m for the server.",
    )


def _unusable(words: str, model: str) -> EnvironmentFault:
    return ModelUnusable(
        f"Ollama cannot chat with {_named(model)}: {_shown(words)}", "Choose another model."
    )


def _died(words: str, *, began: bool) -> EnvironmentFault:
    again = _PARTIAL_REMEDY if began else "Send the message again."
    remedy = " ".join((again, _LOG))
    return BackendFailed(f"Ollama broke while it worked: {_shown(words)}", remedy)


def _absent(words: str, model: str) -> EnvironmentFault:
    return missing(model) if model else ModelMissing(_shown(words))


_MEANINGS: tuple[tuple[re.Pattern[str], Callable[[str, str], EnvironmentFault]], ...] = (
    (_MEMORY, _memory),
    (_LOAD_STALLED, _stalled),
    (_UNUSABLE, _unusable),
    (_ABSENT, _absent),
)

_PULL_MEANINGS = (
    (
        re.compile("manifest: file does not exist|invalid model name", re.IGNORECASE),
        "Ollama's library has no model named “{model}”.",
        "See https://ollama.com/library for the names it has.",
    ),
    (
        re.compile("no space left", re.IGNORECASE),
        "The server's disk is full: “{model}” does not fit.",
        "Make room there, then try again.",
    ),
    (
        re.compile("digest mismatch", re.IGNORECASE),
        "“{model}” arrived damaged, and Ollama threw the damaged part away.",
        "Try again: only that part is fetched once more.",
    ),
    (
        re.compile(r"dial tcp|lookup |no such host|network is unreachable|i/o timeout"),
        "The Ollama server cannot reach its library to fetch “{model}”.",
        "See that the server's machine is online, then try again.",
    ),
)


_NO_THINKING = ("does not support thinking", "invalid think value")


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:  # not JSON, or not UTF-8
        return None


def _remedy(words: str, status: int) -> str:
    if _NO_THINKING[0] in words:
        return "Turn thinking off for this model."
    if status == 503:
        return "It is busy with other requests: try again in a moment."
    return _LOG


def _named(model: str) -> str:
    return f"“{model}”" if model else "the model"


def _shown(words: str) -> str:
    """The server's words on one line, short, with a full stop."""
    line = " ".join(words.split())
    line = line if len(line) <= _WORDS else f"{line[:_WORDS].rstrip()}…"
    return line if line.endswith((".", "…", "!", "?")) else f"{line}."
