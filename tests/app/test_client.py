"""Turns as a window asks for them: sending, queueing, stopping, versions, failures."""

import asyncio
import json
from pathlib import Path

import pytest

from app.client import (
    Failed,
    ItemsChanged,
    Meter,
    ModelState,
    Notice,
    WindowKnown,
)
from app.items import LIVE, UNANSWERED, CardItem, ReplyItem, UserItem, Versions
from engine.errors import BackendUnreachable, EnvironmentFault, StoreReadOnly, WorkerDied
from engine.testing import Script, asks_for_summary, conversation, reply
from engine.transcript import Message, Text, user
from tests.app.client_room import MODEL, a_room


def run(tmp_path, body, *scripts, **backend):
    """Do something with a client, in a loop of its own."""

    async def main():
        async with a_room(tmp_path, *scripts, **backend) as room:
            return await body(room)

    return asyncio.run(main())


# ---- sending ------------------------------------------------------------------------------------


def test_sending_begins_a_conversation(tmp_path):
    """Titled after its first words, with the message and the reply stored."""

    async def body(room):
        id_ = await room.send("# What is a *map*?\nTell me.")
        stored = [
            e.body.text for e in room.workplace.store.path(id_) if isinstance(e.body, Message)
        ]
        (row,) = await room.client.conversations()
        return room, id_, stored, row

    room, id_, stored, row = run(tmp_path, body, "A picture.")
    assert stored == ["# What is a *map*?\nTell me.", "A picture."]
    assert (row.title, row.model, row.running, row.unread) == (
        "What is a *map*?",
        MODEL,
        False,
        False,
    )
    assert room.texts(id_) == stored
    question, reply = room.items(id_)
    assert not question.id.startswith(LIVE)
    assert not reply.id.startswith(LIVE)
    assert (reply.state, reply.model) == ("done", MODEL)
    assert reply.receipt.room is not None


def test_a_reply_is_told_as_it_comes(tmp_path):
    """State by state, word by word; the running reply has a name of its own."""

    async def body(room):
        id_ = await room.send("Say it.")
        return room.of(ItemsChanged), id_

    changes, id_ = run(tmp_path, body, Script("one two three", thinking="well"))
    running = [item for change in changes for item in change.items if isinstance(item, ReplyItem)]
    live = [item for item in running if item.id.startswith(LIVE)]
    states = list(dict.fromkeys(item.state for item in live))
    assert states == ["waiting", "loading", "reading", "thinking", "writing", "done"]
    texts = list(dict.fromkeys(item.text for item in live if item.text))
    assert texts == ["one", "one two", "one two three"]
    assert running[-1].thinking == "well"
    assert all(change.id == id_ for change in changes)


def test_window_and_meter_are_told(tmp_path):
    """What the loaded model allows, how full it is, and that it is loaded."""

    async def body(room):
        id_ = await room.send("Hello")
        opened = await room.client.open(id_)
        return room, id_, opened

    room, id_, opened = run(tmp_path, body, "Hi.")
    (meter,) = room.of(Meter)
    assert (meter.id, meter.window, meter.kind) == (id_, 32_768, "exact")
    assert 0 < meter.used < meter.budget < meter.window
    window = room.of(WindowKnown)[-1]
    assert (window.window_tokens, window.guard, window.model) == (32_768, "ok", MODEL)
    assert [state.state for state in room.of(ModelState)] == ["loading", "loaded"]
    assert (opened.window_tokens, opened.budget_tokens) == (32_768, meter.budget)
    assert (opened.used_tokens, opened.used_kind) == (meter.used, "anchored")


@pytest.mark.parametrize("text", ["", "  \n\t"])
def test_nothing_is_no_message(tmp_path, text):
    """An empty message is refused, and makes no conversation."""

    async def body(room):
        with pytest.raises(EnvironmentFault, match="nothing to send"):
            await room.client.send(None, text)
        return await room.client.conversations()

    assert run(tmp_path, body) == ()


