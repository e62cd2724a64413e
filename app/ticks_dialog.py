"""A list of texts to tick, the words of one beside it, and how much of the room is taken."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QRectF,
    Qt,
)
from PySide6.QtGui import (
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QTextOption,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QStyleOptionViewItem,
    QWidget,
)

from app.dialogs import Dialog, Framed
from app.labels import Words
from app.meter import figure
from app.theme import theme_of
from app.theme.controls import Button, Progress
from app.theme.painting import draw_icon, rounded
from app.two_lines import BEGIN, TOKENS, Index, TwoLines

_WIDTH = 780
_LIST_WIDTH = 340
_HEIGHT = 360
_BOX = 16
_SHOWN_CHARS = 20_000
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


@dataclass(frozen=True, slots=True)
class Tick:
    """A text that can be ticked: what it is called, its words, its size in tokens."""

    title: str
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class TicksWords:
    """What such a dialog says: its title, what ticking does, names of the list and of the words
    beside it, of the bar, and the button that takes what is ticked.
    """

    title: str
    about: str
    list_name: str
    text_name: str
    bar_name: str
    ok: str


class TicksDialog(Dialog):
    """Texts to be ticked, as many as there is room for.

    Up and Down go through the list, Space ticks, Ctrl+Enter takes what is ticked.

    Args:
        ticks: the texts.
        room: what those that are ticked may have together, tokens.
        words: what is said.
        parent: the window it belongs to.
    """

    def __init__(
        self, ticks: Sequence[Tick], room: int, words: TicksWords, parent: QWidget
    ) -> None:
        super().__init__(words.title, parent, _WIDTH)
        self.setAccessibleName(self.windowTitle())
        self._ticks = ticks
        self._room = room
        self.list = QListWidget(self)
        self.text = QPlainTextEdit(self)
        self.total = Words("", "small_medium", "ink2", self)
        self.bar = Progress(words.bar_name, self)
        self._make_list(words.list_name)
        self._make_text(words.text_name)
        self.column.addWidget(Words(words.about, "interface", "ink2", self, wrap=True))
        row = QHBoxLayout()
        row.setSpacing(self._theme.px(12))
        row.addWidget(Framed(self.list, self))
        row.addWidget(Framed(self.text, self), 1)
        self.column.addLayout(row, 1)
        self.column.addWidget(self.total)
        self.column.addWidget(self.bar)
        self.column.addLayout(self.buttons)
        self._make_buttons(words.ok)
        self.list.currentRowChanged.connect(self._show_text)
        self.list.itemChanged.connect(self._renew_total)

    def begin(self, chosen: frozenset[int]) -> None:
        """Tick these, and start at the top of the list."""
        self.tick(chosen)
        self.list.setCurrentRow(0)
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    # -- what differs --------------------------------------------------------------------

    @abstractmethod
    def total_words(self, count: int, tokens: int, room: int) -> str:
        """How much is ticked, in words."""

    @abstractmethod
    def may_take(self, chosen: frozenset[int], tokens: int, room: int) -> bool:
        """Whether what is ticked can be taken."""

    @abstractmethod
    def take(self, chosen: frozenset[int]) -> None:
        """What is ticked is wanted; the dialog is closed already."""

    # -- parts ---------------------------------------------------------------------------

    def _make_list(self, name: str) -> None:
        px = self._theme.px
        self.list.setAccessibleName(name)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setUniformItemSizes(True)
        self.list.setFixedWidth(px(_LIST_WIDTH))
        self.list.setMinimumHeight(px(_HEIGHT))
        self.list.viewport().setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.list.setItemDelegate(_Line(self.list))
        for tick in self._ticks:
            item = QListWidgetItem(tick.title, self.list)
            begin = " ".join(tick.text[:160].split())
            item.setData(TOKENS, figure(tick.tokens))
            item.setData(BEGIN, begin)
            said = (item.text(), self.tr("{} tokens").format(figure(tick.tokens)), begin)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, ", ".join(x for x in said if x))
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Unchecked)

    def _make_text(self, name: str) -> None:
        self.text.setReadOnly(True)
        self.text.setAccessibleName(name)
        self.text.setFont(self._theme.font("chip"))
        self.text.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.text.setTabChangesFocus(True)

    def _make_buttons(self, ok: str) -> None:
        self.none_button = Button(self.tr("None"), "quiet", "", self)
        self.buttons.insertWidget(0, self.none_button)
        self.none_button.clicked.connect(lambda: self.tick(frozenset()))
        self.cancel_button = self.add_close(self.tr("Cancel"))
        self.ok_button = self.add_button(Button(ok, "primary", "", self))
        self.ok_button.setDefault(True)
        self.ok_button.clicked.connect(self._take)

    # -- ticking -------------------------------------------------------------------------

    def ticked(self) -> frozenset[int]:
        """The parts that are ticked, by their place."""
        checked = Qt.CheckState.Checked
        places = range(self.list.count())
        return frozenset(i for i in places if self.list.item(i).checkState() == checked)

    def tick(self, chosen: frozenset[int]) -> None:
        """Tick these and no others."""
        self.list.blockSignals(True)  # one total for all
        for place in range(self.list.count()):
            on = place in chosen
            state = Qt.CheckState.Checked if on else Qt.CheckState.Unchecked
            self.list.item(place).setCheckState(state)
        self.list.blockSignals(False)
        self.list.viewport().update()
        self._renew_total()

    def _renew_total(self) -> None:
        chosen = self.ticked()
        tokens = sum(self._ticks[place].tokens for place in chosen)
        self.total.setText(self.total_words(len(chosen), tokens, self._room))
        self.total.set_color("red" if tokens > self._room else "ink2")
        self.bar.setRange(0, max(1, self._room))
        self.bar.setValue(min(tokens, self._room))
        self.ok_button.setEnabled(self.may_take(chosen, tokens, self._room))

    def _show_text(self, place: int) -> None:
        text = self._ticks[place].text if 0 <= place < len(self._ticks) else ""
        self.text.setPlainText(text[:_SHOWN_CHARS])

    def _take(self) -> None:
        if self.ok_button.isEnabled():
            chosen = self.ticked()
            self.accept()
            self.take(chosen)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt's: Enter, with Ctrl or without, takes what is ticked."""
        if event.key() in _ENTER:
            self._take()
            return
        super().keyPressEvent(event)


