"""The real program in a process of its own, on a profile of its own."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from engine.testing.ollama import OllamaDouble
from engine.testing.ollama_rules import Model
from tests.e2e.driver import LOOKS, ROOT, Look, Window

STARTER_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


@dataclass
class Porthole:
    """Runs `porthole` commands on one profile."""

    profile: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def database(self) -> Path:
        return self.profile / "data" / "porthole.db"

    @property
    def settings_file(self) -> Path:
        return self.profile / "config" / "settings.toml"

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "app", "--profile", str(self.profile), *arguments]

    def run(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        options.setdefault("stdin", None if "input" in options else subprocess.DEVNULL)
        if options["stdin"] is None:
            del options["stdin"]
        return subprocess.run(
            self.command(*arguments),
            cwd=ROOT,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            check=False,
            **options,
        )

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(*arguments),
            cwd=ROOT,
            env={**os.environ, **self.environment, "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def json(self, *arguments: str) -> Any:
        done = self.run(*arguments, "--json")
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    def settings(self, text: str) -> None:
        self.settings_file.parent.mkdir(parents=True, exist_ok=True)
        self.settings_file.write_text(text, encoding="utf-8")

    def said(self) -> list[list[str]]:
        """What the user said, by conversation, the newest first."""
        return [
            [
                "".join(part["text"] for part in entry["parts"])
                for entry in self.json("show", row["id"])["entries"]
                if entry.get("role") == "user"
            ]
            for row in self.json("sessions")
        ]


def read_to_end(process: subprocess.Popen[str]) -> tuple[str, str]:
    """The rest of both streams; what was already buffered is not lost, as `communicate` would."""
    if process.stdin is not None:
        process.stdin.close()
    assert process.stdout is not None
    assert process.stderr is not None
    rest, told = process.stdout.read(), process.stderr.read()
    process.wait()
    return rest, told


@pytest.fixture
def empty_profile(tmp_path):
    """A profile that nothing was done in yet."""
    return Porthole(tmp_path / "profile")


@pytest.fixture
def porthole(tmp_path, starter_path):
    """A profile in which the starter model was already fetched."""
    profile = tmp_path / "profile"
    models = profile / "data" / "models"
    models.mkdir(parents=True)
    (models / STARTER_FILE).symlink_to(starter_path)
    return Porthole(profile)


# ---- the window -------------------------------------------------------------------------------------


_OFFSCREEN = {
    "name": "none",
    "x": 0,
    "y": 0,
    "width": 2800,
    "height": 1900,
    "logicalDpi": 96,
    "logicalBaseDpi": 96,
    "dpr": 1,
}


@pytest.fixture(scope="session")
def screen(tmp_path_factory) -> Iterator[dict[str, str]]:
    """The variables of a screen nobody looks at; without Xvfb, Qt's own that is painted nowhere."""
    if shutil.which("Xvfb") is None:
        file = tmp_path_factory.mktemp("screen") / "screen.json"
        file.write_text(json.dumps({"screens": [_OFFSCREEN]}), encoding="utf-8")
        yield {"QT_QPA_PLATFORM": f"offscreen:configfile={file}"}
        return
    reading, writing = os.pipe()
    command = [
        "Xvfb",
        "-displayfd",
        str(writing),
        "-screen",
        "0",
        "2800x1900x24",
        "-nolisten",
        "tcp",
    ]
    server = subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL)
    os.close(writing)
    with os.fdopen(reading) as told:
        number = told.readline().strip()
    assert number, "Xvfb did not start"
    yield {"QT_QPA_PLATFORM": "xcb", "DISPLAY": f":{number}"}
    server.terminate()
    server.wait()


@pytest.fixture(params=LOOKS, ids=str)
def look(request: pytest.FixtureRequest) -> Look:
    """How a journey looks; one look, or every one when pictures are wanted."""
    return request.param


@pytest.fixture
def open_window(screen, look, tmp_path, request):
    """Opens the window of a profile with a robot in it; what still runs in the end is killed."""
    opened: list[Window] = []

    def open_(porthole: Porthole) -> Window:
        environment = {**os.environ, **porthole.environment, **look.environment, **screen}
        errors = tmp_path / f"stderr-{len(opened)}"
        name = request.node.name.removeprefix("test_").partition("[")[0]
        opened.append(Window(porthole.profile, environment, errors, look, name))
        return opened[-1]

    yield open_
    for window in opened:
        window.kill()


@pytest.fixture
def ollama(empty_profile, look) -> Iterator[OllamaDouble]:
    """A server with two models whose replies a test writes; the profile's default is one of them."""
    letters = 12 if look.language == "zh" else 1  # what stands between two spaces is longer there
    models = (
        Model(
            "qwen3:4b",
            capabilities=("completion", "tools", "thinking"),
            family="qwen3",
            size=2_600_000_000,
            tokens_per_word=letters,
        ),
        Model("llama3.2:3b", trained=131_072, size=2_000_000_000),
    )
    with OllamaDouble(models) as double:
        empty_profile.environment["PORTHOLE_OLLAMA_HOST"] = double.host
        empty_profile.environment["PORTHOLE_MODELS_DEFAULT"] = "ollama:qwen3:4b"
        yield double
