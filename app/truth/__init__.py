"""The models window: every model with the truth about its window, and what would help.

::

    ModelRow… ─▶ list ─▶ chosen ─▶ (asked) ─▶ ModelTruth ─▶ panel ─▶ signals: cure_chosen, …
"""

from app.truth.window import ModelsWindow

__all__ = ["ModelsWindow"]
