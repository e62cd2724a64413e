"""A server that lies of its window or its counts: told in the same turn, and nothing built on it.

What cannot be told is not here: a server that lowers its window, says otherwise and forgets while it
writes shows none of that on the wire, until a prompt no longer fits; then it is told.
"""

import asyncio
import itertools
from dataclasses import dataclass, field

import pytest

from engine.backends.base import LoadRequest, PromptMessage, PromptRequest, Warned
from engine.backends.ollama import OllamaBackend
from engine.events import Notice, Receipt
from engine.testing.ollama import OllamaDouble
from engine.testing.ollama_script import Reply
from engine.testing.ollama_switches import absent, zero
from engine.tokens import find_anchor
from tests.backends.ollama_desk import WINDOW, Desk
from tests.engine.long_talk import diary

PAGE = 1_200
"""Tokens of a message, as they are estimated; three turns of them fit every budget here."""
REPLY = " ".join(f"lamp number {n} was lit at dusk" for n in range(60))
ALARMS = (
    "read_otherwise",
    "server_cut",
    "window_shrank",
    "reloaded",
    "window_note",
    "window_small",
)


@dataclass
class Lied:
    """What a turn told while the server lied, and the one after it, when it was honest again."""

    desk: Desk
    lied: list = field(default_factory=list)
    after: list = field(default_factory=list)

    @property
    def alarms(self):
        return [e.code for e in self.lied if isinstance(e, Notice) and e.code in ALARMS]

    @property
    def mismatch(self):
        return next(e.mismatch for e in self.lied if isinstance(e, Receipt))

    @property
    def later(self):
        alarms = [e.code for e in self.after if isinstance(e, Notice) and e.code in ALARMS]
        return alarms, next(e.mismatch for e in self.after if isinstance(e, Receipt))


def lying(begin, end, *, turns=2, version="0.33.0", **double):
    """Some honest turns, one in which the server lies, an honest one."""
    with OllamaDouble(version=version, **double) as server:
        desk = Desk(server, reply=REPLY)
        told = Lied(desk)
        try:
            for number in range(turns):
                desk.say(diary(number, PAGE))
                assert desk.ended.reason == "stop"
            begin(server)
            told.lied = desk.say(diary(turns, PAGE))
            assert desk.ended.reason in ("stop", "length")
            end(server)
            told.after = desk.say(diary(turns + 1, 40))
            assert desk.ended.reason == "stop"
            told.anchor = find_anchor(desk.path, desk.session.plan.label)
        finally:
            desk.store.close()
    return told


def set_prompt(count):
    return lambda server: setattr(server.switches, "prompt_count", count)


def set_reply(count):
    return lambda server: setattr(server.switches, "reply_count", count)


# ---- counts -------------------------------------------------------------------------------------

PROMPT_LIES = {
    "absent": absent,
    "zero": zero,
    "half": lambda n: n // 2,
    "a quarter": lambda n: n // 4,
    "a tenth less": lambda n: n * 3 // 4,
    "always 2,048": lambda _: 2_048,
    "one": lambda _: 1,
    "twice": lambda n: 2 * n,
    "tenfold": lambda n: 10 * n,
    "more than the window": lambda _: WINDOW + 1,
    "absurd": lambda _: 2**62,
}


@pytest.mark.parametrize(
    ("lie", "version"),
    [
        *((name, "0.33.0") for name in PROMPT_LIES),
        *itertools.product(("absent", "half", "twice"), ("0.3.14", "0.6.8", "0.12.6")),
    ],
)
def test_a_wrong_count_of_the_prompt(lie, version):
    """On the receipt and as a notice, in that turn; the next honest one is not accused."""
    told = lying(set_prompt(PROMPT_LIES[lie]), set_prompt(None), version=version)
    assert told.alarms == ["read_otherwise"]
    assert told.mismatch.sentence
    assert told.mismatch.remedy
    assert told.later == ([], None)


REPLY_LIES = {
    "absent": absent,
    "zero": zero,
    "a tenth": lambda n: n // 10,
    "tenfold": lambda n: 10 * n,
    "more than it was allowed": lambda _: WINDOW + 1,
}


@pytest.mark.parametrize("lie", REPLY_LIES.values(), ids=REPLY_LIES)
def test_a_wrong_count_of_the_reply(lie):
    """What arrived cannot have so many tokens, or so few."""
    told = lying(set_reply(lie), set_reply(None))
    assert "read_otherwise" in told.alarms
    assert told.mismatch.cause in ("miscounted", "untold")
    assert told.later == ([], None)


