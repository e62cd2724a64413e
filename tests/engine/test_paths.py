"""Where things are, what may be read by whom, and that no file is ever half written."""

import fcntl
import os
import pwd
import signal
import stat
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from engine.errors import SettingsUnusable, StoreReadOnly
from engine.paths import (
    Paths,
    atomic_write,
    default_paths,
    find_paths,
    folder_lock,
    profile_paths,
    resources_dir,
)

ROOT = Path(__file__).parents[2]


@contextmanager
def without_privileges():
    """File permissions count for root as well: act as nobody meanwhile."""
    if os.geteuid() != 0:
        yield
        return
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


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_profile_holds_everything(tmp_path):
    """With a profile, nothing is outside its folder."""
    paths = profile_paths(tmp_path / "p")
    everything = [
        paths.config_dir,
        paths.data_dir,
        paths.cache_dir,
        paths.log_dir,
        paths.settings_file,
        paths.database,
        paths.models_dir,
        paths.reports_dir,
    ]
    assert all(path.is_relative_to(tmp_path / "p") for path in everything)


def test_names(tmp_path):
    """Settings, database and models have the names the documents give them."""
    paths = Paths(tmp_path / "c", tmp_path / "d", tmp_path / "x", tmp_path / "l")
    assert paths.settings_file == tmp_path / "c" / "settings.toml"
    assert paths.database == tmp_path / "d" / "porthole.db"
    assert paths.models_dir == tmp_path / "d" / "models"


def test_relative_profile_becomes_absolute():
    """A profile means the same folder after a change of the working directory."""
    assert profile_paths("somewhere").config_dir == Path.cwd() / "somewhere" / "config"


def test_home_in_a_profile(monkeypatch, tmp_path):
    """A tilde that no shell has expanded is understood."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert profile_paths("~/p").data_dir == tmp_path / "p" / "data"


def test_unknown_home_in_a_profile():
    """A tilde of a user who does not exist is one sentence."""
    with pytest.raises(SettingsUnusable, match="home folder"):
        profile_paths("~no-such-user-here/p")


def test_profile_order(tmp_path):
    """The option wins over the variable, the variable over the platform; empty is none."""
    option, variable = tmp_path / "o", tmp_path / "v"
    environ = {"PORTHOLE_PROFILE": str(variable)}
    assert find_paths(option, environ) == profile_paths(option)
    assert find_paths(None, environ) == profile_paths(variable)
    assert find_paths("", {"PORTHOLE_PROFILE": ""}) == default_paths()


def test_platform_folders(monkeypatch, tmp_path):
    """Without a profile the platform's folders are used, all below the user's home."""
    for name in list(os.environ):
        if name.startswith("XDG_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    paths = default_paths()
    for folder in (paths.config_dir, paths.data_dir, paths.cache_dir, paths.log_dir):
        assert folder.is_relative_to(tmp_path)
        assert "porthole" in folder.parts


def test_unknown_home(monkeypatch):
    """A user without a home folder and without an entry in the user table: one sentence."""

    def no_entry(uid):
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", no_entry)
    for name in list(os.environ):
        if name.startswith("XDG_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", "nowhere")
    with pytest.raises(SettingsUnusable, match="home folder is not known") as caught:
        default_paths()
    assert "--profile" in caught.value.remedy


def test_looking_creates_nothing(tmp_path):
    """Asking where things are leaves the disk alone."""
    profile_paths(tmp_path / "p")
    assert list(tmp_path.iterdir()) == []


def test_ensure_is_private(tmp_path):
    """Every folder made, the profile's own and missing parents too, is for its user only."""
    previous = os.umask(0)
    try:
        paths = profile_paths(tmp_path / "a" / "b")
        paths.ensure()
    finally:
        os.umask(previous)
    made = [path for path in tmp_path.rglob("*") if path.is_dir()]
    assert {paths.models_dir, paths.reports_dir, paths.config_dir, paths.cache_dir} <= set(made)
    assert {mode(path) for path in made} == {0o700}


def test_ensure_again_changes_nothing(tmp_path):
    """Folders that exist keep the permissions their owner gave them."""
    paths = profile_paths(tmp_path)
    paths.ensure()
    paths.data_dir.chmod(0o750)
    paths.ensure()
    assert mode(paths.data_dir) == 0o750


