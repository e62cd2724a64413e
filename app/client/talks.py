"""The conversations in use: their state, what they show, and what is told of them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

from app.client.keeping import Keeping, joined
from app.client.live import fault_words
from app.client.models import Models, WindowFacts
from app.client.talk import Talk, Work
from app.client.values import DraftImages, Failed, Meter, Notice, Told, WindowKnown
from app.items import PathPlan
from app.reports import report_bug
from app.typed import AttachedImage
from app.wiring import Workplace
from engine.errors import EnvironmentFault, MessageTooLarge, WindowBlocked
from engine.events import CountKind, TurnEnded
from engine.transcript import Entry, Image
from engine.undoing import effective_path, stands_undone

Level = Literal["info", "warning"]
TAIL_ENTRIES = 120
"""A conversation that is longer opens with so many entries at first."""
_NEWER_ENTRIES = 32
"""More than a turn adds; what is further away is planned anew."""


_HAPPENINGS = frozenset({"reloaded", "window_shrank", "server_cut", "read_otherwise"})
"""Codes of what a server did in one turn; the next time it is news again."""


class Talks:
    """All conversations of this run of the program.

    Args:
        workplace: the store.
        models: windows.
        keeping: where what waits is kept.
        tell: called with what the window must know.

    Attributes:
        shown: the conversation the window shows, "" for a new one.
        changed: called with the id of a conversation whose stored path is another one.
    """

    def __init__(
        self,
        workplace: Workplace,
        models: Models,
        keeping: Keeping,
        tell: Callable[[Told], None],
    ) -> None:
        self._workplace = workplace
        self._models = models
        self._keeping = keeping
        self._talks: dict[str, Talk] = {}
        self.tell = tell
        self.changed: Callable[[str], None] = lambda _: None
        self.shown = ""

    def __contains__(self, id_: str) -> bool:
        return id_ in self._talks

    def all(self) -> tuple[Talk, ...]:
        """Those in use."""
        return tuple(self._talks.values())

    def talk(self, id_: str) -> Talk:
        """A conversation's state. Raises EnvironmentFault for one that is not stored."""
        if id_ not in self._talks:
            row = self._workplace.store.session(id_)
            self._talks[id_] = Talk(id_, row.model or self._workplace.session_model(row))
        return self._talks[id_]

    def is_running(self, id_: str) -> bool:
        """Whether a turn of it runs or waits."""
        talk = self._talks.get(id_)
        return talk is not None and talk.is_running

    def forget(self, id_: str) -> None:
        """The conversation is gone."""
        self._talks.pop(id_, None)

    # ---- showing --------------------------------------------------------------------------------

    def replan(self, talk: Talk, *, anew: bool = False) -> None:
        """The items of what is stored: extended, or planned `anew` when more than that changed.

        While a turn runs they end at what it answers: the store is ahead of the events that are
        told, and what comes after is shown by them.
        """
        leaf = talk.asked or self._workplace.store.session(talk.id).leaf
        if anew or talk.plan is None or not self._extended(talk, talk.plan, leaf):
            entries = self._workplace.store.entries(talk.id)
            talk.plan = PathPlan(entries, leaf, zone=None, known=talk.known)
            for card in talk.opened:
                talk.plan.toggle_originals(card, opened=True)
        talk.base = talk.plan.items(running=talk.wants_reply)

    def _extended(self, talk: Talk, plan: PathPlan, leaf: str | None) -> bool:
        """Go on from where the plan ends; False when the path does not."""
        newer = self._up(talk.id, leaf, plan.leaf, _NEWER_ENTRIES)
        ends_there = plan.leaf is None if not newer else newer[0].parent == plan.leaf
        return (ends_there or leaf == plan.leaf) and plan.extend(newer, talk.known)

    def plan_tail(self, talk: Talk) -> bool:
        """Plan the end of a long conversation only; False, and nothing is planned, for a short one.

        What is above it, and which versions there are, is known when all is planned.
        """
        leaf = self._workplace.store.session(talk.id).leaf
        tail = self._up(talk.id, leaf, None, TAIL_ENTRIES)
        if not tail or tail[0].parent is None:
            return False
        talk.plan, talk.tail = None, tail
        plan = PathPlan(tail, leaf, zone=None, known=talk.known)
        talk.base = plan.items(running=talk.wants_reply)
        return True

    def _up(self, id_: str, leaf: str | None, until: str | None, most: int) -> tuple[Entry, ...]:
        """The entries from below `until` to the leaf, at most so many of the last."""
        steps: list[Entry] = []
        while leaf is not None and leaf != until and len(steps) < most:
            steps.append(self._workplace.store.entry(id_, leaf))
            leaf = steps[-1].parent
        return tuple(reversed(steps))

    def show(self, talk: Talk) -> None:
        """Tell what changed of a conversation's items."""
        if (changed := talk.change()) is not None:
            self.tell(changed)

    def refresh(self, talk: Talk, *, anew: bool = False) -> None:
        """What is stored changed: plan and tell. `anew`: not only at the end of the path."""
        self.replan(talk, anew=anew)
        self.show(talk)
        self.changed(talk.id)

    def keep_waiting(self, talk: Talk) -> None:
        """What is typed and not stored yet lies in the kept file."""
        texts, images = talk.waiting_texts, talk.waiting_images
        if self._keeping.keep_waiting(talk.id, texts, images):
            self._keeping.save()

    def hand_back(self, talk: Talk) -> str:
        """What waits is not sent: its text, for the composer; its pictures are the draft's again."""
        works = [work for work in talk.queue if work.says]
        talk.queue.clear()
        for work in works:
            self.hand_back_images(talk.id, work.images)
        return joined(work.text for work in works)

    def hand_back_images(self, id_: str, images: Sequence[Image]) -> None:
        """Pictures that were not sent go along with the draft again."""
        if images:
            kept = self._keeping.images.get(id_, ())
            kept = (*kept, *map(AttachedImage, images))
            self._keeping.keep_images(id_, kept)
            self.tell(DraftImages(id_, kept))

    def note_refused(self, talk: Talk, work: Work, ended: TurnEnded) -> None:
        """A message was too large: its text is kept in a card, its pictures are the draft's again."""
        if isinstance(ended.error, MessageTooLarge):
            self.hand_back_images(talk.id, work.images)

    def rest(self, shown: str) -> None:
        """Another conversation is shown: what others have planned is let go of, unless they run."""
        self.shown = shown
        for talk in self._talks.values():
            if talk.id != shown and not talk.is_running:
                talk.let_go()

    # ---- telling --------------------------------------------------------------------------------

    @contextmanager
    def guarding(self, id_: str) -> Iterator[None]:
        """Where nobody is above to be told of a failure."""
        try:
            yield
        except Exception as error:  # noqa: BLE001  # told, not swallowed
            self.tell_failure(id_, error)

    def tell_failure(self, id_: str, error: Exception) -> None:
        """Tell of something that failed; a bug is saved as a report."""
        sentence, remedy = fault_words(error)
        report = "" if isinstance(error, EnvironmentFault) else self.report(error)
        self.tell(Failed(id_, sentence, remedy, report))

    def report(self, error: Exception) -> str:
        """Save what happened; the file's path, "" if it cannot be written."""
        _, path = report_bug(error, self._workplace.paths.reports_dir)
        return str(path or "")

    def notice(self, talk: Talk, level: Level, key: str, text: str) -> None:
        """Tell a notice: what happened every time, what is so once for as long as the model stays.

        `key` is the notice's code and text.
        """
        if key not in talk.noticed or key.partition(":")[0] in _HAPPENINGS:
            talk.noticed.add(key)
            self.tell(Notice(talk.id, level, text))

    def tell_meter(self, talk: Talk, used: int, window: int, kind: CountKind) -> None:
        """How full a conversation's window is; tokens."""
        undone = stands_undone(effective_path(talk.path))
        budget = self._models.budget_of(window, undone=undone)
        self.tell(Meter(talk.id, used, budget, window, kind))

    def tell_window(self, talk: Talk) -> None:
        """What the loaded model really has, when that is news."""
        ready = talk.session.ready if talk.session else None
        if talk.session is None or ready is None:
            return
        facts = self._models.loaded_window(talk.session.plan.label, ready)
        if facts != talk.window:
            talk.window = facts
            self.tell(window_known(talk.id, facts))

    def tell_blocked(self, talk: Talk, model: str, fault: WindowBlocked) -> None:
        """What was loaded, or would be, is too small to be used."""
        tokens = fault.window_tokens
        facts = WindowFacts(model, "", tokens, self._models.budget_of(tokens), "block", str(fault))
        if facts != talk.window:
            talk.window = facts
            self.tell(window_known(talk.id, facts))


def window_known(id_: str, facts: WindowFacts) -> WindowKnown:
    """What is told of a conversation's window."""
    return WindowKnown(
        id_,
        facts.model,
        facts.words,
        facts.tokens,
        facts.budget,
        facts.guard,
        facts.guard_text,
        facts.think,
        facts.sees_images,
    )
