"""Documents that load nothing, and what stands where in one that was built."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QTextDocument, QTextFormat, QTextOption

from app.markdown.highlight import Highlight

CONTINUES = QTextFormat.Property.UserProperty.value + 1
"""Block property: the block goes on with the line of the block before; no line ends between."""

FILLER = QTextFormat.Property.UserProperty.value + 2
"""Block property: an empty block of no height that Qt needs beside a frame; not of the text."""


class SafeDocument(QTextDocument):
    """A document that never reads a file or asks the network.

    `asked` counts what it was asked to load and did not. Undo is off, the margin 0, and lines
    break at words or, where there is none, anywhere.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.asked = 0
        self.setUndoRedoEnabled(False)
        self.setDocumentMargin(0)
        option = QTextOption(self.defaultTextOption())
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setDefaultTextOption(option)

    def loadResource(self, kind: int, name: QUrl | str) -> None:
        """Nothing, whatever is asked for."""
        self.asked += 1


@dataclass(frozen=True, slots=True)
class CodeFrame:
    """A block of code: document positions of its text, its language, and its exact source."""

    first: int
    last: int
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class TableFrame:
    """A table: document positions of its first and last cell's text, and its size."""

    first: int
    last: int
    columns: int
    rows: int


@dataclass(frozen=True, slots=True)
class Quote:
    """A quotation: the positions it holds, and how far in its rule stands, in px.

    The rule stands at the left, or `from_right` at the right if the text runs that way.
    """

    first: int
    last: int
    inset: int
    from_right: bool


Span = tuple[int, int]
Link = tuple[int, int, str]


@dataclass(slots=True)
class Built:
    """What stands where in a document; positions are the document's.

    `pending` is work that the view runs when it is idle, with `work`: colours of code.
    """

    code: list[CodeFrame] = field(default_factory=list)
    tables: list[TableFrame] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    inline_code: list[Span] = field(default_factory=list)
    quotes: list[Quote] = field(default_factory=list)
    rules: list[int] = field(default_factory=list)
    pending: list[Highlight] = field(default_factory=list)
    plain: str = ""

    def work(self, characters: int = 2_000) -> bool:
        """Colour up to about so many characters of code; True while more is left to do."""
        while self.pending and characters > 0:
            characters -= self.pending[0].step(characters)
            if self.pending[0].is_done:
                self.pending.pop(0)
        return bool(self.pending)

    def link_at(self, position: int) -> str:
        """The address of the link at a document position, or ""."""
        return next((url for first, last, url in self.links if first <= position < last), "")

    def marks(self) -> tuple[int, ...]:
        """How much there is now, for `cut`."""
        return tuple(len(part) for part in self._parts())

    def cut(self, marks: Sequence[int]) -> None:
        """Forget what came after `marks` were taken, pending work on it included."""
        for part, length in zip(self._parts(), marks, strict=True):
            del part[length:]
        end = self.code[-1].last if self.code else -1
        self.pending = [job for job in self.pending if job.first <= end]

    def _parts(self) -> tuple[list[Any], ...]:
        texts = (self.code, self.tables, self.links)
        return (*texts, self.inline_code, self.quotes, self.rules)
