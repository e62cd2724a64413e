"""A turn: what is kept, what is told, and how it ends."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import (
    BackendUnreachable,
    Bug,
    ContextOverflow,
    EnvironmentFault,
    WindowBlocked,
    WorkerDied,
)
from engine.events import Notice, Receipt, TextDelta, ThinkingDelta, TurnEnded, TurnStarted
from engine.models import ModelPlan
from engine.session import Session
from engine.sessiontools import SessionTools
from engine.testing import FakeClock, Script, ScriptedBackend, memory_store
from engine.transcript import Message, Text, Thinking, ToolCall


def make_session(store, backend, *, clock=None, **plan):
    session_id = store.create_session().id
    plan.setdefault("window_option", 32_768)
    model = ModelPlan(label="scripted:test", backend="scripted", name="test", **plan)
    tools = SessionTools(clock=clock or FakeClock(), sleep=no_sleep)
    return Session(store, backend, session_id, model, tools=tools)


async def no_sleep(seconds):
    """Waits between attempts take no time here."""


async def collect(events, *, until=None):
    seen = []
    async for event in events:
        seen.append(event)
        if until is not None:
            await until(event)
    return seen


def run_turns(*texts, scripts=(), exact=True, **plan):
    """The events of each turn, the stored path, and the backend."""
    with memory_store() as store:
        backend = ScriptedBackend(scripts, exact=exact)
        session = make_session(store, backend, **plan)

        async def turns():
            return [await collect(session.send(text)) for text in texts]

        events = asyncio.run(turns())
        return events, store.path(session.session_id), backend


def bodies(path):
    return [entry.body for entry in path]


def test_a_turn_tells_what_happens_in_order():
    """Start, text, receipt, end: in this order, the end exactly once."""
    [events], _, _ = run_turns("Hello", scripts=["Good day to you"])
    kinds = [type(event) for event in events]
    assert kinds[0] is TurnStarted
    assert kinds[-1] is TurnEnded
    assert kinds.count(TurnEnded) == 1
    assert kinds.index(TextDelta) < kinds.index(Receipt)


def test_reply_is_stored_verbatim_with_its_usage():
    """What was streamed is what is stored."""
    [events], path, _ = run_turns("Hello", scripts=["  Good  day\n"])
    reply = path[-1].body
    assert reply.text == "  Good  day\n"
    assert reply.stop_reason == "stop"
    assert reply.usage.written_tokens > 0
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == reply.text


def test_thinking_is_stored_apart_from_the_answer():
    """Thinking is told and kept as thinking, and is not part of the reply's text."""
    [events], path, _ = run_turns("2+2?", scripts=[Script("4", thinking="two and two")])
    assert path[-1].body.parts == (Thinking("two and two"), Text("4"))
    assert [e.text for e in events if isinstance(e, ThinkingDelta)] == ["two and two"]


def test_tool_calls_are_stored_in_order():
    """A model's calls become parts of its reply."""
    call = ToolCall("c1", "get_time", {"zone": "UTC"})
    _, path, _ = run_turns("Time?", scripts=[Script("Let me see", tool_calls=(call,))])
    assert path[-1].body.tool_calls == (call,)


def test_each_turn_sends_the_whole_conversation_so_far():
    """The next request carries what was said before, verbatim, system prompt first."""
    _, _, backend = run_turns("One", "Two", scripts=["Eins", "Zwei"], system_prompt="Be brief.")
    assert [m.content for m in backend.requests[1].messages] == ["Be brief.", "One", "Eins", "Two"]


def test_every_request_carries_the_same_window():
    """A changed window would make a server load the model again."""
    _, _, backend = run_turns("One", "Two", "Three")
    assert {request.window_tokens for request in backend.requests} == {32_768}


def test_reply_never_gets_more_room_than_the_window_has():
    """Output tokens asked for are at most window minus prompt."""
    _, _, backend = run_turns("word " * 3_000, max_tokens=30_000, window_option=16_384)
    request = backend.requests[0]
    prompt = asyncio.run(backend.count(request))
    assert request.max_tokens == 16_384 - prompt


def test_blocked_window_sends_nothing_and_keeps_the_message():
    """Below 16,000 no request is made; what the user typed is on the disk all the same."""
    [events], path, backend = run_turns("Hello", window_option=8_192)
    assert isinstance(events[-1].error, WindowBlocked)
    assert backend.requests == []
    assert path[0].body.text == "Hello"