def test_a_second_message_waits(tmp_path):
    """It is shown as waiting, kept on the disk, and sent when the reply is there."""

    async def body(room):
        id_ = await room.client.send(None, "first")
        await room.until(lambda: any(i.text == "one" for i in room.items(id_)))
        await room.client.send(id_, "second")
        await room.client.send(id_, "third")
        queued = [i.text for i in room.items(id_) if isinstance(i, UserItem) and i.queued]
        kept = json.loads((room.workplace.paths.data_dir / "window.json").read_text())["waiting"]
        (row,) = await room.client.conversations()
        room.backend.release.set()
        await room.rest(id_)
        return room, id_, queued, kept, row

    scripts = (Script("one two", hold_after=1), "2", "3")
    room, id_, queued, kept, row = run(tmp_path, body, *scripts)
    assert queued == ["second", "third"]
    assert kept == {id_: ["second", "third"]}
    assert row.running
    assert room.texts(id_) == ["first", "one two", "second", "2", "third", "3"]
    assert not any(isinstance(i, UserItem) and i.queued for i in room.items(id_))


def test_other_conversations_wait_for_the_backend(tmp_path):
    """One turn at a time; the one that waits says for whom."""

    async def body(room):
        one = await room.client.send(None, "first chat")
        await room.until(lambda: any(i.text == "1" for i in room.items(one)))
        two = await room.client.send(None, "second chat")
        await room.until(lambda: room.last(two).waits_for)
        waiting = room.last(two)
        room.backend.release.set()
        await room.rest(one)
        await room.rest(two)
        rows = await room.client.conversations()
        return room, one, two, waiting, rows

    room, one, two, waiting, rows = run(tmp_path, body, Script("1 a", hold_after=1), "2")
    assert (waiting.state, waiting.waits_for) == ("waiting", "first chat")
    assert (room.last(one).text, room.last(two).text) == ("1 a", "2")
    assert {row.id: row.unread for row in rows} == {one: True, two: False}


# ---- stopping -----------------------------------------------------------------------------------


def test_stop_keeps_what_was_written(tmp_path):
    """And what waited is handed back, not sent."""

    async def body(room):
        id_ = await room.client.send(None, "go")
        await room.until(lambda: room.texts(id_)[-1:] == ["a b"])
        await room.client.send(id_, "more")
        await room.client.send(id_, "and more")
        back = await room.client.stop(id_)
        await room.rest(id_)
        return room, id_, back

    room, id_, back = run(tmp_path, body, Script("a b c d", hold_after=2))
    assert back == "more\n\nand more"
    assert room.texts(id_) == ["go", "a b"]
    assert room.last(id_).state == "stopped"
    assert room.backend.stopped == 1


def test_stop_while_waiting_for_another_chat(tmp_path):
    """The message is kept, as one that has no reply yet."""

    async def body(room):
        one = await room.client.send(None, "first chat")
        await room.until(lambda: room.texts(one)[-1:] == ["1"])
        two = await room.client.send(None, "second chat")
        await room.until(lambda: room.last(two).waits_for)
        await room.client.stop(two)
        await room.rest(two)
        room.backend.release.set()
        await room.rest(one)
        return room, two

    room, two = run(tmp_path, body, Script("1 a", hold_after=1))
    question, nothing = room.items(two)
    assert question.text == "second chat"
    assert nothing.id == UNANSWERED + question.id
    assert len(room.backend.requests) == 1


def test_stop_at_once(tmp_path):
    """Before anything of the turn began: what was typed is handed back."""

    async def body(room):
        id_ = await room.client.send(None, "first")
        back = await room.client.stop(id_)
        await room.rest(id_)
        return back, room.items(id_), room.backend.requests

    assert run(tmp_path, body) == ("first", [], [])


def test_stop_of_what_does_not_run_does_nothing(tmp_path):
    """A second Esc."""

    async def body(room):
        id_ = await room.send("hello")
        before = room.items(id_)
        assert await room.client.stop(id_) == ""
        return before == room.items(id_)

    assert run(tmp_path, body, "hi")


# ---- versions -----------------------------------------------------------------------------------


def test_answering_again_keeps_the_older_reply(tmp_path):
    """Two versions, and arrows between them."""

    async def body(room):
        id_ = await room.send("Name a town.")
        older = room.last(id_).id
        await room.client.answer(id_, older)
        await room.rest(id_)
        newer = room.last(id_)
        await room.client.choose(id_, older)
        return older, newer, room.last(id_)

    older, newer, chosen = run(tmp_path, body, "Bern", "Graz")
    assert (newer.text, newer.versions) == ("Graz", Versions(2, 2, older, ""))
    assert (chosen.id, chosen.text) == (older, "Bern")
    assert chosen.versions == Versions(1, 2, "", newer.id)


