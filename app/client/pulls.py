"""Models that Ollama fetches: one after the other, paused, resumed, given up, tried again.

::

    add ─▶ waiting ─▶ pulling ─▶ the list of models (ModelsChanged)
              ▲          │ pause: the request ends; the server keeps what has arrived
              └─ resume ─┴─▶ paused, failed

It goes on whichever window is open. What is not complete when the program ends is paused at the
next start.
"""

import asyncio
import re
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast

from app.client.keeping import Keeping
from app.client.knocking import require_listener
from app.client.live import fault_words
from app.client.models import Models
from app.client.values import ModelsChanged, Pull, Pulling, PullLayer, Told
from app.wiring import Workplace
from app.words import translate
from engine.backends.ollama_wire import PullProgress, full_name
from engine.errors import EnvironmentFault

TELL_SECONDS = 0.2
"""Progress is told at most this often; everything else at once."""
_PACE_SECONDS = 10.0
"""Speed is that of the last so many seconds…"""
_PACE_LEAST_SECONDS = 1.5
"""…and not known before so many."""
_COMMAND = re.compile(r"^(?:\$ )?ollama (?:pull|run) +", re.IGNORECASE)
_PLACES = (
    (re.compile(r"^https?://(?:www\.)?ollama\.com/(?:library/)?", re.IGNORECASE), ""),
    (re.compile(r"^https?://(?:www\.)?(?:huggingface\.co|hf\.co)/", re.IGNORECASE), "hf.co/"),
    (re.compile(r"^https?://", re.IGNORECASE), ""),
)
_NAME = re.compile(r"[\w][\w.\-:/@]*")


