"""What `ask` and `chat` share: which conversation, which model, and getting it ready."""

import argparse
import sys
from typing import TYPE_CHECKING

from app.terminal.console import Console
from app.terminal.fetch import ensure_starter
from app.wiring import Workplace
from engine.errors import SettingsUnusable, StoreCorrupt
from engine.models import STARTER, ModelName
from engine.readiness import plan_notices, plan_ready
from engine.settings import ModelSettings
from engine.transcript import user

if TYPE_CHECKING:
    from engine.session import Session

TITLE_CHARACTERS = 60


def open_session(options: argparse.Namespace, workplace: Workplace, first_text: str) -> str:
    """The id of the conversation to go on with, or of a new one titled after its first words.

    Raises EnvironmentFault for an id that names no conversation, or several.
    """
    if options.session is not None:
        return workplace.store.find_session(options.session).id
    return workplace.store.create_session(title=title_of(first_text)).id


def title_of(text: str) -> str:
    """The first words of a conversation as its title, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= TITLE_CHARACTERS else line[: TITLE_CHARACTERS - 1].rstrip() + "…"


def options_of(options: argparse.Namespace) -> ModelSettings:
    """What this run's options say about the model."""
    return ModelSettings(
        context_window=options.window,
        system_prompt=options.system,
        temperature=options.temperature,
        seed=options.seed,
        max_tokens=options.max_tokens,
    )


def choose_model(options: argparse.Namespace, workplace: Workplace) -> ModelName:
    """The model asked for, else the conversation's, else the default. Raises ModelMissing."""
    text = options.model
    if text is None and options.session is not None:
        text = workplace.session_model(workplace.store.find_session(options.session)) or None
    return workplace.model_name(text)


async def start_session(
    options: argparse.Namespace,
    workplace: Workplace,
    name: ModelName,
    session_id: str,
    console: Console,
) -> "Session":
    """A session ready to send: options kept, the starter fetched if it is the one and missing.

    Raises WindowBlocked before anything is fetched, DownloadFailed when it cannot be.
    """
    asked = options_of(options)
    kept = workplace.kept_options(session_id)
    workplace.keep_options(session_id, asked)
    workplace.store.set_model(session_id, name.label)
    plan = workplace.plan(name, (asked, kept))
    if name.label == STARTER and not workplace.has_starter:
        planned = workplace.starter_info()
        window = plan_ready(plan, planned, None)[0].window
        plan_notices(plan, window, ())  # raises for a window that would be refused
        await ensure_starter(workplace, console)
    return workplace.session(session_id, plan)


def check_profile(workplace: Workplace, console: Console) -> None:
    """Tell what was noticed about the store; go on only with sound settings and a sound store.

    Raises SettingsUnusable for a setting that has no effect (a conversation must not run with
    other settings than its user believes), StoreCorrupt once, when a damaged store was set aside.
    """
    store = workplace.store
    problems = workplace.settings.problems
    if store.rescued:
        raise StoreCorrupt(" ".join(store.notices), "Say it again to go on.")
    for notice in store.notices:
        console.say(notice)
    if problems:
        for problem in problems[1:]:
            console.say(str(problem))
        where = f"Mend it in {workplace.paths.settings_file}."
        if problems[0].key.startswith("PORTHOLE_"):
            where = "Correct the variable, or unset it."
        raise SettingsUnusable(str(problems[0]), where)


def read_text(text: str | None) -> str | None:
    """The message: as given, or all of stdin for “-”."""
    return sys.stdin.read() if text == "-" else text


def keep_message(workplace: Workplace, session_id: str, text: str | None) -> None:
    """Put a message on the disk that could not even be tried: nothing typed is lost."""
    if text is not None:
        workplace.store.append(session_id, user(text), durable=True)


def going_on(session_id: str) -> str:
    """How to go on with a conversation, as a line to print."""
    return f"[conversation {session_id}: porthole ask --session {session_id} …]"
