"""What a session tells its listeners while a turn runs: a closed union of frozen values.

Order within a turn::

    TurnStarted  (ModelLoading | PromptReading | ThinkingDelta | TextDelta | Notice | Compaction…)*
                 Receipt?  (CompactionStarted CompactionProgress* CompactionEnded)?  TurnEnded

A compaction may come before the request (the conversation does not fit), after a refusal of the
server, or after the reply (so that the next turn need not wait for it).

`TurnEnded` is the last event of every turn and comes exactly once, whatever happens; failure and
stop are events, not exceptions. `turn` numbers a session object's turns from 1.
"""

from dataclasses import dataclass
from typing import Literal

from engine.errors import PortholeError
from engine.transcript import Entry, StopReason, Usage

CountKind = Literal["exact", "anchored", "estimated"]
CompactionReason = Literal["preemptive", "overflow", "timeout", "threshold", "idle", "manual"]
CompactionMode = Literal["automatic", "ask", "remind"]
"""What is done when folding is due: it is done and told, asked for first, or only reminded of."""
CompactionOutcome = Literal["done", "failed", "nothing", "stopped"]


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """The user's message is on the disk as `entry`; the work begins."""

    turn: int
    entry: Entry


@dataclass(frozen=True, slots=True)
class ModelLoading:
    """The model is being loaded; `fraction` is 0…1, None when the backend cannot tell."""

    turn: int
    fraction: float | None


@dataclass(frozen=True, slots=True)
class PromptReading:
    """The model reads the prompt: `read` of `total` tokens, `reused` of them from the cache."""

    turn: int
    read: int
    total: int
    reused: int


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More reply text arrived."""

    turn: int
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """More thinking arrived."""

    turn: int
    text: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know, in words; `code` names its kind for tests and looks."""

    turn: int
    level: Literal["info", "warning"]
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class CompactionStarted:
    """The conversation is being compacted: "Compacting context…".

    `before_tokens` is what the model sees now, `folded` how many messages a summary will stand for.
    """

    turn: int
    reason: CompactionReason
    before_tokens: int
    folded: int


@dataclass(frozen=True, slots=True)
class CompactionProgress:
    """How far it is: reading `done` of `total` tokens, or `done` written of at most `total`.

    `stage` numbers the summaries that are written for one compaction from 1.
    """

    turn: int
    doing: Literal["reading", "writing", "waiting"]
    done: int
    total: int
    stage: int = 1


@dataclass(frozen=True, slots=True)
class CompactionEnded:
    """It is over. `entry` is the stored compaction when it was done, None otherwise.

    Tokens before and after are counted, not predicted; `text` is a sentence for the user. `error`
    is set when it was asked for and failed.
    """

    turn: int
    reason: CompactionReason
    outcome: CompactionOutcome
    text: str
    entry: Entry | None = None
    before_tokens: int = 0
    after_tokens: int = 0
    folded: int = 0
    seconds: float = 0.0
    error: PortholeError | None = None

    @property
    def is_silent(self) -> bool:
        """Whether there is nothing to tell: what nobody asked for came to nothing."""
        return self.reason == "idle" and self.outcome in ("nothing", "stopped")


@dataclass(frozen=True, slots=True)
class CompactionDue:
    """Folding is due and nothing was done: the user is to be asked, or reminded.

    Tokens: the prompt now, about what it would be, the budget. `folded` and `kept` are messages,
    `pinned` stay word for word beside those; `preview` is what the user said in what would be
    folded. `in_place`: only the instruction need be read. `seconds` is about how long it takes, 0
    when that cannot be told.
    """

    turn: int
    mode: CompactionMode
    before_tokens: int
    after_tokens: int
    budget_tokens: int
    folded: int
    kept: int
    pinned: int
    in_place: bool
    seconds: float
    preview: tuple[Entry, ...]


MismatchCause = Literal["smaller_window", "divided", "rendered_otherwise", "miscounted", "untold"]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The backend did not read what it was sent: figures (tokens), probable cause, what to do."""

    sent_tokens: int
    read_tokens: int
    cause: MismatchCause
    sentence: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was sent and what it cost: sent (and how it was counted), usage, room left. Tokens.

    `mismatch` is None when what was read is what was sent, as far as can be told.
    """

    turn: int
    sent_tokens: int
    sent_kind: CountKind
    usage: Usage
    window_tokens: int
    room_tokens: int
    mismatch: Mismatch | None = None


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The turn is over and stored; always the last event of a turn.

    `entry` is the stored reply, None when nothing was written. `error` is set when `reason` is
    "failed".
    """

    turn: int
    reason: StopReason
    entry: Entry | None = None
    error: PortholeError | None = None


Event = (
    TurnStarted
    | ModelLoading
    | PromptReading
    | TextDelta
    | ThinkingDelta
    | Notice
    | CompactionStarted
    | CompactionProgress
    | CompactionEnded
    | CompactionDue
    | Receipt
    | TurnEnded
)
