"""The models window: the models at the left, the truth about the chosen one at the right."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFontMetricsF,
    QHideEvent,
    QPainter,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.client import Pull
from app.client.library import Holdings, ModelFacts
from app.client.window_truth import Cure, ModelTruth
from app.labels import paint_badge, paint_dot, prose
from app.model_lines import (
    MODEL_LINE,
    ModelLine,
    ModelLines,
    badge_of,
    dot_of,
    fact_words,
    plan_model_lines,
)
from app.pull_words import size_text
from app.side_window import SideWindow
from app.theme import theme_of
from app.theme.controls import focus_is_visible, install_focus_ring
from app.theme.painting import draw_focus_ring, rounded
from app.truth.panel import ModelPanel
from app.truth.pull_panel import PullPanel
from app.truth.shelf import Shelf

if TYPE_CHECKING:
    from app.client import ModelRow
    from app.conversation_list import AnyIndex
    from app.theme import Role

_LIST_PX = 284
_SIZE_PX = (1000, 652)
_MINIMUM = (640, 400)
_HEAD_PX, _ROW_PX = 32, 54
_SHELF_PART = 3
"""A part of the window's height: what is below the list takes no more of it."""


class ModelsWindow(SideWindow):
    """Every model, and the truth about one of them.

    Args:
        parent: the window it belongs to; it stands beside it, and lets it be used.

    Signals:
        asked(name): show this model: answer with `show_truth`.
        cure_chosen(name, cure): save a cure's settings, then answer with `show_truth`.
        window_wanted(name): show the preferences at a model's window.
        looked(): tell what is in memory and on disk: answer with `set_holdings`.
        retry_requested(): look for models again.
        delete_requested(name), unload_requested(name): delete a model; out of the memory with it.
        get_requested(): ask which model Ollama shall fetch.
        pull_action(name, what): "pause", "resume" or "cancel" one that is fetched.
        text_requested(title, text): show a text whole.
        open_file_requested(): ask for a GGUF file.

    Attributes:
        model: the one that is shown, by its name.
        pull: the pull that is shown in the model's place, by its name; "" for none.
        answers: the one that answers in the open conversation, as the user writes it: its row may
            have the tag that was left out.
    """

    asked = Signal(str)
    cure_chosen = Signal(str, object)
    window_wanted = Signal(str)
    looked = Signal()
    retry_requested = Signal()
    delete_requested = Signal(str)
    unload_requested = Signal(str)
    get_requested = Signal()
    pull_action = Signal(str, str)
    text_requested = Signal(str, str)
    open_file_requested = Signal()

    LOOK_MS = 5_000

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Models"), _MINIMUM, parent)
        self._lines = ModelLines(self)
        self.model = ""
        self.answers = ""
        self._models: tuple[ModelRow, ...] = ()
        self._host = ""
        self._holdings = Holdings()
        self._pulls: tuple[Pull, ...] = ()
        self.pull = ""
        self._make_side()
        self._make_content()
        self.columns.addWidget(self.area, 1)
        install_focus_ring(self)
        self._theme.changed.connect(self._renew)
        self._renew()
        self.resize(self._theme.px(_SIZE_PX[0]), self._theme.px(_SIZE_PX[1]))

    def _make_side(self) -> None:
        self.list = _ModelList(self._lines, self.side)
        self.shelf = Shelf(self.side)
        self.open_button = self.shelf.open_button
        self.side_column.addWidget(self.list, 1)
        self.side_column.addWidget(self.shelf)
        self.list.chosen.connect(self._choose)
        self.list.clicked.connect(self._show_model_again)
        self.shelf.open_requested.connect(self.open_file_requested)
        self.shelf.get_requested.connect(self.get_requested)
        self.shelf.retry_requested.connect(self.retry_requested)
        self.shelf.unload_requested.connect(self.unload_requested)
        self.shelf.pull_chosen.connect(self.show_pull)
        self.shelf.pull_action.connect(self.pull_action)

    def _make_content(self) -> None:
        content = QWidget(self.area)
        self.panel = ModelPanel(content)
        self.panel.hide()
        self.pull_panel = PullPanel(content)
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.panel)
        column.addWidget(self.pull_panel)
        self.area.setWidget(content)
        content.setAutoFillBackground(False)  # setWidget puts it on
        self._looks = QTimer(self, interval=self.LOOK_MS)
        self._looks.timeout.connect(self.looked)
        self.pull_panel.action.connect(self.pull_action)
        self.panel.text_requested.connect(self.text_requested)
        self.panel.delete_requested.connect(lambda: self.delete_requested.emit(self.model))
        self.panel.cure_chosen.connect(self._on_cure)
        self.panel.window_wanted.connect(lambda: self.window_wanted.emit(self.model))

    def _renew(self) -> None:
        px = self._theme.px
        self.side.setFixedWidth(px(_LIST_PX))
        self.side_column.setContentsMargins(px(8), px(8), px(8) + 1, px(12))
        self.side_column.setSpacing(px(8))
        self.update()

    # -- what it shows -------------------------------------------------------------------

    def set_models(self, models: Sequence["ModelRow"], host: str = "") -> None:
        """Show these in the list. `host`: where Ollama was found, as "127.0.0.1"."""
        self._models, self._host = tuple(models), host
        self._renew_lines()

    def set_holdings(self, holdings: Holdings) -> None:
        """Show what is in memory, and what everything takes on the disk."""
        self._holdings = holdings
        self.shelf.set_holdings(holdings)
        self._renew_lines()

    def _renew_lines(self) -> None:
        told, loaded = self._holdings, {one.model for one in self._holdings.loaded}
        rows = [
            replace(row, loaded=True) if any(_is_same(row.name, one) for one in loaded) else row
            for row in self._models
        ]
        host = self._host
        ollama = self.tr("Ollama at {}").format(host) if host else self.tr("Ollama")
        own = self.tr("In Porthole")
        heads = (_with_size(own, told.own_bytes), _with_size(ollama, told.ollama_bytes))
        lines = plan_model_lines(rows, "", heads)
        if lines != self._lines.lines:
            self._lines.set_lines(lines)
            self.list.go_to("" if self.pull else self.model)

    def set_pulls(self, pulls: Sequence[Pull]) -> None:
        """Show what Ollama fetches; one that is shown and is over gives way to its model."""
        self._pulls = tuple(pulls)
        self.shelf.set_pulls(pulls)
        if self.pull:
            self.show_pull(self.pull)

    def show_pull(self, name: str) -> None:
        """Show a pull in the model's place; the model again when it is over."""
        pull = next((pull for pull in self._pulls if pull.name == name), None)
        if pull is None:
            self.pull = ""
            self._show_panels()
            self.list.go_to(self.model)
            return
        if self.pull != name:
            self.pull = name
            self.list.go_to("")
        self.pull_panel.show_pull(pull)
        self._show_panels()

    def _show_panels(self) -> None:
        self.pull_panel.setVisible(bool(self.pull))
        self.panel.setVisible(not self.pull and self.panel.truth is not None)

    def _show_model_again(self) -> None:
        """The model that is the current one was pressed, while a pull stood in its place."""
        self.pull = ""
        self._show_panels()

    def say(self, fault: str) -> None:
        """Say what could not be done."""
        self.shelf.say(fault)

    def show_facts(self, facts: ModelFacts) -> None:
        """Show what the chosen model is; an answer about another one is too late."""
        if facts.model == self.model:
            self.panel.facts.show_facts(facts)

    def show_model(self, name: str) -> None:
        """Choose a model, by its name."""
        self.model, self.pull = name, ""
        self._show_panels()
        self.list.go_to(name)
        self.asked.emit(name)

    def show_truth(self, truth: ModelTruth) -> None:
        """Show what is known of the chosen model; an answer about another one is too late."""
        if not self.model:
            self.model = truth.model
            self.list.go_to(truth.model)
        if truth.model == self.model:
            self.panel.show_truth(truth)
            self._show_panels()

    def _choose(self, name: str) -> None:
        name = self.answers if _is_same(name, self.answers) else name
        self._show_model_again()
        if name != self.model:
            self.model = name
            self.asked.emit(name)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt's: the list keeps the most of a low window's room."""
        super().resizeEvent(event)
        self.shelf.limit(self.height() // _SHELF_PART)

    def showEvent(self, event: QShowEvent) -> None:
        """Qt's: what is in memory is looked at while somebody can see it."""
        super().showEvent(event)
        self._looks.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Qt's."""
        super().hideEvent(event)
        self._looks.stop()
        self.say("")

    def _on_cure(self, cure: Cure) -> None:
        self.cure_chosen.emit(self.model, cure)


