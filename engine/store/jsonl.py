"""Conversations as JSONL files of the specification (context-engine.md 7.1).

::

    {"type":"session","version":3,"id":…,"timestamp":…,"cwd":"","porthole":{title, leaf, …}}
    {"type":"message","id":"a1b2c3d4","parentId":null,"timestamp":…,"message":{…}}
    …

What is exported and imported comes back entry for entry, with ids, times and branches. Foreign files
are read tolerantly: lines that are not understood are skipped and counted, versions 1 and 2 are
brought up, an entry whose parent is nowhere hangs on the one before it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from engine.store.grafting import grafted
from engine.store.records import OURS, body_of, record_of
from engine.store.rows import SessionRow, blank_session, dumped, parsed, session_from_row
from engine.transcript import Entry, Unknown

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_MS = 253_402_300_799_999  # the end of the year 9999
CARRIED = (
    "title",
    "model",
    "leaf",
    "compaction_count",
    "memory_flush_at",
    "memory_flush_compaction_count",
    "context_tokens",
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "archived",
)
"""What of a conversation's row a header carries for this program."""

_HEADER = "session"
_VERSION = 3


@dataclass(frozen=True, slots=True)
class Read:
    """A file's conversation: `session` None when it has no header; lines that were skipped."""

    session: SessionRow | None
    entries: tuple[Entry, ...] = ()
    skipped: int = 0


def lines_of(session: SessionRow, entries: Iterable[Entry]) -> Iterator[str]:
    """The lines of a file, without line ends."""
    header: dict[str, Any] = {
        "type": _HEADER,
        "version": _VERSION,
        "id": session.id,
        "timestamp": _iso(session.created_at),
        "cwd": "",
    }
    if session.parent_session is not None:
        header["parentSession"] = session.parent_session
    header[OURS] = {name: getattr(session, name) for name in CARRIED}
    yield dumped(header)
    for entry in entries:
        record = record_of(entry.body, entry.created_at)
        frame = {
            "type": record["type"],
            "id": entry.id,
            "parentId": entry.parent,
            "timestamp": _iso(entry.created_at),
        }
        yield dumped(frame | {key: record[key] for key in record if key not in frame})


def read_lines(lines: Iterable[str | bytes], now: int) -> Read:
    """Read a file's lines; `now` (milliseconds) stands in for times that cannot be read."""
    records, skipped = _records(lines)
    if not records or not _is_header(records[0]):
        return Read(None, skipped=skipped + len(records))
    header = records[0]
    created_at = _milliseconds(header.get("timestamp"), now)
    id_ = header["id"]
    entries = tuple(
        grafted(
            Entry(
                id=record["id"],
                session=id_,
                parent=None if record.get("parentId") is None else str(record["parentId"]),
                created_at=_milliseconds(record.get("timestamp"), created_at),
                body=body_of(record),
            )
            for record in _linked(records)
        )
    )
    return Read(_session(header, entries, created_at), entries, skipped)


def _session(header: Mapping[str, Any], entries: Sequence[Entry], created_at: int) -> SessionRow:
    known = header.get(OURS)
    carried = {
        name: value
        for name, value in (known.items() if isinstance(known, Mapping) else ())
        if name in CARRIED
    }
    blank = blank_session(header["id"], created_at)
    values = {name: getattr(blank, name) for name in SessionRow.__dataclass_fields__} | carried
    values["parent_session"] = header.get("parentSession")
    session = session_from_row(tuple(values.values()))
    if "title" not in carried:
        session = replace(session, title=_last_title(entries))
    updated_at = max((entry.created_at for entry in entries), default=created_at)
    leaf = session.leaf if "leaf" in carried else _last_leaf(entries)
    if leaf is not None and all(entry.id != leaf for entry in entries):
        leaf = _last_leaf(entries)
    return replace(session, updated_at=updated_at, leaf=leaf)


def _last_title(entries: Sequence[Entry]) -> str:
    """The last name a foreign file gave itself."""
    title = ""
    for entry in entries:
        match entry.body:
            case Unknown(type="session_info", payload=payload):
                name = payload.get("name")
                title = name if isinstance(name, str) else ""
    return title


def _last_leaf(entries: Sequence[Entry]) -> str | None:
    return entries[-1].id if entries else None


def _records(lines: Iterable[str | bytes]) -> tuple[list[dict[str, Any]], int]:
    """The JSON objects of a file that have a type, and how many other lines there were."""
    records: list[dict[str, Any]] = []
    skipped = 0
    for line in lines:
        text = line.decode("utf-8", "replace") if isinstance(line, bytes) else line
        text = text.strip("\ufeff\0 \t\r\n")
        value = parsed(text) if text else None
        if isinstance(value, dict) and isinstance(value.get("type"), str):
            records.append(value)
        elif text:
            skipped += 1
    return records, skipped


def _is_header(record: Mapping[str, Any]) -> bool:
    return record["type"] == _HEADER and isinstance(record.get("id"), str) and bool(record["id"])


def _linked(records: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The entries' records with an id and a parent each; version 1 has them by position only."""
    ids = [
        id_ if isinstance(id_ := record.get("id"), str) and id_ else f"{index:08x}"
        for index, record in enumerate(records)
    ]
    for index, record in enumerate(records):
        if record["type"] == _HEADER:
            continue
        linked = {"parentId": ids[index - 1] if index > 1 else None, **record, "id": ids[index]}
        first_kept = record.get("firstKeptEntryIndex")
        if isinstance(first_kept, int) and 0 <= first_kept < len(ids):
            linked.setdefault("firstKeptEntryId", ids[first_kept])
        yield linked


def _iso(milliseconds: int) -> str:
    """The time as the specification writes it; years past 9999 become the last moment of 9999."""
    moment = _EPOCH + timedelta(milliseconds=min(max(milliseconds, 0), _LAST_MS))
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _milliseconds(time: Any, otherwise: int) -> int:
    """Milliseconds since 1970 of an ISO time or a number of them; `otherwise` for anything else."""
    if type(time) is int and 0 <= time <= _LAST_MS:
        return time
    try:
        moment = datetime.fromisoformat(time)
    except (TypeError, ValueError):
        return otherwise
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max((moment - _EPOCH) // timedelta(milliseconds=1), 0)
