"""What the client tells and answers: frozen values, for whichever window shows them."""

from dataclasses import dataclass
from typing import Literal

from app.items import Item
from app.typed import AttachedImage
from engine.backends.base import ThinkChoice
from engine.budget import Budget
from engine.events import CountKind
from engine.fitting import Part
from engine.lens import Seen
from engine.segments import Fit, LedgerLine, Segment

GuardState = Literal["ok", "warn", "block", "unknown"]
"""What the guard says of a context window; "unknown" while the model was not asked yet."""


@dataclass(frozen=True, slots=True)
class ThinkFacts:
    """What a model can be told of thinking, and what it is told.

    Attributes:
        choices: what it takes; nothing where it can be told nothing, None while that is not known.
        thinks: whether it thinks at all; as long as nobody knows, it may.
        chosen: what is set for it; "" leaves it to the model.
    """

    choices: tuple[ThinkChoice, ...] | None = None
    thinks: bool = True
    chosen: ThinkChoice | Literal[""] = ""


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """A conversation as the list shows it. `updated_at`: milliseconds since 1970, UTC.

    `unread`: a reply came while another conversation was shown. `running`: a reply is being written
    or waits to be. `snippet`: where the words that were searched for stand, "" in a title.
    """

    id: str
    title: str
    model: str
    updated_at: int
    pinned: bool = False
    unread: bool = False
    running: bool = False
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation as it opens. `id` is "" for a new one, which is not stored yet.

    `window` says the model's context window and where it comes from, in words. Tokens are 0 while
    they are not known; `used_kind` says how `used_tokens` was counted. `images` go along with
    the draft. `sees_images`: whether the model gets pictures, None while that is not known.
    """

    id: str
    title: str
    model: str
    items: tuple[Item, ...] = ()
    draft: str = ""
    window: str = ""
    window_tokens: int = 0
    budget_tokens: int = 0
    used_tokens: int = 0
    guard: GuardState = "unknown"
    guard_text: str = ""
    used_kind: CountKind = "estimated"
    running: bool = False
    pinned: bool = False
    think: ThinkFacts = ThinkFacts()
    images: tuple[AttachedImage, ...] = ()
    sees_images: bool | None = None


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model that can be chosen; bytes and tokens, 0 when unknown.

    `reason` says why the guard warns or blocks. `loaded`: it was loaded last and still is, as far
    as is known. `fetched`: its file is here (the starter's may not be). `cloud`: it runs on
    ollama.com, and what is said to it leaves this computer; blocked unless that is allowed.
    """

    name: str
    title: str
    size_bytes: int
    details: str
    window_tokens: int
    guard: GuardState
    reason: str
    source: Literal["starter", "gguf", "ollama"]
    loaded: bool
    fetched: bool
    cloud: bool = False


# ---- told -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ItemsChanged:
    """From `from_index` on a conversation's items are these; those before stay as they were."""

    id: str
    items: tuple[Item, ...]
    from_index: int = 0


@dataclass(frozen=True, slots=True)
class RowsChanged:
    """The list of conversations is another one: ask for it again."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to know, in words; `id` is "" when it is about no conversation.

    `action` can be done about it, with the item `target`; it stands until something is said then.
    """

    id: str
    level: Literal["info", "warning"]
    text: str
    action: Literal["", "undo_compaction"] = ""
    target: str = ""


@dataclass(frozen=True, slots=True)
class Meter:
    """How full a conversation's window is; tokens. `kind` says how `used` was counted."""

    id: str
    used: int
    budget: int
    window: int
    kind: CountKind


@dataclass(frozen=True, slots=True)
class ContextFacts:
    """What a conversation's prompt is made of, and what would become of the draft; tokens.

    Attributes:
        id: the conversation, "" for a new one.
        segments: the parts of the prompt without the draft; together with it they are `used`.
        draft: what the draft adds, 0 for none or a command.
        used: the whole prompt with the draft.
        kind: how that was counted.
        budget: the divided window, None while the window is not known.
        fit: what sending the draft would come to; None without a budget.
        ledger: the compactions of the conversation, the last one first.
        lens: what the model sees of every entry; None while nobody asked for it.
    """

    id: str
    segments: tuple[Segment, ...] = ()
    draft: int = 0
    used: int = 0
    kind: CountKind = "estimated"
    budget: Budget | None = None
    fit: Fit | None = None
    ledger: tuple[LedgerLine, ...] = ()
    lens: tuple[Seen, ...] | None = None


