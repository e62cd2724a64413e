"""The kinds of items: frozen values."""

from dataclasses import dataclass
from typing import Literal

from engine.events import CountKind
from engine.transcript import Image

LIVE = "live:"
"""How the id of what is not stored (yet) begins."""

REMOVED = "removed"
"""Type of the custom entry that takes a message out of sight: {"target": id, "removed": bool}."""

UNANSWERED = "unanswered:"
"""How the id of the item begins that stands for the reply a last message never got."""


@dataclass(frozen=True, slots=True)
class Versions:
    """This is version `number` (from 1) `of` so many; entry ids to go to, "" at the ends."""

    number: int
    of: int
    earlier: str = ""
    later: str = ""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a reply cost; tokens and seconds.

    `sent_kind`: how `sent` was counted ("about" stands before all but an exact one). `reused` is
    None when the backend cannot tell; `room` and `window` are None for replies of earlier runs.
    `mismatch` says that it was not read as it was sent, "" when it was; `cure` what to do then.
    """

    sent: int
    sent_kind: CountKind = "exact"
    read: int = 0
    reused: int | None = None
    written: int = 0
    room: int | None = None
    window: int | None = None
    load_seconds: float = 0.0
    read_seconds: float = 0.0
    write_seconds: float = 0.0
    mismatch: str = ""
    cure: str = ""

    @property
    def seconds(self) -> float:
        """All of it: loading, reading, writing."""
        return self.load_seconds + self.read_seconds + self.write_seconds

    @property
    def speed(self) -> float:
        """Tokens written a second, 0 when that is not known."""
        return self.written / self.write_seconds if self.write_seconds > 0 else 0.0


@dataclass(frozen=True, slots=True)
class DayItem:
    """A new day begins; `when_ms` lies in it (milliseconds since 1970, UTC)."""

    id: str
    when_ms: int
    folded: bool = False


@dataclass(frozen=True, slots=True)
class UserItem:
    """What the user said. `queued`: it waits until the running reply is there.

    `folded`: a summary stands for it now; it is one of a compaction's originals. `pinned`: it stays
    word for word, wherever the fold is. `images` went along.
    """

    id: str
    text: str
    when_ms: int
    versions: Versions | None = None
    tokens: int = 0
    queued: bool = False
    folded: bool = False
    pinned: bool = False
    images: tuple[Image, ...] = ()


State = Literal[
    "waiting",
    "loading",
    "reading",
    "thinking",
    "writing",
    "done",
    "stopped",
    "cut",
    "failed",
    "interrupted",
]
"""What a reply does. The first five while it runs:

- waiting: for another chat (`waits_for` is its title), or for the first news (`waits_for` empty)
- loading: the model; `done` of `total` percent, `total` 0 while that is not known
- reading: the prompt; `done` of `total` tokens, `reused` of them from the cache
- thinking, writing: `speed` tokens a second

Then how it ended: done, stopped by the user, cut at its limit, failed (`error`, `remedy`), or
interrupted (the program ended while it was written).
"""
RUNNING_STATES: frozenset[State] = frozenset(
    {"waiting", "loading", "reading", "thinking", "writing"}
)


@dataclass(frozen=True, slots=True)
class ReplyItem:
    """What the model answered, or is about to; see `State`.

    `seconds` is how long it took, 0 while it runs; `seconds_left` an estimate for loading and
    reading, 0 when there is none. `error` is a sentence, `remedy` what to do about it; both are
    empty unless it failed. `thought_seconds` is 0 when it is not known. `folded`, `pinned`: as in
    `UserItem`.
    """

    id: str
    text: str
    thinking: str = ""
    model: str = ""
    when_ms: int = 0
    state: State = "done"
    done: int = 0
    total: int = 0
    seconds: float = 0.0
    speed: float = 0.0
    error: str = ""
    remedy: str = ""
    receipt: Receipt | None = None
    versions: Versions | None = None
    thought_seconds: float = 0.0
    seconds_left: float = 0.0
    reused: int = 0
    waits_for: str = ""
    folded: bool = False
    pinned: bool = False

    @property
    def is_running(self) -> bool:
        """Whether it is still being made."""
        return self.state in RUNNING_STATES


@dataclass(frozen=True, slots=True)
class Figure:
    """A fact of a card in three lines: what it is, its value, a note."""

    label: str
    value: str
    note: str = ""


CardKind = Literal["compaction", "compacting", "ask", "error", "local"]
Tone = Literal["plum", "amber", "red", "plain"]


@dataclass(frozen=True, slots=True)
class CardItem:
    """Something that is no message: a compaction, an error, what a local command answered.

    `facts` are short words for the head's line, `body` is Markdown, `values` are exact values to
    copy. `done` of `total` tokens while a compaction runs (`total` 0: not known). `offers` are the
    actions it offers, None for the usual ones of its kind. A compaction `is_undone`, or
    `has_originals`: the messages it stands for, shown when `is_open`. `folded`: as in `UserItem`.
    `figures` stand in columns; `preview` are messages as (when in milliseconds, first words).
    """

    id: str
    kind: CardKind
    title: str
    facts: str = ""
    body: str = ""
    values: tuple[str, ...] = ()
    tone: Tone = "plain"
    when_ms: int = 0
    done: int = 0
    total: int = 0
    model: str = ""
    offers: tuple[str, ...] | None = None
    is_undone: bool = False
    has_originals: bool = False
    is_open: bool = False
    folded: bool = False
    figures: tuple[Figure, ...] = ()
    preview: tuple[tuple[int, str], ...] = ()


Item = DayItem | UserItem | ReplyItem | CardItem
