"""`porthole sessions` and `porthole show`: what was said, listed and printed."""

import argparse
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from app.terminal.card import card_lines
from app.terminal.console import EXIT_OK, Console, counted
from app.wiring import Workplace
from engine.transcript import (
    BranchSummary,
    Compaction,
    Custom,
    CustomMessage,
    Entry,
    Message,
    to_payload,
    type_of,
)
from engine.view import SHORTENED, UNSENT

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
    unsent = unsent_texts(workplace.store.entries(row.id))
    if options.json:
        entries = [entry_summary(entry) for entry in path]
        summary = {**row_summary(row), "entries": entries, "unsent": unsent}
        console.result(json.dumps(summary, ensure_ascii=False, indent=2))
        return
    console.say(f"{row.title}\n{row.id}, {moment(row.created_at)}")
    for entry in path:
        for line in lines_of(entry):
            console.result(line)
    for text in unsent:
        for line in ("", "── You (not sent: too large) ──", text.strip()):
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
        case Compaction():
            return card_lines(body)
        case BranchSummary(summary=text):
            return ["", "── what happened on another branch ──", text]
        case Custom(custom_type=kind, data=data) if kind == SHORTENED:
            results = data.get("results")
            count = len(results) if isinstance(results, Mapping) else 0
            return ["", f"[{counted(count, 'tool result')} shortened for the model; whole here]"]
        case CustomMessage(content=text, display=True):
            return ["", text]
        case _:
            return []


def unsent_texts(entries: Iterable[Entry]) -> list[str]:
    """Messages that were kept and never sent, in order; one that was sent later is none of them."""
    texts: list[str] = []
    for entry in entries:
        match entry.body:
            case Custom(custom_type=kind, data={"text": str(text)}) if kind == UNSENT:
                texts.append(text)
            case Message(role="user", text=text) if text in texts:
                texts.remove(text)
    return texts


def _message_lines(message: Message) -> list[str]:
    who = {"user": "You", "assistant": message.model or "Model", "system": "System"}
    lines = ["", f"── {who.get(message.role, f'Tool {message.tool_name}')} ──"]
    if message.thinking:
        lines.append(f"(thought for {len(message.thinking):,} characters)")
    lines += [message.text.strip()] if message.text.strip() else []
    lines += [f"(image {image.name})" if image.name else "(image)" for image in message.images]
    lines += [f"(calls {call.name} {dict(call.arguments)})" for call in message.tool_calls]
    if note := CUT.get(message.stop_reason or ""):
        lines.append(f"[{note}{': ' + message.error if message.error else ''}]")
    return lines


def moment(milliseconds: int) -> str:
    """A time as people read it, in their own time zone."""
    return datetime.fromtimestamp(milliseconds / 1000).astimezone().strftime("%Y-%m-%d %H:%M")
