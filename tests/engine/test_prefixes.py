"""Prefix caches on the disk stay bounded."""

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from engine.prefixes import PrefixFolder, plan_removals

FOUND = st.lists(st.tuples(st.floats(0, 1e9), st.integers(0, 10**9)), max_size=12).map(
    lambda rows: [(used, size, Path(str(number))) for number, (used, size) in enumerate(rows)]
)


@given(FOUND, st.integers(0, 2 * 10**9))
def test_what_stays_fits_or_is_the_newest(found, limit):
    """After the removals the rest is under the limit, or one file; the newest never goes."""
    gone = set(plan_removals(found, limit))
    stays = [row for row in found if row[2] not in gone]
    assert sum(size for _, size, _ in stays) <= limit or len(stays) == 1
    assert bool(stays) == bool(found)
    if found:
        assert max(found) in stays


def test_longest_unused_goes_first(tmp_path):
    """Three files over the limit: the oldest is removed, the others stay."""
    folder = PrefixFolder(tmp_path / "prefix", limit_bytes=250, free_bytes=0)
    assert folder.prepare()
    for age, name in enumerate(["old", "mid", "new"]):
        folder.file(name).write_bytes(bytes(100))
        os.utime(folder.file(name), (1000 + age, 1000 + age))
    folder.trim()
    assert sorted(path.name for path in (tmp_path / "prefix").iterdir()) == ["mid.kv", "new.kv"]


def test_deleted_conversation_takes_its_cache_along(tmp_path):
    """Nothing of what was said is left behind."""
    folder = PrefixFolder(tmp_path)
    folder.file("a").write_bytes(b"said")
    folder.forget("a")
    folder.forget("a")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_kept_on_a_full_disk(tmp_path):
    """Room for words comes before time."""
    assert not PrefixFolder(tmp_path, free_bytes=2**63).prepare()


def test_folder_that_cannot_be_made_costs_only_time(tmp_path):
    """A file is in the way: nothing is kept, nothing fails."""
    (tmp_path / "cache").write_text("in the way")
    assert not PrefixFolder(tmp_path / "cache" / "prefix", free_bytes=0).prepare()