def test_answering_an_earlier_question_again(tmp_path):
    """The conversation goes on from there; what followed is the other version's."""

    async def body(room):
        id_ = await room.send("one")
        first = room.last(id_).id
        await room.send("two", id_)
        await room.client.answer(id_, first)
        await room.rest(id_)
        again = room.texts(id_)
        await room.client.choose(id_, first)
        return again, room.texts(id_)

    again, chosen = run(tmp_path, body, "1", "2", "1 again")
    assert again == ["one", "1 again"]
    assert chosen == ["one", "1", "two", "2"]


def test_editing_makes_a_branch(tmp_path):
    """The old question and what followed stay reachable."""

    async def body(room):
        id_ = await room.send("Whats up?")
        question = room.items(id_)[0].id
        await room.client.edit(id_, question, "What is up?")
        await room.rest(id_)
        return room, id_, question

    room, id_, question = run(tmp_path, body, "Sky.", "The sky.")
    edited, reply = room.items(id_)
    assert (edited.text, reply.text) == ("What is up?", "The sky.")
    assert edited.versions == Versions(2, 2, question, "")


def test_editing_stops_what_runs(tmp_path):
    """The running reply is kept with the old question."""

    async def body(room):
        id_ = await room.client.send(None, "Long?")
        await room.until(lambda: room.texts(id_)[-1:] == ["a"])
        question = room.items(id_)[0].id
        await room.client.edit(id_, question, "Short?")
        await room.rest(id_)
        edited = room.texts(id_)
        await room.client.choose(id_, question)
        return edited, room.texts(id_)

    edited, older = run(tmp_path, body, Script("a b", hold_after=1), "Yes.")
    assert edited == ["Short?", "Yes."]
    assert older == ["Long?", "a"]


def test_a_waiting_message_can_be_changed_and_taken_back(tmp_path):
    """As long as it waits."""

    async def body(room):
        id_ = await room.client.send(None, "first")
        await room.until(lambda: room.texts(id_)[-1:] == ["1"])
        await room.client.send(id_, "secnd")
        await room.client.send(id_, "third")
        second, third = [i for i in room.items(id_) if isinstance(i, UserItem) and i.queued]
        await room.client.edit(id_, second.id, "second")
        back = await room.client.delete_message(id_, third.id)
        gone = await room.client.delete_message(id_, third.id)
        await room.client.edit(id_, second.id, "too late")
        room.backend.release.set()
        await room.rest(id_)
        return room.texts(id_), back, gone

    texts, back, gone = run(tmp_path, body, Script("1 one", hold_after=1), "2")
    assert texts == ["first", "1 one", "second", "2"]
    assert (back, gone) == ("third", "")


def test_continuing_asks_for_more(tmp_path):
    """A reply that was cut goes on."""

    async def body(room):
        id_ = await room.send("Count.")
        cut = room.last(id_).state
        await room.client.go_on(id_)
        await room.rest(id_)
        await room.client.go_on(id_, "Weiter.")
        await room.rest(id_)
        return cut, room.texts(id_)

    cut, texts = run(tmp_path, body, Script("1 2", stop_reason="length"), "3 4", "5")
    assert cut == "cut"
    assert texts == ["Count.", "1 2", "Continue.", "3 4", "Weiter.", "5"]


def test_the_branch_stays_while_a_reply_is_written(tmp_path):
    """Going to another version or deleting has to wait, and says so."""

    async def body(room):
        id_ = await room.client.send(None, "q")
        await room.until(lambda: room.texts(id_)[-1:] == ["1"])
        question = room.items(id_)[0].id
        for doing in (
            room.client.choose(id_, question),
            room.client.delete_message(id_, question),
            room.client.undo(id_),
            room.client.system.set(id_, "Be brief."),
        ):
            with pytest.raises(EnvironmentFault, match="being written"):
                await doing

    run(tmp_path, body, Script("1 2", hold_after=1))


# ---- deleting messages --------------------------------------------------------------------------


