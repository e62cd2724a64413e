"""Settings through the client: read, changed, put back, and at once in effect."""

import asyncio

import pytest

from app.client import Notice, WindowKnown
from app.client.preferences import Spot, source_sentence
from engine.errors import EnvironmentFault, SettingsUnusable
from engine.settings import MODEL_SETTINGS, SETTINGS, load_settings
from engine.testing import Script, asks_for_summary
from engine.window import ContextWindow
from tests.app.client_room import MODEL, a_room

EVERY = [Spot(key) for key in SETTINGS] + [Spot(key, MODEL) for key in MODEL_SETTINGS]
NAMES_A_MODEL = ("models.default", "compaction.model")


def run(tmp_path, body, *scripts, **backend):
    """Do something with a client, in a loop of its own."""

    async def main():
        async with a_room(tmp_path, *scripts, **backend) as room:
            return await body(room, room.client.preferences)

    return asyncio.run(main())


def setting_of(spot):
    return MODEL_SETTINGS[spot.key] if spot.is_of_model else SETTINGS[spot.key]


def good_value(spot):
    """An allowed value that is not the default."""
    setting = setting_of(spot)
    if spot.key in NAMES_A_MODEL:
        return "ollama:qwen3:8b"
    match setting.kind:
        case "switch":
            return not setting.default
        case "list":
            return ("/one", "/two words")
        case "whole" | "number":
            return setting.maximum
    if setting.choices:
        return next(choice for choice in setting.choices if choice != setting.default)
    return "1h30m" if setting.pattern else "in words of my own\nand more"


def bad_values(spot):
    setting = setting_of(spot)
    found = [object(), {"a": 1}, None if setting.kind == "list" else ["x"]]
    if setting.kind in ("whole", "number"):
        found += [setting.minimum - 1, setting.maximum + 1, "12", float("nan")]
    if setting.kind == "switch":
        found += [1, "true"]
    if setting.kind == "text":
        found += ["no\0thing", 7]
    if setting.choices or setting.pattern:
        found.append("no such choice")
    return [value for value in found if value is not None]


# ---- every setting --------------------------------------------------------------------------


def test_every_setting_is_saved_survives_and_is_reset(tmp_path):
    """All in one file: what is set is there in the next run, and the default after a reset."""

    async def change(_room, preferences):
        for spot in EVERY:
            state = await preferences.set(spot, good_value(spot), MODEL)
            assert state.value(spot) == good_value(spot), spot
            assert state.own(spot) == good_value(spot), spot
        return

    async def look(_room, preferences):
        state = await preferences.read(MODEL)
        assert state.problems == ()
        for spot in [spot for spot in EVERY if spot.key != "models.default"]:
            assert state.value(spot) == good_value(spot), spot
        for spot in EVERY:
            state = await preferences.reset(spot, MODEL)
            assert state.value(spot) == setting_of(spot).default, spot
            assert state.own(spot) is None, spot

    run(tmp_path, change)
    run(tmp_path, look)


def test_every_setting_rejects_its_bad_values(tmp_path):
    """A value that is none is refused with a sentence, and nothing changes."""

    async def body(room, preferences):
        before = await preferences.read(MODEL)
        text = room.workplace.paths.settings_file.read_text()
        for spot in EVERY:
            for value in bad_values(spot):
                with pytest.raises(SettingsUnusable) as caught:
                    await preferences.set(spot, value, MODEL)
                assert spot.key in str(caught.value)
        assert room.workplace.paths.settings_file.read_text() == text
        assert await preferences.read(MODEL) == before

    run(tmp_path, body)


# ---- at once in effect ----------------------------------------------------------------------


