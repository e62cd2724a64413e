"""Markdown that streams in: the same document in the end, and little work on the way."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QTextBlock, QTextDocument, QTextFrame, QTextTable
from PySide6.QtWidgets import QApplication

from app.markdown import Built, Look, MarkdownBuilder, MarkdownStream, SafeDocument
from app.theme import theme_of

TICKS = "```"
BITS = [
    *["- item\n", "- **b** item\n", "* other\n", "1. n\n", "1. n\n", "9. m\n", "\n", "- \n"],
    *["# Head\n", "text with `code` and **bold**\n", "text\n", "\n", "\n\n", "- item\n"],
    *["  - sub\n", "1. one\n", "2. two\n", "10. ten\n", "   text in item\n", "> quote\n"],
    *["> - q\n", "```python\n", "```\n", "~~~~\n", " ```\n", "    indented\n", "def f(): # c\n"],
    *['"""doc\n', "| a | b |\n", "|---|--:|\n", "| 1 | `x` |\n", "---\n", "===\n", "$$\n"],
    *["a_i * b\n", "+ c\n", "\\[ E\n", "\\]\n", "[x]: https://e.org\n", "[x]: https://e.org"],
    *["see [x] and [y](https://a.b)\n", "- [ ] todo\n", "- [x] done\n", "**bol", "`", "#"],
    *["\r\n", "\r", "\t", "  ", "中文**强调：**请 *斜体*\n", "مرحبا `code`\n", "😀 `a😀b` z\n"],
    *["<think>\n", "<b>x</b>", "* * *\n", "*", "-", "|", "[x]", "!", "\\", "&amp;", "word word "],
]
LONG = ["x" * 2_500 + "\n", "word " * 1_500, "y" * 7_000, "```python\n", "```\n", "\n", "\n\n"]
CODE = "".join(f"    value_{n} = compute({n})  # line {n}\n" for n in range(1_500))


@pytest.fixture(scope="module")
def look(qapp) -> Look:
    return Look.of(theme_of())


@pytest.fixture
def stream(look) -> MarkdownStream:
    return MarkdownStream(SafeDocument(), look)


def blocks_of(document: QTextDocument) -> list[QTextBlock]:
    found, block = [], document.begin()
    while block.isValid():
        found.append(block)
        block = block.next()
    return found


def described(block: QTextBlock) -> tuple[object, ...]:
    """All of a block that can be seen."""
    form = block.blockFormat()
    runs, fragments = [], block.begin()
    while not fragments.atEnd():
        fragment = fragments.fragment()
        style = fragment.charFormat()
        color = style.foreground().color().name()
        runs.append((fragment.text(), style.font().toString(), color, style.anchorHref()))
        fragments += 1
    colors = [
        (span.start, span.length, span.format.foreground().color().name())
        for span in block.layout().formats()
    ]
    margins = (form.topMargin(), form.leftMargin(), form.rightMargin(), form.textIndent())
    line = (form.lineHeight(), form.lineHeightType(), form.nonBreakableLines())
    sides = (form.alignment(), form.layoutDirection(), form.headingLevel())
    letters = block.charFormat().font().toString()
    return (block.text(), letters, margins, line, sides, form.property(0x100001), runs, colors)


def paddings_of(frame: QTextFrame) -> list[tuple[float, ...]]:
    """Of each cell of a table."""
    if not isinstance(frame, QTextTable):
        return []
    at = [(row, column) for row in range(frame.rows()) for column in range(frame.columns())]
    forms = [frame.cellAt(*place).format().toTableCellFormat() for place in at]
    sides = [(form.topPadding(), form.leftPadding(), form.rightPadding()) for form in forms]
    return [(*side, frame.columns()) for side in sides]


def picture_of(document: QTextDocument, built: Built) -> list[object]:
    """A document in full, to be compared."""
    while built.work():
        pass
    frames = []
    for frame in document.rootFrame().childFrames():
        form = frame.frameFormat()
        margins = (form.topMargin(), form.bottomMargin(), form.leftMargin(), form.padding())
        place = (isinstance(frame, QTextTable), frame.firstPosition(), frame.lastPosition())
        frames.append((place, margins, paddings_of(frame)))
    notes = (built.code, built.tables, built.links, built.inline_code, built.quotes, built.rules)
    return [*map(described, blocks_of(document)), frames, notes, built.plain]


