"""Markdown as models write it: what is shown, that no word is lost, and that nothing is live.

The samples follow the chapters of the CommonMark specification and its extension for tables, in
our own words, and go on with what chat models do: unfinished text, HTML, LaTeX, many scripts.
"""

import re

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage, QPainter, QTextBlock, QTextTable

from app.markdown import (
    Built,
    Look,
    MarkdownBuilder,
    MarkdownStream,
    SafeDocument,
    is_live,
    plain_text,
    text_between,
)
from app.theme import theme_of

SAMPLES = [  # source, what a reader sees, addresses of the links
    ("one\n\ntwo", "one\ntwo"),
    ("one\n\n\n\ntwo", "one\ntwo"),
    ("  one\n    two", "one\ntwo"),
    ("one  \ntwo", "one\ntwo"),
    ("one\\\ntwo", "one\ntwo"),
    ("one \n two", "one\ntwo"),
    ("  \n\none", "one"),
    ("a\n\n  \nb", "a\nb"),
    ("tab\there", "tab\there"),
    ("a non-breaking space stays", "a non-breaking space stays"),
    ("e\u0301 and \xe9", "e\u0301 and \xe9"),
    ("soft\xadhyphen", "soft\xadhyphen"),
    ("zero\u200bwidth", "zero\u200bwidth"),
    ("end of line  ", "end of line"),
    ("# one", "one"),
    ("## two ##", "two"),
    ("####### seven marks", "####### seven marks"),
    ("#no space", "#no space"),
    ("\\# escaped", "# escaped"),
    ("# `code` and **bold**", "code and bold"),
    ("#\ttab", "tab"),
    ("### trailing \\#", "trailing #"),
    ("#", ""),
    ("one\n===", "one"),
    ("two\nlines\n---", "two\nlines"),
    ("one\n=", "one"),
    ("> a\n---", "a\n"),
    ("- a\n---", "• a\n"),
    ("para\n# head\npara", "para\nhead\npara"),
    ("    # code", "# code"),
    ("Title *em*\n====", "Title em"),
    ("***", ""),
    ("- - -", ""),
    ("_ _ _ _", ""),
    ("--", "--"),
    ("+++", "+++"),
    ("*-*", "-"),
    ("a\n***\nb", "a\n\nb"),
    ("- a\n* * *\n- b", "• a\n\n• b"),
    (" **  * ** * ** * **", ""),
    ("    one\n      two", "one\n  two"),
    ("    a\n\n    b", "a\n\nb"),
    ("\tone", "one"),
    ("para\n    not code", "para\nnot code"),
    ("    code\npara", "code\npara"),
    ("  - item\n\n    inside", "• item\ninside"),
    ("    <b>\n    *a*", "<b>\n*a*"),
    ("```\n<\n >\n```", "<\n >"),
    ("~~~\na\n~~~", "a"),
    ("``\na\n``", "a"),
    ("```\na\n~~~\n```", "a\n~~~"),
    ("````\na\n```\n``````", "a\n```"),
    ("```\n\n  \n```", "\n  "),
    ("```\n```", ""),
    (" ```\n a\naa\n```", "a\naa"),
    ("   ```\n   a\n    b\n  c\n   ```", "a\n b\nc"),
    ("    ```\n    a\n    ```", "```\na\n```"),
    ("```\na\n    ```\nb", "a\n    ```\nb"),
    ("``` ```\na", " \na"),
    ("~~~~\na\n~~~ ~~", "a\n~~~ ~~"),
    ("a\n```\nb\n```\nc", "a\nb\nc"),
    ("~~~ruby x=1\ndef a\n~~~", "def a"),
    ("``` a`a ```\nb", "a`a\nb"),
    ("> ```\n> a\n\nb", "a\nb"),
    ("```\n``` b\n```", "``` b"),
    ("```c++\nint a;\n```", "int a;"),
    ("```{.python}\na\n```", "a"),
    ("```python {1,2}\na\n```", "a"),
    ("1. ```\n   a\n   ```\n2. b", "1. \na\n2. b"),
    ("<table><tr><td>a</td></tr></table>", "<table><tr><td>a</td></tr></table>"),
    ("<div>\n*a*\n</div>", "<div>\na\n</div>"),
    ("<!-- a comment -->", "<!-- a comment -->"),
    ("<?php echo 1 ?>", "<?php echo 1 ?>"),
    ("<![CDATA[ x ]]>", "<![CDATA[ x ]]>"),
    ("<script>\nlet a = 1 < 2;\n</script>", "<script>\nlet a = 1 < 2;\n</script>"),
    ("a <br> b", "a <br> b"),
    ("a<br/>b", "a<br/>b"),
    ('<a href="https://e.org">x</a>', '<a href="https://e.org">x</a>', "https://e.org"),
    ("<i class='y'>z</i>", "<i class='y'>z</i>"),
    ("</p>", "</p>"),
    ('<responsive-image src="a.png" />', '<responsive-image src="a.png" />'),
    ("<style>p{color:red}</style>", "<style>p{color:red}</style>"),
    ("&lt;b&gt;", "<b>"),
    ("a < b > c", "a < b > c"),
    ("1<2", "1<2"),
    ("x<y>z", "x<y>z"),
    ("<", "<"),
    ("<>", "<>"),
    ("<think>\nhm\n</think>\nanswer", "<think>\nhm\n</think>\nanswer"),
    ("Map<String, List<Integer>>", "Map<String, List<Integer>>"),
    ("std::vector<int> v;", "std::vector<int> v;"),
    ("#include <stdio.h>", "#include <stdio.h>"),
    ("Dear <name>,", "Dear <name>,"),
    ("<|im_start|>user", "<|im_start|>user"),
    ("[INST] hi [/INST]", "[INST] hi [/INST]"),
    ("[a]: https://e.org 'title'\n\n[a]", "a", "https://e.org"),
    ("[a][b]\n\n[b]: https://e.org", "a", "https://e.org"),
    ("[A][]\n\n[a]: https://e.org", "A", "https://e.org"),
    ("[no]\n", "[no]"),
    ("[a]: javascript:1\n\n[a]", "[a]: javascript:1\n[a]"),
    ("[a]: <https://e.org>\n\nSee [a].", "See a.", "https://e.org"),
    ("[a]:\n", "[a]:"),
    ("[^1] note", "[^1] note"),
    ("> a\n> b", "a\nb"),
    (">a", "a"),
    ("> a\nb", "a\nb"),
    ("> a\n\n> b", "a\nb"),
    ("> > > deep", "deep"),
    (">", ""),
    (">\n> a\n>", "a"),
    ("> - a\n> - b\n\nc", "• a\n• b\nc"),
    ("> 1. a\n>\n>    b", "1. a\nb"),
    (">     code", "code"),
    ("    > not", "> not"),
    ("> # h\n> p", "h\np"),
    ("a\n> b\nc", "a\nb\nc"),
    ("- a\n- b", "• a\n• b"),
    ("+ a\n* b", "• a\n• b"),
    ("1) a\n2) b", "1) a\n2) b"),
    ("3. a\n3. b", "3. a\n4. b"),
    ("0. a", "0. a"),
    ("-1. no", "-1. no"),
    ("1234567890. no", "1234567890. no"),
    ("-a", "-a"),
    ("2.a", "2.a"),
    ("- a\n\n- b", "• a\n• b"),
    ("- a\n  - b\n    - c\n      - d", "• a\n◦ b\n▪ c\n• d"),
    ("- a\n\n      code", "• a\ncode"),
    ("-   a\n\n    b", "• a\nb"),
    ("-\n  a", "• a"),
    ("-\n\n  a", "• \na"),
    ("1.  a\n    b\n\n        code\n\n    > q", "1. a\nb\ncode\nq"),
    ("- - a", "• \n◦ a"),
    ("1. - 2. a", "1. \n• \n2. a"),
    ("- # h\n- b\n  ---\n  c", "• h\n• b\nc"),
    ("a\n- b", "a\n• b"),
    ("a\n2. b", "a\n2. b"),
    ("a\n1. b", "a\n1. b"),
    ("- a\n b\n- c", "• a\nb\n• c"),
    ("* a\n*\n* c", "• a\n• \n• c"),
    ("- a\n- ```\n  b\n\n\n  ```\n- c", "• a\n• \nb\n\n\n• c"),
    ("- `a\n  b`", "• a b"),
    ("10. a\n11. b", "10. a\n11. b"),
    ("99. a\n100. b", "99. a\n100. b"),
    ("- [ ] a\n- [x] b\n- [X] c", "☐ a\n☑ b\n☑ c"),
    ("1. [x] a", "1. ☑ a"),
    ("- [ ]a", "• [ ]a"),
    ("- [y] a", "• [y] a"),
    ("- [ ] **a** `b`", "☐ a b"),
    ("- a\n> b", "• a\nb"),
    ("- 中文\n- 日本語", "• 中文\n• 日本語"),
    ("* * a * *", "• \n◦ a * *"),
    ("`a`", "a"),
    ("`` a ` b ``", "a ` b"),
    ("` `` `", "``"),
    ("` a`", " a"),
    ("`  `", "  "),
    ("`a\nb`", "a b"),
    ("`a\\`b`", "a\\b`"),
    ("*a`*`", "*a*"),
    ("[a`](b`)", "[a](b)"),
    ("`<b>`", "<b>"),
    ("`` `", "`` `"),
    ("```a``", "```a``"),
    ("`a``b`", "a``b"),
    ("`$x$`", "$x$"),
    ("a`b`c", "abc"),
    ("*a*", "a"),
    ("_a_", "a"),
    ("**a**", "a"),
    ("__a__", "a"),
    ("a * b * c", "a * b * c"),
    ("a*b*c", "abc"),
    ("a_b_c", "a_b_c"),
    ("_a_b", "_a_b"),
    ("*a", "*a"),
    ("**a*", "*a"),
    ("***a***", "a"),
    ("***a** b*", "a b"),
    ("*a **b** c*", "a b c"),
    ("**a*b*c**", "abc"),
    ("*(a)*", "(a)"),
    ("*a\nb*", "a\nb"),
    ("**\n", "**"),
    ("* a*", "• a*"),
    ("_(a)_b", "_(a)_b"),
    ("*a_", "*a_"),
    ("a__b__", "a__b__"),
    ("~~a~~", "a"),
    ("~a~", "~a~"),
    ("a~~b~~c", "abc"),
    ("*a `*` b*", "a * b"),
    ("*<b>*", "<b>"),
    ("5*3*2", "5*3*2"),
    ("__init__", "init"),
    ("snake_case_name", "snake_case_name"),
    ("2 * 3 * 4", "2 * 3 * 4"),
    ("**中文。**后", "中文。后"),
    ("*「引」*と", "「引」と"),
    ("前**“引”**后", "前“引”后"),
    ("**한국어**는", "한국어는"),
    ("****", ""),
    ("**a** **b**", "a b"),
    ("[a](https://e.org)", "a", "https://e.org"),
    ("[a](<https://e.org/b c>)", "a", "https://e.org/b%20c"),
    ('[a](https://e.org "t")', "a", "https://e.org"),
    ("[a]()", "a"),
    ("[a](b.md)", "[a](b.md)"),
    ("[a](/etc/passwd)", "[a](/etc/passwd)"),
    ("[a](#part)", "[a](#part)"),
    ("[a](file:///etc/passwd)", "[a](file:///etc/passwd)"),
    ("[a](JAVASCRIPT:alert(1))", "[a](JAVASCRIPT:alert(1))"),
    ("[a](java\nscript:1)", "[a](java\nscript:1)"),
    ("[a](data:text/html,b)", "[a](data:text/html,b)"),
    ("[a](vbscript:b)", "[a](vbscript:b)"),
    ("[a](ftp://e.org)", "[a](ftp://e.org)"),
    ("[a](mailto:b@e.org)", "a", "mailto:b@e.org"),
    ("[a](tel:123)", "[a](tel:123)"),
    ("[a](https://e.org/(b))", "a", "https://e.org/(b)"),
    ("[*a*](https://e.org)", "a", "https://e.org"),
    ("[`a`](https://e.org)", "a", "https://e.org"),
    ("[a [b] c](https://e.org)", "a [b] c", "https://e.org"),
    ("[a] (https://e.org)", "[a] (https://e.org)", "https://e.org"),
    ("![a](https://e.org/p.png)", "!a", "https://e.org/p.png"),
    ("![a][b]\n\n[b]: https://e.org/p.png", "!a", "https://e.org/p.png"),
    (
        "[![a](https://e.org/p.png)](https://e.org)",
        "[!a](https://e.org)",
        "https://e.org/p.png",
        "https://e.org",
    ),
    ("![](file:///x)", "![](file:///x)"),
    ("[a](&#106;avascript:1)", "[a](javascript:1)"),
    ("[a](//e.org)", "[a](//e.org)"),
    ("[](https://e.org)", "https://e.org", "https://e.org"),
    ("<https://e.org>", "https://e.org", "https://e.org"),
    ("<a@e.org>", "a@e.org", "mailto:a@e.org"),
    ("<ftp://e.org>", "<ftp://e.org>"),
    ("<javascript:alert(1)>", "<javascript:alert(1)>"),
    ("https://e.org/a_b_c.", "https://e.org/a_b_c.", "https://e.org/a_b_c"),
    ("(https://e.org/a)", "(https://e.org/a)", "https://e.org/a"),
    ("https://e.org/a,b", "https://e.org/a,b", "https://e.org/a,b"),
    ("http://localhost:8080/x", "http://localhost:8080/x", "http://localhost:8080/x"),
    ("www.e.org", "www.e.org"),
    ("e.org", "e.org"),
    ("README.md", "README.md"),
    ("a@e.org", "a@e.org"),
    ("ftp://e.org/a", "ftp://e.org/a"),
    ("HTTPS://E.ORG", "HTTPS://E.ORG", "HTTPS://E.ORG"),
    ("https://例え.jp/パス", "https://例え.jp/パス", "https://xn--r8jz45g.jp/%E3%83%91%E3%82%B9"),
    ("见https://e.org。", "见https://e.org。", "https://e.org"),
    ("**https://e.org**", "https://e.org", "https://e.org"),
    ("https://e.org/?a=b&c=d", "https://e.org/?a=b&c=d", "https://e.org/?a=b&c=d"),
    ("https://", "https://"),
    ("xhttps://e.org", "xhttps://e.org"),
    ("&amp; &copy; &#35; &#x22;", '& © # "'),
    ("&nope; &amp", "&nope; &amp"),
    ("\\*a\\*", "*a*"),
    ("\\a \\", "\\a \\"),
    ("\\\\", "\\"),
    ("&#0;", "\ufffd"),
    ("&nbsp;", "\xa0"),
    ("\\&amp;", "&amp;"),
    ("\\`a`", "`a`"),
    ("$a_i * b_i * c$", "$a_i * b_i * c$"),
    ("$$x_1 * y_1$$", "$$x_1 * y_1$$"),
    ("\\(a_1 * b * c\\)", "\\(a_1 * b * c\\)"),
    ("\\[ a * b * c \\]", "\\[ a * b * c \\]"),
    ("$$\na\n+ b\n- c\n$$", "$$\na\n+ b\n- c\n$$"),
    ("\\[\n\\frac{a}{b} \\\\\n\\]", "\\[\n\\frac{a}{b} \\\\\n\\]"),
    ("$5 and *really* $6", "$5 and really $6"),
    ("a $x$ b", "a $x$ b"),
    ("$x", "$x"),
    ("\\$5", "$5"),
    ("$`a`$", "$`a`$"),
    ("$$\nopen", "$$\nopen"),
    ("a\n$$\nb\n$$\nc", "a\n$$\nb\n$$\nc"),
    (
        "\\begin{align}\na &= b \\\\\nc &= d\n\\end{align}",
        "\\begin{align}\na &= b \\\\\nc &= d\n\\end{align}",
    ),
    ("cost: $1, $2 and $3", "cost: $1, $2 and $3"),
    ("$\\text{*}$", "$\\text{*}$"),
    ("| a | b |\n|---|---|\n| 1 | 2 |", "a\tb\n1\t2"),
    ("a | b\n-|-\n1 | 2", "a\tb\n1\t2"),
    ("| a |\n| - |", "a"),
    ("| a | b |\n|---|\n| 1 | 2 |", "| a | b |\n|---|\n| 1 | 2 |"),
    ("| a | b |\n|:-:|--:|\n| 1 |\n| 1 | 2 | 3 |", "a\tb\n1\t\n1\t2 | 3"),
    ("| a |\n|---|\n| p\\|q |", "a\np|q"),
    ("| a |\n|---|\n| `x\\|y` |", "a\nx|y"),
    ("| a |\n|---|\nb\n\nc", "a\nb\nc"),
    ("t\n| a |\n|---|\n| 1 |", "t\na\n1"),
    ("| a |\n|---|\n> q", "a\nq"),
    ("> | a |\n> |---|\n> | 1 |", "a\n1"),
    ("- | a |\n  |---|\n  | 1 |", "• \na\n1"),
    ("| **a** | [b](https://e.org) |\n|---|---|\n| *c* | ~~d~~ |", "a\tb\nc\td", "https://e.org"),
    ("| a |\n|---|\n| <br> |", "a\n<br>"),
    ("| |\n|-|\n| |", "\n"),
    ("|a|\n|-|\n|[x](javascript:1)|", "a\n[x](javascript:1)"),
    ("| 名 | 数 |\n|---|--:|\n| 甲 | 1 |", "\u540d\t\u6570\n\u7532\t1"),
    (
        "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645",
        "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645",
    ),
    ("- \u0645\u0631\u062d\u0628\u0627", "\u2022 \u0645\u0631\u062d\u0628\u0627"),
    ("> \u05e9\u05dc\u05d5\u05dd", "\u05e9\u05dc\u05d5\u05dd"),
    ("# \u05e2\u05d1\u05e8\u05d9\u05ea", "\u05e2\u05d1\u05e8\u05d9\u05ea"),
    ("12 \u0645\u0631\u062d\u0628\u0627", "12 \u0645\u0631\u062d\u0628\u0627"),
    ("नमस्ते **दुनिया**", "नमस्ते दुनिया"),
    ("สวัสดี", "สวัสดี"),
    (
        "\U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001f1e8\U0001f1ed \U0001f44d\U0001f3fd",
        "\U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001f1e8\U0001f1ed \U0001f44d\U0001f3fd",
    ),
    ("a👍b `😀` c", "a👍b 😀 c"),
    ("中文，English 混排", "中文，English 混排"),
    ("𠮷野家", "𠮷野家"),
    ("𝒳 math letter", "𝒳 math letter"),
    ("| a |\n|---|\n| 1 | 2 |", "a\n1 | 2"),
    ("> | a | b |\n> |---|---|\n> | 1 | x \\| y | `a || b` |", "a\tb\n1\tx | y | a |  | b"),
    ("- | a |\n  |---|\n  | 1 | 2", "• \na\n1 | 2"),
    ("\\begin{x}\na \\\\\n\\end{x}", "\\begin{x}\na \\\\\n\\end{x}"),
    ("**bol", "**bol"),
    ("*it", "*it"),
    ("`cod", "`cod"),
    ("[lin", "[lin"),
    ("[lin](", "[lin]("),
    ("[lin](https://e", "[lin](https://e", "https://e"),
    ("![im", "![im"),
    ("| a | b |\n|--", "| a | b |\n|--"),
    ("| a | b", "| a | b"),
    ("```", ""),
    ("```py", ""),
    ("```py\nx", "x"),
    ("- ", "• "),
    ("1.", "1. "),
    ("> ", ""),
    ("$a_", "$a_"),
    ("\\(a_1", "(a_1"),
    ("~~st", "~~st"),
    ("<thi", "<thi"),
    ("&am", "&am"),
    ("- [", "• ["),
    ("- [ ", "• ["),
    ("\\", "\\"),
]

