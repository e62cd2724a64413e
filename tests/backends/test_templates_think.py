"""The stream of a reply: thinking apart from text, stop strings, whole characters."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.backends.llamacpp_worker.think import (
    Split,
    StopFinder,
    ThinkSplitter,
    ThinkTags,
    Utf8Splitter,
    find_think_tags,
    opens_thinking,
)

LETTERS = st.text("ab<>/thinkאé\n", max_size=30)
TAGS = st.text("ab<>", min_size=1, max_size=5)


def chunked(text: str, cuts: list[int]) -> list[str]:
    """The text in pieces, cut at some places."""
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    return [text[a:b] for a, b in pairwise(places)]


def split(splitter: ThinkSplitter, chunks: list[str]) -> tuple[str, str, list[Split]]:
    """All thinking, all text, and the parts with neighbours of one kind joined."""
    parts = [part for chunk in chunks for part in splitter.feed(chunk)] + splitter.flush()
    assert all(text for _, text in parts)
    joined: list[Split] = []
    for kind, text in parts:
        if joined and joined[-1][0] == kind:
            joined[-1] = (kind, joined[-1][1] + text)
        else:
            joined.append((kind, text))
    thinking = "".join(text for kind, text in joined if kind == "thinking")
    return thinking, "".join(text for kind, text in joined if kind == "text"), joined


def test_thinking_is_parted_from_text():
    """A reply that opens its thinking, closes it and answers."""
    splitter = ThinkSplitter("<think>", "</think>")
    _, _, parts = split(splitter, ["<think>hm, ", "2+2</think>", "It is 4."])
    assert parts == [("thinking", "hm, 2+2"), ("text", "It is 4.")]


def test_thinking_that_the_prompt_opened():
    """The template wrote the opening tag: the reply begins with thinking."""
    splitter = ThinkSplitter("<think>", "</think>", opened=True)
    _, _, parts = split(splitter, ["hm</thi", "nk>\n\nFour."])
    assert parts == [("thinking", "hm"), ("text", "\n\nFour.")]


def test_text_is_shown_at_once():
    """Nothing is held back that cannot become a tag; a possible start of one is."""
    splitter = ThinkSplitter("<think>", "</think>")
    assert splitter.feed("All of this at once") == [("text", "All of this at once")]
    assert splitter.feed(" 1 < 2 <th") == [("text", " 1 < 2 ")]
    assert splitter.feed("e end") == [("text", "<the end")]


def test_a_tag_never_finished_is_text():
    """What was held back comes out at the end."""
    splitter = ThinkSplitter("<think>", "</think>")
    assert splitter.feed("x <thin") == [("text", "x ")]
    assert splitter.flush() == [("text", "<thin")]
    assert splitter.flush() == []


def test_without_tags_everything_is_text():
    """A model that does not think: its tags are text."""
    splitter = ThinkSplitter("", "")
    assert split(splitter, ["<think>", "</think>"])[2] == [("text", "<think></think>")]


def test_marks_of_the_format_are_dropped():
    """gpt-oss's channels: neither thinking nor answer; inside the thinking they would stay."""
    tags = find_think_tags("<|channel|>analysis<|message|> … <|end|>")
    assert tags is not None
    splitter = ThinkSplitter(tags.open, tags.close, passing=tags.passing)
    reply = (
        "<|channel|>analysis<|message|>hm <|start|>assistant<|end|>"
        "<|start|>assistant<|channel|>final<|message|>Four."
    )
    thinking, text, _ = split(splitter, list(reply))
    assert (thinking, text) == ("hm <|start|>assistant", "Four.")


@given(
    text=LETTERS, opens=TAGS, closes=TAGS, opened=st.booleans(), cuts=st.lists(st.integers(0, 30))
)
@settings(deadline=None)
def test_chunks_do_not_change_the_parts(text, opens, closes, opened, cuts):
    """However a reply is cut into chunks, its parts are the same as in one piece."""
    whole = split(ThinkSplitter(opens, closes, opened=opened), [text])
    assert split(ThinkSplitter(opens, closes, opened=opened), chunked(text, cuts)) == whole
    assert split(ThinkSplitter(opens, closes, opened=opened), list(text)) == whole


@given(text=LETTERS, tags=st.lists(TAGS, max_size=3), cuts=st.lists(st.integers(0, 30)))
@settings(deadline=None)
def test_chunks_do_not_change_what_is_dropped(text, tags, cuts):
    """The same with texts that are dropped."""
    whole = split(ThinkSplitter("<a>", "</a>", passing=tags), [text])
    assert split(ThinkSplitter("<a>", "</a>", passing=tags), chunked(text, cuts)) == whole


@given(parts=st.lists(st.tuples(st.booleans(), st.text("abc ", min_size=1)), max_size=6))
@settings(deadline=None)
def test_what_was_tagged_is_found_again(parts):
    """Thinking and text put together with tags come apart again."""
    reply = "".join(f"[THINK]{text}[/THINK]" if thinks else text for thinks, text in parts)
    thinking, text, _ = split(ThinkSplitter("[THINK]", "[/THINK]"), list(reply))
    assert thinking == "".join(part for thinks, part in parts if thinks)
    assert text == "".join(part for thinks, part in parts if not thinks)


# ---- which tags


@pytest.mark.parametrize(
    ("source", "opens", "closes"),
    [
        ("{{ '<think>' }}{{ '</think>' }}", "<think>", "</think>"),
        ("<seed:think> x </seed:think>", "<seed:think>", "</seed:think>"),
        ("<mm:think> </mm:think>", "<mm:think>", "</mm:think>"),
        ("<thinking> </thinking>", "<thinking>", "</thinking>"),
        ("[THINK] … [/THINK]", "[THINK]", "[/THINK]"),
        ("<|START_THINKING|><|END_THINKING|>", "<|START_THINKING|>", "<|END_THINKING|>"),
        ("{% set c = content.split('</think>')[-1] %}", "<think>", "</think>"),
        ("<thinking_instructions></thinking_instructions></think>", "<think>", "</think>"),
    ],
)
def test_the_tags_of_a_template_are_known(source, opens, closes):
    """The tags that templates in use write."""
    assert find_think_tags(source) == ThinkTags(opens, closes)


def test_tags_put_together_while_rendering_are_found_in_the_prompt():
    """A template that formats its tags shows them only in what it prints."""
    assert find_think_tags("'<think{}>'") is None
    assert find_think_tags("'<think{}>'", "<think:x></think:x>") == ThinkTags(
        "<think:x>", "</think:x>"
    )


def test_a_template_without_thinking_has_no_tags():
    """No tags, and the end of its prompt opens nothing."""
    assert find_think_tags("{{ messages }}") is None
    assert not opens_thinking("<|im_start|>assistant\n<think>", None)


@pytest.mark.parametrize(
    ("end", "opened"),
    [
        ("assistant\n", False),
        ("assistant\n<think>\n", True),
        ("assistant\n<think>\n\n</think>\n\n", False),
        ("assistant</think>", False),
        ("old <think>x</think> assistant\n<think>", True),
    ],
)
def test_the_end_of_a_prompt_tells_whether_thinking_is_open(end, opened):
    """Open if the last opening tag comes after the last closing one."""
    assert opens_thinking(end, ThinkTags("<think>", "</think>")) is opened


# ---- stop strings


def stopped(stops: list[str], chunks: list[str]) -> tuple[str, bool]:
    """All safe text, and whether a stop string was met."""
    finder = StopFinder(stops)
    safe = "".join(finder.feed(chunk)[0] for chunk in chunks)
    safe += finder.flush()
    return safe, finder.feed("more")[1]


def test_a_stop_string_ends_the_text_before_it():
    """It is not part of the text, and what follows is not shown."""
    finder = StopFinder(["\nUser:", "###"])
    assert finder.feed("Hello.\nUs") == ("Hello.", False)
    assert finder.feed("er: and more") == ("", True)
    assert finder.feed("still more") == ("", True)
    assert finder.flush() == ""


def test_a_stop_string_begun_and_not_finished_is_text():
    """What was held back is given out as soon as it cannot become one."""
    finder = StopFinder(["\nUser:"])
    assert finder.feed("Hello.\nUs") == ("Hello.", False)
    assert finder.feed("ually") == ("\nUsually", False)
    assert finder.feed("\n") == ("", False)
    assert finder.flush() == "\n"


def test_without_stop_strings_all_text_is_safe():
    """No stops, and empty ones: nothing is held back."""
    assert StopFinder([]).feed("abc") == ("abc", False)
    assert StopFinder([""]).feed("abc") == ("abc", False)


@given(text=LETTERS, stops=st.lists(TAGS, max_size=3), cuts=st.lists(st.integers(0, 30)))
@settings(deadline=None)
def test_chunks_do_not_change_where_the_text_stops(text, stops, cuts):
    """However the text is cut into chunks, it stops at the same place."""
    whole = stopped(stops, [text])
    assert stopped(stops, chunked(text, cuts)) == whole
    assert stopped(stops, list(text)) == whole


@given(text=LETTERS, stops=st.lists(TAGS, min_size=1, max_size=3))
@settings(deadline=None)
def test_the_safe_text_holds_no_stop_string(text, stops):
    """It is a beginning of the text, whole if and only if there is no stop string in it."""
    safe, met = stopped(stops, list(text))
    assert text.startswith(safe)
    assert met == any(stop in text for stop in stops)
    assert not any(stop in safe for stop in stops)
    assert met or safe == text


# ---- characters


@given(text=st.text(), cuts=st.lists(st.integers(0, 60)))
@settings(deadline=None)
def test_bytes_become_whole_characters(text, cuts):
    """Bytes cut anywhere, also within a character."""
    raw = text.encode()
    places = sorted({min(cut, len(raw)) for cut in cuts} | {0, len(raw)})
    decoder = Utf8Splitter()
    parts = [decoder.feed(raw[a:b]) for a, b in pairwise(places)]
    assert "".join(parts) + decoder.flush() == text


def test_bytes_that_are_no_characters_are_marked():
    """Broken bytes and an unfinished character become U+FFFD; nothing is raised."""
    decoder = Utf8Splitter()
    assert decoder.feed(b"a\xff") == "a�"
    assert decoder.feed("é".encode()[:1]) == ""
    assert decoder.flush() == "�"