@pytest.mark.parametrize(
    ("name", "fault"),
    [("config", SettingsUnusable), ("data", StoreReadOnly), ("logs", StoreReadOnly)],
)
def test_file_in_the_way(tmp_path, name, fault):
    """A file where a folder should be is one sentence that names it."""
    (tmp_path / name).write_text("")
    with pytest.raises(fault) as caught:
        profile_paths(tmp_path).ensure()
    assert str(tmp_path / name) in caught.value.sentence
    assert "--profile" in caught.value.remedy


def test_no_permission_to_make_folders(open_dir):
    """A place that may not be written is one sentence."""
    open_dir.chmod(0o555)
    with without_privileges(), pytest.raises(SettingsUnusable, match="permission denied"):
        profile_paths(open_dir / "p").ensure()


def test_read_only_data_folder(open_dir):
    """A data folder that exists and cannot be written is found before anything is typed."""
    paths = profile_paths(open_dir / "p")
    paths.ensure()
    for folder in (open_dir / "p", *(open_dir / "p").rglob("*")):
        folder.chmod(0o555)
    with without_privileges(), pytest.raises(StoreReadOnly, match="read-only"):
        paths.ensure()


def test_read_only_config_folder_is_allowed(open_dir):
    """Settings that are managed by someone else and only readable are no fault."""
    paths = profile_paths(open_dir / "p")
    paths.ensure()
    for folder in (open_dir / "p", *(open_dir / "p").rglob("*")):
        folder.chmod(0o777)
    paths.config_dir.chmod(0o555)
    with without_privileges():
        paths.ensure()


def test_nul_in_a_profile():
    """A name no file system takes is one sentence, not a crash."""
    with pytest.raises(SettingsUnusable, match="cannot be made"):
        profile_paths("/tmp/a\0b").ensure()


def test_resources_are_beside_the_packages():
    """The resources folder is the repository's."""
    assert resources_dir() == ROOT / "resources"


# ---- atomic_write -------------------------------------------------------------------------------


def test_atomic_write_replaces(tmp_path):
    """The file has the new content, byte for byte, and only its user may read it."""
    file = tmp_path / "f"
    file.write_text("old")
    file.chmod(0o644)
    atomic_write(file, "neu\r\n中文\n")
    assert file.read_bytes() == "neu\r\n中文\n".encode()
    assert mode(file) == 0o600
    assert list(tmp_path.iterdir()) == [file]


def test_atomic_write_follows_a_link(tmp_path):
    """A settings file that is a link into another folder stays one."""
    target = tmp_path / "dotfiles" / "settings.toml"
    target.parent.mkdir()
    target.write_text("old")
    link = tmp_path / "settings.toml"
    link.symlink_to(target)
    atomic_write(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_failed_write_leaves_no_litter(tmp_path):
    """What cannot be written is one sentence, the old content stays, no temporary file does."""
    folder = tmp_path / "f"
    folder.mkdir()
    with pytest.raises(StoreReadOnly) as caught:
        atomic_write(folder, "text", fault=StoreReadOnly)
    assert str(folder) in caught.value.sentence
    assert list(tmp_path.iterdir()) == [folder]


def test_write_into_a_missing_folder(tmp_path):
    """The default fault is the settings' own."""
    with pytest.raises(SettingsUnusable, match="no such file"):
        atomic_write(tmp_path / "missing" / "f", "text")


def test_killed_while_writing(tmp_path):
    """A process killed at any point leaves the old content or the new, never a mixture."""
    file = tmp_path / "f"
    contents = {letter * 300_000 for letter in "ab"}
    script = (
        "import sys; from pathlib import Path; from engine.paths import atomic_write\n"
        "while True:\n"
        "    for letter in 'ab':\n"
        "        atomic_write(Path(sys.argv[1]), letter * 300_000)\n"
        "        print('.', flush=True)\n"
    )
    for writes in (1, 2, 5, 6, 9):
        child = subprocess.Popen(
            [sys.executable, "-c", script, str(file)], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        with child:
            for _ in range(writes):
                child.stdout.readline()
            child.send_signal(signal.SIGKILL)
        assert file.read_text() in contents


def test_folder_lock_excludes(tmp_path):
    """While one holds a folder another cannot; afterwards it can."""
    handle = os.open(tmp_path, os.O_RDONLY)
    try:
        with folder_lock(tmp_path), pytest.raises(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(handle)
