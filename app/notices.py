"""The status line over the composer: the one place where the window says something in passing."""

import re
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QFontMetrics,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QSizePolicy, QWidget

from app.theme import theme_of

Tone = Literal["plain", "plum", "amber", "red", "green"]
_COLORS: dict[Tone, str] = {
    "plain": "ink2",
    "plum": "plum",
    "amber": "amber",
    "red": "red",
    "green": "green",
}
_STOPS = re.compile(r"[.:;,](?= )|[。：；，]")
"""Where a sentence that is too long for the line may end."""
_HEIGHT_PX = 24
_BELOW_PX = 4
_PADDING_PX = 16
_GAP_PX = 8
_ICON_PX = 14


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to say in one line.

    Attributes:
        text: the sentence, or half of one.
        icon: name of the icon before it, "" for none.
        tone: colour of the icon; the text of amber and red ones is coloured as well.
        action: id that `Notices.acted` gives when the link is followed, "" for no link.
        action_text: what the link says.
        key: what it is about; a later notice of the same key takes its place.
        lasts_ms: how long it stays, 0 for until it is withdrawn.
    """

    text: str
    icon: str = ""
    tone: Tone = "plain"
    action: str = ""
    action_text: str = ""
    key: str = ""
    lasts_ms: int = 0


class Link(QAbstractButton):
    """A word one can follow: `accent`, underlined under the pointer and on focus."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """As wide as its word, one line high."""
        theme = theme_of()
        width = QFontMetrics(theme.font("small_medium")).horizontalAdvance(self.text())
        return QSize(width, theme.px(_HEIGHT_PX))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt's; paints the word."""
        font = theme_of().font("small_medium")
        font.setUnderline(self.underMouse() or self.hasFocus())
        painter = QPainter(self)
        painter.setFont(font)
        painter.setPen(theme_of().color("accent_down" if self.isDown() else "accent"))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.text())
        painter.end()


class _Line(QWidget):
    """The icon and the text, the text elided where there is no room."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.notice = Notice("")
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def set_notice(self, notice: Notice) -> None:
        self.notice = notice
        self.setAccessibleName(notice.text)
        self.setToolTip("")
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        theme = theme_of()
        metrics = QFontMetrics(theme.font("small"))
        width = self._indent() + metrics.horizontalAdvance(self.notice.text) + 1
        return QSize(width, theme.px(_HEIGHT_PX))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._indent() + theme_of().px(48), theme_of().px(_HEIGHT_PX))

    def elided(self) -> str:
        """The text as it fits."""
        metrics, room = QFontMetrics(theme_of().font("small")), self.width() - self._indent()
        text = self.notice.text
        if metrics.horizontalAdvance(text) > room:
            for end in sorted({found.start() for found in _STOPS.finditer(text)}, reverse=True):
                lead = text[:end] + " …"
                if metrics.horizontalAdvance(lead) <= room:
                    return lead
        return metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            self.setToolTip(self.notice.text if self.elided() != self.notice.text else "")
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, notice = theme_of(), self.notice
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        painter = QPainter(self)
        if notice.icon:
            size = theme.px(_ICON_PX)
            icon = theme.pixmap(notice.icon, _COLORS[notice.tone], size, self.devicePixelRatioF())
            x = self.width() - size if mirrored else 0
            painter.drawPixmap(QPointF(x, (self.height() - size) / 2), icon)
        painter.setFont(theme.font("small"))
        loud = notice.tone in ("amber", "red")
        painter.setPen(theme.color(_COLORS[notice.tone] if loud else "ink2"))
        indent = self._indent()
        area = self.rect().adjusted(0 if mirrored else indent, 0, -indent if mirrored else 0, 0)
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, self.elided())
        painter.end()

    def _indent(self) -> int:
        return theme_of().px(_ICON_PX + _GAP_PX) if self.notice.icon else 0


class Notices(QWidget):
    """The status line. It shows one notice at a time, and takes no height without one.

    The latest notice is the one shown. One that lasts until withdrawn comes back when a later
    one is over. A new notice is announced to screen readers.

    Signals:
        acted(str): the link of the notice shown was followed; its `action`.
        shown_changed(): another notice is shown now, or none.
    """

    acted = Signal(str)
    shown_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._standing: list[Notice] = []
        self._line = _Line(self)
        self._link = Link(self)
        self._link.clicked.connect(self._on_link)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_over)
        layout = QHBoxLayout(self)
        layout.addWidget(self._line)
        layout.addWidget(self._link)
        layout.addStretch(1)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Status"))
        theme_of().changed.connect(self._on_theme)
        self._on_theme()
        self.hide()

    @property
    def shown(self) -> Notice | None:
        """The notice that is shown."""
        return self._standing[-1] if self._standing else None

    def say(self, notice: Notice) -> None:
        """Show a notice; it replaces an earlier one of the same key, and any passing one."""
        self._standing = [
            one for one in self._standing if not one.lasts_ms and one.key != notice.key
        ]
        self._standing.append(notice)
        self._show()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, notice.text))

    def withdraw(self, key: str) -> None:
        """Take back the notice of a key, shown or not."""
        left = [one for one in self._standing if one.key != key]
        if left != self._standing:
            self._standing = left
            self._show()

    def clear(self) -> None:
        """Take back everything, as when another conversation is opened."""
        if self._standing:
            self._standing = []
            self._show()

    def _show(self) -> None:
        notice = self.shown
        self._timer.stop()
        if notice is not None:
            self._line.set_notice(notice)
            self._link.setText(notice.action_text)
            self._link.setAccessibleName(notice.action_text)
            self._link.setAccessibleDescription(notice.text)
            self._link.setVisible(bool(notice.action))
            self._link.updateGeometry()
            if notice.lasts_ms:
                self._timer.start(notice.lasts_ms)
        self.setVisible(notice is not None)
        self.shown_changed.emit()

    def _on_over(self) -> None:
        self._standing = self._standing[:-1]
        self._show()

    def _on_link(self) -> None:
        if self.shown is not None:
            self.acted.emit(self.shown.action)

    def _on_theme(self) -> None:
        px = theme_of().px
        self.setFixedHeight(px(_HEIGHT_PX + _BELOW_PX))
        layout = self.layout()
        assert layout is not None
        layout.setContentsMargins(px(_PADDING_PX), 0, px(_PADDING_PX), px(_BELOW_PX))
        layout.setSpacing(px(_GAP_PX))
        self._line.updateGeometry()
        self._link.updateGeometry()
        self.update()
