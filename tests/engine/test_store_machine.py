"""Random histories of a store against a model of it in memory."""

import io
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    multiple,
    precondition,
    rule,
)

from engine.store import Store
from engine.transcript import Message, Text, Thinking, path_to
from tests.engine.transcript_strategies import bodies, messages, texts


class StoreMachine(RuleBasedStateMachine):
    """Whatever is done, closed, killed and opened again, the store holds what the model holds."""

    sessions = Bundle("sessions")
    replies = Bundle("replies")

    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.store = Store.open(self.folder / "porthole.db")
        self.entries = {}  # session -> entries, in order
        self.leaves = {}  # session -> id or None
        self.running = {}  # reply -> message so far
        self.titles = {}

    # ---- what a user does -------------------------------------------------------------------

    @rule(target=sessions, title=texts)
    def create(self, title):
        row = self.store.create_session(title)
        self.entries[row.id], self.leaves[row.id] = [], None
        self.titles[row.id] = row.title
        return row.id

    @rule(session=sessions, new=st.lists(bodies, max_size=3), durable=st.booleans())
    def append_at_the_leaf(self, session, new, durable):
        added = self.store.append_all(session, new, durable=durable)
        self._added(session, added, self.leaves[session])

    @rule(session=sessions, body=bodies, data=st.data(), move=st.booleans())
    def append_anywhere(self, session, body, data, move):
        parent = data.draw(st.sampled_from([None, *(e.id for e in self.entries[session])]))
        leaf = self.leaves[session]
        added = self.store.append(session, body, parent, move_leaf=move)
        self._added(session, (added,), parent)
        if not move:
            self.leaves[session] = leaf

    @rule(session=sessions, data=st.data())
    def go_elsewhere(self, session, data):
        leaf = data.draw(st.sampled_from([None, *(e.id for e in self.entries[session])]))
        self.store.set_leaf(session, leaf)
        self.leaves[session] = leaf

    @rule(session=consumes(sessions))
    def delete(self, session):
        self.store.delete_session(session)
        del self.entries[session], self.leaves[session], self.titles[session]
        self.running = {r: m for r, m in self.running.items() if r.session != session}

    @rule(target=sessions, session=sessions)
    def export_and_import(self, session):
        file = io.StringIO(newline="\n")
        self.store.export_jsonl(session, file)
        file.seek(0)
        copy = self.store.import_jsonl(file).session
        assert copy.id != session
        self.entries[copy.id] = [replace(e, session=copy.id) for e in self.entries[session]]
        self.leaves[copy.id] = self.leaves[session]
        self.titles[copy.id] = copy.title
        return copy.id

    # ---- replies ----------------------------------------------------------------------------

    @rule(target=replies, session=sessions)
    def start(self, session):
        if self.leaves[session] is None:
            return multiple()
        reply = self.store.start_reply(session, self.leaves[session], "m")
        self.running[reply] = Message("assistant", model="m")
        return reply

    @rule(reply=replies, text=texts, thinking=texts)
    def checkpoint(self, reply, text, thinking):
        if reply in self.running:
            self.store.checkpoint_reply(reply, text, thinking)
            parts = ([Thinking(thinking)] if thinking else []) + ([Text(text)] if text else [])
            self.running[reply] = Message("assistant", tuple(parts), model="m")

    @rule(reply=consumes(replies), message=messages)
    def finish(self, reply, message):
        if self.running.pop(reply, None):
            entry = self.store.finish_reply(reply, message)
            assert (entry.body, entry.parent) == (message, reply.parent)
            self._replied(reply, entry)

    @rule(reply=consumes(replies))
    def discard(self, reply):
        self.store.discard_reply(reply)
        self.running.pop(reply, None)

    # ---- what happens -----------------------------------------------------------------------

    @rule()
    def reopen(self):
        self.store.close()
        self.store = Store.open(self.folder / "porthole.db")
        assert self.store.recovered == ()

    @precondition(lambda self: self.running)
    @rule()
    def die(self):
        """As the next process sees it: the files as they are, the owner of the replies gone."""
        self.store._db.run("UPDATE replies SET owner_started = 0")
        crashed = self.folder / "crashed"
        shutil.rmtree(crashed, ignore_errors=True)
        crashed.mkdir()
        for file in self.folder.glob("porthole.db*"):
            shutil.copy(file, crashed)
        self.store.close()
        for file in crashed.iterdir():
            shutil.copy(file, self.folder)
        self.store = Store.open(self.folder / "porthole.db")
        recovered = list(self.store.recovered)
        for reply, message in self.running.items():
            if message.parts:
                entry = recovered.pop(0)
                assert entry.body == replace(message, stop_reason="interrupted")
                self._replied(reply, entry)
        assert recovered == []
        self.running = {}

    # ---- what always holds ------------------------------------------------------------------

    @invariant()
    def the_store_holds_what_the_model_holds(self):
        assert {row.id: row.title for row in self.store.sessions()} == self.titles
        for session, entries in self.entries.items():
            assert self.store.entries(session) == tuple(entries)
            assert self.store.path(session) == path_to(entries, self.leaves[session])
            assert self.store.session(session).leaf == self.leaves[session]
        assert self.store.running_replies() == list(self.running.values())

    def teardown(self):
        try:
            assert self.store.check() == ()
        finally:
            self.store.close()
            shutil.rmtree(self.folder)

    def _added(self, session, added, parent):
        for entry in added:
            assert entry.parent == parent
            parent = entry.id
        self.entries[session] += added
        if added:
            self.leaves[session] = added[-1].id

    def _replied(self, reply, entry):
        self.entries[reply.session].append(entry)
        if self.leaves[reply.session] == reply.parent:
            self.leaves[reply.session] = entry.id


TestStoreMachine = StoreMachine.TestCase
TestStoreMachine.settings = settings(max_examples=20, stateful_step_count=40, deadline=None)