@pytest.mark.parametrize("lie", [lambda n: n // 4, lambda n: 10 * n], ids=["less", "more"])
def test_nothing_is_built_on_a_lie(lie):
    """The size of the conversation is taken from the next honest reply, and estimated until then."""
    told = lying(set_prompt(lie), set_prompt(None))
    [after] = [e for e in told.after if isinstance(e, Receipt)]
    assert after.sent_kind == "anchored"
    read = len(told.desk.server.seen[-1].words)
    assert read <= after.sent_tokens <= 2 * read
    assert told.anchor.tokens - after.usage.written_tokens == read


# ---- windows ------------------------------------------------------------------------------------


@pytest.mark.parametrize("double", [{"window_limit": 12_000}, {"slots": 2}], ids=str)
def test_a_window_that_came_out_smaller(double):
    """Told in the first turn, with both figures; it is the window from then on."""
    with OllamaDouble(**double) as server:
        desk = Desk(server)
        desk.say("hello")
        notes = [n.text for n in desk.told(Notice) if n.code == "window_note"]
        desk.store.close()
        [loaded] = server.windows().values()
    assert len(notes) == 1
    assert f"{WINDOW:,}" in notes[0]
    assert f"{loaded:,}" in notes[0]
    assert desk.told(Receipt)[0].window_tokens == loaded


def test_a_window_that_is_lowered_while_it_is_loaded():
    """Nothing was loaded again, and the server tells: in the next turn it is known."""

    def lower(server):
        server.switches.lowers_to = 12_000

    told = lying(lower, lambda server: None)
    assert told.alarms == ["window_small", "window_note"]
    assert told.mismatch is None


@pytest.mark.parametrize("how", ["messages", "both", "system"])
@pytest.mark.parametrize("window", [1_024, 2_048, 3_000])
def test_a_smaller_window_that_is_lied_about(how, window):
    """The server says that all is as it was, and cuts what it was told not to cut."""

    def lower(server):
        server.switches.lowers_to, server.switches.ps_lies = window, True
        server.switches.truncates_anyway = how

    def honest(server):
        server.switches.lowers_to, server.switches.ps_lies = 0, False
        server.switches.truncates_anyway = ""

    told = lying(lower, honest)
    assert told.desk.server.log.truncations
    assert told.alarms == ["read_otherwise"]
    assert "was not seen" in told.mismatch.sentence
    assert told.later == ([], None)


def test_a_first_prompt_that_is_cut():
    """Nothing was read before to hold it against: the text itself says that it cannot be so little."""
    with OllamaDouble() as server:
        server.switches.lowers_to, server.switches.ps_lies = 1_024, True
        server.switches.truncates_anyway = "both"
        desk = Desk(server)
        desk.say(diary(1, 5_000))
        [receipt] = desk.told(Receipt)
        desk.store.close()
    assert server.log.truncations
    assert receipt.mismatch is not None


def test_a_window_that_another_program_changed():
    """It is loaded again as it was, and that is told, with what the other wanted."""
    told = lying(lambda server: server.other_client("m", 4_096), lambda server: None)
    assert told.alarms == ["reloaded"]
    assert told.mismatch is None


def test_a_reload_within_a_reply_that_came_out_smaller():
    """Another program's load was between, and the memory it left is less."""
    request = PromptRequest("m", (PromptMessage("user", "hello"),), WINDOW, 100)

    async def work(backend, server):
        await backend.load(LoadRequest("m", WINDOW), lambda _: None)
        server.state.window_limit = 12_000
        server.other_client("m", 4_096)
        return [chunk async for chunk in backend.stream(request) if isinstance(chunk, Warned)]

    with OllamaDouble() as server:
        warned = run_backend(server, work)
    assert [chunk.code for chunk in warned] == ["reloaded", "window_shrank"]
    assert "12,000" in warned[1].text


def test_a_full_window_that_is_shifted():
    """More was read and written than the window holds: the beginning was forgotten meanwhile."""
    messages = (PromptMessage("user", "word " * 900),)
    request = PromptRequest("m", messages, 1_000, 400)  # the prompt was thought to be smaller

    async def work(backend, server):
        return [chunk async for chunk in backend.stream(request) if isinstance(chunk, Warned)]

    with OllamaDouble() as server:
        server.switches.shifts_anyway = True
        server.say(Reply(" ".join(f"w{n}" for n in range(300))))
        warned = run_backend(server, work)
    assert server.log.shifts
    assert [chunk.code for chunk in warned] == ["server_cut"]


def run_backend(server, work):
    """Run something with a backend of its own."""

    async def main():
        backend = OllamaBackend(server.host)
        try:
            return await work(backend, server)
        finally:
            await backend.close()

    return asyncio.run(main())
