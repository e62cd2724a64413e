"""A person at the window: the real program, its real start, engine, files; keys and clicks.

The talks are with a server that speaks Ollama's protocol and says what a test wrote, so that what
is shown is known; `test_starter` is with the real starter model.
"""

import json
import sqlite3
from contextlib import closing

import pytest

from engine.testing.ollama_script import Reply
from engine.transcript import from_payload
from tests.e2e.talks import TALKS


def without_network(porthole):
    """Whatever asks the package index is refused at once."""
    porthole.environment |= {"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_NO_INDEX": "1"}
    porthole.environment |= {"PIP_FIND_LINKS": "", "PIP_RETRIES": "0"}
    porthole.environment["PORTHOLE_OLLAMA_HOST"] = "127.0.0.1:9"


@pytest.fixture
def talk(look):
    """What is said, in the language of the window."""
    return TALKS[look.language]


@pytest.fixture
def talking(open_window, empty_profile, ollama, talk):
    """A window in whose conversation the first question was answered."""
    ollama.say(talk.first.answer)
    window = open_window(empty_profile)
    window.until(lambda seen: seen.page == "empty")
    window.ask(talk.first.question)
    return window


# ---- the first run ------------------------------------------------------------------------------


def test_first_run(open_window, empty_profile, talk):
    """No model yet: three ways to one, and the first message can be written; it is there later."""
    without_network(empty_profile)
    window = open_window(empty_profile)
    window.until(lambda seen: seen.page == "first run")
    window.picture("welcome")
    assert window.type(talk.first.question).composer == talk.first.question
    window.picture("written")
    window.close()
    again = open_window(empty_profile)
    again.until(lambda seen: seen.composer == talk.first.question and seen.page == "first run")
    again.close()


def test_first_message_without_any_model(open_window, empty_profile, talk):
    """Sent before a model is there: it is kept, and what is wrong is said with what to do."""
    without_network(empty_profile)
    window = open_window(empty_profile)
    window.until(lambda seen: seen.page == "first run")
    window.send(talk.first.question)
    seen = window.until(lambda seen: seen.replies and seen.replies[0].state == "failed")
    assert seen.said == [talk.first.question]
    assert seen.replies[0].error
    window.picture("no model")
    window.close()
    assert empty_profile.said() == [[talk.first.question]]


def test_first_run_with_ollama(open_window, empty_profile, ollama, talk):
    """A server is there and the starter is not: its models are offered."""
    del empty_profile.environment["PORTHOLE_MODELS_DEFAULT"]
    window = open_window(empty_profile)
    seen = window.until(lambda seen: ollama.host in seen.ollama and seen.page == "first run")
    assert "qwen3:4b" in seen.ollama
    window.picture("ollama found")
    window.click("first_run.ollama.button")
    window.until(lambda seen: seen.open)
    window.close()


# ---- a conversation -----------------------------------------------------------------------------


def test_starter(open_window, porthole, look):
    """Six turns with the real starter; it says what it likes, and everything of it is kept."""
    porthole.settings("[model.starter]\nmax_tokens = 90\n")
    window = open_window(porthole)
    window.until(lambda seen: seen.page == "empty")
    window.picture("empty")
    questions = TALKS[look.language].starter
    window.send(questions[0])
    seen = window.until(lambda seen: seen.replies and seen.replies[0].state == "writing")
    assert seen.stops
    window.picture("writing")
    for count, question in enumerate(questions[1:], 1):
        window.until(lambda seen, count=count: over(seen, count))
        window.send(question)
    seen = window.until(lambda seen: over(seen, len(questions)))
    assert all(reply.text for reply in seen.replies)
    assert seen.titles == [questions[0]]
    window.picture("six turns")
    window.close()
    assert porthole.said() == [list(questions)]


def over(seen, count):
    """Whether so many replies are complete: at their end or at their limit."""
    ends = [reply.state in ("done", "cut") for reply in seen.replies]
    return len(ends) == count and all(ends)


def test_six_turns(open_window, empty_profile, ollama, talk):
    """Code, a table, a list, thinking: shown as said, in order, titled after the first message."""
    window = open_window(empty_profile)
    window.until(lambda seen: seen.page == "empty")
    window.picture("empty")
    for number, turn in enumerate(talk.turns):
        ollama.say(Reply(turn.answer, turn.thinking))
        window.ask(turn.question)
        window.picture(f"turn {number + 1}")
    seen = window.seen
    assert seen.said == [turn.question for turn in talk.turns]
    assert [reply.text for reply in seen.replies] == [turn.answer for turn in talk.turns]
    assert seen.replies[-1].thinking == talk.turns[-1].thinking
    assert seen.titles == [talk.turns[0].question]
    assert seen.at_end
    window.press("reply", "copy_code", at=talk.with_code)
    assert window.seen.clipboard in seen.replies[talk.with_code].text
    window.keys("Ctrl+Home")
    window.until(lambda seen: not seen.at_end)
    window.picture("from the start")
    window.do("resize", width=720, height=820)
    window.until(lambda seen: not seen.sidebar)
    window.picture("narrow")
    window.close()


