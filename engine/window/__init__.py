"""Which context window applies, whether it is allowed, what is requested, what is believed.

Pure: values in, values out. The order of use is the drawing in `engine.window.request`; resolution
and guard follow SPEC1 12.3.2 and 12.3.3. A window is a `ContextWindow` throughout, and its `tokens`
is the one figure every later step goes by.
"""

from engine.window.estimate import (
    USUAL_WINDOWS,
    MemoryEstimate,
    MemoryVerdict,
    plan_memory_estimates,
)
from engine.window.guard import (
    HARD_MIN_TOKENS,
    MOST_STRETCH,
    WARN_BELOW_TOKENS,
    Endpoint,
    Guard,
    GuardWords,
    guard_words,
    is_self_hosted,
    plan_guard,
    source_words,
    suggested_window,
    window_blocked,
)
from engine.window.request import (
    CAP_TOKENS,
    OVERHEAD_BYTES,
    MemoryPlan,
    StretchPlan,
    WindowPlan,
    kv_bytes,
    memory_short,
    plan_memory,
    plan_stretch,
    plan_window_request,
    settle_window,
)
from engine.window.resolution import (
    DEFAULT_WINDOW_TOKENS,
    Claim,
    ContextWindow,
    Source,
    WindowCache,
    effective_model_window,
    positive_tokens,
    resolve_window,
)

__all__ = [
    "CAP_TOKENS",
    "DEFAULT_WINDOW_TOKENS",
    "HARD_MIN_TOKENS",
    "MOST_STRETCH",
    "OVERHEAD_BYTES",
    "USUAL_WINDOWS",
    "WARN_BELOW_TOKENS",
    "Claim",
    "ContextWindow",
    "Endpoint",
    "Guard",
    "GuardWords",
    "MemoryEstimate",
    "MemoryPlan",
    "MemoryVerdict",
    "Source",
    "StretchPlan",
    "WindowCache",
    "WindowPlan",
    "effective_model_window",
    "guard_words",
    "is_self_hosted",
    "kv_bytes",
    "memory_short",
    "plan_guard",
    "plan_memory",
    "plan_memory_estimates",
    "plan_stretch",
    "plan_window_request",
    "positive_tokens",
    "resolve_window",
    "settle_window",
    "source_words",
    "suggested_window",
    "window_blocked",
]
