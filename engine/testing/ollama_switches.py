"""Lies and habits of an Ollama double that stay until they are switched off again.

Each is an attribute that a test may set at any time, also while the server answers; it counts from
the next look on. What happens once, to one request, is a fault (`engine.testing.ollama_faults`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from engine.testing.ollama_rules import LLAMA_SERVER, Version

Truncates = Literal["", "messages", "half", "system", "both"]
AfterLeaving = Literal["", "stop", "prompt", "reply"]
Count = Callable[[int], int | None]


def absent(_: int) -> None:
    """A count that is not told at all."""


def zero(_: int) -> int:
    """A count that is told as nothing."""
    return 0


@dataclass(slots=True)
class Switches:
    """How the server departs from its own rules.

    Attributes:
        truncates_anyway: `truncate: false` is ignored and a prompt that is too long answered with
            200, as if nothing had been said: whole messages go ("messages"; a last message that
            alone is too long is then judged by the honest rules), the prompt is cut in the middle
            ("half"), system prompt and old messages go ("system"), or messages first and then
            half ("both", the server's own habit). Also where the version would refuse (F5, F7).
        shifts_anyway: `shift: false` is ignored: a full window forgets half of itself.
        lowers_to: the window in use is no larger than so many tokens, at once and without a
            reload; 0 for no such limit. (`OllamaDouble(window_limit=…)` lowers at the next load.)
        ps_lies: `/api/ps` tells the window that was asked for, not the one in use.
        prompt_count: what is told as `prompt_eval_count` for a true value; None leaves it out.
        reply_count: the same for `eval_count`.
        after_leaving: what a runner does when its client leaves while the prompt is read: nothing
            more ("stop"), read to the end ("prompt"), write the whole reply as well ("reply",
            F18); "" is what the version does. The slot stays busy until then.
        durations: what is told as a duration (nanoseconds) for a true value.
        fits: the largest window that memory can hold, tokens; 0 for any. An explicit larger one
            is a 500; an automatic one is loaded smaller without a word since 0.30.
    """

    truncates_anyway: Truncates = ""
    shifts_anyway: bool = False
    lowers_to: int = 0
    ps_lies: bool = False
    prompt_count: Count | None = None
    reply_count: Count | None = None
    after_leaving: AfterLeaving = ""
    durations: Callable[[int], int] | None = None
    fits: int = 0

    def habit_after_leaving(self, version: Version) -> AfterLeaving:
        """What a runner of this version does when nobody waits any longer."""
        return self.after_leaving or ("stop" if version >= LLAMA_SERVER else "prompt")
