"""The real program in a process of its own, on a profile of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
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
