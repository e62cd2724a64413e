"""The test's end of the line to `tests.e2e.robot`: says what is to be done, hears what is shown."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).parents[2]
PICTURES = os.environ.get("PORTHOLE_PICTURES", "")
"""Folder for pictures of every journey in every look; "" for none."""

_OFFSCREEN_SAYS = "This plugin does not support "
"""How Qt tells what a window without a screen cannot do: come to the front, grab the keys."""


@dataclass(frozen=True)
class Look:
    """Size of a pixel and language of a window; both themes are painted in each."""

    scale: int = 1
    language: str = "en"

    def __str__(self) -> str:
        return f"{self.scale}-{self.language}"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "QT_SCALE_FACTOR": str(self.scale),
            "PORTHOLE_LANGUAGE": self.language,
            "LC_ALL": "C.UTF-8",
        }


LOOKS = (
    [Look(scale, tongue) for tongue in ("en", "zh") for scale in (1, 2)] if PICTURES else [Look()]
)


class Shown(SimpleNamespace):
    """What a window shows; fields as in `robot.look`."""

    def of_kind(self, kind: str) -> list[Any]:
        """The items of a kind: "user", "reply", "card"."""
        return [item for item in self.items if item.kind == kind]

    @property
    def said(self) -> list[str]:
        """What the user said, as far as it is shown."""
        return [item.text for item in self.of_kind("user")]

    @property
    def replies(self) -> list[Any]:
        """The replies that are shown."""
        return self.of_kind("reply")

    @property
    def titles(self) -> list[str]:
        """The titles of the conversations in the sidebar, top first."""
        return [row.title for row in self.rows if row.title]

    def answered(self, count: int) -> bool:
        """Whether so many replies are there, each of them complete."""
        return len(self.replies) == count and all(r.state == "done" for r in self.replies)


class Window:
    """A running window. Every act gives what is shown after it; `until` waits for more.

    Args:
        profile: whose window it is.
        environment: its variables, all of them.
        errors: file for what it writes to stderr.
        look: how it looks.
        name: of the journey, for pictures.
    """

    def __init__(
        self, profile: Path, environment: dict[str, str], errors: Path, look: Look, name: str
    ) -> None:
        self.look, self.name = look, name
        self._reports = profile / "logs" / "reports"
        self._errors = errors
        self._pictures = 0
        with errors.open("w") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.e2e.robot", "--profile", str(profile)],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
            )
        self.seen = Shown()
        self._raw: Any = None

    @property
    def complaints(self) -> str:
        """What it wrote to stderr so far, and every report of a bug."""
        reports = sorted(self._reports.glob("*")) if self._reports.is_dir() else []
        lines = self._errors.read_text().splitlines(keepends=True)
        said = "".join(line for line in lines if not line.startswith(_OFFSCREEN_SAYS))
        return "\n".join((said, *(file.read_text() for file in reports))).strip()

    def check(self) -> None:
        """It must have nothing to complain about."""
        complaints = self.complaints
        assert not complaints, complaints

    def do(self, step: str, **fields: Any) -> Shown:
        """Have a step of the robot done."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"do": step, **fields}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"the window is gone: {self.process.wait()} {self.complaints}"
        told = json.loads(line, object_hook=_shown)
        self.check()
        assert "error" not in vars(told), told.error
        self._raw = json.loads(line)["look"]
        self.seen = told.look
        return self.seen

    def until(self, so: Callable[[Shown], Any]) -> Shown:
        """Wait until something is shown, looking whenever anything changes."""
        seen = self.do("look")
        while not so(seen):
            seen = self.do("await", seen=self._raw)
        return seen

    # ---- hands ----

    def keys(self, *keys: str) -> Shown:
        """Press shortcuts one after the other."""
        for key in keys:
            self.do("keys", keys=key)
        return self.seen

    def type(self, text: str) -> Shown:
        """Type where the focus is."""
        return self.do("type", text=text)

    def paste(self, text: str) -> Shown:
        """Paste where the focus is."""
        return self.do("paste", text=text)

    def click(self, part: str) -> Shown:
        """Click on a part of the window."""
        return self.do("click", part=part)

    def press(self, kind: str, action: str, at: int = -1) -> Shown:
        """Use a part of a message."""
        return self.do("press", kind=kind, action=action, at=at)

    def send(self, text: str) -> Shown:
        """Type a message and press Enter; it is shown."""
        before = len(self.do("look").said)
        self.type(text)
        self.keys("Return")
        return self.until(lambda seen: len(seen.said) > before)

    def ask(self, text: str) -> Shown:
        """Send a message and wait for its reply."""
        before = len(self.do("look").replies)
        self.send(text)
        return self.until(lambda seen: seen.answered(before + 1))

    def picture(self, name: str) -> None:
        """Paint what is shown, light and dark, if pictures are wanted."""
        if not PICTURES:
            return
        self._pictures += 1
        for theme in ("light", "dark"):
            file = f"{self.name}-{self._pictures}-{name}.{self.look}.{theme}.png"
            self.do("grab", file=str(Path(PICTURES).absolute() / file), theme=theme)

    # ---- ends ----

    def close(self) -> None:
        """Close the window as a person does; it ends in order and complained about nothing."""
        self.do("quit")
        assert self.process.wait() == 0, self.complaints
        self._hang_up()
        self.check()

    def kill(self) -> None:
        """The power goes."""
        self.process.kill()
        self.process.wait()
        self._hang_up()

    def _hang_up(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()


def _shown(fields: dict[str, Any]) -> Shown:
    return Shown(**fields)
