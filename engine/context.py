"""The state of a conversation's context window, and what to do about it. Pure.

::

    path ─▶ visible ─▶ weights ─▶ count ─▶ budget ─▶ route ─┬─ fits ─▶ send
                                                            ├─ shorten tool results
                                                            └─ compact (then shorten)

One value, `ContextView`, is what the session acts on, what `explain` prints and what the meter
shows: they cannot disagree. It counts nothing itself: weights and the count of the whole prompt come
from whoever can ask the backend (`engine.weighing`, `Backend.count`).
"""

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property

from engine.budget import Budget, RoutePlan, Targets, plan_budget, plan_route, plan_targets
from engine.compact import (
    CompactionPlan,
    NothingToCompact,
    SummaryWishes,
    Urgency,
    plan_compaction,
)
from engine.events import CompactionMode
from engine.prune import (
    CachePruning,
    Order,
    Shortening,
    apply_shortenings,
    plan_cache_pruning,
    plan_loop_guard,
    plan_session_prune,
    reducible_chars,
    result_cap_chars,
)
from engine.thinking import (
    DEFAULT_HISTORY,
    ThinkingHistory,
    plan_history,
)
from engine.tokens import (
    SAFETY_MARGIN,
    UNCALIBRATED,
    Calibration,
    Count,
    estimate_text,
    find_anchor,
)
from engine.transcript import Compaction, Custom, Entry, Message, last_compaction
from engine.undoing import stands_undone
from engine.view import SHORTENED, pinned_ids, plan_visible

_SHORTEST_SUMMARY = 64
MIN_REPLY_TOKENS = 512
"""A prompt that leaves less room than this for the reply is not worth sending."""
UNDONE_RESERVE = 2 * MIN_REPLY_TOKENS
"""The reserve while an undone compaction's originals are wanted: they are sent while they fit."""


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """How a window is managed; tokens, characters, seconds. Defaults are the specification's.

    `thinking_history` is the model's rule for what it thought before.
    """

    enabled: bool = True
    mode: CompactionMode = "automatic"
    reserve_tokens: int = 20_000
    reserve_floor: int = 20_000
    keep_recent: int = 20_000
    in_place: bool = True
    wishes: SummaryWishes = SummaryWishes()
    timeout_seconds: float = 900.0
    result_chars: int = 0
    order: Order = "newest_first"
    cache: CachePruning = field(default_factory=CachePruning)
    thinking_history: ThinkingHistory = DEFAULT_HISTORY


