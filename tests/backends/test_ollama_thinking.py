"""What a server and its models are told of thinking: never what they would refuse."""

import asyncio
from itertools import product

import pytest

from engine.backends.base import TextChunk, ThinkingChunk, Warned
from engine.backends.ollama import OllamaBackend
from engine.backends.ollama_thinking import plan_think, think_choices
from engine.errors import BackendRefused
from engine.events import Notice, TurnEnded
from engine.models import ModelPlan, WindowLimits
from engine.session import Session
from engine.sessiontools import SessionTools
from engine.testing import conversation, memory_store
from engine.testing.ollama import MODELS, OllamaDouble
from engine.testing.ollama_rules import Model, Refusal, checked_think
from engine.testing.ollama_script import Error, Reply
from tests.backends.test_ollama import chunks_of, prompt, said, using

SWITCH, LEVELS = ("off", "on"), ("low", "medium", "high")
WANTED = (None, True, False, "low", "medium", "high", "max")
VERSIONS = ((0, 3, 0), (0, 6, 8), (0, 9, 0), (0, 10, 1), (0, 11, 0), (0, 12, 4), (0, 22, 0), None)
GPT_OSS = Model("gpt-oss:20b", capabilities=("completion", "tools", "thinking"), family="gptoss")
REFUSED = Error('"m" does not support thinking', status=400)


# ---- what is planned ----------------------------------------------------------------------------


@pytest.mark.parametrize("choices", [(), SWITCH, LEVELS, None])
@pytest.mark.parametrize("version", VERSIONS)
def test_nothing_is_said_that_is_refused(choices, version):
    """Of everything that can be wanted, for every server that can be told."""
    for wanted in WANTED:
        planned = plan_think(wanted, choices, version)
        checked_think(planned, version or (0, 33, 0))  # raises a Refusal
        if choices == () or (version is not None and version < (0, 9, 0)):
            assert planned is None
        if version is not None and version < (0, 11, 0):
            assert planned in (None, True, False)


def test_the_double_refuses_levels_that_are_too_new():
    """So the test above can fail."""
    with pytest.raises(Refusal, match="invalid think value"):
        checked_think("max", (0, 21, 0))


@pytest.mark.parametrize(
    ("wanted", "choices", "version", "planned"),
    [
        (True, SWITCH, (0, 9, 0), True),
        ("low", SWITCH, (0, 9, 0), True),
        (False, SWITCH, (0, 9, 0), False),
        ("low", SWITCH, (0, 11, 0), "low"),
        ("max", SWITCH, (0, 21, 9), "high"),
        ("max", SWITCH, (0, 22, 0), "max"),
        ("max", None, None, "max"),
        (False, LEVELS, (0, 12, 6), "low"),
        (False, LEVELS, (0, 9, 0), False),
        ("high", LEVELS, None, "high"),
        (False, None, None, False),
    ],
)
def test_what_is_wanted_is_said_as_the_server_knows_it(wanted, choices, version, planned):
    """Levels become true before there are any; a model that cannot do without thinks little."""
    assert plan_think(wanted, choices, version) == planned


@pytest.mark.parametrize(
    ("choices", "version", "planned"),
    [
        (SWITCH, (0, 9, 0), True),
        (SWITCH, (0, 12, 3), True),
        (SWITCH, (0, 12, 4), None),
        (SWITCH, None, None),
        ((), (0, 9, 0), None),
        (None, (0, 9, 0), None),
    ],
)
def test_the_models_own_way_is_told_apart(choices, version, planned):
    """Before 0.12.4 a server that is told nothing leaves the thinking in the answer."""
    assert plan_think(None, choices, version) == planned


@pytest.mark.parametrize(
    ("capabilities", "names", "choices"),
    [
        ((), ("qwen3:8b", "qwen3"), None),
        (("completion", "tools"), ("gpt-oss:20b",), ()),
        (("completion", "thinking"), ("qwen3:8b", "qwen3"), SWITCH),
        (("completion", "thinking"), ("gpt-oss:20b", ""), LEVELS),
        (("completion", "thinking"), ("mine", "gptoss"), LEVELS),
        (("thinking",), ("mine", "GPT-OSS"), LEVELS),
    ],
)
def test_what_a_model_can_be_told(capabilities, names, choices):
    """By what the server lists, and by its family."""
    assert think_choices(capabilities, names) == choices


