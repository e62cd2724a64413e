"""Markdown to tokens: CommonMark with tables, strike-through, bare links and LaTeX as typed.

Raw HTML is text. Pictures are not a thing. A link whose scheme is not live stays as it was typed.
Nothing is dropped: what nests too deep or is too long to parse in time is shown literally.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.common.utils import isMdAsciiPunct, isPunctChar, isWhiteSpace
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.table import escapedSplit
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Delimiter
from markdown_it.token import Token

from app.markdown.scripts import is_cjk

LITERAL = 6_000
"""A paragraph of more characters than this is shown as typed: parsing it would take too long."""

MOST_CELLS = 480
"""A table of more cells than this is shown as typed, as code: Qt lays a table out as a whole, and
this many hold the window up for as long as it may be."""

_MOST_BRACKETS = 300  # each may open a link: the time grows with their square
_DEEPEST = 40  # levels of quotes and lists; a list is two
_LONGEST_MATH = 2_000
_UNSAFE = re.compile("[\x00-\x20\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]")
_NOT_TEXT = re.compile("[\x00\ud800-\udfff\ufdd0\ufdd1\ufffc]")  # Qt's own marks among them
_LINE_ENDS = re.compile("\r\n|[\r\u2028\u2029]")
_DOLLARS = re.compile(r"\$(?![\s$])[^$]{1,400}(?<![\s\\])\$(?!\d)")
_BEFORE_ROW = re.compile(r"(?:[>*+-]|\d+[.)]|\s)*")
_ENVIRONMENT = "\\begin{"
_MATH = {"$$": "$$", r"\[": r"\]", r"\(": r"\)"}

Addresses = Mapping[str, object]


def is_live(url: str) -> bool:
    """Whether a link to this address may be followed: http, https and mailto only."""
    scheme, colon, rest = url.partition(":")
    if not colon or _UNSAFE.search(url):
        return False
    match scheme.lower():
        case "http" | "https":
            return rest.startswith("//") and rest.strip("/") != ""
        case "mailto":
            return "@" in rest
        case _:
            return False


def clean(text: str) -> str:
    """The text with one kind of line end, and without characters that are not text.

    Cleaning piece by piece gives the same, but for a line end cut in two.
    """
    return _NOT_TEXT.sub("\ufffd", _LINE_ENDS.sub("\n", text))


def parse(text: str, addresses: Addresses | None = None) -> tuple[list[Token], Addresses]:
    """The tokens of a cleaned text, and the addresses its reference links know afterwards."""
    environment: dict[str, object] = {"references": dict(addresses or {})}
    tokens = _parser().parse(text, environment)
    references = environment["references"]
    return tokens, references if isinstance(references, dict) else {}


class _Parser(MarkdownIt):
    """Lets no address through that is not live, and shows addresses as they were typed."""

    def validateLink(self, url: str) -> bool:
        return is_live(url)

    def normalizeLinkText(self, link: str) -> str:
        return link


@cache
def _parser() -> MarkdownIt:
    options = {"html": False, "linkify": True, "maxNesting": _DEEPEST + 20}
    parser = _Parser("commonmark", options)
    parser.enable(["table", "strikethrough", "linkify"])
    parser.disable(["image", "html_block", "html_inline"])
    assert parser.linkify is not None
    # README.md and main.rs are names of files far more often than of hosts
    parser.linkify.set({"fuzzy_link": False, "fuzzy_email": False, "fuzzy_ip": False})
    parser.block.ruler.before("table", "deep", _deep)
    parser.block.ruler.before(
        "fence", "math", _math_block, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    parser.inline.ruler.before("escape", "math", _math)
    parser.inline.ruler.at("emphasis", _emphasis)
    parser.core.ruler.at("inline", _inline)
    return parser


def _inline(state: StateCore) -> None:
    """Parse what stands in blocks, unless it is too much: that stays as typed."""
    _keep_large_tables(state)
    _keep_every_cell(state)
    for token in state.tokens:
        if token.type != "inline":
            continue
        token.children = []
        if len(token.content) > LITERAL or token.content.count("[") > _MOST_BRACKETS:
            token.type = "literal"
        else:
            state.md.inline.parse(token.content, state.md, state.env, token.children)


def _keep_large_tables(state: StateCore) -> None:
    """Put a block of code in the place of a table with too many cells to lay out."""
    tokens = state.tokens
    opened = [n for n, token in enumerate(tokens) if token.type == "table_open"]
    for start in reversed(opened):
        end = next(n for n in range(start, len(tokens)) if tokens[n].type == "table_close")
        cells = sum(token.type in ("th_open", "td_open") for token in tokens[start:end])
        if cells > MOST_CELLS:
            first, last = tokens[start].map or (0, 0)
            lines = state.src.split("\n")[first:last]
            tokens[start : end + 1] = [typed_table(lines, first, tokens[start].level)]


def typed_table(lines: Sequence[str], first: int, level: int = 0) -> Token:
    """The block of code in the place of a table: its lines, from line `first` of the source on."""
    code = Token("code_block", "code", 0, map=[first, first + len(lines)], level=level)
    code.content = "\n".join(lines)
    code.meta = {"table": True}
    return code


def _keep_every_cell(state: StateCore) -> None:
    """Add to a row's last cell what the source has beyond the head's columns.

    The library drops it, as the specification says; models forget to escape a bar.
    """
    lines: list[str] = []
    for number, token in enumerate(state.tokens):
        if token.type != "td_open" or state.tokens[number + 3].type != "tr_close":
            continue
        row = next(n for n in range(number, -1, -1) if state.tokens[n].type == "tr_open")
        columns = sum(inner.type == "td_open" for inner in state.tokens[row : number + 1])
        lines = lines or state.src.split("\n")
        cells = _cells(lines[(state.tokens[row].map or [0])[0]])
        if len(cells) > columns:
            state.tokens[number + 1].content = " | ".join(cells[columns - 1 :])


def _cells(line: str) -> list[str]:
    """The cells of a table's row, without what stands before it in a list or quote."""
    cells = [cell.strip() for cell in escapedSplit(line.strip())]
    if _BEFORE_ROW.fullmatch(cells[0]) and len(cells) > 1:
        del cells[0]
    return cells[:-1] if cells[-1] == "" else cells


