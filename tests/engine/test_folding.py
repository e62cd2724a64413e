"""From a written summary to the stored entry, and the words that tell of a compaction."""

from dataclasses import replace

import pytest

from engine.compact import CompactionPlan, facts_from_json
from engine.context import ContextSettings, plan_folding, plan_view
from engine.errors import BackendUnreachable, ContextOverflow, MessageTooLarge
from engine.events import CompactionEnded
from engine.folding import (
    CHOICES,
    counted,
    done,
    failure_words,
    folded_messages,
    overflow_fault,
    plan_entry,
    short,
    too_large,
    why_not,
)
from engine.tokens import Count, estimate_text
from engine.transcript import Compaction, Entry, Message, Pin, Text, user
from engine.view import plan_visible
from tests.engine.compact_items import calls, entries, result, said

ENDED = CompactionEnded(1, "manual", "stopped", "Stopped.", None, 9_812, 9_812, 24)
PORT = "The server listens on port 8443."
COMMIT = "The commit is 9f2c4e1ab07d5563."


def folded(words, tokens=300, *, keep=650, urgency="asked_for"):
    """A view of a path whose messages all weigh the same, and what is folded of it."""
    path = entries(words)
    weights = {entry.id: tokens for entry in path}
    total = sum(weights[entry.id] for entry in plan_visible(path) if entry.id)
    settings = ContextSettings(keep_recent=keep)
    view = plan_view(path, weights, Count(total, "exact"), 16_000, settings)
    view = replace(view, urgency=urgency)
    folding = plan_folding(view)
    assert isinstance(folding, CompactionPlan)
    return view, folding


def entry_of(words, summary="They spoke.", **more):
    view, folding = folded(words, **more)
    return plan_entry(
        view, folding, summary=summary, language="en", reason="manual", focus="the lamp"
    )


def values(body, name="values"):
    return {fact.value for fact in facts_from_json(body.facts[name])}


TALK = [user(PORT), said("assistant", "Noted."), user(COMMIT), said("assistant"), "user", "user"]


# ---- the entry ------------------------------------------------------------------------------------


def test_entry_tells_what_was_folded_and_why():
    """Summary, cut, tokens before, reason, focus, language; the rest only a count can tell."""
    view, folding = folded(TALK)
    body = entry_of(TALK, "They spoke of a server.")
    assert (body.summary, body.first_kept) == ("They spoke of a server.", folding.first_kept)
    assert (body.reason, body.focus) == ("manual", "the lamp")
    assert body.tokens_before == view.count.tokens == 1_800
    assert body.facts["language"] == "en"
    assert body.facts["folded"] == len(folded_messages(folding)) == 4
    assert body.facts["split_turn"] is False
    assert (body.tokens_after, body.way, body.model, body.seconds) == (0, "", "", 0.0)


def test_values_the_summary_does_not_have_are_shown():
    """Word for word; what stands in the summary is not said twice."""
    body = entry_of(TALK, "The commit is 9f2c4e1ab07d5563.")
    assert "8443" in str(values(body))
    assert "9f2c4e1ab07d5563" not in values(body)


def test_pool_remembers_values_the_summary_has():
    """What stands in one summary may be lost in the next: the pool has all of them."""
    body = entry_of(TALK, "The commit is 9f2c4e1ab07d5563, port 8443.")
    assert values(body) == set()
    assert {"8443", "9f2c4e1ab07d5563"} <= values(body, "pool")


def test_values_are_taken_from_the_beginning_of_a_split_turn_too():
    """What is folded is folded, whole turns or not."""
    words = [user(PORT), calls("a"), result("a"), calls("b"), result("b"), said("assistant")]
    view, folding = folded(words)
    assert folding.split_turn
    body = plan_entry(view, folding, summary="x", language="en", reason="manual", focus="")
    assert body.facts["split_turn"] is True
    assert "8443" in values(body)


def test_shown_values_keep_to_their_cap():
    """A hundred values in a small budget: what is shown fits, what is remembered is more."""
    many = [user(f"Number {n} is {n:04x}{n * 7919:08x}aa55.") for n in range(150)]
    view, folding = folded([*many, "user", "user"], 60)
    body = plan_entry(view, folding, summary="x", language="en", reason="manual", focus="")
    shown = sum(estimate_text(value) for value in values(body))
    assert 0 < shown <= view.targets.facts_cap
    assert values(body) < values(body, "pool")


def test_pinned_messages_are_named():
    """What stays verbatim before the tail stands in the entry; without pins nothing does."""
    assert entry_of([*TALK[:2], Pin("e0"), *TALK[2:]], keep=300).facts["pinned"] == ["e0"]
    assert "pinned" not in entry_of(TALK).facts


# ---- carried on -------------------------------------------------------------------------------------


def second(facts, summary="Of port 7001 and no more."):
    first = Compaction(summary, "e1", facts=facts)
    return ["user", "user", first, user(PORT), "assistant", "user", "assistant", "user"]


