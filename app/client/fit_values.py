"""A draft that does not fit, and what can be done with it: values and plans. No I/O."""

import math
from dataclasses import dataclass, replace

from app.typed import Attachment, join_message, split_message
from engine.backends.base import ModelInfo
from engine.context import ContextView
from engine.digest import plan_piece_room, plan_request_count
from engine.errors import EnvironmentFault
from engine.fitting import Part, plan_room_in
from engine.folding import usual_seconds
from engine.models import ModelPlan
from engine.readiness import Ready, plan_ready
from engine.tokens import MESSAGE_OVERHEAD_TOKENS, SAFETY_MARGIN, estimate_text
from engine.window.estimate import MemoryVerdict, plan_memory_estimates

LEAST_ROOM = 256
"""With less room than this nothing of a file is worth sending; tokens."""
_UNEVEN = 0.9
"""Of the room: what is planned for texts that are only weighed with all others."""
_FRAME_TOKENS = 48
"""Around a file in a message: its name, its fence."""
_WRITTEN_SHARE = 0.5
"""Of what a digest may have: about what is written."""


@dataclass(frozen=True, slots=True)
class LargerWindow:
    """A window that would hold the draft: `tokens` for `model`; what the memory says of it."""

    model: str
    tokens: int
    memory: MemoryVerdict = "unknown"


@dataclass(frozen=True, slots=True)
class FitOffer:
    """What can be done with a draft that does not fit; tokens.

    Attributes:
        id: the conversation, "" for a new one.
        name: what does not fit, "" for what is typed; `index` is its place among the files, or -1.
        tokens, room: its size, and the room that is left for it.
        can_pick: parts of it can be chosen.
        digest_pieces: in about how many pieces it can be digested, 0 if it cannot;
            `digest_seconds`: about how long that takes, 0 when not known.
        part_count: in about how many messages it can be asked about, 0 if it cannot.
        larger: a window that would hold it; None where none would work.
    """

    id: str
    name: str
    index: int
    tokens: int
    room: int
    can_pick: bool = False
    digest_pieces: int = 0
    digest_seconds: float = 0.0
    part_count: int = 0
    larger: LargerWindow | None = None


@dataclass(frozen=True, slots=True)
class Pinnable:
    """A message that was folded: its entry, who said it and when (Unix ms), its size in tokens."""

    id: str
    is_users: bool
    when_ms: int
    text: str
    tokens: int
    is_pinned: bool


@dataclass(frozen=True, slots=True)
class PinsToChoose:
    """The messages behind a compaction; `room` is what the pinned ones may have together."""

    messages: tuple[Pinnable, ...]
    room: int


@dataclass(frozen=True, slots=True)
class PartsToChoose:
    """The parts of what does not fit, to be chosen from; `room` is what they may have together."""

    id: str
    name: str
    index: int
    parts: tuple[Part, ...]
    room: int


@dataclass(frozen=True, slots=True)
class Subject:
    """What does not fit, and what else the draft has; estimated tokens."""

    draft: str
    index: int
    name: str
    text: str
    rest: str
    tokens: int
    rest_tokens: int
    typed: str
    others: tuple[Attachment, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """A draft that does not fit in its context. `scale`: real tokens for each estimated one."""

    subject: Subject
    view: ContextView
    draft_tokens: int
    scale: float
    room: int

    def weigh(self, text: str) -> int:
        """About what a text of the draft really has."""
        return math.ceil(self.scale * estimate_text(text))

    @property
    def tokens(self) -> int:
        """The draft without what the template puts around every message."""
        return self.draft_tokens - MESSAGE_OVERHEAD_TOKENS

    @property
    def rest_tokens(self) -> int:
        """All of the draft but what does not fit."""
        return math.ceil(self.scale * self.subject.rest_tokens)

    @property
    def part_room(self) -> int:
        """What each part may have when it is asked about in the course of a conversation."""
        room = plan_room_in(self.view, self.view.budget.window, goes_on=True)
        return int(_UNEVEN * (room - self.rest_tokens)) - _FRAME_TOKENS

    @property
    def digest_cap(self) -> int:
        """The most a digest may have."""
        return min(self.view.targets.summary_cap, int(self.room * _UNEVEN / SAFETY_MARGIN))


def plan_offer(id_: str, seen: Seen, limit: int, larger: LargerWindow | None) -> FitOffer:
    """What can be done; only what would work.

    `limit` is what a request of the model may have, 0 if it may not be used at all; tokens.
    """
    subject, view = seen.subject, seen.view
    cap, pieces, seconds = seen.digest_cap, 0, 0.0
    if limit and cap >= LEAST_ROOM and subject.tokens > 2 * cap:
        pieces = math.ceil(subject.tokens / plan_piece_room(limit, cap))
        written = round(plan_request_count(pieces) * cap * _WRITTEN_SHARE)
        seconds = usual_seconds(view.path, subject.tokens + written, written)
    parts = 0
    if limit and view.settings.enabled and seen.part_room >= LEAST_ROOM:
        parts = max(2, math.ceil(seen.scale * subject.tokens / seen.part_room))
    return FitOffer(
        id_,
        subject.name,
        subject.index,
        max(0, seen.tokens - seen.rest_tokens),
        seen.room,
        seen.room >= LEAST_ROOM,
        pieces,
        seconds,
        parts,
        larger,
    )


def plan_subject(draft: str) -> Subject:
    """The largest thing of a draft, which is what does not fit; and the rest."""
    typed, files = split_message(draft)
    sizes = [estimate_text(file.text) for file in files]
    own = estimate_text(typed)
    if not files or own > max(sizes):
        rest = join_message("", files)
        return Subject(draft, -1, "", typed, rest, own, sum(sizes), typed, files)
    index = sizes.index(max(sizes))
    file, others = files[index], (*files[:index], *files[index + 1 :])
    tokens = own + sum(sizes) - sizes[index]
    rest = join_message(typed, others)
    return Subject(draft, index, file.name, file.text, rest, sizes[index], tokens, typed, others)


def plan_larger(
    plan: ModelPlan, info: ModelInfo, window: int, size: int, available: int | None
) -> LargerWindow | None:
    """The window of `size`, if the next turn would have it and the memory holds it.

    `window` is the present one. A server that gave less than it was asked for gives no more.
    """
    try:
        asked = plan_ready(plan, info, available)[0].window
        wider = plan_ready(replace(plan, window_setting=size), info, available)[0].window
    except EnvironmentFault:
        return None
    if asked.tokens > window or wider.tokens != size:
        return None
    estimates = plan_memory_estimates(
        info.weights_bytes, info.kv_bytes_per_token, plan.kv_type, available, (size,)
    )
    verdict = estimates[0].verdict
    return None if verdict == "too_large" else LargerWindow(plan.label, size, verdict)


def plan_native(window: int, trained: int, stretch: str) -> int:
    """What a request may have: the window, as far as it is not stretched on demand; tokens."""
    return min(window, trained) if stretch == "auto" and trained > 0 else window


def native_window(ready: Ready) -> int:
    """The same for what is loaded."""
    loaded = ready.loaded
    return plan_native(ready.window.tokens, loaded.trained_tokens, ready.request.stretch)
