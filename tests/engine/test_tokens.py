"""Estimates are rather too large than too small."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.backends.base import PromptMessage
from engine.tokens import estimate_messages, estimate_text
from engine.transcript import ToolCall


@given(st.text())
def test_estimate_is_a_third_of_the_bytes_rounded_up(text):
    """Never negative, never zero for a text that has something in it."""
    size = len(text.encode("utf-8", "surrogatepass"))
    assert estimate_text(text) == -(-size // 3)


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 2), ("漢字", 2)])
def test_estimate_of_small_texts(text, tokens):
    """Known values."""
    assert estimate_text(text) == tokens


def test_everything_a_model_reads_is_counted():
    """Content, thinking and calls of every message, and what the template puts around each."""
    call = ToolCall("c", "clock", {"zone": "UTC"})
    bare = estimate_messages([PromptMessage("user", "")])
    full = PromptMessage("assistant", "abc", thinking="abc", tool_calls=(call,))
    assert bare == 8
    assert estimate_messages([full]) > 8 + 1 + 1
    assert estimate_messages([full, full]) == 2 * estimate_messages([full])
