"""The guard before every model call inside a turn (context-engine.md 4.4).

A turn that calls tools grows between two checks of the budget. Before each call of the model a
copy of its messages has each tool result limited to half a character per token of the window; if
everything together still weighs more than 90 % of the window, that is an overflow, and the caller
recovers from it as from one the model reported.

Characters of tool results weigh twice, for they are denser than prose. One weighting only: a CJK
character weighs four in a result as elsewhere (context-engine.md section 12, row 12).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.prune.aggregate import Shortening
from engine.prune.single import MIN_KEEP_CHARS, shorten_parts, text_chars
from engine.prune.weights import body_chars, parts_chars
from engine.tokens import utf16_length, weighted_chars
from engine.transcript import Body, Message, Part, Text

LEAST_LIMIT_CHARS = 1_024
"""No limit is under this, however small the window."""


@dataclass(frozen=True, slots=True)
class LoopGuard:
    """The limits for a window, in weighted characters.

    Attributes:
        result_limit: what one tool result may weigh.
        total_limit: what all messages together may weigh.
    """

    result_limit: int
    total_limit: int

    @classmethod
    def of(cls, window_tokens: int) -> "LoopGuard":
        """The limits of a window in tokens."""
        window = max(0, window_tokens)
        # 2 characters a token for results, half the window: floor(2 · 0.5 · w) = w.
        # 4 characters a token, 90 % of the window: floor(4 · 0.9 · w) = floor(3.6 · w).
        return cls(max(LEAST_LIMIT_CHARS, window), max(LEAST_LIMIT_CHARS, window * 18 // 5))

    @property
    def result_chars(self) -> int:
        """Characters one result of plain text may have."""
        return self.result_limit // 2


@dataclass(frozen=True, slots=True)
class LoopPlan:
    """What to shorten before the next call of the model, on a copy; weighted characters.

    Attributes:
        shortenings: the results that are over the limit.
        total_chars: what all messages weigh once they are shortened.
        limit_chars: what they may weigh.
    """

    shortenings: tuple[Shortening, ...]
    total_chars: int
    limit_chars: int

    @property
    def overflow(self) -> bool:
        """Whether the messages do not fit even so."""
        return self.total_chars > self.limit_chars


def plan_loop_guard(bodies: Sequence[Body], window_tokens: int) -> LoopPlan:
    """Check the messages of a running turn against the window before the model is called again."""
    guard = LoopGuard.of(window_tokens)
    shortenings: list[Shortening] = []
    total = 0
    for index, body in enumerate(bodies):
        if not isinstance(body, Message) or body.role != "tool_result":
            total += body_chars(body)
            continue
        weight = _texts_weight(body.parts)
        if weight > guard.result_limit:
            parts = _limited(body.parts, weight, guard.result_limit)
            shortenings.append(Shortening(index, parts, text_chars(body.parts)))
            weight = _texts_weight(parts)
        total += weight + parts_chars(p for p in body.parts if not isinstance(p, Text))
    return LoopPlan(tuple(shortenings), total, guard.total_limit)


def _limited(parts: Sequence[Part], weight: int, limit: int) -> tuple[Part, ...]:
    """The parts, their texts of this weight brought within the limit."""
    fitting = text_chars(parts) * limit // weight
    limited = shorten_parts(parts, fitting, MIN_KEEP_CHARS)
    if _texts_weight(limited) > limit:  # what was kept is heavier than what went
        limited = shorten_parts(parts, limit // 4, MIN_KEEP_CHARS)
    return limited


def _texts_weight(parts: Sequence[Part]) -> int:
    return sum(_result_weight(part.text) for part in parts if isinstance(part, Text))


def _result_weight(text: str) -> int:
    """Two for each unit, four for each CJK character, never more than four for a unit."""
    units = utf16_length(text)
    # weighted_chars adds 3 for a CJK character; here it weighs 2 more than others.
    return 2 * units + -(-2 * (weighted_chars(text) - units) // 3)
