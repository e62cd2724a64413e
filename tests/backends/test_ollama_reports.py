"""What a server reports is believed only as far as it can be true; defects found once, kept found."""

from contextlib import asynccontextmanager

from engine.compactor import Writer
from engine.events import Notice
from engine.models import ModelPlan, WindowLimits
from engine.readiness import make_ready
from tests.backends.test_ollama_context import (
    BUDGET,
    MODELS,
    Close,
    Model,
    OllamaDouble,
    Refusal,
    count_words,
    desk,
    diary,
    greedy,
    page,
    pages,
    server,
)

__all__ = ["desk", "server"]  # fixtures


def test_manual_compaction_measures_before_and_after_alike(desk, server):
    """5,600 estimated tokens, 2,868 by the server: what is left is smaller, and is known to be."""
    talker = desk(*pages(8))
    talker.say("One more.")
    talker.run(talker.session.compact())
    assert talker.ended.outcome == "done", talker.ended.text


def test_guessed_window_holds_for_its_turn_only(desk, server):
    """Refused without figures; the server is well again in the next turn, and so is the session."""

    def refuse(seen):
        raise Refusal(400, "the input length exceeds the context length")

    talker = desk(*pages(14, 500), reply=refuse)
    talker.say("What is next?")
    talker.reply = "Noted."
    talker.say("And now?")
    assert talker.ended.reason == "stop", talker.ended.error


def test_server_that_reports_only_what_it_processed(desk):
    """Ollama 0.30.0, and up to 0.1.48: nothing is built on such figures, the budget is kept."""
    with OllamaDouble(version="0.30.0") as server:
        talker = desk(at=server)
        rows = talker.long_talk([diary(number, 420) for number in range(60)])
    assert [row.ended for row in rows if row.ended != "stop"] == []
    assert max(count_words(body) for body in talker.chats) <= BUDGET


def test_window_of_the_model_for_summaries_counts(desk):
    """A summariser of 4,096 for a conversation of 16,384 with a message of 4,500 tokens in it."""
    small = Model("small", trained=4_096)
    with OllamaDouble((*MODELS, small)) as server:
        talker = desk(
            page(1, 700),
            "Noted.",
            diary(2, 4_500),
            "Noted.",
            page(3, 700),
            "Noted.",
            page(4, 700),
            "Noted.",
            at=server,
        )
        plan = ModelPlan("ollama:small", "ollama", "small", limits=WindowLimits(hard_min_tokens=1))

        @asynccontextmanager
        async def opened():
            ready = await make_ready(talker.backend, plan, lambda _: None, lambda: None)
            assert ready.window.tokens == 4_096
            yield Writer(talker.backend, plan, ready)

        talker.session._keeper._writer = opened
        talker.run(talker.session.compact())
        assert talker.ended.outcome == "done", talker.ended.text
        refused = [
            b for b in talker.summaries if count_words(b) + b["options"]["num_predict"] > 4_096
        ]
        assert refused == []


def test_window_that_shrinks_between_turns_is_told(desk):
    """From 16,384 to 8,192 between two turns: said in that turn."""
    with greedy(2) as server:
        talker = desk(*pages(4), at=server, model="greedy")
        talker.say("Go on.")
        server.state.window_limit = 8_192
        server.state.runners.clear()
        talker.say("And now?")
        assert "8,192" in " ".join(n.text for n in talker.told(Notice))


def test_manual_compaction_that_failed_has_its_error(desk, server):
    """The fault travels with the event, for exit codes and looks."""
    talker = desk(*pages(8))
    for _ in range(12):
        server.fail(Close())
    talker.run(talker.session.compact())
    assert talker.ended.outcome == "failed"
    assert talker.ended.error is not None
