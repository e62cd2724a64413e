"""What a conversation's prompt is made of, as the client tells it: one number, one source."""

import asyncio
from types import SimpleNamespace

import pytest

from app.client import DRAFT, ContextFacts, Failed, Meter, Notice
from app.client.context import message_of, share_of_files
from app.client.preferences import Spot
from app.typed import Attachment, join_message
from engine.errors import BackendFailed
from engine.explain import Explained, plan_explanation
from engine.lens import sent_text
from engine.models import ModelPlan
from engine.testing import Script, asks_for_summary, reply
from engine.transcript import Compaction, user
from engine.window import ContextWindow
from tests.app.client_room import MODEL, a_room
from tests.engine.talks import GOOD_SUMMARY, words


def facts_of(room, id_):
    """What was told last of a conversation."""
    told = [facts for facts in room.of(ContextFacts) if facts.id == id_]
    return told[-1] if told else ContextFacts(id_)


def parts(facts):
    return {segment.name: segment.tokens for segment in facts.segments}


async def settled(room):
    """Wait until nothing is to be looked at any more."""
    context = room.client.context
    while context._task is not None and not context._task.done():
        await asyncio.wait({context._task})


async def shown(room, text="Hello"):
    """A conversation of one turn, open, and what was told of its context."""
    id_ = await room.send(text)
    await room.client.open(id_)
    await settled(room)
    return id_


# ---- when it is told ----------------------------------------------------------------------------


async def a_new_conversation_has_its_system_prompt(tmp_path):
    async with a_room(tmp_path) as room:
        await room.client.models()
        await room.client.open(None)
        await settled(room)
        await room.client.system.set("", "Answer in rhymes, always, and be brief.")
        await settled(room)
        facts = facts_of(room, "")
        assert set(parts(facts)) == {"system prompt"}
        assert facts.budget.prompt == facts.budget.window - facts.budget.reserve
        assert facts.fit.state == "fits"


def test_a_new_conversation_has_its_system_prompt(tmp_path):
    """Nothing is said yet, and the model's window is known."""
    asyncio.run(a_new_conversation_has_its_system_prompt(tmp_path))


def test_while_the_window_is_unknown_there_is_no_budget(tmp_path):
    """The figure of the prompt, and no verdict."""

    async def story():
        async with a_room(tmp_path) as room:
            room.client.context.renew()
            await settled(room)
            facts = facts_of(room, "")
            assert (facts.budget, facts.fit) == (None, None)

    asyncio.run(story())


@pytest.mark.parametrize("exact", [True, False])
def test_after_a_turn_it_is_what_the_session_counts(tmp_path, exact):
    """The same view: segments are its count; a later request is sent with just that."""

    async def story():
        async with a_room(tmp_path, "Hello you.", exact=exact) as room:
            id_ = await shown(room)
            talk = room.client._talks.talk(id_)
            view = await talk.session.look()
            facts = facts_of(room, id_)
            assert (facts.used, facts.kind) == (view.count.tokens, view.count.kind)
            assert sum(parts(facts).values()) == facts.used
            assert facts.budget == view.budget

    asyncio.run(story())


def test_it_agrees_with_explain(tmp_path):
    """Before any model is loaded: segment by segment what `porthole explain` prints."""

    async def story():
        async with a_room(tmp_path, exact=False) as room:
            store = room.workplace.store
            id_ = store.create_session(title="Old", model=MODEL).id
            for number in range(6):
                store.append(id_, user(f"question {number}"))
                store.append(id_, reply(f"answer {number}", thinking="hm " * number))
            await room.client.models()
            await room.client.open(id_)
            await settled(room)
            facts = facts_of(room, id_)
            explained = plan_explanation(
                store.path(id_),
                ContextWindow(facts.budget.window, "model"),
                room.workplace.context_settings(),
                Explained(MODEL),
            )
            assert facts.segments == explained.segments
            assert facts.used == explained.view.count.tokens

    asyncio.run(story())


def test_a_compaction_is_in_the_ledger_and_in_the_segments(tmp_path):
    """Summary as a part; before and after in the ledger, the card's id with it."""

    async def story():
        async with a_room(tmp_path, otherwise=summarising) as room:
            id_ = await shown(room, words(500))
            for _ in range(3):
                await room.send(words(500), id_)
            await room.client.compact(id_)
            await room.rest(id_)
            await settled(room)
            facts = facts_of(room, id_)
            assert parts(facts)["summary"] > 0
            [line] = facts.ledger
            entry = next(
                e for e in room.workplace.store.path(id_) if isinstance(e.body, Compaction)
            )
            assert (line.entry, line.before, line.after) == (
                entry.id,
                entry.body.tokens_before,
                entry.body.tokens_after,
            )
            assert facts.used == line.after

    asyncio.run(story())


def summarising(request):
    return Script(GOOD_SUMMARY if asks_for_summary(request) else "Yes.")


def test_a_setting_is_told_at_once(tmp_path):
    """Another reserve: another budget, without a turn."""

    async def story():
        async with a_room(tmp_path, "Hello.") as room:
            id_ = await shown(room)
            before = facts_of(room, id_).budget
            await room.client.preferences.set(Spot("compaction.reserve_floor"), 0)
            await room.client.preferences.set(Spot("compaction.reserve_tokens"), 4_096)
            await settled(room)
            after = facts_of(room, id_).budget
            assert before.reserve > after.reserve == 4_096
            assert after.window == before.window

    asyncio.run(story())


def test_what_is_not_shown_is_not_looked_at(tmp_path):
    """A turn of another conversation tells no facts."""

    async def story():
        async with a_room(tmp_path, "One.", "Two.") as room:
            first = await shown(room)
            other = await room.client.send(None, "Other")
            await room.client.open(first)
            await room.rest(other)
            await settled(room)
            since = len(room.of(ContextFacts))
            await room.send("More", other)
            await settled(room)
            assert [f.id for f in room.of(ContextFacts)[since:] if f.id != first] == []

    asyncio.run(story())


def test_nothing_is_told_twice(tmp_path):
    """Looking again without news says nothing."""

    async def story():
        async with a_room(tmp_path, "Hello.") as room:
            await shown(room)
            before = len(room.of(ContextFacts))
            room.client.context.renew()
            await settled(room)
            assert len(room.of(ContextFacts)) == before

    asyncio.run(story())


def test_a_conversation_that_goes_is_no_fault(tmp_path):
    """It is deleted while it is looked at."""

    async def story():
        async with a_room(tmp_path, "Hello.", undo_seconds=0) as room:
            id_ = await shown(room)
            room.client.context.renew(id_)
            await room.client.delete(id_)
            await settled(room)
            assert not room.of(Failed)

    asyncio.run(story())


def test_a_bug_costs_the_figures_only(tmp_path):
    """It is told and saved once; what is right again is told again."""

    async def story():
        async with a_room(tmp_path, "Hello.") as room:
            await shown(room)
            plan = room.workplace.plan

            def broken(*_):
                raise ZeroDivisionError("oops")

            room.workplace.plan = broken
            for _ in range(3):
                room.client.context.renew()
                await settled(room)
            notices = [n.text for n in room.of(Notice) if "could not be worked out" in n.text]
            assert len(notices) == 1
            assert len(list(room.workplace.paths.reports_dir.iterdir())) == 1
            room.workplace.plan = plan
            await room.client.keep_draft(room.client._talks.shown, "and on")
            await settled(room)
            assert facts_of(room, room.client._talks.shown).draft

    asyncio.run(story())


def test_a_backend_that_cannot_answer_is_estimated(tmp_path):
    """The next turn finds out, and says so; nothing is told of it here."""

    async def story():
        async with a_room(tmp_path, "Hello.") as room:
            id_ = await shown(room)
            assert facts_of(room, id_).kind == "exact"

            async def broken(_request):
                raise BackendFailed("It is gone.")

            room.backend.count = broken
            await room.client.keep_draft(id_, "and on")
            await settled(room)
            assert facts_of(room, id_).kind != "exact"
            assert not room.of(Failed)

    asyncio.run(story())


def test_another_system_prompt_is_counted_before_it_is_used(tmp_path):
    """The session goes by the old one until its next turn: until then it is estimated."""

    async def story():
        async with a_room(tmp_path, "Hello.") as room:
            id_ = await shown(room)
            await room.client.preferences.set(Spot("chat.system_prompt"), "Be brief, and rhyme.")
            await settled(room)
            facts = facts_of(room, id_)
            assert parts(facts)["system prompt"] > 4
            assert facts.kind != "exact"

    asyncio.run(story())


def test_a_worker_that_died_is_not_started_for_a_figure(tmp_path):
    """llama.cpp counts only while its process is there."""

    async def story():
        async with a_room(tmp_path) as room:
            session = SimpleNamespace(plan=ModelPlan("llama.cpp:x", "llama.cpp", "x"))
            assert not room.client.context._has_process(session)
            assert room.client.context._has_process(SimpleNamespace())

    asyncio.run(story())


# ---- the draft ----------------------------------------------------------------------------------


@pytest.mark.parametrize("exact", [True, False])
def test_the_draft_is_counted_as_it_would_be_sent(tmp_path, exact):
    """Typed and then sent: the figure before is the one the receipt has afterwards."""

    async def story():
        async with a_room(tmp_path, "Hello.", "Again.", exact=exact) as room:
            id_ = await shown(room)
            await room.client.keep_draft(id_, "How are you, and what is it like there?")
            await settled(room)
            facts = facts_of(room, id_)
            assert facts.draft > 4
            await room.send("How are you, and what is it like there?", id_)
            receipt = room.last(id_).receipt
            assert (receipt.sent, receipt.sent_kind) == (facts.used, facts.kind)
            await settled(room)
            assert facts_of(room, id_).draft == 0

    asyncio.run(story())


def test_a_draft_of_a_new_conversation(tmp_path):
    """It is counted before anything is stored."""

    async def story():
        async with a_room(tmp_path) as room:
            await room.client.open(None)
            await room.client.keep_draft("", "Some first words")
            await settled(room)
            facts = facts_of(room, "")
            assert facts.draft == facts.used > 0

    asyncio.run(story())


def test_nothing_is_loaded_for_a_draft(tmp_path):
    """However much is typed."""

    async def story():
        async with a_room(tmp_path) as room:
            await room.client.open(None)
            await room.client.keep_draft("", "word " * 9_000)
            await settled(room)
            assert room.backend.loads == room.backend.requests == []
            assert facts_of(room, "").kind == "estimated"

    asyncio.run(story())


def test_a_draft_that_cannot_be_sent_is_judged(tmp_path):
    """Larger than the room: too large, and by how much the budget is passed."""

    async def story():
        async with a_room(tmp_path, "Hello.") as room:
            id_ = await shown(room)
            await room.client.keep_draft(id_, "word " * 90_000)
            await settled(room)
            facts = facts_of(room, id_)
            assert facts.fit.state == "too_large"
            assert facts.fit.over == facts.used - facts.budget.prompt

    asyncio.run(story())


def test_a_draft_is_counted_while_a_reply_is_written(tmp_path):
    """The turn goes on; the meter follows what is typed."""

    async def story():
        async with a_room(tmp_path, "Hello.", Script("One two three", hold_after=1)) as room:
            id_ = await shown(room)
            await room.client.send(id_, "Go on")
            await room.until(lambda: room.last(id_).text == "One")
            await room.client.keep_draft(id_, "The next thing to say")
            await settled(room)
            assert facts_of(room, id_).draft > 4
            room.backend.release.set()
            await room.rest(id_)

    asyncio.run(story())


