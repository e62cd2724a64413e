"""`porthole compact`: fold a conversation's older messages into a summary, now."""

import argparse
import asyncio
import json
from typing import TYPE_CHECKING, Any

from app.terminal.card import card_lines, values_of
from app.terminal.console import EXIT_ENVIRONMENT, EXIT_OK, EXIT_STOPPED, Console
from app.terminal.conversing import check_profile, going_on
from app.terminal.fetch import ensure_starter
from app.terminal.turns import TurnView, stop_on_interrupt
from app.wiring import Workplace
from engine.events import CompactionEnded
from engine.models import STARTER
from engine.transcript import Compaction, Message

if TYPE_CHECKING:
    from engine.session import Session

EXIT_CODES = {"done": EXIT_OK, "nothing": EXIT_OK, "stopped": EXIT_STOPPED}


def run(options: argparse.Namespace, workplace: Workplace, console: Console) -> int:
    """Compact, print the card, return the exit code."""
    return asyncio.run(_compact(options, workplace, console))


async def _compact(options: argparse.Namespace, workplace: Workplace, console: Console) -> int:
    try:
        check_profile(workplace, console)
        session_id = workplace.store.find_session(options.session).id
        ended = await _ended(options, workplace, session_id, console)
        body = ended.entry.body if ended.entry else None
        if options.json:
            summary = {"session": session_id, **compaction_summary(ended)}
            console.result(json.dumps(summary, ensure_ascii=False, indent=2))
        elif isinstance(body, Compaction):
            for line in card_lines(body):
                console.result(line)
            console.say(going_on(session_id))
        return EXIT_CODES.get(ended.outcome, EXIT_ENVIRONMENT)
    finally:
        await workplace.close()


async def _ended(
    options: argparse.Namespace, workplace: Workplace, session_id: str, console: Console
) -> CompactionEnded:
    """The compaction, from its beginning to its end; nothing is loaded for an empty conversation."""
    if not any(isinstance(e.body, Message) for e in workplace.store.path(session_id)):
        text = "There is nothing in this conversation yet."
        console.say(text)
        return CompactionEnded(1, "manual", "nothing", text)
    session = await _session(options, workplace, session_id, console)
    view = TurnView(console, quiet=options.json, card=not options.json)
    with stop_on_interrupt(asyncio.get_running_loop(), session.stop):
        ended = await view.show_compaction(session.compact(options.focus))
    await session.keep_prefix()
    return ended


async def _session(
    options: argparse.Namespace, workplace: Workplace, session_id: str, console: Console
) -> "Session":
    """The conversation with the model it last used. Raises as the model's name, file or fetch."""
    row = workplace.store.session(session_id)
    name = workplace.model_name(workplace.session_model(row) or None)
    writer = workplace.model_name(options.model) if options.model else name
    if STARTER in (name.label, writer.label):
        await ensure_starter(workplace, console)
    plan = workplace.plan(name, (workplace.kept_options(session_id),))
    return workplace.session(session_id, plan, summary_model=options.model)


def compaction_summary(ended: CompactionEnded) -> dict[str, Any]:
    """A compaction as JSON: how it ended, and what was stored."""
    body = ended.entry.body if ended.entry else None
    stored = body if isinstance(body, Compaction) else None
    return {
        **compaction_figures(ended),
        "text": ended.text,
        "entry": ended.entry.id if ended.entry else None,
        "model": stored.model if stored else None,
        "focus": stored.focus if stored else None,
        "degraded": bool(stored and stored.facts.get("degraded")),
        "summary": stored.summary if stored else None,
        "values": [value["value"] for value in values_of(stored)] if stored else [],
    }


def compaction_figures(ended: CompactionEnded) -> dict[str, Any]:
    """The figures of a compaction as JSON: tokens, messages, seconds; `way` None if not done."""
    body = ended.entry.body if ended.entry else None
    return {
        "outcome": ended.outcome,
        "reason": ended.reason,
        "before_tokens": ended.before_tokens,
        "after_tokens": ended.after_tokens,
        "folded": ended.folded,
        "seconds": round(ended.seconds, 3),
        "way": body.way if isinstance(body, Compaction) else None,
    }
