"""Qt's system libraries: PySide6 brings Qt, the distribution has to bring what Qt stands on."""

import os

from steps.site import Site, digest
from steps.system import find_machine, install_packages, plan_command
from steps.work import CommandFailed, SetUpFailed, Worker

_LINKER_CACHE = "/etc/ld.so.cache"
# The xcb plugin is loaded by hand: Qt would load it only where there is a screen.
_LOADS = """
import ctypes, pathlib, PySide6
from PySide6 import QtCore, QtGui, QtWidgets
for plugin in pathlib.Path(PySide6.__file__).parent.glob("Qt/plugins/platforms/libqxcb.so"):
    ctypes.CDLL(str(plugin))
"""


def qt_key(libraries: str) -> str:
    """The stamp of a Qt that loads; `libraries` is the stamp of the installed libraries."""
    return f"ok {libraries}"


def qt_failure_key(libraries: str) -> str:
    """The stamp of a Qt that does not; changes when the system gets other libraries."""
    try:
        changed = os.stat(_LINKER_CACHE).st_mtime_ns
    except OSError:
        changed = 0
    return f"failed {digest(libraries, changed)}"


def provide_qt(site: Site, worker: Worker) -> None:
    """Make sure Qt loads; as root on Debian and Ubuntu installs what it lacks.

    Raises SetUpFailed with the command to type; the terminal front works without.
    """
    if _loads(site, worker):
        return
    machine = find_machine()
    if machine.installs:
        install_packages(worker, "qt")
        if _loads(site, worker):
            return
    raise SetUpFailed(f"Qt lacks system libraries: {plan_command(machine, 'qt')}")


def _loads(site: Site, worker: Worker) -> bool:
    try:
        worker.run(
            (site.python, "-c", _LOADS),
            failure="Qt does not load.",
            environ={"QT_QPA_PLATFORM": "offscreen"},
        )
    except CommandFailed:
        return False
    return True
