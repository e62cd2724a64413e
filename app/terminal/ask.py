"""`porthole ask`: one message, one reply."""

import argparse
import asyncio
import json
from typing import Any

from app.terminal.compact import compaction_figures
from app.terminal.console import EXIT_USAGE, Console
from app.terminal.conversing import (
    check_profile,
    choose_model,
    going_on,
    keep_message,
    open_session,
    read_text,
    start_session,
)
from app.terminal.turns import TurnView, exit_code_of, stop_on_interrupt
from app.wiring import Workplace
from engine.errors import Bug
from engine.session import Session


def run(options: argparse.Namespace, workplace: Workplace, console: Console) -> int:
    """Ask, print the reply, return the exit code."""
    return asyncio.run(_ask(options, workplace, console))


async def _ask(options: argparse.Namespace, workplace: Workplace, console: Console) -> int:
    try:
        text = read_text(options.text)
        if text is not None and not text.strip():
            console.say("There is nothing to send: the message is empty.")
            return EXIT_USAGE
        session_id = open_session(options, workplace, text or "")
        session: Session | None = None
        try:
            check_profile(workplace, console)
            name = choose_model(options, workplace)
            session = await start_session(options, workplace, name, session_id, console)
        finally:
            if session is None:  # a fault, or the user's stop while the model was fetched
                keep_message(workplace, session_id, text)
                console.say(going_on(session_id))
        view = TurnView(console, quiet=options.json)
        events = session.answer() if text is None else session.send(text)
        with stop_on_interrupt(asyncio.get_running_loop(), session.stop):
            ended = await view.show(events)
        await session.keep_prefix()
        _conclude(options, view, session, console)
        if isinstance(ended.error, Bug):
            raise ended.error from ended.error.__cause__
        return exit_code_of(ended)
    finally:
        await workplace.close()


def _conclude(
    options: argparse.Namespace, view: TurnView, session: Session, console: Console
) -> None:
    if options.json:
        summary = summary_of(view, session)
        console.result(json.dumps(summary, ensure_ascii=False, indent=2))
    else:
        console.say(going_on(session.session_id))


def summary_of(view: TurnView, session: Session) -> dict[str, Any]:
    """What `--json` prints: the reply and everything that is known about how it came to be."""
    ended, receipt, ready = view.ended, view.receipt, session.ready
    assert ended is not None
    return {
        "session": session.session_id,
        "entry": ended.entry.id if ended.entry else None,
        "model": session.plan.label,
        "reply": view.text,
        "thinking": view.thinking,
        "stop_reason": ended.reason,
        "window": window_summary(ready.window) if ready else None,
        "usage": _usage(receipt) if receipt else None,
        "compaction": compaction_figures(view.compaction) if view.compaction else None,
        "notices": [
            {"level": notice.level, "code": notice.code, "text": notice.text}
            for notice in view.notices
        ],
        "error": str(ended.error) if ended.error else None,
    }


def window_summary(window: Any) -> dict[str, Any]:
    """A context window as JSON; tokens."""
    return {
        "tokens": window.tokens,
        "source": window.source,
        "requested": window.requested,
        "trained": window.trained,
        "loaded": window.loaded,
        "per_slot": window.per_slot,
    }


def _usage(receipt: Any) -> dict[str, Any]:
    usage = receipt.usage
    return {
        "sent": receipt.sent_tokens,
        "sent_kind": receipt.sent_kind,
        "read": usage.read_tokens,
        "reused": usage.reused_tokens if usage.reused_known else None,
        "written": usage.written_tokens,
        "room": receipt.room_tokens,
        "load_seconds": round(usage.load_seconds, 3),
        "read_seconds": round(usage.read_seconds, 3),
        "write_seconds": round(usage.write_seconds, 3),
    }
