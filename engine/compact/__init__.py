"""Compaction: what is folded, how it is summarised, what may stand as a summary.

::

    path ─▶ plan (cut) ─▶ summarise (chunks, tasks, wording) ─▶ acceptance ─▶ facts ─▶ an entry
"""

from engine.compact.acceptance import (
    SENTENCES,
    SummaryRejected,
    Written,
    check_echo,
    check_size,
    clean_summary,
)
from engine.compact.chunks import (
    HistoryShare,
    adaptive_chunk_ratio,
    chunk_budget,
    chunk_by_max_tokens,
    is_oversized,
    plan_history_share,
    split_by_share,
)
from engine.compact.cut import Cut, plan_cut
from engine.compact.facts import (
    Fact,
    facts_from_json,
    facts_text,
    facts_to_json,
    find_facts,
    plan_facts,
)
from engine.compact.plan import CompactionPlan, NothingToCompact, Urgency, plan_compaction
from engine.compact.summarise import Stages, Summariser, Summary
from engine.compact.tasks import Generate, Kind, Retry, SummaryTask
from engine.compact.wording import (
    Language,
    SummaryWishes,
    conversation_language,
    frame_summary,
    instruction_text,
    join_split_turn,
    no_history_text,
    omitted_note,
    placeholder_text,
    serialise,
    system_text,
    task_text,
)

__all__ = [
    "SENTENCES",
    "CompactionPlan",
    "Cut",
    "Fact",
    "Generate",
    "HistoryShare",
    "Kind",
    "Language",
    "NothingToCompact",
    "Retry",
    "Stages",
    "Summariser",
    "Summary",
    "SummaryRejected",
    "SummaryTask",
    "SummaryWishes",
    "Urgency",
    "Written",
    "adaptive_chunk_ratio",
    "check_echo",
    "check_size",
    "chunk_budget",
    "chunk_by_max_tokens",
    "clean_summary",
    "conversation_language",
    "facts_from_json",
    "facts_text",
    "facts_to_json",
    "find_facts",
    "frame_summary",
    "instruction_text",
    "is_oversized",
    "join_split_turn",
    "no_history_text",
    "omitted_note",
    "placeholder_text",
    "plan_compaction",
    "plan_cut",
    "plan_facts",
    "plan_history_share",
    "serialise",
    "split_by_share",
    "system_text",
    "task_text",
]