def test_floor_of_zero_moves_the_meter_of_the_open_conversation(tmp_path):
    """4,096 behind a floor of 20,000 leaves 8,000; floor 0, and 12,288 are the budget at once."""

    async def body(room, preferences):
        await preferences.set(Spot("context_window", MODEL), 16_384, MODEL)
        id_ = await room.send("Hello")
        await room.client.open(id_)
        await preferences.set(Spot("compaction.reserve_tokens"), 4_096, MODEL)
        first = await room.facts(id_)
        room.told.clear()
        state = await preferences.set(Spot("compaction.reserve_floor"), 0, MODEL)
        return first, await room.facts(id_), room.of(WindowKnown), state

    first, then, windows, state = run(tmp_path, body)
    assert (first.budget.prompt, first.budget.window) == (8_000, 16_384)
    assert (then.budget.prompt, then.budget.window) == (12_288, 16_384)
    assert then.used == first.used > 0
    assert [(w.id, w.budget_tokens) for w in windows] == [(then.id, 12_288)]
    assert (state.window.tokens, state.window.budget) == (16_384, 12_288)


def test_next_turn_goes_by_the_new_settings(tmp_path):
    """The session is kept, and its keeper divides the window anew; nothing is loaded again."""

    async def body(room, preferences):
        id_ = await room.send("Hello")
        session = room.client._talks.talk(id_).session
        await preferences.set(Spot("compaction.reserve_floor"), 0)
        await preferences.set(Spot("compaction.reserve_tokens"), 1_000)
        await preferences.set(Spot("compaction.keep_recent_tokens"), 123)
        await preferences.set(Spot("chat.system_prompt"), "Be brief.")
        await room.send("Again", id_)
        view = await session.look()
        same = room.client._talks.talk(id_).session is session
        return view, same, room.backend

    view, same, backend = run(tmp_path, body)
    assert (view.budget.reserve, view.settings.keep_recent) == (1_000, 123)
    assert same
    assert len({(load.window_tokens, load.kv_type) for load in backend.loads}) == 1
    assert backend.requests[-1].messages[0].content == "Be brief."


def test_a_smaller_cap_loads_the_model_anew(tmp_path):
    """Told at once as it will be, and loaded so at the next turn."""

    async def body(room, preferences):
        id_ = await room.send("Hello")
        await room.client.open(id_)
        room.told.clear()
        await preferences.set(Spot("context.cap_tokens"), 20_000)
        told = room.of(WindowKnown)[-1]
        await room.send("Again", id_)
        return told, room.backend.loads[-1].window_tokens

    told, loaded = run(tmp_path, body)
    assert told.window_tokens == loaded == 20_000
    assert told.guard == "warn"


def test_context_memory_holds_from_the_next_turn(tmp_path):
    """Another kind of KV cache is another way to load: no new start is needed."""

    async def body(room, preferences):
        id_ = await room.send("Hello")
        await preferences.set(Spot("llamacpp.kv_type"), "q8_0")
        await room.send("Again", id_)
        return [load.kv_type for load in room.backend.loads]

    kinds = run(tmp_path, body)
    assert (kinds[0], kinds[-1]) == ("f16", "q8_0")


def test_a_running_turn_ends_as_it_began(tmp_path):
    """A change while a reply is written holds from the next turn on."""

    async def body(room, preferences):
        id_ = await room.client.send(None, "Hello")
        await room.until(lambda: "one" in room.last(id_).text)
        await preferences.set(Spot("compaction.reserve_floor"), 0)
        session = room.client._talks.talk(id_).session
        before = session._keeper.settings.reserve_floor
        room.backend.release.set()
        await room.rest(id_)
        await room.send("Again", id_)
        return before, session._keeper.settings.reserve_floor

    assert run(tmp_path, body, Script("one two three", hold_after=1), "four") == (20_000, 0)


def test_a_new_conversation_is_told_too(tmp_path):
    """Where nothing is open yet, the window of the next one follows."""

    async def body(room, preferences):
        await room.client.open(None)
        await preferences.read(MODEL)
        room.told.clear()
        await preferences.set(Spot("compaction.reserve_floor"), 0)
        await preferences.set(Spot("compaction.reserve_tokens"), 768)
        return room.of(WindowKnown)[-1]

    told = run(tmp_path, body)
    assert (told.id, told.window_tokens, told.budget_tokens) == ("", 32_768, 32_000)


def test_model_folders_are_searched_at_once(tmp_path):
    """A folder that is added is looked into without a new start."""
    folder = tmp_path / "mine"
    folder.mkdir()

    async def body(room, preferences):
        backend = room.workplace.backend("llama.cpp")
        await preferences.set(Spot("models.folders"), (str(folder),))
        return backend._folders

    assert folder in run(tmp_path, body)


