"""Shows a turn's events in the terminal as they come, and sums them up."""

import contextlib
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.terminal.console import (
    EXIT_BUG,
    EXIT_ENVIRONMENT,
    EXIT_OK,
    EXIT_STOPPED,
    Console,
    counted,
    duration,
    lower_first,
)
from engine.errors import Bug
from engine.events import (
    CompactionDue,
    CompactionEnded,
    CompactionProgress,
    CompactionStarted,
    Event,
    ModelLoading,
    Notice,
    PromptReading,
    Receipt,
    TextDelta,
    ThinkingDelta,
    TurnEnded,
    TurnStarted,
)

if TYPE_CHECKING:
    import asyncio


COMPACTING = "Compacting context…"


@dataclass
class TurnView:
    """Prints one turn, or one compaction that was asked for, and remembers it.

    `quiet` keeps stdout empty (for --json); notices and progress still go to stderr. `card`: what
    was compacted will be told by a card, and not by a line.
    """

    console: Console
    quiet: bool = False
    card: bool = False
    text: str = ""
    thinking: str = ""
    notices: list[Notice] = field(default_factory=list)
    receipt: Receipt | None = None
    compaction: CompactionEnded | None = None
    ended: TurnEnded | None = None
    _started: bool = False

    async def show(self, events: AsyncIterator[Event]) -> TurnEnded:
        """Follow a turn to its end."""
        async for event in events:
            self._show(event)
        assert self.ended is not None, "a turn ends with TurnEnded"
        return self.ended

    async def show_compaction(self, events: AsyncIterator[Event]) -> CompactionEnded:
        """Follow a compaction to its end."""
        async for event in events:
            self._show(event)
        assert self.compaction is not None, "a compaction ends with CompactionEnded"
        return self.compaction

    def _show(self, event: Event) -> None:
        match event:
            case CompactionStarted() | CompactionProgress() | CompactionEnded() | CompactionDue():
                self._show_compaction(event)
            case ModelLoading(fraction=fraction):
                percent = "" if fraction is None else f"{fraction:.0%}"
                self.console.progress("Loading the model…", percent)
            case PromptReading(read=read, total=total):
                self.console.progress("Reading the prompt…", f"{read:,} of {total:,} tokens")
            case ThinkingDelta(text=text):
                self.thinking += text
                self.console.progress("Thinking…", f"{len(self.thinking):,} characters")
            case TextDelta(text=text):
                self._write(text)
            case Notice(text=text, level=level):
                self.notices.append(event)
                self.console.say(text if level == "info" else f"Warning: {text}")
            case Receipt():
                self.receipt = event
                self._end_reply()
            case TurnEnded():
                self._end(event)
            case TurnStarted():
                pass

    def _write(self, text: str) -> None:
        """Print reply text; blank lines before the first word are not shown."""
        self.text += text
        if not self._started:
            text = text.lstrip()
        if text and not self.quiet:
            self._started = True
            self.console.reply(text)

    def _show_compaction(
        self, event: CompactionStarted | CompactionProgress | CompactionEnded | CompactionDue
    ) -> None:
        match event:
            case CompactionDue(before_tokens=used, budget_tokens=budget):
                self.console.say(
                    f"{used:,} of {budget:,} tokens are in use: /compact (or porthole compact) "
                    "folds older messages when it suits you."
                )
            case CompactionStarted(before_tokens=before, folded=folded):
                self._end_reply()
                figures = f"{before:,} tokens, {counted(folded, 'message')} to fold"
                self.console.progress(COMPACTING, figures)
            case CompactionProgress():
                self.console.progress(COMPACTING, progress_words(event))
            case CompactionEnded():
                self.compaction = event
                self.console.clear_progress()
                if not (self.card and event.outcome == "done"):
                    self.console.say(compaction_line(event))

    def _end_reply(self) -> None:
        """End the reply's last line: progress after it must not write over it."""
        if not self.quiet:
            self.console.end_reply()

    def _end(self, ended: TurnEnded) -> None:
        self.ended = ended
        self.console.clear_progress()
        self._end_reply()
        if self.receipt is not None:
            self.console.say(receipt_line(self.receipt))
        if ended.reason == "length":
            self.console.say("The reply reached its limit and is cut; ask it to go on.")
        if ended.error is not None and not isinstance(ended.error, Bug):
            self.console.say(str(ended.error))
            if self.text:
                self.console.say("What was written so far is kept.")
        if ended.reason == "stopped":
            self.console.say("Stopped." + (" What was written is kept." if self.text else ""))


def progress_words(progress: CompactionProgress) -> str:
    """How far a compaction is: which piece of it, and of what."""
    piece = f" (request {progress.stage})" if progress.stage > 1 else ""
    match progress.doing:
        case "reading":
            return f"reading {progress.done:,} of {progress.total:,} tokens{piece}"
        case "writing":
            return f"writing, {counted(progress.done, 'token')}{piece}"
        case "waiting":
            return f"waiting to try again{piece}"


def compaction_line(ended: CompactionEnded) -> str:
    """How a compaction ended, as one line."""
    match ended.outcome:
        case "done" | "stopped":
            return ended.text
        case "failed":
            return f"Warning: {ended.text}"
        case "nothing":
            return f"Not compacted: {lower_first(ended.text)}"


def exit_code_of(ended: TurnEnded) -> int:
    """The exit code a turn's end stands for."""
    if isinstance(ended.error, Bug):
        return EXIT_BUG
    if ended.error is not None:
        return EXIT_ENVIRONMENT
    return EXIT_STOPPED if ended.reason == "stopped" else EXIT_OK


def receipt_line(receipt: Receipt) -> str:
    """The receipt as one small line: what was sent, read, reused, written, and the room left."""
    usage = receipt.usage
    about = "" if receipt.sent_kind == "exact" else "about "
    parts = [f"sent {about}{receipt.sent_tokens:,} tokens"]
    if usage.reused_known:
        parts.append(f"read {usage.read_tokens:,}, reused {usage.reused_tokens:,}")
    else:
        parts.append(f"model read {usage.prompt_tokens:,}")
    speed = usage.written_tokens / usage.write_seconds if usage.write_seconds > 0 else 0.0
    per_second = f" ({speed:.0f} a second)" if speed else ""
    parts.append(f"wrote {usage.written_tokens:,}{per_second}")
    parts.append(f"room left {receipt.room_tokens:,} of {receipt.window_tokens:,}")
    parts.append(duration(usage.load_seconds + usage.read_seconds + usage.write_seconds))
    return "[" + " · ".join(parts) + "]"


@contextlib.contextmanager
def stop_on_interrupt(
    loop: "asyncio.AbstractEventLoop", stop: Callable[[], None]
) -> Iterator[None]:
    """While a turn runs, Ctrl-C and a request to end stop the reply, not the program."""
    signals = (signal.SIGINT, signal.SIGTERM)
    try:
        for number in signals:
            loop.add_signal_handler(number, stop)
    except NotImplementedError:  # Windows: KeyboardInterrupt cancels the task instead
        yield
        return
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
