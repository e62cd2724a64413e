"""`porthole chat` with the real starter model, typed through a pipe."""

import signal

import psutil

from tests.e2e.conftest import read_to_end


def worker_of(process):
    """The llama.cpp worker of a running program."""
    children = psutil.Process(process.pid).children(recursive=True)
    return next(c for c in children if "llamacpp_worker" in " ".join(c.cmdline()))


def test_turns_of_one_conversation_are_kept_together(porthole):
    """Messages typed one after another belong to one conversation; /new begins another."""
    done = porthole.run(
        "chat", "--max-tokens", "8", input="Hello\nHow are you?\n/status\n/new\nGoodbye\n/exit\n"
    )
    assert done.returncode == 0, done.stderr
    assert porthole.said() == [["Goodbye"], ["Hello", "How are you?"]]
    assert "16,384" in done.stderr


def test_several_lines_are_one_message(porthole):
    """A line that ends in a backslash goes on in the next."""
    porthole.run("chat", "--max-tokens", "4", input="one\\\ntwo\n")
    assert porthole.said() == [["one\ntwo"]]


def test_interrupt_stops_the_reply_not_the_program(porthole):
    """Ctrl-C during a reply; the next message is answered all the same."""
    process = porthole.start("chat", "--max-tokens", "400", stdin=-1)
    with process:
        process.stdin.write("Write a very long story about the sea. Do not stop.\n")
        process.stdin.flush()
        process.stdout.read(20)
        process.send_signal(signal.SIGINT)
        process.stdin.write("Say hello.\n/exit\n")
        process.stdin.flush()
        read_to_end(process)
    assert process.returncode == 0
    [row] = porthole.json("sessions")
    entries = porthole.json("show", row["id"])["entries"]
    replies = [entry for entry in entries if entry.get("role") == "assistant"]
    assert replies[0]["stop_reason"] == "stopped"
    assert replies[1]["stop_reason"] in ("stop", "length")


def test_killed_worker_costs_one_reply_not_the_conversation(porthole):
    """kill -9 of the worker mid-reply: one sentence, the part is kept, the next turn works."""
    process = porthole.start("chat", "--max-tokens", "400", stdin=-1)
    with process:
        process.stdin.write("Write a very long story about the sea. Do not stop.\n")
        process.stdin.flush()
        part = process.stdout.read(20)
        worker_of(process).kill()
        process.stdin.write("Say hello.\n/exit\n")
        process.stdin.flush()
        rest, told = read_to_end(process)
    assert process.returncode == 0
    assert told.count("worker") == 1
    assert "Traceback" not in told
    [row] = porthole.json("sessions")
    entries = porthole.json("show", row["id"])["entries"]
    replies = [entry for entry in entries if entry.get("role") == "assistant"]
    assert replies[0]["stop_reason"] == "failed"
    assert replies[0]["parts"][0]["text"].strip().startswith(part.strip()[:10])
    assert replies[1]["stop_reason"] in ("stop", "length")
    assert rest.strip()


def test_unknown_command_is_not_sent_to_the_model(porthole):
    """A mistyped /command is told, and costs nothing."""
    done = porthole.run("chat", input="/frob\n/exit\n")
    assert "/frob" in done.stderr
    assert porthole.json("sessions") == []