TICKS = "```"
_HIDDEN = re.compile(  # targets and titles, definitions, languages, entities, boxes
    r"\]\([^)]*\)+|\]\[[^\]]*\]|^ {0,3}\[[^\]]+\]:.*$|^[ >\d.-]*(?:```+|~~~+).*$|&#?\w+;|\[[xX]\] ",
    re.MULTILINE,
)


@pytest.fixture
def build(qapp):
    """Build, lay out and paint a text; gives the document and what stands where."""
    builder = MarkdownBuilder(Look.of(theme_of()))
    kept = []

    def made(source: str) -> tuple[SafeDocument, Built]:
        document = SafeDocument()
        kept.append(document)
        built = builder.fill(document, source)
        while built.work():
            pass
        paint(document)
        return document, built

    return made


def paint(document: SafeDocument) -> None:
    document.setTextWidth(600)
    image = QImage(620, 400, QImage.Format.Format_ARGB32)
    painter = QPainter(image)
    document.drawContents(painter)
    painter.end()


def block_of(document: SafeDocument, text: str) -> QTextBlock:
    """The first block that contains a text."""
    block = document.begin()
    while block.isValid() and text not in block.text():
        block = block.next()
    assert block.isValid(), text
    return block


def left_of(document: SafeDocument, text: str) -> float:
    """How far in a block stands."""
    return block_of(document, text).blockFormat().leftMargin()


