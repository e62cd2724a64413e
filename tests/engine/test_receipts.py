"""Whether a backend read what it was sent: honest turns are never warned of, cut ones are."""

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.backends.base import PromptMessage
from engine.events import Mismatch
from engine.receipts import (
    ReadPrompt,
    Receipts,
    ReportedReply,
    SentPrompt,
    judge_receipt,
    note_read,
    plan_least,
)
from engine.tokens import Count, estimate_messages
from engine.transcript import Usage

WORDS = [
    "river",
    "stone",
    "bridge",
    "lamp",
    "winter",
    "garden",
    "window",
    "letter",
    "morning",
    "copper",
]


def prompt(*texts):
    return tuple(PromptMessage("user", text) for text in texts)


def prose(count, seed=1):
    chance = random.Random(seed)
    return " ".join(chance.choice(WORDS) for _ in range(count))


def words_in(messages):
    return sum(len(message.content.split()) for message in messages)


def judged(messages, read, kind="estimated", shown=0, before=None, window=16_384):
    count = Count(shown or estimate_messages(messages), kind)
    return judge_receipt(SentPrompt(messages, count, window), Usage(read_tokens=read), before)


# ---- counted exactly ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("read", "warned"),
    [(6_912, False), (6_896, False), (6_980, False), (6_800, True), (7_100, True)],
)
def test_what_was_counted_is_what_is_read(read, warned):
    """Within one per cent, in both directions."""
    found = judged(prompt("x"), read, "exact", 6_912)
    assert (found is not None) == warned
    if found is not None:
        assert (found.sent_tokens, found.read_tokens) == (6_912, read)
        assert found.cause == "rendered_otherwise"
        assert "6,912" in found.sentence
        assert found.remedy


def test_a_backend_that_reports_nothing_is_not_judged():
    """No figure is no proof."""
    assert judged(prompt(prose(2_000)), 0) is None
    assert judged(prompt("x"), 0, "exact", 6_912) is None


# ---- estimated ----------------------------------------------------------------------------------


def test_a_prompt_that_was_cut_at_once():
    """The first turn with a long message: about 6,900 sent, 2,048 read."""
    found = judged(prompt(prose(6_900)), 2_048)
    assert found is not None
    assert found.cause == "divided"  # an eighth of what was asked for
    assert "between 8 conversations" in found.remedy
    assert "about" in found.sentence
    assert "start of the conversation" in found.sentence


def test_a_smaller_window():
    """No share of the window that was asked for: it is smaller than that."""
    found = judged(prompt(prose(9_000)), 3_000)
    assert found is not None
    assert found.cause == "smaller_window"
    assert "update or restart it" in found.remedy