LONG_CELL = "a long cell that may wrap because it says so much about the light " * 2
CELLS = [
    "a",
    "`x`",
    "",
    "**b** c",
    "[l](https://e.org)",
    "中文",
    "\\|",
    "`a\\|b`",
    LONG_CELL,
    "مرحبا",
]
tables = st.builds(
    lambda heads, sides, rows, after: "".join(
        [line_of(heads), line_of(sides), *map(line_of, rows), after]
    ),
    st.lists(st.sampled_from(CELLS), min_size=3, max_size=3),
    st.lists(st.sampled_from(["---", ":-:", "--:", "-"]), min_size=3, max_size=3),
    st.lists(st.lists(st.sampled_from(CELLS), min_size=1, max_size=5), max_size=12),
    st.sampled_from(
        ["", "\n", "\n\nAfter.\n", "# Head\n", "```\ncode\n", "> q\n", "- l\n", "   \nx"]
    ),
)


def line_of(cells: list[str]) -> str:
    """A row of a table."""
    return "| " + " | ".join(cells) + " |\n"


texts = st.one_of(
    tables,
    st.lists(st.sampled_from(BITS), min_size=1, max_size=30).map("".join),
    st.lists(st.sampled_from(LONG + BITS[:20]), min_size=1, max_size=8).map("".join),
)


@settings(deadline=None, max_examples=60)
@given(texts, st.lists(st.integers(1, 60), min_size=1, max_size=20), st.booleans())
def test_any_chunking_ends_as_the_whole_does(source, sizes, works):
    """Whatever the text and however it is cut, the finished document is that of `fill`."""
    QApplication.instance() or QApplication([])
    look = Look.of(theme_of())
    whole, streamed = SafeDocument(), SafeDocument()
    expected = picture_of(whole, MarkdownBuilder(look).fill(whole, source))
    stream, at, turn = MarkdownStream(streamed, look), 0, 0
    coarse = 1 + len(source) // 2_000  # long texts in larger pieces
    while at < len(source):
        size = coarse * sizes[turn % len(sizes)]
        stream.append(source[at : at + size])
        if works:
            stream.built.work(size)
        at, turn = at + size, turn + 1
    assert picture_of(streamed, stream.finish()) == expected


def test_the_text_so_far_is_always_shown(stream):
    """No part of the text waits for the next piece, but what may yet be a closing fence."""
    source = "# A\n\nb `c` d\n\n- e\n- f\n"
    for at in range(len(source)):
        stream.append(source[at])
        letters = [char for char in source[: at + 1] if char.isalpha()]
        assert [c for c in stream._document.toPlainText() if c.isalpha()] == letters


def test_closed_blocks_are_not_touched_again(stream, qtbot):
    """What is removed for each piece is the last block, however much stands before it."""
    stream.append("A paragraph.\n\n" * 200)
    before = stream.effort.removed
    stream.append("And")
    stream.append(" more")
    assert stream.effort.removed - before <= len("A paragraph.\n\nAnd more") + 2


def test_a_long_reply_is_not_parsed_again_and_again(stream):
    """All parsing together is a small multiple of the text."""
    source = "Some words in a paragraph that is of a usual length.\n\n" * 400
    for at in range(0, len(source), 20):
        stream.append(source[at : at + 20])
    assert stream.effort.parsed < 5 * len(source)


@pytest.mark.parametrize("opening", ["", "Here it is:\n\n", "- a list\n\nand\n\n"])
def test_an_open_fence_only_grows(look, opening):
    """1,500 lines of code, piece by piece: nothing is removed, nothing is parsed again."""
    document = SafeDocument()
    stream = MarkdownStream(document, look)
    stream.append(f"{opening}{TICKS}python\n")
    parsed, removed = stream.effort.parsed, stream.effort.removed
    places = []
    document.size()  # without a layout no changes are told
    document.contentsChange.connect(lambda place, gone, come: places.append((place, gone, come)))
    for at in range(0, len(CODE), 37):
        stream.append(CODE[at : at + 37])
    assert stream.effort.parsed == parsed
    assert stream.effort.removed == removed
    written = sum(come - gone for _place, gone, come in places)
    assert written == pytest.approx(len(CODE), abs=3)
    assert max(come for _place, _gone, come in places) < 200
    assert stream.built.code[0].text == CODE.removesuffix("\n")