def test_deleting_a_message_and_what_follows(tmp_path):
    """Out of sight, also after a restart; to be had back."""

    async def body(room):
        id_ = await room.send("one")
        await room.send("two", id_)
        second = room.items(id_)[2].id
        await room.client.delete_message(id_, second)
        after = room.texts(id_)
        undone = await room.client.undo(id_)
        back = room.texts(id_)
        nothing = await room.client.undo(id_)
        await room.client.delete_message(id_, second)
        await room.send("three", id_)
        return after, undone, back, nothing, room.items(id_)

    after, undone, back, nothing, items = run(tmp_path, body, "1", "2", "3")
    assert after == ["one", "1"]
    assert (undone, nothing) == (True, False)
    assert back == ["one", "1", "two", "2"]
    assert [item.text for item in items] == ["one", "1", "three", "3"]
    assert items[2].versions is None, "what was deleted is no version"


def test_deleting_one_version_shows_another(tmp_path):
    """The nearest one takes its place."""

    async def body(room):
        id_ = await room.send("q")
        await room.client.answer(id_)
        await room.rest(id_)
        await room.client.delete_message(id_, room.last(id_).id)
        return room.last(id_)

    left = run(tmp_path, body, "1", "2")
    assert (left.text, left.versions) == ("1", None)


def test_deleting_the_first_message_empties_the_conversation(tmp_path):
    """And undo fills it again."""

    async def body(room):
        id_ = await room.send("q")
        await room.client.delete_message(id_, room.items(id_)[0].id)
        empty = room.items(id_)
        await room.client.undo(id_)
        return empty, room.texts(id_)

    assert run(tmp_path, body, "a") == ([], ["q", "a"])


# ---- failures -----------------------------------------------------------------------------------


def test_a_fault_is_a_failed_reply_in_place(tmp_path):
    """With what happened and what to do; trying again is another version."""

    async def body(room):
        id_ = await room.send("q")
        failed = room.last(id_)
        await room.client.answer(id_, failed.id)
        await room.rest(id_)
        return failed, room.last(id_), room.of(Failed), room.of(ModelState)

    fault = BackendUnreachable("The server is away.", "Start it.")
    failed, again, told, states = run(tmp_path, body, Script(fault=fault), "a")
    assert (failed.state, failed.error, failed.remedy) == (
        "failed",
        "The server is away.",
        "Start it.",
    )
    assert (again.text, again.versions.of) == ("a", 2)
    assert told == []
    assert "failed" in [state.state for state in states]


def test_what_was_written_before_a_fault_is_kept(tmp_path):
    """The worker died in the middle."""

    async def body(room):
        id_ = await room.send("q")
        return room.last(id_)

    reply = run(tmp_path, body, Script("a b c", fault=WorkerDied("It died."), fault_after=2))
    assert (reply.text, reply.state, reply.error) == ("a b", "failed", "It died.")


def test_a_bug_of_ours_is_told_with_a_report(tmp_path):
    """The turn ends, the conversation goes on, the trace is on the disk."""

    async def body(room):
        id_ = await room.send("q")
        failed = room.last(id_)
        await room.send("r", id_)
        return failed, room.texts(id_), room.of(Failed)

    failed, texts, (told,) = run(tmp_path, body, Script(fault=KeyError("oops")), "fine")
    assert failed.state == "failed"
    assert texts[-1] == "fine"
    assert "oops" in Path(told.report).read_text(encoding="utf-8")
    assert "inside Porthole" in told.sentence


def test_a_model_that_is_not_there(tmp_path):
    """The message is kept; the reply says what is wrong."""

    async def body(room):
        id_ = await room.client.send(None, "q", "scripted:other")
        await room.rest(id_)
        return room.items(id_), await room.client.open(id_)

    (question, reply), opened = run(tmp_path, body)
    assert question.text == "q"
    assert (reply.state, reply.error) == ("failed", "There is no scripted model “other”.")
    assert opened.guard == "unknown"


def test_a_name_that_names_no_model(tmp_path):
    """Nothing is begun with it."""

    async def body(room):
        with pytest.raises(EnvironmentFault, match="does not name a model"):
            await room.client.send(None, "q", "nonsense")
        return await room.client.conversations()

    assert run(tmp_path, body) == ()