def tables_of(document: SafeDocument) -> list[QTextTable]:
    return [f for f in document.rootFrame().childFrames() if isinstance(f, QTextTable)]


def font_of(document: SafeDocument, text: str):
    """The font in which a text begins."""
    block = block_of(document, text)
    place = block.text().index(text)
    fragments = block.begin()
    while not fragments.atEnd():
        fragment = fragments.fragment()
        if fragment.position() - block.position() + fragment.length() > place:
            return fragment.charFormat().font()
        fragments += 1
    raise AssertionError(text)


def is_code(document: SafeDocument, text: str) -> bool:
    return font_of(document, text).families()[0] == "JetBrains Mono"


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: repr(sample[0])[:60])
def test_what_a_reader_sees(build, sample):
    """All texts say exactly what is visible, with every word; nothing is asked for or live."""
    source, plain, *addresses = sample
    document, built = build(source)
    assert built.plain == text_between(document) == plain_text(source) == plain
    visible = re.findall(r"\w+", _HIDDEN.sub(" ", source))
    shown = plain + " ".join(frame.language for frame in built.code)
    assert [word for word in visible if word.strip("_") not in shown] == []
    assert [url for _first, _last, url in built.links] == addresses
    assert all(map(is_live, addresses))
    assert document.asked == 0


