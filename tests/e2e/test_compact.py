"""Compactions in the terminal: `porthole compact`, and those a turn brings with it."""

import json
import signal

import pytest

from app.wiring import OPTIONS_ENTRY, Workplace
from engine.store import Store
from engine.testing.ollama import OllamaDouble
from engine.testing.ollama_script import Reply
from engine.transcript import Custom, Message, Text, user
from engine.view import UNSENT, shortening_entry
from tests.e2e.conftest import read_to_end

TALK = [
    ("Where does the ferry to Aldra leave from?", "It leaves from pier 4, beside the old customs house."),
    ("How much is a ticket?", "A ticket is 12 crowns, and children travel for half of that."),
    ("Can I take a bicycle?", "Yes, but only on the morning ferry, which has a deck for it."),
    ("Who is the captain?", "Her name is Ines Marlow, and she has sailed the strait for nine years."),
]  # fmt: skip
SUMMARY = (
    "They planned a trip to Aldra: the ferry leaves from pier 4 and the captain is Ines Marlow."
)


def stored(porthole, model, *, rounds, window, padding=60):
    """A conversation of so many rounds in the profile's store; its id."""
    Workplace(str(porthole.profile), {}).paths.ensure()
    with Store.open(porthole.database) as store:
        session = store.create_session(title="The ferry", model=model).id
        store.append(session, Custom(OPTIONS_ENTRY, {"context_window": window}))
        for number in range(rounds):
            asked, answered = TALK[number % len(TALK)]
            tail = f" That was question {number + 1} of the list." + " And so on." * padding
            store.append(session, user(asked + tail))
            parts = (Text(answered + tail),)
            store.append(session, Message("assistant", parts, model=model, stop_reason="stop"))
    return session


def compactions(porthole, session):
    entries = porthole.json("show", session)["entries"]
    return [entry for entry in entries if entry["type"] == "compaction"]


@pytest.fixture
def server(porthole):
    """An Ollama server whose model `m` summarises when it is asked to, and a long conversation."""
    with OllamaDouble() as double:
        double.always(answer)
        porthole.environment["PORTHOLE_OLLAMA_HOST"] = double.host
        yield double


def answer(seen):
    """A summary where one is asked for, a word everywhere else."""
    asked = str(seen.messages[-1]["content"])
    return Reply(SUMMARY if is_for_summary(asked) else "Fine.")


def is_for_summary(text):
    return "words" in text.lower() and "summar" in text.lower()


# ---- the real model -----------------------------------------------------------------------------


def test_the_starter_compacts_and_the_card_tells_it(porthole):
    """Done for real in a window of 4,096: the card, the entry, `show`, and nothing to do twice."""
    porthole.settings("[context]\nhard_min_tokens = 2048\n")
    session = stored(porthole, "starter", rounds=5, window=4_096, padding=20)
    done = porthole.run("compact", "--session", session[:8], "--focus", "the ferry")
    assert done.returncode == 0, done.stderr
    assert "Compacting context…" in done.stderr
    [stored_] = compactions(porthole, session)
    assert 0 < stored_["tokens_after"] < stored_["tokens_before"]
    figures = f"{stored_['tokens_before']:,} → {stored_['tokens_after']:,} tokens"
    for words in (figures, "messages folded", "by starter", "you asked for it", "the ferry"):
        assert words in done.stdout
    assert stored_["summary"].strip() in done.stdout
    assert figures in porthole.run("show", session).stdout
    again = porthole.run("compact", "--session", session)
    assert again.returncode == 0
    assert "Not compacted" in again.stderr
    assert again.stdout == ""
    assert len(compactions(porthole, session)) == 1


def test_interrupt_stops_it_without_a_trace(porthole):
    """Ctrl-C while the starter reads or writes: exit 130, the conversation is as it was."""
    porthole.settings("[context]\nhard_min_tokens = 2048\n")
    session = stored(porthole, "starter", rounds=5, window=4_096, padding=20)
    before = porthole.json("show", session)
    process = porthole.start("compact", "--session", session)
    with process:
        for line in process.stderr:
            if line.startswith("Compacting context"):
                process.send_signal(signal.SIGINT)
                break
        rest, told = read_to_end(process)
    assert process.returncode == 130, told
    assert rest == ""
    assert "Nothing was changed" in told
    assert "Traceback" not in told
    assert porthole.json("show", session) == before


# ---- a server's model ---------------------------------------------------------------------------


def test_json_has_the_figures_the_summary_and_the_values(porthole, server):
    """One object on stdout: how it ended, what was stored."""
    session = stored(porthole, "ollama:m", rounds=20, window=16_384)
    facts = porthole.json("compact", "--session", session)
    assert (facts["outcome"], facts["reason"], facts["degraded"]) == ("done", "manual", False)
    assert facts["summary"] == SUMMARY
    assert facts["after_tokens"] < facts["before_tokens"]
    assert facts["way"] in ("in_place", "staged")
    assert facts["model"] == "ollama:m"
    assert facts["folded"] > 0
    [stored_] = compactions(porthole, session)
    assert stored_["id"] == facts["entry"]


def test_another_model_writes_the_summary(porthole, server):
    """`--model` is for the summary only; the conversation keeps its own."""
    session = stored(porthole, "ollama:m", rounds=20, window=16_384)
    facts = porthole.json("compact", "--session", session, "--model", "ollama:plain")
    assert (facts["outcome"], facts["model"]) == ("done", "ollama:plain")
    assert {seen.model for seen in server.seen if seen.messages} == {"plain"}
    assert porthole.json("sessions")[0]["model"] == "ollama:m"


