"""A turn while it runs: its events in, the items that show it out. No I/O.

::

    waiting ─▶ loading ─▶ reading ─▶ thinking ─▶ writing ─▶ done, stopped, cut, failed
                 (a compaction may come before the reply or after it, as a card)
"""

import time
from collections.abc import Callable
from dataclasses import replace

from app.items import LIVE, CardItem, Item, Receipt, ReplyItem, State, compaction_card
from app.sentences import localized
from app.words import translate
from engine.errors import Bug, EnvironmentFault
from engine.events import (
    CompactionEnded,
    CompactionProgress,
    CompactionStarted,
    Event,
    Mismatch,
    ModelLoading,
    PromptReading,
    TextDelta,
    ThinkingDelta,
    TurnEnded,
)
from engine.events import Receipt as Told

_SPEED_TOKENS = 8
_SPEED_SECONDS = 0.5
"""A speed is told when this many tokens came in at least this long."""

_ENDS: dict[str, State] = {
    "stop": "done",
    "tool_calls": "done",
    "length": "cut",
    "stopped": "stopped",
    "failed": "failed",
    "interrupted": "interrupted",
}


class LiveReply:
    """The items of one running turn, or of a compaction that was asked for.

    Args:
        key: tells this turn from others of its conversation.
        model: who answers, as the user writes it.
        when_ms: when it began, milliseconds since 1970.
        with_reply: False for a compaction alone.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        key: str,
        model: str,
        when_ms: int,
        *,
        with_reply: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._key = key
        self._when_ms = when_ms
        self._with_reply = with_reply
        self._clock = clock
        self._began = clock()
        self._pace = _Pace(clock)
        self._tokens = _Pace(clock)
        self._item = ReplyItem(LIVE + key, "", "", model, when_ms, "waiting")
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._thought_since: float | None = None
        self._before: list[CardItem] = []
        self._after: list[CardItem] = []
        self._cards = 0
        self._is_over = False

    # ---- what is seen ---------------------------------------------------------------------------

    def items(self) -> tuple[Item, ...]:
        """The cards and the reply as they are now."""
        reply = (self.reply,) if self._shows_reply() else ()
        return (*self._before, *reply, *self._after)

    @property
    def reply(self) -> ReplyItem:
        """The reply as it is now."""
        if len(self._text) > 1:
            self._text = ["".join(self._text)]
        if len(self._thinking) > 1:
            self._thinking = ["".join(self._thinking)]
        return replace(self._item, text="".join(self._text), thinking="".join(self._thinking))

    def _shows_reply(self) -> bool:
        """A compaction before it takes its place; a turn that was stopped before a word has none."""
        if not self._with_reply:
            return False
        has_words = bool(self._text or self._thinking or self._item.error)
        if self._is_over:
            return has_words
        return has_words or not any(card.kind == "compacting" for card in self._before)

    @property
    def is_answered(self) -> bool:
        """Whether the reply is there, and nothing is folded after it."""
        return self._item.state == "done" and not any(c.kind == "compacting" for c in self._after)

    # ---- what happens ---------------------------------------------------------------------------

    def wait_for(self, title: str) -> None:
        """Another conversation's turn comes first."""
        self._item = replace(self._item, state="waiting", waits_for=title)

    def load(self, done: int, total: int) -> None:
        """Something is being loaded (or fetched): `done` of `total` percent, 0 when not known."""
        left = self._pace.seconds_left("loading", done, total)
        self._become("loading", done=done, total=total, seconds_left=left)

    def take(self, event: Event) -> bool:
        """Take an event in; whether anything that is seen changed."""
        match event:
            case ModelLoading(fraction=fraction) if fraction is not None and fraction >= 1:
                self._become(
                    "reading"
                )  # a server does not say when it begins to, nor how far it is
            case ModelLoading(fraction=fraction):
                percent, total = (0, 0) if fraction is None else (round(100 * fraction), 100)
                self.load(percent, total)
            case PromptReading(read=read, total=total, reused=reused):
                left = self._pace.seconds_left("reading", read, total)
                self._become("reading", done=read, total=total, seconds_left=left, reused=reused)
            case ThinkingDelta(text=text):
                self._think(text)
            case TextDelta(text=text):
                self._write(text)
            case CompactionStarted() | CompactionProgress() | CompactionEnded():
                self._compact(event)
            case Told():
                self._receive(event)
            case TurnEnded():
                self._end(event)
            case _:
                return False
        return True

    def fail(self, error: Exception) -> None:
        """The turn could not even begin."""
        self._end(TurnEnded(0, "failed", None, error if isinstance(error, Bug) else _fault(error)))

    def _become(
        self,
        state: State,
        *,
        done: int = 0,
        total: int = 0,
        seconds_left: float = 0.0,
        reused: int = 0,
    ) -> None:
        self._item = replace(
            self._item,
            state=state,
            done=done,
            total=total,
            seconds_left=seconds_left,
            reused=reused,
            waits_for="",
        )

    def _think(self, text: str) -> None:
        if self._thought_since is None:
            self._thought_since = self._clock()
        self._thinking.append(text)
        self._become("thinking")
        self._item = replace(self._item, speed=self._tokens.speed())

    def _write(self, text: str) -> None:
        self._stop_thinking()
        self._text.append(text)
        self._become("writing")
        self._item = replace(self._item, speed=self._tokens.speed())

    def _stop_thinking(self) -> None:
        if self._thought_since is not None:
            thought = self._item.thought_seconds + self._clock() - self._thought_since
            self._item = replace(self._item, thought_seconds=thought)
            self._thought_since = None

    def _receive(self, told: Told) -> None:
        usage = told.usage
        receipt = Receipt(
            told.sent_tokens,
            told.sent_kind,
            usage.read_tokens,
            usage.reused_tokens if usage.reused_known else None,
            usage.written_tokens,
            told.room_tokens,
            told.window_tokens,
            usage.load_seconds,
            usage.read_seconds,
            usage.write_seconds,
            *mismatch_words(told.mismatch),
        )
        self._stop_thinking()
        speed = receipt.speed or self._item.speed
        self._become("done")
        self._item = replace(
            self._item, receipt=receipt, seconds=receipt.seconds or self._elapsed, speed=speed
        )

    def _end(self, ended: TurnEnded) -> None:
        self._is_over = True
        self._stop_thinking()
        self._become(_ENDS.get(ended.reason, "done"))
        error = ended.error
        self._item = replace(
            self._item,
            seconds=self._item.seconds or self._elapsed,
            error="" if error is None else fault_words(error)[0],
            remedy="" if error is None else fault_words(error)[1],
        )
        self._before = [card for card in self._before if card.kind != "compacting"]
        self._after = [card for card in self._after if card.kind != "compacting"]

    @property
    def _elapsed(self) -> float:
        return self._clock() - self._began

    # ---- compactions ----------------------------------------------------------------------------

    def _compact(self, event: CompactionStarted | CompactionProgress | CompactionEnded) -> None:
        cards = self._after if self._item.receipt is not None else self._before
        match event:
            case CompactionStarted(folded=folded):
                self._cards += 1
                facts = translate("Items", "%n message(s) to fold", "", folded)
                title = translate("Items", "Compacting context…")
                id_ = f"{LIVE}{self._key}:{self._cards}"
                cards.append(
                    CardItem(id_, "compacting", title, facts, tone="plum", when_ms=self._when_ms)
                )
            case CompactionProgress(done=done, total=total):
                if cards:
                    facts = _progress_words(event)
                    cards[-1] = replace(cards[-1], done=done, total=total, facts=facts)
            case CompactionEnded(entry=entry):
                if cards and cards[-1].kind == "compacting":
                    cards.pop()
                if entry is not None:
                    cards.append(compaction_card(entry))