@pytest.mark.parametrize("sample", SAMPLES[::3], ids=lambda sample: repr(sample[0])[:60])
def test_a_streamed_sample_says_the_same(qapp, sample):
    """Character by character it ends as the whole does."""
    document = SafeDocument()
    stream = MarkdownStream(document, Look.of(theme_of()))
    for char in sample[0]:
        stream.append(char)
    assert stream.finish().plain == sample[1]


# The 34 cases of our study of renderers.


def test_list_of_three_levels(build):
    """Deeper items stand further in; back out, they stand where they did."""
    document, _ = build("- a1\n  - b1\n    - c1\n- a2")
    assert left_of(document, "a1") < left_of(document, "b1") < left_of(document, "c1")
    assert left_of(document, "a2") == left_of(document, "a1")


def test_numbers_go_on_after_a_nested_list(build):
    """A list in an item does not disturb the numbers."""
    _, built = build("1. one\n   - sub\n2. two\n3. three")
    assert built.plain.splitlines() == ["1. one", "• sub", "2. two", "3. three"]


def test_a_list_starts_where_it_says(build):
    """The first number counts."""
    _, built = build("5. five\n6. six")
    assert built.plain == "5. five\n6. six"


def test_a_fence_between_items_keeps_the_number(build):
    """A list that is interrupted goes on with the number that was typed."""
    _, built = build(f"1. one\n\n{TICKS}\nx\n{TICKS}\n\n2. two")
    assert built.plain == "1. one\nx\n2. two"