def test_small_window_is_used_with_a_warning_once():
    """Below 32,000 the first turn warns; later turns do not repeat it."""
    first, second = run_turns("One", "Two", window_option=16_384)[0]
    assert [e.code for e in first if isinstance(e, Notice)] == ["window_small"]
    assert not [e for e in second if isinstance(e, Notice)]


def test_loaded_window_counts_when_it_is_smaller():
    """A backend that loads less than was asked: the smaller window is believed, and guarded."""
    with memory_store() as store:
        backend = ScriptedBackend(window_tokens=4_096)
        session = make_session(store, backend)
        events = asyncio.run(collect(session.send("Hello")))
    assert isinstance(events[-1].error, WindowBlocked)
    assert "4,096" in str(events[-1].error)
    assert backend.requests == []


def test_prompt_over_the_window_is_refused_before_it_is_sent():
    """Nothing is cut: the request is not made, and both figures are told."""
    [events], _, backend = run_turns("word " * 50_000, window_option=16_384)
    assert isinstance(events[-1].error, ContextOverflow)
    assert "16,384" in str(events[-1].error)
    assert backend.requests == []


def test_fault_mid_reply_keeps_what_was_written():
    """A worker that dies: the partial reply is stored, marked failed, the error is told once."""
    script = Script("one two three four", fault=WorkerDied("It died."), fault_after=2)
    [events], path, _ = run_turns("Go", scripts=[script])
    assert isinstance(events[-1].error, WorkerDied)
    assert path[-1].body.text == "one two"
    assert (path[-1].body.stop_reason, path[-1].body.error) == ("failed", "It died.")


def test_fault_before_the_first_word_is_stored_where_the_reply_would_be():
    """A failure has its place in the transcript, and never goes to the model as a reply."""
    script = Script("x", fault=BackendUnreachable("No server."))
    (first, second), path, backend = run_turns("One", "Two", scripts=[script, "Fine"])
    assert first[-1].reason == "failed"
    assert second[-1].reason == "stop"
    assert path[1].body.error == "No server."
    assert [m.role for m in backend.requests[1].messages] == ["user", "user"]


def test_our_own_bug_is_an_event_with_its_cause():
    """An exception nobody expected ends the turn, not the application."""
    script = Script("one two", fault=KeyError("oops"), fault_after=1)
    [events], path, _ = run_turns("Go", scripts=[script])
    assert isinstance(events[-1].error, Bug)
    assert isinstance(events[-1].error.__cause__, KeyError)
    assert path[-1].body.text == "one"


def test_unknown_model_fails_the_turn_with_a_sentence():
    """A model that is not there is the environment's fault."""
    with memory_store() as store:
        session = make_session(store, ScriptedBackend(models=("other",)))
        events = asyncio.run(collect(session.send("Hello")))
    assert events[-1].reason == "failed"
    assert "test" in str(events[-1].error)


def test_stop_keeps_what_was_written():
    """Stop mid-reply: the part is stored as stopped, the backend is let go."""
    with memory_store() as store:
        backend = ScriptedBackend([Script("one two three", hold_after=2)])
        session = make_session(store, backend)

        async def on_event(event):
            if isinstance(event, TextDelta) and event.text == " two":
                session.stop()

        events = asyncio.run(collect(session.send("Go"), until=on_event))
        path = store.path(session.session_id)
    assert (events[-1].reason, events[-1].error) == ("stopped", None)
    assert path[-1].body.text == "one two"
    assert backend.stopped == 1


def test_stop_before_a_word_leaves_no_reply():
    """Nothing was written, so nothing is kept but the message; the next turn goes on from it."""
    with memory_store() as store:
        backend = ScriptedBackend([Script("one", hold_after=0), "Fine"])
        session = make_session(store, backend)

        async def turns():
            async def on_event(event):
                if not isinstance(event, TurnEnded) and backend.requests:
                    session.stop()

            first = await collect(session.send("Go"), until=on_event)
            return first, await collect(session.send("On"))

        first, second = asyncio.run(turns())
        path = store.path(session.session_id)
    assert first[-1] == TurnEnded(1, "stopped")
    assert second[-1].reason == "stop"
    assert [entry.body.role for entry in path] == ["user", "user", "assistant"]


