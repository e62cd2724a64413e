"""The popup in which a model is chosen: our own and Ollama's, with size, window and warnings."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QModelIndex, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDropEvent,
    QFont,
    QFontMetricsF,
    QPainter,
    QTextLayout,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QListView,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.labels import Words, paint_badge, paint_dot, paint_progress, prose
from app.model_lines import (
    MODEL_LINE,
    ModelLine,
    ModelLines,
    badge_of,
    dot_of,
    fact_words,
    fetched_words,
    plan_model_lines,
)
from app.popup import Popup
from app.search_field import SearchField
from app.theme import theme_of
from app.theme.controls import Button
from app.theme.painting import draw_icon, rounded

if TYPE_CHECKING:
    from app.client import ModelRow
    from app.conversation_list import AnyIndex
    from app.theme import Role

WIDTH, HIGHEST = 420, 520
_HEAD, _ROW, _REASON_LINE, _REASON_LINES = 32, 52, 16, 3


class ModelPicker(Popup):
    """Models to choose from. Up, Down and Enter choose, typing searches, Esc closes.

    Signals:
        chosen(name): this model shall answer.
        refused(name): a blocked one was picked; say what can be done about its window.
        fetch_requested(): fetch the starter. fetch_stopped(): stop fetching it.
        open_file_requested(): ask for a GGUF file.
        file_dropped(path): a GGUF file was dropped here.
        details_requested(name): show the window and memory of the model the row stands on.
    """

    chosen = Signal(str)
    refused = Signal(str)
    fetch_requested = Signal()
    fetch_stopped = Signal()
    open_file_requested = Signal()
    file_dropped = Signal(str)
    details_requested = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(QCoreApplication.translate("ModelPicker", "Models"), parent)
        self._models: tuple[ModelRow, ...] = ()
        self._host = ""
        self._lines = ModelLines(self)
        self.field = SearchField(self.tr("Search models"), self, keeps=True)
        self._empty = Words("", "interface", "ink3", self, wrap=True)
        self.list = _ModelView(self._lines, self)
        self.open_button = Button(self.tr("Open a GGUF file…"), "plain", "folder", self)
        policy = self.open_button.sizePolicy()
        policy.setHorizontalPolicy(QSizePolicy.Policy.Expanding)
        self.open_button.setSizePolicy(policy)
        self.details_button = Button(self.tr("Details…"), "plain", "info", self)
        self._column = QVBoxLayout(self)
        for widget in (self.field, self._empty, self.list):
            self._column.addWidget(widget)
        self._foot = QHBoxLayout()
        self._foot.addWidget(self.open_button)
        self._foot.addWidget(self.details_button)
        self._column.addLayout(self._foot)
        self.setAcceptDrops(True)
        self.field.search_changed.connect(self._refresh)
        self.field.stepped.connect(self._step)
        self.field.returnPressed.connect(self._use_current)
        self.field.left.connect(self.close)
        self.list.clicked.connect(self._use_current)
        self.open_button.clicked.connect(self._on_open)
        self.details_button.clicked.connect(self._on_details)
        self.renew()
        self._refresh()

    def renew(self) -> None:
        """Measure again: the theme is another one."""
        px = self._theme.px
        self._column.setContentsMargins(px(8), px(8), px(8), px(8))
        self._column.setSpacing(px(8))
        self._foot.setSpacing(px(8))
        self._empty.setContentsMargins(px(8), px(4), px(8), px(4))
        self.setFixedWidth(px(WIDTH))
        self._fit()
        super().renew()

    # -- what it shows -------------------------------------------------------------------

    def set_models(self, models: Sequence["ModelRow"], current: str = "", host: str = "") -> None:
        """Show these models.

        Args:
            models: all that can be chosen.
            current: the name of the one that answers in this conversation.
            host: where Ollama was found, as "127.0.0.1".
        """
        self._models, self._lines.current, self._host = tuple(models), current, host
        self._refresh()
        self._go_to(self._lines.row_of(current))

    def set_fetching(self, done: int, total: int) -> None:
        """Show how far the starter is fetched, in bytes; a total of 0 when it is not."""
        self.list.fetching = (done, total)
        self.list.viewport().update()

    def open_at(self, corner: QPoint) -> None:
        """Show it with its upper left corner there (global), the caret in the search."""
        self.field.clear()
        self._fit()
        self.place(corner)
        self.show()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def _refresh(self) -> None:
        ollama = self.tr("Ollama at {}").format(self._host) if self._host else self.tr("Ollama")
        heads = (self.tr("In Porthole"), ollama)
        lines = plan_model_lines(self._models, self.field.text(), heads)
        self._lines.set_lines(lines)
        self.list.setVisible(bool(lines))
        self._empty.setVisible(not lines)
        self._empty.setText(
            self.tr("No model is called “{}”.").format(self.field.text().strip())
            if self._models
            else self.tr("No models yet. Open a GGUF file, or start Ollama.")
        )
        self._go_to(self._lines.step(self._lines.row_of(self._lines.current), 0))
        self._fit()

    def _fit(self) -> None:
        """As high as its lines, up to a limit."""
        needed = sum(self.list.height_of(line) for line in self._lines.lines)
        self.list.setFixedHeight(min(needed, self._theme.px(HIGHEST)))
        self.adjustSize()

    # -- choosing ------------------------------------------------------------------------

    def _go_to(self, row: int) -> None:
        if row >= 0:
            self.list.setCurrentIndex(self._lines.index(row))

    def _step(self, rows: int) -> None:
        self._go_to(self._lines.step(self.list.currentIndex().row(), rows))

    def _use_current(self, _index: QModelIndex | None = None) -> None:
        index = self.list.currentIndex()
        line = index.data(MODEL_LINE) if index.isValid() else None
        if not isinstance(line, ModelLine) or line.row is None:
            return
        row = line.row
        if not row.fetched:
            stop = self.list.fetching[1] > 0
            (self.fetch_stopped if stop else self.fetch_requested).emit()
            return
        self.close()
        (self.refused if row.guard == "block" else self.chosen).emit(row.name)

    def _on_details(self) -> None:
        index = self.list.currentIndex()
        line = index.data(MODEL_LINE) if index.isValid() else None
        self.close()
        row = line.row if isinstance(line, ModelLine) else None
        self.details_requested.emit(row.name if row is not None else self._lines.current)

    def _on_open(self) -> None:
        self.close()
        self.open_file_requested.emit()

    # -- files that are dropped ----------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Qt's: a GGUF file is welcome."""
        if dropped_model(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Qt's: tells the file."""
        path = dropped_model(event)
        if path:
            event.acceptProposedAction()
            self.close()
            self.file_dropped.emit(path)


def reason_lines(reason: str, font: QFont, width: float) -> list[str]:
    """A reason in lines of `width` px, the last of at most three elided."""
    layout = QTextLayout(reason, font)
    lines = []
    layout.beginLayout()
    while (line := layout.createLine()).isValid():
        line.setLineWidth(width)
        lines.append(reason[line.textStart() : line.textStart() + line.textLength()].rstrip())
    layout.endLayout()
    if len(lines) > _REASON_LINES:
        rest = " ".join(lines[_REASON_LINES - 1 :])
        last = QFontMetricsF(font).elidedText(rest, Qt.TextElideMode.ElideRight, width)
        lines[_REASON_LINES - 1 :] = [last]
    return lines


def dropped_model(event: QDropEvent) -> str:
    """The GGUF file that is dragged or dropped, or ""."""
    for url in event.mimeData().urls():
        if url.isLocalFile() and url.toLocalFile().lower().endswith(".gguf"):
            return url.toLocalFile()
    return ""


class _ModelView(QListView):
    """The list; the pointer moves the row that Enter uses, as in a menu."""

    def __init__(self, model: ModelLines, parent: QWidget) -> None:
        super().__init__(parent)
        self.fetching = (0, 0)
        self._delegate = _ModelDelegate(self)
        self.setModel(model)
        self.setItemDelegate(self._delegate)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the keys are the field's
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        self.setAccessibleName(QCoreApplication.translate("ModelPicker", "Models"))
        self.entered.connect(self._on_entered)
        theme_of().changed.connect(self.scheduleDelayedItemsLayout)

    @property
    def current(self) -> str:
        """The name of the model that answers here."""
        model = self.model()
        return model.current if isinstance(model, ModelLines) else ""

    def height_of(self, line: ModelLine) -> int:
        """The height of a line, in px."""
        return self._delegate.height_of(line, theme_of().px(WIDTH - 16))

    def _on_entered(self, index: QModelIndex) -> None:
        if index.flags() & Qt.ItemFlag.ItemIsEnabled:
            self.setCurrentIndex(index)


class _ModelDelegate(QStyledItemDelegate):
    """Paints a head, or a model with its facts and its reason."""

    def __init__(self, view: _ModelView) -> None:
        super().__init__(view)
        self._view = view
        self._theme = theme_of()

    def height_of(self, line: ModelLine, width: int) -> int:
        """The height of a line in a list that wide."""
        px = self._theme.px
        if line.row is None:
            return px(_HEAD)
        if not line.row.reason:
            return px(_ROW)
        lines = reason_lines(line.row.reason, prose(self._theme.font("small")), width - px(36))
        return px(_ROW + 2) + px(_REASON_LINE) * len(lines)

    def sizeHint(self, _option: QStyleOptionViewItem, index: "AnyIndex") -> QSize:
        """Qt's."""
        line: ModelLine = index.data(MODEL_LINE)
        return QSize(0, self.height_of(line, self._view.viewport().width()))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: "AnyIndex") -> None:
        """Qt's."""
        line: ModelLine = index.data(MODEL_LINE)
        rect = QRectF(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if line.row is None:
            px = self._theme.px
            painter.setFont(self._theme.font("tiny_medium"))
            painter.setPen(self._theme.color("ink3"))
            room = rect.adjusted(px(10), px(12), 0, -px(4))
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, line.head)
        else:
            state = option.state
            lit = bool(state & QStyle.StateFlag.State_Selected)
            self._paint_row(painter, rect, line.row, lit=lit)
        painter.restore()

    def _paint_row(self, painter: QPainter, rect: QRectF, row: "ModelRow", *, lit: bool) -> None:
        px, theme = self._theme.px, self._theme
        current = row.name == self._view.current
        if lit:
            rounded(painter, rect, px(6), theme.color("selected"))
        room = rect.adjusted(px(26), px(8), -px(10), -px(8))
        dot = QRectF(rect.x() + px(10), rect.y() + px(14), px(8), px(8))
        paint_dot(painter, dot, dot_of(row))
        first = QRectF(room.x(), room.y(), room.width(), px(20))
        text, kind = badge_of(row)
        fetching = not row.fetched and self._view.fetching[1] > 0
        if text and not fetching:
            first.setRight(paint_badge(painter, first, text, kind) - px(8))
        if current:
            first.setRight(self._paint_check(painter, first))
        self._paint_line(painter, first, row.title, "interface_medium", "ink")
        second = QRectF(room.x(), room.y() + px(20), room.width(), px(16))
        if fetching:
            self._paint_progress(painter, second)
        else:
            self._paint_line(painter, second, fact_words(row), "small", "ink2" if lit else "ink3")
        if row.reason:
            color = {"block": "red", "warn": "amber"}.get(row.guard, "ink3")
            color = "ink2" if row.cloud and row.guard == "block" else color  # it is as it was set
            painter.setFont(prose(theme.font("small")))
            painter.setPen(theme.color(color))
            below = QRectF(room.x(), second.bottom() + px(2), room.width(), px(_REASON_LINE))
            for text in reason_lines(row.reason, painter.font(), room.width()):
                painter.drawText(below, Qt.AlignmentFlag.AlignVCenter, text)
                below.translate(0, px(_REASON_LINE))

    def _paint_line(
        self, painter: QPainter, room: QRectF, text: str, role: "Role", color: str
    ) -> None:
        font = self._theme.font(role)
        if role != "small":
            font = prose(font)
        painter.setFont(font)
        painter.setPen(self._theme.color(color))
        shown = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, shown)

    def _paint_check(self, painter: QPainter, room: QRectF) -> float:
        side = self._theme.px(16)
        x = room.right() - side
        place = (x, room.center().y() - side / 2, side)
        draw_icon(painter, self._theme, "check", "accent", place)
        return x - self._theme.px(8)

    def _paint_progress(self, painter: QPainter, room: QRectF) -> None:
        px, theme = self._theme.px, self._theme
        done, total = self._view.fetching
        words = fetched_words(done, total)
        width = QFontMetricsF(theme.font("small")).horizontalAdvance(words)
        self._paint_line(
            painter,
            QRectF(room.right() - width - 1, room.y(), width + 1, room.height()),
            words,
            "small",
            "ink2",
        )
        bar = QRectF(room.x(), room.center().y() - px(2), room.width() - width - px(12), px(4))
        paint_progress(painter, bar, done / total)
