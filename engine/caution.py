"""What may be sent to a server that would cut a prompt in silence instead of refusing it. Pure.

Elsewhere an estimate that is too low is put right by the refusal. Here nothing would tell: the
beginning of the conversation would be gone. So the prompt, and the reply beside it, are kept within
the window by the largest figure the estimate may stand for, the view's `ceiling`::

    the model has counted a prompt before    the estimate as it is, and one token in 25
    it never has                             twice the estimate, its margin included

and one token less than the window, at which such a server begins to cut.
"""

from dataclasses import replace

from engine.context import MIN_REPLY_TOKENS, ContextView
from engine.tokens import UNCALIBRATED, Calibration

MOST_UNDERCOUNT = 2
"""So many times its estimate a prompt may have, in a tokenizer that nothing is known of."""
_UNSURE = 25
"""One token in so many, of a prompt that was not counted."""


def with_ceiling(view: ContextView, calibration: Calibration) -> ContextView:
    """A context for such a server; `calibration` is what is known of estimates for the model.

    Its budget allows no prompt that would not be sent, so that it is folded to what will be.
    """
    tokens, room = view.count.tokens, view.budget.window - MIN_REPLY_TOKENS - 1
    if calibration == UNCALIBRATED:
        ceiling, most = MOST_UNDERCOUNT * tokens, room // MOST_UNDERCOUNT
    else:
        ceiling, most = _with_unsure(view), room * _UNSURE // (_UNSURE + 1)
    prompt = max(1, min(view.budget.prompt, most))
    budget = replace(view.budget, prompt=prompt, reserve=view.budget.window - prompt)
    return replace(view, budget=budget, ceiling=ceiling + 1)


def most_tokens(view: ContextView) -> int:
    """What a prompt may need, so that the reply does not ask for it."""
    return max(_with_unsure(view), view.ceiling)


def fits(view: ContextView) -> bool:
    """Whether a context can be sent at all, with the least room for a reply."""
    return max(view.count.tokens, view.ceiling) + MIN_REPLY_TOKENS <= view.budget.window


def plan_limit(limit_tokens: int, calibration: Calibration) -> int:
    """What request and reply may have together, by estimates that know nothing of the model."""
    factor = calibration.ratio if calibration != UNCALIBRATED else MOST_UNDERCOUNT
    return max(1, int((limit_tokens - 1) / max(1.0, factor)))


def _with_unsure(view: ContextView) -> int:
    tokens = view.count.tokens
    return tokens if view.count.kind == "exact" else tokens + tokens // _UNSURE