def test_a_long_list_is_not_built_again_and_again(stream):
    """Its items stand once two more have begun."""
    source = "".join(f"- item {n} with **some** `code` in it\n" for n in range(80))
    for at in range(0, len(source), 20):
        stream.append(source[at : at + 20])
    assert stream.effort.parsed < 16 * len(source)
    assert stream.effort.removed < 16 * len(source)
    assert stream.finish().plain.count("• item") == 80


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        ("- a\n- b\n- c\n- d\n\n- e\n", "• a\n• b\n• c\n• d\n• e"),  # loose in the end
        ("- a\n\n- b\n- c\n- d\n- e\n", "• a\n• b\n• c\n• d\n• e"),
        ("1. a\n" * 12, "\n".join(f"{n}. a" for n in range(1, 13))),  # wider in the end
        ("- a\n- b\n- c\n- d\n* e\n* f\n", "• a\n• b\n• c\n• d\n• e\n• f"),
        (f"- a\n- b\n- c\n- d\n{TICKS}\ne\n{TICKS}\n", "• a\n• b\n• c\n• d\ne"),
        (f"- a\n- b\n- c\n\n{TICKS}\n\n- e", "• a\n• b\n• c\n\n- e"),
        (f"- a\n- b\n- c\n- d\n\n  e\n\n{TICKS}\nf", "• a\n• b\n• c\n• d\ne\nf"),
        ("- a\n- b\n- c\n\nd\n", "• a\n• b\n• c\nd"),
        ("- a\n- b\n- c\n===\n", "• a\n• b\n• c\n==="),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_a_list_ends_as_it_should(stream, look, source, plain, size):
    """Whatever its later items do to it, at any chunking."""
    for at in range(0, len(source), size):
        stream.append(source[at : at + size])
    built = stream.finish()
    assert built.plain == plain
    whole = SafeDocument()
    expected = picture_of(whole, MarkdownBuilder(look).fill(whole, source))
    assert picture_of(stream._document, built) == expected


def test_an_address_inside_what_ends_in_an_open_fence(stream):
    """Links are made good also if the text breaks off in code."""
    stream.append(f"See [x].\n\n[x]: https://e.org\n\n{TICKS}\ncode")
    assert [url for *_, url in stream.finish().links] == ["https://e.org"]


def test_an_open_fence_is_noted_as_it_grows(stream):
    """The view can paint its box, and its text can be copied, at any time."""
    stream.append(f"{TICKS}py\na = 1\nb")
    frame = stream.built.code[0]
    assert (frame.language, frame.text) == ("py", "a = 1\nb")
    assert frame.last - frame.first == len("a = 1\nb")


def test_finished_lines_are_coloured_while_the_fence_is_open(stream):
    """Once the lexer is loaded, which the first idle work does."""
    stream.append(f"{TICKS}lua\n")
    while stream.built.work():
        pass
    stream.append("return 1\n    pas")
    line = stream._document.findBlock(stream.built.code[0].first)
    assert line.layout().formats()
    assert not line.next().layout().formats()


def test_what_may_close_the_fence_waits(stream):
    """Ticks at a line's start are shown once they are code after all."""
    stream.append(f"{TICKS}\na\n``")
    assert stream.built.code[0].text == "a"
    stream.append("x")
    assert stream.built.code[0].text == "a\n``x"


def test_text_after_a_fence_in_the_same_piece(stream):
    """A piece may close the fence, go on, and open another."""
    stream.append(f"{TICKS}\na\n{TICKS}\nb\n\n{TICKS}\nc\n{TICKS}\nd")
    assert stream.finish().plain == "a\nb\nc\nd"
    assert [code.text for code in stream.built.code] == ["a", "c"]


def test_indented_fence_loses_its_indent(stream):
    """As much as the opening line had, tabs counted as columns."""
    stream.append(f"  {TICKS}\n   a\n\tb\n c\n  {TICKS}\n")
    assert stream.finish().plain == " a\n  b\nc"


def test_a_long_line_without_spaces_is_only_appended_to(stream):
    """100 KB without a space: every piece costs its own length, not that of the line."""
    for _ in range(100):
        stream.append("x" * 1_000)
    assert stream.effort.parsed < 60_000
    assert stream.effort.removed < 60_000
    assert max(len(block.text()) for block in blocks_of(stream._document)) <= 2_400
    assert stream.finish().plain == "x" * 100_000


def test_a_long_paragraph_of_lines_is_left_where_it_stands(stream):
    """Line by line past the limit, nothing of it is removed any more."""
    stream.append("word " * 1_400 + "\n")
    stream.append("more\n")
    removed = stream.effort.removed
    stream.append("and more\nlast\n\nanother paragraph")
    assert stream.effort.removed == removed
    assert stream.finish().plain.endswith("more\nand more\nlast\nanother paragraph")


def test_a_long_paragraph_that_becomes_something_else(stream):
    """If a later line makes a heading of it, it is built again."""
    stream.append("word " * 1_400 + "\n")
    stream.append("more")
    stream.append("\n===\n\nend")
    assert stream.finish().plain.endswith("more\nend")


def test_a_long_line_of_code_is_broken(stream):
    """Into pieces that are one line when copied."""
    stream.append(f"{TICKS}\n")
    for _ in range(50):
        stream.append("y" * 100)
    assert [len(block.text()) for block in blocks_of(stream._document)][1:4] == [2000, 2000, 1000]
    assert stream.finish().plain == "y" * 5_000


def test_an_address_that_comes_later(stream):
    """The link that was shown as typed is a link in the end."""
    stream.append("See [here].\n\nMore.\n\n")
    assert stream.built.links == []
    stream.append("[here]: https://e.org")
    assert [url for *_, url in stream.finish().links] == ["https://e.org"]
    assert stream.effort.rebuilt == 1


def test_half_a_line_end_is_held_back(stream):
    """A carriage return waits for its line feed; at the end it is a line end itself."""
    stream.append("a\r")
    stream.append("\nb\r")
    assert stream.finish().plain == "a\nb"


def test_nothing_at_all(stream):
    """An empty reply is an empty document."""
    stream.append("")
    assert stream.finish().plain == ""
    assert stream.source == ""


# ---- large tables -----------------------------------------------------------------------------------

HEAD = "| a | b | c | d |\n|---|---|---|---|\n"


def rows(count):
    """So many rows of four cells."""
    return "".join(f"| {n} | `b` | c{n} | d |\n" for n in range(count))


def streamed(text, size, look):
    """A stream that got the text in pieces, and how often the document was another one."""
    document = SafeDocument()
    stream, seen = MarkdownStream(document, look), []
    for at in range(0, len(text), size):
        stream.append(text[at : at + size])
        seen.append(document.revision())
    return stream, document, len(set(seen))


@pytest.mark.parametrize(
    "after", ["", "\n", "\n\nAfter.\n", "# Head\n", "```\nx\n", "> q\n", "   \nx\n"]
)
@pytest.mark.parametrize("size", [3, 40])
def test_table_shown_as_typed_ends_as_when_built_at_once(after, size, look):
    """What follows a table of too many cells ends it as it would end any other."""
    text = "Before.\n\n" + HEAD + rows(125) + after
    stream, document, _shown = streamed(text, size, look)
    built = stream.finish()
    whole = SafeDocument()
    wanted = MarkdownBuilder(look).fill(whole, text)
    assert picture_of(document, built) == picture_of(whole, wanted)


def test_open_table_leaves_its_complete_rows(look):
    """What is removed and parsed for each piece is the last row, however many stand before it."""
    efforts = []
    for count in (2, 4):
        stream = MarkdownStream(SafeDocument(), look)
        stream.append(HEAD + rows(count))
        before = stream.effort.parsed
        stream.append("| new |")
        efforts.append(stream.effort.parsed - before)
        assert "new" in stream._document.toPlainText()
    assert efforts[0] == efforts[1] <= len(HEAD + "| new |")


@pytest.mark.parametrize("count", [3, 40, 75, 200])
def test_table_of_any_size_ends_as_when_built_at_once(count, look):
    """Whatever was shown of it meanwhile."""
    text = HEAD + rows(count)
    stream, document, _shown = streamed(text, 14, look)
    built = stream.finish()
    whole = SafeDocument()
    wanted = MarkdownBuilder(look).fill(whole, text)
    assert picture_of(document, built) == picture_of(whole, wanted)


def test_end_that_was_waited_with_is_there(look):
    """Also when the last piece of the text was the last one to wait."""
    text = "| a | a | a |\n|---|---|---|\n" + "| a |\n" * 7
    whole = SafeDocument()
    wanted = MarkdownBuilder(look).fill(whole, text).plain
    for size in range(1, 9):
        stream, _document, _shown = streamed(text, size, look)
        assert stream.finish().plain.split() == wanted.split()


def test_small_table_shows_every_piece(look):
    """As all other text does."""
    text = HEAD + rows(4)
    _stream, _document, shown = streamed(text, 6, look)
    assert shown >= len(text) // 6 - 3


def test_large_table_is_built_now_and_then(look):
    """The pieces that are waited for grow with the table, so that the work of each does not."""
    few, many = HEAD + rows(20), HEAD + rows(75)
    per_character = []
    for text in (few, many):
        stream, _document, shown = streamed(text, 14, look)
        per_character.append(stream.effort.parsed / len(text))
    assert per_character[1] < 1.5 * per_character[0]
    assert shown < len(many) // 14 / 4


def test_table_that_is_shown_as_typed_is_built_now_and_then(look):
    """One that is too large is no less work to read again."""
    text = HEAD + rows(300)
    stream, _document, shown = streamed(text, 14, look)
    assert shown < len(text) // 14 / 2
    assert stream.effort.parsed < 100 * len(text)


def test_end_of_a_large_table_shows_at_once(look):
    """An empty line closes it: nothing is waited for."""
    stream, document, _shown = streamed(HEAD + rows(50), 14, look)
    stream.append("\n\nAfter.")
    assert document.toPlainText().endswith("After.")
    assert "c49" in document.toPlainText()