def test_settings_that_cannot_be_understood_stop_a_turn(tmp_path):
    """No conversation runs with other settings than its user believes; mended, it goes on."""

    async def body(room):
        file = room.workplace.paths.settings_file
        sound = file.read_text()
        file.write_text(sound + "\n[compaction]\nenabled = 3\n")
        room.workplace.read_settings_again()
        id_ = await room.send("q")
        failed = room.last(id_)
        file.write_text(sound)
        await room.client.answer(id_, failed.id)
        await room.rest(id_)
        return failed, room.last(id_)

    failed, again = run(tmp_path, body, "a")
    assert "compaction.enabled" in failed.error
    assert "settings.toml" in failed.remedy
    assert again.text == "a"


def test_a_message_too_large_is_kept_and_told(tmp_path):
    """It stands beside the conversation, and can be taken away."""

    async def body(room):
        id_ = await room.send("word " * 40_000)
        (card,) = room.items(id_)
        await room.client.delete_message(id_, card.id)
        return card, room.items(id_), room.of(Failed)

    card, after, (told,) = run(tmp_path, body)
    assert (card.kind, card.tone) == ("error", "amber")
    assert card.body.startswith("```\nword word")
    assert "tokens" in told.sentence
    assert after == []


def test_nothing_to_answer(tmp_path):
    """Answering in an empty conversation is told, not a crash."""

    async def body(room):
        id_ = room.workplace.store.create_session().id
        await room.client.answer(id_)
        await room.rest(id_)
        return room.of(Failed), room.items(id_)

    (told,), items = run(tmp_path, body)
    assert "nothing to answer" in told.sentence
    assert items == []


# ---- compaction ---------------------------------------------------------------------------------


def long_talk(request):
    """A model that summarises when it is asked to."""
    if asks_for_summary(request):
        return "The user asked for words about maps and got them. Nothing is open."
    return "words about maps " * 120


def test_compacting_puts_a_card_at_the_fold(tmp_path):
    """It runs as a card, ends as one, and the meter falls."""

    async def body(room):
        id_ = await room.send("Tell me about maps, at length please.")
        for _ in range(3):
            await room.send("More about maps, at length please.", id_)
        await room.client.compact(id_, "the maps")
        await room.rest(id_)
        return room, id_

    room, id_ = run(tmp_path, body, otherwise=long_talk)
    kinds = {
        item.kind
        for change in room.of(ItemsChanged)
        for item in change.items
        if isinstance(item, CardItem)
    }
    assert kinds == {"compacting", "compaction"}
    (card,) = [item for item in room.items(id_) if isinstance(item, CardItem)]
    assert card.title.startswith("Compacted: ")
    assert "focus: the maps" in card.facts
    meters = room.of(Meter)
    assert meters[-1].used < meters[-2].used
    assert any(notice.text for notice in room.of(Notice))
    assert not any(isinstance(item, ReplyItem) and not item.text for item in room.items(id_))


def test_compacting_what_is_short_is_told(tmp_path):
    """There is nothing to fold: a notice, no card."""

    async def body(room):
        id_ = await room.send("hi")
        await room.client.compact(id_)
        await room.rest(id_)
        return room.of(Notice), room.items(id_)

    notices, items = run(tmp_path, body, "hello")
    assert notices[-1].level == "info"
    assert all(not isinstance(item, CardItem) for item in items)


def test_a_compaction_that_breaks_is_told_with_a_report(tmp_path):
    """A bug of ours in a summary changes nothing."""

    def broken(request):
        if asks_for_summary(request):
            raise ZeroDivisionError("oops")
        return "words about maps " * 120

    async def body(room):
        id_ = await room.send("Tell me about maps, at length please.")
        for _ in range(3):
            await room.send("More about maps, at length please.", id_)
        await room.client.compact(id_)
        await room.rest(id_)
        return room.of(Failed), room.items(id_)

    (told,), items = run(tmp_path, body, otherwise=broken)
    assert told.report
    assert not any(isinstance(item, CardItem) for item in items)


# ---- models and prompts of a conversation -------------------------------------------------------


