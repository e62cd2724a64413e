"""How large a context is, when the backend cannot say before it reads it.

::

    path ── … ─ compaction ─ … ─ reply with usage ─ message ─ message
                                 └── anchor ────┘   └─ estimated ───┘
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from engine.events import CountKind
from engine.tokens.calibration import UNCALIBRATED, Calibration
from engine.tokens.spec import SAFETY_MARGIN, is_runtime_context
from engine.transcript import Body, Compaction, Custom, Entry, Message, visible_entries
from engine.undoing import is_undoing

_MOST_CHARS = 40
"""Characters a token can have in a text of some length; a prompt grows by more than this tells."""
_UNFINISHED = frozenset({"stopped", "failed", "interrupted"})


@dataclass(frozen=True, slots=True)
class Count:
    """The size of a context in tokens, and how it is known."""

    tokens: int
    kind: CountKind


class Weighed(NamedTuple):
    """An entry and what it adds to a prompt, in tokens; plans make them by the thousand."""

    entry: Entry
    tokens: int


@dataclass(frozen=True, slots=True)
class Anchor:
    """A reply whose backend reported its size.

    `index` is its place on the path; `tokens` everything up to and with it: its prompt (system
    prompt and template included) and what was written.
    """

    index: int
    tokens: int


def find_anchor(path: Sequence[Entry], model: str = "") -> Anchor | None:
    """The last reply on a path that tells how large the context was (context-engine.md 3.2).

    Never one from before the last compaction or the undoing of one (its figures are of a context that
    is gone), never one that was stopped, failed or interrupted, and, if `model` is named, never another model's. Some
    servers report only the tokens they newly read: where a prompt is hardly larger than the one
    before it, whatever was said between, nothing that was reported can be built on.
    """
    found: Anchor | None = None
    later, said, changed = 0, 0, False  # the later prompt; characters since; whether it was pruned
    for index in range(len(path) - 1, -1, -1):
        body = path[index].body
        if isinstance(body, Compaction) or is_undoing(body):
            break
        changed = changed or isinstance(body, Custom)
        said += len(body.text) if isinstance(body, Message) else 0
        tokens = _reported(body, model) if isinstance(body, Message) else 0
        if tokens <= 0 or not isinstance(body, Message) or body.usage is None:
            continue
        prompt = body.usage.prompt_tokens
        if found is not None and not changed and later < prompt + said // _MOST_CHARS:
            return None
        found = found or Anchor(index, tokens)
        later, said, changed = prompt, len(body.text), False
    return found


def reports_in_part(path: Sequence[Entry], model: str = "") -> bool:
    """Whether the replies since the last compaction report, and not the whole of their prompts."""
    for entry in reversed(path):
        if isinstance(entry.body, Compaction) or is_undoing(entry.body):
            return False
        if isinstance(entry.body, Message) and _reported(entry.body, model):
            return find_anchor(path, model) is None
    return False


def plan_count(
    path: Sequence[Entry],
    weigh: Callable[[Body], int],
    *,
    fixed_tokens: int = 0,
    model: str = "",
    calibration: Calibration = UNCALIBRATED,
) -> Count:
    """The size of what the model sees of a path, rather too large than too small.

    Args:
        path: root to leaf.
        weigh: estimates what a body adds to a prompt, in tokens.
        fixed_tokens: estimate for what is in every prompt (system prompt, tool schemas); an anchor
            has it in its figure already.
        model: whose usage counts; empty for any.
        calibration: what is known of the estimates for this model.

    Only what is estimated carries the safety margin.
    """
    anchor = find_anchor(path, model)
    if anchor is not None:
        later = _estimate(path[anchor.index + 1 :], weigh)
        return Count(anchor.tokens + _with_margin(later, calibration), "anchored")
    total = fixed_tokens + _estimate(visible_entries(path), weigh)
    return Count(_with_margin(total, calibration), "estimated")


def _reported(reply: Message, model: str) -> int:
    """Tokens a reply's usage reports for the context up to and with it; 0 if it does not count."""
    if reply.role != "assistant" or reply.usage is None or reply.stop_reason in _UNFINISHED:
        return 0
    if model and reply.model != model:
        return 0
    receipt = (reply.details or {}).get("receipt")
    if isinstance(receipt, Mapping) and receipt.get("mismatch"):
        return 0  # it was not read as it was sent: its figures are not the conversation's
    return reply.usage.prompt_tokens + reply.usage.written_tokens


def _estimate(entries: Iterable[Entry], weigh: Callable[[Body], int]) -> int:
    return sum(weigh(entry.body) for entry in entries if not is_runtime_context(entry.body))


def _with_margin(tokens: int, calibration: Calibration) -> int:
    return math.ceil(tokens * calibration.ratio * SAFETY_MARGIN)
