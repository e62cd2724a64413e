"""What the composer's text means: a message, a command, files that go along. Pure; no Qt.

A draft and a message are one text. Files that go along stand at its end, each as its name, a
colon and a fenced block, so that a draft needs no second place to be kept in, and the model reads
what the user sees. `split_message` finds them again, and never changes a character:
``join_message(*split_message(text)) == text`` for every text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.transcript import Image

_UNKNOWN = re.compile(r"/(\w[\w-]*)")
_EXTENSION = re.compile(r"[a-z0-9+-]{1,12}")
_FENCE = re.compile(r"^`{3,}", re.MULTILINE)
_SHORTEST_FENCE = 3
_HISTORY_LENGTH = 200

COMMANDS: dict[str, bool] = {
    "new": False,
    "compact": True,
    "status": False,
    "context": False,
    "model": True,
    "system": True,
    "help": False,
}
"""Slash commands in the order in which they are offered; whether text may follow them."""


@dataclass(frozen=True, slots=True)
class Message:
    """Text to be sent to the model."""

    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command: its name without the slash, and what followed it."""

    name: str
    rest: str = ""


@dataclass(frozen=True, slots=True)
class UnknownCommand:
    """What looks like a command and is none; sent by nobody, so that a slip costs nothing."""

    name: str


@dataclass(frozen=True, slots=True)
class Attachment:
    """A text file that goes along with the message.

    Attributes:
        name: its file name, one line.
        text: its text; lines end in a single newline, the last one in none.
        tokens: its size, 0 while unknown.
        fits: whether there is room for it; False is shown in amber.
    """

    name: str
    text: str
    tokens: int = 0
    fits: bool = True

    @classmethod
    def of(cls, name: str, text: str, *, tokens: int = 0, fits: bool = True) -> "Attachment":
        """An attachment of a file's raw name and text."""
        one_line = " ".join(name.split()) or "text"
        return cls(one_line, clean_text(text).rstrip("\n"), tokens, fits)


@dataclass(frozen=True, slots=True)
class AttachedImage:
    """A picture that goes along with the message.

    Attributes:
        image: as it is sent: upright, as PNG or JPEG, its size known.
        was: width and height before it was made smaller, None for one that was not.
        frames: how many pictures the file has; the first is sent.
    """

    image: Image
    was: tuple[int, int] | None = None
    frames: int = 1


Submission = Message | Command | UnknownCommand | None


def clean_text(text: str) -> str:
    """A foreign text with our line ends, and without NUL and half characters.

    A store refuses both: a file that is no text brings the one, a cut emoji the other.
    """
    for foreign in ("\r\n", "\r", "\u2028", "\u2029"):
        text = text.replace(foreign, "\n")
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def plan_submission(text: str) -> Submission:
    """What Enter does with a text; None if there is nothing to send.

    A first line ``/name`` is a command. ``//`` at the start stands for a slash of the message
    itself. A command that takes nothing is one only when it stands alone ("/help me" is not), and
    an unknown word is refused only then, so that "/etc/fstab is wrong" can be said.
    """
    stripped = text.strip()
    if not stripped:
        return None
    if stripped.startswith("//"):
        return Message(stripped[1:])
    if stripped.startswith("/"):
        parts = stripped[1:].split(maxsplit=1)
        name, rest = parts[0] if parts else "", parts[1] if len(parts) > 1 else ""
        if name in COMMANDS and (COMMANDS[name] or not rest):
            return Command(name, rest)
        if unknown := _UNKNOWN.fullmatch(stripped):
            return UnknownCommand(unknown[1])
    return Message(text.strip("\n").rstrip())


def plan_completions(text: str) -> tuple[str, ...]:
    """Names of the commands that a text may be the beginning of; none for other text."""
    if not text.startswith("/") or text.startswith("//"):
        return ()
    return tuple(name for name in COMMANDS if name.startswith(text[1:]))


def join_message(text: str, attachments: Sequence[Attachment]) -> str:
    """A text and the files that go along, as one text."""
    blocks = [_block(attachment) for attachment in attachments]
    return "\n\n".join([text, *blocks] if text else blocks)


def split_message(text: str) -> tuple[str, tuple[Attachment, ...]]:
    """The reverse of `join_message`: the text, and the files found at its end."""
    rest, found = text, list[Attachment]()
    while (attachment := _last_attachment(rest)) is not None:
        found.insert(0, attachment)
        rest = rest[: -len(_block(attachment))].removesuffix("\n\n")
    if join_message(rest, found) != text:
        return text, ()
    return rest, tuple(found)


def _language(name: str) -> str:
    """The word after the fence: the file's extension, where it is a plain one."""
    _, dot, extension = name.lower().rpartition(".")
    return extension if dot and _EXTENSION.fullmatch(extension) else ""


def _block(attachment: Attachment) -> str:
    has_fences = "`" * _SHORTEST_FENCE in attachment.text  # seldom; a long text is looked at often
    runs = [len(run) for run in _FENCE.findall(attachment.text)] if has_fences else []
    fence = "`" * max(_SHORTEST_FENCE, *(length + 1 for length in runs), 0)
    return f"{attachment.name}:\n{fence}{_language(attachment.name)}\n{attachment.text}\n{fence}"


def _last_attachment(text: str) -> Attachment | None:
    """The file block that a text ends with, if it is exactly as `join_message` writes it."""
    lines = text.split("\n")
    fence = lines[-1]
    if len(fence) < _SHORTEST_FENCE or fence.strip("`"):
        return None
    opening = next(
        (i for i in range(len(lines) - 2, 0, -1) if lines[i].startswith(fence)),
        0,
    )
    if opening == 0 or not lines[opening - 1].endswith(":"):
        return None
    body = "\n".join(lines[opening + 1 : -1])
    attachment = Attachment(lines[opening - 1][:-1], body)
    block = _block(attachment)
    stands_apart = text == block or text.endswith("\n\n" + block)
    return attachment if attachment.name and stands_apart else None


@dataclass(frozen=True, slots=True)
class History:
    """What was sent before, oldest first, and the place one has walked back to.

    Attributes:
        texts: what was sent.
        place: index of the text shown; the length of `texts` when none is.
    """

    texts: tuple[str, ...] = ()
    place: int = 0

    @classmethod
    def of(cls, texts: Sequence[str]) -> "History":
        """A history of these texts, none of them shown."""
        kept = tuple(texts[-_HISTORY_LENGTH:])
        return cls(kept, len(kept))

    @property
    def shown(self) -> str | None:
        """The text one has walked back to."""
        return self.texts[self.place] if self.place < len(self.texts) else None

    def added(self, text: str) -> "History":
        """With one text more, unless it repeats the last one."""
        repeated = self.texts[-1:] == (text,)
        return History.of(self.texts if repeated else (*self.texts, text))

    def moved(self, step: int) -> "History":
        """One text earlier (-1) or later (+1); it stops at both ends."""
        return replace(self, place=min(max(self.place + step, 0), len(self.texts)))

    def left(self) -> "History":
        """Back at the end, nothing shown."""
        return replace(self, place=len(self.texts))
