"""Counting tokens: the specification's estimator, the one in use, anchored counts, calibration."""

from engine.tokens.calibration import UNCALIBRATED, Calibration, CalibrationBook
from engine.tokens.counting import Anchor, Count, Weighed, find_anchor, plan_count, reports_in_part
from engine.tokens.script import (
    IMAGE_TOKENS,
    MESSAGE_OVERHEAD_TOKENS,
    estimate_body,
    estimate_messages,
    estimate_once,
    estimate_text,
)
from engine.tokens.spec import (
    CHARS_PER_TOKEN,
    IMAGE_CHARS,
    RUNTIME_CONTEXT,
    SAFETY_MARGIN,
    compact_json,
    is_runtime_context,
    spec_messages_tokens,
    spec_prompt_tokens,
    spec_tokens,
    weighted_chars,
)
from engine.tokens.units import utf16_head, utf16_length, utf16_tail

__all__ = [
    "CHARS_PER_TOKEN",
    "IMAGE_CHARS",
    "IMAGE_TOKENS",
    "MESSAGE_OVERHEAD_TOKENS",
    "RUNTIME_CONTEXT",
    "SAFETY_MARGIN",
    "UNCALIBRATED",
    "Anchor",
    "Calibration",
    "CalibrationBook",
    "Count",
    "Weighed",
    "compact_json",
    "estimate_body",
    "estimate_messages",
    "estimate_once",
    "estimate_text",
    "find_anchor",
    "is_runtime_context",
    "plan_count",
    "reports_in_part",
    "spec_messages_tokens",
    "spec_prompt_tokens",
    "spec_tokens",
    "utf16_head",
    "utf16_length",
    "utf16_tail",
    "weighted_chars",
]