def _progress_words(progress: CompactionProgress) -> str:
    """How far a compaction is: which piece of it, and of what."""
    done, total = f"{progress.done:,}", f"{progress.total:,}"
    match progress.doing:
        case "reading":
            words = translate("Items", "reading {done} of {total} tokens")
        case "writing":
            words = translate("Items", "writing, {done} tokens")
        case "waiting":
            words = translate("Items", "waiting to try again")
    words = words.format(done=done, total=total)
    if progress.stage > 1:
        words += " · " + translate("Items", "request {number}").format(number=progress.stage)
    return words


def mismatch_words(mismatch: Mismatch | None) -> tuple[str, str]:
    """What was read otherwise than it was sent, and what to do; both empty when nothing was."""
    if mismatch is None:
        return "", ""
    return localized(mismatch.sentence), localized(mismatch.remedy)


def fault_words(error: Exception) -> tuple[str, str]:
    """What happened, and what to do about it."""
    if isinstance(error, EnvironmentFault):
        return error.sentence, error.remedy
    return (
        translate("Items", "Something went wrong inside Porthole."),
        translate("Items", "What you typed is kept. Try again; a report was saved."),
    )


def _fault(error: Exception) -> EnvironmentFault | Bug:
    if isinstance(error, EnvironmentFault):
        return error
    bug = Bug(f"{type(error).__name__}: {error}")
    bug.__cause__ = error
    return bug


class _Pace:
    """How fast something goes, from when it was first seen."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._what = ""
        self._since = 0.0
        self._from = 0
        self._count = 0

    def seconds_left(self, what: str, done: int, total: int) -> float:
        """Seconds until `total`, from how fast `done` grew since `what` began; 0 if unknown."""
        now = self._clock()
        if what != self._what or done < self._from:
            self._what, self._since, self._from = what, now, done
        gained, seconds = done - self._from, now - self._since
        return seconds * (total - done) / gained if gained > 0 and total > done else 0.0

    def speed(self) -> float:
        """One more came: how many a second, 0 while that cannot be told."""
        now = self._clock()
        if not self._count:
            self._since = now
        self._count += 1
        seconds = now - self._since
        if self._count < _SPEED_TOKENS or seconds < _SPEED_SECONDS:
            return 0.0
        return (self._count - 1) / seconds
