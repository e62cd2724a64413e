"""The endpoints of an Ollama double that tell, load and chat, on top of its state and rules."""

import hashlib
import ipaddress
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from engine.testing import ollama_faults as faults
from engine.testing import ollama_listings as listings
from engine.testing import ollama_rules as rules
from engine.testing import ollama_storage as storage
from engine.testing.ollama_exchange import Body, Exchange, never
from engine.testing.ollama_generation import Generation
from engine.testing.ollama_rules import Model, Refusal
from engine.testing.ollama_scheduler import GaveUp, Want
from engine.testing.ollama_socket import Request
from engine.testing.ollama_state import State

_STREAMS = ("/api/chat", "/api/generate", "/api/pull")
Handler = Callable[[Exchange], Awaitable[None]]


async def answer(exchange: Exchange) -> None:
    """Answer a request, faults included."""
    request, wire = exchange.request, exchange.wire
    exchange.enter("asking")
    if not _is_allowed(request.headers, exchange.state.version):
        exchange.how = "refused"
        await wire.document(403, b"", "text/plain")
        return
    place = _fault_place(request)
    exchange.fault = exchange.state.script.next_fault(place)
    if await _broke(exchange, streams=place in _STREAMS):
        return
    try:
        await _routed(exchange)
    except Refusal as refusal:
        await _refuse(exchange, refusal)
    except GaveUp:
        exchange.how = "broken"
        fault = exchange.fault
        page = fault if isinstance(fault, faults.Impatient) else faults.Impatient()
        await wire.document(page.status, page.body.encode(), "text/html")


def _fault_place(request: Request) -> str:
    """The name under which a fault for this request is scripted."""
    holder = {"/api/chat": "messages", "/api/generate": "prompt"}.get(request.path)
    body = request.body if isinstance(request.body, dict) else {}
    return request.path if holder is None or body.get(holder) else "load"


async def _broke(exchange: Exchange, *, streams: bool) -> bool:
    """Whether a fault answered instead; within streams, most have their own place."""
    wire, fault = exchange.wire, exchange.fault
    before, exchange.how = exchange.how, "broken"
    match fault:
        case faults.Close():
            wire.cut(reset=False)
        case faults.Answer(status=status, body=body, content_type=kind, headers=headers):
            exchange.how = "refused" if status >= 400 else "broken"
            await wire.document(status, body.encode(), kind, dict(headers))
        case None | faults.LoadFails() | faults.Impatient():
            exchange.how = before
            return False
        case _ if streams:
            exchange.how = before
            return False
        case faults.Error(text=text, status=status, key=key):
            exchange.how = "refused"
            await wire.json(status, {key: text})
        case faults.Drop(reset=reset):
            await wire.half_chunk(b'{"mod')
            wire.cut(reset=reset)
        case faults.Silence():
            await never()
        case _:
            await wire.end()
    return True


async def _refuse(exchange: Exchange, refusal: Refusal) -> None:
    """An error text: with its status, or as a line once a stream has begun."""
    exchange.how = "refused"
    if exchange.wire.streaming:
        await exchange.wire.line({"error": refusal.text})
        await exchange.wire.end()
    else:
        await exchange.wire.json(refusal.status, {"error": refusal.text})


async def _routed(exchange: Exchange) -> None:
    request, version = exchange.request, exchange.state.version
    blob = request.path.startswith("/api/blobs/")
    routes = _ROUTES.get("/api/blobs/" if blob else request.path, {})
    handler, since = routes.get(request.method, (None, (0, 0, 0)))
    known = [name for name, (_, first) in routes.items() if version >= first]
    if handler is None and known and version >= (0, 7, 0):
        await exchange.wire.document(405, b"405 method not allowed", "text/plain")
    elif handler is None or version < since:
        await exchange.wire.document(404, b"404 page not found", "text/plain")
    else:
        if request.method in ("POST", "DELETE") and not blob:
            _check_body(request)
        await handler(exchange)


def _is_allowed(headers: Mapping[str, str], version: rules.Version) -> bool:
    """Whether a server on loopback serves this Host and Origin; before 0.1.29 any Host."""
    host = headers.get("host", "").rpartition(":")[0].strip("[]") or headers.get("host", "")
    local = host == "localhost" or version < (0, 1, 29) or _is_private(host)
    named = host.endswith((".localhost", ".local", ".internal"))
    origin = headers.get("origin", "")
    own = not origin or origin.startswith(
        ("http://localhost", "http://127.0.0.1", "http://0.0.0.0", "app://", "file://")
    )
    return (local or named) and own


