"""What entries weigh: exact where a tokenizer is at hand, estimated elsewhere, each text once."""

import asyncio

import pytest

from engine.backends.base import PromptMessage
from engine.tokens import MESSAGE_OVERHEAD_TOKENS, estimate_messages
from engine.transcript import (
    Compaction,
    Custom,
    CustomMessage,
    Entry,
    Message,
    Pin,
    Text,
    Thinking,
    TokenIds,
    ToolCall,
    Usage,
    user,
)
from engine.view import plan_visible, shortening_entry
from engine.weighing import Scale
from tests.engine.compact_items import calls, entries, result, said

OVERHEAD = MESSAGE_OVERHEAD_TOKENS


class Tokenizer:
    """Counts characters, remembers what it was asked."""

    def __init__(self):
        self.asked = []

    async def __call__(self, texts):
        self.asked.append(list(texts))
        return tuple(len(text) for text in texts)

    @property
    def texts(self):
        return [text for texts in self.asked for text in texts if text]


async def nobody(texts):
    """No tokenizer."""


def weigh(words, count=None, scale=None):
    """Weights of a path in its order."""
    path = words if isinstance(words, tuple) else entries(words)
    weights = asyncio.run((scale or Scale()).weigh(path, count or Tokenizer()))
    return [weights[entry.id] for entry in path]


def written(text, *ids, vocabulary="v", **more):
    return Message("assistant", (Text(text),), token_ids=TokenIds(vocabulary, ids), **more)


# ---- exact ------------------------------------------------------------------------------------------


def test_message_weighs_its_text_and_the_template_s_frame():
    """Words and what a chat template puts around them."""
    assert weigh([user("12345")]) == [5 + OVERHEAD]


def test_tool_calls_weigh_their_names_and_arguments():
    """A call is text too, in the language it is written in."""
    call = ToolCall("c", "search", {"words": "灯塔"})
    tokenizer = Tokenizer()
    [weight] = weigh([Message("assistant", (Text("One."), call))], tokenizer)
    [text] = tokenizer.texts
    assert "search" in text
    assert "灯塔" in text
    assert weight == len(text) + OVERHEAD > len("One.search灯塔") + OVERHEAD


def test_summary_weighs_what_it_is_put_before_the_model_in():
    """Frame, tags and exact values included."""
    facts = {"values": [{"kind": "port", "value": "8443"}]}
    bare, full = weigh([Compaction("Short.", ""), Compaction("Short.", "", facts=facts)])
    assert bare > len("Short.") + 2 * len("<summary>")
    assert full > bare + len("8443")


@pytest.mark.parametrize(
    "body",
    [
        Custom("state", {"a": "long"}),
        Pin("e0"),
        CustomMessage("runtime-context", "long"),
        Message("assistant", (Thinking("long"),), stop_reason="stopped"),
    ],
    ids=["data", "pin", "runtime-context", "nothing-written"],
)
def test_what_reaches_no_model_weighs_nothing(body):
    """Not even the template's frame."""
    assert weigh([body]) == weigh([body], nobody) == [0]


def test_details_weigh_nothing():
    """A megabyte of details beside a short result (SPEC1 12.3.1)."""
    body = Message("tool_result", (Text("abcd"),), details={"raw": "x" * 10**6})
    assert weigh([body]) == [4 + OVERHEAD]


# ---- stored ids ---------------------------------------------------------------------------------------


def test_reply_with_ids_of_this_vocabulary_weighs_their_number():
    """What the model wrote is what it will read: nothing is tokenized for it."""
    tokenizer = Tokenizer()
    assert weigh([written("a long text", 1, 2, 3)], tokenizer, Scale("v")) == [3 + OVERHEAD]
    assert tokenizer.texts == []


def test_ids_of_another_vocabulary_do_not_count():
    """After a change of the model the text is weighed."""
    assert weigh([written("12345", 1, 2, vocabulary="w")], scale=Scale("v")) == [5 + OVERHEAD]


def test_ids_of_a_reply_with_calls_do_not_count():
    """A template prints calls in its own way: the ids need not be what is read."""
    body = Message(
        "assistant",
        (Text("12345"), ToolCall("c", "f", {})),
        token_ids=TokenIds("v", (1, 2)),
    )
    assert weigh([body], scale=Scale("v"))[0] > 5 + OVERHEAD


