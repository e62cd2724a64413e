"""`porthole sessions` and `porthole show`: what was said, listed and printed."""

import argparse
import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

from app.terminal.console import EXIT_OK, Console
from app.wiring import Workplace
from engine.transcript import (
    BranchSummary,
    Compaction,
    CustomMessage,
    Entry,
    Message,
    to_payload,
    type_of,
)

if TYPE_CHECKING:
    from engine.store import SessionRow

CUT = {
    "stopped": "stopped by you",
    "failed": "failed",
    "interrupted": "cut: the program ended while it was written",
    "length": "cut at its limit",
}


def run(options: argparse.Namespace, workplace: Workplace, console: Console) -> int:
    """List the conversations, or print one."""
    try:
        for notice in workplace.store.notices:
            console.say(notice)
        if options.command == "show":
            _show(options, workplace, console)
        else:
            _list(options, workplace, console)
    finally:
        workplace.close_store()
    return EXIT_OK


def _list(options: argparse.Namespace, workplace: Workplace, console: Console) -> None:
    rows = workplace.store.sessions()
    if options.json:
        console.result(
            json.dumps([row_summary(row) for row in rows], ensure_ascii=False, indent=2)
        )
        return
    if not rows:
        console.say("No conversations yet. Start one: porthole ask TEXT, or porthole chat.")
    for row in rows:
        tokens = f"{row.total_tokens:,} tokens" if row.total_tokens else ""
        console.result(f"{row.id}  {moment(row.updated_at)}  {tokens:>14}  {row.title}")


def _show(options: argparse.Namespace, workplace: Workplace, console: Console) -> None:
    row = workplace.store.find_session(options.session)
    path = workplace.store.path(row.id)
    if options.json:
        entries = [entry_summary(entry) for entry in path]
        summary = {**row_summary(row), "entries": entries}
        console.result(json.dumps(summary, ensure_ascii=False, indent=2))
        return
    console.say(f"{row.title}\n{row.id}, {moment(row.created_at)}")
    for entry in path:
        for line in lines_of(entry):
            console.result(line)


def row_summary(row: "SessionRow") -> dict[str, Any]:
    """A conversation's row as JSON: its counters in tokens, its times in milliseconds (UTC)."""
    return {name: getattr(row, name) for name in row.__dataclass_fields__}


def entry_summary(entry: Entry) -> dict[str, Any]:
    """An entry as JSON."""
    return {
        "id": entry.id,
        "parent": entry.parent,
        "type": type_of(entry.body),
        "created_at": entry.created_at,
        **to_payload(entry.body),
    }


def lines_of(entry: Entry) -> list[str]:
    """An entry as lines to read; entries that say nothing to people have none."""
    body = entry.body
    match body:
        case Message():
            return _message_lines(body)
        case Compaction(summary=text) | BranchSummary(summary=text):
            return ["", "── summary of what came before ──", text]
        case CustomMessage(content=text, display=True):
            return ["", text]
        case _:
            return []


def _message_lines(message: Message) -> list[str]:
    who = {"user": "You", "assistant": message.model or "Model", "system": "System"}
    lines = ["", f"── {who.get(message.role, f'Tool {message.tool_name}')} ──"]
    if message.thinking:
        lines.append(f"(thought for {len(message.thinking):,} characters)")
    lines += [message.text.strip()] if message.text.strip() else []
    lines += [f"(calls {call.name} {dict(call.arguments)})" for call in message.tool_calls]
    if note := CUT.get(message.stop_reason or ""):
        lines.append(f"[{note}{': ' + message.error if message.error else ''}]")
    return lines


def moment(milliseconds: int) -> str:
    """A time as people read it, in their own time zone."""
    return datetime.fromtimestamp(milliseconds / 1000).astimezone().strftime("%Y-%m-%d %H:%M")
