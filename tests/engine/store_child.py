"""A process of its own that works on a store and says each step after it was done.

    python -m tests.engine.store_child ROLE DATABASE

Every line on stdout is a promise: what it names was saved before it was written.
"""

import resource
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from engine.errors import PortholeError
from engine.store import Store
from engine.transcript import Message, Text, TokenIds, user

CHECKPOINTS = 12


def say(*words):
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def converse(store):
    """Type and reply without end."""
    session = (store.sessions() or [store.create_session("talk")])[0].id
    say("session", session)
    number = 0
    while True:
        number += 1
        typed = store.append(session, user(f"typed {number}"), durable=True)
        say("typed", typed.id, number)
        reply = store.start_reply(session, typed.id, "starter")
        for count in range(1, CHECKPOINTS + 1):
            store.checkpoint_reply(reply, "word " * count, "hm", TokenIds("v", (1,) * count))
            say("kept", typed.id, count)
        done = Message("assistant", (Text("word " * CHECKPOINTS),), stop_reason="stop")
        say("done", typed.id, store.finish_reply(reply, done).id)


def reply_slowly(store):
    """Checkpoint a reply; end it when told to."""
    session = store.create_session("slow")
    typed = store.append(session.id, user("question"), durable=True)
    reply = store.start_reply(session.id, typed.id)
    store.checkpoint_reply(reply, "half a")
    say("kept", typed.id, 1)
    sys.stdin.readline()
    store.finish_reply(reply, Message("assistant", (Text("half a reply"),), stop_reason="stop"))
    say("done", typed.id)


def fill(store):
    """Append until the system lets no file grow any more."""
    size = store.file.stat().st_size + 3_000_000
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    session = store.create_session("full")
    number = 0
    try:
        while True:
            store.append(session.id, user(f"{number} " + "x" * 5000))
            say("typed", number)
            number += 1
    except PortholeError as error:
        say("fault", type(error).__name__, error)
    say("readable", len(store.entries(session.id)))


def hold(database):
    """Have the file open, as another program would, until told otherwise."""
    with closing(sqlite3.connect(database)) as connection:
        say("held", connection.execute("SELECT count(*) FROM sessions").fetchone()[0])
        sys.stdin.readline()


def add_twenty(store):
    """Make a conversation of twenty entries."""
    session = store.create_session("one of many")
    for number in range(20):
        store.append(session.id, user(str(number)))
    say("done", session.id)


if __name__ == "__main__":
    role, database = sys.argv[1:]
    if role == "hold":
        hold(database)
    else:
        with Store.open(Path(database)) as opened:
            globals()[role](opened)