@pytest.mark.parametrize(
    ("draft", "message"),
    [
        ("", ""),
        ("   \n", ""),
        ("Hello ", "Hello"),
        ("/compact the dates", ""),
        ("/typo", ""),
        ("//slash", "/slash"),
    ],
)
def test_what_a_draft_would_be_sent_as(draft, message):
    """Commands are not sent, and cost nothing."""
    assert message_of(draft) == message


def test_files_of_a_draft_go_along():
    """With words or without, and with what would be a command if it stood alone."""
    file = Attachment.of("a.txt", "alpha")
    assert message_of(join_message("Read it", [file])) == join_message("Read it", [file])
    assert message_of(join_message("", [file])) == join_message("", [file])
    assert message_of(join_message("/status", [file])) == join_message("/status", [file])


def test_how_much_of_a_message_is_files():
    """By its characters; a fence of its own is none."""
    file = Attachment.of("a.txt", "x" * 890)
    text = join_message("y" * 90, [file])
    assert share_of_files(text) == pytest.approx(1 - 90 / len(text))
    assert share_of_files("plain words") == share_of_files("```\ncode\n```") == 0.0


# ---- lens and prompt ----------------------------------------------------------------------------


def test_the_lens_is_told_while_it_is_wanted(tmp_path):
    """Every entry of the path, with the text that is sent."""

    async def story():
        async with a_room(tmp_path, "Hello you.") as room:
            id_ = await shown(room)
            assert facts_of(room, id_).lens is None
            await room.client.context.set_lens(True)
            await settled(room)
            path = room.workplace.store.path(id_)
            lens = facts_of(room, id_).lens
            assert [seen.entry for seen in lens] == [entry.id for entry in path]
            said = [seen for seen in lens if seen.message is not None]
            assert [sent_text(seen.message) for seen in said] == ["Hello", "Hello you."]
            await room.client.context.set_lens(False)
            await settled(room)
            assert facts_of(room, id_).lens is None

    asyncio.run(story())


def test_the_whole_prompt_is_the_next_request(tmp_path):
    """With the draft at its end: what is shown is what the backend gets when it is sent."""

    async def story():
        async with a_room(tmp_path, "Hello you.", "Fine.") as room:
            id_ = await shown(room)
            await room.client.system.set(id_, "Be brief.")
            await room.client.keep_draft(id_, "How are you?")
            prompt = await room.client.context.prompt(id_)
            assert [part.entry for part in prompt.parts][-1] == DRAFT
            await room.send("How are you?", id_)
            request = room.backend.requests[-1]
            assert [part.message for part in prompt.parts] == list(request.messages)
            assert prompt.route == "fits"
            assert prompt.parts[0].message.content == "Be brief."

    asyncio.run(story())


def test_the_prompt_of_nothing_is_empty(tmp_path):
    """A new conversation without system prompt and draft."""

    async def story():
        async with a_room(tmp_path) as room:
            prompt = await room.client.context.prompt("")
            assert (prompt.parts, prompt.count.tokens) == ((), 0)

    asyncio.run(story())


def test_a_long_conversation_is_looked_at_when_all_of_it_was_read(tmp_path):
    """Its end is shown first; figures come with the rest."""

    async def story():
        async with a_room(tmp_path) as room:
            store = room.workplace.store
            id_ = store.create_session(title="Long", model=MODEL).id
            for number in range(90):
                store.append(id_, user(f"question {number}"))
                store.append(id_, reply(f"answer {number}"))
            await room.client.open(id_)
            assert (await room.client.context.prompt(id_)).parts == ()
            await room.until(lambda: facts_of(room, id_).used)
            assert facts_of(room, id_).segments[0].entries == 90

    asyncio.run(story())


def test_the_meter_is_still_told_at_the_receipt(tmp_path):
    """The total comes with the reply; what it is made of right after it."""

    async def story():
        async with a_room(tmp_path, "Hello.") as room:
            id_ = await shown(room)
            [meter] = room.of(Meter)
            assert meter.used == pytest.approx(facts_of(room, id_).used, abs=8)

    asyncio.run(story())
