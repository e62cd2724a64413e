"""A conversation that outgrows its window, in the real program with the real starter.

In a window of 2,048 tokens, half of which is the prompt's: what takes hours at 32K takes a minute.
"""

import json
import signal

import pytest

from app.wiring import OPTIONS_ENTRY, Workplace
from engine.budget import plan_budget
from engine.store import Store
from engine.transcript import Custom, Message, Text, user
from tests.e2e.conftest import read_to_end

pytestmark = pytest.mark.model

WINDOW = 2_048
BUDGET = plan_budget(WINDOW).prompt
SMALL = "[context]\nhard_min_tokens = 2048\n"
REPLY = ("--max-tokens", "16")
TALES = (
    "The keeper of the lighthouse at Vinga rises at four and looks at the glass before anything else",
    "When fog comes from the west he rings the bell himself, twice a minute, and sings to stay awake",
    "His sister Ingrid brings bread and oil on Fridays, in a boat that her grandfather built of larch",
    "The lamp burns rape oil, and he trims its wick with scissors that hang on a blue string",
    "In winter the pilot sleeps in the room below the lamp, because no one would row home in the ice",
    "He writes every ship into a book with a leather back: its name, its flag, and the time it passed",
    "On the last page of the book there is a list of things to mend, and the rail stands at the top",
    "Nobody has read the book but him, and the inspector, who comes once a year and drinks his tea",
)


def tale(number, tokens=150):
    """A message of about that many tokens."""
    sentences = [TALES[(number + step) % len(TALES)] for step in range(round(tokens / 21))]
    return f"Note {number}. " + ". ".join(sentences) + "."


def stored(porthole, *, rounds, tokens=150):
    """A conversation of so many rounds, each of two messages of `tokens`; its id."""
    Workplace(str(porthole.profile), {}).paths.ensure()
    with Store.open(porthole.database) as store:
        session = store.create_session(title="The lighthouse", model="starter").id
        store.append(session, Custom(OPTIONS_ENTRY, {"context_window": WINDOW}))
        for number in range(rounds):
            store.append(session, user(tale(2 * number, tokens)))
            parts = (Text(tale(2 * number + 1, tokens)),)
            store.append(session, Message("assistant", parts, model="starter", stop_reason="stop"))
    return session


def ask(porthole, session, text=None, **options):
    """One turn: what `--json` printed, and stderr."""
    words = () if text is None else (text,)
    done = porthole.run("ask", "--session", session, *words, *REPLY, "--json", **options)
    assert done.stdout, done.stderr
    return json.loads(done.stdout), done.stderr


def shown(porthole, session):
    """What stands in the conversation: type or role, and text."""
    return [
        (
            entry.get("role") or entry["type"],
            "".join(part.get("text", "") for part in entry.get("parts", ())),
        )
        for entry in porthole.json("show", session)["entries"]
    ]


def compactions(porthole, session):
    entries = porthole.json("show", session)["entries"]
    return [entry for entry in entries if entry["type"] == "compaction"]


@pytest.fixture
def small(porthole):
    """A profile that allows the small window."""
    porthole.settings(SMALL)
    return porthole


# ---- it compacts by itself ----------------------------------------------------------------------


def test_a_conversation_compacts_by_itself(small):
    """Turn by turn out of a process each: within the budget, told, shown, and explained."""
    first = small.json("ask", tale(0), "--window", str(WINDOW), *REPLY)
    session, turns, told = first["session"], [first], ""
    while not any(turn["compaction"] for turn in turns):
        assert len(turns) < 14, "it never compacted"
        turn, told = ask(small, session, tale(len(turns)))
        turns.append(turn)
    last = turns[-1]
    assert {turn["window"]["tokens"] for turn in turns} == {WINDOW}
    assert {turn["usage"]["sent_kind"] for turn in turns} == {"exact"}
    assert max(turn["usage"]["sent"] for turn in turns) <= BUDGET
    figures = last["compaction"]
    assert figures["outcome"] == "done", told
    assert figures["reason"] in ("preemptive", "threshold")
    assert figures["after_tokens"] <= 0.7 * figures["before_tokens"]
    assert "Compacting context…" in told
    assert "Compacted:" in told
    card = f"{figures['before_tokens']:,} → {figures['after_tokens']:,} tokens"
    assert card in small.run("show", session).stdout
    assert len(compactions(small, session)) == 1
    after, _ = ask(small, session, "And then?")
    assert after["compaction"] is None
    assert after["stop_reason"] in ("stop", "length")


def test_explain_agrees_with_the_next_receipt(small):
    """What `explain` counts for a conversation is what the next turn sends, but for its message."""
    session = stored(small, rounds=2)
    ask(small, session, tale(8))
    facts = small.json("explain", "--session", session)
    assert facts["window"]["tokens"] == WINDOW
    assert facts["budget"]["prompt"] == BUDGET
    assert facts["route"] == "fits"
    turn, _ = ask(small, session, "And then?")
    assert facts["count"]["kind"] == "exact"
    assert 0 < turn["usage"]["sent"] - facts["count"]["tokens"] < 20  # "And then?", framed