@pytest.mark.parametrize(
    "text",
    [
        "=" * 5_000,
        "\n" * 3_000,
        " " * 4_000 + "x",
        "a" * 5_000,
        ("-" * 80 + "\n") * 60,
        "नमस्ते दुनिया " * 300,
        "你好世界" * 500,
        "",
    ],
)
def test_texts_that_have_few_tokens(text):
    """Runs are one token, large vocabularies have whole words of other scripts."""
    few = max(1, len(text) // 80)
    assert judged(prompt(text), few if text.isascii() else len(text) // 4 + 1) is None


@given(st.text(max_size=400))
def test_the_least_is_never_more_than_the_estimate(text):
    """Whatever the text: it is a lower bound of what was taken for an upper one."""
    messages = prompt(text)
    assert 0 <= plan_least(messages) <= estimate_messages(messages)


# ---- with what was read before ------------------------------------------------------------------


def test_less_than_before_of_the_same_beginning():
    """4,000 were read; with a question more, 3,500 are: the start was dropped."""
    before = prompt(prose(4_000))
    now = (*before, *prompt("And what is next?"))
    assert judged(now, 3_500, before=ReadPrompt(before, 4_000)) is not None
    assert judged(now, 4_005, before=ReadPrompt(before, 4_000)) is None
    assert judged(now, 3_965, before=ReadPrompt(before, 4_000)) is None


def test_less_of_another_prompt_means_nothing():
    """After a compaction, an edit, another system prompt."""
    assert judged(prompt(prose(40)), 40, before=ReadPrompt(prompt(prose(4_000)), 4_000)) is None


def test_a_server_that_reports_only_what_is_new():
    """Ollama before 0.2 and 0.30.0: the few tokens of the question are no cut."""
    before = prompt(prose(4_000))
    now = (*before, *prompt(prose(30, seed=2)))
    for read in (1, 30, 60):
        assert judged(now, read + 20, before=ReadPrompt(before, 4_000)) is None


def test_a_server_known_to_report_whole_prompts_is_not_excused():
    """2,000 of 8,000 are read, as many as are new: a cut, if reports were whole before."""
    before = prompt(prose(6_000))
    now = (*before, *prompt(prose(2_000, seed=2)))
    assert judged(now, 2_000, before=ReadPrompt(before, 6_000)) is None
    assert judged(now, 2_000, before=ReadPrompt(before, 6_000, reports_whole=True)) is not None


def test_a_restarted_program_knows_of_no_prompt_before():
    """What comes after the last reply may be all that is reported."""
    history = prompt(prose(6_000))
    now = (*history, PromptMessage("assistant", "Noted."), *prompt("And what is next?"))
    assert judged(now, 12) is None
    assert judged(now, 1_500) is not None


def test_what_is_remembered():
    """A prompt that was read whole; not one that was cut, or not reported."""
    sent = SentPrompt(prompt("x"), Count(5, "exact"))
    wrong = Mismatch(5, 2, "divided", "s", "r")
    assert note_read(sent, Usage(read_tokens=3, reused_tokens=2), None) == ReadPrompt(
        prompt("x"), 5
    )
    assert note_read(sent, Usage(read_tokens=2), wrong) is None
    assert note_read(sent, Usage(), None) is None


# ---- counts that cannot be ----------------------------------------------------------------------

HONEST = ReportedReply("It is a lamp in a window.", 512, tells_whole=True)
BEFORE = prompt(prose(4_000))
NOW = (*BEFORE, *prompt("And what is next?"))


def told(read, written=7, *, reply=HONEST, messages=NOW, before=BEFORE, window=16_384):
    """What is judged of a second turn whose first one had 4,000 tokens."""
    sent = SentPrompt(messages, Count(estimate_messages(messages), "anchored"), window)
    known = ReadPrompt(before, words_in(before), reports_whole=True)
    return judge_receipt(sent, Usage(read_tokens=read, written_tokens=written), known, reply)


def test_honest_counts_of_a_reply():
    """The figures of a turn that went as it should."""
    assert told(4_004) is None


@pytest.mark.parametrize("read", [8_000, 6_000, 16_385])
def test_more_was_read_than_can_have_been_sent(read):
    """Four words more than before cannot be thousands of tokens more."""
    found = told(read)
    assert found.cause == "miscounted"
    assert f"{read:,}" in found.sentence


@pytest.mark.parametrize("written", [513, 300, 1_000_000])
def test_more_was_written_than_can_have_arrived(written):
    """More than was allowed, or than the reply has bytes."""
    found = told(4_004, written)
    assert (found.cause, found.read_tokens) == ("miscounted", written)
    assert "not the reply that arrived" in found.sentence


def test_less_was_written_than_arrived():
    """A page is not three tokens."""
    page = ReportedReply(prose(600), 2_000, tells_whole=True)
    assert told(4_004, 600, reply=page) is None
    assert told(4_004, 3, reply=page).cause == "miscounted"


def test_tool_calls_are_no_text():
    """Nothing is known of how many tokens a call has."""
    called = ReportedReply(None, 2_000, tells_whole=True)
    assert told(4_004, 900, reply=called) is None


def test_counts_that_are_missing():
    """Told of where every server of that kind gives them, and nowhere else."""
    assert told(0).cause == "untold"
    assert told(4_004, 0).cause == "untold"
    silent = ReportedReply(HONEST.text, 512)
    assert told(0, reply=silent) is None
    assert told(4_004, 0, reply=silent) is None


def test_a_server_of_a_kind_that_tells_whole_prompts_is_not_excused():
    """It need not be seen to do so first."""
    later = (*BEFORE, *prompt(prose(2_000, seed=2)))
    sent = SentPrompt(later, Count(estimate_messages(later), "anchored"), 16_384)
    usage, known = Usage(read_tokens=2_000, written_tokens=7), ReadPrompt(BEFORE, 4_000)
    assert judge_receipt(sent, usage, known) is None
    assert judge_receipt(sent, usage, known, HONEST) is not None


def test_a_lie_that_lasts_is_told_of_in_every_turn():
    """What was read before it is what the later ones are held against."""
    receipts, messages = Receipts(), prompt(prose(3_000))
    found = []
    for turn, read in enumerate((3_000, 2_048, 2_048, 2_048)):
        sent = SentPrompt(messages, Count(estimate_messages(messages), "anchored"), 16_384)
        found.append(receipts.judge(sent, Usage(read_tokens=read, written_tokens=7), HONEST))
        messages = (*messages, *prompt(prose(5, seed=turn)))
    assert [one is not None for one in found] == [False, True, True, True]


@given(st.integers(1, 3), st.lists(st.text(min_size=1, max_size=80), min_size=2, max_size=12))
def test_no_tokenizer_between_a_word_and_a_byte_is_accused(per_word, texts):
    """Whatever is said in whatever script: a token for a character, or for a byte, is honest."""
    receipts, messages = Receipts(), ()
    for text in texts:
        messages = (*messages, *prompt(text))
        read = sum(_tokens(message.content, per_word) for message in messages)
        reply = ReportedReply(text, 10_000, tells_whole=True)
        sent = SentPrompt(messages, Count(estimate_messages(messages), "estimated"), 1 << 20)
        usage = Usage(read_tokens=read, written_tokens=_tokens(text, per_word))
        assert receipts.judge(sent, usage, reply) is None


def _tokens(text, kind):
    """As three tokenizers count: characters, bytes, and bytes with a frame around them."""
    return (len(text), len(text.encode()), len(text.encode()) + 5)[kind - 1]


def test_a_thousand_honest_turns():
    """A word a token or two, whole reports or only what is new: no warning."""
    chance = random.Random(7)
    for per_word, in_part in itertools.product((1, 2), (False, True)):
        messages, before = (), None
        for turn in range(250):
            new = prompt(prose(chance.randint(1, 400), seed=turn))
            messages = (*messages, *new)
            read = per_word * words_in(new if in_part and turn else messages)
            sent = SentPrompt(messages, Count(estimate_messages(messages), "anchored"), 32_768)
            found = judge_receipt(sent, Usage(read_tokens=read), before)
            assert found is None, (per_word, in_part, turn, read)
            before = note_read(sent, Usage(read_tokens=read), found, before)
            if words_in(messages) > 9_000:
                messages, before = (), None