def _is_same(one: str, other: str) -> bool:
    """Whether two names mean one model: Ollama's tag "latest" may be left out."""
    return one.removesuffix(":latest") == other.removesuffix(":latest")


def _with_size(head: str, size: int) -> str:
    return f"{head} · {size_text(size)}" if size else head


class _ModelList(QListView):
    """The models; arrows and clicks choose.

    Signals:
        chosen(name): another one is the current one.
    """

    chosen = Signal(str)

    def __init__(self, lines: ModelLines, parent: QWidget) -> None:
        super().__init__(parent)
        self._lines = lines
        self.setModel(lines)
        self.setItemDelegate(_ModelDelegate(self))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        self.setAccessibleName(self.tr("Models"))
        theme_of().changed.connect(self.scheduleDelayedItemsLayout)

    def go_to(self, name: str) -> None:
        """Mark a model as the current one, without telling."""
        rows = (line.row for line in self._lines.lines)
        names = (row.name for row in rows if row is not None and _is_same(row.name, name))
        row = self._lines.row_of(next(names, ""))
        index = self._lines.index(row) if row >= 0 else QModelIndex()
        flag = QItemSelectionModel.SelectionFlag.ClearAndSelect
        self.selectionModel().blockSignals(True)
        self.selectionModel().setCurrentIndex(index, flag)
        self.selectionModel().blockSignals(False)
        if row >= 0:
            self.scrollTo(index)
        self.viewport().update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Qt's, which makes the first row the current one where there is none: nobody chose it."""
        had = self.currentIndex().isValid()
        self.selectionModel().blockSignals(True)
        super().focusInEvent(event)
        if not had:
            self.selectionModel().clear()
        self.selectionModel().blockSignals(False)

    def currentChanged(self, current: "AnyIndex", previous: "AnyIndex") -> None:
        """Qt's: tells who is shown now."""
        super().currentChanged(current, previous)
        line = current.data(MODEL_LINE) if current.isValid() else None
        if isinstance(line, ModelLine) and line.row is not None:
            self.chosen.emit(line.row.name)