# ---- stop ---------------------------------------------------------------------------------------


def test_stop_while_writing(open_window, empty_profile, ollama, talk):
    """Esc ends the reply where it is; what is there stays, and the next message is answered."""
    gate = ollama.hold("piece", after=12)
    ollama.say(Reply(talk.first.pieces), "Fine.")
    window = open_window(empty_profile)
    window.until(lambda seen: seen.page == "empty")
    window.send(talk.first.question)
    window.until(lambda seen: seen.replies and len(seen.replies[0].text) == 36)
    assert window.seen.stops
    window.picture("writing")
    window.keys("Escape")
    seen = window.until(lambda seen: seen.replies[0].state == "stopped")
    assert talk.first.answer.startswith(seen.replies[0].text)
    assert not seen.stops
    window.picture("stopped")
    gate.open()
    window.send(talk.turns[1].question)
    window.until(lambda seen: len(seen.replies) == 2 and seen.replies[1].text == "Fine.")
    window.close()


@pytest.mark.parametrize("point", ["load", "prompt"])
def test_stop_before_the_first_word(open_window, empty_profile, ollama, talk, point):
    """Esc while the model is loaded, or reads: the message is still there, or given back."""
    gate = ollama.hold(point)
    ollama.say("Fine.", "Fine.")
    window = open_window(empty_profile)
    window.until(lambda seen: seen.page == "empty")
    window.send(talk.first.question)
    assert gate.reached.wait(30)
    window.until(lambda seen: seen.replies and seen.stops)
    window.picture(point)
    window.keys("Escape")
    seen = window.until(lambda seen: not seen.stops)
    assert talk.first.question in (*seen.said, seen.composer)
    window.picture("stopped")
    gate.open()
    window.close()


def test_messages_wait_for_the_reply(open_window, empty_profile, ollama, talk):
    """What is sent while a reply runs is queued, and answered after it."""
    gate = ollama.hold("piece", after=3)
    ollama.say(Reply(talk.first.pieces), "Second.")
    window = open_window(empty_profile)
    window.until(lambda seen: seen.page == "empty")
    window.send(talk.first.question)
    window.until(lambda seen: seen.replies and seen.replies[0].text)
    window.send(talk.turns[1].question)
    window.until(lambda seen: seen.of_kind("user")[-1].queued)
    window.picture("queued")
    gate.open()
    window.until(lambda seen: seen.answered(2) and seen.replies[1].text == "Second.")
    window.close()


# ---- versions -----------------------------------------------------------------------------------


def test_regenerate(talking, ollama):
    """Answer again keeps the older reply; the arrows go to and fro."""
    first = talking.seen.replies[0].text
    ollama.say("Another answer.")
    talking.press("reply", "regenerate")
    talking.until(lambda s: s.answered(1) and s.replies[0].version == "2/2")
    assert talking.seen.replies[0].text == "Another answer."
    talking.do("point", kind="reply")
    talking.picture("second version")
    talking.press("reply", "earlier")
    talking.until(lambda s: s.replies[0].text == first and s.replies[0].version == "1/2")
    talking.press("reply", "later")
    talking.until(lambda s: s.replies[0].text == "Another answer.")
    talking.close()


def test_edit(talking, ollama, talk):
    """Another wording begins a new branch; the first one and its reply are still reachable."""
    first = talking.seen.replies[0].text
    ollama.say("Answer to the other wording.")
    talking.do("point", kind="user")
    talking.press("user", "edit")
    talking.until(lambda seen: seen.typing == talk.first.question)
    talking.picture("editing")
    talking.keys("Ctrl+A")
    talking.type(talk.reworded)
    talking.keys("Return")
    seen = talking.until(lambda seen: seen.said == [talk.reworded] and seen.answered(1))
    seen = talking.until(lambda seen: seen.of_kind("user")[0].version == "2/2")
    assert seen.replies[0].text == "Answer to the other wording."
    talking.picture("edited")
    talking.press("user", "earlier")
    talking.until(
        lambda seen: seen.said == [talk.first.question] and seen.replies[0].text == first
    )
    talking.close()


def test_edit_and_give_up(talking, talk):
    """Esc leaves the message as it was, and the composer empty."""
    talking.do("point", kind="user")
    talking.press("user", "edit")
    talking.until(lambda seen: seen.typing == talk.first.question)
    talking.type("x")
    talking.keys("Escape")
    seen = talking.until(lambda seen: not seen.typing)
    assert seen.said == [talk.first.question]
    assert seen.composer == ""
    talking.close()


