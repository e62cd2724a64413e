"""kill -9 of the whole program while a reply streams: what is on the disk afterwards."""

import random

import pytest

from engine.store import Store
from engine.transcript import Message

STORY = "Write a very long story about a ship. Do not stop."


@pytest.mark.parametrize("point", range(20))
def test_killed_program_keeps_message_and_reply(porthole, point):
    """At a random point of the reply: message there, part there and marked cut, store sound."""
    letters = random.Random(point).randint(1, 500)
    process = porthole.start("ask", STORY, "--temperature", "0.8", "--seed", str(point))
    with process:
        shown = process.stdout.read(letters)
        process.kill()
        shown += process.stdout.read()
    with Store.open(porthole.database) as store:
        assert store.check() == ()
        [row] = store.sessions()
        said, reply = [e.body for e in store.path(row.id) if isinstance(e.body, Message)]
    assert said.text == STORY
    assert reply.stop_reason == "interrupted"
    assert reply.text.strip()
    assert shown.strip().startswith(reply.text.strip()) or reply.text.strip().startswith(
        shown.strip()
    )


def test_killed_program_takes_its_worker_along(porthole):
    """No worker is left behind when the program is killed."""
    import psutil

    process = porthole.start("ask", STORY, "--temperature", "0")
    with process:
        process.stdout.read(20)
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.stdout.read()
    assert children
    _, alive = psutil.wait_procs(children, timeout=30)
    assert not alive


def test_conversation_goes_on_after_the_crash(porthole):
    """The cut reply is part of the conversation, told as cut, and the next turn works."""
    process = porthole.start("ask", STORY, "--temperature", "0")
    with process:
        process.stdout.read(200)
        process.kill()
    [row] = porthole.json("sessions")
    shown = porthole.run("show", row["id"])
    assert "cut: the program ended" in shown.stdout
    turn = porthole.json("ask", "--session", row["id"], "Go on.", "--max-tokens", "8")
    assert turn["stop_reason"] in ("stop", "length")