class _Line(TwoLines):
    """Paints a text: its box, its name and tokens, and below how it begins. A click ticks it."""

    def editorEvent(
        self,
        event: QEvent,
        model: QAbstractItemModel,
        _option: QStyleOptionViewItem,
        index: Index,
    ) -> bool:
        """Qt's: a click anywhere on the line, and Space."""
        by_mouse = (
            event.type() == QEvent.Type.MouseButtonRelease
            and cast("QMouseEvent", event).button() == Qt.MouseButton.LeftButton
        )
        by_key = (
            event.type() == QEvent.Type.KeyPress
            and cast("QKeyEvent", event).key() == Qt.Key.Key_Space
        )
        if not by_mouse and not by_key:
            return False
        on = _is_on(index)
        state = Qt.CheckState.Unchecked if on else Qt.CheckState.Checked
        return model.setData(index, state, Qt.ItemDataRole.CheckStateRole)

    def paint_before(self, painter: QPainter, room: QRectF, index: Index) -> QRectF:
        """The box; the words stand beside it."""
        side, gap = theme_of().px(_BOX), theme_of().px(10)
        box = QRectF(room.left(), room.center().y() - side / 2, side, side)
        _paint_box(painter, box, on=_is_on(index))
        return room.adjusted(side + gap, 0, 0, 0)


def _is_on(index: Index) -> bool:
    return index.data(Qt.ItemDataRole.CheckStateRole) in (
        Qt.CheckState.Checked,
        Qt.CheckState.Checked.value,
    )


def _paint_box(painter: QPainter, box: QRectF, *, on: bool) -> None:
    """A box as `app.theme.inputs.CheckBox` paints it."""
    theme = theme_of()
    if not on:
        rounded(painter, box, theme.px(4), theme.color("raised"), theme.color("control"))
        return
    rounded(painter, box, theme.px(4), theme.color("accent"))
    edge = theme.px(1)
    at = (box.left() + edge, box.top() + edge, theme.px(_BOX) - 2 * edge)
    draw_icon(painter, theme, "check", "on_accent", at)