# ---- finding ------------------------------------------------------------------------------------


def test_search_and_find(open_window, empty_profile, ollama, talk):
    """Words of a reply find their conversation, and then their place in it."""
    window = open_window(empty_profile)
    window.until(lambda seen: seen.page == "empty")
    for turn in talk.turns[:2]:
        ollama.say(turn.answer)
        window.keys("Ctrl+N")
        window.until(lambda seen: seen.page == "empty")
        window.ask(turn.question)
    window.keys("Ctrl+Shift+F")
    window.type(talk.needle)
    seen = window.until(lambda seen: seen.titles == [talk.turns[0].question])
    assert talk.needle.lower() in next(r.snippet for r in seen.rows if r.title).lower()
    window.picture("search")
    window.do("row", title=talk.turns[0].question)
    window.until(lambda seen: seen.said == [talk.turns[0].question])
    window.keys("Ctrl+F")
    window.type(talk.needle)
    seen = window.until(lambda seen: seen.found)
    window.keys("Return")
    assert window.until(lambda seen: seen.found.startswith("1")).found
    window.picture("find")
    window.keys("Escape")
    window.until(lambda seen: seen.focus == window.seen.focus and not seen.selected)
    window.close()


# ---- conversations ------------------------------------------------------------------------------


def test_delete_and_undo(talking, talk):
    """A deleted conversation can be had back where it stood."""
    title = talk.first.question
    talking.do("row_menu", title=title)
    talking.picture("menu")
    talking.do("choose", text="Delete")
    talking.until(lambda seen: any(row.deleted for row in seen.rows))
    talking.picture("deleted")
    talking.do("row", title=title, where="undo")
    talking.until(lambda s: s.titles == [title] and not any(row.deleted for row in s.rows))
    talking.do("row", title=title)
    talking.until(lambda seen: seen.said == [title] and seen.answered(1))
    talking.close()


def test_another_model_answers(talking, ollama, talk):
    """The model is changed in the middle of a conversation; the next reply is its."""
    talking.click("header.chip")
    talking.until(lambda seen: seen.open and len(seen.models) == 3)
    talking.picture("models")
    talking.type("llama")
    talking.until(lambda seen: seen.models == ["llama3.2:3b"])
    talking.keys("Return")
    talking.until(lambda seen: not seen.open and "llama3.2" in seen.model)
    ollama.say("I am another one.")
    talking.ask(talk.turns[1].question)
    assert "llama3.2" in talking.seen.replies[-1].model
    talking.picture("answered")
    talking.close()


# ---- starting again -----------------------------------------------------------------------------


def test_restart(talking, open_window, empty_profile, talk):
    """The same conversation, what was typed, the size of the window: all as it was left."""
    reply = talking.seen.replies[0].text
    talking.type("half a thou")
    talking.do("resize", width=1000, height=700)
    talking.close()
    again = open_window(empty_profile)
    seen = again.until(lambda seen: seen.said)
    assert seen.said == [talk.first.question]
    assert seen.replies[0].text == reply
    assert seen.composer == "half a thou"
    assert seen.size == [1000, 700]
    again.until(lambda seen: seen.titles and "32K" in seen.model)
    again.picture("as it was")
    again.close()


def test_second_start_shows_the_first(talking, empty_profile):
    """One window a profile: starting it again brings the first one to the front."""
    talking.do("minimise")
    talking.until(lambda seen: seen.minimised)
    done = empty_profile.run()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    talking.until(lambda seen: not seen.minimised)
    talking.close()


def test_power_cut(open_window, empty_profile, ollama, talk):
    """Killed in the middle of a reply: what was there of it is there again."""
    ollama.hold("piece", after=30)
    ollama.say(Reply(talk.first.pieces))
    window = open_window(empty_profile)
    window.until(lambda seen: seen.page == "empty")
    window.send(talk.first.question)
    window.until(lambda seen: seen.replies and len(seen.replies[0].text) == 90)
    shown = window.seen.replies[0].text
    while not is_stored(empty_profile, shown):
        window.do("look")
    window.kill()
    again = open_window(empty_profile)
    again.until(lambda seen: seen.titles == [talk.first.question])
    if not again.seen.said:
        again.do("row", title=talk.first.question)
    seen = again.until(lambda seen: seen.replies)
    assert seen.replies[0].text == shown
    assert seen.replies[0].state == "interrupted"
    again.picture("interrupted")
    again.close()


def is_stored(porthole, text):
    """Whether this much of the running reply is on the disk."""
    with closing(sqlite3.connect(porthole.database)) as database:
        rows = database.execute("SELECT payload FROM replies").fetchall()
    return any(from_payload("message", json.loads(row[0])).text == text for row in rows)
