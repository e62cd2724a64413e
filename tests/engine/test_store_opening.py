"""Opening a store, whatever lies there."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from engine.errors import StoreCorrupt, StoreNewer, StoreReadOnly, StoreUnusable
from engine.store import Store, opening
from engine.store.database import beside
from engine.store.migrations import STEPS, Step
from engine.transcript import Custom, Unknown, UnknownPart, user

PAGE = 8192
DATA = Path(__file__).parents[1] / "data"


def contents(folder):
    """Name and bytes of every file in a folder, without SQLite's shared-memory scratch file."""
    return {
        path.name: path.read_bytes() for path in folder.iterdir() if not path.name.endswith("-shm")
    }


def fill(path, entries=30):
    """Make a store of two conversations; returns what is in it."""
    with Store.open(path) as store:
        for title in ("first", "second"):
            session = store.create_session(title).id
            store.append_all(
                session, [user(f"{title} {n} " + "words " * n) for n in range(entries)]
            )
        return everything(store)


def everything(store):
    """Every conversation's title and entries."""
    return {row.id: (row.title, store.entries(row.id)) for row in store.sessions()}


@contextmanager
def as_nobody(*paths):
    """File permissions count for root as well: give nobody the files and act as nobody."""
    if os.geteuid() != 0:
        yield
        return
    for path in paths:
        os.chown(path, 65534, 65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_dir():
    """A temporary folder another user may enter."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
        folder.chmod(0o755)


# ---- new and old ----------------------------------------------------------------------------


def test_a_missing_file_is_made(tmp_path):
    """A new store in a new folder is empty, sound, and says nothing."""
    with Store.open(tmp_path / "a" / "b" / "porthole.db") as store:
        assert store.sessions() == store.notices == store.recovered == ()
        assert not store.rescued
        assert store.check() == ()


def test_an_empty_file_is_new(tmp_path):
    """A file of no bytes holds nothing that could be lost."""
    path = tmp_path / "porthole.db"
    path.touch()
    with Store.open(path) as store:
        assert store.notices == ()
        store.create_session()
    assert os.listdir(tmp_path) == ["porthole.db"]


def test_the_first_released_schema_can_be_read(tmp_path):
    """A file made by version 0.1.0 opens, with every kind of entry as it was."""
    path = shutil.copy(DATA / "store-0.1.0.db", tmp_path / "porthole.db")
    with Store.open(path) as store:
        assert store.check() == ()
        (row,) = store.sessions()
        assert (row.title, row.model, row.compaction_count) == ("Lighthouses", "starter", 1)
        entries = store.entries(row.id)
        kinds = [type(entry.body).__name__ for entry in entries]
        assert kinds == [
            *("Message", "Message", "Message", "Message", "Compaction", "Custom"),
            *("CustomMessage", "BranchSummary", "ModelChange", "Label", "Pin", "Unknown"),
            *("Message", "Message"),
        ]
        assert store.path(row.id)[-1].body.text == "东海上有一座灯塔。"
        assert store.path(row.id)[-1].parent == entries[2].id
        assert isinstance(entries[3].body.parts[1], UnknownPart)
        assert isinstance(entries[11].body, Unknown)
        assert [hit.entry for hit in store.search("灯塔")] == [entries[13].id]


def test_a_released_step_is_never_edited(tmp_path):
    """A new file has the very schema that version 0.1.0 made (later steps aside)."""

    def schema(path):
        with closing(sqlite3.connect(path)) as connection:
            return connection.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall()

    Store.open(tmp_path / "porthole.db", steps=STEPS[:1]).close()
    assert schema(tmp_path / "porthole.db") == schema(DATA / "store-0.1.0.db")


# ---- migrations -----------------------------------------------------------------------------


def add_colour(db):
    db.execute("ALTER TABLE sessions ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue'")


def add_and_fail(db):
    add_colour(db)
    db.execute("UPDATE sessions SET colour = 'red'")
    db.execute("INSERT INTO no_such_table VALUES (1)")


SECOND = Step("m002_colour", add_colour)


def colours(path):
    with closing(sqlite3.connect(path)) as connection:
        return {colour for (colour,) in connection.execute("SELECT colour FROM sessions")}


def test_an_older_file_is_upgraded_with_a_copy_beside_it(tmp_path):
    """The step is applied once; the old file, complete, is beside the new one; the user is told."""
    path = tmp_path / "porthole.db"
    before = fill(path)
    with Store.open(path, steps=(*STEPS, SECOND)) as store:
        copy = beside(path, ".before-m002_colour")
        assert str(copy) in store.notices[0]
        assert everything(store) == before
    assert colours(path) == {"blue"}
    with Store.open(copy) as old:
        assert everything(old) == before
        assert old.check() == ()
    with Store.open(path, steps=(*STEPS, SECOND)) as store:
        assert store.notices == ()


def test_a_new_file_needs_no_copy(tmp_path):
    """Making a store leaves nothing beside it."""
    Store.open(tmp_path / "porthole.db", steps=(*STEPS, SECOND)).close()
    assert os.listdir(tmp_path) == ["porthole.db"]


def test_a_failing_step_leaves_no_trace_and_can_be_tried_again(tmp_path):
    """Steps before it stay; its own changes are rolled back; with the step mended it goes on."""
    path = tmp_path / "porthole.db"
    before = fill(path)
    steps = (*STEPS, Step("m002_title", lambda db: db.execute("CREATE TABLE extra (x)")))
    with pytest.raises(Exception, match="no_such_table"):
        Store.open(path, steps=(*steps, Step("m003_colour", add_and_fail)))
    with Store.open(path, steps=steps) as store:
        assert everything(store) == before
        assert store.check() == ()
        assert store._db.run("SELECT * FROM extra") == []
        assert not store._db.run("SELECT 1 FROM pragma_table_info('sessions') WHERE name='colour'")
    with Store.open(path, steps=(*steps, Step("m003_colour", add_colour))) as store:
        assert everything(store) == before
    assert colours(path) == {"blue"}


def test_a_newer_file_is_refused_and_untouched(tmp_path):
    """Not a byte of it changes, also with its last changes still in the log."""
    path = tmp_path / "porthole.db"
    with Store.open(path, steps=(*STEPS, SECOND)) as newer:
        newer.create_session("from the future")
        before = contents(tmp_path)
        assert len(before["porthole.db-wal"]) > 0
        for read_only in (False, True):
            with pytest.raises(StoreNewer, match="newer version of Porthole"):
                Store.open(path, read_only=read_only)
        assert contents(tmp_path) == before
    before = contents(tmp_path)
    with pytest.raises(StoreNewer):
        Store.open(path)
    assert contents(tmp_path) == before


def test_a_newer_file_left_by_a_crash_is_untouched(tmp_path):
    """With nobody else to keep the log open, looking at it must not fold it into the file."""
    (tmp_path / "live").mkdir()
    (tmp_path / "dead").mkdir()
    with Store.open(tmp_path / "live" / "porthole.db", steps=(*STEPS, SECOND)) as newer:
        newer.create_session("from the future")
        for tail in ("", "-wal"):
            shutil.copy(beside(newer.file, tail), tmp_path / "dead")
    before = contents(tmp_path / "dead")
    with pytest.raises(StoreNewer):
        Store.open(tmp_path / "dead" / "porthole.db")
    assert contents(tmp_path / "dead") == before


def test_a_database_of_another_program_is_refused_and_untouched(tmp_path):
    """A file that is sound and not ours is nobody's to change."""
    path = tmp_path / "porthole.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE recipes (name)")
    before = contents(tmp_path)
    with pytest.raises(StoreUnusable, match="another program"):
        Store.open(path)
    assert contents(tmp_path) == before