def test_ids_do_not_count_where_nobody_can_tokenize():
    """One rule for all messages of an estimate."""
    [weight] = weigh([written("word " * 50, 1)], nobody, Scale("v"))
    assert weight > 50


# ---- estimated ------------------------------------------------------------------------------------------


def test_without_a_tokenizer_messages_are_estimated():
    """The estimator in use, the frame included."""
    [weight] = weigh([user("灯塔 and lamp")], nobody)
    assert weight == estimate_messages((PromptMessage("user", "灯塔 and lamp"),))


# ---- asked once -------------------------------------------------------------------------------------------


def test_texts_weighed_once_are_not_weighed_again():
    """A second look counts only what is new."""
    scale, tokenizer = Scale(), Tokenizer()
    path = entries([user("one"), said("assistant", "two"), user("three")])
    first = weigh(path[:2], tokenizer, scale)
    again = weigh(path, tokenizer, scale)
    assert again[:2] == first
    assert tokenizer.texts == ["one", "two", "three"]
    weigh(path, tokenizer, scale)
    assert len(tokenizer.asked) == 2


def test_equal_body_of_a_reopened_conversation_is_known():
    """The store makes new objects at every read; the same words are the same weight."""
    scale, tokenizer = Scale(), Tokenizer()
    weigh(entries([user("one")]), tokenizer, scale)
    weigh(entries([user("one")]), tokenizer, scale)
    assert tokenizer.texts == ["one"]


def test_shortened_result_is_weighed_anew():
    """The entry's id is the same, what is sent is not."""
    scale, tokenizer = Scale(), Tokenizer()
    path = entries(["user", calls("a"), result("a"), shortening_entry({"e2": "f"}), "user"])
    whole = weigh(plan_visible(path[:3]), tokenizer, scale)
    short = weigh(plan_visible(path), tokenizer, scale)
    assert (whole[2], short[2]) == (5 + OVERHEAD, 1 + OVERHEAD)


def test_changed_usage_of_a_reply_costs_a_count_and_no_more():
    """Any change of a body is looked at again; the weight stays what its words weigh."""
    scale = Scale()
    one = weigh(entries([said("assistant", "12345")]), scale=scale)
    two = weigh(
        entries([Message("assistant", (Text("12345"),), usage=Usage(read_tokens=9))]), scale=scale
    )
    assert one == two


# ---- in portions --------------------------------------------------------------------------------------------


def test_large_archive_is_asked_for_in_portions():
    """Each portion holds at most two million characters, or one message that is larger."""
    sizes = [900_000, 900_000, 900_000, 2_500_000, 10, 10]
    path = entries([user("x" * size) for size in sizes])
    tokenizer = Tokenizer()
    assert weigh(path, tokenizer) == [size + OVERHEAD for size in sizes]
    asked = [[len(text) for text in texts] for texts in tokenizer.asked]
    assert [size for portion in asked for size in portion] == sizes
    assert all(sum(portion) <= 2_000_000 or len(portion) == 1 for portion in asked)
    assert len(asked) > 2


def test_nothing_new_asks_nobody():
    """An empty path, and a path that is known."""
    tokenizer = Tokenizer()
    assert weigh((), tokenizer) == []
    assert tokenizer.asked == []


def test_results_that_were_put_in_have_a_weight_too():
    """They have no id of their own; they are sent all the same."""
    path = plan_visible(entries(["user", calls("a", "b"), "user"]))
    assert [entry.id for entry in path] == ["e0", "e1", "", "", "e2"]
    weights = weigh(path)
    assert weights[2] == weights[3] > OVERHEAD


def test_entries_of_two_conversations_do_not_meet():
    """A weight is found by the entry's id and its body, not by the id alone."""
    scale = Scale()
    here = (Entry("e0", "s", None, 0, user("123")),)
    there = (Entry("e0", "t", None, 0, user("12345")),)
    assert weigh(here, scale=scale) == [3 + OVERHEAD]
    assert weigh(there, scale=scale) == [5 + OVERHEAD]
