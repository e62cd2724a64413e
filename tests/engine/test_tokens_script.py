"""The estimator in use against real vocabularies; ``-s`` prints the table.

The promise: on no kind of text more than 5 % under the count of any of these vocabularies, on English
prose at most 25 % over their mean. The vocabularies range from 32,000 tokens (phi-3, llama-spm) to
262,000 (gemma-4); those that know little but English decide what the others are over-estimated by.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.backends.base import PromptMessage
from engine.tokens import estimate_messages, estimate_text
from engine.tokens.english import USUAL_GROUPS, count_unusual
from tests.engine.estimator_texts import texts

TEXTS = texts()
MOST_UNDER = 1.05
MOST_OVER_ENGLISH = 1.25
STARTER = "SmolLM2"

CHATML = "<|im_start|>{role}\n{text}<|im_end|>\n"
TEMPLATES = {
    STARTER: CHATML,
    "qwen2": CHATML,
    "qwen35": CHATML,
    "llama-bpe": "<|start_header_id|>{role}<|end_header_id|>\n\n{text}<|eot_id|>",
    "gemma-4": "<|turn>{role}\n{text}<turn|>\n",
    "phi-3": "<|{role}|>\n{text}<|end|>\n",
    "deepseek-llm": "{role}: {text}\n\n",
    "command-r": "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>{text}<|END_OF_TURN_TOKEN|>",
    "llama-spm": "[INST] {text} [/INST]",
}
"""Every vocabulary of the judge, and how its models' templates frame a message."""


def _conversation(*kinds: str) -> list[str]:
    """Messages of all sizes, a word to a page, out of the texts of these kinds."""
    lines = [line for kind in kinds for line in TEXTS[kind].splitlines() if line.strip()]
    short = [line[: 4 + 5 * (n % 4)] for n, line in enumerate(lines)]
    return [*short, *lines, *(TEXTS[kind] for kind in kinds)] * 2


CONVERSATIONS = {
    "chinese": _conversation("chinese", "chinese_traditional", "mixed_chinese_english"),
    "japanese": _conversation("japanese"),
    "arabic": _conversation("arabic", "persian"),
    "code": _conversation("python_code", "cpp_code", "rust_code", "shell", "sql", "diff"),
    "data": _conversation("json_pretty", "log_lines", "csv_numbers", "hex_dump", "traceback"),
    "english": _conversation("english_chat", "english_docs", "english_story", "markdown"),
}


