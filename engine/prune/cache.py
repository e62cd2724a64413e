"""Pruning old tool results once the prefix cache is cold (SPEC2 6; context-engine.md 5.5).

While the cache is warm, changing old messages costs more than it saves: everything after them is
read again. When it is known to be cold (nobody touched it for `ttl_ms`), the whole prompt is read
anyway, and old results may go::

    … first user message │ older results │ last 3 assistant messages and what follows
      protected          │ soft trim:    │ protected
                         │  head ... tail, note      over 30 % of the window
                         │ hard clear, oldest first:
                         │  a placeholder            still over 50 %

In memory only, for one request. Characters; a window is four characters a token.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Literal

from engine.prune.aggregate import Shortening
from engine.prune.single import CHARS_PER_TOKEN, text_chars
from engine.prune.weights import body_chars, parts_chars
from engine.tokens import utf16_head, utf16_length, utf16_tail, weighted_chars
from engine.transcript import Body, Image, Message, Part, Text

PLACEHOLDER = "[Old tool result content cleared]"
IMAGE_MARKER = "[image of an old tool result removed]"
"""Stands where a picture was."""
TRIM_NOTE = "\n\n[Shortened tool result: the first {} and last {} of {} characters remain]"
GAP = "\n...\n"
"""Between the head and the tail of a trimmed result."""


@dataclass(frozen=True, slots=True)
class CachePruning:
    """When and how far old tool results are pruned. Defaults are the specification's.

    Attributes:
        mode: "off" prunes nothing.
        ttl_ms: the cache is cold after so many milliseconds; 0 prunes nothing.
        keep_last_assistants: results after this many-th last assistant message are protected.
        soft_trim_ratio: share of the window from which results are trimmed, 0…1.
        hard_clear_ratio: share from which they are cleared, 0…1.
        min_prunable_chars: results that weigh less together are not cleared.
        soft_max: characters a result may have untrimmed.
        soft_head: characters kept of its beginning.
        soft_tail: characters kept of its end.
        hard_clear: whether results are cleared at all.
        placeholder: what stands for a cleared result.
        allow: patterns of tool names whose results may be pruned; empty for all.
        deny: patterns of tool names whose results may not; wins over `allow`.
    """

    mode: Literal["off", "cache-ttl"] = "off"
    ttl_ms: int = 5 * 60 * 1000
    keep_last_assistants: int = 3
    soft_trim_ratio: float = 0.3
    hard_clear_ratio: float = 0.5
    min_prunable_chars: int = 50_000
    soft_max: int = 4_000
    soft_head: int = 1_500
    soft_tail: int = 1_500
    hard_clear: bool = True
    placeholder: str = PLACEHOLDER
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def normalised(self) -> "CachePruning":
        """The settings with every figure in its range: shares 0…1, the rest whole and not negative.

        What is not a finite number becomes the default. Vector C11.
        """
        return replace(
            self,
            ttl_ms=_whole(self.ttl_ms, _DEFAULTS.ttl_ms),
            keep_last_assistants=_whole(self.keep_last_assistants, _DEFAULTS.keep_last_assistants),
            soft_trim_ratio=_share(self.soft_trim_ratio, _DEFAULTS.soft_trim_ratio),
            hard_clear_ratio=_share(self.hard_clear_ratio, _DEFAULTS.hard_clear_ratio),
            min_prunable_chars=_whole(self.min_prunable_chars, _DEFAULTS.min_prunable_chars),
            soft_max=_whole(self.soft_max, _DEFAULTS.soft_max),
            soft_head=_whole(self.soft_head, _DEFAULTS.soft_head),
            soft_tail=_whole(self.soft_tail, _DEFAULTS.soft_tail),
        )

    def may_prune(self, tool_name: str) -> bool:
        """Whether results of a tool may be pruned; patterns ignore case, `*` stands for anything."""
        name = tool_name.lower()
        if any(fnmatchcase(name, pattern.lower()) for pattern in self.deny):
            return False
        return not self.allow or any(fnmatchcase(name, pattern.lower()) for pattern in self.allow)


_DEFAULTS = CachePruning()


@dataclass(frozen=True, slots=True)
class CachePlan:
    """What to send of old tool results, and when the cache was last touched.

    Attributes:
        shortenings: the results that change, in this request only.
        touched_ms: now if anything changed, else as it was given; None when it never was.
    """

    shortenings: tuple[Shortening, ...]
    touched_ms: int | None


def plan_cache_pruning(
    bodies: Sequence[Body],
    window_tokens: int,
    settings: CachePruning,
    *,
    now_ms: int,
    touched_ms: int | None,
) -> CachePlan:
    """Prune old tool results if the prefix cache is cold. SPEC2 6; vectors C1 to C12.

    Args:
        bodies: what the model sees.
        window_tokens: the window.
        settings: used as `normalised`.
        now_ms: milliseconds since 1970.
        touched_ms: when the cache was last written or read, None when that is not known.
    """
    settings = settings.normalised()
    nothing = CachePlan((), touched_ms)
    if settings.mode == "off" or touched_ms is None or settings.ttl_ms <= 0:
        return nothing
    if now_ms - touched_ms < settings.ttl_ms:
        return nothing
    candidates = _candidates(bodies, settings)
    shortenings = _plan(bodies, candidates, CHARS_PER_TOKEN * window_tokens, settings)
    return CachePlan(shortenings, now_ms) if shortenings else nothing


def _plan(
    bodies: Sequence[Body],
    candidates: Sequence[tuple[int, Message]],
    window_chars: int,
    settings: CachePruning,
) -> tuple[Shortening, ...]:
    if not candidates or window_chars <= 0:
        return ()
    total = sum(body_chars(body) for body in bodies)
    if total < settings.soft_trim_ratio * window_chars:
        return ()
    now = {index: _trimmed(message.parts, settings) for index, message in candidates}
    before = {index: parts_chars(message.parts) for index, message in candidates}
    weights = {
        index: before[index] if now[index] is message.parts else parts_chars(now[index])
        for index, message in candidates
    }
    total -= sum(before.values()) - sum(weights.values())
    if settings.hard_clear and sum(weights.values()) >= settings.min_prunable_chars:
        limit = settings.hard_clear_ratio * window_chars
        for index in _to_clear(weights, total, limit, weighted_chars(settings.placeholder)):
            now[index] = (Text(settings.placeholder),)
    return tuple(
        Shortening(index, now[index], text_chars(message.parts))
        for index, message in candidates
        if now[index] is not message.parts
    )


def _to_clear(
    weights: Mapping[int, int], total: int, limit: float, placeholder_chars: int
) -> Iterator[int]:
    """The oldest results whose replacement brings the total under the limit."""
    for index, weight in weights.items():
        if total < limit:
            return
        if weight > placeholder_chars:
            total -= weight - placeholder_chars
            yield index


def _candidates(bodies: Sequence[Body], settings: CachePruning) -> tuple[tuple[int, Message], ...]:
    """The tool results between the first user message and the protected end."""
    start = _first_user(bodies)
    end = _protected_from(bodies, settings.keep_last_assistants)
    return tuple(
        (index, body)
        for index in range(start, end)
        if isinstance(body := bodies[index], Message)
        and body.role == "tool_result"
        and settings.may_prune(body.tool_name)
    )


def _first_user(bodies: Sequence[Body]) -> int:
    for index, body in enumerate(bodies):
        if isinstance(body, Message) and body.role == "user":
            return index
    return len(bodies)


def _protected_from(bodies: Sequence[Body], keep_last_assistants: int) -> int:
    """Where the protected end begins; 0 (all) with fewer assistant messages than that."""
    if keep_last_assistants == 0:
        return len(bodies)
    left = keep_last_assistants
    for index in range(len(bodies) - 1, -1, -1):
        body = bodies[index]
        if isinstance(body, Message) and body.role == "assistant":
            left -= 1
            if left == 0:
                return index
    return 0


def _trimmed(parts: tuple[Part, ...], settings: CachePruning) -> tuple[Part, ...]:
    """Head, gap, tail and note of a long result, markers for its pictures; else the same object."""
    marked = parts
    if any(isinstance(part, Image) for part in parts):
        marked = tuple(Text(IMAGE_MARKER) if isinstance(p, Image) else p for p in parts)
    chars = text_chars(marked)
    if chars <= settings.soft_max:
        return marked
    text = "".join(part.text for part in marked if isinstance(part, Text))
    head, tail = settings.soft_head, settings.soft_tail
    note = TRIM_NOTE.format(head, tail, chars)
    trimmed = f"{utf16_head(text, head)}{GAP}{utf16_tail(text, tail)}{note}"
    return (Text(trimmed),) if utf16_length(trimmed) < chars else marked


def _whole(value: float, default: int) -> int:
    return max(0, math.floor(value)) if math.isfinite(value) else default


def _share(value: float, default: float) -> float:
    return min(1.0, max(0.0, value)) if math.isfinite(value) else default
