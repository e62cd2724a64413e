"""Receipts in whole sessions: a backend that reads less is told of, a thousand honest turns are not."""

import random
from dataclasses import replace

import pytest

from engine.backends.base import Finished
from engine.events import Notice, Receipt
from engine.testing import ScriptedBackend
from tests.engine.talks import Talk, words

WORDS = ["river", "stone", "bridge", "lamp", "winter", "garden", "window", "letter", "morning"]


def prose(chance, most):
    return " ".join(chance.choice(WORDS) for _ in range(chance.randint(1, most)))


def warned(talk):
    return [receipt for receipt in talk.told(Receipt) if receipt.mismatch is not None]


class Forgetful(ScriptedBackend):
    """Reads only the last `reads` tokens of a prompt, and says nothing of it."""

    reads = 1_000

    async def stream(self, request):
        async for chunk in super().stream(request):
            if isinstance(chunk, Finished):
                read = min(chunk.usage.prompt_tokens, self.reads)
                usage = replace(chunk.usage, read_tokens=read, reused_tokens=0)
                chunk = replace(chunk, usage=usage)
            yield chunk


@pytest.mark.parametrize("exact", [True, False])
def test_a_backend_that_reads_less(exact):
    """In that very turn: on the receipt, and as a notice with the cure."""
    with Talk(exact=exact) as talk:
        talk.session._backend = Forgetful(
            otherwise=talk.answer, exact=exact, trained_window=1 << 20
        )
        talk.session._use(talk.plan(), talk.session._backend)
        talk.say("Hello.")
        assert warned(talk) == []
        talk.say(words(4_000))
        [receipt] = warned(talk)
        notices = [notice for notice in talk.told(Notice) if notice.code == "read_otherwise"]
        assert receipt.mismatch.read_tokens == 1_000
        assert receipt.usage.read_tokens == 1_000
        assert [notice.text for notice in notices] == [
            f"{receipt.mismatch.sentence} {receipt.mismatch.remedy}"
        ]
        assert talk.ended.reason == "stop"


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_honest_turns(exact, seed):
    """A hundred turns of all lengths, ten times over, compactions between: not one warning."""
    chance = random.Random(seed)
    with Talk(exact=exact, window=16_384) as talk:
        for _ in range(100):
            talk.events.clear()
            talk.say(prose(chance, 500))
            assert talk.ended.reason == "stop"
            assert warned(talk) == []
        assert talk.compactions, "the window was filled and folded"
