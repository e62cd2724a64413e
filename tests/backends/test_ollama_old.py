"""Servers before 0.12.6, which cut in silence what is too long: nothing that is sent there is cut."""

import random
from dataclasses import replace
from itertools import product

import pytest

from engine.errors import ContextOverflow, MessageTooLarge
from engine.events import CompactionEnded, Notice
from engine.testing.ollama import MODELS, OllamaDouble
from engine.testing.ollama_rules import Model
from tests.backends.ollama_desk import WHOLE, WINDOW, Desk
from tests.engine.long_talk import diary

OLD = ["0.3.14", "0.6.8", "0.12.5"]
LONG = diary(0, 2 * WINDOW)
"""A reply that goes on until it is told to stop."""


def desk_at(server, **more):
    return Desk(server, settings=WHOLE, **more)


def old_server(version, per_word):
    return OllamaDouble((Model("m", tokens_per_word=per_word),), version=version)


def lost(server):
    """What the server dropped without a word, of prompts and during replies."""
    return [*server.log.truncations, *server.log.shifts]


def pages(tokens):
    """A conversation of about so many tokens that another model had: no count is known of it."""
    each = 900
    texts = [diary(n, each - 12) for n in range(tokens // each)]
    return tuple(text for page in texts for text in (page, "Noted, as every page before it."))


@pytest.mark.parametrize(
    ("version", "per_word", "tokens"),
    [
        *product(OLD, (1, 3), (9_000,)),
        *product(("0.6.8",), (2, 3), (2_000, 6_000, 13_000, 30_000)),
    ],
)
def test_a_first_turn_is_never_cut(version, per_word, tokens):
    """Whatever its tokenizer: a conversation taken along is sent whole, folded, or not at all."""
    with old_server(version, per_word) as server:
        desk = desk_at(server, history=pages(tokens), reply=LONG)
        desk.say("And what was the first page about?")
        assert lost(server) == []
        assert desk.ended.reason == "length" or isinstance(desk.ended.error, ContextOverflow)
        desk.store.close()


@pytest.mark.parametrize("version", OLD)
def test_a_short_conversation_is_just_sent(version):
    """Caution costs nothing where there is room."""
    with old_server(version, 2) as server:
        desk = desk_at(server, history=pages(5_000))
        desk.say("And what was the first page about?")
        assert desk.ended.reason == "stop"
        assert desk.told(CompactionEnded) == []
        desk.store.close()


@pytest.mark.parametrize("version", OLD)
def test_a_long_conversation_is_folded_before_it_is_sent(version):
    """What would fit by its estimate alone is folded first, in requests that are not cut either."""
    with old_server(version, 2) as server:
        desk = desk_at(server, history=pages(10_000))
        desk.say("And what was the first page about?")
        assert desk.ended.reason == "stop"
        assert [ended.outcome for ended in desk.told(CompactionEnded)] == ["done"]
        assert lost(server) == []
        desk.store.close()


@pytest.mark.parametrize("version", OLD)
def test_a_message_that_may_be_too_long_is_not_sent(version):
    """One long first message cannot be folded: it is kept. Shorter ones go on, and are not cut."""
    with old_server(version, 2) as server:
        desk = desk_at(server)
        desk.say(diary(1, 7_000))
        assert isinstance(desk.ended.error, MessageTooLarge)
        assert desk.chats == []
        desk.run(desk.session.send(diary(2, 300)))
        assert desk.ended.reason == "stop"
        assert lost(server) == []
        desk.store.close()


def test_after_a_reply_it_is_known():
    """Once the server has counted a prompt, the same message is sent, and not cut."""
    with old_server("0.6.8", 1) as server:
        desk = desk_at(server)
        desk.say(diary(1, 300), diary(2, 7_000))
        assert desk.ended.reason == "stop"
        assert lost(server) == []
        desk.store.close()


@pytest.mark.parametrize("version", OLD)
@pytest.mark.parametrize("per_word", [1, 2])
def test_a_long_talk_is_never_cut(version, per_word):
    """Forty turns of all sizes, with replies as long as they may be: not one token is lost."""
    chance = random.Random(f"{version} {per_word}")
    model = next(model for model in MODELS if model.name == "m")
    with OllamaDouble((replace(model, tokens_per_word=per_word),), version=version) as server:
        desk = desk_at(server)
        for turn in range(40):
            desk.reply = LONG if turn in (7, 31) else diary(turn, chance.randint(1, 200), 3)
            desk.say(diary(turn, chance.choice((10, 200, 1_000))))
            assert desk.ended.reason in ("stop", "length")
        assert desk.compactions
        assert lost(server) == []
        desk.store.close()


@pytest.mark.parametrize("version", OLD)
def test_it_is_said_once_in_every_conversation(version):
    """That the server is old, and what is done about it."""
    with old_server(version, 1) as server:
        for _ in range(2):
            desk = desk_at(server)
            told = []
            for text in ("hello", "hello again"):
                desk.run(desk.session.send(text))
                told += [notice for notice in desk.told(Notice) if notice.code == "old_server"]
            assert len(told) == 1
            assert version in told[0].text
            assert told[0].level == "warning"
            desk.store.close()
