"""A line that says what is fetched while its window may be closed; pressing it shows more."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.client import Pull
from app.labels import paint_progress
from app.pull_words import summary
from app.theme import theme_of
from app.theme.controls import set_focus_ring
from app.theme.painting import draw_icon, hairline, rounded

_HEIGHT, _ICON, _PAD = 36, 16, 16


class PullLine(QAbstractButton):
    """What Ollama fetches, in a line with a bar below; hidden while there is nothing."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self._pulls: tuple[Pull, ...] = ()
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Models being fetched"))
        set_focus_ring(self, "inside", 6)
        self._theme.changed.connect(self._renew)
        self.hide()

    def set_pulls(self, pulls: Sequence[Pull]) -> None:
        """Show these."""
        self._pulls = tuple(pulls)
        self.setVisible(bool(pulls))
        if pulls:
            words = summary(pulls)
            self.setText(words)
            self.setAccessibleName(words)
            self.setToolTip(words)
        self.update()

    def _renew(self) -> None:
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Qt's."""
        return QSize(self._theme.px(200), self._theme.px(_HEIGHT))

    def minimumSizeHint(self) -> QSize:
        """Qt's: any width."""
        return QSize(self._theme.px(60), self._theme.px(_HEIGHT))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: a line above, icon, words, bar."""
        if not self._pulls:
            return
        theme, px, painter = self._theme, self._theme.px, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.underMouse():
            box = QRectF(self.rect()).adjusted(px(8), px(3), -px(8), -px(2))
            rounded(painter, box, px(6), theme.color("hover"))
        hairline(painter, 0, 0, self.width(), theme.color("line"))
        first = next((pull for pull in self._pulls if pull.state == "pulling"), self._pulls[0])
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        inner = QRectF(self.rect()).adjusted(px(_PAD), px(4), -px(_PAD), -px(10))
        side, gap = px(_ICON), px(8)
        x = inner.right() - side if mirrored else inner.left()
        icon, color = _LOOKS.get(first.state, ("download", "ink2"))
        draw_icon(painter, theme, icon, color, (x, inner.center().y() - side / 2, side))
        words = inner.adjusted(0 if mirrored else side + gap, 0, -(side + gap) * mirrored, 0)
        font = theme.font("small")
        painter.setFont(font)
        painter.setPen(theme.color("red" if first.state == "failed" else "ink2"))
        shown = QFontMetricsF(font).elidedText(
            self.text(), Qt.TextElideMode.ElideMiddle, words.width()
        )
        painter.drawText(words, int(Qt.AlignmentFlag.AlignVCenter), shown)
        if first.total:
            bar = QRectF(inner.left(), self.height() - px(8), inner.width(), px(3))
            paint_progress(painter, bar, first.done / first.total)


_LOOKS = {"failed": ("warning", "red"), "paused": ("pause", "ink2"), "waiting": ("clock", "ink2")}
