"""What can be set for one model."""

from collections.abc import Mapping

from engine.settings.setting import MOST_TOKENS, Setting, table_of

MODEL_TABLE = "model"
"""Per-model settings are under ``[model."NAME"]``."""

MODEL_SETTINGS: Mapping[str, Setting] = table_of(
    Setting(
        key="context_window",
        kind="whole",
        default=None,
        minimum=1,
        maximum=MOST_TOKENS,
        unit="tokens",
        title="Context window",
        help="The window to use this model with, instead of what the model says.",
    ),
    Setting(
        key="stretch",
        kind="text",
        default=None,
        choices=("off", "auto", "yarn"),
        title="Stretch",
        help="For a window larger than the model was trained on: off keeps to the trained window, "
        "auto stretches with YaRN once a conversation needs it, yarn always does.",
    ),
    Setting(
        key="kv_type",
        kind="text",
        default=None,
        choices=("f16", "q8_0"),
        title="Context memory",
        help="As llamacpp.kv_type, for this model.",
    ),
    Setting(
        key="system_prompt",
        kind="text",
        default=None,
        title="System prompt",
        help="As chat.system_prompt, for this model; empty means none.",
    ),
    Setting(
        key="temperature",
        kind="number",
        default=None,
        minimum=0,
        maximum=5,
        title="Temperature",
        help="0 always takes the likeliest word; higher is more varied.",
    ),
    Setting(
        key="top_p",
        kind="number",
        default=None,
        minimum=0,
        maximum=1,
        title="Top P",
        help="Choose among the likeliest words that together have this probability.",
    ),
    Setting(
        key="top_k",
        kind="whole",
        default=None,
        minimum=0,
        maximum=1_000_000,
        title="Top K",
        help="Choose among this many of the likeliest words; 0 means all.",
    ),
    Setting(
        key="min_p",
        kind="number",
        default=None,
        minimum=0,
        maximum=1,
        title="Min P",
        help="Leave out words less likely than this share of the likeliest one.",
    ),
    Setting(
        key="repeat_penalty",
        kind="number",
        default=None,
        minimum=0.1,
        maximum=10,
        title="Repeat penalty",
        help="Above 1 makes words that were just used less likely.",
    ),
    Setting(
        key="seed",
        kind="whole",
        default=None,
        minimum=0,
        maximum=2_147_483_647,
        title="Seed",
        help="The same seed gives the same reply to the same prompt.",
    ),
    Setting(
        key="max_tokens",
        kind="whole",
        default=None,
        minimum=1,
        maximum=MOST_TOKENS,
        unit="tokens",
        title="Longest reply",
        help="A reply ends after this many tokens.",
    ),
    Setting(
        key="think",
        kind="text",
        default=None,
        choices=("off", "on", "low", "medium", "high", "max"),
        was_switch=("off", "on"),
        title="Think",
        help="Whether a model that can think before it answers does so, and how much. Not set "
        "leaves it to the model.",
    ),
    Setting(
        key="thinking_history",
        kind="text",
        default=None,
        choices=("drop", "last", "keep"),
        title="Earlier thinking",
        help="What of its earlier thinking a model gets again with every message. It fills a small "
        "window: not set sends only that of a reply that is still using tools.",
    ),
)
"""What can be set for one model; keys as they stand under ``[model."NAME"]``."""
