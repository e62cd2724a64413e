"""Conversations and entries on the disk."""

import os
import sqlite3
import stat
from itertools import count

import pytest

from engine.errors import Bug, EnvironmentFault
from engine.store import Store, scrubbing
from engine.store.database import beside
from engine.transcript import (
    Compaction,
    Custom,
    CustomMessage,
    Message,
    Text,
    Thinking,
    Unknown,
    Usage,
    user,
    visible_entries,
)


@pytest.fixture
def store(tmp_path):
    """A new store whose clock counts its calls from 1,000."""
    with Store.open(tmp_path / "porthole.db", clock=count(1000).__next__) as opened:
        yield opened


def assistant(text, **more):
    return Message("assistant", (Text(text),), **more)


def texts(entries):
    return [entry.body.text for entry in entries]


def reopened(store):
    """The same file, opened again."""
    store.close()
    return Store.open(store.file)


# ---- conversations --------------------------------------------------------------------------


def test_a_new_conversation_is_empty(store):
    """It has what it was given, no entries, no counts, and no leaf."""
    row = store.create_session("Title", "starter", "older")
    assert (row.title, row.model, row.parent_session) == ("Title", "starter", "older")
    assert (row.leaf, row.compaction_count, row.total_tokens, row.archived) == (None, 0, 0, False)
    assert (row.memory_flush_at, row.memory_flush_compaction_count) == (None, None)
    assert row.created_at == row.updated_at == 1000
    assert store.path(row.id) == store.entries(row.id) == ()


def test_the_last_changed_conversation_comes_first(store):
    """Conversations are listed by their last change, as many as wanted."""
    ids = [store.create_session(name).id for name in "abc"]
    store.append(ids[0], user("again"))
    assert [row.title for row in store.sessions()] == ["a", "c", "b"]
    assert [row.title for row in store.sessions(2)] == ["a", "c"]


def test_looking_at_another_branch_is_no_change(store):
    """Moving the leaf does not bring a conversation to the top of the list."""
    first = store.create_session("first")
    entry = store.append(first.id, user("1"))
    store.create_session("second")
    store.set_leaf(first.id, None)
    store.set_leaf(first.id, entry.id)
    assert [row.title for row in store.sessions()] == ["second", "first"]


def test_a_conversation_is_found_by_the_beginning_of_its_id(store):
    """A whole id or an unambiguous beginning names a conversation."""
    row = store.create_session()
    store.create_session()
    assert store.find_session(row.id) == store.find_session(f" {row.id[:10]} ") == row


@pytest.mark.parametrize("text", ["", " ", "zzz", "\ud800", "%", "a'b"])
def test_an_id_that_nothing_has_is_one_sentence(store, text):
    """An unknown or empty id is the user's mistake, not a bug."""
    store.create_session()
    with pytest.raises(EnvironmentFault, match="There is no conversation"):
        store.find_session(text)


def test_an_ambiguous_beginning_is_one_sentence(store):
    """Two conversations that begin alike ask for more of the id."""
    ids = [store.create_session().id for _ in range(17)]  # more than there are first digits
    first = next(digit for digit in "0123456789abcdef" if sum(i[0] == digit for i in ids) > 1)
    with pytest.raises(EnvironmentFault, match="Several conversations begin with"):
        store.find_session(first)


def test_title_model_and_archive_can_be_changed(store):
    """What describes a conversation can be changed and is there after reopening."""
    row = store.create_session("old")
    store.rename(row.id, "new \ud800")
    store.set_model(row.id, "ollama:x")
    store.archive(row.id)
    with reopened(store) as again:
        row = again.session(row.id)
        assert (row.title, row.model, row.archived) == ("new ?", "ollama:x", True)


def test_counters_add_up(store):
    """Tokens add up, the context's size is the last one, compactions count, a flush is noted."""
    row = store.create_session()
    store.add_usage(row.id, input_tokens=100, output_tokens=10, context_tokens=110)
    store.add_usage(row.id, input_tokens=5)
    store.count_compaction(row.id)
    store.count_compaction(row.id)
    store.note_memory_flush(row.id)
    row = store.session(row.id)
    assert (row.input_tokens, row.output_tokens, row.total_tokens) == (105, 10, 115)
    assert (row.context_tokens, row.compaction_count) == (110, 2)
    assert row.memory_flush_at is not None
    assert row.memory_flush_compaction_count == 2