def test_code_in_a_list(build):
    """The code stands in by as much as the item, with its own indent kept."""
    document, built = build(
        f"- step\n\n  {TICKS}python\n  def f():\n      return 1\n  {TICKS}\n- next"
    )
    assert built.code[0].text == "def f():\n    return 1"
    assert is_code(document, "    return 1")
    assert built.plain.endswith("• next")


def test_two_paragraphs_in_an_item(build):
    """The second stands under the first."""
    document, _ = build("- p1\n\n  p2\n- q")
    assert left_of(document, "p1") == left_of(document, "p2") > 0
    assert block_of(document, "p2").blockFormat().textIndent() == 0


def test_columns_are_aligned(build):
    """Right means right."""
    document, _ = build("| a | b |\n|:-:|--:|\n| 1 | 2 |")
    (table,) = tables_of(document)
    cell = table.cellAt(1, 1).firstCursorPosition().blockFormat()
    assert cell.alignment() & Qt.AlignmentFlag.AlignRight


def test_code_and_an_escaped_bar_in_a_table(build):
    """A bar that is escaped belongs to the cell."""
    document, built = build("| a | b |\n|---|---|\n| `x` | p\\|q |")
    assert len(tables_of(document)) == 1
    assert "p|q" in built.plain
    assert is_code(document, "x")