class _ModelDelegate(QStyledItemDelegate):
    """Paints a head, or a model with its badge and facts."""

    def __init__(self, view: _ModelList) -> None:
        super().__init__(view)
        self._view = view
        self._theme = theme_of()

    def sizeHint(self, _option: QStyleOptionViewItem, index: "AnyIndex") -> QSize:
        """Qt's."""
        line: ModelLine = index.data(MODEL_LINE)
        return QSize(0, self._theme.px(_HEAD_PX if line.row is None else _ROW_PX))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: "AnyIndex") -> None:
        """Qt's."""
        line: ModelLine = index.data(MODEL_LINE)
        rect, px = QRectF(option.rect), self._theme.px
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if line.row is None:
            room = rect.adjusted(px(8), px(8), 0, 0)
            self._paint_text(painter, room, line.head, "tiny_medium", "ink3")
        else:
            self._paint_ground(painter, rect, option)
            self._paint_row(painter, rect, line.row)
        painter.restore()

    def _paint_ground(self, painter: QPainter, rect: QRectF, option: QStyleOptionViewItem) -> None:
        theme, state = self._theme, option.state
        fill = ""
        if state & QStyle.StateFlag.State_Selected:
            fill = "selected"
        elif state & QStyle.StateFlag.State_MouseOver:
            fill = "hover"
        if fill:
            rounded(painter, rect, theme.px(6), theme.color(fill))
        if fill == "selected" and self._view.hasFocus() and focus_is_visible(self._view):
            draw_focus_ring(painter, rect, theme.px(6), theme.color("accent"), inside=True)

    def _paint_row(self, painter: QPainter, rect: QRectF, row: "ModelRow") -> None:
        px = self._theme.px
        room = rect.adjusted(px(26), px(8), -px(10), -px(8))
        dot = QRectF(rect.x() + px(10), rect.y() + px(14), px(8), px(8))
        paint_dot(painter, dot, dot_of(row))
        first = QRectF(room.x(), room.y(), room.width(), px(20))
        text, kind = badge_of(row)
        if text:
            first.setRight(paint_badge(painter, first, text, kind) - px(8))
        self._paint_text(painter, first, row.title, "interface_medium", "ink")
        second = QRectF(room.x(), room.y() + px(20), room.width(), px(16))
        self._paint_text(painter, second, fact_words(row), "small", "ink2")

    def _paint_text(
        self, painter: QPainter, room: QRectF, text: str, role: "Role", color: str
    ) -> None:
        font = self._theme.font(role)
        font = font if role == "small" else prose(font)
        painter.setFont(font)
        painter.setPen(self._theme.color(color))
        shown = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, shown)
