"""What usual windows would take of the memory: a bar for each, and the line of what is free."""

from PySide6.QtCore import QCoreApplication, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.client.window_truth import ModelTruth
from app.meter import figure
from app.theme import theme_of
from app.theme.painting import draw_icon, rounded, snap
from app.truth.words import VERDICTS, gigabytes, verdict_words
from engine.window import MemoryEstimate

_HEAD_PX, _ROW_PX, _BAR_PX = 28, 34, 10
_LABEL_PX, _SIZE_PX, _VERDICT_PX = 64, 84, 104
_ROOM = 1.25
"""The bar stands for so many times the largest of what is needed and what is free, at most all."""


class MemoryBars(QWidget):
    """Weights, context and work space of each window against what the machine has free."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self._rows: tuple[MemoryEstimate, ...] = ()
        self._free = self._whole = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._theme.changed.connect(self._renew)

    def set_truth(self, truth: ModelTruth) -> None:
        """Show what a model would take."""
        self._rows, self._free = truth.memory, truth.free_bytes
        largest = max((row.needed_bytes for row in self._rows), default=0)
        whole = int(max(largest, self._free) * _ROOM)
        fits = truth.total_bytes >= largest
        self._whole = min(whole, truth.total_bytes) if truth.total_bytes and fits else whole
        said = [
            f"{figure(row.window)}: {gigabytes(row.needed_bytes)}, {verdict_words(row.verdict)}"
            for row in self._rows
        ]
        self.setAccessibleName(". ".join(said))
        self._renew()

    def _renew(self) -> None:
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Qt's: a head with the legend, and the rows."""
        px = self._theme.px
        return QSize(px(480), px(_HEAD_PX) + px(_ROW_PX) * len(self._rows))

    def minimumSizeHint(self) -> QSize:
        """Qt's."""
        return QSize(self._theme.px(320), self.sizeHint().height())

    def bar(self, index: int) -> QRectF:
        """Where the bar of a row is, in logical px."""
        px = self._theme.px
        left, right = px(_LABEL_PX) + px(8), self.width() - px(_SIZE_PX + _VERDICT_PX)
        middle = px(_HEAD_PX) + px(_ROW_PX) * (index + 0.5)
        return QRectF(left, middle - px(_BAR_PX) / 2, max(0, right - left), px(_BAR_PX))

    def place_of(self, size: int, bar: QRectF) -> float:
        """The x of so many bytes in a bar."""
        share = min(size / self._whole, 1.0) if self._whole else 0.0
        return snap(bar.left() + share * bar.width(), self.devicePixelRatioF())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_head(painter)
        for index, row in enumerate(self._rows):
            self._paint_row(painter, row, self.bar(index))

    def _paint_head(self, painter: QPainter) -> None:
        theme, px = self._theme, self._theme.px
        line = QRectF(0, 0, self.width(), px(20))
        painter.setFont(theme.font("interface_bold"))
        painter.setPen(theme.color("ink"))
        painter.drawText(
            line,
            Qt.AlignmentFlag.AlignVCenter,
            QCoreApplication.translate("ModelsWindow", "Memory it would take"),
        )
        font = theme.font("small")
        painter.setFont(font)
        metrics = QFontMetricsF(font)
        x = float(self.width())
        for words, color in reversed(_legend()):
            wide = metrics.horizontalAdvance(words)
            x -= wide
            painter.setPen(theme.color("ink2"))
            painter.drawText(QRectF(x, 0, wide + 1, px(20)), Qt.AlignmentFlag.AlignVCenter, words)
            x -= px(8) + px(6)
            rounded(painter, QRectF(x, px(6), px(8), px(8)), px(2), theme.color(color))
            x -= px(16)

    def _paint_row(self, painter: QPainter, row: MemoryEstimate, bar: QRectF) -> None:
        theme, px = self._theme, self._theme.px
        line = QRectF(0, bar.center().y() - px(10), px(_LABEL_PX), px(20))
        painter.setFont(theme.font("interface"))
        painter.setPen(theme.color("ink2"))
        right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.drawText(line, int(right), figure(row.window))
        self._paint_bar(painter, row, bar)
        size = QRectF(bar.right(), line.top(), px(_SIZE_PX), line.height())
        painter.setPen(theme.color("ink"))
        painter.drawText(size, int(right), gigabytes(row.needed_bytes))
        icon, color = VERDICTS[row.verdict]
        x = size.right() + px(14)
        place = (x, line.center().y() - px(7), px(14))
        draw_icon(painter, theme, icon, color, place)
        painter.setPen(theme.color(color))
        words = QRectF(x + px(20), line.top(), self.width() - x, line.height())
        painter.drawText(words, Qt.AlignmentFlag.AlignVCenter, verdict_words(row.verdict))

    def _paint_bar(self, painter: QPainter, row: MemoryEstimate, bar: QRectF) -> None:
        theme, px = self._theme, self._theme.px
        clip = QPainterPath()
        clip.addRoundedRect(bar, px(3), px(3))
        painter.save()
        painter.setClipPath(clip)
        painter.fillRect(bar, theme.color("m_free"))
        context = "red" if row.verdict == "too_large" else "m_recent"
        done = 0
        for size, color in (
            (row.weights_bytes, "m_system"),
            (row.context_bytes, context),
            (row.work_bytes, "m_think"),
        ):
            left, right = self.place_of(done, bar), self.place_of(done + size, bar)
            gap = 1 if done else 0
            part = QRectF(left + gap, bar.top(), max(1.0, right - left - gap), bar.height())
            painter.fillRect(part, theme.color(color))
            done += size
        painter.restore()
        if self._free:
            x = self.place_of(self._free, bar)
            upright = QRectF(x - px(1), bar.center().y() - px(11), px(2), px(22))
            painter.fillRect(upright, theme.color("ink"))


def _legend() -> tuple[tuple[str, str], ...]:
    return (
        (QCoreApplication.translate("ModelsWindow", "weights"), "m_system"),
        (QCoreApplication.translate("ModelsWindow", "context"), "m_recent"),
        (QCoreApplication.translate("ModelsWindow", "work space"), "m_think"),
    )