def test_a_table_right_after_a_line(build):
    """No empty line is needed."""
    document, built = build("Text:\n| a | b |\n|---|---|\n| 1 | 2 |")
    assert len(tables_of(document)) == 1
    assert built.plain.startswith("Text:\n")


def test_a_table_in_a_list(build):
    """It is a table there too, and stands in."""
    document, _ = build("- item\n\n  | a | b |\n  |---|---|\n  | 1 | 2 |")
    (table,) = tables_of(document)
    assert table.format().leftMargin() == left_of(document, "item")


def test_a_fence_that_is_open(build):
    """What is there of it is code."""
    document, _ = build(f"Here:\n\n{TICKS}python\ndef f(x):\n    if x < 3 and x > 1:\n")
    assert is_code(document, "if x < 3")


def test_half_a_table(build):
    """What is no table yet is text."""
    _, built = build("| a | b |\n|--")
    assert not built.tables
    assert built.plain == "| a | b |\n|--"


def test_half_bold(build):
    """Stars that are not closed stay."""
    _, built = build("this is **bol")
    assert built.plain == "this is **bol"


def test_four_ticks_round_three(build):
    """The inner fence is text of the outer."""
    _, built = build(f"````md\n{TICKS}py\nx\n{TICKS}\n````")
    assert built.code[0].text == f"{TICKS}py\nx\n{TICKS}"


