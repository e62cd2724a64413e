"""Words for people in modules that know no Qt: translated when a translator is installed.

The call has the shape Qt Linguist collects: `translate("Context", "text", "", n)`. Without a
translator, and in tests, the text itself comes back, `%n` filled in and "(s)" resolved.
"""

from collections.abc import Callable

_FULL_WIDTH = ("。", "？", "！", "；", "：", "，", "）", "”")
Translator = Callable[[str, str, str, int], str]
"""Context, text, disambiguation, number (-1: none) to words; may be called on any thread."""


def plain(context: str, text: str, disambiguation: str = "", n: int = -1) -> str:
    """The text as it is written here."""
    if n < 0:
        return text
    return text.replace("%n", f"{n:,}").replace("(s)", "" if n == 1 else "s")


_translator: list[Translator] = [plain]


def install(translator: Translator) -> None:
    """Have everything translated by `translator` from now on."""
    _translator[0] = translator


def is_plain() -> bool:
    """Whether texts are shown as they are written here, in English."""
    return _translator[0] is plain


def translate(context: str, text: str, disambiguation: str = "", n: int = -1) -> str:
    """`text` in the user's language."""
    return _translator[0](context, text, disambiguation, n)


def joined(*sentences: str) -> str:
    """Sentences one after the other, parted by a space but after a full-width mark."""
    text = ""
    for sentence in sentences:
        gap = " " if text and sentence and not text.endswith(_FULL_WIDTH) else ""
        text += gap + sentence
    return text


def short_tokens(tokens: int) -> str:
    """A number of tokens for a narrow place: 850, 7.6k, 24k."""
    if tokens < 1_000:
        return str(tokens)
    return f"{tokens / 1_000:.1f}k" if tokens < 9_950 else f"{round(tokens / 1_000)}k"