@pytest.mark.parametrize(
    "act",
    [
        lambda store: store.session("gone"),
        lambda store: store.path("gone"),
        lambda store: store.entries("gone"),
        lambda store: store.append("gone", user("1")),
        lambda store: store.set_leaf("gone", None),
        lambda store: store.rename("gone", "x"),
        lambda store: store.archive("gone"),
        lambda store: store.add_usage("gone"),
        lambda store: store.count_compaction("gone"),
        lambda store: store.note_memory_flush("gone"),
        lambda store: store.delete_session("gone"),
    ],
)
def test_a_conversation_that_is_gone_is_one_sentence(store, act):
    """Every use of a conversation that another program deleted is the environment's fault."""
    with pytest.raises(EnvironmentFault, match="There is no conversation 'gone'"):
        act(store)


# ---- entries --------------------------------------------------------------------------------


def test_an_entry_hangs_on_the_leaf_and_becomes_it(store):
    """Appending continues the conversation; ids are hexadecimal, times the clock's."""
    session = store.create_session().id
    first = store.append(session, user("1"), durable=True)
    second = store.append(session, assistant("2"))
    assert (first.parent, second.parent) == (None, first.id)
    assert len(first.id) >= 8
    assert int(first.id, 16) >= 0
    assert first.created_at < second.created_at
    assert store.session(session).leaf == second.id
    assert store.path(session) == (first, second)
    assert store.entry(session, first.id) == first


def test_what_was_appended_is_there_after_reopening(store):
    """Entries come back equal, in order."""
    session = store.create_session().id
    entries = store.append_all(
        session,
        [user("1"), assistant("2", usage=Usage(1, 2, 3)), Custom("x", {"n": 1}), Unknown("y", {})],
    )
    with reopened(store) as again:
        assert again.path(session) == entries


def test_several_entries_or_none(store):
    """When one of several bodies cannot be stored, none is."""
    session = store.create_session().id
    with pytest.raises(TypeError):
        store.append_all(session, [user("1"), Custom("x", {"no": {"JSON"}})])
    assert store.entries(session) == ()
    assert store.append(session, user("2")).parent is None


def test_j7_a_branch_leaves_the_old_one_in_the_file(store):
    """J7: after a branch at e2 the path is e1, e2, new; the old branch is still there."""
    session = store.create_session().id
    e1, e2, e3 = store.append_all(session, [user("1"), assistant("2"), user("3")])
    store.set_leaf(session, e2.id)
    new = store.append(session, user("instead"))
    assert store.path(session) == (e1, e2, new)
    assert store.entries(session) == (e1, e2, e3, new)
    assert store.path(session, e3.id) == (e1, e2, e3)


def test_an_entry_can_hang_anywhere(store):
    """A named parent, a new root, and an entry that leaves the leaf where it is."""
    session = store.create_session().id
    first = store.append(session, user("1"))
    second = store.append(session, assistant("2"))
    beside_second = store.append(session, assistant("2b"), first.id, move_leaf=False)
    assert beside_second.parent == first.id
    assert store.session(session).leaf == second.id
    assert store.append(session, user("root"), None).parent is None


def test_no_leaf_no_path(store):
    """From before the first entry the path is empty; an unknown leaf means the last entry."""
    session = store.create_session().id
    entries = store.append_all(session, [user("1"), assistant("2")])
    assert store.path(session, "unknown") == entries
    store.set_leaf(session, None)
    assert store.path(session) == ()


