"""What an exact value looks like in a text: one pattern per kind, all of them linear. Pure.

Kinds are tried in the order of `_KINDS`; what one has taken the later ones do not take again, so
that the host inside a URL is found once. Every repetition is bounded or over characters that
cannot follow it, so that no text, however strange, is read more than a fixed number of times.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

LABEL_BEFORE = 32
"""Characters before a value that may go into its label."""
LABEL_AFTER = 18


@dataclass(frozen=True, slots=True)
class Found:
    """A value in a text: its kind, where its match starts and ends, what it says."""

    kind: str
    value: str
    start: int
    end: int


def find_values(text: str, *, plain: bool = True) -> list[Found]:
    """The exact values of a text in their order, none overlapping another.

    Not `plain`: a tool's output or a program, where quotes, numbers and dates are everywhere and
    only what identifies something counts.
    """
    taken = bytearray(len(text))
    near = {where: _regions(text, pattern, _NEAR[where]) for where, pattern in _MARKS.items()}
    near[""] = [(0, len(text))]
    found: list[Found] = []
    for kind in _KINDS:
        if (plain or kind.strong) and _hinted(kind, text):
            for start, end in near[kind.near]:
                found += _take(kind, text, taken, start, end)
    return sorted(found, key=lambda value: value.start)


def label_of(text: str, found: Found, *, since: int = 0) -> str:
    """A few words around a value out of its own sentence, the value among them; or empty.

    `since`: where the value before it ends; the label does not reach back further.
    """
    start = _back(text, max(since, found.start - LABEL_BEFORE), found.start)
    end = found.end
    if found.kind in _TELLING_AFTER:
        rest = text[end : end + LABEL_AFTER + 1]
        stop = _STOP.search(rest)
        end += stop.start() if stop else _last_space(rest)
    label = _LINK.sub("", " ".join(text[start:end].split()))
    return label if len(label) > len(found.value) else ""


def is_value_at(text: str, value: str) -> bool:
    """Whether a value stands in a text by itself, not as a piece of a longer one."""
    at = text.find(value)
    while at >= 0:
        if not _goes_on(text, at - 1, value[0], -1) and not _goes_on(
            text, at + len(value), value[-1], 1
        ):
            return True
        at = text.find(value, at + 1)
    return False


# ---- what belongs together ----------------------------------------------------------------------

_STOP = re.compile(r"[\n,;，、。！？；（(]|[.!?:](?=\s|$)")
_SENTENCE_BREAK = re.compile(
    r"[\n;；。！？，、|]|[.!?,](?=\s)|(?:^|(?<=\s))(?:[-*+•>#]+|\d+[.)])(?=\s)"
)
_LINK = re.compile(r"^(?:and|or|but|和|与|以及|而) ?", re.IGNORECASE)
_TELLING_AFTER = frozenset({"amount"})


def _back(text: str, earliest: int, start: int) -> int:
    """Where the words before a value begin: after the last break, at the beginning of a word."""
    before = text[earliest:start]
    breaks = list(_SENTENCE_BREAK.finditer(before))
    if breaks:
        return earliest + breaks[-1].end()
    if earliest and _word(text[earliest - 1]) and before and _word(before[0]):
        space = before.find(" ")
        return earliest + space if space >= 0 else start
    return earliest


def _last_space(rest: str) -> int:
    if len(rest) <= LABEL_AFTER:
        return len(rest)
    space = rest.rfind(" ")
    return space if space >= 0 else 0


def _word(character: str) -> bool:
    """Whether a character is of a word that ends at a space: not one of Han, kana or hangul."""
    return character.isascii() and (character.isalnum() or character == "_")


def _goes_on(text: str, at: int, edge: str, step: int) -> bool:
    """Whether the value whose outermost character is `edge` continues at `at`."""
    if not 0 <= at < len(text):
        return False
    if _word(edge) and _word(text[at]):
        return True
    beyond = text[at + step] if 0 <= at + step < len(text) else " "
    return (
        text[at] in "./\\"
        and _word(edge)
        and _word(beyond)
        and (edge.isdigit() or text[at] != ".")
    )


# ---- where to look ------------------------------------------------------------------------------

_MARKS = {
    "digit": re.compile(r"[0-9]+"),
    "joint": re.compile(r"[.:@][A-Za-z0-9_/\\]|[/\\]"),
    "naming": re.compile(r"name|call|handle", re.IGNORECASE),
}
_NEAR = {"digit": 40, "joint": 80, "naming": 40}  # characters before and after, to the next space
_FAR = 600  # to look for that space
_SPACE = re.compile(r"\s|\Z")


def _regions(text: str, mark: re.Pattern[str], near: int) -> list[tuple[int, int]]:
    """The pieces of a text around its marks. A long text is mostly words, and quickly left out."""
    regions: list[tuple[int, int]] = []
    start, end = 0, -1
    for match in mark.finditer(text):
        if match.start() - near > end:
            if end >= 0:
                regions.append((start, end))
            start = max(end, match.start() - near, 0)
        if match.end() + near > end:
            end = min(match.end() + near, len(text))
            space = _SPACE.search(text, end, end + _FAR)
            end = space.start() if space else min(end + _FAR, len(text))
    return [*regions, (start, end)] if end >= 0 else regions


# ---- the patterns -------------------------------------------------------------------------------


def _whatever(value: str) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class _Kind:
    """How a kind is found. It is looked for `near` these marks only, and if one of `hints` is in the text; a named group is the value."""

    name: str
    pattern: re.Pattern[str]
    near: Literal["", "digit", "joint", "naming"] = ""
    hints: tuple[str, ...] = ()
    strong: bool = False
    trim: str = ""
    fits: Callable[[str], bool] = _whatever


def _hinted(kind: _Kind, text: str) -> bool:
    return not kind.hints or any(hint in text for hint in kind.hints)


def _take(kind: _Kind, text: str, taken: bytearray, start: int, end: int) -> Iterator[Found]:
    for match in kind.pattern.finditer(text, start, end):
        group = match.lastgroup or 0
        value = _trimmed(match[group], kind.trim)
        start = match.start(group)
        end = start + len(value)
        if not kind.fits(value) or taken.find(1, start, end) >= 0:
            continue
        taken[start:end] = b"\x01" * len(value)
        whole = value == match[group]
        yield Found(kind.name, value, match.start(), match.end() if whole else end)


def _trimmed(value: str, signs: str) -> str:
    """The value without signs that end the sentence it stands in; a closed bracket stays."""
    while value and value[-1] in signs:
        if value[-1] == ")" and value.count("(") >= value.count(")"):
            break
        value = value[:-1]
    return value


_B = r"(?<![A-Za-z0-9_])"
_E = r"(?![A-Za-z0-9_])"
_ENDS = ".,;:!?)]}'*_~`>"
_HAN = r"\u3400-\u9fff"
_NOT_URL = r"\s<>\"`|\\^{}「」『』“”，。；：！？、（）《》" + _HAN

_URL = re.compile(
    rf"(?:{_B}[A-Za-z][A-Za-z0-9+.-]{{1,12}}://|{_B}www\.(?=[A-Za-z0-9]))[^{_NOT_URL}]{{2,500}}"
    rf"|{_B}[A-Za-z0-9_-]{{1,32}}@[A-Za-z0-9.-]{{3,80}}:[A-Za-z0-9_~-][A-Za-z0-9_./~-]{{2,200}}"
)
_QUOTED_PATH = re.compile(r"[\"“`「](?P<v>(?:~?[/\\]|[A-Za-z]:[/\\])[^\"”`」\n]{2,240})[\"”`」]")
_EMAIL = re.compile(
    rf"{_B}[A-Za-z0-9._%+-]{{1,64}}@[A-Za-z0-9-]{{1,63}}(?:\.[A-Za-z0-9-]{{1,63}}){{1,6}}{_E}"
)
_UUID = re.compile(rf"{_B}[0-9A-Fa-f]{{8}}-(?:[0-9A-Fa-f]{{4}}-){{3}}[0-9A-Fa-f]{{12}}{_E}")
# The last part ends at its extension, else at the first sign that is not a plain one: in Chinese
# the sentence goes on without a space.
_LAST = (
    r"(?:[\w.@%+~()-]{1,100}?\.[A-Za-z0-9]{1,8}(?!\.?[A-Za-z0-9_-])|[A-Za-z0-9_.@%+~-]{1,100})?"
)
_UNIX = re.compile(
    r"(?<![A-Za-z0-9_/.~%@+:<-])(?:~|\.{1,2})?"
    r"(?:/[\w.@%+~-]{1,100}(?=/)){0,30}/" + _LAST
)
_WINDOWS = re.compile(
    rf"(?:{_B}[A-Za-z]:|\\\\[\w.-]{{1,60}})"
    r"(?:[\\/]{1,2}[\w.@%+~()-]{1,100}(?=[\\/])){0,30}[\\/]{1,2}(?!/)" + _LAST
)
_TOPS = (
    "com|org|net|io|dev|local|lan|internal|intranet|localdomain|home|example|test|invalid|arpa|app"
    "|ai|co|me|info|edu|gov|cn|de|uk|fr|jp|eu|us|ca|ch|at|nl|se|no|it|es|pl|ru|kr|tw|hk|au|nz|br|in"
)
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})"
_HOST = re.compile(
    rf"{_B}(?:localhost|(?:\d{{1,3}}\.){{3}}\d{{1,3}}|(?:{_LABEL}\.){{1,6}}[A-Za-z][A-Za-z0-9-]{{1,30}}"
    rf"|[a-z][a-z0-9-]{{1,40}}(?=:\d{{4}})):\d{{2,5}}{_E}(?!\.\d)(?:/[^{_NOT_URL}]{{1,300}})?"
    rf"|{_B}(?:{_LABEL}\.){{1,6}}(?:{_TOPS})(?![A-Za-z0-9_-]|\.[A-Za-z0-9])(?:/[^{_NOT_URL}]{{1,300}})?"
)
_IPV4 = re.compile(rf"{_B}(?<!\d\.)(?:\d{{1,3}}\.){{3}}\d{{1,3}}(?:/\d{{1,2}})?{_E}(?!\.\d)")
_COLONS = re.compile(r"(?<![A-Za-z0-9_:.])[0-9A-Fa-f:]{3,39}(?:/\d{1,3})?(?![A-Za-z0-9_:])")
_HASH = re.compile(rf"{_B}(?<!&)(?:[0-9a-f]{{7,64}}|[0-9A-F]{{7,64}}){_E}")
_FILE = re.compile(
    rf"{_B}(?<![./\\@-])[A-Za-z0-9_][A-Za-z0-9_.+-]{{0,80}}?\.[A-Za-z][A-Za-z0-9]{{0,7}}{_E}(?![./@-]?\w|\()"
    rf"|(?<![\w./\\-])[\w-]{{1,40}}\.(?:docx?|xlsx?|pptx?|pdf|txt|md|csv|json|png|jpe?g|zip|py|mp[34]){_E}"
)
_PORT = re.compile(
    rf"(?:{_B}(?i:ports?)|端口号?|ポート)"
    r"(?:[ \t]{0,3}(?:is|was|are|now|set|changed|number|no\.|at|to|on|=|:|：|是|为|改为|改成|设为|用)){0,4}"
    rf"[ \t]{{0,3}}(?P<v>\d{{2,5}}){_E}"
)
_SUFFIX = (
    r"(?:-?(?:rc|alpha|beta|dev|pre|post|a|b)[.-]?\d{0,4}|[-+][0-9A-Za-z][0-9A-Za-z.]{0,30})?"
)
_VERSION = re.compile(
    rf"[0-9](?<![A-Za-z0-9_.].)\d{{0,4}}(?:\.\d{{1,6}}){{2,4}}{_SUFFIX}{_E}(?!\.\d)"
    rf"|{_B}[vV]\d{{1,5}}(?:\.\d{{1,6}}){{0,4}}{_SUFFIX}{_E}(?!\.\d)"
    rf"|(?:(?:{_B}(?i:version|release)|版本号?)[ \t:：=是为]{{0,4}}|{_B}(?:Python|Ubuntu|Debian|Fedora"
    r"|Windows|macOS|Android|iOS|Java|Node(?:\.js)?|PostgreSQL|Postgres|MySQL|SQLite|Redis|Django"
    r"|Rails|PHP|Ruby|Go|Rust|Qt|PySide|CUDA|Kubernetes|Linux) )"
    rf"(?P<v>\d{{1,5}}(?:\.\d{{1,6}}){{0,4}}{_SUFFIX}){_E}(?!\.\d)"
)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DATE = re.compile(
    r"[0-9](?<![A-Za-z0-9_.,/:-].)(?:"
    r"\d{3}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
    r"|\d{3}/\d{1,2}/\d{1,2}|\d?[./]\d{1,2}[./](?:\d{4}|\d{2})"
    rf"|\d?(?:st|nd|rd|th)?(?: of)? (?i:{_MONTH})\b\.?(?:,? \d{{4}})?"
    r"|(?:\d{3}|\d) ?年(?: ?\d{1,2} ?月(?: ?\d{1,2} ?[日号])?)?|\d? ?月 ?\d{1,2} ?[日号]"
    rf"|\d?:\d{{2}}(?::\d{{2}})?(?: ?[aApP]\.?[mM]\b\.?)?|\d? ?[aApP]\.?[mM]\b"
    r")(?![0-9A-Za-z_]|[.:/-]\d)"
    rf"|{_B}(?i:{_MONTH})\b\.? (?:\d{{4}}|\d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?){_E}"
)
_HAN_DIGITS = "0-9一二三四五六七八九十两"
_HAN_DATE = re.compile(
    rf"(?:凌晨|早上|上午|中午|下午|傍晚|晚上) ?[{_HAN_DIGITS}]{{1,3}}(?:点(?:半|[{_HAN_DIGITS}]{{1,3}}分?)?|:[0-9]{{2}})"
    r"|(?<!年)[一二三四五六七八九十]{1,3}月[一二三四五六七八九十]{1,3}[日号]"
)
_UNITS = (
    # Longest first where one begins another.
    r"kWh|mAh|Ah|kW|MW|GHz|MHz|kHz|Hz|KiB|MiB|GiB|TiB|kB|KB|MB|GB|TB|PB|[kMG]bps|[kMG]bit/s"
    r"|km/h|mph|m/s|km|cm|mm|µm|μm|nm|m²|m2|m³|m3|kg|mg|µg|μg|lbs?|oz|ml|mL|cl|dl|hl|gal"
    r"|kPa|MPa|bar|psi|ms|µs|ns|sec|min|hrs?|yd|ft|rpm|px|dpi|fps|°C|°F|°|%|‰"
    r"|USD|EUR|GBP|CNY|RMB|JPY|CHF|INR|AUD|CAD|[$€£¥₹]"
    r"|(?i:percent|thousand|million|billion|dollars?|euros?|pounds?|yuan|yen|bytes|bits|tokens|pixels|volts?|watts?|amps?"
    r"|kilometers?|kilometres?|kilos?|kilograms?|grams?|tons?|tonnes?|millimet(?:er|re)s?|centimet(?:er|re)s?"
    r"|met(?:er|re)s?|lit(?:er|re)s?|millilit(?:er|re)s?|miles|feet|inch(?:es)?|gallons?|cups|tablespoons?"
    r"|teaspoons?|degrees|seconds|minutes|hours|days|weeks|months|years|people|persons|guests)"
    r"|[gmthsVWAKLl]"
)
_HAN_UNITS = (
    r"(?:万|亿|千|百万)?(?:美元|欧元|日元|英镑|港元|港币|人民币|元|块钱?|公斤|千克|毫克|克|斤|吨|公里|千米|毫米|厘米|分米"
    r"|平方米|立方米|平米|公顷|米|毫升|升|小时|分钟|毫秒|秒钟?|天|周|个月|个星期|年|岁|千瓦时|千瓦|瓦|伏|毫安|安培"
    r"|摄氏度|度|字节|兆|像素|万|亿|人)"
)
_DIGITS = r"(?:\d{0,2}(?:[,'\u00a0\u202f\u2009 ]\d{3}){1,5}(?:[.,]\d{1,6})?(?!\d)|\d{0,14}(?:[.,]\d{1,6})?(?!\d))"
_AMOUNT = re.compile(
    rf"[0-9](?<![A-Za-z0-9_.,].)(?:\d{{0,5}}(?:\.\d{{1,4}})? ?[x×] ?\d{{1,6}}(?:\.\d{{1,4}})?"
    rf"(?: ?[x×] ?\d{{1,6}}(?:\.\d{{1,4}})?)?(?:[ \u00a0\u202f]?(?:{_UNITS}){_E})?{_E}"
    rf"|{_DIGITS}(?:[ \u00a0\u202f-]?(?:{_UNITS}){_E}| ?{_HAN_UNITS}))"
    rf"|(?:(?:US|HK|A|C)?\$|[€£¥￥₹]|{_B}(?:USD|EUR|GBP|CNY|RMB|JPY|CHF))[ \u00a0]?[0-9]{_DIGITS}"
    rf"(?: ?(?:million|billion|bn|[kKmM]){_E})?"
)
_QUOTED = re.compile(
    r"“(?P<a>[^“”\n]{2,60})”|「(?P<b>[^「」\n]{2,60})」|『(?P<c>[^『』\n]{2,60})』|《(?P<d>[^《》\n]{2,60})》"
    r"|«\s?(?P<e>[^«»\n]{2,60}?)\s?»|„(?P<f>[^„“”\n]{2,60})[“”]"
    r"|(?<![\w\"])\"(?P<g>[^\s\"](?:[^\"\n]{0,58}[^\s\"])?)\"(?![\"A-Za-z0-9_])"
    r"|(?<!`)`(?P<h>[^`\n]{2,60})`(?!`)"
)
_PHONE = re.compile(
    rf"\+\d{{1,3}}[\d ()./-]{{6,18}}\d{_E}|(?<![\w+.-])(?:\(\d{{2,5}}\)|\d{{2,5}})(?:[ /-]\d{{2,8}}){{1,5}}(?![\w-])"
    rf"|{_B}(?<!\+)1[3-9]\d{{9}}{_E}"
)
_ID = re.compile(
    rf"{_B}(?<!-)[A-Z]{{2,12}}[0-9]{{0,6}}(?:[-_][A-Z0-9]{{1,16}}){{1,5}}(?![A-Za-z0-9_]|-[A-Za-z0-9])"
    rf"|{_B}[A-Z]{{1,5}}[0-9]{{3,12}}{_E}"
    rf"|(?:{_B}(?i:order|ticket|invoice|case|customer|account|booking|reservation|serial|tracking|reference|room"
    r"|flight|contract|member|passport|licen[cs]e|locker|gate|batch|build|pin|code|password|passphrase|id)"
    r"|订单|工单|编号|单号|账号|房间|密码|验证码|车牌|工号|学号|合同|航班|会员|批号|口令)"
    r"(?: ?(?:number|no\.?|nr\.?|id|code|号码|号))?"
    r"[ \t]{0,2}(?:is|was|[:：=#]|是|为){0,1}[ \t]{0,2}(?P<v>#?(?=[A-Za-z-]{0,12}[0-9])[A-Za-z0-9][A-Za-z0-9-]{1,31})"
    rf"{_E}|(?<![\w&#/])#\d{{2,8}}{_E}"
)
_CAPITALS = r"[A-Z\u00c0-\u00de][\w'’-]{0,30}(?: (?:(?:of|the|de|la|van|von|da|del) )?[A-Z\u00c0-\u00de0-9][\w'’-]{0,30}){0,3}"
_TOKEN = r"[a-z0-9\u00df-\u00ff][\w-]{1,30}"
_NAME = re.compile(
    rf"(?:{_B}(?i:name(?:['’]s| is| was| shall be| will be)|(?:code ?name|nickname|handle|username|user name|surname)"
    r"(?: is|:)|(?:am|['’]m|is|are|was|['’]s|be|it|him|her|them|call me|call us) (?:called|named)"
    r"|call (?:it|him|her|them|me|us|this|the (?:project|app|product|company|team|file|branch)))"
    rf" (?:the )?(?P<v>[\"“]?(?:{_CAPITALS}|{_TOKEN}))"
    rf"|{_B}(?i:called|named) (?P<w>[\"“]?{_CAPITALS}))"
)
_HAN_NAME = re.compile(
    r"(?:我叫|我的名字(?:叫|是)|名叫|叫做|叫作|名为|取名(?:叫|为)?|命名为|代号(?:叫|是|为)?|名字(?:叫|是)|名称(?:叫|是)"
    r"|(?:项目|产品|公司|团队|软件|应用|书|店|狗狗?|猫咪?|女儿|儿子|孩子|妻子|太太|丈夫|先生|同事|老板|老师|朋友|哥哥|弟弟|姐姐"
    r"|妹妹|妈妈|爸爸|船|服务器|机器)(?:就)?叫)[ “「]?"
    rf"(?P<v>[{_HAN}]{{1,12}}(?:·[{_HAN}]{{1,8}})?|[A-Za-z][\w-]{{0,30}}(?: [A-Z][\w-]{{0,30}}){{0,3}})"
)
_NO_NAME = re.compile(
    r"(?:an?|the|its?|by|when|if|in|on|to|for|from|as|at|after|before|with|and|or|not?|this|that"
    r"|these|those|what|which|who|where|why|how|is|was|are|were|be|been|once|twice|again|off|out"
    r"|up|down|over|me|him|her|us|them|you|your|my|our|their|so|because|whatever|something"
    r"|anything|there|here|just|really|also|only|now|then|later|today|tomorrow|unknown|required"
    r"|missing|too|very|already|still|never|always|one|day|quits)\b",
    re.IGNORECASE,
)


def _has_digit_and_letter(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _has_digit(value: str) -> bool:
    return any(map(str.isdigit, value))


def _is_unix_path(value: str) -> bool:
    """Two parts at least, or a home or dotted beginning, or an extension: not `/` or `/help`."""
    parts = [part for part in re.split(r"/", value) if part]
    return len(parts) >= 2 or (len(parts) == 1 and (value[0] != "/" or "." in parts[0][1:]))


def _is_windows_path(value: str) -> bool:
    return len(value) > 4


def _is_ipv4(value: str) -> bool:
    return all(int(part) <= 255 for part in value.partition("/")[0].split("."))


def _is_colons(value: str) -> bool:
    """An IPv6 address or a hardware address; not a time, not `::`."""
    groups = value.partition("/")[0].split(":")
    if len(groups) < 3 or any(len(group) > 4 for group in groups) or not _has_digit(value):
        return False
    if len(groups) == 6 and all(len(group) == 2 for group in groups):
        return True
    return len(groups) == 8 if "::" not in value else value.count("::") == 1 and len(groups) <= 9


def _is_file(value: str) -> bool:
    """Not an abbreviation, not two sentences without a space: `e.g`, `end.The`."""
    stem, _, extension = value.rpartition(".")
    if len(stem) < 2 or (extension[:1].isupper() and not extension.isupper()):
        return False
    return not (stem[-2:-1] == "." and len(stem) <= 4)


def _is_phone(value: str) -> bool:
    digits = sum(map(str.isdigit, value))
    marked = value[0] in "+(" or "-" in value or "/" in value or digits == len(value)
    return 7 <= digits <= 16 and marked


def _is_quoted(value: str) -> bool:
    return any(map(str.isalnum, value))


def _is_name(value: str) -> bool:
    word = value.strip('"“')
    return len(word) > 1 and not _NO_NAME.match(word)


_KINDS = (
    _Kind("url", _URL, near="joint", hints=("://", "www.", "@"), strong=True, trim=_ENDS),
    _Kind("path", _QUOTED_PATH, strong=True),
    _Kind("email", _EMAIL, near="joint", hints=("@",), strong=True),
    _Kind("uuid", _UUID, near="digit", hints=("-",), strong=True),
    _Kind(
        "path",
        _WINDOWS,
        near="joint",
        hints=("\\",),
        strong=True,
        trim=_ENDS,
        fits=_is_windows_path,
    ),
    _Kind("path", _UNIX, near="joint", hints=("/",), strong=True, trim=_ENDS, fits=_is_unix_path),
    _Kind("ip", _COLONS, near="joint", hints=(":",), strong=True, fits=_is_colons),
    _Kind("host", _HOST, near="joint", strong=True, trim=_ENDS),
    _Kind("ip", _IPV4, near="digit", hints=(".",), strong=True, fits=_is_ipv4),
    _Kind("hash", _HASH, near="digit", strong=True, fits=_has_digit_and_letter),
    _Kind("name", _NAME, near="naming", trim="\"“'’-", fits=_is_name),
    _Kind("name", _HAN_NAME, hints=("叫", "名", "代号"), trim="的了吧呢啊吗呀"),
    _Kind("quoted", _QUOTED, fits=_is_quoted),
    _Kind("date", _HAN_DATE, hints=("点", "月", "午", "上")),
    _Kind("date", _DATE, near="digit"),
    _Kind("version", _VERSION, near="digit"),
    _Kind("port", _PORT, near="digit"),
    _Kind("id", _ID, near="digit", fits=_has_digit),
    _Kind("amount", _AMOUNT, near="digit"),
    _Kind("phone", _PHONE, near="digit", fits=_is_phone),
    _Kind("file", _FILE, near="joint", hints=(".",), strong=True, fits=_is_file),
)
