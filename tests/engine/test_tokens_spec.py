"""The specification's estimator: vectors E1 to E21 of context-engine.md 3, and UTF-16 lengths.

Not adopted: E18, E19 and the second figure of E3 in the specification's own estimate (rules of
later versions, marked CHG). Vectors of anchored counts (E12 to E14) are in test_tokens_counting.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.store.records import body_of
from engine.tokens import (
    estimate_body,
    is_runtime_context,
    spec_messages_tokens,
    spec_prompt_tokens,
    spec_tokens,
    utf16_head,
    utf16_length,
    utf16_tail,
    weighted_chars,
)
from engine.transcript import (
    BranchSummary,
    Compaction,
    Custom,
    CustomMessage,
    Image,
    Label,
    Message,
    Text,
    Thinking,
    ToolCall,
    Unknown,
    user,
)

PICTURE = Image("image/png", "AAAA")


def _result(*parts, **fields):
    return Message("tool_result", parts, **fields)


BASH = body_of(
    {
        "type": "message",
        "message": {"role": "bashExecution", "command": "ls", "output": "abc", "exitCode": 0},
    }
)


@pytest.mark.parametrize(
    ("body", "tokens"),
    [
        pytest.param(user(""), 0, id="E1-empty"),
        pytest.param(user("a"), 1, id="E1-a"),
        pytest.param(user("abcd"), 1, id="E1-abcd"),
        pytest.param(user("abcde"), 2, id="E1-abcde"),
        pytest.param(user("x" * 400), 100, id="E2"),
        pytest.param(Message("user", (Text("abcde"), PICTURE)), 2, id="E3"),
        pytest.param(_result(PICTURE), 1200, id="E4"),
        pytest.param(_result(Text("abcd"), PICTURE), 1201, id="E5"),
        pytest.param(
            Message(
                "assistant",
                (Text("abcd"), Thinking("efgh"), ToolCall("1", "read", {"path": "a.txt"})),
            ),
            7,
            id="E6",
        ),
        pytest.param(BASH, 2, id="E7"),
        pytest.param(Compaction("12345678", ""), 2, id="E8"),
        pytest.param(BranchSummary("", "12345678"), 2, id="E8-branch"),
        pytest.param(Message("system", (Text("x" * 4000),)), 0, id="E9"),
        pytest.param(user("漢字漢字"), 1, id="E10-plain"),
        pytest.param(_result(Text("abcd"), details={"raw": "x" * 10**6}), 1, id="E20"),
        pytest.param(CustomMessage("note", "abcd", details={"x": "y" * 999}), 1, id="custom"),
        pytest.param(CustomMessage("openclaw.runtime-context", "abcd"), 0, id="runtime-context"),
        pytest.param(Custom("x", {"a": "b"}), 0, id="data"),
        pytest.param(Label("x", "long label"), 0, id="label"),
        pytest.param(Unknown("message", {"message": "?"}), 0, id="unknown"),
    ],
)
def test_estimate_of_a_body(body, tokens):
    """Characters are summed, then rounded up once for each message."""
    assert spec_tokens(body) == tokens


@pytest.mark.parametrize(
    ("arguments", "chars"),
    [
        pytest.param({"path": "a.txt"}, 16, id="E6"),
        pytest.param({"a": [1, 2.5, True, None]}, 23, id="E21-compact"),
        pytest.param({"é": "漢😀"}, 11, id="E21-unescaped"),
        pytest.param({}, 2, id="E21-empty"),
    ],
)
def test_arguments_are_measured_as_compact_json(arguments, chars):
    """E21: no spaces, nothing escaped; an emoji is two characters."""
    call = ToolCall("1", "", arguments)
    filled = Message("assistant", (Text("x" * (400 - chars)), call))
    overfull = Message("assistant", (Text("x" * (401 - chars)), call))
    assert (spec_tokens(filled), spec_tokens(overfull)) == (100, 101)


def test_a_user_cannot_think_and_a_reply_has_no_pictures():
    """Parts count only in the roles that have them."""
    assert spec_tokens(Message("user", (Thinking("abcd"), ToolCall("1", "read", {})))) == 0
    assert spec_tokens(Message("assistant", (PICTURE,))) == 0


@pytest.mark.parametrize(
    ("text", "chars"),
    [
        ("abcd", 4), ("漢字", 8), ("漢字ab", 10), ("𠀀", 4), ("한국", 8), ("😀", 2),
        ("こんにちは世界", 28), ("", 0), ("é", 1),
    ],
)  # fmt: skip
def test_weighted_length(text, chars):
    """E11 (and the second figure of E10): each CJK character weighs four, an emoji its two units."""
    assert weighted_chars(text) == chars


@pytest.mark.parametrize(
    ("bodies", "prompt", "system", "tokens"),
    [
        pytest.param([], "", "", 0, id="E15"),
        pytest.param([], "hello", "x" * 40000, 12003, id="E16"),
        pytest.param([user("x" * 4000)], "hello", "", 1203, id="E17"),
    ],
)
def test_estimate_before_a_prompt(bodies, prompt, system, tokens):
    """E15 to E17: everything times 1.2, rounded up; the system prompt counts (CONFLICT-13)."""
    assert spec_prompt_tokens(bodies, prompt=prompt, system_prompt=system) == tokens


def test_the_larger_of_two_histories_decides():
    """Unwindowed rule: a history that was shortened does not hide the one it came from."""
    small, large = [user("x" * 40)], [user("x" * 4000)]
    assert spec_prompt_tokens(small, unwindowed=large) == 1200
    assert spec_prompt_tokens(large, unwindowed=small) == 1200


def test_messages_are_rounded_one_by_one():
    """Five messages of one character are five tokens."""
    assert spec_messages_tokens([user("a")] * 5) == 5


@pytest.mark.parametrize("name", ["openclaw.runtime-context", "runtime-context"])
def test_runtime_context_never_reaches_a_count(name):
    """What the program tells itself counts in neither estimator (SPEC1 12.3.1)."""
    body = CustomMessage(name, "secret " * 100)
    assert is_runtime_context(body)
    assert (spec_tokens(body), estimate_body(body)) == (0, 0)


def test_other_custom_messages_count():
    """A note of another program part does reach the model."""
    body = CustomMessage("note", "abcd")
    assert not is_runtime_context(body)
    assert estimate_body(body) > 8


# ---- UTF-16 -----------------------------------------------------------------------------------

texts = st.text(
    st.sampled_from("ab é漢😀𠀀\n") | st.characters(exclude_categories=["Cs"]), max_size=60
)


@given(st.text(st.characters(), max_size=60))
def test_length_is_in_utf16_units(text):
    """Half surrogate pairs count one."""
    assert utf16_length(text) == sum(2 if ord(c) > 0xFFFF else 1 for c in text)


@given(texts, st.integers(-2, 130))
def test_head_is_the_longest_that_fits(text, units):
    """A beginning of the text, never over, and one character more would be over."""
    head = utf16_head(text, units)
    assert text.startswith(head)
    assert utf16_length(head) <= max(0, units)
    if head != text:
        assert utf16_length(text[: len(head) + 1]) > units


@given(texts, st.integers(-2, 130))
def test_tail_is_the_longest_that_fits(text, units):
    """An end of the text, never over, and one character more would be over."""
    tail = utf16_tail(text, units)
    assert text.endswith(tail)
    assert utf16_length(tail) <= max(0, units)
    if tail != text:
        assert utf16_length(text[len(text) - len(tail) - 1 :]) > units


def test_a_pair_is_never_cut():
    """An emoji that does not fit whole is left out whole."""
    assert utf16_head("a😀b", 2) == "a"
    assert utf16_tail("a😀b", 2) == "b"