# ---- damage ---------------------------------------------------------------------------------


def zeros(raw):
    return bytes(len(raw))


def noise(raw):
    return random.Random(1).randbytes(len(raw))


def text(raw):
    return b"this is not a database\n"


def half(raw):
    return raw[: len(raw) // 2]


def nearly_all(raw):
    return raw[:-1]


def first_bytes(raw):
    return raw[:20]


def zeros_behind_the_header(raw):
    return raw[:100] + bytes(len(raw) - 100)


def zeros_at_the_end(raw):
    return raw[: len(raw) // 2] + bytes(len(raw) - len(raw) // 2)


READABLE = [half, nearly_all, zeros_at_the_end]
LOST = [zeros, noise, text, first_bytes, zeros_behind_the_header]


@pytest.mark.parametrize("damage", READABLE + LOST)
def test_a_damaged_file_is_set_aside_and_work_goes_on(tmp_path, damage):
    """It is kept byte for byte under another name, the user is told where, the store works."""
    path = tmp_path / "porthole.db"
    before = fill(path)
    broken = damage(path.read_bytes())
    path.write_bytes(broken)
    with Store.open(path) as store:
        aside = beside(path, ".damaged-1")
        assert aside.read_bytes() == broken
        assert len(store.notices) == 1
        assert f"damaged and is kept as {aside};" in store.notices[0]
        assert store.rescued
        saved = everything(store)
        assert len(saved) == (2 if damage in READABLE else 0)
        for session, (_, entries) in saved.items():
            intact = [entry for entry in entries if not isinstance(entry.body, Unknown)]
            assert set(intact) <= set(before[session][1])
            assert len(entries) - len(intact) <= 1, "only the cut row itself is not a message"
        entry = store.append(store.create_session("new").id, user("hello"))
        assert store.check() == ()
    with Store.open(path) as store:
        assert store.notices == ()
        assert store.path(entry.session) == (entry,)


def page_with(path, words):
    """The number of the first page of the file that holds these bytes; pages count from 1."""
    return path.read_bytes().index(words) // PAGE + 1


def lose_a_page(raw, page):
    return raw[: (page - 1) * PAGE] + b"\xff" * PAGE + raw[page * PAGE :]


def lose_the_end(raw, page):
    return raw[: page * PAGE]


@pytest.mark.parametrize(("damage", "least"), [(lose_a_page, 180), (lose_the_end, 80)])
def test_what_can_be_read_of_a_damaged_file_is_kept(tmp_path, damage, least):
    """With a page in the middle destroyed, or the file cut off there, the rest is read and counted."""
    path = tmp_path / "porthole.db"
    with Store.open(path) as store:
        session = store.create_session("long").id
        bodies = [user(f"{n} " + "x" * 900) for n in range(200)]
        for body in bodies:
            store.append(session, body)
    page = page_with(path, b'"text":"100 xxx')
    path.write_bytes(damage(path.read_bytes(), page))
    with Store.open(path) as store:
        saved = store.entries(session)
        assert least <= len(saved) < 200
        found = {entry.body for entry in saved}
        assert [entry.body for entry in saved] == [body for body in bodies if body in found]
        assert f"(conversations: 1, entries: {len(saved)})" in store.notices[0]
        assert store.path(session) == saved, "what follows the gap hangs on what is before it"
        assert store.append(session, user("on")).parent == saved[-1].id
        assert len(store.search("7 xxx")) > 0
        assert store.check() == ()


def test_any_page_may_be_destroyed(tmp_path):
    """Whichever page is lost: no crash, nothing invented, and what was damaged is kept."""
    path = tmp_path / "store" / "porthole.db"
    before = fill(path, entries=20)
    sound = path.read_bytes()
    known = {entry.body for _, entries in before.values() for entry in entries}
    rescued = 0
    for page in range(len(sound) // PAGE):
        shutil.rmtree(path.parent)
        path.parent.mkdir()
        broken = bytearray(sound)
        broken[page * PAGE : (page + 1) * PAGE] = random.Random(page).randbytes(PAGE)
        path.write_bytes(broken)
        with Store.open(path) as store:
            bodies = {entry.body for _, found in everything(store).values() for entry in found}
            assert bodies <= known
            assert store.notices != () or bodies == known
            if store.notices:
                assert beside(path, ".damaged-1").read_bytes() == broken
            rescued += bodies == known
    assert rescued > len(sound) // PAGE // 3


def read_it(store, session):
    with pytest.raises(StoreCorrupt, match="Start Porthole again"):
        store.entries(session)


def check_it(store, session):
    assert store.check() != ()


@pytest.mark.parametrize("find", [read_it, check_it])
def test_damage_found_while_working_is_mended_at_the_next_opening(tmp_path, find):
    """A file too large to be checked whole each time is checked when it was seen to be damaged."""
    path = tmp_path / "porthole.db"
    with Store.open(path) as store:
        session = store.create_session("large").id
        store.append_all(session, [Custom(str(n), {"x": "x" * 100_000}) for n in range(100)])
    page = page_with(path, b'"custom_type":"50"')
    path.write_bytes(lose_a_page(path.read_bytes(), page))
    assert path.stat().st_size > opening.CHECKED_BYTES
    with Store.open(path) as store:
        find(store, session)
        store.create_session("still works")
    with Store.open(path) as store:
        assert "is kept as" in store.notices[0]
        assert 80 < len(store.entries(session)) < 100
        assert store.sessions()[0].title == "still works"
    with Store.open(path) as store:
        assert store.notices == ()


@pytest.mark.parametrize("block", ["randomblob(300)", "zeroblob(50)"])
def test_a_damaged_index_is_made_anew(tmp_path, block):
    """Found by a check of the whole store, it is made from the texts at the next opening."""
    path = tmp_path / "porthole.db"
    before = fill(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE entry_index_data SET block = {block} WHERE id > 10")
    with Store.open(path) as store:
        # A newer SQLite finds it while opening, and what could be read is in a new file.
        assert store.check() != () or store.notices != ()
    with Store.open(path) as store:
        assert everything(store) == before
        assert store.search("words")
        assert store.check() == ()


def test_a_second_damaged_file_does_not_replace_the_first(tmp_path):
    """Every damaged file gets a name of its own."""
    path = tmp_path / "porthole.db"
    for number in (1, 2, 3):
        path.write_bytes(b"damage %d" % number * 100)
        Store.open(path).close()
        for earlier in range(1, number + 1):
            aside = beside(path, f".damaged-{earlier}")
            assert aside.read_bytes() == b"damage %d" % earlier * 100


@pytest.mark.parametrize("rest", [b"", None])
def test_a_log_whose_file_is_gone_is_kept(tmp_path, rest):
    """SQLite would delete the log of a file that is missing or empty; here it is set aside."""
    path = tmp_path / "porthole.db"
    with Store.open(path) as store:
        store.create_session("in the log")
        log = beside(path, "-wal").read_bytes()
    beside(path, "-wal").write_bytes(log)
    path.unlink()
    if rest is not None:
        path.write_bytes(rest)
    with Store.open(path) as store:
        assert beside(path, ".damaged-1-wal").read_bytes() == log
        assert "only its log was left" in store.notices[0]
        assert store.rescued
        assert store.sessions() == ()


def test_a_crash_while_a_damaged_file_is_replaced_is_completed(tmp_path):
    """Between its two renames the new file waits under its working name; it is taken up."""
    path = tmp_path / "porthole.db"
    before = fill(path)
    os.rename(path, beside(path, ".new"))
    beside(path, ".damaged-1").write_bytes(b"what was set aside")
    with Store.open(path) as store:
        assert everything(store) == before


def test_a_reply_of_a_damaged_file_is_recovered_too(tmp_path):
    """The running reply's checkpoint is read out like everything else."""
    path = tmp_path / "porthole.db"
    with Store.open(path) as store:
        session = store.create_session().id
        question = store.append(session, user("question"))
        store.checkpoint_reply(store.start_reply(session, question.id), "half")
        store._db.run("UPDATE replies SET owner_started = 0")
        (root,) = store._db.run("SELECT rootpage FROM sqlite_master WHERE name = 'meta'")[0]
    with path.open("r+b") as file:
        file.seek((root - 1) * PAGE)
        file.write(b"\xff" * PAGE)
    with Store.open(path) as store:
        assert store.notices
        assert [entry.body.text for entry in store.path(session)] == ["question", "half"]


def test_a_stray_journal_does_no_harm(tmp_path):
    """A rollback journal left by the first second of a store is SQLite's to settle."""
    path = tmp_path / "porthole.db"
    before = fill(path)
    beside(path, "-journal").write_bytes(bytes(600))
    with Store.open(path) as store:
        assert everything(store) == before
        assert store.notices == ()


# ---- places that cannot be written ----------------------------------------------------------


def test_a_read_only_folder_is_one_sentence(open_dir):
    """A folder without write permission refuses a new store, and nothing is made."""
    Store.open(open_dir / "warm" / "up.db").close()  # what opening imports is not nobody's to read
    shutil.rmtree(open_dir / "warm")
    open_dir.chmod(0o555)
    with as_nobody(open_dir), pytest.raises(StoreReadOnly, match=r"cannot be (written|made)"):
        Store.open(open_dir / "porthole.db")
    assert os.listdir(open_dir) == []


def test_a_read_only_store_can_be_read_but_not_opened_to_write(open_dir):
    """Without permission to write: reading works and changes nothing; writing is refused at once."""
    path = open_dir / "porthole.db"
    before = fill(path)
    path.chmod(0o400)
    open_dir.chmod(0o555)
    files = contents(open_dir)
    with as_nobody(open_dir, path):
        with pytest.raises(StoreReadOnly, match="cannot be written"):
            Store.open(path)
        with Store.open(path, read_only=True) as store:
            assert everything(store) == before
            assert store.search("words")
            with pytest.raises(StoreReadOnly):
                store.create_session()
    assert contents(open_dir) == files


def test_a_store_that_may_not_be_read_is_one_sentence(open_dir):
    """Someone else's private file is refused, not replaced."""
    path = open_dir / "porthole.db"
    fill(path)
    files = contents(open_dir)
    open_dir.chmod(0o777)
    if os.geteuid() == 0:
        with as_nobody(), pytest.raises(StoreUnusable, match="may not be read"):
            Store.open(path)
    else:
        path.chmod(0)
        with pytest.raises(StoreUnusable, match="may not be read"):
            Store.open(path)
        path.chmod(0o600)
    assert contents(open_dir) == files


@pytest.mark.parametrize("read_only", [False, True])
def test_a_folder_in_the_files_place_is_one_sentence(tmp_path, read_only):
    """A folder is not a store, and is not moved."""
    (tmp_path / "porthole.db").mkdir()
    with pytest.raises(StoreUnusable, match="is a folder"):
        Store.open(tmp_path / "porthole.db", read_only=read_only)
    assert os.listdir(tmp_path) == ["porthole.db"]


def test_a_file_in_the_folders_place_is_one_sentence(tmp_path):
    """Where the data folder should be there is a file."""
    (tmp_path / "data").write_text("x")
    with pytest.raises(StoreUnusable):
        Store.open(tmp_path / "data" / "porthole.db")


def test_a_full_disk_costs_nothing_that_was_saved(tmp_path):
    """The append is refused as a whole, what was saved is there, and with room it goes on."""
    with Store.open(tmp_path / "porthole.db") as store:
        session = store.create_session().id
        before = store.append_all(session, [user(str(n)) for n in range(10)])
        pages = store._db.value("PRAGMA page_count")
        store._db.run(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(StoreReadOnly, match=r"disk of .* is full"):
            store.append_all(session, [user("fits"), user("x" * 1_000_000)])
        assert store.path(session) == before
        store._db.run(f"PRAGMA max_page_count = {pages + 10_000}")
        last = store.append(session, user("x" * 1_000_000))
        assert store.path(session) == (*before, last)
        assert store.check() == ()


def test_a_store_in_use_is_waited_for_and_then_one_sentence(tmp_path):
    """Another program's lock is waited for (five seconds unless told otherwise), then named."""
    path = tmp_path / "porthole.db"
    fill(path)
    with Store.open(path) as store:
        assert store._db.value("PRAGMA busy_timeout") == 5000
    with (
        Store.open(path, busy_timeout_ms=1) as store,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnusable, match="in use by another program"):
            store.create_session()
        with pytest.raises(StoreUnusable, match="in use by another program"):
            Store.open(path, busy_timeout_ms=1)
        assert len(store.sessions()) == 2
        other.execute("ROLLBACK")
        store.create_session()


# ---- looking --------------------------------------------------------------------------------


def test_looking_changes_nothing(tmp_path):
    """Read-only opening leaves no file behind, and recovers nothing."""
    path = tmp_path / "porthole.db"
    before = fill(path)
    files = contents(tmp_path)
    with Store.open(path, read_only=True) as store:
        assert everything(store) == before
        assert os.listdir(tmp_path) == ["porthole.db"]
    assert contents(tmp_path) == files


def test_looking_sees_what_a_running_program_has_just_written(tmp_path):
    """What is still in the log is seen as well."""
    with Store.open(tmp_path / "porthole.db") as writer:
        session = writer.create_session("fresh").id
        question = writer.append(session, user("?"))
        writer.start_reply(session, question.id)
        with Store.open(tmp_path / "porthole.db", read_only=True) as store:
            assert [row.title for row in store.sessions()] == ["fresh"]
            assert store.recovered == ()


def test_looking_at_nothing_is_one_sentence(tmp_path):
    """Without a store there is nothing to look at, and none is made."""
    with pytest.raises(StoreUnusable, match="no conversations yet"):
        Store.open(tmp_path / "porthole.db", read_only=True)
    assert os.listdir(tmp_path) == []


def test_looking_at_a_damaged_file_leaves_it(tmp_path):
    """Damage is told, and the file stays where it is."""
    path = tmp_path / "porthole.db"
    path.write_bytes(bytes(8192))
    with pytest.raises(StoreCorrupt, match="is damaged"):
        Store.open(path, read_only=True)
    assert path.read_bytes() == bytes(8192)


def test_looking_at_an_older_file_is_one_sentence(tmp_path):
    """A file that would have to be upgraded first is not read half."""
    path = tmp_path / "porthole.db"
    fill(path)
    with pytest.raises(StoreUnusable, match="older version"):
        Store.open(path, read_only=True, steps=(*STEPS, SECOND))
    assert os.listdir(tmp_path) == ["porthole.db"]


def test_an_ordinary_opening_imports_nothing_slow(tmp_path):
    """A store that is up to date pays neither for migrations nor for process tables."""
    fill(tmp_path / "porthole.db")
    program = (
        "import sys; from pathlib import Path; from engine.store import Store\n"
        "for look in (True, False):\n"
        "    with Store.open(Path(sys.argv[1]), read_only=look) as store: store.sessions()\n"
        "slow = {'sqlite_utils', 'psutil', 'click', 'asyncio', 'logging', 'httpx', 'tomlkit'}\n"
        "sys.exit(' '.join(slow & sys.modules.keys()) or 0)"
    )
    result = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "porthole.db")],
        cwd=DATA.parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
