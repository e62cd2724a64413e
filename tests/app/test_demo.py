"""The throw-away profile of a demonstration."""

import pytest

from app.demo import Clock, conversations, fill
from engine.store import Store
from engine.transcript import Compaction, Message

NOW_MS = 1_790_000_000_000


@pytest.fixture
def store(tmp_path):
    clock = Clock(NOW_MS)
    with Store.open(tmp_path / "porthole.db", clock=clock) as made:
        made.demo_clock = clock
        yield made


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_every_conversation_is_there_with_its_time(store, language):
    """The newest first, as the list shows them; the one to open is the first, with a compaction."""
    first = fill(store, store.demo_clock, language=language)
    told = conversations(language)
    assert [row.title for row in store.sessions()] == [one.title for one in told]
    assert store.session(first).title == told[0].title
    assert any(isinstance(entry.body, Compaction) for entry in store.path(first))
    assert all(row.updated_at <= NOW_MS for row in store.sessions())


def test_long_conversation_has_as_many_messages_more(store):
    """They come before what is always there."""
    first = fill(store, store.demo_clock, 40)
    said = [entry.body for entry in store.path(first) if isinstance(entry.body, Message)]
    usual = [body for body in conversations()[0].said if isinstance(body, Message)]
    assert len(said) == len(usual) + 40
    assert said[0].text.startswith("Question 1:")
    assert said[40:] == usual
