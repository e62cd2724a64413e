"""Markdown in documents: faces, places, colours, what is safe, and where boxes are painted."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QRectF, Qt, QUrl
from PySide6.QtGui import QFont, QImage, QPainter, QTextBlock, QTextBlockFormat, QTextCursor

from app.markdown import (
    Look,
    MarkdownBuilder,
    SafeDocument,
    boxes,
    is_live,
    needs_plain_face,
    plain_text,
    text_between,
)
from app.markdown.highlight import COLOURED, kinds, lexer_of
from app.markdown.parsing import LITERAL, MOST_CELLS, clean
from app.markdown.pieces import code_pieces, prose_pieces
from app.markdown.scripts import direction_of
from app.theme import theme_of

TICKS = "```"
WIDTH = 600


@pytest.fixture
def look(qapp) -> Look:
    return Look.of(theme_of())


@pytest.fixture
def document(qapp) -> SafeDocument:
    return SafeDocument()


@pytest.fixture
def fill(look, document):
    """Build a text and lay it out."""

    def filled(source: str, with_look: Look = look):
        built = MarkdownBuilder(with_look).fill(document, source)
        while built.work():
            pass
        document.setTextWidth(WIDTH)
        document.size()
        return built

    return filled


def blocks_of(document: SafeDocument) -> list[QTextBlock]:
    found, block = [], document.begin()
    while block.isValid():
        found.append(block)
        block = block.next()
    return found


def top_of(document: SafeDocument, text: str) -> float:
    block = next(block for block in blocks_of(document) if text in block.text())
    return document.documentLayout().blockBoundingRect(block).top()


def font_at(document: SafeDocument, position: int) -> QFont:
    cursor = QTextCursor(document)
    cursor.setPosition(position + 1)
    return cursor.charFormat().font()


def colors_of(block: QTextBlock) -> dict[str, str]:
    """The coloured words of a line."""
    return {
        block.text()[span.start : span.start + span.length]: span.format.foreground()
        .color()
        .name()
        for span in block.layout().formats()
    }


# -- safety ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    ["http://e.org", "https://e.org/a?b#c", "HTTPS://E.ORG", "mailto:a@e.org", "http://[::1]/"],
)
def test_live_addresses(url):
    """The web and mail."""
    assert is_live(url)


@pytest.mark.parametrize(
    "url",
    [
        *["", "e.org", "//e.org", "http:", "http://", "https:e.org", "https:\\\\e.org"],
        *["mailto:", "file:///etc/passwd", "javascript:alert(1)", "data:text/html,x"],
        *["java\nscript:x", " https://e.org", "https://e.org/\u202egpj", "vbscript:x"],
        *["ftp://e.org", "tel:1", "ssh://e.org", "chrome://x", "https://e.org/\x00"],
    ],
)
def test_addresses_that_are_not_live(url):
    """All else, and what hides what it is."""
    assert not is_live(url)


def test_a_document_loads_nothing(document):
    """Whoever asks gets nothing, and it is counted."""
    document.setHtml("<img src='https://e.org/a.png'><img src='/etc/hostname'>")
    document.setTextWidth(WIDTH)
    document.size()
    assert document.resource(2, QUrl("file:///etc/hostname")) is None
    assert document.asked >= 1


def test_text_is_cleaned_of_what_qt_takes_for_its_own(fill, document):
    """Marks of frames and lone halves of characters cannot be typed into a document."""
    fill("a\ufdd0b\ufdd1c\ufffcd\x00e\ud800f\u2029g")
    assert text_between(document) == "a\ufffdb\ufffdc\ufffdd\ufffde\ufffdf\ng"
    assert clean("a\r\nb\rc") == "a\nb\nc"


# -- faces ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "is_plain"),
    [
        ("English only", False),
        ("", False),
        ("1, 2, 3", False),
        ("One word 中 in a sentence of English", False),
        ("用 SQLite 做全文搜索", True),
        ("مرحبا بالعالم", True),
        ("שלום", True),
        ("नमस्ते", True),
        ("Ελληνικά", False),
        ("한국어", True),
    ],
)
def test_the_plain_face_is_for_scripts_a_book_face_lacks(text, is_plain):
    """From a fifth of the letters on."""
    assert needs_plain_face(text) is is_plain


def test_replies_are_set_in_the_book_face(fill, document):
    """16 on 26, headings 20 on 28 and 18 on 26, semi-bold."""
    fill("# a\n## b\n### c\n#### d\n\ntext")
    sizes = [font_at(document, block.position()).pixelSize() for block in blocks_of(document)]
    lines = [block.blockFormat().lineHeight() for block in blocks_of(document)]
    assert sizes == [20, 18, 16, 16, 16]
    assert lines == [28, 26, 26, 26, 26]
    assert font_at(document, 0).families()[0] == "Literata"
    assert font_at(document, 0).weight() == QFont.Weight.DemiBold


def test_the_plain_look_is_set_in_inter(document, fill):
    """15 on 26."""
    fill("用 SQLite", Look.of(theme_of(), True))
    assert font_at(document, 0).families()[0] == "Inter"
    assert font_at(document, 0).pixelSize() == 15


def test_everything_grows_with_the_zoom(document, fill):
    """Type, lines and margins."""
    theme = theme_of()
    theme.set_zoom(1.5)
    try:
        built = fill(f"a\n\n- b\n\n{TICKS}\nc\n{TICKS}", Look.of(theme))
    finally:
        theme.set_zoom(1.0)
    first, item = blocks_of(document)[:2]
    assert first.blockFormat().lineHeight() == 39
    assert item.blockFormat().leftMargin() == 36
    frame = QTextCursor(document.findBlock(built.code[0].first)).currentFrame().frameFormat()
    assert (frame.padding(), frame.topMargin(), frame.bottomMargin()) == (15, 63, 18)


def test_emphasis_is_italic_for_latin_and_heavier_for_others(fill, document):
    """Nothing is slanted that has no italic."""
    fill("*Latin* *中文* *عربي*")
    latin, chinese, arabic = (font_at(document, place) for place in (0, 6, 9))
    assert latin.italic()
    assert latin.weight() == QFont.Weight.Normal
    assert not chinese.italic()
    assert chinese.weight() == arabic.weight() == QFont.Weight.DemiBold


def test_bold_struck_and_linked(fill, document):
    """Semi-bold, struck through, and in the accent colour without a line under it."""
    built = fill("**b** ~~s~~ [l **x**](https://e.org)")
    assert font_at(document, 0).weight() == QFont.Weight.DemiBold
    assert font_at(document, 2).strikeOut()
    assert built.links == [(4, 7, "https://e.org")]
    assert built.link_at(4) == built.link_at(6) == "https://e.org"
    assert built.link_at(7) == ""
    cursor = QTextCursor(document)
    cursor.setPosition(5)
    assert cursor.charFormat().foreground().color() == theme_of().color("accent")
    assert not cursor.charFormat().font().underline()


def test_tall_scripts_get_the_room_they_need(fill, document):
    """Lines are fixed, but may grow where letters stack."""
    fill("latin\n\nनमस्ते\n\n中文")
    found = [block.blockFormat().lineHeightType() for block in blocks_of(document)]
    fixed = QTextBlockFormat.LineHeightTypes.FixedHeight.value
    minimum = QTextBlockFormat.LineHeightTypes.MinimumHeight.value
    assert found == [fixed, minimum, fixed]


def test_line_breaks_can_be_spaces(fill, look):
    """A look may follow CommonMark to the letter."""
    built = fill("a\nb  \nc", replace(look, keep_breaks=False))
    assert built.plain == "a b\nc"


@pytest.mark.parametrize(
    ("text", "direction"),
    [("abc", "ltr"), ("12", ""), ("", ""), ("1. مرحبا", "rtl"), ("中 שלום", "ltr"), ("…", "")],
)
def test_direction_is_that_of_the_first_letter(text, direction):
    """Figures and marks have none."""
    assert direction_of(text) == direction


# -- places --------------------------------------------------------------------------------


def test_gaps_between_blocks(fill, document):
    """8 between paragraphs, 20 above and 6 below a heading, 2 in a list, 16 at a rule."""
    fill("a\n\nb\n\n# c\n\nd\n\n- e\n- f\n\n---\n\ng")
    margins = [block.blockFormat().topMargin() for block in blocks_of(document)]
    assert margins == [0, 8, 20, 6, 8, 2, 16, 16]


def test_a_loose_list_has_gaps_like_paragraphs(fill, document):
    """As its author left them; a tight list in it is tight."""
    fill("- a\n\n- b\n  - c\n  - d")
    assert [block.blockFormat().topMargin() for block in blocks_of(document)] == [0, 8, 8, 2]


def test_code_has_its_frame(fill, document):
    """No border, padding 10, 12 above and below, 30 more above for the head."""
    code = f"{TICKS}\nx\n{TICKS}\n"
    built = fill(f"a\n\n{code}\nc\n\n{code}{code}")
    frames = [
        QTextCursor(document.findBlock(code.first)).currentFrame().frameFormat()
        for code in built.code
    ]
    sides = [(f.border(), f.padding(), f.leftMargin(), f.rightMargin()) for f in frames]
    assert sides == [(0, 10, 4, 4)] * 3
    assert [(f.topMargin(), f.bottomMargin()) for f in frames] == [(42, 12), (42, 12), (30, 12)]


def test_code_lines_never_wrap(fill, document):
    """They run from left to right, whatever their script, and stay on one line."""
    built = fill(f"{TICKS}\n{'مرحبا ' * 60}\n{TICKS}")
    block = document.findBlock(built.code[0].first)
    assert block.layout().lineCount() == 1
    assert block.textDirection() == Qt.LayoutDirection.LeftToRight
    assert boxes.content_width(document, built.code[0]) > WIDTH


def x_of(line, place: int) -> float:
    found = line.cursorToX(place)
    return found[0] if isinstance(found, tuple) else found


def test_the_hanging_indent_fits_its_marker(fill, document):
    """The text after a marker starts exactly where the lines below it do."""
    fill("- word\n\n1. 中文\n\n99. x\n100. word\n\n- [x] done\n\n- > quote")
    for block in blocks_of(document):
        start = x_of(block.layout().lineAt(0), block.text().index(" ") + 1)
        assert start == pytest.approx(block.blockFormat().leftMargin(), abs=0.1), block.text()


def test_lists_stand_in_from_the_side_their_text_starts(fill, document):
    """Arabic from the right."""
    fill("- مرحبا\n- b")
    arabic, latin = (block.blockFormat() for block in blocks_of(document))
    assert (arabic.leftMargin(), arabic.rightMargin()) == (0, 24)
    assert (latin.leftMargin(), latin.rightMargin()) == (24, 0)


def test_deep_nesting_does_not_run_out_of_the_page(fill, document):
    """Beyond a depth things stand no further in, and nothing is lost at any depth."""
    built = fill(">" * 300 + " word\n\n" + "- " * 60 + "other")
    assert "word" in built.plain
    assert "other" in built.plain
    assert max(block.blockFormat().leftMargin() for block in blocks_of(document)) < 200


# -- boxes ---------------------------------------------------------------------------------


def test_a_code_box_is_head_and_code(fill, document, look):
    """12 below the text before it, 30 of head, 10 of padding on either side of the lines."""
    built = fill(f"a\n\n{TICKS}py\nb\nc\n{TICKS}\n\nd")
    box = boxes.code_box(document, built.code[0], look)
    assert box == QRectF(0, 26 + 12, WIDTH, 30 + 10 + 2 * 20 + 10)
    assert top_of(document, "d") == box.bottom() + 12


def test_a_code_box_in_a_list_stands_in(fill, document, look):
    """By as much as the item's text."""
    built = fill(f"- a\n\n  {TICKS}\n  b\n  {TICKS}")
    box = boxes.code_box(document, built.code[0], look)
    assert (box.left(), box.right()) == (24, WIDTH)


