"""The window's ground: there before anything else is loaded, and gone when the window is painted."""

import subprocess
import sys

import pytest
from PySide6.QtCore import QLockFile
from PySide6.QtWidgets import QApplication, QWidget

import app.theme
from app.first_sight import Ground, show_ground
from app.terminal.parser import parse
from app.theme import DARK, LIGHT
from app.view_state import ViewState, save_view_state
from engine.paths import find_paths
from engine.settings import save_setting
from tests.bench.window.start import HEAVY, started


@pytest.fixture
def ground_of(qtbot, tmp_path):
    """Shows the ground of a profile for a command line."""

    def show(*words):
        ground = show_ground(parse(["--profile", str(tmp_path), *words]), {})
        if ground is not None:
            qtbot.addWidget(ground)
        return ground

    return show


def colours(ground, *xs):
    """The painted colours at these places of a line."""
    image = ground.grab().toImage()
    return [image.pixelColor(x, 300).name() for x in xs]


def test_first_paint_has_loaded_nothing_heavy(tmp_path):
    """A new process: at its first paint there is Qt, and neither the window nor the engine."""
    modules = set(started(str(tmp_path))["modules"])
    assert {"PySide6.QtWidgets", "app.first_sight"} <= modules
    assert not modules & {*HEAVY, "asyncio", "sqlite3"}
    ours = {name for name in modules if name.startswith(("app.", "engine."))}
    assert not {name for name in ours if name.startswith(("app.window", "app.transcript"))}
    assert not {name for name in ours if name.startswith(("engine.session", "engine.store"))}


def test_window_itself_loads_no_transport_and_no_lexers():
    """What the whole window imports leaves out what only a turn, a search or code needs."""
    told = "import sys, app.desktop; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", told], check=True, stdout=subprocess.PIPE, text=True
    )
    modules = set(done.stdout.split())
    assert "app.window.main" in modules
    assert not modules & {"httpx", "llama_cpp", "numpy", "ollama", "pygments", "sqlite_utils"}


@pytest.mark.parametrize(("scheme", "tokens"), [("light", LIGHT), ("dark", DARK)])
def test_ground_has_the_colours_of_the_window(ground_of, scheme, tokens):
    """The sidebar's ground at the left, a line, paper."""
    ground = ground_of("--theme", scheme)
    wanted = [tokens.side, tokens.line, tokens.paper]
    assert colours(ground, 10, 263, 264) == [colour.lower() for colour in wanted]


def test_ground_follows_the_settings(ground_of, tmp_path):
    """Scheme and zoom; without a setting it has the system's scheme."""
    assert colours(ground_of(), 400) == [LIGHT.paper.lower()]
    settings = find_paths(str(tmp_path), {}).settings_file
    save_setting(settings, "appearance.scheme", "dark")
    save_setting(settings, "appearance.zoom", 120)
    assert colours(ground_of(), 310, 320) == [DARK.side.lower(), DARK.paper.lower()]


def test_narrow_ground_has_no_sidebar(ground_of):
    """As the window, which hides it there."""
    assert colours(ground_of("--size", "700x500", "--theme", "light"), 10) == [LIGHT.paper.lower()]


def test_ground_stands_where_the_window_was(ground_of, tmp_path):
    """At its kept size."""
    ground = ground_of()
    ground.resize(640, 500)
    geometry = bytes(ground.saveGeometry().toBase64().data()).decode()
    _keep(tmp_path, ViewState(geometry))
    again = ground_of()
    assert (again.width(), again.height()) == (640, 500)


def test_sidebar_that_was_put_away(ground_of, tmp_path):
    """Is not there."""
    _keep(tmp_path, ViewState(sidebar_shown=False))
    assert colours(ground_of("--theme", "light"), 10) == [LIGHT.paper.lower()]


def _keep(profile, state):
    paths = find_paths(str(profile), {})
    paths.ensure()
    save_view_state(paths.data_dir / "view.json", state)


def test_no_ground_where_it_would_only_flash(ground_of, tmp_path):
    """Not for a picture, a demonstration, or a window that is open already."""
    assert ground_of("--demo") is None
    assert ground_of("--screenshot", "x.png") is None
    data = find_paths(str(tmp_path), {}).data_dir
    data.mkdir(parents=True, exist_ok=True)
    lock = QLockFile(str(data / "window.lock"))
    assert lock.tryLock(0)
    assert ground_of() is None
    lock.unlock()
    assert ground_of() is not None


def test_ground_gives_way_to_the_window(qtbot):
    """The window stands where the ground is, and the ground goes when it is painted."""
    ground, window = Ground(ViewState(), LIGHT, 1.0), QWidget()
    qtbot.addWidget(window)
    ground.resize(640, 500)
    ground.show()
    ground.wait_for_paint()
    ground.give_way_to(window)
    assert (window.width(), window.height()) == (640, 500)
    with qtbot.waitSignal(ground.destroyed):
        window.show()
    assert window.isVisible()
    assert ground not in QApplication.topLevelWidgets()


def test_theme_has_no_other_names():
    """What is loaded late is still a closed list."""
    with pytest.raises(AttributeError, match="nothing_like_it"):
        app.theme.nothing_like_it  # noqa: B018  # asking is the test
