"""What the client tells and answers, with the engine's sentences in the user's language. Pure."""

import copy
from dataclasses import replace
from typing import Any, TypeVar, cast

from app.client.library import Holdings
from app.client.models import WindowFacts
from app.client.preferences import SettingsState
from app.client.values import (
    Conversation,
    Failed,
    Fetching,
    ItemsChanged,
    ModelRow,
    Notice,
    Pull,
    Pulling,
    WindowKnown,
)
from app.client.window_truth import ModelTruth
from app.items import Item, Receipt, ReplyItem
from app.sentences import localized as words
from engine.errors import EnvironmentFault

T = TypeVar("T")


def localized(value: T) -> T:
    """The same value, to be shown; what has no sentence of the engine in it is returned as it is."""
    return cast("T", _spoken(value))


def _spoken(value: object) -> object:
    match value:
        case Conversation() | ItemsChanged():
            return _with_items(value)
        case SettingsState(window=window, problems=problems):
            told = tuple(words(problem) for problem in problems)
            return replace(value, window=localized(window), problems=told, **_said(value))
        case EnvironmentFault():
            return _fault(value)
        case tuple():
            return tuple(_spoken(one) for one in value)
        case dict():  # why a backend has no models, by backend
            return {key: words(one) if isinstance(one, str) else one for key, one in value.items()}
        case Notice() | Failed() | Fetching() | WindowKnown() | WindowFacts():
            return replace(value, **_said(value))
        case ModelRow() | ModelTruth() | Pull() | Holdings():
            return replace(value, **_said(value))
        case Pulling(pulls=pulls):
            return Pulling(localized(pulls))
    return value


_SAID: dict[type, tuple[str, ...]] = {
    Conversation: ("window", "guard_text"),
    Failed: ("sentence", "remedy"),
    Fetching: ("error",),
    ItemsChanged: (),
    ModelRow: ("details", "reason"),
    ModelTruth: ("remedy", "problem"),
    Holdings: ("problem",),
    Notice: ("text",),
    Pull: ("error", "remedy"),
    Receipt: ("mismatch", "cure"),
    ReplyItem: ("error", "remedy"),
    SettingsState: ("window_why",),
    WindowFacts: ("words", "guard_text"),
    WindowKnown: ("window", "guard_text"),
}
"""Where a value holds sentences of the engine."""


def _said(value: object) -> dict[str, Any]:
    return {name: words(getattr(value, name)) for name in _SAID[type(value)]}


def _with_items(value: Conversation | ItemsChanged) -> Conversation | ItemsChanged:
    return replace(value, items=_items(value.items), **_said(value))


def _items(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """Replies say why they failed, or were read otherwise; the rest is in the user's words."""
    if not any(isinstance(item, ReplyItem) and _says(item) for item in items):
        return items
    return tuple(_reply(item) if isinstance(item, ReplyItem) else item for item in items)


def _says(item: ReplyItem) -> bool:
    return bool(item.error or (item.receipt is not None and item.receipt.mismatch))


def _reply(item: ReplyItem) -> ReplyItem:
    receipt = item.receipt
    if receipt is not None:
        receipt = replace(receipt, **_said(receipt))
    return replace(item, receipt=receipt, **_said(item))


def _fault(fault: EnvironmentFault) -> EnvironmentFault:
    """A fault of the same kind that says it in other words."""
    spoken = copy.copy(fault)
    spoken.sentence, spoken.remedy = words(fault.sentence), words(fault.remedy)
    spoken.__cause__ = fault.__cause__
    return spoken
