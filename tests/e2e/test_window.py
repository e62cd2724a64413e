"""The window as a process of its own: pictures, one per profile, an orderly end."""

import os
import signal
import subprocess
import sys

import pytest
from PySide6.QtGui import QImage

from tests.e2e.conftest import ROOT

OFFSCREEN = {"QT_QPA_PLATFORM": "offscreen", "PORTHOLE_MODELS_DEFAULT": "scripted:test"}


@pytest.mark.parametrize(
    ("options", "size"),
    [
        (("--theme", "light", "--size", "1280x820"), (1280, 820)),
        (("--theme", "dark", "--size", "720x600", "--scale", "2"), (1440, 1200)),
        (("--messages", "400"), (1280, 820)),
    ],
    ids=["light", "dark twice as large", "long"],
)
def test_demo_paints_itself(empty_profile, tmp_path, options, size):
    """`--demo --screenshot` writes a picture of that size, with something on it, and ends."""
    file = tmp_path / "window.png"
    done = subprocess.run(
        [sys.executable, "-m", "app", "--demo", "--screenshot", str(file), *options],
        cwd=ROOT,
        env={**os.environ, **OFFSCREEN},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    picture = QImage(str(file))
    assert (picture.width(), picture.height()) == size
    colours = {picture.pixel(x, y) for x in range(0, size[0], 9) for y in range(0, size[1], 9)}
    assert len(colours) > 20


def test_without_a_screen_it_says_so(empty_profile):
    """No display: one sentence, what to do instead, exit 3."""
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    environment = {k: v for k, v in os.environ.items() if k not in hidden}
    done = subprocess.run(
        empty_profile.command(),
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert "porthole chat" in done.stderr


def test_second_window_of_a_profile_gives_way(empty_profile):
    """The first stays, the second ends at once; a request to end closes the first in order."""
    empty_profile.environment.update(OFFSCREEN)
    first = empty_profile.start()
    try:
        lock = empty_profile.profile / "data" / "window.lock"
        while not lock.exists():
            assert first.poll() is None, first.communicate()
        assert empty_profile.run().returncode == 0
        assert first.poll() is None
        first.send_signal(signal.SIGTERM)
        assert first.wait() == 0
    finally:
        if first.poll() is None:
            first.kill()
        first.communicate()


def test_demo_stands_alone(empty_profile):
    """--demo with a command is wrong usage."""
    assert empty_profile.run("--demo", "status").returncode == 2
