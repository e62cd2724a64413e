"""`porthole chat`: several turns in the terminal."""

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING

from app.terminal.console import EXIT_OK, Console, counted
from app.terminal.conversing import (
    check_profile,
    choose_model,
    keep_message,
    open_session,
    start_session,
    title_of,
)
from app.terminal.report import is_interactive, save_report
from app.terminal.turns import TurnView, stop_on_interrupt
from app.wiring import Workplace
from engine.errors import Bug, EnvironmentFault
from engine.models import ModelName

if TYPE_CHECKING:
    from prompt_toolkit.key_binding import KeyBindings

    from engine.context import ContextView
    from engine.session import Session

HELP = (
    "/new a new conversation · /status the context · /compact [focus] folds older messages · "
    "/exit ends · Ctrl+C stops a reply"
)


def run(options: argparse.Namespace, workplace: Workplace, console: Console) -> int:
    """Talk until the user leaves."""
    return asyncio.run(Chat(options, workplace, console).run())


class Chat:
    """The loop of messages and replies."""

    def __init__(
        self, options: argparse.Namespace, workplace: Workplace, console: Console
    ) -> None:
        self._options = options
        self._workplace = workplace
        self._console = console
        self._session: Session | None = None

    async def run(self) -> int:
        """Greet, read messages, answer them."""
        try:
            check_profile(self._workplace, self._console)
            name = choose_model(self._options, self._workplace)
            if self._options.session is not None:
                await self._open(name, "")
            self._console.say(f"Talking with {name.label}. {HELP}")
            async for text in read_messages():
                if not await self._take(name, text):
                    break
            return EXIT_OK
        finally:
            await self._leave()
            await self._workplace.close()

    async def _take(self, name: ModelName, text: str) -> bool:
        """Do what was typed; False to end."""
        command, _, rest = text.strip().partition(" ")
        if command == "/compact":
            await self._compact(name, rest.strip())
            return True
        match text.strip():
            case "":
                return True
            case "/exit" | "/quit":
                return False
            case "/new":
                await self._leave()
                self._options.session = None
                self._console.say("A new conversation.")
            case "/status":
                await self._say_status(name)
            case "/help":
                self._console.say(HELP)
            case command if command.startswith("/") and " " not in command:
                self._console.say(f"There is no command {command}. {HELP}")
            case _:
                await self._turn(name, text)
        return True

    async def _turn(self, name: ModelName, text: str) -> None:
        try:
            session = self._session or await self._open(name, text)
        except EnvironmentFault as fault:
            self._console.say(str(fault))
            return
        view = TurnView(self._console)
        with stop_on_interrupt(asyncio.get_running_loop(), session.stop):
            ended = await view.show(session.send(text))
        if isinstance(ended.error, Bug):
            save_report(ended.error, self._workplace.paths, self._console)

    async def _compact(self, name: ModelName, focus: str) -> None:
        """Fold older messages now; `focus` says what to keep above all."""
        session = self._session
        if session is None:
            self._console.say("Not compacted: nothing was said yet.")
            return
        view = TurnView(self._console)
        with stop_on_interrupt(asyncio.get_running_loop(), session.stop):
            await view.show_compaction(session.compact(focus))

    async def _open(self, name: ModelName, text: str) -> "Session":
        session_id = open_session(self._options, self._workplace, title_of(text))
        session: Session | None = None
        try:
            session = await start_session(
                self._options, self._workplace, name, session_id, self._console
            )
        finally:
            if session is None:  # a fault, or the user's stop while the model was fetched
                keep_message(self._workplace, session_id, text or None)
        self._session = session
        return session

    async def _leave(self) -> None:
        """Keep the conversation's prefix cache, so that going on later reads nothing twice."""
        if self._session is not None:
            await self._session.keep_prefix()
            self._session = None

    async def _say_status(self, name: ModelName) -> None:
        """Model, window, what fills it now, and the conversation's counters."""
        session = self._session
        if session is None or session.ready is None:
            self._console.say(f"Model {name.label}; nothing was sent yet.")
            return
        window = session.ready.window
        row = self._workplace.store.session(session.session_id)
        self._console.say(
            f"Model {name.label}, context window {window.tokens:,} tokens, "
            f"conversation {session.session_id}: {row.input_tokens:,} tokens in, "
            f"{row.output_tokens:,} out, compacted {counted(row.compaction_count, 'time')}."
        )
        try:
            self._console.say(context_line(await session.look()))
        except EnvironmentFault as fault:
            self._console.say(str(fault))


def context_line(view: "ContextView") -> str:
    """What fills the window now, of what a prompt may have."""
    tokens, budget = view.count.tokens, view.budget
    about = "" if view.count.kind == "exact" else "about "
    share = round(100 * tokens / budget.prompt)
    return (
        f"Context {about}{tokens:,} tokens, {share} % of a prompt budget of {budget.prompt:,}; "
        f"{budget.reserve:,} are kept free for the reply."
    )


async def read_messages() -> AsyncIterator[str]:
    """What the user types, message by message; ends with the end of input.

    On a terminal Enter sends and Alt+Enter or Ctrl+J starts a new line. Elsewhere a line is a
    message, and a line that ends in a backslash goes on in the next.
    """
    if not is_interactive():
        for message in joined_lines(sys.stdin):
            yield message
        return
    from prompt_toolkit import PromptSession
    from prompt_toolkit.patch_stdout import patch_stdout

    prompt: PromptSession[str] = PromptSession(
        "> ", key_bindings=_keys(), prompt_continuation=". ", multiline=True
    )
    while True:
        try:
            with patch_stdout() if sys.stdout.isatty() else nullcontext():
                yield await prompt.prompt_async()
        except KeyboardInterrupt:
            continue  # Ctrl+C on the input line clears it
        except EOFError:
            return


def joined_lines(lines: Iterable[str]) -> Iterator[str]:
    """Lines as messages: a backslash at the end joins the next line."""
    held: list[str] = []
    for line in lines:
        line = line.rstrip("\n")
        if line.endswith("\\"):
            held.append(line[:-1])
            continue
        yield "\n".join([*held, line])
        held.clear()
    if held:
        yield "\n".join(held)


def _keys() -> "KeyBindings":
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    keys = KeyBindings()

    @keys.add("enter")
    def _send(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("escape", "enter")
    @keys.add("c-j")
    def _new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys
