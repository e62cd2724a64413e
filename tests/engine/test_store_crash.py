"""What survives when the process dies: real processes, really killed."""

import os
import random
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from engine.errors import StoreCorrupt
from engine.store import Store
from engine.transcript import TokenIds, user
from tests.engine.store_child import CHECKPOINTS

ROOT = Path(__file__).parents[2]
KILLS = 20


@contextmanager
def child(role, database):
    """Start a process that works on the store; it is gone when the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.engine.store_child", role, str(database)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def promised(lines):
    """What the child said it had saved: typed {id: number}, kept {id: count}, done {id: reply}."""
    said = {"typed": {}, "kept": {}, "done": {}}
    for line in lines:
        what, entry, value = line.split()
        said[what][entry] = value
    return said


def check_promises(store, session, said):
    """Everything the dead process promised is in the store."""
    entries = {entry.id: entry for entry in store.entries(session)}
    replies = {entry.parent: entry for entry in entries.values() if entry.body.role != "user"}
    for typed, number in said["typed"].items():
        assert entries[typed].body.text == f"typed {number}"
    for typed, reply in said["done"].items():
        assert replies[typed].id == reply
        assert replies[typed].body.stop_reason == "stop"
    for typed, count in said["kept"].items():
        body = replies[typed].body
        words = len(body.text.split())
        assert words >= int(count)
        if words < CHECKPOINTS:
            assert body.stop_reason == "interrupted"
            assert body.token_ids == TokenIds("v", (1,) * words)
            assert (body.thinking, body.model) == ("hm", "starter")


def test_kill_9_at_any_point_loses_nothing_that_was_promised(tmp_path):
    """Twenty kills on one store: typed messages, replies up to the checkpoint, sound file."""
    database = tmp_path / "porthole.db"
    chance = random.Random(2)
    everything, interrupted = [], 0
    for _ in range(KILLS):
        with child("converse", database) as process:
            session = process.stdout.readline().split()[1]
            lines = [process.stdout.readline() for _ in range(chance.randrange(60))]
            process.send_signal(signal.SIGKILL)
            everything += lines + [
                line for line in process.stdout.readlines() if re.fullmatch(r"\w+ \w+ \w+\n", line)
            ]
        with Store.open(database) as store:
            assert store.notices == ()
            assert store.check() == ()
            interrupted += len(store.recovered)
            check_promises(store, session, promised(everything))
            path = store.path(session)
            assert path == store.entries(session), "the leaf was not moved with the last entry"
    assert interrupted > 0


def test_a_reply_that_another_process_writes_is_left_alone(tmp_path):
    """A running reply of a living process is not recovered; its writer finishes it."""
    database = tmp_path / "porthole.db"
    with child("reply_slowly", database) as process:
        process.stdout.readline()
        with Store.open(database) as store:
            assert store.recovered == ()
            process.stdin.write("\n")
            process.stdin.flush()
            assert process.stdout.readline().startswith("done")
            (session,) = store.sessions()
            assert store.path(session.id)[-1].body.text == "half a reply"


def test_a_reply_of_a_dead_process_that_nobody_buried_is_recovered(tmp_path):
    """A killed process is dead also while its parent has not taken notice (a zombie)."""
    database = tmp_path / "porthole.db"
    with child("reply_slowly", database) as process:
        process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)
        while psutil.Process(process.pid).status() != psutil.STATUS_ZOMBIE:
            process.stdout.read()  # ends when the process does
        with Store.open(database) as store:
            (entry,) = store.recovered
            assert (entry.body.text, entry.body.stop_reason) == ("half a", "interrupted")
            assert store.session(entry.session).leaf == entry.id


def test_a_file_that_cannot_grow_keeps_what_it_has(tmp_path):
    """When the system refuses to write, there is one sentence, and all saved before is there."""
    database = tmp_path / "porthole.db"
    with child("fill", database) as process:
        lines = process.stdout.read().splitlines()
    typed = [line for line in lines if line.startswith("typed")]
    assert len(typed) > 5
    assert lines[len(typed)].startswith("fault StoreUnusable The disk reported an error")
    assert lines[-1] == f"readable {len(typed)}"
    with Store.open(database) as store:
        assert store.check() == ()
        (session,) = store.sessions()
        assert [e.body.text.split()[0] for e in store.path(session.id)] == [
            str(number) for number in range(len(typed))
        ]


def damage(database, entries=60):
    """Make a store whose entries are damaged in one place."""
    with Store.open(database) as store:
        session = store.create_session("damaged").id
        store.append_all(session, [user(f"{n} " + "x" * 900) for n in range(entries)])
    raw = bytearray(database.read_bytes())
    start = raw.index(b'"text":"30 xxx') // 8192 * 8192
    raw[start : start + 8192] = b"\xff" * 8192
    database.write_bytes(raw)


@pytest.mark.parametrize("lies_there", ["nothing", "a damaged file"])
def test_processes_open_a_store_together(tmp_path, lies_there):
    """Programs that start at once make or replace the store once, and no entry of theirs is lost."""
    database = tmp_path / "porthole.db"
    if lies_there == "a damaged file":
        damage(database)
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.engine.store_child", "add_twenty", str(database)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    outputs = [process.communicate() for process in running]
    assert [error for _, error in outputs] == [""] * 4
    with Store.open(database) as store:
        rows = [row for row in store.sessions() if row.title == "one of many"]
        assert [len(store.path(row.id)) for row in rows] == [20] * 4
        assert store.check() == ()
    asides = [path.name for path in tmp_path.glob("*.damaged*")]
    assert asides == ([] if lies_there == "nothing" else ["porthole.db.damaged-1"])


def test_a_damaged_file_that_another_program_has_open_is_not_replaced(tmp_path):
    """It would go on writing into the file that was set aside; once it is closed, all is well."""
    database = tmp_path / "porthole.db"
    damage(database)
    broken = database.read_bytes()
    with child("hold", database) as process:
        assert process.stdout.readline() == "held 1\n"
        with pytest.raises(StoreCorrupt, match="in use by another program"):
            Store.open(database)
        assert database.read_bytes() == broken
        process.communicate("\n")
    with Store.open(database) as store:
        assert "is kept as" in store.notices[0]
        assert 0 < len(store.entries(store.sessions()[0].id)) < 60