@pytest.fixture(scope="module")
def judged(starter_path) -> dict[str, dict[str, int]]:
    """Tokens by vocabulary and text; conversations are framed by the vocabulary's own template."""
    folder = os.environ.get("PORTHOLE_TEST_VOCABS", "")
    assert folder, "no vocabularies: run packaging/test, or set PORTHOLE_TEST_VOCABS"
    paths = {name: str(Path(folder) / f"ggml-vocab-{name}.gguf") for name in TEMPLATES}
    paths[STARTER] = str(starter_path)
    wanted = {
        name: {
            **TEXTS,
            **{
                f"talk:{kind}": "".join(frame.format(role="user", text=said) for said in talk)
                for kind, talk in CONVERSATIONS.items()
            },
        }
        for name, frame in TEMPLATES.items()
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.token_judge"],
        input=json.dumps({"vocabularies": paths, "texts": wanted}),
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr
    counts: dict[str, dict[str, int]] = json.loads(done.stdout)
    _print_table(counts)
    return counts


def _print_table(counts: dict[str, dict[str, int]]) -> None:
    names = list(counts)
    rows = [f"{'text':24}{'chars':>6} " + "".join(f"{name:>13}" for name in names)]
    rows[0] += f"{'estimate':>10}{'under':>7}{'over':>6}"
    for kind, text in TEXTS.items():
        estimate, real = estimate_text(text), [counts[name][kind] for name in names]
        rows.append(
            f"{kind:24}{len(text):>6} "
            + "".join(f"{count / len(text):>13.3f}" for count in real)
            + f"{estimate / len(text):>10.3f}{max(real) / estimate:>7.2f}"
            + f"{estimate / mean(real):>6.2f}"
        )
    note = "tokens a character; under: largest count / estimate; over: estimate / mean count"
    sys.stdout.write("\n".join(["", note, *rows, ""]))


@pytest.mark.parametrize("kind", TEXTS)
def test_never_much_under_any_vocabulary(judged, kind):
    """At most 5 % under the costliest vocabulary, whatever the text."""
    estimate = estimate_text(TEXTS[kind])
    short = {
        name: counts[kind] / estimate
        for name, counts in judged.items()
        if counts[kind] > MOST_UNDER * estimate
    }
    assert not short


@pytest.mark.parametrize("kind", ["english_chat", "english_docs", "english_story"])
def test_english_prose_is_not_counted_much_over(judged, kind):
    """At most 25 % over the mean: it must not compact a conversation much too early."""
    assert estimate_text(TEXTS[kind]) <= MOST_OVER_ENGLISH * mean(
        counts[kind] for counts in judged.values()
    )


def test_capitals_are_counted_over_by_what_the_vocabularies_differ(judged):
    """phi-3 needs 40 % more for them than the mean: the estimate is not far above phi-3's."""
    counts = [counts["english_allcaps"] for counts in judged.values()]
    assert estimate_text(TEXTS["english_allcaps"]) <= MOST_UNDER * max(counts)


@pytest.mark.parametrize("kind", TEXTS)
def test_never_absurdly_over(judged, kind):
    """Within twice the costliest vocabulary's count: an upper bound, not a guess out of fear."""
    assert estimate_text(TEXTS[kind]) <= 2 * max(counts[kind] for counts in judged.values())


@pytest.mark.parametrize("kind", CONVERSATIONS)
def test_a_conversation_is_never_under_any_vocabulary(judged, kind):
    """With the overhead of each message, the sum is not one token under the rendered prompt."""
    talk = [PromptMessage("user", text) for text in CONVERSATIONS[kind]]
    worst = max(counts[f"talk:{kind}"] for counts in judged.values())
    assert estimate_messages(talk) >= worst


# ---- without a judge --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0), ("a", 1), ("the cat", 3), ("漢字", 4), ("1234", 4), ("😀", 4), (" ", 1), ("\n\n", 2),
        ("\ud800", 3), ("\0", 2),
    ],
)  # fmt: skip
def test_small_texts(text, tokens):
    """Known values; half a surrogate pair is no reason to fail."""
    assert estimate_text(text) == tokens


@given(st.text(st.characters(), max_size=80))
def test_anything_has_an_estimate(text):
    """Never negative, never nothing for something, never more than its UTF-8 bytes could cost."""
    size = len(text.encode("utf-8", "surrogatepass"))
    assert (estimate_text(text) == 0) == (text == "")
    assert estimate_text(text) <= 3 * size


@given(st.lists(st.sampled_from(sorted(TEXTS)), min_size=1, max_size=4))
def test_texts_one_after_the_other_weigh_what_they_weigh_alone(kinds):
    """Up to what blocks that hold two languages are judged by."""
    alone = sum(estimate_text(TEXTS[kind]) for kind in kinds)
    together = estimate_text("\n".join(TEXTS[kind] for kind in kinds))
    assert together == pytest.approx(alone, rel=0.1, abs=20)


@pytest.mark.parametrize(
    "unit", ["a", "a1", "A", "=", "漢", " ", "\n", "-a", "0", "é", "😀", "\t ", "/a_"]
)
def test_a_megabyte_without_a_line_end_weighs_ten_times_a_tenth(unit):
    """Linear in the length whatever it is made of; no sort of text is searched again and again."""
    tenth = estimate_text(unit * (100_000 // len(unit)))
    assert estimate_text(unit * (1_000_000 // len(unit))) == pytest.approx(10 * tenth, rel=0.02)


@pytest.mark.parametrize(
    ("word", "unusual"), [("the", 0), ("The", 0), ("station", 0), ("zxq", 3), ("Gräßlich", 4)]
)
def test_usual_words_have_usual_letter_groups(word, unusual):
    """As many groups as letters; the edges of a word belong to it."""
    assert count_unusual(word) == unusual


def test_letter_groups_are_whole():
    """A thousand of three letters or edges."""
    assert len(USUAL_GROUPS) == 1000
    assert {len(group) for group in USUAL_GROUPS} == {3}
