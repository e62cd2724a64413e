"""Watches the settings file: whoever edits it need not start Porthole again."""

from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

_SETTLE_MS = 150
"""Editors write in several steps, and many put a new file in the place of the old one."""


class SettingsWatch(QObject):
    """Tells when the file was written, made, replaced or removed.

    Signals:
        changed(): it may say something else now; never more often than it settles.
    """

    changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._file: Path | None = None
        self._stamp: tuple[int, int, int] | None = None
        self._watcher = QFileSystemWatcher(self)
        self._timer = QTimer(self, singleShot=True, interval=_SETTLE_MS)
        self._timer.timeout.connect(self._look)
        self._watcher.fileChanged.connect(lambda _path: self._timer.start())
        self._watcher.directoryChanged.connect(lambda _path: self._timer.start())

    @property
    def file(self) -> str:
        """What is watched; "" for nothing."""
        return str(self._file or "")

    def watch(self, file: str) -> None:
        """Watch a file from now on; it need not exist, its folder should."""
        if Path(file) == self._file:
            return
        if watched := self._watcher.files() + self._watcher.directories():
            self._watcher.removePaths(watched)
        self._file = Path(file)
        self._stamp = self._stamp_of(self._file)
        self._add()

    def _look(self) -> None:
        """Something happened in the folder: was it the file?"""
        self._add()
        assert self._file is not None
        stamp = self._stamp_of(self._file)
        if stamp != self._stamp:
            self._stamp = stamp
            self.changed.emit()

    def _add(self) -> None:
        """Watch what is there; a file that was replaced is another one and is not watched yet."""
        assert self._file is not None
        for path in (self._file.parent, self._file):
            known = self._watcher.files() + self._watcher.directories()
            if path.exists() and str(path) not in known:
                self._watcher.addPath(str(path))

    def _stamp_of(self, file: Path) -> tuple[int, int, int] | None:
        try:
            status = file.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino
