"""Foreign errors become ours, whichever they are."""

import errno
import os
import sqlite3

import pytest

from engine.errors import Bug, PortholeError, StoreCorrupt, StoreReadOnly, StoreUnusable
from engine.store import Store
from engine.store.faults import translate, translated

CLASSES = sorted(
    (
        kind
        for kind in vars(sqlite3).values()
        if isinstance(kind, type) and issubclass(kind, sqlite3.Error | sqlite3.Warning)
    ),
    key=lambda kind: kind.__name__,
)
FAULTS = {
    "SQLITE_BUSY": StoreUnusable,
    "SQLITE_LOCKED": StoreUnusable,
    "SQLITE_PROTOCOL": StoreUnusable,
    "SQLITE_IOERR": StoreUnusable,
    "SQLITE_NOLFS": StoreUnusable,
    "SQLITE_NOMEM": StoreUnusable,
    "SQLITE_TOOBIG": StoreUnusable,
    "SQLITE_CANTOPEN": StoreUnusable,
    "SQLITE_FULL": StoreReadOnly,
    "SQLITE_READONLY": StoreReadOnly,
    "SQLITE_PERM": StoreReadOnly,
    "SQLITE_AUTH": StoreReadOnly,
    "SQLITE_CORRUPT": StoreCorrupt,
    "SQLITE_NOTADB": StoreCorrupt,
    "SQLITE_FORMAT": StoreCorrupt,
}
OUR_MISTAKES = {
    "SQLITE_ERROR",
    "SQLITE_INTERNAL",
    "SQLITE_ABORT",
    "SQLITE_INTERRUPT",
    "SQLITE_NOTFOUND",
    "SQLITE_EMPTY",
    "SQLITE_SCHEMA",
    "SQLITE_CONSTRAINT",
    "SQLITE_MISMATCH",
    "SQLITE_MISUSE",
    "SQLITE_RANGE",
}


def failed(kind, code=None):
    error = kind("words of the driver")
    if code is not None:
        error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize("kind", CLASSES)
def test_every_class_of_error_is_translated(tmp_path, kind):
    """Nothing the driver can raise leaves the store as it is."""
    with pytest.raises(PortholeError) as caught, translated(tmp_path / "x.db"):
        raise failed(kind)
    assert isinstance(caught.value.__cause__, kind)


def test_every_result_code_is_decided():
    """Each of SQLite's 26 primary error codes is somebody's fault, on purpose."""
    decided = {getattr(sqlite3, name) for name in [*FAULTS, *OUR_MISTAKES]}
    assert decided == set(range(1, 27))


@pytest.mark.parametrize(("name", "fault"), FAULTS.items())
@pytest.mark.parametrize("extended", [0, 1 << 8, 7 << 8])
def test_the_environments_faults_are_a_sentence_and_a_remedy(tmp_path, name, fault, extended):
    """What the user can mend names the file, in one sentence, and says what to do."""
    code = getattr(sqlite3, name) | extended
    ours = translate(failed(sqlite3.OperationalError, code), tmp_path / "x.db")
    assert type(ours) is fault
    assert ours.sentence.endswith(".")
    assert str(tmp_path) in ours.sentence
    assert ours.remedy.endswith(".")


@pytest.mark.parametrize("name", sorted(OUR_MISTAKES))
def test_our_mistakes_are_bugs(tmp_path, name):
    """A wrong statement or a broken constraint is not blamed on the user."""
    error = failed(sqlite3.OperationalError, getattr(sqlite3, name))
    assert isinstance(translate(error, tmp_path / "x.db"), Bug)


def test_real_errors_of_the_driver(tmp_path):
    """What the driver really raises for a broken constraint, a wrong statement, wrong values."""
    with Store.open(tmp_path / "porthole.db") as store:
        for statement, values in (
            ("INSERT INTO meta VALUES (NULL, NULL)", ()),
            ("SELEKT 1", ()),
            ("SELECT ?", ()),
            ("SELECT ?", (object(),)),
        ):
            with pytest.raises(Bug, match="SQL failed"):
                store._db.run(statement, values)
        with pytest.raises(StoreUnusable, match="too long"):
            store._db.run("SELECT zeroblob(2000000000)")


def test_a_python_without_full_text_search_is_told(tmp_path):
    """The one thing needed of SQLite that a build may lack has its own sentence."""
    error = failed(sqlite3.OperationalError, sqlite3.SQLITE_ERROR)
    error.args = ("no such tokenizer: trigram",)
    assert "no full-text search" in str(translate(error, tmp_path / "x.db"))


@pytest.mark.parametrize(
    ("number", "fault"),
    [
        (errno.ENOSPC, StoreReadOnly),
        (errno.EDQUOT, StoreReadOnly),
        (errno.EACCES, StoreReadOnly),
        (errno.EROFS, StoreReadOnly),
        (errno.EIO, StoreUnusable),
        (errno.ENAMETOOLONG, StoreUnusable),
    ],
)
def test_errors_of_the_system_are_translated(tmp_path, number, fault):
    """What happens to the file outside SQLite is told in the same way."""
    with pytest.raises(StoreUnusable) as caught, translated(tmp_path / "x.db"):
        raise OSError(number, os.strerror(number), "somewhere")
    assert type(caught.value) is fault
    assert str(tmp_path) in caught.value.sentence


def test_a_name_too_long_for_the_system_is_one_sentence(tmp_path):
    """A path the system refuses is the environment's fault."""
    with pytest.raises(StoreUnusable):
        Store.open(tmp_path / ("x" * 300) / "porthole.db")
    with pytest.raises(StoreUnusable):
        Store.open(tmp_path / ("x" * 300))
