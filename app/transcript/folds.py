"""Long blocks of code: folded to their first lines, and unfolded bit by bit.

Thousands of lines that show at once would hold the window up for as long as they are laid out, so
`unfold` shows the first of them, and the view asks for the rest when it has time.
"""

from PySide6.QtGui import QTextBlock, QTextCursor, QTextDocument

from app.markdown import Built, CodeFrame

SLICE = 300
"""So many lines show at once, the longest are `app.markdown.pieces.PIECE` characters."""
_MOST_LINES = 24
_SHOWN_LINES = 20


class Folds:
    """Which blocks of code of a document are folded.

    `folded` holds the number of lines of each that is, by its place in `Built.code`. `room` is the
    height of the row with the button, in px: the frame keeps it free below the text. (A block's
    margin has no effect before hidden blocks.)
    """

    def __init__(self, document: QTextDocument, room: int) -> None:
        self.folded: dict[int, int] = {}
        self.shown = 0  # blocks that were shown so far: what tests count
        self._document = document
        self._room = room
        self._unfolded: set[int] = set()
        self._hidden: dict[int, QTextBlock] = {}  # the first block to show, of those that grow
        self._code: list[CodeFrame] = []

    @property
    def is_growing(self) -> bool:
        """Whether unfolded code is not all there yet."""
        return bool(self._hidden)

    def reset(self) -> None:
        """The document was emptied. What was unfolded will be again."""
        self.folded, self._hidden, self._code = {}, {}, []

    def fold(self, built: Built) -> None:
        """Fold what is long and was not unfolded."""
        self._code = built.code
        for index, code in enumerate(built.code):
            lines = code.text.count("\n") + 1
            if lines > _MOST_LINES and index not in self._unfolded:
                self.folded[index] = lines
                self._make_room(code, self._room)
                self._set_visible(self._first_hidden(code), code.last, shown=False)

    def unfold(self, index: int) -> int:
        """Begin to show all lines of a folded block of code; the position of the first that shows.

        -1 when it was not folded.
        """
        self._unfolded.add(index)
        if self.folded.pop(index, None) is None:
            return -1
        code = self._code[index]
        self._make_room(code, -self._room)
        self._hidden[index] = self._first_hidden(code)
        return self.grow()

    def grow(self) -> int:
        """Show some more lines of what was unfolded; the position of the first of them."""
        index, block = next(iter(self._hidden.items()))
        first, last = block.position(), self._code[index].last
        after = self._set_visible(block, last, shown=True, most=SLICE)
        if after.isValid() and after.position() <= last:
            self._hidden[index] = after
        else:
            del self._hidden[index]
        return first

    def hides(self, position: int) -> int:
        """The index of the block of code that hides a position, -1 when it shows."""
        if self._document.findBlock(position).isVisible():
            return -1
        for index, code in enumerate(self._code):
            if code.first <= position <= code.last:
                return index
        return -1

    def _first_hidden(self, code: CodeFrame) -> QTextBlock:
        block = self._document.findBlock(code.first)
        for _ in range(_SHOWN_LINES):
            block = block.next()
        return block

    def _make_room(self, code: CodeFrame, room: int) -> None:
        frame = QTextCursor(self._document.findBlock(code.first)).currentFrame()
        form = frame.frameFormat()
        form.setBottomMargin(form.bottomMargin() + room)
        frame.setFrameFormat(form)

    def _set_visible(
        self, block: QTextBlock, last: int, *, shown: bool, most: int = 1 << 30
    ) -> QTextBlock:
        """Show or hide blocks up to a position, at most so many; the block after them."""
        first, count = block.position(), 0
        while block.isValid() and block.position() <= last and count < most:
            block.setVisible(shown)
            block = block.next()
            count += 1
        end = block.position() if block.isValid() else last
        self._document.markContentsDirty(first, max(0, end - first))
        self.shown += count if shown else 0
        return block
