"""The endpoints of an Ollama double, on top of its state and rules."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from engine.testing import ollama_rules as rules
from engine.testing import ollama_script as script
from engine.testing.ollama_generation import Body, Exchange, Generation, never
from engine.testing.ollama_rules import Model, Refusal
from engine.testing.ollama_socket import Request
from engine.testing.ollama_state import State

_STREAMS = ("/api/chat", "/api/generate", "/api/pull")
Handler = Callable[[Exchange], Awaitable[None]]


async def answer(exchange: Exchange) -> None:
    """Answer a request, faults included."""
    request, wire = exchange.request, exchange.wire
    if not _is_allowed(request.headers):
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


def _fault_place(request: Request) -> str:
    """The name under which a fault for this request is scripted."""
    holder = {"/api/chat": "messages", "/api/generate": "prompt"}.get(request.path)
    body = request.body if isinstance(request.body, dict) else {}
    return request.path if holder is None or body.get(holder) else "load"


async def _broke(exchange: Exchange, *, streams: bool) -> bool:
    """Whether a fault answered instead; within streams, most have their own place."""
    wire = exchange.wire
    match exchange.fault:
        case script.Close():
            wire.cut(reset=False)
        case script.Answer(status=status, body=body, content_type=kind, headers=headers):
            await wire.document(status, body.encode(), kind, dict(headers))
        case _ if streams or exchange.fault is None:
            return False
        case script.Error(text=text, status=status, key=key):
            await wire.json(status, {key: text})
        case script.Drop(reset=reset):
            await wire.half_chunk(b'{"mod')
            wire.cut(reset=reset)
        case script.EndEarly() | script.NoDone():
            await wire.end()
        case script.Silence():
            await never()
    return True


async def _refuse(exchange: Exchange, refusal: Refusal) -> None:
    """An error text: with its status, or as a line once a stream has begun."""
    if exchange.wire.streaming:
        await exchange.wire.line({"error": refusal.text})
        await exchange.wire.end()
    else:
        await exchange.wire.json(refusal.status, {"error": refusal.text})


async def _routed(exchange: Exchange) -> None:
    request, version = exchange.request, exchange.state.version
    routes = _ROUTES.get(request.path, {})
    handler, since = routes.get(request.method, (None, (0, 0, 0)))
    known = [name for name, (_, first) in routes.items() if version >= first]
    if handler is None and known and version >= (0, 7, 0):
        await exchange.wire.document(405, b"405 method not allowed", "text/plain")
    elif handler is None or version < since:
        await exchange.wire.document(404, b"404 page not found", "text/plain")
    else:
        if request.method == "POST":
            _check_body(request)
        await handler(exchange)


def _is_allowed(headers: Mapping[str, str]) -> bool:
    """Whether a server on loopback serves this Host and Origin."""
    host = headers.get("host", "").rpartition(":")[0].strip("[]") or headers.get("host", "")
    local = host in ("localhost", "127.0.0.1", "::1", "0.0.0.0")
    named = host.endswith((".localhost", ".local", ".internal"))
    origin = headers.get("origin", "")
    own = not origin or origin.startswith(
        ("http://localhost", "http://127.0.0.1", "http://0.0.0.0", "app://", "file://")
    )
    return (local or named) and own


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
    await exchange.wire.json(200, {"models": exchange.state.tags()})


async def _ps(exchange: Exchange) -> None:
    await exchange.wire.json(200, {"models": exchange.state.processes()})


async def _show(exchange: Exchange) -> None:
    state = exchange.state
    name = _named(exchange, Refusal(400, "model is required"))
    try:
        model = state.model(name)
    except Refusal:
        shown = rules.full_name(name) if state.version >= rules.LLAMA_SERVER else name
        raise Refusal(404, f"model '{shown}' not found") from None
    await exchange.wire.json(200, state.show(model))


def _named(exchange: Exchange, otherwise: Refusal) -> str:
    name = exchange.body.get("model") or exchange.body.get("name")
    if not isinstance(name, str) or not name:
        raise otherwise
    return name


# ---- chat and generate --------------------------------------------------------------------------


async def _chat(exchange: Exchange) -> None:
    body = exchange.body
    name = _named(exchange, Refusal(400, "model is required"))
    model = exchange.state.model(name)
    messages = _checked_messages(body)
    await _run(exchange, model, messages, "message")


async def _generate(exchange: Exchange) -> None:
    body = exchange.body
    name = _named(exchange, Refusal(404, "model '' not found"))
    model = exchange.state.model(name)
    if body.get("raw") and (body.get("system") or body.get("template") or body.get("context")):
        raise Refusal(400, "raw mode does not support template, system, or context")
    messages: list[dict[str, Any]] = []
    if prompt := body.get("prompt"):
        system = body.get("system")
        messages = [{"role": "system", "content": system}] if system else []
        messages.append({"role": "user", "content": prompt})
    await _run(exchange, model, messages, "response")


def _checked_messages(body: Body) -> list[dict[str, Any]]:
    messages = body.get("messages") or []
    for message in messages:
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
    if not messages and seconds == 0:
        state.unload(model)
        await _loaded(exchange, model, field, "unload")
        return
    options, wanted = state.options_for(body, model)
    runner, load_ns = await state.ready(model, wanted)
    if seconds is not None:
        runner.keep_alive = seconds
    if not messages:
        await _loaded(exchange, model, field, "load")
        return
    seen, cut = state.read(runner, messages, body, options.get("num_keep", 4))
    reply = state.script.next_reply(seen)
    run = Generation(exchange, runner, seen, cut, field, load_ns)
    await run.answer(reply, think=think, num_predict=options.get("num_predict", -1))
    if runner.keep_alive == 0:
        state.unload(model)


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


# ---- pull ---------------------------------------------------------------------------------------


async def _pull(exchange: Exchange) -> None:
    state, wire = exchange.state, exchange.wire
    name = _named(exchange, Refusal(400, "invalid model name"))
    await wire.line({"status": "pulling manifest"})
    await state.script.pass_gate("pull")
    if isinstance(exchange.fault, script.Error):
        raise Refusal(exchange.fault.status, exchange.fault.text)
    found = state.library.get(rules.full_name(name))
    if found is None:
        raise Refusal(500, "pull model manifest: file does not exist")
    if isinstance(exchange.fault, script.EndEarly):
        await wire.end()
        return
    for digest, total in found.layers:
        for completed in found.steps:
            step = {
                "status": f"pulling {digest[:12]}",
                "digest": f"sha256:{digest}",
                "total": total,
            }
            await wire.line(step | ({"completed": completed} if completed else {}))
    for status in ("verifying sha256 digest", "writing manifest", "success"):
        if status == "success":
            state.models[found.model.full_name] = found.model
        await wire.line({"status": status})
    await wire.end()


_ROUTES: dict[str, dict[str, tuple[Handler, rules.Version]]] = {
    "/": {"GET": (_root, (0, 0, 0)), "HEAD": (_root, (0, 0, 0))},
    "/api/version": {"GET": (_version, (0, 0, 0)), "HEAD": (_version, (0, 0, 0))},
    "/api/status": {"GET": (_status, (0, 16, 2))},
    "/api/tags": {"GET": (_tags, (0, 0, 0)), "HEAD": (_tags, (0, 0, 0))},
    "/api/ps": {"GET": (_ps, (0, 1, 38))},
    "/api/show": {"POST": (_show, (0, 0, 0))},
    "/api/chat": {"POST": (_chat, (0, 0, 0))},
    "/api/generate": {"POST": (_generate, (0, 0, 0))},
    "/api/pull": {"POST": (_pull, (0, 0, 0))},
}