def test_cancelling_the_listener_stops_the_turn_and_still_ends_it():
    """The window's way to stop: the task is cancelled, TurnEnded comes all the same."""
    with memory_store() as store:
        backend = ScriptedBackend([Script("one two three", hold_after=1)])
        session = make_session(store, backend)

        async def cancelled():
            seen = []
            words = asyncio.Event()

            async def listen():
                async for event in session.send("Go"):
                    seen.append(event)
                    if isinstance(event, TextDelta):
                        words.set()

            task = asyncio.create_task(listen())
            await words.wait()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            return seen

        seen = asyncio.run(cancelled())
    assert seen[-1].reason == "stopped"
    assert seen[-1].entry.body.text == "one"


def test_conversation_deleted_meanwhile_still_ends_the_turn():
    """There is no place for the reply any more: a sentence, and the end, not silence."""
    with memory_store() as store:
        backend = ScriptedBackend([Script("one two", hold_after=1)])
        session = make_session(store, backend)

        async def on_event(event):
            if isinstance(event, TextDelta) and event.text == "one":
                store.delete_session(session.session_id)
                backend.release.set()

        events = asyncio.run(collect(session.send("Go"), until=on_event))
    assert (events[-1].reason, events[-1].entry) == ("failed", None)
    assert isinstance(events[-1].error, EnvironmentFault)


def test_stop_before_the_first_step_keeps_the_message_and_ends_the_turn():
    """Stop at the very moment of sending: the message is on the disk, the end comes."""
    with memory_store() as store:
        backend = ScriptedBackend(["one"])
        session = make_session(store, backend)

        async def stopped_at_once():
            listener = asyncio.create_task(collect(session.send("Go")))
            asyncio.get_running_loop().call_soon(session.stop)  # between creation and first step
            async with asyncio.timeout(20):  # a hang is the failure this test is about
                return await listener

        events = asyncio.run(stopped_at_once())
        path = store.path(session.session_id)
    assert events[-1] == TurnEnded(1, "stopped")
    assert [entry.body.text for entry in path] == ["Go"]
    assert backend.requests == []


def test_second_stop_changes_nothing():
    """An impatient user: the turn ends once, and the next one works."""
    with memory_store() as store:
        backend = ScriptedBackend([Script("one two", hold_after=1), "Fine"])
        session = make_session(store, backend)

        async def turns():
            async def on_event(event):
                if isinstance(event, TextDelta):
                    for _ in range(3):
                        session.stop()

            first = await collect(session.send("Go"), until=on_event)
            session.stop()
            return first, await collect(session.send("On"))

        first, second = asyncio.run(turns())
    assert [first[-1].reason, second[-1].reason] == ["stopped", "stop"]


def test_leaving_the_events_keeps_the_reply():
    """A listener that walks away mid-reply loses nothing."""
    with memory_store() as store:
        session = make_session(store, ScriptedBackend([Script("one two three", hold_after=2)]))

        async def leave():
            events = session.send("Go")
            async for event in events:
                if isinstance(event, TextDelta):
                    break
            await events.aclose()

        asyncio.run(leave())
        last = store.path(session.session_id)[-1].body
    assert last.stop_reason == "stopped"
    assert last.text.startswith("one")


@pytest.mark.parametrize(("words", "kept"), [(1, "a"), (3, "a"), (4, "a b c d"), (6, "a b c d")])
def test_running_reply_is_checkpointed_once_a_second(words, kept):
    """0.4 s a word: the first word is kept at once, then what there is after each second."""
    with memory_store() as store:
        backend = ScriptedBackend([Script("a b c d e f g", hold_after=words)])
        session = make_session(store, backend, clock=FakeClock(step=0.4))
        running = []

        async def on_event(event):
            if isinstance(event, TextDelta) and not running:
                running.extend(store.running_replies())
                session.stop()

        asyncio.run(collect(session.send("Go"), until=on_event))
        assert [reply.text for reply in running] == [kept]
        assert store.running_replies() == []


