"""Shortening tool results without a model: planned here, applied by whoever asked (SPEC1 12.4).

::

    single      one text under a cap           ┐
    aggregate   all results under their caps   ├─▶ Shortening… ─▶ apply_shortenings
    loop        the guard inside a turn        │
    cache       old results, once it is cold   ┘

Pure. Only tool results change, and of them only texts (and, in a cold cache, pictures).
"""

from engine.prune.aggregate import (
    FRESH_KEEP_CHARS,
    Order,
    Shortening,
    apply_shortenings,
    plan_oversized,
    plan_session_prune,
    reducible_chars,
)
from engine.prune.cache import CachePlan, CachePruning, plan_cache_pruning
from engine.prune.loop import LoopGuard, LoopPlan, plan_loop_guard
from engine.prune.single import (
    HARD_CAP_CHARS,
    MIDDLE_MARKER,
    MIN_KEEP_CHARS,
    TAIL_CAP_CHARS,
    has_important_tail,
    result_cap_chars,
    truncate_text,
)

__all__ = [
    "FRESH_KEEP_CHARS",
    "HARD_CAP_CHARS",
    "MIDDLE_MARKER",
    "MIN_KEEP_CHARS",
    "TAIL_CAP_CHARS",
    "CachePlan",
    "CachePruning",
    "LoopGuard",
    "LoopPlan",
    "Order",
    "Shortening",
    "apply_shortenings",
    "has_important_tail",
    "plan_cache_pruning",
    "plan_loop_guard",
    "plan_oversized",
    "plan_session_prune",
    "reducible_chars",
    "result_cap_chars",
    "truncate_text",
]