def _deep(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001  # given
    """What nests deeper than can be shown stays as typed; the library would drop it."""
    if state.level < _DEEPEST or silent:
        return False
    state.line = end
    opening = state.push("paragraph_open", "p", 1)
    opening.map = [start, end]
    token = state.push("literal", "", 0)
    token.content = state.getLines(start, end, state.blkIndent, False).strip()
    state.push("paragraph_close", "p", -1)
    return True


def _math_block(
    state: StateBlock,
    start: int,
    end: int,
    silent: bool,  # noqa: FBT001  # given
) -> bool:
    """Lines from one that starts with $$ or \\[ to the closing one, or to an empty one.

    That the first line alone decides keeps blocks before it closed while a reply streams.
    """
    if state.is_code_block(start):
        return False
    first = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    closing = r"\end{" if first.startswith(_ENVIRONMENT) else _MATH.get(first[:2])
    if first[:2] == r"\(" or closing is None or closing in first[2:]:
        return False
    if silent:
        return True
    line = start + 1
    while line < end and not state.isEmpty(line) and state.sCount[line] >= state.blkIndent:
        text = state.src[state.bMarks[line] : state.eMarks[line]]
        line += 1
        if closing in text:
            break
    state.line = line
    token = state.push("math_block", "", 0)
    token.content = state.getLines(start, line, state.sCount[start], False).rstrip("\n")
    token.map = [start, line]
    return True


def _math(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  # given
    """A formula between dollars or \\( \\): not Markdown, whatever stands in it."""
    length = _math_length(state.src, state.pos, state.posMax)
    if not length:
        return False
    if not silent:
        token = state.push("math", "", 0)
        token.content = state.src[state.pos : state.pos + length]
    state.pos += length
    return True


def _math_length(source: str, start: int, end: int) -> int:
    closing = _MATH.get(source[start : start + 2])
    if closing is not None:
        last = source.find(closing, start + 3, min(end, start + _LONGEST_MATH))
        return last + 2 - start if last >= 0 else 0
    found = _DOLLARS.match(source, start, end)
    return found.end() - start if found else 0


def _emphasis(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  # given
    """As the library's, but stars beside Chinese and Japanese punctuation count as well.

    CommonMark wants a space there, which nobody types: `**注意：**请` would keep its stars.
    """
    marker = state.src[state.pos]
    if silent or marker not in "_*":
        return False
    length, opens, closes = _scan(state, marker)
    for _ in range(length):
        token = state.push("text", "", 0)
        token.content = marker
        state.delimiters.append(
            Delimiter(
                marker=ord(marker),
                length=length,
                token=len(state.tokens) - 1,
                end=-1,
                open=opens,
                close=closes,
            )
        )
    state.pos += length
    return True


def _scan(state: StateInline, marker: str) -> tuple[int, bool, bool]:
    """How many markers stand here, and whether they can open and close."""
    start, end = state.pos, state.pos
    while end < state.posMax and state.src[end] == marker:
        end += 1
    before = state.src[start - 1] if start > 0 else " "
    after = state.src[end] if end < state.posMax else " "
    cjk = is_cjk(before) or is_cjk(after)
    left = _flanks(after, before, cjk)
    right = _flanks(before, after, cjk)
    if marker == "*":
        product = before.isdigit() and after.isdigit()  # 2*3*4
        return end - start, left and not product, right and not product
    opens = left and (not right or _is_punctuation(before))
    closes = right and (not left or _is_punctuation(after))
    return end - start, opens, closes


def _flanks(inner: str, outer: str, cjk: bool) -> bool:  # noqa: FBT001  # private
    """Whether markers between these two characters lean on the inner one."""
    if isWhiteSpace(ord(inner)):
        return False
    if not _is_punctuation(inner) or cjk:
        return True
    return isWhiteSpace(ord(outer)) or _is_punctuation(outer)


def _is_punctuation(char: str) -> bool:
    return isMdAsciiPunct(ord(char)) or isPunctChar(char)