def test_a_reply_that_stalls_is_kept_all_the_same(monkeypatch):
    """What came within a second of the last checkpoint is on the disk though nothing follows."""
    monkeypatch.setattr("engine.reply.CHECKPOINT_SECONDS", 0.01)
    with memory_store() as store:
        backend = ScriptedBackend([Script("a b c d", hold_after=3)])
        session = make_session(store, backend, clock=lambda: 5.0)

        async def watch():
            kept = asyncio.Event()
            checkpoint = store.checkpoint_reply

            def note(*args):
                checkpoint(*args)
                if store.running_replies()[0].text.strip() == "a b c":
                    kept.set()

            store.checkpoint_reply = note
            turn = asyncio.create_task(collect(session.send("Go")))
            async with asyncio.timeout(30):
                await kept.wait()
            session.stop()
            await turn

        asyncio.run(watch())
        assert store.path(session.session_id)[-1].body.text.strip() == "a b c"


def test_answer_again_is_a_branch_beside_the_older_reply():
    """Answering again keeps the first reply and sends the same prompt."""
    with memory_store() as store:
        backend = ScriptedBackend(["First", "Second"])
        session = make_session(store, backend)

        async def turns():
            await collect(session.send("Go"))
            await collect(session.answer())

        asyncio.run(turns())
        entries = store.entries(session.session_id)
        path = store.path(session.session_id)
    assert [body.text for body in bodies(entries)] == ["Go", "First", "Second"]
    assert [body.text for body in bodies(path)] == ["Go", "Second"]
    assert backend.requests[0].messages == backend.requests[1].messages


def test_estimated_count_is_told_as_estimated():
    """A backend that cannot count exactly: the receipt says so."""
    [events], _, _ = run_turns("Hello", scripts=["Hi"], exact=False)
    assert [e.sent_kind for e in events if isinstance(e, Receipt)] == ["estimated"]


def test_counters_of_the_conversation_add_up():
    """Input and output tokens of the session are the sums over its turns."""
    with memory_store() as store:
        session = make_session(store, ScriptedBackend(["one two", "three"]))

        async def turns():
            await collect(session.send("A"))
            await collect(session.send("B"))

        asyncio.run(turns())
        row = store.session(session.session_id)
        replies = [b for b in bodies(store.path(row.id)) if b.role == "assistant"]
    assert row.output_tokens == sum(reply.usage.written_tokens for reply in replies)
    assert row.input_tokens == sum(reply.usage.prompt_tokens for reply in replies)


SCRIPTS = st.builds(
    Script,
    text=st.text(alphabet="ab ", max_size=20),
    thinking=st.sampled_from(["", "hm"]),
    fault=st.sampled_from([None, WorkerDied("gone"), BackendUnreachable("no"), ValueError("bug")]),
    fault_after=st.integers(0, 5),
    hold_after=st.sampled_from([None, 0, 2]),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(SCRIPTS, st.integers(0, 12)), min_size=1, max_size=4))
def test_every_turn_ends_exactly_once_whatever_happens(turns):
    """Random replies, failures and stops: one terminal event a turn, every message kept."""

    async def play(session):
        async def on_event(_event):
            nonlocal left
            left -= 1
            if left <= 0:
                session.stop()

        for number, (_, patience) in enumerate(turns):
            left = patience
            events = session.send(f"message {number}")
            asyncio.get_running_loop().call_later(0, session.stop if patience == 0 else int)
            held = asyncio.get_running_loop().call_later(0.05, session.stop)
            seen = await collect(events, until=on_event)
            held.cancel()
            assert [type(e) for e in seen].count(TurnEnded) == 1
            assert isinstance(seen[-1], TurnEnded)

    with memory_store() as store:
        session = make_session(store, ScriptedBackend([script for script, _ in turns]))
        asyncio.run(play(session))
        said = [e.body.text for e in store.path(session.session_id) if e.body.role == "user"]
        assert said == [f"message {number}" for number in range(len(turns))]
        assert store.running_replies() == []


def test_reply_that_is_cut_at_its_limit_says_so():
    """`length` is told as the reason."""
    [events], path, _ = run_turns("Go", scripts=[Script("a b", stop_reason="length")])
    assert events[-1].reason == "length"
    assert path[-1].body.stop_reason == "length"


@pytest.mark.parametrize("text", ["", "\ud800 lone", "nul \x00 here", "日本語 🎉 ‏עברית"])
def test_odd_text_survives(text):
    """Whatever is typed is stored and sent as it is."""
    _, path, backend = run_turns(text)
    assert path[0].body == Message("user", (Text(text),))
    assert backend.requests[0].messages[0].content == text
