"""The truth about windows, through the client: what a server does shows in the same turn."""

import asyncio
import random
from dataclasses import replace

import pytest

from app.client import Notice, WindowKnown
from app.client.preferences import Spot
from app.client.window_truth import Cure, plan_cures, plan_figures
from engine.backends.base import ModelInfo
from engine.models import ModelPlan, WindowLimits
from engine.settings import save_model_setting, save_setting
from engine.testing import ScriptedBackend
from engine.testing.ollama import OllamaDouble
from engine.testing.ollama_rules import Model
from engine.window import ContextWindow
from tests.app.client_room import MODEL
from tests.app.test_client import run
from tests.backends.gguf_files import write_gguf

WORDS = ["river", "stone", "bridge", "lamp", "winter", "garden", "window", "letter", "morning"]
OLLAMA = "ollama:m"


def prose(count, seed=1):
    chance = random.Random(seed)
    return " ".join(chance.choice(WORDS) for _ in range(count))


@pytest.fixture
def serve(monkeypatch):
    """Starts an Ollama double that the client finds; it is stopped at the end."""
    servers = []

    def start(*models, **fields):
        server = OllamaDouble(*([models] if models else []), **fields)
        servers.append(server.__enter__())
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        return server

    yield start
    for server in servers:
        server.__exit__(None, None, None)


async def say(room, *texts, model=OLLAMA):
    """A new conversation with these messages; its id."""
    id_ = await room.client.send(None, texts[0], model)
    await room.rest(id_)
    for text in texts[1:]:
        await room.send(text, id_)
    return id_


def by_kind(truth):
    return {row.kind: row for row in truth.figures}


# ---- what a server does, in the same turn -------------------------------------------------------


def test_a_server_that_reads_less_than_it_was_sent(tmp_path, serve):
    """C03: too old to refuse, with a smaller window than it says: the reply's receipt warns."""
    serve(version="0.9.0", window_limit=4_096)

    async def body(room):
        save_model_setting(room.workplace.paths.settings_file, OLLAMA, "context_window", 16_384)
        id_ = await say(room, prose(2_500), "And what is next?")
        honest = room.last(id_).receipt
        await room.send(prose(2_500, seed=2), id_)
        return honest, room.last(id_).receipt, room.of(Notice), await room.client.open(id_)

    honest, cut, notices, opened = run(tmp_path, body)
    assert (honest.mismatch, honest.cure) == ("", "")
    assert cut.read < 4_096 < cut.sent
    assert f"The server read {cut.read:,} of about {cut.sent:,} tokens sent." in cut.mismatch
    assert "smaller window" in cut.cure
    assert any(notice.text == f"{cut.mismatch} {cut.cure}" for notice in notices)
    assert opened.items[-1].receipt.mismatch == cut.mismatch, "it stays with the reply"


@pytest.mark.parametrize(
    ("server", "loaded", "sharing"),
    [({"window_limit": 20_000}, 20_000, 0), ({"slots": 2}, 16_384, 2)],
)
def test_a_smaller_window_than_asked(tmp_path, serve, server, loaded, sharing):
    """32,768 were asked for: the window that counts is what was loaded, and the guard warns."""
    serve(**server)

    async def body(room):
        id_ = await say(room, "Hello there")
        return room.of(WindowKnown), await room.client.truth.read(OLLAMA), room.last(id_), id_

    known, truth, reply, id_ = run(tmp_path, body)
    assert reply.state == "done"
    assert reply.receipt.window == loaded
    told = [value for value in known if value.id == id_][-1]
    assert (told.window_tokens, told.guard) == (loaded, "warn")
    assert "32,768 tokens were asked for" in told.guard_text
    rows = by_kind(truth)
    assert (truth.window, truth.guard, truth.cures) == (loaded, "warn", ())
    assert (rows["requested"].tokens, rows["loaded"].tokens) == (32_768, loaded)
    assert [row.kind for row in truth.figures if row.decides] == ["loaded"]
    assert (rows["per_chat"].tokens, rows["per_chat"].sharing) == (loaded, sharing)
    assert "Raise the limit of the server" in truth.remedy