@pytest.mark.parametrize(
    "act",
    [
        lambda store, session: store.append(session, user("1"), "nowhere"),
        lambda store, session: store.set_leaf(session, "nowhere"),
        lambda store, session: store.entry(session, "nowhere"),
        lambda store, session: store.start_reply(session, "nowhere"),
    ],
)
def test_an_entry_that_never_was_is_a_bug(store, act):
    """Only the program names entries; a wrong name is its mistake."""
    session = store.create_session().id
    other = store.append(store.create_session().id, user("of another conversation"))
    with pytest.raises(Bug):
        act(store, session)
    with pytest.raises(Bug):
        store.set_leaf(session, other.id)


def test_entries_cannot_be_changed_or_deleted(store):
    """The file itself refuses to change an entry, or to delete one while its conversation lives."""
    session = store.create_session().id
    store.append(session, user("1"))
    for statement in (
        "UPDATE entries SET payload = '{}'",
        "DELETE FROM entries",
        "INSERT OR REPLACE INTO entries SELECT * FROM entries",
    ):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            store._db.connection.execute(statement)
    assert texts(store.entries(session)) == ["1"]


def test_a_row_that_is_not_json_costs_only_itself(store):
    """An unreadable payload becomes an unknown entry; the rest of the conversation is there."""
    session = store.create_session().id
    first = store.append(session, user("1"))
    other = sqlite3.connect(store.file)
    with other:
        other.execute(
            "INSERT INTO entries VALUES (99, 'bad', ?, ?, 'message', 5, ?)",
            (session, first.id, b"{broken \xff"),
        )
        other.execute("UPDATE sessions SET leaf = 'bad', title = CAST(x'ff41' AS TEXT)")
    other.close()
    last = store.append(session, assistant("2"))
    path = store.path(session)
    assert path[1].body == Unknown("message", {"raw": "{broken \ufffd"})
    assert (path[0], path[2]) == (first, last)
    assert store.session(session).title == "\ufffdA"


@pytest.mark.parametrize("text", ["\ud800", "a\udcff", "\0", "x" * 3_000_000, "你好\N{FIRE}"])
def test_any_text_can_be_said(store, text):
    """Half surrogate pairs, NUL and very long texts are stored verbatim."""
    session = store.create_session().id
    store.append(session, user(text))
    with reopened(store) as again:
        assert texts(again.path(session)) == [text]
        assert again.check() == ()


def test_readable_characters_are_stored_as_they_are(store):
    """Chinese is not blown up to escapes in the file."""
    store.append(store.create_session().id, user("你好"))
    store.close()
    assert "你好".encode() in store.file.read_bytes()


def test_a_path_of_ten_thousand_entries_costs_no_more_per_entry(store):
    """The walk is linear: its steps in SQLite grow with the entries, ten times for ten times."""

    def steps(session):
        """How often SQLite's machine turns over (in hundreds) while the path is read."""
        turns = count()
        store._db.connection.set_progress_handler(lambda: next(turns) < 0, 100)
        store.path(session)
        store._db.connection.set_progress_handler(None, 0)
        return next(turns)

    sessions = [store.create_session().id for _ in range(2)]
    for session, size in zip(sessions, (1_000, 10_000), strict=True):
        store.append_all(session, [user(str(n)) for n in range(size)])
        assert len(store.path(session)) == size
    small, large = map(steps, sessions)
    assert large < 12 * small


# ---- the running reply ----------------------------------------------------------------------


def crashed(store):
    """Open the store as the next process would after this one died."""
    store._db.run("UPDATE replies SET owner_started = 0")
    return reopened(store)


def test_a_finished_reply_is_an_entry_and_no_checkpoint(store):
    """The entry hangs on its question, is the leaf, and its usage is counted."""
    session = store.create_session().id
    question = store.append(session, user("1"))
    reply = store.start_reply(session, question.id, "starter")
    store.checkpoint_reply(reply, "so")
    entry = store.finish_reply(reply, assistant("so far", usage=Usage(30, 70, 5)))
    assert entry.parent == question.id
    assert store.path(session) == (question, entry)
    row = store.session(session)
    assert (row.input_tokens, row.output_tokens, row.context_tokens) == (100, 5, 105)
    with crashed(store) as again:
        assert again.recovered == ()