# ---- notices of compactions -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("notify", "verbose", "told", "counted"),
    [(True, False, 1, 0), (True, True, 1, 1), (False, True, 0, 0)],
)
def test_compactions_are_told_as_wished(tmp_path, notify, verbose, told, counted):
    """A line for each, with its number for those who want it, or none."""

    def talk(request):
        if asks_for_summary(request):
            return "The user asked for words about maps and got them. Nothing is open."
        return "words about maps " * 120

    async def body(room, preferences):
        await preferences.set(Spot("compaction.notify"), notify)
        await preferences.set(Spot("compaction.verbose"), verbose)
        id_ = await room.send("Tell me about maps, at length please.")
        for _ in range(3):
            await room.send("More about maps, at length please.", id_)
        await room.client.compact(id_)
        await room.rest(id_)
        assert room.workplace.store.session(id_).compaction_count == 1
        return [notice.text for notice in room.of(Notice) if "ompact" in notice.text]

    notices = run(tmp_path, body, otherwise=talk)
    assert len(notices) == told
    assert sum("Auto-compaction complete (count 1)." in text for text in notices) == counted


# ---- the file -------------------------------------------------------------------------------


def test_what_was_edited_in_the_file_is_read_and_told(tmp_path):
    """An editor's change counts as ours does; the same file again tells nothing."""

    async def body(room, preferences):
        file = room.workplace.paths.settings_file
        await room.client.open(await room.send("Hello"))
        file.write_text(file.read_text() + "\n[compaction]\nreserve_floor = 0\n")
        room.told.clear()
        state = await preferences.reread(MODEL)
        told = len(room.of(WindowKnown))
        await preferences.reread(MODEL)
        return state, told, len(room.of(WindowKnown))

    state, told, after = run(tmp_path, body)
    assert state.value(Spot("compaction.reserve_floor")) == 0
    assert (told, after) == (1, 1)


def test_values_are_put_back_and_what_was_not_there_is_gone(tmp_path):
    """Restoring leaves the file as it was, comments and all."""

    async def body(room, preferences):
        file = room.workplace.paths.settings_file
        await preferences.set(Spot("context.cap_tokens"), 20_000)
        text = file.read_text()
        spots = [Spot("context.cap_tokens"), Spot("compaction.enabled"), Spot("seed", MODEL)]
        state = await preferences.read(MODEL)
        before = [(spot, state.own(spot)) for spot in spots]
        for spot, value in zip(spots, (30_000, False, 7), strict=True):
            await preferences.set(spot, value)
        state = await preferences.restore(before, MODEL)
        return state, text, file.read_text()

    state, text, after = run(tmp_path, body)
    assert [state.value(Spot("context.cap_tokens")), state.value(Spot("seed", MODEL))] == [
        20_000,
        None,
    ]
    kept = [line for line in after.splitlines() if line and not line.startswith("[")]
    assert kept == [line for line in text.splitlines() if line and not line.startswith("[")]


def test_a_broken_file_is_told_and_can_be_set_aside(tmp_path):
    """Nothing of it applies, nothing can be saved; put aside, saving works again."""

    async def body(room, preferences):
        file = room.workplace.paths.settings_file
        file.write_text("this is = = no toml\n")
        broken = await preferences.reread(MODEL)
        with pytest.raises(SettingsUnusable):
            await preferences.set(Spot("context.cap_tokens"), 20_000)
        mended = await preferences.set_aside(MODEL)
        saved = await preferences.set(Spot("context.cap_tokens"), 20_000, MODEL)
        return broken, mended, saved, list(file.parent.glob("*.broken-1"))

    broken, mended, saved, aside = run(tmp_path, body)
    assert broken.is_broken
    assert "not valid TOML" in broken.problems[0]
    assert not mended.is_broken
    assert saved.value(Spot("context.cap_tokens")) == 20_000
    assert len(aside) == 1


