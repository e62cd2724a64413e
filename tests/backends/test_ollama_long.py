"""Long conversations on an Ollama server at 16,384 tokens: nothing cut, loaded twice or accused."""

import itertools
import random
from dataclasses import replace

import pytest

from engine.events import Notice, Receipt, TurnEnded
from engine.testing.ollama import MODELS, OllamaDouble
from engine.testing.ollama_rules import words_of
from tests.backends.ollama_desk import WINDOW, Desk
from tests.engine.long_talk import complaints, diary

TURNS = 200
WORDS = [
    "river",
    "stone",
    "bridge",
    "lamp",
    "winter",
    "garden",
    "窗 户",
    "письмо",
    "morning",
    "x = 1;",
]


def sizes(turns, most, seed):
    chance = random.Random(seed)
    return [chance.choice((5, 40, most // 4, most)) + chance.randrange(40) for _ in range(turns)]


# ---- two hundred turns --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def talked():
    """Two hundred pages of all sizes, by the rules of the newest server."""
    with OllamaDouble() as double:
        desk = Desk(double)
        texts = [diary(n, size) for n, size in enumerate(sizes(TURNS, 600, 3))]
        rows = desk.long_talk(texts)
        yield desk, rows
        desk.store.close()


def test_two_hundred_turns_are_answered(talked):
    """Every one, within the budget, and the window was folded on the way."""
    _, rows = talked
    assert [row.ended for row in rows] == ["stop"] * TURNS
    assert len([row for row in rows if row.compactions]) >= 3
    within = [line for line in complaints(rows, WINDOW) if "compactions" not in line]
    assert within == []


def test_two_hundred_turns_are_not_cut(talked):
    """The models were given every word of every request."""
    desk, _ = talked
    given = [list(seen.words) for seen in desk.server.seen]
    assert given == [words_of(body["messages"]) for body in desk.bodies]


def test_two_hundred_turns_load_the_model_once(talked):
    """Replies and summaries alike."""
    assert talked[0].server.loads == [("m", WINDOW)]


def test_two_hundred_turns_have_the_same_load_options(talked):
    """Also the requests that only load."""
    bodies = talked[0].server.bodies()
    assert len(bodies) > 2 * TURNS
    options = {
        (b["options"]["num_ctx"], b["truncate"], b["shift"], b["keep_alive"]) for b in bodies
    }
    assert options == {(WINDOW, False, False, "30m")}


def test_two_hundred_turns_grow_by_appending(talked):
    """Each request begins with the one before, but after a compaction."""
    desk, rows = talked
    folded = {row.turn for row in rows if row.compactions}
    otherwise = set()
    for turn, (one, two) in enumerate(itertools.pairwise(desk.chats), 1):
        before, after = one["messages"], two["messages"]
        if after[: len(before)] != before:
            otherwise.add(turn)
    assert otherwise <= folded | {turn - 1 for turn in folded}
    assert 0 < len(otherwise) <= len(folded)


# ---- a thousand honest turns --------------------------------------------------------------------


@pytest.mark.parametrize("version", ["0.3.14", "0.6.8", "0.12.6", "0.33.0"])
@pytest.mark.parametrize("per_word", [1, 2])
def test_honest_turns_are_not_accused(version, per_word):
    """Two times four hundred and fifty turns of random sizes and scripts: not one false alarm."""
    model = next(model for model in MODELS if model.name == "m")
    chance = random.Random(f"{version} {per_word}")
    wrong = []

    async def look(event):
        if isinstance(event, Notice) and event.code in ALARMS:
            wrong.append(event)
        if isinstance(event, Receipt) and event.mismatch is not None:
            wrong.append(event)
        if isinstance(event, TurnEnded) and event.reason != "stop":
            wrong.append(event)

    with OllamaDouble((replace(model, tokens_per_word=per_word),), version=version) as double:
        desk = Desk(double)
        desk.reply = lambda _: " ".join(chance.choices(WORDS, k=chance.randint(1, 60)))
        try:
            texts = (" ".join(chance.choices(WORDS, k=size)) for size in sizes(125, 500, 5))
            desk.say(*texts, until=look)
            assert wrong == []
            assert desk.compactions
        finally:
            desk.store.close()


ALARMS = {"read_otherwise", "server_cut", "window_shrank", "reloaded"}
