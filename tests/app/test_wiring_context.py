"""How the user's wishes for the context window reach a conversation, and what is kept of it."""

import asyncio
import json

import psutil
import pytest

from app.wiring import OPTIONS_ENTRY, Workplace
from engine.backends.base import PromptMessage, PromptRequest
from engine.context import ContextSettings
from engine.events import CompactionEnded, CompactionProgress, Receipt, TurnEnded
from engine.settings import SETTINGS
from engine.testing import asks_for_summary, reply
from engine.testing.ollama import OllamaDouble
from engine.testing.ollama_script import Reply
from engine.transcript import Compaction, Custom, user

SUMMARY = "They planned a trip to Aldra; the ferry leaves from pier 4 and Ines Marlow sails it."
TALK = (
    ("Where does the ferry to Aldra leave from?", "It leaves from pier 4, beside the old customs house."),
    ("How much is a ticket?", "A ticket is 12 crowns, and children travel for half of that."),
    ("Can I take a bicycle?", "Yes, but only on the morning ferry, which has a deck for it."),
    ("Who is the captain?", "Her name is Ines Marlow, and she has sailed the strait for nine years."),
)  # fmt: skip


class Place:
    """A profile on the disk, and workplaces on it."""

    def __init__(self, profile):
        self.profile = profile
        self.environment = {}

    def open(self):
        return Workplace(str(self.profile), self.environment)

    def settings(self, text):
        file = self.profile / "config" / "settings.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    @property
    def calibration(self):
        return self.profile / "cache" / "calibration.json"


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path / "profile")


def stored(workplace, model, *, window=16_384, rounds=8, padding=20):
    """A conversation in the workplace's store."""
    session = workplace.store.create_session(title="The ferry", model=model).id
    workplace.store.append(session, Custom(OPTIONS_ENTRY, {"context_window": window}))
    for number in range(rounds):
        asked, answered = TALK[number % len(TALK)]
        tail = f" That was question {number + 1} of the list." + " And so on." * padding
        workplace.store.append(session, user(asked + tail))
        workplace.store.append(session, reply(answered + tail, model=model))
    return session


def open_session(workplace, session_id, model, summary_model=None):
    name = workplace.model_name(model)
    plan = workplace.plan(name, (workplace.kept_options(session_id),))
    return workplace.session(session_id, plan, summary_model)


async def events_of(work, until=None):
    seen = []
    async for event in work:
        seen.append(event)
        if until is not None:
            until(event)
    return seen


# ---- every setting arrives ----------------------------------------------------------------------

ARRIVALS = {
    "compaction.enabled": lambda s: s.enabled,
    "compaction.mode": lambda s: s.mode,
    "compaction.reserve_tokens": lambda s: s.reserve_tokens,
    "compaction.reserve_floor": lambda s: s.reserve_floor,
    "compaction.keep_recent_tokens": lambda s: s.keep_recent,
    "compaction.in_place": lambda s: s.in_place,
    "compaction.instructions": lambda s: s.wishes.instructions,
    "compaction.identifier_policy": lambda s: s.wishes.policy,
    "compaction.identifier_text": lambda s: s.wishes.custom,
    "compaction.timeout_seconds": lambda s: s.timeout_seconds,
    "pruning.result_chars": lambda s: s.result_chars,
    "pruning.order": lambda s: s.order,
    "pruning.mode": lambda s: s.cache.mode,
    "pruning.ttl_seconds": lambda s: s.cache.ttl_ms / 1_000,
}
"""Where each setting is found in what a session is given."""
ELSEWHERE = {
    "compaction.idle_seconds",
    "compaction.model",
    "compaction.notify",
    "compaction.verbose",
}
"""What is no figure of the window: see the tests of the model for summaries, and of the client."""

WINDOW_KEYS = sorted(key for key in SETTINGS if key.startswith(("compaction.", "pruning.")))


def another_value(setting):
    """An allowed value that is not the default."""
    if setting.kind == "switch":
        return not setting.default
    if setting.choices:
        return next(choice for choice in setting.choices if choice != setting.default)
    return setting.default + 7 if setting.kind == "whole" else "in words of my own"


def test_every_setting_is_looked_at():
    """A new setting of these sections is a new line above."""
    assert set(WINDOW_KEYS) == set(ARRIVALS) | ELSEWHERE


@pytest.mark.parametrize("key", ARRIVALS)
def test_a_setting_arrives(place, key):
    """A value other than the default, from the file, alone: it and nothing else has changed."""
    value = another_value(SETTINGS[key])
    section, name = key.split(".")
    place.settings(f"[{section}]\n{name} = {json.dumps(value)}\n")
    workplace = place.open()
    assert workplace.settings.problems == ()
    arrived = workplace.context_settings()
    assert ARRIVALS[key](arrived) == value != ARRIVALS[key](ContextSettings())
    others = {other: find(arrived) for other, find in ARRIVALS.items() if other != key}
    assert others == {
        other: find(ContextSettings()) for other, find in ARRIVALS.items() if other != key
    }


