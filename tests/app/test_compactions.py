"""Compactions as a person sees them: progress, the line at the end, the card."""

import asyncio
import io
from dataclasses import replace
from unicodedata import east_asian_width

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.terminal.card import card_lines
from app.terminal.compact import compaction_summary
from app.terminal.console import Console, columns
from app.terminal.sessions import unsent_texts
from app.terminal.turns import TurnView
from engine.events import (
    CompactionEnded,
    CompactionProgress,
    CompactionStarted,
    Receipt,
    TextDelta,
    TurnEnded,
)
from engine.transcript import Compaction, Custom, Entry, Usage, user
from engine.view import UNSENT

BODY = Compaction(
    "They planned a trip.",
    "e4",
    tokens_before=9_800,
    tokens_after=3_100,
    reason="threshold",
    way="in_place",
    model="starter",
    seconds=6.2,
    focus="the ferry",
    facts={"folded": 24, "values": [{"kind": "name", "value": "pier 4", "label": "from pier 4"}]},
)
DONE = CompactionEnded(
    1,
    "threshold",
    "done",
    "Compacted: 9.8k → 3.1k tokens, 24 messages folded, 6 s.",
    Entry("c1", "s", "e9", 0, BODY),
    9_800,
    3_100,
    24,
    6.2,
)
STARTED = CompactionStarted(1, "threshold", 9_800, 24)


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self):
        return True


def show(*events, live=False, **options):
    out, err = io.StringIO(), Terminal() if live else io.StringIO()
    view = TurnView(Console(out, err), **options)

    async def stream():
        for event in events:
            yield event

    last = events[-1]
    follow = view.show if isinstance(last, TurnEnded) else view.show_compaction
    asyncio.run(follow(stream()))
    return view, out.getvalue(), err.getvalue()


def test_a_compaction_is_one_stage_and_one_line():
    """In a log: what is going on, once, and how it ended."""
    steps = [CompactionProgress(1, "reading", n, 900) for n in (300, 600, 900)]
    view, out, err = show(STARTED, *steps, CompactionProgress(1, "writing", 1, 500), DONE)
    assert err.splitlines() == ["Compacting context…", DONE.text]
    assert out == ""
    assert view.compaction is DONE


def test_progress_has_tokens_and_says_what_is_done():
    """On a terminal: reading, writing, waiting, in which request."""
    _, _, err = show(
        STARTED,
        CompactionProgress(1, "reading", 300, 900),
        CompactionProgress(1, "writing", 1, 500, 2),
        CompactionProgress(1, "waiting", 0, 0, 3),
        DONE,
        live=True,
    )
    for words in (
        "9,800 tokens, 24 messages to fold",
        "reading 300 of 900 tokens",
        "writing, 1 token (request 2)",
        "waiting to try again (request 3)",
    ):
        assert f"Compacting context… {words}" in err


def test_progress_after_a_reply_leaves_the_reply_alone():
    """The reply's last line is ended before the progress line is written over it."""
    receipt = Receipt(1, 10, "exact", Usage(10, 0, 2), 100, 88)
    events = (TextDelta(1, "Paris"), receipt, STARTED, DONE, TurnEnded(1, "stop"))
    _, out, err = show(*events, live=True)
    assert out == "Paris\n"
    assert not err.startswith("\n")
    assert DONE.text in err


@pytest.mark.parametrize(
    ("outcome", "text", "line"),
    [
        ("failed", "It is unchanged.", "Warning: It is unchanged."),
        ("nothing", "There is nothing.", "Not compacted: there is nothing."),
        ("stopped", "Stopped.", "Stopped."),
    ],
)
def test_what_was_not_compacted_is_told(outcome, text, line):
    """A failure is a warning; nothing to do is no failure."""
    ended = CompactionEnded(1, "manual", outcome, text)
    assert show(ended)[2].splitlines() == [line]


def test_a_card_takes_the_place_of_the_line():
    """Where the card follows, the line would say it twice; a failure is told all the same."""
    assert show(STARTED, DONE, card=True)[2].splitlines() == ["Compacting context…"]
    failed = replace(DONE, outcome="failed", text="Broken.", entry=None)
    assert "Broken." in show(failed, card=True)[2]


def test_the_card_tells_everything():
    """Before and after, folded, seconds, why, way, model, focus, summary, exact values."""
    text = "\n".join(card_lines(BODY))
    for words in (
        "9,800 → 3,100 tokens, 24 messages folded, 6.2 s",
        "outgrown its prompt budget",
        "in place",
        "by starter",
        "the ferry",
        "They planned a trip.",
        "pier 4  (from pier 4)",
    ):
        assert words in text
    assert "Degraded" not in text


def test_a_degraded_compaction_says_so():
    """A placeholder is never shown as a summary."""
    body = replace(BODY, way="placeholder", facts={"degraded": True})
    text = "\n".join(card_lines(body))
    assert "no summary could be written" in text
    assert compaction_summary(replace(DONE, entry=replace(DONE.entry, body=body)))["degraded"]


def test_a_compaction_from_elsewhere_has_a_card_too():
    """A foreign transcript knows the summary, and little else."""
    [_, title, _, summary] = card_lines(Compaction("What happened.", "e2"))
    assert (title, summary) == ("── compacted: what came before ──", "What happened.")


facts = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
)


@given(st.dictionaries(st.sampled_from(["folded", "values", "degraded"]), facts))
def test_odd_facts_cost_only_themselves(odd):
    """Whatever stands in the facts of a file from elsewhere, the card is printed."""
    assert "They planned a trip." in card_lines(replace(BODY, facts=odd))


def test_a_message_that_was_sent_in_the_end_is_not_unsent():
    """It is kept beside the conversation only until the model could say that it fits."""
    bodies = [
        Custom(UNSENT, {"text": "a"}),
        Custom(UNSENT, {"text": "b"}),
        Custom(UNSENT, {"text": 3}),
        user("a"),
    ]
    entries = [Entry(str(i), "s", None, 0, body) for i, body in enumerate(bodies)]
    assert unsent_texts(entries) == ["b"]


@given(st.text(), st.integers(2, 60))
def test_columns_are_kept(text, width):
    """One line of visible characters, never wider than was asked for."""
    shown = columns(text, width)
    assert shown == "" or shown.isprintable()
    assert sum(2 if east_asian_width(char) in "WF" else 1 for char in shown) <= width


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("short", 10, "short"),
        ("a\nb\t c", 10, "a b c"),
        ("0123456789", 10, "0123456789"),
        ("01234567890", 10, "012345678…"),
        ("界界界", 6, "界界界"),
        ("界界界界", 6, "界界…"),
        ("\x1b[2Jx", 10, "[2Jx"),
    ],
)
def test_columns_of_texts(text, width, shown):
    """Wide characters take two columns; escape characters go."""
    assert columns(text, width) == shown