def test_a_summary_that_cannot_be_had_is_a_failure(porthole, server):
    """Refusals to the end: exit 3, said why, nothing changed."""
    server.always("I cannot help with that.")
    porthole.settings("[compaction]\ntimeout_seconds = 60\n")
    session = stored(porthole, "ollama:m", rounds=20, window=16_384)
    done = porthole.run("compact", "--session", session)
    assert done.returncode == 3
    assert done.stdout == ""
    assert "unchanged" in done.stderr
    assert compactions(porthole, session) == []


def test_a_server_that_is_away_is_a_failure(porthole):
    """No server: exit 3 and the address."""
    porthole.environment["PORTHOLE_OLLAMA_HOST"] = "127.0.0.1:9"
    session = stored(porthole, "ollama:m", rounds=20, window=16_384)
    done = porthole.run("compact", "--session", session)
    assert done.returncode == 3
    assert "127.0.0.1:9" in done.stderr
    facts = porthole.json("compact", "--session", session)
    assert (facts["outcome"], facts["entry"]) == ("failed", None)


def test_bad_names_are_one_sentence(porthole, server):
    """An unknown conversation, a mistyped model, no conversation at all."""
    session = stored(porthole, "ollama:m", rounds=4, window=16_384)
    for arguments, words in (
        (("--session", "nope"), "nope"),
        (("--session", session, "--model", "qwen3:4b"), "ollama:qwen3:4b"),
        (("--session", session, "--model", "ollama:gone"), "gone"),
    ):
        done = porthole.run("compact", *arguments)
        assert (done.returncode, done.stdout) == (3, ""), done.stderr
        assert words in done.stderr
        assert "Traceback" not in done.stderr
    assert porthole.run("compact").returncode == 2


def test_an_empty_conversation_loads_nothing(porthole, server):
    """Nothing was said: told, and no model is asked."""
    session = stored(porthole, "ollama:m", rounds=0, window=16_384)
    done = porthole.run("compact", "--session", session)
    assert done.returncode == 0
    assert "nothing" in done.stderr
    assert server.requests == []


def test_ask_compacts_first_and_says_so(porthole, server):
    """A conversation over its budget: compacted before it is sent; the figures are in the JSON."""
    session = stored(porthole, "ollama:m", rounds=40, window=16_384)
    done = porthole.run("ask", "--session", session, "And then?", "--json")
    facts = json.loads(done.stdout)
    told = facts["compaction"]
    assert (told["outcome"], told["reason"]) == ("done", "preemptive")
    assert told["after_tokens"] < 8_000 < told["before_tokens"]
    assert set(told) == {
        "outcome", "reason", "before_tokens", "after_tokens", "folded", "seconds", "way",
    }  # fmt: skip
    assert facts["reply"] == "Fine."
    assert "Compacting context…" in done.stderr
    assert "Compacted:" in done.stderr
    assert len(compactions(porthole, session)) == 1


def test_ask_without_a_compaction_says_null(porthole, server):
    """Nothing was compacted."""
    session = stored(porthole, "ollama:m", rounds=1, window=16_384)
    assert porthole.json("ask", "--session", session, "And then?")["compaction"] is None


def test_chat_compacts_when_told_to_and_tells_the_context(porthole, server):
    """/compact with a focus, /status before and after; /compact of nothing."""
    nothing = porthole.run("chat", input="/compact\n/exit\n")
    assert "nothing was said yet" in nothing.stderr
    session = stored(porthole, "ollama:m", rounds=12, window=16_384)
    typed = "Hello\n/status\n/compact the captain\n/status\n/exit\n"
    done = porthole.run("chat", "--session", session, input=typed)
    assert done.returncode == 0, done.stderr
    assert "Compacted:" in done.stderr
    before, after = [line for line in done.stderr.splitlines() if line.startswith("Context ")]
    assert "prompt budget of 8,000" in before
    assert tokens_in(after) < tokens_in(before)
    [compaction] = compactions(porthole, session)
    assert compaction["focus"] == "the captain"
    asked = [seen.messages[-1]["content"] for seen in server.seen if seen.messages]
    assert any("the captain" in text for text in asked if is_for_summary(text))


def tokens_in(line):
    """The first figure of a line."""
    return int(next(word for word in line.replace(",", "").split() if word.isdecimal()))


# ---- what `show` makes of it --------------------------------------------------------------------


def test_show_tells_shortened_results_and_unsent_messages(porthole):
    """One line for results that were shortened; what was never sent is at the end, whole."""
    session = stored(porthole, "ollama:m", rounds=1, window=16_384)
    with Store.open(porthole.database) as store:
        entry = store.append(session, shortening_entry({"a": "x", "b": "y"}))
        for text in ("sent in the end", "far too long"):
            store.append(session, Custom(UNSENT, {"text": text}), entry.id, move_leaf=False)
        store.append(session, user("sent in the end"))
    shown = porthole.run("show", session).stdout
    assert "2 tool results shortened" in shown
    head, tail = shown.split("not sent: too large")
    assert tail.split("──")[1].strip() == "far too long"
    assert "sent in the end" in head
    assert porthole.json("show", session)["unsent"] == ["far too long"]