def test_a_window_divided_until_it_is_too_small(tmp_path, serve):
    """Four chats share it: nothing is sent, the reply says why, the window is blocked."""
    server = serve(slots=4)

    async def body(room):
        id_ = await say(room, "Hello there")
        known = [value for value in room.of(WindowKnown) if value.id == id_][-1]
        return room.last(id_), known, await room.client.truth.read(OLLAMA)

    reply, known, truth = run(tmp_path, body)
    assert reply.state == "failed"
    assert "8,192" in reply.error
    assert (known.guard, known.window_tokens) == ("block", 8_192)
    rows = by_kind(truth)
    assert (truth.guard, truth.window) == ("block", 8_192)
    assert (rows["loaded"].tokens, rows["loaded"].decides) == (8_192, True)
    assert (rows["per_chat"].origin, rows["per_chat"].sharing) == ("shared", 4)
    assert all(not body["messages"] for body in server.bodies()), "only loaded, nothing sent"


def test_a_window_the_server_got_back(tmp_path, serve):
    """Blocked, then whole again: asking again works, and the window is known anew."""
    server = serve(slots=4)

    async def body(room):
        id_ = await say(room, "Hello there")
        server.state.slots = 1
        server.state.runners.clear()
        await room.client.answer(id_, room.last(id_).id)
        await room.rest(id_)
        return room.last(id_), [v for v in room.of(WindowKnown) if v.id == id_][-1]

    reply, known = run(tmp_path, body)
    assert reply.state == "done"
    assert (known.guard, known.window_tokens) == ("ok", 32_768)


def test_honest_turns_over_a_real_socket(tmp_path, serve):
    """Sixty turns of all lengths: no receipt warns."""
    serve()
    chance = random.Random(3)

    async def body(room):
        texts = [prose(chance.randint(1, 120), seed=turn) for turn in range(60)]
        id_ = await say(room, *texts)
        return [item.receipt for item in room.items(id_) if getattr(item, "receipt", None)]

    receipts = run(tmp_path, body)
    assert len(receipts) == 60
    assert {receipt.mismatch for receipt in receipts} == {""}


# ---- the limits, for both backends --------------------------------------------------------------

LIMITS = [(15_999, "block"), (16_000, "warn"), (31_999, "warn"), (32_000, "ok")]


@pytest.mark.parametrize(("trained", "guard"), LIMITS)
@pytest.mark.parametrize("backend", ["ollama", "llama.cpp"])
def test_the_limits(tmp_path, serve, backend, trained, guard):
    """15,999 is blocked, 16,000 and 31,999 warned of, 32,000 is fine."""
    serve(Model("m", trained=trained))
    file = write_gguf(tmp_path / "m.gguf", {"llama.context_length": trained})
    label = OLLAMA if backend == "ollama" else f"llama.cpp:{file}"

    async def body(room):
        await room.client.use_model(None, label)
        await room.client.open(None)
        await room.until(lambda: any(known.window_tokens for known in room.of(WindowKnown)))
        return room.of(WindowKnown)[-1], await room.client.truth.read(label)

    known, truth = run(tmp_path, body)
    assert (known.window_tokens, known.guard) == (trained, guard)
    assert (truth.window, truth.guard) == (trained, guard)
    assert [row.kind for row in truth.figures if row.decides] == (
        [] if guard == "ok" else ["trained"]
    )


# ---- cures --------------------------------------------------------------------------------------


def test_a_cure_is_in_effect_at_once(tmp_path, serve):
    """Set too small for this model: a button, and the open conversation goes on."""
    server = serve()

    async def body(room):
        file = room.workplace.paths.settings_file
        save_model_setting(file, OLLAMA, "context_window", 4_096)
        room.workplace.read_settings_again()
        id_ = await say(room, "Hello there")
        await room.client.open(id_)
        refused = room.last(id_)
        before = await room.client.truth.read(OLLAMA)
        after = await room.client.truth.apply(OLLAMA, before.cures[0])
        known = [value for value in room.of(WindowKnown) if value.id == id_][-1]
        await room.client.answer(id_, refused.id)
        await room.rest(id_)
        return refused, before, after, known, room.last(id_), file.read_text("utf-8")

    refused, before, after, known, reply, text = run(tmp_path, body)
    assert refused.state == "failed"
    assert [(cure.kind, cure.tokens) for cure in before.cures] == [
        ("window", 16_384),
        ("ask", 32_768),
    ]
    assert (before.guard, by_kind(before)["requested"].decides) == ("block", True)
    assert (after.window, after.guard) == (16_384, "warn")
    assert [(cure.kind, cure.tokens) for cure in after.cures] == [("ask", 32_768)]
    assert (known.guard, known.window_tokens) == ("warn", 16_384)
    assert reply.state == "done"
    assert server.bodies()[-1]["options"]["num_ctx"] == 16_384
    assert "context_window = 16384" in text


