"""Markdown into documents: what a model wrote, safely and legibly, at once or as it streams.

::

    source ─▶ parsing (tokens) ─▶ writer ─▶ document + Built (what stands where)

`Built` tells the view where code, tables, links, inline code, quotes and rules stand; `boxes`
gives their rectangles. No HTML, no pictures, nothing is loaded, and no text is dropped.
"""

from app.markdown.builder import MarkdownBuilder
from app.markdown.built import Built, CodeFrame, Quote, SafeDocument, TableFrame
from app.markdown.look import Face, Look
from app.markdown.parsing import is_live
from app.markdown.plain import text_between
from app.markdown.reading import plain_text
from app.markdown.scripts import needs_plain_face
from app.markdown.stream import MarkdownStream

__all__ = [
    "Built",
    "CodeFrame",
    "Face",
    "Look",
    "MarkdownBuilder",
    "MarkdownStream",
    "Quote",
    "SafeDocument",
    "TableFrame",
    "is_live",
    "needs_plain_face",
    "plain_text",
    "text_between",
]
