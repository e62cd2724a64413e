"""A turn's events as a person sees them."""

import asyncio
import io
from datetime import UTC

import pytest

from app.items import plan_items, receipt_of
from app.terminal.console import Console
from app.terminal.turns import TurnView, exit_code_of, receipt_line
from engine.errors import BackendUnreachable, Bug
from engine.events import (
    ModelLoading,
    Notice,
    PromptReading,
    Receipt,
    TextDelta,
    ThinkingDelta,
    TurnEnded,
)
from engine.transcript import Usage
from tests.app.client_room import a_room


def show(*events, quiet=False):
    out, err = io.StringIO(), io.StringIO()
    view = TurnView(Console(out, err), quiet=quiet)

    async def stream():
        for event in events:
            yield event

    asyncio.run(view.show(stream()))
    return view, out.getvalue(), err.getvalue()


END = TurnEnded(1, "stop")


def test_blank_lines_before_the_first_word_are_not_shown_but_kept():
    """Models often begin with a newline; the transcript has it, the screen does not."""
    view, out, _ = show(TextDelta(1, "\n\n"), TextDelta(1, "  Paris"), TextDelta(1, "."), END)
    assert out == "Paris.\n"
    assert view.text == "\n\n  Paris."


def test_states_are_said_in_words():
    """Loading, reading, thinking."""
    _, _, err = show(
        ModelLoading(1, 0.5),
        PromptReading(1, 1, 2, 0),
        ThinkingDelta(1, "hm"),
        TextDelta(1, "x"),
        END,
    )
    assert err.splitlines() == ["Loading the model…", "Reading the prompt…", "Thinking…"]


def test_quiet_view_leaves_stdout_to_json():
    """With --json the reply is not printed as it comes."""
    view, out, _ = show(TextDelta(1, "Paris"), END, quiet=True)
    assert out == ""
    assert view.text == "Paris"


def test_notices_are_told_by_level():
    """A warning says that it is one."""
    _, _, err = show(Notice(1, "warning", "w", "Small."), Notice(1, "info", "i", "Fine."), END)
    assert err.splitlines() == ["Warning: Small.", "Fine."]


def test_failure_is_one_sentence_and_what_was_written_is_kept():
    """Sentence and remedy; and that nothing is lost."""
    fault = BackendUnreachable("No server.", "Start it.")
    _, out, err = show(TextDelta(1, "Once"), TurnEnded(1, "failed", None, fault))
    assert out == "Once\n"
    assert err.splitlines() == ["No server. Start it.", "What was written so far is kept."]


def test_stop_is_confirmed():
    """The user's stop is no error."""
    _, _, err = show(TextDelta(1, "Once"), TurnEnded(1, "stopped"))
    assert err.splitlines() == ["Stopped. What was written is kept."]


def test_cut_reply_says_how_to_go_on():
    """A reply at its limit is not taken for a whole one."""
    _, _, err = show(TextDelta(1, "Once"), TurnEnded(1, "length"))
    assert "cut" in err


@pytest.mark.parametrize(
    ("ended", "code"),
    [
        (END, 0),
        (TurnEnded(1, "length"), 0),
        (TurnEnded(1, "stopped"), 130),
        (TurnEnded(1, "failed", None, BackendUnreachable("x")), 3),
        (TurnEnded(1, "failed", None, Bug("x")), 4),
    ],
)
def test_exit_code_says_how_a_turn_ended(ended, code):
    """The codes of --help."""
    assert exit_code_of(ended) == code


def test_receipt_tells_read_and_reused():
    """Exact counts."""
    usage = Usage(10, 90, 30, 0.0, 0.5, 1.5)
    line = receipt_line(Receipt(1, 100, "exact", usage, 16_384, 16_254))
    assert line == (
        "[sent 100 tokens · read 10, reused 90 · wrote 30 (20 a second) · "
        "room left 16,254 of 16,384 · 2.0 s]"
    )


def test_receipt_of_a_server_says_about():
    """Estimated counts are told as such, and what the model says it read."""
    usage = Usage(80, 0, 3, reused_known=False)
    line = receipt_line(Receipt(1, 100, "estimated", usage, 16_384, 16_281))
    assert "sent about 100 tokens · model read 80 · wrote 3 ·" in line


def test_a_receipt_survives_a_restart(tmp_path):
    """What was sent, how it was counted, the room and the warning are stored with the reply."""

    async def main():
        async with a_room(tmp_path, exact=False) as room:
            id_ = await room.send("Tell me of the lighthouse.")
            store = room.workplace.store
            row = store.session(id_)
            items = plan_items(store.entries(id_), row.leaf, zone=UTC)
            return room.last(id_).receipt, items[-1].receipt

    live, stored = asyncio.run(main())
    assert stored == live
    assert stored.sent_kind == "estimated"
    assert stored.room is not None


def test_a_stored_receipt_of_nonsense_is_what_the_usage_says():
    """Details of another version, or of nothing."""
    details = {"receipt": {"sent": "many", "kind": 5, "room": True, "mismatch": 3}}
    plain = receipt_of(Usage(100, 20, 8), None)
    assert receipt_of(Usage(100, 20, 8), details) == plain
    assert receipt_of(Usage(100, 20, 8), {"receipt": 7}) == plain
    assert (plain.sent, plain.sent_kind, plain.room) == (120, "exact", None)
