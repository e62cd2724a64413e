"""What a conversation shows, item by item: values for the transcript view. No Qt, no I/O.

::

    entries of the store, leaf ─▶ plan_items ─▶ items of the path ─┐
    what waits to be sent      ─▶ UserItem(queued) ────────────────┼─▶ what the view shows
    events of a running turn   ─▶ LiveReply.items ────────────────┘

Every message of the path is one item and has its entry's id. A reply that is being written has an
id that begins with `LIVE`; when it is stored, the item at the same place has its entry's id: that is
a change of the item, not another one.
"""

from app.items.cards import (
    ask_card,
    compaction_card,
    exact_values,
    reminder_words,
    unfolded_card,
    unsent_card,
)
from app.items.path import PathPlan, item_of, plan_items, receipt_of
from app.items.tree import Tree, is_beside, removal, removed_ids
from app.items.values import (
    LIVE,
    REMOVED,
    RUNNING_STATES,
    UNANSWERED,
    CardItem,
    CardKind,
    DayItem,
    Figure,
    Item,
    Receipt,
    ReplyItem,
    State,
    Tone,
    UserItem,
    Versions,
)

__all__ = [
    "LIVE",
    "REMOVED",
    "RUNNING_STATES",
    "UNANSWERED",
    "CardItem",
    "CardKind",
    "DayItem",
    "Figure",
    "Item",
    "PathPlan",
    "Receipt",
    "ReplyItem",
    "State",
    "Tone",
    "Tree",
    "UserItem",
    "Versions",
    "ask_card",
    "compaction_card",
    "exact_values",
    "is_beside",
    "item_of",
    "plan_items",
    "receipt_of",
    "reminder_words",
    "removal",
    "removed_ids",
    "unfolded_card",
    "unsent_card",
]