def test_html_is_text(build):
    """Tags are shown, not obeyed."""
    _, built = build("a <b onclick=x>bold</b> <script>alert(1)</script>")
    assert built.plain == "a <b onclick=x>bold</b> <script>alert(1)</script>"


def test_a_block_of_html_is_text(build):
    """Also where it would be a block."""
    _, built = build("<div style='color:red'>\nhi\n</div>\n\nafter")
    assert built.plain == "<div style='color:red'>\nhi\n</div>\nafter"


def test_a_think_tag_stays_visible(build):
    """What a model wrote in its own tags is not swallowed."""
    _, built = build("<think>\nsecret plan\n</think>\n\nanswer")
    assert built.plain == "<think>\nsecret plan\n</think>\nanswer"


def test_generic_types_in_prose(build):
    """Angle brackets lose nothing."""
    _, built = build("use vector<int> and a<b or List<String>")
    assert built.plain == "use vector<int> and a<b or List<String>"


def test_a_formula_in_a_line(build):
    """Stars and underscores in a formula are no emphasis."""
    document, built = build("cost is $a_i * b_i * c$ and $x_1^2_k$")
    assert built.plain == "cost is $a_i * b_i * c$ and $x_1^2_k$"
    assert not font_of(document, "$a_i").italic()


def test_a_displayed_formula(build):
    """It stays as typed, backslashes included."""
    _, built = build("\\[ E = mc^2 \\]\n\n$$\\frac{a}{b}$$")
    assert built.plain == "\\[ E = mc^2 \\]\n$$\\frac{a}{b}$$"