def test_stretching(tmp_path):
    """Trained on 8,192: twice that, where it can be stretched."""
    file = write_gguf(tmp_path / "m.gguf")

    async def body(room):
        label = f"llama.cpp:{file}"
        before = await room.client.truth.read(label)
        return before, await room.client.truth.apply(label, before.cures[0])

    before, after = run(tmp_path, body)
    assert [(cure.kind, cure.tokens, cure.trained) for cure in before.cures] == [
        ("stretch", 16_384, 8_192)
    ]
    assert (before.window, after.window, after.guard) == (8_192, 16_384, "warn")
    assert (by_kind(before)["trained"].stretched, by_kind(after)["trained"].stretched) == (0, 2)
    assert after.cures == ()


PLAN = ModelPlan("llama.cpp:/m", "llama.cpp", "/m")
INFO = ModelInfo("/m", trained_window=65_536, weights_bytes=10_000_000, kv_bytes_per_token=23_040)


def cures(plan=PLAN, info=INFO, window=None, available=None):
    window = window or ContextWindow(8_192, "agentContextTokens", 8_192, info.trained_window)
    return [
        (cure.kind, cure.tokens, tuple(spot.key for spot, _ in cure.settings))
        for cure in plan_cures(plan, info, window, available)
    ]


def test_a_cap_that_is_too_low():
    """It is the cap that has to be raised, and a setting of the model only where there is one."""
    capped = replace(PLAN, limits=WindowLimits(cap_tokens=8_192))
    assert cures(capped) == [
        ("cap", 16_384, ("context.cap_tokens",)),
        ("cap", 32_768, ("context.cap_tokens",)),
    ]
    both = ("context.cap_tokens", "context_window")
    small = replace(capped, window_setting=8_000)
    assert cures(small) == [("cap", 16_384, both), ("cap", 32_768, both)]


def test_memory_that_holds_half_the_context():
    """8 bits instead of 16, if the window fits then."""
    need = 10_000_000 + 256 * 1024 * 1024
    window = ContextWindow(20_480, "memory", 20_480, 65_536)
    available = need + 20_480 * 23_040
    assert cures(window=window, available=available) == [("half_context", 32_768, ("kv_type",))]
    tight = replace(PLAN, kv_type="q8_0")
    assert cures(tight, window=window, available=need + 20_480 * 12_240) == []


def test_a_stretch_under_a_cap():
    """All that it takes."""
    info = replace(INFO, trained_window=8_192)
    capped = replace(PLAN, limits=WindowLimits(cap_tokens=12_000))
    keys = ("stretch", "context_window", "context.cap_tokens")
    assert cures(capped, info, ContextWindow(8_192, "trained", 8_192, 8_192)) == [
        ("stretch", 16_384, keys)
    ]


def test_nothing_that_would_not_work():
    """A server that loaded less, a model trained on less, a window this conversation asks for."""
    assert cures(window=ContextWindow(8_192, "loaded", 32_768, 65_536, 8_192, 8_192)) == []
    assert cures(window=ContextWindow(32_768, "model", 32_768, 65_536)) == []
    asked = replace(PLAN, window_option=8_192)
    assert cures(asked, window=ContextWindow(8_192, "option", 8_192, 65_536)) == []
    server = replace(PLAN, backend="ollama")
    assert cures(server, replace(INFO, trained_window=8_192)) == []
    assert cures(info=replace(INFO, weights_bytes=1 << 40), available=1 << 30) == []


# ---- figures ------------------------------------------------------------------------------------


def test_figures_of_what_is_not_loaded():
    """Dashes, not guesses."""
    rows = plan_figures(
        ContextWindow(16_384, "modelsConfig", 16_384), is_trouble=False, is_own=True
    )
    assert [(row.kind, row.tokens, row.origin) for row in rows] == [
        ("requested", 16_384, "modelsConfig"),
        ("trained", 0, ""),
        ("loaded", 0, "not_loaded"),
        ("per_chat", 0, ""),
    ]
    assert not any(row.decides for row in rows)


def test_figures_of_slots_that_are_told():
    """A backend that says what it loaded and what a chat gets of it."""
    window = ContextWindow(8_192, "loaded", 16_384, 32_768, 32_768, 8_192)
    rows = plan_figures(window, is_trouble=True, is_own=False)
    assert [row.kind for row in rows if row.decides] == ["per_chat"]
    assert (rows[3].origin, rows[3].sharing) == ("shared", 4)
    assert rows[2].origin == "server"


# ---- what cannot be told ------------------------------------------------------------------------


