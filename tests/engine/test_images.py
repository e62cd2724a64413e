"""Pictures of a user's messages: who gets them, what stands for them elsewhere, what they weigh."""

import asyncio
import io
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.backends.base import PromptMessage
from engine.context import ContextSettings
from engine.errors import MessageTooLarge
from engine.events import Receipt
from engine.lens import plan_lens, plan_prompt
from engine.prompt import plan_messages
from engine.receipts import Receipts, SentPrompt
from engine.segments import plan_fit, plan_segments
from engine.testing import ScriptedBackend, memory_store, reply
from engine.tokens import IMAGE_TOKENS, Count, estimate_messages
from engine.transcript import (
    Custom,
    Entry,
    Image,
    Message,
    Text,
    Usage,
    from_payload,
    to_payload,
    user,
)
from engine.view import UNSENT
from engine.weighing import size_of, surely_fits
from tests.engine.talks import Talk, words

CAT = Image("image/png", "Y2F0", "cat.png", 640, 480)
DOG = Image("image/jpeg", "ZG9n", "my\ndog.jpg", 1568, 1045)
NAMELESS = Image("image/png", "YmFyZQ==")
SEEN = user("Who is this?", (CAT, DOG))


def talk_of(*bodies, sees_images, **fields):
    """A conversation with these bodies, and a model that sees pictures, or does not."""
    talk = Talk(**fields)
    talk.backend.sees_images = sees_images
    for body in bodies:
        talk.store.append(talk.session_id, body)
    return talk


def entry(body):
    return Entry("e", "s", None, 0, body)


def looked_at(talk):
    """The view of the whole conversation."""
    talk.run(talk.session.compact())  # loads the model; there is nothing to fold
    return asyncio.run(talk.session.peek(talk.path))


# ---- what a model gets --------------------------------------------------------------------------


def test_a_model_that_sees_gets_the_pictures_beside_the_text():
    """As base64, in order; the text stays as it was typed."""
    [planned] = plan_messages([entry(SEEN)], "", pictures="sent")
    assert planned == PromptMessage("user", "Who is this?", images=("Y2F0", "ZG9n"))


def test_a_model_that_sees_none_is_told_that_there_are_pictures():
    """Nothing is left out in silence; a name is one line."""
    [planned] = plan_messages([entry(SEEN)], "")
    assert planned.images == ()
    assert planned.content == (
        "Who is this?\n\n[image: cat.png, not shown to this model]\n"
        "[image: my dog.jpg, not shown to this model]"
    )


def test_a_picture_alone_is_a_message_too():
    """For a model that sees none, its mark is all there is."""
    [planned] = plan_messages([entry(user("", (NAMELESS,)))], "")
    assert planned.content == "[image, not shown to this model]"
    [planned] = plan_messages([entry(user("", (NAMELESS,)))], "", pictures="sent")
    assert planned == PromptMessage("user", "", images=("YmFyZQ==",))


messages = st.lists(
    st.one_of(
        st.builds(
            user, st.sampled_from(["", "look", words(300)]), st.lists(st.just(CAT), max_size=3)
        ),
        st.just(reply("I see.")),
        st.builds(
            lambda role: Message(role, (Text("12:00"), CAT)),
            st.sampled_from(["tool_result", "system", "assistant", "user"]),
        ),
    ),
    max_size=8,
)


@settings(deadline=None, max_examples=40)
@given(messages, st.booleans(), st.booleans())
def test_no_picture_ever_reaches_a_model_that_sees_none(bodies, sees, exact):
    """Replies and summaries alike; after a change of model, earlier pictures are left out too."""
    with talk_of(*bodies, sees_images=True, exact=exact) as talk:
        talk.say("And now?")
        talk.backend.sees_images = sees
        talk.session.switch(talk.plan(name="other"), talk.backend)
        before = len(talk.backend.requests)
        talk.run(talk.session.compact(), talk.session.send(SEEN))
        after = talk.backend.requests[before:]
        assert after
        sent = [data for request in after for m in request.messages for data in m.images]
        assert bool(sent) == sees
        for request in talk.summaries:
            assert not any(message.images for message in request.messages)


def test_after_a_change_to_a_model_without_eyes_the_marks_stand_in_the_prompt():
    """Nothing of the earlier messages is cut in silence."""
    with talk_of(sees_images=True) as talk:
        talk.say(SEEN)
        assert talk.chats[-1].messages[-1].images == ("Y2F0", "ZG9n")
        talk.backend.sees_images = False
        talk.session.switch(talk.plan(name="blind"), talk.backend)
        talk.say("And now?")
        first = talk.chats[-1].messages[0]
        assert (first.images, "[image: cat.png, not shown to this model]" in first.content) == (
            (),
            True,
        )


def test_a_summary_is_asked_for_with_marks_and_folds_the_pictures():
    """The summary's request has words only; what is folded is not sent any more."""
    old = [body for _ in range(6) for body in (SEEN, reply(words(500)))]
    with talk_of(*old, sees_images=True) as talk:
        talk.run(talk.session.compact())
        [summary] = talk.summaries
        told = "\n".join(message.content for message in summary.messages)
        assert "[image: cat.png]" in told
        assert not any(message.images for message in summary.messages)
        talk.say("Go on.")
        pictures = [data for message in talk.chats[-1].messages for data in message.images]
        assert len(pictures) < 12


# ---- what they weigh ----------------------------------------------------------------------------


@pytest.mark.parametrize("exact", [True, False])
def test_pictures_are_in_the_count_and_in_the_weights(exact):
    """By so many tokens each; they weigh nothing where they are not sent."""
    sizes = {}
    for sees in (True, False):
        with talk_of(SEEN, sees_images=sees, exact=exact) as talk:
            view = looked_at(talk)
            sizes[sees] = view.count.tokens, view.weights[talk.path[0].id]
    assert sizes[True][0] - sizes[False][0] > 2 * IMAGE_TOKENS * 0.9
    assert sizes[True][1] - sizes[False][1] > 2 * IMAGE_TOKENS * 0.9


@pytest.mark.parametrize("exact", [True, False])
def test_pictures_are_files_in_the_meter(exact):
    """Together with the rest they are the count."""
    with talk_of(SEEN, reply("A cat."), sees_images=True, exact=exact) as talk:
        view = looked_at(talk)
        parts = {segment.name: segment.tokens for segment in plan_segments(view)}
    assert sum(parts.values()) == view.count.tokens
    assert parts["files"] > 20 * parts["your messages"]


def test_pictures_that_are_not_sent_are_no_part_of_the_meter():
    with talk_of(SEEN, sees_images=False) as talk:
        parts = {segment.name for segment in plan_segments(looked_at(talk))}
    assert "files" not in parts


def test_a_draft_with_pictures_fits_by_their_weight():
    """Nine pictures do not fit where eight thousand tokens are for the prompt."""
    with talk_of(sees_images=True) as talk:
        view = looked_at(talk)
        for count, state in ((1, "fits"), (9, "too_large")):
            drafted = estimate_messages([PromptMessage("user", "look", images=("x",) * count)])
            assert plan_fit(view, drafted).state == state


def test_more_pictures_than_fit_are_refused_and_kept():
    """As a message that is too large is, with everything of it."""
    with talk_of(sees_images=True) as talk:
        many = user("look", [replace(CAT, data=f"Y2F0{n:04}") for n in range(12)])
        talk.say(many)
        assert isinstance(talk.ended.error, MessageTooLarge)
        assert not talk.chats
        [kept] = [
            e.body
            for e in talk.store.entries(talk.session_id)
            if isinstance(e.body, Custom) and e.body.custom_type == UNSENT
        ]
        assert kept.data["text"] == "look"
        assert [part["data"] for part in kept.data["parts"]] == [i.data for i in many.images]


def test_few_pictures_are_taken_without_asking():
    assert surely_fits(user("look", (CAT, DOG)))
    assert not surely_fits(user("look", (CAT, DOG, NAMELESS)))


def test_the_size_of_a_message_has_its_pictures_only_where_they_are_sent():
    """Counted text as it is; an estimate with its margin on everything."""
    assert size_of(SEEN, (3,), 1.0, sees_images=True) == 3 + 2 * IMAGE_TOKENS
    assert size_of(SEEN, (3,), 1.0, sees_images=False) == 3
    assert size_of(SEEN, None, 0.5, sees_images=True) > 2.3 * IMAGE_TOKENS


def test_of_a_prompt_with_pictures_no_calibration_is_learned():
    """What a picture costs says nothing of words; where none are sent, it is learned as ever."""
    for sees in (True, False):
        with talk_of(user(words(2_000), (CAT,)), sees_images=sees, exact=False) as talk:
            view = looked_at(talk)
            keeper = talk.session._keeper
            keeper.learn(talk.session.ready, view, 4 * view.count.tokens)
            assert (keeper._book.of("scripted:test").ratio > 1.0) == (not sees)


