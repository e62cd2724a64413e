"""A whole Markdown text into a document."""

from PySide6.QtGui import QTextCursor, QTextDocument

from app.markdown.built import Built
from app.markdown.formats import Formats
from app.markdown.look import Look
from app.markdown.parsing import clean, parse
from app.markdown.reading import text_of_tokens
from app.markdown.writer import Writer


class MarkdownBuilder:
    """Builds documents of one look; keep it, it remembers the look's formats."""

    def __init__(self, look: Look) -> None:
        self.look = look
        self.formats = Formats(look)

    def fill(self, document: QTextDocument, text: str) -> Built:
        """Put the whole text into the document, in place of what is there.

        Short code is coloured already; for the rest call `Built.work` when idle.
        """
        built = Built()
        tokens, _addresses = parse(clean(text))
        writer = start(document, self.formats, built)
        with editing(writer):
            writer.write(tokens)
        built.plain = text_of_tokens(tokens, keep_breaks=self.look.keep_breaks)
        return built


def start(document: QTextDocument, formats: Formats, built: Built) -> Writer:
    """A writer at the start of the emptied document."""
    document.clear()
    document.setDefaultFont(formats.look.body.font)
    option = document.defaultTextOption()
    option.setTabStopDistance(4 * formats.advance("0", formats.look.code.font))
    document.setDefaultTextOption(option)
    writer = Writer(document, formats, built)
    writer.resume(writer.seam())
    return writer


class editing:
    """While it lasts the document tells nobody of its changes; at its end once, of all."""

    def __init__(self, writer: Writer) -> None:
        self._cursor = QTextCursor(writer.document)

    def __enter__(self) -> None:
        self._cursor.beginEditBlock()

    def __exit__(self, *_problem: object) -> None:
        self._cursor.endEditBlock()