def test_models_that_are_not_there(tmp_path, monkeypatch):
    """The reason instead of figures; nothing is raised."""
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")

    async def body(room):
        truth = room.client.truth
        return [
            await truth.read(name)
            for name in ("nonsense", OLLAMA, f"llama.cpp:{tmp_path / 'gone.gguf'}")
        ]

    for told in run(tmp_path, body):
        assert (told.guard, told.figures, told.cures) == ("block", (), ())
        assert told.problem


def test_a_backend_that_says_nothing(tmp_path, monkeypatch):
    """The panel does not wait for ever."""
    monkeypatch.setattr("app.client.window_truth._PATIENCE_SECONDS", 0.01)

    class Silent(ScriptedBackend):
        async def describe(self, model):
            await asyncio.Event().wait()

    async def body(room):
        room.workplace._backends["ollama"] = Silent()
        return await room.client.truth.read(OLLAMA)

    told = run(tmp_path, body)
    assert (told.title, told.guard, told.problem) == ("m", "unknown", "")


def test_weights_that_do_not_fit(tmp_path, monkeypatch):
    """Said as a turn would say it."""
    monkeypatch.setattr("app.client.window_truth.free_memory", lambda: 1_000)
    file = write_gguf(tmp_path / "m.gguf")

    async def body(room):
        return await room.client.truth.read(f"llama.cpp:{file}")

    told = run(tmp_path, body)
    assert "does not fit into this machine's memory" in told.problem


def test_the_default_model_and_the_starter(tmp_path):
    """Without a name, what new conversations use; the starter before it is fetched."""

    async def body(room):
        return await room.client.truth.read(), await room.client.truth.read("starter")

    default, starter = run(tmp_path, body)
    assert (default.model, default.backend, default.memory) == (MODEL, "scripted", ())
    assert starter.window >= 16_000
    assert by_kind(starter)["loaded"].origin == "not_loaded"


@pytest.mark.parametrize(
    ("host", "elsewhere"),
    [("127.0.0.1:{}", False), ("localhost:{}", False), ("http://192.168.77.5:{}", True)],
)
def test_another_computer_has_another_memory(tmp_path, monkeypatch, host, elsewhere):
    """What is free here says nothing of it."""
    from app.client.window_truth import _is_here

    assert _is_here(host.format(11434)) is not elsewhere


def test_memory_of_a_server_here(tmp_path, serve):
    """Weights as the server says, the cache by its attention, what is free of this machine."""
    serve()

    async def body(room):
        return await room.client.truth.read(OLLAMA)

    told = run(tmp_path, body)
    assert not told.elsewhere
    assert [row.context_bytes for row in told.memory] == [377_487_360, 566_231_040, 754_974_720]
    assert told.memory[0].weights_bytes == 1_000_000_000
    assert told.free_bytes > 0
    assert told.total_bytes > 0


def test_a_window_of_the_conversation(tmp_path):
    """What this conversation asks for goes before what is set for the model."""

    async def body(room):
        id_ = await room.send("Hello")
        from engine.settings import ModelSettings

        room.workplace.keep_options(id_, ModelSettings(context_window=20_000))
        room.client._talks.forget(id_)
        await room.client.open(id_)
        return await room.client.truth.read(MODEL)

    told = run(tmp_path, body)
    assert (told.window, by_kind(told)["requested"].origin) == (20_000, "option")
    assert told.cures == ()


def test_settings_that_cannot_be_saved(tmp_path, serve):
    """The fault is raised, and everything is as it was."""
    from engine.errors import SettingsUnusable

    serve()

    async def body(room):
        room.workplace.paths.settings_file.write_text("broken = [", "utf-8")
        cure = Cure("window", 16_384, ((Spot("context_window", OLLAMA), 16_384),))
        with pytest.raises(SettingsUnusable):
            await room.client.truth.apply(OLLAMA, cure)
        return room.workplace.paths.settings_file.read_text("utf-8")

    assert run(tmp_path, body) == "broken = ["


def test_the_cap_of_the_settings(tmp_path, serve):
    """A cap under the limit blocks every model; raising it is the cure."""
    serve()

    async def body(room):
        save_setting(room.workplace.paths.settings_file, "context.cap_tokens", 15_999)
        room.workplace.read_settings_again()
        before = await room.client.truth.read(OLLAMA)
        return before, await room.client.truth.apply(OLLAMA, before.cures[1])

    before, after = run(tmp_path, body)
    assert before.guard == "block"
    assert [cure.kind for cure in before.cures] == ["cap", "cap"]
    assert (after.window, after.guard) == (32_768, "ok")
