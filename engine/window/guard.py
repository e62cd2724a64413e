"""Whether a window is allowed (SPEC1 12.3.3), and what to say when it is not.

Below the hard minimum nothing is sent; below the warning line the model is used and the user told.
Both say the figure, where it comes from, the limit, and, for a model that runs in the user's own
house, what to change and where.
"""

from dataclasses import dataclass

from engine.errors import WindowBlocked
from engine.window.resolution import ContextWindow, Source, positive_tokens

HARD_MIN_TOKENS = 16_000
WARN_BELOW_TOKENS = 32_000

MOST_STRETCH = 2
"""Stretching is advised up to this many times the trained window; beyond, nothing was measured."""


@dataclass(frozen=True, slots=True)
class Guard:
    """The verdict on a window; `block` implies a window under `hard_min_tokens`. Tokens.

    `warn` and `block` are independent: both are true of a small window under the usual limits.
    """

    tokens: int
    warn: bool
    block: bool
    hard_min_tokens: int = HARD_MIN_TOKENS
    warn_below_tokens: int = WARN_BELOW_TOKENS


def plan_guard(
    tokens: float, hard_min: float = HARD_MIN_TOKENS, warn_below: float = WARN_BELOW_TOKENS
) -> Guard:
    """Judge a window against the two limits.

    All three are floored, the limits are at least 1. A window of 0, and one that is no finite
    number, is an unknown one and neither warned of nor blocked: resolution never yields it.
    """
    whole = positive_tokens(tokens) or 0
    least = positive_tokens(hard_min) or 1
    comfortable = positive_tokens(warn_below) or 1
    return Guard(whole, 0 < whole < comfortable, 0 < whole < least, least, comfortable)


def suggested_window(limit_tokens: int) -> int:
    """The window to offer for a limit: the next whole KiB of tokens, 16,384 for 16,000."""
    return -(-limit_tokens // 1024) * 1024


# ---- words --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GuardWords:
    """What to tell about a window: a sentence, and what to do (empty for a distant server)."""

    sentence: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.sentence} {self.remedy}".strip()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model runs, as far as advice depends on it.

    `self_hosted`: the user can change it (see `is_self_hosted`; llama.cpp always is).
    `can_stretch`: a window larger than the trained one is possible (llama.cpp, not Ollama).
    """

    self_hosted: bool = True
    can_stretch: bool = False


def guard_words(
    model: str, window: ContextWindow, guard: Guard, endpoint: Endpoint
) -> GuardWords | None:
    """What the user must know about a window; None when there is nothing to say.

    `model` is the name as the user writes it. Blocking words win over a warning.
    """
    if not guard.warn and not guard.block:
        return None
    origin = source_words(window.source, model)
    if guard.block:
        sentence = (
            f"{model} cannot be used: its context window is {guard.tokens:,} tokens ({origin}), "
            f"and at least {guard.hard_min_tokens:,} are needed."
        )
    else:
        sentence = (
            f"{model} has a small context window: {guard.tokens:,} tokens ({origin}), under the "
            f"{guard.warn_below_tokens:,} that long conversations need."
        )
    if not endpoint.self_hosted:
        return GuardWords(sentence, "")
    limit = guard.hard_min_tokens if guard.block else guard.warn_below_tokens
    return GuardWords(sentence, _remedy(model, window, suggested_window(limit), endpoint))


def window_blocked(words: GuardWords, window_tokens: int = 0) -> WindowBlocked:
    """The fault for a blocked window of so many tokens, to be raised before any request is sent."""
    return WindowBlocked(words.sentence, words.remedy, window_tokens=window_tokens)


def source_words(source: Source, model: str) -> str:
    """Where a window's figure comes from, in words that fit into brackets."""
    return {
        "option": "asked for with --window",
        "modelsConfig": f"context_window of {model} in the settings",
        "manifest": "what comes with the starter model",
        "model": "what the model itself says",
        "default": "assumed, as the model says nothing",
        "agentContextTokens": "the cap context.cap_tokens in the settings",
        "trained": "what the model was trained on",
        "memory": "what fits into this machine's memory",
        "loaded": "what was really loaded",
    }[source]


def _remedy(model: str, window: ContextWindow, wanted: int, endpoint: Endpoint) -> str:
    """What to change, where, for a model in the user's own house. `wanted` is in tokens."""
    another = "choose a model with a larger window (porthole models)"
    entry = f'under [model."{model}"] in the settings'
    match window.source:
        case "option":
            return f"Leave out --window {window.tokens}, or ask for --window {wanted}."
        case "agentContextTokens":
            return f"Raise context.cap_tokens in the settings to {wanted} or more."
        case "memory":
            return (
                "Close other programs, choose a smaller model (porthole models), or set "
                f'kv_type = "q8_0" {entry}: it halves the memory of the context.'
            )
        case "loaded":
            return (
                "Raise the limit of the server that loaded it (its memory, its number of "
                f"parallel requests, its context length), or {another}."
            )
    stretch = ""
    if window.trained and window.trained < wanted:
        if not endpoint.can_stretch or wanted > MOST_STRETCH * window.trained:
            return _capital(f"{another}: this one was trained on {window.trained:,} tokens.")
        stretch = ' and stretch = "auto"'
    if window.source == "modelsConfig":
        return f"Raise context_window to {wanted}{stretch} {entry}, or {another}."
    return (
        f"Set context_window = {wanted}{stretch} {entry}, or {another}. "
        f"Conversations go best with {WARN_BELOW_TOKENS:,} tokens and more."
    )


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


# ---- where a model runs -------------------------------------------------------------------------

_LOCAL_ENDINGS = (".localhost", ".local", ".internal")


def is_self_hosted(url: str) -> bool:
    """Whether a server is the user's own, so that advice about its limits is of use.

    True for this machine (``localhost``, loopback addresses), for names ending in ``.localhost``,
    ``.local`` or ``.internal``, and, beyond the specification, for private addresses and names
    without a dot: Ollama on another machine of the house. False for an empty or unreadable address.
    The scheme may be left out, as in OLLAMA_HOST.
    """
    import re
    from ipaddress import ip_address
    from urllib.parse import urlsplit

    text = url.strip()
    try:
        host = urlsplit(text if "://" in text else f"//{text}").hostname or ""
    except ValueError:
        return False
    host = host.rstrip(".")
    if host.endswith(_LOCAL_ENDINGS) or re.fullmatch(r"[a-z][a-z0-9-]*", host):
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return address.is_private or address.is_loopback or address.is_link_local