class Pulls:
    """All models that are to be fetched; used on the client's loop.

    Args:
        workplace: the Ollama server.
        models: what is known of models.
        keeping: remembers what is not complete.
        tell: called with `Pulling` and `ModelsChanged`.
        report: called with what is a bug of ours.
    """

    def __init__(
        self,
        workplace: Workplace,
        models: Models,
        keeping: Keeping,
        tell: Callable[[Told], None],
        report: Callable[[Exception], None],
    ) -> None:
        self._workplace = workplace
        self._models = models
        self._keeping = keeping
        self._tell = tell
        self._report = report
        self._pulls: dict[str, Pull] = {}  # by full name, in order
        self._task: asyncio.Task[None] | None = None
        self._running = ""
        self._told_at = 0.0
        self._late: asyncio.TimerHandle | None = None
        self._is_closed = False
        self.tell_seconds = TELL_SECONDS

    def start(self) -> None:
        """What was not complete when the program ended is there again, paused."""
        for name in self._keeping.pulls:
            self._pulls[full_name(name)] = Pull(name, "paused")
        if self._pulls:
            self._say()

    async def all(self) -> tuple[Pull, ...]:
        """What is fetched, waits, is paused or failed, in order."""
        return tuple(self._pulls.values())

    async def add(self, text: str) -> str:
        """Fetch a model; its name. One that is on the list already goes on.

        Raises EnvironmentFault for what is no name.
        """
        name = clean_name(text)
        key = full_name(name)
        if key not in self._pulls:
            self._pulls[key] = Pull(name)
            self._keep()
        await self.resume(name)
        return self._pulls[key].name if key in self._pulls else name

    async def pause(self, name: str) -> None:
        """Stop fetching for now: what has arrived stays on the server."""
        key = full_name(name)
        pull = self._pulls.get(key)
        if pull is not None and pull.state in ("waiting", "pulling"):
            self._set(key, state="paused", per_second=0.0, seconds_left=None)
            await self._halt(key)

    async def resume(self, name: str) -> None:
        """Go on with one that is paused, or try again one that failed."""
        key = full_name(name)
        pull = self._pulls.get(key)
        if pull is not None and pull.state in ("paused", "failed"):
            self._pulls[key] = self._pulls.pop(key)  # behind those that wait
            self._set(key, state="waiting", doing="asking", error="", remedy="")
        self._go_on()
        self._say()

    async def cancel(self, name: str) -> None:
        """Give one up."""
        key = full_name(name)
        if self._pulls.pop(key, None) is not None:
            self._keep()
            self._say()
            await self._halt(key)

    async def close(self) -> None:
        """Stop; what is not complete is remembered."""
        self._is_closed = True
        if self._late is not None:
            self._late.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    # ---- one after the other --------------------------------------------------------------------

    def _go_on(self) -> None:
        """Begin the first that waits, unless one is being fetched."""
        waiting = (key for key, pull in self._pulls.items() if pull.state == "waiting")
        if self._is_closed or (self._task is not None and not self._task.done()):
            return
        if (key := next(waiting, None)) is not None:
            self._running = key
            self._task = asyncio.create_task(self._fetch(key))
            self._task.add_done_callback(lambda _: self._go_on())

    async def _halt(self, key: str) -> None:
        """End the request, if it is this one's; the next one begins."""
        if self._running == key and self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _fetch(self, key: str) -> None:
        name = self._pulls[key].name
        self._set(key, state="pulling")
        try:
            backend: Any = self._workplace.backend("ollama")
            await require_listener(backend.address)
            steps = cast("AsyncGenerator[PullProgress, None]", backend.pull(name))
            pace = Pace()
            async with aclosing(steps):
                async for step in steps:
                    self._take(key, step, pace)
        except EnvironmentFault as fault:
            self._fail(key, fault)
        except Exception as error:  # noqa: BLE001  # told, and the others are fetched all the same
            self._fail(key, error)
            self._report(error)
        else:
            await self._arrived(key)

    def _fail(self, key: str, error: Exception) -> None:
        sentence, remedy = fault_words(error)
        if key in self._pulls:
            changes = {"error": sentence, "remedy": remedy, "per_second": 0.0}
            self._set(key, state="failed", seconds_left=None, **changes)

    async def _arrived(self, key: str) -> None:
        """A model is there: it can be chosen."""
        self._models.forget(f"ollama:{key}")
        label = await self._models.label_of(key)
        pull = self._pulls.pop(key, None)
        self._keep()
        if pull is not None:  # it was not given up meanwhile
            self._tell(ModelsChanged(pull.name, label))
        self._say()

    # ---- progress -------------------------------------------------------------------------------

    def _take(self, key: str, step: PullProgress, pace: "Pace") -> None:
        pull = self._pulls.get(key)
        if pull is None or pull.state != "pulling":  # it is paused or given up just now
            return
        now = asyncio.get_running_loop().time()
        after = plan_step(pull, step)
        pace.note(now, step)
        speed = pace.per_second if after.doing == "fetching" else 0.0
        left = (after.total - after.done) / speed if speed > 0 else None
        after = replace(after, per_second=speed, seconds_left=left)
        is_news = after.doing != pull.doing or len(after.layers) != len(pull.layers)
        self._pulls[key] = after
        if is_news or now - self._told_at >= self.tell_seconds:
            self._say()
        elif self._late is None:  # it may be the last for a while
            self._late = asyncio.get_running_loop().call_later(self.tell_seconds, self._say)

    def _set(self, key: str, **changes: Any) -> None:
        self._pulls[key] = replace(self._pulls[key], **changes)
        self._say()

    def _say(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
        self._told_at = asyncio.get_running_loop().time()
        self._tell(Pulling(tuple(self._pulls.values())))

    def _keep(self) -> None:
        self._keeping.pulls = [pull.name for pull in self._pulls.values()]
        self._keeping.note()
        self._keeping.save()


class Pace:
    """How fast bytes arrive; what was there before, and what is fetched once more, is no speed."""

    def __init__(self) -> None:
        self._layers: dict[str, int] = {}
        self._arrived = 0
        self._seen: deque[tuple[float, int]] = deque()

    def note(self, seconds: float, step: PullProgress) -> None:
        """Take in a step at a time in seconds."""
        if not step.digest:
            return
        before = self._layers.get(step.digest)
        self._layers[step.digest] = step.completed
        if before is not None and step.completed < before:  # a part is fetched once more
            self._seen.clear()
        self._arrived += max(0, step.completed - (step.completed if before is None else before))
        self._seen.append((seconds, self._arrived))
        while seconds - self._seen[0][0] > _PACE_SECONDS:
            self._seen.popleft()

    @property
    def per_second(self) -> float:
        """Bytes a second of late; 0 when not known."""
        if not self._seen:
            return 0.0
        (began, first), (ended, last) = self._seen[0], self._seen[-1]
        return (last - first) / (ended - began) if ended - began >= _PACE_LEAST_SECONDS else 0.0


def plan_step(pull: Pull, step: PullProgress) -> Pull:
    """A pull after one step of the server's, which may tell of fewer bytes than before. Pure."""
    if not step.digest:
        doing = {"verifying": "checking", "pulling": "asking"}.get(
            step.status.partition(" ")[0], "finishing"
        )
        return replace(pull, doing=cast(Any, doing))
    digest = step.digest.partition(":")[2] or step.digest
    total = max(step.total, step.completed)
    layer = PullLayer(digest, step.completed, total)
    known = [one.digest for one in pull.layers]
    layers = list(pull.layers)
    if digest in known:
        layers[known.index(digest)] = layer
    else:
        layers.append(layer)
    return replace(pull, doing="fetching", layers=tuple(layers))


def clean_name(text: str) -> str:
    """The model's name in what a user typed or pasted: a name, a command, a page's address.

    Raises EnvironmentFault for what is none.
    """
    name = _COMMAND.sub("", text.strip().strip("\"'`").strip())
    for place, instead in _PLACES:
        name, count = place.subn(instead, name)
        if count:
            break
    name = name.strip().rstrip("/")
    if not _NAME.fullmatch(name):
        raise EnvironmentFault(
            translate("Client", "“{name}” is not a model's name.").format(
                name=name or text.strip()
            ),
            translate("Client", "Names look like llama3.2:3b or hf.co/user/model."),
        )
    return name