def test_an_interrupted_reply_becomes_an_entry_marked_so(store):
    """After a crash the text up to the last checkpoint is there, with its thinking and model."""
    session = store.create_session().id
    question = store.append(session, user("1"))
    reply = store.start_reply(session, question.id, "starter")
    store.checkpoint_reply(reply, "so", "hm")
    store.checkpoint_reply(reply, "so far \ud83d", "hmm")
    with crashed(store) as again:
        (entry,) = again.recovered
        assert entry.body == Message(
            "assistant",
            (Thinking("hmm"), Text("so far \ud83d")),
            model="starter",
            stop_reason="interrupted",
        )
        assert again.path(session) == (question, entry)
        assert again.check() == ()
    with Store.open(store.file) as third:
        assert third.recovered == ()


def test_a_reply_without_a_word_leaves_its_question(store):
    """A crash before the first word leaves no empty entry; so does a discarded reply."""
    session = store.create_session().id
    question = store.append(session, user("1"))
    store.start_reply(session, question.id)
    store.discard_reply(store.start_reply(session, question.id))
    with crashed(store) as again:
        assert again.recovered == ()
        assert again.path(session) == (question,)


def test_a_reply_does_not_take_the_user_back_from_another_branch(store):
    """When the leaf was moved meanwhile, the reply is added where it belongs and no more."""
    session = store.create_session().id
    question = store.append(session, user("1"))
    reply = store.start_reply(session, question.id)
    elsewhere = store.append(session, user("instead"), None)
    entry = store.finish_reply(reply, assistant("2"))
    assert store.session(session).leaf == elsewhere.id
    assert store.path(session, entry.id) == (question, entry)


def test_a_deleted_conversation_ends_its_reply_quietly(store):
    """Checkpoints go nowhere, finishing says that the conversation is gone."""
    session = store.create_session().id
    reply = store.start_reply(session, store.append(session, user("1")).id)
    store.delete_session(session)
    store.checkpoint_reply(reply, "secret")
    with pytest.raises(EnvironmentFault, match="There is no conversation"):
        store.finish_reply(reply, assistant("secret"))
    store.close()
    assert b"secret" not in store.file.read_bytes()


# ---- search ---------------------------------------------------------------------------------


def found(store, text):
    return sorted(hit.text for hit in store.search(text))


def test_search_finds_messages_and_summaries(store):
    """Words are found in any case, inside words, in every kind of text that was said."""
    session = store.create_session().id
    store.append_all(
        session,
        [
            user("Where is the Lighthouse?"),
            Message("assistant", (Thinking("lighthouse keeper"), Text("By the sea."))),
            Compaction("about a lighthouse", ""),
            CustomMessage("note", "two lighthouses"),
            Custom("state", {"lighthouse": "data"}),
        ],
    )
    assert found(store, "LIGHT") == [
        "Where is the Lighthouse?",
        "about a lighthouse",
        "two lighthouses",
    ]
    assert found(store, "lighthouse where") == ["Where is the Lighthouse?"]
    (hit,) = store.search("by the sea")
    assert store.entry(hit.session, hit.entry).body.text == "By the sea."


def test_search_finds_chinese_and_short_words(store):
    """Languages without spaces, and words too short for the index."""
    session = store.create_session().id
    store.append_all(
        session, [user("我们明天去北京旅行"), user("at 7% of x_y"), user("at 77 xzy")]
    )
    assert found(store, "去北京旅") == found(store, "北京") == ["我们明天去北京旅行"]
    assert found(store, "7%") == found(store, "x_") == ["at 7% of x_y"]


@pytest.mark.parametrize(
    "text", ["", "  ", "\0", '"', "AND OR NOT", "a*b", "\ud800\ud800\ud800", "^x("]
)
def test_any_text_can_be_searched_for(store, text):
    """Nothing typed into the search field is an error."""
    store.append(store.create_session().id, user("hello"))
    assert store.search(text) == ()


def test_search_stops_at_its_limit(store):
    """No more hits than wanted."""
    store.append_all(store.create_session().id, [user(f"hello {n}") for n in range(9)])
    assert len(store.search("hello", 4)) == 4