def test_tasks_have_boxes(build):
    """Done and to do."""
    _, built = build("- [x] done\n- [ ] todo")
    assert built.plain == "☑ done\n☐ todo"


def test_bare_addresses_are_links(build):
    """Without the full stop that ends the sentence."""
    _, built = build("see https://example.org/a_b?x=1. and <https://e.org>")
    assert [url for *_, url in built.links] == ["https://example.org/a_b?x=1", "https://e.org"]


def test_no_other_scheme_is_live(build):
    """Such a link stays as typed."""
    source = "[x](javascript:alert(1)) [y](file:///etc/passwd) [z](data:text/html,hi)"
    _, built = build(source)
    assert built.links == []
    assert built.plain == source


def test_a_remote_picture_is_not_asked_for(build):
    """It is a link to follow, no more."""
    document, built = build("![alt](https://evil.example/p.png?id=1)")
    assert document.asked == 0
    assert built.plain == "!alt"


def test_a_file_as_picture_is_not_asked_for(build):
    """It is text."""
    document, built = build("![alt](file:///etc/passwd)\n\n![a](/etc/hostname)")
    assert document.asked == 0
    assert built.links == []


def test_pictures_and_sheets_in_html_are_not_asked_for(build):
    """Tags never reach the document."""
    document, built = build(
        "<img src='http://e/x.png'><link rel=stylesheet href='http://e/x.css'>"
        "<table background='http://e/b.png'><tr><td>t</td></tr></table>"
    )
    assert document.asked == 0
    assert "<img" in built.plain


def test_entities_and_escapes(build):
    """They are what they stand for."""
    _, built = build("AT&amp;T \\*not em\\* 5 &lt; 6")
    assert built.plain == "AT&T *not em* 5 < 6"


def test_line_breaks(build):
    """Both kinds are shown as one: what models break, they mean."""
    _, built = build("line one\nline two  \nline three")
    assert built.plain == "line one\nline two\nline three"


def test_struck_words_and_snake_case(build):
    """Underscores within words are letters."""
    document, built = build("~~no~~ snake_case_name and *em*")
    assert built.plain == "no snake_case_name and em"
    assert font_of(document, "no").strikeOut()
    assert font_of(document, "em").italic()


def test_a_list_in_a_quote(build):
    """It stands in by both."""
    document, built = build("> quote\n> - x\n> - y")
    assert left_of(document, "x") > left_of(document, "quote") > 0
    assert len(built.quotes) == 1


def test_a_heading_right_before_a_list(build):
    """No empty line is needed."""
    document, built = build("## H\n- x\n- y")
    assert block_of(document, "H").blockFormat().headingLevel() == 2
    assert built.plain == "H\n• x\n• y"


def test_arabic_runs_from_the_right(build):
    """Also with Latin code within."""
    document, _ = build("مرحبا بالعالم `code` نص")
    assert document.begin().textDirection() == Qt.LayoutDirection.RightToLeft


def test_code_keeps_its_space(build):
    """Empty lines, indents and tabs are the code's own."""
    _, built = build(f"{TICKS}\na\n\n\n    b\n\tc\n{TICKS}")
    assert built.plain == built.code[0].text == "a\n\n\n    b\n\tc"


def test_a_line_without_spaces_does_not_widen_the_page(build):
    """It breaks anywhere, and is one line still."""
    document, built = build("x" * 8_000)
    assert document.size().width() <= 620
    assert built.plain == "x" * 8_000
