"""Words on a surface: a label in the type and colour of the theme, and a coloured dot."""

import math
import sys
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPen,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.theme import theme_of
from app.theme.painting import draw_icon, rounded

if TYPE_CHECKING:
    from app.theme import Role

_UNBOUND = 100_000.0
_FIGURES = ("small", "small_medium", "small_bold", "tiny", "tiny_medium", "code", "chip")


def prose(font: QFont) -> QFont:
    """The font for words: tabular figures off, as with them Inter sets wide hyphens too."""
    font.unsetFeature(QFont.Tag("tnum"))
    return font


def key_words(shortcut: str) -> str:
    """A shortcut as it is shown in a tag: "Ctrl ⇧ F"; on macOS in its own signs."""
    if sys.platform == "darwin":
        return QKeySequence(shortcut).toString(QKeySequence.SequenceFormat.NativeText)
    # "+" parts the keys and is one: the full-width sign keeps its place meanwhile
    return shortcut.replace("++", "+＋").replace("+", " ").replace("＋", "+").replace("Shift", "⇧")


class Words(QLabel):
    """A text in one role of the theme, with the role's line height.

    Args:
        text: plain text; markup is shown as typed.
        role: its type.
        color: the name of its token.
        parent: the widget it stands on.
        wrap: broken into lines; else one line, elided, whole in the tooltip.
        keeps: which end of a line too long is kept, or both.
    """

    def __init__(
        self,
        text: str,
        role: "Role",
        color: str,
        parent: QWidget,
        *,
        wrap: bool = False,
        keeps: Literal["start", "both"] = "start",
    ) -> None:
        super().__init__(parent)
        self._role, self._color, self._wrap = role, color, wrap
        modes = {"start": Qt.TextElideMode.ElideRight, "both": Qt.TextElideMode.ElideMiddle}
        self._elide = modes[keeps]
        self.setTextFormat(Qt.TextFormat.PlainText)
        policy = self.sizePolicy()
        policy.setHeightForWidth(wrap)
        policy.setHorizontalPolicy(
            QSizePolicy.Policy.Expanding if wrap else QSizePolicy.Policy.Preferred
        )
        self.setSizePolicy(policy)
        self._theme = theme_of()
        self._theme.changed.connect(self._renew)
        self._renew()
        self.setText(text)

    def set_color(self, color: str) -> None:
        """Take the colour of another token."""
        self._color = color
        self.update()

    def set_role(self, role: "Role") -> None:
        """Take the type of another role."""
        self._role = role
        self._renew()

    def setText(self, text: str) -> None:
        """Qt's, and the tooltip follows."""
        super().setText(text)
        self._renew()

    def _renew(self) -> None:
        font = self._theme.font(self._role)
        self.setFont(font if self._role in _FIGURES and not self._wrap else prose(font))
        self.updateGeometry()
        self.update()

    # -- measures ------------------------------------------------------------------------

    def hasHeightForWidth(self) -> bool:
        """Qt's."""
        return self._wrap

    def heightForWidth(self, width: int) -> int:
        """Qt's: as many lines as the text needs."""
        around = self.contentsMargins()
        lines = self._layout(width - around.left() - around.right()).lineCount()
        return lines * self._line() + around.top() + around.bottom()

    def sizeHint(self) -> QSize:
        """Qt's: the whole text on one line."""
        width = QFontMetricsF(self.font()).horizontalAdvance(self.text())
        return QSize(math.ceil(width) + 1, self._line()).grownBy(self.contentsMargins())

    def minimumSizeHint(self) -> QSize:
        """Qt's: it may become as narrow as it must."""
        least = QSize(min(self.sizeHint().width(), self._theme.px(40)), self._line())
        return least.grownBy(self.contentsMargins())

    def _line(self) -> int:
        return self._theme.line_height(self._role)

    def _layout(self, width: float) -> QTextLayout:
        layout = QTextLayout(self.text(), self.font())
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        option.setTextDirection(self.layoutDirection())
        layout.setTextOption(option)
        layout.beginLayout()
        y = 0.0
        while (line := layout.createLine()).isValid():
            line.setLineWidth(width if self._wrap else _UNBOUND)
            line.setPosition(QPointF(0, y + (self._line() - line.height()) / 2))
            y += self._line()
        layout.endLayout()
        return layout

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: the lines at their fixed distance."""
        painter = QPainter(self)
        painter.setPen(self._theme.color(self._color if self.isEnabled() else "disabled"))
        room = self.contentsRect()
        if self._wrap:
            self._layout(room.width()).draw(painter, QPointF(room.topLeft()))
            return
        metrics = QFontMetricsF(self.font())
        shown = metrics.elidedText(self.text(), self._elide, room.width())
        self.setToolTip(self.text() if shown != self.text() else "")
        painter.setFont(self.font())
        painter.drawText(QRectF(room), Qt.AlignmentFlag.AlignVCenter, shown)


class Picture(QWidget):
    """An icon of the theme, painted anew for every screen; `side` is its px at zoom 1.

    "app-icon" in the dark scheme is the drawing made for it. With a `name` it is read aloud.
    """

    def __init__(self, icon: str, color: str, side: int, parent: QWidget, name: str = "") -> None:
        super().__init__(parent)
        self._icon, self._color, self._side = icon, color, side
        self.setAccessibleName(name)
        self._theme = theme_of()
        self._theme.changed.connect(self._renew)
        self._renew()

    def set_color(self, color: str) -> None:
        """Take the colour of another token."""
        self._color = color
        self.update()

    def _renew(self) -> None:
        side = self._theme.px(self._side)
        self.setFixedSize(side, side)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's."""
        dark = self._icon == "app-icon" and self._theme.scheme == "dark"
        icon = "app-icon-dark" if dark else self._icon
        draw_icon(QPainter(self), self._theme, icon, self._color, (0, 0, self.width()))


