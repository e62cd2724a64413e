"""The endpoints of an Ollama double that change what is stored: pull, delete, copy, create."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from engine.testing import ollama_faults as faults
from engine.testing import ollama_rules as rules
from engine.testing.ollama_exchange import Exchange, never
from engine.testing.ollama_rules import Model, Refusal
from engine.testing.ollama_state import Fetchable, Layer, State

NOWHERE = "pull model manifest: file does not exist"
_DIGEST = re.compile(r"sha256[:-][0-9a-fA-F]{64}")
_NAME = re.compile(r"[\w./:-]+")


# ---- pull ---------------------------------------------------------------------------------------


async def pull(exchange: Exchange) -> None:
    """Fetch a model: progress line by line, or one object at the end.

    What was fetched of a layer stays when the client leaves or the fetching fails, and the next
    pull goes on from there.
    """
    state, wire = exchange.state, exchange.wire
    name = exchange.named(Refusal(400, "invalid model name"))
    if exchange.streams:
        await wire.line({"status": "pulling manifest"})
    await state.script.pass_gate("pull")
    if await _broke(exchange, 0):
        return
    found = state.library.get(rules.full_name(name))
    if found is None:
        raise Refusal(500, NOWHERE)
    if await _fetched(exchange, found):
        return
    for status in ("verifying sha256 digest", "writing manifest", "success"):
        if status == "success":
            state.store(found.model)
        if exchange.streams:
            await wire.line({"status": status})
    if exchange.streams:
        await wire.end()
    else:
        await wire.json(200, {"status": "success"}, "application/json")


async def _fetched(exchange: Exchange, found: Fetchable) -> bool:
    """Send the layers' progress; whether a fault ended the answer meanwhile."""
    state, sent = exchange.state, 0
    for layer in found.layers:
        for completed in _steps(state, layer):
            if sent and await _broke(exchange, sent, layer):
                return True
            if sent:
                await state.script.pass_gate("pull", sent)
            state.fetched[layer.digest] = completed
            if exchange.streams:
                await exchange.wire.line(_progress(layer, completed))
            sent += 1
    return await _broke(exchange, sent, found.layers[-1], at_end=True)


def _steps(state: State, layer: Layer) -> Iterator[int]:
    """The progress of a layer: from where it was left; one step when it is there already."""
    had = state.fetched.get(layer.digest, 0)
    if had >= layer.total:
        yield layer.total
        return
    if had:
        yield had
    yield from _after(layer.steps, had)


def _after(steps: tuple[int, ...], had: int) -> tuple[int, ...]:
    """The steps that are still to come after so many bytes."""
    return (
        next((steps[place:] for place, step in enumerate(steps) if step > had), ())
        if had
        else steps
    )


def _progress(layer: Layer, completed: int) -> dict[str, Any]:
    step: dict[str, Any] = {
        "status": f"pulling {layer.digest[:12]}",
        "digest": f"sha256:{layer.digest}",
        "total": layer.total,
    }
    return step | ({"completed": completed} if completed else {})


async def _broke(
    exchange: Exchange, sent: int, layer: Layer | None = None, *, at_end: bool = False
) -> bool:
    """Whether the scripted fault ended the answer after so many progress lines."""
    fault, wire = exchange.fault, exchange.wire
    after = getattr(fault, "after", None)
    if after is None or not (at_end or sent == after):
        return False
    exchange.how = "broken"
    match fault:
        case faults.Error(text=text, status=status):
            if layer is not None and "digest mismatch" in text:
                exchange.state.fetched.pop(layer.digest, None)
            raise Refusal(status, text)
        case faults.EndEarly(half_line=half):
            if half:
                await wire.chunk(b'{"status":"pulling a1b2')
            await wire.end()
        case faults.Drop(reset=reset):
            await wire.half_chunk(b'{"status":"pulling a1b2')
            wire.cut(reset=reset)
        case faults.Silence():
            await never()
        case _:
            return False
    return True


# ---- delete, copy -------------------------------------------------------------------------------


async def delete(exchange: Exchange) -> None:
    """Forget a model, and what was fetched of it. One that is loaded stays loaded."""
    state = exchange.state
    name = exchange.named(Refusal(400, 'name "" is invalid'))
    if not _NAME.fullmatch(name):
        raise Refusal(400, f'name "{name}" is invalid')
    model = state.model(name)
    del state.models[model.full_name]
    fetchable = state.library.get(model.full_name)
    for layer in fetchable.layers if fetchable else ():
        state.fetched.pop(layer.digest, None)
    await exchange.wire.document(200, b"", "text/plain")