def test_pool_of_the_previous_compaction_is_carried_on():
    """Found anew and carried, whatever was shown the last time."""
    pool = [{"kind": "url", "value": "https://harbour.example/a"}]
    body = entry_of(second({"pool": pool, "values": []}))
    assert {"https://harbour.example/a", "8443"} <= values(body, "pool")
    assert {"https://harbour.example/a", "8443"} <= values(body)


def test_values_are_carried_on_where_there_is_no_pool():
    """An older version's compaction has only what it showed."""
    body = entry_of(second({"values": [{"kind": "url", "value": "https://harbour.example/b"}]}))
    assert "https://harbour.example/b" in values(body, "pool")


@pytest.mark.parametrize("facts", [{}, {"pool": "all"}, {"pool": [7, {"kind": "url"}]}])
def test_summary_from_elsewhere_is_searched_for_values(facts):
    """An imported or damaged compaction: its own words are all there is."""
    assert "7001" in values(entry_of(second(facts)), "pool")


def test_value_found_again_is_remembered_once():
    """It counts on, it does not stand there twice."""
    pool = [{"kind": "port", "value": "8443", "count": 2}]
    body = entry_of(second({"pool": pool}))
    [fact] = [f for f in facts_from_json(body.facts["pool"]) if f.value == "8443"]
    assert fact.count == 3


def test_settings_are_not_counted_as_messages():
    """A change of the model and a label were not said by anybody."""
    _, folding = folded(["user", "model", "assistant", "label", "user", "assistant", "user"])
    assert all(isinstance(item.entry.body, Message) for item in folded_messages(folding))


# ---- words ------------------------------------------------------------------------------------------


def stored(**facts):
    body = Compaction("They spoke.", "e1", tokens_after=3_064, facts=facts)
    return Entry("c", "s", None, 0, body)


def test_done_tells_figures_and_carries_the_entry():
    """SPEC2 4.3: before, after, folded, seconds."""
    ended = done(ENDED, stored(), 6.4)
    assert ended.text == "Compacted: 9.8k → 3.1k tokens, 24 messages folded, 6 s."
    assert (ended.outcome, ended.after_tokens, ended.seconds) == ("done", 3_064, 6.4)
    assert ended.entry == stored()
    assert ended.before_tokens == 9_812


def test_one_message_is_not_messages():
    """Numbers with their nouns."""
    assert "1 message folded" in done(replace(ENDED, folded=1), stored(), 0).text
    assert counted(0, "tool result") == "0 tool results"
    assert counted(1_200, "message") == "1,200 messages"


def test_placeholder_is_told_as_one():
    """Degraded: no summary, and what will be done about it."""
    text = done(ENDED, stored(degraded=True), 6).text
    assert "placeholder" in text
    assert "starts again" in text


@pytest.mark.parametrize(
    ("tokens", "words"),
    [(0, "0"), (312, "312"), (999, "999"), (1_000, "1.0k"), (9_849, "9.8k"), (131_072, "131.1k")],
)
def test_tokens_for_people(tokens, words):
    """Small numbers whole, others in thousands."""
    assert short(tokens) == words


@pytest.mark.parametrize(
    ("rejected", "words"),
    [
        ((), "The model wrote no summary."),
        (("empty", "refused"), "The model refused to write a summary."),
        (("something new",), "something new"),
    ],
)
def test_why_not_says_what_was_wrong_with_the_last_attempt(rejected, words):
    """A sentence for every reason, also for one that is not known."""
    assert why_not(rejected) == words


def test_failure_says_that_nothing_changed():
    """With the fault's own sentence and what to do."""
    text = failure_words(BackendUnreachable("No server answers.", "Start it."))
    assert "unchanged" in text
    assert text.endswith("No server answers. Start it.")


def test_conversation_that_cannot_be_sent_has_figures_and_choices():
    """Never advice to raise the reserve (#87102)."""
    fault = overflow_fault(17_000, 16_384)
    assert isinstance(fault, ContextOverflow)
    assert (fault.prompt_tokens, fault.window_tokens) == (17_000, 16_384)
    assert "17,000" in fault.sentence
    assert "16,384" in fault.sentence
    assert fault.remedy == CHOICES
    assert "lower the reserve" in CHOICES


def test_message_that_cannot_fit_has_size_room_and_choices():
    """C02: three figures, and a shorter part as the first choice."""
    fault = too_large(20_000, 6_000, 16_384)
    assert isinstance(fault, MessageTooLarge)
    assert (fault.prompt_tokens, fault.room_tokens, fault.window_tokens) == (20_000, 6_000, 16_384)
    assert all(figure in fault.sentence for figure in ("20,000", "6,000", "16,384"))
    assert fault.remedy.startswith("Send a shorter part of it. Or: start a new conversation")


def test_note_of_the_program_is_folded_and_not_counted():
    """Only messages are counted as folded; a note of the program is folded and not counted."""
    _, folding = folded([user("a"), "note", Message("assistant", (Text("b"),)), "user", "user"])
    assert len(folded_messages(folding)) < len(folding.folded)


def test_fault_counts_before_what_was_written():
    """Nobody was there to write any more: that is the reason, whatever was rejected before."""
    assert why_not(("empty",), ("Gone.", "No server answers.")) == "No server answers."