# ---- over the socket ----------------------------------------------------------------------------


def told(server, **wanted):
    """The chunks of one reply, and what was said of thinking in each request for it."""
    received = using(server, lambda backend: chunks_of(backend, prompt(**wanted)))
    return received, [body.get("think", "nothing") for body in server.bodies("/api/chat")]


@pytest.mark.parametrize("version", ["0.6.8", "0.9.2", "0.11.4", "0.12.6", "0.33.0"])
def test_no_wish_makes_a_server_refuse(version):
    """Whatever is set for whichever model, on old and new servers: an answer, at once."""
    models = (*MODELS, GPT_OSS)
    for model, wanted in product(("m", "plain", "gpt-oss:20b"), WANTED):
        with OllamaDouble(models, version=version) as server:
            server.say("Good.")
            received, asked = told(server, model=model, think=wanted)
            assert said(received) == "Good."
            assert len(asked) == 1
            if model == "plain" or version == "0.6.8":
                assert asked == ["nothing"]


@pytest.mark.parametrize("version", ["0.9.2", "0.12.3", "0.33.0"])
def test_thinking_is_told_apart_by_every_server_that_can(version):
    """Also where nothing is set for the model."""
    with OllamaDouble(version=version) as server:
        server.say(Reply("Out.", thinking="In."))
        received, _ = told(server)
    assert (said(received, ThinkingChunk), said(received, TextChunk)) == ("In.", "Out.")


def test_describe_says_what_a_model_can_be_told():
    """A switch, levels, nothing; and not known where the server is too old to say."""
    names = ("m", "plain", "gpt-oss:20b")

    async def ways(backend):
        return [(await backend.describe(name)).think for name in names]

    with OllamaDouble((*MODELS, GPT_OSS)) as server:
        assert using(server, ways) == [SWITCH, (), LEVELS]
    with OllamaDouble((*MODELS, GPT_OSS), version="0.6.0") as server:
        assert using(server, ways) == [None, None, None]


@pytest.mark.parametrize("words", [REFUSED.text, 'invalid think value: "max" (must be …)'])
def test_a_server_that_refuses_all_the_same_is_asked_again_without(words):
    """The answer comes, and the user is told; from then on nothing is said of it."""
    with OllamaDouble() as server:
        server.fail(Error(words, status=400))
        server.always(lambda _: Reply("Good."))

        async def twice(backend):
            return [await chunks_of(backend, prompt(think="max")) for _ in range(2)]

        first, second = using(server, twice)
        asked = [body.get("think", "nothing") for body in server.bodies("/api/chat")]
    [warning] = [chunk for chunk in first if isinstance(chunk, Warned)]
    assert (warning.code, said(first), said(second)) == ("no_thinking", "Good.", "Good.")
    assert "“m”" in warning.text
    assert asked == ["max", "nothing", "nothing"]
    assert not any(isinstance(chunk, Warned) for chunk in second)


@pytest.mark.parametrize(
    ("fault", "wanted"),
    [(Error("something else", status=400), "high"), (REFUSED, None)],
)
def test_other_refusals_are_refusals(fault, wanted):
    """Nothing is asked twice that was not refused for its thinking."""
    with OllamaDouble() as server:
        server.fail(fault)
        with pytest.raises(BackendRefused):
            told(server, think=wanted)
        assert len(server.bodies("/api/chat")) == 1


def test_a_refusal_costs_a_conversation_nothing():
    """The turn ends well, with a notice; what was typed and written is kept."""
    with OllamaDouble() as server:
        server.fail(REFUSED)
        server.always(lambda _: Reply("Good."))
        store = memory_store()
        id_, _ = conversation(store)
        limits = WindowLimits(hard_min_tokens=1)
        plan = ModelPlan("ollama:m", "ollama", "m", think="high", limits=limits)

        async def turn():
            backend = OllamaBackend(server.host)
            try:
                session = Session(store, backend, id_, plan, tools=SessionTools())
                return [event async for event in session.send("Why?")]
            finally:
                await backend.close()

        events = asyncio.run(turn())
        path = [entry.body.text for entry in store.path(id_)]
        store.close()
    assert path == ["Why?", "Good."]
    assert "no_thinking" in [e.code for e in events if isinstance(e, Notice)]
    assert isinstance(events[-1], TurnEnded)
    assert events[-1].reason == "stop"