def test_an_unreadable_file_leaves_what_applied(tmp_path):
    """A folder in its place: the fault is told, the settings stay."""

    async def body(room, preferences):
        file = room.workplace.paths.settings_file
        file.unlink()
        file.mkdir()
        with pytest.raises(SettingsUnusable):
            await preferences.reread(MODEL)
        state = await preferences.read(MODEL)
        return state.values["models.default"], state.saved

    assert run(tmp_path, body) == (MODEL, {})


def test_the_environment_is_named_and_not_written(tmp_path, monkeypatch):
    """What a variable decides is marked; the file's own value is known beside it."""

    async def body(room, preferences):
        room.workplace._environ = {"PORTHOLE_CONTEXT_CAP_TOKENS": "18000"}
        spot = Spot("context.cap_tokens")
        state = await preferences.set(spot, 20_000)
        return state.value(spot), state.own(spot), state.is_overridden(spot)

    assert run(tmp_path, body) == (18_000, 20_000, True)


# ---- windows --------------------------------------------------------------------------------


def test_state_says_what_decides_the_window(tmp_path):
    """Trained, capped, set by the user: each in its words."""

    async def body(_room, preferences):
        free = await preferences.read(MODEL)
        capped = await preferences.set(Spot("context.cap_tokens"), 32_500, MODEL)
        own = await preferences.set(Spot("context_window", MODEL), 32_100, MODEL)
        small = await preferences.set(Spot("context_window", MODEL), 15_999, MODEL)
        return free, capped, own, small

    free, capped, own, small = run(tmp_path, body)
    assert (free.model, free.window.tokens) == (MODEL, 32_768)
    assert "itself says" in free.window_why
    assert (capped.window.tokens, "largest window allowed" in capped.window_why) == (32_500, True)
    assert (own.window.tokens, "you set" in own.window_why) == (32_100, True)
    assert (small.window.guard, "16,000" in small.window_why) == ("block", True)


def test_state_of_the_loaded_model_is_what_was_loaded(tmp_path):
    """A backend that made less ready than asked: the figure is the real one, and is explained."""

    async def body(room, preferences):
        await room.client.open(await room.send("Hello"))
        return await preferences.read(MODEL)

    state = run(tmp_path, body, window_tokens=32_256)
    assert state.window.tokens == 32_256
    assert "32,256 were loaded" in state.window_why


def test_a_model_that_is_not_there_is_no_fault(tmp_path):
    """The settings are shown all the same; the window says why it is not known."""

    async def body(_room, preferences):
        return await preferences.read("scripted:gone"), await preferences.read("no model")

    gone, nameless = run(tmp_path, body)
    assert (gone.window.tokens, gone.window.guard) == (0, "block")
    assert "gone" in gone.window_why
    assert nameless.window.guard == "block"


def test_a_name_that_is_no_model_is_refused(tmp_path):
    """The default model must name one; empty means the usual."""

    async def body(_room, preferences):
        with pytest.raises(EnvironmentFault, match="does not name a model"):
            await preferences.set(Spot("models.default"), "nonsense")
        return await preferences.set(Spot("compaction.model"), "")

    assert run(tmp_path, body).saved["compaction.model"] == ""


def test_silent_server_does_not_keep_the_dialog_waiting(tmp_path, monkeypatch):
    """A window nobody can say in time is unknown, not an error."""
    monkeypatch.setattr("app.client.preferences._ASK_SECONDS", 0.01)

    async def body(room, preferences):
        async def never(_model):
            await asyncio.Event().wait()

        room.backend.describe = never
        return await preferences.read(MODEL)

    state = run(tmp_path, body)
    assert (state.window.tokens, state.window.guard, state.window_why) == (0, "unknown", "")


def test_every_source_of_a_window_has_a_sentence():
    """Whoever decides, it is said."""
    for source in ("option", "manifest", "default", "trained", "memory", "loaded"):
        assert source_sentence(ContextWindow(16_384, source)).endswith(".")


def test_places_are_the_profiles(tmp_path):
    """Where everything lies can be shown."""

    async def body(room, preferences):
        return room.workplace.paths, await preferences.read()

    paths, state = run(tmp_path, body)
    assert state.file == str(paths.settings_file)
    assert load_settings(paths.settings_file, {})["models.default"] == state.model
    assert {"settings", "conversations", "models"} <= {place.kind for place in state.places}
