"""Profiles to measure with: one long conversation, and very many short ones."""

from pathlib import Path

from engine.paths import find_paths
from engine.store import Store
from tests.bench.window import texts


def fill(profile: Path, *counts: int) -> None:
    """A store of conversations with so many messages each, titled by that number."""
    paths = find_paths(str(profile), {})
    paths.ensure()
    with Store.open(paths.database) as store:
        for count in counts:
            session = store.create_session(title=str(count), model="starter").id
            store.append_all(session, texts.bodies(count))


def fill_many(profile: Path, count: int) -> None:
    """A store of so many conversations of one exchange each."""
    paths = find_paths(str(profile), {})
    paths.ensure()
    author = texts.Author(9)
    with Store.open(paths.database) as store:
        exchange = texts.bodies(20)
        for number in range(count):
            title = f"{author.words(4)} {number}"
            session = store.create_session(title=title, model="starter").id
            at = 2 * (number % 10)
            store.append_all(session, exchange[at : at + 2])