def test_without_a_file_the_defaults_arrive(place):
    """The settings' defaults are the engine's own."""
    assert place.open().context_settings() == ContextSettings()


def test_all_settings_arrive_together(place):
    """From the environment, all at once."""
    values = {key: another_value(SETTINGS[key]) for key in ARRIVALS}
    for key, value in values.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        place.environment[SETTINGS[key].variable] = text
    workplace = place.open()
    assert workplace.settings.problems == ()
    arrived = workplace.context_settings()
    assert {key: find(arrived) for key, find in ARRIVALS.items()} == values


# ---- the model for summaries --------------------------------------------------------------------


def summarising(seen):
    """A summary where one is asked for, a word everywhere else."""
    asked = PromptMessage("user", str(seen.messages[-1]["content"]))
    return Reply(SUMMARY if asks_for_summary(PromptRequest("m", (asked,), 1, 1)) else "Fine.")


@pytest.fixture
def server(place):
    """An Ollama server whose models summarise when they are asked to."""
    with OllamaDouble() as double:
        double.always(summarising)
        place.environment["PORTHOLE_OLLAMA_HOST"] = double.host
        yield double


def compact(place, model, until=None, after=None, **size):
    """Compact a stored conversation; its end, the compaction that is stored."""

    async def work():
        workplace = place.open()
        try:
            session_id = stored(workplace, model, **size)
            session = open_session(workplace, session_id, model)
            events = await events_of(session.compact(), until)
            if after is not None:
                await after(workplace, session)
            path = workplace.store.path(session_id)
            bodies = [entry.body for entry in path if isinstance(entry.body, Compaction)]
            return events[-1], bodies
        finally:
            await workplace.close()

    return asyncio.run(work())


def test_another_model_writes_the_summary_and_only_that(place, server):
    """`compaction.model`: it is asked once, with its own load; the conversation goes on with its own."""
    place.settings('[compaction]\nmodel = "ollama:plain"\n')

    async def go_on(workplace, session):
        events = await events_of(session.send("And then?"))
        assert isinstance(events[-1], TurnEnded)
        assert events[-1].reason == "stop", events[-1].error

    ended, [body] = compact(place, "ollama:m", after=go_on)
    assert (ended.outcome, body.model, body.summary) == ("done", "ollama:plain", SUMMARY)
    assert [seen.model for seen in server.seen] == ["plain", "m"]
    assert [name for name, _ in server.loads] == ["m", "plain"]


def test_the_conversations_own_model_needs_no_second_one(place, server):
    """The setting names the model that is there: in place, nothing else is loaded."""
    place.settings('[compaction]\nmodel = "ollama:m"\n')
    ended, [body] = compact(place, "ollama:m")
    assert (ended.outcome, body.model, body.way) == ("done", "ollama:m", "in_place")
    assert [name for name, _ in server.loads] == ["m"]


def test_an_option_counts_before_the_setting(place, server):
    """Whoever names a model for this once gets it."""
    place.settings('[compaction]\nmodel = "ollama:gone"\n')

    async def work():
        workplace = place.open()
        try:
            session_id = stored(workplace, "ollama:m")
            session = open_session(workplace, session_id, "ollama:m", "ollama:plain")
            return await events_of(session.compact())
        finally:
            await workplace.close()

    assert asyncio.run(work())[-1].outcome == "done"
    assert [seen.model for seen in server.seen] == ["plain"]


def test_a_missing_model_for_summaries_changes_nothing(place, server):
    """Told with its name; the conversation is as it was, and its own model is not asked instead."""
    place.settings('[compaction]\nmodel = "ollama:gone"\n')
    ended, bodies = compact(place, "ollama:m")
    assert (ended.outcome, bodies) == ("failed", [])
    assert "gone" in ended.text
    assert server.seen == []


def workers():
    """The llama.cpp workers of this process."""
    children = psutil.Process().children(recursive=True)
    return {
        child.pid
        for child in children
        if any("llamacpp_worker" in part for part in child.cmdline())
    }


@pytest.fixture
def second_file(tmp_path, starter_path):
    """The starter under a second name: another model, as far as anybody can tell."""
    link = tmp_path / "second.gguf"
    link.symlink_to(starter_path)
    return link


def small_windows(second_file):
    """Settings under which it writes the summaries, in the window it was trained on."""
    return f'[context]\nhard_min_tokens = 2048\n[compaction]\nmodel = "llama.cpp:{second_file}"\n'


SHORT = {"rounds": 3, "padding": 3}


@pytest.mark.model
def test_a_file_that_writes_summaries_has_a_process_of_its_own(place, server, second_file):
    """It runs while the summary is written, and has ended when that is."""
    place.settings(small_windows(second_file))
    before, during = workers(), []

    def look(event):
        if isinstance(event, CompactionProgress) and not during:
            during.append(workers() - before)

    left = []

    async def look_after(workplace, session):
        left.append(workers() - before)

    ended, _ = compact(place, "ollama:m", until=look, after=look_after, **SHORT)
    assert isinstance(ended, CompactionEnded)
    assert len(during[0]) == 1
    assert left == [set()]
    assert server.seen == []