def test_switching_the_model(tmp_path):
    """At rest at once, during a reply after it; the next turn has it."""

    async def body(room):
        id_ = await room.client.send(None, "one")
        await room.until(lambda: room.texts(id_)[-1:] == ["1"])
        await room.client.use_model(id_, "scripted:second")
        room.backend.release.set()
        await room.rest(id_)
        await room.send("two", id_)
        during = room.last(id_).model
        await room.client.use_model(id_, MODEL)
        opened = await room.client.open(id_)
        await room.send("three", id_)
        return during, opened.model, room.last(id_).model

    scripts = (Script("1 a", hold_after=1), "2", "3")
    models = ("test", "second")
    assert run(tmp_path, body, *scripts, models=models) == ("scripted:second", MODEL, MODEL)


def test_switching_before_the_first_turn_of_this_run(tmp_path):
    """A stored conversation takes another model without being run first."""

    async def body(room):
        id_, _ = conversation(room.workplace.store, "one", "two")
        await room.client.use_model(id_, "scripted:second")
        with pytest.raises(EnvironmentFault):
            await room.client.use_model(id_, "nonsense")
        await room.send("three", id_)
        return room.last(id_).model, room.workplace.store.session(id_).model

    assert run(tmp_path, body, "3", models=("test", "second")) == ("scripted:second",) * 2


def test_the_model_of_the_next_new_conversation(tmp_path):
    """Chosen without a conversation, it is kept until another is chosen."""

    async def body(room):
        await room.client.use_model(None, "scripted:second")
        blank = await room.client.open(None)
        await room.send("q")
        (row,) = await room.client.conversations()
        return blank.model, row.model

    assert run(tmp_path, body, "a", models=("test", "second")) == ("scripted:second",) * 2


def test_another_system_prompt(tmp_path):
    """It holds from the next turn on."""

    async def body(room):
        id_ = await room.send("q")
        await room.client.system.set(id_, "Answer in verse.")
        await room.send("r", id_)
        return [request.messages[0].content for request in room.backend.requests]

    assert run(tmp_path, body, "a", "b")[-1] == "Answer in verse."


def test_status_says_it_in_words(tmp_path):
    """Of a conversation, and of a new one."""

    async def body(room):
        id_ = await room.send("q")
        return id_, await room.client.status(id_), await room.client.status(None)

    id_, status, blank = run(tmp_path, body, "a")
    assert f"- Conversation: `{id_}`" in status
    assert "- Model: scripted:test" in status
    assert "- Context window: 32,768 tokens" in status
    assert "- Compacted: 0 ×" in status
    assert "Conversation" not in blank


def test_tool_and_window_notices_come_once(tmp_path):
    """A small window is told of once, not in every turn."""

    async def body(room):
        id_ = await room.send("q")
        await room.send("r", id_)
        opened = await room.client.open(id_)
        return [notice for notice in room.of(Notice) if "small" in notice.text], opened

    notices, opened = run(tmp_path, body, "a", "b", trained_window=20_000)
    assert [notice.level for notice in notices] == ["warning"]
    assert opened.guard == "warn"
    assert "20,000" in opened.guard_text


# ---- ending -------------------------------------------------------------------------------------


def test_closing_keeps_what_was_written_and_what_waited(tmp_path):
    """The reply so far is in the store, the waiting message is a draft at the next start."""

    async def body(room):
        id_ = await room.client.send(None, "go")
        await room.until(lambda: room.texts(id_)[-1:] == ["a b"])
        await room.client.send(id_, "later")
        await room.client.keep_draft(id_, "half a th")
        return id_

    id_ = run(tmp_path, body, Script("a b c", hold_after=2))

    async def again(room):
        return await room.client.open(id_)

    opened = run(tmp_path, again)
    assert [getattr(item, "text", "") for item in opened.items][1:] == ["go", "a b"]
    assert opened.items[-1].state == "stopped"
    assert opened.draft == "later\n\nhalf a th"


class Hanging:
    """A backend that neither stops nor closes."""

    def __init__(self, backend):
        self._backend = backend

    def __getattr__(self, name):
        return getattr(self._backend, name)

    async def stream(self, request):
        try:
            async for chunk in self._backend.stream(request):
                yield chunk
        finally:
            await asyncio.Event().wait()

    async def close(self):
        await asyncio.Event().wait()


