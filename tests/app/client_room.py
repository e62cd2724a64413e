"""A client with a real store and a scripted backend, and all that it told."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from app.client import Client, ContextFacts, ItemsChanged, RowsChanged, Told
from app.items import DayItem, Item, ReplyItem, UserItem
from app.wiring import Workplace
from engine.backends.base import Backend
from engine.backends.ollama import OllamaBackend
from engine.settings import save_setting
from engine.testing import ScriptedBackend
from engine.testing.ollama import OllamaDouble

PATIENCE_SECONDS = 60
MODEL = "scripted:test"


@dataclass
class Room:
    """A client, the backend below it, and what was told."""

    client: Client
    backend: ScriptedBackend
    workplace: Workplace
    told: list[Told] = field(default_factory=list)
    shown: dict[str, tuple[Item, ...]] = field(default_factory=dict)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, value: Told) -> None:
        """What a window does with what it is told."""
        self.told.append(value)
        if isinstance(value, ItemsChanged):
            before = self.shown.get(value.id, ())
            assert value.from_index <= len(before) or not before
            shown = self.shown[value.id] = (*before[: value.from_index], *value.items)
            assert len({item.id for item in shown}) == len(shown), "nothing is shown twice"
        self.news.set()

    async def until(self, is_so: Callable[[], object]) -> None:
        """Wait until something is so; it is looked at whenever something was told."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not is_so():
                self.news.clear()
                await self.news.wait()

    async def rest(self, id_: str) -> None:
        """Wait until nothing runs in a conversation."""
        await self.until(lambda: not self.client._talks.is_running(id_))

    async def send(self, text: str, id_: str | None = None) -> str:
        """Say something and wait for the reply."""
        id_ = await self.client.send(id_, text)
        await self.rest(id_)
        return id_

    def items(self, id_: str) -> list[Item]:
        """What the window shows of a conversation, without days."""
        return [item for item in self.shown.get(id_, ()) if not isinstance(item, DayItem)]

    def texts(self, id_: str) -> list[str]:
        """The words of its messages."""
        return [i.text for i in self.items(id_) if isinstance(i, UserItem | ReplyItem)]

    def last(self, id_: str) -> ReplyItem:
        """Its last reply; one of no words when there is none."""
        replies = [item for item in self.items(id_) if isinstance(item, ReplyItem)]
        return replies[-1] if replies else ReplyItem("", "")

    def of(self, kind: type) -> list:
        """All that was told of one kind."""
        return [value for value in self.told if type(value) is kind]

    async def facts(self, id_: str) -> ContextFacts:
        """What its prompt is made of, when all is looked at; it must be the one that is shown."""
        await self.until(lambda: self.client.context._done == self.client.context._asked)
        await self.until(lambda: any(f.id == id_ and f.budget for f in self.of(ContextFacts)))
        return [facts for facts in self.of(ContextFacts) if facts.id == id_][-1]

    def rows_changed(self) -> int:
        """How often the list was another one."""
        return len(self.of(RowsChanged))


@asynccontextmanager
async def a_room(
    tmp_path: Path, *scripts: object, undo_seconds: float = 8.0, **backend: object
) -> AsyncIterator[Room]:
    """A started client whose default model is the scripted one; closed at the end."""
    scripted = ScriptedBackend(scripts, **backend)
    async with _started(tmp_path, MODEL, "scripted", scripted, undo_seconds) as room:
        yield room


@asynccontextmanager
async def an_ollama_room(
    tmp_path: Path, server: OllamaDouble, *, model: str = "ollama:m", **limits: float
) -> AsyncIterator[Room]:
    """A started client whose default model is a double's; `limits` are the backend's, in seconds."""
    async with a_room_on(tmp_path, OllamaBackend(server.host, **limits), model) as room:
        yield room


@asynccontextmanager
async def a_room_on(
    tmp_path: Path, backend: OllamaBackend, model: str = "ollama:m"
) -> AsyncIterator[Room]:
    """The same on a backend that is there already."""
    async with _started(tmp_path, model, "ollama", backend, 8.0) as room:
        yield room


@asynccontextmanager
async def _started(
    tmp_path: Path, model: str, name: str, backend: Backend, undo_seconds: float
) -> AsyncIterator[Room]:
    workplace = Workplace(str(tmp_path), {})
    workplace.paths.ensure()
    save_setting(workplace.paths.settings_file, "models.default", model)
    workplace._backends[name] = backend
    room = Room.__new__(Room)
    client = Client(workplace, lambda value: room.tell(value), undo_seconds=undo_seconds)
    Room.__init__(room, client, backend, workplace)
    await client.start()
    try:
        yield room
    finally:
        await client.close()