# ---- receipts -----------------------------------------------------------------------------------


def prompt(*messages, window=16_384):
    size = estimate_messages(messages)
    return SentPrompt(messages, Count(size, "estimated"), window)


@pytest.mark.parametrize("cost", [0, 64, 256, 576, 768, 3_136, 6_000])
def test_whatever_a_picture_costs_is_no_false_alarm(cost):
    """In the first turn and in those after it."""
    receipts = Receipts()
    first = PromptMessage("user", "Who is this?", images=("Y2F0",))
    then = [first, PromptMessage("assistant", "A cat."), PromptMessage("user", "Sure?")]
    more = [*then, PromptMessage("assistant", "Yes."), replace(first, content="And this?")]
    for messages in ([first], then, more):
        text = estimate_messages([replace(m, images=()) for m in messages])
        read = text + cost * sum(len(m.images) for m in messages)
        assert receipts.judge(prompt(*messages), Usage(read_tokens=read)) is None


def test_a_prompt_with_pictures_that_was_cut_is_told_of():
    """Less than the words alone can be."""
    said = PromptMessage("user", words(4_000), images=("Y2F0",))
    mismatch = Receipts().judge(prompt(said), Usage(read_tokens=900))
    assert mismatch is not None


# ---- the lens, the store ------------------------------------------------------------------------


def test_the_lens_says_what_is_sent_of_a_message_with_pictures():
    """Verbatim for a model that sees them; less for any other."""
    for sees, state in ((True, "verbatim"), (False, "shortened")):
        with talk_of(SEEN, sees_images=sees) as talk:
            view = looked_at(talk)
            [seen] = [s for s in plan_lens(view, talk.path) if s.entry == talk.path[0].id]
            assert seen.state == state
            [sent] = plan_prompt(view, "")
            assert bool(sent.message.images) == sees


def test_a_picture_comes_back_from_the_store_as_it_was():
    """Name and size too; what is not known is not written."""
    for image in (CAT, DOG, NAMELESS):
        body = user("x", (image,))
        assert from_payload("message", to_payload(body)) == body
    assert to_payload(user("", (NAMELESS,)))["parts"][1] == {
        "type": "image",
        "mime": "image/png",
        "data": "YmFyZQ==",
    }


def test_facts_of_a_picture_that_make_no_sense_cost_only_themselves():
    raw = {
        "type": "image",
        "mime": "image/png",
        "data": "AA",
        "name": 3,
        "width": "9",
        "height": 5,
    }
    read = from_payload("message", {"role": "user", "parts": [raw]})
    assert read.images == (Image("image/png", "AA", height=5),)


def test_pictures_go_to_a_file_and_come_back():
    """JSONL loses nothing of them."""
    with memory_store() as store:
        id_ = store.create_session().id
        store.append(id_, SEEN)
        file = io.StringIO()
        store.export_jsonl(id_, file)
        made = store.import_jsonl(file.getvalue().splitlines())
        [back] = store.path(made.session.id)
        assert back.body == SEEN


def test_the_words_of_a_message_are_searched_and_its_pictures_are_not():
    with memory_store() as store:
        id_ = store.create_session().id
        store.append(id_, user("lighthouse", (replace(CAT, data="QUJDREVGRw" * 40),)))
        assert [found.text for found in store.search("lighthouse")] == ["lighthouse"]
        assert not store.search("QUJDREVGRw")


def test_a_receipt_of_a_turn_with_pictures_counts_them():
    with talk_of(sees_images=True) as talk:
        talk.say(SEEN)
        [receipt] = talk.told(Receipt)
        assert receipt.sent_tokens > 2 * IMAGE_TOKENS
        assert receipt.mismatch is None


def test_the_double_says_whether_it_sees():
    for sees in (True, False):
        info = asyncio.run(ScriptedBackend(sees_images=sees).describe("test"))
        assert info.sees_images == sees


def test_a_larger_window_keeps_what_the_model_sees():
    """A view in other settings is of the same model."""
    from engine.context import with_settings

    with talk_of(SEEN, sees_images=True) as talk:
        assert with_settings(looked_at(talk), ContextSettings(reserve_tokens=1)).sees_images
