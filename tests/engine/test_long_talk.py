"""Sixty turns in a small window: it compacts now and then, and never in vain."""

import asyncio
import itertools

import pytest

from engine.testing import asks_for_summary
from tests.engine.long_talk import complaints, diary, talk
from tests.engine.talks import Talk, words

SUMMARY = """## Goal
The user keeps a lighthouse diary and wants each page noted with a short sentence in reply.
## Progress
- Ingrid and Tomas carried oil to Skagen, the pilot brought a brass clock to Vinga.
- Old Berg warned of ice; the apprentice counted forty ships near Lista before the fog.
## Open questions
Whether the spare wick arrived at Utsira, and who repairs the rail at Holmen.
## Last request
Another page was handed over; it was noted."""


@pytest.mark.parametrize(("window", "page"), [(16_000, 200), (32_768, 330), (131_072, 3_200)])
@pytest.mark.parametrize("exact", [True, False], ids=["counted", "reported"])
def test_sixty_turns(window, page, exact):
    """Never over the budget, 2 to 5 compactions, each frees 30 %, none soon after another."""
    with Talk(window=window, reply=words(60), summary=SUMMARY, exact=exact) as conversation:
        texts = [diary(number, page) for number in range(60)]
        rows = asyncio.run(talk(conversation.session, texts))
        assert list(complaints(rows, window)) == []


def test_between_compactions_the_prefix_stays_as_it_is():
    """C08: every request begins with the one before it, byte for byte, but for compactions."""
    with Talk(window=16_000, reply=words(60)) as conversation:
        asyncio.run(talk(conversation.session, [diary(number, 250) for number in range(40)]))
        changes = 0
        chats = [r for r in conversation.backend.requests if not asks_for_summary(r)]
        for before, after in itertools.pairwise(chats):
            changes += after.messages[: len(before.messages)] != before.messages
        assert changes == len(conversation.compactions) >= 2