def test_closing_does_not_wait_for_a_backend_that_hangs(tmp_path):
    """What was typed is stored; the store is closed."""

    async def body(room):
        room.workplace._backends["scripted"] = Hanging(room.backend)
        id_ = await room.client.send(None, "go")
        await room.until(lambda: room.texts(id_)[-1:] == ["a"])
        return room.workplace, id_

    workplace, id_ = run(tmp_path, body, Script("a b", hold_after=1))
    assert "store" not in workplace.__dict__

    async def again(room):
        return await room.client.open(id_)

    opened = run(tmp_path, again)
    assert opened.items[1].text == "go"


def test_an_interrupted_reply_is_marked(tmp_path):
    """A reply of a run that died is shown as what it is."""

    async def body(room):
        store = room.workplace.store
        id_, _ = conversation(store, "one")
        store.append(id_, Message("assistant", (Text("hal"),), stop_reason="interrupted"))
        return (await room.client.open(id_)).items[-1].state

    assert run(tmp_path, body) == "interrupted"


# ---- long conversations -------------------------------------------------------------------------


def long_conversation(room, count):
    store = room.workplace.store
    id_ = store.create_session(title="long", model=MODEL).id
    said = [user(f"q{n}") if n % 2 == 0 else reply(f"a{n}") for n in range(count)]
    return id_, store.append_all(id_, said)


def test_a_long_conversation_opens_with_its_end(tmp_path):
    """At once; what is above comes a moment later, in its place."""

    async def body(room):
        id_, entries = long_conversation(room, 300)
        opened = await room.client.open(id_)
        await room.until(lambda: room.of(ItemsChanged))
        again = await room.client.open(id_)
        return entries, opened, room.shown[id_], again

    entries, opened, shown, again = run(tmp_path, body)
    assert len(opened.items) == 121
    assert opened.items[-1].id == entries[-1].id
    assert [item.id for item in shown[1:]] == [entry.id for entry in entries]
    assert again.items == shown


def test_what_is_above_the_end_is_not_read_when_another_is_shown(tmp_path):
    """Nobody looks at it any more."""

    async def body(room):
        id_, _ = long_conversation(room, 300)
        await room.client.open(id_)
        await room.client.open(None)
        await asyncio.gather(*room.client._learning)
        return room.of(ItemsChanged)

    assert run(tmp_path, body) == []


def test_sending_into_a_long_conversation(tmp_path):
    """Before all of it was read: everything is there, once, in order."""

    async def body(room):
        id_, entries = long_conversation(room, 300)
        room.shown[id_] = (await room.client.open(id_)).items
        await room.send("more", id_)
        return entries, room.items(id_)

    entries, items = run(tmp_path, body, "yes")
    assert [item.id for item in items[:-2]] == [entry.id for entry in entries]
    assert [item.text for item in items[-2:]] == ["more", "yes"]


def test_a_turn_costs_the_same_however_long_the_conversation(tmp_path):
    """The whole of it is not read again for every message."""

    async def body(room):
        id_, _ = long_conversation(room, 60)
        room.shown[id_] = (await room.client.open(id_)).items
        store = room.workplace.store
        asked = []
        whole = store.entries
        store.entries = lambda session: asked.append(session) or whole(session)
        await room.send("more", id_)
        await room.send("and more", id_)
        return asked, room.texts(id_)[-4:]

    asked, texts = run(tmp_path, body, "yes", "and yes")
    assert asked == []
    assert texts == ["more", "yes", "and more", "and yes"]


# ---- what the store does ------------------------------------------------------------------------


def test_a_store_that_breaks_in_a_turn_is_told(tmp_path):
    """The reply cannot be stored: a failure with a sentence, and the next turn works."""

    async def body(room):
        id_ = await room.send("q")
        store = room.workplace.store
        finish = store.finish_reply

        def broken(*_):
            raise StoreReadOnly("The disk is full.", "Make room.")

        store.finish_reply = broken
        await room.send("r", id_)
        store.finish_reply = finish
        failed = room.of(Failed)
        await room.send("s", id_)
        return failed, room.texts(id_)[-1]

    failed, text = run(tmp_path, body, "1", "2", "3")
    assert [value.sentence for value in failed] == ["The disk is full."]
    assert text == "3"