@dataclass(frozen=True)
class ContextView:
    """A conversation's context for one model.

    Attributes:
        path: root to leaf.
        visible: what the model sees of it, in order; without thinking that is not sent again.
        weights: tokens of each entry of the path, by id, the margin of an estimate included.
        count: tokens of the whole prompt.
        fixed_tokens: what no compaction can fold: system prompt, tools, the template's frame.
        budget: the divided window.
        settings: how it is managed.
        ceiling: the most tokens the prompt may have, where what runs the model would cut it in
            silence (`engine.caution`); 0 where it would refuse it.
        urgency: how much a compaction matters. If it was asked for or must be, summary and exact
            values are scaled to what there is, so that a short conversation can be folded too.
        thinking: how much of their weight is thinking, of the visible entries that have some.
        sees_images: whether the model gets the pictures of what is visible.
    """

    path: tuple[Entry, ...]
    visible: tuple[Entry, ...]
    weights: Mapping[str, int]
    count: Count
    fixed_tokens: int
    budget: Budget
    settings: ContextSettings
    urgency: Urgency = "usual"
    thinking: Mapping[str, int] = field(default_factory=dict)
    sees_images: bool = False
    ceiling: int = 0

    @cached_property
    def targets(self) -> Targets:
        """What a compaction would aim at."""
        targets = plan_targets(
            self.budget, fixed_tokens=self.fixed_tokens, keep_recent=self.settings.keep_recent
        )
        if self.urgency == "usual":
            return targets
        said = max(0, self.count.tokens - self.fixed_tokens)
        return replace(
            targets,
            summary_cap=min(targets.summary_cap, max(_SHORTEST_SUMMARY, said // 4)),
            facts_cap=min(targets.facts_cap, max(_SHORTEST_SUMMARY, said // 10)),
        )

    @cached_property
    def cap_chars(self) -> int:
        """The most characters of one tool result, and of all together."""
        override = self.settings.result_chars or None
        return max(1, result_cap_chars(self.budget.window, override))

    @cached_property
    def reducible_chars(self) -> int:
        """Characters that shortening tool results would save."""
        # a result that was put in where one was missing has no entry, and nothing to shorten
        return reducible_chars([e.body for e in self.visible if e.id], self.cap_chars)

    @cached_property
    def route(self) -> RoutePlan:
        """Which way to go before this prompt is sent."""
        return plan_route(self.count.tokens, self.budget, self.reducible_chars)

    @cached_property
    def weight(self) -> int:
        """What its parts weigh together: comparable with another context of the same conversation,
        also where one of the two counts is anchored and the other estimated.
        """
        if self.count.kind == "exact":
            return self.count.tokens
        return self.fixed_tokens + sum(self.weights.get(entry.id, 0) for entry in self.visible)

    @property
    def leaf(self) -> str | None:
        """The last entry of the path."""
        return self.path[-1].id if self.path else None


def plan_view(
    path: Sequence[Entry],
    weights: Mapping[str, int],
    count: Count,
    window_tokens: int,
    settings: ContextSettings,
    *,
    factor: float = 1.0,
    thinking_tokens: int = 0,
) -> ContextView:
    """The context of a path.

    `path` is effective (`engine.undoing`). `weights` are plain; `factor` is the margin of an estimate times the model's calibration, and
    1 for exact counts. Exact weights have no thinking in them: `thinking_tokens` is what that takes
    of the whole prompt.
    """
    visible = plan_seen(path, settings)
    settings = _for_path(path, settings)
    if factor != 1.0:
        weights = {id_: math.ceil(tokens * factor) for id_, tokens in weights.items()}
    thinking, fixed = _thinking(visible, factor), 0
    if count.kind == "exact":
        thinking = _shared(thinking, thinking_tokens)
        weights = {**weights, **{id_: weights.get(id_, 0) + t for id_, t in thinking.items()}}
        get = weights.get
        fixed = max(0, count.tokens - sum([get(entry.id, 0) for entry in visible]))
    budget = plan_budget(window_tokens, settings.reserve_tokens, settings.reserve_floor)
    return ContextView(
        tuple(path), visible, weights, count, fixed, budget, settings, thinking=thinking
    )


def plan_seen(path: Sequence[Entry], settings: ContextSettings) -> tuple[Entry, ...]:
    """What the model sees of a path (effective), without the thinking it does not get again."""
    return plan_history(plan_visible(path), settings.thinking_history)


def _for_path(path: Sequence[Entry], settings: ContextSettings) -> ContextSettings:
    """The settings as they hold here: the originals are wanted where a compaction was undone."""
    if not stands_undone(path):
        return settings
    return replace(settings, reserve_tokens=UNDONE_RESERVE, reserve_floor=0)


def _thinking(visible: Sequence[Entry], factor: float) -> dict[str, int]:
    """About what the thinking in the visible entries takes, by id; tokens."""
    bodies = ((e.id, e.body.thinking) for e in visible if isinstance(e.body, Message) and e.id)
    return {id_: math.ceil(estimate_text(text) * factor) for id_, text in bodies if text}


def _shared(parts: Mapping[str, int], tokens: int) -> dict[str, int]:
    """So many tokens, parted as these are."""
    whole, passed, given = sum(parts.values()), 0, 0
    shares: dict[str, int] = {}
    for id_, part in parts.items():
        passed += part
        until = tokens * passed // whole if whole else 0
        shares[id_], given = until - given, until
    return shares


def plan_uncounted(
    path: Sequence[Entry],
    weights: Mapping[str, int],
    window_tokens: int,
    settings: ContextSettings,
    *,
    system_tokens: int,
    calibration: Calibration,
    model: str,
) -> ContextView:
    """The context of a path (effective) whose prompt nobody can count: anchored, or estimated.

    `weights` and `system_tokens` are plain estimates; the margin is put on here.
    """
    count = plan_estimate(
        path,
        plan_seen(path, settings),
        weights,
        system_tokens=system_tokens,
        calibration=calibration,
        model=model,
    )
    factor = SAFETY_MARGIN * calibration.ratio
    view = plan_view(path, weights, count, window_tokens, settings, factor=factor)
    return with_fixed(view, round(system_tokens * factor))


def weighed_entries(path: Sequence[Entry], settings: ContextSettings) -> tuple[Entry, ...]:
    """The entries of a path (effective) whose weights a view needs: visible ones, folded pins.

    All of them where the summary is a placeholder: it is written anew from the messages. Each as
    it is sent, or would be if it were seen again.
    """
    visible = plan_seen(path, settings)
    shown = {entry.id for entry in visible}
    wanted = None if stands_degraded(path) else pinned_ids(path)  # None: all of them
    originals = [e for e in path if e.id not in shown and (wanted is None or e.id in wanted)]
    return (*visible, *sent_alone(originals, settings))


def sent_alone(entries: Sequence[Entry], settings: ContextSettings) -> tuple[Entry, ...]:
    """Entries as they would be sent, if they were seen again: no turn runs around them."""
    rule: ThinkingHistory = "keep" if settings.thinking_history == "keep" else "drop"
    return plan_history(entries, rule)


def with_settings(view: ContextView, settings: ContextSettings) -> ContextView:
    """The same context, managed otherwise."""
    return with_window(view, view.budget.window, settings)


def with_window(view: ContextView, window_tokens: int, settings: ContextSettings) -> ContextView:
    """The same context in another window, managed otherwise; what is sent stays as it was counted."""
    settings = replace(settings, thinking_history=view.settings.thinking_history)
    settings = _for_path(view.path, settings)
    budget = plan_budget(window_tokens, settings.reserve_tokens, settings.reserve_floor)
    return replace(view, budget=budget, settings=settings, urgency="usual")


def with_fixed(view: ContextView, fixed_tokens: int) -> ContextView:
    """The same view, knowing what its system prompt and tools weigh (for estimates)."""
    return replace(view, fixed_tokens=fixed_tokens)


def plan_estimate(
    path: Sequence[Entry],
    visible: Sequence[Entry],
    weights: Mapping[str, int],
    *,
    system_tokens: int,
    calibration: Calibration,
    model: str,
) -> Count:
    """The size of a prompt that nobody can count: anchored on real usage, or estimated.

    Anchored: what the server reported for the last reply, plus what came after it. Usage from
    before the last compaction or before results were shortened is stale and does not count.
    """
    anchor = find_anchor(path, model)
    if anchor is not None and _shortened_after(path, anchor.index):
        anchor = None
    read_to = _last_report(path) if anchor is None else anchor.index
    old = {entry.id for entry in path[: read_to + 1]}
    new = sum(weights.get(e.id, 0) for e in _after(visible, old))
    new = _with_margin(new, _at_least_one(calibration))
    if anchor is not None:
        unsent = _unsent_thinking(path[anchor.index], visible, weights, calibration)
        return Count(anchor.tokens - unsent + new, "anchored")
    read = sum(weights.get(entry.id, 0) for entry in visible) - sum(
        weights.get(e.id, 0) for e in _after(visible, old)
    )
    return Count(_with_margin(system_tokens + read, calibration) + new, "estimated")


def _unsent_thinking(
    reply: Entry,
    visible: Sequence[Entry],
    weights: Mapping[str, int],
    calibration: Calibration,
) -> int:
    """What was written of a reply and is not sent again: its thinking; tokens, rather too few.

    What is sent of it is estimated, with the margin: only the two together were reported.
    """
    body = reply.body
    assert isinstance(body, Message)
    sent = next((e.body for e in visible if e.id == reply.id), None)
    if body.usage is None or not body.thinking or sent is body or sent == body:
        return 0
    kept = _with_margin(weights.get(reply.id, 0), _at_least_one(calibration))
    return max(0, body.usage.written_tokens - kept)


def _after(visible: Sequence[Entry], old: AbstractSet[str]) -> Sequence[Entry]:
    """What comes after the last of the old entries, results that were put in included."""
    for index in range(len(visible) - 1, -1, -1):
        if visible[index].id in old:
            return visible[index + 1 :]
    return visible


def _last_report(path: Sequence[Entry]) -> int:
    """Index of the last reply that was reported, by whatever model; −1 for none."""
    for index in range(len(path) - 1, -1, -1):
        body = path[index].body
        if isinstance(body, Message) and body.role == "assistant" and body.usage is not None:
            return index
    return -1


def _at_least_one(calibration: Calibration) -> Calibration:
    """For what no model has read yet: it may be in another script than what was learned from."""
    return calibration if calibration.ratio > 1 else UNCALIBRATED


def plan_folding(view: ContextView) -> CompactionPlan | NothingToCompact:
    """What a compaction of this context would fold and keep."""
    return plan_compaction(
        view.path,
        view.weights,
        view.targets,
        fixed_tokens=view.fixed_tokens,
        budget_tokens=view.budget.prompt,
        pinned=pinned_ids(view.path),
        urgency=view.urgency,
    )


def plan_shortenings(view: ContextView) -> dict[str, str]:
    """New texts for tool results, by entry id, that bring them under their caps (SPEC1 12.4).

    The results of the running turn keep at least 2,000 characters each where that is possible.
    """
    stored = [entry for entry in view.visible if entry.id]
    shortenings = plan_session_prune(
        [entry.body for entry in stored],
        view.cap_chars,
        order=view.settings.order,
        fresh_from=_turn_start(stored),
    )
    return texts_by_id(stored, shortenings)


def plan_sent(view: ContextView) -> tuple[Entry, ...]:
    """What is visible as it goes into one request: results shortened there and nowhere else.

    Old results when the conversation rested so long that nothing of it is cached any more (SPEC2 6,
    off by default), and in a running tool turn every result that fills half the window.
    """
    visible = view.visible
    bodies = [entry.body for entry in visible]
    settings, window = view.settings.cache, view.budget.window
    changes = list(
        plan_cache_pruning(
            bodies, window, settings, now_ms=_now(view.path), touched_ms=_touched(view.path)
        ).shortenings
    )
    if is_tool_turn(visible):
        pruned = apply_shortenings(bodies, changes)
        changes += plan_loop_guard(pruned, window).shortenings
    if not changes:
        return visible
    sent = apply_shortenings(bodies, changes)
    return tuple(
        entry if entry.body is body else replace(entry, body=body)
        for entry, body in zip(visible, sent, strict=True)
    )


def is_tool_turn(visible: Sequence[Entry]) -> bool:
    """Whether the running turn has tool results: the model is about to be called again."""
    start = _turn_start(visible)
    return any(
        isinstance(entry.body, Message) and entry.body.role == "tool_result"
        for entry in visible[start:]
    )


def guard_trips(view: ContextView) -> bool:
    """Whether an uncounted prompt of a tool turn weighs more than the window by its characters."""
    if view.count.kind == "exact" or not is_tool_turn(view.visible):
        return False
    return plan_loop_guard([entry.body for entry in view.visible], view.budget.window).overflow


def texts_by_id(visible: Sequence[Entry], shortenings: Sequence[Shortening]) -> dict[str, str]:
    """Shortenings by entry id; synthetic results (no id) have nothing to shorten."""
    return {
        visible[change.index].id: change.text for change in shortenings if visible[change.index].id
    }


def plan_room(budget: Budget, targets: Targets, *, fixed_tokens: int, has_history: bool) -> int:
    """The most tokens one message may have: what is left when everything else is folded."""
    others = fixed_tokens
    if has_history:
        others += targets.summary_cap + targets.facts_cap
    return max(0, budget.prompt - others)


def plan_message_room(view: ContextView, fixed_tokens: int = 0) -> int:
    """The most tokens one more message may have in this context.

    `fixed_tokens` counts where the view does not know what no compaction can fold.
    """
    return plan_room(
        view.budget,
        view.targets,
        fixed_tokens=view.fixed_tokens or fixed_tokens,
        has_history=any(isinstance(entry.body, Message) for entry in view.visible),
    )


def stands_degraded(path: Sequence[Entry]) -> bool:
    """Whether the summary that counts is a placeholder, written when no model could."""
    index = last_compaction(path)
    if index is None:
        return False
    body = path[index].body
    return isinstance(body, Compaction) and body.facts.get("degraded") is True


def _now(path: Sequence[Entry]) -> int:
    """When the last thing was said; milliseconds since 1970."""
    return path[-1].created_at if path else 0


def _touched(path: Sequence[Entry]) -> int | None:
    """When the model last read the conversation: its last reply that was reported; None if never."""
    for entry in reversed(path):
        body = entry.body
        if isinstance(body, Message) and body.role == "assistant" and body.usage is not None:
            return entry.created_at
    return None


def _turn_start(visible: Sequence[Entry]) -> int:
    """Where the running turn begins: the last thing the user said."""
    for index in range(len(visible) - 1, -1, -1):
        body = visible[index].body
        if isinstance(body, Message) and body.role == "user":
            return index
    return 0


def _shortened_after(path: Sequence[Entry], index: int) -> bool:
    return any(
        isinstance(entry.body, Custom) and entry.body.custom_type == SHORTENED
        for entry in path[index + 1 :]
    )


def _with_margin(tokens: int, calibration: Calibration) -> int:
    return math.ceil(SAFETY_MARGIN * calibration.apply(tokens))
