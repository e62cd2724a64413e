"""`porthole ask` with the real starter model."""

import json
import signal
import socket

from tests.e2e.conftest import read_to_end

QUESTION = "What is the capital of France? Answer in one sentence."


def test_reply_goes_to_stdout_and_everything_else_to_stderr(porthole):
    """The README's command: a sentence with Paris, and nothing but the reply on stdout."""
    done = porthole.run("ask", QUESTION, "--temperature", "0")
    assert done.returncode == 0
    assert "Paris" in done.stdout
    assert "tokens" not in done.stdout
    assert "[sent" in done.stderr


def test_stretched_window_warns_with_both_figures(porthole):
    """The starter's window is larger than what it was trained on: both figures, and what happens."""
    done = porthole.run("ask", QUESTION, "--max-tokens", "4")
    assert "16,384" in done.stderr
    assert "past 8,192" in done.stderr
    assert "YaRN" in done.stderr


def test_short_window_is_refused_with_figure_minimum_and_a_way_on(porthole):
    """`--window 8192`: exit 3, the figure, the minimum, what to do; the message is kept."""
    done = porthole.run("ask", QUESTION, "--window", "8192")
    assert done.returncode == 3
    assert done.stdout == ""
    for figure in ("8,192", "16,000", "--window 16384"):
        assert figure in done.stderr
    assert porthole.said() == [[QUESTION]]


def test_short_window_is_refused_before_anything_is_fetched(empty_profile):
    """No 98 MB for a window that is refused."""
    done = empty_profile.run("ask", QUESTION, "--window", "8192")
    assert done.returncode == 3
    assert "Fetching" not in done.stderr
    assert empty_profile.said() == [[QUESTION]]


def test_next_turn_reads_only_what_is_new(porthole):
    """Three runs of one conversation: each later one reuses all that came before it."""
    first = porthole.json("ask", QUESTION, "--temperature", "0")
    held = first["usage"]["sent"] + first["usage"]["written"]
    for question in ("And of Spain? One sentence.", "And of Italy? One sentence."):
        turn = porthole.json("ask", "--session", first["session"], question)
        usage = turn["usage"]
        assert usage["reused"] + usage["read"] == usage["sent"]
        # the end token of the last reply was chosen, never read: at most one is read again
        assert held - 1 <= usage["reused"] <= held
        assert usage["read"] < 40
        held = usage["sent"] + usage["written"]


def test_conversation_is_continued_by_the_beginning_of_its_id(porthole):
    """An id may be shortened as long as it names one conversation."""
    first = porthole.json("ask", "My name is Ada.", "--max-tokens", "8")
    second = porthole.json("ask", "--session", first["session"][:6], "Hi", "--max-tokens", "4")
    assert second["session"] == first["session"]
    assert porthole.said() == [["My name is Ada.", "Hi"]]


def test_unknown_conversation_is_one_sentence(porthole):
    """An id that names nothing: exit 3, and how to find the right one."""
    done = porthole.run("ask", "--session", "nope", "Hello")
    assert done.returncode == 3
    assert "nope" in done.stderr


def test_system_prompt_holds_for_the_conversation(porthole):
    """Given once, it is sent in later runs too, first and verbatim."""
    first = porthole.json("ask", "Hi", "--system", "You are a pirate.", "--max-tokens", "4")
    again = porthole.json("ask", "--session", first["session"], "Ho", "--max-tokens", "4")
    assert again["usage"]["reused"] > 0
    entries = porthole.json("show", first["session"])["entries"]
    kept = [entry for entry in entries if entry["type"] == "custom"]
    assert kept[0]["data"] == {"system_prompt": "You are a pirate."}


def test_same_seed_gives_the_same_reply(porthole):
    """Choices can be repeated."""
    options = ("--temperature", "1.2", "--seed", "7", "--max-tokens", "24")
    replies = {porthole.json("ask", "Tell me a story.", *options)["reply"] for _ in range(2)}
    assert len(replies) == 1


def test_message_can_come_from_stdin(porthole):
    """`ask -` reads the message from a pipe."""
    done = porthole.run("ask", "-", "--json", "--max-tokens", "4", input="Hello\nthere")
    assert json.loads(done.stdout)["stop_reason"] in ("stop", "length")
    assert porthole.said() == [["Hello\nthere"]]


def test_cut_reply_is_told(porthole):
    """A reply that reaches --max-tokens says so."""
    done = porthole.run("ask", "Count to a hundred.", "--max-tokens", "5")
    assert done.returncode == 0
    assert "cut" in done.stderr


def test_interrupt_stops_the_reply_and_keeps_it(porthole):
    """Ctrl-C while the reply is written: exit 130, the part is stored as stopped."""
    process = porthole.start("ask", "Write a very long story about the sea.", "--temperature", "0")
    with process:
        started = process.stdout.read(20)
        process.send_signal(signal.SIGINT)
        rest, told = read_to_end(process)
    assert process.returncode == 130, told
    [row] = porthole.json("sessions")
    reply = porthole.json("show", row["id"])["entries"][-1]
    assert reply["stop_reason"] == "stopped"
    assert reply["parts"][0]["text"].strip() == (started + rest).strip()


def test_empty_message_is_not_sent(porthole):
    """Nothing to say: told, and no conversation is begun for it."""
    for arguments in (["ask", "  "], ["ask", "-"]):
        done = porthole.run(*arguments, input="\n")
        assert done.returncode == 2
        assert "empty" in done.stderr
    assert porthole.json("sessions") == []


def test_wrong_usage_is_told_with_exit_code_two(empty_profile):
    """Mistyped options never start anything."""
    for arguments in (["ask"], ["frobnicate"], ["ask", "x", "--window", "many"]):
        assert empty_profile.run(*arguments).returncode == 2
    assert not empty_profile.profile.exists()


def test_help_is_written_for_people(empty_profile):
    """Every command explains itself, and the first page shows examples."""
    top = empty_profile.run("--help")
    assert top.returncode == 0
    assert "examples:" in top.stdout
    for command in ("ask", "chat", "models", "sessions", "show", "status"):
        assert command in top.stdout
        assert empty_profile.run(command, "--help").returncode == 0


def test_interrupt_while_the_starter_is_fetched_keeps_the_message(empty_profile):
    """Ctrl-C during the download: exit 130, nothing half-fetched, the message is kept."""
    index = socket.create_server(("127.0.0.1", 0))  # takes the connection and never answers
    address = f"http://127.0.0.1:{index.getsockname()[1]}/simple"
    empty_profile.environment |= {"PIP_INDEX_URL": address, "PIP_FIND_LINKS": ""}
    process = empty_profile.start("ask", QUESTION)
    with index, process:
        for line in process.stderr:
            if line.startswith("Fetching"):
                process.send_signal(signal.SIGINT)
                break
        _, told = read_to_end(process)
    assert process.returncode == 130, told
    assert "Traceback" not in told
    assert [path for path in empty_profile.profile.rglob("*.gguf*") if path.is_file()] == []
    assert empty_profile.said() == [[QUESTION]]
