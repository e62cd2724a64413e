"""What the terminal front writes, and where: replies to stdout, everything else to stderr."""

import sys
import textwrap
from typing import TextIO

EXIT_OK = 0
EXIT_USAGE = 2
EXIT_ENVIRONMENT = 3
EXIT_BUG = 4
EXIT_STOPPED = 130


class Console:
    """Two streams and one line of progress.

    On a terminal the progress line is rewritten in place; elsewhere each new stage is one line.
    """

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self._out = out if out is not None else sys.stdout
        self._err = err if err is not None else sys.stderr
        self._live = self._err.isatty()
        self._progress = ""
        self._mid_line = False

    @property
    def is_live(self) -> bool:
        """Whether someone watches: stderr is a terminal."""
        return self._live

    def reply(self, text: str) -> None:
        """Write a piece of a reply to stdout, at once."""
        self.clear_progress()
        self._out.write(printable(text))
        self._out.flush()
        self._mid_line = bool(text) and not text.endswith("\n")

    def end_reply(self) -> None:
        """Finish the reply's last line."""
        if self._mid_line:
            self._out.write("\n")
            self._out.flush()
            self._mid_line = False

    def result(self, text: str) -> None:
        """Write a line that was asked for (a list, a table, JSON) to stdout."""
        self.clear_progress()
        self._out.write(printable(text) + "\n")
        self._out.flush()

    def say(self, text: str) -> None:
        """Tell the user something, on stderr, wrapped for reading when it is a terminal."""
        self.clear_progress()
        if self._mid_line and self._live:
            self._err.write("\n")
            self._mid_line = False
        if self._live:
            text = "\n".join(textwrap.fill(line, 96) for line in text.splitlines())
        self._err.write(printable(text) + "\n")
        self._err.flush()

    def progress(self, stage: str, figures: str = "") -> None:
        """Say what is going on; the same stage again only updates the figures."""
        if self._live:
            line = f"{stage} {figures}".rstrip()
            self._err.write(f"\r\x1b[2K{line}")
        elif stage != self._progress:
            self._err.write(f"{stage}\n")
        self._err.flush()
        self._progress = stage

    def clear_progress(self) -> None:
        """Take the progress line away."""
        if self._live and self._progress:
            self._err.write("\r\x1b[2K")
            self._err.flush()
            self._progress = ""


def printable(text: str) -> str:
    """Text that any UTF-8 terminal takes: lone surrogates become the replacement character."""
    return text.encode("utf-8", "replace").decode("utf-8") if _has_surrogate(text) else text


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in text)


def megabytes(size_bytes: int) -> str:
    """Bytes in words, decimal, as file managers show them."""
    if size_bytes >= 1_000_000_000:
        return f"{size_bytes / 1_000_000_000:.1f} GB"
    return f"{size_bytes / 1_000_000:.0f} MB"


def counted(number: int, noun: str) -> str:
    """A number with its noun: 1 message, 24 messages."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def lower_first(sentence: str) -> str:
    """A sentence to go on with after a colon."""
    return sentence[:1].lower() + sentence[1:]


def columns(text: str, width: int) -> str:
    """The beginning of a text on one line, at most `width` columns of a terminal wide.

    Wide characters take two. Line breaks become spaces; what is no character to be seen (and could
    steer a terminal) goes.
    """
    from unicodedata import east_asian_width

    line = " ".join(text[: 8 * width].split())
    shown, used, whole = [], 0, len(text) <= 8 * width
    for char in line:
        if not char.isprintable():
            continue
        used += 2 if east_asian_width(char) in "WF" else 1
        shown.append((char, used))
    if whole and used <= width:
        return "".join(char for char, _ in shown)
    return "".join(char for char, until in shown if until < width).rstrip() + "…"


def duration(seconds: float) -> str:
    """Seconds in words."""
    if seconds >= 60:
        return f"{int(seconds) // 60} min {int(seconds) % 60} s"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