def test_showing_that_fails_is_told(tmp_path):
    """A bug in the planning of items ends no task in silence."""

    async def body(room):
        id_ = await room.send("q")
        talks = room.client._talks
        replan = talks.replan

        def broken(*_, **__):
            raise ZeroDivisionError("oops")

        talks.replan = broken
        talk = talks.talk(id_)
        room.client._turns._settle(talk)
        talks.replan = replan
        await room.send("r", id_)
        return room.of(Failed), room.texts(id_)[-1]

    (failed,), text = run(tmp_path, body, "1", "2")
    assert "oops" in Path(failed.report).read_text(encoding="utf-8")
    assert text == "2"


def test_a_bug_before_the_turn_begins(tmp_path):
    """The message is kept, the reply failed, a report saved; the backend is free again."""

    async def body(room):
        plan = room.workplace.plan

        def broken(*_):
            raise ZeroDivisionError("oops")

        room.workplace.plan = broken
        id_ = await room.send("q")
        room.workplace.plan = plan
        failed, told = room.last(id_), room.of(Failed)
        await room.client.answer(id_)
        await room.rest(id_)
        return failed, told, room.texts(id_)

    failed, (told,), texts = run(tmp_path, body, "a")
    assert (failed.state, texts) == ("failed", ["q", "a"])
    assert "oops" in Path(told.report).read_text(encoding="utf-8")


def test_a_compaction_of_an_unknown_model_is_told(tmp_path):
    """There is no reply to fail: it is told."""

    async def body(room):
        id_, _ = conversation(room.workplace.store, "one", "two")
        room.workplace.store.set_model(id_, "nonsense")
        await room.client.compact(id_)
        await room.rest(id_)
        return room.of(Failed), room.items(id_)

    (told,), items = run(tmp_path, body)
    assert "does not name a model" in told.sentence
    assert len(items) == 2


def test_stop_at_the_very_moment_of_beginning(tmp_path):
    """Prepared, and not begun: the message is kept, nothing is asked of the model."""

    async def body(room):
        turns = room.client._turns
        new_session = turns._new_session

        def stopping(talk, name):
            session = new_session(talk, name)
            talk.stop_asked = True
            return session

        turns._new_session = stopping
        id_ = await room.send("q")
        return room.items(id_), room.backend.requests

    (question, nothing), requests = run(tmp_path, body)
    assert (question.text, nothing.id) == ("q", UNANSWERED + question.id)
    assert requests == []


def test_closing_while_a_turn_is_prepared(tmp_path):
    """The message that waited for another chat is stored."""

    async def body(room):
        one = await room.client.send(None, "first chat")
        await room.until(lambda: room.texts(one)[-1:] == ["1"])
        two = await room.client.send(None, "second chat")
        await room.until(lambda: room.last(two).waits_for)
        return two

    two = run(tmp_path, body, Script("1 a", hold_after=1))

    async def again(room):
        return await room.client.open(two)

    assert run(tmp_path, again).items[1].text == "second chat"


def test_resuming_what_is_gone_begins_anew(tmp_path):
    """The conversation of the last time is shown, or a new one when it was deleted."""

    async def body(room):
        id_ = await room.send("Once")
        assert (await room.client.resume(id_)).id == id_
        assert (await room.client.resume("")).id == ""
        assert (await room.client.resume("no-such-conversation")).id == ""

    run(tmp_path, body)


def test_where_ollama_answers(tmp_path):
    """Only when it did: the first page names the place."""

    async def body(room):
        await room.client.models()
        assert await room.client.ollama_host() == ""

    run(tmp_path, body)


def test_opened_at_the_very_end_of_a_turn(tmp_path):
    """The reply is stored, and its turn not yet at its end: it is shown once."""

    async def body(room):
        id_ = await room.send("one")
        answered = asyncio.Event()
        tell = room.tell

        def listen(value):
            tell(value)
            if room.client._talks.talk(id_).is_answered:
                answered.set()

        room.tell = listen
        await room.client.send(id_, "two")
        await answered.wait()
        assert room.client._talks.is_running(id_)
        shown = await room.client.open(id_)
        texts = [i.text for i in shown.items if isinstance(i, UserItem | ReplyItem)]
        await room.rest(id_)
        return texts, room.texts(id_)

    during, after = run(tmp_path, body, "1", "2")
    assert during == after == ["one", "1", "two", "2"]
