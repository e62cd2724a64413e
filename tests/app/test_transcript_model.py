"""The transcript's items and heights: the smallest change is told, sums are right."""

import random

import pytest

from app.items import CardItem, DayItem, ReplyItem, UserItem
from app.transcript.heights import Heights, estimate
from app.transcript.model import TranscriptModel


def user(name, text="hello"):
    return UserItem(name, text, 0)


@pytest.fixture
def told(qapp):
    """A model of three items, and what it told since."""
    model = TranscriptModel(qapp)
    model.set_items([user("a"), user("b"), user("c")])
    log = []
    model.reset.connect(lambda: log.append("reset"))
    model.changed.connect(lambda first, last: log.append(("changed", first, last)))
    model.removed.connect(lambda first, last: log.append(("removed", first, last)))
    model.inserted.connect(lambda first, last: log.append(("inserted", first, last)))
    yield model, log
    model.deleteLater()


def test_the_same_items_tell_nothing(told):
    """Equal items are no change."""
    model, log = told
    model.set_items([user("a"), user("b"), user("c")])
    assert log == []


def test_new_content_is_a_change(told):
    """Items with new content are told in runs."""
    model, log = told
    model.set_items([user("a", "x"), user("b"), user("c", "y")])
    assert log == [("changed", 0, 0), ("changed", 2, 2)]
    assert model[2].text == "y"


def test_neighbours_that_changed_are_one_run(told):
    """Two items side by side are told together."""
    model, log = told
    model.set_items([user("a"), user("b", "x"), user("c", "y")])
    assert log == [("changed", 1, 2)]


def test_appended_items_are_inserted(told):
    """What comes at the end is inserted; ids are found."""
    model, log = told
    model.set_items([user("a"), user("b"), user("c"), user("d"), user("e")], from_index=3)
    assert log == [("inserted", 3, 4)]
    assert [model.index_of(name) for name in "abcdez"] == [0, 1, 2, 3, 4, -1]


def test_removed_in_the_middle(told):
    """What is gone is removed, and what follows has new indexes."""
    model, log = told
    model.set_items([user("a"), user("c", "new")])
    assert log == [("removed", 1, 1), ("changed", 1, 1)]
    assert [model.index_of(name) for name in "abc"] == [0, -1, 1]


def test_replaced_in_the_middle(told):
    """Another item in the place of one: removed, then inserted."""
    model, log = told
    model.set_items([user("a"), user("x"), user("c")])
    assert log == [("removed", 1, 1), ("inserted", 1, 1)]
    assert (model.index_of("b"), model.index_of("x")) == (-1, 1)


def test_nothing_in_common_is_a_reset(told):
    """Another conversation resets, as does the empty one."""
    model, log = told
    model.set_items([user("x"), user("y")])
    model.set_items([])
    model.set_items([])
    assert log == ["reset", "reset"]
    assert len(model) == 0


def test_a_stored_reply_is_the_live_one(told):
    """The live reply that is stored under its own id is a change, not another item."""
    model, log = told
    base = [user("a"), user("b"), user("c")]
    model.set_items([*base, ReplyItem("live:1", "Hal", state="writing")])
    model.set_items([*base, ReplyItem("e9", "Hallo")], from_index=3)
    assert log == [("inserted", 3, 3), ("changed", 3, 3)]
    assert (model.index_of("live:1"), model.index_of("e9")) == (-1, 3)


def test_another_kind_under_the_same_id_is_another_item(told):
    """A card in the place of a message is not the message changed."""
    model, log = told
    model.set_items([user("a"), user("b"), CardItem("c", "local", "card")])
    assert log == [("removed", 2, 2), ("inserted", 2, 2)]


def test_random_edits_end_in_the_same_list(qapp):
    """Whatever changes, applying what is told gives the new list, and ids are found."""
    dice = random.Random(7)
    model = TranscriptModel(qapp)
    mirror = []
    model.reset.connect(lambda: mirror.__setitem__(slice(None), model.items()))
    model.removed.connect(lambda first, last: mirror.__delitem__(slice(first, last + 1)))
    model.inserted.connect(
        lambda first, last: mirror.__setitem__(
            slice(first, first), [model[at] for at in range(first, last + 1)]
        )
    )
    model.changed.connect(
        lambda first, last: mirror.__setitem__(
            slice(first, last + 1), [model[at] for at in range(first, last + 1)]
        )
    )
    names = [f"n{k}" for k in range(12)]
    for _ in range(300):
        chosen = [name for name in names if dice.random() < 0.7]
        model.set_items([user(name, str(dice.randint(0, 2))) for name in chosen])
        assert mirror == list(model.items())
        assert [model.index_of(item.id) for item in mirror] == list(range(len(mirror)))
    model.deleteLater()


# -- heights ---------------------------------------------------------------------------------


def test_heights_sum_as_a_plain_list_does():
    """Tops, total and place of a random list, through sets, inserts and removals."""
    dice = random.Random(3)
    heights, plain = Heights(), []
    for _ in range(200):
        match dice.randint(0, 3):
            case 0 if plain:
                at, value = dice.randrange(len(plain)), dice.randint(1, 90)
                change = heights.set(at, value)
                assert change == value - plain[at]
                plain[at] = value
            case 1 if plain:
                first = dice.randrange(len(plain))
                last = min(len(plain) - 1, first + dice.randint(0, 2))
                heights.remove(first, last)
                del plain[first : last + 1]
            case _:
                at = dice.choice((len(plain), dice.randint(0, len(plain))))
                new = [dice.randint(1, 90) for _ in range(dice.randint(1, 4))]
                heights.insert(at, new)
                plain[at:at] = new
        assert len(heights) == len(plain)
        assert [heights[at] for at in range(len(plain))] == plain
        assert [heights.top(at) for at in range(len(plain) + 1)] == [
            sum(plain[:at]) for at in range(len(plain) + 1)
        ]
        for y in range(0, sum(plain), 17):
            at = heights.at(y)
            assert sum(plain[:at]) <= y < sum(plain[: at + 1])


def test_places_beyond_the_ends():
    """Above the first item is the first, below the last the last, nothing is 0."""
    heights = Heights([10, 20])
    assert (heights.at(-5), heights.at(1_000), Heights().at(3)) == (0, 1, 0)
    assert Heights().total() == 0


def test_scaling_keeps_at_least_a_pixel():
    """A new width scales all guesses."""
    heights = Heights([10, 1, 30])
    heights.scale(0.5)
    assert [heights[at] for at in range(3)] == [5, 1, 15]


@pytest.mark.parametrize(
    "short_and_long",
    [
        (UserItem("u", "a", 0), UserItem("u", "word " * 100, 0)),
        (ReplyItem("r", "a"), ReplyItem("r", "word " * 500)),
        (ReplyItem("r", "a"), ReplyItem("r", "a", thinking="hm")),
        (ReplyItem("r", "a" * 300), ReplyItem("r", "字" * 300)),
        (CardItem("c", "compaction", "t"), CardItem("c", "compaction", "t", values=("1",))),
        (DayItem("d", 0), CardItem("c", "local", "t")),
    ],
)
def test_a_guess_grows_with_what_it_is_for(short_and_long):
    """More text, wider letters and more parts are guessed higher; zoom multiplies."""
    short, long = short_and_long
    assert 0 < estimate(short, 700) < estimate(long, 700)
    assert estimate(long, 700, 2.0) > estimate(long, 700)
