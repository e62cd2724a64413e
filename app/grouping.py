"""How the list of conversations is ordered and grouped by date. Pure: knows no Qt and no clock.

::

    rows, today, what was just deleted ─▶ plan_lines ─▶ lines (group heads and conversations)
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from app.client import ConversationRow

GroupKind = Literal["pinned", "today", "yesterday", "week", "month"]
WhenKind = Literal["now", "time", "weekday", "day", "year"]

_NOW_SECONDS = 60
_WEEK_DAYS = 7


@dataclass(frozen=True, slots=True)
class Group:
    """A head of the list. `first` is the month's first day for "month", else None."""

    kind: GroupKind
    first: date | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the list: a group's head (`group`) or a conversation (`row`).

    `deleted`: the conversation is gone and can still be had back.
    """

    group: Group | None = None
    row: "ConversationRow | None" = None
    deleted: bool = False

    @property
    def key(self) -> object:
        """What stays the same while a line's looks change."""
        return self.row.id if self.row else self.group


def plan_lines(
    rows: Sequence["ConversationRow"],
    now: datetime,
    *,
    hits: bool = False,
    deleted: Iterable["ConversationRow"] = (),
) -> tuple[Line, ...]:
    """The lines of the list: pinned first, then by date, newest first, each group under its head.

    Args:
        rows: what there is.
        now: the moment it is looked at; its zone (none: the local one, with its summer times)
            decides where a day begins.
        hits: `rows` are search results: they keep their order and have no heads.
        deleted: conversations that stay in their place as "Deleted"; `rows` may still hold them.
    """
    ghosts = {row.id: row for row in deleted}
    if hits:
        return tuple(Line(row=row, deleted=row.id in ghosts) for row in rows)
    there = {row.id for row in rows}
    whole = [*rows, *(row for row in ghosts.values() if row.id not in there)]
    whole.sort(key=attrgetter("updated_at"), reverse=True)
    whole.sort(key=attrgetter("pinned"), reverse=True)
    lines: list[Line] = []
    last: Group | None = None
    since: float = 0  # the rest of a group is told from the next by one comparison
    for row in whole:
        if last is None or row.updated_at < since or row.pinned != (last.kind == "pinned"):
            last = group_of(row, now)
            since = _beginning(last, now)
            lines.append(Line(group=last))
        lines.append(Line(row=row, deleted=row.id in ghosts))
    return tuple(lines)


def _beginning(group: Group, now: datetime) -> float:
    """The first moment that belongs to a group, in ms since 1970."""
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if group.kind == "pinned":
        return -math.inf
    if group.first is not None:
        first = group.first
        return day.replace(year=first.year, month=first.month, day=1).timestamp() * 1000
    ages = {"today": 0, "yesterday": 1}
    return (day - timedelta(days=ages.get(group.kind, _WEEK_DAYS))).timestamp() * 1000


def group_of(row: "ConversationRow", now: datetime) -> Group:
    """The group a conversation stands in. What lies in the future counts as today."""
    if row.pinned:
        return Group("pinned")
    day = _moment(row.updated_at, now.tzinfo).date()
    age = (now.date() - day).days
    if age <= 0:
        return Group("today")
    if age == 1:
        return Group("yesterday")
    if age <= _WEEK_DAYS:
        return Group("week")
    return Group("month", day.replace(day=1))


def plan_when(updated_at: int, now: datetime) -> tuple[WhenKind, datetime]:
    """How a row's time is said, and the local moment. `updated_at` in ms since 1970, UTC."""
    moment = _moment(updated_at, now.tzinfo)
    age = (now.date() - moment.date()).days
    if abs(now - moment) < timedelta(seconds=_NOW_SECONDS):
        return "now", moment
    if age <= 1:
        return "time", moment
    if age < _WEEK_DAYS:
        return "weekday", moment
    return ("day" if moment.year == now.year else "year"), moment


def find_hits(text: str, search: str) -> tuple[tuple[int, int], ...]:
    """Where the words of a search stand in a text, ignoring case: (start, length), in order."""
    words = sorted(set(search.split()), key=len, reverse=True)
    if not words:
        return ()
    pattern = "|".join(re.escape(word) for word in words)
    found = re.finditer(pattern, text, re.IGNORECASE)
    return tuple((match.start(), match.end() - match.start()) for match in found)


def _moment(milliseconds: int, zone: tzinfo | None) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, zone)
