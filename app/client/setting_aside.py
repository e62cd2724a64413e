"""Keeps Python's collector from looking through a long conversation again and again.

Its values have no cycles, and looking through those of 10,000 messages stops every thread for 60 ms.
What is set aside is never looked at, though: whatever garbage there was by then stays. So only what
is long is set aside, and not for longer than it is shown.
"""

import gc

LONG_ENTRIES = 2_000
"""Looking through so many takes some 12 ms."""


class SettingAside:
    """What is out of the collector's sight because of one conversation."""

    def __init__(self) -> None:
        self.is_set = False

    def set(self, entries: int) -> None:
        """Set everything aside that there is now, if the conversation has enough entries."""
        if entries >= LONG_ENTRIES:
            gc.freeze()
            self.is_set = True

    def end(self) -> None:
        """Another conversation is shown: all is looked at again, when the collector's time comes."""
        if self.is_set:
            gc.unfreeze()
            self.is_set = False