@dataclass(frozen=True, slots=True)
class WindowKnown:
    """What a conversation's model allows, once that is known; see `Conversation`."""

    id: str
    model: str
    window: str
    window_tokens: int
    budget_tokens: int
    guard: GuardState
    guard_text: str
    think: ThinkFacts = ThinkFacts()
    sees_images: bool | None = None


@dataclass(frozen=True, slots=True)
class DraftImages:
    """The pictures that go along with a conversation's draft are these now: some were handed back,
    or all were sent.
    """

    id: str
    images: tuple[AttachedImage, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelState:
    """What a model does; `fraction` 0…1 while it loads, None if that cannot be told.

    `memory_bytes` is what its process takes, 0 when unknown.
    """

    name: str
    state: Literal["none", "loading", "loaded", "failed"]
    fraction: float | None = None
    memory_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Fetching:
    """The starter is being fetched; bytes. `over`: it ended, `error` says why it failed."""

    done: int
    total: int
    seconds_left: float | None = None
    over: bool = False
    error: str = ""


@dataclass(frozen=True, slots=True)
class PullLayer:
    """A part of a model that is fetched; bytes. `digest` without its kind."""

    digest: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Pull:
    """A model that Ollama fetches, or is to; bytes.

    Attributes:
        name: as Ollama takes it.
        state: "waiting" for others, "pulling", "paused" or "failed".
        doing: what the server does while it pulls.
        layers: the parts it has told of, in its order. More may follow.
        per_second: how fast they come, 0 when that is not known (yet).
        seconds_left: how long what is known of will take, None when that is not known.
        error, remedy: why it failed and what to do.
    """

    name: str
    state: Literal["waiting", "pulling", "paused", "failed"] = "waiting"
    doing: Literal["asking", "fetching", "checking", "finishing"] = "asking"
    layers: tuple[PullLayer, ...] = ()
    per_second: float = 0.0
    seconds_left: float | None = None
    error: str = ""
    remedy: str = ""

    @property
    def done(self) -> int:
        """Bytes that are there."""
        return sum(layer.done for layer in self.layers)

    @property
    def total(self) -> int:
        """Bytes of all layers that are known; 0 while none is."""
        return sum(layer.total for layer in self.layers)


@dataclass(frozen=True, slots=True)
class Pulling:
    """What is fetched from Ollama's library, and what waits, is paused or failed; in order."""

    pulls: tuple[Pull, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelsChanged:
    """The list of models is another one: ask for it again.

    `fetched`: one has just been fetched, by its name as Ollama takes it, and `arrived` is the name
    it has in the list, "" if it is not there: it cannot chat. `gone`: one that was deleted.
    """

    fetched: str = ""
    arrived: str = ""
    gone: str = ""


@dataclass(frozen=True, slots=True)
class Digesting:
    """A digest of a file is written for a conversation's draft.

    `step` of `steps` requests (0 while none was made) does something: `done` of `total` tokens, 0
    when not known. `seconds_left` is about how long all takes yet, 0 when not known. `over`: it
    ended, however.
    """

    id: str
    name: str
    step: int = 0
    steps: int = 0
    doing: Literal["loading", "reading", "writing", "waiting"] = "waiting"
    done: int = 0
    total: int = 0
    seconds_left: float = 0.0
    over: bool = False


@dataclass(frozen=True, slots=True)
class PartsWaiting:
    """A file is asked about part by part: `asked` of `total` were sent, `next` comes next.

    `total` 0: nothing waits in this conversation.
    """

    id: str
    name: str = ""
    asked: int = 0
    total: int = 0
    next: Part | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """Something failed: what, and what to do. `report` is the file of a bug of ours, else ""."""

    id: str
    sentence: str
    remedy: str = ""
    report: str = ""


Told = (
    ItemsChanged
    | RowsChanged
    | Notice
    | Meter
    | ContextFacts
    | WindowKnown
    | DraftImages
    | ModelState
    | Fetching
    | Pulling
    | ModelsChanged
    | Digesting
    | PartsWaiting
    | Failed
)
