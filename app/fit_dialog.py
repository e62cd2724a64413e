"""Choosing the parts of a file that go along: a list to tick, its words beside it, a running total."""

from typing import cast

from PySide6.QtCore import (
    QAbstractItemModel,
    QCoreApplication,
    QEvent,
    QRectF,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QTextOption,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QStyleOptionViewItem,
    QWidget,
)

from app.client.fit_values import PartsToChoose
from app.dialogs import Dialog, Framed
from app.fit_words import chosen_words, part_words
from app.labels import Words
from app.meter import figure
from app.theme import theme_of
from app.theme.controls import Button, Progress
from app.theme.painting import draw_icon, rounded
from app.two_lines import BEGIN, TOKENS, Index, TwoLines
from engine.fitting import plan_excerpt, plan_first_parts

_WIDTH = 780
_LIST_WIDTH = 340
_HEIGHT = 360
_BOX = 16
_SHOWN_CHARS = 20_000
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class PartsDialog(Dialog):
    """The parts of a text, to be ticked; at first those from the beginning that fit.

    Up and Down go through the list, Space ticks, Ctrl+Enter takes what is ticked.

    Args:
        found: the parts, and the room for them.
        name: what they are parts of.
        parent: the window it belongs to.

    Signals:
        taken(text): an excerpt of the parts that were ticked.
    """

    taken = Signal(str)

    def __init__(self, found: PartsToChoose, name: str, parent: QWidget) -> None:
        title = QCoreApplication.translate("PartsDialog", "Choose parts of {name}")
        super().__init__(title.format(name=name), parent, _WIDTH)
        self.setAccessibleName(self.windowTitle())
        self._found = found
        self.list = QListWidget(self)
        self.text = QPlainTextEdit(self)
        self.total = Words("", "small_medium", "ink2", self)
        self.bar = Progress(self.tr("How much of the room is taken"), self)
        self._make_list()
        self._make_text()
        about = self.tr("The parts that are ticked go along, in their order; the others do not.")
        self.column.addWidget(Words(about, "interface", "ink2", self, wrap=True))
        row = QHBoxLayout()
        row.setSpacing(self._theme.px(12))
        row.addWidget(Framed(self.list, self))
        row.addWidget(Framed(self.text, self), 1)
        self.column.addLayout(row, 1)
        self.column.addWidget(self.total)
        self.column.addWidget(self.bar)
        self.column.addLayout(self.buttons)
        self._make_buttons()
        self.list.currentRowChanged.connect(self._show_part)
        self.list.itemChanged.connect(self._renew_total)
        self.tick_first()
        self.list.setCurrentRow(0)
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    # -- parts ---------------------------------------------------------------------------

    def _make_list(self) -> None:
        px = self._theme.px
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setAccessibleName(self.tr("Parts"))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setUniformItemSizes(True)
        self.list.setFixedWidth(px(_LIST_WIDTH))
        self.list.setMinimumHeight(px(_HEIGHT))
        self.list.viewport().setAutoFillBackground(False)
        self.list.viewport().setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.list.setItemDelegate(_Line(self.list))
        for part in self._found.parts:
            item = QListWidgetItem(part_words(part), self.list)
            begin = " ".join(part.text[:160].split())
            item.setData(TOKENS, figure(part.tokens))
            item.setData(BEGIN, begin)
            said = (item.text(), self.tr("{} tokens").format(figure(part.tokens)), begin)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, ", ".join(x for x in said if x))
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Unchecked)

    def _make_text(self) -> None:
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setReadOnly(True)
        self.text.setAccessibleName(self.tr("The words of this part"))
        self.text.setFont(self._theme.font("chip"))
        self.text.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.text.setTabChangesFocus(True)
        self.text.viewport().setAutoFillBackground(False)

    def _make_buttons(self) -> None:
        self.first_button = Button(self.tr("The first that fit"), "quiet", "", self)
        self.none_button = Button(self.tr("None"), "quiet", "", self)
        self.buttons.insertWidget(0, self.first_button)
        self.buttons.insertWidget(1, self.none_button)
        self.first_button.clicked.connect(self.tick_first)
        self.none_button.clicked.connect(lambda: self._tick(frozenset()))
        self.cancel_button = self.add_close(self.tr("Cancel"))
        self.ok_button = self.add_button(Button(self.tr("Use these parts"), "primary", "", self))
        self.ok_button.setDefault(True)
        self.ok_button.clicked.connect(self._take)

    # -- ticking -------------------------------------------------------------------------

    def ticked(self) -> frozenset[int]:
        """The parts that are ticked, by their place."""
        checked = Qt.CheckState.Checked
        places = range(self.list.count())
        return frozenset(i for i in places if self.list.item(i).checkState() == checked)

    def tick_first(self) -> None:
        """Tick the parts from the beginning for as long as they fit."""
        self._tick(plan_first_parts(self._found.parts, self._found.room))

    def _tick(self, chosen: frozenset[int]) -> None:
        self.list.blockSignals(True)  # one total for all
        for place in range(self.list.count()):
            on = place in chosen
            state = Qt.CheckState.Checked if on else Qt.CheckState.Unchecked
            self.list.item(place).setCheckState(state)
        self.list.blockSignals(False)
        self.list.viewport().update()
        self._renew_total()

    def _renew_total(self) -> None:
        parts, room, chosen = self._found.parts, self._found.room, self.ticked()
        tokens = sum(parts[place].tokens for place in chosen)
        self.total.setText(chosen_words(len(chosen), len(parts), tokens, room))
        self.total.set_color("red" if tokens > room else "ink2")
        self.bar.setRange(0, max(1, room))
        self.bar.setValue(min(tokens, room))
        self.ok_button.setEnabled(0 < tokens <= room)

    def _show_part(self, place: int) -> None:
        text = self._found.parts[place].text if 0 <= place < len(self._found.parts) else ""
        self.text.setPlainText(text[:_SHOWN_CHARS])

    def _take(self) -> None:
        if self.ok_button.isEnabled():
            text = plan_excerpt(self._found.parts, self.ticked())
            self.accept()
            self.taken.emit(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt's: Enter, with Ctrl or without, takes what is ticked."""
        if event.key() in _ENTER:
            self._take()
            return
        super().keyPressEvent(event)


class _Line(TwoLines):
    """Paints a part: its box, its name and tokens, and below how it begins. A click ticks it."""

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