class Dot(QWidget):
    """A dot of 8 px in the colour of a token; "" makes it a ring."""

    def __init__(self, color: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._color = color
        self._theme = theme_of()
        self._theme.changed.connect(self._renew)
        self._renew()

    @property
    def color(self) -> str:
        """The token's name, or "" for a ring."""
        return self._color

    def set_color(self, color: str) -> None:
        """Take the colour of another token; "" for a ring."""
        self._color = color
        self.update()

    def _renew(self) -> None:
        self.setFixedSize(self._theme.px(8), self._theme.px(8))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's."""
        painter = QPainter(self)
        paint_dot(painter, QRectF(self.rect()), self._color)


def paint_dot(painter: QPainter, rect: QRectF, color: str) -> None:
    """A filled dot in a token's colour, or, for "", a ring."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if color:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme_of().color(color))
        painter.drawEllipse(rect)
        return
    painter.setPen(QPen(theme_of().color("ink3"), 1.5))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawEllipse(rect.adjusted(0.75, 0.75, -0.75, -0.75))


_BADGES: dict[str, tuple[str, str, str, str]] = {  # text, fill, border, icon
    "amber": ("amber", "amber_bg", "amber_line", "warning"),
    "red": ("red", "red_bg", "red_line", "blocked"),
    "plain": ("ink2", "sunken", "line", "download"),
    "cloud": ("amber", "amber_bg", "amber_line", "cloud"),
    "cloud_off": ("ink2", "sunken", "line", "cloud"),
}


def paint_badge(painter: QPainter, room: QRectF, text: str, kind: str) -> float:
    """A state in a word at the right of `room`, for lists; the x where it begins."""
    theme = theme_of()
    px, (ink, fill, line, icon) = theme.px, _BADGES[kind]
    font = theme.font("tiny_medium")
    side, gap, pad = px(12), px(4), px(8)
    width = 2 * pad + side + gap + math.ceil(QFontMetricsF(font).horizontalAdvance(text))
    box = QRectF(room.right() - width, room.center().y() - px(10), width, px(20))
    rounded(painter, box, box.height() / 2, theme.color(fill), theme.color(line))
    draw_icon(painter, theme, icon, ink, (box.x() + pad, box.center().y() - side / 2, side))
    painter.setFont(font)
    painter.setPen(theme.color(ink))
    words = box.adjusted(pad + side + gap, 0, 0, 0)
    painter.drawText(words, Qt.AlignmentFlag.AlignVCenter, text)
    return box.x()


def paint_progress(painter: QPainter, bar: QRectF, share: float) -> None:
    """A bar that is full to a share (0 to 1)."""
    theme = theme_of()
    radius = bar.height() / 2
    rounded(painter, bar, radius, theme.color("m_free"))
    done = QRectF(bar.x(), bar.y(), bar.width() * min(max(share, 0.0), 1.0), bar.height())
    if done.width() > 0:
        rounded(painter, done, min(radius, done.width() / 2), theme.color("accent"))
