"""What to try next when a template refuses a conversation, or drops a part of it.

An `Attempt` is a set of moves: forms of the variables (`DIALECTS`, nothing of the conversation
changes) and repairs (`RESHAPES`). Attempts are tried in the order of their cost, from the failures
seen so far: only moves that can mend what failed are added, and a move that made no difference is
not built upon. At the end stand a few attempts that make the conversation as plain as it gets.

Pure: the same failures lead to the same attempts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Final, Literal

from engine.backends.llamacpp_worker.templates_turns import RESHAPES, ReshapeName, Turn

DialectName = Literal[
    "tools_list", "arguments_text", "content_none", "short_ids", "without_thinking"
]
Move = DialectName | ReshapeName
Missing = Literal["system", "user", "reply", "calls", "results"]

DIALECTS: Final[dict[DialectName, str]] = {
    "tools_list": "an empty list of tools instead of none",
    "arguments_text": "tool arguments as JSON text",
    "content_none": "no content instead of empty content beside tool calls",
    "short_ids": "tool call ids of nine letters and digits",
    "without_thinking": "without the thinking of older replies",
}
"""How variables can be passed, by name."""

_COSTS: Final[dict[Move, int]] = {
    "tools_list": 1,
    "arguments_text": 1,
    "content_none": 1,
    "short_ids": 1,
    "without_thinking": 2,
    "leave_out_empty": 3,
    "merge_same": 4,
    "fold_first_reply": 5,
    "fold_system": 6,
    "calls_as_text": 12,
    "results_as_text": 12,
}
_MENDS: Final[dict[Missing, frozenset[Move]]] = {
    "system": frozenset({"fold_system"}),
    "user": frozenset({"merge_same", "fold_first_reply"}),
    "reply": frozenset({"calls_as_text", "merge_same", "fold_first_reply", "without_thinking"}),
    "calls": frozenset({"arguments_text", "content_none", "calls_as_text"}),
    "results": frozenset({"results_as_text"}),
}
_NO_TOOLS: Final[tuple[Move, ...]] = ("calls_as_text", "results_as_text", "leave_out_empty")
_PLAINEST: Final[tuple[tuple[Move, ...], ...]] = (
    _NO_TOOLS,
    (*_NO_TOOLS, "merge_same"),
    (*_NO_TOOLS, "merge_same", "fold_first_reply"),
    (*_NO_TOOLS, "merge_same", "fold_first_reply", "fold_system"),
)
_PLAINEST_FORMS: Final[tuple[tuple[Move, ...], ...]] = ((), ("tools_list", "without_thinking"))
_MOST_SEARCHED: Final = 40


@dataclass(frozen=True, slots=True)
class Attempt:
    """One way to render: a set of moves. The empty one is the conversation as it is."""

    moves: frozenset[Move] = frozenset()

    @property
    def reshapes(self) -> tuple[ReshapeName, ...]:
        """The repairs, in the order they are made."""
        return tuple(name for name in RESHAPES if name in self.moves)

    @property
    def dialect(self) -> tuple[str, ...]:
        """The unusual forms of the variables, in words."""
        return tuple(words for name, words in DIALECTS.items() if name in self.moves)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an attempt did not work: the template's error, or what was missing in the prompt."""

    error: str = ""
    missing: frozenset[tuple[Missing, int]] = frozenset()

    def can_be_mended_by(self, move: Move) -> bool:
        """Whether a move has to do with what failed."""
        return bool(self.error) or any(move in _MENDS[part] for part, _ in self.missing)


class Attempts:
    """Proposes attempts for one conversation; told of each failure, it proposes the next.

    Args:
        turns: the conversation.
        has_tools: whether tools are offered to the model.
    """

    def __init__(self, turns: Sequence[Turn], *, has_tools: bool) -> None:
        self._possible = _possible_moves(turns, has_tools=has_tools)
        self._has_calls = any(turn.calls for turn in turns)
        self._failures: dict[Attempt, Failure] = {}
        self._waiting: list[tuple[int, int, Attempt, Attempt | None]] = []
        self._last: tuple[Attempt, Attempt | None] = (Attempt(), None)
        self._seen: set[Attempt] = set()
        self._plainest = [
            Attempt(frozenset((*moves, *forms)) & self._possible)
            for forms in _PLAINEST_FORMS
            for moves in _PLAINEST
        ]
        self._offer(Attempt(), None)

    def next(self) -> Attempt | None:
        """The next attempt; None when there is none left."""
        if self._waiting and len(self._failures) < _MOST_SEARCHED:
            _, _, attempt, origin = heappop(self._waiting)
            self._last = (attempt, origin)
            return attempt
        while self._plainest:
            attempt = self._plainest.pop(0)
            if attempt not in self._failures:
                self._last = (attempt, None)
                return attempt
        return None

    def failed(self, failure: Failure) -> None:
        """The attempt given last failed."""
        attempt, origin = self._last
        self._failures[attempt] = failure
        if origin is not None and self._failures[origin] == failure:
            return  # the move made no difference
        for move in _COSTS:
            if move in self._possible - attempt.moves and failure.can_be_mended_by(move):
                self._offer(Attempt(attempt.moves | self._with_partner(move)), attempt)

    def _with_partner(self, move: Move) -> frozenset[Move]:
        """Results are not told as text while their calls are not."""
        if move == "results_as_text" and self._has_calls:
            return frozenset({move, "calls_as_text"})
        return frozenset({move})

    def _offer(self, attempt: Attempt, origin: Attempt | None) -> None:
        if attempt not in self._seen:
            self._seen.add(attempt)
            cost = sum(_COSTS[move] for move in attempt.moves)
            heappush(self._waiting, (cost, len(self._seen), attempt, origin))


def _possible_moves(turns: Sequence[Turn], *, has_tools: bool) -> frozenset[Move]:
    """The moves that would change anything in these turns."""
    roles = [turn.role for turn in turns]
    spoken = [role for role in roles if role != "system"]
    has_calls = any(turn.calls for turn in turns)
    applies: dict[Move, bool] = {
        "tools_list": not has_tools,
        "arguments_text": has_calls,
        "content_none": any(turn.calls and not turn.content for turn in turns),
        "short_ids": has_calls or "tool" in roles,
        "without_thinking": any(turn.thinking for turn in turns),
        "fold_system": "system" in roles,
        "leave_out_empty": any(
            turn.role == "assistant" and not turn.content and not turn.calls for turn in turns
        ),
        "merge_same": len(turns) > 1,
        "fold_first_reply": bool(spoken) and spoken[0] == "assistant",
        "calls_as_text": has_calls,
        "results_as_text": "tool" in roles,
    }
    return frozenset(move for move, does in applies.items() if does)