def test_neighbouring_boxes_are_12_apart(fill, document, look):
    """Code after code, and a table after that."""
    built = fill(f"{TICKS}\na\n{TICKS}\n{TICKS}\nb\n{TICKS}\n\n|c|\n|-|\n|d|\n")
    first, second = (boxes.code_box(document, code, look) for code in built.code)
    table = boxes.table_box(document, built.tables[0], look)
    assert first.top() == 0
    assert second.top() == first.bottom() + 12
    assert table.rect.top() == second.bottom() + 12


def test_a_table_box_and_its_rows(fill, document, look):
    """As wide as the column, 28 a row, and the text of each row 4 below its top."""
    built = fill("a\n\n| b | c |\n|---|---|\n| d | e |\n| f | g |\n\nh")
    table = boxes.table_box(document, built.tables[0], look)
    assert table.rect == QRectF(0, 26 + 12, WIDTH, 3 * 28)
    assert table.row_tops == (38 + 28, 38 + 56)
    assert top_of(document, "d") == table.row_tops[0] + 4
    assert top_of(document, "h") == table.rect.bottom() + 12
    assert (built.tables[0].columns, built.tables[0].rows) == (2, 3)


def test_a_table_in_a_list_stands_in(fill, document, look):
    """And ends where the column does."""
    built = fill("- a\n\n  | b | c |\n  |---|---|\n  | d | e |")
    rect = boxes.table_box(document, built.tables[0], look).rect
    assert (rect.left(), rect.right()) == (24, WIDTH)


def test_a_wide_table_is_wider_than_the_column(fill, document, look):
    """Short cells stay on one line: the view scrolls them in their frame."""
    row = "|" + "|".join(f"internationalization {n}" for n in range(8)) + "|\n"
    built = fill(row + "|" + "-|" * 8 + "\n" + row)
    assert boxes.table_box(document, built.tables[0], look).rect.width() > WIDTH + 400


def test_long_cells_wrap_and_stay_readable(fill, document, look):
    """A column of sentences is never narrower than some words."""
    sentence = "A sentence of more words than would fit on one line of a narrow column. " * 2
    row = "|" + "|".join([sentence] * 6) + "|\n"
    built = fill("|" + "a|" * 5 + "bb|\n|" + "-|" * 5 + "-:|\n" + row)
    width = boxes.table_box(document, built.tables[0], look).rect.width()
    assert 6 * 160 <= width <= 6 * 200


def test_a_table_too_large_is_shown_as_typed(fill):
    """As code: no text is lost, and no time."""
    source = "|a|b|\n|-|-|\n" + "|1|2|\n" * (MOST_CELLS // 2)
    built = fill("> x\n\n" + source)
    assert built.tables == []
    assert built.code[0].text == source.removesuffix("\n")


def test_an_inline_code_box(fill, document, look):
    """3 wider than its text on either side, 20 high, round the line."""
    built = fill("ab `code` cd")
    (box,) = boxes.inline_code_boxes(document, built.inline_code[0], look)
    line = document.begin().layout().lineAt(0)
    assert (x_of(line, 3) - box.left(), box.right() - x_of(line, 7)) == (3, 3)
    assert box.height() == 20
    assert 0 <= box.top() <= 6


def test_space_beside_inline_code_is_wider(fill, document):
    """By 3, so that the box touches no word; also before Chinese."""
    fill("中 `a` 中\n\n中 a 中")
    lines = [block.layout().lineAt(0) for block in blocks_of(document)]
    with_code, without = (x_of(line, 2) - x_of(line, 1) for line in lines)
    assert with_code - without == pytest.approx(3, abs=0.1)


def test_inline_code_over_two_lines_has_two_boxes(fill, document, look):
    """One a line."""
    built = fill("`" + "word " * 40 + "`")
    found = boxes.inline_code_boxes(document, built.inline_code[0], look)
    assert len(found) > 1
    assert found[1].top() == found[0].top() + 26


def test_a_quote_rule_spans_its_lines(fill, document, look):
    """From the top of the first to the bottom of the last, code in it included."""
    built = fill(f"a\n\n> b\n> c\n\nd\n\n> {TICKS}\n> e\n> {TICKS}")
    text, code = (boxes.quote_rule(document, quote, look) for quote in built.quotes)
    assert text == QRectF(0, 26 + 8, 2, 2 * 26)
    box = boxes.code_box(document, built.code[0], look)
    assert (code.top(), code.bottom()) == (box.top(), box.bottom())


def test_quote_rules_nest_and_turn(fill, document, look):
    """An inner rule stands where the outer text does; a Hebrew one at the right."""
    built = fill("> a\n> > b\n\nx\n\n> שלום\n\ny\n\n> नमस्ते")
    inner, outer, hebrew, indic = (boxes.quote_rule(document, q, look) for q in built.quotes)
    assert (outer.left(), inner.left()) == (0, 16)
    assert hebrew.right() == WIDTH
    assert indic.height() >= 24


def test_a_table_in_a_quote_is_within_its_rule(fill, document, look):
    """Also as the first thing and the last."""
    built = fill("> | a |\n> |---|\n> | b |")
    rule = boxes.quote_rule(document, built.quotes[0], look)
    rect = boxes.table_box(document, built.tables[0], look).rect
    assert (rule.top(), rule.bottom()) == (rect.top(), rect.bottom())
    assert rect.left() == 16


def test_a_rule_box_is_a_line(fill, document):
    """One px, 16 below what stands before, as wide as the column."""
    built = fill("a\n\n---\n\nb")
    assert boxes.rule_box(document, built.rules[0]) == QRectF(0, 26 + 16, WIDTH, 1)


def test_a_rule_after_a_table_stands_below_it(fill, document, look):
    """Where Qt would put an empty line beside the table."""
    built = fill("|a|\n|-|\n\n---\n")
    rect = boxes.table_box(document, built.tables[0], look).rect
    assert boxes.rule_box(document, built.rules[0]) == QRectF(0, rect.bottom() + 16, WIDTH, 1)
    assert built.plain == text_between(document) == "a\n"


def test_code_after_a_table(fill, document, look):
    """12 apart as well."""
    built = fill(f"|a|\n|-|\n\n{TICKS}\nb\n{TICKS}\n")
    rect = boxes.table_box(document, built.tables[0], look).rect
    assert boxes.code_box(document, built.code[0], look).top() == rect.bottom() + 12


def test_an_empty_quote_has_no_rule(fill):
    """There is nothing to stand beside."""
    assert fill(">\n\na").quotes == []


# -- code ----------------------------------------------------------------------------------


def test_code_is_coloured_from_the_tokens(fill, document):
    """Keywords, names, numbers and comments."""
    built = fill(f'{TICKS}python\ndef f(): return "s" + 1  # c\n{TICKS}')
    colors = colors_of(document.findBlock(built.code[0].first))
    wanted = {"def": "c_key", "f": "c_fn", "return": "c_key", "1": "c_num", "# c": "c_com"}
    theme = theme_of()
    assert {word: colors[word] for word in wanted} == {
        word: theme.color(token).name() for word, token in wanted.items()
    }


@pytest.mark.parametrize("language", ["", "text", "no-such-language", "x" * 40])
def test_code_of_unknown_languages_stays_plain(language, fill, document):
    """Every letter in ink."""
    built = fill(f"{TICKS}{language}\ndef f(): return 1\n{TICKS}")
    assert colors_of(document.findBlock(built.code[0].first)) == {}
    assert lexer_of(language) is None


def test_long_code_is_coloured_in_slices(look, document):
    """Each piece of idle work does about what it was asked to; beyond the cap nothing."""
    line = "value = 1  # one\n"
    source = line * (2 * COLOURED // len(line))
    built = MarkdownBuilder(look).fill(document, f"{TICKS}python\n{source}{TICKS}")
    slices = 1
    while built.work(1_000):
        slices += 1
    assert slices >= COLOURED // 1_000 - 2
    lines = [block for block in blocks_of(document) if block.text()]
    assert colors_of(lines[0])
    assert not colors_of(lines[-1])


def test_short_code_is_coloured_at_once(look, document):
    """Once its lexer is loaded."""
    lexer_of("python")
    built = MarkdownBuilder(look).fill(document, f"{TICKS}python\nreturn\n{TICKS}")
    assert built.pending == []
    assert colors_of(document.findBlock(built.code[0].first))


def test_colours_follow_characters_outside_the_basic_plane(fill, document):
    """Positions count as Qt counts."""
    built = fill(f"{TICKS}python\nx = '😀'; y = 1\n{TICKS}")
    block = document.findBlock(built.code[0].first)
    number = block.layout().formats()[-1]
    text = block.text().encode("utf-16-le")[2 * number.start : 2 * (number.start + number.length)]
    assert text.decode("utf-16-le") == "1"


def test_colours_reach_over_broken_lines(fill, document):
    """A string longer than a piece is coloured in every piece."""
    built = fill(f"{TICKS}python\nx = '{'a' * 5_000}'\n{TICKS}")
    block = document.findBlock(built.code[0].first)
    pieces = (block, block.next(), block.next().next())
    assert [bool(colors_of(piece)) for piece in pieces] == [True] * 3


def test_kinds_give_the_text_back():
    """Nothing is added, whatever the lexer likes a text to end with."""
    assert "".join(value for _kind, value in kinds("echo # c", "sh")) == "echo # c"


@pytest.mark.parametrize("length", [0, 1, 1_999, 2_000, 2_001, 5_000])
def test_pieces_of_code_are_the_line(length):
    """None is longer than it may be."""
    line = "x" * length
    assert "".join(code_pieces(line)) == line
    assert max(map(len, code_pieces(line))) <= 2_000


@pytest.mark.parametrize("word", ["word ", "x", "y" * 1_000 + " "])
def test_pieces_of_prose_do_not_depend_on_what_follows(word):
    """A longer line begins with the same pieces, but for the last."""
    line = word * (20_000 // len(word))
    for end in range(0, len(line), 777):
        pieces = prose_pieces(line[:end])
        assert "".join(pieces) == line[:end]
        assert prose_pieces(line)[: len(pieces) - 1] == pieces[:-1]


# -- text ----------------------------------------------------------------------------------


def test_text_between_two_places(fill, document):
    """What is selected is copied as it is read: broken lines whole, cells with tabs."""
    long = "x" * 2_500
    fill(f"a😀b `c`\n\n| d | e |\n|---|---|\n| f | g |\n\n{TICKS}\n{long}\n{TICKS}\n\nz")
    assert text_between(document) == f"a😀b c\nd\te\nf\tg\n{long}\nz"
    assert text_between(document, 1, 4) == "😀b"
    assert text_between(document, 4, 9).startswith(" c\n")


def test_a_long_paragraph_is_text_as_typed(fill, document):
    """Past the limit Markdown in a paragraph is shown, in pieces that lay out one by one."""
    source = "**word** " * (LITERAL // 8)
    built = fill(source)
    assert built.plain == source.strip() == plain_text(source)
    assert max(len(block.text()) for block in blocks_of(document)) <= 2_400


def test_brackets_without_end_cost_no_time(fill):
    """Each might open a link: past some hundreds they are text."""
    assert fill("[" * 5_000).plain == "[" * 5_000


def test_a_document_that_is_filled_again_forgets_what_it_said(fill, document):
    """One document serves many texts."""
    fill(f"{TICKS}\na\n{TICKS}\n\n- b\n\n|c|\n|-|\n")
    built = fill("d")
    assert document.toPlainText() == built.plain == "d"
    assert built.code == built.tables == []


def test_a_page_can_be_painted_in_both_schemes(fill, document):
    """Text takes the scheme's ink, and can be seen on its paper."""
    theme = theme_of()
    seen = set()
    try:
        for scheme in ("light", "dark"):
            theme.set_scheme(scheme)
            fill("# Title\n\n> quote", Look.of(theme))
            seen.add(font_color(document))
            image = QImage(WIDTH, 100, QImage.Format.Format_RGB32)
            image.fill(theme.color("paper"))
            painter = QPainter(image)
            document.drawContents(painter)
            painter.end()
            assert len({image.pixel(x, 14) for x in range(60)}) > 1
    finally:
        theme.set_scheme("system")
    assert len(seen) == 2


def font_color(document: SafeDocument) -> str:
    cursor = QTextCursor(document)
    cursor.setPosition(2)
    return cursor.charFormat().foreground().color().name()