@pytest.mark.model
def test_a_stop_ends_the_process_of_the_summary_too(place, server, second_file):
    """Stopped while it reads: no worker is left, and nothing was changed."""
    place.settings(small_windows(second_file))
    before, left = workers(), []

    async def work():
        workplace = place.open()
        try:
            session_id = stored(workplace, "ollama:m")
            path = workplace.store.path(session_id)
            session = open_session(workplace, session_id, "ollama:m")

            def stop(event):
                if isinstance(event, CompactionProgress):
                    session.stop()

            events = await events_of(session.compact(), stop)
            left.append(workers() - before)
            return events[-1], workplace.store.path(session_id) == path
        finally:
            await workplace.close()

    ended, is_unchanged = asyncio.run(work())
    assert (ended.outcome, is_unchanged, left) == ("stopped", True, [set()])


@pytest.mark.model
def test_the_conversations_worker_stays_with_what_it_has_read(place, starter_path, second_file):
    """Two files: the conversation's process is the same before, during and after."""
    eight = f'[model."llama.cpp:{starter_path}"]\nmax_tokens = 8\n'
    place.settings(small_windows(second_file) + eight)
    model = f"llama.cpp:{starter_path}"
    pids = []

    async def work():
        workplace = place.open()
        try:
            session_id = stored(workplace, model, window=2_048, **SHORT)
            session = open_session(workplace, session_id, model)

            def stop_it(event):  # as soon as the other one writes
                if isinstance(event, CompactionProgress) and event.doing == "writing":
                    session.stop()

            for step in (session.send("Go on."), session.compact(), session.send("And then?")):
                last = (await events_of(step, stop_it))[-1]
                pids.append(workplace.backend("llama.cpp").worker_pid)
            return last
        finally:
            await workplace.close()

    ended = asyncio.run(work())
    assert ended.reason in ("stop", "length"), ended.error
    assert len(set(pids)) == 1
    assert pids[0] is not None
    assert not psutil.pid_exists(pids[0])


# ---- calibrations -------------------------------------------------------------------------------


def turn(place, text="And then?"):
    """One turn of a new conversation with the server's model; its receipt."""

    async def work():
        workplace = place.open()
        try:
            session_id = stored(workplace, "ollama:m", rounds=12)
            session = open_session(workplace, session_id, "ollama:m")
            events = await events_of(session.send(text))
            assert events[-1].reason == "stop", events[-1].error
            [receipt] = [event for event in events if isinstance(event, Receipt)]
            return receipt
        finally:
            await workplace.close()

    return asyncio.run(work())


def test_what_was_learned_is_kept_and_used(place, server):
    """After a turn the ratio is in the cache folder; what no model has read yet is not scaled down."""
    first = turn(place)
    kept = json.loads(place.calibration.read_text())
    digest = kept["ollama:m"]
    assert kept == {"ollama:m": digest, digest: pytest.approx(0.9)}
    assert place.open().calibrations.of("ollama:m").ratio == kept[digest]
    second = turn(place)
    assert (first.sent_kind, second.sent_kind) == ("estimated", "estimated")
    assert second.sent_tokens == pytest.approx(first.sent_tokens, rel=0.01)
    assert json.loads(place.calibration.read_text())[digest] == pytest.approx(0.81)


def test_a_run_that_counted_nothing_writes_nothing(place):
    """Listing conversations leaves no file."""
    workplace = place.open()
    assert workplace.store.sessions() == ()
    asyncio.run(workplace.close())
    assert not place.calibration.exists()


def folder_in_the_way(file):
    file.mkdir(parents=True)


def damaged(file):
    file.parent.mkdir(parents=True)
    file.write_bytes(b'{"ollama:m": \xff')


@pytest.mark.parametrize("spoil", [folder_in_the_way, damaged])
def test_a_cache_that_cannot_be_read_is_no_fault(place, server, spoil):
    """Nothing is known then; the turn is as good as any."""
    spoil(place.calibration)
    assert place.open().calibrations.of("ollama:m").ratio == 1.0
    assert turn(place).sent_kind == "estimated"


def test_a_cache_folder_that_is_gone_at_the_end_is_no_fault(place, server):
    """Deleted, and a file in its place, while the program ran: the turn and the end are good."""

    async def work():
        workplace = place.open()
        try:
            session_id = stored(workplace, "ollama:m", rounds=12)
            session = open_session(workplace, session_id, "ollama:m")
            events = await events_of(session.send("And then?"))
            cache = workplace.paths.cache_dir
            cache.rename(cache.with_name("moved"))
            cache.write_text("in the way")
            return events[-1]
        finally:
            await workplace.close()

    assert asyncio.run(work()).reason == "stop"
    with_store = place.open()
    with_store.paths.cache_dir.unlink()
    assert len(with_store.store.sessions()) == 1
    with_store.close_store()