def test_switched_off_nothing_is_folded(small):
    """Over the budget and under the window: sent whole, with a warning that says so."""
    small.settings(SMALL + "[compaction]\nenabled = false\n")
    session = stored(small, rounds=4)
    turn, told = ask(small, session, "And then?")
    assert turn["compaction"] is None
    assert BUDGET < turn["usage"]["sent"] < WINDOW
    assert [n["code"] for n in turn["notices"] if n["code"] == "over_budget"] == ["over_budget"]
    assert f"{BUDGET:,}" in told
    assert compactions(small, session) == []


# ---- a message that is too large ------------------------------------------------------------------


def test_a_message_that_is_too_large_is_kept_and_not_sent(small):
    """60,000 characters from stdin: exit 3, size and room, kept beside the conversation."""
    session = stored(small, rounds=1)
    before = shown(small, session)
    text = tale(3, 13_000)[:60_000]
    done = small.run("ask", "--session", session, "-", *REPLY, input=text)
    assert done.returncode == 3
    assert done.stdout == ""
    size, room, window = figures_of(done.stderr)
    assert (size > 10_000, 0 < room < BUDGET, window) == (True, True, WINDOW)
    for choice in ("shorter", "new conversation", "larger window"):
        assert choice in done.stderr
    assert shown(small, session) == before
    assert small.json("show", session)["unsent"] == [text]
    head, tail = small.run("show", session).stdout.split("not sent: too large")
    assert text.strip() in tail
    assert "Note 3. " not in head.splitlines()[-1]
    turn, _ = ask(small, session, "And then?")
    assert turn["stop_reason"] in ("stop", "length")
    assert shown(small, session)[: len(before) + 1] == [*before, ("user", "And then?")]
    assert small.json("show", session)["unsent"] == [text]


def figures_of(told):
    """Size, room and window of the sentence about a message that is too large."""
    sentence = next(line for line in told.splitlines() if line.startswith("This message"))
    words = sentence.replace(",", "").replace(")", "").replace(".", " ").split()
    return [int(word) for word in words if word.isdecimal()]


def test_a_new_conversation_with_a_message_that_is_too_large(small):
    """The very first message: kept too, and the conversation can begin with another."""
    text = tale(3, 13_000)[:60_000]
    done = small.run("ask", "-", "--window", str(WINDOW), *REPLY, input=text)
    assert done.returncode == 3
    [row] = small.json("sessions")
    assert small.json("show", row["id"])["unsent"] == [text]
    assert row["id"] in done.stderr
    turn, _ = ask(small, row["id"], "Hello.")
    assert turn["stop_reason"] in ("stop", "length")
    assert turn["usage"]["sent"] < 200


# ---- settings -------------------------------------------------------------------------------------

TYPOS = {
    "compaction.enabeld = false": ("enabeld", "compaction.enabled"),
    'compaction.reserve_tokens = "much"': ("compaction.reserve_tokens", "20"),
    'compaction.identifier_policy = "strikt"': ("identifier_policy", "strict"),
    "compaction.timeout_seconds = 1": ("timeout_seconds", "5"),
    'pruning.mode = "cache_ttl"': ("pruning.mode", "cache-ttl"),
}


@pytest.mark.parametrize(
    ("line", "words"), TYPOS.items(), ids=[words[0] for words in TYPOS.values()]
)
def test_a_typo_in_the_settings_is_told_before_anything_is_sent(small, line, words):
    """Exit 3, the key, what it may be and the line; the message is kept."""
    small.settings(f"{line}\n{SMALL}")
    done = small.run("ask", "Hello", "--window", str(WINDOW))
    assert done.returncode == 3
    assert done.stdout == ""
    for word in (*words, "line 1", str(small.settings_file)):
        assert word in done.stderr
    assert small.said() == [["Hello"]]


# ---- kill -9 ----------------------------------------------------------------------------------------


def killed_while_compacting(porthole, *arguments):
    """Start a command, and kill it when it says that it compacts."""
    process = porthole.start(*arguments)
    with process:
        for line in process.stderr:
            if line.startswith("Compacting context"):
                process.send_signal(signal.SIGKILL)
                break
        out, told = read_to_end(process)
    assert process.returncode == -signal.SIGKILL, told
    return out


def test_a_kill_during_a_compaction_leaves_the_conversation_as_it_was(small):
    """`compact` killed: nothing was changed, the store is sound, and the next turn works."""
    session = stored(small, rounds=2)
    before = small.json("show", session)
    assert killed_while_compacting(small, "compact", "--session", session) == ""
    assert small.json("show", session) == before
    with Store.open(small.database) as store:
        assert store.check() == ()
    turn, _ = ask(small, session, "And then?")
    assert turn["stop_reason"] in ("stop", "length")
    assert turn["compaction"] is None


def test_a_kill_during_the_compaction_of_a_turn_keeps_the_message(small):
    """`ask` killed before its request: the message is there, and is answered when asked again."""
    session = stored(small, rounds=4)
    before = shown(small, session)
    killed_while_compacting(small, "ask", "--session", session, "What is on the list?", *REPLY)
    assert shown(small, session) == [*before, ("user", "What is on the list?")]
    turn, told = ask(small, session)
    assert turn["stop_reason"] in ("stop", "length"), told
    assert turn["usage"]["sent"] < WINDOW
    said = [text for kind, text in shown(small, session) if kind == "user"]
    assert said.count("What is on the list?") == 1
