"""How long it takes until a window shows: ours, and an empty one. Both as new processes."""

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

from tests.bench.window.child import ROOT, environ_has

EMPTY = "empty"
HEAVY = (
    "httpx",
    "llama_cpp",
    "markdown_it",
    "numpy",
    "ollama",
    "pygments",
    "sqlite_utils",
)
"""What is not needed to paint a window for the first time."""


@cache
def _compiled() -> Path:
    """Where the interpreter keeps what it compiled, as an installed program has it."""
    folder = Path(tempfile.mkdtemp(prefix="porthole-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def started(profile: str, what: str = "first") -> dict[str, object]:
    """Start a window in a new process; `profile` names whose, EMPTY for an empty one.

    `what` is waited for: the "first" paint of any window, or that of the "whole" one.

    `ms` is from starting the process to the painted window, `modules` what was imported then.
    """
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("COVERAGE_")  # it would load more than the window does
    }
    environment["PYTHONPYCACHEPREFIX"] = str(_compiled())
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if not any(map(environ_has, ("DISPLAY", "WAYLAND_DISPLAY"))):
        environment.setdefault("QT_QPA_PLATFORM", "offscreen")
    before = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, profile, what],
        cwd=ROOT,
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    told = dict(json.loads(done.stdout.splitlines()[-1]))
    return {"ms": (told["painted"] - before) * 1000, "modules": told["modules"]}


_CHILD = """
import sys
from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication, QWidget

def wanted():
    # the first window, or with the argument `whole` only the one with everything in it
    module = sys.modules.get("app.window.main")
    whole = module.MainWindow if module else ()
    return whole if sys.argv[2] == "whole" else QWidget

class Watcher(QObject):
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint and isinstance(watched, wanted()):
            app.removeEventFilter(self)
            QTimer.singleShot(0, self.tell)
        return False

    def tell(self):
        import json, os, time
        told = {"painted": time.monotonic(), "modules": sorted(sys.modules)}
        print(json.dumps(told), flush=True)
        os._exit(0)

app = QApplication(["porthole"])
watcher = Watcher()
app.installEventFilter(watcher)
if sys.argv[1] == "empty":
    window = QWidget()
    window.resize(1280, 820)
    window.show()
    app.exec()
else:
    from app.__main__ import main
    main(["--profile", sys.argv[1]])
"""


def starting(rounds: int = 7) -> dict[str, float]:
    """Milliseconds to our window's ground, to all of it, and to an empty window.

    Taken in turns, the best of each.
    """
    times: dict[str, list[float]] = {"ground": [], "whole": [], "empty": []}
    with tempfile.TemporaryDirectory() as folder:
        profile = str(Path(folder) / "profile")
        started(profile, "whole")  # compiles
        for _ in range(rounds):
            times["empty"].append(float(str(started(EMPTY)["ms"])))
            times["ground"].append(float(str(started(profile)["ms"])))
            times["whole"].append(float(str(started(profile, "whole")["ms"])))
    return {name: min(values) for name, values in times.items()}