def _is_private(host: str) -> bool:
    """Whether this is an address of this machine or of a private network."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_private or address.is_unspecified


def _check_body(request: Request) -> None:
    """Raises Refusal 400 for a body that is no JSON object."""
    if not request.raw.strip():
        raise Refusal(400, "missing request body")
    if request.body is None:
        raise Refusal(400, "unexpected EOF")
    if not isinstance(request.body, dict):
        raise Refusal(400, "json: cannot unmarshal array into Go value of type api.ChatRequest")


# ---- what there is ------------------------------------------------------------------------------


async def _root(exchange: Exchange) -> None:
    await exchange.wire.document(200, b"Ollama is running", "text/plain; charset=utf-8")


async def _version(exchange: Exchange) -> None:
    await exchange.wire.json(200, {"version": exchange.state.version_text})


async def _status(exchange: Exchange) -> None:
    await exchange.wire.json(200, {"cloud": {"disabled": False, "source": "none"}})


async def _tags(exchange: Exchange) -> None:
    await exchange.wire.json(200, {"models": listings.tags(exchange.state)})


async def _ps(exchange: Exchange) -> None:
    await exchange.wire.json(200, {"models": listings.processes(exchange.state)})


async def _show(exchange: Exchange) -> None:
    state = exchange.state
    name = exchange.named(Refusal(400, "model is required"))
    try:
        model = state.model(name)
    except Refusal:
        shown = rules.full_name(name) if state.version >= rules.LLAMA_SERVER else name
        raise Refusal(404, f"model '{shown}' not found") from None
    await exchange.wire.json(200, listings.show(state, model))


# ---- chat and generate --------------------------------------------------------------------------


async def _chat(exchange: Exchange) -> None:
    body = exchange.body
    name = exchange.named(Refusal(400, "model is required"))
    try:
        model = exchange.state.model(name)
    except Refusal:
        if exchange.state.version >= (0, 3, 11):
            raise
        raise Refusal(404, f'model "{name}" not found, try pulling it first') from None
    messages = _checked_messages(body)
    if messages:
        messages = _with_modelfile(model, messages)
    await _run(exchange, model, messages, "message")


def _with_modelfile(model: Model, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages of a model's Modelfile before those of the request."""
    messages = [*(dict(message) for message in model.messages), *messages]
    if model.system and messages[0].get("role") != "system":
        messages.insert(0, {"role": "system", "content": model.system})
    return messages


async def _generate(exchange: Exchange) -> None:
    body = exchange.body
    name = exchange.named(Refusal(404, "model '' not found"))
    model = exchange.state.model(name)
    if body.get("raw") and (body.get("system") or body.get("template") or body.get("context")):
        raise Refusal(400, "raw mode does not support template, system, or context")
    messages: list[dict[str, Any]] = []
    if prompt := body.get("prompt"):
        system = body.get("system") or ("" if body.get("raw") else model.system)
        messages = [{"role": "system", "content": system}] if system else []
        images = {"images": body["images"]} if body.get("images") else {}
        messages.append({"role": "user", "content": prompt, **images})
    await _run(exchange, model, messages, "response")


def _checked_messages(body: Body) -> list[dict[str, Any]]:
    messages = body.get("messages") or []
    for message in messages:
        if not isinstance(message, dict):
            raise Refusal(
                400,
                "json: cannot unmarshal string into Go struct field "
                "ChatRequest.messages of type api.Message",
            )
        if not isinstance(message.get("content", ""), str):
            raise Refusal(
                400,
                "json: cannot unmarshal object into Go struct field "
                "ChatRequest.messages.content of type string",
            )
        for call in message.get("tool_calls") or []:
            if not isinstance(call["function"]["arguments"], dict):
                raise Refusal(400, "Value looks like object, but can't find closing '}' symbol")
    return [dict(message, role=str(message.get("role", "")).lower()) for message in messages]


async def _run(
    exchange: Exchange, model: Model, messages: list[dict[str, Any]], field: str
) -> None:
    """Load a model; with messages, also answer them. `field` holds the text of each object."""
    state, body = exchange.state, exchange.body
    think = _checked(body, model, state, field)
    keep_alive = body.get("keep_alive")
    seconds = None if keep_alive is None else rules.keep_alive_seconds(keep_alive)
    if not messages and seconds == 0 and state.version >= (0, 3, 11):
        exchange.scheduler.unload(model)
        await _loaded(exchange, model, field, "unload")
        return
    options, wanted = state.options_for(body, model)
    want = Want(model, wanted, exchange.number, seconds, exchange.fault)
    lease = await exchange.scheduler.lease(want)
    try:
        if not messages:
            await _loaded(exchange, model, field, "load")
            return
        exchange.enter("queued")
        await lease.enter()
        exchange.enter("reading")
        keep = options.get("num_keep", 4)
        seen, cut = state.read(lease.runner, model, messages, body, keep, exchange.number)
        run = Generation(exchange, lease, seen, cut, field)
        reply = state.script.next_reply(seen)
        await run.answer(reply, think=think, num_predict=options.get("num_predict", -1))
    finally:
        lease.give_back()


def _checked(body: Body, model: Model, state: State, field: str) -> bool:
    """Whether the model thinks for this request. Raises Refusal for what it cannot do."""
    think = rules.checked_think(body.get("think"), state.version)
    if not 0 <= (body.get("top_logprobs") or 0) <= 20:
        raise Refusal(400, "top_logprobs must be between 0 and 20")
    if "completion" not in model.capabilities:
        kind = "chat" if field == "message" else "generate"
        raise Refusal(400, f'"{body["model"]}" does not support {kind}')
    if body.get("tools") and "tools" not in model.capabilities:
        raise Refusal(400, f"registry.ollama.ai/library/{model.full_name} does not support tools")
    if think and "thinking" not in model.capabilities:
        raise Refusal(400, f'"{body["model"]}" does not support thinking')
    shape: Any = body.get("format")
    if shape not in (None, "", "json") and not isinstance(shape, dict):
        quoted = json.dumps(json.dumps(shape))  # as it was sent, quoted once more
        raise Refusal(
            500, f'invalid format: {quoted}; expected "json" or a valid JSON Schema object'
        )
    return think is not False and "thinking" in model.capabilities


async def _loaded(exchange: Exchange, model: Model, field: str, reason: str) -> None:
    """The answer to a request that generates nothing: one document, also for a stream."""
    empty: Any = {"role": "assistant", "content": ""} if field == "message" else ""
    await exchange.wire.json(
        200,
        {
            "model": exchange.body["model"],
            "created_at": exchange.state.stamp(),
            field: empty,
            "done": True,
            "done_reason": reason,
        },
    )


# ---- embed --------------------------------------------------------------------------------------


async def _embed(exchange: Exchange) -> None:
    """Vectors that depend on the texts alone."""
    state, body = exchange.state, exchange.body
    name = exchange.named(Refusal(404, 'model "" not found, try pulling it first'))
    try:
        model = state.model(name)
    except Refusal:
        raise Refusal(404, f'model "{name}" not found, try pulling it first') from None
    _, wanted = state.options_for(body, model)
    keep_alive = body.get("keep_alive")
    seconds = None if keep_alive is None else rules.keep_alive_seconds(keep_alive)
    lease = await exchange.scheduler.lease(
        Want(model, wanted, exchange.number, seconds, exchange.fault)
    )
    try:
        texts = body.get("input") or []
        texts = [texts] if isinstance(texts, str) else texts
        words = [text.split() * model.tokens_per_word for text in texts]
        window = state.live_window(lease.runner)
        if body.get("truncate") is False and any(len(some) > window for some in words):
            raise Refusal(400, "the input length exceeds the context length")
        counted = sum(min(len(some), window) for some in words)
        answered: dict[str, Any] = {"model": name, "embeddings": [_vector(text) for text in texts]}
        answered |= {"total_duration": lease.load_ns, "load_duration": lease.load_ns}
        await exchange.wire.json(
            200, answered | ({"prompt_eval_count": counted} if counted else {})
        )
    finally:
        lease.give_back()


def _vector(text: str) -> list[float]:
    digest = hashlib.sha256(text.encode()).digest()[:8]
    length = sum(byte * byte for byte in digest) ** 0.5
    return [byte / length for byte in digest]


_ROUTES: dict[str, dict[str, tuple[Handler, rules.Version]]] = {
    "/": {"GET": (_root, (0, 0, 0)), "HEAD": (_root, (0, 0, 0))},
    "/api/version": {"GET": (_version, (0, 0, 0)), "HEAD": (_version, (0, 0, 0))},
    "/api/status": {"GET": (_status, (0, 16, 2))},
    "/api/tags": {"GET": (_tags, (0, 0, 0)), "HEAD": (_tags, (0, 0, 0))},
    "/api/ps": {"GET": (_ps, (0, 1, 38))},
    "/api/show": {"POST": (_show, (0, 0, 0))},
    "/api/chat": {"POST": (_chat, (0, 0, 0))},
    "/api/generate": {"POST": (_generate, (0, 0, 0))},
    "/api/embed": {"POST": (_embed, (0, 2, 6))},
    "/api/pull": {"POST": (storage.pull, (0, 0, 0))},
    "/api/delete": {"DELETE": (storage.delete, (0, 0, 0))},
    "/api/copy": {"POST": (storage.copy, (0, 0, 0))},
    "/api/create": {"POST": (storage.create, (0, 0, 0))},
    "/api/blobs/": {
        "HEAD": (storage.has_blob, (0, 0, 0)),
        "POST": (storage.take_blob, (0, 0, 0)),
    },
}