async def copy(exchange: Exchange) -> None:
    """Give a model another name as well; its content is the same."""
    state, body = exchange.state, exchange.body
    for field in ("source", "destination"):
        value = body.get(field)
        if not isinstance(value, str) or not _NAME.fullmatch(value):
            raise Refusal(400, f'{field} "{value or ""}" is invalid')
    model = state.models.get(rules.full_name(body["source"]))
    if model is None:
        raise Refusal(404, f'model "{body["source"]}" not found')
    if rules.full_name(body["destination"]) != model.full_name:
        content = rules.digest_of(model)
        copied = replace(model, name=body["destination"], digest=content, weights=model.place)
        state.store(copied)
    await exchange.wire.document(200, b"", "text/plain")


# ---- blobs, create ------------------------------------------------------------------------------


def _digest(exchange: Exchange) -> str:
    digest = exchange.request.path.removeprefix("/api/blobs/")
    if not _DIGEST.fullmatch(digest):
        raise Refusal(400, "invalid digest format")
    return digest.replace("sha256-", "sha256:")


async def has_blob(exchange: Exchange) -> None:
    """Whether a file is there."""
    there = _digest(exchange) in exchange.state.blobs
    await exchange.wire.document(200 if there else 404, b"", "text/plain")


async def take_blob(exchange: Exchange) -> None:
    """Store a file under its digest."""
    digest, blobs = _digest(exchange), exchange.state.blobs
    if digest in blobs:
        await exchange.wire.document(200, b"", "text/plain")
        return
    raw = exchange.request.raw
    got = f"sha256:{hashlib.sha256(raw).hexdigest()}"
    if got != digest:
        raise Refusal(400, f'digest mismatch, expected "{digest}", got "{got}"')
    blobs[digest] = raw
    await exchange.wire.document(201, b"", "text/plain")


async def create(exchange: Exchange) -> None:
    """Make a model of a file or of another model."""
    state, wire = exchange.state, exchange.wire
    name = exchange.named(Refusal(400, "invalid model name"))
    if not _NAME.fullmatch(name):
        raise Refusal(400, "invalid model name")
    body = exchange.body
    if state.version < (0, 5, 5):
        body = {**body, **_of_modelfile(str(body.get("modelfile", "")))}
    if body.get("from") and rules.full_name(str(body["from"])) not in state.models:
        if exchange.streams:  # it looks for what it does not have where models come from
            await wire.line({"status": "pulling manifest"})
        raise Refusal(500, NOWHERE)
    base, statuses = _base(state, body)
    model = _created(base, name, body)
    statuses += ["writing manifest", "success"]
    for status in statuses:
        if status == "success":
            state.store(model)
        if exchange.streams:
            await wire.line({"status": status})
    if exchange.streams:
        await wire.end()
    else:
        await wire.json(200, {"status": "success"}, "application/json")


def _of_modelfile(text: str) -> dict[str, Any]:
    """The fields that a Modelfile stands for: its FROM, PARAMETER and SYSTEM lines."""
    fields: dict[str, Any] = {"parameters": {}}
    for line in text.splitlines():
        word, _, rest = line.strip().partition(" ")
        match word.upper():
            case "FROM" if rest.startswith("@"):
                fields["files"] = {"model.gguf": rest[1:]}
            case "FROM":
                fields["from"] = rest
            case "PARAMETER":
                key, _, value = rest.partition(" ")
                fields["parameters"][key] = int(value) if value.isdigit() else value
            case "SYSTEM":
                fields["system"] = rest.strip('"')
    return fields


def _base(state: State, body: Mapping[str, Any]) -> tuple[Model, list[str]]:
    """What a new model is made of, and the first words about it. Raises Refusal."""
    files = body.get("files")
    if body.get("from"):
        model = state.model(str(body["from"]))
        return model, [f"using existing layer sha256:{rules.digest_of(model)}"]
    if files is None:
        raise Refusal(400, "neither 'from' or 'files' was specified")
    if not files:
        raise Refusal(400, "no files provided to convert")
    name, digest = next(iter(files.items()))
    if name.startswith(("/", "..")):
        raise Refusal(400, "file path must be relative")
    if not state.blobs.get(digest, b"").startswith(b"GGUF"):
        raise Refusal(400, "supplied file was not in GGUF format")
    size = len(state.blobs[digest])
    model = Model(name, path="native", size=size, digest=digest[7:], weights=digest)
    return model, ["parsing GGUF", f"using existing layer {digest}"]


def _created(base: Model, name: str, body: Mapping[str, Any]) -> Model:
    """The new model: its base, with what the request says otherwise."""
    parameters = dict(body.get("parameters") or {})
    num_ctx = int(parameters.pop("num_ctx", base.num_ctx))
    others = tuple((key, str(value)) for key, value in parameters.items())
    given = body.get("messages")
    return replace(
        base,
        name=name,
        num_ctx=num_ctx,
        parameters=others or base.parameters,
        system=body.get("system") or base.system,
        template=body.get("template") or base.template,
        path="rendered" if body.get("template") else base.path,
        messages=base.messages if given is None else tuple(given),
        digest="",
        weights=base.place,
    )