# ---- deletion, privacy ----------------------------------------------------------------------


def test_a_deleted_conversation_leaves_the_files(store):
    """Text, index, checkpoint: nothing of it can be found in any file; the others stay."""
    kept, gone = store.create_session("kept").id, store.create_session("gone").id
    for n in range(200):
        store.append(kept, user(f"ordinary words {n}"))
        store.append(gone, user(f"confidential zebra {n} " * 40))
    reply = store.start_reply(gone, store.session(gone).leaf)
    store.checkpoint_reply(reply, "confidential zebra")
    store.delete_session(gone)
    everything = b"".join(path.read_bytes() for path in store.file.parent.iterdir())
    # The index holds trigrams, each after a length byte or a shared beginning.
    assert b"confidential" not in everything
    assert b"zeb" not in everything.lower()
    assert store.search("zebra") == ()
    assert len(store.path(kept)) == 200
    assert store.check() == ()


def test_an_interrupted_deletion_is_completed_at_the_next_opening(store):
    """When the program dies after the deletion and before the rewriting, nothing stays either."""
    kept, gone = store.create_session("kept").id, store.create_session("gone").id
    for n in range(100):
        store.append(kept, user(f"ordinary words {n}"))
        store.append(gone, user(f"confidential zebra {n} " * 40))
    with store._db.transaction():
        store._db.run("DELETE FROM sessions WHERE id = ?", (gone,))
        scrubbing.note_traces(store._db)
    with reopened(store) as again:
        everything = b"".join(path.read_bytes() for path in store.file.parent.iterdir())
        assert b"confidential" not in everything
        assert b"zeb" not in everything.lower()
        assert len(again.path(kept)) == 100
        assert again.check() == ()


def test_files_are_for_the_user_only(tmp_path):
    """The database, its log and the folder made for them cannot be read by others."""
    file = tmp_path / "new" / "deeper" / "porthole.db"
    with Store.open(file) as store:
        store.create_session()
        for path in (file, beside(file, "-wal"), beside(file, "-shm")):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    file.chmod(0o644)
    with Store.open(file):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_closing_leaves_one_file(store):
    """After the last one closed, everything is in the database file; closing twice is fine."""
    store.create_session()
    store.close()
    store.close()
    assert os.listdir(store.file.parent) == ["porthole.db"]


def test_a_closed_store_is_a_bug_to_use(store):
    """Using it after closing is the program's mistake."""
    store.close()
    with pytest.raises(Bug):
        store.sessions()


def test_a_store_in_memory_is_a_store():
    """Without a file everything works the same."""
    with Store.in_memory() as store:
        session = store.create_session("x").id
        entry = store.append(session, user("hello"), durable=True)
        assert store.path(session) == (entry,)
        assert found(store, "hello") == ["hello"]
        store.delete_session(session)
        assert store.sessions() == ()


def test_what_the_user_typed_waits_for_the_disk(store):
    """Durable writes are made with synchronous=FULL, the others with NORMAL, in the log."""
    seen = []
    connection = store._db.connection
    connection.set_trace_callback(seen.append)
    session = store.create_session().id
    store.append(session, user("1"), durable=True)
    connection.set_trace_callback(None)
    begins = [n for n, statement in enumerate(seen) if statement == "BEGIN IMMEDIATE"]
    full = seen.index("PRAGMA synchronous = FULL")
    assert begins[0] < full < begins[1] < seen.index("PRAGMA synchronous = NORMAL")
    assert store._db.value("PRAGMA synchronous") == 1
    assert store._db.value("PRAGMA journal_mode") == "wal"


def test_a_message_in_front_of_a_compaction_stays_in_the_store(store):
    """J8 and 7.2 on stored entries: what the model sees shrinks, what is stored does not."""
    session = store.create_session().id
    u1, a1, u2 = store.append_all(session, [user("1"), assistant("1"), user("2")])
    summary = store.append(session, Compaction("sum", u2.id))
    last = store.append(session, user("3"))
    assert visible_entries(store.path(session)) == (summary, u2, last)
    assert store.path(session) == (u1, a1, u2, summary, last)
