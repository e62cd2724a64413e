"""Every word on the disk: one SQLite file, append-only, and the only SQL.

What it promises:

- an entry is on the disk when the call that adds it returns; it is never changed, and goes only
  with its whole conversation;
- the running reply is kept in steps; after a crash it is an entry marked "interrupted";
- a file of a newer version is not touched, a damaged one is set aside and read as far as possible,
  a full or read-only disk costs nothing that was saved before;
- a conversation that is deleted is gone from the file.

::

    Store ── opening ── migrations          the file: made, upgraded, refused or rescued
      │         └────── salvage
      ├── reading                           paths and branches
      ├── replies                           the running reply
      ├── searching                         full text
      ├── scrubbing                         deleted is gone
      ├── jsonl ── records                  the specification's files, in and out
      └── rows ── database ── faults        values, statements, whose fault it is
"""

from engine.store.replies import Reply
from engine.store.rows import LEAF, Found, Imported, Place, SessionRow
from engine.store.store import Clock, Store, system_clock

__all__ = [
    "LEAF",
    "Clock",
    "Found",
    "Imported",
    "Place",
    "Reply",
    "SessionRow",
    "Store",
    "system_clock",
]
