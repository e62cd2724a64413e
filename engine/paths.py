"""Where things are on this machine, and how a file is replaced without ever being half written.

By default everything goes where the platform wants it (Linux: the XDG folders; macOS: Library;
Windows: AppData). ``--profile DIR``, or the environment variable ``PORTHOLE_PROFILE``, puts all of
it under one folder instead::

    config_dir/settings.toml      what the user set
    data_dir/porthole.db          every word that was said
    data_dir/models/              GGUF files, the starter model among them
    cache_dir/                    may be deleted at any time
    log_dir/reports/              traces of our own bugs

Everything created here is for its user only: folders 0700, files 0600.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from engine.errors import EnvironmentFault, SettingsUnusable, StoreReadOnly

PROFILE_VARIABLE = "PORTHOLE_PROFILE"
"""Environment variable that means the same as ``--profile``; the option wins."""

_ELSEWHERE = "Start Porthole with --profile DIR to keep everything in a folder of your choice."


@dataclass(frozen=True, slots=True)
class Paths:
    """The four folders everything lives under; all absolute. Nothing is created by looking."""

    config_dir: Path
    data_dir: Path
    cache_dir: Path
    log_dir: Path

    @property
    def settings_file(self) -> Path:
        """The settings, TOML."""
        return self.config_dir / "settings.toml"

    @property
    def database(self) -> Path:
        """The conversations, SQLite."""
        return self.data_dir / "porthole.db"

    @property
    def models_dir(self) -> Path:
        """Where Porthole puts GGUF files and always looks for them."""
        return self.data_dir / "models"

    @property
    def reports_dir(self) -> Path:
        """Where the trace of an internal error is saved."""
        return self.log_dir / "reports"

    def ensure(self) -> None:
        """Create what is missing, user-only (0700); folders that exist keep their permissions.

        Raises SettingsUnusable for the config folder and StoreReadOnly for the others: a file is
        in the way, no permission, a read-only place. An existing config folder may be read-only.
        """
        make_private(self.config_dir, fault=SettingsUnusable)
        for folder in (
            self.data_dir,
            self.models_dir,
            self.cache_dir,
            self.log_dir,
            self.reports_dir,
        ):
            make_private(folder, fault=StoreReadOnly)
        effective = os.access in os.supports_effective_ids
        if not os.access(self.data_dir, os.W_OK | os.X_OK, effective_ids=effective):
            raise StoreReadOnly(
                f"The data folder {self.data_dir} is read-only, so nothing you type could be kept.",
                f"Allow writing to it. {_ELSEWHERE}",
            )


def default_paths() -> Paths:
    """The platform's own folders, by platformdirs. Nothing is created.

    Raises SettingsUnusable when the platform does not know the user's home folder.
    """
    from platformdirs import PlatformDirs  # here: most of the program never needs it

    dirs = PlatformDirs("porthole", appauthor=False)
    try:
        names = (dirs.user_config_dir, dirs.user_data_dir, dirs.user_cache_dir, dirs.user_log_dir)
    except RuntimeError as error:
        raise _homeless() from error
    paths = Paths(*map(Path, names))
    if not paths.config_dir.is_absolute() or not paths.data_dir.is_absolute():
        raise _homeless()  # older platformdirs give a folder named "~"
    return paths


def _homeless() -> SettingsUnusable:
    return SettingsUnusable("Your home folder is not known.", f"Set HOME. {_ELSEWHERE}")


def profile_paths(directory: str | Path) -> Paths:
    """Everything under one folder; ``~`` is understood. Nothing is created.

    Raises SettingsUnusable when the name cannot be a folder's (``~`` of an unknown user).
    """
    try:
        root = Path(directory).expanduser().absolute()
    except RuntimeError as error:
        raise SettingsUnusable(
            f"The profile folder {directory} cannot be found: the home folder is not known.",
            "Name the folder in full.",
        ) from error
    return Paths(root / "config", root / "data", root / "cache", root / "logs")


def find_paths(profile: str | Path | None, environ: Mapping[str, str]) -> Paths:
    """The paths this run uses: ``--profile``, else ``PORTHOLE_PROFILE``, else the platform's.

    An empty name counts as none. Raises SettingsUnusable as the two functions it calls.
    """
    chosen = profile or environ.get(PROFILE_VARIABLE)
    return profile_paths(chosen) if chosen else default_paths()


def resources_dir() -> Path:
    """The folder of icons, prompt texts and manifests that comes with Porthole."""
    return Path(__file__).resolve().parent.parent / "resources"


def make_private(folder: Path, *, fault: type[EnvironmentFault]) -> None:
    """Create a folder and its missing parents, each 0700. Raises `fault`."""
    try:
        for missing in reversed([folder, *folder.parents]):
            if not missing.is_dir():
                missing.mkdir(mode=0o700, exist_ok=True)
    except (OSError, ValueError) as error:
        raise fault(
            f"The folder {folder} cannot be made: {os_reason(error)}.", _ELSEWHERE
        ) from error


def atomic_write(
    path: Path, text: str, *, fault: type[EnvironmentFault] = SettingsUnusable
) -> None:
    """Replace a file's content, UTF-8, mode 0600: afterwards it is all old or all new.

    It survives a power cut: the new content is on the disk before it gets the name, and the name
    before this returns. A symbolic link is followed, so that a linked file stays linked. Line ends
    are written as they are in `text`. Raises `fault`; the old content is then untouched.
    """
    target = Path(os.path.realpath(path))
    try:
        _replace(target, text.encode("utf-8"))
    except OSError as error:
        raise fault(
            f"{path} cannot be written: {os_reason(error)}.",
            "What was there before is unchanged.",
        ) from error


def _replace(target: Path, content: bytes) -> None:
    from tempfile import mkstemp

    handle, name = mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as temporary:  # mkstemp made it 0600
            temporary.write(content)
            temporary.flush()
            os.fsync(temporary.fileno())
        os.replace(name, target)
    except BaseException:  # a stop as well: no litter is left
        os.unlink(name)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Put a folder's own entries on the disk; a folder cannot be opened on Windows."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Hold a folder against other Porthole processes and threads while a file in it is changed.

    Advisory and released by the system when its holder dies. Where the platform or the file system
    knows no such lock, nothing is held.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a network file system without locks: as good as it gets
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def os_reason(error: Exception) -> str:
    """The system's own words for an error, ready for the middle of a sentence."""
    words = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return words[:1].lower() + words[1:]
